/* What the files of this folder share. */
#pragma once
#include "smoother.h"
#include "../base/memory.h"
#include "../collective.h"

/* fit.c: The coefficients a[c][d] of a patch's 2^dim cells c, along each direction d a scale times a product of one factor a direction:

     a[.][0] as sigma_0 X(step) y(step + skew) z(step + skew),    a[.][1] as sigma_1 x(step + skew) Y(step) z(step + skew), ...

   A factor X or x of the second cell is 2^(its number/VP_STEPS) times that of the first one; the smaller of the two is 1. With factors
   that are not rounded, the product would nowhere be less than the coefficient. beyond[c][d] is the coefficient of the cell beyond cell c
   along d, or that of cell c where there is none. 2^face is by how much the harmonic mean with that is larger than the product, at most,
   on the lower and on the upper side. ratio = sigma / scale, where scale is the largest sigma; it is rounded up to eighths of an octave
   unless the cells of the patch have the same coefficients. With one number a cell (tensor 0) skew is 0 and ratio 1. Steps are multiples
   of `grain`: 1, or VP_COARSE_GRAIN, where many different tables cost much; with 0 numbers are not rounded. */
#define VP_COARSE_GRAIN (VP_STEPS / VP_RATIO_STEPS)
typedef struct {
  double step[3], skew[3], face[3][2], ratio[3];
} VpFit;
void   VpPatchCoefficients(VpLevel, const int32_t cell[], PetscReal a[][3], PetscReal beyond[][3]); /* of a patch's cells */
double VpFitProduct(int dim, const VpFit *, int c, int d); /* that at the patch's cell c for the coefficient along d */
void   VpCoefficientFit(int dim, int tensor, const PetscReal a[][3], const PetscReal beyond[][3], int grain, VpFit *, double *scale);
/* fit.c: The coefficient is one number, in the patch and beyond it; or it is a product of one factor a direction, and beyond every side a
   multiple of that: a fit whose numbers are not rounded is this coefficient. */
typedef enum { VP_PATTERN_ANY, VP_PATTERN_PRODUCT, VP_PATTERN_CONSTANT } VpPattern;
VpPattern VpCoefficientPattern(int dim, int tensor, const PetscReal a[][3], const PetscReal beyond[][3]);
