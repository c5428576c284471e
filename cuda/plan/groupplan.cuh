/* Sets up the kernels of grouped patches (grouptables.cuh): the tables of their entries, and the patches of each block. */
#pragma once
#include "patchplan.cuh"

namespace vpatchdg::patch {
/* to[i] = tables of entry i: F, B, lambda; the lines of the lower and the upper cell; VpPatchView.mirrored */
template <class T, int N>
struct GroupEntry {
  T fdm[VpFdmSize(N)], line[2][VpLineSize(N)], mirrored;
};
template <class T, int N>
static __global__ void CopyEntries(const T *fdm, const T *lines, const uint8_t *mirrored, const GroupKey *key, GroupEntry<T, N> *to)
{
  const GroupKey    k = key[blockIdx.x];
  GroupEntry<T, N> &e = to[blockIdx.x];

  for (int i = threadIdx.x; i < VpFdmSize(N); i += blockDim.x) e.fdm[i] = fdm[(size_t)k.type * VpFdmSize(N) + i];
  for (int s = 0; s < 2 && k.line[s] >= 0; s++)
    for (int i = threadIdx.x; i < VpLineSize(N); i += blockDim.x) e.line[s][i] = lines[(size_t)k.line[s] * VpLineSize(N) + i];
  if (!threadIdx.x) e.mirrored = mirrored[k.type];
}

/* ADDS: tails of entries have, before the eigenvalues, what traces beyond the sides add */
template <class T, int N, bool ADDS>
struct GroupSetup {
  static constexpr int     m = 2 * N, each = Patch<T, N, GROUPED_PATCHES>::patches, W = Wide<T>::n, nt = VpThinLayers(N, 3);
  static constexpr int     tail = ADDS ? GroupTail<N>::add : GroupTail<N>::lambda, tails = RoundUp(tail, W);
  static constexpr int32_t few = 512; /* fewer blocks are not worth a launch of their own */

  const SweepSetup<T, N>        setup;
  const GroupedPatches *const   grouped;
  std::vector<GroupEntry<T, N>> entry;
  std::vector<int>              place; /* [entries] GroupBlock.entry */
  std::vector<T>                table; /* PatchTable, then the entries */

  GroupSetup(const SweepSetup<T, N> &of, const GroupedPatches &which) : setup(of), grouped(&which)
  {
  }
  bool IsFull(int32_t e) const
  {
    return !entry[e].mirrored || grouped->entries[e].sides;
  }
  bool IsFull(const PatchGroup &group) const
  {
    return IsFull(group.entry[0]) || IsFull(group.entry[1]) || IsFull(group.entry[2]);
  }

  void AddEntry(int32_t e, const T (&traces)[2][2][nt])
  {
    const T *fdm = entry[e].fdm;
    T        numbers[tail], *to = numbers, F[2 * N * N], B[2 * N * N];

    for (int s = 0; ADDS && s < 2; s++)
      for (int i = 0; i < N; i++)
        for (int f = 0; f < 2; f++) *to++ = SweepSetup<T, N>::TraceAdds(entry[e].line[s] + VpLineSide(N, s), traces[1 - s], f, i);
    SweepSetup<T, N>::Eigenvalues(fdm + VpLambdaAt(m), 0, to);
    table.resize(table.size() + tails - tail);
    table.insert(table.end(), numbers, numbers + tail);
    place.push_back((int)(table.size() / W) | IsFull(e) * GROUP_FULL | grouped->entries[e].sides * GROUP_SIDE);
    if (IsFull(e)) table.insert(table.end(), fdm, fdm + VpLambdaAt(m));
    else {
      SweepSetup<T, N>::Transforms(fdm, (T(*)[N * N]) F, (T(*)[N * N]) B);
      table.insert(table.end(), F, F + 2 * N * N);
      table.insert(table.end(), B, B + 2 * N * N);
    }
  }
  /* bytes of the tables of a group's different entries */
  size_t Bytes(const PatchGroup &group) const
  {
    size_t sum = 0;

    for (int d = 0; d < 3; d++) {
      bool is = true;
      for (int c = 0; c < d; c++) is = is && group.entry[c] != group.entry[d];
      sum += is ? tails + (IsFull(group.entry[d]) ? 8 : 4) * N * N : 0;
    }
    return sum * sizeof(T);
  }
  void AddGroup(const PatchGroup &group, std::vector<GroupBlock> *block) const
  {
    GroupBlock b;

    for (int d = 0; d < 3; d++) b.entry[d] = place[group.entry[d]];
    for (int32_t i = 0; i < group.n; i += each) {
      b.patches = (group.first + i) * GROUP_MOST + PetscMin(each, group.n - i);
      block->push_back(b);
    }
  }

