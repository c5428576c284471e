/* Colours of the vertices of trees' cells. They follow from how trees meet, so all ranks find the same ones, for all levels.

   A site of a tree is, along each direction, its lower or its upper end, or in between an even or an odd coordinate. Vertices at sites that
   are one where trees meet are a class:

       |-----+-----+-----+-----|     four cells along a direction
     lower  odd  even   odd  upper   ends, and coordinates in between

   The number of odd directions is the dimension of the parents' vertex, edge, face or inside in whose middle a vertex is. It is the same in
   all trees. No cell has two vertices of a class. Classes conflict if a cell has a vertex of each.

   The parents' vertices have the first colour and their middles the last one. The others get the lowest colour that is free, by dimension.
   A direction of one cell has only ends, both of which the cell has: then all classes get the lowest colour. Where all trees are one cell,
   sites are their corners. */
#include "../internal.h"

enum { LOWER, UPPER, EVEN, ODD };

typedef struct {
  VpLattice L;
  int       dim, bits, sites; /* of a site's place along a direction; how many sites a tree has */
  PetscBool flat;             /* There is a tree with one cell along some direction. */
  uint64_t  conflict[8][64];  /* [directions of one cell][site] bits of the sites whose classes conflict with that of a site */
  int32_t  *class_of, *next;  /* [nbox][sites] the least item of its class; the next one of its class, or -1 */
  uint32_t *taken;            /* [nbox][sites] colours that classes in conflict with this one have, a bit each */
  uint8_t  *color;            /* [nbox][sites] */
  int       order[64];        /* [sites] those of a tree in the order in which their classes get colours */
  int       most;             /* the highest colour so far */
} Greedy;

static inline int AlongOf(const Greedy *c, int site, int d)
{
  return site >> c->bits * d & ((1 << c->bits) - 1);
}

static int DimensionOf(const Greedy *c, int site)
{
  int odd = 0;

  for (int d = 0; d < c->dim; d++) odd += AlongOf(c, site, d) == ODD;
  return odd;
}

