/* Sums over the lines that cross the sides of a notch, and what they add. A thread makes one line's two sums, or one value. */
#include "device/kernel.cuh"

template <class T>
struct Notch {
  int32_t        n, ncell;
  const int32_t *side, *cell;
  const T       *table;

  Notch(const VpNotch *v, const void *numbers) : n(v->n), ncell(v->ncell), side(v->side), cell(v->cell), table((const T *)numbers)
  {
  }
  __device__ __forceinline__ const int32_t *Side(int32_t k) const
  {
    return side + (size_t)k * VP_NOTCH_SIDE;
  }
  /* of a side of a cell with so many sides: its entry of the table, [2][cell, missing][n] */
  __device__ __forceinline__ const T *Entry(const int32_t *of, int sides, int n) const
  {
    return table + (size_t)(of[2] / sides) * 4 * n;
  }
};

template <class T, int DIM, int N>
__global__ void TakeNotch(const __grid_constant__ Notch<T> notch, const T *x, T *t)
{
  constexpr int  lines = Power(N, DIM - 1);
  const int32_t  i = blockIdx.x * blockDim.x + threadIdx.x, half = notch.n * lines;
  const int32_t *side = notch.Side(i / lines);

  if (i >= half) return;
  const int d = side[2] / 2 % DIM, stride = VpLineStride(d, N, N * N), start = LineStart<DIM>(d, N, i % lines, N, N * N);
  const T  *by = notch.Entry(side, 2 * DIM, N);
  T         sum[2] = {};

  for (int c = 0; c < 2; c++) {
    const T *u = x + (size_t)side[c] * Power(N, DIM) + start;
    UNROLL (int j = 0; j < N; j++) {
      const T value = u[j * stride];
      UNROLL (int f = 0; f < 2; f++) sum[f] += __ldg(by + (2 * f + c) * N + j) * value;
    }
  }
  UNROLL (int f = 0; f < 2; f++) t[(size_t)f * half + i] = sum[f];
}

template <class T, int DIM, int N>
__global__ void AddNotch(const __grid_constant__ Notch<T> notch, const T *w, T *b)
{
  constexpr int  lines = Power(N, DIM - 1), values = Power(N, DIM);
  const int32_t  i = blockIdx.x * blockDim.x + threadIdx.x, half = notch.n * lines;
  const int      at = i % values;
  const int32_t *cell = notch.cell + (size_t)(i / values) * VP_NOTCH_CELL;
  T              sum = 0;

  if (i >= notch.ncell * values) return;
  UNROLL (int s = 0; s < 2 * DIM; s++) {
    const int32_t k = cell[1 + s];
    if (k < 0) continue;
    const int32_t *side = notch.Side(k);
    const int      c = side[0] != cell[0], stride = VpLineStride(s / 2, N, N * N), line = at / (stride * N) * stride + at % stride;
    const T       *by = notch.Entry(side, 2 * DIM, N) + c * N + at / stride % N;
    UNROLL (int f = 0; f < 2; f++) sum += __ldg(by + 2 * f * N) * w[(size_t)f * half + (size_t)k * lines + line];
  }
  b[(size_t)cell[0] * values + at] -= sum;
}

template <class T, int DIM, int N>
struct Notches {
  static PetscErrorCode Take(const VpView *, const VpNotch *v, const void *x, void *t)
  {
    return VpCudaLaunch("sums at a notch", TakeNotch<T, DIM, N>, {VpBlocks(v->n * Power(N, DIM - 1), VP_THREADS), VP_THREADS},
                        Notch<T>(v, v->take), (const T *)x, (T *)t);
  }
  static PetscErrorCode Add(const VpView *, const VpNotch *v, const void *w, void *b)
  {
    return VpCudaLaunch("corrections at a notch", AddNotch<T, DIM, N>, {VpBlocks(v->ncell * Power(N, DIM), VP_THREADS), VP_THREADS},
                        Notch<T>(v, v->add), (const T *)w, (T *)b);
  }
};

void VpCudaNotchOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Notches>(precision, dim, degree, [ops](auto of) {
    ops->take_notch = of.Take;
    ops->add_notch = of.Add;
  });
}
