/* The settings of an object as a table, a row each. What the setter, the getter, the option, -help, the view, the comparison between ranks
   and the manual's lists of options (share/doc/manual.py) need to know of a setting stands in its row and nowhere else. */
#pragma once
#include "../../compat.h"
#include "names.h"
#include <petscviewer.h>

typedef enum { VP_SETTING_ENUM, VP_SETTING_BOOL, VP_SETTING_INT, VP_SETTING_REAL } VpSettingType;

typedef struct {
  const char        *option; /* its name in the options database; NULL: there is none */
  const char        *setter; /* the public function that sets it; NULL: it is set by option only */
  const char        *help;   /* what -help and the manual say of it */
  const char        *noun;   /* what messages call it */
  VpSettingType      type;
  const char *const *names; /* of the values of an enum or a PetscBool, as PetscOptionsEnum() takes them: then the enum's, a prefix, NULL */
  size_t             offset;      /* where its value is in the object's data: an enum, a PetscBool, PetscInt or PetscReal */
  PetscReal          preset;      /* its value in a new object */
  PetscReal          least, most; /* the numbers that are allowed; most 0: all from least on */
  const char        *refusal;     /* the error for other values, with %s for the value; NULL for an enum: the usual one */
} VpSetting;

/* A row of a table; what follows `help` are other members by name: names; or least, most and refusal. */
#define VP_SETTING(TYPE, Data, member, preset_, option_, setter_, noun_, help_, ...) \
  { \
    .type = VP_SETTING_##TYPE, .offset = offsetof(Data, member), .preset = preset_, .option = option_, .setter = setter_, .noun = noun_, \
    .help = help_, __VA_ARGS__ \
  }

/* the table of a type of objects */
typedef struct {
  const char      *type; /* as in DMType, PCType */
  int              n;
  const VpSetting *row;
} VpSettings;

void VpSettingsPreset(const VpSettings *, void *data);
/* prints the object's options that set what is not as by default */
PetscErrorCode VpSettingsView(const VpSettings *, PetscObject, const void *data, PetscViewer);
/* Ensures: an error on all ranks unless all have the same settings. */
PetscErrorCode VpSettingsCheckSame(const VpSettings *, MPI_Comm, const void *data);

PetscReal VpSettingValue(const VpSetting *, const void *data);
void      VpSettingStore(const VpSetting *, PetscReal value, void *data);
/* Ensures: an error unless the setting may have the value. object: what is being set */
PetscErrorCode VpSettingCheck(const VpSetting *, PetscObject object, PetscReal value);
/* writes the setting, in its own type, to *value; caller: the public function whose second argument that is */
PetscErrorCode VpSettingGet(const VpSetting *, const void *data, void *value, const char caller[]);
/* asks the options database; now: the value that -help shows. Ensures: *value is the answer where *set, else `now`. */
PetscErrorCode VpSettingAsk(const VpSetting *, VpOptionItems, PetscReal now, PetscReal *value, PetscBool *set);
