/* Edge patches of a level of an adaptive mesh: a leaf K of the coarser level and the cells F behind one of its sides (VpEdgeView). */
#include "cell.h"
#include "hanging.h"

enum { FACES = 1 << (DIM - 1), PATCH = FACES * VALUES };

/* the inverse of sums along the directions of an array */
typedef struct {
  const REAL *F[DIM], *B[DIM], *lambda[DIM];
} Tensor;
typedef void Solve(int d, const Tensor *, REAL reaction, REAL weight, REAL *v);

typedef struct {
  const VpView     *fine, *coarse;
  const VpEdgeView *edges;
  REAL             *b, *x, *xc;
  const REAL       *bc;
  VpHostResidual   *residual;
  Solve            *solve[2]; /* on arrays like K's, and like that of all F */
  XColumns          X;        /* of the last K */
} Edges;

INLINE const int32_t *SideAt(const Edges *e, int32_t at)
{
  return e->edges->sides.cell + (size_t)at * VP_HANG_CELL;
}

INLINE const REAL *Form(const Edges *e, int32_t at)
{
  return (const REAL *)e->edges->sides.form + (size_t)at * VP_HANG_FORM;
}

/* y += sign A_FK u_K for the i-th cell F of a side, where K has the traces t */
INLINE void AddToFine(const Edges *e, const int n, int32_t at, REAL sign, int i, Traces t, REAL *y)
{
  const REAL *form = Form(e, at), turned[5] = {form[2], form[3], form[0], form[1], form[4]};
  const int   side = SideAt(e, at)[1];
  Traces      there, here = {{0}};

  for (int k = 0; k < 2; k++) ToPart(n, (const REAL *)e->edges->sides.half, i, t[k], there[k]);
  Flux(n, turned, form[5 + i], here, there);
  AddLift(&e->edges->sides, n, side / 2, 1 - side % 2, sign, here, y);
}

/* sum += what A_KF u_F lifts, for the values u of the i-th cell F of a side */
INLINE void SumFromFine(const Edges *e, const int n, int32_t at, int i, const REAL *u, Traces sum)
{
  const int side = SideAt(e, at)[1];
  Traces    there, here = {{0}};
  REAL      whole[LINES];

  SideTraces(e->fine, n, side / 2, 1 - side % 2, u, there);
  Flux(n, Form(e, at), Form(e, at)[5 + i], here, there);
  for (int k = 0; k < 2; k++) {
    ToPart(n, (const REAL *)e->edges->sides.half + 2 * n * n, i, here[k], whole);
    for (int l = 0; l < Power(n) / n; l++) sum[k][l] += whole[l];
  }
}

/* b += sign A_FK u on all cells F behind K; `at` is one of K's sides */
INLINE void AddBehind(const Edges *e, const int n, int32_t at, REAL sign, const REAL *u)
{
  const int32_t K = SideAt(e, at)[0];
  Traces        t;

  while (at > 0 && SideAt(e, at - 1)[0] == K) at--;
  for (; at < e->edges->sides.n && SideAt(e, at)[0] == K; at++) {
    const int32_t *side = SideAt(e, at);

    SideTraces(e->coarse, n, side[1] / 2, side[1] % 2, u, t);
    for (int i = 0; i < FACES; i++) AddToFine(e, n, at, sign, i, t, e->b + (size_t)side[3 + i] * (size_t)Power(n));
  }
}

/* r = bc - A xc on a cell of the coarser level, where sides with bits in `without` have no cells beyond */
INLINE void CellResidual(Edges *e, const int n, const int nt, int32_t cell, int without, REAL *r)
{
  const VpView *view = e->coarse;
  const size_t  N = (size_t)Power(n);
  const REAL   *beyond[2 * DIM], *line[DIM];

  for (int side = 0; side < 2 * DIM; side++) {
    const int32_t c = view->neighbor[(size_t)cell * 2 * DIM + (size_t)side];

    beyond[side] = c < 0 || without >> side & 1 ? zero_cell : e->xc + (size_t)c * N;
  }
  for (int d = 0; d < DIM; d++) line[d] = Line(view->lines, n, view->line[(size_t)cell * DIM + (size_t)d]);
  Prepare(view, n, nt, line, &e->X);
  CellApply(view, n, nt, e->xc + (size_t)cell * N, beyond, &e->X, e->bc + (size_t)cell * N, r, NULL);
}

