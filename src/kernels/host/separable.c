/* Multiplies by dense matrices: along the lines of a lattice of cells, to invert separable operators, and a whole vector at once. */
#include "rows.h"

/* y = M^T x on one line of `cells` cells, M [m][m]. Values of cell p are those of cell[p step] from `start` on, `stride` apart. */
INLINE void MultiplyLine(const int n, int32_t cells, const int32_t *cell, int32_t step, int start, int stride, const REAL *M, const REAL *x,
                         REAL *y)
{
  const int32_t m = cells * n;
  REAL          sum[VP_LONGEST_LINE];

  for (int32_t q = 0; q < m; q++) sum[q] = 0;
  for (int32_t p = 0; p < cells; p++) {
    const REAL *from = x + (size_t)cell[p * step] * (size_t)Power(n) + start;

    for (int j = 0; j < n; j++, M += m) {
      for (int32_t q = 0; q < m; q++) sum[q] += M[q] * from[j * stride];
    }
  }
  for (int32_t p = 0; p < cells; p++) {
    REAL *to = y + (size_t)cell[p * step] * (size_t)Power(n) + start;

    for (int j = 0; j < n; j++) to[j * stride] = sum[p * n + j];
  }
}

/* y = M^T x on all lines along d */
INLINE void MultiplyLines(const int n, int d, const VpSeparable *s, const REAL *M, const REAL *x, REAL *y)
{
  const int32_t *extent = s->extent, step = VpLineStride(d, extent[0], extent[0] * extent[1]);
  const int32_t  lines = extent[0] * extent[1] * extent[2] / extent[d];
  const int      stride = VpLineStride(d, n, n * n);

  for (int32_t i = 0; i < lines; i++) {
    const int32_t *cell = s->cell + VpLineStart(extent[d], step, i);

    for (int l = 0; l < Power(n) / n; l++) MultiplyLine(n, extent[d], cell, step, VpLineStart(n, stride, l), stride, M, x, y);
  }
}

/* Divides x by the sums of eigenvalues. Where a sum is 0, x becomes 0. */
INLINE void DivideByEigenvalues(const int n, const VpSeparable *s, REAL *x)
{
  const int32_t cells = s->extent[0] * s->extent[1] * s->extent[2];

  for (int32_t i = 0; i < cells; i++) {
    REAL *values = x + (size_t)s->cell[i] * (size_t)Power(n);

    for (int k = 0; k < Power(n); k++) {
      REAL    sum = 0;
      int32_t at = i;
      int     mode = k;

      for (int d = 0; d < DIM; at /= s->extent[d++], mode /= n) sum += ((const REAL *)s->eigenvalue[d])[at % s->extent[d] * n + mode % n];
      values[k] = sum == 0 ? 0 : values[k] / sum;
    }
  }
}

/* Takes values to modes along x, y, z, divides these, and takes modes to values likewise. Each product reads one of the two arrays and
   writes the other one. */
INLINE void SolveLines(const int n, const VpSeparable *s, int32_t vectors, const REAL *b, void *const x[2])
{
  const size_t count = (size_t)s->extent[0] * s->extent[1] * s->extent[2] * (size_t)Power(n);

  for (size_t k = 0; k < (size_t)vectors * count; k += count) {
    const REAL *from = b + k;

    for (int i = 0; i < 2 * DIM; i++) {
      REAL *to = (REAL *)x[(i + 1) % 2] + k;

      MultiplyLines(n, i % DIM, s, (const REAL *)(i < DIM ? s->to : s->from)[i % DIM], from, to);
      if (i == DIM - 1) DivideByEigenvalues(n, s, to);
      from = to;
    }
  }
}

/* a row of the matrix times a vector */
INLINE REAL MultiplyRow(int32_t columns, const REAL *M, const REAL *x)
{
  enum { AT_ONCE = 4 * W };
  V       sum[4] = {{0}};
  REAL    all = 0;
  int32_t j = 0;

  for (; j + AT_ONCE <= columns; j += AT_ONCE) {
    UNROLL (int k = 0; k < 4; k++) sum[k] += Load(M + j + k * W) * Load(x + j + k * W);
  }
  for (; j < columns; j++) all += M[j] * x[j];
  sum[0] += sum[1] + sum[2] + sum[3];
  for (int l = 0; l < W; l++) all += sum[0][l];
  return all;
}

INLINE void MultiplyVectors(int32_t rows, int32_t columns, const REAL *M, int32_t n, const REAL *x, REAL *y)
{
  for (int32_t i = 0; i < rows; i++, M += columns) {
    for (int32_t k = 0; k < n; k++) y[(size_t)k * (size_t)rows + (size_t)i] = MultiplyRow(columns, M, x + (size_t)k * (size_t)columns);
  }
}

#define VP_DEGREE(k) \
  VP_KERNEL(SolveLines, k, (const VpView *view, const VpSeparable *s, int32_t n, const void *b, void *const x[2]), \
            SolveLines(k + 1, s, n, b, x)) \
  VP_KERNEL(Product, k, (const VpView *view, int32_t rows, int32_t columns, const void *M, int32_t n, const void *x, void *y), \
            MultiplyVectors(rows, columns, M, n, x, y))
#include "../degrees.def"
