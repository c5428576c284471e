/* How ghosts of vectors on devices travel between ranks. */
#include "communication.h"
#include <petsc/private/petscimpl.h> /* use_gpu_aware_mpi */

/* Whether PETSc knows that MPI takes device memory. Where it does not, it refuses to start on a GPU without -use_gpu_aware_mpi 0. */
static PetscBool MPITakesDeviceMemory(void)
{
#if defined(PETSC_HAVE_CUDA)
  return use_gpu_aware_mpi;
#else
  return PETSC_FALSE;
#endif
}

/* Links come first: their messages wait for no host, so that a cycle with them can be replayed. */
PetscErrorCode VpTransportChoose(MPI_Comm comm, const VpBackend *backend, unsigned allowed, VpTransport *transport, void **link,
                                 const char **why)
{
  PetscFunctionBegin;
  *link = NULL;
  *why = "not asked for";
  if (allowed >> VP_TRANSPORT_LINK & 1) PetscCall(backend->links->connect(comm, link, why));
  *transport = VP_TRANSPORT_HOST;
  if (*link) *transport = VP_TRANSPORT_LINK;
  else if (allowed >> VP_TRANSPORT_MPI & 1 && MPITakesDeviceMemory()) *transport = VP_TRANSPORT_MPI;
  PetscFunctionReturn(PETSC_SUCCESS);
}
