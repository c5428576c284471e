/* Convergence on grids of boxes: nu = -8 / log10((|r_n|/|r_0|)^(1/n)), the number of iterations for eight digits, in double precision with
   random b. */
#pragma once
#include "backend.h"
#include "grid.h"

/* Creates the DM of a grid, set up, and a random b. periodic: bit d for direction d */
static inline PetscErrorCode NuProblem(int dim, int degree, int refine, int periodic, PetscBool notched, const char *const width[], DM *dm,
                                       Vec *b)
{
  VPatchDGBoundary boundary[6];
  PetscReal       *lower = NULL, *upper = NULL;
  PetscInt         nbox = 0;

  PetscFunctionBeginUser;
  PetscCall(GridBoxes(dim, width, notched, &nbox, &lower, &upper));
  for (int side = 0; side < 6; side++) boundary[side] = periodic >> side / 2 & 1 ? VPATCHDG_BOUNDARY_PERIODIC : VPATCHDG_BOUNDARY_DIRICHLET;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, dm));
  PetscCall(DMVPatchDGSetBoxes(*dm, nbox, lower, upper));
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMSetUp(*dm));
  PetscCall(PetscFree2(lower, upper));
  PetscCall(DMCreateGlobalVector(*dm, b));
  PetscCall(TestRandom(*b, 0));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* options: replace those of the command line; or NULL */
static inline PetscErrorCode Nu(DM dm, Vec b, const char type[], const char options[], PetscReal *nu)
{
  PetscOptions database = NULL;
  KSP          ksp;
  PC           pc;
  Vec          x;
  PetscReal    history[102];
  PetscInt     n;

  PetscFunctionBeginUser;
  if (options) PetscCall(TestOptionsPush(options, &database));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(TestPC(ksp, &pc));
  PetscCall(PCVPatchDGSetPrecision(pc, VPATCHDG_PRECISION_DOUBLE));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPGMRESSetRestart(ksp, 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetResidualHistory(ksp, history, 102, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetResidualHistory(ksp, NULL, &n));
  *nu = n < 2 ? 0 : -8 * (n - 1) / PetscLog10Real(history[n - 1] / history[0]);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  if (options) PetscCall(TestOptionsPop(&database));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The same by FGMRES, with random b. */
PETSC_UNUSED static inline PetscErrorCode NuOfRandom(DM dm, const char options[], PetscReal *nu)
{
  Vec b;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(TestRandom(b, 0));
  PetscCall(Nu(dm, b, KSPFGMRES, options, nu));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
