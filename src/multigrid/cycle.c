/* The multigrid cycle. Level 0 is the finest. Every level has b, x (two buffers) and, where it is needed, r = b - A x. */
#include "internal.h"
#include "../base/progress.h"

/* x = S(...S(x)): count sweeps; zero: from x = 0. The ghosts of x are current before, not after; those of b may be under way. */
static PetscErrorCode Smooth(VpCycle cycle, PetscInt l, PetscInt count, PetscBool zero, PetscBool reverse, VpGhosts under_way)
{
  VpLevel     level = cycle->level[l];
  void *const x[2] = {cycle->x[0][l], cycle->x[1][l]};

  PetscFunctionBegin;
  if (zero) PetscCall(level->backend->zero(x[0], level->mesh->nlocal * level->block));
  for (PetscInt i = 0; i < count; i++) {
    if (i > 0) PetscCall(VpLevelRefresh(level, VP_GHOST_ALL, x[0], &under_way));
    PetscCall(VpSmootherSweep(cycle->smoother[l], (PetscBool)(zero && i == 0), reverse, under_way, cycle->b[l], x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = b - A x, with the ghosts that restriction reads; fetches those of x */
static PetscErrorCode Residual(VpCycle cycle, PetscInt l)
{
  VpLevel       level = cycle->level[l];
  const VpView *view = &level->view;
  void         *x = cycle->x[0][l];
  VpGhosts      ghosts;

  PetscFunctionBegin;
  PetscCall(VpLevelRefresh(level, VP_GHOST_ALL, x, &ghosts));
  if (!cycle->r[l]) PetscCall(VpLevelVectorCreate(level, "residual", &cycle->r[l]));
  PetscCall(PetscLogEventBegin(VP_EVENT_APPLY, 0, 0, 0, 0));
  PetscCall(level->ops->apply(view, 0, view->nown, x, ghosts, cycle->b[l], cycle->r[l]));
  PetscCall(VpLogFlops(level, VpLevelApplyFlops(level)));
  PetscCall(PetscLogEventEnd(VP_EVENT_APPLY, 0, 0, 0, 0));
  PetscCall(VpLevelExchange(level, VP_GHOST_CHILD, cycle->r[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b of level l is about to change: its ghosts will not be current */
static PetscErrorCode ForgetRightSide(VpCycle cycle, PetscInt l)
{
  PetscFunctionBegin;
  PetscCall(VpArrive(cycle->under_way[l]));
  cycle->under_way[l] = VpGhostsAt(NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b's ghosts for the sweeps of level l, unless they are current or under way already */
static PetscErrorCode FetchRightSide(VpCycle cycle, PetscInt l)
{
  PetscFunctionBegin;
  if (!cycle->under_way[l].values) PetscCall(VpLevelRefresh(cycle->level[l], VP_GHOST_SWEEP, cycle->b[l], &cycle->under_way[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the turn from down to up: no message of the way down has to queue behind those of b, which only sweeps need. Those of the way up do;
   the coarsest levels' work gives them the time. */
static PetscErrorCode FetchRightSides(VpCycle cycle, PetscInt finest)
{
  PetscFunctionBegin;
  for (PetscInt l = cycle->nlevel - 2; l >= finest; l--) PetscCall(FetchRightSide(cycle, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveCoarsest(VpCycle cycle)
{
  const PetscInt l = cycle->nlevel - 1;
  void *const    x[2] = {cycle->x[0][l], cycle->x[1][l]};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_COARSE, 0, 0, 0, 0));
  PetscCall(VpCoarseSolve(cycle->coarse, cycle->b[l], x));
  PetscCall(PetscLogEventEnd(VP_EVENT_COARSE, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The way through level l: which cycle, and whether x starts as 0, which nobody has written yet. */
typedef struct {
  VpCycle   cycle;
  PetscInt  level;
  PetscBool transpose;
} Pass;

static PetscBool Untouched(const Pass *p, PetscBool zero) /* x = 0: b is the residual */
{
  const VpCycleOptions *o = &p->cycle->options;

  return (PetscBool)(zero && !(p->transpose ? o->post : o->pre));
}

/* to b of the next level. Own cells of b; the ghosts of x are current before */
static PetscErrorCode Down(const Pass *p, PetscInt l, PetscBool zero)
{
  const VpCycle   cycle = p->cycle;
  const PetscInt  count = p->transpose ? cycle->options.post : cycle->options.pre;
  const PetscBool reverse = (PetscBool)(p->transpose || cycle->options.symmetric), untouched = Untouched(p, zero);

  PetscFunctionBegin;
  if (count) {
    PetscCall(FetchRightSide(cycle, l));
    PetscCall(Smooth(cycle, l, count, zero, reverse, cycle->under_way[l]));
  }
  if (untouched) PetscCall(VpLevelExchange(cycle->level[l], VP_GHOST_CHILD, cycle->b[l]));
  else
    PetscCall(Residual(cycle, l));
  PetscCall(ForgetRightSide(cycle, l + 1));
  PetscCall(VpRestrict(cycle->level[l], cycle->gather[l + 1], untouched ? cycle->b[l] : cycle->r[l], cycle->b[l + 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* from x of the next level. The ghosts of x are not current after */
static PetscErrorCode Up(const Pass *p, PetscInt l, PetscBool zero)
{
  const VpCycle   cycle = p->cycle;
  const PetscInt  count = p->transpose ? cycle->options.pre : cycle->options.post;
  const PetscBool reverse = (PetscBool)(p->transpose && !cycle->options.symmetric);

  PetscFunctionBegin;
  PetscCall(VpProlong(cycle->level[l], cycle->level[l + 1], cycle->gather[l + 1], cycle->level[l]->mesh->nhalo,
                      (PetscBool)!Untouched(p, zero), cycle->x[0][l + 1], cycle->x[0][l]));
  PetscCall(VpArrive(cycle->under_way[l]));
  PetscCall(Smooth(cycle, l, count, PETSC_FALSE, reverse, VpGhostsAt(NULL)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += M (b - A x) */
static PetscErrorCode Cycle(const Pass *p, PetscInt l, PetscBool zero)
{
  const VpCycle  cycle = p->cycle;
  const PetscInt visits = cycle->options.type == VP_CYCLE_W && l + 2 < cycle->nlevel ? 2 : 1;

  PetscFunctionBegin;
  if (l == cycle->nlevel - 1) {
    PetscCall(FetchRightSides(cycle, p->level));
    PetscCall(SolveCoarsest(cycle));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Down(p, l, zero));
  for (PetscInt visit = 0; visit < visits; visit++) {
    if (visit) PetscCall(VpLevelExchange(cycle->level[l + 1], VP_GHOST_ALL, cycle->x[0][l + 1]));
    PetscCall(Cycle(p, l + 1, (PetscBool)(visit == 0)));
  }
  PetscCall(Up(p, l, zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleEnter(VpCycle cycle, PetscInt l, double scale, const double *r)
{
  PetscFunctionBegin;
  PetscCall(ForgetRightSide(cycle, l));
  PetscCall(VpLevelEnter(cycle->level[l], scale, r, cycle->b[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleEnterResidual(VpCycle cycle, PetscInt l, VpLevel outer, double scale, const double *x, VpGhosts ghosts,
                                    const double *f, PetscReal *norm2)
{
  PetscFunctionBegin;
  PetscCall(ForgetRightSide(cycle, l));
  PetscCall(VpLevelEnterResidual(cycle->level[l], outer, scale, x, ghosts, f, cycle->b[l], norm2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleReplay(VpCycle cycle, VpRecorded *recorded, PetscErrorCode (*work)(void *), void *context)
{
  const VpBackend *backend = cycle->level[0]->backend;
  PetscLogDouble  *counters[4] = {&petsc_isend_ct, &petsc_isend_len, &petsc_irecv_ct, &petsc_irecv_len}, counted[4], before, after;

  PetscFunctionBegin;
  if (!cycle->replays) {
    PetscCall(work(context));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscGetFlops(&before));
  for (int i = 0; i < 4; i++) counted[i] = *counters[i];
  PetscCall(backend->replay(&recorded->recording, work, context));
  PetscCall(PetscGetFlops(&after));
  if (after > before) { /* the work was gone through */
    recorded->flops = after - before;
    for (int i = 0; i < 4; i++) recorded->messages[i] = *counters[i] - counted[i];
  } else {
    PetscCall(VpLogFlops(cycle->level[0], recorded->flops));
    for (int i = 0; i < 4; i++) *counters[i] += recorded->messages[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Whole(void *context)
{
  const Pass *p = (const Pass *)context;

  PetscFunctionBegin;
  PetscCall(Cycle(p, p->level, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllDown(void *context)
{
  const Pass *p = (const Pass *)context;

  PetscFunctionBegin;
  for (PetscInt l = p->level; l < p->cycle->nlevel - 1; l++) PetscCall(Down(p, l, PETSC_TRUE));
  PetscCall(FetchRightSides(p->cycle, p->level));
  /* a record ends with nothing under way */
  for (PetscInt l = p->level; l < p->cycle->nlevel - 1; l++) PetscCall(VpArrive(p->cycle->under_way[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllUp(void *context)
{
  const Pass *p = (const Pass *)context;

  PetscFunctionBegin;
  for (PetscInt l = p->cycle->nlevel - 2; l >= p->level; l--) PetscCall(Up(p, l, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coarse KSP works on the host: what comes before and after it is recorded each by itself. */
PetscErrorCode VpCycleSolve(VpCycle cycle, PetscInt l, PetscBool transpose, PetscBool add, double scale, double *z)
{
  Pass        pass = {cycle, l, transpose};
  VpRecorded *recorded = &cycle->recorded[2 * (2 * l + !!transpose)];

  PetscFunctionBegin;
  if (cycle->whole) PetscCall(VpCycleReplay(cycle, recorded, Whole, &pass));
  else if (cycle->replays) {
    PetscCall(VpCycleReplay(cycle, recorded, AllDown, &pass));
    PetscCall(SolveCoarsest(cycle));
    PetscCall(VpCycleReplay(cycle, recorded + 1, AllUp, &pass));
  } else PetscCall(Whole(&pass));
  PetscCall(VpLevelLeave(cycle->level[l], add, ldexp(scale, cycle->level[l]->problem.exponent), cycle->x[0][l], z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVectors(VpCycle cycle, PetscInt l)
{
  VpLevel level = cycle->level[l];

  PetscFunctionBegin;
  PetscCall(VpLevelVectorCreate(level, "right-hand side", &cycle->b[l]));
  for (int i = 0; i < 2; i++) PetscCall(VpLevelVectorCreate(level, "correction", &cycle->x[i][l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the coefficient of own cells, after the mesh was cut anew */
static PetscErrorCode MoveCoefficient(VpMesh from, VpMesh to, PetscReal **coefficient)
{
  PetscReal *moved;
  PetscSF    sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(to->nown + 1, &moved)); /* not NULL on ranks without cells */
  PetscCall(VpMeshCreateMove(from, to, PETSC_FALSE, &sf));
  PetscCall(PetscSFBcastBegin(sf, MPIU_REAL, *coefficient, moved, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_REAL, *coefficient, moved, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree(*coefficient));
  *coefficient = moved;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On how few ranks should n cells live? On devices small levels cost latency, the more so the more ranks have a share in them. */
static PetscMPIInt Ranks(const VpCycleOptions *options, const VpBackend *backend, PetscInt n, PetscMPIInt ranks)
{
  const PetscInt least = options->gather != PETSC_DECIDE ? options->gather : backend->use_stream ? 4096 : 0;

  return least ? PetscMax(1, (PetscMPIInt)PetscMin(ranks, n / least)) : ranks;
}

/* from level l to the next: its mesh, cut into `ranks` pieces at most, and its coefficient, where there is one */
static PetscErrorCode Coarsen(VpCycle cycle, VpLevel level, VpMesh *mesh, PetscMPIInt *ranks, PetscReal **coefficient)
{
  VpMesh            spread;
  const PetscMPIInt before = *ranks;

  PetscFunctionBegin;
  PetscCall(PetscFree(*coefficient));
  PetscCall(VpMeshCoarsen(level->mesh, &spread));
  if (level->problem.coefficient) {
    PetscCall(PetscMalloc1(spread->nown + 1, coefficient));
    PetscCall(VpCoarsenCoefficient(level->mesh, level->problem.coefficient, *coefficient));
  }
  *ranks = Ranks(&cycle->options, level->backend, spread->ncell, before);
  if (*ranks < before) {
    PetscCall(VpMeshGather(spread, *ranks, mesh));
    if (level->problem.coefficient) PetscCall(MoveCoefficient(spread, *mesh, coefficient));
    PetscCall(VpMeshDestroy(&spread));
  } else *mesh = spread;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what waits for the host, be it for messages, can not be recorded */
static PetscErrorCode CheckReplays(VpCycle cycle)
{
  const VpLevel finest = cycle->level[0];
  PetscMPIInt   size;
  KSP           ksp;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(finest->mesh->comm, &size));
  PetscCall(VpCoarseGetKSP(cycle->coarse, &ksp));
  cycle->replays = (PetscBool)(cycle->options.replay && finest->backend->replay &&
                               (size == 1 || finest->mesh->transport == VP_TRANSPORT_LINK));
  cycle->whole = (PetscBool)(cycle->replays && !ksp);
  if (ksp && cycle->options.type == VP_CYCLE_W) cycle->replays = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleCreate(VpMesh finest, const VpProblem *problem, const VpCycleOptions *options, const VpBackend *backend,
                             PetscObject parent, VpCycle *out)
{
  const PetscInt nlevel = options->levels ? options->levels : finest->level;
  VpProblem      p = *problem;
  PetscReal     *coefficient = NULL;
  VpMesh         mesh = finest;
  VpExchange     exchange = options->exchange;
  PetscMPIInt    ranks;
  VpCycle        cycle;

  PetscFunctionBegin;
  PetscCheck(finest->level >= 1, finest->comm, PETSC_ERR_ARG_WRONGSTATE,
             "Patches are made of 2^dim cells, but every box is a single cell: refine at least once, -dm_refine 1");
  PetscCheck(nlevel >= 1 && nlevel <= finest->level, finest->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " levels asked for, 1 to %d exist on boxes refined %d times (the coarsest has them refined once)", nlevel,
             finest->level, finest->level);
  PetscCall(PetscNew(&cycle));
  *out = cycle;
  PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, 0, 0, 0, 0));
  cycle->options = *options;
  cycle->nlevel = nlevel;
  PetscCall(PetscCalloc4(nlevel, &cycle->level, nlevel, &cycle->smoother, nlevel, &cycle->gather, 4 * nlevel, &cycle->recorded));
  PetscCall(PetscCalloc5(nlevel, &cycle->b, nlevel, &cycle->x[0], nlevel, &cycle->x[1], nlevel, &cycle->r, nlevel, &cycle->under_way));
  PetscCall(VpMeshReference(mesh));
  PetscCallMPI(MPI_Comm_size(mesh->comm, &ranks));
  for (PetscInt l = 0; l < nlevel; l++) {
    PetscCall(VpProgress("cycle", (double)finest->ncell - mesh->ncell, (double)finest->ncell));
    PetscCall(VpLevelCreate(mesh, &p, VP_BASIS_THIN, options->precision, backend, &cycle->level[l]));
    PetscCall(CreateVectors(cycle, l));
    if (l) PetscCall(VpGatherCreate(cycle->level[l - 1]->mesh->coarser, cycle->level[l], &cycle->gather[l]));
    PetscCall(VpMeshDestroy(&mesh));
    if (l == nlevel - 1) break;
    PetscCall(VpChooseExchange(cycle->level[l], options->exchange, &exchange));
    PetscCall(VpSmootherCreate(cycle->level[l], options->space, options->residual, exchange, &cycle->smoother[l]));
    if (!l) PetscCall(VpSmootherClose(cycle->smoother[l]));
    PetscCall(Coarsen(cycle, cycle->level[l], &mesh, &ranks, &coefficient));
    PetscCall(VpLevelSetTransfer(cycle->level[l]));
    p.coefficient = coefficient;
  }
  PetscCall(PetscFree(coefficient));
  PetscCall(VpCoarseCreate(cycle->level[nlevel - 1], options->coarse, "vpatchdg_coarse_", parent, &cycle->coarse));
  PetscCall(CheckReplays(cycle));
  PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleDestroy(VpCycle *out)
{
  VpCycle cycle = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!cycle) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < 4 * cycle->nlevel && cycle->replays; i++)
    PetscCall(cycle->level[0]->backend->forget(&cycle->recorded[i].recording));
  PetscCall(VpCoarseDestroy(&cycle->coarse));
  for (PetscInt l = 0; l < cycle->nlevel; l++) {
    void *const vectors[] = {cycle->b[l], cycle->x[0][l], cycle->x[1][l], cycle->r[l]};

    for (int i = 0; i < 4; i++) {
      if (vectors[i]) PetscCall(cycle->level[l]->backend->release(vectors[i]));
    }
    PetscCall(VpGatherDestroy(&cycle->gather[l]));
    PetscCall(VpSmootherDestroy(&cycle->smoother[l]));
    PetscCall(VpLevelDestroy(&cycle->level[l]));
  }
  PetscCall(PetscFree4(cycle->level, cycle->smoother, cycle->gather, cycle->recorded));
  PetscCall(PetscFree5(cycle->b, cycle->x[0], cycle->x[1], cycle->r, cycle->under_way));
  PetscCall(PetscFree(cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}
