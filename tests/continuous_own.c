/* The operator on continuous functions: its form, right-hand sides, functions at points, matrices, solves. */
/* ranks: 1 2 4 */
#include "support/continuous.h"
#include "support/mapped_nu.h"
#include "support/refused.h"
#include <unistd.h>

#define MAP(name, numbers) "-dm_vpatchdg_map " name " -dm_vpatchdg_map_parameters " numbers " "

/* meshes and equations */
static const struct {
  PetscInt    dim, degree;
  const char *options;
  Kind        kind;   /* of a coefficient at points; ONE: none */
  PetscBool   varies; /* The coefficient is a diagonal tensor of each cell. */
} cases[] = {
  {2, 1, "-dm_refine 3", ONE, PETSC_FALSE},
  {2, 3, "-dm_refine 2 -dm_vpatchdg_domain lshape -dm_vpatchdg_reaction 5", ONE, PETSC_TRUE},
  {2, 4, "-dm_refine 1 -dm_vpatchdg_boxes 3,2 -dm_vpatchdg_boundary robin,dirichlet,neumann,robin -dm_vpatchdg_robin 7", ONE, PETSC_TRUE},
  {2, 2, "-dm_refine 2 -dm_vpatchdg_boundary periodic -dm_vpatchdg_quadrature lobatto", ONE, PETSC_TRUE},
  {2, 2, "-dm_refine 0 -dm_vpatchdg_boundary periodic,periodic,dirichlet,neumann", ONE, PETSC_FALSE},
  {2, 3, "-dm_refine 0 -dm_vpatchdg_boxes 2,1 -dm_vpatchdg_boundary periodic", ONE, PETSC_FALSE},
  {2, 3, "-dm_refine 3 -dm_vpatchdg_quadrature lobatto -dm_vpatchdg_grid_x 0,.1,1 -dm_vpatchdg_boundary robin", ONE, PETSC_FALSE},
  {2, 3, "-dm_refine 3 -dm_vpatchdg_boundary dirichlet,robin,neumann,dirichlet " MAP("sine", ".1"), ONE, PETSC_FALSE},
  {2, 2, "-dm_refine 2 -dm_vpatchdg_reaction 3", SIN4, PETSC_FALSE},
  {2, 3, "-dm_refine 2", TURN, PETSC_FALSE},
  {3, 1, "-dm_refine 2 -dm_vpatchdg_boundary periodic,periodic,neumann,dirichlet,robin,robin", ONE, PETSC_TRUE},
  {3, 2, "-dm_refine 1 -dm_vpatchdg_domain fichera", ONE, PETSC_TRUE},
  {3, 3, "-dm_refine 1 -dm_vpatchdg_boundary neumann -dm_vpatchdg_reaction 2", ONE, PETSC_FALSE},
  {3, 2, "-dm_refine 1 -dm_vpatchdg_reaction 3 " MAP("annulus", "1,2,90"), ONE, PETSC_FALSE},
};

