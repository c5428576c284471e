/* Functions and vectors: right-hand sides, values at points, errors, files for ParaView. */
#pragma once
#include "../dmdata/dmdata.h"

/* integrals.c: fills b for f = 1 if a KSP has a DM and no right-hand side */
PetscErrorCode DMVPatchDGComputeOnes_Private(KSP, Vec b, void *);
/* vtk.c */
PetscErrorCode VecView_VPatchDG(Vec, PetscViewer);
