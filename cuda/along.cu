/* Dense matrices: one along one direction of a lattice of cells, where a thread makes one value, then others if there are many; and one
   times a whole vector, where a warp makes one value. */
#include "tensor.cuh"
#include "load.cuh"

struct Lattice {
  int32_t extent[3];
};

template <class T, int DIM, int N>
__global__ void Along(const __grid_constant__ Lattice lattice, int d, int32_t count, const int32_t *cell, const T *M, const T *w,
                      const T *x, T *y)
{
  constexpr int values = Power(N, DIM);
  const int     step = VpLineStride(d, lattice.extent[0], lattice.extent[0] * lattice.extent[1]), stride = VpLineStride(d, N, N * N);
  const int32_t cells = lattice.extent[d], m = cells * N;

  for (int32_t t = blockIdx.x * blockDim.x + threadIdx.x; t < count; t += gridDim.x * blockDim.x) {
    const int32_t at = t / values, p = at / step % cells, first = at - p * step;
    const int     k = t % values, i = k / stride % N, start = k - i * stride;
    const T      *row = M + (size_t)(p * N + i) * m;
    T             sum = T(0);

    for (int32_t c = 0; c < cells; c++) {
      const T *from = x + (size_t)cell[first + c * step] * values + start;
      UNROLL (int j = 0; j < N; j++) sum += __ldg(row + c * N + j) * from[j * stride];
    }
    const size_t to = (size_t)cell[at] * values + k;
    y[to] = w ? w[to] * sum : sum;
  }
}

/* A thread reads WIDE numbers at once, which divides the number of columns. */
template <int WIDE, class T>
__global__ void Product(int32_t rows, int32_t columns, const T *M, const T *x, T *y)
{
  typedef Pack<T, WIDE> Some;
  const int32_t         row = blockIdx.x * blockDim.y + threadIdx.y;

  if (row >= rows) return;
  const Some *from = (const Some *)(M + (size_t)row * columns), *by = (const Some *)x;
  T           sum[WIDE] = {}, all = 0;

#pragma unroll 4
  for (int32_t j = threadIdx.x; j < columns / WIDE; j += 32) {
    const Some a = from[j], b = by[j];
    UNROLL (int i = 0; i < WIDE; i++) sum[i] += a.a[i] * b.a[i];
  }
  UNROLL (int i = 0; i < WIDE; i++) all += sum[i];
  UNROLL (int other = 16; other; other /= 2) all += __shfl_xor_sync(~0u, all, other);
  if (!threadIdx.x) y[row] = all;
}

template <class T, int DIM, int N>
struct Lines {
  static constexpr int threads = 128; /* of a block */

  static PetscErrorCode Run(const VpView *, int d, const int32_t extent[3], const int32_t *cell, const void *M, const void *w,
                            const void *x, void *y)
  {
    const Lattice lattice = {{extent[0], extent[1], extent[2]}};
    const int32_t count = extent[0] * extent[1] * extent[2] * Power(N, DIM);

    PetscFunctionBegin;
    Along<T, DIM, N><<<VpLoopingBlocks(count, threads), threads, 0, VpCudaStream>>>(lattice, d, count, cell, (const T *)M, (const T *)w,
                                                                                    (const T *)x, (T *)y);
    VpCudaLaunched("along");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Whole(const VpView *, int32_t rows, int32_t columns, const void *M, const void *x, void *y)
  {
    const int  warps = 4; /* of a block */
    const auto kernel = columns % 4 ? Product<1, T> : Product<4, T>;

    PetscFunctionBegin;
    if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
    kernel<<<VpBlocks(rows, warps), dim3(32, warps), 0, VpCudaStream>>>(rows, columns, (const T *)M, (const T *)x, (T *)y);
    VpCudaLaunched("product");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaAlongOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Lines>(precision, dim, degree, [ops](auto of) {
    ops->along = of.Run;
    ops->product = of.Whole;
  });
}
