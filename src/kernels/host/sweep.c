/* Sweeps one colour, W patches at a time, one per lane. A patch is an array [m]^dim of lanes, m = 2 n, x fastest. */
#include "invert.h"
#include "ownpatch.h"

#define CELL(n) ((n) * (n) * (DIM == 3 ? (n) : 1))

enum { CORNERS = 1 << DIM, AHEAD = 512 /* most bytes of a cell that is prefetched */ };

typedef struct {
  const VpView      *view;
  const VpPatchView *patches;
  VpResidualMode     mode;
  unsigned           done;
  const REAL        *b;
  REAL              *x[2];
  int                at[CORNERS][VALUES]; /* index in the patch of value i of the cell at position p */
  REAL              *turned;              /* [W][n^dim] values in the directions of others, scratch */
  XColumns           X[2];                /* last made for lower and for upper cells of patches along x */
  UnitLines          unit;                /* if the view has them */
  V                 *own;                 /* [m]^dim values of patches, scratch */
} Sweep;

INLINE int BufferNumber(const Sweep *s, int32_t cell)
{
  return __builtin_popcount(s->patches->cover[cell] & s->done) & 1;
}

INLINE REAL *CurrentValues(const Sweep *s, const int n, int32_t cell)
{
  return s->x[BufferNumber(s, cell)] + (size_t)cell * (size_t)Power(n);
}

INLINE REAL *NextValues(const Sweep *s, const int n, int32_t cell)
{
  return s->x[!BufferNumber(s, cell)] + (size_t)cell * (size_t)Power(n);
}

INLINE int32_t Neighbor(const Sweep *s, int32_t cell, int side)
{
  return s->view->neighbor[(size_t)cell * 2 * DIM + (size_t)side];
}

/* r = b - A x on the cell at position p of its patch. VP_MODE_LOCAL drops the faces between patches. */
INLINE void CellResidual(Sweep *s, const int n, int32_t cell, int p, REAL *r)
{
  const int     nt = VpThinLayers(n, DIM);
  const VpView *view = s->view;
  const REAL   *beyond[2 * DIM], *line[DIM];
  REAL          turned[2 * DIM][VALUES];

  for (int d = 0; d < DIM; d++) {
    const int     outer = p >> d & 1;
    const int32_t entry = view->line[(size_t)cell * DIM + (size_t)d];

    for (int side = 0; side < 2; side++) {
      const int32_t c = Neighbor(s, cell, 2 * d + side);
      const int     absent = c < 0 || (s->mode == VP_MODE_LOCAL && side == outer);
      beyond[2 * d + side] = absent ? zero_cell : ValuesBeyond(view, n, cell, 2 * d + side, CurrentValues(s, n, c), turned[2 * d + side]);
    }
    if (s->mode == VP_MODE_LOCAL && Neighbor(s, cell, 2 * d + outer) >= 0) line[d] = Line(s->patches->drop, n, 2 * entry + outer);
    else line[d] = Line(view->lines, n, entry);
  }
  Prepare(view, n, nt, line, &s->X[p & 1]);
  CellApply(view, n, nt, CurrentValues(s, n, cell), beyond, &s->X[p & 1], s->b + (size_t)cell * (size_t)Power(n), r, NULL);
}

/* whether the level ends beyond this side of a cell of patch j, although the patch's tables have a cell there */
INLINE int EndsAt(const Sweep *s, int32_t j, int32_t cell, int side)
{
  return s->patches->replaceable && VpPatchEndsAt(s->patches->replaceable[j], side) && Neighbor(s, cell, side) == VP_LEVEL_END;
}

