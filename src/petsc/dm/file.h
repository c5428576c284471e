/* Vectors of numbers in a file of a binary or HDF5 viewer. A binary file has them one after the other, an HDF5 file by their names. */
#pragma once
#include "../../compat.h"
#include <petscvec.h>

/* n: numbers of this rank */
PetscErrorCode VpFileWrite(MPI_Comm, PetscViewer, const char name[], PetscInt n, const PetscReal x[]);
/* n: numbers of this rank, or PETSC_DECIDE. Ensures: an error on all ranks unless a whole vector of that size comes next. */
PetscErrorCode VpFileRead(MPI_Comm, PetscViewer, const char name[], PetscInt n, Vec *);
