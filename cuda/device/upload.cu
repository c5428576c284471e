/* Copies arrays of the host to the device, and back. With several threads large arrays go through two page-locked buffers: threads fill or
   empty one buffer while the other one travels. */
#include "kernel.cuh"
extern "C" {
#include "../../src/base/threads.h"
}

enum { STAGE = 16 << 20, LEAST = 1 << 20 }; /* bytes of a buffer; more bytes are a large array */

static struct {
  char       *host;
  cudaEvent_t sent;
} stage[2];

/* Releases the buffers. After an error of CUDA this is impossible, and PetscFinalize goes on. */
static PetscErrorCode CloseStage(void)
{
  for (int i = 0; i < 2; i++) {
    if (stage[i].host) (void)cudaFreeHost(stage[i].host);
    if (stage[i].sent) (void)cudaEventDestroy(stage[i].sent);
    stage[i] = {};
  }
  (void)cudaGetLastError();
  return PETSC_SUCCESS;
}

/* Allocates the buffers. *open = false if there is no page-locked memory */
static PetscErrorCode OpenStage(bool *open)
{
  PetscFunctionBegin;
  *open = true;
  if (stage[1].sent) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2 && *open; i++)
    *open = cudaMallocHost(&stage[i].host, STAGE) == cudaSuccess &&
            cudaEventCreateWithFlags(&stage[i].sent, cudaEventDisableTiming) == cudaSuccess;
  if (*open) PetscCall(PetscRegisterFinalize(CloseStage));
  else PetscCall(CloseStage());
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Piece {
  const char *from;
  char       *to;
  size_t      bytes;
};

static PetscErrorCode UploadStaged(const char *host, size_t bytes, char *p)
{
  PetscFunctionBegin;
  for (size_t at = 0, i = 0; at < bytes; at += STAGE, i = 1 - i) {
    Piece piece = {host + at, stage[i].host, PetscMin(bytes - at, (size_t)STAGE)};

    VpCudaCall(cudaEventSynchronize(stage[i].sent));
    VpLoopCopy(piece.to, piece.from, piece.bytes);
    VpCudaCall(cudaMemcpyAsync(p + at, piece.to, piece.bytes, cudaMemcpyHostToDevice, VpCudaStream));
    VpCudaCall(cudaEventRecord(stage[i].sent, VpCudaStream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies a piece out of its buffer, when it has come. */
static PetscErrorCode TakePiece(int i, Piece *piece)
{
  PetscFunctionBegin;
  VpCudaCall(cudaEventSynchronize(stage[i].sent));
  VpLoopCopy(piece->to, piece->from, piece->bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FetchStaged(const char *p, size_t bytes, char *host)
{
  Piece piece[2];
  int   i = 0;

  PetscFunctionBegin;
  for (size_t at = 0; at < bytes; at += STAGE, i = 1 - i) {
    piece[i] = {stage[i].host, host + at, PetscMin(bytes - at, (size_t)STAGE)};
    VpCudaCall(cudaMemcpyAsync(stage[i].host, p + at, piece[i].bytes, cudaMemcpyDeviceToHost, VpCudaStream));
    VpCudaCall(cudaEventRecord(stage[i].sent, VpCudaStream));
    if (at) PetscCall(TakePiece(1 - i, &piece[1 - i]));
  }
  PetscCall(TakePiece(1 - i, &piece[1 - i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaFetch(const void *p, size_t bytes, void *host)
{
  bool staged = VpThreads > 1 && bytes > LEAST;

  PetscFunctionBegin;
  if (staged) PetscCall(OpenStage(&staged));
  if (staged) PetscCall(FetchStaged((const char *)p, bytes, (char *)host));
  else if (bytes) VpCudaCall(cudaMemcpyAsync(host, p, bytes, cudaMemcpyDeviceToHost, VpCudaStream));
  if (bytes == sizeof(PetscScalar)) PetscCall(PetscLogGpuToCpuScalar(bytes));
  else if (bytes) PetscCall(PetscLogGpuToCpu(bytes));
  VpCudaCall(cudaStreamSynchronize(VpCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaUpload(const void *host, size_t bytes, void *p)
{
  bool staged = VpThreads > 1 && bytes > LEAST;

  PetscFunctionBegin;
  if (staged) PetscCall(OpenStage(&staged));
  if (staged) PetscCall(UploadStaged((const char *)host, bytes, (char *)p));
  else if (bytes) VpCudaCall(cudaMemcpyAsync(p, host, bytes, cudaMemcpyHostToDevice, VpCudaStream));
  if (bytes) PetscCall(PetscLogCpuToGpu(bytes));
  VpCudaCall(cudaStreamSynchronize(VpCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
