/* The kernels of like patches, in 3D. Residual says where a patch gets its residual: `Replace` makes it of the traces beyond the patch's
   sides, `Correct` also of its own values. Residual has the data that a thread reads, its type, the blocks per multiprocessor, the bytes of
   shared memory, and the number of numbers in a group's tail. */
#pragma once
#include "correctpatch.cuh"
#include "replacepatch.cuh"

namespace vpatchdg::patch {
/* Solves on common patches, whose tables are in constant memory. */
template <class T, int N, class Residual, class Boundary>
__global__ void __launch_bounds__(Patch<T, N>::block, Residual::blocks)
  SweepLike(const __grid_constant__ PatchTables<T, N> t, const __grid_constant__ Boundary boundary,
            const __grid_constant__ Residual residual, const __grid_constant__ PatchWork<T> w, unsigned done, int32_t count)
{
  typedef Patch<T, N> S;
  extern __shared__ __align__(VP_WIDE_BYTES) unsigned char shared[];
  const int32_t first = blockIdx.x * S::patches, index = first + threadIdx.x / S::threads, at = index < count ? index : count - 1;

  typename Residual::template Thread<Boundary> thread(t, boundary, residual, w, done, at, shared);
  thread.Solve(w.b, at, index < count);
}

/* Solves on groups of patches. A block works on patches of one group and copies the group's tables to shared memory. */
template <class T, int N, class Residual, bool FULL>
__global__ void __launch_bounds__(Patch<T, N, GROUPED_PATCHES>::block, Patch<T, N, GROUPED_PATCHES>::roomy)
  SweepGroups(const __grid_constant__ GroupTables<T, N> all, const __grid_constant__ Groups<FULL> groups,
              const __grid_constant__ Residual residual, const __grid_constant__ PatchWork<T> w, unsigned done)
{
  typedef Patch<T, N, GROUPED_PATCHES> S;
  extern __shared__ __align__(VP_WIDE_BYTES) unsigned char shared[];
  const GroupBlock                                         block = groups.block[blockIdx.x];
  const int slot = threadIdx.x / S::threads, n = block.patches % GROUP_MOST, at = block.patches / GROUP_MOST + (slot < n ? slot : 0);
  const GroupView<T, N> t(all, w.table, block, Residual::tail, shared + Residual::template bytes<S>);

  typename Residual::template Thread<Groups<FULL>> thread(t, groups, residual, w, done, at, shared);
  thread.Solve(w.b, at, slot < n);
}
} // namespace vpatchdg::patch
