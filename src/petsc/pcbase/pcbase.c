/* The operations of PCVPATCHDG and PCVPATCH that PETSc calls. */
#include "pcbase.h"

PetscErrorCode VpPCBaseApplyCycle(PC pc, PetscBool transpose, Vec r, Vec z)
{
  Vec rest;

  PetscFunctionBegin;
  PetscCall(VpConstantsWithout(pc, r, &rest));
  PetscCall(VpPCBaseEnter(pc, NULL, rest, NULL, NULL));
  PetscCall(VpPCBaseSolve(pc, transpose, PETSC_FALSE, z));
  PetscCall(VpConstantsInvert(pc, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyInverse(PC pc, PetscBool transpose, Vec r, Vec z)
{
  return VpPCBaseData(pc)->continuous ? VpContinuousApply(pc, transpose, r, z) : VpPCBaseApplyCycle(pc, transpose, r, z);
}

PetscErrorCode VpPCBaseApply(PC pc, Vec r, Vec z)
{
  return ApplyInverse(pc, PETSC_FALSE, r, z);
}

static PetscErrorCode VpPCBaseApplyTranspose(PC pc, Vec r, Vec z)
{
  return ApplyInverse(pc, PETSC_TRUE, r, z);
}

/* KSPRICHARDSON tests the true residual unless the user chose a norm. Refinement (richardson.c) supports no other norm, constants only if
   they are the null space, and no continuous operators. */
static void ChooseNorm(PC pc, KSP ksp)
{
  const VpPCBase *inverse = pc->data;
  PetscBool       fuses;

  if (strcmp(((PetscObject)ksp)->type_name, KSPRICHARDSON)) return;
  if (ksp->normtype_set == KSP_NORM_DEFAULT) ksp->normtype = KSP_NORM_UNPRECONDITIONED;
  fuses = (PetscBool)(!inverse->continuous && ksp->normtype != KSP_NORM_PRECONDITIONED && (!inverse->one || inverse->eigenvalue == 0));
  pc->ops->applyrichardson = fuses ? VpPCBaseApplyRichardson : NULL;
}

/* PETSc's QMRCGS adds the last direction of its previous solve to the first direction, and its residual norm does not see the error in x.
   This sets the last direction to 0. */
static PetscErrorCode ForgetDirections(KSP ksp)
{
  const PetscBool keeps = (PetscBool)!strcmp(((PetscObject)ksp)->type_name, KSPQMRCGS);

  PetscFunctionBegin;
  for (PetscInt i = 0; keeps && i < ksp->nwork; i++) PetscCall(VecSet(ksp->work[i], 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refinement needs the KSP's norm type, test and residual history. A KSP that is set up does not notice that its PC was reset. */
static PetscErrorCode VpPCBasePreSolve(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  VpPCBaseData(pc)->ksp = ksp;
  PetscCall(VpReadConverged(ksp));
  PetscCall(PCSetUp(pc));
  PetscCall(VpPCBaseMeet(pc, ksp));
  if (VpPCBaseData(pc)->ops->met) PetscCall(VpPCBaseData(pc)->ops->met(pc, ksp));
  PetscCall(VpConstantsMeet(pc));
  ChooseNorm(pc, ksp);
  PetscCall(VpConstantsWarn(pc, b));
  VpPCBaseData(pc)->guess = 0;
  if (!ksp->guess_zero) PetscCall(VpConstantsFind(pc, x, &VpPCBaseData(pc)->guess));
  PetscCall(ForgetDirections(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VpPCBasePostSolve(PC pc, KSP ksp, Vec b, Vec x)
{
  VpPCBase *inverse = pc->data;

  PetscFunctionBegin;
  inverse->ksp = NULL;
  if (inverse->eigenvalue == 0 && ksp->pc_side != PC_LEFT) PetscCall(VpConstantsSet(pc, inverse->guess, x));
  pc->ops->applyrichardson = inverse->continuous ? NULL : VpPCBaseApplyRichardson;
  if (inverse->ops->leave) PetscCall(inverse->ops->leave(pc, ksp, b, x));
  PetscCall(VpConstantsLeave(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VpPCBaseDestroy(PC pc)
{
  PetscFunctionBegin;
  PetscCall(VpPCBaseReset(pc));
  PetscCall(VpContinuousDestroy(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseView(PC pc, PetscViewer viewer)
{
  const VpPCBase *inverse = pc->data;

  PetscFunctionBegin;
  if (inverse->continuous) PetscCall(VpContinuousView(pc, viewer));
  else if (inverse->scale != 1 || inverse->shift != 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  of s A + t I, s = %g, t = %g%s\n", (double)inverse->scale, (double)inverse->shift,
                                     inverse->shift / inverse->scale < 0 ? ", taken as 0 here" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpPCBaseCreate(PC pc, VpPCBase *inverse, const VpPCBaseOps *ops)
{
  inverse->ops = ops;
  inverse->scale = 1;
  pc->data = inverse;
  pc->ops->setup = VpPCBaseSetUp;
  pc->ops->apply = VpPCBaseApply;
  pc->ops->applytranspose = VpPCBaseApplyTranspose;
  if (ops->columns) pc->ops->matapply = VpPCBaseMatApply;
  pc->ops->applyrichardson = VpPCBaseApplyRichardson;
  pc->ops->presolve = VpPCBasePreSolve;
  pc->ops->postsolve = VpPCBasePostSolve;
  pc->ops->reset = VpPCBaseReset;
  pc->ops->destroy = VpPCBaseDestroy;
}
