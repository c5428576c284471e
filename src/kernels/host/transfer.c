/* Prolongation by P[c_z] x P[c_y] x P[c_x] from a parent to its child c; restriction by the sum of R[c_z] x R[c_y] x R[c_x] over
   children. */
#include "rows.h"

INLINE PetscErrorCode Prolong(const VpTransferView *view, const int n, int32_t first, int32_t last, PetscBool add, const REAL *xc, REAL *x)
{
  const int   rows = Power(n) / n;
  const REAL *P = view->P;
  V           u[ROWS][PARTS], Tx[2][VP_MAX_N][PARTS];

  PetscFunctionBegin;
  for (int c = 0; c < 2; c++) LoadTransposed(n, P + c * n * n, Tx[c]);
  for (int32_t cell = first; cell < last; cell++) {
    const REAL *parent = xc + (size_t)view->parent[cell] * (size_t)Power(n);
    REAL       *child = x + (size_t)cell * (size_t)Power(n);
    const int   corner = view->corner[cell];

    LoadCell(n, parent, u);
    TransformRows(n, Tx[corner & 1], P + (corner >> 1 & 1) * n * n, P + (corner >> 2 & 1) * n * n, u);
    for (int r = 0; r < rows; r++) {
      UNROLL (int c = 0; c < Parts(n); c++) {
        const V old = add ? LoadRow(child + r * n, n, c) : (V){0};
        StoreRow(child + r * n, n, c, old + u[r][c]);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

INLINE PetscErrorCode Restrict(const VpTransferView *view, const int n, const REAL *b, REAL *bc)
{
  const int   rows = Power(n) / n;
  const REAL *R = view->R;
  V           u[ROWS][PARTS], sum[ROWS][PARTS], Tx[2][VP_MAX_N][PARTS];

  PetscFunctionBegin;
  for (int c = 0; c < 2; c++) LoadTransposed(n, R + c * n * n, Tx[c]);
  for (int32_t cell = 0; cell < view->ncoarse; cell++) {
    const int32_t *child = view->child + (size_t)cell * (1 << DIM);

    memset(sum, 0, sizeof sum);
    for (int corner = 0; corner < 1 << DIM; corner++) {
      LoadCell(n, b + (size_t)child[corner] * (size_t)Power(n), u);
      TransformRows(n, Tx[corner & 1], R + (corner >> 1 & 1) * n * n, R + (corner >> 2 & 1) * n * n, u);
      for (int r = 0; r < rows; r++) {
        UNROLL (int c = 0; c < Parts(n); c++) sum[r][c] += u[r][c];
      }
    }
    StoreCell(n, sum, bc + (size_t)cell * (size_t)Power(n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define VP_DEGREE(k) \
  PetscErrorCode VP_NAME(Prolong, VP_REAL, VP_DIM, k)(const VpTransferView *view, int32_t first, int32_t last, PetscBool add, \
                                                      const void *xc, void *x) \
  { \
    return Prolong(view, k + 1, first, last, add, xc, x); \
  } \
  PetscErrorCode VP_NAME(Restrict, VP_REAL, VP_DIM, k)(const VpTransferView *view, const void *b, void *bc) \
  { \
    return Restrict(view, k + 1, b, bc); \
  }
#include "degrees.def"
