/* Setting up the kernels of sorted patches (sorttables.cuh): the tables of their entries, and launches of as many sorts as their tables fit
   the parameters of. */
#pragma once
#include "patchplan.cuh"
#include <list>

/* to[i] = tables of entry i: F, B, lambda; the lines of the lower and the upper cell; is it its own mirror image? */
template <class T, int N>
struct SortEntry {
  T fdm[VpFdmSize(N)], line[2][VpLineSize(N)], mirrored;
};
template <class T, int N>
static __global__ void GatherEntries(const T *fdm, const T *lines, const uint8_t *mirrored, const SortKey *key, SortEntry<T, N> *to)
{
  const SortKey    k = key[blockIdx.x];
  SortEntry<T, N> &e = to[blockIdx.x];

  for (int i = threadIdx.x; i < VpFdmSize(N); i += blockDim.x) e.fdm[i] = fdm[(size_t)k.type * VpFdmSize(N) + i];
  for (int s = 0; s < 2 && k.line[s] >= 0; s++)
    for (int i = threadIdx.x; i < VpLineSize(N); i += blockDim.x) e.line[s][i] = lines[(size_t)k.line[s] * VpLineSize(N) + i];
  if (!threadIdx.x) e.mirrored = mirrored[k.type];
}

/* one launch */
template <class T, int N>
struct SortLaunch {
  SortTables<T, N> tables;
  bool             full;       /* are there patches that are not their own mirror images? */
  int32_t          blocks = 0; /* of it */
  VpArray          table, block;
};
template <class T, int N>
struct SortPlan : VpPlan {
  std::list<SortLaunch<T, N>> launches;
  int32_t                     nrest = 0; /* patches that are left */
  VpArray                     rest;
};

/* What is in the tails besides eigenvalues: nothing, or what traces beyond the sides add. Fill writes size - 2n numbers. */
template <class T, int N>
struct NoTail {
  static constexpr int size = SortTail<N>::lambda;

  PetscErrorCode Fetch()
  {
    return PETSC_SUCCESS;
  }
  void Fill(const SortEntry<T, N> &, int, T *)
  {
  }
};
template <class T, int N>
struct ReplaceTail {
  static constexpr int nt = VpThinLayers(N, 3), size = SortTail<N>::add;

  const VpView *view;
  T             traces[4 * nt];

  PetscErrorCode Fetch()
  {
    return VpCudaFetch(view->traces, sizeof(traces), traces);
  }
  void Fill(const SortEntry<T, N> &e, int, T *to)
  {
    for (int s = 0; s < 2; s++)
      for (int i = 0; i < N; i++)
        for (int f = 0; f < 2; f++) *to++ = SweepSetup<T, N>::TraceAdds(e.line[s] + N * N + 2 * s * N, traces + 2 * (1 - s) * nt, f, i);
  }
};

template <class T, int N, class Tail>
struct SortSetup {
  static constexpr int     m = 2 * N, nt = VpThinLayers(N, 3), each = Patch<T, N>::patches;
  static constexpr int32_t few = 512; /* blocks that are not worth a launch of their own */

  const SweepSetup<T, N>       setup;
  const SortedPatches *const   sorted;
  Tail                         tail;
  std::vector<SortEntry<T, N>> entry;
  /* the launch that is being filled */
  std::vector<int32_t>      place;  /* [entries] SortBlock.entry, or -1: it is not in it */
  std::vector<T>            number; /* of SortTables */
  std::vector<T>            table;  /* PatchTable, then the tails */
  std::vector<SortBlock>    block;
  std::vector<const Sort *> held;

  SortSetup(const SweepSetup<T, N> &of, const SortedPatches &which, const Tail &t) : setup(of), sorted(&which), tail(t)
  {
  }
  bool IsFull(int32_t e) const
  {
    return !entry[e].mirrored || sorted->entries[e].sides;
  }
  bool IsFull(const Sort &sort) const
  {
    return IsFull(sort.entry[0]) || IsFull(sort.entry[1]) || IsFull(sort.entry[2]);
  }
  int Size(int32_t e) const
  {
    return Tail::size + (IsFull(e) ? 8 : 4) * N * N;
  }
  /* how many numbers the sort adds to the launch */
  int Added(const Sort &sort) const
  {
    int sum = 0;

    for (int d = 0; d < 3; d++) {
      bool is = place[sort.entry[d]] < 0;
      for (int c = 0; c < d; c++) is = is && sort.entry[c] != sort.entry[d];
      sum += is ? Size(sort.entry[d]) : 0;
    }
    return sum;
  }

