/* Whether the map of cells folds: det J has one sign. */
#include "pullback.h"
#include "../../collective.h"

/* a place where det J is wrong */
typedef struct {
  double cell, det, x[3];
} Fault;

/* Finds the first of a grid's points of a cell where det J has another sign. */
static PetscBool FindFault(VpMesh mesh, int32_t cell, const VpMapGrid *grid, int sign, Fault *fault)
{
  const int dim = mesh->dim, *count = grid->count;
  double    J[9 * VP_MOST_POINTS], A[9];

  VpGeometryEvaluateGrid(mesh->geometry, cell, grid, NULL, J);
  for (int q = 0; q < grid->size; q++) {
    const double xi[3] = {grid->x[0][q % count[0]], grid->x[1][q / count[0] % count[1]], grid->x[2][q / (count[0] * count[1])]};

    fault->det = VpAdjugate(dim, J + q * dim * dim, A);
    if (VpSignOf(dim, J + q * dim * dim, fault->det) == sign) continue;
    VpGeometryPoint(mesh->geometry, cell, xi, fault->x);
    return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

void VpGaussPoints(VpGeometry g, int n, int side, VpMapGrid *grid)
{
  const int     dim = g->domain->dim;
  const double  end = side % 2;
  double        gauss[VP_MAX_N], w[VP_MAX_N];
  const double *x[3];
  int           count[3];

  VpGauss(n, gauss, w);
  for (int d = 0; d < 3; d++) {
    count[d] = d >= dim || (side >= 0 && d == side / 2) ? 1 : n;
    x[d] = count[d] > 1 ? gauss : &end;
  }
  VpMapGridSet(g->map, count, x, grid);
}

int VpCellHand(VpMesh mesh, int32_t cell)
{
  const VpTrees *trees = mesh->geometry->domain->trees;

  return trees ? trees->hand[mesh->geometry->box[cell]] : 1;
}

PetscErrorCode VpCheckDeterminants(VpMesh mesh, int n, const VpMadeCell made[], PetscInt64 hand)
{
  PetscInt64  sum;
  int         most;
  int32_t     cell = 0;
  PetscMPIInt first;
  Fault       fault = {.cell = 0};
  char        point[64];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&hand, &sum, 1, MPIU_INT64, MPI_SUM, mesh->comm));
  most = sum < 0 ? -1 : 1;
  if (hand == most * (PetscInt64)mesh->nown) cell = mesh->nown;
  while (cell < mesh->nown && made[cell].sign == most * VpCellHand(mesh, cell)) cell++;
  PetscCall(VpFirstRank(mesh->comm, (PetscBool)(cell < mesh->nown), &first));
  if (first == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  fault.cell = (double)(mesh->first + cell);
  for (int side = -1; side < 2 * mesh->dim && cell < mesh->nown; side++) {
    VpMapGrid grid;

    VpGaussPoints(mesh->geometry, n, side, &grid);
    if (FindFault(mesh, cell, &grid, most * VpCellHand(mesh, cell), &fault)) break;
  }
  PetscCallMPI(MPI_Bcast(&fault, sizeof(fault) / sizeof(double), MPI_DOUBLE, first, mesh->comm));
  PetscCall(PetscSNPrintf(point, sizeof(point), mesh->dim == 3 ? "(%g, %g, %g)" : "(%g, %g)", fault.x[0], fault.x[1], fault.x[2]));
  SETERRQ(mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
          "The map of cells has det J = %g in cell %.0f, at the point %s of the boxes: det J must have the same sign at all points of all "
          "cells. %s",
          fault.det, fault.cell, point,
          fault.det == 0 ? "A side that shrinks to a point or a line, as at the centre of a disc, is not possible: leave a small hole there"
                         : "Where the map itself does not fold, refine (-dm_refine) or take another -dm_vpatchdg_map_degree");
}
