/* The maps of the domains of trees that -dm_vpatchdg_domain names. Tree b is the unit box from x = 2 b on. */
#include "internal.h"

/* the tree of a point, and xi = its coordinates there */
static int FindTree(int dim, const double x[], double xi[])
{
  const int tree = (int)floor((x[0] + 0.5) / 2);

  for (int d = 0; d < dim; d++) xi[d] = x[d] - (d ? 0 : 2 * tree);
  return tree;
}

/* the kite between the middles of sides b and b + 1 of a polygon of radius 1, its centre and a corner */
void VpMapStar(int dim, const double x[], const double a[], double X[])
{
  double    xi[2];
  const int kite = FindTree(dim, x, xi);

  for (int i = 0; i < 2; i++) {
    const double angle = i * PETSC_PI / 2, middle = cos(PETSC_PI / a[0]), next = (kite + 1) % (int)a[0];

    X[i] = xi[0] * (1 - xi[1]) * middle * cos(2 * PETSC_PI * kite / a[0] - angle) +
           xi[1] * (1 - xi[0]) * middle * cos(2 * PETSC_PI * next / a[0] - angle) +
           xi[0] * xi[1] * cos(PETSC_PI * (2 * kite + 1) / a[0] - angle);
  }
}

/* a square, and four trees between its sides and the circle of radius 1, in which x goes outwards */
void VpMapDisc(int dim, const double x[], const double a[], double X[])
{
  double       xi[3];
  const int    tree = FindTree(dim, x, xi);
  const double half = a[0] * sqrt(0.5), angle = (tree - 1) * PETSC_PI / 2, u = 2 * xi[1] - 1;
  const double out[2] = {(1 - xi[0]) * half + xi[0] * cos(PETSC_PI / 4 * u), (1 - xi[0]) * half * u + xi[0] * sin(PETSC_PI / 4 * u)};

  for (int d = 0; d < 2 && !tree; d++) X[d] = half * (2 * xi[d] - 1);
  if (!tree) return;
  X[0] = cos(angle) * out[0] - sin(angle) * out[1];
  X[1] = sin(angle) * out[0] + cos(angle) * out[1];
}

/* layers of discs, one upon the other, of height 1 together */
void VpMapCylinder(int dim, const double x[], const double a[], double X[])
{
  double       xi[3];
  const int    tree = FindTree(dim, x, xi);
  const double disc[2] = {2 * (tree % 5) + xi[0], xi[1]};

  VpMapDisc(2, disc, a, X);
  X[2] = (tree / 5 + xi[2]) / a[1];
}

/* Sets the point of side `side` of a cube: inner on the cube [-half, half]^3, outer on the sphere of radius 1, by angles u and v from -1 to
   1. */
static void FindRay(int side, double half, double u, double v, double inner[3], double outer[3])
{
  const int    d = side / 2, sign = side % 2 ? 1 : -1, first = (d + (side % 2 ? 1 : 2)) % 3, second = 3 - d - first;
  const double s = tan(PETSC_PI / 4 * u), t = tan(PETSC_PI / 4 * v), norm = sqrt(1 + s * s + t * t);

  inner[d] = sign * half;
  inner[first] = half * u;
  inner[second] = half * v;
  outer[d] = sign / norm;
  outer[first] = s / norm;
  outer[second] = t / norm;
}

/* a cube, and six trees between its faces and the sphere of radius 1, in which x goes outwards */
void VpMapBall(int dim, const double x[], const double a[], double X[])
{
  double       xi[3], inner[3], outer[3];
  const int    tree = FindTree(dim, x, xi);
  const double half = a[0] / sqrt(3);

  if (tree) FindRay(tree - 1, half, 2 * xi[1] - 1, 2 * xi[2] - 1, inner, outer);
  for (int d = 0; d < 3; d++) X[d] = tree ? (1 - xi[0]) * inner[d] + xi[0] * outer[d] : half * (2 * xi[d] - 1);
}

/* six trees between two spheres, in which x goes outwards */
void VpMapShell(int dim, const double x[], const double a[], double X[])
{
  double    xi[3], inner[3], outer[3];
  const int tree = FindTree(dim, x, xi);

  FindRay(tree, 1, 2 * xi[1] - 1, 2 * xi[2] - 1, inner, outer);
  for (int d = 0; d < 3; d++) X[d] = (a[0] + (a[1] - a[0]) * xi[0]) * outer[d];
}
