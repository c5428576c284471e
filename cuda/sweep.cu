/* The patch smoother: sweeps of one colour or of all colours at once, and values from its two buffers. The view's common patches, and
   patches that are grouped by their tables, take the kernels of replacepatch.cuh and correctpatch.cuh. All others take that of
   anypatch.cuh, or its
   variant for turned patches. */
#include "patch/anypatch.cuh"
#include "plan/groupplan.cuh"
#include "plan/correctplan.cuh"
#include "plan/sweepallplan.cuh"

namespace vpatchdg::patch {
/* A warp looks at `each` cells at once, then copies the cells among them that x1 holds. */
template <class T>
__global__ void SettleCells(int values, int32_t count, int each, unsigned done, const uint8_t *cover, T *x0, const T *x1)
{
  const int32_t first = each * (blockIdx.x * blockDim.y + threadIdx.y), cell = first + threadIdx.x;
  const bool    other = (int)threadIdx.x < each && cell < count && BufferOf(cover[cell], done);

  for (unsigned cells = __ballot_sync(~0u, other); cells; cells &= cells - 1) {
    const size_t at = (size_t)(first + __ffs(cells) - 1) * values;
    for (int i = threadIdx.x; i < values; i += VP_WARP) x0[at + i] = x1[at + i];
  }
}

template <class T>
__global__ void GatherCurrent(int values, int32_t count, const int32_t *list, unsigned done, const uint8_t *cover, const T *x0, const T *x1,
                              T *to)
{
  for (int32_t i = blockIdx.x * blockDim.y + threadIdx.y; i < count; i += gridDim.x * blockDim.y) {
    const int32_t cell = list[i];
    const T      *x = BufferOf(cover[cell], done) ? x1 : x0;
    for (int k = threadIdx.x; k < values; k += blockDim.x) to[(size_t)i * values + k] = x[(size_t)cell * values + k];
  }
}

template <class T, int DIM, int N>
struct SweepKernels {
  typedef StagesLayout<T, DIM, N>                 Few;
  typedef AnyLayout<T, DIM, N>                    Many; /* more patches than the device works on at once: a thread has two lines */
  typedef AnyLayout<T, DIM, N, Many::each, false> Turned;
  typedef Patch<T, N>                             P;
  typedef Patch<T, N, GROUPED_PATCHES>            Q;

