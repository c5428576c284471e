/* A sweep of single cells: x becomes, colour by colour, what solves the cells' own equations. It follows a sweep of patches
   (reverse: comes before it) where the options ask for it, or the coefficient does. */
#pragma once
#include "../level/level.h"

typedef struct VpCellSweep_ *VpCellSweep;
/* The cells of a patch are swept if, in one of them, the patch's coefficient is more than `ratio` times the cell's own; ratio < 1: all
   cells are. Collective */
PetscErrorCode VpCellSweepCreate(VpLevel, double ratio, VpCellSweep *);
PetscErrorCode VpCellSweepDestroy(VpCellSweep *);
PetscInt       VpCellSweepCells(VpCellSweep);                                    /* of all ranks that are swept */
int            VpCellSweepColors(VpCellSweep);                                   /* how many there are */
PetscErrorCode VpCellSweepColor(VpCellSweep, int color, VpVector b, VpVector x); /* fetches the ghosts of x that it reads */
