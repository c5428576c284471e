/* Boxes that lie on a grid of lines through the whole domain, each in a slot of its own, and the cells of a lattice on such a grid. Some
   slots may be empty: the domain is a box with notches or holes then, as an L-shape is. There the sides towards empty slots are Dirichlet,
   and every direction has a line without empty slots, which shows how cells lie on lines.

       slots of an L-shape      2 | 3        start of the slots along a direction: 0, 4, 8, where boxes have four cells a direction
                                --+--
                                0 |            extent: 8 */
#include "internal.h"

enum { MOST_SLOTS = 4 }; /* for every box */

typedef struct {
  VpDomain  domain;
  int32_t  *slot;    /* [3][nbox] */
  int32_t   grid[3]; /* slots along each direction; grid[0] = 0: the boxes are on no grid */
  int32_t  *at;      /* [grid] the box in a slot, or -1 */
  PetscBool full;
} Grid;

/* slot[box] = how many positions of boxes are below along d; how many there are */
static PetscErrorCode Enumerate(VpDomain domain, int d, PetscReal lower[], int32_t slot[], int32_t *count)
{
  const int32_t *class;
  PetscReal size = PETSC_MAX_REAL;
  PetscInt  at, n = 0;

  PetscFunctionBegin;
  PetscCall(VpDomainGetClasses(domain, d, &class));
  for (int32_t b = 0; b < domain->nbox; b++) {
    if (class[b] != b) continue;
    lower[n++] = domain->lower[3 * (size_t)b + d];
    size = PetscMin(size, VpDomainWidth(domain, b, d));
  }
  PetscCall(PetscSortReal(n, lower));
  *count = 0;
  for (PetscInt i = 0; i < n; i++) {
    if (!i || lower[i] - lower[*count - 1] > size / 4) lower[(*count)++] = lower[i];
  }
  for (int32_t b = 0; b < domain->nbox; b++) {
    PetscCall(PetscFindReal(domain->lower[3 * (size_t) class[b] + d], *count, lower, size / 4, &at));
    slot[b] = (int32_t)at;
    if (slot[b] + 1 < *count && PetscAbsReal(domain->upper[3 * (size_t)b + d] - lower[slot[b] + 1]) > size / 4) slot[b] = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the slot of a box among all of them, x fastest; -1: it has none */
static int32_t NumberOf(const Grid *g, int32_t box)
{
  const int32_t n = g->domain->nbox;
  int32_t       number = 0;

  for (int d = 2; d >= 0; d--) {
    if (g->slot[(size_t)d * n + box] < 0) return -1;
    number = number * g->grid[d] + g->slot[(size_t)d * n + box];
  }
  return number;
}

/* is what lies beyond the upper (s = 1) or lower side of a box along d what its place among the slots says? */
static PetscBool FitsBeside(const Grid *g, int32_t box, int d, int s)
{
  const VpDomain domain = g->domain;
  const int32_t  beyond = domain->beyond[(size_t)box * 2 * domain->dim + 2 * d + s], p = g->slot[(size_t)d * domain->nbox + box];
  const int32_t  step = VpLineStride(d, g->grid[0], g->grid[0] * g->grid[1]), i = NumberOf(g, box), last = g->grid[d] - 1;
  int32_t        there;

  if (p == (s ? last : 0)) return (PetscBool)(beyond < 0 || (g->full && beyond == g->at[s ? i - p * step : i + last * step]));
  there = g->at[s ? i + step : i - step];
  return (PetscBool)(there < 0 ? beyond < 0 && VpDomainSide(domain, beyond) == VP_SIDE_DIRICHLET && !domain->periodic[d] : beyond == there);
}

int32_t VpFullLine(const int32_t extent[3], const int32_t at[], int32_t n, int d)
{
  const int32_t step = VpLineStride(d, extent[0], extent[0] * extent[1]), all = extent[0] * extent[1] * extent[2];

  for (int32_t first = 0; first < all; first++) {
    int32_t p = 0;

    if (first / step % extent[d]) continue;
    while (p < extent[d] && at[first + p * step] >= 0 && at[first + p * step] < n) p++;
    if (p == extent[d]) return first;
  }
  return -1;
}

/* Ensures: grid[0] = 0 unless every box fits where it is */
static PetscErrorCode Check(Grid *g)
{
  const int32_t n = g->domain->nbox;
  const int64_t all = (int64_t)g->grid[0] * g->grid[1] * g->grid[2];
  PetscBool     fits = (PetscBool)(all <= MOST_SLOTS * (int64_t)n);

  PetscFunctionBegin;
  g->full = (PetscBool)(all == n);
  if (fits) PetscCall(PetscMalloc1(all, &g->at));
  for (int64_t i = 0; i < all && fits; i++) g->at[i] = -1;
  for (int32_t b = 0; b < n && fits; b++) {
    const int32_t i = NumberOf(g, b);

    fits = (PetscBool)(i >= 0 && g->at[i] < 0);
    if (fits) g->at[i] = b;
  }
  for (int32_t b = 0; b < n; b++) {
    for (int side = 0; side < 2 * g->domain->dim && fits; side++) fits = FitsBeside(g, b, side / 2, side % 2);
  }
  for (int d = 0; d < g->domain->dim && fits && !g->full; d++)
    fits = (PetscBool)(!g->domain->periodic[d] && VpFullLine(g->grid, g->at, n, d) >= 0);
  if (!fits) g->grid[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(VpDomain domain, Grid *g)
{
  PetscReal *lower;

  PetscFunctionBegin;
  *g = (Grid){.domain = domain, .grid = {1, 1, 1}};
  PetscCall(PetscCalloc1(3 * (size_t)domain->nbox, &g->slot));
  PetscCall(PetscMalloc1(domain->nbox, &lower));
  for (int d = 0; d < domain->dim; d++) PetscCall(Enumerate(domain, d, lower, g->slot + (size_t)d * domain->nbox, &g->grid[d]));
  PetscCall(PetscFree(lower));
  PetscCall(Check(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Grid *g)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(g->slot));
  PetscCall(PetscFree(g->at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* start[slot] = the cells on a line before the slot's, start[grid] all of them. False where boxes in a slot are cut unlike. Requires: grid
   <= VP_LONGEST_LINE */
static PetscBool CountCells(VpLattice L, int d, const int32_t slot[], int32_t grid, int32_t start[])
{
  for (int32_t i = 0; i <= grid; i++) start[i] = 0;
  for (int32_t b = 0; b < L->domain->nbox; b++) {
    const int32_t cells = 1 << VpShapeOf(L, b)->bits[d];

    if (start[slot[b] + 1] && start[slot[b] + 1] != cells) return PETSC_FALSE;
    start[slot[b] + 1] = cells;
  }
  for (int32_t i = 0; i < grid; i++) start[i + 1] += start[i];
  return PETSC_TRUE;
}

/* how many sides of cells are towards empty slots */
static double CountSides(VpLattice L, const Grid *g)
{
  double sides = 0;

  for (int32_t b = 0; b < L->domain->nbox; b++) {
    for (int side = 0; side < 2 * L->domain->dim; side++) {
      const int     d = side / 2;
      const int32_t p = g->slot[(size_t)d * L->domain->nbox + b], step = VpLineStride(d, g->grid[0], g->grid[0] * g->grid[1]);
      double        cells = 1;

      if (p == (side % 2 ? g->grid[d] - 1 : 0) || g->at[NumberOf(g, b) + (side % 2 ? step : -step)] >= 0) continue;
      for (int e = 0; e < L->domain->dim; e++) cells *= e == d ? 1 : 1 << VpShapeOf(L, b)->bits[e];
      sides += cells;
    }
  }
  return sides;
}

/* Ensures: extent[0] = 0 where the boxes are on no grid, the boundary has more than one condition by normal, or lines have more than
   VP_LONGEST_LINE values */
static PetscErrorCode Measure(VpLattice L, int n, Grid *g, int32_t start[3][VP_LONGEST_LINE + 1], VpBoxGrid *to)
{
  const int32_t most = VP_LONGEST_LINE / n;

  PetscFunctionBegin;
  *to = (VpBoxGrid){.extent = {0, 1, 1}};
  if (L->ncell > PetscPowInt64(most, L->domain->dim) || !VpDomainIsByNormal(L->domain)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Create(L->domain, g));
  if (!g->grid[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < L->domain->dim; d++) {
    PetscBool counted = (PetscBool)(g->grid[d] <= most);

    if (counted) counted = CountCells(L, d, g->slot + (size_t)d * L->domain->nbox, g->grid[d], start[d]);
    to->extent[d] = counted && start[d][g->grid[d]] <= most ? start[d][g->grid[d]] : 0;
  }
  for (int d = 1; d < L->domain->dim; d++) to->extent[0] = to->extent[d] ? to->extent[0] : 0;
  if (!g->full) to->sides = CountSides(L, g);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpBoxGridFind(VpLattice L, int n, VpBoxGrid *to)
{
  int32_t start[3][VP_LONGEST_LINE + 1];
  Grid    g = {0};

  PetscFunctionBegin;
  PetscCall(Measure(L, n, &g, start, to));
  PetscCall(Destroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpBoxGridCells(VpMesh mesh, int n, VpBoxGrid *to, int32_t **cell)
{
  const int32_t nbox = mesh->domain->nbox;
  int32_t       start[3][VP_LONGEST_LINE + 1], next = (int32_t)mesh->ncell, all;
  Grid          g = {0};

  PetscFunctionBegin;
  *cell = NULL;
  PetscCall(Measure(mesh->lattice, n, &g, start, to));
  if (to->extent[0]) {
    all = to->extent[0] * to->extent[1] * to->extent[2];
    PetscCall(PetscMalloc1(all, cell));
    for (int32_t i = 0; i < all; i++) (*cell)[i] = -1;
    for (int32_t i = 0; i < mesh->nsweep; i++) {
      int64_t at = 0;

      for (int d = mesh->dim - 1; d >= 0; d--)
        at = at * to->extent[d] + start[d][g.slot[(size_t)d * nbox + mesh->box[i]]] + mesh->coord[3 * (size_t)i + d];
      (*cell)[at] = i;
    }
    for (int32_t i = 0; i < all && mesh->nsweep; i++) {
      if ((*cell)[i] < 0) (*cell)[i] = next++;
    }
  }
  PetscCall(Destroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}
