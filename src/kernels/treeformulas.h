/* Maps of the domains of trees that -dm_vpatchdg_domain names, by formulas. Tree b is the unit box from x = 2 b on. */
#pragma once
#include "circle.h"

/* A polygon of radius 1 consists of kites. The corners of each are the centre, the middles of sides `kite` and `kite` + 1, and the corner
   between these sides. */
VP_POINT void VpStarPoint(int kite, const double xi[], const double a[], double X[])
{
  for (int i = 0; i < 2; i++) {
    const double angle = i * VP_PI / 2, middle = cos(VP_PI / a[0]), next = (kite + 1) % (int)a[0];

    X[i] = xi[0] * (1 - xi[1]) * middle * cos(2 * VP_PI * kite / a[0] - angle) +
           xi[1] * (1 - xi[0]) * middle * cos(2 * VP_PI * next / a[0] - angle) + xi[0] * xi[1] * cos(VP_PI * (2 * kite + 1) / a[0] - angle);
  }
}

/* a square, and four trees between its sides and the circle of radius 1, in which x goes outwards */
VP_POINT void VpDiscPoint(int tree, const double xi[], double diagonal, double X[])
{
  const double half = diagonal * sqrt(0.5), u = 2 * xi[1] - 1;
  double       on[2], axis[2];

  if (!tree) {
    for (int d = 0; d < 2; d++) X[d] = half * (2 * xi[d] - 1);
    return;
  }
  VpOnCircle(0, VP_PI / 4 * u, on);
  VpOnCircle(1, (tree - 1) * VP_PI / 2, axis);
  on[0] = (1 - xi[0]) * half + xi[0] * on[0];
  on[1] = (1 - xi[0]) * half * u + xi[0] * on[1];
  X[0] = axis[0] * on[0] - axis[1] * on[1];
  X[1] = axis[1] * on[0] + axis[0] * on[1];
}

/* Sets the ends of a segment from a cube to a sphere: inner on side `side` of [-half, half]^3, at half u and half v, and outer on the
   sphere of radius 1, at the angles u pi/4 and v pi/4. */
VP_POINT void VpFindRay(int side, double half, double u, double v, double inner[3], double outer[3])
{
  const int d = side / 2, sign = side % 2 ? 1 : -1, first = (d + (side % 2 ? 1 : 2)) % 3, second = 3 - d - first;
  double    on[2][2];

  VpOnCircle(0, VP_PI / 4 * u, on[0]);
  VpOnCircle(1, VP_PI / 4 * v, on[1]);
  const double s = on[0][1] / on[0][0], t = on[1][1] / on[1][0], norm = sqrt(1 + s * s + t * t);

  inner[d] = sign * half;
  inner[first] = half * u;
  inner[second] = half * v;
  outer[d] = sign / norm;
  outer[first] = s / norm;
  outer[second] = t / norm;
}

/* a cube, and six trees between its faces and the sphere of radius 1, in which x goes outwards */
VP_POINT void VpBallPoint(int tree, const double xi[], double diagonal, double X[])
{
  const double half = diagonal / sqrt(3.);
  double       inner[3], outer[3];

  if (tree) VpFindRay(tree - 1, half, 2 * xi[1] - 1, 2 * xi[2] - 1, inner, outer);
  for (int d = 0; d < 3; d++) X[d] = tree ? (1 - xi[0]) * inner[d] + xi[0] * outer[d] : half * (2 * xi[d] - 1);
}

/* six trees between two spheres, in which x goes outwards */
VP_POINT void VpShellPoint(int tree, const double xi[], const double a[], double X[])
{
  double inner[3], outer[3];

  VpFindRay(tree, 1, 2 * xi[1] - 1, 2 * xi[2] - 1, inner, outer);
  for (int d = 0; d < 3; d++) X[d] = (a[0] + (a[1] - a[0]) * xi[0]) * outer[d];
}

/* VpFormulaPoint() of a domain of trees. A cylinder consists of a[1] layers, which are discs of height 1/a[1]. */
VP_POINT void VpTreePoint(VpFormula formula, int dim, const double a[], const double x[], double X[])
{
  const int tree = (int)floor((x[0] + 0.5) / 2);
  double    xi[3];

  for (int d = 0; d < dim; d++) xi[d] = x[d] - (d ? 0 : 2 * tree);
  if (formula == VP_FORMULA_STAR) VpStarPoint(tree, xi, a, X);
  if (formula == VP_FORMULA_DISC || formula == VP_FORMULA_CYLINDER) VpDiscPoint(tree % 5, xi, a[0], X);
  if (formula == VP_FORMULA_CYLINDER) X[2] = (tree / 5 + xi[2]) / a[1];
  if (formula == VP_FORMULA_BALL) VpBallPoint(tree, xi, a[0], X);
  if (formula == VP_FORMULA_SHELL) VpShellPoint(tree, xi, a, X);
}
