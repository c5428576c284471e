/* Types of preconditioners and of the initial guess. */
#pragma once
#include "../../compat.h"
#include <petscksp.h>

PetscErrorCode PCCreate_VPatchDG(PC);
PetscErrorCode PCCreate_VPatch(PC);
PetscErrorCode KSPGuessCreate_VPatchDG(KSPGuess);
