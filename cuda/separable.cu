/* Dense matrices: along the lines of a lattice of cells, for the inverse of what separates, and one times a whole vector, where a warp
   makes one value.

   The inverse is 2 dim products Y[mode][line] = sum_k M[k][mode] X[line][k], whose results are numbered so that the values along the next
   direction follow one another:

       [z][y][x] -> [x'][z][y] -> [y'][x'][z] -> [z'][y'][x'], divided -> [x][z'][y'] -> [y][x][z'] -> [z][y][x]

   The first product reads the vector and the last one writes it, cell by cell. */
#include "tensor.cuh"
#include "load.cuh"

/* from cell to cell of the lattice along a direction, from value to value of a cell */
struct Digit {
  int32_t cell, value;
};
/* Where value k of line l is in a vector. Line l is number l % lines along one direction, l / lines along another. */
struct Places {
  const int32_t *cell; /* of the lattice; NULL: all values are in one row */
  int32_t        values, lines;
  Digit          k, l[2];
};

template <class T>
struct Turn {
  int32_t  m, lines; /* values of a line, lines */
  const T *M, *x;
  T       *y;
  Places   from, to;
  size_t   apart;     /* from a vector to the next one, in x and y; block z works on vector z */
  const T *divide[3]; /* eigenvalues of value k, and of line l: number l % first of one direction, l / first of another; or NULL */
  int32_t  first;
};

/* A block has ROWS x COLUMNS threads; each makes Q modes of L lines. Matrix and values go through shared memory, DEPTH
   of a line at a time. */
enum { ROWS = 8, COLUMNS = 16, DEPTH = 8 };
template <class T, int Q, int L>
struct TurnShape {
  static constexpr int threads = ROWS * COLUMNS, wide = 16 / (int)sizeof(T), pack = L < wide ? L : wide;
  static constexpr int modes = ROWS * Q, lines = COLUMNS * L;          /* of a block */
  static constexpr int q = RoundUp(Q, wide);                           /* room for a thread's numbers of the matrix */
  static constexpr int each = (DEPTH * modes + threads - 1) / threads; /* numbers of the matrix that a thread loads */
};

/* a block's part of a line that is under way, and where it goes */
template <class T, int N, int Q, int L>
struct TurnThread {
  typedef TurnShape<T, Q, L> S;

  const Turn<T> &t;
  const T *const x;
  T *const       y;
  const int32_t  mode0, line0;
  T              matrix[S::each], value[L];

  __device__ __forceinline__ TurnThread(const Turn<T> &turn)
      : t(turn), x(turn.x + blockIdx.z * turn.apart), y(turn.y + blockIdx.z * turn.apart), mode0(blockIdx.y * S::modes),
        line0(blockIdx.x * S::lines)
  {
  }

  /* where line l begins: of the lattice's cells, of a cell's values */
  static __device__ __forceinline__ int2 LineAt(const Places &p, int32_t l)
  {
    const int32_t a = l % p.lines, b = l / p.lines;

    return make_int2(a / N * p.l[0].cell + b / N * p.l[1].cell, a % N * p.l[0].value + b % N * p.l[1].value);
  }
  static __device__ __forceinline__ size_t At(const Places &p, int2 line, int32_t k)
  {
    return (size_t)p.cell[line.x + k / N * p.k.cell] * p.values + line.y + k % N * p.k.value;
  }

