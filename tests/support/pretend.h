/* The host as a device: a backend with the links and the memory that only devices have, to test their exchanges everywhere. Links use MPI's
   messages. */
#pragma once
#include "../../src/petsc/dmdata/dmdata.h"

static struct {
  struct VpLink_ base;
  MPI_Comm       comm;
  PetscBool      open;
  int            n; /* number of messages in flight */
  MPI_Request    request[512];
} pretended_link;

static PetscErrorCode PretendConnect(MPI_Comm comm, VpLink *link, const char **why)
{
  PetscFunctionBeginUser;
  if (!pretended_link.open) PetscCallMPI(MPI_Comm_dup(comm, &pretended_link.comm));
  pretended_link.open = PETSC_TRUE;
  *link = &pretended_link.base;
  *why = "linked";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Incoming messages are in memory of the link. */
static PetscErrorCode PretendReserve(VpLink link, VpMessages *m)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(VpMessageItems(m, VP_IN) * m->block + 1, &m->route));
  m->data[VP_IN] = m->route;
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode PretendPrepare(VpLink link, VpMessages *m)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(pretended_link.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode PretendRemove(VpLink link, VpMessages *m)
{
  m->data[VP_IN] = NULL;
  return PetscFree(m->route);
}

static PetscErrorCode PretendBegin(VpLink link, const VpMessages *m, const void *roots)
{
  PetscFunctionBeginUser;
  if (roots) PetscCall(m->pack(m, VP_OUT, roots, m->data[VP_OUT]));
  for (int end = 0; end < VP_BOTH; end++) {
    for (int i = 0; i < m->n[end]; i++) {
      char             *data = (char *)m->data[end] + (size_t)m->start[end][i] * m->block;
      const PetscMPIInt bytes = (PetscMPIInt)((size_t)(m->start[end][i + 1] - m->start[end][i]) * m->block);
      MPI_Request      *request = &pretended_link.request[pretended_link.n++];

      PetscCheck(pretended_link.n <= 512, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More messages under way than this test provides for");
      if (end == VP_OUT) PetscCallMPI(MPI_Isend(data, bytes, MPI_BYTE, m->rank[end][i], 0, pretended_link.comm, request));
      else PetscCallMPI(MPI_Irecv(data, bytes, MPI_BYTE, m->rank[end][i], 0, pretended_link.comm, request));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PretendEnd(VpLink link, const VpMessages *m, void *leaves)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Waitall(pretended_link.n, pretended_link.request, MPI_STATUSES_IGNORE));
  pretended_link.n = 0;
  PetscCall(m->pack(m, VP_IN, m->data[VP_IN], leaves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* like the links of GPUs that ranks share */
static PetscErrorCode PretendNoConnection(MPI_Comm comm, VpLink *link, const char **why)
{
  PetscFunctionBeginUser;
  *link = NULL;
  *why = "ranks share a GPU";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records nothing, but checks that no message is in flight where a recording would end. */
static PetscErrorCode PretendReplay(VpRecording *recording, PetscErrorCode (*work)(void *), void *context)
{
  PetscFunctionBeginUser;
  PetscCall(work(context));
  PetscCheck(!pretended_link.n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d messages are under way at the end of what can be recorded",
             pretended_link.n);
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode PretendForget(VpRecording *recording)
{
  return PETSC_SUCCESS;
}

static VpBackend PretendedBackend(PetscBool linked)
{
  static const VpLinks links[2][3] = {{{.name = "peer", .connect = PretendNoConnection}, {.name = "nccl", .connect = PretendNoConnection}},
                                      {{.name = "peer", .connect = PretendNoConnection},
                                       {.name = "nccl",
                                        .connect = PretendConnect,
                                        .reserve = PretendReserve,
                                        .prepare = PretendPrepare,
                                        .remove = PretendRemove,
                                        .begin = PretendBegin,
                                        .end = PretendEnd}}};
  VpBackend            backend = VpBackendHost;

  backend.alloc_host = backend.alloc;
  backend.release_host = backend.release;
  backend.links = links[linked];
  pretended_link.base.kind = &links[linked][1];
  backend.replay = PretendReplay;
  backend.forget = PretendForget;
  return backend;
}

/* Sets backend and transport of a DM that is set up and not used yet. */
static PetscErrorCode Pretend(DM dm, const VpBackend *backend, VpTransport transport)
{
  DM_VPatchDG      *dg = (DM_VPatchDG *)dm->data;
  VpTransportChoice choice = {.link = NULL};

  PetscFunctionBeginUser;
  dg->in_use = backend;
  PetscCall(PetscStrncpy(dg->chosen_for, dm->vectype, sizeof(dg->chosen_for)));
  if (transport == VP_TRANSPORT_LINK) PetscCall(VpTransportChoose(dg->mesh->comm, backend, 1u << VP_TRANSPORT_LINK, NULL, &choice));
  VpMeshSetTransport(dg->mesh, transport, choice.link);
  PetscFunctionReturn(PETSC_SUCCESS);
}
