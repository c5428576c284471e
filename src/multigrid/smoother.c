/* The coloured multiplicative vertex-patch smoother of a level. */
#include "internal.h"

#define THIN 0.49 /* cells with a smaller quotient of two sizes are thin */

/* patches [first, last) of one colour that get their residual the same way */
typedef struct {
  int32_t first, last;
  VpForm  form;
} Batch;

/* patches that are swept together */
typedef struct {
  VpPatchView view;
  int         start[9];           /* the batches of colour c are [start[c], start[c+1]) */
  int32_t     color[9], inner[8]; /* patches of colour c are [color[c], color[c+1]), those before inner[c] touch no ghost */
  Batch      *batch;
} Part;

struct VpSmoother_ {
  VpLevel        level;
  VpArrays       arrays; /* of the views */
  int            ncolor;
  Part           all, corners;
  PetscInt       repeats, ncorner; /* sweeps over the corners' patches after one over all; these patches on all ranks */
  VpExchange     exchange;
  PetscBool      exact;  /* ghosts are current after every colour of the repeats, too: as if there were one rank */
  PetscBool      renews; /* ghosts are fetched again before the last colour */
  VpVector       r;      /* residual `global`: b - A x wherever patches are */
  PetscLogDouble flops;
  int            kind, kinds, place[3]; /* seams and place of its patches (VpPatches); all seams there are on the mesh */
  VpSmoother     seams;                 /* of the patches at the next kind of seams, or NULL */
};

static VpForm ChooseForm(VpLevel level, VpSpace space, VpResidual residual, PetscBool mixed)
{
  if (residual == VP_RESIDUAL_GLOBAL) return VP_FORM_GIVEN;
  if (residual == VP_RESIDUAL_LOCAL && !mixed) return VP_FORM_LOCAL;
  return space == VP_SPACE_FULL && level->uniform > 0 && !mixed ? VP_FORM_REPLACE : VP_FORM_EXACT;
}

static PetscErrorCode CreateBatches(VpLevel level, const VpPatches *patches, VpSpace space, VpResidual residual, Part *part)
{
  const int ncolor = 1 << patches->dim;
  int       n = 0;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(part->color, patches->start, ncolor + 1));
  PetscCall(PetscArraycpy(part->inner, patches->inner, ncolor));
  for (int pass = 0; pass < 2; pass++) {
    if (pass) PetscCall(PetscMalloc1(n, &part->batch));
    n = 0;
    for (int c = 0; c < ncolor; c++) {
      part->start[c] = n;
      for (int32_t first = patches->start[c], last = first; first < patches->start[c + 1]; first = last) {
        const PetscBool mixed = (PetscBool)patches->mixed[first];

        while (last < patches->start[c + 1] && patches->mixed[last] == patches->mixed[first]) last++;
        if (pass) part->batch[n] = (Batch){first, last, ChooseForm(level, space, residual, mixed)};
        n++;
      }
    }
    part->start[ncolor] = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The flops of one patch: both transforms, and its residual, which is A x or the neighbours' traces. */
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

/* of a sweep over a part; the residual `global` is that of all cells */
static PetscLogDouble PartFlops(VpSmoother smoother, const Part *part)
{
  const VpView  *view = &smoother->level->view;
  PetscLogDouble flops = 0;

  for (int i = 0; i < part->start[smoother->ncolor]; i++) {
    const Batch *batch = &part->batch[i];
    flops += (double)(batch->last - batch->first) * PatchFlops(view, batch->form);
  }
  if (smoother->r && view->nown) flops += smoother->ncolor * VpLevelApplyFlops(smoother->level) * view->nsweep / view->nown;
  return flops;
}

static void CountFlops(VpSmoother smoother)
{
  smoother->flops = PartFlops(smoother, &smoother->all);
  if (smoother->repeats) smoother->flops += (double)smoother->repeats * PartFlops(smoother, &smoother->corners);
}

/* the patches near corners, where some rank has any */
static PetscErrorCode CreateCorners(VpSmoother smoother, const VpPatches *patches, VpSpace space, VpResidual residual, PetscInt repeats)
{
  const VpLevel  level = smoother->level;
  Part          *part = &smoother->corners;
  VpPatches      corners;
  PetscErrorCode failed = PETSC_SUCCESS;

  PetscFunctionBegin;
  if (!repeats) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpPatchesSelectCorners(level->mesh, patches, &corners));
  for (int32_t p = 0; p < corners.n; p++) smoother->ncorner += corners.cell[(size_t)p << corners.dim] < level->mesh->nown;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &smoother->ncorner, 1, MPIU_INT, MPI_SUM, level->mesh->comm));
  if (smoother->ncorner) smoother->repeats = repeats;
  PetscCall(CreateBatches(level, &corners, space, residual, part));
  if (corners.n) failed = VpLevelSelectPatches(level, &smoother->all.view, patches->n, &corners, &smoother->arrays, &part->view);
  PetscCall(VpTogether(level->mesh->comm, failed));
  PetscCall(VpPatchesDestroy(&corners));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of the patches at one kind of seams, and then of the next */
