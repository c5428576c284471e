/* Computes v = A_j^-1 v on W patches, one per lane: v = (B x B x B) diag(1 / sum of eigenvalues) (F x F x F) v on arrays [m]^dim, m = 2 n,
   x fastest. */
#pragma once
#include "lanetables.h"

/* the tables of one direction */
typedef struct {
  const REAL *F[W];     /* F, B, lambda of every lane */
  int         agree;    /* the lanes have the same tables */
  int         mirrored; /* the lanes agree, and modes are even and odd in turn */
  V          *lanes[2]; /* F and B with one matrix per lane, unless the lanes agree */
} Table;

/* Cells to prefetch, one before every line of a contraction: many at a time would stall the work. */
typedef struct {
  int         next, count;
  const REAL *cell[(2 + DIM) * W << DIM];
} Ahead;

typedef struct {
  void (*contract)(const Table *, int back, int slow, int fast, Ahead *ahead, V v[]); /* Contract of the degree */
  Table       table[DIM];
  int         agree;   /* lanes agree on all tables and the weight */
  REAL       *inverse; /* [m]^dim inverse eigenvalue sums, for the tables and the weight on which lanes agreed last: */
  const REAL *of[DIM];
  REAL        weight;
} Solver;

/* Function i of the first cell, mirrored about the patch's middle, is Sign(i) times function Mirror(i): the thin basis is in reverse order,
   the orthonormal one alternates (VpBasisMirror). */
INLINE int Mirror(const int n, int i)
{
  return n + VpMirror(n, VpThinLayers(n, DIM), i);
}
INLINE REAL Sign(const int n, int i)
{
  return (REAL)VpMirrorSign(n, VpThinLayers(n, DIM), i);
}

INLINE void SetTable(const VpPatchView *view, const int n, const int32_t j[W], int d, Table *t)
{
  const int      mm = VpBackAt(2 * n);
  const int32_t *type = view->type + d;

  for (int l = 0; l < W; l++) t->F[l] = (const REAL *)view->fdm + (size_t)type[(size_t)j[l] * DIM] * (size_t)VpFdmSize(n);
  t->agree = Uniform(t->F);
  if (t->agree) {
    t->mirrored = view->mirrored[type[(size_t)j[0] * DIM]];
  } else {
    for (int back = 0; back < 2; back++) LoadLanes(mm, t->F, back * mm, t->lanes[back]);
  }
}

/* Multiply a line by F or B of a mirrored table. The even part of a line belongs to the even modes, the odd part to the odd modes. */
INLINE void LineForward(const int n, const REAL F[], int stride, V line[])
{
  const int m = 2 * n;
  V         part[2][VP_MAX_N];

  UNROLL (int i = 0; i < n; i++) {
    const V here = line[i * stride], there = line[Mirror(n, i) * stride];
    part[0][i] = here + Sign(n, i) * there;
    part[1][i] = here - Sign(n, i) * there;
  }
  for (int j = 0; j < m; j += 2) {
    V even = F[j * m] * part[0][0], odd = F[(j + 1) * m] * part[1][0];
    UNROLL (int i = 1; i < n; i++) {
      even += F[j * m + i] * part[0][i];
      odd += F[(j + 1) * m + i] * part[1][i];
    }
    line[j * stride] = even;
    line[(j + 1) * stride] = odd;
  }
}
INLINE void LineBackward(const int n, const REAL B[], int stride, V line[])
{
  const int m = 2 * n;
  V         mode[M];

  UNROLL (int j = 0; j < m; j++) mode[j] = line[j * stride];
  for (int i = 0; i < n; i++) {
    V even = B[i * m] * mode[0], odd = B[i * m + 1] * mode[1];
    UNROLL (int j = 2; j < m; j += 2) {
      even += B[i * m + j] * mode[j];
      odd += B[i * m + j + 1] * mode[j + 1];
    }
    line[i * stride] = even + odd;
    line[Mirror(n, i) * stride] = Sign(n, i) * (even - odd);
  }
}