  template <class L, bool TURNED = false>
  static PetscErrorCode LaunchAny(const Field<T> &f, const Sweep<T> &w, VpResidualMode mode, const int32_t *list, int32_t first,
                                  int32_t last, cudaStream_t stream = VpCudaStream)
  {
    return VpCudaLaunch("sweep", SweepAny<T, DIM, N, L, TURNED>,
                        {VpBlocks(last - first, L::patches), L::block, AnyBytes<L, T, TURNED>(KeepsValues(mode)), stream}, f, w, mode, list,
                        first, last);
  }
  /* Few patches, which do not fill the device, have more threads each. */
  static PetscErrorCode SweepRest(const Field<T> &f, const Sweep<T> &w, VpResidualMode mode, const int32_t *list, int32_t first,
                                  int32_t last)
  {
    int processors;

    PetscFunctionBegin;
    PetscCall(VpCudaAttribute(cudaDevAttrMultiProcessorCount, &processors));
    if (VpBlocks(last - first, Few::patches) <= Few::least * processors) PetscCall(LaunchAny<Few>(f, w, mode, list, first, last));
    else PetscCall(LaunchAny<Many>(f, w, mode, list, first, last));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode SweepTurned(const Field<T> &f, const Sweep<T> &w, VpResidualMode mode, const SplitPatches &split,
                                    cudaStream_t stream)
  {
    return LaunchAny<Turned, true>(f, w, mode, split.List(true), 0, split.n[1], stream);
  }
  /* Sweeps a range in which no patches are alike. split: NULL if none are turned */
  static PetscErrorCode SweepUnlike(const Field<T> &f, const Sweep<T> &w, VpResidualMode mode, const SplitPatches *split, int32_t first,
                                    int32_t last)
  {
    cudaStream_t side = VpCudaStream;

    PetscFunctionBegin;
    if (!split) PetscCall(SweepRest(f, w, mode, NULL, first, last));
    else {
      if (split->n[0] && split->n[1]) PetscCall(VpCudaFork(&side));
      PetscCall(SweepTurned(f, w, mode, *split, side));
      PetscCall(SweepRest(f, w, mode, split->List(false), 0, split->n[0]));
      if (side != VpCudaStream) PetscCall(VpCudaJoin());
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* What kernels of like patches work on: a plan's common patches, with the tables c unless it is NULL, and its grouped patches, with the
     tables of their groups. After a fork, `side` is a second stream. */
  struct LikeWork {
    const SweepSetup<T, N>     setup;
    SweepPlan<T, N>           &plan;
    const CommonPatches<T, N> *c;
    cudaStream_t              &side;
    VpResidualMode             mode;
    unsigned                   done;
    const void                *b;
    void *const               *x;

    /* of the cells around a list's patches */
    CellCoefficients<T> Coefficients(const PatchList &list) const
    {
      const VpView *view = setup.view;

      return {mode,
              (const T *)view->coefficient,
              (const T *)setup.patches->factor,
              (const int32_t *)list.numbers.p,
              (T)view->reaction,
              view->directions};
    }
  };

  /* SweepCommon() works on common patches, those at boundaries on the second stream. SweepGrouped() works on groups, those that are not
     their own mirror images on the second stream. of(list): the residual of a list's patches; BOUNDARY: whether common patches may be at
     boundaries */
  template <bool BOUNDARY, class Of>
  static PetscErrorCode SweepCommon(const LikeWork &like, Of of)
  {
    auto launch = [&](const auto &boundary, const PatchList &list, cudaStream_t stream) {
      typedef decltype(of(list)) Residual;

      return LaunchPatches<P>(SweepLike<T, N, Residual, std::decay_t<decltype(boundary)>>, Residual::template bytes<P>, list.n, stream,
                              WorkOn<T>(list, like.c->table, like.b, like.x), like.done, like.c->tables, boundary, of(list));
    };

    PetscFunctionBegin;
    if (!like.c) PetscFunctionReturn(PETSC_SUCCESS);
    if constexpr (BOUNDARY && !SweepSetup<T, N>::groups_boundary) PetscCall(launch(like.c->boundary, like.plan.boundary, like.side));
    else PetscCheck(!like.plan.boundary.n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Common patches at boundaries are not grouped");
    PetscCall(launch(NoBoundary(), like.plan.inside, VpCudaStream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <bool ADDS, class Of>
  static PetscErrorCode SweepGrouped(const LikeWork &like, VpOnce<GroupPlan<T, N>> &once, Of of)
  {
    const GroupedPatches &grouped = like.plan.grouped;
    GroupPlan<T, N>      *groups = NULL;
    auto                  launch = [&](auto full, cudaStream_t stream) {
      constexpr bool                     FULL = decltype(full)::value;
      typedef decltype(of(grouped.list)) Residual;

      return LaunchGroups<Q, FULL>(SweepGroups<T, N, Residual, FULL>, Residual::template bytes<Q>, *groups, stream,
                                   WorkOn<T>(grouped.list, groups->table, like.b, like.x), like.done, of(grouped.list));
    };

    PetscFunctionBegin;
    PetscCall(once.Get(&groups, [&](GroupPlan<T, N> *p) { return GroupSetup<T, N, ADDS>(like.setup, grouped).Fill(p); }));
    if (groups->launch[0].blocks && groups->launch[1].blocks && like.side == VpCudaStream) PetscCall(VpCudaFork(&like.side));
    PetscCall(launch(std::true_type(), like.side));
    PetscCall(launch(std::false_type(), VpCudaStream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* ONE: the coefficient is the same everywhere. Otherwise patches replace values only if they are SELECT_REPLACEABLE. */
  template <bool ONE, class Of>
  static PetscErrorCode ReplaceValues(const LikeWork &like, Of of)
  {
    PetscFunctionBegin;
    PetscCall(SweepCommon<ONE>(like, of));
    PetscCall(SweepGrouped<ONE>(like, like.plan.replace, of));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* Works on patches that are not alike. */
  static PetscErrorCode SweepOthers(const LikeWork &like, const VpArray &list, int n)
  {
    Field<T> f(like.setup.view, NULL, NULL);

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaFieldWithLines(like.setup.view, NULL, NULL, &f));
    PetscCall(SweepRest(f, Sweep<T>(like.setup.patches, like.done, like.b, like.x), like.mode, (const int32_t *)list.p, 0, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode CorrectPatches(const LikeWork &like)
  {
    const bool           one = like.setup.Uniform() && like.mode != VP_MODE_GIVEN; /* K, so that grouped patches have others */
    CorrectTables<T, N> *own = NULL;
    auto                 of = [&](const PatchList &list) { return Correct<T, N>{*own, like.Coefficients(list)}; };

    PetscFunctionBegin;
    PetscCall(like.setup.Plans().correct.Get(&own, [&](CorrectTables<T, N> *to) { return CorrectSetup<T, N>(like.setup).Fill(to); }));
    PetscCall(SweepCommon<true>(like, of));
    if (one) PetscCall(SweepOthers(like, like.plan.grouped.list.numbers, like.plan.grouped.list.n));
    else PetscCall(SweepGrouped<false>(like, like.plan.own, of));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  enum Which { NONE, REPLACE, CORRECT };
  enum {
    CORRECT_LEAST = 3
  }; /* With n = 2 the pairs of correctpatch.cuh are neither two coefficients that a neighbour mirrors nor traces. */
  /* Chooses the kernel for like patches in a residual mode. Patches can compute their own residual if all cells have one K. */
  static Which ChooseKernel(const SweepSetup<T, N> &setup, VpResidualMode mode)
  {
    const int  lacks = setup.patches->lacks;
    const bool own = setup.Uniform() ? lacks && setup.HasInside() : setup.HasInside();

    if (!setup.Can()) return NONE;
    if (mode != VP_MODE_GIVEN && setup.Uniform() && (mode == VP_MODE_REPLACE || setup.mixes)) return lacks ? NONE : REPLACE;
    return N >= CORRECT_LEAST && (mode == VP_MODE_GIVEN || (own && mode != VP_MODE_REPLACE)) ? CORRECT : NONE;
  }

  /* Works on the patches of a plan: on like patches by the kernel `which`, on all others by the kernel for any patches. */
  static PetscErrorCode SweepByKernel(const LikeWork &like, Which which)
  {
    auto one = [](const PatchList &) { return Replace<T, N, OneCoefficient>(); };

    PetscFunctionBegin;
    if (which == REPLACE && like.setup.Uniform()) PetscCall(ReplaceValues<true>(like, one));
    else if constexpr (N >= CORRECT_LEAST) {
      auto many = [&](const PatchList &list) { return Replace<T, N, CellCoefficients<T>>{like.Coefficients(list)}; };
      if (which == REPLACE) PetscCall(ReplaceValues<false>(like, many));
      else PetscCall(CorrectPatches(like));
    }
    PetscCall(SweepOthers(like, like.plan.rest, like.plan.nrest));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Sweeps a range in which patches may be alike. Replaceable patches replace their values. Requires: which != NONE */
  static PetscErrorCode SweepLikePatches(const SweepSetup<T, N> &setup, Which which, VpResidualMode mode, int32_t first, int32_t last,
                                         unsigned done, const void *b, void *const x[2])
  {
    const bool           split = mode == VP_MODE_CORRECT && which == CORRECT && setup.patches->replaceable;
    const int            from = split ? SELECT_REPLACEABLE : setup.mixes ? SELECT_MIXED : SELECT_ALL, to = split ? SELECT_OTHERS : from;
    CommonPatches<T, N> *c = NULL;
    SweepPlan<T, N>     *plan[SELECTIONS] = {};
    cudaStream_t         side = VpCudaStream;
    Field<T>             f(setup.view, NULL, NULL);
    int                  lists = setup.split && setup.split->n[1];

    PetscFunctionBegin;
    if (setup.patches->common.found && !setup.mixes) PetscCall(setup.Common(&c));
    for (int i = from; i <= to; i++) {
      PetscCall(setup.Plans().sweep[i].Get(first, last, &plan[i],
                                           [=](SweepPlan<T, N> *p) { return setup.Fill((Selected)i, first, last - first, p); }));
      lists += plan[i]->Lists();
    }
    if (lists > 1) PetscCall(VpCudaFork(&side));
    if (setup.split) {
      PetscCall(VpCudaFieldWithLines(setup.view, NULL, NULL, &f));
      PetscCall(SweepTurned(f, Sweep<T>(setup.patches, done, b, x), mode, *setup.split, side));
    }
    for (int i = from; i <= to; i++) {
      const bool replaceable = i == SELECT_REPLACEABLE;
      LikeWork   like = {setup, *plan[i], c, side, VpPatchMode(mode, replaceable), done, b, x};
      PetscCall(SweepByKernel(like, replaceable ? REPLACE : which));
    }
    if (side != VpCudaStream) PetscCall(VpCudaJoin());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode SweepColor(const VpView *view, const VpPatchView *patches, VpResidualMode mode, int32_t first, int32_t last,
                                   unsigned done, const void *b, void *const x[2])
  {
    SplitPatches *split = NULL;
    Which         which = NONE;
    Field<T>      f(view, NULL, NULL);

    PetscFunctionBegin;
    if (first >= last) PetscFunctionReturn(PETSC_SUCCESS);
    if (view->turn) {
      PetscCall((VpCudaPlans<PatchPlans<T, N>>(patches).split.Get(
        first, last, &split, [=](SplitPatches *p) { return FillSplitPatches(view, patches, first, last, p); })));
      if (!split->n[1]) split = NULL;
    }
    if constexpr (DIM == 3) {
      const bool             mixes = mode == VP_MODE_CORRECT && !patches->lacks && !patches->factor && view->common.found;
      const SweepSetup<T, N> setup = {view, patches, mixes, split};
      which = ChooseKernel(setup, mode);
      if (which != NONE) PetscCall(SweepLikePatches(setup, which, mode, first, last, done, b, x));
    }
    if (which == NONE) {
      PetscCall(VpCudaFieldWithLines(view, NULL, NULL, &f));
      PetscCall(SweepUnlike(f, Sweep<T>(patches, done, b, x), mode, split, first, last));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode PreparePatches(VpPatchView *patches)
  {
    PetscFunctionBegin;
    patches->plans = new PatchPlans<T, N>();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode SweepAtOnce(const VpView *view, const VpStep *all, VpGhosts ghosts, const void *b, void *const x[2], PetscBool *did)
  {
    return SweepAll<T, DIM, N>(view, all, ghosts, b, x, did);
  }

  static PetscErrorCode SettleBuffers(const VpPatchView *patches, int32_t count, unsigned done, void *const x[2])
  {
    const int full = 16384, warps = VP_WARPS;                                      /* of a device that they keep busy, of a block */
    const int each = PetscClipInterval(count / full, 1, 32), cells = warps * each; /* of a warp, of a block */

    return VpCudaLaunch("settle", SettleCells<T>, {VpBlocks(count, cells), dim3(VP_WARP, warps)}, Power(N, DIM), count, each, done,
                        patches->cover, (T *)x[0], (const T *)x[1]);
  }

  static PetscErrorCode PackCurrent(const VpPatchView *patches, int32_t n, const int32_t *list, unsigned done, void *const x[2], void *to)
  {
    return VpCudaLaunch("current values", GatherCurrent<T>, {VpLoopingBlocks(n, 4), dim3(64, 4)}, Power(N, DIM), n, list, done,
                        patches->cover, (const T *)x[0], (const T *)x[1], (T *)to);
  }
};
} // namespace vpatchdg::patch

/* This file is compiled in single precision. sweepdouble.cu compiles it in double precision. */
#ifndef VP_SWEEP
  #define VP_SWEEP VpCudaSweepSingle
  #define VP_REAL  float

void VpCudaSweepOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  (precision == VP_SINGLE ? VpCudaSweepSingle : VpCudaSweepDouble)(dim, degree, ops);
}
#endif
void VP_SWEEP(int dim, int degree, VpOps *ops)
{
  VpCudaForDim<vpatchdg::patch::SweepKernels, VP_REAL>(dim, degree, [ops](auto of) {
    ops->prepare_patches = of.PreparePatches;
    ops->sweep = of.SweepColor;
    ops->sweep_all = of.SweepAtOnce;
    ops->settle = of.SettleBuffers;
    ops->current = of.PackCurrent;
  });
}
