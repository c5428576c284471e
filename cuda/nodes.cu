/* Work at nodes: their numbers, sums over their places in cells, and products. A sum goes through the places in their order, so results do
   not depend on the launch. */
#include "device/kernel.cuh"
#include "../src/kernels/pointform.h"

static __global__ void __launch_bounds__(VP_THREADS)
  ScatterCells(const __grid_constant__ VpNodeView view, const double *of_cell, const double *of_node, const double *cells, double *nodes)
{
  for (int32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < view.nnode; k += gridDim.x * blockDim.x) {
    double sum = 0;

    for (int32_t i = view.start[k]; i < view.start[k + 1]; i++) {
      const int32_t place = view.place[i], cell = place / view.places;
      const double *x = cells + (size_t)cell * view.ndof;

      if (!cells) sum += of_cell[cell];
      else sum += of_cell[cell] * (view.wide ? VpWideValue(view.dim, x, place % view.places) : x[place % view.places]);
    }
    nodes[k] = of_node ? of_node[k] * sum : sum;
  }
}

PetscErrorCode VpCudaScatter(const VpNodeView *view, const double *of_cell, const double *of_node, const double *cells, double *nodes)
{
  return VpCudaLaunch("values of cells to nodes", ScatterCells, {VpLoopingBlocks(view->nnode, VP_THREADS), VP_THREADS}, *view, of_cell,
                      of_node, cells, nodes);
}

static __global__ void __launch_bounds__(VP_THREADS)
  SumEntries(const __grid_constant__ VpNodeView view, const __grid_constant__ VpNodeForm form, double *nodes)
{
  for (int32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < view.nnode; k += gridDim.x * blockDim.x) {
    double sum = 0;

    for (int32_t i = view.start[k]; i < view.start[k + 1]; i++)
      sum += VpNodeFormEntry(&view, &form, view.place[i] / view.places, view.place[i] % view.places);
    nodes[k] = sum;
  }
}

/* A block has a cell. */
static __global__ void __launch_bounds__(VP_THREADS)
  SumPoints(const __grid_constant__ VpPointForm form, int32_t ncell, int ndof, double *cells)
{
  __shared__ double s[2][VP_MAX_N * VP_MAX_N * VP_MAX_N];

  for (int32_t c = blockIdx.x; c < ncell; c += gridDim.x) VpSumPointForm(&form, c, s[0], s[1], cells + (size_t)c * ndof);
}

PetscErrorCode VpCudaFormDiagonal(const VpNodeView *view, const VpNodeForm *form, double *nodes)
{
  const int threads = PetscMin(RoundUp(view->ndof, VP_WARP), VP_THREADS);

  PetscFunctionBegin;
  if (form->points)
    PetscCall(VpCudaLaunch("diagonal of cells", SumPoints, {VpLoopingBlocks(view->ncell, 1), threads}, *form->points, view->ncell,
                           view->ndof, form->cells));
  PetscFunctionReturn(
    VpCudaLaunch("diagonal at nodes", SumEntries, {VpLoopingBlocks(view->nnode, VP_THREADS), VP_THREADS}, *view, *form, nodes));
}

static __global__ void __launch_bounds__(VP_THREADS) InvertAll(size_t n, double *x, double *one)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const double v = x[i];

    if (one) one[i] = v > 0;
    x[i] = v > 0 ? 1 / v : 0;
  }
}

static __global__ void __launch_bounds__(VP_THREADS)
  RelaxAll(size_t n, bool add, const double *step, const double *r, const double *y, double *x)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const double v = (step ? step[i] : 1) * (r[i] - (y ? y[i] : 0));

    x[i] = add ? x[i] + v : v;
  }
}

PetscErrorCode VpCudaReciprocals(size_t n, double *x, double *one)
{
  return VpCudaLaunch("reciprocals", InvertAll, {VpLoopingBlocks(n, VP_THREADS), VP_THREADS}, n, x, one);
}

PetscErrorCode VpCudaRelax(size_t n, PetscBool add, const double *step, const double *r, const double *y, double *x)
{
  return VpCudaLaunch("relax", RelaxAll, {VpLoopingBlocks(n, VP_THREADS), VP_THREADS}, n, (bool)add, step, r, y, x);
}

/* A thread has a cell. */
static __global__ void __launch_bounds__(VP_THREADS) NumberCells(const __grid_constant__ VpEntities e, int ndof, int32_t *node)
{
  for (int32_t cell = blockIdx.x * blockDim.x + threadIdx.x; cell < e.ncell; cell += gridDim.x * blockDim.x) {
    PetscInt first[VP_ENTITIES];

    VpFirstNodes(&e, cell, first);
    for (int i = 0; i < ndof; i++) node[(size_t)cell * ndof + i] = (int32_t)first[e.entity[i]] + e.place[i];
  }
}

