/* What links of all kinds share: a stream of their own, on which messages are packed, sent, received and unpacked. */
#include "link.cuh"
#include "../../src/collective.h"
#include <cstring>

PetscErrorCode VpStreamLinkCreate(StreamLink *link)
{
  int first;

  PetscFunctionBegin;
  VpCudaCall(cudaDeviceGetStreamPriorityRange(NULL, &first));
  VpCudaCall(cudaStreamCreateWithPriority(&link->stream, cudaStreamNonBlocking, first)); /* goes before the work that hides it */
  VpCudaCall(cudaEventCreateWithFlags(&link->begun, cudaEventDisableTiming));
  VpCudaCall(cudaEventCreateWithFlags(&link->ended, cudaEventDisableTiming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpStreamLinkDestroy(StreamLink *link)
{
  (void)cudaEventDestroy(link->begun);
  (void)cudaEventDestroy(link->ended);
  (void)cudaStreamDestroy(link->stream);
}

/* Packs or unpacks on the link's stream. */
static PetscErrorCode PackOnStream(const StreamLink *link, const VpMessages *m, int end, const void *from, void *to)
{
  const cudaStream_t stream = VpCudaStream;
  PetscErrorCode     error;

  PetscFunctionBegin;
  VpCudaStream = link->stream;
  error = m->pack(m, end, from, to);
  VpCudaStream = stream;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStreamLinkPack(const StreamLink *link, const VpMessages *m, const void *roots)
{
  PetscFunctionBegin;
  VpCudaCall(cudaEventRecord(link->begun, VpCudaStream));
  VpCudaCall(cudaStreamWaitEvent(link->stream, link->begun, 0));
  if (roots) PetscCall(PackOnStream(link, m, VP_OUT, roots, m->data[VP_OUT]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStreamLinkUnpack(const StreamLink *link, const VpMessages *m, void *leaves)
{
  PetscFunctionBegin;
  PetscCall(PackOnStream(link, m, VP_IN, m->data[VP_IN], leaves));
  VpCudaCall(cudaEventRecord(link->ended, link->stream));
  VpCudaCall(cudaStreamWaitEvent(VpCudaStream, link->ended, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLinkFailure(MPI_Comm comm, int none, int *code)
{
  PetscMPIInt first;

  PetscFunctionBegin;
  PetscCall(VpFirstRank(comm, (PetscBool)(*code != none), &first));
  if (first != INT_MAX) PetscCallMPI(MPI_Bcast(code, 1, MPI_INT, first, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *own = whether every rank has its own device */
static PetscErrorCode OwnDevices(MPI_Comm comm, bool *own)
{
  cudaDeviceProp properties;
  PetscMPIInt    size;
  char          *all;
  int            device;

  PetscFunctionBegin;
  VpCudaCall(cudaGetDevice(&device));
  VpCudaCall(cudaGetDeviceProperties(&properties, device));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(16 * size, &all));
  PetscCallMPI(MPI_Allgather(&properties.uuid, 16, MPI_CHAR, all, 16, MPI_CHAR, comm));
  *own = true;
  for (int i = 0; i < size; i++)
    for (int j = 0; j < i; j++) *own = *own && memcmp(all + 16 * i, all + 16 * j, 16);
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLinkOnce(MPI_Comm comm, int *key, VpLinkCreate *create, MPI_Comm_delete_attr_function *destroy, VpLink *link,
                          const char **why)
{
  PetscMPIInt found;
  bool        own = false;

  PetscFunctionBegin;
  *link = NULL;
  if (*key == MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, destroy, key, NULL));
  PetscCallMPI(MPI_Comm_get_attr(comm, *key, link, &found));
  *why = "linked";
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  *link = NULL;
  PetscCall(OwnDevices(comm, &own));
  *why = "ranks share a GPU";
  if (!own) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(create(comm, link, why));
  if (*link) PetscCallMPI(MPI_Comm_set_attr(comm, *key, *link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern "C" const VpLinks VpCudaLinks[] = {VpCudaPeerLinks, VpCudaNcclLinks, {}};
