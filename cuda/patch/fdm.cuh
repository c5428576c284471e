/* F takes a line of a patch to the coordinates in which the patch's problem along that direction is diagonal, B takes it back.

   Inside the domain mode 2j is even and mode 2j+1 odd about the middle of the patch. So F needs only the sums s and differences d of values
   that mirror each other, and half of the multiplications:

        cell 0        cell 1                                       even modes = F[even] s
      0  1  2  3  |  3' 2' 1' 0'        s_i = v_i + (+-) v_i'
      +-----------------------+         d_i = v_i - (+-) v_i'       odd modes = F[odd] d

   i' mirrors i: in the thin basis functions come in reverse order, in the orthonormal one with alternating signs (struct Mirror). At the
   boundary lines take the full matrix of the lower side. At the upper side lines are mirrored before and after. */
#pragma once
#include "../device/kernel.cuh"

namespace vpatchdg::patch {
/* The matrices of patches inside, a kernel parameter: with indices known to the compiler they are operands of instructions. A pair of
   traces is the neighbour's two coefficients in the thin basis, else value and slope. */
template <class T, int N>
struct PatchTables {
  static constexpr int m = 2 * N, nt = VpThinLayers(N, 3);
  T                    F[3][2][N * N], B[3][2][N * N]; /* [direction][even, odd]: F[mode / 2][i], B[i][mode / 2], i in the first cell */
  T                    add[2][2][N];                   /* [side][trace][n] what the traces beyond a side in z add */
  T                    lambda[m];                      /* eigenvalues along x */
  T                    trace[2][2][nt];                /* [end][value, slope] from coefficients to traces */
  int                  same[3]; /* the direction whose matrices a direction takes: x for all if they are equal, which spares the cache */

