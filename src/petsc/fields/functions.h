/* Functions at points: functions of the user in each of their forms, and functions with coefficients in a vector. */
#pragma once
#include "places.h"

typedef struct {
  VPatchDGBatch    batch; /* At most one of the first four is set. If none is, the function is 0. */
  VPatchDGFunction function;
  VPatchDGFlux     flux;
  Vec              values; /* [place][point][components], a vector at points */
  void            *ctx;
  int              components;
  PetscBool        on_device; /* The batch form reads and writes device memory. */
  PetscBool        normals;   /* On sides the batch form gets a normal for every point: it is a VPatchDGSideBatch. */
} VpGiven;
static inline PetscBool VpIsGiven(const VpGiven *f)
{
  return (PetscBool)(f->batch || f->function || f->flux || f->values);
}

/* Sets the memory that a batch form uses. Ensures: an error on all ranks unless functions of this DM may use it. */
PetscErrorCode VpGivenSetMemory(const VpField *, PetscMemType where, const char caller[], VpGiven *);
/* On cells b = the integrals of f times the functions that the grid's matrices stand for. On sides of cells b += those integrals, where f
   is multiplied by the coefficient. */
PetscErrorCode VpIntegrateFunction(const VpField *, const VpGrid *, VpSet, const VpGiven *f, double b[]);
/* square[0] = the integral of (u_h - u)^2 over own cells, square[1] = that of |grad u_h - gradient|^2. given: u and the gradient, or NULL
   for one that is not wanted. x: u_h, on the backend. grid: of values in cells */
PetscErrorCode VpComputeSquares(const VpField *, const VpGrid *, const VpGiven *const given[2], const double x[], double square[2]);

/* cellvectors.c: coefficients in cells, [own cells][n^dim]. *cells is a new reference to a vector of the DM or, of a continuous DM, a new
   vector: with any values (v: the vector of the DM that it stands for), or those of the function x */
PetscErrorCode VpCellsCreate(const VpField *, Vec v, Vec *cells);
PetscErrorCode VpCellsOf(const VpField *, Vec x, Vec *cells);
/* Destroy the reference. b = the right-hand side with these numbers (add: b += that of a continuous DM); x = the function, on a continuous
   DM with the mean of what cells have at a node, weighted by the root of their volumes */
PetscErrorCode VpCellsToRHS(const VpField *, PetscBool add, Vec *cells, Vec b);
PetscErrorCode VpCellsToFunction(const VpField *, Vec *cells, Vec x);

/* points.c: what is computed at Gauss points, n in each direction. The slope is the gradient in cells, on sides the outward derivative.
   The outflow through sides is per area of the reference cell's side, of a DM with a metric. */
typedef enum { VP_COORDINATES, VP_VALUE, VP_SLOPE, VP_OUTFLOW } VpPointKind;
/* to [points][numbers] = a quantity at the points of own cells, or of their sides with data of this kind. points: [n] other points in [0,1]
   than Gauss points, or NULL. x: coefficients; NULL for coordinates */
PetscErrorCode VpComputeAtPoints(const VpField *, VpGivenKind, VpPointKind, const double points[], Vec x, Vec to);
/* number of points on the sides of this kind with a smaller number; side 2 dim: on all of them; 0 for cells */
size_t VpCountPointsBefore(const VpField *, VpSet);
/* Creates a vector of the DM's type with `components` numbers per point. */
PetscErrorCode VpPointVectorCreate(const VpField *, VpGivenKind, int components, Vec *);
/* Ensures: an error on all ranks unless v has the local size of such a vector on every rank. */
PetscErrorCode VpPointVectorCheck(const VpField *, VpGivenKind, int components, Vec v, const char caller[], const char what[]);
