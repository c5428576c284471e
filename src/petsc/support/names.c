/* The names that options, -help and messages give to the values of the enums in vpatchdg.h. The algorithm has enums of its own for some of
   them, value for value the same. */
#include <vpatchdg.h>
#include "../../multigrid/multigrid.h"

const char *const VPatchDGDomains[] = {"box", "lshape", "fichera", "boxes", "VPatchDGDomain", "VPATCHDG_DOMAIN_", NULL};
const char *const VPatchDGBoundaries[] = {"dirichlet", "neumann", "periodic", "VPatchDGBoundary", "VPATCHDG_BOUNDARY_", NULL};
const char *const VPatchDGSpaces[] = {"full", "dirichlet", "clamped", "VPatchDGSpace", "VPATCHDG_SPACE_", NULL};
const char *const VPatchDGResiduals[] = {"exact", "local", "global", "VPatchDGResidual", "VPATCHDG_RESIDUAL_", NULL};
const char *const VPatchDGPrecisions[] = {"single", "double", "auto", "VPatchDGPrecision", "VPATCHDG_PRECISION_", NULL};
const char *const VPatchDGCycleTypes[] = {"v", "w", "VPatchDGCycleType", "VPATCHDG_CYCLE_", NULL};
const char *const VPatchDGCoarses[] = {"auto", "sweeps", "ksp", "VPatchDGCoarse", "VPATCHDG_COARSE_", NULL};
const char *const VPatchDGExchanges[] = {"auto", "sweep", "color", "VPatchDGExchange", "VPATCHDG_EXCHANGE_", NULL};
const char *const VPatchDGBackends[] = {"auto", "host", "cuda", "VPatchDGBackend", "VPATCHDG_BACKEND_", NULL};
const char *const VPatchDGTransports[] = {"auto", "mpi", "nccl", "host", "VPatchDGTransport", "VPATCHDG_TRANSPORT_", NULL};

#define AGREE(NAME) _Static_assert((int)VPATCHDG_##NAME == (int)VP_##NAME, "VPATCHDG_" #NAME " and VP_" #NAME " differ")
AGREE(SPACE_FULL);
AGREE(SPACE_DIRICHLET);
AGREE(SPACE_CLAMPED);
AGREE(RESIDUAL_EXACT);
AGREE(RESIDUAL_LOCAL);
AGREE(RESIDUAL_GLOBAL);
AGREE(EXCHANGE_AUTO);
AGREE(EXCHANGE_SWEEP);
AGREE(EXCHANGE_COLOR);
AGREE(CYCLE_V);
AGREE(CYCLE_W);
AGREE(COARSE_AUTO);
AGREE(COARSE_SWEEPS);
AGREE(COARSE_KSP);
_Static_assert((int)VPATCHDG_PRECISION_SINGLE == (int)VP_SINGLE && (int)VPATCHDG_PRECISION_DOUBLE == (int)VP_DOUBLE, "precisions differ");
