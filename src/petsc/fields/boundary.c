/* Points on the boundary and values there, on the vectors' backend. */
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

/* the normals of all points, and of places with this side */
typedef struct {
  int     dim, side, size; /* size: points of a place */
  double *to;
} Normals;

static PetscErrorCode FillNormalsOfPlaces(void *context, const VpPlaces *places, double scratch[])
{
  const Normals *n = (const Normals *)context;
  const size_t   count = (size_t)places->n * (size_t)(n->size * n->dim);
  double        *to = n->to + (size_t)places->first * (size_t)(n->size * n->dim);

  for (size_t i = 0; i < count; i++) {
    const int d = (int)(i % (size_t)n->dim);

    if (places->normal) to[i] = places->normal[i];
    else to[i] = d != n->side / 2 ? 0 : n->side % 2 ? 1 : -1;
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode FillNormals(const VpField *field, VpGivenKind given, Vec normals)
{
  const int    dim = field->mesh->dim;
  PetscScalar *all;
  VpGrid       cell;

  PetscFunctionBegin;
  PetscCall(VpGridCreate(field->basis, dim, field->basis->n, NULL, &cell));
  PetscCall(VecGetArrayWrite(normals, &all));
  for (int side = 0; side < 2 * dim; side++) {
    const VpSet  set = {given, side};
    VpGrid       grid = cell;
    Normals      n = {.dim = dim, .side = side, .to = all + VpCountPointsBefore(field, set) * (size_t)dim};
    VpPlacesLoop loop = {.set = set,
                         .grid = &grid,
                         .needs = VP_NEEDS_NORMALS,
                         .last = VpFieldCount(field, set),
                         .threads = PETSC_TRUE,
                         .work = FillNormalsOfPlaces,
                         .context = &n};

    VpGridToSide(field->basis, side, 1, 0, &grid);
    n.size = VpGridSize(&grid);
    loop.batch = VpHostBatch(&grid);
    PetscCall(VpOnHost(field, &loop));
  }
  PetscCall(VecRestoreArrayWrite(normals, &all));
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
  PetscCall(VpPointVectorCreate(&field, given, field.mesh->dim, coordinates));
  PetscCall(VpComputeAtPoints(&field, given, VP_COORDINATES, NULL, NULL, *coordinates));
  if (!normals) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(*coordinates, normals));
  PetscCall(FillNormals(&field, given, *normals));
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
    PetscCall(VpPointVectorCheck(&field, given, 1, out[i], caller, i ? "derivatives on the boundary" : "values on the boundary"));
    PetscCall(VpComputeAtPoints(&field, given, i ? VP_SLOPE : VP_VALUE, NULL, x, out[i]));
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
  PetscCall(VpPointVectorCreate(&field, given, 1, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
