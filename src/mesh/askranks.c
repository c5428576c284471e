/* Questions to other ranks about what they have. */
#include "internal.h"

PetscErrorCode VpAskRanks(MPI_Comm comm, const VpQuestions *ask, VpAnswer answer, const void *context)
{
  const PetscInt *degree;
  PetscInt       *found, *number;
  char           *asked;
  MPI_Datatype    unit;
  PetscSF         sf;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < ask->n; i++) ask->at[i].index = 0;
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraph(sf, 1, ask->n, NULL, PETSC_COPY_VALUES, ask->at, PETSC_COPY_VALUES));
  PetscCall(PetscSFComputeDegreeBegin(sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(sf, &degree));
  PetscCall(PetscMalloc3(ask->bytes * degree[0], &asked, degree[0], &found, ask->n, &number));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)ask->bytes, MPI_BYTE, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFGatherBegin(sf, unit, ask->question, asked));
  PetscCall(PetscSFGatherEnd(sf, unit, ask->question, asked));
  for (PetscInt i = 0; i < degree[0]; i++) found[i] = answer(context, asked + ask->bytes * i);
  PetscCall(PetscSFScatterBegin(sf, MPIU_INT, found, number));
  PetscCall(PetscSFScatterEnd(sf, MPIU_INT, found, number));
  for (PetscInt i = 0; i < ask->n; i++) ask->at[i].index = number[i];
  PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(PetscFree3(asked, found, number));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}
