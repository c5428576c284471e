/* Diagonalises a cell's diagonal block of the operator along one direction: the operator of functions that vanish on all other cells. */
#include "legendre.h"

void VpBlockBuild(const VpBasis *b, const VpLineKey *key, double penalty, double table[])
{
  const int  n = b->n;
  const Real h = key->h, scale = (Real)penalty * b->degree * (b->degree + 1);
  double    *F = table, *B = table + VpBackAt(n), *lambda = table + VpLambdaAt(n);
  Real       A[VP_MAX_N][VP_MAX_N], Q[VP_MAX_N][VP_MAX_N];

  for (int l = 0; l < n; l++) {
    for (int m = 0; m < n; m++) {
      Q[l][m] = l == m;
      A[l][m] = key->a * RuleStiff(b, l, m) / (h * h);
      for (int s = 0; s < 2; s++) {
        const Real        larger = exp2l(key->larger[s]);
        const VpFaceTerms face = VpFaceForm(key->side[s], h, key->a, key->h_beyond[s] * larger, key->a_beyond[s] * larger, scale);
        const Real        v = RuleValue(b, l, s), w = RuleValue(b, m, s), q = RuleSlope(b, l, s), r = RuleSlope(b, m, s);

        A[l][m] += face.c / h * (face.gamma * v * w - face.mean / h * (q * w + v * r));
      }
    }
  }
  VpJacobi(n, n, VP_MAX_N, A[0], Q[0]);
  for (int mode = 0; mode < n; mode++) {
    lambda[mode] = (double)A[mode][mode];
    for (int i = 0; i < n; i++) {
      Real sum = 0;

      for (int m = 0; m < n; m++) sum += b->legendre[i * n + m] * Q[mode][m];
      F[mode * n + i] = (double)sum;
    }
    for (int i = 0; i < n; i++) {
      Real sum = 0;

      for (int k = 0; k < n; k++) sum += (Real)b->imass[i * n + k] * F[mode * n + k];
      B[i * n + mode] = (double)sum;
    }
  }
}
