/* Refines and coarsens single cells. */
#include "internal.h"

#define SLACK 1e-10 /* Rounding may put a point outside of its cell by this fraction of the cell's size. */

/* Tests whether the closed cell meets the sphere of radius r around x. It does if r lies between the smallest and the largest distance of
   the cell's points from x. */
static PetscBool MeetsSphere(VpMesh mesh, int32_t cell, const PetscReal x[], PetscReal r)
{
  PetscReal lower[3], size[3], least = 0, most = 0, slack;

  VpGeometryBounds(mesh->geometry, cell, lower, size);
  slack = SLACK * size[0];
  for (int d = 0; d < mesh->dim; d++) {
    const PetscReal below = lower[d] - x[d], above = x[d] - (lower[d] + size[d]);

    least += PetscSqr(PetscMax(0, PetscMax(below, above)));
    most += PetscSqr(PetscMax(-below, -above));
  }
  return (PetscBool)(PetscSqrtReal(least) <= r + slack && r <= PetscSqrtReal(most) + slack);
}

static PetscBool IsAtPointOrSphere(const DM_VPatchDG *dg, VpMesh mesh, int32_t cell)
{
  return (PetscBool)((dg->at_point && MeetsSphere(mesh, cell, dg->point, 0)) ||
                     (dg->at_sphere && MeetsSphere(mesh, cell, dg->sphere, dg->sphere[mesh->dim])));
}

