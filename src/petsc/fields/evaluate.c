/* Evaluation of a function at arbitrary points of any rank, and point sources. */
#include "functions.h"

/* Ensures: an error on all ranks that names a point outside the domain, if a rank has one. */
static PetscErrorCode CheckInside(VpMesh mesh, PetscInt n, const PetscReal points[], PetscInt outside)
{
  PetscReal   point[4] = {0, 0, 0, (PetscReal)outside};
  PetscMPIInt rank;
  char        text[128];
  size_t      length = 0;

  PetscFunctionBegin;
  PetscCall(VpFirstRank(mesh->comm, (PetscBool)(outside < n), &rank));
  if (rank == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < mesh->dim && outside < n; d++) point[d] = points[outside * mesh->dim + d];
  PetscCallMPI(MPI_Bcast(point, 4, MPIU_REAL, rank, mesh->comm));
  for (int d = 0; d < mesh->dim; d++)
    length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%g", d ? ", " : "", (double)point[d]);
  SETERRQ(mesh->comm, PETSC_ERR_ARG_OUTOFRANGE, "Point %.0f of rank %d, (%s), lies outside of the domain", (double)point[3], rank, text);
}

/* basis [dim][n]: values of a cell's basis functions in each direction at a point */
static void BasisAt(const VpField *field, int32_t cell, const PetscReal x[], double basis[])
{
  const int n = field->basis->n;
  PetscReal xi[3];

  VpGeometryReference(field->mesh->geometry, cell, x, xi);
  for (int d = 0; d < field->mesh->dim; d++) {
    const PetscReal factor = 1 / PetscSqrtReal(VpGeometrySize(field->mesh->geometry, cell, d));

    VpBasisEvaluate(field->basis, xi[d], basis + d * n, NULL);
    for (int i = 0; i < n; i++) basis[d * n + i] *= factor;
  }
}

/* the points in this rank's cells that any rank asked for */
typedef struct {
  PetscSF      sf;           /* roots: own cells; leaves: the points that this rank asks for */
  int32_t      count, *cell; /* [count] */
  PetscReal   *point;        /* [count][dim] */
  PetscScalar *number;       /* [count] a value at each point, or a source there */
} AtOwner;

