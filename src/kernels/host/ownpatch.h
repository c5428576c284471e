/* A x on W patches, one per lane, where the coefficient a varies over cells of one size (VpView.unit).

   Along a direction A x is a K u on a cell, where K has no faces, and at both of its sides what the jump of traces adds times the harmonic
   mean H of the coefficients of both cells. So all cells share K and what jumps add, and five numbers are a line's own:

             a[0]       a[1]
      H[0] |------ H[1] ------| H[2]

   On the domain's boundary the jump is a multiple of the cell's own traces, and H = a. */
#pragma once
#include "halo.h"

/* the lines for a = 1 */
typedef struct {
  const REAL *line[DIM];
  REAL        K[DIM][VP_MAX_N * VP_MAX_N];
} UnitLines;

/* the lines along a direction through two cells of W patches */
typedef struct {
  V a[2], H[3];
  V outside[2][4];      /* view.outside at sides on the domain's boundary, else 0 */
  V beyond[2][2][ROWS]; /* [outer side][V, Q] of the cells there */
} OwnLines;

VP_HARMONIC_MEAN(INLINE REAL HarmonicMean, REAL)

INLINE REAL CoefficientOf(const VpView *view, int32_t cell, int d)
{
  return ((const REAL *)view->coefficient)[(size_t)cell * (size_t)view->directions + (size_t)(view->directions > 1 ? d : 0)];
}

INLINE void FindUnitLines(const VpView *view, const int n, UnitLines *unit)
{
  const int nt = VpThinLayers(n, DIM);

  for (int d = 0; d < DIM; d++) {
    REAL *K = unit->K[d];

    unit->line[d] = Line(view->unit, n, d);
    memcpy(K, unit->line[d], (size_t)(n * n) * sizeof(*K));
    for (int s = 0; s < 2; s++) {
      const REAL *value = Trace(view, nt, s, 0), *slope = value + nt, *g = unit->line[d] + VpLineSide(n, s);

      for (int i = 0; i < n; i++)
        for (int j = 0; j < nt; j++) K[i * n + view->first[s] + j] += g[i] * value[j] + g[n + i] * slope[j];
    }
  }
}

/* Finds the traces beyond outer side s of cells, from the values of the cells there. u [n^dim]: scratch */
INLINE void FindBeyond(const VpView *view, const int n, int d, int s, const REAL *const beyond[W], V u[], OwnLines *own)
{
  const int nt = VpThinLayers(n, DIM), fast = VpLineStride(d, n, n * n);

  LoadSide(view, n, 2 * d + 1 - s, beyond, u);
  for (int f = 0; f < Power(n) / n; f++) {
    V t[2];

    LineTraces(Trace(view, nt, 1 - s, 0), nt, u + VpLineStart(n, fast, f) + view->first[1 - s] * fast, fast, t);
    for (int k = 0; k < 2; k++) own->beyond[s][k][f] = t[k];
  }
}

/* jump = H times the jumps of traces at both sides of the two cells of line f, whose own traces at their ends are `end` */
INLINE void FindJumps(const OwnLines *own, int f, V end[2][2][2], V jump[2][2][2])
{
  UNROLL (int k = 0; k < 2; k++) {
    UNROLL (int s = 0; s < 2; s++) {
      const V *B = own->outside[s] + 2 * k, *t = end[s][s];

      jump[s][s][k] = own->H[2 * s] * (own->beyond[s][k][f] + B[0] * t[0] + B[1] * t[1] - t[k]);
    }
    jump[0][1][k] = own->H[1] * (end[1][0][k] - end[0][1][k]);
    jump[1][0][k] = -jump[0][1][k];
  }
}

/* v -= A x along d on lines of two cells, values of which are `stride` apart. at: of the lower cells */
INLINE void SubtractLines(const VpView *view, const int n, const UnitLines *unit, const OwnLines *own, int d, const int at[], const V x[],
                          V v[])
{
  const int   nt = VpThinLayers(n, DIM), stride = VpLineStride(d, 2 * n, 4 * n * n), fast = VpLineStride(d, n, n * n);
  const REAL *K = unit->K[d], *g = unit->line[d] + VpLineSide(n, 0);

  for (int f = 0; f < Power(n) / n; f++) {
    const int start = at[VpLineStart(n, fast, f)];
    V         u[2 * VP_MAX_N], end[2][2][2], jump[2][2][2];

    UNROLL (int i = 0; i < 2 * n; i++) u[i] = x[start + i * stride];
    UNROLL (int c = 0; c < 2; c++) {
      UNROLL (int s = 0; s < 2; s++) LineTraces(Trace(view, nt, s, 0), nt, u + c * n + view->first[s], 1, end[c][s]);
    }
    FindJumps(own, f, end, jump);
    UNROLL (int c = 0; c < 2; c++) {
      UNROLL (int i = 0; i < n; i++) u[c * n + i] *= own->a[c];
      for (int i = 0; i < n; i++) {
        V sum = v[start + (c * n + i) * stride];

        UNROLL (int s = 0; s < 2; s++) {
          UNROLL (int k = 0; k < 2; k++) sum -= g[(2 * s + k) * n + i] * jump[c][s][k];
        }
        UNROLL (int j = 0; j < n; j++) sum -= K[i * n + j] * u[c * n + j];
        v[start + (c * n + i) * stride] = sum;
      }
    }
  }
}
