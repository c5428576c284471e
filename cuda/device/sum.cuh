/* Sums over all threads of a launch: one sum per block, then the sum of these. */
#pragma once
#include "kernel.cuh"

/* partial[blockIdx.x] = the sum of a over the block's threads */
__device__ __forceinline__ void BlockSum(double a, double *partial)
{
  __shared__ double part[VP_MAX_THREADS / VP_WARP];
  const int         warp = threadIdx.x / VP_WARP, lane = threadIdx.x % VP_WARP, warps = (blockDim.x + VP_WARP - 1) / VP_WARP;

  for (int o = VP_WARP / 2; o; o /= 2) {
    const double other = __shfl_down_sync(__activemask(), a, o);
    a += lane + o < VP_WARP && threadIdx.x + o < blockDim.x ? other : 0.;
  }
  if (lane == 0) part[warp] = a;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < warps; w++) a += part[w];
    partial[blockIdx.x] = a;
  }
}

/* sum[blockIdx.x] = the sum of partial[blockIdx.x][count] */
static __global__ void FinalSum(int count, const double *partial, double *sum)
{
  double a = 0;

  for (int i = threadIdx.x; i < count; i += blockDim.x) a += partial[blockIdx.x * count + i];
  BlockSum(a, sum);
}
