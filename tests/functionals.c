/* (f, u_h) for f = 1, zero Dirichlet data, against values computed independently, and the true residual at convergence.
   ranks: 1 3 */
#include "support/backend.h"

typedef struct {
  const char *domain;
  PetscInt    dim, degree, refine;
  PetscReal   functional;
} Case;

static const Case cases[] = {
  {"box", 2, 3, 3, 3.514424427023e-02},
  {"lshape", 2, 2, 3, 2.140953464086e-01},
  {"box", 3, 2, 2, 2.016504851432e-02},
  {"fichera", 3, 2, 1, 3.984905749236e-01},
};

typedef struct {
  const char *name, *ksp, *precision, *symmetric, *smooth, *norm;
} Solver;

static const Solver solvers[] = {
  {"FGMRES", "fgmres", "single", "0", "0", "unpreconditioned"},
  {"FGMRES", "fgmres", "double", "0", "0", "unpreconditioned"},
  {"refinement", "richardson", "single", "0", "0", "default"},
  {"refinement", "richardson", "double", "0", "0", "default"},
  {"CG", "cg", "single", "1", "1", "unpreconditioned"},
  {"CG", "cg", "double", "1", "1", "unpreconditioned"},
  {"GMRES on the right", "gmres", "double", "0", "0", "unpreconditioned"},
};

static PetscErrorCode SetInt(const char name[], PetscInt value)
{
  char text[16];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof(text), "%d", (int)value));
  PetscCall(PetscOptionsSetValue(NULL, name, text));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode SetOptions(const Case *c, const Solver *s)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-dm_vpatchdg_domain", c->domain));
  PetscCall(SetInt("-dm_vpatchdg_dim", c->dim));
  PetscCall(SetInt("-dm_vpatchdg_degree", c->degree));
  PetscCall(SetInt("-dm_refine", c->refine));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_type", "vpatchdg"));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_vpatchdg_precision", s->precision));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_vpatchdg_symmetric", s->symmetric));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_vpatchdg_smooth_pre", s->smooth));
  PetscCall(PetscOptionsSetValue(NULL, "-ksp_type", s->ksp));
  PetscCall(PetscOptionsClearValue(NULL, "-ksp_norm_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-ksp_pc_side"));
  if (strcmp(s->norm, "default")) PetscCall(PetscOptionsSetValue(NULL, "-ksp_norm_type", s->norm));
  if (!strcmp(s->ksp, "gmres")) PetscCall(PetscOptionsSetValue(NULL, "-ksp_pc_side", "right"));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* solves to rtol; functional: b.x; residual: |b - A x| / |b| */
static PetscErrorCode Solve(PetscReal rtol, PetscScalar *functional, PetscReal *residual)
{
  DM        dm;
  KSP       ksp;
  Mat       A;
  Vec       x, b, r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMVPATCHDG));
  PetscCall(UseTestBackend(dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDot(b, x, functional));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn((PetscErrorCode)0);
}

TAP_MAIN()
{
  PetscScalar functional;
  PetscReal   residual;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    const Case *c = &cases[i];

    PetscCall(SetOptions(c, &solvers[0]));
    PetscCall(Solve(1e-12, &functional, &residual));
    TapOk((PetscBool)(PetscAbsReal(PetscRealPart(functional) - c->functional) <= 1e-10 * c->functional),
          "functional_is_right: %s %dD Q%d n=%d: %.12e, reference %.12e", c->domain, (int)c->dim, (int)c->degree, (int)c->refine,
          (double)PetscRealPart(functional), (double)c->functional);
    for (size_t j = 0; j < PETSC_STATIC_ARRAY_LENGTH(solvers); j++) {
      const Solver *s = &solvers[j];

      PetscCall(SetOptions(c, s));
      PetscCall(Solve(1e-8, &functional, &residual));
      TapOk((PetscBool)(residual <= 1e-7), "true_residual_is_reached: %s, %s, %s %dD Q%d: %.1e", s->name, s->precision, c->domain,
            (int)c->dim, (int)c->degree, (double)residual);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
