/* A x with a coefficient at points (VpMetricView), in one pass over memory. A block has several cells. A thread holds one line of a cell in
   every direction, and one point of each of the cell's sides.

      z-lines:  z = scale factor x                    -> Z                 V, F: traces of z and of the cells beyond,
      lines:    D_x z -> X, D_y z -> Y, D_z z         -> V of all sides          which come from these cells' whole lines
      points:   G times the slopes   -> X, Y          sides: lines of V  -> sums of p along the sides
      lines:    X = D_x^T X, Y = D_y^T Y, with p = sigma [V] - {F} and r = -[V]/2 of the sides at their ends
      z-lines:  y = scale factor (X + Y + D_z^T .)

   z of a cell beyond that the block has is in shared memory. Only a full matrix G has slopes along a side in F and in D^T H r. A thread
   takes these for whole lines of a side at a time, so that a value in shared memory is read once for all of a line. In 2D there is no y,
   and z is y. */
#pragma once
#include "plan/viewplans.cuh"
#include "shapes.cuh"

/* what A x reads, a kernel parameter */
struct MetricField {
  VpMetricView   m;
  const int32_t *neighbor;
  const double  *x, *ghost, *turned;
  int32_t        nown, nlocal;

  MetricField(const VpView *v, const void *own, const void *beyond)
      : m(v->metric), neighbor(v->neighbor), x((const double *)own), ghost((const double *)beyond), turned(NULL), nown(v->nown),
        nlocal(v->nlocal)
  {
  }
  /* V, then F, beyond a side, of a ghost or of a turned side */
  template <class S>
  __device__ __forceinline__ const double *Traces(int32_t neighbor) const
  {
    return neighbor < nlocal ? ghost + (size_t)(neighbor - nown) * S::values : turned + (size_t)(neighbor - nlocal) * 2 * S::lines;
  }
  /* the cell whose numbers a cell has */
  __device__ __forceinline__ int32_t Number(int32_t cell) const
  {
    return cell < m.period ? cell : cell % m.period;
  }
};

/* how a view stores G and H (VpMetricView): whether G is a full matrix, in which type of numbers, whether cells have shapes, and whether H
   has one number a side */
template <bool FULL, class T, bool AFFINE, bool SAME>
struct MetricKind {
  static constexpr bool full = FULL, affine = AFFINE, same = SAME;
  typedef T             Real;
};

/* A block's memory, for every cell: Z, X, Y, and, of all sides, V and V' beyond, planes of [n][pitch] numbers (in 2D without n). Planes of
   sums along the sides, one for each tangent, take the place of Z. Distances are those of MetricCellShape. */
template <int DIM, int N, class K>
struct MetricShape : CellShape<DIM, N> {
  typedef CellShape<DIM, N>               S;
  typedef MetricCellShape<double, DIM, N> Layout;
  typedef K                               Kind;
  typedef typename K::Real                Real;
  static constexpr int                    dim = DIM, n = N, sides = 2 * DIM, tangents = K::full ? DIM - 1 : 0;
  static constexpr int  components = K::full ? DIM * (DIM + 1) / 2 : DIM, affine = components + DIM * tangents; /* as VpMetricAffine */
  static constexpr int  stored = K::affine ? 1 : components, rows = K::affine ? 1 : 1 + tangents;               /* arrays of G, rows of H */
  static constexpr bool many = K::full && !K::affine;          /* A point has many numbers. */
  static constexpr bool small = K::same && DIM == 3 && N == 4; /* Small blocks with few registers are faster. */
  static constexpr int  packed = small                           ? 6
                                 : !many                         ? (N <= 4             ? 5
                                                                    : N <= 6 || N == 8 ? 4
                                                                                       : 3)
                                 : sizeof(Real) == sizeof(float) ? (N <= 3   ? 5
                                                                    : N <= 6 ? 4
                                                                             : 3)
                                                                 : (N <= 3   ? 5
                                                                    : N == 4 ? 4
                                                                    : N <= 6 ? 3
                                                                             : 2);
  static constexpr int  cells = small ? S::cells / 2 : S::cells, threads = cells * S::lines;
  static constexpr int  least = packed * S::wanted / threads; /* blocks of a multiprocessor: measured, bounds the registers */
  static constexpr int  sy = Layout::sy, sz = Layout::sz, size = (N - 1) * (1 + sy + (DIM == 3 ? sz : 0)) + 1;
  static constexpr int  pitch = Layout::pitch, plane = Layout::plane, side = Layout::side, sums = tangents > 1 ? side : plane;
  static constexpr int  slopes = Max(size, K::full ? sides *sums : 0), traces = slopes + (DIM - 1) * size;
  static constexpr int  cell = traces + (K::full ? sides * side + Layout::gap : Layout::bare);
  static_assert(cells * cell * sizeof(double) <= VP_MAX_STATIC, "a block's cells fit into shared memory");
};

