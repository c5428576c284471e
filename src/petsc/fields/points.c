/* The user's Gauss points, n in each direction, on the vectors' backend. The values there and the coefficients of a function determine each
   other. */
#include "functions.h"

/* number of points of a cell, or of one of its sides */
static size_t CountPointsOfPlace(const VpField *field, VpGivenKind given)
{
  return (size_t)PetscPowInt(field->basis->n, field->mesh->dim - (given != VP_GIVEN_SOURCE));
}

size_t VpCountPointsBefore(const VpField *field, VpSet set)
{
  size_t count = 0;

  for (int s = 0; s < set.side; s++) count += (size_t)VpFieldCount(field, (VpSet){set.given, s});
  return count * CountPointsOfPlace(field, set.given);
}

/* number of all points with data of this kind */
static size_t CountPoints(const VpField *field, VpGivenKind given)
{
  if (given == VP_GIVEN_SOURCE) return (size_t)field->mesh->nown * CountPointsOfPlace(field, given);
  return VpCountPointsBefore(field, (VpSet){given, 2 * field->mesh->dim});
}

PetscErrorCode VpPointVectorCreate(const VpField *field, VpGivenKind given, int components, Vec *v)
{
  const size_t n = CountPoints(field, given) * (size_t)components;
  MPI_Comm     comm = field->mesh->comm;
  double       total = (double)n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCheck(total <= (double)PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%.0f numbers at points are more than PetscInt counts: use a PETSc configured --with-64-bit-indices", total);
  PetscCall(VpVecCreate(comm, field->dm->vectype, components, (PetscInt)n, PETSC_DETERMINE, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPointVectorCheck(const VpField *field, VpGivenKind given, int components, Vec v, const char caller[], const char what[])
{
  PetscBool right = (PetscBool)(v && ((PetscObject)v)->classid == VEC_CLASSID);
  PetscInt  n = -1;
  char      text[256];

  PetscFunctionBegin;
  if (right) PetscCall(VecGetLocalSize(v, &n));
  right = (PetscBool)(right && (size_t)n == CountPoints(field, given) * (size_t)components);
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s: the vector of %s has the wrong size", caller, what));
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)field->dm), right, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a quantity at the points of a set, `numbers` at each; x NULL: the coordinates */
typedef struct {
  VpLevel       level;
  const VpOps  *ops;
  VpGrid        grid[3]; /* n of them, one for each number or, with a map, for each derivative */
  int           n, numbers;
  const double *x;
  double       *to;
} Evaluation;

static PetscErrorCode EvaluateAtPlaces(void *context, const VpPlaces *places, double scratch[])
{
  const Evaluation *e = (const Evaluation *)context;
  double           *to = e->to + (size_t)places->first * (size_t)VpGridSize(e->grid) * (size_t)e->numbers;

  if (!e->x) return e->ops->coordinates(&e->level->view, places, e->grid, to);
  return e->ops->evaluate(&e->level->view, places, e->n, e->grid, e->x, to);
}

/* Makes the grids of a quantity on a set from the grid of a cell, which is the first. On sides of mapped cells the outward derivative, and
   the outflow, are made of all derivatives, of which that along the box's normal is outward, too. */
static void ChooseGrids(const VpField *field, VpSet set, VpPointKind what, Evaluation *e)
{
  const int       dim = field->mesh->dim;
  const PetscBool side = (PetscBool)(set.side >= 0), slope = (PetscBool)(what == VP_SLOPE || what == VP_OUTFLOW);
  const PetscBool all = (PetscBool)(slope && (!side || what == VP_OUTFLOW || field->mesh->geometry->map));
  const VpGrid    values = e->grid[0];

  e->numbers = what == VP_COORDINATES || (slope && !side) ? dim : 1;
  e->n = all ? dim : e->numbers;
  if (all) VpGridSlopes(field->basis, dim, &values, e->grid);
  for (int i = 0; side && i < (all ? dim : 1); i++) {
    const PetscBool outward = (PetscBool)(slope && (!all || i == set.side / 2));

    VpGridToSide(field->basis, set.side, !outward, outward, &e->grid[i]);
    if (outward && !all) e->grid[i].power[set.side / 2] -= 2;
  }
}

/* What flows out is found on the host, where the numbers are that it needs of the metric. */
PetscErrorCode VpComputeAtPoints(const VpField *field, VpGivenKind given, VpPointKind what, const double points[], Vec x, Vec to)
{
  const int        dim = field->mesh->dim;
  const VpBackend *backend = what == VP_OUTFLOW ? &VpBackendHost : field->level->backend;
  const int        needs[] = {[VP_COORDINATES] = VP_NEEDS_POINTS, [VP_SLOPE] = VP_NEEDS_GRADIENT, [VP_OUTFLOW] = VP_NEEDS_OUTFLOW};
  Vec              cells = NULL;
  VpValues         xv = {0}, values;
  VpGrid           cell;
  Evaluation       e = {.level = field->level, .ops = backend->ops(VP_DOUBLE, dim, field->basis->degree)};

  PetscFunctionBegin;
  PetscCall(VpGridCreate(field->basis, dim, field->basis->n, points, &cell));
  if (what == VP_OUTFLOW) PetscCall(DMVPatchDGGetHostLevel(field->dm, &e.level));
  if (x) PetscCall(VpCellsOf(field, x, &cells));
  if (x) PetscCall(VpValuesGet(backend, cells, VP_READ, &xv));
  PetscCall(VpValuesGet(backend, to, VP_WRITE, &values));
  e.x = xv.at;
  for (int i = 0; i < (given == VP_GIVEN_SOURCE ? 1 : 2 * dim); i++) {
    const VpSet  set = {given, given == VP_GIVEN_SOURCE ? -1 : i};
    VpPlacesLoop loop = {.set = set,
                         .grid = e.grid,
                         .needs = needs[what],
                         .last = VpFieldCount(field, set),
                         .threads = PETSC_TRUE,
                         .work = EvaluateAtPlaces,
                         .context = &e};

    e.grid[0] = cell;
    ChooseGrids(field, set, what, &e);
    e.to = values.at + VpCountPointsBefore(field, set) * (size_t)e.numbers;
    loop.batch = what == VP_OUTFLOW ? VpHostBatch(e.grid) : VpFieldBatch(field, e.grid, set);
    PetscCall(what == VP_OUTFLOW ? VpOnHost(field, &loop) : VpOnBackend(field, &loop));
  }
  PetscCall(VpValuesRestore(&values));
  if (x) PetscCall(VpValuesRestore(&xv));
  PetscCall(VecDestroy(&cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetPoints - Gets the coordinates of the (k+1)^dim Gauss points of every cell

   Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameter:
.  coordinates - [points][dim] a vector of the DM's type with block size dim, ordered cell by cell, and within a cell with x fastest; the
                 caller destroys it

   Level: beginner

   Note:
   The points are in physical space. Those of a mapped cell (`DMVPatchDGSetMap()`) are the images of the Gauss points of its box.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetPointValues()`, `DMVPatchDGGetPointValues()`, `DMVPatchDGGetBoundaryPoints()`
@*/
PetscErrorCode DMVPatchDGGetPoints(DM dm, Vec *coordinates)
{
  VpField field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetPoints()"));
  VpAssertPointer(coordinates, 2);
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(VpPointVectorCreate(&field, VP_GIVEN_SOURCE, field.mesh->dim, coordinates));
  PetscCall(VpComputeAtPoints(&field, VP_GIVEN_SOURCE, VP_COORDINATES, NULL, NULL, *coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGCreatePointVector - Creates a vector with a number for each of the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameter:
.  v - the vector, of the DM's type; the caller destroys it

   Level: intermediate

   Note:
   Unless the DM is continuous (`DMVPatchDGSetContinuous()`), vectors of `DMCreateGlobalVector()` are such vectors, too.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPoints()`, `DMVPatchDGGetPointValues()`, `DMVPatchDGSetPointValues()`
@*/
PetscErrorCode DMVPatchDGCreatePointVector(DM dm, Vec *v)
{
  VpField field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGCreatePointVector()"));
  VpAssertPointer(v, 2);
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(VpPointVectorCreate(&field, VP_GIVEN_SOURCE, 1, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks a vector x of the DM and another one y of values at points, and gets the field. */
static PetscErrorCode GetVectorsField(DM dm, Vec x, Vec y, const char caller[], VpField *field)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(DMVPatchDGCheckPoints(dm, y, caller));
  PetscCheck(x != y, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_IDN, "%s: the two vectors must be different", caller);
  PetscCall(VpFieldGet(dm, field));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetPointValues - Evaluates a function at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm - the DM, set up
-  x  - coefficients, a vector of the DM

   Output Parameter:
.  values - the value at every point, a vector of `DMVPatchDGCreatePointVector()`

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPoints()`, `DMVPatchDGSetPointValues()`
@*/
PetscErrorCode DMVPatchDGGetPointValues(DM dm, Vec x, Vec values)
{
  VpField field;

  PetscFunctionBegin;
  PetscCall(GetVectorsField(dm, x, values, "DMVPatchDGGetPointValues()", &field));
  PetscCall(VpComputeAtPoints(&field, VP_GIVEN_SOURCE, VP_VALUE, NULL, x, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetPointGradients - Evaluates the gradient of a function at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm - the DM, set up
-  x  - coefficients, a vector of the DM

   Output Parameter:
.  gradients - [points][dim] the gradient at every point, a vector like that of `DMVPatchDGGetPoints()`

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPoints()`, `DMVPatchDGGetPointValues()`, `DMVPatchDGGetBoundaryValues()`
@*/
PetscErrorCode DMVPatchDGGetPointGradients(DM dm, Vec x, Vec gradients)
{
  static const char caller[] = "DMVPatchDGGetPointGradients()";
  VpField           field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(VpPointVectorCheck(&field, VP_GIVEN_SOURCE, field.mesh->dim, gradients, caller, "gradients"));
  PetscCall(VpComputeAtPoints(&field, VP_GIVEN_SOURCE, VP_SLOPE, NULL, x, gradients));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = the coefficients of the function with the values of u at the points. The basis is orthogonal, so these are integrals, which the
   points give exactly. */
static PetscErrorCode FindCoefficients(const VpField *field, const VpGiven *u, Vec x)
{
  PetscErrorCode error;
  Vec            cells;
  VpGrid         grid;
  VpValues       xv;

  PetscFunctionBegin;
  PetscCall(VpGridCreate(field->basis, field->mesh->dim, field->basis->n, NULL, &grid));
  VpGridToCoefficients(field->basis, &grid);
  PetscCall(VpCellsCreate(field, x, &cells));
  PetscCall(VpValuesGet(field->level->backend, cells, VP_WRITE, &xv));
  error = VpTogether(field->mesh->comm, VpIntegrateFunction(field, &grid, VpOwnCells(), u, xv.at));
  PetscCall(VpValuesRestore(&xv));
  if (error) PetscCall(VecDestroy(&cells));
  PetscCall(error);
  PetscCall(VpCellsToFunction(field, &cells, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetPointValues - Finds the function with given values at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm     - the DM, set up
-  values - the value at every point, a vector of `DMVPatchDGCreatePointVector()`

   Output Parameter:
.  x - the coefficients, a vector of the DM

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPoints()`, `DMVPatchDGGetPointValues()`
@*/
PetscErrorCode DMVPatchDGSetPointValues(DM dm, Vec values, Vec x)
{
  const VpGiven u = {.values = values, .components = 1};
  VpField       field;

  PetscFunctionBegin;
  PetscCall(GetVectorsField(dm, x, values, "DMVPatchDGSetPointValues()", &field));
  PetscCall(FindCoefficients(&field, &u, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InterpolateFunction(DM dm, PetscMemType where, VpGiven *u, Vec x, const char caller[])
{
  VpField field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCheck(VpIsGiven(u), PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument 2 of %s", caller);
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(VpGivenSetMemory(&field, where, caller, u));
  PetscCall(FindCoefficients(&field, u, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGInterpolate - Finds the function that equals u at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm  - the DM, set up
.  u   - the user function
-  ctx - context that is passed to u

   Output Parameter:
.  x - the coefficients, a vector of the DM

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGInterpolateBatch()`, `DMVPatchDGSetPointValues()`, `DMVPatchDGComputeErrors()`
@*/
PetscErrorCode DMVPatchDGInterpolate(DM dm, VPatchDGFunction u, void *ctx, Vec x)
{
  VpGiven given = {.function = u, .ctx = ctx, .components = 1};

  return InterpolateFunction(dm, PETSC_MEMTYPE_HOST, &given, x, "DMVPatchDGInterpolate()");
}

/*@C
   DMVPatchDGInterpolateBatch - Finds the function that equals u at the points of `DMVPatchDGGetPoints()`, where u takes many points at a
   time

   Collective

   Input Parameters:
+  dm    - the DM, set up
.  u     - the user function
.  where - `PETSC_MEMTYPE_HOST`, or `PETSC_MEMTYPE_CUDA`: the memory of the points and of the values
-  ctx   - context that is passed to u

   Output Parameter:
.  x - the coefficients, a vector of the DM

   Level: intermediate

.seealso: `DMVPATCHDG`, `VPatchDGBatch`, `DMVPatchDGInterpolate()`, `DMVPatchDGSetPointValues()`
@*/
PetscErrorCode DMVPatchDGInterpolateBatch(DM dm, VPatchDGBatch u, PetscMemType where, void *ctx, Vec x)
{
  VpGiven given = {.batch = u, .ctx = ctx, .components = 1};

  return InterpolateFunction(dm, where, &given, x, "DMVPatchDGInterpolateBatch()");
}
