/* Solves on single cells, each by the modes of its diagonal block along every direction. */
#include "cell.h"

/* u = (M_z x M_y x M_x) u, where M is F (at = 0) or B (at = n^2) of the cell's tables */
INLINE void TransformCell(const int n, const REAL *const table[DIM], int at, V Tx[][VECTORS], V u[][VECTORS])
{
  LoadTransposed(n, table[0] + at, Tx);
  TransformRows(n, Tx, table[1] + at, DIM == 3 ? table[DIM - 1] + at : NULL, u);
}

INLINE void SolveCells(const VpView *view, const VpCellView *cells, const int n, int32_t first, int32_t last, VpHostResidual *residual,
                       const REAL *ghost, const REAL *b, REAL *x)
{
  const int at = VpLambdaAt(n);
  V         Tx[VP_MAX_N][VECTORS], u[ROWS][VECTORS];
  REAL      values[VALUES];

  for (int32_t i = first; i < last; i++) {
    const int32_t cell = cells->cell[i];
    const REAL    weight = cells->weight ? ((const REAL *)cells->weight)[cell] : 1;
    const REAL   *table[DIM];
    REAL         *to = x + (size_t)cell * (size_t)Power(n);

    for (int d = 0; d < DIM; d++)
      table[d] = (const REAL *)cells->table + (size_t)cells->type[(size_t)cell * DIM + (size_t)d] * (size_t)VpBlockSize(n);
    residual(view, cell, cell + 1, x, ghost, b, values);
    LoadCell(n, values, u);
    TransformCell(n, table, 0, Tx, u);
    StoreCell(n, u, values);
    for (int k = 0; k < Power(n); k++) {
      REAL sum = (REAL)cells->reaction * weight;
      for (int d = 0, mode = k; d < DIM; d++, mode /= n) sum += table[d][at + mode % n];
      values[k] *= weight / sum;
    }
    LoadCell(n, values, u);
    TransformCell(n, table, VpBackAt(n), Tx, u);
    for (int row = 0; row < Power(n) / n; row++) {
      UNROLL (int c = 0; c < Vectors(n); c++) StoreRow(to + row * n, n, c, LoadRow(to + row * n, n, c) + u[row][c]);
    }
  }
}

#define VP_DEGREE(k) \
  VP_KERNEL(SolveCells, k, \
            (const VpView *view, const VpCellView *cells, int32_t first, int32_t last, const void *ghost, const void *b, void *x), \
            SolveCells(view, cells, k + 1, first, last, VP_NAME(Residual, VP_REAL, VP_DIM, k), ghost, b, x))
#include "../degrees.def"
