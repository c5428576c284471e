/* Warnings of PCVPATCHDG and PCVPATCH: one line each on the first rank's stderr, each kind once a PC; -vpatchdg_warnings 0 switches them off. */
#include "../pcimpl.h"
#include <stdarg.h>

/* is this kind wanted, and new? */
static PetscErrorCode Wanted(PC pc, VpWarning kind, PetscBool *wanted)
{
  PetscFunctionBegin;
  *wanted = PETSC_TRUE;
  PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, NULL, "-vpatchdg_warnings", wanted, NULL));
  if (((VpInverse *)pc->data)->warned >> kind & 1) *wanted = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_ATTRIBUTE_FORMAT(3, 4) static PetscErrorCode Warn(PC pc, VpWarning kind, const char format[], ...)
{
  char    text[512];
  va_list arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  ((VpInverse *)pc->data)->warned |= 1U << kind;
  PetscCall(PetscFPrintf(PetscObjectComm((PetscObject)pc), PETSC_STDERR, "vpatchdg: warning: %s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *Prefix(PC pc)
{
  return ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "";
}

static PetscErrorCode WarnSymmetry(PC pc, const VpKSPKind *kind)
{
  const VpCycleOptions *o = &((PC_VPatchDG *)pc->data)->options;
  const char           *prefix = Prefix(pc);
  PetscBool             wanted;

  PetscFunctionBegin;
  PetscCall(Wanted(pc, VP_WARN_SYMMETRY, &wanted));
  if (!wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Warn(pc, VP_WARN_SYMMETRY,
                 "KSP %s needs a symmetric preconditioner, and this cycle is not: use -%spc_vpatchdg_symmetric "
                 "-%spc_vpatchdg_smooth_pre %" PetscInt_FMT ", or -%sksp_type fgmres",
                 kind->type, prefix, prefix, PetscMax(o->post, 1), prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpWarnSingle(PC pc, const VpKSPKind *kind, const char remedy[])
{
  const char *prefix = Prefix(pc);
  PetscBool   wanted;

  PetscFunctionBegin;
  PetscCall(Wanted(pc, VP_WARN_SINGLE, &wanted));
  if (kind->keeps || !wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Warn(pc, VP_WARN_SINGLE,
                 "with KSP %s and a preconditioner in single precision the true residual stalls near cond(A) 6e-8, whatever the KSP reports: "
                 "use -%s%s, or -%sksp_type fgmres",
                 kind->type, prefix, remedy, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGWarnBefore(PC pc, KSP ksp, const VpKSPKind *kind)
{
  const PC_VPatchDG *data = (PC_VPatchDG *)pc->data;

  PetscFunctionBegin;
  if (kind->symmetric && !data->options.symmetric) PetscCall(WarnSymmetry(pc, kind));
  else if (data->choice.asked == VPATCHDG_PRECISION_SINGLE)
    PetscCall(VpWarnSingle(pc, kind, "pc_vpatchdg_precision auto"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of KSPs that measure their residual, and are not inside of another solver, which may mean them to stop early */
static PetscBool IsWatched(KSP ksp)
{
  return (PetscBool)(((PetscObject)ksp)->tablevel == 0 && ksp->normtype != KSP_NORM_NONE);
}

/* Does the KSP's default test say that it converged, by a norm that need not be the true residual's? */
static PetscErrorCode IsToCheck(KSP ksp, PetscBool stiff, PetscBool *check)
{
  const KSPConvergedDefaultCtx *ctx = (const KSPConvergedDefaultCtx *)ksp->cnvP;
  VpKSPKind                     kind;

  PetscFunctionBegin;
  *check = PETSC_FALSE;
  if (ksp->converged != KSPConvergedDefault || !ctx || ctx->initialrtol || ctx->mininitialrtol) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->reason != KSP_CONVERGED_RTOL && ksp->reason != KSP_CONVERGED_ATOL) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpKSPKindOf(((PetscObject)ksp)->type_name, &kind));
  *check = (PetscBool)(stiff || !kind.keeps || ksp->normtype != KSP_NORM_UNPRECONDITIONED);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* norms of b and of b - A x, without the part of b that no x reaches */
static PetscErrorCode TrueNorms(PC pc, Vec b, Vec x, PetscReal *bnorm, PetscReal *rnorm)
{
  MatNullSpace outside;
  Vec          r;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatGetTransposeNullSpace(pc->pmat, &outside));
  PetscCall(VecNorm(b, NORM_2, bnorm));
  if (outside) {
    PetscCall(VecCopy(b, r));
    PetscCall(MatNullSpaceRemove(outside, r));
    PetscCall(VecNorm(r, NORM_2, bnorm));
  }
  PetscCall(MatResidual(pc->mat, b, x, r));
  if (outside) PetscCall(MatNullSpaceRemove(outside, r));
  PetscCall(VecNorm(r, NORM_2, rnorm));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* with such a penalty the rounding errors of A x itself are as large as tolerances */
static PetscBool IsStiff(PC pc)
{
  const VpProblem *problem = &((VpInverse *)pc->data)->op->problem;
  const double     k = problem->degree;

  return (PetscBool)(problem->penalty * k * (k + 1) > 1e5);
}

PetscErrorCode VpWarnResidual(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscBool check, wanted;
  PetscReal bnorm, rnorm;
  char      remedy[128];

  PetscFunctionBegin;
  if (!IsWatched(ksp) || !((VpInverse *)pc->data)->op) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IsToCheck(ksp, IsStiff(pc), &check));
  PetscCall(Wanted(pc, VP_WARN_RESIDUAL, &wanted));
  if (!check || !wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TrueNorms(pc, b, x, &bnorm, &rnorm));
  if (bnorm == 0 || rnorm <= 10 * PetscMax(ksp->rtol * bnorm, ksp->abstol)) PetscFunctionReturn(PETSC_SUCCESS);
  if (IsStiff(pc)) PetscCall(PetscSNPrintf(remedy, sizeof(remedy), "the penalty is too large for more digits; use a smaller -dm_vpatchdg_penalty"));
  else
    PetscCall(PetscSNPrintf(remedy, sizeof(remedy), "%s; use -%sksp_type fgmres",
                            ksp->normtype == KSP_NORM_UNPRECONDITIONED ? "what it takes for the residual is not" : "it stops by another norm",
                            Prefix(pc)));
  PetscCall(Warn(pc, VP_WARN_RESIDUAL, "KSP %s says %s, but |b - A x| is %.1e |b| after it, with a tolerance of %.1e: %s",
                 ((PetscObject)ksp)->type_name, KSPConvergedReasons[ksp->reason], (double)(rnorm / bnorm), (double)ksp->rtol, remedy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what to try first */
static PetscErrorCode Advice(PC pc, KSP ksp, PetscReal aspect, PetscReal contrast, char advice[], size_t size)
{
  const PC_VPatchDG *data = (PC_VPatchDG *)pc->data;
  const char        *prefix = Prefix(pc), *type = ((PetscObject)ksp)->type_name;
  VpKSPKind          kind;

  PetscFunctionBegin;
  PetscCall(VpKSPKindOf(type, &kind));
  if (ksp->reason == KSP_DIVERGED_NANORINF) PetscCall(PetscSNPrintf(advice, size, "are the right-hand side and the guess finite?"));
  else if (kind.symmetric && !data->options.symmetric)
    PetscCall(PetscSNPrintf(advice, size, "KSP %s needs -%spc_vpatchdg_symmetric; -%sksp_type fgmres does not", type, prefix, prefix));
  else if (strcmp(type, KSPFGMRES))
    PetscCall(PetscSNPrintf(advice, size, "-%sksp_type fgmres is the most robust", prefix));
  else if (aspect > 2)
    PetscCall(PetscSNPrintf(advice, size, "boxes closer to cubes need fewer iterations"));
  else if (contrast > 10)
    PetscCall(PetscSNPrintf(advice, size, "coefficients that jump along the coarsest cells need fewer iterations"));
  else
    PetscCall(PetscSNPrintf(advice, size, "-%sksp_max_it %" PetscInt_FMT " allows no more", prefix, ksp->max_it));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WarnFailed(PC pc, KSP ksp)
{
  const PC_VPatchDG *data = (PC_VPatchDG *)pc->data;
  const VpOperator   op = data->inverse.op;
  char               advice[128];
  PetscReal          a[2], aspect, contrast;
  PetscBool          wanted;

  PetscFunctionBegin;
  PetscCall(Wanted(pc, VP_WARN_FAILED, &wanted));
  if (!wanted || !op) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpCoefficientRange(op->mesh, op->problem.coefficient, a));
  aspect = VpAspectRatio(op->mesh->domain);
  contrast = a[1] / a[0];
  PetscCall(Advice(pc, ksp, aspect, contrast, advice, sizeof(advice)));
  PetscCall(Warn(pc, VP_WARN_FAILED,
                 "KSP %s ended with %s after %" PetscInt_FMT
                 " iterations; sides of a cell up to 1:%.3g, coefficients up to 1:%.3g, %s precision: %s",
                 ((PetscObject)ksp)->type_name, KSPConvergedReasons[ksp->reason], ksp->its, (double)aspect, (double)contrast,
                 VPatchDGPrecisions[data->options.precision], advice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coarsest level that is solved to no tolerance makes the cycle a map that is not linear, in whatever precision. */
static PetscErrorCode WarnCoarse(PC pc, KSP ksp)
{
  const PC_VPatchDG *data = (PC_VPatchDG *)pc->data;
  const PetscInt     stopped = data->cycle ? VpCoarseStopped(data->cycle->coarse) : 0;
  VpKSPKind          kind;
  PetscBool          wanted;

  PetscFunctionBegin;
  PetscCall(VpKSPKindOf(((PetscObject)ksp)->type_name, &kind));
  PetscCall(Wanted(pc, VP_WARN_COARSE, &wanted));
  if (!stopped || kind.keeps || !wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Warn(pc, VP_WARN_COARSE,
                 "the KSP of the coarsest level did not converge in %" PetscInt_FMT " iterations, which KSP %s does not stand: use "
                 "-%svpatchdg_coarse_ksp_max_it %" PetscInt_FMT ", or -%sksp_type fgmres",
                 stopped, ((PetscObject)ksp)->type_name, Prefix(pc), 10 * stopped, Prefix(pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGWarnAfter(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  if (!IsWatched(ksp)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WarnCoarse(pc, ksp));
  if (ksp->reason < 0) PetscCall(WarnFailed(pc, ksp));
  else
    PetscCall(VpWarnResidual(pc, ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
