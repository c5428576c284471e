/* The DG method with masses by the rule of the Gauss-Lobatto points: iterations of an independent program, errors, meshes. */
/* ranks: 1 2 4 */
#include "support/problem.h"
#include "support/refused.h"

static const struct {
  int    dim, degree, refine;
  double nu;
} rows[] = {{2, 1, 4, 7.6}, {2, 2, 4, 4.1}, {2, 3, 4, 3.6}, {2, 4, 4, 3.1}, {2, 6, 4, 2.7}, {3, 1, 3, 6.7}, {3, 2, 3, 3.7}, {3, 3, 3, 3.3}};

/* nu = iterations per eight digits, for a random right-hand side */
static PetscErrorCode Measure(int dim, int degree, int refine, const char dm_options[], const char options[], double *nu)
{
  PetscReal    residual;
  PetscInt     its;
  char         all[512];
  MatNullSpace constants;
  DM           dm;
  Problem      p;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, &dm));
  PetscCall(TestDMOptions(dm, dm_options));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(MatGetNullSpace(p.A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, p.b));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type fgmres -ksp_rtol 1e-8 -pc_type vpatchdg -vpatchdg_warnings 0 %s", options));
  PetscCall(SolveWith(&p, all, &residual, &its, NULL));
  *nu = 8 * its / -log10((double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define LOBATTO "-dm_vpatchdg_quadrature lobatto "

static PetscErrorCode iterations_are_as_published(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows); i++) {
    double nu = 0;

    PetscCall(Measure(rows[i].dim, rows[i].degree, rows[i].refine, LOBATTO, "", &nu));
    TapOk((PetscBool)(fabs(nu - rows[i].nu) <= 0.5), "iterations_are_as_published, %dD degree %d: %.2f for %.1f", rows[i].dim,
          rows[i].degree, nu, rows[i].nu);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What works on the levels works with this rule: every way to solve the coarsest level, Neumann sides. */
static PetscErrorCode cycles_work(void)
{
  static const char *const ways[][2] = {{"", "-pc_vpatchdg_coarse ksp"},
                                        {"", "-pc_vpatchdg_coarse dense"},
                                        {"", "-pc_vpatchdg_coarse volumes -pc_vpatchdg_levels 2"},
                                        {"", "-pc_vpatchdg_symmetric"},
                                        {"-dm_vpatchdg_boundary neumann", ""}};

  PetscFunctionBeginUser;
  for (int degree = 1; degree <= 4; degree++) {
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(ways); i++) {
      double nu[2] = {0, 0};
      char   all[256];

      for (int lobatto = 0; lobatto < 2; lobatto++) {
        PetscCall(PetscSNPrintf(all, sizeof(all), "%s%s", lobatto ? LOBATTO : "", ways[i][0]));
        PetscCall(Measure(2, degree, 4, all, ways[i][1], &nu[lobatto]));
      }
      TapOk((PetscBool)(nu[1] < nu[0] + (degree == 1 ? 3 : 1)), "cycles_work, degree %d %s %s: %.2f, with Gauss's rule %.2f", degree,
            ways[i][0], ways[i][1], nu[1], nu[0]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar *value, void *ctx)
{
  *value = 1 + PetscSinReal(3 * x[0]) * PetscExpReal(x[1]);
  return 0;
}
static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar *value, void *ctx)
{
  *value = 8 * PetscSinReal(3 * x[0]) * PetscExpReal(x[1]);
  return 0;
}

/* Right-hand sides are integrals by Gauss's rule, so that errors shrink by a little less than 2^(k+1). */
static PetscErrorCode errors_converge(void)
{
  PetscFunctionBeginUser;
  for (int degree = 1; degree <= 4; degree++) {
    PetscReal error[2][2];

    for (int i = 0; i < 4; i++) {
      Problem p;
      DM      dm;

      PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, degree, 2 + i % 2, &dm));
      PetscCall(TestDMOptions(dm, i / 2 ? LOBATTO : ""));
      PetscCall(DMSetUp(dm));
      PetscCall(ProblemOf(dm, NULL, &p));
      PetscCall(DMVPatchDGComputeRHS(dm, Source, Solution, NULL, NULL, p.b));
      PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-11 -pc_type vpatchdg -vpatchdg_warnings 0", NULL, NULL, NULL));
      PetscCall(DMVPatchDGComputeErrors(dm, p.x, Solution, NULL, NULL, &error[i / 2][i % 2], NULL));
      PetscCall(ProblemDestroy(&p));
    }
    TapOk((PetscBool)(error[1][1] < 1.5 * error[1][0] / (1 << (degree + 1)) && error[1][1] < 4 * error[0][1]),
          "errors_converge, degree %d: %.1e %.1e, with Gauss's rule %.1e %.1e", degree, (double)error[1][0], (double)error[1][1],
          (double)error[0][0], (double)error[0][1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The function with given values at the Gauss points has these values. */
static PetscErrorCode values_at_points_come_back(void)
{
  PetscFunctionBeginUser;
  for (int degree = 1; degree <= 5; degree++) {
    PetscReal off;
    Vec       x, values, again;
    DM        dm;

    PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, degree, 2, &dm));
    PetscCall(TestDMOptions(dm, LOBATTO));
    PetscCall(DMSetUp(dm));
    PetscCall(DMCreateGlobalVector(dm, &x));
    PetscCall(VecDuplicate(x, &values));
    PetscCall(VecDuplicate(x, &again));
    PetscCall(VecSetRandom(values, NULL));
    PetscCall(DMVPatchDGSetPointValues(dm, values, x));
    PetscCall(DMVPatchDGGetPointValues(dm, x, again));
    PetscCall(Difference(again, values, &off));
    TapOk((PetscBool)(off < 1e-12), "values_at_points_come_back, degree %d: %.1e", degree, (double)off);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&values));
    PetscCall(VecDestroy(&again));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_input_is_refused(void)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 2, &dm));
  PetscCall(TestDMOptions(dm, LOBATTO "-dm_vpatchdg_basis gauss"));
  Refused(DMSetUp(dm), "-dm_vpatchdg_quadrature lobatto is for boxes", "the Gauss basis");
  PetscCall(DMDestroy(&dm));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 2, &dm));
  PetscCall(TestDMOptions(dm, LOBATTO "-dm_vpatchdg_refine_point .1,.1 -dm_vpatchdg_refine_levels 2"));
  Refused(DMSetUp(dm), "-dm_vpatchdg_quadrature lobatto needs cells of one level", "an adaptive mesh");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(iterations_are_as_published());
  PetscCall(cycles_work());
  PetscCall(errors_converge());
  PetscCall(values_at_points_come_back());
  PetscCall(LossesAreExpected());
  PetscCall(bad_input_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
