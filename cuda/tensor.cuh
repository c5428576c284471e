/* A tensor product of n x n matrices on cells held in shared memory: one thread per line. */
#pragma once
#include "kernel.cuh"

/* row-major, a kernel parameter: constants with indices known to the compiler */
template <class T, int N>
struct Matrix {
  T a[N * N];
};

/* several cells a block; values of a cell have strides 1, sy, sz, nearly free of bank conflicts */
template <int DIM, int N>
struct CellShape {
  static constexpr int lines = Power(N, DIM - 1), cells = Max(1, 128 / lines), threads = cells * lines;
  static constexpr int sy = N | 1, sz = N * sy, size = DIM == 3 ? N * sz : N * sy;
  static constexpr int slow = DIM - 1, values = Power(N, DIM);
};

/* out = M in, or, where mirror, the matrix mirrored about the cell's middle: swaps turns the line around (the caller does), else odd signs
 * change */
template <class T, int N>
__device__ __forceinline__ void Contract(const Matrix<T, N> &M, bool odd_signs, const T (&in)[N], T (&out)[N])
{
  const T sign = odd_signs ? T(-1) : T(1);

  UNROLL for (int i = 0; i < N; i++) out[i] = T(0);
  UNROLL for (int j = 0; j < N; j++) {
    const T v = j % 2 ? sign * in[j] : in[j];
    UNROLL for (int i = 0; i < N; i++) out[i] += M.a[i * N + j] * v;
  }
  UNROLL for (int i = 1; i < N; i += 2) out[i] *= sign;
}

/* M or its mirror image on a line in registers, written to p with its stride */
template <class T, int N>
__device__ __forceinline__ void ContractTo(const Matrix<T, N> &M, bool mirror, bool swaps, const T (&in)[N], T *p, int stride)
{
  T v[N], w[N];

  UNROLL for (int i = 0; i < N; i++) v[i] = mirror && swaps ? in[N - 1 - i] : in[i];
  Contract(M, mirror && !swaps, v, w);
  UNROLL for (int i = 0; i < N; i++) p[i * stride] = mirror && swaps ? w[N - 1 - i] : w[i];
}

template <class T, int N>
__device__ __forceinline__ void ContractInPlace(const Matrix<T, N> &M, bool mirror, bool swaps, T *p, int stride)
{
  T v[N];

  UNROLL for (int i = 0; i < N; i++) v[i] = p[i * stride];
  ContractTo(M, mirror, swaps, v, p, stride);
}

/* a cell whose slow lines are in registers: in -> (M in every direction) in -> in; mirror: a bit per direction; all threads of the block
 * call */
template <class T, int DIM, int N>
__device__ __forceinline__ void ContractCell(const Matrix<T, N> &M, int mirror, bool swaps, T *s, int l, T (&in)[N])
{
  typedef CellShape<DIM, N> S;

  ContractTo(M, mirror >> S::slow & 1, swaps, in, s + LineStart<DIM>(S::slow, N, l, S::sy, S::sz), LineStride(S::slow, S::sy, S::sz));
  UNROLL for (int d = S::slow - 1; d >= 0; d--) {
    __syncthreads();
    ContractInPlace(M, mirror >> d & 1, swaps, s + LineStart<DIM>(d, N, l, S::sy, S::sz), LineStride(d, S::sy, S::sz));
  }
  __syncthreads();
  UNROLL for (int i = 0; i < N; i++) in[i] = s[LineStart<DIM>(S::slow, N, l, S::sy, S::sz) + i * LineStride(S::slow, S::sy, S::sz)];
}
