/* Multiplies by dense matrices: along the lines of a lattice of cells, to invert separable operators, and a whole vector at once, where a
   warp makes one value.

   Values become modes, and modes values, by a product Y[mode][line] = sum_k M[k][mode] X[line][k] along each direction. Their results are
   numbered so that the values along the next direction follow one another:

       [z][y][x] -> [x'][z][y] -> [y'][x'][z] -> [z'][y'][x'], divided,        [z'][y'][x'] -> [x][z'][y'] -> [y][x][z'] -> [z][y][x]

   The first product reads the vector and the last one writes it, cell by cell. */
#include "tensor.cuh"
#include "device/load.cuh"
#include <cuda_pipeline.h>

/* strides along a direction: from cell to cell of the lattice, from value to value of a cell */
struct Digit {
  int32_t cell, value;
};
/* Offsets of value k of line l in a vector. Line l is number l % lines along one direction, and l / lines along another one. */
struct Places {
  const int32_t *cell; /* of the lattice; NULL: all values are in one row */
  int32_t        values, lines;
  Digit          k, l[2];
};

template <class T>
struct Turn {
  int32_t  m, lines; /* values of a line; lines */
  const T *M, *x;
  T       *y;
  Places   from, to;
  size_t   apart;     /* from a vector to the next one, in x and y; block z works on vector z */
  const T *divide[3]; /* eigenvalues of value k, and of line l: number l % first of one direction, l / first of another; or NULL */
  int32_t  first;
};

/* A block has ROWS x COLUMNS threads, and a thread makes Q modes of L lines. Matrix and values go through shared memory, DEPTH values of a
   line at a time. While one such part is worked on, STAGES - 1 more are copied. */
enum { ROWS = 8, COLUMNS = 16, DEPTH = 8, STAGES = 4 };
template <class T, int Q, int L>
struct TurnShape {
  static constexpr int threads = ROWS * COLUMNS, wide = Wide<T>::n, pack = L < wide ? L : wide;
  static constexpr int modes = ROWS * Q, lines = COLUMNS * L;          /* of a block */
  static constexpr int q = RoundUp(Q, wide);                           /* stride of the threads' numbers of the matrix */
  static constexpr int each = (DEPTH * modes + threads - 1) / threads; /* numbers of the matrix that a thread loads */
};

/* a part of lines and of the matrix in shared memory */
template <class T, int Q, int L>
struct __align__(VP_WIDE_BYTES) TurnPart
{
  typedef TurnShape<T, Q, L> S;

  T M[DEPTH][ROWS * S::q], x[DEPTH][S::lines + S::wide];
};

/* what a block reads, and where it writes */
template <class T, int N, int Q, int L>
struct TurnThread {
  typedef TurnShape<T, Q, L> S;

  const Turn<T> &t;
  const T *const x;
  T *const       y;
  const int32_t  mode0, line0;

  __device__ __forceinline__ TurnThread(const Turn<T> &turn)
      : t(turn), x(turn.x + blockIdx.z * turn.apart), y(turn.y + blockIdx.z * turn.apart), mode0(blockIdx.y * S::modes),
        line0(blockIdx.x * S::lines)
  {
  }

  /* offsets of line l: among the lattice's cells, among a cell's values */
  static __device__ __forceinline__ int2 LineAt(const Places &p, int32_t l)
  {
    const int32_t a = l % p.lines, b = l / p.lines;

    return make_int2(a / N * p.l[0].cell + b / N * p.l[1].cell, a % N * p.l[0].value + b % N * p.l[1].value);
  }
  static __device__ __forceinline__ size_t At(const Places &p, int2 line, int32_t k)
  {
    return (size_t)p.cell[line.x + k / N * p.k.cell] * p.values + line.y + k % N * p.k.value;
  }

  /* Begins to copy the part from value k0 of the lines on, with 0 beyond the last value, mode or line. */
  __device__ __forceinline__ void Copy(int32_t k0, const int2 *line, TurnPart<T, Q, L> &part) const
  {
    const int     row = threadIdx.x % DEPTH;
    const int32_t k = k0 + row;
    auto          begin = [](T *to, const T *from, size_t at, bool there) {
      __pipeline_memcpy_async(to, from + (there ? at : 0), sizeof(T), there ? 0 : sizeof(T));
    };

    UNROLL (int i = 0; i < S::each; i++) {
      const int at = threadIdx.x + i * S::threads, r = at / S::modes, mode = at % S::modes;
      if (at < DEPTH * S::modes)
        begin(&part.M[r][mode / Q * S::q + mode % Q], t.M, (size_t)(k0 + r) * t.m + mode0 + mode, k0 + r < t.m && mode0 + mode < t.m);
    }
    bool   there[L];
    size_t from[L];
    UNROLL (int i = 0; i < L; i++) {
      const int     at = threadIdx.x / DEPTH + i * COLUMNS;
      const int32_t l = line0 + at;
      there[i] = k < t.m && l < t.lines;
      from[i] = there[i] && t.from.cell ? At(t.from, line[at], k) : (size_t)l * t.m + k;
    }
    UNROLL (int i = 0; i < L; i++) begin(&part.x[row][threadIdx.x / DEPTH + i * COLUMNS], x, from[i], there[i]);
  }

