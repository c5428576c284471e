/* The programs of a smoother: the steps of its sweeps, forward and reverse. All decisions on the order of a sweep are made here.

   A sweep over all patches and two over those near corners, which have the colours 7 and 3:

     READ, AT_ONCE {AT_ONCE {SWEEP 7, SWEEP 6, ..., SWEEP 0}, SETTLE, AT_ONCE {SWEEP 7, SWEEP 3, SETTLE, SWEEP 7, SWEEP 3}}, SETTLE     */
#include "smootherimpl.h"

/* A program that is being written, in two passes. The first one counts steps, without memory for them. */
typedef struct {
  VpSmoother         smoother;
  PetscBool          reverse;
  int                n;
  VpStep            *step;
  const VpPatchView *view; /* view of the last VP_STEP_SWEEP */
  unsigned           done; /* bits of its colours since values were settled */
} Writer;

static int AddStep(Writer *w, VpStep step)
{
  if (w->step) w->step[w->n] = step;
  return w->n++;
}

static void AddSettle(Writer *w, int32_t count)
{
  AddStep(w, (VpStep){.kind = VP_STEP_SETTLE, .patches = w->view, .count = count});
  w->done = 0;
}

/* Settles all cells that this rank has swept, ghosts included. */
static void SettleSwept(Writer *w)
{
  if (w->done) AddSettle(w, w->smoother->level->view.nsweep);
}

/* Settles own cells and fetches ghosts from their owners. */
static void AddGhosts(Writer *w)
{
  AddSettle(w, w->smoother->level->view.nown);
  AddStep(w, (VpStep){.kind = VP_STEP_GHOSTS});
}

/* Adds a colour's sweep. A colour's bit can move values between the buffers only once, and bits of two covers do not mix, so values are
   settled first if the bit was used or the cover changes. */
static void AddSweep(Writer *w, const VpStep *color)
{
  const PetscBool global = (PetscBool)(w->smoother->r != NULL);

  if (global || color->patches != w->view || w->done >> color->color & 1) SettleSwept(w);
  if (global) AddStep(w, (VpStep){.kind = VP_STEP_RESIDUAL});
  AddStep(w, *color);
  w->view = color->patches;
  w->done |= 1u << color->color;
}

static int SkippedOf(VpSmoother smoother, const Subset *subset)
{
  return subset == &smoother->subset[SUBSET_ALL] ? smoother->skipped : 0;
}

/* Adds the sweeps of a subset's colours. Ranks without patches of a colour take part in the messages between colours. */
static void AddColors(Writer *w, const Subset *subset)
{
  const int skipped = SkippedOf(w->smoother, subset), last = w->smoother->ncolor - 1 - skipped;

  for (int i = 0; i <= last; i++) {
    const VpStep *color = &subset->color[skipped + (w->reverse ? i : last - i)];

    if (i == last && subset->renews) AddStep(w, (VpStep){.kind = VP_STEP_RENEW, .patches = w->view});
    if (color->n) AddSweep(w, color);
    if (i < last && subset->syncs) AddGhosts(w);
  }
}

/* whether the backend may sweep a subset in one launch */
static PetscBool MayBeAtOnce(VpSmoother smoother, const Subset *subset)
{
  return (PetscBool)(smoother->level->ops->sweep_all && !smoother->r && !subset->syncs && !subset->renews);
}

/* Reserves a place for the VP_STEP_AT_ONCE of the steps that follow. Returns the place, or -1. */
static int BeginAtOnce(Writer *w, PetscBool may)
{
  return may ? w->n++ : -1;
}

/* Writes the VP_STEP_AT_ONCE, after which cells [0, count) are settled. Without steps behind it the place is given back. */
static void EndAtOnce(Writer *w, int at, int32_t count)
{
  const VpStep *first = w->step ? &w->step[at + 1] : NULL;

  if (at < 0) return;
  if (w->n == at + 1) w->n = at;
  else if (w->step)
    w->step[at] = (VpStep){.kind = VP_STEP_AT_ONCE, .patches = first->patches, .color = first->color, .n = w->n - at - 1, .count = count};
}

static void AddRun(Writer *w, const Subset *subset, PetscInt times, int32_t count)
{
  const int at = BeginAtOnce(w, MayBeAtOnce(w->smoother, subset));

  for (PetscInt i = 0; i < times; i++) AddColors(w, subset);
  EndAtOnce(w, at, count);
}

/* Adds a sweep over a subset, then (reverse: first) the repeats near corners, as one run, or as one run each if ghosts are fetched between
   them. */
