/* The GPU as a backend: memory on the current device, one stream, the kernels by precision, dimension and degree. */
#include "kernel.cuh"

cudaStream_t VpCudaStream = NULL;

PetscErrorCode VpCudaSetStream(void *stream)
{
  PetscFunctionBegin;
  VpCudaStream = (cudaStream_t)stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaAvailable(PetscBool *available)
{
  int count = 0;

  PetscFunctionBegin;
  *available = (PetscBool)(cudaGetDeviceCount(&count) == cudaSuccess && count > 0);
  (void)cudaGetLastError();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaAlloc(size_t bytes, const char *what, void **p)
{
  cudaError_t error = cudaMalloc(p, bytes ? bytes : 1);

  PetscFunctionBegin;
  if (error == cudaErrorMemoryAllocation) {
    size_t free = 0, total = 0;

    (void)cudaGetLastError();
    (void)cudaMemGetInfo(&free, &total);
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No device memory for %s: %.0f bytes asked for, %.0f of %.0f free", what, (double)bytes,
            (double)free, (double)total);
  }
  VpCudaCall(error);
  VpCudaCall(cudaMemsetAsync(*p, 0, bytes, VpCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Release(void *p)
{
  PetscFunctionBegin;
  VpCudaCall(cudaFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Upload(const void *host, size_t bytes, void *p)
{
  PetscFunctionBegin;
  if (bytes) VpCudaCall(cudaMemcpyAsync(p, host, bytes, cudaMemcpyHostToDevice, VpCudaStream));
  VpCudaCall(cudaStreamSynchronize(VpCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaFetch(const void *p, size_t bytes, void *host)
{
  PetscFunctionBegin;
  if (bytes) VpCudaCall(cudaMemcpyAsync(host, p, bytes, cudaMemcpyDeviceToHost, VpCudaStream));
  VpCudaCall(cudaStreamSynchronize(VpCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaPlace(const void *host, size_t bytes, const char *what, VpArray *array)
{
  PetscFunctionBegin;
  PetscCall(VpCudaAlloc(bytes, what, &array->p));
  PetscCall(Upload(host, bytes, array->p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* lives as long as the process: small, and needed until its end */
static cudaStream_t side_stream = NULL;
static cudaEvent_t  forked, joined;

PetscErrorCode VpCudaFork(cudaStream_t *side)
{
  PetscFunctionBegin;
  if (!side_stream) {
    VpCudaCall(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    VpCudaCall(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    VpCudaCall(cudaStreamCreateWithFlags(&side_stream, cudaStreamNonBlocking));
  }
  VpCudaCall(cudaEventRecord(forked, VpCudaStream));
  VpCudaCall(cudaStreamWaitEvent(side_stream, forked, 0));
  *side = side_stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaJoin(void)
{
  PetscFunctionBegin;
  VpCudaCall(cudaEventRecord(joined, side_stream));
  VpCudaCall(cudaStreamWaitEvent(VpCudaStream, joined, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zero(void *p, size_t bytes)
{
  PetscFunctionBegin;
  if (bytes) VpCudaCall(cudaMemsetAsync(p, 0, bytes, VpCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReleaseView(VpView *view)
{
  PetscFunctionBegin;
  for (VpPlan *p = (VpPlan *)view->device, *next; p; p = next) {
    next = p->next;
    delete p;
  }
  view->device = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL where there is none */
static const VpOps *Ops(VpPrecision precision, int dim, int degree)
{
  static VpOps table[2][2][VP_MAX_DEGREE];
  VpOps       *ops;

  if (dim < 2 || dim > 3 || degree < 1 || degree > VP_MAX_DEGREE) return NULL;
  ops = &table[precision == VP_DOUBLE][dim - 2][degree - 1];
  if (!ops->apply) {
    if (VpCudaOperatorOps(precision, dim, degree, ops) || VpCudaSweepOps(precision, dim, degree, ops)) return NULL;
    if (VpCudaTransferOps(precision, dim, degree, ops) || VpCudaConvertOps(precision, dim, degree, ops)) return NULL;
  }
  return ops;
}

const VpBackend VpBackendCuda = {"cuda", VpCudaAlloc, Release, Upload, VpCudaFetch, Zero, Ops, ReleaseView};
