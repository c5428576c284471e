/* One colour of the patch smoother on patches that are alike, in 3D: x = A_j^-1 (b - what the neighbours' traces add). All these patches
   have the same 1D tables, which are their own mirror images; only their sides on the domain boundary differ.

   F and B take a line to the eigen-coordinates of its direction and back (fdm.cuh). A thread holds whole lines in registers, in every
   step those of one direction:

       b, traces ==> z: b - traces, F --> y: F --> x: F, divide, B --> y: B --> z: B ==> x

       ==> from or to the vectors        --> through shared memory, where lines stay in place (patchshape.cuh draws it)

   `divide` is by the sums of the three directions' eigenvalues. A thread begins all its loads from the vectors before it waits for the
   first of them. */
#pragma once
#include "load.cuh"
#include "fdm.cuh"
#include "patchshape.cuh"

/* Reads a value of x. If AGAIN, another block may have written it earlier in the same launch, so it must not come from the read-only
   cache. */
template <bool AGAIN, class T>
__device__ __forceinline__ T Value(const T *p)
{
  return AGAIN ? LoadNow(p) : __ldg(p);
}

/* The pair of traces at end `end` of a line of a neighbour's values: its two coefficients there in the thin basis, else value and slope. */
template <bool AGAIN, class T, int N>
__device__ __forceinline__ Pack<T, 2> TracePair(const PatchTables<T, N> &t, int end, const T *line, int step)
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
      pair.a[f] = t.trace[end][f][0] * u[0];
      UNROLL (int i = 1; i < nt; i++) pair.a[f] += t.trace[end][f][i] * u[i];
    }
  }
  return pair;
}

/* A thread of a patch, and the lines it holds. */
template <class T, int N, class Edges, bool AGAIN = false>
struct PatchThread {
  typedef Patch<T, N>   S;
  static constexpr bool inside = std::is_same<Edges, NoEdges>::value;
  static constexpr int  m = S::m, layer = S::layer, R = S::rounds;
  typedef Pack<T, R>    Lines;
  typedef Pack<T, 2>    Pair;

  const PatchTables<T, N> &t;
  const Edges             &edges;
  const T                 *table;          /* PatchTable */
  const int32_t           *cells;          /* PatchCells */
  const uint8_t           *covers;         /* PatchCovers */
  unsigned                 done;           /* colours that were swept before */
  T                       *x0, *x1;        /* the two buffers of x */
  T                       *values, *sides; /* shared memory of the patch: its planes, its traces */
  const T                **beyond;         /* [direction][side][4] shared: the values of the cells beyond the patch's sides */
  int                      me;             /* number of the thread in its patch */
  int                      kx, ky, kz;     /* 0: no side along this direction is on the boundary, 1: the lower one is, 2: the upper one */
  T                        v[R][m];        /* its lines */

  static __device__ __forceinline__ void Sync()
  {
    if (S::warp) __syncwarp();
    else __syncthreads();
  }
  __device__ __forceinline__ int Line(int r) const
  {
    return me + r * S::threads;
  }
  /* Line l along z starts at place l % layer of the patch's cell l / layer; along y and x, at the digits of l. */
  __device__ __forceinline__ int LineZ(int r) const
  {
    return S::adjacent ? R * me + r : Line(r);
  }
  __device__ __forceinline__ T *LineY(int r) const
  {
    const int l = Line(r);
    return values + l / S::y.place % N + l / S::y.cell % 2 * layer + l / S::y.z % m * S::sz;
  }
  __device__ __forceinline__ T *LineX(int r) const
  {
    const int l = Line(r);
    return values + l / S::x.place % N * N + l / S::x.cell % 2 * 2 * layer + l / S::x.z % m * S::sz;
  }
  /* the values of cell h of PatchCells: the current ones, or, if `other`, where its new ones belong */
  __device__ __forceinline__ T *Cell(int h, bool other) const
  {
    T *x = BufferOf(__ldg(covers + h), done) != other ? x1 : x0;
    return x + (size_t)__ldg(cells + h) * S::values;
  }

