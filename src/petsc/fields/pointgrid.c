/* The matrices of grids: values and derivatives of basis functions at Gauss points, in a cell or on a side. */
#include "pointgrid.h"

PetscErrorCode VpGridCreate(const VpBasis *basis, int dim, int nq, const double x[], VpGrid *grid)
{
  double at[VP_MAX_NQ], weight[VP_MAX_NQ];

  PetscFunctionBegin;
  PetscCheck(nq >= 1 && nq <= VP_MAX_NQ, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No rule of %d points", nq);
  *grid = (VpGrid){.count = {1, 1, 1}, .w = {{1}, {1}, {1}}};
  VpGauss(nq, at, weight);
  for (int d = 0; d < dim; d++) {
    grid->count[d] = nq;
    grid->power[d] = -1;
    for (int q = 0; q < nq; q++) {
      grid->x[d][q] = x ? x[q] : at[q];
      grid->w[d][q] = weight[q];
      VpBasisEvaluate(basis, grid->x[d][q], grid->matrix[d] + q * basis->n, NULL);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpGridSlopes(const VpBasis *basis, int dim, const VpGrid *values, VpGrid slope[])
{
  double value[VP_MAX_N];

  for (int d = 0; d < dim; d++) {
    slope[d] = *values;
    slope[d].power[d] -= 2;
    for (int q = 0; q < values->count[d]; q++) VpBasisEvaluate(basis, values->x[d][q], value, slope[d].matrix[d] + q * basis->n);
  }
}

void VpGridToSide(const VpBasis *basis, int side, double value, double slope, VpGrid *grid)
{
  const int d = side / 2, end = side % 2;

  grid->count[d] = 1;
  grid->x[d][0] = end;
  grid->w[d][0] = 1;
  for (int i = 0; i < basis->n; i++) grid->matrix[d][i] = value * basis->value[end][i] + slope * basis->slope[end][i];
}

void VpGridToIntegrals(const VpBasis *basis, VpGrid *grid)
{
  for (int d = 0; d < 3; d++) {
    if (grid->count[d] == 1) continue;
    for (int i = 0; i < grid->count[d] * basis->n; i++) grid->matrix[d][i] *= grid->w[d][i / basis->n];
    grid->power[d] += 2;
  }
}

/* With the rule of the Gauss-Lobatto points, the highest Legendre polynomial of the basis has the integral top^2 of its square. */
void VpGridToCoefficients(const VpBasis *basis, VpGrid *grid)
{
  const int n = basis->n;

  VpGridToIntegrals(basis, grid);
  for (int d = 0; d < 3; d++) {
    for (int q = 0; q < grid->count[d] && grid->count[d] > 1; q++) {
      double *at = grid->matrix[d] + q * n, highest = 0;

      for (int i = 0; i < n; i++) highest += basis->legendre[i * n + n - 1] * at[i];
      for (int i = 0; i < n; i++) at[i] += (1 / (basis->top * basis->top) - 1) * highest * basis->legendre[i * n + n - 1];
    }
  }
}
