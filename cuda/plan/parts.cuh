/* Cells or tiles in two parts. A x reads no ghosts on inner ones, so it works on these while ghosts travel, and on outer ones afterwards.
   */
#pragma once
#include "../device/kernel.cuh"

enum { VP_INNER, VP_OUTER };

struct Parts {
  int32_t n[2] = {0, 0}, start = 0;
  VpArray list; /* inner, then outer ones; empty: all are inner, and numbered start, start + 1, ... */

  const int32_t *List(int part) const
  {
    return list.p ? (const int32_t *)list.p + (part == VP_OUTER ? n[VP_INNER] : 0) : NULL;
  }
};

/* *cells = the cells [first, last) of a view */
PetscErrorCode VpCudaGetParts(const VpView *, int32_t first, int32_t last, Parts **cells);
/* reads [last - first], for the caller to free: whether A x on cell first + i reads ghosts. NULL: no cell does */
PetscErrorCode VpCudaReadsGhosts(const VpView *, int32_t first, int32_t last, uint8_t **reads);

/* Lists the cells [first, last) that are not taken, inner ones first. reads, taken: [last - first], or NULL: none */
PetscErrorCode VpCudaListParts(int32_t first, int32_t last, const uint8_t *reads, const uint8_t *taken, Parts *cell);

/* Calls run(part) for both parts. If ghosts are under way, the outer part waits for them on a second stream. */
template <class F>
PetscErrorCode VpCudaInParts(VpGhosts ghosts, F run)
{
  const cudaStream_t stream = VpCudaStream;
  cudaStream_t       side = stream;
  PetscErrorCode     error;

  PetscFunctionBegin;
  if (ghosts.arrive) PetscCall(VpCudaFork(&side));
  PetscCall(run(VP_INNER));
  VpCudaStream = side;
  error = VpArrive(ghosts);
  if (!error) error = run(VP_OUTER);
  VpCudaStream = stream;
  PetscCall(error);
  if (ghosts.arrive) PetscCall(VpCudaJoin());
  PetscFunctionReturn(PETSC_SUCCESS);
}
