/* The kernels against plain loops, on random views: they are linear algebra, so tables and neighbours may be anything
   where bases and patches do not say more.
   ranks: 1 */
#include "support/kernels.h"

#define FAR 0x1p200 /* no single-precision number is so large */

static PetscBool CheckApply(Case *c)
{
  const double *x[CELLS];
  double       *y = calloc(SWEPT * (size_t)c->N, sizeof *y);
  PetscBool     good = PETSC_TRUE;

  for (int i = 0; i < CELLS; i++) x[i] = c->x[i < OWN ? 0 : 1] + (i < OWN ? i : i - OWN) * c->N; /* ghosts in an own array */
  for (int residual = 0; residual < 2; residual++) {
    for (int i = 0; i < SWEPT; i++) CellResidual(c, i, -1, x, residual ? c->b : NULL, y + i * c->N);
    if (!residual) {
      for (int i = 0; i < SWEPT * c->N; i++) y[i] = -y[i];
    }
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
  const VpView  *view = &c->host;
  const int      n = view->n, nt = view->nt, N = c->N, lines = N / n;
  const size_t   all = (size_t)(CELLS * N);
  int32_t        list[CELLS];
  const int32_t *placed;
  double        *traces = malloc((size_t)(CELLS * 2 * lines) * sizeof *traces), *y = malloc(all * sizeof *y);
  PetscBool      good;

  memcpy(y, c->b, all * sizeof *y);
  for (int i = 0; i < CELLS; i++) {
    const int     cell = CELLS - 1 - i, side = (cell * 5 + 1) % (2 * view->dim), end = side % 2;
    const int     stride = side < 2 ? 1 : side < 4 ? n : n * n;
    const double *T = c->traces + 2 * end * nt, *E = c->expand + 2 * end * nt, *from = c->x[0] + i * 2 * lines;

    list[i] = 2 * view->dim * cell + side;
    for (int at = 0, l = 0; at < N; at++) {
      if (at / stride % n) continue; /* no line starts here */
      for (int k = 0; k < 2; k++) traces[(2 * i + k) * lines + l] = 0;
      for (int t = 0; t < nt; t++) {
        const int to = cell * N + at + (view->first[end] + t) * stride;
        for (int k = 0; k < 2; k++) traces[(2 * i + k) * lines + l] += T[k * nt + t] * c->x[0][to];
        y[to] = E[t] * from[l] + E[nt + t] * from[lines + l];
      }
      l++;
    }
  }
  placed = Place(c, list, sizeof list);
  PetscCallAbort(PETSC_COMM_SELF, c->ops->gather_traces(&c->view, CELLS, placed, c->vx[0], c->vy));
  good = Close(c, c->vy, (size_t)(CELLS * 2 * lines), traces);
  PetscCallAbort(PETSC_COMM_SELF, c->backend->copy(c->vb, all * c->real, c->vy));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->scatter_traces(&c->view, CELLS, placed, c->vx[0], c->vy));
  good = (PetscBool)(good && Close(c, c->vy, all, y));
  free(traces);
  free(y);
  return good;
}

