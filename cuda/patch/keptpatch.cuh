/* The kernel of patch.cuh for spaces that lack functions at the patch's sides: `dirichlet` and `clamped`. Such a solve leaves some of the
   patch's old values as they are, but needs no more of them than traces of the patch's own cells at its sides, where the others need
   neighbours.

   Along one direction, let S be the modes of the space and K those functions, orthogonal to S, in which a trace t that S lacks is 1 and the
   others 0. So t(S) = 0, and any x is S (F x) + K t(x). With F L S = lambda F S the residual in eigen-coordinates is

       F (b - L x) = F (b - (L K) t(x)) - lambda F x

   and in all directions, where x + S (F (b - A x)) / sum of lambda is the new value, F x cancels with what is left of x:

       x_new = (x - S F x) + S (F (b - sum of (L K) t(x) over directions)) / sum of lambda

   x - S F x also has only traces in it. With w = Kx tx + Ky (ty - ty(Kx tx)), what x and y leave, it is w + Kz (tz - tz(w)):

         ty                K t of one side, n = 4
       +----+----+         |
     tx|    |    |tx       | *             1 at its side; it lives on one cell, for there is nothing on the other
       +----+----+         | *  *
       |    |    |         +-*--*--*--*-|------------
       +----+----+           cell 0        cell 1
         ty

   Where the neighbours' values count (`dirichlet` with exact residuals), they are a second trace, for which K = 0. On the domain's boundary
   the space lacks nothing: there K and t are 0, and traces are read from a cell of zeros. */
#pragma once
#include "patchthread.cuh"

/* Where shared memory has TRACES traces a side: those of x and y sides, of z sides, then the pointers. */
template <class T, int N, int TRACES, class S>
struct KeptShape {
  static constexpr int    m = S::m, wide = Wide<T>::n;                        /* numbers at once */
  static constexpr int    sf = (RoundUp(TRACES * m, wide) / wide | 1) * wide; /* from line to line of traces, in odd steps of Wides */
  static constexpr int    ends = 4 * m * sf;                                  /* where those of z begin, a thread's own each */
  static constexpr int    traces = ends + RoundUp(2 * m * m * TRACES, wide);  /* values of a patch's traces */
  static constexpr size_t pointers = (S::sides + (size_t)S::patches * traces) * sizeof(T); /* where pointers begin */
  static constexpr size_t bytes = pointers + (size_t)S::patches * PATCH_SIDES * TRACES * sizeof(void *);
};

/* The numbers of these traces. In the thin basis a trace is a coefficient. */
template <class T, int N, int TRACES>
struct KeptTables {
  static constexpr int m = 2 * N, nt = VpThinLayers(N, 3);
  T                    add[2][TRACES][m];    /* [side] L K in z */
  T                    keep[2][TRACES][N];   /* [side] K, in the cell at that side */
  T                    trace[2][TRACES][nt]; /* [side] from coefficients to traces, where they are not the same */
  int                  beyond;               /* is trace 1 that of the cell beyond the side? Else the second one of the patch's own cell */
  const T             *sides;                /* L K in x and y, [x, y][side][m][TRACES]; then K, [m][TRACES] */
};

template <class T, int N, int TRACES, class Boundary>
struct KeptThread : PatchThread<T, N, 1, Boundary, false> {
  typedef PatchThread<T, N, 1, Boundary, false> Thread;
  typedef typename Thread::S                    S;
  typedef KeptShape<T, N, TRACES, S>            Shape;
  typedef SortTail<N, TRACES>                   Tail;
  typedef typename Thread::LinePack             LinePack;
  typedef Pack<T, TRACES>                       Traces;
  using Thread::inside, Thread::m, Thread::layer, Thread::R;
  using Thread::ky, Thread::kz, Thread::Sync, Thread::Line, Thread::LineZ, Thread::LineY, Thread::Cell;
  using Thread::t, Thread::boundary, Thread::table, Thread::cells, Thread::sides, Thread::around, Thread::values, Thread::me, Thread::v;
  static constexpr bool thin = VpThinLayers(N, 3) < VpDenseLayers(N);

  const KeptTables<T, N, TRACES> &k;

