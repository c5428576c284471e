/* The names of the values of enums that are set by option only. Those of vpatchdg.h are declared there. */
#pragma once
#include <vpatchdg.h>

/* what -dm_vpatchdg_transport asks for */
typedef enum { VP_ASKED_AUTO, VP_ASKED_MPI, VP_ASKED_NCCL, VP_ASKED_HOST, VP_ASKED_PEER } VpAskedTransport;
extern const char *const VpAskedTransports[];
extern const char *const VpResidualNames[], *const VpCoarsenNames[], *const VpExchangeNames[], *const VpGeometryPrecisions[];
extern const char *const VpJacobiNames[], *const VpMetricNames[], *const VpPointsNames[], *const VpWidthNames[];
