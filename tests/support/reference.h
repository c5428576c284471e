/* The kernels of ops.h as plain loops. Requires: the arrays of the views are on the host, and their numbers are double. */
#pragma once
#include "backend.h"

/* number of values per cell */
static inline int CellSize(const VpView *view)
{
  return (int)PetscPowInt(view->n, view->dim);
}

static inline int Stride(int n, int d)
{
  return d == 0 ? 1 : d == 1 ? n : n * n;
}

/* out += scale (A along direction d) in, on arrays n^dim */
static inline void AddAlong(int dim, int n, int d, const double *A, double scale, const double *in, double *out)
{
  const int N = (int)PetscPowInt(n, dim), stride = Stride(n, d);

  for (int at = 0; at < N; at++) {
    const int j = at / stride % n;

    for (int i = 0; i < n; i++) out[at] += scale * A[j * n + i] * in[at + (i - j) * stride];
  }
}

/* u [n^dim] = (A[dim-1] x ... x A[0]) u */
static inline void Tensor(int dim, int n, const double *const A[], double *u)
{
  const size_t bytes = (size_t)PetscPowInt(n, dim) * sizeof(double);
  double       t[8 * VP_MAX_N * VP_MAX_N * VP_MAX_N];

  for (int d = 0; d < dim; d++) {
    memset(t, 0, bytes);
    AddAlong(dim, n, d, A[d], 1, u, t);
    memcpy(u, t, bytes);
  }
}

/* out += scale * (contribution of the values v across side s in direction d to a cell with this line) */
static inline void AddFace(const VpView *view, const double *line, int d, int s, double scale, const double *v, double *out)
{
  const int     n = view->n, nt = view->nt;
  const double *g = line + n * n + s * 2 * n, *t = (const double *)view->traces + (1 - s) * 2 * nt;
  double        C[VP_MAX_N * VP_MAX_N] = {0};

  for (int j = 0; j < n; j++) {
    for (int i = 0; i < nt; i++) C[j * n + view->first[1 - s] + i] = g[j] * t[i] + g[n + j] * t[nt + i];
  }
  AddAlong(view->dim, n, d, C, scale, v, out);
}

/* the line of a cell in direction d */
static inline const double *LineOf(const VpView *view, int cell, int d)
{
  return (const double *)view->lines + view->line[cell * view->dim + d] * VpLineSize(view->n);
}

/* r = b - A x on a cell (b NULL: 0); x[i]: values of cell i */
static inline void CellResidual(const VpView *view, int cell, const double *const x[], const double *b, double *r)
{
  const int dim = view->dim, N = CellSize(view);

  for (int i = 0; i < N; i++) r[i] = b ? b[cell * N + i] : 0;
  for (int d = 0; d < dim; d++) {
    const double *line = LineOf(view, cell, d);

    AddAlong(dim, view->n, d, line, -1, x[cell], r);
    for (int s = 0; s < 2; s++) {
      const int beyond = view->neighbor[cell * 2 * dim + 2 * d + s];

      if (beyond >= 0) AddFace(view, line, d, s, -1, x[beyond], r);
    }
  }
}

/* The same at place p of a patch, without the sides that are inside the domain and outside the patch. */
static inline void LocalResidual(const VpView *view, const VpPatchView *patches, int cell, int p, const double *const x[], const double *b,
                                 double *r)
{
  const int dim = view->dim, N = CellSize(view);

  for (int i = 0; i < N; i++) r[i] = b[cell * N + i];
  for (int d = 0; d < dim; d++) {
    const int      outer = p >> d & 1, entry = view->line[cell * dim + d];
    const int32_t *beyond = view->neighbor + cell * 2 * dim + 2 * d;
    const double  *line = LineOf(view, cell, d);

    if (beyond[outer] >= 0) line = (const double *)patches->drop + (2 * entry + outer) * VpLineSize(view->n);
    AddAlong(dim, view->n, d, line, -1, x[cell], r);
    if (beyond[1 - outer] >= 0) AddFace(view, line, d, 1 - outer, -1, x[beyond[1 - outer]], r);
  }
}

/* r = b - (contribution of the cells around the patch to the cell at its place p) */
static inline void ReplacingResidual(const VpView *view, int cell, int p, const double *const x[], const double *b, double *r)
{
  const int dim = view->dim, N = CellSize(view);

  for (int i = 0; i < N; i++) r[i] = b[cell * N + i];
  for (int d = 0; d < dim; d++) {
    const int s = p >> d & 1, beyond = view->neighbor[cell * 2 * dim + 2 * d + s];

    if (beyond >= 0) AddFace(view, LineOf(view, cell, d), d, s, -1, x[beyond], r);
  }
}

