/* The inverse of a sum of operators along the directions, by tables: of K, which has n values along each direction, or of all F
   together, which have 2n values along the side and n across it. The inverse is diagonal in modes. There is a short way between traces at
   the side and modes, for a line across the side has 2 traces and n values:

       values <--> modes <--> modes of traces [V, Q across the side] <--> traces

   All threads of a block work on one array in shared memory. Where there are fewer lines than threads, several threads share a line:

       F, n = 2, 3D:  8 lines of 4 values, 2 threads each; 16 lines of 2 values, 1 thread each

   Rows of matrices begin at multiples of VP_WIDE_BYTES, so that few instructions read them. */
#pragma once
#include "device/load.cuh"
#include <type_traits>

/* f(at) for all at in [0, COUNT), which the THREADS threads of the block share */
template <int COUNT, int THREADS, class F>
__device__ __forceinline__ void ForEach(F f)
{
  UNROLL (int round = 0; round < (COUNT + THREADS - 1) / THREADS; round++) {
    const int at = threadIdx.x + round * THREADS;
    if ((round + 1) * THREADS <= COUNT || at < COUNT) f(at);
  }
}

/* The tables that a block has in shared memory: an entry of VpInterfaceView.table up to Z, with longer rows. */
template <class T, int DIM, int N>
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
  /* where the table of K's lines, or of F's, along e begins; D is the direction across the side */
  static __host__ __device__ constexpr int line(int D, bool fine, int e)
  {
    return VpInterfaceLine(block(N), block(2 * N), DIM, D, fine, e);
  }
  /* where a number of the entry is that has no row: one of the sums of eigenvalues (VpInterfaceSums) or ends (VpInterfaceEnds) */
  static __host__ __device__ constexpr int after(int at)
  {
    return line(0, true, DIM) + at - VpInterfaceSums(N, DIM, 0);
  }
  static constexpr int size = RoundUp(after(VpInterfaceZ(N, DIM)), W);

  /* copies `count` numbers of blocks of m x m matrices */
  template <int m, int count>
  static __device__ __forceinline__ void CopyBlocks(const T *from, T *to)
  {
    ForEach<count, threads>([=](int i) {
      const int in = i % VpBlockSize(m);
      to[i / VpBlockSize(m) * block(m) + in / m * row(m) + in % m] = from[i];
    });
  }
  static __device__ __forceinline__ void Copy(const T *entry, T *to)
  {
    constexpr int narrow = (DIM + 1) * VpBlockSize(N), sums = VpInterfaceSums(N, DIM, 0);

    CopyBlocks<N, narrow>(entry, to);
    CopyBlocks<2 * N, sums - narrow>(entry + narrow, to + (DIM + 1) * block(N));
    ForEach<VpInterfaceZ(N, DIM) - sums, threads>([=](int i) { to[after(sums + i)] = entry[sums + i]; });
  }
};

/* D is the direction across the side. */
template <class T, int DIM, int N, int D, bool FINE>
struct LineSum {
  typedef InterfaceTable<T, DIM, N> Tables;
  static constexpr int              threads = Tables::threads, W = Tables::W;

  /* number of values along e, and their stride, in an array that has `deep` values across the side */
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

  /* to = F v, or B v, along direction E */
  template <int E, bool BACK, int DEEP>
  __device__ __forceinline__ void Contract(const T *v, T *to) const
  {
    constexpr int M = extent(E, DEEP), S = stride(E, DEEP), R = Tables::row(M), lines = stride(DIM, DEEP) / M, share = threads / lines,
                  most = (M + share - 1) / share;
    const T  *A = table + Tables::line(D, FINE, E) + BACK * M * R;
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
  /* v = F v, or B v, along all directions or, if v has traces, along those of the side. The two pointers are exchanged. Requires: all
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
    return Reciprocal(reaction + table[Tables::after(VpInterfaceSums(N, DIM, FINE)) + mode]);
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
    constexpr int low = stride(D, 2);

    ForEach<traces, threads>([&](int at) {
      const int k = at / low % 2, from = at % low + at / (2 * low) * (low * N);
      T         sum = T(0);

      UNROLL (int mode = 0; mode < N; mode++)
        sum += table[Tables::after(VpInterfaceEnds(N, DIM, FINE, 0)) + k * N + mode] * v[from + mode * stride(D, N)];
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
      const T  *lifted = table + Tables::after(VpInterfaceEnds(N, DIM, FINE, 1)) + at / low % N;
      const int from = at % low + at / (low * N) * (2 * low);

      v[at] += factor * Inverse(at) * (lifted[0] * t[from] + lifted[N] * t[from + low]);
    });
    __syncthreads();
  }
};