/* a sweep over one colour against the same by plain loops */
static PetscBool CheckSweep(Case *c, VpForm form, unsigned done)
{
  const VpView      *view = &c->host;
  const VpPatchView *patches = &c->host_patches;
  const int     dim = view->dim, n = view->n, m = 2 * n, N = c->N, block = VpFdmSize(n);
  const size_t  all = (size_t)(CELLS * N);
  const double *now[CELLS];
  double       *next[CELLS], *y[2], *picked = malloc(all * sizeof(double));
  int32_t       list[CELLS];
  PetscBool     good;
  void         *x[2];

  for (int i = 0; i < 2; i++) {
    y[i] = malloc(all * sizeof(double));
    memcpy(y[i], c->x[i], all * sizeof(double));
    PetscCallAbort(PETSC_COMM_SELF, c->backend->alloc(all * c->real, "a test", &x[i]));
    PetscCallAbort(PETSC_COMM_SELF, c->backend->copy(c->vx[i], all * c->real, x[i]));
  }
  for (int i = 0; i < CELLS; i++) {
    const int parity = __builtin_popcount(patches->cover[i] & done) & 1;
    now[i]  = c->x[parity] + i * N;
    next[i] = y[!parity] + i * N;
  }
  for (int j = 0; j < PATCHES; j++) {
    const double *F[3], *B[3], *lambda[3], w = c->patches.weight ? c->weight[j] : 1;
    double       *v = calloc((size_t)(c->corners * N), sizeof *v), r[VP_MAX_N * VP_MAX_N * VP_MAX_N];

    for (int pass = 0; pass < 2; pass++) { /* in, out */
      for (int p = 0; p < c->corners; p++) {
        const int cell = patches->patch[j * c->corners + p];
        if (!pass) {
          if (form == VP_FORM_EXACT || form == VP_FORM_LOCAL) CellResidual(c, cell, form == VP_FORM_LOCAL ? p : -1, now, c->b, r);
          else memcpy(r, c->b + cell * N, (size_t)N * sizeof(double));
          for (int d = 0; d < dim && form == VP_FORM_REPLACE; d++) {
            const int s = p >> d & 1, beyond = view->neighbor[cell * 2 * dim + 2 * d + s];
            if (beyond >= 0) Face(c, c->lines + view->line[cell * dim + d] * VpLineSize(n), d, s, -1, now[beyond], r);
          }
        }
        for (int i = 0; i < N; i++) {
          const int at = i % n + (p & 1) * n + m * (i / n % n + (p >> 1 & 1) * n) + m * m * (i / (n * n) + (p >> 2) * n);
          if (!pass) v[at] = r[i];
          else next[cell][i] = (form == VP_FORM_REPLACE ? 0 : now[cell][i]) + v[at];
        }
      }
      if (pass) break;
      for (int d = 0; d < dim; d++) {
        F[d]      = c->fdm + patches->type[j * dim + d] * block;
        B[d]      = F[d] + m * m;
        lambda[d] = B[d] + m * m;
      }
      Tensor(dim, m, F, v);
      for (int i = 0; i < c->corners * N; i++) {
        const double sum = lambda[0][i % m] + lambda[1][i / m % m] + (dim == 3 ? lambda[2][i / (m * m)] : 0) + patches->reaction * w;
        v[i] *= sum > c->patches.cutoff ? w / sum : 0;
      }
      Tensor(dim, m, B, v);
    }
    free(v);
  }
  PetscCallAbort(PETSC_COMM_SELF, c->ops->sweep(&c->view, &c->patches, form, 0, PATCHES, done, c->vb, x));
  good = (PetscBool)(Close(c, x[0], all, y[0]) && Close(c, x[1], all, y[1]));
  for (int i = 0; i < CELLS; i++) list[i] = CELLS - 1 - i;
  PetscCallAbort(PETSC_COMM_SELF, c->ops->current(&c->patches, CELLS, Place(c, list, sizeof list), done, x, c->vy));
  for (int i = 0; i < CELLS; i++) memcpy(picked + i * N, y[__builtin_popcount(patches->cover[list[i]] & done) & 1] + list[i] * N, (size_t)N * sizeof(double));
  good = (PetscBool)(good && Close(c, c->vy, all, picked));
  free(picked);
  for (int i = 0; i < CELLS; i++) memcpy(y[0] + i * N, y[__builtin_popcount(patches->cover[i] & done) & 1] + i * N, (size_t)N * sizeof(double));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->settle(&c->patches, CELLS, done, x));
  good = (PetscBool)(good && Close(c, x[0], all, y[0]));
  for (int i = 0; i < 2; i++) {
    free(y[i]);
    PetscCallAbort(PETSC_COMM_SELF, c->backend->release(x[i]));
  }
  return good;
}

/* a matrix along each direction of a lattice of cells in any order, with a factor and without */
static PetscBool CheckAlong(Case *c)
{
  const int      n = c->view.n, N = c->N, dim = c->view.dim;
  const int32_t  extent[3] = {3, 2, dim == 3 ? 2 : 1}, cells = extent[0] * extent[1] * extent[2];
  int32_t        cell[12];
  const int32_t *placed;
  PetscBool      good = PETSC_TRUE;

  for (int i = 0; i < cells; i++) cell[i] = (5 * i + 2) % 12; /* [3 .. ] in 2D: the cells not named stay as they are */
  placed = Place(c, cell, sizeof cell);
  for (int d = 0, step = 1, stride = 1; d < dim; step *= extent[d++], stride *= n) {
    const int     m = extent[d] * n;
    const void   *vM, *vw;
    const double *M = Reals(c, (size_t)(m * m), 1, &vM), *w = Reals(c, (size_t)(CELLS * N), 1, &vw);
    double       *y = calloc(CELLS * (size_t)N, sizeof *y);

    for (int weighted = 0; weighted < 2; weighted++) {
      PetscCallAbort(PETSC_COMM_SELF, c->backend->zero(c->vy, (size_t)(CELLS * N) * c->real));
      for (int i = 0; i < cells; i++) {
        const int p = i / step % extent[d];
        for (int k = 0; k < N; k++) {
          const int a = k / stride % n;
          double    sum = 0;
          for (int q = 0; q < m; q++)
            sum += M[(p * n + a) * m + q] * c->x[0][cell[i + (q / n - p) * step] * N + k + (q % n - a) * stride];
          y[cell[i] * N + k] = weighted ? w[cell[i] * N + k] * sum : sum;
        }
      }
      PetscCallAbort(PETSC_COMM_SELF, c->ops->along(&c->view, d, extent, placed, vM, weighted ? vw : NULL, c->vx[0], c->vy));
      good = (PetscBool)(good && Close(c, c->vy, CELLS * (size_t)N, y));
    }
    free(y);
  }
  return good;
}

