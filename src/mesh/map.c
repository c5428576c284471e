/* Maps of cells: values and derivatives of the polynomials through the cells' nodes. */
#include "map.h"
#include "../kernels/views.h"
#include "../compat.h"
#include <string.h>

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
static void Contract(int outer, int n, int count, int inner, const double A[], const double in[], double out[])
{
  for (int o = 0; o < outer; o++) {
    for (int q = 0; q < count; q++) {
      double *to = out + (o * count + q) * inner;

      memset(to, 0, (size_t)inner * sizeof(double));
      for (int a = 0; a < n; a++) {
        const double *from = in + (o * n + a) * inner;

        for (int i = 0; i < inner; i++) to[i] += A[q * n + a] * from[i];
      }
    }
  }
}

/* to [points][dim] = the derivative of X in direction `slope`, or X for -1. room: MOST numbers */
static void EvaluateLines(VpMap map, int32_t cell, const Line line[3], int slope, double room[], double to[])
{
  const int     dim = map->dim, n = map->degree + 1;
  const double *from = map->node + (size_t)cell * (size_t)(VpMapNodes(dim, map->degree) * dim);
  int           inner = dim, outer = VpMapNodes(dim, map->degree);

  for (int d = 0; d < dim; d++) {
    double *out = d % 2 == dim % 2 ? room : to;

    outer /= n;
    Contract(outer, n, line[d].count, inner, d == slope ? line[d].slope : line[d].value, from, out);
    inner *= line[d].count;
    from = out;
  }
}

void VpMapEvaluate(VpMap map, int32_t cell, const int count[3], const double *const x[3], double X[], double J[])
{
  const int dim = map->dim, n = count[0] * count[1] * count[2];
  double    room[MOST], column[MOST];
  Line      line[3];

  TabulateLines(map, count, x, line);
  for (int d = X ? -1 : 0; d < (J ? dim : 0); d++) {
    EvaluateLines(map, cell, line, d, room, column);
    for (int q = 0; q < n * dim; q++) {
      if (d < 0) X[q] = column[q];
      else J[q * dim + d] = column[q];
    }
  }
}