/* v -= what cells beyond the patch's side along d add to the cells at position p. u [n^dim]: scratch */
INLINE void SubtractBeyond(const Sweep *s, const int n, const int32_t j[W], const int32_t cell[W], int p, int d, V u[], V v[])
{
  const VpView *view = s->view;
  const int     side = 2 * d + (p >> d & 1), m = 2 * n, stride = VpLineStride(d, m, m * m), nt = view->nt;
  Halo          halo = HaloOf(view, n, side, cell);
  int           any = 0, ends = 0;

  for (int l = 0; l < W; l++) {
    const int32_t c = Neighbor(s, cell[l], side);
    halo.beyond[l] = c < 0 ? zero_cell : ValuesBeyond(view, n, cell[l], side, CurrentValues(s, n, c), s->turned + l * Power(n));
    any |= c >= 0;
    ends |= EndsAt(s, j[l], cell[l], side);
  }
  if (any) SubtractHalo(view, n, &halo, s->at[p], stride, u, v);
  if (!ends) return;

  /* At the level's end the cell's own traces, multiplied by B, act like those of a cell beyond. */
  const double *B = view->ending;
  const REAL   *value = Trace(view, nt, side % 2, 0), *slope = value + nt;
  REAL          trace[2 * VP_MAX_N];

  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < nt; i++) trace[k * nt + i] = (REAL)B[2 * k] * value[i] + (REAL)B[2 * k + 1] * slope[i];
  }
  halo.from = side;
  halo.trace = trace;
  for (int l = 0; l < W; l++) {
    halo.line[l] = Line(view->lines, n, view->common.inside[d]);
    halo.beyond[l] = EndsAt(s, j[l], cell[l], side) ? CurrentValues(s, n, cell[l]) : zero_cell;
  }
  SubtractHalo(view, n, &halo, s->at[p], stride, u, v);
}

/* whether cells of patches j[0..W) have other directions than their patch */
INLINE int AreTurned(const Sweep *s, const int32_t j[W])
{
  int turned = 0;

  for (int l = 0; s->patches->frame && l < W; l++)
    for (int p = 0; p < CORNERS; p++) turned |= s->patches->frame[(size_t)j[l] * CORNERS + (size_t)p];
  return turned;
}

/* the mode that patches j[0..W) take */
INLINE VpResidualMode ModeOf(const Sweep *s, const int32_t j[W], int turned)
{
  int                  bits = s->patches->replaceable != NULL;
  const VpResidualMode mode = turned && s->mode == VP_MODE_REPLACE ? VP_MODE_CORRECT : s->mode;

  for (int l = 0; bits && l < W; l++) bits = s->patches->replaceable[j[l]];
  return turned ? mode : VpPatchMode(mode, (uint8_t)bits);
}

/* Replaces the values b of cells at position p of patches j[0..W) by those along the patches' axes. */
INLINE void TurnCells(const Sweep *s, const int n, const int32_t j[W], int p, const REAL *b[W])
{
  for (int l = 0; l < W; l++) {
    const int frame = s->patches->frame[(size_t)j[l] * CORNERS + (size_t)p];

    if (!frame) continue;
    TurnValues(n, s->view->nt, frame, 0, b[l], s->turned + l * Power(n));
    b[l] = s->turned + l * Power(n);
  }
}

/* Adds corrections of cells at position p to old values, in the directions of the cells: x = old + v. r [W][n^dim]: scratch */
INLINE void StoreTurned(const Sweep *s, const int n, const int32_t j[W], int p, const V v[], const REAL *const old[W], REAL *const x[W],
                        REAL r[])
{
  const int N = Power(n);
  REAL     *to[W];

  for (int l = 0; l < W; l++) to[l] = s->turned + l * N;
  StoreCells(N, v, s->at[p], NULL, to);
  for (int l = 0; l < W; l++) {
    TurnValues(n, s->view->nt, s->patches->frame[(size_t)j[l] * CORNERS + (size_t)p], 1, to[l], r);
    for (int i = 0; i < N; i++) x[l][i] = old[l][i] + r[i];
  }
}

/* Finds the lines along d through the cells at position p of W patches, which are lower ones, and those above. u [n^dim]: scratch */
INLINE void FindOwnLines(const Sweep *s, const int n, int32_t cell[CORNERS][W], int p, int d, V u[], OwnLines *own)
{
  REAL a[2][W], H[3][W], outside[2][4][W] = {{{0}}};

  for (int side = 0; side < 2; side++) {
    const REAL *beyond[W];

    for (int l = 0; l < W; l++) {
      const int32_t here = cell[p | side << d][l], c = Neighbor(s, here, 2 * d + side);

      a[side][l] = H[2 * side][l] = CoefficientOf(s->view, here, d);
      beyond[l] = zero_cell;
      if (c < 0) {
        for (int i = 0; i < 4; i++) outside[side][i][l] = (REAL)s->view->outside[d][side][i];
      } else if (s->mode == VP_MODE_LOCAL) H[2 * side][l] = 0;
      else {
        H[2 * side][l] = HarmonicMean(a[side][l], CoefficientOf(s->view, c, d));
        beyond[l] = CurrentValues(s, n, c);
      }
    }
    FindBeyond(s->view, n, d, side, beyond, u, own);
    own->a[side] = Load(a[side]);
    for (int i = 0; i < 4; i++) own->outside[side][i] = Load(outside[side][i]);
  }
  for (int l = 0; l < W; l++) H[1][l] = HarmonicMean(a[0][l], a[1][l]);
  for (int i = 0; i < 3; i++) own->H[i] = Load(H[i]);
}

