/* Eigenvalues of large symmetric matrices (Golub, Van Loan, Matrix Computations, 8.3). Householder reflections make the matrix tridiagonal,
   and QR steps with Wilkinson's shift make it diagonal. All loops run along rows. */
#include "legendre.h"
#include <float.h>

static double InnerProduct(int n, const double x[], const double y[])
{
  double sum = 0;

  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

/* y += a x */
static void AddMultiple(int n, double a, const double x[], double y[])
{
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}

/* Applies to A, from both sides, the reflection I - beta v v^T that zeroes row k right of the diagonal but for the first entry. Returns
   beta. Ensures: row k holds v from k+1 on; *off is the entry that remains. w [n]: scratch */
static double ReflectMatrix(int n, int k, double A[], double *off, double w[])
{
  const int first = k + 1, left = n - first;
  double   *v = A + (size_t)k * n + first, norm = sqrt(InnerProduct(left, v, v)), beta, half;

  *off = v[0] > 0 ? -norm : norm;
  if (norm == 0) return 0;
  beta = 1 / (norm * (norm + fabs(v[0])));
  v[0] -= *off;
  for (int i = 0; i < left; i++) w[i] = 0;
  for (int i = 0; i < left; i++) AddMultiple(left, beta * v[i], A + (size_t)(first + i) * n + first, w);
  half = beta * InnerProduct(left, w, v) / 2;
  AddMultiple(left, -half, v, w);
  for (int i = 0; i < left; i++) {
    double *row = A + (size_t)(first + i) * n + first;

    AddMultiple(left, -v[i], w, row);
    AddMultiple(left, -w[i], v, row);
  }
  return beta;
}

/* Rotates rows i and i + 1 of Q by the cosine c and the sine s. */
static void RotateRows(int n, int i, double c, double s, double Q[])
{
  double *x = Q + (size_t)i * n, *y = x + n;

  for (int k = 0; k < n; k++) {
    const double a = x[k], b = y[k];

    x[k] = c * a + s * b;
    y[k] = c * b - s * a;
  }
}

/* Does a QR step on rows [first, last] of the tridiagonal matrix with the diagonal d and the off-diagonal e. */
static void DoQRStep(int n, int first, int last, double d[], double e[], double Q[])
{
  const double half = (d[last - 1] - d[last]) / 2, b = e[last - 1], far = half + (half < 0 ? -1 : 1) * hypot(half, b);
  double       x = d[first] - (d[last] - b * b / far), z = e[first];

  for (int i = first; i < last; i++) {
    const double r = hypot(x, z), c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0, p = d[i], q = e[i], t = d[i + 1];

    if (i > first) e[i - 1] = r;
    d[i] = c * c * p + 2 * c * s * q + s * s * t;
    d[i + 1] = s * s * p - 2 * c * s * q + c * c * t;
    e[i] = c * s * (t - p) + (c * c - s * s) * q;
    x = e[i];
    if (i + 1 < last) {
      z = s * e[i + 1];
      e[i + 1] *= c;
    }
    RotateRows(n, i, c, s, Q);
  }
}

/* Diagonalises the tridiagonal matrix with the diagonal d [n] and the off-diagonal e [n-1], which is overwritten. */
static void DiagonalizeTridiagonal(int n, double d[], double e[], double Q[])
{
  for (int last = n - 1, steps = 0; last > 0 && steps < 60 * n; steps++) {
    int first;

    while (last > 0 && fabs(e[last - 1]) <= DBL_EPSILON / 2 * (fabs(d[last - 1]) + fabs(d[last]))) last--;
    for (first = last; first > 0 && fabs(e[first - 1]) > DBL_EPSILON / 2 * (fabs(d[first - 1]) + fabs(d[first])); first--)
      ;
    if (last > first) DoQRStep(n, first, last, d, e, Q);
  }
}

void VpDiagonalize(int n, double A[], double Q[], double lambda[], double scratch[])
{
  double *off = scratch, *w = off + n, *beta = w + n;

  for (size_t i = 0; i < (size_t)n * n; i++) Q[i] = i % ((size_t)n + 1) == 0;
  for (int k = 0; k + 2 < n; k++) {
    beta[k] = ReflectMatrix(n, k, A, &off[k], w);
    lambda[k] = A[(size_t)k * n + k];
  }
  for (int k = n > 2 ? n - 2 : 0; k < n; k++) lambda[k] = A[(size_t)k * n + k];
  if (n > 1) off[n - 2] = A[(size_t)(n - 2) * n + n - 1];
  for (int k = 0; k + 2 < n; k++) { /* Q = ... H_1 H_0 */
    const double *v = A + (size_t)k * n + k + 1;

    for (int j = 0; j < n; j++) w[j] = 0;
    for (int i = 0; i < n - k - 1; i++) AddMultiple(n, v[i], Q + (size_t)(k + 1 + i) * n, w);
    for (int i = 0; i < n - k - 1; i++) AddMultiple(n, -beta[k] * v[i], w, Q + (size_t)(k + 1 + i) * n);
  }
  DiagonalizeTridiagonal(n, lambda, off, Q);
}
