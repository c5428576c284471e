/* Which cells read ghosts. */
#include "viewplans.cuh"

static __global__ void FindReads(const int32_t *neighbor, int nside, int32_t nown, int32_t first, int32_t count, uint8_t *reads)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  bool          ghost = first + i >= nown;

  if (i >= count) return;
  for (int side = 0; side < nside; side++) ghost = ghost || neighbor[(size_t)(first + i) * nside + side] >= nown;
  reads[i] = ghost;
}

PetscErrorCode VpCudaReadsGhosts(const VpView *view, int32_t first, int32_t last, uint8_t **reads)
{
  const int32_t count = last - first;
  VpArray       device;

  PetscFunctionBegin;
  *reads = NULL;
  if (view->nlocal == view->nown || !count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(count, reads));
  PetscCall(VpCudaAlloc((size_t)count, "cells that read ghosts", &device.p));
  PetscCall(VpCudaLaunch("cells that read ghosts", FindReads, {VpBlocks(count, VP_THREADS), VP_THREADS}, view->neighbor, 2 * view->dim,
                         view->nown, first, count, (uint8_t *)device.p));
  PetscCall(VpCudaFetch(device.p, (size_t)count, *reads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaListCells(int32_t first, int32_t last, const uint8_t *reads, const uint8_t *taken, SplitCells *cell)
{
  std::vector<int32_t> list;

  PetscFunctionBegin;
  for (int border = 0; border < 2; border++) {
    const size_t before = list.size();

    for (int32_t i = 0; i < last - first; i++) {
      if (!(taken && taken[i]) && (reads && reads[i] ? VP_BORDER : VP_INNER) == border) list.push_back(first + i);
    }
    cell->n[border] = (int32_t)(list.size() - before);
  }
  PetscCall(VpCudaPlace(list.data(), list.size() * sizeof(int32_t), "inner and border cells", &cell->list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaSplitCells(const VpView *view, int32_t first, int32_t last, SplitCells **cells)
{
  auto fill = [=](SplitCells *all) {
    uint8_t *reads;

    PetscFunctionBegin;
    PetscCall(VpCudaReadsGhosts(view, first, last, &reads));
    all->start = first;
    all->n[VP_INNER] = last - first;
    if (reads) PetscCall(VpCudaListCells(first, last, reads, NULL, all));
    PetscCall(PetscFree(reads));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  return VpCudaPlans<CellPlans>(view).cells.Get(first, last, cells, fill);
}
