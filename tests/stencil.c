/* Five-point and seven-point matrices on a DMDA, from programs that know only PETSc. */
/* ranks: 1 2 4 */
#include "support/problem.h"
#include "support/refused.h"
#include "support/stencil.h"
#include "../src/petsc/pc/internal.h"

static PetscErrorCode Measure(const Stencil *s, const char options[], const char says[], double *nu, PetscBool *said)
{
  PetscOptions own;
  PetscReal    residual;
  PetscInt     its;
  KSP          ksp;
  Mat          A;
  Vec          x, b;
  char         all[256];

  PetscFunctionBeginUser;
  PetscCall(CreateKSP(s, &ksp));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-pc_type vpatchdg -ksp_rtol 1e-8 -ksp_max_it 100 %s", options));
  PetscCall(TestOptionsPush(all, &own));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(TestOptionsPop(&own));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(ViewSays((PetscObject)ksp, says, said));
  *nu = 8 * its / -log10((double)residual);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define FGMRES "-ksp_type fgmres -ksp_gmres_restart 100 -pc_vpatchdg_precision double "
#define ALL(k) \
  { \
    k, k, k \
  }

/* nu: of B, and with Jacobi steps around it */
static const struct {
  int         dim;
  Kind        kind;
  PetscInt    n;
  double      nu[2];
  const char *says;
} rows[] = {{2, OUTSIDE, 15, {6.5, 5.6}, "Dirichlet nodes outside"},
            {2, OUTSIDE, 31, {6.7, 5.9}, "Dirichlet nodes outside"},
            {2, OUTSIDE, 24, {6.7, 5.9}, "Dirichlet nodes outside"},
            {2, ROWS, 17, {6.5, 5.6}, "rows of the identity"},
            {2, ROWS, 52, {6.7, 6.0}, "rows of the identity"},
            {2, CENTERS, 32, {11.7, 7.8}, "centers, Neumann"},
            {2, HALF, 32, {8.6, 6.2}, "centers, Dirichlet"},
            {3, OUTSIDE, 7, {6.0, 5.4}, "Dirichlet nodes outside"},
            {3, OUTSIDE, 15, {6.2, 5.7}, "Dirichlet nodes outside"},
            {3, ROWS, 9, {6.0, 5.4}, "rows of the identity"},
            {3, CENTERS, 16, {17, 9.8}, "centers, Neumann"},
            {3, HALF, 16, {10.3, 6.5}, "centers, Dirichlet"},
            {2, NATURAL, 17, {0, 0}, "nodes, Neumann"},
            {3, NATURAL, 9, {0, 0}, "nodes, Neumann"},
            {2, AROUND, 16, {0, 0}, "periodic"}};

static PetscErrorCode iterations_are_as_published(void)
{
  static const char *const ways[] = {"none", "both"};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows); i++) {
    const Stencil s = {.dim = rows[i].dim, .kind = ALL(rows[i].kind), .n = ALL(rows[i].n), .h = {1, 1, 1}, .scale = 1};

    for (int way = 0; way < 2; way++) {
      double    nu = 0;
      PetscBool said;
      char      options[128];

      PetscCall(PetscSNPrintf(options, sizeof(options), FGMRES "-pc_vpatchdg_jacobi %s", ways[way]));
      PetscCall(Measure(&s, options, rows[i].says, &nu, &said));
      TapOk((PetscBool)(said && (rows[i].nu[way] > 0 ? fabs(nu - rows[i].nu[way]) <= (rows[i].kind == CENTERS ? 1 : 0.5) : nu < 8)),
            "iterations_are_as_published, %dD %d points, %s, jacobi %s: %.2f for %.1f", s.dim, (int)s.n[0], rows[i].says, ways[way], nu,
            rows[i].nu[way]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double Waves(const double x[])
{
  return exp(sin(6 * x[0]) * cos(5 * x[1]));
}

/* as in PETSc's ksp ex29 with -rho */
static double Block(const double x[])
{
  return x[0] > 1. / 3 && x[0] < 2. / 3 && x[1] > 1. / 3 && x[1] < 2. / 3 ? 100 : 1;
}

/* Other conditions on every side, other distances along every direction, a scale, a coefficient: all is read off the matrix. */
static PetscErrorCode all_is_read_off(void)
{
  static const struct {
    Stencil     s;
    const char *name, *says;
    double      most;
  } cases[] = {
    {{3, {ROWS, NATURAL, OUTSIDE}, {13, 17, 11}, {1, .25, 2}, PETSC_FALSE, 1, NULL, NULL}, "mixed sides, thin cells", "nodes, Neumann", 9},
    {{2, {AROUND, ROWS, ROWS}, {24, 17, 1}, {1, 1, 1}, PETSC_FALSE, 1e-6, NULL, NULL}, "periodic, scaled", "periodic", 8},
    {{2, {ROWS, ROWS, ROWS}, {33, 33, 1}, {1, 1, 1}, PETSC_TRUE, 1e6, NULL, NULL}, "columns of zeros, scaled", "rows of the identity", 8},
    {{2, {ROWS, ROWS, ROWS}, {33, 33, 1}, {1, .1, 1}, PETSC_FALSE, 1, Waves, NULL}, "a smooth coefficient", "its coefficient varies", 9},
    {{2, {ROWS, ROWS, ROWS}, {33, 33, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, Block}, "rows with factors", "rows have a factor each", 9},
    {{3, {OUTSIDE, NATURAL, OUTSIDE}, {11, 13, 9}, {1, .5, 1}, PETSC_FALSE, 1e3, NULL, Block},
     "rows with factors",
     "rows have a factor each",
     10},
    {{2, {CENTERS, HALF, ROWS}, {32, 20, 1}, {1, 1, 1}, PETSC_FALSE, 3, Waves, NULL},
     "centers, a smooth coefficient",
     "centers, Neumann",
     11}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    double    nu = 0;
    PetscBool said;

    PetscCall(Measure(&cases[i].s, FGMRES, cases[i].says, &nu, &said));
    TapOk((PetscBool)(said && nu < cases[i].most), "all_is_read_off, %s: %.2f iterations", cases[i].name, nu);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Implicit time steps: c I, or c times volumes, are added to the matrix. */
static PetscErrorCode reactions_are_read_off(void)
{
  static const struct {
    Stencil     s;
    const char *name, *says;
    double      most;
  } cases[] = {
    {{2, ALL(ROWS), {65, 65, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL, 0.01, NULL}, "small", "it has a reaction", 8},
    {{2, ALL(ROWS), {65, 65, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL, 1, NULL}, "one, wide cells", "cells are two distances wide", 8},
    {{2, ALL(ROWS), {65, 65, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL, 100, NULL}, "large", "it has a reaction", 8},
    {{2, ALL(ROWS), {66, 66, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL, 100, NULL}, "large, narrow", "it has a reaction", 8},
    {{2, ALL(ROWS), {66, 66, 1}, {1, 1, 1}, PETSC_TRUE, 1e-4, NULL, NULL, 1, NULL}, "columns of zeros", "it has a reaction", 8},
    {{3, ALL(NATURAL), {17, 17, 17}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL, 0.1, NULL}, "Neumann", "nodes, Neumann; it has", 8},
    {{3, ALL(CENTERS), {16, 16, 16}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL, 3, NULL}, "centers", "centers, Neumann; it has", 11},
    {{2, ALL(CENTERS), {32, 32, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL, 1e-6, NULL}, "centers, tiny", "centers, Neumann; it has", 11},
    {{3, {OUTSIDE, HALF, AROUND}, {15, 16, 12}, {1, .5, 1}, PETSC_FALSE, 1, NULL, NULL, 3, NULL},
     "mixed sides",
     "Dirichlet nodes outside; centers, Dirichlet; periodic; it has",
     11},
    {{2, ALL(ROWS), {33, 33, 1}, {1, 1, 1}, PETSC_FALSE, 5, Waves, NULL, 1, NULL}, "beside a coefficient", "varies; it has a reaction", 9},
    {{2, {ROWS, NATURAL, ROWS}, {33, 33, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, Block, 1, NULL}, "rows with factors", "it has a reaction", 9},
    {{2, ALL(ROWS), {65, 65, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL, 1, Block}, "1:100", "its reaction varies", 10},
    {{3, ALL(CENTERS), {16, 16, 16}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL, 1, Waves}, "varies, centers", "its reaction varies", 11},
    {{2, ALL(ROWS), {66, 66, 1}, {1, 1, 1}, PETSC_FALSE, 1, Waves, NULL, .01, Block}, "both vary", "coefficient varies; its reaction", 10}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    double    nu = 0;
    PetscBool said;

    PetscCall(Measure(&cases[i].s, FGMRES, cases[i].says, &nu, &said));
    TapOk((PetscBool)(said && nu < cases[i].most), "reactions_are_read_off, %s: %.2f iterations%s", cases[i].name, nu,
          said ? "" : ", not said");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode negative_sums_are_warned_of(void)
{
  static const double reaction[] = {-1e-3, 0, 1e-3};

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    const Stencil s = {.dim = 2, .kind = ALL(ROWS), .n = {16, 16, 1}, .h = {1, 1, 1}, .scale = 1, .reaction = reaction[i]};
    PetscBool     warned;
    KSP           ksp;
    PC            pc;

    PetscCall(CreateKSP(&s, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCVPATCHDG));
    PetscCall(KSPSetUp(ksp));
    warned = (PetscBool)(VpPCBaseData(pc)->warned >> VP_WARN_REACTION & 1);
    TapOk((PetscBool)((int)warned == (reaction[i] < 0)), "negative_sums_are_warned_of, %g", reaction[i]);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells are as wide as two distances of points, where points come in pairs. */
static PetscErrorCode wide_cells_take_as_few_iterations(void)
{
  static const struct {
    Stencil     s;
    const char *options;
    PetscBool   wide;
    double      most;
  } cases[] = {{{2, ALL(ROWS), {33, 65, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, FGMRES, PETSC_TRUE, 7.5},
               {{2, ALL(OUTSIDE), {31, 63, 1}, {1, 1.2, 1}, PETSC_FALSE, 1e3, NULL, NULL}, FGMRES, PETSC_TRUE, 8},
               {{2, {NATURAL, AROUND, ROWS}, {33, 32, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, FGMRES, PETSC_TRUE, 8},
               {{3, ALL(ROWS), {17, 17, 17}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, FGMRES, PETSC_TRUE, 7.5},
               {{3, {OUTSIDE, NATURAL, ROWS}, {15, 17, 13}, {1, 1, 1}, PETSC_FALSE, 1e-3, NULL, NULL}, FGMRES, PETSC_TRUE, 8},
               {{3, ALL(ROWS), {17, 17, 17}, {1, 1, 1}, PETSC_TRUE, 1, NULL, NULL},
                "-ksp_type cg -ksp_norm_type unpreconditioned -pc_vpatchdg_symmetric -pc_vpatchdg_cells wide -pc_vpatchdg_jacobi both ",
                PETSC_TRUE,
                8},
               {{2, ALL(ROWS), {33, 33, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, Block}, FGMRES, PETSC_TRUE, 8},
               {{2, ALL(ROWS), {34, 33, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, FGMRES, PETSC_FALSE, 7.5},
               {{2, ALL(ROWS), {33, 33, 1}, {1, 1.3, 1}, PETSC_FALSE, 1, NULL, NULL}, FGMRES, PETSC_FALSE, 7.5},
               {{2, ALL(ROWS), {33, 33, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, FGMRES "-pc_vpatchdg_cells narrow", PETSC_FALSE, 7.5},
               {{2, ALL(ROWS), {33, 33, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, FGMRES "-pc_vpatchdg_jacobi after", PETSC_FALSE, 7.5}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    double    nu = 0;
    PetscBool said;

    PetscCall(Measure(&cases[i].s, cases[i].options, "cells are two distances wide", &nu, &said));
    TapOk((PetscBool)(said == cases[i].wide && nu < cases[i].most), "wide_cells_take_as_few_iterations, case %d, %s: %.2f", (int)i,
          said ? "wide" : "narrow", nu);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (y, M x) = (M^T y, x) for cells that are wide, also where other rows couple with those of the identity */
static PetscErrorCode wide_cells_have_a_transpose(void)
{
  const Stencil s = {.dim = 2, .kind = {ROWS, NATURAL, ROWS}, .n = {17, 17, 1}, .h = {1, 1, 1}, .scale = 1};
  PetscScalar   one, other;
  KSP           ksp;
  PC            pc;
  Mat           A;
  Vec           x, y, z;

  PetscFunctionBeginUser;
  PetscCall(CreateKSP(&s, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(SetByOption(pc, "-pc_vpatchdg_cells", "wide"));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &z));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(TestRandom(x, PETSC_FALSE));
  PetscCall(VecCopy(x, y));
  PetscCall(VecShift(y, 0.3));
  PetscCall(VecPointwiseMult(y, y, y));
  PetscCall(PCApply(pc, x, z));
  PetscCall(VecDot(z, y, &one));
  PetscCall(PCApplyTranspose(pc, y, z));
  PetscCall(VecDot(z, x, &other));
  TapOk((PetscBool)(PetscAbsScalar(one - other) <= 1e-10 * PetscAbsScalar(one)), "wide_cells_have_a_transpose: %.3e",
        (double)(one - other));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode cells_that_cannot_be_wide_are_refused(void)
{
  static const struct {
    Stencil     s;
    const char *jacobi, *text;
  } cases[] = {{{2, ALL(ROWS), {16, 17, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, "auto", "not all cells come in pairs"},
               {{2, ALL(ROWS), {3, 17, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, "auto", "fewer than four distances"},
               {{2, ALL(CENTERS), {17, 17, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, "auto", "centers of cells"},
               {{2, ALL(ROWS), {17, 17, 1}, {1, 2, 1}, PETSC_FALSE, 1, NULL, NULL}, "auto", "distances of points differ"},
               {{2, ALL(ROWS), {17, 17, 1}, {1, 1, 1}, PETSC_FALSE, 1, Waves, NULL}, "auto", "the coefficient varies"},
               {{2, ALL(ROWS), {17, 17, 1}, {1, 1, 1}, PETSC_FALSE, 1, NULL, NULL}, "none", "has to be auto or both"}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    KSP ksp;
    PC  pc;

    PetscCall(CreateKSP(&cases[i].s, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCVPATCHDG));
    PetscCall(SetByOption(pc, "-pc_vpatchdg_cells", "wide"));
    PetscCall(SetByOption(pc, "-pc_vpatchdg_jacobi", cases[i].jacobi));
    Refused(KSPSetUp(ksp), cases[i].text, cases[i].text);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An entry more in the middle of the grid, which makes the matrix another one. */
static PetscErrorCode ComputeOther(KSP ksp, Mat A, Mat P, void *ctx)
{
  const Stencil    s = {.dim = 2, .kind = ALL(OUTSIDE), .n = {9, 9, 1}, .h = {1, 1, 1}, .scale = 1};
  const MatStencil row = {.i = 4, .j = 4, .k = 0, .c = 0}, beside = {.i = 5, .j = 4, .k = 0, .c = 0},
                   corner = {.i = 5, .j = 5, .k = 0, .c = 0};
  const int   kind = *(const int *)ctx;
  PetscScalar value = kind == 1 ? 0.5 : -0.5;

  PetscFunctionBeginUser;
  PetscCall(ComputeMatrix(ksp, A, P, (void *)&s));
  PetscCall(MatSetOption(P, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(P, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValuesStencil(P, 1, &row, 1, kind == 2 ? &corner : &beside, &value, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_matrices_are_refused(void)
{
  static const char *const text[] = {"is not symmetric", "positive entries off the diagonal", "couples more than neighbours"};
  const Stencil            s = {.dim = 2, .kind = ALL(OUTSIDE), .n = {9, 9, 1}, .h = {1, 1, 1}, .scale = 1};
  PC                       pc;
  KSP                      ksp;
  DM                       da;
  Mat                      A;

  PetscFunctionBeginUser;
  for (int kind = 0; kind < 3; kind++) {
    PetscCall(CreateKSP(&s, &ksp));
    PetscCall(KSPSetComputeOperators(ksp, ComputeOther, &kind));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCVPATCHDG));
    Refused(KSPSetUp(ksp), text[kind], text[kind]);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 9, PETSC_DECIDE, PETSC_DECIDE, 2, 1,
                         NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(PCSetOperators(pc, A, A));
  Refused(PCSetUp(pc), "the DMDA has 2 unknowns a point", "two unknowns a point");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of another kind: the sum of a side's rows is half of a coupling. */
static PetscErrorCode points_are_asked_for(void)
{
  const Stencil s = {.dim = 2, .kind = ALL(CENTERS), .n = {12, 12, 1}, .h = {1, 1, 1}, .scale = 1};
  PetscInt      first[2], count[2];
  PetscScalar   half = 0.5;
  KSP           ksp;
  DM            da;
  PC            pc;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateKSP(&s, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatSetNullSpace(A, NULL));
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetCorners(da, &first[0], &first[1], NULL, &count[0], &count[1], NULL));
  for (PetscInt i = 0; i < count[0] * count[1]; i++) {
    const MatStencil row = {.i = first[0] + i % count[0], .j = first[1] + i / count[0], .k = 0, .c = 0};

    if (row.i % 11 == 0 || row.j % 11 == 0) PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &half, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  Refused(PCSetUp(pc), "say -pc_vpatchdg_points nodes or -pc_vpatchdg_points centers", "sides that are not clear");
  PetscCall(SetByOption(pc, "-pc_vpatchdg_points", "centers"));
  PetscCall(PCSetUp(pc));
  TapOk(PETSC_TRUE, "points_are_asked_for");
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(VPatchDGInitializePackage());
  PetscCall(iterations_are_as_published());
  PetscCall(all_is_read_off());
  PetscCall(reactions_are_read_off());
  PetscCall(negative_sums_are_warned_of());
  PetscCall(LossesAreExpected());
  PetscCall(bad_matrices_are_refused());
  PetscCall(points_are_asked_for());
  PetscCall(wide_cells_take_as_few_iterations());
  PetscCall(wide_cells_have_a_transpose());
  PetscCall(cells_that_cannot_be_wide_are_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
