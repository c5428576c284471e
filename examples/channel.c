static char help[] =
  "The pressure in a channel whose cells are thin at its walls: periodic along x and z, Neumann in y, another right-hand side in every time\n\
step. A guess from the steps before (KSPGuess) saves iterations.\n\n\
  -steps n    : time steps\n\
  -dt t       : their length\n\
  -guess 0    : every solve starts from 0\n\
  -strength s : how much thinner cells are at the walls; -dm_vpatchdg_grid_y and its like give another grid\n\n";

#include "known.h"

/* p = exp(cos(x - t)) cos(2 z) cosh(s y) / cosh(s), in layers at the walls y = -1 and 1 */
static const PetscReal s = 8;

static PetscErrorCode Pressure(PetscInt dim, const PetscReal x[], PetscScalar p[], void *ctx)
{
  const PetscReal t = *(const PetscReal *)ctx;

  p[0] = PetscExpReal(PetscCosReal(x[0] - t)) * PetscCosReal(2 * x[2]) * PetscCoshReal(s * x[1]) / PetscCoshReal(s);
  return 0;
}

/* derivative of p along the outward normal */
static PetscErrorCode AtWalls(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar h[], void *ctx)
{
  Pressure(dim, x, h, ctx);
  h[0] *= normal[1] * s * PetscTanhReal(s * x[1]);
  return 0;
}

/* -div grad p */
static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  const PetscReal phase = x[0] - *(const PetscReal *)ctx;

  Pressure(dim, x, f, ctx);
  f[0] *= PetscCosReal(phase) - PetscSqr(PetscSinReal(phase)) + 4 - s * s;
  return 0;
}

static const VPatchDGBoundary boundary[] = {VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_NEUMANN,
                                            VPATCHDG_BOUNDARY_NEUMANN,  VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC};

/* Sets 4 x 8 x 2 boxes that are thin at the walls. */
static PetscErrorCode SetChannel(DM dm)
{
  PetscReal y[9], strength = 2;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-strength", &strength, NULL));
  for (int i = 0; i <= 8; i++) y[i] = PetscTanhReal(strength * (i - 4) / 4) / PetscTanhReal(strength);
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){4, 8, 2}, (PetscReal[]){0, -1, 0}, (PetscReal[]){2 * PETSC_PI, 1, PETSC_PI}));
  PetscCall(DMVPatchDGSetGrid(dm, 1, 8, y));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Mat A, KSP *ksp)
{
  PetscBool guesses = PETSC_TRUE;
  KSPGuess  guess;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-guess", &guesses, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(*ksp));
  if (guesses) {
    PetscCall(KSPGetGuess(*ksp, &guess));
    PetscCall(KSPGuessSetType(guess, KSPGUESSFISCHER));
    PetscCall(KSPGuessSetFromOptions(guess));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscReal t, error, dt = 0.05;
  PetscInt  steps = 10, its, total = 0;
  DM        dm;
  Mat       A;
  KSP       ksp;
  Vec       b, p;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dt", &dt, NULL));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 4, 1, &dm));
  PetscCall(SetChannel(dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(CheckEquation(dm, boundary));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A)); /* with the constants as its null space */
  PetscCall(MatCreateVecs(A, &p, &b));
  PetscCall(CreateSolver(A, &ksp));
  for (PetscInt step = 0; step < steps; step++) {
    t = (PetscReal)step * dt;
    PetscCall(DMVPatchDGComputeRHS(dm, Source, NULL, AtWalls, &t, b));
    PetscCall(KSPSolve(ksp, b, p));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(DMVPatchDGComputeErrors(dm, p, Pressure, NULL, &t, &error, NULL));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "t = %.2f: %d iterations, error %.1e\n", (double)t, (int)its, (double)error));
    total += its;
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d iterations in %d steps\n", (int)total, (int)steps));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
