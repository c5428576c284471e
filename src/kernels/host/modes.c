/* The low modes of cells (VpOps.restrict_modes). */
#include "rows.h"

INLINE void RestrictToModes(const VpView *view, const int n, const REAL *b, double *modes)
{
  const double(*w)[VP_MAX_N] = view->basis->low[0];

  for (int32_t cell = 0; cell < view->nown; cell++, b += Power(n), modes += VpLowModes(DIM)) {
    double along[3][VP_MAX_N] = {{0}}; /* the cell's values, with weights of degree 0 along all directions but one */

    for (int row = 0; row < Power(n) / n; row++) {
      const int    y = row % n, z = row / n;
      const double across = DIM == 3 ? w[0][z] : 1;
      double       sum = 0;

      for (int x = 0; x < n; x++) {
        const double value = (double)b[row * n + x];

        sum += w[0][x] * value;
        along[0][x] += w[0][y] * across * value;
      }
      along[1][y] += across * sum;
      if (DIM == 3) along[2][z] += w[0][y] * sum;
    }
    for (int k = 0; k < VpLowModes(DIM); k++) {
      modes[k] = 0;
      for (int i = 0; i < n; i++) modes[k] += w[k ? 1 + (k - 1) % 2 : 0][i] * along[k ? (k - 1) / 2 : 0][i];
    }
  }
}

INLINE void ProlongFromModes(const VpView *view, const int n, PetscBool add, const double *modes, REAL *x)
{
  const double(*w)[VP_MAX_N] = view->basis->low[1];

  for (int32_t cell = 0; cell < view->nown; cell++, x += Power(n), modes += VpLowModes(DIM)) {
    double along[3][VP_MAX_N];

    for (int d = 0; d < DIM; d++)
      for (int i = 0; i < n; i++) along[d][i] = (d ? 0 : modes[0]) * w[0][i] + modes[1 + 2 * d] * w[1][i] + modes[2 + 2 * d] * w[2][i];
    for (int at = 0; at < Power(n); at++) {
      const int    i = at % n, j = at / n % n, k = at / n / n;
      const double across = DIM == 3 ? w[0][k] : 1;
      double       value = across * (along[0][i] * w[0][j] + w[0][i] * along[1][j]);

      if (DIM == 3) value += w[0][i] * w[0][j] * along[2][k];
      x[at] = (add ? x[at] : 0) + (REAL)value;
    }
  }
}

#define VP_DEGREE(k) \
  VP_KERNEL(RestrictModes, k, (const VpView *view, const void *b, double *modes), RestrictToModes(view, k + 1, b, modes)) \
  VP_KERNEL(ProlongModes, k, (const VpView *view, PetscBool add, const double *modes, void *x), \
            ProlongFromModes(view, k + 1, add, modes, x))
#include "../degrees.def"
