/* Estimates the error with the preconditioner B: z = B r with r = b - A x approximates the error e, r^T z its energy e^T A e, and b^T x the
   energy of x. If entries of the operator differ by orders of magnitude, a small residual says little about either. */
#include "pcbase.h"
#include <vpatchdg.h>

typedef struct {
  PetscReal energy, size; /* energy: (r^T z / b^T x)^1/2, -1 if only r^T z < 0; size: |z| / |x| */
} Missing;

static PetscReal ComputeRoot(PetscReal a, PetscReal b)
{
  if (a < 0) return b < 0 ? PetscSqrtReal(a / b) : -1;
  return a == 0 ? 0 : PetscSqrtReal(a / PetscMax(b, 0));
}

static PetscErrorCode EstimateMissing(KSP ksp, Vec b, Vec x, Missing *missing)
{
  PC          pc;
  Vec         r, z;
  PetscScalar energy, all;
  PetscReal   znorm, xnorm;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &z));
  PetscCall(KSP_MatMult(ksp, pc->mat, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecDot(z, r, &energy));
  PetscCall(VecDot(b, x, &all));
  PetscCall(VecNorm(z, NORM_2, &znorm));
  PetscCall(VecNorm(x, NORM_2, &xnorm));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&r));
  missing->energy = ComputeRoot(PetscRealPart(energy), PetscRealPart(all));
  missing->size = znorm == 0 ? 0 : znorm / xnorm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   VPatchDGConvergedEnergy - Convergence test by the energy norm of the error, as estimated by the KSP's preconditioner

   Collective

   Input Parameters:
+  ksp   - the KSP
.  it    - the number of the iteration
.  rnorm - the norm of the residual
-  ctx   - not used, `NULL`

   Output Parameter:
.  reason - `KSP_CONVERGED_RTOL` if the residual is at most rtol relative to b and the energy norm of the error is at most rtol relative to
            that of x; `KSP_DIVERGED_INDEFINITE_PC` if r^T B r is negative and b^T x is not; otherwise the result of `KSPConvergedDefault()`

   Options Database Key:
.  -vpatchdg_converged <residual> - `energy` sets this test, under the KSP's prefix

   Level: intermediate

   Notes:
   Let B be the preconditioner and r = b - A x. The test estimates the energy norm of the error by (r^T B r)^1/2 and that of x by (b^T
   x)^1/2. These estimates are as good as B approximates the inverse of A. They also work for a cycle that is not symmetric, since only the
   symmetric part of B contributes to r^T B r. If r^T B r is negative and b^T x is not, B is indefinite and the solve ends.

   Use this test if coefficients or penalties differ by orders of magnitude, because the residual alone is then misleading: Dirichlet data
   next to a large coefficient make b large, so that a small relative residual can hide a large error elsewhere.

   The test costs nothing until the residual has converged. From then on it costs a product with A and an application of B per iteration,
   and it needs three vectors. The options of `KSPConvergedDefault()`, for instance -ksp_converged_use_initial_residual_norm, do not apply:
   rtol always refers to the norm of b. `KSPCG`, `KSPFCG` and `KSPVPATCHDGFCG` provide this norm at no cost as `KSP_NORM_NATURAL`.

