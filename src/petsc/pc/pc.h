/* Types of preconditioners, of a KSP and of the initial guess. */
#pragma once
#include "../../compat.h"
#include <petscksp.h>

PetscErrorCode PCCreate_VPatchDG(PC);
PetscErrorCode PCCreate_VPatch(PC);
PetscErrorCode KSPCreate_VPatchDGFCG(KSP);
PetscErrorCode KSPGuessCreate_VPatchDG(KSPGuess);
