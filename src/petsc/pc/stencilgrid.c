/* The cells around the points of a stencil: between points, and one more at sides whose Dirichlet nodes are outside. */
#include "stencil.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <petscdmda.h>

typedef struct {
  VpStencilSide side[6];
  PetscInt      ncell[3], shift[3]; /* cells along each direction; those below the first point */
  PetscReal    *face[3];            /* [ncell + 1] */
  PetscReal    *width[3];           /* [points] of what each point stands for along a direction */
  PetscReal     a;                  /* the largest coefficient */
  PetscBool     varies;             /* The coefficient is not one number. */
  PetscBool     wide;               /* Two of these cells along every direction are one of the DM. */
} Cells;

/* quotients that decide: of couplings along a side and inside, and of the sum of a side's rows and the couplings to points inside */
#define HALF_MOST   0.6
#define WHOLE_LEAST 0.85
#define WHOLE_MOST  1.2
#define NEAR        0.4

static PetscErrorCode DecideSide(const VpStencil *s, VpPoints points, int side, VpStencilSide *is)
{
  const double along = s->next[side] > 0 ? s->along[side] / s->next[side] : 1;
  const double out = s->inner[side] > 0 ? s->sum[side] / s->inner[side] : -1;
  const double whole = floor(out + 0.5);
  PetscBool    half = (PetscBool)(along < HALF_MOST), clear;

  PetscFunctionBegin;
  if (s->periodic[side / 2]) *is = VP_STENCIL_PERIODIC;
  else if (s->rows[side] == 0 || 2 * s->fixed[side] > s->rows[side]) *is = VP_STENCIL_IDENTITY;
  else {
    clear = (PetscBool)(fabs(out - whole) < NEAR && whole >= 0 && whole <= 2 && (half || (along > WHOLE_LEAST && along < WHOLE_MOST)) &&
                        !(half && whole > 0));
    PetscCheck(clear || points != VP_POINTS_AUTO, PetscObjectComm((PetscObject)s->da), PETSC_ERR_SUP,
               "-pc_type vpatchdg: what the points on side %d of the DMDA are is not clear from their rows, whose sum is %.3g times the "
               "coupling to the next points, and whose couplings along the side are %.3g times those inside: say -pc_vpatchdg_points nodes "
               "or -pc_vpatchdg_points centers",
               side, out, along);
    if (points == VP_POINTS_NODES) *is = out > 0.5 ? VP_STENCIL_OUTSIDE : VP_STENCIL_NATURAL;
    else if (points == VP_POINTS_CENTERS) *is = out > 0.5 ? VP_STENCIL_HALF : VP_STENCIL_CENTERS;
    else *is = whole == 2 ? VP_STENCIL_HALF : whole == 1 ? VP_STENCIL_OUTSIDE : half ? VP_STENCIL_NATURAL : VP_STENCIL_CENTERS;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x [n]: coordinates of points along d: those of the DMDA, or equidistant ones whose distance follows from the couplings */
static PetscErrorCode FindPoints(const VpStencil *s, int d, PetscReal x[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)s->da);
  double         most = 0, least = PETSC_MAX_REAL;
  Vec            coordinates;

  PetscFunctionBegin;
  for (int e = 0; e < s->dim; e++) least = PetscMin(least, s->typical[e]);
  for (PetscInt i = 0; i < s->n[d]; i++) x[i] = (PetscReal)i * sqrt(least / s->typical[d]);
  PetscCall(DMGetCoordinates(s->da, &coordinates));
  if (!coordinates) PetscFunctionReturn(PETSC_SUCCESS);
  { /* every rank knows those of its points */
    const PetscScalar *all;

    for (PetscInt i = 0; i < s->n[d]; i++) x[i] = PETSC_MIN_REAL;
    PetscCall(VecGetArrayRead(coordinates, &all));
    for (PetscInt i = 0; i < s->own; i++) {
      const PetscInt at[3] = {i % s->count[0], i / s->count[0] % s->count[1], i / s->count[0] / s->count[1]};

      x[s->start[d] + at[d]] = PetscRealPart(all[i * s->dim + d]);
    }
    PetscCall(VecRestoreArrayRead(coordinates, &all));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, x, (PetscMPIInt)s->n[d], MPIU_REAL, MPIU_MAX, comm));
  for (PetscInt i = 1; i < s->n[d]; i++) most = PetscMax(most, x[i] - x[i - 1]);
  for (PetscInt i = 1; i < s->n[d]; i++)
    PetscCheck(x[i] > x[i - 1] + 1e-12 * most, comm, PETSC_ERR_SUP,
               "-pc_type vpatchdg: the coordinates of the DMDA do not ascend in direction %c", (char)('x' + d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills faces and widths along d. */
static PetscErrorCode FindFaces(const VpStencil *s, Cells *c, int d)
{
  const VpStencilSide *side = c->side + 2 * d;
  const PetscInt       n = s->n[d];
  PetscReal           *x, *face;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &x));
  PetscCall(FindPoints(s, d, x));
  c->shift[d] = side[0] == VP_STENCIL_OUTSIDE || side[0] == VP_STENCIL_HALF;
  c->ncell[d] = n - 1 + c->shift[d] + (side[1] == VP_STENCIL_OUTSIDE || side[1] == VP_STENCIL_HALF || side[1] == VP_STENCIL_PERIODIC);
  PetscCall(PetscMalloc2(c->ncell[d] + 1, &c->face[d], n, &c->width[d]));
  face = c->face[d];
  for (PetscInt i = 0; i < n; i++) face[i + c->shift[d]] = x[i];
  if (c->shift[d]) face[0] = x[0] - (x[1] - x[0]) / (side[0] == VP_STENCIL_HALF ? 2 : 1);
  if (n + c->shift[d] == c->ncell[d]) face[c->ncell[d]] = x[n - 1] + (x[n - 1] - x[n - 2]) / (side[1] == VP_STENCIL_HALF ? 2 : 1);
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal below = i ? x[i] - x[i - 1] : x[1] - x[0], above = i < n - 1 ? x[i + 1] - x[i] : x[n - 1] - x[n - 2];

    c->width[d][i] = (below + above) / 2;
    if ((i == 0 && side[0] == VP_STENCIL_NATURAL) || (i == n - 1 && side[1] == VP_STENCIL_NATURAL)) c->width[d][i] /= 2;
  }
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how often cells may be halves of boxes */
static PetscInt CountRefinements(const VpStencil *s, const Cells *c)
{
  for (PetscInt level = 0;; level++) {
    const PetscInt more = (PetscInt)2 << level;

    for (int d = 0; d < s->dim; d++) {
      if (c->ncell[d] % more) return level;
      for (PetscInt i = 0; i < c->ncell[d]; i++) {
        const PetscReal h = c->face[d][i + 1] - c->face[d][i], first = c->face[d][i / more * more + 1] - c->face[d][i / more * more];

        if (PetscAbsReal(h - first) > 1e-8 * first) return level;
      }
    }
  }
}

/* widens most [2] = {-least, largest} coefficient to those of the edges of own points */
typedef struct {
  const VpStencil *s;
  const Cells     *c;
  const double    *up[3];
} Edges;

static void FindEdges(const void *context, int32_t first, int32_t last, double most[])
{
  const Edges     *w = (const Edges *)context;
  const VpStencil *s = w->s;
  const Cells     *c = w->c;

  for (int32_t i = first; i < last; i++) {
    PetscInt at[3];

    VpStencilPoint(s, i, at);
    for (int d = 0; d < s->dim; d++) {
      double a = w->up[d][i];

      if (a <= 0) continue;
      a *= c->face[d][at[d] + c->shift[d] + 1] - c->face[d][at[d] + c->shift[d]];
      for (int e = 0; e < s->dim; e++) a /= e == d ? 1 : c->width[e][at[e]];
      most[0] = PetscMax(most[0], -a);
      most[1] = PetscMax(most[1], a);
    }
  }
}

#define VARIES 1e-6 /* Coefficients that differ by less are one number. */

static PetscErrorCode FindContrast(const VpStencil *s, Cells *c)
{
  Edges  w = {.s = s, .c = c};
  double most[2] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL};

  PetscFunctionBegin;
  for (int d = 0; d < s->dim; d++) PetscCall(VecGetArrayRead(s->up[d], &w.up[d]));
  VpLoopMost((int32_t)s->own, FindEdges, &w, 2, most);
  for (int d = 0; d < s->dim; d++) PetscCall(VecRestoreArrayRead(s->up[d], &w.up[d]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)s->da)));
  c->varies = (PetscBool)(most[1] > -(1 + VARIES) * most[0]);
  c->a = most[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define STRETCHED 1.25 /* Point smoothers do well where distances along two directions differ by at most this factor. */

/* why cells cannot be wide; NULL: they can */
static const char *WhyNarrow(const VpStencil *s, const Cells *c)
{
  PetscReal least[3] = {PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL}, most[3] = {0, 0, 0};

  for (int side = 0; side < 2 * s->dim; side++)
    if (c->side[side] == VP_STENCIL_CENTERS || c->side[side] == VP_STENCIL_HALF) return "points are centers of cells";
  if (c->varies) return "the coefficient varies";
  if (CountRefinements(s, c) == 0) return "not all cells come in pairs of equal ones";
  for (int d = 0; d < s->dim; d++)
    if (c->ncell[d] < 4) return "there are fewer than four distances of points along a direction";
  for (int d = 0; d < s->dim; d++) {
    for (PetscInt i = 0; i < c->ncell[d]; i++) {
      least[d] = PetscMin(least[d], c->face[d][i + 1] - c->face[d][i]);
      most[d] = PetscMax(most[d], c->face[d][i + 1] - c->face[d][i]);
    }
  }
  for (int d = 0; d < s->dim; d++)
    for (int e = 0; e < s->dim; e++)
      if (most[d] > STRETCHED * least[e]) return "distances of points differ";
  return NULL;
}

/* Decides how wide the cells of the DM are. */
static PetscErrorCode ChooseWidth(const VpStencil *s, const VpStencilAsked *asked, Cells *c)
{
  const char *why = WhyNarrow(s, c);

  PetscFunctionBegin;
  if (!why && !asked->smooths) why = "-pc_vpatchdg_jacobi has to be auto or both";
  PetscCheck(!why || asked->width != VP_WIDTH_WIDE, PetscObjectComm((PetscObject)s->da), PETSC_ERR_SUP,
             "-pc_vpatchdg_cells wide: %s. Say auto or narrow", why);
  c->wide = (PetscBool)(!why && asked->width != VP_WIDTH_NARROW);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDM(const VpStencil *s, const Cells *c, const char prefix[], DM *dm)
{
  const PetscInt   level = CountRefinements(s, c), step = (PetscInt)1 << level;
  PetscReal        lower[3] = {0}, upper[3] = {0}, *face;
  PetscInt         n[3] = {1, 1, 1};
  VPatchDGBoundary boundary[6] = {VPATCHDG_BOUNDARY_DIRICHLET};
  VecType          type;

  PetscFunctionBegin;
  PetscCall(DMCreate(PetscObjectComm((PetscObject)s->da), dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  PetscCall(DMSetOptionsPrefix(*dm, prefix));
  PetscCall(DMSetDimension(*dm, s->dim));
  PetscCall(DMVPatchDGSetDegree(*dm, 1));
  PetscCall(DMVPatchDGSetQuadrature(*dm, VPATCHDG_QUADRATURE_LOBATTO));
  for (int d = 0; d < s->dim; d++) {
    n[d] = c->ncell[d] / step;
    lower[d] = c->face[d][0];
    upper[d] = c->face[d][c->ncell[d]];
  }
  PetscCall(DMVPatchDGSetBoxGrid(*dm, n, lower, upper));
  for (int d = 0; d < s->dim; d++) {
    PetscCall(PetscMalloc1(n[d] + 1, &face));
    for (PetscInt i = 0; i <= n[d]; i++) face[i] = c->face[d][i * step];
    PetscCall(DMVPatchDGSetGrid(*dm, d, n[d], face));
    PetscCall(PetscFree(face));
  }
  for (int side = 0; side < 2 * s->dim; side++) {
    const VpStencilSide is = c->side[side];

    boundary[side] = is == VP_STENCIL_PERIODIC                              ? VPATCHDG_BOUNDARY_PERIODIC
                     : is == VP_STENCIL_NATURAL || is == VP_STENCIL_CENTERS ? VPATCHDG_BOUNDARY_NEUMANN
                                                                            : VPATCHDG_BOUNDARY_DIRICHLET;
  }
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMSetRefineLevel(*dm, level - c->wide));
  PetscCall(DMGetVecType(s->da, &type));
  PetscCall(DMSetVecType(*dm, type));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what loops over cells know */
typedef struct {
  const VpStencil *s;
  const Cells     *c;
  VpMesh           mesh;
  int              places; /* of a cell, [2^dim], or [3^dim] if it is wide */
  PetscInt        *node;   /* [ncell][places] */
  const double    *up[3];  /* [ncell][places] couplings of points */
  const double    *fixed;  /* [rows], or on several ranks [ncell][places]: 1: a row of the identity */
  PetscReal       *a;      /* [ncell] */
} Filling;

/* at [3] of a cell's lower point, which may be -1 */
static void FindCell(const Filling *w, PetscInt cell, PetscInt at[3])
{
  PetscReal lower[3], size[3];

  VpGeometryBounds(w->mesh->geometry, (int32_t)cell, lower, size);
  for (int d = 0; d < w->s->dim; d++) {
    const PetscReal middle = lower[d] + size[d] / (w->c->wide ? 4 : 2); /* of the first cell between points */
    PetscInt        low = 0, high = w->c->ncell[d];

    while (high - low > 1) {
      const PetscInt i = (low + high) / 2;

      if (w->c->face[d][i] <= middle) low = i;
      else high = i;
    }
    at[d] = low - w->c->shift[d];
  }
}

/* node = the natural numbers of the points around cells, -1 outside of the DMDA */
static void ListPoints(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Filling   *w = (Filling *)context;
  const VpStencil *s = w->s;
  const int        each = w->c->wide ? 3 : 2;

  for (int32_t cell = first; cell < last; cell++) {
    PetscInt at[3] = {0, 0, 0};

    FindCell(w, cell, at);
    for (int i = 0; i < w->places; i++) {
      const PetscInt step[3] = {i % each, i / each % each, i / (each * each)};
      PetscInt       natural = 0;

      for (int d = s->dim - 1; d >= 0; d--) {
        PetscInt p = at[d] + step[d];

        if (s->periodic[d]) p %= s->n[d];
        if (p < 0 || p >= s->n[d]) natural = -1;
        if (natural >= 0) natural = natural * s->n[d] + p;
      }
      w->node[(size_t)cell * (size_t)w->places + (size_t)i] = natural;
    }
  }
}

/* node: rows of the points around cells, -1 outside of the DMDA */
static PetscErrorCode ListNodes(const Filling *w)
{
  AO ao;

  PetscFunctionBegin;
  VpLoop(w->mesh->nown, ListPoints, (void *)w);
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
  const VpStencil *s = w->s;
  const Cells     *c = w->c;
  const PetscReal  h = c->face[d][at[d] + c->shift[d] + 1] - c->face[d][at[d] + c->shift[d]];

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

/* a = the mean of the coefficients of a cell's edges, 0 without any */
static void FindMeans(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Filling *w = (Filling *)context;

  for (int32_t cell = first; cell < last; cell++) {
    PetscInt at[3] = {0, 0, 0};
    double   sums[2] = {0, 0};

    FindCell(w, cell, at);
    for (int d = 0; d < w->s->dim; d++) AddEdges(w, cell, at, d, sums);
    w->a[cell] = sums[1] > 0 ? sums[0] / sums[1] : 0;
  }
}

/* Sets the coefficient of the DM's cells, up to a factor, to `a`, unless all are the same. */
static PetscErrorCode SetCoefficient(DM dm, PetscInt ncell, PetscReal a[], PetscBool *varies)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  double         total[2] = {0, 0};
  PetscReal      range[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL};

  PetscFunctionBegin;
  for (PetscInt cell = 0; cell < ncell; cell++) {
    if (a[cell] == 0) continue;
    total[0] += a[cell];
    total[1]++;
    range[0] = PetscMin(range[0], a[cell]);
    range[1] = PetscMin(range[1], -a[cell]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_REAL, MPIU_MIN, comm));
  *varies = (PetscBool)(-range[1] > (1 + VARIES) * range[0]);
  if (!*varies) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt cell = 0; cell < ncell; cell++) a[cell] = a[cell] > 0 ? a[cell] * total[1] / total[0] : 1; /* no edge: one of the mean */
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
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
  PetscCall(VecGetLayout(w->s->identity, &layout));
  PetscCall(PetscSFCreate(w->mesh->comm, sf));
  PetscCall(PetscSFSetGraphLayout(*sf, layout, count, leaf, PETSC_COPY_VALUES, row));
  PetscCall(PetscFree2(leaf, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *at = the values of a vector, [rows], or on several ranks at nodes [ncell][places], 0 outside */
static PetscErrorCode GetValues(const Filling *w, PetscSF sf, Vec v, const double **at)
{
  const PetscScalar *from;
  double            *values;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(v, &from));
  *at = from;
  if (!sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1((PetscInt)w->mesh->nown * w->places + 1, &values));
  PetscCall(PetscSFBcastBegin(sf, MPIU_SCALAR, from, values, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_SCALAR, from, values, MPI_REPLACE));
  PetscCall(VecRestoreArrayRead(v, &from));
  *at = values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreValues(PetscSF sf, Vec v, const double **at)
{
  PetscFunctionBegin;
  if (sf) PetscCall(PetscFree(*at));
  else PetscCall(VecRestoreArrayRead(v, at));
  *at = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the coefficient of the DM. */
static PetscErrorCode FillCoefficient(Filling *w, PetscSF sf, DM dm, PetscBool *varies)
{
  PetscFunctionBegin;
  for (int d = 0; d < w->s->dim; d++) PetscCall(GetValues(w, sf, w->s->up[d], &w->up[d]));
  PetscCall(PetscMalloc1(w->mesh->nown + 1, &w->a));
  VpLoop(w->mesh->nown, FindMeans, w);
  for (int d = 0; d < w->s->dim; d++) PetscCall(RestoreValues(sf, w->s->up[d], &w->up[d]));
  PetscCall(SetCoefficient(dm, w->mesh->nown, w->a, varies));
  PetscCall(PetscFree(w->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* node = -1 where rows are those of the identity */
static void LeaveOut(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Filling *w = (Filling *)context;

  for (size_t i = (size_t)first * (size_t)w->places; i < (size_t)last * (size_t)w->places; i++)
    if (w->node[i] >= 0 && w->fixed[ValueAt(w, i)] != 0) w->node[i] = -1;
}

/* Sets the coefficient of the DM, unless it is one number, and leaves out rows of the identity. */
static PetscErrorCode FillFromMatrix(Filling *w, DM dm, PetscBool *varies)
{
  PetscSF sf;

  PetscFunctionBegin;
  PetscCall(CreateSF(w, &sf));
  if (w->c->varies) PetscCall(FillCoefficient(w, sf, dm, varies));
  PetscCall(GetValues(w, sf, w->s->identity, &w->fixed));
  VpLoop(w->mesh->nown, LeaveOut, w);
  PetscCall(RestoreValues(sf, w->s->identity, &w->fixed));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DescribeSides(const VpStencil *s, const Cells *c, PetscBool varies, char says[], size_t size)
{
  static const char *const names[] = {"periodic",         "rows of the identity", "nodes, Neumann", "Dirichlet nodes outside",
                                      "centers, Neumann", "centers, Dirichlet"};
  size_t                   used = 0;

  PetscFunctionBegin;
  for (int side = 0; side < 2 * s->dim; side++) {
    PetscBool said = PETSC_FALSE;

    for (int other = 0; other < side; other++) said = (PetscBool)(said || c->side[other] == c->side[side]);
    if (said) continue;
    PetscCall(PetscSNPrintf(says + used, size - used, "%s%s", used ? "; " : "", names[c->side[side]]));
    PetscCall(PetscStrlen(says, &used));
  }
  PetscCall(PetscSNPrintf(says + used, size - used, "%s%s%s", varies ? "; its coefficient varies" : "",
                          s->factor ? "; rows have a factor each" : "", c->wide ? "; cells are two distances wide" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStencilConvert(VpStencil *s, const VpStencilAsked *asked, VpStencilCells *to)
{
  PetscBool varies = PETSC_FALSE;
  Cells     c = {.face = {NULL}};
  Filling   w = {.s = s, .c = &c};

  PetscFunctionBegin;
  for (int side = 0; side < 2 * s->dim; side++) PetscCall(DecideSide(s, asked->points, side, &c.side[side]));
  for (int d = 0; d < s->dim; d++) PetscCall(FindFaces(s, &c, d));
  PetscCall(FindContrast(s, &c));
  PetscCall(ChooseWidth(s, asked, &c));
  PetscCall(CreateDM(s, &c, asked->prefix, &to->dm));
  w.mesh = DMVPatchDGData(to->dm)->mesh;
  w.places = (int)PetscPowInt(c.wide ? 3 : 2, s->dim);
  PetscCall(VpMallocLarge((size_t)w.mesh->nown * (size_t)w.places + 1, &w.node));
  PetscCall(ListNodes(&w));
  PetscCall(FillFromMatrix(&w, to->dm, &varies));
  to->node = w.node;
  to->wide = c.wide;
  to->centered = varies;
  for (int side = 0; side < 2 * s->dim; side++)
    to->centered = (PetscBool)(to->centered || c.side[side] == VP_STENCIL_CENTERS || c.side[side] == VP_STENCIL_HALF);
  to->scale = c.varies || s->factor || s->rest > VARIES || to->centered ? 0 : c.a;
  PetscCall(DescribeSides(s, &c, varies, to->says, sizeof(to->says)));
  for (int d = 0; d < s->dim; d++) PetscCall(PetscFree2(c.face[d], c.width[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
