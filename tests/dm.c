/* DMVPATCHDG: settings, points, relatives, views, and what it refuses. */
/* ranks: 1 2 3 4 */
#include "support/problem.h"

static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  PetscFunctionBeginUser;
  value[0] = PetscSinReal(2 * x[0] + 1.5 * x[1] + (dim == 3 ? x[2] : 0) + 0.4);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of degree 2 in every direction */
static PetscErrorCode Polynomial(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  PetscFunctionBeginUser;
  value[0] = 1 + x[0] * x[1] - 3 * x[0] * x[0] + (dim == 3 ? x[2] * x[0] + 2 * x[2] * x[2] * x[1] : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a coefficient that depends on the place of a cell, not on its rank */
static PetscErrorCode SetSomeCoefficient(DM dm)
{
  PetscInt   n, dim;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    a[c] = 1 + (lower[0] + upper[0]) + 3 * PetscAbsReal(lower[1]);
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode point_values_round_trip(void)
{
  PetscFunctionBeginUser;
  for (PetscInt dim = 2; dim <= 3; dim++) {
    DM                 dm;
    Vec                x, y, values, points;
    const PetscScalar *p, *v;
    PetscScalar        u;
    PetscInt           n;
    PetscReal          worst = 0, error, l2;
    const PetscReal    lower[] = {-1, 0, 2}, upper[] = {1, 1, 2.5};

    PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 3, 1, &dm));
    PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){2, 1, 1}, lower, upper));
    PetscCall(DMSetUp(dm));
    PetscCall(DMCreateGlobalVector(dm, &x));
    PetscCall(VecDuplicate(x, &values));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(VecSetRandom(x, NULL));
    PetscCall(DMVPatchDGGetPointValues(dm, x, values));
    PetscCall(DMVPatchDGSetPointValues(dm, values, y));
    PetscCall(Difference(y, x, &error));
    TapOk((PetscBool)(error < 1e-13), "point_values_round_trip, %dD", (int)dim);

    PetscCall(DMVPatchDGInterpolate(dm, Polynomial, NULL, x));
    PetscCall(DMVPatchDGGetPointValues(dm, x, values));
    PetscCall(DMVPatchDGGetPoints(dm, &points));
    PetscCall(VecGetLocalSize(values, &n));
    PetscCall(VecGetArrayRead(points, &p));
    PetscCall(VecGetArrayRead(values, &v));
    for (PetscInt i = 0; i < n; i++) {
      PetscCall(Polynomial(dim, p + i * dim, &u, NULL));
      worst = PetscMax(worst, PetscAbsScalar(u - v[i]));
    }
    PetscCall(VecRestoreArrayRead(values, &v));
    PetscCall(VecRestoreArrayRead(points, &p));
    TapOk((PetscBool)(worst < 1e-12), "interpolated_values_are_those_of_the_function, %dD", (int)dim);
    PetscCall(DMVPatchDGComputeErrors(dm, x, Polynomial, NULL, NULL, &error, NULL));
    TapOk((PetscBool)(error < 1e-12), "interpolation_is_exact_on_polynomials, %dD", (int)dim);
    PetscCall(DMVPatchDGComputeErrors(dm, x, NULL, NULL, NULL, &error, NULL));
    PetscCall(VecNorm(x, NORM_2, &l2));
    TapOk((PetscBool)(PetscAbsReal(error - l2) < 1e-12 * l2), "norm_of_a_vector_is_the_L2_norm, %dD", (int)dim);
    PetscCall(VecDestroy(&points));
    PetscCall(VecDestroy(&values));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&x));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* are all settings of two DMs the same? */
