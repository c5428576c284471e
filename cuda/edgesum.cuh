/* The inverse of a sum along the directions, by its tables in shared memory: of K, which has n values along each, or of all F together, which
   have 2n along the side and n across it. All threads of a block work on one array, in shared memory, too. Lines go to so many threads that
   each has a part of a line's values:

       F, n = 2, 3D:  8 lines of 4 values, 2 threads each; 16 lines of 2 values, 1 thread each

   Rows of matrices begin at multiples of 16 bytes, so that few instructions read them. */
#pragma once
#include "fdm.cuh"
#include "load.cuh"

/* Where the tables of an entry (VpEdgeView.table) are in shared memory. D is the direction across the side. */
template <class T, int DIM, int N, int D>
struct EdgeTable {
  static constexpr int threads = Power(2, DIM - 1) * Power(N, DIM - 1);
  static constexpr int W = 16 / (int)sizeof(T);

  static __host__ __device__ constexpr int row(int m)
  {
    return RoundUp(m, W);
  }
  static __host__ __device__ constexpr int block(int m) /* F, B, lambda */
  {
    return (2 * m + 1) * row(m);
  }
  static constexpr int size = (DIM + 1) * block(N) + (DIM - 1) * block(2 * N);
  static constexpr int from = (DIM + 1) * VpBlockSize(N) + (DIM - 1) * VpFdmSize(N); /* numbers before Z */

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
    constexpr int narrow = (DIM + 1) * VpBlockSize(N);

    for (int i = threadIdx.x; i < narrow; i += threads) to[i / VpBlockSize(N) * block(N) + Place(N, i % VpBlockSize(N))] = __ldg(table + i);
    for (int i = threadIdx.x; i < from - narrow; i += threads)
      to[(DIM + 1) * block(N) + i / VpFdmSize(N) * block(2 * N) + Place(2 * N, i % VpFdmSize(N))] = __ldg(table + narrow + i);
  }
};

template <class T, int DIM, int N, int D, bool FINE>
struct LineSum {
  typedef EdgeTable<T, DIM, N, D> Tables;
  static constexpr int            threads = Tables::threads, W = Tables::W;

  static __host__ __device__ constexpr int extent(int e)
  {
    return FINE && e != D ? 2 * N : N;
  }
  static __host__ __device__ constexpr int stride(int e)
  {
    return e ? stride(e - 1) * extent(e - 1) : 1;
  }
  static constexpr int total = stride(DIM), each = (total + threads - 1) / threads;

  const T *table; /* in shared memory */
  T        inverse[each];

  /* Requires: tables were copied there, and all threads know. */
  __device__ __forceinline__ LineSum(const T *tables, T reaction) : table(tables)
  {
    UNROLL (int k = 0; k < each; k++) {
      const int at = threadIdx.x + k * threads, mode = at < total ? at : 0;
      T         sum = reaction;

      UNROLL (int e = 0; e < DIM; e++)
        sum += table[Tables::start(FINE, e) + 2 * extent(e) * Tables::row(extent(e)) + mode / stride(e) % extent(e)];
      inverse[k] = Reciprocal(sum);
    }
  }

  /* F, or B, along direction E, in place */
  template <int E, bool BACK>
  __device__ __forceinline__ void Contract(T *v) const
  {
    constexpr int M = extent(E), S = stride(E), R = Tables::row(M), lines = total / M, share = threads / lines,
                  most = (M + share - 1) / share;
    const T  *A = table + Tables::start(FINE, E) + BACK * M * R;
    const int l = threadIdx.x % lines, part = threadIdx.x / lines;
    T        *line = v + l % S + l / S * (S * M), in[R], out[most];

    UNROLL (int j = 0; j < R; j++) in[j] = j < M ? line[j < M ? j * S : 0] : T(0);
    UNROLL (int i = 0; i < most; i++) {
      const int         k = part + i * share;
      const Pack<T, W> *row = (const Pack<T, W> *)(A + (M % share == 0 || k < M ? k : 0) * R);

      out[i] = T(0);
      UNROLL (int j = 0; j < M; j += W) {
        const Pack<T, W> a = row[j / W];
        UNROLL (int w = 0; w < W && j + w < M; w++) out[i] += a.a[w] * in[j + w];
      }
    }
    __syncthreads();
    UNROLL (int i = 0; i < most; i++) {
      if (M % share == 0 || part + i * share < M) line[(part + i * share) * S] = out[i];
    }
    __syncthreads();
  }
  template <bool BACK>
  __device__ __forceinline__ void Transform(T *v) const
  {
    Contract<0, BACK>(v);
    Contract<1, BACK>(v);
    if constexpr (DIM == 3) Contract<2, BACK>(v);
  }
  /* v = weight (A + reaction)^-1 v. Requires: all threads of the block call, and have written v. Ensures: all may read it. */
  __device__ __forceinline__ void Solve(T weight, T *v) const
  {
    Transform<false>(v);
    UNROLL (int k = 0; k < each; k++) {
      const int at = threadIdx.x + k * threads;
      if (total % threads == 0 || at < total) v[at] *= weight * inverse[k];
    }
    __syncthreads();
    Transform<true>(v);
  }
};