  __device__ __forceinline__ KeptThread(const typename Thread::Tables &tables, const KeptTables<T, N, TRACES> &kept,
                                        const Boundary &boundary, const PatchWork<T> &w, unsigned done, int32_t at, unsigned char *shared)
      : Thread(tables, boundary, w, done, at, shared, Shape::traces, Shape::pointers, PATCH_SIDES * TRACES), k(kept)
  {
  }

  /* Where the numbers [TRACES] are that side s in direction D adds to value i of a line, L K, and where those of K are; the same along z
     for values that the compiler knows */
  template <int D>
  __device__ __forceinline__ const T *Add(int s, int i) const
  {
    if constexpr (Thread::Of::sorted) return t.tail[D] - Tail::LK + (s * m + i) * TRACES;
    else return k.sides + ((2 * D + s) * m + i) * TRACES;
  }
  template <int D>
  __device__ __forceinline__ const T *Kept(int i) const
  {
    if constexpr (Thread::Of::sorted) return t.tail[D] - Tail::K + i * TRACES;
    else return k.sides + 4 * m * TRACES + i * TRACES;
  }
  __device__ __forceinline__ T AddZ(int s, int f, int i) const
  {
    if constexpr (Thread::Of::sorted) return t.template Tail<2>(Tail::LK, (s * m + i) * TRACES + f);
    else return k.add[s][f][i];
  }
  __device__ __forceinline__ T KeptZ(int f, int i) const
  {
    if constexpr (Thread::Of::sorted) return t.template Tail<2>(Tail::K, i * TRACES + f);
    else return k.keep[i / N][f][i % N];
  }

  /* Ensures: `around` [trace] are the cells that have the sides' traces, from the first value on that makes a trace. */
  __device__ __forceinline__ void FindSides() const
  {
#pragma unroll 1
    for (int h = me; h < PATCH_SIDES * TRACES; h += S::threads) {
      const int          f = h / PATCH_SIDES, side = h % PATCH_SIDES;
      const PatchQuarter at = PatchQuarterOf(side);
      const int          own = PatchCellAt(at);
      const bool         beyond = f && k.beyond, upper = beyond ? !at.s : at.s;
      const int          place = beyond ? 0 : f, from = thin ? (upper ? N - 1 - place : place) * VpLineStride(at.d, N, layer) : 0;
      around[h] = inside || __ldg(cells + VP_PATCH_CELLS + side) >= 0 ? Cell(beyond ? VP_PATCH_CELLS + side : own, false) + from
                                                                      : table + PatchTable<N>::zero;
    }
    Sync();
  }
  /* the traces beside a line that starts at `at` in the cell `h` of `around`, on side s */
  __device__ __forceinline__ Traces Beside(int s, int h, int at, int step) const
  {
    Traces a;

    UNROLL (int f = 0; f < TRACES; f++) {
      const T *line = around[PATCH_SIDES * f + h] + at;
      a.a[f] = __ldg(line) * (thin ? T(1) : k.trace[s][f][0]);
      UNROLL (int i = 1; i < (thin ? 1 : N); i++) a.a[f] += k.trace[s][f][i] * __ldg(line + i * step);
    }
    return a;
  }

  /* where the traces at end s of the z line r are kept */
  __device__ __forceinline__ Traces *End(int r, int s) const
  {
    return (Traces *)(sides + Shape::ends) + (r * 2 + s) * S::threads + me;
  }
  /* Ensures: v holds the z lines of b, `sides` the traces on all sides, `end` those at both ends of the z lines. For its line
     l = i + m j a thread reads the traces of the x sides at (y, z) = (i, j) and of the y sides at (x, z) = (i, j). */
  __device__ __forceinline__ void Load(const T *b, Traces (&end)[R][2])
  {
    Traces px[R][2], py[R][2];

    UNROLL (int r = 0; r < R; r++) {
      const int l = Line(r), i = l % m, j = l / m, ci = i >= N, cj = j >= N, q = ci + 2 * cj, at = (j - cj * N) * layer;
      UNROLL (int s = 0; s < 2; s++) {
        px[r][s] = Beside(s, PatchSideAt(0, s, q), at + (i - ci * N) * N, 1);
        py[r][s] = Beside(s, PatchSideAt(1, s, q), at + i - ci * N, N);
      }
    }
    this->LoadB(b);
    UNROLL (int r = 0; r < R; r++) {
      const int l = Line(r);
      UNROLL (int s = 0; s < 2; s++) {
        *(Traces *)(sides + (s * m + l % m) * Shape::sf + l / m * TRACES) = px[r][s];
        *(Traces *)(sides + ((2 + s) * m + l % m) * Shape::sf + l / m * TRACES) = py[r][s];
      }
    }
    UNROLL (int r = 0; r < R; r++) {
      UNROLL (int s = 0; s < 2; s++) *End(r, s) = end[r][s] = Beside(s, PatchSideAt(2, s, LineZ(r) / layer), LineZ(r) % layer, layer);
    }
    Sync();
  }