  /* results of the thread's lines for one mode; divisor: what the lines contribute */
  __device__ __forceinline__ void Write(int32_t mode, int column, T (&sum)[L], const T (&divisor)[L]) const
  {
    typedef Pack<T, S::pack> Some;

    UNROLL (int i = 0; i < L; i++) {
      const T by = t.divide[0] ? t.divide[0][mode] + divisor[i] : T(1);
      sum[i] = by == T(0) ? T(0) : sum[i] / by;
    }
    UNROLL (int i = 0; i < L; i += S::pack) {
      const int32_t l = line0 + i * COLUMNS + column * S::pack;
      if (!t.to.cell && t.lines % S::pack == 0) {
        if (l < t.lines) *(Some *)(y + (size_t)mode * t.lines + l) = *(const Some *)(sum + i);
        continue;
      }
      for (int j = 0; j < S::pack && l + j < t.lines; j++)
        y[t.to.cell ? At(t.to, LineAt(t.to, l + j), mode) : (size_t)mode * t.lines + l + j] = sum[i + j];
    }
  }
};

/* A warp is 4 rows and 8 columns of threads: its reads of values are from one line of banks. */
template <class T, int N, int Q, int L>
__global__ void __launch_bounds__(ROWS *COLUMNS, sizeof(T) == 4 ? 4 : 3) ContractAlong(const __grid_constant__ Turn<T> t)
{
  typedef TurnShape<T, Q, L> S;
  typedef Pack<T, S::wide>   Wide;
  typedef Pack<T, S::pack>   Some;
  __shared__ TurnPart<T, Q, L> part[STAGES];
  __shared__ int2              line[S::lines];
  const int warp = threadIdx.x / VP_WARP, column = threadIdx.x % 8 + warp % 2 * 8, row = threadIdx.x / 8 % 4 + warp / 2 * 4;

  TurnThread<T, N, Q, L>   thread(t);
  alignas(VP_WIDE_BYTES) T sum[Q][L] = {}, divisor[L] = {};
  auto                     copy = [&](int32_t i) {
    if (i * DEPTH < t.m) thread.Copy(i * DEPTH, line, part[i % STAGES]);
    __pipeline_commit();
  };

  for (int i = threadIdx.x; t.from.cell && i < S::lines; i += S::threads) line[i] = thread.LineAt(t.from, thread.line0 + i);
  __syncthreads();
  for (int i = 0; i < STAGES - 1; i++) copy(i);
  for (int32_t i = 0; i * DEPTH < t.m; i++) {
    const TurnPart<T, Q, L> &here = part[i % STAGES];

    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    copy(i + STAGES - 1); /* over the part before, which all threads have left */
    UNROLL (int k = 0; k < DEPTH; k++) {
      alignas(VP_WIDE_BYTES) T a[S::q], b[L];
      UNROLL (int j = 0; j < S::q; j += S::wide) *(Wide *)(a + j) = *(const Wide *)(here.M[k] + row * S::q + j);
      UNROLL (int j = 0; j < L; j += S::pack) *(Some *)(b + j) = *(const Some *)(here.x[k] + j * COLUMNS + column * S::pack);
      UNROLL (int q = 0; q < Q; q++) {
        UNROLL (int j = 0; j < L; j++) sum[q][j] += a[q] * b[j];
      }
    }
  }
  UNROLL (int i = 0; t.divide[0] && i < L; i++) {
    const int32_t l = thread.line0 + i / S::pack * S::pack * COLUMNS + column * S::pack + i % S::pack;
    if (l < t.lines) divisor[i] = t.divide[1][l % t.first] + (t.divide[2] ? t.divide[2][l / t.first] : T(0));
  }
  UNROLL (int i = 0; i < Q; i++) {
    const int32_t mode = thread.mode0 + row * Q + i;
    if (mode < t.m) thread.Write(mode, column, sum[i], divisor);
  }
}

