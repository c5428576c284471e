/* A tensor product of n x n matrices on cells in shared memory. A thread holds one line of a cell, in every direction. */
#pragma once
#include "device/kernel.cuh"

/* A row-major matrix as a kernel parameter: with indices known to the compiler its entries are operands of instructions. */
template <class T, int N>
struct Matrix {
  T a[N * N];
};

/* Cells in shared memory. Value (x, y, z) of a cell is at x + sy y + sz z; sy is odd, so that lines along x begin in different banks. */
template <int DIM, int N>
struct CellShape : LineShape<Power(N, DIM - 1)> {
  static constexpr int sy = N | 1, sz = N * sy, size = DIM == 3 ? N * sz : N * sy;
  static constexpr int slow = DIM - 1, values = Power(N, DIM);
};

/* out = M in. odd_signs changes the signs of odd functions before and after, which mirrors M in the orthonormal basis. */
template <class T, int N>
__device__ __forceinline__ void Contract(const Matrix<T, N> &M, bool odd_signs, const T (&in)[N], T (&out)[N])
{
  const T sign = odd_signs ? T(-1) : T(1);

  UNROLL (int i = 0; i < N; i++) out[i] = T(0);
  UNROLL (int j = 0; j < N; j++) {
    const T v = j % 2 ? sign * in[j] : in[j];
    UNROLL (int i = 0; i < N; i++) out[i] += M.a[i * N + j] * v;
  }
  UNROLL (int i = 1; i < N; i += 2) out[i] *= sign;
}

/* Writes M v to p with a stride, v being a line in registers. `mirror` takes the matrix mirrored about the middle of the cell: if `swaps`
   functions mirror in reverse order, else with alternating signs (struct Mirror). */
template <class T, int N>
__device__ __forceinline__ void ContractTo(const Matrix<T, N> &M, bool mirror, bool swaps, const T (&in)[N], T *p, int stride)
{
  T v[N], w[N];

  UNROLL (int i = 0; i < N; i++) v[i] = mirror && swaps ? in[N - 1 - i] : in[i];
  Contract(M, mirror && !swaps, v, w);
  UNROLL (int i = 0; i < N; i++) p[i * stride] = mirror && swaps ? w[N - 1 - i] : w[i];
}

/* Calls contract(d, in, p, stride) along every direction d, which writes the product of a line in registers to p with a stride. Before and
   after, the lines along the cell's slowest direction are in registers, line l in those of this thread. Requires: all threads of the block
   call; s is shared memory of the cell. */
template <class T, int DIM, int N, class F>
__device__ __forceinline__ void ContractLines(const F &contract, T *s, int l, T (&in)[N])
{
  typedef CellShape<DIM, N> S;

  UNROLL (int d = S::slow; d >= 0; d--) {
    const int stride = VpLineStride(d, S::sy, S::sz);
    T        *p = s + LineStart<DIM>(d, N, l, S::sy, S::sz);

    if (d < S::slow) {
      __syncthreads();
      UNROLL (int i = 0; i < N; i++) in[i] = p[i * stride];
    }
    contract(d, in, p, stride);
  }
  __syncthreads();
  UNROLL (int i = 0; i < N; i++) in[i] = s[LineStart<DIM>(S::slow, N, l, S::sy, S::sz) + i * VpLineStride(S::slow, S::sy, S::sz)];
}

/* in = (M in every direction) in, by ContractLines */
template <class T, int DIM, int N>
__device__ __forceinline__ void ContractCell(const Matrix<T, N> &M, T *s, int l, T (&in)[N])
{
  ContractLines<T, DIM, N>([&M](int, const T(&v)[N], T *p, int stride) { ContractTo(M, false, false, v, p, stride); }, s, l, in);
}
