/* Which cells and boxes merge on the next coarser lattice: cells only where they are thin, and boxes of one cell also merge.

   A slab is what VpDomainGetSlabs() says: on a grid of boxes a column of them. A pair of a slab is its cells two by two, or where these
   are whole boxes, the slab and its neighbour, if they lie side by side all along. Its size is that of its wider cell:

     +---+---+-+-+-+-+-+-+-+-+    along x, three slabs with 2, 4 and 4 cells a box: three pairs of cells two by two;
     +---+---+-+-+-+-+-+-+-+-+    the same as whole boxes: (1, 2) with the size of the first box, (2, 3) with that of the second

   A pair may merge if every cell is in a patch after that, and boxes only if no side on the boundary gets two conditions. Its ratio is the
   largest quotient of its size and that of another pair that may merge in another direction of one of its boxes. On every lattice pairs
   merge whose ratio is at most LIMIT, or that meet no others; where there is none, those of about the smallest ratio. Everything is decided
   from the lattice as it is.

   Where there is a coefficient, a box sees the size h along d as h / sqrt(a_d), with its mean of a along d, and boxes merge only if their
   coefficients are JUMP times each other at most. */
#include "../internal.h"

#define LIMIT (PETSC_SQRT2 * (1 + VP_SIZE_SLACK))
#define JUMP  (4 * (1 + VP_SIZE_SLACK))

/* slabs are named by one of their boxes */
typedef struct {
  int       d;
  int32_t   slab, upper; /* upper: the neighbour of a pair of boxes, else -1 */
  PetscReal size, ratio;
  PetscBool chosen;
} Pair;

typedef struct {
  VpLattice      fine;
  VpDomain       domain;
  int            dim;
  int32_t        nbox, npair;
  const int32_t *slab[3];
  Pair          *pair;     /* [npair] */
  PetscReal      jump;     /* the largest one that keeps boxes apart; 1: none does */
  PetscReal     *smallest; /* [nbox][3] the least size, as the box sees it, of a pair that may merge, in each direction */
} Rule;

static inline int BitsOf(const Rule *rule, int32_t box, int d)
{
  return VpShapeOf(rule->fine, box)->bits[d];
}

/* a size along d as the box sees it */
static inline PetscReal SizeSeen(const Rule *rule, int32_t box, int d, PetscReal size)
{
  return rule->fine->a ? size / PetscSqrtReal(rule->fine->a[3 * (size_t)box + d]) : size;
}

/* largest quotient of the coefficients of two boxes along a direction */
static PetscReal CoefficientJump(VpLattice L, int32_t box, int32_t other)
{
  PetscReal jump = 1;

  for (int d = 0; L->a && d < L->domain->dim; d++) {
    const PetscReal quotient = L->a[3 * (size_t)box + d] / L->a[3 * (size_t)other + d];

    jump = PetscMax(jump, PetscMax(quotient, 1 / quotient));
  }
  return jump;
}

/* The box beyond a side, itself excluded. Where boxes have merged in direction `pairs` with their upper neighbours, both are one. */
static int32_t Step(VpDomain domain, int pairs, int32_t box, int side)
{
  const int32_t up = side / 2 == pairs ? VpBoxBeyond(domain, box, 2 * pairs + 1) : box;
  const int32_t next = VpBoxBeyond(domain, side % 2 ? up : box, side);

  return next == box || next == up ? VP_UNKNOWN : next;
}

