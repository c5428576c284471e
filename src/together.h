/* What fails on one rank, as memory may, is told to all before anyone waits for it. */
#pragma once
#include "compat.h"
#include <limits.h>

/* mine: of work that this rank did by itself. The others' error says whose message to look for */
static inline PetscErrorCode VpTogether(MPI_Comm comm, PetscErrorCode mine)
{
  PetscMPIInt rank, failed;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  failed = mine ? rank : INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, comm));
  PetscCall(mine);
  PetscCheck(failed == INT_MAX, PETSC_COMM_SELF, PETSC_ERR_LIB, "Rank %d failed, its own message says why", failed);
  PetscFunctionReturn(PETSC_SUCCESS);
}
