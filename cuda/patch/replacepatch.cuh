/* One colour of the patch smoother on like patches, in 3D: x = A_j^-1 (b - what the neighbours' traces add). All these patches have the
   same 1D tables, which are their own mirror images. Only their sides on the domain boundary differ. Or patches are grouped, so that the
   patches of a block have the same tables (grouptables.cuh). If the coefficient varies over cells of one size, the patch's coefficients are
   multiples of those of its tables (VpPatchView.factor), and traces add what they add for coefficient 1, times the harmonic means at sides.

   F and B take a line to the eigen-coordinates of its direction and back (fdm.cuh). A thread holds whole lines in registers, in every
   step those of one direction:

       b, traces ==> z: b - traces, F --> y: F --> x: F, divide, B --> y: B --> z: B ==> x

       ==> from or to the vectors        --> through shared memory, where lines stay in place (patchshape.cuh draws it)

   `divide` is by the sums of the three directions' eigenvalues. A thread begins all its loads from the vectors before it waits for the
   first of them. */
#pragma once
#include "coefficients.cuh"
#include "patchthread.cuh"

namespace vpatchdg::patch {
/* The pair of traces at end `end` of a line of a neighbour's values: its two coefficients there in the thin basis, else value and slope. */
template <bool AGAIN, class T, int N>
__device__ __forceinline__ Pack<T, 2> TracePair(const T (&trace)[2][2][VpThinLayers(N, 3)], int end, const T *line, int step)
{
  constexpr int nt = VpThinLayers(N, 3);
  Pack<T, 2>    pair;

  if (nt < N) line += end * (N - nt) * step;
  if (nt == 2) {
    if (N % 2 == 0 && step == 1) return LoadNow((const Pack<T, 2> *)line);
    pair.a[0] = Value<AGAIN>(line);
    pair.a[1] = Value<AGAIN>(line + step);
  } else {
    T u[nt];
    UNROLL (int i = 0; i < nt; i++) u[i] = Value<AGAIN>(line + i * step);
    UNROLL (int f = 0; f < 2; f++) {
      pair.a[f] = trace[end][f][0] * u[0];
      UNROLL (int i = 1; i < nt; i++) pair.a[f] += trace[end][f][i] * u[i];
    }
  }
  return pair;
}

/* The pointers of a block. If coefficients vary, a patch's pointers are followed by the means at its sides. */
template <class T, class S, class Coefficients>
struct ReplaceShape {
  static constexpr int    words = PATCH_SIDES + (Coefficients::varies ? PATCH_SIDES * sizeof(T) / sizeof(void *) : 0);
  static constexpr size_t bytes = S::pointers + (size_t)S::patches * words * sizeof(void *);
};

/* A thread of a patch whose values are replaced. */
template <class T, int N, class Boundary, bool AGAIN, class Coefficients>
struct ReplaceThread : PatchThread<T, N, Boundary, AGAIN> {
  typedef PatchThread<T, N, Boundary, AGAIN> Thread;
  typedef typename Thread::S                 S;
  typedef Pack<T, 2>                         Pair;
  using Thread::inside, Thread::m, Thread::layer, Thread::R;
  using Thread::kz, Thread::Sync, Thread::Line, Thread::LineZ, Thread::Cell;
  using Thread::t, Thread::boundary, Thread::table, Thread::cells, Thread::sides, Thread::around, Thread::values, Thread::me, Thread::v;
  static constexpr bool varies = Coefficients::varies, tails = Thread::Of::grouped && !varies;

  const Coefficients &of;
  T                  *mean; /* [direction][side][4] shared: the mean at each side of `around` */

  template <class Residual>
  __device__ __forceinline__ ReplaceThread(const typename Thread::Tables &tables, const Boundary &boundary, const Residual &residual,
                                           const PatchWork<T> &w, unsigned before, int32_t patch, unsigned char *shared)
      : Thread(tables, boundary, w, before, patch, shared, S::traces, S::pointers, ReplaceShape<T, S, Coefficients>::words),
        of(residual.of), mean((T *)(around + PATCH_SIDES))
  {
  }

