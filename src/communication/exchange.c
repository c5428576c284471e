/* Exchanges values along a PetscSF, above all from owners to ghosts: whole cells, or the traces that A x reads. The backend packs values
   into messages, and unpacks them when they are needed. From devices messages go through the backend's own links, through MPI that takes
   device memory, or through pinned host memory. */
#include "communication.h"
#include "../collective.h"

PetscLogEvent VP_EVENT_EXCHANGE;

struct VpExchanger_ {
  VpCells      cells; /* without references, because the exchanger is destroyed first */
  PetscSF      sf;    /* owns the ranks and starts of messages */
  PetscMPIInt  tag;
  VpMessages   messages; /* lists and data are on the backend; roots are in the order of the ranks they go to, leaves of those they come
                            from */
  void        *host[2];  /* data on the host */
  MPI_Datatype unit;     /* an item of a message */
  MPI_Request *request;  /* [n[VP_OUT] + n[VP_IN]] */
  VpLink       link;     /* NULL: MPI */
  PetscBool    staged;
  void        *leaves; /* where values under way go, or NULL */
};

static PetscErrorCode PlaceList(const VpBackend *backend, const PetscInt items[], PetscInt n, const int32_t **list)
{
  int32_t *copy;
  void    *placed;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &copy));
  for (PetscInt i = 0; i < n; i++) copy[i] = (int32_t)items[i];
  PetscCall(backend->alloc(n * sizeof(*copy), "exchange lists", &placed));
  PetscCall(backend->upload(copy, n * sizeof(*copy), placed));
  PetscCall(PetscFree(copy));
  *list = (const int32_t *)placed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VpMessages.pack: whole cells, or traces on sides */
static PetscErrorCode PackCells(const VpMessages *m, int end, const void *from, void *to)
{
  const VpBackend *backend = ((const VpCells *)m->context)->backend;
  const int32_t   *list = m->list[end];

  return backend->move(VpMessageItems(m, end), m->block, end == VP_OUT ? list : NULL, from, end == VP_IN ? list : NULL, to);
}
static PetscErrorCode PackTraces(const VpMessages *m, int end, const void *from, void *to)
{
  const VpCells *cells = (const VpCells *)m->context;

  return (end == VP_IN ? cells->ops->unpack_traces : cells->ops->pack_traces)(cells->view, VpMessageItems(m, end), m->list[end], from, to);
}

