/* A smooth coefficient with one number per cell makes every degree second order; what estimates see of that. */
/* ranks: 1 2 */
#include "support/problem.h"
#include "support/refused.h"

static PetscErrorCode Exact(PetscInt dim, const PetscReal x[], PetscScalar a[], void *ctx)
{
  a[0] = 1 + 0.9 * PetscSinReal(2 * PETSC_PI * x[0]) * PetscSinReal(2 * PETSC_PI * x[1]);
  return 0;
}

/* 1, and *ctx for x > 0.9 */
static PetscErrorCode Ones(PetscInt dim, const PetscReal x[], PetscScalar a[], void *ctx)
{
  a[0] = x[0] > 0.9 ? *(const PetscReal *)ctx : 1;
  return 0;
}

static PetscReal Centre(const PetscReal lower[], const PetscReal upper[], PetscReal parameter)
{
  const PetscReal x[2] = {(lower[0] + upper[0]) / 2, (lower[1] + upper[1]) / 2};
  PetscScalar     a;

  (void)Exact(2, x, &a, NULL);
  return a;
}

static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscExpReal(x[0]) * PetscSinReal(2 * x[1] + 1);
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  g[0] = PetscExpReal(x[0]) * PetscSinReal(2 * x[1] + 1);
  g[1] = 2 * PetscExpReal(x[0]) * PetscCosReal(2 * x[1] + 1);
  return 0;
}

/* -div (a grad u), where Lap u = -3 u */
static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  const PetscReal w = 2 * PETSC_PI;
  PetscScalar     a, u, g[2];

  PetscCall(Exact(dim, x, &a, NULL));
  PetscCall(Solution(dim, x, &u, NULL));
  PetscCall(Gradient(dim, x, g, NULL));
  f[0] = 3 * a * u - 0.9 * w * PetscCosReal(w * x[0]) * PetscSinReal(w * x[1]) * g[0];
  f[0] -= 0.9 * w * PetscSinReal(w * x[0]) * PetscCosReal(w * x[1]) * g[1];
  return 0;
}

static PetscErrorCode Total(PetscInt n, const PetscReal eta[], PetscReal *total)
{
  PetscFunctionBeginUser;
  *total = 0;
  for (PetscInt c = 0; c < n; c++) *total += eta[c] * eta[c];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, total, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *total = PetscSqrtReal(*total);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* errors of u and of its gradient, and both estimates, on 2^refine cells a direction */
static PetscErrorCode Measure(PetscInt degree, PetscInt refine, PetscReal error[2], PetscReal estimate[2])
{
  Problem    p;
  PetscInt   n;
  PetscReal *eta;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, degree, refine, NULL, &p));
  PetscCall(SetCoefficient(p.dm, Centre, 0));
  PetscCall(DMVPatchDGComputeRHS(p.dm, Source, Solution, NULL, NULL, p.b));
  PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-9 -pc_type vpatchdg", NULL, NULL, NULL));
  PetscCall(DMVPatchDGComputeErrors(p.dm, p.x, Solution, Gradient, NULL, &error[0], &error[1]));
  PetscCall(DMVPatchDGGetCells(p.dm, &n));
  PetscCall(PetscMalloc1(n + 1, &eta));
  PetscCall(DMVPatchDGEstimate(p.dm, p.x, Source, Solution, NULL, NULL, eta));
  PetscCall(Total(n, eta, &estimate[0]));
  PetscCall(DMVPatchDGEstimateWithCoefficient(p.dm, p.x, Exact, Source, Solution, NULL, NULL, eta));
  PetscCall(Total(n, eta, &estimate[1]));
  PetscCall(PetscFree(eta));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to two digits */
static PetscBool Near(PetscReal value, PetscReal expected)
{
  return (PetscBool)(PetscAbsReal(value / expected - 1) < 0.05);
}

/* The tables of the pages of DMVPatchDGSetCoefficient() and DMVPatchDGEstimateWithCoefficient(), on 64 x 64 cells */
static PetscErrorCode smooth_coefficients_are_second_order(void)
{
  static const struct {
    PetscInt  degree;
    PetscReal l2, gradient, without, with;
  } rows[] = {{1, 9.1e-5, 2.8e-2, 2.1e-1, 1.2e-1},
              {2, 1.7e-4, 4.5e-2, 3.3e-3, 1.2e-1},
              {4, 1.7e-4, 4.5e-2, 1.0e-3, 8.4e-2},
              {8, 1.7e-4, 4.5e-2, 4.7e-4, 6.7e-2}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows); i++) {
    PetscReal error[2], coarse[2], estimate[2];

    PetscCall(Measure(rows[i].degree, 5, coarse, estimate));
    PetscCall(Measure(rows[i].degree, 6, error, estimate));
    TapOk((PetscBool)(Near(error[0], rows[i].l2) && coarse[0] / error[0] > 3.9 && coarse[0] / error[0] < 4.8),
          "smooth_coefficients_are_second_order, Q%d: L2 error %.2e, on coarser cells %.2e", (int)rows[i].degree, (double)error[0],
          (double)coarse[0]);
    TapOk((PetscBool)(estimate[1] >= error[1] && estimate[1] <= 5 * error[1] && Near(error[1], rows[i].gradient) &&
                      Near(estimate[0], rows[i].without) && Near(estimate[1], rows[i].with)),
          "estimates_know_the_coefficient, Q%d: gradient error %.2e, estimates %.2e without, %.2e with it", (int)rows[i].degree,
          (double)error[1], (double)estimate[0], (double)estimate[1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the cells' numbers are exact, nothing is added; what is no coefficient is refused */
static PetscErrorCode exact_coefficients_add_nothing(void)
{
  Problem   p;
  PetscInt  n;
  PetscReal eta[2][16], worst = 0, one = 1, zero = 0;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 2, 2, NULL, &p));
  PetscCall(DMVPatchDGGetCells(p.dm, &n));
  PetscCall(VecSetRandom(p.x, NULL));
  PetscCall(DMVPatchDGEstimateWithCoefficient(p.dm, p.x, Ones, Ones, Ones, NULL, &one, eta[0]));
  PetscCall(DMVPatchDGEstimate(p.dm, p.x, Ones, Ones, NULL, &one, eta[1]));
  for (PetscInt c = 0; c < n; c++) worst = PetscMax(worst, PetscAbsReal(eta[0][c] / eta[1][c] - 1));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(worst < 1e-12), "exact_coefficients_add_nothing: %.1e", (double)worst);
  Refused(DMVPatchDGEstimateWithCoefficient(p.dm, p.x, Ones, NULL, NULL, NULL, &zero, eta[0]), "must be positive and finite",
          "a coefficient of 0");
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(smooth_coefficients_are_second_order());
  PetscCall(exact_coefficients_add_nothing());
  PetscFunctionReturn(PETSC_SUCCESS);
}
