/* From functions to vectors and back: right-hand sides, values at points, errors, files for ParaView. */
#pragma once
#include "../dmdata/dmdata.h"

/* integrals.c: fills b for f = 1, as KSPSetDM() asks for it */
/* estimatecoefficient.c: b += div(a grad u_h); term[own cells] = the norm of (a - the DM's number)/sqrt(a) grad u_h.
   *positive becomes false where a is no positive number. */
PetscErrorCode VpEstimateCoefficient(DM, Vec x, VPatchDGFunction a, void *ctx, Vec b, PetscReal term[], PetscBool *positive);

PetscErrorCode DMVPatchDGComputeOnes_Private(KSP, Vec b, void *);
/* vtk.c */
PetscErrorCode VecView_VPatchDG(Vec, PetscViewer);
/* integrals.c: removes the part of b along the constants, with which a singular problem has no solution */
