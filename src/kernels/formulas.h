/* Maps by formulas, which host and device share: of the unit square or cube here. */
#pragma once
#include "treeformulas.h"

VP_POINT double VpRadians(double degrees)
{
  return degrees * VP_PI / 180;
}

/* a piecewise linear function on [0,1] that is steep below 1/2 */
VP_POINT double VpSteep(double eps, double y)
{
  return y <= 0.5 ? (2 - eps) * y : 1 + eps * (y - 1);
}
/* y in one of six layers: of the flat function first, of the steep one last, and from one to the other in between, with a way back in the
   two layers in the middle */
VP_POINT double VpKershawLine(double eps, double layer, double y)
{
  const double flat = 1 - VpSteep(eps, 1 - y), steep = VpSteep(eps, y);
  double       s = layer - 1;

  if (layer >= 2) s = (4 - layer) / 2;
  if (layer >= 4) s = layer - 4;
  s = fmax(0., fmin(1., s));
  return flat + (steep - flat) * s * s * s * (s * (6 * s - 15) + 10);
}

/* X = what a formula with the numbers a makes of x [dim] */
VP_POINT void VpFormulaPoint(VpFormula formula, int dim, const double a[], const double x[], double X[])
{
  double on[2], s;

  for (int d = 0; d < dim; d++) X[d] = x[d];
  switch (formula) {
  case VP_FORMULA_SHEAR:
    X[0] += cos(VpRadians(a[0])) * x[1];
    X[1] = sin(VpRadians(a[0])) * x[1];
    break;
  case VP_FORMULA_SINE:
    s = a[0];
    for (int d = 0; d < dim; d++) {
      VpOnCircle(d, 2 * VP_PI * x[d], on);
      s *= on[1];
    }
    for (int d = 0; d < dim; d++) X[d] += s;
    break;
  case VP_FORMULA_ANNULUS:
    VpOnCircle(0, VpRadians(a[2]) * x[1], on);
    for (int d = 0; d < 2; d++) X[d] = (a[0] + (a[1] - a[0]) * x[0]) * on[d];
    break;
  case VP_FORMULA_KERSHAW:
    for (int d = 1; d < dim; d++) X[d] = VpKershawLine(a[0], 6 * x[0], x[d]);
    break;
  case VP_FORMULA_TORUS:
    s = (1 + x[0]) / 2;
    VpOnCircle(0, 2 * VP_PI * x[1], on);
    X[0] = 2 + s * on[0];
    X[dim - 1] = s * on[1];
    VpOnCircle(1, VpRadians(a[0]) * x[dim - 1], on);
    X[1] = -X[0] * on[1];
    X[0] *= on[0];
    break;
  case VP_FORMULA_BUMP:
    s = (1 - cos(2 * VP_PI * x[0])) / 20;
    X[0] *= 4;
    X[1] = s + (1 - s) * (a[0] == 1 ? 1 + tanh(2.5 * (x[1] - 1)) / tanh(2.5) : (1 + tanh(2 * (2 * x[1] - 1)) / tanh(2.)) / 2);
    if (dim == 3) X[2] *= 2;
    break;
  case VP_FORMULA_NONE:
    break;
  default:
    VpTreePoint(formula, dim, a, x, X);
  }
}
