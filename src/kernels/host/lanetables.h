/* The tables of W cells or patches, a lane each, and products of matrices with their lines. */
#pragma once
#include "lanes.h"

/* whether all lanes have the same array */
INLINE int Uniform(const REAL *const p[W])
{
  int same = 1;

  for (int l = 1; l < W; l++) same &= p[l] == p[0];
  return same;
}

/* v[i] = value first + i of W arrays, a lane each */
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

enum { M = 2 * VP_MAX_N }; /* the most values of a line */

/* line = A line, where A is a matrix a lane, or a line, with one matrix for all; the m values of a line are `stride` apart */
INLINE void LineLanes(const int m, const V A[], int stride, V line[])
{
  V t[M];

  UNROLL (int i = 0; i < m; i++) t[i] = line[i * stride];
  for (int j = 0; j < m; j++) {
    V sum = A[j * m] * t[0];
    UNROLL (int i = 1; i < m; i++) sum += A[j * m + i] * t[i];
    line[j * stride] = sum;
  }
}
INLINE void LineFull(const int m, const REAL a[], int stride, V line[])
{
  V t[M];

  UNROLL (int i = 0; i < m; i++) t[i] = line[i * stride];
  for (int j = 0; j < m; j++) {
    V sum = a[j * m] * t[0];
    UNROLL (int i = 1; i < m; i++) sum += a[j * m + i] * t[i];
    line[j * stride] = sum;
  }
}