/* where number l of a row of H is that is stored for a side */
template <class S>
__device__ __forceinline__ const typename S::Real *SideNumber(const MetricField &f, int32_t number, int side, int row, int l)
{
  const size_t at = ((size_t)number * S::sides + side) * S::rows + row;

  return (const typename S::Real *)f.m.side + (S::Kind::same ? at : at * S::lines + l);
}
template <class S>
__device__ __forceinline__ const double *SideBeyond(const MetricField &f, int32_t number, int side, int l)
{
  return f.m.beyond + ((size_t)number * S::sides + side) * S::lines + l;
}
/* H along direction e of a side divided by H_dd, of an affine cell */
template <class S>
__device__ __forceinline__ double SideRatio(const MetricField &f, int32_t number, int side, int e)
{
  const double ratio = __ldg(f.m.affine + (size_t)number * S::affine + S::components + side / 2 * S::tangents + e);

  return side % 2 ? ratio : -ratio;
}
/* H along direction e of a side */
template <class S>
__device__ __forceinline__ double SideTangent(const MetricField &f, int32_t number, int side, int e, int l)
{
  if constexpr (S::Kind::affine) return SideRatio<S>(f, number, side, e) * LoadNow(SideNumber<S>(f, number, side, 0, l));
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
template <class S>
__device__ __forceinline__ void ReadLine(const double *s, int d, int l, double (&v)[S::n])
{
  UNROLL (int i = 0; i < S::n; i++) v[i] = s[LineStart<S::dim>(d, S::n, l, S::sy, S::sz) + i * VpLineStride(d, S::sy, S::sz)];
}
template <class S>
__device__ __forceinline__ void WriteLine(double *s, int d, int l, const double (&v)[S::n])
{
  UNROLL (int i = 0; i < S::n; i++) s[LineStart<S::dim>(d, S::n, l, S::sy, S::sz) + i * VpLineStride(d, S::sy, S::sz)] = v[i];
}

/* Line l along d of a cell as it is loaded: z = scale factor x. Only where a point has many numbers is there a factor. */
template <class S>
struct MetricLine {
  double           x[S::n], scale;
  typename S::Real factor[S::many ? S::n : 1];

  __device__ __forceinline__ void Load(const MetricField &f, int32_t cell, int32_t number, int d, int l)
  {
    const int               first = LineStart<S::dim>(d, S::n, l, S::n, S::n * S::n), stride = VpLineStride(d, S::n, S::n * S::n);
    const double           *from = f.x + (size_t)cell * S::values + first;
    const typename S::Real *its = (const typename S::Real *)f.m.factor + (size_t)number * S::values + first;

    scale = LoadNow(f.m.scale + number);
    UNROLL (int i = 0; i < S::n; i++) x[i] = LoadNow(from + i * stride);
    UNROLL (int i = 0; S::many && i < S::n; i++) factor[i] = f.m.factor ? LoadNow(its + i * stride) : typename S::Real(1);
  }
  /* Takes z from a cell of the block, in shared memory. */
  __device__ __forceinline__ void Copy(const double *Z, int d, int l)
  {
    scale = 1;
    ReadLine<S>(Z, d, l, x);
    UNROLL (int i = 0; S::many && i < S::n; i++) factor[i] = 1;
  }
  __device__ __forceinline__ void Scale(double (&z)[S::n]) const
  {
    UNROLL (int i = 0; i < S::n; i++) z[i] = S::many ? scale * x[i] * factor[i] : scale * x[i];
  }
};

/* The sides of a cell, each at one point. */
template <int DIM, int N, class K>
struct MetricSides {
  typedef MetricShape<DIM, N, K> S;
  const MetricField             &f;
  const MetricTables<N>         &t;
  const int32_t                  cell, number;
  const int                      l, slot;                       /* slot: of the cell among those of the block */
  const int32_t *const           cells;                         /* [S::cells] of the block */
  double *const                  Z;                             /* of the cell; those of the block's cells are S::cell apart */
  double                         p[S::sides], normal[S::sides]; /* sigma [V] - {F}; H_d r */

  __device__ __forceinline__ double *Traces(int side, bool beyond) const
  {
    return Z + S::traces + side * S::side + beyond * S::plane;
  }
  __device__ __forceinline__ double *Sums(int side, int e) const
  {
    return Z + side * S::sums + e * S::plane;
  }
  /* the cell beyond a side */
  __device__ __forceinline__ int32_t Neighbor(int side) const
  {
    return __ldg(f.neighbor + (size_t)cell * S::sides + side);
  }
  __device__ __forceinline__ bool IsOwn(int32_t neighbor) const
  {
    return neighbor >= 0 && neighbor < f.nown;
  }
  /* a cell beyond a side if this rank owns it, else the cell itself: every thread reads numbers of one, so that none branches */
  __device__ __forceinline__ int32_t There(int32_t neighbor) const
  {
    return IsOwn(neighbor) ? neighbor : cell;
  }
  /* Loads the line of a cell beyond, which is in shared memory if the block has this cell. */
  __device__ __forceinline__ void LoadBeyond(int32_t there, int32_t of, int d, MetricLine<S> &line) const
  {
    const int away = there - cell;

    if (slot + away >= 0 && slot + away < S::cells && cells[slot + away] == there) line.Copy(Z + away * S::cell, d, l);
    else line.Load(f, there, of, d, l);
  }
  /* what stands for H_dd of the cell beyond in sigma */
  __device__ __forceinline__ double Beyond(int side, bool own, int32_t of) const
  {
    const typename S::Real *H = SideNumber<S>(f, of, side ^ 1, 0, l);

    if constexpr (std::is_same<typename S::Real, double>::value) return LoadNow(own ? H : SideBeyond<S>(f, number, side, l));
    else return own ? LoadNow(H) : LoadNow(SideBeyond<S>(f, number, side, l));
  }
  /* Takes the traces on both sides along d from the cell's line and from those beyond. Of F only the derivative along d is in p. */
  __device__ __forceinline__ void Read(int d, const double (&z)[N])
  {
    MetricLine<S> line[2];
    int32_t       neighbor[2];
    double        H[2], H2[2], factor[2];
    const double  penalty = LoadNow(f.m.penalty + number);

    UNROLL (int end = 0; end < 2; end++) {
      const int side = 2 * d + end;

      neighbor[end] = Neighbor(side);
      const int32_t there = There(neighbor[end]), of = f.Number(there);
      LoadBeyond(there, of, d, line[end]);
      H[end] = LoadNow(SideNumber<S>(f, number, side, 0, l));
      H2[end] = Beyond(side, IsOwn(neighbor[end]), of);
      factor[end] = LoadNow(f.m.penalty + of);
    }
    UNROLL (int end = 0; end < 2; end++) {
      const int side = 2 * d + end;
      double    u[N], V, Q, V2, Q2;

      line[end].Scale(u);
      LineEnd(t, end, z, V, Q);
      LineEnd(t, 1 - end, u, V2, Q2);
      Q2 *= H2[end];
      if (!IsOwn(neighbor[end])) {
        V2 = Q2 = 0;
        factor[end] = 1;
      }
      if (neighbor[end] >= f.nown) {
        const double *traces = f.template Traces<S>(neighbor[end]) + l;

        V2 = LoadNow(traces);
        Q2 = LoadNow(traces + S::lines);
      }
      p[side] = (penalty * H[end] + factor[end] * H2[end]) * (V - V2) - (H[end] * Q - Q2) / 2;
      normal[side] = -H[end] / 2 * (V - V2);
      if (K::full) {
        Traces(side, false)[PlanePoint(l)] = V;
        Traces(side, true)[PlanePoint(l)] = V2;
      }
    }
  }
  /* where point l of a side is in a plane */
  static __device__ __forceinline__ int PlanePoint(int l)
  {
    return DIM == 3 ? l % N + l / N * S::pitch : l;
  }
  /* Sums = H D V - H' D V' + D^T H (V - V') on one line along direction e of a side, H being the row's entry for e */
  __device__ __forceinline__ void SumLine(int side, int e, int line) const
  {
    const int     in = e ? line : line * S::pitch, stride = e ? S::pitch : 1;
    const int32_t neighbor = Neighbor(side), of = f.Number(There(neighbor));
    const double *own = Traces(side, false) + in, *beyond = Traces(side, true) + in;
    double       *sums = Sums(side, e) + in, V[N], V2[N], u[N], sum[N];

    UNROLL (int i = 0; i < N; i++) {
      V[i] = own[i * stride];
      V2[i] = beyond[i * stride];
    }
    if constexpr (S::Kind::same) { /* H and D commute. */
      const double H = SideTangent<S>(f, number, side, e, 0), H2 = IsOwn(neighbor) ? SideTangent<S>(f, of, side ^ 1, e, 0) : 0.;

      UNROLL (int i = 0; i < N; i++) {
        u[i] = H * V[i] - H2 * V2[i];
        V2[i] = H * (V[i] - V2[i]);
      }
      Differentiate<N, false>(t, u, sum);
    } else {
      const int first = e ? line : line * N, step = e ? N : 1;
      double    H[N], H2[N];

      UNROLL (int i = 0; i < N; i++) {
        H[i] = SideTangent<S>(f, number, side, e, first + i * step);
        H2[i] = SideTangent<S>(f, of, side ^ 1, e, first + i * step);
      }
      Differentiate<N, false>(t, V2, u);
      UNROLL (int i = 0; i < N; i++) {
        sum[i] = IsOwn(neighbor) ? -H2[i] * u[i] : 0;
        V2[i] = H[i] * (V[i] - V2[i]);
      }
      Differentiate<N, false>(t, V, u);
      UNROLL (int i = 0; i < N; i++) sum[i] += H[i] * u[i];
    }
    Differentiate<N, true>(t, V2, u);
    UNROLL (int i = 0; i < N; i++) sums[i * stride] = sum[i] + u[i];
  }
  /* The threads of a cell share the lines of its sides. Requires: V of all threads is there, and no other thread reads Z any more. */
  __device__ __forceinline__ void SumTangents() const
  {
    constexpr int across = S::lines / N, lines = S::sides * S::tangents * across;

#pragma unroll 1
    for (int i = l; i < lines; i += S::lines) SumLine(i / across % S::sides, i / (across * S::sides), i % across);
  }
  /* p -= the sums along the sides. Requires: those of all threads are there. */
  __device__ __forceinline__ void SubtractTangents()
  {
    UNROLL (int side = 0; side < S::sides; side++) {
      UNROLL (int e = 0; e < S::tangents; e++) p[side] -= Sums(side, e)[PlanePoint(l)] / 2;
    }
  }
  /* y += the terms of both sides along d */
  __device__ __forceinline__ void AddEnds(int d, double (&y)[N])
  {
    UNROLL (int end = 0; end < 2; end++) {
      UNROLL (int i = 0; i < N; i++) y[i] += t.end[end][0][i] * p[2 * d + end] + t.end[end][1][i] * normal[2 * d + end];
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
  const double             u[3] = {slope[0], slope[1], slope[S::dim - 1]}, a = S::Kind::affine && f.m.cell ? LoadLast<S>(from) : 1.;
  double                   G[S::components];

  UNROLL (int c = 0; c < S::components; c++) {
    if constexpr (S::Kind::affine) G[c] = __ldg(f.m.affine + (size_t)number * S::affine + c);
    else G[c] = LoadLast<S>(from + c * S::values);
  }
  UNROLL (int d = 0; d < S::dim; d++) {
    slope[d] = 0;
    UNROLL (int e = 0; e < S::dim; e++) {
      if (S::Kind::full || e == d) slope[d] += G[VpMetricEntry(S::dim, S::components, d, e)] * u[e];
    }
    if (S::Kind::affine) slope[d] *= a;
  }
}

/* Prefetches the numbers of a cell to L2. */
template <class S>
__device__ __forceinline__ void PrefetchNumbers(const MetricField &f, int32_t number)
{
  typedef typename S::Real Real;

  if (!S::Kind::affine || f.m.cell)
    Prefetch<S::stored * S::values *(int)sizeof(Real)>((const Real *)f.m.cell + (size_t)number * S::stored * S::values);
  if (!S::Kind::same) Prefetch<S::sides * S::rows * S::lines *(int)sizeof(Real)>(SideNumber<S>(f, number, 0, 0, 0));
}

/* y = line l of sum_de D_d^T G_de D_e z, and of the sides, along the slowest direction. Requires: all threads of the block call; z is line
   l of Z along the slowest direction. Ensures: Z, which is in shared memory, is lost. */
template <int DIM, int N, class K>
__device__ __forceinline__ void ApplyMetricCell(MetricSides<DIM, N, K> &sides, const double (&z)[N], double (&y)[N])
{
  typedef MetricShape<DIM, N, K> S;
  const MetricField             &f = sides.f;
  const MetricTables<N>         &t = sides.t;
  const int                      l = sides.l;
  double                        *slopes = sides.Z + S::slopes, v[N], w[N];

  UNROLL (int d = 0; d < S::slow; d++) {
    ReadLine<S>(sides.Z, d, l, v);
    Differentiate<N, false>(t, v, w);
    WriteLine<S>(slopes + d * S::size, d, l, w);
    sides.Read(d, v);
  }
  Differentiate<N, false>(t, z, w);
  sides.Read(S::slow, z);
  __syncthreads();
  if (K::full) sides.SumTangents();
  UNROLL (int i = 0; i < N; i++) {
    const int in = LineStart<DIM>(S::slow, N, l, S::sy, S::sz) + i * VpLineStride(S::slow, S::sy, S::sz);
    double    slope[DIM];

    UNROLL (int d = 0; d < S::slow; d++) slope[d] = slopes[d * S::size + in];
    slope[S::slow] = w[i];
    TakeFlux<S>(f, sides.number, l + i * S::lines, slope);
    UNROLL (int d = 0; d < S::slow; d++) slopes[d * S::size + in] = slope[d];
    w[i] = slope[S::slow];
  }
  Differentiate<N, true>(t, w, y);
  __syncthreads();
  if (K::full) sides.SubtractTangents();
  UNROLL (int d = 0; d < S::slow; d++) {
    ReadLine<S>(slopes + d * S::size, d, l, v);
    Differentiate<N, true>(t, v, w);
    sides.AddEnds(d, w);
    WriteLine<S>(slopes + d * S::size, d, l, w);
  }
  sides.AddEnds(S::slow, y);
  __syncthreads();
  UNROLL (int d = 0; d < S::slow; d++) {
    ReadLine<S>(slopes + d * S::size, S::slow, l, v);
    UNROLL (int i = 0; i < N; i++) y[i] += v[i];
  }
}

/* D = the matrix of slopes, in shared memory */
template <int N>
__device__ __forceinline__ void KeepSlopes(const MetricField &f, double *D)
{
  for (int i = threadIdx.x; i < N * N; i += blockDim.x) D[i / N * (N | 1) + i % N] = __ldg(f.m.slope + i);
}
