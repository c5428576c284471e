/* Norms of differences at points, and integrals. */
#include "functions.h"

typedef struct {
  VpLevel       level;
  const VpGrid *grid;
  int           n; /* number of grids, and of values per point */
  int32_t       batch;
  const double *x, *values;
  double       *sum; /* one sum per batch, so that the result does not depend on the number of threads */
} Distances;

static PetscErrorCode AddDistance(void *context, const VpPlaces *places, int32_t at, double room[])
{
  const Distances *w = (const Distances *)context;
  const size_t     each = (size_t)VpGridSize(w->grid) * (size_t)w->n;

  return w->level->ops->distance(&w->level->view, places, w->n, w->grid, w->x, w->values + (size_t)at * each, &w->sum[at / w->batch]);
}

/* *square += integral of |v - u|^2 over own cells. v: n grids applied to x; u: values */
static PetscErrorCode AddDistances(const VpField *field, int n, const VpGrid grid[], const double x[], const double values[],
                                   PetscReal *square)
{
  const int32_t batch = VpBatchOf(grid), batches = field->mesh->nown / batch + 1;
  Distances     w = {.level = field->level, .grid = grid, .n = n, .batch = batch, .x = x, .values = values};

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(batches, &w.sum));
  PetscCall(VpOnBackend(field, grid, VpOwnCells(), PETSC_FALSE, AddDistance, &w));
  for (int32_t i = 0; i < batches; i++) *square += w.sum[i];
  PetscCall(PetscFree(w.sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* square of the L2 norm of v - u over all ranks. x: coefficients of v. values: of u (components 1), or of its gradient, compared with
   v's */
static PetscErrorCode ComputeSquare(const VpField *field, Vec x, Vec values, int components, PetscReal *square)
{
  VpValues xv, yv;
  VpGrid   grid, slope[3];

  PetscFunctionBegin;
  *square = 0;
  PetscCall(VpGridCreate(field->basis, field->mesh->dim, field->basis->n, NULL, &grid));
  PetscCall(VpValuesGet(field->level->backend, x, VP_READ, &xv));
  PetscCall(VpValuesGet(field->level->backend, values, VP_READ, &yv));
  VpGridSlopes(field->basis, field->mesh->dim, &grid, slope);
  PetscCall(AddDistances(field, components, components > 1 ? slope : &grid, xv.at, yv.at, square));
  PetscCall(VpValuesRestore(&yv));
  PetscCall(VpValuesRestore(&xv));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, square, 1, MPIU_REAL, MPIU_SUM, field->mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGComputeDifference - Computes norms of u_h - u, where u is given at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  x         - the coefficients of u_h
.  values    - u at every point, a vector like those of the DM, or `NULL` if l2 is `NULL`
-  gradients - [points][dim] the gradient of u, a vector like that of `DMVPatchDGGetPoints()`, or `NULL` if h1 is `NULL`

   Output Parameters:
+  l2 - the L2 norm of u_h - u, or `NULL`
-  h1 - the L2 norm of grad u_h - grad u, cell by cell, or `NULL`

   Level: intermediate

   Note:
   Integrals use these k+1 points in every direction, so they do not contain the difference of u and u_h between the points.
   `DMVPatchDGComputeErrors()` uses k+3 points.

.seealso: `DMVPATCHDG`, `DMVPatchDGComputeErrors()`, `DMVPatchDGGetPoints()`, `DMVPatchDGGetPointValues()`, `DMVPatchDGGetPointGradients()`
@*/
PetscErrorCode DMVPatchDGComputeDifference(DM dm, Vec x, Vec values, Vec gradients, PetscReal *l2, PetscReal *h1)
{
  static const char caller[] = "DMVPatchDGComputeDifference()";
  VpField           field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(VpFieldGet(dm, &field));
  if (l2) PetscCall(DMVPatchDGCheckVector(dm, values, caller));
  if (h1) PetscCall(VpCheckSize(dm, gradients, (double)field.mesh->nown * DMVPatchDGCellSize(dm) * field.mesh->dim, caller, "gradients"));
  if (l2) {
    PetscCall(ComputeSquare(&field, x, values, 1, l2));
    *l2 = PetscSqrtReal(*l2);
  }
  if (h1) {
    PetscCall(ComputeSquare(&field, x, gradients, field.mesh->dim, h1));
    *h1 = PetscSqrtReal(*h1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGIntegrate - Integrates a function over the domain

   Collective

   Input Parameters:
+  dm - the DM, set up
-  x  - coefficients, a vector of the DM

   Output Parameter:
.  integral - the integral, exact up to rounding errors

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPointValues()`, `DMVPatchDGComputeDifference()`
@*/
PetscErrorCode DMVPatchDGIntegrate(DM dm, Vec x, PetscScalar *integral)
{
  Vec values, one;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, "DMVPatchDGIntegrate()"));
  VpAssertPointer(integral, 3);
  PetscCall(DMGetGlobalVector(dm, &values));
  PetscCall(DMGetGlobalVector(dm, &one));
  PetscCall(VecSet(values, 1));
  PetscCall(DMVPatchDGSetPointValues(dm, values, one));
  PetscCall(VecDot(x, one, integral));
  PetscCall(DMRestoreGlobalVector(dm, &one));
  PetscCall(DMRestoreGlobalVector(dm, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
