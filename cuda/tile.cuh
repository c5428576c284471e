/* A x on tiles of cells, in 3D, double precision and the orthonormal basis, where cells have the view's common lines, those at the boundary
   included.

   A tile is a box of 2^bits cells that are aligned on the curve. They follow each other in the vectors in Morton order: the bits of a
   cell's place in the tile are ... z1 y1 x1 z0 y0 x0. A tile of 4 x 2 x 2 cells (bits = 4):

        +-----+-----+-----+-----+
       / 6   / 7   / 14  / 15  /|              A thread holds a line through the whole tile in registers,
      +-----+-----+-----+-----+ +              extent(d) n values, in each direction in turn:
     / 4   / 5   / 12  / 13  /|/|
    +-----+-----+-----+-----+ + +    z         x  ====+====+====+====   reads X, writes Y = D_x x
    |  4  |  5  | 12  | 13  |/|/     | y       y  ====+====             reads X, adds to Y
    +-----+-----+-----+-----+ +      |/        z  ====+====             reads X and Y, writes y to the vector
    |  0  |  1  |  8  |  9  |/       +-- x
    +-----+-----+-----+-----+                  A direction with more lines than the block has threads takes rounds.

   X is the tile's copy in shared memory, Y the sum so far. Value (x, y, z) of cell (cx, cy, cz) of the tile is there at
   x + sy y + sz z + cs(0) cx + cs(1) cy + cs(2) cz. Lines meet cells beyond the tile only at their two ends; these cells' traces are read
   from the vector (TileGhosts), those between two cells of the line come from registers.

   D couples even functions with even ones and odd with odd, which halves the work. At the boundary of the domain a 2 x 2 matrix makes the
   traces beyond from the cell's own. */
#pragma once
#include "cell.cuh"
#include "plan/splitcells.cuh"
#include "device/load.cuh"
#include "shapes.cuh"
#include <cuda_pipeline.h>
#include <memory>
#include <type_traits>
#include <vector>

namespace vpatchdg::tile {
template <int N, class SHAPE = TileShape<double, 3, N>>
struct Tile : SHAPE {
  typedef SHAPE        Shape;
  static constexpr int n = N, cells = 1 << Shape::bits, values = N * N * N, sy = N;

  static __host__ __device__ constexpr int cs(int d) /* from cell to cell along d in shared memory */
  {
    return d == 0 ? Shape::cx : d == 1 ? Shape::cy : Shape::cz;
  }
  static __host__ __device__ constexpr int extent(int d) /* cells along d */
  {
    return 1 << (Shape::bits + 2 - d) / 3;
  }
  /* what digit i of the number of a line along d is counted in */
  static __host__ __device__ constexpr int digit(int d, int i)
  {
    const int radix[] = {N, N, extent(d == 0 ? 1 : 0), extent(d == 2 ? 1 : 2)};
    return DigitStride(d == 0 ? Shape::x : d == 1 ? Shape::y : 1234, i, radix);
  }
  /* the bits of coordinate c along d in a cell's place in the tile */
  static __host__ __device__ constexpr int spread(int d, int c)
  {
    return ((c & 1) | (c & 2) << 2 | (c & 4) << 4) << d;
  }
  static __host__ __device__ constexpr int lines(int d)
  {
    return (cells / extent(d)) * N * N;
  }
  static constexpr int threads = lines(Shape::along);
  /* how many values of shared memory a cell spans; `size`: a tile */
  static constexpr int    cell = (N - 1) * (1 + sy + Shape::sz) + 1;
  static constexpr int    size = (extent(0) - 1) * cs(0) + (extent(1) - 1) * cs(1) + (extent(2) - 1) * cs(2) + cell;
  static constexpr size_t bytes = (size_t)size * sizeof(double);

