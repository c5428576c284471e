/* -pc_vpatchdg_precision auto: single precision for KSPs that tolerate it (pcbase/kspkinds.c), otherwise double. */
#include "internal.h"

#define LEAST_HOLD 1e-11 /* least VpProblemHold() for single precision; with less, cycles add constants to weakly coupled cells */

static PetscBool AppliesOnce(const char type[])
{
  return !strcmp(type, KSPPREONLY) || !strcmp(type, KSPNONE);
}

/* Tests whether the KSP belongs to a preconditioner: such a KSP prints one level further in and has a longer prefix than the outer KSP. The
   KSPs of SNES and TS mostly have no prefix. The outer KSP may not be flexible, and then it stalls: GMRES around a refinement to 1e-5 ends
   at 1e-6 instead of 1e-10. Newton's method recomputes its residual and does not stall. */
static PetscBool IsPart(KSP ksp)
{
  const char *prefix = ((PetscObject)ksp)->prefix;

  return AppliesOnce(((PetscObject)ksp)->type_name) || (((PetscObject)ksp)->tablevel > 0 && prefix && prefix[0]);
}

/* Tests whether the KSP solves. Otherwise it takes a few steps for an outer solver. */
static PetscBool SolvesFully(KSP ksp)
{
  if (AppliesOnce(((PetscObject)ksp)->type_name)) return PETSC_FALSE;
  return ((PetscObject)ksp)->tablevel == 0 || (ksp->normtype != KSP_NORM_NONE && ksp->converged != KSPConvergedSkip && ksp->max_it > 10);
}

/* Sets the cycle's precision for a type of KSP (NULL: no KSP) and records the reason. */
static PetscErrorCode ChoosePrecision(PC_VPatchDG *data, const char type[], PetscBool part)
{
  static const char faster[] = "-ksp_type fgmres runs it in single, about twice as fast";
  VpChoice         *choice = &data->choice;
  const size_t      size = sizeof(choice->why);

  PetscFunctionBegin;
  choice->chosen = PETSC_TRUE;
  data->options.precision = VP_DOUBLE;
  if (!type) {
    PetscCall(PetscSNPrintf(choice->why, size, "applied without a KSP"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (part)
    PetscCall(PetscSNPrintf(choice->why, size, "KSP %s is part of another solver, which would have to be flexible for single", type));
  else if (!choice->fits) PetscCall(PetscSNPrintf(choice->why, size, "single does not hold the numbers of the operator"));
  else if (!VpKSPKeepsResidual(type)) PetscCall(PetscSNPrintf(choice->why, size, "with KSP %s single would stall; %s", type, faster));
  else if (VpKSPNeedsSymmetry(type) && !data->options.symmetric)
    PetscCall(PetscSNPrintf(choice->why, size, "KSP %s needs a symmetric cycle; %s", type, faster));
  else {
    PetscCall(PetscSNPrintf(choice->why, size, "KSP %s keeps the residual", type));
    data->options.precision = VP_SINGLE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the type of the KSP with the PC's prefix. The type does not decide for KSPs in other solvers, so these are skipped. */
PetscErrorCode PCVPatchDGReadHint(PC pc)
{
  VpChoice   *choice = &PCVPatchDGData(pc)->choice;
  const char *prefix = ((PetscObject)pc)->prefix;

  PetscFunctionBegin;
  choice->hint[0] = 0;
  if (((PetscObject)pc)->tablevel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetString(((PetscObject)pc)->options, prefix, "-ksp_type", choice->hint, sizeof(choice->hint), NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGPreparePrecision(PC pc, const VpProblem *problem, PetscBool *later)
{
  PC_VPatchDG *data = pc->data;
  VpChoice    *choice = &data->choice;
  const double k = problem->degree;

  PetscFunctionBegin;
  choice->fits = problem->penalty * k * (k + 1) < VP_MOST_PENALTY(VP_SINGLE) && VpPCBaseSpreadIsSingle(&data->inverse) &&
                 data->inverse.hold >= LEAST_HOLD;
  if (choice->asked != VPATCHDG_PRECISION_AUTO) {
    data->options.precision = choice->asked == VPATCHDG_PRECISION_SINGLE ? VP_SINGLE : VP_DOUBLE;
    choice->chosen = PETSC_FALSE;
    choice->by = 0;
  } else if (choice->hint[0] && !choice->by) PetscCall(ChoosePrecision(data, choice->hint, AppliesOnce(choice->hint)));
  *later = choice->asked == VPATCHDG_PRECISION_AUTO && !choice->chosen;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If several KSPs share the PC, double precision for one of them is kept for all. A PC that PETSc reuses is rebuilt only to change to
   double precision. */
static PetscErrorCode ChooseFor(PC pc, KSP ksp, PetscBool *again)
{
  PC_VPatchDG      *data = pc->data;
  VpChoice         *choice = &data->choice;
  const VpPrecision precision = data->options.precision;
  const PetscBool   chosen = choice->chosen;
  PetscObjectId     id = 0;

  PetscFunctionBegin;
  if (!ksp && choice->by) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp) PetscCall(PetscObjectGetId((PetscObject)ksp, &id));
  if (chosen && precision == VP_DOUBLE && ((choice->by && choice->by != id) || pc->reusepreconditioner)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ChoosePrecision(data, ksp ? ((PetscObject)ksp)->type_name : NULL, ksp && IsPart(ksp)));
  choice->by = id;
  *again = chosen && data->options.precision != precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGChoosePrecision(PC pc)
{
  PC_VPatchDG *data = pc->data;

  PetscFunctionBegin;
  if (data->choice.asked != VPATCHDG_PRECISION_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ChoosePrecision(data, NULL, PETSC_FALSE));
  PetscCall(PetscStrncpy(data->choice.why, "its coarse KSP was asked for before a KSP was known", sizeof(data->choice.why)));
  data->choice.by = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGMeet(PC pc, KSP ksp, PetscBool *again)
{
  PetscFunctionBegin;
  if (PCVPatchDGData(pc)->choice.asked == VPATCHDG_PRECISION_AUTO) PetscCall(ChooseFor(pc, ksp, again));
  if (ksp && SolvesFully(ksp)) PetscCall(PCVPatchDGWarnBefore(pc, ((PetscObject)ksp)->type_name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGViewPrecision(PC pc, PetscViewer viewer)
{
  const PC_VPatchDG *data = pc->data;
  const VpChoice    *choice = &data->choice;

  PetscFunctionBegin;
  if (choice->asked != VPATCHDG_PRECISION_AUTO) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s precision\n", VPatchDGPrecisions[choice->asked]));
    if (choice->asked == VPATCHDG_PRECISION_SINGLE) {
      PetscCall(PetscViewerASCIIPrintf(
        viewer, "  with KSPGMRES the true residual stalls near cond(A) 6e-8; with KSPFGMRES, KSPRICHARDSON%s it does not\n",
        data->options.symmetric ? ", KSPCG" : ""));
    }
  } else if (choice->chosen)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s precision (auto: %s)\n", VPatchDGPrecisions[data->options.precision], choice->why));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  precision auto: the KSP decides when it first solves\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
