/* The ghosts of a level of an adaptive mesh. They come in families: the children of one cell of the coarser level. Ranks ask other ranks
   which of these cells are refined.

   A rank sweeps its own cells and two layers around these and around the cells beyond its own leaves' sides, so that it solves on all
   interface patches that touch what it has:

       +-------+---+---+---+---+
       |       | F | F |   |   |    K is own, F are not: there are two layers also around F. Leaves at the ends of all these are swept on
       |   K   +---+---+---+---+    the coarser level. A third layer gives traces, and so do cells beyond other sides of such leaves.
       |       | F | F |   |   |
       +-------+---+---+---+---+                                                                                                          */
#include "adaptivelevels.h"

typedef struct {
  MPI_Comm      comm;
  VpLevelCells *fine, *coarse;
  int           dim;
  VpRange       whole;    /* cells of the coarser level, in which all leaves are own */
  VpDictionary  known;    /* of other ranks' parents: the number there of the first child, or -1 for a leaf */
  VpCellSet     families; /* parents of the families that are swept, but for own ones far from other ranks' cells */
} Search;

static PetscMPIInt RankOf(const VpLevelCells *cells, int64_t cell)
{
  return VpLastStart(cells->start, 0, cells->size, cell);
}

static PetscBool IsOwn(const VpLevelCells *cells, int64_t cell)
{
  return (PetscBool)(cells->start[cells->rank] <= cell && cell < cells->start[cells->rank + 1]);
}

/* the number on its rank of a parent's first child, or -1 */
static int32_t FirstChild(const Search *s, int64_t parent)
{
  int32_t i;

  if (IsOwn(s->fine, parent << s->dim)) return VpCellSetFind(&s->fine->all, parent << s->dim);
  i = VpDictionaryFind(&s->known, &(uint64_t){parent});
  return i < 0 ? -1 : ((int32_t *)s->known.item)[i];
}

static PetscBool IsRefined(const Search *s, int64_t parent)
{
  return (PetscBool)(FirstChild(s, parent) >= 0);
}

static PetscInt NumberOf(const void *cells, const void *position)
{
  return VpCellSetFind((const VpCellSet *)cells, *(const int64_t *)position);
}

/* asks about those parents of a set that are not known yet */
static PetscErrorCode AskAboutParents(Search *s, const VpCellSet *parents)
{
  PetscSFNode *at;
  int64_t     *child;
  PetscInt     n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(parents->n, &at, parents->n, &child));
  for (int32_t i = 0; i < parents->n; i++) {
    const int64_t parent = VpCellSetAt(parents, i);

    child[n] = parent << s->dim;
    at[n].rank = RankOf(s->fine, child[n]);
    n += at[n].rank != s->fine->rank && VpDictionaryFind(&s->known, &(uint64_t){parent}) < 0;
  }
  PetscCall(VpAskRanks(s->comm, &(VpQuestions){n, sizeof(*child), child, at}, NumberOf, &s->fine->all));
  for (PetscInt i = 0; i < n; i++) {
    int32_t first = (int32_t)at[i].index, index;

    PetscCall(VpDictionaryAdd(&s->known, &(uint64_t){child[i] >> s->dim}, &first, &index));
  }
  PetscCall(PetscFree2(at, child));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asks about the cells of a set and about those around them that are not wholly own. Adds all of these to other sets: refined ones, leaves
   (NULL: to none). */
