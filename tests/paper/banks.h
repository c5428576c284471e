/* Shared memory and the access of paper.cu's kernels to it: `banks` numbers lie side by side, each in a bank of its own. */
#pragma once

#ifdef __CUDACC__
  #define PAPER_INLINE __host__ __device__ constexpr
#else
  #define PAPER_INLINE static inline
#endif

PAPER_INLINE int Gcd(int a, int b)
{
  return b ? Gcd(b, a % b) : a;
}

/* Where thread `row` begins to read row `row` of a matrix [P][P], so that the rows that begin in one bank are read from different ones on.
 */
PAPER_INLINE int RotatedStart(int banks, int P, int row)
{
  return banks % P == 0 ? row : row / (banks / Gcd(P, banks));
}
