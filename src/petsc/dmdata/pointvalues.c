/* The values of coefficient and reaction at the points of a DM's cells and sides, from the user's functions. */
#include "dmdata.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <stdatomic.h>

#define INSIDE 1e-9 /* Points of a side are moved by this fraction of the cell towards its centre, where a jump on the side is decided. */

typedef struct {
  VpGeometry             geometry;
  const VpPointFunction *function;
  int                    dim, n, side; /* side -1: the points are those of the cells */
  int32_t                before;       /* number of cells before those of `values` */
  size_t                 stride;       /* values of a cell */
  double                *values;
  VpMapGrid              grid;
  _Atomic int            error;
} Calls;

/* half: -1, or the number of the fine side whose points a coarse one has */
static void SetPoints(Calls *c, int side, int half)
{
  const double end = side % 2 ? 1 - INSIDE : INSIDE, *x[3];
  double       gauss[VP_MAX_N], w[VP_MAX_N], part[2][VP_MAX_N];
  int          count[3], bit = 0;

  VpGauss(c->n, gauss, w);
  for (int q = 0; q < 2 * c->n; q++) part[q / c->n][q % c->n] = (gauss[q % c->n] + q / c->n) / 2;
  for (int d = 0; d < 3; d++) {
    count[d] = d >= c->dim || (side >= 0 && d == side / 2) ? 1 : c->n;
    x[d] = count[d] > 1 ? gauss : &end;
    if (half >= 0 && count[d] > 1) x[d] = part[half >> bit++ & 1];
  }
  c->side = side;
  VpMapGridSet(c->geometry->map, count, x, &c->grid);
}

static void CallCell(Calls *c, int32_t cell, double values[])
{
  double x[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N];
  int    error;

  if (c->error) return;
  VpGeometryEvaluateGrid(c->geometry, cell, &c->grid, x, NULL);
  error = (int)c->function->batch(c->dim, c->grid.size, x, NULL, values, c->function->ctx);
  if (error) c->error = error;
}

/* Sets the values of the next n cells. */
static void CallSome(DM dm, PetscBool sides, int32_t n, Calls *c)
{
  const int    face = VpFaceSize(c->n, c->dim), components = c->function->components;
  const size_t stride = c->stride * (size_t)components;

  for (int side = sides ? 0 : -1; side < (sides ? 2 * c->dim : 0); side++) {
    double *values = c->values + (sides ? side * face * components : 0);

    SetPoints(c, side, -1);
    if (DMVPatchDGData(dm)->serial)
      for (int32_t cell = 0; cell < n; cell++) CallCell(c, c->before + cell, values + (size_t)cell * stride);
    else
      VP_LOOP_HEAVY (cell, n) CallCell(c, c->before + cell, values + (size_t)cell * stride);
  }
}

enum { BATCH = 8 << 20 }; /* bytes of values that go to a device at once */

