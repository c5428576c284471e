/* The points of cells, and what the couplings of points say of the coefficients and reactions of cells. */
#include "stencil.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <petscdmda.h>

/* what loops over cells know */
typedef struct {
  const VpStencil     *s;
  const VpStencilGrid *c;
  VpMesh               mesh;
  int                  places;   /* of a cell, [2^dim], or [3^dim] if it is wide */
  PetscInt            *node;     /* [ncell][places] */
  const double        *up[3];    /* [rows], or on several ranks [ncell][places]: couplings of points, */
  const double        *mass;     /* .. c times their volumes, */
  const double        *fixed;    /* .. 1: a row of the identity */
  PetscReal           *a;        /* [ncell] the mean coefficient of a cell's edges, 0: there are none; relative to its mean, */
  PetscReal            mean;     /* .. which is this */
  PetscReal           *reaction; /* [ncell] relative to this mean, -1: not known */
} Filling;

/* at [3] of a cell's lower point, which may be -1 */
static void FindCell(const Filling *w, PetscInt cell, PetscInt at[3])
{
  PetscReal lower[3], size[3];

  VpGeometryBounds(w->mesh->geometry, (int32_t)cell, lower, size);
  for (int d = 0; d < w->s->dim; d++) {
    const PetscReal x = lower[d] + size[d] / (w->c->wide ? 4 : 2); /* middle of the first cell between points */
    PetscInt        low = 0, high = w->c->ncell[d];

    VP_BISECT(low, high, middle, w->c->face[d][middle] <= x);
    at[d] = low - w->c->shift[d];
  }
}

/* node = the natural numbers of the points around a cell, -1 outside of the DMDA */
static void ListPoints(const Filling *w, int32_t cell)
{
  const VpStencil *s = w->s;
  const int        each = w->c->wide ? 3 : 2;
  PetscInt at[3] = {0, 0, 0}, part[3][3] = {{0}}, *node = w->node + (size_t)cell * (size_t)w->places; /* [d][step]: of a number; -1 */

  FindCell(w, cell, at);
  for (PetscInt d = 0, stride = 1; d < s->dim; stride *= s->n[d++]) {
    for (int step = 0; step < each; step++) {
      const PetscInt p = s->periodic[d] ? (at[d] + step) % s->n[d] : at[d] + step;

      part[d][step] = p < 0 || p >= s->n[d] ? -1 : p * stride;
    }
  }
  for (int z = 0; z < (s->dim == 3 ? each : 1); z++) {
    for (int y = 0; y < each; y++) {
      for (int x = 0; x < each; x++)
        *node++ = part[0][x] < 0 || part[1][y] < 0 || part[2][z] < 0 ? -1 : part[0][x] + part[1][y] + part[2][z];
    }
  }
}

