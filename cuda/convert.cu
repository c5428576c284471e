/* Conversion between the outer vectors, in double precision and the outer basis, and a level's vectors. */
#include "device/sum.cuh"
#include "plan/viewplans.cuh"

using namespace vpatchdg::tile;

/* What a thread reads a cell's values from: those of cells, or of nodes. */
template <class T>
struct FromCells {
  const T *x;

  __device__ __forceinline__ T Value(int32_t cell, int k, int values) const
  {
    return x[(size_t)cell * values + k];
  }
};
template <int N>
struct FromNodes {
  VpGather      g;
  const double *x;

  __device__ __forceinline__ double At(int32_t place) const
  {
    const int32_t k = g.nodes.node[place];

    return k < 0 ? 0. : (g.of_node ? g.of_node[k] : 1.) * x[k];
  }
  __device__ __forceinline__ double Value(int32_t cell, int k, int values) const
  {
    if constexpr (N == 2) { /* Only cells of degree 1 are wide. */
      double sum = 0, share;

      for (int m = 0; m < values && g.nodes.wide; m++) {
        const int place = VpWidePlace(g.nodes.dim, k, m, &share);

        sum += share * At(cell * g.nodes.places + place);
      }
      if (g.nodes.wide) return g.of_cell[cell] * sum;
    }
    return g.of_cell[cell] * At(cell * values + k);
  }
};

/* A thread has a line of a cell, and those beyond the last cell repeat it. partial: NULL, or the sums of squares of what enters */
template <class T, int DIM, int N, class From>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  EnterCells(const __grid_constant__ Matrix<T, N> M, const __grid_constant__ Roots roots, const __grid_constant__ From from, int32_t count,
             double scale, T *b, double *partial)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot, in = cell < count ? cell : count - 1;
  double                    r[N], sum = 0;
  T                         v[N];

  UNROLL (int i = 0; i < N; i++) r[i] = from.Value(in, l + i * S::lines, S::values);
  UNROLL (int i = 0; i < N; i++) {
    r[i] *= scale;
    sum += r[i] * r[i];
    v[i] = (T)(r[i] * roots.Inverse(in, l + i * S::lines, S::values));
  }
  ContractCell<T, DIM, N>(M, s + slot * S::size, l, v);
  if (cell < count) {
    UNROLL (int i = 0; i < N; i++) b[(size_t)in * S::values + l + i * S::lines] = v[i];
  }
  if (partial) BlockSum(cell < count ? sum : 0., partial);
}

template <class T, int DIM, int N, class From>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  LeaveCells(const __grid_constant__ Matrix<T, N> M, const __grid_constant__ Roots roots, const __grid_constant__ From from, int32_t count,
             bool add, double scale, double *z)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot, in = cell < count ? cell : count - 1;
  const size_t              at = (size_t)in * S::values + l;
  double                    factor[N], before[N]; /* They are under way before the first result is stored. */
  T                         v[N];

  UNROLL (int i = 0; i < N; i++) {
    v[i] = (T)from.Value(in, l + i * S::lines, S::values);
    factor[i] = scale * roots.Inverse(in, l + i * S::lines, S::values);
    before[i] = add ? z[at + i * S::lines] : 0.;
  }
  ContractCell<T, DIM, N>(M, s + slot * S::size, l, v);
  if (cell >= count) return;
  UNROLL (int i = 0; i < N; i++) z[at + i * S::lines] = before[i] + factor[i] * (double)v[i];
}

/* partial[2][blocks] = the sums of the products of what leaves with y0 and y1, which may be one vector */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  LeaveProducts(const __grid_constant__ Matrix<T, N> M, const __grid_constant__ Roots roots, const T *x, int32_t count, double scale,
                const double *y0, const double *y1, double *partial)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot, in = cell < count ? cell : count - 1;
  const size_t              at = (size_t)in * S::values + l;
  double                    a[N], b[N], sum[2] = {0, 0};
  T                         v[N];

  UNROLL (int i = 0; i < N; i++) {
    const double factor = scale * roots.Inverse(in, l + i * S::lines, S::values);

    v[i] = x[at + i * S::lines];
    a[i] = factor * y0[at + i * S::lines];
    b[i] = factor * y1[at + i * S::lines];
  }
  ContractCell<T, DIM, N>(M, s + slot * S::size, l, v);
  UNROLL (int i = 0; i < N; i++) {
    sum[0] += a[i] * (double)v[i];
    sum[1] += b[i] * (double)v[i];
  }
  for (int k = 0; k < 2; k++) {
    BlockSum(cell < count ? sum[k] : 0., partial + k * gridDim.x);
    __syncthreads(); /* before the next sum takes the same memory */
  }
}

