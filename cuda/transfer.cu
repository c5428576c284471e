/* Prolongation and restriction. */
#include "tensor.cuh"

/* P and R of first halves, which those of second halves mirror */
template <class T, int N>
struct TransferPlans : VpPlans {
  Matrix<T, N> P, R;
};

/* how cells lie in their parents, and the matrices for unequal parts; a kernel parameter */
template <class T>
struct Lying {
  const uint8_t *corner;
  const int32_t *table;
  const T       *parts;

  Lying(const VpTransferView *view, const void *matrices) : corner(view->corner), table(view->table), parts((const T *)matrices)
  {
  }
};

/* how child q of a cell that halves in every direction lies in it */
__device__ __forceinline__ int HalvesOf(int q)
{
  return (q & 1) | (q & 2) << 1 | (q & 4) << 2;
}

/* in = (the cell's matrix in every direction) in, by ContractLines. `corner` says how the cell lies in its parent. HALVES: in every
   direction it is a half. */
template <class T, int DIM, int N, bool HALVES>
__device__ __forceinline__ void TransferCell(const Matrix<T, N> &half, const Lying<T> &lying, bool swaps, int corner, int32_t cell, T *s,
                                             int l, T (&in)[N])
{
  const auto contract = [&](int d, const T(&v)[N], T *p, int stride) {
    const int lies = corner >> 2 * d & 3;

    if (HALVES || lies <= VP_SECOND_HALF) ContractTo(half, lies == VP_SECOND_HALF, swaps, v, p, stride);
    else if (lies == VP_UNEQUAL) {
      const T *M = lying.parts + (size_t)lying.table[(size_t)cell * DIM + d] * (N * N);
#pragma unroll 1
      for (int i = 0; i < N; i++) {
        T sum = T(0);
        UNROLL (int j = 0; j < N; j++) sum += __ldg(M + i * N + j) * v[j];
        p[i * stride] = sum;
      }
    } else if (d == DIM - 1) {
      UNROLL (int i = 0; i < N; i++) p[i * stride] = v[i];
    }
  };

  ContractLines<T, DIM, N>(contract, s, l, in);
}

template <class T, int DIM, int N, bool HALVES>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  ProlongCells(const __grid_constant__ Matrix<T, N> P, const __grid_constant__ Lying<T> lying, bool swaps, int32_t first, int32_t last,
               bool add, const int32_t *parent, const T *xc, T *x)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = first + blockIdx.x * S::cells + slot;
  const bool                active = cell < last;
  T                         v[N] = {};

  if (active) {
    const T *p = xc + (size_t)parent[cell] * S::values + l;
    UNROLL (int i = 0; i < N; i++) v[i] = p[i * S::lines];
  }
  TransferCell<T, DIM, N, HALVES>(P, lying, swaps, active ? lying.corner[cell] : 0, cell, s + slot * S::size, l, v);
  if (active) {
    T *p = x + (size_t)cell * S::values + l;
    if (add) {
      UNROLL (int i = 0; i < N; i++) v[i] += p[i * S::lines];
    }
    UNROLL (int i = 0; i < N; i++) p[i * S::lines] = v[i];
  }
}

template <class T, int DIM, int N, bool HALVES>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  RestrictCells(const __grid_constant__ Matrix<T, N> R, const __grid_constant__ Lying<T> lying, bool swaps, int merged, int32_t count,
                const int32_t *child, const T *b, T *bc)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              s[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             cell = blockIdx.x * S::cells + slot;
  const bool                active = cell < count;
  __shared__ int            some; /* whether some cell of the block has children; of halves there are all or none */
  T                         sum[N] = {};

  if (!threadIdx.x) some = !HALVES;
  __syncthreads();
  if (HALVES && active && child[(size_t)cell << DIM] >= 0) some = 1;
  __syncthreads();
#pragma unroll 1
  for (int q = 0; some && q < 1 << DIM; q++) {
    int32_t from = -1;
    int     corner = HalvesOf(q);
    T       v[N] = {};

    if (!HALVES && q & ~merged) continue;
    if (active) from = child[((size_t)cell << DIM) + q];
    if (from >= 0) {
      const T *p = b + (size_t)from * S::values + l;
      UNROLL (int i = 0; i < N; i++) v[i] = p[i * S::lines];
      if (!HALVES) corner = lying.corner[from];
    }
    TransferCell<T, DIM, N, HALVES>(R, lying, swaps, corner, from, s + slot * S::size, l, v);
    UNROLL (int i = 0; i < N; i++) sum[i] += v[i];
  }
  if (active) {
    T *p = bc + (size_t)cell * S::values + l;
    UNROLL (int i = 0; i < N; i++) p[i * S::lines] = sum[i];
  }
}

template <class T, int DIM, int N>
struct Transfers {
  typedef CellShape<DIM, N>   S;
  typedef TransferPlans<T, N> Plans;

  static PetscErrorCode PrepareTransfer(VpTransferView *view)
  {
    std::unique_ptr<Plans> plans(new Plans());

    PetscFunctionBegin;
    PetscCall(VpCudaFetchEntry(view->P, 0, plans->P));
    PetscCall(VpCudaFetchEntry(view->R, 0, plans->R));
    view->plans = plans.release();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode ProlongRange(const VpTransferView *view, int32_t first, int32_t last, PetscBool add, const void *xc, void *x)
  {
    return VpCudaLaunch("prolong", view->halves ? ProlongCells<T, DIM, N, true> : ProlongCells<T, DIM, N, false>,
                        {VpBlocks(last - first, S::cells), S::threads}, VpCudaPlans<Plans>(view).P, Lying<T>(view, view->P),
                        (bool)view->reverse, first, last, add, view->parent, (const T *)xc, (T *)x);
  }

  static PetscErrorCode RestrictAll(const VpTransferView *view, const void *b, void *bc)
  {
    return VpCudaLaunch("restrict", view->halves ? RestrictCells<T, DIM, N, true> : RestrictCells<T, DIM, N, false>,
                        {VpBlocks(view->ncoarse, S::cells), S::threads}, VpCudaPlans<Plans>(view).R, Lying<T>(view, view->R),
                        (bool)view->reverse, view->merged, view->ncoarse, view->child, (const T *)b, (T *)bc);
  }
};

void VpCudaTransferOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Transfers>(precision, dim, degree, [ops](auto of) {
    ops->prepare_transfer = of.PrepareTransfer;
    ops->prolong = of.ProlongRange;
    ops->restrict_ = of.RestrictAll;
  });
}
