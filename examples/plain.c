static char help[] = "A program that knows nothing of vpatchdg, and runs it all the same:\n\n\
  plain -dll_append build/lib/libvpatchdg.so -dm_vpatchdg_degree 4 -dm_refine 3 -ksp_type fgmres -pc_type vpatchdg -ksp_view\n\n\
or, with everything in a file:\n\n\
  plain -dll_append build/lib/libvpatchdg.so -options_file share/vpatchdg/options/fgmres.opts\n\n";

#include <petscdm.h>
#include <petscksp.h>

int main(int argc, char **argv)
{
  DM                 dm;
  KSP                ksp;
  Mat                A;
  Vec                b, x, r;
  PetscInt           n, its;
  PetscReal          bnorm, rnorm;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, "vpatchdg")); /* The library has registered this name with PETSc. */
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));

  /* The DM provides the operator and the right-hand side. */
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));

  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecGetSize(x, &n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns, %" PetscInt_FMT " iterations, %s, true relative residual %.1e\n", n,
                        its, KSPConvergedReasons[reason], (double)(bnorm > 0 ? rnorm / bnorm : rnorm)));
  PetscCall(VecViewFromOptions(x, NULL, "-solution_view"));

  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return reason < 0;
}
