/* Solves the coarsest problem by a KSP on the assembled matrix, on the host. */
#include "internal.h"
#include "../smoother/smoother.h"

typedef struct {
  VpCoarseSolver solver;
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
  const VpLevel  level = coarse->solver.level;
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
static PetscErrorCode CreateMatrix(VpCoarseSolver *s, PetscBool singular)
{
  VpLevel   level = s->level, outer;
  VpProblem problem = level->problem;
  PetscReal range[2];

  PetscFunctionBegin;
  PetscCall(VpProblemRange(level->mesh, &problem, range));
  problem.exponent = -ilogb(range[0]);
  s->scale = ldexp(1, problem.exponent - level->problem.exponent);
  PetscCall(VpLevelCreate(level->mesh, &problem, problem.outer, VP_DOUBLE, &VpBackendHost, &outer));
  PetscCall(VpAssemble(outer, MATAIJ, &s->A));
  if (singular) PetscCall(VpSetConstantNullSpace(outer, s->A));
  PetscCall(VpLevelDestroy(&outer));
  PetscCall(VpCoarseSolverAllocate(s, (size_t)level->mesh->nown * VpLevelValues(level), "coarse problem"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateKSP(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  const PetscBool singular = VpProblemIsSingular(level->mesh, &level->problem);
  CoarseKSP      *coarse;
  VpCoarseSolver *s;
  PetscInt        n;
  PC              pc;

  PetscFunctionBegin;
  PetscCall(PetscNew(&coarse));
  *data = coarse;
  s = &coarse->solver;
  PetscCall(VpCoarseSolverCreate(level, prefix, parent, s));
  PetscCall(CreateMatrix(s, singular));
  PetscCall(KSPSetOperators(s->ksp, s->A, s->A));
  PetscCall(KSPGetPC(s->ksp, &pc));
  PetscCall(MatGetSize(s->A, &n, NULL));
  if (n <= VpDirectLimit(level->mesh->dim) && !singular) {
    PetscCall(KSPSetType(s->ksp, KSPPREONLY));
    PetscCall(PCSetType(pc, level->mesh->size == 1 ? PCLU : PCREDUNDANT));
  } else {
    PetscCall(KSPSetType(s->ksp, KSPFGMRES));
    PetscCall(KSPSetTolerances(s->ksp, level->precision == VP_DOUBLE ? 1e-8 : 1e-4, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(CreateSweep(coarse, pc));
  }
  PetscCall(VpCoarseSolverSetUp(s));
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
  PetscCall(VpCoarseSolverDestroy(&coarse->solver));
  PetscCall(VpOneSweepDestroy(&coarse->sweep));
  PetscCall(VpLevelDestroy(&coarse->thin));
  PetscCall(PetscFree(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpCoarseOps VpCoarseKSP = {
  .create = CreateKSP, .solve = VpCoarseSolverSolve, .solver = PETSC_TRUE, .view = ViewKSP, .destroy = DestroyKSP};
