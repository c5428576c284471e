/* A x on one cell: every direction's own part and its two neighbours' traces, a plane of rows at a time. */
#pragma once
#include "rows.h"

/* the numbers nt of layers that make a trace: in the thin basis, in the orthonormal one */
#define THIN(n)  ((n) < VP_THIN_FROM ? DENSE(n) : 2)
#define DENSE(n) ((n) < 4 ? (n) : 4)
INLINE PetscErrorCode CheckTraces(const VpView *view, const int n)
{
  PetscFunctionBegin;
  PetscCheck(view->nt == THIN(n) || view->nt == DENSE(n), PETSC_COMM_SELF, PETSC_ERR_PLIB, "No kernel for traces of %d layers at degree %d", view->nt, n - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x direction, whose lines lie in the vectors: columns of D, and of C_s = g[s] traces[1-s] which acts on a neighbour's nt values */
typedef struct {
  const REAL *line; /* that this was made from */
  V           D[VP_MAX_N][PARTS], C[2][VP_MAX_N][PARTS];
} LineX;

static const REAL zero_cell[VALUES]; /* stands for neighbours that there are not */

/* D [n][n], then g [2 sides][value, slope][n] */
INLINE const REAL *Line(const VpView *view, const int n, int32_t entry) { return (const REAL *)view->lines + (size_t)entry * (size_t)(n * n + 4 * n); }

INLINE const REAL *Trace(const VpView *view, const int nt, int end, int kind) { return (const REAL *)view->traces + (end * 2 + kind) * nt; }

INLINE void PrepareX(const VpView *view, const int n, const int nt, const REAL *line, LineX *X)
{
  if (X->line == line) return;
  X->line = line;
  LoadTransposed(n, line, X->D);
  for (int s = 0; s < 2; s++) {
    const REAL *value = Trace(view, nt, 1 - s, 0), *slope = Trace(view, nt, 1 - s, 1), *g = line + n * n + s * 2 * n;
    for (int c = 0; c < Parts(n); c++) {
      for (int i = 0; i < nt; i++) X->C[s][i][c] = value[i] * LoadRow(g, n, c) + slope[i] * LoadRow(g + n, n, c);
    }
  }
}

/* V and Q of a neighbour beyond side s: sums over its rows first[1-s].., `stride` rows apart, of the line of rows at p */
INLINE void RowTraces(const VpView *view, const int n, const int nt, int s, int stride, const REAL *p, int c, V t[2])
{
  const REAL *value = Trace(view, nt, 1 - s, 0), *slope = Trace(view, nt, 1 - s, 1);

  p += view->first[1 - s] * stride * n;
  t[0] = t[1] = (V){0};
  UNROLL for (int i = 0; i < nt; i++) {
    const V row = LoadRow(p + i * stride * n, n, c);
    t[0] += value[i] * row;
    t[1] += slope[i] * row;
  }
}

/* y = A u, or b - A u where b is not NULL; beyond[2 d + s]: the neighbours' values, zero_cell where there is none; X: of line[0];
   ahead: those of a cell to come, fetched meanwhile, or NULL */
INLINE void CellApply(const VpView *view, const int n, const int nt, const REAL *u, const REAL *const beyond[], const REAL *const line[], const LineX *X, const REAL *b, REAL *y, const REAL *const ahead[])
{
  const int planes = DIM == 3 ? n : 1;
  V         U[ROWS][PARTS], Z[2][VP_MAX_N][PARTS][2]; /* own rows; the traces in z */

  LoadCell(n, u, U);
  if (DIM == 3) {
    for (int s = 0; s < 2; s++) {
      for (int r = 0; r < n; r++) {
        UNROLL for (int c = 0; c < Parts(n); c++) RowTraces(view, n, nt, s, n, beyond[2 * (DIM - 1) + s] + r * n, c, Z[s][r][c]);
      }
    }
  }
  for (int z = 0; z < planes; z++) {
    for (int i = 0; i < 2 * DIM && ahead; i++) Fetch(ahead[i] + z * n * n, n * n);
    UNROLL for (int c = 0; c < Parts(n); c++) {
      V sum[VP_MAX_N];
      UNROLL for (int r = 0; r < n; r++) { /* x: values times columns */
        const REAL *row = u + z * n * n + r * n;
        sum[r]          = row[0] * X->D[0][c];
        UNROLL for (int i = 1; i < n; i++) sum[r] += row[i] * X->D[i][c];
        UNROLL for (int s = 0; s < 2; s++) {
          const REAL *v = beyond[s] + view->first[1 - s] + z * n * n + r * n;
          UNROLL for (int i = 0; i < nt; i++) sum[r] += v[i] * X->C[s][i][c];
        }
      }
      UNROLL for (int i = 0; i < n; i++) { /* y */
        const V row = U[z * n + i][c];
        UNROLL for (int r = 0; r < n; r++) sum[r] += line[1][r * n + i] * row;
      }
      UNROLL for (int s = 0; s < 2; s++) {
        const REAL *g = line[1] + n * n + s * 2 * n;
        V           t[2];
        RowTraces(view, n, nt, s, 1, beyond[2 + s] + z * n * n, c, t);
        UNROLL for (int r = 0; r < n; r++) {
          sum[r] += g[r] * t[0];
          sum[r] += g[n + r] * t[1];
        }
      }
      if (DIM == 3) { /* z */
        const REAL *D = line[DIM - 1], *g = D + n * n;
        UNROLL for (int i = 0; i < n; i++) {
          const REAL a = D[z * n + i];
          UNROLL for (int r = 0; r < n; r++) sum[r] += a * U[i * n + r][c];
        }
        UNROLL for (int s = 0; s < 2; s++) {
          const REAL g0 = g[s * 2 * n + z], g1 = g[s * 2 * n + n + z];
          UNROLL for (int r = 0; r < n; r++) {
            sum[r] += g0 * Z[s][r][c][0];
            sum[r] += g1 * Z[s][r][c][1];
          }
        }
      }
      UNROLL for (int r = 0; r < n; r++) {
        const int at = (z * n + r) * n;
        if (b) sum[r] = LoadRow(b + at, n, c) - sum[r];
        StoreRow(y + at, n, c, sum[r]);
      }
    }
  }
}
