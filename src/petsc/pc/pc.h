/* The preconditioners' types, and that of the initial guess. */
#pragma once
#include "../../compat.h"
#include <petscksp.h>

PETSC_INTERN PetscErrorCode PCCreate_VPatchDG(PC);
PETSC_INTERN PetscErrorCode PCCreate_VPatch(PC);
PETSC_INTERN PetscErrorCode KSPGuessCreate_VPatchDG(KSPGuess);
