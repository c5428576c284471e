/* Vectors in a file of a binary or HDF5 viewer. */
#include "file.h"

PetscErrorCode VpFileWrite(MPI_Comm comm, PetscViewer viewer, const char name[], PetscInt n, const PetscReal x[])
{
  Vec v;

  PetscFunctionBegin;
  PetscCall(VecCreateMPIWithArray(comm, 1, n, PETSC_DETERMINE, x, &v));
  PetscCall(PetscObjectSetName((PetscObject)v, name));
  PetscCall(VecView(v, viewer));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves by `bytes` in a binary file. *left: number of bytes from there to the end, the same on all ranks */
static PetscErrorCode MoveInFile(MPI_Comm comm, PetscViewer viewer, PetscInt64 bytes, PetscInt64 *left)
{
  off_t       here = 0, end = 0, back;
  PetscMPIInt rank;
  PetscBool   parallel;
  int         file;

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryGetUseMPIIO(viewer, &parallel));
#if defined(PETSC_HAVE_MPIIO)
  if (parallel) {
    MPI_File   all;
    MPI_Offset from, to;

    PetscCall(PetscViewerBinaryAddMPIIOOffset(viewer, (MPI_Offset)bytes));
    PetscCall(PetscViewerBinaryGetMPIIODescriptor(viewer, &all));
    PetscCall(PetscViewerBinaryGetMPIIOOffset(viewer, &from));
    PetscCallMPI(MPI_File_get_size(all, &to));
    *left = (PetscInt64)(to - from);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscViewerBinaryGetDescriptor(viewer, &file));
  if (!rank) {
    PetscCall(PetscBinarySeek(file, (off_t)bytes, PETSC_BINARY_SEEK_CUR, &here));
    PetscCall(PetscBinarySeek(file, 0, PETSC_BINARY_SEEK_END, &end));
    PetscCall(PetscBinarySeek(file, here, PETSC_BINARY_SEEK_SET, &back));
  }
  *left = (PetscInt64)(end - here);
  PetscCallMPI(MPI_Bcast(left, 1, MPIU_INT64, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks unless a whole vector comes next in a binary file. If rank 0 reads, PETSc raises the error on rank 0 only,
   and the other ranks wait. If MPI reads, PETSc raises none. */
static PetscErrorCode CheckNextVector(MPI_Comm comm, PetscViewer viewer)
{
  const PetscInt64 bytes = 2 * sizeof(PetscInt);
  PetscBool        binary;
  PetscInt         head[2] = {0, 0};
  PetscInt64       left;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERBINARY, &binary));
  if (!binary) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MoveInFile(comm, viewer, 0, &left));
  if (left >= bytes) {
    PetscCall(PetscViewerBinaryRead(viewer, head, 2, NULL, PETSC_INT));
    PetscCall(MoveInFile(comm, viewer, -bytes, &left));
    PetscCheck(head[0] == VEC_FILE_CLASSID, comm, PETSC_ERR_FILE_UNEXPECTED,
               "DMLoad(): what comes next in the file was not written by DMView() of a DMVPATCHDG");
  }
  PetscCheck(left >= bytes && (double)left >= (double)bytes + (double)head[1] * sizeof(PetscScalar), comm, PETSC_ERR_FILE_READ,
             "DMLoad(): the file ends too early, it was cut or not written to its end");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpFileRead(MPI_Comm comm, PetscViewer viewer, const char name[], PetscInt n, Vec *v)
{
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(CheckNextVector(comm, viewer));
  PetscCall(VecCreate(comm, v));
  PetscCall(PetscObjectSetName((PetscObject)*v, name));
  PetscCall(VecSetType(*v, VECSTANDARD));
  if (n != PETSC_DECIDE) PetscCall(VecSetSizes(*v, n, PETSC_DETERMINE));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = VecLoad(*v, viewer);
  PetscCall(PetscPopErrorHandler());
  if (error) PetscCall(VecDestroy(v));
  PetscCheck(!error, comm, PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the file has no vector \"%s\" of the right size here, which DMView() of a DMVPATCHDG writes", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}
