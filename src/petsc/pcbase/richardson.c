/* Refinement, x += M (b - A x), as one operation, which KSPRICHARDSON runs if it has no monitor and its scale is 1. Residual and conversion
   take one pass over memory, correction and conversion another. There are no vectors except x and b.

   Like KSPRICHARDSON's own loop, refinement stops by the norm of b - A x and by the KSP's test (pcbase.c sets the norm). */
#include "pcbase.h"

/* *op: the operator if the matrix is A itself without entries, otherwise NULL. The PC may have been built for an older operator. */
static PetscErrorCode FusedOperator(PC pc, VpOperator *op)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(pc->mat, &matrix));
  *op = matrix && matrix->shell && pc->mat == pc->pmat && matrix->scale == 1 && matrix->shift == 0 ? VpMatrixOperator(matrix) : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b - A x enters (x NULL: b), computed by the operator's fused kernel unless op is NULL. */
static PetscErrorCode EnterResidual(PC pc, VpOperator op, Vec b, Vec x, Vec w, PetscReal *norm)
{
  PetscFunctionBegin;
  if (!op && x) PetscCall(MatResidual(pc->mat, b, x, w));
  else if (!op) PetscCall(VecCopy(b, w));
  PetscCall(VpPCBaseEnter(pc, op, op ? b : w, op ? x : NULL, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tests a residual like PETSc's loop. Without a KSP (NULL) the tolerances refer to the first residual. */
static PetscErrorCode TestResidual(KSP ksp, PetscInt it, PetscReal norm, const PetscReal tolerance[3], PetscReal *first, PetscInt *reason)
{
  KSPConvergedReason says = KSP_CONVERGED_ITERATING;

  PetscFunctionBegin;
  if (ksp) {
    ksp->rnorm = norm;
    PetscCall(KSPLogResidualHistory(ksp, norm));
    PetscCall((*ksp->converged)(ksp, it, norm, &says, ksp->cnvP));
  } else {
    if (it == 0) *first = norm;
    if (PetscIsInfOrNanReal(norm)) says = KSP_DIVERGED_NANORINF;
    else if (norm < tolerance[1]) says = KSP_CONVERGED_ATOL;
    else if (norm <= tolerance[0] * *first) says = KSP_CONVERGED_RTOL;
    else if (norm >= tolerance[2] * *first) says = KSP_DIVERGED_DTOL;
  }
  *reason = (PetscInt)says;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCRichardsonConvergedReason has the values of KSPConvergedReason. */
PetscErrorCode VpPCBaseApplyRichardson(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt maxits,
                                       PetscBool guesszero, PetscInt *its, PCRichardsonConvergedReason *reason)
{
  const PetscReal tolerance[] = {rtol, abstol, dtol};
  const KSP       ksp = VpPCBaseData(pc)->ksp;
  const PetscBool measure = !ksp || ksp->normtype != KSP_NORM_NONE;
  VpOperator      op = NULL;
  PetscReal       norm = 0, first = 0;
  PetscInt        it, ends = 0;
  PetscScalar     constant = 0;

  PetscFunctionBegin;
  if (!guesszero) PetscCall(VpConstantsFind(pc, x, &constant));
  PetscCall(FusedOperator(pc, &op));
  VpPCBaseData(pc)->factor = 0; /* The factor of another residual is not valid. */
  for (it = 0;; it++) {
    const Vec now = guesszero && it == 0 ? NULL : x;
    PetscInt  entered;

    if (measure || it < maxits) PetscCall(EnterResidual(pc, op, b, now, w, measure ? &norm : NULL));
    entered = VpPCBaseData(pc)->entered;
    PetscCall(TestResidual(ksp, it, norm, tolerance, &first, &ends));
    if (ends || it >= maxits) break;
    if (entered != VpPCBaseData(pc)->entered)
      PetscCall(EnterResidual(pc, op, b, now, w, NULL)); /* The test has applied the PC and overwritten r. */
    PetscCall(VpPCBaseSolve(pc, PETSC_FALSE, now != NULL, x));
  }
  if (guesszero && it == 0) PetscCall(VecSet(x, 0));
  if (VpPCBaseData(pc)->eigenvalue == 0) PetscCall(VpConstantsSet(pc, constant, x));
  *its = it;
  if (!ends) ends = measure ? KSP_DIVERGED_ITS : KSP_CONVERGED_ITS;
  *reason = (PCRichardsonConvergedReason)ends;
  PetscFunctionReturn(PETSC_SUCCESS);
}
