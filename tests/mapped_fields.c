/* Functions, data, integrals and points in physical space, on mapped cells, and solutions that are known.
   ranks: 1 2 5 */
#include "support/backend.h"
#include "support/refused.h"

typedef struct {
  PetscInt    dim, degree, refine;
  const char *map;
  PetscBool   affine; /* polynomials are in the space, so that errors are of rounding */
  double      volume, tolerance;
  PetscReal   lower[3], upper[3]; /* of the image */
} Case;

static const Case cases[] = {
  {2,
   3,
   2,
   "shear -dm_vpatchdg_map_parameters 40 -dm_vpatchdg_boxes 3,2",
   PETSC_TRUE,
   0.6427876096865393,
   1e-10,
   {0, 0},
   {1.766044443118978, 0.6427876096865393}},
  {2, 6, 2, "sine -dm_vpatchdg_map_parameters .06", PETSC_FALSE, 1, 2e-5, {0, 0}, {1, 1}},
  {2, 6, 2, "annulus -dm_vpatchdg_map_parameters 1,2,90", PETSC_FALSE, 0.75 * PETSC_PI, 2e-5, {0, 0}, {2, 2}},
  {3,
   2,
   1,
   "shear -dm_vpatchdg_map_parameters 120 -dm_vpatchdg_boxes 1,2,3",
   PETSC_TRUE,
   0.8660254037844386,
   1e-10,
   {-0.5, 0, 0},
   {1, 0.8660254037844386, 1}},
  {3, 5, 1, "sine -dm_vpatchdg_map_parameters .03 -dm_vpatchdg_map_degree 3", PETSC_FALSE, 1, 2e-3, {0, 0, 0}, {1, 1, 1}},
  {3,
   5,
   1,
   "annulus -dm_vpatchdg_map_parameters 1,1.5,60 -dm_vpatchdg_boxes 1,1,2",
   PETSC_FALSE,
   0.625 * PETSC_PI / 3,
   1e-4,
   {0.5, 0, 0},
   {1.5, 1.299038105676658, 1}},
  {2,
   6,
   2,
   "annulus -dm_vpatchdg_map_parameters 1,2,90 -dm_vpatchdg_refine_levels 2 -dm_vpatchdg_refine_point 0.5,0.5 -dm_vpatchdg_backend host",
   PETSC_FALSE,
   0.75 * PETSC_PI,
   2e-5,
   {0, 0},
   {2, 2}},
  {3,
   2,
   1,
   "shear -dm_vpatchdg_map_parameters 120 -dm_vpatchdg_boxes 1,2,3 -dm_vpatchdg_refine_levels 1 -dm_vpatchdg_refine_point .5,.5,.5 "
   "-dm_vpatchdg_backend host",
   PETSC_TRUE,
   0.8660254037844386,
   1e-10,
   {-0.5, 0, 0},
   {1, 0.8660254037844386, 1}},
};
static const Case *now;

/* x^2 - y^2 + x y, in 3D + z x, or a function that is no polynomial. Both are harmonic. */
static PetscScalar U(const PetscReal x[])
{
  const PetscReal z = now->dim == 3 ? x[2] : 0;

  return now->affine ? x[0] * x[0] - x[1] * x[1] + x[0] * x[1] + z * x[0] : PetscSinReal(x[0] + 0.3) * PetscExpReal(x[1]) + z * x[1];
}

static PetscErrorCode Function(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = U(x);
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  const PetscReal z = dim == 3 ? x[2] : 0, e = PetscExpReal(x[1]);

  g[0] = now->affine ? 2 * x[0] + x[1] + z : PetscCosReal(x[0] + 0.3) * e;
  g[1] = now->affine ? -2 * x[1] + x[0] : PetscSinReal(x[0] + 0.3) * e + z;
  if (dim == 3) g[2] = now->affine ? x[0] : x[1];
  return 0;
}

static PetscScalar Along(PetscInt dim, const PetscReal x[], const PetscReal normal[])
{
  PetscScalar g[3], sum = 0;

  Gradient(dim, x, g, NULL);
  for (PetscInt d = 0; d < dim; d++) sum += g[d] * normal[d];
  return sum;
}