  static_assert(threads <= VP_MAX_THREADS, "a block's threads hold the lines along one direction");
};

/* tiles of a mesh whose cells differ in size */
template <int N>
using Octet = Tile<N, OctetShape<double, 3, N>>;
template <int N, class Hanging>
using TilesFor = std::conditional_t<std::is_same<Hanging, NoHangingTraces<double>>::value, Tile<N>, Octet<N>>;

template <int N>
struct TileTables {
  double D[3][N * N];        /* [direction] zero where i + j is odd */
  double g[3][2][N];         /* [direction][value, slope] what the traces beyond the upper side add; mirrored at the lower one */
  double value[2], slope[4]; /* traces of the first functions at the upper end */
  double boundary[3][2][4];  /* [direction][side]: (V, Q) beyond a boundary are this matrix times the cell's own */
  double reaction;           /* where cells have coefficients of their own; else D has it */
  double hanging[3][3];      /* [direction] what (V, Q) of HangingTraces add to those beyond: V' += h[0] Q, Q' += h[1] V + h[2] Q */
};

/* The cells beyond the two ends of a thread's lines along DIR, and those of their values that carry traces. */
template <class S, int DIR>
struct TileGhosts {
  static constexpr int rounds = (S::lines(DIR) + S::threads - 1) / S::threads;
  int32_t              beyond[rounds][2];
  double               u[rounds][2][VpDenseLayers(S::n)];
};
template <class S, int DIR>
struct TileTraces {
  double V[TileGhosts<S, DIR>::rounds][2], Q[TileGhosts<S, DIR>::rounds][2];
};

/* Line l along DIR: `cell` is its first cell's place in the tile; its first value is `at` values after the tile's first in the vector, and
   at `in` in shared memory. */
template <class S, int DIR>
__device__ __forceinline__ void TileLine(int l, int &cell, int &at, int &in)
{
  constexpr int d0 = DIR == 0 ? 1 : 0, d1 = DIR == 2 ? 1 : 2, st[3] = {1, S::n, S::n * S::n}, ss[3] = {1, S::sy, S::sz};
  const int     i0 = l / S::digit(DIR, 1) % S::n, i1 = l / S::digit(DIR, 2) % S::n, c0 = l / S::digit(DIR, 3) % S::extent(d0),
            c1 = l / S::digit(DIR, 4) % S::extent(d1);

  cell = S::spread(d0, c0) | S::spread(d1, c1);
  at = cell * S::values + i0 * st[d0] + i1 * st[d1];
  in = c0 * S::cs(d0) + c1 * S::cs(d1) + i0 * ss[d0] + i1 * ss[d1];
}

/* calls f(round, cell, at, in), as TileLine says, for each of the thread's lines along DIR */
template <class S, int DIR, class F>
__device__ __forceinline__ void ForLines(F f)
{

  UNROLL (int r = 0; r < TileGhosts<S, DIR>::rounds; r++) {
    const int l = threadIdx.x + r * S::threads;
    if (S::lines(DIR) % S::threads == 0 || l < S::lines(DIR)) {
      int cell, at, in;
      TileLine<S, DIR>(l, cell, at, in);
      f(r, cell, at, in);
    }
  }
}

/* The cell at end s of a line. `first` is the tile's first cell, `cell` the place of the line's first one. */
template <class S, int DIR>
__device__ __forceinline__ int32_t EndCell(int32_t first, int cell, int s)
{
  return first + cell + (s ? S::spread(DIR, S::extent(DIR) - 1) : 0);
}

/* u = the values that carry traces of the cell beyond an end or, at a boundary, of the cell itself. NOW: the load begins here; else the
   compiler may move it */
template <bool NOW, class S, int DIR>
__device__ __forceinline__ void LoadGhost(const Field<double> &f, int32_t own, int32_t beyond, int at, double (&u)[VpDenseLayers(S::n)])
{
  constexpr int nt = VpDenseLayers(S::n), step = DIR == 0 ? 1 : DIR == 1 ? S::n : S::n * S::n;
  const double *p = f.Cell(beyond < 0 ? own : beyond, S::values) + at;

  if (S::n % 2 == 0 && DIR == 0) {
    UNROLL (int i = 0; i < nt; i += 2) {
      const Pack<double, 2> two = NOW ? LoadNow((const Pack<double, 2> *)(p + i)) : LoadOnce((const Pack<double, 2> *)(p + i));
      u[i] = two.a[0];
      u[i + 1] = two.a[1];
    }
  } else {
    UNROLL (int i = 0; i < nt; i++) u[i] = NOW ? LoadNow(p + i * step) : __ldg(p + i * step);
  }
}

/* value V and slope Q beyond end s */
template <class S, int DIR>
__device__ __forceinline__ void GhostTrace(const TileTables<S::n> &t, int32_t beyond, int s, const double (&u)[VpDenseLayers(S::n)],
                                           double &V, double &Q)
{
  const bool upper = (beyond < 0) == (s == 1); /* the end where the traces are */
  double     even = t.slope[0] * u[0], odd = t.slope[1] * u[1];

  if (VpDenseLayers(S::n) > 2) even += t.slope[2] * u[VpDenseLayers(S::n) > 2 ? 2 : 0];
  if (VpDenseLayers(S::n) > 3) odd += t.slope[3] * u[VpDenseLayers(S::n) > 3 ? 3 : 0];
  V = t.value[0] * u[0] + (upper ? t.value[1] : -t.value[1]) * u[1];
  Q = even + (upper ? odd : -odd);
  if (beyond < 0 && beyond > INT32_MIN / 2) { /* a side that hangs is as if the cell's own traces were beyond */
    /* ~beyond & 1 equals s, which is hidden from the compiler: with s it would compute this for all lines instead of branching. */
    const double *B = t.boundary[DIR][~beyond & 1], v = V;
    V = B[0] * v + B[1] * Q;
    Q = B[2] * v + B[3] * Q;
  }
}

/* Adds the terms of a side that hangs to the traces beyond it. at: offset of the line in its cell */
template <class S, int DIR>
__device__ __forceinline__ void AddHangingTraces(const TileTables<S::n> &t, const HangingTraces<double> &hanging, int32_t beyond, int at,
                                                 double &V, double &Q)
{
  const int l = DIR == 0 ? at / S::n : DIR == 1 ? at % S::n + at / (S::n * S::n) * S::n : at;
  double    v, q;

  hanging.At(beyond, S::n * S::n, l, v, q);
  V += t.hanging[DIR][0] * q;
  Q += t.hanging[DIR][1] * v + t.hanging[DIR][2] * q;
}
template <class S, int DIR>
__device__ __forceinline__ void AddHangingTraces(const TileTables<S::n> &, const NoHangingTraces<double> &, int32_t, int, double &,
                                                 double &)
{
}

/* LoadTraces finds the traces at the ends of a thread's lines at once. FindGhosts, LoadGhosts and GhostTraces are the same in three steps,
   with other work between them. */
template <class S, int DIR, class Hanging>
__device__ __forceinline__ TileTraces<S, DIR> LoadTraces(const TileTables<S::n> &t, const Field<double> &f, int32_t first,
                                                         const Hanging &hanging)
{
  TileTraces<S, DIR> T;

  ForLines<S, DIR>([&](int r, int cell, int at, int) {
    UNROLL (int s = 0; s < 2; s++) {
      const int32_t own = EndCell<S, DIR>(first, cell, s), beyond = __ldg(f.neighbor + (size_t)own * 6 + 2 * DIR + s);
      double        u[VpDenseLayers(S::n)];
      LoadGhost<false, S, DIR>(f, own, beyond, at - cell * S::values, u);
      GhostTrace<S, DIR>(t, beyond, s, u, T.V[r][s], T.Q[r][s]);
      AddHangingTraces<S, DIR>(t, hanging, beyond, at - cell * S::values, T.V[r][s], T.Q[r][s]);
    }
  });
  return T;
}
template <class S, int DIR>
__device__ __forceinline__ void FindGhosts(const Field<double> &f, int32_t first, TileGhosts<S, DIR> &G)
{
  ForLines<S, DIR>([&](int r, int cell, int, int) {
    UNROLL (int s = 0; s < 2; s++) G.beyond[r][s] = __ldg(f.neighbor + (size_t)EndCell<S, DIR>(first, cell, s) * 6 + 2 * DIR + s);
  });
}
template <class S, int DIR>
__device__ __forceinline__ void LoadGhosts(const Field<double> &f, int32_t first, TileGhosts<S, DIR> &G)
{
  ForLines<S, DIR>([&](int r, int cell, int at, int) {
    UNROLL (int s = 0; s < 2; s++)
      LoadGhost<true, S, DIR>(f, EndCell<S, DIR>(first, cell, s), G.beyond[r][s], at - cell * S::values, G.u[r][s]);
  });
}
template <class S, int DIR, class Hanging>
__device__ __forceinline__ TileTraces<S, DIR> GhostTraces(const TileTables<S::n> &t, const TileGhosts<S, DIR> &G, const Hanging &hanging)
{
  TileTraces<S, DIR> T;

  ForLines<S, DIR>([&](int r, int cell, int at, int) {
    UNROLL (int s = 0; s < 2; s++) {
      GhostTrace<S, DIR>(t, G.beyond[r][s], s, G.u[r][s], T.V[r][s], T.Q[r][s]);
      AddHangingTraces<S, DIR>(t, hanging, G.beyond[r][s], at - cell * S::values, T.V[r][s], T.Q[r][s]);
    }
  });
  return T;
}

/* Whether the cells of a tile have coefficients of their own. If so, `of` is in shared memory and has, for every cell and direction, a and
   the harmonic means at the lower and the upper side, and tables are those of a = 1, with D without terms of faces. */
template <class S>
struct SameNumbers {
  static constexpr bool varies = false;
};
template <class S>
struct OwnNumbers {
  static constexpr bool varies = true;
  static constexpr int  size = S::cells * 9;
  const double         *of; /* [cells][3][a, lower, upper] */

