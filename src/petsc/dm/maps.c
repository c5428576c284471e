/* The maps that -dm_vpatchdg_map names, of the unit square and of the unit cube, and those of the domains of trees that -dm_vpatchdg_domain
   names (treemaps.c). Their order is that of numbers in files. */
#include "internal.h"

enum { MOST_KITES = 1000 };

static double ToRadians(double degrees)
{
  return degrees * PETSC_PI / 180;
}

/* cosine and sine of an angle. The last ones are kept: neighbouring points share coordinates. place: 0 to 2, of the one that is kept */
static const double *OnCircle(int place, double angle)
{
  static _Thread_local struct {
    double angle, point[2];
  } last[3] = {{0, {1, 0}}, {0, {1, 0}}, {0, {1, 0}}};

  if (angle != last[place].angle) {
    last[place].angle = angle;
    last[place].point[0] = cos(angle);
    last[place].point[1] = sin(angle);
  }
  return last[place].point;
}

static void MapShear(int dim, const double x[], const double a[], double X[])
{
  X[0] = x[0] + cos(ToRadians(a[0])) * x[1];
  X[1] = sin(ToRadians(a[0])) * x[1];
  if (dim == 3) X[2] = x[2];
}

static void MapSine(int dim, const double x[], const double a[], double X[])
{
  double product = a[0];

  for (int d = 0; d < dim; d++) product *= OnCircle(d, 2 * PETSC_PI * x[d])[1];
  for (int d = 0; d < dim; d++) X[d] = x[d] + product;
}

static void MapAnnulus(int dim, const double x[], const double a[], double X[])
{
  const double r = a[0] + (a[1] - a[0]) * x[0], *on = OnCircle(0, ToRadians(a[2]) * x[1]);

  X[0] = r * on[0];
  X[1] = r * on[1];
  if (dim == 3) X[2] = x[2];
}

/* a piecewise linear function on [0,1] that is steep below 1/2 */
static double SteepLine(double eps, double y)
{
  return y <= 0.5 ? (2 - eps) * y : 1 + eps * (y - 1);
}

/* y in one of six layers: of the flat function first, of the steep one last, and from one to the other in between, with a way back in the
   two layers in the middle */
static double KershawLine(double eps, double layer, double y)
{
  const double flat = 1 - SteepLine(eps, 1 - y), steep = SteepLine(eps, y);
  double       s = layer - 1;

  if (layer >= 2) s = (4 - layer) / 2;
  if (layer >= 4) s = layer - 4;
  s = PetscMax(0, PetscMin(1, s));
  return flat + (steep - flat) * s * s * s * (s * (6 * s - 15) + 10);
}

static void MapKershaw(int dim, const double x[], const double a[], double X[])
{
  X[0] = x[0];
  for (int d = 1; d < dim; d++) X[d] = KershawLine(a[0], 6 * x[0], x[d]);
}

static void MapTorus(int dim, const double x[], const double a[], double X[])
{
  const double r = (1 + x[0]) / 2, around = 2 * PETSC_PI * x[1], along = ToRadians(a[0]) * x[2], radius = 2 + r * cos(around);

  X[0] = radius * cos(along);
  X[1] = -radius * sin(along);
  X[2] = r * sin(around);
}

static void MapBump(int dim, const double x[], const double a[], double X[])
{
  const double low = (1 - cos(2 * PETSC_PI * x[0])) / 20;
  const double t = a[0] == 1 ? 1 + tanh(2.5 * (x[1] - 1)) / tanh(2.5) : (1 + tanh(2 * (2 * x[1] - 1)) / tanh(2)) / 2;

  X[0] = 4 * x[0];
  X[1] = low + (1 - low) * t;
  if (dim == 3) X[2] = 2 * x[2];
}

static PetscBool IsAngle(const double a[])
{
  return (PetscBool)(a[0] > 0 && a[0] < 180);
}

static PetscBool IsAmplitude(const double a[])
{
  return (PetscBool)(fabs(a[0]) < 1);
}

static PetscBool IsAnnulus(const double a[])
{
  return (PetscBool)(a[0] > 0 && a[1] > a[0] && a[2] > 0 && a[2] <= 360);
}