/* node: rows of the points around cells, -1 outside of the DMDA */
static PetscErrorCode ListNodes(const Filling *w)
{
  AO ao;

  PetscFunctionBegin;
  VP_LOOP (cell, w->mesh->nown) ListPoints(w, cell);
  if (w->mesh->size == 1) PetscFunctionReturn(PETSC_SUCCESS); /* The natural numbers are the rows. */
  PetscCall(DMDAGetAO(w->s->da, &ao));
  PetscCall(AOApplicationToPetsc(ao, (PetscInt)w->mesh->nown * w->places, w->node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the value of a node stands among those that GetValues() gives */
static size_t ValueAt(const Filling *w, size_t place)
{
  return w->mesh->size == 1 ? (size_t)w->node[place] : place;
}

/* Adds the coefficients of a cell's edges along d, and their number, to sums. at [3]: its lower point */
static void AddEdges(const Filling *w, int32_t cell, const PetscInt at[3], int d, double sums[2])
{
  const VpStencil     *s = w->s;
  const VpStencilGrid *c = w->c;
  const PetscReal      h = c->face[d][at[d] + c->shift[d] + 1] - c->face[d][at[d] + c->shift[d]];

  for (int i = 0; i < w->places; i++) {
    const size_t place = (size_t)cell * (size_t)w->places + (size_t)i;
    const double up = i >> d & 1 || w->node[place] < 0 ? 0 : w->up[d][ValueAt(w, place)];
    double       weight = 1 / h;

    if (up <= 0) continue;
    for (int e = 0; e < s->dim; e++) weight *= e == d ? 1 : c->width[e][(at[e] + (i >> e & 1)) % s->n[e]];
    sums[0] += up / weight;
    sums[1]++;
  }
}

/* Divides the coefficients by their mean, and sets *varies: they are not all the same. */
static PetscErrorCode DivideCoefficients(Filling *w, PetscBool *varies)
{
  const MPI_Comm comm = w->mesh->comm;
  double         total[2] = {0, 0};
  PetscReal      range[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL};

  PetscFunctionBegin;
  for (int32_t cell = 0; cell < w->mesh->nown; cell++) {
    if (w->a[cell] == 0) continue;
    total[0] += w->a[cell];
    total[1]++;
    range[0] = PetscMin(range[0], w->a[cell]);
    range[1] = PetscMin(range[1], -w->a[cell]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_REAL, MPIU_MIN, comm));
  *varies = (PetscBool)(-range[1] > (1 + VP_STENCIL_VARIES) * range[0]);
  w->mean = total[0] / total[1];
  for (int32_t cell = 0; cell < w->mesh->nown; cell++) w->a[cell] = w->a[cell] > 0 ? w->a[cell] / w->mean : 1; /* no edge: the mean */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *sf: from rows to the nodes of cells. NULL on one rank, where these read the rows themselves */
static PetscErrorCode CreateSF(const Filling *w, PetscSF *sf)
{
  const PetscInt n = (PetscInt)w->mesh->nown * w->places;
  PetscInt       count = 0, *leaf, *row;
  PetscLayout    layout;

  PetscFunctionBegin;
  *sf = NULL;
  if (w->mesh->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(n, &leaf, n, &row));
  for (PetscInt i = 0; i < n; i++) {
    if (w->node[i] < 0) continue;
    leaf[count] = i;
    row[count++] = w->node[i];
  }
  PetscCall(PetscLayoutCreateFromSizes(w->mesh->comm, w->s->own, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(w->mesh->comm, sf));
  PetscCall(PetscSFSetGraphLayout(*sf, layout, count, leaf, PETSC_COPY_VALUES, row));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PetscFree2(leaf, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *at = values of own points, [rows], or on several ranks at nodes [ncell][places], 0 outside */
static PetscErrorCode GetValues(const Filling *w, PetscSF sf, const PetscScalar own[], const double **at)
{
  double *values;

  PetscFunctionBegin;
  *at = own;
  if (!sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1((PetscInt)w->mesh->nown * w->places + 1, &values));
  PetscCall(PetscSFBcastBegin(sf, MPIU_SCALAR, own, values, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_SCALAR, own, values, MPI_REPLACE));
  *at = values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreValues(PetscSF sf, const double **at)
{
  PetscFunctionBegin;
  if (sf) PetscCall(PetscFree(*at));
  *at = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillCoefficient(Filling *w, PetscSF sf, PetscBool *varies)
{
  PetscFunctionBegin;
  for (int d = 0; d < w->s->dim; d++) PetscCall(GetValues(w, sf, w->s->up[d], &w->up[d]));
  PetscCall(PetscMalloc1(w->mesh->nown + 1, &w->a));
  VP_LOOP (cell, w->mesh->nown) {
    PetscInt at[3] = {0, 0, 0};
    double   sums[2] = {0, 0};

    FindCell(w, cell, at);
    for (int d = 0; d < w->s->dim; d++) AddEdges(w, cell, at, d, sums);
    w->a[cell] = sums[1] > 0 ? sums[0] / sums[1] : 0;
  }
  for (int d = 0; d < w->s->dim; d++) PetscCall(RestoreValues(sf, &w->up[d]));
  PetscCall(DivideCoefficients(w, varies));
  if (!*varies) PetscCall(PetscFree(w->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* c = the mean of the reactions of a cell's points, -1 if no point knows its own */
static void FindCellReaction(const Filling *w, int32_t cell)
{
  const int each = w->c->wide ? 3 : 2;
  PetscInt  at[3] = {0, 0, 0};
  double    mass = 0, volume = 0;

  FindCell(w, cell, at);
  for (int i = 0, rest = i; i < w->places; i++, rest = i) {
    const size_t place = (size_t)cell * (size_t)w->places + (size_t)i;
    PetscInt     point[3];

    if (w->node[place] < 0 || w->mass[ValueAt(w, place)] < 0) continue;
    for (int d = 0; d < w->s->dim; d++, rest /= each) point[d] = (at[d] + rest % each) % w->s->n[d];
    mass += w->mass[ValueAt(w, place)];
    volume += VpStencilVolume(w->s, w->c, point);
  }
  w->reaction[cell] = volume > 0 ? mass / volume : -1;
}

/* Finds the reactions of cells, relative to the mean of the coefficient. *mean: theirs, and that of cells whose points know none */
static PetscErrorCode FillReaction(Filling *w, PetscSF sf, PetscReal *mean)
{
  double total[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(GetValues(w, sf, w->s->mass, &w->mass));
  PetscCall(PetscMalloc1(w->mesh->nown + 1, &w->reaction));
  VP_LOOP (cell, w->mesh->nown) FindCellReaction(w, cell);
  PetscCall(RestoreValues(sf, &w->mass));
  for (int32_t cell = 0; cell < w->mesh->nown; cell++) {
    if (w->reaction[cell] < 0) continue;
    total[0] += w->reaction[cell] / w->mean;
    total[1]++;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_DOUBLE, MPI_SUM, w->mesh->comm));
  *mean = total[0] / total[1];
  for (int32_t cell = 0; cell < w->mesh->nown; cell++) w->reaction[cell] = w->reaction[cell] < 0 ? *mean : w->reaction[cell] / w->mean;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the DM the coefficients and reactions of its cells, where these differ, and makes its operator again. */
static PetscErrorCode SetNumbers(const Filling *w, DM dm)
{
  const VpApart apart = {.reaction = w->reaction != NULL};
  const size_t  width = (size_t)(1 + VpApartWidth(apart)), n = (size_t)w->mesh->nown;
  PetscReal    *numbers;

  PetscFunctionBegin;
  if (w->a) PetscCall(DMVPatchDGSetCoefficient(dm, w->a));
  if (!w->reaction) {
    if (!w->a) PetscCall(DMVPatchDGSetOperator(dm, 0, apart, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(width * n + 1, &numbers));
  for (size_t cell = 0; cell < n; cell++) {
    numbers[width * cell] = w->a ? w->a[cell] : 1;
    numbers[width * cell + 1] = w->reaction[cell];
  }
  PetscCall(DMVPatchDGSetOperator(dm, 0, apart, numbers));
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the coefficient and the reaction of the DM, and leaves out rows of the identity. */
static PetscErrorCode FillFromMatrix(Filling *w, DM dm, PetscBool *varies)
{
  const VpStencilGrid *c = w->c;
  PetscReal           *mean = &DMVPatchDGData(dm)->reaction;
  PetscSF              sf;

  PetscFunctionBegin;
  PetscCall(CreateSF(w, &sf));
  w->mean = c->a;
  if (c->varies) PetscCall(FillCoefficient(w, sf, varies));
  if (c->reaction > 0) {
    *mean = c->reaction / w->mean;
    if (c->spread > VP_STENCIL_ALIKE) PetscCall(FillReaction(w, sf, mean));
  }
  if (w->a || c->reaction > 0) PetscCall(SetNumbers(w, dm));
  PetscCall(PetscFree(w->a));
  PetscCall(PetscFree(w->reaction));
  PetscCall(GetValues(w, sf, w->s->identity, &w->fixed));
  VP_LOOP (cell, w->mesh->nown) {
    for (size_t i = (size_t)cell * (size_t)w->places; i < (size_t)(cell + 1) * (size_t)w->places; i++)
      if (w->node[i] >= 0 && w->fixed[ValueAt(w, i)] != 0) w->node[i] = -1;
  }
  PetscCall(RestoreValues(sf, &w->fixed));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStencilFillCells(const VpStencil *s, const VpStencilGrid *c, DM dm, PetscInt **node, PetscBool *varies)
{
  Filling     w = {.s = s, .c = c, .mesh = DMVPatchDGData(dm)->mesh, .places = (int)PetscPowInt(c->wide ? 3 : 2, s->dim)};
  PetscMPIInt first;

  PetscFunctionBegin;
  *varies = PETSC_FALSE;
  PetscCall(VpFirstRank(w.mesh->comm, (PetscBool)((double)w.mesh->nown * w.places >= (double)PETSC_MAX_INT), &first));
  PetscCheck(first == INT_MAX, w.mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_type vpatchdg: the cells around the points of rank %d have %d points each, more in all than the integers of this PETSc "
             "count: use more ranks, or a PETSc with 64-bit integers",
             first, w.places);
  PetscCall(VpMallocLarge((size_t)w.mesh->nown * (size_t)w.places + 1, &w.node));
  PetscCall(ListNodes(&w));
  PetscCall(FillFromMatrix(&w, dm, varies));
  *node = w.node;
  PetscFunctionReturn(PETSC_SUCCESS);
}
