/* Preconditioning continuous operators: what does not depend on a table. */
/* ranks: 1 2 4 */
#include "support/continuous.h"
#include "support/refused.h"
#include "../src/level/nodes.h"
#include "support/said.h"

#define EXACT "-vpatchdg_warnings 0 -pc_vpatchdg_precision double -pc_vpatchdg_exchange color "

/* *off: |(M r, s) - (r, M' s)| over the sum of both, where M' is M or its transpose */
static PetscErrorCode Compare(Problem *p, PetscBool transpose, PetscReal *off)
{
  PC          pc;
  Vec         r, s, z;
  PetscScalar left, right;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(VecDuplicate(p->b, &r));
  PetscCall(VecDuplicate(p->b, &s));
  PetscCall(VecDuplicate(p->b, &z));
  PetscCall(TestRandom(r, 1));
  PetscCall(TestRandom(s, 2));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecDot(z, s, &left));
  if (transpose) PetscCall(PCApplyTranspose(pc, s, z));
  else PetscCall(PCApply(pc, s, z));
  PetscCall(VecDot(z, r, &right));
  *off = PetscAbsScalar(left - right) / (PetscAbsScalar(left) + PetscAbsScalar(right));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const sides_names[] = {"left out", "rows of the identity", "Neumann"};

