/* Estimated errors of data whose squares are no numbers, and of what is no number itself. */
/* ranks: 1 2 3 */
#include "support/leaves.h"

static PetscErrorCode Times(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = *(const PetscReal *)ctx * (1 + x[0]);
  return 0;
}

static PetscErrorCode FluxTimes(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  return Times(dim, x, value, ctx);
}

/* Data and solutions a number of times as large have errors that number of times as large, though squares overflow or underflow. */
static PetscErrorCode estimates_are_in_proportion(const Case *c)
{
  const PetscReal scale[] = {1, 1e-200, 1e180};
  PetscReal      *eta[2], *surplus[2], worst = 0;
  PetscInt        n;
  DM              dm;
  Vec             x, y;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(c, &dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PetscMalloc4(n, &eta[0], n, &eta[1], n, &surplus[0], n, &surplus[1]));
  for (int i = 0; i < 3; i++) {
    PetscReal factor = scale[i];

    PetscCall(VecCopy(x, y));
    PetscCall(VecScale(y, factor));
    PetscCall(DMVPatchDGEstimate(dm, y, Times, Times, FluxTimes, &factor, eta[!!i]));
    PetscCall(DMVPatchDGEstimateSurplus(dm, y, surplus[!!i]));
    for (PetscInt k = 0; k < n && i; k++) {
      worst = PetscMax(worst, PetscAbsReal(eta[1][k] / factor / eta[0][k] - 1));
      worst = PetscMax(worst, PetscAbsReal(surplus[1][k] / factor / surplus[0][k] - 1));
      if (PetscIsInfOrNanReal(eta[1][k] + surplus[1][k])) worst = PETSC_INFINITY;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(worst < 1e-12), "estimates_are_in_proportion, %s: %.1e", c->name, (double)worst);
  PetscCall(PetscFree4(eta[0], eta[1], surplus[0], surplus[1]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell one of whose coefficients is no number has an error that is none, whatever its others are. */
static PetscErrorCode cells_that_are_no_numbers_have_no_estimate(const Case *c)
{
  PetscReal   *eta;
  PetscScalar *u;
  PetscInt     n, ndof, hidden = 0;
  DM           dm;
  Vec          x;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(c, &dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecGetLocalSize(x, &ndof));
  ndof /= PetscMax(n, 1);
  PetscCall(PetscMalloc1(n, &eta));
  for (PetscInt i = 0; i < (c->degree + 1) * (c->degree + 1); i++) {
    PetscCall(VecZeroEntries(x));
    PetscCall(VecGetArray(x, &u));
    for (PetscInt k = 0; k < n; k++) u[k * ndof + i] = NAN;
    PetscCall(VecRestoreArray(x, &u));
    PetscCall(DMVPatchDGEstimate(dm, x, NULL, NULL, NULL, NULL, eta));
    for (PetscInt k = 0; k < n; k++) hidden += !PetscIsNanReal(eta[k]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &hidden, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)!hidden, "cells_that_are_no_numbers_have_no_estimate, %s: %" PetscInt_FMT " have one", c->name, hidden);
  PetscCall(PetscFree(eta));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const Case cases[] = {{"2D Q1", 2, 1, 1, VPATCHDG_DOMAIN_BOX, {D, D, D, D}, 0, 1, PETSC_FALSE},
                        {"mixed sides, reaction", 2, 3, 1, VPATCHDG_DOMAIN_BOX, {D, N, VPATCHDG_BOUNDARY_ROBIN, D}, 2, 1, PETSC_TRUE}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(estimates_are_in_proportion(&cases[i]));
    PetscCall(cells_that_are_no_numbers_have_no_estimate(&cases[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
