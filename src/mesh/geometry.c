/* Where cells are, by the boxes that they are. */
#include "internal.h"
#include "../base/threads.h"
#include "../kernels/host/maps.h"

void VpGeometryBounds(VpGeometry g, int32_t cell, PetscReal lower[], PetscReal size[])
{
  for (int d = 0; d < 3; d++) {
    size[d] = VpGeometrySize(g, cell, d);
    lower[d] = g->domain->lower[3 * (size_t)g->box[cell] + d] + g->coord[3 * (size_t)cell + d] * size[d];
  }
}

void VpGeometryAllBounds(VpGeometry g, int32_t n, const int32_t list[], double bounds[])
{
  VP_LOOP (i, n) VpGeometryBounds(g, list ? list[i] : i, bounds + 6 * (size_t)i, bounds + 6 * (size_t)i + 3);
}

void VpGeometryPoint(VpGeometry g, int32_t cell, const PetscReal xi[], PetscReal x[])
{
  PetscReal lower[3], size[3];

  VpGeometryBounds(g, cell, lower, size);
  for (int d = 0; d < g->domain->dim; d++) x[d] = lower[d] + size[d] * xi[d];
}

void VpGeometryReference(VpGeometry g, int32_t cell, const PetscReal x[], PetscReal xi[])
{
  PetscReal lower[3], size[3];

  VpGeometryBounds(g, cell, lower, size);
  for (int d = 0; d < g->domain->dim; d++) xi[d] = (x[d] - lower[d]) / size[d];
  if (g->map) (void)VpMapInvert(g->map, cell, x, xi);
  for (int d = 0; d < g->domain->dim; d++) xi[d] = PetscMax(0, PetscMin(1, xi[d]));
}

void VpGeometryEvaluateGrid(VpGeometry g, int32_t cell, const VpMapGrid *grid, double X[], double J[])
{
  double           bounds[6];
  const VpCellMaps box = {.bounds = bounds};

  if (g->map) VpMapEvaluate(g->map, cell, grid, X, J);
  else {
    VpGeometryBounds(g, cell, bounds, bounds + 3);
    VpHostMapCell(g->domain->dim, &box, 0, grid, X, J);
  }
}

void VpGeometryEvaluate(VpGeometry g, int32_t cell, const int count[3], const double *const x[3], double X[], double J[])
{
  VpMapGrid grid;

  VpMapGridSet(g->map, count, x, &grid);
  VpGeometryEvaluateGrid(g, cell, &grid, X, J);
}

void VpGeometryOverlap(VpGeometryCell cell, int n, const double point[], const PetscReal from[6], int first[3], VpMapGrid *grid)
{
  const int dim = cell.geometry->domain->dim;
  PetscReal low[3], width[3];

  VpGeometryBounds(cell.geometry, cell.number, low, width);
  for (int d = 0; d < 3; d++) {
    first[d] = 0;
    grid->count[d] = d >= dim;
    grid->x[d][0] = 0;
    for (int q = 0; q < n && d < dim; q++) {
      const double xi = (low[d] + width[d] * point[q] - from[d]) / from[3 + d];

      if (xi < -1e-9) first[d] = q + 1;
      else if (xi <= 1 + 1e-9) grid->x[d][grid->count[d]++] = xi;
    }
  }
  grid->size = grid->count[0] * grid->count[1] * grid->count[2];
}

void VpGeometryExtent(VpGeometry g, int32_t cell, PetscReal lower[], PetscReal upper[])
{
  PetscReal low[3], size[3];

  VpGeometryBounds(g, cell, low, size);
  for (int d = 0; d < g->domain->dim; d++) {
    lower[d] = low[d];
    upper[d] = low[d] + size[d];
  }
  if (g->map) VpMapBounds(g->map, cell, lower, upper);
}

PetscReal VpGeometryLeast(VpGeometry g, int32_t cell)
{
  PetscReal least = VpGeometrySize(g, cell, 0);

  for (int d = 1; d < g->domain->dim; d++) least = PetscMin(least, VpGeometrySize(g, cell, d));
  return least;
}

PetscReal VpGeometryVolume(VpGeometry g, int32_t cell)
{
  return VpGeometrySize(g, cell, 0) * VpGeometrySize(g, cell, 1) * VpGeometrySize(g, cell, 2);
}

PetscReal VpGeometryArea(VpGeometry g, int32_t cell, int side)
{
  PetscReal area = 1;

  for (int d = 0; d < g->domain->dim; d++) area *= d == side / 2 ? 1 : VpGeometrySize(g, cell, d);
  return area;
}

PetscBool VpGeometryIsHalved(VpGeometry g)
{
  return (PetscBool)(g->depth || VpLatticeIsUniform(g->lattice));
}

PetscErrorCode VpGeometryDestroy(VpGeometry *out)
{
  VpGeometry g = *out;

  PetscFunctionBegin;
  PetscCall(VpLatticeDestroy(&g->lattice));
  PetscCall(PetscFree(g->box));
  PetscCall(PetscFree(g->coord));
  PetscCall(PetscFree(g->zone));
  PetscCall(PetscFree(g->depth));
  PetscCall(VpMapDestroy(&g->map));
  PetscCall(PetscFree(*out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
