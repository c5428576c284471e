/* The ways to solve the coarsest level's problem. */
#pragma once
#include "coarse.h"
#include "../base/memory.h"
#include "../collective.h"

/* One way. meet may be NULL. */
typedef struct {
  /* *data stays NULL if the way does not work on the level; the next one is tried then. Requires: the way suits the case (coarse.c); the
     level outlives it. parent: the object whose prefix and tab level a KSP takes */
  PetscErrorCode (*create)(VpLevel, const char prefix[], PetscObject parent, void **data);
  /* as VpCoarseSolve() */
  PetscErrorCode (*solve)(void *data, int32_t n, VpVector b, VpVector x);
  PetscBool columns; /* solve() takes n > 1 if one rank has all cells. */
  PetscBool solver;  /* The data begins with a VpCoarseSolver. */
  PetscErrorCode (*view)(void *data, PetscViewer);
  PetscErrorCode (*destroy)(void *data);
  PetscErrorCode (*meet)(void *data, PetscBool flexible);
} VpCoarseOps;
/* separable.c, dense.c, sweeps.c, ksp.c, volumes.c, steps.c */
extern const VpCoarseOps VpCoarseSeparable, VpCoarseDense, VpCoarseSweeps, VpCoarseKSP, VpCoarseVolumes, VpCoarseSteps;

/* unknowns up to which VpCoarseKSP's default is an LU, which has more fill in 3D */
static inline double VpDirectLimit(int dim)
{
  return dim == 2 ? 4000 : 2000;
}
/* solver.c: the KSP of a way, the first member of the way's data. Its vectors are on the host or on the backend. */
typedef struct {
  KSP          ksp;
  PetscInt     stopped; /* as VpCoarseStopped() */
  VpLevel      level;
  Mat          A; /* of the KSP: `scale` times A of the level */
  double       scale;
  MatNullSpace constants; /* taken off right-hand sides where the problem is singular; else NULL */
  Vec          b, x;
  double      *values; /* what leaves the level, or enters it, on its backend */
  size_t       bytes;  /* of them */
} VpCoarseSolver;
PetscErrorCode VpCoarseSolverCreate(VpLevel, const char prefix[], PetscObject parent, VpCoarseSolver *);
PetscErrorCode VpCoarseSolverAllocate(VpCoarseSolver *, size_t n, const char what[]); /* vectors of A, and n values */
PetscErrorCode VpCoarseSolverSetUp(VpCoarseSolver *);                                 /* takes options, then sets the KSP up */
PetscErrorCode VpCoarseSolverRun(VpCoarseSolver *);                                   /* x = A^-1 b */
PetscErrorCode VpCoarseSolverSolve(void *data, int32_t n, VpVector b, VpVector x);    /* VpCoarseOps.solve */
PetscErrorCode VpCoarseSolverDestroy(VpCoarseSolver *);
/* between a vector of PETSc and `values`, or a vector of the level in the basis of its boxes */
PetscErrorCode VpCoarseToVec(const VpCoarseSolver *, Vec to);
PetscErrorCode VpCoarseFromVec(const VpCoarseSolver *, Vec from);
PetscErrorCode VpCoarseLeave(const VpCoarseSolver *, VpVector from, Vec to);
PetscErrorCode VpCoarseEnter(const VpCoarseSolver *, Vec from, VpVector to);

/* boxgrid.c: VpBoxGridFind(), and cell [extent], the cells at all places of the grid; NULL without a grid. Requires: all cells of the mesh
   are local, or none. */
PetscErrorCode VpBoxGridCells(VpMesh, int n, int32_t extent[3], int32_t **cell);
