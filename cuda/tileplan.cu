/* Setting up the kernels of tile.cuh for a range of cells: the commonest entries, those at boundaries, the tiles. */
#include "tile.cuh"
#include <cstring>

struct TileEntries {
  int32_t common[3], boundary[3][2][2]; /* [direction][side][Dirichlet, Neumann]; -1: none */
};

/* entries of cells with neighbours on both sides, spread over the range */
static __global__ void SampleEntries(Field<double> f, int32_t first, int32_t last, int32_t *sample)
{
  const int     n = blockDim.x, d = threadIdx.y;
  const int32_t cell = first + (int32_t)((int64_t)(last - first) * (2 * threadIdx.x + 1) / (2 * n));
  const int32_t lower = f.neighbor[(size_t)cell * 6 + 2 * d], upper = f.neighbor[(size_t)cell * 6 + 2 * d + 1];

  sample[d * n + threadIdx.x] = lower >= 0 && upper >= 0 ? f.line[(size_t)cell * 3 + d] : -1;
}

/* example[d][s][k] = some cell with boundary k on side s only, next to cells with common entries */
static __global__ void BoundaryExamples(Field<double> f, int32_t first, int32_t last, TileEntries e, int32_t *example)
{
  const int32_t cell = first + blockIdx.x * blockDim.x + threadIdx.x;

  if (cell >= last) return;
  for (int i = 0; i < 6; i++) {
    const int32_t beyond = f.neighbor[(size_t)cell * 6 + i], other = f.neighbor[(size_t)cell * 6 + (i ^ 1)];
    if ((beyond == VP_DIRICHLET || beyond == VP_NEUMANN) && other >= first && other < last &&
        f.line[(size_t)other * 3 + i / 2] == e.common[i / 2])
      atomicMax(example + 2 * i + (-1 - beyond), cell);
  }
}

