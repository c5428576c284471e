/* The kernels against plain loops, on random views: they are linear algebra, so tables and neighbours may be anything
   where bases and patches do not say more.
   ranks: 1 */
#include "support/kernels.h"

#define FAR 0x1p200 /* no single-precision number is so large */

/* values of cell i: x[0] of own cells, x[1] of ghosts, whose array begins with the first of them */
static void CellValues(const Case *c, const double *x[])
{
  for (int i = 0; i < CELLS; i++) x[i] = c->x[i < OWN ? 0 : 1] + (i < OWN ? i : i - OWN) * c->N;
}

static PetscBool CheckApply(Case *c)
{
  const double *x[CELLS];
  double       *y = calloc(SWEPT * (size_t)c->N, sizeof *y);
  PetscBool     good = PETSC_TRUE;

  CellValues(c, x);
  for (int residual = 0; residual < 2; residual++) {
    ReferenceApply(&c->host, SWEPT, x, residual ? c->b : NULL, y);
    PetscCallAbort(PETSC_COMM_SELF, c->ops->apply(&c->view, 0, 7, c->vx[0], Late(c), residual ? c->vb : NULL, c->vy));
    PetscCallAbort(PETSC_COMM_SELF, c->ops->apply(&c->view, 7, SWEPT, c->vx[0], Late(c), residual ? c->vb : NULL, c->vy));
    good = good && Close(c, c->vy, SWEPT * (size_t)c->N, y);
  }
  PetscCallAbort(PETSC_COMM_SELF, c->ops->apply(&c->view, 3, 3, c->vx[0], Late(c), NULL, c->vy)); /* waits even for no cells */
  good = good && Close(c, c->vx[1], CELLS * (size_t)c->N, c->x[1]);
  free(y);
  return good;
}

/* a side of every cell, in some order: its traces, and coefficients from others, which change nothing else */
static PetscBool CheckTraces(Case *c)
{
  const int      N = c->N, lines = N / c->host.n;
  const size_t   all = (size_t)(CELLS * N);
  int32_t        list[CELLS];
  const int32_t *placed;
  double        *traces = malloc((size_t)(CELLS * 2 * lines) * sizeof *traces), *y = malloc(all * sizeof *y);
  PetscBool      good;

  for (int i = 0; i < CELLS; i++) {
    const int cell = CELLS - 1 - i;

    list[i] = 2 * c->host.dim * cell + (cell * 5 + 1) % (2 * c->host.dim);
  }
  placed = Place(c, list, sizeof list);
  ReferenceTraces(&c->host, CELLS, list, c->x[0], traces, NULL);
  PetscCallAbort(PETSC_COMM_SELF, c->ops->pack_traces(&c->view, CELLS, placed, c->vx[0], c->vy));
  good = Close(c, c->vy, (size_t)(CELLS * 2 * lines), traces);
  memcpy(y, c->b, all * sizeof *y);
  ReferenceTraces(&c->host, CELLS, list, y, NULL, c->x[0]);
  PetscCallAbort(PETSC_COMM_SELF, c->backend->copy(c->vb, all * c->real, c->vy));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->unpack_traces(&c->view, CELLS, placed, c->vx[0], c->vy));
  good = (PetscBool)(good && Close(c, c->vy, all, y));
  free(traces);
  free(y);
  return good;
}

