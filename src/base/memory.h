/* Memory for large arrays. */
#pragma once
#include "../compat.h"
#include <stdint.h>
#include <sys/mman.h>

/* Most of the time of the first write to a large array goes into making its pages. Huge pages take a fraction of it. */
static inline PetscErrorCode VpMallocBytes(size_t bytes, void **array)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(bytes, array));
#ifdef MADV_HUGEPAGE
  if (bytes >= (size_t)1 << 22) {
    const uintptr_t page = 1 << 16, end = (uintptr_t)*array + bytes, start = ((uintptr_t)*array + page - 1) / page * page;

    (void)madvise((void *)start, end - start, MADV_HUGEPAGE); /* advice: a refusal does no harm */
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PetscMalloc1 of as many elements */
#define VpMallocLarge(n, array) VpMallocBytes((size_t)(n) * sizeof(**(array)), (void **)(array))