static PetscErrorCode transpose_is_the_adjoint(void)
{
  static const char *const ways[] = {"none", "after", "both"};

  PetscFunctionBeginUser;
  for (int i = 0; i < 9; i++) {
    const NodeGrid g = {.dim = 2, .degree = 3, .cells = 8, .sides = (Sides)(i % 3)};
    PetscReal      off, asymmetry = 0;
    char           options[256];
    Problem        p;

    PetscCall(GridProblem(&g, "", &p));
    PetscCall(PetscSNPrintf(options, sizeof(options), EXACT "-pc_vpatchdg_symmetric -pc_vpatchdg_jacobi %s", ways[i / 3]));
    PetscCall(ReadOptions(&p, options, PETSC_FALSE));
    PetscCall(KSPSetUp(p.ksp));
    PetscCall(Compare(&p, PETSC_TRUE, &off));
    if (g.sides != IDENTITY_ROWS && i / 3 != 1) PetscCall(Compare(&p, PETSC_FALSE, &asymmetry));
    TapOk((PetscBool)(off < 1e-12 && asymmetry < 1e-12), "transpose_is_the_adjoint, %s, jacobi %s: %.1e, symmetric: %.1e",
          sides_names[g.sides], ways[i / 3], (double)off, (double)asymmetry);
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b = A x, a solve, and the error of x */
static PetscErrorCode SolveKnown(Problem *p, const char options[], PetscReal *error, PetscInt *its)
{
  Vec known;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(p->b, &known));
  PetscCall(TestRandom(known, 3));
  PetscCall(MatMult(p->A, known, p->b));
  PetscCall(SolveWith(p, options, NULL, its, NULL));
  PetscCall(Difference(p->x, known, error));
  PetscCall(VecDestroy(&known));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A times any power of ten, in single precision, with and without Jacobi steps, takes equally many iterations. */
static PetscErrorCode scale_is_found(void)
{
  static const char *const ways[] = {"none", "both"};

  PetscFunctionBeginUser;
  for (int way = 0; way < 2; way++) {
    PetscReal error[3];
    PetscInt  its[3];
    PetscBool says = PETSC_FALSE;

    for (int i = 0; i < 3; i++) {
      const NodeGrid g = {.dim = 2, .degree = 2, .cells = 16, .sides = IDENTITY_ROWS};
      char           options[128];
      Problem        p;

      PetscCall(GridProblem(&g, "", &p));
      PetscCall(MatScale(p.A, i == 0 ? 1 : i == 1 ? 1e-7 : 1e9));
      PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type fgmres -ksp_rtol 1e-10 -pc_vpatchdg_jacobi %s", ways[way]));
      PetscCall(SolveKnown(&p, options, &error[i], &its[i]));
      if (i == 2) PetscCall(ViewSays((PetscObject)p.ksp, "scale 1e+09", &says));
      PetscCall(ProblemDestroy(&p));
    }
    TapOk((PetscBool)(says && its[0] == its[1] && its[0] == its[2] && error[0] < 1e-8 && error[1] < 1e-8 && error[2] < 1e-8),
          "scale_is_found, jacobi %s: %d %d %d iterations, errors %.1e %.1e %.1e", ways[way], (int)its[0], (int)its[1], (int)its[2],
          (double)error[0], (double)error[1], (double)error[2]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scale is the median of the quotients of the diagonals, also where it is in the middle of the least and the largest of them. */
static PetscErrorCode scale_is_the_median(void)
{
  const NodeGrid g = {.dim = 2, .degree = 1, .cells = 16, .sides = LEFT_OUT};
  PetscBool      all = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (int k = 1; k < 8; k++) { /* quotients 1 - k/8, 1, ..., 1, 1 + k/8 */
    PetscBool says;
    PetscInt  first, last;
    Problem   p;
    Vec       diagonal;

    PetscCall(GridProblem(&g, "", &p));
    PetscCall(MatCreateVecs(p.A, &diagonal, NULL));
    PetscCall(MatGetDiagonal(p.A, diagonal));
    PetscCall(MatGetOwnershipRange(p.A, &first, &last));
    for (int i = -1; i < 2; i += 2) {
      const PetscInt row = i < 0 ? 0 : CountRows(&g) - 1;
      PetscScalar    d;

      if (row < first || row >= last) continue;
      PetscCall(VecGetValues(diagonal, 1, &row, &d));
      d *= 1 + i * k / 8.;
      PetscCall(MatSetValues(p.A, 1, &row, 1, &row, &d, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(p.A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(p.A, MAT_FINAL_ASSEMBLY));
    PetscCall(ReadOptions(&p, "-vpatchdg_warnings 0 -pc_vpatchdg_precision double", PETSC_FALSE));
    PetscCall(KSPSetUp(p.ksp));
    PetscCall(ViewSays((PetscObject)p.ksp, "scale 1:", &says));
    all = (PetscBool)(all && says);
    PetscCall(VecDestroy(&diagonal));
    PetscCall(ProblemDestroy(&p));
  }
  TapOk(all, "scale_is_the_median");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultiplyShell(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shell without a diagonal is preconditioned by the cycle alone. */
static PetscErrorCode shell_needs_products_alone(void)
{
  const NodeGrid g = {.dim = 3, .degree = 2, .cells = 4, .sides = LEFT_OUT};
  PetscInt       n, N, its;
  PetscReal      error;
  PetscBool      says;
  PC             pc;
  Problem        p;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(GridProblem(&g, "", &p));
  A = p.A;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, N, N, A, &p.A));
  PetscCall(MatShellSetOperation(p.A, MATOP_MULT, (void (*)(void))MultiplyShell));
  PetscCall(KSPSetOperators(p.ksp, p.A, p.A));
  PetscCall(SolveKnown(&p, "-ksp_type fgmres -ksp_rtol 1e-10", &error, &its));
  PetscCall(ViewSays((PetscObject)p.ksp, "the matrix gives no diagonal", &says));
  TapOk((PetscBool)(error < 1e-8 && its < 12 && says), "shell_needs_products_alone: %d iterations, error %.1e", (int)its, (double)error);
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(SetByOption(pc, "-pc_vpatchdg_jacobi", "both"));
  Refused(PCSetUp(pc), "needs the diagonal of the matrix", "Jacobi steps without a diagonal");
  PetscCall(MatDestroy(&A));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of a block are what PCApply() gives. */
static PetscErrorCode columns_are_as_single_vectors(void)
{
  const NodeGrid g = {.dim = 2, .degree = 2, .cells = 8, .sides = IDENTITY_ROWS};
  PetscInt       n, N;
  PetscReal      off, most = 0;
  PC             pc;
  Problem        p;
  Mat            X, Y;
  Vec            x, y;

  PetscFunctionBeginUser;
  PetscCall(GridProblem(&g, "", &p));
  PetscCall(ReadOptions(&p, EXACT "-pc_vpatchdg_jacobi after", PETSC_FALSE));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(MatGetLocalSize(p.A, &n, NULL));
  PetscCall(MatGetSize(p.A, &N, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, N, 3, NULL, &X));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, N, 3, NULL, &Y));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatDenseGetColumnVecWrite(X, k, &x));
    PetscCall(TestRandom(x, 10 + (unsigned long)k));
    PetscCall(MatDenseRestoreColumnVecWrite(X, k, &x));
  }
  PetscCall(PCMatApply(pc, X, Y));
  for (int k = 0; k < 3; k++) {
    PetscCall(TestRandom(p.b, 10 + (unsigned long)k));
    PetscCall(PCApply(pc, p.b, p.x));
    PetscCall(MatDenseGetColumnVecRead(Y, k, &y));
    PetscCall(Difference(p.x, y, &off));
    PetscCall(MatDenseRestoreColumnVecRead(Y, k, &y));
    most = PetscMax(most, off);
  }
  TapOk((PetscBool)(most < 1e-14), "columns_are_as_single_vectors: %.1e", (double)most);
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double Checkers(const PetscReal center[], int dim)
{
  int sum = 0;

  for (int d = 0; d < dim; d++) sum += (int)(4 * center[d]);
  return sum % 2 ? 1000 : 1;
}

static PetscErrorCode SetCheckers(DM dm, int dim)
{
  PetscReal lower[3], upper[3], center[3], *a;
  PetscInt  ncell;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &ncell));
  PetscCall(PetscMalloc1(ncell + 1, &a));
  for (PetscInt c = 0; c < ncell; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    for (int d = 0; d < dim; d++) center[d] = (lower[d] + upper[d]) / 2;
    a[c] = Checkers(center, dim);
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coefficient that changes between solves: the next solve with a new matrix has the weights of the new one. 12.5 iterations for a
   checkerboard of 1:1000, which means by numbers of cells would make 64. */
static PetscErrorCode coefficient_changes(void)
{
  NodeGrid  g = {.dim = 2, .degree = 4, .cells = 16, .sides = LEFT_OUT};
  PetscReal error;
  PetscInt  its;
  PetscBool wrong;
  Mat       A;
  Problem   p;

  PetscFunctionBeginUser;
  PetscCall(GridProblem(&g, "", &p));
  PetscCall(SolveKnown(&p, "-ksp_type fgmres -ksp_rtol 1e-8 -pc_vpatchdg_jacobi none", &error, &its));
  PetscCall(SetCheckers(p.dm, 2));
  g.coefficient = Checkers;
  PetscCall(AssembleGrid(&g, p.dm, &A));
  PetscCall(KSPSetOperators(p.ksp, A, A));
  PetscCall(MatDestroy(&p.A));
  p.A = A;
  PetscCall(SolveKnown(&p, "-ksp_type fgmres -ksp_rtol 1e-8 -pc_vpatchdg_jacobi none", &error, &its));
  PetscCall(ViewSays((PetscObject)p.ksp, "scale 1:", &wrong));
  TapOk((PetscBool)(its <= 15 && error < 1e-5 && wrong), "coefficient_changes: %d iterations, error %.1e", (int)its, (double)error);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows in any order, and cells on other ranks than their rows: equally many iterations, and the same solution. */
static PetscErrorCode rows_may_have_any_order(void)
{
  const NodeGrid g = {.dim = 2, .degree = 3, .cells = 16, .sides = LEFT_OUT};
  PetscInt       its[2], ncell, *node, first, last, N, *order;
  PetscReal      error[2];
  Problem        p;
  Mat            B;
  PC             pc;
  IS             rows;

  PetscFunctionBeginUser;
  PetscCall(GridProblem(&g, "", &p));
  PetscCall(SolveKnown(&p, "-ksp_type fgmres -ksp_rtol 1e-9 -pc_vpatchdg_jacobi none", &error[0], &its[0]));
  PetscCall(MatGetOwnershipRange(p.A, &first, &last));
  PetscCall(MatGetSize(p.A, &N, NULL));
  PetscCall(PetscMalloc1(last - first, &order));
  for (PetscInt i = first; i < last; i++) order[i - first] = i * 1009 % N;
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, last - first, order, PETSC_OWN_POINTER, &rows));
  PetscCall(MatCreateSubMatrix(p.A, rows, rows, MAT_INITIAL_MATRIX, &B));
  PetscCall(ISDestroy(&rows));
  PetscCall(MatDestroy(&p.A));
  p.A = B;
  PetscCall(GridRestriction(&g, p.dm, &ncell, &node));
  for (PetscInt i = 0; i < ncell * 16; i++) { /* the row j with 1009 j = node modulo N */
    PetscInt j = 0, inverse = 1;

    while (inverse * 1009 % N != 1) inverse++;
    if (node[i] >= 0) {
      j = (PetscInt)((PetscInt64)node[i] * inverse % N);
      node[i] = j;
    }
  }
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, ncell * 16, node, PETSC_OWN_POINTER, &rows));
  PetscCall(PCVPatchDGSetElementRestrictionIS(pc, p.dm, rows));
  PetscCall(ISDestroy(&rows));
  PetscCall(KSPSetOperators(p.ksp, B, B));
  PetscCall(SolveKnown(&p, "-ksp_type fgmres -ksp_rtol 1e-9 -pc_vpatchdg_jacobi none", &error[1], &its[1]));
  TapOk((PetscBool)(its[1] <= its[0] + 1 && its[0] <= its[1] + 1 && error[0] < 1e-7 && error[1] < 1e-7),
        "rows_may_have_any_order: %d and %d iterations, errors %.1e %.1e", (int)its[0], (int)its[1], (double)error[0], (double)error[1]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A small reaction without Dirichlet sides: constants are inverted by the quotient of A. */
static PetscErrorCode small_reaction_keeps_constants(void)
{
  const NodeGrid g = {.dim = 2, .degree = 2, .cells = 8, .sides = NATURAL};
  PetscReal      error;
  PetscInt       its, first, last;
  Mat            M;
  Vec            lumped;
  Problem        p;

  PetscFunctionBeginUser;
  PetscCall(GridProblem(&g, "-dm_vpatchdg_reaction 1e-4", &p));
  PetscCall(VecDuplicate(p.b, &lumped)); /* the masses of the nodes: their integrals, by the rule of Simpson */
  PetscCall(VecGetOwnershipRange(lumped, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscReal value = 1;

    for (PetscInt d = 0, rest = i; d < 2; d++, rest /= 17) value *= (rest % 17 % 16 == 0 ? 1 : rest % 17 % 2 ? 4 : 2) / 48.;
    PetscCall(VecSetValue(lumped, i, 1e-4 * value, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(lumped));
  PetscCall(VecAssemblyEnd(lumped));
  PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &M));
  PetscCall(MatDiagonalSet(M, lumped, ADD_VALUES));
  PetscCall(MatDestroy(&p.A));
  p.A = M;
  PetscCall(KSPSetOperators(p.ksp, M, M));
  PetscCall(SolveKnown(&p, "-ksp_type fgmres -ksp_rtol 1e-10 -pc_vpatchdg_jacobi none", &error, &its));
  TapOk((PetscBool)(its < 12 && error < 1e-6), "small_reaction_keeps_constants: %d iterations, error %.1e", (int)its, (double)error);
  PetscCall(VecDestroy(&lumped));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the matrix has and the DM has not: a coefficient, a scale, conditions on sides, rows of the identity that the restriction names. */
static PetscErrorCode warnings_name_what_differs(void)
{
  static const struct {
    const char *name, *options, *says; /* says: NULL: nothing */
    Sides       sides;
    PetscBool   checkers, all; /* all: the restriction has rows of the identity, too */
    PetscReal   scale;
  } cases[] = {
    {"nothing", "", NULL, LEFT_OUT, PETSC_FALSE, PETSC_FALSE, 1},
    {"a scale", "", NULL, NATURAL, PETSC_FALSE, PETSC_FALSE, 1e8},
    {"the coefficient", "", "the matrix is not the form of the DM: its diagonal is 1 to 1e+03 times", LEFT_OUT, PETSC_TRUE, PETSC_FALSE, 1},
    {"Dirichlet in the matrix", "-dm_vpatchdg_boundary neumann", "the matrix does not take constants to 0", LEFT_OUT, PETSC_FALSE,
     PETSC_FALSE, 1},
    {"Neumann in the matrix", "-dm_vpatchdg_boundary dirichlet", "the matrix takes constants to 0", NATURAL, PETSC_FALSE, PETSC_FALSE, 1},
    {"rows of the identity", "", "the matrix is not the form of the DM", IDENTITY_ROWS, PETSC_FALSE, PETSC_TRUE, 1e3},
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    NodeGrid  g = {.dim = 2, .degree = 3, .cells = 8, .sides = cases[i].sides, .coefficient = cases[i].checkers ? Checkers : NULL};
    PetscInt  ncell, *node;
    PetscBool right;
    Problem   p;
    PC        pc;

    PetscCall(GridProblem(&g, cases[i].options, &p));
    if (cases[i].all) {
      g.sides = NATURAL; /* with the same numbers of rows */
      PetscCall(GridRestriction(&g, p.dm, &ncell, &node));
      PetscCall(KSPGetPC(p.ksp, &pc));
      PetscCall(PCVPatchDGSetElementRestriction(pc, p.dm, ncell, node));
      PetscCall(PetscFree(node));
      PetscCall(MatScale(p.A, cases[i].scale));
      g.sides = IDENTITY_ROWS;
      PetscCall(ZeroSideRows(&g, p.A));
    } else PetscCall(MatScale(p.A, cases[i].scale));
    ListenBegin();
    PetscCall(ReadOptions(&p, "-ksp_type fgmres", PETSC_FALSE));
    PetscCall(KSPSetUp(p.ksp));
    PetscCall(ListenEnd(PETSC_COMM_WORLD));
    right = cases[i].says ? (PetscBool)(Said("\n") == 1 && Said(cases[i].says) == 1) : (PetscBool)!said[0];
    TapOk(right, "warnings_name_what_differs, %s: %s", cases[i].name, FirstLine());
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double Stripes(const PetscReal center[], int dim)
{
  return Checkers(center, 1);
}

/* A solve that fails names what costs iterations: stiff cells that touch in points, or else another thing. */
static PetscErrorCode failures_name_points_of_stiff_cells(void)
{
  PetscFunctionBeginUser;
  for (int cross = 0; cross < 2; cross++) {
    const NodeGrid g = {.dim = 2, .degree = 2, .cells = 8, .sides = LEFT_OUT, .coefficient = cross ? Checkers : Stripes};
    Problem        p;

    PetscCall(GridProblem(&g, "", &p));
    PetscCall(SetCheckers(p.dm, 1 + cross));
    ListenBegin();
    PetscCall(ReadOptions(&p, "-ksp_type fgmres -ksp_max_it 2 -ksp_rtol 1e-8", PETSC_TRUE));
    PetscCall(ListenEnd(PETSC_COMM_WORLD));
    TapOk((PetscBool)(Said("\n") == 1 && Said("KSP fgmres ended with DIVERGED_ITS") == 1 &&
                      Said("stiff cells touch in points or along edges alone (a 1:1e+03)") == cross),
          "failures_name_points_of_stiff_cells, %d: %s", cross, FirstLine());
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_input_is_refused(void)
{
  const NodeGrid g = {.dim = 2, .degree = 2, .cells = 8, .sides = LEFT_OUT}, more = {.dim = 2, .degree = 2, .cells = 16, .sides = LEFT_OUT};
  const NodeGrid linear = {.dim = 2, .degree = 1, .cells = 8, .sides = LEFT_OUT},
                 less = {.dim = 2, .degree = 2, .cells = 4, .sides = LEFT_OUT};
  PetscInt    ncell, n, *node, *lower;
  PetscMPIInt rank, size;
  Problem     p;
  Mat         A;
  DM          dm;
  PC          pc;
  IS          is;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(GridProblem(&g, "", &p));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(GridRestriction(&g, p.dm, &ncell, &node));
  Refused(VpCheckPlaces(PETSC_COMM_WORLD, rank ? 1 : 1 << 28, 8), "Rank 0 has 2^31 nodes of cells or more", "places beyond 32 bits");
  Refused(PCVPatchDGSetElementRestriction(pc, p.dm, ncell + (rank == size - 1), node), "the number of cells is not that of own cells",
          "one cell too many on one rank");
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, 9 * ncell - (rank == 0), node, PETSC_USE_POINTER, &is));
  Refused(PCVPatchDGSetElementRestrictionIS(pc, p.dm, is), "own cells of degree 2 have", "one node too few");
  PetscCall(ISDestroy(&is));
  PetscCall(GridDM(&linear, "", &dm));
  PetscCall(GridRestriction(&linear, dm, &n, &lower));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, 4 * n, lower, PETSC_OWN_POINTER, &is));
  Refused(PCVPatchDGSetElementRestrictionIS(pc, p.dm, is), "-dm_vpatchdg_degree 1", "the nodes of another degree");
  PetscCall(ISDestroy(&is));
  PetscCall(DMDestroy(&dm));
  if (rank == size - 1) node[5] = 1000000;
  PetscCall(PCVPatchDGSetElementRestriction(pc, p.dm, ncell, node));
  Refused(PCSetUp(pc), "has the number 1000000, and the matrix has rows 0 to 224", "a row that does not exist, on one rank");
  PetscCall(PetscFree(node));
  PetscCall(GridRestriction(&g, p.dm, &ncell, &node));
  for (PetscInt c = 0; c < ncell; c++) {
    for (int i = 0; i < 9; i++) {
      const int j = i % 3 * 3 + i / 3;

      if (j > i) {
        const PetscInt swap = node[9 * c + i];

        node[9 * c + i] = node[9 * c + j];
        node[9 * c + j] = swap;
      }
    }
  }
  PetscCall(PCVPatchDGSetElementRestriction(pc, p.dm, ncell, node));
  Refused(PCSetUp(pc), "which is also that of a node at another point", "nodes with y fastest");
  PetscCall(PetscFree(node));
  PetscCall(GridRestriction(&g, p.dm, &ncell, &node));
  PetscCall(PCVPatchDGSetElementRestriction(pc, p.dm, ncell, node));
  PetscCall(GridDM(&more, "", &dm));
  PetscCall(AssembleGrid(&more, dm, &A));
  PetscCall(DMDestroy(&dm));
  PetscCall(PCSetOperators(pc, A, A));
  Refused(PCSetUp(pc), "that no cell of the element restriction has, and some couple with others", "the matrix of another mesh");
  PetscCall(MatDestroy(&A));
  PetscCall(GridDM(&less, "", &dm));
  PetscCall(AssembleGrid(&less, dm, &A));
  PetscCall(DMDestroy(&dm));
  PetscCall(PCSetOperators(pc, A, A));
  Refused(PCSetUp(pc), "and the matrix has rows 0 to 48", "the matrix of a coarser mesh");
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(node));
  PetscCall(GridRestriction(&g, p.dm, &ncell, &node));
  if (rank == 0) node[8] = -2;
  PetscCall(PCVPatchDGSetElementRestriction(pc, p.dm, ncell, node));
  PetscCall(PCSetOperators(pc, p.A, p.A));
  Refused(PCSetUp(pc), "has the number -2", "a number below -1, on one rank");
  PetscCall(PetscFree(node));
  PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &A));
  PetscCall(MatScale(A, -1));
  PetscCall(GridRestriction(&g, p.dm, &ncell, &node));
  PetscCall(PCVPatchDGSetElementRestriction(pc, p.dm, ncell, node));
  PetscCall(PCSetOperators(pc, A, A));
  Refused(PCSetUp(pc), "it has to be positive", "a negative matrix");
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(node));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(transpose_is_the_adjoint());
  PetscCall(scale_is_found());
  PetscCall(scale_is_the_median());
  PetscCall(columns_are_as_single_vectors());
  PetscCall(coefficient_changes());
  PetscCall(rows_may_have_any_order());
  PetscCall(small_reaction_keeps_constants());
  PetscCall(warnings_name_what_differs());
  PetscCall(failures_name_points_of_stiff_cells());
  PetscCall(LossesAreExpected());
  PetscCall(shell_needs_products_alone());
  PetscCall(bad_input_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