/* Sends points to the owners of their cells. */
static PetscErrorCode GatherPoints(const VpField *field, const PetscReal points[], AtOwner *o)
{
  const PetscInt *degree;
  const int32_t   nown = field->mesh->nown;
  MPI_Datatype    point;

  PetscFunctionBegin;
  PetscCall(PetscSFComputeDegreeBegin(o->sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(o->sf, &degree));
  for (int32_t c = 0; c < nown; c++) o->count += (int32_t)degree[c];
  PetscCall(PetscMalloc3(o->count, &o->cell, (size_t)o->count * (size_t)field->mesh->dim, &o->point, o->count, &o->number));
  for (int32_t c = 0, i = 0; c < nown; c++) {
    for (PetscInt k = 0; k < degree[c]; k++) o->cell[i++] = c;
  }
  PetscCallMPI(MPI_Type_contiguous(field->mesh->dim, MPIU_REAL, &point));
  PetscCallMPI(MPI_Type_commit(&point));
  PetscCall(PetscSFGatherBegin(o->sf, point, points, o->point));
  PetscCall(PetscSFGatherEnd(o->sf, point, points, o->point));
  PetscCallMPI(MPI_Type_free(&point));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds n points of this rank in cells of any rank. Ensures: an error on all ranks if a point is outside the domain. */
static PetscErrorCode AtOwnerCreate(const VpField *field, PetscInt n, const PetscReal points[], AtOwner *o)
{
  PetscSFNode   *at;
  PetscInt       outside;
  PetscErrorCode error;

  PetscFunctionBegin;
  *o = (AtOwner){.count = 0};
  PetscCall(PetscMalloc1(n, &at));
  PetscCall(VpMeshFind(field->mesh, n, points, at, &outside));
  error = CheckInside(field->mesh, n, points, outside);
  if (error) PetscCall(PetscFree(at));
  PetscCall(error);
  PetscCall(PetscSFCreate(field->mesh->comm, &o->sf));
  PetscCall(PetscSFSetGraph(o->sf, field->mesh->nown, n, NULL, PETSC_COPY_VALUES, at, PETSC_OWN_POINTER));
  PetscCall(GatherPoints(field, points, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AtOwnerDestroy(AtOwner *o)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(o->cell, o->point, o->number));
  PetscCall(PetscSFDestroy(&o->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Evaluates u, on the backend. */
static PetscErrorCode ProbeField(const VpField *field, const AtOwner *o, const double u[])
{
  const VpBackend *backend = field->level->backend;
  const size_t     dim = (size_t)field->mesh->dim, each = dim * (size_t)field->basis->n, n = (size_t)o->count;
  const size_t     bytes[3] = {n * each * sizeof(double), n * sizeof(*o->cell), n * sizeof(double)};
  double          *basis;
  void            *there[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * each, &basis));
  for (size_t i = 0; i < n; i++) BasisAt(field, o->cell[i], o->point + i * dim, basis + i * each);
  for (int i = 0; i < 3; i++) PetscCall(backend->borrow(bytes[i], "values at points", &there[i]));
  PetscCall(backend->upload(basis, bytes[0], there[0]));
  PetscCall(backend->upload(o->cell, bytes[1], there[1]));
  PetscCall(field->level->ops->probe(&field->level->view, o->count, (int32_t *)there[1], (double *)there[0], u, (double *)there[2]));
  PetscCall(backend->download(there[2], bytes[2], o->number));
  for (int i = 0; i < 3; i++) PetscCall(backend->give_back(there[i]));
  PetscCall(PetscFree(basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a point source and its target */
typedef struct {
  VpLevel       level;
  VpGrid        grid; /* the grid of the single source point */
  const double *q;    /* on the backend */
  double       *b;
} Source;

static PetscErrorCode AddSource(void *context, const VpPlaces *places, double scratch[])
{
  const Source *s = (const Source *)context;

  return s->level->ops->integrate(&s->level->view, places, &s->grid, PETSC_TRUE, s->q, s->b);
}

/* b += the sources times the basis functions at their points */
static PetscErrorCode AddSources(const VpField *field, const AtOwner *o, double b[])
{
  const VpBackend *backend = field->level->backend;
  const size_t     bytes = (size_t)o->count * sizeof(*o->number);
  Source           s = {.level = field->level, .b = b};
  VpPlacesLoop     loop = {.set = VpOwnCells(), .batch = 1, .work = AddSource, .context = &s};
  void            *there;
  PetscReal        xi[3];

  PetscFunctionBegin;
  PetscCall(VpGridCreate(field->basis, field->mesh->dim, 1, NULL, &s.grid));
  PetscCall(backend->borrow(bytes, "sources", &there));
  PetscCall(backend->upload(o->number, bytes, there));
  for (int32_t i = 0; i < o->count; i++) {
    loop.first = o->cell[i];
    loop.last = loop.first + 1;
    s.q = (const double *)there + i;
    VpGeometryReference(field->mesh->geometry, o->cell[i], o->point + (size_t)i * (size_t)field->mesh->dim, xi);
    for (int d = 0; d < field->mesh->dim; d++) VpBasisEvaluate(field->basis, xi[d], s.grid.matrix[d], NULL);
    PetscCall(VpOnBackend(field, &loop));
  }
  PetscCall(backend->give_back(there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGEvaluate - Evaluates a function at arbitrary points of the domain

   Collective

   Input Parameters:
+  dm     - the DM, set up
.  x      - coefficients, a vector of the DM
.  n      - number of points of this rank, possibly 0
-  points - [n][dim] the points, on cells of any rank, in host memory

   Output Parameter:
.  values - [n] the values there, in host memory

   Level: intermediate

   Notes:
   If a point lies on a side between cells, the function is evaluated in one of them. A point outside of the domain is an error on all
   ranks.

   Points are in physical space. Mapped cells approximate a curved boundary: a point that is outside of them by at most 1 % of a cell is
   taken, too (`DMVPatchDGSetMap()`).

.seealso: `DMVPATCHDG`, `DMVPatchDGAddPointSources()`, `DMVPatchDGGetPointValues()`, `DMVPatchDGGetBoundaryValues()`
@*/
PetscErrorCode DMVPatchDGEvaluate(DM dm, Vec x, PetscInt n, const PetscReal points[], PetscScalar values[])
{
  static const char caller[] = "DMVPatchDGEvaluate()";
  VpField           field;
  Vec               cells;
  VpValues          xv;
  AtOwner           o;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)dm), (PetscBool)(n == 0 || (n > 0 && points && values)),
                              "DMVPatchDGEvaluate(): n points need memory for points and values"));
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(AtOwnerCreate(&field, n, points, &o));
  PetscCall(VpCellsOf(&field, x, &cells));
  PetscCall(VpValuesGet(field.level->backend, cells, VP_READ, &xv));
  PetscCall(VpTogether(field.mesh->comm, ProbeField(&field, &o, xv.at)));
  PetscCall(VpValuesRestore(&xv));
  PetscCall(VecDestroy(&cells));
  PetscCall(PetscSFScatterBegin(o.sf, MPIU_SCALAR, o.number, values));
  PetscCall(PetscSFScatterEnd(o.sf, MPIU_SCALAR, o.number, values));
  PetscCall(AtOwnerDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Warns if all ranks pass the same sources, because each source is then added once per rank. */
static PetscErrorCode WarnRepeated(DM dm, PetscInt n, const PetscReal points[], const PetscScalar q[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  PetscReal      sums[3] = {(PetscReal)n, 0, 0}, different[2];
  PetscInt       dim, index;
  PetscMPIInt    size, rank;
  PetscBool      wanted = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(DMGetDimension(dm, &dim));
  for (PetscInt i = 0; i < n * dim; i++) sums[1] += (PetscReal)(i + 1) * points[i];
  for (PetscInt i = 0; i < n; i++) sums[2] += (PetscReal)(i + 1) * PetscRealPart(q[i]);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(VpFindDifference(comm, 3, sums, &index, &rank, different));
  PetscCall(PetscOptionsGetBool(((PetscObject)dm)->options, NULL, "-vpatchdg_warnings", &wanted, NULL));
  if (!wanted || !n || size == 1 || index < 3) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFPrintf(comm, PETSC_STDERR,
                         "vpatchdg: warning: DMVPatchDGAddPointSources(): all %d ranks give the same sources, which count %d times: "
                         "give each of them on one rank, with n = 0 on the others\n",
                         size, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGAddPointSources - Adds point sources, such as wells, to a right-hand side

   Collective

   Input Parameters:
+  dm     - the DM, set up
.  n      - number of sources that this rank adds, possibly 0
.  points - [n][dim] the positions of the sources, on cells of any rank, in host memory
-  q      - [n] the strengths q, of any sign, in host memory

   Input/Output Parameter:
.  b - the right-hand side, a vector of the DM: b_i grows by the sum of q phi_i(x) over the sources of all ranks

   Level: intermediate

   Notes:
   A source is q times the delta function at its point, so f integrates to the sum of all q. This function is the transpose of
   `DMVPatchDGEvaluate()`: the inner product of b with the coefficients of a function v grows by the sum of q v(x).

   Any rank may add a source, but a source that several ranks add counts several times. A warning is printed if all ranks add the same list.
   If a point lies on a side between cells, one of the cells gets the source. A point outside of the domain or a strength that is not finite
   is an error on all ranks.

   The solution is infinite at a source, like log r in 2D and 1/r in 3D. Values near a source therefore depend on the mesh, and local
   refinement around it is worthwhile. For a pure Neumann or periodic problem without reaction, the sum of all sources must be 0; otherwise
   call `MatNullSpaceRemove()` on b.

.seealso: `DMVPATCHDG`, `DMVPatchDGComputeRHS()`, `DMVPatchDGEvaluate()`, `DMVPatchDGSetLocalRefinement()`
@*/
PetscErrorCode DMVPatchDGAddPointSources(DM dm, PetscInt n, const PetscReal points[], const PetscScalar q[], Vec b)
{
  VpField   field;
  PetscBool finite = PETSC_TRUE;
  Vec       cells;
  VpValues  bv;
  AtOwner   o;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, b, "DMVPatchDGAddPointSources()"));
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)dm), (PetscBool)(n == 0 || (n > 0 && points && q)),
                              "DMVPatchDGAddPointSources(): n sources need points and strengths"));
  for (PetscInt i = 0; i < n; i++) finite = (PetscBool)(finite && !PetscIsInfOrNanScalar(q[i]));
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)dm), finite, "DMVPatchDGAddPointSources(): a strength is no finite number"));
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(AtOwnerCreate(&field, n, points, &o));
  PetscCall(WarnRepeated(dm, n, points, q));
  PetscCall(PetscSFGatherBegin(o.sf, MPIU_SCALAR, q, o.number));
  PetscCall(PetscSFGatherEnd(o.sf, MPIU_SCALAR, q, o.number));
  PetscCall(VpCellsCreate(&field, b, &cells));
  if (field.nodes) PetscCall(VecSet(cells, 0));
  PetscCall(VpValuesGet(field.level->backend, cells, VP_READ_WRITE, &bv));
  PetscCall(VpTogether(field.mesh->comm, AddSources(&field, &o, bv.at)));
  PetscCall(VpValuesRestore(&bv));
  PetscCall(VpCellsToRHS(&field, PETSC_TRUE, &cells, b));
  PetscCall(AtOwnerDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
