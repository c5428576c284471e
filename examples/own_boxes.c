static char help[] = "A domain put together from one's own boxes, with an own right-hand side and boundary data.\n\n\
  -solution_view vtk:boxes.vtu : a file for ParaView\n\n";

#include "known.h"

/* Boxes may differ in size but must share whole faces:

  2.5       +----+
            | 2  |
    1  +----+----+
       | 0  | 1  |
    0  +----+----+
            | 3  |
   -1       +----+
       0    1    2     */
static const PetscReal lower[][2] = {{0, 0}, {1, 0}, {1, 1}, {1, -1}};
static const PetscReal upper[][2] = {{1, 1}, {2, 1}, {2, 2.5}, {2, 0}};

/* The solution is x^2 y^2. With degree 2 and more, u_h is exact, and the error is that of the solver. */
static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = -2 * (x[0] * x[0] + x[1] * x[1]);
  return 0;
}

static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = x[0] * x[0] * x[1] * x[1];
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  g[0] = 2 * x[0] * x[1] * x[1];
  g[1] = 2 * x[0] * x[0] * x[1];
  return 0;
}

int main(int argc, char **argv)
{
  const VPatchDGBoundary dirichlet[4] = {VPATCHDG_BOUNDARY_DIRICHLET};
  DM                     dm;
  KSP                    ksp;
  PC                     pc;
  Mat                    A;
  Vec                    b, x;
  PetscInt               its;
  PetscReal              l2, h1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 3, 4, &dm)); /* dimension 2, degree 3, every box refined four times */
  PetscCall(DMVPatchDGSetBoxes(dm, 4, &lower[0][0], &upper[0][0]));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(CheckEquation(dm, dirichlet));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(DMVPatchDGComputeRHS(dm, Source, Solution, NULL, NULL, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A)); /* the preconditioner finds the mesh through the matrix */
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(DMVPatchDGComputeErrors(dm, x, Solution, Gradient, NULL, &l2, &h1));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, error %.1e in L2, %.1e in H1\n", its, (double)l2, (double)h1));
  PetscCall(VecViewFromOptions(x, NULL, "-solution_view"));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
