/* A x with a coefficient at points (VpMetricView), cell by cell. */
#include "metrichanging.h"

/* slope = G slope at the points of a cell. full: G is a full matrix. affine: G = a S, where a NULL stands for 1. Prefetches the numbers of
   the next cell. */
INLINE void TakeFluxes(const VpMetricView *m, const int n, const int single, const int full, const int affine, int32_t at, Cell slope[DIM])
{
  const int    stored = (affine ? 1 : full ? COMPONENTS : DIM) * Power(n), each = stored / CellRows(n);
  const size_t first = (size_t)at * (size_t)stored;
  const REAL  *S = affine ? m->affine + (size_t)at * (size_t)VpMetricAffine(DIM, m->components) : NULL;

  ROLL_CELL (int r = 0; r < CellRows(n); r++) {
    if (!affine || m->cell) FetchNumbers(single, m->cell, first + (size_t)(Later(n) * stored + r * each), each);
    UNROLL (int c = 0; c < Vectors(n); c++) {
      const int i = r * Vectors(n) + c;
      V         s[DIM];

      UNROLL (int d = 0; d < DIM; d++) s[d] = slope[d][i];
      UNROLL (int d = 0; d < DIM; d++) {
        V f = {0};

        UNROLL (int e = 0; e < DIM; e++) {
          const int entry = VpMetricEntry(DIM, full ? COMPONENTS : DIM, d, e);

          if ((full || e == d) && affine) f += S[entry] * s[e];
          else if (full || e == d) f += LoadNumbers(single, m->cell, first + (size_t)(entry * Power(n) + r * n), n, c) * s[e];
        }
        slope[d][i] = affine && m->cell ? LoadNumbers(single, m->cell, first + (size_t)(r * n), n, c) * f : f;
      }
    }
  }
}

INLINE void TakeAllFluxes(const VpMetricView *m, const int n, int32_t at, Cell slope[DIM])
{
  const int single = m->precision == VP_SINGLE, full = IsFull(m), affine = m->affine != NULL;

  if (single && full && !affine) TakeFluxes(m, n, 1, 1, 0, at, slope);
  else if (single && full) TakeFluxes(m, n, 1, 1, 1, at, slope);
  else if (single && !affine) TakeFluxes(m, n, 1, 0, 0, at, slope);
  else if (single) TakeFluxes(m, n, 1, 0, 1, at, slope);
  else if (full && !affine) TakeFluxes(m, n, 0, 1, 0, at, slope);
  else if (full) TakeFluxes(m, n, 0, 1, 1, at, slope);
  else if (!affine) TakeFluxes(m, n, 0, 0, 0, at, slope);
  else TakeFluxes(m, n, 0, 0, 1, at, slope);
}

/* y = sum_de D_d^T G_de D_e z + c z */
INLINE void TakeCellTerms(const VpMetricView *m, const Tables *T, const int n, int32_t at, const V z[], V y[])
{
  const REAL *mass = m->mass ? m->mass + (size_t)at * (size_t)Power(n) : NULL;
  Cell        slope[DIM];

  UNROLL (int d = 0; d < DIM; d++) Contract(n, CellRows(n), d, 0, 0, &T->slope, z, slope[d]);
  TakeAllFluxes(m, n, at, slope);
  UNROLL (int d = 0; d < DIM; d++) Contract(n, CellRows(n), d, 1, d > 0, &T->slope, slope[d], y);
  if (!mass) return;
  ROLL_CELL (int r = 0; r < CellRows(n); r++) {
    UNROLL (int c = 0; c < Vectors(n); c++) y[r * Vectors(n) + c] += LoadRow(mass + r * n, n, c) * z[r * Vectors(n) + c];
  }
}

/* the traces of the cells [first, last); x and traces begin with the first one */
INLINE void FindTraces(const VpMetricView *m, const Tables *T, const int n, int32_t first, int32_t last, const REAL *x, REAL *traces)
{
  for (int32_t cell = first; cell < last; cell++) {
    const int32_t at = NumberOf(m, cell);
    Cell          z;
    Traces        end[SIDES];
    SideNumbers   s;

    FetchSides(m, NumberOf(m, cell + Later(n)), 0, SIDES);
    LoadScaled(m, n, at, x + (size_t)(cell - first) * (size_t)Power(n), z);
    UNROLL (int d = 0; d < DIM; d++) TakeEnds(T, n, d, 0, 2, z, end + 2 * d);
    ROLL_CELL (int side = SIDES - 1; side >= 0; side--) { /* Those of x, whose numbers were stored one by one, come last. */
      FindSideNumbers(m, n, at, side, &s);
      TakeFlux(T, n, IsFull(m), &s, end[side]);
      StoreTraces(n, end[side], traces + ((size_t)(cell - first) * SIDES + (size_t)side) * 2 * (size_t)FaceOf(n));
    }
  }
}

