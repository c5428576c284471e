/* Between the outer vectors (double, orthonormal basis) and those of a level. */
#include "rows.h"

enum { CHUNK = 8 }; /* cells whose outer residual is formed at a time */

typedef void OuterResidual(const VpView *, int32_t, int32_t, const void *, const void *, const void *, void *);

/* b = (enter x enter x enter) r on `count` cells */
INLINE void EnterCells(const int n, const REAL *enter, V Tx[][PARTS], int32_t count, const double *r, REAL *b)
{
  const int N = Power(n);
  V         u[ROWS][PARTS];
  REAL      t[VALUES];

  for (int32_t cell = 0; cell < count; cell++, r += N, b += N) {
    for (int i = 0; i < N; i++) t[i] = (REAL)r[i];
    LoadCell(n, t, u);
    TransformRows(n, Tx, enter, enter, u);
    StoreCell(n, u, b);
  }
}

INLINE PetscErrorCode Enter(const VpView *view, const int n, const double *r, REAL *b)
{
  V Tx[VP_MAX_N][PARTS];

  PetscFunctionBegin;
  LoadTransposed(n, view->enter, Tx);
  EnterCells(n, view->enter, Tx, view->nown, r, b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

INLINE PetscErrorCode EnterResidual(const VpView *view, const int n, OuterResidual *Residual, const VpView *outer, const double *x, const double *ghost, const double *f, REAL *b,
                                    double *norm2)
{
  const size_t N = (size_t)Power(n);
  V            Tx[VP_MAX_N][PARTS];
  double       chunk[CHUNK * VALUES], sum = 0;

  PetscFunctionBegin;
  LoadTransposed(n, view->enter, Tx);
  for (int32_t cell = 0; cell < view->nown; cell += CHUNK) {
    const int32_t count = PetscMin(CHUNK, view->nown - cell);
    const double *r     = f + (size_t)cell * N;
    double        part  = 0;

    if (x) {
      Residual(outer, cell, cell + count, x, ghost, f, chunk);
      r = chunk;
    }
    for (size_t i = 0; i < (size_t)count * N; i++) part += r[i] * r[i];
    sum += part;
    EnterCells(n, view->enter, Tx, count, r, b + (size_t)cell * N);
  }
  *norm2 = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

INLINE PetscErrorCode Leave(const VpView *view, const int n, PetscBool add, const REAL *x, double *z)
{
  const int N = Power(n);
  V         u[ROWS][PARTS], Tx[VP_MAX_N][PARTS];
  REAL      t[VALUES];

  PetscFunctionBegin;
  LoadTransposed(n, view->leave, Tx);
  for (int32_t cell = 0; cell < view->nown; cell++, x += N, z += N) {
    LoadCell(n, x, u);
    TransformRows(n, Tx, view->leave, view->leave, u);
    StoreCell(n, u, t);
    if (add) {
      for (int i = 0; i < N; i++) z[i] += (double)t[i];
    } else {
      for (int i = 0; i < N; i++) z[i] = (double)t[i];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define VP_DEGREE(k) \
  PetscErrorCode VP_NAME(Enter, VP_REAL, VP_DIM, k)(const VpView *view, const double *r, void *b) { return Enter(view, k + 1, r, b); } \
  PetscErrorCode VP_NAME(EnterResidual, VP_REAL, VP_DIM, k)(const VpView *view, const VpView *outer, const double *x, const double *ghost, const double *f, void *b, double *norm2) \
  { \
    return EnterResidual(view, k + 1, VP_NAME(Residual, double, VP_DIM, k), outer, x, ghost, f, b, norm2); \
  } \
  PetscErrorCode VP_NAME(Leave, VP_REAL, VP_DIM, k)(const VpView *view, PetscBool add, const void *x, double *z) { return Leave(view, k + 1, add, x, z); }
#include "degrees.def"
