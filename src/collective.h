/* Tells all ranks of a failure on one rank, for instance for lack of memory, before other ranks wait for that rank. */
#pragma once
#include "compat.h"
#include <limits.h>

/* *first = the first rank where `here` is true, or INT_MAX */
static inline PetscErrorCode VpFirstRank(MPI_Comm comm, PetscBool here, PetscMPIInt *first)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  *first = here ? rank : INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, first, 1, MPI_INT, MPI_MIN, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns `mine`, the error of this rank's own work. If another rank failed, a rank without an error returns one that names the first rank
   that failed. */
static inline PetscErrorCode VpTogether(MPI_Comm comm, PetscErrorCode mine)
{
  PetscMPIInt failed;

  PetscFunctionBegin;
  PetscCall(VpFirstRank(comm, (PetscBool)(mine != PETSC_SUCCESS), &failed));
  PetscCall(mine);
  PetscCheck(failed == INT_MAX, PETSC_COMM_SELF, PETSC_ERR_LIB, "Rank %d failed, its own message says why", failed);
  PetscFunctionReturn(PETSC_SUCCESS);
}
