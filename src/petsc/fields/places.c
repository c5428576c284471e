/* Batches of places: lists the cells or sides of a set once, then passes them to the work in pieces. */
#include "places.h"
#include "../../base/progress.h"
#include "../../base/threads.h"
#include <stdatomic.h>
#include <stdlib.h>

/* points of a batch; most lanes, of which a batch is a multiple; places between two lines of progress */
enum { POINTS = 2048, LANES = 8, SLAB = 1 << 16 };

PetscErrorCode VpFieldPlacesDestroy(struct VpFieldPlaces_ **geometry)
{
  PetscFunctionBegin;
  if (!*geometry) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpArraysRelease(&(*geometry)->arrays));
  for (int i = 0; i < 6 * VP_GIVEN_KINDS; i++) PetscCall(PetscFree((*geometry)->cell[i / 6][i % 6]));
  PetscCall(PetscFree(*geometry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceBounds(VpMesh mesh, VpArrays *arrays, const int32_t list[], VpPlaces *places)
{
  const int32_t n = places->n;
  double       *bounds;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(6 * (size_t)n, &bounds));
  VpGeometryAllBounds(mesh->geometry, n, list, bounds);
  PetscCall(VpArraysPlace(arrays, bounds, 6 * (size_t)n * sizeof(double), "places of points", (const void **)&places->bounds));
  if (list) PetscCall(VpArraysPlace(arrays, list, (size_t)n * sizeof(*list), "places of points", (const void **)&places->list));
  PetscCall(PetscFree(bounds));
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
      VpPlaces *sides = &g->sides[k][side];

      PetscCall(VpMeshListEnds(mesh, (VpGivenKind)k, side, &sides->n, &g->cell[k][side]));
      for (int32_t i = 0; i < sides->n; i++) g->cell[k][side][i] /= 2 * mesh->dim;
      if (VpIsDevice(backend) && sides->n) PetscCall(PlaceBounds(mesh, &g->arrays, g->cell[k][side], sides));
    }
  }
  g->cells.n = mesh->nown;
  if (VpIsDevice(backend)) PetscCall(PlaceBounds(mesh, &g->arrays, NULL, &g->cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpFieldGet(DM dm, VpField *field)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBegin;
  *field = (VpField){.dm = dm, .mesh = dg->mesh};
  PetscCall(DMVPatchDGGetLevel(dm, &field->level));
  field->basis = &field->level->basis;
  PetscCall(DMVPatchDGGetNodes(dm, field->level->backend, &field->nodes));
  if (dg->places && dg->places->arrays.backend != field->level->backend) PetscCall(VpFieldPlacesDestroy(&dg->places));
  if (!dg->places) PetscCall(VpTogether(dg->mesh->comm, PlacesCreate(dg->mesh, field->level->backend, &dg->places)));
  field->places = dg->places;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const VpPlaces *PlacesOf(const VpField *field, VpSet set)
{
  return set.given == VP_GIVEN_SOURCE ? &field->places->cells : &field->places->sides[set.given][set.side];
}

int32_t VpFieldCount(const VpField *field, VpSet set)
{
  return PlacesOf(field, set)->n;
}

static const int32_t *ListOf(const VpField *field, VpSet set)
{
  return set.given == VP_GIVEN_SOURCE ? NULL : field->places->cell[set.given][set.side];
}

int32_t VpHostBatch(const VpGrid *grid)
{
  return PetscMax(1, POINTS / VpGridSize(grid) / LANES) * LANES;
}

int32_t VpFieldBatch(const VpField *field, const VpGrid *grid, VpSet set)
{
  return VpIsDevice(field->level->backend) ? PetscMax(1, VpFieldCount(field, set)) : VpHostBatch(grid);
}

static PetscBool HasWeights(const VpField *field, const VpPlacesLoop *loop)
{
  return (PetscBool)(loop->weighted && field->level->problem.coefficient);
}

/* the places [first, last) of a loop on the host, after which it may report progress */
typedef struct {
  const VpField      *field;
  const VpPlacesLoop *loop;
  int32_t             first, last;
  VpMapping           mapping;
  _Atomic int         error;
} Slab;

/* numbers: 7 for each place, and VpMapScratch() more */
static void WorkOnBatch(Slab *s, int32_t at, double numbers[], double scratch[])
{
  const VpPlacesLoop *loop = s->loop;
  const int32_t      *list = ListOf(s->field, loop->set);
  double             *bounds = numbers, *weight = numbers + 6 * (size_t)loop->batch;
  VpPlaces            places = {.n = PetscMin(loop->batch, s->last - at), .first = at, .list = list ? list + at : NULL, .bounds = bounds};
  int                 error;

  if (HasWeights(s->field, loop)) places.weight = weight;
  for (int32_t i = 0; i < places.n; i++) {
    const int32_t cell = VpPlaceCell(&places, i);

    VpGeometryBounds(s->field->mesh->geometry, cell, bounds + 6 * i, bounds + 6 * i + 3);
    if (places.weight) weight[i] = VpProblemCoefficient(&s->field->level->problem, cell, loop->set.side / 2);
  }
  error = (int)VpMapPlaces(s->field, loop, &s->mapping, &places, weight + loop->batch);
  if (!error) error = (int)loop->work(loop->context, &places, scratch);
  if (error) s->error = error;
}

static void WorkOnBatches(void *context, int32_t piece, int32_t begin, int32_t end)
{
  Slab        *s = (Slab *)context;
  const size_t own = s->loop->scratch, size = own + 7 * (size_t)s->loop->batch + VpMapScratch(s->field, s->loop, s->loop->batch);
  double      *scratch = (double *)malloc(size * sizeof(double));

  if (!scratch) s->error = PETSC_ERR_MEM;
  for (int32_t i = begin; i < end && !s->error; i++) WorkOnBatch(s, s->first + i * s->loop->batch, scratch + own, scratch);
  free(scratch);
}

PetscErrorCode VpOnHost(const VpField *field, const VpPlacesLoop *loop)
{
  const int32_t batch = loop->batch;
  const VpMap   map = field->mesh->geometry->map;
  VpMapGrid     grid;
  Slab          s = {.field = field, .loop = loop, .mapping = {.make = VpBackendHost.make, .grid = &grid}};

  PetscFunctionBegin;
  if (map && loop->grid) {
    PetscCall(VpMapPlace(map, &VpBackendHost, &s.mapping.maps));
    VpMapGridOf(field, loop->grid, &grid);
  }
  for (s.first = loop->first; s.first < loop->last; s.first = s.last) {
    int32_t batches;

    s.last = PetscMin(loop->last, s.first + PetscMax(batch, SLAB / batch * batch));
    batches = (s.last - s.first + batch - 1) / batch;
    PetscCall(VpProgress("functions at points", s.first, loop->last));
    if (loop->threads) VpLoopHeavy(batches, WorkOnBatches, &s);
    else WorkOnBatches(&s, 0, 0, batches);
    PetscCall((PetscErrorCode)s.error);
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

/* what a device needs where cells are mapped, for a number of places at a time */
typedef struct {
  VpMapping mapping;
  void     *grid, *scratch;
} DeviceMaps;

static PetscErrorCode BorrowMaps(const VpField *field, const VpPlacesLoop *loop, int32_t batch, DeviceMaps *m)
{
  const VpBackend *backend = field->level->backend;
  VpMapGrid        grid;

  PetscFunctionBegin;
  VpMapGridOf(field, loop->grid, &grid);
  PetscCall(backend->borrow(sizeof(grid), "points", &m->grid));
  PetscCall(backend->upload(&grid, sizeof(grid), m->grid));
  PetscCall(backend->borrow(VpMapScratch(field, loop, batch) * sizeof(double), "points", &m->scratch));
  m->mapping = (VpMapping){.make = backend->make, .grid = m->grid};
  PetscCall(VpMapPlace(field->mesh->geometry->map, backend, &m->mapping.maps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { DEVICE_POINTS = 1 << 20 }; /* at a time, where a point has many numbers */

static PetscErrorCode WorkOnDevice(const VpField *field, const VpPlacesLoop *loop)
{
  const VpBackend *backend = field->level->backend;
  const VpPlaces  *all = PlacesOf(field, loop->set);
  const PetscBool  mapped = VpHasNeeds(field, loop);
  const int32_t    batch = mapped ? PetscMax(1, PetscMin(loop->batch, DEVICE_POINTS / VpGridSize(loop->grid))) : loop->batch;
  void            *weight = NULL, *scratch = NULL;
  DeviceMaps       maps = {.grid = NULL};

  PetscFunctionBegin;
  if (loop->first >= loop->last) PetscFunctionReturn(PETSC_SUCCESS);
  if (HasWeights(field, loop)) PetscCall(BorrowWeights(field, loop->set, &weight));
  if (loop->scratch) PetscCall(backend->borrow(loop->scratch * sizeof(double), "functions at points", &scratch));
  if (mapped) PetscCall(BorrowMaps(field, loop, batch, &maps));
  for (int32_t at = loop->first; at < loop->last; at += batch) {
    VpPlaces places = {.n = PetscMin(batch, loop->last - at),
                       .first = at,
                       .list = all->list ? all->list + at : NULL,
                       .bounds = all->bounds + 6 * (size_t)at,
                       .weight = weight ? (const double *)weight + at : NULL};

    PetscCall(VpMapPlaces(field, loop, &maps.mapping, &places, (double *)maps.scratch));
    PetscCall(loop->work(loop->context, &places, (double *)scratch));
  }
  if (maps.grid) PetscCall(backend->give_back(maps.grid));
  if (maps.scratch) PetscCall(backend->give_back(maps.scratch));
  if (scratch) PetscCall(backend->give_back(scratch));
  if (weight) PetscCall(backend->give_back(weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOnBackend(const VpField *field, const VpPlacesLoop *loop)
{
  return VpIsDevice(field->level->backend) ? WorkOnDevice(field, loop) : VpOnHost(field, loop);
}