  /* fills `beyond` */
  __device__ __forceinline__ void FindBeyond()
  {
#pragma unroll 1
    for (int h = me; h < 24; h += S::threads)
      beyond[h] = inside || __ldg(cells + 8 + h) >= 0 ? Cell(8 + h, false) : table + PatchTable<N>::zero;
    Sync();
  }

  /* Ensures: v holds the z lines of b, `sides` the traces beyond the sides in x and y, `end` those beyond both ends of the z lines. For its
     line l = i + m j a thread reads the traces of the x sides at (y, z) = (i, j) and of the y sides at (x, z) = (i, j). */
  __device__ __forceinline__ void Load(const T *b, Pair (&end)[R][2])
  {
    Pair px[R][2], py[R][2];

    UNROLL (int r = 0; r < R; r++) {
      const int l = Line(r), i = l % m, j = l / m, ci = i >= N, cj = j >= N, q = ci + 2 * cj, at = (j - cj * N) * layer;
      UNROLL (int s = 0; s < 2; s++) {
        px[r][s] = TracePair<AGAIN, T, N>(t, 1 - s, beyond[4 * s + q] + at + (i - ci * N) * N, 1);
        py[r][s] = TracePair<AGAIN, T, N>(t, 1 - s, beyond[8 + 4 * s + q] + at + i - ci * N, N);
      }
    }
    LoadB(b);
    UNROLL (int r = 0; r < R; r++) {
      const int l = LineZ(r);
      UNROLL (int s = 0; s < 2; s++) end[r][s] = TracePair<AGAIN, T, N>(t, 1 - s, beyond[16 + 4 * s + l / layer] + l % layer, layer);
    }
    UNROLL (int r = 0; r < R; r++) {
      const int l = Line(r);
      UNROLL (int s = 0; s < 2; s++) {
        *(Pair *)(sides + (s * m + l % m) * S::sf + l / m * 2) = px[r][s];
        *(Pair *)(sides + ((2 + s) * m + l % m) * S::sf + l / m * 2) = py[r][s];
      }
    }
    Sync();
  }
  /* v = the z lines of b */
  __device__ __forceinline__ void LoadB(const T *b)
  {
    UNROLL (int r = 0; r < (S::adjacent ? 1 : R); r++) {
      const int l = LineZ(r);
      UNROLL (int c = 0; c < 2; c++) {
        const T *from = b + (size_t)__ldg(cells + l / layer + 4 * c) * S::values + l % layer;
        UNROLL (int i = 0; i < N; i++) {
          if constexpr (S::adjacent) {
            const Lines lines = LoadNow((const Lines *)(from + i * layer));
            UNROLL (int k = 0; k < R; k++) v[k][c * N + i] = lines.a[k];
          } else v[r][c * N + i] = LoadNow(from + i * layer);
        }
      }
    }
  }

