static char help[] =
  "From marks to a solution: seconds until a mesh whose marked cells are refined is ready to be solved on, beside those of a solve.\n\
Cells of the least size that a sphere cuts are marked.\n\n\
  -bench_sphere x,y,z,r : which one (default 0.5,0.5,0.5,0.3)\n\
  -bench_times n        : how often (default 3)\n\
  -dm_*, -ksp_*, -pc_*  : the mesh before that, by default 32^3 cells of degree 4; the solver, by default refinement to 1e-8\n\n";

#include <petsctime.h>
#include <vpatchdg.h>

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 1;
  return 0;
}

static PetscErrorCode Now(MPI_Comm comm, PetscLogDouble *t)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(comm));
  PetscCall(PetscTime(t));
  PetscFunctionReturn(0);
}

/* whether a cell has a point of the sphere */
static PetscBool IsCut(PetscInt dim, const PetscReal lower[], const PetscReal upper[], const PetscReal sphere[])
{
  PetscReal nearest = 0, farthest = 0;

  for (PetscInt d = 0; d < dim; d++) {
    const PetscReal below = sphere[d] - lower[d], above = upper[d] - sphere[d];

    nearest += PetscSqr(PetscMax(0, -PetscMin(below, above)));
    farthest += PetscSqr(PetscMax(below, above));
  }
  return (PetscBool)(nearest <= PetscSqr(sphere[3]) && farthest >= PetscSqr(sphere[3]));
}

static PetscErrorCode Mark(DM dm, const PetscReal sphere[], DMAdaptFlag **mark)
{
  PetscInt  n, dim;
  PetscReal lower[3], upper[3], least = PETSC_MAX_REAL;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, mark));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    least = PetscMin(least, upper[0] - lower[0]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPIU_REAL, MPIU_MIN, PetscObjectComm((PetscObject)dm)));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    (*mark)[c] = upper[0] - lower[0] < 1.01 * least && IsCut(dim, lower, upper, sphere) ? DM_ADAPT_REFINE : DM_ADAPT_KEEP;
  }
  PetscFunctionReturn(0);
}

/* The set-up ends with the first solve, less what a later one takes. */
static PetscErrorCode Measure(DM dm, const DMAdaptFlag mark[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  PetscLogDouble t[5];
  PetscInt       n;
  KSP            ksp;
  Mat            A;
  Vec            b, x;
  PC             pc;
  DM             finer;

  PetscFunctionBeginUser;
  PetscCall(Now(comm, &t[0]));
  PetscCall(DMVPatchDGRefineCells(dm, mark, &finer));
  PetscCall(Now(comm, &t[1]));
  PetscCall(DMCreateMatrix(finer, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(DMVPatchDGComputeRHS(finer, One, NULL, NULL, NULL, b));
  PetscCall(KSPCreate(comm, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(ksp));
  for (int i = 0; i < 3; i++) {
    PetscCall(Now(comm, &t[2 + i]));
    if (i < 2) PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(VecGetSize(x, &n));
  PetscCall(PetscPrintf(comm, "%12" PetscInt_FMT " %9.3f %9.3f %9.4f %9.1f\n", n, t[1] - t[0], t[3] - t[2] - (t[4] - t[3]), t[4] - t[3],
                        (t[1] - t[0] + t[3] - t[2]) / (t[4] - t[3]) - 1));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&finer));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscReal    sphere[4] = {0.5, 0.5, 0.5, 0.3};
  PetscInt     numbers = 4, times = 3;
  DMAdaptFlag *mark;
  DM           dm;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-bench_sphere", sphere, &numbers, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_times", &times, NULL));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 4, 5, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "    unknowns    mesh s  solver s   solve s    set-up in solves\n"));
  PetscCall(Mark(dm, sphere, &mark));
  for (PetscInt i = 0; i < times; i++) PetscCall(Measure(dm, mark));
  PetscCall(PetscFree(mark));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
