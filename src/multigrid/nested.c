/* Nested iteration, an initial guess: the coarsest problem solved, then on every level below the finest the prolonged solution refined
   once, x += M (b - A x), with the cycle from that level down. Solutions and residuals are double precision in any case.

   The right-hand sides b_l = P^T b are restricted in the cycle's precision: their rounding is far below what the guess can be good for. */
#include "internal.h"

struct VpNested_ {
  VpCycle    cycle;
  PetscInt   nlevel;
  VpLevel   *level;  /* [nlevel] outer operators; the finest is the caller's */
  VpMove    *move;   /* [nlevel] as in the cycle */
  VpVector  *b, *x;  /* [nlevel] own right-hand sides and solutions, not of the finest */
  VpVector  *vector; /* [5 nlevel] those, and the cycle's below the finest level */
  VpRecorded below;  /* the work on all levels but the finest */
};

PetscErrorCode VpNestedCreate(VpCycle cycle, VpLevel finest, VpNested *out)
{
  const PetscInt nlevel = cycle->nlevel;
  VpNested       nested;

  PetscFunctionBegin;
  PetscCheck(!cycle->composite, finest->mesh->comm, PETSC_ERR_SUP,
             "-ksp_guess_type vpatchdg needs cells of one level, and this mesh has boxes refined %d to %d times", finest->mesh->least,
             finest->mesh->level);
  PetscCall(PetscNew(&nested));
  *out = nested;
  nested->cycle = cycle;
  nested->nlevel = nlevel;
  PetscCall(PetscCalloc3(nlevel, &nested->level, nlevel, &nested->move, 5 * nlevel, &nested->vector));
  nested->b = nested->vector;
  nested->x = nested->b + nlevel;
  nested->level[0] = VpReference(finest);
  if (cycle->level[0]->mesh != finest->mesh) { /* a copy, which has other coarser meshes */
    PetscCall(VpLevelCreateOuter(cycle->level[0]->mesh, &finest->problem, finest->backend, &nested->level[0]));
    PetscCall(VpLevelDestroy(&finest));
  }
  for (PetscInt l = 1; l < nlevel; l++) {
    VpProblem problem = cycle->level[l]->problem;

    problem.exponent = finest->problem.exponent;
    PetscCall(VpLevelCreateOuter(cycle->level[l]->mesh, &problem, finest->backend, &nested->level[l]));
    PetscCall(VpVectorCreate(nested->level[l], 1, "right-hand side", &nested->b[l]));
    PetscCall(VpVectorCreate(nested->level[l], 1, "solution", &nested->x[l]));
    PetscCall(VpMoveCreate(cycle->level[l - 1]->mesh->coarser, nested->level[l], &nested->move[l]));
  }
  for (PetscInt l = 0; l + 1 < nlevel; l++) {
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

/* b_l of all levels below the finest, through the cycle's own vectors */
static PetscErrorCode RestrictAll(VpNested nested)
{
  const VpCycle cycle = nested->cycle;
  double       *b = NULL;

  PetscFunctionBegin;
  for (PetscInt l = 0; l + 1 < nested->nlevel; l++) {
    PetscCall(VpRestrict(cycle->level[l], cycle->move[l + 1], cycle->b[l], cycle->b[l + 1]));
    PetscCall(Write(nested->b[l + 1], &b));
    PetscCall(VpVectorLeave(cycle->b[l + 1], PETSC_FALSE, 1, b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refine(VpNested nested, PetscInt l)
{
  const VpLevel level = nested->level[l];
  const void   *b, *x;
  double       *refined = NULL;
  VpGhosts      ghosts;
  VpVector      r;

  PetscFunctionBegin;
  PetscCall(VpCycleBegin(nested->cycle, l, &r));
  PetscCall(VpVectorReadBegin(nested->x[l], level->reads, &x, &ghosts));
  PetscCall(VpVectorReadBegin(nested->b[l], VP_GHOST_NONE, &b, NULL));
  PetscCall(VpVectorEnterResidual(r, level, 1, x, ghosts, b, NULL));
  PetscCall(Write(nested->x[l], &refined));
  PetscCall(VpCycleSolve(nested->cycle, l, PETSC_FALSE, PETSC_TRUE, 1, refined));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the coarsest problem */
static PetscErrorCode Solve(VpNested nested, PetscInt l)
{
  const void *b;
  double     *x = NULL;
  VpVector    r;

  PetscFunctionBegin;
  PetscCall(VpCycleBegin(nested->cycle, l, &r));
  PetscCall(VpVectorReadBegin(nested->b[l], VP_GHOST_NONE, &b, NULL));
  PetscCall(VpVectorEnter(r, 1, b));
  PetscCall(Write(nested->x[l], &x));
  PetscCall(VpCycleSolve(nested->cycle, l, PETSC_FALSE, PETSC_FALSE, 1, x));
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
  PetscCall(Solve(nested, last));
  for (PetscInt l = last - 1; l > 0; l--) {
    PetscCall(Write(nested->x[l], &x));
    PetscCall(ProlongTo(nested, l, x));
    PetscCall(Refine(nested, l));
  }
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
  for (PetscInt l = 1; l < nested->nlevel; l++) { /* an error may have ended the last guess anywhere */
    PetscCall(VpVectorAbandon(nested->b[l]));
    PetscCall(VpVectorAbandon(nested->x[l]));
  }
  if (nested->nlevel == 1) PetscCall(VpCycleSolve(nested->cycle, 0, PETSC_FALSE, PETSC_FALSE, 1, x));
  else {
    if (nested->cycle->whole) PetscCall(ReplayBelow(nested));
    else PetscCall(Below(nested));
    PetscCall(ProlongTo(nested, 0, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
