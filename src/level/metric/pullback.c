/* G and |det J| at points, for many points at a time: numbers of points lie side by side. */
#include "pullback.h"
#include "../../kernels/views.h"
#include <float.h>

typedef double Row[VP_MOST_POINTS];

/* to = a b - c d */
static void SubtractProducts(int n, const double *restrict a, const double *restrict b, const double *restrict c, const double *restrict d,
                             double *restrict to)
{
  for (int q = 0; q < n; q++) to[q] = a[q] * b[q] - c[q] * d[q];
}

/* A [i][j] = det J times the inverse */
static void FindAdjugate(int dim, int n, const Row J[], Row A[])
{
  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) {
      const int a = (j + 1) % 3 * 3, b = (j + 2) % 3 * 3, c = (i + 1) % 3, d = (i + 2) % 3;

      if (dim == 3) SubtractProducts(n, J[a + c], J[b + d], J[a + d], J[b + c], A[i * 3 + j]);
      else
        for (int q = 0; q < n; q++) A[i * 2 + j][q] = i == j ? J[3 - 3 * i][q] : -J[i * 2 + j][q];
    }
  }
}

/* Sets det and sign. det J counts as 0 where it is so small beside the columns of J that it may be an error of rounding. */
static void FindDeterminants(int dim, int n, const Row J[], const Row A[], VpPointMetric *to)
{
  int positive = 0, negative = 0;

  for (int q = 0; q < n; q++) {
    double det = 0, bound = 1e-13;

    for (int j = 0; j < dim; j++) {
      double square = 0;

      for (int i = 0; i < dim; i++) square += J[i * dim + j][q] * J[i * dim + j][q];
      bound *= sqrt(square);
      det += J[j][q] * A[j * dim][q];
    }
    positive += det > bound && det <= PETSC_MAX_REAL;
    negative += -det > bound && -det <= PETSC_MAX_REAL;
    to->det[q] = fabs(det);
  }
  to->sign = positive == n ? 1 : negative == n ? -1 : 0;
}

void VpMatrixExpand(int dim, int components, const double value[], double K[])
{
  for (int d = 0; d < dim; d++) {
    for (int e = 0; e < dim; e++) {
      if (components == 1) K[d * dim + e] = d == e ? value[0] : 0;
      else K[d * dim + e] = d == e || components > dim ? value[VpMetricEntry(dim, components, d, e)] : 0;
    }
  }
}

/* by its leading minors */
PetscBool VpMatrixIsDefinite(int dim, const double K[])
{
  const double two = K[0] * K[dim + 1] - K[1] * K[dim];

  return (PetscBool)(K[0] > 0 && two > 0 && (dim == 2 || VpDeterminant(3, K) > 0) && !PetscIsInfOrNanReal(K[0] + two));
}

PetscBool VpIsDefinite(int dim, int components, const double value[])
{
  double K[9];

  if (components == 1) return (PetscBool)(value[0] > 0 && value[0] <= PETSC_MAX_REAL);
  VpMatrixExpand(dim, components, value, K);
  return VpMatrixIsDefinite(dim, K);
}

/* AK [k] = row i of A times K */
static void MultiplyCoefficient(int dim, int n, int i, const Row A[], int components, const double K[], Row AK[])
{
  for (int k = 0; k < dim; k++) {
    for (int l = 0; l < dim; l++) {
      const double *restrict a = A[i * dim + l], *restrict value = K + (components > 1 ? VpMetricEntry(dim, components, l, k) : 0);
      double *restrict to = AK[k];

      if (components <= dim && l != k) continue;
      if (l == 0 || components <= dim) {
        for (int q = 0; q < n; q++) to[q] = a[q] * value[q * components];
      } else {
        for (int q = 0; q < n; q++) to[q] += a[q] * value[q * components];
      }
    }
  }
}

/* G [d][e] = the product of AK with row e of A, divided by |det J| */
static void FindEntry(int dim, int n, const Row AK[], const Row A[], const double *restrict det, double *restrict G)
{
  for (int q = 0; q < n; q++) {
    const double by = det[q] > DBL_MIN ? det[q] : DBL_MIN;
    double       sum = AK[0][q] * A[0][q] + AK[1][q] * A[1][q];

    if (dim == 3) sum += AK[2][q] * A[2][q];
    G[q] = sum / by;
  }
}

void VpPullBack(int dim, int points, const double J[], int components, const double K[], VpPointMetric *to)
{
  Row rows[9], A[9], AK[3];

  for (int i = 0; i < dim * dim; i++) {
    for (int q = 0; q < points; q++) rows[i][q] = J[q * dim * dim + i];
  }
  to->definite = PETSC_TRUE;
  for (int q = 0; q < points; q++) to->definite = (PetscBool)(to->definite && VpIsDefinite(dim, components, K + q * components));
  FindAdjugate(dim, points, rows, A);
  FindDeterminants(dim, points, rows, A, to);
  for (int d = 0; d < dim; d++) {
    MultiplyCoefficient(dim, points, d, A, components, K, AK);
    for (int e = d; e < dim; e++) {
      if (e == d || to->components > dim) FindEntry(dim, points, AK, A + e * dim, to->det, to->G[VpMetricEntry(dim, to->components, d, e)]);
    }
  }
}
