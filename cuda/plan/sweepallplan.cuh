/* Sets up the kernel of sweepall.cuh: the stages, their patches by kind, and the buffers that hold x at each of them. */
#pragma once
#include "patchplan.cuh"
#include <algorithm>

namespace vpatchdg::patch {
/* makes a plan */
template <class T, int DIM, int N>
struct SweepAllSetup {
  typedef StagesLayout<T, DIM, N> Layout;

  /* Whether one launch may have patches that are not common. As measured, from degree 5 on in 3D the kernels of grouped patches are
     faster. */
  static constexpr bool takes_others = DIM == 2 || N < 6;

  const VpView       *view;
  SweepAllPlan<T, N> *plan;

  /* patches in the order of the stages, by their numbers in their stage's view */
  std::vector<int32_t>        common, other;
  std::vector<uint8_t>        kinds, modes;
  std::vector<const VpStep *> step; /* of the stages */

  SweepAllSetup(const VpView *cells, const VpStep *all, SweepAllPlan<T, N> *empty) : view(cells), plan(empty)
  {
    for (const VpStep *s = all + 1; s <= all + all->n; s++) {
      if (s->kind == VP_STEP_SWEEP) step.push_back(s);
    }
  }
  static int32_t Count(const VpStep *s)
  {
    return s->batch[s->n - 1].last - s->batch[0].first;
  }

