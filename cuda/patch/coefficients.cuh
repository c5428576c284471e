/* The coefficients of like patches. */
#pragma once
#include "../device/kernel.cuh"

namespace vpatchdg::patch {
/* Patches have the coefficient of their tables. */
struct OneCoefficient {
  static constexpr bool varies = false;
};

template <class T>
VP_HARMONIC_MEAN(__device__ __forceinline__ T HarmonicMean, T)

/* Coefficients vary, or patches compute their own residual: what a launch works on in addition to PatchWork. */
template <class T>
struct CellCoefficients {
  static constexpr bool varies = true;
  VpResidualMode        mode;
  const T              *coefficient; /* of cells; NULL: OwnThread takes 1 */
  const T              *weight;      /* of patches, or NULL: 1 */
  const int32_t        *patch;       /* numbers of the patches in launch order */
  T                     reaction;

  /* weight of patch `at` in launch order */
  __device__ __forceinline__ T Weight(int32_t at) const
  {
    return weight ? weight[patch[at]] : T(1);
  }
  /* coefficient of the cell h of PatchCells */
  __device__ __forceinline__ T At(const int32_t *cells, int h) const
  {
    return __ldg(coefficient + __ldg(cells + h));
  }
  /* the harmonic mean of a, the coefficient of a cell, and of that of the cell h beyond a side; at a boundary a */
  __device__ __forceinline__ T Mean(const int32_t *cells, int h, T a) const
  {
    return __ldg(cells + h) < 0 ? a : HarmonicMean(a, At(cells, h));
  }
};
} // namespace vpatchdg::patch
