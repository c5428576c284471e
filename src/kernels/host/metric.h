/* Cells with a coefficient at points (VpMetricView) and their sides, one at a time. Values of a cell, and numbers at the points of a side,
   are rows of n along their first direction. */
#pragma once
#include "rows.h"

/* Keeps a loop over rows as it is: unrolled, all loops of a cell would not fit into a processor's cache of instructions. Under sanitizers
   GCC warns of the annotation where it adds to a loop's condition. */
#ifdef __SANITIZE_ADDRESS__
  #define ROLL(...) for (__VA_ARGS__)
#elif defined(__clang__)
  #define ROLL(...) _Pragma("clang loop unroll(disable)") for (__VA_ARGS__)
#else
  #define ROLL(...) _Pragma("GCC unroll 1") for (__VA_ARGS__)
#endif

/* A loop over rows or sides of a cell: the values of a square of few rows stay in registers. */
#if VP_DIM == 3 || defined(__SANITIZE_ADDRESS__)
  #define ROLL_CELL ROLL
#elif defined(__clang__)
  #define ROLL_CELL UNROLL
#else
  #define ROLL_CELL(...) _Pragma("GCC unroll 7") for (__VA_ARGS__)
#endif
/* A loop over rows of a side: short ones stay in registers. */
#ifdef VP_ONLY_SMALL
  #define ROLL_SIDE UNROLL
#else
  #define ROLL_SIDE ROLL_CELL
#endif

enum { FACE = ROWS, LINES = DIM == 3 ? VP_MAX_N : 1, COMPONENTS = DIM * (DIM + 1) / 2, SIDES = 2 * DIM };

typedef V Cell[ROWS * VECTORS];
typedef V Side[LINES * VECTORS];
typedef V Traces[2][LINES * VECTORS]; /* V, then F or slopes */

INLINE int FaceOf(const int n)
{
  return Power(n) / n;
}
/* rows of a cell and of one of its sides */
INLINE int CellRows(const int n)
{
  return Power(n) / n;
}
INLINE int SideRows(const int n)
{
  return Power(n) / (n * n);
}

INLINE void LoadRows(const int n, const int rows, const REAL *p, V v[])
{
  ROLL_SIDE (int r = 0; r < rows; r++) {
    UNROLL (int c = 0; c < Vectors(n); c++) v[r * Vectors(n) + c] = LoadRow(p + r * n, n, c);
  }
}
/* Rows come in order, and what a vector has beyond its row is overwritten by the next one: stores of a part of a vector are slow. */
INLINE void StoreRows(const int n, const int rows, const V v[], REAL *p)
{
  const int last = rows - 1;

  ROLL_SIDE (int r = 0; r < last; r++) {
    UNROLL (int c = 0; c < Vectors(n); c++) Store(p + r * n + c * W, v[r * Vectors(n) + c]);
  }
  UNROLL (int c = 0; c < Vectors(n); c++) StoreRow(p + last * n, n, c, v[last * Vectors(n) + c]);
}
/* place of number i of rows of n among the lanes of their vectors */
INLINE int LaneOf(const int n, int i)
{
  return i / n * Vectors(n) * W + i % n;
}

/* a matrix [n][n], and its columns and rows as vectors */
typedef struct {
  const REAL *A;
  V           column[VP_MAX_N * VECTORS], row[VP_MAX_N * VECTORS];
} Matrix;
INLINE void FindMatrix(const int n, const REAL *A, Matrix *M)
{
  V columns[VP_MAX_N][VECTORS];

  M->A = A;
  LoadRows(n, n, A, M->row);
  LoadTransposed(n, A, columns);
  for (int i = 0; i < n; i++) {
    for (int c = 0; c < Vectors(n); c++) M->column[i * Vectors(n) + c] = columns[i][c];
  }
}

/* to = M from along the rows, or its transpose; adds: plus `to` */
INLINE void ContractX(const int n, const int rows, const int transposed, const int adds, const Matrix *M, const V from[], V to[])
{
  V T[VP_MAX_N * VECTORS];

  UNROLL (int i = 0; i < n * Vectors(n); i++) T[i] = transposed ? M->row[i] : M->column[i];
  ROLL_SIDE (int r = 0; r < rows; r++) {
    const REAL *x = (const REAL *)(from + r * Vectors(n));
    V           s[VECTORS];

    UNROLL (int c = 0; c < Vectors(n); c++) s[c] = adds ? to[r * Vectors(n) + c] + x[0] * T[c] : x[0] * T[c];
    UNROLL (int i = 1; i < n; i++) {
      UNROLL (int c = 0; c < Vectors(n); c++) s[c] += x[i] * T[i * Vectors(n) + c];
    }
    UNROLL (int c = 0; c < Vectors(n); c++) to[r * Vectors(n) + c] = s[c];
  }
}