/* whether a tree has a site that is not between ends of a direction of one cell */
static PetscBool SiteExists(const Greedy *c, int flat, int site)
{
  for (int d = 0; d < c->dim; d++) {
    if (flat >> d & 1 && AlongOf(c, site, d) > UPPER) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static void FindConflicts(Greedy *c)
{
  for (int i = 0; i < 8 * c->sites * c->sites; i++) {
    const int flat = i / (c->sites * c->sites), p = i / c->sites % c->sites, q = i % c->sites;
    PetscBool meet = (PetscBool)(p != q);

    for (int d = 0; d < c->dim; d++) {
      const int a = AlongOf(c, p, d), b = AlongOf(c, q, d);

      meet = (PetscBool)(meet && (flat >> d & 1 || a == b || a == ODD || b == ODD));
    }
    if (meet) c->conflict[flat][p] |= (uint64_t)1 << q;
  }
}

/* the site in the tree beyond a side, of a site at that side */
static int SiteBeyond(const Greedy *c, int side, int turn, int site)
{
  int there = 0;

  for (int d = 0; d < c->dim; d++) {
    int along = AlongOf(c, site, d);

    if (d == side / 2) along = VpTurnSide(side, turn) % 2;
    else if (along <= UPPER && VpTurnFlips(side, turn, d)) along ^= 1;
    there |= along << c->bits * VpTurnAxis(side, turn, d);
  }
  return there;
}

/* Finds the classes, and the items of each in ascending order. */
static void FindClasses(Greedy *c)
{
  const VpDomain domain = c->L->domain;
  const int32_t  n = domain->nbox * c->sites;

  for (int32_t i = 0; i < n; i++) c->class_of[i] = i;
  for (int32_t box = 0; box < domain->nbox; box++) {
    for (int side = 0; side < 2 * c->dim; side++) {
      const int32_t beyond = VpBoxBeyond(domain, box, side);

      for (int site = 0; beyond >= 0 && site < c->sites; site++) {
        if (AlongOf(c, site, side / 2) != side % 2) continue;
        VpUnite(c->class_of, box * c->sites + site, beyond * c->sites + SiteBeyond(c, side, VpDomainTurn(domain, box, side), site));
      }
    }
  }
  for (int32_t i = n - 1; i >= 0; i--) c->next[i] = -1;
  for (int32_t i = n - 1; i >= 0; i--) { /* An item that stands for its class is less than all others. */
    const int32_t first = VpRoot(c->class_of, i);

    c->class_of[i] = first;
    if (first == i) continue;
    c->next[i] = c->next[first];
    c->next[first] = i;
  }
}

/* Gives a class a colour, and takes it from all that conflict with it. */
static void TakeColor(Greedy *c, int32_t first, int color)
{
  c->most = PetscMax(c->most, color);
  for (int32_t i = first; i >= 0; i = c->next[i]) {
    const int32_t box = i / c->sites;

    c->color[i] = (uint8_t)color;
    for (uint64_t left = c->conflict[VpLatticeThin(c->L, box)][i % c->sites]; left; left &= left - 1)
      c->taken[c->class_of[box * c->sites + __builtin_ctzll(left)]] |= (uint32_t)1 << color;
  }
}

/* order[i] = the i-th site of a tree: by lower end, inside and upper end along directions, then by parities. The last direction counts
   most. */
static void FindOrder(Greedy *c)
{
  static const int end[] = {[LOWER] = 0, [EVEN] = 1, [ODD] = 1, [UPPER] = 2};
  int              rank[64];

  for (int site = 0; site < c->sites; site++) {
    rank[site] = 0;
    for (int d = c->dim - 1; d >= 0; d--) rank[site] = 3 * rank[site] + end[AlongOf(c, site, d)];
    for (int d = c->dim - 1; d >= 0; d--) rank[site] = 2 * rank[site] + (AlongOf(c, site, d) == ODD);
  }
  for (int site = 0; site < c->sites; site++) {
    int at = 0;

    for (int other = 0; other < c->sites; other++) at += rank[other] < rank[site];
    c->order[at] = site;
  }
}

/* Colours the classes of a dimension. False if there are too many colours. */
static PetscBool ColorDimension(Greedy *c, int dimension)
{
  for (int32_t k = 0; k < c->L->domain->nbox * c->sites; k++) {
    const int32_t site = c->order[k % c->sites], i = k / c->sites * c->sites + site;
    uint32_t      taken = c->taken[i] | (c->flat ? 0 : 1); /* The first colour is that of the parents' vertices. */

    if (c->class_of[i] != i || DimensionOf(c, site) != dimension || !SiteExists(c, VpLatticeThin(c->L, i / c->sites), site)) continue;
    if (taken == UINT32_MAX) return PETSC_FALSE;
    TakeColor(c, i, __builtin_ctz(~taken));
  }
  return PETSC_TRUE;
}

static void ColorClasses(Greedy *c)
{
  const int32_t n = c->L->domain->nbox * c->sites;
  PetscBool     all = PETSC_TRUE;

  FindConflicts(c);
  FindOrder(c);
  FindClasses(c);
  for (int k = c->flat ? 0 : 1; k < c->dim + (c->flat ? 1 : 0); k++) all = (PetscBool)(all && ColorDimension(c, k));
  if (!c->flat) c->most++;
  if (!all) c->most = VP_MOST_COLORS;
  for (int32_t i = 0; i < n && !c->flat; i++) {
    const int dimension = DimensionOf(c, i % c->sites);

    if (dimension == 0) c->color[i] = 0;
    if (dimension == c->dim) c->color[i] = (uint8_t)c->most;
  }
}

/* the number of colours below all those of the middles of parents' faces; 1 where colours do not go by dimension */
static int CountMinor(const Greedy *c)
{
  int least = c->most;

  for (int32_t i = 0; i < c->L->domain->nbox * c->sites; i++) {
    if (DimensionOf(c, i % c->sites) == c->dim - 1) least = PetscMin(least, c->color[i]);
  }
  return c->flat ? 1 : least;
}

PetscErrorCode VpTreeColoringCreate(VpLattice L, VpTreeColoring *colors)
{
  Greedy    c = {.L = L, .dim = L->domain->dim};
  PetscBool refined = PETSC_FALSE;
  size_t    n;

  PetscFunctionBegin;
  for (int32_t box = 0; box < L->domain->nbox; box++) {
    const int flat = VpLatticeThin(L, box);

    c.flat = (PetscBool)(c.flat || flat);
    refined = (PetscBool)(refined || flat != (1 << c.dim) - 1);
  }
  c.bits = refined ? 2 : 1;
  c.sites = 1 << c.bits * c.dim;
  n = (size_t)L->domain->nbox * (size_t)c.sites;
  *colors = (VpTreeColoring){.bits = c.bits};
  PetscCheck(n <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "%d trees are too many for the colours of patches, at most %d fit",
             (int)L->domain->nbox, INT32_MAX / c.sites);
  PetscCall(PetscMalloc3(n, &c.class_of, n, &c.next, n, &c.taken));
  PetscCall(PetscCalloc1(n, &c.color));
  PetscCall(PetscArrayzero(c.taken, n));
  colors->color = c.color;
  ColorClasses(&c);
  PetscCall(PetscFree3(c.class_of, c.next, c.taken));
  colors->ncolor = c.most + 1;
  colors->minor = CountMinor(&c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int VpTreeColorAt(VpLattice L, const VpTreeColoring *colors, int32_t box, const int32_t vertex[])
{
  const VpHalvings *halvings = VpHalvingsOf(L, box);
  int               site = 0;

  for (int d = 0; d < L->domain->dim; d++) {
    const int32_t at = vertex[d];

    site |= (at == 0 ? LOWER : at == 1 << halvings->bits[d] ? UPPER : at % 2 ? ODD : EVEN) << colors->bits * d;
  }
  return colors->color[((size_t)box << colors->bits * L->domain->dim) + (size_t)site];
}

PetscErrorCode VpTreeColoringDestroy(VpTreeColoring *colors)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(colors->color));
  colors->ncolor = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
