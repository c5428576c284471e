/* A x with a coefficient at points (VpMetricView), in one pass over memory. A block has several cells. A thread holds one line of a cell in
   every direction, and one point of each of the cell's sides.

      z-lines:  z = scale factor x                    -> Z                 V, F: traces of z and of the cells beyond,
      lines:    D_x z -> X, D_y z -> Y, D_z z         -> V of all sides          which come from these cells' whole lines
      points:   G times the slopes   -> X, Y          sides: p = sigma [V] - {F}, r = -[V]/2  -> H r
      lines:    X = D_x^T X, Y = D_y^T Y, with p and r of the sides at their ends
      z-lines:  y = scale factor (X + Y + D_z^T .)

   z of a cell beyond that the block has is in shared memory. Only a full matrix G makes F of slopes along a side, for which V and H r are
   in shared memory. In 2D there is no y, and z is y. */
#pragma once
#include "plan/viewplans.cuh"

/* what A x reads, a kernel parameter */
struct MetricField {
  VpMetricView   m;
  const int32_t *neighbor;
  const double  *x, *ghost;
  int32_t        nown;

  MetricField(const VpView *v, const void *own, const void *beyond)
      : m(v->metric), neighbor(v->neighbor), x((const double *)own), ghost((const double *)beyond), nown(v->nown)
  {
  }
  /* the cell whose numbers a cell has */
  __device__ __forceinline__ int32_t Number(int32_t cell) const
  {
    return cell < m.period ? cell : cell % m.period;
  }
};

/* how a view stores G and H (VpMetricView): whether G is a full matrix, in which type of numbers, and whether cells have shapes */
template <bool FULL, class T, bool SHAPED>
struct MetricKind {
  static constexpr bool full = FULL, shaped = SHAPED;
  typedef T             Real;
};

/* A block's memory: D, and for every cell Z, X, Y, and V or H r of its sides. */
template <int DIM, int N, class K>
struct MetricShape : CellShape<DIM, N> {
  typedef CellShape<DIM, N> S;
  typedef K                 Kind;
  typedef typename K::Real  Real;
  static constexpr int      dim = DIM, n = N, sides = 2 * DIM, tangents = K::full ? DIM - 1 : 0;
  static constexpr int      components = K::full ? DIM * (DIM + 1) / 2 : DIM, shape = components + DIM * tangents; /* as VpMetricShape */
  static constexpr int      stored = K::shaped ? 1 : components, rows = K::shaped ? 1 : 1 + tangents; /* arrays of G, rows of H */
  static constexpr int      least = K::full && DIM == 3 ? (N <= 6 ? 4 : 3)
                                    : N <= 4            ? 4
                                    : N <= 6            ? 3
                                                        : 2; /* blocks of a multiprocessor, which bounds the registers */
  static constexpr int      arrays = DIM * S::size, cell = arrays + (K::full ? 3 * sides * S::lines : 0), pitch = N | 1;
  static_assert((S::cells * cell + N * pitch) * sizeof(double) <= VP_MAX_STATIC, "a block's cells fit into shared memory");
};

/* where number l of a row of H is that is stored for a side */
template <class S>
__device__ __forceinline__ const typename S::Real *SideNumber(const MetricField &f, int32_t number, int side, int row, int l)
{
  const size_t at = ((size_t)number * S::sides + side) * S::rows + row;

  return (const typename S::Real *)f.m.side + (S::Kind::shaped && f.m.spread == 1 ? at : at * S::lines + l);
}
template <class S>
__device__ __forceinline__ const double *SideBeyond(const MetricField &f, int32_t number, int side, int l)
{
  return f.m.beyond + ((size_t)number * S::sides + side) * S::lines + l;
}
/* H along direction e of a side divided by H_dd, of a cell with a shape */
template <class S>
__device__ __forceinline__ double SideRatio(const MetricField &f, int32_t number, int side, int e)
{
  const double ratio = __ldg(f.m.shape + (size_t)number * S::shape + S::components + side / 2 * S::tangents + e);

  return side % 2 ? ratio : -ratio;
}
/* H along direction e of a side */
template <class S>
__device__ __forceinline__ double SideTangent(const MetricField &f, int32_t number, int side, int e, int l)
{
  if constexpr (S::Kind::shaped) return SideRatio<S>(f, number, side, e) * LoadNow(SideNumber<S>(f, number, side, 0, l));
  else return LoadNow(SideNumber<S>(f, number, side, 1 + e, l));
}

