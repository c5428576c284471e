/* The tables of patches of many sorts, whose cells differ in size: all patches of a block are of one sort, which is three entries, one a
   direction. An entry is that of a 1D problem. The numbers of all entries are one kernel parameter: a place in it that is the same for the
   whole block costs no more than a constant.

      number:  | .. | tail | F | B | tail | F | B | ..      F and B: even and odd halves of n x n if the patch is its own mirror image,
                           ^                                else 2n x 2n numbers. tail: what a kernel needs besides, its end being
                         start                              the eigenvalues. A table on the device has the tails once more, for threads
                                                            that read different numbers of them. */
#pragma once
#include "fdm.cuh"

template <class T, int N>
struct SortTables {
  static constexpr int nt = VpThinLayers(N, 3), bytes = 30000, room = bytes / sizeof(T); /* launches may pass 32764 bytes */
  T                    trace[2][2][nt];                                                  /* as of PatchTables */
  T                    reaction;
  T                    number[room];
};

/* What a block of such patches works on. */
struct SortBlock {
  int entry[3]; /* start, where the tail ends on the device (SORT_TAIL), SORT_FULL, the sides at boundaries as bits (SORT_SIDE) */
  int patches;  /* the first one in launch order, times SORT_MOST; how many */
};
/* Where the parts of a tail begin, counted back from its end: the eigenvalues; before them, in patch.cuh, [side][n][2] as of
   PatchTable.add, or, in keptpatch.cuh, with so many traces, [side][2n][traces] L K and [2n][traces] K. */
template <int N, int TRACES = 0>
struct SortTail {
  static constexpr int lambda = 2 * N, add = lambda + 4 * N, K = lambda + 2 * N * TRACES, LK = K + 4 * N * TRACES;
};
enum { SORT_TAIL = 1 << 13, SORT_FULL = 1 << 26, SORT_SIDE = 1 << 27, SORT_MOST = 32 };

/* The patches of a launch by blocks, instead of what tells apart patches inside and at the boundary. FULL: are there any that are not their
   own mirror images? */
template <bool FULL>
struct Sorts {
  const SortBlock *block;
};

/* The tables of a thread's patch. */
template <class T, int N>
struct SortView {
  static constexpr int m = 2 * N;

  const SortTables<T, N> &all;
  const T (&trace)[2][2][SortTables<T, N>::nt];
  int      start[3], sides[3]; /* bits */
  bool     is_full[3];         /* is the patch not its own mirror image along this direction? */
  const T *tail[3];            /* where it ends on the device */

  __device__ __forceinline__ SortView(const SortTables<T, N> &tables, const T *table, const SortBlock &block)
      : all(tables), trace(tables.trace)
  {
    UNROLL (int d = 0; d < 3; d++) {
      const int entry = __shfl_sync(~0u, block.entry[d], 0); /* so the compiler sees that it is the same for all threads */
      start[d] = entry % SORT_TAIL;
      tail[d] = table + entry / SORT_TAIL % SORT_TAIL;
      is_full[d] = entry & SORT_FULL;
      sides[d] = entry / SORT_SIDE;
    }
  }
  template <int D>
  static constexpr __device__ int Same()
  {
    return D;
  }
  template <int D>
  __device__ __forceinline__ T Into(int parity, int at) const
  {
    return all.number[start[D] + parity * N * N + at];
  }
  template <int D>
  __device__ __forceinline__ T From(int parity, int at) const
  {
    return all.number[start[D] + (2 + parity) * N * N + at];
  }
  /* number i of the tail's last `size`, for an i that the compiler knows */
  template <int D>
  __device__ __forceinline__ T Tail(int size, int i) const
  {
    return all.number[start[D] - size + i];
  }
};

template <class T, int N>
struct SortMatrix {
  const SortTables<T, N>      &all;
  int                          start;
  __device__ __forceinline__ T operator[](int i) const
  {
    return all.number[start + i];
  }
};

/* as of PatchTables */
template <int D, int LACKS, class T, int N, int R, bool FULL, class Out>
__device__ __forceinline__ void ToModes(const SortView<T, N> &t, const Sorts<FULL> &, int kind, T (&v)[R][2 * N], Out out)
{
  if (FULL && kind) {
    Full<T, N, R>(SortMatrix<T, N>{t.all, t.start[D]}, v, out);
    return;
  }
  ForwardInside<D, LACKS>(t, v);
  UNROLL (int i = 0; i < 2 * N; i++) {
    UNROLL (int r = 0; r < R; r++) out(r, i, v[r][i]);
  }
}
template <int D, int LACKS, class T, int N, int R, bool FULL, class Out>
__device__ __forceinline__ void FromModes(const SortView<T, N> &t, const Sorts<FULL> &, int kind, T (&v)[R][2 * N], Out out)
{
  if (FULL && kind) {
    Full<T, N, R>(SortMatrix<T, N>{t.all, t.start[D] + 4 * N * N}, v, out);
    return;
  }
  BackwardInside<D, LACKS>(t, v);
  UNROLL (int i = 0; i < 2 * N; i++) {
    UNROLL (int r = 0; r < R; r++) out(r, i, v[r][i]);
  }
}

/* the tables that a thread has, by how its patches are told apart */
template <class T, int N, class Edges>
struct TablesOf {
  typedef PatchTables<T, N> type;
  static constexpr bool     sorted = false, full = false;
};
template <class T, int N, bool FULL>
struct TablesOf<T, N, Sorts<FULL>> {
  typedef SortView<T, N> type;
  static constexpr bool  sorted = true, full = FULL;
};
