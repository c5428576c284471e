/* The shapes of the kernels: numbers that change their speed and never their results. shapes.def, which tests/bench/shapes.py writes, has a
   line for every kernel, precision, dimension and n = degree + 1 that was measured; the formulas stand for all others. */
#pragma once
#include "device/kernel.cuh"

/* A line of values is numbered by its digits, and `order` names them from the fastest on: with 231 digit 2 is the fastest and digit 1 the
   slowest. Digit i takes radix[i-1] values. Ensures: digit i of a line l is l / DigitStride(order, i, radix) % radix[i-1]. */
template <int K>
__host__ __device__ constexpr int DigitStride(int order, int i, const int (&radix)[K])
{
  int stride = 1, digit = 1;

  for (int k = 1; k < K; k++) digit *= 10;
  for (; order / digit % 10 != i; digit /= 10) stride *= radix[order / digit % 10 - 1];
  return stride;
}

/* replacepatch.cuh */
template <int N>
struct PatchFormulas {
  static constexpr int rounds = 1;                                  /* lines of a thread in each direction */
  static constexpr int patches = Max(1, 128 / (4 * N * N));         /* of a block */
  static constexpr int least = Max(1, 768 / (4 * N * N * patches)); /* blocks of a multiprocessor, which bounds the registers */
  static constexpr int width = 1;                                   /* values that a thread reads at once along x */
  static constexpr int sz = 4 * N * N + 1;                          /* from value to value along z */
  static constexpr int stride = (2 * N - 1) * sz + 4 * N * N;       /* from patch to patch */
  static constexpr int y = 132, x = 321; /* orders of the lines along y and x; their digits are the place in a cell, the cell, z */
  static constexpr int sf = 4 * N + 4;   /* from line to line of traces */
};

template <class T, int DIM, int N>
struct PatchShape : PatchFormulas<N> {
};

/* The same for fewer patches than a device holds at once. All wait for the slowest thread, so a thread holds one line. */
template <class T, int DIM, int N>
struct FewPatchShape : PatchFormulas<N> {
  static constexpr int least = 2;
};

/* The same for grouped patches. A thread with two lines reads their tables from shared memory once for both. */
template <class T, int DIM, int N>
struct GroupPatchShape : PatchShape<T, DIM, N> {
};

/* anypatchshape.cuh */
template <class T, int DIM, int N>
struct AnyPatchShape {
  static constexpr int patches = Max(1, 256 / Power(2 * N, DIM - 1)); /* of a block, with two lines per thread */
  static constexpr int least = 0;       /* blocks of a multiprocessor, which bounds the registers; 0: the compiler chooses */
  static constexpr int flat = DIM == 2; /* whether a plane's values are in lexicographic order, and not cell by cell */
  static constexpr int turn = 0;        /* whether the lines along x and y are numbered along z first, in a cell */
  static constexpr int sy = flat ? 2 * N + 1 : N, sz = 4 * N * N + 1; /* from value to value along y and z */
  static constexpr int stride = DIM == 2 ? 2 * N * sy : 2 * N * sz;   /* from patch to patch */
};

/* tile.cuh */
template <class T, int DIM, int N>
struct TileShape {
  static constexpr int bits = 3;                                             /* a tile has 2^bits cells */
  static constexpr int along = 0;                                            /* a tile has as many threads as lines along this direction */
  static constexpr int least = 2;                                            /* blocks of a multiprocessor, which bounds the registers */
  static constexpr int sz = N * N, cx = N * N * N, cy = 2 * cx, cz = 2 * cy; /* from value to value along z; from cell to cell */
  static constexpr int x = 1234, y = 1234; /* orders of the lines along x and y; digits 1, 2 are the place in a cell, 3, 4 the cell */
};

/* The same for meshes whose cells differ in size. Eight siblings are more frequent there than larger boxes of equal cells. If n is small, a
   tile of eight cells would have few threads. */
template <class T, int DIM, int N>
struct OctetShape : TileShape<T, DIM, N> {
};

/* metric.cuh: where a cell's values are in shared memory */
template <class T, int DIM, int N>
struct MetricCellShape {
  static constexpr int sy = N | 1, sz = N * sy;                             /* from value to value along y and z */
  static constexpr int pitch = N | 1, plane = DIM == 3 ? N * pitch : pitch; /* from row to row of the numbers of a side, of a whole plane */
  static constexpr int side = 2 * plane;                                    /* from side to side, which have two planes */
  static constexpr int gap = 0, bare = 0;                                   /* between cells, and between those without planes */
};

#define VP_SHAPE(kernel, T, DIM, N, ...) \
  template <> \
  struct kernel##Shape<T, DIM, N> { \
    static constexpr int __VA_ARGS__; \
  };
#ifndef VP_SHAPES
  #define VP_SHAPES "shapes.def"
#endif
#include VP_SHAPES
#undef VP_SHAPE
