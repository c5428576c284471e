/* Terms of A x on sides that hang, of W cells at a time, one per lane: traces of both sides, tangential interpolation, forms, and lifts. */
#pragma once
#include "halo.h"

enum { FACES = 1 << (DIM - 1), LINES = ROWS };
typedef V Traces[2 * LINES]; /* V, then Q on a side, n^(dim-1) of each */

/* v [slow][n][fast] = A v, with one matrix for all lanes: one function per degree */
typedef void Along(const REAL A[], int slow, int fast, V v[]);
#define VP_ALONG(k) \
  static void Along##k(const REAL A[], int slow, int fast, V v[]) \
  { \
    for (int l = 0; l < slow * fast; l++) LineFull(k + 1, A, fast, v + VpLineStart(k + 1, fast, l)); \
  }

/* Adds v to the values of W cells. Requires: the cells are different */
OUTLINE void AddCells(int N, V v[], REAL *const p[W])
{
  V old[VALUES];

  LoadCells(N, 0, N, (const REAL *const *)p, NULL, old);
  for (int i = 0; i < N; i++) v[i] += old[i];
  StoreCells(N, v, NULL, NULL, p);
}

INLINE void ClearLanes(int count, V v[])
{
  for (int i = 0; i < count; i++) v[i] = (V){0};
}
/* number of traces on a side */
INLINE int TraceCount(int n)
{
  return 2 * Power(n) / n;
}

/* t = V and Q of cells on one of their sides, for the values u */
OUTLINE void SideTraces(const VpView *view, int n, int side, const V u[], Traces t)
{
  const int   stride = VpLineStride(side / 2, n, n * n), end = side % 2, lines = Power(n) / n;
  const REAL *value = (const REAL *)view->traces + 2 * end * view->nt, *slope = value + view->nt;

  for (int l = 0; l < lines; l++) {
    const V *p = u + VpLineStart(n, stride, l) + view->first[end] * stride;
    V        sum[2] = {{0}, {0}};

    for (int i = 0; i < view->nt; i++) {
      sum[0] += value[i] * p[i * stride];
      sum[1] += slope[i] * p[i * stride];
    }
    for (int k = 0; k < 2; k++) t[k * lines + l] = sum[k];
  }
}

/* t = V and Q of cells on one of their sides; p: the cells' values */
OUTLINE void LoadTraces(const VpView *view, int n, int side, const REAL *const p[W], Traces t)
{
  V u[VALUES];

  LoadSide(view, n, side, p, u);
  SideTraces(view, n, side, u, t);
}

/* out = (M_1 x M_0) in on a side, where bit i of `face` selects the half whose matrix is M_i; half: [2][n][n] */
INLINE void ToFace(int n, Along *along, const void *half, int face, Traces in, Traces out)
{
  const REAL *matrix = half;

  memcpy(out, in, (size_t)TraceCount(n) * sizeof(V));
  along(matrix + (face & 1) * n * n, TraceCount(n) / n, 1, out);
  if (DIM == 3) along(matrix + (face >> 1 & 1) * n * n, 2, n, out);
}

/* sum += the factors on the whole side for the factors `in` on one fine face; half: P, then R (VpHangView) */
INLINE void AddFromFace(int n, Along *along, const void *half, int face, Traces in, Traces sum)
{
  Traces whole;

  ToFace(n, along, (const REAL *)half + 2 * n * n, face, in, whole);
  for (int l = 0; l < TraceCount(n); l++) sum[l] += whole[l];
}

VP_FACE_FORM(INLINE void FaceTests, V)
/* here = the factors of V and Q of a test function on this side, in the form of a fine face with the coefficient a. At first `here` has the
   traces on this side, and `beyond` has those on the other side. turned: 1 if this side is the one beyond the form's cell, else 0 */
OUTLINE void Flux(int n, const V form[], int turned, V a, Traces here, Traces beyond)
{
  const int lines = Power(n) / n;

  for (int l = 0; l < lines; l++) FaceTests(form, turned, a, &here[l], &here[lines + l], beyond[l], beyond[lines + l]);
}

/* y += sign times the lift of t at a side */
OUTLINE void AddLift(const VpHangView *hang, int n, int side, REAL sign, Traces t, V y[])
{
  const int   stride = VpLineStride(side / 2, n, n * n), lines = Power(n) / n;
  const REAL *lift = (const REAL *)hang->lift + 2 * (side % 2) * n;

  for (int l = 0; l < lines; l++) {
    const V value = sign * t[l], slope = sign * t[lines + l];
    V      *p = y + VpLineStart(n, stride, l);

    for (int i = 0; i < n; i++) p[i * stride] += lift[i] * value + lift[n + i] * slope;
  }
}

/* form = the numbers of the forms of sides at[], 0 where at[l] is -1 */
INLINE void LoadForms(const VpHangView *hang, const int32_t at[W], V form[VP_HANG_FORM])
{
  const REAL *p[W];

  for (int l = 0; l < W; l++) p[l] = at[l] < 0 ? zero_cell : (const REAL *)hang->form + (size_t)at[l] * VP_HANG_FORM;
  LoadLanes(VP_HANG_FORM, p, 0, form);
}
