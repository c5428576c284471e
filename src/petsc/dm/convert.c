/* DMConvert() from DMDA and DMPLEX: describes the cells as boxes refined as often as their widths and labels allow, and maps the cells of
   both. */
#include "usergrid.h"
#include <petscsf.h>

PetscBool VpAreEqual(const PetscReal face[], PetscInt i, PetscInt count)
{
  const PetscReal width = (face[i + count] - face[i]) / (PetscReal)count;

  for (PetscInt k = 0; k < count; k++) {
    if (PetscAbsReal(face[i + k + 1] - face[i + k] - width) > VP_GRID_SLACK * width) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Tests whether the cells of each aligned block of count^dim cells have one label on each end of the domain. */
static PetscBool HaveLabels(const VpUserGrid *grid, PetscInt count)
{
  for (int side = 0; side < 2 * grid->dim && grid->label[side]; side++) {
    PetscInt n[3] = {grid->n[0], grid->n[1], grid->n[2]};

    n[side / 2] = 1;
    for (PetscInt i = 0; i < n[0] * n[1] * n[2]; i++) {
      const PetscInt at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
      const PetscInt first[3] = {at[0] / count * count, at[1] / count * count, at[2] / count * count};

      if (*VpLabelOf(grid, side, at) != *VpLabelOf(grid, side, first)) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* the largest number of halvings that make these cells from boxes */
static PetscInt CountRefinements(const VpUserGrid *grid)
{
  PetscInt level = 0;

  for (;; level++) {
    const PetscInt more = (PetscInt)2 << level;

    for (int d = 0; d < grid->dim; d++) {
      if (grid->n[d] % more) return level;
      for (PetscInt i = 0; i < grid->n[d]; i += more) {
        if (!VpAreEqual(grid->face[d], i, more)) return level;
      }
    }
    if (!HaveLabels(grid, more)) return level;
  }
}

static PetscErrorCode SetGrid(DM dm, const VpUserGrid *grid)
{
  const PetscInt   level = CountRefinements(grid), step = (PetscInt)1 << level;
  VPatchDGBoundary boundary[6];
  PetscReal        lower[3], upper[3], *face;
  PetscInt         n[3];

  PetscFunctionBegin;
  PetscCall(DMSetDimension(dm, grid->dim));
  PetscCall(DMVPatchDGGetBoundary(dm, boundary));
  for (int d = 0; d < grid->dim; d++) {
    n[d] = grid->n[d] / step;
    lower[d] = grid->face[d][0];
    upper[d] = grid->face[d][grid->n[d]];
    if (grid->periodic[d]) boundary[2 * d] = boundary[2 * d + 1] = VPATCHDG_BOUNDARY_PERIODIC;
  }
  PetscCall(DMVPatchDGSetBoxGrid(dm, n, lower, upper));
  for (int d = 0; d < grid->dim; d++) {
    PetscCall(PetscMalloc1(n[d] + 1, &face));
    for (PetscInt i = 0; i <= n[d]; i++) face[i] = grid->face[d][i * step];
    if (!VpAreEqual(face, 0, n[d])) PetscCall(DMVPatchDGSetGrid(dm, d, n[d], face));
    PetscCall(PetscFree(face));
  }
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscCall(DMSetRefineLevel(dm, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* index along d of the box that contains x; a box has `step` cells */
static PetscInt FindBox(const VpUserGrid *grid, int d, PetscInt step, PetscReal x)
{
  PetscInt box = 0;

  while ((box + 1) * step < grid->n[d] && x > grid->face[d][(box + 1) * step]) box++;
  return box;
}

/* Sets the labels of the boxes' sides at the ends of the domain. */
static PetscErrorCode SetLabels(DM dm, const VpUserGrid *grid)
{
  const int        dim = grid->dim;
  const PetscReal *lower, *upper;
  PetscInt         step, nbox, *label;

  PetscFunctionBegin;
  if (!grid->label[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGGetBoxes(dm, &nbox, &lower, &upper));
  PetscCall(DMGetRefineLevel(dm, &step));
  step = (PetscInt)1 << step;
  PetscCall(PetscMalloc1(nbox * 2 * dim, &label));
  for (PetscInt b = 0; b < nbox; b++) {
    PetscInt at[3] = {0, 0, 0};

    for (int d = 0; d < dim; d++) at[d] = step * FindBox(grid, d, step, (lower[b * dim + d] + upper[b * dim + d]) / 2);
    for (int side = 0; side < 2 * dim; side++) {
      const PetscBool end = (PetscBool)(at[side / 2] == (side % 2 ? grid->n[side / 2] - step : 0));

      label[b * 2 * dim + side] = end ? *VpLabelOf(grid, side, at) : -1;
    }
  }
  PetscCall(DMVPatchDGSetSideLabels(dm, nbox, label));
  PetscCall(PetscFree(label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMConvert_VPatchDG(DM mesh, DMType type, DM *dm)
{
  VpUserGrid grid;
  VecType    vectors;
  PetscBool  plex;

  PetscFunctionBegin;
  PetscCall(VpUserGridCreate(mesh, &grid));
  PetscCall(DMCreate(PetscObjectComm((PetscObject)mesh), dm));
  PetscCall(DMSetType(*dm, type));
  if (grid.cell) PetscCall(VpSetUserCells(*dm, &grid));
  else {
    PetscCall(SetGrid(*dm, &grid));
    PetscCall(SetLabels(*dm, &grid));
  }
  if (grid.degree) PetscCall(DMVPatchDGSetDegree(*dm, grid.degree));
  PetscCall(DMGetVecType(mesh, &vectors));
  PetscCall(DMSetVecType(*dm, vectors));
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMPLEX, &plex));
  if (plex && mesh->setfromoptionscalled) PetscCall(DMVPatchDGEndOptions(mesh, *dm)); /* DMPLEX reads -dm_refine, DMDA does not. */
  DMVPatchDGData(*dm)->converted_level = (*dm)->levelup;
  DMVPatchDGData(*dm)->types_to_choose = PETSC_TRUE;
  PetscCall(VpUserGridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *have: each of the n own roots has a leaf on some rank */
static PetscErrorCode HaveLeaves(PetscSF map, PetscInt n, PetscBool *have)
{
  const PetscInt *degree;

  PetscFunctionBegin;
  PetscCall(PetscSFComputeDegreeBegin(map, &degree));
  PetscCall(PetscSFComputeDegreeEnd(map, &degree));
  *have = PETSC_TRUE;
  for (PetscInt i = 0; i < n; i++) *have = (PetscBool)(*have && degree[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGCreateCellMap - Creates the map between the cells of a `DMDA` or `DMPLEX` and those of a DM that `DMConvert()` made from it

   Collective

   Input Parameters:
+  dm   - the DM, set up
-  mesh - the `DMDA` or `DMPLEX`

   Output Parameter:
.  map - the map: its roots are the own cells of `dm`, its leaves are the own cells of `mesh`

   Level: intermediate

   Notes:
   The own cells of a `DMDA` of type `DMDA_Q0` are its own entries in the order of a global vector, with x fastest. The own cells of a
   `DMDA_Q1` are the cells whose lower corner is an own entry. The own cells of a `DMPLEX` are, in the order of their numbers, those that do
   not belong to another rank.

   Choose a data type for the numbers of a cell. `PetscSFBcastBegin()` and `PetscSFBcastEnd()` then take values from a vector of `dm` to the
   order of the mesh. `PetscSFReduceBegin()` and `PetscSFReduceEnd()` with `MPI_REPLACE` take them back. The example own_mesh.c shows this.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetCellBounds()`, `DMVPatchDGGetPointValues()`
@*/
PetscErrorCode DMVPatchDGCreateCellMap(DM dm, DM mesh, PetscSF *map)
{
  const MPI_Comm comm = dm ? PetscObjectComm((PetscObject)dm) : PETSC_COMM_SELF;
  VpUserGrid     grid;
  VpMesh         ours;
  PetscReal     *center;
  PetscSFNode   *at;
  PetscInt       n, outside;
  PetscBool      all = PETSC_FALSE;
  double         cells = 1;
  PetscErrorCode error;
  int            found;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGCreateCellMap()"));
  VpAssertPointer(map, 3);
  ours = DMVPatchDGData(dm)->mesh;
  PetscCall(VpUserGridCreate(mesh, &grid));
  for (int d = 0; d < grid.dim; d++) cells *= (double)grid.n[d];
  if (grid.cell) cells = (double)grid.ncell;
  PetscCall(VpUserGridDestroy(&grid));
  PetscCheck(grid.dim == ours->dim && cells == (double)ours->ncell && !VpMeshIsAdaptive(ours), comm, PETSC_ERR_ARG_INCOMP,
             "DMVPatchDGCreateCellMap(): the mesh has %.0f cells in %d dimensions, the DM %" PetscInt_FMT
             " in %d. The DM must be what DMConvert() made of the mesh, as it was before -dm_refine",
             cells, grid.dim, ours->ncell, ours->dim);
  PetscCall(VpUserGridCenters(mesh, &n, &center));
  PetscCall(PetscMalloc1(n, &at));
  PetscCall(VpMeshLocate(ours, n, center, at, &outside));
  PetscCall(PetscFree(center));
  found = outside == n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_LAND, comm));
  if (!found) PetscCall(PetscFree(at));
  PetscCheck(found, comm, PETSC_ERR_ARG_INCOMP, "DMVPatchDGCreateCellMap(): the DM has no cell where the mesh has one");
  PetscCall(PetscSFCreate(comm, map));
  PetscCall(PetscSFSetGraph(*map, ours->nown, n, NULL, PETSC_COPY_VALUES, at, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(*map));
  PetscCall(HaveLeaves(*map, ours->nown, &all));
  error = VpCheckEverywhere(comm, all, "DMVPatchDGCreateCellMap(): the DM has cells where the mesh has others");
  if (error) PetscCall(PetscSFDestroy(map));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