  PetscErrorCode FindCommon()
  {
    PetscFunctionBegin;
    if constexpr (DIM == 3) {
      const SweepSetup<T, N> setup = {view, step[0]->patches};

      if (setup.Can() && setup.Uniform() && setup.patches->common.found && !setup.patches->lacks) PetscCall(setup.Common(&plan->common));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Sort(const VpPatchView *patches, const VpBatch &s)
  {
    const size_t         count = (size_t)(s.last - s.first);
    std::vector<uint8_t> kind(count, KIND_REST), replaceable(count, 0);

    PetscFunctionBegin;
    if constexpr (DIM == 3) {
      const SweepSetup<T, N> setup = {view, patches};
      if (plan->common && s.mode == VP_MODE_REPLACE) {
        PetscCall(setup.Kinds(SELECT_ALL, true, s.first, s.last - s.first, kind.data()));
        PetscCall(setup.MarkTurned(KIND_REST, s.first, s.last - s.first, kind.data()));
      }
    }
    if (s.mode == VP_MODE_CORRECT && patches->replaceable)
      PetscCall(VpCudaFetch(patches->replaceable + s.first, count, replaceable.data()));
    for (bool replaces : {true, false}) {
      for (size_t i = 0; i < count; i++) {
        const bool is = kind[i] != KIND_REST;
        if (VpPatchIsReplaceable(replaceable[i]) != replaces) continue;
        (is ? common : other).push_back(s.first + (int32_t)i);
        (is ? kinds : modes).push_back(is ? kind[i] : (uint8_t)VpPatchMode(s.mode, replaceable[i]));
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* Sorts the others of a stage by mode, so that threads of a warp do the same. Replaceable patches replace their values. */
  PetscErrorCode FindStages()
  {
    SweepStages &s = plan->stages;

    PetscFunctionBegin;
    if (step.size() > VP_MOST_STAGES) PetscFunctionReturn(PETSC_SUCCESS);
    for (const VpStep *color : step) {
      SweepStage &stage = s.stage[s.n++];

      stage.common[0] = (int32_t)common.size();
      stage.other[0] = (int32_t)other.size();
      for (int mode = VP_MODE_REPLACE; mode <= VP_MODE_LOCAL; mode++) {
        for (int i = 0; i < color->n; i++) {
          if (color->batch[i].mode == mode) PetscCall(Sort(color->patches, color->batch[i]));
        }
      }
      stage.common[1] = (int32_t)common.size();
      stage.other[1] = (int32_t)other.size();
    }
    plan->list.n = (int)common.size();
    plan->others = (int32_t)other.size();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* *blocks = number of blocks that the device holds at once */
  template <Others OTHERS>
  static PetscErrorCode Resident(int *blocks)
  {
    const size_t bytes = StagesBytes<Layout, T, OTHERS>();
    int          processors;

    PetscFunctionBegin;
    VpCudaCall(cudaFuncSetAttribute(SweepAllStages<T, DIM, N, OTHERS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    VpCudaCall(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, SweepAllStages<T, DIM, N, OTHERS>, Layout::block, bytes));
    PetscCall(VpCudaAttribute(cudaDevAttrMultiProcessorCount, &processors));
    *blocks *= processors;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* The same for a launch with or without others, of which there may be turned ones; 0: there is no such kernel. */
  PetscErrorCode ResidentWith(bool others, int *blocks) const
  {
    PetscFunctionBegin;
    *blocks = 0;
    if (!others) {
      if constexpr (DIM == 3) PetscCall(Resident<NO_OTHERS>(blocks));
    } else if constexpr (takes_others) PetscCall(view->turn ? Resident<TURNED_OTHERS>(blocks) : Resident<OTHERS>(blocks));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* Whether one launch is faster than one for each colour: as measured, while the largest colour fills at most two thirds of the device. */
  static bool Pays(int blocks, int resident)
  {
    return 3 * blocks <= 2 * resident;
  }
  /* *could = whether one launch might pay: whether it does if all patches are of the kind that takes the least shared memory */
  PetscErrorCode CouldPay(bool *could) const
  {
    int resident[2], most = 0;

    PetscFunctionBegin;
    for (int others = 0; others < 2; others++) PetscCall(ResidentWith(others, &resident[others]));
    for (const VpStep *color : step) most = PetscMax(most, VpBlocks(Count(color), Layout::patches));
    *could = Pays(most, PetscMax(resident[0], resident[1]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode CountBlocks()
  {
    int resident, most = 0;

    PetscFunctionBegin;
    for (int i = 0; i < plan->stages.n; i++) {
      const SweepStage &s = plan->stages.stage[i];
      most = PetscMax(most, VpBlocks(s.common[1] - s.common[0], Layout::patches) + VpBlocks(s.other[1] - s.other[0], Layout::patches));
    }
    PetscCall(ResidentWith(plan->others > 0, &resident));
    plan->blocks = Pays(most, resident) ? most : 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Follows the cells from buffer to buffer. A stage moves the cells of its colour to the other one. */
  PetscErrorCode FollowBuffers()
  {
    const size_t         cells = (size_t)view->nlocal;
    const VpPatchView   *seen = NULL;
    std::vector<uint8_t> now(cells, 0), cover(cells), all;

    PetscFunctionBegin;
    for (const VpStep *s : step) {
      if (s->patches != seen) PetscCall(VpCudaFetch(s->patches->cover, cells, cover.data()));
      seen = s->patches;
      all.insert(all.end(), now.begin(), now.end());
      for (size_t c = 0; c < cells; c++) now[c] ^= cover[c] >> s->color & 1;
    }
    for (size_t c = 0; c < cells; c++) {
      if (now[c]) plan->at_end.push_back((int32_t)c);
    }
    PetscCall(VpCudaPlace(all.data(), all.size(), "buffers of cells", &plan->covers));
    PetscCall(VpCudaPlace(plan->at_end.data(), plan->at_end.size() * sizeof(int32_t), "cells in the other buffer", &plan->odd));
    plan->stages.cells = (int32_t)cells;
    plan->stages.covers = (const uint8_t *)plan->covers.p;
    plan->stages.odd = (const int32_t *)plan->odd.p;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode PlaceCommon()
  {
    PatchList *l = &plan->list;

    PetscFunctionBegin;
    if (!l->n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PlaceList(common.data(), kinds.data(), l));
    for (int i = 0; i < plan->stages.n; i++) {
      const int32_t from = plan->stages.stage[i].common[0], count = plan->stages.stage[i].common[1] - from;

      PetscCall(VpCudaLaunch("list patches", ListPatches, {VpBlocks(count, VP_WARPS), dim3(VP_PATCH_CELLS + PATCH_SIDES, VP_WARPS)},
                             step[i]->patches->patch, view->neighbor, plan->stages.covers + (size_t)i * plan->stages.cells, false,
                             (const int32_t *)l->numbers.p + from, count, (PatchCells *)l->cells.p + from,
                             (PatchCovers *)l->covers.p + from));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* an array of the others with `block` bytes each, from the stages' views */
  template <class Of>
  PetscErrorCode Select(const int32_t *numbers, size_t block, Of of, VpArray *to) const
  {
    PetscFunctionBegin;
    PetscCall(VpCudaAlloc((size_t)plan->others * block, "patches by stages", &to->p));
    for (int i = 0; i < plan->stages.n; i++) {
      const int32_t from = plan->stages.stage[i].other[0], count = plan->stages.stage[i].other[1] - from;

      PetscCall(VpBackendCuda.move(count, block, numbers + from, of(step[i]->patches), NULL, (char *)to->p + (size_t)from * block));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode PlaceOthers()
  {
    VpArray      numbers;
    VpPatchView *v = &plan->view;

    PetscFunctionBegin;
    *v = *step[0]->patches;
    if (!plan->others) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaPlace(other.data(), other.size() * sizeof(int32_t), "patches by stages", &numbers));
    PetscCall(VpCudaPlace(modes.data(), modes.size(), "patches by stages", &plan->modes));
    const int32_t *list = (const int32_t *)numbers.p;
    auto           patch = [](const VpPatchView *p) { return p->patch; };
    auto           frame = [](const VpPatchView *p) { return p->frame; };
    auto           type = [](const VpPatchView *p) { return p->type; };
    auto           factor = [](const VpPatchView *p) { return p->factor; };
    PetscCall(Select(list, sizeof(int32_t) << DIM, patch, &plan->patch));
    if (v->frame) PetscCall(Select(list, sizeof(uint8_t) << DIM, frame, &plan->frame));
    PetscCall(Select(list, sizeof(int32_t) * DIM, type, &plan->type));
    if (v->factor) PetscCall(Select(list, (DIM + 1) * sizeof(T), factor, &plan->factor));
    VpCudaCall(cudaStreamSynchronize(VpCudaStream)); /* before the numbers go */
    v->patch = (const int32_t *)plan->patch.p;
    v->frame = (const uint8_t *)plan->frame.p;
    v->type = (const int32_t *)plan->type.p;
    v->factor = plan->factor.p;
    plan->stages.modes = (const uint8_t *)plan->modes.p;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Fill()
  {
    bool could = false;

    PetscFunctionBegin;
    PetscCall(CouldPay(&could));
    if (!could) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(FindCommon());
    PetscCall(FindStages());
    if (plan->stages.n) PetscCall(CountBlocks());
    if (!plan->blocks) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(FollowBuffers());
    PetscCall(PlaceCommon());
    PetscCall(PlaceOthers());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* *did becomes false if this process does not have the whole device */
template <class T, int DIM, int N, Others OTHERS>
static PetscErrorCode LaunchStages(SweepAllPlan<T, N> *plan, const VpView *view, int32_t count, const void *b, void *const x[2],
                                   PetscBool *did)
{
  typedef StagesLayout<T, DIM, N> L;
  CommonWork<T, DIM, N>           common = {};
  Field<T>                        field(view, NULL, NULL);
  Sweep<T>                        others(&plan->view, 1, b, x);
  SweepStages                     stages = plan->stages;
  void                           *parameters[] = {&common, &field, &others, &stages};

  PetscFunctionBegin;
  PetscCall(VpCudaFieldWithLines(view, NULL, NULL, &field));
  stages.nodd = (int32_t)(std::lower_bound(plan->at_end.begin(), plan->at_end.end(), count) - plan->at_end.begin());
  if constexpr (DIM == 3) {
    if (plan->common) common = {plan->common->tables, plan->common->boundary, WorkOn<T>(plan->list, plan->common->table, b, x)};
  }
  const cudaError_t error = cudaLaunchCooperativeKernel(SweepAllStages<T, DIM, N, OTHERS>, plan->blocks, L::block, parameters,
                                                        StagesBytes<L, T, OTHERS>(), VpCudaStream);
  if (error == cudaErrorCooperativeLaunchTooLarge || error == cudaErrorNotSupported) {
    (void)cudaGetLastError();
    plan->blocks = 0;
    *did = PETSC_FALSE;
  } else VpCudaCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, int DIM, int N>
static PetscErrorCode SweepAll(const VpView *view, const VpStep *all, VpGhosts ghosts, const void *b, void *const x[2], PetscBool *did)
{
  auto                fill = [=](SweepAllPlan<T, N> *p) { return SweepAllSetup<T, DIM, N>(view, all, p).Fill(); };
  PatchPlans<T, N>   &plans = VpCudaPlans<PatchPlans<T, N>>(all->patches);
  SweepAllPlan<T, N> *plan = NULL;

  PetscFunctionBegin;
  PetscCall(plans.sweep_all[all->color][all->n].Get(&plan, fill));
  *did = (PetscBool)(plan->blocks > 0);
  if (!*did) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpArrive(ghosts));
  if (!plan->others) {
    if constexpr (DIM == 3) PetscCall((LaunchStages<T, DIM, N, NO_OTHERS>(plan, view, all->count, b, x, did)));
  } else if constexpr (SweepAllSetup<T, DIM, N>::takes_others) {
    if (view->turn) PetscCall((LaunchStages<T, DIM, N, TURNED_OTHERS>(plan, view, all->count, b, x, did)));
    else PetscCall((LaunchStages<T, DIM, N, OTHERS>(plan, view, all->count, b, x, did)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace vpatchdg::patch
