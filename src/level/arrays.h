/* Arrays on a backend that are released together. */
#pragma once
#include "../kernels/ops.h"

typedef struct {
  const VpBackend *backend;
  VpPrecision      precision;
  int              n;
  void            *array[32];
} VpArrays;
PetscErrorCode VpArraysReserve(VpArrays *, size_t bytes, const char *what, void **p); /* with any contents */
/* Copies a host array to the backend: bytes, `count` items, or `count` doubles, which are converted to the arrays' precision. */
PetscErrorCode VpArraysPlace(VpArrays *, const void *host, size_t bytes, const char *what, const void **p);
#define VpPlaceArray(arrays, host, count, what, p) VpArraysPlace(arrays, host, (count) * sizeof(*(host)), what, (const void **)(p))
/* the same for an array that lives as long as these, so that the host need not copy it */
PetscErrorCode VpArraysShow(VpArrays *, const void *host, size_t bytes, const char *what, const void **p);
#define VpShowArray(arrays, host, count, what, p) VpArraysShow(arrays, host, (count) * sizeof(*(host)), what, (const void **)(p))
PetscErrorCode VpArraysPlaceReals(VpArrays *, const double *host, size_t count, const char *what, const void **p);
PetscErrorCode VpArraysRelease(VpArrays *);
