/* Set-up and application of PCVPATCHDG and PCVPATCH. */
#include "pcimpl.h"

/* leaves the KSP that is solving: PETSc may set up anew in the middle of its solve */
static PetscErrorCode Clear(PC pc)
{
  VpInverse *inverse = (VpInverse *)pc->data;

  PetscFunctionBegin;
  PetscCall(inverse->ops->clear(pc));
  inverse->built = PETSC_FALSE;
  PetscCall(DMDestroy(&inverse->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpInverseReset(PC pc)
{
  PetscFunctionBegin;
  PetscCall(Clear(pc));
  ((VpInverse *)pc->data)->ksp = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (scale A + shift I)^-1 = (A + shift/scale I)^-1 / scale. A negative quotient could make the operator singular: it is left to the KSP. */
static PetscReal ExtraReaction(PetscReal scale, PetscReal shift)
{
  return scale != 0 ? PetscMax(shift / scale, 0) : 0;
}

static PetscErrorCode GetProblem(PC pc, VpProblem *problem)
{
  VpInverse *inverse = (VpInverse *)pc->data;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetProblem(inverse->dm, problem));
  problem->reaction += ExtraReaction(inverse->scale, inverse->shift);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Build(PC pc)
{
  static PetscInt  builds = 0;
  VpInverse       *inverse = (VpInverse *)pc->data;
  VpProblem        problem;
  const VpBackend *backend;

  PetscFunctionBegin;
  PetscCall(inverse->ops->clear(pc));
  inverse->built = PETSC_FALSE;
  PetscCall(GetProblem(pc, &problem));
  PetscCall(DMVPatchDGGetKernels(inverse->dm, &backend));
  PetscCall(inverse->ops->build(pc, ((DM_VPatchDG *)inverse->dm->data)->mesh, &problem, backend));
  inverse->built = PETSC_TRUE;
  inverse->build = ++builds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what was built for another operator, or with other options, is cleared; what can be built now is */
static PetscErrorCode Renew(PC pc, DM dm)
{
  VpInverse *inverse = (VpInverse *)pc->data;
  PetscBool  later = PETSC_FALSE;
  VpProblem  problem;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(Clear(pc));
  inverse->dm = dm;
  inverse->changed = PETSC_TRUE; /* until it is done */
  PetscCall(GetProblem(pc, &problem));
  if (inverse->ops->prepare) PetscCall(inverse->ops->prepare(pc, ((DM_VPatchDG *)dm->data)->mesh, &problem, &later));
  if (!later) PetscCall(Build(pc));
  inverse->state = ((DM_VPatchDG *)dm->data)->coefficient_state;
  inverse->changed = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls it when the Pmat's state moved, which a changed coefficient does, too */
static PetscErrorCode VpInverseSetUp(PC pc)
{
  VpInverse  *inverse = (VpInverse *)pc->data;
  PetscObject link;
  DM          dm;
  PetscReal   scale, shift;
  PetscBool   renew;

  PetscFunctionBegin;
  PetscCall(MatGetVPatchDG(pc->pmat, inverse->ops->caller, &dm));
  PetscCall(MatVPatchDGGetScaling(pc->pmat, &scale, &shift));
  renew = (PetscBool)(inverse->dm != dm || inverse->state != ((DM_VPatchDG *)dm->data)->coefficient_state || inverse->changed ||
                      ExtraReaction(scale, shift) != ExtraReaction(inverse->scale, inverse->shift));
  inverse->scale = scale;
  inverse->shift = shift;
  if (renew) PetscCall(Renew(pc, dm));
  PetscCall(PetscObjectQuery((PetscObject)pc->pmat, "DMVPatchDG operator", &link));
  inverse->plain = (PetscBool)(link && !strcmp(((PetscObject)pc->pmat)->type_name, MATSHELL) && scale == 1 && shift == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpInverseMeet(PC pc, KSP ksp)
{
  VpInverse *inverse = (VpInverse *)pc->data;
  PetscBool  again = PETSC_FALSE;

  PetscFunctionBegin;
  if (inverse->ops->meet) PetscCall(inverse->ops->meet(pc, ksp, &again));
  if (again || !inverse->built) PetscCall(Build(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpInverseChanged(PC pc)
{
  PetscFunctionBegin;
  ((VpInverse *)pc->data)->changed = PETSC_TRUE;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Apply(PC pc, PetscBool transpose, Vec r, Vec z)
{
  VpInverse   *inverse = (VpInverse *)pc->data;
  PetscScalar *rr, *zz;
  VpValues     rv, zv;
  VpLevel      outer;

  PetscFunctionBegin;
  PetscCall(VpInverseMeet(pc, NULL));
  PetscCall(DMVPatchDGGetLevel(inverse->dm, &outer));
  PetscCall(VpValuesGet(outer->backend, r, VP_READ, &rv, &rr));
  PetscCall(inverse->ops->enter(pc, rr));
  PetscCall(VpValuesRestore(&rv));
  PetscCall(VpValuesGet(outer->backend, z, VP_WRITE, &zv, &zz));
  PetscCall(inverse->ops->solve(pc, transpose, PETSC_FALSE, zz));
  PetscCall(VpValuesRestore(&zv));
  if (inverse->scale != 1) PetscCall(VecScale(z, 1 / inverse->scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VpInverseApply(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(Apply(pc, PETSC_FALSE, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VpInverseApplyTranspose(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(Apply(pc, PETSC_TRUE, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPRICHARDSON stops by the true residual, whoever forms it, unless the user chose a norm. Refinement (richardson.c) knows no other. */
static PetscErrorCode SetNorm(PC pc, KSP ksp)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->normtype_set == KSP_NORM_DEFAULT) ksp->normtype = KSP_NORM_UNPRECONDITIONED;
  pc->ops->applyrichardson = ksp->normtype == KSP_NORM_PRECONDITIONED ? NULL : VpInverseApplyRichardson;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refinement asks the KSP for its norm type and its test, and fills its residual history. A KSP that is set up does not see that its PC was
   reset. */
static PetscErrorCode VpInversePreSolve(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  ((VpInverse *)pc->data)->ksp = ksp;
  PetscCall(PCSetUp(pc));
  PetscCall(VpInverseMeet(pc, ksp));
  PetscCall(SetNorm(pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VpInversePostSolve(PC pc, KSP ksp, Vec b, Vec x)
{
  VpInverse *inverse = (VpInverse *)pc->data;

  PetscFunctionBegin;
  inverse->ksp = NULL;
  pc->ops->applyrichardson = VpInverseApplyRichardson;
  if (inverse->ops->leave) PetscCall(inverse->ops->leave(pc, ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpInverseCreate(PC pc, VpInverse *inverse, const VpInverseOps *ops)
{
  PetscFunctionBegin;
  inverse->ops = ops;
  inverse->scale = 1;
  pc->data = inverse;
  pc->ops->setup = VpInverseSetUp;
  pc->ops->apply = VpInverseApply;
  pc->ops->applytranspose = VpInverseApplyTranspose;
  pc->ops->applyrichardson = VpInverseApplyRichardson;
  pc->ops->presolve = VpInversePreSolve;
  pc->ops->postsolve = VpInversePostSolve;
  pc->ops->reset = VpInverseReset;
  PetscFunctionReturn(PETSC_SUCCESS);
}
