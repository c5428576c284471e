/* What the making of a metric knows. */
#pragma once
#include "../internal.h"
#include "pullback.h"
#include <stdatomic.h>

typedef struct {
  VpMesh               mesh;
  const VpProblem     *problem;
  const VpPointValues *values;
  VpMetric             metric;
  VpBasis              basis;
  int                  n, dim, face, rows;
  double               weight[VP_MAX_N], point_weight[VP_MOST_POINTS]; /* along a direction, and of a cell's points */
  VpMapGrid            at[7];                                          /* points of cells, then of the sides */
  double               slope[VP_MAX_N * VP_MAX_N];                     /* [n][n] as VpMetricView.slope */
  double              *G, *H;                                          /* [nown][components][n^dim]; [nown][2 dim][rows][n^(dim-1)] */
  double              *penalty;                                        /* [nface] factor of the penalty of cells */
  double              *seen;                                           /* [nface][2 dim][G_dd, G_dd det][n^(dim-1)] */
  double              *average;                                        /* [nown][components] means of G, in the unit of metric->mean */
  double              *extremes;                                       /* [nown][2] VpMetricExtremes() */
  int8_t              *sign;                                           /* [nown] of det J */
  _Atomic int64_t      bad;    /* 1 + number of a cell where K is not positive definite; 0: there is none */
  double              *parted; /* [parts][G_dd, G_dd det][n^(dim-1)] of coarse cells */
} VpMetricWork;

/* Makes H, G's row d, at points of a side, and `seen`, G_dd and G_dd det, for the cell beyond. half: the points are those of a fine side,
   or -1; K [n^(dim-1)][components] */
void VpMakeSide(VpMetricWork *, int32_t cell, int side, int half, const VpMapGrid *, const double K[], double H[], double seen[]);
/* what lies beyond a side: one cell, or a condition; of coarse cells where sides hang, nothing that has the side's points */
typedef struct {
  int32_t       cell; /* -1: none */
  const double *seen; /* G_dd, G_dd det there */
  double        half; /* the own cell's part of the penalty: 1, or of a fine cell 1/2 */
} VpMetricSide;
/* weight, beyond [face] = 2 w of two cells with these numbers `seen` */
void VpWeighSides(int face, const double own[], const double other[], double weight[], double beyond[]);
/* turned [G_dd, G_dd det][face]: memory for `seen` where the cell beyond is turned; NULL: `seen` is not wanted */
VpMetricSide VpFindBeyond(const VpMetricWork *, int32_t cell, int side, double turned[]);
/* sigma on a side that hangs, of a coarse and a fine cell with these H_dd */
static inline double VpSigmaOf(const VpMetricWork *mk, int32_t coarse, double Hc, int32_t fine, double Hf)
{
  return (mk->n - 1) * mk->n * (mk->penalty[coarse] * Hc + 0.5 * mk->penalty[fine] * Hf);
}
/* parts.c: the parts of sides that hang, of a mesh that is adaptive. VpMakeParts finds G there, VpFinishParts H and sigma, when the
   penalties of cells are known. VpStoreGhosts gives a metric that is stored the numbers of ghosts. */
PetscErrorCode VpAllocateParts(VpMetricWork *);
PetscErrorCode VpMakeParts(VpMetricWork *);
void           VpFinishParts(VpMetricWork *);
PetscErrorCode VpStoreGhosts(VpMetricWork *);
