/* The arithmetic of a line search: products in L2, and the step that follows from them without the host. */
#include "tensor.cuh"
#include "device/sum.cuh"
#include "plan/viewplans.cuh"

/* partial[0][blocks] and partial[1][blocks] = the blocks' parts of the L2 products of e with r and with w; M is the basis' mass. */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  Dots(const __grid_constant__ Matrix<T, N> M, int32_t count, const T *e, const T *r, const T *w, double *partial)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 l = threadIdx.x % S::lines, slot = threadIdx.x / S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot;
  const size_t              at = (size_t)cell * S::values + l;
  double                    sum[2] = {0, 0};
  T                         v[N] = {};

  if (cell < count) {
    UNROLL (int i = 0; i < N; i++) v[i] = e[at + i * S::lines];
  }
  ContractCell<T, DIM, N>(M, s + slot * S::size, l, v);
  if (cell < count) {
    UNROLL (int i = 0; i < N; i++) {
      sum[0] += (double)v[i] * (double)r[at + i * S::lines];
      sum[1] += (double)v[i] * (double)w[at + i * S::lines];
    }
  }
  BlockSum(sum[0], partial);
  __syncthreads();
  BlockSum(sum[1], partial + gridDim.x);
}

template <class T>
__global__ void TakeStep(size_t n, double sign, const double *dots, const T *w, const T *z, T *y)
{
  const T t = (T)(sign * VpStepLength(dots));

  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    y[i] = (z ? z[i] : T(0)) + t * w[i];
}

template <class T, int DIM, int N>
struct LineSearch {
  typedef CellShape<DIM, N> S;

  static PetscErrorCode Plan(const VpView *view, DotsPlan<T, N> **plan)
  {
    auto fill = [view](DotsPlan<T, N> *p) {
      PetscFunctionBegin;
      for (int i = 0; i < N * N; i++) p->mass.a[i] = (T)view->basis->mass[i];
      p->blocks = VpBlocks(view->nown, S::cells);
      PetscCall(VpCudaAlloc(2 * (size_t)p->blocks * sizeof(double), "partial dot products", &p->partial.p));
      PetscFunctionReturn(PETSC_SUCCESS);
    };

    return VpCudaPlans<ViewPlans<T, DIM, N>>(view).dots.Get(plan, fill);
  }

  static PetscErrorCode Products(const VpView *view, const void *e, const void *r, const void *w, double *dots)
  {
    DotsPlan<T, N> *plan = NULL;

    PetscFunctionBegin;
    PetscCall(Plan(view, &plan));
    PetscCall(VpCudaLaunch("dots", Dots<T, DIM, N>, {plan->blocks, S::threads}, plan->mass, view->nown, (const T *)e, (const T *)r,
                           (const T *)w, (double *)plan->partial.p));
    PetscCall(VpCudaLaunch("sums of dots", FinalSum, {2, VP_MAX_THREADS}, plan->blocks, (double *)plan->partial.p, dots));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Step(const VpView *, int32_t cells, double sign, const double *dots, const void *w, const void *z, void *y)
  {
    const size_t n = (size_t)cells * S::values;

    return VpCudaLaunch("step", TakeStep<T>, {VpLoopingBlocks(n, VP_THREADS), VP_THREADS}, n, sign, dots, (const T *)w, (const T *)z,
                        (T *)y);
  }
};

void VpCudaLineSearchOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<LineSearch>(precision, dim, degree, [ops](auto of) {
    ops->dots = of.Products;
    ops->step = of.Step;
  });
}