/* The same for all cells, in device memory. block: bytes of a cell's values */
static PetscErrorCode CallAndUpload(DM dm, PetscBool sides, const VpBackend *backend, size_t block, Calls *c, char *to)
{
  const int32_t nown = DMVPatchDGData(dm)->mesh->nown, batch = PetscMax(1, (int32_t)(BATCH / block));

  PetscFunctionBegin;
  PetscCall(backend->alloc_host((size_t)batch * block, "coefficient at points", (void **)&c->values));
  for (; c->before < nown && !c->error; c->before += batch) {
    const int32_t n = PetscMin(batch, nown - c->before);

    CallSome(dm, sides, n, c);
    PetscCall(backend->upload(c->values, (size_t)n * block, to + (size_t)c->before * block));
  }
  PetscCall(backend->release_host(c->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { DEVICE_POINTS = 1 << 20 }; /* at a time */

/* what a function of device memory needs, for some cells at a time */
typedef struct {
  VpCellMaps maps;
  int32_t    batch;
  VpArrays   arrays;
  double    *bounds, *points, *values; /* of all cells; for a batch */
  VpMapGrid *grid;                     /* one, or of all sides */
  int32_t   *place;                    /* [grid][batch] numbers of their blocks among those of the batch */
} DeviceCalls;

static PetscErrorCode PlaceCalls(VpMesh mesh, const VpMapGrid grid[], int grids, int components, DeviceCalls *d)
{
  const size_t cells = (size_t)mesh->nown, points = (size_t)d->batch * (size_t)grid->size;
  double      *bounds;
  int32_t     *place;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(6 * cells, &bounds, grids * d->batch, &place));
  VpGeometryAllBounds(mesh->geometry, mesh->nown, NULL, bounds);
  for (int i = 0; i < grids * d->batch; i++) place[i] = i % d->batch * grids + i / d->batch;
  PetscCall(VpPlaceArray(&d->arrays, bounds, 6 * cells, "cells", &d->bounds));
  PetscCall(VpPlaceArray(&d->arrays, place, (size_t)(grids * d->batch), "points", &d->place));
  PetscCall(VpPlaceArray(&d->arrays, grid, (size_t)grids, "points", &d->grid));
  PetscCall(VpArraysReserve(&d->arrays, points * (size_t)mesh->dim * sizeof(double), "points", (void **)&d->points));
  PetscCall(VpArraysReserve(&d->arrays, points * (size_t)components * sizeof(double), "coefficient at points", (void **)&d->values));
  PetscCall(PetscFree2(bounds, place));
  if (mesh->geometry->map) PetscCall(VpMapPlace(mesh->geometry->map, d->arrays.backend, &d->maps));
  d->maps.bounds = d->bounds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to [nown][grids][points][components] = the values of a function of device memory */
static PetscErrorCode CallInBatches(VpMesh mesh, const VpPointFunction *f, const VpMapGrid grid[], int grids, DeviceCalls *d, double *to)
{
  const VpBackend *backend = d->arrays.backend;
  const size_t     block = (size_t)(grid->size * (int)f->components);

  PetscFunctionBegin;
  PetscCall(PlaceCalls(mesh, grid, grids, (int)f->components, d));
  for (int32_t first = 0; first < mesh->nown; first += d->batch) {
    const VpPlaces places = {.n = PetscMin(d->batch, mesh->nown - first), .first = first, .bounds = d->bounds + 6 * (size_t)first};

    for (int i = 0; i < grids; i++) {
      PetscCall(
        backend->make->places(mesh->dim, &d->maps, &places, grids > 1 ? i : -1, d->grid + i, &(VpPlaceNumbers){.point = d->points}));
      PetscCall(f->batch(mesh->dim, places.n * grid->size, d->points, NULL, d->values, f->ctx));
      PetscCall(backend->move(places.n, block * sizeof(double), NULL, d->values, d->place + i * d->batch,
                              to + (size_t)first * (size_t)grids * block));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallOnDevice(DM dm, PetscBool sides, const VpBackend *backend, Calls *c, double *to)
{
  const VpMesh   mesh = DMVPatchDGData(dm)->mesh;
  const int      grids = sides ? 2 * c->dim : 1;
  DeviceCalls    d = {.arrays = {.backend = backend, .precision = VP_DOUBLE}};
  VpMapGrid     *grid;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(grids, &grid));
  for (int i = 0; i < grids; i++) {
    SetPoints(c, sides ? i : -1, -1);
    grid[i] = c->grid;
  }
  d.batch = PetscMax(1, PetscMin(mesh->nown, DEVICE_POINTS / grid->size));
  error = CallInBatches(mesh, c->function, grid, grids, &d, to);
  PetscCall(VpArraysRelease(&d.arrays));
  PetscCall(PetscFree(grid));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values = those of a function at the points of cells, or of their sides, on a backend */
static PetscErrorCode CallFunction(DM dm, const VpPointFunction *f, PetscBool sides, const VpBackend *backend, const double **values)
{
  const VpMesh mesh = DMVPatchDGData(dm)->mesh;
  const int    n = (int)DMVPatchDGData(dm)->degree + 1, face = VpFaceSize(n, mesh->dim);
  Calls        c = {.geometry = mesh->geometry, .function = f, .dim = mesh->dim, .n = n, .stride = (size_t)(sides ? 2 * mesh->dim : n)};
  size_t       block;

  PetscFunctionBegin;
  PetscCheck(!f->on_device || VpIsDevice(backend), mesh->comm, PETSC_ERR_SUP,
             "A coefficient or a reaction with PETSC_MEMTYPE_CUDA is for a DM that works on the GPU, with cells of one level. Give "
             "PETSC_MEMTYPE_HOST, or take -dm_vec_type cuda");
  c.stride *= (size_t)face;
  block = c.stride * (size_t)f->components * sizeof(double);
  if (VpIsDevice(backend)) {
    PetscCall(VpTogether(mesh->comm, backend->alloc((size_t)mesh->nown * block, "coefficient at points", (void **)values)));
    if (f->on_device) PetscCall(VpTogether(mesh->comm, CallOnDevice(dm, sides, backend, &c, (double *)*values)));
    else PetscCall(VpTogether(mesh->comm, CallAndUpload(dm, sides, backend, block, &c, (char *)*values)));
  } else {
    PetscCall(VpMallocBytes((size_t)mesh->nown * block + 1, (void **)&c.values));
    *values = c.values;
    CallSome(dm, sides, mesh->nown, &c);
  }
  PetscCall(VpTogether(mesh->comm, (PetscErrorCode)c.error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *part = VpPointValues.part, from a function, from its values at the points of cells or, if it has no components, from the problem's own
   numbers */
static PetscErrorCode FindParts(DM dm, const VpPointFunction *f, const double cell[], const VpProblem *problem, const double **part)
{
  const VpMesh mesh = DMVPatchDGData(dm)->mesh;
  const int    n = (int)DMVPatchDGData(dm)->degree + 1, width = f->components ? (int)f->components : VpProblemWidth(problem);
  const int    face = VpFaceSize(n, mesh->dim), parts = 1 << (mesh->dim - 1);
  Calls        c = {.geometry = mesh->geometry, .function = f, .dim = mesh->dim, .n = n};
  double      *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)mesh->faces.n * (size_t)(parts * face * width) + 1, &to));
  *part = to;
  for (int32_t i = 0; i < mesh->faces.n * parts && !c.error; i++) {
    const VpFace *at = &mesh->faces.face[i / parts];

    if (at->kind == VP_FACE_FINE) continue;
    SetPoints(&c, at->side, i % parts);
    if (f->values) VpInterpolateValues(mesh->dim, n, width, cell + (size_t)at->cell[0] * (size_t)(n * face * width), &c.grid, to);
    else if (f->components) CallCell(&c, at->cell[0], to);
    for (int k = 0; k < face * width && !f->components; k++) to[k] = VpProblemCoefficient(problem, at->cell[0], k % width);
    to += face * width;
  }
  PetscCall(VpTogether(mesh->comm, (PetscErrorCode)c.error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values = the problem's own numbers of cells */
static PetscErrorCode TakeNumbers(VpMesh mesh, const VpProblem *problem, const double **values)
{
  const size_t    width = (size_t)VpProblemDirections(problem), stride = (size_t)VpProblemWidth(problem);
  const PetscReal one = 1;
  double         *v;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge((size_t)mesh->nown * width + 1, &v));
  VpLoopTake(v, width, problem->coefficient ? problem->coefficient : &one, problem->coefficient ? stride : 0, mesh->nown);
  *values = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const DM_VPatchDG *dg;
  VpPointValues     *values;
  int                points, side_points; /* of a cell, and of all of its sides */
  int                part_points;         /* of the parts of its sides that hang, if it is the coarse cell there */
  double            *part;                /* their values */
  double             weight[VP_MAX_N];
} Jumps;

/* Finds the parts of a cell. *at: the first of its faces, then of the next cell's; cells come in their order. */
static void FindPartsOf(Jumps *j, int32_t cell, int32_t *at)
{
  const VpMesh mesh = j->dg->mesh;

  j->part += j->part_points * j->values->components;
  j->part_points = 0;
  for (; *at < mesh->faces.n && mesh->faces.face[*at].cell[0] == cell; (*at)++)
    j->part_points += mesh->faces.face[*at].kind == VP_FACE_COARSE ? (j->side_points / (2 * mesh->dim)) << (mesh->dim - 1) : 0;
}

/* Gives `count` components of a cell, from number k on, these values. */
static void FlattenCell(const Jumps *j, int32_t cell, int k, int count, const double value[])
{
  const int width = j->values->components;
  double   *a = (double *)j->values->cell + (size_t)cell * (size_t)(j->points * width) + k;
  double   *b = (double *)j->values->side + (size_t)cell * (size_t)(j->side_points * width) + k;

  for (int i = 0; i < j->points; i++) memcpy(a + i * width, value, (size_t)count * sizeof(double));
  for (int i = 0; i < j->side_points; i++) memcpy(b + i * width, value, (size_t)count * sizeof(double));
  for (int i = 0; i < j->part_points; i++) memcpy(j->part + i * width + k, value, (size_t)count * sizeof(double));
}

/* Gives component k of a cell its harmonic mean. */
static void TakeMeanNumber(const Jumps *j, int32_t cell, int k)
{
  const int     width = j->values->components;
  const double *a = j->values->cell + (size_t)cell * (size_t)(j->points * width) + k;
  double        sum = 0;

  for (int i = 0; i < j->points; i++) sum += VpPointWeight(j->dg->mesh->dim, (int)j->dg->degree + 1, j->weight, i) / a[i * width];
  sum = 1 / sum;
  FlattenCell(j, cell, k, 1, &sum);
}

/* Gives a cell the inverse of the mean of the inverses of its matrices. Returns whether they have inverses: VpMetricCreate() refuses
   others. */
static PetscBool TakeMeanMatrix(const Jumps *j, int32_t cell)
{
  const int     dim = j->dg->mesh->dim, width = j->values->components;
  const double *a = j->values->cell + (size_t)cell * (size_t)(j->points * width);
  double        sum[9] = {0}, K[9], inverse[9], mean[6];

  for (int i = 0; i < j->points; i++) {
    if (!VpKIsDefinite(dim, width, a + i * width)) return PETSC_FALSE;
    for (int e = 0; e < dim * dim; e++) K[e] = a[i * width + VpMetricEntry(dim, width, e / dim, e % dim)];
    VpInvert(dim, K, VpDeterminant(dim, K), inverse);
    for (int e = 0; e < dim * dim; e++) sum[e] += VpPointWeight(dim, (int)j->dg->degree + 1, j->weight, i) * inverse[e];
  }
  VpInvert(dim, sum, VpDeterminant(dim, sum), inverse);
  for (int e = 0; e < dim * dim; e++) mean[VpMetricEntry(dim, width, e / dim, e % dim)] = inverse[e];
  FlattenCell(j, cell, 0, width, mean);
  return PETSC_TRUE;
}

/* the quotient of the largest and the least value of component k in a cell; 1 if not all are positive, which VpMetricCreate() refuses */
static double JumpOf(const Jumps *j, int32_t cell, int k)
{
  const int     width = j->values->components;
  const double *a = j->values->cell + (size_t)cell * (size_t)(j->points * width) + k;
  double        range[2] = {a[0], a[0]};

  for (int i = 0; i < j->points; i++) {
    if (!(a[i * width] > 0)) return 1;
    range[0] = PetscMin(range[0], a[i * width]);
    range[1] = PetscMax(range[1], a[i * width]);
  }
  return range[1] / range[0];
}

/* Gives the components of a cell that change by more than the jump their harmonic mean. In a full matrix those on the diagonal decide, and
   all change. Returns the largest quotient, or 1. */
static double TakeMeanOfJumps(const Jumps *j, int32_t cell)
{
  const int       dim = j->dg->mesh->dim, width = j->values->components;
  const PetscBool full = (PetscBool)(width > dim);
  double          most = 1;

  for (int d = 0; d < PetscMin(width, dim); d++) {
    const int    k = full ? VpMetricEntry(dim, width, d, d) : d;
    const double jump = JumpOf(j, cell, k);

    if (jump <= j->dg->jump) continue;
    most = PetscMax(most, jump);
    if (!full) TakeMeanNumber(j, cell, k);
  }
  return most > 1 && full && !TakeMeanMatrix(j, cell) ? 1 : most;
}

/* Points do not see where in a cell a coefficient jumps. There one number is better: errors are smaller, and the operator is definite. */
static PetscErrorCode TakeMeansOfJumps(DM dm, VpPointValues *values)
{
  const DM_VPatchDG *dg = dm->data;
  const int          points = (int)DMVPatchDGCellSize(dm), dim = dg->mesh->dim, width = values->components;
  Jumps              j = {.dg = dg, .values = values, .points = points, .side_points = 2 * dg->mesh->dim * points / ((int)dg->degree + 1)};
  double             x[VP_MAX_N], worst = 1, largest = 1;
  PetscInt           cells = 0;
  int32_t            at = 0;

  PetscFunctionBegin;
  if (dg->jump <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  VpGauss((int)dg->degree + 1, x, j.weight);
  j.part = (double *)values->part;
  VP_LOOP_MOST (cell, dg->mesh->nown, largest) { /* the largest jump inside of cells, of a component on the diagonal */
    for (int d = 0; d < PetscMin(width, dim); d++)
      largest = PetscMax(largest, JumpOf(&j, cell, width > dim ? VpMetricEntry(dim, width, d, d) : d));
  }
  for (int32_t cell = 0; cell < dg->mesh->nown && largest > dg->jump; cell++) {
    double most;

    FindPartsOf(&j, cell, &at);
    most = TakeMeanOfJumps(&j, cell);
    worst = PetscMax(worst, most);
    cells += most > 1;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, dg->mesh->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPIU_INT, MPI_SUM, dg->mesh->comm));
  if (cells)
    PetscCall(VpPrintWarning((PetscObject)dm,
                             "the coefficient changes by up to %.3g inside of cells, more than -dm_vpatchdg_jump %g: %" PetscInt_FMT
                             " cells take its harmonic mean. Refine (-dm_refine), or let it jump on faces of cells",
                             worst, (double)dg->jump, cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckReaction(VpMesh mesh, const VpPointValues *values, size_t points)
{
  int bad = 0;

  PetscFunctionBegin;
  for (size_t i = 0; i < (size_t)mesh->nown * points; i++) bad |= !(values->reaction[i] >= 0) || PetscIsInfOrNanReal(values->reaction[i]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, mesh->comm));
  PetscCheck(!bad, mesh->comm, PETSC_ERR_ARG_OUTOFRANGE, "The reaction must not be negative, infinite or NaN at any point");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the means over cells that the cycle works with: a number per cell where the coefficient is one and cells are boxes, else dim. */
static PetscErrorCode TakeMeans(VpMesh mesh, PetscBool scalar, VpProblem *problem)
{
  const int  width = scalar ? 1 : mesh->dim;
  PetscReal *mean;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge((size_t)mesh->nown * (size_t)width + 1, &mean));
  VpLoopTake(mean, (size_t)width, problem->metric->mean, (size_t)mesh->dim, mesh->nown);
  problem->coefficient = mean;
  problem->tensor = scalar ? 0 : mesh->dim;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves an array of `block` numbers per own cell from a backend to the host. */
static PetscErrorCode FetchValues(VpMesh mesh, const VpBackend *backend, size_t block, const double **values)
{
  const size_t bytes = (size_t)mesh->nown * block * sizeof(double);
  const void  *there = *values;
  double      *host;

  PetscFunctionBegin;
  PetscCall(VpMallocBytes(bytes + 1, (void **)&host));
  PetscCall(backend->download(there, bytes, host));
  *values = host;
  PetscCall(backend->release((void *)there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds values on the host, or, where a function has those of the coefficient, on the backend. There VpMetricCreate() looks for jumps. */
static PetscErrorCode FindValues(DM dm, const VpProblem *problem, const VpBackend *backend, VpPointValues *values)
{
  const DM_VPatchDG *dg = dm->data;
  const VpMesh       mesh = dg->mesh;
  const PetscInt     width = dg->coefficient_at.components, dim = mesh->dim;

  PetscFunctionBegin;
  if (VpPointFunctionExists(&dg->coefficient_at)) {
    PetscCheck(width == 1 || width == dim || width == dim * (dim + 1) / 2, mesh->comm, PETSC_ERR_ARG_INCOMP,
               "The coefficient as a function has %" PetscInt_FMT " components, and the dimension is %" PetscInt_FMT
               " now: set the dimension before the function",
               width, dim);
    values->components = (int)width;
    if (dg->coefficient_at.values) {
      PetscCall(VpPointFunctionCopy(&dg->coefficient_at, &values->cell));
      PetscCall(VpPointFunctionExpand(mesh, (int)dg->degree + 1, (int)width, values->cell, &values->side));
    } else {
      values->placed = VpIsDevice(backend);
      PetscCall(CallFunction(dm, &dg->coefficient_at, PETSC_FALSE, backend, &values->cell));
      PetscCall(CallFunction(dm, &dg->coefficient_at, PETSC_TRUE, backend, &values->side));
    }
    if (!values->placed) {
      PetscCall(FindParts(dm, &dg->coefficient_at, values->cell, problem, &values->part));
      PetscCall(TakeMeansOfJumps(dm, values));
    }
  } else {
    values->flat = PETSC_TRUE;
    PetscCall(TakeNumbers(mesh, problem, &values->cell));
    PetscCall(FindParts(dm, &(VpPointFunction){0}, NULL, problem, &values->part));
  }
  if (dg->reaction_at.values) PetscCall(VpPointFunctionCopy(&dg->reaction_at, &values->reaction));
  else if (dg->reaction_at.batch) {
    const PetscBool on_device = dg->reaction_at.on_device;

    PetscCall(CallFunction(dm, &dg->reaction_at, PETSC_FALSE, on_device ? backend : &VpBackendHost, &values->reaction));
    if (on_device) PetscCall(FetchValues(mesh, backend, (size_t)DMVPatchDGCellSize(dm), &values->reaction));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves values that are placed to the host. */
static PetscErrorCode FetchPlaced(VpMesh mesh, const VpBackend *backend, size_t points, size_t side_points, VpPointValues *values)
{
  const size_t width = (size_t)values->components;

  PetscFunctionBegin;
  PetscCall(FetchValues(mesh, backend, points * width, &values->cell));
  PetscCall(FetchValues(mesh, backend, side_points * width, &values->side));
  values->placed = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMetric(DM dm, const VpBackend *backend, VpProblem *problem, VpPointValues *values)
{
  const DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  PetscCall(FindValues(dm, problem, backend, values));
  problem->outer = VP_BASIS_GAUSS;
  problem->oblique = (PetscBool)(values->components > dg->mesh->dim || dg->mesh->geometry->map);
  if (problem->oblique) problem->penalty *= VpObliquePenalty((int)dg->degree);
  PetscCall(VpMetricCreate(dg->mesh, problem, values, backend, &problem->metric));
  if (!problem->metric) {
    const size_t points = (size_t)DMVPatchDGCellSize(dm), side_points = points / (size_t)(dg->degree + 1) * 2 * (size_t)dg->mesh->dim;

    PetscCall(VpTogether(dg->mesh->comm, FetchPlaced(dg->mesh, backend, points, side_points, values)));
    PetscCall(TakeMeansOfJumps(dm, values));
    PetscCall(VpMetricCreate(dg->mesh, problem, values, backend, &problem->metric));
  }
  if (values->reaction) PetscCall(CheckReaction(dg->mesh, values, (size_t)DMVPatchDGCellSize(dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGMakeMetric(DM dm, VpProblem *problem)
{
  const DM_VPatchDG *dg = dm->data;
  const VpMesh       mesh = dg->mesh;
  VpPointValues      values = {.components = VpProblemWidth(problem), .precision = dg->geometry, .jump = dg->jump};
  const VpBackend   *backend;
  PetscErrorCode     error;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGUseBackend(dm, &backend));
  if (VpMeshIsAdaptive(mesh)) backend = &VpBackendHost; /* Sides that hang are made there alone. */
  error = CreateMetric(dm, backend, problem, &values);
  if (values.placed) {
    PetscCall(backend->release((void *)values.cell));
    PetscCall(backend->release((void *)values.side));
    values.cell = values.side = NULL;
  }
  PetscCall(PetscFree(values.cell));
  PetscCall(PetscFree(values.side));
  PetscCall(PetscFree(values.part));
  PetscCall(PetscFree(values.reaction));
  PetscCall(error);
  problem->reaction = problem->metric->reaction;
  PetscCall(PetscArraycpy(problem->robin, problem->metric->robin, 6));
  if (VpPointFunctionExists(&dg->coefficient_at) || mesh->geometry->map)
    PetscCall(TakeMeans(mesh, (PetscBool)(values.components == 1 && !mesh->geometry->map), problem));
  if (!mesh->geometry->domain->trees) PetscCall(VpProblemUnevenness(mesh, problem, &problem->metric->uneven));
  PetscFunctionReturn(PETSC_SUCCESS);
}
