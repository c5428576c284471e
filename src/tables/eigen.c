/* Eigenvalues of symmetric matrices. Small matrices take Jacobi's method in long double precision (Golub, Van Loan, Matrix Computations,
   8.5), which is accurate to the last digits. Large ones take LAPACK. */
#include "legendre.h"
#include "../compat.h"
#include <float.h>
#include <petscblaslapack.h>

/* Rotates n pairs x, y of numbers that are `stride` apart. */
static void RotatePairs(int n, int stride, Real c, Real s, Real *x, Real *y)
{
  for (int k = 0; k < n; k++, x += stride, y += stride) {
    const Real old = *x;

    *x = c * old - s * *y, *y = s * old + c * *y;
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
        Real *Ap = A + (size_t)p * stride, *Aq = A + (size_t)q * stride, cot, t, c;

        if (fabsl(Ap[q]) <= LDBL_EPSILON / 4 * top) continue;
        off = fmaxl(off, fabsl(Ap[q]));
        cot = (Aq[q] - Ap[p]) / (2 * Ap[q]); /* of the rotation of rows and columns p and q after which A_pq is 0 */
        t = (cot < 0 ? -1 : 1) / (fabsl(cot) + sqrtl(cot * cot + 1));
        c = 1 / sqrtl(t * t + 1);
        RotatePairs(r, stride, c, t * c, A + p, A + q);
        RotatePairs(r, 1, c, t * c, Ap, Aq);
        RotatePairs(N, 1, c, t * c, Q + (size_t)p * stride, Q + (size_t)q * stride);
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
