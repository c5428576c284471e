/* Checks of arguments with the same result on all ranks, and items of all ranks. Messages name the first rank with an error, or the first
   that differs from rank 0. */
#include "check.h"
#include <stdarg.h>

PetscErrorCode VpCheckEverywhere(MPI_Comm comm, PetscBool here, const char what[])
{
  PetscMPIInt first;

  PetscFunctionBegin;
  PetscCall(VpFirstRank(comm, !here, &first));
  PetscCheck(first == INT_MAX, comm, PETSC_ERR_ARG_WRONG, "On rank %d: %s", first, what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool AreSame(PetscReal a, PetscReal b)
{
  return a == b || (PetscIsNanReal(a) && PetscIsNanReal(b));
}

PetscErrorCode VpFindDifference(MPI_Comm comm, PetscInt n, const PetscReal mine[], PetscInt *index, PetscMPIInt *rank, PetscReal value[2])
{
  PetscReal  *first;
  PetscMPIInt count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(n, &count));
  PetscCall(PetscMalloc1(n, &first));
  PetscCall(PetscArraycpy(first, mine, n));
  PetscCallMPI(MPI_Bcast(first, count, MPIU_REAL, 0, comm));
  *index = 0;
  while (*index < n && AreSame(first[*index], mine[*index])) ++*index;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, index, 1, MPIU_INT, MPI_MIN, comm));
  if (*index < n) {
    PetscCall(VpFirstRank(comm, (PetscBool)!AreSame(first[*index], mine[*index]), rank));
    value[0] = first[*index];
    value[1] = mine[*index];
    PetscCallMPI(MPI_Bcast(&value[1], 1, MPIU_REAL, *rank, comm));
  }
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCheckSameReals(MPI_Comm comm, PetscInt n, const PetscReal mine[], const char what[])
{
  PetscInt    index;
  PetscMPIInt rank;
  PetscReal   value[2];

  PetscFunctionBegin;
  PetscCall(VpFindDifference(comm, n, mine, &index, &rank, value));
  PetscCheck(index == n, comm, PETSC_ERR_ARG_INCOMP,
             "Ranks disagree about %s: at entry %" PetscInt_FMT " rank 0 has %.15g, rank %d has %.15g. All must have the same", what, index,
             (double)value[0], rank, (double)value[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPrintWarning(PetscObject object, const char format[], ...)
{
  char      text[512];
  va_list   arguments;
  PetscBool wanted = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(object->options, NULL, "-vpatchdg_warnings", &wanted, NULL));
  if (!wanted) PetscFunctionReturn(PETSC_SUCCESS);
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  PetscCall(PetscFPrintf(PetscObjectComm(object), PETSC_STDERR, "vpatchdg: warning: %s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpGatherAll(MPI_Comm comm, PetscInt n, size_t bytes, const void *mine, PetscInt *count, void *all)
{
  PetscMPIInt  size, here, *number, *first, total = 0;
  MPI_Datatype type;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &number, size, &first));
  PetscCall(VpTogether(comm, PetscMPIIntCast(n, &here)));
  PetscCallMPI(MPI_Allgather(&here, 1, MPI_INT, number, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    first[r] = total;
    PetscCheck(number[r] <= PETSC_MPI_INT_MAX - total, comm, PETSC_ERR_ARG_OUTOFRANGE, "The ranks have more items than MPI counts");
    total += number[r];
  }
  PetscCall(PetscMalloc((size_t)total * bytes, (void **)all));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)bytes, MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  PetscCallMPI(MPI_Allgatherv(mine, here, type, *(void **)all, number, first, type, comm));
  PetscCallMPI(MPI_Type_free(&type));
  PetscCall(PetscFree2(number, first));
  *count = total;
  PetscFunctionReturn(PETSC_SUCCESS);
}
