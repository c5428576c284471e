/* Points of cells, and whether the map of cells folds there. */
#pragma once
#include "metric.h"
#include "../../kernels/host/maps.h"

enum { VP_MOST_POINTS = VP_MAX_N * VP_MAX_N * VP_MAX_N };
/* The n Gauss points in each direction of a cell, or of its side (-1: the cell). */
void VpGaussPoints(VpGeometry, int n, int side, VpMapGrid *);
/* determinants.c: 1, or -1 in trees where det J has another sign than in the first one */
int VpCellHand(VpMesh, int32_t cell);
/* Collective. made: of own cells; hand: the sum of their signs times VpCellHand(). Ensures: an error on all ranks, with the cell and its
   point, unless the sign of det J is the same at the points of all cells: those of VpGaussPoints(), in the cell and on its sides. */
PetscErrorCode VpCheckDeterminants(VpMesh, int n, const VpMadeCell made[], PetscInt64 hand);
