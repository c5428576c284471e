/* The coefficients of a patch's cells as products of one factor a direction, which is what its tables can follow. */
#include "internal.h"

enum { MOST = 800 };

/* the nearest integer, within what a key of a patch's problem holds */
static int16_t Round(double number)
{
  return (int16_t)PetscMax(-MOST, PetscMin(MOST, round(number)));
}

double VpFitProduct(int dim, const VpFit *fit, int c, int d)
{
  int steps = 0;

  for (int e = 0; e < dim; e++) {
    const int step = fit->step[e] + (e == d ? 0 : fit->skew[e]);

    steps += PetscMax(c >> e & 1 ? step : -step, 0);
  }
  return exp2(steps / (double)VP_STEPS);
}

/* A patch beside much softer or stiffer cells must not see a wall, or nothing, there. */
static void FitFaces(int dim, const PetscReal a[][3], const PetscReal beyond[][3], const double sigma[3], VpFit *fit)
{
  for (int side = 0; side < 2 * dim; side++) {
    const int d = side / 2;
    double    largest = 0;

    for (int c = 0; c < 1 << dim; c++) {
      const double mean = 2 * a[c][d] / (a[c][d] + beyond[c][d]) * beyond[c][d];

      if ((c >> d & 1) == side % 2) largest = PetscMax(largest, mean / VpFitProduct(dim, fit, c, d));
    }
    fit->face[d][side % 2] = Round(log2(largest / sigma[d]));
  }
}

/* log[c]: of the coefficients along a direction. Their mean in the upper half of the patch in direction e less that in
   the lower half, in steps */
static int16_t Step(int dim, const double log[8], int e, double least)
{
  double slope = 0;

  for (int c = 0; c < 1 << dim; c++) slope += (c >> e & 1 ? 1 : -1) * log[c] / (1 << dim) * 2;
  return fabs(slope) < least ? 0 : Round(VP_STEPS * slope);
}

/* Along e the masses of all directions but e share one factor: the mean of theirs. */
static void FitSteps(int dim, int tensor, const PetscReal a[][3], double least, VpFit *fit)
{
  double log[3][8];

  for (int d = 0; d < PetscMax(tensor, 1); d++)
    for (int c = 0; c < 1 << dim; c++) log[d][c] = log2(a[c][d]);
  for (int e = 0; e < dim; e++) {
    double sum = 0;

    fit->step[e] = Step(dim, log[tensor ? e : 0], e, least);
    for (int d = 0; d < tensor; d++) sum += d == e ? 0 : Step(dim, log[d], e, least);
    if (tensor) fit->skew[e] = (int16_t)(Round(sum / (dim - 1)) - fit->step[e]);
  }
}

void VpCoefficientFit(int dim, int tensor, const PetscReal a[][3], const PetscReal beyond[][3], double least, VpFit *fit, double *scale)
{
  const int nc = 1 << dim;
  double    sigma[3] = {0, 0, 0};
  PetscBool inside = PETSC_TRUE, same = PETSC_TRUE; /* in the patch; also beyond it */

  *fit = (VpFit){.ratio = {1, 1, 1}};
  for (int c = 0; c < nc; c++) {
    for (int d = 0; d < dim; d++) {
      inside = (PetscBool)(inside && a[c][d] == a[0][d]);
      same = (PetscBool)(same && beyond[c][d] == a[0][d]);
    }
  }
  if (!inside) FitSteps(dim, tensor, a, least, fit); /* else without logarithms */
  *scale = 0;
  for (int d = 0; d < (tensor ? dim : 1); d++) {
    for (int c = 0; c < nc; c++) sigma[d] = PetscMax(sigma[d], inside ? a[c][d] : a[c][d] / VpFitProduct(dim, fit, c, d));
    *scale = PetscMax(*scale, sigma[d]);
  }
  for (int d = 0; d < dim; d++) {
    if (!tensor) sigma[d] = *scale;
    else fit->ratio[d] = inside ? sigma[d] / *scale : VpRoundRatio(sigma[d] / *scale);
  }
  if (!inside || !same) FitFaces(dim, a, beyond, sigma, fit);
}
