/* DMCreateMatrix(): makes matrices from a DM, and finds the operator behind a matrix. */
#include "internal.h"

PetscErrorCode MatGetVPatchDG(Mat P, const char caller[], VpPmat *p)
{
  PetscBool match = PETSC_FALSE;
  VpMatrix  matrix;

  PetscFunctionBegin;
  PetscCheck(P, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "%s has no matrix yet: call KSPSetOperators() or KSPSetDM() first", caller);
  PetscCall(VpMatrixFind(P, &matrix));
  *p = (VpPmat){.scale = 1};
  if (matrix) p->dm = matrix->dm;
  else PetscCall(MatGetDM(P, &p->dm));
  if (p->dm) PetscCall(PetscObjectTypeCompare((PetscObject)p->dm, DMVPATCHDG, &match));
  PetscCheck(match, PetscObjectComm((PetscObject)P), PETSC_ERR_ARG_WRONG,
             "%s needs a matrix that DMCreateMatrix() made from a DM of type vpatchdg; this one (type %s) %s. Pass such a matrix as Pmat "
             "to KSPSetOperators(), or "
             "the DM to KSPSetDM()",
             caller, VpTypeName((PetscObject)P), p->dm ? "belongs to a DM of another type" : "belongs to no DM");
  PetscCall(DMVPatchDGCheckMatrix(p->dm, P, caller));
  PetscCall(DMVPatchDGCheckOfCells(p->dm, caller));
  p->op = matrix ? VpMatrixOperator(matrix) : ((DM_VPatchDG *)p->dm->data)->op;
  if (!matrix) PetscFunctionReturn(PETSC_SUCCESS);
  p->scale = matrix->scale;
  p->shift = matrix->shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells PETSc the properties of an operator. */
static PetscErrorCode DescribeMatrix(DM dm, Mat A)
{
  const PetscBool singular = DMVPatchDGIsSingular(dm);
  VpLevel         host;

  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  if (DMVPatchDGData(dm)->penalty >= 1 && !singular) PetscCall(VpSetPositiveDefinite(A));
  if (!singular) PetscFunctionReturn(PETSC_SUCCESS);
  if (DMVPatchDGData(dm)->layout) {
    MatNullSpace constants;

    PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)dm), PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMVPatchDGGetHostLevel(dm, &host));
  PetscCall(VpSetConstantNullSpace(host, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMCreateMatrix_VPatchDG(DM dm, Mat *A)
{
  PetscBool shell;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMCreateMatrix()"));
  PetscCall(PetscStrcmp(dm->mattype, MATSHELL, &shell));
  if (shell) {
    PetscCall(DMVPatchDGCreateShell(dm, A));
  } else {
    PetscCall(DMVPatchDGCreateAssembled(dm, dm->mattype, A));
    PetscCall(VpMatrixAttachAssembled(dm, *A, NULL));
  }
  PetscCall(DescribeMatrix(dm, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix-free operator reads the DM at every use. An assembled matrix is replaced, possibly with another nonzero pattern, and loses its
   composed objects. Its new record becomes the first in the list. Copies do not change. */
PetscErrorCode DMVPatchDGUpdateMatrices(DM dm)
{
  VpMatrix next;

  PetscFunctionBegin;
  for (VpMatrix matrix = DMVPatchDGData(dm)->mats; matrix; matrix = next) {
    Mat A = matrix->mat, B;

    next = matrix->next;
    if (matrix->kept) continue;
    if (matrix->shell) {
      matrix->scale = 1;
      matrix->shift = 0;
    } else {
      PetscCall(DMVPatchDGCreateAssembled(dm, ((PetscObject)A)->type_name, &B));
      PetscCall(MatHeaderReplace(A, &B));
      PetscCall(VpMatrixAttachAssembled(dm, A, NULL));
    }
    PetscCall(DescribeMatrix(dm, A));
    PetscCall(PetscObjectStateIncrease((PetscObject)A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
