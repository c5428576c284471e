/* How the kernel of anypatch.cuh lays out its patches in shared memory and deals their lines to its threads. A value lies at
   x + sy y + sz z if the shape is `flat`, else plane by plane and cell by cell as patchshape.cuh draws it:

       flat (n = 2)                by cells (n = 2)             line l of a patch:

       y  3sy ..  | ..             10 11 | 14 15                   l % n, l / n % n        its place in a cell
       |  2sy ..  | ..              8  9 | 12 13                   bits of l / n^(DIM-1)   which cell it starts in
       |  --------+----            ------+------
       |   sy ..  | ..              2  3 |  6  7                in shared memory its values are step(d) apart, and its
       |    0  1  |  2  3           0  1 |  4  5                second cell begins half(d) after its first one
       +-------------------- x

   A thread has one line or two, which are `paired` in the same cells where cells have an even number of lines. Then both take the same
   tables. */
#pragma once
#include "../shapes.cuh"

namespace vpatchdg::patch {
/* ROUNDS: lines of a thread; FEW: patches are few, so that threads wait for loads */
template <class T, int DIM, int N, int ROUNDS = 2, bool FEW = ROUNDS == 1>
struct AnyLayout : AnyPatchShape<T, DIM, N> {
  typedef AnyPatchShape<T, DIM, N> Shape;
  typedef AnyLayout                Any; /* the layout of a block with these patches alone */
  static constexpr int             m = 2 * N, slow = DIM - 1, places = Power(N, slow), values = Power(N, DIM), cells = 1 << DIM;
  static constexpr bool            few = FEW;
  static constexpr int             rounds = ROUNDS, threads = (places << slow) / rounds;  /* threads of a patch */
  static constexpr int             block = threads * Shape::patches, sides = DIM * cells; /* threads; sides of a patch */
  static constexpr bool            paired = rounds == 2 && places % 2 == 0;
  static constexpr int             each = paired ? 2 : 1; /* lines of a thread in a cell */

  static constexpr __host__ __device__ int step(int d) /* from value to value along d, in a cell */
  {
    return VpLineStride(d, Shape::sy, Shape::sz);
  }
  static constexpr __host__ __device__ int half(int d) /* from cell to cell along d */
  {
    return Shape::flat || d == 2 ? N * step(d) : (d + 1) * N * N;
  }
  static constexpr __host__ __device__ int offset(int d, int i) /* of value i of a line along d */
  {
    return i < N ? i * step(d) : half(d) + (i - N) * step(d);
  }
};

/* Line r along D of the patch's thread `me`. */
template <class S, int D, int DIM, int N>
struct AnyLine {
  int start;    /* its first value in shared memory */
  int cell, at; /* which of the patch's cells it starts in, and its first value's place in the vectors, from the cell's first */
  int other[2]; /* its coordinates in the other directions, 0 to m - 1 */

  __device__ __forceinline__ AnyLine(int me, int r)
  {
    constexpr int  e[2] = {D == 0 ? 1 : 0, D == 2 ? 1 : 2}, step = S::places / S::each;
    constexpr bool turn = S::turn && D < S::slow;
    const int      l = S::paired ? me : me + r * S::threads, c = l / step, place = l % step + (S::paired ? r * step : 0);

    start = cell = at = 0;
    UNROLL (int k = 0; k < S::slow; k++) {
      const int ck = c >> k & 1, i = (k == 1) != turn ? place / N : place % N;
      start += ck * S::half(e[k]) + i * S::step(e[k]);
      cell |= ck << e[k];
      at += i * VpLineStride(e[k], N, N * N);
      other[k] = ck * N + i;
    }
  }
};
} // namespace vpatchdg::patch
