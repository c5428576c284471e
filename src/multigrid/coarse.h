/* The coarsest level's problem, and the ways to solve it. */
#pragma once
#include "smoother.h"

/* One way to solve it. Slots that are NULL do nothing. */
typedef struct {
  /* *data stays NULL where the problem cannot be solved so. The level outlives it; parent: whose prefix and tab level a KSP takes. */
  PetscErrorCode (*create)(VpLevel, const char prefix[], PetscObject parent, void **data);
  PetscErrorCode (*solve)(void *data, VpVector b, VpVector x); /* x = A^-1 b */
  /* The same for n vectors of own cells, one after the other in b and x. *did: false where that is not possible, and nothing has changed */
  PetscErrorCode (*solve_columns)(void *data, int32_t n, VpVector b, VpVector x, PetscBool *did);
  PetscErrorCode (*view)(void *data, PetscViewer);
  PetscErrorCode (*destroy)(void *data);
  PetscErrorCode (*get_ksp)(void *data, KSP *);
  PetscInt (*stopped)(void *data); /* iterations of the KSP's last solve that failed; 0: none did */
} VpCoarseOps;
extern const VpCoarseOps VpCoarseSeparable, VpCoarseDense, VpCoarsePairs,
  VpCoarseKSP; /* coarseseparable.c, coarsedense.c, coarsesweeps.c, coarseksp.c */

/* coarseseparable.c: the cells on a line in every direction where a grid of boxes can be inverted at degree n - 1, else extent[0] = 0 */
PetscErrorCode VpSeparableExtent(VpLattice, int n, int32_t extent[3]);
PetscErrorCode VpCoarseCreate(VpLevel, VpCoarseType, const char prefix[], PetscObject parent, VpCoarse *);
PetscErrorCode VpCoarseSolve(VpCoarse, VpVector b, VpVector x);
PetscErrorCode VpCoarseSolveColumns(VpCoarse, int32_t n, VpVector b, VpVector x, PetscBool *did);
PetscErrorCode VpCoarseDestroy(VpCoarse *);
