/* Finds trees that touch without a face in common: a vertex of one lies inside of a straight edge of another one, both on the
   boundary.

     +-----+--+     The middle vertex on the left tree's side belongs to the right ones alone. The sides are no faces of two
     |     +--+     trees, so they would become parts of the boundary, with its conditions.
     +-----+--+ */
#include "internal.h"

#define INSIDE 1e-8 /* distance from an edge, and from its ends, divided by its length */

typedef struct {
  double vertex, x[3];
} Vertex;

typedef struct {
  int            dim;
  VpDomain       domain;
  const int32_t *corner;       /* [trees][2^dim] */
  int32_t        first, trees; /* whose nodes this rank has */
  double        *x;            /* [trees][2^dim][dim] their corners */
  uint32_t      *bent;         /* [trees] bit 8 d + a: the edge along d from corner a is not straight */
  PetscInt       n;            /* of the following: vertices on the boundary, some of them more than once */
  Vertex        *vertex;
  PetscReal     *along[3]; /* [n] the coordinates in ascending order, and whose they are */
  PetscInt      *order[3];
} Search;

typedef struct {
  double tree, vertex, end[2], x[3]; /* x: where the vertex is */
} Fault;

static PetscBool IsBoundary(VpDomain domain, int32_t tree, int side)
{
  return (PetscBool)(domain->beyond[(int64_t)tree * 2 * domain->dim + side] < 0);
}

/* the first corner of edge i % 2^(dim-1) of those that a side has along direction d, which is not the side's */
static int EdgeStart(int dim, int side, int d, int i)
{
  int corner = (side & 1) << side / 2;

  for (int e = 0; e < dim; e++) {
    if (e != d && e != side / 2) corner |= i << e;
  }
  return corner;
}

/* whether a point lies inside of the edge from a to b */
static PetscBool IsInside(int dim, const double a[], const double b[], const double x[])
{
  double length = 0, at = 0, apart = 0;

  for (int d = 0; d < dim; d++) {
    length += (b[d] - a[d]) * (b[d] - a[d]);
    at += (x[d] - a[d]) * (b[d] - a[d]);
  }
  at /= length;
  for (int d = 0; d < dim; d++) apart += PetscSqr(x[d] - a[d] - at * (b[d] - a[d]));
  return (PetscBool)(at > INSIDE && at < 1 - INSIDE && apart < INSIDE * INSIDE * length);
}

/* the number of a tree's node at a corner, of n nodes along each direction */
static int CornerNode(int n, int corner)
{
  return (n - 1) * ((corner & 1) + n * ((corner >> 1 & 1) + n * (corner >> 2)));
}

/* bit 8 d + a: the edge along d from corner a of a tree with these nodes is not straight */
static uint32_t FindBent(int dim, int n, const PetscReal node[])
{
  const int stride[3] = {1, n, n * n};
  uint32_t  bent = 0;

  for (int i = 0; i < dim << dim; i++) {
    const int        d = i >> dim, a = i & ((1 << dim) - 1);
    const PetscReal *x = node + CornerNode(n, a) * dim, *end = x + (n - 1) * stride[d] * dim;

    for (int k = 1; k < n - 1 && !(a >> d & 1); k++) {
      if (!IsInside(dim, x, end, x + k * stride[d] * dim)) bent |= (uint32_t)1 << (8 * d + a);
    }
  }
  return bent;
}