template <class T, int DIM, int N, class Hanging>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  EnterCellResiduals(const __grid_constant__ Matrix<T, N> M, const __grid_constant__ Field<double> f, const __grid_constant__ Roots roots,
                     const __grid_constant__ Hanging hanging, const int32_t *list, int32_t count, double scale, const double *rhs, T *b,
                     double *partial)
{
  typedef CellShape<DIM, N>         S;
  typedef CellLines<double, DIM, N> Lines;
  __shared__ double                 X[S::cells * S::size], Y[S::cells * S::size];
  __shared__ __align__(VP_WIDE_BYTES) double line[S::cells * Lines::size];
  __shared__ T                               s[S::cells * S::size];
  const int                                  slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t index = blockIdx.x * S::cells + slot, last = index < count ? index : count - 1, in = list ? list[last] : last;
  const size_t  at = (size_t)in * S::values + l;
  double        r[N], sum = 0;
  T             v[N];

  LoadCell<double, DIM, N>(f.x + (size_t)in * S::values, X + slot * S::size, l);
  ApplyCell<double, DIM, N>(f, in, X + slot * S::size, Y + slot * S::size, line + slot * Lines::size, l, r, hanging);
  UNROLL (int i = 0; i < N; i++) {
    r[i] = scale * (rhs[at + i * S::lines] - r[i]);
    sum += r[i] * r[i];
    v[i] = (T)(r[i] * roots.Inverse(in, l + i * S::lines, S::values));
  }
  ContractCell<T, DIM, N>(M, s + slot * S::size, l, v);
  if (index < count) {
    UNROLL (int i = 0; i < N; i++) b[at + i * S::lines] = v[i];
  }
  BlockSum(index < count ? sum : 0., partial);
}

/* out = M in on each of the C cells of a line, for which an entry is read once */
template <class T, int N, int C>
__device__ __forceinline__ void ContractCells(const Matrix<T, N> &M, const T (&in)[C][N], T (&out)[C][N])
{
  UNROLL (int j = 0; j < N; j++) {
    UNROLL (int i = 0; i < N; i++) {
      UNROLL (int c = 0; c < C; c++) out[c][i] = (j ? out[c][i] : T(0)) + M.a[i * N + j] * in[c][j];
    }
  }
}

/* Multiplies the tile's lines along D in F, which is in shared memory, by M. Calls to(at, in, i, value) with ApplyLines' `at` and `in`. */
template <class S, int D, class T, class To>
__device__ __forceinline__ void ConvertLines(const Matrix<T, S::n> &M, const T *F, To to)
{
  constexpr int C = S::extent(D), step = D == 1 ? S::sy : S::sz;

  ForLines<S, D>([&](int, int, int place, int in) {
    T u[C][S::n], w[C][S::n];

    UNROLL (int c = 0; c < C; c++) {
      UNROLL (int i = 0; i < S::n; i++) u[c][i] = F[in + c * S::cs(D) + i * step];
    }
    ContractCells<T, S::n, C>(M, u, w);
    UNROLL (int c = 0; c < C; c++) {
      UNROLL (int i = 0; i < S::n; i++) to(place + S::spread(D, c) * S::values, in + c * S::cs(D), i, w[c][i]);
    }
  });
}

/* A tile whose residual enters. X holds the tile's x, and Y its right-hand side, both in shared memory. */
template <class S, class Hanging>
struct EnteringTile {
  const TileTables<S::n> &t;
  const Field<double>    &f;
  const Hanging          &hanging;
  const int32_t           first;
  const double            scale;
  double *const X, *const Y;

  /* Y -= D_d x */
  template <int D>
  __device__ __forceinline__ void SubtractLines(const TileGhosts<S, D> &G) const
  {
    constexpr int step = D == 0 ? 1 : D == 1 ? S::sy : S::sz;
    double *const to = Y;

    ApplyLines<S, D>(t, GhostTraces(t, G, hanging), X, [=](int, int, int i, int, int in, double v) { to[in + i * step] -= v; });
  }
  /* Y -= the terms of A x along A and B. Meanwhile the values beyond the tile are loaded, those along C for what comes next. */
  template <int A, int B, int C>
  __device__ __forceinline__ void SubtractTwo(TileGhosts<S, A> &GA, TileGhosts<S, B> &GB, TileGhosts<S, C> &GC) const
  {
    LoadGhosts(f, first, GA);
    AwaitCopy();
    LoadGhosts(f, first, GB);
    SubtractLines(GA);
    __syncthreads();
    LoadGhosts(f, first, GC);
    SubtractLines(GB);
    __syncthreads();
  }
};

