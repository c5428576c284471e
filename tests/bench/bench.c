static char help[] =
  "Speed and memory on the host of the fast path (refinement with the single-precision cycle) against a copy of the same bytes.\n\n\
  -bench_iterations        : also the iterations for the degrees 1 to 8, on smaller meshes\n\
  -report FILE             : the figures as JSON\n\
  -dm_vpatchdg_*, -dm_refine, -ksp_*, -pc_* change what is measured\n\n";

#include <vpatchdg.h>
#include <petsctime.h>

enum { REPEAT = 11 };

static PetscErrorCode Now(PetscLogDouble *t)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(t));
  PetscFunctionReturn(0);
}

static PetscErrorCode Memory(PetscLogDouble *bytes)
{
  PetscLogDouble mine;

  PetscFunctionBeginUser;
  PetscCall(PetscMemoryGetCurrentUsage(&mine));
  PetscCallMPI(MPI_Allreduce(&mine, bytes, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

typedef PetscErrorCode (*Action)(void *, Vec, Vec);

static PetscErrorCode Copy(void *unused, Vec x, Vec y)
{
  return VecCopy(x, y);
}

static PetscErrorCode Apply(void *A, Vec x, Vec y)
{
  return MatMult((Mat)A, x, y);
}

static PetscErrorCode Cycle(void *pc, Vec x, Vec y)
{
  return PCApply((PC)pc, x, y);
}

static PetscErrorCode Time(Action action, void *object, Vec x, Vec y, PetscReal *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBeginUser;
  PetscCall(Now(&t0));
  PetscCall(action(object, x, y));
  PetscCall(Now(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(0);
}

/* what is measured; times in seconds, memory in bytes an unknown */
typedef struct {
  PetscInt       degree, dofs, iterations;
  PetscReal      copy, apply, cycle, solve, residual, apply_over_copy;
  PetscLogDouble setup, memory;
} Figures;

/* medians of copies, products and cycles made in turn, so that all see the machine in the same state, and of copy time over product time */
static PetscErrorCode TimeParts(Mat A, PC pc, Vec b, Vec x, Vec y, Figures *f)
{
  PetscReal t[4][REPEAT];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < REPEAT; i++) {
    PetscCall(Time(Cycle, pc, b, y, &t[2][i]));
    PetscCall(Time(Copy, NULL, x, y, &t[0][i]));
    PetscCall(Time(Apply, A, x, y, &t[1][i]));
    t[3][i] = t[0][i] / t[1][i];
  }
  for (PetscInt k = 0; k < 4; k++) PetscCall(PetscSortReal(REPEAT, t[k]));
  f->copy = t[0][REPEAT / 2];
  f->apply = t[1][REPEAT / 2];
  f->cycle = t[2][REPEAT / 2];
  f->apply_over_copy = t[3][REPEAT / 2];
  PetscFunctionReturn(0);
}

/* mesh, operator, vectors and solver; b is f = 1 */
static PetscErrorCode SetUp(PetscInt degree, PetscInt refine, PetscBool options, DM *dm, Mat *A, Vec *b, Vec *x, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, degree, refine, dm));
  if (options) PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMCreateMatrix(*dm, A));
  PetscCall(DMCreateGlobalVector(*dm, b));
  PetscCall(VecDuplicate(*b, x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, *A, *A));
  PetscCall(KSPSetType(*ksp, KSPRICHARDSON));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(PCVPatchDGSetPrecision(pc, VPATCHDG_PRECISION_SINGLE)); /* what auto takes, but before the KSP solves */
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 1;
  return 0;
}

static PetscErrorCode TearDown(DM *dm, Mat *A, Vec *b, Vec *x, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(ksp));
  PetscCall(VecDestroy(b));
  PetscCall(VecDestroy(x));
  PetscCall(MatDestroy(A));
  PetscCall(DMDestroy(dm));
  PetscFunctionReturn(0);
}

static PetscErrorCode TrueResidual(Mat A, Vec b, Vec x, Vec r, PetscReal *relative)
{
  PetscReal bnorm;

  PetscFunctionBeginUser;
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecNorm(r, NORM_2, relative));
  *relative /= bnorm;
  PetscFunctionReturn(0);
}

/* iterations and nu of the fast path for every degree, on meshes of some 10^5 unknowns */
static PetscErrorCode Iterations(FILE *fp)
{
  DM        dm;
  Mat       A;
  Vec       b, x, r;
  KSP       ksp;
  PetscInt  its, n;
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%6s %10s %10s %6s %9s\n", "degree", "dofs", "iterations", "nu", "residual"));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, fp, " \"degrees\": ["));
  for (PetscInt k = 1; k <= 8; k++) {
    PetscCall(SetUp(k, k == 1 ? 5 : k <= 4 ? 4 : 3, PETSC_FALSE, &dm, &A, &b, &x, &ksp));
    PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(TrueResidual(A, b, x, r, &residual));
    PetscCall(VecDestroy(&r));
    PetscCall(VecGetSize(b, &n));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6d %10lld %10d %6.2f %9.1e\n", (int)k, (long long)n, (int)its,
                          (double)(-8 * its / PetscLog10Real(residual)), (double)residual));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, fp, "%s{\"degree\": %d, \"dofs\": %lld, \"iterations\": %d, \"relative_residual\": %.3e}",
                           k > 1 ? ", " : "", (int)k, (long long)n, (int)its, (double)residual));
    PetscCall(TearDown(&dm, &A, &b, &x, &ksp));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, fp, "],\n"));
  PetscFunctionReturn(0);
}

