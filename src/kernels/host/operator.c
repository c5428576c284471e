/* y = A x and y = b - A x, cell by cell. */
#include "cell.h"
#include "hanging.h"

enum { HAS_DENSE = sizeof(REAL) == sizeof(double) };
enum { AHEAD = 512 }; /* number of values between a cell and the cell whose neighbours are prefetched */

typedef struct {
  const VpView *view;
  const REAL   *x, *ghost;
} Vector;

INLINE const REAL *CellValues(const Vector *v, const int n, int32_t cell)
{
  if (cell < 0) return zero_cell;
  return cell < v->view->nown ? v->x + (size_t)cell * (size_t)Power(n) : v->ghost + (size_t)(cell - v->view->nown) * (size_t)Power(n);
}

INLINE void FindNeighbors(const Vector *v, const int n, int32_t cell, const REAL *beyond[])
{
  for (int i = 0; i < 2 * DIM; i++) beyond[i] = CellValues(v, n, v->view->neighbor[(size_t)cell * 2 * DIM + (size_t)i]);
}

/* Brings the values beyond a cell's sides to its directions. turned [2 dim]: places for them */
INLINE void TurnNeighbors(const VpView *view, const int n, int32_t cell, const REAL *beyond[], REAL turned[][VALUES])
{
  for (int i = 0; i < 2 * DIM; i++) beyond[i] = ValuesBeyond(view, n, cell, i, beyond[i], turned[i]);
}

INLINE void ApplyCells(const Vector *v, const int n, const int nt, int32_t first, int32_t last, const REAL *b, REAL *y)
{
  const VpView *view = v->view;
  const size_t  N = (size_t)Power(n);
  XColumns      X = {0};
  REAL          turned[2 * DIM][VALUES];

  for (int32_t cell = first; cell < last; cell++) {
    const REAL *beyond[2 * DIM], *ahead[2 * DIM], *line[DIM];

    FindNeighbors(v, n, cell, beyond);
    if (view->turn) TurnNeighbors(view, n, cell, beyond, turned);
    FindNeighbors(v, n, PetscMin(cell + 1 + AHEAD / Power(n), view->nsweep - 1), ahead);
    for (int d = 0; d < DIM; d++) line[d] = Line(view->lines, n, view->line[(size_t)cell * DIM + (size_t)d]);
    Prepare(view, n, nt, line, &X);
    CellApply(view, n, nt, CellValues(v, n, cell), beyond, &X, b ? b + (size_t)cell * N : NULL, y + (size_t)(cell - first) * N, ahead);
  }
}

/* Up to W sides that hang, one per lane, so that all lanes do the same: they are the same side of their cells and, if these are the fine
   cells, on the same half. */
typedef struct {
  int     n;
  int32_t at[W];
} Lanes;
enum { PARTS_OF_SIDE = 1 + FACES };

/* Replaces the traces `own` of coarse cells on a side by the factors (Flux) of the forms with the fine cells beyond. */
INLINE void FromFine(const Vector *v, const int n, Along *along, const int32_t at[W], const V form[], Traces own)
{
  const VpHangView *hang = &v->view->hang;
  const int         side = hang->face[at[0]].side;
  Traces            here, there, sum;

  ClearLanes(TraceCount(n), sum);
  for (int i = 0; i < FACES; i++) {
    const REAL *beyond[W];

    for (int l = 0; l < W; l++) beyond[l] = CellValues(v, n, hang->face[at[l]].cell[1 + i]);
    LoadTraces(v->view, n, side ^ 1, beyond, there);
    ToFace(n, along, hang->half, i, own, here);
    Flux(n, form, 0, form[VP_HANG_A + i], here, there);
    AddFromFace(n, along, hang->half, i, here, sum);
  }
  memcpy(own, sum, (size_t)TraceCount(n) * sizeof(V));
}

/* Replaces the traces `own` of fine cells on a side by the factors (Flux) of the form with the coarse cell beyond. */
INLINE void FromCoarse(const Vector *v, const int n, Along *along, const int32_t at[W], const V form[], Traces own)
{
  const VpHangView *hang = &v->view->hang;
  const int         side = hang->face[at[0]].side, part = hang->face[at[0]].half;
  const REAL       *beyond[W];
  Traces            whole, there;

  for (int l = 0; l < W; l++) beyond[l] = CellValues(v, n, hang->face[at[l]].cell[1]);
  LoadTraces(v->view, n, side ^ 1, beyond, whole);
  ToFace(n, along, hang->half, part, whole, there);
  Flux(n, form, 0, form[VP_HANG_A], own, there);
}