  /* v -= what the traces beyond all six sides add to the z lines */
  __device__ __forceinline__ void SubtractTraces(const Pair (&end)[R][2])
  {
    constexpr int W = 16 / sizeof(T) / 2; /* pairs at once */

    UNROLL (int r = 0; r < R; r++) {
      const int l = LineZ(r), ix = l % N, iy = l / N % N, cx = l / layer & 1, cy = l / layer >> 1;
      const int l0 = S::adjacent ? LineZ(0) : l, y = (l0 / layer >> 1) * N + l0 / N % N; /* adjacent lines have the same y and load once */
      const T  *gx = table + PatchTable<N>::add + (cx * N + ix) * 2, *gy = table + PatchTable<N>::add + ((2 + cy) * N + iy) * 2;
      const T   gx0 = __ldg(gx), gx1 = __ldg(gx + 1), gy0 = __ldg(gy), gy1 = __ldg(gy + 1);
      const T  *hx = sides + ((l0 / layer & 1) * m + y) * S::sf, *hy = sides + ((2 + cy) * m + cx * N + ix) * S::sf;
      UNROLL (int i = 0; i < m; i += W) {
        const Pack<T, 2 *W> px = *(const Pack<T, 2 * W> *)(hx + 2 * i), py = *(const Pack<T, 2 * W> *)(hy + 2 * i);
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
          v[r][i] -= t.add[0][f][i] * end[r][0].a[f];
          v[r][N + i] -= t.add[1][f][i] * end[r][1].a[f];
        }
      }
    }
  }

  /* F along z, to shared memory */
  __device__ __forceinline__ void ForwardZ()
  {
    if constexpr (S::adjacent && inside) {
      ForwardInside<2>(t, v);
      UNROLL (int i = 0; i < m; i++) {
        Lines lines;
        UNROLL (int r = 0; r < R; r++) lines.a[r] = v[r][i];
        *(Lines *)(values + LineZ(0) + S::sz * i) = lines;
      }
    } else ToModes<2>(t, edges, kz, v, [=](int r, int i, T w) { values[LineZ(r) + S::sz * i] = w; });
    Sync();
  }
  __device__ __forceinline__ void ReadY()
  {
    UNROLL (int r = 0; r < R; r++) {
      UNROLL (int i = 0; i < m; i++) v[r][i] = LineY(r)[i % N * N + i / N * 2 * layer];
    }
  }
  __device__ __forceinline__ void ReadX()
  {
    typedef Pack<T, S::width> P;

    UNROLL (int r = 0; r < R; r++) {
      UNROLL (int i = 0; i < m; i += S::width) {
        const P p = *(const P *)(LineX(r) + i % N + i / N * layer);
        UNROLL (int k = 0; k < S::width; k++) v[r][i + k] = p.a[k];
      }
    }
  }
  __device__ __forceinline__ void WriteX() const
  {
    typedef Pack<T, S::width> P;

    UNROLL (int r = 0; r < R; r++) {
      UNROLL (int i = 0; i < m; i += S::width) {
        P p;
        UNROLL (int k = 0; k < S::width; k++) p.a[k] = v[r][i + k];
        *(P *)(LineX(r) + i % N + i / N * layer) = p;
      }
    }
  }
  /* along x F, division by the sums of eigenvalues, and B, in place */
  __device__ __forceinline__ void SolveX()
  {
    auto write = [=](int r, int i, T w) { LineX(r)[i % N + i / N * layer] = w; };

    ReadX();
    if (!inside && kx) {
      ToModes<0>(t, edges, kx, v, write);
      ReadX();
    } else ForwardInside<0>(t, v);
    UNROLL (int r = 0; r < R; r++) {
      const int l = Line(r), y = l / S::x.place % N + l / S::x.cell % 2 * N, z = l / S::x.z % m;
      const T  *lambda = table + PatchTable<N>::lambda, rest = __ldg(lambda + (2 + !!ky) * m + y) + __ldg(lambda + (4 + !!kz) * m + z);
      UNROLL (int i = 0; i < m; i++) v[r][i] *= Reciprocal((inside || !kx ? t.lambda[i] : __ldg(lambda + m + i)) + rest);
    }
    if (!inside && kx) FromModes<0>(t, edges, kx, v, write);
    else {
      BackwardInside<0>(t, v);
      WriteX();
    }
    Sync();
  }
  __device__ __forceinline__ void ReadZ()
  {
    UNROLL (int i = 0; i < m; i++) {
      if constexpr (S::adjacent) {
        const Lines lines = *(const Lines *)(values + LineZ(0) + S::sz * i);
        UNROLL (int r = 0; r < R; r++) v[r][i] = lines.a[r];
      } else {
        UNROLL (int r = 0; r < R; r++) v[r][i] = values[LineZ(r) + S::sz * i];
      }
    }
  }
  /* B along z; where `active`, the result goes to the cells' other buffers */
  __device__ __forceinline__ void BackwardZ(bool active)
  {
    T *to[R][2];

    ReadZ();
    UNROLL (int r = 0; r < R; r++) {
      UNROLL (int c = 0; c < 2; c++) to[r][c] = Cell(LineZ(r) / layer + 4 * c, true) + LineZ(r) % layer;
    }
    if constexpr (S::adjacent && inside) {
      BackwardInside<2>(t, v);
      UNROLL (int i = 0; active && i < m; i++) {
        Lines lines;
        UNROLL (int r = 0; r < R; r++) lines.a[r] = v[r][i];
        *(Lines *)(to[0][i / N] + i % N * layer) = lines;
      }
    } else
      FromModes<2>(t, edges, kz, v, [=](int r, int i, T w) {
        if (active) (i < N ? to[r][0] : to[r][1])[i % N * layer] = w;
      });
  }
  __device__ __forceinline__ void Solve(const T *b, bool active)
  {
    auto write = [=](int r, int i, T w) { LineY(r)[i % N * N + i / N * 2 * layer] = w; };
    Pair end[R][2];

    FindBeyond();
    Load(b, end);
    SubtractTraces(end);
    ForwardZ();
    ReadY();
    ToModes<1>(t, edges, ky, v, write);
    Sync();
    SolveX();
    ReadY();
    FromModes<1>(t, edges, ky, v, write);
    Sync();
    BackwardZ(active);
  }
};

