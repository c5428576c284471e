/* The penalty that a cell needs: curved cells and full matrices need more than boxes. */
#include "definite.h"

#define ENOUGH 1e-3  /* The power iteration ends with a relative step below this. */
enum { STEPS = 12 }; /* of the power iteration */

size_t VpMetricScratch(int dim, int n)
{
  const size_t size = (size_t)PetscPowInt(n, dim), traces = 2 * (size_t)dim * size / (size_t)n;

  return size * size + traces * size + 2 * size;
}

/* A [size][size] = the products of gradients, with e e^T for the function e = 1, which has none */
static void FillStiffness(const VpMetricCell *c, int size, double A[])
{
  const int     n = c->n, stride[3] = {1, n, n * n};
  const double *D = c->slope;
  double        root[VP_MOST_DEFINITE];

  for (int i = 0; i < size; i++) root[i] = sqrt(c->point_weight[i]);
  for (int i = 0; i < size; i++) {
    for (int j = 0; j < size; j++) A[i * size + j] = root[i] * root[j] * c->G[0];
    for (int d = 0; d < c->dim; d++) {
      const int at = i / stride[d] % n;

      for (int q = 0; q < n; q++) {
        const int point = i + (q - at) * stride[d];

        for (int j = 0; j < n; j++)
          A[i * size + point + (j - q) * stride[d]] +=
            D[q * n + at] * c->G[VpMetricEntry(c->dim, c->components, d, d) * size + point] * D[q * n + j];
        for (int e = 0; e < c->dim && c->components > c->dim; e++) {
          const int along = i / stride[e] % n;

          for (int j = 0; j < n && e != d; j++)
            A[i * size + point + (j - along) * stride[e]] +=
              D[q * n + at] * c->G[VpMetricEntry(c->dim, c->components, d, e) * size + point] * D[along * n + j];
        }
      }
    }
  }
}

/* F [2 dim n^(dim-1)][size] = the fluxes of the functions at the points of sides, divided by sqrt(4 k (k + 1) part H_d), 0 where H_d is
   0 */
static void FillFluxes(const VpMetricCell *c, int size, double F[])
{
  const int n = c->n, face = size / n, rows = VpMetricRows(c->dim, c->components), stride[3] = {1, n, n * n};

  for (int side = 0; side < 2 * c->dim; side++) {
    const int     d = side / 2;
    const double *H = c->side + side * rows * face;

    for (int t = 0; t < face; t++) {
      const int    line = VpLineStart(n, stride[d], t);
      const double factor = H[t] > 0 ? 1 / sqrt(4. * (n - 1) * n * c->part[side] * H[t]) : 0;
      double      *row = F + (side * face + t) * size;

      for (int i = 0; i < size; i++) row[i] = 0;
      for (int i = 0; i < n; i++) {
        row[line + i * stride[d]] += factor * H[t] * c->out[side % 2][i];
        for (int e = 0, r = 1; e < c->dim && rows > 1; e++) {
          const int along = line / stride[e] % n;

          for (int j = 0; j < n && e != d; j++)
            row[line + i * stride[d] + (j - along) * stride[e]] +=
              factor * H[r * face + t] * c->slope[along * n + j] * c->value[side % 2][i];
          r += e != d;
        }
      }
    }
  }
}

static double DotRows(int n, const double *restrict a, const double *restrict b)
{
  double sum = 0;

#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* to += by from */
static void AddMultiple(int n, double by, const double *restrict from, double *restrict to)
{
  for (int i = 0; i < n; i++) to[i] += by * from[i];
}

/* A = its Cholesky factor, in the lower triangle. Returns false if A is not positive definite. LAPACK might start threads in each of
   ours. */
static PetscBool FactorMatrix(int n, double A[])
{
  for (int i = 0; i < n; i++) {
    double *row = A + i * n;

    for (int j = 0; j < i; j++) row[j] = (row[j] - DotRows(j, row, A + j * n)) / A[j * n + j];
    row[i] -= DotRows(i, row, row);
    if (!(row[i] > 0)) return PETSC_FALSE;
    row[i] = sqrt(row[i]);
  }
  return PETSC_TRUE;
}

/* v = A^-1 v, where A is what FactorMatrix() has made */
static void SolveFactored(int n, const double A[], double v[])
{
  for (int i = 0; i < n; i++) v[i] = (v[i] - DotRows(i, A + i * n, v)) / A[i * n + i];
  for (int i = n - 1; i >= 0; i--) {
    v[i] /= A[i * n + i];
    AddMultiple(i, -v[i], A + i * n, v);
  }
}

double VpMetricPenalty(const VpMetricCell *c, double scratch[])
{
  const int size = (int)PetscPowInt(c->n, c->dim), traces = 2 * c->dim * size / c->n;
  double   *A = scratch, *F = A + (size_t)size * size, *v = F + (size_t)traces * size, *w = v + size, lambda = 0;

  FillStiffness(c, size, A);
  FillFluxes(c, size, F);
  if (!FactorMatrix(size, A)) return PETSC_MAX_REAL;
  for (int i = 0; i < size; i++) v[i] = sin(1.7 * i * i + i);
  for (int step = 0; step < STEPS; step++) {
    const double before = lambda;
    double       energy, square = 0;

    for (int i = 0; i < size; i++) w[i] = 0;
    for (int t = 0; t < traces; t++) {
      const double flux = DotRows(size, F + (size_t)t * size, v);

      square += flux * flux;
      AddMultiple(size, flux, F + (size_t)t * size, w);
    }
    for (int i = 0; i < size; i++) v[i] = w[i];
    SolveFactored(size, A, v);
    energy = DotRows(size, v, w); /* |A^-1 w|^2 in the norm of A, where |F v|^2 was `square` */
    if (energy <= 0 || square <= 0) return 0;
    lambda = energy / square;
    if (lambda < (1 + ENOUGH) * before) break;
    for (int i = 0; i < size; i++) v[i] /= sqrt(energy);
  }
  return lambda;
}
