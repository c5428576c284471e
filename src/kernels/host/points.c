/* Functions at grids of points in cells, for W cells at a time, one per lane. */
#include "lanes.h"
#include <math.h>

enum { MOST = VP_MAX_NQ * VP_MAX_NQ * (DIM == 3 ? VP_MAX_NQ : 1) };

/* W places. Lanes beyond the last place read that place again. */
typedef struct {
  int  lanes; /* number of lanes with a place of their own */
  int  cell[W];
  V    factor, volume;
  REAL spare[VALUES]; /* where other lanes write */
} Group;

INLINE void FindGroup(const VpPlaces *places, const VpGrid *grid, int32_t at, Group *g)
{
  g->lanes = PetscMin(W, places->n - at);
  for (int l = 0; l < W; l++) {
    const int32_t i = at + PetscMin(l, g->lanes - 1);
    const double *size = VpPlaceSize(places, i);

    g->cell[l] = VpPlaceCell(places, i);
    g->factor[l] = sqrt(VpGridPower(grid->power, size)) * (places->weight ? places->weight[i] : 1);
    g->volume[l] = size[0] * size[1] * size[2];
  }
}

/* out[outer][row][inner] = sum_col A[row][col] in[outer][col][inner], where A[row][col] is A[row step_row + col step_col]. `block` rows are
   done at a time, some of the last rows perhaps twice. */
INLINE void ContractBlocks(const int block, int outer, int inner, int rows, int cols, const REAL *A, int step_row, int step_col,
                           const V *in, V *out)
{
  for (int o = 0; o < outer; o++) {
    for (int i = 0; i < rows; i += block) {
      const int   r = PetscMin(i, rows - block);
      const REAL *a = A + r * step_row;

      for (int k = 0; k < inner; k++) {
        const V *from = in + o * cols * inner + k;
        V        sum[VP_MAX_NQ];

        UNROLL (int j = 0; j < block; j++) sum[j] = a[j * step_row] * from[0];
        for (int c = 1; c < cols; c++) {
          const V v = from[c * inner];
          UNROLL (int j = 0; j < block; j++) sum[j] += a[j * step_row + c * step_col] * v;
        }
        UNROLL (int j = 0; j < block; j++) out[(o * rows + r + j) * inner + k] = sum[j];
      }
    }
  }
}

INLINE void Contract(int outer, int inner, int rows, int cols, const REAL *A, int step_row, int step_col, const V *in, V *out)
{
  if (rows >= 4) ContractBlocks(4, outer, inner, rows, cols, A, step_row, step_col, in, out);
  else if (rows >= 2) ContractBlocks(2, outer, inner, rows, cols, A, step_row, step_col, in, out);
  else ContractBlocks(1, outer, inner, rows, cols, A, step_row, step_col, in, out);
}

/* Multiplies v[0] by matrix[2] x matrix[1] x matrix[0], or by the transpose, and returns the result, which is in v[0] or v[1]. v[1]:
   scratch */
OUTLINE V *MultiplyTensor(const VpGrid *grid, const int n, int transposed, V v[2][MOST])
{
  int extent[3] = {1, 1, 1};

  for (int d = 0; d < DIM; d++) extent[d] = transposed ? grid->count[d] : n;
  for (int d = 0; d < DIM; d++) {
    const int cols = extent[d], rows = transposed ? n : grid->count[d];
    int       outer = 1, inner = 1;

    for (int e = 0; e < DIM; e++) {
      inner *= e < d ? extent[e] : 1;
      outer *= e > d ? extent[e] : 1;
    }
    Contract(outer, inner, rows, cols, grid->matrix[d], transposed ? 1 : n, transposed ? n : 1, v[d % 2], v[1 - d % 2]);
    extent[d] = rows;
  }
  return v[DIM % 2];
}

/* u = factor (matrix[2] x matrix[1] x matrix[0]) x at a group's points */
INLINE const V *ValuesOf(const VpGrid *grid, const int n, const Group *g, const REAL *x, V v[2][MOST])
{
  const REAL *from[W];

  for (int l = 0; l < W; l++) from[l] = x + (size_t)g->cell[l] * (size_t)Power(n);
  LoadCells(Power(n), 0, Power(n), from, NULL, v[0]);
  for (int i = 0; i < Power(n); i++) v[0][i] *= g->factor;
  return MultiplyTensor(grid, n, 0, v);
}

INLINE void Evaluate(const int n, const VpPlaces *places, const VpGrid *grid, int stride, const REAL *x, REAL *values)
{
  const int size = VpGridSize(grid);
  V         v[2][MOST];
  Group     g;

  for (int32_t i = 0; i < places->n; i += W) {
    FindGroup(places, grid, i, &g);
    const V *u = ValuesOf(grid, n, &g, x, v);
    REAL    *to[W];

    for (int l = 0; l < W; l++) to[l] = values + (size_t)(i + PetscMin(l, g.lanes - 1)) * (size_t)(size * stride);
    if (stride == 1) StoreCells(size, u, NULL, NULL, to);
    else {
      for (int p = 0; p < size; p++) {
        for (int l = 0; l < W; l++) to[l][p * stride] = u[p][l];
      }
    }
  }
}