/* what a launch works on: the vectors, and its patches in launch order */
template <class T>
struct PatchWork {
  const T           *table, *b;
  T                 *x0, *x1;
  const PatchCells  *cells;
  const PatchCovers *covers;
  const uint8_t     *kinds; /* 1 + kx + 4 ky + 16 kz of PatchThread; unread where no patch is at the boundary */
};

/* Solves the patches [first, first + Patch::patches), but none from `last` on, whose threads repeat the last patch and write nothing.
   Requires: all threads of the block call. */
template <bool AGAIN, class T, int N, class Edges>
__device__ __forceinline__ void SolvePatches(const PatchTables<T, N> &t, const Edges &edges, const PatchWork<T> &w, unsigned done,
                                             int32_t first, int32_t last)
{
  typedef Patch<T, N> S;
  extern __shared__ __align__(16) unsigned char shared[];
  const int                                     slot = threadIdx.x / S::threads;
  const int32_t                                 index = first + slot, at = index < last ? index : last - 1;
  const int                                     kind = std::is_same<Edges, NoEdges>::value ? 0 : w.kinds[at] - 1;

  PatchThread<T, N, Edges, AGAIN> thread = {t,
                                            edges,
                                            w.table,
                                            w.cells[at].cell,
                                            w.covers[at].cover,
                                            done,
                                            w.x0,
                                            w.x1,
                                            (T *)shared + slot * S::stride,
                                            (T *)shared + S::beyond + slot * S::sides,
                                            (const T **)(shared + S::pointers) + slot * 24,
                                            (int)(threadIdx.x % S::threads),
                                            kind & 3,
                                            kind >> 2 & 3,
                                            kind >> 4};
  thread.Solve(w.b, index < last);
}

template <class T, int N, class Edges>
__global__ void __launch_bounds__(Patch<T, N>::block, Patch<T, N>::least)
  ReplacePatches(const __grid_constant__ PatchTables<T, N> t, const __grid_constant__ Edges edges, const __grid_constant__ PatchWork<T> w,
                 unsigned done, int32_t count)
{
  SolvePatches<false>(t, edges, w, done, blockIdx.x * Patch<T, N>::patches, count);
}

/* patches of one sort in launch order, on the device */
struct PatchList {
  int     n = 0;
  VpArray cells, covers, kinds;
};

template <class T>
static PatchWork<T> WorkOn(const PatchList &list, const VpArray &table, const void *b, void *const x[2])
{
  return {
    (const T *)table.p,           (const T *)b, (T *)x[0], (T *)x[1], (const PatchCells *)list.cells.p, (const PatchCovers *)list.covers.p,
    (const uint8_t *)list.kinds.p};
}

template <class T, int N, class Edges>
static PetscErrorCode LaunchPatches(const PatchTables<T, N> &tables, const Edges &edges, const PatchWork<T> &w, unsigned done, int n,
                                    cudaStream_t stream)
{
  typedef Patch<T, N> S;
  auto                kernel = ReplacePatches<T, N, Edges>;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  VpCudaCall(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::bytes));
  kernel<<<VpBlocks(n, S::patches), S::block, S::bytes, stream>>>(tables, edges, w, done, n);
  VpCudaLaunched("sweep of like patches");
  PetscFunctionReturn(PETSC_SUCCESS);
}
