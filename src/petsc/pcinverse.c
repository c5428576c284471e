/* Set-up and application of PCVPATCHDG and PCVPATCH. */
#include "pcimpl.h"

/* leaves the KSP that is solving: PETSc may set up anew in the middle of its solve */
static PetscErrorCode Clear(PC pc)
{
  VpInverse *inverse = (VpInverse *)pc->data;

  PetscFunctionBegin;
  PetscCall(inverse->ops->clear(pc));
  PetscCall(VpOperatorDestroy(&inverse->op));
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
  return PetscMax(shift / scale, 0);
}

/* PETSc calls it when the Pmat's state moved, which a changed coefficient does, too */
static PetscErrorCode VpInverseSetUp(PC pc)
{
  static PetscInt  builds = 0;
  VpInverse       *inverse = (VpInverse *)pc->data;
  VpPmat           p;
  VpProblem        problem;
  PetscReal        extra;
  const VpBackend *backend;

  PetscFunctionBegin;
  PetscCall(MatGetVPatchDG(pc->pmat, inverse->ops->caller, &p));
  PetscCheck(p.scale != 0 && !PetscIsInfOrNanScalar(p.scale) && !PetscIsInfOrNanScalar(p.shift), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_WRONG, "%s: the Pmat is %g A + %g I, whose inverse the one of A does not approximate: see MatScale(), MatShift(), MatDuplicate()",
             inverse->ops->caller, (double)PetscRealPart(p.scale), (double)PetscRealPart(p.shift));
  extra = ExtraReaction(p.scale, p.shift);
  if (inverse->op != p.op || inverse->changed || extra != ExtraReaction(inverse->scale, inverse->shift)) {
    PetscCall(Clear(pc));
    PetscCall(DMVPatchDGGetKernels(p.dm, &backend));
    problem = p.op->problem;
    problem.reaction += extra;
    PetscCall(inverse->ops->build(pc, p.op->mesh, &problem, backend));
    PetscCall(PetscObjectReference((PetscObject)p.dm));
    inverse->dm = p.dm;
    inverse->op = VpOperatorReference(p.op);
    inverse->changed = PETSC_FALSE;
    inverse->build = ++builds;
  }
  inverse->scale = p.scale;
  inverse->shift = p.shift;
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
  PetscCall(VpInverseEnter(pc, NULL, r, NULL, NULL));
  PetscCall(VpInverseSolve(pc, PETSC_FALSE, PETSC_FALSE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VpInverseApplyTranspose(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(VpInverseEnter(pc, NULL, r, NULL, NULL));
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
