/* The coloured multiplicative vertex-patch smoother of a level. */
#include "internal.h"

/* patches [first, last) of one colour that get their residual the same way */
typedef struct {
  int32_t first, last;
  VpForm  form;
} Batch;

struct VpSmoother_ {
  VpLevel        level;
  VpPatchView    patches;
  VpArrays       arrays; /* of the view */
  VpExchange     exchange;
  int            ncolor, start[9];   /* the batches of colour c are [start[c], start[c+1]) */
  int32_t        color[9], inner[8]; /* patches of colour c are [color[c], color[c+1]), those before inner[c] touch no ghost */
  PetscBool      closes;             /* ghosts are fetched again before the last colour */
  Batch         *batch;
  void          *r; /* residual `global`: b - A x */
  PetscLogDouble flops;
};

static VpForm ChooseForm(VpLevel level, VpSpace space, VpResidual residual, PetscBool mixed)
{
  if (residual == VP_RESIDUAL_GLOBAL) return VP_FORM_GIVEN;
  if (residual == VP_RESIDUAL_LOCAL && !mixed) return VP_FORM_LOCAL;
  return space == VP_SPACE_FULL && level->uniform > 0 && !mixed ? VP_FORM_REPLACE : VP_FORM_EXACT;
}

static PetscErrorCode CreateBatches(VpSmoother smoother, const VpPatches *patches, VpSpace space, VpResidual residual)
{
  int n = 0;

  PetscFunctionBegin;
  smoother->ncolor = 1 << patches->dim;
  PetscCall(PetscArraycpy(smoother->color, patches->start, smoother->ncolor + 1));
  PetscCall(PetscArraycpy(smoother->inner, patches->inner, smoother->ncolor));
  for (int pass = 0; pass < 2; pass++) {
    if (pass) PetscCall(PetscMalloc1(n, &smoother->batch));
    n = 0;
    for (int c = 0; c < smoother->ncolor; c++) {
      smoother->start[c] = n;
      for (int32_t first = patches->start[c], last = first; first < patches->start[c + 1]; first = last) {
        const PetscBool mixed = (PetscBool)patches->mixed[first];

        while (last < patches->start[c + 1] && patches->mixed[last] == patches->mixed[first]) last++;
        if (pass) smoother->batch[n] = (Batch){first, last, ChooseForm(smoother->level, space, residual, mixed)};
        n++;
      }
    }
    smoother->start[smoother->ncolor] = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A patch with its forward and backward transforms, and what its residual takes: A x on its cells and faces, or the halo of its sides. */
static PetscLogDouble PatchFlops(const VpView *view, VpForm form)
{
  const int    dim = view->dim, n = view->n, m = 2 * n;
  const double cells = 1 << dim, all = cells * pow(n, dim), side = all / m, solve = 4. * dim * m * all + (dim + 1) * all;

  switch (form) {
  case VP_FORM_REPLACE:
    return solve + 2 * dim * (4. * view->nt * side + 4. * (dim - 1) * m * side + 4 * all);
  case VP_FORM_GIVEN:
    return solve + all;
  default:
    return solve + all * (2. * dim * n + 8. * dim * (1 + (double)view->nt / n) + 2);
  }
}

static void CountFlops(VpSmoother smoother)
{
  const VpView *view = &smoother->level->view;

  smoother->flops = 0;
  for (int i = 0; i < smoother->start[smoother->ncolor]; i++) {
    const Batch *batch = &smoother->batch[i];
    smoother->flops += (double)(batch->last - batch->first) * PatchFlops(view, batch->form);
  }
  if (smoother->r && view->nown) smoother->flops += smoother->ncolor * VpLevelApplyFlops(smoother->level) * view->nsweep / view->nown;
}

PetscErrorCode VpSmootherCreate(VpLevel level, VpSpace space, VpResidual residual, VpExchange exchange, VpSmoother *out)
{
  MPI_Comm   comm = level->mesh->comm;
  VpPatches  patches;
  VpSmoother smoother;

  PetscFunctionBegin;
  PetscCheck(space != VP_SPACE_FULL || residual != VP_RESIDUAL_LOCAL, comm, PETSC_ERR_ARG_INCOMP,
             "Patch space full needs the residual exact or global: the local one drops the faces towards other cells, which these "
             "functions see. Space dirichlet or clamped can take local");
  PetscCheck(space != VP_SPACE_CLAMPED || level->problem.degree >= 3, comm, PETSC_ERR_ARG_INCOMP,
             "Patch space clamped needs degree 3 or more, this is %d: the patch spaces of lower degrees do not span the space, so nothing "
             "converges. Space full or dirichlet can be taken",
             level->problem.degree);
  PetscCall(PetscNew(&smoother));
  *out = smoother;
  PetscCall(VpLevelReference(level));
  smoother->level = level;
  smoother->exchange = exchange;
  PetscCall(VpPatchesCreate(level->mesh, &patches));
  PetscCall(CreateBatches(smoother, &patches, space, residual));
  smoother->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
  PetscCall(VpLevelPlacePatches(level, &patches, space, &smoother->arrays, &smoother->patches));
  PetscCall(VpPatchesDestroy(&patches));
  if (residual == VP_RESIDUAL_LOCAL) PetscCall(VpTogether(comm, VpLevelPlaceDrops(level, &smoother->arrays, &smoother->patches.drop)));
  if (residual == VP_RESIDUAL_GLOBAL) PetscCall(VpLevelVectorCreate(level, "smoother's residual", &smoother->r));
  CountFlops(smoother);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With few cells a rank, much of what a rank sweeps is ghosts: there an exchange after every colour saves work and iterations. */
PetscErrorCode VpChooseExchange(VpLevel level, VpExchange asked, VpExchange *exchange)
{
  const PetscInt few = 4096, ranks = VpMeshRanks(level->mesh);

  PetscFunctionBegin;
  *exchange = asked;
  if (asked == VP_EXCHANGE_AUTO) *exchange = ranks > 1 && level->mesh->ncell < few * ranks ? VP_EXCHANGE_COLOR : VP_EXCHANGE_SWEEP;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherClose(VpSmoother smoother)
{
  const VpLevel   level = smoother->level;
  const PetscBool differ = (PetscBool)(smoother->exchange == VP_EXCHANGE_SWEEP && VpMeshRanks(level->mesh) > 1);

  PetscFunctionBegin;
  smoother->closes = (PetscBool)(differ && level->precision == VP_SINGLE && !smoother->r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherUseResidualForm(VpSmoother smoother)
{
  PetscFunctionBegin;
  for (int i = 0; i < smoother->start[smoother->ncolor]; i++) {
    if (smoother->batch[i].form == VP_FORM_REPLACE) smoother->batch[i].form = VP_FORM_EXACT;
  }
  CountFlops(smoother);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherDestroy(VpSmoother *out)
{
  VpSmoother smoother = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!smoother) PetscFunctionReturn(PETSC_SUCCESS);
  if (smoother->r) PetscCall(smoother->level->backend->release(smoother->r));
  if (smoother->level->backend->release_plans) PetscCall(smoother->level->backend->release_plans(&smoother->patches.device));
  PetscCall(VpArraysRelease(&smoother->arrays));
  PetscCall(PetscFree(smoother->batch));
  PetscCall(VpLevelDestroy(&smoother->level));
  PetscCall(PetscFree(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = b - A x wherever patches are; the current values go to x[0] */
static PetscErrorCode GlobalResidual(VpSmoother smoother, unsigned *done, const void *b, void *const x[2])
{
  VpLevel       level = smoother->level;
  const VpView *view = &level->view;

  PetscFunctionBegin;
  PetscCall(level->ops->settle(&smoother->patches, view->nsweep, *done, x));
  *done = 0;
  PetscCall(level->ops->apply(view, 0, view->nsweep, x[0], VpGhostsAt((char *)x[0] + view->nown * level->block), b, smoother->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the colour's patches in [first, last) */
static PetscErrorCode SweepColor(VpSmoother smoother, int color, int32_t first, int32_t last, PetscBool zero, unsigned done, const void *b,
                                 void *const x[2])
{
  VpLevel level = smoother->level;

  PetscFunctionBegin;
  for (int i = smoother->start[color]; i < smoother->start[color + 1]; i++) {
    const Batch  *batch = &smoother->batch[i];
    const VpForm  form = zero && batch->form != VP_FORM_REPLACE ? VP_FORM_GIVEN : batch->form; /* x = 0: b is the residual */
    const int32_t from = PetscMax(first, batch->first), to = PetscMin(last, batch->last);

    if (from < to) PetscCall(level->ops->sweep(&level->view, &smoother->patches, form, from, to, done, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the ghosts of x[0] for both buffers */
static PetscErrorCode CopyGhosts(VpLevel level, void *const x[2])
{
  const size_t at = level->mesh->nown * level->block, bytes = (level->mesh->nsweep - level->mesh->nown) * level->block;

  PetscFunctionBegin;
  PetscCall(level->backend->copy((char *)x[0] + at, bytes, (char *)x[1] + at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int ColorAt(VpSmoother smoother, PetscBool reverse, int i)
{
  return reverse ? i : smoother->ncolor - 1 - i;
}

/* all colours at once, where nothing is exchanged between them and the backend does it; *done = 0 where not */
static PetscErrorCode SweepAll(VpSmoother smoother, PetscBool reverse, VpGhosts under_way, const void *b, void *const x[2], unsigned *done)
{
  VpLevel   level = smoother->level;
  const int ncolor = smoother->ncolor;
  PetscBool can = (PetscBool)(level->ops->sweep_all && smoother->exchange != VP_EXCHANGE_COLOR && !smoother->closes);
  PetscBool did;
  int       order[8];

  PetscFunctionBegin;
  *done = 0;
  for (int i = 0; i < smoother->start[ncolor]; i++) can = (PetscBool)(can && smoother->batch[i].form == VP_FORM_REPLACE);
  if (!can || !smoother->start[ncolor]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < ncolor; i++) order[i] = ColorAt(smoother, reverse, i);
  PetscCall(level->ops->sweep_all(&level->view, &smoother->patches, ncolor, order, smoother->color, under_way, b, x, &did));
  if (did) *done = (1u << ncolor) - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepColors(VpSmoother smoother, PetscBool zero, PetscBool reverse, VpGhosts under_way, const void *b,
                                  void *const x[2], unsigned *done)
{
  VpLevel   level = smoother->level;
  const int last = smoother->ncolor - 1;

  PetscFunctionBegin;
  for (int i = 0; i <= last; i++) {
    const int       color = ColorAt(smoother, reverse, i);
    const PetscBool start = (PetscBool)(zero && i == 0), global = (PetscBool)(smoother->r && !start);
    const PetscBool close = (PetscBool)(smoother->closes && i == last), waits = (PetscBool)(close || (i == 0 && under_way.arrive));
    const int32_t   inner = waits && !global ? smoother->inner[color] : 0;

    if (close) PetscCall(VpGhostExchangeBeginCurrent(&level->exchange, &smoother->patches, *done, x, &under_way));
    if (inner) PetscCall(SweepColor(smoother, color, 0, inner, start, *done, b, x));
    if (waits) PetscCall(VpArrive(under_way));
    if (close) PetscCall(CopyGhosts(level, x));
    if (global) PetscCall(GlobalResidual(smoother, done, b, x));
    PetscCall(SweepColor(smoother, color, inner, INT32_MAX, start, *done, global ? smoother->r : b, x));
    *done |= 1u << color;
    if (smoother->exchange == VP_EXCHANGE_COLOR && i < last) {
      PetscCall(level->ops->settle(&smoother->patches, level->view.nown, *done, x));
      PetscCall(VpLevelExchange(level, VP_GHOST_ALL, x[0]));
      *done = 0;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherSweep(VpSmoother smoother, PetscBool zero, PetscBool reverse, VpGhosts under_way, void *b, void *const x[2])
{
  VpLevel  level = smoother->level;
  unsigned done;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_SWEEP, 0, 0, 0, 0));
  PetscCall(SweepAll(smoother, reverse, under_way, b, x, &done));
  if (!done) PetscCall(SweepColors(smoother, zero, reverse, under_way, b, x, &done));
  PetscCall(level->ops->settle(&smoother->patches, level->view.nown, done, x));
  PetscCall(VpLogFlops(level, smoother->flops));
  PetscCall(PetscLogEventEnd(VP_EVENT_SWEEP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble VpSmootherFlops(VpSmoother smoother)
{
  return smoother->flops;
}

const VpPatchView *VpSmootherPatches(VpSmoother smoother)
{
  return &smoother->patches;
}