/* a sweep over one colour, and what is current after it: all cells in another order, and in their own */
static PetscBool CheckSweep(Case *c, VpResidualMode mode, unsigned done)
{
  const size_t all = (size_t)(CELLS * c->N);
  double      *y[2], *picked = malloc(all * sizeof(double));
  int32_t      list[CELLS];
  PetscBool    good;
  void        *x[2];

  for (int i = 0; i < 2; i++) {
    y[i] = malloc(all * sizeof(double));
    memcpy(y[i], c->x[i], all * sizeof(double));
    PetscCallAbort(PETSC_COMM_SELF, c->backend->alloc(all * c->real, "a test", &x[i]));
    PetscCallAbort(PETSC_COMM_SELF, c->backend->copy(c->vx[i], all * c->real, x[i]));
  }
  for (int i = 0; i < CELLS; i++) list[i] = CELLS - 1 - i;
  ReferenceSweep(&c->host, &c->host_patches, mode, 0, PATCHES, done, c->b, y);
  PetscCallAbort(PETSC_COMM_SELF, c->ops->sweep(&c->view, &c->patches, mode, 0, PATCHES, done, c->vb, x));
  good = (PetscBool)(Close(c, x[0], all, y[0]) && Close(c, x[1], all, y[1]));
  ReferenceCurrent(&c->host, &c->host_patches, CELLS, list, done, y, picked);
  PetscCallAbort(PETSC_COMM_SELF, c->ops->current(&c->patches, CELLS, Place(c, list, sizeof list), done, x, c->vy));
  good = (PetscBool)(good && Close(c, c->vy, all, picked));
  ReferenceCurrent(&c->host, &c->host_patches, CELLS, NULL, done, y, y[0]);
  PetscCallAbort(PETSC_COMM_SELF, c->ops->settle(&c->patches, CELLS, done, x));
  good = (PetscBool)(good && Close(c, x[0], all, y[0]));
  free(picked);
  for (int i = 0; i < 2; i++) {
    free(y[i]);
    PetscCallAbort(PETSC_COMM_SELF, c->backend->release(x[i]));
  }
  return good;
}

enum { LATTICE = 36 };

/* t = M along d of the lattice, M[k][q] */
static void ReferenceAlong(const Case *c, const int32_t extent[3], int d, const double *M, const double *x, double *t)
{
  const int n = c->view.n, N = c->N, step = d == 0 ? 1 : d == 1 ? extent[0] : extent[0] * extent[1], m = extent[d] * n;
  const int stride = d == 0 ? 1 : d == 1 ? n : n * n;

  for (int i = 0; i < extent[0] * extent[1] * extent[2]; i++) {
    for (int k = 0; k < N; k++) {
      const int p = i / step % extent[d], a = k / stride % n;

      t[i * N + k] = 0;
      for (int q = 0; q < m; q++) t[i * N + k] += M[q * m + p * n + a] * x[(i + (q / n - p) * step) * N + k + (q % n - a) * stride];
    }
  }
}

/* x /= the sums of eigenvalues */
static void ReferenceDivide(const Case *c, const int32_t extent[3], const double *const lambda[3], double *x)
{
  const int n = c->view.n, N = c->N;

  for (int i = 0; i < extent[0] * extent[1] * extent[2]; i++) {
    for (int k = 0; k < N; k++) {
      double sum = 0;

      for (int d = 0, at = i, mode = k; d < c->view.dim; at /= extent[d++], mode /= n) sum += lambda[d][at % extent[d] * n + mode % n];
      x[i * N + k] = sum == 0 ? 0 : x[i * N + k] / sum;
    }
  }
}

/* The inverse of what separates on a lattice of cells in any order, with a sum of eigenvalues that is 0. Short lines have few values, long
   ones fill the blocks of a GPU. Of several vectors each has the cells of the lattice. */
