/* How the ghosts of vectors on GPUs travel between ranks. */
#include "operator.h"

/* does PETSc know that MPI takes device memory? Where it does not, it refuses to start on a GPU without -use_gpu_aware_mpi 0. */
static PetscBool MPITakesDeviceMemory(void)
{
#if defined(PETSC_HAVE_CUDA)
  return use_gpu_aware_mpi;
#else
  return PETSC_FALSE;
#endif
}

/* NCCL first: its messages wait for no host, so that a cycle with them can be replayed. *why: what is taken, and what was not possible */
static PetscErrorCode Choose(DM dm, const VpBackend *backend, VpTransport *transport, void **link, char why[], size_t length)
{
  const VPatchDGTransport asked = ((DM_VPatchDG *)dm->data)->transport;
  MPI_Comm                comm = ((DM_VPatchDG *)dm->data)->mesh->comm;
  const char             *reason = "not asked for";

  PetscFunctionBegin;
  if (asked == VPATCHDG_TRANSPORT_AUTO || asked == VPATCHDG_TRANSPORT_NCCL) PetscCall(backend->connect(comm, link, &reason));
  PetscCheck(
    asked != VPATCHDG_TRANSPORT_NCCL || *link, comm, PETSC_ERR_SUP,
    "-dm_vpatchdg_transport nccl: %s. Use -dm_vpatchdg_transport auto, or give every rank a GPU of its own and build where nccl.h is",
    reason);
  PetscCheck(asked != VPATCHDG_TRANSPORT_MPI || MPITakesDeviceMemory(), comm, PETSC_ERR_SUP,
             "-dm_vpatchdg_transport mpi: PETSc was told that MPI does not take device memory (-use_gpu_aware_mpi 0), or has no CUDA. Use "
             "-dm_vpatchdg_transport auto");
  *transport = VP_TRANSPORT_HOST;
  if (*link) *transport = VP_TRANSPORT_LINK;
  else if (asked != VPATCHDG_TRANSPORT_HOST && MPITakesDeviceMemory()) *transport = VP_TRANSPORT_MPI;
  if (*transport == VP_TRANSPORT_LINK) PetscCall(PetscStrncpy(why, "nccl", length));
  else
    PetscCall(
      PetscSNPrintf(why, length, "%s (NCCL: %s)", *transport == VP_TRANSPORT_MPI ? "mpi, from device memory" : "host memory", reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGChooseTransport(DM dm, const VpBackend *backend)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  VpTransport  transport = VP_TRANSPORT_HOST;
  PetscMPIInt  size;
  void        *link = NULL;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(dg->mesh->comm, &size));
  if (size == 1 || !backend->connect) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Choose(dm, backend, &transport, &link, dg->travel, sizeof(dg->travel)));
  PetscCall(PetscInfo(dm, "Ghosts travel by %s\n", dg->travel));
  PetscCall(VpMeshSetTransport(dg->mesh, transport, link));
  PetscFunctionReturn(PETSC_SUCCESS);
}
