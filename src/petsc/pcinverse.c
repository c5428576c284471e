/* Set-up and application of PCVPATCHDG and PCVPATCH. */
#include "pcimpl.h"

/* leaves the KSP that is solving: PETSc may set up anew in the middle of its solve */
static PetscErrorCode Clear(PC pc)
{
  VpInverse *inverse = (VpInverse *)pc->data;

  PetscFunctionBegin;
  PetscCall(inverse->ops->clear(pc));
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

/* PETSc calls it when the Pmat's state moved, which a changed coefficient does, too */
static PetscErrorCode VpInverseSetUp(PC pc)
{
  static PetscInt  builds = 0;
  VpInverse       *inverse = (VpInverse *)pc->data;
  PetscObject      link;
  DM               dm;
  VpProblem        problem;
  PetscObjectState state;
  PetscReal        scale, shift, extra;
  const VpBackend *backend;

  PetscFunctionBegin;
  PetscCall(MatGetVPatchDG(pc->pmat, inverse->ops->caller, &dm));
  PetscCall(MatVPatchDGGetScaling(pc->pmat, &scale, &shift));
  state = ((DM_VPatchDG *)dm->data)->coefficient_state;
  extra = ExtraReaction(scale, shift);
  if (inverse->dm != dm || inverse->state != state || inverse->changed || extra != ExtraReaction(inverse->scale, inverse->shift)) {
    PetscCall(Clear(pc));
    PetscCall(DMVPatchDGGetProblem(dm, &problem));
    PetscCall(DMVPatchDGGetKernels(dm, &backend));
    problem.reaction += extra;
    PetscCall(inverse->ops->build(pc, ((DM_VPatchDG *)dm->data)->mesh, &problem, backend));
    PetscCall(PetscObjectReference((PetscObject)dm));
    inverse->dm = dm;
    inverse->state = state;
    inverse->changed = PETSC_FALSE;
    inverse->build = ++builds;
  }
  inverse->scale = scale;
  inverse->shift = shift;
  PetscCall(PetscObjectQuery((PetscObject)pc->pmat, "DMVPatchDG operator", &link));
  inverse->plain = (PetscBool)(link && !strcmp(((PetscObject)pc->pmat)->type_name, MATSHELL) && scale == 1 && shift == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpInverseChanged(PC pc)
{
  PetscFunctionBegin;
  ((VpInverse *)pc->data)->changed = PETSC_TRUE;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VpInverseApply(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(VpInverseEnter(pc, r, NULL, NULL));
  PetscCall(VpInverseSolve(pc, PETSC_FALSE, PETSC_FALSE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VpInverseApplyTranspose(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(VpInverseEnter(pc, r, NULL, NULL));
  PetscCall(VpInverseSolve(pc, PETSC_TRUE, PETSC_FALSE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* which KSP is about to solve: refinement asks for its norm type and fills its residual history */
static PetscErrorCode VpInversePreSolve(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  ((VpInverse *)pc->data)->ksp = ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VpInversePostSolve(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  ((VpInverse *)pc->data)->ksp = NULL;
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
