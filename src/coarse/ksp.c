/* The coarsest problem solved by a KSP on the assembled matrix, on the host. */
#include "internal.h"
#include "../smoother/smoother.h"

typedef struct {
  VpLevel    level;
  KSP        ksp;
  Mat        A; /* scale times that of the level */
  double     scale;
  Vec        b, x;
  PetscInt   stopped; /* iterations after which it stopped without converging, the last time it did since that was asked for; 0: never */
  double    *outer;   /* an outer vector where the level's backend wants it */
  size_t     bytes;   /* of it */
  VpLevel    thin;    /* of the default preconditioner on larger problems */
  VpOneSweep sweep;   /* that preconditioner, one sweep */
} Coarse;

static PetscErrorCode ApplySweep(PC pc, Vec r, Vec z)
{
  Coarse            *coarse;
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

static PetscErrorCode CreateSweep(Coarse *coarse, PC pc)
{
  VpLevel level = coarse->level;

  PetscFunctionBegin;
  PetscCall(VpLevelCreate(level->mesh, &level->problem, VP_BASIS_THIN, VP_DOUBLE, &VpBackendHost, &coarse->thin));
  PetscCall(VpOneSweepCreate(coarse->thin, VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_SWEEP, &coarse->sweep));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetName(pc, "one sweep over all patches"));
  PetscCall(PCShellSetContext(pc, coarse));
  PetscCall(PCShellSetApply(pc, ApplySweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's LU takes pivots below 2e-14 for zeros: the least numbers of A are about 1 */
static PetscErrorCode CreateMatrix(Coarse *coarse, PetscBool singular)
{
  VpLevel   level = coarse->level, outer;
  VpProblem problem = level->problem;
  PetscReal range[2];

  PetscFunctionBegin;
  PetscCall(VpProblemRange(level->mesh, &problem, range));
  problem.exponent = -ilogb(range[0]);
  coarse->scale = ldexp(1, problem.exponent - level->problem.exponent);
  PetscCall(VpLevelCreate(level->mesh, &problem, VP_BASIS_ORTHONORMAL, VP_DOUBLE, &VpBackendHost, &outer));
  PetscCall(VpAssemble(outer, MATAIJ, &coarse->A));
  PetscCall(MatCreateVecs(coarse->A, &coarse->x, &coarse->b));
  coarse->bytes = level->mesh->nown * outer->block;
  if (singular) PetscCall(VpSetConstantNullSpace(outer, coarse->A));
  PetscCall(VpLevelDestroy(&outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseKSPCreate(VpLevel level, const char prefix[], PetscObject parent, KSP *ksp)
{
  const char *outer = NULL;

  PetscFunctionBegin;
  PetscCall(KSPCreate(level->mesh->comm, ksp));
  if (parent) {
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)*ksp, parent, 1));
    PetscCall(PetscObjectGetOptionsPrefix(parent, &outer));
  }
  PetscCall(KSPSetOptionsPrefix(*ksp, outer));
  PetscCall(KSPAppendOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetErrorIfNotConverged(*ksp, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseKSPSetUp(KSP ksp)
{
  const char    *prefix;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(KSPSetFromOptions(ksp));
  error = KSPSetUp(ksp);
  PetscCheck(!error, PetscObjectComm((PetscObject)ksp), error,
             "The KSP of the coarsest level cannot be set up. Change the options -%s..., or leave them out", prefix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateKSP(Coarse *coarse, const char prefix[], PetscObject parent)
{
  VpLevel         level = coarse->level;
  const PetscBool singular = VpProblemIsSingular(level->mesh, &level->problem);
  PetscInt        n;
  PC              pc;

  PetscFunctionBegin;
  PetscCall(CreateMatrix(coarse, singular));
  PetscCall(VpTogether(level->mesh->comm, level->backend->alloc(coarse->bytes, "coarse problem", (void **)&coarse->outer)));
  PetscCall(VpCoarseKSPCreate(level, prefix, parent, &coarse->ksp));
  PetscCall(KSPSetOperators(coarse->ksp, coarse->A, coarse->A));
  PetscCall(KSPGetPC(coarse->ksp, &pc));
  PetscCall(MatGetSize(coarse->A, &n, NULL));
  if (n <= VpDirectLimit(level->mesh->dim) && !singular) {
    PetscCall(KSPSetType(coarse->ksp, KSPPREONLY));
    PetscCall(PCSetType(pc, level->mesh->size == 1 ? PCLU : PCREDUNDANT));
  } else {
    PetscCall(KSPSetType(coarse->ksp, KSPFGMRES));
    PetscCall(KSPSetTolerances(coarse->ksp, level->precision == VP_DOUBLE ? 1e-8 : 1e-4, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(CreateSweep(coarse, pc));
  }
  PetscCall(VpCoarseKSPSetUp(coarse->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  Coarse *coarse;

  PetscFunctionBegin;
  PetscCall(PetscNew(&coarse));
  *data = coarse;
  coarse->level = level;
  PetscCall(CreateKSP(coarse, prefix, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(void *data, int32_t n, VpVector b, VpVector x)
{
  Coarse            *coarse = data;
  const VpBackend   *backend = coarse->level->backend;
  PetscScalar       *in;
  const PetscScalar *out;
  MatNullSpace       constants;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(VpVectorLeave(b, PETSC_FALSE, 1, coarse->outer));
  PetscCall(VecGetArrayWrite(coarse->b, &in));
  PetscCall(backend->download(coarse->outer, coarse->bytes, in));
  PetscCall(VecRestoreArrayWrite(coarse->b, &in));
  PetscCall(MatGetNullSpace(coarse->A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, coarse->b));
  PetscCall(KSPSolve(coarse->ksp, coarse->b, coarse->x));
  PetscCall(KSPGetConvergedReason(coarse->ksp, &reason));
  if (reason < 0) PetscCall(KSPGetIterationNumber(coarse->ksp, &coarse->stopped));
  PetscCall(VecGetArrayRead(coarse->x, &out));
  PetscCall(backend->upload(out, coarse->bytes, coarse->outer));
  PetscCall(VecRestoreArrayRead(coarse->x, &out));
  PetscCall(VpVectorEnter(x, coarse->scale, coarse->outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(void *data, PetscViewer viewer)
{
  return KSPView(((Coarse *)data)->ksp, viewer);
}

static PetscErrorCode Destroy(void *data)
{
  Coarse *coarse = data;

  PetscFunctionBegin;
  PetscCall(KSPDestroy(&coarse->ksp));
  PetscCall(MatDestroy(&coarse->A));
  PetscCall(VecDestroy(&coarse->b));
  PetscCall(VecDestroy(&coarse->x));
  if (coarse->outer) PetscCall(coarse->level->backend->release(coarse->outer));
  PetscCall(VpOneSweepDestroy(&coarse->sweep));
  PetscCall(VpLevelDestroy(&coarse->thin));
  PetscCall(PetscFree(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetKSP(void *data, KSP *ksp)
{
  PetscFunctionBegin;
  *ksp = ((Coarse *)data)->ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Stopped(void *data)
{
  const PetscInt stopped = ((Coarse *)data)->stopped;

  ((Coarse *)data)->stopped = 0;
  return stopped;
}

const VpCoarseOps VpCoarseKSP = {.create = Create, .solve = Solve, .view = View, .destroy = Destroy, .get_ksp = GetKSP, .stopped = Stopped};
