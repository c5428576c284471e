/* The ways to solve the coarsest level's problem. */
#pragma once
#include "coarse.h"
#include "../base/memory.h"
#include "../collective.h"

/* One way. get_ksp, stopped and meet may be NULL. */
typedef struct {
  /* *data stays NULL if the way does not work on the level; the next one is tried then. Requires: the way suits the case (coarse.c); the
     level outlives it. parent: the object whose prefix and tab level a KSP takes */
  PetscErrorCode (*create)(VpLevel, const char prefix[], PetscObject parent, void **data);
  /* as VpCoarseSolve() */
  PetscErrorCode (*solve)(void *data, int32_t n, VpVector b, VpVector x);
  PetscBool columns; /* solve() takes n > 1 if one rank has all cells. */
  PetscErrorCode (*view)(void *data, PetscViewer);
  PetscErrorCode (*destroy)(void *data);
  PetscErrorCode (*get_ksp)(void *data, KSP *);
  PetscInt (*stopped)(void *data);
  PetscErrorCode (*meet)(void *data, PetscBool flexible);
} VpCoarseOps;
/* separable.c, dense.c, sweeps.c, ksp.c, volumes.c, steps.c */
extern const VpCoarseOps VpCoarseSeparable, VpCoarseDense, VpCoarseSweeps, VpCoarseKSP, VpCoarseVolumes, VpCoarseSteps;

/* unknowns up to which VpCoarseKSP's default is an LU, which has more fill in 3D */
static inline double VpDirectLimit(int dim)
{
  return dim == 2 ? 4000 : 2000;
}
/* ksp.c: the KSP of a way, the first member of the way's data */
typedef struct {
  KSP      ksp;
  PetscInt stopped; /* as VpCoarseStopped() */
} VpCoarseSolver;
PetscErrorCode VpCoarseSolverCreate(VpLevel, const char prefix[], PetscObject parent, VpCoarseSolver *);
PetscErrorCode VpCoarseSolverSetUp(VpCoarseSolver *); /* takes options, then sets the KSP up */
PetscErrorCode VpCoarseSolverSolve(VpCoarseSolver *, Vec b, Vec x);
PetscErrorCode VpCoarseSolverGetKSP(void *data, KSP *); /* VpCoarseOps.get_ksp */
PetscInt       VpCoarseSolverStopped(void *data);       /* VpCoarseOps.stopped */

/* ksp.c: between a vector of PETSc, on the host or on the backend, and values on the backend */
PetscErrorCode VpCoarseFromVec(const VpBackend *, Vec from, size_t bytes, double *to);
PetscErrorCode VpCoarseToVec(const VpBackend *, const double *from, size_t bytes, Vec to);

/* boxgrid.c: VpBoxGridFind(), and cell [extent], the cells at all places of the grid; NULL without a grid. Requires: all cells of the mesh
   are local, or none. */
PetscErrorCode VpBoxGridCells(VpMesh, int n, int32_t extent[3], int32_t **cell);
