/* Whole sweeps in one launch, for small levels and for repeats near corners. There a launch takes longer than its work, and so do code and
   constants that are not in the caches yet. All blocks are on the device at once and wait for one another between two stages, which are the
   colours of a view.

   A stage has common patches, which take the way of replacepatch.cuh, and others, which take that of anypatch.cuh; both kinds are dealt to
   the same blocks:

       block         0      1      2      3      4      5
       stage 0     | common patches     | others   |
       stage 1     | common       | others | (waits)

   Which buffer holds a cell at a stage is known at set-up: covers[stage][cell], 0 or 1. Kernels take that for `cover`, and 1 for the
   colours `done`. */
#pragma once
#include "anypatch.cuh"
#include "replacepatch.cuh"
#include <cooperative_groups.h>

namespace vpatchdg::patch {
struct SweepStage {
  int32_t common[2], other[2]; /* patches [first, last) of the two lists */
};
enum { VP_MOST_STAGES = 48 };
struct SweepStages {
  int            n;
  int32_t        cells;  /* from stage to stage of `covers` */
  const uint8_t *covers; /* [n][cells] */
  const uint8_t *modes;  /* VpResidualMode of the others */
  const int32_t *odd;    /* the cells that the other buffer holds at the end */
  int32_t        nodd;   /* how many of `odd` are wanted in the first buffer */
  SweepStage     stage[VP_MOST_STAGES];
};

/* what common patches need, in 3D */
template <class T, int DIM, int N>
struct CommonWork {
  PatchTables<T, N>    tables;
  BoundaryTables<T, N> boundary;
  PatchWork<T>         work;
};
template <class T, int N>
struct CommonWork<T, 2, N> {
};

/* Blocks are as large as for common patches; in 2D, two warps or more. A thread holds one line of either kind. bytes: the shared memory
   that common patches need */
template <class T, int DIM, int N>
struct StagesLayout {
  typedef AnyLayout<T, DIM, N, 1>  Any;
  typedef Patch<T, N, FEW_PATCHES> Common;
  static constexpr int             patches = Common::patches, block = Common::block, least = Common::least;
  static constexpr size_t          bytes = ReplaceShape<T, Common, OneCoefficient>::bytes;
  static_assert(Any::threads == Common::threads, "a block has as many patches of both kinds");
};
template <class T, int N>
struct StagesLayout<T, 2, N> {
  typedef AnyLayout<T, 2, N, 1> Any;
  static constexpr int          patches = RoundUp(64, Any::threads) / Any::threads, block = patches * Any::threads, least = 2;
  static constexpr size_t       bytes = 0;
};
/* whether a launch has patches that are not common, and whether these may be turned */
enum Others { NO_OTHERS, OTHERS, TURNED_OTHERS };

/* bytes of shared memory */
template <class L, class T, Others OTHERS>
constexpr size_t StagesBytes()
{
  constexpr size_t others = AnyBytes<L, T, OTHERS == TURNED_OTHERS>(true);

  return OTHERS != NO_OTHERS && others > L::bytes ? others : L::bytes;
}

/* Solves the common patches [first, first + Patch::patches), but none from `last` on, whose threads repeat the last patch and write
   nothing. Requires: all threads of the block call. */
template <class T, int N>
__device__ __forceinline__ void SolveCommon(const PatchTables<T, N> &t, const BoundaryTables<T, N> &boundary, const PatchWork<T> &w,
                                            int32_t first, int32_t last)
{
  typedef Patch<T, N, FEW_PATCHES> S;
  extern __shared__ __align__(VP_WIDE_BYTES) unsigned char shared[];
  const int32_t                                            index = first + threadIdx.x / S::threads, at = index < last ? index : last - 1;

  ReplaceThread<T, N, BoundaryTables<T, N>, true, OneCoefficient> thread(t, boundary, Replace<T, N, OneCoefficient>(), w, 1u, at, shared);
  thread.Solve(w.b, at, index < last);
}

template <class T, int DIM, int N, Others OTHERS>
__global__ void __launch_bounds__(StagesLayout<T, DIM, N>::block, StagesLayout<T, DIM, N>::least)
  SweepAllStages(const __grid_constant__ CommonWork<T, DIM, N> c, const __grid_constant__ Field<T> f, const __grid_constant__ Sweep<T> w,
                 const __grid_constant__ SweepStages s)
{
  typedef StagesLayout<T, DIM, N> L;
  constexpr int                   values = Power(N, DIM);

#pragma unroll 1
  for (int i = 0; i < s.n; i++) {
    const SweepStage &stage = s.stage[i];
    int32_t           block = blockIdx.x;

    if (i) cooperative_groups::this_grid().sync();
    if constexpr (DIM == 3) {
      const int32_t first = stage.common[0] + block * L::patches;
      if (first < stage.common[1]) SolveCommon(c.tables, c.boundary, c.work, first, stage.common[1]);
      block -= (stage.common[1] - stage.common[0] + L::patches - 1) / L::patches;
    }
    if constexpr (OTHERS != NO_OTHERS) {
      const int32_t first = stage.other[0] + block * L::patches;
      if (block >= 0 && first < stage.other[1])
        SolveAny<L, T, DIM, N, OTHERS == TURNED_OTHERS>(f, w, s.covers + (size_t)i * s.cells, 1u, NULL, first, stage.other[1],
                                                        [&s](int32_t patch) { return (VpResidualMode)__ldg(s.modes + patch); });
    }
  }
  if (s.nodd) cooperative_groups::this_grid().sync();
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (size_t)s.nodd * values; i += gridDim.x * blockDim.x) {
    const size_t at = (size_t)__ldg(s.odd + i / values) * values + i % values;
    w.x[0][at] = w.x[1][at];
  }
}
} // namespace vpatchdg::patch
