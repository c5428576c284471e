/* Computes A x on one cell, one plane of rows at a time: every direction's diagonal block and the traces of two neighbours. */
#pragma once
#include "rows.h"

/* Checks that kernels for the view's traces exist. Those for VpDenseLayers are made only for outer levels, in double precision (dense). */
INLINE PetscErrorCode CheckTraces(const VpView *view, const int n, int dense)
{
  PetscFunctionBegin;
  PetscCheck(view->nt == VpThinLayers(n, DIM) || (dense && view->nt == VpDenseLayers(n)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "No kernel for traces of %d layers at degree %d", view->nt, n - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices along x, whose lines lie in the vectors: columns of D, and of C_s = g[s] traces[1-s], which acts on nt values of the neighbour
   beyond side s. */
typedef struct {
  const REAL *line[DIM]; /* the lines from which this was made */
  int         even[DIM]; /* the line is its own mirror image and functions are alternately even and odd: half of D vanishes */
  V           D[VP_MAX_N][VECTORS], C[2][VP_MAX_N][VECTORS];
} XColumns;

static const REAL zero_cell[VALUES]; /* values of absent neighbours */

/* table of a line: D [n][n], then g [2 sides][value, slope][n] */
INLINE const REAL *Line(const void *lines, const int n, int32_t entry)
{
  return (const REAL *)lines + (size_t)entry * (size_t)VpLineSize(n);
}

INLINE const REAL *Trace(const VpView *view, const int nt, int end, int kind)
{
  return (const REAL *)view->traces + (end * 2 + kind) * nt;
}

/* to = the values u of a cell with a frame, in the order of the axes; back: from that order to the cell's own */
OUTLINE void TurnValues(const int n, int nt, int frame, int back, const REAL *u, REAL *to)
{
  int  at[3][VP_MAX_N];
  REAL sign[3][VP_MAX_N];

  for (int d = 0, stride = 1; d < 3; d++, stride *= n) {
    const int axis = VpFrameAxis(frame, d), flips = VpFrameFlips(frame, d);

    for (int i = 0; i < n; i++) {
      at[axis][i] = (flips ? VpMirror(n, nt, i) : i) * stride;
      sign[axis][i] = flips ? (REAL)VpMirrorSign(n, nt, i) : 1;
    }
  }
  for (int i = 0; i < Power(n); i++) {
    const int  x = i % n, y = i / n % n, z = i / (n * n), own = at[0][x] + at[1][y] + (DIM == 3 ? at[2][z] : 0);
    const REAL s = sign[0][x] * sign[1][y] * (DIM == 3 ? sign[2][z] : 1);

    to[back ? own : i] = s * u[back ? i : own];
  }
}

/* the values u of the cell beyond a side, along the directions of the cell; turned: a place for them */
INLINE const REAL *ValuesBeyond(const VpView *view, const int n, int32_t cell, int side, const REAL *u, REAL *turned)
{
  const int turn = view->turn ? view->turn[(size_t)cell * 2 * DIM + (size_t)side] : 0;

  if (!turn || u == zero_cell) return u;
  TurnValues(n, view->nt, VpFrameBeyond(DIM, 0, side, turn), 0, u, turned);
  return turned;
}

INLINE int IsEven(const int n, const REAL *D)
{
  const REAL *g = D + VpLineSide(n, 0);
  int         even = 1;

  for (int i = 0; i < n; i++) {
    const REAL sign = i % 2 ? -1 : 1;
    for (int j = 1 - i % 2; j < n; j += 2) even &= D[i * n + j] == 0;
    even &= g[2 * n + i] == sign * g[i] && g[3 * n + i] == sign * g[n + i];
  }
  return even;
}

INLINE void Prepare(const VpView *view, const int n, const int nt, const REAL *const line[], XColumns *X)
{
  for (int d = 1; d < DIM; d++) {
    if (X->line[d] != line[d]) X->even[d] = IsEven(n, line[d]);
    X->line[d] = line[d];
  }
  if (X->line[0] == line[0]) return;
  X->line[0] = line[0];
  LoadTransposed(n, line[0], X->D);
  for (int s = 0; s < 2; s++) {
    const REAL *value = Trace(view, nt, 1 - s, 0), *slope = Trace(view, nt, 1 - s, 1), *g = line[0] + VpLineSide(n, s);
    for (int c = 0; c < Vectors(n); c++) {
      for (int i = 0; i < nt; i++) X->C[s][i][c] = value[i] * LoadRow(g, n, c) + slope[i] * LoadRow(g + n, n, c);
    }
  }
}

/* t = V and Q of the neighbour beyond side s, from its rows first[1-s].., `stride` rows apart. p: the neighbour's line of rows */
INLINE void RowTraces(const VpView *view, const int n, const int nt, int s, int stride, const REAL *p, int c, V t[2])
{
  const REAL *value = Trace(view, nt, 1 - s, 0), *slope = Trace(view, nt, 1 - s, 1);

  p += view->first[1 - s] * stride * n;
  t[0] = t[1] = (V){0};
  UNROLL (int i = 0; i < nt; i++) {
    const V row = LoadRow(p + i * stride * n, n, c);
    t[0] += value[i] * row;
    t[1] += slope[i] * row;
  }
}

/* Replaces the traces of both sides by their sum and difference. Even functions need the sum alone, odd functions the difference. */
INLINE void SumAndDifference(V lower[2], V upper[2])
{
  UNROLL (int k = 0; k < 2; k++) {
    const V l = lower[k], u = upper[k];
    lower[k] = l + u;
    upper[k] = l - u;
  }
}

/* sum[r] += row r of D times the n rows of u, and of g times the traces t of both sides. step: 2 if the line is even, else 1 */
INLINE void AlongY(const int n, const int step, const REAL *D, V u[][VECTORS], int c, V t[2][2], V sum[])
{
  UNROLL (int i = 0; i < n; i++) {
    UNROLL (int r = step == 2 ? i % 2 : 0; r < n; r += step) sum[r] += D[r * n + i] * u[i][c];
  }
  UNROLL (int r = 0; r < n; r++) {
    UNROLL (int s = step == 2 ? r % 2 : 0; s < 2; s += step) {
      const REAL *gs = D + VpLineSide(n, step == 2 ? 0 : s);
      sum[r] += gs[r] * t[s][0];
      sum[r] += gs[n + r] * t[s][1];
    }
  }
}

/* the same for plane z, whose rows are n planes apart */
INLINE void AlongZ(const int n, const int step, int z, const REAL *D, V u[][VECTORS], int c, V t[2][VP_MAX_N][VECTORS][2], V sum[])
{
  const int from = step == 2 ? z % 2 : 0;

  for (int i = from; i < n; i += step) {
    const REAL a = D[z * n + i];
    UNROLL (int r = 0; r < n; r++) sum[r] += a * u[i * n + r][c];
  }
  for (int s = from; s < 2; s += step) {
    const REAL *gs = D + VpLineSide(n, step == 2 ? 0 : s);
    UNROLL (int r = 0; r < n; r++) {
      sum[r] += gs[z] * t[s][r][c][0];
      sum[r] += gs[n + z] * t[s][r][c][1];
    }
  }
}

/* y = A u, or b - A u if b is not NULL. beyond[2 d + s]: values of neighbours, or zero_cell; X: made by Prepare(); ahead: neighbours of a
   later cell, to prefetch, or NULL */
INLINE void CellApply(const VpView *view, const int n, const int nt, const REAL *u, const REAL *const beyond[], const XColumns *X,
                      const REAL *b, REAL *y, const REAL *const ahead[])
{
  const int planes = DIM == 3 ? n : 1;
  V         U[ROWS][VECTORS], Z[2][VP_MAX_N][VECTORS][2]; /* own rows; traces along z */

  LoadCell(n, u, U);
  if (DIM == 3) {
    for (int r = 0; r < n; r++) {
      UNROLL (int c = 0; c < Vectors(n); c++) {
        UNROLL (int s = 0; s < 2; s++) RowTraces(view, n, nt, s, n, beyond[2 * (DIM - 1) + s] + r * n, c, Z[s][r][c]);
        if (X->even[DIM - 1]) SumAndDifference(Z[0][r][c], Z[1][r][c]);
      }
    }
  }
  for (int z = 0; z < planes; z++) {
    for (int i = 0; i < 2 * DIM && ahead; i++) Fetch(ahead[i] + z * n * n, n * n);
    UNROLL (int c = 0; c < Vectors(n); c++) {
      V sum[VP_MAX_N], t[2][2];
      UNROLL (int r = 0; r < n; r++) { /* x: values times columns */
        const REAL *row = u + z * n * n + r * n;
        sum[r] = row[0] * X->D[0][c];
        UNROLL (int i = 1; i < n; i++) sum[r] += row[i] * X->D[i][c];
        UNROLL (int s = 0; s < 2; s++) {
          const REAL *v = beyond[s] + view->first[1 - s] + z * n * n + r * n;
          UNROLL (int i = 0; i < nt; i++) sum[r] += v[i] * X->C[s][i][c];
        }
      }
      UNROLL (int s = 0; s < 2; s++) RowTraces(view, n, nt, s, 1, beyond[2 + s] + z * n * n, c, t[s]);
      if (X->even[1]) {
        SumAndDifference(t[0], t[1]);
        AlongY(n, 2, X->line[1], U + z * n, c, t, sum);
      } else AlongY(n, 1, X->line[1], U + z * n, c, t, sum);
      if (DIM == 3) {
        if (X->even[DIM - 1]) AlongZ(n, 2, z, X->line[DIM - 1], U, c, Z, sum);
        else AlongZ(n, 1, z, X->line[DIM - 1], U, c, Z, sum);
      }
      UNROLL (int r = 0; r < n; r++) {
        const int at = (z * n + r) * n;
        if (b) sum[r] = LoadRow(b + at, n, c) - sum[r];
        StoreRow(y + at, n, c, sum[r]);
      }
    }
  }
}
