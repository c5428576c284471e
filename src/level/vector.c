/* Vectors that know their state. Every build checks what a verb requires: a check costs nothing next to the work that follows. */
#include "internal.h"

/* within[kind]: bits of the kinds whose ghosts are among those of `kind` */
static const unsigned within[] = {[VP_GHOST_FACE] = 1u << VP_GHOST_FACE,
                                  [VP_GHOST_SWEEP] = 1u << VP_GHOST_FACE | 1u << VP_GHOST_SWEEP | 1u << VP_GHOST_CHILD,
                                  [VP_GHOST_HALO] = 1u << VP_GHOST_FACE | 1u << VP_GHOST_SWEEP | 1u << VP_GHOST_CHILD | 1u << VP_GHOST_HALO,
                                  [VP_GHOST_ALL] = ~(1u << VP_GHOST_SIDE),
                                  [VP_GHOST_CHILD] = 1u << VP_GHOST_CHILD,
                                  [VP_GHOST_SIDE] = 1u << VP_GHOST_SIDE,
                                  [VP_GHOST_NONE] = 0};

static PetscBool IsCurrent(VpVector v, VpGhostKind kind)
{
  return (PetscBool) !(within[kind] & ~v->state.current);
}

static void *GhostsOf(VpVector v, int buffer)
{
  return (char *)v->buffer[buffer] + v->level->mesh->nown * v->level->block;
}

#define Require(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

/* Bytes of a buffer. Ghosts by cells and ghosts by sides begin at the same place, and the buffer holds either. */
static size_t CountBytes(VpVector v)
{
  return PetscMax(v->level->mesh->nlocal, v->level->view.nlocal) * v->level->block;
}

