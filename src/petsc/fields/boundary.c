/* Points on the boundary, and right-hand sides from values at points. All values stay on the vectors' backend. */
#include "fields.h"
#include "functions.h"

/* Checks the arguments of functions about the boundary and gets the field. */
static PetscErrorCode GetBoundaryField(DM dm, VPatchDGBoundary boundary, const char caller[], VpField *field, VpGivenKind *given)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, caller));
  PetscCheck(boundary == VPATCHDG_BOUNDARY_DIRICHLET || boundary == VPATCHDG_BOUNDARY_NEUMANN, PetscObjectComm((PetscObject)dm),
             PETSC_ERR_ARG_OUTOFRANGE,
             "%s: the boundary has points where it is Dirichlet or Neumann, Robin sides among these, not of kind %d", caller,
             (int)boundary);
  *given = boundary == VPATCHDG_BOUNDARY_DIRICHLET ? VP_GIVEN_VALUE : VP_GIVEN_FLUX;
  PetscCall(VpFieldGet(dm, field));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* number of points on a side of a cell */
static int CountSidePoints(const VpField *field)
{
  return (int)PetscPowInt(field->basis->n, field->mesh->dim - 1);
}

/* number of this rank's sides of a kind with a smaller number; side 2 dim: all of them */
static double CountSidesBefore(const VpField *field, VpGivenKind given, int side)
{
  double count = 0;

  for (int s = 0; s < side; s++) count += VpFieldCount(field, (VpSet){given, s});
  return count;
}

/* number of points before the points of a set of sides */
static size_t CountPointsBefore(const VpField *field, VpSet set)
{
  return (size_t)CountSidesBefore(field, set.given, set.side) * (size_t)CountSidePoints(field);
}

static PetscErrorCode CreateVector(const VpField *field, VpGivenKind given, int components, Vec *v)
{
  return VpPointVector(field, CountSidesBefore(field, given, 2 * field->mesh->dim), CountSidePoints(field), components, v);
}

/* Ensures: an error on all ranks unless v has one value per point on the sides of a kind. */
static PetscErrorCode CheckVector(const VpField *field, VpGivenKind given, Vec v, const char caller[], const char what[])
{
  return VpCheckSize(field->dm, v, (double)CountPointsBefore(field, (VpSet){given, 2 * field->mesh->dim}), caller, what);
}

