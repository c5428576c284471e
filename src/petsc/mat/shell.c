/* The operator scale A + shift I without entries: a MATSHELL. */
#include "internal.h"

/* y = A x, or y = b - A x if b is not NULL, for coefficients in cells, in memory of the level's backend */
static PetscErrorCode ApplyToCells(DM dm, VpLevel level, const double *x, const double *b, double *y)
{
  VpGhosts ghosts;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGhosts(dm, level, x, &ghosts));
  PetscCall(level->ops->apply(&level->view, 0, level->mesh->nown, x, ghosts, b, y));
  PetscCall(VpLogFlops(level->backend, VpLevelApplyFlops(level)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = E^T A E x for values at nodes */
static PetscErrorCode ApplyToNodes(DM dm, VpLevel level, VpNodes nodes, const double *x, double *y)
{
  const size_t n = (size_t)level->mesh->nown * VpLevelValues(level);
  double      *cells;

  PetscFunctionBegin;
  PetscCall(level->backend->borrow((2 * n + 1) * sizeof(*cells), "coefficients in cells", (void **)&cells));
  PetscCall(VpNodesInject(nodes, level, x, cells));
  PetscCall(ApplyToCells(dm, level, cells, NULL, cells + n));
  PetscCall(VpNodesCollect(nodes, level, cells + n, y));
  PetscCall(level->backend->give_back(cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMatrixApplyEnergy(VpMatrix matrix, Vec x, Vec y, PetscScalar *energy, PetscBool *did)
{
  VpValues xv, yv;
  VpGhosts ghosts;
  VpLevel  level;

  PetscFunctionBegin;
  *did = PETSC_FALSE;
  if (!matrix->shell || matrix->scale != 1 || matrix->shift != 0 || DMVPatchDGData(matrix->dm)->layout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpOperatorGetLevel(VpMatrixOperator(matrix), matrix->dm, &level));
  *did = (PetscBool)(level->ops->apply_energy && level->view.metric.components);
  if (!*did) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpValuesGet(level->backend, x, VP_READ, &xv));
  PetscCall(VpValuesGet(level->backend, y, VP_WRITE, &yv));
  PetscCall(PetscLogEventBegin(VP_EVENT_APPLY, matrix->dm, x, y, 0));
  PetscCall(DMVPatchDGGhosts(matrix->dm, level, xv.at, &ghosts));
  PetscCall(level->ops->apply_energy(&level->view, xv.at, ghosts, yv.at, energy));
  PetscCall(VpLogFlops(level->backend, VpLevelApplyFlops(level) + 2. * (double)level->mesh->nown * (double)VpLevelValues(level)));
  PetscCall(PetscLogEventEnd(VP_EVENT_APPLY, matrix->dm, x, y, 0));
  PetscCall(VpValuesRestore(&yv));
  PetscCall(VpValuesRestore(&xv));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, energy, 1, MPIU_SCALAR, MPIU_SUM, level->mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMatrixApply(VpMatrix matrix, Vec x, Vec b, Vec y)
{
  VpValues xv, bv = {0}, yv;
  VpNodes  nodes;
  VpLevel  level;

  PetscFunctionBegin;
  PetscCall(VpOperatorGetLevel(VpMatrixOperator(matrix), matrix->dm, &level));
  PetscCall(DMVPatchDGGetNodes(matrix->dm, level->backend, &nodes));
  PetscCall(VpValuesGet(level->backend, x, VP_READ, &xv));
  if (b) PetscCall(VpValuesGet(level->backend, b, VP_READ, &bv));
  PetscCall(VpValuesGet(level->backend, y, VP_WRITE, &yv));
  PetscCall(PetscLogEventBegin(VP_EVENT_APPLY, matrix->dm, x, y, 0));
  if (nodes) PetscCall(ApplyToNodes(matrix->dm, level, nodes, xv.at, yv.at));
  else PetscCall(ApplyToCells(matrix->dm, level, xv.at, bv.at, yv.at));
  PetscCall(PetscLogEventEnd(VP_EVENT_APPLY, matrix->dm, x, y, 0));
  PetscCall(VpValuesRestore(&yv));
  if (b) PetscCall(VpValuesRestore(&bv));
  PetscCall(VpValuesRestore(&xv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_VPatchDG(Mat A, Vec x, Vec y)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &matrix));
  PetscCall(VpMatrixApply(matrix, x, NULL, y));
  if (matrix->scale != 1) PetscCall(VecScale(y, matrix->scale));
  if (matrix->shift != 0) PetscCall(VecAXPY(y, matrix->shift, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatResidual_VPatchDG(Mat A, Vec b, Vec x, Vec r)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &matrix));
  PetscCall(DMVPatchDGCheckVector(matrix->dm, b, "MatResidual()"));
  PetscCall(DMVPatchDGCheckVector(matrix->dm, x, "MatResidual()"));
  PetscCall(DMVPatchDGCheckVector(matrix->dm, r, "MatResidual()"));
  if (matrix->scale == 1 && matrix->shift == 0 && r != b && !DMVPatchDGData(matrix->dm)->layout) {
    PetscCall(VpMatrixApply(matrix, x, b, r));
  } else {
    Vec y;

    PetscCall(DMGetGlobalVector(matrix->dm, &y));
    PetscCall(MatMult(A, x, y));
    if (r == b) PetscCall(VecAXPY(r, -1, y));
    else PetscCall(VecWAXPY(r, -1, y, b));
    PetscCall(DMRestoreGlobalVector(matrix->dm, &y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether nodes of a cell are the same at both ends of a periodic direction */
static PetscErrorCode HasLoops(VpMesh mesh, PetscBool *has)
{
  PetscMPIInt first;

  PetscFunctionBegin;
  *has = PETSC_FALSE;
  for (int d = 0; d < mesh->dim; d++) *has = (PetscBool)(*has || mesh->geometry->domain->periodic[d]);
  if (!*has) PetscFunctionReturn(PETSC_SUCCESS);
  *has = PETSC_FALSE;
  for (int32_t i = 0; i < 2 * mesh->dim * mesh->nown; i++) *has = (PetscBool)(*has || mesh->neighbor[i] == i / (2 * mesh->dim));
  PetscCall(VpFirstRank(mesh->comm, *has, &first));
  *has = (PetscBool)(first < INT_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of nodes that are the same in a cell are found by the assembled matrix. With numbers in cells no level is needed. */
static PetscErrorCode GetNodalDiagonal(VpMatrix matrix, Vec d)
{
  const VpOperator op = VpMatrixOperator(matrix);
  const VpBackend *backend;
  PetscBool        loops;
  VpValues         on;
  VpNodes          nodes;
  VpLevel          level = NULL;
  Mat              B;

  PetscFunctionBegin;
  PetscCall(HasLoops(op->mesh, &loops));
  PetscCall(DMVPatchDGUseBackend(matrix->dm, &backend));
  if (loops) {
    PetscCall(VpOperatorGetHostLevel(op, matrix->dm, &level));
    PetscCall(VpAssembleOn(matrix->dm, level, MATAIJ, &B));
    PetscCall(MatGetDiagonal(B, d));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMVPatchDGGetNodes(matrix->dm, backend, &nodes));
  if (op->problem.metric) PetscCall(VpOperatorGetLevel(op, matrix->dm, &level));
  PetscCall(VpValuesGet(backend, d, VP_WRITE, &on));
  if (level) PetscCall(VpNodesOperatorDiagonal(nodes, level, on.at));
  else PetscCall(VpNodesDiagonal(nodes, &op->problem, nodes->point, on.at));
  PetscCall(VpValuesRestore(&on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_VPatchDG(Mat A, Vec d)
{
  PetscScalar *values;
  VpMatrix     matrix;
  VpLevel      level;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &matrix));
  PetscCall(DMVPatchDGCheckVector(matrix->dm, d, "MatGetDiagonal()"));
  if (DMVPatchDGData(matrix->dm)->layout) PetscCall(GetNodalDiagonal(matrix, d));
  else {
    PetscCall(VpOperatorGetHostLevel(VpMatrixOperator(matrix), matrix->dm, &level));
    PetscCall(VecGetArrayWrite(d, &values));
    PetscCall(VpDiagonal(level, values));
    PetscCall(VecRestoreArrayWrite(d, &values));
  }
  PetscCall(VecScale(d, matrix->scale));
  PetscCall(VecShift(d, matrix->shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles a shifted operator, because the absolute values of its diagonal do not follow from the norm of A, and one on nodes. */
static PetscErrorCode MatNorm_VPatchDG(Mat A, NormType type, PetscReal *norm)
{
  VpMatrix matrix;
  VpLevel  level;
  Mat      B;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &matrix));
  PetscCall(VpOperatorGetHostLevel(VpMatrixOperator(matrix), matrix->dm, &level));
  if (matrix->shift == 0 && !DMVPatchDGData(matrix->dm)->layout) {
    PetscCall(VpAbsoluteSums(level, type, norm));
    *norm *= PetscAbsScalar(matrix->scale);
  } else {
    PetscCall(VpAssembleOn(matrix->dm, level, MATAIJ, &B));
    PetscCall(MatScale(B, matrix->scale));
    PetscCall(MatShift(B, matrix->shift));
    PetscCall(MatNorm(B, type, norm));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateVecs_VPatchDG(Mat A, Vec *right, Vec *left)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &matrix));
  if (right) PetscCall(DMCreateGlobalVector(matrix->dm, right));
  if (left) PetscCall(DMCreateGlobalVector(matrix->dm, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_Shell(Mat A, MatDuplicateOption option, Mat *B)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &matrix));
  PetscCall(DMVPatchDGCreateShell(matrix->dm, B));
  PetscCall(VpMatrixDuplicated(matrix, option, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The layouts are set by size and not copied from the DM's vectors, which may be on a device. */
PetscErrorCode DMVPatchDGCreateShell(DM dm, Mat *A)
{
  const PetscInt n = DMVPatchDGRows(dm);
  const struct {
    MatOperation operation;
    VpFunction  *function;
  } set[] = {{MATOP_MULT, (VpFunction *)MatMult_VPatchDG},
             {MATOP_MULT_TRANSPOSE, (VpFunction *)MatMult_VPatchDG},
             {MATOP_RESIDUAL, (VpFunction *)MatResidual_VPatchDG},
             {MATOP_GET_DIAGONAL, (VpFunction *)MatGetDiagonal_VPatchDG},
             {MATOP_NORM, (VpFunction *)MatNorm_VPatchDG},
             {MATOP_SCALE, (VpFunction *)MatScale_VPatchDG},
             {MATOP_SHIFT, (VpFunction *)MatShift_VPatchDG},
             {MATOP_CREATE_VECS, (VpFunction *)MatCreateVecs_VPatchDG},
             {MATOP_DUPLICATE, (VpFunction *)MatDuplicate_Shell},
             {MATOP_COPY, (VpFunction *)MatCopy_VPatchDG},
             {MATOP_ZERO_ROWS, NULL}, /* MATSHELL's own operation would do nothing. */
             {MATOP_ZERO_ROWS_COLUMNS, NULL}};
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)dm), n, n, PETSC_DETERMINE, PETSC_DETERMINE, NULL, A));
  PetscCall(MatShellSetManageScalingShifts(*A));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(set); i++) PetscCall(MatShellSetOperation(*A, set[i].operation, set[i].function));
  PetscCall(MatShellSetVecType(*A, dm->vectype));
  for (size_t i = 0; i < 2; i++) { /* A is symmetric. */
    const MatProductType type = i ? MATPRODUCT_AtB : MATPRODUCT_AB;

    PetscCall(MatShellSetMatProductOperation(*A, type, NULL, MatMatMultNumeric_VPatchDG, NULL, MATDENSE, MATDENSE));
#if defined(PETSC_HAVE_CUDA)
    PetscCall(MatShellSetMatProductOperation(*A, type, NULL, MatMatMultNumeric_VPatchDG, NULL, MATDENSECUDA, MATDENSECUDA));
#endif
  }
  PetscCall(VpRefuseEntries(*A));
  PetscCall(VpMatrixAttach(dm, *A, &matrix));
  PetscCall(MatShellSetContext(*A, matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}
