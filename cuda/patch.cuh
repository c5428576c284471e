/* x = A_j^-1 (b - what the neighbours' traces add) on patches that are alike and their own mirror images, 3D, but for sides on the domain
   boundary. In place in shared memory: z, y, x to eigen-coordinates, scaling, x, y, z back; a thread holds whole lines in registers. Mode
   2j is even, 2j+1 odd, so sums and differences of the two cells' mirrored values halve the work. A direction in which the patch touches
   the boundary takes a full matrix, made for the lower side; at the upper side the lines are turned around. */
#pragma once
#include "sweep.cuh"

template <class T, int N>
struct Patch {
  static constexpr int  m = 2 * N, lines = m * m, values = N * N * N;
  static constexpr bool single = sizeof(T) == 4, warp = N == 2 || N == 4; /* warp: do warps hold whole patches? */
  static constexpr int  rounds = single ? ByN(N, 2, 2, 2, 2, 1, 1, 2, 2) : ByN(N, 2, 2, 2, 2, 1, 1, 1, 1); /* lines of a thread */
  static constexpr int  threads = lines / rounds;                                                          /* of a patch */
  static constexpr int  patches = ByN(N, 16, 7, 4, 3, 1, 1, 1, 1);                                         /* of a block */
  static constexpr int  block = threads * patches, resident = single ? ByN(N, 1024, 1024, 1024, 900, 1024, 1024, 768, 768) : 384;
  static constexpr int  least = Max(1, resident / block); /* blocks of a multiprocessor, which bounds the registers */
  /* how many values along x are read at once, and strides in shared memory: nearly free of bank conflicts */
  static constexpr int width = single ? ByN(N, 1, 2, 4, 2, 4, 2, 4, 2) : 2;
  static constexpr int sy = single ? ByN(N, 5, 6, 8, 10, 12, 14, 20, 18) : ByN(N, 4, 6, 10, 10, 14, 14, 18, 22);
  static constexpr int sz = single ? ByN(N, 20, 36, 72, 106, 172, 206, 336, 338) : ByN(N, 20, 38, 88, 106, 172, 206, 288, 402);
  /* pairs of traces beyond the four sides in x and y: [direction][side][line][z] */
  static constexpr int    ahead = (1 << 21) / (2 * 8 * values * (int)sizeof(T)); /* patches ahead whose values are called into L2 */
  static constexpr int    sf = 2 * m + (2 * m % 8 ? 0 : 16 / (int)sizeof(T)), sides = 4 * m * sf;
  static constexpr int    beyond = (m * sz + 3) / 4 * 4, ends = beyond + sides; /* then 24 pointers */
  static constexpr size_t bytes = ((size_t)ends * sizeof(T) + 15) / 16 * 16 + 24 * sizeof(void *);
};

/* on the device: eigenvalues [direction][inside, at the boundary][2n], what a pair of traces beyond a side in x or y adds, [x,
   y][side][n][2], and a cell of zeros for beyond the boundary */
template <int N>
struct PatchTable {
  static constexpr int lambda = 0, add = 3 * 2 * 2 * N, zero = add + 2 * 2 * N * 2, size = zero + N * N * N;
};

/* constants, a kernel parameter. A pair of traces is the neighbour's two coefficients in the thin basis, else value and slope. */
template <class T, int N>
struct PatchTables {
  static constexpr int m = 2 * N, nt = Thin(N);
  T                    F[3][2][N * N], B[3][2][N * N]; /* [direction][even, odd]: F[mode][i], B[i][mode] of the first cell */
  T                    add[2][2][N];                   /* z: [side][of the pair][n] */
  T                    lambda[m];                      /* x */
  T                    trace[2][2][nt];                /* [end][value, slope] */
  int                  same[3]; /* the direction that has the matrices: 0 for all where all are equal, which the constant cache likes */
};
template <class T, int N>
struct EdgeTables {
  T F[3][4 * N * N], B[3][4 * N * N]; /* [direction]: [mode][i], [i][mode] of patches at the lower boundary */
};
struct NoEdges {};

/* a patch as its kernel wants it: its 8 cells, then the cells beyond its sides, 4 of a side, x-, x+, .., z+ (or VP_DIRICHLET, VP_NEUMANN)
 */
