/* The inverses of sums along the directions, by tables: of K, which has n values along each, or of all F together, which
   have 2n along the side and n across it. They are used in modes, where they are diagonal; and between the side's traces and modes there is
   a short way, for traces have 2 numbers where values have n:

       values <--> modes <--> modes of traces [V, Q across the side] <--> traces

   All threads of a block work on one array, in shared memory, too. Lines go to so many threads that each has a part of a line's values:

       F, n = 2, 3D:  8 lines of 4 values, 2 threads each; 16 lines of 2 values, 1 thread each

   Rows of matrices begin at multiples of VP_WIDE_BYTES, so that few instructions read them. */
#pragma once
#include "device/load.cuh"
#include <type_traits>

/* f(at) for all at in [0, COUNT), shared out among so many threads of the block */
template <int COUNT, int THREADS, class F>
__device__ __forceinline__ void ForEach(F f)
{
  UNROLL (int round = 0; round < (COUNT + THREADS - 1) / THREADS; round++) {
    const int at = threadIdx.x + round * THREADS;
    if ((round + 1) * THREADS <= COUNT || at < COUNT) f(at);
  }
}

/* The tables that a block has in shared memory: of an entry (VpInterfaceView.table), and what is made of them at set-up. D is the direction
   across the side. */
template <class T, int DIM, int N, int D>
struct InterfaceTable {
  static constexpr int threads = Power(2, DIM - 1) * Power(N, DIM - 1);
  static constexpr int W = Wide<T>::n;

  static __host__ __device__ constexpr int row(int m)
  {
    return RoundUp(m, W);
  }
  static __host__ __device__ constexpr int block(int m) /* F, B, lambda */
  {
    return (2 * m + 1) * row(m);
  }
  static constexpr int matrices = (DIM + 1) * block(N) + (DIM - 1) * block(2 * N);
  static constexpr int diagonals = Power(N, DIM) + threads * N;
  static constexpr int modes = VpInterfaceZ(N, DIM) - VpInterfaceEnds(N, DIM); /* those along the normal at the side */
  static constexpr int size = RoundUp(matrices + diagonals + modes, W);

  /* of K, or of F: [modes] the eigenvalue, without the reaction */
  static __host__ __device__ constexpr int eigenvalues(bool fine)
  {
    return matrices + fine * Power(N, DIM);
  }
  /* of K, or of F: [V, Q][modes across] traces at the side, or lifts */
  static __host__ __device__ constexpr int ends(bool fine, bool lifts)
  {
    return matrices + diagonals + (2 * fine + lifts) * (modes / 4);
  }

  /* the block of direction e: of F, or of K */
  static __host__ __device__ constexpr int start(bool fine, int e)
  {
    return !fine ? e * block(N) : e == D ? DIM * block(N) : (DIM + 1) * block(N) + (e > D ? e - 1 : e) * block(2 * N);
  }
  /* where number i of a block of m x m matrices goes */
  static __device__ __forceinline__ int Place(int m, int i)
  {
    return i / m * row(m) + i % m;
  }
  static __device__ __forceinline__ void Copy(const T *table, T *to)
  {
    constexpr int narrow = VpInterfaceWide(N, DIM, 0), before_ends = VpInterfaceEnds(N, DIM);

    ForEach<narrow, threads>([=](int i) { to[i / VpBlockSize(N) * block(N) + Place(N, i % VpBlockSize(N))] = table[i]; });
    ForEach<before_ends - narrow, threads>(
      [=](int i) { to[(DIM + 1) * block(N) + i / VpFdmSize(N) * block(2 * N) + Place(2 * N, i % VpFdmSize(N))] = table[narrow + i]; });
    ForEach<modes, threads>([=](int i) { to[ends(false, false) + i] = table[before_ends + i]; });
  }
};

template <class T, int DIM, int N, int D, bool FINE>
struct LineSum {
  typedef InterfaceTable<T, DIM, N, D> Tables;
  static constexpr int                 threads = Tables::threads, W = Tables::W;

  /* of an array that has `deep` values across the side */
  static __host__ __device__ constexpr int extent(int e, int deep)
  {
    return e == D ? deep : FINE ? 2 * N : N;
  }
  static __host__ __device__ constexpr int stride(int e, int deep)
  {
    return e ? stride(e - 1, deep) * extent(e - 1, deep) : 1;
  }
  static constexpr int values = stride(DIM, N), traces = stride(DIM, 2);

