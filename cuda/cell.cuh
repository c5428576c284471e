/* A x on cells of any mesh, with any lines and neighbours. A thread holds one line of a cell, in every direction; a block has several
   cells. */
#pragma once
#include "tensor.cuh"
#include "framedline.cuh"
#include "device/load.cuh"

/* what A x reads, a kernel parameter */
template <class T>
struct Field {
  const int32_t *neighbor, *line;
  const uint8_t *turn; /* as in VpView */
  const T       *lines, *traces, *x, *ghost;
  int32_t        nown;
  int            nt, first[2];

  Field(const VpView *v, const void *own, const void *beyond)
      : neighbor(v->neighbor), line(v->line), turn(v->turn), lines((const T *)v->lines), traces((const T *)v->traces), x((const T *)own),
        ghost((const T *)beyond), nown(v->nown), nt(v->nt), first{v->first[0], v->first[1]}
  {
  }
  __device__ __forceinline__ const T *Cell(int32_t cell, int values) const
  {
    return cell < nown ? x + (size_t)cell * values : ghost + (size_t)(cell - nown) * values;
  }
};

/* V and Q: value and slope at end `end` of a line of a cell's values. They are made of nt of these values, from number `first` on. */
template <class T>
__device__ __forceinline__ void Traces(int nt, int first, const T *traces, int end, const T *line, int stride, T &V, T &Q)
{
  constexpr int most = VpDenseLayers(VP_MAX_N);
  T             u[most]; /* All are loaded before one is waited for. */

  UNROLL (int t = 0; t < most; t++) u[t] = t < nt ? line[(first + t) * stride] : T(0);
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
  return VP_LEVEL_END + 1 + number;
}
__device__ __forceinline__ bool IsHangingSide(int32_t beyond)
{
  return beyond > VP_LEVEL_END && beyond < INT32_MIN / 2; /* far from the numbers of boundaries */
}
template <class T>
struct HangingTraces {
  static constexpr bool turned = false;
  const T              *traces, *lift; /* lift: VpHangView.lift */

  __device__ __forceinline__ bool Hangs(int32_t beyond) const
  {
    return IsHangingSide(beyond);
  }
  /* V and Q at line l of a side with n lines, or 0 where the side does not hang. All threads read, so that none branches. */
  __device__ __forceinline__ void At(int32_t beyond, int lines, int l, T &V, T &Q) const
  {
    const bool hangs = Hangs(beyond);
    const T   *its = traces + (hangs ? (size_t)(beyond - HangingSide(0)) * 2 * lines + l : 0), v = its[0], q = its[lines];

    V = hangs ? v : T(0);
    Q = hangs ? q : T(0);
  }
};
/* a mesh without such sides */
template <class T>
struct NoHangingTraces {
  static constexpr bool turned = false;
  const T              *lift = NULL;

  __device__ __forceinline__ bool Hangs(int32_t) const
  {
    return false;
  }
  __device__ __forceinline__ void At(int32_t, int, int, T &V, T &Q) const
  {
    V = Q = T(0);
  }
};

/* a mesh whose cells may be turned against one another */
template <class T>
struct TurnedSides : NoHangingTraces<T> {
  static constexpr bool turned = true;
};

/* The traces beyond the two ends of line l of a cell along d. Sides that hang have those of HangingTraces. */
template <class T, int DIM, int N, class Hanging>
struct LineEnds {
  T    V[2], Q[2];
  bool hangs[2];

  /* the traces of a cell beyond end s, which is turned, on the line that goes on beyond line l */
  __device__ __forceinline__ void ReadTurned(const Field<T> &f, int d, int s, int l, int turn, const T *beyond)
  {
    const int side = VpTurnSide(2 * d + s, turn), end = side % 2, a = l % N, b = l / N, at[3] = {d == 0 ? 0 : a, d == 1 ? 0 : d ? b : a, b};
    const int frame = VpFrameBeyond(DIM, 0, 2 * d + s, turn) & ~(1 << side / 2); /* Traces are taken as the cell's own direction runs. */
    const FramedLine<N> line(FrameStepsOf(N, f.nt, DIM, frame), d, at);

    Traces(f.nt, f.first[end], f.traces, end, line.First(beyond), line.step, V[s], Q[s]);
    V[s] = line.Signed(0, V[s]);
    Q[s] = line.Signed(0, Q[s]);
  }
  __device__ __forceinline__ void Read(const Field<T> &f, int32_t cell, int d, int l, const Hanging &hanging)
  {
    UNROLL (int s = 0; s < 2; s++) {
      const int32_t beyond = __ldg(f.neighbor + (size_t)cell * 2 * DIM + 2 * d + s);
      const T      *line = f.Cell(beyond < 0 ? cell : beyond, Power(N, DIM)) + LineStart<DIM>(d, N, l, N, N * N);
      T             v, q;

      const int turn = Hanging::turned && beyond >= 0 ? __ldg(f.turn + (size_t)cell * 2 * DIM + 2 * d + s) : 0;

      if (turn) ReadTurned(f, d, s, l, turn, f.Cell(beyond, Power(N, DIM)));
      else Traces(f.nt, f.first[1 - s], f.traces, 1 - s, line, VpLineStride(d, N, N * N), V[s], Q[s]);
      hanging.At(beyond, Power(N, DIM - 1), l, v, q);
      hangs[s] = hanging.Hangs(beyond);
      V[s] = beyond < 0 ? v : V[s];
      Q[s] = beyond < 0 ? q : Q[s];
    }
  }
};

