/* How far a cell's numbers are from those that a box has: whether the penalty makes A definite there. */
#pragma once
#include "metric.h"
#include "../../kernels/views.h"

/* one cell of degree k in `dim` dimensions, with the numbers of VpMetricView */
typedef struct {
  int           dim, n, components;
  const double *G, *side;              /* [components][n^dim]; [2 dim][VpMetricRows][n^(dim-1)] */
  const double *slope;                 /* [n][n] row q: sqrt(w_q) phihat_i'(x_q) */
  const double *weight, *point_weight; /* [n] along a direction, [n^dim] of points */
  const double *value[2], *out[2];     /* [n] the functions and their outward slopes at both ends */
  double        part[6];               /* [side] the factor of H_d in sigma (VpMetricView) */
} VpMetricCell;

/* The cell is definite if the penalty is larger than this number: the largest value of the sum over its sides of
   |F(v)|^2 / (4 k (k + 1) part H_d) over |grad v|^2, by power iterations. scratch: [VpMetricScratch()] */
double VpMetricPenalty(const VpMetricCell *, double scratch[]);
size_t VpMetricScratch(int dim, int n);
/* functions of a cell up to which VpMetricPenalty() is affordable */
enum { VP_MOST_DEFINITE = 125 };
