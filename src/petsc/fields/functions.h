/* Functions of points that a user gives, in one of their forms. */
#pragma once
#include "places.h"

typedef struct {
  VPatchDGBatch    batch; /* one of these three, or none: 0 */
  VPatchDGFunction function;
  VPatchDGFlux     flux;
  void            *ctx;
  int              components;
  PetscBool        on_device; /* the batch form takes and gives memory of the device */
} VpGiven;
static inline PetscBool VpIsGiven(const VpGiven *f)
{
  return (PetscBool)(f->batch || f->function || f->flux);
}

/* Ensures: an error on all ranks unless `where` is memory that functions can be given for this DM. */
PetscErrorCode VpGivenCheck(const VpField *, PetscMemType where, const char caller[]);
/* b += the integrals of f times the functions that the grid's matrices stand for, over a set of places; weighted: also times the
   coefficient */
PetscErrorCode VpAddIntegrals(const VpField *, const VpGrid *, VpSet, PetscBool weighted, const VpGiven *, double b[]);
/* values[place][point] = f; on the backend */
PetscErrorCode VpValuesOf(const VpField *, const VpGrid *, VpSet, const VpGiven *, double values[]);
/* square[0] += the integral of (u_h - u)^2 over own cells, square[1] += that of |grad u_h - gradient|^2; a square may be NULL. x: u_h, on
   the backend; grid: of values in cells */
PetscErrorCode VpAddSquares(const VpField *, const VpGrid *, const VpGiven *u, const VpGiven *gradient, const double x[],
                            double *square[2]);
/* integrals.c: calls work(context, grid, set) for the cells and for the sides on the boundary, with the grid of nq points a direction whose
   transposed matrices make the part of a right-hand side */
PetscErrorCode VpForIntegrals(const VpField *, int nq, PetscErrorCode (*work)(void *, const VpGrid *, VpSet), void *context);

/* points.c: kernels on arrays of the backend: to values[place][point][n] by n grids, b = or += integrals, x[place][point][dim] */
PetscErrorCode VpEvaluate(const VpField *, int n, const VpGrid[], VpSet, const double x[], double values[]);
PetscErrorCode VpIntegrate(const VpField *, const VpGrid *, VpSet, PetscBool weighted, PetscBool add, const double values[], double b[]);
PetscErrorCode VpCoordinates(const VpField *, const VpGrid *, VpSet, double x[]);
/* a vector of the DM's type with so many numbers at every point of cells, or of sides */
PetscErrorCode VpPointVector(const VpField *, double cells, int points, int components, Vec *);
/* Ensures: an error on all ranks unless v has this local size on every one. */
PetscErrorCode VpCheckSize(DM, Vec v, double size, const char caller[], const char what[]);
