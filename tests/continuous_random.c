/* Continuous operators on random grids: degrees, widths of cells, sides, coefficients, quadratures, numberings of rows. Their matrices are
   assembled here, and are 0 in no row that is not left out. -seed n -draws n: others, and more of them. */
/* ranks: 1 2 3 */
#include "support/continuous.h"
#include "support/random.h"

/* what a coefficient does from cell to cell */
typedef enum { CONSTANT, BOXES, CHECKERS, NOISE } Varies;
static const char *const names[] = {"constant", "1:1000 by boxes", "checkers 1:1000", "noise 1:10"};

enum { MOST_FACES = 33 };

typedef struct {
  int       dim, degree;
  PetscInt  boxes[3], each;       /* boxes along each direction, and their cells along each direction */
  PetscReal face[3][MOST_FACES];  /* of cells */
  PetscReal wide[3][MOST_FACES];  /* of boxes */
  PetscBool periodic[3], free[6]; /* free: Neumann, else Dirichlet */
  PetscBool lobatto, rows;        /* rows: Dirichlet nodes have rows of the identity, else none */
  Varies    varies;
  PetscInt  n[3], step, shift, N; /* rows along each direction; row i of the grid is (i step + shift) % N of the matrix */
  double    thin;                 /* largest ratio of two sides of a cell */
  Vec       data;                 /* 1 in rows of the identity, else 0; NULL: there are none */
} Draws;

/* Places boxes of width 1, 1/2, 1/4 or 1/8 beside each other. */
static void DrawFaces(Draws *w, int d)
{
  const PetscInt kinds = 1 + Pick(4);

  w->wide[d][0] = w->face[d][0] = 0;
  for (PetscInt b = 0; b < w->boxes[d]; b++) {
    w->wide[d][b + 1] = w->wide[d][b] + ldexp(1, (int)-Pick(kinds));
    for (PetscInt i = 1; i <= w->each; i++)
      w->face[d][b * w->each + i] = w->wide[d][b] + (w->wide[d][b + 1] - w->wide[d][b]) * (PetscReal)i / (PetscReal)w->each;
  }
}

static void DrawGrid(Draws *w)
{
  *w = (Draws){.dim = 2 + (int)Pick(2)};
  w->degree = 1 + (int)Pick(w->dim == 2 ? 8 : 4);
  w->each = w->dim == 2 ? (PetscInt)(w->degree > 4 ? 2 : 4) << Pick(2) : w->degree > 2 ? 2 : 2 << Pick(2);
  for (int d = 0; d < w->dim; d++) {
    w->boxes[d] = 1 + Pick(w->dim == 2 ? 4 : 2);
    w->periodic[d] = (PetscBool)(Pick(5) == 0);
    for (int end = 0; end < 2; end++) w->free[2 * d + end] = (PetscBool)(Pick(3) == 0);
    DrawFaces(w, d);
  }
  w->lobatto = (PetscBool)Pick(2);
  w->rows = (PetscBool)Pick(2);
  w->varies = (Varies)Pick(4);
  w->N = 1;
  for (int d = 0; d < w->dim; d++) {
    const PetscInt nodes = w->boxes[d] * w->each * w->degree + !w->periodic[d];

    w->n[d] = nodes;
    for (int end = 0; end < 2 && !w->rows && !w->periodic[d]; end++) w->n[d] -= !w->free[2 * d + end];
    w->N *= w->n[d];
  }
  w->shift = Pick(w->N);
  for (PetscInt a = 0, b = 0; a != 1;) { /* a step without a common divisor */
    w->step = 1 + Pick(w->N);
    a = w->step;
    b = w->N;
    while (b) {
      const PetscInt rest = a % b;

      a = b;
      b = rest;
    }
  }
}

/* whether constants are the null space */
static PetscBool IsSingular(const Draws *w)
{
  PetscBool is = PETSC_TRUE;

  for (int side = 0; side < 2 * w->dim; side++) is = (PetscBool)(is && (w->free[side] || w->periodic[side / 2]));
  return is;
}