/* r -= A_KF x for the F behind one of K's sides */
INLINE void SubtractBehind(const Edges *e, const int n, int32_t at, const REAL *x, REAL *r)
{
  const int32_t *side = SideAt(e, at);
  Traces         sum = {{0}};

  for (int i = 0; i < FACES; i++) SumFromFine(e, n, at, i, x + (size_t)side[3 + i] * (size_t)Power(n), sum);
  AddLift(&e->edges->sides, n, side[1] / 2, side[1] % 2, -1, sum, r);
}

/* t = what the faces of one of K's sides test a cell with, beyond the form that K's line has there, from K's traces
   `own`: K itself, or (beyond) the cell that was refined */
INLINE void Excess(const Edges *e, const int n, int32_t at, int beyond, Traces own, Traces t)
{
  const REAL *form = Form(e, at), *half = (const REAL *)e->edges->sides.half, *excess = (const REAL *)e->edges->excess + (size_t)at * FACES;
  const REAL  root = (REAL)0.70710678118654752, large[5] = {form[2] * root, form[3] * root / 2, form[0], form[1], form[4]};

  memset(t, 0, sizeof(Traces));
  for (int i = 0; i < FACES; i++) {
    Traces part, none = {{0}};
    REAL   whole[LINES];

    for (int k = 0; k < 2; k++) ToPart(n, half, i, own[k], part[k]);
    if (beyond) Flux(n, large, excess[i], none, part);
    else Flux(n, form, excess[i], part, none);
    for (int k = 0; k < 2; k++) {
      ToPart(n, half + 2 * n * n, i, (beyond ? none : part)[k], whole);
      for (int l = 0; l < Power(n) / n; l++) t[k][l] += whole[l];
    }
  }
}

/* r -= what the line of K, whose values are u, lacks on one of its sides */
INLINE void SubtractExcess(const Edges *e, const int n, int32_t at, const REAL *u, REAL *r)
{
  const int32_t *side = SideAt(e, at);
  Traces         own, t;

  SideTraces(e->coarse, n, side[1] / 2, side[1] % 2, u, own);
  Excess(e, n, at, 0, own, t);
  AddLift(&e->edges->sides, n, side[1] / 2, side[1] % 2, -1, t, r);
}

/* r -= the same of the cell beyond that was refined */
INLINE void SubtractExcessBeyond(const Edges *e, const int n, int32_t at, const REAL *u, REAL *r)
{
  const int32_t *side = SideAt(e, at);
  Traces         own, t;

  SideTraces(e->coarse, n, side[1] / 2, side[1] % 2, u, own);
  Excess(e, n, at, 1, own, t);
  AddLift(&e->edges->sides, n, side[1] / 2, 1 - side[1] % 2, -1, t, r);
}

/* the residual of K, with traces of the finer level on sides that hang */
INLINE void CoarseResidual(Edges *e, const int n, int32_t at, REAL *r)
{
  const int32_t K = SideAt(e, at)[0];
  int32_t       first = at;
  int           without = 0;

  while (first > 0 && SideAt(e, first - 1)[0] == K) first--;
  for (int32_t i = first; i < e->edges->sides.n && SideAt(e, i)[0] == K; i++) without |= 1 << SideAt(e, i)[1];
  if (e->coarse->nt == VpThinLayers(n, DIM)) CellResidual(e, n, VpThinLayers(n, DIM), K, without, r);
  else CellResidual(e, n, VpDenseLayers(n), K, without, r);
  for (int32_t i = first; i < e->edges->sides.n && SideAt(e, i)[0] == K; i++) {
    SubtractBehind(e, n, i, e->x, r);
    if (e->edges->excess) SubtractExcess(e, n, i, e->xc + (size_t)K * (size_t)Power(n), r);
  }
}

