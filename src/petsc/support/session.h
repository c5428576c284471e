/* State from VPatchDGInitializePackage() to PetscFinalize(). */
#pragma once
#include "../../compat.h"

/* number of this rank among the ranks on its host, and their number */
extern PetscMPIInt VPatchDGHostRank, VPatchDGHostSize;

PetscErrorCode VpSessionBegin(void);
/* Registers the method with -citations on the first call in a session. */
PetscErrorCode VpCite(void);