PetscErrorCode VpCudaNumberNodes(const VpEntities *e, int32_t *node)
{
  const int ndof = (int)PetscPowInt(e->degree + 1, e->dim);

  return VpCudaLaunch("numbers of nodes", NumberCells, {VpLoopingBlocks(e->ncell, VP_THREADS), VP_THREADS}, *e, ndof, node);
}

/* count[node] += 1 for every place of it */
static __global__ void __launch_bounds__(VP_THREADS) CountPlaces(size_t n, const int32_t *node, unsigned *count)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    if (node[i] >= 0) atomicAdd(count + node[i], 1u);
  }
}

/* A block has a piece of VP_THREADS numbers: start[i] = the sum of count[j], j < i, in it, and total[block] = the sum of all. count becomes
   0. */
static __global__ void __launch_bounds__(VP_THREADS) SumPiece(int32_t n, unsigned *count, int32_t *start, unsigned *total)
{
  __shared__ unsigned s[2][VP_THREADS];
  const int           t = threadIdx.x;
  const int32_t       i = blockIdx.x * VP_THREADS + t;
  const unsigned      own = i < n ? count[i] : 0;
  int                 from = 0;

  s[0][t] = own;
  for (int step = 1; step < VP_THREADS; step *= 2, from = 1 - from) {
    __syncthreads();
    s[1 - from][t] = s[from][t] + (t >= step ? s[from][t - step] : 0);
  }
  __syncthreads();
  if (i < n) {
    start[i] = s[from][t] - own;
    count[i] = 0;
  }
  if (t == VP_THREADS - 1) total[blockIdx.x] = s[from][t];
}

/* start[i] += the sum before its piece */
static __global__ void __launch_bounds__(VP_THREADS) AddBefore(int32_t n, const int32_t *before, int32_t *start)
{
  const int32_t i = blockIdx.x * VP_THREADS + threadIdx.x;

  if (i < n) start[i] += before[blockIdx.x];
}

/* start[n] = sum of count[i]; other entries as in SumPiece(). scratch: [2 VpBlocks(n) and more] */
static PetscErrorCode SumUp(int32_t n, unsigned *count, int32_t *start, unsigned *scratch)
{
  const int32_t blocks = VpBlocks(n, VP_THREADS);

  PetscFunctionBegin;
  PetscCall(VpCudaLaunch("sums of places", SumPiece, {blocks, VP_THREADS}, n, count, start, scratch));
  if (blocks > 1) {
    int32_t *before = (int32_t *)scratch + blocks;

    PetscCall(SumUp(blocks, scratch, before, scratch + 2 * blocks));
    PetscCall(VpCudaLaunch("starts of places", AddBefore, {blocks, VP_THREADS}, n, before, start));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void __launch_bounds__(VP_THREADS)
  FillPlaces(size_t n, const int32_t *node, const int32_t *start, unsigned *count, int32_t *place)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    if (node[i] >= 0) place[start[node[i]] + atomicAdd(count + node[i], 1u)] = (int32_t)i;
  }
}

/* Sorts the places of every node, since threads found them in any order, and sets the end of the list. */
static __global__ void __launch_bounds__(VP_THREADS) SortPlaces(int32_t n, const unsigned *count, int32_t *start, int32_t *place)
{
  for (int32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
    int32_t  *p = place + start[k];
    const int m = count[k];

    for (int i = 1; i < m; i++) {
      const int32_t now = p[i];
      int           to = i;

      for (; to > 0 && p[to - 1] > now; to--) p[to] = p[to - 1];
      p[to] = now;
    }
    if (k == n - 1) start[n] = start[k] + m;
  }
}

PetscErrorCode VpCudaListPlaces(const VpNodeView *view, int32_t *start, int32_t *place)
{
  const size_t  n = (size_t)view->ncell * view->places, numbers = (size_t)view->nnode + 4 * (size_t)VpBlocks(view->nnode, VP_THREADS) + 8;
  const int32_t blocks = VpLoopingBlocks(n, VP_THREADS), each = VpLoopingBlocks(view->nnode, VP_THREADS);
  unsigned     *count;

  PetscFunctionBegin;
  PetscCall(VpBackendCuda.zero(start, sizeof(*start)));
  if (!view->nnode) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpBackendCuda.borrow(numbers * sizeof(*count), "numbers of places", (void **)&count));
  PetscCall(VpBackendCuda.zero(count, (size_t)view->nnode * sizeof(*count)));
  PetscCall(VpCudaLaunch("numbers of places", CountPlaces, {blocks, VP_THREADS}, n, view->node, count));
  PetscCall(SumUp(view->nnode, count, start, count + view->nnode));
  PetscCall(VpCudaLaunch("places", FillPlaces, {blocks, VP_THREADS}, n, view->node, start, count, place));
  PetscCall(VpCudaLaunch("order of places", SortPlaces, {each, VP_THREADS}, view->nnode, count, start, place));
  PetscCall(VpBackendCuda.give_back(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
