/* Point sources, against values at their points and a solution that is known. */
/* ranks: 1 2 4 */
#include "support/problem.h"
#include "support/refused.h"
#include "support/said.h"

enum { COUNT = 24 };

typedef struct {
  const char    *name;
  PetscInt       dim, degree, refine;
  VPatchDGDomain domain;
  PetscInt       levels; /* of local refinement */
} Case;
static const Case cases[] = {{"square, Q1", 2, 1, 3, VPATCHDG_DOMAIN_BOX, 0},          {"L-shape, Q4", 2, 4, 2, VPATCHDG_DOMAIN_LSHAPE, 0},
                             {"adaptive square, Q3", 2, 3, 2, VPATCHDG_DOMAIN_BOX, 2}, {"Fichera, Q2", 3, 2, 1, VPATCHDG_DOMAIN_FICHERA, 0},
                             {"adaptive cube, Q2", 3, 2, 1, VPATCHDG_DOMAIN_BOX, 1},   {"square, Q8", 2, 8, 1, VPATCHDG_DOMAIN_BOX, 0}};

static PetscErrorCode CaseCreate(const Case *c, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, c->degree, c->refine, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, c->domain));
  if (c->levels) PetscCall(DMVPatchDGSetLocalRefinement(*dm, c->levels, (PetscReal[]){0.3, 0.6, 0.2}, NULL));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* degree: in every variable */
static PetscErrorCode Polynomial(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  const PetscInt degree = *(PetscInt *)ctx;

  value[0] = 0.5 - x[0];
  for (PetscInt d = 0; d < dim; d++) value[0] += (d + 1) * PetscPowRealInt(x[d] - 0.2, degree) * (1 + x[(d + 1) % dim]);
  return 0;
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  return 0;
}

/* points in all of the domains: inside, on faces and corners of cells, on the boundary; other ones on every rank, none on rank 1 */
static PetscInt Points(const Case *c, PetscReal x[], PetscScalar q[])
{
  const PetscReal corner = c->domain == VPATCHDG_DOMAIN_BOX ? 0 : -1;
  PetscMPIInt     rank;

  PetscCallAbort(PETSC_COMM_WORLD, MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (PetscInt i = 0; i < COUNT; i++) {
    for (PetscInt d = 0; d < c->dim; d++) {
      const double t = fmod((i + 0.4) * (0.618 + 0.1 * rank) * (d + 1), 1);

      x[i * c->dim + d] = corner + (i % 4 ? t : floor(4 * t) / 4);
    }
    q[i] = sin(7. * i) + (i == 5 ? 3 : 0);
  }
  return rank == 1 ? 0 : COUNT;
}

static PetscErrorCode sources_are_the_transpose_of_values(const Case *c)
{
  PetscReal   x[COUNT * 3], size = 0;
  PetscScalar q[COUNT], values[COUNT], product[3], expected[3] = {0}, before;
  PetscInt    n = Points(c, x, q);
  DM          dm;
  Vec         b, v[3]; /* one, a polynomial, random numbers */

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(c, &dm));
  PetscCall(DMCreateGlobalVector(dm, &b));
  for (int i = 0; i < 3; i++) PetscCall(VecDuplicate(b, &v[i]));
  PetscCall(DMVPatchDGInterpolate(dm, One, NULL, v[0]));
  PetscCall(DMVPatchDGInterpolate(dm, Polynomial, (void *)&c->degree, v[1]));
  PetscCall(VecSetRandom(v[2], NULL));
  PetscCall(VecCopy(v[1], b)); /* Sources are added to what is there. */
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(Polynomial(c->dim, x + i * c->dim, &values[i], (void *)&c->degree));
    expected[0] += q[i];
    expected[1] += q[i] * values[i];
    size += PetscAbsScalar(q[i]);
  }
  PetscCall(DMVPatchDGEvaluate(dm, v[2], n, x, values));
  for (PetscInt i = 0; i < n; i++) expected[2] += q[i] * values[i];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, expected, 3, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(DMVPatchDGAddPointSources(dm, n, x, q, b));
  for (int i = 0; i < 3; i++) {
    PetscCall(VecDot(v[1], v[i], &before));
    PetscCall(VecDot(b, v[i], &product[i]));
    product[i] -= before + expected[i];
  }
  TapOk((PetscBool)(PetscAbsScalar(product[0]) < 1e-12 * size && PetscAbsScalar(product[1]) < 1e-12 * size &&
                    PetscAbsScalar(product[2]) < 1e-10 * size),
        "sources_are_the_transpose_of_values, %s: %.1e, %.1e, %.1e of %g", c->name, (double)PetscAbsScalar(product[0]),
        (double)PetscAbsScalar(product[1]), (double)PetscAbsScalar(product[2]), (double)size);
  for (int i = 0; i < 3; i++) PetscCall(VecDestroy(&v[i]));
  PetscCall(VecDestroy(&b));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between u = 0 at x = 0 and x = 1 the integral of u for a source at x is x (1 - x) / 2, which the space holds. */