static PetscBool CheckTransfers(Case *c)
{
  const VpTransferView *view = &c->host_transfer;
  const int     n = c->view.n, dim = c->view.dim, nn = n * n, N = c->N;
  double       *y = malloc(CELLS * (size_t)N * sizeof *y), *t = malloc((size_t)N * sizeof *t);
  PetscBool     good = PETSC_TRUE;

  for (int add = 0; add < 2; add++) { /* vy holds the first result when the second is added */
    for (int i = 0; i < CELLS; i++) {
      const double *A[3];
      for (int d = 0; d < 3; d++) A[d] = c->P + (view->corner[i] >> d & 1) * nn;
      memcpy(t, c->xc + view->parent[i] * N, (size_t)N * sizeof *t);
      Tensor(dim, n, A, t);
      for (int k = 0; k < N; k++) y[i * N + k] = (add ? y[i * N + k] : 0) + t[k];
    }
    PetscCallAbort(PETSC_COMM_SELF, c->ops->prolong(&c->transfer, 0, CELLS, (PetscBool)add, c->vxc, c->vy));
    good = (PetscBool)(good && Close(c, c->vy, CELLS * (size_t)N, y));
  }
  memset(y, 0, CELLS * (size_t)N * sizeof *y);
  for (int i = 0; i < COARSE * c->corners; i++) {
    const double *A[3];
    for (int d = 0; d < 3; d++) A[d] = c->R + (i % c->corners >> d & 1) * nn;
    memcpy(t, c->b + view->child[i] * N, (size_t)N * sizeof *t);
    Tensor(dim, n, A, t);
    for (int k = 0; k < N; k++) y[i / c->corners * N + k] += t[k];
  }
  PetscCallAbort(PETSC_COMM_SELF, c->ops->restrict_(&c->transfer, c->vb, c->vy));
  good = (PetscBool)(good && Close(c, c->vy, COARSE * (size_t)N, y));
  free(y);
  free(t);
  return good;
}

/* b of the outer case enters, its residual enters, its residual at x = 0 does, all scaled; asked for the norm or not */
static PetscBool CheckEntering(Case *c, Case *outer)
{
  const int     N = c->N, dim = c->view.dim, n = c->view.n;
  const double *enter[3] = {c->enter, c->enter, c->enter}, *x[CELLS];
  const double  scale = 2 / FAR;
  double       *y = malloc(OWN * (size_t)N * sizeof *y), *const ox = outer->vx[0], *const f = outer->vb;
  PetscBool     good = PETSC_TRUE;

  for (int i = 0; i < CELLS; i++) x[i] = outer->x[i < OWN ? 0 : 1] + (i < OWN ? i : i - OWN) * N;
  for (int form = 0; form < 3; form++) {
    double norm2 = 0, sum = 0;

    for (int i = 0; i < OWN; i++) {
      if (form == 1) CellResidual(outer, i, -1, x, outer->b, y + i * N);
      else memcpy(y + i * N, outer->b + i * N, (size_t)N * sizeof *y);
      for (int k = 0; k < N; k++) y[i * N + k] *= scale;
      for (int k = 0; k < N; k++) sum += y[i * N + k] * y[i * N + k];
      Tensor(dim, n, enter, y + i * N);
    }
    for (int norm = 0; norm < (form ? 2 : 1); norm++) {
      PetscCallAbort(PETSC_COMM_SELF, c->backend->zero(c->vy, (size_t)(CELLS * N) * c->real));
      if (!form) PetscCallAbort(PETSC_COMM_SELF, c->ops->enter(&c->view, scale, f, c->vy));
      else PetscCallAbort(PETSC_COMM_SELF, c->ops->enter_residual(&c->view, &outer->view, scale, form == 1 ? ox : NULL, Late(outer), f, c->vy, norm ? &norm2 : NULL));
      good = (PetscBool)(good && Close(c, c->vy, OWN * (size_t)N, y) && (!norm || fabs(norm2 - sum) <= 1e-13 * sum));
      good = (PetscBool)(good && (!form || Close(outer, outer->vx[1], CELLS * (size_t)N, outer->x[1])));
    }
  }
  free(y);
  return good;
}

