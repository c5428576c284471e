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
-  cell - index of the cell, from 0 to the number of this rank's cells - 1

   Output Parameters:
+  lower - [dim] lower corner
-  upper - [dim] upper corner

   Level: intermediate

   Note:
   For a mapped cell (`DMVPatchDGSetMap()`) these are the corners of the smallest box around the nodes of its map.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetCells()`, `DMVPatchDGSetCoefficient()`
@*/
PetscErrorCode DMVPatchDGGetCellBounds(DM dm, PetscInt cell, PetscReal lower[], PetscReal upper[])
{
  VpMesh mesh;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetCellBounds()"));
  VpAssertPointer(lower, 3);
  VpAssertPointer(upper, 4);
  mesh = DMVPatchDGData(dm)->mesh;
  PetscCheck(cell >= 0 && cell < mesh->nown, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Cell %" PetscInt_FMT " is not one of this rank's %d", cell, (int)mesh->nown);
  VpGeometryExtent(mesh->geometry, (int32_t)cell, lower, upper);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGMoveCoefficient(DM dm, VpMesh next, PetscReal **out)
{
  const VpMesh     mesh = DMVPatchDGData(dm)->mesh;
  const VpProblem *problem = VpOperatorGiven(DMVPatchDGData(dm)->op);
  const int        of = VpProblemDirections(problem), width = VpProblemWidth(problem);
  PetscReal       *a = NULL;

  PetscFunctionBegin;
  if (problem->coefficient) PetscCall(PetscMalloc1(next->nown * (size_t)width + 1, &a)); /* not NULL on ranks without cells */
  if (a && VpMeshCoarser(mesh) == next)
    PetscCall(VpCoarsenCoefficient(mesh, &(VpMeans){.from = of, .to = of, .apart = problem->apart}, problem->coefficient, a, NULL));
  else
    for (int32_t c = 0; a && c < next->nown; c++) {
      PetscCall(PetscArraycpy(a + (size_t)c * width, problem->coefficient + (size_t)next->relation->parent[c] * width, width));
    }
  *out = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetCoefficient(DM, int tensor, const PetscReal a[]);

/* Gives the mean of the new coefficient to the coarser DM that PCMG, for instance, made from dm. */
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
  if (VpMeshCoarser(DMVPatchDGData(dm)->mesh) != mesh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGMoveCoefficient(dm, mesh, &a));
  PetscCall(SetCoefficient(coarse, VpOperatorGiven(DMVPatchDGData(dm)->op)->tensor, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a [own cells][max(tensor, 1)]; NULL means 1. tensor is that of VpProblem. */
static PetscErrorCode SetCoefficient(DM dm, int tensor, const PetscReal a[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  const size_t   n = (size_t)DMVPatchDGData(dm)->mesh->nown * PetscMax(tensor, 1);
  PetscInt       bad[2] = {0, a ? 1 : 0}; /* number of values that are not allowed; 1: some rank passes values */
  PetscReal     *one = NULL;

  PetscFunctionBegin;
  for (size_t i = 0; a && i < n; i++) bad[0] += !(a[i] > 0) || PetscIsInfOrNanReal(a[i]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bad, 2, MPIU_INT, MPI_MAX, comm));
  PetscCheck(!bad[0], comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The coefficient must be positive and finite on every cell; on one rank %" PetscInt_FMT " %s", bad[0],
             tensor ? "of its numbers are not" : "cells have another");
  if (bad[1] && !a) {
    PetscCall(PetscMalloc1(n + 1, &one));
    for (size_t i = 0; i < n; i++) one[i] = 1;
    a = one;
  }
  PetscCall(DMVPatchDGCheckCoefficient(dm, a ? tensor : 0, a));
  PetscCall(VpPointFunctionReplace(&DMVPatchDGData(dm)->coefficient_at, &(VpPointFunction){.components = 1}));
  PetscCall(DMVPatchDGSetOperator(dm, a ? tensor : 0, (VpApart){0}, a));
  PetscCall(PetscFree(one));
  PetscCall(DMVPatchDGUpdateMatrices(dm));
  PetscCall(SetCoarseCoefficient(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetCoefficient - Sets the coefficient a of -div(a grad u) on every cell

   Collective

   Input Parameters:
+  dm - the DM, set up
-  a  - [cells of this rank] positive numbers, or `NULL` for 1

   Level: intermediate

   Notes:
   This function may be called again at any time. The matrices that were made from the DM, matrix-free or assembled, then become A with the
   new coefficient. An earlier `MatScale()` or `MatShift()` has to be repeated. Preconditioners that are built on these matrices are rebuilt
   when they are used next. A copy made by `MatDuplicate()` or `MatCopy()` keeps its coefficient, scale and shift, and so does a
   preconditioner on the copy.

   Finer DMs made by `DMRefine()` inherit the coefficient. Coarser DMs take means, including DMs that exist already. At a jump, faces take
   the harmonic mean of both sides.

   With one number per cell, a smooth coefficient reduces the order of convergence to two, whatever the degree. In 2D, with a = 1 + 0.9
   sin(2 pi x) sin(2 pi y) at the centres of 64 x 64 cells and u = exp(x) sin(2 y + 1), the L2 errors are
.vb
   degree    1       2       4       8
   error     9.1e-5  1.7e-4  1.7e-4  1.7e-4
.ve
   `DMVPatchDGEstimateWithCoefficient()` estimates this error. `DMVPatchDGEstimate()` does not see it.
   `DMVPatchDGSetCoefficientFunction()` cures it: a coefficient at points keeps the full order.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetTensorCoefficient()`, `DMVPatchDGSetCoefficientFunction()`, `DMVPatchDGGetCoefficient()`,
          `DMVPatchDGGetCells()`, `DMVPatchDGGetCellBounds()`