  void AddEntry(int32_t e)
  {
    const T *fdm = entry[e].fdm;
    T        numbers[Tail::size];

    tail.Fill(entry[e], sorted->entries[e].sides, numbers);
    SweepSetup<T, N>::Eigenvalues(fdm + 2 * m * m, 0, numbers + Tail::size - m);
    number.insert(number.end(), numbers, numbers + Tail::size);
    table.insert(table.end(), numbers, numbers + Tail::size);
    place[e] = (int32_t)number.size() | (int32_t)table.size() * SORT_TAIL | IsFull(e) * SORT_FULL | sorted->entries[e].sides * SORT_SIDE;
    if (IsFull(e)) number.insert(number.end(), fdm, fdm + 2 * m * m);
    else {
      T F[2 * N * N], B[2 * N * N];
      SweepSetup<T, N>::Transforms(fdm, (T(*)[N * N]) F, (T(*)[N * N]) B);
      number.insert(number.end(), F, F + 2 * N * N);
      number.insert(number.end(), B, B + 2 * N * N);
    }
  }
  void AddSort(const Sort &sort)
  {
    SortBlock b;

    for (int d = 0; d < 3; d++) {
      if (place[sort.entry[d]] < 0) AddEntry(sort.entry[d]);
      b.entry[d] = place[sort.entry[d]];
    }
    for (int32_t i = 0; i < sort.n; i += each) {
      b.patches = (sort.first + i) * SORT_MOST + PetscMin(each, sort.n - i);
      block.push_back(b);
    }
    held.push_back(&sort);
  }

  /* Puts the launch into the plan, unless it is not worth it: then its sorts go to `left`. */
  PetscErrorCode Close(bool full, SortPlan<T, N> *plan, std::vector<const Sort *> *left)
  {
    PetscFunctionBegin;
    if (block.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    if (plan->launches.empty() || plan->launches.back().full != full || (int32_t)block.size() >= few) {
      plan->launches.emplace_back();
      SortLaunch<T, N> &l = plan->launches.back();
      PetscCall(VpCudaFetch(setup.view->traces, sizeof(l.tables.trace), l.tables.trace));
      PetscCall(PetscArraycpy(l.tables.number, number.data(), number.size()));
      l.tables.reaction = (T)setup.patches->reaction;
      l.full = full;
      l.blocks = (int32_t)block.size();
      PetscCall(VpCudaPlace(table.data(), table.size() * sizeof(T), "tables of sorted patches", &l.table));
      PetscCall(VpCudaPlace(block.data(), block.size() * sizeof(SortBlock), "sorted patches", &l.block));
    } else left->insert(left->end(), held.begin(), held.end());
    Open();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void Open()
  {
    place.assign(entry.size(), -1);
    number.clear();
    table.assign(PatchTable<N>::size, T(0));
    block.clear();
    held.clear();
  }

  PetscErrorCode Gather()
  {
    const size_t n = sorted->entries.size();
    VpArray      keys, tables;

    PetscFunctionBegin;
    entry.resize(n);
    PetscCall(tail.Fetch());
    PetscCall(VpCudaPlace(sorted->entries.data(), n * sizeof(SortKey), "sorted patches", &keys));
    PetscCall(VpCudaAlloc(n * sizeof(SortEntry<T, N>), "tables of sorted patches", &tables.p));
    PetscCall(VpCudaLaunch("gather tables", GatherEntries<T, N>, {(int)n, 128}, (const T *)setup.patches->fdm, (const T *)setup.view->lines,
                           setup.patches->mirrored, (const SortKey *)keys.p, (SortEntry<T, N> *)tables.p));
    PetscCall(VpCudaFetch(tables.p, n * sizeof(SortEntry<T, N>), entry.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* leaves sorts to the kernel for any patches */
  PetscErrorCode Leave(const std::vector<const Sort *> &left, SortPlan<T, N> *plan) const
  {
    std::vector<int32_t> number(sorted->list.n), rest;

    PetscFunctionBegin;
    if (left.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaFetch(sorted->list.numbers.p, number.size() * sizeof(int32_t), number.data()));
    for (const Sort *sort : left) rest.insert(rest.end(), number.begin() + sort->first, number.begin() + sort->first + sort->n);
    plan->nrest = (int32_t)rest.size();
    PetscCall(VpCudaPlace(rest.data(), rest.size() * sizeof(int32_t), "a list of patches", &plan->rest));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Fill(SortPlan<T, N> *plan)
  {
    std::vector<const Sort *> left;
    int32_t                   mirrored = 0;

    PetscFunctionBegin;
    if (!sorted->list.n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Gather());
    for (const Sort &sort : sorted->sorts) mirrored += IsFull(sort) ? 0 : VpBlocks(sort.n, each);
    Open();
    for (int full = mirrored >= few ? 0 : 1; full < 2; full++) {
      for (const Sort &sort : sorted->sorts) {
        if (mirrored >= few && IsFull(sort) != full) continue;
        if (number.size() + Added(sort) > SortTables<T, N>::room) PetscCall(Close(full, plan, &left));
        AddSort(sort);
      }
      PetscCall(Close(full, plan, &left));
    }
    PetscCall(Leave(left, plan));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* kernel(tables, blocks, what it needs besides, w, done) */
template <class S, bool FULL, class T, int N, class Kernel, class... More>
static PetscErrorCode LaunchSorts(Kernel kernel, size_t bytes, const SortLaunch<T, N> &l, cudaStream_t stream, const PatchWork<T> &w,
                                  unsigned done, const More &...more)
{
  const Sorts<FULL> sorts = {(const SortBlock *)l.block.p};

  return VpCudaLaunch("sweep of sorted patches", kernel, {l.blocks, S::block, bytes, stream}, l.tables, sorts, more..., w, done);
}
