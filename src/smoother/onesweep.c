/* One sweep from zero as a preconditioner. */
#include "internal.h"

struct VpOneSweep_ {
  VpSmoother smoother;
  VpVector   b, x;
};

PetscErrorCode VpOneSweepCreate(VpLevel level, VpSpace space, VpResidual residual, VpExchange exchange, VpOneSweep *out)
{
  VpOneSweep one;

  PetscFunctionBegin;
  PetscCall(PetscNew(&one));
  *out = one;
  PetscCall(VpSmootherCreate(level, space, residual, exchange, 0, &one->smoother));
  PetscCall(VpVectorCreate(level, 1, "right-hand side", &one->b));
  PetscCall(VpVectorCreate(level, 2, "correction", &one->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOneSweepBegin(VpOneSweep one, VpVector *b)
{
  PetscFunctionBegin;
  PetscCall(VpVectorAbandon(one->b));
  PetscCall(VpVectorAbandon(one->x));
  *b = one->b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOneSweepSolve(VpOneSweep one, PetscBool reverse, PetscBool add, double scale, double *z)
{
  PetscFunctionBegin;
  PetscCall(VpVectorZero(one->x));
  PetscCall(VpSmootherSweep(one->smoother, reverse, one->b, one->x));
  PetscCall(VpVectorLeave(one->x, add, scale, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOneSweepDestroy(VpOneSweep *out)
{
  VpOneSweep one = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!one) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpVectorDestroy(&one->b));
  PetscCall(VpVectorDestroy(&one->x));
  PetscCall(VpSmootherDestroy(&one->smoother));
  PetscCall(PetscFree(one));
  PetscFunctionReturn(PETSC_SUCCESS);
}
