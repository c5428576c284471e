/* Converts between outer vectors (double precision, outer basis) and vectors of a level. */
#include "rows.h"

/* Converts FEW cells at a time. If sides hang, or a coefficient is given at points, it converts as many cells as have MOST_VALUES
   values, because lanes work on sides of the same kind, and traces of cells in between are found once. */
enum { FEW = 8, MOST_VALUES = 1 << 15, SUMS = 8 }; /* cells; values; partial sums */
_Static_assert(FEW *VALUES <= MOST_VALUES, "FEW cells fit");

INLINE void AddSquares(int count, const double *r, double sum[SUMS])
{
  int i = 0;

  for (; i + SUMS <= count; i += SUMS) {
    for (int k = 0; k < SUMS; k++) sum[k] += r[i + k] * r[i + k];
  }
  for (; i < count; i++) sum[0] += r[i] * r[i];
}

/* to = (A x A x A) from on some cells; Tx: LoadTransposed of A */
INLINE void ChangeBasis(const int n, const REAL *A, V Tx[][VECTORS], int cells, const REAL *from, REAL *to)
{
  V u[ROWS][VECTORS];

  for (int i = 0; i < cells; i++) {
    LoadCell(n, from + i * Power(n), u);
    TransformRows(n, Tx, A, A, u);
    StoreCell(n, u, to + i * Power(n));
  }
}

/* values /= root (VpMetricView), on `cells` cells from `first` on */
INLINE void DivideByRoot(const VpMetricView *m, const int n, int32_t first, int cells, double *values)
{
  for (int i = 0; i < cells && m->root; i++) {
    const double *root = m->root + (size_t)((first + i) % m->period) * (size_t)Power(n);

    for (int k = 0; k < Power(n); k++) values[i * Power(n) + k] /= root[k];
  }
}

/* b = enter scale (f - A x), or enter scale f if x is NULL. *norm2 += the sum of squares, unless norm2 is NULL */
INLINE void EnterCells(const VpView *view, const int n, VpHostResidual *Residual, const VpView *outer, double scale, const double *x,
                       const double *ghost, const double *f, REAL *b, double *norm2)
{
  const int chunk = x && (outer->hang.n || outer->metric.components) ? MOST_VALUES / Power(n) : FEW;
  V         Tx[VP_MAX_N][VECTORS];
  REAL      narrow[MOST_VALUES];
  double    wide[MOST_VALUES], sum[SUMS] = {0};

  LoadTransposed(n, view->enter, Tx);
  for (int32_t cell = 0; cell < view->nown; cell += chunk) {
    const int     cells = PetscMin(chunk, view->nown - cell), count = cells * Power(n);
    const size_t  at = (size_t)cell * (size_t)Power(n);
    const double *r = x || view->gather ? wide : f + at;

    if (view->gather) VpHostGather(view->gather, cell, cells, f, wide);
    if (x) Residual(outer, cell, cell + cells, x, ghost, f, wide);
    for (int i = 0; i < count; i++) wide[i] = scale * r[i];
    if (norm2) AddSquares(count, wide, sum);
    DivideByRoot(&view->metric, n, cell, cells, wide);
    for (int i = 0; i < count; i++) narrow[i] = (REAL)wide[i];
    ChangeBasis(n, view->enter, Tx, cells, narrow, b + at);
  }
  for (int k = 0; k < SUMS && norm2; k++) *norm2 += sum[k];
}

INLINE void LeaveCells(const VpView *view, const int n, PetscBool add, double scale, const REAL *x, double *z)
{
  V      Tx[VP_MAX_N][VECTORS];
  REAL   narrow[FEW * VALUES], given[FEW * VALUES];
  double wide[FEW * VALUES];

  LoadTransposed(n, view->leave, Tx);
  for (int32_t cell = 0; cell < view->nown; cell += FEW) {
    const int    cells = PetscMin(FEW, view->nown - cell), count = cells * Power(n);
    const size_t at = (size_t)cell * (size_t)Power(n);
    double      *to = z + at;

    if (view->gather) VpHostGather(view->gather, cell, cells, (const double *)x, wide);
    for (int i = 0; i < count && view->gather; i++) given[i] = (REAL)wide[i];
    ChangeBasis(n, view->leave, Tx, cells, view->gather ? given : x + at, narrow);
    if (view->metric.root) {
      for (int i = 0; i < count; i++) wide[i] = scale * (double)narrow[i];
      DivideByRoot(&view->metric, n, cell, cells, wide);
      for (int i = 0; i < count; i++) to[i] = add ? to[i] + wide[i] : wide[i];
    } else if (add) {
      for (int i = 0; i < count; i++) to[i] += scale * (double)narrow[i];
    } else {
      for (int i = 0; i < count; i++) to[i] = scale * (double)narrow[i];
    }
  }
}

#define VP_DEGREE(k) \
  VP_KERNEL( \
    Enter, k, \
    (const VpView *view, const VpView *outer, double scale, const double *x, VpGhosts ghosts, const double *f, void *b, double *norm2), \
    if (norm2) *norm2 = 0; \
    if (x && outer->metric.components) PetscCall(VP_NAME(MetricTraces, double, VP_DIM, k)(outer, x, ghosts)); PetscCall(VpArrive(ghosts)); \
    EnterCells(view, k + 1, VP_NAME(Residual, double, VP_DIM, k), outer, scale, x, ghosts.values, f, b, norm2)) \
  VP_KERNEL(Leave, k, (const VpView *view, PetscBool add, double scale, const void *x, double *z), \
            LeaveCells(view, k + 1, add, scale, x, z))
#include "../degrees.def"
