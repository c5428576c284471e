/* The maps that -dm_vpatchdg_map names, of the unit square and of the unit cube (kernels/formulas.h), and those of the domains of trees
   that -dm_vpatchdg_domain names (treemaps.c). Their order is that of numbers in files. */
#include "internal.h"

enum { MOST_KITES = 1000 };

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
   .formula = VP_FORMULA_SHEAR},
  {.name = "sine", .words = "the amplitude, between -1 and 1", .numbers = 1, .allows = IsAmplitude, .formula = VP_FORMULA_SINE},
  {.name = "annulus",
   .words = "the inner and the outer radius, and the angle, at most 360 degrees",
   .numbers = 3,
   .allows = IsAnnulus,
   .formula = VP_FORMULA_ANNULUS},
  {.name = "kershaw", .words = "epsilon, above 0 and at most 1", .numbers = 1, .allows = IsFraction, .formula = VP_FORMULA_KERSHAW},
  {.name = "torus",
   .words = "the angle, at most 360 degrees (90)",
   .numbers = 1,
   .optional = 1,
   .dim = 3,
   .preset = {90},
   .allows = IsTurn,
   .formula = VP_FORMULA_TORUS},
  {.name = "bump",
   .words = "the number of walls towards which cells are thin, 1 or 2 (2)",
   .numbers = 1,
   .optional = 1,
   .preset = {2},
   .allows = IsWalls,
   .formula = VP_FORMULA_BUMP},
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
