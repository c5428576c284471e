/* Single cells, solved by the tensor product of their own blocks. */
#include "plan/viewplans.cuh"

/* in = (M in every direction) in, by ContractLines with matrices in memory */
template <class T, int DIM, int N>
__device__ __forceinline__ void ContractCell(const T *const (&M)[DIM], T *s, int l, T (&in)[N])
{
  ContractLines<T, DIM, N>(
    [&M](int d, const T(&v)[N], T *p, int stride) {
#pragma unroll 1
      for (int i = 0; i < N; i++) {
        T sum = T(0);
        ForRow<N>(M[d] + i * N, [&](int j, T a) { sum += a * v[j]; });
        p[i * stride] = sum;
      }
    },
    s, l, in);
}

template <class T, int DIM, int N, class Sides>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  SolveCells(const __grid_constant__ VpCellView cells, const __grid_constant__ Field<T> f, int32_t first, int32_t last, const T *b, T *x)
{
  typedef CellShape<DIM, N>    S;
  typedef CellLines<T, DIM, N> Lines;
  __shared__ T                 X[S::cells * S::size], Y[S::cells * S::size];
  __shared__ __align__(VP_WIDE_BYTES) T line[S::cells * Lines::size];
  const int                             slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t                         at = first + blockIdx.x * S::cells + slot, cell = cells.cell[at < last ? at : last - 1];
  const T                               weight = cells.weight ? ((const T *)cells.weight)[cell] : T(1);
  const size_t                          start = (size_t)cell * S::values + l;
  const T                              *M[DIM];
  T                                     v[N], sum = (T)cells.reaction * weight;

  UNROLL (int d = 0; d < DIM; d++) M[d] = (const T *)cells.table + (size_t)cells.type[(size_t)cell * DIM + d] * VpBlockSize(N);
  LoadCell<T, DIM, N>(f.Cell(cell, S::values), X + slot * S::size, l);
  ApplyCell<T, DIM, N>(f, cell, X + slot * S::size, Y + slot * S::size, line + slot * Lines::size, l, v, Sides());
  UNROLL (int i = 0; i < N; i++) v[i] = b[start + i * S::lines] - v[i];
  __syncthreads();
  ContractCell<T, DIM, N>(M, Y + slot * S::size, l, v);
  sum += __ldg(M[0] + VpLambdaAt(N) + l % N);
  if (DIM == 3) sum += __ldg(M[1] + VpLambdaAt(N) + l / N);
  UNROLL (int i = 0; i < N; i++) v[i] *= weight / (sum + __ldg(M[S::slow] + VpLambdaAt(N) + i));
  UNROLL (int d = 0; d < DIM; d++) M[d] += VpBackAt(N);
  __syncthreads();
  ContractCell<T, DIM, N>(M, Y + slot * S::size, l, v);
  if (at < last) {
    const T *old = X + slot * S::size + LineStart<DIM>(S::slow, N, l, S::sy, S::sz);
    UNROLL (int i = 0; i < N; i++) x[start + i * S::lines] = old[i * VpLineStride(S::slow, S::sy, S::sz)] + v[i];
  }
}

template <class T, int DIM, int N>
struct Cells {
  typedef CellShape<DIM, N> S;

  static PetscErrorCode SolveRange(const VpView *view, const VpCellView *cells, int32_t first, int32_t last, const void *ghost,
                                   const void *b, void *x)
  {
    Field<T> f(view, x, ghost);

    PetscFunctionBegin;
    PetscCall(VpCudaFieldWithLines(view, x, ghost, &f));
    PetscCall(VpCudaLaunch("cells", view->turn ? SolveCells<T, DIM, N, TurnedSides<T>> : SolveCells<T, DIM, N, NoHangingTraces<T>>,
                           {VpBlocks(last - first, S::cells), S::threads}, *cells, f, first, last, (const T *)b, (T *)x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaCellsOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Cells>(precision, dim, degree, [ops](auto of) { ops->solve_cells = of.SolveRange; });
}