static PetscErrorCode AllocBuffers(VpVector v, int buffers, const char *what)
{
  PetscFunctionBegin;
  for (int i = 0; i < buffers; i++) PetscCall(v->level->backend->alloc(CountBytes(v), what, &v->buffer[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorCreate(VpLevel level, int buffers, const char *what, VpVector *out)
{
  VpVector v;

  PetscFunctionBegin;
  PetscCall(PetscNew(&v));
  *out = v;
  v->level = VpReference(level);
  v->under_way = VP_GHOST_NONE;
  v->state = (VpVectorState){.current = ~0u, .zero = PETSC_TRUE};
  PetscCall(VpTogether(level->mesh->comm, AllocBuffers(v, buffers, what)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorCreateWindow(VpVector of, VpLevel level, int32_t first, VpVector *out)
{
  VpVector v;

  PetscFunctionBegin;
  PetscCall(VpVectorCreate(level, 0, NULL, out));
  v = *out;
  v->window = PETSC_TRUE;
  v->buffer[0] = (char *)of->buffer[0] + first * level->block;
  v->state = (VpVectorState){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorDestroy(VpVector *out)
{
  VpVector v = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) {
    if (v->buffer[i] && !v->window) PetscCall(v->level->backend->release(v->buffer[i]));
  }
  PetscCall(VpLevelDestroy(&v->level));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VpGhosts.arrive of exchanges that verbs begin. Ghosts that arrive during a sweep become current in both buffers. */
static PetscErrorCode ArriveGhosts(void *context)
{
  VpVector      v = (VpVector)context;
  const VpLevel level = v->level;

  PetscFunctionBegin;
  if (v->under_way == VP_GHOST_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpArrive(v->travel));
  if (v->done) PetscCall(level->backend->copy(GhostsOf(v, 0), (level->mesh->nsweep - level->mesh->nown) * level->block, GhostsOf(v, 1)));
  v->state.current |= within[v->under_way];
  v->under_way = VP_GHOST_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes that ghosts of a kind are under way. Without messages these ghosts have arrived. */
static PetscErrorCode DepartGhosts(VpVector v, VpGhostKind kind)
{
  PetscFunctionBegin;
  v->under_way = kind;
  if (!v->travel.arrive) PetscCall(ArriveGhosts(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static VpGhosts GhostsNow(VpVector v)
{
  VpGhosts ghosts = VpGhostsAt(GhostsOf(v, 0));

  if (v->under_way != VP_GHOST_NONE) ghosts = (VpGhosts){ghosts.values, ArriveGhosts, v};
  return ghosts;
}

PetscErrorCode VpVectorArrive(VpVector v)
{
  return ArriveGhosts(v);
}

PetscErrorCode VpVectorAbandon(VpVector v)
{
  PetscFunctionBegin;
  PetscCall(ArriveGhosts(v));
  v->done = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorZero(VpVector v)
{
  PetscFunctionBegin;
  PetscCall(VpVectorWrite(v, VP_GHOST_ALL, NULL));
  v->state = (VpVectorState){.current = ~0u, .zero = PETSC_TRUE, .blank = PETSC_TRUE};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins to fetch stale ghosts of a kind. VP_GHOST_HALO travels with VP_GHOST_ALL. */
static PetscErrorCode FetchGhosts(VpVector v, VpGhostKind kind)
{
  const VpGhostKind travels = kind == VP_GHOST_HALO ? VP_GHOST_ALL : kind;

  PetscFunctionBegin;
  if (IsCurrent(v, kind)) PetscFunctionReturn(PETSC_SUCCESS);
  if (v->under_way != VP_GHOST_NONE && !(within[kind] & ~within[v->under_way])) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ArriveGhosts(v));
  v->state.current &= kind == VP_GHOST_SIDE ? within[VP_GHOST_SIDE] : within[VP_GHOST_ALL]; /* Both kinds share memory. */
  PetscCall(VpGhostExchangeBegin(&v->level->exchange, travels, v->buffer[0], GhostsOf(v, 0), &v->travel));
  PetscCall(DepartGhosts(v, travels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorReadBegin(VpVector v, VpGhostKind kind, const void **values, VpGhosts *ghosts)
{
  PetscFunctionBegin;
  Require(!v->done, "A vector is read during a sweep");
  if (v->state.blank) PetscCall(v->level->backend->zero(v->buffer[0], CountBytes(v)));
  v->state.blank = PETSC_FALSE;
  PetscCall(FetchGhosts(v, kind));
  if (values) *values = v->buffer[0];
  if (ghosts) *ghosts = GhostsNow(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorRead(VpVector v, VpGhostKind kind, const void **values)
{
  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(v, kind, values, NULL));
  PetscCall(ArriveGhosts(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorWrite(VpVector v, VpGhostKind kind, void **values)
{
  PetscFunctionBegin;
  Require(!v->done, "A vector is written during a sweep");
  Require(v->under_way == VP_GHOST_NONE, "A vector is written while its ghosts are under way");
  v->state = (VpVectorState){.current = within[kind]};
  if (values) *values = v->buffer[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorAdd(VpVector v, VpGhostKind kind, PetscBool *add, void **values)
{
  PetscFunctionBegin;
  Require(IsCurrent(v, kind), "A vector's ghosts are added to, but they are stale");
  *add = (PetscBool)!v->state.zero;
  PetscCall(VpVectorWrite(v, kind, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorChange(VpVector v, VpGhostKind before, VpGhostKind after, void **values)
{
  PetscFunctionBegin;
  PetscCall(VpVectorRead(v, before, NULL));
  PetscCall(VpVectorWrite(v, after, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const void *VpVectorGhosts(VpVector v)
{
  return GhostsOf(v, 0);
}

PetscErrorCode VpVectorSwept(VpVector v, unsigned colors)
{
  PetscFunctionBegin;
  Require(v->buffer[1], "A vector with one buffer is swept");
  Require(v->under_way == VP_GHOST_NONE && !v->state.blank, "A vector is swept whose values are not there yet");
  v->done |= colors;
  v->state = (VpVectorState){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorSettle(VpVector v, const VpPatchView *patches, int32_t count)
{
  PetscFunctionBegin;
  if (v->done) PetscCall(v->level->ops->settle(patches, count, v->done, v->buffer));
  v->done = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorRenewGhosts(VpVector v, const VpPatchView *patches, VpGhosts *ghosts)
{
  PetscFunctionBegin;
  Require(v->under_way == VP_GHOST_NONE, "A vector's ghosts are renewed while others are under way");
  PetscCall(VpGhostExchangeBeginCurrent(&v->level->exchange, patches, v->done, v->buffer, &v->travel));
  PetscCall(DepartGhosts(v, VP_GHOST_SWEEP));
  *ghosts = GhostsNow(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorGetState(VpVector v, VpVectorState *state)
{
  PetscFunctionBegin;
  Require(v->under_way == VP_GHOST_NONE && !v->done, "A vector's ghosts are under way, or a sweep is going on, where work ends");
  *state = v->state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorSetState(VpVector v, const VpVectorState *state)
{
  PetscFunctionBegin;
  Require(v->under_way == VP_GHOST_NONE && !v->done, "A vector's ghosts are under way, or a sweep is going on, where work begins");
  v->state = *state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorResidual(VpVector x, VpGhostKind kind, VpVector b, VpVector r)
{
  const VpLevel level = x->level;
  const void   *values, *right = NULL;
  void         *to;
  VpGhosts      ghosts;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(x, kind, &values, &ghosts));
  if (b) PetscCall(VpVectorReadBegin(b, VP_GHOST_NONE, &right, NULL));
  PetscCall(VpVectorWrite(r, VP_GHOST_NONE, &to));
  PetscCall(PetscLogEventBegin(VP_EVENT_APPLY, 0, 0, 0, 0));
  PetscCall(level->ops->apply(&level->view, 0, level->view.nown, values, ghosts, right, to));
  PetscCall(VpLogFlops(level->backend, VpLevelApplyFlops(level)));
  PetscCall(PetscLogEventEnd(VP_EVENT_APPLY, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
