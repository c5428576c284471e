/* A x on cells of any mesh, with any lines and neighbours. A thread holds one line of a cell, in every direction; a block has several
   cells. */
#pragma once
#include "tensor.cuh"

/* what A x reads, a kernel parameter */
template <class T>
struct Field {
  const int32_t *neighbor, *line;
  const T       *lines, *traces, *x, *ghost;
  int32_t        nown;
  int            nt, first[2];

  Field(const VpView *v, const void *own, const void *beyond)
      : neighbor(v->neighbor), line(v->line), lines((const T *)v->lines), traces((const T *)v->traces), x((const T *)own),
        ghost((const T *)beyond), nown(v->nown), nt(v->nt), first{v->first[0], v->first[1]}
  {
  }
  __device__ __forceinline__ const T *Cell(int32_t cell, int values) const
  {
    return cell < nown ? x + (size_t)cell * values : ghost + (size_t)(cell - nown) * values;
  }
};

/* value V and slope Q at end `end` of a line of a cell's values */
template <class T>
__device__ __forceinline__ void Traces(int nt, const int *first, const T *traces, int end, const T *line, int stride, T &V, T &Q)
{
  V = Q = T(0);
  for (int t = 0; t < nt; t++) {
    const T u = line[(first[end] + t) * stride];
    V += __ldg(traces + (2 * end) * nt + t) * u;
    Q += __ldg(traces + (2 * end + 1) * nt + t) * u;
  }
}

/* y = line l of A x along the slowest direction of the cell. Sides with bits in `without` count as having nothing beyond.
   Requires: X holds the cell's values and Y is scratch, both with CellShape's strides; all threads of the block call. */
template <class T, int DIM, int N>
__device__ __forceinline__ void ApplyCell(const Field<T> &f, int32_t cell, const T *X, T *Y, int l, T (&y)[N], int without = 0)
{
  typedef CellShape<DIM, N> S;

#pragma unroll 1
  for (int d = 0; d < DIM; d++) {
    const int base = LineStart<DIM>(d, N, l, S::sy, S::sz), stride = VpLineStride(d, S::sy, S::sz);
    const int start = LineStart<DIM>(d, N, l, N, N * N), step = VpLineStride(d, N, N * N);
    const T  *D = f.lines + (size_t)f.line[(size_t)cell * DIM + d] * VpLineSize(N), *g = D + N * N;

    UNROLL (int i = 0; i < N; i++) y[i] = d ? Y[base + i * stride] : T(0);
    UNROLL (int j = 0; j < N; j++) {
      const T v = X[base + j * stride];
      UNROLL (int i = 0; i < N; i++) y[i] += __ldg(D + i * N + j) * v;
    }
    UNROLL (int s = 0; s < 2; s++) {
      const int32_t beyond = f.neighbor[(size_t)cell * 2 * DIM + 2 * d + s];
      if (beyond >= 0 && !(without >> (2 * d + s) & 1)) {
        T V, Q;
        Traces(f.nt, f.first, f.traces, 1 - s, f.Cell(beyond, S::values) + start, step, V, Q);
        UNROLL (int i = 0; i < N; i++) y[i] += __ldg(g + 2 * s * N + i) * V + __ldg(g + (2 * s + 1) * N + i) * Q;
      }
    }
    if (d < S::slow) {
      UNROLL (int i = 0; i < N; i++) Y[base + i * stride] = y[i];
      __syncthreads();
    }
  }
}

/* X = the cell's line l along its slowest direction */
template <class T, int DIM, int N>
__device__ __forceinline__ void LoadCell(const T *cell, T *X, int l)
{
  typedef CellShape<DIM, N> S;

  UNROLL (int i = 0; i < N; i++)
    X[LineStart<DIM>(S::slow, N, l, S::sy, S::sz) + i * VpLineStride(S::slow, S::sy, S::sz)] = cell[l + i * S::lines];
}
