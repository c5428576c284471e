/* A X of a matrix-free operator and a dense matrix on the host: as many columns at once as PCMatApply() takes, by the operator of a mesh that
   has every cell so many times. */
#include "internal.h"
#include "../support/columns.h"

typedef struct {
  Mat      A;
  VpMatrix matrix;
} Product;

static PetscErrorCode MultiplyOne(void *context, Vec x, Vec y)
{
  return MatMult(((const Product *)context)->A, x, y);
}

/* y = A x of n columns, one after the other in memory */
static PetscErrorCode ApplyColumns(VpMatrix matrix, PetscInt n, const PetscScalar x[], PetscScalar y[])
{
  VpOperator     op = VpMatrixOperator(matrix);
  VpLevel        level = op->many;
  const int32_t  cells = (int32_t)n * op->mesh->nown;
  const PetscInt size = cells * DMVPatchDGCellSize(matrix->dm);
  VpGhosts       ghosts;

  PetscFunctionBegin;
  PetscCall(VpGhostExchangeBegin(&level->exchange, level->reads, x, op->ghost, &ghosts));
  PetscCall(PetscLogEventBegin(VP_EVENT_APPLY, matrix->dm, 0, 0, 0));
  PetscCall(level->ops->apply(&level->view, 0, cells, x, ghosts, NULL, y));
  PetscCall(VpLogFlops(level, VpLevelApplyFlops(level) * (double)n / op->copies));
  PetscCall(PetscLogEventEnd(VP_EVENT_APPLY, matrix->dm, 0, 0, 0));
  if (matrix->scale == 1 && matrix->shift == 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < size; i++) y[i] = matrix->scale * y[i] + matrix->shift * x[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyColumns(PetscInt rows, PetscInt n, const PetscScalar from[], PetscInt from_stride, PetscScalar to[],
                                  PetscInt to_stride)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) PetscCall(PetscArraycpy(to + i * to_stride, from + i * from_stride, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns from `first` on of X and Y. Where there are gaps between columns, or fewer columns than those that messages are for, they are copied. */
static PetscErrorCode MultiplySome(void *context, Mat X, Mat Y, PetscInt first, PetscInt n)
{
  const VpMatrix     matrix = ((const Product *)context)->matrix;
  const VpOperator   op = VpMatrixOperator(matrix);
  const PetscScalar *x;
  PetscScalar       *y, *room;
  PetscInt           rows, stride[2];

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(X, &rows, NULL));
  PetscCall(MatDenseGetLDA(X, &stride[0]));
  PetscCall(MatDenseGetLDA(Y, &stride[1]));
  PetscCall(MatDenseGetArrayRead(X, &x));
  PetscCall(MatDenseGetArrayWrite(Y, &y));
  if (stride[0] == rows && stride[1] == rows && n == op->copies) {
    PetscCall(ApplyColumns(matrix, n, x + first * rows, y + first * rows));
  } else {
    PetscCall(PetscCalloc1(2 * op->copies * rows, &room));
    PetscCall(CopyColumns(rows, n, x + first * stride[0], stride[0], room, rows));
    PetscCall(ApplyColumns(matrix, n, room, room + op->copies * rows));
    PetscCall(CopyColumns(rows, n, room + op->copies * rows, rows, y + first * stride[1], stride[1]));
    PetscCall(PetscFree(room));
  }
  PetscCall(MatDenseRestoreArrayWrite(Y, &y));
  PetscCall(MatDenseRestoreArrayRead(X, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how many columns go at once */
static PetscErrorCode Columns(VpMatrix matrix, PetscInt all, PetscInt *most)
{
  const VpOperator op = VpMatrixOperator(matrix);
  VpLevel          level;
  PetscInt         n = 1;

  PetscFunctionBegin;
  PetscCall(VpOperatorGetLevel(op, matrix->dm, &level));
  if (level->backend == &VpBackendHost && !op->mesh->depth) n = VpColumnsAtOnce(level, all);
  if (n > 1) PetscCall(VpOperatorRepeat(op, matrix->dm, (int32_t)n));
  *most = n > 1 ? op->copies : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMatMultNumeric_VPatchDG(Mat A, Mat X, Mat Y, void *data)
{
  Product  product = {.A = A};
  PetscInt all, most;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &product.matrix));
  PetscCall(MatGetSize(X, NULL, &all));
  PetscCall(Columns(product.matrix, all, &most));
  PetscCall(VpOnColumns(X, Y, most, MultiplyOne, MultiplySome, &product));
  PetscFunctionReturn(PETSC_SUCCESS);
}
