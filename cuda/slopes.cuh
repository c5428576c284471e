/* Gradients at points of cells, all derivatives in one pass over memory. */
#pragma once
#include "points.cuh"
#include <algorithm>

/* All derivatives at once: the matrices, which are the same in all directions, and the powers of the three factors. */
template <int DIM, int N, int Q>
struct Slopes {
  int    power[DIM][3];
  double value[Q * N], slope[Q * N], w[Q];

  /* requires: Fits() */
  explicit Slopes(const VpGrid grid[])
  {
    for (int d = 0; d < DIM; d++) std::copy_n(grid[d].power, 3, power[d]);
    std::copy_n(grid[0].matrix[1], Q * N, value);
    std::copy_n(grid[0].matrix[0], Q * N, slope);
    std::copy_n(grid[0].w[0], Q, w);
  }
  static bool Fits(int n, const VpGrid grid[])
  {
    bool fits = n == DIM;

    for (int i = 0; fits && i < DIM * DIM; i++)
      fits = std::equal(grid[i / DIM].matrix[i % DIM], grid[i / DIM].matrix[i % DIM] + Q * N, grid[0].matrix[i / DIM != i % DIM]);
    return fits;
  }
};

/* In 3D four arrays of a cell in shared memory, in 2D three. V: values, S: slopes

       0: u           0: u       0: Vy Vx u       0: Vy Vx u    0: Sz Vy Vx u
       1:        ->   1: Vx u    1: Vx u     ->   1: Vy Sx u -> 1: Vz Vy Sx u
       2:             2: Sx u    2: Sx u          2:            2:
       3:             3:         3: Sy Vx u       3: Sy Vx u    3: Vz Sy Vx u  */
template <int DIM, int N, int Q>
struct SlopeShape {
  typedef PointShape<DIM, N, Q> S;
  static constexpr int          arrays = DIM + 1, lines = S::lines, cells = S::cells, size = S::size;
  static constexpr int          numbers = arrays * size * cells; /* of a block */
  static_assert((numbers + Q + VP_MAX_THREADS / VP_WARP) * sizeof(double) <= VP_MAX_STATIC,
                "gradients of a higher degree need dynamic shared memory: here, and in points.cu");
};

/* the array that holds the derivative along d in the end */
template <int DIM>
__device__ __forceinline__ constexpr int SlopeArray(int d)
{
  return DIM == 2 ? 2 - d : d == 0 ? 1 : d == 1 ? 3 : 0;
}

/* Multiplies line l along the last direction by A, in place. */
template <int D, int E, int ROWS, int COLS>
__device__ __forceinline__ void ContractInPlace(const double *A, double *s, int l)
{
  constexpr int pitch = E | 1, stride = D == 1 ? pitch : pitch * E;
  double       *to = s + (l % E + l / E * pitch);

  ContractLine<D, E, E, ROWS, COLS, false>(A, s, l, [=](int r, double v) { to[r * stride] = v; });
}

/* s: the shape's arrays. Ends with all threads of the cell done. */
template <int DIM, int N, int Q>
__device__ __forceinline__ void ContractSlopes(const Slopes<DIM, N, Q> &t, const double *from, double *s, int l)
{
  typedef SlopeShape<DIM, N, Q> S;
  constexpr int                 size = S::size;

  for (int k = l; k < Power(N, DIM); k += S::lines) s[k % N + k / N * (N | 1)] = from[k];
  __syncthreads();
  if (l < Power(N, DIM - 1)) {
    ContractLine<0, N, N, Q, N, false>(t.value, s, l, [=](int r, double v) { s[size + l * (Q | 1) + r] = v; });
    ContractLine<0, N, N, Q, N, false>(t.slope, s, l, [=](int r, double v) { s[2 * size + l * (Q | 1) + r] = v; });
  }
  __syncthreads();
  if constexpr (DIM == 2) {
    if (l < Q) ContractInPlace<1, Q, Q, N>(t.slope, s + size, l);
    if (l < Q) ContractInPlace<1, Q, Q, N>(t.value, s + 2 * size, l);
  } else {
    const int at = l % Q + l / Q * Q * (Q | 1);

    if (l < Q * N) {
      ContractLine<1, Q, N, Q, N, false>(t.value, s + size, l, [=](int r, double v) { s[at + r * (Q | 1)] = v; });
      ContractLine<1, Q, N, Q, N, false>(t.slope, s + size, l, [=](int r, double v) { s[3 * size + at + r * (Q | 1)] = v; });
    }
    __syncthreads();
    if (l < Q * N) ContractLine<1, Q, N, Q, N, false>(t.value, s + 2 * size, l, [=](int r, double v) { s[size + at + r * (Q | 1)] = v; });
    __syncthreads();
    if (l < Q * Q) {
      ContractInPlace<2, Q, Q, N>(t.slope, s, l);
      ContractInPlace<2, Q, Q, N>(t.value, s + size, l);
      ContractInPlace<2, Q, Q, N>(t.value, s + 3 * size, l);
    }
  }
  __syncthreads();
}

