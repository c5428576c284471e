/* A sweep of single cells: x becomes, colour by colour, what solves the cells' own equations. It follows a sweep of patches
   (reverse: comes before it) where the options ask for it, or the coefficient does. */
#pragma once
#include "../level/level.h"

typedef struct VpCellSweep_ *VpCellSweep;
PetscErrorCode               VpCellSweepCreate(VpLevel, VpCellSweep *);
PetscErrorCode               VpCellSweepDestroy(VpCellSweep *);
int                          VpCellSweepColors(VpCellSweep);                                   /* how many there are */
PetscErrorCode               VpCellSweepColor(VpCellSweep, int color, VpVector b, VpVector x); /* fetches the ghosts of x that it reads */
