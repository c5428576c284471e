/* Nested iteration, an initial guess: the coarsest problem solved, then on every level below the finest the prolonged solution refined
   once, x += M (b - A x), with the cycle from that level down. Solutions and residuals are double precision in any case.

   The right-hand sides b_l = P^T b are restricted in the cycle's precision: their rounding is far below what the guess can be good for. */
#include "internal.h"

struct VpNested_ {
  VpCycle  cycle;
  VpLevel *level;  /* [nlevel] outer operators; the finest is the caller's */
  VpGather *gather; /* [nlevel] as in the cycle */
  void   **b, **x; /* [nlevel] own right-hand sides and solutions, not of the finest */
  VpRecorded below; /* the work on all levels but the finest */
};

PetscErrorCode VpNestedCreate(VpCycle cycle, VpLevel finest, VpNested *out)
{
  const PetscInt nlevel = cycle->nlevel;
  VpNested       nested;

  PetscFunctionBegin;
  PetscCall(PetscNew(&nested));
  *out = nested;
  nested->cycle = cycle;
  PetscCall(PetscCalloc4(nlevel + 1, &nested->level, nlevel, &nested->gather, nlevel, &nested->b, nlevel, &nested->x));
  PetscCall(VpLevelReference(finest));
  nested->level[0] = finest;
  for (PetscInt l = 1; l < nlevel; l++) {
    VpProblem problem = cycle->level[l]->problem;

    problem.exponent = finest->problem.exponent;
    PetscCall(VpLevelCreateOuter(cycle->level[l]->mesh, &problem, finest->backend, &nested->level[l]));
    PetscCall(VpLevelVectorCreate(nested->level[l], "right-hand side", &nested->b[l]));
    PetscCall(VpLevelVectorCreate(nested->level[l], "solution", &nested->x[l]));
    PetscCall(VpGatherCreate(cycle->level[l - 1]->mesh->coarser, nested->level[l], &nested->gather[l]));
  }
  for (PetscInt l = 0; l + 1 < nlevel; l++) {
    if (!nested->level[l]->transfer.P) PetscCall(VpLevelSetTransfer(nested->level[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNestedDestroy(VpNested *out)
{
  VpNested nested = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!nested) PetscFunctionReturn(PETSC_SUCCESS);
  if (nested->level[0]->backend->forget) PetscCall(nested->level[0]->backend->forget(&nested->below.recording));
  for (PetscInt l = 0; nested->level[l]; l++) {
    if (nested->b[l]) PetscCall(nested->level[l]->backend->release(nested->b[l]));
    if (nested->x[l]) PetscCall(nested->level[l]->backend->release(nested->x[l]));
    PetscCall(VpGatherDestroy(&nested->gather[l]));
    PetscCall(VpLevelDestroy(&nested->level[l]));
  }
  PetscCall(PetscFree4(nested->level, nested->gather, nested->b, nested->x));
  PetscCall(PetscFree(nested));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b_l of all levels below the finest, through the cycle's own vectors */
static PetscErrorCode RestrictAll(VpNested nested)
{
  const VpCycle cycle = nested->cycle;

  PetscFunctionBegin;
  for (PetscInt l = 0; l + 1 < cycle->nlevel; l++) {
    const VpLevel fine = cycle->level[l], coarse = cycle->level[l + 1];

    PetscCall(VpLevelExchange(fine, VP_GHOST_CHILD, cycle->b[l]));
    PetscCall(VpRestrict(fine, cycle->gather[l + 1], cycle->b[l], cycle->b[l + 1]));
    PetscCall(VpLevelLeave(coarse, PETSC_FALSE, 1, cycle->b[l + 1], (double *)nested->b[l + 1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refine(VpNested nested, PetscInt l)
{
  const VpLevel level = nested->level[l];
  double       *x = (double *)nested->x[l];
  VpGhosts      ghosts;

  PetscFunctionBegin;
  PetscCall(VpLevelRefresh(level, level->reads, x, &ghosts));
  PetscCall(VpCycleEnterResidual(nested->cycle, l, level, 1, x, ghosts, (const double *)nested->b[l], NULL));
  PetscCall(VpCycleSolve(nested->cycle, l, PETSC_FALSE, PETSC_TRUE, 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of level l = P x of the next */
static PetscErrorCode ProlongTo(VpNested nested, PetscInt l, double *x)
{
  const VpLevel fine = nested->level[l];

  PetscFunctionBegin;
  PetscCall(VpProlong(fine, nested->level[l + 1], nested->gather[l + 1], fine->view.nown, PETSC_FALSE, nested->x[l + 1], x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* from b of the cycle's finest level to the solution on the next */
static PetscErrorCode Below(void *context)
{
  VpNested       nested = (VpNested)context;
  const PetscInt last = nested->cycle->nlevel - 1;

  PetscFunctionBegin;
  PetscCall(RestrictAll(nested));
  PetscCall(VpCycleEnter(nested->cycle, last, 1, (const double *)nested->b[last]));
  PetscCall(VpCycleSolve(nested->cycle, last, PETSC_FALSE, PETSC_FALSE, 1, (double *)nested->x[last]));
  for (PetscInt l = last - 1; l > 0; l--) {
    PetscCall(ProlongTo(nested, l, (double *)nested->x[l]));
    PetscCall(Refine(nested, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNestedGuess(VpNested nested, double *x)
{
  PetscFunctionBegin;
  if (nested->cycle->nlevel == 1) PetscCall(VpCycleSolve(nested->cycle, 0, PETSC_FALSE, PETSC_FALSE, 1, x));
  else {
    if (nested->cycle->whole) PetscCall(VpCycleReplay(nested->cycle, &nested->below, Below, nested));
    else PetscCall(Below(nested));
    PetscCall(ProlongTo(nested, 0, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
