/* The grids of points that functions are evaluated at, and the basis there. In all of them a cell's function is
   u = sum_i x_i phi_i, phi_i = prod_d phihat_id / sqrt(h_d). */
#pragma once
#include "../../level/level.h"

/* nq points a direction; x: where they are in [0,1], or NULL: the Gauss points. The matrices take coefficients to values there. */
PetscErrorCode VpGridCreate(const VpBasis *, int dim, int nq, const double x[], VpGrid *);
/* slope[dim]: to derivatives along every direction at the points of a grid of values */
void VpGridSlopes(const VpBasis *, int dim, const VpGrid *values, VpGrid slope[]);
/* makes a cell's grid one of a side, where it gives value times u + slope times the outward derivative times h */
void VpGridToSide(const VpBasis *, int side, double value, double slope, VpGrid *);
/* The transposed matrices then make integrals (f, phi_i) of values of f; on a side integrals over it. */
void VpGridToIntegrals(const VpBasis *, VpGrid *);
