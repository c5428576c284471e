/* The tables of W cells or patches, one per lane, and products of matrices with their lines. */
#pragma once
#include "lanes.h"

/* whether all lanes have the same array */
INLINE int Uniform(const REAL *const p[W])
{
  int same = 1;

  for (int l = 1; l < W; l++) same &= p[l] == p[0];
  return same;
}

/* v[i] = value first + i of W arrays, one per lane */
OUTLINE void LoadLanes(int count, const REAL *const p[W], int first, V v[])
{
  if (Uniform(p)) {
    for (int i = 0; i < count; i++) v[i] = p[0][first + i] - (V){0};
    return;
  }
  for (int i = 0; i < count; i++) {
    REAL t[W];
    for (int l = 0; l < W; l++) t[l] = p[l][first + i];
    v[i] = Load(t);
  }
}

enum { M = 2 * VP_MAX_N }; /* most values of a line */

/* Defines a function: line = A line, for a matrix of a type of numbers. The m values of a line are `stride` apart. */
#define VP_LINE_PRODUCT(function, Number) \
  function(const int m, const Number A[], int stride, V line[]) \
  { \
    V t[M]; \
\
    UNROLL (int i = 0; i < m; i++) t[i] = line[i * stride]; \
    for (int j = 0; j < m; j++) { \
      V sum = A[j * m] * t[0]; \
      UNROLL (int i = 1; i < m; i++) sum += A[j * m + i] * t[i]; \
      line[j * stride] = sum; \
    } \
  }
VP_LINE_PRODUCT(INLINE void LineLanes, V)   /* one matrix per lane */
VP_LINE_PRODUCT(INLINE void LineFull, REAL) /* one matrix for all lanes */
