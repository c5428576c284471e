static char help[] = "Solves -div (a grad u) + c u = f by any solver, on any domain, and says how well it went.\n\n\
  -problem constant|smooth : f = 1 with zero Dirichlet data, or f, boundary data and errors from a known solution\n\
  -coefficient one|waves|exp|rotating : a, or a full matrix, at points: -div (a grad u)\n\
  -solves n                : solves n times and times the last, without what only a first solve does (default 1)\n\
  -report FILE             : the figures of the table as JSON, null where there is none\n\
Mesh and equation: -dm_vpatchdg_*, -dm_refine; solver: -ksp_*, -pc_*. share/vpatchdg/options has files for -options_file.\n\n";

#include "coefficients.h"
#include "report.h"
#include <petscdevice.h>
#include <petsctime.h>
#include <time.h>

#if PETSC_VERSION_LT(3, 25, 0)
  #define KSPOwnOperators(ksp) KSPSetDMActive(ksp, PETSC_FALSE)
#else
  #define KSPOwnOperators(ksp) KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE)
#endif

/* u(x) = product over d of sin(w_d x_d + d + 1), where one period of w_d fills the domain, so that u fits every kind of boundary */
typedef struct {
  PetscReal w[3], reaction, alpha[6]; /* alpha: of Robin sides, 0 on others */
  Material  material;
} Smooth;

/* Factors of u and of its derivatives at a point. In each direction the points of a cell have few coordinates, which repeat in the same
   order. The factors of the last KEPT coordinates are kept. */
enum { KEPT = 16 };
typedef struct {
  PetscReal sine[3], cosine[3]; /* at the present point; 1 in the third direction in 2D */
  int       at[3];              /* indices of the present factors in kept_* */
  PetscReal x[3][KEPT], kept_sine[3][KEPT], kept_cosine[3][KEPT];
} Factors;

static void Begin(Factors *f)
{
  for (int d = 0; d < 3; d++) {
    f->sine[d] = f->cosine[d] = 1;
    f->at[d] = 0;
    for (int i = 0; i < KEPT; i++) f->x[d][i] = NAN;
  }
}

static inline void MoveTo(const Smooth *s, PetscInt dim, const PetscReal x[], Factors *f)
{
  for (PetscInt d = 0; d < dim; d++) {
    int i = f->at[d];

    if (x[d] == f->x[d][i]) continue;
    i = x[d] == f->x[d][0] ? 0 : (i + 1) % KEPT;
    if (x[d] != f->x[d][i]) {
      f->x[d][i] = x[d];
      f->kept_sine[d][i] = PetscSinReal(s->w[d] * x[d] + d + 1);
      f->kept_cosine[d][i] = PetscCosReal(s->w[d] * x[d] + d + 1);
    }
    f->at[d] = i;
    f->sine[d] = f->kept_sine[d][i];
    f->cosine[d] = f->kept_cosine[d][i];
  }
}

static PetscErrorCode Solution(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar u[], void *ctx)
{
  Factors f;

  Begin(&f);
  for (PetscInt i = 0; i < n; i++) {
    MoveTo((const Smooth *)ctx, dim, x + i * dim, &f);
    u[i] = f.sine[0] * f.sine[1] * f.sine[2];
  }
  return 0;
}

static void GradientAt(const Smooth *s, PetscInt dim, const Factors *f, PetscScalar g[])
{
  g[0] = s->w[0] * f->cosine[0] * f->sine[1] * f->sine[2];
  g[1] = s->w[1] * f->sine[0] * f->cosine[1] * f->sine[2];
  if (dim == 3) g[2] = s->w[2] * f->sine[0] * f->sine[1] * f->cosine[2];
}

static PetscErrorCode Gradient(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar g[], void *ctx)
{
  Factors f;

  Begin(&f);
  for (PetscInt i = 0; i < n; i++) {
    MoveTo((const Smooth *)ctx, dim, x + i * dim, &f);
    GradientAt((const Smooth *)ctx, dim, &f, g + i * dim);
  }
  return 0;
}

