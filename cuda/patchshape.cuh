/* How patches lie in a block's shared memory and among its threads: chosen by measurement on an H200. */
#pragma once
#include "kernel.cuh"

/* a number l of a line is made of its place in a cell, which of two cells, and z: what each is counted in */
struct Digits {
  int place, cell, z;
};

/* In shared memory value (x, y, z) of a patch, cell (cx, cy) place (ix, iy), is at ix + n iy + n^2 cx + 2 n^2 cy + sz z. With sz, the order
   in which threads take the lines along y and x, and the strides of patches and traces there are nearly no bank conflicts. */
template <class T, int N>
struct Patch {
  static constexpr int  m = 2 * N, layer = N * N, values = N * N * N;
  static constexpr bool single = sizeof(T) == 4;
  static constexpr int  rounds = single ? ByN(N, 1, 2, 2, 2, 2, 1, 2, 2) : ByN(N, 2, 1, 2, 2, 1, 1, 1, 1);   /* lines of a thread */
  static constexpr int  threads = m * m / rounds;                                                            /* of a patch */
  static constexpr int  patches = single ? ByN(N, 8, 7, 4, 3, 2, 1, 1, 1) : ByN(N, 16, 7, 4, 3, 1, 1, 1, 1); /* of a block */
  static constexpr int  block = threads * patches;
  static constexpr bool warp = 32 % threads == 0;                       /* do warps hold whole patches? */
  static constexpr bool adjacent = single && rounds == 2 && N % 2 == 0; /* are a thread's z lines side by side? */
  static constexpr int  resident =
    single ? ByN(N, 1536, 896, 896, 900, 864, 1176, 768, 648) : ByN(N, 512, 756, 512, 450, 864, 784, 768, 648);
  static constexpr int least = Max(1, resident / block); /* blocks of a multiprocessor, which bounds the registers */
  static constexpr int width = single ? ByN(N, 2, 1, 4, 1, 2, 1, 2, 1) : ByN(N, 2, 1, 2, 1, 2, 1, 1, 1); /* values along x read at once */
  static constexpr int sz = single ? ByN(N, 24, 36, 68, 101, 166, 199, 258, 329) : ByN(N, 18, 42, 66, 101, 150, 199, 257, 329);
  static constexpr int stride =
    single ? ByN(N, 90, 242, 544, 1010, 1992, 2783, 4126, 5917) : ByN(N, 72, 254, 528, 1010, 1794, 2783, 4111, 5917);
  static constexpr Digits order(int o)
  {
    return o == 0   ? Digits{1, N, m}
           : o == 1 ? Digits{m, m * N, 1}
           : o == 2 ? Digits{1, m * N, N}
           : o == 3 ? Digits{2 * m, m, 1}
                    : Digits{2 * m, 1, 2};
  }
  static constexpr Digits y = order(single ? ByN(N, 0, 0, 0, 2, 2, 2, 1, 2) : ByN(N, 0, 4, 1, 2, 2, 2, 1, 2));
  static constexpr Digits x = order(single ? ByN(N, 0, 1, 1, 4, 3, 3, 1, 3) : ByN(N, 3, 1, 1, 3, 3, 3, 1, 3));
  /* pairs of traces beyond the four sides in x and y: [direction][side][line][z] */
  static constexpr int    sf = single ? ByN(N, 8, 12, 20, 28, 28, 28, 36, 36) : 2 * m + 2, sides = 4 * m * sf;
  static constexpr int    beyond = (stride * patches * (int)sizeof(T) + 15) / 16 * 16 / (int)sizeof(T);
  static constexpr size_t pointers = (beyond + (size_t)patches * sides) * sizeof(T), bytes = pointers + patches * 24 * sizeof(void *);
};