/* Most residuals are not scaled, and the kernels have no register to spare for a factor. */
template <bool SCALED>
__device__ __forceinline__ double ScaleResidual(double scale, double r)
{
  return SCALED ? scale * r : r;
}

/* b = the scaled residual, if the level has the outer basis. Returns the sum of the residual's squares over the thread's lines. */
template <bool SCALED, class T, class S, class Hanging>
__device__ __forceinline__ double EnterSame(const EnteringTile<S, Hanging> &e, TileGhosts<S, 0> &G0, TileGhosts<S, 1> &G1,
                                            TileGhosts<S, 2> &G2, T *b)
{
  const double        scale = e.scale;
  const double *const Y = e.Y;
  double              sum = 0;

  e.SubtractTwo(G0, G1, G2);
  ApplyLines<S, 2>(e.t, GhostTraces(e.t, G2, e.hanging), e.X, [=, &sum](int, int, int i, int place, int in, double v) {
    const double r = ScaleResidual<SCALED>(scale, Y[in + i * S::sz] - v);
    b[place + i * S::n * S::n] = (T)r;
    sum += r * r;
  });
  return sum;
}

/* The same with a change of basis, which is done in the level's precision and in the memory of X. */
template <bool SCALED, class T, class S, class Hanging>
__device__ __forceinline__ double EnterConverted(const EnteringTile<S, Hanging> &e, const Matrix<T, S::n> &M, TileGhosts<S, 0> &G0,
                                                 TileGhosts<S, 1> &G1, TileGhosts<S, 2> &G2, T *b)
{
  constexpr int       C = S::extent(0);
  const double        scale = e.scale;
  const double *const Y = e.Y;
  T                   r[TileGhosts<S, 0>::rounds][C][S::n], w[C][S::n], *F = (T *)e.X;
  double              sum = 0;

  e.SubtractTwo(G2, G1, G0);
  ApplyLines<S, 0>(e.t, GhostTraces(e.t, G0, e.hanging), e.X, [=, &sum, &r](int k, int c, int i, int, int in, double v) {
    const double a = ScaleResidual<SCALED>(scale, Y[in + i] - v);
    sum += a * a;
    r[k][c][i] = (T)a;
  });
  __syncthreads();
  ForLines<S, 0>([&](int k, int, int, int in) {
    ContractCells<T, S::n, C>(M, r[k], w);
    UNROLL (int c = 0; c < C; c++) {
      UNROLL (int i = 0; i < S::n; i++) F[in + c * S::cs(0) + i] = w[c][i];
    }
  });
  __syncthreads();
  ConvertLines<S, 1>(M, F, [=](int, int in, int i, T v) { F[in + i * S::sy] = v; });
  __syncthreads();
  ConvertLines<S, 2>(M, F, [=](int place, int, int i, T v) { b[place + i * S::n * S::n] = v; });
  return sum;
}

template <bool SCALED, class T, class S, class Hanging>
__global__ void __launch_bounds__(S::threads, S::least)
  EnterTiles(const __grid_constant__ Matrix<T, S::n> M, const __grid_constant__ TileTables<S::n> t, const __grid_constant__ Field<double> f,
             const __grid_constant__ Hanging hanging, const int32_t *list, int32_t start, double scale, const double *rhs, T *b,
             double *partial)
{
  extern __shared__ double X[];
  double                  *Y = X + S::size;
  const int32_t            first = list ? list[blockIdx.x] : start + blockIdx.x * S::cells;
  const size_t             at = (size_t)first * S::values, ahead = (size_t)Ahead<S>() * S::cells * S::values;
  TileGhosts<S, 0>         G0;
  TileGhosts<S, 1>         G1;
  TileGhosts<S, 2>         G2;

  FindGhosts(f, first, G0);
  FindGhosts(f, first, G1);
  FindGhosts(f, first, G2);
  CopyTile<S>(rhs + at, Y);
  CopyTile<S>(f.x + at, X);
  if (threadIdx.x == 0 && blockIdx.x + Ahead<S>() < gridDim.x) {
    PrefetchTile<S>(f.x + at + ahead);
    PrefetchTile<S>(rhs + at + ahead);
  }
  const EnteringTile<S, Hanging> e = {t, f, hanging, first, scale, X, Y};
  if constexpr (S::n < VP_THIN_LEAST) BlockSum(EnterSame<SCALED>(e, G0, G1, G2, b + at), partial);
  else BlockSum(EnterConverted<SCALED>(e, M, G0, G1, G2, b + at), partial);
}

