/* Makes the numbers of a VpMetricView from values of the coefficient at points: on a backend, whose slots (VpMakers) work on points. The
   host knows numbers of cells, and those of points on the boundary. */
#include "definite.h"
#include "making.h"
#include "../../base/threads.h"

/* Some cells whose penalties are computed. */
typedef struct {
  const VpMetricWork *mk;
  const int32_t      *list;
  double             *G, *H, *penalty, *scratch; /* scratch: [pieces][VpMetricScratch()] */
} Some;

/* Cells whose eigenvalues differ by a smaller factor never need a larger penalty than 0.94. */
#define NEARLY_A_BOX 5
#define ALMOST_A_BOX 1.2 /* of fine cells with sides that hang */
#define MARGIN       1.1 /* for what the power iteration has not reached */
enum { SOME = 1024 };    /* cells at a time */

static void FindPenalties(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Some         *some = context;
  const VpMetricWork *mk = some->mk;
  double             *scratch = some->scratch + (size_t)piece * VpMetricScratch(mk->dim, mk->n);
  VpMetricCell        c = {.dim = mk->dim, .n = mk->n, .components = mk->metric->components, .slope = mk->slope, .weight = mk->weight};

  c.point_weight = mk->point_weight;
  for (int end = 0; end < 2; end++) {
    c.value[end] = mk->basis.value[end];
    c.out[end] = mk->basis.slope[end];
  }
  for (int32_t i = first; i < last; i++) {
    c.G = some->G + (size_t)i * (size_t)(c.components * mk->face * mk->n);
    c.side = some->H + (size_t)i * (size_t)(2 * mk->dim * mk->rows * mk->face);
    for (int side = 0; side < 2 * mk->dim; side++) c.part[side] = VpPartOf(mk, some->list[i], side);
    some->penalty[i] = VpMetricPenalty(&c, scratch);
  }
}

