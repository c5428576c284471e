/* The coloured multiplicative vertex-patch smoother of one level. */
#pragma once
#include "../level/level.h"

typedef enum { VP_RESIDUAL_EXACT, VP_RESIDUAL_LOCAL, VP_RESIDUAL_GLOBAL } VpResidual;
/* which residuals and degrees a space takes. Functions of full patches see the faces that the local residual drops. Below degree 3, clamped
   patches do not span the space. */
static inline PetscBool VpSpaceTakes(VpSpace space, VpResidual residual)
{
  return (PetscBool)(space != VP_SPACE_FULL || residual != VP_RESIDUAL_LOCAL);
}
static inline PetscBool VpSpaceHas(VpSpace space, int degree)
{
  return (PetscBool)(space != VP_SPACE_CLAMPED || degree >= 3);
}
/* Whether a sweep in reverse order is the adjoint. Local residuals are those of a symmetric operator only in the space clamped, where they
   are exact. */
static inline PetscBool VpSpaceIsSymmetric(VpSpace space, VpResidual residual)
{
  return (PetscBool)(residual != VP_RESIDUAL_LOCAL || space == VP_SPACE_CLAMPED);
}
typedef enum { VP_EXCHANGE_AUTO, VP_EXCHANGE_SWEEP, VP_EXCHANGE_COLOR } VpExchange;
/* Sweeps exchange after every colour if a rank has fewer cells than this, which saves iterations. Ranks always sweep copies of their
   neighbours' patches. */
#define VP_FEW_CELLS         4096
#define VP_FEW_CELLS_PARTIAL 1024 /* the same on partial levels */
/* the exchange that was asked for, or for auto the one that suits the level */
VpExchange VpChooseExchange(VpLevel, VpExchange asked);

typedef struct VpSmoother_ *VpSmoother;
/* corners: how often a sweep repeats the patches near corners */
PetscErrorCode     VpSmootherCreate(VpLevel, VpSpace, VpResidual, VpExchange, PetscInt corners, VpSmoother *);
PetscErrorCode     VpSmootherDestroy(VpSmoother *);
const VpPatchView *VpSmootherPatches(VpSmoother); /* all patches, for tests */
/* the number of patches near corners, on all ranks, and how often a sweep repeats them */
void VpSmootherCorners(VpSmoother, PetscInt *patches, PetscInt *repeats);
/* Makes sweeps fetch ghosts once more before the last colour, if they are in single precision, exchange once and do not take the residual
   `global`. Otherwise the copies of a cell on two ranks differ by rounding errors, which limit the residual of the finest level. */
PetscErrorCode VpSmootherRenewGhosts(VpSmoother);
/* Makes sweeps over all patches go through this number of colours, if there are more; -1: through all but one. They are the last ones, and
   patches of the very last one tile the domain. */
PetscErrorCode VpSmootherLimitColors(VpSmoother, PetscInt colors);
/* Makes `sweeps` sweeps of single cells follow the one of patches (in reverse order, precede it). ratio: as in VpCellSweepCreate().
   Collective */
PetscErrorCode VpSmootherAddCells(VpSmoother, PetscInt sweeps, double ratio);
PetscInt       VpSmootherCells(VpSmoother); /* the number of these cells, on all ranks */
/* Sweeps over all colours, then again over the patches near corners; in opposite order if `reverse`. Fetches the ghosts of b and x that it
   reads. */
PetscErrorCode VpSmootherSweep(VpSmoother, PetscBool reverse, VpVector b, VpVector x);
/* the same over the patches near a level's end */
PetscErrorCode VpSmootherSweepEnds(VpSmoother, PetscBool reverse, VpVector b, VpVector x);

/* One sweep from zero as a preconditioner M. VpOneSweepBegin gives the vector that r enters (VpVectorEnter, VpVectorEnterResidual). */
typedef struct VpOneSweep_ *VpOneSweep;
PetscErrorCode              VpOneSweepCreate(VpLevel, VpSpace, VpResidual, VpExchange, VpOneSweep *);
PetscErrorCode              VpOneSweepBegin(VpOneSweep, VpVector *b);
/* z = scale M r (add: z += scale M r). M approximates (2^exponent A)^-1: the caller undoes the exponent. */
PetscErrorCode VpOneSweepSolve(VpOneSweep, PetscBool reverse, PetscBool add, double scale, double *z);
PetscErrorCode VpOneSweepDestroy(VpOneSweep *);

/* interfaces.c: fills the view of the interface patches between two levels of an adaptive mesh. together: steps may contain patches of
   several colours if the result is the same. Requires then: no ghosts travel between colours. */
PetscErrorCode VpPlaceInterfaces(VpLevel fine, VpLevel coarse, PetscBool together, VpArrays *, VpInterfaceView *);
