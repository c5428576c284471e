/* Makes the plans of a view of cells. */
#include "viewplans.cuh"

template <class T, int DIM, int N>
struct ViewPreparation {
  static PetscErrorCode Prepare(VpView *view)
  {
    PetscFunctionBegin;
    view->plans = new ViewPlans<T, DIM, N>();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaPlansOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<ViewPreparation>(precision, dim, degree, [ops](auto of) { ops->prepare = of.Prepare; });
}
