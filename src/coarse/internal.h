/* The ways to solve the coarsest level's problem. */
#pragma once
#include "coarse.h"
#include "../base/memory.h"
#include "../collective.h"

/* One way to solve it. takes_columns (NULL: never), get_ksp, stopped and meet may be NULL. */
typedef struct {
  /* Requires: coarse.c says that the way suits. *data stays NULL where it turns out that the way does not work; the next one is tried then.
     The level outlives it; parent: whose prefix and tab level a KSP takes. */
  PetscErrorCode (*create)(VpLevel, const char prefix[], PetscObject parent, void **data);
  /* x = A^-1 b, or x += about A^-1 b (finite volumes), for n vectors of own cells, one after the other in b and x. n > 1 requires:
     takes_columns */
  PetscErrorCode (*solve)(void *data, int32_t n, VpVector b, VpVector x);
  PetscBool (*takes_columns)(const void *data);
  PetscErrorCode (*view)(void *data, PetscViewer);
  PetscErrorCode (*destroy)(void *data);
  PetscErrorCode (*get_ksp)(void *data, KSP *);
  PetscInt (*stopped)(void *data); /* iterations of the KSP's last solve that failed since this was called; 0: none did */
  PetscErrorCode (*meet)(void *data, PetscBool flexible); /* the outer KSP lets the preconditioner change, or not */
} VpCoarseOps;
/* separable.c, dense.c, sweeps.c, ksp.c, volumes.c */
extern const VpCoarseOps VpCoarseSeparable, VpCoarseDense, VpCoarsePairs, VpCoarseKSP, VpCoarseVolumes;

/* unknowns up to which an LU is the default of VpCoarseKSP: in 3D it fills up */
static inline double VpDirectLimit(int dim)
{
  return dim == 2 ? 4000 : 2000;
}
/* ksp.c: the KSP of a way, with the level's prefix; the head of the way's data */
typedef struct {
  KSP      ksp;
  PetscInt stopped; /* iterations after which it stopped without converging, the last time it did since that was asked for; 0: never */
} VpCoarseSolver;
PetscErrorCode VpCoarseSolverCreate(VpLevel, const char prefix[], PetscObject parent, VpCoarseSolver *);
PetscErrorCode VpCoarseSolverSetUp(VpCoarseSolver *); /* takes its options, and sets it up */
PetscErrorCode VpCoarseSolverSolve(VpCoarseSolver *, Vec b, Vec x);
PetscErrorCode VpCoarseSolverGetKSP(void *data, KSP *); /* VpCoarseOps.get_ksp */
PetscInt       VpCoarseSolverStopped(void *data);       /* VpCoarseOps.stopped */

/* boxgrid.c: VpBoxGridFind() and the cell at each place, cell[extent], of a mesh whose cells are all local, or none is. NULL where there is
   no grid */
PetscErrorCode VpBoxGridCells(VpMesh, int n, int32_t extent[3], int32_t **cell);
