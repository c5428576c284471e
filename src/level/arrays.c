/* Arrays on a backend that are released together. */
#include "internal.h"
#include "../base/threads.h"

PetscErrorCode VpArraysReserve(VpArrays *arrays, size_t bytes, const char *what, void **p)
{
  PetscFunctionBegin;
  PetscCheck(arrays->n < (int)PETSC_STATIC_ARRAY_LENGTH(arrays->array), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many arrays");
  /* The host releases both kinds of memory in the same way, and its pages do not exist before they are used. */
  PetscCall((VpIsDevice(arrays->backend) ? arrays->backend->alloc : arrays->backend->borrow)(bytes, what, p));
  arrays->array[arrays->n++] = *p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpArraysPlace(VpArrays *arrays, const void *host, size_t bytes, const char *what, const void **p)
{
  void *copy;

  PetscFunctionBegin;
  PetscCall(VpArraysReserve(arrays, bytes, what, &copy));
  PetscCall(arrays->backend->upload(host, bytes, copy));
  *p = copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* in pieces of what a loop can count */
static void RoundAll(const double *from, float *to, size_t count)
{
  for (size_t at = 0; at < count; at += INT32_MAX)
    VP_LOOP (i, (int32_t)PetscMin(count - at, INT32_MAX)) to[at + (size_t)i] = (float)from[at + (size_t)i];
}

PetscErrorCode VpArraysPlaceReals(VpArrays *arrays, const double *host, size_t count, const char *what, const void **p)
{
  float *single;

  PetscFunctionBegin;
  if (arrays->precision == VP_DOUBLE) {
    PetscCall(VpArraysPlace(arrays, host, count * sizeof(double), what, p));
  } else {
    PetscCall(VpMallocLarge(count, &single));
    RoundAll(host, single, count);
    PetscCall(VpArraysPlace(arrays, single, count * sizeof(float), what, p));
    PetscCall(PetscFree(single));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpArraysShow(VpArrays *arrays, const void *host, size_t bytes, const char *what, const void **p)
{
  PetscFunctionBegin;
  if (arrays->backend == &VpBackendHost) *p = host;
  else PetscCall(VpArraysPlace(arrays, host, bytes, what, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpArraysRelease(VpArrays *arrays)
{
  PetscFunctionBegin;
  while (arrays->n) PetscCall(arrays->backend->release(arrays->array[--arrays->n]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
