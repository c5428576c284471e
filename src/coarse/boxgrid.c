/* Finds whether the boxes form a grid, so that its lines go through the whole domain and each box is one item of it; and finds the
   cells of a lattice on such a grid.

       indices    2 | 3        start of the boxes along a direction: 0, 4, 8, if boxes have four cells per direction
                  --+--
                  0 | 1        extent: 8 */
#include "internal.h"

typedef struct {
  VpDomain domain;
  int32_t *along;   /* [3][nbox] a box's index along each direction; -1: none */
  int32_t  grid[3]; /* number of boxes along each direction; grid[0] = 0: the boxes form no grid */
  int32_t *at;      /* [grid] the box with an index */
} Grid;

/* Numbers the boxes along d. along[box] = the box's index; *count: their number. lower [nbox]: scratch */
static PetscErrorCode NumberBoxes(VpDomain domain, int d, PetscReal lower[], int32_t along[], int32_t *count)
{
  const int32_t *slab;
  PetscReal      size = PETSC_MAX_REAL;
  PetscInt       at, n = 0;

  PetscFunctionBegin;
  PetscCall(VpDomainGetSlabs(domain, d, &slab));
  for (int32_t b = 0; b < domain->nbox; b++) {
    if (slab[b] != b) continue;
    lower[n++] = domain->lower[3 * (size_t)b + d];
    size = PetscMin(size, VpDomainWidth(domain, b, d));
  }
  PetscCall(PetscSortReal(n, lower));
  *count = 0;
  for (PetscInt i = 0; i < n; i++) {
    if (!i || lower[i] - lower[*count - 1] > size / 4) lower[(*count)++] = lower[i];
  }
  for (int32_t b = 0; b < domain->nbox; b++) {
    PetscCall(PetscFindReal(domain->lower[3 * (size_t)slab[b] + d], *count, lower, size / 4, &at));
    along[b] = (int32_t)at;
    if (along[b] + 1 < *count && PetscAbsReal(domain->upper[3 * (size_t)b + d] - lower[along[b] + 1]) > size / 4) along[b] = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the index of a box in the grid, x fastest; -1: it has none */
static int32_t IndexOf(const Grid *g, int32_t box)
{
  const int32_t n = g->domain->nbox;
  int32_t       number = 0;

  for (int d = 2; d >= 0; d--) {
    if (g->along[(size_t)d * n + box] < 0) return -1;
    number = number * g->grid[d] + g->along[(size_t)d * n + box];
  }
  return number;
}

/* whether the neighbour beyond the lower (s = 0) or upper side of a box along d is the next box of the grid */
static PetscBool FitsBeside(const Grid *g, int32_t box, int d, int s)
{
  const VpDomain domain = g->domain;
  const int32_t  beyond = domain->beyond[(size_t)box * 2 * domain->dim + 2 * d + s], p = g->along[(size_t)d * domain->nbox + box];
  const int32_t  step = VpLineStride(d, g->grid[0], g->grid[0] * g->grid[1]), i = IndexOf(g, box), last = g->grid[d] - 1;

  if (p == (s ? last : 0)) return (PetscBool)(beyond < 0 || beyond == g->at[s ? i - p * step : i + last * step]);
  return (PetscBool)(beyond == g->at[s ? i + step : i - step]);
}

/* Sets `at`. Ensures: grid[0] = 0 unless every index has one box, and all neighbours are those of the grid. */
static PetscErrorCode PlaceBoxes(Grid *g)
{
  const int32_t n = g->domain->nbox;
  PetscBool     fits = (PetscBool)((int64_t)g->grid[0] * g->grid[1] * g->grid[2] == n);

  PetscFunctionBegin;
  if (fits) PetscCall(PetscMalloc1(n, &g->at));
  for (int32_t i = 0; i < n && fits; i++) g->at[i] = -1;
  for (int32_t b = 0; b < n && fits; b++) {
    const int32_t i = IndexOf(g, b);

    fits = (PetscBool)(i >= 0 && g->at[i] < 0);
    if (fits) g->at[i] = b;
  }
  for (int32_t b = 0; b < n; b++) {
    for (int side = 0; side < 2 * g->domain->dim && fits; side++) fits = FitsBeside(g, b, side / 2, side % 2);
  }
  if (!fits) g->grid[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateGrid(VpDomain domain, Grid *g)
{
  PetscReal *lower;

  PetscFunctionBegin;
  *g = (Grid){.domain = domain, .grid = {1, 1, 1}};
  PetscCall(PetscCalloc1(3 * (size_t)domain->nbox, &g->along));
  PetscCall(PetscMalloc1(domain->nbox, &lower));
  for (int d = 0; d < domain->dim; d++) PetscCall(NumberBoxes(domain, d, lower, g->along + (size_t)d * domain->nbox, &g->grid[d]));
  PetscCall(PetscFree(lower));
  PetscCall(PlaceBoxes(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyGrid(Grid *g)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(g->along));
  PetscCall(PetscFree(g->at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* start[along] = the number of cells on a line before those of the boxes with this index; start[grid]: all cells of the line. Returns
   whether boxes with the same index along d are cut into equally many cells. Requires: grid <= VP_LONGEST_LINE */
static PetscBool CountCells(VpLattice L, int d, const int32_t along[], int32_t grid, int32_t start[])
{
  for (int32_t i = 0; i <= grid; i++) start[i] = 0;
  for (int32_t b = 0; b < L->domain->nbox; b++) {
    const int32_t cells = 1 << VpHalvingsOf(L, b)->bits[d];

    if (start[along[b] + 1] && start[along[b] + 1] != cells) return PETSC_FALSE;
    start[along[b] + 1] = cells;
  }
  for (int32_t i = 0; i < grid; i++) start[i + 1] += start[i];
  return PETSC_TRUE;
}

/* Sets start and extent. Ensures: extent[0] = 0 if the boxes form no grid or are trees, the boundary has more than one condition per
   normal, or lines have more than VP_LONGEST_LINE values. */
static PetscErrorCode MeasureLines(VpLattice L, int n, Grid *g, int32_t start[3][VP_LONGEST_LINE + 1], int32_t extent[3])
{
  const int32_t most = VP_LONGEST_LINE / n;

  PetscFunctionBegin;
  extent[0] = 0;
  extent[1] = extent[2] = 1;
  if (L->ncell > PetscPowInt64(most, L->domain->dim) || !VpDomainIsByNormal(L->domain) || L->domain->trees)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateGrid(L->domain, g));
  if (!g->grid[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < L->domain->dim; d++) {
    PetscBool counted = (PetscBool)(g->grid[d] <= most);

    if (counted) counted = CountCells(L, d, g->along + (size_t)d * L->domain->nbox, g->grid[d], start[d]);
    extent[d] = counted && start[d][g->grid[d]] <= most ? start[d][g->grid[d]] : 0;
  }
  for (int d = 1; d < L->domain->dim; d++) extent[0] = extent[d] ? extent[0] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpBoxGridFind(VpLattice L, int n, int32_t extent[3])
{
  int32_t start[3][VP_LONGEST_LINE + 1];
  Grid    g = {0};

  PetscFunctionBegin;
  PetscCall(MeasureLines(L, n, &g, start, extent));
  PetscCall(DestroyGrid(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpBoxGridCells(VpMesh mesh, int n, int32_t extent[3], int32_t **cell)
{
  const int32_t nbox = mesh->geometry->domain->nbox;
  int32_t       start[3][VP_LONGEST_LINE + 1];
  Grid          g = {0};

  PetscFunctionBegin;
  *cell = NULL;
  PetscCall(MeasureLines(mesh->geometry->lattice, n, &g, start, extent));
  if (extent[0]) {
    PetscCall(PetscMalloc1(mesh->ncell, cell));
    for (int32_t i = 0; i < mesh->nsweep; i++) {
      int64_t at = 0;

      for (int d = mesh->dim - 1; d >= 0; d--)
        at = at * extent[d] + start[d][g.along[(size_t)d * nbox + mesh->geometry->box[i]]] + mesh->geometry->coord[3 * (size_t)i + d];
      (*cell)[at] = i;
    }
  }
  PetscCall(DestroyGrid(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}
