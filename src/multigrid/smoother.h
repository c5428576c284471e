/* The coloured multiplicative vertex-patch smoother of one level. */
#pragma once
#include "multigrid.h"

typedef struct VpSmoother_ *VpSmoother;
/* The exchange is as asked for: auto becomes what suits the level. corners: how often a sweep repeats the patches near corners. */
PetscErrorCode     VpSmootherCreate(VpLevel, VpSpace, VpResidual, VpExchange, PetscInt corners, VpSmoother *);
PetscErrorCode     VpSmootherDestroy(VpSmoother *);
const VpPatchView *VpSmootherPatches(VpSmoother); /* all patches, for tests to read */
/* how many patches of all ranks are near corners, and how often a sweep repeats them */
void VpSmootherCorners(VpSmoother, PetscInt *patches, PetscInt *repeats);
/* From now on ghosts get their owners' values once more before the last colour, if the sweep is in single precision, exchanges once and
   does not take the residual `global`: the ranks' copies of a cell then differ by rounding errors. Without that, patches beside ghosts are
   solved against differing copies, and the residual of the finest level shows it. */
void VpSmootherRenewGhosts(VpSmoother);
/* From now on so many sweeps of single cells follow the one of patches (come before it, in reverse order). */
PetscErrorCode VpSmootherAddCells(VpSmoother, PetscInt sweeps);
/* Takes the residual form also where the replacement form would do. Tests and measurements compare the two. */
PetscErrorCode VpSmootherUseResidualForm(VpSmoother);
/* Sweeps over all colours, then again over the patches near corners; in opposite order where `reverse` is true. It fetches the ghosts of b
   and x that it reads. */
PetscErrorCode VpSmootherSweep(VpSmoother, PetscBool reverse, VpVector b, VpVector x);
/* The same over the patches where a level of an adaptive mesh ends, in place of all. */
PetscErrorCode VpSmootherSweepEdges(VpSmoother, PetscBool reverse, VpVector b, VpVector x);
