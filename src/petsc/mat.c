/* DMCreateMatrix: the operator scale A + shift I as MATSHELL, or A assembled. */
#include "impl.h"

typedef struct {
  PetscScalar scale, shift;
} Shell;

/* The operators of a DM that are alive: a changed coefficient reaches them. */
typedef struct MatLink_ *MatLink;
struct MatLink_ {
  DM      dm;
  Mat     mat; /* not referenced: the link dies with it */
  MatLink next;
};

static const char link_name[] = "DMVPatchDG operator";

static PetscErrorCode LinkDestroy(void *ctx)
{
  MatLink  link = VpDestroyedContext(struct MatLink_, ctx);
  MatLink *from = &((DM_VPatchDG *)link->dm->data)->mats;

  PetscFunctionBegin;
  while (*from && *from != link) from = &(*from)->next;
  if (*from) *from = link->next;
  PetscCall(DMDestroy(&link->dm));
  PetscCall(PetscFree(link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Attach(DM dm, Mat A)
{
  DM_VPatchDG   *dg = (DM_VPatchDG *)dm->data;
  PetscContainer container;
  MatLink        link;

  PetscFunctionBegin;
  PetscCall(MatSetDM(A, dm));
  PetscCall(PetscNew(&link));
  PetscCall(PetscObjectReference((PetscObject)dm));
  link->dm = dm;
  link->mat = A;
  link->next = dg->mats;
  dg->mats = link;
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)A), &container));
  PetscCall(PetscContainerSetPointer(container, link));
  PetscCall(PetscContainerSetCtxDestroy(container, LinkDestroy));
  PetscCall(PetscObjectCompose((PetscObject)A, link_name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetVPatchDG(Mat P, const char caller[], DM *dm)
{
  PetscBool match = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(P, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "%s has no matrix yet: call KSPSetOperators() or KSPSetDM() first", caller);
  PetscCall(MatGetDM(P, dm));
  if (*dm) PetscCall(PetscObjectTypeCompare((PetscObject)*dm, DMVPATCHDG, &match));
  PetscCheck(match, PetscObjectComm((PetscObject)P), PETSC_ERR_ARG_WRONG,
             "%s needs a matrix that DMCreateMatrix() made from a DM of type vpatchdg; this one (type %s) %s. Pass such a matrix as Pmat "
             "to KSPSetOperators(), or "
             "the DM to KSPSetDM()",
             caller, ((PetscObject)P)->type_name, *dm ? "belongs to a DM of another type" : "belongs to no DM");
  PetscCall(DMVPatchDGCheck(*dm, caller));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_VPatchDG(Mat, Vec, Vec);

PetscErrorCode MatVPatchDGGetScaling(Mat A, PetscScalar *scale, PetscScalar *shift)
{
  VpFunction *mult = NULL;
  PetscBool   match;
  Shell      *shell;

  PetscFunctionBegin;
  *scale = 1;
  *shift = 0;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &match));
  if (match) PetscCall(MatShellGetOperation(A, MATOP_MULT, &mult));
  if (mult != (VpFunction *)MatMult_VPatchDG) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShellGetContext(A, &shell));
  *scale = shell->scale;
  *shift = shell->shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A x, or b - A x, without scale and shift */
static PetscErrorCode Apply(DM dm, Vec x, Vec b, Vec y)
{
  PetscScalar     *xx, *bb = NULL, *yy;
  VpValues         xv, bv, yv;
  VpGhosts         ghosts;
  VpLevel          level;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetLevel(dm, &level));
  PetscCall(VpValuesGet(level->backend, x, VP_READ, &xv, &xx));
  if (b) PetscCall(VpValuesGet(level->backend, b, VP_READ, &bv, &bb));
  PetscCall(VpValuesGet(level->backend, y, VP_WRITE, &yv, &yy));
  PetscCall(DMVPatchDGGhosts(dm, xx, &ghosts));
  PetscCall(PetscLogEventBegin(VP_EVENT_APPLY, dm, x, y, 0));
  PetscCall(level->ops->apply(&level->view, 0, level->mesh->nown, xx, ghosts, bb, yy));
  PetscCall(VpLogFlops(level, VpLevelApplyFlops(level)));
  PetscCall(PetscLogEventEnd(VP_EVENT_APPLY, dm, x, y, 0));
  PetscCall(VpValuesRestore(&yv));
  if (b) PetscCall(VpValuesRestore(&bv));
  PetscCall(VpValuesRestore(&xv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_VPatchDG(Mat A, Vec x, Vec y)
{
  Shell *shell;
  DM     dm;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &shell));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(Apply(dm, x, NULL, y));
  if (shell->scale != 1) PetscCall(VecScale(y, shell->scale));
  if (shell->shift != 0) PetscCall(VecAXPY(y, shell->shift, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatResidual_VPatchDG(Mat A, Vec b, Vec x, Vec r)
{
  Shell *shell;
  DM     dm;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &shell));
  PetscCall(MatGetDM(A, &dm));
  if (shell->scale == 1 && shell->shift == 0 && r != b) {
    PetscCall(Apply(dm, x, b, r));
  } else {
    Vec y;

    PetscCall(DMGetGlobalVector(dm, &y));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecWAXPY(r == b ? y : r, -1, y, b));
    if (r == b) PetscCall(VecCopy(y, r));
    PetscCall(DMRestoreGlobalVector(dm, &y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_VPatchDG(Mat A, Vec d)
{
  PetscScalar *values;
  Shell       *shell;
  VpLevel      level;
  DM           dm;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &shell));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(DMVPatchDGGetHostLevel(dm, &level));
  PetscCall(VecGetArrayWrite(d, &values));
  PetscCall(VpDiagonal(level, values));
  PetscCall(VecRestoreArrayWrite(d, &values));
  PetscCall(VecScale(d, shell->scale));
  PetscCall(VecShift(d, shell->shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a shifted operator is assembled for it: absolute values of its diagonal do not follow from those of A */
static PetscErrorCode MatNorm_VPatchDG(Mat A, NormType type, PetscReal *norm)
{
  Shell  *shell;
  VpLevel level;
  DM      dm;
  Mat     B;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &shell));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(DMVPatchDGGetHostLevel(dm, &level));
  if (shell->shift == 0) {
    PetscCall(VpAbsoluteSums(level, type, norm));
    *norm *= PetscAbsScalar(shell->scale);
  } else {
    PetscCall(VpAssemble(level, MATAIJ, &B));
    PetscCall(MatScale(B, shell->scale));
    PetscCall(MatShift(B, shell->shift));
    PetscCall(MatNorm(B, type, norm));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatScale_VPatchDG(Mat A, PetscScalar a)
{
  Shell *shell;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &shell));
  shell->scale *= a;
  shell->shift *= a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShift_VPatchDG(Mat A, PetscScalar a)
{
  Shell *shell;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &shell));
  shell->shift += a;
  if (shell->shift != 0) {
    PetscCall(MatSetNullSpace(A, NULL));
    PetscCall(MatSetTransposeNullSpace(A, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateVecs_VPatchDG(Mat A, Vec *right, Vec *left)
{
  DM dm;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &dm));
  if (right) PetscCall(DMCreateGlobalVector(dm, right));
  if (left) PetscCall(DMCreateGlobalVector(dm, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellDestroy(void *ctx)
{
  Shell *shell = VpDestroyedContext(Shell, ctx);

  PetscFunctionBegin;
  PetscCall(PetscFree(shell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateShell(DM, Mat *);

static PetscErrorCode MatCopy_VPatchDG(Mat A, Mat B, MatStructure structure)
{
  PetscScalar scale, shift;
  VpFunction *mult = NULL;
  PetscBool   match;
  Shell      *shell;
  DM          from, to;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &from));
  PetscCall(MatGetDM(B, &to));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSHELL, &match));
  if (match) PetscCall(MatShellGetOperation(B, MATOP_MULT, &mult));
  PetscCheck(from == to && mult == (VpFunction *)MatMult_VPatchDG, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A matrix-free operator can be copied only to another of the same DM");
  PetscCall(MatVPatchDGGetScaling(A, &scale, &shift));
  PetscCall(MatShellGetContext(B, &shell));
  *shell = (Shell){scale, shift};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_VPatchDG(Mat A, MatDuplicateOption option, Mat *B)
{
  DM dm;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(CreateShell(dm, B));
  if (option == MAT_COPY_VALUES) PetscCall(MatCopy_VPatchDG(A, *B, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* no layout is copied from the DM's vectors: they may live on a device */
static PetscErrorCode CreateShell(DM dm, Mat *A)
{
  DM_VPatchDG   *dg = (DM_VPatchDG *)dm->data;
  const PetscInt n = dg->mesh->nown * PetscPowInt(dg->degree + 1, (int)dm->dim);
  Shell         *shell;

  PetscFunctionBegin;
  PetscCall(PetscNew(&shell));
  shell->scale = 1;
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)dm), n, n, PETSC_DETERMINE, PETSC_DETERMINE, shell, A));
  PetscCall(MatShellSetContextDestroy(*A, ShellDestroy));
  PetscCall(MatShellSetManageScalingShifts(*A));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (VpFunction *)MatMult_VPatchDG));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT_TRANSPOSE, (VpFunction *)MatMult_VPatchDG));
  PetscCall(MatShellSetOperation(*A, MATOP_RESIDUAL, (VpFunction *)MatResidual_VPatchDG));
  PetscCall(MatShellSetOperation(*A, MATOP_GET_DIAGONAL, (VpFunction *)MatGetDiagonal_VPatchDG));
  PetscCall(MatShellSetOperation(*A, MATOP_NORM, (VpFunction *)MatNorm_VPatchDG));
  PetscCall(MatShellSetOperation(*A, MATOP_SCALE, (VpFunction *)MatScale_VPatchDG));
  PetscCall(MatShellSetOperation(*A, MATOP_SHIFT, (VpFunction *)MatShift_VPatchDG));
  PetscCall(MatShellSetOperation(*A, MATOP_CREATE_VECS, (VpFunction *)MatCreateVecs_VPatchDG));
  PetscCall(MatShellSetOperation(*A, MATOP_DUPLICATE, (VpFunction *)MatDuplicate_VPatchDG));
  PetscCall(MatShellSetOperation(*A, MATOP_COPY, (VpFunction *)MatCopy_VPatchDG));
  PetscCall(MatShellSetVecType(*A, dm->vectype));
  PetscCall(Attach(dm, *A));
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
    PetscCall(CreateShell(dm, A));
  } else {
    PetscCall(CreateAssembled(dm, dm->mattype, A));
    PetscCall(Attach(dm, *A));
  }
  PetscCall(Describe(dm, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shell reads the DM at every use and only has to say that it changed. An assembled matrix gets new contents, of another nonzero pattern
   perhaps, and loses what was attached; its new link comes first in the list. */
PetscErrorCode DMVPatchDGUpdateMatrices(DM dm)
{
  MatLink next;

  PetscFunctionBegin;
  for (MatLink link = ((DM_VPatchDG *)dm->data)->mats; link; link = next) {
    Mat       A = link->mat, B;
    PetscBool shell;

    next = link->next;
    PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &shell));
    if (!shell) {
      PetscCall(CreateAssembled(dm, ((PetscObject)A)->type_name, &B));
      PetscCall(MatHeaderReplace(A, &B));
      PetscCall(Attach(dm, A));
      PetscCall(Describe(dm, A));
    }
    PetscCall(PetscObjectStateIncrease((PetscObject)A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
