/* What the two sweep kernels share. */
#pragma once
#include "cell.cuh"

/* which of the two buffers holds a cell */
__device__ __forceinline__ int Parity(const uint8_t *cover, unsigned done, int32_t cell)
{
  return __popc(__ldg(cover + cell) & done) & 1;
}

/* where a patch's values come from */
template <class T>
struct Sweep {
  const int32_t *patch, *type;
  const uint8_t *mirrored, *cover;
  const T       *fdm, *weight;
  T              reaction, cutoff;
  unsigned       done;
  const T       *b;
  T             *x[2];
};
