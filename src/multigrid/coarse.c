/* The coarsest problem: its inverse where it separates; else some sweeps, which devices like, or a KSP on the host. */
#include "internal.h"

#define DIRECT_LIMIT 4000 /* unknowns up to which an LU is the default */
#define REDUCTION    1e-4 /* of the error, by sweeps ... */
#define MOST_PAIRS   12   /* ... of which there are so many pairs at most */

struct VpCoarse_ {
  VpLevel level;
  VpSeparable inverse; /* or NULL */
  /* pairs of sweeps, one in the order of colours and one in the reverse order, so that they are symmetric; 0: none */
  int        pairs;
  VpSmoother pair;
  /* a KSP on the assembled matrix, where there is nothing else: scale times that of the level */
  KSP     ksp;
  Mat     A;
  double  scale;
  Vec     b, x;
  double *outer; /* an outer vector where the level's backend wants it */
  size_t  bytes;
  /* its default preconditioner on larger problems: one sweep */
  VpLevel    thin;
  VpSmoother smoother;
  void      *sweep_b, *sweep_x[2];
};

/* x += about A^-1 (b - A x); the ghosts of b and x are current */
static PetscErrorCode SweepPair(VpCoarse coarse, PetscBool zero, void *b, void *const x[2])
{
  PetscFunctionBegin;
  PetscCall(VpSmootherSweep(coarse->pair, zero, PETSC_FALSE, VpGhostsAt(NULL), b, x));
  PetscCall(VpLevelExchange(coarse->level, VP_GHOST_ALL, x[0]));
  PetscCall(VpSmootherSweep(coarse->pair, PETSC_FALSE, PETSC_TRUE, VpGhostsAt(NULL), b, x));
  PetscCall(VpLevelExchange(coarse->level, VP_GHOST_ALL, x[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveSweeps(VpCoarse coarse, void *b, void *const x[2])
{
  VpLevel level = coarse->level;

  PetscFunctionBegin;
  PetscCall(VpLevelExchange(level, VP_GHOST_SWEEP, b));
  PetscCall(level->backend->zero(x[0], level->mesh->nlocal * level->block));
  for (int i = 0; i < coarse->pairs; i++) PetscCall(SweepPair(coarse, (PetscBool)!i, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* numbers of an outer vector, this rank's */
static PetscInt OuterSize(VpLevel level)
{
  return level->mesh->nown * (PetscInt)(level->block / level->real);
}

/* x = random numbers, by way of host and outer vectors */
static PetscErrorCode Randomize(VpLevel level, double *host, double *outer, void *x)
{
  const PetscInt n = OuterSize(level);
  PetscRandom    generator;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &generator));
  PetscCall(PetscRandomSetType(generator, PETSCRAND48));
  for (PetscInt i = 0; i < n; i++) PetscCall(PetscRandomGetValueReal(generator, &host[i]));
  PetscCall(PetscRandomDestroy(&generator));
  PetscCall(level->backend->upload(host, n * sizeof(double), outer));
  PetscCall(VpLevelEnter(level, 1, outer, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of x over all ranks, by the same way */
static PetscErrorCode Norm(VpLevel level, double *host, double *outer, const void *x, double *norm)
{
  const PetscInt n = OuterSize(level);

  PetscFunctionBegin;
  PetscCall(VpLevelLeave(level, PETSC_FALSE, 1, x, outer));
  PetscCall(level->backend->download(outer, n * sizeof(double), host));
  *norm = 0;
  for (PetscInt i = 0; i < n; i++) *norm += host[i] * host[i];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, norm, 1, MPI_DOUBLE, MPI_SUM, level->mesh->comm));
  *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many pairs reduce an error, A x = 0 from random x, by REDUCTION? 0: more than MOST_PAIRS */
static PetscErrorCode CountPairs(VpCoarse coarse, int *pairs)
{
  VpLevel level = coarse->level;
  void   *b, *x[2], *outer;
  double *host, first, norm;

  PetscFunctionBegin;
  PetscCall(VpLevelVectorCreate(level, "coarse sweeps", &b));
  for (int i = 0; i < 2; i++) PetscCall(VpLevelVectorCreate(level, "coarse sweeps", &x[i]));
  PetscCall(VpTogether(level->mesh->comm, level->backend->alloc(OuterSize(level) * sizeof(double), "coarse sweeps", &outer)));
  PetscCall(PetscMalloc1(OuterSize(level), &host));
  PetscCall(Randomize(level, host, outer, x[0]));
  PetscCall(Norm(level, host, outer, x[0], &first));
  PetscCall(VpLevelExchange(level, VP_GHOST_ALL, x[0]));
  for (*pairs = 0, norm = first; *pairs <= MOST_PAIRS && norm > REDUCTION * first; (*pairs)++) {
    PetscCall(SweepPair(coarse, PETSC_FALSE, b, x));
    PetscCall(Norm(level, host, outer, x[0], &norm));
  }
  if (*pairs > MOST_PAIRS || !(norm <= REDUCTION * first)) *pairs = 0;
  PetscCall(PetscFree(host));
  PetscCall(level->backend->release(outer));
  PetscCall(level->backend->release(b));
  for (int i = 0; i < 2; i++) PetscCall(level->backend->release(x[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreatePairs(VpCoarse coarse)
{
  VpLevel    level = coarse->level;
  VpExchange exchange;

  PetscFunctionBegin;
  if (VpProblemIsSingular(level->mesh, &level->problem)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpChooseExchange(level, VP_EXCHANGE_AUTO, &exchange));
  PetscCall(VpSmootherCreate(level, VP_SPACE_FULL, VP_RESIDUAL_EXACT, exchange, &coarse->pair));
  PetscCall(CountPairs(coarse, &coarse->pairs));
  if (!coarse->pairs) PetscCall(VpSmootherDestroy(&coarse->pair));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplySweep(PC pc, Vec r, Vec z)
{
  void              *context;
  VpCoarse           coarse;
  VpLevel            level;
  const PetscScalar *in;
  PetscScalar       *out;
  VpGhosts           ghosts;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &context));
  coarse = context;
  level = coarse->thin;
  PetscCall(VecGetArrayRead(r, &in));
  PetscCall(VpLevelEnter(level, 1, in, coarse->sweep_b));
  PetscCall(VecRestoreArrayRead(r, &in));
  PetscCall(VpLevelRefresh(level, VP_GHOST_SWEEP, coarse->sweep_b, &ghosts));
  PetscCall(level->backend->zero(coarse->sweep_x[0], level->mesh->nlocal * level->block));
  PetscCall(VpSmootherSweep(coarse->smoother, PETSC_TRUE, PETSC_FALSE, ghosts, coarse->sweep_b, coarse->sweep_x));
  PetscCall(VecGetArrayWrite(z, &out));
  PetscCall(VpLevelLeave(level, PETSC_FALSE, 1, coarse->sweep_x[0], out));
  PetscCall(VecRestoreArrayWrite(z, &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSweep(VpCoarse coarse, PC pc)
{
  VpLevel level = coarse->level;

  PetscFunctionBegin;
  PetscCall(VpLevelCreate(level->mesh, &level->problem, VP_BASIS_THIN, VP_DOUBLE, &VpBackendHost, &coarse->thin));
  PetscCall(VpSmootherCreate(coarse->thin, VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_SWEEP, &coarse->smoother));
  PetscCall(VpLevelVectorCreate(coarse->thin, "coarse sweep", &coarse->sweep_b));
  for (int i = 0; i < 2; i++) PetscCall(VpLevelVectorCreate(coarse->thin, "coarse sweep", &coarse->sweep_x[i]));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetName(pc, "one sweep over all patches"));
  PetscCall(PCShellSetContext(pc, coarse));
  PetscCall(PCShellSetApply(pc, ApplySweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's LU takes pivots below 2e-14 for zeros: the least numbers of A are about 1 */
static PetscErrorCode CreateMatrix(VpCoarse coarse, PetscBool singular)
{
  VpLevel      level = coarse->level, outer;
  VpProblem    problem = level->problem;
  PetscReal    range[2];
  MatNullSpace constants;
  Vec          one;
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(VpProblemRange(level->mesh, &problem, range));
  problem.exponent = -ilogb(range[0]);
  coarse->scale = ldexp(1, problem.exponent - level->problem.exponent);
  PetscCall(VpLevelCreate(level->mesh, &problem, VP_BASIS_ORTHONORMAL, VP_DOUBLE, &VpBackendHost, &outer));
  PetscCall(VpAssemble(outer, MATAIJ, &coarse->A));
  PetscCall(MatCreateVecs(coarse->A, &coarse->x, &coarse->b));
  coarse->bytes = level->mesh->nown * outer->block;
  if (singular) {
    PetscCall(VecDuplicate(coarse->x, &one));
    PetscCall(VecGetArrayWrite(one, &array));
    PetscCall(VpConstant(outer, array));
    PetscCall(VecRestoreArrayWrite(one, &array));
    PetscCall(VecNormalize(one, NULL));
    PetscCall(MatNullSpaceCreate(level->mesh->comm, PETSC_FALSE, 1, &one, &constants));
    PetscCall(MatSetNullSpace(coarse->A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
    PetscCall(VecDestroy(&one));
  }
  PetscCall(VpLevelDestroy(&outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateKSP(VpCoarse coarse, const char prefix[], PetscObject parent)
{
  VpLevel         level = coarse->level;
  const PetscBool singular = VpProblemIsSingular(level->mesh, &level->problem);
  const char     *outer_prefix = NULL;
  PetscInt        n;
  PetscMPIInt     size;
  PC              pc;

  PetscFunctionBegin;
  PetscCall(CreateMatrix(coarse, singular));
  PetscCall(VpTogether(level->mesh->comm, level->backend->alloc(coarse->bytes, "coarse problem", (void **)&coarse->outer)));
  PetscCall(KSPCreate(level->mesh->comm, &coarse->ksp));
  if (parent) {
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)coarse->ksp, parent, 1));
    PetscCall(PetscObjectGetOptionsPrefix(parent, &outer_prefix));
  }
  PetscCall(KSPSetOptionsPrefix(coarse->ksp, outer_prefix));
  PetscCall(KSPAppendOptionsPrefix(coarse->ksp, prefix));
  PetscCall(KSPSetErrorIfNotConverged(coarse->ksp, PETSC_FALSE));
  PetscCall(KSPSetOperators(coarse->ksp, coarse->A, coarse->A));
  PetscCall(KSPGetPC(coarse->ksp, &pc));
  PetscCall(MatGetSize(coarse->A, &n, NULL));
  PetscCallMPI(MPI_Comm_size(level->mesh->comm, &size));
  if (n <= DIRECT_LIMIT && !singular) {
    PetscCall(KSPSetType(coarse->ksp, KSPPREONLY));
    PetscCall(PCSetType(pc, size == 1 ? PCLU : PCREDUNDANT));
  } else {
    PetscCall(KSPSetType(coarse->ksp, KSPFGMRES));
    PetscCall(KSPSetTolerances(coarse->ksp, level->precision == VP_DOUBLE ? 1e-8 : 1e-4, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(CreateSweep(coarse, pc));
  }
  PetscCall(KSPSetFromOptions(coarse->ksp));
  PetscCall(KSPSetUp(coarse->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveKSP(VpCoarse coarse, const void *b, void *x)
{
  VpLevel            level = coarse->level;
  PetscScalar       *in;
  const PetscScalar *out;
  MatNullSpace       constants;

  PetscFunctionBegin;
  PetscCall(VpLevelLeave(level, PETSC_FALSE, 1, b, coarse->outer));
  PetscCall(VecGetArrayWrite(coarse->b, &in));
  PetscCall(level->backend->download(coarse->outer, coarse->bytes, in));
  PetscCall(VecRestoreArrayWrite(coarse->b, &in));
  PetscCall(MatGetNullSpace(coarse->A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, coarse->b));
  PetscCall(KSPSolve(coarse->ksp, coarse->b, coarse->x));
  PetscCall(VecGetArrayRead(coarse->x, &out));
  PetscCall(level->backend->upload(out, coarse->bytes, coarse->outer));
  PetscCall(VecRestoreArrayRead(coarse->x, &out));
  PetscCall(VpLevelEnter(level, coarse->scale, coarse->outer, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseCreate(VpLevel level, VpCoarseType type, const char prefix[], PetscObject parent, VpCoarse *out)
{
  VpCoarse coarse;

  PetscFunctionBegin;
  PetscCall(PetscNew(&coarse));
  *out = coarse;
  PetscCall(VpLevelReference(level));
  coarse->level = level;
  if (type == VP_COARSE_AUTO) PetscCall(VpSeparableCreate(level, &coarse->inverse));
  if (coarse->inverse) PetscFunctionReturn(PETSC_SUCCESS);
  if (type == VP_COARSE_SWEEPS || (type == VP_COARSE_AUTO && level->backend->use_stream)) PetscCall(CreatePairs(coarse));
  if (!coarse->pairs) PetscCall(CreateKSP(coarse, prefix, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolve(VpCoarse coarse, void *b, void *const x[2])
{
  PetscFunctionBegin;
  if (coarse->ksp) PetscCall(SolveKSP(coarse, b, x[0]));
  else if (coarse->pairs) PetscCall(SolveSweeps(coarse, b, x));
  else
    PetscCall(VpSeparableSolve(coarse->inverse, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseGetKSP(VpCoarse coarse, KSP *ksp)
{
  PetscFunctionBegin;
  *ksp = coarse->ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseView(VpCoarse coarse, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (coarse->ksp) PetscCall(KSPView(coarse->ksp, viewer));
  else if (coarse->pairs) PetscCall(PetscViewerASCIIPrintf(viewer, "%d sweeps, every second one in reverse order\n", 2 * coarse->pairs));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "inverted exactly, by fast diagonalisation\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseDestroy(VpCoarse *out)
{
  VpCoarse coarse = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPDestroy(&coarse->ksp));
  PetscCall(MatDestroy(&coarse->A));
  PetscCall(VecDestroy(&coarse->b));
  PetscCall(VecDestroy(&coarse->x));
  if (coarse->outer) PetscCall(coarse->level->backend->release(coarse->outer));
  if (coarse->sweep_b) PetscCall(coarse->thin->backend->release(coarse->sweep_b));
  for (int i = 0; i < 2; i++) {
    if (coarse->sweep_x[i]) PetscCall(coarse->thin->backend->release(coarse->sweep_x[i]));
  }
  PetscCall(VpSeparableDestroy(&coarse->inverse));
  PetscCall(VpSmootherDestroy(&coarse->pair));
  PetscCall(VpSmootherDestroy(&coarse->smoother));
  PetscCall(VpLevelDestroy(&coarse->thin));
  PetscCall(VpLevelDestroy(&coarse->level));
  PetscCall(PetscFree(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
