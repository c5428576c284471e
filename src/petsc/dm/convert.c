/* DMConvert() from DMDA and DMPLEX: describes the cells as boxes refined as often as their widths and labels allow, and maps the cells of
   both. */
#include "usergrid.h"
#include <petscdmplex.h>
#include <petscsf.h>

/* the largest number of halvings that make cells of these widths from boxes */
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
  }
}

/* number of the box that contains the cell at[], in the grid of boxes of step^dim cells */
static PetscInt BoxOf(const VpUserGrid *grid, PetscInt step, const PetscInt at[3])
{
  return (at[2] / step * (grid->n[1] / step) + at[1] / step) * (grid->n[0] / step) + at[0] / step;
}

/* *label: [boxes][2 dim] in the grid of boxes, freed by the caller; -1 on sides between boxes. *same: no side has cells with different
   labels */
static PetscErrorCode FindLabels(const VpUserGrid *grid, PetscInt step, PetscInt **label, PetscBool *same)
{
  double    n = 2 * grid->dim;
  PetscInt *most; /* [n][2]: maximum of the label, and of its negative, over the cells along a side */

  PetscFunctionBegin;
  for (int d = 0; d < grid->dim; d++) n *= (double)(grid->n[d] / step);
  PetscCheck(2 * n <= PETSC_MPI_INT_MAX, grid->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "DMConvert(): the DMPLEX has more boxes with labels than MPI counts");
  PetscCall(PetscMalloc1(2 * (size_t)n, &most));
  for (PetscInt i = 0; i < 2 * (PetscInt)n; i++) most[i] = PETSC_MIN_INT;
  for (PetscInt i = 0; i < grid->ncell * 2 * grid->dim; i++) {
    const VpUserCell *cell = grid->cell + i / (2 * grid->dim);
    const PetscInt    side = i % (2 * grid->dim), face = cell->at[side / 2] + side % 2;
    const PetscInt    of = face == 0 || face == grid->n[side / 2] || grid->corner ? cell->label[side] : -1;
    PetscInt         *to = most + 2 * (BoxOf(grid, step, cell->at) * 2 * grid->dim + side);

    if (face % step) continue;
    to[0] = PetscMax(to[0], of);
    to[1] = PetscMax(to[1], -of);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, (PetscMPIInt)(2 * n), MPIU_INT, MPI_MAX, grid->comm));
  *same = PETSC_TRUE;
  for (PetscInt i = 0; i < (PetscInt)n; i++) {
    *same = (PetscBool)(*same && most[2 * i] == -most[2 * i + 1]);
    most[i] = most[2 * i];
  }
  *label = most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the labels of the boxes' sides. label: [boxes][2 dim] in the grid of boxes of step^dim cells */