/* the same along direction d */
INLINE void Contract(const int n, const int rows, const int d, const int transposed, const int adds, const Matrix *M, const V from[],
                     V to[])
{
  const int stride = DIM == 3 && d == 2 ? n : 1;

  if (d == 0) {
    ContractX(n, rows, transposed, adds, M, from, to);
    return;
  }
  ROLL_CELL (int line = 0; line < rows / n; line++) {
    const int start = VpLineStart(n, stride, line);

    UNROLL (int c = 0; c < Vectors(n); c++) {
      V t[VP_MAX_N], s[VP_MAX_N];

      UNROLL (int i = 0; i < n; i++) t[i] = from[(start + i * stride) * Vectors(n) + c];
      UNROLL (int q = 0; q < n; q++) {
        s[q] = M->A[transposed ? q : q * n] * t[0];
        if (adds) s[q] += to[(start + q * stride) * Vectors(n) + c];
        UNROLL (int i = 1; i < n; i++) s[q] += M->A[transposed ? i * n + q : q * n + i] * t[i];
      }
      UNROLL (int q = 0; q < n; q++) to[(start + q * stride) * Vectors(n) + c] = s[q];
    }
  }
}

/* Matrices along directions */
typedef REAL Ends __attribute__((vector_size(4 * sizeof(REAL))));
typedef struct {
  const REAL *end; /* as in the view */
  Matrix      slope, half[2];
  V           row[2][2][VECTORS]; /* [2 ends][value, outward slope] of functions */
  Ends        ends[VP_MAX_N];     /* [n][2 ends][value, outward slope] */
} Tables;
INLINE void FindTables(const VpMetricView *m, const int n, Tables *t)
{
  t->end = m->end;
  FindMatrix(n, m->slope, &t->slope);
  for (int k = 0; k < 2 && m->half; k++) FindMatrix(n, m->half + k * n * n, &t->half[k]);
  for (int e = 0; e < 4; e++) {
    LoadRows(n, 1, m->end + e * n, t->row[e / 2][e % 2]);
    for (int i = 0; i < n; i++) t->ends[i][e] = m->end[e * n + i];
  }
}

/* the number of a cell in the arrays of the metric, which functions below call `at` */
INLINE int32_t NumberOf(const VpMetricView *m, int32_t cell)
{
  return cell % m->period;
}

/* how many cells later numbers are needed that are prefetched now */
INLINE int Later(const int n)
{
  return 1 + 512 / Power(n);
}

/* numbers [first, first + count) of an array of the metric. scratch: memory for them */
INLINE const REAL *FindNumbers(const VpMetricView *m, const void *array, size_t first, int count, REAL scratch[])
{
  const float *single = (const float *)array + first;

  if (m->precision == VP_DOUBLE) return (const REAL *)array + first;
  for (int i = 0; i < count; i++) scratch[i] = (REAL)single[i];
  return scratch;
}

/* LoadRow of numbers in single precision */
typedef float Single __attribute__((vector_size(W * sizeof(float))));
INLINE V      LoadSingleRow(const float *p, int n, int c)
{
  const int left = n - c * W;
  Single    v = {0};

  p += c * W;
  if (left >= W) memcpy(&v, p, sizeof(v));
#ifdef __AVX512VL__
  else {
    const __m256 row = _mm256_maskz_loadu_ps((__mmask8)((1u << left) - 1), p);

    memcpy(&v, &row, W < 8 ? sizeof(v) : sizeof(row));
  }
#else
  else memcpy(&v, p, (size_t)left * sizeof(float));
#endif
  return __builtin_convertvector(v, V);
}
/* vector c of a row of such numbers, from number `first` on; single: as they are stored */
INLINE V LoadNumbers(const int single, const void *array, size_t first, const int n, int c)
{
  return single ? LoadSingleRow((const float *)array + first, n, c) : LoadRow((const REAL *)array + first, n, c);
}
/* Prefetches such numbers. */
INLINE void FetchNumbers(const int single, const void *array, size_t first, int count)
{
  const size_t size = single ? sizeof(float) : sizeof(REAL);

  for (size_t i = 0; i < (size_t)count * size; i += 64) __builtin_prefetch((const char *)array + first * size + i, 0, 2);
}