struct PatchCells {
  int32_t cell[32];
};
struct PatchCovers {
  uint8_t cover[32]; /* of those */
};

template <class T, int n>
struct alignas(n * sizeof(T)) Pack {
  T a[n];
};

/* of R lines at once, which share the constants */
template <class T, int N, int R>
__device__ __forceinline__ void Forward(const T (&F)[2][N * N], T (&v)[R][2 * N])
{
  typedef Mirror<N, Thin(N)> Map;
  T                          s[R][N], d[R][N];

  UNROLL for (int r = 0; r < R; r++) {
    UNROLL for (int i = 0; i < N; i++) {
      const T w = Map::sign(i) < 0 ? -v[r][N + Map::index(i)] : v[r][N + Map::index(i)];
      s[r][i] = v[r][i] + w;
      d[r][i] = v[r][i] - w;
    }
  }
  UNROLL for (int j = 0; j < N; j++) {
    UNROLL for (int i = 0; i < N; i++) {
      UNROLL for (int r = 0; r < R; r++) v[r][2 * j] = (i ? v[r][2 * j] : T(0)) + F[0][j * N + i] * s[r][i];
    }
  }
  UNROLL for (int j = 0; j < N; j++) {
    UNROLL for (int i = 0; i < N; i++) {
      UNROLL for (int r = 0; r < R; r++) v[r][2 * j + 1] = (i ? v[r][2 * j + 1] : T(0)) + F[1][j * N + i] * d[r][i];
    }
  }
}

template <class T, int N, int R>
__device__ __forceinline__ void Backward(const T (&B)[2][N * N], T (&v)[R][2 * N])
{
  typedef Mirror<N, Thin(N)> Map;
  T                          even[R][N], odd[R][N];

  UNROLL for (int i = 0; i < N; i++) {
    UNROLL for (int j = 0; j < N; j++) {
      UNROLL for (int r = 0; r < R; r++) even[r][i] = (j ? even[r][i] : T(0)) + B[0][i * N + j] * v[r][2 * j];
    }
  }
  UNROLL for (int i = 0; i < N; i++) {
    UNROLL for (int j = 0; j < N; j++) {
      UNROLL for (int r = 0; r < R; r++) odd[r][i] = (j ? odd[r][i] : T(0)) + B[1][i * N + j] * v[r][2 * j + 1];
    }
  }
  UNROLL for (int r = 0; r < R; r++) {
    UNROLL for (int i = 0; i < N; i++) {
      v[r][i] = even[r][i] + odd[r][i];
      v[r][N + Map::index(i)] = Map::sign(i) < 0 ? odd[r][i] - even[r][i] : even[r][i] - odd[r][i];
    }
  }
}

/* v mirrored about the patch's middle */
template <class T, int N, int R>
__device__ __forceinline__ void TurnAround(T (&v)[R][2 * N])
{
  typedef Mirror<N, Thin(N)> Map;

  UNROLL for (int r = 0; r < R; r++) {
    UNROLL for (int i = 0; i < N; i++) {
      const T a = v[r][i], b = v[r][N + Map::index(i)];
      v[r][i] = Map::sign(i) < 0 ? -b : b;
      v[r][N + Map::index(i)] = Map::sign(i) < 0 ? -a : a;
    }
  }
}

template <class T, int N, int R>
__device__ __forceinline__ void Full(const T (&M)[4 * N * N], T (&v)[R][2 * N])
{
  T w[R][2 * N];

  UNROLL for (int i = 0; i < 2 * N; i++) {
    UNROLL for (int j = 0; j < 2 * N; j++) {
      UNROLL for (int r = 0; r < R; r++) w[r][i] = (j ? w[r][i] : T(0)) + M[i * 2 * N + j] * v[r][j];
    }
  }
  UNROLL for (int r = 0; r < R; r++) {
    UNROLL for (int i = 0; i < 2 * N; i++) v[r][i] = w[r][i];
  }
}

