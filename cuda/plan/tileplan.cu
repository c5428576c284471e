/* Setting up the kernels of tile.cuh for a range of cells: the tables of the view's common lines, and the tiles. */
#include "viewplans.cuh"
#include <cstring>

namespace vpatchdg::tile {
/* flag[t] = cells [start + t step, .. + T) are a tile. varies: with any coefficients; then boundaries must have the domain's conditions */
template <class S>
__global__ void FindTiles(const __grid_constant__ Field<double> f, const __grid_constant__ VpCommon common, bool varies, int32_t last,
                          int32_t start, int32_t step, int32_t count, uint8_t *flag)
{
  const int32_t t = blockIdx.x * blockDim.y + threadIdx.y;
  bool          good = t < count;

  if (good) {
    const int64_t tile = start + (int64_t)t * step;
    good = tile + S::cells <= last && tile + S::cells <= f.nown;
    for (int q = threadIdx.x; good && q < S::cells; q += VP_WARP) {
      const int32_t cell = (int32_t)tile + q;
      for (int d = 0; d < 3; d++) {
        const int c = (q >> d & 1) | (q >> (d + 3) & 1) << 1 | (q >> (d + 6) & 1) << 2, rest = q - S::spread(d, c);
        int32_t   entry = common.inside[d];
        for (int s = 0; s < 2; s++) {
          const int32_t beyond = f.neighbor[(size_t)cell * 6 + 2 * d + s];
          const int     to = c + (s ? 1 : -1);
          if (to >= 0 && to < S::extent(d)) good = good && beyond == (int32_t)tile + (rest | S::spread(d, to));
          else if (varies) good = good && (beyond >= 0 || beyond == -1 - (2 * d + s));
          else if (beyond == VP_HANGING) entry = common.hanging[d][s];
          else if (beyond < 0) entry = common.bounded[d][s];
        }
        good = good && (varies || (entry >= 0 && f.line[(size_t)cell * 3 + d] == entry));
      }
    }
  }
  good = __all_sync(0xffffffffu, good);
  if (threadIdx.x == 0 && t < count) flag[t] = good;
}

template <class S>
struct TileSetup {
  static constexpr int N = S::n, T = S::cells;
  const VpView        *view;
  int32_t              first, last; /* of cells [first, last) */

  /* Takes what faces add out of D. A face's term is that of the difference of the traces beyond and own ones. */
  static void TakeFaces(const double line[], const double traces[2][2][VpDenseLayers(N)], double D[])
  {
    for (int s = 0; s < 2; s++)
      for (int f = 0; f < 2; f++)
        for (int i = 0; i < N; i++)
          for (int j = 0; j < VpDenseLayers(N); j++) D[i * N + j] += line[VpLineSide(N, s) + f * N + i] * traces[s][f][j];
    for (int i = 0; i < N; i++)
      for (int j = 1 - i % 2; j < N; j += 2) D[i * N + j] = 0;
  }

