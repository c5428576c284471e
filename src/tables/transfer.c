/* Between a cell and its two children, along one direction: L2-orthonormal scaling on both. */
#include "legendre.h"

/* T [n][n]: Legendre coefficients on the first half from those on the whole, T_ml = (p_m, p_l(./2))/sqrt(2), zero for m > l */
static void FirstHalf(int n, Real T[])
{
  double x[VP_MAX_N], w[VP_MAX_N];
  Real   p[VP_MAX_N], P[VP_MAX_N];

  VpGauss(n, x, w);
  for (int i = 0; i < n * n; i++) T[i] = 0;
  for (int q = 0; q < n; q++) {
    LegendreEvaluate(n, x[q], p, NULL);
    LegendreEvaluate(n, x[q] / 2, P, NULL);
    for (int m = 0; m < n; m++)
      for (int l = m; l < n; l++) T[m * n + l] += w[q] * p[m] * P[l] / sqrtl(2);
  }
}

/* the second child's matrix is the first one's, mirrored */
static void MirrorChild(const VpBasis *b, double P[])
{
  int    n = b->n;
  double si, sj;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      int mi = VpBasisMirror(b, i, &si), mj = VpBasisMirror(b, j, &sj);
      P[n * n + mi * n + mj] = si * sj * P[i * n + j];
    }
  }
}

void VpTransferBuild(const VpBasis *b, double P[], double R[])
{
  int  n = b->n;
  Real T[VP_MAX_N * VP_MAX_N], Tt[VP_MAX_N * VP_MAX_N];

  FirstHalf(n, T);
  for (int m = 0; m < n; m++)
    for (int l = 0; l < n; l++) Tt[l * n + m] = T[m * n + l];
  VpBasisMatrix(b, b, T, P);
  VpBasisMatrix(b, b, Tt, R);
  MirrorChild(b, P);
  MirrorChild(b, R);
}