static PetscBool CheckInvertOn(Case *c, const int32_t extent[3], int vectors)
{
  const int     n = c->view.n, N = c->N, dim = c->view.dim;
  const int32_t cells = extent[0] * extent[1] * extent[2], among = vectors > 1 ? cells : LATTICE;
  const size_t  all = (size_t)(cells * N);
  VpSeparable   s = {.extent = {extent[0], extent[1], extent[2]}};
  const double *to[3], *from[3], *lambda[3];
  double       *y[2] = {malloc(all * sizeof(double)), malloc(all * sizeof(double))}, *result = calloc(CELLS * (size_t)N, sizeof(double));
  int32_t       cell[LATTICE] = {0};
  void         *x[2];
  PetscBool     good;

  for (int i = 0; i < cells; i++) cell[i] = (5 * i + 2) % among;
  s.cell = Place(c, cell, sizeof cell);
  for (int d = 0; d < dim; d++) {
    const size_t m = (size_t)(extent[d] * n);
    double      *sums = Keep(c, malloc(m * sizeof(double)));

    to[d] = Reals(c, m * m, sqrt(3. / (double)m), &s.to[d]);
    from[d] = Reals(c, m * m, sqrt(3. / (double)m), &s.from[d]);
    for (size_t i = 0; i < m; i++) sums[i] = i ? 1 + Real() / 2 : 0;
    s.eigenvalue[d] = PlaceReals(c, m, sums);
    lambda[d] = sums;
  }
  for (int k = 0; k < vectors; k++) {
    for (int i = 0; i < cells * N; i++) y[0][i] = c->x[0][(k * cells + cell[i / N]) * N + i % N];
    for (int i = 0; i < 2 * dim; i++) {
      ReferenceAlong(c, extent, i % dim, i < dim ? to[i] : from[i - dim], y[i % 2], y[(i + 1) % 2]);
      if (i == dim - 1) ReferenceDivide(c, extent, lambda, y[(i + 1) % 2]);
    }
    for (int i = 0; i < cells; i++) memcpy(result + (k * cells + cell[i]) * N, y[0] + i * N, (size_t)N * sizeof(double));
  }
  for (int i = 0; i < 2; i++) PetscCallAbort(PETSC_COMM_SELF, c->backend->alloc(CELLS * (size_t)N * c->real, "a test", &x[i]));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->solve_lines(&c->view, &s, vectors, c->vx[0], x));
  for (int i = 0; i < LATTICE; i++) { /* x is any elsewhere */
    int in = 0;
    for (int j = 0; j < cells * vectors; j++) in |= j / cells * cells + cell[j % cells] == i;
    if (!in) PetscCallAbort(PETSC_COMM_SELF, c->backend->zero((char *)x[0] + (size_t)(i * N) * c->real, (size_t)N * c->real));
  }
  good = Close(c, x[0], CELLS * (size_t)N, result);
  for (int i = 0; i < 2; i++) free(y[i]);
  for (int i = 0; i < 2; i++) PetscCallAbort(PETSC_COMM_SELF, c->backend->release(x[i]));
  free(result);
  return good;
}

static PetscBool CheckInvert(Case *c)
{
  const int     flat = c->view.dim == 2;
  const int32_t extents[2][3] = {{3, 2, flat ? 1 : 2}, {flat ? 4 : 2, flat ? 9 : 1, flat ? 1 : 18}};

  return (PetscBool)(CheckInvertOn(c, extents[0], 1) && CheckInvertOn(c, extents[1], 1) && CheckInvertOn(c, extents[0], 2));
}

/* a matrix times two vectors, with `columns` columns */
static PetscBool CheckProductOf(Case *c, int columns)
{
  enum { ROWS = 13 };
  const void   *vM, *vx;
  const double *M = Reals(c, ROWS * columns, 1, &vM), *x = Reals(c, 2 * columns, 1, &vx);
  double       *y = calloc(CELLS * (size_t)c->N, sizeof *y);
  PetscBool     good;

  for (int i = 0; i < 2 * ROWS; i++) {
    for (int j = 0; j < columns; j++) y[i] += M[i % ROWS * columns + j] * x[i / ROWS * columns + j];
  }
  PetscCallAbort(PETSC_COMM_SELF, c->backend->zero(c->vy, (size_t)(CELLS * c->N) * c->real));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->product(&c->view, ROWS, columns, vM, 2, vx, c->vy));
  good = Close(c, c->vy, CELLS * (size_t)c->N, y);
  free(y);
  return good;
}

/* columns that no vector of a CPU divides, and that four numbers do not divide */
static PetscBool CheckProduct(Case *c)
{
  return (PetscBool)(CheckProductOf(c, 2 * 128 + 4) && CheckProductOf(c, 2 * 128 + 3));
}

static PetscBool CheckTransfers(Case *c)
{
  double   *y = malloc(CELLS * (size_t)c->N * sizeof *y);
  PetscBool good = PETSC_TRUE;

  for (int add = 0; add < 2; add++) { /* vy holds the first result when the second is added */
    ReferenceProlong(&c->host, &c->host_transfer, CELLS, (PetscBool)add, c->xc, y);
    PetscCallAbort(PETSC_COMM_SELF, c->ops->prolong(&c->transfer, 0, CELLS, (PetscBool)add, c->vxc, c->vy));
    good = (PetscBool)(good && Close(c, c->vy, CELLS * (size_t)c->N, y));
  }
  ReferenceRestrict(&c->host, &c->host_transfer, c->b, y);
  PetscCallAbort(PETSC_COMM_SELF, c->ops->restrict_(&c->transfer, c->vb, c->vy));
  good = (PetscBool)(good && Close(c, c->vy, COARSE * (size_t)c->N, y));
  free(y);
  return good;
}

