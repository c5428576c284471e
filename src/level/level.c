/* Creates and destroys levels, and places their tables on the backend. */
#include "internal.h"

PetscClassId  VP_CLASSID;
PetscLogEvent VP_EVENT_SETUP, VP_EVENT_APPLY, VP_EVENT_SWEEP, VP_EVENT_TRANSFER, VP_EVENT_COARSE, VP_EVENT_AMG, VP_EVENT_CONVERT;

static PetscErrorCode PlaceNeighbors(VpLevel level)
{
  VpMesh         mesh = level->mesh;
  VpView        *view = &level->view;
  const int32_t *neighbor = mesh->neighbor;

  PetscFunctionBegin;
  if (level->reads == VP_GHOST_SIDE) {
    if (mesh->shared->n) neighbor = mesh->shared->beyond;
    view->nsweep = mesh->nown;
    view->nlocal = mesh->nown + mesh->shared->n;
  }
  PetscCall(VpLevelPlaceMeshArray(level, neighbor, (size_t)view->nsweep * 2 * mesh->dim, "neighbours", &view->neighbor));
  if (mesh->turn) PetscCall(VpLevelPlaceMeshArray(level, mesh->turn, (size_t)view->nsweep * 2 * mesh->dim, "turns", &view->turn));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceTraces(VpLevel level)
{
  const VpBasis *basis = &level->basis;
  const int      nt = basis->nt;
  double         traces[4 * VP_MAX_N], expand[4 * VP_MAX_N];

  PetscFunctionBegin;
  level->view.basis = basis;
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < nt; i++) {
        traces[(2 * s + k) * nt + i] = VpBasisTrace(basis, s, k, i);
        expand[(2 * s + k) * nt + i] = VpBasisExpand(basis, s, k, i);
      }
    }
  }
  PetscCall(VpArraysPlaceReals(&level->arrays, traces, 4 * nt, "traces", &level->view.traces));
  PetscCall(VpArraysPlaceReals(&level->arrays, expand, 4 * nt, "traces", &level->view.expand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places the matrices between the level's basis and the basis of outer vectors. */
static PetscErrorCode PlaceBasisChange(VpLevel level)
{
  const int n = level->basis.n;
  double    enter[VP_MAX_N * VP_MAX_N], leave[VP_MAX_N * VP_MAX_N];
  VpBasis   orthonormal, outer;

  PetscFunctionBegin;
  PetscCall(VpBasisCreateFor(level->problem.quadrature, VP_BASIS_ORTHONORMAL, level->basis.degree, &orthonormal));
  PetscCall(VpBasisChange(&orthonormal, &level->basis, level->enter));
  PetscCall(VpBasisChange(&level->basis, &orthonormal, level->leave));
  PetscCall(VpBasisCreateFor(level->problem.quadrature, level->problem.outer, level->basis.degree, &outer));
  PetscCall(VpBasisChange(&outer, &level->basis, enter));
  PetscCall(VpBasisChange(&level->basis, &outer, leave));
  PetscCall(VpArraysPlaceReals(&level->arrays, enter, n * n, "change of basis", &level->view.enter));
  PetscCall(VpArraysPlaceReals(&level->arrays, leave, n * n, "change of basis", &level->view.leave));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the matrices by which nodal vectors enter and leave a level of a cycle, where they are those of a dual space. A functional's
   coefficients in the orthonormal basis are V^T times its values for the nodes' functions, where V takes orthonormal coefficients to values
   at nodes. */
static PetscErrorCode FindCycleChange(VpLevel level, double enter[], double leave[])
{
  const int n = level->basis.n;
  double    V[VP_MAX_N * VP_MAX_N];
  VpBasis   orthonormal, nodes;

  PetscFunctionBegin;
  PetscCall(VpBasisCreateFor(level->problem.quadrature, VP_BASIS_ORTHONORMAL, level->basis.degree, &orthonormal));
  PetscCall(VpBasisCreateNodes(level->problem.quadrature, level->basis.degree, level->problem.point, &nodes));
  PetscCall(VpBasisChange(&orthonormal, &nodes, V));
  PetscCall(VpBasisChange(&level->basis, &nodes, leave));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int m = 0; m < n; m++) enter[i * n + j] += level->enter[i * n + m] * V[j * n + m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelNodalChange(VpLevel level, double change[])
{
  VpBasis nodes;

  PetscFunctionBegin;
  PetscCall(VpBasisCreateNodes(level->problem.quadrature, level->basis.degree, level->problem.point, &nodes));
  PetscCall(VpBasisChange(&nodes, &level->basis, change));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes those of an outer level: nodal values leave as coefficients, and what coefficients test enters as what nodal values test. */
static PetscErrorCode FindOuterChange(VpLevel level, double enter[], double leave[])
{
  const int n = level->basis.n;

  PetscFunctionBegin;
  PetscCall(VpLevelNodalChange(level, leave));
  for (int i = 0; i < n * n; i++) enter[i] = leave[i % n * n + i / n];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceNodalView(VpLevel level)
{
  const int n = level->basis.n;
  double    enter[VP_MAX_N * VP_MAX_N] = {0}, leave[VP_MAX_N * VP_MAX_N];

  PetscFunctionBegin;
  PetscCall((level->outer ? FindOuterChange : FindCycleChange)(level, enter, leave));
  level->nodal = level->view;
  if (!level->outer) level->nodal.metric.root = NULL;
  level->nodal.plans = NULL;
  PetscCall(VpArraysPlaceReals(&level->arrays, enter, n * n, "change of basis", &level->nodal.enter));
  PetscCall(VpArraysPlaceReals(&level->arrays, leave, n * n, "change of basis", &level->nodal.leave));
  if (level->ops->prepare) PetscCall(level->ops->prepare(&level->nodal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* metric: of the outer operator, or NULL */
static PetscErrorCode PlaceTables(VpLevel level, VpMetric metric)
{
  PetscFunctionBegin;
  PetscCall(PlaceNeighbors(level));
  if (metric) PetscCall(VpLevelPlaceMetric(level, metric));
  if (!level->view.metric.components) PetscCall(VpLevelPlaceLines(level));
  PetscCall(VpPlaceHanging(level, level, &level->mesh->faces, &level->arrays, &level->view.hang));
  PetscCall(PlaceTraces(level));
  PetscCall(PlaceBasisChange(level));
  if (level->ops->prepare) PetscCall(level->ops->prepare(&level->view));
  if (level->problem.nodal) PetscCall(PlaceNodalView(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* given: has the mesh, the precision, the backend, `reads` and `outer` */
static PetscErrorCode CreateLevel(const struct VpLevel_ *given, const VpProblem *problem, VpBasisType basis, VpLevel *out)
{
  const VpMesh      mesh = given->mesh;
  const VpBackend  *backend = given->backend;
  const VpPrecision precision = given->precision;
  const int         ndof = (int)PetscPowInt(problem->degree + 1, mesh->dim);
  VpLevel           level;

  PetscFunctionBegin;
  PetscCall(PetscNew(&level));
  *out = level;
  *level = *given;
  level->refct = 1;
  level->mesh = VpReference(mesh);
  level->problem = *problem;
  level->problem.coefficient = level->problem.coarser = NULL;
  if (problem->metric) level->problem.metric = VpReference(problem->metric);
  level->scale = ldexp(1, problem->exponent);
  level->arrays = (VpArrays){.backend = backend, .precision = precision};
  if (basis == VP_BASIS_THIN && problem->degree + 1 < VP_THIN_FROM(mesh->dim)) basis = VP_BASIS_ORTHONORMAL;
  PetscCall(VpBasisCreateFor(problem->quadrature, basis, problem->degree, &level->basis));
  level->ops = backend->ops(precision, mesh->dim, problem->degree);
  PetscCheck(level->ops, mesh->comm, PETSC_ERR_SUP, "%s has no kernels for dimension %d, degree %d", backend->name, mesh->dim,
             problem->degree);
  level->real = precision == VP_SINGLE ? sizeof(float) : sizeof(double);
  level->block = level->real * ndof;
  PetscCallMPI(MPI_Type_contiguous(ndof, precision == VP_SINGLE ? MPI_FLOAT : MPI_DOUBLE, &level->unit));
  PetscCallMPI(MPI_Type_commit(&level->unit));
  level->view = (VpView){.dim = mesh->dim,
                         .n = level->basis.n,
                         .nt = level->basis.nt,
                         .first = {level->basis.first[0], level->basis.first[1]},
                         .nown = mesh->nown,
                         .nsweep = VpMeshKnown(mesh),
                         .nlocal = mesh->nlocal,
                         .position = mesh->first};
  level->exchange.cells = (VpCells){mesh, backend, level->ops, &level->view, level->block};
  if (given->reads == VP_GHOST_SIDE) PetscCall(VpMeshSetSides(mesh));
  PetscCall(VpLevelSetCoefficient(level, problem));
  PetscCall(VpTogether(mesh->comm, PlaceTables(level, problem->metric)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelCreate(VpMesh mesh, const VpProblem *problem, VpBasisType basis, VpPrecision precision, const VpBackend *backend,
                             VpLevel *level)
{
  const struct VpLevel_ given = {.mesh = mesh, .precision = precision, .backend = backend, .reads = VP_GHOST_FACE};

  return CreateLevel(&given, problem, basis, level);
}

PetscErrorCode VpLevelCreateOuter(VpMesh mesh, const VpProblem *problem, const VpBackend *backend, VpLevel *level)
{
  const VpGhostKind     reads = VpMeshIsAdaptive(mesh) ? VP_GHOST_FACE : VP_GHOST_SIDE;
  const struct VpLevel_ given = {.mesh = mesh,
                                 .precision = VP_DOUBLE,
                                 .backend = backend,
                                 .reads = reads,
                                 .outer = PETSC_TRUE,
                                 .alone = (PetscBool)(problem->nodal && !VpIsDevice(backend))}; /* Devices are fastest with equal lines. */

  return CreateLevel(&given, problem, problem->outer, level);
}

PetscErrorCode VpLevelDestroy(VpLevel *out)
{
  VpLevel level = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!level || --level->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpGhostExchangeClear(&level->exchange));
  if (level->backend->release_plans) PetscCall(level->backend->release_plans(&level->view.plans));
  if (level->backend->release_plans) PetscCall(level->backend->release_plans(&level->nodal.plans));
  if (level->backend->release_plans) PetscCall(level->backend->release_plans(&level->transfer.plans));
  PetscCall(VpArraysRelease(&level->arrays));
  PetscCallMPI(MPI_Type_free(&level->unit));
  PetscCall(PetscFree(level->problem.coefficient));
  PetscCall(VpMetricDestroy(&level->problem.metric));
  PetscCall(PetscFree(level->beyond));
  PetscCall(VpMeshDestroy(&level->mesh));
  PetscCall(PetscFree(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell costs dim matrices [n][n] along its lines. A face costs value and slope from nt layers, and their lift to n. A side that hangs
   costs about as much as two such faces. */
PetscLogDouble VpLevelApplyFlops(VpLevel level)
{
  const VpView *v = &level->view;
  const double  ndof = pow(v->n, v->dim), face = 4. * ndof * (1 + (double)v->nt / v->n);

  return v->nown * (2. * v->dim * v->n * ndof) + (double)level->mesh->ninner * face + (double)v->hang.n * 2 * face;
}

PetscErrorCode VpLogFlops(const VpBackend *backend, PetscLogDouble flops)
{
  PetscFunctionBegin;
  if (PetscDefined(HAVE_DEVICE) && backend->prefers->gpu_flops) PetscCall(PetscLogGpuFlops(flops));
  else PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}