/* whether W patches can compute A x together: cells have one size, no cell is turned, and beyond them are cells, or boundaries with the
   condition that the sides of their direction have in `outside` */
INLINE int HaveUnit(const Sweep *s, int32_t cell[CORNERS][W])
{
  int differs = !s->view->unit || s->view->turn;

  for (int p = 0; p < CORNERS && !differs; p++) {
    for (int d = 0; d < DIM; d++) {
      const int side = 2 * d + (p >> d & 1);

      for (int l = 0; l < W; l++) {
        const int32_t c = Neighbor(s, cell[p][l], side);

        differs |= c < 0 && c != VpBoundaryAt(side);
      }
    }
  }
  return !differs;
}

/* v -= A x on W patches. u [n^dim]: scratch */
INLINE void SubtractOwn(Sweep *s, const int n, int32_t cell[CORNERS][W], V u[], V v[])
{
  const REAL reaction = (REAL)s->view->reaction;

  for (int p = 0; p < CORNERS; p++) {
    const REAL *x[W];

    for (int l = 0; l < W; l++) x[l] = CurrentValues(s, n, cell[p][l]);
    LoadCells(Power(n), 0, Power(n), x, s->at[p], s->own);
  }
  for (int d = 0; d < DIM; d++) {
    for (int p = 0; p < CORNERS; p++) {
      OwnLines own;

      if (p >> d & 1) continue;
      FindOwnLines(s, n, cell, p, d, u, &own);
      SubtractLines(s->view, n, &s->unit, &own, d, s->at[p], s->own, v);
    }
  }
  for (int i = 0; reaction > 0 && i < Power(2 * n); i++) v[i] -= reaction * s->own[i];
}

/* Lists what patches j[0..W) read and write, to prefetch it. Longer cells need no prefetch, and would not fit into the cache next to the
   patches at work. */
INLINE void ListAhead(const Sweep *s, const int n, const int32_t j[W], Ahead *ahead)
{
  ahead->next = ahead->count = 0;
  if (Power(n) * sizeof(REAL) > AHEAD) return;
  for (int p = 0; p < CORNERS; p++) {
    for (int l = 0; l < W; l++) {
      const int32_t cell = s->patches->patch[(size_t)j[l] * CORNERS + (size_t)p];

      ahead->cell[ahead->count++] = s->b + (size_t)cell * (size_t)Power(n);
      ahead->cell[ahead->count++] = NextValues(s, n, cell);
      for (int d = 0; d < DIM; d++) {
        const int32_t c = Neighbor(s, cell, 2 * d + (p >> d & 1));
        if (c >= 0) ahead->cell[ahead->count++] = CurrentValues(s, n, c);
      }
    }
  }
}

/* Solves on patches j[0..W). next[0..W): the patches that follow; scratch: u [n]^dim, v [m]^dim, r [W][n]^dim */
INLINE void SolvePatches(Sweep *s, const int n, const int32_t j[W], const int32_t next[W], Solver *solver, V u[], V v[], REAL r[])
{
  const int            turned = AreTurned(s, j);
  const VpResidualMode mode = ModeOf(s, j, turned);
  const int            N = Power(n), residual = mode == VP_MODE_CORRECT || mode == VP_MODE_LOCAL;
  int32_t              cell[CORNERS][W];
  Ahead                ahead;

  for (int p = 0; p < CORNERS; p++) {
    for (int l = 0; l < W; l++) cell[p][l] = s->patches->patch[(size_t)j[l] * CORNERS + (size_t)p];
  }
  const int own = residual && HaveUnit(s, cell);
  for (int p = 0; p < CORNERS; p++) {
    const REAL *b[W];

    for (int l = 0; l < W; l++) {
      b[l] = s->b + (size_t)cell[p][l] * (size_t)N;
      if (!residual || own) continue;
      b[l] = r + l * N;
      CellResidual(s, n, cell[p][l], p, r + l * N);
    }
    if (turned) TurnCells(s, n, j, p, b);
    LoadCells(N, 0, N, b, s->at[p], v);
    for (int d = 0; d < DIM && mode == VP_MODE_REPLACE; d++) SubtractBeyond(s, n, j, cell[p], p, d, u, v);
  }
  if (own) SubtractOwn(s, n, cell, u, v);
  ListAhead(s, n, next, &ahead);
  InvertPatches(s->patches, n, j, solver, &ahead, v);
  for (int p = 0; p < CORNERS; p++) {
    const REAL *old[W];
    REAL       *x[W];

    for (int l = 0; l < W; l++) {
      old[l] = CurrentValues(s, n, cell[p][l]);
      x[l] = NextValues(s, n, cell[p][l]);
    }
    if (turned) StoreTurned(s, n, j, p, v, old, x, r);
    else StoreCells(N, v, s->at[p], mode == VP_MODE_REPLACE ? NULL : old, x);
  }
}

