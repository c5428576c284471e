/* Transfers between a cell and its two children along one direction. Basis functions are scaled by 1/sqrt(size) on both. */
#include "legendre.h"

/* T [n][n] takes the Legendre coefficients on a cell to those on its first child: T_ml = sqrt(fraction) (p_m, p_l(fraction .)), zero for m
   > l, where polynomials have the factors of the basis's rule, and p_m is divided by its factor. */
static void TabulateFirstChild(const VpBasis *b, double fraction, Real T[])
{
  const int n = b->n;
  double    x[VP_MAX_N], w[VP_MAX_N];
  Real      p[VP_MAX_N], P[VP_MAX_N];

  VpGauss(n, x, w);
  for (int i = 0; i < n * n; i++) T[i] = 0;
  for (int q = 0; q < n; q++) {
    LegendreEvaluate(n, x[q], p, NULL);
    LegendreEvaluate(n, x[q] * fraction, P, NULL);
    for (int m = 0; m < n; m++)
      for (int l = m; l < n; l++) T[m * n + l] += w[q] * p[m] * P[l] * sqrtl(fraction) * LegendreFactor(b, l) / LegendreFactor(b, m);
  }
}

/* to [n][n] = the mirror image of from [n][n] */
static void MirrorHalf(const VpBasis *b, const double from[], double to[])
{
  int    n = b->n;
  double si, sj;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      int mi = VpBasisMirror(b, i, &si), mj = VpBasisMirror(b, j, &sj);
      to[mi * n + mj] = si * sj * from[i * n + j];
    }
  }
}

/* The second child is the first one of the mirrored cell. */
void VpTransferBuild(const VpBasis *b, double fraction, double P[], double R[])
{
  int    n = b->n;
  Real   T[VP_MAX_N * VP_MAX_N], Tt[VP_MAX_N * VP_MAX_N];
  double mirrored[2][VP_MAX_N * VP_MAX_N];

  for (int c = 0; c < 2; c++) {
    TabulateFirstChild(b, c ? 1 - fraction : fraction, T);
    for (int m = 0; m < n; m++)
      for (int l = 0; l < n; l++) Tt[l * n + m] = T[m * n + l];
    VpBasisMatrix(b, b, T, c ? mirrored[0] : P);
    VpBasisMatrix(b, b, Tt, c ? mirrored[1] : R);
  }
  MirrorHalf(b, mirrored[0], P + n * n);
  MirrorHalf(b, mirrored[1], R + n * n);
}

void VpLinesApply(int m, const double A[], int stride, int lines, double u[])
{
  double t[2 * VP_MAX_N];

  for (int line = 0; line < lines; line++) {
    double *p = u + line % stride + line / stride * stride * m;

    for (int i = 0; i < m; i++) {
      t[i] = 0;
      for (int j = 0; j < m; j++) t[i] += A[i * m + j] * p[j * stride];
    }
    for (int i = 0; i < m; i++) p[i * stride] = t[i];
  }
}

void VpTransferApply(int dim, int n, const double M[], int child, double u[])
{
  const int all = (int)PetscPowInt(n, dim);

  for (int d = 0, stride = 1; d < dim; d++, stride *= n) VpLinesApply(n, M + (child >> d & 1) * n * n, stride, all / n, u);
}
