/* Makes the numbers of a VpMetricView from values of the coefficient at points. */
#include "definite.h"
#include "making.h"
#include "../../base/threads.h"
#include <stdlib.h>
#include <string.h>

/* Finds G at the points of a cell (side -1), of one of its sides, or of a fine side there (half >= 0), from K. The cell's sign becomes 0
   unless all of its points and those of its sides have it. */
static void MakePoints(VpMetricWork *mk, int32_t cell, int side, int half, const VpMapGrid *grid, const double K[], VpPointMetric *back)
{
  const int dim = mk->dim;
  double    J[9 * VP_MOST_POINTS];

  VpGeometryEvaluateGrid(mk->mesh->geometry, cell, grid, NULL, J);
  for (int i = 0; i < grid->size * dim * dim && half >= 0; i++) J[i] *= i % dim == side / 2 ? 1 : 0.5;
  back->components = mk->metric->components;
  VpPullBack(dim, grid->size, J, mk->values->components, K, back);
  if (!back->definite) mk->bad = cell + 1;
  if (half >= 0) return;
  if (side < 0) mk->sign[cell] = (int8_t)back->sign;
  else if (mk->sign[cell] != back->sign) mk->sign[cell] = 0;
}

static void MakeCell(VpMetricWork *mk, int32_t cell)
{
  const VpMetric m = mk->metric;
  const int      dim = mk->dim, size = mk->n * mk->face;
  const size_t   first = (size_t)cell * (size_t)size;
  const double   volume = VpGeometryVolume(mk->mesh->geometry, cell);
  VpPointMetric  back;

  MakePoints(mk, cell, -1, -1, &mk->at[0], mk->values->cell + first * (size_t)mk->values->components, &back);
  m->scale[cell] = 1 / sqrt(volume);
  for (int i = 0; i < m->components; i++)
    memcpy(mk->G + (size_t)m->components * first + i * size, back.G[i], (size_t)size * sizeof(double));
  for (int d = 0; d < dim; d++) {
    for (int e = d; e < dim; e++) {
      const int     entry = VpMetricEntry(dim, m->components, d, e);
      const double *G = back.G[entry];
      double        sum = 0;

      if (e > d && m->components == dim) break;
      for (int i = 0; i < size; i++) sum += mk->point_weight[i] * G[i];
      sum *= VpGeometrySize(mk->mesh->geometry, cell, d) * VpGeometrySize(mk->mesh->geometry, cell, e) / volume;
      mk->average[(size_t)cell * m->components + entry] = sum;
      if (e == d) m->mean[(size_t)cell * dim + d] = sum;
    }
  }
  for (int i = 0; i < size && m->root; i++) m->root[first + i] = sqrt(volume / back.det[i]);
  for (int i = 0; i < size && m->mass; i++)
    m->mass[first + i] = back.det[i] * (mk->values->reaction ? mk->values->reaction[first + i] : mk->problem->reaction);
}

void VpMakeSide(VpMetricWork *mk, int32_t cell, int side, int half, const VpMapGrid *grid, const double K[], double H[], double seen[])
{
  const int     dim = mk->dim, d = side / 2, face = mk->face, components = mk->metric->components;
  const size_t  bytes = (size_t)face * sizeof(double);
  VpPointMetric back;
  const double *normal = back.G[VpMetricEntry(dim, components, d, d)];

  MakePoints(mk, cell, side, half, grid, K, &back);
  memcpy(H, normal, bytes);
  memcpy(seen, normal, bytes);
  for (int i = 0; i < face; i++) seen[face + i] = normal[i] * back.det[i];
  for (int e = 0, r = 1; e < dim && components > dim; e++) {
    const double *G = back.G[VpMetricEntry(dim, components, d, e)];

    for (int i = 0; i < face && e != d; i++) H[r * face + i] = side % 2 ? G[i] : -G[i];
    r += e != d;
  }
}

