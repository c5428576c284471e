/* For src/tables alone: the orthonormal Legendre polynomials of [0,1], p_m(x) = sqrt(2m+1) P_m(2x-1), p_m(1-x) = (-1)^m p_m(x), and the
   change from them to a basis. In Legendre coefficients masses are identities, and stiffness and traces have closed forms. */
#pragma once
#include "tables.h"
#include <math.h>

typedef long double Real;

static inline Real LegendreSign(int m)
{
  return m % 2 ? -1 : 1;
}

/* value and outward derivative at the end s = 0, 1 */
static inline Real LegendreValue(int m, int s)
{
  return (s ? 1 : LegendreSign(m)) * sqrtl(2 * m + 1);
}

static inline Real LegendreSlope(int m, int s)
{
  return LegendreValue(m, s) * m * (m + 1);
}

static inline Real LegendreStiff(int l, int m)
{
  int low = l < m ? l : m;

  return (l + m) % 2 ? 0 : 2 * sqrtl((2 * l + 1) * (2 * m + 1)) * low * (low + 1);
}

/* The same of the polynomials of a basis's rule, whose highest one has the factor b->top. */
static inline Real LegendreFactor(const VpBasis *b, int m)
{
  return m == b->degree ? b->top : 1;
}
static inline Real RuleValue(const VpBasis *b, int m, int s)
{
  return LegendreFactor(b, m) * LegendreValue(m, s);
}
static inline Real RuleSlope(const VpBasis *b, int m, int s)
{
  return LegendreFactor(b, m) * LegendreSlope(m, s);
}
static inline Real RuleStiff(const VpBasis *b, int l, int m)
{
  return LegendreFactor(b, l) * LegendreFactor(b, m) * LegendreStiff(l, m);
}

/* Evaluates p_0 .. p_{n-1} and, unless dp is NULL, their derivatives. */
static inline void LegendreEvaluate(int n, Real x, Real p[], Real dp[])
{
  Real t = 2 * x - 1, P[2] = {0, 1}, d[2] = {0, 0}; /* P_{m-1}, P_m and derivatives in t */

  for (int m = 0; m < n; m++) {
    Real next = ((2 * m + 1) * t * P[1] - m * P[0]) / (m + 1), dnext = d[0] + (2 * m + 1) * P[1];

    p[m] = sqrtl(2 * m + 1) * P[1];
    if (dp) dp[m] = 2 * sqrtl(2 * m + 1) * d[1];
    P[0] = P[1], P[1] = next, d[0] = d[1], d[1] = dnext;
  }
}

/* line.c: the form c (gamma [u][v] - mean (q_u [v] + [u] q_v)) of a face at a cell's side, where at a boundary q is the outward
   derivative, and between cells the difference of the two outward derivatives, which is twice the mean of the derivative along the
   normal. gamma and mean are 0 where a side has no form. A boundary condition is a case of it, whose alpha is h_beyond. Of
   VP_SIDE_LEVEL_END it is the diagonal part. */
typedef struct {
  Real c, gamma, mean;
} VpFaceTerms;
VpFaceTerms VpFaceForm(VpSide, Real h, Real a, Real h_beyond, Real a_beyond, Real penalty);

/* A = M_to^-1 C_to T C_from^T takes coefficients in `from` to coefficients in `to`, where T [n][n] maps Legendre coefficients. Here C[i][m]
   = legendre, and coefficients u stand for the Legendre coefficients C^T u. */
void VpBasisMatrix(const VpBasis *from, const VpBasis *to, const Real T[], double A[]);
/* out = A, with rounding errors set to 0. If b is not NULL, the basis's mirror leaves A unchanged up to rounding, and out exactly. */
void VpTidy(const VpBasis *b, int rows, int columns, const Real A[], double out[]);
