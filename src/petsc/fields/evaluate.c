/* A function at any points, in lists on any ranks. */
#include "places.h"

/* Ensures: an error on all ranks that names a point outside of the domain, if a rank has one. */
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

/* basis[d][n]: the values of a cell's basis functions along d at a point */
static void BasisAt(const VpField *field, int32_t cell, const PetscReal x[], double basis[])
{
  const int n = field->basis->n;
  PetscReal lower[3], size[3];

  VpMeshCellBounds(field->mesh, cell, lower, size);
  for (int d = 0; d < field->mesh->dim; d++) {
    VpBasisEvaluate(field->basis, PetscMax(0, PetscMin(1, (x[d] - lower[d]) / size[d])), basis + d * n, NULL);
    for (int i = 0; i < n; i++) basis[d * n + i] /= PetscSqrtReal(size[d]);
  }
}

/* values [count] on the host of u, on the backend, at points [count][dim] in own cells */
static PetscErrorCode Probe(const VpField *field, int32_t count, const int32_t cell[], const PetscReal points[], const double u[],
                            double values[])
{
  const VpBackend *backend = field->level->backend;
  const size_t     each = (size_t)field->mesh->dim * (size_t)field->basis->n;
  const size_t     bytes[3] = {(size_t)count * each * sizeof(double), (size_t)count * sizeof(double), (size_t)count * sizeof(*cell)};
  double          *basis;
  void            *there[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)count * each, &basis));
  for (int32_t i = 0; i < count; i++) BasisAt(field, cell[i], points + (size_t)i * (size_t)field->mesh->dim, basis + (size_t)i * each);
  if (VpIsDevice(backend)) {
    for (int i = 0; i < 3; i++) PetscCall(backend->borrow(bytes[i], "values at points", &there[i]));
    PetscCall(backend->upload(basis, bytes[0], there[0]));
    PetscCall(backend->upload(cell, bytes[2], there[2]));
    PetscCall(field->level->ops->probe(&field->level->view, count, (int32_t *)there[2], (double *)there[0], u, (double *)there[1]));
    PetscCall(backend->download(there[1], bytes[1], values));
    for (int i = 0; i < 3; i++) PetscCall(backend->give_back(there[i]));
  } else PetscCall(field->level->ops->probe(&field->level->view, count, cell, basis, u, values));
  PetscCall(PetscFree(basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points go to the owners of their cells, which are the roots of sf, and values come back. */
static PetscErrorCode EvaluateAtOwners(const VpField *field, PetscSF sf, const PetscReal points[], Vec x, PetscScalar values[])
{
  const PetscInt *degree;
  const int32_t   nown = field->mesh->nown;
  MPI_Datatype    point;
  int32_t        *cell, count = 0;
  PetscReal      *here;
  PetscScalar    *found;
  VpValues        xv;

  PetscFunctionBegin;
  PetscCall(PetscSFComputeDegreeBegin(sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(sf, &degree));
  for (int32_t c = 0; c < nown; c++) count += (int32_t)degree[c];
  PetscCall(PetscMalloc3(count, &cell, (size_t)count * (size_t)field->mesh->dim, &here, count, &found));
  for (int32_t c = 0, i = 0; c < nown; c++) {
    for (PetscInt k = 0; k < degree[c]; k++) cell[i++] = c;
  }
  PetscCallMPI(MPI_Type_contiguous(field->mesh->dim, MPIU_REAL, &point));
  PetscCallMPI(MPI_Type_commit(&point));
  PetscCall(PetscSFGatherBegin(sf, point, points, here));
  PetscCall(PetscSFGatherEnd(sf, point, points, here));
  PetscCallMPI(MPI_Type_free(&point));
  PetscCall(VpValuesGet(field->level->backend, x, VP_READ, &xv));
  PetscCall(VpTogether(field->mesh->comm, Probe(field, count, cell, here, xv.at, found)));
  PetscCall(VpValuesRestore(&xv));
  PetscCall(PetscSFScatterBegin(sf, MPIU_SCALAR, found, values));
  PetscCall(PetscSFScatterEnd(sf, MPIU_SCALAR, found, values));
  PetscCall(PetscFree3(cell, here, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGEvaluate - Evaluates a function at any points of the domain

   Collective

   Input Parameters:
+  dm     - the DM, set up
.  x      - coefficients, a vector of the DM
.  n      - how many points this rank asks for, perhaps none
-  points - [n][dim] the points, on cells of any rank, in host memory

   Output Parameter:
.  values - [n] the values there, in host memory

   Level: intermediate

   Notes:
   Where a point lies on sides of cells, one of the cells is taken. A point outside of the domain is an error on all ranks.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPointValues()`, `DMVPatchDGGetBoundaryValues()`
@*/
PetscErrorCode DMVPatchDGEvaluate(DM dm, Vec x, PetscInt n, const PetscReal points[], PetscScalar values[])
{
  static const char caller[] = "DMVPatchDGEvaluate()";
  VpField           field;
  PetscSFNode      *at;
  PetscInt          outside;
  PetscErrorCode    error;
  PetscSF           sf;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)dm), (PetscBool)(n == 0 || (n > 0 && points && values)),
                              "DMVPatchDGEvaluate(): n points need memory for points and values"));
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(PetscMalloc1(n, &at));
  PetscCall(VpMeshLocate(field.mesh, n, points, at, &outside));
  error = CheckInside(field.mesh, n, points, outside);
  if (error) PetscCall(PetscFree(at));
  PetscCall(error);
  PetscCall(PetscSFCreate(field.mesh->comm, &sf));
  PetscCall(PetscSFSetGraph(sf, field.mesh->nown, n, NULL, PETSC_COPY_VALUES, at, PETSC_COPY_VALUES));
  PetscCall(EvaluateAtOwners(&field, sf, points, x, values));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}
