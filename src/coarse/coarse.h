/* The solver of the coarsest level. */
#pragma once
#include "../level/level.h"
#include <petscksp.h>

typedef enum { VP_COARSE_AUTO, VP_COARSE_SWEEPS, VP_COARSE_KSP, VP_COARSE_DENSE, VP_COARSE_VOLUMES } VpCoarseType;
typedef struct VpCoarse_ *VpCoarse;
/* parent: whose prefix and tab level a KSP takes */
PetscErrorCode VpCoarseCreate(VpLevel, VpCoarseType, const char prefix[], PetscObject parent, VpCoarse *);
/* x = A^-1 b for n vectors of own cells, one after the other in b and x. n > 1 requires: VpCoarseTakesColumns(). VP_COARSE_VOLUMES: x +=
   a part of A^-1 b, and sweeps do the rest */
PetscErrorCode VpCoarseSolve(VpCoarse, int32_t n, VpVector b, VpVector x);
PetscBool      VpCoarseTakesColumns(VpCoarse);
PetscErrorCode VpCoarseDestroy(VpCoarse *);
PetscErrorCode VpCoarseGetKSP(VpCoarse, KSP *); /* NULL where there is none */
PetscInt       VpCoarseStopped(VpCoarse);       /* iterations after which that KSP did not converge since this was called; 0: it did */
PetscErrorCode VpCoarseMeet(VpCoarse, PetscBool flexible); /* whether the outer KSP lets the preconditioner change */
PetscErrorCode VpCoarseView(VpCoarse, PetscViewer);

/* boxgrid.c: the cells on a line in every direction, if the boxes form a grid whose lines have at most VP_LONGEST_LINE values at degree
   n - 1; otherwise extent[0] = 0 */
PetscErrorCode VpBoxGridFind(VpLattice, int n, int32_t extent[3]);

/* What decides in which way the coarsest level is solved, and is known before there is a level */
typedef struct {
  VpCoarseType     type;
  const VpPrefers *prefers; /* of the backend */
  PetscInt         ranks;   /* that have cells */
  int              n, dim;
  double           cells;
  int32_t          extent[3]; /* VpBoxGridFind(); extent[0] = 0 unless the coefficient is uniform */
} VpCoarseCase;
/* uniform: the coefficient is */
PetscErrorCode VpCoarseCaseOf(VpLattice, VpCoarseType, const VpPrefers *, PetscBool uniform, PetscInt ranks, int n, VpCoarseCase *);
/* along lines (separable.c), by a dense matrix (dense.c), by finite volumes (volumes.c), by sweeps (sweeps.c), by a KSP (ksp.c) */
typedef enum { VP_WAY_LINES, VP_WAY_DENSE, VP_WAY_VOLUMES, VP_WAY_SWEEPS, VP_WAY_KSP, VP_COARSE_WAYS } VpCoarseWay;
/* the first of them that suits the case. VpCoarseCreate() takes a later one where rounding or the partition leaves no other. */
VpCoarseWay VpCoarseExpect(const VpCoarseCase *);
/* whether that is an inverse, or a factorisation, on this level */
PetscErrorCode       VpCoarseIsExact(VpLevel, VpCoarseType, PetscBool *exact);
static inline double VpCoarseUnknowns(const VpCoarseCase *c)
{
  return c->cells * pow(c->n, c->dim);
}