/* Row l of D, or of D^T, times numbers at the points of a side, along its direction E. D has the pitch N | 1. */
template <int N, int E, bool BACK>
__device__ __forceinline__ double AlongSide(const double *D, const double *numbers, int l)
{
  constexpr int pitch = N | 1;
  const int     row = E ? l / N : l % N, first = E ? l % N : l / N * N;
  double        sum = 0;

  UNROLL (int j = 0; j < N; j++) sum += D[BACK ? j * pitch + row : row * pitch + j] * numbers[first + j * (E ? N : 1)];
  return sum;
}

/* from = D, or D^T, times itself */
template <int N, bool BACK>
__device__ __forceinline__ void Differentiate(const MetricTables<N> &t, const double (&from)[N], double (&to)[N])
{
  UNROLL (int i = 0; i < N; i++) {
    to[i] = 0;
    UNROLL (int j = 0; j < N; j++) to[i] += t.slope[BACK ? j * N + i : i * N + j] * from[j];
  }
}

/* value and outward slope at an end of a line */
template <int N>
__device__ __forceinline__ void LineEnd(const MetricTables<N> &t, int end, const double (&z)[N], double &V, double &Q)
{
  V = Q = 0;
  UNROLL (int i = 0; i < N; i++) {
    V += t.end[end][0][i] * z[i];
    Q += t.end[end][1][i] * z[i];
  }
}

/* s[k][at] along line l, in arrays of a cell in shared memory: to registers, and back */
template <int DIM, int N>
__device__ __forceinline__ void ReadLine(const double *s, int d, int l, double (&v)[N])
{
  typedef CellShape<DIM, N> S;

  UNROLL (int i = 0; i < N; i++) v[i] = s[LineStart<DIM>(d, N, l, S::sy, S::sz) + i * VpLineStride(d, S::sy, S::sz)];
}
template <int DIM, int N>
__device__ __forceinline__ void WriteLine(double *s, int d, int l, const double (&v)[N])
{
  typedef CellShape<DIM, N> S;

  UNROLL (int i = 0; i < N; i++) s[LineStart<DIM>(d, N, l, S::sy, S::sz) + i * VpLineStride(d, S::sy, S::sz)] = v[i];
}

/* Line l along d of a cell as it is loaded: z = scale factor x. */
template <class S>
struct MetricLine {
  double           x[S::n], scale;
  typename S::Real factor[S::n];

  __device__ __forceinline__ void Load(const MetricField &f, int32_t cell, int32_t number, int d, int l)
  {
    const int               first = LineStart<S::dim>(d, S::n, l, S::n, S::n * S::n), stride = VpLineStride(d, S::n, S::n * S::n);
    const double           *from = f.x + (size_t)cell * S::values + first;
    const typename S::Real *its = (const typename S::Real *)f.m.factor + (size_t)number * S::values + first;

    scale = LoadNow(f.m.scale + number);
    UNROLL (int i = 0; i < S::n; i++) x[i] = LoadNow(from + i * stride);
    UNROLL (int i = 0; i < S::n; i++) factor[i] = f.m.factor ? LoadNow(its + i * stride) : typename S::Real(1);
  }
  /* Takes z from a cell of the block, in shared memory. */
  __device__ __forceinline__ void Copy(const double *Z, int d, int l)
  {
    scale = 1;
    ReadLine<S::dim, S::n>(Z, d, l, x);
    UNROLL (int i = 0; i < S::n; i++) factor[i] = 1;
  }
  __device__ __forceinline__ void Scale(double (&z)[S::n]) const
  {
    UNROLL (int i = 0; i < S::n; i++) z[i] = scale * x[i] * factor[i];
  }
};

