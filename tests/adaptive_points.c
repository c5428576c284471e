/* Coefficients at points on adaptive meshes, also on mapped cells: faces that hang are integrated at the points of the fine side. */
/* ranks: 1 2 4 */
#include "support/bases.h"
#include "support/leaves.h"

static const BasesCase same[] = {
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 1 -dm_refine 2", 0},
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2", 1},
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 1 -dm_vpatchdg_grid_x 0,0.3,1,1.2 -dm_vpatchdg_reaction 3 -dm_vpatchdg_boundary "
   "robin,dirichlet,neumann,robin -dm_vpatchdg_robin 1,2,3,4",
   2},
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 7 -dm_refine 1 -dm_vpatchdg_domain lshape -dm_vpatchdg_penalty 2", 1},
  {"-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_boundary periodic -dm_vpatchdg_reaction 1", 1},
  {"-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 1 -dm_refine 1 -dm_vpatchdg_upper 1,2,3", 1},
  {"-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_boundary periodic,periodic,dirichlet,neumann,robin,robin", 3},
};

static PetscErrorCode CreateLeaves(const char options[], DM *dm)
{
  return CreateAdaptive(options, NULL, dm);
}

static PetscErrorCode SetTurning(DM dm)
{
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGSetCoefficientFunction(dm, dim * (dim + 1) / 2, Turning, PETSC_MEMTYPE_HOST, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetTurningAndReaction(DM dm)
{
  PetscFunctionBeginUser;
  PetscCall(SetTurning(dm));
  PetscCall(DMVPatchDGSetReactionFunction(dm, Wave, PETSC_MEMTYPE_HOST, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const turning[] = {
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 1 -dm_refine 2",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2 -dm_vpatchdg_grid_x 0,0.3,1 -dm_vpatchdg_boundary robin,dirichlet,neumann,robin",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_boundary periodic",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 0 -dm_vpatchdg_boxes 1,3 -dm_vpatchdg_boundary periodic -dm_vpatchdg_refine_levels "
  "1 "
  "-dm_vpatchdg_refine_point 0.5,0.2",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 1 -dm_refine 1 -dm_vpatchdg_upper 1,2,3",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_boundary periodic,periodic,dirichlet,neumann,robin,robin",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 2 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .1",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05 "
  "-dm_vpatchdg_geometry_precision single",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,360 "
  "-dm_vpatchdg_boundary robin,neumann,periodic,periodic",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05",
};

/* The assembled matrix is symmetric, and equal to the one without entries; so are its diagonal and columns. */
static PetscErrorCode matrices_are_equal_and_symmetric(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(turning); i++) {
    DM dm;

    PetscCall(CreateAdaptive(turning[i], SetTurningAndReaction, &dm));
    PetscCall(MatricesAgree(turning[i], dm));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const neumann[] = {
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 2 -dm_vpatchdg_boundary neumann",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2 -dm_vpatchdg_boundary neumann -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters "
  ".1",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,360 "
  "-dm_vpatchdg_boundary neumann,neumann,periodic,periodic",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_boundary neumann -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters "
  ".05",
};

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = 1;
  return 0;
}

static PetscErrorCode constants_are_in_the_kernel(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(neumann); i++) {
    DM        dm;
    Mat       A;
    Vec       x, y;
    PetscReal norm, whole, one;

    PetscCall(CreateAdaptive(neumann[i], SetTurning, &dm));
    PetscCall(DMCreateMatrix(dm, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(DMVPatchDGInterpolate(dm, One, NULL, x));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecNorm(x, NORM_2, &one));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(MatNorm(A, NORM_INFINITY, &whole));
    TapOk((PetscBool)(norm < 1e-14 * whole * one), "constants_are_in_the_kernel, %s: %.1e", neumann[i], (double)(norm / whole / one));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the coefficient s K, where s = 3 + x + 2 y and K has 3 on its diagonal and 1 elsewhere */
static PetscErrorCode Growing(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt d = 0; d < dim; d++) {
      for (PetscInt e = d; e < dim; e++) *a++ = (3 + x[i * dim] + 2 * x[i * dim + 1]) * (d == e ? 3 : 1);
    }
  }
  return 0;
}

static PetscErrorCode QuadraticSource(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  const PetscReal slope[3] = {1, 2, 0}, hessian[3][3] = {{2, -2, dim == 3}, {-2, 0, 0}, {dim == 3, 0, 2}};
  PetscScalar     g[3];

  PetscCall(QuadraticGradient(dim, x, g, ctx));
  f[0] = 0;
  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt e = 0; e < dim; e++) f[0] -= (d == e ? 3 : 1) * (slope[d] * g[e] + (3 + x[0] + 2 * x[1]) * hessian[d][e]);
  }
  return 0;
}

static PetscErrorCode SetGrowing(DM dm)
{
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGSetCoefficientFunction(dm, dim * (dim + 1) / 2, Growing, PETSC_MEMTYPE_HOST, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const affine[] = {
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_grid_x 0,0.3,1",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 2 -dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 60",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 50",
};

/* The rule of k+1 points is exact on affine cells. A refined mesh, whose coefficient is the function's again, starts from the transferred
   solution, which is exact there, too. */
static PetscErrorCode polynomials_are_reproduced(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(affine); i++) {
    Problem   p;
    DM        dm, next;
    Mat       A;
    Vec       x, r;
    PetscReal l2, h1, norm, whole;
    PetscInt  its;

    PetscCall(CreateAdaptive(affine[i], SetGrowing, &dm));
    PetscCall(ProblemOf(dm, NULL, &p));
    PetscCall(DMVPatchDGComputeRHS(dm, QuadraticSource, Quadratic, NULL, NULL, p.b));
    PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-13 -pc_type vpatchdg -pc_vpatchdg_precision double", NULL, &its, NULL));
    PetscCall(DMVPatchDGComputeErrors(dm, p.x, Quadratic, QuadraticGradient, NULL, &l2, &h1));
    TapOk((PetscBool)(l2 < 1e-11 && h1 < 1e-10), "polynomials_are_reproduced, %s: %.1e, gradient %.1e, %d iterations", affine[i],
          (double)l2, (double)h1, (int)its);
    next = dm;
    PetscCall(PetscObjectReference((PetscObject)dm));
    PetscCall(RefineSome(&next, 0.3, 7));
    PetscCall(DMCreateMatrix(next, &A));
    PetscCall(MatCreateVecs(A, &x, &r));
    PetscCall(DMVPatchDGTransfer(dm, next, p.x, x));
    PetscCall(DMVPatchDGComputeRHS(next, QuadraticSource, Quadratic, NULL, NULL, r));
    PetscCall(VecNorm(r, NORM_2, &whole));
    PetscCall(VecScale(r, -1));
    PetscCall(MatMultAdd(A, x, r, r));
    PetscCall(VecNorm(r, NORM_2, &norm));
    TapOk((PetscBool)(norm < 1e-10 * whole), "transferred_solutions_are_exact, %s: residual %.1e", affine[i], (double)(norm / whole));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&r));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&next));
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a jump inside of cells, which their points see, of all three sizes */
static PetscErrorCode Jump(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) a[i] = x[dim * i] > 0.53 ? 1000 : 1;
  return 0;
}

static PetscErrorCode SetJump(DM dm)
{
  return DMVPatchDGSetCoefficientFunction(dm, 1, Jump, PETSC_MEMTYPE_HOST, NULL);
}

/* Cells with a jump have their mean, also on the fine sides beyond theirs: the operator is that of one number per cell. */
static PetscErrorCode jumps_become_means_where_sides_hang(void)
{
  PetscFunctionBeginUser;
  for (int dim = 2; dim <= 3; dim++) {
    char             options[128];
    DM               dm;
    Mat              A;
    Vec              x, y, z;
    PetscReal        difference, *numbers, means = 0;
    PetscInt         n;
    const PetscReal *a;

    PetscCall(PetscSNPrintf(options, sizeof(options), "-dm_vpatchdg_dim %d -dm_vpatchdg_degree 2 -dm_refine 2 -vpatchdg_warnings 0", dim));
    PetscCall(CreateAdaptive(options, SetJump, &dm));
    PetscCall(DMCreateMatrix(dm, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecDuplicate(y, &z));
    PetscCall(VecSetRandom(x, NULL));
    PetscCall(MatMult(A, x, y));
    PetscCall(DMVPatchDGGetCells(dm, &n));
    PetscCall(DMVPatchDGGetCoefficient(dm, &a));
    PetscCall(PetscMalloc1(n + 1, &numbers));
    for (PetscInt c = 0; c < n; c++) {
      numbers[c] = a[c];
      means += a[c] > 1.001 && a[c] < 999;
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &means, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
    PetscCall(DMVPatchDGSetCoefficient(dm, numbers));
    PetscCall(PetscFree(numbers));
    PetscCall(MatMult(A, x, z));
    PetscCall(Difference(y, z, &difference));
    TapOk((PetscBool)(means > 0 && difference < 1e-12), "jumps_become_means_where_sides_hang, dim %d: %.0f cells, %.1e", dim, (double)means,
          (double)difference);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(same); i++) PetscCall(BothBasesAgree(&same[i], CreateLeaves));
  PetscCall(matrices_are_equal_and_symmetric());
  PetscCall(constants_are_in_the_kernel());
  PetscCall(polynomials_are_reproduced());
  PetscCall(jumps_become_means_where_sides_hang());
  PetscFunctionReturn(PETSC_SUCCESS);
}
