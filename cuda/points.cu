/* Functions at grids of points of cells. Grids of n or n + 2 points per direction have kernels in which a thread holds a line. In the
   kernel for all other grids, mostly those on sides, a thread makes a value. */
#include "slopes.cuh"
#include "plan/viewplans.cuh"

template <int DIM, int N, int Q>
__global__ void __launch_bounds__(PointLaunch<DIM, N, Q>::threads)
  EvaluateGrids(const __grid_constant__ VpPlaces places, const __grid_constant__ VpGrid grid, int stride, const double *x, double *values)
{
  typedef PointLaunch<DIM, N, Q> L;
  __shared__ double              s[L::size];
  const int32_t                  i = blockIdx.x * L::cells + threadIdx.x / L::lines, at = i < places.n ? i : places.n - 1;
  const Place                    place = FindPlace(places, grid, at);
  double                        *to = values + (size_t)at * VpGridSize(&grid) * stride;

  ContractGrid<DIM, N, Q, false>(grid, x + (size_t)place.cell * Power(N, DIM), s, [=](int k, double v) {
    if (i < places.n) to[k * stride] = place.factor * v;
  });
}

template <int DIM, int N, int Q>
__global__ void __launch_bounds__(PointLaunch<DIM, N, Q>::threads)
  IntegrateGrids(const __grid_constant__ VpPlaces places, const __grid_constant__ VpGrid grid, bool add, const double *values, double *b)
{
  typedef PointLaunch<DIM, N, Q> L;
  __shared__ double              s[L::size];
  const int32_t                  i = blockIdx.x * L::cells + threadIdx.x / L::lines, at = i < places.n ? i : places.n - 1;
  const Place                    place = FindPlace(places, grid, at);
  double                        *to = b + (size_t)place.cell * Power(N, DIM);

  ContractGrid<DIM, N, Q, true>(grid, values + (size_t)at * VpGridSize(&grid), s, [=](int k, double v) {
    if (i < places.n) to[k] = (add ? to[k] : 0.) + place.factor * v;
  });
}

template <int DIM, int N, int Q>
__global__ void __launch_bounds__(PointLaunch<DIM, N, Q>::threads)
  GridDistance(const __grid_constant__ VpPlaces places, const __grid_constant__ VpGrid grid, int stride, const double *x,
               const double *values, double *partial)
{
  typedef PointLaunch<DIM, N, Q> L;
  __shared__ double              s[L::size];
  const int32_t                  i = blockIdx.x * L::cells + threadIdx.x / L::lines, at = i < places.n ? i : places.n - 1;
  const Place                    place = FindPlace(places, grid, at);
  const double                  *of = values + (size_t)at * VpGridSize(&grid) * stride;
  double                         sum = 0;

  ContractGrid<DIM, N, Q, false>(grid, x + (size_t)place.cell * Power(N, DIM), s, [&](int k, double v) {
    const double e = place.factor * v - of[k * stride];
    sum += WeightOf(grid, k) * e * e;
  });
  BlockSum(i < places.n ? place.volume * sum : 0., partial);
}

/* The threads of a block write about 2048 numbers. Q: points per direction, or 0: any grid. Positions of points are read from shared
   memory, because threads of a warp read different ones. */
template <int DIM, int Q>
struct CoordinateLaunch {
  static constexpr int threads = VP_THREADS, cells = Q ? Max(1, 2048 / (DIM * Power(Max(Q, 1), DIM))) : 1;
};
template <int DIM, int Q>
__global__ void __launch_bounds__(CoordinateLaunch<DIM, Q>::threads)
  GridCoordinates(const __grid_constant__ VpPlaces places, const __grid_constant__ VpGrid grid, double *x)
{
  constexpr int     cells = CoordinateLaunch<DIM, Q>::cells;
  __shared__ double at[DIM][VP_MAX_NQ];
  const int         size = Q ? Power(Q, DIM) : VpGridSize(&grid);
  const int32_t     first = blockIdx.x * cells;
  double           *to = x + (size_t)first * size * DIM;

  for (int t = threadIdx.x; t < DIM * VP_MAX_NQ; t += blockDim.x) at[t / VP_MAX_NQ][t % VP_MAX_NQ] = grid.x[t / VP_MAX_NQ][t % VP_MAX_NQ];
  __syncthreads();
  for (int t = threadIdx.x; t < cells * size * DIM; t += blockDim.x) {
    const int     d = t % DIM, p = t / DIM % size, before = d == 0 ? 1 : d == 1 ? (Q ? Q : grid.count[0]) : size / (Q ? Q : grid.count[2]);
    const int32_t i = first + t / (DIM * size);

    if (i < places.n) {
      const double *lower = places.bounds + 6 * (size_t)i;
      to[t] = lower[d] + lower[3 + d] * at[d][p / before % (Q ? Q : grid.count[d])];
    }
  }
}