/* lines of m values, `stride` apart, of so many in all: M times each */
INLINE void Contract(const int m, const int stride, const int total, const REAL *M, REAL *v)
{
  REAL T[4 * VP_MAX_N * VP_MAX_N], t[PATCH];

  for (int i = 0; i < m * m && stride == 1; i++) T[i % m * m + i / m] = M[i];
  for (int line = 0; line < total && stride == 1; line += m) {
    for (int j = 0; j < m; j++) t[j] = 0;
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < m; j++) t[j] += v[line + i] * T[i * m + j];
    }
    for (int j = 0; j < m; j++) v[line + j] = t[j];
  }
  for (int block = 0; block < total && stride > 1; block += m * stride) {
    for (int j = 0; j < m; j++) {
      for (int s = 0; s < stride; s++) t[j * stride + s] = 0;
      for (int i = 0; i < m; i++) {
        for (int s = 0; s < stride; s++) t[j * stride + s] += M[j * m + i] * v[block + i * stride + s];
      }
    }
    memcpy(v + block, t, (size_t)(m * stride) * sizeof(REAL));
  }
}

/* v = weight (T + reaction)^-1 v on an array of n values along d, `width` along others */
INLINE void SolveAlong(const int n, const int d, const int width, const Tensor *T, REAL reaction, REAL weight, REAL *v)
{
  const int total = n * width * (DIM == 3 ? width : 1);

  for (int e = 0, stride = 1; e < DIM; stride *= e == d ? n : width, e++) Contract(e == d ? n : width, stride, total, T->F[e], v);
  for (int i = 0; i < total; i++) {
    REAL sum = reaction;

    for (int e = 0, mode = i; e < DIM; mode /= e == d ? n : width, e++) sum += T->lambda[e][mode % (e == d ? n : width)];
    v[i] *= weight / sum;
  }
  for (int e = 0, stride = 1; e < DIM; stride *= e == d ? n : width, e++) Contract(e == d ? n : width, stride, total, T->B[e], v);
}

/* the same, where every direction has loops of its own */
INLINE void SolveTensor(const int n, int d, const int width, const Tensor *T, REAL reaction, REAL weight, REAL *v)
{
  if (d == 0) SolveAlong(n, 0, width, T, reaction, weight, v);
  else if (d == 1) SolveAlong(n, 1, width, T, reaction, weight, v);
  else SolveAlong(n, DIM - 1, width, T, reaction, weight, v);
}

/* those of K and of F in an entry of the table, whose sides are along d */
INLINE void SetTensors(const int n, const REAL *table, int d, Tensor *K, Tensor *F)
{
  const REAL *wide = table + (DIM + 1) * VpBlockSize(n), *normal = table + DIM * VpBlockSize(n);

  for (int e = 0; e < DIM; e++) {
    const REAL *own = table + e * VpBlockSize(n), *its = e == d ? normal : wide;
    const int   m = e == d ? n : 2 * n;

    K->F[e] = own;
    K->B[e] = own + n * n;
    K->lambda[e] = own + 2 * n * n;
    F->F[e] = its;
    F->B[e] = its + m * m;
    F->lambda[e] = its + 2 * m * m;
    if (e != d) wide += VpFdmSize(n);
  }
}

/* Where the i-th cell F begins in the array of all of them, and the strides of that. */
INLINE int PlaceOf(const int n, int d, int i, int stride[3])
{
  int start = 0;

  stride[0] = 1;
  for (int e = 0, bit = 0; e < DIM; e++) {
    if (e + 1 < 3) stride[e + 1] = stride[e] * (e == d ? n : 2 * n);
    if (e != d) start += (i >> bit++ & 1) * n * stride[e];
  }
  return start;
}