/* The lines of a cell: D, then g, or the lift of a side that hangs. In 3D lines of VP_KEPT_N values or more are kept in shared memory. Rows
   begin there at multiples of VP_WIDE_BYTES, so that few instructions read them. Shorter lines have too few readers. */
enum { VP_KEPT_N = 6 };
template <class T, int DIM, int N>
struct CellLines {
  typedef Wide<T>       Some;
  static constexpr bool kept = DIM == 3 && N >= VP_KEPT_N;
  static constexpr int  W = Some::n, row = RoundUp(N, W), rows = N + 4, size = kept ? DIM * rows * row : W;

  const Field<T> &f;
  const int32_t   cell;
  const T *const  lift;  /* of sides that hang */
  T *const        table; /* [size] */

  __device__ __forceinline__ const T *First(int d) const
  {
    return f.lines + (size_t)__ldg(f.line + (size_t)cell * DIM + d) * VpLineSize(N);
  }
  /* Requires: all threads of the cell call. The lines are there after the block's next barrier. */
  template <class Hanging>
  __device__ __forceinline__ void Load(int l, const Hanging &hanging) const
  {
#pragma unroll 4
    for (int k = l; kept && k < DIM * rows * N; k += Power(N, DIM - 1)) {
      const int  d = k / (rows * N), at = k % (rows * N), end = at / N - N;
      const bool hangs = end >= 0 && hanging.Hangs(__ldg(f.neighbor + (size_t)cell * 2 * DIM + 2 * d + end / 2));

      table[(d * rows + at / N) * row + at % N] = __ldg(hangs ? lift + (at - VpLineSide(N, 0)) : First(d) + at);
    }
  }
  /* y += D x */
  __device__ __forceinline__ void AddInner(int d, const T (&x)[N], T (&y)[N]) const
  {
    if constexpr (kept) {
      UNROLL (int i = 0; i < N; i++) ForKept(d, i, [&](int j, T a) { y[i] += a * x[j]; });
    } else {
      UNROLL (int i = 0; i < N; i++) ForRow<N>(First(d) + i * N, [&](int j, T a) { y[i] += a * x[j]; });
    }
  }
  /* y += what V and Q beyond end s add */
  __device__ __forceinline__ void AddEnd(int d, int s, bool hangs, T V, T Q, T (&y)[N]) const
  {
    if constexpr (kept) {
      ForKept(d, N + 2 * s, [&](int i, T a) { y[i] += a * V; });
      ForKept(d, N + 2 * s + 1, [&](int i, T a) { y[i] += a * Q; });
    } else {
      const T *g = (hangs ? lift : First(d) + VpLineSide(N, 0)) + 2 * s * N;

      ForRow<N>(g, [&](int i, T a) { y[i] += a * V; });
      ForRow<N>(g + N, [&](int i, T a) { y[i] += a * Q; });
    }
  }

private:
  /* f(i, number i) for row r of D, or, from N on, of g, in shared memory */
  template <class F>
  __device__ __forceinline__ void ForKept(int d, int r, F f) const
  {
    const Some *some = (const Some *)(table + (d * rows + r) * row);

    UNROLL (int i = 0; i < N; i += W) {
      const Some a = some[i / W];
      UNROLL (int w = 0; w < W && i + w < N; w++) f(i + w, a.a[w]);
    }
  }
};

/* y = line l of A x along the slowest direction of the cell. In 2D all values of neighbours are requested before the first one is awaited.
   In 3D this would take registers, and more blocks are faster.
   Requires: X holds the cell's values and Y is scratch, both with CellShape's strides; `table` is for the cell's lines (CellLines); all
   threads of the block call, and wait for one another before X is read. */
template <class T, int DIM, int N, class Hanging = NoHangingTraces<T>>
__device__ __forceinline__ void ApplyCell(const Field<T> &f, int32_t cell, const T *X, T *Y, T *table, int l, T (&y)[N],
                                          const Hanging &hanging = Hanging())
{
  typedef CellShape<DIM, N>    S;
  const CellLines<T, DIM, N>   lines{f, cell, hanging.lift, table};
  LineEnds<T, DIM, N, Hanging> ends[DIM];

  lines.Load(l, hanging);
  UNROLL (int d = 0; DIM == 2 && d < DIM; d++) ends[d].Read(f, cell, d, l, hanging);
  __syncthreads();
#pragma unroll(DIM == 2 ? DIM : 1)
  for (int d = 0; d < DIM; d++) {
    const int base = LineStart<DIM>(d, N, l, S::sy, S::sz), stride = VpLineStride(d, S::sy, S::sz), e = DIM == 2 ? d : 0;
    T         x[N];

    if (DIM == 3) ends[0].Read(f, cell, d, l, hanging);
    UNROLL (int i = 0; i < N; i++) {
      x[i] = X[base + i * stride];
      y[i] = d ? Y[base + i * stride] : T(0);
    }
    lines.AddInner(d, x, y);
    UNROLL (int s = 0; s < 2; s++) lines.AddEnd(d, s, ends[e].hangs[s], ends[e].V[s], ends[e].Q[s], y);
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