static void MakeCells(void *context, int32_t piece, int32_t first, int32_t last)
{
  VpMetricWork *mk = context;

  for (int32_t cell = first; cell < last; cell++) {
    MakeCell(mk, cell);
    for (int side = 0; side < 2 * mk->dim; side++) {
      const size_t at = ((size_t)cell * 2 * mk->dim + side) * mk->face;

      VpMakeSide(mk, cell, side, -1, &mk->at[1 + side], mk->values->side + at * mk->values->components, mk->H + at * mk->rows,
                 mk->seen + 2 * at);
    }
  }
}

/* 2 w of a cell and of the cell beyond a side at its points; or twice the mean of the side's condition, and 0. A coarse cell where the side
   hangs has 1, since its weights are those of its parts. The operator on continuous functions has 0 between cells. */
static void FindWeights(const VpMetricWork *mk, int32_t cell, int side, double own[], double beyond[])
{
  const int          face = mk->face;
  const size_t       at = (size_t)cell * 2 * (size_t)mk->dim + (size_t)side;
  const int32_t      next = VpMeshNeighbor(mk->mesh, cell, side);
  double             turned[2 * VP_MAX_N * VP_MAX_N];
  const VpMetricSide there = VpFindBeyond(mk, cell, side, turned);

  if (there.cell >= 0 && !mk->problem->nodal) {
    VpWeighSides(face, mk->seen + at * 2 * (size_t)face, there.seen, own, beyond);
    return;
  }
  for (int i = 0; i < face; i++) {
    own[i] = next == VP_HANGING ? 1 : there.cell >= 0 ? 0 : 2 * VpConditions[VpDomainSide(mk->mesh->geometry->domain, next)].mean;
    beyond[i] = 0;
  }
}

static void WeighSides(void *context, int32_t piece, int32_t first, int32_t last)
{
  VpMetricWork *mk = context;
  double        own[VP_MAX_N * VP_MAX_N], beyond[VP_MAX_N * VP_MAX_N];

  for (int32_t cell = first; cell < last; cell++) {
    for (int side = 0; side < 2 * mk->dim; side++) {
      double *H = mk->H + ((size_t)cell * 2 * mk->dim + side) * mk->rows * mk->face;

      FindWeights(mk, cell, side, own, beyond);
      for (int r = 0; r < mk->rows; r++) {
        for (int i = 0; i < mk->face; i++) H[r * mk->face + i] *= own[i];
      }
    }
  }
}

/* a number of H as it is stored */
static double Stored(const VpMetricWork *mk, double H)
{
  return mk->values->precision == VP_SINGLE ? (double)(float)H : H;
}

static void SetBeyond(void *context, int32_t piece, int32_t first, int32_t last)
{
  VpMetricWork *mk = context;
  const int     face = mk->face;
  const double  factor = (mk->n - 1) * mk->n;
  double        own[VP_MAX_N * VP_MAX_N], beyond[VP_MAX_N * VP_MAX_N], turned[2 * VP_MAX_N * VP_MAX_N];

  for (int32_t cell = first; cell < last; cell++) {
    mk->metric->eta[cell] = factor * mk->penalty[cell];
    for (int side = 0; side < 2 * mk->dim; side++) {
      const size_t  at = (size_t)cell * 2 * mk->dim + side;
      const int32_t next = mk->mesh->neighbor[at];
      const double *here = mk->seen + at * 2 * face;
      double       *to = mk->metric->beyond + at * face, *H = mk->H + at * mk->rows * face;
      VpMetricSide  there = VpFindBeyond(mk, cell, side, turned);

      FindWeights(mk, cell, side, own, beyond);
      if (there.cell < 0) {
        const VpCondition *condition = &VpConditions[VpDomainSide(mk->mesh->geometry->domain, next)];

        for (int i = 0; i < face; i++) to[i] = mk->metric->eta[cell] * 2 * (condition->penalty - condition->mean) * here[i];
        for (int i = 0; i < mk->rows * face && next == VP_HANGING; i++) H[i] = 0;
        continue;
      }
      for (int i = 0; i < face; i++) {
        const double other = beyond[i] * there.seen[i];

        if (there.half == 1) to[i] = factor * mk->penalty[there.cell] * Stored(mk, other);
        else to[i] = VpSigmaOf(mk, there.cell, other, cell, H[i]) - mk->metric->eta[cell] * Stored(mk, H[i]);
      }
    }
  }
}

