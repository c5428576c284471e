/* Sets up the kernels of replacepatch.cuh and correctpatch.cuh, also for grouped patches, and of sweepall.cuh: the tables of the view's
   common patches, and the order in which patches are launched. */
#pragma once
#include "patchplans.cuh"
extern "C" {
#include "../../src/base/memory.h"
#include "../../src/base/threads.h"
}

namespace vpatchdg::patch {
/* kind[i] = kind of patch first + i, KIND_LEFT_OUT if it is not selected. boundary: whether patches at boundaries may be common */
static __global__ void FindKinds(const int32_t *type, const uint8_t *replaceable, Selected selected, bool boundary,
                                 const __grid_constant__ VpCommon common, int32_t first, int32_t count, uint8_t *kind)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  bool          is = common.found;
  int           code = 0;

  if (i >= count) return;
  if (selected != SELECT_ALL && VpPatchIsReplaceable(replaceable[first + i]) != (selected == SELECT_REPLACEABLE)) {
    kind[i] = KIND_LEFT_OUT;
    return;
  }
  for (int d = 0; d < 3; d++) {
    const int32_t t = type[(size_t)(first + i) * 3 + d];
    const int     lies = t == common.inside[d]       ? LIES_INSIDE
                         : t == common.bounded[d][0] ? LIES_LOWER
                         : t == common.bounded[d][1] ? LIES_UPPER
                                                     : -1;
    is = is && (boundary ? lies >= 0 : lies == LIES_INSIDE);
    code |= lies << 2 * d;
  }
  kind[i] = is ? KIND_COMMON + code : KIND_REST;
}

/* Sorts patches by kind, in threads: common ones inside, common ones at boundaries, the others, those left out. */
enum { KINDS_INSIDE, KINDS_BOUNDARY, KINDS_REST, KINDS_LEFT_OUT, KINDS };
struct ByKind {
  int32_t  first; /* patch */
  uint8_t *kind;  /* [count] kind of patch first + i */
  int32_t *at;    /* [KINDS][pieces] how many patches; then where the first one goes */
  int32_t  pieces;
  int32_t *patch; /* [count] */
  uint8_t *kinds; /* [count] kind of patch[i] */
};
static inline int KindOf(uint8_t kind)
{
  return kind == KIND_COMMON + LIES_INSIDE ? KINDS_INSIDE
         : kind == KIND_LEFT_OUT           ? KINDS_LEFT_OUT
         : kind == KIND_REST               ? KINDS_REST
                                           : KINDS_BOUNDARY;
}
static void CountKinds(void *context, int32_t piece, int32_t first, int32_t last)
{
  const ByKind *by = (const ByKind *)context;
  int32_t       n[KINDS] = {};

  for (int32_t i = first; i < last; i++) n[KindOf(by->kind[i])]++;
  for (int k = 0; k < KINDS; k++) by->at[k * by->pieces + piece] = n[k];
}
static void StoreKinds(void *context, int32_t piece, int32_t first, int32_t last)
{
  const ByKind *by = (const ByKind *)context;
  int32_t       at[KINDS];

  for (int k = 0; k < KINDS; k++) at[k] = by->at[k * by->pieces + piece];
  for (int32_t i = first; i < last; i++) {
    const int32_t to = at[KindOf(by->kind[i])]++;
    by->patch[to] = by->first + i;
    by->kinds[to] = by->kind[i];
  }
}

static __global__ void ListPatches(const int32_t *patch, const int32_t *neighbor, const uint8_t *cover, bool mixes, const int32_t *list,
                                   int32_t count, PatchCells *cells, PatchCovers *covers)
{
  const int32_t i = blockIdx.x * blockDim.y + threadIdx.y, h = threadIdx.x - VP_PATCH_CELLS;

  if (i >= count) return;
  const int32_t     *own = patch + (size_t)list[i] * VP_PATCH_CELLS;
  const PatchQuarter at = PatchQuarterOf(h < 0 ? 0 : h);
  const int          here = PatchCellAt(at);
  int32_t            cell = h < 0 ? own[threadIdx.x] : neighbor[(size_t)own[here] * 6 + 2 * at.d + at.s];
  const unsigned     inside = __ballot_sync(~0u, cell >= 0) >> (threadIdx.x & ~3u) & 15;
  if (mixes && cell < 0) cell = inside && cell == VP_LEVEL_END ? -2 - here : -1;
  cells[i].cell[threadIdx.x] = cell;
  covers[i].cover[threadIdx.x] = cell < 0 ? 0 : cover[cell];
}

