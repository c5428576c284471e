/* A coarse correction by as much as helps most: x += t e, where t = (e, r) / (e, A e) makes the error least in the energy norm. */
#pragma once
#include "../level/level.h"

typedef struct VpLineSearch_ *VpLineSearch;
PetscErrorCode                VpLineSearchCreate(VpLevel, VpLineSearch *);
PetscErrorCode                VpLineSearchDestroy(VpLineSearch *);
/* where the correction e is to be put, on the cells that own and VP_GHOST_HALO have */
PetscErrorCode VpLineSearchBegin(VpLineSearch, void **e);
/* x += t e. Requires: r = b - A x */
PetscErrorCode VpLineSearchStep(VpLineSearch, VpVector r, VpVector x);
/* Then this makes `to` the new residual of r, which may be the same vector. */
PetscErrorCode VpLineSearchResidual(VpLineSearch, VpVector r, VpVector to);
