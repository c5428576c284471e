/* How the ghosts of vectors on GPUs travel between ranks. */
#include "operator.h"

/* *travel: what is taken, and why there is no link */
static PetscErrorCode Choose(DM dm, const VpBackend *backend, VpTransport *transport, void **link, char travel[], size_t length)
{
  static const unsigned   allowed[] = {[VPATCHDG_TRANSPORT_AUTO] = ~0u,
                                       [VPATCHDG_TRANSPORT_MPI] = 1u << VP_TRANSPORT_MPI,
                                       [VPATCHDG_TRANSPORT_NCCL] = 1u << VP_TRANSPORT_LINK,
                                       [VPATCHDG_TRANSPORT_HOST] = 1u << VP_TRANSPORT_HOST};
  const VPatchDGTransport asked = DMVPatchDGData(dm)->transport;
  MPI_Comm                comm = DMVPatchDGData(dm)->mesh->comm;
  const char             *why;

  PetscFunctionBegin;
  PetscCall(VpTransportChoose(comm, backend, allowed[asked], transport, link, &why));
  PetscCheck(
    asked != VPATCHDG_TRANSPORT_NCCL || *transport == VP_TRANSPORT_LINK, comm, PETSC_ERR_SUP,
    "-dm_vpatchdg_transport nccl: %s. Use -dm_vpatchdg_transport auto, or give every rank a GPU of its own and build where nccl.h is", why);
  PetscCheck(asked != VPATCHDG_TRANSPORT_MPI || *transport == VP_TRANSPORT_MPI, comm, PETSC_ERR_SUP,
             "-dm_vpatchdg_transport mpi: PETSc was told that MPI does not take device memory (-use_gpu_aware_mpi 0), or has no CUDA. Use "
             "-dm_vpatchdg_transport auto");
  if (*transport == VP_TRANSPORT_LINK) PetscCall(PetscStrncpy(travel, "nccl", length));
  else
    PetscCall(
      PetscSNPrintf(travel, length, "%s (NCCL: %s)", *transport == VP_TRANSPORT_MPI ? "mpi, from device memory" : "host memory", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGChooseTransport(DM dm, const VpBackend *backend)
{
  DM_VPatchDG *dg = dm->data;
  VpTransport  transport = VP_TRANSPORT_HOST;
  void        *link = NULL;

  PetscFunctionBegin;
  if (dg->mesh->size == 1 || !backend->links) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Choose(dm, backend, &transport, &link, dg->travel, sizeof(dg->travel)));
  PetscCall(PetscInfo(dm, "Ghosts travel by %s\n", dg->travel));
  PetscCall(VpMeshSetTransport(dg->mesh, transport, link));
  PetscFunctionReturn(PETSC_SUCCESS);
}