/* The numbers of a piece's cells. */
typedef struct {
  double  extremes[2], variation, logs, penalty;
  int32_t raised;
} Shape;
typedef struct {
  VpMetricWork *mk;
  Shape        *shape; /* [pieces] */
} Shaping;

/* Cells whose eigenvalues differ by less never need a larger penalty than 0.94; the second: fine cells with sides that hang. */
#define NEARLY_A_BOX 5
#define ALMOST_A_BOX 1.2
#define MARGIN       1.1 /* for what the power iteration has not reached */

static void ShapeCells(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Shaping *to = context;
  VpMetricWork  *mk = to->mk;
  Shape          s = {.extremes = {PETSC_MAX_REAL, 0}, .variation = 1};
  const int      size = mk->n * mk->face;
  double        *scratch = size <= VP_MOST_DEFINITE ? malloc(VpMetricScratch(mk->dim, mk->n) * sizeof(double)) : NULL;
  VpMetricCell   c = {.dim = mk->dim, .n = mk->n, .components = mk->metric->components, .slope = mk->slope, .weight = mk->weight};

  c.point_weight = mk->point_weight;

  c.value[0] = mk->basis.value[0];
  c.value[1] = mk->basis.value[1];
  c.out[0] = mk->basis.slope[0];
  c.out[1] = mk->basis.slope[1];
  for (int32_t cell = first; cell < last; cell++) {
    double *extremes = mk->extremes + 2 * (size_t)cell, penalty = 0, least = 1;

    c.G = mk->G + (size_t)cell * c.components * size;
    c.side = mk->H + (size_t)cell * 2 * mk->dim * mk->rows * mk->face;
    for (int side = 0; side < 2 * mk->dim; side++) {
      c.part[side] = VpFindBeyond(mk, cell, side, NULL).half;
      least = PetscMin(least, c.part[side]);
    }
    s.variation = PetscMax(s.variation, VpMetricExtremes(&c, extremes));
    s.extremes[0] = PetscMin(s.extremes[0], extremes[0]);
    s.extremes[1] = PetscMax(s.extremes[1], extremes[1]);
    s.logs += log(extremes[1] / extremes[0]);
    if (scratch && extremes[1] > (least < 1 ? ALMOST_A_BOX : NEARLY_A_BOX) * extremes[0]) penalty = VpMetricPenalty(&c, scratch);
    s.penalty = PetscMax(s.penalty, penalty);
    s.raised += penalty > mk->problem->penalty;
    mk->penalty[cell] = penalty > mk->problem->penalty ? MARGIN * penalty : mk->problem->penalty;
  }
  free(scratch);
  to->shape[piece] = s;
}

