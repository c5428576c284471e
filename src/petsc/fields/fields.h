/* Functions and vectors: right-hand sides, values at points, errors, files for ParaView. */
#pragma once
#include "../dmdata/dmdata.h"

/* estimatecoefficient.c: b += div(a grad u_h); term [own cells] = norm of (a - the DM's coefficient)/sqrt(a) grad u_h. *positive becomes
   false if a is not a positive number. */
PetscErrorCode VpEstimateCoefficient(DM, Vec x, VPatchDGFunction a, void *ctx, Vec b, PetscReal term[], PetscBool *positive);

/* integrals.c: fills b for f = 1 if a KSP has a DM and no right-hand side */
PetscErrorCode DMVPatchDGComputeOnes_Private(KSP, Vec b, void *);
/* vtk.c */
PetscErrorCode VecView_VPatchDG(Vec, PetscViewer);
