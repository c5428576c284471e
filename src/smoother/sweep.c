/* Runs the steps of a sweep, which program.c has written. */
#include "smootherimpl.h"

/* a sweep in progress */
typedef struct {
  VpSmoother    smoother;
  VpVector      b, x;
  const void   *right;       /* the residual, or b */
  VpGhosts      under_way;   /* ghosts of b or x */
  const VpStep *step;        /* the present one */
  int32_t       first, last; /* patches of the step that are being solved */
} Run;

/* Begins to fetch the ghosts of b and x. Afterwards those of one of them may still be under way. */
static PetscErrorCode ReadGhosts(Run *run)
{
  VpGhosts of_x;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(run->b, VP_GHOST_SWEEP, &run->right, &run->under_way));
  PetscCall(VpVectorReadBegin(run->x, VP_GHOST_HALO, NULL, &of_x));
  if (of_x.arrive) {
    PetscCall(VpArrive(run->under_way));
    run->under_way = of_x;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AwaitGhosts(Run *run)
{
  PetscFunctionBegin;
  PetscCall(VpArrive(run->under_way));
  run->under_way = VpGhostsAt(NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the steps that follow in one launch, and skips them then. */
static PetscErrorCode SweepAtOnce(Run *run)
{
  const VpLevel level = run->smoother->level;
  PetscBool     did;

  PetscFunctionBegin;
  PetscCall(level->ops->sweep_all(&level->view, run->step, run->under_way, run->right, VpVectorBuffers(run->x, NULL), &did));
  if (did) PetscCall(VpVectorSwept(run->x, 0));
  if (did) run->step += run->step->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps the first batch that has patches in [first, last), or (others) all later ones. If x = 0 the residual is b. */
static PetscErrorCode SweepBatches(const Run *run, PetscBool others)
{
  const VpLevel level = run->smoother->level;
  unsigned      done;
  void *const  *x = VpVectorBuffers(run->x, &done);
  int           count = 0;

  PetscFunctionBegin;
  for (const VpBatch *batch = run->step->batch; batch < run->step->batch + run->step->n; batch++) {
    const VpResidualMode mode = VpVectorIsZero(run->x) && batch->mode != VP_MODE_REPLACE ? VP_MODE_GIVEN : batch->mode;
    const int32_t        first = PetscMax(run->first, batch->first), last = PetscMin(run->last, batch->last);

    if (first >= last || (count++ > 0) != others) continue;
    PetscCall(level->ops->sweep(&level->view, run->step->patches, mode, first, last, done, run->right, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepOtherBatches(void *run)
{
  return SweepBatches((const Run *)run, PETSC_TRUE);
}

/* Solves on the colour's patches in [first, last), in any order. Later batches run at the same time as the first one, which has the most
   patches. */
static PetscErrorCode SweepPatches(Run *run, int32_t first, int32_t last)
{
  const VpBackend *backend = run->smoother->level->backend;
  const PetscBool  beside = (PetscBool)(run->step->n > 1 && backend->aside);

  PetscFunctionBegin;
  run->first = first;
  run->last = last;
  if (beside) PetscCall(backend->aside(SweepOtherBatches, run));
  PetscCall(SweepBatches(run, PETSC_FALSE));
  if (beside) PetscCall(backend->rejoin());
  else PetscCall(SweepOtherBatches(run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps a colour. Patches that touch no ghost go first while ghosts are under way. */
static PetscErrorCode SweepColor(Run *run)
{
  const int32_t inner = run->under_way.arrive ? run->step->inner : 0;

  PetscFunctionBegin;
  if (inner) PetscCall(SweepPatches(run, 0, inner));
  PetscCall(AwaitGhosts(run));
  PetscCall(SweepPatches(run, inner, INT32_MAX));
  PetscCall(VpVectorSwept(run->x, 1u << run->step->color));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes b - A x, with ghosts as this rank has swept them. If x = 0 it is b. */
static PetscErrorCode FindResidual(Run *run)
{
  const VpLevel level = run->smoother->level;
  const void   *b, *x;
  void         *r;

  PetscFunctionBegin;
  if (VpVectorIsZero(run->x)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AwaitGhosts(run));
  PetscCall(VpVectorRead(run->b, VP_GHOST_NONE, &b));
  PetscCall(VpVectorRead(run->x, VP_GHOST_NONE, &x));
  PetscCall(VpVectorWrite(run->smoother->r, VP_GHOST_NONE, &r));
  PetscCall(level->ops->apply(&level->view, 0, level->view.nsweep, x, VpGhostsAt(VpVectorGhosts(run->x)), b, r));
  run->right = r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settles x. Ranks without patches also mark x as swept, because all ranks must know which ghosts are stale. */
static PetscErrorCode SettleCells(Run *run)
{
  PetscFunctionBegin;
  PetscCall(AwaitGhosts(run));
  PetscCall(VpVectorSwept(run->x, 0));
  PetscCall(VpVectorSettle(run->x, run->step->patches, run->step->count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FetchGhosts(Run *run)
{
  return VpVectorRead(run->x, VP_GHOST_ALL, NULL);
}

static PetscErrorCode RenewGhosts(Run *run)
{
  PetscFunctionBegin;
  PetscCall(AwaitGhosts(run));
  PetscCall(VpVectorRenewGhosts(run->x, run->step->patches, &run->under_way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepCells(Run *run)
{
  return VpCellSweepColor(run->smoother->cells, run->step->color, run->b, run->x);
}

static PetscErrorCode (*const take_step[])(Run *) = {
  [VP_STEP_READ] = ReadGhosts,    [VP_STEP_AT_ONCE] = SweepAtOnce, [VP_STEP_SWEEP] = SweepColor,  [VP_STEP_RESIDUAL] = FindResidual,
  [VP_STEP_SETTLE] = SettleCells, [VP_STEP_GHOSTS] = FetchGhosts,  [VP_STEP_RENEW] = RenewGhosts, [VP_STEP_CELLS] = SweepCells,
};

static PetscErrorCode RunProgram(VpSmoother smoother, const Program *program, VpVector b, VpVector x)
{
  Run run = {.smoother = smoother, .b = b, .x = x};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_SWEEP, 0, 0, 0, 0));
  for (run.step = program->step; run.step < program->step + program->n; run.step++) PetscCall(take_step[run.step->kind](&run));
  PetscCall(VpLogFlops(smoother->level->backend, program->flops));
  PetscCall(PetscLogEventEnd(VP_EVENT_SWEEP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherSweep(VpSmoother smoother, PetscBool reverse, VpVector b, VpVector x)
{
  return RunProgram(smoother, &smoother->program[SUBSET_ALL][reverse], b, x);
}

PetscErrorCode VpSmootherSweepEnds(VpSmoother smoother, PetscBool reverse, VpVector b, VpVector x)
{
  return RunProgram(smoother, &smoother->program[SUBSET_ENDS][reverse], b, x);
}