/* Whether the box is one of those around a vertex on these sides. thin: directions with one cell; its other sides are within it. */
static PetscBool HasPatchAt(VpDomain domain, int thin, int pairs, int32_t box, int sides)
{
  int32_t reached[8] = {box}; /* by moves in the directions that are bits of the index */

  for (int moves = 1; moves < 1 << domain->dim; moves++) {
    if (moves & ~thin) continue;
    reached[moves] = VP_UNKNOWN;
    for (int d = 0; d < domain->dim; d++) {
      int32_t next;

      if (!(moves >> d & 1)) continue;
      next = Step(domain, pairs, reached[moves ^ 1 << d], 2 * d + (sides >> d & 1));
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

/* the directions in which a box has one cell */
static int ThinIn(VpLattice L, int32_t box)
{
  int thin = 0;

  for (int d = 0; d < L->domain->dim; d++) thin |= (VpShapeOf(L, box)->bits[d] == 0) << d;
  return thin;
}

PetscBool VpEveryCellHasAPatch(VpLattice L)
{
  for (int32_t b = 0; b < L->domain->nbox; b++) {
    if (!IsInPatch(L->domain, ThinIn(L, b), -1, b)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Of every slab: the slab beyond the side if all its boxes have one cell there and a neighbour of that slab, of one cell; else -1. */
static PetscErrorCode FindBeyond(const Rule *rule, int side, int32_t **out)
{
  const int      d = side / 2;
  const int32_t *slab = rule->slab[d];
  int32_t       *beyond;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rule->nbox, &beyond));
  for (int32_t b = 0; b < rule->nbox; b++) beyond[b] = VP_UNKNOWN;
  for (int32_t b = 0; b < rule->nbox; b++) {
    const int32_t next = VpBoxBeyond(rule->domain, b, side);
    int32_t       to = -1, *have = &beyond[slab[b]];

    if (next >= 0 && !BitsOf(rule, b, d) && !BitsOf(rule, next, d) && !VpIsWrapped(rule->domain, b, next, side)) to = slab[next];
    *have = *have == VP_UNKNOWN || *have == to ? to : -1;
  }
  *out = beyond;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void AddPair(Rule *rule, int d, int32_t slab, int32_t upper)
{
  const PetscReal size = PetscMax(VpLatticeSize(rule->fine, slab, d), upper >= 0 ? VpLatticeSize(rule->fine, upper, d) : 0);

  rule->pair[rule->npair++] = (Pair){d, slab, upper, size, 0, PETSC_FALSE};
}

/* Whether a box may merge with the one above it in direction d. Where both have a side at the boundary, that of both has one condition. */
static PetscBool HaveSameConditions(VpDomain domain, int32_t box, int d)
{
  const int32_t above = VpBoxBeyond(domain, box, 2 * d + 1);

  for (int side = 0; side < 2 * domain->dim; side++) {
    const int32_t beyond = VpBoxBeyond(domain, box, side), beyond_above = VpBoxBeyond(domain, above, side);

    if (side / 2 != d && beyond < 0 && beyond_above < 0 && beyond != beyond_above) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* the pairs of a direction that may merge */
static PetscErrorCode FindPairs(Rule *rule, int d)
{
  const int32_t *slab = rule->slab[d];
  int32_t       *up, *down;
  char          *halves, *boxes; /* [slab] whether they may merge */

  PetscFunctionBegin;
  PetscCall(FindBeyond(rule, 2 * d + 1, &up));
  PetscCall(FindBeyond(rule, 2 * d, &down));
  PetscCall(PetscMalloc2(rule->nbox, &halves, rule->nbox, &boxes));
  for (int32_t b = 0; b < rule->nbox; b++) {
    halves[b] = BitsOf(rule, b, d) > 0;
    boxes[b] = up[b] >= 0 && down[up[b]] == b;
  }
  for (int32_t b = 0; b < rule->nbox; b++) {
    const int32_t c = slab[b];
    const int     thin = ThinIn(rule->fine, b) | 1 << d;

    if (halves[c] && BitsOf(rule, b, d) == 1) halves[c] = IsInPatch(rule->domain, thin, -1, b);
    if (boxes[c]) boxes[c] = HaveSameConditions(rule->domain, b, d) && IsInPatch(rule->domain, thin, d, b);
    if (boxes[c]) {
      const PetscReal jump = CoefficientJump(rule->fine, b, VpBoxBeyond(rule->domain, b, 2 * d + 1));

      boxes[c] = (PetscBool)(jump <= JUMP);
      if (!boxes[c]) rule->jump = PetscMax(rule->jump, jump);
    }
  }
  for (int32_t b = 0; b < rule->nbox; b++) {
    if (slab[b] != b) continue;
    if (halves[b]) AddPair(rule, d, b, -1);
    if (boxes[b]) AddPair(rule, d, b, up[b]);
  }
  PetscCall(PetscFree2(halves, boxes));
  PetscCall(PetscFree(up));
  PetscCall(PetscFree(down));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* [slab] = the pairs that it belongs to */
typedef struct {
  int32_t lower, upper; /* the pair of its cells, or where it is the lower one; the pair where it is the upper one; -1: none */
} PairsOf;

static PetscErrorCode FindPairsOf(const Rule *rule, PetscBool chosen, PairsOf **out)
{
  PairsOf *of;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(3 * (size_t)rule->nbox, &of));
  for (size_t i = 0; i < 3 * (size_t)rule->nbox; i++) of[i] = (PairsOf){-1, -1};
  for (int32_t i = 0; i < rule->npair; i++) {
    const Pair *p = &rule->pair[i];

    if (chosen && !p->chosen) continue;
    of[3 * (size_t)p->slab + p->d].lower = i;
    if (p->upper >= 0) of[3 * (size_t)p->upper + p->d].upper = i;
  }
  *out = of;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* size: as a box sees it that sees the other directions' sizes */
static void Rate(Pair *pair, PetscReal size, const PetscReal smallest[3])
{
  for (int e = 0; e < 3; e++) {
    if (e != pair->d && smallest[e] < PETSC_MAX_REAL) pair->ratio = PetscMax(pair->ratio, size / smallest[e]);
  }
}

/* the ratios of all pairs, box by box */
static PetscErrorCode RatePairs(Rule *rule)
{
  PairsOf *of;

  PetscFunctionBegin;
  PetscCall(FindPairsOf(rule, PETSC_FALSE, &of));
  for (int rate = 0; rate < 2; rate++) {
    for (int32_t b = 0; b < rule->nbox; b++) {
      PetscReal *smallest = rule->smallest + 3 * (size_t)b;

      for (int d = 0; d < 3; d++) {
        const PairsOf none = {-1, -1}, mine = d < rule->dim ? of[3 * (size_t)rule->slab[d][b] + d] : none;

        if (!rate) smallest[d] = PETSC_MAX_REAL;
        for (int k = 0; k < 2; k++) {
          const int32_t i = k ? mine.upper : mine.lower;

          PetscReal size;

          if (i < 0) continue;
          size = SizeSeen(rule, b, d, rule->pair[i].size);
          if (rate) Rate(&rule->pair[i], size, smallest);
          else smallest[d] = PetscMin(smallest[d], size);
        }
      }
    }
  }
  PetscCall(PetscFree(of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Choose(Rule *rule)
{
  PetscReal most = PETSC_MAX_REAL;

  for (int32_t i = 0; i < rule->npair; i++) most = PetscMin(most, rule->pair[i].ratio);
  most = most <= LIMIT ? LIMIT : most * LIMIT;
  for (int32_t i = 0; i < rule->npair; i++) rule->pair[i].chosen = (PetscBool)(rule->pair[i].ratio <= most);
}

/* Of box pairs that overlap the lowest merge, and so on upwards. */
static PetscErrorCode DropOverlaps(Rule *rule)
{
  PetscInt  *order;
  PetscReal *lower;
  char      *taken; /* [slab][3] */

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(rule->npair, &order, rule->npair, &lower));
  PetscCall(PetscCalloc1(3 * (size_t)rule->nbox, &taken));
  for (int32_t i = 0; i < rule->npair; i++) {
    order[i] = i;
    lower[i] = rule->domain->lower[3 * (size_t)rule->pair[i].slab + rule->pair[i].d];
  }
  PetscCall(PetscSortRealWithPermutation(rule->npair, lower, order));
  for (int32_t i = 0; i < rule->npair; i++) {
    Pair *p = &rule->pair[order[i]];

    if (!p->chosen || p->upper < 0) continue;
    if (taken[3 * (size_t)p->slab + p->d] || taken[3 * (size_t)p->upper + p->d]) p->chosen = PETSC_FALSE;
    else taken[3 * (size_t)p->slab + p->d] = taken[3 * (size_t)p->upper + p->d] = 1;
  }
  PetscCall(PetscFree2(order, lower));
  PetscCall(PetscFree(taken));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the least width of n (at most 4) neighbouring cells in direction e of which the lowest is in the box; none: the largest number */
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

/* How many cells of another direction, that can not merge, stand beside a chosen pair within twice its size: 0, 3 or 4;
   a patch covers two of them. *least, *most: of all chosen pairs, 4 and 0 if there are none. */
static PetscErrorCode CountStanding(const Rule *rule, int *least, int *most)
{
  PairsOf *of, *allowed;
  int     *standing;

  PetscFunctionBegin;
  PetscCall(FindPairsOf(rule, PETSC_TRUE, &of));
  PetscCall(FindPairsOf(rule, PETSC_FALSE, &allowed));
  PetscCall(PetscCalloc1(rule->npair, &standing));
  for (int32_t b = 0; b < rule->nbox; b++) {
    for (int e = 0; e < rule->dim; e++) {
      const PairsOf along = allowed[3 * (size_t)rule->slab[e][b] + e];
      PetscReal     three, four;

      if (along.lower >= 0 || along.upper >= 0) continue;
      three = SizeSeen(rule, b, e, WidthOf(rule, 3, b, e));
      four = SizeSeen(rule, b, e, WidthOf(rule, 4, b, e));
      for (int d = 0; d < rule->dim; d++) {
        const PairsOf mine = of[3 * (size_t)rule->slab[d][b] + d];

        for (int k = 0; d != e && k < 2; k++) {
          const int32_t   i = k ? mine.upper : mine.lower;
          const PetscReal reach = i < 0 ? 0 : 2 * SizeSeen(rule, b, d, rule->pair[i].size);

          if (three <= reach) standing[i] = PetscMax(standing[i], four <= reach ? 4 : 3);
        }
      }
    }
  }
  *least = 4;
  *most = 0;
  for (int32_t i = 0; i < rule->npair; i++) {
    *least = rule->pair[i].chosen ? PetscMin(*least, standing[i]) : *least;
    *most = PetscMax(*most, standing[i]);
  }
  PetscCall(PetscFree(of));
  PetscCall(PetscFree(allowed));
  PetscCall(PetscFree(standing));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what the rule does with every box; *ends: there is no coarser lattice */
static PetscErrorCode Apply(Rule *rule, PetscBool whole, VpCoarsening *step, PetscBool *ends)
{
  PairsOf *of;
  int      least = 4, most = 0;

  PetscFunctionBegin;
  for (int d = 0; d < rule->dim; d++) PetscCall(FindPairs(rule, d));
  PetscCall(RatePairs(rule));
  Choose(rule);
  PetscCall(DropOverlaps(rule));
  PetscCall(CountStanding(rule, &least, &most));
  *ends = (PetscBool)(least >= 4); /* also without pairs */
  step->hard = (PetscBool)(most >= 3);
  step->jump = rule->jump;
  PetscCall(FindPairsOf(rule, PETSC_TRUE, &of));
  for (int32_t i = 0; i < rule->npair; i++) {
    if (whole && rule->pair[i].chosen && rule->pair[i].upper >= 0) *ends = PETSC_TRUE;
  }
  for (int32_t b = 0; b < rule->nbox; b++) {
    for (int d = 0; d < rule->dim; d++) {
      const PairsOf mine = of[3 * (size_t)rule->slab[d][b] + d];
      uint8_t      *m = &step->merge[3 * (size_t)b + d];

      if (mine.lower >= 0) *m = rule->pair[mine.lower].upper < 0 ? VP_MERGE_HALVES : VP_MERGE_LOWER;
      else if (mine.upper >= 0) *m = VP_MERGE_UPPER;
    }
  }
  PetscCall(PetscFree(of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarsenByRule(VpLattice fine, PetscBool whole, VpCoarsening *step, PetscBool *ends)
{
  Rule rule = {.fine = fine, .domain = fine->domain, .dim = fine->domain->dim, .nbox = fine->domain->nbox, .jump = 1};

  PetscFunctionBegin;
  for (int d = 0; d < rule.dim; d++) PetscCall(VpDomainGetSlabs(rule.domain, d, &rule.slab[d]));
  PetscCall(PetscMalloc2(3 * (size_t)rule.nbox, &rule.pair, 3 * (size_t)rule.nbox, &rule.smallest));
  PetscCall(Apply(&rule, whole, step, ends));
  PetscCall(PetscFree2(rule.pair, rule.smallest));
  PetscFunctionReturn(PETSC_SUCCESS);
}
