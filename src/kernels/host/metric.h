/* Cells with a coefficient at points (VpMetricView) and their sides, W at a time, one per lane. */
#pragma once
#include "lanes.h"

enum { FACE = ROWS, COMPONENTS = DIM * (DIM + 1) / 2, SIDES = 2 * DIM };

INLINE int FaceOf(const int n)
{
  return Power(n) / n;
}

/* W cells. Lanes beyond the last cell take that cell again, and write to spare memory. */
typedef struct {
  int32_t lanes, cell[W], at[W]; /* at: the cell's number in the arrays of the metric */
  REAL    spare[VALUES];
  V       scale;
} Group;

INLINE void FindCells(const VpMetricView *m, const int n, int32_t first, int32_t last, Group *g)
{
  V scale = {0};

  g->lanes = PetscMin(W, last - first);
  for (int l = 0; l < W; l++) {
    g->cell[l] = first + PetscMin(l, g->lanes - 1);
    g->at[l] = g->cell[l] % m->period;
    scale[l] = m->scale[g->at[l]];
  }
  g->scale = scale;
}

/* v[i] = number i of W cells, in single precision */
OUTLINE void LoadSingle(int count, const REAL *const from[W], size_t ahead, V v[])
{
  if (count < W) LoadBlocks(count, 1, count, 0, count, from, NULL, ahead, v);
  else LoadBlocks(W, 1, count, 0, count, from, NULL, ahead, v);
}

/* v = the numbers [first, first + count) of the cells in an array of the metric, which has `size` numbers a cell */
INLINE void LoadNumbers(const VpMetricView *m, const Group *g, const void *array, size_t size, size_t first, int count, V v[])
{
  const size_t bytes = m->precision == VP_DOUBLE ? sizeof(double) : sizeof(float);
  const REAL  *from[W];

  for (int l = 0; l < W; l++) from[l] = (const REAL *)(const void *)((const char *)array + ((size_t)g->at[l] * size + first) * bytes);
  if (m->precision == VP_DOUBLE) LoadCellsAhead(count, 0, count, from, NULL, W * size, v);
  else LoadSingle(count, from, W * size, v);
}

/* a number of the cells' shapes */
INLINE V LoadShape(const VpMetricView *m, const Group *g, int at)
{
  V v = {0};

  for (int l = 0; l < W; l++) v[l] = m->shape[(size_t)g->at[l] * (size_t)VpMetricShape(DIM, m->components) + (size_t)at];
  return v;
}

/* z = scale factor z */
INLINE void Scale(const VpMetricView *m, const int n, const Group *g, V z[])
{
  V factor[VALUES];

  if (m->factor) LoadNumbers(m, g, m->factor, (size_t)Power(n), 0, Power(n), factor);
  for (int i = 0; i < Power(n); i++) z[i] *= m->factor ? factor[i] * g->scale : g->scale;
}

/* x begins with cell `begin` */
INLINE void LoadScaled(const VpMetricView *m, const int n, const Group *g, const REAL *x, const int32_t begin, V z[])
{
  const REAL *from[W];

  for (int l = 0; l < W; l++) from[l] = x + (size_t)(g->cell[l] - begin) * (size_t)Power(n);
  LoadCells(Power(n), 0, Power(n), from, NULL, z);
  Scale(m, n, g, z);
}

/* to = D from along lines of n values that are `stride` apart, in arrays of `size` values */
INLINE void Differentiate(const int n, const REAL *D, int size, int stride, const V from[], V to[])
{
  for (int line = 0; line < size / n; line++) {
    const int start = VpLineStart(n, stride, line);
    V         t[VP_MAX_N];

    UNROLL (int i = 0; i < n; i++) t[i] = from[start + i * stride];
    for (int q = 0; q < n; q++) {
      V sum = D[q * n] * t[0];
      UNROLL (int i = 1; i < n; i++) sum += D[q * n + i] * t[i];
      to[start + q * stride] = sum;
    }
  }
}

/* to += D^T from */
INLINE void AddAdjoint(const int n, const REAL *D, int size, int stride, const V from[], V to[])
{
  for (int line = 0; line < size / n; line++) {
    const int start = VpLineStart(n, stride, line);
    V         t[VP_MAX_N];

    UNROLL (int q = 0; q < n; q++) t[q] = from[start + q * stride];
    for (int i = 0; i < n; i++) {
      V sum = D[i] * t[0];
      UNROLL (int q = 1; q < n; q++) sum += D[q * n + i] * t[q];
      to[start + i * stride] += sum;
    }
  }
}

/* H of a side, and then sigma where that is loaded */
typedef V   SideNumbers[DIM + 1][FACE];
INLINE void LoadSideNumbers(const VpMetricView *m, const int n, const Group *g, int side, SideNumbers H)
{
  const int rows = VpMetricRows(DIM, m->components), stored = m->shape ? 1 : rows, size = FaceOf(n), d = side / 2;

  for (int r = 0; r < stored; r++)
    LoadNumbers(m, g, m->side, (size_t)(SIDES * stored * m->spread), (size_t)((side * stored + r) * m->spread), m->spread, H[r]);
  for (int l = m->spread; l < size; l++) H[0][l] = H[0][0];
  for (int r = 1; r < rows && m->shape; r++) {
    const V ratio = LoadShape(m, g, m->components + d * (rows - 1) + r - 1);

    for (int l = 0; l < size; l++) H[r][l] = side % 2 ? H[0][l] * ratio : -H[0][l] * ratio;
  }
}