/* x, scaled, leaves to the outer case's b, or is added to it */
static PetscBool CheckLeaving(Case *c, Case *outer)
{
  const int     N = c->N;
  const double *leave[3] = {c->leave, c->leave, c->leave}, scale = 2 * FAR;
  double       *y = malloc(OWN * (size_t)N * sizeof *y), *t = malloc((size_t)N * sizeof *t);
  PetscBool     good = PETSC_TRUE;

  for (int add = 1; add >= 0; add--) {
    PetscCallAbort(PETSC_COMM_SELF, c->ops->leave(&c->view, (PetscBool)add, scale, c->vx[0], outer->vb));
    for (int i = 0; i < OWN; i++) {
      memcpy(t, c->x[0] + i * N, (size_t)N * sizeof *t);
      Tensor(c->view.dim, c->view.n, leave, t);
      for (int k = 0; k < N; k++) y[i * N + k] = (add ? outer->b[i * N + k] : 0) + scale * t[k];
    }
    good = (PetscBool)(good && Close(outer, outer->vb, OWN * (size_t)N, y));
  }
  free(y);
  free(t);
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

  PetscCallAbort(PETSC_COMM_SELF, c->backend->upload(c->precision == VP_SINGLE ? (void *)&single : (void *)&real, c->real, (char *)c->vb + at * c->real));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->apply(&c->view, 0, SWEPT, c->vx[0], VpGhostsAt(c->vx[1]), c->vb, c->vy));
  y = Fetch(c, c->vy, all);
  good = (PetscBool)isnan(y[at]);
  free(y);
  PetscCallAbort(PETSC_COMM_SELF, c->ops->sweep(&c->view, &c->patches, VP_FORM_REPLACE, 0, PATCHES, 0, c->vb, c->vx));
  y = Fetch(c, c->vx[1], all);
  for (int p = 0; p < c->corners; p++) good = (PetscBool)(good && isnan(y[patch[p] * N]));
  for (int i = 0; i < c->corners * N; i++) good = (PetscBool)(good && !isnan(y[patch[c->corners + i / N] * N + i % N]));
  free(y);
  return good;
}

int main(int argc, char **argv)
{
  enum { APPLY, TRACES, REPLACE, RESIDUALS, TRANSFERS, ALONG, CONVERSIONS, NANS, SINGULAR, CLAIMS };
  static const char *const claim[CLAIMS] = {"apply_matches_dense",   "traces_match_dense",  "replacement_matches_dense", "residual_forms_match_dense",
                                            "transfers_match_dense", "along_matches_dense", "conversions_match_dense",   "nan_propagates",
                                            "singular_modes_are_dropped"};
  PetscBool good[CLAIMS];

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TapBegin(PETSC_COMM_SELF);
  for (int i = 0; i < CLAIMS; i++) good[i] = PETSC_TRUE;
  for (int i = 0; i < VIEWS; i++) {
    Case      c;
    int       thin = i % 2, precision = i / 2 % 2, dim = 2 + i / 4 % 2, degree = 1 + i / 8;
    PetscBool now[CLAIMS];

    CaseCreate(&c, precision ? VP_DOUBLE : VP_SINGLE, dim, degree, thin);
    tolerance = precision ? 1e-13 : 1e-5;
    now[APPLY]     = CheckApply(&c);
    now[TRACES]    = CheckTraces(&c);
    now[REPLACE]   = CheckSweep(&c, VP_FORM_REPLACE, Random(256));
    now[RESIDUALS] = (PetscBool)(CheckSweep(&c, VP_FORM_EXACT, Random(256)) && CheckSweep(&c, VP_FORM_LOCAL, Random(256)) && CheckSweep(&c, VP_FORM_GIVEN, Random(256)));
    ReleasePlans(&c);
    c.patches.weight  = NULL;
    c.patches.cutoff  = 4; /* some sums are below */
    now[SINGULAR]  = CheckSweep(&c, VP_FORM_REPLACE, 0);
    now[TRANSFERS] = CheckTransfers(&c);
    now[ALONG] = CheckAlong(&c);
    now[CONVERSIONS] = CheckConversions(&c);
    c.patches.cutoff    = -1;
    now[NANS]        = CheckNan(&c);
    for (int k = 0; k < CLAIMS; k++) {
      if (good[k] && !now[k]) printf("# %s fails first at %s, dim %d, degree %d, %s traces\n", claim[k], precision ? "double" : "single", dim, degree, thin ? "thin" : "dense");
      good[k] = (PetscBool)(good[k] && now[k]);
    }
    CaseDestroy(&c);
  }
  for (int i = 0; i < CLAIMS; i++) TapOk(good[i], "%s", claim[i]);
  PetscCall(PetscFinalize());
  return TapEnd();
}