  __device__ __forceinline__ void Load(int32_t k0, const int2 *line)
  {
    const int32_t k = k0 + threadIdx.x % DEPTH;

    UNROLL (int i = 0; i < S::each; i++) {
      const int at = threadIdx.x + i * S::threads, row = k0 + at / S::modes, mode = mode0 + at % S::modes;
      matrix[i] = at < DEPTH * S::modes && row < t.m && mode < t.m ? t.M[(size_t)row * t.m + mode] : T(0);
    }
    UNROLL (int i = 0; i < L; i++) {
      const int     at = threadIdx.x / DEPTH + i * COLUMNS;
      const int32_t l = line0 + at;
      value[i] = k >= t.m || l >= t.lines ? T(0) : x[t.from.cell ? At(t.from, line[at], k) : (size_t)l * t.m + k];
    }
  }
  __device__ __forceinline__ void Store(T (*M)[ROWS * S::q], T (*x)[S::lines + S::wide]) const
  {
    UNROLL (int i = 0; i < S::each; i++) {
      const int at = threadIdx.x + i * S::threads, mode = at % S::modes;
      if (at < DEPTH * S::modes) M[at / S::modes][mode / Q * S::q + mode % Q] = matrix[i];
    }
    UNROLL (int i = 0; i < L; i++) x[threadIdx.x % DEPTH][threadIdx.x / DEPTH + i * COLUMNS] = value[i];
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
__global__ void __launch_bounds__(ROWS *COLUMNS, sizeof(T) == 4 ? 4 : 3) Along(const __grid_constant__ Turn<T> t)
{
  typedef TurnShape<T, Q, L> S;
  typedef Pack<T, S::wide>   Wide;
  typedef Pack<T, S::pack>   Some;
  __shared__ __align__(16) T M[2][DEPTH][ROWS * S::q], x[2][DEPTH][S::lines + S::wide];
  __shared__ int2            line[S::lines];
  const int                  warp = threadIdx.x / 32, column = threadIdx.x % 8 + warp % 2 * 8, row = threadIdx.x / 8 % 4 + warp / 2 * 4;

  TurnThread<T, N, Q, L> thread(t);
  alignas(16) T          sum[Q][L] = {}, divisor[L] = {};

  for (int i = threadIdx.x; t.from.cell && i < S::lines; i += S::threads) line[i] = thread.LineAt(t.from, thread.line0 + i);
  __syncthreads();
  thread.Load(0, line);
  thread.Store(M[0], x[0]);
  __syncthreads();
  for (int32_t k0 = 0, turn = 0; k0 < t.m; k0 += DEPTH, turn ^= 1) {
    const bool more = k0 + DEPTH < t.m;

    if (more) thread.Load(k0 + DEPTH, line);
    UNROLL (int k = 0; k < DEPTH; k++) {
      alignas(16) T a[S::q], b[L];
      UNROLL (int i = 0; i < S::q; i += S::wide) *(Wide *)(a + i) = *(const Wide *)(M[turn][k] + row * S::q + i);
      UNROLL (int i = 0; i < L; i += S::pack) *(Some *)(b + i) = *(const Some *)(x[turn][k] + i * COLUMNS + column * S::pack);
      UNROLL (int i = 0; i < Q; i++) {
        UNROLL (int j = 0; j < L; j++) sum[i][j] += a[i] * b[j];
      }
    }
    if (more) thread.Store(M[turn ^ 1], x[turn ^ 1]);
    __syncthreads();
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

/* A thread reads WIDE numbers at once, which divides the number of columns. Block y works on vector y. */
template <int WIDE, class T>
__global__ void Product(int32_t rows, int32_t columns, const T *M, const T *x, T *y)
{
  typedef Pack<T, WIDE> Some;
  const int32_t         row = blockIdx.x * blockDim.y + threadIdx.y;

  if (row >= rows) return;
  const Some *from = (const Some *)(M + (size_t)row * columns), *by = (const Some *)(x + (size_t)blockIdx.y * columns);
  T           sum[WIDE] = {}, all = 0;

#pragma unroll 4
  for (int32_t j = threadIdx.x; j < columns / WIDE; j += 32) {
    const Some a = from[j], b = by[j];
    UNROLL (int i = 0; i < WIDE; i++) sum[i] += a.a[i] * b.a[i];
  }
  UNROLL (int i = 0; i < WIDE; i++) all += sum[i];
  UNROLL (int other = 16; other; other /= 2) all += __shfl_xor_sync(~0u, all, other);
  if (!threadIdx.x) y[(size_t)blockIdx.y * rows + row] = all;
}

template <class T, int DIM, int N>
struct BoxInverse {
  /* modes of a thread, so that blocks divide lines of n times a power of two */
  static constexpr int few = N < 4 ? 2 * N : N, many = N < 4 ? 4 * N : N < 6 ? 2 * N : N, wide = 16 / (int)sizeof(T);

  template <int Q, int L>
  static PetscErrorCode Launch(const Turn<T> &t, int32_t n)
  {
    typedef TurnShape<T, Q, L> S;

    return VpCudaLaunch("along", Along<T, N, Q, L>, {dim3(VpBlocks(t.lines, S::lines), VpBlocks(t.m, S::modes), n), S::threads}, t);
  }

  /* Threads do as much as leaves enough blocks for all multiprocessors. */
  static PetscErrorCode Multiply(const Turn<T> &t, int32_t n)
  {
    auto blocks = [&t, n](int modes, int lines) { return n * VpBlocks(t.lines, lines) * VpBlocks(t.m, modes); };
    int  enough;

    PetscFunctionBegin;
    PetscCall(VpCudaProcessors(&enough));
    if (blocks(ROWS * many, COLUMNS * 4) >= 2 * enough) PetscCall((Launch<many, 4>(t, n)));
    else if (blocks(ROWS * few, COLUMNS * wide) >= enough) PetscCall((Launch<few, wide>(t, n)));
    else PetscCall((Launch<few, wide / 2>(t, n)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* the vector's places for the lines along d, of which `first` lie along the next direction that there is */
  static Places InCells(const VpSeparable &s, int d, int next)
  {
    const int last = DIM - d - next; /* the third direction, where there is one: it comes last */
    auto digit = [&s](int to) -> Digit { return {VpLineStride(to, s.extent[0], s.extent[0] * s.extent[1]), VpLineStride(to, N, N * N)}; };

    return {s.cell, Power(N, DIM), s.extent[next] * N, digit(d), {digit(next), DIM == 3 ? digit(last) : Digit()}};
  }

  static PetscErrorCode Invert(const VpView *, const VpSeparable *s, int32_t n, const void *b, void *const x[2])
  {
    const int32_t count = s->extent[0] * s->extent[1] * s->extent[2] * Power(N, DIM);

    PetscFunctionBegin;
    for (int i = 0; i < 2 * DIM; i++) {
      const int d = i % DIM;
      Turn<T>   t = {};

      t.m = s->extent[d] * N;
      t.lines = count / t.m;
      t.apart = count;
      t.M = (const T *)(i < DIM ? s->to[d] : s->from[d]);
      t.x = (const T *)b;
      t.y = (T *)x[(i + 1) % 2];
      if (i == 0) t.from = InCells(*s, 0, 1);
      if (i == 2 * DIM - 1) t.to = InCells(*s, DIM - 1, 0);
      if (i == DIM - 1) {
        t.divide[0] = (const T *)s->eigenvalue[d];
        for (int e = 0; e < d; e++) t.divide[1 + e] = (const T *)s->eigenvalue[e];
        t.first = s->extent[0] * N;
      }
      PetscCall(Multiply(t, n));
      b = t.y;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Whole(const VpView *, int32_t rows, int32_t columns, const void *M, int32_t n, const void *x, void *y)
  {
    const int  warps = 4; /* of a block */
    const auto kernel = columns % 4 ? Product<1, T> : Product<4, T>;

    return VpCudaLaunch("product", kernel, {dim3(VpBlocks(rows, warps), n), dim3(32, warps)}, rows, columns, (const T *)M, (const T *)x,
                        (T *)y);
  }
};

void VpCudaSeparableOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<BoxInverse>(precision, dim, degree, [ops](auto of) {
    ops->invert = of.Invert;
    ops->product = of.Whole;
  });
}
