/* Several right-hand sides in a dense matrix: every column is what a vector gives, for all settings, matrix-free and assembled. */
/* ranks: 1 3 */
#include "support/backend.h"

enum { COLUMNS = 18 }; /* more than go at once */

static const char *const settings[] = {
  "-pc_type vpatchdg",
  "-pc_type vpatchdg -pc_vpatchdg_precision double -pc_vpatchdg_symmetric",
  "-pc_type vpatchdg -pc_vpatchdg_space dirichlet -pc_vpatchdg_residual exact -pc_vpatchdg_cycle_type w",
  "-pc_type vpatchdg -pc_vpatchdg_levels 2 -pc_vpatchdg_coarse ksp",
  "-pc_type vpatchdg -pc_vpatchdg_levels 2 -pc_vpatchdg_coarse dense -pc_vpatchdg_exchange color -pc_vpatchdg_residual global",
  "-pc_type vpatchdg -pc_vpatchdg_levels 2 -pc_vpatchdg_coarse sweeps",
  "-pc_type vpatchdg -pc_vpatchdg_cycle_type f",
  "-pc_type vpatch -pc_vpatch_space dirichlet",
};

/* the largest difference of a column from what f makes of the vector, over the column's norm */
static PetscErrorCode Worst(Mat X, Mat Y, PetscErrorCode (*f)(void *, Vec, Vec), void *context, PetscReal *worst)
{
  PetscReal norm, e;
  PetscInt  columns;
  Vec       x, y, other;

  PetscFunctionBeginUser;
  *worst = 0;
  PetscCall(MatGetSize(X, NULL, &columns));
  for (PetscInt j = 0; j < columns; j++) {
    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(VecDuplicate(x, &other));
    PetscCall(f(context, x, other));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
    PetscCall(MatDenseGetColumnVecRead(Y, j, &y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(VecAXPY(other, -1, y));
    PetscCall(MatDenseRestoreColumnVecRead(Y, j, &y));
    PetscCall(VecNorm(other, NORM_2, &e));
    *worst = PetscMax(*worst, e / norm);
    PetscCall(VecDestroy(&other));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply(void *A, Vec x, Vec y)
{
  return MatMult((Mat)A, x, y);
}
static PetscErrorCode Precondition(void *pc, Vec x, Vec y)
{
  return PCApply((PC)pc, x, y);
}
static PetscErrorCode Solve(void *ksp, Vec x, Vec y)
{
  return KSPSolve((KSP)ksp, x, y);
}

static PetscErrorCode columns_are_vectors(Mat A, Mat X, Mat Y, const char options[], const char type[])
{
  PetscReal    worst[2];
  PetscOptions database;
  KSP          ksp;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(TestOptionsPush(options, &database));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-3, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMatApply(pc, X, Y));
  PetscCall(Worst(X, Y, Precondition, pc, &worst[0]));
  PetscCall(KSPMatSolve(ksp, X, Y));
  PetscCall(Worst(X, Y, Solve, ksp, &worst[1]));
  TapOk((PetscBool)(worst[0] < 1e-13 && worst[1] < 1e-8), "columns_are_vectors: %s, %s: PCMatApply %.1e, KSPMatSolve %.1e", type, options,
        (double)worst[0], (double)worst[1]);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestOptionsPop(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode products_are_columns(Mat A, Mat X, const char type[])
{
  PetscReal worst[3];
  Mat       Y, S;

  PetscFunctionBeginUser;
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y));
  PetscCall(Worst(X, Y, Multiply, A, &worst[0]));
  PetscCall(MatZeroEntries(Y));
  PetscCall(MatMatMult(A, X, MAT_REUSE_MATRIX, PETSC_DEFAULT, &Y));
  PetscCall(Worst(X, Y, Multiply, A, &worst[1]));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &S));
  PetscCall(MatScale(S, 3));
  PetscCall(MatShift(S, -2));
  PetscCall(MatMatMult(S, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y));
  PetscCall(Worst(X, Y, Multiply, S, &worst[2]));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDestroy(&S));
  TapOk((PetscBool)(worst[0] < 1e-13 && worst[1] < 1e-13 && worst[2] < 1e-13),
        "products_are_columns: %s: A X %.1e, again %.1e, (3 A - 2 I) X %.1e", type, (double)worst[0], (double)worst[1], (double)worst[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* random columns where the vectors are, `gap` numbers between one and the next */
static PetscErrorCode DenseCreate(PetscInt n, PetscInt columns, PetscInt gap, Mat *X)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, X));
  PetscCall(MatSetSizes(*X, n, PETSC_DECIDE, PETSC_DETERMINE, columns));
  PetscCall(MatSetType(*X, VectorsOnDevice() ? "densecuda" : MATDENSE));
  PetscCall(MatDenseSetLDA(*X, n + gap));
  PetscCall(MatSetUp(*X));
  PetscCall(MatSetRandom(*X, NULL));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fewer columns than the matrix took at once before, and columns with gaps between them */
static PetscErrorCode products_of_fewer_columns(Mat A, PetscInt n, const char type[])
{
  PetscReal worst[2];
  Mat       X, Y;

  PetscFunctionBeginUser;
  for (int gap = 0; gap < 2; gap++) {
    PetscCall(DenseCreate(n, 12, 5 * gap, &X));
    PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y));
    PetscCall(Worst(X, Y, Multiply, A, &worst[gap]));
    PetscCall(MatDestroy(&Y));
    PetscCall(MatDestroy(&X));
  }
  TapOk((PetscBool)(worst[0] < 1e-13 && worst[1] < 1e-13), "products_of_fewer_columns: %s: %.1e, with gaps %.1e", type, (double)worst[0],
        (double)worst[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* columns from 1e-30 to 1e30 in size */
static PetscErrorCode Spread(Mat X)
{
  Vec x;

  PetscFunctionBeginUser;
  for (PetscInt j = 0; j < COLUMNS; j++) {
    PetscCall(MatDenseGetColumnVec(X, j, &x));
    PetscCall(VecScale(x, PetscPowReal(10, 3 * (PetscReal)(j - COLUMNS / 2))));
    PetscCall(MatDenseRestoreColumnVec(X, j, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode everything(PetscInt dim, PetscInt degree, PetscInt refine, const char type[], PetscBool varying)
{
  DM         dm;
  Mat        A, X, Y;
  Vec        v;
  PetscInt   n;
  PetscReal *a;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, &dm));
  PetscCall(DMSetMatType(dm, type));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = 1 + 20 * (PetscReal)(i % 3);
  if (varying) PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &v));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecDestroy(&v));
  PetscCall(DenseCreate(n, COLUMNS, 0, &X));
  PetscCall(Spread(X));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y));
  PetscCall(products_are_columns(A, X, type));
  PetscCall(products_of_fewer_columns(A, n, type));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(settings); i++) PetscCall(columns_are_vectors(A, X, Y, settings[i], type));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(everything(2, 3, 3, MATSHELL, PETSC_FALSE));
  PetscCall(everything(3, 2, 2, MATSHELL, PETSC_FALSE));
  PetscCall(everything(2, 3, 3, MATSHELL, PETSC_TRUE));
  PetscCall(everything(2, 2, 3, MATAIJ, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
