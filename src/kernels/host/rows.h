/* Short vectors, and cells as n^(dim-1) rows of n values along x, each row padded to whole vectors.

   Loops over n, nt and vectors have constant bounds once the always-inline bodies meet a degree; UNROLL asks the compiler to unroll
   them. */
#pragma once
#include "host.h"
#include <string.h>
#ifdef __AVX512F__
  #include <immintrin.h>
#endif

#define REAL VP_REAL
#define DIM  VP_DIM
#ifdef __OPTIMIZE__
  #define INLINE static inline __attribute__((always_inline))
#else
  #define INLINE static inline /* inlined for every degree, it would take minutes to compile */
#endif
/* Defines the function of a slot for a degree, whose body is what follows `parameters`. */
#define VP_KERNEL(slot, k, parameters, ...) \
  PetscErrorCode VP_NAME(slot, VP_REAL, VP_DIM, k) parameters \
  { \
    __VA_ARGS__; \
    return PETSC_SUCCESS; \
  }
#if defined(__clang__)
  #define UNROLL(...) _Pragma("clang loop unroll(full)") for (__VA_ARGS__)
  #define OUTLINE     static __attribute__((noinline))
#else
  #ifdef __SANITIZE_ADDRESS__
    #define UNROLL(...) for (__VA_ARGS__) /* unrolled, it would take minutes to compile */
  #else
    #define UNROLL(...) _Pragma("GCC unroll 32") for (__VA_ARGS__)
  #endif
  #define OUTLINE static __attribute__((noinline, noclone)) /* one copy for all degrees */
#endif

#if defined(VECTOR_BYTES)
#elif defined(__AVX512F__)
  #define VECTOR_BYTES 64
#elif defined(__AVX__)
  #define VECTOR_BYTES 32
#else
  #define VECTOR_BYTES 16
#endif
typedef REAL    V __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t I_float __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t I_double __attribute__((vector_size(VECTOR_BYTES)));
#define I__(real) I_##real
#define I_(real)  I__(real)
typedef I_(VP_REAL) VI; /* as V, of integers */
enum {
  W = VECTOR_BYTES / sizeof(REAL),  /* lanes */
  VECTORS = (VP_MAX_N + W - 1) / W, /* most vectors per row */
  ROWS = DIM == 3 ? VP_MAX_N * VP_MAX_N : VP_MAX_N,
  VALUES = ROWS * VP_MAX_N,
};
INLINE int Vectors(int n)
{
  return (n + W - 1) / W;
}
INLINE int Power(int n)
{
  return DIM == 3 ? n * n * n : n * n;
}

INLINE V Load(const REAL *p)
{
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}
INLINE void Store(REAL *p, V v)
{
  memcpy(p, &v, sizeof v);
}

/* Prefetches values. */
INLINE void Fetch(const REAL *p, int count)
{
  for (int i = 0; i < count; i += 64 / (int)sizeof(REAL)) __builtin_prefetch(p + i, 0, 2);
}

/* vector c of a row of n values at p; lanes beyond n are 0, and their memory is not touched */
INLINE V LoadRow(const REAL *p, int n, int c)
{
  const int left = n - c * W;

  p += c * W;
  if (left >= W) return Load(p);
#if VECTOR_BYTES == 64
  if (sizeof(REAL) == 4) return (V)_mm512_maskz_loadu_ps((__mmask16)((1u << left) - 1), p);
  return (V)_mm512_maskz_loadu_pd((__mmask8)((1u << left) - 1), p);
#elif defined(__AVX512VL__)
  if (sizeof(REAL) == 4) return (V)_mm256_maskz_loadu_ps((__mmask8)((1u << left) - 1), p);
  return (V)_mm256_maskz_loadu_pd((__mmask8)((1u << left) - 1), p);
#else
  V v = {0};
  memcpy(&v, p, (size_t)left * sizeof(REAL));
  return v;
#endif
}
INLINE void StoreRow(REAL *p, int n, int c, V v)
{
  const int left = n - c * W;

  p += c * W;
  if (left >= W) {
    Store(p, v);
    return;
  }
#if VECTOR_BYTES == 64
  if (sizeof(REAL) == 4) _mm512_mask_storeu_ps(p, (__mmask16)((1u << left) - 1), (__m512)v);
  else _mm512_mask_storeu_pd(p, (__mmask8)((1u << left) - 1), (__m512d)v);
#elif defined(__AVX512VL__)
  if (sizeof(REAL) == 4) _mm256_mask_storeu_ps(p, (__mmask8)((1u << left) - 1), (__m256)v);
  else _mm256_mask_storeu_pd(p, (__mmask8)((1u << left) - 1), (__m256d)v);
#else
  memcpy(p, &v, (size_t)left * sizeof(REAL));
#endif
}

INLINE void LoadCell(const int n, const REAL *p, V u[][VECTORS])
{
  for (int r = 0; r < Power(n) / n; r++) {
    UNROLL (int c = 0; c < Vectors(n); c++) u[r][c] = LoadRow(p + r * n, n, c);
  }
}
INLINE void StoreCell(const int n, V u[][VECTORS], REAL *p)
{
  for (int r = 0; r < Power(n) / n; r++) {
    UNROLL (int c = 0; c < Vectors(n); c++) StoreRow(p + r * n, n, c, u[r][c]);
  }
}

/* Loads the columns of a row-major A [n][n] as rows: T[i] = A[.][i]. */
INLINE void LoadTransposed(int n, const REAL *A, V T[][VECTORS])
{
  REAL t[VECTORS * W] = {0};

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) t[j] = A[j * n + i];
    for (int c = 0; c < Vectors(n); c++) T[i][c] = Load(t + c * W);
  }
}

/* Multiplies a line of n rows, which are `stride` apart, in place: row j = sum_i A[j][i] row i. */
INLINE void ContractRows(const int n, const REAL *A, int stride, V line[][VECTORS])
{
  UNROLL (int c = 0; c < Vectors(n); c++) {
    V t[VP_MAX_N];
    UNROLL (int i = 0; i < n; i++) t[i] = line[i * stride][c];
    UNROLL (int j = 0; j < n; j++) {
      V s = A[j * n] * t[0];
      UNROLL (int i = 1; i < n; i++) s += A[j * n + i] * t[i];
      line[j * stride][c] = s;
    }
  }
}

/* u = (A_z x A_y x A_x) u on the rows of a cell; Tx = LoadTransposed of A_x. NULL stands for the identity. */
INLINE void TransformRows(const int n, V Tx[][VECTORS], const REAL *Ay, const REAL *Az, V u[][VECTORS])
{
  const int planes = DIM == 3 ? n : 1;

  for (int y = 0; DIM == 3 && Az && y < n; y++) ContractRows(n, Az, n, u + y);
  for (int z = 0; Ay && z < planes; z++) ContractRows(n, Ay, 1, u + z * n);
  for (int r = 0; Tx && r < planes * n; r++) {
    const REAL *x = (const REAL *)u[r];
    V           s[VECTORS];
    UNROLL (int c = 0; c < Vectors(n); c++) s[c] = x[0] * Tx[0][c];
    UNROLL (int i = 1; i < n; i++) {
      UNROLL (int c = 0; c < Vectors(n); c++) s[c] += x[i] * Tx[i][c];
    }
    UNROLL (int c = 0; c < Vectors(n); c++) u[r][c] = s[c];
  }
}