INLINE void LoadSigma(const VpMetricView *m, const int n, const Group *g, int side, SideNumbers H)
{
  const REAL *from[W];
  V           penalty = {0};

  for (int l = 0; l < W; l++) {
    from[l] = m->beyond + ((size_t)g->at[l] * SIDES + (size_t)side) * (size_t)FaceOf(n);
    penalty[l] = m->penalty[g->at[l]];
  }
  LoadCellsAhead(FaceOf(n), 0, FaceOf(n), from, NULL, (size_t)W * SIDES * (size_t)FaceOf(n), H[DIM]);
  for (int l = 0; l < FaceOf(n); l++) H[DIM][l] += penalty * H[0][l];
}

/* t = V, then H[0] times the outward slope, of z on a side: 2 n^(dim-1) numbers. H NULL: 1 */
INLINE void TakeEnds(const VpMetricView *m, const int n, int side, const V *H, const V z[], V t[])
{
  const int   size = FaceOf(n), stride = VpLineStride(side / 2, n, n * n);
  const REAL *value = m->end + side % 2 * 2 * n, *slope = value + n;

  for (int l = 0; l < size; l++) {
    const V *line = z + VpLineStart(n, stride, l);
    V        v = value[0] * line[0], q = slope[0] * line[0];

    UNROLL (int i = 1; i < n; i++) {
      v += value[i] * line[i * stride];
      q += slope[i] * line[i * stride];
    }
    t[l] = v;
    t[size + l] = H ? H[l] * q : q;
  }
}

/* Adds what derivatives along the side are in F. */
INLINE void AddAlong(const VpMetricView *m, const int n, SideNumbers H, V t[])
{
  const int size = FaceOf(n);
  V         along[FACE];

  for (int e = 1; e < DIM && m->components > DIM; e++) {
    Differentiate(n, m->slope, size, e == 1 ? 1 : n, t, along);
    for (int l = 0; l < size; l++) t[size + l] += H[e][l] * along[l];
  }
}

/* t = V, then F */
INLINE void TakeTraces(const VpMetricView *m, const int n, int side, SideNumbers H, const V z[], V t[])
{
  TakeEnds(m, n, side, H[0], z, t);
  AddAlong(m, n, H, t);
}

/* p += what the numbers r by F of the test functions are by V */
INLINE void AddAlongAdjoint(const VpMetricView *m, const int n, SideNumbers H, const V r[], V p[])
{
  const int size = FaceOf(n);
  V         along[FACE];

  for (int e = 1; e < DIM && m->components > DIM; e++) {
    for (int l = 0; l < size; l++) along[l] = H[e][l] * r[l];
    AddAdjoint(n, m->slope, size, e == 1 ? 1 : n, along, p);
  }
}

/* y += p times V plus r H[0] times the outward slope of the test functions. H NULL: 1 */
INLINE void AddEnds(const VpMetricView *m, const int n, int side, const V *H, const V p[], const V r[], V y[])
{
  const int   size = FaceOf(n), stride = VpLineStride(side / 2, n, n * n);
  const REAL *value = m->end + side % 2 * 2 * n, *slope = value + n;

  for (int l = 0; l < size; l++) {
    V      *line = y + VpLineStart(n, stride, l);
    const V q = H ? H[l] * r[l] : r[l];

    UNROLL (int i = 0; i < n; i++) line[i * stride] += value[i] * p[l] + slope[i] * q;
  }
}

/* y += the functions p V + r F of the test functions, for numbers p and r at the side's points. p is overwritten. */
INLINE void AddTests(const VpMetricView *m, const int n, int side, SideNumbers H, V p[], const V r[], V y[])
{
  AddAlongAdjoint(m, n, H, r, p);
  AddEnds(m, n, side, H[0], p, r, y);
}

/* p, r = the numbers by V and F of the test functions of a cell with the traces `own`, for the traces `other` beyond */
INLINE void FaceForm(const int n, const V sigma[], const V own[], const V other[], V p[], V r[])
{
  const int size = FaceOf(n);

  for (int l = 0; l < size; l++) {
    const V jump = own[l] - other[l];

    p[l] = sigma[l] * jump - (own[size + l] - other[size + l]) / 2;
    r[l] = -jump / 2;
  }
}

INLINE int TurnOf(const VpView *view, int32_t cell, int side)
{
  return view->turn ? view->turn[(size_t)cell * SIDES + (size_t)side] : 0;
}

/* the number of point l of a cell's side on the side of the cell beyond; in 2D directions along the side cannot change places */
INLINE int TurnPoint(const int n, int turn, int l)
{
  return VpTurnPoint(n, DIM == 2 ? turn & 1 : turn, l);
}

/* to = numbers at the points of a cell's side, in the order of the cell beyond */
INLINE void TurnPoints(const int n, int turn, const V from[], V to[])
{
  for (int l = 0; l < FaceOf(n); l++) to[TurnPoint(n, turn, l)] = from[l];
}

/* to = V and F of a cell beyond in the order of the own cell's points */
INLINE void TurnTraces(const int n, int turn, const REAL there[], REAL to[])
{
  for (int l = 0; l < 2 * FaceOf(n); l++) to[l] = there[l / FaceOf(n) * FaceOf(n) + TurnPoint(n, turn, l % FaceOf(n))];
}