/* du/dn + alpha u for Robin sides with alpha = *ctx; alpha 0 at Neumann sides */
static PetscErrorCode Flux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  value[0] = Along(dim, x, normal);
  return 0;
}

static PetscErrorCode Functions(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) value[i] = U(x + i * dim);
  return 0;
}

static PetscErrorCode Gradients(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) Gradient(dim, x + i * dim, value + i * dim, ctx);
  return 0;
}

static PetscErrorCode Fluxes(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) value[i] = Along(dim, x + i * dim, normal);
  return 0;
}

/* the same with a normal for each point */
static PetscErrorCode FluxesOfSides(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) value[i] = Along(dim, x + i * dim, normal + i * dim);
  return 0;
}

static PetscErrorCode New(DM *dm)
{
  char options[256];

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, now->dim, now->degree, now->refine, dm));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-dm_vpatchdg_map %s", now->map));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(
    DMVPatchDGSetBoundary(*dm, (VPatchDGBoundary[]){VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN,
                                                    VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN}));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the largest difference of two vectors */
static PetscErrorCode Difference(Vec a, Vec b, PetscReal *difference)
{
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(a, &d));
  PetscCall(VecWAXPY(d, -1, a, b));
  PetscCall(VecNorm(d, NORM_INFINITY, difference));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* value [points] or [points][dim] = u, its gradient or, with normals, its outward derivative at points */