/* Copies the corners of trees from the nodes, of which each rank has some trees'. */
static PetscErrorCode TakeCorners(const VpMapSettings *map, Search *s)
{
  const int        dim = s->dim, n = map->order + 1, each = VpMapNodes(dim, map->order) * dim;
  const PetscReal *node;
  PetscInt         first, last;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(map->nodes, &first, &last));
  s->first = (int32_t)(first / each);
  s->trees = (int32_t)((last - first) / each);
  PetscCall(PetscMalloc1(((size_t)s->trees << dim) * (size_t)dim, &s->x));
  PetscCall(PetscMalloc1(s->trees, &s->bent));
  PetscCall(VecGetArrayRead(map->nodes, &node));
  for (int32_t i = 0; i < s->trees; i++) s->bent[i] = FindBent(dim, n, node + (size_t)i * (size_t)each);
  for (int64_t i = 0; i < (int64_t)s->trees << dim; i++) {
    const int at = CornerNode(n, (int)(i & ((1 << dim) - 1)));

    for (int d = 0; d < dim; d++) s->x[i * dim + d] = node[(i >> dim) * each + at * dim + d];
  }
  PetscCall(VecRestoreArrayRead(map->nodes, &node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the vertices on the boundary, and sorts them along each direction. */
static PetscErrorCode GatherVertices(MPI_Comm comm, Search *s)
{
  const int dim = s->dim;
  PetscInt  n = 0;
  Vertex   *mine;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)s->trees << dim, &mine));
  for (int64_t i = 0; i < (int64_t)s->trees << dim; i++) {
    const int32_t tree = s->first + (int32_t)(i >> dim);
    PetscBool     boundary = PETSC_FALSE;

    for (int d = 0; d < dim; d++) boundary = (PetscBool)(boundary || IsBoundary(s->domain, tree, 2 * d + (int)(i >> d & 1)));
    if (!boundary) continue;
    mine[n] = (Vertex){.vertex = s->corner[((int64_t)s->first << dim) + i]};
    for (int d = 0; d < dim; d++) mine[n].x[d] = s->x[i * dim + d];
    n++;
  }
  PetscCall(VpGatherAll(comm, n, sizeof(Vertex), mine, &s->n, &s->vertex));
  PetscCall(PetscFree(mine));
  for (int d = 0; d < dim; d++) {
    PetscCall(PetscMalloc2(s->n, &s->along[d], s->n, &s->order[d]));
    for (PetscInt i = 0; i < s->n; i++) {
      s->along[d][i] = s->vertex[i].x[d];
      s->order[d][i] = i;
    }
    if (s->n) PetscCall(PetscSortRealWithArrayInt(s->n, s->along[d], s->order[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the number of coordinates in ascending order that are less than x */
static PetscInt CountBelow(PetscInt n, const PetscReal along[], PetscReal x)
{
  PetscInt below = -1, high = n;

  VP_BISECT(below, high, middle, along[middle] < x);
  return below + 1;
}

/* a vertex inside of the edge from a to b, or -1 */
static PetscInt FindInside(const Search *s, const double a[], const double b[])
{
  double   size = 0;
  PetscInt first = 0, last = s->n;
  int      by = 0;

  for (int d = 0; d < s->dim; d++) size = PetscMax(size, fabs(b[d] - a[d]));
  for (int d = 0; d < s->dim; d++) { /* the direction in which the fewest vertices come into question */
    const PetscInt low = CountBelow(s->n, s->along[d], PetscMin(a[d], b[d]) - INSIDE * size);
    const PetscInt high = CountBelow(s->n, s->along[d], PetscMax(a[d], b[d]) + INSIDE * size);

    if (high - low >= last - first) continue;
    first = low;
    last = high;
    by = d;
  }
  for (PetscInt i = first; i < last; i++) {
    if (IsInside(s->dim, a, b, s->vertex[s->order[by][i]].x)) return s->order[by][i];
  }
  return -1;
}

/* fills a fault of an own tree; false if there is none */
static PetscBool FindFault(const Search *s, int32_t tree, Fault *fault)
{
  const int      dim = s->dim;
  const int32_t *corner = s->corner + ((int64_t)(s->first + tree) << dim);
  const double  *x = s->x + ((int64_t)tree << dim) * dim;

  for (int side = 0; side < 2 * dim; side++) {
    if (!IsBoundary(s->domain, s->first + tree, side)) continue;
    for (int i = 0; i < dim * (1 << (dim - 2)); i++) {
      const int      d = i >> (dim - 2), a = EdgeStart(dim, side, d, i & ((1 << (dim - 2)) - 1)), b = a | 1 << d;
      const PetscInt found = d == side / 2 || s->bent[tree] >> (8 * d + a) & 1 ? -1 : FindInside(s, x + a * dim, x + b * dim);

      if (found < 0) continue;
      *fault = (Fault){s->first + tree, s->vertex[found].vertex, {corner[a], corner[b]}, {0, 0, 0}};
      for (int e = 0; e < dim; e++) fault->x[e] = s->vertex[found].x[e];
      return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

PetscErrorCode DMVPatchDGCheckConforming(DM dm, VpDomain domain)
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)dm);
  const DM_VPatchDG *dg = dm->data;
  Search             s = {.dim = domain->dim, .domain = domain, .corner = domain->trees->corner};
  Fault              fault = {0};
  PetscBool          any = PETSC_FALSE;
  PetscMPIInt        first;
  char               at[64];

  PetscFunctionBegin;
  PetscCall(TakeCorners(&dg->map, &s));
  PetscCall(GatherVertices(comm, &s));
  for (int32_t tree = 0; tree < s.trees && !any; tree++) any = FindFault(&s, tree, &fault);
  for (int d = 0; d < s.dim; d++) PetscCall(PetscFree2(s.along[d], s.order[d]));
  PetscCall(PetscFree(s.x));
  PetscCall(PetscFree(s.bent));
  PetscCall(PetscFree(s.vertex));
  PetscCall(VpFirstRank(comm, any, &first));
  if (first == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&fault, sizeof(fault) / sizeof(double), MPI_DOUBLE, first, comm));
  PetscCall(PetscSNPrintf(at, sizeof(at), s.dim == 3 ? "(%g, %g, %g)" : "(%g, %g)", fault.x[0], fault.x[1], fault.x[2]));
  SETERRQ(
    comm, PETSC_ERR_ARG_INCOMP,
    "Trees do not conform: vertex %.0f at %s lies inside of an edge of tree %.0f, between its vertices %.0f and %.0f. Trees that touch "
    "need whole faces in common: divide this tree, or refine its neighbours less",
    fault.vertex, at, fault.tree, fault.end[0], fault.end[1]);
}
