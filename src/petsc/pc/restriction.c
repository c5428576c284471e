/* Gives PCVPATCHDG the element restriction of a continuous operator. */
#include "stencil.h"
#include "../dm/elements.h"
#include <petscdmda.h>

/* number of nodes of a cell of this degree */
static PetscInt CountNodes(DM dm, PetscInt degree)
{
  return PetscPowInt(degree + 1, DMVPatchDGData(dm)->mesh->dim);
}

/* Takes over a reference to the DM, and what else was allocated. */
static PetscErrorCode TakeRestriction(PC pc, struct VpContinuous_ made)
{
  VpPCBase *inverse = pc->data;

  PetscFunctionBegin;
  PetscCall(VpPCBaseReset(pc));
  PetscCall(VpContinuousDestroy(pc));
  PetscCall(PetscNew(&inverse->continuous));
  *inverse->continuous = made;
  VpGaussLobatto((int)DMVPatchDGData(made.dm)->degree, inverse->continuous->point);
  pc->ops->applyrichardson = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *mesh: the DMDA (*da) or DMPLEX that the Pmat is a matrix of, or NULL */
static PetscErrorCode FindMesh(PC pc, DM *mesh, PetscBool *da)
{
  PetscBool plex = PETSC_FALSE;
  VpMatrix  matrix;
  PetscInt  rows, dof, n[3];

  PetscFunctionBegin;
  *mesh = NULL;
  *da = PETSC_FALSE;
  PetscCall(VpMatrixFind(pc->pmat, &matrix));
  if (matrix) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDM(pc->pmat, mesh));
  if (!*mesh) *mesh = pc->dm;
  if (!*mesh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)*mesh, DMDA, da));
  PetscCall(PetscObjectTypeCompare((PetscObject)*mesh, DMPLEX, &plex));
  if (*da) {
    PetscCall(DMDAGetInfo(*mesh, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
    PetscCall(MatGetSize(pc->pmat, &rows, NULL));
    *da = (PetscBool)(rows == dof * n[0] * n[1] * n[2]);
  }
  if (!*da && !plex) *mesh = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adopts a matrix on a DMDA. */
static PetscErrorCode AdoptStencil(PC pc, DM da)
{
  VpPCBase            *inverse = pc->data;
  struct VpContinuous_ made = {.dm = NULL};
  VpStencil            stencil;
  VpStencilAsked asked = {.points = PCVPatchDGData(pc)->points, .width = PCVPatchDGData(pc)->width, .prefix = ((PetscObject)pc)->prefix};

  PetscFunctionBegin;
  asked.smooths = (PetscBool)(inverse->jacobi == VP_JACOBI_AUTO || (inverse->jacobi == VP_JACOBI_BOTH && asked.width == VP_WIDTH_WIDE));
  PetscCall(VpStencilCreate(pc->pmat, da, &stencil));
  PetscCall(VpStencilConvert(&stencil, &asked, &made));
  PetscCall(TakeRestriction(pc, made));
  if (stencil.negative > VP_STENCIL_VARIES)
    PetscCall(VpWarn(pc, VP_WARN_REACTION,
                     "the matrix has rows with a negative sum, of up to %.3g times that of their couplings, as for -div(a grad u) - c u. "
                     "The cycle has c = 0 there: expect many iterations, or none, if the matrix is not positive definite",
                     stencil.negative));
  PetscCall(VpStencilDestroy(&stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* section: 0 where the DMPLEX has none */
static PetscErrorCode FindKey(DM plex, VpElementsKey *of)
{
  PetscSection section;
  Vec          x;

  PetscFunctionBegin;
  *of = (VpElementsKey){.section = 0};
  PetscCall(DMGetLocalSection(plex, &section));
  if (section) PetscCall(PetscObjectGetId((PetscObject)section, &of->section));
  PetscCall(DMGetCoordinatesLocal(plex, &x));
  if (!x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)x, &of->coordinates));
  PetscCall(PetscObjectStateGet((PetscObject)x, &of->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adopts a matrix on a DMPLEX, unless an older one of the same unknowns at the same places was adopted. */
static PetscErrorCode AdoptElements(PC pc, DM plex)
{
  VpPCBase     *inverse = pc->data;
  VpElements    elements;
  VpElementsKey now, before = {.section = 0};
  PetscLayout   rows;
  PetscMPIInt   first;
  PetscBool     moved;

  PetscFunctionBegin;
  PetscCall(FindKey(plex, &now));
  if (inverse->continuous) before = inverse->continuous->elements;
  moved = (PetscBool)(!now.section || now.section != before.section || now.coordinates != before.coordinates || now.state != before.state);
  PetscCall(VpFirstRank(PetscObjectComm((PetscObject)plex), moved, &first));
  if (first == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLayouts(pc->pmat, &rows, NULL));
  PetscCall(VpElementsCreate(plex, rows, ((PetscObject)pc)->prefix, &elements));
  PetscCall(TakeRestriction(pc, (struct VpContinuous_){.dm = elements.dm, .node = elements.node}));
  PetscCall(PetscArraycpy(inverse->continuous->point, elements.point, VP_MAX_N));
  PetscCall(FindKey(plex, &inverse->continuous->elements)); /* Making cells may have made the local coordinates. */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the nodes of the Pmat's DM, if it is a continuous one. */
static PetscErrorCode AdoptNodes(PC pc, PetscBool *took)
{
  VpPCBase *inverse = pc->data;
  const KSP ksp = inverse->ksp;
  VpMatrix  matrix;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(pc->pmat, &matrix));
  *took = (PetscBool)(matrix && DMVPatchDGData(matrix->dm)->layout);
  if (!*took || (inverse->continuous && inverse->continuous->dm == matrix->dm && !inverse->continuous->node))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)matrix->dm));
  PetscCall(TakeRestriction(pc, (struct VpContinuous_){.dm = matrix->dm, .adopted = PETSC_TRUE}));
  inverse->ksp = ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes `continuous` for the Pmat's own DM, unless the user gave it. */
static PetscErrorCode AdoptMatrix(PC pc)
{
  VpPCBase *inverse = pc->data;
  const KSP ksp = inverse->ksp;
  PetscBool da, took;
  DM        mesh;

  PetscFunctionBegin;
  if (inverse->continuous && !inverse->continuous->adopted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AdoptNodes(pc, &took));
  if (took) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindMesh(pc, &mesh, &da));
  if (!mesh) {
    PetscCall(VpContinuousDestroy(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(da ? AdoptStencil(pc, mesh) : AdoptElements(pc, mesh));
  inverse->ksp = ksp;
  inverse->continuous->adopted = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGAdopt(PC pc)
{
  VpPCBase *inverse = pc->data;

  PetscFunctionBegin;
  PetscCall(AdoptMatrix(pc));
  if (inverse->continuous) inverse->continuous->symmetric = PCVPatchDGData(pc)->options.symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the restriction. same: the number of cells is the DM's on this rank */
static PetscErrorCode StoreRestriction(PC pc, DM dm, PetscBool same, const PetscInt node[], const char wrong[])
{
  DM_VPatchDG *dg = dm->data;
  PetscInt     n, *copy;

  PetscFunctionBegin;
  PetscCall(VpCheckNotAdaptive(dg->mesh, "PCVPatchDGSetElementRestriction()"));
  PetscCall(VpCheckPlaces(dg->mesh->comm, dg->mesh->nown, (int)CountNodes(dm, dg->degree)));
  PetscCall(VpCheckEverywhere(dg->mesh->comm, same, wrong));
  n = dg->mesh->nown * CountNodes(dm, dg->degree);
  PetscCall(VpCheckEverywhere(dg->mesh->comm, (PetscBool)(node || !n), "PCVPatchDGSetElementRestriction(): the nodes are a null pointer"));
  PetscCall(PetscMalloc1(n + 1, &copy));
  PetscCall(PetscArraycpy(copy, node, n));
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(TakeRestriction(pc, (struct VpContinuous_){.dm = dm, .node = copy}));
  VpPCBaseChanged(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCVPatchDGSetElementRestriction - Preconditions a continuous operator of one's own by the cycle of a `DMVPATCHDG` on the same cells

   Collective

   Input Parameters:
+  pc    - the preconditioner, of type `PCVPATCHDG`
.  dm    - a `DMVPATCHDG` with the operator's cells, degree, boundary conditions and coefficient, set up; the PC takes a reference
.  ncell - number of own cells of `dm`, as from `DMVPatchDGGetCells()`
-  node  - the rows of the matrix that belong to the nodes of every cell, [ncell][(degree + 1)^dim], x fastest; -1: the node has no row, or
           its row is that of the identity; copied

   Options Database Key:
.  -pc_vpatchdg_jacobi <auto,none,after,both> - Jacobi steps with the matrix beside the cycle

   Level: intermediate

   Notes:
   The Pmat of the KSP may have any type, assembled or shell: the preconditioner asks for its products, and its diagonal if there is one. It
   is the integral of -div(a grad u) + c u for continuous functions, and rows are not divided by volumes of cells. Functions are of the
   DM's degree on every cell and given by values at the (degree + 1)^dim Gauss-Lobatto points, for degree 1 the vertices. This is the
   element restriction of libCEED and of MFEM. Cells are in the order of `DMVPatchDGGetCellBounds()`.

   The coefficient and the conditions at sides are the DM's. Nodes at Dirichlet sides may be left out of the matrix, or their rows may be
   those of the identity, up to a factor (`MatZeroRows()`, `MatZeroRowsColumns()`). In both cases their number is -1.

   The preconditioner is R B R^T, where B is the cycle, and R takes a discontinuous function to a continuous one, whose value at a node is
   the mean of the cells' values, weighted by their coefficient divided by the square of their width. With `KSPFGMRES` it takes 5 to 7
   iterations for eight digits on uniform grids, for every degree and width of cells. It is symmetric if the cycle is
   (-pc_vpatchdg_symmetric), for `KSPCG`, unless -pc_vpatchdg_jacobi is after. By default, the price of a cycle in products with the matrix
   decides on Jacobi steps: none below 2, one after the cycle below 4, else one before and one after it; with
   `VPATCHDG_QUADRATURE_LOBATTO` none below 8, else one. A symmetric cycle has none in place of one. -ksp_view shows which were taken.

   A matrix that is a multiple of the form is recognised by its diagonal. If the diagonals of matrix and form differ otherwise by more than
   a factor of 4, the preconditioner warns. If the DM has Neumann sides alone and no reaction, it leaves constants out of residuals
   and corrections.

   When the coefficient of the DM changes, the next set-up takes it, which follows a change of the matrix or `KSPSetOperators()`.

.seealso: `PCVPATCHDG`, `PCVPatchDGSetElementRestrictionIS()`, `DMVPATCHDG`, `DMVPatchDGGetCells()`
@*/
PetscErrorCode PCVPatchDGSetElementRestriction(PC pc, DM dm, PetscInt ncell, const PetscInt node[])
{
  PetscFunctionBegin;
  PetscCall(VpPCBaseCheckType(pc, PCVPATCHDG));
  PetscCall(DMVPatchDGCheck(dm, "PCVPatchDGSetElementRestriction()"));
  PetscCall(StoreRestriction(pc, dm, (PetscBool)(ncell == DMVPatchDGData(dm)->mesh->nown), node,
                             "PCVPatchDGSetElementRestriction(): the number of cells is not that of own cells of the DM, which "
                             "DMVPatchDGGetCells() gives"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCVPatchDGSetElementRestrictionIS - The same as `PCVPatchDGSetElementRestriction()` with the nodes as an `IS`

   Collective

   Input Parameters:
+  pc    - the preconditioner, of type `PCVPATCHDG`
.  dm    - a `DMVPATCHDG` with the operator's cells, degree, boundary conditions and coefficient, set up; the PC takes a reference
-  nodes - the rows of the matrix that belong to the nodes of own cells, as in `PCVPatchDGSetElementRestriction()`; its local length is
           the number of own cells times (degree + 1)^dim

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetElementRestriction()`, `DMVPATCHDG`
@*/
PetscErrorCode PCVPatchDGSetElementRestrictionIS(PC pc, DM dm, IS nodes)
{
  const PetscInt *node;
  PetscInt        n, fits = 0, cells, degree;
  char            wrong[256];

  PetscFunctionBegin;
  PetscCall(VpPCBaseCheckType(pc, PCVPATCHDG));
  PetscCall(DMVPatchDGCheck(dm, "PCVPatchDGSetElementRestrictionIS()"));
  VpAssertObject(nodes, IS_CLASSID, 3);
  cells = DMVPatchDGData(dm)->mesh->nown;
  degree = DMVPatchDGData(dm)->degree;
  PetscCall(VpCheckPlaces(PetscObjectComm((PetscObject)dm), cells, (int)CountNodes(dm, degree)));
  PetscCall(ISGetLocalSize(nodes, &n));
  for (PetscInt k = 1; k <= VP_MAX_DEGREE; k++) {
    if (cells && n == (PetscInt64)cells * CountNodes(dm, k)) fits = k;
  }
  PetscCall(PetscSNPrintf(wrong, sizeof(wrong),
                          "PCVPatchDGSetElementRestrictionIS(): the IS has %" PetscInt_FMT " entries; %" PetscInt_FMT
                          " own cells of degree %" PetscInt_FMT " have %" PetscInt_FMT " nodes",
                          n, cells, degree, cells * CountNodes(dm, degree)));
  if (fits && fits != degree)
    PetscCall(PetscSNPrintf(wrong, sizeof(wrong),
                            "PCVPatchDGSetElementRestrictionIS(): the IS has the nodes of degree %" PetscInt_FMT
                            ", and the DM has degree %" PetscInt_FMT ": -dm_vpatchdg_degree %" PetscInt_FMT,
                            fits, degree, fits));
  PetscCall(ISGetIndices(nodes, &node));
  PetscCall(StoreRestriction(pc, dm, (PetscBool)(n == cells * CountNodes(dm, degree)), node, wrong));
  PetscCall(ISRestoreIndices(nodes, &node));
  PetscFunctionReturn(PETSC_SUCCESS);
}