/* Calls to(k, v) for all numbers k = dim point + d of a cell's gradients, in the order of memory. */
template <int DIM, int N, int Q, class To>
__device__ __forceinline__ void ForSlopes(const Slopes<DIM, N, Q> &t, const VpPlaces &places, int32_t i, const double *x, double *s, To to)
{
  typedef SlopeShape<DIM, N, Q> S;
  const int                     slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const double                 *size = places.bounds + 6 * (size_t)i + 3, weight = places.weight ? places.weight[i] : 1.;
  double                        factor[DIM];

  UNROLL (int d = 0; d < DIM; d++) factor[d] = sqrt(VpGridPower(t.power[d], size)) * weight;
  s += slot * S::arrays * S::size;
  ContractSlopes<DIM, N, Q>(t, x + (size_t)(places.list ? places.list[i] : places.first + i) * Power(N, DIM), s, l);
  for (int k = l; k < DIM * Power(Q, DIM); k += S::lines) {
    const int    d = k % DIM, p = k / DIM;
    const double f = d == 0 ? factor[0] : d == 1 ? factor[1] : factor[DIM - 1];
    to(k, f * s[SlopeArray<DIM>(d) * S::size + p % Q + p / Q * (Q | 1)]);
  }
}

template <int DIM, int N, int Q>
__global__ void __launch_bounds__(PointShape<DIM, N, Q>::threads)
  EvaluateSlopes(const __grid_constant__ VpPlaces places, const __grid_constant__ Slopes<DIM, N, Q> t, const double *x, double *values)
{
  typedef SlopeShape<DIM, N, Q> S;
  __shared__ double             s[S::numbers];
  const int32_t                 i = blockIdx.x * S::cells + threadIdx.x / S::lines, at = i < places.n ? i : places.n - 1;
  double                       *to = values + (size_t)at * (DIM * Power(Q, DIM));

  ForSlopes<DIM, N, Q>(t, places, at, x, s, [=](int k, double v) {
    if (i < places.n) to[k] = v;
  });
}

template <int DIM, int N, int Q>
__global__ void __launch_bounds__(PointShape<DIM, N, Q>::threads)
  SlopeDistance(const __grid_constant__ VpPlaces places, const __grid_constant__ Slopes<DIM, N, Q> t, const double *x, const double *values,
                double *partial)
{
  typedef SlopeShape<DIM, N, Q> S;
  __shared__ double             s[S::numbers], w[Q];
  const int32_t                 i = blockIdx.x * S::cells + threadIdx.x / S::lines, at = i < places.n ? i : places.n - 1;
  const double                 *of = values + (size_t)at * (DIM * Power(Q, DIM)), *size = places.bounds + 6 * (size_t)at + 3;
  double                        sum = 0;

  if (threadIdx.x < Q) w[threadIdx.x] = t.w[threadIdx.x];
  ForSlopes<DIM, N, Q>(t, places, at, x, s, [&](int k, double v) {
    const int    p = k / DIM;
    const double e = v - of[k];
    sum += w[p % Q] * w[p / Q % Q] * (DIM == 3 ? w[p / (Q * Q)] : 1.) * e * e;
  });
  BlockSum(i < places.n ? size[0] * size[1] * size[2] * sum : 0., partial);
}
