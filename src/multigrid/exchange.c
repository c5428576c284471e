/* Values that follow a PetscSF, ghosts from their owners above all: whole cells, or the traces that A x reads of them. The level's backend
   packs them, they are sent, and unpacked when they are needed. On devices the messages go through links of the backend's own, through MPI
   that takes device memory, or through host memory that is copied fast. */
#include "internal.h"

struct VpExchanger_ {
  VpLevel        level;    /* whose backend and precision it takes; not referenced: the exchanger dies first */
  PetscSF        sf;       /* the ranks and starts of messages are its */
  PetscMPIInt    tag;
  VpMessages     messages; /* lists and data where the backend is; roots by the rank they go to, leaves by the rank they come from */
  void          *host[2];  /* the same on the host, where it is needed */
  MPI_Datatype   unit;     /* an item of messages */
  MPI_Request   *request;  /* [n[0] + n[1]] */
  PetscBool      link, staged;
  void          *leaves;   /* where what is under way goes, or NULL */
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
static PetscErrorCode PackCells(const VpMessages *m, int way, const void *from, void *to)
{
  const VpBackend *backend = ((VpLevel)m->context)->backend;

  PetscFunctionBegin;
  PetscCall((way ? backend->scatter : backend->gather)(VpMessageItems(m, way), m->block, m->list[way], from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode PackTraces(const VpMessages *m, int way, const void *from, void *to)
{
  const VpLevel level = (VpLevel)m->context;

  PetscFunctionBegin;
  PetscCall((way ? level->ops->scatter_traces : level->ops->gather_traces)(&level->view, VpMessageItems(m, way), m->list[way], from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceBuffers(VpExchanger e, const PetscInt *const items[2])
{
  const VpBackend *backend = e->level->backend;
  VpMessages      *m = &e->messages;

  PetscFunctionBegin;
  for (int way = 0; way < 2; way++) {
    PetscCall(PlaceList(backend, items[way], VpMessageItems(m, way), &m->list[way]));
    PetscCall(backend->alloc(VpMessageItems(m, way) * m->block, "messages", &m->data[way]));
    e->host[way] = m->data[way];
    if (e->staged) PetscCall(backend->alloc_host(VpMessageItems(m, way) * m->block, "messages", &e->host[way]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* traces: roots and leaves of the SF are sides, else cells */
static PetscErrorCode Create(VpLevel level, PetscSF sf, PetscBool traces, VpExchanger *out)
{
  const VpBackend *backend = level->backend;
  const PetscInt  *items[2], *unused;
  VpRankCount      n[2];
  VpExchanger      e;
  VpMessages      *m;

  PetscFunctionBegin;
  PetscCall(PetscNew(&e));
  *out = e;
  e->level = level;
  e->link = (PetscBool)(backend->connect && level->mesh->transport == VP_TRANSPORT_LINK);
  e->staged = (PetscBool)(backend->alloc_host && level->mesh->transport == VP_TRANSPORT_HOST);
  m = &e->messages;
  m->block = traces ? 2 * level->block / level->view.n : level->block;
  m->pack = traces ? PackTraces : PackCells;
  m->context = level;
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)m->block, MPI_BYTE, &e->unit));
  PetscCallMPI(MPI_Type_commit(&e->unit));
  PetscCall(PetscObjectReference((PetscObject)sf));
  e->sf = sf;
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscSFGetLeafRanks(sf, &n[0], &m->rank[0], &m->start[0], &items[0]));
  PetscCall(PetscSFGetRootRanks(sf, &n[1], &m->rank[1], &m->start[1], &items[1], &unused));
  for (int way = 0; way < 2; way++) m->n[way] = (PetscMPIInt)n[way];
  PetscCall(PetscMalloc1(m->n[0] + m->n[1], &e->request));
  PetscCall(VpTogether(level->mesh->comm, PlaceBuffers(e, items)));
  PetscCall(PetscCommGetNewTag(level->mesh->comm, &e->tag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpExchangerCreate(VpLevel level, PetscSF sf, VpExchanger *out)
{
  PetscFunctionBegin;
  PetscCall(Create(level, sf, PETSC_FALSE, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpExchangerDestroy(VpExchanger *out)
{
  VpExchanger e = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!e) PetscFunctionReturn(PETSC_SUCCESS);
  if (e->leaves && !e->link) { /* after an error */
    PetscCallMPI(MPI_Waitall(e->messages.n[0] + e->messages.n[1], e->request, MPI_STATUSES_IGNORE));
  }
  for (int way = 0; way < 2; way++) {
    if (e->staged && e->host[way] != e->messages.data[way]) PetscCall(e->level->backend->release_host(e->host[way]));
    PetscCall(e->level->backend->release(e->messages.data[way]));
    PetscCall(e->level->backend->release((void *)e->messages.list[way]));
  }
  PetscCallMPI(MPI_Type_free(&e->unit));
  PetscCall(PetscSFDestroy(&e->sf));
  PetscCall(PetscFree(e->request));
  PetscCall(PetscFree(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Receive(VpExchanger e)
{
  const VpMessages *m = &e->messages;

  PetscFunctionBegin;
  for (int i = 0; i < m->n[1]; i++) {
    const PetscInt first = m->start[1][i];
    PetscCallMPI(MPI_Irecv((char *)e->host[1] + first * m->block, (PetscMPIInt)(m->start[1][i + 1] - first), e->unit, m->rank[1][i], e->tag,
                           e->level->mesh->comm, &e->request[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Send(VpExchanger e)
{
  const VpMessages *m = &e->messages;

  PetscFunctionBegin;
  for (int i = 0; i < m->n[0]; i++) {
    const PetscInt first = m->start[0][i];
    PetscCallMPI(MPI_Isend((char *)e->host[0] + first * m->block, (PetscMPIInt)(m->start[0][i + 1] - first), e->unit, m->rank[0][i], e->tag,
                           e->level->mesh->comm, &e->request[m->n[1] + i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MPI's messages PETSc counts by itself */
static void CountMessages(const VpMessages *m)
{
  petsc_isend_ct += m->n[0];
  petsc_isend_len += (double)VpMessageItems(m, 0) * (double)m->block;
  petsc_irecv_ct += m->n[1];
  petsc_irecv_len += (double)VpMessageItems(m, 1) * (double)m->block;
}

static PetscErrorCode Arrive(void *context)
{
  VpExchanger       e = (VpExchanger)context;
  const VpBackend  *backend = e->level->backend;
  const VpMessages *m = &e->messages;

  PetscFunctionBegin;
  if (!e->leaves) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  if (e->link) PetscCall(backend->end_messages(e->level->mesh->link, m, e->leaves));
  else {
    PetscCallMPI(MPI_Waitall(m->n[0] + m->n[1], e->request, MPI_STATUSES_IGNORE));
    if (e->staged) PetscCall(backend->upload(e->host[1], VpMessageItems(m, 1) * m->block, m->data[1]));
    PetscCall(m->pack(m, 1, m->data[1], e->leaves));
  }
  e->leaves = NULL;
  PetscCall(PetscLogEventEnd(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpExchangerBegin(VpExchanger e, const void *roots, void *leaves, VpGhosts *ghosts)
{
  const VpBackend  *backend = e->level->backend;
  const VpMessages *m = &e->messages;

  PetscFunctionBegin;
  *ghosts = VpGhostsAt(leaves);
  PetscCheck(!e->leaves, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Messages of this kind are under way already");
  if (!VpMessageItems(m, 0) && !VpMessageItems(m, 1)) PetscFunctionReturn(PETSC_SUCCESS);
  ghosts->arrive = Arrive;
  ghosts->context = e;
  PetscCall(PetscLogEventBegin(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  if (e->link) {
    PetscCall(backend->begin_messages(e->level->mesh->link, m, roots));
    CountMessages(m);
  } else { /* MPI knows nothing of the backend's order: what was given has to be done */
    if (roots) PetscCall(m->pack(m, 0, roots, m->data[0]));
    if (e->staged) PetscCall(backend->download(m->data[0], VpMessageItems(m, 0) * m->block, e->host[0]));
    else if (backend->wait) PetscCall(backend->wait());
    PetscCall(Receive(e));
    PetscCall(Send(e));
  }
  e->leaves = leaves;
  PetscCall(PetscLogEventEnd(VP_EVENT_EXCHANGE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpExchangerRun(VpExchanger e, const void *roots, void *leaves)
{
  VpGhosts ghosts;

  PetscFunctionBegin;
  PetscCall(VpExchangerBegin(e, roots, leaves, &ghosts));
  PetscCall(VpArrive(ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL on one rank */
static PetscErrorCode LevelExchanger(VpLevel level, VpGhostKind kind, VpExchanger *e)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(level->mesh->comm, &size));
  if (size > 1 && !level->exchanger[kind])
    PetscCall(Create(level, level->mesh->sf[kind], (PetscBool)(kind == VP_GHOST_SIDE), &level->exchanger[kind]));
  *e = level->exchanger[kind];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelExchangeBegin(VpLevel level, VpGhostKind kind, const void *own, void *ghost, VpGhosts *ghosts)
{
  VpExchanger e;

  PetscFunctionBegin;
  *ghosts = VpGhostsAt(ghost);
  PetscCall(LevelExchanger(level, kind, &e));
  if (e) PetscCall(VpExchangerBegin(e, own, ghost, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelRefreshCurrent(VpLevel level, const VpPatchView *patches, unsigned done, void *const x[2], VpGhosts *ghosts)
{
  void *const ghost = (char *)x[0] + level->mesh->nown * level->block;
  VpExchanger e;

  PetscFunctionBegin;
  *ghosts = VpGhostsAt(ghost);
  PetscCall(LevelExchanger(level, VP_GHOST_SWEEP, &e));
  if (!e) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(level->ops->current(patches, VpMessageItems(&e->messages, 0), e->messages.list[0], done, x, e->messages.data[0]));
  PetscCall(VpExchangerBegin(e, NULL, ghost, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelRefresh(VpLevel level, VpGhostKind kind, void *v, VpGhosts *ghosts)
{
  PetscFunctionBegin;
  PetscCall(VpLevelExchangeBegin(level, kind, v, (char *)v + level->mesh->nown * level->block, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelExchange(VpLevel level, VpGhostKind kind, void *v)
{
  VpGhosts ghosts;

  PetscFunctionBegin;
  PetscCall(VpLevelRefresh(level, kind, v, &ghosts));
  PetscCall(VpArrive(ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
