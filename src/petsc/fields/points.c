/* The user's Gauss points, n in each direction, on the vectors' backend. The values there and the coefficients of a function determine each
   other. */
#include "functions.h"

PetscErrorCode VpPointVector(const VpField *field, double cells, int points, int components, Vec *v)
{
  MPI_Comm comm = field->mesh->comm;
  double   total = cells * points * components;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCheck(total <= (double)PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%.0f numbers at points are more than PetscInt counts: use a PETSc configured --with-64-bit-indices", total);
  PetscCall(VecCreate(comm, v));
  PetscCall(VecSetSizes(*v, (PetscInt)cells * points * components, PETSC_DETERMINE));
  PetscCall(VecSetBlockSize(*v, components));
  PetscCall(VecSetType(*v, field->dm->vectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCheckSize(DM dm, Vec v, double size, const char caller[], const char what[])
{
  PetscBool right = (PetscBool)(v && ((PetscObject)v)->classid == VEC_CLASSID);
  PetscInt  n = -1;
  char      text[256];

  PetscFunctionBegin;
  if (right) PetscCall(VecGetLocalSize(v, &n));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s: the vector of %s has the wrong size", caller, what));
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)dm), (PetscBool)((double)n == size), text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* arguments of the work on arrays */
typedef struct {
  VpLevel       level;
  const VpGrid *grid;
  int           n; /* number of grids, and of values per point */
  PetscBool     add;
  const double *from;
  double       *to;
} ArrayWork;

static PetscErrorCode Evaluate(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const ArrayWork *w = (const ArrayWork *)context;
  const size_t     size = (size_t)VpGridSize(w->grid) * (size_t)w->n;

  return w->level->ops->evaluate(&w->level->view, places, w->n, w->grid, w->from, w->to + (size_t)at * size);
}

static PetscErrorCode Integrate(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const ArrayWork *w = (const ArrayWork *)context;

  return w->level->ops->integrate(&w->level->view, places, w->grid, w->add, w->from + (size_t)at * (size_t)VpGridSize(w->grid), w->to);
}

static PetscErrorCode Coordinates(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const ArrayWork *w = (const ArrayWork *)context;
  const size_t     size = (size_t)VpGridSize(w->grid) * (size_t)w->level->mesh->dim;

  return w->level->ops->coordinates(&w->level->view, places, w->grid, w->to + (size_t)at * size);
}

PetscErrorCode VpEvaluate(const VpField *field, int n, const VpGrid grid[], VpSet set, const double x[], double values[])
{
  ArrayWork w = {.level = field->level, .grid = grid, .n = n, .from = x, .to = values};

  return VpOnBackend(field, grid, set, PETSC_FALSE, Evaluate, &w);
}

PetscErrorCode VpIntegrate(const VpField *field, const VpGrid *grid, VpSet set, PetscBool weighted, PetscBool add, const double values[],
                           double b[])
{
  ArrayWork w = {.level = field->level, .grid = grid, .add = add, .from = values, .to = b};

  return VpOnBackend(field, grid, set, weighted, Integrate, &w);
}

PetscErrorCode VpCoordinates(const VpField *field, const VpGrid *grid, VpSet set, double x[])
{
  ArrayWork w = {.level = field->level, .grid = grid, .to = x};

  return VpOnBackend(field, grid, set, PETSC_FALSE, Coordinates, &w);
}

/* Gets the field and the grid of n points in each direction. */
static PetscErrorCode GaussPoints(DM dm, VpField *field, VpGrid *grid)
{
  PetscFunctionBegin;
  PetscCall(VpFieldGet(dm, field));
  PetscCall(VpGridCreate(field->basis, field->mesh->dim, field->basis->n, NULL, grid));
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

.seealso: `DMVPATCHDG`, `DMVPatchDGSetPointValues()`, `DMVPatchDGGetPointValues()`, `DMVPatchDGGetBoundaryPoints()`
@*/
PetscErrorCode DMVPatchDGGetPoints(DM dm, Vec *coordinates)
{
  VpField  field;
  VpGrid   grid;
  VpValues xv;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetPoints()"));
  VpAssertPointer(coordinates, 2);
  PetscCall(GaussPoints(dm, &field, &grid));
  PetscCall(VpPointVector(&field, field.mesh->nown, VpGridSize(&grid), field.mesh->dim, coordinates));
  PetscCall(VpValuesGet(field.level->backend, *coordinates, VP_WRITE, &xv));
  PetscCall(VpCoordinates(&field, &grid, VpOwnCells(), xv.at));
  PetscCall(VpValuesRestore(&xv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts coefficients to values, or back. The basis is orthonormal, so exact integrals are coefficients. */
static PetscErrorCode ConvertValues(DM dm, Vec x, PetscBool back, Vec y, const char caller[])
{
  VpField  field;
  VpGrid   grid;
  VpValues xv, yv;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(DMVPatchDGCheckVector(dm, y, caller));
  PetscCheck(x != y, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_IDN, "%s: the two vectors must be different", caller);
  PetscCall(GaussPoints(dm, &field, &grid));
  if (back) VpGridToIntegrals(field.basis, &grid);
  PetscCall(VpValuesGet(field.level->backend, x, VP_READ, &xv));
  PetscCall(VpValuesGet(field.level->backend, y, VP_WRITE, &yv));
  if (back) PetscCall(VpIntegrate(&field, &grid, VpOwnCells(), PETSC_FALSE, PETSC_FALSE, xv.at, yv.at));
  else PetscCall(VpEvaluate(&field, 1, &grid, VpOwnCells(), xv.at, yv.at));
  PetscCall(VpValuesRestore(&yv));
  PetscCall(VpValuesRestore(&xv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetPointValues - Evaluates a function at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm - the DM, set up
-  x  - coefficients, a vector of the DM

   Output Parameter:
.  values - the value at every point, a vector of the same size and layout as x

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPoints()`, `DMVPatchDGSetPointValues()`
@*/
PetscErrorCode DMVPatchDGGetPointValues(DM dm, Vec x, Vec values)
{
  return ConvertValues(dm, x, PETSC_FALSE, values, "DMVPatchDGGetPointValues()");
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
  VpGrid            grid, slope[3];
  VpValues          xv, yv;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(GaussPoints(dm, &field, &grid));
  PetscCall(VpCheckSize(dm, gradients, (double)field.mesh->nown * VpGridSize(&grid) * field.mesh->dim, caller, "gradients"));
  PetscCall(VpValuesGet(field.level->backend, x, VP_READ, &xv));
  PetscCall(VpValuesGet(field.level->backend, gradients, VP_WRITE, &yv));
  VpGridSlopes(field.basis, field.mesh->dim, &grid, slope);
  PetscCall(VpEvaluate(&field, field.mesh->dim, slope, VpOwnCells(), xv.at, yv.at));
  PetscCall(VpValuesRestore(&yv));
  PetscCall(VpValuesRestore(&xv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetPointValues - Finds the function with given values at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm     - the DM, set up
-  values - the value at every point, a vector like those of `DMCreateGlobalVector()`

   Output Parameter:
.  x - the coefficients, a vector of the DM

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPoints()`, `DMVPatchDGGetPointValues()`
@*/
PetscErrorCode DMVPatchDGSetPointValues(DM dm, Vec values, Vec x)
{
  return ConvertValues(dm, values, PETSC_TRUE, x, "DMVPatchDGSetPointValues()");
}

static PetscErrorCode Interpolate(DM dm, const VpGiven *u, Vec x)
{
  VpField  field;
  VpGrid   grid;
  VpValues yv;
  Vec      values;

  PetscFunctionBegin;
  PetscCall(GaussPoints(dm, &field, &grid));
  PetscCall(DMGetGlobalVector(dm, &values));
  PetscCall(VpValuesGet(field.level->backend, values, VP_WRITE, &yv));
  PetscCall(VpTogether(field.mesh->comm, VpValuesOf(&field, &grid, VpOwnCells(), u, yv.at)));
  PetscCall(VpValuesRestore(&yv));
  PetscCall(DMVPatchDGSetPointValues(dm, values, x));
  PetscCall(DMRestoreGlobalVector(dm, &values));
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
  const VpGiven given = {.function = u, .ctx = ctx, .components = 1};

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, "DMVPatchDGInterpolate()"));
  VpAssertPointer(u, 2);
  PetscCall(Interpolate(dm, &given, x));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  static const char caller[] = "DMVPatchDGInterpolateBatch()";
  const VpGiven     given = {.batch = u, .ctx = ctx, .components = 1, .on_device = (PetscBool)!PetscMemTypeHost(where)};
  VpField           field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  VpAssertPointer(u, 2);
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(VpGivenCheck(&field, where, caller));
  PetscCall(Interpolate(dm, &given, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
