/* A sweep: all colours, one after the other or at once, with the exchanges between them, then again the patches near corners, then single
   cells where these were added; in reverse everything backwards. */
#include "smootherimpl.h"

/* r = b - A x; the current values go to the first buffer, ghosts as this rank has swept them */
static PetscErrorCode GlobalResidual(VpSmoother smoother, const Part *part, const void *b, VpVector x, const void **residual)
{
  const VpLevel level = smoother->level;
  const VpView *view = &level->view;
  const void   *values;
  void         *r;

  PetscFunctionBegin;
  PetscCall(VpVectorSettle(x, &part->view, view->nsweep));
  PetscCall(VpVectorRead(x, VP_GHOST_NONE, &values));
  PetscCall(VpVectorWrite(smoother->r, VP_GHOST_NONE, &r));
  PetscCall(level->ops->apply(view, 0, view->nsweep, values, VpGhostsAt(VpVectorGhosts(x)), b, r));
  *residual = r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* batches of one colour, of which the patches in [first, last) are solved */
typedef struct {
  VpLevel            level;
  const VpPatchView *patches;
  const Batch       *batch;
  int                n;
  int32_t            first, last;
  const void        *b;
  VpVector           x;
} Batches;

static PetscErrorCode SweepBatches(const Batches *s, int first, int last)
{
  unsigned     done;
  void *const *x = VpVectorBuffers(s->x, &done);

  PetscFunctionBegin;
  for (int i = first; i < last; i++) {
    const Batch *batch = &s->batch[i];
    const VpForm form = VpVectorIsZero(s->x) && batch->form != VP_FORM_REPLACE ? VP_FORM_GIVEN : batch->form; /* x = 0: b is the residual */
    const int32_t from = PetscMax(s->first, batch->first), to = PetscMin(s->last, batch->last);

    PetscCall(s->level->ops->sweep(&s->level->view, s->patches, form, from, to, done, s->b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepOthers(void *context)
{
  const Batches *s = (const Batches *)context;

  return SweepBatches(s, 1, s->n);
}

/* the colour's patches in [first, last). They may be solved in any order: those of other batches than the first one, which are few, go
   beside it. */
static PetscErrorCode SweepColor(VpLevel level, const Part *part, int color, int32_t first, int32_t last, const void *b, VpVector x)
{
  const VpBackend *backend = level->backend;
  const int        from = part->start[color];
  Batches          s = {level, &part->view, part->batch + from, part->start[color + 1] - from, first, last, b, x};
  PetscBool        beside;

  PetscFunctionBegin;
  for (; s.n && s.batch->last <= first; s.n--) s.batch++;
  while (s.n && s.batch[s.n - 1].first >= last) s.n--;
  beside = (PetscBool)(s.n > 1 && backend->aside);
  if (beside) PetscCall(backend->aside(SweepOthers, &s));
  PetscCall(SweepBatches(&s, 0, beside ? 1 : s.n));
  if (beside) PetscCall(backend->rejoin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* colours of one smoother, in the order of a sweep */
typedef struct {
  int n, color[VP_MOST_COLORS];
} Colors;

/* Adds the steps of a sweep over the part to *n others. Ensures: *can only if nothing is exchanged between colours and
   a backend may do them at once */
static void AddSteps(VpSmoother smoother, const Part *part, const Colors *colors, int *n, VpSweepStep step[], PetscBool *can)
{
  const PetscBool all = (PetscBool)(part != &smoother->part[PART_CORNERS]);

  if (all ? smoother->renews || smoother->exchange == VP_EXCHANGE_COLOR : smoother->exact) *can = PETSC_FALSE;
  for (int c = 0; c < colors->n; c++) {
    const int color = colors->color[c];

    for (int i = part->start[color]; i < part->start[color + 1]; i++) {
      const Batch *batch = &part->batch[i];

      step[(*n)++] = (VpSweepStep){&part->view, color, batch->first, batch->last, batch->form};
      *can = (PetscBool)(*can && batch->form != VP_FORM_GIVEN);
    }
  }
}

/* these parts one after the other in one launch, where the backend does it. Requires: x was settled. Ensures: if *did,
   cells [0, count) are */
static PetscErrorCode SweepAtOnce(VpSmoother smoother, int nparts, const Part *const parts[], const Colors *colors, int32_t count,
                                  VpGhosts under_way, const void *b, VpVector x, PetscBool *did)
{
  const VpLevel level = smoother->level;
  PetscBool     can = PETSC_TRUE;
  int           most = 0, n = 0;
  VpSweepStep  *step;

  PetscFunctionBegin;
  *did = PETSC_FALSE;
  if (!level->ops->sweep_all || colors->n < smoother->ncolor) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < nparts; i++) most += parts[i]->start[smoother->ncolor];
  PetscCall(PetscMalloc1(most, &step));
  for (int i = 0; i < nparts; i++) AddSteps(smoother, parts[i], colors, &n, step, &can);
  if (n && can) PetscCall(level->ops->sweep_all(&level->view, n, step, count, under_way, b, VpVectorBuffers(x, NULL), did));
  if (*did) PetscCall(VpVectorSwept(x, 0));
  PetscCall(PetscFree(step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One colour after the other. Patches that touch no ghost go first while ghosts are under way. Repeats at corners leave ghosts as this rank
   has swept them, unless they must be exact. */
static PetscErrorCode SweepByColor(VpSmoother smoother, const Part *part, const Colors *colors, VpGhosts under_way, const void *b,
                                   VpVector x)
{
  const VpPatchView *patches = &part->view;
  const PetscBool    all = (PetscBool)(part != &smoother->part[PART_CORNERS]);
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
  PetscCall(VpVectorSettle(x, &part->view, smoother->current ? view->nown : view->nsweep));
  if (smoother->current) PetscCall(VpVectorRead(x, VP_GHOST_ALL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some colours of a part and, after it (reverse: before it), the repeats at corners. If possible all are one launch; else they have their
   turns, and repeats that follow one another are one launch, if ghosts may be as this rank has swept them; else it is colour by colour. */
static PetscErrorCode SweepColors(VpSmoother smoother, int which, const Colors *colors, PetscBool reverse, VpVector b, VpVector x)
{
  const VpView *view = &smoother->level->view;
  const int     turns = (int)smoother->repeats + 1, turn = reverse ? turns - 1 : 0; /* when the part has its turn */
  const Part  **part;
  const void   *values;
  VpGhosts      under_way;
  PetscBool     did;
  const double  flops = smoother->part[which].flops + (double)smoother->repeats * smoother->part[PART_CORNERS].flops;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(turns, &part));
  for (int i = 0; i < turns; i++) part[i] = &smoother->part[i == turn ? which : PART_CORNERS];
  PetscCall(ReadGhosts(b, x, &values, &under_way));
  PetscCall(PetscLogEventBegin(VP_EVENT_SWEEP, 0, 0, 0, 0));
  PetscCall(SweepAtOnce(smoother, turns, part, colors, view->nown, under_way, values, x, &did));
  for (int i = 0, next; i < turns && !did; i = next) {
    PetscBool these = PETSC_FALSE;

    for (next = i + 1; next < turns && part[next] == part[i] && !smoother->current;) next++;
    if (i) PetscCall(Between(smoother, part[i - 1], x));
    if (next - i < turns) PetscCall(SweepAtOnce(smoother, next - i, part + i, colors, view->nsweep, under_way, values, x, &these));
    for (; i < next && !these; i++) {
      PetscCall(SweepByColor(smoother, part[i], colors, under_way, values, x));
      under_way = VpGhostsAt(NULL);
      if (i + 1 < next) PetscCall(Between(smoother, part[i], x));
    }
    under_way = VpGhostsAt(NULL);
  }
  PetscCall(VpVectorSettle(x, &part[turns - 1]->view, view->nown));
  PetscCall(VpLogFlops(smoother->level, flops * colors->n / (smoother->ncolor >> __builtin_popcount((unsigned)smoother->kind))));
  PetscCall(PetscLogEventEnd(VP_EVENT_SWEEP, 0, 0, 0, 0));
  PetscCall(PetscFree(part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The i-th of all colours: along every direction first odd vertices, which tile a box, then even ones, then seams. The thinnest direction
   changes fastest. */
static VpSmoother ColorAt(VpSmoother smoother, int i, int *color)
{
  const int dim = smoother->level->mesh->dim;
  int       kind = 0;

  *color = 0;
  for (int digit = 0; digit < dim; digit++) {
    int d = 0, count;

    while (smoother->digit[d] != digit) d++;
    count = 2 + (smoother->kinds >> d & 1);
    if (i % count == 0) *color |= 1 << digit;
    if (i % count == 2) kind |= 1 << d;
    i /= count;
  }
  while (smoother->seams && smoother->kind != kind) smoother = smoother->seams;
  return smoother;
}

/* Colours of the same smoother that follow one another go together. */
static PetscErrorCode SweepPart(VpSmoother smoother, int which, PetscBool reverse, VpVector b, VpVector x)
{
  VpSmoother part = NULL, next;
  Colors     colors = {.n = 0};
  int        count = 1, color = 0;

  PetscFunctionBegin;
  for (int d = 0; d < smoother->level->mesh->dim; d++) count *= 2 + (smoother->kinds >> d & 1);
  for (int i = 0; i <= count; i++) {
    next = i < count ? ColorAt(smoother, reverse ? count - 1 - i : i, &color) : NULL;
    if (part && next != part) {
      PetscCall(SweepColors(part, which, &colors, reverse, b, x));
      colors.n = 0;
    }
    part = next;
    if (next) colors.color[colors.n++] = color;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherSweep(VpSmoother smoother, PetscBool reverse, VpVector b, VpVector x)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; reverse && i < smoother->cell_sweeps; i++) PetscCall(VpCellSweepRun(smoother->cells, reverse, b, x));
  PetscCall(SweepPart(smoother, PART_ALL, reverse, b, x));
  for (PetscInt i = 0; !reverse && i < smoother->cell_sweeps; i++) PetscCall(VpCellSweepRun(smoother->cells, reverse, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherSweepEdges(VpSmoother smoother, PetscBool reverse, VpVector b, VpVector x)
{
  PetscFunctionBegin;
  if (smoother->ends) PetscCall(SweepPart(smoother, PART_EDGES, reverse, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpPatchView *VpSmootherPatches(VpSmoother smoother)
{
  return &smoother->part[PART_ALL].view;
}

void VpSmootherCorners(VpSmoother smoother, PetscInt *patches, PetscInt *repeats)
{
  *patches = smoother->ncorner;
  *repeats = smoother->repeats;
}
