/* Fast diagonalisation of a patch along one direction, in which the patch has two cells. Coordinates y [2n] are the Legendre coefficients
   on both cells, times the square root of the mass's coefficient there. So the weighted mass is the identity, and orthonormal bases of
   spaces are orthonormal vectors. */
#include "legendre.h"
#include <string.h>

#define N2 (2 * VP_MAX_N)

typedef struct {
  const VpBasis *b;
  int            n;               /* functions per cell */
  Real           a[2], weight[2]; /* coefficients of the cells in the form and in the mass */
  Real           L[N2][N2];
  int            nc; /* number of constraints: the space has the y with constraint . y = 0 */
  Real           constraint[4][N2];
} Line;

static PetscBool ReadsBeyond(VpSide side)
{
  return (PetscBool)(side == VP_SIDE_INTERIOR || side == VP_SIDE_MIXED || side == VP_SIDE_LEVEL_END || VpReadsAlpha(side));
}

PetscBool VpFdmIsMirrored(const VpFdmKey *key)
{
  PetscBool beyond = (PetscBool)(!ReadsBeyond(key->side[0]) || key->h_beyond[0] == key->h_beyond[1]);

  return (PetscBool)(key->h[0] == key->h[1] && key->side[0] == key->side[1] && !key->step && !key->skew && !key->larger &&
                     key->face[0] == key->face[1] && beyond);
}

/* Sets the vectors whose products with y are traces of cell c at its end s: the value v . y and the outward derivative q . y. */
static void LineTraces(const Line *line, const VpFdmKey *key, int c, int s, Real v[N2], Real q[N2])
{
  memset(v, 0, N2 * sizeof(Real));
  memset(q, 0, N2 * sizeof(Real));
  for (int m = 0; m < line->n; m++) {
    v[c * line->n + m] = RuleValue(line->b, m, s) / sqrtl(key->h[c] * line->weight[c]);
    q[c * line->n + m] = RuleSlope(line->b, m, s) / sqrtl(key->h[c] * line->weight[c]) / key->h[c];
  }
}

/* L += c (gamma J J^T - mean (N J^T + J N^T)) for a face's jump J and normal derivatives N */
static void AddFace(Line *line, VpFaceTerms f, const Real J[N2], const Real N[N2])
{
  for (int i = 0; i < 2 * line->n; i++)
    for (int j = 0; j < 2 * line->n; j++) line->L[i][j] += f.c * (f.gamma * J[i] * J[j] - f.mean * (N[i] * J[j] + J[i] * N[j]));
}

/* Adds the interior face where end s of cell c meets end 1-s of the other cell. Requires: c is 0, or both have one volume. */
static void AddInterface(Line *line, const VpFdmKey *key, int c, int s, Real penalty)
{
  const Real larger = exp2l(key->larger);
  Real       J[N2], N[N2], v[N2], q[N2];

  LineTraces(line, key, c, s, J, N);
  LineTraces(line, key, 1 - c, 1 - s, v, q);
  for (int i = 0; i < N2; i++) {
    J[i] -= v[i];
    N[i] -= q[i] / larger;
  }
  AddFace(line, VpFaceForm(VP_SIDE_INTERIOR, key->h[0], line->a[0], key->h[1] * larger, line->a[1] * larger, penalty), J, N);
}

static void AddSide(Line *line, const VpFdmKey *key, int s, VpSpace space, Real penalty)
{
  const VpSide side = key->side[s] == VP_SIDE_MIXED ? VP_SIDE_INTERIOR : key->side[s];
  Real         v[N2], q[N2];

  LineTraces(line, key, s, s, v, q);
  if (key->side[s] == VP_SIDE_INTERIOR && space != VP_SPACE_FULL) {
    memcpy(line->constraint[line->nc++], v, sizeof(v));
    if (space == VP_SPACE_CLAMPED) memcpy(line->constraint[line->nc++], q, sizeof(q));
  } else {
    const Real a = side == VP_SIDE_INTERIOR || side == VP_SIDE_LEVEL_END ? line->a[s] * exp2l(key->face[s]) : line->a[s];

    AddFace(line, VpFaceForm(side, key->h[s], a, key->h_beyond[s], a, penalty), v, q);
  }
}

