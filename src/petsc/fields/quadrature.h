/* Values of functions at the points of a cell. */
#pragma once
#include "fields.h"

/* Tables of the basis at nq points a direction, and the number of points of a cell, nq^dim */
#define VP_MAX_NQ    (2 * VP_MAX_N)
#define VP_MAX_POINT (VP_MAX_NQ * VP_MAX_NQ * VP_MAX_NQ)
typedef struct {
  int    dim, n, nq, npoint;
  double x[VP_MAX_NQ], w[VP_MAX_NQ];                               /* points and weights on [0,1] */
  double value[VP_MAX_NQ * VP_MAX_N], slope[VP_MAX_NQ * VP_MAX_N]; /* [nq][n] phihat_i(x_q), phihat_i'(x_q) */
  double transpose[VP_MAX_NQ * VP_MAX_N];                          /* [n][nq] of value */
} VpQuadrature;
/* x: the points, or NULL: the Gauss points */
PETSC_INTERN PetscErrorCode VpQuadratureCreate(const VpBasis *, int dim, int nq, const double x[], VpQuadrature *);
/* out[r2][r1][r0] = sum A[0][r0][c0] A[1][r1][c1] A[2][r2][c2] in[c2][c1][c0]. Requires: 2 VP_MAX_POINT numbers at work; size 1 and A NULL
   in directions that there are not. in and out may be one. */
PETSC_INTERN void VpTensor(const int rows[3], const int cols[3], const double *const A[3], const double in[], double out[], double work[]);