static PetscErrorCode SideCoordinates(const VpField *field, VpGivenKind given, Vec coordinates)
{
  const int dim = field->mesh->dim;
  VpValues  xv;
  VpGrid    cell;

  PetscFunctionBegin;
  PetscCall(VpGridCreate(field->basis, dim, field->basis->n, NULL, &cell));
  PetscCall(VpValuesGet(field->level->backend, coordinates, VP_WRITE, &xv));
  for (int side = 0; side < 2 * dim; side++) {
    const VpSet set = {given, side};
    VpGrid      grid = cell;

    VpGridToSide(field->basis, side, 1, 0, &grid);
    PetscCall(VpCoordinates(field, &grid, set, xv.at + CountPointsBefore(field, set) * (size_t)dim));
  }
  PetscCall(VpValuesRestore(&xv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SideNormals(const VpField *field, VpGivenKind given, Vec normals)
{
  const int    dim = field->mesh->dim;
  PetscScalar *n;

  PetscFunctionBegin;
  PetscCall(VecZeroEntries(normals));
  PetscCall(VecGetArray(normals, &n));
  for (int side = 0; side < 2 * dim; side++) {
    const size_t begin = CountPointsBefore(field, (VpSet){given, side}), end = CountPointsBefore(field, (VpSet){given, side + 1});

    for (size_t i = begin; i < end; i++) n[i * (size_t)dim + (size_t)(side / 2)] = side % 2 ? 1 : -1;
  }
  PetscCall(VecRestoreArray(normals, &n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetBoundaryPoints - Gets the (k+1)^(dim-1) Gauss points of every side of a cell on the boundary

   Collective

   Input Parameters:
+  dm       - the DM, set up
-  boundary - `VPATCHDG_BOUNDARY_DIRICHLET` or `VPATCHDG_BOUNDARY_NEUMANN`: the sides to take; `VPATCHDG_BOUNDARY_NEUMANN`
              includes Robin sides

   Output Parameters:
+  coordinates - [points][dim] the coordinates, a vector of the DM's type with block size dim; the caller destroys it
-  normals     - [points][dim] the outward unit normals in a vector of the same kind, or `NULL`

   Level: intermediate

   Note:
   A rank has the points of its own cells. Points on sides x- come first, then those on x+, y-, .... Within these, points are in the order
   of the cells, and on one side with x fastest.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPoints()`, `DMVPatchDGGetBoundaryValues()`, `DMVPatchDGComputeRHSFromPoints()`
@*/
PetscErrorCode DMVPatchDGGetBoundaryPoints(DM dm, VPatchDGBoundary boundary, Vec *coordinates, Vec *normals)
{
  static const char caller[] = "DMVPatchDGGetBoundaryPoints()";
  VpField           field;
  VpGivenKind       given;

  PetscFunctionBegin;
  PetscCall(GetBoundaryField(dm, boundary, caller, &field, &given));
  VpAssertPointer(coordinates, 3);
  PetscCall(CreateVector(&field, given, field.mesh->dim, coordinates));
  PetscCall(SideCoordinates(&field, given, *coordinates));
  if (!normals) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(*coordinates, normals));
  PetscCall(SideNormals(&field, given, *normals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values = u or its outward derivative at the points on all sides of a kind */
static PetscErrorCode EvaluateOnSides(const VpField *field, VpGivenKind given, PetscBool derivative, Vec x, Vec values)
{
  const int dim = field->mesh->dim;
  VpValues  xv, yv;
  VpGrid    cell;

  PetscFunctionBegin;
  PetscCall(VpGridCreate(field->basis, dim, field->basis->n, NULL, &cell));
  PetscCall(VpValuesGet(field->level->backend, x, VP_READ, &xv));
  PetscCall(VpValuesGet(field->level->backend, values, VP_WRITE, &yv));
  for (int side = 0; side < 2 * dim; side++) {
    const VpSet set = {given, side};
    VpGrid      grid = cell;

    VpGridToSide(field->basis, side, !derivative, derivative, &grid);
    if (derivative) grid.power[side / 2] -= 2;
    PetscCall(VpEvaluate(field, 1, &grid, set, xv.at, yv.at + CountPointsBefore(field, set)));
  }
  PetscCall(VpValuesRestore(&yv));
  PetscCall(VpValuesRestore(&xv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetBoundaryValues - Evaluates a function and its derivative along the outward normal at the points of
   `DMVPatchDGGetBoundaryPoints()`

   Collective

   Input Parameters:
+  dm       - the DM, set up
.  boundary - `VPATCHDG_BOUNDARY_DIRICHLET` or `VPATCHDG_BOUNDARY_NEUMANN`: the sides to take; `VPATCHDG_BOUNDARY_NEUMANN`
              includes Robin sides
-  x        - coefficients, a vector of the DM

   Output Parameters:
+  values      - the value at every point, or `NULL`
-  derivatives - the derivative along the outward unit normal at every point, or `NULL`

   Level: intermediate

   Note:
   Both outputs are vectors with one number per point, as made by `DMVPatchDGCreateBoundaryVector()`.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBoundaryPoints()`, `DMVPatchDGCreateBoundaryVector()`, `DMVPatchDGGetPointValues()`
@*/
PetscErrorCode DMVPatchDGGetBoundaryValues(DM dm, VPatchDGBoundary boundary, Vec x, Vec values, Vec derivatives)
{
  static const char caller[] = "DMVPatchDGGetBoundaryValues()";
  Vec               out[2] = {values, derivatives};
  VpField           field;
  VpGivenKind       given;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, caller));
  PetscCall(GetBoundaryField(dm, boundary, caller, &field, &given));
  for (int i = 0; i < 2; i++) {
    if (!out[i]) continue;
    PetscCall(CheckVector(&field, given, out[i], caller, i ? "derivatives on the boundary" : "values on the boundary"));
    PetscCall(EvaluateOnSides(&field, given, (PetscBool)i, x, out[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGCreateBoundaryVector - Creates a vector with one number per point of `DMVPatchDGGetBoundaryPoints()`

   Collective

   Input Parameters:
+  dm       - the DM, set up
-  boundary - `VPATCHDG_BOUNDARY_DIRICHLET` or `VPATCHDG_BOUNDARY_NEUMANN`: the sides to take; `VPATCHDG_BOUNDARY_NEUMANN`
              includes Robin sides

   Output Parameter:
.  v - the vector, of the DM's type; the caller destroys it

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBoundaryPoints()`, `DMVPatchDGGetBoundaryValues()`, `DMVPatchDGComputeRHSFromPoints()`
@*/
PetscErrorCode DMVPatchDGCreateBoundaryVector(DM dm, VPatchDGBoundary boundary, Vec *v)
{
  static const char caller[] = "DMVPatchDGCreateBoundaryVector()";
  VpField           field;
  VpGivenKind       given;

  PetscFunctionBegin;
  PetscCall(GetBoundaryField(dm, boundary, caller, &field, &given));
  VpAssertPointer(v, 3);
  PetscCall(CreateVector(&field, given, 1, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values at points that determine a right-hand side */
typedef struct {
  const VpField *field;
  Vec            values[VP_GIVEN_KINDS]; /* NULL: 0 */
  PetscScalar   *b;
} PointData;

static PetscErrorCode AddValues(void *context, const VpGrid *grid, VpSet set)
{
  const PointData *data = (const PointData *)context;
  const PetscBool  cells = (PetscBool)(set.given == VP_GIVEN_SOURCE);
  const Vec        v = data->values[set.given];
  VpValues         vv;

  PetscFunctionBegin;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpValuesGet(data->field->level->backend, v, VP_READ, &vv));
  PetscCall(VpIntegrate(data->field, grid, set, (PetscBool)!cells, (PetscBool)!cells,
                        vv.at + (cells ? 0 : CountPointsBefore(data->field, set)), data->b));
  PetscCall(VpValuesRestore(&vv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGComputeRHSFromPoints - Computes the right-hand side of -div(a grad u) + c u = f, u = g on Dirichlet sides, du/dn = h on Neumann
   sides, from values at points

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  f         - the source at the points of `DMVPatchDGGetPoints()`, a vector like those of the DM, or `NULL` for 0
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
  PointData         data = {.values = {f, dirichlet, neumann}};
  VpField           field;
  VpValues          bv;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, b, caller));
  if (f) PetscCall(DMVPatchDGCheckVector(dm, f, caller));
  PetscCheck(f != b, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_IDN, "%s: f and b must be different vectors", caller);
  PetscCall(VpFieldGet(dm, &field));
  if (dirichlet) PetscCall(CheckVector(&field, VP_GIVEN_VALUE, dirichlet, caller, "Dirichlet values"));
  if (neumann) PetscCall(CheckVector(&field, VP_GIVEN_FLUX, neumann, caller, "Neumann values"));
  if (!f) PetscCall(VecZeroEntries(b));
  data.field = &field;
  PetscCall(VpValuesGet(field.level->backend, b, f ? VP_WRITE : VP_READ_WRITE, &bv));
  data.b = bv.at;
  PetscCall(VpForIntegrals(&field, field.basis->n, AddValues, &data));
  PetscCall(VpValuesRestore(&bv));
  PetscFunctionReturn(PETSC_SUCCESS);
}