template <class T, int DIM, int N>
struct Conversions {
  typedef CellShape<DIM, N> S;

  static PetscErrorCode GetPlan(const VpView *view, ConvertPlan<T, N> **plan)
  {
    auto fill = [view](ConvertPlan<T, N> *p) {
      PetscFunctionBegin;
      if (view->enter) PetscCall(VpCudaFetchEntry(view->enter, 0, p->enter));
      if (view->leave) PetscCall(VpCudaFetchEntry(view->leave, 0, p->leave));
      p->blocks = VpBlocks(view->nown, S::cells);
      PetscCall(VpCudaAlloc(((size_t)p->blocks + (size_t)view->nown / 8 + 2) * sizeof(double), "partial sums of squares", &p->partial.p));
      PetscFunctionReturn(PETSC_SUCCESS);
    };

    return VpCudaPlans<ViewPlans<T, DIM, N>>(view).convert.Get(plan, fill);
  }

  template <class From>
  static PetscErrorCode LeaveFrom(const ConvertPlan<T, N> &plan, const VpView *view, const From &from, PetscBool add, double scale,
                                  double *z)
  {
    return VpCudaLaunch("leave", LeaveCells<T, DIM, N, From>, {plan.blocks, S::threads}, plan.leave, Roots(view), from, view->nown,
                        (bool)add, scale, z);
  }

