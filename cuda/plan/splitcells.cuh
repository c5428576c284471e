/* Cells or tiles, split into inner ones and those at the border, on which A x reads ghosts. A x works on inner ones while ghosts travel. */
#pragma once
#include "../device/kernel.cuh"

enum { VP_INNER, VP_BORDER };

struct SplitCells {
  int32_t n[2] = {0, 0}, start = 0;
  VpArray list; /* inner ones, then those at the border; empty: all are inner, and numbered start, start + 1, ... */

  const int32_t *List(int border) const
  {
    return list.p ? (const int32_t *)list.p + (border ? n[VP_INNER] : 0) : NULL;
  }
};

/* *cells = the cells [first, last) of a view */
PetscErrorCode VpCudaSplitCells(const VpView *, int32_t first, int32_t last, SplitCells **cells);
/* reads [last - first], for the caller to free: whether A x on cell first + i reads ghosts. NULL: no cell does */
PetscErrorCode VpCudaReadsGhosts(const VpView *, int32_t first, int32_t last, uint8_t **reads);

/* Lists the cells [first, last) that are not taken, inner ones first. reads, taken: [last - first], or NULL: none */
PetscErrorCode VpCudaListCells(int32_t first, int32_t last, const uint8_t *reads, const uint8_t *taken, SplitCells *cell);

/* Calls run(VP_INNER), then run(VP_BORDER). If ghosts are under way, the latter waits for them on a second stream. */
template <class F>
PetscErrorCode VpCudaInnerThenBorder(VpGhosts ghosts, F run)
{
  const cudaStream_t stream = VpCudaStream;
  cudaStream_t       side = stream;
  PetscErrorCode     error;

  PetscFunctionBegin;
  if (ghosts.arrive) PetscCall(VpCudaFork(&side));
  PetscCall(run(VP_INNER));
  VpCudaStream = side;
  error = VpArrive(ghosts);
  if (!error) error = run(VP_BORDER);
  VpCudaStream = stream;
  PetscCall(error);
  if (ghosts.arrive) PetscCall(VpCudaJoin());
  PetscFunctionReturn(PETSC_SUCCESS);
}
