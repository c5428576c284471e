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
} Lanes;

INLINE void FindLanes(const VpPlaces *places, const VpGrid *grid, int32_t at, Lanes *g)
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

/* v = factor root v, for coefficients of mapped cells, or v = factor v. scratch: [n^dim] */
INLINE void Scale(const VpMetricView *m, const int n, const Lanes *g, V v[], V scratch[])
{
  const REAL *from[W];

  for (int l = 0; l < W && m->root; l++) from[l] = m->root + (size_t)(g->cell[l] % m->period) * (size_t)Power(n);
  if (m->root) LoadCells(Power(n), 0, Power(n), from, NULL, scratch);
  for (int i = 0; i < Power(n); i++) v[i] *= m->root ? g->factor * scratch[i] : g->factor;
}

/* u = factor (matrix[2] x matrix[1] x matrix[0]) root x at the points of lanes */
INLINE const V *ValuesOf(const VpMetricView *m, const VpGrid *grid, const int n, const Lanes *g, const REAL *x, V v[2][MOST])
{
  const REAL *from[W];

  for (int l = 0; l < W; l++) from[l] = x + (size_t)g->cell[l] * (size_t)Power(n);
  LoadCells(Power(n), 0, Power(n), from, NULL, v[0]);
  Scale(m, n, g, v[0], v[1]);
  return MultiplyTensor(grid, n, 0, v);
}

/* the numbers of the places of lanes, [places][stride], that are `first` numbers behind the beginning of a place */
INLINE V LoadNumbers(const double *of, int32_t at, const Lanes *g, int stride, int first)
{
  V v;

  for (int l = 0; l < W; l++) v[l] = of[(size_t)(at + PetscMin(l, g->lanes - 1)) * (size_t)stride + (size_t)first];
  return v;
}

/* numbers per point that come from n grids */
INLINE int RowsOf(const VpPlaces *places, int n)
{
  return places->chain ? places->rows : n;
}

/* the rows [RowFrom, RowTo) that grid j adds to */
INLINE int RowFrom(const VpPlaces *places, int j)
{
  return places->chain ? 0 : j;
}
INLINE int RowTo(const VpPlaces *places, int j)
{
  return places->chain ? places->rows : j + 1;
}

/* what the value u of grid j at point p adds to row r */
INLINE V ChainOf(const VpPlaces *places, int32_t at, const Lanes *g, int size, int p, int r, int j, V u)
{
  if (!places->chain) return u;
  return u * LoadNumbers(places->chain, at, g, size * places->rows * DIM, (p * places->rows + r) * DIM + j);
}

/* Adds what grid j adds to all rows. The first grid writes them. to: the numbers of the places */
INLINE void AddChained(const VpPlaces *places, int32_t at, const Lanes *g, int size, int j, const V *u, REAL *const to[])
{
  const int rows = places->rows;

  for (int k = 0; k < size * rows; k++) {
    const V v = ChainOf(places, at, g, size, k / rows, k % rows, j, u[k / rows]);

    for (int l = 0; l < g->lanes; l++) to[l][k] = j ? to[l][k] + v[l] : v[l];
  }
}

INLINE void Evaluate(const VpMetricView *m, const int n, const VpPlaces *places, int grids, const VpGrid grid[], const REAL *x,
                     REAL *values)
{
  const int size = VpGridSize(grid), rows = RowsOf(places, grids);
  V         v[2][MOST];
  Lanes     g;

  for (int j = 0; j < grids; j++) {
    for (int32_t i = 0; i < places->n; i += W) {
      FindLanes(places, &grid[j], i, &g);
      const V *u = ValuesOf(m, &grid[j], n, &g, x, v);
      REAL    *to[W];

      for (int l = 0; l < W; l++) to[l] = values + (size_t)(i + PetscMin(l, g.lanes - 1)) * (size_t)(size * rows);
      if (places->chain) AddChained(places, i, &g, size, j, u, to);
      else if (grids == 1) StoreCells(size, u, NULL, NULL, to);
      else {
        for (int p = 0; p < size; p++) {
          for (int l = 0; l < W; l++) to[l][p * grids + j] = u[p][l];
        }
      }
    }
  }
}

