/* What a KSP claims of its solution, and what is true. */
#include "fuzz.h"

const char *const ClaimNames[] = {"solved", "solved in its norm", "not converged", "nothing claimed", "wrong residual", "wrong solution"};

/* |M v|, or sqrt(v.M v) for the natural norm */
static PetscErrorCode NormOf(KSP ksp, Vec v, KSPNormType type, PetscReal *norm)
{
  PetscScalar dot;
  PC          pc;
  Vec         z;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(VecDuplicate(v, &z));
  PetscCall(PCApply(pc, v, z));
  if (type == KSP_NORM_NATURAL) {
    PetscCall(VecDot(v, z, &dot));
    *norm = PetscSqrtReal(PetscAbsReal(PetscRealPart(dot)));
  } else {
    PetscCall(VecNorm(z, NORM_2, norm));
  }
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* also with b = 0: the KSP then measures against the first residual */
static PetscBool SaysNothing(KSPNormType type, KSPConvergedReason reason)
{
  return (PetscBool)(type == KSP_NORM_NONE || reason == KSP_CONVERGED_ITS ||
                     (reason != KSP_CONVERGED_RTOL && reason != KSP_CONVERGED_ATOL && reason != KSP_CONVERGED_HAPPY_BREAKDOWN));
}

/* guess: the norm of the first x. Rounding errors of A x set a limit to what a residual can be. */
PetscErrorCode CheckClaim(KSP ksp, Mat A, Vec b, Vec x, PetscReal guess, Claim *claim)
{
  PetscReal          rtol, atol, norm[4], size, rounding;
  PetscInt           its;
  KSPNormType        type;
  KSPType            name;
  KSPConvergedReason reason;
  Vec                r;

  PetscFunctionBeginUser;
  PetscCall(KSPGetType(ksp, &name));
  PetscCall(KSPGetTolerances(ksp, &rtol, &atol, NULL, NULL));
  PetscCall(KSPGetNormType(ksp, &type));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_2, &norm[0]));
  PetscCall(VecNorm(r, NORM_2, &norm[1]));
  PetscCall(VecNorm(x, NORM_2, &size));
  PetscCall(MatNorm(A, NORM_1, &rounding));
  rounding *= 100 * PETSC_MACHINE_EPSILON * PetscMax(size, guess);
  norm[2] = norm[3] = -1;
  if (reason < 0) *claim = NOT_CONVERGED;
  else if (SaysNothing(type, reason) || norm[0] == 0) *claim = NOTHING_CLAIMED;
  else if (norm[1] <= PetscMax(10 * PetscMax(rtol * norm[0], atol), rounding)) *claim = SOLVED;
  else *claim = WRONG;
  if (*claim == WRONG && type != KSP_NORM_UNPRECONDITIONED && !PetscIsInfOrNanReal(norm[1])) {
    PetscCall(NormOf(ksp, b, type, &norm[2]));
    PetscCall(NormOf(ksp, r, type, &norm[3]));
    if (norm[3] <= 10 * PetscMax(rtol * norm[2], atol)) *claim = SOLVED_IN_ITS_NORM;
  }
  Say("%s says %s after %" PetscInt_FMT " iterations: true |r| %.2e, |b| %.2e, rtol %.0e, norm type %s%s", name,
      KSPConvergedReasons[reason], its, (double)norm[1], (double)norm[0], (double)rtol, KSPNormTypes[type], norm[2] < 0 ? "" : ":");
  if (norm[2] >= 0) Say("in that norm |r| %.2e, |b| %.2e", (double)norm[3], (double)norm[2]);
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define FAR 1e3 /* times rtol that an error may be in the energy norm */

PetscErrorCode CheckSolution(KSP ksp, Mat A, Vec known, Vec x, Claim *claim)
{
  PetscScalar  energy, all;
  PetscReal    rtol, error;
  MatNullSpace constants;
  Vec          e, Ae;

  PetscFunctionBeginUser;
  if (*claim != SOLVED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(VecDuplicate(x, &e));
  PetscCall(VecDuplicate(x, &Ae));
  PetscCall(VecWAXPY(e, -1, known, x));
  PetscCall(MatGetNullSpace(A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, e));
  PetscCall(MatMult(A, e, Ae));
  PetscCall(VecDot(e, Ae, &energy));
  PetscCall(MatMult(A, known, Ae));
  PetscCall(VecDot(known, Ae, &all));
  error = PetscSqrtReal(PetscAbsScalar(energy / all));
  Say("the error has %.1e of the energy, rtol %.0e", (double)error, (double)rtol);
  if (!(error <= FAR * rtol)) *claim = WRONG_SOLUTION;
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&Ae));
  PetscFunctionReturn(PETSC_SUCCESS);
}
