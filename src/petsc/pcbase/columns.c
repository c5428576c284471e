/* Y = M X for dense matrices, several columns at once if the type supports it. */
#include "pcbase.h"
#include "../support/columns.h"

typedef struct {
  PC        pc;
  VpColumns columns;
} Application;

static PetscErrorCode ApplyOne(void *context, Vec r, Vec z)
{
  PC pc = ((const Application *)context)->pc;

  return pc->ops->apply(pc, r, z);
}

/* *factor: the power of two that scaled the column */
static PetscErrorCode EnterColumn(PC pc, VpColumns columns, Mat X, PetscInt column, int32_t k, PetscReal *factor)
{
  Vec r, rest;

  PetscFunctionBegin;
  PetscCall(MatDenseGetColumnVecRead(X, column, &r));
  PetscCall(VpConstantsWithout(pc, r, &rest));
  PetscCall(VpPCBaseEnterInto(pc, VpColumnsRight(columns, k), NULL, rest, NULL, NULL));
  PetscCall(MatDenseRestoreColumnVecRead(X, column, &r));
  *factor = VpPCBaseData(pc)->factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LeaveColumn(PC pc, VpColumns columns, Mat Y, PetscInt column, int32_t k, PetscReal factor)
{
  VpPCBase *inverse = VpPCBaseData(pc);
  VpValues  zv;
  VpLevel   outer;
  Vec       z;

  PetscFunctionBegin;
  PetscCall(VpOperatorGetLevel(inverse->op, inverse->dm, &outer));
  PetscCall(MatDenseGetColumnVecWrite(Y, column, &z));
  PetscCall(VpValuesGet(outer->backend, z, VP_WRITE, &zv));
  PetscCall(VpColumnsLeave(columns, k, 1 / factor / inverse->scale, zv.at));
  PetscCall(VpValuesRestore(&zv));
  PetscCall(MatDenseRestoreColumnVecWrite(Y, column, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InvertConstants(PC pc, Mat X, Mat Y, PetscInt column)
{
  Vec r, z;

  PetscFunctionBegin;
  if (!VpPCBaseData(pc)->one) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDenseGetColumnVecRead(X, column, &r));
  PetscCall(MatDenseGetColumnVec(Y, column, &z));
  PetscCall(VpConstantsInvert(pc, r, z));
  PetscCall(MatDenseRestoreColumnVec(Y, column, &z));
  PetscCall(MatDenseRestoreColumnVecRead(X, column, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* columns [first, first + n) of X and Y */
static PetscErrorCode ApplySome(void *context, Mat X, Mat Y, PetscInt first, PetscInt n)
{
  PC              pc = ((const Application *)context)->pc;
  const VpColumns columns = ((const Application *)context)->columns;
  PetscReal      *factor;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &factor));
  PetscCall(VpColumnsBegin(columns));
  for (PetscInt k = 0; k < n; k++) PetscCall(EnterColumn(pc, columns, X, first + k, (int32_t)k, &factor[k]));
  PetscCall(VpColumnsSolve(columns, PETSC_FALSE));
  for (PetscInt k = 0; k < n; k++) PetscCall(LeaveColumn(pc, columns, Y, first + k, (int32_t)k, factor[k]));
  for (PetscInt k = 0; k < n; k++) PetscCall(InvertConstants(pc, X, Y, first + k));
  PetscCall(PetscFree(factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseMatApply(PC pc, Mat X, Mat Y)
{
  VpPCBase   *inverse = VpPCBaseData(pc);
  Application application = {.pc = pc};
  PetscInt    all, most;

  PetscFunctionBegin;
  PetscCall(VpPCBaseMeet(pc, NULL));
  PetscCall(MatGetSize(X, NULL, &all));
  PetscCall(inverse->ops->columns(pc, all, &application.columns, &most));
  PetscCall(VpOnColumns(X, Y, application.columns ? most : 1, ApplyOne, ApplySome, &application));
  PetscFunctionReturn(PETSC_SUCCESS);
}
