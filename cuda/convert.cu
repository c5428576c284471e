/* Between the outer vectors (double, orthonormal basis) and a level's. */
#include "tile.cuh"

template <class T, int N>
struct ConvertPlan : VpPlan {
  Matrix<T, N>      enter, leave;
  Matrix<double, N> enter_double;
  VpArray           partial; /* sums of squares, one per block */
  int               blocks;
};

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  Enter(const __grid_constant__ Matrix<T, N> M, int32_t count, const double *r, T *b)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot;
  const size_t              at = (size_t)cell * S::values + l;
  T                         v[N];

  if (cell < count) {
    UNROLL for (int i = 0; i < N; i++) v[i] = (T)r[at + i * S::lines];
  }
  ContractCell<T, DIM, N>(M, 0, false, s + slot * S::size, l, v);
  if (cell < count) {
    UNROLL for (int i = 0; i < N; i++) b[at + i * S::lines] = v[i];
  }
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  Leave(const __grid_constant__ Matrix<T, N> M, int32_t count, bool add, const T *x, double *z)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot;
  const size_t              at = (size_t)cell * S::values + l;
  T                         v[N];

  if (cell < count) {
    UNROLL for (int i = 0; i < N; i++) v[i] = x[at + i * S::lines];
  }
  ContractCell<T, DIM, N>(M, 0, false, s + slot * S::size, l, v);
  if (cell < count) {
    UNROLL for (int i = 0; i < N; i++) z[at + i * S::lines] = (add ? z[at + i * S::lines] : 0.) + (double)v[i];
  }
}

/* the block's sum of a to partial[blockIdx.x] */
__device__ __forceinline__ void BlockSum(double a, double *partial)
{
  __shared__ double part[32];
  const int         warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = (blockDim.x + 31) / 32;

  for (int o = 16; o; o /= 2) {
    const double other = __shfl_down_sync(__activemask(), a, o);
    a += lane + o < 32 && threadIdx.x + o < blockDim.x ? other : 0.;
  }
  if (lane == 0) part[warp] = a;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < warps; w++) a += part[w];
    partial[blockIdx.x] = a;
  }
}

static __global__ void FinalSum(int count, double *partial)
{
  double a = 0;

  for (int i = threadIdx.x; i < count; i += blockDim.x) a += partial[i];
  __syncthreads();
  BlockSum(a, partial);
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  EnterResidual(const __grid_constant__ Matrix<T, N> M, const __grid_constant__ Field<double> f, const int32_t *list, int32_t count,
                const double *rhs, T *b, double *partial)
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
    __syncthreads();
    ApplyCell<double, DIM, N>(f, in, X + slot * S::size, Y + slot * S::size, l, r);
    UNROLL for (int i = 0; i < N; i++) r[i] = rhs[at + i * S::lines] - r[i];
  } else {
    UNROLL for (int i = 0; i < N; i++) r[i] = rhs[at + i * S::lines];
  }
  UNROLL for (int i = 0; i < N; i++) {
    sum += r[i] * r[i];
    v[i] = (T)r[i];
  }
  ContractCell<T, DIM, N>(M, 0, false, s + slot * S::size, l, v);
  if (index < count) {
    UNROLL for (int i = 0; i < N; i++) b[at + i * S::lines] = v[i];
  }
  BlockSum(index < count ? sum : 0., partial);
}

/* lines along D of a tile in place */
template <int N, int D>
__device__ __forceinline__ void ConvertLines(const Matrix<double, N> &M, double *Y)
{
  typedef Tile<N> S;
  constexpr int   step = D == 0 ? 1 : D == 1 ? S::sy : S::sz;

  UNROLL for (int r = 0; r < TileGhosts<N, D>::rounds; r++) {
    const int l = threadIdx.x + r * S::threads;
    if (S::lines(D) % S::threads == 0 || l < S::lines(D)) {
      int cell, at, in;
      TileLine<N, D>(l, cell, at, in);
      UNROLL for (int c = 0; c < S::extent(D); c++) ContractInPlace(M, false, false, Y + in + c * S::cs(D), step);
    }
  }
}

