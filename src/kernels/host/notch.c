/* Sums over the lines that cross the sides of a notch, and what they add. */
#include "rows.h"

/* of a side: its direction's stride, the numbers of its entry */
typedef struct {
  int         stride;
  const REAL *table; /* [2 f][cell, missing][n] */
} NotchSide;

INLINE NotchSide SideOf(const int n, const int32_t *side, const void *tables)
{
  return (NotchSide){VpLineStride(side[2] / 2 % DIM, n, n * n),
                     (const REAL *)tables + (size_t)(side[2] / (2 * DIM)) * (size_t)VpNotchSize(n)};
}

INLINE void Take(const int n, const VpNotch *notch, const REAL *x, REAL *t)
{
  const int    lines = Power(n) / n;
  const size_t half = (size_t)notch->n * (size_t)lines;

  for (int32_t i = 0; i < notch->n; i++) {
    const int32_t  *side = notch->side + (size_t)i * VP_NOTCH_SIDE;
    const NotchSide s = SideOf(n, side, notch->take);

    for (int l = 0; l < 2 * lines; l++) {
      REAL sum = 0;

      for (int c = 0; c < 2; c++) {
        const REAL *u = x + (size_t)side[c] * (size_t)Power(n) + VpLineStart(n, s.stride, l % lines),
                   *by = s.table + (l / lines * 2 + c) * n;
        for (int j = 0; j < n; j++) sum += by[j] * u[j * s.stride];
      }
      t[(size_t)(l / lines) * half + (size_t)(i * lines + l % lines)] = sum;
    }
  }
}

INLINE void Add(const int n, const VpNotch *notch, const REAL *w, REAL *b)
{
  const int    lines = Power(n) / n;
  const size_t half = (size_t)notch->n * (size_t)lines;

  for (int32_t i = 0; i < notch->n; i++) {
    const int32_t  *side = notch->side + (size_t)i * VP_NOTCH_SIDE;
    const NotchSide s = SideOf(n, side, notch->add);

    for (int c = 0; c < 2; c++) {
      for (int l = 0; l < lines; l++) {
        REAL *to = b + (size_t)side[c] * (size_t)Power(n) + VpLineStart(n, s.stride, l);

        for (int f = 0; f < 2; f++) {
          const REAL by = w[(size_t)f * half + (size_t)(i * lines + l)];
          for (int j = 0; j < n; j++) to[j * s.stride] -= s.table[(f * 2 + c) * n + j] * by;
        }
      }
    }
  }
}

#define VP_DEGREE(k) \
  VP_KERNEL(TakeNotch, k, (const VpView *view, const VpNotch *notch, const void *x, void *t), Take(k + 1, notch, x, t)) \
  VP_KERNEL(AddNotch, k, (const VpView *view, const VpNotch *notch, const void *w, void *b), Add(k + 1, notch, w, b))
#include "../degrees.def"
