/* From functions to vectors and back: right-hand sides, values at points, errors, files for ParaView. */
#pragma once
#include "../operator/operator.h"

/* integrals.c: fills b for f = 1, as KSPSetDM() asks for it */
PETSC_INTERN PetscErrorCode DMVPatchDGComputeOnes_Private(KSP, Vec b, void *);
/* vtk.c */
PETSC_INTERN PetscErrorCode VecView_VPatchDG(Vec, PetscViewer);
