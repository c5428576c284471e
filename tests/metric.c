/* Coefficients at points, in the Gauss basis. */
/* ranks: 1 2 3 */
#include "support/bases.h"
#include "support/refused.h"
#include "../src/petsc/dmdata/dmdata.h"

static PetscErrorCode CreateDM(const char options[], DM *dm)
{
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(VPatchDGInitializePackage());
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  PetscCall(UseTestBackend(*dm));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(TestOptionsPop(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const BasesCase same[] = {
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 1 -dm_refine 2", 0},
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2", 1},
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 1 -dm_vpatchdg_grid_x 0,0.3,1,1.2 -dm_vpatchdg_reaction 3 -dm_vpatchdg_boundary "
   "robin,dirichlet,neumann,robin -dm_vpatchdg_robin 1,2,3,4",
   2},
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 8 -dm_refine 1 -dm_vpatchdg_domain lshape -dm_vpatchdg_penalty 2", 1},
  {"-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_grid_x 0,0.3,1,1.2 -dm_vpatchdg_reaction 3 -dm_vpatchdg_boundary "
   "robin,dirichlet,neumann,robin,neumann,dirichlet -dm_vpatchdg_robin 1,2,3,4,5,6",
   1},
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 0 -dm_vpatchdg_boxes 1,2 -dm_vpatchdg_boundary periodic -dm_vpatchdg_reaction 1",
   1},
  {"-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 1 -dm_refine 1 -dm_vpatchdg_upper 1,2,3", 1},
  {"-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_boundary periodic,periodic,dirichlet,neumann,robin,robin", 3},
  {"-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 5 -dm_refine 1 -dm_vpatchdg_grid_z 0,0.1,1", 1},
};

static PetscErrorCode CreateSetUp(const char options[], DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(CreateDM(options, dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* numbers: 1: a wave as the coefficient; 0: a matrix */
static PetscErrorCode TurningDM(PetscInt numbers, const char options[], DM *dm)
{
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(CreateDM(options, dm));
  PetscCall(DMGetDimension(*dm, &dim));
  if (numbers) PetscCall(DMVPatchDGSetCoefficientFunction(*dm, 1, Wave, PETSC_MEMTYPE_HOST, NULL));
  else PetscCall(DMVPatchDGSetCoefficientFunction(*dm, dim * (dim + 1) / 2, Turning, PETSC_MEMTYPE_HOST, NULL));
  PetscCall(DMVPatchDGSetReactionFunction(*dm, Wave, PETSC_MEMTYPE_HOST, NULL));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  PetscInt    numbers;
  const char *options;
} turning[] = {
  {0, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 1 -dm_refine 2"},
  {0, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2 -dm_vpatchdg_grid_x 0,0.3,1 -dm_vpatchdg_boundary "
      "robin,dirichlet,neumann,robin"},
  {0, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 0 -dm_vpatchdg_boxes 1,2 -dm_vpatchdg_boundary periodic"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_upper 1,2,3"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 3 -dm_refine 1 -dm_vpatchdg_boundary periodic,periodic,dirichlet,neumann,robin,robin"},
  {1, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2 -dm_vpatchdg_grid_x 0,0.3,1 -dm_vpatchdg_boundary "
      "robin,dirichlet,neumann,robin"},
  {1, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 50"},
  {1, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .1 "
      "-dm_vpatchdg_boundary robin -dm_vpatchdg_geometry_precision single"},
  {0, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 2 -dm_vpatchdg_geometry_precision single"},
  {1, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 2 -dm_vpatchdg_geometry_precision single"},
};

/* The assembled matrix is symmetric, and equal to the one without entries; so are its diagonal and columns. */
static PetscErrorCode matrices_are_equal_and_symmetric(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(turning); i++) {
    DM dm;

    PetscCall(TurningDM(turning[i].numbers, turning[i].options, &dm));
    PetscCall(MatricesAgree(turning[i].options, dm));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number at points of boxes, or of parallelepipeds, is stored as a number, and the matrix of such cells once. */
static PetscErrorCode numbers_are_stored_once(void)
{
  static const struct {
    const char *options;
    PetscInt    numbers;
    double      stored; /* per unknown */
  } all[] = {{"-dm_vpatchdg_grid_x 0,0.3,1", 1, 1 + 4. / 5},
             {"-dm_vpatchdg_grid_x 0,0.3,1 -dm_vpatchdg_geometry_precision single", 1, (1 + 4. / 5) / 2},
             {"-dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 40", 1, 1 + 4. / 5},
             {"-dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 40", -1, 4. / 25},
             {"-dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 40 -dm_refine 7", -1, 4. / 25},
             {"-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .1", 1, 3 + 2 * 4. / 5},
             {"-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .1 -dm_vpatchdg_geometry_precision single", -1, (3 + 2 * 4. / 5 + 1) / 2},
             {"", 0, 3 + 2 * 4. / 5}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(all); i++) {
    char   options[256];
    double stored;
    DM     dm;

    PetscCall(PetscSNPrintf(options, sizeof(options), "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2 %s", all[i].options));
    if (all[i].numbers >= 0) PetscCall(TurningDM(all[i].numbers, options, &dm));
    else {
      PetscCall(CreateDM(options, &dm));
      PetscCall(DMSetUp(dm));
    }
    stored = VpMetricNumbers(DMVPatchDGData(dm)->op->problem.metric, 2, 5);
    TapOk((PetscBool)(fabs(stored - all[i].stored) < 1e-12), "numbers_are_stored_once, %s: %g for %g", all[i].options, stored,
          all[i].stored);
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In single precision A x has seven digits, and so has a value at a point. */
static PetscErrorCode single_precision_has_seven_digits(void)
{
  PetscReal apart, norm[2];
  Vec       x[2], y[2], values;
  DM        dm[2];
  Mat       A;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(TurningDM(0,
                        i ? "-dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .1"
                          : "-dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .1 "
                            "-dm_vpatchdg_geometry_precision single",
                        &dm[i]));
    PetscCall(DMCreateGlobalVector(dm[i], &x[i]));
    PetscCall(VecDuplicate(x[i], &y[i]));
  }
  PetscCall(VecDuplicate(x[0], &values));
  PetscCall(VecSetRandom(values, NULL));
  for (int i = 0; i < 2; i++) {
    PetscCall(DMVPatchDGSetPointValues(dm[i], values, x[i]));
    PetscCall(DMCreateMatrix(dm[i], &A));
    PetscCall(MatMult(A, x[i], y[i]));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(Difference(y[0], y[1], &apart));
  TapOk((PetscBool)(apart < 1e-6 && apart > 1e-10), "single_precision_has_seven_digits: %.1e", (double)apart);
  PetscCall(DMVPatchDGGetPointValues(dm[0], x[0], y[0]));
  PetscCall(Difference(y[0], values, &apart));
  TapOk((PetscBool)(apart < 1e-6), "single_precision_keeps_values: %.1e", (double)apart);
  PetscCall(DMVPatchDGIntegrate(dm[0], x[0], &norm[0]));
  PetscCall(DMVPatchDGIntegrate(dm[1], x[1], &norm[1]));
  TapOk((PetscBool)(fabs(norm[0] - norm[1]) < 1e-6 * fabs(norm[1])), "single_precision_keeps_integrals: %.1e", norm[0] / norm[1] - 1);
  for (int i = 0; i < 2; i++) {
    PetscCall(VecDestroy(&x[i]));
    PetscCall(VecDestroy(&y[i]));
    PetscCall(DMDestroy(&dm[i]));
  }
  PetscCall(VecDestroy(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a = 1 + x + 2 y as a number, or times a constant matrix */
static PetscErrorCode Linear(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  const PetscInt full = *(PetscInt *)ctx;

  for (PetscInt i = 0; i < n; i++) {
    const PetscReal s = 1 + x[i * dim] + 2 * x[i * dim + 1];

    for (PetscInt d = 0; d < dim; d++) {
      for (PetscInt e = d; e < dim; e++) {
        if (full) *a++ = s * (d == e ? 2 + (PetscReal)d : 0.5);
        else if (d == 0 && e == 0) *a++ = s;
      }
    }
  }
  return 0;
}

/* -div (s K grad u), K constant */
static PetscErrorCode QuadraticSource(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  const PetscInt  full = *(PetscInt *)ctx;
  const PetscReal s = 1 + x[0] + 2 * x[1], slope[3] = {1, 2, 0}, hessian[3][3] = {{2, -2, dim == 3}, {-2, 0, 0}, {dim == 3, 0, 2}};
  PetscScalar     g[3];

  PetscCall(QuadraticGradient(dim, x, g, ctx));
  f[0] = 0;
  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt e = 0; e < dim; e++) {
      const PetscReal K = d == e ? (full ? 2 + (PetscReal)d : 1) : full ? 0.5 : 0;

      f[0] -= K * (slope[d] * g[e] + s * hessian[d][e]);
    }
  }
  return 0;
}

/* n.K grad u / n.K n + alpha u */
static PetscErrorCode QuadraticFlux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  const PetscInt full = *(PetscInt *)ctx;
  PetscScalar    g[3], u;
  PetscReal      flux = 0, weight = 0;

  PetscCall(QuadraticGradient(dim, x, g, ctx));
  PetscCall(Quadratic(dim, x, &u, ctx));
  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt e = 0; e < dim; e++) {
      const PetscReal K = d == e ? (full ? 2 + (PetscReal)d : 1) : full ? 0.5 : 0;

      flux += normal[d] * K * PetscRealPart(g[e]);
      weight += normal[d] * K * normal[e];
    }
  }
  value[0] = flux / weight + (normal[1] > 0 ? 3 * PetscRealPart(u) : 0);
  return 0;
}

/* The rule of k+1 points is exact here: polynomials are reproduced, with all conditions. */
static PetscErrorCode polynomials_are_reproduced(void)
{
  PetscFunctionBeginUser;
  for (PetscInt dim = 2; dim <= 3; dim++) {
    for (PetscInt full = 0; full <= 1; full++) {
      Problem   p;
      DM        dm;
      char      options[256];
      PetscReal l2, h1;
      PetscInt  its;

      PetscCall(
        PetscSNPrintf(options, sizeof(options),
                      "-dm_vpatchdg_dim %d -dm_vpatchdg_degree %d -dm_refine 2 -dm_vpatchdg_grid_x 0,0.3,1 -dm_vpatchdg_boundary %s "
                      "-dm_vpatchdg_robin 3",
                      (int)dim, dim == 2 ? 3 : 2,
                      dim == 2 ? "neumann,dirichlet,dirichlet,robin" : "neumann,dirichlet,dirichlet,robin,neumann,dirichlet"));
      PetscCall(CreateDM(options, &dm));
      PetscCall(DMVPatchDGSetCoefficientFunction(dm, full ? dim * (dim + 1) / 2 : 1, Linear, PETSC_MEMTYPE_HOST, &full));
      PetscCall(DMSetUp(dm));
      PetscCall(ProblemOf(dm, NULL, &p));
      PetscCall(DMVPatchDGComputeRHS(dm, QuadraticSource, Quadratic, QuadraticFlux, &full, p.b));
      PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-13 -pc_type vpatchdg -pc_vpatchdg_precision double", NULL, &its, NULL));
      PetscCall(DMVPatchDGComputeErrors(dm, p.x, Quadratic, QuadraticGradient, NULL, &l2, &h1));
      TapOk((PetscBool)(l2 < 1e-11 && h1 < 1e-10), "polynomials_are_reproduced, dim %d, %s: %.1e, gradient %.1e, %d iterations", (int)dim,
            full ? "full matrix" : "number", (double)l2, (double)h1, (int)its);
      PetscCall(ProblemDestroy(&p));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1000 in a disc, 1 around it; a jump inside of cells */
static PetscErrorCode Disc(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) a[i] = hypot(x[2 * i] - 0.503, x[2 * i + 1] - 0.503) < 0.3 ? 1000 : 1;
  return 0;
}

static PetscErrorCode DiscSolution(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  const PetscReal r2 = PetscSqr(x[0] - 0.503) + PetscSqr(x[1] - 0.503);

  u[0] = r2 < 0.09 ? r2 / 1000 : r2 - 0.09 + 0.09 / 1000;
  return 0;
}

static PetscErrorCode DiscSource(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = -4;
  return 0;
}

static PetscErrorCode SolveDisc(const char options[], PetscReal *l2, PetscInt *its)
{
  Problem p;
  DM      dm;

  PetscFunctionBeginUser;
  PetscCall(CreateDM(options, &dm));
  PetscCall(DMVPatchDGSetCoefficientFunction(dm, 1, Disc, PETSC_MEMTYPE_HOST, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(DMVPatchDGComputeRHS(dm, DiscSource, DiscSolution, NULL, NULL, p.b));
  PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-10 -ksp_max_it 60 -pc_type vpatchdg -vpatchdg_warnings 0", NULL, its, NULL));
  PetscCall(DMVPatchDGComputeErrors(dm, p.x, DiscSolution, NULL, NULL, l2, NULL));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell with a jump has one number; else the operator would be hard to solve, and the error would not fall. */
static PetscErrorCode jumps_inside_of_cells_become_means(void)
{
  PetscReal l2[3];
  PetscInt  its[3];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-vpatchdg_warnings", "0"));
  PetscCall(SolveDisc("-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 4", &l2[0], &its[0]));
  PetscCall(SolveDisc("-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 5", &l2[1], &its[1]));
  PetscCall(SolveDisc("-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 4 -dm_vpatchdg_jump 0", &l2[2], &its[2]));
  PetscCall(PetscOptionsClearValue(NULL, "-vpatchdg_warnings"));
  TapOk((PetscBool)(l2[0] < 3e-3 && l2[1] < l2[0] / 2 && its[0] < 30 && its[1] < 40 && its[2] == 60),
        "jumps_inside_of_cells_become_means: errors %.1e %.1e in %d and %d iterations, without means %.1e in %d", (double)l2[0],
        (double)l2[1], (int)its[0], (int)its[1], (double)l2[2], (int)its[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same as a full matrix */
static PetscErrorCode DiscMatrix(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(a, 3 * n));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(Disc(dim, 1, x + dim * i, NULL, a + 3 * i, NULL));
    a[3 * i + 2] = a[3 * i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The mean of matrices that jump is that of numbers where they are numbers. */
static PetscErrorCode matrices_that_jump_become_means(void)
{
  DM        dm[2];
  Mat       A[2];
  Vec       x, y[2];
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-vpatchdg_warnings", "0"));
  for (int i = 0; i < 2; i++) {
    PetscCall(CreateDM(i ? "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 3"
                         : "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 3 -dm_vpatchdg_penalty 1.25",
                       &dm[i]));
    PetscCall(DMVPatchDGSetCoefficientFunction(dm[i], i ? 3 : 1, i ? DiscMatrix : Disc, PETSC_MEMTYPE_HOST, NULL));
    PetscCall(DMSetUp(dm[i]));
    PetscCall(DMCreateMatrix(dm[i], &A[i]));
    if (!i) PetscCall(MatCreateVecs(A[i], &x, &y[0]));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-vpatchdg_warnings"));
  PetscCall(VecDuplicate(x, &y[1]));
  PetscCall(VecSetRandom(x, NULL));
  for (int i = 0; i < 2; i++) PetscCall(MatMult(A[i], x, y[i]));
  PetscCall(Difference(y[1], y[0], &difference));
  TapOk((PetscBool)(difference < 1e-12), "matrices_that_jump_become_means: %.1e", (double)difference);
  for (int i = 0; i < 2; i++) {
    PetscCall(VecDestroy(&y[i]));
    PetscCall(MatDestroy(&A[i]));
    PetscCall(DMDestroy(&dm[i]));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* numbers that are no coefficient: those at *ctx, in every point */
static PetscErrorCode Numbers(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  const PetscReal *numbers = ctx;
  const PetscInt   width = (PetscInt)numbers[3];

  for (PetscInt i = 0; i < n * width; i++) a[i] = numbers[i % width];
  return numbers[4] > 0 ? PETSC_ERR_USER : 0;
}

static PetscErrorCode bad_input_is_refused(void)
{
  PetscReal       zero = 0;
  const PetscReal nan = zero / zero;
  PetscReal       numbers[][5] = {{0, 0, 0, 1, 0}, {-1, 0, 0, 1, 0}, {nan, 0, 0, 1, 0}, {1, 2, 1, 3, 0}, {1, 0, 0, 1, 1}};
  const char     *says[] = {"must be finite and positive", "must be finite and positive", "must be finite and positive",
                            "must be finite and positive", ""};
  const char     *name[] = {"a coefficient of 0", "a negative coefficient", "NaN", "an indefinite matrix", "a function that fails"};
  DM              dm;
  PetscReal       reaction[5] = {-1, 0, 0, 1, 0};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(numbers); i++) {
    PetscCall(CreateDM("-dm_vpatchdg_dim 2 -dm_refine 2 -dm_vpatchdg_basis gauss", &dm));
    PetscCall(DMSetUp(dm));
    Refused(DMVPatchDGSetCoefficientFunction(dm, (PetscInt)numbers[i][3], Numbers, PETSC_MEMTYPE_HOST, numbers[i]), says[i], name[i]);
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(CreateDM("-dm_vpatchdg_dim 2 -dm_refine 2 -dm_vpatchdg_basis gauss", &dm));
  PetscCall(DMSetUp(dm));
  Refused(DMVPatchDGSetReactionFunction(dm, Numbers, PETSC_MEMTYPE_HOST, reaction), "must not be negative", "a negative reaction");
  Refused(DMVPatchDGSetCoefficientFunction(dm, 4, Numbers, PETSC_MEMTYPE_HOST, numbers[0]), "4 components", "another number of components");
  PetscCall(DMDestroy(&dm));
  PetscCall(CreateDM("-dm_vpatchdg_dim 2 -dm_refine 2", &dm));
  PetscCall(DMSetUp(dm));
  Refused(DMVPatchDGSetCoefficientFunction(dm, 1, Wave, PETSC_MEMTYPE_HOST, NULL), "-dm_vpatchdg_basis gauss", "the Legendre basis");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fluxes_are_those_of_the_host(void)
{
  const int without_periods[] = {1, 3};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(without_periods); i++) {
    char        options[512];
    DM          dm[2];
    Vec         x[2];
    PetscInt    dim;
    PetscScalar flux[2];
    PetscReal   apart = 0, largest = 0;

    for (int b = 0; b < 2; b++) {
      PetscCall(
        PetscSNPrintf(options, sizeof(options), "%s%s", turning[without_periods[i]].options, b ? " -dm_vpatchdg_backend host" : ""));
      PetscCall(TurningDM(turning[without_periods[i]].numbers, options, &dm[b]));
      PetscCall(DMCreateGlobalVector(dm[b], &x[b]));
    }
    PetscCall(VecSetRandom(x[0], NULL));
    PetscCall(VecCopy(x[0], x[1]));
    PetscCall(DMGetDimension(dm[0], &dim));
    for (PetscInt side = 0; side < 2 * dim; side++) {
      for (int b = 0; b < 2; b++) PetscCall(DMVPatchDGIntegrateFlux(dm[b], x[b], side, &flux[b]));
      apart = PetscMax(apart, PetscAbsScalar(flux[1] - flux[0]));
      largest = PetscMax(largest, PetscAbsScalar(flux[1]));
    }
    TapOk((PetscBool)(apart <= 1e-13 * largest && largest > 0), "fluxes_are_those_of_the_host, %s: %.1e",
          turning[without_periods[i]].options, (double)(apart / largest));
    for (int b = 0; b < 2; b++) {
      PetscCall(VecDestroy(&x[b]));
      PetscCall(DMDestroy(&dm[b]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A reaction that is set after the numbers of cells does not change these, in either basis. */
static PetscErrorCode reactions_keep_the_coefficient(void)
{
  PetscFunctionBeginUser;
  for (int gauss = 0; gauss < 2; gauss++) {
    const PetscReal *a[2];
    PetscInt         n;
    PetscBool        equal;
    DM               dm, copy;

    PetscCall(CreateDM(gauss ? "-dm_vpatchdg_dim 2 -dm_refine 2 -dm_vpatchdg_basis gauss" : "-dm_vpatchdg_dim 2 -dm_refine 2", &dm));
    PetscCall(DMSetUp(dm));
    PetscCall(SetNumbers(dm, 1));
    PetscCall(DMClone(dm, &copy));
    PetscCall(DMVPatchDGSetReactionFunction(dm, gauss ? Wave : NULL, PETSC_MEMTYPE_HOST, NULL));
    PetscCall(DMVPatchDGGetCells(dm, &n));
    PetscCall(DMVPatchDGGetCoefficient(dm, &a[0]));
    PetscCall(DMVPatchDGGetCoefficient(copy, &a[1]));
    equal = (PetscBool)(a[0] && a[1]);
    for (PetscInt i = 0; i < n && equal; i++) equal = (PetscBool)(a[0][i] == a[1][i]);
    TapOk(equal, "reactions_keep_the_coefficient, %s", gauss ? "gauss" : "legendre");
    PetscCall(DMDestroy(&copy));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(same); i++) PetscCall(BothBasesAgree(&same[i], CreateSetUp));
  PetscCall(matrices_are_equal_and_symmetric());
  PetscCall(numbers_are_stored_once());
  PetscCall(single_precision_has_seven_digits());
  PetscCall(polynomials_are_reproduced());
  PetscCall(fluxes_are_those_of_the_host());
  PetscCall(jumps_inside_of_cells_become_means());
  PetscCall(matrices_that_jump_become_means());
  PetscCall(bad_input_is_refused());
  PetscCall(reactions_keep_the_coefficient());
  PetscFunctionReturn(PETSC_SUCCESS);
}
