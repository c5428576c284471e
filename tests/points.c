/* Functions at points against loops over points and basis functions: values, gradients, boundary data, right-hand sides, norms; point by
   point, in batches, by threads, from values, and with a backend that takes the host for a device. */
/* ranks: 1 3 */
#include "support/points.h"
#include "support/refused.h"
#include "../src/base/threads.h"

#define D VPATCHDG_BOUNDARY_DIRICHLET
#define N VPATCHDG_BOUNDARY_NEUMANN
#define P VPATCHDG_BOUNDARY_PERIODIC
static const Case cases[] = {
  {"square, Q1", 2, 1, 3, {D, D, D, D}, PETSC_FALSE},
  {"square, Q4, mixed, a jumps", 2, 4, 2, {D, N, N, D}, PETSC_TRUE},
  {"square, Q8, Neumann", 2, 8, 1, {N, N, N, N}, PETSC_FALSE},
  {"cube, Q2, mixed, a jumps", 3, 2, 1, {D, N, D, D, N, N}, PETSC_TRUE},
  {"cube, Q4, periodic", 3, 4, 1, {P, P, D, N, P, P}, PETSC_FALSE},
  {"cube, Q8", 3, 8, 0, {D, D, D, D, N, D}, PETSC_FALSE},
};

static PetscErrorCode fields_match_the_basis(const World *w, const char name[])
{
  const PetscScalar *x, *point, *value, *gradient;
  Vec                coordinates, values, gradients, back;
  PetscInt           n;
  PetscReal          apart;
  double             error[2] = {0, 0}, size[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetPoints(w->dm, &coordinates));
  PetscCall(VecDuplicate(coordinates, &gradients));
  PetscCall(VecDuplicate(w->x, &values));
  PetscCall(VecDuplicate(w->x, &back));
  PetscCall(DMVPatchDGGetPointValues(w->dm, w->x, values));
  PetscCall(DMVPatchDGGetPointGradients(w->dm, w->x, gradients));
  PetscCall(DMVPatchDGSetPointValues(w->dm, values, back));
  PetscCall(DifferenceOf(back, w->x, &apart));
  PetscCall(VecGetLocalSize(values, &n));
  PetscCall(VecGetArrayRead(w->x, &x));
  PetscCall(VecGetArrayRead(coordinates, &point));
  PetscCall(VecGetArrayRead(values, &value));
  PetscCall(VecGetArrayRead(gradients, &gradient));
  for (PetscInt p = 0; p < n; p += 1 + p % 7) {
    for (int d = -1; d < w->dim; d++) {
      const double right = Field(w, (int32_t)(p / w->ndof), d, x, point + p * w->dim);

      error[d >= 0] = PetscMax(error[d >= 0], fabs(right - (d < 0 ? value[p] : gradient[p * w->dim + d])));
      size[d >= 0] = PetscMax(size[d >= 0], fabs(right));
    }
  }
  PetscCall(VecRestoreArrayRead(gradients, &gradient));
  PetscCall(VecRestoreArrayRead(values, &value));
  PetscCall(VecRestoreArrayRead(coordinates, &point));
  PetscCall(VecRestoreArrayRead(w->x, &x));
  for (int i = 0; i < 2; i++) error[i] = Relative(error[i], size[i]);
  TapOk((PetscBool)(error[0] < 1e-12 && error[1] < 1e-11 && apart < 1e-12),
        "fields_match_the_basis: %s: values %.1e, gradients %.1e, back to coefficients %.1e", name, error[0], error[1], (double)apart);
  PetscCall(VecDestroy(&coordinates));
  PetscCall(VecDestroy(&gradients));
  PetscCall(VecDestroy(&values));
  PetscCall(VecDestroy(&back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode boundary_values_match_the_basis(const World *w, VPatchDGBoundary boundary, const char name[])
{
  const VpSide       kind = boundary == D ? VP_SIDE_DIRICHLET : VP_SIDE_NEUMANN;
  const PetscScalar *x, *point, *normal, *value, *slope;
  Vec                coordinates, normals, values, slopes;
  PetscInt           n;
  double             error[3] = {0, 0, 0}, size[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetBoundaryPoints(w->dm, boundary, &coordinates, &normals));
  PetscCall(DMVPatchDGCreateBoundaryVector(w->dm, boundary, &values));
  PetscCall(VecDuplicate(values, &slopes));
  PetscCall(DMVPatchDGGetBoundaryValues(w->dm, boundary, w->x, values, slopes));
  PetscCall(VecGetLocalSize(values, &n));
  PetscCall(VecGetArrayRead(w->x, &x));
  PetscCall(VecGetArrayRead(coordinates, &point));
  PetscCall(VecGetArrayRead(normals, &normal));
  PetscCall(VecGetArrayRead(values, &value));
  PetscCall(VecGetArrayRead(slopes, &slope));
  for (PetscInt p = 0; p < n; p++) {
    int           side;
    const int32_t cell = CellOnSide(w, kind, p, &side);
    const double *at = point + p * w->dim, sign = side % 2 ? 1 : -1;
    const double  u = Field(w, cell, -1, x, at), q = sign * Field(w, cell, side / 2, x, at);

    error[0] = PetscMax(error[0], fabs(value[p] - u));
    error[1] = PetscMax(error[1], fabs(slope[p] - q));
    size[0] = PetscMax(size[0], fabs(u));
    size[1] = PetscMax(size[1], fabs(q));
    for (int d = 0; d < w->dim; d++) error[2] = PetscMax(error[2], fabs(normal[p * w->dim + d] - (d == side / 2 ? sign : 0)));
  }
  PetscCall(VecRestoreArrayRead(slopes, &slope));
  PetscCall(VecRestoreArrayRead(values, &value));
  PetscCall(VecRestoreArrayRead(normals, &normal));
  PetscCall(VecRestoreArrayRead(coordinates, &point));
  PetscCall(VecRestoreArrayRead(w->x, &x));
  for (int i = 0; i < 3; i++) error[i] = Relative(error[i], i < 2 ? size[i] : 0);
  TapOk((PetscBool)(error[0] < 1e-12 && error[1] < 1e-11 && error[2] == 0),
        "boundary_values_match_the_basis: %s, %s: values %.1e, normal derivatives %.1e", name, VPatchDGBoundaries[boundary], error[0],
        error[1]);
  PetscCall(VecDestroy(&coordinates));
  PetscCall(VecDestroy(&normals));
  PetscCall(VecDestroy(&values));
  PetscCall(VecDestroy(&slopes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Requires: the problem is not singular. */
static PetscErrorCode right_hand_side_matches_sums(const World *w, const char name[])
{
  const PetscReal   *a;
  const PetscScalar *b;
  double             error = 0, size = 0;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGComputeRHS(w->dm, WaveAt, WaveAt, FluxAt, NULL, w->b));
  PetscCall(DMVPatchDGGetCoefficient(w->dm, &a));
  PetscCall(VecGetArrayRead(w->b, &b));
  for (int32_t c = 0; c < w->mesh->nown; c++) {
    for (int i = 0; i < w->ndof; i += 1 + i % 5) {
      double sum = Integral(w, c, i, -1, VP_SIDE_INTERIOR);

      for (int side = 0; side < 2 * w->dim; side++) {
        const VpSide kind = VpDomainSide(w->mesh->geometry->domain, w->mesh->neighbor[(size_t)c * 2 * w->dim + side]);

        if (kind != VP_SIDE_INTERIOR) sum += (a ? a[c] : 1) * Integral(w, c, i, side, kind);
      }
      error = PetscMax(error, fabs(sum - b[(size_t)c * (size_t)w->ndof + (size_t)i]));
      size = PetscMax(size, fabs(sum));
    }
  }
  PetscCall(VecRestoreArrayRead(w->b, &b));
  error = Relative(error, size);
  TapOk((PetscBool)(error < 1e-12), "right_hand_side_matches_sums: %s: %.1e", name, error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the batch form gives what the pointwise one does */
static PetscErrorCode batches_match_points(const World *w, PetscMemType where, const char name[])
{
  PetscReal apart[2], one[2], many[2];
  Vec       other;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w->b, &other));
  PetscCall(DMVPatchDGComputeRHS(w->dm, WaveAt, WaveAt, FluxAt, NULL, w->b));
  PetscCall(DMVPatchDGComputeRHSBatch(w->dm, Waves, Waves, Fluxes, where, NULL, other));
  PetscCall(DifferenceOf(other, w->b, &apart[0]));
  PetscCall(DMVPatchDGInterpolate(w->dm, WaveAt, NULL, w->b));
  PetscCall(DMVPatchDGInterpolateBatch(w->dm, Waves, where, NULL, other));
  PetscCall(DifferenceOf(other, w->b, &apart[1]));
  PetscCall(DMVPatchDGComputeErrors(w->dm, w->x, WaveAt, SlopeAt, NULL, &one[0], &one[1]));
  PetscCall(DMVPatchDGComputeErrorsBatch(w->dm, w->x, Waves, Slopes, where, NULL, &many[0], &many[1]));
  for (int i = 0; i < 2; i++) many[i] = fabs(many[i] - one[i]) / one[i];
  TapOk((PetscBool)(apart[0] < 1e-13 && apart[1] < 1e-13 && many[0] < 1e-13 && many[1] < 1e-13),
        "batches_match_points: %s: right-hand side %.1e, interpolation %.1e, errors %.1e %.1e", name, (double)apart[0], (double)apart[1],
        (double)many[0], (double)many[1]);
  PetscCall(VecDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LineAt(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = Line(dim, x);
  return 0;
}
static PetscErrorCode LineFluxAt(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  value[0] = normal[0] - 2 * normal[1] + (dim == 3 ? 3 * normal[2] : 0);
  return 0;
}

/* values at points of a line, or its flux */
static PetscErrorCode LineValues(Vec coordinates, Vec normals, PetscInt dim, Vec values)
{
  const PetscScalar *x, *normal;
  PetscScalar       *v;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(values, &n));
  PetscCall(VecGetArrayRead(coordinates, &x));
  PetscCall(VecGetArrayRead(normals, &normal));
  PetscCall(VecGetArray(values, &v));
  for (PetscInt i = 0; i < n; i++) {
    if (coordinates == normals) LineAt(dim, x + i * dim, v + i, NULL);
    else LineFluxAt(dim, x + i * dim, normal + i * dim, v + i, NULL);
  }
  PetscCall(VecRestoreArray(values, &v));
  PetscCall(VecRestoreArrayRead(normals, &normal));
  PetscCall(VecRestoreArrayRead(coordinates, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* integrals of polynomials by k+1 points are those by k+3 */
static PetscErrorCode values_give_the_same(const World *w, const char name[])
{
  Vec         coordinates, normals, f, g, h, gradients, other;
  PetscReal   apart, norm[2], here[2], zero[2];
  PetscScalar integral;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w->b, &f));
  PetscCall(VecDuplicate(w->b, &other));
  PetscCall(DMVPatchDGCreateBoundaryVector(w->dm, D, &g));
  PetscCall(DMVPatchDGCreateBoundaryVector(w->dm, N, &h));
  PetscCall(DMVPatchDGGetBoundaryPoints(w->dm, D, &coordinates, NULL));
  PetscCall(LineValues(coordinates, coordinates, w->dim, g));
  PetscCall(VecDestroy(&coordinates));
  PetscCall(DMVPatchDGGetBoundaryPoints(w->dm, N, &coordinates, &normals));
  PetscCall(LineValues(coordinates, normals, w->dim, h));
  PetscCall(VecDestroy(&coordinates));
  PetscCall(VecDestroy(&normals));
  PetscCall(DMVPatchDGGetPoints(w->dm, &coordinates));
  PetscCall(LineValues(coordinates, coordinates, w->dim, f));
  PetscCall(DMVPatchDGComputeRHS(w->dm, LineAt, LineAt, LineFluxAt, NULL, w->b));
  PetscCall(DMVPatchDGComputeRHSFromPoints(w->dm, f, g, h, other));
  PetscCall(DifferenceOf(other, w->b, &apart));
  TapOk((PetscBool)(apart < 1e-12), "values_give_the_same: %s: right-hand side %.1e", name, (double)apart);

  /* u - 0 by points, and u - u */
  PetscCall(VecDuplicate(coordinates, &gradients));
  PetscCall(VecZeroEntries(f));
  PetscCall(VecZeroEntries(gradients));
  PetscCall(DMVPatchDGComputeErrors(w->dm, w->x, NULL, NULL, NULL, &norm[0], &norm[1]));
  PetscCall(DMVPatchDGComputeDifference(w->dm, w->x, f, gradients, &here[0], &here[1]));
  PetscCall(DMVPatchDGGetPointValues(w->dm, w->x, f));
  PetscCall(DMVPatchDGGetPointGradients(w->dm, w->x, gradients));
  PetscCall(DMVPatchDGComputeDifference(w->dm, w->x, f, gradients, &zero[0], &zero[1]));
  for (int i = 0; i < 2; i++) here[i] = fabs(here[i] - norm[i]) / norm[i];
  TapOk((PetscBool)(here[0] < 1e-12 && here[1] < 1e-12 && zero[0] < 1e-12 * norm[0] && zero[1] < 1e-12 * norm[1]),
        "values_give_the_same: %s: norms %.1e %.1e, of nothing %.1e %.1e", name, (double)here[0], (double)here[1], (double)zero[0],
        (double)zero[1]);

  /* the integral of the line over the box: its value in the middle, (0.5, 0, 0.75), times the volume */
  PetscCall(DMVPatchDGInterpolate(w->dm, LineAt, NULL, other));
  PetscCall(DMVPatchDGIntegrate(w->dm, other, &integral));
  {
    const PetscReal middle[3] = {0.5, 0, 0.75}, right = Line(w->dim, middle) * 2 * (w->dim == 3 ? 0.5 : 1);

    TapOk((PetscBool)(fabs(integral - right) < 1e-12), "integral_is_right: %s: %.12f", name, (double)integral);
  }
  PetscCall(VecDestroy(&coordinates));
  PetscCall(VecDestroy(&gradients));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&h));
  PetscCall(VecDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* points of all ranks' cells, on every rank others, in the inside and on corners of cells */
static PetscErrorCode values_anywhere_match_the_basis(const World *w, const char name[])
{
  enum { COUNT = 60 };
  PetscReal   at[COUNT * 3];
  PetscScalar linear[COUNT];
  PetscMPIInt rank;
  PetscInt    n;
  double      error = 0, off = 0;
  Vec         line, values, coordinates;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  n = rank == 1 ? 0 : COUNT;
  for (PetscInt i = 0; i < n; i++) {
    const double t = fmod((i + 0.37) * (0.618 + 0.1 * rank), 1), s = fmod(i * 0.7548776662, 1), r = fmod(i * 0.5698402910, 1);

    at[i * w->dim] = i % 10 ? t : (i % 20 ? 1 : 0.5);
    at[i * w->dim + 1] = i % 10 ? 2 * s - 1 : (i % 20 ? -1 : 0);
    if (w->dim == 3) at[i * w->dim + 2] = i % 10 ? 0.5 + r / 2 : 0.75;
  }
  PetscCall(VecDuplicate(w->x, &line));
  PetscCall(DMVPatchDGInterpolate(w->dm, LineAt, NULL, line));
  PetscCall(DMVPatchDGEvaluate(w->dm, line, n, at, linear));
  for (PetscInt i = 0; i < n; i++) error = PetscMax(error, fabs(linear[i] - Line(w->dim, at + i * w->dim)));
  PetscCall(VecDestroy(&line));

  /* the points of the rank's own cells, of a function that jumps between them */
  PetscCall(DMVPatchDGGetPoints(w->dm, &coordinates));
  PetscCall(VecDuplicate(w->x, &values));
  PetscCall(DMVPatchDGGetPointValues(w->dm, w->x, values));
  {
    const PetscScalar *x, *v;
    PetscScalar       *all;
    PetscInt           m;

    PetscCall(VecGetLocalSize(values, &m));
    PetscCall(PetscMalloc1(m, &all));
    PetscCall(VecGetArrayRead(coordinates, &x));
    PetscCall(VecGetArrayRead(values, &v));
    PetscCall(DMVPatchDGEvaluate(w->dm, w->x, m, x, all));
    for (PetscInt i = 0; i < m; i++) off = PetscMax(off, fabs(all[i] - v[i]) / (1 + fabs(v[i])));
    PetscCall(VecRestoreArrayRead(values, &v));
    PetscCall(VecRestoreArrayRead(coordinates, &x));
    PetscCall(PetscFree(all));
  }
  TapOk((PetscBool)(error < 1e-12 && off < 1e-11), "values_anywhere_match_the_basis: %s: a line %.1e, own points %.1e", name, error, off);
  PetscCall(VecDestroy(&values));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b += sources at points, against values there: a function's product with b grows by the sum of strengths times values */
static PetscErrorCode sources_match_values(const World *w, const char name[])
{
  enum { COUNT = 30 };
  PetscReal   at[COUNT * 3];
  PetscScalar q[COUNT], value[COUNT], product[2], sum = 0;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (PetscInt i = 0; i < COUNT; i++) {
    const double t = fmod((i + 0.37) * (0.618 + 0.1 * rank), 1);

    at[i * w->dim] = i % 5 ? t : 0.5;
    at[i * w->dim + 1] = i % 7 ? 2 * fmod(7 * t, 1) - 1 : 1;
    if (w->dim == 3) at[i * w->dim + 2] = 0.5 + fmod(13 * t, 0.5);
    q[i] = i % 3 ? t : -1;
  }
  PetscCall(DMVPatchDGEvaluate(w->dm, w->x, COUNT, at, value));
  for (PetscInt i = 0; i < COUNT; i++) sum += q[i] * value[i];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(VecDot(w->b, w->x, &product[0]));
  PetscCall(DMVPatchDGAddPointSources(w->dm, COUNT, at, q, w->b));
  PetscCall(VecDot(w->b, w->x, &product[1]));
  product[1] -= product[0] + sum;
  TapOk((PetscBool)(fabs(product[1]) < 1e-11 * (fabs(sum) + fabs(product[0]) + 1)), "sources_match_values: %s: %.1e of %.1e", name,
        (double)product[1], (double)sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode everything(const Case *c, const VpBackend *pretended, int threads)
{
  const int        before = VpThreads;
  char             name[128];
  PetscBool        singular = PETSC_TRUE;
  World            w;
  const VpBackend *backend;

  PetscFunctionBeginUser;
  VpThreads = threads;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s, %d threads", c->name, pretended ? ", as a device" : "", threads));
  PetscCall(WorldCreate(c, pretended, &w));
  for (int side = 0; side < 2 * w.dim; side++) singular = (PetscBool)(singular && c->boundary[side] != D);
  PetscCall(fields_match_the_basis(&w, name));
  for (int kind = 0; kind < 2; kind++) PetscCall(boundary_values_match_the_basis(&w, kind ? N : D, name));
  if (!singular) PetscCall(right_hand_side_matches_sums(&w, name));
  PetscCall(batches_match_points(&w, PETSC_MEMTYPE_HOST, name));
  if (pretended) PetscCall(batches_match_points(&w, PETSC_MEMTYPE_CUDA, "functions of device memory"));
  PetscCall(values_give_the_same(&w, name));
  PetscCall(values_anywhere_match_the_basis(&w, name));
  PetscCall(sources_match_values(&w, name));
  PetscCall(DMVPatchDGUseBackend(w.dm, &backend));
  TapOk((PetscBool)(backend == (pretended ? pretended : TestBackend())), "the_backend_is_used: %s", backend->name);
  PetscCall(WorldDestroy(&w));
  VpThreads = before;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_input(void)
{
  World w;
  Vec   wrong, values;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(&cases[1], NULL, &w));
  PetscCall(DMVPatchDGGetPoints(w.dm, &wrong));
  PetscCall(DMVPatchDGCreateBoundaryVector(w.dm, D, &values));
  Refused(DMVPatchDGGetPointValues(w.dm, w.x, wrong), "make it with DMCreateGlobalVector()", "values of a wrong size");
  Refused(DMVPatchDGGetPointGradients(w.dm, w.x, values), "the vector of gradients has the wrong size", "gradients of a wrong size");
  Refused(DMVPatchDGGetBoundaryValues(w.dm, D, w.x, wrong, NULL), "values on the boundary has the wrong size",
          "boundary values of a wrong size");
  Refused(DMVPatchDGGetBoundaryPoints(w.dm, P, &values, NULL), "where it is Dirichlet or Neumann", "points of a periodic boundary");
  Refused(DMVPatchDGComputeRHSFromPoints(w.dm, NULL, wrong, NULL, w.b), "Dirichlet values has the wrong size", "data of a wrong size");
  Refused(DMVPatchDGComputeRHSFromPoints(w.dm, w.b, NULL, NULL, w.b), "f and b must be different", "f that is b");
  Refused(DMVPatchDGComputeDifference(w.dm, w.x, NULL, NULL, (PetscReal[1]){0}, NULL), "no vector is given", "a difference from nothing");
  Refused(DMVPatchDGEvaluate(w.dm, w.x, 2, (PetscReal[4]){0.5, 0.5, 1.5, 0}, (PetscScalar[2]){0}),
          "Point 1 of rank 0, (1.5, 0), lies outside", "a point outside");
  Refused(DMVPatchDGEvaluate(w.dm, w.x, 1, (PetscReal[2]){NAN, 0}, (PetscScalar[1]){0}), "lies outside", "a point that is none");
  Refused(DMVPatchDGEvaluate(w.dm, w.x, 1, NULL, NULL), "need memory", "no points");
  {
    PetscErrorCode code;

    PetscCall(PetscPushErrorHandler(Remember, NULL));
    code = DMVPatchDGComputeRHSBatch(w.dm, Fails, NULL, NULL, PETSC_MEMTYPE_HOST, NULL, w.b);
    PetscCall(PetscPopErrorHandler());
    TapOk((PetscBool)(code != 0), "an_error_of_a_function_ends_the_call");
  }
  PetscCall(VecDestroy(&wrong));
  PetscCall(VecDestroy(&values));
  PetscCall(WorldDestroy(&w));
  PetscCall(WorldCreate(&cases[0], NULL, &w));
  if (!VpIsDevice(TestBackend()))
    Refused(DMVPatchDGComputeRHSBatch(w.dm, Waves, NULL, NULL, PETSC_MEMTYPE_CUDA, NULL, w.b), "functions of device memory",
            "device memory on the host");
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  VpBackend device;

  PetscFunctionBeginUser;
  device = Device();
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(everything(&cases[i], NULL, 1));
    PetscCall(everything(&cases[i], NULL, 3));
    /* A PETSc with CUDA takes vectors of a device to be on a real one. */
    if (!PetscDefined(HAVE_CUDA)) PetscCall(everything(&cases[i], &device, 1));
  }
  PetscCall(bad_input());
  PetscFunctionReturn(PETSC_SUCCESS);
}
