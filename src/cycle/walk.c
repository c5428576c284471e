/* Walks through the levels: V, W and F cycles, and the partial levels of an adaptive mesh. Level 0 is the finest. Every level has vectors b
   and x, and r = b - A x where it is needed. */
#include "internal.h"

/* Sweeps `count` times (at->repeats times as often). */
static PetscErrorCode SmoothLevel(const VpCycleLevel *at, PetscInt count, PetscBool reverse)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < count * at->repeats; i++) PetscCall(VpSmootherSweep(at->smoother, reverse, at->b, at->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = b - A x. Fetches all ghosts of x, because the prolongation will add to them. */
static PetscErrorCode ComputeResidual(VpCycleLevel *at)
{
  PetscFunctionBegin;
  if (!at->r) PetscCall(VpVectorCreate(at->level, 1, "residual", &at->r));
  PetscCall(VpVectorResidual(at->x, VP_GHOST_ALL, at->b, at->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += P x of the next level */
static PetscErrorCode CorrectLevel(const VpCycleLevel *at)
{
  const VpLevel level = at->level;
  PetscBool     add;
  void         *x;

  PetscFunctionBegin;
  PetscCall(VpVectorAdd(at->x, VP_GHOST_HALO, &add, &x));
  PetscCall(VpProlong(level, at[1].move, at[1].x, level->mesh->nhalo, add, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to[places[i]] = from[others[i]] */
static PetscErrorCode MoveCells(VpLevel leaves, int32_t n, const int32_t *others, VpVector from, const int32_t *places, VpVector to)
{
  const void *values;
  void       *changed;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(from, VP_GHOST_NONE, &values));
  PetscCall(VpVectorChange(to, VP_GHOST_NONE, VP_GHOST_NONE, &changed));
  PetscCall(leaves->backend->move(n, leaves->block, others, values, places, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleFromLeaves(VpCycle cycle, PetscInt l)
{
  const VpPartial *p = cycle->at[l].partial;

  PetscFunctionBegin;
  if (p) PetscCall(MoveCells(cycle->leaves.level, p->n, p->leaf, cycle->leaves.in, p->cell, cycle->at[l].b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleToLeaves(VpCycle cycle, PetscInt l)
{
  const VpPartial *p = cycle->at[l].partial;

  PetscFunctionBegin;
  if (p) PetscCall(MoveCells(cycle->leaves.level, p->n, p->cell, cycle->at[l].x, p->leaf, cycle->leaves.out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b += sign times the terms that x of the next level adds to A x on this level */
static PetscErrorCode AddCoarse(const VpCycleLevel *at, int sign)
{
  const void *coarse;
  void       *changed;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(at[1].x, VP_GHOST_SWEEP, &coarse));
  PetscCall(VpVectorChange(at->b, VP_GHOST_SWEEP, VP_GHOST_SWEEP, &changed));
  PetscCall(at->level->ops->add_coarse(&at->level->view, &at->partial->interfaces, sign, coarse, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b of the next level -= the terms that x adds to A x there and, where the coefficient varies, those that the next level's x adds beyond
   its own form */
static PetscErrorCode SubtractFine(const VpCycleLevel *at)
{
  const void *values, *coarse;
  void       *changed;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(at->x, VP_GHOST_SWEEP, &values));
  PetscCall(VpVectorRead(at[1].x, VP_GHOST_SWEEP, &coarse));
  PetscCall(VpVectorChange(at[1].b, VP_GHOST_NONE, VP_GHOST_NONE, &changed));
  PetscCall(at->level->ops->subtract_fine(&at->level->view, &at[1].level->view, &at->partial->interfaces, values, coarse, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves on the interface patches of a step. */
static PetscErrorCode SolveStep(const VpCycleLevel *at, int step)
{
  const VpPartial  *p = at->partial;
  const VpGhostKind after[] = {p->exchanges ? VP_GHOST_NONE : VP_GHOST_SWEEP, p->exchanges ? VP_GHOST_NONE : VP_GHOST_HALO};
  const void       *coarse;
  void             *b, *x, *xc;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(at[1].b, VP_GHOST_SWEEP, &coarse));
  PetscCall(VpVectorChange(at->b, VP_GHOST_SWEEP, after[0], &b));
  PetscCall(VpVectorChange(at->x, VP_GHOST_HALO, after[1], &x));
  PetscCall(VpVectorChange(at[1].x, VP_GHOST_HALO, after[1], &xc));
  PetscCall(at->level->ops->solve_interfaces(&at->level->view, &at[1].level->view, &p->interfaces, p->interfaces.start[step],
                                             p->interfaces.start[step + 1], b, x, coarse, xc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves on all interface patches between a level and the next one. Corrects both x, and updates b for the next level's x. The patches
   themselves subtract what SubtractFine() does. Requires: AddCoarse() with sign -1 has changed b for that x; b of the next level is the
   leaves' own, and if that level is partial, AddCoarse() has changed it, too. */
static PetscErrorCode SolveInterfaces(const VpCycleLevel *at, PetscBool reverse)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_SWEEP, 0, 0, 0, 0));
  for (int i = 0; i < VP_INTERFACE_COLORS; i++) {
    const int step = reverse ? VP_INTERFACE_COLORS - 1 - i : i;

    if (at->partial->steps >> step & 1) PetscCall(SolveStep(at, step));
  }
  PetscCall(PetscLogEventEnd(VP_EVENT_SWEEP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Goes down from a partial level. Pre-smoothing also corrects x on the next level's leaves, which stays and needs the leaves' own b. In the
   residual, values beyond the level's end count as 0. On the next level's leaves, the residual is b less the terms that this level adds to
   A x. Where the coefficient varies, the coarser level has smaller terms there, and on the cells beyond, than the leaves and this level
   have. */
static PetscErrorCode GoDownPartial(VpCycle cycle, PetscInt l)
{
  VpCycleLevel  *at = &cycle->at[l];
  const PetscInt count = cycle->options.pre;

  PetscFunctionBegin;
  for (PetscInt k = 0; !l && k <= cycle->npartial; k++) PetscCall(VpVectorZero(cycle->at[k].x));
  if (!l) PetscCall(VpCycleFromLeaves(cycle, l));
  if (count) PetscCall(VpCycleFromLeaves(cycle, l + 1));
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(VpSmootherSweepEnds(at->smoother, PETSC_TRUE, at->b, at->x));
    PetscCall(SolveInterfaces(at, PETSC_TRUE));
    PetscCall(VpSmootherSweep(at->smoother, PETSC_TRUE, at->b, at->x));
  }
  if (count) {
    PetscCall(AddCoarse(at, 1));
    PetscCall(ComputeResidual(at));
  }
  PetscCall(VpRestrict(at->level, at[1].move, count ? at->r : at->b, at[1].b));
  PetscCall(VpCycleFromLeaves(cycle, l + 1));
  if (count) PetscCall(SubtractFine(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smooths on the way up on a partial level: patches, interface patches, then once more the patches that see cells beyond the end. Interface
   patches take the leaves' own b, which pre-smoothing has changed. */
static PetscErrorCode GoUpPartial(VpCycle cycle, PetscInt l)
{
  const VpCycleLevel *at = &cycle->at[l];

  PetscFunctionBegin;
  PetscCall(AddCoarse(at, -1));
  if (cycle->options.pre) PetscCall(VpCycleFromLeaves(cycle, l + 1));
  if (cycle->options.pre && l + 1 < cycle->npartial) PetscCall(AddCoarse(at + 1, -1));
  for (PetscInt i = 0; i < cycle->options.post; i++) {
    PetscCall(VpSmootherSweep(at->smoother, PETSC_FALSE, at->b, at->x));
    PetscCall(SolveInterfaces(at, PETSC_FALSE));
    PetscCall(VpSmootherSweepEnds(at->smoother, PETSC_FALSE, at->b, at->x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does not smooth a finest level with most of the cells: this would cost most of a cycle, and a solve begins at a few percent of the
   residual without it. A finest level whose cells crowd at a point costs little, and a solve would begin at more than the residual without
   it. */
PetscErrorCode VpCycleRise(VpCycle cycle)
{
  const PetscBool large = (PetscBool)(2 * (double)cycle->at[0].level->mesh->ncell > 3 * (double)cycle->at[1].level->mesh->ncell);

  PetscFunctionBegin;
  for (PetscInt l = cycle->npartial - 1; l >= 0; l--) {
    PetscCall(VpVectorZero(cycle->at[l].x));
    PetscCall(CorrectLevel(&cycle->at[l]));
    if (l || !large) PetscCall(GoUpPartial(cycle, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleDown(const VpPass *pass, PetscInt l)
{
  const VpCycleOptions *o = &pass->cycle->options;
  VpCycleLevel         *at = &pass->cycle->at[l];
  VpVector              r = at->b;

  PetscFunctionBegin;
  if (l < pass->cycle->npartial) {
    PetscCall(GoDownPartial(pass->cycle, l));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!at->smoother) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SmoothLevel(at, pass->transpose ? o->post : o->pre, (PetscBool)(pass->transpose || o->symmetric)));
  if (!VpVectorIsZero(at->x)) {
    PetscCall(ComputeResidual(at));
    r = at->r;
  }
  if (l == pass->cycle->nlevel - 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpRestrict(at->level, at[1].move, r, at[1].b));
  PetscCall(VpVectorZero(at[1].x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the ghosts of b before it smooths. They left in VpCycleSendGhosts and have had time to arrive. */
PetscErrorCode VpCycleUp(const VpPass *pass, PetscInt l)
{
  const VpCycleOptions *o = &pass->cycle->options;
  const VpCycleLevel   *at = &pass->cycle->at[l];

  PetscFunctionBegin;
  if (l < pass->cycle->nlevel - 1) PetscCall(CorrectLevel(at));
  PetscCall(VpVectorArrive(at->b));
  if (l < pass->cycle->npartial) PetscCall(GoUpPartial(pass->cycle, l));
  else if (at->smoother) PetscCall(SmoothLevel(at, pass->transpose ? o->pre : o->post, (PetscBool)(pass->transpose && !o->symmetric)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts the messages with the ghosts of all b only now, so that messages of the way down need not queue behind them. They travel while the
   coarsest levels work. */
PetscErrorCode VpCycleSendGhosts(const VpPass *pass)
{
  const VpCycle cycle = pass->cycle;

  PetscFunctionBegin;
  for (PetscInt l = cycle->nlevel - 1; l >= pass->level; l--) {
    if (cycle->at[l].smoother) PetscCall(VpVectorReadBegin(cycle->at[l].b, VP_GHOST_SWEEP, NULL, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for one column after the other, in vectors of one column. */
static PetscErrorCode SolveColumns(VpCycle cycle, VpVector b, VpVector x)
{
  const VpLevel level = cycle->column_b->level;
  const size_t  bytes = level->mesh->nown * level->block;
  const void   *from, *solved;
  void         *right, *to;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(b, VP_GHOST_NONE, &from));
  PetscCall(VpVectorWrite(x, VP_GHOST_NONE, &to));
  for (size_t k = 0; k < (size_t)cycle->ncolumn; k++) {
    PetscCall(VpVectorWrite(cycle->column_b, VP_GHOST_NONE, &right));
    PetscCall(level->backend->copy((const char *)from + k * bytes, bytes, right));
    PetscCall(VpVectorZero(cycle->column_x));
    PetscCall(VpCoarseSolve(cycle->coarse, 1, cycle->column_b, cycle->column_x));
    PetscCall(VpVectorRead(cycle->column_x, VP_GHOST_NONE, &solved));
    PetscCall(level->backend->copy(solved, bytes, (char *)to + k * bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleSolveCoarsest(VpCycle cycle)
{
  const VpCycleLevel *at = &cycle->at[cycle->nlevel - 1];
  const VpVector      b = at->smoother && !VpVectorIsZero(at->x) ? at->r : at->b;

  PetscFunctionBegin;
  if (cycle->leaves.handed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(VP_EVENT_COARSE, 0, 0, 0, 0));
  if (cycle->ncolumn && !VpCoarseTakesColumns(cycle->coarse)) PetscCall(SolveColumns(cycle, b, at->x));
  else PetscCall(VpCoarseSolve(cycle->coarse, PetscMax(1, cycle->ncolumn), b, at->x));
  PetscCall(PetscLogEventEnd(VP_EVENT_COARSE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += M (b - A x) from level l down. An F cycle corrects by an F cycle, then by a V cycle, and its adjoint in reverse order. A repeated
   coarse correction starts from the previous one. */
static PetscErrorCode CycleFrom(const VpPass *pass, PetscInt l, VpCycleType type)
{
  const VpCycle  cycle = pass->cycle;
  const PetscInt visits = type == VP_CYCLE_V ? 1 : cycle->at[l].visits;

  PetscFunctionBegin;
  PetscCall(VpCycleDown(pass, l));
  if (l == cycle->nlevel - 1) {
    PetscCall(VpCycleSendGhosts(pass));
    PetscCall(VpCycleSolveCoarsest(cycle));
  } else {
    for (PetscInt visit = 0; visit < visits; visit++)
      PetscCall(CycleFrom(pass, l + 1, type == VP_CYCLE_F && visit != (pass->transpose ? visits - 1 : 0) ? VP_CYCLE_V : type));
  }
  PetscCall(VpCycleUp(pass, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleWhole(const VpPass *pass)
{
  return CycleFrom(pass, pass->level, pass->cycle->chosen.type);
}