  /* Ensures, after Sync(): `mean` is set. */
  __device__ __forceinline__ void FindMeans() const
  {
#pragma unroll 1
    for (int h = me; h < PATCH_SIDES; h += S::threads) {
      const PatchQuarter at = PatchQuarterOf(h);
      mean[h] = of.Mean(cells, VP_PATCH_CELLS + h, at.d, of.At(cells, PatchCellAt(at), at.d));
    }
  }
  /* a pair beyond side h of `around`, times the mean there */
  __device__ __forceinline__ Pair Times(int h, Pair p) const
  {
    if constexpr (varies) {
      UNROLL (int f = 0; f < 2; f++) p.a[f] *= mean[h];
    }
    return p;
  }

  /* the pair beyond side s on a line `at` values from where a cell of `around` begins, with a step from value to value */
  __device__ __forceinline__ Pair Beyond(int s, const T *cell, int at, int step) const
  {
    if constexpr (tails) {
      const int  ends = (int)((uintptr_t)cell & Thread::ENDS);
      const T   *line = (const T *)((uintptr_t)cell - ends) + at, *M = t.all.ending[s];
      const Pair own = TracePair<AGAIN, T, N>(t.trace, (1 - s) ^ ends, line, step);
      if (!ends) return own;
      return {M[0] * own.a[0] + M[1] * own.a[1], M[2] * own.a[0] + M[3] * own.a[1]};
    } else return TracePair<AGAIN, T, N>(t.trace, 1 - s, cell + at, step);
  }
  /* Ensures: v holds the z lines of b, `sides` the traces beyond the sides in x and y, `end` those beyond both ends of the z lines. For its
     line l = i + m j a thread reads the traces of the x sides at (y, z) = (i, j) and of the y sides at (x, z) = (i, j). */
  __device__ __forceinline__ void Load(const T *b, Pair (&end)[R][2])
  {
    Pair px[R][2], py[R][2];

    UNROLL (int r = 0; r < R; r++) {
      const int l = Line(r), i = l % m, j = l / m, ci = i >= N, cj = j >= N, q = ci + 2 * cj, at = (j - cj * N) * layer;
      UNROLL (int s = 0; s < 2; s++) {
        px[r][s] = Beyond(s, around[PatchSideAt(0, s, q)], at + (i - ci * N) * N, 1);
        py[r][s] = Beyond(s, around[PatchSideAt(1, s, q)], at + i - ci * N, N);
      }
    }
    this->LoadB(b);
    UNROLL (int r = 0; r < R; r++) {
      const int l = LineZ(r);
      UNROLL (int s = 0; s < 2; s++) end[r][s] = Beyond(s, around[PatchSideAt(2, s, l / layer)], l % layer, layer);
    }
    UNROLL (int r = 0; r < R; r++) {
      const int l = Line(r), q = (l % m >= N) + 2 * (l / m >= N);
      UNROLL (int s = 0; s < 2; s++) {
        *(Pair *)(sides + (s * m + l % m) * S::sf + l / m * 2) = Times(PatchSideAt(0, s, q), px[r][s]);
        *(Pair *)(sides + ((2 + s) * m + l % m) * S::sf + l / m * 2) = Times(PatchSideAt(1, s, q), py[r][s]);
        end[r][s] = Times(PatchSideAt(2, s, LineZ(r) / layer), end[r][s]);
      }
    }
    Sync();
  }
  /* Add: address of the pair of numbers that traces beyond side s along D add to value i of a line. AddZ: number f of the pair along z, for
     a constant i */
  template <int D>
  __device__ __forceinline__ const T *Add(int s, int i) const
  {
    if constexpr (tails) return t.tail[D] - GroupTail<N>::add + (s * N + i) * 2;
    else return table + PatchTable<N>::add + ((2 * D + s) * N + i) * 2;
  }
  __device__ __forceinline__ T AddZ(int s, int f, int i) const
  {
    if constexpr (tails) return t.template Tail<2>(GroupTail<N>::add, (s * N + i) * 2 + f);
    else if constexpr (Thread::Of::grouped) return t.all.add[s][f][i];
    else return t.add[s][f][i];
  }
  /* v -= what the traces beyond all six sides add to the z lines */
  __device__ __forceinline__ void SubtractTraces(const Pair (&end)[R][2])
  {
    constexpr int W = Wide<T>::n / 2; /* pairs at once */

    UNROLL (int r = 0; r < R; r++) {
      const int l = LineZ(r), ix = l % N, iy = l / N % N, cx = l / layer & 1, cy = l / layer >> 1;
      const int l0 = S::adjacent ? LineZ(0) : l, y = (l0 / layer >> 1) * N + l0 / N % N; /* adjacent lines have the same y and load once */
      const T  *gx = Add<0>(cx, ix), *gy = Add<1>(cy, iy);
      const T   gx0 = __ldg(gx), gx1 = __ldg(gx + 1), gy0 = __ldg(gy), gy1 = __ldg(gy + 1);
      const T  *hx = sides + ((l0 / layer & 1) * m + y) * S::sf, *hy = sides + ((2 + cy) * m + cx * N + ix) * S::sf;
      UNROLL (int i = 0; i < m; i += W) {
        const Wide<T> px = *(const Wide<T> *)(hx + 2 * i), py = *(const Wide<T> *)(hy + 2 * i);
        UNROLL (int k = 0; k < W; k++) {
          v[r][i + k] -= gx0 * px.a[2 * k];
          v[r][i + k] -= gx1 * px.a[2 * k + 1];
          v[r][i + k] -= gy0 * py.a[2 * k];
          v[r][i + k] -= gy1 * py.a[2 * k + 1];
        }
      }
    }
    UNROLL (int i = 0; i < N; i++) {
      UNROLL (int f = 0; f < 2; f++) {
        UNROLL (int r = 0; r < R; r++) {
          v[r][i] -= AddZ(0, f, i) * end[r][0].a[f];
          v[r][N + i] -= AddZ(1, f, i) * end[r][1].a[f];
        }
      }
    }
  }

