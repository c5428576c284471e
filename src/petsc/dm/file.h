/* Vectors in a file of a binary or HDF5 viewer. A binary file has the vectors in order, an HDF5 file has them by name. */
#pragma once
#include "../../compat.h"
#include <petscvec.h>

/* x: [n], own values */
PetscErrorCode VpFileWrite(MPI_Comm, PetscViewer, const char name[], PetscInt n, const PetscReal x[]);
/* n: number of own values, or PETSC_DECIDE. Ensures: an error on all ranks unless a whole vector of that size comes next. */
PetscErrorCode VpFileRead(MPI_Comm, PetscViewer, const char name[], PetscInt n, Vec *);
