/* The patch smoother: one colour, or all of them at once, and values from its two buffers. The view's common patches take the kernels
   of patch.cuh, keptpatch.cuh and varypatch.cuh, all others that of anypatch.cuh. */
#include "anypatch.cuh"
#include "keptplan.cuh"
#include "varyplan.cuh"
#include "sweepall.cuh"

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
  typedef AnyLayout<T, DIM, N> S;

  static PetscErrorCode Rest(const Field<T> &f, const Sweep<T> &w, VpForm form, const int32_t *list, int32_t first, int32_t count)
  {
    const size_t bytes = S::bytes(KeepsValues(form));

    PetscFunctionBegin;
    if (!count) PetscFunctionReturn(PETSC_SUCCESS);
    VpCudaCall(cudaFuncSetAttribute(SweepPatches<T, DIM, N>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::bytes(true)));
    SweepPatches<T, DIM, N><<<VpBlocks(count, S::patches), S::block, bytes, VpCudaStream>>>(f, w, form, list, first, count);
    VpCudaLaunched("sweep");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* launch(edges, patches, stream) on common patches, those at boundaries beside those inside */
  template <class Launch>
  static PetscErrorCode Like(const SweepPlan &plan, const EdgeTables<T, N> &edges, Launch launch)
  {
    cudaStream_t side = VpCudaStream;

    PetscFunctionBegin;
    if (plan.edge.n) PetscCall(VpCudaFork(&side));
    PetscCall(launch(edges, plan.edge, side));
    PetscCall(launch(NoEdges(), plan.inside, VpCudaStream));
    if (plan.edge.n) PetscCall(VpCudaJoin());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Replace(const SweepPlan &plan, const CommonPatches<T, N> &c, unsigned done, const void *b, void *const x[2])
  {
    return Like(plan, c.edges, [=, &c](const auto &edges, const PatchList &list, cudaStream_t stream) {
      typedef std::decay_t<decltype(edges)> Edges;
      return LaunchPatches<Patch<T, N>>(ReplacePatches<T, N, Edges>, Patch<T, N>::bytes, list.n, stream, WorkOn<T>(list, c.table, b, x),
                                        done, c.tables, edges);
    });
  }

  /* TRACES a side. Those of neighbours count in VP_FORM_EXACT, unless the space lacks slopes, too. */
  template <int TRACES>
  static PetscErrorCode Keep(const SweepSetup<T, N> &setup, const SweepPlan &plan, const CommonPatches<T, N> &c, unsigned done,
                             const void *b, void *const x[2])
  {
    const bool              beyond = c.lacks < TRACES;
    KeptPlan<T, N, TRACES> *kept = NULL;

    PetscFunctionBegin;
    PetscCall(VpCudaPlan<KeptPlan<T, N, TRACES>>(&setup.patches->device, VP_PLAN_KEPT, 0, TRACES, &kept, [&](KeptPlan<T, N, TRACES> *p) {
      return KeptSetup<T, N, TRACES>(setup, c.lacks).Fill(beyond, p);
    }));
    PetscCall(Like(plan, c.edges, [=, &c](const auto &edges, const PatchList &list, cudaStream_t stream) {
      typedef std::decay_t<decltype(edges)> Edges;
      return LaunchPatches<Patch<T, N>>(KeepPatches<T, N, TRACES, Edges>, KeptShape<T, N, TRACES>::bytes, list.n, stream,
                                        WorkOn<T>(list, c.table, b, x), done, c.tables, kept->tables, edges);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Vary(const SweepSetup<T, N> &setup, const SweepPlan &plan, const CommonPatches<T, N> &c, VpForm form, unsigned done,
                             const void *b, void *const x[2])
  {
    const VpView      *view = setup.view;
    const VpPatchView *patches = setup.patches;
    VaryPlan<T, N>    *vary = NULL;

    PetscFunctionBegin;
    PetscCall(VpCudaPlan<VaryPlan<T, N>>(&patches->device, VP_PLAN_VARY, 0, 0, &vary,
                                         [=](VaryPlan<T, N> *p) { return VarySetup<T, N>(view, patches->unit).Fill(p); }));
    PetscCall(Like(plan, c.edges, [=, &c](const auto &edges, const PatchList &list, cudaStream_t stream) {
      typedef std::decay_t<decltype(edges)> Edges;
      const VaryWork<T> more = {form, (const T *)patches->coefficient, (const T *)patches->weight, (const int32_t *)list.numbers.p,
                                (T)patches->reaction};
      return LaunchPatches<Patch<T, N>>(VaryPatches<T, N, Edges>, VaryShape<T, N>::bytes, list.n, stream, WorkOn<T>(list, c.table, b, x),
                                        done, c.tables, vary->tables, edges, more);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  enum Which { NONE, REPLACE, KEEP, VARY };
  /* the kernel for common patches in this form */
  static Which Kernel(const SweepSetup<T, N> &setup, VpForm form, int lacks)
  {
    const bool varies = N >= VP_THIN_LEAST && (form == VP_FORM_GIVEN || (setup.patches->unit && form != VP_FORM_REPLACE));

    if (!setup.Uniform() || form == VP_FORM_GIVEN) return varies ? VARY : NONE;
    if (form == VP_FORM_REPLACE) return lacks ? NONE : REPLACE;
    return lacks ? KEEP : NONE;
  }

  /* Does common patches. Ensures: *plan says which are left, NULL: all */
  static PetscErrorCode Common(const VpView *view, const VpPatchView *patches, VpForm form, int32_t first, int32_t last, unsigned done,
                               const void *b, void *const x[2], SweepPlan **plan)
  {
    const SweepSetup<T, N> setup = {view, patches};
    CommonPatches<T, N>   *c = NULL;

    PetscFunctionBegin;
    *plan = NULL;
    if (!setup.Can()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(setup.Common(&c));
    const Which which = Kernel(setup, form, c->lacks);
    if (which == NONE) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaPlan<SweepPlan>(&patches->device, VP_PLAN_SWEEP, first, last, plan,
                                    [=](SweepPlan *p) { return setup.Fill(first, last - first, p); }));
    if (which == REPLACE) PetscCall(Replace(**plan, *c, done, b, x));
    else if (which == VARY) {
      if constexpr (N >= VP_THIN_LEAST) PetscCall(Vary(setup, **plan, *c, form, done, b, x));
    } else if (form == VP_FORM_LOCAL && c->lacks == 1) PetscCall(Keep<1>(setup, **plan, *c, done, b, x));
    else PetscCall(Keep<2>(setup, **plan, *c, done, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode OneColor(const VpView *view, const VpPatchView *patches, VpForm form, int32_t first, int32_t last, unsigned done,
                                 const void *b, void *const x[2])
  {
    const Field<T> f(view, NULL, NULL);
    const Sweep<T> w(patches, done, b, x);
    SweepPlan     *plan = NULL;

    PetscFunctionBegin;
    if (first >= last) PetscFunctionReturn(PETSC_SUCCESS);
    if constexpr (DIM == 3) PetscCall(Common(view, patches, form, first, last, done, b, x, &plan));
    if (plan) PetscCall(Rest(f, w, form, (const int32_t *)plan->rest.p, 0, plan->nrest));
    else PetscCall(Rest(f, w, form, NULL, first, last - first));
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

    PetscFunctionBegin;
    if (!count) PetscFunctionReturn(PETSC_SUCCESS);
    Settle<T><<<VpBlocks(count, cells), dim3(32, warps), 0, VpCudaStream>>>(Power(N, DIM), count, each, done, patches->cover, (T *)x[0],
                                                                            (const T *)x[1]);
    VpCudaLaunched("settle");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Packing(const VpPatchView *patches, int32_t n, const int32_t *list, unsigned done, void *const x[2], void *to)
  {
    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    Current<T><<<VpLoopingBlocks(n, 4), dim3(64, 4), 0, VpCudaStream>>>(Power(N, DIM), n, list, done, patches->cover, (const T *)x[0],
                                                                        (const T *)x[1], (T *)to);
    VpCudaLaunched("current values");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaSweepOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<SweepKernels>(precision, dim, degree, [ops](auto of) {
    ops->sweep = of.OneColor;
    ops->sweep_all = of.AtOnce;
    ops->settle = of.Settling;
    ops->current = of.Packing;
  });
}