static PetscErrorCode LookAround(Search *s, const VpCellSet *cells, PetscBool corners, VpCellSet *refined, VpCellSet *leaves)
{
  VpCellSet around;

  PetscFunctionBegin;
  PetscCall(VpCellSetCreate(&around));
  for (int32_t i = 0; i < cells->n; i++) {
    PetscCall(VpCellSetAdd(&around, VpCellSetAt(cells, i)));
    PetscCall(VpAddAround(s->coarse->lattice, s->whole, corners, VpCellSetAt(cells, i), &around));
  }
  PetscCall(AskAboutParents(s, &around));
  for (int32_t i = 0; i < around.n; i++) {
    VpCellSet *to = IsRefined(s, VpCellSetAt(&around, i)) ? refined : leaves;

    if (to) PetscCall(VpCellSetAdd(to, VpCellSetAt(&around, i)));
  }
  PetscCall(VpDictionaryDestroy(&around));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether something in the cell or beyond one of its sides is another rank's */
static PetscBool IsAtBorder(const Search *s, int64_t parent)
{
  PetscBool whole = VpIsIn(s->whole, parent);

  for (int side = 0; side < 2 * s->dim && whole; side++) {
    const int64_t next = VpLatticeMove(s->coarse->lattice, parent, side);

    whole = (PetscBool)(next < 0 || VpIsIn(s->whole, next));
  }
  return (PetscBool)!whole;
}

/* Adds own families next to other ranks' cells to `families`, and such leaves of the coarser level to another set. The parent of the first
   own cells is another rank's where their family is cut. */
static PetscErrorCode FindBorder(Search *s, VpCellSet *leaves)
{
  const int64_t first = s->fine->nown ? VpCellSetAt(&s->fine->all, 0) >> s->dim : -1;

  PetscFunctionBegin;
  if (s->fine->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (first >= 0 && !IsOwn(s->coarse, first)) PetscCall(VpCellSetAdd(&s->families, first));
  for (int32_t i = 0; i < s->coarse->nown; i++) {
    const int64_t cell = VpCellSetAt(&s->coarse->all, i);

    if (IsAtBorder(s, cell)) PetscCall(VpCellSetAdd(s->coarse->leaf[i] >= 0 ? leaves : &s->families, cell));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddParents(const Search *s, const VpCellSet *cells, VpCellSet *parents)
{
  PetscFunctionBegin;
  for (int32_t i = 0; i < cells->n; i++) PetscCall(VpCellSetAdd(parents, VpCellSetAt(cells, i) >> s->dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindFamilies(Search *s)
{
  VpCellSet leaves, beside, parents;

  PetscFunctionBegin;
  PetscCall(VpCellSetCreate(&leaves));
  PetscCall(VpCellSetCreate(&beside));
  PetscCall(VpCellSetCreate(&parents));
  PetscCall(FindBorder(s, &leaves));
  PetscCall(AddParents(s, &s->fine->extra, &parents));
  PetscCall(AskAboutParents(s, &parents));
  PetscCall(LookAround(s, &s->families, PETSC_FALSE, NULL, &beside));
  PetscCall(LookAround(s, &leaves, PETSC_FALSE, &s->families, NULL));
  PetscCall(LookAround(s, &beside, PETSC_FALSE, &s->families, NULL));
  PetscCall(LookAround(s, &s->families, PETSC_TRUE, &s->families, NULL));
  PetscCall(AddParents(s, &s->fine->sweep, &s->families));
  PetscCall(LookAround(s, &s->families, PETSC_FALSE, NULL, &s->coarse->sweep));
  PetscCall(LookAround(s, &s->coarse->sweep, PETSC_FALSE, NULL, NULL));
  PetscCall(VpDictionaryDestroy(&leaves));
  PetscCall(VpDictionaryDestroy(&beside));
  PetscCall(VpDictionaryDestroy(&parents));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* adds the neighbours of own cells */
static PetscErrorCode AddNeighbors(Search *s)
{
  PetscFunctionBegin;
  for (int32_t i = 0; i < s->families.n << s->dim; i++) {
    const int64_t cell = (VpCellSetAt(&s->families, i >> s->dim) << s->dim) + (i & ((1 << s->dim) - 1));

    for (int side = 0; side < 2 * s->dim && IsOwn(s->fine, cell); side++) {
      const int64_t next = VpLatticeMove(s->fine->lattice, cell, side);

      if (next >= 0 && IsRefined(s, next >> s->dim)) PetscCall(VpCellSetAdd(&s->fine->all, next));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* adds the children that touch cells of a set from beyond their sides */
static PetscErrorCode AddBeyond(Search *s, const VpCellSet *cells)
{
  PetscFunctionBegin;
  for (int32_t i = 0; i < cells->n; i++) {
    for (int side = 0; side < 2 * s->dim; side++) {
      const int64_t next = VpLatticeMove(s->coarse->lattice, VpCellSetAt(cells, i), side);

      for (int q = 0; q < 1 << s->dim && next >= 0 && IsRefined(s, next); q++) {
        if ((q >> side / 2 & 1) != side % 2) PetscCall(VpCellSetAdd(&s->fine->all, (next << s->dim) + q));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListGhosts(Search *s)
{
  VpLevelCells *fine = s->fine;

  PetscFunctionBegin;
  PetscCall(AddNeighbors(s));
  fine->end[0] = fine->all.n;
  for (int32_t i = 0; i < s->families.n << s->dim; i++)
    PetscCall(VpCellSetAdd(&fine->all, (VpCellSetAt(&s->families, i >> s->dim) << s->dim) + (i & ((1 << s->dim) - 1))));
  fine->end[1] = fine->all.n;
  PetscCall(AddBeyond(s, &s->families));
  PetscCall(AddBeyond(s, &s->coarse->sweep));
  fine->end[2] = fine->all.n;
  for (int32_t i = 0; i < fine->extra.n; i++) PetscCall(VpCellSetAdd(&fine->all, VpCellSetAt(&fine->extra, i)));
  fine->end[3] = fine->all.n;
  PetscCall(VpHaloSort(&fine->all, fine->nown, fine->end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If a family is split between two ranks, its second piece comes first among its owner's cells. */
static PetscErrorCode FindOwners(Search *s)
{
  VpLevelCells *fine = s->fine;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(fine->all.n - fine->nown, &fine->owner));
  for (int32_t i = fine->nown; i < fine->all.n; i++) {
    const int64_t     cell = VpCellSetAt(&fine->all, i), parent = cell >> s->dim, first = parent << s->dim;
    const PetscMPIInt rank = RankOf(fine, cell);
    const PetscBool   cut = (PetscBool)(RankOf(fine, first) != rank);

    fine->owner[i - fine->nown] =
      (PetscSFNode){.rank = rank, .index = (PetscInt)(cut ? cell - fine->start[rank] : FirstChild(s, parent) + cell - first)};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelCellsSetGhosts(VpLevelCells *fine, VpLevelCells *coarse, MPI_Comm comm)
{
  const int dim = fine->lattice->domain->dim;
  Search    s = {.comm = comm, .fine = fine, .coarse = coarse, .dim = dim};

  PetscFunctionBegin;
  s.whole = (VpRange){coarse->start[coarse->rank], fine->start[fine->rank + 1] >> dim};
  PetscCall(VpDictionaryCreate(1, sizeof(int32_t), &s.known));
  PetscCall(VpCellSetCreate(&s.families));
  PetscCall(FindFamilies(&s));
  PetscCall(ListGhosts(&s));
  PetscCall(FindOwners(&s));
  for (int32_t i = 0; i < fine->end[2]; i++) {
    const int64_t parent = VpCellSetAt(&fine->all, i) >> dim;

    if (!IsOwn(coarse, parent)) PetscCall(VpCellSetAdd(&coarse->extra, parent));
  }
  PetscCall(VpDictionaryDestroy(&s.known));
  PetscCall(VpDictionaryDestroy(&s.families));
  PetscFunctionReturn(PETSC_SUCCESS);
}
