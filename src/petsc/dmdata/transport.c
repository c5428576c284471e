/* Chooses the transport of ghosts between GPUs. */
#include "dmdata.h"

PetscErrorCode DMVPatchDGChooseTransport(DM dm, const VpBackend *backend)
{
  static const unsigned  allowed[] = {[VP_ASKED_AUTO] = ~0u,
                                      [VP_ASKED_MPI] = 1u << VP_TRANSPORT_MPI,
                                      [VP_ASKED_NCCL] = 1u << VP_TRANSPORT_LINK,
                                      [VP_ASKED_HOST] = 1u << VP_TRANSPORT_HOST,
                                      [VP_ASKED_PEER] = 1u << VP_TRANSPORT_LINK};
  DM_VPatchDG           *dg = dm->data;
  const VpAskedTransport asked = dg->transport;
  const PetscBool        linked = (PetscBool)(allowed[asked] == 1u << VP_TRANSPORT_LINK);
  const char            *only = linked ? VpAskedTransports[asked] : NULL;
  MPI_Comm               comm = dg->mesh->comm;
  VpTransportChoice      choice;

  PetscFunctionBegin;
  if (dg->mesh->size == 1 || !backend->links) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpTransportChoose(comm, backend, allowed[asked], only, &choice));
  PetscCheck(!linked || choice.link, comm, PETSC_ERR_SUP,
             "-dm_vpatchdg_transport %s. Use -dm_vpatchdg_transport auto, or give every rank a GPU of its own%s", choice.why,
             asked == VP_ASKED_NCCL ? " and build where nccl.h is" : " of one host");
  PetscCheck(asked != VP_ASKED_MPI || choice.transport == VP_TRANSPORT_MPI, comm, PETSC_ERR_SUP,
             "-dm_vpatchdg_transport mpi: PETSc was told that MPI does not take device memory (-use_gpu_aware_mpi 0), or has no CUDA. Use "
             "-dm_vpatchdg_transport auto");
  PetscCall(PetscSNPrintf(dg->travel, sizeof(dg->travel), "%s%s%s%s",
                          choice.link                            ? choice.link->kind->name
                          : choice.transport == VP_TRANSPORT_MPI ? "mpi, from device memory"
                                                                 : "host memory",
                          choice.why[0] ? " (" : "", choice.why, choice.why[0] ? ")" : ""));
  PetscCall(PetscInfo(dm, "Ghosts travel by %s\n", dg->travel));
  VpMeshSetTransport(dg->mesh, choice.transport, choice.link);
  PetscFunctionReturn(PETSC_SUCCESS);
}
