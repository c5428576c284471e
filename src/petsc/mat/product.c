/* A X for a matrix-free operator and a dense matrix. As in PCMatApply(), several columns are multiplied at once, by the operator of a mesh
   that has each cell once per column. */
#include "internal.h"
#include "../../cycle/cycle.h"
#include "../support/columns.h"

static PetscErrorCode MultiplyOne(void *context, Vec x, Vec y)
{
  return VpMatrixApply((VpMatrix)context, x, NULL, y);
}

/* y = A x for n columns that are contiguous in memory */
static PetscErrorCode ApplyColumns(VpMatrix matrix, PetscInt n, const PetscScalar x[], PetscScalar y[])
{
  VpOperator    op = VpMatrixOperator(matrix);
  VpLevel       level = op->many;
  const int32_t cells = (int32_t)n * op->mesh->nown;
  VpGhosts      ghosts;

  PetscFunctionBegin;
  PetscCall(VpGhostExchangeBegin(&level->exchange, level->reads, x, op->ghost, &ghosts));
  PetscCall(PetscLogEventBegin(VP_EVENT_APPLY, matrix->dm, 0, 0, 0));
  PetscCall(level->ops->apply(&level->view, 0, cells, x, ghosts, NULL, y));
  PetscCall(VpLogFlops(level->backend, VpLevelApplyFlops(level) * (double)n / op->copies));
  PetscCall(PetscLogEventEnd(VP_EVENT_APPLY, matrix->dm, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyColumns(PetscInt rows, PetscInt n, const VpValues *from, const VpValues *to)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++)
    PetscCall(from->backend->copy(from->at + i * from->lda, (size_t)rows * sizeof(*to->at), to->at + i * to->lda));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the columns if they are not contiguous, or if they are fewer than the messages were set up for. */
static PetscErrorCode MultiplySome(void *context, Mat X, Mat Y, PetscInt first, PetscInt n)
{
  const VpMatrix   matrix = (VpMatrix)context;
  const VpOperator op = VpMatrixOperator(matrix);
  const VpBackend *backend = op->many->backend;
  VpValues         x, y, inside, out; /* inside, out: contiguous copies */
  PetscInt         rows;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(X, &rows, NULL));
  PetscCall(VpValuesGetColumns(backend, X, first, n, VP_READ, &x));
  PetscCall(VpValuesGetColumns(backend, Y, first, n, VP_READ_WRITE, &y));
  if (x.lda == rows && y.lda == rows && (n == op->copies || VpMeshRanks(op->mesh) == 1)) {
    PetscCall(ApplyColumns(matrix, n, x.at, y.at));
  } else {
    inside = out = (VpValues){.backend = backend, .lda = rows};
    PetscCall(backend->borrow(2 * (size_t)(op->copies * rows) * sizeof(*x.at), "columns of matrices", (void **)&inside.at));
    out.at = inside.at + op->copies * rows;
    PetscCall(CopyColumns(rows, n, &x, &inside));
    PetscCall(ApplyColumns(matrix, n, inside.at, out.at));
    PetscCall(CopyColumns(rows, n, &out, &y));
    PetscCall(backend->give_back(inside.at));
  }
  PetscCall(VpValuesRestore(&y));
  PetscCall(VpValuesRestore(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMatMultNumeric_VPatchDG(Mat A, Mat X, Mat Y, void *data)
{
  VpMatrix   matrix;
  VpOperator op;
  VpLevel    level;
  PetscInt   all, n = 1;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &matrix));
  op = VpMatrixOperator(matrix);
  PetscCall(VpOperatorGetLevel(op, matrix->dm, &level));
  PetscCall(MatGetSize(X, NULL, &all));
  if (!VpMeshIsAdaptive(op->mesh) && !op->problem.nodal) n = VpColumnsAtOnce(level, all);
  if (n > 1) PetscCall(VpOperatorRepeat(op, matrix->dm, (int32_t)n));
  PetscCall(VpOnColumns(X, Y, n > 1 ? op->copies : 1, MultiplyOne, MultiplySome, matrix));
  if (matrix->scale != 1) PetscCall(MatScale(Y, matrix->scale));
  if (matrix->shift != 0) PetscCall(MatAXPY(Y, matrix->shift, X, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}