INLINE void Integrate(const int n, const VpPlaces *places, const VpGrid *grid, PetscBool add, const REAL *values, REAL *b)
{
  const int size = VpGridSize(grid);
  V         v[2][MOST];
  Group     g;

  for (int32_t i = 0; i < places->n; i += W) {
    const REAL *from[W];
    REAL       *to[W];
    V          *sum;

    FindGroup(places, grid, i, &g);
    for (int l = 0; l < W; l++) {
      from[l] = values + (size_t)(i + PetscMin(l, g.lanes - 1)) * (size_t)size;
      to[l] = l < g.lanes ? b + (size_t)g.cell[l] * (size_t)Power(n) : g.spare;
    }
    if (g.lanes < W) memset(g.spare, 0, sizeof(g.spare));
    LoadCells(size, 0, size, from, NULL, v[0]);
    sum = MultiplyTensor(grid, n, 1, v);
    if (add) { /* StoreCells has blocks that overlap, so that it does not add in place. */
      V *old = sum == v[0] ? v[1] : v[0];

      LoadCells(Power(n), 0, Power(n), (const REAL *const *)to, NULL, old);
      for (int k = 0; k < Power(n); k++) sum[k] = old[k] + g.factor * sum[k];
    } else {
      for (int k = 0; k < Power(n); k++) sum[k] *= g.factor;
    }
    StoreCells(Power(n), sum, NULL, NULL, to);
  }
}

INLINE void Distance(const int n, const VpPlaces *places, const VpGrid *grid, int stride, const REAL *x, const REAL *values, double *sum)
{
  const int size = VpGridSize(grid);
  double    weight[MOST];
  V         v[2][MOST];
  Group     g;

  for (int p = 0; p < size; p++) {
    const int qx = p % grid->count[0], qy = p / grid->count[0] % grid->count[1], qz = p / grid->count[0] / grid->count[1];

    weight[p] = grid->w[0][qx] * grid->w[1][qy] * grid->w[2][qz];
  }
  for (int32_t i = 0; i < places->n; i += W) {
    FindGroup(places, grid, i, &g);
    const V    *u = ValuesOf(grid, n, &g, x, v);
    const REAL *given[W];
    V           squares = {0};

    for (int l = 0; l < W; l++) given[l] = values + (size_t)(i + PetscMin(l, g.lanes - 1)) * (size_t)(size * stride);
    for (int p = 0; p < size; p++) {
      V e = u[p];

      for (int l = 0; l < W; l++) e[l] -= given[l][p * stride];
      squares += weight[p] * e * e;
    }
    squares *= g.volume;
    for (int l = 0; l < g.lanes; l++) *sum += squares[l];
  }
}

INLINE void Coordinates(const VpPlaces *places, const VpGrid *grid, double *x)
{
  for (int32_t i = 0; i < places->n; i++) {
    const double *lower = VpPlaceLower(places, i), *size = VpPlaceSize(places, i);

    for (int z = 0; z < grid->count[2]; z++) {
      for (int y = 0; y < grid->count[1]; y++) {
        for (int q = 0; q < grid->count[0]; q++, x += DIM) {
          x[0] = lower[0] + size[0] * grid->x[0][q];
          x[1] = lower[1] + size[1] * grid->x[1][y];
          if (DIM == 3) x[DIM - 1] = lower[DIM - 1] + size[DIM - 1] * grid->x[DIM - 1][z];
        }
      }
    }
  }
}

/* Sums over x, then over y, then over z. */
INLINE void Probe(const int n, int32_t count, const int32_t *cell, const double *basis, const double *x, double *values)
{
  for (int32_t i = 0; i < count; i++, basis += DIM * n) {
    const double *u = x + (size_t)cell[i] * (size_t)Power(n), *along_z = basis + (DIM - 1) * n;
    double        sum = 0;

    for (int z = 0; z < (DIM == 3 ? n : 1); z++) {
      double plane = 0;

      for (int y = 0; y < n; y++) {
        double row = 0;

        for (int k = 0; k < n; k++) row += basis[k] * u[(z * n + y) * n + k];
        plane += basis[n + y] * row;
      }
      sum += (DIM == 3 ? along_z[z] : 1) * plane;
    }
    values[i] = sum;
  }
}

#define VP_DEGREE(k) \
  VP_KERNEL(Coordinates, k, (const VpView *view, const VpPlaces *places, const VpGrid *grid, double *x), Coordinates(places, grid, x)) \
  VP_KERNEL(Evaluate, k, (const VpView *view, const VpPlaces *places, int n, const VpGrid grid[], const double *x, double *values), \
            for (int i = 0; i < n; i++) Evaluate(k + 1, places, &grid[i], n, x, values + i)) \
  VP_KERNEL(Integrate, k, \
            (const VpView *view, const VpPlaces *places, const VpGrid *grid, PetscBool add, const double *values, double *b), \
            Integrate(k + 1, places, grid, add, values, b)) \
  VP_KERNEL(Distance, k, \
            (const VpView *view, const VpPlaces *places, int n, const VpGrid grid[], const double *x, const double *values, double *sum), \
            for (int i = 0; i < n; i++) Distance(k + 1, places, &grid[i], n, x, values + i, sum)) \
  VP_KERNEL(Probe, k, (const VpView *view, int32_t count, const int32_t *cell, const double *basis, const double *x, double *values), \
            Probe(k + 1, count, cell, basis, x, values))
#include "../degrees.def"