/* Destroys the mesh and returns the error, unless error is 0. */
static PetscErrorCode DestroyIf(PetscErrorCode error, VpMesh *mesh)
{
  PetscFunctionBegin;
  if (error) PetscCall(VpMeshDestroy(mesh));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCreateLeaves(DM dm, VpMesh *mesh)
{
  DM_VPatchDG       *dg = dm->data;
  const PetscScalar *from;
  uint8_t           *depth;
  PetscInt           n;
  PetscErrorCode     error;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(dg->leaves, &n));
  PetscCall(PetscMalloc1(n, &depth));
  PetscCall(VecGetArrayRead(dg->leaves, &from));
  for (PetscInt c = 0; c < n; c++) {
    const PetscReal x = PetscRealPart(from[c]);

    depth[c] = x >= 0 && x < UINT8_MAX && x == PetscFloorReal(x) ? (uint8_t)x : UINT8_MAX; /* an impossible depth */
  }
  PetscCall(VecRestoreArrayRead(dg->leaves, &from));
  error = VpMeshCreateLeaves(PetscObjectComm((PetscObject)dm), dg->boxes, (int32_t)n, depth, mesh);
  PetscCall(PetscFree(depth));
  PetscCall(error);
  PetscCall(DestroyIf(DMVPatchDGCheckMesh(dm, *mesh), mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends early if no cell contains the point or meets the sphere. */
PetscErrorCode DMVPatchDGRefineLocally(DM dm, VpMesh *mesh)
{
  const DM_VPatchDG *dg = dm->data;
  int8_t            *mark;
  VpMesh             next;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < dg->local_levels; l++) {
    PetscErrorCode error;
    int            some = 0;

    PetscCall(PetscMalloc1((*mesh)->nown, &mark));
    for (int32_t c = 0; c < (*mesh)->nown; c++) {
      mark[c] = IsAtPointOrSphere(dg, *mesh, c) ? VP_MARK_REFINE : VP_MARK_KEEP;
      some = some || mark[c] == VP_MARK_REFINE;
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_LOR, (*mesh)->comm));
    if (!some) {
      PetscCall(PetscFree(mark));
      break;
    }
    error = VpMeshAdapt(*mesh, mark, 0, NULL, &next, NULL);
    PetscCall(PetscFree(mark));
    PetscCall(VpMeshDestroy(mesh));
    PetscCall(error);
    *mesh = next;
    PetscCall(DestroyIf(DMVPatchDGCheckMesh(dm, *mesh), mesh));
  }
  PetscCall(DestroyIf(DMVPatchDGDoctorAdaptive(dm, *mesh), mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AdaptCells(DM dm, const int8_t mark[], DM *out)
{
  const DM_VPatchDG *dg = dm->data;
  PetscErrorCode     error;
  PetscReal         *a;
  VpMesh             mesh;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckOfCells(dm, "Refining cells one by one"));
  PetscCheck(dg->quadrature == VPATCHDG_QUADRATURE_GAUSS, dg->mesh->comm, PETSC_ERR_SUP,
             "-dm_vpatchdg_quadrature lobatto needs cells of one level: cells are refined one by one with -dm_vpatchdg_quadrature gauss");
  PetscCall(VpMeshAdapt(dg->mesh, mark, VpProblemWidth(VpOperatorGiven(dg->op)), VpOperatorGiven(dg->op)->coefficient, &mesh, &a));
  error = DestroyIf(DMVPatchDGCheckMesh(dm, mesh), &mesh);
  if (!error) error = DestroyIf(DMVPatchDGDoctorAdaptive(dm, mesh), &mesh);
  if (!error) error = DMVPatchDGCreateOn(dm, mesh, a, out);
  PetscCall(PetscFree(a));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGAdaptAll(DM dm, int8_t how, DM *out)
{
  const int32_t  n = DMVPatchDGData(dm)->mesh->nown;
  PetscErrorCode error;
  int8_t        *mark;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &mark));
  for (int32_t c = 0; c < n; c++) mark[c] = how;
  error = AdaptCells(dm, mark, out);
  PetscCall(PetscFree(mark));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGRefineCells - Creates a DM in which some cells are refined and some are coarsened

   Collective

   Input Parameters:
+  dm   - the DM, set up
-  mark - one entry for each of this rank's cells, in the order of `DMVPatchDGGetCellBounds()`: `DM_ADAPT_REFINE`, `DM_ADAPT_KEEP` or
          `DM_ADAPT_COARSEN`; `NULL` on a rank without cells

   Output Parameter:
.  refined - a new DM with the settings and the coefficient of dm

   Level: intermediate

   Notes:
   A refined cell is replaced by its 2^dim children. A cell is coarsened only if all 2^dim children of the same parent are marked for
   coarsening. Further cells are then refined until cells that share a face, an edge or a corner differ by one level at most.

   The new mesh is partitioned so that the ranks have nearly equal work. Cells at faces between levels count more. A cell may thus belong to
   another rank in the new DM.

   A refined cell gives its coefficient to its children. A coarsened cell gets the mean of its children.

   At a face between levels, every fine face has the flux of a face between equal cells, with the penalty of the coarse face. The orders of
   convergence are those of uniform meshes. The matrix-free and the assembled operator, right-hand sides, errors, values at points and VTK
   files work on adaptive meshes, on CPUs and GPUs.

   `PCVPATCHDG` works on adaptive meshes in its default space and with its default residual, either with sweeps after the coarse correction
   or symmetric for CG. It takes as many iterations as on uniform meshes. This also holds for a coefficient that is smooth or jumps on faces
   of the coarsest cells. If refined cells contain jumps, a finite-volume problem of all cells helps the levels
   (`PCVPatchDGSetCoarse()`), but not in a symmetric cycle: expect 7 to 20 iterations, and up to 33 for noise of 1e6. W and F cycles repeat
   only the levels from that of the largest cells down. `PCVPATCH` and `PCMG` need cells of one level.

   `DMAdaptLabel()` does the same if the option -dm_adaptor vpatchdg is set; PETSc needs it to find this function. The points of its label
   are this rank's cells in the same order, and cells that are not in the label are kept. `DMRefine()` refines all cells, and `DMCoarsen()`
   coarsens all cells that can be coarsened.

.seealso: `DMVPATCHDG`, `DMVPatchDGEstimate()`, `DMVPatchDGMark()`, `DMVPatchDGTransfer()`, `DMVPatchDGSetLocalRefinement()`,
          `DMVPatchDGGetCells()`, `DMVPatchDGGetCellBounds()`
@*/
PetscErrorCode DMVPatchDGRefineCells(DM dm, const DMAdaptFlag mark[], DM *refined)
{
  VpMesh         mesh;
  PetscErrorCode error;
  PetscBool      right = PETSC_TRUE;
  int8_t        *marks;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGRefineCells()"));
  VpAssertPointer(refined, 3);
  mesh = DMVPatchDGData(dm)->mesh;
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)dm), (PetscBool)(mark || !mesh->nown),
                              "DMVPatchDGRefineCells(): there are no marks, one is needed for each cell"));
  PetscCall(PetscMalloc1(mesh->nown, &marks));
  for (int32_t c = 0; c < mesh->nown; c++) {
    marks[c] = mark[c] == DM_ADAPT_REFINE ? VP_MARK_REFINE : (mark[c] == DM_ADAPT_COARSEN ? VP_MARK_COARSEN : VP_MARK_KEEP);
    right = (PetscBool)(right && (marks[c] != VP_MARK_KEEP || mark[c] == DM_ADAPT_KEEP));
  }
  error = VpCheckEverywhere(PetscObjectComm((PetscObject)dm), right,
                            "DMVPatchDGRefineCells(): marks are DM_ADAPT_REFINE, DM_ADAPT_KEEP and DM_ADAPT_COARSEN");
  if (!error) error = AdaptCells(dm, marks, refined);
  PetscCall(PetscFree(marks));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetLocalRefinement - Sets a point or a sphere whose cells `DMSetUp()` refines after it has refined all boxes

   Logically Collective

   Input Parameters:
+  dm     - the DM
.  levels - number of additional refinements, 0 or more
.  point  - [dim] the point whose cells are refined, or `NULL`
-  sphere - [dim+1] centre and radius of the sphere; the cells that it cuts are refined. `NULL` for none

   Options Database Keys:
+  -dm_vpatchdg_refine_levels n       - number of additional refinements; 1 if only the point or the sphere is given
.  -dm_vpatchdg_refine_point x,y,z    - the point
-  -dm_vpatchdg_refine_sphere x,y,z,r - the sphere; in 2D the circle x,y,r

   Level: intermediate

   Note:
   `DMVPatchDGRefineCells()` says what works on an adaptive mesh. `DMSetRefineLevel()` sets the number of refinements of all boxes.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetLocalRefinement()`, `DMVPatchDGRefineCells()`
@*/
PetscErrorCode DMVPatchDGSetLocalRefinement(DM dm, PetscInt levels, const PetscReal point[], const PetscReal sphere[])
{
  DM_VPatchDG   *dg;
  const PetscInt dim = DMVPatchDGDim(dm);
  PetscBool      finite = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(DMVPatchDGCheckChange(dm, PETSC_TRUE, "local refinement"));
  PetscCheck(levels >= 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_refine_levels %" PetscInt_FMT ": the number of refinements is 0 or more", levels);
  PetscCheck(!levels || point || sphere, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_refine_levels %" PetscInt_FMT " needs a place: -dm_vpatchdg_refine_point x,y,z or -dm_vpatchdg_refine_sphere "
             "x,y,z,r",
             levels);
  for (PetscInt d = 0; d <= dim; d++) {
    finite = (PetscBool)(finite && (!point || d == dim || !PetscIsInfOrNanReal(point[d])) && (!sphere || !PetscIsInfOrNanReal(sphere[d])));
  }
  PetscCheck(
    finite && (!sphere || sphere[dim] >= 0), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
    "Cells are refined at a point (-dm_vpatchdg_refine_point) with finite coordinates, or at a sphere (-dm_vpatchdg_refine_sphere) "
    "with a radius that is not negative");
  dg->local_levels = levels;
  dg->at_point = (PetscBool)(point != NULL);
  dg->at_sphere = (PetscBool)(sphere != NULL);
  if (point) PetscCall(PetscArraycpy(dg->point, point, dim));
  if (sphere) PetscCall(PetscArraycpy(dg->sphere, sphere, dim + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGGetLocalRefinement - Gets the local refinement that `DMVPatchDGSetLocalRefinement()` has set

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameters:
+  levels - number of additional refinements
.  point  - [dim] the point, or `NULL`. The array belongs to the DM
-  sphere - [dim+1] centre and radius of the sphere, or `NULL`. The array belongs to the DM

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetLocalRefinement()`
@*/
PetscErrorCode DMVPatchDGGetLocalRefinement(DM dm, PetscInt *levels, const PetscReal *point[], const PetscReal *sphere[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  VpAssertPointer(levels, 2);
  *levels = dg->local_levels;
  if (point) *point = dg->at_point ? dg->point : NULL;
  if (sphere) *sphere = dg->at_sphere ? dg->sphere : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