INLINE void Integrate(const VpMetricView *m, const int n, const VpPlaces *places, const VpGrid *grid, PetscBool add, const REAL *values,
                      REAL *b)
{
  const int size = VpGridSize(grid);
  V         v[2][MOST];
  Lanes     g;

  for (int32_t i = 0; i < places->n; i += W) {
    const REAL *from[W];
    REAL       *to[W];
    V          *sum, *old;

    FindLanes(places, grid, i, &g);
    for (int l = 0; l < W; l++) {
      from[l] = values + (size_t)(i + PetscMin(l, g.lanes - 1)) * (size_t)size;
      to[l] = l < g.lanes ? b + (size_t)g.cell[l] * (size_t)Power(n) : g.spare;
    }
    if (g.lanes < W) memset(g.spare, 0, sizeof(g.spare));
    LoadCells(size, 0, size, from, NULL, v[0]);
    for (int p = 0; p < size && places->measure; p++) v[0][p] *= LoadNumbers(places->measure, i, &g, size, p);
    sum = MultiplyTensor(grid, n, 1, v);
    old = sum == v[0] ? v[1] : v[0];
    Scale(m, n, &g, sum, old);
    if (add) { /* StoreCells has blocks that overlap, so that it does not add in place. */
      LoadCells(Power(n), 0, Power(n), (const REAL *const *)to, NULL, old);
      for (int k = 0; k < Power(n); k++) sum[k] += old[k];
    }
    StoreCells(Power(n), sum, NULL, NULL, to);
  }
}

/* weights of the points of a grid */
INLINE void FindWeights(const VpGrid *grid, double weight[])
{
  for (int p = 0; p < VpGridSize(grid); p++) {
    const int qx = p % grid->count[0], qy = p / grid->count[0] % grid->count[1], qz = p / grid->count[0] / grid->count[1];

    weight[p] = grid->w[0][qx] * grid->w[1][qy] * grid->w[2][qz];
  }
}

INLINE void Distance(const VpMetricView *m, const int n, const VpPlaces *places, int grids, const VpGrid grid[], const REAL *x,
                     const REAL *values, double *sum)
{
  const int size = VpGridSize(grid), rows = RowsOf(places, grids);
  double    weight[MOST];
  V         v[2][MOST], e[DIM][MOST];
  Lanes     g;

  FindWeights(grid, weight);
  for (int32_t i = 0; i < places->n; i += W) {
    V squares = {0};

    for (int j = 0; j < grids; j++) {
      FindLanes(places, &grid[j], i, &g);
      const V *u = ValuesOf(m, &grid[j], n, &g, x, v);

      for (int r = RowFrom(places, j); r < RowTo(places, j); r++) {
        for (int p = 0; p < size; p++)
          e[r][p] = (places->chain && j ? e[r][p] : -LoadNumbers(values, i, &g, size * rows, p * rows + r)) +
                    ChainOf(places, i, &g, size, p, r, j, u[p]);
      }
    }
    for (int r = 0; r < rows; r++) {
      for (int p = 0; p < size; p++) {
        const V square = weight[p] * e[r][p] * e[r][p];

        squares += places->measure ? square * LoadNumbers(places->measure, i, &g, size, p) : square;
      }
    }
    squares *= g.volume;
    for (int l = 0; l < g.lanes; l++) *sum += squares[l];
  }
}

INLINE void Coordinates(const VpPlaces *places, const VpGrid *grid, double *x)
{
  if (places->point) memcpy(x, places->point, (size_t)places->n * (size_t)(VpGridSize(grid) * DIM) * sizeof(*x));
  for (int32_t i = 0; i < places->n && !places->point; i++) {
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
INLINE void Probe(const VpMetricView *m, const int n, int32_t count, const int32_t *cell, const double *basis, const double *x,
                  double *values)
{
  for (int32_t i = 0; i < count; i++, basis += DIM * n) {
    const double *u = x + (size_t)cell[i] * (size_t)Power(n), *along_z = basis + (DIM - 1) * n;
    const double *root = m->root ? m->root + (size_t)(cell[i] % m->period) * (size_t)Power(n) : NULL;
    double        sum = 0;

    for (int z = 0; z < (DIM == 3 ? n : 1); z++) {
      double plane = 0;

      for (int y = 0; y < n; y++) {
        double row = 0;

        for (int k = 0; k < n; k++) {
          const int at = (z * n + y) * n + k;

          row += basis[k] * (root ? root[at] * u[at] : u[at]);
        }
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
            Evaluate(&view->metric, k + 1, places, n, grid, x, values)) \
  VP_KERNEL(Integrate, k, \
            (const VpView *view, const VpPlaces *places, const VpGrid *grid, PetscBool add, const double *values, double *b), \
            Integrate(&view->metric, k + 1, places, grid, add, values, b)) \
  VP_KERNEL(Distance, k, \
            (const VpView *view, const VpPlaces *places, int n, const VpGrid grid[], const double *x, const double *values, double *sum), \
            Distance(&view->metric, k + 1, places, n, grid, x, values, sum)) \
  VP_KERNEL(Probe, k, (const VpView *view, int32_t count, const int32_t *cell, const double *basis, const double *x, double *values), \
            Probe(&view->metric, k + 1, count, cell, basis, x, values))
#include "../degrees.def"