/* n.K grad u / n.K n, where K = I that is the derivative along the normal */
static PetscScalar DerivativeAlong(Material m, PetscInt dim, const PetscReal x[], const PetscReal normal[], const PetscScalar g[])
{
  PetscReal   K[3][3], divergence[3], weight = 0;
  PetscScalar flux = 0;

  MaterialAt(m, dim, x, K, divergence);
  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt e = 0; e < dim; e++) {
      flux += normal[d] * K[d][e] * g[e];
      weight += normal[d] * K[d][e] * normal[e];
    }
  }
  return flux / weight;
}

/* the derivative + alpha u; the points of a batch are on sides with the same normal, by which alpha is found */
static PetscErrorCode Flux(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar q[], void *ctx)
{
  const Smooth *s = (const Smooth *)ctx;
  PetscReal     alpha = 0;
  Factors       f;

  for (PetscInt d = 0; d < dim; d++) {
    if (normal[d] != 0) alpha = s->alpha[2 * d + (normal[d] > 0)];
  }

  Begin(&f);
  for (PetscInt i = 0; i < n; i++) {
    PetscScalar g[3];

    MoveTo(s, dim, x + i * dim, &f);
    GradientAt(s, dim, &f, g);
    q[i] = alpha * f.sine[0] * f.sine[1] * f.sine[2];
    q[i] += DerivativeAlong(s->material, dim, x + i * dim, normal, g);
  }
  return 0;
}

/* -div (K grad u), K not I */
static PetscScalar MaterialSource(const Smooth *s, PetscInt dim, const PetscReal x[], const Factors *f)
{
  const PetscReal u = f->sine[0] * f->sine[1] * f->sine[2];
  PetscReal       K[3][3], divergence[3];
  PetscScalar     g[3], sum = 0;

  MaterialAt(s->material, dim, x, K, divergence);
  GradientAt(s, dim, f, g);
  for (PetscInt d = 0; d < dim; d++) {
    sum += PetscSqr(s->w[d]) * K[d][d] * u - divergence[d] * g[d];
    for (PetscInt e = 0; e < d; e++)
      sum -= 2 * K[d][e] * s->w[d] * s->w[e] * f->cosine[d] * f->cosine[e] * (dim == 3 ? f->sine[3 - d - e] : 1);
  }
  return sum;
}

static PetscErrorCode Source(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar f[], void *ctx)
{
  const Smooth *s = (const Smooth *)ctx;
  PetscReal     k = s->reaction;
  Factors       at;

  for (PetscInt d = 0; d < dim && s->material == ONE; d++) k += PetscSqr(s->w[d]);
  PetscCall(Solution(dim, n, x, normal, f, ctx));
  for (PetscInt i = 0; i < n; i++) f[i] *= k;
  if (s->material == ONE) return 0;
  Begin(&at);
  for (PetscInt i = 0; i < n; i++) {
    MoveTo(s, dim, x + i * dim, &at);
    f[i] += MaterialSource(s, dim, x + i * dim, &at);
  }
  return 0;
}

static PetscErrorCode One(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar f[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) f[i] = 1;
  return 0;
}

static PetscErrorCode SmoothCreate(DM dm, Smooth *s)
{
  PetscInt         nbox, dim;
  const PetscReal *lower, *upper;
  VPatchDGBoundary boundary[6];

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetBoxes(dm, &nbox, &lower, &upper));
  PetscCall(DMVPatchDGGetReaction(dm, &s->reaction));
  PetscCall(DMVPatchDGGetBoundary(dm, boundary));
  PetscCall(DMVPatchDGGetRobin(dm, s->alpha));
  for (PetscInt side = 0; side < 2 * dim; side++) {
    if (boundary[side] != VPATCHDG_BOUNDARY_ROBIN) s->alpha[side] = 0;
  }
  for (PetscInt d = 0; d < dim; d++) {
    PetscReal a = lower[d], b = upper[d];
    for (PetscInt i = 1; i < nbox; i++) {
      a = PetscMin(a, lower[i * dim + d]);
      b = PetscMax(b, upper[i * dim + d]);
    }
    s->w[d] = 2 * PETSC_PI / (b - a);
  }
  PetscFunctionReturn(0);
}

