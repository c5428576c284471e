/* Maps of cells on the host: maps.c. */
#pragma once
#include "../pullback.h"

/* X [points][dim] and J [points][i][j] = dX_i / dxi_j at the points of a cell. X, J: or NULL. Threads may call it at the same time. */
void VpHostMapCell(int dim, const VpCellMaps *, int32_t cell, const VpMapGrid *, double X[], double J[]);
/* the nodes of a cell that is mapped, [(degree+1)^dim][dim]. made: as large, for those that a formula makes */
const double *VpHostNodes(int dim, const VpCellMaps *, int32_t cell, double made[]);
/* pullback.c: G [dim (dim + 1)/2][points], |det J| [points] from J and K [points][given] at points of a grid. Returns whether K is positive
   definite there. */
int VpHostPullBack(int dim, int given, const VpMapGrid *, const double J[], const double K[], double G[], double det[]);