/* r = right-hand side of a patch solve on the cell at place p */
static inline void PatchResidual(const VpView *view, const VpPatchView *patches, VpResidualMode mode, int cell, int p,
                                 const double *const x[], const double *b, double *r)
{
  switch (mode) {
  case VP_MODE_REPLACE:
    ReplacingResidual(view, cell, p, x, b, r);
    break;
  case VP_MODE_CORRECT:
    CellResidual(view, cell, x, b, r);
    break;
  case VP_MODE_LOCAL:
    LocalResidual(view, patches, cell, p, x, b, r);
    break;
  case VP_MODE_GIVEN:
    memcpy(r, b + cell * CellSize(view), (size_t)CellSize(view) * sizeof(double));
  }
}

/* v [(2n)^dim] = A_j^-1 v on patch j */
static inline void PatchInverse(const VpView *view, const VpPatchView *patches, int j, double *v)
{
  const int     dim = view->dim, m = 2 * view->n;
  const double *F[3], *B[3], *lambda[3], *factor = patches->factor ? (const double *)patches->factor + j * (dim + 1) : NULL;

  for (int d = 0; d < dim; d++) {
    F[d] = (const double *)patches->fdm + patches->type[j * dim + d] * VpFdmSize(view->n);
    B[d] = F[d] + m * m;
    lambda[d] = B[d] + m * m;
  }
  Tensor(dim, m, F, v);
  for (int i = 0; i < (int)PetscPowInt(m, dim); i++) {
    double sum = factor ? factor[dim] : patches->reaction;

    for (int d = 0; d < dim; d++) sum += (factor ? factor[d] : 1) * lambda[d][i / Stride(m, d) % m];
    v[i] *= sum > patches->cutoff ? 1 / sum : 0;
  }
  Tensor(dim, m, B, v);
}

/* index in its patch of value i of the cell at place p */
static inline int PatchIndex(int n, int p, int i)
{
  const int m = 2 * n;

  return i % n + (p & 1) * n + m * (i / n % n + (p >> 1 & 1) * n) + m * m * (i / (n * n) + (p >> 2) * n);
}

/* index of the buffer, x[0] or x[1], with the current values of a cell */
static inline int CurrentBuffer(const VpPatchView *patches, int cell, unsigned done)
{
  return __builtin_popcount(patches->cover[cell] & done) & 1;
}

/* Sweeps patches [first, last) of one colour. */
static inline void ReferenceSweep(const VpView *view, const VpPatchView *patches, VpResidualMode mode, int first, int last, unsigned done,
                                  const double *b, double *const x[2])
{
  const int      n = view->n, N = CellSize(view), corners = 1 << view->dim;
  const double **now = (const double **)malloc((size_t)view->nlocal * sizeof(*now));
  double         r[VP_MAX_N * VP_MAX_N * VP_MAX_N], v[8 * VP_MAX_N * VP_MAX_N * VP_MAX_N];

  for (int i = 0; i < view->nlocal; i++) now[i] = x[CurrentBuffer(patches, i, done)] + i * N;
  for (int j = first; j < last; j++) {
    const int32_t *cell = patches->patch + j * corners;

    for (int p = 0; p < corners; p++) {
      PatchResidual(view, patches, mode, cell[p], p, now, b, r);
      for (int i = 0; i < N; i++) v[PatchIndex(n, p, i)] = r[i];
    }
    PatchInverse(view, patches, j, v);
    for (int p = 0; p < corners; p++) {
      double *next = x[!CurrentBuffer(patches, cell[p], done)] + cell[p] * N;

      for (int i = 0; i < N; i++) next[i] = (mode == VP_MODE_REPLACE ? 0 : now[cell[p]][i]) + v[PatchIndex(n, p, i)];
    }
  }
  free(now);
}

/* to[i] = current values of cell list[i], or of cell i if list is NULL. Then `to` may be x[0]. */
static inline void ReferenceCurrent(const VpView *view, const VpPatchView *patches, int count, const int32_t *list, unsigned done,
                                    double *const x[2], double *to)
{
  const int N = CellSize(view);

  for (int i = 0; i < count; i++) {
    const int cell = list ? list[i] : i;

    memmove(to + i * N, x[CurrentBuffer(patches, cell, done)] + cell * N, (size_t)N * sizeof(double));
  }
}

