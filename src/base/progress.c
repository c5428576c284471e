/* -vpatchdg_progress */
#include "progress.h"
#include "../compat.h"
#include <petsctime.h>

PetscErrorCode VpProgress(const char what[], double done, double total)
{
  static PetscLogDouble last = -1; /* a line, or a look whether lines are asked for */
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
