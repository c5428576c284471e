/*MC
   KSPVPATCHDGFCG = "vpatchdgfcg" - Flexible conjugate gradients that keep one direction, like `KSPFCG` with -ksp_fcg_mmax 1, in fewer
   passes over memory

   Options Database Key:
.  -ksp_norm_type <unpreconditioned> - `unpreconditioned` tests the norm of b - A x, `natural` (r^T M r)^1/2, `none` nothing

   Level: beginner

   Notes:
   The method is that of `KSPFCG`, and so are its iterations up to rounding errors. It tests the norm of the true residual unless the user
   chooses another one, and it needs four vectors. Corrections of x and of the residual and the norm of the latter are one pass over
   memory, so that an iteration reads or writes 14 vectors besides the work of A and of the preconditioner, and one of `KSPFCG` 18. On GPUs
   it is 12 if A has numbers at points, and three less if the preconditioner is `PCVPATCHDG` on a mesh of cells of one level: M r then stays
   in it, in its own precision, unless the norm is `natural`. These passes take a third of an iteration on GPUs, and solves become shorter
   by a tenth.

   The KSP works with every matrix and preconditioner. A must be symmetric and positive definite. The preconditioner may change from
   iteration to iteration, and need not be symmetric.

.seealso: `PCVPATCHDG`, `KSPFCG`, `KSPCG`
M*/
#include "internal.h"

/* The direction scale p was made from z = M r, and c = A p. Where the preconditioner holds z, there is no vector z, and adding a part of it
   to p makes the next direction, with another scale. Else the scale is 1. */
typedef struct {
  Vec         r, z, p, c;
  PetscBool   holds;
  PetscScalar scale, eta; /* eta: (p, c) */
} Directions;

#define LEAST_SCALE 1e-60 /* of a direction whose vector grows. A smaller one is multiplied into the vector. */

/* r = b - A x */
static PetscErrorCode FirstResidual(KSP ksp, Mat A, Vec r)
{
  PetscFunctionBegin;
  if (ksp->guess_zero) {
    PetscCall(VecCopy(ksp->vec_rhs, r));
  } else {
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, r));
    PetscCall(VecAYPX(r, -1, ksp->vec_rhs));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M r. products: (z, r) and (z, c), or only the former in the first iteration */
static PetscErrorCode ApplyPreconditioner(KSP ksp, const Directions *d, PetscScalar products[2])
{
  const Vec with[] = {d->r, d->c};

  PetscFunctionBegin;
  if (d->holds) PetscFunctionReturn(VpPCBaseHold(ksp->pc, d->r, ksp->its ? 2 : 1, with, products));
  PetscCall(KSP_PCApply(ksp, d->r, d->z));
  PetscCall(VpVecProducts(d->z, ksp->its ? 2 : 1, with, products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether z = M r can stay in the preconditioner: nothing else is done to it, and no test, which may apply the preconditioner, comes before
   the step */
static PetscErrorCode FindHolds(KSP ksp, Mat A, Directions *d)
{
  MatNullSpace space;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &space));
  d->holds = (PetscBool)(!space && !ksp->transpose_solve && ksp->normtype != KSP_NORM_NATURAL && VpPCBaseHolds(ksp->pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the next direction: z - share p */
static PetscErrorCode TurnDirection(KSP ksp, Directions *d, PetscScalar share)
{
  const Vec old = d->p;

  PetscFunctionBegin;
  d->scale = 1;
  if (!d->holds) {
    if (share != 0) PetscCall(VecAXPY(d->z, -share, old));
    d->p = d->z;
    d->z = old;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (PetscAbsScalar(share) > LEAST_SCALE) d->scale = -share;
  else if (share != 0) PetscCall(VecScale(d->p, -share));
  PetscCall(VpPCBaseLeaveHeld(ksp->pc, (PetscBool)(share != 0), 1 / d->scale, d->p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* c = A p, and eta */
static PetscErrorCode MultiplyDirection(KSP ksp, Mat A, Directions *d)
{
  VpMatrix  matrix;
  PetscBool did = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(A, &matrix));
  if (matrix && !ksp->transpose_solve) PetscCall(VpMatrixApplyEnergy(matrix, d->p, d->c, &d->eta, &did));
  if (!did) {
    PetscCall(KSP_MatMult(ksp, A, d->p, d->c));
    PetscCall(VpVecProducts(d->p, 1, &d->c, &d->eta));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the next direction from z, and moves x to where the energy is least along it. */
static PetscErrorCode TakeStep(KSP ksp, Mat A, Directions *d, const PetscScalar products[2], PetscReal *norm)
{
  PetscFunctionBegin;
  PetscCall(TurnDirection(ksp, d, ksp->its && d->eta != 0 ? products[1] / d->eta : 0)); /* 0: the residual was 0 */
  PetscCall(MultiplyDirection(ksp, A, d));
  KSPCheckDot(ksp, d->eta);
  if (d->eta <= 0 && products[0] != 0) {
    ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VpVecDescend(products[0] == 0 ? 0 : products[0] / d->eta / d->scale, d->p, d->c, ksp->vec_sol, d->r, norm));
  if (*norm > VP_LEAST_NORM && !PetscIsInfOrNanReal(*norm)) PetscCall(VpNormSet(d->r, *norm));
  else PetscCall(VecNorm(d->r, NORM_2, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of a residual is known before the preconditioner is applied to it, the natural norm after it. */
static PetscErrorCode KSPSolve_FCG(KSP ksp)
{
  const PetscBool natural = (PetscBool)(ksp->normtype == KSP_NORM_NATURAL);
  Directions      d = {.r = ksp->work[0], .z = ksp->work[1], .p = ksp->work[2], .c = ksp->work[3]};
  PetscScalar     products[2] = {0, 0};
  PetscReal       norm = 0;
  Mat             A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(FindHolds(ksp, A, &d));
  PetscCall(FirstResidual(ksp, A, d.r));
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) PetscCall(VecNorm(d.r, NORM_2, &norm));
  for (ksp->its = 0;; ksp->its++) {
    if (natural) PetscCall(ApplyPreconditioner(ksp, &d, products));
    ksp->rnorm = natural ? PetscSqrtReal(PetscAbsScalar(products[0])) : ksp->normtype == KSP_NORM_NONE ? 0 : norm;
    KSPCheckNorm(ksp, ksp->rnorm);
    PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
    PetscCall(KSPMonitor(ksp, ksp->its, ksp->rnorm));
    PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
    if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = ksp->normtype == KSP_NORM_NONE ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
    if (ksp->reason) break;
    if (!natural) PetscCall(ApplyPreconditioner(ksp, &d, products));
    KSPCheckDot(ksp, products[0]);
    PetscCall(TakeStep(ksp, A, &d, products, &norm));
    if (ksp->reason) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_FCG(KSP ksp)
{
  return KSPSetWorkVecs(ksp, 4);
}

PetscErrorCode KSPCreate_VPatchDGFCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup = KSPSetUp_FCG;
  ksp->ops->solve = KSPSolve_FCG;
  ksp->ops->destroy = KSPDestroyDefault;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}
