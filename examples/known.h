/* Common code of the examples with a known solution. */
#pragma once
#include <vpatchdg.h>

/* Ensures: an error if options have changed the equation or the boundary, so that the known solution does not solve the problem. */
static inline PetscErrorCode CheckEquation(DM dm, const VPatchDGBoundary known[])
{
  VPatchDGBoundary boundary[6];
  PetscReal        reaction;
  PetscInt         dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetReaction(dm, &reaction));
  PetscCall(DMVPatchDGGetBoundary(dm, boundary));
  PetscCheck(reaction == 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "-dm_vpatchdg_reaction %g: this example computes its error with a solution for reaction 0. poisson -problem smooth takes any",
             (double)reaction);
  for (PetscInt side = 0; side < 2 * dim; side++)
    PetscCheck(boundary[side] == known[side], PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
               "-dm_vpatchdg_boundary %s on side %d: this example has boundary data for %s there. poisson -problem smooth takes any",
               VPatchDGBoundaries[boundary[side]], (int)side, VPatchDGBoundaries[known[side]]);
  PetscFunctionReturn(0);
}
