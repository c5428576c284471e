/* Lines of a patch to the coordinates in which its problem along one direction is diagonal, and back. Mode 2j is even, 2j+1 odd, so sums
   and differences of the two cells' mirrored values halve the work. At the boundary a full matrix is made for the lower side; at the upper
   side the lines are turned around. */
#pragma once
#include "kernel.cuh"

/* constants, a kernel parameter. A pair of traces is the neighbour's two coefficients in the thin basis, else value and slope. */
template <class T, int N>
struct PatchTables {
  static constexpr int m = 2 * N, nt = Thin(N);
  T                    F[3][2][N * N], B[3][2][N * N]; /* [direction][even, odd]: F[mode][i], B[i][mode] of the first cell */
  T                    add[2][2][N];                   /* z: [side][of the pair][n] */
  T                    lambda[m];                      /* x */
  T                    trace[2][2][nt];                /* [end][value, slope] */
  int                  same[3]; /* the direction that has the matrices: 0 for all where all are equal, which the constant cache likes */
};
template <class T, int N>
struct EdgeTables {
  T F[3][4 * N * N], B[3][4 * N * N]; /* [direction]: [mode][i], [i][mode] of patches at the lower boundary */
};
struct NoEdges {};

/* of R lines at once, which share the entries F(parity, mode / 2, i); Map: how functions are mirrored */
template <class Map, class T, int N, int R, class Entry>
__device__ __forceinline__ void Forward(Entry F, T (&v)[R][2 * N])
{
  T s[R][N], d[R][N];

  UNROLL for (int r = 0; r < R; r++) {
    UNROLL for (int i = 0; i < N; i++) {
      const T w = Map::sign(i) < 0 ? -v[r][N + Map::index(i)] : v[r][N + Map::index(i)];
      s[r][i] = v[r][i] + w;
      d[r][i] = v[r][i] - w;
    }
  }
  UNROLL for (int j = 0; j < N; j++) {
    UNROLL for (int i = 0; i < N; i++) {
      UNROLL for (int r = 0; r < R; r++) v[r][2 * j] = (i ? v[r][2 * j] : T(0)) + F(0, j, i) * s[r][i];
    }
  }
  UNROLL for (int j = 0; j < N; j++) {
    UNROLL for (int i = 0; i < N; i++) {
      UNROLL for (int r = 0; r < R; r++) v[r][2 * j + 1] = (i ? v[r][2 * j + 1] : T(0)) + F(1, j, i) * d[r][i];
    }
  }
}

/* entries B(parity, i, mode / 2) */
template <class Map, class T, int N, int R, class Entry>
__device__ __forceinline__ void Backward(Entry B, T (&v)[R][2 * N])
{
  T even[R][N], odd[R][N];

  UNROLL for (int i = 0; i < N; i++) {
    UNROLL for (int j = 0; j < N; j++) {
      UNROLL for (int r = 0; r < R; r++) even[r][i] = (j ? even[r][i] : T(0)) + B(0, i, j) * v[r][2 * j];
    }
  }
  UNROLL for (int i = 0; i < N; i++) {
    UNROLL for (int j = 0; j < N; j++) {
      UNROLL for (int r = 0; r < R; r++) odd[r][i] = (j ? odd[r][i] : T(0)) + B(1, i, j) * v[r][2 * j + 1];
    }
  }
  UNROLL for (int r = 0; r < R; r++) {
    UNROLL for (int i = 0; i < N; i++) {
      v[r][i] = even[r][i] + odd[r][i];
      v[r][N + Map::index(i)] = Map::sign(i) < 0 ? odd[r][i] - even[r][i] : even[r][i] - odd[r][i];
    }
  }
}

/* inside, along D */
template <int D, class T, int N, int R>
__device__ __forceinline__ void ForwardInside(const PatchTables<T, N> &t, T (&v)[R][2 * N])
{
  Forward<Mirror<N, Thin(N)>, T, N, R>([&](int p, int j, int i) { return t.F[t.same[D]][p][j * N + i]; }, v);
}
template <int D, class T, int N, int R>
__device__ __forceinline__ void BackwardInside(const PatchTables<T, N> &t, T (&v)[R][2 * N])
{
  Backward<Mirror<N, Thin(N)>, T, N, R>([&](int p, int i, int j) { return t.B[t.same[D]][p][i * N + j]; }, v);
}

/* v mirrored about the patch's middle */
template <class T, int N, int R>
__device__ __forceinline__ void TurnAround(T (&v)[R][2 * N])
{
  typedef Mirror<N, Thin(N)> Map;

  UNROLL for (int r = 0; r < R; r++) {
    UNROLL for (int i = 0; i < N; i++) {
      const T a = v[r][i], b = v[r][N + Map::index(i)];
      v[r][i] = Map::sign(i) < 0 ? -b : b;
      v[r][N + Map::index(i)] = Map::sign(i) < 0 ? -a : a;
    }
  }
}

/* M v, value by value to out(r, i, value): a loop, so that the code fits the instruction cache, where it would be long */
template <class T, int N, int R, class M, class Out>
__device__ __forceinline__ void Full(const M &a, const T (&v)[R][2 * N], Out out)
{
#pragma unroll(N > 5 ? 1 : 2 * N)
  for (int i = 0; i < 2 * N; i++) {
    T w[R];
    UNROLL for (int j = 0; j < 2 * N; j++) {
      UNROLL for (int r = 0; r < R; r++) w[r] = (j ? w[r] : T(0)) + a[i * 2 * N + j] * v[r][j];
    }
    UNROLL for (int r = 0; r < R; r++) out(r, i, w[r]);
  }
}

/* Lines along D to eigen-coordinates, and back, to out(r, i, value); kind: 0 inside, 1 and 2 at the lower and upper boundary. v is lost. */
template <int D, class T, int N, int R, class Edges, class Out>
__device__ __forceinline__ void ToModes(const PatchTables<T, N> &t, const Edges &e, int kind, T (&v)[R][2 * N], Out out)
{
  if constexpr (!std::is_same<Edges, NoEdges>::value) {
    if (kind) {
      if (kind == 2) TurnAround<T, N, R>(v);
      Full<T, N, R>(e.F[D], v, out);
      return;
    }
  }
  ForwardInside<D>(t, v);
  UNROLL for (int i = 0; i < 2 * N; i++) {
    UNROLL for (int r = 0; r < R; r++) out(r, i, v[r][i]);
  }
}
template <int D, class T, int N, int R, class Edges, class Out>
__device__ __forceinline__ void FromModes(const PatchTables<T, N> &t, const Edges &e, int kind, T (&v)[R][2 * N], Out out)
{
  typedef Mirror<N, Thin(N)> Map;

  if constexpr (!std::is_same<Edges, NoEdges>::value) {
    if (kind) {
      Full<T, N, R>(e.B[D], v, [=](int r, int i, T w) {
        const int at = i % N;
        if (kind == 2) out(r, (i < N ? N : 0) + Map::index(at), Map::sign(at) < 0 ? -w : w);
        else
          out(r, i, w);
      });
      return;
    }
  }
  BackwardInside<D>(t, v);
  UNROLL for (int i = 0; i < 2 * N; i++) {
    UNROLL for (int r = 0; r < R; r++) out(r, i, v[r][i]);
  }
}

__device__ __forceinline__ float Reciprocal(float a)
{
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}
/* two Newton steps from the hardware's 20 bits; a is a normal number */
__device__ __forceinline__ double Reciprocal(double a)
{
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  r = fma(r, fma(-a, r, 1.), r);
  return fma(r, fma(-a, r, 1.), r);
}
