/* A sweep: all colours, one after the other or at once, with the exchanges between them, then again the patches near corners, then single
   cells where these were added. */
#include "smootherimpl.h"

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

/* The i-th of all colours: along every direction first odd vertices, which tile a box, then even ones, then seams. The thinnest direction
   changes fastest. */
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
  for (PetscInt i = 0; reverse && i < smoother->cell_sweeps; i++) PetscCall(VpCellSweepRun(smoother->cells, reverse, b, x));
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
  for (PetscInt i = 0; !reverse && i < smoother->cell_sweeps; i++) PetscCall(VpCellSweepRun(smoother->cells, reverse, b, x));
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
