/* Lattices: how boxes are cut into cells, and which of their vertices are odd. */
#include "../internal.h"

static VpHalvings HalvingsWith(int dim, const uint8_t bits[])
{
  VpHalvings halvings = {.bits = {0}};
  int        left[3] = {0, 0, 0}; /* bits of a direction that have no place yet */

  for (int d = 0; d < dim; d++) {
    halvings.bits[d] = left[d] = bits[d];
    halvings.shift += bits[d];
  }
  for (int place = halvings.shift; place > 0;) {
    for (int d = dim - 1; d >= 0; d--) {
      if (left[d]-- > 0) halvings.mask[d] |= (int64_t)1 << --place;
    }
  }
  return halvings;
}

/* fills near[] with at most two entries a box */
static PetscErrorCode SetNear(VpLattice L)
{
  const int32_t nbox = L->domain->nbox;
  int32_t       box = 0;
  int64_t       n;

  PetscFunctionBegin;
  while (L->ncell >> L->near_shift > 2 * (int64_t)nbox) L->near_shift++;
  n = (L->ncell >> L->near_shift) + 2;
  PetscCall(PetscMalloc1(n, &L->near));
  for (int64_t i = 0; i < n; i++) {
    while (box + 1 < nbox && L->start[box + 1] <= i << L->near_shift) box++;
    L->near[i] = box;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* numbers the different halvings */
static PetscErrorCode SetShapes(VpLattice L, const uint8_t bits[])
{
  const int32_t nbox = L->domain->nbox;
  VpDictionary  different;

  PetscFunctionBegin;
  PetscCall(VpDictionaryCreate(1, 3, &different));
  PetscCall(PetscMalloc2(nbox, &L->halvings_of, (size_t)nbox + 1, &L->start));
  for (int32_t b = 0; b < nbox; b++) {
    const uint8_t *of = bits + 3 * (size_t)b;

    PetscCall(VpDictionaryAdd(&different, &(uint64_t){of[0] | of[1] << 8 | of[2] << 16}, of, &L->halvings_of[b]));
  }
  L->nhalvings = different.n;
  PetscCall(PetscMalloc1(L->nhalvings, &L->halvings));
  for (int32_t i = 0; i < L->nhalvings; i++) L->halvings[i] = HalvingsWith(L->domain->dim, (uint8_t *)different.item + 3 * i);
  L->start[0] = 0;
  for (int32_t b = 0; b < nbox; b++) L->start[b + 1] = L->start[b] + ((int64_t)1 << L->halvings[L->halvings_of[b]].shift);
  L->ncell = L->start[nbox];
  if (L->nhalvings > 1) PetscCall(SetNear(L));
  else PetscCall(PetscFree2(L->halvings_of, L->start));
  PetscCall(VpDictionaryDestroy(&different));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the parities of vertices in one direction, which all boxes of a slab share */
typedef struct {
  int8_t        *parity;      /* [slab] of the vertices on the lower side; -1: not known yet */
  const int32_t *slab, *next; /* of the domain */
  int32_t       *queue, n;    /* of boxes whose parity is known */
} Alternating;

static void SetSlabParity(Alternating *a, int32_t slab, int parity)
{
  if (a->parity[slab] >= 0) return;
  a->parity[slab] = (int8_t)parity;
  for (int32_t b = slab; b >= 0; b = a->next[b]) a->queue[a->n++] = b;
}

/* Parity alternates across faces of boxes but not across periodic ends. */
static void FindParities(VpLattice L, int d, Alternating *a)
{
  const VpDomain domain = L->domain;
  int32_t        lowest = 0;

  for (int32_t b = 1; b < domain->nbox; b++) {
    if (domain->lower[3 * (size_t)b + d] < domain->lower[3 * (size_t)lowest + d]) lowest = b;
  }
  for (int32_t i = 0, start = -1; start < domain->nbox; start++) {
    SetSlabParity(a, a->slab[start < 0 ? lowest : start], 0); /* boxes reachable only across periodic ends begin anew */
    for (; i < a->n; i++) {
      const int32_t b = a->queue[i];

      for (int side = 2 * d; side < 2 * d + 2; side++) {
        const int32_t beyond = VpBoxBeyond(domain, b, side), cut = side % 2 ? b : beyond;

        if (beyond >= 0 && !VpIsWrapped(domain, b, beyond, side))
          SetSlabParity(a, a->slab[beyond], a->parity[a->slab[b]] ^ (VpHalvingsOf(L, cut)->bits[d] == 0));
      }
    }
  }
}

/* A seam is where parities do not alternate. Patches at the two seams of a cell that has one on either side would share it, though they are
   of one colour: then there are no patches. */
static void FindSeams(VpLattice L, int d, const Alternating *a)
{
  const VpDomain domain = L->domain;

  for (int32_t b = 0; b < domain->nbox; b++) {
    const int32_t up = VpBoxBeyond(domain, b, 2 * d + 1);
    const int     parity = a->parity[a->slab[b]], odd = VpHalvingsOf(L, b)->bits[d] == 0;

    L->parity[b] |= (uint8_t)(parity << d);
    if (up >= 0 && (parity ^ odd) != a->parity[a->slab[up]]) L->seam[b] |= (uint8_t)(1 << d);
  }
  for (int32_t b = 0; b < domain->nbox; b++) {
    const int32_t down = VpBoxBeyond(domain, b, 2 * d);

    if (down >= 0 && VpHalvingsOf(L, b)->bits[d] == 0 && (L->seam[b] & L->seam[down]) >> d & 1) L->alternates = PETSC_FALSE;
  }
}

static PetscErrorCode SetParities(VpLattice L, int d)
{
  const int32_t nbox = L->domain->nbox;
  Alternating   a = {.n = 0};

  PetscFunctionBegin;
  PetscCall(VpDomainGetSlabs(L->domain, d, &a.slab));
  a.next = L->domain->next[d];
  PetscCall(PetscMalloc2(nbox, &a.parity, nbox, &a.queue));
  for (int32_t b = 0; b < nbox; b++) a.parity[b] = -1;
  FindParities(L, d, &a);
  FindSeams(L, d, &a);
  PetscCall(PetscFree2(a.parity, a.queue));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Along directions with even numbers of cells, parities need no table. Vertices of trees have colours of their own (VpTreeColoring). */
static PetscErrorCode SetVertices(VpLattice L)
{
  PetscFunctionBegin;
  L->alternates = PETSC_TRUE;
  if (L->domain->trees) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < L->domain->dim; d++) {
    PetscBool even = PETSC_TRUE;

    for (int32_t i = 0; i < L->nhalvings; i++) even = (PetscBool)(even && L->halvings[i].bits[d] > 0);
    if (even) continue;
    if (!L->parity) PetscCall(PetscCalloc2(L->domain->nbox, &L->parity, L->domain->nbox, &L->seam));
    PetscCall(SetParities(L, d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLatticeCreate(VpDomain domain, const uint8_t bits[], VpLattice *out)
{
  VpLattice L;

  PetscFunctionBegin;
  PetscCall(PetscNew(&L));
  L->refct = 1;
  L->domain = VpReference(domain);
  PetscCall(SetShapes(L, bits));
  PetscCall(SetVertices(L));
  for (int d = 0; d < domain->dim; d++) {
    L->thinnest[d] = PETSC_MAX_REAL;
    for (int32_t b = 0; b < domain->nbox; b++) L->thinnest[d] = PetscMin(L->thinnest[d], VpLatticeSize(L, b, d));
  }
  *out = L;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLatticeCreateUniform(VpDomain domain, int level, VpLattice *L)
{
  uint8_t *bits;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(3 * (size_t)domain->nbox, &bits));
  for (size_t i = 0; i < 3 * (size_t)domain->nbox; i++) bits[i] = (uint8_t)((int)(i % 3) < domain->dim ? level : 0);
  PetscCall(VpLatticeCreate(domain, bits, L));
  PetscCall(PetscFree(bits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLatticeWith(VpLattice L, const PetscReal a[], VpLattice *with)
{
  const size_t n = 3 * (size_t)L->domain->nbox;
  uint8_t     *bits;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &bits));
  for (size_t i = 0; i < n; i++) bits[i] = (uint8_t)VpHalvingsOf(L, (int32_t)(i / 3))->bits[i % 3];
  PetscCall(VpLatticeCreate(L->domain, bits, with));
  PetscCall(PetscFree(bits));
  PetscCall(PetscMalloc1(n, &(*with)->a));
  PetscCall(PetscArraycpy((*with)->a, a, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLatticeDestroy(VpLattice *out)
{
  VpLattice L = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!L || --L->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(L->a));
  PetscCall(PetscFree(L->halvings));
  PetscCall(PetscFree2(L->halvings_of, L->start));
  PetscCall(PetscFree(L->near));
  PetscCall(PetscFree2(L->parity, L->seam));
  for (int how = 0; how < VP_COARSEN_RULES; how++) {
    if (L->step[how]) PetscCall(VpCoarseningDestroy(L->step[how]));
    PetscCall(PetscFree(L->step[how]));
  }
  PetscCall(VpDomainDestroy(&L->domain));
  PetscCall(PetscFree(L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpLatticeIsUniform(VpLattice L)
{
  PetscBool same = (PetscBool)(L->nhalvings == 1);

  for (int d = 1; d < L->domain->dim; d++) same = (PetscBool)(same && L->halvings->bits[d] == L->halvings->bits[0]);
  return same;
}

PetscBool VpLatticeIsSame(VpLattice a, VpLattice b)
{
  if (a == b) return PETSC_TRUE;
  if (!VpDomainIsSame(a->domain, b->domain)) return PETSC_FALSE;
  for (int32_t box = 0; box < a->domain->nbox; box++) {
    if (memcmp(VpHalvingsOf(a, box)->bits, VpHalvingsOf(b, box)->bits, sizeof(a->halvings->bits))) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

int64_t VpLatticeEncode(VpLattice L, int32_t box, const int32_t coord[3])
{
  const VpHalvings *halvings = VpHalvingsOf(L, box);
  int64_t           cell = VpLatticeStart(L, box);

  for (int d = 0; d < L->domain->dim; d++) {
    int32_t bit = 0;

    for (int64_t mask = halvings->mask[d]; mask; mask &= mask - 1) cell += (int64_t)(coord[d] >> bit++ & 1) * (mask & -mask);
  }
  return cell;
}

/* the coordinates of a cell with this index in its box */
static void DecodeIndex(const VpHalvings *halvings, int64_t index, int32_t coord[3])
{
  for (int d = 0; d < 3; d++) {
    int32_t bit = 0;

    coord[d] = 0;
    for (int64_t mask = halvings->mask[d]; mask; mask &= mask - 1) coord[d] |= (int32_t)((index & (mask & -mask)) != 0) << bit++;
  }
}

void VpLatticeDecode(VpLattice L, int64_t cell, int32_t *box, int32_t coord[3])
{
  *box = VpLatticeBox(L, cell);
  DecodeIndex(VpHalvingsOf(L, *box), cell - VpLatticeStart(L, *box), coord);
}

/* From the end of a box to the beginning of one of the same halvings all bits of the direction flip. */
int64_t VpLatticeCross(VpLattice L, int32_t box, int64_t index, int side)
{
  const int32_t     next = VpBoxBeyond(L->domain, box, side);
  const VpHalvings *here = VpHalvingsOf(L, box);
  const int         turn = VpDomainTurn(L->domain, box, side);
  int32_t           at[3], to[3] = {0, 0, 0}, count[3];

  if (next < 0) return next;
  if (turn) {
    DecodeIndex(here, index, at);
    for (int d = 0; d < 3; d++) count[d] = 1 << VpHalvingsOf(L, next)->bits[d];
    VpTurnCross(L->domain->dim, count, side, turn, at, to);
    return VpLatticeEncode(L, next, to);
  }
  if (VpHalvingsOf(L, next) == here) return VpLatticeStart(L, next) + (index ^ here->mask[side / 2]);
  DecodeIndex(here, index, at);
  at[side / 2] = side % 2 ? 0 : (1 << VpHalvingsOf(L, next)->bits[side / 2]) - 1;
  return VpLatticeEncode(L, next, at);
}

/* The longest line in direction d begins in some box and goes up from there, once around where it is periodic. */
static PetscErrorCode LongestLine(VpLattice L, int d, int64_t *extent)
{
  const VpDomain domain = L->domain;
  const int32_t *slab;
  int64_t       *count; /* [slab] of cells on a line from there on upwards */
  PetscReal     *lower;
  PetscInt      *order, n = 0; /* the slabs by their lower ends */

  PetscFunctionBegin;
  PetscCall(VpDomainGetSlabs(domain, d, &slab));
  PetscCall(PetscMalloc3(domain->nbox, &count, domain->nbox, &lower, domain->nbox, &order));
  for (int32_t b = 0; b < domain->nbox; b++) {
    if (slab[b] != b) continue;
    lower[n] = domain->lower[3 * (size_t)b + d];
    order[n++] = b;
  }
  PetscCall(PetscSortRealWithArrayInt(n, lower, order));
  *extent = 1;
  while (n > 0) {
    const int32_t first = (int32_t)order[--n];
    int64_t       above = 0;

    for (int32_t b = first; b >= 0; b = domain->next[d][b]) {
      const int32_t up = VpBoxBeyond(domain, b, 2 * d + 1);

      if (up >= 0 && !VpIsWrapped(domain, b, up, 2 * d + 1)) above = PetscMax(above, count[slab[up]]);
    }
    count[first] = above + ((int64_t)1 << VpHalvingsOf(L, first)->bits[d]);
    *extent = PetscMax(*extent, count[first]);
  }
  PetscCall(PetscFree3(count, lower, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLatticeExtent(VpLattice L, int64_t extent[3])
{
  PetscFunctionBegin;
  extent[2] = 1;
  for (int d = 0; d < L->domain->dim; d++) PetscCall(LongestLine(L, d, &extent[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal VpLatticeThinnest(VpLattice L)
{
  PetscReal least = 1;

  for (int32_t b = 0; b < L->domain->nbox; b++) {
    PetscReal range[2] = {PETSC_MAX_REAL, 0};

    for (int d = 0; d < L->domain->dim; d++) {
      range[0] = PetscMin(range[0], VpLatticeSize(L, b, d));
      range[1] = PetscMax(range[1], VpLatticeSize(L, b, d));
    }
    least = PetscMin(least, range[0] / range[1]);
  }
  return least;
}