/* flag[t] = cells [start + t T, .. + T) are a tile */
template <int N>
__global__ void FindTiles(Field<double> f, int32_t last, TileEntries e, int32_t start, int32_t step, int32_t count, uint8_t *flag)
{
  typedef Tile<N> S;
  const int32_t   t = blockIdx.x * blockDim.y + threadIdx.y;
  bool            good = t < count;

  if (good) {
    const int64_t tile = start + (int64_t)t * step * S::cells;
    good = tile + S::cells <= last && tile + S::cells <= f.nown;
    for (int q = threadIdx.x; good && q < S::cells; q += 32) {
      const int32_t cell = (int32_t)tile + q;
      for (int d = 0; d < 3; d++) {
        const int c = (q >> d & 1) | (q >> (d + 3) & 1) << 1 | (q >> (d + 6) & 1) << 2, rest = q - S::spread(d, c);
        int32_t   entry = e.common[d];
        for (int s = 0; s < 2; s++) {
          const int32_t beyond = f.neighbor[(size_t)cell * 6 + 2 * d + s];
          const int     to = c + (s ? 1 : -1);
          if (to >= 0 && to < S::extent(d)) good = good && beyond == (int32_t)tile + (rest | S::spread(d, to));
          else if (beyond == VP_DIRICHLET || beyond == VP_NEUMANN)
            entry = e.boundary[d][s][-1 - beyond];
          else
            good = good && beyond >= 0;
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
  static constexpr int width = VpLineSize(N);

  static bool Near(double a, double b, double scale)
  {
    return fabs(a - b) <= 1e-11 * scale;
  }

  /* D and g of the common entry, if they mirror */
  static bool Interior(const double *line, double D[], double g[][N])
  {
    double scale = 0, top = 0;

    for (int i = 0; i < N * N; i++) scale = fmax(scale, fabs(line[i]));
    for (int i = 0; i < 4 * N; i++) top = fmax(top, fabs(line[N * N + i]));
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        if ((i + j) % 2 && !Near(line[i * N + j], 0, scale)) return false;
        D[i * N + j] = (i + j) % 2 ? 0 : line[i * N + j];
      }
      for (int k = 0; k < 2; k++) {
        const double lower = line[N * N + k * N + i], upper = line[N * N + (2 + k) * N + i];
        if (!Near(lower, i % 2 ? -upper : upper, top)) return false;
        g[k][i] = upper;
      }
    }
    return true;
  }

  /* The entry at a boundary differs from the common one in D only, by (g V_b + g' Q_b) of the cell's own traces: fits (V_b, Q_b) = B (V,
     Q). Traces: V = value . u, Q = slope . u at the upper end, u_i -> (-1)^i u_i at the lower. */
  static bool Boundary(const double *common, const double *line, int side, const TileTables<N> &t, const double g[][N], double B[4])
  {
    double v[N], q[N], gs[2][N], M[N][2], scale = 0, gg[3] = {0}, vq[3] = {0};

    for (int i = 0; i < N; i++) {
      const double sign = side == 0 && i % 2 ? -1 : 1;
      v[i] = i < 2 ? sign * t.value[i] : 0;
      q[i] = i < Dense(N) ? sign * t.slope[i] : 0;
      gs[0][i] = sign * g[0][i];
      gs[1][i] = sign * g[1][i];
      gg[0] += gs[0][i] * gs[0][i], gg[1] += gs[0][i] * gs[1][i], gg[2] += gs[1][i] * gs[1][i];
      vq[0] += v[i] * v[i], vq[1] += v[i] * q[i], vq[2] += q[i] * q[i];
    }
    const double detg = gg[0] * gg[2] - gg[1] * gg[1], detv = vq[0] * vq[2] - vq[1] * vq[1];
    if (!(detg > 0) || !(detv > 0)) return false;
    /* D' - D = gs^T B vq: multiply by the pseudo-inverses from both sides */
    for (int i = 0; i < N; i++) {
      double a = 0, b = 0;
      for (int j = 0; j < N; j++) {
        a += (line[i * N + j] - common[i * N + j]) * v[j];
        b += (line[i * N + j] - common[i * N + j]) * q[j];
        scale = fmax(scale, fabs(common[i * N + j]));
      }
      M[i][0] = (a * vq[2] - b * vq[1]) / detv;
      M[i][1] = (b * vq[0] - a * vq[1]) / detv;
    }
    for (int c = 0; c < 2; c++) {
      double a = 0, b = 0;
      for (int i = 0; i < N; i++) {
        a += gs[0][i] * M[i][c];
        b += gs[1][i] * M[i][c];
      }
      B[c] = (a * gg[2] - b * gg[1]) / detg;
      B[2 + c] = (b * gg[0] - a * gg[1]) / detg;
    }
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        const double add = gs[0][i] * (B[0] * v[j] + B[1] * q[j]) + gs[1][i] * (B[2] * v[j] + B[3] * q[j]);
        if (!Near(line[i * N + j], common[i * N + j] + add, scale)) return false;
      }
    for (int k = 0; k < 2 * N; k++) { /* the other side is the common one */
      const int at = N * N + (1 - side) * 2 * N + k;
      if (!Near(line[at], common[at], fabs(common[at]) + 1e-300)) return false;
    }
    return true;
  }

  static PetscErrorCode FetchEntry(const Field<double> &f, int32_t entry, double *line)
  {
    return VpCudaFetch(f.lines + (size_t)entry * width, width * sizeof(double), line);
  }

  /* tables and entries; e.common[0] < 0 where there is nothing for tiles to do */
  static PetscErrorCode Entries(const Field<double> &f, int32_t first, int32_t last, TileTables<N> *t, TileEntries *e)
  {
    enum { samples = 256 };
    int32_t sample[3][samples], example[3][2][2];
    double  traces[4 * Dense(N)], common[3][width], line[width];
    VpArray device;

    PetscFunctionBegin;
    for (int d = 0; d < 3; d++) e->common[d] = -1;
    PetscCall(VpCudaAlloc(sizeof(sample), "a sample of entries", &device.p));
    SampleEntries<<<1, dim3(samples, 3), 0, VpCudaStream>>>(f, first, last, (int32_t *)device.p);
    VpCudaLaunched("sample");
    PetscCall(VpCudaFetch(device.p, sizeof(sample), sample));
    for (int d = 0; d < 3; d++) { /* majority */
      int32_t best = -1;
      for (int i = 0, votes = 0; i < samples; i++) {
        if (sample[d][i] < 0) continue;
        if (!votes) best = sample[d][i];
        votes += sample[d][i] == best ? 1 : -1;
      }
      if (best < 0) {
        e->common[0] = -1;
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      e->common[d] = best;
    }
    PetscCall(VpCudaFetch(f.traces, sizeof(traces), traces));
    for (int i = 0; i < Dense(N); i++) {
      const double value = traces[2 * Dense(N) + i], slope = traces[3 * Dense(N) + i];
      if (i < 2) t->value[i] = value;
      else if (!Near(value, 0, 1))
        e->common[0] = -1;
      t->slope[i] = slope;
    }
    for (int d = 0; d < 3 && e->common[0] >= 0; d++) {
      PetscCall(FetchEntry(f, e->common[d], common[d]));
      if (!Interior(common[d], t->D[d], t->g[d])) e->common[0] = -1;
    }
    if (e->common[0] < 0) PetscFunctionReturn(PETSC_SUCCESS);
    VpCudaCall(cudaMemsetAsync(device.p, 0xff, sizeof(example), VpCudaStream));
    BoundaryExamples<<<(last - first + 255) / 256, 256, 0, VpCudaStream>>>(f, first, last, *e, (int32_t *)device.p);
    VpCudaLaunched("boundary examples");
    PetscCall(VpCudaFetch(device.p, sizeof(example), example));
    for (int d = 0; d < 3; d++) {
      for (int k = 0; k < 2; k++) {
        double B[2][4];
        bool   have[2];
        for (int s = 0; s < 2; s++) {
          e->boundary[d][s][k] = -1;
          have[s] = example[d][s][k] >= 0;
          if (!have[s]) continue;
          PetscCall(VpCudaFetch(f.line + (size_t)example[d][s][k] * 3 + d, sizeof(int32_t), &e->boundary[d][s][k]));
          PetscCall(FetchEntry(f, e->boundary[d][s][k], line));
          if (!Boundary(common[d], line, s, *t, t->g[d], B[s])) e->boundary[d][s][k] = -1;
        }
        for (int i = 0; i < 4; i++) {
          t->boundary[d][k][i] = have[0] ? B[0][i] : have[1] ? B[1][i] : 0;
          if (have[0] && have[1] && !Near(B[0][i], B[1][i], fabs(B[0][i]) + 1)) e->boundary[d][1][k] = -1;
        }
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Flags(const Field<double> &f, int32_t last, const TileEntries &e, int32_t start, int32_t step, int32_t count,
                              uint8_t *flag)
  {
    VpArray device;

    PetscFunctionBegin;
    PetscCall(VpCudaAlloc((size_t)count, "tile flags", &device.p));
    FindTiles<N><<<(count + 7) / 8, dim3(32, 8), 0, VpCudaStream>>>(f, last, e, start, step, count, (uint8_t *)device.p);
    VpCudaLaunched("find tiles");
    PetscCall(VpCudaFetch(device.p, (size_t)count, flag));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* where most of up to 32 possible tiles are tiles */
  static PetscErrorCode Start(const Field<double> &f, int32_t first, int32_t last, const TileEntries &e, int32_t *start)
  {
    const int32_t possible = (last - first) / Tile<N>::cells, step = possible > 32 ? possible / 32 : 1;
    int           most = 0;

    PetscFunctionBegin;
    *start = first;
    for (int32_t o = 0; o < Tile<N>::cells && most < 8; o++) {
      uint8_t flag[64];
      int     good = 0, count = (int)(possible / step < 64 ? possible / step : 64);

      PetscCall(Flags(f, last, e, first + o, step, count, flag));
      for (int i = 0; i < count; i++) good += flag[i];
      if (good > most) {
        most = good;
        *start = first + o;
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Lists(const VpView *view, const Field<double> &f, int32_t first, int32_t last, const TileEntries &e, TilePlan<N> *plan)
  {
    const int32_t T = Tile<N>::cells;
    int32_t      *tile, *cell, count, ntile = 0, ncell = 0;
    uint8_t      *flag, *reads;

    PetscFunctionBegin;
    PetscCall(Start(f, first, last, e, &plan->tile.start));
    count = (last - plan->tile.start) / T;
    PetscCall(PetscMalloc3(count, &flag, count, &tile, last - first, &cell));
    PetscCall(Flags(f, last, e, plan->tile.start, 1, count, flag));
    PetscCall(VpCudaReadsGhosts(view, first, last, &reads));
    for (int part = 0; part < 2; part++) {
      const int32_t tiles = ntile, cells = ncell;
      for (int32_t c = first, size; c < last; c += size) {
        const int32_t t = (c - plan->tile.start) / T;
        size = c >= plan->tile.start && t < count && flag[t] ? T : 1;
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
    const Field<double> f(view, NULL, NULL);
    TileEntries         e;

    PetscFunctionBegin;
    if (last - first >= Tile<N>::cells && view->nt == Dense(N)) {
      PetscCall(TileSetup<N>::Entries(f, first, last, &p->tables, &e));
      if (e.common[0] >= 0) PetscCall(TileSetup<N>::Lists(view, f, first, last, e, p));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(VpCudaPlan<TilePlan<N>>(&view->device, VP_PLAN_APPLY, first, last, plan, fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define VP_DEGREE(k) template PetscErrorCode VpCudaTilePlan<k + 1>(const VpView *, int32_t, int32_t, TilePlan<k + 1> **);
#include "../src/kernels/host/degrees.def"
#undef VP_DEGREE