/* lines along D to eigen-coordinates, and back; kind: 0 inside, 1 and 2 at the lower and upper boundary */
template <int D, class T, int N, int R>
__device__ __forceinline__ void ToModes(const PatchTables<T, N> &t, const NoEdges &, int, T (&v)[R][2 * N])
{
  Forward<T, N, R>(t.F[t.same[D]], v);
}
template <int D, class T, int N, int R>
__device__ __forceinline__ void FromModes(const PatchTables<T, N> &t, const NoEdges &, int, T (&v)[R][2 * N])
{
  Backward<T, N, R>(t.B[t.same[D]], v);
}
template <int D, class T, int N, int R>
__device__ __forceinline__ void ToModes(const PatchTables<T, N> &t, const EdgeTables<T, N> &e, int kind, T (&v)[R][2 * N])
{
  if (kind) {
    if (kind == 2) TurnAround<T, N, R>(v);
    Full<T, N, R>(e.F[D], v);
  } else
    Forward<T, N, R>(t.F[t.same[D]], v);
}
template <int D, class T, int N, int R>
__device__ __forceinline__ void FromModes(const PatchTables<T, N> &t, const EdgeTables<T, N> &e, int kind, T (&v)[R][2 * N])
{
  if (kind) {
    Full<T, N, R>(e.B[D], v);
    if (kind == 2) TurnAround<T, N, R>(v);
  } else
    Backward<T, N, R>(t.B[t.same[D]], v);
}

__device__ __forceinline__ float Reciprocal(float a)
{
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}
/* two Newton steps from the hardware's 20 bits; a is a normal number */
__device__ __forceinline__ double Reciprocal(double a)
{
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  r = fma(r, fma(-a, r, 1.), r);
  return fma(r, fma(-a, r, 1.), r);
}

/* the two traces at end `end` of a line of a neighbour's values */
template <class T, int N>
__device__ __forceinline__ Pack<T, 2> TracePair(const PatchTables<T, N> &t, int end, const T *line, int step)
{
  constexpr int nt = Thin(N);
  Pack<T, 2>    pair;

  if (N >= 4) line += end * (N - 2) * step;
  if (nt == 2) {
    if (N % 2 == 0 && step == 1) return *(const Pack<T, 2> *)line;
    pair.a[0] = line[0];
    pair.a[1] = line[step];
  } else {
    T u[nt];
    UNROLL for (int i = 0; i < nt; i++) u[i] = line[i * step];
    UNROLL for (int f = 0; f < 2; f++) {
      pair.a[f] = t.trace[end][f][0] * u[0];
      UNROLL for (int i = 1; i < nt; i++) pair.a[f] += t.trace[end][f][i] * u[i];
    }
  }
  return pair;
}

