/* The sums at the sides of a notch, VpNotch: from a box's operator B, which separates, they make one that no longer couples missing cells
   and others,

       E = B + U C U^T,

   which is A on the cells that there are. For a line that crosses a side towards a missing cell let D - D' be what the boundary adds to the
   own part of A, and G the part of B that couples the two cells. D - D' = Q C Q^T has a positive and a negative eigenvalue, and

       U = Q on the cell, -G^T Q C^-1 on the missing one

   leaves no coupling. The missing cells' part of E is then an operator with a Dirichlet condition and another penalty there. All of this is
   the same for any of the lines that cross sides of one plane of cells: an entry of the tables. */
#include "internal.h"

/* where the cell beside position i is on the lattice, or -1; p: the position along the side's direction */
static int32_t Beside(const int32_t extent[3], int32_t i, int side, int32_t *p)
{
  const int d = side / 2, step = VpLineStride(d, extent[0], extent[0] * extent[1]);

  *p = i / step % extent[d];
  if (*p == (side % 2 ? extent[d] - 1 : 0)) return -1;
  return side % 2 ? i + step : i - step;
}

/* D - D' at a side of a cell with the cell `like` beyond D', [n][n] */
static void Difference(VpLevel host, int32_t cell, int32_t like, int side, double difference[])
{
  const int n = host->view.n, d = side / 2, s = side % 2;
  VpLineKey key = VpLevelLineKey(host, PETSC_FALSE, cell, d);
  double    D[2][VP_MAX_N * VP_MAX_N], g[4 * VP_MAX_N];

  VpLineBuild(&host->basis, &key, host->problem.penalty, 0, D[0], g);
  key.side[s] = VP_SIDE_INTERIOR;
  key.h_beyond[s] = VpCellSize(host->mesh, like, d);
  key.a_beyond[s] = key.a;
  VpLineBuild(&host->basis, &key, host->problem.penalty, 0, D[1], g);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) difference[i * n + j] = (D[0][i * n + j] - D[1][i * n + j] + D[0][j * n + i] - D[1][j * n + i]) / 2;
  }
}

/* u [2][2][n] = U for lines that cross the side of a cell at position p, and 1/C. L [m][m]: B's matrix of lines along the side's direction;
   like: a cell as the missing one */
static void Sums(VpLevel host, int32_t cell, int32_t like, int side, int32_t p, const double L[], int m, double u[], double inverse[2])
{
  const int n = host->view.n, next = side % 2 ? p + 1 : p - 1;
  double    difference[VP_MAX_N * VP_MAX_N], Q[VP_MAX_N * VP_MAX_N], lambda[VP_MAX_N], room[3 * VP_MAX_N];

  Difference(host, cell, like, side, difference);
  VpDiagonalize(n, difference, Q, lambda, room);
  for (int f = 0; f < 2; f++) {
    double *own = u + 2 * f * n, *missing = own + n;
    int     at = 0;

    for (int i = 1; i < n; i++) at = (f ? lambda[i] < lambda[at] : lambda[i] > lambda[at]) ? i : at;
    inverse[f] = 1 / lambda[at];
    for (int j = 0; j < n; j++) {
      own[j] = Q[at * n + j];
      missing[j] = 0;
      for (int i = 0; i < n; i++) missing[j] -= Q[at * n + i] * L[(size_t)(p * n + i) * (size_t)m + (size_t)(next * n + j)] / lambda[at];
    }
  }
}

/* tables for one entry from U: take = u L, add = E u, between the level's basis and the orthonormal one */
static void ToBasis(VpLevel level, const double u[], double take[], double add[])
{
  const int     n = level->basis.n;
  const double *enter = level->enter, *leave = level->leave;

  for (int row = 0; row < 4; row++) {
    for (int i = 0; i < n; i++) {
      take[row * n + i] = add[row * n + i] = 0;
      for (int k = 0; k < n; k++) {
        take[row * n + i] += u[row * n + k] * leave[k * n + i];
        add[row * n + i] += enter[i * n + k] * u[row * n + k];
      }
    }
  }
}

/* lists the sides, and the entries; s has room for all */
static void Find(const VpBoxGrid *grid, const int32_t cell[], int dim, int32_t ncell, VpNotchSides *s)
{
  const int32_t *extent = grid->extent, all = extent[0] * extent[1] * extent[2];
  int32_t        p;

  for (int side = 0; side < 2 * dim; side++) {
    int32_t entry[VP_LONGEST_LINE];

    for (int32_t i = 0; i < extent[side / 2]; i++) entry[i] = -1;
    for (int32_t i = 0; i < all; i++) {
      const int32_t there = cell[i] < ncell ? Beside(extent, i, side, &p) : -1;
      int32_t      *to = s->side + (size_t)s->n * VP_NOTCH_SIDE;

      if (there < 0 || cell[there] < ncell) continue;
      if (entry[p] < 0) {
        s->plane[2 * s->entries] = side;
        s->plane[2 * s->entries + 1] = p;
        entry[p] = s->entries++;
      }
      to[0] = cell[i];
      to[1] = cell[there];
      to[2] = 2 * dim * entry[p] + side;
      s->place[s->n++] = i;
    }
  }
}

