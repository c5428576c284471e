static char help[] =
  "Iterations where the coefficient varies: it jumps on a face of the coarsest cells, on a plane and on a sphere that only the finest cells\n\
follow, it is a smooth function, or it differs from cell to cell. The domain is the unit square or cube.\n\
Any mesh: -dm_vpatchdg_dim, -dm_vpatchdg_degree, -dm_refine.\n\n";

#include <vpatchdg.h>

static const char *const shapes[] = {"x < 1/2", "x < 1/3", "ball", "smooth", "noise"};
static const PetscReal   jumps[] = {1, 1e1, 1e3, 1e6};
static const char *const solvers[] = {"fgmres", "cg", "richardson"};

/* log a / log jump at a cell's centre, between 0 and 1 */
static PetscReal Exponent(PetscInt shape, PetscInt dim, const PetscReal x[])
{
  PetscReal r2 = 0, wave = 1, mixed = 0;

  for (PetscInt d = 0; d < dim; d++) {
    r2 += PetscSqr(x[d] - 0.5);
    wave *= PetscSinReal(2 * PETSC_PI * x[d]);
    mixed = PetscSinReal(mixed + 1000 * x[d]) * 10000;
  }
  switch (shape) {
  case 0:
    return x[0] < 0.5;
  case 1:
    return x[0] < 1. / 3;
  case 2:
    return r2 < PetscSqr(0.3);
  case 3:
    return (1 + wave) / 2;
  default:
    return mixed - PetscFloorReal(mixed);
  }
}

static PetscErrorCode SetJump(DM dm, PetscInt shape, PetscReal jump)
{
  PetscInt   ncell, dim;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &ncell));
  PetscCall(PetscMalloc1(ncell, &a));
  for (PetscInt c = 0; c < ncell; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    for (PetscInt d = 0; d < dim; d++) lower[d] = (lower[d] + upper[d]) / 2;
    a[c] = PetscPowReal(jump, Exponent(shape, dim, lower));
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(0);
}

/* Solves with f = 1 to a residual of 1e-8. Prints the number of iterations, or - after too many iterations or an error. */
static PetscErrorCode Solve(DM dm, const char solver[])
{
  KSP                ksp;
  PC                 pc;
  PetscBool          cg;
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(solver, "cg", &cg));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)dm), &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetType(ksp, solver));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  if (cg) {
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(PCVPatchDGSetSymmetric(pc, PETSC_TRUE));
  }
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  if (reason > 0) PetscCall(PetscPrintf(PetscObjectComm((PetscObject)dm), " %11" PetscInt_FMT, its));
  else PetscCall(PetscPrintf(PetscObjectComm((PetscObject)dm), " %11s", "-"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-vpatchdg_warnings", "0")); /* The table reports failed solves. */
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 3, 4, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-9s %9s %11s %11s %11s\n", "a", "varies by", solvers[0], solvers[1], solvers[2]));
  for (PetscInt shape = 0; shape < 5; shape++)
    for (PetscInt j = shape > 0; j < 4; j++) {
      PetscCall(SetJump(dm, shape, jumps[j]));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-9s %9.0e", shapes[shape], (double)jumps[j]));
      for (PetscInt s = 0; s < 3; s++) PetscCall(Solve(dm, solvers[s]));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
