/* Right-hand sides and error norms: integrals of functions of points, with k+3 Gauss points in each direction, or of values at the k+1
   points of DMVPatchDGGetPoints(). */
#include "fields.h"
#include "functions.h"

/* the grid for b_i = (f, phi_i) in a cell, and on a side for b_i = (a g, gamma phi_i - d phi_i/dn) if u is given, or (a h, phi_i) */
static VpGrid FindGrid(const VpField *field, const VpGrid *cell, VpSet set)
{
  VpGrid grid = *cell;

  if (set.given == VP_GIVEN_VALUE) {
    VpGridToSide(field->basis, set.side, VpDirichletGamma(field->basis->degree, field->level->problem.penalty), -1, &grid);
    grid.power[set.side / 2] -= 2;
  } else if (set.given == VP_GIVEN_FLUX) VpGridToSide(field->basis, set.side, 1, 0, &grid);
  VpGridToIntegrals(field->basis, &grid);
  return grid;
}

/* Integrates the data of cells, then those of each set of boundary sides. A metric knows its sides at k+1 points in each direction. */
static PetscErrorCode IntegrateData(const VpField *field, int nq, const VpGiven given[], double b[])
{
  VpGrid cell;

  PetscFunctionBegin;
  for (int i = -1; i < 4 * field->mesh->dim; i++) {
    const VpSet set = i < 0 ? VpOwnCells() : (VpSet){i % 2 ? VP_GIVEN_FLUX : VP_GIVEN_VALUE, i / 2};
    VpGrid      grid;

    if (!VpIsGiven(&given[set.given])) continue;
    PetscCall(VpGridCreate(field->basis, field->mesh->dim, i >= 0 && field->level->problem.metric ? field->basis->n : nq, NULL, &cell));
    grid = FindGrid(field, &cell, set);
    PetscCall(VpIntegrateFunction(field, &grid, set, &given[set.given], b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* nq: number of points in each direction */
static PetscErrorCode ComputeRHS(const VpField *field, int nq, const VpGiven given[], Vec b)
{
  const PetscBool source = VpIsGiven(&given[VP_GIVEN_SOURCE]);
  PetscErrorCode  error;
  Vec             cells;
  VpValues        values;

  PetscFunctionBegin;
  PetscCall(VpCellsCreate(field, b, &cells));
  if (!source) PetscCall(VecZeroEntries(cells));
  PetscCall(VpValuesGet(field->level->backend, cells, source ? VP_WRITE : VP_READ_WRITE, &values));
  error = VpTogether(field->mesh->comm, IntegrateData(field, nq, given, values.at));
  PetscCall(VpValuesRestore(&values));
  if (error) PetscCall(VecDestroy(&cells));
  PetscCall(error);
  PetscCall(VpCellsToRHS(field, PETSC_FALSE, &cells, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComputeRHSOfFunctions(DM dm, PetscMemType where, VpGiven given[], Vec b, const char caller[])
{
  VpField field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, b, caller));
  PetscCall(VpFieldGet(dm, &field));
  for (int i = 0; i < VP_GIVEN_KINDS; i++) PetscCall(VpGivenSetMemory(&field, where, caller, &given[i]));
  PetscCall(ComputeRHS(&field, field.basis->n + 2, given, b));
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
  VpGiven given[] = {[VP_GIVEN_SOURCE] = {.function = f, .ctx = ctx, .components = 1},
                     [VP_GIVEN_VALUE] = {.function = dirichlet, .ctx = ctx, .components = 1},
                     [VP_GIVEN_FLUX] = {.flux = neumann, .ctx = ctx, .components = 1}};

  return ComputeRHSOfFunctions(dm, PETSC_MEMTYPE_HOST, given, b, "DMVPatchDGComputeRHS()");
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
  VpGiven given[] = {[VP_GIVEN_SOURCE] = {.batch = f, .ctx = ctx, .components = 1},
                     [VP_GIVEN_VALUE] = {.batch = dirichlet, .ctx = ctx, .components = 1},
                     [VP_GIVEN_FLUX] = {.batch = neumann, .ctx = ctx, .components = 1}};

  return ComputeRHSOfFunctions(dm, where, given, b, "DMVPatchDGComputeRHSBatch()");
}

/*@C
   DMVPatchDGComputeRHSSideBatch - Computes the right-hand side of -div(a grad u) + c u = f as `DMVPatchDGComputeRHSBatch()` does, from
   functions on the boundary that get a normal for every point

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  f         - the source, or `NULL` for 0
.  dirichlet - u on Dirichlet sides, or `NULL` for 0
.  neumann   - du/dn on Neumann sides and du/dn + alpha u on Robin sides, or `NULL` for 0
.  where     - `PETSC_MEMTYPE_HOST`, or `PETSC_MEMTYPE_CUDA`: the memory of the points, of the normals and of the values
-  ctx       - context that is passed to the functions

   Output Parameter:
.  b - the right-hand side, a vector of the DM

   Level: intermediate

   Note:
   On curved sides (`DMVPatchDGSetMap()`) these functions are called for many points at a time. A `VPatchDGBatch` gets one normal, so it is
   called for one point at a time there.

.seealso: `DMVPATCHDG`, `VPatchDGSideBatch`, `DMVPatchDGComputeRHSBatch()`, `DMVPatchDGComputeRHS()`, `DMVPatchDGSetMap()`
@*/
PetscErrorCode DMVPatchDGComputeRHSSideBatch(DM dm, VPatchDGBatch f, VPatchDGSideBatch dirichlet, VPatchDGSideBatch neumann,
                                             PetscMemType where, void *ctx, Vec b)
{
  VpGiven given[] = {[VP_GIVEN_SOURCE] = {.batch = f, .ctx = ctx, .components = 1},
                     [VP_GIVEN_VALUE] = {.batch = dirichlet, .ctx = ctx, .components = 1, .normals = PETSC_TRUE},
                     [VP_GIVEN_FLUX] = {.batch = neumann, .ctx = ctx, .components = 1, .normals = PETSC_TRUE}};

  return ComputeRHSOfFunctions(dm, where, given, b, "DMVPatchDGComputeRHSSideBatch()");
}

/*@
   DMVPatchDGComputeRHSFromPoints - Computes the right-hand side of -div(a grad u) + c u = f, u = g on Dirichlet sides, du/dn = h on Neumann
   sides, from values at points

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  f         - the source at the points of `DMVPatchDGGetPoints()`, a vector of `DMVPatchDGCreatePointVector()`, or `NULL` for 0
.  dirichlet - g at the points of `DMVPatchDGGetBoundaryPoints()` for `VPATCHDG_BOUNDARY_DIRICHLET`, or `NULL` for 0
-  neumann   - h at the points for `VPATCHDG_BOUNDARY_NEUMANN` (du/dn + alpha u on Robin sides), or `NULL` for 0

   Output Parameter:
.  b - the right-hand side, a vector of the DM

   Level: intermediate

   Notes:
   Integrals use k+1 Gauss points in every direction, which are enough for polynomials of degree k. `DMVPatchDGComputeRHS()` uses k+3. If
   the vectors are on a GPU, nothing is copied to the host.

.seealso: `DMVPATCHDG`, `DMVPatchDGComputeRHS()`, `DMVPatchDGGetPoints()`, `DMVPatchDGCreateBoundaryVector()`,
          `DMVPatchDGComputeDifference()`
@*/
PetscErrorCode DMVPatchDGComputeRHSFromPoints(DM dm, Vec f, Vec dirichlet, Vec neumann, Vec b)
{
  static const char caller[] = "DMVPatchDGComputeRHSFromPoints()";
  const VpGiven     given[] = {[VP_GIVEN_SOURCE] = {.values = f, .components = 1},
                               [VP_GIVEN_VALUE] = {.values = dirichlet, .components = 1},
                               [VP_GIVEN_FLUX] = {.values = neumann, .components = 1}};
  VpField           field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, b, caller));
  if (f) PetscCall(DMVPatchDGCheckPoints(dm, f, caller));
  PetscCheck(f != b, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_IDN, "%s: f and b must be different vectors", caller);
  PetscCall(VpFieldGet(dm, &field));
  if (dirichlet) PetscCall(VpPointVectorCheck(&field, VP_GIVEN_VALUE, 1, dirichlet, caller, "Dirichlet values"));
  if (neumann) PetscCall(VpPointVectorCheck(&field, VP_GIVEN_FLUX, 1, neumann, caller, "Neumann values"));
  PetscCall(ComputeRHS(&field, field.basis->n, given, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* norm[0] = the L2 norm of u_h - u, norm[1] = that of grad u_h - gradient; NULL: not wanted. x: u_h; given: u and the gradient; nq: number
   of points in each direction */
static PetscErrorCode ComputeNorms(const VpField *field, int nq, Vec x, const VpGiven given[2], PetscReal *const norm[2])
{
  const VpGiven *wanted[] = {norm[0] ? &given[0] : NULL, norm[1] ? &given[1] : NULL};
  PetscReal      square[2];
  PetscErrorCode error;
  Vec            cells;
  VpGrid         grid;
  VpValues       xv;

  PetscFunctionBegin;
  PetscCall(VpGridCreate(field->basis, field->mesh->dim, nq, NULL, &grid));
  PetscCall(VpCellsOf(field, x, &cells));
  PetscCall(VpValuesGet(field->level->backend, cells, VP_READ, &xv));
  error = VpTogether(field->mesh->comm, VpComputeSquares(field, &grid, wanted, xv.at, square));
  PetscCall(VpValuesRestore(&xv));
  PetscCall(VecDestroy(&cells));
  PetscCall(error);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, square, 2, MPIU_REAL, MPIU_SUM, field->mesh->comm));
  for (int i = 0; i < 2; i++) {
    if (norm[i]) *norm[i] = PetscSqrtReal(square[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComputeErrors(DM dm, Vec x, PetscMemType where, VpGiven given[2], PetscReal *const norm[2], const char caller[])
{
  VpField field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(VpFieldGet(dm, &field));
  for (int i = 0; i < 2; i++) PetscCall(VpGivenSetMemory(&field, where, caller, &given[i]));
  given[1].components = field.mesh->dim;
  PetscCall(ComputeNorms(&field, field.basis->n + 2, x, given, norm));
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
  VpGiven          given[] = {{.function = u, .ctx = ctx, .components = 1}, {.function = gradient, .ctx = ctx}};
  PetscReal *const norm[] = {l2, h1};

  return ComputeErrors(dm, x, PETSC_MEMTYPE_HOST, given, norm, "DMVPatchDGComputeErrors()");
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
  VpGiven          given[] = {{.batch = u, .ctx = ctx, .components = 1}, {.batch = gradient, .ctx = ctx}};
  PetscReal *const norm[] = {l2, h1};

  return ComputeErrors(dm, x, where, given, norm, "DMVPatchDGComputeErrorsBatch()");
}

/*@
   DMVPatchDGComputeDifference - Computes norms of u_h - u, where u is given at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  x         - the coefficients of u_h
.  values    - u at every point, a vector of `DMVPatchDGCreatePointVector()`, or `NULL` if l2 is `NULL`
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
  VpGiven           given[] = {{.values = values, .components = 1}, {.values = gradients}};
  PetscReal *const  norm[] = {l2, h1};
  VpField           field;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(VpFieldGet(dm, &field));
  given[1].components = field.mesh->dim;
  if (l2) PetscCall(DMVPatchDGCheckPoints(dm, values, caller));
  if (h1) PetscCall(VpPointVectorCheck(&field, VP_GIVEN_SOURCE, field.mesh->dim, gradients, caller, "gradients"));
  PetscCall(ComputeNorms(&field, field.basis->n, x, given, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b = (1, phi_i), in cells the coefficients of the function 1. Where the constants are the null space, 1 has no solution, and b = 0. */
PetscErrorCode DMVPatchDGComputeOnes_Private(KSP ksp, Vec b, void *ctx)
{
  DM      dm;
  Vec     cells;
  VpField field;

  PetscFunctionBegin;
  if (((PetscObject)b)->refct > 1) PetscFunctionReturn(PETSC_SUCCESS); /* b belongs to the caller of KSPSolve(ksp, b, x). */
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(DMVPatchDGCheckVector(dm, b, "The right-hand side f = 1"));
  PetscCall(VpFieldGet(dm, &field));
  PetscCall(VpCellsCreate(&field, b, &cells));
  if (DMVPatchDGIsSingular(dm)) PetscCall(VecSet(cells, 0));
  else PetscCall(DMVPatchDGFillConstant(dm, cells));
  PetscCall(VpCellsToRHS(&field, PETSC_FALSE, &cells, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