static PetscErrorCode PlaceBuffers(VpExchanger e, const PetscInt *const items[2])
{
  const VpBackend *backend = e->cells.backend;
  VpMessages      *m = &e->messages;

  PetscFunctionBegin;
  for (int end = 0; end < VP_BOTH; end++) {
    PetscCall(PlaceList(backend, items[end], VpMessageItems(m, end), &m->list[end]));
    if (end == VP_IN && e->link && e->link->kind->reserve) PetscCall(e->link->kind->reserve(e->link, m));
    else PetscCall(backend->alloc(VpMessageItems(m, end) * m->block, "messages", &m->data[end]));
    e->host[end] = m->data[end];
    if (e->staged) PetscCall(backend->alloc_host(VpMessageItems(m, end) * m->block, "messages", &e->host[end]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpExchangerCreate(const VpCells *cells, PetscSF sf, PetscBool traces, VpExchanger *out)
{
  const VpBackend *backend = cells->backend;
  const VpMesh     mesh = cells->mesh;
  const PetscInt  *items[2], *unused;
  VpRankCount      n[2];
  VpExchanger      e;
  VpMessages      *m;

  PetscFunctionBegin;
  PetscCall(PetscNew(&e));
  *out = e;
  e->cells = *cells;
  if (backend->links) e->link = mesh->link;
  e->staged = backend->alloc_host && mesh->transport == VP_TRANSPORT_HOST;
  m = &e->messages;
  m->block = traces ? 2 * cells->block / cells->view->n : cells->block;
  m->pack = traces ? PackTraces : PackCells;
  m->context = &e->cells;
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)m->block, MPI_BYTE, &e->unit));
  PetscCallMPI(MPI_Type_commit(&e->unit));
  PetscCall(PetscObjectReference((PetscObject)sf));
  e->sf = sf;
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscSFGetLeafRanks(sf, &n[VP_OUT], &m->rank[VP_OUT], &m->start[VP_OUT], &items[VP_OUT]));
  PetscCall(PetscSFGetRootRanks(sf, &n[VP_IN], &m->rank[VP_IN], &m->start[VP_IN], &items[VP_IN], &unused));
  for (int end = 0; end < VP_BOTH; end++) m->n[end] = (PetscMPIInt)n[end];
  PetscCall(PetscMalloc1(m->n[VP_OUT] + m->n[VP_IN], &e->request));
  PetscCall(VpTogether(mesh->comm, PlaceBuffers(e, items)));
  if (e->link && e->link->kind->prepare) PetscCall(VpTogether(mesh->comm, e->link->kind->prepare(e->link, m)));
  PetscCall(PetscCommGetNewTag(mesh->comm, &e->tag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpExchangerDestroy(VpExchanger *out)
{
  VpExchanger e = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!e) PetscFunctionReturn(PETSC_SUCCESS);
  if (e->leaves && !e->link) { /* after an error */
    PetscCallMPI(MPI_Waitall(e->messages.n[VP_OUT] + e->messages.n[VP_IN], e->request, MPI_STATUSES_IGNORE));
  }
  if (e->messages.route) PetscCall(e->link->kind->remove(e->link, &e->messages));
  for (int end = 0; end < VP_BOTH; end++) {
    if (e->staged && e->host[end] != e->messages.data[end]) PetscCall(e->cells.backend->release_host(e->host[end]));
    PetscCall(e->cells.backend->release(e->messages.data[end]));
    PetscCall(e->cells.backend->release((void *)e->messages.list[end]));
  }
  PetscCallMPI(MPI_Type_free(&e->unit));
  PetscCall(PetscSFDestroy(&e->sf));
  PetscCall(PetscFree(e->request));
  PetscCall(PetscFree(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Posts all receives, then all sends. */
static PetscErrorCode PostMessages(VpExchanger e)
{
  const VpMessages *m = &e->messages;
  MPI_Request      *request = e->request;

  PetscFunctionBegin;
  for (int end = VP_IN; end >= VP_OUT; end--) {
    for (int i = 0; i < m->n[end]; i++, request++) {
      const PetscInt    first = m->start[end][i];
      const PetscMPIInt count = (PetscMPIInt)(m->start[end][i + 1] - first), rank = m->rank[end][i];
      char             *data = (char *)e->host[end] + first * m->block;

      if (end == VP_IN) PetscCallMPI(MPI_Irecv(data, count, e->unit, rank, e->tag, e->cells.mesh->comm, request));
      else PetscCallMPI(MPI_Isend(data, count, e->unit, rank, e->tag, e->cells.mesh->comm, request));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts messages of a link for PETSc, which counts MPI's messages by itself. */
static void CountMessages(const VpMessages *m)
{
  petsc_isend_ct += m->n[VP_OUT];
  petsc_isend_len += (double)VpMessageItems(m, VP_OUT) * (double)m->block;
  petsc_irecv_ct += m->n[VP_IN];
  petsc_irecv_len += (double)VpMessageItems(m, VP_IN) * (double)m->block;
}

static PetscErrorCode ArriveMessages(void *context)
{
  VpExchanger       e = (VpExchanger)context;
  const VpBackend  *backend = e->cells.backend;
  const VpMessages *m = &e->messages;

  PetscFunctionBegin;
  if (!e->leaves) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  if (e->link) PetscCall(e->link->kind->end(e->link, m, e->leaves));
  else {
    PetscCallMPI(MPI_Waitall(m->n[VP_OUT] + m->n[VP_IN], e->request, MPI_STATUSES_IGNORE));
    if (e->staged) PetscCall(backend->upload(e->host[VP_IN], VpMessageItems(m, VP_IN) * m->block, m->data[VP_IN]));
    PetscCall(m->pack(m, VP_IN, m->data[VP_IN], e->leaves));
  }
  e->leaves = NULL;
  PetscCall(PetscLogEventEnd(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins an exchange. Ensures: the leaves hold the roots' values after VpArrive. Requires: the last exchange has arrived. */
static PetscErrorCode BeginExchange(VpExchanger e, const void *roots, void *leaves, VpGhosts *ghosts)
{
  const VpBackend  *backend = e->cells.backend;
  const VpMessages *m = &e->messages;

  PetscFunctionBegin;
  *ghosts = VpGhostsAt(leaves);
  PetscCheck(!e->leaves, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Messages of this kind are under way already");
  if (!VpMessageItems(m, VP_OUT) && !VpMessageItems(m, VP_IN)) PetscFunctionReturn(PETSC_SUCCESS);
  ghosts->arrive = ArriveMessages;
  ghosts->context = e;
  PetscCall(PetscLogEventBegin(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  if (e->link) {
    PetscCall(e->link->kind->begin(e->link, m, roots));
    CountMessages(m);
  } else { /* MPI does not wait for work on the backend: the packing must be done before messages start. */
    if (roots) PetscCall(m->pack(m, VP_OUT, roots, m->data[VP_OUT]));
    if (e->staged) PetscCall(backend->download(m->data[VP_OUT], VpMessageItems(m, VP_OUT) * m->block, e->host[VP_OUT]));
    else if (backend->wait) PetscCall(backend->wait());
    PetscCall(PostMessages(e));
  }
  e->leaves = leaves;
  PetscCall(PetscLogEventEnd(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpExchangerRun(VpExchanger e, const void *roots, void *leaves)
{
  VpGhosts ghosts;

  PetscFunctionBegin;
  PetscCall(BeginExchange(e, roots, leaves, &ghosts));
  PetscCall(VpArrive(ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *e = the exchanger of a kind, or NULL on one rank */
static PetscErrorCode GetExchanger(VpGhostExchange *exchange, VpGhostKind kind, VpExchanger *e)
{
  const VpMesh mesh = exchange->cells.mesh;

  PetscFunctionBegin;
  if (mesh->size > 1 && !exchange->exchanger[kind])
    PetscCall(VpExchangerCreate(&exchange->cells, mesh->sf[kind], kind == VP_GHOST_SIDE, &exchange->exchanger[kind]));
  *e = exchange->exchanger[kind];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpGhostExchangeBegin(VpGhostExchange *exchange, VpGhostKind kind, const void *own, void *ghost, VpGhosts *ghosts)
{
  VpExchanger e = NULL;

  PetscFunctionBegin;
  *ghosts = VpGhostsAt(ghost);
  PetscCall(GetExchanger(exchange, kind, &e));
  if (e) PetscCall(BeginExchange(e, own, ghost, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpGhostExchangeBeginCurrent(VpGhostExchange *exchange, const VpPatchView *patches, unsigned done, void *const x[2],
                                           VpGhosts *ghosts)
{
  const VpCells *cells = &exchange->cells;
  void *const    ghost = (char *)x[0] + cells->mesh->nown * cells->block;
  VpExchanger    e = NULL;

  PetscFunctionBegin;
  *ghosts = VpGhostsAt(ghost);
  PetscCall(GetExchanger(exchange, VP_GHOST_SWEEP, &e));
  if (!e) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(cells->ops->current(patches, VpMessageItems(&e->messages, VP_OUT), e->messages.list[0], done, x, e->messages.data[VP_OUT]));
  PetscCall(BeginExchange(e, NULL, ghost, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpGhostExchangeClear(VpGhostExchange *exchange)
{
  PetscFunctionBegin;
  for (int kind = 0; kind < VP_GHOST_KINDS; kind++) PetscCall(VpExchangerDestroy(&exchange->exchanger[kind]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
