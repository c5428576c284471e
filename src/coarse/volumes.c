/* The coarsest level handed over to finite volumes: one unknown per cell, whose matrix an algebraic multigrid solves,

     x += P S P^T b     T = fluxes between cells (level/volumes.c), S = about T^-1: CG, preconditioned by AMG

   This corrects what is constant in cells; the cycle's sweep on the level corrects the rest. Whatever the coefficient's jumps are, T has
   them in the resistances between cells, as no polynomial on a larger cell could. */
#include "internal.h"
#include <petsc/private/petscimpl.h>

#define FLEXIBLE 0.1   /* reduction of the residual by S where the outer KSP lets the preconditioner change ... */
#define LINEAR   1e-10 /* ... and where it does not, so that S is nearly T^-1 */
enum { MOST_ITERATIONS = 100 };
#define THRESHOLD 0.08    /* of gamg's connections. With the default it needs several times as many iterations where there are layers. */
enum { COARSEST = 1000 }; /* unknowns up to which gamg inverts a matrix. Below that, its levels have more latency than work. */

typedef struct {
  VpCoarseSolver solver; /* A is T, and vectors have a number per cell. */
  Mat            P;
  PetscReal      rtol;    /* that was set here, so that another one is the user's */
  Vec            modes;   /* of the cells' low modes */
  VpArrays       arrays;  /* of a dense inverse */
  void          *inverse; /* T^-1 [cells][cells]; NULL: a KSP solves */
} Volumes;

/* Whether T is inverted as a dense matrix. With the constants as its null space it would lose digits. */
static PetscBool IsInverted(VpLevel level)
{
  return (PetscBool)(level->mesh->size == 1 && level->mesh->ncell <= level->backend->prefers->most_volumes &&
                     !VpProblemIsSingular(level->mesh, &level->problem));
}

