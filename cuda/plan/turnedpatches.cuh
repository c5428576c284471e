/* Finds turned patches: one of their cells, or one beyond their sides, has other directions, or a side weighs by volumes. Kernels for like
   patches leave them out. */
#pragma once
#include "../device/kernel.cuh"
#include <vector>

namespace vpatchdg::patch {
/* the patches of a range that are not turned, then those that are */
struct SplitPatches {
  int32_t n[2] = {0, 0};
  VpArray list;

  const int32_t *List(bool turned) const
  {
    return (const int32_t *)list.p + (turned ? n[0] : 0);
  }
};

/* is[i]: whether patch first + i is turned */
static __global__ void FindTurned(int dim, const int32_t *patch, const uint8_t *frame, const uint8_t *turn, const uint8_t *weighed,
                                  int32_t first, int32_t count, uint8_t *is)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  int           turned = 0;

  if (i >= count) return;
  for (int q = 0; q < 1 << dim; q++) {
    const size_t at = ((size_t)(first + i) << dim) + q;

    if (frame) turned |= frame[at];
    if (weighed) turned |= weighed[patch[at]];
    for (int d = 0; d < dim; d++) turned |= turn[(size_t)patch[at] * 2 * dim + 2 * d + (q >> d & 1)];
  }
  is[i] = turned != 0;
}

/* is [count], on the host */
static inline PetscErrorCode VpCudaTurnedPatches(const VpView *view, const VpPatchView *patches, int32_t first, int32_t count, uint8_t *is)
{
  VpArray device;

  PetscFunctionBegin;
  PetscCall(VpCudaAlloc((size_t)count, "turned patches", &device.p));
  PetscCall(VpCudaLaunch("turned patches", FindTurned, {VpBlocks(count, VP_THREADS), VP_THREADS}, view->dim, patches->patch, patches->frame,
                         view->turn, view->weighed, first, count, (uint8_t *)device.p));
  PetscCall(VpCudaFetch(device.p, (size_t)count, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode FillSplitPatches(const VpView *view, const VpPatchView *patches, int32_t first, int32_t last, SplitPatches *to)
{
  std::vector<uint8_t> is((size_t)(last - first));
  std::vector<int32_t> list;

  PetscFunctionBegin;
  PetscCall(VpCudaTurnedPatches(view, patches, first, last - first, is.data()));
  for (int turned = 0; turned < 2; turned++) {
    for (int32_t p = first; p < last; p++) {
      if (is[p - first] == turned) list.push_back(p);
    }
    to->n[turned] = (int32_t)list.size() - (turned ? to->n[0] : 0);
  }
  PetscCall(VpCudaPlace(list.data(), list.size() * sizeof(int32_t), "turned patches", &to->list));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace vpatchdg::patch
