/* How the kernel of replacepatch.cuh lays out its patches in shared memory and deals their lines to its threads.

   A patch has 2 x 2 x 2 cells of n^3 values, so m = 2n values per direction. A plane of it keeps its cells one after the other. For n = 2,
   value (x, y) of a plane is at

            y                                  cell (cx, cy), place (ix, iy) in it:
            |  10 11 | 14 15
      cy=1  |   8  9 | 12 13                     x = n cx + ix,   y = n cy + iy
            |  ------+------
      cy=0  |   2  3 |  6  7                     ix + n iy + n^2 cx + 2 n^2 cy
            |   0  1 |  4  5
            +---------------- x                plane z begins at sz z
               cx=0    cx=1

   A thread holds `rounds` whole lines of one direction in registers. Thread `me` of a patch holds the lines l = me + r threads:

      along z   line l runs through place l of all planes: neighbouring threads read neighbouring values
      along y   the digits of l are ix, cx and z in the order `y`
      along x   the digits of l are iy, cy and z in the order `x`

   If `adjacent`, thread me holds the z lines 2 me and 2 me + 1 instead, and reads their values in pairs.

   A block's shared memory:

      +---------+---------+---+---------+---------+---+------------+
      | patch 0 | patch 1 |...| sides 0 | sides 1 |...| 24 pointers|   patch: `stride` values, m planes sz apart
      |         |         |   |         |         |   | a patch    |   sides: 4 m sf values per patch, lines sf >= 2m apart:
      +---------+---------+---+---------+---------+---+------------+   [x, y][lower, upper][line: m][z: m] pairs of traces

   The traces beyond the sides in z stay in registers: the thread that reads them holds the line that needs them. */
#pragma once
#include "../shapes.cuh"

namespace vpatchdg::patch {
/* The strides of the digits of a line's number l: the place in a cell is l / place % n, the cell l / cell % 2, z is l / z % m. */
struct Digits {
  int place, cell, z;
};

/* the patches of a launch: like ones, few like ones, or grouped ones, whose tables are in shared memory */
enum PatchUse { LIKE_PATCHES, FEW_PATCHES, GROUPED_PATCHES };
template <class T, int N, PatchUse USE>
struct ShapeOf {
  typedef PatchShape<T, 3, N> type;
};
template <class T, int N>
struct ShapeOf<T, N, FEW_PATCHES> {
  typedef FewPatchShape<T, 3, N> type;
};
template <class T, int N>
struct ShapeOf<T, N, GROUPED_PATCHES> {
  typedef GroupPatchShape<T, 3, N> type;
};

template <class T, int N, PatchUse USE = LIKE_PATCHES>
struct Patch : ShapeOf<T, N, USE>::type {
  typedef typename ShapeOf<T, N, USE>::type Shape;
  static constexpr int                      m = 2 * N, layer = N * N, values = N * N * N;
  static constexpr int                      threads = m * m / Shape::rounds; /* of a patch */
  static constexpr int                      block = threads * Shape::patches;
  static constexpr bool                     warp = VP_WARP % threads == 0; /* Warps hold whole patches. */
  /* Kernels whose threads hold more numbers have `roomy` blocks per multiprocessor, which bounds their registers, as measured. */
  static constexpr int    fewer = Shape::least <= 4 ? 0 : sizeof(T) == 4 ? N > 6 : N == 6 && USE == LIKE_PATCHES ? 2 : 0;
  static constexpr int    roomy = Shape::least - fewer;
  static constexpr bool   adjacent = sizeof(T) == 4 && Shape::rounds == 2 && N % 2 == 0;
  static constexpr Digits Order(int order)
  {
    constexpr int radix[] = {N, 2, m};
    return {DigitStride(order, 1, radix), DigitStride(order, 2, radix), DigitStride(order, 3, radix)};
  }
  static constexpr Digits y = Order(Shape::y), x = Order(Shape::x);
  static constexpr int    traces = 4 * m * Shape::sf; /* values of a patch's traces */
  static constexpr int    sides =
    RoundUp(Shape::stride * Shape::patches * (int)sizeof(T), VP_WIDE_BYTES) / (int)sizeof(T); /* where traces begin */
  static constexpr size_t pointers = (sides + (size_t)Shape::patches * traces) * sizeof(T);   /* where pointers begin */

  static_assert(m * m % Shape::rounds == 0 && block <= VP_MAX_THREADS, "a block's threads hold all lines");
  static_assert(Shape::sz >= m * m && Shape::stride >= (m - 1) * Shape::sz + m * m && Shape::sf >= 2 * m, "no two values in one place");
  static_assert(N % Shape::width == 0 && Shape::sz % Shape::width == 0 && Shape::stride % Shape::width == 0, "x lines are read aligned");
  static_assert(!adjacent || (Shape::sz % 2 == 0 && Shape::stride % 2 == 0), "pairs of z lines are aligned");
  static_assert(Shape::sf * sizeof(T) % VP_WIDE_BYTES == 0, "traces are read many at once");
};

/* Offsets of numbers in a table on the device:
     lambda   [direction][inside, at the boundary][2n] eigenvalues, those along z plus the reaction if all patches have one coefficient
     add      [x, y][side][n][2] what the two traces beyond a side add to the n values of a line next to it
     zero     [n^3] values of the cells beyond a boundary */
template <int N>
struct PatchTable {
  static constexpr int lambda = 0, add = 3 * 2 * 2 * N, zero = add + 2 * 2 * N * 2, size = zero + N * N * N;
};

/* number of cell sides on the sides of a patch; the number of quarter q of side s along d; the quarter with a number */
enum { PATCH_SIDES = 3 * VP_PATCH_CELLS };
__host__ __device__ constexpr int PatchSideAt(int d, int s, int q)
{
  return VP_PATCH_CELLS * d + 4 * s + q;
}
struct PatchQuarter {
  int d, s, q;
};
__host__ __device__ constexpr PatchQuarter PatchQuarterOf(int side)
{
  return {side / VP_PATCH_CELLS, side / 4 % 2, side % 4};
}
/* the patch's cell at a quarter of a side */
__host__ __device__ constexpr int PatchCellAt(int d, int s, int q)
{
  return (q >> d) << (d + 1) | s << d | (q & ((1 << d) - 1));
}
__host__ __device__ constexpr int PatchCellAt(const PatchQuarter &of)
{
  return PatchCellAt(of.d, of.s, of.q);
}
/* A patch's cells, x fastest, then the cells beyond its sides, or a negative number (VpView.neighbor) at a boundary. If the level ends on a
   part of a side (GroupTables.mixes), -2 - h stands for the patch's own cell h, and all other negative numbers are -1. */
struct PatchCells {
  int32_t cell[VP_PATCH_CELLS + PATCH_SIDES];
};
/* bits of the colours that hold each of these cells */
struct PatchCovers {
  uint8_t cover[VP_PATCH_CELLS + PATCH_SIDES];
};
} // namespace vpatchdg::patch
