/* Computes the dense inverse of a matrix by LU factorisation (VpDenseInverse). */
#include "host.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <petscmat.h>

typedef struct {
  const VpDenseInverse *d;
  size_t                n, ndof; /* number of columns; values per cell */
  double               *rows;    /* [n][n] all rows, or [count][n] the wanted ones */
  double                weight;
  float                *single;
} Work;

static void FillRows(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Work           *w = (const Work *)context;
  const VpDenseInverse *d = w->d;

  for (int32_t i = first; i < last; i++) {
    double *row = w->rows + (size_t)i * w->n;

    for (size_t j = 0; j < w->n; j++) row[j] = d->one ? w->weight * d->one[i] * d->one[j] : 0;
    for (PetscInt k = d->start[i]; k < d->start[i + 1]; k++) row[d->column[k]] += PetscRealPart(d->value[k]);
  }
}

/* wanted rows += weight e e^T */
static void AddProjection(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Work *w = (const Work *)context;

  for (size_t i = (size_t)first; i < (size_t)last; i++) {
    const double by = w->weight * w->d->one[(size_t)w->d->first + i];

    for (size_t j = 0; j < w->n; j++) w->rows[i * w->n + j] += by * w->d->one[j];
  }
}

/* rows = enter rows leave on the cells [first, last) */
static void ChangeCells(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Work           *w = (const Work *)context;
  const VpDenseInverse *d = w->d;
  const int             n = d->order;
  double                transposed[VP_MAX_N * VP_MAX_N], column[VP_MAX_N * VP_MAX_N * VP_MAX_N];

  for (int i = 0; i < n * n; i++) transposed[i] = d->leave[i % n * n + i / n];
  for (int32_t cell = first; cell < last; cell++) {
    double *rows = w->rows + (size_t)cell * w->ndof * w->n;

    for (size_t j = 0; j < w->n; j++) {
      for (size_t i = 0; i < w->ndof; i++) column[i] = rows[i * w->n + j];
      VpTransferApply(d->dim, n, d->enter, 0, column);
      for (size_t i = 0; i < w->ndof; i++) rows[i * w->n + j] = column[i];
    }
    for (size_t at = 0; at < w->ndof * w->n; at += w->ndof) VpTransferApply(d->dim, n, transposed, 0, rows + at);
  }
}

static void RoundToSingle(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Work *w = (const Work *)context;

  for (size_t i = (size_t)first * w->n; i < (size_t)last * w->n; i++) w->single[i] = (float)w->rows[i];
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
  const size_t n = (size_t)d->n, count = (size_t)d->count;
  double      *A;
  Work         w = {.d = d, .n = n, .ndof = (size_t)PetscPowInt(d->order, d->dim), .weight = d->weight[0], .single = (float *)M};

  PetscFunctionBegin;
  PetscCall(VpMallocLarge(n * n, &A));
  w.rows = A;
  VpLoop(d->n, FillRows, &w);
  w.rows = (double *)M;
  if (precision == VP_SINGLE) PetscCall(VpMallocLarge(count * n, &w.rows));
  PetscCall(InvertRows(d->n, A, d->first, d->count, w.rows));
  PetscCall(PetscFree(A));
  w.weight = d->weight[1];
  *largest = 0;
  for (size_t i = 0; i < count; i++) *largest = PetscMax(*largest, w.rows[i * n + (size_t)d->first + i]);
  if (d->one) VpLoop(d->count, AddProjection, &w);
  if (d->enter) VpLoop(d->count / (int32_t)w.ndof, ChangeCells, &w);
  if (precision == VP_SINGLE) {
    VpLoop(d->count, RoundToSingle, &w);
    PetscCall(PetscFree(w.rows));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