static PetscBool IsFraction(const double a[])
{
  return (PetscBool)(a[0] > 0 && a[0] <= 1);
}

static PetscBool IsTurn(const double a[])
{
  return (PetscBool)(a[0] > 0 && a[0] <= 360);
}

static PetscBool IsWalls(const double a[])
{
  return (PetscBool)(a[0] == 1 || a[0] == 2);
}

static PetscBool IsStar(const double a[])
{
  return (PetscBool)(a[0] >= 3 && a[0] <= MOST_KITES && a[0] == floor(a[0]));
}

static PetscBool IsDisc(const double a[])
{
  return (PetscBool)(a[0] > 0 && a[0] < 1);
}

static PetscBool IsCylinder(const double a[])
{
  return (PetscBool)(IsDisc(a) && a[1] >= 1 && a[1] <= MOST_KITES && a[1] == floor(a[1]));
}

static PetscBool IsShell(const double a[])
{
  return (PetscBool)(a[0] > 0 && a[1] > a[0]);
}

static PetscInt CountStar(const double a[])
{
  return (PetscInt)a[0];
}

static PetscInt CountDisc(const double a[])
{
  return 5;
}

static PetscInt CountCylinder(const double a[])
{
  return 5 * (PetscInt)a[1];
}

static PetscInt CountBall(const double a[])
{
  return 7;
}

static PetscInt CountShell(const double a[])
{
  return 6;
}

const VpMapKind VpMapKinds[] = {
  {.name = "shear",
   .words = "the angle of the grid lines, above 0 and below 180 degrees",
   .numbers = 1,
   .allows = IsAngle,
   .point = MapShear},
  {.name = "sine", .words = "the amplitude, between -1 and 1", .numbers = 1, .allows = IsAmplitude, .point = MapSine},
  {.name = "annulus",
   .words = "the inner and the outer radius, and the angle, at most 360 degrees",
   .numbers = 3,
   .allows = IsAnnulus,
   .point = MapAnnulus},
  {.name = "kershaw", .words = "epsilon, above 0 and at most 1", .numbers = 1, .allows = IsFraction, .point = MapKershaw},
  {.name = "torus",
   .words = "the angle, at most 360 degrees (90)",
   .numbers = 1,
   .optional = 1,
   .dim = 3,
   .preset = {90},
   .allows = IsTurn,
   .point = MapTorus},
  {.name = "bump",
   .words = "the number of walls towards which cells are thin, 1 or 2 (2)",
   .numbers = 1,
   .optional = 1,
   .preset = {2},
   .allows = IsWalls,
   .point = MapBump},
  {.name = "star",
   .words = "the number of kites, 3 to 1000 (5)",
   .numbers = 1,
   .optional = 1,
   .dim = 2,
   .preset = {5},
   .trees = CountStar,
   .allows = IsStar,
   .point = VpMapStar},
  {.name = "disc",
   .words = "half the diagonal of the inner square, between 0 and 1 (0.4)",
   .numbers = 1,
   .optional = 1,
   .dim = 2,
   .preset = {0.4},
   .trees = CountDisc,
   .allows = IsDisc,
   .point = VpMapDisc},
  {.name = "cylinder",
   .words = "half the diagonal of the inner square, between 0 and 1 (0.4), and the number of trees along z, 1 to 1000 (2)",
   .numbers = 2,
   .optional = 2,
   .dim = 3,
   .preset = {0.4, 2},
   .trees = CountCylinder,
   .allows = IsCylinder,
   .point = VpMapCylinder},
  {.name = "ball",
   .words = "half the diagonal of the inner cube, between 0 and 1 (0.5)",
   .numbers = 1,
   .optional = 1,
   .dim = 3,
   .preset = {0.5},
   .trees = CountBall,
   .allows = IsDisc,
   .point = VpMapBall},
  {.name = "shell",
   .words = "the inner and the outer radius (1 and 2)",
   .numbers = 2,
   .optional = 2,
   .dim = 3,
   .preset = {1, 2},
   .trees = CountShell,
   .allows = IsShell,
   .point = VpMapShell},
  {.name = NULL}};
