/* What holds from VPatchDGInitializePackage() to PetscFinalize(). */
#pragma once
#include "../../compat.h"

/* this rank among those of its host, and their number */
extern PetscMPIInt VPatchDGHostRank, VPatchDGHostSize;

PetscErrorCode VpSessionBegin(void);
/* tells -citations of the method, the first time it is called in a session */
PetscErrorCode VpCite(void);