/* the median of three solves, and the memory of one */
static PetscErrorCode TimeSolves(KSP ksp, Vec b, Vec x, Figures *f)
{
  PetscLogDouble t0, t1, before = f->memory, after = 0;
  PetscReal      solve[3];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; i++) {
    PetscCall(Now(&t0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(Now(&t1));
    solve[i] = t1 - t0;
    if (!i) PetscCall(Memory(&after));
  }
  PetscCall(PetscSortReal(3, solve));
  PetscCall(KSPGetIterationNumber(ksp, &f->iterations));
  f->solve = solve[1];
  f->memory = (after - before) / f->dofs;
  PetscFunctionReturn(0);
}

static PetscErrorCode Measure(Figures *f)
{
  DM              dm;
  Mat             A;
  Vec             b, x, y;
  KSP             ksp;
  PC              pc;
  PetscLogDouble  t0, t1;
  VPatchDGBackend backend;

  PetscFunctionBeginUser;
  PetscCall(Memory(&f->memory));
  PetscCall(Now(&t0));
  PetscCall(SetUp(4, 5, PETSC_TRUE, &dm, &A, &b, &x, &ksp));
  PetscCall(Now(&t1));
  f->setup = t1 - t0;
  PetscCall(DMVPatchDGGetBackend(dm, &backend));
  PetscCheck(backend == VPATCHDG_BACKEND_HOST, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "bench does not wait for a GPU and so can not time it: use bench_gpu (make bench-gpu), or -dm_vec_type standard");
  PetscCall(DMVPatchDGGetDegree(dm, &f->degree));
  PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, b));
  PetscCall(VecGetSize(b, &f->dofs));
  PetscCall(TimeSolves(ksp, b, x, f));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(TrueResidual(A, b, x, y, &f->residual));
  PetscCall(TimeParts(A, pc, b, x, y, f));
  PetscCall(VecDestroy(&y));
  PetscCall(TearDown(&dm, &A, &b, &x, &ksp));
  PetscFunctionReturn(0);
}

/* a line of the table, as far as all have it */
static PetscErrorCode PrintTime(const Figures *f, const char what[], double seconds, const char end[])
{
  return PetscPrintf(PETSC_COMM_WORLD, "%-34s %9.4f %9.2f%s", what, seconds, f->dofs / seconds / 1e6, end);
}

static PetscErrorCode Print(const Figures *f, PetscMPIInt ranks)
{
  const MPI_Comm comm = PETSC_COMM_WORLD;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(comm, "degree %d, %lld unknowns, %d ranks\n\n", (int)f->degree, (long long)f->dofs, ranks));
  PetscCall(PetscPrintf(comm, "%-34s %9s %9s\n", "", "seconds", "MDoF/s"));
  PetscCall(PrintTime(f, "vector copy", (double)f->copy, "\n"));
  PetscCall(PrintTime(f, "A x", (double)f->apply, ""));
  PetscCall(PetscPrintf(comm, "   %.0f %% of the copy\n", (double)(100 * f->apply_over_copy)));
  PetscCall(PrintTime(f, "one cycle", (double)f->cycle, "\n"));
  PetscCall(PrintTime(f, "solve", (double)f->solve, ""));
  PetscCall(PetscPrintf(comm, "   %d iterations, true residual %.1e\n", (int)f->iterations, (double)f->residual));
  PetscCall(PrintTime(f, "set-up", f->setup, ""));
  PetscCall(PetscPrintf(comm, "   %.1f solves\n", f->setup / (double)f->solve));
  PetscCall(PetscPrintf(comm, "%-34s %9.1f\n", "memory, bytes per unknown", f->memory));
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(const Figures *f, PetscMPIInt ranks, PetscBool iterations, FILE *fp)
{
  const MPI_Comm comm = PETSC_COMM_WORLD;

  PetscFunctionBeginUser;
  PetscCall(PetscFPrintf(comm, fp, "{\"degree\": %d, \"dofs\": %lld, \"ranks\": %d, \"iterations\": %d, \"relative_residual\": %.3e,\n",
                         (int)f->degree, (long long)f->dofs, ranks, (int)f->iterations, (double)f->residual));
  if (iterations) PetscCall(Iterations(fp));
  PetscCall(PetscFPrintf(comm, fp, " \"seconds_copy\": %.5f, \"seconds_apply\": %.5f, \"seconds_cycle\": %.5f, \"seconds_solve\": %.5f,",
                         (double)f->copy, (double)f->apply, (double)f->cycle, (double)f->solve));
  PetscCall(PetscFPrintf(comm, fp, " \"seconds_setup\": %.5f,\n \"mdofs_per_second\": %.4f, \"apply_over_copy\": %.4f,", f->setup,
                         (double)(f->dofs / f->solve / 1e6), (double)f->apply_over_copy));
  PetscCall(PetscFPrintf(comm, fp, " \"setup_over_solve\": %.3f, \"bytes_per_dof\": %.1f}\n", f->setup / (double)f->solve, f->memory));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Figures     f = {0};
  PetscMPIInt ranks;
  PetscBool   iterations = PETSC_FALSE;
  char        file[PETSC_MAX_PATH_LEN] = "/dev/null";
  FILE       *fp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bench_iterations", &iterations, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-report", file, sizeof(file), NULL));
  PetscCall(Measure(&f));
  PetscCall(Print(&f, ranks));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, file, "w", &fp));
  PetscCall(Report(&f, ranks, iterations, fp));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, fp));
  PetscCall(PetscFinalize());
  return 0;
}
