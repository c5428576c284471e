static char help[] =
  "The pressure step of an incompressible flow: the same periodic problem, -div grad p = -div u / dt, in every time step.\n\n\
  -steps n                  : time steps\n\
  -ksp_guess_type fischer   : starts every solve from what the solves before it found\n\n";

#include "known.h"

/* The pressure p = exp(cos(x - t) + cos(y - t)), up to a constant, travels through the box (0, 2 pi)^2. Divergence() is the matching
   right-hand side. */
static PetscErrorCode Pressure(PetscInt dim, const PetscReal x[], PetscScalar p[], void *ctx)
{
  const PetscReal t = *(const PetscReal *)ctx;

  p[0] = PetscExpReal(PetscCosReal(x[0] - t) + PetscCosReal(x[1] - t));
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  const PetscReal t = *(const PetscReal *)ctx;
  PetscScalar     p;

  PetscCall(Pressure(dim, x, &p, ctx));
  for (PetscInt d = 0; d < dim; d++) g[d] = -PetscSinReal(x[d] - t) * p;
  return 0;
}

static PetscErrorCode Divergence(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  const PetscReal t = *(const PetscReal *)ctx;
  PetscScalar     p;

  PetscCall(Pressure(dim, x, &p, ctx));
  f[0] = 0;
  for (PetscInt d = 0; d < dim; d++) f[0] += (PetscCosReal(x[d] - t) - PetscSqr(PetscSinReal(x[d] - t))) * p;
  return 0;
}

int main(int argc, char **argv)
{
  const VPatchDGBoundary periodic[] = {VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC,
                                       VPATCHDG_BOUNDARY_PERIODIC};
  const PetscInt         boxes[] = {2, 2};
  const PetscReal        corner[] = {0, 0}, opposite[] = {2 * PETSC_PI, 2 * PETSC_PI}, dt = 0.05;
  PetscReal              t, error;
  PetscInt               steps = 20, its, total = 0;
  DM                     dm;
  Mat                    A;
  KSP                    ksp;
  PC                     pc;
  Vec                    b, p;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 4, 3, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, boxes, corner, opposite));
  PetscCall(DMVPatchDGSetBoundary(dm, periodic));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(CheckEquation(dm, periodic));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A)); /* with the constants as its null space */
  PetscCall(MatCreateVecs(A, &p, &b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt step = 0; step < steps; step++) {
    t = step * dt;
    PetscCall(DMVPatchDGComputeRHS(dm, Divergence, NULL, NULL, &t, b));
    PetscCall(KSPSolve(ksp, b, p));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    total += its;
  }
  PetscCall(DMVPatchDGComputeErrors(dm, p, NULL, Gradient, &t, NULL, &error));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%d steps, %d iterations, error of the last gradient %.1e\n", (int)steps, (int)total, (double)error));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
