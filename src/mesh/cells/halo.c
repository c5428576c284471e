/* Layers of ghost cells around a rank's own cells. */
#include "../internal.h"

/* A diagonal neighbour is reached one direction at a time, by any order of directions that stays in the domain:

       +---+---+
       | b | n |    n is reached from c through a, or through b where a is missing (at a re-entrant corner).
       +---+---+
       | c | a |
       +---+---+

   reached[moves] is the cell that a set of moves leads to, where bit s is a step across side s; negative where no path stays in the
   domain. */
static PetscErrorCode AddAroundInBoxes(VpLattice L, VpRange own, PetscBool corners, int64_t cell, VpCellSet *halo)
{
  const int nside = 2 * L->domain->dim;
  int64_t   reached[64] = {cell};

  PetscFunctionBegin;
  for (int moves = 1; moves < 1 << nside; moves++) {
    int64_t *next = &reached[moves];

    if (moves & (moves >> 1) & VP_LOWER_BITS) continue; /* both ways in one direction */
    if (!corners && (moves & (moves - 1))) continue;    /* more than one move */
    *next = VP_UNKNOWN;
    for (int side = 0; side < nside && *next < 0; side++) {
      const int64_t from = moves >> side & 1 ? reached[moves ^ (1 << side)] : VP_UNKNOWN; /* all moves but this one, the last */

      if (from >= 0) *next = VpLatticeMove(L, from, side);
    }
    if (*next >= 0 && !VpIsIn(own, *next)) PetscCall(VpCellSetAdd(halo, *next));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether all cells around a cell are in its box */
static PetscBool IsInside(VpLattice L, int64_t cell)
{
  int32_t box, coord[3];

  VpLatticeDecode(L, cell, &box, coord);
  for (int d = 0; d < L->domain->dim; d++) {
    if (coord[d] == 0 || coord[d] == (1 << VpHalvingsOf(L, box)->bits[d]) - 1) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The same at the border of a tree, with the cells around regular vertices. */
static PetscErrorCode AddAroundInTrees(VpLattice L, VpRange own, int64_t cell, VpCellSet *halo)
{
  const VpSides sides = VpLatticeSides(L);
  VpStar        star;

  PetscFunctionBegin;
  PetscCall(AddAroundInBoxes(L, own, PETSC_FALSE, cell, halo));
  for (int corner = 0; corner < 1 << L->domain->dim; corner++) {
    if (!VpFindStar(&sides, cell, corner, &star)) continue;
    for (int i = 0; i < 1 << L->domain->dim; i++) {
      if (!VpIsIn(own, star.cell[i])) PetscCall(VpCellSetAdd(halo, star.cell[i]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpAddAround(VpLattice L, VpRange own, PetscBool corners, int64_t cell, VpCellSet *halo)
{
  if (corners && L->domain->trees && !IsInside(L, cell)) return AddAroundInTrees(L, own, cell, halo);
  return AddAroundInBoxes(L, own, corners, cell, halo);
}

static inline PetscBool AreOwn(VpRange own, int64_t start, int64_t size)
{
  return (PetscBool)(own.first <= start && start + size <= own.last);
}

/* Whether all cells beyond a side of a brick of `size` cells are own. Boundaries count as own. In a box of the same halvings the cells
   beyond are in a brick that is aligned in the same way; of a box of other halvings, all cells have to be own. In trees, which may be
   turned, the cells beyond are in a cube; of trees that are no cubes of cells, all cells have to be own. */
static PetscBool IsOwnBeyond(VpLattice L, VpRange own, int64_t start, int64_t size, int side)
{
  const int64_t next = VpLatticeMove(L, side % 2 ? start + size - 1 : start, side);
  int32_t       box;
  int64_t       first, cube = 1;

  if (next < 0) return PETSC_TRUE;
  if (size == 1) return AreOwn(own, next, 1);
  box = VpLatticeBox(L, next);
  first = VpLatticeStart(L, box);
  while (L->domain->trees && cube < size) cube <<= L->domain->dim;
  size = PetscMax(size, cube);
  if (VpHalvingsOf(L, box) != VpHalvingsOf(L, VpLatticeBox(L, start)) || (cube > 1 && !VpLatticeIsUniform(L)))
    return AreOwn(own, first, (int64_t)1 << VpHalvingsOf(L, box)->shift);
  return AreOwn(own, first + ((next - first) & -size), size);
}

/* Adds the own cells of a brick that have a foreign face neighbour. The brick is 2^depth cells from `start` on, aligned in their box. There
   are none if the brick and all cells beyond its sides are own; otherwise the search goes on in its halves. */
static PetscErrorCode AddBorder(VpLattice L, int depth, int64_t start, VpRange own, VpCellSet *border)
{
  const int64_t size = (int64_t)1 << depth;
  PetscBool     inside = AreOwn(own, start, size);

  PetscFunctionBegin;
  if (start + size <= own.first || start >= own.last) PetscFunctionReturn(PETSC_SUCCESS);
  for (int side = 0; side < 2 * L->domain->dim && inside; side++) inside = IsOwnBeyond(L, own, start, size, side);
  if (inside) PetscFunctionReturn(PETSC_SUCCESS);
  if (!depth) PetscCall(VpCellSetAdd(border, start));
  for (int half = 0; depth && half < 2; half++) PetscCall(AddBorder(L, depth - 1, start + half * (size / 2), own, border));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpHaloSort(VpCellSet *halo, int32_t start, const int32_t end[4])
{
  PetscFunctionBegin;
  for (int g = 0; g < 4; start = end[g++]) PetscCall(PetscSortInt64(end[g] - start, (PetscInt64 *)halo->key + start));
  VpDictionaryIndex(halo);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* adds the cells of a set, unless that is NULL, that are not own */
static PetscErrorCode AddForeign(VpRange own, const VpCellSet *cells, VpCellSet *halo)
{
  PetscFunctionBegin;
  for (int32_t i = 0; cells && i < cells->n; i++) {
    if (!VpIsIn(own, VpCellSetAt(cells, i))) PetscCall(VpCellSetAdd(halo, VpCellSetAt(cells, i)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpHaloCreate(VpLattice L, VpRange own, const VpCellSet *sweep, const VpCellSet *extra, VpCellSet *halo, int32_t end[4])
{
  VpCellSet border;
  int32_t   layer1;

  PetscFunctionBegin;
  PetscCall(VpCellSetCreate(halo));
  /* Every cell of the first layer touches an own cell with a foreign face neighbour: the path to it leaves the own cells from one. */
  PetscCall(VpCellSetCreate(&border));
  for (int32_t box = own.first < own.last && own.last - own.first < L->ncell ? VpLatticeBox(L, own.first) : L->domain->nbox;
       box < L->domain->nbox && VpLatticeStart(L, box) < own.last; box++)
    PetscCall(AddBorder(L, VpHalvingsOf(L, box)->shift, VpLatticeStart(L, box), own, &border));
  for (int32_t i = 0; i < border.n; i++) PetscCall(VpAddAround(L, own, PETSC_FALSE, VpCellSetAt(&border, i), halo));
  end[0] = halo->n;
  for (int32_t i = 0; i < border.n; i++) PetscCall(VpAddAround(L, own, PETSC_TRUE, VpCellSetAt(&border, i), halo));
  layer1 = halo->n;
  for (int32_t i = 0; i < layer1; i++) PetscCall(VpAddAround(L, own, PETSC_TRUE, VpCellSetAt(halo, i), halo));
  PetscCall(AddForeign(own, sweep, halo));
  end[1] = halo->n;
  for (int32_t i = layer1; i < end[1]; i++) PetscCall(VpAddAround(L, own, PETSC_TRUE, VpCellSetAt(halo, i), halo));
  end[2] = halo->n;
  PetscCall(AddForeign(own, extra, halo));
  end[3] = halo->n;
  PetscCall(VpHaloSort(halo, 0, end));
  PetscCall(VpDictionaryDestroy(&border));
  PetscFunctionReturn(PETSC_SUCCESS);
}
