/* The discretisation converges as it should, whatever the domain and the data on its boundary. */
/* ranks: 1 2 4 */
#include "support/problem.h"

/* u = sin(w.x + 0.4), -div(a grad u) + c u = (a |w|^2 + c) u */
typedef struct {
  PetscReal w[3], a, c;
} Wave;

static PetscReal Phase(PetscInt dim, const PetscReal x[], const Wave *wave)
{
  PetscReal phase = 0.4;

  for (PetscInt d = 0; d < dim; d++) phase += wave->w[d] * x[d];
  return phase;
}

static PetscErrorCode Exact(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  PetscFunctionBeginUser;
  value[0] = PetscSinReal(Phase(dim, x, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < dim; d++) value[d] = ((Wave *)ctx)->w[d] * PetscCosReal(Phase(dim, x, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Flux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  PetscFunctionBeginUser;
  value[0] = 0;
  for (PetscInt d = 0; d < dim; d++) value[0] += normal[d] * ((Wave *)ctx)->w[d] * PetscCosReal(Phase(dim, x, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  const Wave *wave = ctx;
  PetscReal   w2 = 0;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < dim; d++) w2 += wave->w[d] * wave->w[d];
  value[0] = (wave->a * w2 + wave->c) * PetscSinReal(Phase(dim, x, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char      *name;
  PetscInt         dim, degree, refine;
  VPatchDGDomain   domain;
  VPatchDGBoundary boundary[6];
  Wave             wave;
} Case;

#define D     VPATCHDG_BOUNDARY_DIRICHLET
#define N     VPATCHDG_BOUNDARY_NEUMANN
#define P     VPATCHDG_BOUNDARY_PERIODIC
#define ROUND (2 * PETSC_PI)
static const Case cases[] = {{"2D Dirichlet Q1", 2, 1, 3, VPATCHDG_DOMAIN_BOX, {D, D, D, D}, {{2, 1.5}, 1, 0}},
                             {"2D Dirichlet Q2", 2, 2, 3, VPATCHDG_DOMAIN_BOX, {D, D, D, D}, {{2, 1.5}, 1, 0}},
                             {"2D mixed, coefficient and reaction, Q3", 2, 3, 2, VPATCHDG_DOMAIN_BOX, {D, N, N, D}, {{3, 2}, 2.5, 4}},
                             {"2D Neumann Q2", 2, 2, 3, VPATCHDG_DOMAIN_BOX, {N, N, N, N}, {{2, 1.5}, 1, 0}},
                             {"2D periodic Q3", 2, 3, 3, VPATCHDG_DOMAIN_BOX, {P, P, P, P}, {{ROUND, ROUND}, 1, 0}},
                             {"2D half periodic Q4", 2, 4, 2, VPATCHDG_DOMAIN_BOX, {P, P, D, N}, {{ROUND, 2}, 1, 0}},
                             {"L-shape Dirichlet Q2", 2, 2, 2, VPATCHDG_DOMAIN_LSHAPE, {D, D, D, D}, {{2, 1.5}, 1, 0}},
                             {"L-shape mixed Q3", 2, 3, 2, VPATCHDG_DOMAIN_LSHAPE, {D, N, D, N}, {{2, 1.5}, 1, 0}},
                             {"3D Dirichlet Q2", 3, 2, 1, VPATCHDG_DOMAIN_BOX, {D, D, D, D, D, D}, {{2, 1.5, 1.2}, 1, 0}},
                             {"3D mixed Q3", 3, 3, 2, VPATCHDG_DOMAIN_BOX, {D, N, D, N, N, D}, {{2, 1.5, 1.2}, 1, 0}},
                             {"3D Neumann Q1", 3, 1, 2, VPATCHDG_DOMAIN_BOX, {N, N, N, N, N, N}, {{2, 1.5, 1.2}, 3, 0}},
                             {"3D periodic in y Q2", 3, 2, 2, VPATCHDG_DOMAIN_BOX, {D, N, P, P, N, N}, {{1, ROUND, 2}, 1, 0}},
                             {"Fichera Q1", 3, 1, 2, VPATCHDG_DOMAIN_FICHERA, {D, D, D, D, D, D}, {{1.2, 1, 0.8}, 1, 0}}};

/* x += c so that its mean is u's, where only the operator's null space is left open */
static PetscErrorCode FixMean(DM dm, Mat A, Wave *wave, Vec x)
{
  MatNullSpace nullspace;
  const Vec   *one;
  PetscScalar  dot;
  Vec          u;

  PetscFunctionBeginUser;
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (!nullspace) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(nullspace, NULL, NULL, &one));
  PetscCall(VecDuplicate(x, &u));
  PetscCall(DMVPatchDGInterpolate(dm, Exact, wave, u));
  PetscCall(VecAXPY(u, -1, x));
  PetscCall(VecDot(u, one[0], &dot));
  PetscCall(VecAXPY(x, dot, one[0]));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Case *c, PetscInt refine, PetscReal error[2])
{
  Wave       wave = c->wave;
  DM         dm;
  Mat        A;
  Vec        b, x;
  KSP        ksp;
  PC         pc;
  PetscInt   n;
  PetscReal *a;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, c->degree, refine, &dm));
  PetscCall(DMVPatchDGSetDomain(dm, c->domain));
  PetscCall(DMVPatchDGSetBoundary(dm, c->boundary));
  PetscCall(DMVPatchDGSetReaction(dm, wave.c));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = wave.a;
  if (wave.a != 1) PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscCall(DMSetMatType(dm, MATAIJ));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(DMVPatchDGComputeRHS(dm, Source, Exact, Flux, &wave, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 20000));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(FixMean(dm, A, &wave, x));
  PetscCall(DMVPatchDGComputeErrors(dm, x, Exact, Gradient, &wave, &error[0], &error[1]));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode errors_fall_like_h_to_k_plus_1(const Case *c)
{
  PetscReal coarse[2], fine[2], order[2];

  PetscFunctionBeginUser;
  PetscCall(Solve(c, c->refine - 1, coarse));
  PetscCall(Solve(c, c->refine, fine));
  for (int i = 0; i < 2; i++) order[i] = PetscLog2Real(coarse[i] / fine[i]);
  TapOk((PetscBool)(order[0] > c->degree + 0.7 && order[1] > c->degree - 0.3 && fine[0] < 0.1),
        "errors_fall_like_h_to_k_plus_1, %s: %.2f, %.2f", c->name, (double)order[0], (double)order[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(errors_fall_like_h_to_k_plus_1(&cases[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
