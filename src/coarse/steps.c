/* Solves the coarsest problem by a few steps of GCR. Each of them corrects by finite volumes, then by one sweep:

     z = P S P^T r              volumes.c: what is nearly constant in cells, over all of the domain
     z += sweep (r - A z)       the patches of regular vertices, then single cells, which are also where no vertex is regular

   So a level of thousands of trees, one cell each, needs no coarser one. A is not assembled. */
#include "internal.h"
#include "../smoother/smoother.h"

enum { STEPS = 2, MORE_STEPS = 3, CELL_SWEEPS = 4, RESTART = 30 };
#define JUMP           100   /* ratio of the coefficients of neighbours beyond which coarse levels take MORE_STEPS */
#define LINEAR         1e-10 /* reduction of the residual where the outer KSP does not let the preconditioner change */
#define MOST_OF_LINEAR 200   /* most steps then */

typedef struct {
  VpCoarseSolver solver; /* A is a shell, and vectors are outer ones of boxes. */
  VpSmoother     smoother;
  void          *volumes;
  PetscInt       steps; /* 0: as many as LINEAR takes */
  VpVector       r, z, product;
} Steps;

static PetscErrorCode MultiplyLevel(Mat A, Vec x, Vec y)
{
  Steps *s;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(VpCoarseEnter(&s->solver, x, s->z));
  PetscCall(VpVectorResidual(s->z, VP_GHOST_FACE, NULL, s->product));
  PetscCall(VpVectorArrive(s->z));
  PetscCall(VpCoarseLeave(&s->solver, s->product, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyStep(PC pc, Vec r, Vec z)
{
  Steps *s;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(VpCoarseEnter(&s->solver, r, s->r));
  PetscCall(VpVectorZero(s->z));
  PetscCall(VpCoarseVolumes.solve(s->volumes, 1, s->r, s->z));
  PetscCall(VpSmootherSweep(s->smoother, PETSC_FALSE, s->r, s->z));
  PetscCall(VpCoarseLeave(&s->solver, s->z, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the mean of a cell's coefficient over its directions, which the shape of cells changes little */
static double MeanOf(VpLevel level, int32_t cell)
{
  double product = 1;

  for (int d = 0; d < level->mesh->dim; d++) product *= VpLevelCoefficient(level, cell, d);
  return pow(product, 1. / level->mesh->dim);
}

/* *jump = the largest ratio of the coefficients of two neighbours */
static PetscErrorCode FindJump(VpLevel level, double *jump)
{
  const VpMesh mesh = level->mesh;

  PetscFunctionBegin;
  *jump = 1;
  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    for (int side = 0; side < 2 * mesh->dim; side++) {
      const int32_t beyond = VpMeshNeighbor(mesh, cell, side);

      if (beyond >= 0) *jump = PetscMax(*jump, MeanOf(level, cell) / MeanOf(level, beyond));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, jump, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level's cycle is the whole preconditioner, whose steps the outer KSP makes good. */
static PetscErrorCode CountSteps(VpLevel level, PetscInt *steps)
{
  double jump = 1;

  PetscFunctionBegin;
  if (!VpLevelIsUniform(level) && !level->problem.metric) PetscCall(FindJump(level, &jump));
  *steps = jump > JUMP ? MORE_STEPS : STEPS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the KSP do the steps, or reduce the residual by LINEAR if there are none. GCR keeps two vectors per step. */
static PetscErrorCode PresetSteps(Steps *s)
{
  KSP   ksp = s->solver.ksp;
  void *context;

  PetscFunctionBegin;
  PetscCall(KSPSetOperators(ksp, s->solver.A, s->solver.A));
  PetscCall(KSPGCRSetRestart(ksp, s->steps ? s->steps : RESTART));
  if (s->steps) {
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, s->steps));
  } else {
    PetscCall(KSPConvergedDefaultCreate(&context));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedDefault, context, KSPConvergedDefaultDestroy));
    PetscCall(KSPSetTolerances(ksp, LINEAR, PETSC_DEFAULT, PETSC_DEFAULT, MOST_OF_LINEAR));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(Steps *s)
{
  const VpLevel  level = s->solver.level;
  Mat           *A = &s->solver.A;
  const PetscInt n = level->mesh->nown * (PetscInt)VpLevelValues(level);
  VpProblem      problem = level->problem;
  VpLevel        host;

  PetscFunctionBegin;
  PetscCall(MatCreateShell(level->mesh->comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, s, A));
  if (level->backend->prefers->vector) PetscCall(MatShellSetVecType(*A, level->backend->prefers->vector));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))MultiplyLevel));
  if (VpProblemIsSingular(level->mesh, &level->problem)) {
    problem.metric = NULL;
    PetscCall(VpLevelCreate(level->mesh, &problem, problem.outer, VP_DOUBLE, &VpBackendHost, &host));
    PetscCall(VpSetConstantNullSpace(host, *A));
    PetscCall(VpLevelDestroy(&host));
  }
  PetscCall(VpCoarseSolverAllocate(&s->solver, (size_t)n, "coarse vectors"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSweep(Steps *s)
{
  PetscFunctionBegin;
  PetscCall(VpSmootherCreate(s->solver.level, VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_AUTO, 0, &s->smoother));
  PetscCall(VpSmootherAddCells(s->smoother, CELL_SWEEPS, 0));
  PetscCall(VpVectorCreate(s->solver.level, 1, "coarse residual", &s->r));
  PetscCall(VpVectorCreate(s->solver.level, 2, "coarse correction", &s->z));
  PetscCall(VpVectorCreate(s->solver.level, 1, "coarse product", &s->product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSteps(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  Steps *s;
  char   name[64];
  PC     pc;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *data = s;
  PetscCall(VpCoarseSolverCreate(level, prefix, parent, &s->solver));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%svolumes_", prefix));
  PetscCall(VpCoarseVolumes.create(level, name, parent, &s->volumes));
  PetscCall(VpCoarseVolumes.meet(s->volumes, PETSC_TRUE));
  PetscCall(CreateSweep(s));
  PetscCall(CreateMatrix(s));
  PetscCall(CountSteps(level, &s->steps));
  PetscCall(KSPSetType(s->solver.ksp, KSPGCR));
  PetscCall(PresetSteps(s));
  PetscCall(KSPGetPC(s->solver.ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetName(pc, "finite volumes, then one sweep"));
  PetscCall(PCShellSetContext(pc, s));
  PetscCall(PCShellSetApply(pc, ApplyStep));
  PetscCall(VpCoarseSolverSetUp(&s->solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveSteps(void *data, int32_t n, VpVector b, VpVector x)
{
  Steps *s = (Steps *)data;

  PetscFunctionBegin;
  PetscCall(VpVectorAbandon(s->r));
  PetscCall(VpVectorAbandon(s->z));
  PetscCall(VpCoarseSolverSolve(data, n, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeetSteps(void *data, PetscBool flexible)
{
  Steps   *s = (Steps *)data;
  PetscInt most, before = s->steps ? s->steps : MOST_OF_LINEAR;

  PetscFunctionBegin;
  PetscCall(KSPGetTolerances(s->solver.ksp, NULL, NULL, NULL, &most));
  if (most != before || flexible == (PetscBool)(s->steps > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  s->steps = 0;
  if (flexible) PetscCall(CountSteps(s->solver.level, &s->steps));
  PetscCall(KSPReset(s->solver.ksp));
  PetscCall(PresetSteps(s));
  PetscCall(KSPSetUp(s->solver.ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewSteps(void *data, PetscViewer viewer)
{
  const Steps *s = (const Steps *)data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "finite volumes and a sweep, in each step of\n"));
  PetscCall(KSPView(s->solver.ksp, viewer));
  PetscCall(VpCoarseVolumes.view(s->volumes, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroySteps(void *data)
{
  Steps *s = (Steps *)data;

  PetscFunctionBegin;
  PetscCall(VpCoarseSolverDestroy(&s->solver));
  if (s->volumes) PetscCall(VpCoarseVolumes.destroy(s->volumes));
  PetscCall(VpSmootherDestroy(&s->smoother));
  PetscCall(VpVectorDestroy(&s->r));
  PetscCall(VpVectorDestroy(&s->z));
  PetscCall(VpVectorDestroy(&s->product));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpCoarseOps VpCoarseSteps = {
  .create = CreateSteps, .solve = SolveSteps, .view = ViewSteps, .destroy = DestroySteps, .solver = PETSC_TRUE, .meet = MeetSteps};
