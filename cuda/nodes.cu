/* Between values at nodes and values of cells. A node's sum has the order of its places, so results do not depend on the launch. */
#include "device/kernel.cuh"

static __device__ __forceinline__ double ValueOf(const double *of_node, const double *nodes, int32_t k)
{
  return k < 0 ? 0 : (of_node ? of_node[k] : 1) * nodes[k];
}

/* A thread has a value of a cell. */
static __global__ void __launch_bounds__(VP_THREADS) GatherNodes(const __grid_constant__ VpNodeView view, size_t n, const double *of_cell,
                                                                 const double *of_node, const double *nodes, double *cells)
{
  for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < n; at += (size_t)gridDim.x * blockDim.x) {
    const int32_t  cell = at / view.ndof, i = at % view.ndof;
    const int32_t *node = view.node + (size_t)cell * view.places;
    double         sum = 0, share;

    if (view.wide) {
      for (int m = 0; m < view.ndof; m++) {
        const int place = VpWidePlace(view.dim, i, m, &share);

        sum += share * ValueOf(of_node, nodes, node[place]);
      }
    } else sum = ValueOf(of_node, nodes, node[i]);
    cells[at] = of_cell[cell] * sum;
  }
}

static __global__ void __launch_bounds__(VP_THREADS)
  ScatterCells(const __grid_constant__ VpNodeView view, const double *of_cell, const double *of_node, const double *cells, double *nodes)
{
  for (int32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < view.nnode; k += gridDim.x * blockDim.x) {
    double sum = 0;

    for (int32_t i = view.start[k]; i < view.start[k + 1]; i++) {
      const int32_t place = view.place[i], cell = place / view.places;
      const double *x = cells + (size_t)cell * view.ndof;

      sum += of_cell[cell] * (view.wide ? VpWideValue(view.dim, x, place % view.places) : x[place % view.places]);
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
