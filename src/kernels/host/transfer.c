/* Prolongs from a parent to its child by P_z x P_y x P_x, and restricts by the sum of R_z x R_y x R_x over the children. How a child lies
   in its parent selects the matrices. */
#include "rows.h"

/* The matrices of one kind of transfer; those of the halves along x are loaded once. */
typedef struct {
  const VpTransferView *view;
  const REAL           *M;
  V                     x[2][VP_MAX_N][VECTORS], part[VP_MAX_N][VECTORS];
} Matrices;

INLINE void PrepareMatrices(const VpTransferView *view, const int n, const void *M, Matrices *m)
{
  m->view = view;
  m->M = (const REAL *)M;
  for (int c = 0; c < 2; c++) LoadTransposed(n, m->M + c * n * n, m->x[c]);
}

/* how the cell lies in its parent along d */
INLINE int LiesAs(const VpTransferView *view, int32_t cell, int d)
{
  return view->corner[cell] >> 2 * d & 3;
}

/* the cell's matrix along d, or NULL if the cell is as wide as its parent */
INLINE const REAL *MatrixOf(const Matrices *m, const int n, int32_t cell, int d)
{
  const int lies = LiesAs(m->view, cell, d), entry = lies == VP_UNEQUAL ? m->view->table[(size_t)cell * DIM + (size_t)d] : lies;

  return lies == VP_WHOLE ? NULL : m->M + (size_t)entry * (size_t)(n * n);
}

/* u = (M_z x M_y x M_x) u with the matrices of a cell */
INLINE void Transform(Matrices *m, const int n, int32_t cell, V u[][VECTORS])
{
  const int   x = LiesAs(m->view, cell, 0);
  const REAL *Mx = MatrixOf(m, n, cell, 0);
  V(*Tx)[VECTORS] = x == VP_UNEQUAL ? m->part : m->x[x & 1];

  if (x == VP_UNEQUAL) LoadTransposed(n, Mx, Tx);
  TransformRows(n, Mx ? Tx : NULL, MatrixOf(m, n, cell, 1), DIM == 3 ? MatrixOf(m, n, cell, 2) : NULL, u);
}

INLINE void ProlongCells(const VpTransferView *view, const int n, int32_t first, int32_t last, PetscBool add, const REAL *xc, REAL *x)
{
  const int rows = Power(n) / n;
  V         u[ROWS][VECTORS];
  Matrices  P;

  PrepareMatrices(view, n, view->P, &P);
  for (int32_t cell = first; cell < last; cell++) {
    const REAL *parent = xc + (size_t)view->parent[cell] * (size_t)Power(n);
    REAL       *child = x + (size_t)cell * (size_t)Power(n);

    LoadCell(n, parent, u);
    Transform(&P, n, cell, u);
    for (int r = 0; r < rows; r++) {
      UNROLL (int c = 0; c < Vectors(n); c++) {
        const V old = add ? LoadRow(child + r * n, n, c) : (V){0};
        StoreRow(child + r * n, n, c, old + u[r][c]);
      }
    }
  }
}

INLINE void RestrictCells(const VpTransferView *view, const int n, const REAL *b, REAL *bc)
{
  const int rows = Power(n) / n;
  V         u[ROWS][VECTORS], sum[ROWS][VECTORS];
  Matrices  R;

  PrepareMatrices(view, n, view->R, &R);
  for (int32_t cell = 0; cell < view->ncoarse; cell++) {
    memset(sum, 0, sizeof sum);
    for (int q = 0; q < 1 << DIM; q++) {
      const int32_t child = view->child[(size_t)cell * (1 << DIM) + (size_t)q];

      if (child < 0) continue; /* no child: the cell is as wide as its children in some direction */
      LoadCell(n, b + (size_t)child * (size_t)Power(n), u);
      Transform(&R, n, child, u);
      for (int r = 0; r < rows; r++) {
        UNROLL (int c = 0; c < Vectors(n); c++) sum[r][c] += u[r][c];
      }
    }
    StoreCell(n, sum, bc + (size_t)cell * (size_t)Power(n));
  }
}

#define VP_DEGREE(k) \
  VP_KERNEL(Prolong, k, (const VpTransferView *view, int32_t first, int32_t last, PetscBool add, const void *xc, void *x), \
            ProlongCells(view, k + 1, first, last, add, xc, x)) \
  VP_KERNEL(Restrict, k, (const VpTransferView *view, const void *b, void *bc), RestrictCells(view, k + 1, b, bc))
#include "../degrees.def"
