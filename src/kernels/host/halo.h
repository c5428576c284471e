/* What the cells beyond a side add to A x, for W cells at a time, one per lane. */
#pragma once
#include "cell.h"
#include "lanetables.h"

/* Loads the values that make the traces of cells on a side. Along x every row has some of these values, so all values are loaded. */
OUTLINE void LoadSide(const VpView *view, int n, int side, const REAL *const p[W], V u[])
{
  const int stride = VpLineStride(side / 2, n, n * n), nearest = view->first[side % 2] * stride;

  if (side / 2 == 0) LoadCells(Power(n), 0, Power(n), p, NULL, u);
  else {
    for (int i = 0; i < Power(n); i += n * stride) LoadCells(Power(n), i + nearest, view->nt * stride, p, NULL, u);
  }
}

/* The cells beyond a side of W cells. */
typedef struct {
  int         side, from; /* side of the W cells; side of the cells beyond at which traces are taken */
  const REAL *trace;      /* [V, Q][nt] of that side */
  const REAL *line[W];    /* lines of the W cells along the side's normal, or lines that have a cell beyond the side */
  const REAL *beyond[W];  /* values of the cells beyond */
} Halo;

/* t = V and Q of W cells at an end of a line, from its values there, which are `stride` apart. trace: [V, Q][nt] */
INLINE void LineTraces(const REAL *trace, const int nt, const V *values, int stride, V t[2])
{
  t[0] = t[1] = (V){0};
  UNROLL (int i = 0; i < nt; i++) {
    t[0] += trace[i] * values[i * stride];
    t[1] += trace[nt + i] * values[i * stride];
  }
}

/* v -= what a halo adds to A x of the W cells. Value i of a cell is at v[at[i]], or at v[i] if at is NULL. Values are `stride` apart along
   the side's normal. u [n^dim]: scratch */
INLINE void SubtractHalo(const VpView *view, const int n, const Halo *halo, const int at[], int stride, V u[], V v[])
{
  const int first = VpLineSide(n, halo->side % 2), fast = VpLineStride(halo->side / 2, n, n * n), nt = VpThinLayers(n, DIM);
  V         g[2][VP_MAX_N];

  for (int k = 0; k < 2; k++) LoadLanes(n, halo->line, first + k * n, g[k]);
  LoadSide(view, n, halo->from, halo->beyond, u);
  for (int f = 0; f < Power(n) / n; f++) {
    const int start = VpLineStart(n, fast, f); /* the line in a cell */
    V        *to = v + (at ? at[start] : start), t[2];

    LineTraces(halo->trace, nt, u + start + view->first[halo->from % 2] * fast, fast, t);
    UNROLL (int i = 0; i < n; i++) to[i * stride] = to[i * stride] - g[0][i] * t[0] - g[1][i] * t[1];
  }
}

/* halo of cells that have cells beyond a side, with `beyond` unset */
INLINE Halo HaloOf(const VpView *view, const int n, int side, const int32_t cell[W])
{
  Halo halo = {.side = side, .from = side ^ 1, .trace = Trace(view, view->nt, 1 - side % 2, 0)};

  for (int l = 0; l < W; l++) halo.line[l] = Line(view->lines, n, view->line[(size_t)cell[l] * DIM + (size_t)(side / 2)]);
  return halo;
}
