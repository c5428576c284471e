/* Prints the progress of long work (-vpatchdg_progress). */
#include "progress.h"
#include "../compat.h"
#include <petsctime.h>

PetscErrorCode VpProgress(const char what[], double done, double total)
{
  static PetscLogDouble last = -1; /* time of the last line, or of the last look at the option */
  PetscLogDouble        now;
  PetscBool             wanted = PETSC_FALSE;

  PetscFunctionBegin;
  if (PetscGlobalRank) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&now));
  if (now < last + 1) PetscFunctionReturn(PETSC_SUCCESS);
  last = now;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-vpatchdg_progress", &wanted, NULL));
  if (wanted) PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "vpatchdg: %s %.0f %%\n", what, total > 0 ? 100 * done / total : 100));
  PetscFunctionReturn(PETSC_SUCCESS);
}
