/* A x with a coefficient at points (VpMetricView), for W cells at a time, one per lane. */
#include "metrichanging.h"

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

/* of the cells [first, last); x begins with the first one */
INLINE void FindTraces(const VpMetricView *m, const int n, int32_t first, int32_t last, const REAL *x)
{
  const int size = 2 * FaceOf(n);

  for (int32_t cell = first; cell < last; cell += W) {
    Group       g;
    V           z[VALUES], t[2 * FACE];
    SideNumbers H;

    FindCells(m, n, cell, last, &g);
    LoadScaled(m, n, &g, x, first, z);
    for (int side = 0; side < SIDES; side++) {
      REAL *to[W];

      for (int l = 0; l < W; l++) to[l] = l < g.lanes ? m->traces + ((size_t)g.cell[l] * SIDES + (size_t)side) * (size_t)size : g.spare;
      LoadSideNumbers(m, n, &g, side, H);
      TakeTraces(m, n, side, H, z, t);
      StoreCells(size, t, NULL, NULL, to);
    }
  }
}

/* V and F of the cells beyond a side, at the points there. Where ghosts are numbered by sides, one has those of its side, packed in the
   order of the own cell's points. */
INLINE const REAL *TracesThere(const VpView *view, const int n, int32_t cell, int side, int turn, const REAL *ghost)
{
  static const REAL   nothing[2 * FACE];
  const VpMetricView *m = &view->metric;
  const int32_t       next = view->neighbor[(size_t)cell * SIDES + (size_t)side];
  const size_t        size = 2 * (size_t)FaceOf(n);

  if (next == VP_HANGING) {
    const int32_t at = VpFaceAt(view->hang.n, view->hang.face, cell, side);

    return view->hang.face[at].kind == VP_FACE_FINE ? m->parted + (size_t)m->first[at] * size : nothing;
  }
  if (next < 0) return nothing;
  if (next >= m->traced) return ghost + (size_t)(next - view->nown) * (size_t)Power(n);
  return m->traces + ((size_t)next * SIDES + (size_t)VpTurnSide(side, turn)) * size;
}

/* the same at the points of the side; turned: memory for them where the cell beyond is turned */
INLINE const REAL *TracesBeyond(const VpView *view, const int n, int32_t cell, int side, const REAL *ghost, REAL turned[2 * FACE])
{
  const int   turn = TurnOf(view, cell, side);
  const REAL *there = TracesThere(view, n, cell, side, turn, ghost);

  if (!turn || view->neighbor[(size_t)cell * SIDES + (size_t)side] >= view->metric.traced) return there;
  TurnTraces(n, turn, there, turned);
  return turned;
}

/* Adds a side's terms of z to y. The traces of the cells beyond are stored, and the own ones are found faster than they are loaded. */
INLINE void AddSideTerms(const VpView *view, const int n, const Group *g, int side, const REAL *ghost, const V z[], V y[])
{
  const VpMetricView *m = &view->metric;
  const int           size = FaceOf(n);
  V                   own[2 * FACE], other[2 * FACE], p[FACE], r[FACE];
  SideNumbers         H;
  const REAL         *from[W];
  REAL                turned[W][2 * FACE];

  for (int l = 0; l < W; l++) from[l] = TracesBeyond(view, n, g->cell[l], side, ghost, turned[l]);
  for (int l = 0; l < W; l++) Fetch(from[l], 2 * size);
  LoadSideNumbers(m, n, g, side, H);
  LoadSigma(m, n, g, side, H);
  TakeTraces(m, n, side, H, z, own);
  LoadCells(2 * size, 0, 2 * size, from, NULL, other);
  FaceForm(n, H[DIM], own, other, p, r);
  AddTests(m, n, side, H, p, r, y);
}

