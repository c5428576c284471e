/* Questions to other ranks about what they have. */
#include "internal.h"

PetscErrorCode VpAskRanks(MPI_Comm comm, PetscInt n, const PetscMPIInt rank[], size_t bytes, const void *question, VpAnswer answer,
                          const void *context, PetscInt number[])
{
  const PetscInt *degree;
  PetscSFNode    *root;
  PetscInt       *found;
  char           *asked;
  MPI_Datatype    unit;
  PetscSF         sf;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &root));
  for (PetscInt i = 0; i < n; i++) root[i] = (PetscSFNode){.rank = rank[i], .index = 0};
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraph(sf, 1, n, NULL, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
  PetscCall(PetscSFComputeDegreeBegin(sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(sf, &degree));
  PetscCall(PetscMalloc2(bytes * degree[0], &asked, degree[0], &found));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)bytes, MPI_BYTE, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFGatherBegin(sf, unit, question, asked));
  PetscCall(PetscSFGatherEnd(sf, unit, question, asked));
  for (PetscInt i = 0; i < degree[0]; i++) found[i] = answer(context, asked + bytes * i);
  PetscCall(PetscSFScatterBegin(sf, MPIU_INT, found, number));
  PetscCall(PetscSFScatterEnd(sf, MPIU_INT, found, number));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(PetscFree2(asked, found));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree(root));
  PetscFunctionReturn(PETSC_SUCCESS);
}
