/* Applies a cycle as a linear map, z = M r. Its launches are recorded as a whole, or as two pieces, before and after the solve of a
   coarsest level whose KSP works on the host. */
#include "internal.h"

static PetscLogDouble *const counters[VP_COUNTERS] = {&petsc_isend_ct, &petsc_isend_len, &petsc_irecv_ct, &petsc_irecv_len};

typedef struct {
  VpWork    work;
  void     *context;
  PetscBool done;
} Replay;

static PetscErrorCode RunWork(void *context)
{
  Replay *run = context;

  PetscFunctionBegin;
  PetscCall(run->work(run->context));
  run->done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes what the work has done to vectors and counters. flops, counted: the counters before it */
static PetscErrorCode RememberEffects(VpRecorded *recorded, PetscInt n, const VpVector vectors[], PetscLogDouble flops,
                                      const PetscLogDouble counted[])
{
  PetscLogDouble now;

  PetscFunctionBegin;
  PetscCall(PetscGetFlops(&now));
  recorded->flops = now - flops;
  for (int i = 0; i < VP_COUNTERS; i++) recorded->messages[i] = *counters[i] - counted[i];
  if (!recorded->after) PetscCall(PetscCalloc1(n, &recorded->after));
  for (PetscInt i = 0; i < n; i++) {
    if (vectors[i]) PetscCall(VpVectorGetState(vectors[i], &recorded->after[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RepeatEffects(VpLevel level, const VpRecorded *recorded, PetscInt n, const VpVector vectors[])
{
  PetscFunctionBegin;
  PetscCall(VpLogFlops(level->backend, recorded->flops));
  for (int i = 0; i < VP_COUNTERS; i++) *counters[i] += recorded->messages[i];
  for (PetscInt i = 0; i < n; i++) {
    if (vectors[i]) PetscCall(VpVectorSetState(vectors[i], &recorded->after[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpReplay(VpLevel level, VpRecorded *recorded, PetscInt n, const VpVector vectors[], VpWork work, void *context)
{
  Replay         run = {work, context, PETSC_FALSE};
  PetscLogDouble flops, counted[VP_COUNTERS];

  PetscFunctionBegin;
  PetscCall(PetscGetFlops(&flops));
  for (int i = 0; i < VP_COUNTERS; i++) counted[i] = *counters[i];
  PetscCall(level->backend->replay(&recorded->recording, RunWork, &run));
  if (run.done) PetscCall(RememberEffects(recorded, n, vectors, flops, counted));
  else PetscCall(RepeatEffects(level, recorded, n, vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpRecordedForget(const VpBackend *backend, VpRecorded *recorded)
{
  PetscFunctionBegin;
  if (backend->forget) PetscCall(backend->forget(&recorded->recording));
  PetscCall(PetscFree(recorded->after));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt VpCycleVectors(VpCycle cycle, PetscInt l, VpVector vectors[])
{
  PetscInt n = 0;

  for (const VpCycleLevel *at = cycle->at + l; at < cycle->at + cycle->nlevel; at++) {
    vectors[n++] = at->b;
    vectors[n++] = at->x;
    vectors[n++] = at->r;
  }
  return n;
}

/* Resets the vectors: an error may have interrupted the last application. */
PetscErrorCode VpCycleBegin(VpCycle cycle, PetscInt l, VpVector *r)
{
  const PetscInt n = VpCycleVectors(cycle, l, cycle->vectors);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    if (cycle->vectors[i]) PetscCall(VpVectorAbandon(cycle->vectors[i]));
  }
  if (cycle->leaves.handed) PetscCall(VpVectorAbandon(cycle->leaves.x));
  *r = !cycle->npartial || l ? cycle->at[l].b : cycle->leaves.handed ? cycle->leaves.b : cycle->leaves.in;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunWhole(void *context)
{
  const VpPass *pass = context;

  PetscFunctionBegin;
  PetscCall(VpVectorZero(pass->cycle->at[pass->level].x));
  PetscCall(VpCycleWhole(pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No message may be in flight when a recording ends. */
static PetscErrorCode RunDown(void *context)
{
  const VpPass *pass = context;
  const VpCycle cycle = pass->cycle;

  PetscFunctionBegin;
  PetscCall(VpVectorZero(cycle->at[pass->level].x));
  for (PetscInt l = pass->level; l < cycle->nlevel; l++) PetscCall(VpCycleDown(pass, l));
  PetscCall(VpCycleSendGhosts(pass));
  for (PetscInt l = pass->level; l < cycle->nlevel; l++) PetscCall(VpVectorArrive(cycle->at[l].b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunUp(void *context)
{
  const VpPass *pass = context;

  PetscFunctionBegin;
  for (PetscInt l = pass->cycle->nlevel - 1; l >= pass->level; l--) PetscCall(VpCycleUp(pass, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReplayPass(VpCycle cycle, VpRecorded *recorded, VpWork work, VpPass *pass)
{
  PetscFunctionBegin;
  if (cycle->replays) {
    const PetscInt n = VpCycleVectors(cycle, pass->level, cycle->vectors);

    PetscCall(VpReplay(cycle->at[0].level, recorded, n, cycle->vectors, work, pass));
  } else PetscCall(work(pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On all leaves: x = P S P^T b by finite volumes. The levels get b - A x. */
static PetscErrorCode CorrectLeaves(VpCycle cycle)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_COARSE, 0, 0, 0, 0));
  PetscCall(VpVectorZero(cycle->leaves.x));
  PetscCall(VpCoarseSolve(cycle->coarse, 1, cycle->leaves.b, cycle->leaves.x));
  PetscCall(PetscLogEventEnd(VP_EVENT_COARSE, 0, 0, 0, 0));
  PetscCall(VpVectorResidual(cycle->leaves.x, cycle->leaves.level->reads, cycle->leaves.b, cycle->leaves.in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleRun(VpCycle cycle, PetscInt l, PetscBool transpose)
{
  VpPass      pass = {cycle, l, transpose};
  VpRecorded *recorded = cycle->at[l].recorded[!!transpose];

  PetscFunctionBegin;
  if (cycle->leaves.handed && !l) PetscCall(CorrectLeaves(cycle));
  if (cycle->whole || !cycle->replays) PetscCall(ReplayPass(cycle, recorded, RunWhole, &pass));
  else {
    PetscCall(ReplayPass(cycle, recorded, RunDown, &pass));
    PetscCall(VpCycleSolveCoarsest(cycle));
    PetscCall(ReplayPass(cycle, recorded + 1, RunUp, &pass));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleLeave(VpCycle cycle, PetscInt l, PetscBool add, double scale, double *z)
{
  VpVector x = cycle->at[l].x;

  PetscFunctionBegin;
  if (cycle->npartial && !l) {
    for (PetscInt k = 0; k <= cycle->npartial; k++) PetscCall(VpCycleToLeaves(cycle, k));
    x = cycle->leaves.out;
    if (cycle->leaves.handed) {
      PetscCall(VpVectorLeave(cycle->leaves.x, add, VpLevelUndo(cycle->at[l].level, scale), z));
      add = PETSC_TRUE;
    }
  }
  PetscCall(VpVectorLeave(x, add, VpLevelUndo(cycle->at[l].level, scale), z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleSolve(VpCycle cycle, PetscInt l, PetscBool transpose, PetscBool add, double scale, double *z)
{
  PetscFunctionBegin;
  PetscCall(VpCycleRun(cycle, l, transpose));
  PetscCall(VpCycleLeave(cycle, l, add, scale, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpCycleHolds(VpCycle cycle)
{
  return (PetscBool)(!cycle->npartial && cycle->at[0].level->ops->leave_products);
}

PetscErrorCode VpCycleHold(VpCycle cycle, double scale, int n, const double *const y[], double products[])
{
  PetscFunctionBegin;
  PetscCall(VpCycleRun(cycle, 0, PETSC_FALSE));
  PetscCall(VpVectorLeaveProducts(cycle->at[0].x, VpLevelUndo(cycle->at[0].level, scale), n, y, products));
  PetscFunctionReturn(PETSC_SUCCESS);
}
