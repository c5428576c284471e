/* The vertices where trees meet: regular ones, as inside or on the boundary of a box, and others. */
#include "../internal.h"

/* The trees around every vertex. */
typedef struct {
  int32_t  n;
  int64_t *start;  /* [n + 1] vertex v has the corners [start[v], start[v+1]) of `corner` */
  int64_t *corner; /* [nbox 2^dim] corner i % 2^dim of tree i / 2^dim */
} Around;

static PetscErrorCode AroundCreate(VpDomain domain, Around *a)
{
  const int64_t  n = (int64_t)domain->nbox << domain->dim;
  const int32_t *vertex = domain->trees->corner;

  PetscFunctionBegin;
  a->n = 0;
  for (int64_t i = 0; i < n; i++) a->n = PetscMax(a->n, vertex[i] + 1);
  PetscCall(PetscCalloc1((size_t)a->n + 2, &a->start));
  PetscCall(PetscMalloc1((size_t)n, &a->corner));
  for (int64_t i = 0; i < n; i++) a->start[vertex[i] + 2]++;
  for (int32_t v = 0; v < a->n; v++) a->start[v + 2] += a->start[v + 1];
  for (int64_t i = 0; i < n; i++) a->corner[a->start[vertex[i] + 1]++] = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The edges at a vertex, by the vertices at their other ends. */
typedef struct {
  int      n;
  int32_t  end[3 * VP_MOST_VALENCE];
  uint64_t cells[3 * VP_MOST_VALENCE]; /* the cells that have the edge, a bit each */
} Edges;

static void FindEdges(VpDomain domain, int cells, const int64_t corner[], Edges *e)
{
  e->n = 0;
  for (int c = 0; c < cells; c++) {
    for (int d = 0; d < domain->dim; d++) {
      const int32_t end = domain->trees->corner[corner[c] ^ (int64_t)1 << d];
      int           i = 0;

      while (i < e->n && e->end[i] != end) i++;
      if (i == e->n) {
        e->end[e->n] = end;
        e->cells[e->n++] = 0;
      }
      e->cells[i] |= (uint64_t)1 << c;
    }
  }
}

/* whether every edge has exactly one that shares no cell with it */
static PetscBool ArePaired(const Edges *e)
{
  for (int i = 0; i < e->n; i++) {
    int opposite = 0;

    for (int j = 0; j < e->n; j++) opposite += !(e->cells[i] & e->cells[j]);
    if (opposite != 1) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static PetscBool IsOnBoundary(VpDomain domain, int64_t corner)
{
  const int32_t tree = (int32_t)(corner >> domain->dim);
  PetscBool     is = PETSC_FALSE;

  for (int d = 0; d < domain->dim; d++) is = (PetscBool)(is || VpBoxBeyond(domain, tree, 2 * d + (int)(corner >> d & 1)) < 0);
  return is;
}

/* whether a vertex with so many cells and edges is regular */
static PetscBool IsRegular(int dim, PetscBool boundary, int64_t cells, const Edges *e)
{
  if (!boundary) return (PetscBool)(cells == 1 << dim && e->n == 2 * dim && ArePaired(e));
  if (dim == 2) return (PetscBool)(cells <= 2);
  return (PetscBool)((cells == 1 && e->n == 3) || (cells == 2 && e->n == 4) || (cells == 4 && e->n == 5));
}

static PetscErrorCode AroundDestroy(Around *a)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(a->start));
  PetscCall(PetscFree(a->corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether a vertex is regular, and whether it is on the boundary */
static PetscBool IsRegularAt(VpDomain domain, const Around *a, int32_t v, PetscBool *boundary)
{
  const int64_t cells = a->start[v + 1] - a->start[v], *corner = a->corner + a->start[v];
  Edges         e = {.n = 0};

  *boundary = PETSC_FALSE;
  for (int64_t c = 0; c < cells; c++) *boundary = (PetscBool)(*boundary || IsOnBoundary(domain, corner[c]));
  if (cells <= VP_MOST_VALENCE) FindEdges(domain, (int)cells, corner, &e);
  return IsRegular(domain->dim, *boundary, cells, &e);
}

PetscErrorCode VpDomainCountVertices(VpDomain domain, VpTreeVertices *count)
{
  Around a;

  PetscFunctionBegin;
  *count = (VpTreeVertices){.n = 0};
  PetscCall(AroundCreate(domain, &a));
  for (int32_t v = 0; v < a.n; v++) {
    const int64_t cells = a.start[v + 1] - a.start[v];
    PetscBool     boundary;

    if (!cells) continue;
    count->n++;
    if (IsRegularAt(domain, &a, v, &boundary)) count->regular++;
    else if (boundary) count->boundary++;
    else count->inside[PetscMin(cells, VP_MOST_VALENCE)]++;
  }
  PetscCall(AroundDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the trees around an edge */
typedef struct {
  int       trees;
  PetscBool boundary;
} Edge;

/* the corner at the lower end of edge i % 4 of the four along d, whose bits are those of the other two directions */
static int LowerEnd(int d, int i)
{
  const int below = i & ((1 << d) - 1);

  return (i - below) << 1 | below;
}

/* An edge is regular inside of the domain with four trees around it. */
static PetscErrorCode FindRegularEdges(VpDomain domain)
{
  const Edge   none = {.trees = 0};
  int32_t     *edge;
  VpDictionary rings;

  PetscFunctionBegin;
  PetscCall(VpDictionaryCreate(1, sizeof(Edge), &rings));
  PetscCall(PetscMalloc1(12 * (size_t)domain->nbox, &edge));
  for (int64_t i = 0; i < 12 * (int64_t)domain->nbox; i++) {
    const int64_t corner = (i / 12) << 3 | LowerEnd((int)(i / 4 % 3), (int)(i % 4));
    const int     d = (int)(i / 4 % 3);
    const int32_t v[2] = {domain->trees->corner[corner], domain->trees->corner[corner | 1 << d]};
    uint64_t      key = (uint64_t)PetscMin(v[0], v[1]) << 32 | (uint64_t)PetscMax(v[0], v[1]);
    Edge         *ring;

    PetscCall(VpDictionaryAdd(&rings, &key, &none, &edge[i]));
    ring = (Edge *)rings.item + edge[i];
    ring->trees++;
    for (int e = 0; e < 3; e++) {
      if (e != d && VpBoxBeyond(domain, (int32_t)(i / 12), 2 * e + (int)(corner >> e & 1)) < 0) ring->boundary = PETSC_TRUE;
    }
  }
  for (int64_t i = 0; i < 12 * (int64_t)domain->nbox; i++) {
    const Edge *ring = (Edge *)rings.item + edge[i];

    if (ring->trees == 4 && !ring->boundary) domain->trees->regular[i / 12].edges |= (uint16_t)(1 << i % 12);
  }
  PetscCall(PetscFree(edge));
  PetscCall(VpDictionaryDestroy(&rings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDomainFindRegular(VpDomain domain)
{
  Around    a;
  PetscBool boundary;

  PetscFunctionBegin;
  if (domain->trees->regular) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(domain->nbox, &domain->trees->regular));
  PetscCall(AroundCreate(domain, &a));
  for (int32_t v = 0; v < a.n; v++) {
    if (!IsRegularAt(domain, &a, v, &boundary) || boundary) continue;
    for (int64_t i = a.start[v]; i < a.start[v + 1]; i++)
      domain->trees->regular[a.corner[i] >> domain->dim].corners |= (uint8_t)(1 << (a.corner[i] & ((1 << domain->dim) - 1)));
  }
  PetscCall(AroundDestroy(&a));
  if (domain->dim == 3) PetscCall(FindRegularEdges(domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}
