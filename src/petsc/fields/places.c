/* Batches of places: lists the cells or sides of a set once, then passes them to the work in pieces. */
#include "places.h"
#include "../../base/progress.h"
#include "../../base/threads.h"
#include <stdatomic.h>
#include <stdlib.h>

enum {
  POINTS = 2048,
  GROUP = 8,
  SLAB = 1 << 16
}; /* points of a batch; a batch consists of groups of GROUP cells; places between two lines of progress */

PetscErrorCode VpFieldPlacesDestroy(struct VpFieldPlaces_ **geometry)
{
  PetscFunctionBegin;
  if (!*geometry) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpArraysRelease(&(*geometry)->arrays));
  for (int i = 0; i < 6 * VP_GIVEN_KINDS; i++) PetscCall(PetscFree((*geometry)->cell[i / 6][i % 6]));
  PetscCall(PetscFree(*geometry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static VpGivenKind GivenAt(VpMesh mesh, int32_t cell, int side)
{
  return VpConditions[VpDomainSide(mesh->geometry->domain, mesh->neighbor[(size_t)cell * 2 * mesh->dim + side])].given;
}

/* Lists the cells of a set of sides. */
static PetscErrorCode FindSides(VpMesh mesh, VpSet set, int32_t *count, int32_t **cell)
{
  PetscFunctionBegin;
  *count = 0;
  for (int32_t c = 0; c < mesh->nown; c++) *count += GivenAt(mesh, c, set.side) == set.given;
  PetscCall(PetscMalloc1(*count, cell));
  for (int32_t c = 0, i = 0; i < *count; c++) {
    if (GivenAt(mesh, c, set.side) == set.given) (*cell)[i++] = c;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  VpMesh         mesh;
  const int32_t *list;
  double        *bounds;
} Bounds;

static void FindBounds(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Bounds *b = (const Bounds *)context;

  for (int32_t i = first; i < last; i++)
    VpGeometryBounds(b->mesh->geometry, b->list ? b->list[i] : i, b->bounds + 6 * (size_t)i, b->bounds + 6 * (size_t)i + 3);
}

static PetscErrorCode PlaceBounds(VpMesh mesh, VpArrays *arrays, int32_t n, const int32_t list[], VpPlaces *places)
{
  Bounds bounds = {.mesh = mesh, .list = list};

  PetscFunctionBegin;
  places->n = n;
  PetscCall(PetscMalloc1(6 * (size_t)n, &bounds.bounds));
  VpLoop(n, FindBounds, &bounds);
  PetscCall(VpArraysPlace(arrays, bounds.bounds, 6 * (size_t)n * sizeof(double), "places of points", (const void **)&places->bounds));
  if (list) PetscCall(VpArraysPlace(arrays, list, (size_t)n * sizeof(*list), "places of points", (const void **)&places->list));
  PetscCall(PetscFree(bounds.bounds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlacesCreate(VpMesh mesh, const VpBackend *backend, struct VpFieldPlaces_ **out)
{
  struct VpFieldPlaces_ *g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  *out = g;
  g->arrays = (VpArrays){.backend = backend, .precision = VP_DOUBLE};
  for (int k = VP_GIVEN_VALUE; k < VP_GIVEN_KINDS; k++) {
    for (int side = 0; side < 2 * mesh->dim; side++) {
      PetscCall(FindSides(mesh, (VpSet){(VpGivenKind)k, side}, &g->n[k][side], &g->cell[k][side]));
      if (VpIsDevice(backend) && g->n[k][side])
        PetscCall(PlaceBounds(mesh, &g->arrays, g->n[k][side], g->cell[k][side], &g->sides[k][side]));
    }
  }
  if (VpIsDevice(backend)) PetscCall(PlaceBounds(mesh, &g->arrays, mesh->nown, NULL, &g->cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpFieldGet(DM dm, VpField *field)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBegin;
  *field = (VpField){.dm = dm, .mesh = dg->mesh};
  PetscCall(DMVPatchDGGetLevel(dm, &field->level));
  field->basis = &field->level->basis;
  if (dg->places && dg->places->arrays.backend != field->level->backend) PetscCall(VpFieldPlacesDestroy(&dg->places));
  if (!dg->places) PetscCall(VpTogether(dg->mesh->comm, PlacesCreate(dg->mesh, field->level->backend, &dg->places)));
  field->places = dg->places;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int32_t VpFieldCount(const VpField *field, VpSet set)
{
  return set.given == VP_GIVEN_SOURCE ? field->mesh->nown : field->places->n[set.given][set.side];
}

static const int32_t *ListOf(const VpField *field, VpSet set)
{
  return set.given == VP_GIVEN_SOURCE ? NULL : field->places->cell[set.given][set.side];
}

int32_t VpBatchOf(const VpGrid *grid)
{
  return PetscMax(1, POINTS / VpGridSize(grid) / GROUP) * GROUP;
}

/* the work of VpOnHost() in threads */
typedef struct {
  VpMesh           mesh;
  const int32_t   *list;
  const VpProblem *weight; /* The coefficient of this problem in `direction` is the weight; or NULL. */
  int              direction;
  int32_t          first, last, batch; /* places */
  size_t           room;
  VpWorkOnPlaces   work;
  void            *context;
  _Atomic int      error;
} HostWork;

static void WorkOnBatch(HostWork *w, int32_t at, double bounds[], double weight[], double room[])
{
  const int32_t *list = w->list ? w->list + at : NULL;
  const VpPlaces places = {.n = PetscMin(w->batch, w->last - at), .first = at, .list = list, .bounds = bounds};
  VpPlaces       weighted = places;
  int            error;

  for (int32_t i = 0; i < places.n; i++) {
    const int32_t cell = list ? list[i] : at + i;

    VpGeometryBounds(w->mesh->geometry, cell, bounds + 6 * i, bounds + 6 * i + 3);
    if (w->weight) weight[i] = VpProblemCoefficient(w->weight, cell, w->direction);
  }
  if (w->weight) weighted.weight = weight;
  error = (int)w->work(w->context, &weighted, at, room);
  if (error) w->error = error;
}

static void WorkOnBatches(void *context, int32_t piece, int32_t begin, int32_t end)
{
  HostWork *w = (HostWork *)context;
  double   *room = (double *)malloc((w->room + 7 * (size_t)w->batch) * sizeof(double)), *bounds = room + w->room;

  if (!room) w->error = PETSC_ERR_MEM;
  for (int32_t i = begin; i < end && !w->error; i++) WorkOnBatch(w, w->first + i * w->batch, bounds, bounds + 6 * (size_t)w->batch, room);
  free(room);
}

PetscErrorCode VpOnHost(const VpField *field, VpSet set, int32_t first, int32_t last, int32_t batch, size_t room, PetscBool threads,
                        PetscBool weighted, VpWorkOnPlaces work, void *context)
{
  HostWork w = {.mesh = field->mesh,
                .list = ListOf(field, set),
                .weight = weighted && field->level->problem.coefficient ? &field->level->problem : NULL,
                .direction = set.side / 2,
                .first = first,
                .batch = batch,
                .room = room,
                .work = work,
                .context = context};

  PetscFunctionBegin;
  for (; w.first < last; w.first = w.last) {
    int32_t batches;

    w.last = PetscMin(last, w.first + PetscMax(batch, SLAB / batch * batch));
    batches = (w.last - w.first + batch - 1) / batch;
    PetscCall(VpProgress("functions at points", w.first, last));
    if (threads) VpLoopHeavy(batches, WorkOnBatches, &w);
    else WorkOnBatches(&w, 0, 0, batches);
    PetscCall((PetscErrorCode)w.error);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Borrows device memory for the weights of places. */
static PetscErrorCode BorrowWeights(const VpField *field, VpSet set, void **p)
{
  const int32_t    n = VpFieldCount(field, set), *list = ListOf(field, set);
  const VpBackend *backend = field->level->backend;
  double          *weight;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &weight));
  for (int32_t i = 0; i < n; i++) weight[i] = VpProblemCoefficient(&field->level->problem, list ? list[i] : i, set.side / 2);
  PetscCall(backend->borrow((size_t)n * sizeof(double), "coefficients at the boundary", p));
  PetscCall(backend->upload(weight, (size_t)n * sizeof(double), *p));
  PetscCall(PetscFree(weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOnDevice(const VpField *field, VpSet set, int32_t first, int32_t last, int32_t batch, PetscBool weighted,
                          VpWorkOnPlaces work, void *context)
{
  const struct VpFieldPlaces_ *g = field->places;
  const VpPlaces               all = set.given == VP_GIVEN_SOURCE ? g->cells : g->sides[set.given][set.side];
  void                        *weight = NULL;

  PetscFunctionBegin;
  if (weighted && first < last && field->level->problem.coefficient) PetscCall(BorrowWeights(field, set, &weight));
  for (int32_t at = first; at < last; at += batch) {
    const VpPlaces places = {.n = PetscMin(batch, last - at),
                             .first = at,
                             .list = all.list ? all.list + at : NULL,
                             .bounds = all.bounds + 6 * (size_t)at,
                             .weight = weight ? (const double *)weight + at : NULL};

    PetscCall(work(context, &places, at, NULL));
  }
  if (weight) PetscCall(field->level->backend->give_back(weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOnBackend(const VpField *field, const VpGrid *grid, VpSet set, PetscBool weighted, VpWorkOnPlaces work, void *context)
{
  const int32_t n = VpFieldCount(field, set);

  PetscFunctionBegin;
  if (VpIsDevice(field->level->backend)) PetscCall(VpOnDevice(field, set, 0, n, PetscMax(n, 1), weighted, work, context));
  else PetscCall(VpOnHost(field, set, 0, n, VpBatchOf(grid), 0, PETSC_TRUE, weighted, work, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}