template <class T, int N>
__global__ void __launch_bounds__(Tile<N>::threads, N == 7 || N == 9 ? 1
                                                    : N >= 6         ? 2
                                                                     : Tile<N>::blocks)
  EnterTiles(const __grid_constant__ Matrix<double, N> M, const __grid_constant__ TileTables<N> t, const __grid_constant__ Field<double> f,
             const int32_t *list, int32_t start, const double *rhs, T *b, double *partial)
{
  typedef Tile<N>          S;
  extern __shared__ double X[];
  double                  *Y = X + S::size, sum = 0;
  const int32_t            first = list ? list[blockIdx.x] : start + blockIdx.x * S::cells;
  const size_t             at = (size_t)first * S::values;
  TileGhosts<N, 0>         G0;
  TileGhosts<N, 1>         G1;
  TileGhosts<N, 2>         G2;

  CopyTile<N>(f.x + at, X);
  if (threadIdx.x == 0 && blockIdx.x + Ahead<N>() < gridDim.x) {
    PrefetchTile<N>(f.x + at + (size_t)Ahead<N>() * S::cells * S::values);
    PrefetchTile<N>(rhs + at + (size_t)Ahead<N>() * S::cells * S::values);
  }
  LoadGhosts<N, 0>(t, f, first, G0);
  LoadGhosts<N, 1>(t, f, first, G1);
  LoadGhosts<N, 2>(t, f, first, G2);
  AwaitCopy();
  const double *from = rhs + at;
  ApplyLines<N, 2>(t, G2, X, [=](int place, int in, int i, double v) { Y[in + i * S::sz] = from[place + i * N * N] - v; });
  __syncthreads();
  ApplyLines<N, 1>(t, G1, X, [=](int, int in, int i, double v) { Y[in + i * S::sy] -= v; });
  __syncthreads();
  ApplyLines<N, 0>(t, G0, X, [=, &sum](int, int in, int i, double v) {
    const double r = Y[in + i] - v;
    Y[in + i] = r;
    sum += r * r;
  });
  ConvertLines<N, 0>(M, Y); /* a thread's own lines */
  __syncthreads();
  ConvertLines<N, 1>(M, Y);
  __syncthreads();
  UNROLL for (int r = 0; r < TileGhosts<N, 2>::rounds; r++) {
    const int l = threadIdx.x + r * S::threads;
    if (S::lines(2) % S::threads == 0 || l < S::lines(2)) {
      int cell, place, in;
      TileLine<N, 2>(l, cell, place, in);
      UNROLL for (int c = 0; c < S::extent(2); c++) {
        double u[N], v[N];
        UNROLL for (int i = 0; i < N; i++) u[i] = Y[in + c * S::cs(2) + i * S::sz];
        Contract(M, false, u, v);
        UNROLL for (int i = 0; i < N; i++) b[at + place + S::spread(2, c) * S::values + i * N * N] = (T)v[i];
      }
    }
  }
  BlockSum(sum, partial);
}

template <class T, int DIM, int N>
struct Conversions {
  typedef CellShape<DIM, N> S;

  static int Blocks(int32_t cells)
  {
    return (cells + S::cells - 1) / S::cells;
  }

