/* The coefficient on the reference cell: G and |det J| at the points of a cell or of one of its sides (metric.h has G). */
#pragma once
#include "metric.h"

enum { VP_MOST_POINTS = VP_MAX_N * VP_MAX_N * VP_MAX_N };
typedef struct {
  int       components;                                /* of G, as in VpMetric. Set by the caller */
  int       sign;                                      /* of det J, at all points; 0: it is 0, not finite, or has both signs */
  PetscBool definite;                                  /* K is finite and positive definite at all points. */
  double    G[6][VP_MOST_POINTS], det[VP_MOST_POINTS]; /* rows of VpMetricEntry(); |det J| */
} VpPointMetric;
/* J [points][dim][dim], K [points][components] */
void VpPullBack(int dim, int points, const double J[], int components, const double K[], VpPointMetric *);
/* whether a number is positive and finite, or a matrix positive definite: its leading minors are positive */
PetscBool VpIsDefinite(int dim, int components, const double K[]);
/* The n Gauss points in each direction of a cell, or of its side (-1: the cell). */
void VpGaussPoints(VpGeometry, int n, int side, VpMapGrid *);
/* determinants.c. Collective. sign: of det J in own cells, as in VpPointMetric. Ensures: an error on all ranks, with the cell and its
   point, unless the sign is the same at the points of all cells: those of VpGaussPoints(), in the cell and on its sides. */
PetscErrorCode VpCheckDeterminants(VpMesh, int n, const int8_t sign[]);