/* *list = the cells that may need a larger penalty than boxes do */
static PetscErrorCode ListCells(const VpMetricWork *mk, int32_t *n, int32_t **list)
{
  const int32_t cells = mk->mesh->nown, pieces = VpLoopPieces(cells);
  int32_t      *count; /* [pieces] numbers of cells in a piece's list, which stands where the piece starts */

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(cells + 1, list));
  *n = 0;
  if (mk->n * mk->face > VP_MOST_DEFINITE || mk->all.quotient <= (mk->mesh->faces.n ? ALMOST_A_BOX : NEARLY_A_BOX))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(pieces, &count));
  VP_LOOP_HEAVY (piece, pieces) {
    const int32_t first = VpLoopStart(cells, piece), last = VpLoopStart(cells, piece + 1);

    for (int32_t cell = first; cell < last; cell++) {
      const VpMadeCell *made = &mk->made[cell];
      double            least = 1;

      if (made->most <= ALMOST_A_BOX * made->least) continue;
      for (int side = 0; side < 2 * mk->dim; side++) least = PetscMin(least, VpPartOf(mk, cell, side));
      if (made->most > (least < 1 ? ALMOST_A_BOX : NEARLY_A_BOX) * made->least) (*list)[first + count[piece]++] = cell;
    }
  }
  for (int32_t piece = 0; piece < pieces; piece++) {
    memmove(*list + *n, *list + VpLoopStart(cells, piece), (size_t)count[piece] * sizeof(**list));
    *n += count[piece];
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the penalty of own cells. sums: the largest that a cell needs, number of cells that need a larger one than the problem's */
static PetscErrorCode SetPenalties(VpMetricWork *mk, double sums[2])
{
  const size_t G = (size_t)(mk->metric->components * mk->face * mk->n), H = (size_t)(2 * mk->dim * mk->rows * mk->face);
  Some         some = {.mk = mk};
  int32_t      n = 0, *list;

  PetscFunctionBegin;
  VpLoopTake(mk->penalty, 1, &mk->problem->penalty, 0, mk->mesh->nown);
  PetscCall(ListCells(mk, &n, &list));
  PetscCall(PetscMalloc4(SOME * G, &some.G, SOME * H, &some.H, SOME, &some.penalty,
                         (size_t)VpLoopHeavyPieces(SOME) * VpMetricScratch(mk->dim, mk->n), &some.scratch));
  for (int32_t at = 0; at < n; at += SOME) {
    const int32_t count = PetscMin(SOME, n - at);

    some.list = list + at;
    PetscCall(VpMoveBlocks(mk, (VpBlocks){count, some.list, G}, PETSC_FALSE, mk->to.G, some.G));
    PetscCall(VpMoveBlocks(mk, (VpBlocks){count, some.list, H}, PETSC_FALSE, mk->to.H, some.H));
    PetscCall(PetscArrayzero(some.penalty, SOME));
    VpLoopHeavy(count, FindPenalties, &some);
    for (int32_t i = 0; i < count; i++) {
      sums[0] = PetscMax(sums[0], some.penalty[i]);
      sums[1] += some.penalty[i] > mk->problem->penalty;
      if (some.penalty[i] > mk->problem->penalty) mk->penalty[some.list[i]] = MARGIN * some.penalty[i];
    }
  }
  PetscCall(PetscFree4(some.G, some.H, some.penalty, some.scratch));
  PetscCall(PetscFree(list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the cell of all ranks whose eigenvalues differ most. */
static PetscErrorCode FindWorst(const VpMetricWork *mk)
{
  const VpMesh   mesh = mk->mesh;
  const VpMetric m = mk->metric;
  struct {
    double      quotient;
    PetscMPIInt rank;
  } worst = {mk->all.quotient, 0};
  PetscInt cell[2] = {mesh->first + mk->all.worst, mesh->nown ? mesh->geometry->box[mk->all.worst] : 0};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(mesh->comm, &worst.rank));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, mesh->comm));
  PetscCallMPI(MPI_Bcast(cell, 2, MPIU_INT, worst.rank, mesh->comm));
  m->worst = worst.quotient;
  m->worst_cell = cell[0];
  m->worst_box = cell[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether an eigenvalue of some own cell is so much smaller than another one that rounding errors may give it either sign */
static PetscBool IsHidden(const VpMetricWork *mk)
{
  return (PetscBool)(mk->metric->components > mk->dim && !(mk->all.quotient * PETSC_MACHINE_EPSILON < 0.05));
}

/* Finds the penalty of every cell, and what the forecast of iterations needs. */
static PetscErrorCode FindShapes(VpMetricWork *mk)
{
  const VpMesh   mesh = mk->mesh;
  const VpMetric m = mk->metric;
  double         most[4] = {-mk->all.least, mk->all.most, mk->all.variation, 0};
  double         sum[3] = {mk->all.logs, (double)mesh->nown, 0}, sums[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(VpTogether(mesh->comm, SetPenalties(mk, sums)));
  most[3] = IsHidden(mk) ? PETSC_MAX_REAL : sums[0];
  sum[2] = sums[1];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_DOUBLE, MPI_MAX, mesh->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, mesh->comm));
  PetscCheck(most[3] < PETSC_MAX_REAL, mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A cell is so flat or sheared, or its coefficient so anisotropic, that rounding errors hide whether the operator is definite: "
             "change the map or the coefficient, or refine (-dm_refine)");
  PetscCall(FindWorst(mk));
  m->kappa = most[1] / -most[0];
  m->variation = most[2];
  m->penalty = most[3];
  m->typical = exp(sum[0] / sum[1]);
  m->raised = (PetscInt)sum[2];
  PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, 1, MPI_DOUBLE, mk->penalty, mk->penalty + mesh->nown));
  for (int32_t cell = 0; cell < mesh->nface; cell++) mk->penalty[cell] *= (mk->n - 1) * mk->n;
  PetscCall(VpTogether(mesh->comm, VpPlaceArray(&m->arrays, mk->penalty, (size_t)mesh->nface, "penalties", &m->eta)));
  mk->to.penalty = m->eta;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceMaps(VpMetricWork *mk)
{
  const VpMesh mesh = mk->mesh;
  const size_t count = 6 * (size_t)mesh->nown;
  double      *bounds;

  PetscFunctionBegin;
  if (mesh->geometry->map) PetscCall(VpMapPlace(mesh->geometry->map, mk->backend, &mk->to.maps));
  if (mk->to.maps.bounds) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpMallocLarge(count + 1, &bounds));
  VpGeometryAllBounds(mesh->geometry, mesh->nown, NULL, bounds);
  PetscCall(VpPlaceArray(&mk->scratch, bounds, count, "cells", &mk->to.maps.bounds));
  PetscCall(PetscFree(bounds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts what the slots read on the backend. */
static PetscErrorCode PlaceGiven(VpMetricWork *mk)
{
  const VpMesh         mesh = mk->mesh;
  const VpDomain       domain = mesh->geometry->domain;
  const VpPointValues *values = mk->values;
  const size_t         cells = (size_t)mesh->nown, size = (size_t)(mk->face * mk->n), given = (size_t)values->components;
  VpMaking            *to = &mk->to;
  double              *condition;

  PetscFunctionBegin;
  PetscCall(PlaceMaps(mk));
  PetscCall(PetscMalloc1(2 * (size_t)domain->nboundary, &condition));
  for (int32_t i = 0; i < domain->nboundary; i++) {
    const VpSide is = domain->boundary[i].kind;

    condition[2 * i] = 2 * VpConditions[is].mean;
    condition[2 * i + 1] = 2 * ((double)VpConditionGamma(is, 1, 0) - VpConditions[is].mean);
  }
  PetscCall(VpPlaceArray(&mk->scratch, condition, 2 * (size_t)domain->nboundary, "conditions", &to->condition));
  PetscCall(PetscFree(condition));
  PetscCall(VpShowArray(&mk->scratch, mk->at, 1 + 2 * (size_t)mk->dim, "points", &to->at));
  PetscCall(VpShowArray(&mk->scratch, mk->point_weight, size, "points", &to->weight));
  PetscCall(VpShowArray(&mk->scratch, mesh->neighbor, cells * 2 * (size_t)mk->dim, "cells", &to->neighbor));
  if (mesh->turn) PetscCall(VpShowArray(&mk->scratch, mesh->turn, cells * 2 * (size_t)mk->dim, "turns", &to->turn));
  if (values->placed) {
    to->cell = values->cell;
    to->side = values->side;
  } else PetscCall(VpShowArray(&mk->early, values->cell, cells * (values->flat ? 1 : size) * given, "coefficient at points", &to->cell));
  if (values->side && !values->placed)
    PetscCall(VpShowArray(&mk->early, values->side, cells * 2 * (size_t)(mk->dim * mk->face) * given, "coefficient at points", &to->side));
  if (values->reaction) PetscCall(VpShowArray(&mk->scratch, values->reaction, cells * size, "reaction at points", &to->reaction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define Reserve(arrays, count, what, p) VpArraysReserve(arrays, (count) * sizeof(**(p)), what, (void **)(p))

static PetscErrorCode AllocateMetric(VpMetricWork *mk)
{
  static const char points[] = "coefficient at points";
  const VpMetric    m = mk->metric;
  const size_t      cells = (size_t)m->ncell, traced = (size_t)m->ntraced, size = (size_t)(mk->face * mk->n);
  const size_t      face = 2 * (size_t)(mk->dim * mk->face);
  VpMaking         *to = &mk->to;

  PetscFunctionBegin;
  PetscCall(Reserve(&mk->large[0], cells * (size_t)m->components * size, points, &to->G));
  PetscCall(Reserve(&mk->large[1], traced * face * (size_t)mk->rows, points, &to->H));
  PetscCall(Reserve(&mk->early, (size_t)mk->mesh->nface * 2 * face, points, &to->seen));
  PetscCall(Reserve(&mk->scratch, cells, points, &to->made));
  PetscCall(Reserve(&m->arrays, cells * face, points, &m->beyond));
  if (mk->values->reaction || mk->problem->reaction != 0) PetscCall(Reserve(&m->arrays, cells * size, "reaction at points", &m->mass));
  if (mk->mesh->geometry->map) PetscCall(Reserve(&m->arrays, traced * size, "map", &m->root));
  to->beyond = m->beyond;
  to->mass = m->mass;
  to->root = m->root;
  PetscCall(VpMallocLarge(cells + 1, &mk->made));
  PetscCall(PetscMalloc1(mk->mesh->nface + 1, &mk->penalty));
  PetscCall(VpMallocLarge(cells * (size_t)mk->dim + 1, &m->mean));
  PetscCall(PetscMalloc3(cells + 1, &m->masses, cells + 1, &m->volumes, cells + 1, &m->shares));
  PetscCall(PlaceGiven(mk));
  if (mk->mesh->faces.n) PetscCall(VpAllocateParts(mk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMetric(const VpMetricWork *mk)
{
  int64_t cell = mk->bad ? mk->mesh->first + mk->bad - 1 : PETSC_MAX_INT;

  PetscFunctionBegin;
  PetscCall(VpCheckDeterminants(mk->mesh, mk->n, mk->made, mk->all.hand));
  if (mk->all.indefinite >= 0) cell = PetscMin(cell, mk->mesh->first + mk->all.indefinite);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cell, 1, MPI_INT64_T, MPI_MIN, mk->mesh->comm));
  PetscCheck(cell == PETSC_MAX_INT, mk->mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The coefficient must be finite and positive, as a matrix positive definite, at every point: cell %" PetscInt_FMT
             " has a point where it is not",
             (PetscInt)cell);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether values that are placed jump */
static PetscErrorCode FindJumps(const VpMetricWork *mk, PetscBool *jumps)
{
  double most = mk->all.change;

  PetscFunctionBegin;
  if (mk->values->placed) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, mk->mesh->comm));
  *jumps = (PetscBool)(mk->values->placed && mk->values->jump > 0 && most > mk->values->jump);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the means over the points of cells, and over the boxes of |det J| and c |det J|, by which the cycle knows the reaction. */
static PetscErrorCode TakeMeans(VpMetricWork *mk, PetscBool scaled)
{
  const VpMetric   m = mk->metric;
  const VpGeometry g = mk->mesh->geometry;
  double           sum[3] = {mk->all.mass, mk->all.boxes, mk->all.volume};

  PetscFunctionBegin;
  VP_LOOP (cell, mk->mesh->nown) {
    const VpMadeCell *made = &mk->made[cell];
    const double      volume = VpGeometryVolume(g, cell);

    for (int d = 0; d < mk->dim; d++)
      m->mean[(size_t)cell * (size_t)mk->dim + (size_t)d] =
        made->mean[VpMetricEntry(mk->dim, m->components, d, d)] * PetscSqr(VpGeometrySize(g, cell, d)) / volume;
    m->masses[cell] = made->mass / volume;
    m->volumes[cell] = m->root || scaled ? made->volume / volume : 1;
    m->shares[cell] = scaled ? made->share : 1;
  }
  if (scaled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, mk->mesh->comm));
  m->dilation = m->root ? sum[2] / sum[1] : 1;
  m->reaction = mk->values->reaction || g->map ? sum[0] / sum[1] : mk->problem->reaction;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From this change of a inside of a cell on, and up to this relative jump on faces, the cycle works with the function a^(1/4) u. */
#define SCALES_FROM 4
#define CONTINUOUS  0.01

/* Makes `entry` where a is a number that changes much inside of cells, but not on their faces. The constants and the reaction would become
   other functions, so that neither may matter. Nodal vectors do not enter by it. */
static PetscErrorCode ScaleByCoefficient(VpMetricWork *mk)
{
  const VpMesh   mesh = mk->mesh;
  const VpMetric m = mk->metric;
  double         most = mk->all.change;

  PetscFunctionBegin;
  if (mk->problem->nodal || mk->values->flat || mk->values->components > 1 || m->mass || VpProblemIsSingular(mesh, mk->problem))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  if (most < SCALES_FROM) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpTogether(mesh->comm, VpFetchMade(mk)));
  most = mk->all.jump; /* On a face G_dd |det J| of both cells differ as their a do. */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  if (most > 1 + CONTINUOUS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    VpTogether(mesh->comm, Reserve(&m->arrays, (size_t)mesh->nown * (size_t)(mk->n * mk->face), "coefficient at points", &m->entry)));
  PetscCall(VpTogether(mesh->comm, mk->backend->make->scale(&mk->to, m->entry)));
  PetscCall(VpTogether(mesh->comm, VpFetchMade(mk)));
  PetscCall(TakeMeans(mk, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets `seen` of cells beyond sides. */
static PetscErrorCode ExchangeSeen(VpMetricWork *mk)
{
  const size_t    block = 4 * (size_t)(mk->dim * mk->face) * sizeof(double);
  VpGhostExchange exchange = {.cells = {.mesh = mk->mesh, .backend = mk->backend, .block = block}};
  VpGhosts        ghosts;

  PetscFunctionBegin;
  PetscCall(VpGhostExchangeBegin(&exchange, VP_GHOST_FACE, mk->to.seen, (char *)mk->to.seen + (size_t)mk->mesh->nown * block, &ghosts));
  PetscCall(VpArrive(ghosts));
  PetscCall(VpGhostExchangeClear(&exchange));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeMetric(VpMetricWork *mk)
{
  const VpMesh    mesh = mk->mesh;
  const VpMakers *make = mk->backend->make;
  PetscBool       jumps = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(VpTogether(mesh->comm, AllocateMetric(mk)));
  PetscCall(VpTogether(mesh->comm, make->points(&mk->to)));
  PetscCall(VpTogether(mesh->comm, VpFetchMade(mk)));
  if (VpMeshIsAdaptive(mesh)) PetscCall(VpMakeParts(mk));
  PetscCall(CheckMetric(mk));
  PetscCall(FindJumps(mk, &jumps));
  if (jumps) {
    PetscCall(VpMetricDestroy(&mk->metric));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TakeMeans(mk, PETSC_FALSE));
  PetscCall(ExchangeSeen(mk));
  PetscCall(VpTogether(mesh->comm, VpKeepOutflow(mk)));
  PetscCall(VpTogether(mesh->comm, make->weigh(&mk->to)));
  if (VpMeshIsAdaptive(mesh)) VpWeighParts(mk);
  PetscCall(FindShapes(mk));
  PetscCall(VpMetricCompareBoxes(mesh, mk->made, mk->metric));
  PetscCall(VpTogether(mesh->comm, make->finish(&mk->to)));
  if (VpMeshIsAdaptive(mesh)) VpFinishParts(mk);
  PetscCall(VpMakeFluxes(mk));
  PetscCall(ScaleByCoefficient(mk));
  PetscCall(VpArraysRelease(&mk->early));
  PetscCall(VpMetricStore(mesh, &mk->to, mk->large, mk->metric));
  if (VpMeshIsAdaptive(mesh)) PetscCall(VpStoreGhosts(mk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets what is known before there is memory. */
static PetscErrorCode BeginMetric(VpMetricWork *mk)
{
  const VpMesh mesh = mk->mesh;
  double       gauss[VP_MAX_N];
  VpMetric     m;

  PetscFunctionBegin;
  mk->face = VpFaceSize(mk->n, mk->dim);
  for (int side = -1; side < 2 * mk->dim; side++) VpGaussPoints(mesh->geometry, mk->n, side, &mk->at[1 + side]);
  VpGauss(mk->n, gauss, mk->weight);
  for (int i = 0; i < mk->n * mk->face; i++) mk->point_weight[i] = VpPointWeight(mk->dim, mk->n, mk->weight, i);
  PetscCall(VpBasisCreate(VP_BASIS_GAUSS, mk->problem->degree, &mk->basis));
  VpMetricSlopes(&mk->basis, mk->slope);
  PetscCall(PetscNew(&m));
  mk->metric = m;
  m->refct = 1;
  m->ncell = mesh->nown;
  m->ntraced = VpMeshIsAdaptive(mesh) ? mesh->nface : mesh->nown;
  m->components = mk->values->components > mk->dim || mesh->geometry->map ? mk->dim * (mk->dim + 1) / 2 : mk->dim;
  mk->rows = VpMetricRows(mk->dim, m->components);
  m->arrays = mk->scratch = mk->early = mk->large[0] = mk->large[1] = (VpArrays){.backend = mk->backend, .precision = VP_DOUBLE};
  mk->to = (VpMaking){.dim = mk->dim,
                      .n = mk->n,
                      .given = mk->values->components,
                      .components = m->components,
                      .flat = mk->values->flat,
                      .precision = mk->values->precision,
                      .nodal = mk->problem->nodal,
                      .ncell = mesh->nown,
                      .constant = mk->problem->reaction};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricCreate(VpMesh mesh, const VpProblem *problem, const VpPointValues *values, const VpBackend *backend, VpMetric *out)
{
  VpMetricWork   mk = {.mesh = mesh, .problem = problem, .values = values, .backend = backend, .n = problem->degree + 1, .dim = mesh->dim};
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(BeginMetric(&mk));
  error = MakeMetric(&mk);
  PetscCall(VpArraysRelease(&mk.scratch));
  PetscCall(VpArraysRelease(&mk.early));
  for (int i = 0; i < 2; i++) PetscCall(VpArraysRelease(&mk.large[i]));
  PetscCall(PetscFree(mk.made));
  PetscCall(PetscFree(mk.parted));
  PetscCall(PetscFree(mk.penalty));
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
  PetscCall(VpArraysRelease(&m->arrays));
  PetscCall(PetscFree(m->first));
  PetscCall(PetscFree(m->part));
  PetscCall(PetscFree(m->mean));
  PetscCall(PetscFree3(m->masses, m->volumes, m->shares));
  for (int side = 0; side < 6; side++) PetscCall(PetscFree(m->flux[side]));
  PetscCall(PetscFree(m->outflows));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}