/* b of the outer case enters, and its residual, both scaled; asked for the norm or not */
static PetscBool CheckEntering(Case *c, Case *outer)
{
  const int     N = c->N;
  const double *x[CELLS], scale = 2 / FAR;
  double *y = malloc(OWN * (size_t)N * sizeof *y), *r = malloc(OWN * (size_t)N * sizeof *r), *const ox = outer->vx[0], *const f = outer->vb;
  PetscBool good = PETSC_TRUE;

  CellValues(outer, x);
  for (int residual = 0; residual < 2; residual++) {
    double norm2 = 0, sum = 0;

    if (residual) ReferenceApply(&outer->host, OWN, x, outer->b, r);
    else memcpy(r, outer->b, OWN * (size_t)N * sizeof *r);
    for (int k = 0; k < OWN * N; k++) sum += PetscSqr(scale * r[k]);
    for (int i = 0; i < OWN; i++) ReferenceConvert(&c->host, c->host.enter, scale, r + i * N, PETSC_FALSE, y + i * N);
    for (int norm = 0; norm < 2; norm++) {
      PetscCallAbort(PETSC_COMM_SELF, c->backend->zero(c->vy, (size_t)(CELLS * N) * c->real));
      PetscCallAbort(PETSC_COMM_SELF,
                     c->ops->enter(&c->view, &outer->view, scale, residual ? ox : NULL, Late(outer), f, c->vy, norm ? &norm2 : NULL));
      good = (PetscBool)(good && Close(c, c->vy, OWN * (size_t)N, y) && (!norm || fabs(norm2 - sum) <= 1e-13 * sum));
      good = (PetscBool)(good && Close(outer, outer->vx[1], CELLS * (size_t)N, outer->x[1]));
    }
  }
  free(y);
  free(r);
  return good;
}

/* x, scaled, leaves to the outer case's b, or is added to it */
static PetscBool CheckLeaving(Case *c, Case *outer)
{
  const int    N = c->N;
  const double scale = 2 * FAR;
  double      *y = malloc(OWN * (size_t)N * sizeof *y);
  PetscBool    good = PETSC_TRUE;

  memcpy(y, outer->b, OWN * (size_t)N * sizeof *y);
  for (int add = 1; add >= 0; add--) {
    PetscCallAbort(PETSC_COMM_SELF, c->ops->leave(&c->view, (PetscBool)add, scale, c->vx[0], outer->vb));
    for (int i = 0; i < OWN; i++) ReferenceConvert(&c->host, c->host.leave, scale, c->x[0] + i * N, (PetscBool)add, y + i * N);
    good = (PetscBool)(good && Close(outer, outer->vb, OWN * (size_t)N, y));
  }
  free(y);
  return good;
}

/* vectors of the outer case become so large that single precision only holds them scaled */
static void Enlarge(Case *outer)
{
  double *const host[3] = {outer->x[0], outer->x[1], outer->b};
  void *const   on[3] = {outer->vx[0], outer->vx[1], outer->vb};
  const size_t  count = (size_t)(CELLS * outer->N);

  for (int v = 0; v < 3; v++) {
    for (size_t i = 0; i < count; i++) host[v][i] *= FAR;
    PetscCallAbort(PETSC_COMM_SELF, outer->backend->upload(host[v], count * sizeof(double), on[v]));
  }
}

static PetscBool CheckConversions(Case *c)
{
  PetscBool good;
  Case      outer;

  CaseCreate(&outer, VP_DOUBLE, c->view.dim, c->view.n - 1, 0);
  Enlarge(&outer);
  good = CheckEntering(c, &outer);
  good = (PetscBool)(CheckLeaving(c, &outer) && good);
  CaseDestroy(&outer);
  return good;
}

