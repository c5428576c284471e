/* What estimates of all kinds of coefficients have in common. */
#pragma once
#include "../dmdata/dmdata.h"
#include "../../base/norm.h"

/* what users give to an estimate besides the source */
typedef struct {
  VPatchDGFunction dirichlet;
  VPatchDGFlux     flux;
  void            *ctx;
} VpGivenSides;
/* pointestimate.c: DMVPatchDGEstimate() where the DM has a metric. b: what DMVPatchDGInterpolate() makes of the source */
PetscErrorCode DMVPatchDGEstimateAtPoints(DM, Vec x, Vec b, const VpGivenSides *, PetscReal eta[]);
