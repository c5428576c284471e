static char help[] =
  "The temperature of an atmosphere with a known solution: heat enters from the ground, and the upper end has a temperature. The shell is a cubed\n\
sphere, six trees that are a hundred times as wide as they are high. Prints the errors on finer and finer meshes.\n\n\
  -meshes n : number of meshes\n\n";

#include "table.h"

/* u = x y z / r^7 + log r, where the first is harmonic, and f that of log r: -1/r^2 */
static PetscErrorCode Temperature(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  const PetscReal r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];

  u[0] = x[0] * x[1] * x[2] / PetscPowReal(r2, 3.5) + PetscLogReal(r2) / 2;
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  const PetscReal r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], power = PetscPowReal(r2, -3.5);

  for (PetscInt d = 0; d < 3; d++) g[d] = (x[(d + 1) % 3] * x[(d + 2) % 3] - 7 * x[0] * x[1] * x[2] * x[d] / r2) * power + x[d] / r2;
  return 0;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = -1 / (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  return 0;
}

static PetscErrorCode Heat(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar h[], void *ctx)
{
  PetscScalar g[3];

  Gradient(dim, x, g, ctx);
  h[0] = g[0] * normal[0] + g[1] * normal[1] + g[2] * normal[2];
  return 0;
}

/* The first direction of trees is the height. Other sides of trees are not on the boundary. */
static const VPatchDGBoundary boundary[6] = {VPATCHDG_BOUNDARY_NEUMANN,   VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET,
                                             VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET};

static PetscErrorCode CreateShell(PetscInt i, void *ctx, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 3, i, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, VPATCHDG_DOMAIN_SHELL));
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(CheckEquation(*dm, boundary));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const Known known = {.f = Source, .u = Temperature, .gradient = Gradient, .flux = Heat};
  PetscBool   given;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-dm_vpatchdg_domain_parameters", &given));
  if (!given) PetscCall(PetscOptionsSetValue(NULL, "-dm_vpatchdg_domain_parameters", "1,1.0157")); /* the radii */
  PetscCall(PrintTable(CreateShell, NULL, &known));
  PetscCall(PetscFinalize());
  return 0;
}
