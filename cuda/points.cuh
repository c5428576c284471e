/* What takes coefficients of a cell to values at its points, and back. */
#pragma once
#include "device/sum.cuh"

/* Arrays in shared memory have rows of an odd pitch, so that lines along x begin in different banks. */
template <int DIM, int N, int Q>
struct PointShape : LineShape<Power(Q, DIM - 1)> {
  static constexpr int size = Power(Q, DIM - 1) * (Q | 1);
};

/* what a thread block knows of a cell */
struct Place {
  int32_t       cell;
  double        factor, volume;
  const double *root;

  __device__ __forceinline__ double Root(int k) const
  {
    return root ? root[k] : 1.;
  }
};

__device__ __forceinline__ Place FindPlace(const VpPlaces &places, const VpGrid &grid, const Roots &roots, int values, int32_t i)
{
  const double *size = places.bounds + 6 * (size_t)i + 3, h[3] = {size[0], size[1], size[2]};
  Place         p;

  p.cell = places.list ? places.list[i] : places.first + i;
  p.factor = sqrt(VpGridPower(grid.power, h)) * (places.weight ? places.weight[i] : 1.);
  p.volume = h[0] * h[1] * h[2];
  p.root = roots.root ? roots.root + (size_t)(p.cell % roots.period) * values : NULL;
  return p;
}

/* the weight of a point */
__device__ __forceinline__ double WeightOf(const VpGrid &grid, int p)
{
  const int q = p / grid.count[0];

  return grid.w[0][p % grid.count[0]] * grid.w[1][q % grid.count[1]] * grid.w[2][q / grid.count[1]];
}

/* Calls to(r, v) for the values v of line l along D after A [ROWS][extent along D] (BACK: A is the transpose of that), where in has the
   extents EX, EY and any along z. */
template <int D, int EX, int EY, int ROWS, int COLS, bool BACK, class To>
__device__ __forceinline__ void ContractLine(const double *A, const double *in, int l, To to)
{
  constexpr int pitch = EX | 1, stride = D == 0 ? 1 : D == 1 ? pitch : pitch * EY;
  const int     start = D == 0 ? l * pitch : D == 1 ? l % EX + l / EX * pitch * EY : l % EX + l / EX * pitch;
  double        v[COLS];

  UNROLL (int c = 0; c < COLS; c++) v[c] = in[start + c * stride];
  UNROLL (int r = 0; r < ROWS; r++) {
    double sum = 0;
    UNROLL (int c = 0; c < COLS; c++) sum += A[BACK ? c * ROWS + r : r * COLS + c] * v[c];
    to(r, sum);
  }
}

/* Calls to(k, v) for the values number k of a cell, after the grid's matrices (BACK: their transposes) on the numbers from(k); s: twice the
   shape's size */
template <int DIM, int N, int Q, bool BACK, class From, class To>
__device__ __forceinline__ void ContractPlace(const VpGrid &grid, From from, double *s, int l, To to)
{
  typedef PointShape<DIM, N, Q> S;
  constexpr int                 C = BACK ? Q : N, R = BACK ? N : Q, last = Power(R, DIM - 1);
  double                       *other = s + S::size;

  for (int k = l; k < Power(C, DIM); k += S::lines) s[k % C + k / C * (C | 1)] = from(k);
  __syncthreads();
  if (l < Power(C, DIM - 1)) ContractLine<0, C, C, R, C, BACK>(grid.matrix[0], s, l, [=](int r, double v) { other[l * (R | 1) + r] = v; });
  __syncthreads();
  if constexpr (DIM == 3) {
    if (l < R * C)
      ContractLine<1, R, C, R, C, BACK>(grid.matrix[1], other, l, [=](int r, double v) { s[l % R + (r + l / R * R) * (R | 1)] = v; });
    __syncthreads();
    if (l < last) ContractLine<2, R, R, R, C, BACK>(grid.matrix[2], s, l, [=](int r, double v) { to(r * last + l, v); });
  } else if (l < last) ContractLine<1, R, C, R, C, BACK>(grid.matrix[1], other, l, [=](int r, double v) { to(r * last + l, v); });
}

/* the same for any grid, by all threads of a block; s: twice VP_MAX_NQ^DIM */
template <int DIM, int N, bool BACK, class From, class To>
__device__ __forceinline__ void ContractAny(const VpGrid &grid, From from, double *s, To to)
{
  const double *in = NULL;
  int           extent[3] = {1, 1, 1};

  UNROLL (int d = 0; d < DIM; d++) extent[d] = BACK ? grid.count[d] : N;
  UNROLL (int d = 0; d < DIM; d++) {
    const int rows = BACK ? N : grid.count[d], cols = extent[d], inner = d == 0 ? 1 : d == 1 ? extent[0] : extent[0] * extent[1];
    const int count = extent[0] * extent[1] * extent[2] / cols * rows, step_row = BACK ? 1 : N, step_col = BACK ? N : 1;
    double   *out = s + (d % 2) * Power(VP_MAX_NQ, DIM);

    for (int t = threadIdx.x; t < count; t += blockDim.x) {
      const int r = t / inner % rows, first = t / inner / rows * cols * inner + t % inner;
      double    sum = 0;

      for (int c = 0; c < cols; c++)
        sum += grid.matrix[d][r * step_row + c * step_col] * (d == 0 ? from(first + c * inner) : in[first + c * inner]);
      if (d < DIM - 1) out[t] = sum;
      else to(t, sum);
    }
    __syncthreads();
    extent[d] = rows;
    in = out;
  }
}

/* threads and shared memory of a block. Q: points per direction; 0: any grid, one place per block */
template <int DIM, int N, int Q>
struct PointLaunch {
  typedef PointShape<DIM, N, Q> S;
  static constexpr int          cells = S::cells, threads = S::threads, size = 2 * S::size * S::cells, lines = S::lines;
};
template <int DIM, int N>
struct PointLaunch<DIM, N, 0> {
  static constexpr int cells = 1, threads = 128, size = 2 * Power(VP_MAX_NQ, DIM), lines = 128;
};

template <int DIM, int N, int Q, bool BACK, class From, class To>
__device__ __forceinline__ void ContractGrid(const VpGrid &grid, From from, double *s, To to)
{
  typedef PointLaunch<DIM, N, Q> L;

  if constexpr (Q == 0) ContractAny<DIM, N, BACK>(grid, from, s, to);
  else ContractPlace<DIM, N, Q, BACK>(grid, from, s + threadIdx.x / L::lines * (L::size / L::cells), threadIdx.x % L::lines, to);
}
