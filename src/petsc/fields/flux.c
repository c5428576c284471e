/* Integrals over the domain, and of the flux through the boundary sides with a label. */
#include "functions.h"

/*@
   DMVPatchDGIntegrate - Integrates a function over the domain

   Collective

   Input Parameters:
+  dm - the DM, set up
-  x  - coefficients, a vector of the DM

   Output Parameter:
.  integral - the integral, exact up to rounding errors; on mapped cells by k+1 Gauss points in each direction

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPointValues()`, `DMVPatchDGComputeDifference()`
@*/
PetscErrorCode DMVPatchDGIntegrate(DM dm, Vec x, PetscScalar *integral)
{
  Vec values, b;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, "DMVPatchDGIntegrate()"));
  VpAssertPointer(integral, 3);
  PetscCall(DMVPatchDGCreatePointVector(dm, &values));
  PetscCall(DMGetGlobalVector(dm, &b));
  PetscCall(VecSet(values, 1));
  PetscCall(DMVPatchDGComputeRHSFromPoints(dm, values, NULL, NULL, b));
  PetscCall(VecDot(x, b, integral));
  PetscCall(DMRestoreGlobalVector(dm, &b));
  PetscCall(VecDestroy(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The label of interest. If the sides have no labels, the number of a side is its label. */
typedef struct {
  PetscInt        label, nbox;
  const PetscInt *of; /* [nbox][2 dim] */
} Wanted;

static PetscBool HasLabel(const Wanted *w, int dim, int32_t box, int side)
{
  return (PetscBool)(w->label == (w->nbox ? w->of[(size_t)box * 2 * (size_t)dim + (size_t)side] : side));
}

/* Ensures: an error on all ranks unless the ranks ask for the same label and some boundary side has it. */
static PetscErrorCode FindWanted(DM dm, PetscInt label, Wanted *w)
{
  const VpDomain  domain = DMVPatchDGData(dm)->mesh->geometry->domain;
  const MPI_Comm  comm = PetscObjectComm((PetscObject)dm);
  const PetscReal same = (PetscReal)label;
  PetscBool       found = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(VpCheckSameReals(comm, 1, &same, "the label of DMVPatchDGIntegrateFlux()"));
  w->label = label;
  PetscCall(DMVPatchDGGetSideLabels(dm, &w->nbox, &w->of));
  for (int32_t box = 0; box < domain->nbox && !found; box++) {
    for (int side = 0; side < 2 * domain->dim; side++)
      found = (PetscBool)(found || (VpIsBoundary(domain->beyond[(size_t)box * 2 * (size_t)domain->dim + (size_t)side]) &&
                                    HasLabel(w, domain->dim, box, side)));
  }
  PetscCheck(found || w->nbox, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGIntegrateFlux(): the boundary has no side %" PetscInt_FMT
             ". Sides have no labels (DMVPatchDGSetSideLabels()), so that 0 to %d stand for x-, x+, y-, ... where these are not periodic",
             label, 2 * domain->dim - 1);
  PetscCheck(found, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGIntegrateFlux(): no side on the boundary has the label %" PetscInt_FMT
             " (DMVPatchDGGetSideLabels() says which there are)",
             label);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* integral of an outward derivative or an outflow, given at the points of a cell's side, over the side of the reference cell */
static PetscScalar IntegrateSide(const VpField *field, const double weight[], const PetscScalar derivative[])
{
  const int   n = field->basis->n;
  PetscScalar sum = 0;

  for (int q = 0; q < PetscPowInt(n, field->mesh->dim - 1); q++)
    sum += weight[q % n] * (field->mesh->dim == 3 ? weight[q / n] : 1) * derivative[q];
  return sum;
}

/* *flux += the integral over this rank's sides with these data and the label */
static PetscErrorCode AddSides(const VpField *field, const Wanted *w, VpGivenKind given, Vec derivatives, PetscScalar *flux)
{
  const int          dim = field->mesh->dim;
  const PetscScalar *values, *at;
  double             x[VP_MAX_N], weight[VP_MAX_N], factor = 1;

  PetscFunctionBegin;
  VpGauss(field->basis->n, x, weight);
  PetscCall(VecGetArrayRead(derivatives, &values));
  at = values;
  for (int side = 0; side < 2 * dim; side++) {
    for (int32_t i = 0; i < field->places->sides[given][side].n; i++, at += PetscPowInt(field->basis->n, dim - 1)) {
      const int32_t cell = field->places->cell[given][side][i];

      if (!HasLabel(w, dim, field->mesh->geometry->box[cell], side)) continue;
      if (!field->level->problem.metric)
        factor = VpProblemCoefficient(&field->level->problem, cell, side / 2) * VpGeometryArea(field->mesh->geometry, cell, side);
      *flux += factor * IntegrateSide(field, weight, at);
    }
  }
  PetscCall(VecRestoreArrayRead(derivatives, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGIntegrateFlux - Integrates a du/dn, for the outward unit normal, over all boundary sides with a given label

   Collective

   Input Parameters:
+  dm    - the DM, set up
.  u     - coefficients, a vector of the DM
-  label - the label, see `DMVPatchDGSetSideLabels()`; if sides have no labels, 0, 1, 2, ... stand for all sides with the outward normal x-,
           x+, y-, ...

   Output Parameter:
.  flux - the integral, the same on all ranks

   Level: intermediate

   Notes:
   The coefficient a is that of the cells at the boundary, or at the points of their sides if it is a function. If it is a matrix, the flux
   is that of a grad u along the normal. It is an error if no boundary side has the label. Periodic sides are not on the boundary.

   The derivative is that of u_h. If the solution is smooth, the error is of order h^k for degree k. At a re-entrant corner the order is
   lower. Up to such an error, the sum over all sides equals the integral of c u - f.

   An error of the solver is a/h times as large in the flux as in u. If a differs by orders of magnitude, solve with
   -vpatchdg_converged energy (`VPatchDGConvergedEnergy()`).

   The discrete equations conserve a different flux. On Dirichlet sides it is a (du/dn - gamma (u - g)), with the boundary values g and
   gamma = s 2k(k+1)/h, where s is the factor of the penalty and h the width of cells along the normal. With the data q of
   `DMVPatchDGComputeRHS()` the conserved flux is a q on Neumann sides and a (q - alpha u) on Robin sides. The sum of this flux over all
   sides equals the integral of c u - f up to rounding errors and the solver's residual. `DMVPatchDGGetBoundaryValues()` gives the values
   that are needed to compute it.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetSideLabels()`, `DMVPatchDGGetBoundaryValues()`, `DMVPatchDGIntegrate()`
@*/
PetscErrorCode DMVPatchDGIntegrateFlux(DM dm, Vec u, PetscInt label, PetscScalar *flux)
{
  PetscScalar sum = 0;
  VpField     field;
  Wanted      wanted;
  Vec         derivatives;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, u, "DMVPatchDGIntegrateFlux()"));
  VpAssertPointer(flux, 4);
  PetscCall(FindWanted(dm, label, &wanted));
  PetscCall(VpFieldGet(dm, &field));
  for (VpGivenKind given = VP_GIVEN_VALUE; given < VP_GIVEN_KINDS; given++) {
    PetscCall(VpPointVectorCreate(&field, given, 1, &derivatives));
    PetscCall(VpComputeAtPoints(&field, given, field.level->problem.metric ? VP_OUTFLOW : VP_SLOPE, NULL, u, derivatives));
    PetscCall(AddSides(&field, &wanted, given, derivatives, &sum));
    PetscCall(VecDestroy(&derivatives));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)dm)));
  *flux = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}
