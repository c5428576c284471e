/* DMConvert() from DMDA and DMPLEX: the domain, and the map between cells. */
/* ranks: 1 2 3 */
#include "support/convert.h"
#include "support/plex.h"
#include <petscdmda.h>

static PetscErrorCode Da(PetscInt dim, const PetscInt n[], PetscBool periodic, PetscInt dof, DMDAInterpolationType kind, DM *da)
{
  const DMBoundaryType x = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE, none = DM_BOUNDARY_NONE;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, dim));
  PetscCall(DMDASetSizes(*da, n[0], n[1], n[2]));
  PetscCall(DMDASetBoundaryType(*da, x, none, none));
  PetscCall(DMDASetDof(*da, dof));
  PetscCall(DMDASetStencilWidth(*da, 1));
  PetscCall(DMSetUp(*da));
  PetscCall(DMDASetInterpolationType(*da, kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Stretched(PetscReal x)
{
  return x + x * x;
}

/* makes entries along y stretched, or twisted by x */
static PetscErrorCode Move(DM da, PetscBool twist)
{
  PetscScalar *x;
  PetscInt     n, dim;
  Vec          old, coordinates;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(da, &dim));
  PetscCall(DMGetCoordinates(da, &old));
  PetscCall(VecDuplicate(old, &coordinates));
  PetscCall(VecCopy(old, coordinates));
  PetscCall(VecGetLocalSize(coordinates, &n));
  PetscCall(VecGetArray(coordinates, &x));
  for (PetscInt i = 0; i < n; i += dim) x[i + 1] = twist ? x[i + 1] + 0.1 * x[i] : Stretched(PetscRealPart(x[i + 1]));
  PetscCall(VecRestoreArray(coordinates, &x));
  PetscCall(DMSetCoordinates(da, coordinates));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* center[n][dim] of a mesh's own cells, found in another way than by its grid */
static PetscErrorCode CentersOfDa(DM da, PetscBool cells, PetscInt *n, PetscReal **center)
{
  const PetscScalar *x;
  PetscInt           dim, size[3], start[3], own[3], ghost[3], all[3];
  DMBoundaryType     type[3];
  Vec                local;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, &dim, &size[0], &size[1], &size[2], NULL, NULL, NULL, NULL, NULL, &type[0], &type[1], &type[2], NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &own[0], &own[1], &own[2]));
  PetscCall(DMDAGetGhostCorners(da, &ghost[0], &ghost[1], &ghost[2], &all[0], &all[1], &all[2]));
  PetscCall(DMGetCoordinatesLocal(da, &local));
  PetscCall(VecGetArrayRead(local, &x));
  PetscCall(PetscMalloc1(own[0] * own[1] * own[2] * dim, center));
  *n = 0;
  for (PetscInt i = 0; i < own[0] * own[1] * own[2]; i++) {
    const PetscInt at[3] = {i % own[0], i / own[0] % own[1], i / own[0] / own[1]};
    PetscBool      is = PETSC_TRUE;
    PetscInt       entry = 0, upper = 0;

    for (int d = 2; d >= 0; d--) {
      const PetscInt here = start[d] + at[d] - ghost[d];

      entry = entry * all[d] + here;
      upper = upper * all[d] + here + (d < dim);
      is = (PetscBool)(is && (cells || d >= dim || start[d] + at[d] < size[d] - 1));
    }
    if (!is) continue;
    for (int d = 0; d < dim; d++)
      (*center)[*n * dim + d] = PetscRealPart(cells ? x[entry * dim + d] : (x[entry * dim + d] + x[upper * dim + d]) / 2);
    (*n)++;
  }
  PetscCall(VecRestoreArrayRead(local, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode of_a_da(PetscInt dim, const PetscInt n[3], PetscBool periodic, PetscBool cells, PetscBool stretch, PetscInt dof,
                              PetscInt degree, PetscInt level, const char name[])
{
  const PetscReal h = cells ? 1 / (PetscReal)n[1] / 2 : 0;
  PetscReal      *center;
  PetscInt        count = 0;
  DM              da;

  PetscFunctionBeginUser;
  PetscCall(Da(dim, n, periodic, dof, cells ? DMDA_Q0 : DMDA_Q1, &da));
  if (periodic) PetscCall(DMDASetUniformCoordinates(da, 0, 2, h, 1 - h, 0, 3));
  else PetscCall(DMDASetUniformCoordinates(da, -1, 2, h, 1 - h, 0, 3));
  if (stretch) PetscCall(Move(da, PETSC_FALSE));
  PetscCall(CentersOfDa(da, cells, &count, &center));
  PetscCall(converts(da, degree, level, periodic, count, center, name));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode of_a_plex(PetscInt dim, const PetscInt n[], PetscInt level, const char name[])
{
  PetscReal *center;
  PetscInt   count = 0;
  DM         plex;

  PetscFunctionBeginUser;
  PetscCall(Plex(dim, n, &plex));
  PetscCall(CentersOfPlex(plex, &count, &center));
  PetscCall(converts(plex, 3, level, PETSC_FALSE, count, center, name));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A mesh of 4 cells that all ranks have, whose points are the first one's: ghosts have no list then, since they are all points. */
static PetscErrorCode ghosts_may_come_first(void)
{
  const PetscInt  cells[16] = {0, 1, 4, 3, 1, 2, 5, 4, 3, 4, 7, 6, 4, 5, 8, 7};
  const PetscReal x[18] = {0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1, 0, 2, 1, 2, 2, 2};
  PetscMPIInt     rank, size;
  PetscInt        points, ghosts, total;
  PetscSFNode    *owner;
  PetscSF         sf;
  DM              whole, plex, dm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 2, rank ? 0 : 4, rank ? 0 : 9, 4, PETSC_TRUE, cells, 2, x, &whole));
  PetscCall(DMPlexGetRedundantDM(whole, NULL, &plex));
  PetscCall(DMDestroy(&whole));
  PetscCall(DMPlexGetChart(plex, NULL, &points));
  ghosts = rank ? points : 0;
  PetscCall(PetscMalloc1(ghosts, &owner));
  for (PetscInt i = 0; i < ghosts; i++) owner[i] = (PetscSFNode){.rank = 0, .index = i};
  PetscCall(DMGetPointSF(plex, &sf));
  PetscCall(PetscSFSetGraph(sf, points, ghosts, NULL, PETSC_COPY_VALUES, owner, PETSC_OWN_POINTER));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &total));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(total == 4), "ghosts_may_come_first: %d cells", (int)total);
  PetscCall(DMDestroy(&plex));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* boxes that touch nowhere: between their faces there are more cells than PetscInt may count */
static PetscErrorCode Scattered(PetscInt n, DM *plex)
{
  const int   corner[8] = {0, 2, 3, 1, 4, 5, 7, 6};
  PetscInt   *cells;
  PetscReal  *x;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank) n = 0;
  PetscCall(PetscMalloc2(8 * n, &cells, 24 * n, &x));
  for (PetscInt i = 0; i < 8 * n; i++) {
    cells[i] = i;
    for (int d = 0; d < 3; d++) x[3 * i + d] = (PetscReal)(i / 8 * 3 + (corner[i % 8] >> d & 1));
  }
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 3, n, 8 * n, 8, PETSC_FALSE, cells, 3, x, plex));
  PetscCall(PetscFree2(cells, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first vertex of every rank has no place */
static PetscErrorCode Lose(DM plex)
{
  PetscScalar *x;
  Vec          coordinates;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinatesLocal(plex, &coordinates));
  PetscCall(VecGetArray(coordinates, &x));
  x[0] = NAN;
  PetscCall(VecRestoreArray(coordinates, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode other_cells_are_refused(void)
{
  const PetscInt n[3] = {9, 3, 1};
  PetscSF        map;
  DM             da, dm, plex, none = NULL;

  PetscFunctionBeginUser;
  PetscCall(Da(2, n, PETSC_FALSE, 1, DMDA_Q1, &da));
  PetscCall(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 0));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 1, 0, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){2, 8}, NULL, NULL));
  PetscCall(DMSetUp(dm));
  Refused(DMVPatchDGCreateCellMap(dm, da, &map), "cells where the mesh has others", "as many cells of another shape");
  PetscCall(DMDestroy(&da));
  PetscCall(DMDestroy(&dm));
  PetscCall(Plex(2, (PetscInt[]){8, 8}, &plex));
  PetscCall(Lose(plex));
  Refused(DMConvert(plex, DMVPATCHDG, &none), "is no finite number", "a vertex that is NaN");
  PetscCall(DMDestroy(&plex));
  PetscCall(Scattered(700, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  Refused(DMSetUp(dm), "The domain is not connected", "boxes that touch nowhere");
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode what_is_no_grid_is_refused(void)
{
  const PetscInt n[3] = {8, 8, 1};
  DM             da, dm = NULL, other;
  PetscSF        map;

  PetscFunctionBeginUser;
  PetscCall(Da(2, n, PETSC_FALSE, 1, DMDA_Q1, &da));
  PetscCall(DMConvert(da, DMVPATCHDG, &other));
  PetscCall(DMSetRefineLevel(other, 1));
  PetscCall(DMSetUp(other));
  Refused(DMVPatchDGCreateCellMap(other, da, &map), "as it was before -dm_refine", "a DM that was refined");
  PetscCall(DMDASetInterpolationType(da, DMDA_Q0));
  PetscCall(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 0));
  PetscCall(Move(da, PETSC_TRUE));
  Refused(DMConvert(da, DMVPATCHDG, &dm), "unless they form a grid", "twisted centres");
  PetscCall(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 0));
  PetscCall(Move(da, PETSC_FALSE));
  Refused(DMConvert(da, DMVPATCHDG, &dm), "unless all cells are as wide", "centres of different cells");
  PetscCall(DMDestroy(&da));
  Refused(DMVPatchDGCreateCellMap(other, other, &map), "a DMDA or a DMPLEX", "a map to a DM of another type");
  PetscCall(DMDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(of_a_da(2, (PetscInt[]){12, 8, 1}, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE, 9, 2, 2, "DMDA of cells"));
  PetscCall(of_a_da(2, (PetscInt[]){9, 7, 1}, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE, 1, 3, 0, "DMDA of cells, odd numbers"));
  PetscCall(of_a_da(2, (PetscInt[]){17, 9, 1}, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, 1, 3, 3, "DMDA of vertices"));
  PetscCall(of_a_da(2, (PetscInt[]){17, 13, 1}, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, 1, 3, 0, "DMDA of vertices, stretched"));
  PetscCall(of_a_da(3, (PetscInt[]){8, 4, 12}, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE, 8, 1, 2, "DMDA of cells in 3D"));
  PetscCall(of_a_da(3, (PetscInt[]){5, 7, 9}, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, 2, 3, 0, "DMDA of vertices in 3D, stretched"));
  PetscCall(of_a_da(2, (PetscInt[]){8, 12, 1}, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE, 16, 3, 2, "periodic DMDA of cells"));
  PetscCall(of_a_plex(2, (PetscInt[]){8, 12}, 2, "DMPLEX"));
  PetscCall(of_a_plex(3, (PetscInt[]){6, 4, 2}, 1, "DMPLEX in 3D"));
  PetscCall(ghosts_may_come_first());
  PetscCall(other_cells_are_refused());
  PetscCall(what_is_no_grid_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