/* The sides of a cell, each at one point. */
template <int DIM, int N, class K>
struct MetricSides {
  typedef MetricShape<DIM, N, K> S;
  const MetricField             &f;
  const MetricTables<N>         &t;
  const int32_t                  cell, number;
  const int                      l, slot; /* slot: of the cell among those of the block */
  const int32_t *const           cells;   /* [S::cells] of the block */
  const double *const            Z;       /* of the cell; those of the block's cells are S::cell apart */
  double *const                  planes;  /* [sides][V, V beyond, H_d r; later two of H r along the side][lines] */
  int32_t                        beyond[S::sides];
  double                         p[S::sides], own[K::full ? 1 : S::sides]; /* p = sigma [V] - {F} */

  __device__ __forceinline__ double *Plane(int side, int which) const
  {
    return planes + (3 * side + which) * S::lines;
  }
  /* the cell beyond a side if this rank owns it, else the cell itself: every thread reads numbers of one, so that none branches */
  __device__ __forceinline__ bool IsOwn(int side) const
  {
    return beyond[side] >= 0 && beyond[side] < f.nown;
  }
  __device__ __forceinline__ int32_t There(int side) const
  {
    return IsOwn(side) ? beyond[side] : cell;
  }
  /* Loads the line of a cell beyond, which is in shared memory if the block has this cell. */
  __device__ __forceinline__ void LoadBeyond(int32_t there, int32_t of, int d, MetricLine<S> &line) const
  {
    const int away = there - cell;

    if (slot + away >= 0 && slot + away < S::cells && cells[slot + away] == there) line.Copy(Z + away * S::cell, d, l);
    else line.Load(f, there, of, d, l);
  }
  /* what stands for H_dd of the cell beyond in sigma */
  __device__ __forceinline__ double Beyond(int side, int32_t of) const
  {
    const typename S::Real *H = SideNumber<S>(f, of, side ^ 1, 0, l);

    if constexpr (std::is_same<typename S::Real, double>::value) return LoadNow(IsOwn(side) ? H : SideBeyond<S>(f, number, side, l));
    else return IsOwn(side) ? LoadNow(H) : LoadNow(SideBeyond<S>(f, number, side, l));
  }
  /* Takes the traces on both sides along d from the cell's line and from those beyond. Of F only the derivative along d is in p. */
  __device__ __forceinline__ void Read(int d, const double (&z)[N])
  {
    MetricLine<S> line[2];
    double        H[2], H2[2], factor[2];
    const double  penalty = LoadNow(f.m.penalty + number);

    UNROLL (int end = 0; end < 2; end++) {
      const int side = 2 * d + end;

      beyond[side] = __ldg(f.neighbor + (size_t)cell * S::sides + side);
      const int32_t there = There(side), of = f.Number(there);
      LoadBeyond(there, of, d, line[end]);
      H[end] = LoadNow(SideNumber<S>(f, number, side, 0, l));
      H2[end] = Beyond(side, of);
      factor[end] = LoadNow(f.m.penalty + of);
    }
    UNROLL (int end = 0; end < 2; end++) {
      const int side = 2 * d + end;
      double    u[N], V, Q, V2, Q2;

      line[end].Scale(u);
      LineEnd(t, end, z, V, Q);
      LineEnd(t, 1 - end, u, V2, Q2);
      Q2 *= H2[end];
      if (!IsOwn(side)) {
        V2 = Q2 = 0;
        factor[end] = 1;
      }
      if (beyond[side] >= f.nown) {
        const double *traces = f.ghost + (size_t)(beyond[side] - f.nown) * S::values + l;

        V2 = LoadNow(traces);
        Q2 = LoadNow(traces + S::lines);
      }
      p[side] = (penalty * H[end] + factor[end] * H2[end]) * (V - V2) - (H[end] * Q - Q2) / 2;
      if (K::full) {
        Plane(side, 0)[l] = V;
        Plane(side, 1)[l] = V2;
      }
      Normal(side) = -H[end] / 2 * (V - V2);
    }
  }
  __device__ __forceinline__ double &Normal(int side)
  {
    return K::full ? Plane(side, 2)[l] : own[side];
  }
  template <int E>
  __device__ __forceinline__ void AddTangent(const double *D, int side, double H, double H2)
  {
    p[side] -= (H * AlongSide<N, E, false>(D, Plane(side, 0), l) - H2 * AlongSide<N, E, false>(D, Plane(side, 1), l)) / 2;
  }
  /* p -= the other parts of {F}. Requires: V of all threads is there. */
  __device__ __forceinline__ void SubtractTangents(const double *D)
  {
    UNROLL (int side = 0; K::full && side < S::sides; side++) {
      const int32_t of = f.Number(There(side));
      double        H[2], H2[2];

      UNROLL (int e = 0; e < S::tangents; e++) {
        H[e] = SideTangent<S>(f, number, side, e, l);
        H2[e] = SideTangent<S>(f, of, side ^ 1, e, l);
      }
      UNROLL (int e = 0; e < S::tangents; e++) H2[e] = IsOwn(side) ? H2[e] : 0;
      if constexpr (S::tangents > 0) AddTangent<0>(D, side, H[0], H2[0]);
      if constexpr (S::tangents > 1) AddTangent<1>(D, side, H[1], H2[1]);
    }
  }
  __device__ __forceinline__ double Jump(int side) const
  {
    return Plane(side, 0)[l] - Plane(side, 1)[l];
  }
  /* V = H r along the sides. Requires: no other thread reads V any more. */
  __device__ __forceinline__ void StoreTangents()
  {
    UNROLL (int side = 0; side < S::sides; side++) {
      const double r = K::shaped ? Normal(side) : -Jump(side) / 2; /* with H_dd where H is a multiple of it */

      UNROLL (int e = 0; e < S::tangents; e++) {
        if constexpr (K::shaped) Plane(side, e)[l] = r * SideRatio<S>(f, number, side, e);
        else Plane(side, e)[l] = r * SideTangent<S>(f, number, side, e, l);
      }
    }
  }
  /* p += what H r along the sides adds. Requires: that of all threads is there. */
  __device__ __forceinline__ void AddTangents(const double *D)
  {
    UNROLL (int side = 0; side < S::sides; side++) {
      if constexpr (S::tangents > 0) p[side] += AlongSide<N, 0, true>(D, Plane(side, 0), l);
      if constexpr (S::tangents > 1) p[side] += AlongSide<N, 1, true>(D, Plane(side, 1), l);
    }
  }
  /* y += the terms of both sides along d */
  __device__ __forceinline__ void AddEnds(int d, double (&y)[N])
  {
    UNROLL (int end = 0; end < 2; end++) {
      UNROLL (int i = 0; i < N; i++) y[i] += t.end[end][0][i] * p[2 * d + end] + t.end[end][1][i] * Normal(2 * d + end);
    }
  }
};

