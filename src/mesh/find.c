/* The cells around points in physical space. Own cells are the leaves of a binary tree, in the order of the curve. Every node has the
   bounds of the cells below it. */
#include "internal.h"

#define ROUNDED 1e-10 /* of a cell: as far outside of it a point lies by rounding */
#define CLOSE   1e-2  /* the same of a point on a curved boundary that the cells approximate */

typedef struct {
  double lower[3], upper[3];
} Bounds;

typedef struct {
  VpMesh  mesh;
  int32_t leaves; /* a power of 2, at least the number of own cells */
  Bounds *node;   /* [2 leaves] the root is 1, and the children of i are 2 i and 2 i + 1; cell c is `leaves` + c */
} Tree;

static Bounds NoBounds(void)
{
  return (Bounds){{PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL}, {PETSC_MIN_REAL, PETSC_MIN_REAL, PETSC_MIN_REAL}};
}

static PetscBool AreIn(int dim, const Bounds *b, const double x[])
{
  PetscBool in = PETSC_TRUE;

  for (int d = 0; d < dim; d++) in = (PetscBool)(in && x[d] >= b->lower[d] && x[d] <= b->upper[d]);
  return in;
}

/* bounds of a cell, with a margin because the polynomials reach farther than the nodes */
static Bounds BoundsOfCell(VpMap map, int32_t cell)
{
  double most = 0;
  Bounds b = NoBounds();

  VpMapBounds(map, cell, b.lower, b.upper);
  for (int d = 0; d < map->dim; d++) most = PetscMax(most, b.upper[d] - b.lower[d]);
  for (int d = 0; d < map->dim; d++) {
    const double margin = (b.upper[d] - b.lower[d]) / 5 + most / 50;

    b.lower[d] -= margin;
    b.upper[d] += margin;
  }
  return b;
}

static PetscErrorCode TreeCreate(VpMesh mesh, Tree *t)
{
  PetscFunctionBegin;
  *t = (Tree){.mesh = mesh, .leaves = 1};
  while (t->leaves < mesh->nown) t->leaves *= 2;
  PetscCall(PetscMalloc1(2 * (size_t)t->leaves, &t->node));
  for (int32_t c = 0; c < t->leaves; c++) t->node[t->leaves + c] = c < mesh->nown ? BoundsOfCell(mesh->geometry->map, c) : NoBounds();
  for (int32_t i = t->leaves - 1; i > 0; i--) {
    t->node[i] = t->node[2 * i];
    for (int d = 0; d < mesh->dim; d++) {
      t->node[i].lower[d] = PetscMin(t->node[i].lower[d], t->node[2 * i + 1].lower[d]);
      t->node[i].upper[d] = PetscMax(t->node[i].upper[d], t->node[2 * i + 1].upper[d]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a point, and how far outside of a cell it may lie */
typedef struct {
  double x[3], slack;
} Asked;

/* the own cell from which the point is least far away, if that is not too far, or -1 */
static PetscInt FindCell(const void *context, const void *question)
{
  const Tree  *t = (const Tree *)context;
  const Asked *a = (const Asked *)question;
  double       least = a->slack, xi[3];
  int32_t      stack[64], depth = 1, found = -1;

  stack[0] = 1;
  while (depth) {
    const int32_t i = stack[--depth];

    if (!AreIn(t->mesh->dim, &t->node[i], a->x)) continue;
    if (i < t->leaves) {
      stack[depth++] = 2 * i + 1;
      stack[depth++] = 2 * i;
    } else {
      const double outside = VpMapInvert(t->mesh->geometry->map, i - t->leaves, a->x, xi);

      if (outside <= least) found = i - t->leaves;
      least = PetscMin(least, outside);
      if (least <= ROUNDED) break;
    }
  }
  return found;
}

/* The points that are not found yet, with the next rank that each may be on. */
typedef struct {
  VpMesh        mesh;
  PetscInt      n;
  const double *x;
  Bounds       *rank;  /* [size] where the cells of ranks are */
  PetscMPIInt  *next;  /* [n] */
  PetscInt     *which; /* [questions] the points */
  Asked        *asked;
  PetscSFNode  *to;
} Rounds;

/* the number of points that may be on a rank that was not asked */
static PetscInt ListQuestions(Rounds *r, const PetscSFNode at[], double slack)
{
  const int dim = r->mesh->dim;
  PetscInt  n = 0;

  for (PetscInt i = 0; i < r->n; i++) {
    const double *x = r->x + i * dim;

    if (at[i].index >= 0) continue;
    while (r->next[i] < r->mesh->size && !AreIn(dim, &r->rank[r->next[i]], x)) r->next[i]++;
    if (r->next[i] == r->mesh->size) continue;
    r->which[n] = i;
    r->asked[n] = (Asked){{x[0], x[1], dim == 3 ? x[2] : 0}, slack};
    r->to[n++] = (PetscSFNode){.rank = r->next[i]++, .index = 0};
  }
  return n;
}

/* Asks the ranks that a point may be on, one after the other. */
static PetscErrorCode AskAll(Rounds *r, const Tree *t, double slack, PetscSFNode at[])
{
  PetscInt n, most;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(r->next, r->n));
  do {
    most = n = ListQuestions(r, at, slack);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, r->mesh->comm));
    if (most) PetscCall(VpAskRanks(r->mesh->comm, &(VpQuestions){n, sizeof(Asked), r->asked, r->to}, FindCell, t));
    for (PetscInt k = 0; k < n; k++) at[r->which[k]] = r->to[k];
  } while (most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshFind(VpMesh mesh, PetscInt n, const PetscReal x[], PetscSFNode at[], PetscInt *outside)
{
  Tree   t;
  Rounds r = {.mesh = mesh, .n = n, .x = x};

  PetscFunctionBegin;
  if (!mesh->geometry->map) {
    PetscCall(VpMeshLocate(mesh, n, x, at, outside));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TreeCreate(mesh, &t));
  PetscCall(PetscMalloc5(mesh->size, &r.rank, n, &r.next, n, &r.which, n, &r.asked, n, &r.to));
  PetscCallMPI(MPI_Allgather(&t.node[1], 6, MPI_DOUBLE, r.rank, 6, MPI_DOUBLE, mesh->comm));
  for (PetscInt i = 0; i < n; i++) at[i].index = -1;
  PetscCall(AskAll(&r, &t, ROUNDED, at));
  PetscCall(AskAll(&r, &t, CLOSE, at));
  for (*outside = 0; *outside < n && at[*outside].index >= 0; ++*outside) continue;
  PetscCall(PetscFree5(r.rank, r.next, r.which, r.asked, r.to));
  PetscCall(PetscFree(t.node));
  PetscFunctionReturn(PETSC_SUCCESS);
}
