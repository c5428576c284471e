/* Random views of levels for the tests of kernels, and ghosts that arrive late. */
#pragma once
#include "reference.h"
#include <math.h>

enum { CELLS = 180, OWN = 120, SWEPT = 165, ENTRIES = 5, PATCHES = 19, COARSE = 3, VIEWS = 2 * 2 * VP_MAX_DEGREE * 2 };

/* views in one precision on the tested backend, and the same on the host with tables in double precision */
typedef struct {
  VpView           view, host;
  VpPatchView      patches, host_patches;
  VpTransferView   transfer, host_transfer;
  VpBasis          basis; /* with the traces of the views */
  const VpBackend *backend;
  const VpOps     *ops;
  VpPrecision      precision;
  size_t           real; /* size of a number [bytes] */
  int              N, corners;
  double          *x[2], *b, *xc;         /* vectors */
  void            *vx[2], *vb, *vxc, *vy; /* the same and scratch memory, on the backend in the view's precision */
  void            *late;                  /* copy of vx[1], or NULL */
  void            *kept[96], *placed[96]; /* arrays on the host and on the backend */
  int              nkept, nplaced;
} Case;

static unsigned long long seed = 1;

static unsigned Random(unsigned below)
{
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(seed >> 33) % below;
}

static double Real(void)
{
  return (double)Random(1 << 20) / (1 << 19) - 1;
}

static void *Keep(Case *c, void *p)
{
  c->kept[c->nkept++] = p;
  return p;
}

static void *Scratch(Case *c, size_t bytes)
{
  void *p;

  PetscCallAbort(PETSC_COMM_SELF, c->backend->alloc(bytes, "a test", &p));
  return c->placed[c->nplaced++] = p;
}

static void *Place(Case *c, const void *from, size_t bytes)
{
  void *p = Scratch(c, bytes);

  PetscCallAbort(PETSC_COMM_SELF, c->backend->upload(from, bytes, p));
  return p;
}

/* Copies doubles to the backend in the view's precision, and rounds the originals. */
static void *PlaceReals(Case *c, size_t count, double *from)
{
  float *single = malloc(count * sizeof(float));
  void  *p;

  for (size_t i = 0; i < count && c->precision == VP_SINGLE; i++) from[i] = single[i] = (float)from[i];
  p = Place(c, c->precision == VP_SINGLE ? (void *)single : (void *)from, count * c->real);
  free(single);
  return p;
}

/* Copies values back as doubles, freed by the caller. */
static double *Fetch(const Case *c, const void *p, size_t count)
{
  double *values = malloc(count * sizeof(double));
  float  *single = malloc(count * sizeof(float));

  PetscCallAbort(PETSC_COMM_SELF, c->backend->download(p, count * c->real, c->precision == VP_SINGLE ? (void *)single : (void *)values));
  for (size_t i = 0; i < count && c->precision == VP_SINGLE; i++) values[i] = (double)single[i];
  free(single);
  return values;
}

static double *Reals(Case *c, size_t count, double scale, const void **placed)
{
  double *p = Keep(c, malloc(count * sizeof(double)));

  for (size_t i = 0; i < count; i++) p[i] = scale * Real();
  *placed = PlaceReals(c, count, p);
  return p;
}

static int32_t *Ints(Case *c, size_t count, unsigned below, int lowest, const int32_t **placed)
{
  int32_t *p = Keep(c, malloc(count * sizeof(int32_t)));

  for (size_t i = 0; i < count; i++) p[i] = (int32_t)Random(below) + lowest;
  *placed = Place(c, p, count * sizeof(int32_t));
  return p;
}

static const uint8_t *Bytes(Case *c, size_t count, unsigned below, const uint8_t **placed)
{
  uint8_t *p = Keep(c, malloc(count));

  for (size_t i = 0; i < count; i++) p[i] = (uint8_t)Random(below);
  *placed = Place(c, p, count);
  return p;
}

enum { MATRICES = 6 }; /* number of children's matrices */

/* children's matrices in one direction; the first two mirror each other like those of the bases (VpBasisMirror) */
static double *Mirrored(Case *c, const void **placed)
{
  const int n = c->view.n, swaps = n >= VP_THIN_LEAST && c->view.nt == 2;
  double   *A = Keep(c, malloc(MATRICES * (size_t)(n * n) * sizeof(double)));

  for (int i = 0; i < MATRICES * n * n; i++) A[i] = 2 * Real() / n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) A[n * n + i * n + j] = swaps ? A[(n - 1 - i) * n + n - 1 - j] : (i + j) % 2 ? -A[i * n + j] : A[i * n + j];
  }
  *placed = PlaceReals(c, MATRICES * (size_t)(n * n), A);
  return A;
}

