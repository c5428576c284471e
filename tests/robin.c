/* Robin boundaries, du/dn + alpha u = h, seen from PETSc: solutions that are known, what alpha does to constants, iterations. */
/* ranks: 1 2 4 */
#include "support/problem.h"
#include "support/refused.h"

static const PetscReal alphas[6] = {0.5, 20, 3, 1, 0.01, 100};

/* of degree 2 in every variable, and what a side of this normal is given: the derivative and, where the side is Robin, alpha u */
static PetscReal U(PetscInt dim, const PetscReal x[])
{
  return (1 + x[0] - x[0] * x[0]) * (2 - x[1] * x[1]) + (dim == 3 ? x[2] * x[2] * (1 + x[1]) - x[2] : 0);
}

static void Gradient(PetscInt dim, const PetscReal x[], PetscReal g[])
{
  g[0] = (1 - 2 * x[0]) * (2 - x[1] * x[1]);
  g[1] = -2 * x[1] * (1 + x[0] - x[0] * x[0]) + (dim == 3 ? x[2] * x[2] : 0);
  if (dim == 3) g[2] = 2 * x[2] * (1 + x[1]) - 1;
}

static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = U(dim, x);
  return 0;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 2 * (2 - x[1] * x[1]) + 2 * (1 + x[0] - x[0] * x[0]) - (dim == 3 ? 2 * (1 + x[1]) : 0);
  return 0;
}

/* ctx: VPatchDGBoundary[6] */
static PetscErrorCode Given(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  const VPatchDGBoundary *boundary = (const VPatchDGBoundary *)ctx;
  PetscReal               g[3];

  Gradient(dim, x, g);
  value[0] = 0;
  for (PetscInt d = 0; d < dim; d++) {
    const PetscInt side = 2 * d + (normal[d] > 0);

    value[0] += normal[d] * g[d];
    if (normal[d] != 0 && boundary[side] == VPATCHDG_BOUNDARY_ROBIN) value[0] += alphas[side] * U(dim, x);
  }
  return 0;
}

#define D VPATCHDG_BOUNDARY_DIRICHLET
#define N VPATCHDG_BOUNDARY_NEUMANN
#define P VPATCHDG_BOUNDARY_PERIODIC
#define R VPATCHDG_BOUNDARY_ROBIN
typedef struct {
  const char      *name;
  PetscInt         dim, degree, refine;
  VPatchDGDomain   domain;
  VPatchDGBoundary boundary[6];
  PetscInt         most; /* iterations of FGMRES for 1e-10 */
} Case;
static const Case cases[] = {{"square, all Robin", 2, 3, 3, VPATCHDG_DOMAIN_BOX, {R, R, R, R}, 6},
                             {"square, mixed", 2, 2, 3, VPATCHDG_DOMAIN_BOX, {R, N, D, R}, 7},
                             {"L-shape", 2, 4, 2, VPATCHDG_DOMAIN_LSHAPE, {R, R, N, R}, 7},
                             {"cube, mixed", 3, 2, 2, VPATCHDG_DOMAIN_BOX, {D, R, R, N, R, R}, 7},
                             {"Fichera", 3, 3, 1, VPATCHDG_DOMAIN_FICHERA, {R, R, R, R, R, R}, 7}};