  /* common: NULL if coefficients vary */
  PetscErrorCode Tables(const VpCommon *common, const double hanging[3][3], TileTables<N> *t) const
  {
    double traces[2][2][VpDenseLayers(N)], line[VpLineSize(N)];

    PetscFunctionBegin;
    VpTabulate(VpBasisTrace, view->basis, traces);
    t->reaction = view->reaction;
    for (int i = 0; i < 2; i++) t->value[i] = traces[1][0][i];
    for (int i = 0; i < VpDenseLayers(N); i++) t->slope[i] = traces[1][1][i];
    for (int d = 0; d < 3; d++) {
      PetscCall(VpCudaFetchEntry(common ? view->lines : view->unit, common ? common->inside[d] : d, line));
      PetscCall(PetscArraycpy(t->D[d], line, N * N));
      if (!common) TakeFaces(line, traces, t->D[d]);
      PetscCall(PetscArraycpy(t->g[d][0], line + VpLineSide(N, 1), 2 * N));
      PetscCall(PetscArraycpy(t->boundary[d][0], view->outside[d][0], 8));
      PetscCall(PetscArraycpy(t->hanging[d], hanging[d], 3));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* the first cell from `first` on that can be the first of a tile, and how far it is from one such cell to the next: by their positions;
     where cells differ in size, all can */
  int32_t Start(int32_t *step) const
  {
    *step = view->nsize || view->hang.n ? 1 : T;
    return *step == 1 ? first : first + (int32_t)((T - (view->position + first) % T) % T);
  }

  /* which cells are the first of a tile of a size: flag[t] is of cell start + t step */
  struct Candidates {
    int32_t              start, step, count;
    std::vector<uint8_t> flag;

    /* the first one that is not before this cell, or `none` */
    int32_t Next(int32_t cell, int32_t none) const
    {
      const int32_t t = cell > start ? (cell - start + step - 1) / step : 0;
      const void   *found = t < count ? memchr(flag.data() + t, 1, (size_t)(count - t)) : NULL;
      return found ? start + (int32_t)((const uint8_t *)found - flag.data()) * step : none;
    }
  };
  PetscErrorCode Find(const VpCommon *common, Candidates *c) const
  {
    VpArray device;

    PetscFunctionBegin;
    c->start = Start(&c->step);
    c->count = last - c->start < T ? 0 : (last - c->start - T) / c->step + 1;
    c->flag.resize(c->count);
    PetscCall(VpCudaAlloc((size_t)c->count, "tile flags", &device.p));
    PetscCall(VpCudaLaunch("find tiles", FindTiles<S>, {VpBlocks(c->count, VP_WARPS), dim3(VP_WARP, VP_WARPS)},
                           Field<double>(view, NULL, NULL), common ? *common : VpCommon(), !common, last, c->start, c->step, c->count,
                           (uint8_t *)device.p));
    PetscCall(VpCudaFetch(device.p, (size_t)c->count, c->flag.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* adds the tiles of cells that are not taken and have the common lines, are of size number which - 1, or, for which < 0, have any
     coefficients; marks their cells as taken */
  PetscErrorCode AddSize(int which, const uint8_t *reads, std::vector<uint8_t> *taken, TilePlan<S> *plan) const
  {
    const VpCommon               *common = which < 0 ? NULL : which ? &view->size[which - 1] : &view->common;
    std::unique_ptr<SizeTiles<N>> size(new SizeTiles<N>());
    std::vector<int32_t>          tile;
    Candidates                    c;

    PetscFunctionBegin;
    PetscCall(Tables(common, view->hanging[PetscMax(which, 0)], &size->tables));
    size->varies = !common;
    PetscCall(Find(common, &c));
    size->tile.start = c.start;
    for (int border = 0; border < 2; border++) {
      const size_t before = tile.size();
      for (int32_t cell = c.Next(first, last); cell < last; cell = c.Next(cell + T, last)) {
        if (memchr(taken->data() + (cell - first), 1, T)) continue;
        if ((reads && memchr(reads + (cell - first), 1, T) ? VP_BORDER : VP_INNER) != border) continue;
        tile.push_back(cell);
        memset(taken->data() + (cell - first), 1, T);
      }
      size->tile.n[border] = (int32_t)(tile.size() - before);
    }
    if (c.step == 1 || size->tile.n[VP_INNER] < c.count)
      PetscCall(VpCudaPlace(tile.data(), tile.size() * sizeof(int32_t), "tiles", &size->tile.list));
    plan->size.push_back(std::move(size));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Lists(bool vary, TilePlan<S> *plan) const
  {
    std::vector<uint8_t> taken((size_t)(last - first), 0);
    uint8_t             *reads;

    PetscFunctionBegin;
    PetscCall(VpCudaReadsGhosts(view, first, last, &reads));
    for (int i = 0; i <= view->nsize && view->common.found; i++) PetscCall(AddSize(i, reads, &taken, plan));
    if (vary && view->unit) PetscCall(AddSize(-1, reads, &taken, plan));
    const bool rest = memchr(taken.data(), 0, taken.size()) != NULL;
    if (rest && plan->HasTiles()) PetscCall(VpCudaListCells(first, last, reads, taken.data(), &plan->cell));
    PetscCall(PetscFree(reads));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class S>
PetscErrorCode VpCudaTilePlan(const VpView *view, bool vary, int32_t first, int32_t last, TilePlan<S> **plan)
{
  auto fill = [=](TilePlan<S> *p) {
    PetscFunctionBegin;
    if ((view->common.found || (vary && view->unit)) && view->nt == VpDenseLayers(S::n))
      PetscCall((TileSetup<S>{view, first, last}).Lists(vary, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  TilesOf<S> &plans = VpCudaPlans<TilePlans<double, 3, S::n>>(view);

  return plans.tiles[vary].Get(first, last, plan, fill);
}

#define VP_DEGREE(k) \
  template PetscErrorCode VpCudaTilePlan(const VpView *, bool, int32_t, int32_t, TilePlan<Tile<k + 1>> **); \
  template PetscErrorCode VpCudaTilePlan(const VpView *, bool, int32_t, int32_t, TilePlan<Octet<k + 1>> **);
#include "../../src/kernels/degrees.def"
#undef VP_DEGREE
} // namespace vpatchdg::tile
