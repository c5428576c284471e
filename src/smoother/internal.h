/* What the files of this folder share. */
#pragma once
#include "smoother.h"
#include "../base/memory.h"
#include "../collective.h"

/* fit.c: Approximates the coefficients a[c][d] of a patch's 2^dim cells c, along each direction d, by a scale times a product of one factor
   per direction:

     a[.][0]: sigma_0 X(step) y(step + skew) z(step + skew),    a[.][1]: sigma_1 x(step + skew) Y(step) z(step + skew), ...

   The factor X or x of the second cell is 2^(its number/VP_STEPS) times that of the first one, and the smaller of the two is 1. The product
   is nowhere smaller than the coefficient if factors are not rounded. beyond[c][d] is the coefficient of the cell beyond cell c along d, or
   that of cell c if there is none. 2^face, for the lower and the upper side, is the largest ratio of the harmonic mean of both to the
   product. Where sides have numbers, beyond is -a alpha at a Robin side, and 2^face the largest a alpha divided by the product. With one
   number per cell (tensor 0) skew is 0, and all sigma are equal. Steps are multiples of `grain`: 1, or VP_COARSE_GRAIN where many different
   tables cost much. With grain 0, numbers are not rounded.

   larger[d]: by how much the volumes of a row of four cells along d are larger than that of the patch's first cell (VpLineKey), in steps of
   1/VP_RATIO_STEPS of an octave. The row is the patch's two cells between those beyond it. `beyond` is a times the ratio of volumes. */
#define VP_COARSE_GRAIN (VP_STEPS / VP_RATIO_STEPS)
typedef struct {
  double  step[3], skew[3], face[3][2];
  int16_t larger[3][4];
} VpFit;
/* along the patch's axes */
typedef struct {
  int       dim, tensor; /* as of VpProblem */
  PetscReal a[VP_PATCH_CELLS][3], beyond[VP_PATCH_CELLS][3];
  PetscReal larger[VP_PATCH_CELLS][3]; /* by how many octaves the cells beyond the patch are larger than its own */
  PetscBool robin;                     /* A number of `beyond` is -a alpha. */
  PetscBool weighs;                    /* Cells of several trees are in the patch or beyond it: else their volumes are alike. */
} VpPatchCoefficient;
/* frame: of the cells, NULL: 0 */
void   VpPatchCoefficientGet(VpLevel, const int32_t cell[], const uint8_t frame[], VpPatchCoefficient *);
void   VpPatchVolumes(VpLevel, const int32_t cell[], const uint8_t frame[], const VpPatchCoefficient *, VpFit *); /* sets `larger` */
double VpFitProduct(int dim, const VpFit *, int c, int d); /* the product in cell c for the coefficient along d, without sigma */
double VpFitMass(int dim, const VpFit *, int c);           /* the product of the masses' factors in cell c */
/* The reaction that a patch has, times VpFitMass(). Where cells have their own, the mean is right. */
double VpPatchReaction(VpLevel, const int32_t cell[], const VpFit *);
void   VpCoefficientFit(const VpPatchCoefficient *, int grain, VpFit *, double sigma[3]);
/* fit.c: whether the coefficient is one number, in the patch and beyond it, or a product of one factor per direction that continues beyond
   every side as a multiple of itself. A fit without rounding equals such a product. */
typedef enum { VP_PATTERN_ANY, VP_PATTERN_PRODUCT, VP_PATTERN_CONSTANT } VpPattern;
VpPattern VpCoefficientPattern(const VpPatchCoefficient *);
