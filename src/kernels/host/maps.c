/* Maps of cells on the host: values and derivatives of the polynomials through the cells' nodes. */
#include "maps.h"

enum { MOST = VP_MAX_NQ * VP_MAX_NQ * VP_MAX_NQ }; /* points of a grid */

/* the coordinates of a point, or their derivatives, with what fills up a vector of the processor */
typedef double Coordinates __attribute__((vector_size(4 * sizeof(double))));

/* out [outer][count][inner] = A [count][n] times in [outer][n][inner] along the middle */
static void ContractMiddle(int outer, int n, int count, int inner, const double A[], const Coordinates in[], Coordinates out[])
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

/* out [points] = the derivative of X in direction `slope`, or X for -1. The last direction comes first, where loops are longest. */
static void EvaluateLines(int dim, int n, const VpMapGrid *grid, int slope, const Coordinates node[], Coordinates out[])
{
  const Coordinates *from = node;
  Coordinates        scratch[MOST];
  int                inner = VpFaceSize(n, dim) * n, outer = 1;

  for (int d = dim - 1; d >= 0; d--) {
    Coordinates *to = d % 2 ? scratch : out;

    inner /= n;
    ContractMiddle(outer, n, grid->count[d], inner, (d == slope ? grid->slope : grid->value)[d], from, to);
    outer *= grid->count[d];
    from = to;
  }
}

const double *VpHostNodes(int dim, const VpCellMaps *maps, int32_t cell, double made[])
{
  const int n = maps->degree + 1, nodes = VpFaceSize(n, dim) * n;

  if (maps->node) return maps->node + (size_t)cell * (size_t)(nodes * dim);
  for (int i = 0; i < nodes; i++) VpFormulaNode(dim, maps, cell, i, made + i * dim);
  return made;
}

static void MapCurved(int dim, const VpCellMaps *maps, int32_t cell, const VpMapGrid *grid, double X[], double J[])
{
  const int     n = maps->degree + 1, nodes = VpFaceSize(n, dim) * n;
  double        made[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N];
  const double *x = VpHostNodes(dim, maps, cell, made);
  Coordinates   node[MOST], out[MOST];

  for (int i = 0; i < nodes; i++) node[i] = (Coordinates){x[i * dim], x[i * dim + 1], dim == 3 ? x[i * dim + 2] : 0};
  for (int d = X ? -1 : 0; d < (J ? dim : 0); d++) {
    EvaluateLines(dim, n, grid, d, node, out);
    for (int q = 0; q < grid->size; q++) {
      for (int i = 0; i < dim; i++) {
        if (d < 0) X[q * dim + i] = out[q][i];
        else J[(q * dim + i) * dim + d] = out[q][i];
      }
    }
  }
}

static void MapBox(int dim, const double bounds[], const VpMapGrid *grid, double X[], double J[])
{
  double along[3][VP_MAX_NQ];

  for (int d = 0; d < dim; d++) {
    for (int q = 0; q < grid->count[d]; q++) along[d][q] = bounds[d] + bounds[3 + d] * grid->x[d][q];
  }
  for (int z = 0; z < grid->count[2] && X; z++) {
    for (int y = 0; y < grid->count[1]; y++) {
      for (int x = 0; x < grid->count[0]; x++, X += dim) {
        X[0] = along[0][x];
        X[1] = along[1][y];
        if (dim == 3) X[2] = along[2][z];
      }
    }
  }
  for (int i = 0; i < grid->size * dim * dim && J; i++) J[i] = i % (dim * dim) % (dim + 1) ? 0 : bounds[3 + i % (dim * dim) / dim];
}

void VpHostMapCell(int dim, const VpCellMaps *maps, int32_t cell, const VpMapGrid *grid, double X[], double J[])
{
  if (VpAreMapped(maps)) MapCurved(dim, maps, cell, grid, X, J);
  else MapBox(dim, maps->bounds + 6 * (size_t)cell, grid, X, J);
}
