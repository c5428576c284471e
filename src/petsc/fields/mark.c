/* Marks cells for refinement and coarsening by their estimated errors. */
#include "fields.h"

/* *sum: over all ranks, of the squares of (eta/largest) above the limit. The division by the largest eta prevents overflow. */
static PetscErrorCode SumSquaresAbove(VpMesh mesh, const PetscReal eta[], PetscReal largest, PetscReal limit, PetscReal *sum)
{
  PetscFunctionBegin;
  *sum = 0;
  for (int32_t c = 0; c < mesh->nown; c++) *sum += eta[c] / largest > limit ? PetscSqr(eta[c] / largest) : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPIU_REAL, MPIU_SUM, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *limit: the largest limit, up to rounding, above which the squares sum up to this fraction of the total */
static PetscErrorCode FindLimit(VpMesh mesh, const PetscReal eta[], PetscReal largest, PetscReal fraction, PetscReal *limit)
{
  PetscReal low = 1e-9, high = 1, all, sum;

  PetscFunctionBegin;
  PetscCall(SumSquaresAbove(mesh, eta, largest, 0, &all));
  PetscCall(SumSquaresAbove(mesh, eta, largest, low, &sum));
  if (sum < fraction * all) low = high = 0;
  for (int i = 0; i < 50 && low < high && fraction > 0; i++) {
    const PetscReal middle = PetscSqrtReal(low * high);

    PetscCall(SumSquaresAbove(mesh, eta, largest, middle, &sum));
    if (sum >= fraction * all) low = middle;
    else high = middle;
  }
  *limit = (fraction > 0 ? low : 1) * largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGMark - Marks cells for `DMVPatchDGRefineCells()` from error estimates

   Collective

   Input Parameters:
+  dm      - the DM, set up
.  how     - `VPATCHDG_MARK_DOERFLER` or `VPATCHDG_MARK_MAXIMUM`
.  refine  - a fraction, 0 to 1. Doerfler: the fewest cells are refined that have this fraction of the sum of eta^2. Maximum: cells with
             more than this fraction of the largest eta are refined
.  coarsen - a fraction, 0 to 1, less than refine if how is `VPATCHDG_MARK_MAXIMUM`: cells with less than this fraction of the largest eta
             are coarsened
-  eta     - [cells of this rank] the estimates, for instance of `DMVPatchDGEstimate()`; `NULL` on a rank without cells

   Output Parameter:
.  mark - [cells of this rank] `DM_ADAPT_REFINE`, `DM_ADAPT_KEEP` or `DM_ADAPT_COARSEN`; `NULL` on a rank without cells

   Level: intermediate

   Note:
   With refine 0.5, Doerfler marking leads to meshes of the optimal order. It refines few cells per step, so it needs many steps. The same
   cells are marked on any number of ranks, except cells whose eta differ only by rounding errors.

.seealso: `DMVPATCHDG`, `DMVPatchDGEstimate()`, `DMVPatchDGRefineCells()`
@*/
PetscErrorCode DMVPatchDGMark(DM dm, VPatchDGMarking how, PetscReal refine, PetscReal coarsen, const PetscReal eta[], DMAdaptFlag mark[])
{
  PetscReal largest = 0, limit;
  PetscBool finite = PETSC_TRUE;
  VpMesh    mesh;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGMark()"));
  mesh = DMVPatchDGData(dm)->mesh;
  PetscCheck(how == VPATCHDG_MARK_DOERFLER || how == VPATCHDG_MARK_MAXIMUM, mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGMark(): VPATCHDG_MARK_DOERFLER and VPATCHDG_MARK_MAXIMUM exist, not %d", (int)how);
  PetscCheck(refine >= 0 && refine <= 1 && coarsen >= 0 && coarsen <= 1 && (how == VPATCHDG_MARK_DOERFLER || coarsen <= refine), mesh->comm,
             PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGMark(): parts are 0 to 1, that to coarsen not above that of the largest to refine, not %g and %g", (double)refine,
             (double)coarsen);
  PetscCall(VpCheckEverywhere(mesh->comm, (PetscBool)((eta && mark) || !mesh->nown),
                              "DMVPatchDGMark(): eta and marks have one number for each cell, they are NULL"));
  for (int32_t c = 0; c < mesh->nown; c++) {
    finite = (PetscBool)(finite && !PetscIsInfOrNanReal(eta[c]) && eta[c] >= 0);
    largest = PetscMax(largest, eta[c]);
  }
  PetscCall(VpCheckEverywhere(mesh->comm, finite, "DMVPatchDGMark(): errors are finite and not negative"));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, mesh->comm));
  limit = refine * largest;
  if (how == VPATCHDG_MARK_DOERFLER) PetscCall(FindLimit(mesh, eta, largest, refine, &limit));
  for (int32_t c = 0; c < mesh->nown; c++)
    mark[c] = eta[c] > limit ? DM_ADAPT_REFINE : (eta[c] < coarsen * largest ? DM_ADAPT_COARSEN : DM_ADAPT_KEEP);
  PetscFunctionReturn(PETSC_SUCCESS);
}