static void StepCoefficients(double step, Real a[2])
{
  a[0] = exp2l(PetscMax(-step, 0) / (Real)VP_STEPS);
  a[1] = exp2l(PetscMax(step, 0) / (Real)VP_STEPS);
}

static void LineCreate(const VpBasis *b, const VpFdmKey *key, VpSpace space, double penalty, Line *line)
{
  int  n = b->n;
  Real scale = (Real)penalty * b->degree * (b->degree + 1);

  *line = (Line){.b = b, .n = n};
  StepCoefficients(key->step, line->a);
  StepCoefficients(key->step + key->skew, line->weight);
  for (int c = 0; c < 2; c++)
    for (int l = 0; l < n; l++)
      for (int m = 0; m < n; m++)
        line->L[c * n + l][c * n + m] = line->a[c] / line->weight[c] * RuleStiff(b, l, m) / ((Real)key->h[c] * key->h[c]);
  AddInterface(line, key, 0, 1, scale);
  if (key->side[0] == VP_SIDE_WRAP) AddInterface(line, key, 1, 1, scale);
  else
    for (int s = 0; s < 2; s++) AddSide(line, key, s, space, scale);
}

/* Reduces Q [r][2n], whose rows are orthonormal, to a basis of the subspace where the constraints hold, and returns the new r. For each
   constraint a reflection mixes the rows so that only the last row violates the constraint. Then that row is dropped. */
static int ConstrainRows(const Line *line, int r, Real Q[N2][N2])
{
  int N = 2 * line->n;

  for (int k = 0; k < line->nc; k++) {
    Real w[N2], norm = 0, size = 0, dot;

    for (int i = 0; i < r; i++) {
      w[i] = 0;
      for (int j = 0; j < N; j++) w[i] += Q[i][j] * line->constraint[k][j];
      norm += w[i] * w[i];
    }
    for (int j = 0; j < N; j++) size += line->constraint[k][j] * line->constraint[k][j];
    if (norm <= 1e-20 * size) continue; /* The constraint holds already. */
    norm = sqrtl(norm);
    w[r - 1] += w[r - 1] < 0 ? -norm : norm;
    dot = norm * fabsl(w[r - 1]); /* |w|^2 / 2 */
    for (int j = 0; j < N; j++) {
      Real sum = 0;

      for (int i = 0; i < r; i++) sum += w[i] * Q[i][j];
      for (int i = 0; i < r; i++) Q[i][j] -= w[i] * sum / dot;
    }
    r--;
  }
  return r;
}

/* Replaces the orthonormal rows of Q [r][2n] by the eigenvectors of L on their span, with ascending lambda. */
static void DiagonalizeRows(const Line *line, int r, Real Q[N2][N2], double lambda[])
{
  int  N = 2 * line->n;
  Real A[N2][N2];

  for (int i = 0; i < r; i++) {
    for (int k = 0; k < r; k++) {
      A[i][k] = 0;
      for (int j = 0; j < N; j++) {
        if (Q[i][j] == 0) continue; /* Few functions are combined unless the space lacks some. */
        for (int l = 0; l < N; l++)
          if (Q[k][l] != 0) A[i][k] += Q[i][j] * line->L[j][l] * Q[k][l];
      }
    }
  }
  VpJacobi(r, N, N2, A[0], Q[0]);
  for (int i = 0; i < r; i++) {
    int  low = i;
    Real row[N2];

    for (int k = i + 1; k < r; k++)
      if (A[k][k] < A[low][low]) low = k;
    lambda[i] = (double)A[low][low];
    A[low][low] = A[i][i];
    memcpy(row, Q[low], sizeof(row));
    memcpy(Q[low], Q[i], sizeof(row));
    memcpy(Q[i], row, sizeof(row));
  }
}

