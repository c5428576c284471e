/* The coloured multiplicative vertex-patch smoother of one level. */
#pragma once
#include "multigrid.h"

typedef struct VpSmoother_ *VpSmoother;
PetscErrorCode              VpSmootherCreate(VpLevel, VpSpace, VpResidual, VpExchange, VpSmoother *);
PetscErrorCode              VpSmootherDestroy(VpSmoother *);
const VpPatchView          *VpSmootherPatches(VpSmoother);
/* From now on the owners' values come to the ghosts before the last colour, where the ranks' copies differ by rounding errors of single
   precision. Without that neighbours are solved against such copies, and the residual on the finest level shows the difference. */
void VpSmootherRenewGhosts(VpSmoother);
/* takes the residual form also where the replacement form would do: for comparison */
PetscErrorCode VpSmootherUseResidualForm(VpSmoother);
/* Sweeps over all colours, in opposite order where `reverse` is true. It fetches the ghosts of b and x that it reads. */
PetscErrorCode VpSmootherSweep(VpSmoother, PetscBool reverse, VpVector b, VpVector x);
