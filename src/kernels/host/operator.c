/* y = A x and y = b - A x, cell by cell. */
#include "cell.h"
#include "hanging.h"

enum { AHEAD = 512 }; /* values between a cell and the one whose neighbours are fetched meanwhile */

typedef struct {
  const VpView *view;
  const REAL   *x, *ghost;
} Vector;

INLINE const REAL *Values(const Vector *v, const int n, int32_t cell)
{
  if (cell < 0) return zero_cell;
  return cell < v->view->nown ? v->x + (size_t)cell * (size_t)Power(n) : v->ghost + (size_t)(cell - v->view->nown) * (size_t)Power(n);
}

INLINE void Beyond(const Vector *v, const int n, int32_t cell, const REAL *beyond[])
{
  for (int i = 0; i < 2 * DIM; i++) beyond[i] = Values(v, n, v->view->neighbor[(size_t)cell * 2 * DIM + (size_t)i]);
}

INLINE void Cells(const Vector *v, const int n, const int nt, int32_t first, int32_t last, const REAL *b, REAL *y)
{
  const VpView *view = v->view;
  const size_t  N = (size_t)Power(n);
  XColumns      X = {0};

  for (int32_t cell = first; cell < last; cell++) {
    const REAL *beyond[2 * DIM], *ahead[2 * DIM], *line[DIM];

    Beyond(v, n, cell, beyond);
    Beyond(v, n, PetscMin(cell + 1 + AHEAD / Power(n), view->nsweep - 1), ahead);
    for (int d = 0; d < DIM; d++) line[d] = Line(view->lines, n, view->line[(size_t)cell * DIM + (size_t)d]);
    Prepare(view, n, nt, line, &X);
    CellApply(view, n, nt, Values(v, n, cell), beyond, &X, b ? b + (size_t)cell * N : NULL, y + (size_t)(cell - first) * N, ahead);
  }
}

/* the terms of hanging sides, which Cells leaves out */
INLINE void HangingSides(const Vector *v, const int n, int32_t first, int32_t last, REAL sign, REAL *y)
{
  const VpHangView *hang = &v->view->hang;

  for (int32_t at = VpFirstHanging(hang, first); at < hang->n; at++) {
    const int32_t *item = hang->cell + (size_t)at * VP_HANG_CELL;
    const REAL    *beyond[1 << (DIM - 1)];

    if (item[0] >= last) break;
    for (int i = 0; i < (item[2] < 0 ? 1 << (DIM - 1) : 1); i++) beyond[i] = Values(v, n, item[3 + i]);
    AddHanging(v->view, n, at, sign, Values(v, n, item[0]), beyond, y + (size_t)(item[0] - first) * (size_t)Power(n));
  }
}

INLINE void Residual(const VpView *view, const int n, int32_t first, int32_t last, const REAL *x, const REAL *ghost, const REAL *b, REAL *y)
{
  const Vector v = {.view = view, .x = x, .ghost = ghost};

  if (view->nt == VpThinLayers(n, DIM)) Cells(&v, n, VpThinLayers(n, DIM), first, last, b, y);
  else Cells(&v, n, VpDenseLayers(n), first, last, b, y);
  if (view->hang.n) HangingSides(&v, n, first, last, b ? -1 : 1, y);
}

#define VP_DEGREE(k) \
  void VP_NAME(Residual, VP_REAL, VP_DIM, k)(const VpView *view, int32_t first, int32_t last, const void *x, const void *ghost, \
                                             const void *b, void *y) \
  { \
    Residual(view, k + 1, first, last, x, ghost, b, y); \
  } \
  PetscErrorCode VP_NAME(Apply, VP_REAL, VP_DIM, k)(const VpView *view, int32_t first, int32_t last, const void *x, VpGhosts ghosts, \
                                                    const void *b, void *y) \
  { \
    PetscFunctionBegin; \
    PetscCall(CheckTraces(view, k + 1)); \
    PetscCall(VpArrive(ghosts)); \
    VP_NAME(Residual, VP_REAL, VP_DIM, k)(view, first, last, x, ghosts.values, b, (REAL *)y + (size_t)first * (size_t)Power(k + 1)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
#include "../degrees.def"
