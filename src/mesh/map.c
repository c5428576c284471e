/* Maps of cells: values and derivatives of the polynomials through the cells' nodes. */
#include "map.h"
#include "../kernels/views.h"
#include "../compat.h"
#include <string.h>

#define BEYOND 0.25 /* as far outside of [0,1] Newton's method goes */

enum { MOST = VP_MAX_NQ * VP_MAX_NQ * VP_MAX_NQ * 3 }; /* numbers at the points of a grid */

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

/* value, slope [n] = Lagrange's polynomials of the nodes and their derivatives at x */
static void EvaluateLagrange(int n, const double node[], double x, double value[], double slope[])
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

/* matrices [count][n] from the nodes to the values and the derivatives at points along a direction */
typedef struct {
  int    count;
  double value[VP_MAX_NQ * VP_MAX_N], slope[VP_MAX_NQ * VP_MAX_N];
} Line;

static void TabulateLines(VpMap map, const int count[3], const double *const x[3], Line line[3])
{
  const int n = map->degree + 1;

  for (int d = 0; d < map->dim; d++) {
    line[d].count = count[d];
    for (int q = 0; q < count[d]; q++) EvaluateLagrange(n, map->point, x[d][q], line[d].value + q * n, line[d].slope + q * n);
  }
}

/* out [outer][count][inner] = A [count][n] times in [outer][n][inner] along the middle */
static inline void ContractInner(int outer, int n, int count, const int inner, const double A[], const double in[], double out[])
{
  for (int o = 0; o < outer; o++) {
    for (int q = 0; q < count; q++) {
      double *to = out + (o * count + q) * inner;

      for (int i = 0; i < inner; i++) to[i] = A[q * n] * in[o * n * inner + i];
      for (int a = 1; a < n; a++) {
        const double *from = in + (o * n + a) * inner;

        for (int i = 0; i < inner; i++) to[i] += A[q * n + a] * from[i];
      }
    }
  }
}

/* the same with a constant for the short loops */
static void Contract(int outer, int n, int count, int inner, const double A[], const double in[], double out[])
{
  if (inner == 2) ContractInner(outer, n, count, 2, A, in, out);
  else if (inner == 3) ContractInner(outer, n, count, 3, A, in, out);
  else ContractInner(outer, n, count, inner, A, in, out);
}

/* to [points][dim] = the derivative of X in direction `slope`, or X for -1. scratch: MOST numbers. The last direction comes first, where
   loops are longest. */
static void EvaluateLines(VpMap map, int32_t cell, const Line line[3], int slope, double scratch[], double to[])
{
  const int     dim = map->dim, n = map->degree + 1;
  const double *from = map->node + (size_t)cell * (size_t)(VpMapNodes(dim, map->degree) * dim);
  int           inner = VpMapNodes(dim, map->degree) * dim, outer = 1;

  for (int d = dim - 1; d >= 0; d--) {
    double *out = d % 2 ? scratch : to;

    inner /= n;
    Contract(outer, n, line[d].count, inner, d == slope ? line[d].slope : line[d].value, from, out);
    outer *= line[d].count;
    from = out;
  }
}

void VpMapEvaluate(VpMap map, int32_t cell, const int count[3], const double *const x[3], double X[], double J[])
{
  const int dim = map->dim, n = count[0] * count[1] * count[2];
  double    scratch[MOST], column[MOST];
  Line      line[3];

  TabulateLines(map, count, x, line);
  for (int d = X ? -1 : 0; d < (J ? dim : 0); d++) {
    EvaluateLines(map, cell, line, d, scratch, column);
    for (int q = 0; q < n * dim; q++) {
      if (d < 0) X[q] = column[q];
      else J[q * dim + d] = column[q];
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

  VpMapEvaluate(map, cell, (int[]){1, 1, 1}, (const double *const[]){xi, xi + 1, xi + 2}, at, J);
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