  T *table;
  T  reaction;

  /* number `at` of an array of traces: which modes it has at 0 across the side, and whether it is V or Q */
  static __device__ __forceinline__ int ModesAt(int at, int &k)
  {
    constexpr int low = stride(D, 2);

    k = at / low % 2;
    return at % low + at / (2 * low) * (low * N);
  }

  /* Completes the tables. Requires: they were copied, and a barrier followed. */
  __device__ __forceinline__ void Complete() const
  {
    ForEach<values, threads>([&](int at) {
      T sum = T(0);

      UNROLL (int e = 0; e < DIM; e++)
        sum += table[Tables::start(FINE, e) + 2 * extent(e, N) * Tables::row(extent(e, N)) + at / stride(e, N) % extent(e, N)];
      table[Tables::eigenvalues(FINE) + at] = sum;
    });
  }

  /* to = F, or B, along direction E, of an array */
  template <int E, bool BACK, int DEEP>
  __device__ __forceinline__ void Contract(const T *v, T *to) const
  {
    constexpr int M = extent(E, DEEP), S = stride(E, DEEP), R = Tables::row(M), lines = stride(DIM, DEEP) / M, share = threads / lines,
                  most = (M + share - 1) / share;
    const T  *A = table + Tables::start(FINE, E) + BACK * M * R;
    const int l = threadIdx.x % lines, part = threadIdx.x / lines, start = l % S + l / S * (S * M);
    T         in[R];

    UNROLL (int j = 0; j < R; j++) in[j] = j < M ? v[start + (j < M ? j * S : 0)] : T(0);
    UNROLL (int i = 0; i < most; i++) {
      const int      k = part + i * share;
      const Wide<T> *row = (const Wide<T> *)(A + (M % share == 0 || k < M ? k : 0) * R);
      T              sum = T(0);

      UNROLL (int j = 0; j < M; j += W) {
        const Wide<T> a = row[j / W];
        UNROLL (int w = 0; w < W && j + w < M; w++) sum += a.a[w] * in[j + w];
      }
      if (M % share == 0 || k < M) to[start + k * S] = sum;
    }
    __syncthreads();
  }
  /* v = F, or B, along all directions, but along the side alone in an array of traces. The other array changes places with v. Requires: all
     threads of the block call, and see v. Ensures: all see v. */
  template <bool BACK, bool TRACES>
  __device__ __forceinline__ void Transform(T *&v, T *&other) const
  {
    const auto along = [&](auto e) {
      constexpr int E = decltype(e)::value;
      if constexpr (E < DIM && (E != D || !TRACES)) {
        Contract<E, BACK, TRACES ? 2 : N>(v, other);
        T *const done = other;
        other = v;
        v = done;
      }
    };

    along(std::integral_constant<int, 0>());
    along(std::integral_constant<int, 1>());
    along(std::integral_constant<int, 2>());
  }
  __device__ __forceinline__ T Inverse(int mode) const
  {
    return Reciprocal(reaction + table[Tables::eigenvalues(FINE) + mode]);
  }
  /* v = weight (A + reaction)^-1 v, in modes */
  __device__ __forceinline__ void Divide(T weight, T *v) const
  {
    ForEach<values, threads>([&](int at) { v[at] *= weight * Inverse(at); });
    __syncthreads();
  }
  /* t = the traces of v, which has modes */
  __device__ __forceinline__ void TracesOf(const T *v, T *&t, T *&other) const
  {
    ForEach<traces, threads>([&](int at) {
      int       k;
      const int from = ModesAt(at, k);
      T         sum = T(0);

      UNROLL (int mode = 0; mode < N; mode++) sum += table[Tables::ends(FINE, false) + k * N + mode] * v[from + mode * stride(D, N)];
      t[at] = sum;
    });
    __syncthreads();
    Transform<true, true>(t, other);
  }
  /* v += factor (A + reaction)^-1 lift t, in modes; t is lost */
  __device__ __forceinline__ void AddLifted(T factor, T *t, T *other, T *v) const
  {
    constexpr int low = stride(D, N);

    Transform<false, true>(t, other);
    ForEach<values, threads>([&](int at) {
      const T  *lifted = table + Tables::ends(FINE, true) + at / low % N;
      const int from = at % low + at / (low * N) * (2 * low);

      v[at] += factor * Inverse(at) * (lifted[0] * t[from] + lifted[N] * t[from + low]);
    });
    __syncthreads();
  }
};
