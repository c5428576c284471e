/* Maps of cells: values and derivatives of the polynomials through the cells' nodes. */
#include "map.h"
#include "../base/memory.h"
#include "../kernels/host/maps.h"
#include <string.h>

#define BEYOND 0.25 /* as far outside of [0,1] Newton's method goes */

static PetscErrorCode CreateMap(int dim, int degree, int32_t ncell, VpMap *map)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(map));
  **map = (struct VpMap_){.refct = 1, .dim = dim, .degree = degree, .ncell = ncell};
  VpGaussLobatto(degree, (*map)->point);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMapCreate(int dim, int degree, int32_t ncell, VpMap *map)
{
  PetscFunctionBegin;
  PetscCall(CreateMap(dim, degree, ncell, map));
  PetscCall(VpMallocLarge((size_t)ncell * (size_t)(VpMapNodes(dim, degree) * dim), &(*map)->node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMapCreateFormula(int dim, int degree, int32_t ncell, VpFormula formula, const double number[], VpMap *map)
{
  PetscFunctionBegin;
  PetscCall(CreateMap(dim, degree, ncell, map));
  (*map)->formula = formula;
  PetscCall(PetscArraycpy((*map)->number, number, VP_FORMULA_NUMBERS));
  PetscCall(VpMallocLarge(6 * (size_t)ncell + 1, &(*map)->bounds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMapDestroy(VpMap *out)
{
  VpMap map = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!map || --map->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (map->backend) PetscCall(map->backend->release(map->placed));
  PetscCall(PetscFree(map->node));
  PetscCall(PetscFree(map->bounds));
  PetscCall(PetscFree(map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the maps of cells on the host */
static VpCellMaps MapsOnHost(VpMap map)
{
  VpCellMaps maps = {.degree = map->degree, .node = map->node, .bounds = map->bounds, .formula = map->formula};

  memcpy(maps.number, map->number, sizeof(maps.number));
  memcpy(maps.point, map->point, sizeof(maps.point));
  return maps;
}

PetscErrorCode VpMapPlace(VpMap map, const VpBackend *backend, VpCellMaps *maps)
{
  const double *host = map->node ? map->node : map->bounds;
  const size_t  each = map->node ? (size_t)(VpMapNodes(map->dim, map->degree) * map->dim) : 6;
  const size_t  bytes = (size_t)map->ncell * each * sizeof(*host);

  PetscFunctionBegin;
  *maps = MapsOnHost(map);
  if (!VpIsDevice(backend)) PetscFunctionReturn(PETSC_SUCCESS);
  if (map->backend != backend) {
    PetscCall(backend->alloc(bytes, "map", &map->placed));
    map->backend = backend;
    PetscCall(backend->upload(host, bytes, map->placed));
  }
  maps->node = map->node ? (const double *)map->placed : NULL;
  maps->bounds = map->node ? NULL : (const double *)map->placed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpLagrange(int n, const double node[], double x, double value[], double slope[])
{
  for (int a = 0; a < n; a++) {
    value[a] = 1;
    slope[a] = 0;
    for (int b = 0; b < n; b++) {
      const double width = node[a] - node[b];

      if (b == a) continue;
      slope[a] = (slope[a] * (x - node[b]) + value[a]) / width;
      value[a] *= (x - node[b]) / width;
    }
  }
}

void VpMapGridSet(VpMap map, const int count[3], const double *const x[3], VpMapGrid *grid)
{
  const int n = map ? map->degree + 1 : 0;

  grid->size = count[0] * count[1] * count[2];
  for (int d = 0; d < 3; d++) {
    grid->count[d] = count[d];
    for (int q = 0; q < count[d]; q++) {
      grid->x[d][q] = x[d][q];
      if (map && d < map->dim) VpLagrange(n, map->point, x[d][q], grid->value[d] + q * n, grid->slope[d] + q * n);
    }
  }
}

void VpMapEvaluate(VpMap map, int32_t cell, const VpMapGrid *grid, double X[], double J[])
{
  const VpCellMaps maps = MapsOnHost(map);

  VpHostMapCell(map->dim, &maps, cell, grid, X, J);
}

void VpMapBounds(VpMap map, int32_t cell, double lower[], double upper[])
{
  const int        dim = map->dim, nodes = VpMapNodes(dim, map->degree);
  const VpCellMaps maps = MapsOnHost(map);
  double           made[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N];
  const double    *x = VpHostNodes(dim, &maps, cell, made);

  for (int d = 0; d < dim; d++) lower[d] = upper[d] = x[d];
  for (int i = 1; i < nodes; i++) {
    for (int d = 0; d < dim; d++) {
      lower[d] = PetscMin(lower[d], x[i * dim + d]);
      upper[d] = PetscMax(upper[d], x[i * dim + d]);
    }
  }
}

double VpDeterminant(int dim, const double J[])
{
  if (dim == 2) return J[0] * J[3] - J[1] * J[2];
  return J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) + J[2] * (J[3] * J[7] - J[4] * J[6]);
}

void VpInvert(int dim, const double J[], double det, double inverse[])
{
  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) {
      if (dim == 2) inverse[i * 2 + j] = (i == j ? J[3 - 3 * i] : -J[i * 2 + j]) / det;
      else {
        const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

        inverse[i * 3 + j] = (J[a * 3 + c] * J[b * 3 + d] - J[a * 3 + d] * J[b * 3 + c]) / det;
      }
    }
  }
}

/* Adds J^-1 (X - X(xi)) to xi, where that leaves the neighbourhood of the cell only a part of it. Returns the largest change. */
static double TakeStep(VpMap map, int32_t cell, const double X[], double xi[])
{
  const int dim = map->dim;
  double    at[3], J[9], inverse[9], det, change = 0;
  VpMapGrid grid;

  VpMapGridSet(map, (int[]){1, 1, 1}, (const double *const[]){xi, xi + 1, xi + 2}, &grid);
  VpMapEvaluate(map, cell, &grid, at, J);
  det = VpDeterminant(dim, J);
  if (det == 0) return PETSC_MAX_REAL;
  VpInvert(dim, J, det, inverse);
  for (int i = 0; i < dim; i++) {
    const double before = xi[i];

    for (int j = 0; j < dim; j++) xi[i] += inverse[i * dim + j] * (X[j] - at[j]);
    xi[i] = PetscMax(-BEYOND, PetscMin(1 + BEYOND, xi[i]));
    change = PetscMax(change, fabs(xi[i] - before));
  }
  return change;
}

double VpMapInvert(VpMap map, int32_t cell, const double X[], double xi[])
{
  double change = 1, outside = -1;

  for (int d = 0; d < 3; d++) xi[d] = 0.5;
  for (int i = 0; i < 50 && change > 1e-14; i++) {
    const double before = change;

    change = TakeStep(map, cell, X, xi);
    if (change < 1e-10 && change >= before) break;
  }
  for (int d = 0; d < map->dim; d++) outside = PetscMax(outside, PetscMax(-xi[d], xi[d] - 1));
  return change < 1e-10 && outside < BEYOND ? outside : PETSC_MAX_REAL;
}