  /* v -= L K t of all sides, on the z lines */
  __device__ __forceinline__ void SubtractSides(const Traces (&end)[R][2])
  {
    constexpr int               W = Shape::wide / TRACES; /* places at once */
    typedef Pack<T, W * TRACES> P;

    UNROLL (int r = 0; r < R; r++) {
      const int l = LineZ(r), x = l % N + (l / layer & 1) * N, y = (l / layer >> 1) * N + l / N % N;
      UNROLL (int s = 0; s < 2; s++) {
        const T *gx = Add<0>(s, x), *gy = Add<1>(s, y);
        const T *hx = sides + (s * m + y) * Shape::sf, *hy = sides + ((2 + s) * m + x) * Shape::sf;
        Traces   ax, ay;
        UNROLL (int f = 0; f < TRACES; f++) {
          ax.a[f] = __ldg(gx + f);
          ay.a[f] = __ldg(gy + f);
        }
        UNROLL (int i = 0; i < m; i += W) {
          const P px = *(const P *)(hx + TRACES * i), py = *(const P *)(hy + TRACES * i);
          UNROLL (int j = 0; j < W * TRACES && i + j / TRACES < m; j++) {
            v[r][i + j / TRACES] -= ax.a[j % TRACES] * px.a[j];
            v[r][i + j / TRACES] -= ay.a[j % TRACES] * py.a[j];
          }
        }
      }
    }
    UNROLL (int i = 0; i < m; i++) {
      UNROLL (int f = 0; f < 2 * TRACES; f++) {
        UNROLL (int r = 0; r < R; r++) v[r][i] -= AddZ(f / TRACES, f % TRACES, i) * end[r][f / TRACES].a[f % TRACES];
      }
    }
  }

