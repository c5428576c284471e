/* Right-hand sides and error norms: integrals of functions of points, with k+3 Gauss points in each direction. */
#include "fields.h"
#include "functions.h"

/* the grid on a side for b_i = (a g, gamma phi_i - d phi_i/dn) if u is given, or (a h, phi_i) */
static VpGrid SideGrid(const VpField *field, const VpGrid *cell, VpSet set)
{
  VpGrid grid = *cell;

  if (set.given == VP_GIVEN_VALUE) {
    VpGridToSide(field->basis, set.side, VpDirichletGamma(field->basis->degree, field->level->problem.penalty), -1, &grid);
    grid.power[set.side / 2] -= 2;
  } else VpGridToSide(field->basis, set.side, 1, 0, &grid);
  return grid;
}

PetscErrorCode VpForIntegrals(const VpField *field, int nq, PetscErrorCode (*work)(void *, const VpGrid *, VpSet), void *context)
{
  VpGrid cell, grid;

  PetscFunctionBegin;
  PetscCall(VpGridCreate(field->basis, field->mesh->dim, nq, NULL, &cell));
  grid = cell;
  VpGridToIntegrals(field->basis, &grid);
  PetscCall(work(context, &grid, VpOwnCells()));
  for (int i = 0; i < 4 * field->mesh->dim; i++) {
    const VpSet set = {i % 2 ? VP_GIVEN_FLUX : VP_GIVEN_VALUE, i / 2};

    grid = SideGrid(field, &cell, set);
    VpGridToIntegrals(field->basis, &grid);
    PetscCall(work(context, &grid, set));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the data of a right-hand side */
typedef struct {
  const VpField *field;
  VpGiven        given[VP_GIVEN_KINDS];
  double        *b;
} Data;

static PetscErrorCode AddData(void *context, const VpGrid *grid, VpSet set)
{
  const Data    *data = (const Data *)context;
  const VpGiven *f = &data->given[set.given];

  PetscFunctionBegin;
  if (VpIsGiven(f)) PetscCall(VpAddIntegrals(data->field, grid, set, (PetscBool)(set.given != VP_GIVEN_SOURCE), f, data->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComputeRHS(DM dm, Data *data, Vec b)
{
  VpField  field;
  VpValues values;

  PetscFunctionBegin;
  PetscCall(VpFieldGet(dm, &field));
  data->field = &field;
  PetscCall(VecZeroEntries(b));
  PetscCall(VpValuesGet(field.level->backend, b, VP_READ_WRITE, &values));
  data->b = values.at;
  PetscCall(VpTogether(field.mesh->comm, VpForIntegrals(&field, field.basis->n + 2, AddData, data)));
  PetscCall(VpValuesRestore(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGComputeRHS - Computes the right-hand side of -div(a grad u) + c u = f, u = g on Dirichlet sides, du/dn = h on Neumann sides,
   du/dn + alpha u = h on Robin sides

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  f         - the source, or `NULL` for 0
.  dirichlet - g, or `NULL` for 0
.  neumann   - h on Neumann and Robin sides, or `NULL` for 0
-  ctx       - context that is passed to the functions

   Output Parameter:
.  b - the right-hand side, a vector of the DM: b_i = (f, phi_i) + (a g, gamma phi_i - d phi_i/dn) on Dirichlet sides + (a h, phi_i) on
       Neumann and Robin sides, with the basis functions phi_i and the penalty gamma of `DMVPatchDGSetPenalty()`

   Level: beginner

   Notes:
   A function for a kind of sides that the boundary does not have is never called: one program may pass all of them for any boundary.

   The functions are called for one point at a time by a single thread. `DMVPatchDGComputeRHSBatch()` takes functions of many points and
   uses several threads.

   Integrals use k+3 Gauss points in every direction on each cell. Place jumps of f on faces of cells.

   A pure Neumann or periodic problem without reaction has a solution only if the integrals of f and of the boundary data add up to 0. A
   `KSP` removes the constant component, which has no solution, in the solve. b itself keeps this component, because a time step needs it.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetBoundary()`, `DMVPatchDGComputeRHSBatch()`, `DMVPatchDGComputeRHSFromPoints()`,
          `DMVPatchDGComputeErrors()`
@*/
PetscErrorCode DMVPatchDGComputeRHS(DM dm, VPatchDGFunction f, VPatchDGFunction dirichlet, VPatchDGFlux neumann, void *ctx, Vec b)
{
  Data data = {.given = {[VP_GIVEN_SOURCE] = {.function = f, .ctx = ctx, .components = 1},
                         [VP_GIVEN_VALUE] = {.function = dirichlet, .ctx = ctx, .components = 1},
                         [VP_GIVEN_FLUX] = {.flux = neumann, .ctx = ctx, .components = 1}}};

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, b, "DMVPatchDGComputeRHS()"));
  PetscCall(ComputeRHS(dm, &data, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* given = a function in batch form */
static PetscErrorCode InBatches(DM dm, VPatchDGBatch f, void *ctx, PetscMemType where, int components, const char caller[], VpGiven *given)
{
  VpField field;

  PetscFunctionBegin;
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(VpGivenCheck(&field, where, caller));
  *given = (VpGiven){.batch = f, .ctx = ctx, .components = components, .on_device = (PetscBool)!PetscMemTypeHost(where)};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGComputeRHSBatch - Computes the right-hand side of -div(a grad u) + c u = f as `DMVPatchDGComputeRHS()` does, from functions of
   many points at a time

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  f         - the source, or `NULL` for 0
.  dirichlet - u on Dirichlet sides, or `NULL` for 0
.  neumann   - du/dn on Neumann sides and du/dn + alpha u on Robin sides, or `NULL` for 0
.  where     - `PETSC_MEMTYPE_HOST`, or `PETSC_MEMTYPE_CUDA`: the memory of the points and of the values
-  ctx       - context that is passed to the functions

   Output Parameter:
.  b - the right-hand side, a vector of the DM

   Level: intermediate

.seealso: `DMVPATCHDG`, `VPatchDGBatch`, `DMVPatchDGComputeRHS()`, `DMVPatchDGComputeRHSFromPoints()`, `DMVPatchDGComputeErrorsBatch()`
@*/
PetscErrorCode DMVPatchDGComputeRHSBatch(DM dm, VPatchDGBatch f, VPatchDGBatch dirichlet, VPatchDGBatch neumann, PetscMemType where,
                                         void *ctx, Vec b)
{
  static const char caller[] = "DMVPatchDGComputeRHSBatch()";
  Data              data = {.field = NULL};

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, b, caller));
  PetscCall(InBatches(dm, f, ctx, where, 1, caller, &data.given[VP_GIVEN_SOURCE]));
  PetscCall(InBatches(dm, dirichlet, ctx, where, 1, caller, &data.given[VP_GIVEN_VALUE]));
  PetscCall(InBatches(dm, neumann, ctx, where, 1, caller, &data.given[VP_GIVEN_FLUX]));
  PetscCall(ComputeRHS(dm, &data, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComputeErrors(DM dm, Vec x, const VpGiven *u, const VpGiven *gradient, PetscReal *l2, PetscReal *h1)
{
  PetscReal *norm[2] = {l2, h1}, square[2] = {0, 0}, *wanted[2] = {l2 ? &square[0] : NULL, h1 ? &square[1] : NULL};
  VpField    field;
  VpGrid     grid;
  VpValues   xv;

  PetscFunctionBegin;
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(VpGridCreate(field.basis, field.mesh->dim, field.basis->n + 2, NULL, &grid));
  PetscCall(VpValuesGet(field.level->backend, x, VP_READ, &xv));
  PetscCall(VpTogether(field.mesh->comm, VpAddSquares(&field, &grid, u, gradient, xv.at, wanted)));
  PetscCall(VpValuesRestore(&xv));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, square, 2, MPIU_REAL, MPIU_SUM, field.mesh->comm));
  for (int i = 0; i < 2; i++) {
    if (norm[i]) *norm[i] = PetscSqrtReal(square[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGComputeErrors - Computes norms of u_h - u

   Collective

   Input Parameters:
+  dm       - the DM, set up
.  x        - the coefficients of u_h
.  u        - the function u, or `NULL` for 0
.  gradient - its gradient (dim components), or `NULL` for 0
-  ctx      - context that is passed to the functions

   Output Parameters:
+  l2 - the L2 norm of u_h - u, or `NULL`
-  h1 - the L2 norm of grad u_h - grad u, cell by cell, or `NULL`

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGComputeErrorsBatch()`, `DMVPatchDGComputeDifference()`, `DMVPatchDGComputeRHS()`
@*/
PetscErrorCode DMVPatchDGComputeErrors(DM dm, Vec x, VPatchDGFunction u, VPatchDGFunction gradient, void *ctx, PetscReal *l2, PetscReal *h1)
{
  VpGiven value = {.function = u, .ctx = ctx, .components = 1}, slope = {.function = gradient, .ctx = ctx};

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, "DMVPatchDGComputeErrors()"));
  slope.components = (int)dm->dim;
  PetscCall(ComputeErrors(dm, x, &value, &slope, l2, h1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGComputeErrorsBatch - Computes norms of u_h - u as `DMVPatchDGComputeErrors()` does, from functions of many points at a time

   Collective

   Input Parameters:
+  dm       - the DM, set up
.  x        - the coefficients of u_h
.  u        - the function u, or `NULL` for 0
.  gradient - its gradient (dim components), or `NULL` for 0
.  where    - `PETSC_MEMTYPE_HOST`, or `PETSC_MEMTYPE_CUDA`: the memory of the points and of the values
-  ctx      - context that is passed to the functions

   Output Parameters:
+  l2 - the L2 norm of u_h - u, or `NULL`
-  h1 - the L2 norm of grad u_h - grad u, cell by cell, or `NULL`

   Level: intermediate

.seealso: `DMVPATCHDG`, `VPatchDGBatch`, `DMVPatchDGComputeErrors()`, `DMVPatchDGComputeDifference()`, `DMVPatchDGComputeRHSBatch()`
@*/
PetscErrorCode DMVPatchDGComputeErrorsBatch(DM dm, Vec x, VPatchDGBatch u, VPatchDGBatch gradient, PetscMemType where, void *ctx,
                                            PetscReal *l2, PetscReal *h1)
{
  static const char caller[] = "DMVPatchDGComputeErrorsBatch()";
  VpGiven           value, slope;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(InBatches(dm, u, ctx, where, 1, caller, &value));
  PetscCall(InBatches(dm, gradient, ctx, where, (int)dm->dim, caller, &slope));
  PetscCall(ComputeErrors(dm, x, &value, &slope, l2, h1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b = (1, phi_i), the coefficients of the function 1. Where the constants are the null space, 1 has no solution, and b = 0. */
PetscErrorCode DMVPatchDGComputeOnes_Private(KSP ksp, Vec b, void *ctx)
{
  DM dm;

  PetscFunctionBegin;
  if (((PetscObject)b)->refct > 1) PetscFunctionReturn(PETSC_SUCCESS); /* b belongs to the caller of KSPSolve(ksp, b, x). */
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(DMVPatchDGCheckVector(dm, b, "The right-hand side f = 1"));
  if (DMVPatchDGIsSingular(dm)) PetscCall(VecSet(b, 0));
  else PetscCall(DMVPatchDGFillConstant(dm, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
