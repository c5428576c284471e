static char help[] = "Heat in a square or cube with inclusions that conduct it better, or worse, than what is around them.\n\n\
  -inclusions n : n along every direction (4)\n\
  -jump a       : they conduct a times as well (1000)\n\
  -round        : they are round, which no coarse cell follows, instead of square\n\
  -solution_view vtk:inclusions.vtu : a picture for ParaView, of the temperature and of the coefficient\n\
  -dm_vpatchdg_dim, -dm_vpatchdg_degree, -dm_refine : the mesh\n\n";

#include <vpatchdg.h>

/* Tests whether x is in an inclusion. Inclusions are in the middle of n^dim equal parts and half as wide. */
static PetscBool IsInside(PetscInt n, PetscBool round, PetscInt dim, const PetscReal x[])
{
  PetscReal distance2 = 0;
  PetscBool inside = PETSC_TRUE;

  for (PetscInt d = 0; d < dim; d++) {
    const PetscReal aside = n * x[d] - PetscFloorReal(n * x[d]) - 0.5;

    distance2 += PetscSqr(aside);
    inside = (PetscBool)(inside && PetscAbsReal(aside) < 0.25);
  }
  return round ? (PetscBool)(distance2 < PetscSqr(0.28)) : inside;
}

/* Sets the coefficient of each cell from its centre. */
static PetscErrorCode SetInclusions(DM dm, PetscInt n, PetscBool round, PetscReal jump)
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
    a[c] = IsInside(n, round, dim, lower) ? jump : 1;
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(0);
}

/* Sets boxes whose faces are those of the inclusions: 1/4, 1/2 and 1/4 of a part in each direction. */
static PetscErrorCode SetBoxes(DM dm, PetscInt n)
{
  PetscInt   dim;
  PetscReal *face;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscMalloc1(2 * n + 2, &face));
  face[0] = 0;
  face[2 * n + 1] = 1;
  for (PetscInt i = 0; i < 2 * n; i++) face[i + 1] = (i / 2 + (i % 2 ? 0.75 : 0.25)) / n;
  for (PetscInt d = 0; d < dim; d++) PetscCall(DMVPatchDGSetGrid(dm, d, 2 * n + 1, face));
  PetscCall(PetscFree(face));
  PetscFunctionReturn(0);
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 1;
  return 0;
}

int main(int argc, char **argv)
{
  DM          dm;
  KSP         ksp;
  PC          pc;
  Mat         A;
  Vec         b, x;
  PetscInt    n = 4, its;
  PetscBool   round = PETSC_FALSE;
  PetscReal   jump = 1000;
  PetscScalar mean;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-inclusions", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-jump", &jump, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-round", &round, NULL));
  PetscCheck(n >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-inclusions %" PetscInt_FMT ": 1 or more", n);
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 3, 3, &dm)); /* dimension 2, degree 3, boxes of 8 x 8 cells */
  PetscCall(DMSetFromOptions(dm));
  PetscCall(SetBoxes(dm, n));
  PetscCall(DMSetUp(dm));
  PetscCall(SetInclusions(dm, n, round, jump));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPFGMRES));   /* It takes the fewest iterations if the coefficient is rough, */
  PetscCall(KSPGMRESSetRestart(ksp, 100)); /* unless it restarts early. */
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecDot(b, x, &mean)); /* the integral of u times the source, which is 1 */
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, mean temperature %.5e\n", its, (double)PetscRealPart(mean)));
  PetscCall(VecViewFromOptions(x, NULL, "-solution_view"));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
