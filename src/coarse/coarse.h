/* The solver of the coarsest level. */
#pragma once
#include "../level/level.h"
#include <petscksp.h>

typedef enum { VP_COARSE_AUTO, VP_COARSE_SWEEPS, VP_COARSE_KSP, VP_COARSE_DENSE, VP_COARSE_VOLUMES, VP_COARSE_STEPS } VpCoarseType;
typedef struct VpCoarse_ *VpCoarse;
/* parent: the object whose prefix and tab level a KSP takes */
PetscErrorCode VpCoarseCreate(VpLevel, VpCoarseType, const char prefix[], PetscObject parent, VpCoarse *);
/* x = A^-1 b for n vectors of own cells, one after the other in b and x. n > 1 requires: VpCoarseTakesColumns(). VP_COARSE_VOLUMES adds an
   approximation to x instead, which sweeps complete. */
PetscErrorCode VpCoarseSolve(VpCoarse, int32_t n, VpVector b, VpVector x);
PetscBool      VpCoarseTakesColumns(VpCoarse);
PetscErrorCode VpCoarseDestroy(VpCoarse *);
KSP            VpCoarseGetKSP(VpCoarse); /* NULL: the way has no KSP */
/* iterations of the last solve in which that KSP did not converge, since this was last called; 0: it always did */
PetscInt       VpCoarseStopped(VpCoarse);
PetscErrorCode VpCoarseMeet(VpCoarse, PetscBool flexible); /* flexible: the outer KSP lets the preconditioner change */
PetscErrorCode VpCoarseView(VpCoarse, PetscViewer);

/* boxgrid.c: extent = the numbers of cells on lines through the domain along every direction, if the boxes form a grid whose lines have at
   most VP_LONGEST_LINE values at degree n - 1; otherwise extent[0] = 0 */
PetscErrorCode VpBoxGridFind(VpLattice, int n, int32_t extent[3]);

/* What decides in which way a coarsest level is solved. It is known before there is a level. */
typedef struct {
  VpCoarseType     type;
  const VpPrefers *prefers; /* of the backend */
  PetscInt         ranks;   /* those with cells */
  int              n, dim;
  double           cells;
  PetscBool        trees;     /* of a domain of trees */
  int32_t          extent[3]; /* VpBoxGridFind(); extent[0] = 0 if the coefficient is not uniform */
} VpCoarseCase;
/* Sets dim, cells, trees and extent. Requires: the other members are set. uniform: whether the coefficient is */
PetscErrorCode VpCoarseCaseComplete(VpLattice, PetscBool uniform, VpCoarseCase *);
/* along lines (separable.c), by a dense matrix (dense.c), by finite volumes (volumes.c), by steps of these and a sweep (steps.c), by sweeps
   (sweeps.c), by a KSP (ksp.c) */
typedef enum { VP_WAY_LINES, VP_WAY_DENSE, VP_WAY_VOLUMES, VP_WAY_SWEEPS, VP_WAY_STEPS, VP_WAY_KSP, VP_COARSE_WAYS } VpCoarseWay;
/* the first way that suits the case. VpCoarseCreate() takes a later one if rounding errors or the partition rule it out. */
VpCoarseWay VpCoarseExpect(const VpCoarseCase *);
/* *exact: whether the way that is expected is an inverse or a factorisation */
PetscErrorCode       VpCoarseIsExact(VpLevel, VpCoarseType, PetscBool *exact);
static inline double VpCoarseUnknowns(const VpCoarseCase *c)
{
  return c->cells * pow(c->n, c->dim);
}