static PetscErrorCode SetTensors(DM dm, PetscInt dim)
{
  PetscReal lower[3], upper[3], *a;
  PetscInt  n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n * dim + 1, &a));
  for (PetscInt i = 0; i < n * dim; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i / dim, lower, upper));
    a[i] = 1 + 10 * PetscAbsReal(PetscSinReal(5 * lower[0] + 3 * upper[1] + (PetscReal)(i % dim)));
  }
  PetscCall(DMVPatchDGSetTensorCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CaseDM(MPI_Comm comm, size_t i, PetscBool continuous, DM *dm)
{
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(comm, cases[i].dim, cases[i].degree, 0, dm));
  PetscCall(DMVPatchDGSetContinuous(*dm, continuous));
  PetscCall(TestOptionsPush(cases[i].options, &own));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(TestOptionsPop(&own));
  if (cases[i].kind != ONE)
    PetscCall(DMVPatchDGSetCoefficientFunction(*dm, cases[i].kind == TURN ? cases[i].dim * (cases[i].dim + 1) / 2 : 1, KindAtPoints,
                                               PETSC_MEMTYPE_HOST, (void *)&cases[i].kind));
  PetscCall(DMSetUp(*dm));
  if (cases[i].varies) PetscCall(SetTensors(*dm, cases[i].dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v_i = sin(a i + b), the same for any number of ranks */
static PetscErrorCode FillWaves(Vec v, PetscReal a, PetscReal b)
{
  PetscInt     first, last;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayWrite(v, &values));
  for (PetscInt i = first; i < last; i++) values[i - first] = PetscSinReal(a * (PetscReal)i + b);
  PetscCall(VecRestoreArrayWrite(v, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *cells: the function x of a continuous DM as a vector of a discontinuous one */
static PetscErrorCode ToCells(DM nodal, DM dm, Vec x, Vec *cells)
{
  Vec values;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreatePointVector(nodal, &values));
  PetscCall(DMVPatchDGGetPointValues(nodal, x, values));
  PetscCall(DMCreateGlobalVector(dm, cells));
  PetscCall(DMVPatchDGSetPointValues(dm, values, *cells));
  PetscCall(VecDestroy(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Apart(PetscScalar a, PetscScalar b)
{
  return PetscAbsScalar(a - b) / (PetscAbsScalar(a) + PetscAbsScalar(b) + 1e-12);
}

static PetscErrorCode OneFunction(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = PetscExpReal(x[0]) * PetscCosReal(3 * x[1]);
  return PETSC_SUCCESS;
}

static PetscErrorCode OneFlux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar f[], void *ctx)
{
  return OneFunction(dim, x, f, ctx);
}

/* (x, A y), (x, b) and other numbers of continuous functions are those of the same functions on a discontinuous DM. */
static PetscErrorCode numbers_are_those_of_the_discontinuous_form(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    DM          dm[2];
    Mat         A[2];
    Vec         x[2], y[2], b[2];
    PetscScalar form[2], rhs[2], integral[2];
    PetscReal   l2[2], h1[2];

    for (int k = 0; k < 2; k++) {
      PetscCall(CaseDM(PETSC_COMM_WORLD, i, (PetscBool)(k == 0), &dm[k]));
      PetscCall(DMCreateMatrix(dm[k], &A[k]));
      PetscCall(DMCreateGlobalVector(dm[k], &b[k]));
    }
    PetscCall(VecDuplicate(b[0], &x[0]));
    PetscCall(VecDuplicate(b[0], &y[0]));
    PetscCall(FillWaves(x[0], 1.7, 0));
    PetscCall(FillWaves(y[0], 2.9, 1));
    PetscCall(ToCells(dm[0], dm[1], x[0], &x[1]));
    PetscCall(ToCells(dm[0], dm[1], y[0], &y[1]));
    for (int k = 0; k < 2; k++) {
      PetscCall(MatMult(A[k], y[k], b[k]));
      PetscCall(VecDot(b[k], x[k], &form[k]));
      PetscCall(DMVPatchDGComputeRHS(dm[k], OneFunction, OneFunction, OneFlux, NULL, b[k]));
      PetscCall(VecDot(b[k], x[k], &rhs[k]));
      PetscCall(DMVPatchDGIntegrate(dm[k], x[k], &integral[k]));
      PetscCall(DMVPatchDGComputeErrors(dm[k], x[k], OneFunction, NULL, NULL, &l2[k], &h1[k]));
      PetscCall(VecDestroy(&x[k]));
      PetscCall(VecDestroy(&y[k]));
      PetscCall(VecDestroy(&b[k]));
      PetscCall(MatDestroy(&A[k]));
      PetscCall(DMDestroy(&dm[k]));
    }
    TapOk((PetscBool)(Apart(form[0], form[1]) < 1e-10 && Apart(rhs[0], rhs[1]) < 1e-10 && Apart(integral[0], integral[1]) < 1e-10 &&
                      Apart(l2[0], l2[1]) < 1e-10 && Apart(h1[0], h1[1]) < 1e-10),
          "numbers_are_those_of_the_discontinuous_form, %dD Q%d %s: %.1e %.1e %.1e %.1e %.1e", (int)cases[i].dim, (int)cases[i].degree,
          cases[i].options, (double)Apart(form[0], form[1]), (double)Apart(rhs[0], rhs[1]), (double)Apart(integral[0], integral[1]),
          (double)Apart(l2[0], l2[1]), (double)Apart(h1[0], h1[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* entry (i, j) of A, by products */
static PetscErrorCode CompareMatrices(Mat A, Mat B, PetscReal off[3])
{
  Vec       x, y[2], d[2];
  PetscReal norm[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y[0]));
  PetscCall(VecDuplicate(y[0], &y[1]));
  for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(x, &d[k]));
  PetscCall(FillWaves(x, 1.1, 2));
  PetscCall(MatMult(A, x, y[0]));
  PetscCall(MatMult(B, x, y[1]));
  PetscCall(Difference(y[0], y[1], &off[0]));
  PetscCall(MatGetDiagonal(A, d[0]));
  PetscCall(MatGetDiagonal(B, d[1]));
  PetscCall(Difference(d[0], d[1], &off[1]));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm[0]));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &norm[1]));
  off[2] = Apart(norm[0], norm[1]);
  PetscCall(VecDestroy(&x));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&y[k]));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&d[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The assembled matrix has the shell's products, diagonal and norm, and PETSc's LU solves with it what the preconditioned shell solves. */
static PetscErrorCode assembled_matrices_are_equal(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    DM        dm;
    Mat       A[2];
    PetscReal off[3];

    PetscCall(CaseDM(PETSC_COMM_WORLD, i, PETSC_TRUE, &dm));
    for (int k = 0; k < 2; k++) {
      PetscCall(DMSetMatType(dm, k ? MATAIJ : MATSHELL));
      PetscCall(DMCreateMatrix(dm, &A[k]));
    }
    PetscCall(MatScale(A[0], 3));
    PetscCall(MatShift(A[0], 7));
    PetscCall(MatScale(A[1], 3));
    PetscCall(MatShift(A[1], 7));
    PetscCall(CompareMatrices(A[0], A[1], off));
    TapOk((PetscBool)(off[0] < 1e-12 && off[1] < 1e-12 && off[2] < 1e-12), "assembled_matrices_are_equal, %dD Q%d %s: %.1e %.1e %.1e",
          (int)cases[i].dim, (int)cases[i].degree, cases[i].options, (double)off[0], (double)off[1], (double)off[2]);
    for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&A[k]));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With Neumann sides, A is the matrix that plain loops assemble. The preconditioner's nodes are the grid's. */
static PetscErrorCode operator_is_that_of_continuous_elements(void)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < 4; i++) {
    const NodeGrid  g = {.dim = 2 + i / 2, .degree = 4 - i, .cells = 4, .lobatto = (PetscBool)(i % 2), .sides = NATURAL};
    const PetscInt  ndof = PetscPowInt(g.degree + 1, g.dim);
    const PetscInt *own;
    PetscInt       *node, ncell, count, first, last;
    PetscReal       off;
    DM              dm;
    Mat             A, B;
    Vec             x[2], y[2], z;
    VecScatter      scatter;
    IS              from, to;

    PetscCall(GridDM(&g, g.lobatto ? "-dm_vpatchdg_continuous -dm_vpatchdg_quadrature lobatto" : "-dm_vpatchdg_continuous", &dm));
    PetscCall(AssembleGrid(&g, dm, &B));
    PetscCall(DMCreateMatrix(dm, &A));
    PetscCall(MatCreateVecs(A, &x[0], &y[0]));
    PetscCall(MatCreateVecs(B, &x[1], &y[1]));
    PetscCall(VecDuplicate(y[0], &z));
    PetscCall(FillWaves(x[0], 1.3, 1));
    PetscCall(GridRestriction(&g, dm, &ncell, &node));
    PetscCall(DMVPatchDGGetElementRestriction(dm, &count, &own));
    PetscCall(VecGetOwnershipRange(x[0], &first, &last));
    PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, ncell * ndof, own, PETSC_USE_POINTER, &from));
    PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, ncell * ndof, node, PETSC_USE_POINTER, &to));
    PetscCall(VecScatterCreate(x[0], from, x[1], to, &scatter));
    PetscCall(VecScatterBegin(scatter, x[0], x[1], INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, x[0], x[1], INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(MatMult(A, x[0], y[0]));
    PetscCall(MatMult(B, x[1], y[1]));
    PetscCall(VecScatterBegin(scatter, y[1], z, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(scatter, y[1], z, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(Difference(z, y[0], &off));
    TapOk((PetscBool)(off < 1e-12 && count == ncell), "operator_is_that_of_continuous_elements, %dD Q%d%s: %.1e", g.dim, g.degree,
          g.lobatto ? ", lobatto" : "", (double)off);
    PetscCall(VecScatterDestroy(&scatter));
    PetscCall(ISDestroy(&from));
    PetscCall(ISDestroy(&to));
    PetscCall(PetscFree(node));
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&y[k]));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors, products and diagonals are those of one rank. */
static PetscErrorCode ranks_change_nothing(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscScalar number[2][2];
    PetscInt    rows[2];

    for (int k = 0; k < 2; k++) {
      DM  dm;
      Mat A;
      Vec x, y;

      PetscCall(CaseDM(k ? PETSC_COMM_SELF : PETSC_COMM_WORLD, i, PETSC_TRUE, &dm));
      PetscCall(DMCreateMatrix(dm, &A));
      PetscCall(MatCreateVecs(A, &x, &y));
      PetscCall(VecGetSize(x, &rows[k]));
      PetscCall(FillWaves(x, 1.7, 0));
      PetscCall(MatMult(A, x, y));
      PetscCall(FillWaves(x, 0.3, 2));
      PetscCall(VecDot(x, y, &number[0][k]));
      PetscCall(MatGetDiagonal(A, y));
      PetscCall(VecDot(x, y, &number[1][k]));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
    TapOk((PetscBool)(rows[0] == rows[1] && Apart(number[0][0], number[0][1]) < 1e-9 && Apart(number[1][0], number[1][1]) < 1e-9),
          "ranks_change_nothing, %dD Q%d %s: %d and %d rows, %.1e %.1e", (int)cases[i].dim, (int)cases[i].degree, cases[i].options,
          (int)rows[0], (int)rows[1], (double)Apart(number[0][0], number[0][1]), (double)Apart(number[1][0], number[1][1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A linear function is interpolated, found again at points, and solved for, with its values on Dirichlet sides and its fluxes. */
static PetscErrorCode Linear(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = 1 + 2 * x[0] - 3 * x[1];
  return PETSC_SUCCESS;
}

static PetscErrorCode LinearFlux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar q[], void *ctx)
{
  PetscScalar u;

  (void)Linear(dim, x, &u, NULL);
  q[0] = 2 * normal[0] - 3 * normal[1] + (normal[0] > 0.5 ? 7 * u : 0); /* Robin on x+ */
  return PETSC_SUCCESS;
}

static PetscErrorCode linear_functions_are_found(void)
{
  static const char *const options[] = {"-dm_refine 3", "-dm_refine 2 " MAP("sine", ".05"), "-dm_refine 2 -dm_vpatchdg_boxes 2,3"};
  const VPatchDGBoundary   boundary[] = {VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_ROBIN, VPATCHDG_BOUNDARY_NEUMANN,
                                         VPATCHDG_BOUNDARY_DIRICHLET};

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscReal    interpolated, solved, direct, point[2] = {0.37, 0.81};
    PetscScalar  at = 0, expected;
    PetscOptions own;
    PetscInt     its;
    DM           dm;
    Problem      p;

    PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 0, &dm));
    PetscCall(TestOptionsPush(options[i], &own));
    PetscCall(DMSetFromOptions(dm));
    PetscCall(TestOptionsPop(&own));
    PetscCall(DMVPatchDGSetContinuous(dm, PETSC_TRUE));
    PetscCall(DMVPatchDGSetBoundary(dm, boundary));
    PetscCall(DMVPatchDGSetRobin(dm, (PetscReal[]){7, 7, 7, 7}));
    PetscCall(DMSetUp(dm));
    PetscCall(ProblemOf(dm, NULL, &p));
    PetscCall(DMVPatchDGInterpolate(dm, Linear, NULL, p.x));
    PetscCall(DMVPatchDGComputeErrors(dm, p.x, Linear, NULL, NULL, &interpolated, NULL));
    PetscCall(DMVPatchDGEvaluate(dm, p.x, 1, point, &at));
    (void)Linear(2, point, &expected, NULL);
    PetscCall(DMVPatchDGComputeRHS(dm, NULL, Linear, LinearFlux, NULL, p.b));
    PetscCall(TrueResidual(p.A, p.b, p.x, &direct));
    PetscCall(VecSet(p.x, 0));
    PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-12 -pc_type vpatchdg", NULL, &its, NULL));
    PetscCall(DMVPatchDGComputeErrors(dm, p.x, Linear, NULL, NULL, &solved, NULL));
    TapOk(
      (PetscBool)(interpolated < 1e-13 && Apart(at, expected) < 1e-13 && (i == 1 || direct < 1e-11) && solved < (i == 1 ? 1e-4 : 1e-10)),
      "linear_functions_are_found, %s: %.1e interpolated, %.1e at a point, residual %.1e, %.1e solved in %d", options[i],
      (double)interpolated, (double)Apart(at, expected), (double)direct, (double)solved, (int)its);
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A point source is the transpose of an evaluation, and adds to what is there. */
static PetscErrorCode sources_are_the_transpose_of_values(void)
{
  const PetscReal   point[] = {0.2, 0.7, 0.55, 0.4};
  const PetscScalar q[] = {3, -2};
  PetscMPIInt       rank;
  PetscScalar       before, after, values[2];
  Vec               b, x;
  DM                dm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(CaseDM(PETSC_COMM_WORLD, 0, PETSC_TRUE, &dm));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(FillWaves(x, 1, 0));
  PetscCall(FillWaves(b, 2, 0));
  PetscCall(VecDot(x, b, &before));
  PetscCall(DMVPatchDGAddPointSources(dm, rank ? 0 : 2, point, q, b));
  PetscCall(VecDot(x, b, &after));
  PetscCall(DMVPatchDGEvaluate(dm, x, 2, point, values));
  TapOk((PetscBool)(Apart(after - before, q[0] * values[0] + q[1] * values[1]) < 1e-12), "sources_are_the_transpose_of_values: %.1e",
        (double)Apart(after - before, q[0] * values[0] + q[1] * values[1]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The error of a smooth solution falls by 2^(k+1) if cells are halved. With lobatto it falls by 2^(k+1/2), since data on sides are
   integrated by Gauss's rule. */
static PetscErrorCode Smooth(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscCosReal(2 * x[0] + x[1]);
  return PETSC_SUCCESS;
}

static PetscErrorCode SmoothSource(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 5 * PetscCosReal(2 * x[0] + x[1]);
  return PETSC_SUCCESS;
}

static PetscErrorCode errors_have_full_order(void)
{
  static const char *const options[] = {"", "-dm_vpatchdg_quadrature lobatto", MAP("sine", ".05")};

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 6; i++) {
    const PetscInt  k = 1 + i / 3 * 2;
    const PetscReal order = (PetscReal)k + (i % 3 == 1 ? 0.4 : 0.8);
    PetscReal       error[2];

    for (PetscInt fine = 0; fine < 2; fine++) {
      PetscOptions own;
      DM           dm;
      Problem      p;

      PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, k, 3 + fine, &dm));
      PetscCall(DMVPatchDGSetContinuous(dm, PETSC_TRUE));
      PetscCall(TestOptionsPush(options[i % 3], &own));
      PetscCall(DMSetFromOptions(dm));
      PetscCall(TestOptionsPop(&own));
      PetscCall(DMSetUp(dm));
      PetscCall(ProblemOf(dm, NULL, &p));
      PetscCall(DMVPatchDGComputeRHS(dm, SmoothSource, Smooth, NULL, NULL, p.b));
      PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-11 -pc_type vpatchdg -vpatchdg_warnings 0", NULL, NULL, NULL));
      PetscCall(DMVPatchDGComputeErrors(dm, p.x, Smooth, NULL, NULL, &error[fine], NULL));
      PetscCall(ProblemDestroy(&p));
    }
    TapOk((PetscBool)(PetscLog2Real(error[0] / error[1]) > order), "errors_have_full_order, Q%d %s: %.1e %.1e", (int)k, options[i % 3],
          (double)error[0], (double)error[1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Dense blocks of vectors are treated as single ones. */
static PetscErrorCode columns_are_as_single_vectors(void)
{
  PetscReal most = 0, off;
  PetscInt  n, N;
  Problem   p;
  Mat       X, Y[2];
  DM        dm;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(CaseDM(PETSC_COMM_WORLD, 1, PETSC_TRUE, &dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(MatGetLocalSize(p.A, &n, NULL));
  PetscCall(MatGetSize(p.A, &N, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, N, 3, NULL, &X));
  PetscCall(MatSetRandom(X, NULL));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y[0]));
  PetscCall(MatMatMult(p.A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y[1]));
  PetscCall(PCMatApply(pc, X, Y[0]));
  for (PetscInt k = 0; k < 6; k++) {
    Vec x, y;

    PetscCall(MatDenseGetColumnVecRead(X, k / 2, &x));
    PetscCall(MatDenseGetColumnVecRead(Y[k % 2], k / 2, &y));
    if (k % 2) PetscCall(MatMult(p.A, x, p.b));
    else PetscCall(PCApply(pc, x, p.b));
    PetscCall(Difference(p.b, y, &off));
    PetscCall(MatDenseRestoreColumnVecRead(Y[k % 2], k / 2, &y));
    PetscCall(MatDenseRestoreColumnVecRead(X, k / 2, &x));
    most = PetscMax(most, off);
  }
  TapOk((PetscBool)(most < 1e-12), "columns_are_as_single_vectors: %.1e", (double)most);
  PetscCall(MatDestroy(&X));
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&Y[k]));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every case is solved by both Krylov methods, with and without Jacobi steps. */
static PetscErrorCode all_cases_are_solved(void)
{
  static const char *const ways[] = {"-ksp_type fgmres -pc_vpatchdg_jacobi none", "-ksp_type fgmres -pc_vpatchdg_jacobi both",
                                     "-ksp_type cg -ksp_norm_type unpreconditioned -pc_vpatchdg_symmetric"};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscReal residual[3];
    PetscInt  its[3];
    Vec       known;

    if (strstr(cases[i].options, "-dm_refine 0")) continue; /* The cycle needs boxes that are refined. */
    for (int way = 0; way < 3; way++) {
      char    options[256];
      Problem p;
      DM      dm;

      PetscCall(CaseDM(PETSC_COMM_WORLD, i, PETSC_TRUE, &dm));
      PetscCall(ProblemOf(dm, NULL, &p));
      PetscCall(VecDuplicate(p.x, &known));
      PetscCall(FillWaves(known, 1.9, 1));
      PetscCall(MatMult(p.A, known, p.b));
      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type vpatchdg -ksp_rtol 1e-9 -vpatchdg_warnings 0 %s", ways[way]));
      PetscCall(SolveWith(&p, options, &residual[way], &its[way], NULL));
      PetscCall(VecDestroy(&known));
      PetscCall(ProblemDestroy(&p));
    }
    TapOk((PetscBool)(residual[0] < 2e-9 && residual[1] < 2e-9 && residual[2] < 2e-9 && its[0] <= 30 && its[1] <= its[0] && its[2] <= 35),
          "all_cases_are_solved, %dD Q%d %s: %d %d %d iterations", (int)cases[i].dim, (int)cases[i].degree, cases[i].options, (int)its[0],
          (int)its[1], (int)its[2]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator and its preconditioner follow the coefficient of the DM, and copies keep theirs. */
static PetscErrorCode coefficients_change(void)
{
  PetscReal off[3];
  PetscInt  its[3];
  Problem   p;
  Mat       first;
  Vec       known;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(CaseDM(PETSC_COMM_WORLD, 0, PETSC_TRUE, &dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(VecDuplicate(p.x, &known));
  PetscCall(VecCopy(p.b, known));
  PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &first));
  for (int i = 0; i < 3; i++) {
    if (i == 1) PetscCall(SetTensors(dm, 2));
    if (i == 2) PetscCall(KSPSetOperators(p.ksp, first, first));
    PetscCall(MatMult(i == 2 ? first : p.A, known, p.b));
    PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-9 -pc_type vpatchdg -pc_vpatchdg_jacobi none -vpatchdg_warnings 0", NULL,
                        &its[i], NULL));
    PetscCall(Difference(p.x, known, &off[i]));
  }
  TapOk((PetscBool)(off[0] < 1e-7 && off[1] < 1e-6 && off[2] < 1e-7 && its[0] == its[2] && its[1] < 20),
        "coefficients_change: %d, %d, %d iterations, errors %.1e %.1e %.1e", (int)its[0], (int)its[1], (int)its[2], (double)off[0],
        (double)off[1], (double)off[2]);
  PetscCall(MatDestroy(&first));
  PetscCall(VecDestroy(&known));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A refined DM is continuous, too, and a function goes there and back. */
static PetscErrorCode refined_meshes_are_continuous(void)
{
  PetscReal off;
  PetscBool continuous;
  Vec       x[2], y;
  DM        dm, fine;

  PetscFunctionBeginUser;
  PetscCall(CaseDM(PETSC_COMM_WORLD, 2, PETSC_TRUE, &dm));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(DMVPatchDGGetContinuous(fine, &continuous));
  PetscCall(DMCreateGlobalVector(dm, &x[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(DMCreateGlobalVector(fine, &y));
  PetscCall(FillWaves(x[0], 1, 0));
  PetscCall(DMVPatchDGTransfer(dm, fine, x[0], y));
  PetscCall(DMVPatchDGTransfer(fine, dm, y, x[1]));
  PetscCall(Difference(x[0], x[1], &off));
  TapOk((PetscBool)(continuous && off < 1e-12), "refined_meshes_are_continuous: %.1e", (double)off);
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* length of a file that the communicator's first rank has written; it is deleted */
static PetscErrorCode TakeLength(const char name[], long *length)
{
  FILE *file = fopen(name, "rb");

  PetscFunctionBeginUser;
  *length = -1;
  if (file && !fseek(file, 0, SEEK_END)) *length = ftell(file);
  if (file) fclose(file);
  PetscCallMPI(MPI_Bcast(length, 1, MPI_LONG, 0, PETSC_COMM_WORLD));
  (void)remove(name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* name [128]: that of a temporary file, the same on all ranks */
static PetscErrorCode NameFile(const char end[], char name[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, 128, "/tmp/vpatchdg%ld%s", (long)getpid(), end));
  PetscCallMPI(MPI_Bcast(name, 128, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A file has the DM and its vectors. */
static PetscErrorCode files_have_continuous_functions(void)
{
  char        name[128];
  long        length;
  PetscReal   off;
  PetscBool   continuous;
  PetscViewer viewer;
  Vec         x, y;
  DM          dm, loaded;

  PetscFunctionBeginUser;
  PetscCall(NameFile(".bin", name));
  PetscCall(CaseDM(PETSC_COMM_WORLD, 1, PETSC_TRUE, &dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(FillWaves(x, 1, 0));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(DMView(dm, viewer));
  PetscCall(VecView(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &loaded));
  PetscCall(DMSetType(loaded, DMVPATCHDG));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  PetscCall(DMLoad(loaded, viewer));
  PetscCall(DMVPatchDGGetContinuous(loaded, &continuous));
  PetscCall(DMCreateGlobalVector(loaded, &y));
  PetscCall(VecLoad(y, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(Difference(x, y, &off));
  PetscCall(TakeLength(name, &length));
  TapOk((PetscBool)(continuous && off == 0), "files_have_continuous_functions: %.1e", (double)off);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&loaded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Files for ParaView are as large as those of discontinuous functions, also where there are as many nodes as cells. */
static PetscErrorCode vtk_files_have_values_at_points(void)
{
  char         name[128];
  long         length[2];
  PetscOptions own;
  PetscViewer  viewer;
  Vec          x;
  DM           dm;

  PetscFunctionBeginUser;
  PetscCall(NameFile(".vtu", name));
  for (int k = 0; k < 2; k++) {
    PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 1, 3, &dm));
    PetscCall(TestOptionsPush("-dm_vpatchdg_boundary periodic", &own));
    PetscCall(DMSetFromOptions(dm));
    PetscCall(TestOptionsPop(&own));
    PetscCall(DMVPatchDGSetContinuous(dm, (PetscBool)(k == 0)));
    PetscCall(DMSetUp(dm));
    PetscCall(DMCreateGlobalVector(dm, &x));
    PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(x, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(TakeLength(name, &length[k]));
    PetscCall(VecDestroy(&x));
    PetscCall(DMDestroy(&dm));
  }
  TapOk((PetscBool)(length[0] > 0 && length[0] == length[1]), "vtk_files_have_values_at_points: %ld and %ld bytes", length[0], length[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_input_is_refused(void)
{
  const PetscInt *node;
  Problem         p;
  PetscBool       mine;
  DM              dm, other;
  PC              pc;
  Vec             v;
  Mat             P;
  PetscReal       eta[4096];

  PetscFunctionBeginUser;
  PetscCall(CaseDM(PETSC_COMM_WORLD, 0, PETSC_TRUE, &dm));
  PetscCall(CaseDM(PETSC_COMM_WORLD, 0, PETSC_FALSE, &other));
  Refused(DMVPatchDGSetContinuous(dm, PETSC_FALSE), "cannot change after DMSetUp()", "discontinuous after the set-up");
  Refused(DMVPatchDGGetElementRestriction(other, NULL, &node), "use -dm_vpatchdg_continuous", "nodes of a discontinuous DM");
  PetscCall(DMCreateGlobalVector(other, &v));
  Refused(DMVPatchDGInterpolate(dm, Linear, NULL, v), "make it with DMCreateGlobalVector()", "a vector of the discontinuous DM");
  PetscCall(VecDestroy(&v));
  PetscCall(DMCreateGlobalVector(dm, &v));
  Refused(DMVPatchDGGetPointValues(dm, v, v), "DMVPatchDGCreatePointVector()", "values at points in a vector of nodes");
  Refused(DMVPatchDGEstimate(dm, v, NULL, NULL, NULL, NULL, eta), "leave -dm_vpatchdg_continuous out", "an estimate");
  PetscCall(VecDestroy(&v));
  Refused(DMCreateLocalVector(dm, &v), "leave -dm_vpatchdg_continuous out", "a local vector");
  PetscCall(DMDestroy(&other));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &other));
  Refused(DMCreateInterpolation(dm, other, &P, NULL), "leave -dm_vpatchdg_continuous out", "interpolation between DMs");
  PetscCall(DMDestroy(&other));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCH));
  Refused(PCSetUp(pc), "leave -dm_vpatchdg_continuous out", "one level's smoother");
  PetscCall(ProblemDestroy(&p));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  PetscCall(DMVPatchDGSetContinuous(dm, PETSC_TRUE));
  PetscCall(DMVPatchDGSetLocalRefinement(dm, 2, (PetscReal[]){0.3, 0.3}, NULL));
  Refused(DMSetUp(dm), "-dm_vpatchdg_continuous needs cells of one level", "cells of several levels");
  PetscCall(DMVPatchDGGetContinuous(dm, &mine));
  TapOk(mine, "bad_input_is_refused and changes nothing");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TapBegin(PETSC_COMM_WORLD);
  PetscCall(numbers_are_those_of_the_discontinuous_form());
  PetscCall(assembled_matrices_are_equal());
  PetscCall(operator_is_that_of_continuous_elements());
  PetscCall(ranks_change_nothing());
  PetscCall(linear_functions_are_found());
  PetscCall(sources_are_the_transpose_of_values());
  PetscCall(errors_have_full_order());
  PetscCall(columns_are_as_single_vectors());
  PetscCall(all_cases_are_solved());
  PetscCall(coefficients_change());
  PetscCall(refined_meshes_are_continuous());
  PetscCall(files_have_continuous_functions());
  PetscCall(vtk_files_have_values_at_points());
  PetscCall(LossesAreExpected());
  PetscCall(bad_input_is_refused());
  PetscCall(PetscFinalize());
  return TapEnd();
}
