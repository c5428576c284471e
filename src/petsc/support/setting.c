/* Operations on a row of a table of settings: reading, storing, checking, asking for the option, comparing ranks. */
#include "setting.h"
#include "check.h"

/* number of values of an enum */
static int CountValues(const VpSetting *s)
{
  int n = 0;

  while (s->names[n]) n++;
  return n - 2;
}

PetscReal VpSettingValue(const VpSetting *s, const void *data)
{
  const void *at = (const char *)data + s->offset;

  switch (s->type) {
  case VP_SETTING_ENUM:
    return *(const int *)at;
  case VP_SETTING_BOOL:
    return *(const PetscBool *)at;
  case VP_SETTING_INT:
    return (PetscReal) * (const PetscInt *)at;
  default:
    return *(const PetscReal *)at;
  }
}

void VpSettingStore(const VpSetting *s, PetscReal value, void *data)
{
  void *at = (char *)data + s->offset;

  switch (s->type) {
  case VP_SETTING_ENUM:
    *(int *)at = (int)value;
    break;
  case VP_SETTING_BOOL:
    *(PetscBool *)at = (PetscBool)value;
    break;
  case VP_SETTING_INT:
    *(PetscInt *)at = value < (PetscReal)PETSC_MAX_INT ? (PetscInt)value : PETSC_MAX_INT; /* (PetscReal)PETSC_MAX_INT may be rounded up. */
    break;
  default:
    *(PetscReal *)at = value;
  }
}

void VpSettingsPreset(const VpSettings *settings, void *data)
{
  for (int i = 0; i < settings->n; i++) {
    PetscCheckAbort(settings->row[i].noun, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: setting %d has a number and no row", settings->type, i);
    VpSettingStore(&settings->row[i], settings->row[i].preset, data);
  }
}

PetscErrorCode VpSettingCheck(const VpSetting *s, PetscObject object, PetscReal value)
{
  const PetscReal least = s->names ? 0 : s->least, most = s->names ? CountValues(s) - 1 : s->most > 0 ? s->most : PETSC_MAX_REAL;
  const PetscBool allowed = value >= least && value <= most; /* NaN is not allowed. */
  char            text[32];

  PetscFunctionBegin;
  if (s->type == VP_SETTING_ENUM && value > INT_MAX) value -= 2. * INT_MAX + 2; /* The compiler may make the enum unsigned. */
  PetscCall(PetscSNPrintf(text, sizeof(text), s->type == VP_SETTING_REAL ? "%g" : "%.0f", (double)value));
  PetscCheck(allowed || !s->refusal, object->comm, PETSC_ERR_ARG_OUTOFRANGE, s->refusal, text);
  PetscCheck(allowed, object->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s(): value %s does not exist, 0 to %.0f do (%s)", s->setter, text,
             (double)most, s->names[CountValues(s)]);
  PetscValidLogicalCollectiveReal(object, value, 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSettingGet(const VpSetting *s, const void *data, void *value, const char caller[])
{
  VpSetting alone = *s;

  PetscFunctionBegin;
  PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument 2 of %s()", caller);
  alone.offset = 0;
  VpSettingStore(&alone, VpSettingValue(s, data), value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSettingAsk(const VpSetting *s, VpOptionItems PetscOptionsObject, PetscReal now, PetscReal *value, PetscBool *set)
{
  PetscEnum one = (PetscEnum)now;
  PetscBool yes = now != 0;
  PetscInt  n = (PetscInt)now;

  PetscFunctionBegin;
  *value = now;
  switch (s->type) {
  case VP_SETTING_ENUM:
    PetscCall(PetscOptionsEnum(s->option, s->help, s->setter, s->names, one, &one, set));
    *value = (PetscReal)one;
    break;
  case VP_SETTING_BOOL:
    PetscCall(PetscOptionsBool(s->option, s->help, s->setter, yes, &yes, set));
    *value = (PetscReal)yes;
    break;
  case VP_SETTING_INT:
    PetscCall(PetscOptionsInt(s->option, s->help, s->setter, n, &n, set));
    *value = (PetscReal)n;
    break;
  default:
    PetscCall(PetscOptionsReal(s->option, s->help, s->setter, now, value, set));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintValue(const VpSetting *s, PetscReal value, char text[], size_t length)
{
  PetscFunctionBegin;
  if (s->names) PetscCall(PetscSNPrintf(text, length, "%s", s->names[(int)value]));
  else PetscCall(PetscSNPrintf(text, length, "%.15g", (double)value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSettingsView(const VpSettings *settings, PetscObject object, const void *data, PetscViewer viewer)
{
  char      text[32];
  PetscBool some = PETSC_FALSE;

  PetscFunctionBegin;
  for (int i = 0; i < settings->n; i++) {
    const VpSetting *s = &settings->row[i];
    const PetscReal  value = VpSettingValue(s, data);

    if (!s->option || value == s->preset) continue;
    PetscCall(PrintValue(s, value, text, sizeof(text)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s -%s%s %s", some ? "" : "  not as by default:", VpPrefix(object), s->option + 1, text));
    if (!some) PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE)); /* for the rest of the line */
    some = PETSC_TRUE;
  }
  if (!some) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSettingsCheckSame(const VpSettings *settings, MPI_Comm comm, const void *data)
{
  const VpSetting *s;
  PetscReal       *mine, value[2];
  PetscInt         index;
  PetscMPIInt      rank;
  char             text[2][32];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(settings->n, &mine));
  for (int i = 0; i < settings->n; i++) mine[i] = VpSettingValue(&settings->row[i], data);
  PetscCall(VpFindDifference(comm, settings->n, mine, &index, &rank, value));
  PetscCall(PetscFree(mine));
  if (index == settings->n) PetscFunctionReturn(PETSC_SUCCESS);
  s = &settings->row[index];
  for (int i = 0; i < 2; i++) PetscCall(PrintValue(s, value[i], text[i], sizeof(text[i])));
  SETERRQ(comm, PETSC_ERR_ARG_INCOMP, "Ranks disagree about the %s%s%s%s: rank 0 has %s, rank %d has %s. All must have the same", s->noun,
          s->option ? " (" : "", s->option ? s->option : "", s->option ? ")" : "", text[0], rank, text[1]);
}
