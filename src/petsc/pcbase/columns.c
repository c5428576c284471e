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
static PetscErrorCode EnterColumn(PC pc, VpColumns columns, int32_t k, Vec r, PetscReal *factor)
{
  Vec rest;

  PetscFunctionBegin;
  PetscCall(VpConstantsWithout(pc, r, &rest));
  PetscCall(VpPCBaseEnterInto(pc, VpColumnsRight(columns, k), NULL, rest, NULL, NULL));
  *factor = VpPCBaseData(pc)->factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r: the column of X; z: that of Y */
static PetscErrorCode LeaveColumn(PC pc, VpColumns columns, int32_t k, PetscReal factor, Vec r, Vec z)
{
  VpPCBase *inverse = VpPCBaseData(pc);
  VpValues  zv;
  VpLevel   outer;

  PetscFunctionBegin;
  PetscCall(VpOperatorGetLevel(inverse->op, inverse->dm, &outer));
  PetscCall(VpValuesGet(outer->backend, z, VP_WRITE, &zv));
  PetscCall(VpColumnsLeave(columns, k, 1 / factor / inverse->scale, zv.at));
  PetscCall(VpValuesRestore(&zv));
  PetscCall(VpConstantsInvert(pc, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* columns [first, first + n) of X and Y */
static PetscErrorCode ApplySome(void *context, Mat X, Mat Y, PetscInt first, PetscInt n)
{
  PC              pc = ((const Application *)context)->pc;
  const VpColumns columns = ((const Application *)context)->columns;
  PetscReal      *factor;
  Vec             r, z;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &factor));
  PetscCall(VpColumnsBegin(columns));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(MatDenseGetColumnVecRead(X, first + k, &r));
    PetscCall(EnterColumn(pc, columns, (int32_t)k, r, &factor[k]));
    PetscCall(MatDenseRestoreColumnVecRead(X, first + k, &r));
  }
  PetscCall(VpColumnsSolve(columns));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(MatDenseGetColumnVecRead(X, first + k, &r));
    PetscCall(MatDenseGetColumnVec(Y, first + k, &z));
    PetscCall(LeaveColumn(pc, columns, (int32_t)k, factor[k], r, z));
    PetscCall(MatDenseRestoreColumnVec(Y, first + k, &z));
    PetscCall(MatDenseRestoreColumnVecRead(X, first + k, &r));
  }
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
  if (!inverse->continuous) PetscCall(inverse->ops->columns(pc, all, &application.columns, &most));
  PetscCall(VpOnColumns(X, Y, application.columns ? most : 1, ApplyOne, ApplySome, &application));
  PetscFunctionReturn(PETSC_SUCCESS);
}