/* Finds the penalty of every cell, and what the forecast of iterations needs. */
static PetscErrorCode FindShapes(VpMetricWork *mk)
{
  const VpMesh   mesh = mk->mesh;
  const VpMetric m = mk->metric;
  const int32_t  pieces = VpLoopHeavyPieces(mesh->nown);
  double         most[4] = {-PETSC_MAX_REAL, 0, 1, 0}, sum[3] = {0, (double)mesh->nown, 0};
  Shaping        to = {.mk = mk};

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(pieces, &to.shape));
  for (int32_t i = 0; i < pieces; i++) to.shape[i] = (Shape){.extremes = {PETSC_MAX_REAL, 0}, .variation = 1};
  VpLoopHeavy(mesh->nown, ShapeCells, &to);
  for (int32_t i = 0; i < pieces; i++) {
    const Shape *s = &to.shape[i];

    most[0] = PetscMax(most[0], -s->extremes[0]);
    most[1] = PetscMax(most[1], s->extremes[1]);
    most[2] = PetscMax(most[2], s->variation);
    most[3] = PetscMax(most[3], s->penalty);
    sum[0] += s->logs;
    sum[2] += s->raised;
  }
  PetscCall(PetscFree(to.shape));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_DOUBLE, MPI_MAX, mesh->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, mesh->comm));
  m->kappa = most[1] / -most[0];
  m->variation = most[2];
  m->penalty = most[3];
  m->typical = exp(sum[0] / sum[1]);
  m->raised = (PetscInt)sum[2];
  PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, 1, MPI_DOUBLE, mk->penalty, mk->penalty + mesh->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* flux = G_dd / |J^-T e_d| at the points of sides where a flux is given, and alpha times it beyond. G_dd = |det J| n.K n |J^-T e_d|^2,
   and |det J| |J^-T e_d| is the area of the side there. */
