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

PetscErrorCode DMVPatchDGCreateAssembled(DM dm, MatType type, Mat *A)
{
  VpLevel level;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetHostLevel(dm, &level));
  PetscCall(VpAssemble(level, type, A));
  PetscCall(MatSetVecType(*A, dm->vectype)); /* type of the vectors that a KSP makes */
  PetscFunctionReturn(PETSC_SUCCESS);
}
