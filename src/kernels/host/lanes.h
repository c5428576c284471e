/* Loads W cells, one per lane, and stores them, by transposition in blocks of W x W. */
#pragma once
#include "rows.h"

/* STEP exchanges blocks of s lanes across the diagonal between vectors a and b that are s apart. */
#define LOWER(l, s)      ((l) & (s) ? W + (l) - (s) : (l))
#define UPPER(l, s)      ((l) & (s) ? W + (l) : (l) + (s))
#define LANES2(f, l, s)  f(l, s), f(l + 1, s)
#define LANES4(f, l, s)  LANES2(f, l, s), LANES2(f, l + 2, s)
#define LANES8(f, l, s)  LANES4(f, l, s), LANES4(f, l + 4, s)
#define LANES16(f, l, s) LANES8(f, l, s), LANES8(f, l + 8, s)
#if VECTOR_BYTES == 64
  #define LANES_float  LANES16
  #define LANES_double LANES8
#elif VECTOR_BYTES == 32
  #define LANES_float  LANES8
  #define LANES_double LANES4
#else
  #define LANES_float  LANES4
  #define LANES_double LANES2
#endif
#define LANES__(real) LANES_##real
#define LANES_(real)  LANES__(real)
#define LANES         LANES_(VP_REAL)
#ifdef __clang__
  #define SHUFFLE(a, b, f, s) __builtin_shufflevector(a, b, LANES(f, 0, s))
#else
  #define SHUFFLE(a, b, f, s) __builtin_shuffle(a, b, (VI){LANES(f, 0, s)})
#endif
#define STEP(t, s) \
  UNROLL (int i = 0; i < W; i++) { \
    if (!(i & (s))) { \
      const V a = t[i], b = t[i + (s)]; \
      t[i] = SHUFFLE(a, b, LOWER, s); \
      t[i + (s)] = SHUFFLE(a, b, UPPER, s); \
    } \
  }

INLINE void Transpose(V t[W])
{
  STEP(t, W / 2)
  if (W > 2) STEP(t, W / 4)
  if (W > 4) STEP(t, W / 8)
  if (W > 8) STEP(t, W / 16)
}

/* Loads values in blocks of W, or of whole cells that have fewer. */
INLINE void LoadBlocks(const int block, int N, int first, int count, const REAL *const p[W], const int at[], V v[])
{
  for (int i = first; i < first + count; i += W) {
    const int from = PetscMin(i, N - block); /* The last block overlaps the block before it, and does not reach beyond the cells. */
    V         t[W];
    UNROLL (int l = 0; l < W; l++) t[l] = LoadRow(p[l] + from, block, 0);
    Transpose(t);
    UNROLL (int l = 0; l < W; l++) {
      if (l < block) v[at ? at[from + l] : from + l] = t[l];
    }
  }
}

/* v[at[i]] = value i of W cells of N values, at least for i in [first, first + count); at NULL: v[i] */
OUTLINE void LoadCells(int N, int first, int count, const REAL *const p[W], const int at[], V v[])
{
  if (N < W) LoadBlocks(N, N, first, count, p, at, v);
  else if (at) LoadBlocks(W, N, first, count, p, at, v);
  else LoadBlocks(W, N, first, count, p, NULL, v);
}

INLINE void StoreBlocks(const int block, int N, const V v[], const int at[], const REAL *const old[W], REAL *const p[W])
{
  for (int i = 0; i < N; i += W) {
    const int from = PetscMin(i, N - block);
    V         t[W];
    UNROLL (int l = 0; l < W; l++) {
      const int value = from + PetscMin(l, block - 1);
      t[l] = v[at ? at[value] : value];
    }
    Transpose(t);
    UNROLL (int l = 0; l < W; l++) StoreRow(p[l] + from, block, 0, old ? LoadRow(old[l] + from, block, 0) + t[l] : t[l]);
  }
}

/* value i of W cells = v[at[i]], plus the old value unless old is NULL; at NULL: v[i] */
OUTLINE void StoreCells(int N, const V v[], const int at[], const REAL *const old[W], REAL *const p[W])
{
  if (N < W) StoreBlocks(N, N, v, at, old, p);
  else if (at || old) StoreBlocks(W, N, v, at, old, p);
  else StoreBlocks(W, N, v, NULL, NULL, p);
}