INLINE PetscErrorCode SweepColor(Sweep *s, const int n, int32_t first, int32_t last, Solver *solver, V u[], V v[], REAL r[])
{
  const int m = 2 * n;

  PetscFunctionBegin;
  PetscCall(CheckTraces(s->view, n, 0));
  if (s->view->unit) FindUnitLines(s->view, n, &s->unit);
  for (int p = 0; p < CORNERS; p++) {
    for (int i = 0; i < Power(n); i++) {
      const int ix = i % n + (p & 1) * n, iy = i / n % n + (p >> 1 & 1) * n, iz = i / (n * n) + (p >> 2) * n;
      s->at[p][i] = (iz * m + iy) * m + ix;
    }
  }
  for (int32_t j = first; j < last; j += W) {
    int32_t patch[W], next[W];

    for (int l = 0; l < W; l++) {
      patch[l] = PetscMin(j + l, last - 1); /* lanes left over repeat the last patch */
      next[l] = PetscMin(j + W + l, last - 1);
    }
    SolvePatches(s, n, patch, next, solver, u, v, r);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

INLINE void SettleCells(const VpPatchView *patches, const int n, int32_t count, unsigned done, void *const x[2])
{
  const Sweep s = {.patches = patches, .done = done, .x = {x[0], x[1]}};

  for (int32_t cell = 0; cell < count; cell++) {
    if (BufferNumber(&s, cell)) memcpy(NextValues(&s, n, cell), CurrentValues(&s, n, cell), (size_t)Power(n) * sizeof(REAL));
  }
}

INLINE void CollectCurrent(const VpPatchView *patches, const int n, int32_t count, const int32_t *list, unsigned done, void *const x[2],
                           REAL *to)
{
  const Sweep  s = {.patches = patches, .done = done, .x = {x[0], x[1]}};
  const size_t N = (size_t)Power(n);

  for (int32_t i = 0; i < count; i++) memcpy(to + (size_t)i * N, CurrentValues(&s, n, list[i]), N * sizeof(REAL));
}

#define VP_DEGREE(k) \
  VP_KERNEL(Current, k, (const VpPatchView *patches, int32_t n, const int32_t *list, unsigned done, void *const x[2], void *to), \
            CollectCurrent(patches, k + 1, n, list, done, x, to)) \
  static void Contract##k(const Table *table, int back, int slow, int fast, Ahead *ahead, V v[]) \
  { \
    Contract(k + 1, table, back, slow, fast, ahead, v); \
  } \
  PetscErrorCode VP_NAME(Sweep, VP_REAL, VP_DIM, k)(const VpView *view, const VpPatchView *patches, VpResidualMode mode, int32_t first, \
                                                    int32_t last, unsigned done, const void *b, void *const x[2]) \
  { \
    enum { N = k + 1, M2 = 4 * N * N }; \
    V      u[CELL(N)], v[CELL(2 * N)], own[CELL(2 * N)], lanes[DIM][2][M2]; \
    REAL   r[W * CELL(N)], turned[W * CELL(N)], inverse[CELL(2 * N)]; \
    Sweep  s = {.view = view, .patches = patches, .mode = mode, .done = done, .b = b, .x = {x[0], x[1]}, .turned = turned, .own = own}; \
    Solver solver = {.contract = Contract##k, .inverse = inverse}; \
    for (int d = 0; d < DIM; d++) { \
      for (int back = 0; back < 2; back++) solver.table[d].lanes[back] = lanes[d][back]; \
    } \
    return SweepColor(&s, N, first, last, &solver, u, v, r); \
  } \
  VP_KERNEL(Settle, k, (const VpPatchView *patches, int32_t count, unsigned done, void *const x[2]), \
            SettleCells(patches, k + 1, count, done, x))
#include "../degrees.def"
