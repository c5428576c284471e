/* Iterations on continuous operators: those of an independent program, for random right-hand sides; and which Jacobi steps ranks choose. */
/* ranks: 1 2 4 */
#include "support/continuous.h"
#include "../src/petsc/pcbase/pcbase.h"

#define FGMRES "-ksp_type fgmres -ksp_gmres_restart 200 "
#define CG     "-ksp_type cg -ksp_norm_type unpreconditioned -pc_vpatchdg_symmetric "

/* nu: of B, of Jacobi steps before and after it, after it, and of CG with a symmetric cycle; 0: not known */
static const struct {
  int       dim, degree;
  PetscInt  cells;
  PetscBool lobatto;
  Sides     sides;
  double    nu[4];
} rows[] = {
  {2, 1, 16, PETSC_FALSE, LEFT_OUT, {6.3, 4.4, 4.9, 5.4}},
  {2, 2, 16, PETSC_FALSE, LEFT_OUT, {5.7, 3.8, 4.2, 5.5}},
  {2, 3, 16, PETSC_FALSE, LEFT_OUT, {6.0, 3.8, 4.4, 5.9}},
  {2, 4, 16, PETSC_FALSE, LEFT_OUT, {6.1, 3.8, 4.5, 6.0}},
  {2, 5, 16, PETSC_FALSE, LEFT_OUT, {6.1, 3.9, 4.6, 6.1}},
  {2, 6, 16, PETSC_FALSE, LEFT_OUT, {6.1, 4.0, 4.8, 6.1}},
  {2, 2, 8, PETSC_FALSE, LEFT_OUT, {5.7, 3.8}},
  {2, 2, 32, PETSC_FALSE, LEFT_OUT, {5.7, 3.9}},
  {2, 2, 64, PETSC_FALSE, LEFT_OUT, {5.7, 3.9}},
  {2, 8, 8, PETSC_FALSE, LEFT_OUT, {6.3, 4.1, 5.2}},
  {3, 1, 8, PETSC_FALSE, LEFT_OUT, {7.0, 4.5, 5.4, 6.6}},
  {3, 2, 8, PETSC_FALSE, LEFT_OUT, {6.9, 4.1, 5.0, 6.9}},
  {3, 3, 4, PETSC_FALSE, LEFT_OUT, {7.0, 4.2}},
  {2, 1, 16, PETSC_FALSE, NATURAL, {6.9, 5.2, 0, 5.7}},
  {2, 2, 16, PETSC_FALSE, NATURAL, {5.2, 3.9, 0, 5.0}},
  {2, 3, 16, PETSC_FALSE, NATURAL, {5.4, 3.6, 0, 5.3}},
  {2, 4, 16, PETSC_FALSE, NATURAL, {5.5, 3.6, 0, 5.4}},
  {2, 6, 16, PETSC_FALSE, NATURAL, {5.4, 3.7, 0, 5.4}},
  {3, 2, 8, PETSC_FALSE, NATURAL, {6.3, 4.2, 0, 6.1}},
  {2, 1, 16, PETSC_FALSE, IDENTITY_ROWS, {6.3, 4.4}},
  {2, 2, 16, PETSC_FALSE, IDENTITY_ROWS, {5.7, 3.8}},
  {2, 4, 16, PETSC_FALSE, IDENTITY_ROWS, {6.1, 3.8}},
  {3, 2, 8, PETSC_FALSE, IDENTITY_ROWS, {6.9, 4.1}},
  {2, 1, 16, PETSC_TRUE, LEFT_OUT, {6.6, 5.6, 0, 4.9}},
  {2, 2, 16, PETSC_TRUE, LEFT_OUT, {4.8, 3.8, 0, 4.5}},
  {2, 3, 16, PETSC_TRUE, LEFT_OUT, {5.2, 3.9, 0, 5.1}},
  {2, 4, 16, PETSC_TRUE, LEFT_OUT, {5.5, 3.9, 0, 5.5}},
  {2, 6, 16, PETSC_TRUE, LEFT_OUT, {5.8, 4.0, 0, 5.8}},
  {2, 8, 8, PETSC_TRUE, LEFT_OUT, {6.0, 4.4}},
  {2, 1, 32, PETSC_TRUE, LEFT_OUT, {6.7, 5.9, 0, 5.0}},
  {2, 1, 64, PETSC_TRUE, LEFT_OUT, {6.7, 6.0, 0, 5.0}},
  {3, 1, 8, PETSC_TRUE, LEFT_OUT, {6.0, 5.5, 0, 4.7}},
  {3, 2, 8, PETSC_TRUE, LEFT_OUT, {4.5, 3.8, 0, 4.4}},
};