static PetscErrorCode MakeFluxes(VpMetricWork *mk, int side)
{
  const VpMesh mesh = mk->mesh;
  const int    dim = mk->dim, d = side / 2, face = mk->face;
  double       J[9 * VP_MAX_N * VP_MAX_N], *to, sum[2] = {0, 0}; /* flux, and what it is on the boxes */
  int32_t      count = 0;

  PetscFunctionBegin;
  for (int pass = 0; pass < 2; pass++) {
    if (pass) PetscCall(PetscMalloc1((size_t)count * face + 1, &mk->metric->flux[side]));
    mk->metric->nflux[side] = count;
    to = mk->metric->flux[side];
    for (int32_t cell = 0; cell < mesh->nown; cell++) {
      const int32_t next = mesh->neighbor[(size_t)cell * 2 * dim + side];
      const VpSide  kind = VpDomainSide(mesh->geometry->domain, next);
      double       *beyond = mk->metric->beyond + ((size_t)cell * 2 * dim + side) * face;

      if (!VpIsCondition(kind) || VpConditions[kind].given != VP_GIVEN_FLUX) continue;
      count += !pass;
      if (!pass) continue;
      VpGeometryEvaluateGrid(mesh->geometry, cell, &mk->at[1 + side], NULL, J);
      sum[1] += mk->metric->mean[(size_t)cell * dim + d] * VpGeometryArea(mesh->geometry, cell, side);
      for (int i = 0; i < face; i++, to++) {
        double inverse[9], length = 0;

        VpInvert(dim, J + i * dim * dim, VpDeterminant(dim, J + i * dim * dim), inverse);
        for (int e = 0; e < dim; e++) length += PetscSqr(inverse[d * dim + e]);
        *to = mk->seen[((size_t)cell * 2 * dim + side) * 2 * face + i] / sqrt(length);
        sum[0] += mk->weight[i % mk->n] * (dim == 3 ? mk->weight[i / mk->n] : 1) * *to;
        beyond[i] += VpConditions[kind].alpha * VpDomainAlpha(mesh->geometry->domain, next) * *to;
      }
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, mesh->comm));
  mk->metric->robin[side] = mesh->geometry->map && sum[1] > 0 ? sum[0] / sum[1] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps row d of G on the sides of one number where `given` is given, before it is weighed. */
static PetscErrorCode KeepOutflow(VpMetricWork *mk, VpGivenKind given, int side)
{
  const VpMesh mesh = mk->mesh;
  const size_t kept = (size_t)(mk->rows * mk->face);
  size_t       count = 0;

  PetscFunctionBegin;
  for (int pass = 0; pass < 2; pass++) {
    if (pass) PetscCall(PetscMalloc1(count * kept + 1, &mk->metric->outflow[given][side]));
    count = 0;
    for (int32_t cell = 0; cell < mesh->nown; cell++) {
      const size_t at = (size_t)cell * 2 * mk->dim + side;
      const VpSide kind = VpDomainSide(mesh->geometry->domain, mesh->neighbor[at]);

      if (!VpIsCondition(kind) || VpConditions[kind].given != given) continue;
      if (pass) PetscCall(PetscArraycpy(mk->metric->outflow[given][side] + count * kept, mk->H + at * kept, kept));
      count++;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllocateMetric(VpMetricWork *mk)
{
  const VpMetric m = mk->metric;
  const size_t   cells = (size_t)mk->mesh->nown, size = (size_t)(mk->face * mk->n);
  const double   c = mk->problem->reaction;

  PetscFunctionBegin;
  m->refct = 1;
  m->ncell = m->ntraced = mk->mesh->nown;
  m->components = mk->values->components > mk->dim || mk->mesh->geometry->map ? mk->dim * (mk->dim + 1) / 2 : mk->dim;
  mk->rows = VpMetricRows(mk->dim, m->components);
  PetscCall(VpMallocLarge(cells * (size_t)m->components * size + 1, &mk->G));
  PetscCall(VpMallocLarge(cells * 2 * (size_t)(mk->dim * mk->rows * mk->face) + 1, &mk->H));
  PetscCall(VpMallocLarge(cells * 2 * (size_t)(mk->dim * mk->face) + 1, &m->beyond));
  PetscCall(PetscMalloc1(cells + 1, &m->scale));
  PetscCall(PetscMalloc1(cells + 1, &m->eta));
  PetscCall(PetscMalloc1(cells * (size_t)mk->dim + 1, &m->mean));
  if (mk->values->reaction || c != 0) PetscCall(VpMallocLarge(cells * size + 1, &m->mass));
  if (mk->mesh->geometry->map) PetscCall(VpMallocLarge(cells * size + 1, &m->root));
  PetscCall(VpMallocLarge((size_t)mk->mesh->nface * 4 * (size_t)(mk->dim * mk->face) + 1, &mk->seen));
  PetscCall(PetscMalloc1(mk->mesh->nface + 1, &mk->penalty));
  PetscCall(PetscMalloc1(cells * (size_t)m->components + 1, &mk->average));
  PetscCall(PetscMalloc1(2 * cells + 1, &mk->extremes));
  PetscCall(PetscCalloc1(mk->mesh->nown + 1, &mk->sign));
  if (mk->mesh->faces.n) PetscCall(VpAllocateParts(mk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMetric(const VpMetricWork *mk)
{
  int64_t cell = mk->bad ? mk->mesh->first + mk->bad - 1 : PETSC_MAX_INT;

  PetscFunctionBegin;
  PetscCall(VpCheckDeterminants(mk->mesh, mk->n, mk->sign));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cell, 1, MPI_INT64_T, MPI_MIN, mk->mesh->comm));
  PetscCheck(cell == PETSC_MAX_INT, mk->mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The coefficient must be finite and positive, as a matrix positive definite, at every point: cell %" PetscInt64_FMT
             " has a point where it is not",
             (PetscInt64)cell);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From this change of a inside of a cell on, and up to this relative jump on faces, the cycle works with the function a^(1/4) u. */
#define SCALES_FROM 4
#define CONTINUOUS  0.01

static void ScaleCells(void *context, int32_t piece, int32_t first, int32_t last)
{
  VpMetricWork  *mk = context;
  const VpMetric m = mk->metric;
  const int      dim = mk->dim, size = mk->n * mk->face;

  for (int32_t cell = first; cell < last; cell++) {
    double *mean = m->mean + (size_t)cell * dim;

    for (int d = 0; d < dim; d++) mean[d] = 0;
    for (int i = 0; i < size; i++) {
      const size_t at = (size_t)cell * size + i;
      const double a = mk->values->cell[at];

      m->entry[at] = (m->root ? m->root[at] : 1) * sqrt(sqrt(a));
      for (int d = 0; d < dim; d++)
        mean[d] +=
          mk->point_weight[i] / sqrt(a) * mk->G[((size_t)cell * m->components + VpMetricEntry(dim, m->components, d, d)) * size + i];
    }
    for (int d = 0; d < dim; d++)
      mean[d] *= PetscSqr(VpGeometrySize(mk->mesh->geometry, cell, d)) / VpGeometryVolume(mk->mesh->geometry, cell);
  }
}

/* the largest change of a number a inside of an own cell; its largest jump on a side. On a face G_dd |det J| of both cells differ as their
   a do. */
static double FindChange(const VpMetricWork *mk)
{
  const int size = mk->n * mk->face;
  double    most = 1;

  for (int32_t cell = 0; cell < mk->mesh->nown; cell++) {
    const double *a = mk->values->cell + (size_t)cell * size;
    double        range[2] = {a[0], a[0]};

    for (int i = 0; i < size; i++) {
      range[0] = PetscMin(range[0], a[i]);
      range[1] = PetscMax(range[1], a[i]);
    }
    most = PetscMax(most, range[1] / range[0]);
  }
  return most;
}

static double FindJump(const VpMetricWork *mk)
{
  double most = 1, own[VP_MAX_N * VP_MAX_N], beyond[VP_MAX_N * VP_MAX_N];

  for (int32_t i = 0; i < 2 * mk->dim * mk->mesh->nown; i++) {
    FindWeights(mk, i / (2 * mk->dim), i % (2 * mk->dim), own, beyond);
    for (int q = 0; q < mk->face && beyond[0] > 0; q++) most = PetscMax(most, PetscMax(own[q] / beyond[q], beyond[q] / own[q]));
  }
  return most;
}

/* Makes `entry` where a is a number that changes much inside of cells, but not on their faces. The constants and the reaction would become
   other functions, so that neither may matter. Nodal vectors do not enter by it. */
static PetscErrorCode ScaleByCoefficient(VpMetricWork *mk)
{
  const VpMesh mesh = mk->mesh;
  double       most;

  PetscFunctionBegin;
  if (mk->problem->nodal || mk->values->components > 1 || mk->metric->mass || VpProblemIsSingular(mesh, mk->problem))
    PetscFunctionReturn(PETSC_SUCCESS);
  most = FindChange(mk);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  if (most < SCALES_FROM) PetscFunctionReturn(PETSC_SUCCESS);
  most = FindJump(mk);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  if (most > 1 + CONTINUOUS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpMallocLarge((size_t)mesh->nown * (size_t)(mk->n * mk->face) + 1, &mk->metric->entry));
  VpLoop(mesh->nown, ScaleCells, mk);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The means of |det J| and c |det J| over the boxes, by which the cycle knows the reaction. */
static PetscErrorCode FindReaction(const VpMetricWork *mk)
{
  const VpMetric m = mk->metric;
  const int      size = mk->n * mk->face;
  double         sum[3] = {0, 0, 0};

  PetscFunctionBegin;
  for (int32_t cell = 0; cell < mk->mesh->nown; cell++) {
    const double volume = VpGeometryVolume(mk->mesh->geometry, cell);

    for (int i = 0; i < size && (m->mass || m->root); i++) {
      const size_t at = (size_t)cell * size + i;

      if (m->mass) sum[0] += mk->point_weight[i] * m->mass[at];
      if (m->root) sum[2] += mk->point_weight[i] * volume / PetscSqr(m->root[at]);
    }
    sum[1] += volume;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, mk->mesh->comm));
  m->dilation = m->root ? sum[2] / sum[1] : 1;
  m->reaction = mk->values->reaction || mk->mesh->geometry->map ? sum[0] / sum[1] : mk->problem->reaction;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeMetric(VpMetricWork *mk)
{
  const VpMesh mesh = mk->mesh;
  const size_t seen = 4 * (size_t)(mk->dim * mk->face);

  PetscFunctionBegin;
  PetscCall(VpTogether(mesh->comm, AllocateMetric(mk)));
  VpLoopHeavy(mesh->nown, MakeCells, mk);
  if (VpMeshIsAdaptive(mesh)) PetscCall(VpMakeParts(mk));
  PetscCall(CheckMetric(mk));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, seen, MPI_DOUBLE, mk->seen, mk->seen + (size_t)mesh->nown * seen));
  for (int i = 0; i < 4 * mk->dim; i++) PetscCall(KeepOutflow(mk, i % 2 ? VP_GIVEN_FLUX : VP_GIVEN_VALUE, i / 2));
  VpLoop(mesh->nown, WeighSides, mk);
  PetscCall(FindShapes(mk));
  PetscCall(VpMetricCompareBoxes(mesh, mk->extremes, mk->average, mk->metric));
  VpLoop(mesh->nown, SetBeyond, mk);
  if (VpMeshIsAdaptive(mesh)) VpFinishParts(mk);
  for (int side = 0; side < 2 * mk->dim; side++) PetscCall(MakeFluxes(mk, side));
  PetscCall(ScaleByCoefficient(mk));
  PetscCall(FindReaction(mk));
  PetscCall(VpMetricStore(mesh, mk->n, mk->values->precision, &mk->G, &mk->H, mk->metric));
  if (VpMeshIsAdaptive(mesh)) PetscCall(VpStoreGhosts(mk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricCreate(VpMesh mesh, const VpProblem *problem, const VpPointValues *values, VpMetric *out)
{
  VpMetricWork   mk = {.mesh = mesh, .problem = problem, .values = values, .n = problem->degree + 1, .dim = mesh->dim};
  PetscErrorCode error;
  double         gauss[VP_MAX_N];

  PetscFunctionBegin;
  mk.face = VpFaceSize(mk.n, mk.dim);
  for (int side = -1; side < 2 * mk.dim; side++) VpGaussPoints(mesh->geometry, mk.n, side, &mk.at[1 + side]);
  VpGauss(mk.n, gauss, mk.weight);
  for (int i = 0; i < mk.n * mk.face; i++) mk.point_weight[i] = VpPointWeight(mk.dim, mk.n, mk.weight, i);
  PetscCall(VpBasisCreate(VP_BASIS_GAUSS, problem->degree, &mk.basis));
  VpMetricSlopes(&mk.basis, mk.slope);
  PetscCall(PetscNew(&mk.metric));
  error = MakeMetric(&mk);
  PetscCall(PetscFree(mk.G));
  PetscCall(PetscFree(mk.H));
  PetscCall(PetscFree(mk.seen));
  PetscCall(PetscFree(mk.parted));
  PetscCall(PetscFree(mk.penalty));
  PetscCall(PetscFree(mk.average));
  PetscCall(PetscFree(mk.extremes));
  PetscCall(PetscFree(mk.sign));
  if (error) PetscCall(VpMetricDestroy(&mk.metric));
  PetscCall(error);
  *out = mk.metric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricDestroy(VpMetric *out)
{
  VpMetric m = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!m || --m->refct) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->factor != m->root) PetscCall(PetscFree(m->factor));
  PetscCall(PetscFree(m->cell));
  PetscCall(PetscFree(m->side));
  PetscCall(PetscFree(m->shape));
  PetscCall(PetscFree(m->first));
  PetscCall(PetscFree(m->part));
  PetscCall(PetscFree(m->mass));
  PetscCall(PetscFree(m->beyond));
  PetscCall(PetscFree(m->scale));
  PetscCall(PetscFree(m->eta));
  PetscCall(PetscFree(m->root));
  PetscCall(PetscFree(m->entry));
  PetscCall(PetscFree(m->mean));
  for (int side = 0; side < 6; side++) PetscCall(PetscFree(m->flux[side]));
  for (int i = 0; i < 6 * VP_GIVEN_KINDS; i++) PetscCall(PetscFree(m->outflow[i / 6][i % 6]));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}
