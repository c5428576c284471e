/* Nested iteration finds an initial guess. It solves the coarsest problem. On each finer level but the finest, it prolongs the solution and
   refines it once, x += M (b - A x), with the cycle from that level down. Solutions and residuals are in double precision. On an adaptive
   mesh this ends at the finest level that covers the domain. From there VpCycleRise() prolongs and smooths the solution. Where all leaves
   are handed over, the guess is a cycle from 0.

   The right-hand sides b_l = P^T b are restricted in the cycle's precision, because the guess has larger errors than their rounding. */
#include "internal.h"

struct VpNested_ {
  VpCycle       cycle;
  PetscInt      nlevel, first; /* first: the finest level that covers the domain */
  VpCycleLevel *at;            /* [nlevel] outer operators from `first` on. The finest is the caller's, and others have b, x and move. */
  VpVector     *vectors;       /* [5 nlevel] scratch for a list of these b and x, and of the cycle's vectors below the finest level */
  VpRecorded    below;         /* the work on all levels but the finest */
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
  nested->first = cycle->npartial;
  PetscCall(PetscCalloc2(nlevel, &nested->at, 5 * nlevel, &nested->vectors));
  nested->at[0].level = VpReference(finest);
  if (!cycle->npartial && cycle->at[0].level->mesh != finest->mesh) { /* The cycle works on a copy, which has other coarser meshes. */
    PetscCall(VpLevelCreateOuter(cycle->at[0].level->mesh, &finest->problem, finest->backend, &nested->at[0].level));
    PetscCall(VpLevelDestroy(&finest));
    finest = nested->at[0].level;
  }
  for (PetscInt l = PetscMax(1, nested->first); l < nlevel; l++) {
    const VpLevel level = cycle->at[l].level;
    VpCycleLevel *at = &nested->at[l];
    VpProblem     problem = level->problem;

    problem.exponent = finest->problem.exponent;
    PetscCall(VpLevelCreateOuter(level->mesh, &problem, finest->backend, &at->level));
    PetscCall(VpVectorCreate(at->level, 1, "right-hand side", &at->b));
    PetscCall(VpVectorCreate(at->level, 1, "solution", &at->x));
    if (l > nested->first) PetscCall(VpMoveCreate(VpMeshCoarser(cycle->at[l - 1].level->mesh), at->level, &at->move));
  }
  for (PetscInt l = nested->first; l + 1 < nlevel; l++) {
    if (!nested->at[l].level->transfer.P) PetscCall(VpLevelSetTransfer(nested->at[l].level));
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
  PetscCall(VpRecordedForget(nested->at[0].level->backend, &nested->below));
  for (PetscInt l = 0; l < nlevel; l++) {
    PetscCall(VpVectorDestroy(&nested->at[l].b));
    PetscCall(VpVectorDestroy(&nested->at[l].x));
    PetscCall(VpMoveDestroy(&nested->at[l].move));
    PetscCall(VpLevelDestroy(&nested->at[l].level));
  }
  PetscCall(PetscFree2(nested->at, nested->vectors));
  PetscCall(PetscFree(nested));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values = own values of an outer vector that is about to be written */
static PetscErrorCode WriteOwn(VpVector v, double **values)
{
  void *own;

  PetscFunctionBegin;
  PetscCall(VpVectorWrite(v, VP_GHOST_NONE, &own));
  *values = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes b_l of all levels below the finest in the cycle's vectors, where those of partial levels stay. On leaves, b is the leaves' own
   instead of a restriction. */
static PetscErrorCode RestrictAll(VpNested nested)
{
  const VpCycle cycle = nested->cycle;
  double       *b = NULL;

  PetscFunctionBegin;
  PetscCall(VpCycleFromLeaves(cycle, 0));
  for (PetscInt l = 1; l < nested->nlevel; l++) {
    const VpCycleLevel *at = &cycle->at[l];

    PetscCall(VpRestrict(at[-1].level, at->move, at[-1].b, at->b));
    PetscCall(VpCycleFromLeaves(cycle, l));
    if (l < nested->first) continue;
    PetscCall(WriteOwn(nested->at[l].b, &b));
    PetscCall(VpVectorLeave(at->b, PETSC_FALSE, 1, b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = M b on the coarsest level, x += M (b - A x) on others */
static PetscErrorCode RefineOnce(VpNested nested, PetscInt l)
{
  const VpCycleLevel *at = &nested->at[l];
  const PetscBool     add = (PetscBool)(l < nested->nlevel - 1);
  const void         *b, *x;
  double             *refined = NULL;
  VpGhosts            ghosts;
  VpVector            r;

  PetscFunctionBegin;
  PetscCall(VpCycleBegin(nested->cycle, l, &r));
  PetscCall(VpVectorReadBegin(at->b, VP_GHOST_NONE, &b, NULL));
  if (add) {
    PetscCall(VpVectorReadBegin(at->x, at->level->reads, &x, &ghosts));
    PetscCall(VpVectorEnterResidual(r, &(VpOuterResidual){.outer = at->level, .scale = 1, .x = x, .f = b, .ghosts = ghosts}, NULL));
  } else PetscCall(VpVectorEnter(r, 1, b));
  PetscCall(WriteOwn(at->x, &refined));
  PetscCall(VpCycleSolve(nested->cycle, l, PETSC_FALSE, add, 1, refined));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of level l = P x of the next level */
static PetscErrorCode ProlongTo(VpNested nested, PetscInt l, double *x)
{
  const VpCycleLevel *at = &nested->at[l];

  return VpProlong(at->level, at[1].move, at[1].x, at->level->view.nown, PETSC_FALSE, x);
}

/* x = P x of the second level, in the cycle's vectors. Those enter and leave a finest level whose basis is another one. */
static PetscErrorCode ProlongInCycle(VpNested nested, double *x)
{
  const VpCycle cycle = nested->cycle;
  const void   *own;
  void         *fine;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(nested->at[1].x, VP_GHOST_NONE, &own, NULL));
  PetscCall(VpVectorEnter(cycle->at[1].x, ldexp(1, -cycle->at[1].level->problem.exponent), own));
  PetscCall(VpVectorWrite(cycle->at[0].x, VP_GHOST_NONE, &fine));
  PetscCall(VpProlong(cycle->at[0].level, cycle->at[1].move, cycle->at[1].x, cycle->at[0].level->mesh->nown, PETSC_FALSE, fine));
  PetscCall(VpCycleLeave(cycle, 0, PETSC_FALSE, 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the solution on the level below the finest from b of the cycle's finest level. */
static PetscErrorCode SolveBelow(void *context)
{
  VpNested       nested = (VpNested)context;
  const PetscInt last = nested->nlevel - 1;
  double        *x = NULL;

  PetscFunctionBegin;
  PetscCall(RestrictAll(nested));
  PetscCall(RefineOnce(nested, last));
  for (PetscInt l = last - 1; l >= PetscMax(1, nested->first); l--) {
    PetscCall(WriteOwn(nested->at[l].x, &x));
    PetscCall(ProlongTo(nested, l, x));
    PetscCall(RefineOnce(nested, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = the guess on all leaves, from the solution on the finest level that covers the domain */
static PetscErrorCode RiseToLeaves(VpNested nested, double *x)
{
  const VpCycle  cycle = nested->cycle;
  const PetscInt l = nested->first;
  const void    *own;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(nested->at[l].b, VP_GHOST_NONE, &own, NULL));
  PetscCall(VpVectorEnter(cycle->at[l].b, 1, own));
  PetscCall(VpVectorReadBegin(nested->at[l].x, VP_GHOST_NONE, &own, NULL));
  PetscCall(VpVectorEnter(cycle->at[l].x, ldexp(1, -cycle->at[l].level->problem.exponent), own));
  PetscCall(VpCycleRise(cycle));
  PetscCall(VpCycleLeave(cycle, 0, PETSC_FALSE, 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReplayBelow(VpNested nested)
{
  const VpCycle cycle = nested->cycle;
  PetscInt      n = VpCycleVectors(cycle, 1, nested->vectors);

  PetscFunctionBegin;
  for (PetscInt l = 1; l < nested->nlevel; l++) {
    nested->vectors[n++] = nested->at[l].b;
    nested->vectors[n++] = nested->at[l].x;
  }
  PetscCall(VpReplay(cycle->at[0].level, &nested->below, n, nested->vectors, SolveBelow, nested));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNestedGuess(VpNested nested, double *x)
{
  PetscFunctionBegin;
  for (PetscInt l = PetscMax(1, nested->first); l < nested->nlevel; l++) { /* An error may have interrupted the last guess. */
    PetscCall(VpVectorAbandon(nested->at[l].b));
    PetscCall(VpVectorAbandon(nested->at[l].x));
  }
  if (nested->nlevel == 1 || nested->cycle->leaves.handed) PetscCall(VpCycleSolve(nested->cycle, 0, PETSC_FALSE, PETSC_FALSE, 1, x));
  else {
    if (nested->cycle->whole && !nested->first) PetscCall(ReplayBelow(nested));
    else PetscCall(SolveBelow(nested));
    if (nested->first) PetscCall(RiseToLeaves(nested, x));
    else if (nested->at[0].level->problem.metric) PetscCall(ProlongInCycle(nested, x));
    else PetscCall(ProlongTo(nested, 0, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