/* If u is determined up to a constant, takes the constant of the known solution. r, w: work vectors */
static PetscErrorCode FixConstant(DM dm, Mat A, Smooth *s, Vec x, Vec r, Vec w)
{
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(MatGetNullSpace(A, &constants));
  if (!constants) PetscFunctionReturn(0);
  PetscCall(DMVPatchDGInterpolateBatch(dm, Solution, PETSC_MEMTYPE_HOST, s, w));
  PetscCall(VecAXPY(w, -1, x));
  PetscCall(VecCopy(w, r));
  PetscCall(MatNullSpaceRemove(constants, r));
  PetscCall(VecAXPY(w, -1, r));
  PetscCall(VecAXPY(x, 1, w));
  PetscFunctionReturn(0);
}

/* Stop watch: sign -1 starts it and +1 stops it, after the GPU has finished its work. cpu: CPU seconds of all ranks */
static PetscErrorCode Seconds(MPI_Comm comm, int sign, PetscLogDouble *seconds, PetscLogDouble *cpu)
{
  PetscLogDouble     now, all, own;
  PetscDeviceContext work;

  PetscFunctionBeginUser;
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) {
    PetscCall(PetscDeviceContextGetCurrentContext(&work));
    PetscCall(PetscDeviceContextSynchronize(work));
  }
  own = (PetscLogDouble)clock() / CLOCKS_PER_SEC;
  PetscCallMPI(MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(PetscTime(&now));
  *seconds += sign * now;
  *cpu += sign * all;
  PetscFunctionReturn(0);
}

static PetscErrorCode Bytes(MPI_Comm comm, int sign, PetscLogDouble *bytes)
{
  PetscLogDouble mine, all;

  PetscFunctionBeginUser;
  PetscCall(PetscMemoryGetCurrentUsage(&mine));
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm));
  *bytes += sign * all;
  PetscFunctionReturn(0);
}

/* Computes the true residual, nu (the number of iterations for eight digits at the average rate), (f, u_h), and the errors if u is
   known. */
static PetscErrorCode Examine(DM dm, KSP ksp, Mat A, Vec b, Vec x, Smooth *u, PetscBool smooth, Figures *figures)
{
  Vec              r, w;
  PetscInt         its, n;
  PetscReal        first, last;
  const PetscReal *history;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_2, &figures->bnorm));
  PetscCall(VecNorm(r, NORM_2, &figures->residual));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetResidualHistory(ksp, &history, &n));
  first = n > 1 ? history[0] : figures->bnorm;
  last = n > 1 ? history[n - 1] : figures->residual;
  figures->nu = its > 0 && last > 0 && last < first ? -8 * its / PetscLog10Real(last / first) : 0;
  if (figures->bnorm > 0) figures->residual /= figures->bnorm; /* If b = 0, the residual is absolute. */

  PetscCall(DMVPatchDGComputeRHSBatch(dm, smooth ? Source : One, NULL, NULL, PETSC_MEMTYPE_HOST, u, r));
  PetscCall(VecDot(r, x, &figures->functional));
  if (smooth) {
    PetscCall(VecDuplicate(b, &w));
    PetscCall(FixConstant(dm, A, u, x, r, w));
    PetscCall(DMVPatchDGComputeErrorsBatch(dm, x, Solution, Gradient, PETSC_MEMTYPE_HOST, u, &figures->l2, &figures->h1));
    PetscCall(VecDestroy(&w));
  }
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

