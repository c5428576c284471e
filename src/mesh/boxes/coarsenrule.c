/* Which cells and boxes merge on the next coarser lattice: cells only where they are thin, and boxes of one cell also merge.

   A slab is what VpDomainGetSlabs() says: on a grid of boxes a column of them. A pair of a slab is its cells two by two, or where these
   are whole boxes, the slab and its neighbour, if they lie side by side all along. Its size is that of its wider cell:

     +---+---+-+-+-+-+-+-+-+-+    along x, three slabs with 2, 4 and 4 cells a box: three pairs of cells two by two;
     +---+---+-+-+-+-+-+-+-+-+    the same as whole boxes: (1, 2) with the size of the first box, (2, 3) with that of the second

   A pair may merge if every cell is in a patch after that, and boxes only if no side on the boundary gets two conditions. Its ratio is the
   largest quotient of its size and the size of another pair that may merge in another direction of one of its boxes. On every lattice those
   pairs merge whose ratio is at most LIMIT, or that meet no others; where there is none, those of about the smallest ratio. The rule sees
   only the present lattice.

   Where there is a coefficient, a box sees the size h along d as h / sqrt(a_d), with its mean of a along d, and boxes merge only if their
   coefficients are JUMP times each other at most. Pairs of ratios up to VpLattice.mild merge all the same. */
#include "../internal.h"

#define LIMIT (PETSC_SQRT2 * (1 + VP_SIZE_SLACK))
#define JUMP  (4 * (1 + VP_SIZE_SLACK))

/* What may merge along a direction: a slab's cells, or the slab and the one above it. Slabs are named by one of their boxes. */
typedef struct {
  PetscReal size, ratio; /* size 0: nothing may merge */
  int32_t   upper;       /* the slab above it that merges with it, or -1 */
  int32_t   lower;       /* the slab below it whose pair has this slab as the upper one, or -1 */
  PetscBool chosen;
  int       standing; /* the number of unmergeable cells of another direction within twice the size of a chosen pair: 0, 3 or 4 */
} Pair;

typedef struct {
  VpLattice      fine;
  VpDomain       domain;
  int            dim;
  int32_t        nbox;
  const int32_t *slab[3];
  Pair          *pair; /* [nbox][3] of slabs */
  PetscReal      jump; /* as in VpCoarsening */
} Rule;

static inline Pair *PairAt(const Rule *rule, int32_t slab, int d)
{
  return &rule->pair[3 * (size_t)slab + d];
}

/* The pairs that a box belongs to along a direction: 0, of its cells or with the slab above it; 1, with the slab below it. NULL: none */
static Pair *PairOf(const Rule *rule, int32_t box, int d, int which)
{
  Pair *own = PairAt(rule, rule->slab[d][box], d);

  if (which) return own->lower < 0 ? NULL : PairAt(rule, own->lower, d);
  return own->size > 0 ? own : NULL;
}

static inline int BitsOf(const Rule *rule, int32_t box, int d)
{
  return VpHalvingsOf(rule->fine, box)->bits[d];
}

/* a size along d divided by the root of the box's coefficient */
static inline PetscReal SizeSeen(const Rule *rule, int32_t box, int d, PetscReal size)
{
  return rule->fine->a ? size / PetscSqrtReal(rule->fine->a[3 * (size_t)box + d]) : size;
}

/* The box beyond a side, itself excluded. Where boxes have merged in direction `pairs` with their upper neighbours, both are one. */
static int32_t BoxAcross(VpDomain domain, int pairs, int32_t box, int side)
{
  const int32_t up = side / 2 == pairs ? VpBoxBeyond(domain, box, 2 * pairs + 1) : box;
  const int32_t next = VpBoxBeyond(domain, side % 2 ? up : box, side);

  return next == box || next == up ? VP_UNKNOWN : next;
}

