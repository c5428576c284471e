/* Maps of cells on the host: maps.c. */
#pragma once
#include "../pullback.h"

/* X [points][dim] and J [points][i][j] = dX_i / dxi_j at the points of a cell. X, J: or NULL. Threads may call it at the same time. */
void VpHostMapCell(int dim, const VpCellMaps *, int32_t cell, const VpMapGrid *, double X[], double J[]);
/* the nodes of a cell that is mapped, [(degree+1)^dim][dim]. made: as large, for those that a formula makes */
const double *VpHostNodes(int dim, const VpCellMaps *, int32_t cell, double made[]);
/* J and K at points; K: `stride` numbers from point to point */
typedef struct {
  int           dim, given, size, stride; /* size: number of points */
  const double *J, *K;
} VpMapPoints;
/* pullback.c: G [dim (dim + 1)/2][points], |det J| [points]. Returns whether K is positive definite at the points. */
int VpHostPullBack(const VpMapPoints *, double G[], double det[]);
/* Weighs H of side number `side` = 2 dim cell + its number there, and sets `beyond`: with `seen` of the cell beyond, which is turned, or
   NULL at a boundary. */
void VpHostWeigh(const VpMaking *, int32_t side, int turn, const double there[]);
