/* Conversion between the outer vectors, in double precision and the orthonormal basis, and a level's vectors. */
#include "sum.cuh"
#include "tile.cuh"

template <class T, int N>
struct ConvertPlan : VpPlan {
  Matrix<T, N> enter, leave;
  VpArray      partial; /* sums of squares, one per block */
  int          blocks;
};

/* Calls to(at, v) for all values v of M on `count` cells, whose values before are from(at). */
template <class T, int DIM, int N, class From, class To>
__device__ __forceinline__ void ConvertCells(const Matrix<T, N> &M, int32_t count, From from, To to)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot;
  const size_t              at = (size_t)cell * S::values + l;
  T                         v[N];

  if (cell < count) {
    UNROLL (int i = 0; i < N; i++) v[i] = from(at + i * S::lines);
  }
  ContractCell<T, DIM, N>(M, s + slot * S::size, l, v);
  if (cell < count) {
    UNROLL (int i = 0; i < N; i++) to(at + i * S::lines, v[i]);
  }
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  EnterCells(const __grid_constant__ Matrix<T, N> M, int32_t count, double scale, const double *r, T *b)
{
  ConvertCells<T, DIM, N>(
    M, count, [=](size_t at) { return (T)(scale * r[at]); }, [=](size_t at, T v) { b[at] = v; });
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  Leave(const __grid_constant__ Matrix<T, N> M, int32_t count, bool add, double scale, const T *x, double *z)
{
  auto to = [=](size_t at, T v) { z[at] = (add ? z[at] : 0.) + scale * (double)v; };

  ConvertCells<T, DIM, N>(
    M, count, [=](size_t at) { return x[at]; }, to);
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  EnterResidual(const __grid_constant__ Matrix<T, N> M, const __grid_constant__ Field<double> f, const int32_t *list, int32_t count,
                double scale, const double *rhs, T *b, double *partial)
{
  typedef CellShape<DIM, N> S;
  __shared__ double         X[S::cells * S::size], Y[S::cells * S::size];
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             index = blockIdx.x * S::cells + slot, last = index < count ? index : count - 1, in = list ? list[last] : last;
  const size_t              at = (size_t)in * S::values + l;
  double                    r[N], sum = 0;
  T                         v[N];

  if (f.x) {
    LoadCell<double, DIM, N>(f.x + (size_t)in * S::values, X + slot * S::size, l);
    ApplyCell<double, DIM, N>(f, in, X + slot * S::size, Y + slot * S::size, l, r);
    UNROLL (int i = 0; i < N; i++) r[i] = rhs[at + i * S::lines] - r[i];
  } else {
    UNROLL (int i = 0; i < N; i++) r[i] = rhs[at + i * S::lines];
  }
  UNROLL (int i = 0; i < N; i++) {
    r[i] *= scale;
    sum += r[i] * r[i];
    v[i] = (T)r[i];
  }
  ContractCell<T, DIM, N>(M, s + slot * S::size, l, v);
  if (index < count) {
    UNROLL (int i = 0; i < N; i++) b[at + i * S::lines] = v[i];
  }
  BlockSum(index < count ? sum : 0., partial);
}

/* out = M in on each of the C cells of a line, which share the constants */
template <class T, int N, int C>
__device__ __forceinline__ void ContractCells(const Matrix<T, N> &M, const T (&in)[C][N], T (&out)[C][N])
{
  UNROLL (int j = 0; j < N; j++) {
    UNROLL (int i = 0; i < N; i++) {
      UNROLL (int c = 0; c < C; c++) out[c][i] = (j ? out[c][i] : T(0)) + M.a[i * N + j] * in[c][j];
    }
  }
}

/* Calls to(at, in, i, value) for M along D on the tile's lines in F, in shared memory; `at` and `in` are those of ApplyLines. */
template <int N, int D, class T, class To>
__device__ __forceinline__ void ConvertLines(const Matrix<T, N> &M, const T *F, To to)
{
  typedef Tile<N> S;
  constexpr int   C = S::extent(D), step = D == 1 ? S::sy : S::sz;

  ForLines<Tile<N>, D>([&](int, int, int place, int in) {
    T u[C][N], w[C][N];

    UNROLL (int c = 0; c < C; c++) {
      UNROLL (int i = 0; i < N; i++) u[c][i] = F[in + c * S::cs(D) + i * step];
    }
    ContractCells<T, N, C>(M, u, w);
    UNROLL (int c = 0; c < C; c++) {
      UNROLL (int i = 0; i < N; i++) to(place + S::spread(D, c) * S::values, in + c * S::cs(D), i, w[c][i]);
    }
  });
}

/* Y -= D_d x */
template <int N, int D>
__device__ __forceinline__ void SubtractLines(const TileTables<N> &t, const TileGhosts<Tile<N>, D> &G, const double *X, double *Y)
{
  constexpr int step = D == 0 ? 1 : D == 1 ? Tile<N>::sy : Tile<N>::sz;

  ApplyLines<Tile<N>, D>(t, GhostTraces(t, G), X, [=](int, int, int i, int, int in, double v) { Y[in + i * step] -= v; });
}

/* Y -= the parts of A x along A and B. Meanwhile the values beyond the tile are loaded, those along C for what comes next. */
template <int N, int A, int B, int C>
__device__ __forceinline__ void SubtractTwo(const TileTables<N> &t, const Field<double> &f, int32_t first, TileGhosts<Tile<N>, A> &GA,
                                            TileGhosts<Tile<N>, B> &GB, TileGhosts<Tile<N>, C> &GC, const double *X, double *Y)
{
  LoadGhosts(f, first, GA);
  AwaitCopy();
  LoadGhosts(f, first, GB);
  SubtractLines(t, GA, X, Y);
  __syncthreads();
  LoadGhosts(f, first, GC);
  SubtractLines(t, GB, X, Y);
  __syncthreads();
}

/* Most residuals are not scaled, and the kernels have no register to spare for a factor. */
template <bool SCALED>
__device__ __forceinline__ double Scaled(double scale, double r)
{
  return SCALED ? scale * r : r;
}

/* b = the scaled residual, where the level has the outer basis. Requires: Y holds the right-hand side. Returns the sum of the residual's
   squares over the thread's lines. */
template <bool SCALED, class T, int N>
__device__ __forceinline__ double EnterSame(const TileTables<N> &t, const Field<double> &f, int32_t first, TileGhosts<Tile<N>, 0> &G0,
                                            TileGhosts<Tile<N>, 1> &G1, TileGhosts<Tile<N>, 2> &G2, double scale, const double *X,
                                            double *Y, T *b)
{
  double sum = 0;

  SubtractTwo(t, f, first, G0, G1, G2, X, Y);
  ApplyLines<Tile<N>, 2>(t, GhostTraces(t, G2), X, [=, &sum](int, int, int i, int place, int in, double v) {
    const double r = Scaled<SCALED>(scale, Y[in + i * Tile<N>::sz] - v);
    b[place + i * N * N] = (T)r;
    sum += r * r;
  });
  return sum;
}

/* The same with a change of basis, in the level's precision and in X's place once the residual is known. */
template <bool SCALED, class T, int N>
__device__ __forceinline__ double EnterConverted(const Matrix<T, N> &M, const TileTables<N> &t, const Field<double> &f, int32_t first,
                                                 TileGhosts<Tile<N>, 0> &G0, TileGhosts<Tile<N>, 1> &G1, TileGhosts<Tile<N>, 2> &G2,
                                                 double scale, double *X, double *Y, T *b)
{
  typedef Tile<N> S;
  constexpr int   C = S::extent(0);
  T               r[TileGhosts<Tile<N>, 0>::rounds][C][N], w[C][N], *F = (T *)X;
  double          sum = 0;

  SubtractTwo(t, f, first, G2, G1, G0, X, Y);
  ApplyLines<Tile<N>, 0>(t, GhostTraces(t, G0), X, [=, &sum, &r](int k, int c, int i, int, int in, double v) {
    const double a = Scaled<SCALED>(scale, Y[in + i] - v);
    sum += a * a;
    r[k][c][i] = (T)a;
  });
  __syncthreads();
  ForLines<Tile<N>, 0>([&](int k, int, int, int in) {
    ContractCells<T, N, C>(M, r[k], w);
    UNROLL (int c = 0; c < C; c++) {
      UNROLL (int i = 0; i < N; i++) F[in + c * S::cs(0) + i] = w[c][i];
    }
  });
  __syncthreads();
  ConvertLines<N, 1>(M, F, [=](int, int in, int i, T v) { F[in + i * S::sy] = v; });
  __syncthreads();
  ConvertLines<N, 2>(M, F, [=](int place, int, int i, T v) { b[place + i * N * N] = v; });
  return sum;
}

template <bool SCALED, class T, int N>
__global__ void __launch_bounds__(Tile<N>::threads, Tile<N>::least)
  EnterTiles(const __grid_constant__ Matrix<T, N> M, const __grid_constant__ TileTables<N> t, const __grid_constant__ Field<double> f,
             const int32_t *list, int32_t start, double scale, const double *rhs, T *b, double *partial)
{
  typedef Tile<N>          S;
  extern __shared__ double X[];
  double                  *Y = X + S::size;
  const int32_t            first = list ? list[blockIdx.x] : start + blockIdx.x * S::cells;
  const size_t             at = (size_t)first * S::values, ahead = (size_t)Ahead<Tile<N>>() * S::cells * S::values;
  TileGhosts<Tile<N>, 0>   G0;
  TileGhosts<Tile<N>, 1>   G1;
  TileGhosts<Tile<N>, 2>   G2;

  FindGhosts(f, first, G0);
  FindGhosts(f, first, G1);
  FindGhosts(f, first, G2);
  CopyTile<Tile<N>>(rhs + at, Y);
  CopyTile<Tile<N>>(f.x + at, X);
  if (threadIdx.x == 0 && blockIdx.x + Ahead<Tile<N>>() < gridDim.x) {
    PrefetchTile<Tile<N>>(f.x + at + ahead);
    PrefetchTile<Tile<N>>(rhs + at + ahead);
  }
  if constexpr (N < VP_THIN_LEAST) BlockSum(EnterSame<SCALED>(t, f, first, G0, G1, G2, scale, X, Y, b + at), partial);
  else BlockSum(EnterConverted<SCALED>(M, t, f, first, G0, G1, G2, scale, X, Y, b + at), partial);
}

template <class T, int DIM, int N>
struct Conversions {
  typedef CellShape<DIM, N> S;

  static PetscErrorCode Plan(const VpView *view, ConvertPlan<T, N> **plan)
  {
    auto fill = [view](ConvertPlan<T, N> *p) {
      PetscFunctionBegin;
      if (view->enter) PetscCall(VpCudaFetch(view->enter, sizeof(p->enter), &p->enter));
      if (view->leave) PetscCall(VpCudaFetch(view->leave, sizeof(p->leave), &p->leave));
      p->blocks = VpBlocks(view->nown, S::cells);
      PetscCall(VpCudaAlloc(((size_t)p->blocks + (size_t)view->nown / 8 + 2) * sizeof(double), "partial sums of squares", &p->partial.p));
      PetscFunctionReturn(PETSC_SUCCESS);
    };

    return VpCudaPlan<ConvertPlan<T, N>>(&view->device, VP_PLAN_CONVERT, 0, 0, plan, fill);
  }

  static PetscErrorCode In(const VpView *view, double scale, const double *r, void *b)
  {
    ConvertPlan<T, N> *plan = NULL;

    PetscFunctionBegin;
    PetscCall(Plan(view, &plan));
    PetscCall(VpCudaLaunch("enter", EnterCells<T, DIM, N>, {plan->blocks, S::threads}, plan->enter, view->nown, scale, r, (T *)b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Out(const VpView *view, PetscBool add, double scale, const void *x, double *z)
  {
    ConvertPlan<T, N> *plan = NULL;

    PetscFunctionBegin;
    PetscCall(Plan(view, &plan));
    PetscCall(VpCudaLaunch("leave", Leave<T, DIM, N>, {plan->blocks, S::threads}, plan->leave, view->nown, add, scale, (const T *)x, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* both add to *blocks the partial sums that they write */
  static PetscErrorCode Cells(const ConvertPlan<T, N> *plan, const Field<double> &field, const Parts &cell, int part, double scale,
                              const double *f, T *b, int *blocks)
  {
    const int32_t count = cell.n[part], here = VpBlocks(count, S::cells);
    double       *partial = (double *)plan->partial.p + *blocks;

    *blocks += here;
    return VpCudaLaunch("enter_residual", EnterResidual<T, DIM, N>, {here, S::threads}, plan->enter, field, cell.List(part), count, scale,
                        f, b, partial);
  }

  static PetscErrorCode Tiles(const ConvertPlan<T, N> *plan, const SizeTiles<N> &tiles, const Field<double> &field, int part, double scale,
                              const double *f, T *b, int *blocks)
  {
    const int32_t count = tiles.tile.n[part];
    auto          kernel = scale == 1 ? EnterTiles<false, T, N> : EnterTiles<true, T, N>;
    double       *partial = (double *)plan->partial.p + *blocks;

    *blocks += count;
    return VpCudaLaunch("enter_residual on tiles", kernel, {count, Tile<N>::threads, 2 * Tile<N>::bytes}, plan->enter, tiles.tables, field,
                        tiles.tile.List(part), tiles.tile.start, scale, f, b, partial);
  }

  /* b = enter scale (f - A x), x not NULL */
  static PetscErrorCode Subtract(const ConvertPlan<T, N> *plan, const VpView *outer, int32_t nown, double scale, const double *x,
                                 VpGhosts ghosts, const double *f, T *b, int *blocks)
  {
    const Field<double> field(outer, x, ghosts.values);

    return VpCudaOnTiles<DIM, Tile<N>>(
      outer, 0, nown, x, ghosts, [=](const auto &tiles, int part) { return Tiles(plan, tiles, field, part, scale, f, b, blocks); },
      [=](const Parts &cell, int part) { return Cells(plan, field, cell, part, scale, f, b, blocks); });
  }

  /* b = enter scale f */
  static PetscErrorCode Enter(const ConvertPlan<T, N> *plan, const VpView *outer, int32_t nown, double scale, const double *f, T *b,
                              int *blocks)
  {
    Parts all;

    all.n[VP_INNER] = nown;
    return Cells(plan, Field<double>(outer, NULL, NULL), all, VP_INNER, scale, f, b, blocks);
  }

  /* As Subtract, in two steps: where sides hang, cells have the residual only after their sides. */
  static PetscErrorCode SubtractFirst(const ConvertPlan<T, N> *plan, const VpView *outer, int32_t nown, double scale, const double *x,
                                      VpGhosts ghosts, const double *f, T *b, int *blocks)
  {
    const VpOps *ops = VpBackendCuda.ops(VP_DOUBLE, DIM, N - 1);
    void        *r;

    PetscFunctionBegin;
    PetscCall(VpBackendCuda.borrow((size_t)nown * S::values * sizeof(double), "a residual", &r));
    PetscCall(ops->apply(outer, 0, nown, x, ghosts, f, r));
    PetscCall(Enter(plan, outer, nown, scale, (const double *)r, b, blocks));
    PetscCall(VpBackendCuda.give_back(r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode InResidual(const VpView *view, const VpView *outer, double scale, const double *x, VpGhosts ghosts, const double *f,
                                   void *b, double *norm2)
  {
    ConvertPlan<T, N> *plan = NULL;
    int                blocks = 0;

    PetscFunctionBegin;
    if (!x || !view->nown) PetscCall(VpArrive(ghosts));
    if (norm2) *norm2 = 0;
    if (!view->nown) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Plan(view, &plan));
    if (!x) PetscCall(Enter(plan, outer, view->nown, scale, f, (T *)b, &blocks));
    else if (outer->hang.n) PetscCall(SubtractFirst(plan, outer, view->nown, scale, x, ghosts, f, (T *)b, &blocks));
    else PetscCall(Subtract(plan, outer, view->nown, scale, x, ghosts, f, (T *)b, &blocks));
    if (norm2) PetscCall(VpCudaSums(1, blocks, (const double *)plan->partial.p, norm2));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaConvertOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Conversions>(precision, dim, degree, [ops](auto of) {
    ops->enter = of.In;
    ops->enter_residual = of.InResidual;
    ops->leave = of.Out;
  });
}