  static PetscErrorCode Plan(const VpView *view, ConvertPlan<T, N> **plan)
  {
    auto fill = [view](ConvertPlan<T, N> *p) {
      PetscFunctionBegin;
      if (view->enter) PetscCall(VpCudaFetch(view->enter, sizeof(p->enter), &p->enter));
      for (int i = 0; i < N * N; i++) p->enter_double.a[i] = (double)p->enter.a[i];
      if (view->leave) PetscCall(VpCudaFetch(view->leave, sizeof(p->leave), &p->leave));
      p->blocks = Blocks(view->nown);
      PetscCall(VpCudaAlloc(((size_t)p->blocks + (size_t)view->nown / 8 + 2) * sizeof(double), "partial sums of squares", &p->partial.p));
      PetscFunctionReturn(PETSC_SUCCESS);
    };

    PetscFunctionBegin;
    PetscCall(VpCudaPlan<ConvertPlan<T, N>>(view, VP_PLAN_CONVERT, 0, 0, plan, fill));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode In(const VpView *view, const double *r, void *b)
  {
    ConvertPlan<T, N> *plan = NULL;

    PetscFunctionBegin;
    if (!view->nown) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Plan(view, &plan));
    Enter<T, DIM, N><<<plan->blocks, S::threads, 0, VpCudaStream>>>(plan->enter, view->nown, r, (T *)b);
    VpCudaLaunched("enter");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Out(const VpView *view, PetscBool add, const void *x, double *z)
  {
    ConvertPlan<T, N> *plan = NULL;

    PetscFunctionBegin;
    if (!view->nown) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Plan(view, &plan));
    Leave<T, DIM, N><<<plan->blocks, S::threads, 0, VpCudaStream>>>(plan->leave, view->nown, add, (const T *)x, z);
    VpCudaLaunched("leave");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode InResidual(const VpView *view, const VpView *outer, const double *x, const double *ghost, const double *f, void *b,
                                   double *norm2)
  {
    ConvertPlan<T, N> *plan = NULL;
    double            *partial;
    int                blocks = 0;

    PetscFunctionBegin;
    if (norm2) *norm2 = 0;
    if (!view->nown) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Plan(view, &plan));
    partial = (double *)plan->partial.p;
    if constexpr (DIM == 3) {
      TilePlan<N> *tiles = NULL;

      if (x) PetscCall(VpCudaTilePlan<N>(outer, 0, view->nown, &tiles));
      if (tiles && tiles->ntile && ReadsPairs(x)) {
        const Field<double> field(outer, x, ghost);
        auto                kernel = EnterTiles<T, N>;

        VpCudaCall(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(2 * Tile<N>::bytes)));
        kernel<<<tiles->ntile, Tile<N>::threads, 2 * Tile<N>::bytes, VpCudaStream>>>(
          plan->enter_double, tiles->tables, field, (const int32_t *)tiles->tile.p, tiles->start, f, (T *)b, partial);
        VpCudaLaunched("enter_residual on tiles");
        blocks = tiles->ntile;
        if (tiles->ncell) {
          EnterResidual<T, DIM, N><<<Blocks(tiles->ncell), S::threads, 0, VpCudaStream>>>(
            plan->enter, field, (const int32_t *)tiles->cell.p, tiles->ncell, f, (T *)b, partial + blocks);
          VpCudaLaunched("enter_residual");
          blocks += Blocks(tiles->ncell);
        }
      }
    }
    if (!blocks) {
      EnterResidual<T, DIM, N>
        <<<plan->blocks, S::threads, 0, VpCudaStream>>>(plan->enter, Field<double>(outer, x, ghost), NULL, view->nown, f, (T *)b, partial);
      VpCudaLaunched("enter_residual");
      blocks = plan->blocks;
    }
    if (!norm2) PetscFunctionReturn(PETSC_SUCCESS);
    FinalSum<<<1, 1024, 0, VpCudaStream>>>(blocks, partial);
    VpCudaLaunched("final sum");
    PetscCall(VpCudaFetch(partial, sizeof(double), norm2));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode VpCudaConvertOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  return VpCudaForKind(precision, dim, degree, [ops](auto kind) {
    typedef decltype(kind)                              K;
    typedef Conversions<typename K::Real, K::DIM, K::N> Of;

    ops->enter = Of::In;
    ops->enter_residual = Of::InResidual;
    ops->leave = Of::Out;
    return PETSC_SUCCESS;
  });
}
