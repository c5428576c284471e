/* DMs of trees for tests, and numbers that do not depend on the directions of trees. */
#pragma once
#include "problem.h"
#include "refused.h"
#include "trees.h"

/* a DM of these trees, set up if the options allow it */
PETSC_UNUSED static PetscErrorCode New(const Trees *t, PetscInt degree, PetscInt refine, const char options[], DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, t->dim, degree, refine, dm));
  PetscCall(TreesGive(t, *dm));
  PetscCall(TestDMOptions(*dm, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a DM by options alone */
PETSC_UNUSED static PetscErrorCode NewByOptions(PetscInt dim, PetscInt degree, PetscInt refine, const char options[], DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, dm));
  PetscCall(TestDMOptions(*dm, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_UNUSED static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2 * x[0] + 1) * PetscCosReal(3 * x[1]) * (dim == 3 ? PetscExpReal(x[2]) : 1);
  return 0;
}

PETSC_UNUSED static PetscErrorCode WaveSource(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  PetscCall(Wave(dim, x, f, ctx));
  f[0] *= dim == 3 ? 12 : 13;
  return 0;
}

/* a polynomial of degree 2, which has the source 2 */
PETSC_UNUSED static PetscErrorCode Polynomial(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = x[0] * x[0] - 3 * x[0] * x[1] - 2 * x[1] * x[1] + x[0] + (dim == 3 ? x[2] : 0);
  return 0;
}

PETSC_UNUSED static PetscErrorCode PolynomialSource(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 2;
  return 0;
}

/* numbers that do not depend on the directions of trees: u.Au, |Au|, b.u for a function u */
PETSC_UNUSED static PetscErrorCode Numbers(DM dm, PetscReal number[3])
{
  Mat         A;
  Vec         x, y;
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(DMVPatchDGInterpolate(dm, Wave, NULL, x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDot(x, y, &dot));
  number[0] = PetscRealPart(dot);
  PetscCall(VecNorm(y, NORM_2, &number[1]));
  PetscCall(DMVPatchDGComputeRHS(dm, Wave, Wave, NULL, NULL, y));
  PetscCall(VecDot(x, y, &dot));
  number[2] = PetscRealPart(dot);
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_UNUSED static PetscBool AreSame(const PetscReal a[3], const PetscReal b[3])
{
  PetscBool same = PETSC_TRUE;

  for (int i = 0; i < 3; i++) same = (PetscBool)(same && PetscAbsReal(a[i] - b[i]) <= 1e-12 * PetscAbsReal(a[i]));
  return same;
}

PETSC_UNUSED static PetscErrorCode Distance(Vec x, Vec y, PetscReal *relative)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_2, relative));
  *relative /= norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the operator with its matrix, on random vectors. */
PETSC_UNUSED static PetscErrorCode MatrixIsTheOperator(DM dm, const char name[])
{
  Mat         A, B, X, Y;
  Vec         x, y, z;
  PetscScalar one, other;
  PetscReal   apart[3];
  PetscInt    n;

  PetscFunctionBeginUser;
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(Distance(y, z, &apart[0]));
  PetscCall(VecSetRandom(z, NULL));
  PetscCall(VecDot(z, y, &one));
  PetscCall(MatMult(A, z, y));
  PetscCall(VecDot(x, y, &other));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(B, z));
  PetscCall(Distance(y, z, &apart[1]));
  TapOk((PetscBool)(apart[0] < 1e-13 && apart[1] < 1e-13), "matrix_is_the_operator: %s, %.1e, diagonal %.1e", name, (double)apart[0],
        (double)apart[1]);
  TapOk((PetscBool)(PetscAbsScalar(one - other) < 1e-12 * PetscAbsScalar(one)), "operator_is_symmetric: %s, %.1e", name,
        (double)PetscAbsScalar((one - other) / one));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &X));
  PetscCall(MatSetRandom(X, NULL));
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y));
  PetscCall(MatGetColumnVector(X, x, 2));
  PetscCall(MatGetColumnVector(Y, z, 2));
  PetscCall(MatMult(A, x, y));
  PetscCall(Distance(y, z, &apart[2]));
  TapOk((PetscBool)(apart[2] < 1e-13), "columns_are_as_vectors: %s, %.1e", name, (double)apart[2]);
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *loaded = the DM of a file that dm was saved to. The file stays. */
PETSC_UNUSED static inline PetscErrorCode SaveAndLoad(DM dm, const char name[], DM *loaded)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(DMView(dm, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  PetscCall(DMCreate(PETSC_COMM_WORLD, loaded));
  PetscCall(DMSetType(*loaded, DMVPATCHDG));
  PetscCall(DMLoad(*loaded, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up a DM with these options, which may be refused. */
PETSC_UNUSED static inline PetscErrorCode SetUpWith(PetscInt dim, const char options[])
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(NewByOptions(dim, 2, 1, options, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
