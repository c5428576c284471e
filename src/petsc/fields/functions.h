/* The user's functions of points in each of their forms. */
#pragma once
#include "places.h"

typedef struct {
  VPatchDGBatch    batch; /* One of these three is set. If none is, the function is 0. */
  VPatchDGFunction function;
  VPatchDGFlux     flux;
  void            *ctx;
  int              components;
  PetscBool        on_device; /* The batch form reads and writes device memory. */
} VpGiven;
static inline PetscBool VpIsGiven(const VpGiven *f)
{
  return (PetscBool)(f->batch || f->function || f->flux);
}

/* Ensures: an error on all ranks unless functions of this DM may use memory `where`. */
PetscErrorCode VpGivenCheck(const VpField *, PetscMemType where, const char caller[]);
/* b += integrals of f times the functions that the grid's matrices stand for, over a set of places. weighted: f is multiplied by the
   coefficient */
PetscErrorCode VpAddIntegrals(const VpField *, const VpGrid *, VpSet, PetscBool weighted, const VpGiven *, double b[]);
/* values [place][point] = f, on the backend */
PetscErrorCode VpValuesOf(const VpField *, const VpGrid *, VpSet, const VpGiven *, double values[]);
/* square[0] += integral of (u_h - u)^2 over own cells; square[1] += integral of |grad u_h - gradient|^2. Either may be NULL. x: u_h, on the
   backend; grid: of values in cells */
PetscErrorCode VpAddSquares(const VpField *, const VpGrid *, const VpGiven *u, const VpGiven *gradient, const double x[],
                            double *square[2]);
/* integrals.c: calls work(context, grid, set) for the cells and for each set of boundary sides. The transposed matrices of the grid, with
   nq points in each direction, turn values into the set's part of a right-hand side. */
PetscErrorCode VpForIntegrals(const VpField *, int nq, PetscErrorCode (*work)(void *, const VpGrid *, VpSet), void *context);

/* points.c: kernels on arrays of the backend. Evaluate: values [place][point][n] for n grids; Integrate: b = or += integrals; Coordinates:
   x [place][point][dim] */
PetscErrorCode VpEvaluate(const VpField *, int n, const VpGrid[], VpSet, const double x[], double values[]);
PetscErrorCode VpIntegrate(const VpField *, const VpGrid *, VpSet, PetscBool weighted, PetscBool add, const double values[], double b[]);
PetscErrorCode VpCoordinates(const VpField *, const VpGrid *, VpSet, double x[]);
/* Creates a vector of the DM's type with `components` numbers per point. cells: number of cells or sides */
PetscErrorCode VpPointVector(const VpField *, double cells, int points, int components, Vec *);
/* Ensures: an error on all ranks unless v has this local size on every rank. */
PetscErrorCode VpCheckSize(DM, Vec v, double size, const char caller[], const char what[]);
