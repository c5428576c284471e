/* Common code of tests of the 1D tables: bases of all degrees, and forms assembled only from point values of the bases (VpGauss(),
   VpBasisEvaluate()). */
#pragma once
#include "tap.h"
#include "../../src/tables/tables.h"
#include "../../src/compat.h"
#include <math.h>
#include <string.h>

#define N     VP_MAX_N
#define NQ    (2 * VP_MAX_N)
#define CELLS 5
#define MAX   (CELLS * N)

static VpBasis basis[2][VP_MAX_DEGREE + 1];

#define FOR_ALL_BASES(b) \
  for (int t_ = 0; t_ < 2; t_++) \
    for (const VpBasis *b = &basis[t_][1]; b <= &basis[t_][VP_MAX_DEGREE]; b++)

static inline double Random(void)
{
  static unsigned state = 1;

  state = state * 1664525u + 1013904223u;
  return (state >> 8) / 8388608. - 1.;
}

/* *worst = maximum of |error|; infinity for NaN */
static inline void Worst(double *worst, double error)
{
  if (!(fabs(error) <= *worst)) *worst = isnan(error) ? INFINITY : fabs(error);
}

static inline double Norm(int n, const double x[])
{
  double top = 0;

  for (int i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
  return top;
}

/* y = A u, A [n][n] */
static inline void Multiply(int n, const double A[], const double u[], double y[])
{
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++) y[i] += A[i * n + j] * u[j];
  }
}

/* M_ij = (phi_i, phi_j), K_ij = (phi_i', phi_j') on [0,1] */
static inline void Quadrature(const VpBasis *b, double M[], double K[])
{
  int    n = b->n;
  double x[NQ], w[NQ], phi[N], dphi[N];

  VpGauss(n + 1, x, w);
  memset(M, 0, n * n * sizeof(double));
  memset(K, 0, n * n * sizeof(double));
  for (int q = 0; q <= n; q++) {
    VpBasisEvaluate(b, x[q], phi, dphi);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        M[i * n + j] += w[q] * phi[i] * phi[j];
        K[i * n + j] += w[q] * dphi[i] * dphi[j];
      }
  }
}

/* -- a line of cells ---------------------------------------------------------------------------------------------------------------- */

typedef struct {
  int    cells, end[2]; /* VP_SIDE_DIRICHLET, VP_SIDE_NEUMANN, VP_SIDE_ROBIN, VP_SIDE_INTERIOR: periodic, VP_SIDE_NONE */
  double h[CELLS], a[CELLS], penalty, reaction, alpha[2];
  double octaves[CELLS]; /* of the cells' volumes, relative to their sizes */
} Domain;

/* values and derivatives in x of cell c's physical functions at its lower or upper end, in u[c n ...] */
static inline void EndValues(const VpBasis *b, const Domain *d, int c, int s, double u[MAX], double du[MAX])
{
  double phi[N], dphi[N];

  memset(u, 0, MAX * sizeof(double));
  memset(du, 0, MAX * sizeof(double));
  VpBasisEvaluate(b, s, phi, dphi);
  for (int i = 0; i < b->n; i++) {
    u[c * b->n + i] = phi[i] / sqrt(d->h[c]);
    du[c * b->n + i] = dphi[i] / sqrt(d->h[c]) / d->h[c];
  }
}

/* A += coefficient (gamma jump jump - mean jump - jump mean) */
static inline void Add(int size, double A[][MAX], double coefficient, double gamma, const double jump[], const double mean[])
{
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) A[i][j] += coefficient * (gamma * jump[i] * jump[j] - mean[i] * jump[j] - jump[i] * mean[j]);
}

/* A(u,v) and mass (u,v) of the line by quadrature and point values. weighted: mass weighted by a */
static inline void Assemble(const VpBasis *b, const Domain *d, PetscBool weighted, double A[MAX][MAX], double M[MAX][MAX])
{
  int    n = b->n, size = d->cells * n, last = d->cells - 1;
  double mass[N * N], stiff[N * N], jump[MAX], mean[MAX], u[MAX], du[MAX], kk = d->penalty * b->degree * (b->degree + 1);

  memset(A, 0, sizeof(double[MAX][MAX]));
  memset(M, 0, sizeof(double[MAX][MAX]));
  Quadrature(b, mass, stiff);
  for (int c = 0; c < d->cells; c++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        M[c * n + i][c * n + j] = mass[i * n + j] * (weighted ? d->a[c] : 1);
        A[c * n + i][c * n + j] = stiff[i * n + j] * d->a[c] / (d->h[c] * d->h[c]) + d->reaction * mass[i * n + j];
      }
  for (int c = 0; c < d->cells; c++) { /* the face above cell c */
    int e = (c + 1) % d->cells;

    if (c == last && d->end[1] != VP_SIDE_INTERIOR) continue;
    EndValues(b, d, c, 1, jump, mean);
    EndValues(b, d, e, 0, u, du);
    const double own = exp2(d->octaves[c]), its = exp2(d->octaves[e]);
    for (int i = 0; i < size; i++) jump[i] -= u[i], mean[i] = (mean[i] / own + du[i] / its) / 2;
    Add(size, A, 2 / (1 / (own * d->a[c]) + 1 / (its * d->a[e])), kk * (1 / (own * d->h[c]) + 1 / (its * d->h[e])), jump, mean);
  }
  for (int s = 0; s < 2; s++) {
    if (d->end[s] != VP_SIDE_DIRICHLET && d->end[s] != VP_SIDE_ROBIN) continue;
    EndValues(b, d, s ? last : 0, s, u, du);
    if (d->end[s] == VP_SIDE_ROBIN) {
      memset(du, 0, MAX * sizeof(double));
      Add(size, A, d->a[s ? last : 0], d->alpha[s], u, du);
      continue;
    }
    for (int i = 0; i < size && !s; i++) du[i] = -du[i];
    Add(size, A, d->a[s ? last : 0], 2 * kk / d->h[s ? last : 0], u, du);
  }
}

static inline PetscErrorCode CreateBases(void)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; t++)
    for (int k = 1; k <= VP_MAX_DEGREE; k++) PetscCall(VpBasisCreate((VpBasisType)t, k, &basis[t][k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
