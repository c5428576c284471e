/* Checks of arguments. If one rank finds an error, all ranks report it. */
#pragma once
#include "../../collective.h"
#include <petsc/private/petscimpl.h>

#define VpAssertPointer(p, arg) \
  PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d of %s()", arg, PETSC_FUNCTION_NAME)
#define VpAssertObject(h, id, arg) \
  PetscCheck((h) && ((PetscObject)(h))->classid == (id), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, \
             "Argument %d of %s() is no object of the right class, or was destroyed", arg, PETSC_FUNCTION_NAME)
static inline const char *VpTypeName(PetscObject object)
{
  return object->type_name ? object->type_name : "not set";
}
static inline const char *VpPrefix(PetscObject object)
{
  return object->prefix ? object->prefix : "";
}

/* Prints a warning on the first rank's stderr, unless -vpatchdg_warnings 0. Collective */
PetscErrorCode VpPrintWarning(PetscObject, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
/* Ensures: an error on all ranks if `here` is false on one of them. */
PetscErrorCode VpCheckEverywhere(MPI_Comm, PetscBool here, const char what[]);
/* Compares the numbers of all ranks. Ensures: *index = n if they are equal. Otherwise *index is the first difference, *rank the first rank
   that differs from rank 0, and value the numbers of rank 0 and of that rank. */
PetscErrorCode VpFindDifference(MPI_Comm, PetscInt n, const PetscReal mine[], PetscInt *index, PetscMPIInt *rank, PetscReal value[2]);
/* Ensures: an error on all ranks unless the numbers are equal on all ranks. */
PetscErrorCode VpCheckSameReals(MPI_Comm, PetscInt n, const PetscReal mine[], const char what[]);
/* *all: the n items of `bytes` bytes from every rank, ordered by rank; freed by the caller */
PetscErrorCode VpGatherAll(MPI_Comm, PetscInt n, size_t bytes, const void *mine, PetscInt *count, void *all);
