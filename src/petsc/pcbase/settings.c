/* Setters, getters and options of PCVPATCHDG and PCVPATCH from the table of the type. */
#include "pcbase.h"

static PetscErrorCode IsType(PC pc, const char type[], PetscBool *same)
{
  PetscFunctionBegin;
  VpAssertObject(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, type, same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseCheckType(PC pc, const char type[])
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(IsType(pc, type, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "The PC is of type %s, not %s", VpTypeName((PetscObject)pc),
             type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseSet(PC pc, const VpSettings *settings, int setting, PetscReal value)
{
  const VpSetting *s = &settings->row[setting];
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(IsType(pc, settings->type, &same));
  PetscCall(VpSettingCheck(s, (PetscObject)pc, value));
  if (!same || VpSettingValue(s, pc->data) == value) PetscFunctionReturn(PETSC_SUCCESS);
  VpSettingStore(s, value, pc->data);
  VpPCBaseChanged(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseGet(PC pc, const VpSettings *settings, int setting, void *value, const char caller[])
{
  PetscFunctionBegin;
  PetscCall(VpPCBaseCheckType(pc, settings->type));
  PetscCall(VpSettingGet(&settings->row[setting], pc->data, value, caller));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseSetFromOptions(PC pc, const VpSettings *settings, VpOptionItems items)
{
  PetscReal value;
  PetscBool set;

  PetscFunctionBegin;
  for (int i = 0; i < settings->n; i++) {
    const VpSetting *s = &settings->row[i];

    PetscCall(VpSettingAsk(s, items, VpSettingValue(s, pc->data), &value, &set));
    if (set) PetscCall(VpPCBaseSet(pc, settings, i, value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
