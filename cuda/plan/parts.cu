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

PetscErrorCode VpCudaCellPlan(const VpView *view, int32_t first, int32_t last, CellPlan **plan)
{
  auto fill = [=](CellPlan *p) {
    Parts   *cell = &p->cell;
    uint8_t *reads;
    int32_t *list, n = 0;

    PetscFunctionBegin;
    PetscCall(VpCudaReadsGhosts(view, first, last, &reads));
    cell->start = first;
    cell->n[VP_INNER] = last - first;
    if (!reads) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscMalloc1(last - first, &list));
    for (int part = 0; part < 2; part++) {
      for (int32_t i = 0; i < last - first; i++) {
        if (reads[i] == part) list[n++] = first + i;
      }
      cell->n[part] = n - (part == VP_OUTER ? cell->n[VP_INNER] : 0);
    }
    PetscCall(VpCudaPlace(list, (size_t)n * sizeof(int32_t), "inner and outer cells", &cell->list));
    PetscCall(PetscFree(list));
    PetscCall(PetscFree(reads));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  return VpCudaPlans<CellPlans>(view).cells.Get(first, last, plan, fill);
}
