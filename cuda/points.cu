/* Functions at grids of points of cells. Grids of n or n + 2 points per direction have kernels in which a thread holds a line. In the
   kernel for all other grids, mostly those on sides, a thread makes a value. */
#include "slopes.cuh"
#include "plan/viewplans.cuh"

/* `grid` is number j of the grids that make `stride` numbers a point, or places->rows if places have a `chain`. */
template <int DIM, int N, int Q>
__global__ void __launch_bounds__(PointLaunch<DIM, N, Q>::threads)
  EvaluateGrids(const __grid_constant__ VpPlaces places, const __grid_constant__ VpGrid grid, const __grid_constant__ Roots roots, int j,
                int stride, const double *x, double *values)
{
  typedef PointLaunch<DIM, N, Q> L;
  __shared__ double              s[L::size];
  const int32_t                  i = blockIdx.x * L::cells + threadIdx.x / L::lines, at = i < places.n ? i : places.n - 1;
  const Place                    place = FindPlace(places, grid, roots, Power(N, DIM), at);
  const size_t                   first = (size_t)at * VpGridSize(&grid);
  const double                  *from = x + (size_t)place.cell * Power(N, DIM);

  ContractGrid<DIM, N, Q, false>(
    grid, [=](int k) { return place.Root(k) * from[k]; }, s,
    [=](int k, double v) {
      if (i < places.n && !places.chain) values[(first + k) * stride + j] = place.factor * v;
      for (int r = 0; i < places.n && r < places.rows; r++) {
        const size_t to = (first + k) * places.rows + r;

        values[to] = (j ? values[to] : 0.) + places.chain[to * DIM + j] * place.factor * v;
      }
    });
}

template <int DIM, int N, int Q>
__global__ void __launch_bounds__(PointLaunch<DIM, N, Q>::threads)
  IntegrateGrids(const __grid_constant__ VpPlaces places, const __grid_constant__ VpGrid grid, const __grid_constant__ Roots roots,
                 bool add, const double *values, double *b)
{
  typedef PointLaunch<DIM, N, Q> L;
  __shared__ double              s[L::size];
  const int32_t                  i = blockIdx.x * L::cells + threadIdx.x / L::lines, at = i < places.n ? i : places.n - 1;
  const Place                    place = FindPlace(places, grid, roots, Power(N, DIM), at);
  const size_t                   first = (size_t)at * VpGridSize(&grid);
  double                        *to = b + (size_t)place.cell * Power(N, DIM);

  ContractGrid<DIM, N, Q, true>(
    grid, [=](int k) { return values[first + k] * (places.measure ? places.measure[first + k] : 1.); }, s,
    [=](int k, double v) {
      if (i < places.n) to[k] = (add ? to[k] : 0.) + place.factor * place.Root(k) * v;
    });
}

template <int DIM, int N, int Q>
__global__ void __launch_bounds__(PointLaunch<DIM, N, Q>::threads)
  GridDistance(const __grid_constant__ VpPlaces places, const __grid_constant__ VpGrid grid, const __grid_constant__ Roots roots,
               int stride, const double *x, const double *values, double *partial)
{
  typedef PointLaunch<DIM, N, Q> L;
  __shared__ double              s[L::size];
  const int32_t                  i = blockIdx.x * L::cells + threadIdx.x / L::lines, at = i < places.n ? i : places.n - 1;
  const Place                    place = FindPlace(places, grid, roots, Power(N, DIM), at);
  const size_t                   first = (size_t)at * VpGridSize(&grid);
  const double                  *from = x + (size_t)place.cell * Power(N, DIM);
  double                         sum = 0;

  ContractGrid<DIM, N, Q, false>(
    grid, [=](int k) { return place.Root(k) * from[k]; }, s,
    [&](int k, double v) {
      const double e = place.factor * v - values[(first + k) * stride];
      sum += WeightOf(grid, k) * (places.measure ? places.measure[first + k] : 1.) * e * e;
    });
  BlockSum(i < places.n ? place.volume * sum : 0., partial);
}

