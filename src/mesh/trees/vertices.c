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

PetscErrorCode VpDomainCountVertices(VpDomain domain, VpTreeVertices *count)
{
  Around a;

  PetscFunctionBegin;
  *count = (VpTreeVertices){.n = 0};
  PetscCall(AroundCreate(domain, &a));
  for (int32_t v = 0; v < a.n; v++) {
    const int64_t cells = a.start[v + 1] - a.start[v], *corner = a.corner + a.start[v];
    PetscBool     boundary = PETSC_FALSE;
    Edges         e = {.n = 0};

    if (!cells) continue;
    for (int64_t c = 0; c < cells; c++) boundary = (PetscBool)(boundary || IsOnBoundary(domain, corner[c]));
    if (cells <= VP_MOST_VALENCE) FindEdges(domain, (int)cells, corner, &e);
    count->n++;
    if (IsRegular(domain->dim, boundary, cells, &e)) count->regular++;
    else if (boundary) count->boundary++;
    else count->inside[PetscMin(cells, VP_MOST_VALENCE)]++;
  }
  PetscCall(PetscFree(a.start));
  PetscCall(PetscFree(a.corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}
