/* The last step of sums that the host waits for. */
#include "sum.cuh"

enum { AT_ONCE = 8 };

PetscErrorCode VpCudaSums(int n, int blocks, const double *partial, double *sums)
{
  static double *host; /* page-locked: the kernel writes there, so that nothing is left to copy */

  PetscFunctionBegin;
  if (!host) PetscCall(VpBackendCuda.alloc_host(AT_ONCE * sizeof(double), "sums", (void **)&host));
  for (int first = 0; first < n; first += AT_ONCE) {
    const int here = PetscMin(AT_ONCE, n - first);

    PetscCall(VpCudaLaunch("sums", FinalSum, {here, VP_MAX_THREADS}, blocks, partial + (size_t)first * blocks, host));
    PetscCall(PetscLogGpuToCpu(here * sizeof(double)));
    VpCudaCall(cudaStreamSynchronize(VpCudaStream));
    PetscCall(PetscArraycpy(sums + first, host, here));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
