/* What holds from VPatchDGInitializePackage() to PetscFinalize(). */
#pragma once
#include "../../compat.h"

/* this rank among those of its host, and their number */
PETSC_INTERN PetscMPIInt VPatchDGHostRank, VPatchDGHostSize;

PETSC_INTERN PetscErrorCode VpSessionBegin(void);
/* tells -citations of the method, the first time it is called in a session */
PETSC_INTERN PetscErrorCode VpCite(void);
