/* Prolongation and restriction. */
#include "tensor.cuh"

/* P and R of the first child; those of the second are their mirror images */
template <class T, int N>
struct TransferPlan : VpPlan {
  Matrix<T, N> P, R;
  bool         swaps;
};

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  Prolong(const __grid_constant__ Matrix<T, N> P, bool swaps, int32_t first, int32_t last, bool add, const int32_t *parent,
          const uint8_t *corner, const T *xc, T *x)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = first + blockIdx.x * S::cells + slot;
  const bool                active = cell < last;
  T                         v[N];

  if (active) {
    const T *p = xc + (size_t)parent[cell] * S::values + l;
    UNROLL (int i = 0; i < N; i++) v[i] = p[i * S::lines];
  }
  ContractCell<T, DIM, N>(P, active ? corner[cell] : 0, swaps, s + slot * S::size, l, v);
  if (active) {
    T *p = x + (size_t)cell * S::values + l;
    if (add) {
      UNROLL (int i = 0; i < N; i++) v[i] += p[i * S::lines];
    }
    UNROLL (int i = 0; i < N; i++) p[i * S::lines] = v[i];
  }
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  Restrict(const __grid_constant__ Matrix<T, N> R, bool swaps, int32_t count, const int32_t *child, const T *b, T *bc)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot;
  const bool                active = cell < count;
  T                         sum[N] = {};

#pragma unroll 1
  for (int q = 0; q < 1 << DIM; q++) {
    T v[N];

    if (active) {
      const T *p = b + (size_t)child[((size_t)cell << DIM) + q] * S::values + l;
      UNROLL (int i = 0; i < N; i++) v[i] = p[i * S::lines];
    }
    ContractCell<T, DIM, N>(R, q, swaps, s + slot * S::size, l, v);
    UNROLL (int i = 0; i < N; i++) sum[i] += v[i];
  }
  if (active) {
    T *p = bc + (size_t)cell * S::values + l;
    UNROLL (int i = 0; i < N; i++) p[i * S::lines] = sum[i];
  }
}

template <class T, int N>
static PetscErrorCode Plan(const VpTransferView *view, TransferPlan<T, N> **plan)
{
  auto fill = [view](TransferPlan<T, N> *p) {
    PetscFunctionBegin;
    p->swaps = view->reverse;
    PetscCall(VpCudaFetch(view->P, sizeof(p->P), &p->P));
    PetscCall(VpCudaFetch(view->R, sizeof(p->R), &p->R));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(VpCudaPlan<TransferPlan<T, N>>(&view->device, VP_PLAN_TRANSFER, 0, 0, plan, fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, int DIM, int N>
struct Transfers {
  typedef CellShape<DIM, N> S;

  static PetscErrorCode Prolongation(const VpTransferView *view, int32_t first, int32_t last, PetscBool add, const void *xc, void *x)
  {
    TransferPlan<T, N> *plan = NULL;

    PetscFunctionBegin;
    if (first >= last) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Plan(view, &plan));
    Prolong<T, DIM, N><<<VpBlocks(last - first, S::cells), S::threads, 0, VpCudaStream>>>(
      plan->P, plan->swaps, first, last, add, view->parent, view->corner, (const T *)xc, (T *)x);
    VpCudaLaunched("prolong");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Restriction(const VpTransferView *view, const void *b, void *bc)
  {
    TransferPlan<T, N> *plan = NULL;

    PetscFunctionBegin;
    if (!view->ncoarse) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Plan(view, &plan));
    Restrict<T, DIM, N><<<VpBlocks(view->ncoarse, S::cells), S::threads, 0, VpCudaStream>>>(plan->R, plan->swaps, view->ncoarse,
                                                                                            view->child, (const T *)b, (T *)bc);
    VpCudaLaunched("restrict");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaTransferOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Transfers>(precision, dim, degree, [ops](auto of) {
    ops->prolong = of.Prolongation;
    ops->restrict_ = of.Restriction;
  });
}
