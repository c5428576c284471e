/* Iterations with reactions and Robin sides that differ among mapped cells: those of an independent program. */
/* ranks: 1 2 */
#include "support/mapped_nu.h"

#define SINE    "-dm_refine 4 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .10"
#define ANNULUS "-dm_refine 4 -dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,90"
#define ROBIN   " -dm_vpatchdg_boundary robin -dm_vpatchdg_robin "

static const struct {
  NuCase is;
  double nu;
} rows[] = {
  {{2, 3, SINE, ONE, 1, 100, 0}, 24.1},
  {{2, 3, SINE, ONE, 1, 1e4, 0}, 17.8},
  {{2, 3, SINE, ONE, 1, 1e6, 0}, 13.7},
  {{2, 3, ANNULUS, ONE, 1, 100, 0}, 6.5},
  {{2, 3, ANNULUS, ONE, 1, 1e4, 0}, 10.2},
  {{2, 3, ANNULUS, ONE, 1, 1e6, 0}, 17},
  {{2, 3, ANNULUS " -dm_vpatchdg_reaction 100", ONE, 1, 0, 0}, 4.4},
  {{2, 3, ANNULUS " -dm_vpatchdg_reaction 1e4", ONE, 1, 0, 0}, 4.1},
  {{2, 3, ANNULUS, ONE, 1, 0, 1e4}, 4.1},
  {{2, 3, ANNULUS " -dm_vpatchdg_reaction 1e6", ONE, 1, 0, 0}, 4.7},
  {{2, 3, SINE ROBIN ".01", ONE, 1, 0, 0}, 26.9},
  {{2, 3, SINE ROBIN "1", ONE, 1, 0, 0}, 26.6},
  {{2, 3, SINE ROBIN "100", ONE, 1, 0, 0}, 24.9},
  {{2, 3, SINE ROBIN "1e4", ONE, 1, 0, 0}, 24.7},
  {{2, 3, ANNULUS ROBIN ".01", ONE, 1, 0, 0}, 5.6},
  {{2, 3, ANNULUS ROBIN "1", ONE, 1, 0, 0}, 5.5},
  {{2, 3, ANNULUS ROBIN "100", ONE, 1, 0, 0}, 5.4},
  {{2, 3, ANNULUS ROBIN "1e4", ONE, 1, 0, 0}, 5.3},
  {{3, 2, "-dm_refine 3 -dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,90" ROBIN "1", ONE, 1, 0, 0}, 5.9},
  {{3, 2, "-dm_refine 3 -dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,90" ROBIN "100", ONE, 1, 0, 0}, 5.5},
  {{3, 2, "-dm_refine 3 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .10" ROBIN "100", ONE, 1, 0, 0}, 21.7},
};

static PetscErrorCode cells_have_their_own_numbers(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows); i++) {
    double nu = 0;

    PetscCall(MeasureNu(&rows[i].is, &nu, NULL));
    TapOk((PetscBool)(nu < rows[i].nu + PetscMax(0.1 * rows[i].nu, 1)), "cells_have_their_own_numbers, c %g %g %s: %.1f for %.1f",
          (double)rows[i].is.waves, (double)rows[i].is.shift, rows[i].is.options, nu, rows[i].nu);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(cells_have_their_own_numbers());
  PetscFunctionReturn(PETSC_SUCCESS);
}