/* one warp per point */
template <int DIM, int N>
__global__ void ProbeCells(int32_t count, const int32_t *cell, const double *basis, const double *x, double *values)
{
  const int32_t i = blockIdx.x * blockDim.y + threadIdx.y;
  const double *b = basis + (size_t)i * DIM * N, *u;
  double        sum = 0;

  if (i >= count) return;
  u = x + (size_t)cell[i] * Power(N, DIM);
  for (int k = threadIdx.x; k < Power(N, DIM); k += VP_WARP)
    sum += u[k] * b[k % N] * b[N + k / N % N] * (DIM == 3 ? b[(DIM - 1) * N + k / (N * N)] : 1.);
  for (int o = VP_WARP / 2; o; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
  if (threadIdx.x == 0) values[i] = sum;
}

template <class T, int DIM, int N>
struct Points {
  typedef T Real;

  /* Calls f(integral_constant Q), where Q is the grid's number of points per direction if there are kernels for it, else 0. */
  template <class F>
  static PetscErrorCode ForGrid(const VpGrid *grid, F f)
  {
    const int q = grid->count[0];

    if (grid->count[1] != q || (DIM == 3 && grid->count[2] != q)) return f(std::integral_constant<int, 0>());
    return q == N       ? f(std::integral_constant<int, N>())
           : q == N + 2 ? f(std::integral_constant<int, N + 2>())
                        : f(std::integral_constant<int, 0>());
  }

  static PetscErrorCode Coordinates(const VpView *, const VpPlaces *places, const VpGrid *grid, double *x)
  {
    auto launch = [=](auto q) {
      typedef CoordinateLaunch<DIM, decltype(q)::value> L;

      return VpCudaLaunch("coordinates", GridCoordinates<DIM, decltype(q)::value>, {VpBlocks(places->n, L::cells), L::threads}, *places,
                          *grid, x);
    };

    return ForGrid(grid, launch);
  }

  static PetscErrorCode Evaluate(const VpView *, const VpPlaces *places, int n, const VpGrid grid[], const double *x, double *values)
  {
    auto launch = [=](auto q) {
      constexpr int                  Q = decltype(q)::value;
      typedef PointLaunch<DIM, N, Q> L;
      const VpLaunch                 l = {VpBlocks(places->n, L::cells), L::threads};

      PetscFunctionBegin;
      if constexpr (Q > 0) {
        if (Slopes<DIM, N, Q>::Fits(n, grid)) {
          PetscCall(VpCudaLaunch("evaluate", EvaluateSlopes<DIM, N, Q>, l, *places, Slopes<DIM, N, Q>(grid), x, values));
          PetscFunctionReturn(PETSC_SUCCESS);
        }
      }
      for (int i = 0; i < n; i++) PetscCall(VpCudaLaunch("evaluate", EvaluateGrids<DIM, N, Q>, l, *places, grid[i], n, x, values + i));
      PetscFunctionReturn(PETSC_SUCCESS);
    };

    return ForGrid(grid, launch);
  }

  static PetscErrorCode Integrate(const VpView *, const VpPlaces *places, const VpGrid *grid, PetscBool add, const double *values,
                                  double *b)
  {
    return ForGrid(grid, [=](auto q) {
      typedef PointLaunch<DIM, N, decltype(q)::value> L;

      return VpCudaLaunch("integrate", IntegrateGrids<DIM, N, decltype(q)::value>, {VpBlocks(places->n, L::cells), L::threads}, *places,
                          *grid, add, values, b);
    });
  }

  static PetscErrorCode Probe(const VpView *, int32_t count, const int32_t *cell, const double *basis, const double *x, double *values)
  {
    return VpCudaLaunch("probe", ProbeCells<DIM, N>, {VpBlocks(count, VP_WARPS), dim3(VP_WARP, VP_WARPS)}, count, cell, basis, x, values);
  }

  /* The blocks' sums of all grids are added up. */
  static PetscErrorCode Distance(const VpView *view, const VpPlaces *places, int n, const VpGrid grid[], const double *x,
                                 const double *values, double *sum)
  {
    VpArray *sums = NULL;
    double   part = 0;
    auto     fill = [=](VpArray *array) { return VpCudaAlloc((size_t)view->nown * DIM * sizeof(double), "partial sums", &array->p); };
    auto     launch = [&](auto q) {
      constexpr int                  Q = decltype(q)::value;
      typedef PointLaunch<DIM, N, Q> L;
      const int                      blocks = VpBlocks(places->n, L::cells);
      const VpLaunch                 l = {blocks, L::threads};
      double                        *partial = (double *)sums->p;
      bool                           done = false;

      PetscFunctionBegin;
      if constexpr (Q > 0) {
        done = Slopes<DIM, N, Q>::Fits(n, grid);
        if (done) PetscCall(VpCudaLaunch("distance", SlopeDistance<DIM, N, Q>, l, *places, Slopes<DIM, N, Q>(grid), x, values, partial));
      }
      for (int i = 0; !done && i < n; i++)
        PetscCall(VpCudaLaunch("distance", GridDistance<DIM, N, Q>, l, *places, grid[i], n, x, values + i, partial + (size_t)i * blocks));
      PetscCall(VpCudaSums(1, done ? blocks : n * blocks, partial, &part));
      PetscFunctionReturn(PETSC_SUCCESS);
    };

    PetscFunctionBegin;
    if (!places->n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((VpCudaPlans<ViewPlans<T, DIM, N>>(view).points.Get(&sums, fill)));
    PetscCall(ForGrid(grid, launch));
    *sum += part;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaPointsOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Points>(precision, dim, degree, [ops](auto of) {
    if constexpr (sizeof(typename decltype(of)::Real) == sizeof(double)) {
      ops->coordinates = of.Coordinates;
      ops->evaluate = of.Evaluate;
      ops->integrate = of.Integrate;
      ops->distance = of.Distance;
      ops->probe = of.Probe;
    }
  });
}
