/* One vector with several others, in one pass over memory: products and sums of multiples. And the last step of sums that the host waits
   for. */
#include "sum.cuh"

enum { MOST = 8, BLOCKS = 1024 }; /* most vectors and most blocks of a launch; these blocks keep a device busy and make few sums */

PetscErrorCode VpCudaSums(int n, int blocks, const double *partial, double *sums)
{
  static double *host; /* page-locked: the kernel writes there, so that nothing is left to copy */

  PetscFunctionBegin;
  if (!host) PetscCall(VpBackendCuda.alloc_host(MOST * sizeof(double), "sums", (void **)&host));
  for (int first = 0; first < n; first += MOST) {
    const int here = PetscMin(MOST, n - first);

    PetscCall(VpCudaLaunch("sums", FinalSum, {here, VP_MAX_THREADS}, blocks, partial + (size_t)first * blocks, host));
    PetscCall(PetscLogGpuToCpu(here * sizeof(double)));
    VpCudaCall(cudaStreamSynchronize(VpCudaStream));
    PetscCall(PetscArraycpy(sums + first, host, here));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Vectors {
  const double *y[MOST];
  double        a[MOST];
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

/* x[k] += the sum over i of a[i] y[i][k] */
template <int COUNT>
static __global__ void __launch_bounds__(VP_THREADS) AddAll(size_t n, const __grid_constant__ Vectors v, double *x)
{
#pragma unroll 2
  for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < n; k += (size_t)gridDim.x * blockDim.x) {
    double sum = x[k];
    UNROLL (int i = 0; i < COUNT; i++) sum += v.a[i] * v.y[i][k];
    x[k] = sum;
  }
}

static __global__ void __launch_bounds__(VP_THREADS)
  Descend(size_t n, double alpha, const double *p, const double *c, double *x, double *r, double *partial)
{
  double sum = 0;

#pragma unroll 2
  for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < n; k += (size_t)gridDim.x * blockDim.x) {
    const double rest = r[k] - alpha * c[k];

    x[k] += alpha * p[k];
    r[k] = rest;
    sum += rest * rest;
  }
  BlockSum(sum, partial);
}

typedef void (*Dot)(size_t, const double *, Vectors, double *);
typedef void (*Add)(size_t, Vectors, double *);
static const Dot dot[MOST] = {DotAll<1>, DotAll<2>, DotAll<3>, DotAll<4>, DotAll<5>, DotAll<6>, DotAll<7>, DotAll<8>};
static const Add add[MOST] = {AddAll<1>, AddAll<2>, AddAll<3>, AddAll<4>, AddAll<5>, AddAll<6>, AddAll<7>, AddAll<8>};

static int BlocksFor(size_t n)
{
  return PetscMax(1, PetscMin(BLOCKS, VpLoopingBlocks(n, 4 * VP_THREADS)));
}

PetscErrorCode VpCudaMaxpy(size_t n, double *x, int count, const double a[], const double *const y[])
{
  PetscFunctionBegin;
  for (int first = 0; first < count; first += MOST) {
    const int here = PetscMin(MOST, count - first);
    Vectors   v = {};

    for (int i = 0; i < here; i++) {
      v.y[i] = y[first + i];
      v.a[i] = a[first + i];
    }
    PetscCall(VpCudaLaunch("sums of vectors", add[here - 1], {BlocksFor(n), VP_THREADS}, n, v, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaDots(size_t n, const double *x, int count, const double *const y[], double *dots)
{
  const int blocks = BlocksFor(n);
  double   *partial;

  PetscFunctionBegin;
  PetscCall(VpBackendCuda.borrow((size_t)blocks * MOST * sizeof(double), "products of vectors", (void **)&partial));
  for (int first = 0; first < count; first += MOST) {
    const int here = PetscMin(MOST, count - first);
    Vectors   v = {};

    for (int i = 0; i < here; i++) v.y[i] = y[first + i];
    PetscCall(VpCudaLaunch("products of vectors", dot[here - 1], {blocks, VP_THREADS}, n, x, v, partial));
    PetscCall(VpCudaSums(here, blocks, partial, dots + first));
  }
  PetscCall(VpBackendCuda.give_back(partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaDescend(size_t n, double alpha, const double *p, const double *c, double *x, double *r, double *square)
{
  const int blocks = BlocksFor(n);
  double   *partial;

  PetscFunctionBegin;
  PetscCall(VpBackendCuda.borrow((size_t)blocks * sizeof(double), "products of vectors", (void **)&partial));
  PetscCall(VpCudaLaunch("descend", Descend, {blocks, VP_THREADS}, n, alpha, p, c, x, r, partial));
  PetscCall(VpCudaSums(1, blocks, partial, square));
  PetscCall(VpBackendCuda.give_back(partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}
