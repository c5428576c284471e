/* The operator on continuous functions: its form, matrices, solves. */
/* ranks: 1 2 4 */
#include "support/continuous.h"
#include "support/nodal.h"

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

static PetscErrorCode NoStream(void *stream)
{
  return PETSC_SUCCESS;
}

/* On devices the lines have terms between cells, and the products are the same. */
static PetscErrorCode devices_give_the_same(void)
{
  static VpBackend device;

  PetscFunctionBeginUser;
  if (PetscDefined(HAVE_CUDA) || VpIsDevice(TestBackend())) PetscFunctionReturn(PETSC_SUCCESS); /* There are real ones. */
  device = VpBackendHost;
  device.name = "pretended";
  device.use_stream = NoStream;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscReal off;
    Vec       x, y[2];

    if (cases[i].kind != ONE || strstr(cases[i].options, "_map ")) continue; /* Coefficients at points have no lines. */
    for (int k = 0; k < 2; k++) {
      DM  dm;
      Mat A;

      PetscCall(CaseDM(PETSC_COMM_SELF, i, PETSC_TRUE, &dm));
      if (k) {
        DMVPatchDGData(dm)->in_use = &device;
        PetscCall(PetscStrncpy(DMVPatchDGData(dm)->chosen_for, dm->vectype, sizeof(DMVPatchDGData(dm)->chosen_for)));
      }
      PetscCall(DMCreateMatrix(dm, &A));
      PetscCall(MatCreateVecs(A, &x, &y[k]));
      PetscCall(FillWaves(x, 1.7, 0));
      PetscCall(MatMult(A, x, y[k]));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
    PetscCall(Difference(y[1], y[0], &off));
    TapOk((PetscBool)(off < 1e-12), "devices_give_the_same, %dD Q%d %s: %.1e", (int)cases[i].dim, (int)cases[i].degree, cases[i].options,
          (double)off);
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&y[k]));
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
  PetscCall(TestPC(p.ksp, &pc));
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

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(numbers_are_those_of_the_discontinuous_form());
  PetscCall(assembled_matrices_are_equal());
  PetscCall(operator_is_that_of_continuous_elements());
  PetscCall(ranks_change_nothing());
  PetscCall(devices_give_the_same());
  PetscCall(columns_are_as_single_vectors());
  PetscCall(all_cases_are_solved());
  PetscCall(coefficients_change());
  PetscFunctionReturn(PETSC_SUCCESS);
}
