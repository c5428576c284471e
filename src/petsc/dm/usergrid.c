/* A DMDA or DMPLEX as cells of a grid. */
#include "usergrid.h"
#include <petscdmda.h>
#include <petscdmplex.h>

PetscErrorCode VpUserGridDestroy(VpUserGrid *grid)
{
  PetscFunctionBegin;
  for (int side = 0; side < 6; side++) PetscCall(PetscFree(grid->label[side]));
  PetscCall(PetscFree(grid->cell));
  for (int d = 0; d < 3; d++) {
    PetscCall(PetscFree(grid->face[d]));
    PetscCall(PetscFree(grid->entry[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsDA(DM mesh, PetscBool *da)
{
  PetscBool plex;

  PetscFunctionBegin;
  VpAssertObject(mesh, DM_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMDA, da));
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMPLEX, &plex));
  PetscCheck(*da || plex, PetscObjectComm((PetscObject)mesh), PETSC_ERR_ARG_WRONG, "A mesh of type %s: a DMDA or a DMPLEX is needed",
             VpTypeName((PetscObject)mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpUserGridCreate(DM mesh, VpUserGrid *grid)
{
  PetscBool      da;
  PetscErrorCode error;

  PetscFunctionBegin;
  *grid = (VpUserGrid){.n = {1, 1, 1}};
  PetscCall(IsDA(mesh, &da));
  error = da ? VpGridOfDA(mesh, grid) : VpGridOfPlex(mesh, grid);
  if (error) PetscCall(VpUserGridDestroy(grid));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpUserGridCenters(DM mesh, PetscInt *n, PetscReal **center)
{
  PetscBool da;

  PetscFunctionBegin;
  PetscCall(IsDA(mesh, &da));
  PetscCall(da ? VpCentersOfDA(mesh, n, center) : VpCentersOfPlex(mesh, n, center));
  PetscFunctionReturn(PETSC_SUCCESS);
}
