/*MC
   KSPGUESSVPATCHDG = "vpatchdg" - An initial guess by nested iteration on the levels of the KSP's `PCVPATCHDG`

   Options Database Key:
.  -ksp_guess_type vpatchdg - starts every `KSPSolve()` from the result of nested iteration

   Level: intermediate

   Note:
   The guess costs a third (2D) to a seventh (3D) of an iteration and stores two vectors on every coarser level. It is worthwhile if the
   right-hand side is smooth. The KSP then starts with a residual of a few percent to a few thousandths of b, and a cycle in single
   precision reaches its full convergence rate from the first iteration on.

   On adaptive meshes, nested iteration first finds the solution on the finest level that covers the whole domain. This solution is then
   prolonged and smoothed from level to level. The finest level is not smoothed if it has most of the cells. In this case the guess leaves a
   few thousandths to a tenth of b, for the work of half (2D) to a quarter (3D) of an iteration. If cells are refined towards a point, so
   that all levels have similar numbers of cells, the guess is no better than an iteration.

   In a sequence of meshes, the previous solution is a better guess (`DMVPatchDGTransfer()`).

.seealso: `PCVPATCHDG`, `DMVPATCHDG`
M*/
#include "internal.h"

typedef struct {
  VpNested nested;
  PetscInt build; /* VpPCBase.build of the PC for which `nested` was made */
} Guess_VPatchDG;

static PetscErrorCode KSPGuessReset_VPatchDG(KSPGuess guess)
{
  return VpNestedDestroy(&((Guess_VPatchDG *)guess->data)->nested);
}

static PetscErrorCode KSPGuessDestroy_VPatchDG(KSPGuess guess)
{
  PetscFunctionBegin;
  PetscCall(KSPGuessReset_VPatchDG(guess));
  PetscCall(PetscFree(guess->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the PC and sets it up, because some versions of PETSc ask for a guess before they set up the KSP. */
static PetscErrorCode GetPC(KSPGuess guess, PC *out)
{
  PC        pc;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(guess->ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVPATCHDG, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)guess), PETSC_ERR_ARG_WRONG,
             "-ksp_guess_type vpatchdg uses the levels of -pc_type vpatchdg; the KSP's PC is of type %s", VpTypeName((PetscObject)pc));
  PetscCheck(!VpPCBaseData(pc)->continuous, PetscObjectComm((PetscObject)guess), PETSC_ERR_SUP,
             "-ksp_guess_type vpatchdg is for vectors of a DMVPATCHDG; those of a continuous operator are nodal: leave it out");
  PetscCall(KSPSetUp(guess->ksp));
  PetscCall(PCSetUp(pc));
  PetscCall(VpPCBaseMeet(pc, guess->ksp));
  *out = pc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGuessFormGuess_VPatchDG(KSPGuess guess, Vec b, Vec x)
{
  Guess_VPatchDG *data = guess->data;
  PC_VPatchDG    *cycle;
  PC              pc = NULL;
  VpLevel         outer;
  VpValues        xv;
  PetscReal       factor;

  PetscFunctionBegin;
  PetscCall(GetPC(guess, &pc));
  cycle = pc->data;
  PetscCall(DMVPatchDGCheckVector(cycle->inverse.dm, b, "-ksp_guess_type vpatchdg"));
  PetscCall(DMVPatchDGCheckVector(cycle->inverse.dm, x, "-ksp_guess_type vpatchdg"));
  if (data->build != cycle->inverse.build) PetscCall(VpNestedDestroy(&data->nested));
  PetscCall(VpOperatorGetLevel(cycle->inverse.op, cycle->inverse.dm, &outer));
  if (!data->nested) {
    PetscCall(VpNestedCreate(cycle->cycle, outer, &data->nested));
    data->build = cycle->inverse.build;
  }
  PetscCall(VpPCBaseEnter(pc, NULL, b, NULL, NULL));
  PetscCall(VpValuesGet(outer->backend, x, VP_WRITE, &xv));
  PetscCall(VpNestedGuess(data->nested, xv.at));
  PetscCall(VpValuesRestore(&xv));
  factor = cycle->inverse.scale * cycle->inverse.factor;
  if (factor != 1) PetscCall(VecScale(x, 1 / factor));
  PetscCall(VpConstantsInvert(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGuessView_VPatchDG(KSPGuess guess, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii) PetscCall(PetscViewerASCIIPrintf(viewer, "  nested iteration, one refinement a level\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPGuessCreate_VPatchDG(KSPGuess guess)
{
  Guess_VPatchDG *data;

  PetscFunctionBegin;
  PetscCall(PetscNew(&data));
  guess->data = data;
  guess->ops->formguess = KSPGuessFormGuess_VPatchDG;
  guess->ops->view = KSPGuessView_VPatchDG;
  guess->ops->reset = KSPGuessReset_VPatchDG;
  guess->ops->destroy = KSPGuessDestroy_VPatchDG;
  PetscFunctionReturn(PETSC_SUCCESS);
}