/* y += sign times what several faces of one kind, a lane each, add to A x; y begins with cell `first` */
INLINE void AddLanes(const Vector *v, const int n, Along *along, Lanes *g, int32_t first, REAL sign, REAL *y)
{
  const VpHangView *hang = &v->view->hang;
  const int         N = Power(n), side = hang->face[g->at[0]].side;
  const REAL       *own[W];
  REAL             *to[W], spare[VALUES] = {0};
  V                 u[VALUES], form[VP_HANG_FORM];
  Traces            t;

  for (int l = 0; l < W; l++) {
    if (l >= g->n) g->at[l] = g->at[0]; /* lanes left over */
    const int32_t cell = hang->face[g->at[l]].cell[0];
    own[l] = CellValues(v, n, cell);
    to[l] = l < g->n ? y + (size_t)(cell - first) * (size_t)N : spare;
  }
  LoadForms(hang, g->at, form);
  LoadTraces(v->view, n, side, own, t);
  if (hang->face[g->at[0]].kind == VP_FACE_FINE) FromCoarse(v, n, along, g->at, form, t);
  else FromFine(v, n, along, g->at, form, t);
  ClearLanes(N, u);
  AddLift(hang, n, side, sign, t, u);
  AddCells(N, u, to);
  g->n = 0;
}

/* Adds sign times the terms of hanging sides, which ApplyCells leaves out. */
INLINE void AddHangingSides(const Vector *v, const int n, Along *along, int32_t first, int32_t last, REAL sign, REAL *y)
{
  const VpHangView *hang = &v->view->hang;
  Lanes             lanes[2 * DIM * PARTS_OF_SIDE] = {{0}};

  for (int32_t at = VpFirstFace(hang->n, hang->face, first); at < hang->n && hang->face[at].cell[0] < last; at++) {
    Lanes *g = &lanes[hang->face[at].side * PARTS_OF_SIDE + (hang->face[at].kind == VP_FACE_FINE ? 1 + hang->face[at].half : 0)];

    g->at[g->n++] = at;
    if (g->n == W) AddLanes(v, n, along, g, first, sign, y);
  }
  for (int i = 0; i < 2 * DIM * PARTS_OF_SIDE; i++) {
    if (lanes[i].n) AddLanes(v, n, along, &lanes[i], first, sign, y);
  }
}

INLINE void ApplyToCells(const VpView *view, const int n, Along *along, int32_t first, int32_t last, const REAL *x, const REAL *ghost,
                         const REAL *b, REAL *y)
{
  const Vector v = {.view = view, .x = x, .ghost = ghost};

  if (!HAS_DENSE || view->nt == VpThinLayers(n, DIM)) ApplyCells(&v, n, VpThinLayers(n, DIM), first, last, b, y);
  else ApplyCells(&v, n, VpDenseLayers(n), first, last, b, y);
  if (view->hang.n) AddHangingSides(&v, n, along, first, last, b ? -1 : 1, y);
}

#define VP_DEGREE(k) \
  VP_ALONG(k) \
  void VP_NAME(Residual, VP_REAL, VP_DIM, k)(const VpView *view, int32_t first, int32_t last, const void *x, const void *ghost, \
                                             const void *b, void *y) \
  { \
    if (view->metric.components) VP_NAME(MetricResidual, double, VP_DIM, k)(view, first, last, x, ghost, b, y); \
    else ApplyToCells(view, k + 1, Along##k, first, last, x, ghost, b, y); \
  } \
  PetscErrorCode VP_NAME(Apply, VP_REAL, VP_DIM, k)(const VpView *view, int32_t first, int32_t last, const void *x, VpGhosts ghosts, \
                                                    const void *b, void *y) \
  { \
    PetscFunctionBegin; \
    if (view->metric.components) PetscCall(VP_NAME(MetricTraces, double, VP_DIM, k)(view, x, ghosts)); \
    else PetscCall(CheckTraces(view, k + 1, HAS_DENSE)); \
    PetscCall(VpArrive(ghosts)); \
    VP_NAME(Residual, VP_REAL, VP_DIM, k)(view, first, last, x, ghosts.values, b, (REAL *)y + (size_t)first * (size_t)Power(k + 1)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
#include "../degrees.def"
