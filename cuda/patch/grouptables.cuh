/* The tables of grouped patches, whose cells differ in size. A group has three entries, one per direction, and an entry has the numbers of
   a 1D problem. All patches of a block are of one group. The device has the numbers of all entries in one table, from which a block copies
   its own to shared memory. There all threads read the same numbers at the same time, several at once.

      table:  | PatchTable | .. | tail | F | B | tail | F | B | ..   F and B: even and odd halves of n x n if the patch is its own mirror
                                       ^                             image, else 2n x 2n numbers. tail: what a kernel needs besides, its
                                     start                           end being the eigenvalues. F and tails begin at whole Wides. */
#pragma once
#include "fdm.cuh"
#include "../device/load.cuh"

namespace vpatchdg::patch {
template <class T, int N>
struct GroupTables {
  static constexpr int nt = VpThinLayers(N, 3);
  T                    trace[2][2][nt]; /* PatchTables.trace */
  T                    add[2][2][N];    /* PatchTables.add, if all cells have one size */
  T                    reaction;
  bool                 mixes; /* Patches have sides where the level ends on a part. */
  T ending[2][4];             /* [side] there: the pair of traces beyond is this 2 x 2 matrix times the cell's own pair at that side */
};

/* What a block of grouped patches works on. */
struct GroupBlock {
  int entry[3]; /* start, in Wides, GROUP_FULL, the sides at boundaries as bits (GROUP_SIDE) */
  int patches;  /* the first one in launch order, times GROUP_MOST; how many */
};
/* Offsets of the parts of a tail, counted back from its end: the eigenvalues, and before them, for replacepatch.cuh, [side][n][2] numbers
   like PatchTable::add. */
template <int N>
struct GroupTail {
  static constexpr int lambda = 2 * N, add = lambda + 4 * N;
};
enum { GROUP_FULL = 1 << 26, GROUP_SIDE = 1 << 27, GROUP_MOST = 32 };

/* The patches of a launch, block by block. Kernels have this in place of a Boundary. FULL: some patches are not their own mirror images */
template <bool FULL>
struct Groups {
  const GroupBlock *block;
};

/* A full matrix. Requires: i of operator+ is a multiple of Wide::n */
template <class T>
struct GroupMatrix {
  const Wide<T>               *number;
  __device__ __forceinline__ T operator[](int i) const
  {
    return number[i / Wide<T>::n].a[i % Wide<T>::n];
  }
  __device__ __forceinline__ GroupMatrix operator+(int i) const
  {
    return {number + i / Wide<T>::n};
  }
};

/* The tables of a thread's patch. */
template <class T, int N>
struct GroupView {
  static constexpr int m = 2 * N, W = Wide<T>::n;

  const GroupTables<T, N> &all;
  const T (&trace)[2][2][GroupTables<T, N>::nt];
  const Wide<T> *number;     /* shared */
  int            start[3];   /* F, from there */
  int            sides[3];   /* bits */
  bool           is_full[3]; /* whether the patch is not its own mirror image along this direction */
  const T       *tail[3];    /* end of the tail on the device, for threads that read different numbers of it */

  /* Copies the block's different entries, whose tails have `size` numbers, to `shared`. Requires: all threads of the block
     call. */
  __device__ __forceinline__ GroupView(const GroupTables<T, N> &tables, const T *table, const GroupBlock &block, int size,
                                       unsigned char *shared)
      : all(tables), trace(tables.trace), number((Wide<T> *)shared)
  {
    const int before = RoundUp(size, W) / W;
    int       used = 0;

    UNROLL (int d = 0; d < 3; d++) {
      const int entry = __shfl_sync(~0u, block.entry[d], 0); /* so the compiler sees that it is the same for all threads */
      bool      is = false;
      is_full[d] = entry & GROUP_FULL;
      sides[d] = entry / GROUP_SIDE;
      tail[d] = table + (size_t)(entry % GROUP_FULL) * W;
      UNROLL (int c = 0; c < d; c++) {
        if (block.entry[c] != block.entry[d]) continue;
        start[d] = start[c];
        is = true;
      }
      if (is) continue;
      const int      n = before + (is_full[d] ? 8 : 4) * N * N / W;
      const Wide<T> *from = (const Wide<T> *)tail[d] - before;
      for (int i = threadIdx.x; i < n; i += blockDim.x) ((Wide<T> *)shared)[used + i] = from[i];
      start[d] = used + before;
      used += n;
    }
    __syncthreads();
  }
  template <int D>
  static constexpr __device__ int Same()
  {
    return D;
  }
  /* F, then B */
  template <int D>
  __device__ __forceinline__ GroupMatrix<T> Matrix() const
  {
    return {number + start[D]};
  }
  template <int D>
  __device__ __forceinline__ T Into(int parity, int at) const
  {
    return Matrix<D>()[parity * N * N + at];
  }
  template <int D>
  __device__ __forceinline__ T From(int parity, int at) const
  {
    return Into<D>(2 + parity, at);
  }
  /* number i of the tail's last `size` numbers, for a constant i */
  template <int D>
  __device__ __forceinline__ T Tail(int size, int i) const
  {
    const int before = RoundUp(size, W);
    return GroupMatrix<T>{number + start[D] - before / W}[before - size + i];
  }
};

/* ToModes and FromModes of fdm.cuh for grouped patches */
template <int D, class T, int N, int R, bool FULL, class Out>
__device__ __forceinline__ void ToModes(const GroupView<T, N> &t, const Groups<FULL> &, int lies, T (&v)[R][2 * N], Out out)
{
  if (FULL && lies) {
    Full<T, N, R, 2>(t.template Matrix<D>(), v, out);
    return;
  }
  ForwardInside<D>(t, v);
  Put<T, N, R>(v, out);
}
template <int D, class T, int N, int R, bool FULL, class Out>
__device__ __forceinline__ void FromModes(const GroupView<T, N> &t, const Groups<FULL> &, int lies, T (&v)[R][2 * N], Out out)
{
  if (FULL && lies) {
    Full<T, N, R, 2>(t.template Matrix<D>() + 4 * N * N, v, out);
    return;
  }
  BackwardInside<D>(t, v);
  Put<T, N, R>(v, out);
}

/* the type of a thread's tables for a Boundary or Groups */
template <class T, int N, class Boundary>
struct TablesOf {
  typedef PatchTables<T, N> type;
  static constexpr bool     grouped = false, full = false;
};
template <class T, int N, bool FULL>
struct TablesOf<T, N, Groups<FULL>> {
  typedef GroupView<T, N> type;
  static constexpr bool   grouped = true, full = FULL;
};
} // namespace vpatchdg::patch
