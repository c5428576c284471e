static char help[] = "The patch smoother inside PETSc's own multigrid, PCMG, against the built-in cycle. Both give the same numbers.\n\n";

#include <vpatchdg.h>

/* V(0,1): no smoothing on the way down, one sweep on the way up. The coarsest level is one patch, which the cycle solves exactly. */
static const char *const options[][2] = {
  {"-pc_type", "mg"},
  {"-pc_mg_distinct_smoothup", NULL},
  {"-mg_levels_ksp_type", "richardson"},
  {"-mg_levels_ksp_max_it", "0"},
  {"-mg_levels_pc_type", "vpatch"},
  {"-mg_levels_up_ksp_type", "richardson"},
  {"-mg_levels_up_ksp_max_it", "1"},
  {"-mg_levels_up_pc_type", "vpatch"},
  {"-mg_levels_pc_vpatch_precision", "double"},
  {"-mg_levels_up_pc_vpatch_precision", "double"},
  {"-mg_coarse_ksp_type", "preonly"},
  {"-mg_coarse_pc_type", "vpatchdg"},
  {"-mg_coarse_pc_vpatchdg_precision", "double"},
  {"-native_pc_vpatchdg_precision", "double"},
};

/* Solves the DM's own problem, f = 1. norms: [*n] residual norms */
static PetscErrorCode Solve(DM dm, const char prefix[], PCType type, PetscInt levels, PetscInt *n, PetscReal norms[], PetscInt max)
{
  KSP              ksp;
  PC               pc;
  const PetscReal *history;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)dm), &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  if (levels) PetscCall(PCMGSetLevels(pc, levels, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetResidualHistory(ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetResidualHistory(ksp, &history, n));
  *n = PetscMin(*n, max);
  for (PetscInt i = 0; i < *n; i++) norms[i] = history[i];
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM        dm;
  PetscInt  refine, n[2];
  PetscReal norms[2][100];

  PetscFunctionBeginUser;
  for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) PetscCall(PetscOptionsSetValue(NULL, options[i][0], options[i][1]));
  PetscCall(PetscInitialize(&argc, &argv, NULL, help)); /* The command line overrides the options set above. */
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 3, 3, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMGetRefineLevel(dm, &refine));

  PetscCall(Solve(dm, NULL, PCMG, refine, &n[0], norms[0], 100)); /* On PCMG's coarsest level every box is refined once. */
  PetscCall(Solve(dm, "native_", PCVPATCHDG, 0, &n[1], norms[1], 100));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%9s %13s %13s\n", "iteration", "PCMG", "PCVPATCHDG"));
  for (PetscInt i = 0; i < PetscMin(n[0], n[1]); i++) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%9" PetscInt_FMT " %13.6e %13.6e\n", i, (double)norms[0][i], (double)norms[1][i]));
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
