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
  constexpr int most = VpDenseLayers(VP_MAX_N);
  T             u[most]; /* All are loaded before one is waited for. */

  UNROLL (int t = 0; t < most; t++) u[t] = t < nt ? line[(first[end] + t) * stride] : T(0);
  V = Q = T(0);
  UNROLL (int t = 0; t < most; t++) {
    if (t >= nt) continue;
    V += __ldg(traces + (2 * end) * nt + t) * u[t];
    Q += __ldg(traces + (2 * end + 1) * nt + t) * u[t];
  }
}

/* Sides that hang and have traces of their own are HangingSide(number) in a list of neighbours: what the forms of a side's faces test the
   side's cell with, [number][V, Q][lines], the lines in the order of LineStart(). */
__host__ __device__ constexpr int32_t HangingSide(int32_t number)
{
  return VP_EDGE + 1 + number;
}
__device__ __forceinline__ bool IsHangingSide(int32_t beyond)
{
  return beyond > VP_EDGE && beyond < INT32_MIN / 2; /* far from the numbers of boundaries */
}
template <class T>
struct HangingTraces {
  const T *traces, *lift; /* lift: as of VpHangView */

  /* V and Q at a line of a side with a cell of so many lines */
  __device__ __forceinline__ void At(int32_t beyond, int lines, int l, T &V, T &Q) const
  {
    const T *its = traces + (size_t)(beyond - HangingSide(0)) * 2 * lines + l;

    V = its[0];
    Q = its[lines];
  }
  /* y += what they lift to a line at its end s */
  template <int N>
  __device__ __forceinline__ void Add(int32_t beyond, int lines, int l, int s, T (&y)[N]) const
  {
    T V, Q;

    if (!IsHangingSide(beyond)) return;
    At(beyond, lines, l, V, Q);
    UNROLL (int i = 0; i < N; i++) y[i] += __ldg(lift + 2 * s * N + i) * V + __ldg(lift + (2 * s + 1) * N + i) * Q;
  }
};
/* where no sides do */
struct NoHangingTraces {
  template <int N, class T>
  __device__ __forceinline__ void Add(int32_t, int, int, int, T (&)[N]) const
  {
  }
};

/* y = line l of A x along the slowest direction of the cell.
   Requires: X holds the cell's values and Y is scratch, both with CellShape's strides; all threads of the block call. */
template <class T, int DIM, int N, class Hanging = NoHangingTraces>
__device__ __forceinline__ void ApplyCell(const Field<T> &f, int32_t cell, const T *X, T *Y, int l, T (&y)[N],
                                          const Hanging &hanging = Hanging())
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
      if (beyond >= 0) {
        T V, Q;
        Traces(f.nt, f.first, f.traces, 1 - s, f.Cell(beyond, S::values) + start, step, V, Q);
        UNROLL (int i = 0; i < N; i++) y[i] += __ldg(g + 2 * s * N + i) * V + __ldg(g + (2 * s + 1) * N + i) * Q;
      } else {
        hanging.template Add<N>(beyond, S::lines, l, s, y);
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
