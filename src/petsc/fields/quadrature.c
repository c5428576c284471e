#include "quadrature.h"

PetscErrorCode VpQuadratureCreate(const VpBasis *basis, int dim, int nq, const double x[], VpQuadrature *quad)
{
  PetscFunctionBegin;
  PetscCheck(nq >= 1 && nq <= VP_MAX_NQ, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No rule of %d points", nq);
  quad->dim = dim;
  quad->n = basis->n;
  quad->nq = nq;
  quad->npoint = (int)PetscPowInt(nq, dim);
  VpGauss(nq, quad->x, quad->w);
  for (int q = 0; q < nq; q++) {
    if (x) quad->x[q] = x[q];
    VpBasisEvaluate(basis, quad->x[q], quad->value + q * basis->n, quad->slope + q * basis->n);
    for (int i = 0; i < basis->n; i++) quad->transpose[i * nq + q] = quad->value[q * basis->n + i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* out[outer][row][inner] = sum A[row][col] in[outer][col][inner] */
static void Contract(int outer, int inner, int rows, int cols, const double A[], const double in[], double out[])
{
  for (int o = 0; o < outer; o++) {
    for (int r = 0; r < rows; r++) {
      double *y = out + (size_t)(o * rows + r) * inner;

      for (int i = 0; i < inner; i++) y[i] = 0;
      for (int c = 0; c < cols; c++) {
        const double *x = in + (size_t)(o * cols + c) * inner, a = A[r * cols + c];
        for (int i = 0; i < inner; i++) y[i] += a * x[i];
      }
    }
  }
}

void VpTensor(const int rows[3], const int cols[3], const double *const A[3], const double in[], double out[], double work[])
{
  static const double one = 1;
  double             *other = work + VP_MAX_POINT;

  Contract(cols[2] * cols[1], 1, rows[0], cols[0], A[0] ? A[0] : &one, in, work);
  Contract(cols[2], rows[0], rows[1], cols[1], A[1] ? A[1] : &one, work, other);
  Contract(1, rows[0] * rows[1], rows[2], cols[2], A[2] ? A[2] : &one, other, out);
}
