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

static void MapCurved(int dim, const VpCellMaps *maps, int32_t cell, const VpMapGrid *grid, double X[], double J[])
{
  const int     n = maps->degree + 1, nodes = VpFaceSize(n, dim) * n;
  const double *x = maps->node + (size_t)cell * (size_t)(nodes * dim);
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
  const int *count = grid->count;

  for (int q = 0; q < grid->size; q++) {
    const int at[3] = {q % count[0], q / count[0] % count[1], q / (count[0] * count[1])};

    for (int i = 0; i < dim && X; i++) X[q * dim + i] = bounds[i] + bounds[3 + i] * grid->x[i][at[i]];
    for (int i = 0; i < dim * dim && J; i++) J[q * dim * dim + i] = i % (dim + 1) ? 0 : bounds[3 + i / dim];
  }
}

void VpHostMapCell(int dim, const VpCellMaps *maps, int32_t cell, const VpMapGrid *grid, double X[], double J[])
{
  if (maps->node) MapCurved(dim, maps, cell, grid, X, J);
  else MapBox(dim, maps->bounds + 6 * (size_t)cell, grid, X, J);
}
