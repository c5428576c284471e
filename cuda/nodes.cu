/* Between values at nodes and values of cells. A node's sum has the order of its places, so results do not depend on the launch. */
#include "device/kernel.cuh"

static __global__ void __launch_bounds__(VP_THREADS) GatherNodes(const __grid_constant__ VpNodeView view, size_t n, const double *of_cell,
                                                                 const double *of_node, const double *nodes, double *cells)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const int32_t k = view.node[i];

    cells[i] = k < 0 ? 0 : of_cell[i / view.ndof] * (of_node ? of_node[k] : 1) * nodes[k];
  }
}

static __global__ void __launch_bounds__(VP_THREADS)
  ScatterCells(const __grid_constant__ VpNodeView view, const double *of_cell, const double *of_node, const double *cells, double *nodes)
{
  for (int32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < view.nnode; k += gridDim.x * blockDim.x) {
    double sum = 0;

    for (int32_t i = view.start[k]; i < view.start[k + 1]; i++) {
      const int32_t place = view.place[i];

      sum += of_cell[place / view.ndof] * cells[place];
    }
    nodes[k] = of_node ? of_node[k] * sum : sum;
  }
}

PetscErrorCode VpCudaGather(const VpNodeView *view, const double *of_cell, const double *of_node, const double *nodes, double *cells)
{
  const size_t n = (size_t)view->ncell * view->ndof;

  return VpCudaLaunch("values of nodes to cells", GatherNodes, {VpLoopingBlocks(n, VP_THREADS), VP_THREADS}, *view, n, of_cell, of_node,
                      nodes, cells);
}

PetscErrorCode VpCudaScatter(const VpNodeView *view, const double *of_cell, const double *of_node, const double *cells, double *nodes)
{
  return VpCudaLaunch("values of cells to nodes", ScatterCells, {VpLoopingBlocks(view->nnode, VP_THREADS), VP_THREADS}, *view, of_cell,
                      of_node, cells, nodes);
}
