/* Operators in both bases, and as assembled matrices. */
#pragma once
#include "problem.h"

/* positive numbers that depend on a cell's place */
static inline PetscErrorCode SetNumbers(DM dm, PetscInt width)
{
  PetscInt   n;
  PetscReal *a, lower[3] = {0}, upper[3];

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n * width + 1, &a));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
    for (PetscInt k = 0; k < width; k++)
      a[i * width + k] = 2 + PetscSinReal(31 * lower[0] + 7 * lower[1] + 5 * lower[2] + 2 * (PetscReal)k);
  }
  if (width > 1) PetscCall(DMVPatchDGSetTensorCoefficient(dm, a));
  else PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of one DM as a vector of another one that differs in its basis */
static inline PetscErrorCode Convert(DM from, Vec x, DM to, Vec y)
{
  Vec values;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &values));
  PetscCall(DMVPatchDGGetPointValues(from, x, values));
  PetscCall(DMVPatchDGSetPointValues(to, values, y));
  PetscCall(VecDestroy(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares A x of a DM in the Legendre basis and of one in the Gauss basis, with the same numbers per cell. x: what was multiplied, which
   the caller destroys. */
static inline PetscErrorCode BasesAgree(const char options[], PetscInt width, DM dm[2], Vec x[2])
{
  Mat       A[2];
  Vec       y[2], z;
  PetscReal difference;

  PetscFunctionBeginUser;
  for (int b = 0; b < 2; b++) {
    if (width) PetscCall(SetNumbers(dm[b], width));
    PetscCall(DMCreateMatrix(dm[b], &A[b]));
    PetscCall(MatCreateVecs(A[b], &x[b], &y[b]));
  }
  PetscCall(VecSetRandom(x[0], NULL));
  PetscCall(Convert(dm[0], x[0], dm[1], x[1]));
  for (int b = 0; b < 2; b++) PetscCall(MatMult(A[b], x[b], y[b]));
  PetscCall(VecDuplicate(x[0], &z));
  PetscCall(Convert(dm[1], y[1], dm[0], z));
  PetscCall(Difference(z, y[0], &difference));
  TapOk((PetscBool)(difference < 1e-12), "both_bases_have_the_same_operator, %s: %.1e", options, (double)difference);
  PetscCall(VecDestroy(&z));
  for (int b = 0; b < 2; b++) {
    PetscCall(VecDestroy(&y[b]));
    PetscCall(MatDestroy(&A[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Wave(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar c[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) c[i] = 2 + PetscSinReal(9 * x[i * dim] + x[i * dim + 1]);
  return 0;
}

/* Compares A's products, diagonal and columns with those of the assembled matrix, which must be symmetric. */
static inline PetscErrorCode MatricesAgree(const char options[], DM dm)
{
  Mat       A, B, T, X, Y, Z;
  Vec       x, y, z;
  PetscReal product, diagonal, columns, norm, whole;
  PetscInt  n;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMSetMatType(dm, MATAIJ));
  PetscCall(DMCreateMatrix(dm, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(Difference(y, z, &product));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(B, z));
  PetscCall(Difference(y, z, &diagonal));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatAXPY(T, -1, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(T, NORM_FROBENIUS, &norm));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &whole));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DECIDE, 3, NULL, &X));
  PetscCall(MatSetRandom(X, NULL));
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y));
  PetscCall(MatMatMult(B, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Z));
  PetscCall(MatAXPY(Y, -1, Z, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(Y, NORM_FROBENIUS, &columns));
  TapOk((PetscBool)(product < 1e-13 && diagonal < 1e-14 && norm < 1e-14 * whole && columns < 1e-13 * whole),
        "matrices_are_equal_and_symmetric, %s: %.1e, diagonal %.1e, A - A^T %.1e, columns %.1e", options, (double)product, (double)diagonal,
        (double)(norm / whole), (double)(columns / whole));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDestroy(&Z));
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Given(PetscInt dim, const PetscReal x[], PetscScalar *u, void *ctx)
{
  *u = 1 + x[0] - 2 * x[1] + (dim == 3 ? x[2] * x[0] : 0);
  return PETSC_SUCCESS;
}

static inline PetscErrorCode GivenFlux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar *g, void *ctx)
{
  *g = x[0] + normal[0] + 3 * normal[1];
  return PETSC_SUCCESS;
}

/* With numbers per cell both bases estimate the same errors. */
static inline PetscErrorCode EstimatesAgree(const char options[], DM dm[2], Vec x[2])
{
  PetscReal *eta[2], worst = 0;
  PetscInt   n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm[0], &n));
  PetscCall(PetscMalloc2(n + 1, &eta[0], n + 1, &eta[1]));
  for (int b = 0; b < 2; b++) PetscCall(DMVPatchDGEstimate(dm[b], x[b], Given, Given, GivenFlux, NULL, eta[b]));
  for (PetscInt c = 0; c < n; c++) worst = PetscMax(worst, PetscAbsReal(eta[1][c] / eta[0][c] - 1));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(worst < 1e-10), "estimates_are_equal, %s: %.1e", options, (double)worst);
  PetscCall(PetscFree2(eta[0], eta[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a problem, and how many numbers the coefficient has in a cell; 0: none */
typedef struct {
  const char *options;
  PetscInt    width;
} BasesCase;

/* Compares operators and estimates of errors of a DM that `create` makes of the options, in both bases. */
static inline PetscErrorCode BothBasesAgree(const BasesCase *c, PetscErrorCode (*create)(const char options[], DM *))
{
  static const char *const basis[] = {"legendre", "gauss"};
  DM                       dm[2];
  Vec                      x[2];

  PetscFunctionBeginUser;
  for (int b = 0; b < 2; b++) {
    char options[512];

    PetscCall(PetscSNPrintf(options, sizeof(options), "%s -dm_vpatchdg_basis %s", c->options, basis[b]));
    PetscCall(create(options, &dm[b]));
  }
  PetscCall(BasesAgree(c->options, c->width, dm, x));
  if (c->width < 2) PetscCall(EstimatesAgree(c->options, dm, x));
  for (int b = 0; b < 2; b++) {
    PetscCall(VecDestroy(&x[b]));
    PetscCall(DMDestroy(&dm[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a full matrix I + v v^T whose direction turns, times a number that grows along x */
static inline PetscErrorCode Turning(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal *at = x + i * dim, v[3] = {PetscCosReal(3 * at[0]), PetscSinReal(2 * at[1] + at[0]), dim == 3 ? at[2] : 0};

    for (PetscInt d = 0; d < dim; d++) {
      for (PetscInt e = d; e < dim; e++) *a++ = (d == e ? 3 + at[0] : 0) + 3 * v[d] * v[e];
    }
  }
  return 0;
}

/* a polynomial of degree 2, and its gradient */
PETSC_UNUSED static PetscErrorCode Quadratic(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = 1 + x[0] * x[0] - 2 * x[0] * x[1] + x[1] + (dim == 3 ? x[2] * x[2] + x[0] * x[2] : 0);
  return 0;
}

PETSC_UNUSED static PetscErrorCode QuadraticGradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  g[0] = 2 * x[0] - 2 * x[1] + (dim == 3 ? x[2] : 0);
  g[1] = -2 * x[0] + 1;
  if (dim == 3) g[2] = 2 * x[2] + x[0];
  return 0;
}