/* t = V and F of own cell `cell` on one side */
INLINE void FindSideTraces(const VpMetricView *m, const Tables *T, const int n, int32_t cell, int side, const REAL *x, Traces t)
{
  Cell        z;
  SideNumbers s;

  LoadScaled(m, n, NumberOf(m, cell), x + (size_t)cell * (size_t)Power(n), z);
  FindSideNumbers(m, n, NumberOf(m, cell), side, &s);
  TakeEnd(T, n, side, z, t);
  TakeFlux(T, n, IsFull(m), &s, t);
}

/* A x on the cells [first, last), whose traces are in the view. Those of other own cells are found when they are needed: on the whole mesh
   they would not stay in a cache until the cells beyond read them. */
typedef struct {
  const VpView *view;
  const Tables *T;
  const REAL   *x, *ghost;
  int32_t       first, last;
} Piece;

/* whether the view has the traces of all cells */
INLINE int HasAllTraces(const VpMetricView *m)
{
  return m->traced > 0;
}

/* V and F of the cells beyond a side at the points there; made: memory for those that are not stored. Where ghosts are numbered by sides,
   one has those of its side, packed in the order of the own cell's points. */
INLINE const REAL *TracesThere(const Piece *piece, const int n, int32_t cell, int side, int turn, REAL made[2 * FACE])
{
  static const REAL   nothing[2 * FACE];
  const VpView       *view = piece->view;
  const VpMetricView *m = &view->metric;
  const int32_t       next = view->neighbor[(size_t)cell * SIDES + (size_t)side];
  const size_t        size = 2 * (size_t)FaceOf(n);
  Traces              t;

  if (next == VP_HANGING) {
    const int32_t at = VpFaceAt(view->hang.n, view->hang.face, cell, side);

    return view->hang.face[at].kind == VP_FACE_FINE ? m->parted + (size_t)m->first[at] * size : nothing;
  }
  if (next < 0) return nothing;
  if (next >= piece->first && next < piece->last)
    return m->traces + ((size_t)(next - piece->first) * SIDES + (size_t)VpTurnSide(side, turn)) * size;
  if (next >= view->nown) return piece->ghost + (size_t)(next - view->nown) * (size_t)Power(n);
  FindSideTraces(m, piece->T, n, next, VpTurnSide(side, turn), piece->x, t);
  StoreTraces(n, t, made);
  return made;
}

/* the same at the points of the side. memory: for those that are not stored in this order */
INLINE const REAL *TracesBeyond(const Piece *piece, const int n, int32_t cell, int side, REAL memory[2][2 * FACE])
{
  const VpView *view = piece->view;
  const int     turn = TurnOf(view, cell, side);
  const REAL   *there = TracesThere(piece, n, cell, side, turn, memory[0]);

  if (!turn || (view->neighbor[(size_t)cell * SIDES + (size_t)side] >= view->nown && !HasAllTraces(&view->metric))) return there;
  TurnTraces(n, turn, there, memory[1]);
  return memory[1];
}

/* y += p V + r F of the test functions on a side, for numbers p and r at its points, which are overwritten */
INLINE void AddTests(const Tables *T, const int n, const int full, const int side, const SideNumbers *s, V p[], V r[], V y[])
{
  TakeFluxAdjoint(T, n, full, s, p, r);
  AddEnd(T, n, side, p, r, y);
}

/* Adds the terms of both sides in direction d to y. at: as in the metric's arrays */
INLINE void AddSideTerms(const Piece *piece, const int n, int32_t cell, int32_t at, const int d, V y[])
{
  const VpMetricView *m = &piece->view->metric;
  Side                p[2], r[2];

  ROLL (int e = 0; e < 2; e++) {
    const int   side = 2 * d + e;
    const REAL *own = m->traces + ((size_t)(cell - piece->first) * SIDES + (size_t)side) * 2 * (size_t)FaceOf(n);
    REAL        memory[2][2 * FACE];
    SideNumbers s;

    FindSideNumbers(m, n, at, side, &s);
    SideForm(n, &s, own, TracesBeyond(piece, n, cell, side, memory), p[e], r[e]);
    TakeFluxAdjoint(piece->T, n, IsFull(m), &s, p[e], r[e]);
  }
  AddEnds(piece->T, n, d, 0, 2, p, r, y);
}