/* y = A x, or y = b - A x if b is not NULL, on cells [0, count); x[i]: values of cell i */
static inline void ReferenceApply(const VpView *view, int count, const double *const x[], const double *b, double *y)
{
  const int N = CellSize(view);

  for (int i = 0; i < count; i++) CellResidual(view, i, x, b, y + i * N);
  for (int i = 0; i < count * N && !b; i++) y[i] = -y[i];
}

/* pack_traces() to `to` unless NULL, then unpack_traces() from `from` unless NULL, for sides that share no line */
static inline void ReferenceTraces(const VpView *view, int count, const int32_t *sides, double *x, double *to, const double *from)
{
  const int n = view->n, nt = view->nt, N = CellSize(view), lines = N / n;

  for (int i = 0; i < count; i++) {
    const int     cell = sides[i] / (2 * view->dim), side = sides[i] % (2 * view->dim), end = side % 2, stride = Stride(n, side / 2);
    const double *T = (const double *)view->traces + 2 * end * nt, *E = (const double *)view->expand + 2 * end * nt;

    for (int at = 0, l = 2 * i * lines; at < N; at++) {
      double *line = x + cell * N + at + view->first[end] * stride;

      if (at / stride % n) continue; /* No line starts here. */
      for (int k = 0; k < 2 && to; k++) {
        to[l + k * lines] = 0;
        for (int t = 0; t < nt; t++) to[l + k * lines] += T[k * nt + t] * line[t * stride];
      }
      for (int t = 0; t < nt && from; t++) line[t * stride] = E[t] * from[l] + E[nt + t] * from[l + lines];
      l++;
    }
  }
}

/* y = (add: +=) scale (M[dim-1] x ... x M[0]) x on a cell */
static inline void AddTensor(const VpView *view, const double *const M[], double scale, const double *x, PetscBool add, double *y)
{
  double t[VP_MAX_N * VP_MAX_N * VP_MAX_N];

  memcpy(t, x, (size_t)CellSize(view) * sizeof(double));
  Tensor(view->dim, view->n, M, t);
  for (int i = 0; i < CellSize(view); i++) y[i] = (add ? y[i] : 0) + scale * t[i];
}

/* The same with view->enter or view->leave in each direction. */
static inline void ReferenceConvert(const VpView *view, const void *matrix, double scale, const double *x, PetscBool add, double *y)
{
  const double *M[3] = {(const double *)matrix, (const double *)matrix, (const double *)matrix};

  AddTensor(view, M, scale, x, add, y);
}

/* M = P or R of a cell in each direction; identity: [n][n], scratch */
static inline void ChildMatrices(const VpView *view, const VpTransferView *transfer, const void *matrices, int32_t cell, double identity[],
                                 const double *M[3])
{
  const int n = view->n;

  for (int i = 0; i < n * n; i++) identity[i] = i % (n + 1) == 0;
  for (int d = 0; d < view->dim; d++) {
    const int lies = transfer->corner[cell] >> 2 * d & 3;

    M[d] = (const double *)matrices + (lies == VP_UNEQUAL ? transfer->table[cell * view->dim + d] : lies) * n * n;
    if (lies == VP_WHOLE) M[d] = identity;
  }
}

/* fine x = P xc (add: x += P xc) on cells [0, count) */
static inline void ReferenceProlong(const VpView *view, const VpTransferView *transfer, int count, PetscBool add, const double *xc,
                                    double *x)
{
  const int     N = CellSize(view);
  const double *P[3];
  double        identity[VP_MAX_N * VP_MAX_N];

  for (int i = 0; i < count; i++) {
    ChildMatrices(view, transfer, transfer->P, i, identity, P);
    AddTensor(view, P, 1, xc + transfer->parent[i] * N, add, x + i * N);
  }
}

/* coarse bc = R b */
static inline void ReferenceRestrict(const VpView *view, const VpTransferView *transfer, const double *b, double *bc)
{
  const int     N = CellSize(view), corners = 1 << view->dim;
  const double *R[3];
  double        identity[VP_MAX_N * VP_MAX_N];

  memset(bc, 0, (size_t)(transfer->ncoarse * N) * sizeof(double));
  for (int i = 0; i < transfer->ncoarse * corners; i++) {
    const int32_t child = transfer->child[i];

    if (child < 0) continue;
    ChildMatrices(view, transfer, transfer->R, child, identity, R);
    AddTensor(view, R, 1, b + child * N, PETSC_TRUE, bc + i / corners * N);
  }
}
