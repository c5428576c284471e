/* The record of a matrix scale A + shift I made from a DM. MatScale(), MatShift() and MatCopy() treat matrices with and without entries
   equally. */
#include "internal.h"

static const char record_name[] = "DMVPatchDG matrix";

PetscErrorCode VpMatrixFind(Mat A, VpMatrix *matrix)
{
  PetscContainer container;

  PetscFunctionBegin;
  *matrix = NULL;
  PetscCall(PetscObjectQuery((PetscObject)A, record_name, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

VpOperator VpMatrixOperator(VpMatrix matrix)
{
  return matrix->kept ? matrix->kept : ((DM_VPatchDG *)matrix->dm->data)->op;
}

static PetscErrorCode RecordDestroy(void *ctx)
{
  VpMatrix  matrix = VpDestroyedContext(struct VpMatrix_, ctx);
  VpMatrix *from = &((DM_VPatchDG *)matrix->dm->data)->mats;

  PetscFunctionBegin;
  while (*from && *from != matrix) from = &(*from)->next;
  if (*from) *from = matrix->next;
  PetscCall(VpOperatorDestroy(&matrix->kept));
  PetscCall(DMDestroy(&matrix->dm));
  PetscCall(PetscFree(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMatrixAttach(DM dm, Mat A, VpMatrix *out)
{
  DM_VPatchDG   *dg = dm->data;
  PetscContainer container;
  VpMatrix       matrix;

  PetscFunctionBegin;
  PetscCall(MatSetDM(A, dm));
  PetscCall(PetscNew(&matrix));
  PetscCall(PetscObjectReference((PetscObject)dm));
  matrix->dm = dm;
  matrix->mat = A;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &matrix->shell));
  matrix->scale = 1;
  matrix->next = dg->mats;
  dg->mats = matrix;
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)A), &container));
  PetscCall(PetscContainerSetPointer(container, matrix));
  PetscCall(PetscContainerSetCtxDestroy(container, RecordDestroy));
  PetscCall(PetscObjectCompose((PetscObject)A, record_name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  *out = matrix;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: the copy keeps the original's A when the DM gets another coefficient. */
static PetscErrorCode KeepOperator(VpMatrix copy, const struct VpMatrix_ *original)
{
  VpOperator op = VpReference(VpMatrixOperator((VpMatrix)original));

  PetscFunctionBegin;
  PetscCall(VpOperatorDestroy(&copy->kept));
  copy->kept = op;
  copy->scale = original->scale;
  copy->shift = original->shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatScale_VPatchDG(Mat A, PetscScalar a)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(A, &matrix));
  if (matrix->native[VP_NATIVE_SCALE]) PetscCall(((PetscErrorCode(*)(Mat, PetscScalar))matrix->native[VP_NATIVE_SCALE])(A, a));
  matrix->scale *= a;
  matrix->shift *= a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShift_VPatchDG(Mat A, PetscScalar a)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(A, &matrix));
  if (matrix->native[VP_NATIVE_SHIFT]) PetscCall(((PetscErrorCode(*)(Mat, PetscScalar))matrix->native[VP_NATIVE_SHIFT])(A, a));
  matrix->shift += a;
  if (matrix->shift != 0) {
    PetscCall(MatSetNullSpace(A, NULL));
    PetscCall(MatSetTransposeNullSpace(A, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMatrixDuplicated(VpMatrix original, MatDuplicateOption option, Mat B)
{
  VpMatrix copy;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(B, &copy));
  PetscCall(KeepOperator(copy, original));
  if (option == MAT_COPY_VALUES) PetscFunctionReturn(PETSC_SUCCESS);
  copy->scale = copy->shell ? 0 : 1;
  copy->shift = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCopy_VPatchDG(Mat A, Mat B, MatStructure structure)
{
  VpMatrix  from, to;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(A, &from));
  PetscCall(VpMatrixFind(B, &to));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, ((PetscObject)B)->type_name, &same));
  if (from->native[VP_NATIVE_COPY]) PetscCall(((PetscErrorCode(*)(Mat, Mat, MatStructure))from->native[VP_NATIVE_COPY])(A, B, structure));
  else
    PetscCheck(same && to && to->dm == from->dm, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
               "A matrix-free operator can be copied only to another of the same DM");
  if (to) PetscCall(KeepOperator(to, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}
