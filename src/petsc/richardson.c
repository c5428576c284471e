/* Refinement, x += M (b - A x), as one operation: what KSPRICHARDSON runs when nothing monitors it and its scale is 1. Residual and
   conversion are one pass over memory, correction and conversion another; there are no vectors but x and b.

   It stops by the norm of b - A x and by the KSP's own test, as KSPRICHARDSON does in its own loop (pcinverse.c sets its norm). */
#include "pcimpl.h"

static PetscErrorCode FusedResidual(PC pc, Vec b, Vec x, PetscReal *norm)
{
  VpInverse       *inverse = (VpInverse *)pc->data;
  PetscScalar     *bb, *xx = NULL;
  VpGhosts         ghosts = VpGhostsAt(NULL);
  VpValues         bv, xv;
  VpLevel          outer;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetLevel(inverse->dm, &outer));
  PetscCall(VpValuesGet(outer->backend, b, VP_READ, &bv, &bb));
  if (x) PetscCall(VpValuesGet(outer->backend, x, VP_READ, &xv, &xx));
  if (x) PetscCall(DMVPatchDGGhosts(inverse->dm, xx, &ghosts));
  PetscCall(inverse->ops->enter_residual(pc, outer, xx, ghosts, bb, norm));
  if (x) PetscCall(VpValuesRestore(&xv));
  PetscCall(VpValuesRestore(&bv));
  if (norm) *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlainResidual(PC pc, Vec b, Vec x, Vec w, PetscReal *norm)
{
  VpInverse   *inverse = (VpInverse *)pc->data;
  PetscScalar *ww;
  VpValues     wv;
  VpLevel      outer;

  PetscFunctionBegin;
  if (x) PetscCall(MatResidual(pc->mat, b, x, w));
  else
    PetscCall(VecCopy(b, w));
  if (norm) PetscCall(VecNorm(w, NORM_2, norm));
  PetscCall(VecScale(w, 1 / inverse->scale));
  PetscCall(DMVPatchDGGetLevel(inverse->dm, &outer));
  PetscCall(VpValuesGet(outer->backend, w, VP_READ, &wv, &ww));
  PetscCall(inverse->ops->enter(pc, ww));
  PetscCall(VpValuesRestore(&wv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Correct(PC pc, PetscBool add, Vec x)
{
  VpInverse   *inverse = (VpInverse *)pc->data;
  PetscScalar *xx;
  VpValues     xv;
  VpLevel      outer;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetLevel(inverse->dm, &outer));
  PetscCall(VpValuesGet(outer->backend, x, add ? VP_READ_WRITE : VP_WRITE, &xv, &xx));
  PetscCall(inverse->ops->solve(pc, PETSC_FALSE, add, xx));
  PetscCall(VpValuesRestore(&xv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what PETSc's loop does with every residual; without a KSP (NULL) the tolerances refer to the first one */
static PetscErrorCode Test(KSP ksp, PetscInt it, PetscReal norm, const PetscReal tolerance[3], PetscReal *first, PetscInt *reason)
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

/* PCRichardsonConvergedReason is KSPConvergedReason under other names. */
PetscErrorCode VpInverseApplyRichardson(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt maxits,
                                        PetscBool guesszero, PetscInt *its, PCRichardsonConvergedReason *reason)
{
  const PetscReal tolerance[] = {rtol, abstol, dtol};
  const KSP       ksp = ((VpInverse *)pc->data)->ksp;
  const PetscBool measure = (PetscBool)(!ksp || ksp->normtype != KSP_NORM_NONE);
  const PetscBool fused = (PetscBool)(((VpInverse *)pc->data)->plain && pc->mat == pc->pmat);
  PetscReal       norm = 0, first = 0;
  PetscInt        it, ends = 0;

  PetscFunctionBegin;
  PetscCall(VpInverseMeet(pc, NULL));
  for (it = 0;; it++) {
    const Vec now = guesszero && it == 0 ? NULL : x;

    if (fused && (measure || it < maxits)) PetscCall(FusedResidual(pc, b, now, measure ? &norm : NULL));
    else if (measure || it < maxits) PetscCall(PlainResidual(pc, b, now, w, measure ? &norm : NULL));
    PetscCall(Test(ksp, it, norm, tolerance, &first, &ends));
    if (ends || it >= maxits) break;
    PetscCall(Correct(pc, (PetscBool)(now != NULL), x));
  }
  if (guesszero && it == 0) PetscCall(VecSet(x, 0));
  *its = it;
  if (!ends) ends = measure ? KSP_DIVERGED_ITS : KSP_CONVERGED_ITS;
  *reason = (PCRichardsonConvergedReason)ends;
  PetscFunctionReturn(PETSC_SUCCESS);
}
