/* Setting up the kernels of tile.cuh for a range of cells: the tables of the view's common lines, and the tiles. */
#include "tile.cuh"
#include <cstring>

/* flag[t] = cells [start + t step, .. + T) are a tile */
template <int N>
__global__ void FindTiles(const __grid_constant__ Field<double> f, const __grid_constant__ VpCommon common, int32_t last, int32_t start,
                          int32_t step, int32_t count, uint8_t *flag)
{
  typedef Tile<N> S;
  const int32_t   t = blockIdx.x * blockDim.y + threadIdx.y;
  bool            good = t < count;

  if (good) {
    const int64_t tile = start + (int64_t)t * step;
    good = tile + S::cells <= last && tile + S::cells <= f.nown;
    for (int q = threadIdx.x; good && q < S::cells; q += 32) {
      const int32_t cell = (int32_t)tile + q;
      for (int d = 0; d < 3; d++) {
        const int c = (q >> d & 1) | (q >> (d + 3) & 1) << 1 | (q >> (d + 6) & 1) << 2, rest = q - S::spread(d, c);
        int32_t   entry = common.inside[d];
        for (int s = 0; s < 2; s++) {
          const int32_t beyond = f.neighbor[(size_t)cell * 6 + 2 * d + s];
          const int     to = c + (s ? 1 : -1);
          if (to >= 0 && to < S::extent(d)) good = good && beyond == (int32_t)tile + (rest | S::spread(d, to));
          else if (beyond < 0) entry = common.edge[d][s];
        }
        good = good && entry >= 0 && f.line[(size_t)cell * 3 + d] == entry;
      }
    }
  }
  good = __all_sync(0xffffffffu, good);
  if (threadIdx.x == 0 && t < count) flag[t] = good;
}

template <int N>
struct TileSetup {
  static PetscErrorCode Tables(const VpView *view, TileTables<N> *t)
  {
    double traces[2][2][VpDenseLayers(N)], line[VpLineSize(N)];

    PetscFunctionBegin;
    PetscCall(VpCudaFetch(view->traces, sizeof(traces), traces));
    for (int i = 0; i < 2; i++) t->value[i] = traces[1][0][i];
    for (int i = 0; i < VpDenseLayers(N); i++) t->slope[i] = traces[1][1][i];
    for (int d = 0; d < 3; d++) {
      PetscCall(VpCudaFetch((const double *)view->lines + (size_t)view->common.inside[d] * VpLineSize(N), sizeof(line), line));
      PetscCall(PetscArraycpy(t->D[d], line, N * N));
      PetscCall(PetscArraycpy(t->g[d][0], line + N * N + 2 * N, 2 * N));
      PetscCall(PetscArraycpy(t->boundary[d][0], view->outside[d][0], 8));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Flags(const VpView *view, const Field<double> &f, int32_t last, int32_t start, int32_t step, int32_t count,
                              uint8_t *flag)
  {
    VpArray device;

    PetscFunctionBegin;
    PetscCall(VpCudaAlloc((size_t)count, "tile flags", &device.p));
    PetscCall(VpCudaLaunch("find tiles", FindTiles<N>, {VpBlocks(count, 8), dim3(32, 8)}, f, view->common, last, start, step, count,
                           (uint8_t *)device.p));
    PetscCall(VpCudaFetch(device.p, (size_t)count, flag));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* the first cell from `first` on that can be the first of a tile, and how far it is from one such cell to the next: by their positions; where
     cells differ in size, all can whose values are aligned */
  static int32_t Start(const VpView *view, int32_t first, int32_t *step)
  {
    const int64_t aligned = Tile<N>::values % 2 ? 2 : 1, T = view->hang.n ? aligned : Tile<N>::cells;
    const int64_t past = (view->hang.n ? first : view->position + first) % T;

    *step = (int32_t)T;
    return first + (int32_t)((T - past) % T);
  }

  static PetscErrorCode Lists(const VpView *view, const Field<double> &f, int32_t first, int32_t last, TilePlan<N> *plan)
  {
    const int32_t T = Tile<N>::cells;
    int32_t      *tile, *cell, step, count, ntile = 0, ncell = 0;
    uint8_t      *flag, *reads;

    PetscFunctionBegin;
    plan->tile.start = Start(view, first, &step);
    count = (last - plan->tile.start - T) / step + 1;
    if (last - plan->tile.start < T) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscMalloc3(count, &flag, count, &tile, last - first, &cell));
    PetscCall(Flags(view, f, last, plan->tile.start, step, count, flag));
    PetscCall(VpCudaReadsGhosts(view, first, last, &reads));
    for (int part = 0; part < 2; part++) {
      const int32_t tiles = ntile, cells = ncell;
      for (int32_t c = first, size; c < last; c += size) {
        const int32_t past = c - plan->tile.start, t = past / step;
        size = past >= 0 && past % step == 0 && t < count && flag[t] ? T : 1;
        if ((reads && memchr(reads + (c - first), 1, (size_t)size) ? VP_OUTER : VP_INNER) != part) continue;
        if (size == T) tile[ntile++] = c;
        else cell[ncell++] = c;
      }
      plan->tile.n[part] = ntile - tiles;
      plan->cell.n[part] = ncell - cells;
    }
    if (ntile && ncell) PetscCall(VpCudaPlace(cell, (size_t)ncell * sizeof(int32_t), "cells outside tiles", &plan->cell.list));
    if (plan->tile.n[VP_INNER] < count) PetscCall(VpCudaPlace(tile, (size_t)ntile * sizeof(int32_t), "tiles", &plan->tile.list));
    PetscCall(PetscFree3(flag, tile, cell));
    PetscCall(PetscFree(reads));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <int N>
PetscErrorCode VpCudaTilePlan(const VpView *view, int32_t first, int32_t last, TilePlan<N> **plan)
{
  auto fill = [=](TilePlan<N> *p) {
    PetscFunctionBegin;
    if (view->common.found && view->nt == VpDenseLayers(N)) {
      PetscCall(TileSetup<N>::Tables(view, &p->tables));
      PetscCall(TileSetup<N>::Lists(view, Field<double>(view, NULL, NULL), first, last, p));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  return VpCudaPlan<TilePlan<N>>(&view->device, VP_PLAN_APPLY, first, last, plan, fill);
}

#define VP_DEGREE(k) template PetscErrorCode VpCudaTilePlan<k + 1>(const VpView *, int32_t, int32_t, TilePlan<k + 1> **);
#include "../src/kernels/host/degrees.def"
#undef VP_DEGREE
