/* z = M r in two steps for KSPs of the library: its products with vectors, then its part of a direction. z itself is not written. */
#include "pcbase.h"

PetscBool VpPCBaseHolds(PC pc)
{
  const VpPCBase *inverse = pc->data;

  if (pc->ops->apply != VpPCBaseApply || !inverse->ops->holds || !inverse->built) return PETSC_FALSE;
  return (PetscBool)(!inverse->continuous && !inverse->one && inverse->ops->holds(pc));
}

PetscErrorCode VpPCBaseHold(PC pc, Vec r, PetscInt n, const Vec y[], PetscScalar products[])
{
  const VpPCBase  *inverse = pc->data;
  const double    *at[2];
  const VpBackend *backend;
  VpValues         values[2];

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_Apply, pc, r, 0, 0));
  PetscCall(VpPCBaseEnter(pc, NULL, r, NULL, NULL));
  PetscCall(DMVPatchDGUseBackend(inverse->dm, &backend));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VpValuesGet(backend, y[k], VP_READ, &values[k]));
    at[k] = values[k].at;
  }
  PetscCall(VpCycleHold(inverse->ops->holds(pc), 1 / inverse->factor / inverse->scale, (int)n, at, products));
  for (PetscInt k = 0; k < n; k++) PetscCall(VpValuesRestore(&values[k]));
  PetscCall(PetscLogEventEnd(PC_Apply, pc, r, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseLeaveHeld(PC pc, PetscBool add, PetscScalar scale, Vec z)
{
  const VpPCBase  *inverse = pc->data;
  const VpBackend *backend;
  VpValues         values;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGUseBackend(inverse->dm, &backend));
  PetscCall(VpValuesGet(backend, z, add ? VP_READ_WRITE : VP_WRITE, &values));
  PetscCall(VpCycleLeave(inverse->ops->holds(pc), 0, add, scale / inverse->factor / inverse->scale, values.at));
  PetscCall(VpValuesRestore(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
