/* Dense matrices: one along one direction of a lattice of cells, one times a whole vector. */
#include "rows.h"

/* one line: m = cells n values, of cell p from cell[p step] at `start`, `stride` apart */
INLINE void Line(const int n, int32_t cells, const int32_t *cell, int32_t step, int start, int stride, const REAL *M, const REAL *w,
                 const REAL *x, REAL *y)
{
  const int32_t m = cells * n;

  for (int32_t q = 0; q < m; q++) {
    const size_t to = (size_t)cell[q / n * step] * (size_t)Power(n) + (size_t)(start + q % n * stride);
    REAL         sum = 0;

    for (int32_t p = 0; p < cells; p++) {
      const REAL *from = x + (size_t)cell[p * step] * (size_t)Power(n) + start;
      for (int j = 0; j < n; j++) sum += M[(size_t)q * (size_t)m + (size_t)(p * n + j)] * from[j * stride];
    }
    y[to] = w ? w[to] * sum : sum;
  }
}

INLINE PetscErrorCode Along(const int n, int d, const int32_t extent[], const int32_t *cell, const REAL *M, const REAL *w, const REAL *x,
                            REAL *y)
{
  const int32_t step = VpLineStride(d, extent[0], extent[0] * extent[1]), count = extent[0] * extent[1] * extent[2] / extent[d];
  const int     stride = VpLineStride(d, n, n * n);

  PetscFunctionBegin;
  for (int32_t i = 0; i < count; i++) {
    const int32_t *first = cell + LineStart(extent[d], step, i);

    for (int l = 0; l < Power(n) / n; l++) Line(n, extent[d], first, step, LineStart(n, stride, l), stride, M, w, x, y);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

INLINE PetscErrorCode Product(int32_t rows, int32_t columns, const REAL *M, const REAL *x, REAL *y)
{
  enum { AT_ONCE = 4 * W };

  PetscFunctionBegin;
  for (int32_t i = 0; i < rows; i++, M += columns) {
    V       sum[4] = {{0}};
    REAL    all = 0;
    int32_t j = 0;

    for (; j + AT_ONCE <= columns; j += AT_ONCE) {
      UNROLL (int k = 0; k < 4; k++) sum[k] += Load(M + j + k * W) * Load(x + j + k * W);
    }
    for (; j < columns; j++) all += M[j] * x[j];
    sum[0] += sum[1] + sum[2] + sum[3];
    for (int l = 0; l < W; l++) all += sum[0][l];
    y[i] = all;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define VP_DEGREE(k) \
  PetscErrorCode VP_NAME(Along, VP_REAL, VP_DIM, k)(const VpView *view, int d, const int32_t extent[3], const int32_t *cell, \
                                                    const void *M, const void *w, const void *x, void *y) \
  { \
    return Along(k + 1, d, extent, cell, M, w, x, y); \
  } \
  PetscErrorCode VP_NAME(Product, VP_REAL, VP_DIM, k)(const VpView *view, int32_t rows, int32_t columns, const void *M, const void *x, \
                                                      void *y) \
  { \
    return Product(rows, columns, M, x, y); \
  }
#include "degrees.def"
