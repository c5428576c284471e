/* A x with a coefficient at points (VpMetricView), for W cells at a time, one per lane. */
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
OUTLINE void LoadSingle(const float *const from[W], int count, V v[])
{
  REAL        wide[W][VALUES];
  const REAL *p[W];

  for (int l = 0; l < W; l++) {
    for (int i = 0; i < count; i++) wide[l][i] = from[l][i];
    p[l] = wide[l];
  }
  LoadCells(count, 0, count, p, NULL, v);
}

/* v[i] = value i of W cells of N values. Starts to load what is `ahead` values farther on. */
OUTLINE void LoadCellsAhead(int N, const REAL *const p[W], size_t ahead, V v[])
{
  LoadBlocks(N, 0, N, p, NULL, ahead, v);
}

/* v = the numbers [first, first + count) of the cells in an array of the metric, which has `size` numbers a cell */
INLINE void LoadNumbers(const VpMetricView *m, const Group *g, const void *array, size_t size, size_t first, int count, V v[])
{
  const REAL  *from[W];
  const float *single[W];

  for (int l = 0; l < W; l++) from[l] = (const REAL *)array + (size_t)g->at[l] * size + first;
  for (int l = 0; l < W; l++) single[l] = (const float *)array + (size_t)g->at[l] * size + first;
  if (m->precision == VP_DOUBLE) LoadCellsAhead(count, from, W * size, v);
  else LoadSingle(single, count, v);
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

INLINE void LoadScaled(const VpMetricView *m, const int n, const Group *g, const REAL *x, V z[])
{
  const REAL *from[W];

  for (int l = 0; l < W; l++) from[l] = x + (size_t)g->cell[l] * (size_t)Power(n);
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

/* G at the points */
INLINE void LoadMatrices(const VpMetricView *m, const int n, const Group *g, V G[COMPONENTS][VALUES])
{
  const int stored = m->shape ? 1 : m->components, size = Power(n);
  V         a[VALUES];

  for (int c = 0; c < stored && m->cell; c++)
    LoadNumbers(m, g, m->cell, (size_t)(stored * size), (size_t)(c * size), size, m->shape ? a : G[c]);
  for (int c = 0; c < m->components && m->shape; c++) {
    const V S = LoadShape(m, g, c);

    for (int i = 0; i < size; i++) G[c][i] = m->cell ? S * a[i] : S;
  }
}

/* y += sum_de D_d^T G_de D_e z + c z */
INLINE void AddCellTerms(const VpMetricView *m, const int n, const Group *g, const V z[], V y[])
{
  const size_t size = (size_t)Power(n);
  V            slope[DIM][VALUES], G[COMPONENTS][VALUES], flux[VALUES];
  const REAL  *from[W];

  LoadMatrices(m, n, g, G);
  for (int d = 0; d < DIM; d++) Differentiate(n, m->slope, Power(n), VpLineStride(d, n, n * n), z, slope[d]);
  for (int d = 0; d < DIM; d++) {
    for (int i = 0; i < Power(n); i++) flux[i] = G[VpMetricEntry(DIM, m->components, d, d)][i] * slope[d][i];
    for (int e = 0; e < DIM && m->components > DIM; e++) {
      const V *entry = G[VpMetricEntry(DIM, m->components, d, e)];

      for (int i = 0; i < Power(n) && e != d; i++) flux[i] += entry[i] * slope[e][i];
    }
    AddAdjoint(n, m->slope, Power(n), VpLineStride(d, n, n * n), flux, y);
  }
  if (!m->mass) return;
  for (int l = 0; l < W; l++) from[l] = m->mass + (size_t)g->at[l] * size;
  LoadCells(Power(n), 0, Power(n), from, NULL, flux);
  for (int i = 0; i < Power(n); i++) y[i] += flux[i] * z[i];
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
  LoadCells(FaceOf(n), 0, FaceOf(n), from, NULL, H[DIM]);
  for (int l = 0; l < FaceOf(n); l++) H[DIM][l] += penalty * H[0][l];
}

/* t = V, then F, of z on a side: 2 n^(dim-1) numbers */
INLINE void TakeTraces(const VpMetricView *m, const int n, int side, SideNumbers H, const V z[], V t[])
{
  const int   size = FaceOf(n), stride = VpLineStride(side / 2, n, n * n);
  const REAL *value = m->end + side % 2 * 2 * n, *slope = value + n;
  V           along[FACE];

  for (int l = 0; l < size; l++) {
    const V *line = z + VpLineStart(n, stride, l);
    V        v = value[0] * line[0], q = slope[0] * line[0];

    UNROLL (int i = 1; i < n; i++) {
      v += value[i] * line[i * stride];
      q += slope[i] * line[i * stride];
    }
    t[l] = v;
    t[size + l] = H[0][l] * q;
  }
  for (int e = 1; e < DIM && m->components > DIM; e++) {
    Differentiate(n, m->slope, size, e == 1 ? 1 : n, t, along);
    for (int l = 0; l < size; l++) t[size + l] += H[e][l] * along[l];
  }
}

/* y += the functions p V + r F of the test functions, for numbers p and r at the side's points. p is overwritten. */
INLINE void AddTests(const VpMetricView *m, const int n, int side, SideNumbers H, V p[], const V r[], V y[])
{
  const int   size = FaceOf(n), stride = VpLineStride(side / 2, n, n * n);
  const REAL *value = m->end + side % 2 * 2 * n, *slope = value + n;
  V           along[FACE];

  for (int e = 1; e < DIM && m->components > DIM; e++) {
    for (int l = 0; l < size; l++) along[l] = H[e][l] * r[l];
    AddAdjoint(n, m->slope, size, e == 1 ? 1 : n, along, p);
  }
  for (int l = 0; l < size; l++) {
    V      *line = y + VpLineStart(n, stride, l);
    const V q = H[0][l] * r[l];

    UNROLL (int i = 0; i < n; i++) line[i * stride] += value[i] * p[l] + slope[i] * q;
  }
}

INLINE void FindTraces(const VpMetricView *m, const int n, int32_t last, const REAL *x)
{
  const int size = 2 * FaceOf(n);

  for (int32_t cell = 0; cell < last; cell += W) {
    Group       g;
    V           z[VALUES], t[2 * FACE];
    SideNumbers H;

    FindCells(m, n, cell, last, &g);
    LoadScaled(m, n, &g, x, z);
    for (int side = 0; side < SIDES; side++) {
      REAL *to[W];

      for (int l = 0; l < W; l++) to[l] = l < g.lanes ? m->traces + ((size_t)g.cell[l] * SIDES + (size_t)side) * (size_t)size : g.spare;
      LoadSideNumbers(m, n, &g, side, H);
      TakeTraces(m, n, side, H, z, t);
      StoreCells(size, t, NULL, NULL, to);
    }
  }
}

/* V and F of the cells beyond a side. A ghost has those of its side that the own cell shares. */
INLINE const REAL *TracesBeyond(const VpView *view, const int n, int32_t cell, int side, const REAL *ghost)
{
  static const REAL nothing[2 * FACE];
  const int32_t     next = view->neighbor[(size_t)cell * SIDES + (size_t)side];

  if (next < 0) return nothing;
  if (next >= view->nown) return ghost + (size_t)(next - view->nown) * (size_t)Power(n);
  return view->metric.traces + ((size_t)next * SIDES + (size_t)(side ^ 1)) * 2 * (size_t)FaceOf(n);
}

/* Adds a side's terms of z to y. The traces of the cells beyond are stored, and the own ones are found faster than they are loaded. */
INLINE void AddSideTerms(const VpView *view, const int n, const Group *g, int side, const REAL *ghost, const V z[], V y[])
{
  const VpMetricView *m = &view->metric;
  const int           size = FaceOf(n);
  V                   own[2 * FACE], other[2 * FACE], p[FACE], r[FACE];
  SideNumbers         H;
  const REAL         *from[W];

  LoadSideNumbers(m, n, g, side, H);
  LoadSigma(m, n, g, side, H);
  TakeTraces(m, n, side, H, z, own);
  for (int l = 0; l < W; l++) from[l] = TracesBeyond(view, n, g->cell[l], side, ghost);
  LoadCells(2 * size, 0, 2 * size, from, NULL, other);
  for (int l = 0; l < size; l++) {
    const V jump = own[l] - other[l];

    p[l] = H[DIM][l] * jump - (own[size + l] - other[size + l]) / 2;
    r[l] = -jump / 2;
  }
  AddTests(m, n, side, H, p, r, y);
}

INLINE void ApplyToCells(const VpView *view, const int n, int32_t first, int32_t last, const REAL *x, const REAL *ghost, const REAL *b,
                         REAL *y)
{
  const VpMetricView *m = &view->metric;

  for (int32_t cell = first; cell < last; cell += W) {
    Group       g;
    V           z[VALUES], sum[VALUES];
    REAL       *to[W];
    const REAL *given[W];

    FindCells(m, n, cell, last, &g);
    LoadScaled(m, n, &g, x, z);
    memset(sum, 0, (size_t)Power(n) * sizeof(V));
    AddCellTerms(m, n, &g, z, sum);
    for (int side = 0; side < SIDES; side++) AddSideTerms(view, n, &g, side, ghost, z, sum);
    Scale(m, n, &g, sum);
    for (int l = 0; l < W; l++) {
      to[l] = l < g.lanes ? y + (size_t)(g.cell[l] - first) * (size_t)Power(n) : g.spare;
      given[l] = b ? b + (size_t)g.cell[l] * (size_t)Power(n) : NULL;
    }
    if (b) {
      LoadCells(Power(n), 0, Power(n), given, NULL, z);
      for (int i = 0; i < Power(n); i++) sum[i] = z[i] - sum[i];
    }
    StoreCells(Power(n), sum, NULL, NULL, to);
  }
}

/* V and F on sides, list[i] = 2 dim cell + side */
INLINE void PackSides(const VpMetricView *m, const int n, int32_t count, const int32_t *list, const REAL *x, REAL *to)
{
  const int size = 2 * FaceOf(n);

  for (int32_t i = 0; i < count; i++, to += size) {
    Group       g;
    V           z[VALUES], t[2 * FACE];
    SideNumbers H;

    FindCells(m, n, list[i] / SIDES, list[i] / SIDES + 1, &g);
    LoadScaled(m, n, &g, x, z);
    LoadSideNumbers(m, n, &g, list[i] % SIDES, H);
    TakeTraces(m, n, list[i] % SIDES, H, z, t);
    for (int l = 0; l < size; l++) to[l] = t[l][0];
  }
}

INLINE void UnpackSides(const int n, int32_t count, const int32_t *list, const REAL *from, REAL *x)
{
  const size_t size = 2 * (size_t)FaceOf(n);

  for (int32_t i = 0; i < count; i++)
    memcpy(x + (size_t)(list[i] / SIDES) * (size_t)Power(n), from + (size_t)i * size, size * sizeof(REAL));
}

INLINE void StoreLane(const VpMetricView *m, const int n, const Group *g, V y[], double *to)
{
  Scale(m, n, g, y);
  for (int i = 0; i < Power(n); i++) to[i] = y[i][0];
}

/* Column `at` of a cell: what this coefficient adds to A x in the cell itself, then in the cell beyond each side. */
INLINE void Column(const VpMetricView *m, const int n, int32_t cell, const int32_t beyond[], int at, double *to)
{
  Group g, other;
  V     z[VALUES] = {{0}}, sum[VALUES] = {{0}};

  FindCells(m, n, cell, cell + 1, &g);
  z[at] += 1;
  Scale(m, n, &g, z);
  AddCellTerms(m, n, &g, z, sum);
  for (int side = 0; side < SIDES; side++) {
    V           t[2 * FACE], p[FACE], r[FACE], there[VALUES] = {{0}};
    SideNumbers H;

    LoadSideNumbers(m, n, &g, side, H);
    LoadSigma(m, n, &g, side, H);
    TakeTraces(m, n, side, H, z, t);
    for (int l = 0; l < FaceOf(n); l++) {
      p[l] = H[DIM][l] * t[l] - t[FaceOf(n) + l] / 2;
      r[l] = -t[l] / 2;
    }
    if (beyond[side] >= 0) {
      V minus[FACE], plus[FACE];

      FindCells(m, n, beyond[side], beyond[side] + 1, &other);
      for (int l = 0; l < FaceOf(n); l++) {
        minus[l] = t[FaceOf(n) + l] / 2 - H[DIM][l] * t[l];
        plus[l] = t[l] / 2;
      }
      SideNumbers of;
      LoadSideNumbers(m, n, &other, side ^ 1, of);
      AddTests(m, n, side ^ 1, of, minus, plus, there);
      StoreLane(m, n, &other, there, to + (1 + side) * Power(n));
    }
    AddTests(m, n, side, H, p, r, sum);
  }
  StoreLane(m, n, &g, sum, to);
}

/* b += sigma V' tests of the values, - V'/2 tests of the fluxes (Dirichlet), or V' tests of the values, where V' are numbers at the points
   of a side of listed cells, times the roots of the points' weights and, of fluxes, m->flux */
INLINE void AddToSide(const VpMetricView *m, const int n, int side, int condition, const VpPlaces *places, const double *given, double *b)
{
  const double *flux = condition ? NULL : m->flux[side] + (size_t)places->first * (size_t)FaceOf(n);

  for (int32_t i = 0; i < places->n; i++, given += FaceOf(n)) {
    Group       g;
    V           p[FACE], r[FACE], y[VALUES] = {{0}};
    SideNumbers H;
    double     *to = b + (size_t)places->list[i] * (size_t)Power(n);

    FindCells(m, n, places->list[i], places->list[i] + 1, &g);
    LoadSideNumbers(m, n, &g, side, H);
    if (condition) LoadSigma(m, n, &g, side, H);
    for (int l = 0; l < FaceOf(n); l++) {
      const V value = given[l] * m->weight[l % n] * (DIM == 3 ? m->weight[l / n] : 1) - (V){0};

      p[l] = condition ? H[DIM][l] * value : value * flux[i * FaceOf(n) + l];
      r[l] = condition ? -value / 2 : value * 0;
    }
    AddTests(m, n, side, H, p, r, y);
    Scale(m, n, &g, y);
    for (int k = 0; k < Power(n); k++) to[k] += y[k][0];
  }
}

#define VP_DEGREE(k) \
  void VP_NAME(MetricTraces, VP_REAL, VP_DIM, k)(const VpView *view, const double *x) \
  { \
    FindTraces(&view->metric, k + 1, view->nown, x); \
  } \
  void VP_NAME(MetricResidual, VP_REAL, VP_DIM, k)(const VpView *view, int32_t first, int32_t last, const void *x, const void *ghost, \
                                                   const void *b, void *y) \
  { \
    ApplyToCells(view, k + 1, first, last, x, ghost, b, y); \
  } \
  void VP_NAME(MetricPack, VP_REAL, VP_DIM, k)(const VpView *view, int32_t n, const int32_t *list, const void *x, void *to) \
  { \
    PackSides(&view->metric, k + 1, n, list, x, to); \
  } \
  void VP_NAME(MetricUnpack, VP_REAL, VP_DIM, k)(int32_t n, const int32_t *list, const void *from, void *x) \
  { \
    UnpackSides(k + 1, n, list, from, x); \
  } \
  VP_KERNEL(Column, k, (const VpMetricView *m, int32_t cell, const int32_t beyond[], int at, double *to), \
            Column(m, k + 1, cell, beyond, at, to)) \
  VP_KERNEL(AddToSide, k, (const VpView *view, int side, PetscBool condition, const VpPlaces *places, const double *given, double *b), \
            AddToSide(&view->metric, k + 1, side, condition, places, given, b))
#include "../degrees.def"