  static PetscErrorCode Leave(const VpView *view, PetscBool add, double scale, const void *x, double *z)
  {
    ConvertPlan<T, N> *plan = NULL;

    PetscFunctionBegin;
    PetscCall(GetPlan(view, &plan));
    if (view->gather) PetscCall(LeaveFrom(*plan, view, FromNodes<N>{*view->gather, (const double *)x}, add, scale, z));
    else PetscCall(LeaveFrom(*plan, view, FromCells<T>{(const T *)x}, add, scale, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Products(const VpView *view, double scale, const void *x, int n, const double *const y[], double sums[])
  {
    ConvertPlan<T, N> *plan = NULL;
    double            *partial, both[2] = {0, 0};

    PetscFunctionBegin;
    for (int k = 0; k < n; k++) sums[k] = 0;
    if (!view->nown) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(GetPlan(view, &plan));
    PetscCall(VpBackendCuda.borrow((size_t)plan->blocks * 2 * sizeof(double), "products of vectors", (void **)&partial));
    PetscCall(VpCudaLaunch("products of what leaves", LeaveProducts<T, DIM, N>, {plan->blocks, S::threads}, plan->leave, Roots(view),
                           (const T *)x, view->nown, scale, y[0], y[n - 1], partial));
    PetscCall(VpCudaSums(2, plan->blocks, partial, both));
    PetscCall(VpBackendCuda.give_back(partial));
    for (int k = 0; k < n; k++) sums[k] = both[k];
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* What enters: b = enter scale (f - A x). Launches on cells and on tiles add to *blocks the partial sums that they write. */
  struct Entering {
    const ConvertPlan<T, N> *plan;
    const VpView            *view, *outer;
    double                   scale;
    VpGhosts                 ghosts;
    const double            *f;
    T                       *b;
    int                     *blocks;
  };

  template <class Hanging>
  static PetscErrorCode EnterFromCells(const Entering &e, const Field<double> &field, const Hanging &hanging, const SplitCells &cell,
                                       int border)
  {
    const int32_t count = cell.n[border], here = VpBlocks(count, S::cells);
    double       *partial = (double *)e.plan->partial.p + *e.blocks;

    *e.blocks += here;
    return VpCudaLaunch("enter_residual", EnterCellResiduals<T, DIM, N, Hanging>, {here, S::threads}, e.plan->enter, field, Roots(e.view),
                        hanging, cell.List(border), count, e.scale, e.f, e.b, partial);
  }

  template <class Hanging>
  static PetscErrorCode EnterFromTiles(const Entering &e, const SizeTiles<N> &tiles, const Field<double> &field, const Hanging &hanging,
                                       int border)
  {
    typedef TilesFor<N, Hanging> Tiles;
    const int32_t                count = tiles.tile.n[border];
    auto                         kernel = e.scale == 1 ? EnterTiles<false, T, Tiles, Hanging> : EnterTiles<true, T, Tiles, Hanging>;
    double                      *partial = (double *)e.plan->partial.p + *e.blocks;

    *e.blocks += count;
    return VpCudaLaunch("enter_residual on tiles", kernel, {count, Tiles::threads, 2 * Tiles::bytes}, e.plan->enter, tiles.tables, field,
                        hanging, tiles.tile.List(border), tiles.tile.start, e.scale, e.f, e.b, partial);
  }

  template <class Hanging>
  static PetscErrorCode EnterResidual(const Entering &e, const Field<double> &field, const Hanging &hanging)
  {
    return VpCudaOnTiles<DIM, TilesFor<N, Hanging>, false, double>(
      {e.outer, 0, e.view->nown, field.x, e.ghosts, NULL, NULL},
      [=](const auto &tiles, int border) { return EnterFromTiles(e, tiles, field, hanging, border); },
      [=](const SplitCells &cell, int border) { return EnterFromCells(e, field, hanging, cell, border); });
  }

  /* b = enter scale f; sums: with the sums */
  template <class From>
  static PetscErrorCode EnterFrom(const Entering &e, const From &from, bool sums)
  {
    double *partial = sums ? (double *)e.plan->partial.p + *e.blocks : NULL;

    if (sums) *e.blocks += e.plan->blocks;
    return VpCudaLaunch("enter", EnterCells<T, DIM, N, From>, {e.plan->blocks, S::threads}, e.plan->enter, Roots(e.view), from,
                        e.view->nown, e.scale, e.b, partial);
  }

  static PetscErrorCode EnterWithoutX(const Entering &e, bool sums)
  {
    return e.view->gather ? EnterFrom(e, FromNodes<N>{*e.view->gather, e.f}, sums) : EnterFrom(e, FromCells<double>{e.f}, sums);
  }

  /* the same after the residual */
  static PetscErrorCode EnterAfter(Entering e, const double *x)
  {
    const VpOps  *ops = VpBackendCuda.ops(VP_DOUBLE, DIM, N - 1);
    const int32_t nown = e.view->nown;
    void         *r;

    PetscFunctionBegin;
    PetscCall(VpBackendCuda.borrow((size_t)nown * S::values * sizeof(double), "a residual", &r));
    PetscCall(ops->apply(e.outer, 0, nown, x, e.ghosts, e.f, r));
    e.f = (const double *)r;
    PetscCall(EnterWithoutX(e, true));
    PetscCall(VpBackendCuda.give_back(r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* The residual on a mesh with hanging sides. If some of these are no whole faces, A x is not complete until they are added. */
  static PetscErrorCode EnterHangingResidual(const Entering &e, Field<double> field)
  {
    HangPlan             *hang = NULL;
    HangingTraces<double> hanging = {};

    PetscFunctionBegin;
    PetscCall(VpCudaHangPlan<double, DIM, N>(e.outer, 0, e.view->nown, &hang));
    if (hang->nother) {
      PetscCall(EnterAfter(e, field.x));
    } else {
      PetscCall(VpCudaFindTraces<double, DIM, N>(e.outer, hang, &field, &hanging));
      PetscCall(EnterResidual(e, field, hanging));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Enter(const VpView *view, const VpView *outer, double scale, const double *x, VpGhosts ghosts, const double *f,
                              void *b, double *norm2)
  {
    ConvertPlan<T, N> *plan = NULL;
    int                blocks = 0;

    PetscFunctionBegin;
    if (!x || !view->nown) PetscCall(VpArrive(ghosts));
    if (norm2) *norm2 = 0;
    if (!view->nown) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(GetPlan(view, &plan));
    const Entering e = {plan, view, outer, scale, ghosts, f, (T *)b, &blocks};
    if (!x) PetscCall(EnterWithoutX(e, norm2 != NULL));
    else if (outer->metric.components) PetscCall(EnterAfter(e, x));
    else if (outer->hang.n) PetscCall(EnterHangingResidual(e, Field<double>(outer, x, ghosts.values)));
    else PetscCall(EnterResidual(e, Field<double>(outer, x, ghosts.values), NoHangingTraces<double>()));
    if (norm2) PetscCall(VpCudaSums(1, blocks, (const double *)plan->partial.p, norm2));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaConvertOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Conversions>(precision, dim, degree, [ops](auto of) {
    ops->enter = of.Enter;
    ops->leave = of.Leave;
    ops->leave_products = of.Products;
  });
}