@*/
PetscErrorCode DMVPatchDGSetCoefficient(DM dm, const PetscReal a[])
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGSetCoefficient()"));
  PetscCall(SetCoefficient(dm, 0, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetTensorCoefficient - Sets a diagonal tensor as the coefficient on every cell

   Collective

   Input Parameters:
+  dm - the DM, set up
-  a  - [cells of this rank][dim] positive numbers, or `NULL` for 1

   Level: intermediate

   Notes:
   The operator is -d/dx(a_x du/dx) - d/dy(a_y du/dy) - d/dz(a_z du/dz). The notes of `DMVPatchDGSetCoefficient()` hold for each direction.
   Faces take the harmonic mean of the numbers along their normal. Fluxes and Robin's alpha are multiplied by the number along the normal. A
   call of this function replaces a coefficient that `DMVPatchDGSetCoefficient()` has set, and vice versa.

   Coarse levels merge cells along directions in which h/sqrt(a) is small, where a is the mean over a box. A tensor that is the same in all
   cells of a box therefore costs no more iterations than stretched cells. Place the faces of boxes where the tensor changes.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetCoefficient()`, `DMVPatchDGGetTensorCoefficient()`, `DMVPatchDGGetCells()`,
          `DMVPatchDGGetCellBounds()`
@*/
PetscErrorCode DMVPatchDGSetTensorCoefficient(DM dm, const PetscReal a[])
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGSetTensorCoefficient()"));
  PetscCall(SetCoefficient(dm, (int)dm->dim, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGGetCoefficient - Gets the coefficient a of -div(a grad u) on every cell

   Not Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameter:
.  a - [cells of this rank] the coefficient, or `NULL` for 1. The array belongs to the DM

   Level: intermediate

   Note:
   It is an error to call this function if the coefficient is a tensor: call `DMVPatchDGGetTensorCoefficient()` instead.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetCoefficient()`, `DMVPatchDGGetTensorCoefficient()`
@*/
PetscErrorCode DMVPatchDGGetCoefficient(DM dm, const PetscReal *a[])
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetCoefficient()"));
  VpAssertPointer(a, 2);
  PetscCheck(!VpOperatorGiven(DMVPatchDGData(dm)->op)->tensor, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The coefficient is a tensor, with numbers for every direction: ask DMVPatchDGGetTensorCoefficient()");
  *a = VpOperatorGiven(DMVPatchDGData(dm)->op)->coefficient;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGGetTensorCoefficient - Gets the diagonal tensor that is the coefficient on every cell

   Not Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameter:
.  a - [cells of this rank][dim] the tensor, or `NULL` if no tensor was set. The array belongs to the DM

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetTensorCoefficient()`, `DMVPatchDGGetCoefficient()`
@*/
PetscErrorCode DMVPatchDGGetTensorCoefficient(DM dm, const PetscReal *a[])
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetTensorCoefficient()"));
  VpAssertPointer(a, 2);
  *a = VpOperatorGiven(DMVPatchDGData(dm)->op)->tensor ? VpOperatorGiven(DMVPatchDGData(dm)->op)->coefficient : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
