/* What links of all kinds share: a stream of their own, on which messages are packed, sent, received and unpacked. */
#pragma once
#include "kernel.cuh"
#include "../../src/kernels/messages.h"
#include <petscsys.h>

/* The first member of links of all kinds. */
struct StreamLink : VpLink_ {
  cudaStream_t stream;
  cudaEvent_t  begun, ended;
};
PetscErrorCode VpStreamLinkCreate(StreamLink *);
void           VpStreamLinkDestroy(StreamLink *);
/* Makes later work on the link's stream wait for the work so far, and packs messages there unless roots is NULL. */
PetscErrorCode VpStreamLinkPack(const StreamLink *, const VpMessages *, const void *roots);
/* Unpacks messages, and makes later work wait for this. */
PetscErrorCode VpStreamLinkUnpack(const StreamLink *, const VpMessages *, void *leaves);

/* Sets *code on all ranks to the code of the first rank where it is not `none`. Collective */
PetscErrorCode VpLinkFailure(MPI_Comm, int none, int *code);
/* *link = the communicator's link of a kind, which MPI destroys with the communicator. The first call makes it by `create`, which leaves it
   NULL on all ranks if there can be none. *key: MPI_KEYVAL_INVALID at first. Collective */
typedef PetscErrorCode VpLinkCreate(MPI_Comm, VpLink *, const char **why);
PetscErrorCode VpLinkOnce(MPI_Comm, int *key, VpLinkCreate *create, MPI_Comm_delete_attr_function *destroy, VpLink *, const char **why);

/* peer.cu, nccl.cu; link.cu: all kinds in the order in which they are tried, and one without a name */
extern "C" const VpLinks VpCudaPeerLinks, VpCudaNcclLinks, VpCudaLinks[];
