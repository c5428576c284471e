/* A DMPLEX of boxes. */
#pragma once
#include "../../src/compat.h"
#include <petscdmplex.h>

/* n [dim] cells in each direction of (0, 2) x (-1, 1) [x (0, 1)], on all ranks */
static inline PetscErrorCode Plex(PetscInt dim, const PetscInt n[], DM *plex)
{
  const PetscReal lower[3] = {0, -1, 0}, upper[3] = {2, 1, 1};
  DM              distributed = NULL;

  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 22, 0)
  PetscCall(DMPlexCreateBoxMesh(PETSC_COMM_WORLD, dim, PETSC_FALSE, n, lower, upper, NULL, PETSC_TRUE, plex));
#else
  PetscCall(DMPlexCreateBoxMesh(PETSC_COMM_WORLD, dim, PETSC_FALSE, n, lower, upper, NULL, PETSC_TRUE, 0, PETSC_TRUE, plex));
#endif
  PetscCall(DMPlexDistribute(*plex, 1, NULL, &distributed));
  if (distributed) {
    PetscCall(DMDestroy(plex));
    *plex = distributed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