/* Places the patches' numbers and, unless NULL, kinds, and allocates their cells and covers. */
static inline PetscErrorCode PlaceList(const int32_t *patch, const uint8_t *kinds, PatchList *list)
{
  PetscFunctionBegin;
  PetscCall(VpCudaPlace(patch, (size_t)list->n * sizeof(int32_t), "a list of patches", &list->numbers));
  if (kinds) PetscCall(VpCudaPlace(kinds, (size_t)list->n, "kinds of patches", &list->kinds));
  PetscCall(VpCudaAlloc((size_t)list->n * sizeof(PatchCells), "cells of patches", &list->cells.p));
  PetscCall(VpCudaAlloc((size_t)list->n * sizeof(PatchCovers), "covers of patches", &list->covers.p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, int N>
struct SweepSetup {
  typedef Mirror<N, VpThinLayers(N, 3)> Map;
  static constexpr int                  m = 2 * N;

  const VpView      *view;
  const VpPatchView *patches;
  bool               mixes = false; /* Patches that have a side where the level ends on a part are grouped, and all others are left over. */
  const SplitPatches *split = NULL; /* of the range at work; NULL: none are turned */

  /* whether the coefficient is the same everywhere */
  bool Uniform() const
  {
    return !patches->factor;
  }
  /* the line of cells inside along d: the common one or, if the coefficient varies, the line of coefficient 1 */
  bool HasInside() const
  {
    return Uniform() ? view->common.found != PETSC_FALSE : view->unit != NULL;
  }
  PetscErrorCode Inside(int d, T (&line)[VpLineSize(N)]) const
  {
    return VpCudaFetchEntry(Uniform() ? view->lines : view->unit, Uniform() ? view->common.inside[d] : d, line);
  }
  /* whether the kernels of like patches take the view's traces and eigenvalues */
  bool Can() const
  {
    return view->nt == VpThinLayers(N, 3) && patches->cutoff < 0;
  }

  /* F and B of the first cell by parity */
  static void Transforms(const T *fdm, T (*F)[N * N], T (*B)[N * N])
  {
    for (int mode = 0; mode < m; mode++)
      for (int i = 0; i < N; i++) {
        F[mode % 2][mode / 2 * N + i] = fdm[mode * m + i];
        B[mode % 2][i * N + mode / 2] = fdm[VpBackAt(m) + i * m + mode];
      }
  }

  /* F and B at the lower boundary from the table there or, if `upper`, mirrored */
  static void BoundaryTransforms(const T *fdm, bool upper, T *F, T *B)
  {
    for (int mode = 0; mode < m; mode++)
      for (int i = 0; i < m; i++) {
        const int to = upper ? (i < N ? N : 0) + Map::index(i % N) : i;
        const T   sign = upper ? (T)Map::sign(i % N) : T(1);
        F[mode * m + i] = sign * fdm[mode * m + to];
        B[i * m + mode] = sign * fdm[VpBackAt(m) + to * m + mode];
      }
  }

  /* Modes that the space lacks have infinite eigenvalues. Any number takes their place, because their rows of F are zero. */
  static void Eigenvalues(const T *lambda, T reaction, T *to)
  {
    for (int i = 0; i < m; i++) to[i] = (lambda[i] < INFINITY ? lambda[i] : T(1)) + reaction;
  }

  /* transforms and eigenvalues along d */
  PetscErrorCode Solvers(int d, CommonPatches<T, N> *plan, T *table) const
  {
    const int32_t *inside = patches->common.inside, *bounded = patches->common.bounded[d];
    const bool     upper = bounded[0] < 0;
    const T        reaction = d == 2 && Uniform() ? (T)patches->reaction : T(0); /* else patches have theirs */
    T              fdm[VpFdmSize(N)], *lambda = fdm + VpLambdaAt(m);

    PetscFunctionBegin;
    plan->tables.same[d] = inside[1] == inside[0] && inside[2] == inside[0] ? 0 : d;
    PetscCall(VpCudaFetchEntry(patches->fdm, inside[d], fdm));
    Transforms(fdm, plan->tables.F[d], plan->tables.B[d]);
    Eigenvalues(lambda, reaction, table + 2 * d * m);
    if (d == 0) Eigenvalues(lambda, 0, plan->tables.lambda);
    if (bounded[upper] < 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaFetchEntry(patches->fdm, bounded[upper], fdm));
    BoundaryTransforms(fdm, upper, plan->boundary.F[d], plan->boundary.B[d]);
    Eigenvalues(lambda, reaction, table + (2 * d + 1) * m);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* What trace f of the pair beyond a side adds to value i. g [value, slope][n]: of the side; traces [value, slope][nt]: at the neighbour's
     end there */
  static T TraceAdds(const T *g, const T (*traces)[Map::nt], int f, int i)
  {
    return Map::nt == 2 ? g[i] * traces[0][f] + g[N + i] * traces[1][f] : g[f * N + i];
  }
  /* The same for cells of the level's size: PatchTables.add for the sides along z, PatchTable::add for the others. A coefficient that
     varies counts as 1. */
  PetscErrorCode Sides(T (*add)[2][N], T *table) const
  {
    T line[VpLineSize(N)], traces[2][2][Map::nt];

    PetscFunctionBegin;
    if (!Uniform() && !view->unit) PetscFunctionReturn(PETSC_SUCCESS);
    VpTabulate(VpBasisTrace, view->basis, traces);
    for (int d = 0; d < 3; d++) {
      PetscCall(Inside(d, line));
      for (int s = 0; s < 2; s++)
        for (int f = 0; f < 2; f++)
          for (int i = 0; i < N; i++) {
            const T a = TraceAdds(line + VpLineSide(N, s), traces[1 - s], f, i);
            if (d == 2) add[s][f][i] = a;
            else table[PatchTable<N>::add + ((d * 2 + s) * N + i) * 2 + f] = a;
          }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PatchPlans<T, N> &Plans() const
  {
    return VpCudaPlans<PatchPlans<T, N>>(patches);
  }
  PetscErrorCode FillCommon(CommonPatches<T, N> *plan) const
  {
    T table[PatchTable<N>::size] = {};

    PetscFunctionBegin;
    VpTabulate(VpBasisTrace, view->basis, plan->tables.trace);
    for (int d = 0; d < 3; d++) PetscCall(Solvers(d, plan, table));
    PetscCall(Sides(plan->tables.add, table));
    PetscCall(VpCudaPlace(table, sizeof(table), "tables of common patches", &plan->table));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* the tables of the view's common patches. Requires: there are some */
  PetscErrorCode Common(CommonPatches<T, N> **common) const
  {
    return Plans().common.Get(common, [this](CommonPatches<T, N> *plan) { return FillCommon(plan); });
  }

  PetscErrorCode Kinds(Selected selected, bool boundary, int32_t first, int32_t count, uint8_t *kind) const
  {
    VpArray device;

    PetscFunctionBegin;
    PetscCall(PetscArrayzero(kind, count));
    if (mixes || (!patches->common.found && selected == SELECT_ALL)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaAlloc((size_t)count, "kinds of patches", &device.p));
    PetscCall(VpCudaLaunch("kinds of patches", FindKinds, {VpBlocks(count, VP_THREADS), VP_THREADS}, patches->type, patches->replaceable,
                           selected, boundary, patches->common, first, count, (uint8_t *)device.p));
    PetscCall(VpCudaFetch(device.p, (size_t)count, kind));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* Marks turned patches as `to`. */
  PetscErrorCode MarkTurned(uint8_t to, int32_t first, int32_t count, uint8_t *kind) const
  {
    std::vector<uint8_t> is(view->turn ? (size_t)count : 0);

    PetscFunctionBegin;
    if (view->turn) PetscCall(VpCudaTurnedPatches(view, patches, first, count, is.data()));
    for (size_t i = 0; i < is.size(); i++) {
      if (is[i]) kind[i] = to;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode List(const int32_t *patch, const uint8_t *kinds, PatchList *list) const
  {
    PetscFunctionBegin;
    if (!list->n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PlaceList(patch, kinds, list));
    PetscCall(VpCudaLaunch("list patches", ListPatches, {VpBlocks(list->n, VP_WARPS), dim3(VP_PATCH_CELLS + PATCH_SIDES, VP_WARPS)},
                           patches->patch, view->neighbor, patches->cover, mixes, (const int32_t *)list->numbers.p, list->n,
                           (PatchCells *)list->cells.p, (PatchCovers *)list->covers.p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* whether a block's shared memory holds its patches and the tables of a group, also if coefficients vary */
  PetscErrorCode GroupsFit(bool *fit) const
  {
    const size_t tables = 3 * (size_t)(RoundUp(GroupTail<N>::lambda, Wide<T>::n) + 8 * N * N) * sizeof(T);
    int          most;

    PetscFunctionBegin;
    PetscCall(VpCudaAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most));
    *fit = CorrectShape<T, N, Patch<T, N, GROUPED_PATCHES>>::bytes + tables <= (size_t)most;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Orders the patches that are not common by group. Those of no group come last. */
  PetscErrorCode GroupRest(int32_t rest[], SweepPlan<T, N> *plan) const
  {
    const int32_t                      n = plan->nrest;
    const std::unique_ptr<GroupKeys[]> keys(new GroupKeys[n]);
    VpArray                            list, device;
    bool                               fit = false;

    PetscFunctionBegin;
    PetscCall(GroupsFit(&fit));
    if (!n || !fit) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaPlace(rest, (size_t)n * sizeof(int32_t), "a list of patches", &list));
    PetscCall(VpCudaAlloc((size_t)n * sizeof(GroupKeys), "groups of patches", &device.p));
    PetscCall(VpCudaLaunch("groups of patches", FindGroupKeys, {VpBlocks(n, VP_THREADS), VP_THREADS}, patches->patch, patches->type,
                           view->neighbor, Uniform() ? view->line : NULL, view->common, mixes, (const int32_t *)list.p, n,
                           (GroupKeys *)device.p));
    PetscCall(VpCudaFetch(device.p, (size_t)n * sizeof(GroupKeys), keys.get()));
    PetscCall(GroupPatches(keys.get(), n, (Patch<T, N, GROUPED_PATCHES>::patches + 1) / 2, rest, &plan->grouped));
    PetscCall(List(rest, NULL, &plan->grouped.list));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* whether common patches at boundaries are grouped: for n = 8 this takes less time than the kernel for common patches at boundaries */
  static constexpr bool groups_boundary = N == 8;
  static bool           GroupsBoundary(Selected selected)
  {
    return selected == SELECT_REPLACEABLE || groups_boundary;
  }

  PetscErrorCode Fill(Selected selected, int32_t first, int32_t count, SweepPlan<T, N> *plan) const
  {
    const int32_t pieces = VpLoopPieces(count);
    ByKind        by = {first, NULL, NULL, pieces, NULL, NULL};
    int32_t       start[KINDS];

    PetscFunctionBegin;
    PetscCall(PetscMalloc1(KINDS * pieces, &by.at));
    PetscCall(VpMallocLarge(count, &by.kind));
    PetscCall(VpMallocLarge(count, &by.patch));
    PetscCall(VpMallocLarge(count, &by.kinds));
    PetscCall(Kinds(selected, !GroupsBoundary(selected), first, count, by.kind));
    PetscCall(MarkTurned(KIND_LEFT_OUT, first, count, by.kind));
    VpLoop(count, CountKinds, &by);
    VpLoopSum(KINDS * pieces, by.at);
    for (int k = 0; k < KINDS; k++) start[k] = by.at[k * pieces];
    VpLoop(count, StoreKinds, &by);
    plan->inside.n = start[KINDS_BOUNDARY];
    plan->boundary.n = start[KINDS_REST] - start[KINDS_BOUNDARY];
    plan->nrest = start[KINDS_LEFT_OUT] - start[KINDS_REST];
    PetscCall(List(by.patch + start[KINDS_BOUNDARY], by.kinds + start[KINDS_BOUNDARY], &plan->boundary));
    PetscCall(List(by.patch, NULL, &plan->inside));
    int32_t *rest = by.patch + start[KINDS_REST];
    PetscCall(GroupRest(rest, plan));
    plan->nrest -= plan->grouped.list.n;
    PetscCall(VpCudaPlace(rest + plan->grouped.list.n, (size_t)plan->nrest * sizeof(int32_t), "a list of patches", &plan->rest));
    PetscCall(PetscFree(by.at));
    PetscCall(PetscFree(by.kind));
    PetscCall(PetscFree(by.patch));
    PetscCall(PetscFree(by.kinds));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace vpatchdg::patch