static PetscErrorCode SameSettings(DM a, DM b, PetscBool *same)
{
  PetscInt         dim[2], degree[2], nbox[2];
  PetscReal        penalty[2], reaction[2];
  const PetscReal *lower[2], *upper[2];
  VPatchDGDomain   domain[2];
  VPatchDGBoundary boundary[2][6];
  VecType          type[2];
  DM               dm[2] = {a, b};

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(DMGetDimension(dm[i], &dim[i]));
    PetscCall(DMGetVecType(dm[i], &type[i]));
    PetscCall(DMVPatchDGGetDegree(dm[i], &degree[i]));
    PetscCall(DMVPatchDGGetDomain(dm[i], &domain[i]));
    PetscCall(DMVPatchDGGetPenalty(dm[i], &penalty[i]));
    PetscCall(DMVPatchDGGetReaction(dm[i], &reaction[i]));
    PetscCall(DMVPatchDGGetBoundary(dm[i], boundary[i]));
    PetscCall(DMVPatchDGGetBoxes(dm[i], &nbox[i], &lower[i], &upper[i]));
  }
  *same = (PetscBool)(dim[0] == dim[1] && degree[0] == degree[1] && domain[0] == domain[1] && penalty[0] == penalty[1] &&
                      reaction[0] == reaction[1] && nbox[0] == nbox[1]);
  if (*same) PetscCall(PetscArraycmp(boundary[0], boundary[1], 2 * dim[0], same));
  if (*same) PetscCall(PetscArraycmp(lower[0], lower[1], nbox[0] * dim[0], same));
  if (*same) PetscCall(PetscArraycmp(upper[0], upper[1], nbox[0] * dim[0], same));
  if (*same) PetscCall(PetscStrcmp(type[0], type[1], same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the operator's largest entry stands for the coefficient, the type and the cells */
static PetscErrorCode OperatorNorm(DM dm, PetscReal *norm)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatNorm(A, NORM_FROBENIUS, norm));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* norm: of the DM's operator */
static PetscErrorCode clone_keeps_settings(DM dm, PetscReal *norm)
{
  DM        clone;
  PetscBool same;
  PetscInt  level;
  PetscReal other[2];
  MatType   type;

  PetscFunctionBeginUser;
  PetscCall(DMClone(dm, &clone));
  PetscCall(SameSettings(dm, clone, &same));
  PetscCall(DMGetRefineLevel(clone, &level));
  PetscCall(OperatorNorm(dm, norm));
  PetscCall(OperatorNorm(clone, &other[0]));
  PetscCall(DMGetMatType(clone, &type));
  TapOk((PetscBool)(same && level == 1 && *norm == other[0] && !strcmp(type, MATSHELL)), "clone_keeps_settings");
  PetscCall(DMVPatchDGSetCoefficient(clone, NULL));
  PetscCall(OperatorNorm(dm, &other[0]));
  PetscCall(OperatorNorm(clone, &other[1]));
  TapOk((PetscBool)(*norm == other[0] && other[0] != other[1]), "clone_has_its_own_coefficient");
  PetscCall(DMDestroy(&clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode clone_refine_coarsen_keep_settings(void)
{
  const PetscReal        lower[] = {0, 0, 1, 0, 1, 1}, upper[] = {1, 1, 2, 1, 2, 2};
  const VPatchDGBoundary boundary[] = {VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET,
                                       VPATCHDG_BOUNDARY_NEUMANN};
  DM                     dm, fine, coarse, between, again;
  PetscBool              same;
  PetscInt               level[2];
  PetscReal              norm[2];
  const char            *prefix;
  MatType                type;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)dm, "my_"));
  PetscCall(DMVPatchDGSetBoxes(dm, 3, lower, upper));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscCall(DMVPatchDGSetPenalty(dm, 1.5));
  PetscCall(DMVPatchDGSetReaction(dm, 2));
  PetscCall(DMSetUp(dm));
  PetscCall(SetSomeCoefficient(dm));

  PetscCall(clone_keeps_settings(dm, &norm[0]));

  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(SameSettings(dm, fine, &same));
  PetscCall(DMGetRefineLevel(fine, &level[0]));
  PetscCall(DMGetMatType(fine, &type));
  PetscCall(DMGetOptionsPrefix(fine, &prefix));
  TapOk((PetscBool)(same && level[0] == 2 && !strcmp(type, MATSHELL) && !strcmp(prefix, "my_")), "refine_keeps_settings");
  PetscCall(DMCoarsen(fine, PETSC_COMM_WORLD, &again));
  PetscCall(OperatorNorm(again, &norm[1]));
  TapOk((PetscBool)(PetscAbsReal(norm[1] - norm[0]) < 1e-13 * norm[0]), "coarsening_a_refined_DM_gives_it_back_with_its_coefficient");

  PetscCall(DMCoarsen(dm, PETSC_COMM_WORLD, &between)); /* some boxes are whole along one direction */
  PetscCall(DMGetMatType(between, &type));
  TapOk((PetscBool)!strcmp(type, MATSHELL), "boxes_that_are_not_whole_get_no_matrix");
  PetscCall(DMCoarsen(between, PETSC_COMM_WORLD, &coarse));
  PetscCall(DMDestroy(&between));
  PetscCall(SameSettings(dm, coarse, &same));
  PetscCall(DMGetRefineLevel(coarse, &level[1]));
  PetscCall(DMGetMatType(coarse, &type));
  PetscCall(DMGetOptionsPrefix(coarse, &prefix));
  TapOk((PetscBool)(same && level[1] == 0 && !strcmp(prefix, "my_")), "coarsen_keeps_settings");
  TapOk((PetscBool)!strcmp(type, MATAIJ), "whole_boxes_get_an_assembled_matrix");
  PetscCall(DMDestroy(&again));
  PetscCall(DMDestroy(&coarse));
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a function's values in the ghosts, and what comes back from them */
static PetscErrorCode local_vectors_hold_the_neighbours(void)
{
  DM          dm;
  Vec         g, h, l;
  PetscInt    n[2], sum[2];
  PetscReal   error;
  PetscScalar s[2];

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 3, 2, 2, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &g));
  PetscCall(DMCreateLocalVector(dm, &l));
  PetscCall(VecDuplicate(g, &h));
  PetscCall(DMVPatchDGInterpolate(dm, Wave, NULL, g));
  PetscCall(DMGlobalToLocal(dm, g, INSERT_VALUES, l));
  PetscCall(DMLocalToGlobal(dm, l, INSERT_VALUES, h));
  PetscCall(Difference(h, g, &error));
  TapOk((PetscBool)(error == 0), "local_to_global_undoes_global_to_local");

  /* ones added from every copy count the copies */
  PetscCall(VecSet(l, 1));
  PetscCall(VecSet(h, 0));
  PetscCall(DMLocalToGlobal(dm, l, ADD_VALUES, h));
  PetscCall(VecSum(h, &s[0]));
  PetscCall(VecGetLocalSize(l, &n[0]));
  PetscCallMPI(MPI_Allreduce(n, sum, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(PetscAbsScalar(s[0] - (PetscScalar)sum[0]) < 0.5), "ghosts_are_added_to_their_owners");

  /* (G g, l) = (g, G^T l) */
  PetscCall(VecSetRandom(l, NULL));
  PetscCall(VecSet(h, 0));
  PetscCall(DMLocalToGlobal(dm, l, ADD_VALUES, h));
  PetscCall(VecDot(g, h, &s[0]));
  {
    Vec copy;

    PetscCall(VecDuplicate(l, &copy));
    PetscCall(DMGlobalToLocal(dm, g, INSERT_VALUES, copy));
    PetscCall(VecDot(l, copy, &s[1]));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s[1], 1, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
    PetscCall(VecDestroy(&copy));
  }
  TapOk((PetscBool)(PetscAbsScalar(s[0] - s[1]) < 1e-12 * (1 + PetscAbsScalar(s[0]))), "local_to_global_is_adjoint_to_global_to_local");
  PetscCall(VecDestroy(&h));
  PetscCall(VecDestroy(&l));
  PetscCall(VecDestroy(&g));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode options_set_everything(void)
{
  DM               dm, other;
  PetscBool        same, says[4];
  PetscInt         level;
  VPatchDGBoundary boundary[6] = {VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_DIRICHLET,
                                  VPATCHDG_BOUNDARY_NEUMANN};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(
    NULL, "-a_dm_vpatchdg_dim 2 -a_dm_vpatchdg_degree 4 -a_dm_vpatchdg_boxes 3,2 -a_dm_vpatchdg_lower -1,0 -a_dm_vpatchdg_upper 2,2 "
          "-a_dm_refine 1 "
          "-a_dm_vpatchdg_boundary periodic,periodic,dirichlet,neumann -a_dm_vpatchdg_penalty 2 -a_dm_vpatchdg_reaction 5"));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMVPATCHDG));
  PetscCall(UseTestBackend(dm));
  PetscCall(DMSetOptionsPrefix(dm, "a_"));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMSetFromOptions(dm)); /* the same again is no change */
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 4, 1, &other));
  PetscCall(DMVPatchDGSetBoxGrid(other, (PetscInt[]){3, 2}, (PetscReal[]){-1, 0}, (PetscReal[]){2, 2}));
  PetscCall(DMVPatchDGSetBoundary(other, boundary));
  PetscCall(DMVPatchDGSetPenalty(other, 2));
  PetscCall(DMVPatchDGSetReaction(other, 5));
  PetscCall(DMSetUp(other));
  PetscCall(SameSettings(dm, other, &same));
  PetscCall(DMGetRefineLevel(dm, &level));
  TapOk((PetscBool)(same && level == 1), "options_set_everything");
  PetscCall(ViewSays((PetscObject)dm, "cells 24, unknowns 600", &says[0]));
  PetscCall(ViewSays((PetscObject)dm, "boundary (x-,x+,...): periodic,periodic,dirichlet,neumann", &says[1]));
  PetscCall(ViewSays((PetscObject)dm, "domain box: 3 x 2 boxes in [-1.,2.] x [0.,2.], each refined 1 time\n", &says[2]));
  PetscCall(
    ViewSays((PetscObject)dm, "not as by default: -a_dm_vpatchdg_degree 4 -a_dm_vpatchdg_penalty 2 -a_dm_vpatchdg_reaction 5", &says[3]));
  TapOk((PetscBool)(says[0] && says[1] && says[2] && says[3]), "view_shows_settings");
  PetscCall(DMDestroy(&other));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode box_grid_is_given_back(void)
{
  DM        dm;
  PetscInt  n[2];
  PetscReal lower[2], upper[2], x[2];

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 1, 1, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){3, 2}, (PetscReal[]){-1, 0}, NULL));
  PetscCall(DMVPatchDGGetBoxGrid(dm, n, lower, upper));
  PetscCall(DMVPatchDGGetBoxGrid(dm, NULL, x, NULL));
  TapOk((PetscBool)(n[0] == 3 && n[1] == 2 && lower[0] == -1 && lower[1] == 0 && upper[0] == 1 && upper[1] == 1 && x[0] == -1),
        "box_grid_is_given_back");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode refine_level_is_that_of_the_mesh(void)
{
  DM        dm, fine;
  PetscInt  level[2];
  PetscBool says;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 1, 1, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMSetRefineLevel(dm, 5));
  PetscCall(ViewSays((PetscObject)dm, "each refined 1 time\n", &says));
  PetscCall(DMGetRefineLevel(dm, &level[0]));
  PetscCall(DMSetRefineLevel(dm, 5));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(DMGetRefineLevel(fine, &level[1]));
  TapOk((PetscBool)(says && level[0] == 1 && level[1] == 2), "refine_level_is_that_of_the_mesh");
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of DMGetCoordinates(); the bounding box is that of the domain, which no rank has alone */
static PetscErrorCode Coordinates(DM dm, const PetscReal lower[], const PetscReal upper[], PetscBool *right)
{
  Vec                corners;
  const PetscScalar *x;
  PetscInt           cells, n;
  PetscReal          low[3], high[3];

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinates(dm, &corners));
  PetscCall(DMVPatchDGGetCells(dm, &cells));
  PetscCall(VecGetLocalSize(corners, &n));
  *right = (PetscBool)(n == cells * 24);
  PetscCall(VecGetArrayRead(corners, &x));
  for (PetscInt i = 0; i < n && *right; i++) {
    const PetscInt corner = i / 3 % 8, d = i % 3;

    PetscCall(DMVPatchDGGetCellBounds(dm, i / 24, low, high));
    if (PetscAbsScalar(x[i] - (corner >> d & 1 ? high[d] : low[d])) > 1e-14) *right = PETSC_FALSE;
  }
  PetscCall(VecRestoreArrayRead(corners, &x));
  PetscCall(DMGetBoundingBox(dm, low, high));
  for (int d = 0; d < 3; d++) {
    if (low[d] != lower[d] || high[d] != upper[d]) *right = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode coordinates_are_corners_of_cells(void)
{
  DM              dm, other[2];
  PetscBool       right[3];
  const PetscReal lower[] = {-1, 0, 2}, upper[] = {1, 1, 2.5};

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 3, 2, 1, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){3, 1, 1}, lower, upper));
  PetscCall(DMSetUp(dm));
  PetscCall(Coordinates(dm, lower, upper, &right[0]));
  PetscCall(DMClone(dm, &other[0]));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &other[1]));
  PetscCall(DMDestroy(&dm));
  for (int i = 0; i < 2; i++) {
    PetscCall(Coordinates(other[i], lower, upper, &right[i + 1]));
    PetscCall(DMDestroy(&other[i]));
  }
  TapOk((PetscBool)(right[0] && right[1] && right[2]), "coordinates_are_corners_of_cells: %d %d %d", right[0], right[1], right[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(point_values_round_trip());
  PetscCall(clone_refine_coarsen_keep_settings());
  PetscCall(local_vectors_hold_the_neighbours());
  PetscCall(options_set_everything());
  PetscCall(box_grid_is_given_back());
  PetscCall(refine_level_is_that_of_the_mesh());
  PetscCall(coordinates_are_corners_of_cells());
  PetscFunctionReturn(PETSC_SUCCESS);
}
