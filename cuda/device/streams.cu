/* Streams next to the backend's own, for concurrent work. */
#include "kernel.cuh"

/* They live as long as the process: small, and needed until its end. */
enum { BESIDE, ASIDE, STREAMS };
static struct {
  cudaStream_t stream;
  cudaEvent_t  forked, joined;
} beside[STREAMS];

static PetscErrorCode ForkStream(int i)
{
  auto *b = &beside[i];

  PetscFunctionBegin;
  if (!b->stream) {
    VpCudaCall(cudaEventCreateWithFlags(&b->forked, cudaEventDisableTiming));
    VpCudaCall(cudaEventCreateWithFlags(&b->joined, cudaEventDisableTiming));
    VpCudaCall(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking));
  }
  VpCudaCall(cudaEventRecord(b->forked, VpCudaStream));
  VpCudaCall(cudaStreamWaitEvent(b->stream, b->forked, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JoinStream(int i)
{
  PetscFunctionBegin;
  VpCudaCall(cudaEventRecord(beside[i].joined, beside[i].stream));
  VpCudaCall(cudaStreamWaitEvent(VpCudaStream, beside[i].joined, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaFork(cudaStream_t *side)
{
  PetscFunctionBegin;
  PetscCall(ForkStream(BESIDE));
  *side = beside[BESIDE].stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaJoin(void)
{
  return JoinStream(BESIDE);
}

PetscErrorCode VpCudaAside(PetscErrorCode (*work)(void *), void *context)
{
  const cudaStream_t outer = VpCudaStream;
  PetscErrorCode     error;

  PetscFunctionBegin;
  PetscCall(ForkStream(ASIDE));
  VpCudaStream = beside[ASIDE].stream;
  error = work(context);
  VpCudaStream = outer;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaRejoin(void)
{
  return JoinStream(ASIDE);
}