  PetscErrorCode CopyTables()
  {
    const size_t n = grouped->entries.size();
    VpArray      keys, tables;

    PetscFunctionBegin;
    entry.resize(n);
    PetscCall(VpCudaPlace(grouped->entries.data(), n * sizeof(GroupKey), "grouped patches", &keys));
    PetscCall(VpCudaAlloc(n * sizeof(GroupEntry<T, N>), "tables of grouped patches", &tables.p));
    PetscCall(VpCudaLaunch("copy tables", CopyEntries<T, N>, {(int)n, 128}, (const T *)setup.patches->fdm, (const T *)setup.view->lines,
                           setup.patches->mirrored, (const GroupKey *)keys.p, (GroupEntry<T, N> *)tables.p));
    PetscCall(VpCudaFetch(tables.p, n * sizeof(GroupEntry<T, N>), entry.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* ending = the level's matrix `ending` for pairs. A pair is two coefficients in the thin basis, else a value and a slope. */
  void Ending(T (*ending)[4]) const
  {
    const double *B = setup.view->ending;
    T             traces[2][2][nt], expand[2][2][nt];

    VpTabulate(VpBasisTrace, setup.view->basis, traces);
    VpTabulate(VpBasisExpand, setup.view->basis, expand);
    for (int s = 0; s < 2; s++)
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
          double sum = nt == 2 ? 0 : B[2 * i + j];
          for (int k = 0; k < 4 && nt == 2; k++) sum += (double)expand[1 - s][k / 2][i] * B[k] * (double)traces[s][k % 2][j];
          ending[s][2 * i + j] = (T)sum;
        }
  }

  PetscErrorCode Fill(GroupPlan<T, N> *plan)
  {
    std::vector<GroupBlock> block[2];
    int32_t                 mirrored = 0;

    PetscFunctionBegin;
    if (!grouped->list.n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(CopyTables());
    VpTabulate(VpBasisTrace, setup.view->basis, plan->tables.trace);
    plan->tables.reaction = setup.Uniform() ? (T)setup.patches->reaction : T(0);
    plan->tables.mixes = setup.mixes;
    Ending(plan->tables.ending);
    table.resize(RoundUp(PatchTable<N>::size, W));
    if (!setup.Uniform()) PetscCall(setup.Sides(plan->tables.add, table.data()));
    for (size_t e = 0; e < entry.size(); e++) AddEntry((int32_t)e, plan->tables.trace);
    PetscCall(VpCudaPlace(table.data(), table.size() * sizeof(T), "tables of grouped patches", &plan->table));
    for (const PatchGroup &group : grouped->groups) mirrored += IsFull(group) ? 0 : VpBlocks(group.n, each);
    for (const PatchGroup &group : grouped->groups) {
      const int    full = mirrored < few || IsFull(group);
      GroupLaunch &l = plan->launch[full];
      AddGroup(group, &block[full]);
      l.bytes = PetscMax(l.bytes, Bytes(group));
    }
    for (int full = 0; full < 2; full++) {
      GroupLaunch &l = plan->launch[full];
      l.blocks = (int32_t)block[full].size();
      PetscCall(VpCudaPlace(block[full].data(), block[full].size() * sizeof(GroupBlock), "grouped patches", &l.block));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* Launches kernel(tables of groups, blocks, more..., w, done). */
template <class S, bool FULL, class T, int N, class Kernel, class... More>
static PetscErrorCode LaunchGroups(Kernel kernel, size_t bytes, const GroupPlan<T, N> &plan, cudaStream_t stream, const PatchWork<T> &w,
                                   unsigned done, const More &...more)
{
  const GroupLaunch &l = plan.launch[FULL];
  const Groups<FULL> groups = {(const GroupBlock *)l.block.p};

  return VpCudaLaunch("sweep of grouped patches", kernel, {l.blocks, S::block, bytes + l.bytes, stream}, plan.tables, groups, more..., w,
                      done);
}
} // namespace vpatchdg::patch