.seealso: `PCVPATCHDG`, `KSPSetConvergenceTest()`, `KSPSetNormType()`
@*/
PetscErrorCode VPatchDGConvergedEnergy(KSP ksp, PetscInt it, PetscReal rnorm, KSPConvergedReason *reason, void *ctx)
{
  KSPConvergedDefaultCtx plain = {PETSC_FALSE};
  Missing                missing;
  Vec                    b, x;

  PetscFunctionBegin;
  PetscCall(KSPConvergedDefault(ksp, it, rnorm, reason, &plain));
  PetscCall(VecDestroy(&plain.work));
  if (*reason != KSP_CONVERGED_RTOL) PetscFunctionReturn(PETSC_SUCCESS);
  *reason = KSP_CONVERGED_ITERATING; /* Recent versions of PETSc build no solution of a KSP that has a reason to stop. */
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPBuildSolution(ksp, x, NULL));
  PetscCall(EstimateMissing(ksp, b, x, &missing));
  PetscCall(VecDestroy(&x));
  if (missing.energy < 0) *reason = KSP_DIVERGED_INDEFINITE_PC;
  else if (missing.energy <= ksp->rtol) *reason = KSP_CONVERGED_RTOL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpReadConverged(KSP ksp)
{
  static const char *const names[] = {"residual", "energy", "VPatchDGConverged", "", NULL};
  PetscBool                set, is = (PetscBool)(ksp->converged == VPatchDGConvergedEnergy);
  PetscEnum                wanted = (PetscEnum)0;
  void                    *ctx;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetEnum(((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, "-vpatchdg_converged", names, &wanted, &set));
  if (!set || is == (PetscBool)wanted) PetscFunctionReturn(PETSC_SUCCESS);
  if (wanted) PetscCall(KSPSetConvergenceTest(ksp, VPatchDGConvergedEnergy, NULL, NULL));
  else {
    PetscCall(KSPConvergedDefaultCreate(&ctx));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedDefault, ctx, KSPConvergedDefaultDestroy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define FAR     100  /* spread of the operator's numbers above which the error is estimated */
#define LITTLE  100  /* An estimated error above this many times rtol causes a warning, */
#define NATURAL 1e4  /* or above this many times rtol if the energy norm decides, */
#define ENOUGH  2e-6 /* but never below this. */
#define MUCH    1e3  /* If the error is above this many times rtol, a test in the energy norm helps. */

static PetscBool IsEnergy(KSP ksp)
{
  return (PetscBool)(ksp->normtype == KSP_NORM_NATURAL || ksp->converged == VPatchDGConvergedEnergy);
}

static PetscBool IsFar(const VpPCBase *inverse)
{
  const PetscReal penalty = inverse->op->problem.penalty;

  return (PetscBool)(inverse->range[1] * PetscMax(penalty, 1) > FAR * inverse->range[0]);
}

/* *unseen: about how much larger the error may be than what a cycle finds of it, if that sees means over boxes */
static PetscErrorCode FindUnseen(const VpPCBase *inverse, PetscReal *unseen)
{
  PetscReal a[2];

  PetscFunctionBegin;
  *unseen = 1;
  if (inverse->metric != VP_METRIC_CONST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpCoefficientRange(inverse->op->mesh, &inverse->op->problem, a));
  *unseen = PetscSqrtReal(a[1] / a[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the option to try */
static const char *FindRemedy(KSP ksp, PetscReal missing)
{
  const char *type = ((PetscObject)ksp)->type_name;

  if (missing <= MUCH * ksp->rtol || IsEnergy(ksp)) return "a smaller";
  return !strcmp(type, KSPCG) || !strcmp(type, KSPFCG) || !strcmp(type, KSPVPATCHDGFCG) ? "-%sksp_norm_type natural, or a smaller"
                                                                                        : "-%svpatchdg_converged energy, or a smaller";
}

PetscErrorCode VpWarnMissing(PC pc, KSP ksp, Vec b, Vec x)
{
  VpPCBase   *inverse = pc->data;
  const char *prefix = VpPrefix((PetscObject)pc);
  PetscReal   bnorm, xnorm, unseen = 1;
  PetscBool   wanted;
  Missing     missing;
  char        remedy[96];

  PetscFunctionBegin;
  if (!VpIsWatched(ksp) || !inverse->op || ksp->reason != KSP_CONVERGED_RTOL || !IsFar(inverse)) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->normtype == KSP_NORM_PRECONDITIONED && inverse->metric != VP_METRIC_CONST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpWarnWanted(pc, VP_WARN_MISSING, &wanted));
  if (!wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecNorm(x, NORM_2, &xnorm));
  if (bnorm <= 2 * inverse->right * xnorm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(EstimateMissing(ksp, b, x, &missing));
  PetscCall(FindUnseen(inverse, &unseen));
  missing.size *= unseen;
  if (missing.size <= PetscMax((IsEnergy(ksp) ? NATURAL : LITTLE) * ksp->rtol, ENOUGH)) {
    inverse->right = bnorm / xnorm;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSNPrintf(remedy, sizeof(remedy), FindRemedy(ksp, missing.size), prefix));
  PetscCall(
    VpWarn(pc, VP_WARN_MISSING,
           "KSP %s says CONVERGED_RTOL, but x misses about %.1e of its size, with a tolerance of %.1e: |b - A x| is compared with |b|, "
           "which data beside large coefficients, thin cells or a large penalty decide; use %s -%sksp_rtol",
           ((PetscObject)ksp)->type_name, (double)missing.size, (double)ksp->rtol, remedy, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}
