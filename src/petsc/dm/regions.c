/* The coefficient by regions of a DMPLEX, from its label "Cell Sets". */
#include "usergrid.h"
#include <petscsf.h>

/* region [own cells] of a DM that DMConvert() made from the mesh */
static PetscErrorCode MapRegions(DM cells, DM mesh, PetscInt region[])
{
  VpUserGrid grid;
  PetscInt  *theirs;
  PetscBool  plex;
  PetscSF    map;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMPLEX, &plex));
  PetscCheck(plex, PetscObjectComm((PetscObject)mesh), PETSC_ERR_ARG_WRONG, "A mesh of type %s: regions are those of a DMPLEX",
             VpTypeName((PetscObject)mesh));
  PetscCall(VpUserGridCreate(PetscObjectComm((PetscObject)mesh), mesh, &grid));
  PetscCall(PetscMalloc1(grid.ncell, &theirs));
  for (PetscInt i = 0; i < grid.ncell; i++) theirs[i] = grid.cell[i].region;
  PetscCall(VpUserGridDestroy(&grid));
  if (!grid.regions) PetscCall(PetscFree(theirs));
  PetscCheck(grid.regions, grid.comm, PETSC_ERR_ARG_WRONGSTATE,
             "The DMPLEX has no label \"Cell Sets\", which says the region of every cell: give it one by DMSetLabelValue(), or physical "
             "groups to the cells of a Gmsh file");
  PetscCall(DMVPatchDGCreateCellMap(cells, mesh, &map));
  PetscCall(PetscSFReduceBegin(map, MPIU_INT, theirs, region, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(map, MPIU_INT, theirs, region, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&map));
  PetscCall(PetscFree(theirs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define NEAR 1e-6 /* tolerance relative to the size of a cell */

/* Creates a map whose roots are the own cells of `coarse`. Leaf 2c + i is the lower (i = 0) or upper (i = 1) corner of the own cell c of
   `fine`, moved into this cell by NEAR. Ensures: an error on all ranks unless both corners lie in the same cell of `coarse`. */
static PetscErrorCode LocateCells(VpMesh coarse, VpMesh fine, PetscSF *sf)
{
  const PetscReal    near[2][3] = {{NEAR, NEAR, NEAR}, {1 - NEAR, 1 - NEAR, 1 - NEAR}};
  const PetscSFNode *at;
  PetscReal         *corner;
  PetscBool          nested = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * (size_t)fine->nown * (size_t)fine->dim, &corner));
  for (int32_t i = 0; i < 2 * fine->nown; i++) VpGeometryPoint(fine->geometry, i / 2, near[i % 2], corner + (size_t)i * (size_t)fine->dim);
  PetscCall(VpMapPoints(coarse, 2 * fine->nown, &corner,
                        "DMVPatchDGSetRegionCoefficient(): the DM has cells where the mesh has none. The DM must be what DMConvert() "
                        "made of the mesh, or finer",
                        sf));
  PetscCall(PetscSFGetGraph(*sf, NULL, NULL, NULL, &at));
  for (int32_t c = 0; c < fine->nown; c++)
    nested = (PetscBool)(nested && at[2 * c].rank == at[2 * c + 1].rank && at[2 * c].index == at[2 * c + 1].index);
  PetscCall(
    VpCheckEverywhere(coarse->comm, nested,
                      "DMVPatchDGSetRegionCoefficient(): the DM has cells that reach into several cells of the mesh. The DM must be "
                      "what DMConvert() made of the mesh, or finer"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* region [own cells], also if the DM's cells are smaller than the mesh's */
static PetscErrorCode FindRegions(DM dm, DM mesh, PetscInt region[])
{
  const VpMesh fine = DMVPatchDGData(dm)->mesh;
  PetscInt     n, *there, *corner;
  PetscSF      sf;
  DM           cells;

  PetscFunctionBegin;
  PetscCall(DMConvert(mesh, DMVPATCHDG, &cells));
  PetscCall(DMSetOptionsPrefix(cells, "vpatchdg_regions_")); /* keeps -dm_view from printing this DM */
  PetscCall(DMSetUp(cells));
  PetscCheck(cells->dim == dm->dim, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "DMVPatchDGSetRegionCoefficient(): the mesh has %" PetscInt_FMT " dimensions, the DM %" PetscInt_FMT, cells->dim, dm->dim);
  PetscCall(DMVPatchDGGetCells(cells, &n));
  PetscCall(PetscMalloc2(n, &there, 2 * (size_t)fine->nown, &corner));
  PetscCall(MapRegions(cells, mesh, there));
  PetscCall(LocateCells(DMVPatchDGData(cells)->mesh, fine, &sf));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, there, corner, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, there, corner, MPI_REPLACE));
  for (int32_t c = 0; c < fine->nown; c++) region[c] = corner[2 * c];
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree2(there, corner));
  PetscCall(DMDestroy(&cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* index of a region in the list, or n */
static PetscInt FindRegion(PetscInt n, const PetscInt region[], PetscInt wanted)
{
  PetscInt i = 0;

  while (i < n && region[i] != wanted) i++;
  return i;
}

/* Ensures: an error on all ranks that names the regions of cells that are missing in the list, if any. */
static PetscErrorCode CheckRegions(MPI_Comm comm, PetscInt cells, const PetscInt of[], PetscInt n, const PetscInt region[])
{
  char     text[256] = "";
  size_t   length = 0;
  PetscInt missing, last = PETSC_MIN_INT;

  PetscFunctionBegin;
  for (int k = 0; k < 10; k++, last = missing) {
    missing = PETSC_MAX_INT;
    for (PetscInt c = 0; c < cells; c++) {
      if (of[c] > last && of[c] < missing && FindRegion(n, region, of[c]) == n) missing = of[c];
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &missing, 1, MPIU_INT, MPI_MIN, comm));
    if (missing == PETSC_MAX_INT) break;
    length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%" PetscInt_FMT, k ? ", " : "", missing);
  }
  PetscCheck(!length, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGSetRegionCoefficient(): there is no coefficient for the regions %s, which the label \"Cell Sets\" has (-1: cells "
             "without a region)",
             text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks unless their lists are equal. */
static PetscErrorCode CheckList(MPI_Comm comm, PetscInt n, const PetscInt region[], const PetscReal a[])
{
  static const char what[] = "the regions of DMVPatchDGSetRegionCoefficient() and their coefficients";
  const PetscReal   count = (PetscReal)n;
  PetscReal        *numbers;
  PetscErrorCode    error;

  PetscFunctionBegin;
  PetscCall(VpCheckEverywhere(comm, (PetscBool)(n > 0 && region && a), "DMVPatchDGSetRegionCoefficient(): no regions and coefficients"));
  PetscCall(VpCheckSameReals(comm, 1, &count, what));
  PetscCall(PetscMalloc1(2 * n, &numbers));
  for (PetscInt i = 0; i < n; i++) {
    numbers[2 * i] = (PetscReal)region[i];
    numbers[2 * i + 1] = a[i];
  }
  error = VpCheckSameReals(comm, 2 * n, numbers, what);
  PetscCall(PetscFree(numbers));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetRegionCoefficient - Sets the coefficient of every cell from the region of a `DMPLEX` that contains it

   Collective

   Input Parameters:
+  dm     - the DM, set up, that `DMConvert()` made from the mesh; it may have been refined
.  mesh   - the `DMPLEX`, with its label "Cell Sets"
.  n      - number of regions
.  region - [n] values of the label; -1 stands for cells without a value
-  a      - [n] the positive coefficients of these regions

   Level: intermediate

   Notes:
   The values of the label are the physical groups of cells in a Gmsh file. A region of the mesh that is missing in the list is an error,
   and the message names it. The list may contain regions that no cell has.

   The coefficient is set as by `DMVPatchDGSetCoefficient()`, which also describes finer and coarser DMs. A cell of a refined DM takes the
   coefficient of the mesh's cell that contains it, whether -dm_refine or local refinement has made it.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetCoefficient()`, `DMVPatchDGCreateCellMap()`, `DMVPatchDGSetSideLabels()`
@*/
PetscErrorCode DMVPatchDGSetRegionCoefficient(DM dm, DM mesh, PetscInt n, const PetscInt region[], const PetscReal a[])
{
  const MPI_Comm comm = dm ? PetscObjectComm((PetscObject)dm) : PETSC_COMM_SELF;
  PetscInt       cells, *of;
  PetscReal     *coefficient;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGSetRegionCoefficient()"));
  VpAssertObject(mesh, DM_CLASSID, 2);
  PetscCall(CheckList(comm, n, region, a));
  PetscCall(DMVPatchDGGetCells(dm, &cells));
  PetscCall(PetscMalloc2(cells, &of, cells + 1, &coefficient)); /* not NULL on ranks without cells */
  error = FindRegions(dm, mesh, of);
  if (!error) error = CheckRegions(comm, cells, of, n, region);
  for (PetscInt c = 0; c < cells && !error; c++) coefficient[c] = a[FindRegion(n, region, of[c])];
  if (!error) error = DMVPatchDGSetCoefficient(dm, coefficient);
  PetscCall(PetscFree2(of, coefficient));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
