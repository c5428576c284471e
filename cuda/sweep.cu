/* One colour of the patch smoother. Patches of the view's commonest kind take the kernel of patch.cuh, all others that of anypatch.cuh. */
#include "anypatch.cuh"
#include "sweepall.cuh"

template <class T, int DIM, int N>
struct Smoother {
  typedef AnyShape<T, DIM, N> S;

  static PetscErrorCode Rest(const Field<T> &f, const Sweep<T> &w, VpForm form, const int32_t *list, int32_t first,
                             int32_t count)
  {
    const size_t bytes = S::bytes(KeepsValues(form));

    PetscFunctionBegin;
    if (!count) PetscFunctionReturn(PETSC_SUCCESS);
    VpCudaCall(cudaFuncSetAttribute(SweepPatches<T, DIM, N>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::bytes(true)));
    SweepPatches<T, DIM, N><<<(count + S::patches - 1) / S::patches, S::block, bytes, VpCudaStream>>>(f, w, form, list, first, count);
    VpCudaLaunched("sweep");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Apply(const VpView *view, const VpPatchView *patches, VpForm form, int32_t first, int32_t last, unsigned done,
                              const void *b, void *const x[2])
  {
    const Field<T> f(view, NULL, NULL);
    const Sweep<T> w(patches, done, b, x);

    PetscFunctionBegin;
    if (first >= last) PetscFunctionReturn(PETSC_SUCCESS);
    if constexpr (DIM == 3) {
      if (form == VP_FORM_REPLACE) {
        const SweepSetup<T, N> setup = {view, patches};
        SweepPlan             *plan = NULL;
        CommonPatches<T, N>   *common = NULL;

        PetscCall(VpCudaPlan<SweepPlan>(&patches->device, VP_PLAN_SWEEP, first, last, &plan,
                                        [=](SweepPlan *p) { return setup.Fill(first, last - first, p); }));
        if (plan->inside.n) {
          cudaStream_t side = VpCudaStream;

          PetscCall(setup.Common(&common));
          if (plan->edge.n) PetscCall(VpCudaFork(&side));
          PetscCall(LaunchPatches(common->tables, common->edges, WorkOn<T>(plan->edge, common->table, b, x), done, plan->edge.n, side));
          PetscCall(LaunchPatches(common->tables, NoEdges(), WorkOn<T>(plan->inside, common->table, b, x), done, plan->inside.n, VpCudaStream));
          if (plan->edge.n) PetscCall(VpCudaJoin());
          PetscCall(Rest(f, w, form, (const int32_t *)plan->rest.p, 0, plan->nrest));
          PetscFunctionReturn(PETSC_SUCCESS);
        }
      }
    }
    PetscCall(Rest(f, w, form, NULL, first, last - first));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode All(const VpView *view, const VpPatchView *patches, int n, const int order[], const int32_t start[], VpGhosts ghosts,
                            const void *b, void *const x[2], PetscBool *did)
  {
    PetscFunctionBegin;
    *did = PETSC_FALSE;
    if constexpr (DIM == 3) PetscCall((SweepAll<T, N>(view, patches, n, order, start, ghosts, b, x, did)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode VpCudaSweepOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  return VpCudaForKind(precision, dim, degree, [ops](auto kind) {
    typedef decltype(kind) K;

    ops->sweep = Smoother<typename K::Real, K::DIM, K::N>::Apply;
    ops->sweep_all = Smoother<typename K::Real, K::DIM, K::N>::All;
    return PETSC_SUCCESS;
  });
}
