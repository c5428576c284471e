/* Numbers the trees of a mesh along Morton's curve through their middles. Trees that touch then have near numbers, so that ranks share few
   faces, and sweeps find the cells of a patch near each other in memory. */
#include "usergrid.h"
#include <stdlib.h>

enum { BITS = 21 }; /* of a coordinate; three make a number of 63 bits */

typedef struct {
  uint64_t along;
  PetscInt tree;
} Stop;

static int AlongTheCurve(const void *a, const void *b)
{
  const Stop *x = (const Stop *)a, *y = (const Stop *)b;

  if (x->along != y->along) return x->along < y->along ? -1 : 1;
  return x->tree < y->tree ? -1 : x->tree > y->tree;
}

/* middle [ncell][dim] of own cells, as means of their nodes */
static void FindMiddles(const VpUserGrid *grid, double middle[])
{
  const int dim = grid->dim, nodes = VpMapNodes(dim, grid->order);

  for (PetscInt i = 0; i < grid->ncell * dim; i++) {
    middle[i] = 0;
    for (int k = 0; k < nodes; k++) middle[i] += grid->node[(i / dim * nodes + k) * dim + i % dim] / nodes;
  }
}

/* where a point is on the curve through a cube. x: from 0 to 1 in the cube */
static uint64_t FindAlong(int dim, const double x[])
{
  uint64_t along = 0;

  for (int bit = BITS - 1; bit >= 0; bit--) {
    for (int d = dim - 1; d >= 0; d--) along = along << 1 | ((uint64_t)(x[d] * ((1 << BITS) - 1)) >> bit & 1);
  }
  return along;
}

PetscErrorCode VpOrderTrees(const VpUserGrid *grid, PetscInt number[])
{
  const int dim = grid->dim;
  double   *mine, *middle, low[3], size = 0;
  PetscInt  n;
  Stop     *stop;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(grid->ncell * dim, &mine));
  FindMiddles(grid, mine);
  PetscCall(VpGatherAll(grid->comm, grid->ncell, (size_t)dim * sizeof(double), mine, &n, &middle));
  PetscCall(PetscFree(mine));
  for (int d = 0; d < dim; d++) {
    double high = low[d] = middle[d];

    for (PetscInt i = 0; i < n; i++) {
      low[d] = PetscMin(low[d], middle[i * dim + d]);
      high = PetscMax(high, middle[i * dim + d]);
    }
    size = PetscMax(size, high - low[d]);
  }
  PetscCall(PetscMalloc1(n, &stop));
  for (PetscInt i = 0; i < n; i++) {
    double x[3];

    for (int d = 0; d < dim; d++) x[d] = size > 0 ? (middle[i * dim + d] - low[d]) / size : 0;
    stop[i] = (Stop){FindAlong(dim, x), i};
  }
  qsort(stop, (size_t)n, sizeof(Stop), AlongTheCurve);
  for (PetscInt i = 0; i < n; i++) number[stop[i].tree] = i;
  PetscCall(PetscFree(stop));
  PetscCall(PetscFree(middle));
  PetscFunctionReturn(PETSC_SUCCESS);
}