/* Creates a solver: flexible GMRES with the multigrid cycle, unless options choose another one. */
static PetscErrorCode CreateSolver(DM dm, Mat A, KSP *ksp)
{
  PC        pc;
  PetscBool typed;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)dm), ksp));
  PetscCall(KSPSetDM(*ksp, dm)); /* PCMG makes its levels from the DM; the operator is ours. */
  PetscCall(KSPOwnOperators(*ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-ksp_type", &typed));
  if (!typed) PetscCall(PetscOptionsSetValue(NULL, "-ksp_type", KSPFGMRES)); /* The preconditioner reads this option in its set-up. */
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetResidualHistory(*ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(0);
}

/* b is orthogonal to the null space of A, if A has one. */
static PetscErrorCode ComputeRHS(DM dm, Mat A, Smooth *u, PetscBool smooth, Vec b)
{
  MatNullSpace constants;

  PetscFunctionBeginUser;
  if (smooth) PetscCall(SmoothCreate(dm, u));
  PetscCall(DMVPatchDGComputeRHSBatch(dm, smooth ? Source : One, smooth ? Solution : NULL, smooth ? Flux : NULL, PETSC_MEMTYPE_HOST, u, b));
  PetscCall(MatGetNullSpace(A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, b));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  MPI_Comm           comm;
  DM                 dm;
  KSP                ksp;
  Mat                A;
  Vec                b, x;
  Smooth             u = {.reaction = 0};
  Figures            figures = {0};
  const char *const  problems[] = {"constant", "smooth"};
  PetscInt           smooth = 0, solves = 1, material = ONE;
  char               file[PETSC_MAX_PATH_LEN] = "";
  KSPConvergedReason reason;
  FILE              *fp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  comm = PETSC_COMM_WORLD;
  PetscOptionsBegin(comm, NULL, "Poisson's equation", NULL);
  PetscCall(PetscOptionsEList("-problem", "right-hand side and boundary data", NULL, problems, 2, problems[0], &smooth, NULL));
  PetscCall(PetscOptionsEList("-coefficient", "coefficient at points", NULL, materials, 4, materials[0], &material, NULL));
  PetscCall(PetscOptionsInt("-solves", "how often; the last one is timed", NULL, solves, &solves, NULL));
  PetscCall(PetscOptionsString("-report", "file for the figures as JSON", NULL, file, file, sizeof(file), NULL));
  PetscOptionsEnd();
  PetscCheck(solves > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-solves: at least one, not %d", (int)solves);
  PetscCall(OpenReport(comm, file, &fp));

  /* Defaults: 3D, degree 3, the unit cube refined three times. */
  PetscCall(Bytes(comm, -1, &figures.bytes));
  PetscCall(Seconds(comm, -1, &figures.setup, &figures.cpu_setup));
  PetscCall(DMVPatchDGCreate(comm, 3, 3, 3, &dm));
  PetscCall(DMSetFromOptions(dm));
  u.material = (Material)material;
  PetscCall(SetMaterial(dm, &u.material));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(CreateSolver(dm, A, &ksp));
  PetscCall(Seconds(comm, 1, &figures.setup, &figures.cpu_setup));
  PetscCall(ComputeRHS(dm, A, &u, (PetscBool)smooth, b));

  for (PetscInt i = 1; i < solves; i++) {
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(VecZeroEntries(x));
  }
  PetscCall(Seconds(comm, -1, &figures.solve, &figures.cpu_solve));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Seconds(comm, 1, &figures.solve, &figures.cpu_solve));
  PetscCall(Bytes(comm, 1, &figures.bytes));
  PetscCall(Examine(dm, ksp, A, b, x, &u, (PetscBool)smooth, &figures));
  PetscCall(Report(dm, ksp, (PetscBool)smooth, &figures, file, fp));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecViewFromOptions(x, NULL, "-solution_view"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return reason < 0;
}
