/* Memory for large arrays. */
#pragma once
#include "../compat.h"
#include <stdint.h>
#include <sys/mman.h>

/* Allocates memory, in huge pages if it is large. The first write to a large array spends most of its time on making pages, and less on
   huge ones. */
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

/* PetscMalloc1 of n elements */
#define VpMallocLarge(n, array) VpMallocBytes((size_t)(n) * sizeof(**(array)), (void **)(array))