  /* v += x - S F x on the z lines */
  __device__ __forceinline__ void AddKept()
  {
    constexpr int               W = Shape::wide / TRACES, C = thin ? TRACES : N;
    typedef Pack<T, W * TRACES> P;

    UNROLL (int r = 0; r < R; r++) {
      const int l = LineZ(r), cx = l / layer & 1, cy = l / layer >> 1, x = l % N + cx * N, y = l / N % N + cy * N;
      const T  *keepx = Kept<0>(x), *keepy = Kept<1>(y), *plane = sides + cx * m * Shape::sf;
      const T  *hx = plane + y * Shape::sf, *hy = sides + ((2 + cy) * m + x) * Shape::sf;
      T         Kx[TRACES], Ky[TRACES], Kxy[C][TRACES], a[2][TRACES]; /* a = tz - tz(w) */

      UNROLL (int f = 0; f < TRACES; f++) {
        Kx[f] = __ldg(keepx + f);
        Ky[f] = !inside && ky == LIES_LOWER + cy ? T(0) : __ldg(keepy + f);
        UNROLL (int s = 0; s < 2; s++) a[s][f] = End(r, s)->a[f];
      }
      UNROLL (int c = 0; c < C; c++) {
        T of = thin ? Ky[thin ? c : 0] : T(0); /* ty of value c along y, times Ky */
        UNROLL (int f = 0; f < (thin ? 0 : TRACES); f++) of += Ky[f] * k.trace[cy][f][thin ? 0 : c];
        UNROLL (int f = 0; f < TRACES; f++) Kxy[c][f] = of * Kx[f];
      }
      UNROLL (int i = 0; i < m; i += W) {
        const P px = *(const P *)(hx + TRACES * i), py = *(const P *)(hy + TRACES * i);
        P       corner[C];
        UNROLL (int c = 0; c < C; c++)
          corner[c] = *(const P *)(plane + (thin ? (cy ? m - 1 - c : c) : cy * N + c) * Shape::sf + TRACES * i);
        UNROLL (int q = i; q < i + W && q < m; q++) {
          T w = T(0);
          UNROLL (int f = 0; f < TRACES; f++) {
            const int at = (q - i) * TRACES + f;
            w += Kx[f] * px.a[at];
            w += Ky[f] * py.a[at];
            UNROLL (int c = 0; c < C; c++) w -= Kxy[c][f] * corner[c].a[at];
          }
          v[r][q] += w;
          UNROLL (int f = 0; f < TRACES; f++) {
            const int s = q / N;
            if (!inside && kz == LIES_LOWER + s) continue;
            if (!thin) a[s][f] -= k.trace[s][f][thin ? 0 : q % N] * w;
            else if (q == (s ? m - 1 - f : f)) a[s][f] -= w;
          }
        }
      }
      UNROLL (int q = 0; q < m; q++) {
        UNROLL (int f = 0; f < TRACES; f++) v[r][q] += KeptZ(f, q) * a[q / N][f];
      }
    }
  }
  /* B along z; where `active`, the result goes to the cells' other buffers */
  __device__ __forceinline__ void BackwardZ(bool active)
  {
    this->ReadBackwardZ();
    AddKept();
    UNROLL (int r = 0; r < (S::adjacent ? 1 : R); r++) {
      UNROLL (int c = 0; c < 2; c++) {
        T *to = Cell(LineZ(r) / layer + 4 * c, true) + LineZ(r) % layer;
        UNROLL (int i = 0; active && i < N; i++) {
          if constexpr (S::adjacent) {
            LinePack lines;
            UNROLL (int q = 0; q < R; q++) lines.a[q] = v[q][c * N + i];
            *(LinePack *)(to + i * layer) = lines;
          } else to[i * layer] = v[r][c * N + i];
        }
      }
    }
  }
  __device__ __forceinline__ void Solve(const T *b, bool active)
  {
    auto   write = [=](int r, int i, T w) { LineY(r)[i % N * N + i / N * 2 * layer] = w; };
    Traces end[R][2];

    FindSides();
    Load(b, end);
    SubtractSides(end);
    this->ForwardZ();
    this->ReadY();
    ToModes<1, 1>(t, boundary, ky, v, write);
    Sync();
    this->SolveX();
    this->ReadY();
    FromModes<1, 1>(t, boundary, ky, v, write);
    Sync();
    BackwardZ(active);
  }
};

template <class T, int N, int TRACES, class Boundary>
__global__ void __launch_bounds__(Patch<T, N>::block, Patch<T, N>::least)
  KeepPatches(const __grid_constant__ PatchTables<T, N> t, const __grid_constant__ KeptTables<T, N, TRACES> kept,
              const __grid_constant__ Boundary boundary, const __grid_constant__ PatchWork<T> w, unsigned done, int32_t count)
{
  typedef Patch<T, N> S;
  extern __shared__ __align__(VP_WIDE_BYTES) unsigned char shared[];
  const int32_t                                            index = blockIdx.x * S::patches + threadIdx.x / S::threads;

  KeptThread<T, N, TRACES, Boundary> thread(t, kept, boundary, w, done, index < count ? index : count - 1, shared);
  thread.Solve(w.b, index < count);
}

/* the same of sorted patches, block by block */
template <class T, int N, int TRACES, bool FULL>
__global__ void __launch_bounds__(Patch<T, N, SORTED_PATCHES>::block, Patch<T, N, SORTED_PATCHES>::least)
  KeepSorted(const __grid_constant__ SortTables<T, N> all, const __grid_constant__ Sorts<FULL> sorts,
             const __grid_constant__ KeptTables<T, N, TRACES> kept, const __grid_constant__ PatchWork<T> w, unsigned done)
{
  typedef Patch<T, N, SORTED_PATCHES> S;
  extern __shared__ __align__(VP_WIDE_BYTES) unsigned char shared[];
  const SortBlock                                          block = sorts.block[blockIdx.x];
  const int                                                slot = threadIdx.x / S::threads, n = block.patches % SORT_MOST;
  const SortView<T, N> t(all, w.table, block, SortTail<N, TRACES>::LK, shared + KeptShape<T, N, TRACES, S>::bytes);

  KeptThread<T, N, TRACES, Sorts<FULL>> thread(t, kept, sorts, w, done, block.patches / SORT_MOST + (slot < n ? slot : 0), shared);
  thread.Solve(w.b, slot < n);
}
