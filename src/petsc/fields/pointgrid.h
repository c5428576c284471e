/* Grids of points, and the basis functions there. A function on a cell is u = sum_i x_i phi_i with phi_i = prod_d phihat_id / sqrt(h_d). */
#pragma once
#include "../../level/level.h"

/* Matrices from coefficients to values at nq points in each direction. x: [nq] the points in [0,1]; NULL: Gauss points */
PetscErrorCode VpGridCreate(const VpBasis *, int dim, int nq, const double x[], VpGrid *);
/* slope [dim]: matrices to the derivative in each direction at the points of a grid of values */
void VpGridSlopes(const VpBasis *, int dim, const VpGrid *values, VpGrid slope[]);
/* Restricts a cell's grid to a side, where its matrices give value * u + slope * h * (outward derivative of u). */
void VpGridToSide(const VpBasis *, int side, double value, double slope, VpGrid *);
/* Makes the transposed matrices give integrals (f, phi_i) from values of f; on a side, integrals over the side. */
void VpGridToIntegrals(const VpBasis *, VpGrid *);
/* the same, divided by the integrals of the squares: the coefficients of the function with the values at n Gauss points */
void VpGridToCoefficients(const VpBasis *, VpGrid *);