template <class T, int N, class Edges>
__global__ void __launch_bounds__(Patch<T, N>::block, std::is_same<Edges, NoEdges>::value ? Patch<T, N>::least : 1)
  ReplacePatches(const __grid_constant__ PatchTables<T, N> t, const __grid_constant__ Edges edges, const T *table, unsigned done,
                 const T *b, T *x0, T *x1, const PatchCells *list, const PatchCovers *covers, const uint8_t *kinds, int32_t count)
{
  typedef Patch<T, N> S;
  constexpr bool      inside = std::is_same<Edges, NoEdges>::value;
  constexpr int       m = S::m, layer = N * N, R = S::rounds;
  extern __shared__ __align__(16) unsigned char shared[];
  const int                                     slot = threadIdx.x / S::threads, me = threadIdx.x % S::threads;
  const int32_t index = blockIdx.x * S::patches + slot, last = index < count ? index : count - 1, *cells = list[last].cell;
  const int     kind = inside ? 0 : kinds[last] - 1, kx = kind & 3, ky = kind >> 2 & 3, kz = kind >> 4;
  T            *values = (T *)(shared + slot * S::bytes), *sides = values + S::beyond;
  const T     **beyond = (const T **)(shared + slot * S::bytes + S::bytes - 24 * sizeof(void *));
  T             v[R][m], end[R][2][2];

  auto sync = [] {
    if (S::warp) __syncwarp();
    else
      __syncthreads();
  };

  /* where the values are beyond side s in direction d at the q-th cell of that side: beyond[8 d + 4 s + q] */
  for (int h = me; h < 24; h += S::threads) {
    const int32_t cell = __ldg(cells + 8 + h);
    const T      *x = __popc(__ldg(&covers[last].cover[8 + h]) & done) & 1 ? x1 : x0;
    beyond[h] = inside || cell >= 0 ? x + (size_t)cell * S::values : table + PatchTable<N>::zero;
  }
  /* z lines of b; cells side by side, lines of a cell by place */
  UNROLL for (int r = 0; r < R; r++) {
    const int l = me + r * S::threads, q = l / layer, at = l % layer;
    UNROLL for (int c = 0; c < 2; c++) {
      const T *from = b + (size_t)__ldg(cells + q + 4 * c) * S::values + at;
      UNROLL for (int i = 0; i < N; i++) v[r][c * N + i] = __ldg(from + i * layer);
    }
  }
  if (me < 8 && index + S::ahead < count) {
    const size_t cell = (size_t)__ldg(list[index + S::ahead].cell + me) * S::values;
    Prefetch<S::values * sizeof(T)>(b + cell);
    Prefetch<S::values * sizeof(T)>((__popc(__ldg(&covers[index + S::ahead].cover[me]) & done) & 1 ? x1 : x0) + cell);
  }
  sync();
  UNROLL for (int r = 0; r < R; r++) { /* traces in x (y fastest) and in y (x fastest) to shared memory, those in z to registers */
    const int l = me + r * S::threads, a = l % m, b = l / m, ca = a >= N, cb = b >= N, ia = a - ca * N, ib = b - cb * N, q = l / layer,
              at = l % layer;
    UNROLL for (int s = 0; s < 2; s++) {
      *(Pack<T, 2> *)(sides + (s * m + a) * S::sf + 2 * b) =
        TracePair<T, N>(t, 1 - s, beyond[4 * s + ca + 2 * cb] + ib * layer + ia * N, 1);
      *(Pack<T, 2> *)(sides + ((2 + s) * m + a) * S::sf + 2 * b) =
        TracePair<T, N>(t, 1 - s, beyond[8 + 4 * s + ca + 2 * cb] + ib * layer + ia, N);
      const Pack<T, 2> pair = TracePair<T, N>(t, 1 - s, beyond[16 + 4 * s + q] + at, layer);
      end[r][s][0] = pair.a[0];
      end[r][s][1] = pair.a[1];
    }
  }
  sync();
  UNROLL for (int r = 0; r < R; r++) {
    const int     l = me + r * S::threads, q = l / layer, ix = l % N, iy = l / N % N, cx = q & 1, cy = q >> 1;
    const T      *gx = table + PatchTable<N>::add + (cx * N + ix) * 2, *gy = table + PatchTable<N>::add + ((2 + cy) * N + iy) * 2;
    const T       gx0 = __ldg(gx), gx1 = __ldg(gx + 1), gy0 = __ldg(gy), gy1 = __ldg(gy + 1);
    const T      *hx = sides + (cx * m + cy * N + iy) * S::sf, *hy = sides + ((2 + cy) * m + cx * N + ix) * S::sf;
    constexpr int W = 16 / sizeof(T) / 2; /* pairs at once */
    UNROLL for (int i = 0; i < m; i += W) {
      const Pack<T, 2 * W> px = *(const Pack<T, 2 * W> *)(hx + 2 * i), py = *(const Pack<T, 2 * W> *)(hy + 2 * i);
      UNROLL for (int k = 0; k < W; k++) {
        v[r][i + k] -= gx0 * px.a[2 * k];
        v[r][i + k] -= gx1 * px.a[2 * k + 1];
        v[r][i + k] -= gy0 * py.a[2 * k];
        v[r][i + k] -= gy1 * py.a[2 * k + 1];
      }
    }
  }
  UNROLL for (int i = 0; i < N; i++) {
    UNROLL for (int f = 0; f < 2; f++) {
      UNROLL for (int r = 0; r < R; r++) {
        v[r][i] -= t.add[0][f][i] * end[r][0][f];
        v[r][N + i] -= t.add[1][f][i] * end[r][1][f];
      }
    }
  }
  ToModes<2>(t, edges, kz, v);
  UNROLL for (int r = 0; r < R; r++) {
    const int l = me + r * S::threads, q = l / layer;
    T        *to = values + (q & 1) * N + l % N + S::sy * ((q >> 1) * N + l / N % N);
    UNROLL for (int i = 0; i < m; i++) to[S::sz * i] = v[r][i];
  }
  sync();
  auto along_y = [&](auto transform) {
    UNROLL for (int r = 0; r < R; r++) {
      const int l = me + r * S::threads;
      const T  *line = values + l % m + l / m * S::sz;
      UNROLL for (int i = 0; i < m; i++) v[r][i] = line[i * S::sy];
    }
    transform();
    UNROLL for (int r = 0; r < R; r++) {
      const int l = me + r * S::threads;
      T        *line = values + l % m + l / m * S::sz;
      UNROLL for (int i = 0; i < m; i++) line[i * S::sy] = v[r][i];
    }
  };
  along_y([&] { ToModes<1>(t, edges, ky, v); });
  sync();
  typedef Pack<T, S::width> P;
  UNROLL for (int r = 0; r < R; r++) { /* x forward, scaling, x backward */
    const int l = me + r * S::threads;
    const P  *line = (const P *)(values + l % m * S::sy + l / m * S::sz);
    UNROLL for (int i = 0; i < m; i += S::width) {
      const P p = line[i / S::width];
      UNROLL for (int k = 0; k < S::width; k++) v[r][i + k] = p.a[k];
    }
  }
  ToModes<0>(t, edges, kx, v);
  UNROLL for (int r = 0; r < R; r++) {
    const int l = me + r * S::threads;
    const T  *lambda = table + PatchTable<N>::lambda;
    const T   rest = __ldg(lambda + (2 + !!ky) * m + l % m) + __ldg(lambda + (4 + !!kz) * m + l / m);
    UNROLL for (int i = 0; i < m; i++) v[r][i] *= Reciprocal((inside || !kx ? t.lambda[i] : __ldg(lambda + m + i)) + rest);
  }
  FromModes<0>(t, edges, kx, v);
  UNROLL for (int r = 0; r < R; r++) {
    const int l = me + r * S::threads;
    P        *line = (P *)(values + l % m * S::sy + l / m * S::sz);
    UNROLL for (int i = 0; i < m; i += S::width) {
      P p;
      UNROLL for (int k = 0; k < S::width; k++) p.a[k] = v[r][i + k];
      line[i / S::width] = p;
    }
  }
  sync();
  along_y([&] { FromModes<1>(t, edges, ky, v); });
  sync();
  UNROLL for (int r = 0; r < R; r++) {
    const int l = me + r * S::threads, q = l / layer;
    const T  *from = values + (q & 1) * N + l % N + S::sy * ((q >> 1) * N + l / N % N);
    UNROLL for (int i = 0; i < m; i++) v[r][i] = from[S::sz * i];
  }
  FromModes<2>(t, edges, kz, v);
  UNROLL for (int r = 0; r < R; r++) {
    const int l = me + r * S::threads, q = l / layer, at = l % layer;
    UNROLL for (int c = 0; c < 2; c++) {
      const T *x = __popc(__ldg(&covers[last].cover[q + 4 * c]) & done) & 1 ? x0 : x1; /* the other buffer */
      T       *to = const_cast<T *>(x) + (size_t)__ldg(cells + q + 4 * c) * S::values + at;
      if (index < count) {
        UNROLL for (int i = 0; i < N; i++) to[i * layer] = v[r][c * N + i];
      }
    }
  }
}

/* launch order of patches of one sort */
struct PatchList {
  int     n = 0;
  VpArray cells, covers, kinds;
};

template <class T, int N, class Edges>
static PetscErrorCode LaunchPatches(const PatchTables<T, N> &tables, const Edges &edges, const VpArray &table, const Sweep<T> &w,
                                    const PatchList &list, cudaStream_t stream)
{
  typedef Patch<T, N> S;
  auto                kernel = ReplacePatches<T, N, Edges>;

  PetscFunctionBegin;
  if (!list.n) PetscFunctionReturn(PETSC_SUCCESS);
  VpCudaCall(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(S::bytes * S::patches)));
  kernel<<<(list.n + S::patches - 1) / S::patches, S::block, S::bytes * S::patches, stream>>>(
    tables, edges, (const T *)table.p, w.done, w.b, w.x[0], w.x[1], (const PatchCells *)list.cells.p, (const PatchCovers *)list.covers.p,
    (const uint8_t *)list.kinds.p, list.n);
  VpCudaLaunched("sweep of like patches");
  PetscFunctionReturn(PETSC_SUCCESS);
}
