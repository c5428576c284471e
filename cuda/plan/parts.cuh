/* Cells or tiles in two parts. A x reads no ghosts on inner ones, so it works on these while ghosts travel, and on outer ones afterwards.
   */
#pragma once
#include "../device/kernel.cuh"

enum { VP_INNER, VP_OUTER };

struct Parts {
  int32_t n[2] = {0, 0}, start = 0;
  VpArray list; /* inner, then outer ones; without it all are inner, and start, start + 1, ... */

  const int32_t *List(int part) const
  {
    return list.p ? (const int32_t *)list.p + (part == VP_OUTER ? n[VP_INNER] : 0) : NULL;
  }
};

/* *cells = the cells [first, last) of a view */
PetscErrorCode VpCudaGetParts(const VpView *, int32_t first, int32_t last, Parts **cells);
/* reads[i]: does A x on cell first + i read ghosts? [last - first], NULL if none does. The caller frees it. */
PetscErrorCode VpCudaReadsGhosts(const VpView *, int32_t first, int32_t last, uint8_t **reads);

/* Lists the cells [first, last) that are not taken, inner ones first. reads, taken: [last - first], or NULL: none */
PetscErrorCode VpCudaListParts(int32_t first, int32_t last, const uint8_t *reads, const uint8_t *taken, Parts *cell);

/* run(part) for both parts; where ghosts are under way, the outer one follows them beside the inner one */
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
