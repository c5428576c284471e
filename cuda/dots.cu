/* Products of one vector with several others, in one pass over memory. */
#include "sum.cuh"

enum { MOST = 8 };
struct Vectors {
  const double *y[MOST];
};

/* partial[i][block] = the block's part of the sum of x[k] y[i][k] */
template <int COUNT>
static __global__ void __launch_bounds__(VP_THREADS) DotAll(size_t n, const double *x, const __grid_constant__ Vectors v, double *partial)
{
  double sum[COUNT] = {};

#pragma unroll 2
  for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < n; k += (size_t)gridDim.x * blockDim.x) {
    const double a = x[k];
    UNROLL (int i = 0; i < COUNT; i++) sum[i] += a * v.y[i][k];
  }
  UNROLL (int i = 0; i < COUNT; i++) {
    BlockSum(sum[i], partial + i * gridDim.x);
    __syncthreads();
  }
}

typedef void (*Kernel)(size_t, const double *, Vectors, double *);
static const Kernel kernel[MOST] = {DotAll<1>, DotAll<2>, DotAll<3>, DotAll<4>, DotAll<5>, DotAll<6>, DotAll<7>, DotAll<8>};

PetscErrorCode VpCudaDots(size_t n, const double *x, int count, const double *const y[], double *dots)
{
  const int blocks = PetscMax(1, PetscMin(1024, VpLoopingBlocks(n, 4 * VP_THREADS)));
  double   *partial;

  PetscFunctionBegin;
  PetscCall(VpBackendCuda.borrow((size_t)(blocks + 1) * MOST * sizeof(double), "products of vectors", (void **)&partial));
  for (int first = 0; first < count; first += MOST) {
    const int here = PetscMin(MOST, count - first);
    Vectors   v = {};

    for (int i = 0; i < here; i++) v.y[i] = y[first + i];
    PetscCall(VpCudaLaunch("products of vectors", kernel[here - 1], {blocks, VP_THREADS}, n, x, v, partial));
    PetscCall(VpCudaLaunch("sums of products", FinalSum, {here, VP_MAX_THREADS}, blocks, (const double *)partial, partial + blocks * MOST));
    PetscCall(VpCudaFetch(partial + blocks * MOST, (size_t)here * sizeof(double), dots + first));
  }
  PetscCall(VpBackendCuda.give_back(partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}
