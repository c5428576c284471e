/* -div grad u = f in the unit cube, where u = cos(pi x) cos(pi y) cos(pi z) is known. Degree 4, 512 cells, 64000 unknowns:

     mpicc first.c $(pkg-config --cflags --libs vpatchdg) -o first && ./first */
#include <vpatchdg.h>

static PetscErrorCode Exact(PetscInt dim, const PetscReal x[], PetscScalar *u, void *ctx)
{
  *u = cos(PETSC_PI * x[0]) * cos(PETSC_PI * x[1]) * cos(PETSC_PI * x[2]);
  return 0;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar *f, void *ctx)
{
  PetscCall(Exact(dim, x, f, ctx));
  *f *= 3 * PETSC_PI * PETSC_PI;
  return 0;
}

int main(int argc, char **argv)
{
  DM        dm;
  Mat       A;
  Vec       b, x;
  KSP       ksp;
  PC        pc;
  PetscInt  iterations;
  PetscReal error;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 4, 3, &dm)); /* 3D, degree 4, the unit cube refined three times */
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(DMVPatchDGComputeRHS(dm, Source, Exact, NULL, NULL, b)); /* with u on the boundary */

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A)); /* the preconditioner finds the mesh through A */
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(DMVPatchDGComputeErrors(dm, x, Exact, NULL, NULL, &error, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d iterations, L2 error %.2e\n", (int)iterations, (double)error));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
