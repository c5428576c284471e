/* Computes the dense inverse of a matrix by LU factorisation (VpDenseInverse). */
#include "host.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <petscmat.h>

/* rows = enter rows leave, of a cell with ndof values */
static void ChangeCell(const VpDenseInverse *d, size_t ndof, double rows[])
{
  const int    order = d->order;
  const size_t n = (size_t)d->n;
  double       transposed[VP_MAX_N * VP_MAX_N], column[VP_MAX_N * VP_MAX_N * VP_MAX_N];

  for (int i = 0; i < order * order; i++) transposed[i] = d->leave[i % order * order + i / order];
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < ndof; i++) column[i] = rows[i * n + j];
    VpTransferApply(d->dim, order, d->enter, 0, column);
    for (size_t i = 0; i < ndof; i++) rows[i * n + j] = column[i];
  }
  for (size_t at = 0; at < ndof * n; at += ndof) VpTransferApply(d->dim, order, transposed, 0, rows + at);
}

/* Computes rows [first, first + count) of A^-1 by LU factorisation of the symmetric A [n][n], which is overwritten. The columns of the
   inverse are its rows. */
static PetscErrorCode InvertRows(PetscInt n, double A[], PetscInt first, PetscInt count, double rows[])
{
  Mat          matrix, unit, columns;
  PetscScalar *one;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, A, &matrix));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, count, NULL, &unit));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, count, rows, &columns));
  PetscCall(MatDenseGetArrayWrite(unit, &one));
  for (size_t i = 0; i < (size_t)count; i++) one[i * (size_t)n + (size_t)first + i] = 1; /* PETSc zeroes new matrices. */
  PetscCall(MatDenseRestoreArrayWrite(unit, &one));
  PetscCall(MatLUFactor(matrix, NULL, NULL, NULL));
  PetscCall(MatMatSolve(matrix, unit, columns));
  PetscCall(MatDestroy(&matrix));
  PetscCall(MatDestroy(&unit));
  PetscCall(MatDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpHostInvertDense(const VpDenseInverse *d, VpPrecision precision, void *M, double *largest)
{
  const size_t n = (size_t)d->n, count = (size_t)d->count, ndof = (size_t)PetscPowInt(d->order, d->dim);
  double      *A, *rows = (double *)M; /* [n][n] all rows, [count][n] the wanted ones */

  PetscFunctionBegin;
  PetscCall(VpMallocLarge(n * n, &A));
  VP_LOOP (i, d->n) {
    double *row = A + (size_t)i * n;

    for (size_t j = 0; j < n; j++) row[j] = d->one ? d->weight[0] * d->one[i] * d->one[j] : 0;
    for (PetscInt k = d->start[i]; k < d->start[i + 1]; k++) row[d->column[k]] += PetscRealPart(d->value[k]);
  }
  if (precision == VP_SINGLE) PetscCall(VpMallocLarge(count * n, &rows));
  PetscCall(InvertRows(d->n, A, d->first, d->count, rows));
  PetscCall(PetscFree(A));
  *largest = 0;
  for (size_t i = 0; i < count; i++) *largest = PetscMax(*largest, rows[i * n + (size_t)d->first + i]);
  if (d->one) {
    VP_LOOP (i, d->count) {
      const double by = d->weight[1] * d->one[d->first + i];

      for (size_t j = 0; j < n; j++) rows[(size_t)i * n + j] += by * d->one[j];
    }
  }
  if (d->enter) {
    VP_LOOP (cell, d->count / (int32_t)ndof) ChangeCell(d, ndof, rows + (size_t)cell * ndof * n);
  }
  if (precision == VP_SINGLE) {
    VP_LOOP (i, d->count) {
      for (size_t j = 0; j < n; j++) ((float *)M)[(size_t)i * n + j] = (float)rows[(size_t)i * n + j];
    }
    PetscCall(PetscFree(rows));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
