/* Solves the coarsest problem by a KSP on the assembled matrix, on the host. */
#include "internal.h"
#include "../smoother/smoother.h"

typedef struct {
  VpCoarseSolver solver;
  VpLevel        level;
  Mat            A; /* `scale` times A of the level */
  double         scale;
  Vec            b, x;
  double        *outer; /* an outer vector on the level's backend */
  size_t         bytes; /* size of this vector */
  VpLevel        thin;  /* the level in double precision on the host, in the thin basis, for `sweep` */
  VpOneSweep     sweep; /* the default preconditioner of larger problems */
} CoarseKSP;

static PetscErrorCode ApplySweep(PC pc, Vec r, Vec z)
{
  CoarseKSP         *coarse;
  const PetscScalar *in;
  PetscScalar       *out;
  VpVector           b;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &coarse));
  PetscCall(VecGetArrayRead(r, &in));
  PetscCall(VpOneSweepBegin(coarse->sweep, &b));
  PetscCall(VpVectorEnter(b, 1, in));
  PetscCall(VecRestoreArrayRead(r, &in));
  PetscCall(VecGetArrayWrite(z, &out));
  PetscCall(VpOneSweepSolve(coarse->sweep, PETSC_FALSE, PETSC_FALSE, 1, out));
  PetscCall(VecRestoreArrayWrite(z, &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSweep(CoarseKSP *coarse, PC pc)
{
  const VpLevel  level = coarse->level;
  const VpDomain domain = level->mesh->geometry->lattice->domain;
  VpProblem      problem = level->problem;

  PetscFunctionBegin;
  PetscCheck(
    !domain->trees || level->mesh->geometry->lattice->ncell > domain->nbox, level->mesh->comm, PETSC_ERR_SUP,
    "-pc_vpatchdg_coarse ksp: on trees of one cell, cells around irregular vertices are in no patch. Use -pc_vpatchdg_coarse steps");
  problem.metric = NULL;
  PetscCall(VpLevelCreate(level->mesh, &problem, VP_BASIS_THIN, VP_DOUBLE, &VpBackendHost, &coarse->thin));
  PetscCall(VpOneSweepCreate(coarse->thin, VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_SWEEP, &coarse->sweep));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetName(pc, "one sweep over all patches"));
  PetscCall(PCShellSetContext(pc, coarse));
  PetscCall(PCShellSetApply(pc, ApplySweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales A so that its smallest numbers are about 1, because PETSc's LU takes pivots below 2e-14 for zeros. */
static PetscErrorCode CreateMatrix(CoarseKSP *coarse, PetscBool singular)
{
  VpLevel   level = coarse->level, outer;
  VpProblem problem = level->problem;
  PetscReal range[2];

  PetscFunctionBegin;
  PetscCall(VpProblemRange(level->mesh, &problem, range));
  problem.exponent = -ilogb(range[0]);
  coarse->scale = ldexp(1, problem.exponent - level->problem.exponent);
  PetscCall(VpLevelCreate(level->mesh, &problem, problem.outer, VP_DOUBLE, &VpBackendHost, &outer));
  PetscCall(VpAssemble(outer, MATAIJ, &coarse->A));
  PetscCall(MatCreateVecs(coarse->A, &coarse->x, &coarse->b));
  coarse->bytes = level->mesh->nown * outer->block;
  if (singular) PetscCall(VpSetConstantNullSpace(outer, coarse->A));
  PetscCall(VpLevelDestroy(&outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolverCreate(VpLevel level, const char prefix[], PetscObject parent, VpCoarseSolver *solver)
{
  const char *outer = NULL;

  PetscFunctionBegin;
  PetscCall(KSPCreate(level->mesh->comm, &solver->ksp));
  if (parent) {
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)solver->ksp, parent, 1));
    PetscCall(PetscObjectGetOptionsPrefix(parent, &outer));
  }
  PetscCall(KSPSetOptionsPrefix(solver->ksp, outer));
  PetscCall(KSPAppendOptionsPrefix(solver->ksp, prefix));
  PetscCall(KSPSetErrorIfNotConverged(solver->ksp, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolverSetUp(VpCoarseSolver *solver)
{
  const char    *prefix;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(solver->ksp, &prefix));
  error = KSPSetFromOptions(solver->ksp);
  if (!error) error = KSPSetUp(solver->ksp);
  /* PETSc prints no second message of an error. */
  if (error)
    PetscCall(
      (*PetscErrorPrintf)("The KSP of the coarsest level cannot be set up. Change the options -%s..., or leave them out\n", prefix));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolverSolve(VpCoarseSolver *solver, Vec b, Vec x)
{
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(KSPSolve(solver->ksp, b, x));
  PetscCall(KSPGetConvergedReason(solver->ksp, &reason));
  if (reason < 0) PetscCall(KSPGetIterationNumber(solver->ksp, &solver->stopped));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolverGetKSP(void *data, KSP *ksp)
{
  PetscFunctionBegin;
  *ksp = ((VpCoarseSolver *)data)->ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt VpCoarseSolverStopped(void *data)
{
  VpCoarseSolver *solver = data;
  const PetscInt  stopped = solver->stopped;

  solver->stopped = 0;
  return stopped;
}

static PetscErrorCode SetUpKSP(CoarseKSP *coarse, const char prefix[], PetscObject parent)
{
  VpLevel         level = coarse->level;
  const PetscBool singular = VpProblemIsSingular(level->mesh, &level->problem);
  PetscInt        n;
  PC              pc;

  PetscFunctionBegin;
  PetscCall(CreateMatrix(coarse, singular));
  PetscCall(VpTogether(level->mesh->comm, level->backend->alloc(coarse->bytes, "coarse problem", (void **)&coarse->outer)));
  PetscCall(VpCoarseSolverCreate(level, prefix, parent, &coarse->solver));
  PetscCall(KSPSetOperators(coarse->solver.ksp, coarse->A, coarse->A));
  PetscCall(KSPGetPC(coarse->solver.ksp, &pc));
  PetscCall(MatGetSize(coarse->A, &n, NULL));
  if (n <= VpDirectLimit(level->mesh->dim) && !singular) {
    PetscCall(KSPSetType(coarse->solver.ksp, KSPPREONLY));
    PetscCall(PCSetType(pc, level->mesh->size == 1 ? PCLU : PCREDUNDANT));
  } else {
    PetscCall(KSPSetType(coarse->solver.ksp, KSPFGMRES));
    PetscCall(KSPSetTolerances(coarse->solver.ksp, level->precision == VP_DOUBLE ? 1e-8 : 1e-4, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(CreateSweep(coarse, pc));
  }
  PetscCall(VpCoarseSolverSetUp(&coarse->solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateKSP(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  CoarseKSP *coarse;

  PetscFunctionBegin;
  PetscCall(PetscNew(&coarse));
  *data = coarse;
  coarse->level = level;
  PetscCall(SetUpKSP(coarse, prefix, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseToVec(const VpBackend *backend, const double *from, size_t bytes, Vec to)
{
  PetscScalar *values;
  PetscMemType type;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWriteAndMemType(to, &values, &type));
  PetscCall((PetscMemTypeHost(type) ? backend->download : backend->copy)(from, bytes, values));
  PetscCall(VecRestoreArrayWriteAndMemType(to, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseFromVec(const VpBackend *backend, Vec from, size_t bytes, double *to)
{
  const PetscScalar *values;
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(from, &values, &type));
  PetscCall((PetscMemTypeHost(type) ? backend->upload : backend->copy)(values, bytes, to));
  PetscCall(VecRestoreArrayReadAndMemType(from, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveKSP(void *data, int32_t n, VpVector b, VpVector x)
{
  CoarseKSP       *coarse = data;
  const VpBackend *backend = coarse->level->backend;
  MatNullSpace     constants;

  PetscFunctionBegin;
  PetscCall(VpVectorLeaveBoxes(b, coarse->outer));
  PetscCall(VpCoarseToVec(backend, coarse->outer, coarse->bytes, coarse->b));
  PetscCall(MatGetNullSpace(coarse->A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, coarse->b));
  PetscCall(VpCoarseSolverSolve(&coarse->solver, coarse->b, coarse->x));
  PetscCall(VpCoarseFromVec(backend, coarse->x, coarse->bytes, coarse->outer));
  PetscCall(VpVectorEnterBoxes(x, coarse->scale, coarse->outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewKSP(void *data, PetscViewer viewer)
{
  return KSPView(((CoarseKSP *)data)->solver.ksp, viewer);
}

static PetscErrorCode DestroyKSP(void *data)
{
  CoarseKSP *coarse = data;

  PetscFunctionBegin;
  PetscCall(KSPDestroy(&coarse->solver.ksp));
  PetscCall(MatDestroy(&coarse->A));
  PetscCall(VecDestroy(&coarse->b));
  PetscCall(VecDestroy(&coarse->x));
  if (coarse->outer) PetscCall(coarse->level->backend->release(coarse->outer));
  PetscCall(VpOneSweepDestroy(&coarse->sweep));
  PetscCall(VpLevelDestroy(&coarse->thin));
  PetscCall(PetscFree(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpCoarseOps VpCoarseKSP = {.create = CreateKSP,
                                 .solve = SolveKSP,
                                 .view = ViewKSP,
                                 .destroy = DestroyKSP,
                                 .get_ksp = VpCoarseSolverGetKSP,
                                 .stopped = VpCoarseSolverStopped};