static PetscErrorCode a_well_has_the_right_mean(void)
{
  const VPatchDGBoundary boundary[] = {VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN,
                                       VPATCHDG_BOUNDARY_NEUMANN};
  const PetscReal        x[2] = {0.3, 0.77};
  const PetscScalar      q = 2;
  PetscMPIInt            rank;
  PetscScalar            mean;
  DM                     dm;
  Problem                p;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 3, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(TestSolver(p.ksp, 1e-12, 40));
  PetscCall(VecZeroEntries(p.b));
  PetscCall(DMVPatchDGAddPointSources(p.dm, !rank, x, &q, p.b));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(DMVPatchDGIntegrate(p.dm, p.x, &mean));
  TapOk((PetscBool)(PetscAbsScalar(mean - 2 * 0.3 * 0.7 / 2) < 1e-10), "a_well_has_the_right_mean: %.12f", (double)PetscRealPart(mean));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode sources_that_all_ranks_give_are_warned_of(void)
{
  const PetscReal   x[4] = {0.5, 0.3, 0.6, 0.7};
  const PetscScalar q[2] = {1, -2};
  PetscMPIInt       size, rank;
  DM                dm;
  Vec               b;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(CaseCreate(&cases[0], &dm));
  PetscCall(DMCreateGlobalVector(dm, &b));
  for (int kind = 0; kind < 3; kind++) { /* the same on all ranks; on rank 0 alone; other ones on rank 0 */
    const PetscInt n = kind == 1 && rank ? 0 : kind == 2 && !rank ? 1 : 2;

    ListenBegin();
    PetscCall(DMVPatchDGAddPointSources(dm, n, x, q, b));
    PetscCall(ListenEnd(PETSC_COMM_WORLD));
    TapOk((PetscBool)(Said("ranks give the same sources") == (kind == 0 && size > 1)), "sources_that_all_ranks_give_are_warned_of, %d: %s",
          kind, FirstLine());
  }
  PetscCall(VecDestroy(&b));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_input_is_refused(void)
{
  DM                dm;
  Vec               b;
  const PetscReal   inside[2] = {0.5, 0.5}, outside[4] = {0.5, 0.5, 1.5, 0};
  const PetscScalar q[2] = {1, 1}, nan = NAN;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(&cases[0], &dm));
  PetscCall(DMCreateGlobalVector(dm, &b));
  Refused(DMVPatchDGAddPointSources(dm, 2, outside, q, b), "Point 1 of rank 0, (1.5, 0), lies outside", "a source outside");
  Refused(DMVPatchDGAddPointSources(dm, 1, inside, &nan, b), "no finite number", "a strength that is no number");
  Refused(DMVPatchDGAddPointSources(dm, 1, inside, NULL, b), "need points and strengths", "no strengths");
  PetscCall(VecDestroy(&b));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(sources_are_the_transpose_of_values(&cases[i]));
  PetscCall(a_well_has_the_right_mean());
  PetscCall(sources_that_all_ranks_give_are_warned_of());
  PetscCall(bad_input_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
