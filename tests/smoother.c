/* Patch solvers and sweeps over them.
   ranks: 1 2 3 4 */
#include "support/corrects.h"
#include "support/multigrid.h"

/* largest of r on a patch's cells */
static double LargestOn(VpLevel level, const int32_t cell[], const double r[])
{
  const size_t ndof = level->block / level->real;
  double      *host = Get(level, r), largest = 0;

  for (int i = 0; i < 1 << level->view.dim; i++) {
    for (size_t k = 0; k < ndof; k++) largest = PetscMax(largest, fabs(host[cell[i] * ndof + k]));
  }
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(host));
  return largest;
}

/* a sweep over a single patch wrote x[1]: its cells of x[0] = those */
static PetscErrorCode TakePatch(VpLevel level, const int32_t cell[], double *const x[2])
{
  const size_t ndof = level->block / level->real;

  PetscFunctionBeginUser;
  for (int i = 0; i < 1 << level->view.dim; i++) {
    PetscCall(level->backend->copy(x[1] + cell[i] * ndof, level->block, x[0] + cell[i] * ndof));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* by how much patch p's solve reduces the residual on its cells (one rank) */
static PetscErrorCode PatchReduction(VpSmoother smoother, VpLevel level, VpResidualMode mode, const int32_t cell[], int32_t p,
                                     double *reduction)
{
  double *b, *r, *x[2], before;

  PetscFunctionBeginUser;
  PetscCall(VectorCreate(level, &b));
  PetscCall(VectorCreate(level, &r));
  for (int i = 0; i < 2; i++) PetscCall(VectorCreate(level, &x[i]));
  Fill(level, 1, b);
  Fill(level, 2, x[0]);
  PetscCall(Apply(level, x[0], b, r));
  before = LargestOn(level, cell, r);
  PetscCall(level->ops->sweep(&level->view, VpSmootherPatches(smoother), mode, p, p + 1, 0, b, (void *const *)x));
  PetscCall(TakePatch(level, cell, x));
  PetscCall(Apply(level, x[0], b, r));
  *reduction = LargestOn(level, cell, r) / before;
  PetscCall(VectorDestroy(level, &b));
  PetscCall(VectorDestroy(level, &r));
  for (int i = 0; i < 2; i++) PetscCall(VectorDestroy(level, &x[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *all: all patches say that they are replaceable. */
static PetscErrorCode SaysExact(VpSmoother smoother, VpLevel level, const VpPatches *patches, PetscBool *all)
{
  const uint8_t *replaceable = VpSmootherPatches(smoother)->replaceable;
  uint8_t       *host;

  PetscFunctionBeginUser;
  *all = (PetscBool)(replaceable != NULL);
  if (!replaceable) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(patches->n, &host));
  PetscCall(level->backend->download(replaceable, (size_t)patches->n, host));
  *all = (PetscBool)!memchr(host, 0, (size_t)patches->n);
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every pure patch, alone, makes the residual on its cells vanish */
static PetscErrorCode PatchSolves(void)
{
  static const Setting exact[] = {
    {"square", 2, 3, 3, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_UNIFORM, 0},
    {"stretched boxes", 2, 2, 2, {3, 2, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 7},
    {"Robin", 2, 3, 2, {3, 2, 1}, PETSC_FALSE, VP_SIDE_ROBIN, COEFFICIENT_ONE, 0},
    {"L-shape", 2, 5, 2, {2, 2, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
    {"torus", 2, 4, 2, {1, 1, 1}, PETSC_FALSE, 0, COEFFICIENT_UNIFORM, 3},
    {"cube", 3, 2, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 1},
    {"separable square", 2, 3, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_SEPARABLE, 0},
    {"separable cube", 3, 3, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_SEPARABLE, 0},
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(exact); i++) {
    const Setting  *s = &exact[i];
    const PetscBool separable = (PetscBool)(s->coefficient == COEFFICIENT_SEPARABLE);
    World           w;
    VpLevel         level;
    VpSmoother      smoother;
    VpPatches       patches;
    PetscBool       says = PETSC_FALSE;
    double          reduction = 0, worst[2] = {0, 0};

    PetscCall(WorldCreate(PETSC_COMM_SELF, s, &w));
    PetscCall(VpLevelCreate(w.mesh, &w.problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &level));
    PetscCall(VpSmootherCreate(level, VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_SWEEP, 0, &smoother));
    PetscCall(VpPatchesCreate(w.mesh, w.mesh->geometry->lattice->thinnest, &patches));
    for (int32_t p = 0; p < patches.n; p++) {
      const int32_t *cell = patches.cell + (p << s->dim);

      if (patches.mixed[p]) continue;
      for (int mode = 0; mode < 2; mode++) {
        PetscCall(PatchReduction(smoother, level, mode ? VP_MODE_REPLACE : VP_MODE_CORRECT, cell, p, &reduction));
        worst[mode] = PetscMax(worst[mode], reduction);
      }
    }
    TapOk((PetscBool)(worst[0] < 1e-12), "patch_solve_inverts_patch: %s (%.1e)", s->name, worst[0]);
    TapOk((PetscBool)(worst[1] < 1e-12), "replacement_inverts_patch: %s (%.1e)", s->name, worst[1]);
    PetscCall(SaysExact(smoother, level, &patches, &says));
    TapOk((PetscBool)(says == separable), "separable_coefficient_patches_say_that_they_are_exact: %s", s->name);
    PetscCall(VpPatchesDestroy(&patches));
    PetscCall(VpSmootherDestroy(&smoother));
    PetscCall(VpLevelDestroy(&level));
    PetscCall(WorldDestroy(&w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  VpSpace    space;
  VpResidual residual;
  VpExchange exchange;
  PetscInt   corners;
  PetscBool  zero, reverse, corrects;
  enum { BY_COLOR, AT_ONCE, RUNS_AT_ONCE } how;
} Flavour;

static const VpOps *plain;  /* the kernels of the backend */
static int          ntaken; /* how often steps were taken at once */

/* VpOps.sweep_all, which settles values after every colour */
static PetscErrorCode TakeSteps(const VpView *view, const VpStep *all, VpGhosts ghosts, const void *b, void *const x[2], PetscBool *did)
{
  PetscFunctionBeginUser;
  PetscCall(VpArrive(ghosts));
  for (const VpStep *step = all + 1; step <= all + all->n; step++) {
    const int32_t count = step < all + all->n ? view->nsweep : all->count;

    if (step->kind != VP_STEP_SWEEP) continue;
    for (int i = 0; i < step->n; i++) {
      const VpBatch *batch = &step->batch[i];

      PetscCall(plain->sweep(view, step->patches, batch->mode, batch->first, batch->last, 0, b, x));
    }
    PetscCall(plain->settle(step->patches, count, 1u << step->color, x));
  }
  *did = PETSC_TRUE;
  ntaken++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same, but for whole sweeps with repeats at corners */
static PetscErrorCode TakeRuns(const VpView *view, const VpStep *all, VpGhosts ghosts, const void *b, void *const x[2], PetscBool *did)
{
  PetscBool whole = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (int i = 1; i <= all->n; i++) whole = (PetscBool)(whole || all[i].kind == VP_STEP_AT_ONCE);
  *did = PETSC_FALSE;
  if (!whole) PetscCall(TakeSteps(view, all, ghosts, b, x, did));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x [own cells, orthonormal basis] after two sweeps from a random vector, or zero */
static PetscErrorCode Sweeps(MPI_Comm comm, const Setting *s, const Flavour *f, World *w, double **result)
{
  VpLevel    level;
  VpSmoother smoother;
  VpVector   b, x;
  VpOps      ops;
  void      *values;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(comm, s, w));
  PetscCall(VpLevelCreate(w->mesh, &w->problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &level));
  plain = level->ops;
  ops = *plain;
  ops.sweep_all = f->how == AT_ONCE ? TakeSteps : TakeRuns;
  if (f->how) level->ops = &ops;
  PetscCall(VpSmootherCreate(level, f->space, f->residual, f->exchange, f->corners, &smoother));
  if (f->corrects) PetscCall(AlwaysCorrect(smoother));
  PetscCall(VpVectorCreate(level, 1, "test", &b));
  PetscCall(VpVectorCreate(level, 2, "test", &x));
  PetscCall(VpVectorWrite(b, VP_GHOST_NONE, &values));
  Fill(level, 1, (double *)values);
  if (!f->zero) {
    PetscCall(VpVectorWrite(x, VP_GHOST_NONE, &values));
    Fill(level, 2, (double *)values);
  }
  for (int i = 0; i < 2; i++) PetscCall(VpSmootherSweep(smoother, f->reverse, b, x));
  PetscCall(VectorCreate(w->outer, result));
  PetscCall(VpVectorLeave(x, PETSC_FALSE, 1, *result));
  PetscCall(VpVectorDestroy(&b));
  PetscCall(VpVectorDestroy(&x));
  PetscCall(VpSmootherDestroy(&smoother));
  PetscCall(VpLevelDestroy(&level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* do two flavours of sweep, the second one maybe on one rank, give the same? */
static PetscErrorCode Compare(const Setting *s, const Flavour *f, const Flavour *g, MPI_Comm comm, PetscBool *same)
{
  World   wf, wg;
  double *xf, *xg, scale;

  PetscFunctionBeginUser;
  PetscCall(Sweeps(PETSC_COMM_WORLD, s, f, &wf, &xf));
  PetscCall(Sweeps(comm, s, g, &wg, &xg));
  scale = sqrt(Dot(wf.outer, xf, xf));
  *same = (PetscBool)(Distance(wf.outer, xf, xg + (wf.mesh->first - wg.mesh->first) * wf.ndof) < 1e-11 * scale);
  PetscCall(VectorDestroy(wf.outer, &xf));
  PetscCall(VectorDestroy(wg.outer, &xg));
  PetscCall(WorldDestroy(&wf));
  PetscCall(WorldDestroy(&wg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepModes(const Setting *s)
{
  const PetscBool clamped = (PetscBool)(s->degree >= 3);
  PetscBool       same;

  PetscFunctionBeginUser;
  for (int reverse = 0; reverse < 2; reverse++) {
    Flavour f = {VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_COLOR, 2, PETSC_FALSE, (PetscBool)reverse, PETSC_FALSE, BY_COLOR}, g = f;

    PetscCall(Compare(s, &f, &g, PETSC_COMM_SELF, &same));
    TapOk(same, "color_exchange_equals_serial_sweep: %s", s->name);
    g.corrects = PETSC_TRUE;
    f.exchange = g.exchange = VP_EXCHANGE_SWEEP;
    PetscCall(Compare(s, &f, &g, PETSC_COMM_WORLD, &same));
    TapOk(same, "replacement_equals_correction: %s", s->name);
    for (g.how = AT_ONCE; g.how <= RUNS_AT_ONCE; g.how++) {
      ntaken = 0;
      PetscCall(Compare(s, &f, &g, PETSC_COMM_WORLD, &same));
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &ntaken, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
      TapOk((PetscBool)(same && ntaken == (s->lshape && g.how == RUNS_AT_ONCE ? 4 : 2)),
            "sweep_at_once_equals_sweep_by_color: %s, %d launches", s->name, ntaken);
    }
    g.how = BY_COLOR;
    f.zero = g.zero = PETSC_TRUE;
    PetscCall(Compare(s, &f, &g, PETSC_COMM_WORLD, &same));
    TapOk(same, "replacement_equals_correction: %s, from zero", s->name);
    for (int space = VP_SPACE_FULL; space <= (clamped ? VP_SPACE_CLAMPED : VP_SPACE_DIRICHLET); space++) {
      f.space = (VpSpace)space;
      g = f;
      g.residual = VP_RESIDUAL_GLOBAL;
      PetscCall(Compare(s, &f, &g, PETSC_COMM_WORLD, &same));
      TapOk(same, "global_residual_equals_exact: %s, space %d", s->name, space);
    }
    f.space = g.space = VP_SPACE_CLAMPED;
    f.zero = g.zero = PETSC_FALSE;
    g.residual = VP_RESIDUAL_LOCAL;
    if (clamped) PetscCall(Compare(s, &f, &g, PETSC_COMM_WORLD, &same));
    if (clamped) TapOk(same, "local_residual_of_clamped_equals_exact: %s", s->name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* is the cell with coordinates c within two layers of the mesh's own cells? one box */
static PetscBool Near(VpMesh mesh, const int32_t c[])
{
  const int n = 1 << mesh->level;

  for (int32_t own = 0; own < mesh->nown; own++) {
    int far = 0;

    for (int d = 0; d < mesh->dim; d++) {
      const int distance = abs(c[d] - mesh->geometry->coord[3 * own + d]);
      far = PetscMax(far, mesh->geometry->domain->periodic[d] ? PetscMin(distance, n - distance) : distance);
    }
    if (far <= 2) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* x = one sweep over the patches of a serial mesh whose cells are near own cells of another one, a patch at a time */
static PetscErrorCode SweepNear(VpSmoother smoother, VpLevel level, VpMesh mesh, const double b[], double *const x[2])
{
  const int nc = 1 << level->view.dim;
  VpPatches patches;

  PetscFunctionBeginUser;
  PetscCall(VpPatchesCreate(level->mesh, level->mesh->geometry->lattice->thinnest, &patches));
  for (int color = patches.ncolor - 1; color >= 0; color--) {
    for (int32_t p = patches.start[color]; p < patches.start[color + 1]; p++) {
      PetscBool near = PETSC_TRUE;

      for (int i = 0; i < nc; i++) near = (PetscBool)(near && Near(mesh, level->mesh->geometry->coord + 3 * patches.cell[p * nc + i]));
      if (!near) patches.cell[p * nc] = -1;
      else PetscCall(level->ops->sweep(&level->view, VpSmootherPatches(smoother), VP_MODE_CORRECT, p, p + 1, 0, b, (void *const *)x));
    }
    for (int32_t p = patches.start[color]; p < patches.start[color + 1]; p++) {
      if (patches.cell[p * nc] >= 0) PetscCall(TakePatch(level, patches.cell + p * nc, x));
    }
  }
  PetscCall(VpPatchesDestroy(&patches));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what a rank makes of its own cells with one exchange per sweep; of all cells where the communicator is serial */
static PetscErrorCode TwoLayers(MPI_Comm comm, const Setting *s)
{
  World      w[2];
  VpLevel    level[2];
  VpSmoother smoother[2];
  VpVector   b[2], x[2];
  void      *values[2][2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(WorldCreate(i ? PETSC_COMM_SELF : comm, s, &w[i]));
    PetscCall(VpLevelCreate(w[i].mesh, &w[i].problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &level[i]));
    PetscCall(VpSmootherCreate(level[i], VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_SWEEP, 0, &smoother[i]));
    PetscCall(VpVectorCreate(level[i], 1, "test", &b[i]));
    PetscCall(VpVectorCreate(level[i], 2, "test", &x[i]));
    PetscCall(VpVectorWrite(b[i], VP_GHOST_NONE, &values[i][0]));
    PetscCall(VpVectorWrite(x[i], VP_GHOST_NONE, &values[i][1]));
    Fill(level[i], 1, (double *)values[i][0]);
    Fill(level[i], 2, (double *)values[i][1]);
  }
  PetscCall(VpSmootherSweep(smoother[0], PETSC_FALSE, b[0], x[0]));
  PetscCall(SweepNear(smoother[1], level[1], w[0].mesh, (double *)values[1][0], (double *const *)x[1]->buffer));
  TapOk((PetscBool)(Distance(level[0], (double *)values[0][1], (double *)values[1][1] + w[0].mesh->first * w[0].ndof) < 1e-11),
        "sweep_is_the_serial_one_of_two_layers: %s", s->name);
  for (int i = 0; i < 2; i++) {
    PetscCall(VpVectorDestroy(&b[i]));
    PetscCall(VpVectorDestroy(&x[i]));
    PetscCall(VpSmootherDestroy(&smoother[i]));
    PetscCall(VpLevelDestroy(&level[i]));
    PetscCall(WorldDestroy(&w[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(void)
{
  const Setting  s = {"square", 2, 2, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0};
  World          w;
  VpLevel        level;
  VpSmoother     smoother;
  PetscErrorCode full, clamped;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, &s, &w));
  PetscCall(VpLevelCreate(w.mesh, &w.problem, VP_BASIS_THIN, VP_SINGLE, TestBackend(), &level));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  full = VpSmootherCreate(level, VP_SPACE_FULL, VP_RESIDUAL_LOCAL, VP_EXCHANGE_SWEEP, 0, &smoother);
  clamped = VpSmootherCreate(level, VP_SPACE_CLAMPED, VP_RESIDUAL_EXACT, VP_EXCHANGE_SWEEP, 0, &smoother);
  PetscCall(PetscPopErrorHandler());
  TapOk((PetscBool)(full == PETSC_ERR_ARG_INCOMP), "full_space_refuses_the_local_residual");
  TapOk((PetscBool)(clamped == PETSC_ERR_ARG_INCOMP), "clamped_space_refuses_degree_2");
  PetscCall(VpLevelDestroy(&level));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* around which vertices of even and odd numbers do not alternate: 9 and 27 colours */
static const Setting odd_tori[] = {{"odd torus", 2, 3, 0, {3, 3, 1}, PETSC_FALSE, 0, COEFFICIENT_ONE, 0},
                                   {"odd torus in 3D", 3, 1, 0, {3, 3, 3}, PETSC_FALSE, 0, COEFFICIENT_UNIFORM, 0}};

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(PatchSolves());
  FOR_SETTINGS (s) PetscCall(SweepModes(s));
  FOR_SETTINGS (s)
    if (s->grid[0] == 1 && s->level > 1) PetscCall(TwoLayers(PETSC_COMM_WORLD, s));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(odd_tori); i++) {
    PetscCall(SweepModes(&odd_tori[i]));
    PetscCall(TwoLayers(PETSC_COMM_SELF, &odd_tori[i]));
  }
  PetscCall(Errors());
  PetscFunctionReturn(PETSC_SUCCESS);
}
