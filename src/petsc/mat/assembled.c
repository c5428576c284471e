/* The operator scale A + shift I as an assembled matrix of one of PETSc's types. Four of its operations are replaced. */
#include "internal.h"

static PetscErrorCode MatDuplicate_Assembled(Mat A, MatDuplicateOption option, Mat *B)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(A, &matrix));
  PetscCall(((PetscErrorCode(*)(Mat, MatDuplicateOption, Mat *))matrix->native[VP_NATIVE_DUPLICATE])(A, option, B));
  PetscCall(VpMatrixAttachAssembled(matrix->dm, *B, matrix));
  PetscCall(VpMatrixDuplicated(matrix, option, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMatrixAttachAssembled(DM dm, Mat A, VpMatrix like)
{
  static const struct {
    MatOperation operation;
    VpFunction  *function;
  } own[] = {[VP_NATIVE_DUPLICATE] = {MATOP_DUPLICATE, (VpFunction *)MatDuplicate_Assembled},
             [VP_NATIVE_COPY] = {MATOP_COPY, (VpFunction *)MatCopy_VPatchDG},
             [VP_NATIVE_SCALE] = {MATOP_SCALE, (VpFunction *)MatScale_VPatchDG},
             [VP_NATIVE_SHIFT] = {MATOP_SHIFT, (VpFunction *)MatShift_VPatchDG}};
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(VpMatrixAttach(dm, A, &matrix));
  for (int i = 0; i < (int)PETSC_STATIC_ARRAY_LENGTH(own); i++) {
    PetscCall(MatGetOperation(A, own[i].operation, &matrix->native[i]));
    if (matrix->native[i] == own[i].function)
      matrix->native[i] = like->native[i]; /* A duplicate has copied the table of operations, including the replaced ones. */
    if (matrix->native[i]) PetscCall(MatSetOperation(A, own[i].operation, own[i].function));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values [n^dim][n^dim]: the coefficients in a cell of the functions of its nodes */
static void FillInjection(VpLevel level, int32_t cell, int ndof, PetscScalar values[])
{
  const int     n = level->basis.n;
  const double *W = level->nodal.leave, *root = level->view.metric.root;

  if (root) root += (size_t)(cell % level->view.metric.period) * (size_t)ndof;
  for (int i = 0; i < ndof * ndof; i++) {
    values[i] = root ? 1 / root[i / ndof] : 1;
    for (int d = 0, row = i / ndof, column = i % ndof; d < level->mesh->dim; d++, row /= n, column /= n)
      values[i] *= W[row % n * n + column % n] * PetscSqrtReal(VpGeometrySize(level->mesh->geometry, cell, d));
  }
}

/* *E: the matrix that takes values at nodes to coefficients in cells */
static PetscErrorCode AssembleInjection(DM dm, VpLevel level, Mat *E)
{
  const DM_VPatchDG *dg = DMVPatchDGData(dm);
  const int          ndof = (int)VpLevelValues(level);
  const PetscInt     rows = dg->mesh->nown * ndof;
  const PetscInt    *node;
  PetscInt          *row;
  PetscScalar       *values;

  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(dg->mesh->comm, rows, dg->layout->n, PETSC_DETERMINE, PETSC_DETERMINE, ndof, NULL, ndof, NULL, E));
  PetscCall(MatSetOption(*E, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(PetscMalloc2(ndof, &row, ndof * ndof, &values));
  PetscCall(DMVPatchDGGetNumbers(dm, &node));
  for (int32_t c = 0; c < dg->mesh->nown; c++) {
    for (int i = 0; i < ndof; i++) row[i] = (dg->mesh->first + c) * ndof + i;
    FillInjection(level, c, ndof, values);
    /* Nodes of a cell that is alone in a periodic direction are the same at both ends. */
    PetscCall(MatSetValues(*E, ndof, row, ndof, node + (size_t)c * (size_t)ndof, values, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*E, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*E, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree2(row, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpAssembleOn(DM dm, VpLevel level, MatType type, Mat *A)
{
  Mat cells, E;

  PetscFunctionBegin;
  if (!DMVPatchDGData(dm)->layout) {
    PetscCall(VpAssemble(level, type, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VpAssemble(level, type, &cells));
  PetscCall(AssembleInjection(dm, level, &E));
  PetscCall(MatPtAP(cells, E, MAT_INITIAL_MATRIX, 2, A));
  PetscCall(MatConvert(*A, ((PetscObject)cells)->type_name, MAT_INPLACE_MATRIX, A));
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCreateAssembled(DM dm, MatType type, Mat *A)
{
  VpLevel level;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetHostLevel(dm, &level));
  PetscCall(VpAssembleOn(dm, level, type, A));
  PetscCall(MatSetVecType(*A, dm->vectype)); /* type of the vectors that a KSP makes */
  PetscFunctionReturn(PETSC_SUCCESS);
}
