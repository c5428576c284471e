/* The matrices made from a DM: matrix-free (shell.c) or assembled, they are scale A + shift I. What MatScale(), MatShift(), MatDuplicate() and
   MatCopy() do to them is the same for both. */
#include "../impl.h"

static const char record_name[] = "DMVPatchDG matrix";

/* the operations of an assembled matrix that go through this file, in the order of VpMatrix->native */
enum { DUPLICATE, COPY, SCALE, SHIFT };
static const MatOperation operation[] = {MATOP_DUPLICATE, MATOP_COPY, MATOP_SCALE, MATOP_SHIFT};

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
  DM_VPatchDG   *dg = (DM_VPatchDG *)dm->data;
  PetscContainer container;
  VpMatrix       matrix;

  PetscFunctionBegin;
  PetscCall(MatSetDM(A, dm));
  PetscCall(PetscNew(&matrix));
  PetscCall(PetscObjectReference((PetscObject)dm));
  matrix->dm = dm;
  matrix->mat = A;
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

/* A of the copy is that of the original, whatever coefficient the DM gets later */
static PetscErrorCode Keep(VpMatrix copy, const struct VpMatrix_ *original)
{
  VpOperator op = VpOperatorReference(VpMatrixOperator((VpMatrix)original));

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
  if (matrix->native[SCALE]) PetscCall(((PetscErrorCode(*)(Mat, PetscScalar))matrix->native[SCALE])(A, a));
  matrix->scale *= a;
  matrix->shift *= a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShift_VPatchDG(Mat A, PetscScalar a)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(A, &matrix));
  if (matrix->native[SHIFT]) PetscCall(((PetscErrorCode(*)(Mat, PetscScalar))matrix->native[SHIFT])(A, a));
  matrix->shift += a;
  if (matrix->shift != 0) {
    PetscCall(MatSetNullSpace(A, NULL));
    PetscCall(MatSetTransposeNullSpace(A, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AttachAssembled(DM, Mat, VpMatrix like);

/* an assembled matrix whose values somebody will write stands for A, too */
PetscErrorCode MatDuplicate_VPatchDG(Mat A, MatDuplicateOption option, Mat *B)
{
  VpMatrix  matrix, copy;
  PetscBool shell;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(A, &matrix));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &shell));
  if (shell) {
    PetscCall(DMVPatchDGCreateShell(matrix->dm, B));
  } else {
    PetscCall(((PetscErrorCode(*)(Mat, MatDuplicateOption, Mat *))matrix->native[DUPLICATE])(A, option, B));
    PetscCall(AttachAssembled(matrix->dm, *B, matrix));
  }
  PetscCall(VpMatrixFind(*B, &copy));
  PetscCall(Keep(copy, matrix));
  if (option != MAT_COPY_VALUES) {
    copy->scale = shell ? 0 : 1;
    copy->shift = 0;
  }
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
  if (from->native[COPY]) PetscCall(((PetscErrorCode(*)(Mat, Mat, MatStructure))from->native[COPY])(A, B, structure));
  else
    PetscCheck(same && to && to->dm == from->dm, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
               "A matrix-free operator can be copied only to another of the same DM");
  if (to) PetscCall(Keep(to, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an assembled matrix gets its record, which keeps its type's operations; like: another of the type that has one already, or NULL */
static PetscErrorCode AttachAssembled(DM dm, Mat A, VpMatrix like)
{
  static VpFunction *const own[] = {(VpFunction *)MatDuplicate_VPatchDG, (VpFunction *)MatCopy_VPatchDG, (VpFunction *)MatScale_VPatchDG,
                                    (VpFunction *)MatShift_VPatchDG};
  VpMatrix                 matrix;

  PetscFunctionBegin;
  PetscCall(VpMatrixAttach(dm, A, &matrix));
  for (int i = 0; i < (int)PETSC_STATIC_ARRAY_LENGTH(own); i++) {
    PetscCall(MatGetOperation(A, operation[i], &matrix->native[i]));
    if (matrix->native[i] == own[i]) matrix->native[i] = like->native[i]; /* types may copy their table of operations to a duplicate */
    if (matrix->native[i]) PetscCall(MatSetOperation(A, operation[i], own[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscCall(DMVPatchDGCheck(p->dm, caller));
  PetscCall(DMVPatchDGCheckMatrix(p->dm, P, caller));
  p->op = matrix ? VpMatrixOperator(matrix) : ((DM_VPatchDG *)p->dm->data)->op;
  if (!matrix) PetscFunctionReturn(PETSC_SUCCESS);
  p->scale = matrix->scale;
  p->shift = matrix->shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateAssembled(DM dm, MatType type, Mat *A)
{
  VpLevel level;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetHostLevel(dm, &level));
  PetscCall(VpAssemble(level, type, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the constants, given by their coefficients: in this basis they are not the vector of ones */
PetscErrorCode DMVPatchDGAttachNullSpace(DM dm, Mat A)
{
  MatNullSpace nullspace;
  VpProblem    problem;
  VpLevel      level;
  PetscScalar *values;
  Vec          one;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetProblem(dm, &problem));
  if (!VpProblemIsSingular(((DM_VPatchDG *)dm->data)->mesh, &problem)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGGetHostLevel(dm, &level));
  PetscCall(DMCreateGlobalVector(dm, &one));
  PetscCall(VecGetArrayWrite(one, &values));
  PetscCall(VpConstant(level, values));
  PetscCall(VecRestoreArrayWrite(one, &values));
  PetscCall(VecNormalize(one, NULL));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)dm), PETSC_FALSE, 1, &one, &nullspace));
  PetscCall(MatSetNullSpace(A, nullspace));
  PetscCall(MatNullSpaceDestroy(&nullspace));
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* says what is known of an operator */
static PetscErrorCode Describe(DM dm, Mat A)
{
  VpProblem problem;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetProblem(dm, &problem));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  if (problem.penalty >= 1 && !VpProblemIsSingular(((DM_VPatchDG *)dm->data)->mesh, &problem))
    PetscCall(VpSetPositiveDefinite(A));
  PetscCall(DMVPatchDGAttachNullSpace(dm, A));
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
    PetscCall(CreateAssembled(dm, dm->mattype, A));
    PetscCall(AttachAssembled(dm, *A, NULL));
  }
  PetscCall(Describe(dm, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix-free operator reads the DM at every use. An assembled matrix gets new contents, of another nonzero pattern perhaps, and loses
   what was attached; its new record comes first in the list. Copies stay as they are. */
PetscErrorCode DMVPatchDGUpdateMatrices(DM dm)
{
  VpMatrix next;

  PetscFunctionBegin;
  for (VpMatrix matrix = ((DM_VPatchDG *)dm->data)->mats; matrix; matrix = next) {
    Mat       A = matrix->mat, B;
    PetscBool shell;

    next = matrix->next;
    if (matrix->kept) continue;
    PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &shell));
    if (shell) {
      matrix->scale = 1;
      matrix->shift = 0;
    } else {
      PetscCall(CreateAssembled(dm, ((PetscObject)A)->type_name, &B));
      PetscCall(MatHeaderReplace(A, &B));
      PetscCall(AttachAssembled(dm, A, NULL));
    }
    PetscCall(Describe(dm, A));
    PetscCall(PetscObjectStateIncrease((PetscObject)A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