static PetscErrorCode SetLabels(DM dm, const VpUserGrid *grid, PetscInt step, const PetscInt label[])
{
  const int        dim = grid->dim;
  const PetscReal *lower, *upper;
  PetscInt         nbox, *of;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetBoxes(dm, &nbox, &lower, &upper));
  PetscCall(PetscMalloc1(nbox * 2 * dim, &of));
  for (PetscInt b = 0; b < nbox; b++) {
    PetscInt at[3] = {0, 0, 0};

    for (int d = 0; d < dim; d++) at[d] = VpUserCellAt(grid, d, (lower[b * dim + d] + upper[b * dim + d]) / 2);
    PetscCall(PetscArraycpy(of + b * 2 * dim, label + BoxOf(grid, step, at) * 2 * dim, 2 * dim));
  }
  PetscCall(DMVPatchDGSetSideLabels(dm, nbox, of));
  PetscCall(PetscFree(of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets boxes of step^dim cells. */
static PetscErrorCode SetBoxGrid(DM dm, const VpUserGrid *grid, PetscInt step)
{
  PetscReal lower[3], upper[3], *face;
  PetscInt  n[3];

  PetscFunctionBegin;
  for (int d = 0; d < grid->dim; d++) {
    n[d] = grid->n[d] / step;
    lower[d] = grid->face[d][0];
    upper[d] = grid->face[d][grid->n[d]];
  }
  PetscCall(DMVPatchDGSetBoxGrid(dm, n, lower, upper));
  for (int d = 0; d < grid->dim; d++) {
    PetscCall(PetscMalloc1(n[d] + 1, &face));
    for (PetscInt i = 0; i <= n[d]; i++) face[i] = grid->face[d][i * step];
    if (!VpAreEqual(face, 0, n[d])) PetscCall(DMVPatchDGSetGrid(dm, d, n[d], face));
    PetscCall(PetscFree(face));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boxes are as large as widths allow, and so small that each side has one label. Requires: the cells fill the grid. */
static PetscErrorCode SetGrid(DM dm, const VpUserGrid *grid)
{
  PetscInt  level = CountRefinements(grid), *label = NULL;
  PetscBool same = (PetscBool)!grid->labeled;

  PetscFunctionBegin;
  if (!same) PetscCall(FindLabels(grid, (PetscInt)1 << level, &label, &same));
  while (!same) {
    PetscCall(PetscFree(label));
    PetscCall(FindLabels(grid, (PetscInt)1 << --level, &label, &same));
  }
  PetscCall(SetBoxGrid(dm, grid, (PetscInt)1 << level));
  PetscCall(DMSetRefineLevel(dm, level));
  if (label) PetscCall(SetLabels(dm, grid, (PetscInt)1 << level, label));
  PetscCall(PetscFree(label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetPeriodic(DM dm, const VpUserGrid *grid)
{
  VPatchDGBoundary boundary[6];

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetBoundary(dm, boundary));
  for (int side = 0; side < 2 * grid->dim; side++) {
    if (grid->periodic[side / 2]) boundary[side] = VPATCHDG_BOUNDARY_PERIODIC;
  }
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the cells, whose boxes are the places of a lattice, the map that takes them to where the mesh has them. */
static PetscErrorCode SetNodes(DM dm, const VpUserGrid *grid)
{
  PetscInt *place;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(grid->ncell, &place));
  for (PetscInt i = 0; i < grid->ncell; i++) place[i] = BoxOf(grid, 1, grid->cell[i].at);
  PetscCall(DMVPatchDGSetMapLattice(dm, grid->n, grid->order, grid->ncell, place, grid->node));
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the cells trees. */
static PetscErrorCode SetTrees(DM dm, const VpUserGrid *grid)
{
  PetscInt *label;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckBoxes(dm, grid->n[0], "mesh"));
  PetscCall(DMVPatchDGStoreTrees(dm, grid->nvertex, grid->n[0], grid->corner));
  DMVPatchDGData(dm)->domain = VPATCHDG_DOMAIN_TREES;
  if (!grid->labeled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindLabels(grid, 1, &label, &same));
  PetscCall(DMVPatchDGSetSideLabels(dm, grid->n[0], label));
  PetscCall(PetscFree(label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a DM that is not set up the cells of a grid, which it refines as often as it would have refined its own. */
static PetscErrorCode TakeGrid(DM dm, const VpUserGrid *grid)
{
  const PetscInt more = dm->levelup;

  PetscFunctionBegin;
  PetscCall(DMSetDimension(dm, grid->dim));
  PetscCall(DMSetRefineLevel(dm, 0));
  if (grid->corner) PetscCall(SetTrees(dm, grid));
  else PetscCall(grid->fills ? SetGrid(dm, grid) : VpSetUserCells(dm, grid));
  PetscCall(SetPeriodic(dm, grid));
  if (grid->order) PetscCall(SetNodes(dm, grid));
  DMVPatchDGData(dm)->converted_level = dm->levelup;
  PetscCall(DMSetRefineLevel(dm, dm->levelup + more));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a file on the first rank alone, so that all ranks learn of errors in it: where ranks read it together, others would wait for the
   first one. *plex: on each rank by itself, without cells on others */
static PetscErrorCode ReadPlex(MPI_Comm comm, const char file[], DM *plex)
{
  PetscInt       dim[2] = {0, 0};
  PetscMPIInt    rank;
  PetscErrorCode error = PETSC_SUCCESS;

  PetscFunctionBegin;
  *plex = NULL;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) error = DMPlexCreateFromFile(PETSC_COMM_SELF, file, "vpatchdg_mesh", PETSC_TRUE, plex);
  PetscCall(VpTogether(comm, error));
  if (!rank) {
    PetscCall(DMGetDimension(*plex, &dim[0]));
    PetscCall(DMGetCoordinateDim(*plex, &dim[1]));
  }
  PetscCallMPI(MPI_Bcast(dim, 2, MPIU_INT, 0, comm));
  if (!rank) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMCreate(PETSC_COMM_SELF, plex));
  PetscCall(DMSetType(*plex, DMPLEX));
  PetscCall(DMSetDimension(*plex, dim[0]));
  PetscCall(DMSetCoordinateDim(*plex, dim[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGReadMesh(DM dm, const char file[])
{
  VpUserGrid     grid;
  PetscErrorCode error;
  DM             plex;

  PetscFunctionBegin;
  PetscCall(ReadPlex(PetscObjectComm((PetscObject)dm), file, &plex));
  error = VpUserGridCreate(PetscObjectComm((PetscObject)dm), plex, &grid);
  PetscCall(DMDestroy(&plex));
  PetscCall(error);
  PetscCall(TakeGrid(dm, &grid));
  PetscCall(VpUserGridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpUserGridConvert(DM mesh, const VpUserGrid *grid, DM *dm)
{
  VecType   vectors;
  PetscBool plex;

  PetscFunctionBegin;
  PetscCall(DMCreate(grid->comm, dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  PetscCall(TakeGrid(*dm, grid));
  if (grid->degree) PetscCall(DMVPatchDGSetDegree(*dm, grid->degree));
  PetscCall(DMGetVecType(mesh, &vectors));
  PetscCall(DMSetVecType(*dm, vectors));
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMPLEX, &plex));
  if (plex && mesh->setfromoptionscalled) PetscCall(DMVPatchDGEndOptions(mesh, *dm)); /* DMPLEX reads -dm_refine, DMDA does not. */
  DMVPatchDGData(*dm)->types_to_choose = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMConvert_VPatchDG(DM mesh, DMType type, DM *dm)
{
  VpUserGrid grid;

  PetscFunctionBegin;
  PetscCall(VpUserGridCreate(PetscObjectComm((PetscObject)mesh), mesh, &grid));
  PetscCall(VpUserGridConvert(mesh, &grid, dm));
  PetscCall(VpUserGridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMapPoints(VpMesh mesh, PetscInt n, PetscReal **point, const char outside[], PetscSF *map)
{
  PetscInt       missed;
  PetscSFNode   *at;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &at));
  PetscCall(VpMeshLocate(mesh, n, *point, at, &missed));
  PetscCall(PetscFree(*point));
  error = VpCheckEverywhere(mesh->comm, (PetscBool)(missed == n), outside);
  if (error) PetscCall(PetscFree(at));
  PetscCall(error);
  PetscCall(PetscSFCreate(mesh->comm, map));
  PetscCall(PetscSFSetGraph(*map, mesh->nown, n, NULL, PETSC_COPY_VALUES, at, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(*map));
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

/* center [ncell][dim] of the own cells, freed by the caller */
static PetscErrorCode FindCenters(const VpUserGrid *grid, PetscReal **center)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(grid->ncell * grid->dim, center));
  for (PetscInt i = 0; i < grid->ncell * grid->dim; i++) {
    const PetscInt    d = i % grid->dim;
    const VpUserCell *cell = grid->cell + i / grid->dim;

    if (grid->corner) (*center)[i] = (d ? 0 : 2 * (PetscReal)cell->at[0]) + 0.5; /* in the unit box of the tree */
    else (*center)[i] = (grid->face[d][cell->at[d]] + grid->face[d][cell->at[d] + cell->n[d]]) / 2;
  }
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
  VpUserGrid     grid;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGCreateCellMap()"));
  VpAssertObject(mesh, DM_CLASSID, 2);
  VpAssertPointer(map, 3);
  PetscCall(VpUserGridCreate(PetscObjectComm((PetscObject)mesh), mesh, &grid));
  error = VpUserGridMap(dm, &grid, map);
  PetscCall(VpUserGridDestroy(&grid));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpUserGridMap(DM dm, const VpUserGrid *grid, PetscSF *map)
{
  const VpMesh   ours = DMVPatchDGData(dm)->mesh;
  PetscReal     *center;
  PetscBool      all = PETSC_FALSE;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCheck(grid->dim == ours->dim && grid->total == (double)ours->ncell && !VpMeshIsAdaptive(ours), ours->comm, PETSC_ERR_ARG_INCOMP,
             "DMVPatchDGCreateCellMap(): the mesh has %.0f cells in %d dimensions, the DM %" PetscInt_FMT
             " in %d. The DM must be what DMConvert() made of the mesh, as it was before -dm_refine",
             grid->total, grid->dim, ours->ncell, ours->dim);
  PetscCall(FindCenters(grid, &center));
  PetscCall(VpMapPoints(ours, grid->ncell, &center, "DMVPatchDGCreateCellMap(): the DM has no cell where the mesh has one", map));
  PetscCall(HaveLeaves(*map, ours->nown, &all));
  error = VpCheckEverywhere(ours->comm, all, "DMVPatchDGCreateCellMap(): the DM has cells where the mesh has others");
  if (error) PetscCall(PetscSFDestroy(map));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
