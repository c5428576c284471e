/* Vectors of numbers in a file of a binary or HDF5 viewer. */
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

/* the bytes that a binary file has left, on all ranks */
static PetscErrorCode BytesLeft(MPI_Comm comm, int file, PetscInt64 *left)
{
  off_t       here = 0, end = 0, back;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    PetscCall(PetscBinarySeek(file, 0, PETSC_BINARY_SEEK_CUR, &here));
    PetscCall(PetscBinarySeek(file, 0, PETSC_BINARY_SEEK_END, &end));
    PetscCall(PetscBinarySeek(file, here, PETSC_BINARY_SEEK_SET, &back));
  }
  *left = (PetscInt64)(end - here);
  PetscCallMPI(MPI_Bcast(left, 1, MPIU_INT64, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks unless a whole vector comes next in a binary file. PETSc has an error on rank 0 alone, which sends the others
   their numbers. */
static PetscErrorCode CheckNext(MPI_Comm comm, PetscViewer viewer)
{
  const PetscInt64 bytes = 2 * sizeof(PetscInt);
  PetscBool        binary, parallel;
  PetscInt         head[2] = {0, 0};
  PetscInt64       left;
  PetscMPIInt      rank;
  off_t            back;
  int              file;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERBINARY, &binary));
  if (!binary) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerBinaryGetUseMPIIO(viewer, &parallel));
  if (parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscViewerBinaryGetDescriptor(viewer, &file));
  PetscCall(BytesLeft(comm, file, &left));
  if (left >= bytes) {
    PetscCall(PetscViewerBinaryRead(viewer, head, 2, NULL, PETSC_INT));
    if (!rank) PetscCall(PetscBinarySeek(file, (off_t)-bytes, PETSC_BINARY_SEEK_CUR, &back));
    PetscCheck(head[0] == VEC_FILE_CLASSID, comm, PETSC_ERR_FILE_UNEXPECTED,
               "DMLoad(): what comes next in the file was not written by DMView() of a DMVPATCHDG");
  }
  PetscCheck(left >= bytes && (double)left >= (double)bytes + (double)head[1] * sizeof(PetscScalar), comm, PETSC_ERR_FILE_READ,
             "DMLoad(): the file ends too early, it was cut or not written to its end");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an error handler that leaves it to the caller to say what is wrong */
static PetscErrorCode SayNothing(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type,
                                 const char *text, void *ctx)
{
  return code;
}

PetscErrorCode VpFileRead(MPI_Comm comm, PetscViewer viewer, const char name[], PetscInt n, Vec *v)
{
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(CheckNext(comm, viewer));
  PetscCall(VecCreate(comm, v));
  PetscCall(PetscObjectSetName((PetscObject)*v, name));
  PetscCall(VecSetType(*v, VECSTANDARD));
  if (n != PETSC_DECIDE) PetscCall(VecSetSizes(*v, n, PETSC_DETERMINE));
  PetscCall(PetscPushErrorHandler(SayNothing, NULL));
  error = VecLoad(*v, viewer);
  PetscCall(PetscPopErrorHandler());
  if (error) PetscCall(VecDestroy(v));
  PetscCheck(!error, comm, PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the file has no vector \"%s\" of the right size here, which DMView() of a DMVPATCHDG writes", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}