PetscErrorCode VpNotchSidesCreate(VpLevel host, const VpBoxGrid *grid, const int32_t cell[], const VpLineModes *modes, VpNotchSides *s)
{
  const int    n = host->view.n, dim = host->view.dim;
  const size_t sides = (size_t)grid->sides;

  PetscFunctionBegin;
  *s = (VpNotchSides){0};
  PetscCall(PetscMalloc5(sides * VP_NOTCH_SIDE, &s->side, sides, &s->place, 2 * sides, &s->plane, sides * VpNotchSize(n), &s->u, 2 * sides,
                         &s->inverse));
  Find(grid, cell, dim, (int32_t)host->mesh->ncell, s);
  PetscCheck((size_t)s->n == sides, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d sides of a notch, not %d", (int)s->n, (int)sides);
  for (int32_t i = s->n - 1; i >= 0; i--) { /* a cell of each entry */
    const int32_t *side = s->side + (size_t)i * VP_NOTCH_SIDE, e = side[2] / (2 * dim), *plane = s->plane + 2 * (size_t)e;
    const int      d = plane[0] / 2, next = plane[0] % 2 ? plane[1] + 1 : plane[1] - 1;
    const int32_t  step = VpLineStride(d, grid->extent[0], grid->extent[0] * grid->extent[1]);

    if (i && side[2 - VP_NOTCH_SIDE] == side[2]) continue;
    Sums(host, side[0], cell[VpFullLine(grid->extent, cell, host->view.nsweep, d) + next * step], plane[0], plane[1], modes->L[d],
         modes->m[d], s->u + (size_t)e * VpNotchSize(n), s->inverse + 2 * (size_t)e);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNotchSidesDestroy(VpNotchSides *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree5(s->side, s->place, s->plane, s->u, s->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

VpPart VpNotchPart(const VpBoxGrid *grid, int dim, const VpNotchSides *s)
{
  VpPart  part;
  int32_t end[3] = {0, 0, 0}, p;

  for (int d = 0; d < 3; d++) part.first[d] = grid->extent[d];
  for (int32_t i = 0; i < 2 * s->n; i++) {
    const int side = s->side[i / 2 * VP_NOTCH_SIDE + 2] % (2 * dim);
    int32_t   at = i % 2 ? Beside(grid->extent, s->place[i / 2], side, &p) : s->place[i / 2];

    for (int d = 0; d < 3; at /= grid->extent[d++]) {
      part.first[d] = PetscMin(part.first[d], at % grid->extent[d]);
      end[d] = PetscMax(end[d], at % grid->extent[d] + 1);
    }
  }
  for (int d = 0; d < 3; d++) part.extent[d] = end[d] - part.first[d];
  return part;
}

/* cell [..][VP_NOTCH_CELL]: the cells of these sides, with the sides that are theirs */
static PetscErrorCode ListCells(int dim, int32_t all, int32_t n, const int32_t side[], int32_t cell[], int32_t *ncell)
{
  int32_t *at;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(all, &at));
  for (int32_t i = 0; i < all; i++) at[i] = -1;
  *ncell = 0;
  for (int32_t i = 0; i < n; i++) {
    for (int c = 0; c < 2; c++) {
      const int32_t number = side[i * VP_NOTCH_SIDE + c], s = side[i * VP_NOTCH_SIDE + 2] % (2 * dim);

      if (at[number] < 0) {
        at[number] = (*ncell)++;
        for (int k = 0; k < VP_NOTCH_CELL; k++) cell[at[number] * VP_NOTCH_CELL + k] = k ? -1 : number;
      }
      cell[at[number] * VP_NOTCH_CELL + 1 + (c ? s ^ 1 : s)] = i;
    }
  }
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNotchPlace(VpLevel level, const VpBoxGrid *grid, const VpNotchSides *s, VpArrays *arrays, VpNotch *notch)
{
  const int    dim = level->mesh->dim;
  const size_t size = (size_t)VpNotchSize(level->basis.n);
  int32_t     *beside;
  double      *take, *add;

  PetscFunctionBegin;
  notch->n = s->n;
  PetscCall(PetscMalloc3(2 * (size_t)s->n * VP_NOTCH_CELL, &beside, s->entries * size, &take, s->entries * size, &add));
  PetscCall(ListCells(dim, grid->extent[0] * grid->extent[1] * grid->extent[2], s->n, s->side, beside, &notch->ncell));
  for (int32_t e = 0; e < s->entries; e++) ToBasis(level, s->u + e * size, take + e * size, add + e * size);
  PetscCall(VpPlaceArray(arrays, s->side, (size_t)s->n * VP_NOTCH_SIDE, "coarse inverse", &notch->side));
  PetscCall(VpPlaceArray(arrays, beside, (size_t)notch->ncell * VP_NOTCH_CELL, "coarse inverse", &notch->cell));
  PetscCall(VpArraysPlaceReals(arrays, take, s->entries * size, "coarse inverse", &notch->take));
  PetscCall(VpArraysPlaceReals(arrays, add, s->entries * size, "coarse inverse", &notch->add));
  PetscCall(PetscFree3(beside, take, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}