/* z = scale factor times z; or times x, where loads */
INLINE void ScaleRows(const VpMetricView *m, const int n, const int loads, int32_t at, const REAL *x, V z[])
{
  const REAL  scale = m->scale[at];
  REAL        scratch[VALUES];
  const REAL *factor = m->factor ? FindNumbers(m, m->factor, (size_t)at * (size_t)Power(n), Power(n), scratch) : NULL;

  ROLL_CELL (int r = 0; r < CellRows(n); r++) {
    UNROLL (int c = 0; c < Vectors(n); c++) {
      const int i = r * Vectors(n) + c;
      const V   value = loads ? LoadRow(x + r * n, n, c) : z[i];

      z[i] = factor ? value * (scale * LoadRow(factor + r * n, n, c)) : value * scale;
    }
  }
}
INLINE void Scale(const VpMetricView *m, const int n, int32_t at, V z[])
{
  ScaleRows(m, n, 0, at, NULL, z);
}
INLINE void LoadScaled(const VpMetricView *m, const int n, int32_t at, const REAL *x, V z[])
{
  ScaleRows(m, n, 1, at, x, z);
}

/* H of a side [n^(dim-1)], and sigma = `beyond` + penalty H_dd */
typedef struct {
  const REAL *H[DIM], *beyond;
  REAL        penalty, scratch[DIM * FACE];
} SideNumbers;

/* Prefetches H of `count` sides of a cell. */
INLINE void FetchSides(const VpMetricView *m, int32_t at, int side, int count)
{
  const int each = (m->affine ? 1 : VpMetricRows(DIM, m->components)) * m->spread;

  FetchNumbers(m->precision == VP_SINGLE, m->side, ((size_t)at * SIDES + (size_t)side) * (size_t)each, count * each);
}

INLINE void FindSideNumbers(const VpMetricView *m, const int n, int32_t at, int side, SideNumbers *s)
{
  const int    rows = VpMetricRows(DIM, m->components), stored = m->affine ? 1 : rows, size = FaceOf(n), d = side / 2;
  const size_t item = (size_t)at * SIDES + (size_t)side;
  const int    each = stored * m->spread;
  const REAL  *H = FindNumbers(m, m->side, item * (size_t)each, each, s->scratch);

  s->beyond = m->beyond + item * (size_t)size;
  s->penalty = m->penalty[at];
  for (int r = 0; r < DIM; r++) s->H[r] = r < rows ? H + r * size : NULL;
  if (m->spread == size && stored == rows) return;
  for (int r = 0; r < rows; r++) {
    const REAL *affine = m->affine + (size_t)at * (size_t)VpMetricAffine(DIM, m->components) + m->components + d * (rows - 1) - 1;
    const REAL  ratio = r == 0 ? 1 : side % 2 ? affine[r] : -affine[r];

    for (int l = 0; l < size; l++) s->scratch[r * size + l] = ratio * H[m->spread == size ? l : 0];
    s->H[r] = s->scratch + r * size;
  }
}

/* of part number `part` of a side that hangs */
INLINE void FindPartNumbers(const VpMetricView *m, const int n, int32_t part, SideNumbers *s)
{
  const int   rows = VpMetricRows(DIM, m->components), size = FaceOf(n);
  const REAL *H = m->part + (size_t)part * (size_t)((rows + 1) * size);

  for (int r = 0; r < DIM; r++) s->H[r] = r < rows ? H + r * size : NULL;
  s->beyond = H + rows * size;
  s->penalty = 0;
}

INLINE void FindSigma(const int n, const SideNumbers *s, V sigma[])
{
  ROLL_SIDE (int r = 0; r < SideRows(n); r++) {
    UNROLL (int c = 0; c < Vectors(n); c++)
      sigma[r * Vectors(n) + c] = LoadRow(s->beyond + r * n, n, c) + s->penalty * LoadRow(s->H[0] + r * n, n, c);
  }
}