/* Loads a number that no other thread reads. Caches drop it first if its neighbours in memory are loaded at the same time. */
template <class S, class T>
__device__ __forceinline__ T LoadLast(const T *p)
{
  if constexpr (S::lines * sizeof(T) % 128) return LoadNow(p);
  else {
    T a;

    if constexpr (sizeof(T) == sizeof(float)) asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(a) : "l"(p) : "memory");
    else asm volatile("ld.global.cs.f64 %0, [%1];" : "=d"(a) : "l"(p) : "memory");
    return a;
  }
}

/* G times the slopes at point `at` of a cell. slope[d]: the slope along d, then the flux */
template <class S>
__device__ __forceinline__ void TakeFlux(const MetricField &f, int32_t number, int at, double (&slope)[S::dim])
{
  typedef typename S::Real Real;
  const Real              *from = (const Real *)f.m.cell + (size_t)number * S::stored * S::values + at;
  const double             u[3] = {slope[0], slope[1], slope[S::dim - 1]}, a = S::Kind::shaped && f.m.cell ? LoadLast<S>(from) : 1.;
  double                   G[S::components];

  UNROLL (int c = 0; c < S::components; c++) {
    if constexpr (S::Kind::shaped) G[c] = __ldg(f.m.shape + (size_t)number * S::shape + c);
    else G[c] = LoadLast<S>(from + c * S::values);
  }
  UNROLL (int d = 0; d < S::dim; d++) {
    slope[d] = 0;
    UNROLL (int e = 0; e < S::dim; e++) {
      if (S::Kind::full || e == d) slope[d] += G[VpMetricEntry(S::dim, S::components, d, e)] * u[e];
    }
    if (S::Kind::shaped) slope[d] *= a;
  }
}

