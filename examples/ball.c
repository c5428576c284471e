static char help[] =
  "A heat source in a ball whose surface has a known temperature. The ball consists of a cube and six trees around it. Prints the errors on finer\n\
and finer meshes.\n\n\
  -meshes n : number of meshes\n\n";

#include "table.h"

#define SHARP 9. /* The source is exp(-SHARP r^2). */

/* u = erf(sqrt(SHARP) r) / r times a constant */
static PetscErrorCode Temperature(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  const PetscReal r = PetscSqrtReal(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), root = PetscSqrtReal(SHARP);

  u[0] = r > 0 ? PetscSqrtReal(PETSC_PI) / (4 * SHARP * root) * erf(root * r) / r : 1 / (2 * SHARP);
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  const PetscReal r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], r = PetscSqrtReal(r2), root = PetscSqrtReal(SHARP);
  const PetscReal slope =
    r > 0 ? PetscExpReal(-SHARP * r2) / (2 * SHARP * r2) - PetscSqrtReal(PETSC_PI) * erf(root * r) / (4 * SHARP * root * r2 * r) : 0;

  for (PetscInt d = 0; d < 3; d++) g[d] = slope * x[d];
  return 0;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = PetscExpReal(-SHARP * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
  return 0;
}

static const VPatchDGBoundary boundary[6] = {VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET,
                                             VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET};

static PetscErrorCode CreateBall(PetscInt i, void *ctx, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 3, i, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, VPATCHDG_DOMAIN_BALL));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(CheckEquation(*dm, boundary));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const Known known = {.f = Source, .u = Temperature, .gradient = Gradient};

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PrintTable(CreateBall, NULL, &known));
  PetscCall(PetscFinalize());
  return 0;
}
