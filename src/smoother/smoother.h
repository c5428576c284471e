/* The coloured multiplicative vertex-patch smoother of one level. */
#pragma once
#include "../level/level.h"

typedef enum { VP_RESIDUAL_EXACT, VP_RESIDUAL_LOCAL, VP_RESIDUAL_GLOBAL } VpResidual;
/* Functions of full patches see the faces that the local residual drops. Below degree 3 clamped patches do not span the space. */
static inline PetscBool VpSpaceTakes(VpSpace space, VpResidual residual)
{
  return (PetscBool)(space != VP_SPACE_FULL || residual != VP_RESIDUAL_LOCAL);
}
static inline PetscBool VpSpaceHas(VpSpace space, int degree)
{
  return (PetscBool)(space != VP_SPACE_CLAMPED || degree >= 3);
}
/* Whether a sweep in reverse order is the adjoint: local residuals are those of a symmetric operator only where they are exact, in the
   space clamped. */
static inline PetscBool VpSpaceIsSymmetric(VpSpace space, VpResidual residual)
{
  return (PetscBool)(residual != VP_RESIDUAL_LOCAL || space == VP_SPACE_CLAMPED);
}
typedef enum { VP_EXCHANGE_AUTO, VP_EXCHANGE_SWEEP, VP_EXCHANGE_COLOR } VpExchange;
/* With fewer cells per rank than this, sweeps exchange after every colour, which saves iterations. Ranks sweep copies of their
   neighbours' patches in either case. */
#define VP_FEW_CELLS         4096
#define VP_FEW_CELLS_OF_PART 1024 /* the same on a level with only a part of the cells */
/* what is asked, or where that is auto, the exchange that suits the level */
VpExchange VpChooseExchange(VpLevel, VpExchange asked);

typedef struct VpSmoother_ *VpSmoother;
/* VP_EXCHANGE_AUTO becomes what suits the level. corners: how often a sweep repeats the patches near corners. */
PetscErrorCode     VpSmootherCreate(VpLevel, VpSpace, VpResidual, VpExchange, PetscInt corners, VpSmoother *);
PetscErrorCode     VpSmootherDestroy(VpSmoother *);
const VpPatchView *VpSmootherPatches(VpSmoother); /* all patches, for tests to read */
/* how many patches of all ranks are near corners, and how often a sweep repeats them */
void VpSmootherCorners(VpSmoother, PetscInt *patches, PetscInt *repeats);
/* From now on ghosts get their owners' values once more before the last colour, if the sweep is in single precision, exchanges once and
   does not take the residual `global`: the ranks' copies of a cell then differ by rounding errors. Without that, patches beside ghosts are
   solved against differing copies, and the residual of the finest level shows it. */
PetscErrorCode VpSmootherRenewGhosts(VpSmoother);
/* From now on so many sweeps of single cells follow the one of patches (come before it, in reverse order). ratio: as of
   VpCellSweepCreate(). Collective */
PetscErrorCode VpSmootherAddCells(VpSmoother, PetscInt sweeps, double ratio);
PetscInt       VpSmootherCells(VpSmoother); /* how many cells of all ranks these sweep */
/* Corrects values also where patches are replaceable. Tests and measurements compare both. */
PetscErrorCode VpSmootherNeverReplace(VpSmoother);
/* Sweeps over all colours, then again over the patches near corners; in opposite order where `reverse` is true. It fetches the ghosts of b
   and x that it reads. */
PetscErrorCode VpSmootherSweep(VpSmoother, PetscBool reverse, VpVector b, VpVector x);
/* The same over the patches where a level of an adaptive mesh ends, in place of all. */
PetscErrorCode VpSmootherSweepEnds(VpSmoother, PetscBool reverse, VpVector b, VpVector x);

/* One sweep from zero as a preconditioner M. First r goes in, by VpVectorEnter or VpVectorEnterResidual. */
typedef struct VpOneSweep_ *VpOneSweep;
PetscErrorCode              VpOneSweepCreate(VpLevel, VpSpace, VpResidual, VpExchange, VpOneSweep *);
PetscErrorCode              VpOneSweepBegin(VpOneSweep, VpVector *b); /* b: where r goes in */
/* z = scale M r (add: z += scale M r). M approximates (2^exponent A)^-1: the caller undoes the exponent. */
PetscErrorCode VpOneSweepSolve(VpOneSweep, PetscBool reverse, PetscBool add, double scale, double *z);
PetscErrorCode VpOneSweepDestroy(VpOneSweep *);

/* interfaces.c: the view of the interface patches between a level of an adaptive mesh and the next coarser one. together: patches of
   several colours are solved at a time where the result is the same; requires that ghosts do not travel between colours */
PetscErrorCode VpPlaceInterfaces(VpLevel fine, VpLevel coarse, PetscBool together, VpArrays *, VpInterfaceView *);
