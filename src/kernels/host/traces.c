/* Packs traces on sides of cells, V and Q [2][n^(dim-1)], from coefficients, and unpacks coefficients from traces. */
#include "rows.h"

/* The lines that end at a side of a cell, from the first of the nt values that make its traces. */
typedef struct {
  size_t      first; /* index of line 0 in the array of all cells */
  int         stride;
  const REAL *table[2]; /* value, slope [nt] */
} SideLines;

INLINE SideLines SideOf(const VpView *view, const int n, const void *tables, int32_t item)
{
  const int    end = item % 2, d = item / 2 % DIM, stride = VpLineStride(d, n, n * n);
  const size_t cell = (size_t)(item / (2 * DIM));
  const REAL  *value = (const REAL *)tables + 2 * end * view->nt;

  return (SideLines){cell * (size_t)Power(n) + (size_t)(view->first[end] * stride), stride, {value, value + view->nt}};
}

INLINE void PackTraces(const VpView *view, const int n, int32_t count, const int32_t *list, const REAL *x, REAL *to)
{
  const int lines = Power(n) / n;

  for (int32_t i = 0; i < count; i++, to += 2 * lines) {
    const SideLines s = SideOf(view, n, view->traces, list[i]);

    for (int l = 0; l < lines; l++) {
      const REAL *u = x + s.first + VpLineStart(n, s.stride, l);
      REAL        v = 0, q = 0;

      for (int t = 0; t < view->nt; t++) {
        v += s.table[0][t] * u[t * s.stride];
        q += s.table[1][t] * u[t * s.stride];
      }
      to[l] = v;
      to[lines + l] = q;
    }
  }
}

INLINE void UnpackTraces(const VpView *view, const int n, int32_t count, const int32_t *list, const REAL *from, REAL *x)
{
  const int lines = Power(n) / n;

  for (int32_t i = 0; i < count; i++, from += 2 * lines) {
    const SideLines s = SideOf(view, n, view->expand, list[i]);

    for (int l = 0; l < lines; l++) {
      REAL *u = x + s.first + VpLineStart(n, s.stride, l);

      for (int t = 0; t < view->nt; t++) u[t * s.stride] = s.table[0][t] * from[l] + s.table[1][t] * from[lines + l];
    }
  }
}

#define VP_DEGREE(k) \
  VP_KERNEL(PackTraces, k, (const VpView *view, int32_t n, const int32_t *list, const void *x, void *to), \
            if (view->metric.components) VP_NAME(MetricPack, double, VP_DIM, k)(view, n, list, x, to); \
            else PackTraces(view, k + 1, n, list, x, to)) \
  VP_KERNEL(UnpackTraces, k, (const VpView *view, int32_t n, const int32_t *list, const void *from, void *x), \
            if (view->metric.components) VP_NAME(MetricUnpack, double, VP_DIM, k)(n, list, from, x); \
            else UnpackTraces(view, k + 1, n, list, from, x))
#include "../degrees.def"
