/* The values of a vector or of a dense matrix where a backend's kernels want them: their own memory where that is, else a copy for as long
   as it is used. */
#include "dmdata.h"
#include "../../compat.h"
#include <petscdevice.h>

static PetscErrorCode GetVector(Vec v, VpAccess access, PetscBool device, PetscScalar **array, PetscMemType *type)
{
  PetscFunctionBegin;
  if (device) {
    if (access == VP_READ) PetscCall(VecGetArrayReadAndMemType(v, (const PetscScalar **)array, type));
    else if (access == VP_WRITE) PetscCall(VecGetArrayWriteAndMemType(v, array, type));
    else PetscCall(VecGetArrayAndMemType(v, array, type));
  } else {
    if (access == VP_READ) PetscCall(VecGetArrayRead(v, (const PetscScalar **)array));
    else if (access == VP_WRITE) PetscCall(VecGetArrayWrite(v, array));
    else PetscCall(VecGetArray(v, array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreVector(Vec v, VpAccess access, PetscBool device, PetscScalar **array)
{
  PetscFunctionBegin;
  if (device) {
    if (access == VP_READ) PetscCall(VecRestoreArrayReadAndMemType(v, (const PetscScalar **)array));
    else if (access == VP_WRITE) PetscCall(VecRestoreArrayWriteAndMemType(v, array));
    else PetscCall(VecRestoreArrayAndMemType(v, array));
  } else {
    if (access == VP_READ) PetscCall(VecRestoreArrayRead(v, (const PetscScalar **)array));
    else if (access == VP_WRITE) PetscCall(VecRestoreArrayWrite(v, array));
    else PetscCall(VecRestoreArray(v, array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetMatrix(Mat X, VpAccess access, PetscBool device, PetscScalar **array, PetscMemType *type)
{
  PetscFunctionBegin;
  if (device) {
    if (access == VP_READ) PetscCall(MatDenseGetArrayReadAndMemType(X, (const PetscScalar **)array, type));
    else PetscCall(MatDenseGetArrayAndMemType(X, array, type));
  } else {
    if (access == VP_READ) PetscCall(MatDenseGetArrayRead(X, (const PetscScalar **)array));
    else PetscCall(MatDenseGetArray(X, array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreMatrix(Mat X, VpAccess access, PetscBool device, PetscScalar **array)
{
  PetscFunctionBegin;
  if (device) {
    if (access == VP_READ) PetscCall(MatDenseRestoreArrayReadAndMemType(X, (const PetscScalar **)array));
    else PetscCall(MatDenseRestoreArrayAndMemType(X, array));
  } else {
    if (access == VP_READ) PetscCall(MatDenseRestoreArrayRead(X, (const PetscScalar **)array));
    else PetscCall(MatDenseRestoreArray(X, array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copy(VpValues *values)
{
  PetscFunctionBegin;
  PetscCall(values->backend->borrow(values->bytes, "a copy of vectors", (void **)&values->at));
  if (values->access != VP_WRITE) PetscCall(values->backend->upload(values->own, values->bytes, values->at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds where `own` is; kernels of a device are to see what PETSc has given to the device so far. */
static PetscErrorCode Find(VpValues *values, PetscMemType type, PetscObject object)
{
  PetscFunctionBegin;
  PetscCheck(PetscMemTypeHost(type) || PetscMemTypeCUDA(type), PetscObjectComm(object), PETSC_ERR_SUP,
             "Values of type %s live on a device that backend %s can not reach: use -dm_vec_type cuda or standard", object->type_name,
             values->backend->name);
  values->at = values->own;
  if (!VpIsDevice(values->backend)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpUseCurrentStream(values->backend));
  if (PetscMemTypeHost(type)) PetscCall(Copy(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpValuesGet(const VpBackend *backend, Vec v, VpAccess access, VpValues *values)
{
  PetscMemType type = PETSC_MEMTYPE_HOST;
  PetscInt     rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &rows));
  *values = (VpValues){.backend = backend, .v = v, .access = access, .bytes = (size_t)rows * sizeof(PetscScalar)};
  PetscCall(GetVector(v, access, VpIsDevice(backend), &values->array, &type));
  values->own = values->array;
  PetscCall(Find(values, type, (PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpValuesGetColumns(const VpBackend *backend, Mat dense, PetscInt first, PetscInt n, VpAccess access, VpValues *values)
{
  PetscMemType type = PETSC_MEMTYPE_HOST;
  PetscInt     rows;

  PetscFunctionBegin;
  *values = (VpValues){.backend = backend, .dense = dense, .access = access};
  PetscCall(MatGetLocalSize(dense, &rows, NULL));
  PetscCall(MatDenseGetLDA(dense, &values->lda));
  PetscCall(GetMatrix(dense, access, VpIsDevice(backend), &values->array, &type));
  values->own = values->array + first * values->lda;
  values->bytes = (size_t)((n - 1) * values->lda + rows) * sizeof(PetscScalar);
  PetscCall(Find(values, type, (PetscObject)dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpValuesRestore(VpValues *values)
{
  const PetscBool device = VpIsDevice(values->backend);

  PetscFunctionBegin;
  if (values->at != values->own) {
    if (values->access != VP_READ) PetscCall(values->backend->download(values->at, values->bytes, values->own));
    PetscCall(values->backend->give_back(values->at));
  }
  if (values->v) PetscCall(RestoreVector(values->v, values->access, device, &values->array));
  else PetscCall(RestoreMatrix(values->dense, values->access, device, &values->array));
  PetscFunctionReturn(PETSC_SUCCESS);
}
