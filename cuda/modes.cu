/* The low modes of cells (VpOps.restrict_modes). A thread holds one line along the slowest direction. */
#include "tensor.cuh"

/* VpBasis.low as a kernel parameter */
template <int N>
struct LowWeights {
  double w[VP_LOW_DEGREES][N];

  LowWeights(const VpBasis *basis, bool back)
  {
    for (int m = 0; m < VP_LOW_DEGREES; m++)
      for (int i = 0; i < N; i++) w[m][i] = basis->low[back][m][i];
  }
};

/* Calls f(k, m) for all low modes k: m[d] is the degree along direction d. */
template <int DIM, class F>
__device__ __forceinline__ void ForEachMode(F f)
{
  UNROLL (int k = 0; k < VpLowModes(DIM); k++) {
    int m[3] = {0, 0, 0};

    if (k) m[(k - 1) / 2] = 1 + (k - 1) % 2;
    f(k, m);
  }
}

/* product of the weights of line l's place, along all directions but the slowest */
template <int DIM, int N>
__device__ __forceinline__ double WeightAcross(const LowWeights<N> &low, const int (&m)[3], int l)
{
  const double along = low.w[m[0]][l % N];

  return DIM == 3 ? along * low.w[m[1]][l / N] : along;
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  RestrictToModes(const __grid_constant__ LowWeights<N> low, int32_t count, const T *b, double *modes)
{
  typedef CellShape<DIM, N> S;
  constexpr int             M = VpLowModes(DIM);
  __shared__ double         part[S::cells][M][S::lines];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot;
  double                    along[VP_LOW_DEGREES] = {};

  if (cell < count) {
    UNROLL (int i = 0; i < N; i++) {
      const double value = (double)b[(size_t)cell * S::values + l + i * S::lines];
      UNROLL (int m = 0; m < VP_LOW_DEGREES; m++) along[m] += low.w[m][i] * value;
    }
  }
  ForEachMode<DIM>([&](int k, const int(&m)[3]) { part[slot][k][l] = WeightAcross<DIM, N>(low, m, l) * along[m[DIM - 1]]; });
  __syncthreads();
  for (int k = l; k < M && cell < count; k += S::lines) {
    double sum = 0;

    for (int i = 0; i < S::lines; i++) sum += part[slot][k][i];
    modes[(size_t)cell * M + k] = sum;
  }
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  ProlongFromModes(const __grid_constant__ LowWeights<N> low, int32_t count, bool add, const double *modes, T *x)
{
  typedef CellShape<DIM, N> S;
  const int                 l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + threadIdx.x / S::lines;
  double                    along[VP_LOW_DEGREES] = {};

  if (cell >= count) return;
  ForEachMode<DIM>(
    [&](int k, const int(&m)[3]) { along[m[DIM - 1]] += WeightAcross<DIM, N>(low, m, l) * modes[(size_t)cell * VpLowModes(DIM) + k]; });
  UNROLL (int i = 0; i < N; i++) {
    T     *to = x + (size_t)cell * S::values + l + i * S::lines;
    double sum = 0;

    UNROLL (int m = 0; m < VP_LOW_DEGREES; m++) sum += low.w[m][i] * along[m];
    *to = (add ? *to : T(0)) + (T)sum;
  }
}

template <class T, int DIM, int N>
struct Modes {
  typedef CellShape<DIM, N> S;

  static PetscErrorCode RestrictAll(const VpView *view, const void *b, double *modes)
  {
    return VpCudaLaunch("restrict modes", RestrictToModes<T, DIM, N>, {VpBlocks(view->nown, S::cells), S::threads},
                        LowWeights<N>(view->basis, false), view->nown, (const T *)b, modes);
  }

  static PetscErrorCode ProlongAll(const VpView *view, PetscBool add, const double *modes, void *x)
  {
    return VpCudaLaunch("prolong modes", ProlongFromModes<T, DIM, N>, {VpBlocks(view->nown, S::cells), S::threads},
                        LowWeights<N>(view->basis, true), view->nown, (bool)add, modes, (T *)x);
  }
};

void VpCudaModesOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Modes>(precision, dim, degree, [ops](auto of) {
    ops->restrict_modes = of.RestrictAll;
    ops->prolong_modes = of.ProlongAll;
  });
}
