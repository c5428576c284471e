/* A cycle as a linear map, z = M r, and how its launches are recorded: whole, or before and after a coarsest level whose KSP works on the
   host. */
#include "composite.h"
#include "internal.h"

/* An error may have ended the last application anywhere. */
PetscErrorCode VpCycleBegin(VpCycle cycle, PetscInt l, VpVector *r)
{
  const PetscInt n = VpCycleVectors(cycle, l, cycle->vectors);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    if (cycle->vectors[i]) PetscCall(VpVectorAbandon(cycle->vectors[i]));
  }
  *r = cycle->composite && !l ? VpCompositeIn(cycle->composite) : cycle->b[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Whole(void *context)
{
  const VpPass *pass = context;

  PetscFunctionBegin;
  PetscCall(VpVectorZero(pass->cycle->x[pass->level]));
  PetscCall(VpCycleWhole(pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleSolveCoarsest(VpCycle cycle)
{
  const PetscInt l = cycle->nlevel - 1;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_COARSE, 0, 0, 0, 0));
  if (cycle->columns) PetscCall(VpCoarseColumnsSolve(cycle->columns, cycle->coarse, cycle->b[l], cycle->x[l]));
  else PetscCall(VpCoarseSolve(cycle->coarse, 1, cycle->b[l], cycle->x[l]));
  PetscCall(PetscLogEventEnd(VP_EVENT_COARSE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A record ends with nothing under way. */
static PetscErrorCode AllDown(void *context)
{
  const VpPass *pass = context;
  const VpCycle cycle = pass->cycle;

  PetscFunctionBegin;
  PetscCall(VpVectorZero(cycle->x[pass->level]));
  for (PetscInt l = pass->level; l < cycle->nlevel - 1; l++) PetscCall(VpCycleDown(pass, l));
  PetscCall(VpCycleTurn(pass));
  for (PetscInt l = pass->level; l < cycle->nlevel - 1; l++) PetscCall(VpVectorArrive(cycle->b[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllUp(void *context)
{
  const VpPass *pass = context;

  PetscFunctionBegin;
  for (PetscInt l = pass->cycle->nlevel - 2; l >= pass->level; l--) PetscCall(VpCycleUp(pass, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReplayPass(VpCycle cycle, VpRecorded *recorded, VpWork work, VpPass *pass)
{
  PetscFunctionBegin;
  if (cycle->replays) {
    const PetscInt n = VpCycleVectors(cycle, pass->level, cycle->vectors);

    PetscCall(VpReplay(cycle->level[0], recorded, n, cycle->vectors, work, pass));
  } else PetscCall(work(pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleRun(VpCycle cycle, PetscInt l, PetscBool transpose)
{
  VpPass      pass = {cycle, l, transpose};
  VpRecorded *recorded = &cycle->recorded[2 * (2 * l + !!transpose)];

  PetscFunctionBegin;
  if (cycle->whole || !cycle->replays) PetscCall(ReplayPass(cycle, recorded, Whole, &pass));
  else {
    PetscCall(ReplayPass(cycle, recorded, AllDown, &pass));
    PetscCall(VpCycleSolveCoarsest(cycle));
    PetscCall(ReplayPass(cycle, recorded + 1, AllUp, &pass));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleLeave(VpCycle cycle, PetscInt l, PetscBool add, double scale, double *z)
{
  VpVector x = cycle->x[l];

  PetscFunctionBegin;
  if (cycle->composite && !l) {
    for (PetscInt part = 0; part <= cycle->parts; part++) PetscCall(VpCompositeLeave(cycle->composite, part, cycle->x[part]));
    x = VpCompositeOut(cycle->composite);
  }
  PetscCall(VpVectorLeave(x, add, VpLevelUndo(cycle->level[l], scale), z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleSolve(VpCycle cycle, PetscInt l, PetscBool transpose, PetscBool add, double scale, double *z)
{
  PetscFunctionBegin;
  PetscCall(VpCycleRun(cycle, l, transpose));
  PetscCall(VpCycleLeave(cycle, l, add, scale, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