static PetscErrorCode InvertVolumes(Volumes *v)
{
  const size_t   n = (size_t)v->solver.level->mesh->ncell;
  VpDenseInverse d = {.n = (int32_t)n, .count = (int32_t)n, .dim = v->solver.level->mesh->dim, .order = 1};
  PetscScalar   *value;
  PetscInt       rows;
  PetscBool      done;
  double         largest;

  PetscFunctionBegin;
  v->arrays = (VpArrays){.backend = v->solver.level->backend, .precision = VP_DOUBLE};
  PetscCall(VpArraysReserve(&v->arrays, n * n * sizeof(double), "finite volumes", &v->inverse));
  PetscCall(MatGetRowIJ(v->solver.A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &d.start, &d.column, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The matrix of finite volumes has no rows to look at");
  PetscCall(MatSeqAIJGetArray(v->solver.A, &value));
  d.value = value;
  PetscCall(v->solver.level->backend->invert_dense(&d, VP_DOUBLE, v->inverse, &largest));
  PetscCall(MatSeqAIJRestoreArray(v->solver.A, &value));
  PetscCall(MatRestoreRowIJ(v->solver.A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &d.start, &d.column, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors are on the backend. */
static PetscErrorCode ApplyInverse(PC pc, Vec b, Vec x)
{
  const PetscScalar *from;
  PetscScalar       *to;
  PetscMemType       type;
  Volumes           *v;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &v));
  PetscCall(VecBindToCPU(b, PETSC_FALSE)); /* -vec_bind_below */
  PetscCall(VecBindToCPU(x, PETSC_FALSE));
  const int32_t n = (int32_t)v->solver.level->mesh->ncell;
  const VpOps  *ops = v->solver.level->backend->ops(VP_DOUBLE, v->solver.level->mesh->dim, v->solver.level->problem.degree);
  PetscCall(VecGetArrayReadAndMemType(b, &from, &type));
  PetscCall(VecGetArrayWriteAndMemType(x, &to, &type));
  PetscCall(ops->product(&v->solver.level->view, n, n, v->inverse, 1, from, to));
  PetscCall(VecRestoreArrayWriteAndMemType(x, &to));
  PetscCall(VecRestoreArrayReadAndMemType(b, &from));
  PetscCall(VpLogFlops(v->solver.level->backend, 2. * n * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PresetInverse(Volumes *v)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(InvertVolumes(v));
  PetscCall(KSPSetType(v->solver.ksp, KSPPREONLY));
  PetscCall(KSPGetPC(v->solver.ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetName(pc, "dense inverse"));
  PetscCall(PCShellSetContext(pc, v));
  PetscCall(PCShellSetApply(pc, ApplyInverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether an option says how the KSP solves. */
static PetscErrorCode IsChosen(KSP ksp, PetscBool *is)
{
  static const char *const options[] = {"-mat_type", "-ksp_type", "-pc_type"};

  PetscFunctionBegin;
  *is = PETSC_FALSE;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(options) && !*is; i++)
    PetscCall(PetscOptionsHasName(((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, options[i], is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hypre's BoomerAMG is the best for these matrices on the host. Gamg's aggregates are not smoothed: in 3D, smoothed ones fill the matrices
   of coarser levels (with 2e5 cells a set-up of minutes), and fail on noise if they are large. The KSP itself takes the user's choice of
   another PC, and refuses what does not exist. */
static PetscErrorCode PresetPC(KSP ksp, MatType type)
{
  PetscReal threshold = THRESHOLD;
  char      name[64];
  PetscBool same;
  PC        pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscStrcmp(type, MATAIJ, &same));
  PetscCall(PetscStrncpy(name, PetscDefined(HAVE_HYPRE) && same ? PCHYPRE : PCGAMG, sizeof(name)));
  PetscCall(PCSetType(pc, name));
  PetscCall(PetscOptionsGetString(((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, "-pc_type", name, sizeof(name), NULL));
  PetscCall(PetscStrcmp(name, PCGAMG, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetThreshold(pc, &threshold, 1));
  PetscCall(PCGAMGSetNSmooths(pc, 0));
  PetscCall(PCGAMGSetAggressiveLevels(pc, 1));
  PetscCall(PCGAMGSetCoarseEqLim(pc, COARSEST));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PresetVolumes(Volumes *v, MatType type)
{
  PetscFunctionBegin;
  v->rtol = LINEAR;
  PetscCall(KSPSetType(v->solver.ksp, KSPCG));
  PetscCall(KSPSetNormType(v->solver.ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(v->solver.ksp, v->rtol, PETSC_DEFAULT, PETSC_DEFAULT, MOST_ITERATIONS));
  PetscCall(PresetPC(v->solver.ksp, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AssembleVolumes(Volumes *v, MatType type)
{
  VpCoarseSolver *s = &v->solver;
  const VpMesh    mesh = s->level->mesh;

  PetscFunctionBegin;
  PetscCall(VpAssembleVolumes(s->level, type, &s->A, &v->P));
  PetscCall(MatCreateVecs(v->P, NULL, &v->modes));
  PetscCall(VpCoarseSolverAllocate(s, (size_t)mesh->nown * (size_t)VpLowModes(mesh->dim), "finite volumes"));
  if (VpProblemIsSingular(mesh, &s->level->problem)) PetscCall(MatNullSpaceCreate(mesh->comm, PETSC_TRUE, 0, NULL, &s->constants));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVolumes(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  const VpPrefers *prefers = level->backend->prefers;
  PetscBool        chosen, inverted;
  char             type[64];
  Volumes         *v;

  PetscFunctionBegin;
  PetscCall(PetscNew(&v));
  *data = v;
  PetscCall(VpCoarseSolverCreate(level, prefix, parent, &v->solver));
  PetscCall(IsChosen(v->solver.ksp, &chosen));
  inverted = (PetscBool)(!chosen && IsInverted(level));
  PetscCall(PetscStrncpy(type, prefers->matrix && (inverted || level->mesh->ncell >= prefers->matrix_cells) ? prefers->matrix : MATAIJ,
                         sizeof(type)));
  PetscCall(PetscOptionsGetString(((PetscObject)v->solver.ksp)->options, ((PetscObject)v->solver.ksp)->prefix, "-mat_type", type,
                                  sizeof(type), NULL));
  PetscCall(AssembleVolumes(v, type));
  PetscCall(KSPSetOperators(v->solver.ksp, v->solver.A, v->solver.A));
  PetscCall(inverted ? VpTogether(level->mesh->comm, PresetInverse(v)) : PresetVolumes(v, type));
  PetscCall(PetscLogEventBegin(VP_EVENT_AMG, 0, 0, 0, 0));
  PetscCall(VpCoarseSolverSetUp(&v->solver));
  PetscCall(PetscLogEventEnd(VP_EVENT_AMG, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveVolumes(void *data, int32_t n, VpVector b, VpVector x)
{
  Volumes        *v = data;
  VpCoarseSolver *s = &v->solver;
  const VpLevel   level = s->level;
  const void     *values;
  void           *to;
  PetscBool       add;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(b, VP_GHOST_NONE, &values));
  PetscCall(level->ops->restrict_modes(&level->view, values, s->values));
  PetscCall(VpCoarseToVec(s, v->modes));
  PetscCall(MatMultTranspose(v->P, v->modes, s->b));
  PetscCall(VpCoarseSolverRun(s));
  PetscCall(MatMult(v->P, s->x, v->modes));
  PetscCall(VpCoarseFromVec(s, v->modes));
  PetscCall(VpVectorAdd(x, VP_GHOST_NONE, &add, &to));
  PetscCall(level->ops->prolong_modes(&level->view, add, s->values, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeetKSP(void *data, PetscBool flexible)
{
  Volumes  *v = data;
  PetscReal rtol;

  PetscFunctionBegin;
  PetscCall(KSPGetTolerances(v->solver.ksp, &rtol, NULL, NULL, NULL));
  if (rtol != v->rtol || v->inverse) PetscFunctionReturn(PETSC_SUCCESS);
  v->rtol = flexible ? FLEXIBLE : LINEAR;
  PetscCall(KSPSetTolerances(v->solver.ksp, v->rtol, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewVolumes(void *data, PetscViewer viewer)
{
  const Volumes *v = data;
  MatInfo        info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(v->solver.A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscViewerASCIIPrintf(viewer, "finite volumes: %" PetscInt_FMT " cells, %.0f entries, solved by\n",
                                   v->solver.level->mesh->ncell, (double)info.nz_used));
  PetscCall(KSPView(v->solver.ksp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyVolumes(void *data)
{
  Volumes *v = data;

  PetscFunctionBegin;
  PetscCall(VpCoarseSolverDestroy(&v->solver));
  PetscCall(MatDestroy(&v->P));
  PetscCall(VecDestroy(&v->modes));
  PetscCall(VpArraysRelease(&v->arrays));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpCoarseOps VpCoarseVolumes = {
  .create = CreateVolumes, .solve = SolveVolumes, .view = ViewVolumes, .destroy = DestroyVolumes, .solver = PETSC_TRUE, .meet = MeetKSP};