  __device__ __forceinline__ double At(int cell, int d, int which) const
  {
    return of[(cell * 3 + d) * 3 + which];
  }
};
/* VpView's coefficients of cells */
struct CellNumbers {
  const double *coefficient;
  int           directions;

  __device__ __forceinline__ double At(int32_t cell, int d) const
  {
    return __ldg(coefficient + (size_t)cell * directions + (directions > 1 ? d : 0));
  }
  /* to = OwnNumbers::of of the tile with this first cell. Requires: threads wait for one another before it is read. */
  template <class S>
  __device__ __forceinline__ void Load(const Field<double> &f, int32_t first, double *to) const
  {
    for (int i = threadIdx.x; i < S::cells * 6; i += S::threads) {
      const int     d = i / 2 % 3;
      const int32_t cell = first + i / 6, beyond = __ldg(f.neighbor + (size_t)first * 6 + i);
      const double  a = At(cell, d);

      to[i / 2 * 3 + 1 + i % 2] = beyond < 0 ? a : HarmonicMean(a, At(beyond, d));
      if (i % 2 == 0) to[i / 2 * 3] = a;
    }
  }
};

/* D_d x on the thread's lines along DIR. Calls to(round, c, i, at, in, value) for function i in the line's cell c, `at` and `in` being the
   places of the line's part in the cell in the vector and in shared memory. */
template <class S, int DIR, class To, class Numbers = SameNumbers<S>>
__device__ __forceinline__ void ApplyLines(const TileTables<S::n> &t, const TileTraces<S, DIR> &T, const double *X, To to,
                                           const Numbers &numbers = Numbers())
{
  constexpr int C = S::extent(DIR), nt = VpDenseLayers(S::n), step = DIR == 0 ? 1 : DIR == 1 ? S::sy : S::sz;

  ForLines<S, DIR>([&](int r, int cell, int at, int in) {
    double u[C][S::n], V[C][2], Q[C][2]; /* even and odd part of the traces at the upper end */

    UNROLL (int c = 0; c < C; c++) {
      UNROLL (int i = 0; i < S::n; i++) u[c][i] = X[in + c * S::cs(DIR) + i * step];
      V[c][0] = t.value[0] * u[c][0];
      V[c][1] = t.value[1] * u[c][1];
      Q[c][0] = t.slope[0] * u[c][0];
      Q[c][1] = t.slope[1] * u[c][1];
      if (nt > 2) Q[c][0] += t.slope[2] * u[c][nt > 2 ? 2 : 0];
      if (nt > 3) Q[c][1] += t.slope[3] * u[c][nt > 3 ? 3 : 0];
    }
    UNROLL (int c = 0; c < C; c++) {
      const int below = c ? c - 1 : 0, above = c + 1 < C ? c + 1 : 0;
      double    Vl = c ? V[below][0] + V[below][1] : T.V[r][0], Ql = c ? Q[below][0] + Q[below][1] : T.Q[r][0];
      double    Vu = c + 1 < C ? V[above][0] - V[above][1] : T.V[r][1], Qu = c + 1 < C ? Q[above][0] - Q[above][1] : T.Q[r][1], a = 1;
      if constexpr (Numbers::varies) {
        const int    of = cell | S::spread(DIR, c);
        const double lower = numbers.At(of, DIR, 1), upper = numbers.At(of, DIR, 2);
        a = numbers.At(of, DIR, 0);
        Vl = lower * (Vl - (V[c][0] - V[c][1]));
        Ql = lower * (Ql - (Q[c][0] - Q[c][1]));
        Vu = upper * (Vu - (V[c][0] + V[c][1]));
        Qu = upper * (Qu - (Q[c][0] + Q[c][1]));
      }
      const double Vs[2] = {Vu + Vl, Vu - Vl}, Qs[2] = {Qu + Ql, Qu - Ql};
      UNROLL (int i = 0; i < S::n; i++) {
        double sum = t.g[DIR][0][i] * Vs[i % 2];
        sum += t.g[DIR][1][i] * Qs[i % 2];
        if constexpr (Numbers::varies) {
          double inner = 0;
          UNROLL (int j = i % 2; j < S::n; j += 2) inner += t.D[DIR][i * S::n + j] * u[c][j];
          sum += a * inner;
        } else
          UNROLL (int j = i % 2; j < S::n; j += 2) sum += t.D[DIR][i * S::n + j] * u[c][j];
        to(r, c, i, at + S::spread(DIR, c) * S::values, in + c * S::cs(DIR), sum);
      }
    }
  });
}

/* begins to copy the tile's values to X, z line by z line: neighbouring threads read neighbouring values */
template <class S>
__device__ __forceinline__ void CopyTile(const double *x, double *X)
{

  ForLines<S, 2>([=](int, int, int at, int in) {
    UNROLL (int c = 0; c < S::extent(2); c++) {
      UNROLL (int i = 0; i < S::n; i++)
        __pipeline_memcpy_async(X + in + c * S::cs(2) + i * S::sz, x + at + S::spread(2, c) * S::values + i * S::n * S::n, sizeof(double));
    }
  });
  __pipeline_commit();
}

/* Prefetches a later tile's values to L2. Called by one thread of a block. */
template <class S>
__device__ __forceinline__ void PrefetchTile(const double *x)
{
  Prefetch<(int)(S::cells * S::values * sizeof(double))>(x);
}

__device__ __forceinline__ void AwaitCopy()
{
  __pipeline_wait_prior(0);
  __syncthreads();
}

/* The tiles of a range with cells of one size, whose common lines these cells have, or, if it `varies`, coefficients of their own. TilePlan
   has the tiles of all sizes, and all other cells. */
template <int N>
struct SizeTiles {
  SplitCells    tile;
  TileTables<N> tables;
  bool          varies;
};
template <class S>
struct TilePlan {
  SplitCells                                    cell;
  std::vector<std::unique_ptr<SizeTiles<S::n>>> size;