  /* B along z; where `active`, the result goes to the cells' other buffers */
  __device__ __forceinline__ void BackwardZ(bool active)
  {
    T *to[R][2];

    UNROLL (int r = 0; r < R; r++) {
      UNROLL (int c = 0; c < 2; c++) to[r][c] = this->CellZ(r, c, true);
    }
    if (!inside && kz) {
      this->ReadAllZ();
      FromModes<2>(t, boundary, kz, v, [=](int r, int i, T w) {
        if (active) to[r][i / N][i % N * layer] = w;
      });
      return;
    }
    Thread::BackwardZ();
    if (!active) return;
    UNROLL (int r = 0; r < R; r += Thread::abreast) {
      UNROLL (int c = 0; c < 2; c++) this->Store(r, c, to[r][c]);
    }
  }
  __device__ __forceinline__ void Solve(const T *b, int32_t patch, bool active)
  {
    Pair end[R][2];

    this->FindBeyond();
    if constexpr (varies) FindMeans();
    Sync();
    Load(b, end);
    SubtractTraces(end);
    this->ForwardZ();
    this->ForwardY();
    if constexpr (varies) this->template SolveX<true>(of.Factors(patch));
    else this->SolveX();
    this->BackwardY();
    BackwardZ(active);
  }
};

/* the Residual of likepatch.cuh */
template <class T, int N, class Coefficients>
struct Replace {
  static constexpr int blocks = Patch<T, N>::least, tail = Coefficients::varies ? GroupTail<N>::lambda : GroupTail<N>::add;
  template <class S>
  static constexpr size_t bytes = ReplaceShape<T, S, Coefficients>::bytes;
  template <class Boundary>
  using Thread = ReplaceThread<T, N, Boundary, false, Coefficients>;

  Coefficients of;
};
} // namespace vpatchdg::patch
