/* A sweep of single cells: x becomes, colour by colour, what solves the cells' own equations. It follows a sweep of patches
   (reverse: comes before it) where the options ask for it, or the coefficient does. */
#pragma once
#include "../level/level.h"

typedef struct VpCellSweep_ *VpCellSweep;
PetscErrorCode               VpCellSweepCreate(VpLevel, VpCellSweep *);
PetscErrorCode               VpCellSweepDestroy(VpCellSweep *);
/* reverse: the colours in opposite order. It exchanges ghosts before every colour. */
PetscErrorCode VpCellSweepRun(VpCellSweep, PetscBool reverse, VpVector b, VpVector x);
