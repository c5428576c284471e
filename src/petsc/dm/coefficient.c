/* The cells of a DMVPATCHDG and the coefficient on them. */
#include "internal.h"
#include "../mat/mat.h"

/*@
   DMVPatchDGGetCells - Gets the number of this rank's cells

   Not Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameter:
.  ncell - number of cells

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGGetCellBounds()`, `DMVPatchDGSetCoefficient()`
@*/
PetscErrorCode DMVPatchDGGetCells(DM dm, PetscInt *ncell)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetCells()"));
  VpAssertPointer(ncell, 2);
  *ncell = DMVPatchDGData(dm)->mesh->nown;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetCellBounds - Gets the corners of one of this rank's cells

   Not Collective

   Input Parameters:
+  dm   - the DM, set up
-  cell - 0 to the number of this rank's cells - 1

   Output Parameters:
+  lower - [dim] lower corner
-  upper - [dim] upper corner

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGGetCells()`, `DMVPatchDGSetCoefficient()`
@*/
PetscErrorCode DMVPatchDGGetCellBounds(DM dm, PetscInt cell, PetscReal lower[], PetscReal upper[])
{
  VpMesh    mesh;
  PetscReal x[3], size[3];

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetCellBounds()"));
  VpAssertPointer(lower, 3);
  VpAssertPointer(upper, 4);
  mesh = DMVPatchDGData(dm)->mesh;
  PetscCheck(cell >= 0 && cell < mesh->nown, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Cell %" PetscInt_FMT " is not one of this rank's %d", cell, (int)mesh->nown);
  VpMeshCellBounds(mesh, (int32_t)cell, x, size);
  for (int d = 0; d < mesh->dim; d++) {
    lower[d] = x[d];
    upper[d] = x[d] + size[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGMoveCoefficient(DM dm, VpMesh next, PetscReal **out)
{
  const VpMesh     mesh = DMVPatchDGData(dm)->mesh;
  const PetscReal *coefficient = DMVPatchDGData(dm)->op->problem.coefficient;
  PetscReal       *a = NULL;

  PetscFunctionBegin;
  if (coefficient) PetscCall(PetscMalloc1(next->nown + 1, &a)); /* not NULL on ranks without cells */
  if (coefficient && mesh->coarser == next) PetscCall(VpCoarsenCoefficient(mesh, coefficient, a, NULL));
  else
    for (int32_t c = 0; a && c < next->nown; c++) a[c] = coefficient[next->parent[c]];
  *out = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarser DM that was made from dm, by PCMG for instance, gets the means of the new coefficient. */
static PetscErrorCode SetCoarseCoefficient(DM dm)
{
  VpMesh     mesh;
  DM         coarse;
  PetscReal *a;

  PetscFunctionBegin;
  PetscCall(DMGetCoarseDM(dm, &coarse));
  if (!coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGCheck(coarse, "DMVPatchDGSetCoefficient()"));
  mesh = DMVPatchDGData(coarse)->mesh;
  if (DMVPatchDGData(dm)->mesh->coarser != mesh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGMoveCoefficient(dm, mesh, &a));
  PetscCall(DMVPatchDGSetCoefficient(coarse, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the smallest box around this rank's cells */
static PetscErrorCode LocalBounds(DM dm, PetscReal lower[], PetscReal upper[])
{
  VpMesh    mesh;
  PetscReal x[3], size[3];

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMGetBoundingBox()"));
  mesh = DMVPatchDGData(dm)->mesh;
  for (int d = 0; d < mesh->dim; d++) {
    lower[d] = PETSC_MAX_REAL;
    upper[d] = PETSC_MIN_REAL;
  }
  for (int32_t c = 0; c < mesh->nown; c++) {
    VpMeshCellBounds(mesh, c, x, size);
    for (int d = 0; d < mesh->dim; d++) {
      lower[d] = PetscMin(lower[d], x[d]);
      upper[d] = PetscMax(upper[d], x[d] + size[d]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Later versions of PETSc also ask for indices, which a DMDA has. */
static PetscErrorCode LocalBoundsNoIndices(DM dm, PetscReal lower[], PetscReal upper[], PetscInt first[], PetscInt last[])
{
  return LocalBounds(dm, lower, upper);
}

void DMVPatchDGSetLocalBounds(DM dm)
{
  typedef PetscErrorCode (*NoIndices)(DM, PetscReal *, PetscReal *);

  dm->ops->getlocalboundingbox = _Generic(dm->ops->getlocalboundingbox, NoIndices : LocalBounds, default : LocalBoundsNoIndices);
}

/*@
   DMVPatchDGSetCoefficient - Sets the coefficient a of -div(a grad u) on every cell

   Collective

   Input Parameters:
+  dm - the DM, set up
-  a  - one positive number for each of this rank's cells, or `NULL`: 1

   Level: intermediate

   Notes:
   May be called again at any time: the matrices made from the DM become A with the new coefficient, matrix-free and assembled ones alike,
so that a `MatScale()` or `MatShift()` has to be repeated. Preconditioners built on them rebuild when they are used next. A copy that
   `MatDuplicate()` or `MatCopy()` made keeps its coefficient, scale and shift, and a preconditioner on it those of the copy.

   Finer DMs made by `DMRefine()` inherit it, coarser ones take means, those that exist already, too. Where it jumps, faces take the
harmonic mean of both sides.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetCoefficient()`, `DMVPatchDGGetCells()`, `DMVPatchDGGetCellBounds()`
@*/
PetscErrorCode DMVPatchDGSetCoefficient(DM dm, const PetscReal a[])
{
  DM_VPatchDG *dg;
  PetscInt     bad[2] = {0, a ? 1 : 0}; /* the cells with a bad number; whether some rank gives numbers */
  PetscReal   *one = NULL;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGSetCoefficient()"));
  dg = dm->data;
  for (int32_t c = 0; a && c < dg->mesh->nown; c++) bad[0] += !(a[c] > 0) || PetscIsInfOrNanReal(a[c]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bad, 2, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)dm)));
  PetscCheck(!bad[0], PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "The coefficient must be positive and finite on every cell; on one rank %" PetscInt_FMT " cells have another", bad[0]);
  PetscCall(DMVPatchDGCheckCoefficient(dm, a));
  if (bad[1] && !a) {
    PetscCall(PetscMalloc1(dg->mesh->nown + 1, &one));
    for (int32_t c = 0; c < dg->mesh->nown; c++) one[c] = 1;
  }
  PetscCall(DMVPatchDGSetOperator(dm, one ? one : a));
  PetscCall(PetscFree(one));
  PetscCall(DMVPatchDGUpdateMatrices(dm));
  PetscCall(SetCoarseCoefficient(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGGetCoefficient - Gets the coefficient a of -div(a grad u) on every cell

   Not Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameter:
.  a - one number for each of this rank's cells, or `NULL`: 1. The array belongs to the DM

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetCoefficient()`
@*/
PetscErrorCode DMVPatchDGGetCoefficient(DM dm, const PetscReal *a[])
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetCoefficient()"));
  VpAssertPointer(a, 2);
  *a = DMVPatchDGData(dm)->op->problem.coefficient;
  PetscFunctionReturn(PETSC_SUCCESS);
}
