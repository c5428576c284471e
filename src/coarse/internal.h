/* The ways to solve the coarsest level's problem. */
#pragma once
#include "coarse.h"
#include "../base/memory.h"
#include "../collective.h"

/* One way to solve it. takes_columns (NULL: never), get_ksp and stopped may be NULL. */
typedef struct {
  /* Requires: coarse.c says that the way suits. *data stays NULL where it turns out that the way does not work; the next one is tried then.
     The level outlives it; parent: whose prefix and tab level a KSP takes. */
  PetscErrorCode (*create)(VpLevel, const char prefix[], PetscObject parent, void **data);
  /* x = A^-1 b, for n vectors of own cells, one after the other in b and x. n > 1 requires: takes_columns */
  PetscErrorCode (*solve)(void *data, int32_t n, VpVector b, VpVector x);
  PetscBool (*takes_columns)(const void *data);
  PetscErrorCode (*view)(void *data, PetscViewer);
  PetscErrorCode (*destroy)(void *data);
  PetscErrorCode (*get_ksp)(void *data, KSP *);
  PetscInt (*stopped)(void *data); /* iterations of the KSP's last solve that failed since this was called; 0: none did */
} VpCoarseOps;
extern const VpCoarseOps VpCoarseSeparable, VpCoarseNotched, VpCoarseDense, VpCoarsePairs,
  VpCoarseKSP; /* separable.c, notched.c, dense.c, sweeps.c, ksp.c */

/* The same, and cell[extent] of a mesh whose cells are all local, or none is; missing ones have numbers from mesh->ncell on. NULL where
   there is no grid */
PetscErrorCode VpBoxGridCells(VpMesh, int n, VpBoxGrid *, int32_t **cell);
/* where a line along d begins that has numbers in [0, n) only, or -1 */
int32_t VpFullLine(const int32_t extent[3], const int32_t at[], int32_t n, int d);

/* separable.c. host: the same level there, orthonormal, double, without reaction */
PetscErrorCode VpSeparableHost(VpLevel, VpLevel *host);
/* D_d on the lines of a grid, L [m][m], and what diagonalises it: V [mode][value] and lambda [m], which along the last direction has the
   reaction, too. same: the first direction with the same L. Along a third direction that there is not m = V = 1, lambda = 0. */
typedef struct {
  int     m[3], same[3];
  double *L[3], *V[3], *lambda[3];
} VpLineModes;
PetscErrorCode VpLineModesCreate(VpLevel host, double reaction, const VpBoxGrid *, const int32_t cell[], VpLineModes *);
PetscErrorCode VpLineModesDestroy(VpLineModes *);
/* fills *s, whose extent is set */
PetscErrorCode VpSeparablePlace(VpLevel, const VpLineModes *, const int32_t cell[], VpArrays *, VpSeparable *s);

/* notchsides.c: the sides towards missing cells. Those of a plane of cells that look the same way have an entry of the tables. */
typedef struct {
  int32_t  n, entries;
  int32_t *side, *place; /* [n][VP_NOTCH_SIDE]; the cells' places on the grid */
  int32_t *plane;        /* [entries][2] the cells' side; their position along its direction */
  double  *u, *inverse;  /* [entries][2 f][cell, missing][n] U; [entries][2 f] C^-1, positive for f = 0 and negative for f = 1 */
} VpNotchSides;
PetscErrorCode VpNotchSidesCreate(VpLevel host, const VpBoxGrid *, const int32_t cell[], const VpLineModes *, VpNotchSides *);
PetscErrorCode VpNotchSidesDestroy(VpNotchSides *);
PetscErrorCode VpNotchPlace(VpLevel, const VpBoxGrid *, const VpNotchSides *, VpArrays *, VpNotch *);
VpPart         VpNotchPart(const VpBoxGrid *, int dim, const VpNotchSides *); /* has the cells beside all sides */
/* notchmatrix.c: K = U^T B^-1 U, on the backend */
PetscErrorCode VpNotchCouple(VpLevel, const VpBoxGrid *, const VpLineModes *, const VpNotchSides *, double *K);