static double CoefficientAt(const Draws *w, const PetscInt cell[])
{
  PetscInt number = 0, sum = 0;

  for (int d = w->dim - 1; d >= 0; d--) {
    number = 1000 * number + cell[d] / (w->varies == BOXES ? w->each : 1);
    sum += cell[d] / w->each;
  }
  if (w->varies == CONSTANT) return 1;
  if (w->varies == CHECKERS) return sum % 2 ? 1000 : 1;
  number = (number + 17) * 7919 % 10007;
  return pow(w->varies == BOXES ? 1000 : 10, (double)number / 10007);
}

/* the row of a node of the grid, or -1: it is left out. *side: it is a Dirichlet node */
static PetscInt RowAt(const Draws *w, const PetscInt at[], PetscBool *side)
{
  PetscInt row = 0;

  *side = PETSC_FALSE;
  for (int d = w->dim - 1; d >= 0; d--) {
    const PetscInt last = w->boxes[d] * w->each * w->degree;
    PetscInt       i = at[d];

    if (w->periodic[d]) i %= last;
    else {
      *side = (PetscBool)(*side || (i == 0 && !w->free[2 * d]) || (i == last && !w->free[2 * d + 1]));
      i -= !w->rows && !w->free[2 * d];
    }
    row = row * w->n[d] + i;
  }
  return *side && !w->rows ? -1 : (PetscInt)(((PetscInt64)row * w->step + w->shift) % w->N);
}

