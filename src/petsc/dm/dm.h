/* The DM's type. */
#pragma once
#include "../dmdata/dmdata.h"

PetscErrorCode DMCreate_VPatchDG(DM);
/* settings.c. Ensures: an error unless the dimension is 2, 3 or not set. */
PetscErrorCode DMVPatchDGCheckDimension(DM);
/* adaptlabel.c: the adaptor for DMGenerateRegister() */
PetscErrorCode DMVPatchDGAdaptLabel(DM, Vec metric, DMLabel, DMLabel regions, DM *);
