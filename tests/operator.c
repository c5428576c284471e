/* The operator as PETSc sees it, matrix-free and assembled, and the transfers between meshes. */
/* ranks: 1 2 3 4 */
#include "support/problem.h"
#include <petsc/private/petscimpl.h> /* PetscObjectStateGet() of PETSc 3.18 */

typedef struct {
  const char      *name;
  PetscInt         dim, degree, refine;
  VPatchDGDomain   domain;
  VPatchDGBoundary boundary[6];
  PetscReal        reaction;
  PetscBool        coefficient;
} Case;

#define D VPATCHDG_BOUNDARY_DIRICHLET
#define N VPATCHDG_BOUNDARY_NEUMANN
#define P VPATCHDG_BOUNDARY_PERIODIC
#define R VPATCHDG_BOUNDARY_ROBIN
static const Case cases[] = {
  {"2D Dirichlet Q1", 2, 1, 3, VPATCHDG_DOMAIN_BOX, {D, D, D, D}, 0, PETSC_FALSE},
  {"2D mixed, varying coefficient, Q4", 2, 4, 2, VPATCHDG_DOMAIN_BOX, {D, N, N, D}, 0, PETSC_TRUE},
  {"2D periodic, reaction, Q3", 2, 3, 1, VPATCHDG_DOMAIN_BOX, {P, P, N, N}, 2, PETSC_FALSE},
  {"2D Neumann, varying coefficient, Q2", 2, 2, 2, VPATCHDG_DOMAIN_LSHAPE, {N, N, N, N}, 0, PETSC_TRUE},
  {"2D periodic, one cell, Q2", 2, 2, 0, VPATCHDG_DOMAIN_BOX, {P, P, P, P}, 0, PETSC_FALSE},
  {"2D Robin, Q3", 2, 3, 2, VPATCHDG_DOMAIN_BOX, {R, R, R, R}, 0, PETSC_FALSE},
  {"2D Robin and Neumann, varying coefficient, Q2", 2, 2, 2, VPATCHDG_DOMAIN_LSHAPE, {R, N, N, R}, 0, PETSC_TRUE},
  {"3D Robin, mixed, Q4", 3, 4, 1, VPATCHDG_DOMAIN_BOX, {P, P, R, N, D, R}, 1, PETSC_FALSE},
  {"3D Dirichlet Q2", 3, 2, 1, VPATCHDG_DOMAIN_FICHERA, {D, D, D, D, D, D}, 0, PETSC_TRUE},
  {"3D mixed Q3", 3, 3, 1, VPATCHDG_DOMAIN_BOX, {P, P, D, N, N, N}, 1, PETSC_FALSE},
  {"3D periodic, one cell, Q5", 3, 5, 0, VPATCHDG_DOMAIN_BOX, {P, P, P, P, P, P}, 1, PETSC_FALSE},
  {"3D periodic, Q4", 3, 4, 1, VPATCHDG_DOMAIN_BOX, {P, P, P, P, P, P}, 0, PETSC_FALSE},
  {"2D periodic, varying coefficient, Q8", 2, 8, 2, VPATCHDG_DOMAIN_BOX, {P, P, P, P}, 0, PETSC_TRUE}};

