/* The step from a lattice to the next coarser one: boxes that merge, parents and children. */
#include "../internal.h"
#include "../../base/threads.h"

/* numbers the boxes of the coarser lattice: those that merge as no upper one, in their order */
static PetscErrorCode NumberBoxes(VpDomain domain, VpCoarsening *c, int32_t *nbox)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc2(domain->nbox, &c->box, domain->nbox, &c->lower));
  *nbox = 0;
  for (int32_t b = 0; b < domain->nbox; b++) {
    PetscBool upper = PETSC_FALSE;

    for (int d = 0; d < domain->dim; d++) upper = (PetscBool)(upper || c->merge[3 * (size_t)b + d] == VP_MERGE_UPPER);
    c->box[b] = *nbox;
    if (!upper) c->lower[(*nbox)++] = b;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the domain of the merged boxes */
static PetscErrorCode MergeBoxes(VpDomain domain, const VpCoarsening *c, int32_t nbox, VpDomain *merged)
{
  const int   dim = domain->dim;
  PetscReal  *lower, *upper;
  VpBoundary *condition;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)nbox * dim, &lower, (size_t)nbox * dim, &upper));
  PetscCall(PetscCalloc1((size_t)nbox * 2 * dim, &condition));
  for (int32_t i = 0; i < nbox; i++) {
    for (int d = 0; d < dim; d++) {
      const int32_t b = c->lower[i], last = c->merge[3 * (size_t)b + d] == VP_MERGE_LOWER ? VpBoxBeyond(domain, b, 2 * d + 1) : b;

      lower[(size_t)i * dim + d] = domain->lower[3 * (size_t)b + d];
      upper[(size_t)i * dim + d] = domain->upper[3 * (size_t)last + d];
      for (int s = 0; s < 2; s++) {
        const int32_t beyond = VpBoxBeyond(domain, s ? last : b, 2 * d + s);

        if (beyond < 0) condition[((size_t)i * dim + d) * 2 + s] = domain->boundary[VpBoundaryEntry(beyond)];
      }
    }
  }
  PetscCall(VpDomainCreate(PETSC_COMM_SELF, &(VpBoxes){dim, nbox, lower, upper, NULL, domain->periodic}, merged));
  PetscCall(VpDomainSetBoundary(*merged, condition));
  PetscCall(PetscFree(condition));
  PetscCall(PetscFree2(lower, upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the box in which a cell's first sibling lies */
static int32_t FirstBox(const VpCoarsening *c, VpLattice fine, int32_t box)
{
  for (int d = 0; d < fine->domain->dim; d++) {
    if (c->merge[3 * (size_t)box + d] == VP_MERGE_UPPER) box = VpBoxBeyond(fine->domain, box, 2 * d);
  }
  return box;
}

/* the coefficients of the coarser lattice's boxes: means over the merged ones by volume */
static PetscErrorCode MergeCoefficients(VpLattice fine, const VpCoarsening *c)
{
  const size_t n = (size_t)c->coarse->domain->nbox;
  PetscReal   *all;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(3 * n, &c->coarse->a));
  PetscCall(PetscCalloc1(n, &all));
  for (int32_t b = 0; b < fine->domain->nbox; b++) {
    const size_t to = (size_t)(c->box ? c->box[FirstBox(c, fine, b)] : b);
    PetscReal    volume = 1;

    for (int d = 0; d < 3; d++) volume *= VpDomainWidth(fine->domain, b, d);
    for (int d = 0; d < 3; d++) c->coarse->a[3 * to + d] += volume * fine->a[3 * (size_t)b + d];
    all[to] += volume;
  }
  for (size_t i = 0; i < 3 * n; i++) c->coarse->a[i] /= all[i / 3];
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the coarser lattice, unless some of its cells were in no patch */
static PetscErrorCode MakeCoarse(VpLattice fine, PetscBool patches, VpCoarsening *c)
{
  VpDomain domain = fine->domain;
  int32_t  nbox = domain->nbox;
  uint8_t *bits;

  PetscFunctionBegin;
  PetscCall(NumberBoxes(fine->domain, c, &nbox));
  if (nbox < domain->nbox) PetscCall(MergeBoxes(fine->domain, c, nbox, &domain));
  else {
    (void)VpReference(domain);
    PetscCall(PetscFree2(c->box, c->lower));
  }
  PetscCall(PetscMalloc1(3 * (size_t)nbox, &bits));
  for (size_t i = 0; i < 3 * (size_t)nbox; i++) {
    const size_t b = c->lower ? (size_t)c->lower[i / 3] : i / 3;

    bits[i] = (uint8_t)(VpHalvingsOf(fine, (int32_t)b)->bits[i % 3] - (c->merge[3 * b + i % 3] == VP_MERGE_HALVES));
  }
  PetscCall(VpLatticeCreate(domain, bits, &c->coarse));
  if (fine->a) PetscCall(MergeCoefficients(fine, c));
  c->coarse->mild = fine->mild;
  if (patches && !domain->trees && (!c->coarse->alternates || !VpEveryCellHasAPatch(c->coarse))) PetscCall(VpLatticeDestroy(&c->coarse));
  PetscCall(PetscFree(bits));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the step of VpLatticeCoarsen */
static PetscErrorCode CreateStep(VpLattice fine, VpCoarsen how, VpCoarsening *c)
{
  const int32_t   nbox = fine->domain->nbox;
  const PetscBool full = (PetscBool)(how == VP_COARSEN_FULL);
  PetscBool       ends = PETSC_FALSE;
  PetscReal       jump;

  PetscFunctionBegin;
  *c = (VpCoarsening){.jump = 1};
  PetscCall(PetscCalloc1(3 * (size_t)nbox, &c->merge));
  if (!full && fine->domain->trees) PetscCall(VpCoarsenByClasses(fine, c, &ends));
  else if (!full) PetscCall(VpCoarsenByRule(fine, (PetscBool)(how == VP_COARSEN_WHOLE), c, &ends));
  else {
    ends = PETSC_TRUE;
    for (size_t i = 0; i < 3 * (size_t)nbox; i++) {
      if (!VpHalvingsOf(fine, (int32_t)(i / 3))->bits[i % 3]) continue;
      c->merge[i] = VP_MERGE_HALVES;
      ends = PETSC_FALSE;
    }
  }
  if (!ends) PetscCall(MakeCoarse(fine, (PetscBool)!full, c));
  jump = c->jump;
  if (!c->coarse) PetscCall(VpCoarseningDestroy(c));
  c->jump = jump;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLatticeCoarsen(VpLattice L, VpCoarsen how, const VpCoarsening **step)
{
  PetscFunctionBegin;
  if (!L->step[how]) {
    PetscCall(PetscNew(&L->step[how]));
    PetscCall(CreateStep(L, how, L->step[how]));
  }
  *step = L->step[how];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether all boxes have more than one cell in all directions */
static PetscBool IsRefined(VpLattice L)
{
  PetscBool is = PETSC_TRUE;

  for (int32_t i = 0; i < L->nhalvings * L->domain->dim; i++)
    is = (PetscBool)(is && L->halvings[i / L->domain->dim].bits[i % L->domain->dim] > 0);
  return is;
}

PetscErrorCode VpListLattices(VpLattice finest, VpCoarsen how, int *levels, VpLattice lattice[VP_MOST_LEVELS])
{
  const VpCoarsening *step;

  PetscFunctionBegin;
  *levels = 0;
  for (VpLattice L = finest; L && (L == finest || how != VP_COARSEN_FULL || L->domain->trees || IsRefined(L)); L = step->coarse) {
    lattice[(*levels)++] = L;
    PetscCall(VpLatticeCoarsen(L, how, &step));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCountLevels(VpLattice finest, VpCoarsen how, int *levels, double cells[])
{
  VpLattice lattice[VP_MOST_LEVELS];

  PetscFunctionBegin;
  PetscCall(VpListLattices(finest, how, levels, lattice));
  for (int l = 0; cells && l < *levels; l++) cells[l] = (double)lattice[l]->ncell;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpFindAncestors(VpLattice finest, VpCoarsen how, int levels, int32_t n, int64_t position[])
{
  const VpCoarsening *step;
  VpLattice           L = finest;

  PetscFunctionBegin;
  for (int l = 0; l < levels; l++, L = step->coarse) {
    PetscCall(VpLatticeCoarsen(L, how, &step));
    VP_LOOP (i, n) position[i] = VpParentOf(step, L, position[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseningDestroy(VpCoarsening *c)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(c->merge));
  PetscCall(PetscFree2(c->box, c->lower));
  PetscCall(VpLatticeDestroy(&c->coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lowest bits of the halved directions. Without these bits a cell's index in its box is its parent's index. */
static int64_t LowestBits(const VpCoarsening *c, VpLattice fine, int32_t box)
{
  const VpHalvings *halvings = VpHalvingsOf(fine, box);
  int64_t           bits = 0;

  for (int d = 0; d < fine->domain->dim; d++) {
    if (c->merge[3 * (size_t)box + d] == VP_MERGE_HALVES) bits |= halvings->mask[d] & -halvings->mask[d];
  }
  return bits;
}

static inline int64_t HighestBit(int64_t bits)
{
  return (int64_t)1 << (63 - __builtin_clzll((unsigned long long)bits));
}

int64_t VpParentOf(const VpCoarsening *c, VpLattice fine, int64_t cell)
{
  const int32_t box = VpLatticeBox(fine, cell), first = c->box ? FirstBox(c, fine, box) : box;
  int64_t       i = cell - VpLatticeStart(fine, box);

  for (int64_t left = LowestBits(c, fine, box), bit; left; left ^= bit) {
    bit = HighestBit(left);
    i = (i >> 1 & -bit) | (i & (bit - 1));
  }
  return VpLatticeStart(c->coarse, c->box ? c->box[first] : box) + i;
}

int VpChildNumber(const VpCoarsening *c, VpLattice fine, int64_t cell)
{
  const int32_t  box = VpLatticeBox(fine, cell);
  const int64_t *mask = VpHalvingsOf(fine, box)->mask, i = cell - VpLatticeStart(fine, box);
  int            number = 0;

  for (int d = 0; d < fine->domain->dim; d++) {
    const int merge = c->merge[3 * (size_t)box + d];

    number |= (merge == VP_MERGE_UPPER || (merge == VP_MERGE_HALVES && i & mask[d] & -mask[d])) << d;
  }
  return number;
}

int64_t VpParentsBefore(const VpCoarsening *c, VpLattice fine, int64_t cell)
{
  int32_t box;
  int64_t i;

  if (cell >= fine->ncell) return c->coarse->ncell;
  box = VpLatticeBox(fine, cell);
  i = cell - VpLatticeStart(fine, box);
  if (c->box && FirstBox(c, fine, box) != box) return VpLatticeStart(c->coarse, c->box[box]);
  for (int64_t left = LowestBits(c, fine, box), bit; left; left ^= bit) { /* of the indices below i, those without the bit */
    bit = HighestBit(left);
    i = (i >> 1 & -bit) + PetscMin(i & (2 * bit - 1), bit);
  }
  return VpLatticeStart(c->coarse, c->box ? c->box[box] : box) + i;
}
