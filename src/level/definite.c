/* The penalty that a cell needs (curved cells and full matrices need more than boxes), and the eigenvalues of its G. */
#include "definite.h"
#include <petscblaslapack.h>

enum { STEPS = 12, SWEEPS = 4 }; /* of the power iteration; of rotations, which converge quadratically */

/* S [dim][dim] = D^-1/2 G D^-1/2 at point q */
static void ScalePoint(const VpMetricCell *c, const double D[], int size, int q, double S[])
{
  for (int d = 0; d < c->dim; d++) {
    for (int e = 0; e < c->dim; e++) {
      const PetscBool there = (PetscBool)(d == e || c->components > c->dim);

      S[d * c->dim + e] = there ? c->G[VpMetricEntry(c->dim, c->components, d, e) * size + q] / sqrt(D[d] * D[e]) : 0;
    }
  }
}

/* Extends `extremes` by the eigenvalues of the symmetric S, which rotations make diagonal. */
static void IncludeEigenvalues(int dim, double S[], double extremes[2])
{
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    for (int p = 0; p < dim; p++) {
      for (int q = p + 1; q < dim; q++) {
        const double off = S[p * dim + q], half = (S[q * dim + q] - S[p * dim + p]) / 2;
        const double t = off == 0 ? 0 : off / (half + copysign(sqrt(half * half + off * off), half)), cos = 1 / sqrt(1 + t * t),
                     sin = t * cos;

        for (int k = 0; k < dim; k++) {
          const double a = S[k * dim + p], b = S[k * dim + q];

          S[k * dim + p] = cos * a - sin * b;
          S[k * dim + q] = sin * a + cos * b;
        }
        for (int k = 0; k < dim; k++) {
          const double a = S[p * dim + k], b = S[q * dim + k];

          S[p * dim + k] = cos * a - sin * b;
          S[q * dim + k] = sin * a + cos * b;
        }
      }
    }
  }
  for (int d = 0; d < dim; d++) {
    extremes[0] = PetscMin(extremes[0], S[d * dim + d]);
    extremes[1] = PetscMax(extremes[1], S[d * dim + d]);
  }
}

double VpMetricExtremes(const VpMetricCell *c, double extremes[2])
{
  const int size = (int)PetscPowInt(c->n, c->dim);
  double    D[3] = {0}, S[9], variation = 1;

  extremes[0] = PETSC_MAX_REAL;
  extremes[1] = 0;
  for (int d = 0; d < c->dim; d++) {
    const double *diagonal = c->G + VpMetricEntry(c->dim, c->components, d, d) * size;
    double        least = diagonal[0], most = diagonal[0];

    for (int q = 0; q < size; q++) {
      D[d] += VpPointWeight(c->dim, c->n, c->weight, q) * diagonal[q];
      least = PetscMin(least, diagonal[q]);
      most = PetscMax(most, diagonal[q]);
    }
    variation = PetscMax(variation, most / least);
  }
  for (int q = 0; q < size; q++) {
    ScalePoint(c, D, size, q, S);
    IncludeEigenvalues(c->dim, S, extremes);
  }
  return variation;
}

size_t VpMetricScratch(int dim, int n)
{
  const size_t size = (size_t)PetscPowInt(n, dim), traces = 2 * (size_t)dim * size / (size_t)n;

  return size * size + traces * size + 2 * size + traces;
}

/* A [size][size] = the products of gradients, with e e^T for the function e = 1, which has none */
static void FillStiffness(const VpMetricCell *c, int size, double A[])
{
  const int     n = c->n, stride[3] = {1, n, n * n};
  const double *D = c->slope;

  for (int i = 0; i < size; i++) {
    for (int j = 0; j < size; j++)
      A[i * size + j] = sqrt(VpPointWeight(c->dim, n, c->weight, i) * VpPointWeight(c->dim, n, c->weight, j)) * c->G[0];
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

/* F [2 dim n^(dim-1)][size] = the fluxes of the functions at the points of sides, divided by sqrt(4 k (k + 1) H_d); 0 where H_d is 0 */
static void FillFluxes(const VpMetricCell *c, int size, double F[])
{
  const int n = c->n, face = size / n, rows = VpMetricRows(c->dim, c->components), stride[3] = {1, n, n * n};

  for (int side = 0; side < 2 * c->dim; side++) {
    const int     d = side / 2;
    const double *H = c->side + side * rows * face;

    for (int t = 0; t < face; t++) {
      const int    line = VpLineStart(n, stride[d], t);
      const double factor = H[t] > 0 ? 1 / sqrt(4. * (n - 1) * n * H[t]) : 0;
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

double VpMetricPenalty(const VpMetricCell *c, double scratch[])
{
  const int    size = (int)PetscPowInt(c->n, c->dim), traces = 2 * c->dim * size / c->n;
  PetscBLASInt order = size, one = 1, info;
  double      *A = scratch, *F = A + (size_t)size * size, *v = F + (size_t)traces * size, *w = v + size, *flux = w + size, lambda = 0;

  FillStiffness(c, size, A);
  FillFluxes(c, size, F);
  LAPACKpotrf_("L", &order, A, &order, &info);
  if (info) return PETSC_MAX_REAL;
  for (int i = 0; i < size; i++) v[i] = sin(1.7 * i * i + i);
  for (int step = 0; step < STEPS; step++) {
    double energy = 0, square = 0;

    for (int t = 0; t < traces; t++) {
      flux[t] = 0;
      for (int i = 0; i < size; i++) flux[t] += F[(size_t)t * size + i] * v[i];
      square += flux[t] * flux[t];
    }
    for (int i = 0; i < size; i++) w[i] = 0;
    for (int t = 0; t < traces; t++) {
      for (int i = 0; i < size; i++) w[i] += F[(size_t)t * size + i] * flux[t];
    }
    for (int i = 0; i < size; i++) v[i] = w[i];
    LAPACKpotrs_("L", &order, &one, A, &order, v, &order, &info);
    for (int i = 0; i < size; i++) energy += v[i] * w[i]; /* |A^-1 w|^2 in the norm of A, where |F v|^2 was `square` */
    if (energy <= 0 || square <= 0) return 0;
    lambda = energy / square;
    for (int i = 0; i < size; i++) v[i] /= sqrt(energy);
  }
  return lambda;
}
