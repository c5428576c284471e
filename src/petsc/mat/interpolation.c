/* DMCreateInterpolation(): the embedding of the coarse space in the fine one. In the orthonormal basis its transpose is the restriction. If
   cells are mapped, spaces consist of functions of the boxes' points, and roots lead to the basis of boxes and back. */
#include "internal.h"

typedef struct {
  VpLevel  from, to;
  VpVector x; /* coarse values and ghosts */
  VpVector b; /* fine values; made at the first restriction */
} Transfer;

static PetscErrorCode TransferDestroy(void *ctx)
{
  Transfer *t = VpDestroyedContext(Transfer, ctx);

  PetscFunctionBegin;
  PetscCall(VpVectorDestroy(&t->x));
  PetscCall(VpVectorDestroy(&t->b));
  PetscCall(VpLevelDestroy(&t->from));
  PetscCall(VpLevelDestroy(&t->to));
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies own values by the roots of a level whose cells are mapped, on the host, or divides them by these. */
static void ScaleByRoots(VpLevel level, PetscBool divide, void *values)
{
  const double *root = level->view.metric.root;
  double       *v = values;

  for (size_t i = 0; root && i < (size_t)level->mesh->nown * level->block / sizeof(*v); i++) v[i] *= divide ? 1 / root[i] : root[i];
}

/* Copies v, times the roots or divided by them, to a level's vector and exchanges its ghosts. */
static PetscErrorCode FetchVector(Vec v, PetscBool divide, VpGhostKind kind, VpVector x, const void **fetched)
{
  const VpLevel level = x->level;
  void         *to;
  VpValues      values;

  PetscFunctionBegin;
  PetscCall(VpValuesGet(level->backend, v, VP_READ, &values));
  PetscCall(VpVectorAbandon(x)); /* after an error */
  PetscCall(VpVectorWrite(x, VP_GHOST_NONE, &to));
  PetscCall(level->backend->copy(values.at, level->mesh->nown * level->block, to));
  ScaleByRoots(level, divide, to);
  PetscCall(VpValuesRestore(&values));
  PetscCall(VpVectorRead(x, kind, fetched));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = P x, y += P x or y = P^T x, where P = roots of fine cells^-1 (the embedding) roots of coarse cells */
static PetscErrorCode RunTransfer(Mat P, PetscBool transpose, Vec x, VpAccess access, Vec y)
{
  Transfer   *t;
  const void *fetched;
  VpValues    values;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(P, &t));
  if (transpose && !t->b) PetscCall(VpVectorCreate(t->to, 1, "restriction", &t->b));
  PetscCall(FetchVector(x, transpose, transpose ? VP_GHOST_CHILD : VP_GHOST_ALL, transpose ? t->b : t->x, &fetched));
  PetscCall(PetscLogEventBegin(VP_EVENT_TRANSFER, P, 0, 0, 0));
  PetscCall(VpValuesGet(t->to->backend, y, access, &values));
  if (access == VP_READ_WRITE) ScaleByRoots(t->to, PETSC_FALSE, values.at);
  if (transpose) PetscCall(t->to->ops->restrict_(&t->to->transfer, fetched, values.at));
  else PetscCall(t->to->ops->prolong(&t->to->transfer, 0, t->to->mesh->nown, access == VP_READ_WRITE, fetched, values.at));
  ScaleByRoots(transpose ? t->from : t->to, (PetscBool)!transpose, values.at);
  PetscCall(VpValuesRestore(&values));
  PetscCall(VpLogFlops(t->to->backend, VpTransferFlops(&t->to->view, t->to->view.nown)));
  PetscCall(PetscLogEventEnd(VP_EVENT_TRANSFER, P, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Transfer(Mat P, Vec x, Vec y)
{
  return RunTransfer(P, PETSC_FALSE, x, VP_WRITE, y);
}

static PetscErrorCode MatMultAdd_Transfer(Mat P, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (z != y) PetscCall(VecCopy(y, z));
  PetscCall(RunTransfer(P, PETSC_FALSE, x, VP_READ_WRITE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_Transfer(Mat P, Vec x, Vec y)
{
  return RunTransfer(P, PETSC_TRUE, x, VP_WRITE, y);
}

static PetscErrorCode SetUpShell(DM fine, VpLevel from, VpLevel to, Mat P)
{
  Transfer *t;

  PetscFunctionBegin;
  PetscCall(PetscNew(&t));
  *t = (Transfer){.from = VpReference(from), .to = VpReference(to)};
  PetscCall(VpVectorCreate(from, 1, "prolongation", &t->x));
  PetscCall(MatSetType(P, MATSHELL));
  PetscCall(MatShellSetContext(P, t));
  PetscCall(MatShellSetContextDestroy(P, TransferDestroy));
  PetscCall(MatShellSetVecType(P, fine->vectype));
  PetscCall(MatShellSetOperation(P, MATOP_MULT, (VpFunction *)MatMult_Transfer));
  PetscCall(MatShellSetOperation(P, MATOP_MULT_ADD, (VpFunction *)MatMultAdd_Transfer));
  PetscCall(MatShellSetOperation(P, MATOP_MULT_TRANSPOSE, (VpFunction *)MatMultTranspose_Transfer));
  PetscCall(MatSetUp(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B [ndof][ndof] = P_z (x) P_y (x) P_x maps a parent's coefficients to a child's. Requires: no child is VP_UNEQUAL, which holds because a
   DM's boxes stay whole. */
static void BuildChildMatrix(int dim, int n, const double P[], int corner, int ndof, PetscScalar B[])
{
  for (int i = 0; i < ndof; i++) {
    for (int j = 0; j < ndof; j++) {
      double b = 1;
      for (int d = 0, r = i, c = j; d < dim; d++, r /= n, c /= n) {
        const int lies = corner >> 2 * d & 3;

        b *= lies == VP_WHOLE ? r % n == c % n : P[lies * n * n + (r % n) * n + c % n];
      }
      B[i * ndof + j] = b;
    }
  }
}

/* Requires: `to` is on the host. */
static PetscErrorCode AssembleTransfer(DM fine, VpLevel from, VpLevel to, Mat P)
{
  VpMesh       mesh = to->mesh, parents = from->mesh;
  const int    dim = mesh->dim, ndof = (int)PetscPowInt(to->basis.n, dim);
  PetscInt    *position;
  PetscScalar *child[64] = {NULL}; /* [corner] matrices that occur */
  PetscBool    aij;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(parents->nlocal, &position));
  PetscCall(VpMeshPositions(parents, position));
  PetscCall(PetscStrbeginswith(fine->mattype, MATAIJ, &aij));
  PetscCall(MatSetType(P, aij ? fine->mattype : MATAIJ));
  PetscCall(MatSetBlockSize(P, ndof));
  PetscCall(MatSeqAIJSetPreallocation(P, ndof, NULL));
  PetscCall(MatMPIAIJSetPreallocation(P, ndof, NULL, ndof, NULL));
  for (int32_t c = 0; c < mesh->nown; c++) {
    const int      corner = to->transfer.corner[c];
    const PetscInt row = mesh->first + c;

    if (!child[corner]) {
      PetscCall(PetscMalloc1((size_t)ndof * ndof, &child[corner]));
      BuildChildMatrix(dim, to->basis.n, to->transfer.P, corner, ndof, child[corner]);
    }
    PetscCall(MatSetValuesBlocked(P, 1, &row, 1, &position[mesh->relation->parent[c]], child[corner], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  for (int corner = 0; corner < 64; corner++) PetscCall(PetscFree(child[corner]));
  PetscCall(PetscFree(position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies the rows and columns of an assembled P by the roots. */
static PetscErrorCode ScaleAssembled(VpLevel from, VpLevel to, Mat P)
{
  PetscScalar *l, *r;
  Vec          left, right;

  PetscFunctionBegin;
  if (!to->view.metric.root) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(P, &right, &left));
  PetscCall(VecSet(left, 1));
  PetscCall(VecSet(right, 1));
  PetscCall(VecGetArray(left, &l));
  PetscCall(VecGetArray(right, &r));
  ScaleByRoots(to, PETSC_TRUE, l);
  ScaleByRoots(from, PETSC_FALSE, r);
  PetscCall(VecRestoreArray(right, &r));
  PetscCall(VecRestoreArray(left, &l));
  PetscCall(MatDiagonalScale(P, left, right));
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The roots of mapped cells are applied on the host. */
static PetscErrorCode GetLevel(DM dm, VpLevel *level)
{
  return DMVPatchDGData(dm)->mesh->geometry->map ? DMVPatchDGGetHostLevel(dm, level) : DMVPatchDGGetLevel(dm, level);
}

PetscErrorCode DMCreateInterpolation_VPatchDG(DM coarse, DM fine, Mat *P, Vec *scale)
{
  VpLevel   from, to;
  PetscInt  block;
  PetscBool shell;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(coarse, "DMCreateInterpolation()"));
  PetscCall(DMVPatchDGCheck(fine, "DMCreateInterpolation()"));
  PetscCall(DMVPatchDGCheckOfCells(fine, "DMCreateInterpolation()"));
  PetscCall(DMVPatchDGCheckOfCells(coarse, "DMCreateInterpolation()"));
  PetscCall(VpCheckNotAdaptive(DMVPatchDGData(coarse)->mesh, "DMCreateInterpolation()"));
  PetscCall(VpCheckNotAdaptive(DMVPatchDGData(fine)->mesh, "DMCreateInterpolation()"));
  PetscCall(GetLevel(coarse, &from));
  PetscCall(GetLevel(fine, &to));
  PetscCheck(VpMeshCoarser(to->mesh) == from->mesh && to->basis.n == from->basis.n, PetscObjectComm((PetscObject)fine),
             PETSC_ERR_ARG_INCOMP, "DMCreateInterpolation() needs a DM and what DMRefine() or DMCoarsen() made of it");
  PetscCheck(to->backend == from->backend, PetscObjectComm((PetscObject)fine), PETSC_ERR_ARG_INCOMP,
             "DMCreateInterpolation(): the coarse DM works on backend %s, the fine one on %s. Give both the same -dm_vec_type or "
             "-dm_vpatchdg_backend",
             from->backend->name, to->backend->name);
  block = DMVPatchDGCellSize(fine);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)fine), P));
  PetscCall(MatSetSizes(*P, to->mesh->nown * block, from->mesh->nown * block, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(PetscStrcmp(fine->mattype, MATSHELL, &shell));
  if (!shell) PetscCall(DMVPatchDGGetHostLevel(fine, &to));
  if (!to->transfer.P) PetscCall(VpLevelSetTransfer(to));
  PetscCall(shell ? SetUpShell(fine, from, to, *P) : AssembleTransfer(fine, from, to, *P));
  if (!shell) PetscCall(ScaleAssembled(from, to, *P));
  if (scale) *scale = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
