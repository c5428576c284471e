/* Values of a user's function at the points of many cells, by threads or in device memory, and what is made of them. */
#include "functions.h"

enum { DEVICE_POINTS = 1 << 20, HOST_POINTS = 512 }; /* at a time */

PetscErrorCode VpGivenSetMemory(const VpField *field, PetscMemType where, const char caller[], VpGiven *f)
{
  PetscFunctionBegin;
  PetscCheck(
    PetscMemTypeHost(where) || (PetscMemTypeCUDA(where) && VpIsDevice(field->level->backend)), PetscObjectComm((PetscObject)field->dm),
    PETSC_ERR_SUP,
    "%s: functions of device memory are for a DM that works on the GPU; this one's backend is host. Give PETSC_MEMTYPE_HOST, or take "
    "-dm_vec_type cuda",
    caller);
  f->on_device = (PetscBool)(f->batch && !PetscMemTypeHost(where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what the work on places needs */
typedef struct {
  const VpField *field;
  const VpGrid  *grid;
  VpSet          set;
  const VpGiven *f[2];      /* the function to integrate; or u and its gradient, NULL: not wanted */
  const double  *values[2]; /* [place][point][components] on the backend, of a function that is given by values; otherwise NULL */
  double        *host;      /* on a device: memory of the host for values and points of a batch of places; NULL if no function needs it */
  double        *b;
  /* for squares */
  const double *x;
  VpGrid        slope[3]; /* grids to derivatives; `grid` is the one to values */
  int32_t       batch;    /* number of places of a sum; on the host those of a batch, so that sums do not depend on the number of threads */
  double       *sum[2];
} Work;

/* values at n points. The batch form gets points, normal and values in the memory that it uses. */
static PetscErrorCode CallFunction(const VpGiven *f, int dim, int32_t n, const double x[], const double normal[], double value[])
{
  const int      nc = f->components;
  PetscErrorCode error = PETSC_SUCCESS;

  if (f->batch) return f->batch(dim, n, x, normal, value, f->ctx);
  for (int32_t i = 0; i < n * nc; i++) value[i] = 0;
  for (int32_t i = 0; i < n && !error; i++) {
    if (f->function) error = f->function(dim, x + i * dim, value + i * nc, f->ctx);
    if (f->flux) error = f->flux(dim, x + i * dim, normal, value + i * nc, f->ctx);
  }
  return error;
}

/* The same on sides with a normal at each point, which the function gets in memory of the host. The batch form gets points with the same
   normal together. */
static PetscErrorCode CallWithNormals(const VpField *field, const VpGiven *f, int32_t n, const double x[], const double normal[],
                                      double value[])
{
  const int      dim = field->mesh->dim;
  const size_t   count = (size_t)n * (size_t)dim;
  double        *copy = NULL;
  PetscErrorCode error = PETSC_SUCCESS;
  int32_t        last;

  if (f->on_device) {
    PetscCall(PetscMalloc1(count, &copy));
    PetscCall(field->level->backend->download(normal, count * sizeof(*copy), copy));
    normal = copy;
  }
  for (int32_t first = 0; first < n && !error; first = last) {
    const double *at = normal + (size_t)first * (size_t)dim;

    for (last = first + 1; last < n && !memcmp(at, normal + (size_t)last * (size_t)dim, (size_t)dim * sizeof(double));) last++;
    error = CallFunction(f, dim, last - first, x + (size_t)first * (size_t)dim, at, value + (size_t)first * (size_t)f->components);
  }
  if (copy) PetscCall(PetscFree(copy));
  return error;
}

/* the values of a function that gets a normal for every point, on sides that all have the same one */
static PetscErrorCode CallWithCopies(const VpGiven *f, int dim, int32_t n, const double x[], const double normal[], double value[])
{
  double         normals[3 * HOST_POINTS];
  PetscErrorCode error = PETSC_SUCCESS;

  for (int i = 0; i < dim * HOST_POINTS; i++) normals[i] = normal[i % dim];
  for (int32_t i = 0; i < n && !error; i += HOST_POINTS)
    error = f->batch(dim, PetscMin(n - i, HOST_POINTS), x + (size_t)i * (size_t)dim, normals, value + i, f->ctx);
  return error;
}

/* the same in device memory */
static PetscErrorCode CallWithDeviceCopies(const VpField *field, const VpGiven *f, int32_t n, const double x[], const double normal[],
                                           double value[])
{
  const VpBackend *backend = field->level->backend;
  const int        dim = field->mesh->dim;
  const size_t     count = (size_t)n * (size_t)dim;
  double          *copies;
  void            *there;
  PetscErrorCode   error;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &copies));
  for (size_t i = 0; i < count; i++) copies[i] = normal[i % (size_t)dim];
  PetscCall(backend->borrow(count * sizeof(double), "normals", &there));
  PetscCall(backend->upload(copies, count * sizeof(double), there));
  error = f->batch(dim, n, x, there, value, f->ctx);
  PetscCall(backend->give_back(there));
  PetscCall(PetscFree(copies));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values at the points of places. x: memory for the points */
static PetscErrorCode CallAtPlaces(const Work *w, const VpOps *ops, const VpPlaces *places, const VpGiven *f, double x[], double values[])
{
  const int      side = w->set.side, dim = w->field->mesh->dim;
  const int32_t  n = places->n * VpGridSize(w->grid);
  double         normal[3] = {0, 0, 0};
  PetscErrorCode error = ops->coordinates(&w->field->level->view, places, w->grid, x);

  if (side >= 0) normal[side / 2] = side % 2 ? 1 : -1;
  if (error) return error;
  if (f->normals && side >= 0 && places->normal) return f->batch(dim, n, x, places->normal, values, f->ctx);
  if (f->normals && side >= 0 && f->on_device) return CallWithDeviceCopies(w->field, f, n, x, normal, values);
  if (f->normals && side >= 0) return CallWithCopies(f, dim, n, x, normal, values);
  if (places->normal) return CallWithNormals(w->field, f, n, x, places->normal, values);
  return CallFunction(f, dim, n, x, side < 0 ? NULL : normal, values);
}

/* values of a function of the host that will be uploaded */
typedef struct {
  const Work    *work;
  const VpOps   *ops;
  const VpGiven *f;
  int32_t        first;  /* the place of the first value in Work.host */
  const double  *points; /* those of the places, where the device has found them; else NULL */
} Staging;

static PetscErrorCode StageValues(void *context, const VpPlaces *places, double scratch[])
{
  const Staging *s = (const Staging *)context;
  const size_t   size = (size_t)VpGridSize(s->work->grid), before = (size_t)(places->first - s->first) * size;
  VpPlaces       at = *places;

  if (s->points) at.point = s->points + before * (size_t)s->work->field->mesh->dim;
  return CallAtPlaces(s->work, s->ops, &at, s->f, scratch, s->work->host + before * (size_t)s->f->components);
}

static PetscErrorCode UploadValues(const Work *w, const VpPlaces *places, const VpGiven *f, double values[])
{
  const VpBackend *backend = w->field->level->backend;
  const size_t     size = (size_t)VpGridSize(w->grid), count = (size_t)places->n * size * (size_t)f->components;
  const VpOps     *ops = VpBackendHost.ops(VP_DOUBLE, w->field->mesh->dim, w->field->basis->degree);
  Staging          staging = {.work = w, .ops = ops, .f = f, .first = places->first};
  VpPlacesLoop     loop = {.set = w->set,
                           .grid = w->grid,
                           .needs = VP_NEEDS_POINTS | VP_NEEDS_NORMALS,
                           .first = places->first,
                           .last = places->first + places->n,
                           .batch = VpHostBatch(w->grid),
                           .threads = (PetscBool) !!f->batch,
                           .work = StageValues,
                           .context = &staging};

  PetscFunctionBegin;
  if (places->point && w->set.side < 0) {
    staging.points = w->host + count;
    loop.needs = 0;
    PetscCall(backend->download(places->point, (size_t)places->n * size * (size_t)w->field->mesh->dim * sizeof(double), w->host + count));
  }
  loop.scratch = 3 * size * (size_t)loop.batch;
  PetscCall(VpOnHost(w->field, &loop));
  PetscCall(backend->upload(w->host, count * sizeof(double), values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values: f[i] at the points of places, in memory where the work is done. Computed values are in scratch memory behind the points. */
static PetscErrorCode FindValues(const Work *w, const VpPlaces *places, int i, double scratch[], const double **values)
{
  const VpGiven *f = w->f[i];
  const size_t   size = (size_t)VpGridSize(w->grid);
  double        *found = scratch + 3 * (size_t)places->n * size;

  *values = f->values ? w->values[i] + (size_t)places->first * size * (size_t)f->components : found;
  if (f->values) return PETSC_SUCCESS;
  if (w->host && !f->on_device) return UploadValues(w, places, f, found);
  return CallAtPlaces(w, w->field->level->ops, places, f, scratch, found);
}

static PetscErrorCode IntegrateValues(void *context, const VpPlaces *places, double scratch[])
{
  const Work     *w = (const Work *)context;
  const VpLevel   level = w->field->level;
  const PetscBool add = (PetscBool)(w->set.given != VP_GIVEN_SOURCE);
  const double   *values;
  PetscErrorCode  error = FindValues(w, places, 0, scratch, &values);

  if (error) return error;
  if (add && level->problem.metric)
    return level->ops->add_to_side(&level->view, w->set.side, (PetscBool)(w->set.given == VP_GIVEN_VALUE), places, values, w->b);
  return level->ops->integrate(&level->view, places, w->grid, add, values, w->b);
}

static PetscErrorCode AddSquares(void *context, const VpPlaces *places, double scratch[])
{
  const Work    *w = (const Work *)context;
  const VpLevel  level = w->field->level;
  const double  *values;
  PetscErrorCode error = PETSC_SUCCESS;

  for (int i = 0; i < 2 && !error; i++) {
    const int     n = i ? w->field->mesh->dim : 1;
    const VpGrid *grid = i ? w->slope : w->grid;
    VpPlaces      at = *places;

    if (!w->f[i]) continue;
    if (!i) at.chain = NULL;
    error = FindValues(w, places, i, scratch, &values);
    if (!error) error = level->ops->distance(&level->view, &at, n, grid, w->x, values, &w->sum[i][places->first / w->batch]);
  }
  return error;
}

/* Does the work where the backend is. On a device, functions are called for a limited number of points. */
static PetscErrorCode RunWork(Work *w, VpWorkOnPlaces work)
{
  const VpBackend *backend = w->field->level->backend;
  const int        size = VpGridSize(w->grid);
  VpPlacesLoop     loop = {.set = w->set,
                           .grid = w->grid,
                           .needs = VP_NEEDS_POINTS | VP_NEEDS_NORMALS | VP_NEEDS_MEASURE | (w->x ? VP_NEEDS_GRADIENT : 0),
                           .last = VpFieldCount(w->field, w->set),
                           .batch = VpFieldBatch(w->field, w->grid, w->set),
                           .threads = PETSC_TRUE,
                           .weighted = (PetscBool)(w->set.given != VP_GIVEN_SOURCE),
                           .work = work,
                           .context = w};
  int              components = 0;
  PetscBool        stages = PETSC_FALSE;
  VpValues         values[2];

  PetscFunctionBegin;
  if (!loop.last) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) {
    const VpGiven *f = w->f[i];

    if (f && f->values) {
      PetscCall(VpValuesGet(backend, f->values, VP_READ, &values[i]));
      w->values[i] = values[i].at + VpCountPointsBefore(w->field, w->set) * (size_t)f->components;
    } else if (f) {
      components = PetscMax(components, f->components);
      if (f->function || f->flux) loop.threads = PETSC_FALSE;
      if (VpIsDevice(backend) && !f->on_device) stages = PETSC_TRUE;
    }
  }
  if (components) loop.batch = PetscMax(1, PetscMin(loop.batch, DEVICE_POINTS / size));
  if (components) loop.scratch = (size_t)loop.batch * (size_t)size * (size_t)(3 + components);
  if (stages) PetscCall(backend->alloc_host(loop.scratch * sizeof(double), "functions at points", (void **)&w->host));
  PetscCall(VpOnBackend(w->field, &loop));
  if (stages) PetscCall(backend->release_host(w->host));
  for (int i = 0; i < 2; i++) {
    if (w->values[i]) PetscCall(VpValuesRestore(&values[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpIntegrateFunction(const VpField *field, const VpGrid *grid, VpSet set, const VpGiven *f, double b[])
{
  Work w = {.field = field, .grid = grid, .set = set, .f = {f}, .b = b};

  return RunWork(&w, IntegrateValues);
}

PetscErrorCode VpComputeSquares(const VpField *field, const VpGrid *grid, const VpGiven *const given[2], const double x[], double square[2])
{
  Work    w = {.field = field, .grid = grid, .set = VpOwnCells(), .f = {given[0], given[1]}, .x = x};
  int32_t sums;

  PetscFunctionBegin;
  VpGridSlopes(field->basis, field->mesh->dim, grid, w.slope);
  w.batch = VpIsDevice(field->level->backend) ? INT32_MAX : VpHostBatch(grid);
  sums = field->mesh->nown / w.batch + 1;
  PetscCall(PetscCalloc2(sums, &w.sum[0], sums, &w.sum[1]));
  PetscCall(RunWork(&w, AddSquares));
  for (int i = 0; i < 2; i++) {
    square[i] = 0;
    for (int32_t k = 0; k < sums; k++) square[i] += w.sum[i][k];
  }
  PetscCall(PetscFree2(w.sum[0], w.sum[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
