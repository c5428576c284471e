/* A sweep of single cells: x becomes, colour by colour, what solves the cells' own equations. It follows a sweep of patches
   (reverse: comes before it) where the options ask for it, or the coefficient does. */
#pragma once
#include "../level/level.h"

typedef struct VpCellSweep_ *VpCellSweep;
/* ratio: the cells of patches whose coefficient is somewhere more than so many times the cell's own are swept; less than 1: all cells.
   Collective */
PetscErrorCode VpCellSweepCreate(VpLevel, double ratio, VpCellSweep *);
PetscErrorCode VpCellSweepDestroy(VpCellSweep *);
PetscInt       VpCellSweepCells(VpCellSweep);                                    /* of all ranks that are swept */
int            VpCellSweepColors(VpCellSweep);                                   /* how many there are */
PetscErrorCode VpCellSweepColor(VpCellSweep, int color, VpVector b, VpVector x); /* fetches the ghosts of x that it reads */
