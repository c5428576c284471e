/* The multigrid cycle. Level 0 is the finest. Every level has vectors b, x and, where it is needed, r = b - A x. */
#include "internal.h"

/* x = S(...S(x)) */
static PetscErrorCode Smooth(VpCycle cycle, PetscInt l, PetscInt count, PetscBool reverse)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < count * cycle->repeats[l]; i++)
    PetscCall(VpSmootherSweep(cycle->smoother[l], reverse, cycle->b[l], cycle->x[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All ghosts of x are fetched: prolongation adds to them. */
PetscErrorCode VpCycleResidual(VpCycle cycle, PetscInt l)
{
  const VpLevel level = cycle->level[l];
  const void   *x, *b;
  void         *r;
  VpGhosts      ghosts;

  PetscFunctionBegin;
  if (!cycle->r[l]) PetscCall(VpVectorCreate(level, 1, "residual", &cycle->r[l]));
  PetscCall(VpVectorReadBegin(cycle->x[l], VP_GHOST_ALL, &x, &ghosts));
  PetscCall(VpVectorReadBegin(cycle->b[l], VP_GHOST_NONE, &b, NULL));
  PetscCall(VpVectorWrite(cycle->r[l], VP_GHOST_NONE, &r));
  PetscCall(PetscLogEventBegin(VP_EVENT_APPLY, 0, 0, 0, 0));
  PetscCall(level->ops->apply(&level->view, 0, level->view.nown, x, ghosts, b, r));
  PetscCall(VpLogFlops(level, VpLevelApplyFlops(level)));
  PetscCall(PetscLogEventEnd(VP_EVENT_APPLY, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleCorrect(VpCycle cycle, PetscInt l)
{
  const VpLevel level = cycle->level[l];
  PetscBool     add;
  void         *to;

  PetscFunctionBegin;
  PetscCall(VpVectorAdd(cycle->x[l], VP_GHOST_HALO, &add, &to));
  PetscCall(VpProlong(level, cycle->move[l + 1], cycle->x[l + 1], level->mesh->nhalo, add, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleDown(const VpPass *pass, PetscInt l)
{
  const VpCycle   cycle = pass->cycle;
  const PetscInt  count = pass->transpose ? cycle->options.post : cycle->options.pre;
  const PetscBool reverse = (PetscBool)(pass->transpose || cycle->options.symmetric);
  VpVector        r = cycle->b[l];

  PetscFunctionBegin;
  if (l < cycle->parts) {
    PetscCall(VpCycleDownPart(cycle, l));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Smooth(cycle, l, count, reverse));
  if (!VpVectorIsZero(cycle->x[l])) {
    PetscCall(VpCycleResidual(cycle, l));
    r = cycle->r[l];
  }
  PetscCall(VpRestrict(cycle->level[l], cycle->move[l + 1], r, cycle->b[l + 1]));
  PetscCall(VpVectorZero(cycle->x[l + 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the ghosts of b before it smooths. They left in VpCycleTurn and have had time to arrive. */
PetscErrorCode VpCycleUp(const VpPass *pass, PetscInt l)
{
  const VpCycle   cycle = pass->cycle;
  const PetscInt  count = pass->transpose ? cycle->options.pre : cycle->options.post;
  const PetscBool reverse = (PetscBool)(pass->transpose && !cycle->options.symmetric);

  PetscFunctionBegin;
  PetscCall(VpCycleCorrect(cycle, l));
  PetscCall(VpVectorArrive(cycle->b[l]));
  if (l < cycle->parts) PetscCall(VpCycleUpPart(cycle, l));
  else PetscCall(Smooth(cycle, l, count, reverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts the messages with the ghosts of all b only now, so that messages of the way down need not queue behind them. They travel while the
   coarsest levels work. */
PetscErrorCode VpCycleTurn(const VpPass *pass)
{
  const VpCycle cycle = pass->cycle;

  PetscFunctionBegin;
  for (PetscInt l = cycle->nlevel - 2; l >= pass->level; l--) PetscCall(VpVectorReadBegin(cycle->b[l], VP_GHOST_SWEEP, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += M (b - A x). An F cycle corrects by an F cycle, then by a V cycle; its adjoint does so in reverse order. A repeated
   coarse correction starts from the previous one. */
static PetscErrorCode Cycle(const VpPass *pass, PetscInt l, VpCycleType type)
{
  const VpCycle  cycle = pass->cycle;
  const PetscInt visits = type == VP_CYCLE_V ? 1 : cycle->visits[l];

  PetscFunctionBegin;
  if (l == cycle->nlevel - 1) {
    PetscCall(VpCycleTurn(pass));
    PetscCall(VpCycleSolveCoarsest(cycle));
  } else {
    PetscCall(VpCycleDown(pass, l));
    for (PetscInt visit = 0; visit < visits; visit++)
      PetscCall(Cycle(pass, l + 1, type == VP_CYCLE_F && visit != (pass->transpose ? visits - 1 : 0) ? VP_CYCLE_V : type));
    PetscCall(VpCycleUp(pass, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleWhole(const VpPass *pass)
{
  return Cycle(pass, pass->level, pass->cycle->options.type);
}
