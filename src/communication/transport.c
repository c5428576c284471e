/* Chooses how ghosts of vectors on devices travel between ranks. */
#include "communication.h"
#include <petsc/private/petscimpl.h> /* use_gpu_aware_mpi */

/* Whether PETSc passes device memory to MPI. Without -use_gpu_aware_mpi 0, PETSc starts on a GPU only if MPI takes device memory. */
static PetscBool MPITakesDeviceMemory(void)
{
#if defined(PETSC_HAVE_CUDA)
  return use_gpu_aware_mpi;
#else
  return PETSC_FALSE;
#endif
}

/* Connects the ranks by the first kind of links that works. Links precede other transports because no host waits for their messages, so
   that cycles with links can be replayed. */
static PetscErrorCode ConnectRanks(MPI_Comm comm, const VpLinks *links, const char *kind, VpTransportChoice *choice)
{
  const char *reason;
  PetscBool   wanted = PETSC_TRUE;
  size_t      at;

  PetscFunctionBegin;
  for (; links->name && !choice->link; links++) {
    if (kind) PetscCall(PetscStrcmp(kind, links->name, &wanted));
    if (!wanted) continue;
    PetscCall(links->connect(comm, &choice->link, &reason));
    PetscCall(PetscStrlen(choice->why, &at));
    if (!choice->link)
      PetscCall(PetscSNPrintf(choice->why + at, sizeof(choice->why) - at, "%s%s: %s", at ? ", " : "", links->name, reason));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpTransportChoose(MPI_Comm comm, const VpBackend *backend, unsigned allowed, const char *kind, VpTransportChoice *choice)
{
  PetscFunctionBegin;
  *choice = (VpTransportChoice){.transport = VP_TRANSPORT_HOST};
  if (allowed >> VP_TRANSPORT_LINK & 1) PetscCall(ConnectRanks(comm, backend->links, kind, choice));
  if (choice->link) choice->transport = VP_TRANSPORT_LINK;
  else if (allowed >> VP_TRANSPORT_MPI & 1 && MPITakesDeviceMemory()) choice->transport = VP_TRANSPORT_MPI;
  PetscFunctionReturn(PETSC_SUCCESS);
}
