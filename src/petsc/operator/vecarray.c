/* A vector's values where a backend's kernels want them: its own memory where it has some there, else a copy for as long as it is used. */
#include "operator.h"
#include <petscdevice.h>

/* finds the memory of v, on the device where it has some there; else it is to be copied */
static PetscErrorCode GetDeviceArray(VpValues *values)
{
  PetscMemType type = PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  if (values->access == VP_READ) PetscCall(VecGetArrayReadAndMemType(values->v, (const PetscScalar **)&values->own, &type));
  else if (values->access == VP_WRITE) PetscCall(VecGetArrayWriteAndMemType(values->v, &values->own, &type));
  else PetscCall(VecGetArrayAndMemType(values->v, &values->own, &type));
  PetscCheck(PetscMemTypeHost(type) || PetscMemTypeCUDA(type), PetscObjectComm((PetscObject)values->v), PETSC_ERR_SUP,
             "Vectors of type %s live on a device that backend %s can not reach: use -dm_vec_type cuda or standard",
             ((PetscObject)values->v)->type_name, values->backend->name);
  values->at = PetscMemTypeHost(type) ? NULL : values->own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copy(VpValues *values)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(values->v, &n));
  values->bytes = n * sizeof(PetscScalar);
  PetscCall(values->backend->borrow(values->bytes, "a copy of a vector", (void **)&values->at));
  if (values->access != VP_WRITE) PetscCall(values->backend->upload(values->own, values->bytes, values->at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpValuesGet(const VpBackend *backend, Vec v, VpAccess access, VpValues *values)
{
  PetscFunctionBegin;
  *values = (VpValues){.backend = backend, .v = v, .access = access};
  if (backend->use_stream) {
    PetscCall(GetDeviceArray(values));
    PetscCall(VpUseCurrentStream(backend));
    if (!values->at) PetscCall(Copy(values));
  } else {
    if (access == VP_READ) PetscCall(VecGetArrayRead(v, (const PetscScalar **)&values->own));
    else if (access == VP_WRITE) PetscCall(VecGetArrayWrite(v, &values->own));
    else PetscCall(VecGetArray(v, &values->own));
    values->at = values->own;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpValuesRestore(VpValues *values)
{
  PetscFunctionBegin;
  if (values->at != values->own) {
    if (values->access != VP_READ) PetscCall(values->backend->download(values->at, values->bytes, values->own));
    PetscCall(values->backend->give_back(values->at));
  }
  if (values->backend->use_stream) {
    if (values->access == VP_READ) PetscCall(VecRestoreArrayReadAndMemType(values->v, (const PetscScalar **)&values->own));
    else if (values->access == VP_WRITE) PetscCall(VecRestoreArrayWriteAndMemType(values->v, &values->own));
    else PetscCall(VecRestoreArrayAndMemType(values->v, &values->own));
  } else {
    if (values->access == VP_READ) PetscCall(VecRestoreArrayRead(values->v, (const PetscScalar **)&values->own));
    else if (values->access == VP_WRITE) PetscCall(VecRestoreArrayWrite(values->v, &values->own));
    else PetscCall(VecRestoreArray(values->v, &values->own));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