static void AddRuns(Writer *w, const Subset *subset)
{
  const VpSmoother smoother = w->smoother;
  const VpView    *view = &smoother->level->view;
  const Subset    *corners = &smoother->subset[SUBSET_CORNERS];
  const PetscBool  current = smoother->current;
  const PetscInt   repeats = smoother->repeats, runs = current ? repeats : PetscMin(repeats, 1);
  const PetscBool  may = (PetscBool)(runs && !current && MayBeAtOnce(smoother, subset) && MayBeAtOnce(smoother, corners));
  const int        at = BeginAtOnce(w, may);

  for (PetscInt i = 0; i <= runs; i++) {
    const PetscBool repeat = (PetscBool)(i != (w->reverse ? runs : 0));

    if (i && current) AddGhosts(w);
    SettleSwept(w);
    AddRun(w, repeat ? corners : subset, repeat && !current ? repeats : 1, i < runs ? view->nsweep : view->nown);
  }
  EndAtOnce(w, at, view->nown);
}

static void AddCells(Writer *w)
{
  for (PetscInt i = 0; i < w->smoother->cell_sweeps; i++) {
    const int last = VpCellSweepColors(w->smoother->cells) - 1;

    for (int c = 0; c <= last; c++) AddStep(w, (VpStep){.kind = VP_STEP_CELLS, .color = w->reverse ? last - c : c});
  }
}

static void WriteProgram(Writer *w, int subset)
{
  w->n = 0;
  w->view = w->smoother->subset[SUBSET_ALL].view;
  if (w->reverse && subset == SUBSET_ALL) AddCells(w);
  AddStep(w, (VpStep){.kind = VP_STEP_READ});
  AddRuns(w, &w->smoother->subset[subset]);
  AddSettle(w, w->smoother->level->view.nown);
  if (!w->reverse && subset == SUBSET_ALL) AddCells(w);
}

/* flops of one patch: both transforms, and the residual, which needs A x or the neighbours' traces */
static PetscLogDouble PatchFlops(const VpView *view, VpResidualMode mode)
{
  const int    dim = view->dim, n = view->n, m = 2 * n;
  const double cells = 1 << dim, all = cells * pow(n, dim), side = all / m, solve = 4. * dim * m * all + (dim + 1) * all;

  switch (mode) {
  case VP_MODE_REPLACE:
    return solve + 2 * dim * (4. * view->nt * side + 4. * (dim - 1) * m * side + 4 * all);
  case VP_MODE_GIVEN:
    return solve + all;
  default:
    return solve + all * (2. * dim * n + 8. * dim * (1 + (double)view->nt / n) + 2);
  }
}

/* flops of a sweep over a subset. The residual `global` is computed on all cells, once per colour. */
static PetscLogDouble SubsetFlops(VpSmoother smoother, const Subset *subset)
{
  const VpView  *view = &smoother->level->view;
  const int      skipped = SkippedOf(smoother, subset);
  PetscLogDouble flops = smoother->r || skipped
                           ? 0
                           : subset->nreplaceable * (PatchFlops(view, VpPatchMode(VP_MODE_CORRECT, 1)) - PatchFlops(view, VP_MODE_CORRECT));

  for (const VpStep *color = subset->color + skipped; color < subset->color + smoother->ncolor; color++) {
    for (int i = 0; i < color->n; i++) flops += (color->batch[i].last - color->batch[i].first) * PatchFlops(view, color->batch[i].mode);
  }
  if (smoother->r && view->nown) flops += (smoother->ncolor - skipped) * VpLevelApplyFlops(smoother->level) * view->nsweep / view->nown;
  return flops;
}

PetscErrorCode VpSmootherWritePrograms(VpSmoother smoother)
{
  const PetscLogDouble corners = SubsetFlops(smoother, &smoother->subset[SUBSET_CORNERS]);

  PetscFunctionBegin;
  for (int i = 0; i < (smoother->subset[SUBSET_ENDS].count ? 4 : 2); i++) {
    const int subset = i < 2 ? SUBSET_ALL : SUBSET_ENDS;
    Program  *program = &smoother->program[subset][i % 2];
    Writer    w = {.smoother = smoother, .reverse = (PetscBool)(i % 2)};

    WriteProgram(&w, subset);
    PetscCall(PetscFree(program->step));
    PetscCall(PetscMalloc1(w.n, &program->step));
    w.step = program->step;
    WriteProgram(&w, subset);
    program->n = w.n;
    program->flops = SubsetFlops(smoother, &smoother->subset[subset]) + (double)smoother->repeats * corners;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
