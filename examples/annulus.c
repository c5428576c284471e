static char help[] =
  "A ring that is heated from inside and cooled outside, more on some parts than on others, whose temperature is known. Its cells are curved:\n\
they are boxes (r, angle), mapped to the plane. Prints the errors on finer and finer meshes.\n\n\
  -meshes n : number of meshes\n\n";

#include "table.h"

/* u = log(2/r) + (r^2 - 3/r^2) cos(2 angle), which is harmonic */
static PetscErrorCode Temperature(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  const PetscReal r2 = x[0] * x[0] + x[1] * x[1];

  u[0] = PetscLogReal(2 / PetscSqrtReal(r2)) + (x[0] * x[0] - x[1] * x[1]) * (1 - 3 / (r2 * r2));
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  const PetscReal r2 = x[0] * x[0] + x[1] * x[1], difference = x[0] * x[0] - x[1] * x[1], r4 = r2 * r2;

  for (PetscInt d = 0; d < 2; d++) g[d] = x[d] * (-1 / r2 + (d ? -2 : 2) * (1 - 3 / r4) + 12 * difference / (r4 * r2));
  return 0;
}

/* the heat that enters at the inner side; the normal is that of the curved side */
static PetscErrorCode Heat(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar h[], void *ctx)
{
  PetscScalar g[2];

  Gradient(dim, x, g, ctx);
  h[0] = g[0] * normal[0] + g[1] * normal[1];
  return 0;
}

/* (r, angle/(2 pi)) in the box [1,2] x [0,1] -> the plane */
static PetscErrorCode Ring(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar X[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    X[2 * i] = x[2 * i] * PetscCosReal(2 * PETSC_PI * x[2 * i + 1]);
    X[2 * i + 1] = x[2 * i] * PetscSinReal(2 * PETSC_PI * x[2 * i + 1]);
  }
  return 0;
}

static const VPatchDGBoundary boundary[] = {VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_PERIODIC,
                                            VPATCHDG_BOUNDARY_PERIODIC};

/* Makes the ring of 1 x 6 boxes, of degree 3. */
static PetscErrorCode CreateRing(PetscInt i, void *ctx, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 3, 2 + i, dm));
  PetscCall(DMVPatchDGSetBoxGrid(*dm, (PetscInt[]){1, 6}, (PetscReal[]){1, 0}, (PetscReal[]){2, 1}));
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMVPatchDGSetMap(*dm, Ring, NULL));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(CheckEquation(*dm, boundary));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const Known known = {.u = Temperature, .gradient = Gradient, .flux = Heat};

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PrintTable(CreateRing, NULL, &known));
  PetscCall(PetscFinalize());
  return 0;
}
