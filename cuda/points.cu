/* Functions at grids of points of cells. Grids of n or n + 2 points a direction have kernels in which a thread holds a line; all others,
   those on sides above all, have one in which a thread makes a value. */
#include "sum.cuh"

/* Arrays in shared memory have rows of an odd pitch, so that lines along x begin in different banks. */
template <int DIM, int N, int Q>
struct PointShape {
  static constexpr int wanted = 128; /* threads of a block, if a cell has no more lines */
  static constexpr int lines = Power(Q, DIM - 1), cells = Max(1, wanted / lines), threads = cells * lines, size = lines * (Q | 1);
};

/* what a thread block knows of a cell */
struct Place {
  int32_t cell;
  double  factor, volume;
};

__device__ __forceinline__ Place FindPlace(const VpPlaces &places, const VpGrid &grid, int32_t i)
{
  const double *size = places.bounds + 6 * (size_t)i + 3, h[3] = {size[0], size[1], size[2]};
  Place         p;

  p.cell = places.list ? places.list[i] : places.first + i;
  p.factor = sqrt(VpGridPower(grid.power, h)) * (places.weight ? places.weight[i] : 1.);
  p.volume = h[0] * h[1] * h[2];
  return p;
}

/* the weight of a point */
__device__ __forceinline__ double WeightOf(const VpGrid &grid, int p)
{
  const int q = p / grid.count[0];

  return grid.w[0][p % grid.count[0]] * grid.w[1][q % grid.count[1]] * grid.w[2][q / grid.count[1]];
}

/* Calls to(r, v) for the values v of line l along D after A [ROWS][extent along D] (BACK: A is the transpose of that), where in has the
   extents EX, EY and any along z. */
template <int D, int EX, int EY, int ROWS, int COLS, bool BACK, class To>
__device__ __forceinline__ void ContractLine(const double *A, const double *in, int l, To to)
{
  constexpr int pitch = EX | 1, stride = D == 0 ? 1 : D == 1 ? pitch : pitch * EY;
  const int     start = D == 0 ? l * pitch : D == 1 ? l % EX + l / EX * pitch * EY : l % EX + l / EX * pitch;
  double        v[COLS];

  UNROLL (int c = 0; c < COLS; c++) v[c] = in[start + c * stride];
  UNROLL (int r = 0; r < ROWS; r++) {
    double sum = 0;
    UNROLL (int c = 0; c < COLS; c++) sum += A[BACK ? c * ROWS + r : r * COLS + c] * v[c];
    to(r, sum);
  }
}

/* Calls to(k, v) for the values number k of a cell, after the grid's matrices (BACK: their transposes) on `from`; s: twice the shape's
   size */
template <int DIM, int N, int Q, bool BACK, class To>
__device__ __forceinline__ void ContractPlace(const VpGrid &grid, const double *from, double *s, int l, To to)
{
  typedef PointShape<DIM, N, Q> S;
  constexpr int                 C = BACK ? Q : N, R = BACK ? N : Q, last = Power(R, DIM - 1);
  double                       *other = s + S::size;

  for (int k = l; k < Power(C, DIM); k += S::lines) s[k % C + k / C * (C | 1)] = from[k];
  __syncthreads();
  if (l < Power(C, DIM - 1)) ContractLine<0, C, C, R, C, BACK>(grid.matrix[0], s, l, [=](int r, double v) { other[l * (R | 1) + r] = v; });
  __syncthreads();
  if constexpr (DIM == 3) {
    if (l < R * C)
      ContractLine<1, R, C, R, C, BACK>(grid.matrix[1], other, l, [=](int r, double v) { s[l % R + (r + l / R * R) * (R | 1)] = v; });
    __syncthreads();
    if (l < last) ContractLine<2, R, R, R, C, BACK>(grid.matrix[2], s, l, [=](int r, double v) { to(r * last + l, v); });
  } else if (l < last) ContractLine<1, R, C, R, C, BACK>(grid.matrix[1], other, l, [=](int r, double v) { to(r * last + l, v); });
}

/* the same for any grid, by all threads of a block; s: twice VP_MAX_NQ^DIM */
template <int DIM, int N, bool BACK, class To>
__device__ __forceinline__ void ContractAny(const VpGrid &grid, const double *from, double *s, To to)
{
  const double *in = from;
  int           extent[3] = {1, 1, 1};

  UNROLL (int d = 0; d < DIM; d++) extent[d] = BACK ? grid.count[d] : N;
  UNROLL (int d = 0; d < DIM; d++) {
    const int rows = BACK ? N : grid.count[d], cols = extent[d], inner = d == 0 ? 1 : d == 1 ? extent[0] : extent[0] * extent[1];
    const int count = extent[0] * extent[1] * extent[2] / cols * rows, step_row = BACK ? 1 : N, step_col = BACK ? N : 1;
    double   *out = s + (d % 2) * Power(VP_MAX_NQ, DIM);

    for (int t = threadIdx.x; t < count; t += blockDim.x) {
      const int     r = t / inner % rows;
      const double *v = in + t / inner / rows * cols * inner + t % inner;
      double        sum = 0;

      for (int c = 0; c < cols; c++) sum += grid.matrix[d][r * step_row + c * step_col] * v[c * inner];
      if (d < DIM - 1) out[t] = sum;
      else to(t, sum);
    }
    __syncthreads();
    extent[d] = rows;
    in = out;
  }
}

/* threads and shared memory of a block. Q: points a direction; 0: any grid, a place a block */
template <int DIM, int N, int Q>
struct PointLaunch {
  typedef PointShape<DIM, N, Q> S;
  static constexpr int          cells = S::cells, threads = S::threads, size = 2 * S::size * S::cells, lines = S::lines;
};
template <int DIM, int N>
struct PointLaunch<DIM, N, 0> {
  static constexpr int cells = 1, threads = 128, size = 2 * Power(VP_MAX_NQ, DIM), lines = 128;
};

