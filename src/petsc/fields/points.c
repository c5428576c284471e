/* The Gauss points that users see, n a direction. The values there and the coefficients of a function determine each other. */
#include "quadrature.h"
#include "../../base/progress.h"

static PetscErrorCode GaussPoints(DM dm, VpQuadrature *quad, VpMesh *mesh)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  VpBasis      basis;

  PetscFunctionBegin;
  PetscCall(VpBasisCreate(VP_BASIS_ORTHONORMAL, (int)dg->degree, &basis));
  PetscCall(VpQuadratureCreate(&basis, (int)dm->dim, basis.n, NULL, quad));
  *mesh = dg->mesh;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetPoints - Gets the coordinates of the (k+1)^dim Gauss points of every cell

   Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameter:
.  coordinates - [points][dim] a vector of block size dim: cell by cell, in a cell x fastest; the caller destroys it

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGSetPointValues()`, `DMVPatchDGGetPointValues()`
@*/
PetscErrorCode DMVPatchDGGetPoints(DM dm, Vec *coordinates)
{
  VpQuadrature quad;
  VpMesh       mesh;
  PetscReal    lower[3], size[3];
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetPoints()"));
  VpAssertPointer(coordinates, 2);
  PetscCall(GaussPoints(dm, &quad, &mesh));
  PetscCheck((double)mesh->ncell * quad.npoint * quad.dim <= (double)PETSC_MAX_INT, PetscObjectComm((PetscObject)dm),
             PETSC_ERR_ARG_OUTOFRANGE, "%.0f coordinates are more than PetscInt counts: use a PETSc configured --with-64-bit-indices",
             (double)mesh->ncell * quad.npoint * quad.dim);
  PetscCall(VecCreate(PetscObjectComm((PetscObject)dm), coordinates));
  PetscCall(VecSetSizes(*coordinates, (PetscInt)mesh->nown * quad.npoint * quad.dim, PETSC_DETERMINE));
  PetscCall(VecSetBlockSize(*coordinates, quad.dim));
  PetscCall(VecSetType(*coordinates, VECSTANDARD));
  PetscCall(VecGetArrayWrite(*coordinates, &x));
  for (int32_t c = 0; c < mesh->nown; c++) {
    PetscScalar *cell = x + (size_t)c * quad.npoint * quad.dim;

    VpMeshCellBounds(mesh, c, lower, size);
    for (int p = 0; p < quad.npoint; p++) {
      for (int d = 0, q = p; d < quad.dim; d++, q /= quad.nq) cell[p * quad.dim + d] = lower[d] + size[d] * quad.x[q % quad.nq];
    }
  }
  PetscCall(VecRestoreArrayWrite(*coordinates, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A (x) A (x) A x on every cell, times |cell|^power */
static PetscErrorCode ApplyOnCells(VpMesh mesh, int n, const double A[], PetscReal power, Vec from, Vec to)
{
  const int          size[3] = {n, n, mesh->dim == 3 ? n : 1}, ndof = size[0] * size[1] * size[2];
  const double      *matrix[3] = {A, A, mesh->dim == 3 ? A : NULL};
  const PetscScalar *x;
  PetscScalar       *y;
  PetscReal          lower[3], h[3];
  double            *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * VP_MAX_POINT, &work));
  PetscCall(VecGetArrayRead(from, &x));
  PetscCall(VecGetArrayWrite(to, &y));
  for (int32_t c = 0; c < mesh->nown; c++) {
    PetscReal scale;

    VpMeshCellBounds(mesh, c, lower, h);
    scale = PetscPowReal(h[0] * h[1] * h[2], power);
    VpTensor(size, size, matrix, x + (size_t)c * ndof, y + (size_t)c * ndof, work);
    for (int i = 0; i < ndof; i++) y[(size_t)c * ndof + i] *= scale;
  }
  PetscCall(VecRestoreArrayWrite(to, &y));
  PetscCall(VecRestoreArrayRead(from, &x));
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckVectors(DM dm, Vec x, Vec y, const char caller[])
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(DMVPatchDGCheckVector(dm, y, caller));
  PetscCheck(x != y, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_IDN, "%s: the two vectors must be different", caller);
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
  VpQuadrature quad;
  VpMesh       mesh;

  PetscFunctionBegin;
  PetscCall(CheckVectors(dm, x, values, "DMVPatchDGGetPointValues()"));
  PetscCall(GaussPoints(dm, &quad, &mesh));
  PetscCall(ApplyOnCells(mesh, quad.n, quad.value, -0.5, x, values)); /* sum_i phi_i(x_q) x_i */
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
  VpQuadrature quad;
  VpMesh       mesh;

  PetscFunctionBegin;
  PetscCall(CheckVectors(dm, values, x, "DMVPatchDGSetPointValues()"));
  PetscCall(GaussPoints(dm, &quad, &mesh));
  for (int i = 0; i < quad.n * quad.nq; i++) quad.transpose[i] *= quad.w[i % quad.nq];
  PetscCall(
    ApplyOnCells(mesh, quad.n, quad.transpose, 0.5, values, x)); /* sum_q w_q phi_i(x_q) value_q is exact: the basis is orthonormal */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGInterpolate - Finds the function that equals u at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm  - the DM, set up
.  u   - a function of points
-  ctx - passed to u

   Output Parameter:
.  x - the coefficients, a vector of the DM

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGSetPointValues()`, `DMVPatchDGComputeErrors()`
@*/
PetscErrorCode DMVPatchDGInterpolate(DM dm, VPatchDGFunction u, void *ctx, Vec x)
{
  Vec                coordinates, values;
  const PetscScalar *point;
  PetscScalar       *value;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, "DMVPatchDGInterpolate()"));
  VpAssertPointer(u, 2);
  PetscCall(DMVPatchDGGetPoints(dm, &coordinates));
  PetscCall(DMCreateGlobalVector(dm, &values));
  PetscCall(VecGetLocalSize(values, &n));
  PetscCall(VecGetArrayRead(coordinates, &point));
  PetscCall(VecGetArrayWrite(values, &value));
  for (PetscInt i = 0; i < n; i++) {
    value[i] = 0;
    if (!(i & 0xff)) PetscCall(VpProgress("interpolation", (double)i, (double)n));
    PetscCall(u(dm->dim, point + i * dm->dim, &value[i], ctx));
  }
  PetscCall(VecRestoreArrayWrite(values, &value));
  PetscCall(VecRestoreArrayRead(coordinates, &point));
  PetscCall(DMVPatchDGSetPointValues(dm, values, x));
  PetscCall(VecDestroy(&values));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}
