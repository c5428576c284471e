/* A DMDA or DMPLEX as cells between the faces of a grid. */
#include "usergrid.h"
#include <petscdmda.h>
#include <petscdmplex.h>

PetscErrorCode VpUserGridDestroy(VpUserGrid *grid)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(grid->cell));
  PetscCall(PetscFree(grid->node));
  PetscCall(PetscFree(grid->corner));
  PetscCall(PetscFree(grid->point));
  PetscCall(PetscFree(grid->place));
  for (int d = 0; d < 3; d++) {
    PetscCall(PetscFree(grid->face[d]));
    PetscCall(PetscFree(grid->x[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells do not overlap, so they fill the grid if their number equals the grid's. */
static PetscErrorCode FillUserGrid(DM mesh, PetscBool da, VpUserGrid *grid)
{
  double places = 1;

  PetscFunctionBegin;
  PetscCall(da ? VpGridOfDA(mesh, grid) : VpGridOfPlex(mesh, grid));
  grid->total = (double)grid->ncell;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &grid->total, 1, MPI_DOUBLE, MPI_SUM, grid->comm));
  for (int d = 0; d < grid->dim; d++) places *= (double)grid->n[d];
  grid->fills = (PetscBool)(places == grid->total);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpUserGridCreate(MPI_Comm comm, DM mesh, VpUserGrid *grid)
{
  PetscBool      da, plex;
  PetscErrorCode error;

  PetscFunctionBegin;
  *grid = (VpUserGrid){.comm = comm, .n = {1, 1, 1}};
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMDA, &da));
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMPLEX, &plex));
  PetscCheck(da || plex, grid->comm, PETSC_ERR_ARG_WRONG, "A mesh of type %s: a DMDA or a DMPLEX is needed", VpTypeName((PetscObject)mesh));
  error = FillUserGrid(mesh, da, grid);
  if (error) PetscCall(VpUserGridDestroy(grid));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNumberFaces(VpUserGrid *grid, int d)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(grid->n[d] + 1, &grid->face[d]));
  for (PetscInt i = 0; i <= grid->n[d]; i++) grid->face[d][i] = (PetscReal)i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt VpUserCellAt(const VpUserGrid *grid, int d, PetscReal x)
{
  PetscInt lower = 0, upper = grid->n[d];

  VP_BISECT(lower, upper, middle, !(x < grid->face[d][middle]));
  return lower;
}

PetscBool VpAreEqual(const PetscReal face[], PetscInt i, PetscInt count)
{
  const PetscReal width = (face[i + count] - face[i]) / (PetscReal)count;

  for (PetscInt k = 0; k < count; k++) {
    if (PetscAbsReal(face[i + k + 1] - face[i + k] - width) > VP_GRID_SLACK * PetscAbsReal(width)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