template <int DIM, int N, int Q, bool BACK, class To>
__device__ __forceinline__ void ContractGrid(const VpGrid &grid, const double *from, double *s, To to)
{
  typedef PointLaunch<DIM, N, Q> L;

  if constexpr (Q == 0) ContractAny<DIM, N, BACK>(grid, from, s, to);
  else ContractPlace<DIM, N, Q, BACK>(grid, from, s + threadIdx.x / L::lines * (L::size / L::cells), threadIdx.x % L::lines, to);
}

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

template <int DIM>
__global__ void GridCoordinates(const __grid_constant__ VpPlaces places, const __grid_constant__ VpGrid grid, size_t count, double *x)
{
  const int size = VpGridSize(&grid);

  for (size_t t = blockIdx.x * (size_t)blockDim.x + threadIdx.x; t < count; t += (size_t)gridDim.x * blockDim.x) {
    const double *lower = places.bounds + 6 * (t / size);
    int           p = (int)(t % size);

    UNROLL (int d = 0; d < DIM; d++) {
      x[t * DIM + d] = lower[d] + lower[3 + d] * grid.x[d][p % grid.count[d]];
      p /= grid.count[d];
    }
  }
}

/* a warp a point */
template <int DIM, int N>
__global__ void ProbeCells(int32_t count, const int32_t *cell, const double *basis, const double *x, double *values)
{
  const int32_t i = blockIdx.x * blockDim.y + threadIdx.y;
  const double *b = basis + (size_t)i * DIM * N, *u;
  double        sum = 0;

  if (i >= count) return;
  u = x + (size_t)cell[i] * Power(N, DIM);
  for (int k = threadIdx.x; k < Power(N, DIM); k += 32)
    sum += u[k] * b[k % N] * b[N + k / N % N] * (DIM == 3 ? b[(DIM - 1) * N + k / (N * N)] : 1.);
  for (int o = 16; o; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
  if (threadIdx.x == 0) values[i] = sum;
}

struct PointPlan : VpPlan {
  VpArray partial; /* sums, one per block */
};

template <class T, int DIM, int N>
struct Points {
  typedef T Real;

  /* Calls f(integral_constant Q) with the points a direction that there are kernels for. */
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
    const size_t count = (size_t)places->n * VpGridSize(grid);

    PetscFunctionBegin;
    if (!count) PetscFunctionReturn(PETSC_SUCCESS);
    GridCoordinates<DIM><<<(int)PetscMin((count + VP_THREADS - 1) / VP_THREADS, (size_t)VP_MAX_LOOPING), VP_THREADS, 0, VpCudaStream>>>(
      *places, *grid, count, x);
    VpCudaLaunched("coordinates");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Evaluate(const VpView *, const VpPlaces *places, const VpGrid *grid, int stride, const double *x, double *values)
  {
    auto launch = [=](auto q) {
      typedef PointLaunch<DIM, N, decltype(q)::value> L;

      EvaluateGrids<DIM, N, decltype(q)::value>
        <<<VpBlocks(places->n, L::cells), L::threads, 0, VpCudaStream>>>(*places, *grid, stride, x, values);
      return PETSC_SUCCESS;
    };

    PetscFunctionBegin;
    if (!places->n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(ForGrid(grid, launch));
    VpCudaLaunched("evaluate");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Integrate(const VpView *, const VpPlaces *places, const VpGrid *grid, PetscBool add, const double *values,
                                  double *b)
  {
    auto launch = [=](auto q) {
      typedef PointLaunch<DIM, N, decltype(q)::value> L;

      IntegrateGrids<DIM, N, decltype(q)::value>
        <<<VpBlocks(places->n, L::cells), L::threads, 0, VpCudaStream>>>(*places, *grid, add, values, b);
      return PETSC_SUCCESS;
    };

    PetscFunctionBegin;
    if (!places->n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(ForGrid(grid, launch));
    VpCudaLaunched("integrate");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Probe(const VpView *, int32_t count, const int32_t *cell, const double *basis, const double *x, double *values)
  {
    PetscFunctionBegin;
    if (!count) PetscFunctionReturn(PETSC_SUCCESS);
    ProbeCells<DIM, N><<<VpBlocks(count, 8), dim3(32, 8), 0, VpCudaStream>>>(count, cell, basis, x, values);
    VpCudaLaunched("probe");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Distance(const VpView *view, const VpPlaces *places, const VpGrid *grid, int stride, const double *x,
                                 const double *values, double *sum)
  {
    PointPlan *plan = NULL;
    double     part;
    auto       fill = [=](PointPlan *p) { return VpCudaAlloc((size_t)view->nown * sizeof(double), "partial sums", &p->partial.p); };
    auto       launch = [&](auto q) {
      typedef PointLaunch<DIM, N, decltype(q)::value> L;
      const int                                       blocks = VpBlocks(places->n, L::cells);

      GridDistance<DIM, N, decltype(q)::value>
        <<<blocks, L::threads, 0, VpCudaStream>>>(*places, *grid, stride, x, values, (double *)plan->partial.p);
      FinalSum<<<1, VP_MAX_THREADS, 0, VpCudaStream>>>(blocks, (double *)plan->partial.p, (double *)plan->partial.p);
      return PETSC_SUCCESS;
    };

    PetscFunctionBegin;
    if (!places->n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaPlan<PointPlan>(&view->device, VP_PLAN_POINTS, 0, 0, &plan, fill));
    PetscCall(ForGrid(grid, launch));
    VpCudaLaunched("distance");
    PetscCall(VpCudaFetch(plan->partial.p, sizeof(part), &part));
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
