/* The multigrid cycle. Level 0 is the finest. Every level has vectors b, x and, where it is needed, r = b - A x. */
#include "composite.h"
#include "internal.h"
#include "linesearch.h"

/* x = S(...S(x)) */
static PetscErrorCode Smooth(VpCycle cycle, PetscInt l, PetscInt count, PetscBool reverse)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < count * cycle->repeats[l]; i++)
    PetscCall(VpSmootherSweep(cycle->smoother[l], reverse, cycle->b[l], cycle->x[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = b - A x. All ghosts of x are fetched: prolongation adds to them. */
static PetscErrorCode Residual(VpCycle cycle, PetscInt l)
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

/* b of the next level = R r, whose x is to be found from 0 */
static PetscErrorCode Restrict(VpCycle cycle, PetscInt l, VpVector r)
{
  PetscFunctionBegin;
  PetscCall(VpRestrict(cycle->level[l], cycle->move[l + 1], r, cycle->b[l + 1]));
  PetscCall(VpVectorZero(cycle->x[l + 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to = P x of the next level (add: +=) */
static PetscErrorCode Prolong(VpCycle cycle, PetscInt l, PetscBool add, void *to)
{
  const VpLevel level = cycle->level[l];

  return VpProlong(level, cycle->move[l + 1], cycle->x[l + 1], level->mesh->nhalo, add, to);
}

/* x += P x of the next level, or t times that. Ensures: *r is the vector that held b - A x before a line search, else NULL. */
static PetscErrorCode Correct(VpCycle cycle, PetscInt l, VpVector *r)
{
  PetscBool add;
  void     *to;

  PetscFunctionBegin;
  *r = NULL;
  if (cycle->search[l]) {
    *r = VpVectorIsZero(cycle->x[l]) ? cycle->b[l] : cycle->r[l];
    PetscCall(VpLineSearchBegin(cycle->search[l], &to));
    PetscCall(Prolong(cycle, l, PETSC_FALSE, to));
    PetscCall(VpLineSearchStep(cycle->search[l], *r, cycle->x[l]));
  } else {
    PetscCall(VpVectorAdd(cycle->x[l], VP_GHOST_HALO, &add, &to));
    PetscCall(Prolong(cycle, l, add, to));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With line search the coarse correction that was found is made, and the next one begins from 0; else the next one goes on from it. */
static PetscErrorCode Repeat(VpCycle cycle, PetscInt l)
{
  VpVector r;

  PetscFunctionBegin;
  if (!cycle->search[l]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Correct(cycle, l, &r));
  if (!cycle->r[l]) PetscCall(VpVectorCreate(cycle->level[l], 1, "residual", &cycle->r[l]));
  PetscCall(VpLineSearchResidual(cycle->search[l], r, cycle->r[l]));
  PetscCall(Restrict(cycle, l, cycle->r[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of a level with a part of the cells. Pre-smoothing also writes x of the next level's leaves, which stays, and for which the
   leaves' own b is needed. Values beyond the edge count as 0 in the residual, which on those leaves is b less what this level adds to A x.
   Where the coefficient varies, the coarser level adds less there, and on the cells beyond, than the leaves and this level do. */
static PetscErrorCode DownPart(VpCycle cycle, PetscInt l)
{
  const VpComposite c = cycle->composite;
  const VpVector    b = cycle->b[l], x = cycle->x[l], bc = cycle->b[l + 1], xc = cycle->x[l + 1];
  const PetscInt    count = cycle->options.pre;
  VpVector          r = b;

  PetscFunctionBegin;
  for (PetscInt part = 0; !l && part <= cycle->parts; part++) PetscCall(VpVectorZero(cycle->x[part]));
  if (!l) PetscCall(VpCompositeEnter(c, l, b));
  if (count) PetscCall(VpCompositeEnter(c, l + 1, bc));
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(VpSmootherSweepEdges(cycle->smoother[l], PETSC_TRUE, b, x));
    PetscCall(VpCompositeSolveEdges(c, l, PETSC_TRUE, b, x, bc, xc));
    PetscCall(VpSmootherSweep(cycle->smoother[l], PETSC_TRUE, b, x));
  }
  if (count) {
    PetscCall(VpCompositeAddCoarse(c, l, 1, xc, b));
    PetscCall(Residual(cycle, l));
    r = cycle->r[l];
  }
  PetscCall(VpRestrict(cycle->level[l], cycle->move[l + 1], r, bc));
  PetscCall(VpCompositeEnter(c, l + 1, bc));
  if (count) PetscCall(VpCompositeSubtractFine(c, l, x, xc, bc));
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
    PetscCall(DownPart(cycle, l));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Smooth(cycle, l, count, reverse));
  if (!VpVectorIsZero(cycle->x[l])) {
    PetscCall(Residual(cycle, l));
    r = cycle->r[l];
  }
  PetscCall(Restrict(cycle, l, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smooths a level with a part of the cells: its patches, edge patches, then once more those patches that see cells beyond the edge. Edge
   patches take the leaves' own b, which pre-smoothing has changed. */
static PetscErrorCode UpPart(VpCycle cycle, PetscInt l)
{
  const VpComposite c = cycle->composite;
  const VpVector    b = cycle->b[l], x = cycle->x[l], bc = cycle->b[l + 1], xc = cycle->x[l + 1];

  PetscFunctionBegin;
  PetscCall(VpCompositeAddCoarse(c, l, -1, xc, b));
  if (cycle->options.pre) PetscCall(VpCompositeEnter(c, l + 1, bc));
  if (cycle->options.pre && l + 1 < cycle->parts) PetscCall(VpCompositeAddCoarse(c, l + 1, -1, cycle->x[l + 2], bc));
  for (PetscInt i = 0; i < cycle->options.post; i++) {
    PetscCall(VpSmootherSweep(cycle->smoother[l], PETSC_FALSE, b, x));
    PetscCall(VpCompositeSolveEdges(c, l, PETSC_FALSE, b, x, bc, xc));
    PetscCall(VpSmootherSweepEdges(cycle->smoother[l], PETSC_FALSE, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the ghosts of b before it smooths. They left in VpCycleTurn and have had time to arrive. */
PetscErrorCode VpCycleUp(const VpPass *pass, PetscInt l)
{
  const VpCycle   cycle = pass->cycle;
  const PetscInt  count = pass->transpose ? cycle->options.pre : cycle->options.post;
  const PetscBool reverse = (PetscBool)(pass->transpose && !cycle->options.symmetric);
  VpVector        r;

  PetscFunctionBegin;
  PetscCall(Correct(cycle, l, &r));
  PetscCall(VpVectorArrive(cycle->b[l]));
  if (l < cycle->parts) PetscCall(UpPart(cycle, l));
  else PetscCall(Smooth(cycle, l, count, reverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A finest level that has most of the cells costs most of a cycle, and begins with a few percent of the residual. Where cells crowd at a
   point it costs little, and would begin with more than all of the residual. */
PetscErrorCode VpCycleRise(VpCycle cycle)
{
  const PetscBool large = (PetscBool)(2 * (double)cycle->level[0]->mesh->ncell > 3 * (double)cycle->level[1]->mesh->ncell);
  VpVector        r;

  PetscFunctionBegin;
  for (PetscInt l = cycle->parts - 1; l >= 0; l--) {
    PetscCall(VpVectorZero(cycle->x[l]));
    PetscCall(Correct(cycle, l, &r));
    if (l || !large) PetscCall(UpPart(cycle, l));
  }
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

PetscErrorCode VpCycleSolveCoarsest(VpCycle cycle)
{
  const PetscInt l = cycle->nlevel - 1;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_COARSE, 0, 0, 0, 0));
  if (cycle->columns) PetscCall(VpCoarseColumnsSolve(cycle->columns, cycle->coarse, cycle->b[l], cycle->x[l]));
  else PetscCall(VpCoarseSolve(cycle->coarse, cycle->b[l], cycle->x[l]));
  PetscCall(PetscLogEventEnd(VP_EVENT_COARSE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += M (b - A x). An F cycle corrects by an F cycle, then by a V cycle; its adjoint does so in reverse order. */
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
    for (PetscInt visit = 0; visit < visits; visit++) {
      if (visit) PetscCall(Repeat(cycle, l));
      PetscCall(Cycle(pass, l + 1, type == VP_CYCLE_F && visit != (pass->transpose ? visits - 1 : 0) ? VP_CYCLE_V : type));
    }
    PetscCall(VpCycleUp(pass, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleWhole(const VpPass *pass)
{
  return Cycle(pass, pass->level, pass->cycle->options.type);
}
