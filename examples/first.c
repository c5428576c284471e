static char help[] = "-div grad u = 1 in the unit cube, u = 0 on its boundary.\n\n";

#include <vpatchdg.h>

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 1;
  return 0;
}

int main(int argc, char **argv)
{
  DM  dm;
  KSP ksp;
  PC  pc;
  Mat A;
  Vec b, x;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 4, 3, &dm)); /* 3D, degree 4, 8 x 8 x 8 cells */
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A)); /* the preconditioner finds the mesh through A */
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPConvergedReasonView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(VecViewFromOptions(x, NULL, "-solution_view")); /* -solution_view vtk:u.vtu */
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