/* A thread reads WIDE numbers at once. Block y works on vector y. Requires: WIDE divides the number of columns */
template <int WIDE, class T>
__global__ void MatrixVector(int32_t rows, int32_t columns, const T *M, const T *x, T *y)
{
  typedef Pack<T, WIDE> Some;
  const int32_t         row = blockIdx.x * blockDim.y + threadIdx.y;

  if (row >= rows) return;
  const Some *from = (const Some *)(M + (size_t)row * columns), *by = (const Some *)(x + (size_t)blockIdx.y * columns);
  T           sum[WIDE] = {}, all = 0;

#pragma unroll 4
  for (int32_t j = threadIdx.x; j < columns / WIDE; j += VP_WARP) {
    const Some a = from[j], b = by[j];
    UNROLL (int i = 0; i < WIDE; i++) sum[i] += a.a[i] * b.a[i];
  }
  UNROLL (int i = 0; i < WIDE; i++) all += sum[i];
  UNROLL (int other = VP_WARP / 2; other; other /= 2) all += __shfl_xor_sync(~0u, all, other);
  if (!threadIdx.x) y[(size_t)blockIdx.y * rows + row] = all;
}

template <class T, int DIM, int N>
struct BoxInverse {
  /* modes of a thread, so that blocks divide lines of n times a power of two */
  static constexpr int few = N < 4 ? 2 * N : N, many = N < 4 ? 4 * N : N < 6 ? 2 * N : N, wide = Wide<T>::n;

  template <int Q, int L>
  static PetscErrorCode Launch(const Turn<T> &t, int32_t n)
  {
    typedef TurnShape<T, Q, L> S;

    return VpCudaLaunch("along", ContractAlong<T, N, Q, L>, {dim3(VpBlocks(t.lines, S::lines), VpBlocks(t.m, S::modes), n), S::threads}, t);
  }

  /* Gives threads as much work as leaves enough blocks for all multiprocessors. */
  static PetscErrorCode Multiply(const Turn<T> &t, int32_t n)
  {
    auto blocks = [&t, n](int modes, int lines) { return n * VpBlocks(t.lines, lines) * VpBlocks(t.m, modes); };
    int  enough;

    PetscFunctionBegin;
    PetscCall(VpCudaAttribute(cudaDevAttrMultiProcessorCount, &enough));
    if (blocks(ROWS * many, COLUMNS * 4) >= 2 * enough) PetscCall((Launch<many, 4>(t, n)));
    else if (blocks(ROWS * few, COLUMNS * wide) >= enough) PetscCall((Launch<few, wide>(t, n)));
    else PetscCall((Launch<few, wide / 2>(t, n)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* places in a vector of the lines along d, numbered along the direction `next` first */
  static Places InCells(const VpSeparable *s, int d, int next)
  {
    const int last = DIM - d - next; /* the third direction, where there is one: it comes last */
    auto digit = [s](int to) -> Digit { return {VpLineStride(to, s->extent[0], s->extent[0] * s->extent[1]), VpLineStride(to, N, N * N)}; };

    return {s->cell, Power(N, DIM), s->extent[next] * N, digit(d), {digit(next), DIM == 3 ? digit(last) : Digit()}};
  }

  /* Each product reads one of the two arrays and writes the other one. */
  static PetscErrorCode SolveLines(const VpView *, const VpSeparable *s, int32_t n, const void *b, void *const x[2])
  {
    const size_t apart = (size_t)s->extent[0] * s->extent[1] * s->extent[2] * Power(N, DIM);

    PetscFunctionBegin;
    for (int i = 0; i < 2 * DIM; i++) {
      const int d = i % DIM;
      Turn<T>   t = {};

      t.m = s->extent[d] * N;
      t.lines = (int32_t)(apart / t.m);
      t.M = (const T *)(i < DIM ? s->to : s->from)[d];
      t.x = (const T *)(i ? x[i % 2] : b);
      t.y = (T *)x[(i + 1) % 2];
      t.apart = apart;
      if (i == 0) t.from = InCells(s, 0, 1);
      if (i == DIM - 1) {
        t.divide[0] = (const T *)s->eigenvalue[d];
        for (int e = 0; e < d; e++) t.divide[1 + e] = (const T *)s->eigenvalue[e];
        t.first = s->extent[0] * N;
      }
      if (i == 2 * DIM - 1) t.to = InCells(s, DIM - 1, 0);
      PetscCall(Multiply(t, n));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode MultiplyVectors(const VpView *, int32_t rows, int32_t columns, const void *M, int32_t n, const void *x, void *y)
  {
    const int  warps = 4; /* of a block */
    const auto kernel = columns % 4 ? MatrixVector<1, T> : MatrixVector<4, T>;

    return VpCudaLaunch("product", kernel, {dim3(VpBlocks(rows, warps), n), dim3(VP_WARP, warps)}, rows, columns, (const T *)M,
                        (const T *)x, (T *)y);
  }
};

void VpCudaSeparableOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<BoxInverse>(precision, dim, degree, [ops](auto of) {
    ops->solve_lines = of.SolveLines;
    ops->product = of.MultiplyVectors;
  });
}
