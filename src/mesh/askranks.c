/* Questions to other ranks about what they have. */
#include "internal.h"

PetscErrorCode VpAskRanks(MPI_Comm comm, const VpQuestions *ask, VpAnswer answer, const void *context, PetscInt number[])
{
  const PetscInt *degree;
  PetscSFNode    *root;
  PetscInt       *found;
  char           *asked;
  MPI_Datatype    unit;
  PetscSF         sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(ask->n, &root));
  for (PetscInt i = 0; i < ask->n; i++) root[i] = (PetscSFNode){.rank = ask->rank[i], .index = 0};
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraph(sf, 1, ask->n, NULL, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
  PetscCall(PetscSFComputeDegreeBegin(sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(sf, &degree));
  PetscCall(PetscMalloc2(ask->bytes * degree[0], &asked, degree[0], &found));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)ask->bytes, MPI_BYTE, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFGatherBegin(sf, unit, ask->question, asked));
  PetscCall(PetscSFGatherEnd(sf, unit, ask->question, asked));
  for (PetscInt i = 0; i < degree[0]; i++) found[i] = answer(context, asked + ask->bytes * i);
  PetscCall(PetscSFScatterBegin(sf, MPIU_INT, found, number));
  PetscCall(PetscSFScatterEnd(sf, MPIU_INT, found, number));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(PetscFree2(asked, found));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree(root));
  PetscFunctionReturn(PETSC_SUCCESS);
}