/* Prefetches the numbers of a cell to L2. */
template <class S>
__device__ __forceinline__ void PrefetchNumbers(const MetricField &f, int32_t number)
{
  typedef typename S::Real Real;

  if (!S::Kind::shaped || f.m.cell)
    Prefetch<S::stored * S::values *(int)sizeof(Real)>((const Real *)f.m.cell + (size_t)number * S::stored * S::values);
  if (!S::Kind::shaped || f.m.spread > 1) Prefetch<S::sides * S::rows * S::lines *(int)sizeof(Real)>(SideNumber<S>(f, number, 0, 0, 0));
}

/* y = line l of sum_de D_d^T G_de D_e z, and of the sides, along the slowest direction. Z, D: as in the drawing above, in shared memory.
   Requires: all threads of the block call; z is line l of Z along the slowest direction. */
template <int DIM, int N, class K>
__device__ __forceinline__ void ApplyMetricCell(MetricSides<DIM, N, K> &sides, const double *D, const double (&z)[N], double *Z,
                                                double (&y)[N])
{
  typedef MetricShape<DIM, N, K> S;
  const MetricField             &f = sides.f;
  const MetricTables<N>         &t = sides.t;
  const int                      l = sides.l;
  double                         v[N], w[N];

  UNROLL (int d = 0; d < S::slow; d++) {
    ReadLine<DIM, N>(Z, d, l, v);
    Differentiate<N, false>(t, v, w);
    WriteLine<DIM, N>(Z + (1 + d) * S::size, d, l, w);
    sides.Read(d, v);
  }
  Differentiate<N, false>(t, z, w);
  sides.Read(S::slow, z);
  __syncthreads();
  sides.SubtractTangents(D);
  UNROLL (int i = 0; i < N; i++) {
    const int in = LineStart<DIM>(S::slow, N, l, S::sy, S::sz) + i * VpLineStride(S::slow, S::sy, S::sz);
    double    slope[DIM];

    UNROLL (int d = 0; d < S::slow; d++) slope[d] = Z[(1 + d) * S::size + in];
    slope[S::slow] = w[i];
    TakeFlux<S>(f, sides.number, l + i * S::lines, slope);
    UNROLL (int d = 0; d < S::slow; d++) Z[(1 + d) * S::size + in] = slope[d];
    w[i] = slope[S::slow];
  }
  Differentiate<N, true>(t, w, y);
  __syncthreads();
  if (K::full) {
    sides.StoreTangents();
    __syncthreads();
    sides.AddTangents(D);
  }
  UNROLL (int d = 0; d < S::slow; d++) {
    ReadLine<DIM, N>(Z + (1 + d) * S::size, d, l, v);
    Differentiate<N, true>(t, v, w);
    sides.AddEnds(d, w);
    WriteLine<DIM, N>(Z + (1 + d) * S::size, d, l, w);
  }
  sides.AddEnds(S::slow, y);
  __syncthreads();
  UNROLL (int d = 0; d < S::slow; d++) {
    ReadLine<DIM, N>(Z + (1 + d) * S::size, S::slow, l, v);
    UNROLL (int i = 0; i < N; i++) y[i] += v[i];
  }
}

/* D = the matrix of slopes, in shared memory */
template <int N>
__device__ __forceinline__ void KeepSlopes(const MetricField &f, double *D)
{
  for (int i = threadIdx.x; i < N * N; i += blockDim.x) D[i / N * (N | 1) + i % N] = __ldg(f.m.slope + i);
}