  template <int D>
  __device__ __forceinline__ int Same() const
  {
    return same[D];
  }
  /* numbers of the even (0) or odd halves of F and B along D */
  template <int D>
  __device__ __forceinline__ T Into(int parity, int at) const
  {
    return F[same[D]][parity][at];
  }
  template <int D>
  __device__ __forceinline__ T From(int parity, int at) const
  {
    return B[same[D]][parity][at];
  }
};
template <class T, int N>
struct BoundaryTables {
  T F[3][4 * N * N], B[3][4 * N * N]; /* [direction]: [mode][i], [i][mode] of patches at the lower boundary */
};
struct NoBoundary {};

/* s, d = sums and differences of values that mirror each other. Map says how functions are mirrored. */
template <class Map, class T, int N, int R>
__device__ __forceinline__ void Fold(const T (&v)[R][2 * N], T (&s)[R][N], T (&d)[R][N])
{
  UNROLL (int r = 0; r < R; r++) {
    UNROLL (int i = 0; i < N; i++) {
      const T w = Map::sign(i) < 0 ? -v[r][N + Map::index(i)] : v[r][N + Map::index(i)];
      s[r][i] = v[r][i] + w;
      d[r][i] = v[r][i] - w;
    }
  }
}

/* v = F v for R lines at once, which share the entries F(parity, mode / 2, i). */
template <class Map, class T, int N, int R, class Entry>
__device__ __forceinline__ void Forward(Entry F, T (&v)[R][2 * N])
{
  T s[R][N], d[R][N];

  Fold<Map, T, N, R>(v, s, d);
  UNROLL (int j = 0; j < N; j++) {
    UNROLL (int i = 0; i < N; i++) {
      UNROLL (int r = 0; r < R; r++) v[r][2 * j] = (i ? v[r][2 * j] : T(0)) + F(0, j, i) * s[r][i];
    }
  }
  UNROLL (int j = 0; j < N; j++) {
    UNROLL (int i = 0; i < N; i++) {
      UNROLL (int r = 0; r < R; r++) v[r][2 * j + 1] = (i ? v[r][2 * j + 1] : T(0)) + F(1, j, i) * d[r][i];
    }
  }
}

/* v = B v with the entries B(parity, i, mode / 2). */
template <class Map, class T, int N, int R, class Entry>
__device__ __forceinline__ void Backward(Entry B, T (&v)[R][2 * N])
{
  T even[R][N], odd[R][N];

  UNROLL (int i = 0; i < N; i++) {
    UNROLL (int j = 0; j < N; j++) {
      UNROLL (int r = 0; r < R; r++) even[r][i] = (j ? even[r][i] : T(0)) + B(0, i, j) * v[r][2 * j];
    }
  }
  UNROLL (int i = 0; i < N; i++) {
    UNROLL (int j = 0; j < N; j++) {
      UNROLL (int r = 0; r < R; r++) odd[r][i] = (j ? odd[r][i] : T(0)) + B(1, i, j) * v[r][2 * j + 1];
    }
  }
  UNROLL (int r = 0; r < R; r++) {
    UNROLL (int i = 0; i < N; i++) {
      v[r][i] = even[r][i] + odd[r][i];
      v[r][N + Map::index(i)] = Map::sign(i) < 0 ? odd[r][i] - even[r][i] : even[r][i] - odd[r][i];
    }
  }
}

/* the same along D with the matrices of patches inside, for any tables */
template <int D, template <class, int> class Tables, class T, int N, int R>
__device__ __forceinline__ void ForwardInside(const Tables<T, N> &t, T (&v)[R][2 * N])
{
  Forward<Mirror<N, VpThinLayers(N, 3)>, T, N, R>([&](int p, int j, int i) { return t.template Into<D>(p, j * N + i); }, v);
}
template <int D, template <class, int> class Tables, class T, int N, int R>
__device__ __forceinline__ void BackwardInside(const Tables<T, N> &t, T (&v)[R][2 * N])
{
  Backward<Mirror<N, VpThinLayers(N, 3)>, T, N, R>([&](int p, int i, int j) { return t.template From<D>(p, i * N + j); }, v);
}

/* Mirrors v about the patch's middle. */
template <class T, int N, int R>
__device__ __forceinline__ void TurnAround(T (&v)[R][2 * N])
{
  typedef Mirror<N, VpThinLayers(N, 3)> Map;

  UNROLL (int r = 0; r < R; r++) {
    UNROLL (int i = 0; i < N; i++) {
      const T a = v[r][i], b = v[r][N + Map::index(i)];
      v[r][i] = Map::sign(i) < 0 ? -b : b;
      v[r][N + Map::index(i)] = Map::sign(i) < 0 ? -a : a;
    }
  }
}

/* calls out(r, i, value) for all values of v */
template <class T, int N, int R, class Out>
__device__ __forceinline__ void Put(const T (&v)[R][2 * N], const Out &out)
{
  UNROLL (int i = 0; i < 2 * N; i++) {
    UNROLL (int r = 0; r < R; r++) out(r, i, v[r][i]);
  }
}

/* Calls out(r, i, value) for all values of M v, ROWS rows at a time. For large n the loop is not unrolled, so that the code fits the
   instruction cache. */
enum { VP_UNROLLED_N = 5 };
template <class T, int N, int R, int ROWS = 1, class M, class Out>
__device__ __forceinline__ void Full(const M &a, const T (&v)[R][2 * N], Out out)
{
#pragma unroll(N > VP_UNROLLED_N ? 1 : 2 * N / ROWS)
  for (int i = 0; i < 2 * N; i += ROWS) {
    const auto rows = a + i * 2 * N;
    T          w[ROWS][R];
    UNROLL (int k = 0; k < ROWS; k++) {
      UNROLL (int j = 0; j < 2 * N; j++) {
        UNROLL (int r = 0; r < R; r++) w[k][r] = (j ? w[k][r] : T(0)) + rows[k * 2 * N + j] * v[r][j];
      }
    }
    UNROLL (int k = 0; k < ROWS; k++) {
      UNROLL (int r = 0; r < R; r++) out(r, i + k, w[k][r]);
    }
  }
}

/* How a patch lies along a direction: inside, at the boundary with its lower side, or with its upper side. Grouped patches, which have
   their own tables, lie inside, or take full matrices. */
enum : int { LIES_INSIDE, LIES_LOWER, LIES_UPPER, LIES_FULL };

/* Call out(r, i, value) for all values of F v and of B v along D, for a patch that lies as `lies` says. v is lost. */
template <int D, class T, int N, int R, class Boundary, class Out>
__device__ __forceinline__ void ToModes(const PatchTables<T, N> &t, const Boundary &boundary, int lies, T (&v)[R][2 * N], Out out)
{
  if constexpr (!std::is_same<Boundary, NoBoundary>::value) {
    if (lies) {
      if (lies == LIES_UPPER) TurnAround<T, N, R>(v);
      Full<T, N, R>(boundary.F[D], v, out);
      return;
    }
  }
  ForwardInside<D>(t, v);
  Put<T, N, R>(v, out);
}
template <int D, class T, int N, int R, class Boundary, class Out>
__device__ __forceinline__ void FromModes(const PatchTables<T, N> &t, const Boundary &boundary, int lies, T (&v)[R][2 * N], Out out)
{
  typedef Mirror<N, VpThinLayers(N, 3)> Map;

  if constexpr (!std::is_same<Boundary, NoBoundary>::value) {
    if (lies) {
      Full<T, N, R>(boundary.B[D], v, [=](int r, int i, T w) {
        const int at = i % N;
        if (lies == LIES_UPPER) out(r, (i < N ? N : 0) + Map::index(at), Map::sign(at) < 0 ? -w : w);
        else out(r, i, w);
      });
      return;
    }
  }
  BackwardInside<D>(t, v);
  Put<T, N, R>(v, out);
}
} // namespace vpatchdg::patch