  bool HasTiles() const
  {
    bool has = false;

    for (const auto &s : size) has = has || s->tile.n[VP_INNER] || s->tile.n[VP_BORDER];
    return has;
  }
};
/* Whether x begins with a whole pair of values, which tiles read at once. A part of another vector may begin in the middle of a pair. */
static inline bool ReadsPairs(const double *x)
{
  return (uintptr_t)x % sizeof(double2) == 0;
}
/* PrefetchTile asks for the tile that lies Ahead() tiles, about VP_AHEAD_BYTES, ahead of the one at work. */
enum { VP_AHEAD_BYTES = 2 << 20 };
template <class S>
__host__ __device__ constexpr int32_t Ahead()
{
  return VP_AHEAD_BYTES / (S::cells * S::values * (int)sizeof(double)) + 1;
}

/* vary: with tiles whose cells have coefficients of their own */
template <class S>
PetscErrorCode VpCudaTilePlan(const VpView *, bool vary, int32_t first, int32_t last, TilePlan<S> **);

/* For inner cells of a range, then for those at the border, calls tiles(size, border) for every size of tiles S, then cells(cell, border)
   for the other cells. If x, of numbers T, or the mesh allows no tiles, calls cells() alone. VARY: as in VpCudaTilePlan() */
template <int DIM, class S, bool VARY, class T, class OnTiles, class OnCells>
PetscErrorCode VpCudaOnTiles(const VpCudaApply &a, OnTiles tiles, OnCells cells)
{
  SplitCells *all = NULL;

  PetscFunctionBegin;
  if constexpr (DIM == 3 && sizeof(T) == sizeof(double)) {
    TilePlan<S> *plan = NULL;

    PetscCall(VpCudaTilePlan<S>(a.view, VARY, a.first, a.last, &plan));
    if (plan->HasTiles() && ReadsPairs((const double *)a.x)) {
      auto run = [=](int border) {
        PetscFunctionBegin;
        for (const auto &size : plan->size) PetscCall(tiles(*size, border));
        PetscCall(cells(plan->cell, border));
        PetscFunctionReturn(PETSC_SUCCESS);
      };
      PetscCall(VpCudaInnerThenBorder(a.ghosts, run));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(VpCudaSplitCells(a.view, a.first, a.last, &all));
  PetscCall(VpCudaInnerThenBorder(a.ghosts, [=](int border) { return cells(*all, border); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace vpatchdg::tile
