/* The exact inverse where A would separate if no cells were missing, as on an L-shape. The whole box has an operator B that separates, and
   with the sums U^T at the sides of the notch E = B + U C U^T is A on the cells that there are (notchsides.c). So

       A^-1 b = E^-1 b = B^-1 (b - U w),      w = (C^-1 + U^T B^-1 U)^-1 U^T B^-1 b,

   where b is 0 on missing cells. Only values beside the notch make U^T x, and U w has no others, so on the way from modes of B to these,
   and back, few lines are left along all but one direction:

       modes of b -> values beside the notch -> sums -> w -> U w there -> modes less those of U w -> x */
#include "internal.h"

typedef struct {
  VpLevel     level;
  VpArrays    arrays;
  VpSeparable box;
  VpNotch     notch;
  VpPart      whole, beside;    /* all cells; those beside the notch */
  size_t      count, sums;      /* numbers of a vector of the box; sums of a vector */
  void       *b, *x[2], *modes; /* [count] */
  void       *t, *w;            /* [sums] */
  const void *M;                /* [sums][sums] */
} Notched;

/* M = E (C^-1 + K)^-1 L */
static PetscErrorCode Invert(Notched *s, const VpNotchSides *sides, const double *K)
{
  const VpLevel  level = s->level;
  const size_t   lines = s->sums / 2 / (size_t)sides->n;
  double         largest;
  VpDenseInverse d = {.n = (int32_t)s->sums, .count = (int32_t)s->sums, .rows = K, .dim = level->mesh->dim - 1, .order = level->basis.n};
  PetscInt      *start;
  PetscScalar   *value;
  void          *M;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(s->sums + 1, &start, s->sums, &value));
  for (size_t i = 0; i <= s->sums; i++) start[i] = (PetscInt)i;
  for (size_t i = 0; i < s->sums; i++) {
    const size_t side = i / lines % (size_t)sides->n, f = i / lines / (size_t)sides->n;

    value[i] = sides->inverse[2 * (sides->side[side * VP_NOTCH_SIDE + 2] / (2 * level->mesh->dim)) + (int)f];
  }
  d.start = d.column = start;
  d.value = value;
  if (level->basis.type != VP_BASIS_ORTHONORMAL) {
    d.enter = level->enter;
    d.leave = level->leave;
  }
  PetscCall(VpArraysReserve(&s->arrays, s->sums * s->sums * level->real, "coarse inverse", &M));
  PetscCall(level->backend->invert_dense(&d, level->precision, M, &largest));
  s->M = M;
  PetscCall(PetscFree2(start, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on the rank that has all cells */
static PetscErrorCode Fill(Notched *s, VpLevel host, const VpBoxGrid *grid, const int32_t cell[])
{
  const VpLevel level = s->level;
  const int     n = level->basis.n, dim = level->mesh->dim;
  VpLineModes   modes;
  VpNotchSides  sides;
  void         *K;

  PetscFunctionBegin;
  s->count = (size_t)grid->extent[0] * grid->extent[1] * grid->extent[2] * (size_t)PetscPowInt(n, dim);
  s->sums = 2 * (size_t)grid->sides * (size_t)PetscPowInt(n, dim - 1);
  PetscCall(PetscArraycpy(s->box.extent, grid->extent, 3));
  PetscCall(PetscArraycpy(s->whole.extent, grid->extent, 3));
  PetscCall(VpLineModesCreate(host, VpLevelReaction(level), grid, cell, &modes));
  PetscCall(VpSeparablePlace(level, &modes, cell, &s->arrays, &s->box));
  PetscCall(VpNotchSidesCreate(host, grid, cell, &modes, &sides));
  PetscCall(VpNotchPlace(level, grid, &sides, &s->arrays, &s->notch));
  s->beside = VpNotchPart(grid, dim, &sides);
  PetscCall(level->backend->alloc(PetscSqr(s->sums) * sizeof(double), "coarse inverse", &K));
  PetscCall(VpNotchCouple(level, grid, &modes, &sides, (double *)K));
  PetscCall(Invert(s, &sides, (const double *)K));
  PetscCall(level->backend->release(K));
  PetscCall(VpNotchSidesDestroy(&sides));
  PetscCall(VpLineModesDestroy(&modes));
  PetscCall(VpArraysReserve(&s->arrays, s->count * level->real, "coarse inverse", &s->b));
  for (int i = 0; i < 2; i++) PetscCall(VpArraysReserve(&s->arrays, s->count * level->real, "coarse inverse", &s->x[i]));
  PetscCall(VpArraysReserve(&s->arrays, s->count * level->real, "coarse inverse", &s->modes));
  PetscCall(VpArraysReserve(&s->arrays, s->sums * level->real, "coarse inverse", &s->t));
  PetscCall(VpArraysReserve(&s->arrays, s->sums * level->real, "coarse inverse", &s->w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(void *data)
{
  Notched *s = (Notched *)data;

  PetscFunctionBegin;
  PetscCall(VpArraysRelease(&s->arrays));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  const VpMesh mesh = level->mesh;
  Notched     *s;
  VpLevel      host;
  VpBoxGrid    grid;
  int32_t     *cell = NULL;

  PetscFunctionBegin;
  PetscCall(VpBoxGridCells(mesh, level->basis.n, &grid, &cell)); /* the same everywhere */
  if (cell && grid.sides > 0) {
    PetscCall(PetscNew(&s));
    s->level = level;
    s->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
    PetscCall(VpSeparableHost(level, &host));
    PetscCall(VpTogether(mesh->comm, mesh->nown ? Fill(s, host, &grid, cell) : PETSC_SUCCESS));
    PetscCall(VpLevelDestroy(&host));
    *data = s;
  }
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(void *data, int32_t n, VpVector b, VpVector x)
{
  const Notched   *s = (const Notched *)data;
  const VpLevel    level = s->level;
  const VpView    *view = &level->view;
  const VpBackend *backend = level->backend;
  const VpOps     *ops = level->ops;
  const size_t     own = (size_t)level->mesh->nown * level->block, all = s->count * level->real;
  const int32_t    sums = (int32_t)s->sums;
  const void      *from;
  void            *to;
  double           lines = 0;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(b, VP_GHOST_NONE, &from));
  PetscCall(VpVectorWrite(x, VP_GHOST_NONE, &to));
  if (!level->mesh->nown) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(backend->copy(from, own, s->b));
  PetscCall(backend->zero((char *)s->b + own, all - own));
  PetscCall(ops->to_modes(view, &s->box, &s->whole, PETSC_FALSE, 1, s->b, s->x, s->modes));
  PetscCall(ops->from_modes(view, &s->box, &s->beside, 1, s->modes, s->x, s->b));
  PetscCall(ops->take_notch(view, &s->notch, s->b, s->t));
  PetscCall(ops->product(view, sums, sums, s->M, 1, s->t, s->w));
  PetscCall(backend->zero(s->b, all));
  PetscCall(ops->add_notch(view, &s->notch, s->w, s->b));
  PetscCall(ops->to_modes(view, &s->box, &s->beside, PETSC_TRUE, 1, s->b, s->x, s->modes));
  PetscCall(ops->from_modes(view, &s->box, &s->whole, 1, s->modes, s->x, s->b));
  PetscCall(backend->copy(s->b, own, to));
  for (int d = 0; d < level->mesh->dim; d++) lines += s->box.extent[d] * level->basis.n;
  PetscCall(VpLogFlops(level, 8. * lines * (double)s->count + 2 * PetscSqr((double)sums)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(void *data, PetscViewer viewer)
{
  return PetscViewerASCIIPrintf(viewer, "inverted exactly, by fast diagonalisation of the box around it and a dense matrix of its notch\n");
}

const VpCoarseOps VpCoarseNotched = {.create = Create, .solve = Solve, .view = View, .destroy = Destroy};