static PetscErrorCode Create(VpLevel level, VpSpace space, VpResidual residual, VpExchange exchange, PetscInt corners, int seams,
                             VpSmoother *out)
{
  MPI_Comm       comm = level->mesh->comm;
  const int      kinds = VpMeshSeams(level->mesh);
  VpPatches      patches;
  VpSmoother     smoother;
  PetscErrorCode refused; /* patches that are not positive definite, or too ill conditioned */

  PetscFunctionBegin;
  PetscCall(PetscNew(&smoother));
  *out = smoother;
  smoother->level = VpLevelReference(level);
  smoother->ncolor = 1 << level->mesh->dim;
  smoother->exchange = VpChooseExchange(level, exchange);
  smoother->exact = (PetscBool)(exchange == VP_EXCHANGE_COLOR);
  smoother->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
  smoother->kind = seams;
  smoother->kinds = kinds;
  PetscCall(VpPatchesCreate(level->mesh, seams, &patches));
  PetscCall(PetscArraycpy(smoother->place, patches.place, 3));
  PetscCall(CreateBatches(level, &patches, space, residual, &smoother->all));
  refused = VpLevelPlacePatches(level, &patches, space, &smoother->arrays, &smoother->all.view);
  if (!refused && residual == VP_RESIDUAL_LOCAL)
    refused = VpTogether(comm, VpLevelPlaceDrops(level, &smoother->arrays, &smoother->all.view.drop));
  if (!refused && !kinds) refused = CreateCorners(smoother, &patches, space, residual, corners);
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(refused);
  if (residual == VP_RESIDUAL_GLOBAL) PetscCall(VpVectorCreate(level, 1, "smoother's residual", &smoother->r));
  CountFlops(smoother);
  do seams++;
  while (seams <= kinds && (seams & ~kinds));
  if (seams <= kinds) PetscCall(Create(level, space, residual, exchange, corners, seams, &smoother->seams));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherCreate(VpLevel level, VpSpace space, VpResidual residual, VpExchange exchange, PetscInt corners, VpSmoother *out)
{
  MPI_Comm comm = level->mesh->comm;

  PetscFunctionBegin;
  PetscCheck(space != VP_SPACE_FULL || residual != VP_RESIDUAL_LOCAL, comm, PETSC_ERR_ARG_INCOMP,
             "Patch space full needs the residual exact or global: the local one drops the faces towards other cells, which these "
             "functions see. Space dirichlet or clamped can take local");
  PetscCheck(space != VP_SPACE_CLAMPED || level->problem.degree >= 3, comm, PETSC_ERR_ARG_INCOMP,
             "Patch space clamped needs degree 3 or more, this is %d: the patch spaces of lower degrees do not span the space, so nothing "
             "converges. Space full or dirichlet can be taken",
             level->problem.degree);
  PetscCall(Create(level, space, residual, exchange, corners, 0, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With few cells a rank, much of what a rank sweeps is ghosts: there an exchange after every colour saves work and iterations. Across thin
   cells more than two layers matter. */
VpExchange VpChooseExchange(VpLevel level, VpExchange asked)
{
  const PetscInt ranks = VpMeshRanks(level->mesh);

  if (asked != VP_EXCHANGE_AUTO) return asked;
  return ranks > 1 && (level->mesh->ncell < VP_FEW_CELLS * ranks || VpLatticeThinnest(level->mesh->lattice) < THIN) ? VP_EXCHANGE_COLOR
                                                                                                                    : VP_EXCHANGE_SWEEP;
}

void VpSmootherRenewGhosts(VpSmoother smoother)
{
  const VpLevel   level = smoother->level;
  const PetscBool differ = (PetscBool)(smoother->exchange == VP_EXCHANGE_SWEEP && VpMeshRanks(level->mesh) > 1);

  smoother->renews = (PetscBool)(differ && level->precision == VP_SINGLE && !smoother->r);
  if (smoother->seams) VpSmootherRenewGhosts(smoother->seams);
}

PetscErrorCode VpSmootherUseResidualForm(VpSmoother smoother)
{
  PetscFunctionBegin;
  for (int part = 0; part < 2; part++) {
    const Part *p = part ? &smoother->corners : &smoother->all;

    for (int i = 0; i < p->start[smoother->ncolor]; i++) {
      if (p->batch[i].form == VP_FORM_REPLACE) p->batch[i].form = VP_FORM_EXACT;
    }
  }
  CountFlops(smoother);
  if (smoother->seams) PetscCall(VpSmootherUseResidualForm(smoother->seams));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherDestroy(VpSmoother *out)
{
  VpSmoother smoother = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!smoother) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpSmootherDestroy(&smoother->seams));
  PetscCall(VpVectorDestroy(&smoother->r));
  for (int part = 0; part < 2; part++) {
    Part *p = part ? &smoother->corners : &smoother->all;

    if (smoother->level->backend->release_plans) PetscCall(smoother->level->backend->release_plans(&p->view.device));
    PetscCall(PetscFree(p->batch));
  }
  PetscCall(VpArraysRelease(&smoother->arrays));
  PetscCall(VpLevelDestroy(&smoother->level));
  PetscCall(PetscFree(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = b - A x; the current values go to the first buffer, ghosts as this rank has swept them */
static PetscErrorCode GlobalResidual(VpSmoother smoother, const Part *part, const void *b, VpVector x, const void **residual)
{
  const VpLevel  level = smoother->level;
  const VpView  *view = &level->view;
  const VpGhosts swept = VpGhostsAt((char *)x->buffer[0] + view->nown * level->block);
  void          *r;

  PetscFunctionBegin;
  PetscCall(VpVectorSettle(x, &part->view, view->nsweep));
  PetscCall(VpVectorWrite(smoother->r, VP_GHOST_NONE, &r));
  PetscCall(level->ops->apply(view, 0, view->nsweep, x->buffer[0], swept, b, r));
  *residual = r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the colour's patches in [first, last) */
static PetscErrorCode SweepColor(VpLevel level, const Part *part, int color, int32_t first, int32_t last, const void *b, VpVector x)
{
  PetscFunctionBegin;
  for (int i = part->start[color]; i < part->start[color + 1]; i++) {
    const Batch  *batch = &part->batch[i];
    const VpForm  form = VpVectorIsZero(x) && batch->form != VP_FORM_REPLACE ? VP_FORM_GIVEN : batch->form; /* x = 0: b is the residual */
    const int32_t from = PetscMax(first, batch->first), to = PetscMin(last, batch->last);

    if (from < to) PetscCall(level->ops->sweep(&level->view, &part->view, form, from, to, x->done, b, x->buffer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* colours of one smoother, in the order of a sweep */
typedef struct {
  int n, color[8];
} Colors;

/* all colours at once, where nothing is exchanged between them and the backend does it */
static PetscErrorCode SweepAtOnce(VpSmoother smoother, const Part *part, const Colors *colors, VpGhosts under_way, const void *b,
                                  VpVector x, PetscBool *did)
{
  const VpLevel level = smoother->level;
  const int     ncolor = smoother->ncolor;
  PetscBool     can = (PetscBool)(level->ops->sweep_all && smoother->exchange != VP_EXCHANGE_COLOR && !smoother->renews);

  PetscFunctionBegin;
  *did = PETSC_FALSE;
  for (int i = 0; i < part->start[ncolor]; i++) can = (PetscBool)(can && part->batch[i].form == VP_FORM_REPLACE);
  if (!can || !part->start[ncolor] || colors->n < ncolor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(level->ops->sweep_all(&level->view, &part->view, ncolor, colors->color, part->color, under_way, b, x->buffer, did));
  if (*did) PetscCall(VpVectorSwept(x, (1u << ncolor) - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One colour after the other. Patches that touch no ghost go first while ghosts are under way. Repeats at corners leave ghosts as this rank
   has swept them, unless they must be exact. */
static PetscErrorCode SweepByColor(VpSmoother smoother, const Part *part, const Colors *colors, VpGhosts under_way, const void *b,
                                   VpVector x)
{
  const VpPatchView *patches = &part->view;
  const PetscBool    all = (PetscBool)(part == &smoother->all);
  const PetscBool    exchanges = (PetscBool)(smoother->exact || (all && smoother->exchange == VP_EXCHANGE_COLOR));
  const int          last = colors->n - 1;

  PetscFunctionBegin;
  for (int i = 0; i <= last; i++) {
    const int       color = colors->color[i];
    const PetscBool global = (PetscBool)(smoother->r && !VpVectorIsZero(x));
    const void     *r = b;
    int32_t         inner;

    if (all && smoother->renews && i == last) PetscCall(VpVectorRenewGhosts(x, patches, &under_way));
    inner = under_way.arrive && !global ? part->inner[color] : 0;
    if (inner) PetscCall(SweepColor(smoother->level, part, color, 0, inner, b, x));
    PetscCall(VpArrive(under_way));
    under_way = VpGhostsAt(NULL);
    if (global) PetscCall(GlobalResidual(smoother, part, b, x, &r));
    PetscCall(SweepColor(smoother->level, part, color, inner, INT32_MAX, r, x));
    PetscCall(VpVectorSwept(x, patches->cover ? 1u << color : 0));
    if (exchanges && i < last) {
      PetscCall(VpVectorSettle(x, patches, smoother->level->view.nown));
      PetscCall(VpVectorRead(x, VP_GHOST_ALL, NULL));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the ghosts that a sweep reads of b and x; one of the two may be under way after that */
static PetscErrorCode ReadGhosts(VpVector b, VpVector x, const void **values, VpGhosts *under_way)
{
  VpGhosts of_x;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(b, VP_GHOST_SWEEP, values, under_way));
  PetscCall(VpVectorReadBegin(x, VP_GHOST_HALO, NULL, &of_x));
  if (of_x.arrive) {
    PetscCall(VpArrive(*under_way));
    *under_way = of_x;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What follows is to be read from the first buffer, with ghosts as the rank has swept them, or as their owners have. */
static PetscErrorCode Between(VpSmoother smoother, const Part *part, VpVector x)
{
  const VpView *view = &smoother->level->view;

  PetscFunctionBegin;
  PetscCall(VpVectorSettle(x, &part->view, smoother->exact ? view->nown : view->nsweep));
  if (smoother->exact) PetscCall(VpVectorRead(x, VP_GHOST_ALL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* some colours of one smoother, and its patches at corners */
static PetscErrorCode SweepColors(VpSmoother smoother, const Colors *colors, PetscBool reverse, VpVector b, VpVector x)
{
  const VpLevel  level = smoother->level;
  const PetscInt turn = reverse ? smoother->repeats : 0; /* when all patches have their turn */
  const Part    *part = NULL;
  const void    *values;
  VpGhosts       under_way;
  PetscBool      did = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(ReadGhosts(b, x, &values, &under_way));
  PetscCall(PetscLogEventBegin(VP_EVENT_SWEEP, 0, 0, 0, 0));
  for (PetscInt i = 0; i <= smoother->repeats; i++) {
    if (part) PetscCall(Between(smoother, part, x));
    part = i == turn ? &smoother->all : &smoother->corners;
    PetscCall(SweepAtOnce(smoother, part, colors, under_way, values, x, &did));
    if (!did) PetscCall(SweepByColor(smoother, part, colors, under_way, values, x));
    under_way = VpGhostsAt(NULL);
  }
  PetscCall(VpVectorSettle(x, &part->view, level->view.nown));
  PetscCall(VpLogFlops(level, smoother->flops * colors->n / (smoother->ncolor >> __builtin_popcount((unsigned)smoother->kind))));
  PetscCall(PetscLogEventEnd(VP_EVENT_SWEEP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The i-th of all colours: along every direction first odd vertices, which tile a box, then even ones, then seams. The thinnest direction changes
   fastest. */
static VpSmoother ColorAt(VpSmoother smoother, int i, int *color)
{
  const int dim = smoother->level->mesh->dim;
  int       kind = 0;

  *color = 0;
  for (int place = 0; place < dim; place++) {
    int d = 0, count;

    while (smoother->place[d] != place) d++;
    count = 2 + (smoother->kinds >> d & 1);
    if (i % count == 0) *color |= 1 << place;
    if (i % count == 2) kind |= 1 << d;
    i /= count;
  }
  while (smoother->seams && smoother->kind != kind) smoother = smoother->seams;
  return smoother;
}

/* Colours of the same smoother that follow one another go together. */
PetscErrorCode VpSmootherSweep(VpSmoother smoother, PetscBool reverse, VpVector b, VpVector x)
{
  VpSmoother part = NULL, next;
  Colors     colors = {.n = 0};
  int        count = 1, color = 0;

  PetscFunctionBegin;
  for (int d = 0; d < smoother->level->mesh->dim; d++) count *= 2 + (smoother->kinds >> d & 1);
  for (int i = 0; i <= count; i++) {
    next = i < count ? ColorAt(smoother, reverse ? count - 1 - i : i, &color) : NULL;
    if (part && next != part) {
      PetscCall(SweepColors(part, &colors, reverse, b, x));
      colors.n = 0;
    }
    part = next;
    if (next) colors.color[colors.n++] = color;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpPatchView *VpSmootherPatches(VpSmoother smoother)
{
  return &smoother->all.view;
}

void VpSmootherCorners(VpSmoother smoother, PetscInt *patches, PetscInt *repeats)
{
  *patches = smoother->ncorner;
  *repeats = smoother->repeats;
}