INLINE void TakeEndsX(const Tables *T, const int n, const int first, const int count, const V z[], Traces end[])
{
  ROLL_CELL (int r = 0; r < CellRows(n); r++) {
    const REAL *x = (const REAL *)(z + r * Vectors(n));
    Ends        e = x[0] * T->ends[0];

    UNROLL (int i = 1; i < n; i++) e += x[i] * T->ends[i];
    for (int i = 0; i < 2 * count; i++) ((REAL *)end[i / 2][i % 2])[LaneOf(n, r)] = e[2 * first + i];
  }
}

/* values and outward slopes of z on the sides [first, first + count) in direction d */
INLINE void TakeEnds(const Tables *T, const int n, const int d, const int first, const int count, const V z[], Traces end[])
{
  const int   stride = DIM == 3 && d == 2 ? n : 1;
  const REAL *row = T->end + 2 * first * n;

  if (d == 0) {
    UNROLL (int e = 0; e < count; e++) {
      UNROLL (int k = 0; k < 2; k++) {
        ROLL_SIDE (int i = 0; i < SideRows(n) * Vectors(n); i++) end[e][k][i] = (V){0};
      }
    }
    TakeEndsX(T, n, first, count, z, end);
    return;
  }
  ROLL_SIDE (int line = 0; line < SideRows(n); line++) {
    const int start = VpLineStart(n, stride, line);

    UNROLL (int c = 0; c < Vectors(n); c++) {
      V sum[4];

      UNROLL (int e = 0; e < 2 * count; e++) sum[e] = row[e * n] * z[start * Vectors(n) + c];
      UNROLL (int i = 1; i < n; i++) {
        UNROLL (int e = 0; e < 2 * count; e++) sum[e] += row[e * n + i] * z[(start + i * stride) * Vectors(n) + c];
      }
      UNROLL (int e = 0; e < 2 * count; e++) end[e / 2][e % 2][line * Vectors(n) + c] = sum[e];
    }
  }
}
/* the same on one side */
INLINE void TakeEnd(const Tables *T, const int n, int side, const V z[], Traces end)
{
  TakeEnds(T, n, side / 2, side % 2, 1, z, (Traces *)end);
}

/* to += H from, at the points of a side */
INLINE void AddTimes(const int n, const REAL *H, const V from[], V to[])
{
  ROLL_SIDE (int r = 0; r < SideRows(n); r++) {
    UNROLL (int c = 0; c < Vectors(n); c++) to[r * Vectors(n) + c] += LoadRow(H + r * n, n, c) * from[r * Vectors(n) + c];
  }
}
INLINE void Multiply(const int n, const REAL *H, const V from[], V to[])
{
  ROLL_SIDE (int r = 0; r < SideRows(n); r++) {
    UNROLL (int c = 0; c < Vectors(n); c++) to[r * Vectors(n) + c] = LoadRow(H + r * n, n, c) * from[r * Vectors(n) + c];
  }
}

/* Makes F of V and outward slopes on a side. */
INLINE void TakeFlux(const Tables *T, const int n, const int full, const SideNumbers *s, Traces t)
{
  Side along;

  Multiply(n, s->H[0], t[1], t[1]);
  for (int e = 1; e < DIM && full; e++) {
    Contract(n, SideRows(n), e - 1, 0, 0, &T->slope, t[0], along);
    AddTimes(n, s->H[e], along, t[1]);
  }
}

/* Makes numbers p by V and r by F of the test functions on a side to those by V and outward slopes. */
INLINE void TakeFluxAdjoint(const Tables *T, const int n, const int full, const SideNumbers *s, V p[], V r[])
{
  for (int e = 1; e < DIM && full; e++) {
    Side along;

    Multiply(n, s->H[e], r, along);
    Contract(n, SideRows(n), e - 1, 1, 1, &T->slope, along, p);
  }
  Multiply(n, s->H[0], r, r);
}

INLINE void AddEndsX(const Tables *T, const int n, const int first, const int count, const Side p[], const Side q[], V y[])
{
  ROLL_CELL (int r = 0; r < CellRows(n); r++) {
    UNROLL (int e = 0; e < count; e++) {
      const REAL P = ((const REAL *)p[e])[LaneOf(n, r)], Q = ((const REAL *)q[e])[LaneOf(n, r)];

      UNROLL (int c = 0; c < Vectors(n); c++) y[r * Vectors(n) + c] += P * T->row[first + e][0][c] + Q * T->row[first + e][1][c];
    }
  }
}

