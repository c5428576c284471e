/* Maps of cells: what a thread finds at a point. */
#pragma once
#include "device/kernel.cuh"

/* bytes of shared memory for the nodes of a cell */
static inline size_t MapBytes(int dim, const VpCellMaps *maps)
{
  return VpAreMapped(maps) ? (size_t)(dim * Power(maps->degree + 1, dim)) * sizeof(double) : 0;
}

/* Copies the nodes of a cell to shared memory, or makes them there. Ends with all threads of the block done. */
template <int DIM>
__device__ __forceinline__ void KeepNodes(const VpCellMaps &maps, int32_t cell, double *node)
{
  const int nodes = Power(maps.degree + 1, DIM), count = DIM * nodes;

  for (int t = threadIdx.x; maps.node && t < count; t += blockDim.x) node[t] = maps.node[(size_t)cell * count + t];
  for (int i = threadIdx.x; maps.formula && i < nodes; i += blockDim.x) VpFormulaNode(DIM, &maps, cell, i, node + i * DIM);
  __syncthreads();
}

/* The polynomial through the nodes, and its derivatives: of a line, a plane and the cell, [coordinate][value, along x, y, z]. */
template <int DIM>
__device__ __forceinline__ void MapCurved(int n, const double *node, const VpMapGrid &grid, const int *at, double out[DIM][DIM + 1])
{
  const double *value[DIM], *slope[DIM];

  UNROLL (int d = 0; d < DIM; d++) {
    value[d] = grid.value[d] + at[d] * n;
    slope[d] = grid.slope[d] + at[d] * n;
    UNROLL (int k = 0; k <= DIM; k++) out[d][k] = 0;
  }
  for (int c = 0; c < (DIM == 3 ? n : 1); c++) {
    double plane[DIM][3] = {};

    for (int b = 0; b < n; b++) {
      double line[DIM][2] = {};

      for (int a = 0; a < n; a++, node += DIM) {
        UNROLL (int i = 0; i < DIM; i++) {
          line[i][0] += value[0][a] * node[i];
          line[i][1] += slope[0][a] * node[i];
        }
      }
      UNROLL (int i = 0; i < DIM; i++) {
        plane[i][0] += value[1][b] * line[i][0];
        plane[i][1] += value[1][b] * line[i][1];
        plane[i][2] += slope[1][b] * line[i][0];
      }
    }
    UNROLL (int i = 0; i < DIM; i++) {
      UNROLL (int k = 0; k < 3; k++) out[i][k] += (DIM == 3 ? value[DIM - 1][c] : 1.) * plane[i][k];
      if (DIM == 3) out[i][DIM] += slope[DIM - 1][c] * plane[i][0];
    }
  }
}

/* X [DIM] and J [DIM][DIM] at point q of a grid in a cell. X: or NULL; node: what KeepNodes() has kept */
template <int DIM>
__device__ __forceinline__ void MapPoint(const VpCellMaps &maps, const double *node, int32_t cell, const VpMapGrid &grid, int q, double *X,
                                         double *J)
{
  const int     at[3] = {q % grid.count[0], q / grid.count[0] % grid.count[1], q / (grid.count[0] * grid.count[1])};
  const double *bounds = maps.bounds + 6 * (size_t)cell;
  double        out[DIM][DIM + 1];

  if (VpAreMapped(&maps)) MapCurved<DIM>(maps.degree + 1, node, grid, at, out);
  UNROLL (int i = 0; i < DIM; i++) {
    if (X) X[i] = VpAreMapped(&maps) ? out[i][0] : bounds[i] + bounds[3 + i] * grid.x[i][at[i]];
    UNROLL (int d = 0; d < DIM; d++) J[i * DIM + d] = VpAreMapped(&maps) ? out[i][1 + d] : i == d ? bounds[3 + d] : 0.;
  }
}