/* the same from two functions' numbers at the points, places.rows of each */
template <int DIM>
__global__ void NumbersDistance(const __grid_constant__ VpPlaces places, const __grid_constant__ VpGrid grid, const double *u,
                                const double *v, double *partial)
{
  const int    size = VpGridSize(&grid), rows = places.rows;
  const size_t count = (size_t)places.n * size * rows;
  double       sum = 0;

  for (size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x; t < count; t += (size_t)gridDim.x * blockDim.x) {
    const size_t  point = t / rows;
    const double *h = places.bounds + 6 * (point / size) + 3, e = u[t] - v[t];

    sum += h[0] * h[1] * h[2] * WeightOf(grid, (int)(point % size)) * (places.measure ? places.measure[point] : 1.) * e * e;
  }
  BlockSum(sum, partial);
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
__global__ void ProbeCells(const __grid_constant__ Roots roots, int32_t count, const int32_t *cell, const double *basis, const double *x,
                           double *values)
{
  const int32_t i = blockIdx.x * blockDim.y + threadIdx.y;
  const double *b = basis + (size_t)i * DIM * N, *u, *root;
  double        sum = 0;

  if (i >= count) return;
  u = x + (size_t)cell[i] * Power(N, DIM);
  root = roots.root ? roots.root + (size_t)(cell[i] % roots.period) * Power(N, DIM) : NULL;
  for (int k = threadIdx.x; k < Power(N, DIM); k += VP_WARP)
    sum += (root ? root[k] : 1.) * u[k] * b[k % N] * b[N + k / N % N] * (DIM == 3 ? b[(DIM - 1) * N + k / (N * N)] : 1.);
  for (int o = VP_WARP / 2; o; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
  if (threadIdx.x == 0) values[i] = sum;
}

template <class T, int DIM, int N>
struct Points {
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

    if (places->point) return VpBackendCuda.copy(places->point, (size_t)places->n * VpGridSize(grid) * DIM * sizeof(*x), x);
    return ForGrid(grid, launch);
  }

  static PetscErrorCode Evaluate(const VpView *view, const VpPlaces *places, int n, const VpGrid grid[], const double *x, double *values)
  {
    const Roots roots(view);
    auto        launch = [=](auto q) {
      constexpr int                  Q = decltype(q)::value;
      typedef PointLaunch<DIM, N, Q> L;
      const VpLaunch                 l = {VpBlocks(places->n, L::cells), L::threads};

      PetscFunctionBegin;
      if constexpr (Q > 0) {
        if (!roots.root && Slopes<DIM, N, Q>::Fits(n, grid)) {
          PetscCall(VpCudaLaunch("evaluate", EvaluateSlopes<DIM, N, Q>, l, *places, Slopes<DIM, N, Q>(grid), x, values));
          PetscFunctionReturn(PETSC_SUCCESS);
        }
      }
      for (int i = 0; i < n; i++)
        PetscCall(VpCudaLaunch("evaluate", EvaluateGrids<DIM, N, Q>, l, *places, grid[i], roots, i, n, x, values));
      PetscFunctionReturn(PETSC_SUCCESS);
    };

    return ForGrid(grid, launch);
  }

  static PetscErrorCode Integrate(const VpView *view, const VpPlaces *places, const VpGrid *grid, PetscBool add, const double *values,
                                  double *b)
  {
    const Roots roots(view);

    return ForGrid(grid, [=](auto q) {
      typedef PointLaunch<DIM, N, decltype(q)::value> L;

      return VpCudaLaunch("integrate", IntegrateGrids<DIM, N, decltype(q)::value>, {VpBlocks(places->n, L::cells), L::threads}, *places,
                          *grid, roots, add, values, b);
    });
  }

  static PetscErrorCode Probe(const VpView *view, int32_t count, const int32_t *cell, const double *basis, const double *x, double *values)
  {
    return VpCudaLaunch("probe", ProbeCells<DIM, N>, {VpBlocks(count, VP_WARPS), dim3(VP_WARP, VP_WARPS)}, Roots(view), count, cell, basis,
                        x, values);
  }

  /* The same where places have a chain: a number at a point combines derivatives, which are all evaluated first. */
  static PetscErrorCode TurnedDistance(const VpView *view, const VpPlaces *places, int n, const VpGrid grid[], const double *x,
                                       const double *values, int blocks, double *partial)
  {
    void *u;

    PetscFunctionBegin;
    PetscCall(VpBackendCuda.borrow((size_t)places->n * VpGridSize(grid) * places->rows * sizeof(double), "gradients at points", &u));
    PetscCall(Evaluate(view, places, n, grid, x, (double *)u));
    PetscCall(VpCudaLaunch("distance", NumbersDistance<DIM>, {blocks, VP_THREADS}, *places, grid[0], (const double *)u, values, partial));
    PetscCall(VpBackendCuda.give_back(u));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* The blocks' sums of all grids are added up. */
  static PetscErrorCode Distance(const VpView *view, const VpPlaces *places, int n, const VpGrid grid[], const double *x,
                                 const double *values, double *sum)
  {
    const Roots roots(view);
    VpArray    *sums = NULL;
    double      part = 0;
    auto        fill = [=](VpArray *array) { return VpCudaAlloc((size_t)view->nown * DIM * sizeof(double), "partial sums", &array->p); };
    auto        launch = [&](auto q) {
      constexpr int                  Q = decltype(q)::value;
      typedef PointLaunch<DIM, N, Q> L;
      const int                      blocks = VpBlocks(places->n, L::cells);
      const VpLaunch                 l = {blocks, L::threads};
      double                        *partial = (double *)sums->p;
      bool                           done = places->chain;

      PetscFunctionBegin;
      if (done) PetscCall(TurnedDistance(view, places, n, grid, x, values, blocks, partial));
      else if constexpr (Q > 0) {
        done = !roots.root && Slopes<DIM, N, Q>::Fits(n, grid);
        if (done) PetscCall(VpCudaLaunch("distance", SlopeDistance<DIM, N, Q>, l, *places, Slopes<DIM, N, Q>(grid), x, values, partial));
      }
      for (int i = 0; !done && i < n; i++)
        PetscCall(
                 VpCudaLaunch("distance", GridDistance<DIM, N, Q>, l, *places, grid[i], roots, n, x, values + i, partial + (size_t)i * blocks));
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
  if (precision == VP_DOUBLE)
    VpCudaForDim<Points, double>(dim, degree, [ops](auto of) {
      ops->coordinates = of.Coordinates;
      ops->evaluate = of.Evaluate;
      ops->integrate = of.Integrate;
      ops->distance = of.Distance;
      ops->probe = of.Probe;
    });
}