/* between the i-th cell's values and its place among those of all F */
INLINE void ToPatch(const int n, int d, int i, const REAL *cell, REAL *patch)
{
  int       stride[3];
  const int start = PlaceOf(n, d, i, stride);

  for (int k = 0; k < Power(n); k++) patch[start + k % n + k / n % n * stride[1] + (DIM == 3 ? k / n / n * stride[2] : 0)] = cell[k];
}
INLINE void FromPatch(const int n, int d, int i, const REAL *patch, REAL *cell)
{
  int       stride[3];
  const int start = PlaceOf(n, d, i, stride);

  for (int k = 0; k < Power(n); k++) cell[k] = patch[start + k % n + k / n % n * stride[1] + (DIM == 3 ? k / n / n * stride[2] : 0)];
}

/* t = Z t */
INLINE void Couple(const int n, const REAL *Z, Traces t)
{
  const int m = Power(n) / n;
  REAL      sum[2 * LINES] = {0};

  for (int column = 0; column < 2 * m; column++) {
    for (int row = 0; row < 2 * m; row++) sum[row] += Z[column * 2 * m + row] * t[column / m][column % m];
  }
  for (int k = 0; k < 2; k++) memcpy(t[k], sum + k * m, (size_t)m * sizeof(REAL));
}

/* u = S^-1 u for K, S = A_KK - A_KF A_FF^-1 A_FK */
INLINE void SolveCoarse(const Edges *e, const int n, int side, const Tensor *T, const REAL *Z, REAL weight, REAL *u)
{
  const REAL reaction = (REAL)e->edges->reaction * weight;
  REAL       v[VALUES] = {0};
  Traces     t;

  e->solve[0](side / 2, T, reaction, weight, u);
  SideTraces(e->coarse, n, side / 2, side % 2, u, t);
  Couple(n, Z, t);
  AddLift(&e->edges->sides, n, side / 2, side % 2, 1, t, v);
  e->solve[0](side / 2, T, reaction, 1, v);
  for (int k = 0; k < Power(n); k++) u[k] += v[k];
}

/* u_K = S^-1 (r_K - A_KF A_FF^-1 r_F), u_F = A_FF^-1 (r_F - A_FK u_K) */
INLINE void EdgePatch(Edges *e, const int n, int32_t at)
{
  const int32_t *item = SideAt(e, at);
  const int      d = item[1] / 2, N = Power(n);
  const REAL    *table = (const REAL *)e->edges->table + (size_t)e->edges->type[at] * (size_t)VpEdgeSize(n, DIM);
  const REAL    *Z = table + (DIM + 1) * VpBlockSize(n) + (DIM - 1) * VpFdmSize(n);
  const REAL     weight = e->edges->weight ? ((const REAL *)e->edges->weight)[at] : 1, reaction = (REAL)e->edges->reaction * weight;
  REAL           y[PATCH], q[PATCH], u[VALUES], cell[VALUES];
  Traces         t = {{0}};
  Tensor         K, F;

  SetTensors(n, table, d, &K, &F);
  CoarseResidual(e, n, at, u);
  for (int i = 0; i < FACES; i++) {
    e->residual(e->fine, item[3 + i], item[3 + i] + 1, e->x, e->x + (size_t)e->fine->nown * (size_t)N, e->b, cell);
    ToPatch(n, d, i, cell, y);
  }
  e->solve[1](d, &F, reaction, weight, y);
  for (int i = 0; i < FACES; i++) {
    FromPatch(n, d, i, y, cell);
    SumFromFine(e, n, at, i, cell, t);
  }
  AddLift(&e->edges->sides, n, d, item[1] % 2, -1, t, u);
  SolveCoarse(e, n, item[1], &K, Z, weight, u);
  SideTraces(e->coarse, n, d, item[1] % 2, u, t);
  for (int i = 0; i < FACES; i++) {
    memset(cell, 0, sizeof cell);
    AddToFine(e, n, at, 1, i, t, cell);
    ToPatch(n, d, i, cell, q);
  }
  e->solve[1](d, &F, reaction, weight, q);
  for (int i = 0; i < FACES * N; i++) y[i] -= q[i];
  for (int i = 0; i < FACES; i++) {
    FromPatch(n, d, i, y, cell);
    for (int k = 0; k < N; k++) e->x[(size_t)item[3 + i] * (size_t)N + (size_t)k] += cell[k];
  }
  for (int k = 0; k < N; k++) e->xc[(size_t)item[0] * (size_t)N + (size_t)k] += u[k];
  AddBehind(e, n, at, -1, u);
}

