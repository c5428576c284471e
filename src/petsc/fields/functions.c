/* Values of a user's function at the points of many cells, by threads or in device memory, and what is made of them. */
#include "functions.h"

enum { DEVICE_POINTS = 1 << 20 }; /* at a time */

/* values at n points in host memory, or for the batch form in that which it takes */
static PetscErrorCode Call(const VpGiven *f, int dim, int32_t n, const double x[], const double normal[], double value[])
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

PetscErrorCode VpGivenCheck(const VpField *field, PetscMemType where, const char caller[])
{
  PetscFunctionBegin;
  PetscCheck(
    PetscMemTypeHost(where) || (PetscMemTypeCUDA(where) && VpIsDevice(field->level->backend)), PetscObjectComm((PetscObject)field->dm),
    PETSC_ERR_SUP,
    "%s: functions of device memory are for a DM that works on the GPU; this one's backend is %s. Give PETSC_MEMTYPE_HOST, or take "
    "-dm_vec_type cuda",
    caller, field->level->backend->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what work on places is about */
typedef struct {
  const VpField *field;
  const VpOps   *ops; /* where the work is done */
  const VpGrid  *grid;
  VpSet          set;
  const VpGiven *f;
  double         normal[3];
  double *device, *values; /* memory for a batch of points and their values on the device, and on the host for values that go there */
  double *to;
  int32_t first; /* the place of to[0] */
} Work;

static Work WorkOn(const VpField *field, const VpGrid *grid, VpSet set, const VpGiven *f, double *to)
{
  Work w = {.field = field, .ops = field->level->ops, .grid = grid, .set = set, .f = f, .to = to};

  if (set.side >= 0) w.normal[set.side / 2] = set.side % 2 ? 1 : -1;
  return w;
}

static const double *NormalOf(const Work *w)
{
  return w->set.side < 0 ? NULL : w->normal;
}

static size_t RoomFor(const VpGrid *grid, int32_t places, int components)
{
  return (size_t)places * (size_t)VpGridSize(grid) * (size_t)(3 + components);
}

/* values of f at places' points; room: for these */
static PetscErrorCode Find(const Work *w, const VpPlaces *places, const VpGiven *f, double room[], double values[])
{
  PetscErrorCode error = w->ops->coordinates(&w->field->level->view, places, w->grid, room);

  return error ? error : Call(f, w->field->mesh->dim, places->n * VpGridSize(w->grid), room, NormalOf(w), values);
}

static double *Behind(const Work *w, const VpPlaces *places, double room[])
{
  return room + 3 * (size_t)places->n * (size_t)VpGridSize(w->grid);
}

static PetscErrorCode StoreHere(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Work  *w = (const Work *)context;
  const size_t each = (size_t)VpGridSize(w->grid) * (size_t)w->f->components;

  return Find(w, places, w->f, room, w->to + (size_t)(at - w->first) * each);
}

/* values[place - first][point] on the host, of functions there */
static PetscErrorCode StoreOnHost(const Work *w, int32_t first, int32_t last, const VpGiven *f, double values[])
{
  Work          here = *w;
  const int32_t batch = VpBatchOf(w->grid);

  PetscFunctionBegin;
  here.ops = VpBackendHost.ops(VP_DOUBLE, w->field->mesh->dim, w->field->basis->degree);
  here.f = f;
  here.to = values;
  here.first = first;
  PetscCall(
    VpOnHost(w->field, w->set, first, last, batch, RoomFor(w->grid, batch, 0), (PetscBool) !!f->batch, PETSC_FALSE, StoreHere, &here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values of f on the device at the points of some places */
static PetscErrorCode FindOnDevice(const Work *w, const VpPlaces *places, int32_t at, const VpGiven *f, double **values)
{
  const VpBackend *backend = w->field->level->backend;
  const size_t     n = (size_t)places->n * (size_t)VpGridSize(w->grid);

  PetscFunctionBegin;
  if (f->on_device) {
    *values = Behind(w, places, w->device);
    PetscCall(Find(w, places, f, w->device, *values));
  } else {
    PetscCall(StoreOnHost(w, at, at + places->n, f, w->values));
    PetscCall(backend->upload(w->values, n * (size_t)f->components * sizeof(double), w->device));
    *values = w->device;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* runs work on a device, with memory for batches of points there and on the host */
static PetscErrorCode RunOnDevice(Work *w, int components, PetscBool weighted, VpWorkOnPlaces work)
{
  const VpBackend *backend = w->field->level->backend;
  const int32_t    n = VpFieldCount(w->field, w->set), batch = PetscMax(1, PetscMin(n, DEVICE_POINTS / VpGridSize(w->grid)));
  const size_t     bytes = RoomFor(w->grid, batch, components) * sizeof(double);
  void            *device, *host;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(backend->borrow(bytes, "functions at points", &device));
  PetscCall(backend->alloc_host(bytes, "functions at points", &host));
  w->device = (double *)device;
  w->values = (double *)host;
  PetscCall(VpOnDevice(w->field, w->set, 0, n, batch, weighted, work, w));
  PetscCall(backend->release_host(host));
  PetscCall(backend->give_back(device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IntegrateHere(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Work    *w = (const Work *)context;
  double        *values = Behind(w, places, room);
  PetscErrorCode error = Find(w, places, w->f, room, values);

  return error ? error : w->ops->integrate(&w->field->level->view, places, w->grid, PETSC_TRUE, values, w->to);
}

static PetscErrorCode IntegrateThere(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Work *w = (const Work *)context;
  double     *values;

  PetscFunctionBegin;
  PetscCall(FindOnDevice(w, places, at, w->f, &values));
  PetscCall(w->ops->integrate(&w->field->level->view, places, w->grid, PETSC_TRUE, values, w->to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpAddIntegrals(const VpField *field, const VpGrid *grid, VpSet set, PetscBool weighted, const VpGiven *f, double b[])
{
  Work          w = WorkOn(field, grid, set, f, b);
  const int32_t batch = VpBatchOf(grid), n = VpFieldCount(field, set);

  PetscFunctionBegin;
  if (VpIsDevice(field->level->backend)) PetscCall(RunOnDevice(&w, 1, weighted, IntegrateThere));
  else PetscCall(VpOnHost(field, set, 0, n, batch, RoomFor(grid, batch, 1), (PetscBool) !!f->batch, weighted, IntegrateHere, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreThere(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Work  *w = (const Work *)context;
  const size_t n = (size_t)VpGridSize(w->grid) * (size_t)w->f->components;
  double      *values;

  PetscFunctionBegin;
  PetscCall(FindOnDevice(w, places, at, w->f, &values));
  PetscCall(w->field->level->backend->copy(values, (size_t)places->n * n * sizeof(double), w->to + (size_t)at * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpValuesOf(const VpField *field, const VpGrid *grid, VpSet set, const VpGiven *f, double values[])
{
  Work w = WorkOn(field, grid, set, f, values);

  PetscFunctionBegin;
  if (VpIsDevice(field->level->backend)) PetscCall(RunOnDevice(&w, f->components, PETSC_FALSE, StoreThere));
  else PetscCall(StoreOnHost(&w, 0, VpFieldCount(field, set), f, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sums of squares; of a batch each, so that they do not depend on the number of threads */
typedef struct {
  Work           at;       /* comes first: it is what work is given; its grid takes coefficients to values */
  const VpGiven *given[2]; /* u and its gradient; NULL: not wanted */
  const double  *x;
  VpGrid         slope[3]; /* to derivatives */
  int32_t        batch;
  double        *sum[2]; /* [batches], or one on a device */
} Squares;

/* adds the squares at some places; values: of u (i = 0) or of its gradient */
static PetscErrorCode AddAt(const Squares *s, const VpPlaces *places, int i, const double values[], double *sum)
{
  const VpView *view = &s->at.field->level->view;

  return s->at.ops->distance(view, places, i ? s->at.field->mesh->dim : 1, i ? s->slope : s->at.grid, s->x, values, sum);
}

static PetscErrorCode SquareHere(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Squares *s = (const Squares *)context;
  const int32_t  n = places->n * VpGridSize(s->at.grid);
  double        *values = Behind(&s->at, places, room);
  PetscErrorCode error = s->at.ops->coordinates(&s->at.field->level->view, places, s->at.grid, room);

  for (int i = 0; i < 2 && !error; i++) {
    if (!s->given[i]) continue;
    error = Call(s->given[i], s->at.field->mesh->dim, n, room, NULL, values);
    if (!error) error = AddAt(s, places, i, values, &s->sum[i][at / s->batch]);
  }
  return error;
}

static PetscErrorCode SquareThere(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Squares *s = (const Squares *)context;

  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) {
    double *values;

    if (!s->given[i]) continue;
    PetscCall(FindOnDevice(&s->at, places, at, s->given[i], &values));
    PetscCall(AddAt(s, places, i, values, s->sum[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpAddSquares(const VpField *field, const VpGrid *grid, const VpGiven *u, const VpGiven *gradient, const double x[],
                            double *square[2])
{
  const int32_t n = field->mesh->nown, batch = VpBatchOf(grid), batches = (n + batch - 1) / batch;
  const int     dim = field->mesh->dim;
  Squares       s = {.given = {square[0] ? u : NULL, square[1] ? gradient : NULL}, .x = x, .batch = batch};

  PetscFunctionBegin;
  s.at = WorkOn(field, grid, VpOwnCells(), u, NULL);
  VpGridSlopes(field->basis, dim, grid, s.slope);
  PetscCall(PetscCalloc2(batches + 1, &s.sum[0], batches + 1, &s.sum[1]));
  if (VpIsDevice(field->level->backend)) PetscCall(RunOnDevice(&s.at, dim, PETSC_FALSE, SquareThere));
  else
    PetscCall(VpOnHost(field, VpOwnCells(), 0, n, batch, RoomFor(grid, batch, dim), (PetscBool)(!u->function && !gradient->function),
                       PETSC_FALSE, SquareHere, &s));
  for (int i = 0; i < 2; i++) {
    for (int32_t k = 0; s.given[i] && k <= batches; k++) *square[i] += s.sum[i][k];
  }
  PetscCall(PetscFree2(s.sum[0], s.sum[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