static PetscErrorCode FillExact(Vec points, Vec normals, PetscBool gradient, Vec value)
{
  const PetscInt     dim = now->dim;
  PetscInt           n;
  const PetscScalar *x, *normal = NULL;
  PetscScalar       *v;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(points, &n));
  PetscCall(VecGetArrayRead(points, &x));
  if (normals) PetscCall(VecGetArrayRead(normals, &normal));
  PetscCall(VecGetArrayWrite(value, &v));
  for (PetscInt i = 0; i < n / dim; i++) {
    if (gradient) Gradient(dim, x + i * dim, v + i * dim, NULL);
    else v[i] = normals ? Along(dim, x + i * dim, normal + i * dim) : U(x + i * dim);
  }
  PetscCall(VecRestoreArrayWrite(value, &v));
  if (normals) PetscCall(VecRestoreArrayRead(normals, &normal));
  PetscCall(VecRestoreArrayRead(points, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x: the interpolant of u */
static PetscErrorCode Interior(DM dm, Vec x)
{
  Vec       points, exact, values, gradients, exact_gradients;
  PetscReal d[3], l2, h1;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetPoints(dm, &points));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(VecDuplicate(x, &values));
  PetscCall(VecDuplicate(points, &gradients));
  PetscCall(VecDuplicate(points, &exact_gradients));
  PetscCall(FillExact(points, NULL, PETSC_FALSE, exact));
  PetscCall(FillExact(points, NULL, PETSC_TRUE, exact_gradients));
  PetscCall(DMVPatchDGGetPointValues(dm, x, values));
  PetscCall(Difference(values, exact, &d[0]));
  PetscCall(DMVPatchDGSetPointValues(dm, exact, values));
  PetscCall(Difference(values, x, &d[1]));
  PetscCall(DMVPatchDGGetPointGradients(dm, x, gradients));
  PetscCall(Difference(gradients, exact_gradients, &d[2]));
  TapOk((PetscBool)(d[0] < 1e-12), "values_are_those_at_physical_points: %s, %.1e", now->map, d[0]);
  TapOk((PetscBool)(d[1] < 1e-12), "point_values_set_coefficients: %s, %.1e", now->map, d[1]);
  TapOk((PetscBool)(d[2] < 50 * now->tolerance), "gradients_are_physical: %s, %.1e", now->map, d[2]);
  PetscCall(DMVPatchDGComputeDifference(dm, x, exact, exact_gradients, &l2, &h1));
  TapOk((PetscBool)(l2 < 1e-12 && h1 < 20 * now->tolerance), "difference_is_small: %s, %.1e %.1e", now->map, l2, h1);
  PetscCall(DMVPatchDGComputeErrors(dm, x, Function, Gradient, NULL, &l2, &h1));
  TapOk((PetscBool)(l2 < now->tolerance && h1 < 20 * now->tolerance), "errors_are_small: %s, %.1e %.1e", now->map, l2, h1);
  PetscCall(DMVPatchDGComputeErrorsBatch(dm, x, Functions, Gradients, PETSC_MEMTYPE_HOST, NULL, &d[0], &d[1]));
  TapOk((PetscBool)(PetscAbsReal(d[0] - l2) < 1e-12 && PetscAbsReal(d[1] - h1) < 1e-12), "batches_find_the_same_errors: %s", now->map);
  PetscCall(VecSet(values, 0));
  PetscCall(DMVPatchDGComputeErrors(dm, values, NULL, Gradient, NULL, NULL, &h1));
  PetscCall(DMVPatchDGComputeDifference(dm, values, values, exact_gradients, NULL, &d[0]));
  TapOk((PetscBool)(PetscAbsReal(d[0] - h1) < 1e-3 * h1), "norm_of_the_gradient: %s, %g %g", now->map, h1, d[0]);
  PetscCall(VecDestroy(&points));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&values));
  PetscCall(VecDestroy(&gradients));
  PetscCall(VecDestroy(&exact_gradients));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Boundary(DM dm, Vec x)
{
  PetscReal   d[3] = {0, 0, 0}, length, sum = 0;
  PetscScalar flux, all = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    const VPatchDGBoundary kind = i ? VPATCHDG_BOUNDARY_NEUMANN : VPATCHDG_BOUNDARY_DIRICHLET;
    Vec                    points, normals, exact, values, derivatives;
    PetscInt               n;

    PetscCall(DMVPatchDGGetBoundaryPoints(dm, kind, &points, &normals));
    PetscCall(DMVPatchDGCreateBoundaryVector(dm, kind, &values));
    PetscCall(VecDuplicate(values, &exact));
    PetscCall(VecDuplicate(values, &derivatives));
    PetscCall(DMVPatchDGGetBoundaryValues(dm, kind, x, values, derivatives));
    PetscCall(FillExact(points, NULL, PETSC_FALSE, exact));
    PetscCall(Difference(values, exact, &length));
    d[0] = PetscMax(d[0], length);
    PetscCall(FillExact(points, normals, PETSC_FALSE, exact));
    PetscCall(Difference(derivatives, exact, &length));
    d[1] = PetscMax(d[1], length);
    PetscCall(VecGetSize(values, &n));
    PetscCall(VecNorm(normals, NORM_2, &length));
    d[2] = PetscMax(d[2], PetscAbsReal(length * length / n - 1));
    PetscCall(VecDestroy(&points));
    PetscCall(VecDestroy(&normals));
    PetscCall(VecDestroy(&exact));
    PetscCall(VecDestroy(&values));
    PetscCall(VecDestroy(&derivatives));
  }
  TapOk((PetscBool)(d[0] < 5 * now->tolerance), "values_on_the_boundary: %s, %.1e", now->map, d[0]);
  TapOk((PetscBool)(d[1] < 100 * now->tolerance), "outward_derivatives: %s, %.1e", now->map, d[1]);
  TapOk((PetscBool)(d[2] < 1e-12), "normals_have_length_1: %s, %.1e", now->map, d[2]);
  for (PetscInt side = 0; side < 2 * now->dim; side++) {
    PetscCall(DMVPatchDGIntegrateFlux(dm, x, side, &flux));
    all += flux;
    sum += PetscAbsScalar(flux);
  }
  TapOk((PetscBool)(PetscAbsScalar(all) < 10 * now->tolerance && sum > 0.5), "fluxes_of_harmonic_functions_add_up_to_0: %s, %.1e of %g",
        now->map, PetscAbsScalar(all), sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Integrals(DM dm, Vec x)
{
  PetscReal   lower[3], upper[3], box = 0;
  PetscScalar volume;
  Vec         one, coordinates;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &one));
  PetscCall(VecSet(x, 1));
  PetscCall(DMVPatchDGSetPointValues(dm, x, one));
  PetscCall(DMVPatchDGIntegrate(dm, one, &volume));
  TapOk((PetscBool)(PetscAbsReal(volume / now->volume - 1) < now->tolerance), "integral_of_1_is_the_volume: %s, %.1e", now->map,
        volume / now->volume - 1);
  PetscCall(DMGetBoundingBox(dm, lower, upper));
  for (PetscInt d = 0; d < now->dim; d++)
    box = PetscMax(box, PetscMax(PetscAbsReal(lower[d] - now->lower[d]), PetscAbsReal(upper[d] - now->upper[d])));
  TapOk((PetscBool)(box < 1e-2), "bounding_box_is_that_of_the_image: %s, %g", now->map, box);
  PetscCall(DMGetCoordinates(dm, &coordinates));
  PetscCall(VecStrideMax(coordinates, 0, NULL, &upper[0]));
  PetscCall(VecStrideMin(coordinates, now->dim - 1, NULL, &lower[0]));
  TapOk((PetscBool)(PetscAbsReal(upper[0] - now->upper[0]) < 1e-2 && PetscAbsReal(lower[0] - now->lower[now->dim - 1]) < 1e-2),
        "coordinates_are_physical: %s", now->map);
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Evaluates at the first points of the cells of the next rank, and adds sources there. */
static PetscErrorCode Elsewhere(DM dm, Vec x)
{
  const PetscInt     dim = now->dim;
  PetscInt           n, most;
  PetscReal          worst = 0, *at, far[3] = {9, 9, 9}, *mine;
  PetscScalar       *values, product, sum = 0;
  const PetscScalar *p;
  PetscMPIInt        size;
  Vec                points, b;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(DMVPatchDGGetPoints(dm, &points));
  PetscCall(VecGetLocalSize(points, &n));
  n = n / dim / 3;
  PetscCallMPI(MPI_Allreduce(&n, &most, 1, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  n = most;
  PetscCall(PetscMalloc3(n * dim, &at, n * dim, &mine, n, &values));
  PetscCall(VecGetArrayRead(points, &p));
  for (PetscInt i = 0; i < n * dim; i++) mine[i] = p[i / dim * 3 * dim + i % dim];
  PetscCall(VecRestoreArrayRead(points, &p));
  PetscCallMPI(MPI_Sendrecv(mine, (int)(n * dim), MPIU_REAL, (tap.rank + 1) % size, 0, at, (int)(n * dim), MPIU_REAL,
                            (tap.rank + size - 1) % size, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE));
  PetscCall(DMVPatchDGEvaluate(dm, x, n, at, values));
  for (PetscInt i = 0; i < n; i++) worst = PetscMax(worst, PetscAbsScalar(values[i] - U(at + i * dim)));
  TapOk((PetscBool)(n > 0 && worst < 1e-10), "functions_are_evaluated_at_physical_points: %s, %" PetscInt_FMT " points, %.1e", now->map, n,
        worst);
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecSet(b, 0));
  PetscCall(DMVPatchDGAddPointSources(dm, PetscMin(n, 7), at, values, b));
  PetscCall(VecDot(b, x, &product));
  for (PetscInt i = 0; i < PetscMin(n, 7); i++) sum += values[i] * values[i];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(PetscAbsScalar(product - sum) < 1e-9 * sum), "sources_are_at_physical_points: %s, %.1e", now->map, product / sum - 1);
  Refused(DMVPatchDGEvaluate(dm, x, tap.rank ? 0 : 1, far, values), "lies outside of the domain", "a point outside of the image");
  PetscCall(PetscFree3(at, mine, values));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves -div grad u = 0 with the data of u. */
static PetscErrorCode Solve(DM dm)
{
  PetscReal          l2, difference;
  KSPConvergedReason reason;
  Mat                A;
  KSP                ksp;
  Vec                x, b, c;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &c));
  PetscCall(DMVPatchDGComputeRHS(dm, NULL, Function, Flux, NULL, b));
  PetscCall(DMVPatchDGComputeRHSBatch(dm, NULL, Functions, Fluxes, PETSC_MEMTYPE_HOST, NULL, c));
  PetscCall(Difference(b, c, &difference));
  TapOk((PetscBool)(difference < 1e-12), "batches_give_the_same_right_hand_side: %s, %.1e", now->map, difference);
  PetscCall(DMVPatchDGComputeRHSSideBatch(dm, NULL, Functions, FluxesOfSides, PETSC_MEMTYPE_HOST, NULL, c));
  PetscCall(Difference(b, c, &difference));
  TapOk((PetscBool)(difference < 1e-12), "normals_of_all_points_give_the_same_right_hand_side: %s, %.1e", now->map, difference);
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(TestSolver(ksp, 1e-12, 200));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(DMVPatchDGComputeErrors(dm, x, Function, NULL, NULL, &l2, NULL));
  TapOk((PetscBool)(reason > 0 && l2 < 2 * now->tolerance), "solution_is_found: %s, %.1e", now->map, l2);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y: x on the fine DM. The matrix-free and the assembled interpolation find it, and their transposes bring it back. */