/* y += p times V plus q times the outward slope of the test functions, for the sides [first, first + count) in direction d */
INLINE void AddEnds(const Tables *T, const int n, const int d, const int first, const int count, const Side p[], const Side q[], V y[])
{
  const int   stride = DIM == 3 && d == 2 ? n : 1;
  const REAL *end = T->end + 2 * first * n;

  if (d == 0) {
    AddEndsX(T, n, first, count, p, q, y);
    return;
  }
  ROLL_SIDE (int line = 0; line < SideRows(n); line++) {
    const int start = VpLineStart(n, stride, line);

    UNROLL (int c = 0; c < Vectors(n); c++) {
      const int at = line * Vectors(n) + c;

      UNROLL (int i = 0; i < n; i++) {
        V *to = y + (start + i * stride) * Vectors(n) + c;

        UNROLL (int e = 0; e < count; e++) *to += end[2 * e * n + i] * p[e][at] + end[(2 * e + 1) * n + i] * q[e][at];
      }
    }
  }
}
/* the same for one side */
INLINE void AddEnd(const Tables *T, const int n, int side, const V p[], const V q[], V y[])
{
  AddEnds(T, n, side / 2, side % 2, 1, (const Side *)p, (const Side *)q, y);
}

/* p, r = the numbers by V and F of the test functions of a cell with the traces `own`, for the traces `other` beyond */
INLINE void FaceForm(const int n, const V sigma[], Traces own, Traces other, V p[], V r[])
{
  ROLL_SIDE (int i = 0; i < SideRows(n) * Vectors(n); i++) {
    const V jump = own[0][i] - other[0][i];

    p[i] = sigma[i] * jump - (own[1][i] - other[1][i]) / 2;
    r[i] = -jump / 2;
  }
}

/* the same on a side with the numbers s, for traces as they are stored */
INLINE void SideForm(const int n, const SideNumbers *s, const REAL *own, const REAL *other, V p[], V r[])
{
  const int size = FaceOf(n);

  ROLL_SIDE (int row = 0; row < SideRows(n); row++) {
    UNROLL (int c = 0; c < Vectors(n); c++) {
      const int at = row * n;
      const V   sigma = LoadRow(s->beyond + at, n, c) + s->penalty * LoadRow(s->H[0] + at, n, c);
      const V   jump = LoadRow(own + at, n, c) - LoadRow(other + at, n, c);

      p[row * Vectors(n) + c] = sigma * jump - (LoadRow(own + size + at, n, c) - LoadRow(other + size + at, n, c)) / 2;
      r[row * Vectors(n) + c] = -jump / 2;
    }
  }
}

INLINE void LoadTraces(const int n, const REAL *from, Traces t)
{
  for (int k = 0; k < 2; k++) LoadRows(n, SideRows(n), from + k * FaceOf(n), t[k]);
}
INLINE void StoreTraces(const int n, Traces t, REAL *to)
{
  for (int k = 0; k < 2; k++) StoreRows(n, SideRows(n), t[k], to + k * FaceOf(n));
}

INLINE int TurnOf(const VpView *view, int32_t cell, int side)
{
  return view->turn ? view->turn[(size_t)cell * SIDES + (size_t)side] : 0;
}

/* the number of point l of a cell's side on the side of the cell beyond; in 2D directions along the side cannot change places */
INLINE int TurnPoint(const int n, int turn, int l)
{
  return VpTurnPoint(n, DIM == 2 ? turn & 1 : turn, l);
}

/* to = numbers at the points of a cell's side, in the order of the cell beyond */
INLINE void TurnPoints(const int n, int turn, const V from[], V to[])
{
  REAL here[FACE], there[FACE];

  StoreRows(n, SideRows(n), from, here);
  for (int l = 0; l < FaceOf(n); l++) there[TurnPoint(n, turn, l)] = here[l];
  LoadRows(n, SideRows(n), there, to);
}

/* to = V and F of a cell beyond in the order of the own cell's points */
INLINE void TurnTraces(const int n, int turn, const REAL there[], REAL to[])
{
  for (int l = 0; l < 2 * FaceOf(n); l++) to[l] = there[l / FaceOf(n) * FaceOf(n) + TurnPoint(n, turn, l % FaceOf(n))];
}
