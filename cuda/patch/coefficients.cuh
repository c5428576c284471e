/* The coefficients of like patches. */
#pragma once
#include "../device/load.cuh"

namespace vpatchdg::patch {
/* Patches have the coefficient of their tables. */
struct OneCoefficient {
  static constexpr bool varies = false;
};

/* Coefficients vary, or patches compute their own residual: what a launch works on in addition to PatchWork. */
template <class T>
struct CellCoefficients {
  static constexpr bool varies = true;
  VpResidualMode        mode;
  const T              *coefficient; /* of cells, [directions]; NULL: CorrectThread takes 1 */
  const T              *factor;      /* of patches (VpPatchView), or NULL: 1, and the tables have the reaction */
  const int32_t        *patch;       /* numbers of the patches in launch order */
  T                     reaction;
  int                   directions;

  /* of patch `at` in launch order: s of its directions, then its reaction */
  __device__ __forceinline__ Pack<T, 4> Factors(int32_t at) const
  {
    return factor ? LoadFactors(factor + 4 * (size_t)patch[at]) : Pack<T, 4>{{T(1), T(1), T(1), T(0)}};
  }
  /* coefficient along d of the cell h of PatchCells */
  __device__ __forceinline__ T At(const int32_t *cells, int h, int d) const
  {
    return __ldg(coefficient + (size_t)__ldg(cells + h) * directions + (directions > 1 ? d : 0));
  }
  /* the harmonic mean of a, the coefficient of a cell along d, and of that of the cell h beyond a side; at a boundary a */
  __device__ __forceinline__ T Mean(const int32_t *cells, int h, int d, T a) const
  {
    return __ldg(cells + h) < 0 ? a : HarmonicMean(a, At(cells, h, d));
  }

private:
  static __device__ __forceinline__ Pack<T, 4> LoadFactors(const T *p)
  {
    return {{__ldg(p), __ldg(p + 1), __ldg(p + 2), __ldg(p + 3)}};
  }
};
} // namespace vpatchdg::patch
