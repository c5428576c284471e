/* Constants, if no side of the domain holds them. They are an eigenvector of the Pmat s A + t I for the eigenvalue mu = s c + t, where c
   is the reaction. If mu is far smaller than the other eigenvalues, the approximate inverse M is inaccurate for constants. Let e = 1/|1|.
   Then

       M r  ->  P M P r + e (e, r) / mu,    P r = r - e (e, r)    (without the last term if mu = 0)

   is exact for constants. The first P serves single precision, where a large constant would hide the rest of r. If mu = 0, the residual
   contains no constants. PETSc removes them if a KSP applies M on the left. If it applies M on the right, they are removed once from the
   solution.

   A KSP may solve with another Amat whose null space does not contain the constants, because its reaction varies for instance. Then mu is
   the quotient of the Amat. */
#include "pcbase.h"

#define HIDDEN 1e-10 /* Rounding errors of a product with A are below this fraction of a/h^2. */

/* whether M leaves constants as they are: those that a KSP, or the end of its solve, takes care of */
static PetscBool LeavesConstants(const VpPCBase *inverse)
{
  return (PetscBool)(!inverse->one || (inverse->eigenvalue == 0 && inverse->ksp && !inverse->continuous));
}

static PetscErrorCode CheckNullSpace(PC pc, MatNullSpace space, const Vec **basis)
{
  PetscBool ones;
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(MatNullSpaceGetVecs(space, &ones, &n, basis));
  PetscCheck(!ones, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "The Pmat's null space has the vector (1, 1, ..., 1), which is not the constant function in the basis of a DMVPATCHDG. "
             "DMCreateMatrix() gives the constants to a singular operator: leave out MatSetNullSpace()");
  if (n != 1) *basis = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateConstant(PC pc)
{
  VpPCBase    *inverse = pc->data;
  MatNullSpace space;
  const Vec   *basis = NULL;

  PetscFunctionBegin;
  if (inverse->continuous) {
    PetscCall(PetscObjectReference((PetscObject)inverse->continuous->one));
    inverse->one = inverse->continuous->one;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetNullSpace(pc->pmat, &space));
  if (space) PetscCall(CheckNullSpace(pc, space, &basis));
  if (basis) {
    PetscCall(PetscObjectReference((PetscObject)basis[0]));
    inverse->one = basis[0];
  } else {
    PetscCall(MatCreateVecs(pc->pmat, &inverse->one, NULL));
    PetscCall(DMVPatchDGFillConstant(inverse->dm, inverse->one));
    PetscCall(VecNormalize(inverse->one, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal PmatEigenvalue(const VpPCBase *inverse)
{
  if (inverse->continuous) return inverse->continuous->eigenvalue;
  return inverse->scale * inverse->op->problem.reaction / VpProblemDilation(&inverse->op->problem) + inverse->shift;
}

PetscErrorCode VpConstantsSetUp(PC pc)
{
  VpPCBase       *inverse = pc->data;
  const PetscReal c = inverse->op->problem.reaction, whole = c + inverse->shift / inverse->scale * VpProblemDilation(&inverse->op->problem);
  VpProblem       diffusion = inverse->op->problem;

  PetscFunctionBegin;
  diffusion.reaction = 0;
  inverse->eigenvalue = PmatEigenvalue(inverse);
  if (whole >= c && whole > VP_SMALL * inverse->range[1]) PetscCall(VecDestroy(&inverse->one));
  else if (!inverse->one && VpProblemIsSingular(inverse->op->mesh, &diffusion)) PetscCall(CreateConstant(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the eigenvalue and removes the Pmat's null space if the Amat has none, because PETSc would remove the null space from b. */
PetscErrorCode VpConstantsMeet(PC pc)
{
  VpPCBase   *inverse = pc->data;
  PetscReal   norm;
  PetscScalar quotient;
  Vec         y;

  PetscFunctionBegin;
  PetscCall(VpConstantsLeave(pc));
  if (!inverse->one || inverse->eigenvalue != 0 || pc->mat == pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(inverse->one, &y));
  PetscCall(MatMult(pc->mat, inverse->one, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecDot(y, inverse->one, &quotient));
  PetscCall(VecDestroy(&y));
  if (norm <= HIDDEN * PetscAbsReal(inverse->scale) * inverse->range[1]) PetscFunctionReturn(PETSC_SUCCESS);
  inverse->eigenvalue = PetscAbsScalar(quotient) > VP_SMALL * norm ? PetscRealPart(quotient) : norm;
  PetscCall(MatGetNullSpace(pc->pmat, &inverse->space[0]));
  PetscCall(MatGetTransposeNullSpace(pc->pmat, &inverse->space[1]));
  for (int i = 0; i < 2; i++) PetscCall(PetscObjectReference((PetscObject)inverse->space[i]));
  PetscCall(MatSetNullSpace(pc->pmat, NULL));
  PetscCall(MatSetTransposeNullSpace(pc->pmat, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpConstantsLeave(PC pc)
{
  VpPCBase *inverse = pc->data;

  PetscFunctionBegin;
  if (inverse->op) inverse->eigenvalue = PmatEigenvalue(inverse);
  if (inverse->space[0]) PetscCall(MatSetNullSpace(pc->pmat, inverse->space[0]));
  if (inverse->space[1] != inverse->space[0]) PetscCall(MatSetTransposeNullSpace(pc->pmat, inverse->space[1]));
  for (int i = 0; i < 2; i++) PetscCall(MatNullSpaceDestroy(&inverse->space[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpConstantsFind(PC pc, Vec z, PetscScalar *multiple)
{
  const Vec one = VpPCBaseData(pc)->one;

  PetscFunctionBegin;
  *multiple = 0;
  if (one) PetscCall(VecDot(z, one, multiple));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define ALL (1 - 1e-13) /* fraction of a norm */

PetscErrorCode VpConstantsWarn(PC pc, Vec b)
{
  const VpPCBase *inverse = pc->data;
  PetscScalar     multiple;
  PetscReal       norm;
  PetscBool       wanted;

  PetscFunctionBegin;
  PetscCall(VpWarnWanted(pc, VP_WARN_CONSTANT, &wanted));
  if (!wanted || !inverse->one || inverse->eigenvalue != 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpConstantsFind(pc, b, &multiple));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm == 0 || PetscAbsScalar(multiple) < ALL * norm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpWarn(pc, VP_WARN_CONSTANT,
                   "the right-hand side is a constant, which has no solution without Dirichlet and Robin sides and without reaction: "
                   "the integrals of f and of the boundary data have to add up to 0"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpConstantsSet(PC pc, PetscScalar wanted, Vec z)
{
  const Vec   one = VpPCBaseData(pc)->one;
  PetscScalar multiple;

  PetscFunctionBegin;
  PetscCall(VpConstantsFind(pc, z, &multiple));
  if (one) PetscCall(VecAXPY(z, wanted - multiple, one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpConstantsWithout(PC pc, Vec r, Vec *rest)
{
  VpPCBase *inverse = pc->data;

  PetscFunctionBegin;
  *rest = r;
  if (LeavesConstants(inverse)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!inverse->rest) PetscCall(VecDuplicate(r, &inverse->rest));
  *rest = inverse->rest;
  PetscCall(VecCopy(r, *rest));
  PetscCall(VpConstantsSet(pc, 0, *rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpConstantsInvert(PC pc, Vec r, Vec z)
{
  const VpPCBase *inverse = pc->data;
  PetscScalar     multiple = 0;

  PetscFunctionBegin;
  if (LeavesConstants(inverse)) PetscFunctionReturn(PETSC_SUCCESS);
  if (inverse->eigenvalue != 0) {
    PetscCall(VpConstantsFind(pc, r, &multiple));
    multiple /= inverse->eigenvalue;
  }
  PetscCall(VpConstantsSet(pc, multiple, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