/* v [slow][m][fast] = F or B times v */
INLINE void Contract(const int n, const Table *table, int back, int slow, int fast, Ahead *ahead, V v[])
{
  const int   m = 2 * n;
  const REAL *a = table->F[0] + back * VpBackAt(m);

  for (int s = 0; s < slow; s++, v += m * fast) {
    for (int f = 0; f < fast; f++) {
      if (ahead->next < ahead->count) Fetch(ahead->cell[ahead->next++], Power(n));
      if (!table->agree) LineLanes(m, table->lanes[back], fast, v + f);
      else if (!table->mirrored) LineFull(m, a, fast, v + f);
      else if (back) LineBackward(n, a, fast, v + f);
      else LineForward(n, a, fast, v + f);
    }
  }
}

/* weight / (sum of eigenvalues + reaction weight), or 0 if the divisor is not above the cutoff */
INLINE V Inverse(const VpPatchView *view, V sum, V weight)
{
  sum += (REAL)view->reaction * weight;
  return (V)((VI)(weight / sum) & (sum > (REAL)view->cutoff));
}

/* Sets the tables of patches j[0..W) and, if the lanes agree, the inverse eigenvalue sums. */
INLINE void SetPatches(const VpPatchView *view, const int n, const int32_t j[W], Solver *s, REAL weight[W])
{
  const int m = 2 * n;
  int       known = 1;

  s->agree = 1;
  for (int d = 0; d < DIM; d++) {
    SetTable(view, n, j, d, &s->table[d]);
    s->agree &= s->table[d].agree;
    known &= s->of[d] == s->table[d].F[0];
  }
  for (int l = 0; l < W; l++) {
    weight[l] = view->weight ? ((const REAL *)view->weight)[j[l]] : 1;
    s->agree &= weight[l] == weight[0];
  }
  if (!s->agree || (known && s->weight == weight[0])) return;
  for (int d = 0; d < DIM; d++) s->of[d] = s->table[d].F[0];
  s->weight = weight[0];
  for (int i = 0; i < Power(m); i++) {
    REAL sum = (REAL)view->reaction * weight[0];
    for (int d = 0, k = i; d < DIM; d++, k /= m) sum += s->of[d][VpLambdaAt(m) + k % m];
    s->inverse[i] = sum > (REAL)view->cutoff ? weight[0] / sum : 0;
  }
}

/* Multiplies plane z of modes by the inverse eigenvalue sums. */
INLINE void ScalePlane(const VpPatchView *view, const int n, const Solver *s, const V lambda[][M], const REAL weight[W], int z, V v[])
{
  const int m = 2 * n;

  if (s->agree) {
    for (int i = 0; i < m * m; i++) v[i] *= s->inverse[z * m * m + i];
    return;
  }
  for (int y = 0; y < m; y++) {
    for (int x = 0; x < m; x++) {
      V sum = lambda[0][x] + lambda[1][y];
      if (DIM == 3) sum += lambda[DIM - 1][z];
      v[y * m + x] *= Inverse(view, sum, Load(weight));
    }
  }
}

/* v = A_j^-1 v on patches j[0..W), while cells `ahead` are prefetched */
INLINE void InvertPatches(const VpPatchView *view, const int n, const int32_t j[W], Solver *s, Ahead *ahead, V v[])
{
  const int    m = 2 * n, planes = DIM == 3 ? m : 1;
  const Table *x = &s->table[0], *y = &s->table[1], *z = &s->table[DIM - 1];
  REAL         weight[W];
  V            lambda[DIM][M];

  SetPatches(view, n, j, s, weight);
  for (int d = 0; d < DIM && !s->agree; d++) LoadLanes(m, s->table[d].F, VpLambdaAt(m), lambda[d]);
  if (DIM == 3) s->contract(z, 0, 1, m * m, ahead, v);
  for (int p = 0; p < planes; p++) {
    V *plane = v + p * m * m;
    s->contract(y, 0, 1, m, ahead, plane);
    s->contract(x, 0, m, 1, ahead, plane);
    ScalePlane(view, n, s, lambda, weight, p, plane);
    s->contract(x, 1, m, 1, ahead, plane);
    s->contract(y, 1, 1, m, ahead, plane);
  }
  if (DIM == 3) s->contract(z, 1, 1, m * m, ahead, v);
}