INLINE PetscErrorCode SolveEdges(const VpView *fine, const VpView *coarse, const VpEdgeView *edges, const int n, int32_t first,
                                 int32_t last, VpHostResidual *residual, Solve *const solve[2], REAL *b, REAL *x, const REAL *bc, REAL *xc)
{
  Edges e = {.fine = fine, .coarse = coarse, .edges = edges, .b = b, .x = x, .bc = bc, .xc = xc, .residual = residual};

  PetscFunctionBegin;
  PetscCall(CheckTraces(fine, n));
  for (int i = 0; i < 2; i++) e.solve[i] = solve[i];
  for (int32_t i = first; i < last; i++) EdgePatch(&e, n, edges->order[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

INLINE PetscErrorCode AddCoarse(const VpView *view, const VpEdgeView *edges, const int n, int sign, const REAL *xc, REAL *b)
{
  const Edges e = {.fine = view, .coarse = view, .edges = edges, .b = b};

  PetscFunctionBegin;
  for (int32_t at = 0; at < edges->sides.n; at++) {
    const int32_t K = SideAt(&e, at)[0];

    if (!at || SideAt(&e, at - 1)[0] != K) AddBehind(&e, n, at, (REAL)sign, xc + (size_t)K * (size_t)Power(n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

INLINE PetscErrorCode SubtractFine(const VpView *fine, const VpView *coarse, const VpEdgeView *edges, const int n, const REAL *x,
                                   const REAL *xc, REAL *bc)
{
  const Edges  e = {.fine = fine, .coarse = coarse, .edges = edges};
  const size_t N = (size_t)Power(n);

  PetscFunctionBegin;
  for (int32_t at = 0; at < edges->sides.n; at++) {
    const size_t  K = (size_t)SideAt(&e, at)[0];
    const int32_t refined = coarse->neighbor[K * 2 * DIM + (size_t)SideAt(&e, at)[1]];

    SubtractBehind(&e, n, at, x, bc + K * N);
    if (!edges->excess) continue;
    SubtractExcess(&e, n, at, xc + K * N, bc + K * N);
    if (refined < coarse->nown) SubtractExcessBeyond(&e, n, at, xc + K * N, bc + (size_t)refined * N);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define VP_DEGREE(k) \
  static void SolveCoarse##k(int d, const Tensor *T, REAL reaction, REAL weight, REAL *v) \
  { \
    SolveTensor(k + 1, d, k + 1, T, reaction, weight, v); \
  } \
  static void SolveFine##k(int d, const Tensor *T, REAL reaction, REAL weight, REAL *v) \
  { \
    SolveTensor(k + 1, d, 2 * (k + 1), T, reaction, weight, v); \
  } \
  PetscErrorCode VP_NAME(AddCoarse, VP_REAL, VP_DIM, k)(const VpView *view, const VpEdgeView *edges, int sign, const void *xc, void *b) \
  { \
    return AddCoarse(view, edges, k + 1, sign, xc, b); \
  } \
  PetscErrorCode VP_NAME(SubtractFine, VP_REAL, VP_DIM, k)(const VpView *fine, const VpView *coarse, const VpEdgeView *edges, \
                                                           const void *x, const void *xc, void *bc) \
  { \
    return SubtractFine(fine, coarse, edges, k + 1, x, xc, bc); \
  } \
  PetscErrorCode VP_NAME(SolveEdges, VP_REAL, VP_DIM, k)(const VpView *fine, const VpView *coarse, const VpEdgeView *edges, int32_t first, \
                                                         int32_t last, void *b, void *x, const void *bc, void *xc) \
  { \
    Solve *const solve[2] = {SolveCoarse##k, SolveFine##k}; \
    return SolveEdges(fine, coarse, edges, k + 1, first, last, VP_NAME(Residual, VP_REAL, VP_DIM, k), solve, b, x, bc, xc); \
  }
#include "../degrees.def"