/* Whether boxes surround the vertex of a box on these sides. thin: the directions in which it has one cell; others end inside of it. */
static PetscBool HasPatchAt(VpDomain domain, int thin, int pairs, int32_t box, int sides)
{
  int32_t reached[8] = {box}; /* by moves in the directions that are bits of the index */

  for (int moves = 1; moves < 1 << domain->dim; moves++) {
    if (moves & ~thin) continue;
    reached[moves] = VP_UNKNOWN;
    for (int d = 0; d < domain->dim; d++) {
      int32_t next;

      if (!(moves >> d & 1)) continue;
      next = BoxAcross(domain, pairs, reached[moves ^ 1 << d], 2 * d + (sides >> d & 1));
      if (next < 0 || (reached[moves] >= 0 && reached[moves] != next)) return PETSC_FALSE;
      reached[moves] = next;
    }
  }
  return PETSC_TRUE;
}

static PetscBool IsInPatch(VpDomain domain, int thin, int pairs, int32_t box)
{
  for (int sides = 0; sides < 1 << domain->dim; sides++) {
    if (!(sides & ~thin) && HasPatchAt(domain, thin, pairs, box, sides)) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

PetscBool VpEveryCellHasAPatch(VpLattice L)
{
  for (int32_t b = 0; b < L->domain->nbox; b++) {
    if (!IsInPatch(L->domain, VpLatticeThin(L, b), -1, b)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Of every slab: the slab beyond the side if all its boxes have one cell there and a neighbour of that slab, of one cell; else -1. */
static void FindSlabsBeyond(const Rule *rule, int side, int32_t beyond[])
{
  const int      d = side / 2;
  const int32_t *slab = rule->slab[d];

  for (int32_t b = 0; b < rule->nbox; b++) beyond[b] = VP_UNKNOWN;
  for (int32_t b = 0; b < rule->nbox; b++) {
    const int32_t next = VpBoxBeyond(rule->domain, b, side);
    int32_t       to = -1, *have = &beyond[slab[b]];

    if (next >= 0 && !BitsOf(rule, b, d) && !BitsOf(rule, next, d) && !VpIsWrapped(rule->domain, b, next, side)) to = slab[next];
    *have = *have == VP_UNKNOWN || *have == to ? to : -1;
  }
}

/* whether a box and the one above it have coefficients that are JUMP times each other at most; if not, the rule notes it */
static PetscBool HaveSimilarCoefficients(Rule *rule, int32_t box, int32_t above)
{
  const PetscReal *a = rule->fine->a;
  PetscReal        jump = 1;

  for (int d = 0; a && d < rule->dim; d++) {
    const PetscReal quotient = a[3 * (size_t)box + d] / a[3 * (size_t)above + d];

    jump = PetscMax(jump, PetscMax(quotient, 1 / quotient));
  }
  if (jump <= PetscMax(JUMP, PetscSqr(rule->fine->mild))) return PETSC_TRUE;
  rule->jump = PetscMax(rule->jump, jump);
  return PETSC_FALSE;
}

/* whether a box and the one above it in direction d have the same condition on every side where both are at the boundary */
static PetscBool HaveSameConditions(const Rule *rule, int32_t box, int32_t above, int d)
{
  for (int side = 0; side < 2 * rule->dim; side++) {
    const int32_t beyond = VpBoxBeyond(rule->domain, box, side), beyond_above = VpBoxBeyond(rule->domain, above, side);

    if (side / 2 != d && beyond < 0 && beyond_above < 0 && beyond != beyond_above) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* whether a box with one or two cells along d may get one, or share one with the box above it */
static PetscBool MayMerge(Rule *rule, int32_t box, int d)
{
  const PetscBool halves = (PetscBool)(BitsOf(rule, box, d) > 0);
  const int32_t   above = VpBoxBeyond(rule->domain, box, 2 * d + 1);

  if (!IsInPatch(rule->domain, VpLatticeThin(rule->fine, box) | 1 << d, halves ? -1 : d, box)) return PETSC_FALSE;
  return (PetscBool)(halves || (HaveSameConditions(rule, box, above, d) && HaveSimilarCoefficients(rule, box, above)));
}

/* the pairs of a direction that may merge */
static PetscErrorCode FindPairs(Rule *rule, int d)
{
  const int32_t *slab = rule->slab[d];
  int32_t       *up, *down;
  char          *allowed; /* [slab] whether its cells, or it and the slab above it, may merge */

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(rule->nbox, &up, rule->nbox, &down, rule->nbox, &allowed));
  FindSlabsBeyond(rule, 2 * d + 1, up);
  FindSlabsBeyond(rule, 2 * d, down);
  for (int32_t b = 0; b < rule->nbox; b++) allowed[b] = BitsOf(rule, b, d) > 0 || (up[b] >= 0 && down[up[b]] == b);
  for (int32_t b = 0; b < rule->nbox; b++) {
    if (allowed[slab[b]] && BitsOf(rule, b, d) < 2) allowed[slab[b]] = (char)MayMerge(rule, b, d);
  }
  for (int32_t b = 0; b < rule->nbox; b++) *PairAt(rule, b, d) = (Pair){.upper = -1, .lower = -1};
  for (int32_t b = 0; b < rule->nbox; b++) {
    Pair *p = PairAt(rule, b, d);

    if (slab[b] != b || !allowed[b]) continue;
    p->size = VpLatticeSize(rule->fine, b, d);
    if (BitsOf(rule, b, d)) continue;
    p->size = PetscMax(p->size, VpLatticeSize(rule->fine, up[b], d));
    p->upper = up[b];
    PairAt(rule, up[b], d)->lower = b;
  }
  PetscCall(PetscFree3(up, down, allowed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the ratios of all pairs, box by box: to the least size, as the box sees it, of a pair in another direction */
static void RatePairs(Rule *rule)
{
  for (int32_t b = 0; b < rule->nbox; b++) {
    PetscReal smallest[3] = {PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL};

    for (int i = 0; i < 4 * rule->dim; i++) { /* first the sizes, then the ratios */
      const int d = i / 2 % rule->dim, rate = i / 2 / rule->dim;
      Pair     *p = PairOf(rule, b, d, i % 2);
      PetscReal size;

      if (!p) continue;
      size = SizeSeen(rule, b, d, p->size);
      if (!rate) smallest[d] = PetscMin(smallest[d], size);
      for (int e = 0; e < 3 && rate; e++) {
        if (e != d && smallest[e] < PETSC_MAX_REAL) p->ratio = PetscMax(p->ratio, size / smallest[e]);
      }
    }
  }
}

static void ChoosePairs(Rule *rule)
{
  PetscReal most = PETSC_MAX_REAL;

  for (int32_t i = 0; i < 3 * rule->nbox; i++) {
    if (rule->pair[i].size > 0) most = PetscMin(most, rule->pair[i].ratio);
  }
  most = PetscMax(rule->fine->mild, most <= LIMIT ? LIMIT : most * LIMIT);
  for (int32_t i = 0; i < 3 * rule->nbox; i++) rule->pair[i].chosen = (PetscBool)(rule->pair[i].size > 0 && rule->pair[i].ratio <= most);
}

/* Chosen pairs may share boxes. In every row of such pairs, keeps the lowest pair and every second one above it. */
static void DropOverlaps(Rule *rule)
{
  for (int32_t i = 0; i < 3 * rule->nbox; i++) {
    Pair     *p = &rule->pair[i];
    PetscBool keep = PETSC_TRUE;

    if (p->lower >= 0 && PairAt(rule, p->lower, i % 3)->chosen) continue; /* another one is lower */
    for (; p->chosen && p->upper >= 0; p = PairAt(rule, p->upper, i % 3)) {
      p->chosen = keep;
      keep = (PetscBool)!keep;
    }
  }
}

/* the least width of n (at most 4) neighbouring cells in direction e, the lowest one in the box; PETSC_MAX_REAL if there are fewer */
static PetscReal WidthOf(const Rule *rule, int n, int32_t box, int e)
{
  const int cells = PetscMin(n, 1 << PetscMin(BitsOf(rule, box, e), 2));
  PetscReal least = PETSC_MAX_REAL;

  for (int inside = 1; inside <= cells; inside++) {
    PetscReal width = inside * VpLatticeSize(rule->fine, box, e);
    int       left = n - inside;

    for (int32_t b = box, next; left > 0; b = next) {
      int take;

      next = VpBoxBeyond(rule->domain, b, 2 * e + 1);
      if (next < 0 || VpIsWrapped(rule->domain, b, next, 2 * e + 1)) break;
      take = PetscMin(left, 1 << PetscMin(BitsOf(rule, next, e), 2));
      width += take * VpLatticeSize(rule->fine, next, e);
      left -= take;
    }
    if (!left) least = PetscMin(least, width);
  }
  return least;
}

/* Counts the unmergeable cells of other directions next to chosen pairs. A patch covers two of them. */
static void CountStanding(Rule *rule)
{
  for (int32_t b = 0; b < rule->nbox; b++) {
    for (int e = 0; e < rule->dim; e++) {
      PetscReal three, four;

      if (PairOf(rule, b, e, 0) || PairOf(rule, b, e, 1)) continue;
      three = SizeSeen(rule, b, e, WidthOf(rule, 3, b, e));
      four = SizeSeen(rule, b, e, WidthOf(rule, 4, b, e));
      for (int i = 0; i < 2 * rule->dim; i++) {
        Pair           *p = PairOf(rule, b, i / 2, i % 2);
        const PetscReal reach = p && p->chosen ? 2 * SizeSeen(rule, b, i / 2, p->size) : 0;

        if (three <= reach) p->standing = PetscMax(p->standing, four <= reach ? 4 : 3);
      }
    }
  }
}

/* how a box merges along a direction */
static VpMerge MergeOf(const Rule *rule, int32_t box, int d)
{
  const Pair *own = PairOf(rule, box, d, 0), *below = PairOf(rule, box, d, 1);

  if (own && own->chosen) return own->upper < 0 ? VP_MERGE_HALVES : VP_MERGE_LOWER;
  return below && below->chosen ? VP_MERGE_UPPER : VP_MERGE_NONE;
}

PetscErrorCode VpCoarsenByRule(VpLattice fine, PetscBool whole, VpCoarsening *step, PetscBool *ends)
{
  Rule rule = {.fine = fine, .domain = fine->domain, .dim = fine->domain->dim, .nbox = fine->domain->nbox, .jump = 1};
  int  least = 4, most = 0; /* of Pair.standing */

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(3 * (size_t)rule.nbox, &rule.pair));
  for (int d = 0; d < rule.dim; d++) {
    PetscCall(VpDomainGetSlabs(rule.domain, d, &rule.slab[d]));
    PetscCall(FindPairs(&rule, d));
  }
  RatePairs(&rule);
  ChoosePairs(&rule);
  DropOverlaps(&rule);
  CountStanding(&rule);
  *ends = PETSC_FALSE;
  for (int32_t i = 0; i < 3 * rule.nbox; i++) {
    const Pair *p = &rule.pair[i];

    if (!p->chosen) continue;
    least = PetscMin(least, p->standing);
    most = PetscMax(most, p->standing);
    if (whole && p->upper >= 0) *ends = PETSC_TRUE;
  }
  if (least >= 4) *ends = PETSC_TRUE; /* also without pairs */
  step->hard = (PetscBool)(most >= 3);
  step->jump = rule.jump;
  for (int32_t b = 0; b < rule.nbox; b++) {
    for (int d = 0; d < rule.dim; d++) step->merge[3 * (size_t)b + d] = (uint8_t)MergeOf(&rule, b, d);
  }
  PetscCall(PetscFree(rule.pair));
  PetscFunctionReturn(PETSC_SUCCESS);
}