static PetscErrorCode CaseCreate(const Case *c, DM *dm)
{
  PetscInt   n;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, c->degree, c->refine, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, c->domain));
  if (c->domain == VPATCHDG_DOMAIN_BOX)
    PetscCall(DMVPatchDGSetBoxGrid(*dm, (PetscInt[]){1, 2, 1}, (PetscReal[]){0, -1, 0}, (PetscReal[]){1.5, 1, 1}));
  PetscCall(DMVPatchDGSetBoundary(*dm, c->boundary));
  PetscCall(DMVPatchDGSetRobin(*dm, (PetscReal[]){1, 2, 0.5, 30, 7, 0.1}));
  PetscCall(DMVPatchDGSetReaction(*dm, c->reaction));
  PetscCall(DMSetUp(*dm));
  if (c->coefficient) {
    PetscCall(DMVPatchDGGetCells(*dm, &n));
    PetscCall(PetscMalloc1(n, &a));
    for (PetscInt i = 0; i < n; i++) {
      PetscCall(DMVPatchDGGetCellBounds(*dm, i, lower, upper));
      a[i] = PetscExpReal(lower[0] * 2 - upper[1]);
    }
    PetscCall(DMVPatchDGSetCoefficient(*dm, a));
    PetscCall(PetscFree(a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Matrices(DM dm, Mat *shell, Mat *aij)
{
  PetscFunctionBeginUser;
  PetscCall(DMSetMatType(dm, MATAIJ));
  PetscCall(DMCreateMatrix(dm, aij));
  PetscCall(DMSetMatType(dm, MATSHELL));
  PetscCall(DMCreateMatrix(dm, shell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |A x - B x| / |B x|, x random */
static PetscErrorCode Distance(Mat A, Mat B, PetscBool transpose, PetscReal *distance)
{
  Vec x, y, z;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecDuplicate(y, &z));
  if (transpose) {
    PetscCall(MatMultTranspose(A, x, y));
    PetscCall(MatMultTranspose(B, x, z));
  } else {
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMult(B, x, z));
  }
  PetscCall(Difference(y, z, distance));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WorstNorm(Mat A, Mat B, PetscReal *worst)
{
  const NormType types[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};

  PetscFunctionBeginUser;
  *worst = 0;
  for (int i = 0; i < 3; i++) {
    PetscReal a, b;

    PetscCall(MatNorm(A, types[i], &a));
    PetscCall(MatNorm(B, types[i], &b));
    *worst = PetscMax(*worst, PetscAbsReal(a - b) / b);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalDistance(Mat A, Mat B, PetscReal *distance)
{
  Vec a, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &a, &b));
  PetscCall(MatGetDiagonal(A, a));
  PetscCall(MatGetDiagonal(B, b));
  PetscCall(Difference(a, b, distance));
  PetscCall(VecDestroy(&a));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode matrix_free_equals_assembled(const Case *c, DM dm, Mat A, Mat B)
{
  PetscReal distance[4];
  Vec       x, b, r, s;

  PetscFunctionBeginUser;
  PetscCall(Distance(A, B, PETSC_FALSE, &distance[0]));
  PetscCall(Distance(A, B, PETSC_TRUE, &distance[1]));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &s));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(MatResidual(B, b, x, s));
  PetscCall(MatResidual(A, b, x, b)); /* in place */
  PetscCall(Difference(b, s, &distance[3]));
  PetscCall(Difference(r, s, &distance[2]));
  TapOk((PetscBool)(distance[0] < 1e-13 && distance[1] < 1e-13 && distance[2] < 1e-13 && distance[3] < 1e-13),
        "matrix_free_equals_assembled, %s", c->name);
  PetscCall(DiagonalDistance(A, B, &distance[0]));
  PetscCall(WorstNorm(A, B, &distance[1]));
  TapOk((PetscBool)(distance[0] < 1e-13 && distance[1] < 1e-13), "norms_and_diagonal_match_assembled, %s", c->name);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mat_scale_and_shift_work(const Case *c, DM dm, Mat A, Mat B)
{
  PetscReal distance[3];
  Mat       C, E;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &E));
  for (int i = 0; i < 2; i++) { /* (2 A - I) 0.5 + I */
    PetscCall(MatScale(i ? C : E, 2));
    PetscCall(MatShift(i ? C : E, -1));
    PetscCall(MatScale(i ? C : E, 0.5));
    PetscCall(MatShift(i ? C : E, 1));
  }
  PetscCall(Distance(C, E, PETSC_FALSE, &distance[0]));
  PetscCall(DiagonalDistance(C, E, &distance[1]));
  PetscCall(WorstNorm(C, E, &distance[2]));
  TapOk((PetscBool)(distance[0] < 1e-13 && distance[1] < 1e-13 && distance[2] < 1e-13), "mat_scale_and_shift_work, %s", c->name);
  PetscCall(Distance(A, B, PETSC_FALSE, &distance[0]));
  TapOk((PetscBool)(distance[0] < 1e-13), "a_duplicate_is_scaled_alone, %s", c->name);
  PetscCall(MatCopy(C, A, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&C));
  PetscCall(Distance(A, E, PETSC_FALSE, &distance[0]));
  TapOk((PetscBool)(distance[0] < 1e-13), "a_copy_outlives_its_source, %s", c->name);
  PetscCall(MatDestroy(&E));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode nullspace_is_attached(const Case *c, DM dm, Mat A, Mat B)
{
  PetscBool    singular = (PetscBool)(c->reaction == 0), is[2] = {PETSC_FALSE, PETSC_FALSE}, known, symmetric;
  Mat          mats[2] = {A, B};
  MatNullSpace nullspace;

  PetscFunctionBeginUser;
  for (PetscInt side = 0; side < 2 * c->dim; side++) {
    if (c->boundary[side] == D || c->boundary[side] == R) singular = PETSC_FALSE;
  }
  for (int i = 0; i < 2; i++) {
    PetscCall(MatGetNullSpace(mats[i], &nullspace));
    if (nullspace) PetscCall(MatNullSpaceTest(nullspace, mats[i], &is[i]));
  }
  TapOk((PetscBool)(is[0] == singular && is[1] == singular), "nullspace_is_attached, %s", c->name);
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  TapOk((PetscBool)(known && symmetric), "operator_is_known_to_be_symmetric, %s", c->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (P x, y) = (x, P^T y); P keeps L2 norms; the assembled P is the same */
static PetscErrorCode interpolation_transpose_is_adjoint(const char name[], DM dm, DM fine)
{
  Mat         E, F;
  Vec         x, y, Ex, Ey, z;
  PetscScalar dot[2];
  PetscReal   norm[2], distance[3];

  PetscFunctionBeginUser;
  PetscCall(DMCreateInterpolation(dm, fine, &E, NULL));
  PetscCall(DMSetMatType(fine, MATAIJ));
  PetscCall(DMCreateInterpolation(dm, fine, &F, NULL));
  PetscCall(DMSetMatType(fine, MATSHELL));
  PetscCall(MatCreateVecs(E, &x, &Ex));
  PetscCall(VecDuplicate(x, &Ey));
  PetscCall(VecDuplicate(Ex, &y));
  PetscCall(VecDuplicate(Ex, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(y, NULL));
  PetscCall(MatMult(E, x, Ex));
  PetscCall(MatMultTranspose(E, y, Ey));
  PetscCall(VecDot(Ex, y, &dot[0]));
  PetscCall(VecDot(x, Ey, &dot[1]));
  PetscCall(VecNorm(x, NORM_2, &norm[0]));
  PetscCall(VecNorm(y, NORM_2, &norm[1]));
  TapOk((PetscBool)(PetscAbsScalar(dot[0] - dot[1]) < 1e-13 * norm[0] * norm[1]), "interpolation_transpose_is_adjoint, %s", name);
  PetscCall(VecNorm(Ex, NORM_2, &norm[1]));
  TapOk((PetscBool)(PetscAbsReal(norm[0] - norm[1]) < 1e-13 * norm[0]), "interpolation_keeps_the_function, %s", name);
  PetscCall(Distance(E, F, PETSC_FALSE, &distance[0]));
  PetscCall(MatMultTranspose(F, y, x));
  PetscCall(Difference(x, Ey, &distance[1]));
  PetscCall(VecCopy(y, z));
  PetscCall(MatMultAdd(E, x, z, z));
  PetscCall(MatMultAdd(F, x, y, Ex));
  PetscCall(Difference(z, Ex, &distance[2]));
  TapOk((PetscBool)(distance[0] < 1e-13 && distance[1] < 1e-13 && distance[2] < 1e-13), "assembled_interpolation_is_the_same, %s", name);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&Ex));
  PetscCall(VecDestroy(&Ey));
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* children live with their parents after DMRefine(), not after DMCoarsen() */
static PetscErrorCode Transfers(const Case *c, DM dm)
{
  DM other;

  PetscFunctionBeginUser;
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &other));
  PetscCall(interpolation_transpose_is_adjoint(c->name, dm, other));
  PetscCall(DMDestroy(&other));
  if (c->refine == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMCoarsen(dm, PETSC_COMM_WORLD, &other));
  PetscCall(interpolation_transpose_is_adjoint(c->name, other, dm));
  PetscCall(DMDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* both matrices, made before the coefficient changed, are those made afterwards */
static PetscErrorCode operators_follow_the_coefficient(void)
{
  DM               dm;
  Mat              A, B, C, E;
  PetscObjectState before, after;
  PetscInt         n;
  PetscReal       *a, lower[3], upper[3], distance[2];

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 2, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(Matrices(dm, &A, &B));
  PetscCall(PetscObjectStateGet((PetscObject)A, &before));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
    a[i] = 1 + lower[0] * upper[1];
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscCall(PetscObjectStateGet((PetscObject)A, &after));
  PetscCall(Matrices(dm, &C, &E));
  PetscCall(Distance(A, E, PETSC_FALSE, &distance[0]));
  PetscCall(Distance(B, E, PETSC_FALSE, &distance[1]));
  TapOk((PetscBool)(distance[0] < 1e-13 && distance[1] < 1e-13 && after > before), "operators_follow_the_coefficient");
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&E));
  PetscCall(DMVPatchDGSetCoefficient(dm, NULL));
  PetscCall(DMDestroy(&dm));
  PetscCall(Distance(A, B, PETSC_FALSE, &distance[0]));
  TapOk((PetscBool)(distance[0] < 1e-13), "operators_outlive_the_users_reference_to_the_DM");
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  DM  dm;
  Mat A, B;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(CaseCreate(&cases[i], &dm));
    PetscCall(Matrices(dm, &A, &B));
    PetscCall(matrix_free_equals_assembled(&cases[i], dm, A, B));
    PetscCall(nullspace_is_attached(&cases[i], dm, A, B));
    PetscCall(mat_scale_and_shift_work(&cases[i], dm, A, B));
    PetscCall(Transfers(&cases[i], dm));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(operators_follow_the_coefficient());
  PetscFunctionReturn(PETSC_SUCCESS);
}
