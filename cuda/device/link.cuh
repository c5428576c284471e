/* What links of all kinds share: a stream of their own, on which messages are packed, sent, received and unpacked. */
#pragma once
#include "kernel.cuh"
#include "../../src/kernels/messages.h"
#include <petscsys.h>

/* A link of any kind begins with it. */
struct StreamLink : VpLink_ {
  cudaStream_t stream;
  cudaEvent_t  begun, ended;
};
PetscErrorCode VpStreamLinkCreate(StreamLink *);
void           VpStreamLinkDestroy(StreamLink *);
/* What the link's stream gets from now on comes after the work so far, and is packed there if roots is not NULL. */
PetscErrorCode VpStreamLinkPack(const StreamLink *, const VpMessages *, const void *roots);
/* unpacks; later work comes after that */
PetscErrorCode VpStreamLinkUnpack(const StreamLink *, const VpMessages *, void *leaves);

/* *code = that of the first rank where it is not `none`, on all ranks; it stays `none` where it is so on all of them. Collective */
PetscErrorCode VpLinkFailure(MPI_Comm, int none, int *code);
/* The communicator's link of a kind, which goes with it; made by `create`, which leaves it NULL on all ranks where there can be none. *key:
   MPI_KEYVAL_INVALID at first. Collective. */
typedef PetscErrorCode VpLinkCreate(MPI_Comm, VpLink *, const char **why);
PetscErrorCode VpLinkOnce(MPI_Comm, int *key, VpLinkCreate *create, MPI_Comm_delete_attr_function *destroy, VpLink *, const char **why);

/* peer.cu, nccl.cu; and link.cu: all kinds in the order in which they are tried, and one without a name */
extern "C" const VpLinks VpCudaPeerLinks, VpCudaNcclLinks, VpCudaLinks[];
