/* Warnings, and those common to PCVPATCHDG and PCVPATCH. */
#include "pcbase.h"
#include <stdarg.h>

PetscErrorCode VpWarnWanted(PC pc, VpWarning kind, PetscBool *wanted)
{
  PetscFunctionBegin;
  *wanted = PETSC_TRUE;
  PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, NULL, "-vpatchdg_warnings", wanted, NULL));
  if (VpPCBaseData(pc)->warned >> kind & 1) *wanted = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpWarn(PC pc, VpWarning kind, const char format[], ...)
{
  char      text[512];
  va_list   arguments;
  PetscBool wanted;

  PetscFunctionBegin;
  PetscCall(VpWarnWanted(pc, kind, &wanted));
  if (!wanted) PetscFunctionReturn(PETSC_SUCCESS);
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  VpPCBaseData(pc)->warned |= 1U << kind;
  PetscCall(VpPrintWarning((PetscObject)pc, "%s", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpWarnSingle(PC pc, KSPType type, const char remedy[])
{
  const char *prefix = VpPrefix((PetscObject)pc);

  PetscFunctionBegin;
  if (VpKSPKeepsResidual(type)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    VpWarn(pc, VP_WARN_SINGLE,
           "with KSP %s and a preconditioner in single precision the true residual stalls near cond(A) 6e-8, whatever the KSP reports: "
           "use -%s%s, or -%sksp_type fgmres",
           type, prefix, remedy, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpIsWatched(KSP ksp)
{
  return ((PetscObject)ksp)->tablevel == 0 && ksp->normtype != KSP_NORM_NONE;
}

/* Tests whether the KSP's default test reports convergence in a norm that may differ from the true residual's. */
static PetscBool IsToCheck(KSP ksp, PetscBool stiff)
{
  const KSPConvergedDefaultCtx *ctx = (const KSPConvergedDefaultCtx *)ksp->cnvP;

  if (ksp->converged != KSPConvergedDefault || !ctx || ctx->initialrtol || ctx->mininitialrtol || ksp->transpose_solve) return PETSC_FALSE;
  if (ksp->reason != KSP_CONVERGED_RTOL && ksp->reason != KSP_CONVERGED_ATOL) return PETSC_FALSE;
  return stiff || ksp->reason == KSP_CONVERGED_ATOL || !VpKSPKeepsResidual(((PetscObject)ksp)->type_name) ||
         ksp->normtype != KSP_NORM_UNPRECONDITIONED;
}

static PetscErrorCode RemoveUnreached(PC pc, Vec r)
{
  MatNullSpace outside;

  PetscFunctionBegin;
  PetscCall(MatGetTransposeNullSpace(pc->pmat, &outside));
  if (outside) PetscCall(MatNullSpaceRemove(outside, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the norms of b and b - A x without the null space of A^T. */
static PetscErrorCode TrueNorms(PC pc, Vec b, Vec x, PetscReal *bnorm, PetscReal *rnorm)
{
  Vec r;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecCopy(b, r));
  PetscCall(RemoveUnreached(pc, r));
  PetscCall(VecNorm(r, NORM_2, bnorm));
  PetscCall(MatResidual(pc->mat, b, x, r));
  PetscCall(RemoveUnreached(pc, r));
  PetscCall(VecNorm(r, NORM_2, rnorm));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With at least this penalty k(k+1), the rounding errors of A x are as large as usual tolerances. */
#define STIFF 1e5

/* Tests whether the penalty makes rounding errors as large as usual tolerances. */
static PetscBool IsStiff(const VpProblem *problem)
{
  const double k = problem->degree;

  return problem->penalty * k * (k + 1) > STIFF;
}

PetscErrorCode VpWarnResidual(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscBool stiff, wanted;
  PetscReal bnorm, rnorm;
  char      remedy[128];

  PetscFunctionBegin;
  if (!VpIsWatched(ksp) || !VpPCBaseData(pc)->op) PetscFunctionReturn(PETSC_SUCCESS);
  stiff = IsStiff(&VpPCBaseData(pc)->op->problem);
  PetscCall(VpWarnWanted(pc, VP_WARN_RESIDUAL, &wanted));
  if (!wanted || !IsToCheck(ksp, stiff)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TrueNorms(pc, b, x, &bnorm, &rnorm));
  if (bnorm == 0 || rnorm <= 10 * PetscMax(ksp->rtol * bnorm, ksp->abstol)) PetscFunctionReturn(PETSC_SUCCESS);
  if (stiff)
    PetscCall(PetscSNPrintf(remedy, sizeof(remedy), "the penalty is too large for more digits; use a smaller -dm_vpatchdg_penalty"));
  else
    PetscCall(
      PetscSNPrintf(remedy, sizeof(remedy), "%s; use -%sksp_type fgmres",
                    ksp->normtype == KSP_NORM_UNPRECONDITIONED ? "what it takes for the residual is not" : "it stops by another norm",
                    VpPrefix((PetscObject)pc)));
  PetscCall(VpWarn(pc, VP_WARN_RESIDUAL, "KSP %s says %s, but |b - A x| is %.1e |b| after it, with a tolerance of %.1e: %s",
                   ((PetscObject)ksp)->type_name, KSPConvergedReasons[ksp->reason], (double)(rnorm / bnorm), (double)ksp->rtol, remedy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