static PetscErrorCode SetBlocks(DM dm, double (*coefficient)(const PetscReal[], int))
{
  PetscReal lower[3], upper[3], center[3] = {0, 0, 0}, *a;
  PetscInt  ncell;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &ncell));
  PetscCall(PetscMalloc1(ncell + 1, &a));
  for (PetscInt c = 0; c < ncell; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    for (int d = 0; d < 2; d++) center[d] = (lower[d] + upper[d]) / 2;
    a[c] = coefficient(center, 2);
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(const NodeGrid *g, const char options[], double *nu)
{
  PetscReal residual;
  PetscInt  its;
  char      all[256];
  Problem   p;

  PetscFunctionBeginUser;
  PetscCall(GridProblem(g, g->lobatto && !g->other ? "-dm_vpatchdg_quadrature lobatto" : "", &p));
  if (g->coefficient) PetscCall(SetBlocks(p.dm, g->coefficient));
  PetscCall(
    PetscSNPrintf(all, sizeof(all), "-ksp_rtol 1e-8 -ksp_max_it 100 -pc_vpatchdg_precision double -vpatchdg_warnings 0 %s", options));
  PetscCall(SolveWith(&p, all, &residual, &its, NULL));
  *nu = 8 * its / -log10((double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode iterations_are_as_published(void)
{
  static const char *const ways[] = {FGMRES "-pc_vpatchdg_jacobi none", FGMRES "-pc_vpatchdg_jacobi both",
                                     FGMRES "-pc_vpatchdg_jacobi after", CG "-pc_vpatchdg_jacobi none"};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows); i++) {
    const NodeGrid g = {
      .dim = rows[i].dim, .degree = rows[i].degree, .cells = rows[i].cells, .lobatto = rows[i].lobatto, .sides = rows[i].sides};

    for (int way = 0; way < 4; way++) {
      double nu = 0;

      if (!(rows[i].nu[way] > 0)) continue;
      PetscCall(Measure(&g, ways[way], &nu));
      TapOk((PetscBool)(fabs(nu - rows[i].nu[way]) <= 0.5), "iterations_are_as_published, %dD Q%d %d cells%s%s, %s: %.2f for %.1f", g.dim,
            g.degree, (int)g.cells, g.lobatto ? ", lobatto" : "",
            g.sides == NATURAL ? ", Neumann"
            : g.sides          ? ", rows of the identity"
                               : "",
            strstr(ways[way], "-pc_vpatchdg"), nu, rows[i].nu[way]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 or 1000 in 4 x 4 blocks: a checkerboard; 2 x 2 soft blocks among stiff ones; stiff ones among soft ones */
static double Checkers(const PetscReal x[], int dim)
{
  return ((int)(4 * x[0]) + (int)(4 * x[1])) % 2 ? 1000 : 1;
}

static PetscBool IsInside(const PetscReal x[])
{
  return (PetscBool)(PetscAbsReal(x[0] - 0.5) < 0.25 && PetscAbsReal(x[1] - 0.5) < 0.25);
}

static double Soft(const PetscReal x[], int dim)
{
  return IsInside(x) ? 1 : 1000;
}

static double Stiff(const PetscReal x[], int dim)
{
  return IsInside(x) ? 1000 : 1;
}

static PetscErrorCode jumps_between_cells(void)
{
  static const struct {
    double (*coefficient)(const PetscReal[], int);
    const char *name;
    double      nu[4], both; /* of degrees 1 to 4; the most with Jacobi steps, 0: not known */
  } jumps[] = {{Soft, "soft inclusion", {6.5, 5.8, 6.1, 6.2}, 0},
               {Stiff, "stiff inclusion", {8.0, 7.6, 8.0, 8.3}, 0},
               {Checkers, "checkerboard", {11, 11.5, 12.4, 12.5}, 10.5}};

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    for (int k = 1; k <= 4; k++) {
      const NodeGrid g = {.dim = 2, .degree = k, .cells = 16, .sides = LEFT_OUT, .coefficient = jumps[i].coefficient};
      double         nu = 0, both = 0;

      PetscCall(Measure(&g, FGMRES "-pc_vpatchdg_jacobi none", &nu));
      if (jumps[i].both > 0) PetscCall(Measure(&g, FGMRES "-pc_vpatchdg_jacobi both", &both));
      TapOk((PetscBool)(nu <= jumps[i].nu[k - 1] + 0.5 && nu >= jumps[i].nu[k - 1] - 0.6 && both <= jumps[i].both + 0.5),
            "jumps_between_cells, %s, Q%d: %.2f for %.1f, with Jacobi steps %.2f", jumps[i].name, k, nu, jumps[i].nu[k - 1], both);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operators with the masses of the Gauss-Lobatto rule around a cycle with exact ones take twice as many iterations. */
static PetscErrorCode quadratures_belong_together(void)
{
  static const double nu[] = {14.9, 12.6, 11.7, 11.3};

  PetscFunctionBeginUser;
  for (int k = 1; k <= 4; k++) {
    const NodeGrid g = {.dim = 2, .degree = k, .cells = 16, .sides = LEFT_OUT, .lobatto = PETSC_TRUE, .other = PETSC_TRUE};
    double         found = 0;

    PetscCall(Measure(&g, FGMRES "-pc_vpatchdg_jacobi none", &found));
    TapOk((PetscBool)(fabs(found - nu[k - 1]) <= 0.6), "quadratures_belong_together, Q%d: %.2f for %.1f", k, found, nu[k - 1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Means are weighted by the stiffness of cells: two boxes of width 1 and 1/4, 1/16 or 1/64 along x and y. */
static PetscErrorCode thin_cells_weigh_more(void)
{
  static const double nu[] = {6.5, 7.4, 7.8};

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    const PetscReal width = PetscPowReal(4, -1 - i), face[] = {0, 1 / (1 + width), 1};
    const NodeGrid  g = {.dim = 2, .degree = 3, .cells = 8, .sides = LEFT_OUT, .boxes = 2, .face = face};
    double          found = 0;

    PetscCall(Measure(&g, FGMRES "-pc_vpatchdg_jacobi none", &found));
    TapOk((PetscBool)(fabs(found - nu[i]) <= 0.5), "thin_cells_weigh_more, 1:%.0f: %.2f for %.1f", 1 / (double)width, found, nu[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first rank gets three quarters of the rows. Vectors stay as they are. */
static PetscErrorCode MoveRows(const NodeGrid *g, Problem *p)
{
  const PetscMPIInt others = tap.size - 1;
  PetscInt          N, rest, ncell, *node;
  Mat               moved;
  IS                owned;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(p->A, &N, NULL));
  rest = others ? N / 4 / others : 0;
  PetscCall(
    ISCreateStride(PETSC_COMM_WORLD, tap.rank ? rest : N - rest * others, tap.rank ? N - rest * (tap.size - tap.rank) : 0, 1, &owned));
  PetscCall(MatCreateSubMatrix(p->A, owned, owned, MAT_INITIAL_MATRIX, &moved));
  PetscCall(ISDestroy(&owned));
  PetscCall(MatDestroy(&p->A));
  p->A = moved;
  PetscCall(NewKSP(p));
  PetscCall(TestPC(p->ksp, &pc));
  PetscCall(GridRestriction(g, p->dm, &ncell, &node));
  PetscCall(PCVPatchDGSetElementRestriction(pc, p->dm, ncell, node));
  PetscCall(PetscFree(node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *one: all ranks have these steps */
static PetscErrorCode ChosenSteps(Problem *p, double chosen[3], PetscBool *one)
{
  double       most[6];
  VpContinuous c;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(ReadOptions(p, "-ksp_type fgmres -pc_vpatchdg_jacobi auto", PETSC_FALSE));
  PetscCall(KSPSetUp(p->ksp));
  PetscCall(KSPGetPC(p->ksp, &pc));
  c = VpPCBaseData(pc)->continuous;
  chosen[0] = c->jacobi;
  chosen[1] = c->steps;
  chosen[2] = c->jacobi == VP_JACOBI_NONE ? 0 : (double)c->damping;
  for (int i = 0; i < 6; i++) most[i] = i < 3 ? chosen[i] : -chosen[i - 3];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 6, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  *one = PETSC_TRUE;
  for (int i = 0; i < 3; i++) *one = (PetscBool)(*one && most[i] == -most[i + 3]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whatever ranks have of the matrix, they choose the same Jacobi steps. */
static PetscErrorCode ranks_choose_one_jacobi(void)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < 8; i++) {
    const NodeGrid g = {
      .dim = 2 + i % 2, .degree = 1 + i / 2 % 2, .cells = i % 2 ? 8 : 16, .lobatto = (PetscBool)(i / 4), .sides = LEFT_OUT};
    double    equal[3], moved[3];
    PetscBool one[2];
    Problem   p;

    PetscCall(GridProblem(&g, g.lobatto ? "-dm_vpatchdg_quadrature lobatto" : "", &p));
    PetscCall(ChosenSteps(&p, equal, &one[0]));
    PetscCall(MoveRows(&g, &p));
    PetscCall(ChosenSteps(&p, moved, &one[1]));
    TapOk((PetscBool)(one[0] && one[1] && equal[0] == moved[0] && equal[1] == moved[1] && equal[2] == moved[2]),
          "ranks_choose_one_jacobi, %dD Q%d%s: %s, %s", g.dim, g.degree, g.lobatto ? " lobatto" : "", VpJacobiNames[(int)equal[0]],
          VpJacobiNames[(int)moved[0]]);
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(iterations_are_as_published());
  PetscCall(thin_cells_weigh_more());
  PetscCall(jumps_between_cells());
  PetscCall(quadratures_belong_together());
  PetscCall(ranks_choose_one_jacobi());
  PetscFunctionReturn(PETSC_SUCCESS);
}
