/* Trees for tests: grids of boxes, kites around a vertex, a square in a circle and a cube in a ball, and turned at random. */
#pragma once
#include "tap.h"
#include "../../src/mesh/mesh.h"
#include <vpatchdg.h>

enum { MOST_TREES = 64 };
typedef struct {
  int     dim;
  int32_t nvertex, ntree, corner[MOST_TREES * 8]; /* x fastest */
  double  x[MOST_TREES * 8][3];                   /* [nvertex] */
} Trees;

PETSC_UNUSED static void TreesGrid(int dim, int n, Trees *t)
{
  const int nz = dim == 3 ? n : 1, z = dim == 3;

  *t = (Trees){.dim = dim, .nvertex = (n + 1) * (n + 1) * (nz + z), .ntree = n * n * nz};
  for (int v = 0; v < t->nvertex; v++) {
    for (int d = 0, rest = v; d < dim; d++, rest /= n + 1) t->x[v][d] = rest % (n + 1);
  }
  for (int i = 0; i < t->ntree << dim; i++) {
    const int tree = i >> dim, at[3] = {tree % n + (i & 1), tree / n % n + (i >> 1 & 1), tree / (n * n) + (dim == 3 ? i >> 2 & 1 : 0)};

    t->corner[i] = (at[2] * (n + 1) + at[1]) * (n + 1) + at[0];
  }
}

/* m kites of the regular m-gon: 0 is the centre, 1 + 2 i the middle of side i, 2 + 2 i the corner after it */
PETSC_UNUSED static void TreesStar(int m, Trees *t)
{
  *t = (Trees){.dim = 2, .nvertex = 1 + 2 * m, .ntree = m};
  for (int v = 1; v < t->nvertex; v++) {
    const double angle = (v - 1) * PETSC_PI / m, r = v % 2 ? cos(PETSC_PI / m) : 1;

    t->x[v][0] = r * cos(angle);
    t->x[v][1] = r * sin(angle);
  }
  for (int i = 0; i < m; i++) {
    const int32_t corner[4] = {0, 1 + 2 * i, 1 + 2 * ((i + 1) % m), 2 + 2 * i};

    for (int k = 0; k < 4; k++) t->corner[4 * i + k] = corner[k];
  }
}

/* A square or cube and 2 dim trees around it. Vertices 0.. are those of the inner one, the others lie outside of them. */
PETSC_UNUSED static void TreesBall(int dim, Trees *t)
{
  const int n = 1 << dim;

  *t = (Trees){.dim = dim, .nvertex = 2 * n, .ntree = 1 + 2 * dim};
  for (int i = 0; i < 2 * n * dim; i++) t->x[i / dim][i % dim] = ((i / dim >> i % dim & 1) - 0.5) * (i / dim < n ? 1 : 2);
  for (int i = 0; i < n; i++) t->corner[i] = i;
  for (int side = 0; side < 2 * dim; side++) {
    for (int i = 0; i < n; i++) { /* outwards is the last direction */
      const int d = side / 2, along = i & (n / 2 - 1), below = along & ((1 << d) - 1);

      t->corner[(1 + side) * n + i] = ((along - below) << 1 | (side % 2) << d | below) + (i < n / 2 ? 0 : n);
    }
  }
}

static unsigned int TreesDraw(unsigned int *seed)
{
  *seed = *seed * 1103515245u + 12345u;
  return *seed >> 16;
}

/* Gives every tree other directions, at random. */
PETSC_UNUSED static void TreesTurn(unsigned int seed, Trees *t)
{
  for (int tree = 0; tree < t->ntree; tree++) {
    int32_t old[8], *corner = t->corner + ((size_t)tree << t->dim);
    int     axis[3] = {0, 1, 2};

    for (int d = t->dim - 1; d > 0; d--) {
      const int e = (int)(TreesDraw(&seed) % (unsigned int)(d + 1)), swap = axis[d];

      axis[d] = axis[e];
      axis[e] = swap;
    }
    for (int i = 0; i < 1 << t->dim; i++) old[i] = corner[i];
    for (int flips = (int)(TreesDraw(&seed) % 8), i = 0; i < 1 << t->dim; i++) {
      int from = 0;

      for (int d = 0; d < t->dim; d++) from |= ((i ^ flips) >> d & 1) << axis[d];
      corner[i] = old[from];
    }
  }
}

PETSC_UNUSED static PetscErrorCode TreesDomain(MPI_Comm comm, const Trees *t, VpDomain *domain)
{
  static const VpBoundary boundary[6] = {{VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0},
                                         {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}};

  PetscFunctionBeginUser;
  PetscCall(VpDomainCreateTrees(
    comm, &(VpTreeCorners){.dim = t->dim, .nvertex = t->nvertex, .ntree = t->ntree, .corner = t->corner, .boundary = boundary}, domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a DM these trees, whose maps are multilinear. */
PETSC_UNUSED static PetscErrorCode TreesGive(const Trees *t, DM dm)
{
  PetscInt  corner[MOST_TREES * 8];
  PetscReal x[MOST_TREES * 8 * 3];

  PetscFunctionBeginUser;
  for (int i = 0; i < t->ntree << t->dim; i++) corner[i] = t->corner[i];
  for (int i = 0; i < t->nvertex * t->dim; i++) x[i] = t->x[i / t->dim][i % t->dim];
  PetscCall(DMVPatchDGSetTrees(dm, t->nvertex, x, t->ntree, corner, 1, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
