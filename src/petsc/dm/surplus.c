/* The surplus of a solution: the part of it that coarser cells cannot represent. */
#include "internal.h"
#include "../../base/norm.h"

/* Computes eta of those own cells of dm that have none yet and are larger on the coarse mesh, from x and its projection y there. *left: 1
   if a cell on some rank still has no eta */
static PetscErrorCode TakeSurplus(DM dm, VpMesh coarse, Vec x, Vec y, PetscReal eta[], PetscMPIInt *left)
{
  const DM_VPatchDG *dg = dm->data;
  const VpMesh       mesh = dg->mesh;
  const PetscInt     ndof = DMVPatchDGCellSize(dm);
  const PetscScalar *u, *v;
  VpOverlap          o;

  PetscFunctionBegin;
  PetscCall(VpOverlapCreate(coarse, mesh, &o));
  PetscCall(VecGetArrayRead(x, &u));
  PetscCall(VecGetArrayRead(y, &v));
  *left = 0;
  for (int32_t c = 0; c < mesh->nown; c++) {
    PetscReal a = 0, lost[VP_MAX_N * VP_MAX_N * VP_MAX_N];

    if (eta[c] >= 0) continue;
    if (o.cell[o.first[c]].depth >= VpGeometryHalvings(mesh->geometry, c, 0)) {
      *left = 1;
      continue;
    }
    for (int d = 0; d < mesh->dim; d++) a = PetscMax(a, VpProblemCoefficient(&dg->op->problem, c, d));
    for (PetscInt i = 0; i < ndof; i++) lost[i] = PetscRealPart(u[c * ndof + i] - v[c * ndof + i]);
    eta[c] = (PetscReal)dg->degree / VpGeometryLeast(mesh->geometry, c) * PetscSqrtReal(a) * VpNorm((int)ndof, lost);
  }
  PetscCall(VecRestoreArrayRead(x, &u));
  PetscCall(VecRestoreArrayRead(y, &v));
  PetscCall(VpOverlapDestroy(&o));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, left, 1, MPI_INT, MPI_MAX, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarsens all cells of *dm that can be coarsened, and transfers *x. */
static PetscErrorCode CoarsenAll(DM *dm, Vec *x)
{
  DM  coarse;
  Vec y;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGAdaptAll(*dm, VP_MARK_COARSEN, &coarse));
  PetscCall(DMCreateGlobalVector(coarse, &y));
  PetscCall(DMVPatchDGTransfer(*dm, coarse, *x, y));
  PetscCall(VecDestroy(x));
  PetscCall(DMDestroy(dm));
  *dm = coarse;
  *x = y;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGEstimateSurplus - Computes an error indicator that needs no data: the part of u_h that a coarser cell could not represent

   Collective

   Input Parameters:
+  dm - the DM, set up, whose boxes are refined
-  x  - the coefficients of u_h

   Output Parameter:
.  eta - one indicator for each of this rank's cells, in the order of `DMVPatchDGGetCellBounds()`; `NULL` on a rank without cells

   Level: intermediate

   Note:
   On a cell, eta is sqrt(a) k/h |u_h - P u_h|, where P is the L2 projection to the parent of the cell. The indicator needs no data of the
   problem and costs a few transfers of x to coarser meshes. `DMVPatchDGMark()` accepts it in place of the estimates of
   `DMVPatchDGEstimate()` and marks similar cells. The sum of eta^2 does not estimate the size of the error.

.seealso: `DMVPATCHDG`, `DMVPatchDGEstimate()`, `DMVPatchDGMark()`, `DMVPatchDGRefineCells()`
@*/
PetscErrorCode DMVPatchDGEstimateSurplus(DM dm, Vec x, PetscReal eta[])
{
  static const char caller[] = "DMVPatchDGEstimateSurplus()";
  PetscMPIInt       left = 1;
  VpMesh            mesh;
  DM                coarse = dm;
  Vec               y = x, back;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(DMVPatchDGCheckOfCells(dm, caller));
  mesh = DMVPatchDGData(dm)->mesh;
  PetscCall(VpCheckEverywhere(mesh->comm, (PetscBool)(eta || !mesh->nown),
                              "DMVPatchDGEstimateSurplus(): eta is NULL: it needs one number per cell"));
  PetscCheck(!mesh->geometry->map, mesh->comm, PETSC_ERR_SUP, "%s: the cells are mapped, and the indicator knows only boxes", caller);
  PetscCheck(mesh->least > 0, mesh->comm, PETSC_ERR_ARG_WRONGSTATE,
             "%s: there are boxes that are whole, cells made of no others: refine all of them once (-dm_refine 1)", caller);
  for (int32_t c = 0; c < mesh->nown; c++) eta[c] = -1;
  PetscCall(PetscObjectReference((PetscObject)coarse));
  PetscCall(PetscObjectReference((PetscObject)y));
  PetscCall(DMCreateGlobalVector(dm, &back));
  while (left) {
    PetscCall(CoarsenAll(&coarse, &y));
    PetscCall(DMVPatchDGTransfer(coarse, dm, y, back));
    PetscCall(TakeSurplus(dm, DMVPatchDGData(coarse)->mesh, x, back, eta, &left));
  }
  PetscCall(VecDestroy(&back));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
