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
/* an exact coefficient in place of the numbers of cells */
typedef struct {
  VPatchDGFunction a;     /* NULL: none */
  PetscReal       *trace; /* [own cells][2 dim] a on their sides */
} VpPointCoefficient;
/* residuals.c: eta = the norms of the residuals in cells and on sides. u and f: solution and source at the points of
   DMVPatchDGGetPoints(). With an exact coefficient, f contains div(a grad u_h). */
PetscErrorCode DMVPatchDGEstimateResiduals(DM, Vec u, Vec f, const VpPointCoefficient *, const VpGivenSides *, PetscReal eta[]);