static PetscErrorCode Interpolation(DM dm, DM fine, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  for (int assembled = 0; assembled < 2; assembled++) {
    PetscReal forth, twice, back, sum;
    Mat       P;
    Vec       u, v;

    PetscCall(DMSetMatType(fine, assembled ? MATAIJ : MATSHELL));
    PetscCall(DMCreateInterpolation(dm, fine, &P, NULL));
    PetscCall(MatCreateVecs(P, &v, &u));
    PetscCall(MatMult(P, x, u));
    PetscCall(Difference(u, y, &forth));
    PetscCall(MatMultAdd(P, x, u, u));
    PetscCall(VecAXPY(u, -2, y));
    PetscCall(VecNorm(u, NORM_INFINITY, &twice));
    PetscCall(MatMultTranspose(P, y, v));
    PetscCall(VecDot(v, x, &back));
    PetscCall(VecNorm(y, NORM_2, &sum));
    TapOk((PetscBool)(forth < 1e-12 && twice < 1e-12 && PetscAbsReal(back / (sum * sum) - 1) < 1e-12),
          "interpolation_finds_the_same: %s%s, %.1e %.1e", now->map, assembled ? ", assembled" : "", forth, back / (sum * sum) - 1);
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&v));
    PetscCall(MatDestroy(&P));
  }
  PetscCall(DMSetMatType(fine, MATSHELL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transfers the interpolant to a finer DM and back, and solves there. */
static PetscErrorCode Refine(DM dm, Vec x)
{
  PetscReal l2, difference;
  DM        fine;
  Vec       y, back;

  PetscFunctionBeginUser;
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(DMCreateGlobalVector(fine, &y));
  PetscCall(VecDuplicate(x, &back));
  PetscCall(DMVPatchDGTransfer(dm, fine, x, y));
  PetscCall(DMVPatchDGComputeErrors(fine, y, Function, NULL, NULL, &l2, NULL));
  PetscCall(DMVPatchDGTransfer(fine, dm, y, back));
  PetscCall(Difference(back, x, &difference));
  if (!strstr(now->map, "refine_levels")) PetscCall(Interpolation(dm, fine, x, y));
  TapOk((PetscBool)(l2 < 2 * now->tolerance && difference < 1e-12), "functions_are_transferred: %s, %.1e %.1e", now->map, l2, difference);
  PetscCall(Solve(fine));
  PetscCall(VecDestroy(&back));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(LossesAreExpected());
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    DM  dm;
    Vec x;

    now = &cases[i];
    PetscCall(New(&dm));
    PetscCall(DMCreateGlobalVector(dm, &x));
    PetscCall(DMVPatchDGInterpolateBatch(dm, Functions, PETSC_MEMTYPE_HOST, NULL, x));
    PetscCall(Interior(dm, x));
    PetscCall(Boundary(dm, x));
    PetscCall(Elsewhere(dm, x));
    if (now->affine || now->dim == 2) PetscCall(Refine(dm, x));
    PetscCall(Integrals(dm, x));
    PetscCall(Solve(dm));
    PetscCall(VecDestroy(&x));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