/* Finds the traces that own cells see: own ones, and when ghosts are there, those of ghosts and of coarse cells on fine sides. */
INLINE PetscErrorCode FindAllTraces(const VpView *view, const int n, const REAL *x, VpGhosts ghosts)
{
  Faces f;

  PetscFunctionBegin;
  FindTraces(&view->metric, n, 0, view->nown, x);
  PetscCall(VpArrive(ghosts));
  if (view->metric.traced > view->nown) FindTraces(&view->metric, n, view->nown, view->metric.traced, ghosts.values);
  for (int key = 0; key < KEYS && view->hang.n; key++) {
    for (int32_t at = 0; NextFaces(&view->hang, key, view->nown, &at, &f);) FindPartTraces(view, n, &f, x, ghosts.values);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
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
    LoadScaled(m, n, &g, x, 0, z);
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
  for (int side = 0; side < SIDES && view->hang.n; side++) {
    Faces f;

    for (int32_t at = VpFirstFace(view->hang.n, view->hang.face, first); NextFaces(&view->hang, side * (1 + PARTS), last, &at, &f);)
      AddCoarseSides(view, n, &f, first, b ? -1 : 1, y);
  }
}

/* V and F on sides, list[i] = 2 dim cell + side, in the order of the points of the cells beyond */
INLINE void PackSides(const VpView *view, const int n, int32_t count, const int32_t *list, const REAL *x, REAL *to)
{
  const VpMetricView *m = &view->metric;
  const int           size = FaceOf(n);

  for (int32_t i = 0; i < count; i++, to += 2 * size) {
    const int   turn = TurnOf(view, list[i] / SIDES, list[i] % SIDES);
    Group       g;
    V           z[VALUES], t[2 * FACE];
    SideNumbers H;

    FindCells(m, n, list[i] / SIDES, list[i] / SIDES + 1, &g);
    LoadScaled(m, n, &g, x, 0, z);
    LoadSideNumbers(m, n, &g, list[i] % SIDES, H);
    TakeTraces(m, n, list[i] % SIDES, H, z, t);
    for (int l = 0; l < 2 * size; l++) to[l / size * size + TurnPoint(n, turn, l % size)] = t[l][0];
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

/* what a column adds in the cell beyond a side, for the traces t of the own cell at the points of the side with the numbers H */
INLINE void ColumnBeyond(const VpMetricView *m, const int n, int32_t cell, int side, const V sigma[], SideNumbers H, const V t[], int half,
                         double *to)
{
  static const V nothing[2 * FACE];
  V              p[FACE], r[FACE], whole[2 * FACE] = {{0}}, y[VALUES] = {{0}};
  Group          g;

  FindCells(m, n, cell, cell + 1, &g);
  FaceForm(n, sigma, nothing, t, p, r);
  if (half < 0) AddTests(m, n, side, H, p, r, y);
  else {
    AddPart(m, n, half, H, p, r, whole);
    AddEnds(m, n, side, NULL, whole, whole + FaceOf(n), y);
  }
  StoreLane(m, n, &g, y, to);
}

/* a column's terms on a side that hangs, seen from the coarse cell */
INLINE void ColumnCoarse(const VpView *view, const int n, int32_t at, const int32_t beyond[], const V z[], V sum[], double *to)
{
  static const V      nothing[2 * FACE];
  const VpMetricView *m = &view->metric;
  const int           side = view->hang.face[at].side, turn = view->hang.face[at].turn, there = VpTurnSide(side, turn);
  V                   end[2 * FACE], t[2 * FACE], p[FACE], r[FACE], whole[2 * FACE] = {{0}}, turned[2 * FACE], sigma[FACE];

  TakeEnds(m, n, side, NULL, z, end);
  for (int i = 0; i < PARTS; i++) {
    int32_t     part[W];
    SideNumbers H, of;
    Group       other;

    for (int l = 0; l < W; l++) part[l] = m->first[at] + i;
    LoadPartNumbers(m, n, part, H);
    TakePart(m, n, i, H, end, t);
    FindCells(m, n, beyond[i], beyond[i] + 1, &other);
    LoadSideNumbers(m, n, &other, there, of);
    for (int k = 0; k < 2; k++) TurnPoints(n, turn, t + k * FaceOf(n), turned + k * FaceOf(n));
    TurnPoints(n, turn, H[DIM], sigma);
    ColumnBeyond(m, n, beyond[i], there, sigma, of, turned, -1, to + i * Power(n));
    FaceForm(n, H[DIM], t, nothing, p, r);
    AddPart(m, n, i, H, p, r, whole);
  }
  AddEnds(m, n, side, NULL, whole, whole + FaceOf(n), sum);
}

/* Column `at` of a cell: what this coefficient adds to A x in the cell itself, then in the cells beyond each side. */
INLINE void Column(const VpView *view, const int n, int32_t cell, const int32_t beyond[], int at, double *to)
{
  static const V      nothing[2 * FACE];
  const VpMetricView *m = &view->metric;
  const int           most = VpMostBeyond(DIM, view->hang.n);
  Group               g;
  V                   z[VALUES] = {{0}}, sum[VALUES] = {{0}};

  FindCells(m, n, cell, cell + 1, &g);
  z[at] += 1;
  Scale(m, n, &g, z);
  AddCellTerms(m, n, &g, z, sum);
  for (int side = 0; side < SIDES; side++) {
    const int32_t next = view->neighbor[(size_t)cell * SIDES + (size_t)side], *cells = beyond + side * most;
    const int32_t hangs = next == VP_HANGING ? VpFaceAt(view->hang.n, view->hang.face, cell, side) : -1;
    const VpFace *face = &view->hang.face[PetscMax(hangs, 0)];
    double       *there = to + (1 + side * most) * Power(n);
    const int     turn = TurnOf(view, cell, side);
    V             t[2 * FACE], turned[2 * FACE], sigma[FACE], p[FACE], r[FACE];
    SideNumbers   H, of;
    Group         other;
    int32_t       part[W];

    if (hangs >= 0 && face->kind == VP_FACE_COARSE) {
      ColumnCoarse(view, n, hangs, cells, z, sum, there);
      continue;
    }
    LoadSideNumbers(m, n, &g, side, H);
    LoadSigma(m, n, &g, side, H);
    TakeTraces(m, n, side, H, z, t);
    if (hangs >= 0) {
      for (int l = 0; l < W; l++) part[l] = m->first[hangs];
      LoadPartNumbers(m, n, part, of);
    } else if (cells[0] >= 0) {
      FindCells(m, n, cells[0], cells[0] + 1, &other);
      LoadSideNumbers(m, n, &other, VpTurnSide(side, turn), of);
    }
    for (int k = 0; k < 2; k++) TurnPoints(n, turn, t + k * FaceOf(n), turned + k * FaceOf(n));
    TurnPoints(n, turn, H[DIM], sigma);
    if (cells[0] >= 0) ColumnBeyond(m, n, cells[0], VpTurnSide(side, turn), sigma, of, turned, hangs >= 0 ? face->half : -1, there);
    FaceForm(n, H[DIM], t, nothing, p, r);
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
  PetscErrorCode VP_NAME(MetricTraces, VP_REAL, VP_DIM, k)(const VpView *view, const double *x, VpGhosts ghosts) \
  { \
    return FindAllTraces(view, k + 1, x, ghosts); \
  } \
  void VP_NAME(MetricResidual, VP_REAL, VP_DIM, k)(const VpView *view, int32_t first, int32_t last, const void *x, const void *ghost, \
                                                   const void *b, void *y) \
  { \
    ApplyToCells(view, k + 1, first, last, x, ghost, b, y); \
  } \
  void VP_NAME(MetricPack, VP_REAL, VP_DIM, k)(const VpView *view, int32_t n, const int32_t *list, const void *x, void *to) \
  { \
    PackSides(view, k + 1, n, list, x, to); \
  } \
  void VP_NAME(MetricUnpack, VP_REAL, VP_DIM, k)(int32_t n, const int32_t *list, const void *from, void *x) \
  { \
    UnpackSides(k + 1, n, list, from, x); \
  } \
  VP_KERNEL(Column, k, (const VpView *view, int32_t cell, const int32_t beyond[], int at, double *to), \
            Column(view, k + 1, cell, beyond, at, to)) \
  VP_KERNEL(AddToSide, k, (const VpView *view, int side, PetscBool condition, const VpPlaces *places, const double *given, double *b), \
            AddToSide(&view->metric, k + 1, side, condition, places, given, b))
#include "../degrees.def"
