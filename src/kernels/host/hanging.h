/* The terms of A x on sides that hang, from traces of both sides: a line of lines, tangential interpolation, and lifts. */
#pragma once
#include "rows.h"

enum { LINES = ROWS };
typedef REAL Traces[2][LINES]; /* V and Q on a side, n^(dim-1) of each */

/* V and Q at an end of a cell along d */
INLINE void SideTraces(const VpView *view, const int n, int d, int end, const REAL *u, Traces t)
{
  const int   stride = VpLineStride(d, n, n * n);
  const REAL *table = (const REAL *)view->traces + 2 * end * view->nt;

  for (int l = 0; l < Power(n) / n; l++) {
    const REAL *p = u + VpLineStart(n, stride, l) + view->first[end] * stride;

    t[0][l] = t[1][l] = 0;
    for (int i = 0; i < view->nt; i++) {
      t[0][l] += table[i] * p[i * stride];
      t[1][l] += table[view->nt + i] * p[i * stride];
    }
  }
}

/* out = (M_1 x M_0) in on a side, where M_i is the matrix of the half that bit i of part says */
INLINE void ToPart(const int n, const REAL *half, int part, const REAL in[], REAL out[])
{
  const REAL *M0 = half + (part & 1) * n * n, *M1 = half + (part >> 1 & 1) * n * n;
  REAL        t[LINES];

  for (int row = 0; row < Power(n) / n / n; row++) {
    for (int i = 0; i < n; i++) {
      t[row * n + i] = 0;
      for (int j = 0; j < n; j++) t[row * n + i] += M0[i * n + j] * in[row * n + j];
    }
  }
  for (int i = 0; i < Power(n) / n; i++) out[i] = DIM == 3 ? 0 : t[i];
  for (int i = 0; i < n && DIM == 3; i++) {
    for (int j = 0; j < n; j++) {
      for (int l = 0; l < n; l++) out[i * n + l] += M1[i * n + j] * t[j * n + l];
    }
  }
}

/* here = the factors by which the form of a fine face, with the coefficient a, multiplies the value and the slope of the cell's test
   function */
INLINE void Flux(const int n, const REAL *form, REAL a, Traces here, Traces beyond)
{
  for (int l = 0; l < Power(n) / n; l++) {
    const REAL jump = form[0] * here[0][l] - form[2] * beyond[0][l], mean = (form[1] * here[1][l] - form[3] * beyond[1][l]) / 2;

    here[0][l] = a * (form[4] * jump - mean) * form[0];
    here[1][l] = -a * jump / 2 * form[1];
  }
}

/* y += sign times a side's lift of t */
INLINE void AddLift(const VpHangView *hang, const int n, int d, int end, REAL sign, Traces t, REAL *y)
{
  const int   stride = VpLineStride(d, n, n * n);
  const REAL *lift = (const REAL *)hang->lift + 2 * end * n;

  for (int l = 0; l < Power(n) / n; l++) {
    REAL *p = y + VpLineStart(n, stride, l);

    for (int i = 0; i < n; i++) p[i * stride] += sign * (lift[i] * t[0][l] + lift[n + i] * t[1][l]);
  }
}

/* y += sign times what the side with the number `at` adds to A x of its cell, whose values are u; beyond[i]: of the cells beyond */
INLINE void AddHanging(const VpView *view, const int n, int32_t at, REAL sign, const REAL *u, const REAL *const beyond[], REAL *y)
{
  const int32_t *item = view->hang.cell + (size_t)at * VP_HANG_CELL;
  const REAL    *form = (const REAL *)view->hang.form + (size_t)at * VP_HANG_FORM, *P = (const REAL *)view->hang.half, *R = P + 2 * n * n;
  const int      d = item[1] / 2, end = item[1] % 2, part = item[2];
  Traces         own, here, there, sum = {{0}};

  SideTraces(view, n, d, end, u, own);
  if (part >= 0) {
    SideTraces(view, n, d, 1 - end, beyond[0], here);
    for (int k = 0; k < 2; k++) ToPart(n, P, part, here[k], there[k]);
    Flux(n, form, form[5], own, there);
    AddLift(&view->hang, n, d, end, sign, own, y);
    return;
  }
  for (int i = 0; i < 1 << (DIM - 1); i++) {
    SideTraces(view, n, d, 1 - end, beyond[i], there);
    for (int k = 0; k < 2; k++) ToPart(n, P, i, own[k], here[k]);
    Flux(n, form, form[5 + i], here, there);
    for (int k = 0; k < 2; k++) {
      REAL whole[LINES];

      ToPart(n, R, i, here[k], whole);
      for (int l = 0; l < Power(n) / n; l++) sum[k][l] += whole[l];
    }
  }
  AddLift(&view->hang, n, d, end, sign, sum, y);
}
