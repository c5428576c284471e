/* Domains: which box lies beyond which side, and the conditions where there is none.

   Coordinates become integers first (their rank among all coordinates of that direction, equal up to 1e-10 of the domain), so every test is
   exact. Two boxes that meet are found in the buckets of a coarse grid over these integers: linear work on grids of boxes. */
#include "../internal.h"

#define TOLERANCE 1e-10 /* of the domain, in each direction */

typedef struct {
  MPI_Comm   comm;
  int        dim;
  int32_t    nbox;
  int32_t    nknot[3];
  PetscReal *knot[3];    /* [nknot] the different coordinates, ascending */
  int32_t (*span)[3][2]; /* [nbox][3] a box in knots, lower and upper; 0 and 1 in unused directions */
  int32_t *beyond;       /* [nbox][2 dim] VP_UNKNOWN where nothing has been found yet */
  int64_t *start;        /* bucket k holds entry[start[k] .. start[k+1]) */
  int32_t *entry;
} Grid;

/* the last knot that is not above x */
static int32_t KnotOf(const Grid *g, int d, PetscReal x)
{
  int32_t low = 0, high = g->nknot[d];

  VP_BISECT(low, high, middle, g->knot[d][middle] <= x);
  return low;
}

/* the n different coordinates of a direction, ascending */
static PetscErrorCode SortCoordinates(Grid *g, VpDomain domain, int d, int32_t *n)
{
  VpDictionary numbers;

  PetscFunctionBegin;
  PetscCall(VpDictionaryCreate(1, sizeof(PetscReal), &numbers));
  for (int32_t i = 0; i < 2 * g->nbox; i++) {
    const PetscReal *x = (i % 2 ? domain->upper : domain->lower) + 3 * (size_t)(i / 2) + d;
    uint64_t         key;
    int32_t          number;

    if (i >= 2 && x[0] == x[-3]) continue; /* that of the box before */
    memcpy(&key, x, sizeof(key));
    key = key >> 32 | key << 32; /* so that the lowest bits differ, as the dictionary wants */
    PetscCall(VpDictionaryAdd(&numbers, &key, x, &number));
  }
  PetscCall(PetscSortReal(numbers.n, numbers.item));
  g->knot[d] = numbers.item;
  *n = numbers.n;
  numbers.item = NULL;
  PetscCall(VpDictionaryDestroy(&numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeKnots(Grid *g, VpDomain domain, int d)
{
  const PetscReal *lower = domain->lower + d, *upper = domain->upper + d;
  PetscReal       *x, last, width;
  int32_t          n = 0;

  PetscFunctionBegin;
  for (size_t b = 0; b < (size_t)g->nbox; b++) {
    PetscCheck(!PetscIsInfOrNanReal(lower[3 * b]) && !PetscIsInfOrNanReal(upper[3 * b]), g->comm, PETSC_ERR_ARG_OUTOFRANGE,
               "Box %d: [%g, %g] in direction %d is not finite", (int)b, (double)lower[3 * b], (double)upper[3 * b], d);
  }
  PetscCall(SortCoordinates(g, domain, d, &n));
  x = g->knot[d];
  width = x[n - 1] - x[0];
  last = x[0];
  g->nknot[d] = 1;
  for (int32_t i = 1; i < n; i++) {
    const PetscReal step = x[i] - last;

    last = x[i];
    if (step > TOLERANCE * width) x[g->nknot[d]++] = last;
  }
  for (size_t b = 0; b < (size_t)g->nbox; b++) {
    int32_t *span = g->span[b][d];

    span[0] = KnotOf(g, d, lower[3 * b]);
    span[1] = KnotOf(g, d, upper[3 * b]);
    PetscCheck(span[0] < span[1], g->comm, PETSC_ERR_ARG_OUTOFRANGE, "Box %d: [%g, %g] in direction %d is empty", (int)b,
               (double)lower[3 * b], (double)upper[3 * b], d);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Box b lies beyond a side of a. */
static void JoinBoxes(Grid *g, int32_t a, int32_t b, int side)
{
  g->beyond[(size_t)a * 2 * g->dim + side] = b;
  g->beyond[(size_t)b * 2 * g->dim + (side ^ 1)] = a;
}

/* Two boxes share a side, or at most an edge; anything else is an error. */
static PetscErrorCode MeetBoxes(Grid *g, int32_t a, int32_t b)
{
  int normal = -1, ntouch = 0;

  PetscFunctionBegin;
  for (int d = 0; d < g->dim; d++) {
    const int32_t common = PetscMin(g->span[a][d][1], g->span[b][d][1]) - PetscMax(g->span[a][d][0], g->span[b][d][0]);

    if (common < 0) PetscFunctionReturn(PETSC_SUCCESS);
    if (common == 0) {
      normal = d;
      ntouch++;
    }
  }
  PetscCheck(ntouch > 0, g->comm, PETSC_ERR_ARG_INCOMP, "Boxes %d and %d overlap", (int)a, (int)b);
  if (ntouch > 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < g->dim; d++) {
    PetscCheck(d == normal || (g->span[a][d][0] == g->span[b][d][0] && g->span[a][d][1] == g->span[b][d][1]), g->comm, PETSC_ERR_ARG_INCOMP,
               "Boxes %d and %d touch in direction %d without sharing a whole side: cut the larger one", (int)a, (int)b, normal);
  }
  JoinBoxes(g, a, b, 2 * normal + (g->span[a][normal][1] == g->span[b][normal][0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boxes without overlap fill no more than the grid; this also bounds the number of bucket entries. */
static PetscErrorCode CheckVolume(Grid *g)
{
  double volume = 0, all = 1;

  PetscFunctionBegin;
  for (int d = 0; d < g->dim; d++) all *= g->nknot[d] - 1;
  for (int32_t b = 0; b < g->nbox; b++) {
    double own = 1;

    for (int d = 0; d < g->dim; d++) own *= g->span[b][d][1] - g->span[b][d][0];
    volume += own;
  }
  PetscCheck(volume <= all, g->comm, PETSC_ERR_ARG_INCOMP,
             "Boxes overlap: the volumes of these %d boxes in dimension %d sum up to more than the volume around them", (int)g->nbox,
             g->dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the next bucket of a box, x fastest; PETSC_FALSE after the last */
static PetscBool NextBucket(const int32_t from[3], const int32_t to[3], int32_t at[3])
{
  for (int d = 0; d < 3; d++) {
    if (at[d]++ < to[d]) return PETSC_TRUE;
    at[d] = from[d];
  }
  return PETSC_FALSE;
}

/* Every box goes into all buckets it touches; boxes that meet share one. */
static PetscErrorCode MeetInBuckets(Grid *g)
{
  int64_t nbucket, *start;
  int32_t m[3] = {1, 1, 1}, from[3], to[3], at[3];

  PetscFunctionBegin;
  for (int d = 0; d < g->dim; d++) m[d] = g->nknot[d] - 1;
  while ((double)m[0] * m[1] * m[2] > 2. * g->nbox) {
    const int largest = m[0] >= m[1] && m[0] >= m[2] ? 0 : (m[1] >= m[2] ? 1 : 2);

    m[largest] = (m[largest] + 1) / 2;
  }
  nbucket = (int64_t)m[0] * m[1] * m[2];
  PetscCall(PetscCalloc1(nbucket + 2, &g->start));
  start = g->start;
  for (int fill = 0; fill < 2; fill++) { /* start[k+2] counts bucket k first, then start[k+1] is its growing end */
    if (fill) {
      for (int64_t k = 0; k < nbucket; k++) start[k + 2] += start[k + 1];
      PetscCall(PetscMalloc1(start[nbucket + 1], &g->entry));
    }
    for (int32_t b = 0; b < g->nbox; b++) {
      for (int d = 0; d < 3; d++) {
        at[d] = from[d] = (int32_t)((int64_t)g->span[b][d][0] * m[d] / g->nknot[d]);
        to[d] = (int32_t)((int64_t)g->span[b][d][1] * m[d] / g->nknot[d]);
      }
      do {
        const int64_t k = at[0] + m[0] * (at[1] + (int64_t)m[1] * at[2]);

        if (fill) g->entry[start[k + 1]++] = b;
        else start[k + 2]++;
      } while (NextBucket(from, to, at));
    }
  }
  for (int64_t k = 0; k < nbucket; k++) {
    for (int64_t i = start[k]; i < start[k + 1]; i++) {
      for (int64_t j = start[k]; j < i; j++) PetscCall(MeetBoxes(g, g->entry[i], g->entry[j]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Joins the boxes at the lower end of direction d with those at the upper end. Ensures: an error unless they face one another. */
static PetscErrorCode JoinPeriodic(Grid *g, int d)
{
  int32_t      n[2] = {0, 0}, met = 0, i;
  VpDictionary lower; /* the boxes at the lower end, by what they span in other directions */

  PetscFunctionBegin;
  PetscCall(VpDictionaryCreate(2, sizeof(int32_t), &lower));
  for (int32_t k = 0; k < 2 * g->nbox; k++) {
    const int32_t upper = k / g->nbox, b = k % g->nbox;
    uint64_t      span[2] = {0, 0};

    if (g->span[b][d][upper] != (upper ? g->nknot[d] - 1 : 0)) continue;
    n[upper]++;
    for (int t = 1; t < g->dim; t++) memcpy(&span[t - 1], g->span[b][(d + t) % g->dim], sizeof(*span));
    if (!upper) PetscCall(VpDictionaryAdd(&lower, span, &b, &i));
    else if ((i = VpDictionaryFind(&lower, span)) >= 0) {
      JoinBoxes(g, b, ((int32_t *)lower.item)[i], 2 * d + 1);
      met++;
    }
  }
  PetscCall(VpDictionaryDestroy(&lower));
  PetscCheck(met == n[0] && met == n[1], g->comm, PETSC_ERR_ARG_INCOMP,
             "Periodic in direction %d, but the boxes at the two ends of the domain (%d and %d) do not face one another", d, (int)n[0],
             (int)n[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetBoundary(Grid *g, const VpBoundary boundary[])
{
  PetscFunctionBegin;
  for (size_t i = 0; i < (size_t)g->nbox * 2 * g->dim; i++) {
    const int side = (int)(i % (2 * g->dim));

    if (g->beyond[i] >= 0) continue;
    PetscCheck(VpIsCondition(boundary[side].kind), g->comm, PETSC_ERR_ARG_OUTOFRANGE,
               "Side %d of box %d is boundary: it needs a boundary condition", side, (int)(i / (2 * g->dim)));
    g->beyond[i] = VpBoundaryAt(side);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckConnected(Grid *g)
{
  int32_t *set, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->nbox, &set));
  for (int32_t b = 0; b < g->nbox; b++) set[b] = b;
  for (size_t i = 0; i < (size_t)g->nbox * 2 * g->dim; i++) {
    if (i % 2 && g->beyond[i] >= 0) VpUnite(set, (int32_t)(i / (2 * g->dim)), g->beyond[i]);
  }
  for (int32_t b = 0; b < g->nbox; b++) n += VpRoot(set, b) == 0;
  PetscCall(PetscFree(set));
  PetscCheck(n == g->nbox, g->comm, PETSC_ERR_ARG_INCOMP, "The domain is not connected: %d of %d boxes can be reached through sides",
             (int)n, (int)g->nbox);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the neighbours of boxes and checks them. All that can fail is here: the caller frees. */
static PetscErrorCode ConnectBoxes(Grid *g, VpDomain domain)
{
  PetscFunctionBegin;
  for (int d = 0; d < g->dim; d++) PetscCall(MakeKnots(g, domain, d));
  PetscCall(CheckVolume(g));
  PetscCall(MeetInBuckets(g));
  for (int d = 0; d < g->dim; d++) {
    if (domain->periodic[d]) PetscCall(JoinPeriodic(g, d));
  }
  PetscCall(SetBoundary(g, domain->boundary));
  PetscCall(CheckConnected(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDomainCreate(MPI_Comm comm, const VpBoxes *boxes, VpDomain *newdomain)
{
  const int     dim = boxes->dim;
  const int32_t nbox = boxes->nbox;
  Grid          g = {.comm = comm, .dim = dim, .nbox = nbox, .nknot = {2, 2, 2}};
  VpDomain      domain;

  PetscFunctionBegin;
  PetscCheck(dim == 2 || dim == 3, comm, PETSC_ERR_ARG_OUTOFRANGE, "Dimension %d: there are 2 and 3", dim);
  PetscCheck(nbox >= 1 && nbox <= VP_MAX_BOXES, comm, PETSC_ERR_ARG_OUTOFRANGE, "A domain of %d boxes: there are 1 to %d", (int)nbox,
             VP_MAX_BOXES);
  PetscCall(PetscNew(&domain));
  domain->refct = 1;
  domain->dim = dim;
  domain->nbox = nbox;
  domain->nboundary = 2 * dim;
  PetscCall(PetscCalloc1(domain->nboundary, &domain->boundary));
  for (int side = 0; side < 2 * dim; side++)
    domain->boundary[side] = boxes->boundary ? boxes->boundary[side] : (VpBoundary){VP_SIDE_DIRICHLET, 0};
  for (int d = 0; d < dim; d++) domain->periodic[d] = boxes->periodic ? boxes->periodic[d] : PETSC_FALSE;
  PetscCall(PetscMalloc3(3 * (size_t)nbox, &domain->lower, 3 * (size_t)nbox, &domain->upper, 2 * dim * (size_t)nbox, &domain->beyond));
  PetscCall(PetscMalloc1(nbox, &g.span));
  g.beyond = domain->beyond;
  for (size_t i = 0; i < (size_t)nbox * 2 * dim; i++) g.beyond[i] = VP_UNKNOWN;
  for (size_t b = 0; b < (size_t)nbox; b++) {
    for (int d = 0; d < 3; d++) {
      domain->lower[3 * b + d] = d < dim ? boxes->lower[dim * b + d] : 0;
      domain->upper[3 * b + d] = d < dim ? boxes->upper[dim * b + d] : 1;
      g.span[b][d][0] = 0;
      g.span[b][d][1] = 1;
    }
  }
  {
    const PetscErrorCode ierr = ConnectBoxes(&g, domain);

    for (int d = 0; d < dim; d++) PetscCall(PetscFree(g.knot[d]));
    PetscCall(PetscFree(g.span));
    PetscCall(PetscFree(g.start));
    PetscCall(PetscFree(g.entry));
    if (ierr) PetscCall(VpDomainDestroy(&domain));
    PetscCall(ierr);
  }
  *newdomain = domain;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDomainGetSlabs(VpDomain domain, int d, const int32_t **out)
{
  int32_t *slab, *next;

  PetscFunctionBegin;
  if (!domain->slabs[d]) {
    PetscCall(PetscMalloc2(domain->nbox, &slab, domain->nbox, &next));
    for (int32_t b = 0; b < domain->nbox; b++) slab[b] = b;
    for (int32_t b = 0; b < domain->nbox; b++) {
      for (int e = 0; e < domain->dim; e++) {
        const int32_t up = e == d ? -1 : VpBoxBeyond(domain, b, 2 * e + 1);

        if (up >= 0) slab[VpRoot(slab, up)] = VpRoot(slab, b);
      }
    }
    for (int32_t b = 0; b < domain->nbox; b++) {
      slab[b] = VpRoot(slab, b);
      next[b] = -1;
    }
    for (int32_t b = 0; b < domain->nbox; b++) {
      if (slab[b] == b) continue;
      next[b] = next[slab[b]];
      next[slab[b]] = b;
    }
    domain->slabs[d] = slab;
    domain->next[d] = next;
  }
  *out = domain->slabs[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpDomainIsSame(VpDomain a, VpDomain b)
{
  if (a->dim != b->dim || a->nbox != b->nbox) return PETSC_FALSE;
  for (size_t i = 0; i < 3 * (size_t)a->nbox; i++) {
    if (a->lower[i] != b->lower[i] || a->upper[i] != b->upper[i]) return PETSC_FALSE;
  }
  if (!a->trees != !b->trees) return PETSC_FALSE;
  if (a->trees) return (PetscBool)!memcmp(a->trees->corner, b->trees->corner, ((size_t)a->nbox << a->dim) * sizeof(int32_t));
  return PETSC_TRUE;
}

PetscErrorCode VpDomainDestroy(VpDomain *domain)
{
  PetscFunctionBegin;
  if (*domain && --(*domain)->refct == 0) {
    PetscCall(PetscFree((*domain)->boundary));
    for (int d = 0; d < 3; d++) PetscCall(PetscFree2((*domain)->slabs[d], (*domain)->next[d]));
    PetscCall(PetscFree3((*domain)->lower, (*domain)->upper, (*domain)->beyond));
    if ((*domain)->trees) PetscCall(PetscFree((*domain)->trees->regular));
    if ((*domain)->trees) PetscCall(PetscFree3((*domain)->trees->corner, (*domain)->trees->turn, (*domain)->trees->hand));
    PetscCall(PetscFree((*domain)->trees));
    PetscCall(PetscFree(*domain));
  }
  *domain = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the entry of a normal that is this condition; the table grows where there is none. Of entries that are not in use the kind is 0. */
static PetscErrorCode FindEntry(VpDomain domain, int side, VpBoundary condition, int32_t *entry)
{
  const int nside = 2 * domain->dim;
  int32_t   i = side;

  PetscFunctionBegin;
  while (i < domain->nboundary && domain->boundary[i].kind && !VpBoundaryIs(domain->boundary[i], condition)) i += nside;
  if (i >= domain->nboundary) {
    PetscCall(PetscRealloc((size_t)(domain->nboundary + nside) * sizeof(*domain->boundary), &domain->boundary));
    PetscCall(PetscArrayzero(domain->boundary + domain->nboundary, nside));
    domain->nboundary += nside;
  }
  domain->boundary[i] = condition;
  *entry = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of every normal, the condition of most sides changes places with the first one. */
static PetscErrorCode PutCommonestFirst(VpDomain domain)
{
  const int     nside = 2 * domain->dim;
  const int64_t n = (int64_t)domain->nbox * nside;
  int32_t      *count, most[6];

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(domain->nboundary, &count));
  for (int64_t i = 0; i < n; i++) {
    if (domain->beyond[i] < 0) count[VpBoundaryEntry(domain->beyond[i])]++;
  }
  for (int side = 0; side < nside; side++) {
    const VpBoundary first = domain->boundary[side];

    most[side] = side;
    for (int32_t i = side; i < domain->nboundary; i += nside) most[side] = count[i] > count[most[side]] ? i : most[side];
    domain->boundary[side] = domain->boundary[most[side]];
    domain->boundary[most[side]] = first;
  }
  for (int64_t i = 0; i < n; i++) {
    const int32_t side = (int32_t)(i % nside), entry = VpBoundaryEntry(domain->beyond[i]);

    if (entry < 0) continue;
    if (entry == most[side]) domain->beyond[i] = VpBoundaryAt(side);
    else if (entry == side) domain->beyond[i] = VpBoundaryAt(most[side]);
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDomainSetBoundary(VpDomain domain, const VpBoundary condition[])
{
  const int nside = 2 * domain->dim;

  PetscFunctionBegin;
  for (int64_t i = 0; i < (int64_t)domain->nbox * nside; i++) {
    int32_t entry = 0;

    if (domain->beyond[i] >= 0) continue;
    PetscCall(FindEntry(domain, (int)(i % nside), condition[i], &entry));
    domain->beyond[i] = VpBoundaryAt(entry);
  }
  PetscCall(PutCommonestFirst(domain));
  domain->corners = VP_CORNERS_UNKNOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpDomainIsByNormal(VpDomain domain)
{
  const int nside = 2 * domain->dim;

  for (int64_t i = 0; i < (int64_t)domain->nbox * nside; i++) {
    if (domain->beyond[i] < 0 && VpBoundaryEntry(domain->beyond[i]) >= nside) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
