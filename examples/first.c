static char help[] = "-div grad u = f in the unit cube, u = 0 on its boundary, where the solution is known.\n\n";

#include <vpatchdg.h>

static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = 1;
  for (PetscInt d = 0; d < dim; d++) u[0] *= PetscSinReal(PETSC_PI * x[d]);
  return 0;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  PetscCall(Solution(dim, x, f, ctx));
  f[0] *= dim * PETSC_PI * PETSC_PI;
  return 0;
}

int main(int argc, char **argv)
{
  DM        dm;
  KSP       ksp;
  PC        pc;
  Mat       A;
  Vec       b, x, r;
  PetscInt  n, its;
  PetscReal error, norm, rnorm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 4, 3, &dm)); /* 3D, degree 4, 8 x 8 x 8 cells */
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(DMVPatchDGComputeRHS(dm, Source, NULL, NULL, NULL, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A)); /* the preconditioner finds the mesh through A */
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecGetSize(x, &n));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(DMVPatchDGComputeErrors(dm, x, Solution, NULL, NULL, &error, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns, %" PetscInt_FMT " iterations, ", n, its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "relative residual %.1e, error %.1e\n", (double)(rnorm / norm), (double)error));

  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