static PetscErrorCode CaseCreate(const Case *c, Problem *p)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, c->degree, c->refine, &dm));
  PetscCall(DMVPatchDGSetDomain(dm, c->domain));
  if (c->domain == VPATCHDG_DOMAIN_BOX) PetscCall(DMVPatchDGSetGrid(dm, 1, 2, (PetscReal[]){0, 0.25, 1}));
  PetscCall(DMVPatchDGSetBoundary(dm, c->boundary));
  PetscCall(DMVPatchDGSetRobin(dm, alphas));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, p));
  PetscCall(KSPSetType(p->ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(p->ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 40));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a polynomial that the space holds is found, with functions and with values at points */
static PetscErrorCode polynomial_is_found(const Case *c, VPatchDGSpace space)
{
  Problem   p;
  PC        pc;
  PetscInt  its;
  PetscReal l2;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(c, &p));
  PetscCall(TestPC(p.ksp, &pc));
  PetscCall(PCVPatchDGSetSpace(pc, space));
  PetscCall(DMVPatchDGComputeRHS(p.dm, Source, Solution, Given, (void *)c->boundary, p.b));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(KSPGetIterationNumber(p.ksp, &its));
  PetscCall(DMVPatchDGComputeErrors(p.dm, p.x, Solution, NULL, NULL, &l2, NULL));
  TapOk((PetscBool)(l2 < 1e-8 && (space != VPATCHDG_SPACE_FULL || its <= c->most)),
        "polynomial_is_found, %s, space %s: error %.1e, %d iterations", c->name, VPatchDGSpaces[space], (double)l2, (int)its);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* right-hand sides from values at points are those from functions, Robin's data among those of Neumann sides */
static PetscErrorCode data_at_points_are_the_same(const Case *c)
{
  Problem      p;
  Vec          f, g[2], x, n;
  PetscReal    difference, norm;
  PetscInt     count;
  PetscScalar *v, *at, *normal;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(c, &p));
  PetscCall(DMVPatchDGComputeRHS(p.dm, Source, Solution, Given, (void *)c->boundary, p.b));
  PetscCall(VecDuplicate(p.b, &f));
  PetscCall(DMVPatchDGInterpolate(p.dm, Source, NULL, p.x));
  PetscCall(DMVPatchDGGetPointValues(p.dm, p.x, f));
  for (int kind = 0; kind < 2; kind++) {
    PetscCall(DMVPatchDGCreateBoundaryVector(p.dm, kind ? N : D, &g[kind]));
    PetscCall(DMVPatchDGGetBoundaryPoints(p.dm, kind ? N : D, &x, &n));
    PetscCall(VecGetLocalSize(g[kind], &count));
    PetscCall(VecGetArray(g[kind], &v));
    PetscCall(VecGetArray(x, &at));
    PetscCall(VecGetArray(n, &normal));
    for (PetscInt i = 0; i < count; i++) {
      if (kind) PetscCall(Given(c->dim, at + i * c->dim, normal + i * c->dim, v + i, (void *)c->boundary));
      else PetscCall(Solution(c->dim, at + i * c->dim, v + i, NULL));
    }
    PetscCall(VecRestoreArray(n, &normal));
    PetscCall(VecRestoreArray(x, &at));
    PetscCall(VecRestoreArray(g[kind], &v));
    PetscCall(VecDestroy(&n));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(DMVPatchDGComputeRHSFromPoints(p.dm, f, g[0], g[1], p.x));
  PetscCall(VecNorm(p.b, NORM_2, &norm));
  PetscCall(VecAXPY(p.x, -1, p.b));
  PetscCall(VecNorm(p.x, NORM_2, &difference));
  TapOk((PetscBool)(difference < 1e-12 * norm), "data_at_points_are_the_same, %s (%.1e)", c->name, (double)(difference / norm));
  for (int kind = 0; kind < 2; kind++) PetscCall(VecDestroy(&g[kind]));
  PetscCall(VecDestroy(&f));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (A 1, 1) is the sum over Robin sides of a alpha times their area */
static PetscErrorCode energy_of_a_constant(PetscInt dim)
{
  const VPatchDGBoundary boundary[6] = {R, N, R, R, N, R};
  const PetscReal        length[3] = {2, 3, 0.5}, a = 7;
  PetscReal              expected = 0, *coefficient;
  PetscScalar            energy;
  PetscInt               n;
  Problem                p;
  DM                     dm;
  Vec                    one;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 2, 2, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, NULL, NULL, length));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscCall(DMVPatchDGSetRobin(dm, alphas));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n + 1, &coefficient));
  for (PetscInt i = 0; i < n; i++) coefficient[i] = a;
  PetscCall(DMVPatchDGSetCoefficient(dm, coefficient));
  PetscCall(PetscFree(coefficient));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(VecDuplicate(p.b, &one));
  PetscCall(VecSet(p.x, 1));
  PetscCall(DMVPatchDGSetPointValues(dm, p.x, one));
  PetscCall(MatMult(p.A, one, p.b));
  PetscCall(VecDot(p.b, one, &energy));
  for (int side = 0; side < 2 * dim; side++) {
    PetscReal area = boundary[side] == R ? a * alphas[side] : 0;

    for (int d = 0; d < dim; d++) area *= d == side / 2 ? 1 : length[d];
    expected += area;
  }
  TapOk((PetscBool)(PetscAbsScalar(energy - expected) < 1e-11 * expected), "energy_of_a_constant, %dD: %g, not %g", (int)dim,
        (double)PetscRealPart(energy), (double)expected);
  PetscCall(VecDestroy(&one));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode alpha_is_shown_and_fixed(void)
{
  PetscReal got[4];
  PetscBool says;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-r_dm_vpatchdg_boundary robin,neumann,robin,robin -r_dm_vpatchdg_robin 0.5"));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  PetscCall(DMSetOptionsPrefix(dm, "r_"));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetRobin(dm, got));
  PetscCall(ViewSays((PetscObject)dm, "robin (alpha 0.5),neumann,robin (alpha 0.5),robin (alpha 0.5)\n", &says));
  TapOk((PetscBool)(says && got[0] == 0.5 && got[3] == 0.5), "alpha_is_shown_and_given_back");
  PetscCall(DMVPatchDGSetRobin(dm, got));
  Refused(DMVPatchDGSetRobin(dm, alphas), "after DMSetUp", "another alpha after set-up");
  PetscCall(DMDestroy(&dm));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  Refused(DMVPatchDGSetRobin(dm, (PetscReal[]){1, 1, -1, 1}), "alpha is positive", "negative alpha");
  Refused(DMVPatchDGGetRobin(dm, NULL), "Null pointer", "alpha is NULL");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(polynomial_is_found(&cases[i], VPATCHDG_SPACE_FULL));
    PetscCall(data_at_points_are_the_same(&cases[i]));
  }
  PetscCall(polynomial_is_found(&cases[0], VPATCHDG_SPACE_DIRICHLET));
  PetscCall(polynomial_is_found(&cases[4], VPATCHDG_SPACE_CLAMPED));
  for (PetscInt dim = 2; dim <= 3; dim++) PetscCall(energy_of_a_constant(dim));
  PetscCall(alpha_is_shown_and_fixed());
  PetscFunctionReturn(PETSC_SUCCESS);
}
