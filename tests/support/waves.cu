/* The coefficient of bench_gpu -bench_waves as a function of device memory. */
#include "../../src/compat.h"
#include <vpatchdg.h>

static __global__ void FillWaves(PetscInt dim, PetscInt n, const PetscReal *x, PetscScalar *a)
{
  const PetscInt i = blockIdx.x * blockDim.x + threadIdx.x;
  PetscReal      product = 0.9;

  if (i >= n) return;
  for (PetscInt d = 0; d < dim; d++) product *= sinpi(4 * x[i * dim + d]);
  a[i] = 1 + product;
}

extern "C" PetscErrorCode WavesOnDevice(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  enum { THREADS = 256 };

  FillWaves<<<(n + THREADS - 1) / THREADS, THREADS>>>(dim, n, x, a);
  return cudaGetLastError() == cudaSuccess ? PETSC_SUCCESS : PETSC_ERR_GPU;
}