/* a NaN in b comes out of the cell it is in, or of all its patch */
static PetscBool CheckNan(Case *c)
{
  const int32_t *patch = c->host_patches.patch;
  const float    single = NAN;
  const double   real = NAN;
  const int      N = c->N;
  const size_t   at = (size_t)(patch[0] * N + N / 2), all = (size_t)(CELLS * N);
  double        *y;
  PetscBool      good;

  PetscCallAbort(PETSC_COMM_SELF,
                 c->backend->upload(c->precision == VP_SINGLE ? (void *)&single : (void *)&real, c->real, (char *)c->vb + at * c->real));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->apply(&c->view, 0, SWEPT, c->vx[0], VpGhostsAt(c->vx[1]), c->vb, c->vy));
  y = Fetch(c, c->vy, all);
  good = (PetscBool)isnan(y[at]);
  free(y);
  PetscCallAbort(PETSC_COMM_SELF, c->ops->sweep(&c->view, &c->patches, VP_MODE_REPLACE, 0, PATCHES, 0, c->vb, c->vx));
  y = Fetch(c, c->vx[1], all);
  for (int p = 0; p < c->corners; p++) good = (PetscBool)(good && isnan(y[patch[p] * N]));
  for (int i = 0; i < c->corners * N; i++) good = (PetscBool)(good && !isnan(y[patch[c->corners + i / N] * N + i % N]));
  free(y);
  return good;
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  enum { APPLY, TRACES, REPLACE, RESIDUALS, TRANSFERS, INVERSE, PRODUCT, CONVERSIONS, NANS, SINGULAR, CLAIMS };
  static const char *const claim[CLAIMS] = {"apply_matches_dense",        "traces_match_dense",      "replacement_matches_dense",
                                            "residual_modes_match_dense", "transfers_match_dense",   "inverse_matches_dense",
                                            "product_matches_loops",      "conversions_match_dense", "nan_propagates",
                                            "singular_modes_are_dropped"};
  PetscBool                good[CLAIMS];

  for (int i = 0; i < CLAIMS; i++) good[i] = PETSC_TRUE;
  for (int i = 0; i < VIEWS; i++) {
    Case            c;
    int             thin = i % 2, precision = i / 2 % 2, dim = 2 + i / 4 % 2, degree = 1 + i / 8;
    const PetscBool swept = (PetscBool)(thin || degree + 1 < VP_THIN_FROM(dim)); /* Levels with other traces are not swept, */
    PetscBool       now[CLAIMS];

    if (!swept && !precision) continue; /* nor in single precision. */
    CaseCreate(&c, precision ? VP_DOUBLE : VP_SINGLE, dim, degree, thin);
    tolerance = precision ? 1e-13 : 1e-5;
    now[APPLY] = CheckApply(&c);
    now[TRACES] = CheckTraces(&c);
    now[REPLACE] = (PetscBool)(!swept || CheckSweep(&c, VP_MODE_REPLACE, Random(256)));
    now[RESIDUALS] = (PetscBool)(!swept || (CheckSweep(&c, VP_MODE_CORRECT, Random(256)) && CheckSweep(&c, VP_MODE_LOCAL, Random(256)) &&
                                            CheckSweep(&c, VP_MODE_GIVEN, Random(256))));
    c.patches.factor = c.host_patches.factor = NULL;
    c.patches.cutoff = c.host_patches.cutoff = 4; /* some sums are below */
    PreparePlans(&c);
    now[SINGULAR] = (PetscBool)(!swept || CheckSweep(&c, VP_MODE_REPLACE, 0));
    now[TRANSFERS] = CheckTransfers(&c);
    now[INVERSE] = CheckInvert(&c);
    now[PRODUCT] = CheckProduct(&c);
    now[CONVERSIONS] = CheckConversions(&c);
    c.patches.cutoff = -1;
    now[NANS] = (PetscBool)(!swept || CheckNan(&c));
    for (int k = 0; k < CLAIMS; k++) {
      if (good[k] && !now[k])
        printf("# %s fails first at %s, dim %d, degree %d, %s traces\n", claim[k], precision ? "double" : "single", dim, degree,
               thin ? "thin" : "dense");
      good[k] = (PetscBool)(good[k] && now[k]);
    }
    CaseDestroy(&c);
  }
  for (int i = 0; i < CLAIMS; i++) TapOk(good[i], "%s", claim[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
