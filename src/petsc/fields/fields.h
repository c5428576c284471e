/* Functions and vectors: right-hand sides, values at points, errors, files for ParaView. */
#pragma once
#include "../dmdata/dmdata.h"

/* integrals.c: fills b for f = 1 if a KSP has a DM and no right-hand side */
/* estimatecoefficient.c: b += div(a grad u_h); term [own cells] = norm of (a - the DM's coefficient)/sqrt(a) grad u_h. *positive becomes
   false if a is not a positive number. */
PetscErrorCode VpEstimateCoefficient(DM, Vec x, VPatchDGFunction a, void *ctx, Vec b, PetscReal term[], PetscBool *positive);

PetscErrorCode DMVPatchDGComputeOnes_Private(KSP, Vec b, void *);
/* vtk.c */
PetscErrorCode VecView_VPatchDG(Vec, PetscViewer);
/* integrals.c: removes the constant part of b, for which a singular problem has no solution */