/* Fills Q with an orthonormal basis of the y of one parity, or of all y if parity < 0, and returns the number of rows. Parity is that under
   the mirror about the patch's middle, mirrored[c n + m] = (-1)^m y[(1-c) n + m]. */
static int FillFrame(int n, int parity, Real Q[N2][N2])
{
  int r = parity < 0 ? 2 * n : n;

  memset(Q, 0, N2 * sizeof(Q[0]));
  for (int i = 0; i < r; i++) {
    Q[i][i] = parity < 0 ? 1 : sqrtl(0.5L);
    if (parity >= 0) Q[i][n + i] = (parity ? -1 : 1) * LegendreSign(i) * sqrtl(0.5L);
  }
  return r;
}

/* Stores row `mode` of F: the inner products of y's function with the basis functions of both cells. If parity >= 0, the second cell's
   numbers mirror the first cell's. */
static void StoreMode(const VpBasis *b, const Line *line, const Real y[N2], int parity, double F[])
{
  int    n = b->n;
  double sign;

  for (int c = 0; c < (parity < 0 ? 2 : 1); c++) {
    for (int i = 0; i < n; i++) {
      Real sum = 0;
      for (int m = 0; m < n; m++) sum += b->legendre[i * n + m] * y[c * n + m];
      F[c * n + i] = (double)(sum / sqrtl(line->weight[c]));
    }
  }
  for (int i = 0; i < n && parity >= 0; i++) {
    int j = VpBasisMirror(b, i, &sign);
    F[n + j] = (parity ? -1 : 1) * sign * F[i];
  }
}

/* B = M^-1 F^T, where M is the mass without coefficients */
static void BuildBackward(const VpBasis *b, PetscBool mirrored, const double F[], double B[])
{
  int    n = b->n, N = 2 * n;
  double sign;

  for (int mode = 0; mode < N; mode++) {
    for (int c = 0; c < (mirrored ? 1 : 2); c++) {
      for (int i = 0; i < n; i++) {
        Real sum = 0;
        for (int k = 0; k < n; k++) sum += (Real)b->imass[i * n + k] * F[mode * N + c * n + k];
        B[(c * n + i) * N + mode] = (double)sum;
      }
    }
    for (int i = 0; i < n && mirrored; i++) {
      int j = VpBasisMirror(b, i, &sign);
      B[(n + j) * N + mode] = (mode % 2 ? -1 : 1) * sign * B[i * N + mode];
    }
  }
}

void VpFdmBuild(const VpBasis *b, const VpFdmKey *key, VpSpace space, double penalty, double table[])
{
  int       n = b->n, N = 2 * n;
  double   *F = table, *lambda = table + VpLambdaAt(N);
  PetscBool mirrored = VpFdmIsMirrored(key);
  Line      line;
  Real      Q[N2][N2];
  double    eigenvalue[N2];

  LineCreate(b, key, space, penalty, &line);
  memset(F, 0, (size_t)(N * N) * sizeof(double));
  for (int i = 0; i < N; i++) lambda[i] = INFINITY;
  for (int parity = mirrored ? 0 : -1; parity < (mirrored ? 2 : 0); parity++) {
    int r = ConstrainRows(&line, FillFrame(n, parity, Q), Q);

    DiagonalizeRows(&line, r, Q, eigenvalue);
    for (int i = 0; i < r; i++) {
      int mode = mirrored ? 2 * i + parity : i;

      lambda[mode] = eigenvalue[i];
      StoreMode(b, &line, Q[i], parity, F + mode * N);
    }
  }
  if (VpEndsLeaveConstants(key->side[0], key->side[1])) VpZeroLeast(N, lambda);
  BuildBackward(b, mirrored, F, table + VpBackAt(N));
}
