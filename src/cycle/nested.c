/* Nested iteration, an initial guess: the coarsest problem is solved, then on every level below the finest the prolonged solution is
   refined once, x += M (b - A x), with the cycle from that level down. Solutions and residuals are double precision in any case. Levels of
   an adaptive mesh that are parts go on from the solution of the finest level that is whole: it is prolonged and smoothed from level to
   level (VpCycleRise).

   The right-hand sides b_l = P^T b are restricted in the cycle's precision: their rounding is far below what the guess can be good for. */
#include "composite.h"
#include "internal.h"

struct VpNested_ {
  VpCycle    cycle;
  PetscInt   nlevel, first; /* first: the finest level that is whole */
  VpLevel   *level;         /* [nlevel] outer operators of whole levels; the finest is the caller's */
  VpMove    *move;          /* [nlevel] as in the cycle */
  VpVector  *b, *x;         /* [nlevel] own right-hand sides and solutions of whole levels, not of the finest */
  VpVector  *vector;        /* [5 nlevel] those, and the cycle's below the finest level */
  VpRecorded below;         /* the work on all levels but the finest */
};

PetscErrorCode VpNestedCreate(VpCycle cycle, VpLevel finest, VpNested *out)
{
  const PetscInt nlevel = cycle->nlevel;
  VpNested       nested;

  PetscFunctionBegin;
  PetscCall(PetscNew(&nested));
  *out = nested;
  nested->cycle = cycle;
  nested->nlevel = nlevel;
  nested->first = cycle->parts;
  PetscCall(PetscCalloc3(nlevel, &nested->level, nlevel, &nested->move, 5 * nlevel, &nested->vector));
  nested->b = nested->vector;
  nested->x = nested->b + nlevel;
  nested->level[0] = VpReference(finest);
  if (!cycle->parts && cycle->level[0]->mesh != finest->mesh) { /* a copy, which has other coarser meshes */
    PetscCall(VpLevelCreateOuter(cycle->level[0]->mesh, &finest->problem, finest->backend, &nested->level[0]));
    PetscCall(VpLevelDestroy(&finest));
    finest = nested->level[0];
  }
  for (PetscInt l = PetscMax(1, nested->first); l < nlevel; l++) {
    VpProblem problem = cycle->level[l]->problem;

    problem.exponent = finest->problem.exponent;
    PetscCall(VpLevelCreateOuter(cycle->level[l]->mesh, &problem, finest->backend, &nested->level[l]));
    PetscCall(VpVectorCreate(nested->level[l], 1, "right-hand side", &nested->b[l]));
    PetscCall(VpVectorCreate(nested->level[l], 1, "solution", &nested->x[l]));
    if (l > nested->first) PetscCall(VpMoveCreate(cycle->level[l - 1]->mesh->coarser, nested->level[l], &nested->move[l]));
  }
  for (PetscInt l = nested->first; l + 1 < nlevel; l++) {
    if (!nested->level[l]->transfer.P) PetscCall(VpLevelSetTransfer(nested->level[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNestedDestroy(VpNested *out)
{
  VpNested       nested = *out;
  const PetscInt nlevel = nested ? nested->nlevel : 0;

  PetscFunctionBegin;
  *out = NULL;
  if (!nested) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpRecordedForget(nested->level[0]->backend, &nested->below));
  for (PetscInt l = 0; l < nlevel; l++) {
    PetscCall(VpVectorDestroy(&nested->b[l]));
    PetscCall(VpVectorDestroy(&nested->x[l]));
    PetscCall(VpMoveDestroy(&nested->move[l]));
    PetscCall(VpLevelDestroy(&nested->level[l]));
  }
  PetscCall(PetscFree3(nested->level, nested->move, nested->vector));
  PetscCall(PetscFree(nested));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the own values of an outer vector that is about to be written */
static PetscErrorCode Write(VpVector v, double **values)
{
  void *own;

  PetscFunctionBegin;
  PetscCall(VpVectorWrite(v, VP_GHOST_NONE, &own));
  *values = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b_l of all levels below the finest, through the cycle's own vectors, where those of parts stay. On leaves of a part b is their own, and
   no restriction. */
static PetscErrorCode RestrictAll(VpNested nested)
{
  const VpCycle cycle = nested->cycle;
  double       *b = NULL;

  PetscFunctionBegin;
  if (cycle->composite) PetscCall(VpCompositeEnter(cycle->composite, 0, cycle->b[0]));
  for (PetscInt l = 0; l + 1 < nested->nlevel; l++) {
    PetscCall(VpRestrict(cycle->level[l], cycle->move[l + 1], cycle->b[l], cycle->b[l + 1]));
    if (l < nested->first) PetscCall(VpCompositeEnter(cycle->composite, l + 1, cycle->b[l + 1]));
    if (l + 1 < nested->first) continue;
    PetscCall(Write(nested->b[l + 1], &b));
    PetscCall(VpVectorLeave(cycle->b[l + 1], PETSC_FALSE, 1, b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = M b on the coarsest level, x += M (b - A x) on others */
static PetscErrorCode Refine(VpNested nested, PetscInt l)
{
  const VpLevel   level = nested->level[l];
  const PetscBool add = (PetscBool)(l < nested->nlevel - 1);
  const void     *b, *x;
  double         *refined = NULL;
  VpGhosts        ghosts;
  VpVector        r;

  PetscFunctionBegin;
  PetscCall(VpCycleBegin(nested->cycle, l, &r));
  PetscCall(VpVectorReadBegin(nested->b[l], VP_GHOST_NONE, &b, NULL));
  if (add) {
    PetscCall(VpVectorReadBegin(nested->x[l], level->reads, &x, &ghosts));
    PetscCall(VpVectorEnterResidual(r, level, 1, x, ghosts, b, NULL));
  } else PetscCall(VpVectorEnter(r, 1, b));
  PetscCall(Write(nested->x[l], &refined));
  PetscCall(VpCycleSolve(nested->cycle, l, PETSC_FALSE, add, 1, refined));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of level l = P x of the next */
static PetscErrorCode ProlongTo(VpNested nested, PetscInt l, double *x)
{
  const VpLevel fine = nested->level[l];

  return VpProlong(fine, nested->move[l + 1], nested->x[l + 1], fine->view.nown, PETSC_FALSE, x);
}

/* from b of the cycle's finest level to the solution on the next */
static PetscErrorCode Below(void *context)
{
  VpNested       nested = (VpNested)context;
  const PetscInt last = nested->nlevel - 1;
  double        *x = NULL;

  PetscFunctionBegin;
  PetscCall(RestrictAll(nested));
  PetscCall(Refine(nested, last));
  for (PetscInt l = last - 1; l >= PetscMax(1, nested->first); l--) {
    PetscCall(Write(nested->x[l], &x));
    PetscCall(ProlongTo(nested, l, x));
    PetscCall(Refine(nested, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the guess on all leaves, from the solution on the finest whole level */
static PetscErrorCode Above(VpNested nested, double *x)
{
  const VpCycle  cycle = nested->cycle;
  const PetscInt l = nested->first;
  const void    *own;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(nested->b[l], VP_GHOST_NONE, &own, NULL));
  PetscCall(VpVectorEnter(cycle->b[l], 1, own));
  PetscCall(VpVectorReadBegin(nested->x[l], VP_GHOST_NONE, &own, NULL));
  PetscCall(VpVectorEnter(cycle->x[l], ldexp(1, -cycle->level[l]->problem.exponent), own));
  PetscCall(VpCycleRise(cycle));
  PetscCall(VpCycleLeave(cycle, 0, PETSC_FALSE, 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReplayBelow(VpNested nested)
{
  const VpCycle  cycle = nested->cycle;
  const PetscInt own = 2 * nested->nlevel, others = VpCycleVectors(cycle, 1, nested->vector + own);

  PetscFunctionBegin;
  PetscCall(VpReplay(cycle->level[0], &nested->below, own + others, nested->vector, Below, nested));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNestedGuess(VpNested nested, double *x)
{
  PetscFunctionBegin;
  for (PetscInt l = PetscMax(1, nested->first); l < nested->nlevel; l++) { /* an error may have ended the last guess anywhere */
    PetscCall(VpVectorAbandon(nested->b[l]));
    PetscCall(VpVectorAbandon(nested->x[l]));
  }
  if (nested->nlevel == 1) PetscCall(VpCycleSolve(nested->cycle, 0, PETSC_FALSE, PETSC_FALSE, 1, x));
  else {
    if (nested->cycle->whole && !nested->first) PetscCall(ReplayBelow(nested));
    else PetscCall(Below(nested));
    if (nested->first) PetscCall(Above(nested, x));
    else PetscCall(ProlongTo(nested, 0, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
