/* Computes v = A_j^-1 v on W patches, one per lane: v = (B x B x B) diag(1 / sum of eigenvalues) (F x F x F) v on arrays [m]^dim, m = 2 n,
   x fastest. */
#pragma once
#include "lanetables.h"

/* the tables of one direction */
typedef struct {
  const REAL *F[W];     /* F, B, lambda of every lane */
  int         agree;    /* the lanes have the same tables */
  int         mirrored; /* the lanes agree, and modes are alternately even and odd */
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
  int         agree;   /* lanes agree on all tables and factors */
  REAL       *inverse; /* [m]^dim inverse eigenvalue sums, for the tables and factors on which lanes agreed last: */
  const REAL *of[DIM];
  REAL        factor[DIM + 1];
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

/* 1 / (sum of eigenvalues and reaction), or 0 if the divisor is not above the cutoff */
INLINE V Inverse(const VpPatchView *view, V sum)
{
  return (V)((VI)(1 / sum) & (sum > (REAL)view->cutoff));
}

/* VpPatchView.factor of patches j[0..W) */
INLINE void ReadFactors(const VpPatchView *view, const int32_t j[W], REAL factor[DIM + 1][W])
{
  const REAL *all = view->factor;

  for (int l = 0; l < W; l++)
    for (int i = 0; i <= DIM; i++) factor[i][l] = all ? all[(size_t)j[l] * (DIM + 1) + i] : i < DIM ? 1 : (REAL)view->reaction;
}

/* Sets the tables of patches j[0..W), their factors, and, if the lanes agree, the inverse eigenvalue sums. */
INLINE void SetPatches(const VpPatchView *view, const int n, const int32_t j[W], Solver *s, REAL factor[DIM + 1][W])
{
  const int m = 2 * n;
  int       known = 1;

  s->agree = 1;
  for (int d = 0; d < DIM; d++) {
    SetTable(view, n, j, d, &s->table[d]);
    s->agree &= s->table[d].agree;
    known &= s->of[d] == s->table[d].F[0];
  }
  ReadFactors(view, j, factor);
  for (int i = 0; i <= DIM; i++) {
    for (int l = 1; l < W; l++) s->agree &= factor[i][l] == factor[i][0];
    known &= s->factor[i] == factor[i][0];
  }
  if (!s->agree || known) return;
  for (int d = 0; d < DIM; d++) s->of[d] = s->table[d].F[0];
  for (int i = 0; i <= DIM; i++) s->factor[i] = factor[i][0];
  for (int i = 0; i < Power(m); i++) {
    REAL sum = factor[DIM][0];
    for (int d = 0, k = i; d < DIM; d++, k /= m) sum += factor[d][0] * s->of[d][VpLambdaAt(m) + k % m];
    s->inverse[i] = sum > (REAL)view->cutoff ? 1 / sum : 0;
  }
}

/* Multiplies plane z of modes by the inverse eigenvalue sums. lambda: times factors, those of direction 0 plus the reaction */
INLINE void ScalePlane(const VpPatchView *view, const int n, const Solver *s, const V lambda[][M], int z, V v[])
{
  const int m = 2 * n;

  if (s->agree) {
    for (int i = 0; i < m * m; i++) v[i] *= s->inverse[z * m * m + i];
    return;
  }
  for (int y = 0; y < m; y++) {
    V rest = lambda[1][y];
    if (DIM == 3) rest += lambda[DIM - 1][z];
    for (int x = 0; x < m; x++) v[y * m + x] *= Inverse(view, lambda[0][x] + rest);
  }
}

/* v = A_j^-1 v on patches j[0..W), while cells `ahead` are prefetched */
INLINE void InvertPatches(const VpPatchView *view, const int n, const int32_t j[W], Solver *s, Ahead *ahead, V v[])
{
  const int    m = 2 * n, planes = DIM == 3 ? m : 1;
  const Table *x = &s->table[0], *y = &s->table[1], *z = &s->table[DIM - 1];
  REAL         factor[DIM + 1][W];
  V            lambda[DIM][M];

  SetPatches(view, n, j, s, factor);
  for (int d = 0; d < DIM && !s->agree; d++) {
    LoadLanes(m, s->table[d].F, VpLambdaAt(m), lambda[d]);
    for (int k = 0; k < m; k++) lambda[d][k] *= Load(factor[d]);
    for (int k = 0; k < m && d == 0; k++) lambda[d][k] += Load(factor[DIM]);
  }
  if (DIM == 3) s->contract(z, 0, 1, m * m, ahead, v);
  for (int p = 0; p < planes; p++) {
    V *plane = v + p * m * m;
    s->contract(y, 0, 1, m, ahead, plane);
    s->contract(x, 0, m, 1, ahead, plane);
    ScalePlane(view, n, s, lambda, p, plane);
    s->contract(x, 1, m, 1, ahead, plane);
    s->contract(y, 1, 1, m, ahead, plane);
  }
  if (DIM == 3) s->contract(z, 1, 1, m * m, ahead, v);
}
