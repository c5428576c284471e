/* Maps of cells: values and derivatives of the polynomials through the cells' nodes. */
#include "map.h"
#include "../compat.h"
#include <string.h>

#define BEYOND 0.25 /* as far outside of [0,1] Newton's method goes */

enum { MOST = VP_MAX_NQ * VP_MAX_NQ * VP_MAX_NQ }; /* points of a grid */

PetscErrorCode VpMapCreate(int dim, int degree, int32_t ncell, VpMap *map)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(map));
  **map = (struct VpMap_){.refct = 1, .dim = dim, .degree = degree, .ncell = ncell};
  VpGaussLobatto(degree, (*map)->point);
  PetscCall(PetscMalloc1((size_t)ncell * (size_t)(VpMapNodes(dim, degree) * dim), &(*map)->node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMapDestroy(VpMap *out)
{
  VpMap map = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!map || --map->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(map->node));
  PetscCall(PetscFree(map));
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

/* the coordinates of a point, or their derivatives, with what fills up a vector of the processor */
typedef double Coordinates __attribute__((vector_size(4 * sizeof(double))));

/* out [outer][count][inner] = A [count][n] times in [outer][n][inner] along the middle */
static void Contract(int outer, int n, int count, int inner, const double A[], const Coordinates in[], Coordinates out[])
{
  for (int o = 0; o < outer; o++, in += n * inner) {
    for (int q = 0; q < count; q++) {
      for (int i = 0; i < inner; i++) {
        Coordinates sum = A[q * n] * in[i];

        for (int a = 1; a < n; a++) sum += A[q * n + a] * in[a * inner + i];
        *out++ = sum;
      }
    }
  }
}

/* out [points] = the derivative of X in direction `slope`, or X for -1; scratch: as large. The last direction comes first, where loops are
   longest. */
static void EvaluateLines(VpMap map, const VpMapGrid *grid, int slope, const Coordinates node[], Coordinates scratch[], Coordinates out[])
{
  const Coordinates *from = node;
  int                inner = VpMapNodes(map->dim, map->degree), outer = 1;

  for (int d = map->dim - 1; d >= 0; d--) {
    Coordinates *to = d % 2 ? scratch : out;

    inner /= map->degree + 1;
    Contract(outer, map->degree + 1, grid->count[d], inner, (d == slope ? grid->slope : grid->value)[d], from, to);
    outer *= grid->count[d];
    from = to;
  }
}

void VpMapEvaluate(VpMap map, int32_t cell, const VpMapGrid *grid, double X[], double J[])
{
  const int     dim = map->dim, nodes = VpMapNodes(dim, map->degree);
  const double *x = map->node + (size_t)cell * (size_t)(nodes * dim);
  Coordinates   node[MOST], scratch[MOST], out[MOST];

  for (int i = 0; i < nodes; i++) node[i] = (Coordinates){x[i * dim], x[i * dim + 1], dim == 3 ? x[i * dim + 2] : 0};
  for (int d = X ? -1 : 0; d < (J ? dim : 0); d++) {
    EvaluateLines(map, grid, d, node, scratch, out);
    for (int q = 0; q < grid->size; q++) {
      for (int i = 0; i < dim; i++) {
        if (d < 0) X[q * dim + i] = out[q][i];
        else J[(q * dim + i) * dim + d] = out[q][i];
      }
    }
  }
}

void VpMapBounds(VpMap map, int32_t cell, double lower[], double upper[])
{
  const int     dim = map->dim, nodes = VpMapNodes(dim, map->degree);
  const double *x = map->node + (size_t)cell * (size_t)(nodes * dim);

  for (int d = 0; d < dim; d++) lower[d] = upper[d] = x[d];
  for (int i = 0; i < nodes * dim; i++) {
    lower[i % dim] = PetscMin(lower[i % dim], x[i]);
    upper[i % dim] = PetscMax(upper[i % dim], x[i]);
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
