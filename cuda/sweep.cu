/* The patch smoother: one colour, or all of them at once, and values from its two buffers. The view's common patches take the kernels
   of patch.cuh, keptpatch.cuh and varypatch.cuh, and so do others that are sorted by their tables; what is left takes that of
   anypatch.cuh. */
#include "anypatch.cuh"
#include "keptplan.cuh"
#include "sortplan.cuh"
#include "varyplan.cuh"
#include "sweepallplan.cuh"

/* a warp looks at `each` cells at once, then copies those of them that are in x1 */
template <class T>
__global__ void Settle(int values, int32_t count, int each, unsigned done, const uint8_t *cover, T *x0, const T *x1)
{
  const int32_t first = each * (blockIdx.x * blockDim.y + threadIdx.y), cell = first + threadIdx.x;
  const bool    other = (int)threadIdx.x < each && cell < count && BufferOf(cover[cell], done);

  for (unsigned cells = __ballot_sync(~0u, other); cells; cells &= cells - 1) {
    const size_t at = (size_t)(first + __ffs(cells) - 1) * values;
    for (int i = threadIdx.x; i < values; i += 32) x0[at + i] = x1[at + i];
  }
}

template <class T>
__global__ void Current(int values, int32_t count, const int32_t *list, unsigned done, const uint8_t *cover, const T *x0, const T *x1,
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
  typedef StagesLayout<T, DIM, N> Few;
  typedef ManyLayout<T, DIM, N>   Many;

  template <class L>
  static PetscErrorCode Any(const Field<T> &f, const Sweep<T> &w, VpForm form, const int32_t *list, int32_t first, int32_t last)
  {
    return VpCudaLaunch("sweep", SweepPatches<T, DIM, N, L>,
                        {VpBlocks(last - first, L::patches), L::block, AnyBytes<L, T>(KeepsValues(form))}, f, w, form, list, first, last);
  }
  /* Few patches, which leave room on the device, have more threads each. */
  static PetscErrorCode Rest(const Field<T> &f, const Sweep<T> &w, VpForm form, const int32_t *list, int32_t first, int32_t last)
  {
    int device, processors;

    PetscFunctionBegin;
    VpCudaCall(cudaGetDevice(&device));
    VpCudaCall(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    if (VpBlocks(last - first, Few::patches) <= Few::least * processors) PetscCall(Any<Few>(f, w, form, list, first, last));
    else PetscCall(Any<Many>(f, w, form, list, first, last));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* What a kernel of like patches works on: a plan's common patches with the tables c, unless that is NULL, and its sorted ones with those
     of their sorts. Work on `side` is beside that on the backend's stream. */
  struct LikeWork {
    const SweepSetup<T, N>     setup;
    const SweepPlan           &plan;
    const CommonPatches<T, N> *c;
    cudaStream_t               side;
    unsigned                   done;
    const void                *b;
    void *const               *x;

    /* launch(edges, patches, w, stream) on common patches, those at boundaries beside those inside */
    template <class Launch>
    PetscErrorCode Common(Launch launch) const
    {
      PetscFunctionBegin;
      if (!c) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(launch(c->edges, plan.edge, WorkOn<T>(plan.edge, c->table, b, x), side));
      PetscCall(launch(NoEdges(), plan.inside, WorkOn<T>(plan.inside, c->table, b, x), VpCudaStream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    /* launch(SortPlan, is it full?, w, stream) on sorted ones: those that are not their own mirror images beside the others */
    template <class Tail, class Launch>
    PetscErrorCode Sorted(int kind, const Tail &tail, Launch launch) const
    {
      SortPlan<T, N> *sorts = NULL;

      PetscFunctionBegin;
      PetscCall(VpCudaPlan<SortPlan<T, N>>(&setup.patches->device, kind, plan.first, plan.last, &sorts,
                                           [&](SortPlan<T, N> *p) { return SortSetup<T, N, Tail>(setup, plan.sorted, tail).Fill(p); }));
      const PatchWork<T> w = WorkOn<T>(plan.sorted.list, sorts->table, b, x);
      PetscCall(launch(*sorts, std::true_type(), w, side));
      PetscCall(launch(*sorts, std::false_type(), w, VpCudaStream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  };

  static PetscErrorCode Replace(LikeWork &like)
  {
    typedef Patch<T, N> P;

    PetscFunctionBegin;
    PetscCall(like.Common([&](const auto &edges, const PatchList &list, const PatchWork<T> &w, cudaStream_t stream) {
      return LaunchPatches<P>(ReplacePatches<T, N, std::decay_t<decltype(edges)>>, P::bytes, list.n, stream, w, like.done, like.c->tables,
                              edges);
    }));
    PetscCall(like.Sorted(like.setup.mixes ? VP_PLAN_REPLACE_SORTS_MIXED : VP_PLAN_REPLACE_SORTS, ReplaceTail<T, N>{like.setup.view, {}},
                          [&](const auto &sorts, auto full, const PatchWork<T> &w, cudaStream_t stream) {
                            constexpr bool FULL = decltype(full)::value;
                            return LaunchSorts<P, FULL>(ReplaceSorted<T, N, FULL>, P::bytes, sorts, stream, w, like.done);
                          }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* TRACES a side. Those of neighbours count in VP_FORM_EXACT, unless the space also lacks slopes. */
  template <int TRACES>
  static PetscErrorCode Keep(LikeWork &like)
  {
    typedef Patch<T, N>           P;
    const KeptSetup<T, N, TRACES> setup(like.setup);
    const size_t                  bytes = KeptShape<T, N, TRACES>::bytes;
    KeptPlan<T, N, TRACES>       *kept = NULL;

    PetscFunctionBegin;
    PetscCall(VpCudaPlan<KeptPlan<T, N, TRACES>>(&like.setup.patches->device, VP_PLAN_KEPT, 0, TRACES, &kept,
                                                 [&](KeptPlan<T, N, TRACES> *p) { return KeptSetup<T, N, TRACES>(like.setup).Fill(p); }));
    PetscCall(like.Common([&](const auto &edges, const PatchList &list, const PatchWork<T> &w, cudaStream_t stream) {
      return LaunchPatches<P>(KeepPatches<T, N, TRACES, std::decay_t<decltype(edges)>>, bytes, list.n, stream, w, like.done, like.c->tables,
                              kept->tables, edges);
    }));
    PetscCall(like.Sorted(TRACES == 1 ? VP_PLAN_KEEP_SORTS : VP_PLAN_KEEP_SORTS_2, KeptTail<T, N, TRACES>{setup},
                          [&](const auto &sorts, auto full, const PatchWork<T> &w, cudaStream_t stream) {
                            constexpr bool FULL = decltype(full)::value;
                            return LaunchSorts<P, FULL>(KeepSorted<T, N, TRACES, FULL>, bytes, sorts, stream, w, like.done, kept->tables);
                          }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Vary(LikeWork &like, VpForm form)
  {
    typedef Patch<T, N> P;
    const VpView       *view = like.setup.view;
    const VpPatchView  *patches = like.setup.patches;
    const size_t        bytes = VaryShape<T, N>::bytes;
    VaryPlan<T, N>     *vary = NULL;
    const auto          more = [=](const PatchList &list) {
      return VaryWork<T>{form, (const T *)patches->coefficient, (const T *)patches->weight, (const int32_t *)list.numbers.p,
                         (T)patches->reaction};
    };

    PetscFunctionBegin;
    PetscCall(VpCudaPlan<VaryPlan<T, N>>(&patches->device, VP_PLAN_VARY, 0, 0, &vary,
                                         [=](VaryPlan<T, N> *p) { return VarySetup<T, N>(view, patches->unit).Fill(p); }));
    PetscCall(like.Common([&](const auto &edges, const PatchList &list, const PatchWork<T> &w, cudaStream_t stream) {
      return LaunchPatches<P>(VaryPatches<T, N, std::decay_t<decltype(edges)>>, bytes, list.n, stream, w, like.done, like.c->tables,
                              vary->tables, edges, more(list));
    }));
    PetscCall(
      like.Sorted(VP_PLAN_VARY_SORTS, NoTail<T, N>(), [&](const auto &sorts, auto full, const PatchWork<T> &w, cudaStream_t stream) {
        constexpr bool FULL = decltype(full)::value;
        return LaunchSorts<P, FULL>(VarySorted<T, N, FULL>, bytes, sorts, stream, w, like.done, vary->tables, more(like.plan.sorted.list));
      }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  enum Which { NONE, REPLACE, KEEP, VARY };
  /* the kernel for like patches in this form */
  static Which Kernel(const SweepSetup<T, N> &setup, VpForm form)
  {
    const int  lacks = setup.patches->lacks;
    const bool varies = N >= VP_THIN_LEAST && (form == VP_FORM_GIVEN || (setup.patches->unit && form != VP_FORM_REPLACE));

    if (!setup.Can()) return NONE;
    if (!setup.Uniform() || form == VP_FORM_GIVEN) return varies ? VARY : NONE;
    if (form == VP_FORM_REPLACE || setup.mixes) return lacks ? NONE : REPLACE;
    return lacks ? KEEP : NONE;
  }

  /* Requires: there is a kernel for like patches. All others take the one for any. */
  static PetscErrorCode LikePatches(const SweepSetup<T, N> &setup, Which which, VpForm form, int32_t first, int32_t last, unsigned done,
                                    const void *b, void *const x[2])
  {
    const Field<T>       f(setup.view, NULL, NULL);
    const Sweep<T>       w(setup.patches, done, b, x);
    CommonPatches<T, N> *c = NULL;
    SweepPlan           *plan = NULL;
    cudaStream_t         side = VpCudaStream;

    PetscFunctionBegin;
    if (setup.patches->common.found && !setup.mixes) PetscCall(setup.Common(&c));
    PetscCall(VpCudaPlan<SweepPlan>(&setup.patches->device, setup.mixes ? VP_PLAN_SWEEP_MIXED : VP_PLAN_SWEEP, first, last, &plan,
                                    [=](SweepPlan *p) { return setup.Fill(first, last - first, p); }));
    const bool beside = plan->edge.n || plan->sorted.list.n;
    if (beside) PetscCall(VpCudaFork(&side));
    LikeWork like = {setup, *plan, c, side, done, b, x};
    if (which == REPLACE) PetscCall(Replace(like));
    else if (which == VARY) {
      if constexpr (N >= VP_THIN_LEAST) PetscCall(Vary(like, form));
    } else if (form == VP_FORM_LOCAL && setup.patches->lacks == 1) PetscCall(Keep<1>(like));
    else PetscCall(Keep<2>(like));
    PetscCall(Rest(f, w, form, (const int32_t *)plan->rest.p, 0, plan->nrest));
    if (beside) PetscCall(VpCudaJoin());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode OneColor(const VpView *view, const VpPatchView *patches, VpForm form, int32_t first, int32_t last, unsigned done,
                                 const void *b, void *const x[2])
  {
    Which which = NONE;

    PetscFunctionBegin;
    if (first >= last) PetscFunctionReturn(PETSC_SUCCESS);
    if constexpr (DIM == 3) {
      const SweepSetup<T, N> setup = {view, patches, form == VP_FORM_EXACT && !patches->lacks && view->common.found};
      which = Kernel(setup, form);
      if (which != NONE) PetscCall(LikePatches(setup, which, form, first, last, done, b, x));
    }
    if (which == NONE) PetscCall(Rest(Field<T>(view, NULL, NULL), Sweep<T>(patches, done, b, x), form, NULL, first, last));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode AtOnce(const VpView *view, int n, const VpSweepStep step[], int32_t count, VpGhosts ghosts, const void *b,
                               void *const x[2], PetscBool *did)
  {
    return SweepAll<T, DIM, N>(view, n, step, count, ghosts, b, x, did);
  }

  static PetscErrorCode Settling(const VpPatchView *patches, int32_t count, unsigned done, void *const x[2])
  {
    const int full = 16384, warps = 8;                                             /* of a device that they keep busy, of a block */
    const int each = PetscClipInterval(count / full, 1, 32), cells = warps * each; /* of a warp, of a block */

    return VpCudaLaunch("settle", Settle<T>, {VpBlocks(count, cells), dim3(32, warps)}, Power(N, DIM), count, each, done, patches->cover,
                        (T *)x[0], (const T *)x[1]);
  }

  static PetscErrorCode Packing(const VpPatchView *patches, int32_t n, const int32_t *list, unsigned done, void *const x[2], void *to)
  {
    return VpCudaLaunch("current values", Current<T>, {VpLoopingBlocks(n, 4), dim3(64, 4)}, Power(N, DIM), n, list, done, patches->cover,
                        (const T *)x[0], (const T *)x[1], (T *)to);
  }
};

/* in one precision: sweepdouble.cu compiles this file for the other one */
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
  auto fill = [ops](auto of) {
    ops->sweep = of.OneColor;
    ops->sweep_all = of.AtOnce;
    ops->settle = of.Settling;
    ops->current = of.Packing;
  };

  if (dim == 2) VpCudaForDegree<SweepKernels, VP_REAL, 2>(degree, fill);
  else VpCudaForDegree<SweepKernels, VP_REAL, 3>(degree, fill);
}
