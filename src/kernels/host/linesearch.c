/* The arithmetic of a line search: products in L2, and the step that follows from them. */
#include "rows.h"

INLINE void Dots(const VpView *view, const int n, const REAL *e, const REAL *r, const REAL *w, double dots[])
{
  REAL mass[VP_MAX_N * VP_MAX_N], values[VALUES];
  V    Tx[VP_MAX_N][VECTORS], u[ROWS][VECTORS];

  for (int i = 0; i < n * n; i++) mass[i] = (REAL)view->basis->mass[i];
  LoadTransposed(n, mass, Tx);
  dots[0] = dots[1] = 0;
  for (size_t at = 0; at < (size_t)view->nown * (size_t)Power(n); at += (size_t)Power(n)) {
    LoadCell(n, e + at, u);
    TransformRows(n, Tx, mass, mass, u);
    StoreCell(n, u, values);
    for (int i = 0; i < Power(n); i++) {
      dots[0] += (double)values[i] * (double)r[at + (size_t)i];
      dots[1] += (double)values[i] * (double)w[at + (size_t)i];
    }
  }
}

INLINE void Step(size_t count, REAL t, const REAL *w, const REAL *z, REAL *y)
{
  for (size_t i = 0; i < count; i++) y[i] = (z ? z[i] : 0) + t * w[i];
}

#define VP_DEGREE(k) \
  VP_KERNEL(Dots, k, (const VpView *view, const void *e, const void *r, const void *w, double *dots), Dots(view, k + 1, e, r, w, dots)) \
  VP_KERNEL(Step, k, (const VpView *view, int32_t cells, double sign, const double *dots, const void *w, const void *z, void *y), \
            Step((size_t)cells *(size_t)Power(k + 1), (REAL)(sign * VpStepLength(dots)), w, z, y))
#include "../degrees.def"
