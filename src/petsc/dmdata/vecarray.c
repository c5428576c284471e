/* The values of a vector or of a dense matrix in memory of the backend: in place if possible, otherwise as a temporary copy. */
#include "dmdata.h"
#include <petscdevice.h>

/* PETSc's function for the access: Read, Write or nothing between `begin` and `end` */
#define BY_ACCESS(access, begin, end, object, ...) \
  ((access) == VP_READ    ? begin##Read##end(object, (const PetscScalar **)__VA_ARGS__) \
   : (access) == VP_WRITE ? begin##Write##end(object, __VA_ARGS__) \
                          : begin##end(object, __VA_ARGS__))
/* the same for the vector or the matrix. verb: Get or Restore */
#define BY_OBJECT(values, verb, end, ...) \
  ((values)->v ? BY_ACCESS((values)->access, Vec##verb##Array, end, (values)->v, __VA_ARGS__) \
               : BY_ACCESS((values)->access, MatDense##verb##Array, end, (values)->dense, __VA_ARGS__))

static PetscErrorCode GetArray(VpValues *values, PetscMemType *type)
{
  PetscFunctionBegin;
  *type = PETSC_MEMTYPE_HOST;
  if (VpIsDevice(values->backend)) PetscCall(BY_OBJECT(values, Get, AndMemType, &values->array, type));
  else PetscCall(BY_OBJECT(values, Get, , &values->array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets values->at. The kernels of a device run after the work that PETSc has launched. */
static PetscErrorCode FindValues(VpValues *values, PetscMemType type, PetscObject object)
{
  const VpBackend *backend = values->backend;

  PetscFunctionBegin;
  PetscCheck(PetscMemTypeHost(type) || PetscMemTypeCUDA(type), PetscObjectComm(object), PETSC_ERR_SUP,
             "Values of type %s live on a device that backend %s can not reach: use -dm_vec_type cuda or standard", object->type_name,
             backend->name);
  values->at = values->own;
  if (!VpIsDevice(backend)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpUseCurrentStream(backend));
  if (!PetscMemTypeHost(type)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(backend->borrow(values->bytes, "a copy of vectors", (void **)&values->at));
  if (values->access != VP_WRITE) PetscCall(backend->upload(values->own, values->bytes, values->at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVecCreate(MPI_Comm comm, VecType type, PetscInt block, PetscInt local, PetscInt all, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(comm, v));
  if (block > 1) PetscCall(VecSetBlockSize(*v, block));
  PetscCall(VecSetSizes(*v, local, all));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpValuesGet(const VpBackend *backend, Vec v, VpAccess access, VpValues *values)
{
  PetscMemType type;
  PetscInt     rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &rows));
  *values = (VpValues){.backend = backend, .v = v, .access = access, .bytes = (size_t)rows * sizeof(PetscScalar)};
  PetscCall(GetArray(values, &type));
  values->own = values->array;
  PetscCall(FindValues(values, type, (PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpValuesGetColumns(const VpBackend *backend, Mat dense, PetscInt first, PetscInt n, VpAccess access, VpValues *values)
{
  PetscMemType type;
  PetscInt     rows;

  PetscFunctionBegin;
  *values = (VpValues){.backend = backend, .dense = dense, .access = access};
  PetscCall(MatGetLocalSize(dense, &rows, NULL));
  PetscCall(MatDenseGetLDA(dense, &values->lda));
  PetscCall(GetArray(values, &type));
  values->own = values->array + first * values->lda;
  values->bytes = (size_t)((n - 1) * values->lda + rows) * sizeof(PetscScalar);
  PetscCall(FindValues(values, type, (PetscObject)dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpValuesRestore(VpValues *values)
{
  PetscFunctionBegin;
  if (values->at != values->own) {
    if (values->access != VP_READ) PetscCall(values->backend->download(values->at, values->bytes, values->own));
    PetscCall(values->backend->give_back(values->at));
  }
  if (VpIsDevice(values->backend)) PetscCall(BY_OBJECT(values, Restore, AndMemType, &values->array));
  else PetscCall(BY_OBJECT(values, Restore, , &values->array));
  PetscFunctionReturn(PETSC_SUCCESS);
}