/* Makes patches of disjoint cells. In some directions all patches have equal types, the mirrored type 0 or type 2. */
static void MakePatches(Case *c)
{
  const int dim = c->view.dim, n = c->view.n, m = 2 * n, width = VpFdmSize(n);
  int32_t  *cells = Keep(c, malloc(PATCHES * (size_t)c->corners * sizeof(int32_t)));
  int32_t  *types = Keep(c, malloc(PATCHES * (size_t)dim * sizeof(int32_t)));
  uint8_t   mirrored[ENTRIES] = {1};
  double   *factor = Keep(c, malloc(PATCHES * ((size_t)dim + 1) * sizeof(double))), *fdm;

  for (int i = 0; i < PATCHES * c->corners; i++) cells[i] = (i * 7 + 3) % SWEPT;
  for (int i = 0; i < PATCHES * dim; i++) types[i] = (int32_t)Random(ENTRIES);
  for (int d = 0; d < dim; d++) {
    const int alike = (int)Random(3);
    for (int i = 0; i < PATCHES && alike; i++) types[i * dim + d] = 2 * alike - 2;
  }
  c->host_patches.patch = cells;
  c->host_patches.type = types;
  c->patches.patch = Place(c, cells, PATCHES * (size_t)c->corners * sizeof(int32_t));
  c->patches.type = Place(c, types, PATCHES * (size_t)dim * sizeof(int32_t));
  fdm = Keep(c, malloc((size_t)(ENTRIES * width) * sizeof(double)));
  for (int e = 0; e < ENTRIES; e++) {
    for (int i = 0; i < width; i++) fdm[e * width + i] = i < 2 * m * m ? 2 * Real() / m : 1.5 + Real();
  }
  for (int e = 1; e < ENTRIES; e += 2) { /* a mode that the space lacks */
    double *F = fdm + e * width, *B = F + m * m, *lambda = B + m * m;

    lambda[1] = INFINITY;
    for (int i = 0; i < m; i++) F[m + i] = B[i * m + 1] = 0;
  }
  for (int i = 0; i < n; i++) {
    const int orthonormal = n < VP_THIN_FROM(dim), mirror = orthonormal ? n + i : m - 1 - i, sign = orthonormal && i % 2 ? -1 : 1;
    for (int r = 0; r < m; r++) {
      fdm[r * m + mirror] = (r % 2 ? -sign : sign) * fdm[r * m + i];
      fdm[m * m + mirror * m + r] = (r % 2 ? -sign : sign) * fdm[m * m + i * m + r];
    }
  }
  c->patches.fdm = PlaceReals(c, (size_t)(ENTRIES * width), fdm);
  c->patches.mirrored = Place(c, mirrored, ENTRIES);
  c->host_patches.fdm = fdm;
  for (int i = 0; i < PATCHES * (dim + 1); i++) factor[i] = 1 + Real() / 2;
  c->patches.factor = PlaceReals(c, (size_t)PATCHES * ((size_t)dim + 1), factor);
  c->host_patches.factor = factor;
}

/* Makes the cells of each patch neighbours. */
static void JoinPatches(Case *c, int32_t *neighbor)
{
  const int dim = c->view.dim;

  for (int i = 0; i < PATCHES * c->corners; i++) {
    for (int d = 0; d < dim; d++)
      neighbor[c->host_patches.patch[i] * 2 * dim + 2 * d + !((i >> d) & 1)] = c->host_patches.patch[i ^ 1 << d];
  }
  PetscCallAbort(PETSC_COMM_SELF, c->backend->upload(neighbor, SWEPT * 2 * (size_t)dim * sizeof(int32_t), (void *)c->view.neighbor));
  c->host.neighbor = neighbor;
}

static void SetBasis(Case *c)
{
  VpBasis *b = &c->basis;

  for (int s = 0; s < 2; s++) b->first[s] = c->view.first[s];
  for (int at = 0, nt = c->view.nt; at < 4 * nt; at++) {
    const int s = at / nt / 2, i = b->first[s] + at % nt;

    (at / nt % 2 ? b->slope : b->value)[s][i] = ((const double *)c->host.traces)[at];
    b->expand[s][at / nt % 2][i] = ((const double *)c->host.expand)[at];
  }
  c->view.basis = c->host.basis = b;
}

/* before the views change or go */
static void ReleasePlans(Case *c)
{
  VpPlans **const plans[] = {&c->view.plans, &c->patches.plans, &c->transfer.plans};

  for (int i = 0; i < 3 && c->backend->release_plans; i++) PetscCallAbort(PETSC_COMM_SELF, c->backend->release_plans(plans[i]));
}

/* of the views as they are */
static void PreparePlans(Case *c)
{
  ReleasePlans(c);
  if (!c->ops->prepare) return;
  PetscCallAbort(PETSC_COMM_SELF, c->ops->prepare(&c->view));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->prepare_patches(&c->patches));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->prepare_transfer(&c->transfer));
}

