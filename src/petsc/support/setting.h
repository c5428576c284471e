/* The settings of an object as a table with one row per setting. The row has all that setter, getter, option, -help, view, comparison of
   ranks and the manual (share/doc/manual.py) need. */
#pragma once
#include "../../compat.h"
#include "names.h"
#include <petscviewer.h>

typedef enum { VP_SETTING_ENUM, VP_SETTING_BOOL, VP_SETTING_INT, VP_SETTING_REAL } VpSettingType;

typedef struct {
  const char        *option; /* name in the options database; NULL: none */
  const char        *setter; /* public function that sets it; NULL: only the option does */
  const char        *help;   /* text for -help and the manual */
  const char        *noun;   /* name in messages */
  VpSettingType      type;
  const char *const *names;  /* value names of an enum or a PetscBool as for PetscOptionsEnum(), then the enum's name, a prefix, NULL */
  size_t             offset; /* offset in the object's data of an enum, a PetscBool, PetscInt or PetscReal */
  PetscReal          preset; /* default */
  PetscReal          least, most; /* range of values; most 0: no upper bound */
  const char        *refusal;     /* error for other values, with %s for the value; NULL for an enum: the usual error */
} VpSetting;

/* A row of a table. Further members follow `help` by name: names, or least, most and refusal. */
#define VP_SETTING(TYPE, Data, member, preset_, option_, setter_, noun_, help_, ...) \
  { \
    .type = VP_SETTING_##TYPE, .offset = offsetof(Data, member), .preset = preset_, .option = option_, .setter = setter_, .noun = noun_, \
    .help = help_, __VA_ARGS__ \
  }

/* table of a type of objects */
typedef struct {
  const char      *type; /* a DMType or PCType */
  int              n;
  const VpSetting *row;
} VpSettings;

void VpSettingsPreset(const VpSettings *, void *data);
/* Prints the options of the object whose values are not the defaults. */
PetscErrorCode VpSettingsView(const VpSettings *, PetscObject, const void *data, PetscViewer);
/* Ensures: an error on all ranks unless the settings are equal on all ranks. */
PetscErrorCode VpSettingsCheckSame(const VpSettings *, MPI_Comm, const void *data);

PetscReal VpSettingValue(const VpSetting *, const void *data);
void      VpSettingStore(const VpSetting *, PetscReal value, void *data);
/* Ensures: an error unless the value is allowed. object: whose setting it is */
PetscErrorCode VpSettingCheck(const VpSetting *, PetscObject object, PetscReal value);
/* Writes the setting in its own type to *value. caller: public function whose second argument is value */
PetscErrorCode VpSettingGet(const VpSetting *, const void *data, void *value, const char caller[]);
/* Asks the options database. now: value that -help shows. Ensures: *value is the answer if *set, otherwise `now`. */
PetscErrorCode VpSettingAsk(const VpSetting *, VpOptionItems, PetscReal now, PetscReal *value, PetscBool *set);