/* Finds all traces, those of ghosts and of coarse cells on fine sides too, where the view has memory for them. */
INLINE PetscErrorCode FindAllTraces(const VpView *view, const int n, const REAL *x, VpGhosts ghosts)
{
  const VpMetricView *m = &view->metric;
  const VpHangView   *hang = &view->hang;
  const size_t        size = SIDES * 2 * (size_t)FaceOf(n);
  Tables              T;

  PetscFunctionBegin;
  if (!HasAllTraces(m)) PetscFunctionReturn(PETSC_SUCCESS);
  FindTables(m, n, &T);
  FindTraces(m, &T, n, 0, view->nown, x, m->traces);
  PetscCall(VpArrive(ghosts));
  FindTraces(m, &T, n, view->nown, m->traced, ghosts.values, m->traces + (size_t)view->nown * size);
  for (int32_t at = 0; at < hang->n && hang->face[at].cell[0] < view->nown; at++) FindPartTraces(view, &T, n, at, x, ghosts.values);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v = the numbers of a cell - v */
INLINE void SubtractFrom(const int n, const REAL *cell, V v[])
{
  ROLL_CELL (int r = 0; r < CellRows(n); r++) {
    UNROLL (int c = 0; c < Vectors(n); c++) v[r * Vectors(n) + c] = LoadRow(cell + r * n, n, c) - v[r * Vectors(n) + c];
  }
}

/* Prefetches what makes the traces of own cells beyond a piece that are beside a cell. */
INLINE void FetchBeyond(const Piece *piece, const int n, int32_t cell)
{
  const VpMetricView *m = &piece->view->metric;

  for (int side = 0; side < SIDES; side++) {
    const int32_t next = piece->view->neighbor[(size_t)cell * SIDES + (size_t)side];

    if (next >= 0 && next < piece->view->nown && (next < piece->first || next >= piece->last)) {
      Fetch(piece->x + (size_t)next * (size_t)Power(n), Power(n));
      if (m->factor) FetchNumbers(m->precision == VP_SINGLE, m->factor, (size_t)NumberOf(m, next) * (size_t)Power(n), Power(n));
      FetchSides(m, NumberOf(m, next), VpTurnSide(side, TurnOf(piece->view, cell, side)), 1);
    }
  }
}

/* y = A x, or b - A x, on the cells [first, last) of a piece; y begins with cell `first` */
INLINE void ApplyToPiece(const Piece *piece, const int n, int32_t first, int32_t last, const REAL *b, REAL *y)
{
  const VpMetricView *m = &piece->view->metric;
  Cell                z, sum;

  for (int32_t cell = first; cell < last; cell++) {
    const int32_t at = NumberOf(m, cell);
    const size_t  own = (size_t)cell * (size_t)Power(n);

    FetchSides(m, NumberOf(m, cell + Later(n)), 0, SIDES);
    Fetch(m->beyond + (size_t)NumberOf(m, cell + Later(n)) * (size_t)(SIDES * FaceOf(n)), SIDES * FaceOf(n));
    if (!HasAllTraces(m)) FetchBeyond(piece, n, PetscMin(cell + 1, last - 1));
    LoadScaled(m, n, at, piece->x + own, z);
    TakeCellTerms(m, piece->T, n, at, z, sum);
    UNROLL (int d = 0; d < DIM; d++) AddSideTerms(piece, n, cell, at, d, sum);
    Scale(m, n, at, sum);
    if (b) SubtractFrom(n, b + own, sum);
    StoreRows(n, CellRows(n), sum, y + (size_t)(cell - first) * (size_t)Power(n));
  }
}

/* x and b begin with cell 0, y with cell `first` */
INLINE void ApplyToCells(const VpView *view, const int n, int32_t first, int32_t last, const REAL *x, const REAL *ghost, const REAL *b,
                         REAL *y)
{
  const VpMetricView *m = &view->metric;
  const VpHangView   *hang = &view->hang;
  const size_t        N = (size_t)Power(n);
  const int32_t       most = VpTracedAtOnce(DIM, n);
  Tables              T;
  Piece               piece = {.view = view, .T = &T, .x = x, .ghost = ghost, .last = m->traced};

  FindTables(m, n, &T);
  for (int32_t from = first, to = last; from < last; from = to, to = last) {
    if (!HasAllTraces(m)) { /* Aligned pieces are cubes, which have the fewest sides. */
      to = PetscMin(last, from + most - (int32_t)((view->position + from) % most));
      piece.first = from;
      piece.last = to;
      FindTraces(m, &T, n, from, to, x + (size_t)from * N, m->traces);
    }
    ApplyToPiece(&piece, n, from, to, b, y + (size_t)(from - first) * N);
  }
  for (int32_t at = VpFirstFace(hang->n, hang->face, first); at < hang->n && hang->face[at].cell[0] < last; at++) {
    if (hang->face[at].kind == VP_FACE_COARSE) AddCoarseSide(view, &T, n, at, first, b ? -1 : 1, y);
  }
}

/* V and F on sides, list[i] = 2 dim cell + side, in the order of the points of the cells beyond */
INLINE void PackSides(const VpView *view, const int n, int32_t count, const int32_t *list, const REAL *x, REAL *to)
{
  const VpMetricView *m = &view->metric;
  const size_t        size = 2 * (size_t)FaceOf(n);
  Tables              T;

  FindTables(m, n, &T);
  for (int32_t i = 0; i < count; i++) {
    const int32_t cell = list[i] / SIDES, side = list[i] % SIDES;
    Traces        t;

    FindSideTraces(m, &T, n, cell, side, x, t);
    if (TurnOf(view, cell, side)) {
      for (int k = 0; k < 2; k++) TurnPoints(n, TurnOf(view, cell, side), t[k], t[k]);
    }
    StoreTraces(n, t, to + (size_t)i * size);
  }
}

INLINE void UnpackSides(const int n, int32_t count, const int32_t *list, const REAL *from, REAL *x)
{
  const size_t size = 2 * (size_t)FaceOf(n);

  for (int32_t i = 0; i < count; i++)
    memcpy(x + (size_t)(list[i] / SIDES) * (size_t)Power(n), from + (size_t)i * size, size * sizeof(REAL));
}

INLINE void StoreScaled(const VpMetricView *m, const int n, int32_t cell, V y[], double *to)
{
  Scale(m, n, NumberOf(m, cell), y);
  StoreRows(n, CellRows(n), y, to);
}

/* A column of the matrix: the cell's side, and what has the column's traces there */
typedef struct {
  const VpView *view;
  const Tables *T;
  int32_t       cell;
} Column;

/* what a column adds in a cell beyond the side `side` of that cell, for the traces t of the column's cell at the points of the side, half
   `half` of it, with the numbers s */
INLINE void ColumnBeyond(const Column *of, const int n, int32_t cell, int side, const V sigma[], const SideNumbers *s, Traces t, int half,
                         double *to)
{
  static Traces       nothing;
  const VpMetricView *m = &of->view->metric;
  Side                p, r;
  Traces              whole = {{{0}}};
  Cell                y = {{0}};

  FaceForm(n, sigma, nothing, t, p, r);
  if (half < 0) AddTests(of->T, n, IsFull(m), side, s, p, r, y);
  else {
    AddPart(of->T, n, IsFull(m), half, s, p, r, whole);
    AddEnd(of->T, n, side, whole[0], whole[1], y);
  }
  StoreScaled(m, n, cell, y, to);
}

/* a column's terms on a side that hangs, seen from the coarse cell */
INLINE void ColumnCoarse(const Column *of, const int n, int32_t at, const int32_t beyond[], const V z[], V sum[], double *to)
{
  static Traces       nothing;
  const VpMetricView *m = &of->view->metric;
  const VpFace       *face = &of->view->hang.face[at];
  const int           side = face->side, there = VpTurnSide(side, face->turn);
  Traces              end, t, turned, whole = {{{0}}};
  Side                p, r, sigma, turnedsigma;

  TakeEnd(of->T, n, side, z, end);
  for (int i = 0; i < PARTS; i++) {
    SideNumbers s, other;

    FindPartNumbers(m, n, m->first[at] + i, &s);
    FindSigma(n, &s, sigma);
    TakePart(of->T, n, IsFull(m), i, &s, end, t);
    FindSideNumbers(m, n, NumberOf(m, beyond[i]), there, &other);
    for (int k = 0; k < 2; k++) TurnPoints(n, face->turn, t[k], turned[k]);
    TurnPoints(n, face->turn, sigma, turnedsigma);
    ColumnBeyond(of, n, beyond[i], there, turnedsigma, &other, turned, -1, to + i * Power(n));
    FaceForm(n, sigma, t, nothing, p, r);
    AddPart(of->T, n, IsFull(m), i, &s, p, r, whole);
  }
  AddEnd(of->T, n, side, whole[0], whole[1], sum);
}

/* a column's terms on another side; hangs: number of that side, where it is the fine cell's, or -1 */
INLINE void ColumnSide(const Column *of, const int n, int side, int32_t hangs, int32_t beyond, const V z[], V sum[], double *to)
{
  static Traces       nothing;
  const VpMetricView *m = &of->view->metric;
  const int           turn = TurnOf(of->view, of->cell, side), there = VpTurnSide(side, turn);
  Traces              end, turned;
  Side                p, r, sigma, turnedsigma;
  SideNumbers         s, other;

  FindSideNumbers(m, n, NumberOf(m, of->cell), side, &s);
  FindSigma(n, &s, sigma);
  TakeEnd(of->T, n, side, z, end);
  TakeFlux(of->T, n, IsFull(m), &s, end);
  if (hangs >= 0) FindPartNumbers(m, n, m->first[hangs], &other);
  else if (beyond >= 0) FindSideNumbers(m, n, NumberOf(m, beyond), there, &other);
  for (int k = 0; k < 2; k++) TurnPoints(n, turn, end[k], turned[k]);
  TurnPoints(n, turn, sigma, turnedsigma);
  if (beyond >= 0) ColumnBeyond(of, n, beyond, there, turnedsigma, &other, turned, hangs >= 0 ? of->view->hang.face[hangs].half : -1, to);
  FaceForm(n, sigma, end, nothing, p, r);
  AddTests(of->T, n, IsFull(m), side, &s, p, r, sum);
}

/* Column `at` of a cell: what this coefficient adds to A x in the cell itself, then in the cells beyond each side. */
INLINE void FindColumn(const VpView *view, const int n, int32_t cell, const int32_t beyond[], int at, double *to)
{
  const VpMetricView *m = &view->metric;
  const int           most = VpMostBeyond(DIM, view->hang.n);
  Tables              T;
  const Column        of = {view, &T, cell};
  Cell                z = {{0}}, sum;

  FindTables(m, n, &T);
  ((REAL *)z)[LaneOf(n, at)] = 1;
  Scale(m, n, NumberOf(m, cell), z);
  TakeCellTerms(m, &T, n, NumberOf(m, cell), z, sum);
  for (int side = 0; side < SIDES; side++) {
    const int32_t next = view->neighbor[(size_t)cell * SIDES + (size_t)side], *cells = beyond + side * most;
    const int32_t hangs = next == VP_HANGING ? VpFaceAt(view->hang.n, view->hang.face, cell, side) : -1;
    double       *there = to + (1 + side * most) * Power(n);

    if (hangs >= 0 && view->hang.face[hangs].kind == VP_FACE_COARSE) ColumnCoarse(&of, n, hangs, cells, z, sum, there);
    else ColumnSide(&of, n, side, hangs, cells[0], z, sum, there);
  }
  StoreScaled(m, n, cell, sum, to);
}

/* b += sigma V' tests of the values, - V'/2 tests of the fluxes (Dirichlet), or V' tests of the values, where V' are numbers at the points
   of a side of listed cells, times the roots of the points' weights and, of fluxes, m->flux */
INLINE void AddToSide(const VpMetricView *m, const int n, int side, int condition, const VpPlaces *places, const double *given, double *b)
{
  const double *flux = condition ? NULL : m->flux[side] + (size_t)places->first * (size_t)FaceOf(n);
  Tables        T;

  FindTables(m, n, &T);
  for (int32_t i = 0; i < places->n; i++, given += FaceOf(n)) {
    double     *to = b + (size_t)places->list[i] * (size_t)Power(n);
    REAL        by[2][FACE] = {{0}};
    Side        p, r;
    Cell        y = {{0}}, old;
    SideNumbers s;

    FindSideNumbers(m, n, NumberOf(m, places->list[i]), side, &s);
    for (int l = 0; l < FaceOf(n); l++) {
      const REAL value = given[l] * m->weight[l % n] * (DIM == 3 ? m->weight[l / n] : 1);

      by[0][l] = condition ? (s.beyond[l] + s.penalty * s.H[0][l]) * value : value * flux[i * FaceOf(n) + l];
      by[1][l] = condition ? -value / 2 : 0;
    }
    LoadRows(n, SideRows(n), by[0], p);
    LoadRows(n, SideRows(n), by[1], r);
    AddTests(&T, n, IsFull(m), side, &s, p, r, y);
    Scale(m, n, NumberOf(m, places->list[i]), y);
    LoadRows(n, CellRows(n), to, old);
    for (int k = 0; k < CellRows(n) * Vectors(n); k++) y[k] += old[k];
    StoreRows(n, CellRows(n), y, to);
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
            FindColumn(view, k + 1, cell, beyond, at, to)) \
  VP_KERNEL(AddToSide, k, (const VpView *view, int side, PetscBool condition, const VpPlaces *places, const double *given, double *b), \
            AddToSide(&view->metric, k + 1, side, condition, places, given, b))
#ifndef VP_ONLY_SMALL
  #define VP_ONLY_LARGE
#endif
#include "../degrees.def"