static void CaseCreate(Case *c, VpPrecision precision, int dim, int degree, int thin)
{
  VpView         *v = &c->view, *h = &c->host;
  VpPatchView    *p = &c->patches;
  VpTransferView *t = &c->transfer;
  const int       n = degree + 1;

  memset(c, 0, sizeof *c);
  c->backend = TestBackend();
  c->precision = precision;
  c->real = precision == VP_DOUBLE ? sizeof(double) : sizeof(float);
  c->ops = c->backend->ops(precision, dim, degree);
  c->corners = 1 << dim;
  c->N = (int)PetscPowInt(n, dim);
  v->dim = dim;
  v->n = n;
  v->nt = n < 4 ? n : thin && n >= VP_THIN_FROM(dim) ? 2 : 4;
  v->first[1] = n < VP_THIN_FROM(dim) || !thin ? 0 : n - 2;
  v->nown = OWN;
  v->nsweep = SWEPT;
  v->nlocal = CELLS;
  *h = *v;
  p->reaction = 0.75;
  p->cutoff = -1;
  c->host_patches = *p;
  t->ncoarse = COARSE;
  t->merged = c->corners - 1;
  t->reverse = (PetscBool)(n >= VP_THIN_LEAST && v->nt == 2);
  c->host_transfer = *t;
  h->line = Ints(c, SWEPT * (size_t)dim, ENTRIES, 0, &v->line);
  h->lines = Reals(c, (size_t)(ENTRIES * VpLineSize(n)), 1. / n, &v->lines);
  c->host_patches.drop = Reals(c, (size_t)(ENTRIES * 2 * VpLineSize(n)), 1. / n, &p->drop);
  h->traces = Reals(c, (size_t)(4 * v->nt), 1, &v->traces);
  h->expand = Reals(c, (size_t)(4 * v->nt), 1, &v->expand);
  SetBasis(c);
  MakePatches(c);
  JoinPatches(c, Ints(c, SWEPT * 2 * (size_t)dim, CELLS + 2, -2, &v->neighbor));
  c->host_patches.cover = Bytes(c, CELLS, 256, &p->cover);
  c->host_transfer.P = Mirrored(c, &t->P);
  c->host_transfer.R = Mirrored(c, &t->R);
  h->enter = Reals(c, (size_t)(n * n), 2. / n, &v->enter);
  h->leave = Reals(c, (size_t)(n * n), 2. / n, &v->leave);
  c->host_transfer.parent = Ints(c, CELLS, COARSE, 0, &t->parent);
  c->host_transfer.corner = Bytes(c, CELLS, 1u << 2 * dim, &t->corner);
  c->host_transfer.table = Ints(c, CELLS * (size_t)dim, MATRICES, 0, &t->table);
  c->host_transfer.child = Ints(c, COARSE * (size_t)c->corners, SWEPT + 1, -1, &t->child);
  for (int i = 0; i < 2; i++) c->x[i] = Reals(c, (size_t)(CELLS * c->N), 1, (const void **)&c->vx[i]);
  c->b = Reals(c, (size_t)(CELLS * c->N), 1, (const void **)&c->vb);
  c->xc = Reals(c, (size_t)(COARSE * c->N), 1, (const void **)&c->vxc);
  c->vy = Scratch(c, (size_t)(CELLS * c->N) * c->real);
  PreparePlans(c);
}

static void CaseDestroy(Case *c)
{
  ReleasePlans(c);
  while (c->nkept) free(c->kept[--c->nkept]);
  while (c->nplaced) PetscCallAbort(PETSC_COMM_SELF, c->backend->release(c->placed[--c->nplaced]));
}

static double tolerance; /* of the present precision */

/* Tests whether the values are close to the expected ones. NaN is not close. */
static PetscBool Close(const Case *c, const void *p, size_t count, const double *expected)
{
  double *values = Fetch(c, p, count), largest = 1, error = 0;

  for (size_t i = 0; i < count && error == error; i++) {
    largest = fmax(largest, fabs(expected[i]));
    if (!(fabs(values[i] - expected[i]) <= error)) error = fabs(values[i] - expected[i]);
  }
  free(values);
  return (PetscBool)(error <= tolerance * largest);
}

/* Delivers the ghosts of vx[1], which are NaN before. */
static PetscErrorCode Deliver(void *context)
{
  Case *c = context;

  return c->backend->copy(c->late, (size_t)(CELLS * c->N) * c->real, c->vx[1]);
}
static VpGhosts Late(Case *c)
{
  const size_t   bytes = (size_t)(CELLS * c->N) * c->real;
  void          *nan = malloc(bytes);
  const VpGhosts late = {c->vx[1], Deliver, c};

  memset(nan, 0xff, bytes);
  if (!c->late) {
    c->late = Scratch(c, bytes);
    PetscCallAbort(PETSC_COMM_SELF, c->backend->copy(c->vx[1], bytes, c->late));
  }
  PetscCallAbort(PETSC_COMM_SELF, c->backend->upload(nan, bytes, c->vx[1]));
  free(nan);
  return late;
}
