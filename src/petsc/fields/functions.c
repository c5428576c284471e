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
  double *device, *host; /* on a device: memory for a batch of points and their values there, and for values of functions of the host */
  double *to;
  int32_t first; /* the place of to[0] */
} Work;

static Work WorkOn(const VpField *field, const VpGrid *grid, VpSet set, const VpGiven *f, double *to)
{
  Work w = {.field = field, .ops = field->level->ops, .grid = grid, .set = set, .f = f, .to = to};

  if (set.side >= 0) w.normal[set.side / 2] = set.side % 2 ? 1 : -1;
  return w;
}

static size_t RoomFor(const VpGrid *grid, int32_t places, int components)
{
  return (size_t)places * (size_t)VpGridSize(grid) * (size_t)(3 + components);
}

static PetscErrorCode Upload(const Work *, const VpPlaces *, int32_t at, const VpGiven *, double values[]);

/* values of f at places' points, where the work is done; room: for the points */
static PetscErrorCode Find(const Work *w, const VpPlaces *places, int32_t at, const VpGiven *f, double room[], double values[])
{
  const int      dim = w->field->mesh->dim;
  double        *x = w->device ? w->device : room;
  PetscErrorCode error;

  if (w->device && !f->on_device) return Upload(w, places, at, f, values);
  error = w->ops->coordinates(&w->field->level->view, places, w->grid, x);
  return error ? error : Call(f, dim, places->n * VpGridSize(w->grid), x, w->set.side < 0 ? NULL : w->normal, values);
}

/* the memory for values behind that for points */
static double *Behind(const Work *w, const VpPlaces *places, double room[])
{
  return (w->device ? w->device : room) + 3 * (size_t)places->n * (size_t)VpGridSize(w->grid);
}

static PetscErrorCode Store(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Work  *w = (const Work *)context;
  const size_t each = (size_t)VpGridSize(w->grid) * (size_t)w->f->components;

  return Find(w, places, at, w->f, room, w->to + (size_t)(at - w->first) * each);
}

static PetscErrorCode Integrate(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Work    *w = (const Work *)context;
  double        *values = Behind(w, places, room);
  PetscErrorCode error = Find(w, places, at, w->f, room, values);

  return error ? error : w->ops->integrate(&w->field->level->view, places, w->grid, PETSC_TRUE, values, w->to);
}

/* values on the device of a function of the host */
static PetscErrorCode Upload(const Work *w, const VpPlaces *places, int32_t at, const VpGiven *f, double values[])
{
  const int32_t batch = VpBatchOf(w->grid);
  const size_t  n = (size_t)places->n * (size_t)VpGridSize(w->grid) * (size_t)f->components;
  Work          here = *w;

  PetscFunctionBegin;
  here.ops = VpBackendHost.ops(VP_DOUBLE, w->field->mesh->dim, w->field->basis->degree);
  here.f = f;
  here.device = NULL;
  here.to = w->host;
  here.first = at;
  PetscCall(
    VpOnHost(w->field, w->set, at, at + places->n, batch, RoomFor(w->grid, batch, 0), (PetscBool) !!f->batch, PETSC_FALSE, Store, &here));
  PetscCall(w->field->level->backend->upload(w->host, n * sizeof(double), values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* does the work where the backend is, with memory for values of so many components; threads: whether the host's functions allow them */
static PetscErrorCode Run(Work *w, int components, PetscBool threads, PetscBool weighted, VpWorkOnPlaces work)
{
  const VpBackend *backend = w->field->level->backend;
  const int32_t    n = VpFieldCount(w->field, w->set), most = PetscMin(n, DEVICE_POINTS / VpGridSize(w->grid));
  const int32_t    batch = VpIsDevice(backend) ? PetscMax(1, most) : VpBatchOf(w->grid);
  const size_t     room = RoomFor(w->grid, batch, components);
  void            *device, *host;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!VpIsDevice(backend)) {
    PetscCall(VpOnHost(w->field, w->set, 0, n, batch, room, threads, weighted, work, w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(backend->borrow(room * sizeof(double), "functions at points", &device));
  PetscCall(backend->alloc_host(room * sizeof(double), "functions at points", &host));
  w->device = (double *)device;
  w->host = (double *)host;
  PetscCall(VpOnDevice(w->field, w->set, 0, n, batch, weighted, work, w));
  PetscCall(backend->release_host(host));
  PetscCall(backend->give_back(device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpAddIntegrals(const VpField *field, const VpGrid *grid, VpSet set, PetscBool weighted, const VpGiven *f, double b[])
{
  Work w = WorkOn(field, grid, set, f, b);

  return Run(&w, f->components, (PetscBool) !!f->batch, weighted, Integrate);
}

PetscErrorCode VpValuesOf(const VpField *field, const VpGrid *grid, VpSet set, const VpGiven *f, double values[])
{
  Work w = WorkOn(field, grid, set, f, values);

  return Run(&w, f->components, (PetscBool) !!f->batch, PETSC_FALSE, Store);
}

/* sums of squares, on the host of a batch each, so that they do not depend on the number of threads */
typedef struct {
  Work           at;       /* comes first: it is what work is given; its grid takes coefficients to values */
  const VpGiven *given[2]; /* u and its gradient; NULL: not wanted */
  const double  *x;
  VpGrid         slope[3]; /* to derivatives */
  int32_t        batch;    /* places of a sum */
  double        *sum[2];
} Squares;

static PetscErrorCode Square(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Squares *s = (const Squares *)context;
  const VpView  *view = &s->at.field->level->view;
  double        *values = Behind(&s->at, places, room);
  PetscErrorCode error = PETSC_SUCCESS;

  for (int i = 0; i < 2 && !error; i++) {
    const int     n = i ? s->at.field->mesh->dim : 1;
    const VpGrid *grid = i ? s->slope : s->at.grid;

    if (s->given[i]) error = Find(&s->at, places, at, s->given[i], room, values);
    if (s->given[i] && !error) error = s->at.ops->distance(view, places, n, grid, s->x, values, &s->sum[i][at / s->batch]);
  }
  return error;
}

PetscErrorCode VpAddSquares(const VpField *field, const VpGrid *grid, const VpGiven *u, const VpGiven *gradient, const double x[],
                            double *square[2])
{
  const int32_t   n = field->mesh->nown, batch = VpIsDevice(field->level->backend) ? n + 1 : VpBatchOf(grid), sums = n / batch + 1;
  const PetscBool threads = (PetscBool)(!u->function && !gradient->function);
  const int       dim = field->mesh->dim;
  Squares         s = {.given = {square[0] ? u : NULL, square[1] ? gradient : NULL}, .x = x, .batch = batch};

  PetscFunctionBegin;
  s.at = WorkOn(field, grid, VpOwnCells(), u, NULL);
  VpGridSlopes(field->basis, dim, grid, s.slope);
  PetscCall(PetscCalloc2(sums, &s.sum[0], sums, &s.sum[1]));
  PetscCall(Run(&s.at, dim, threads, PETSC_FALSE, Square));
  for (int i = 0; i < 2; i++) {
    for (int32_t k = 0; s.given[i] && k < sums; k++) *square[i] += s.sum[i][k];
  }
  PetscCall(PetscFree2(s.sum[0], s.sum[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
