/* Packs traces on sides of cells, V and Q [2][n^(dim-1)], from coefficients, and unpacks coefficients from traces. A thread holds one line.
   */
#include "cell.cuh"

/* Line l that ends on a side, which is the list's item 2 dim cell + side: offset of its first value, stride, end at the side. */
template <int DIM, int N>
struct SideLine {
  size_t at;
  int    stride, end;

  __device__ __forceinline__ SideLine(int32_t item, int l)
  {
    const int d = item / 2 % DIM;

    end = item % 2;
    stride = VpLineStride(d, N, N * N);
    at = (size_t)(item / (2 * DIM)) * Power(N, DIM) + LineStart<DIM>(d, N, l, N, N * N);
  }
};

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  PackTraces(const __grid_constant__ Field<T> f, int32_t count, const int32_t *list, T *to)
{
  typedef CellShape<DIM, N> S;
  const int                 l = threadIdx.x % S::lines;
  const int32_t             i = blockIdx.x * S::cells + threadIdx.x / S::lines;
  T                         V, Q;

  if (i >= count) return;
  const SideLine<DIM, N> line(list[i], l);
  Traces(f.nt, f.first[line.end], f.traces, line.end, f.x + line.at, line.stride, V, Q);
  to[(size_t)i * 2 * S::lines + l] = V;
  to[((size_t)i * 2 + 1) * S::lines + l] = Q;
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  UnpackTraces(const __grid_constant__ Field<T> f, const T *expand, int32_t count, const int32_t *list, const T *from, T *x)
{
  typedef CellShape<DIM, N> S;
  const int                 l = threadIdx.x % S::lines;
  const int32_t             i = blockIdx.x * S::cells + threadIdx.x / S::lines;

  if (i >= count) return;
  const SideLine<DIM, N> line(list[i], l);
  const T                V = from[(size_t)i * 2 * S::lines + l], Q = from[((size_t)i * 2 + 1) * S::lines + l];
  const T               *value = expand + 2 * line.end * f.nt, *slope = value + f.nt;
  for (int t = 0; t < f.nt; t++) x[line.at + (f.first[line.end] + t) * line.stride] = __ldg(value + t) * V + __ldg(slope + t) * Q;
}

template <class T, int DIM, int N>
struct SideTraces {
  typedef CellShape<DIM, N> S;

  static PetscErrorCode Pack(const VpView *view, int32_t n, const int32_t *list, const void *x, void *to)
  {
    if (view->metric.components) return VpCudaMetricPack(view, n, list, x, to);
    return VpCudaLaunch("traces to messages", PackTraces<T, DIM, N>, {VpBlocks(n, S::cells), S::threads}, Field<T>(view, x, NULL), n, list,
                        (T *)to);
  }

  static PetscErrorCode Unpack(const VpView *view, int32_t n, const int32_t *list, const void *from, void *x)
  {
    if (view->metric.components) return VpCudaMetricUnpack(view, n, list, from, x);
    return VpCudaLaunch("traces from messages", UnpackTraces<T, DIM, N>, {VpBlocks(n, S::cells), S::threads}, Field<T>(view, NULL, NULL),
                        (const T *)view->expand, n, list, (const T *)from, (T *)x);
  }
};

void VpCudaTracesOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<SideTraces>(precision, dim, degree, [ops](auto of) {
    ops->pack_traces = of.Pack;
    ops->unpack_traces = of.Unpack;
  });
}
