/* Eigenvalues of symmetric matrices. Small matrices take Jacobi's method in long double precision (Golub, Van Loan, Matrix Computations,
   8.5), which is accurate to the last digits. Large ones take LAPACK. */
#include "legendre.h"
#include "../compat.h"
#include <float.h>
#include <petscblaslapack.h>

/* Makes A_pq = 0 by a rotation of rows and columns p and q of A, and rotates rows p and q of Q likewise. */
static void RotateRows(int r, int N, int stride, int p, int q, Real A[], Real Q[])
{
  Real *Ap = A + (size_t)p * stride, *Aq = A + (size_t)q * stride, *Qp = Q + (size_t)p * stride, *Qq = Q + (size_t)q * stride;
  Real  cot = (Aq[q] - Ap[p]) / (2 * Ap[q]), t = (cot < 0 ? -1 : 1) / (fabsl(cot) + sqrtl(cot * cot + 1));
  Real  c = 1 / sqrtl(t * t + 1), s = t * c;

  for (int k = 0; k < r; k++) {
    Real *Ak = A + (size_t)k * stride, x = Ak[p], y = Ak[q];
    Ak[p] = c * x - s * y, Ak[q] = s * x + c * y;
  }
  for (int k = 0; k < r; k++) {
    Real x = Ap[k], y = Aq[k];
    Ap[k] = c * x - s * y, Aq[k] = s * x + c * y;
  }
  for (int k = 0; k < N; k++) {
    Real x = Qp[k], y = Qq[k];
    Qp[k] = c * x - s * y, Qq[k] = s * x + c * y;
  }
}

void VpJacobi(int r, int N, int stride, Real A[], Real Q[])
{
  Real top = 0, off = 1;

  for (int i = 0; i < r; i++)
    for (int k = 0; k < r; k++) top = fmaxl(top, fabsl(A[(size_t)i * stride + k]));
  for (int sweep = 0; sweep < 50 && off > 0; sweep++) {
    off = 0;
    for (int p = 0; p < r; p++) {
      for (int q = p + 1; q < r; q++) {
        if (fabsl(A[(size_t)p * stride + q]) <= LDBL_EPSILON / 4 * top) continue;
        off = fmaxl(off, fabsl(A[(size_t)p * stride + q]));
        RotateRows(r, N, stride, p, q, A, Q);
      }
    }
  }
}

PetscErrorCode VpDiagonalize(int n, double A[], double lambda[])
{
  enum { BLOCK = 64 }; /* LAPACK is fast if `scratch` has as many rows */
  PetscBLASInt order, size, info;
  double      *scratch;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &order));
  PetscCall(PetscBLASIntCast((BLOCK + 2) * n, &size));
  PetscCall(PetscMalloc1(size, &scratch));
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "U", &order, A, &order, lambda, scratch, &size, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's syev failed: info %d", (int)info);
  PetscCall(PetscFree(scratch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpZeroLeast(int n, double lambda[])
{
  int least = 0;

  for (int i = 1; i < n; i++)
    if (fabs(lambda[i]) < fabs(lambda[least])) least = i;
  lambda[least] = 0;
}
