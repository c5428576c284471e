/* The operations of PCVPATCHDG and PCVPATCH as PETSc calls them. */
#include "inverse.h"

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

static PetscErrorCode VpInverseDestroy(PC pc)
{
  PetscFunctionBegin;
  PetscCall(VpInverseReset(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpInverseView(PC pc, PetscViewer viewer)
{
  const VpInverse *inverse = (VpInverse *)pc->data;

  PetscFunctionBegin;
  if (inverse->scale != 1 || inverse->shift != 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  of s A + t I, s = %g, t = %g%s\n", (double)inverse->scale, (double)inverse->shift,
                                     inverse->shift / inverse->scale < 0 ? ", taken as 0 here" : ""));
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
  pc->ops->destroy = VpInverseDestroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}