/* What a cell of the DM has: rows and side [ndof], h [dim], a. */
static PetscErrorCode ReadCell(const Draws *w, DM dm, PetscInt cell, PetscInt rows[], PetscBool side[], PetscReal h[], double *a)
{
  const int n = w->degree + 1, ndof = (int)PetscPowInt(n, w->dim);
  PetscReal lower[3], upper[3];
  PetscInt  at[3], first[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCellBounds(dm, cell, lower, upper));
  for (int d = 0; d < w->dim; d++) {
    h[d] = upper[d] - lower[d];
    while (w->face[d][first[d] + 1] < (lower[d] + upper[d]) / 2) first[d]++;
  }
  *a = CoefficientAt(w, first);
  for (int i = 0; i < ndof; i++) {
    for (int d = 0, rest = i; d < w->dim; d++, rest /= n) at[d] = first[d] * w->degree + rest % n;
    rows[i] = RowAt(w, at, &side[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeDM(Draws *w, DM *dm)
{
  const PetscReal  lower[3] = {0, 0, 0}, upper[3] = {1, 1, 1};
  VPatchDGBoundary boundary[6] = {VPATCHDG_BOUNDARY_DIRICHLET};
  PetscInt         refine = 0, boxes[3] = {1, 1, 1};

  PetscFunctionBeginUser;
  while (1 << refine < w->each) refine++;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, w->dim, w->degree, refine, dm));
  for (int d = 0; d < w->dim; d++) boxes[d] = w->boxes[d];
  PetscCall(DMVPatchDGSetBoxGrid(*dm, boxes, lower, upper));
  for (int d = 0; d < w->dim; d++) {
    PetscCall(DMVPatchDGSetGrid(*dm, d, w->boxes[d], w->wide[d]));
    for (int side = 2 * d; side < 2 * d + 2; side++)
      boundary[side] = w->periodic[d]  ? VPATCHDG_BOUNDARY_PERIODIC
                       : w->free[side] ? VPATCHDG_BOUNDARY_NEUMANN
                                       : VPATCHDG_BOUNDARY_DIRICHLET;
  }
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMVPatchDGSetQuadrature(*dm, w->lobatto ? VPATCHDG_QUADRATURE_LOBATTO : VPATCHDG_QUADRATURE_GAUSS));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a cell's form to A. K, M [n][n] */
static PetscErrorCode AddCell(const Draws *w, Mat A, const PetscInt rows[], const PetscReal h[], double a, const double K[],
                              const double M[], PetscScalar value[])
{
  const int n = w->degree + 1, ndof = (int)PetscPowInt(n, w->dim);

  PetscFunctionBeginUser;
  for (int i = 0; i < ndof * ndof; i++) {
    value[i] = 0;
    for (int d = 0; d < w->dim; d++) {
      double product = a;

      for (int e = 0, p = i / ndof, q = i % ndof; e < w->dim; e++, p /= n, q /= n)
        product *= e == d ? K[p % n * n + q % n] / h[e] : M[p % n * n + q % n] * h[e];
      value[i] += product;
    }
  }
  PetscCall(MatSetValues(A, ndof, rows, ndof, rows, value, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles the matrix, fills the element restriction, node [ncell][ndof], and sets the DM's coefficient. */
static PetscErrorCode AssembleAll(Draws *w, DM dm, Mat A, PetscInt node[])
{
  const int    ndof = (int)PetscPowInt(w->degree + 1, w->dim);
  double       K[VP_MAX_N * VP_MAX_N], M[VP_MAX_N * VP_MAX_N];
  PetscInt     ncell, fixed = 0, *fix;
  PetscReal    h[3], *a;
  PetscScalar *value;
  PetscBool   *side;

  PetscFunctionBeginUser;
  ElementForms(w->degree, w->lobatto, K, M);
  PetscCall(DMVPatchDGGetCells(dm, &ncell));
  PetscCall(PetscMalloc4(ndof * ndof, &value, ndof, &side, ncell + 1, &a, ncell * ndof + 1, &fix));
  w->thin = 1;
  for (PetscInt c = 0; c < ncell; c++) {
    PetscInt *rows = node + c * ndof;
    double    own = 1;

    PetscCall(ReadCell(w, dm, c, rows, side, h, &own));
    a[c] = own;
    PetscCall(AddCell(w, A, rows, h, own, K, M, value));
    for (int d = 0; d < w->dim; d++)
      for (int e = 0; e < w->dim; e++) w->thin = PetscMax(w->thin, h[d] / h[e]);
    for (int i = 0; i < ndof; i++) {
      if (!side[i] || rows[i] < 0) continue;
      fix[fixed++] = rows[i];
      rows[i] = -1;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &w->thin, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  if (w->rows) {
    PetscCall(MatZeroRows(A, fixed, fix, 1, NULL, NULL));
    PetscCall(MatCreateVecs(A, &w->data, NULL));
    for (PetscInt i = 0; i < fixed; i++) PetscCall(VecSetValue(w->data, fix[i], 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(w->data));
    PetscCall(VecAssemblyEnd(w->data));
  }
  if (w->varies) PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree4(value, side, a, fix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeProblem(Draws *w, Problem *p)
{
  const PetscInt ndof = PetscPowInt(w->degree + 1, w->dim), width = PetscMin(w->N, PetscPowInt(2 * w->degree + 1, w->dim));
  PetscInt       ncell, *node;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(w, &p->dm));
  PetscCall(DMVPatchDGGetCells(p->dm, &ncell));
  PetscCall(PetscMalloc1(ncell * ndof + 1, &node));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, w->N, w->N, width, NULL, width, NULL, &p->A));
  PetscCall(MatSetOption(p->A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(AssembleAll(w, p->dm, p->A, node));
  PetscCall(CompleteProblem(p));
  PetscCall(TestPC(p->ksp, &pc));
  PetscCall(PCVPatchDGSetElementRestriction(pc, p->dm, ncell, node));
  PetscCall(PetscFree(node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *nu = FGMRES's iterations for eight digits. The digits are those of the residual without rows of the identity, A_II x_I = b_I - A_ID b_D,
   whose right-hand side may be thousands of times as large as b. */
static PetscErrorCode CountIterations(Problem *p, Vec data, const char more[], double *nu)
{
  PetscReal norm, first = 1, last;
  PetscInt  its;
  char      options[512];

  PetscFunctionBeginUser;
  if (data) {
    PetscCall(VecPointwiseMult(p->x, data, p->b));
    PetscCall(TrueResidual(p->A, p->b, p->x, &first));
    PetscCall(VecSet(p->x, 0));
  }
  PetscCall(VecNorm(p->b, NORM_2, &norm));
  PetscCall(PetscSNPrintf(options, sizeof(options),
                          "-ksp_type fgmres -ksp_gmres_restart 200 -ksp_max_it 200 -ksp_rtol 1e-30 -ksp_atol %g -vpatchdg_warnings 0 %s",
                          1e-10 * (double)(first * norm), more));
  PetscCall(SolveWith(p, options, &last, &its, NULL));
  *nu = 8 * its / -log10((double)(last / first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same by the DG cycle on the DG operator */
static PetscErrorCode CountForDG(DM dm, PetscBool singular, double *nu)
{
  Problem p;
  PC      pc;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  if (singular) {
    PetscCall(VecCopy(p.b, p.x));
    PetscCall(MatMult(p.A, p.x, p.b));
    PetscCall(VecSet(p.x, 0));
  }
  PetscCall(TestPC(p.ksp, &pc));
  PetscCall(CountIterations(&p, NULL, "", nu));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *most: iterations for eight digits, two more than in the tables for such cells. Where the method itself takes more, *most is one more
   than its condition number K allows, which is at most the product of two: that of the DG cycle on the DG operator, and that of the means
   around the exact inverse of the DG operator. CG's rate of convergence gives K for iterations, and iterations for K:

       1 / sqrt(K) = tanh(4 log(10) / iterations) */
static PetscErrorCode MostIterations(const Draws *w, Problem *p, double nu, double *most)
{
  static const double table[] = {9, 12, 15, 12};
  const double        L = 4 * log(10.);
  double              dg, exact;

  PetscFunctionBeginUser;
  *most = table[w->varies];
  if (nu < *most || w->varies < CHECKERS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CountForDG(p->dm, IsSingular(w), &dg));
  PetscCall(CountIterations(p, w->data,
                            "-pc_vpatchdg_levels 1 -pc_vpatchdg_coarse ksp -vpatchdg_coarse_ksp_type preonly "
                            "-vpatchdg_coarse_pc_type redundant -vpatchdg_coarse_mat_type aij",
                            &exact));
  *most = L / atanh(tanh(L / dg) * tanh(L / exact)) + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveDraw(const char name[])
{
  PetscReal error;
  double    nu, most;
  Problem   p;
  Draws     w;
  Vec       known;

  PetscFunctionBeginUser;
  DrawGrid(&w);
  PetscCall(MakeProblem(&w, &p));
  PetscCall(VecDuplicate(p.b, &known));
  PetscCall(SolveDirectly(&p, IsSingular(&w), known));
  PetscCall(CountIterations(&p, w.data, "", &nu));
  PetscCall(FindError(&p, IsSingular(&w), known, &error));
  PetscCall(MostIterations(&w, &p, nu, &most));
  TapOk((PetscBool)(error < 1e-5 && nu < most),
        "%s: %dD Q%d%s, %d x %d x %d boxes of %d, sides up to 1:%.0f, %s, %s: %.1f iterations of %.1f, error %.1e", name, w.dim, w.degree,
        w.lobatto ? " lobatto" : "", (int)w.boxes[0], (int)w.boxes[1], (int)w.boxes[2], (int)w.each, w.thin,
        IsSingular(&w) ? "singular"
        : w.rows       ? "rows of the identity"
                       : "left out",
        names[w.varies], nu, most, (double)error);
  PetscCall(VecDestroy(&known));
  PetscCall(VecDestroy(&w.data));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode random_operators_are_solved(PetscInt draws)
{
  char name[64];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < draws; i++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "random_operators_are_solved, %d", (int)i));
    PetscCall(SolveDraw(name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small draws that take more iterations than the tables: noise, which takes the DG cycle as many, and checkers, whose stiff cells touch
   along edges alone. */
static PetscErrorCode methods_limits_are_kept(void)
{
  static const PetscInt seed[] = {25, 29}, draw[] = {1, 112};

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    Draws w;

    SeedDraws(seed[i]);
    for (PetscInt skip = 0; skip < draw[i]; skip++) DrawGrid(&w);
    PetscCall(SolveDraw("methods_limits_are_kept"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(RunDraws(12, random_operators_are_solved));
  PetscCall(methods_limits_are_kept());
  PetscFunctionReturn(PETSC_SUCCESS);
}
