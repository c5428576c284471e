/* What adaptivelevels.c knows of a level of an adaptive mesh while its mesh is made, and levelghosts.c adds. */
#pragma once
#include "../internal.h"

/* Cells are positions on the uniform lattice of their depth. A cell lives where the first leaf in it lives. */
typedef struct {
  PetscMPIInt  size, rank;
  VpLattice    lattice;
  int64_t     *start;        /* [size + 1] where every rank's cells begin */
  VpCellSet    all;          /* own cells along the curve, then ghosts by the kinds of VpHaloCreate */
  int32_t      nown, end[4]; /* where these end in `all` */
  int32_t     *leaf;         /* [nown] as in VpMesh */
  VpCellSet    sweep, extra; /* cells that the finer level needs: leaves at its ends, parents */
  PetscSFNode *owner;        /* [end[3] - nown] of ghosts */
} VpLevelCells;

/* Sets the ghosts of a level and their owners, and what that needs of the next coarser one, whose own cells are known. Collective */
PetscErrorCode VpLevelCellsSetGhosts(VpLevelCells *fine, VpLevelCells *coarse, MPI_Comm);
