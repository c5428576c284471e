/* Converted meshes: the DM's cells equal those of the mesh. */
#pragma once
#include "backend.h"
#include "refused.h"
#include <petscdmplex.h>
#include <petscsf.h>

/* center [n][dim] of a DMPLEX's own cells, found without a grid */
static PetscErrorCode CentersOfPlex(DM plex, PetscInt *n, PetscReal **center)
{
  PetscInt        dim, first, last, ghosts, where;
  const PetscInt *ghost;
  PetscSF         sf;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(plex, &dim));
  PetscCall(DMPlexGetHeightStratum(plex, 0, &first, &last));
  PetscCall(DMGetPointSF(plex, &sf));
  PetscCall(PetscSFGetGraph(sf, NULL, &ghosts, &ghost, NULL));
  PetscCall(PetscMalloc1((last - first) * dim, center));
  *n = 0;
  for (PetscInt c = first; c < last; c++) {
    where = -1;
    if (ghosts > 0) PetscCall(PetscFindInt(c, ghosts, ghost, &where));
    if (where < 0) PetscCall(DMPlexComputeCellGeometryFVM(plex, c, NULL, *center + (*n)++ * dim, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the centres of the DM's cells, which the map brings to the mesh's order, with those of the mesh; and maps numbers of the mesh's
   cells back. */
static PetscErrorCode cells_are_where_the_map_says(DM dm, DM mesh, PetscInt n, const PetscReal center[], const char name[])
{
  PetscReal   *mine, *there, lower[3], upper[3], worst = 0;
  PetscInt     dim, cells, total, leaves, bad = 0, *number, *back;
  PetscSF      map;
  MPI_Datatype point;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &cells));
  PetscCall(DMVPatchDGCreateCellMap(dm, mesh, &map));
  PetscCall(PetscSFGetGraph(map, NULL, &leaves, NULL, NULL));
  PetscCall(PetscMalloc4(cells * dim, &mine, n * dim, &there, n, &number, cells, &back));
  for (PetscInt c = 0; c < cells; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    for (PetscInt d = 0; d < dim; d++) mine[c * dim + d] = (lower[d] + upper[d]) / 2;
    back[c] = -1;
  }
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)dim, MPIU_REAL, &point));
  PetscCallMPI(MPI_Type_commit(&point));
  PetscCall(PetscSFBcastBegin(map, point, mine, there, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(map, point, mine, there, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&point));
  for (PetscInt i = 0; i < n * dim && leaves == n; i++) worst = PetscMax(worst, PetscAbsReal(there[i] - center[i]));
  for (PetscInt i = 0; i < n; i++) number[i] = i;
  PetscCall(PetscSFReduceBegin(map, MPIU_INT, number, back, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(map, MPIU_INT, number, back, MPI_REPLACE));
  for (PetscInt c = 0; c < cells; c++) bad += back[c] < 0;
  bad += leaves != n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(&cells, &total, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(worst < 1e-12 && bad == 0), "cells_are_where_the_map_says: %s: %d cells, %.1e apart, %d without one", name, (int)total,
        (double)worst, (int)bad);
  PetscCall(PetscFree4(mine, there, number, back));
  PetscCall(PetscSFDestroy(&map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts, checks degree, level and the condition along x, solves, and checks the map. Frees center. */
static PetscErrorCode converts(DM mesh, PetscInt degree, PetscInt level, PetscBool periodic, PetscInt n, PetscReal *center,
                               const char name[])
{
  VPatchDGBoundary   boundary[6];
  PetscInt           k, l, its;
  KSPConvergedReason reason;
  KSP                ksp;
  DM                 dm;

  PetscFunctionBeginUser;
  PetscCall(DMConvert(mesh, DMVPATCHDG, &dm));
  PetscCall(DMVPatchDGGetBoundary(dm, boundary));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetDegree(dm, &k));
  PetscCall(DMGetRefineLevel(dm, &l));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(TestSolver(ksp, 1e-8, 50));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  TapOk((PetscBool)(k == degree && l == level && (boundary[0] == VPATCHDG_BOUNDARY_PERIODIC) == periodic && reason > 0 && its <= 12),
        "converts: %s: degree %d, refined %d times, %s along x, %d iterations", name, (int)k, (int)l, VPatchDGBoundaries[boundary[0]],
        (int)its);
  PetscCall(cells_are_where_the_map_says(dm, mesh, n, center, name));
  PetscCall(PetscFree(center));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
