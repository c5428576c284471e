/* Ghost values of cells: packed by the level's backend, sent, unpacked. Where the backend's memory is not the host's, messages go through
   host memory that copies fast. */
#include "internal.h"

/* Cells by the rank they go to and come from. Lists are on the backend; ghosts are counted from nown. */
struct VpExchanger_ {
  VpLevel            level; /* not referenced: the exchanger dies with it */
  PetscMPIInt        nto, nfrom, tag;
  const PetscMPIInt *to, *from;
  const PetscInt    *to_start, *from_start; /* [nto+1], [nfrom+1] */
  const int32_t     *sent, *received;
  void              *out, *in;           /* messages, one behind the other, on the host */
  void              *packed, *unpacked;  /* the same on a device, while an exchange is under way */
  MPI_Request       *request;            /* [nto + nfrom] */
};

static PetscErrorCode PlaceList(VpLevel level, const PetscInt cells[], PetscInt n, const int32_t **list)
{
  int32_t *copy;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &copy));
  for (PetscInt i = 0; i < n; i++) copy[i] = (int32_t)cells[i];
  PetscCall(VpLevelPlace(level, copy, n * sizeof(*copy), "exchange lists", (const void **)list));
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMessages(VpLevel level, PetscInt cells, void **p)
{
  PetscErrorCode (*const alloc)(size_t, const char *, void **) = level->backend->alloc_host ? level->backend->alloc_host : VpBackendHost.alloc;

  PetscFunctionBegin;
  PetscCall(alloc(cells * level->block, "ghost messages", p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(VpLevel level, VpGhostKind kind, VpExchanger *out)
{
  PetscSF         sf = level->mesh->sf[kind];
  const PetscInt *sent, *received, *unused;
  VpExchanger     e;

  PetscFunctionBegin;
  PetscCall(PetscNew(&e));
  *out = e;
  e->level = level;
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscSFGetRootRanks(sf, &e->nfrom, &e->from, &e->from_start, &received, &unused));
  PetscCall(PetscSFGetLeafRanks(sf, &e->nto, &e->to, &e->to_start, &sent));
  PetscCall(PlaceList(level, sent, e->nto ? e->to_start[e->nto] : 0, &e->sent));
  PetscCall(PlaceList(level, received, e->nfrom ? e->from_start[e->nfrom] : 0, &e->received));
  PetscCall(CreateMessages(level, e->nto ? e->to_start[e->nto] : 0, &e->out));
  PetscCall(CreateMessages(level, e->nfrom ? e->from_start[e->nfrom] : 0, &e->in));
  PetscCall(PetscMalloc1(e->nto + e->nfrom, &e->request));
  PetscCall(PetscCommGetNewTag(level->mesh->comm, &e->tag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpExchangerDestroy(VpExchanger *out)
{
  VpExchanger e = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!e) PetscFunctionReturn(PETSC_SUCCESS);
  PetscErrorCode (*const release)(void *) = e->level->backend->release_host ? e->level->backend->release_host : VpBackendHost.release;
  PetscCall(release(e->out));
  PetscCall(release(e->in));
  PetscCall(PetscFree(e->request));
  PetscCall(PetscFree(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* own cells to the messages */
static PetscErrorCode Pack(VpExchanger e, const void *own)
{
  const VpBackend *backend = e->level->backend;
  const size_t     block = e->level->block;
  const int32_t    n = e->nto ? (int32_t)e->to_start[e->nto] : 0;

  PetscFunctionBegin;
  if (!backend->borrow) {
    PetscCall(backend->gather(n, block, e->sent, own, e->out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(backend->borrow(n * block, "ghost messages", &e->packed));
  PetscCall(backend->gather(n, block, e->sent, own, e->packed));
  PetscCall(backend->download(e->packed, n * block, e->out));
  PetscCall(backend->give_back(e->packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Unpack(VpExchanger e, void *ghost)
{
  const VpBackend *backend = e->level->backend;
  const size_t     block = e->level->block;
  const int32_t    n = e->nfrom ? (int32_t)e->from_start[e->nfrom] : 0;

  PetscFunctionBegin;
  if (!backend->borrow) {
    PetscCall(backend->scatter(n, block, e->received, e->in, ghost));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(backend->borrow(n * block, "ghost messages", &e->unpacked));
  PetscCall(backend->upload(e->in, n * block, e->unpacked));
  PetscCall(backend->scatter(n, block, e->received, e->unpacked, ghost));
  PetscCall(backend->give_back(e->unpacked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelExchangeBegin(VpLevel level, VpGhostKind kind, const void *own, void *ghost)
{
  const size_t block = level->block;
  MPI_Comm     comm = level->mesh->comm;
  PetscMPIInt  size;
  VpExchanger  e;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  if (!level->exchanger[kind]) PetscCall(Create(level, kind, &level->exchanger[kind]));
  e = level->exchanger[kind];
  for (int i = 0; i < e->nfrom; i++) {
    const PetscInt first = e->from_start[i];
    PetscCallMPI(MPI_Irecv((char *)e->in + first * block, (PetscMPIInt)(e->from_start[i + 1] - first), level->unit, e->from[i], e->tag, comm, &e->request[i]));
  }
  PetscCall(Pack(e, own));
  for (int i = 0; i < e->nto; i++) {
    const PetscInt first = e->to_start[i];
    PetscCallMPI(MPI_Isend((char *)e->out + first * block, (PetscMPIInt)(e->to_start[i + 1] - first), level->unit, e->to[i], e->tag, comm, &e->request[e->nfrom + i]));
  }
  PetscCall(PetscLogEventEnd(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelExchangeEnd(VpLevel level, VpGhostKind kind, const void *own, void *ghost)
{
  VpExchanger e = level->exchanger[kind];

  PetscFunctionBegin;
  if (!e) PetscFunctionReturn(PETSC_SUCCESS); /* one rank */
  PetscCall(PetscLogEventBegin(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  PetscCallMPI(MPI_Waitall(e->nfrom + e->nto, e->request, MPI_STATUSES_IGNORE));
  PetscCall(Unpack(e, ghost));
  PetscCall(PetscLogEventEnd(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelExchange(VpLevel level, VpGhostKind kind, void *v)
{
  char *ghost = (char *)v + level->mesh->nown * level->block;

  PetscFunctionBegin;
  PetscCall(VpLevelExchangeBegin(level, kind, v, ghost));
  PetscCall(VpLevelExchangeEnd(level, kind, v, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}
