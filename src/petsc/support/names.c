/* Names of enum values in options, -help and messages. Some enums of vpatchdg.h have a copy in the algorithm with the same values. */
#include "names.h"
#include "../../cycle/cycle.h"

const char        VPatchDGVersion[] = VPATCHDG_VERSION;
const char *const VPatchDGDomains[] = {"box",   "lshape",         "fichera",          "boxes", "trees", "star", "disc", "cylinder", "ball",
                                       "shell", "VPatchDGDomain", "VPATCHDG_DOMAIN_", NULL};
const char *const VPatchDGBoundaries[] = {"dirichlet", "neumann", "robin", "periodic", "VPatchDGBoundary", "VPATCHDG_BOUNDARY_", NULL};
const char *const VPatchDGSpaces[] = {"full", "dirichlet", "clamped", "VPatchDGSpace", "VPATCHDG_SPACE_", NULL};
const char *const VPatchDGPrecisions[] = {"single", "double", "auto", "VPatchDGPrecision", "VPATCHDG_PRECISION_", NULL};
const char *const VPatchDGCycleTypes[] = {"v", "w", "f", "auto", "VPatchDGCycleType", "VPATCHDG_CYCLE_", NULL};
const char *const VPatchDGMarkings[] = {"doerfler", "maximum", "VPatchDGMarking", "VPATCHDG_MARK_", NULL};
const char *const VPatchDGCoarses[] = {"auto", "sweeps", "ksp", "dense", "volumes", "steps", "VPatchDGCoarse", "VPATCHDG_COARSE_", NULL};
const char *const VPatchDGBases[] = {"auto", "legendre", "gauss", "VPatchDGBasis", "VPATCHDG_BASIS_", NULL};
const char *const VPatchDGQuadratures[] = {"gauss", "lobatto", "VPatchDGQuadrature", "VPATCHDG_QUADRATURE_", NULL};
const char *const VPatchDGBackends[] = {"auto", "host", "cuda", "VPatchDGBackend", "VPATCHDG_BACKEND_", NULL};

const char *const VpResidualNames[] = {"exact", "local", "global", "VpResidual", "VP_RESIDUAL_", NULL};
const char *const VpPointsNames[] = {"auto", "nodes", "centers", "VpPoints", "VP_POINTS_", NULL};
const char *const VpWidthNames[] = {"auto", "narrow", "wide", "VpWidth", "VP_WIDTH_", NULL};
const char *const VpJacobiNames[] = {"auto", "none", "after", "both", "VpJacobiSteps", "VP_JACOBI_", NULL};
const char *const VpCoarsenNames[] = {"local", "full", "VpCoarsen", "VP_COARSEN_", NULL};
const char *const VpMetricNames[] = {"auto", "cell", "const", "VpMetricKind", "VP_METRIC_", NULL};
const char *const VpExchangeNames[] = {"auto", "sweep", "color", "VpExchange", "VP_EXCHANGE_", NULL};
const char *const VpGeometryPrecisions[] = {"single", "double", "VpPrecision", "VP_", NULL};
const char *const VpAskedTransports[] = {"auto", "mpi", "nccl", "host", "peer", "VpAskedTransport", "VP_ASKED_", NULL};

#define VP_CONDITION(NAME, ...) \
  _Static_assert((int)VPATCHDG_BOUNDARY_##NAME + 1 == (int)VP_SIDE_##NAME, "VPatchDGBoundary and conditions.def differ");
#include "../../tables/conditions.def"
#undef VP_CONDITION
#define SAME(NAME) ((int)VPATCHDG_##NAME == (int)VP_##NAME)
_Static_assert(SAME(SPACE_FULL) && SAME(SPACE_DIRICHLET) && SAME(SPACE_CLAMPED), "VPatchDGSpace and VpSpace differ");
_Static_assert(SAME(CYCLE_V) && SAME(CYCLE_W) && SAME(CYCLE_F) && SAME(CYCLE_AUTO), "VPatchDGCycleType and VpCycleType differ");
_Static_assert(SAME(COARSE_AUTO) && SAME(COARSE_SWEEPS) && SAME(COARSE_KSP) && SAME(COARSE_DENSE) && SAME(COARSE_VOLUMES) &&
                 SAME(COARSE_STEPS),
               "VPatchDGCoarse and VpCoarseType differ");
_Static_assert(SAME(QUADRATURE_GAUSS) && SAME(QUADRATURE_LOBATTO), "VPatchDGQuadrature and VpQuadrature differ");
_Static_assert((int)VPATCHDG_PRECISION_SINGLE == (int)VP_SINGLE && (int)VPATCHDG_PRECISION_DOUBLE == (int)VP_DOUBLE,
               "VPatchDGPrecision and VpPrecision differ");
