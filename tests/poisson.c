/* The example poisson with all its equations: errors fall at the best rate. */
/* ranks: 2 */
#include "support/backend.h"
#define main PoissonMain
int PoissonMain(int, char **);
#include "../examples/poisson.c"
#undef main

typedef struct {
  Figures   figures;
  PetscBool converged;
} Solved;

static PetscErrorCode Solve(const char options[], PetscBool smooth, Solved *s)
{
  Smooth             u = {.reaction = 0};
  PetscOptions       own;
  DM                 dm;
  Mat                A;
  Vec                b, x;
  KSP                ksp;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  *s = (Solved){.converged = PETSC_FALSE};
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 0, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(CreateSolver(dm, A, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-13, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(ComputeRHS(dm, A, &u, smooth, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  s->converged = (PetscBool)(reason > 0);
  PetscCall(Examine(dm, ksp, A, b, x, &u, smooth, &s->figures));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(TestOptionsPop(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* between meshes of the levels `refine` and `refine` + 1 */
static PetscErrorCode errors_fall_at_the_best_rate(PetscInt degree, PetscInt refine, const char domain[], const char boundary[],
                                                   PetscReal reaction)
{
  Solved    s[2];
  PetscReal rate[2];
  char      options[512];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; i++) {
    PetscCall(PetscSNPrintf(options, sizeof(options),
                            "-dm_vpatchdg_degree %d -dm_refine %d %s -dm_vpatchdg_boundary %s -dm_vpatchdg_reaction %g", (int)degree,
                            (int)(refine + i), domain, boundary, (double)reaction));
    PetscCall(Solve(options, PETSC_TRUE, &s[i]));
  }
  rate[0] = PetscLog2Real(s[0].figures.l2 / s[1].figures.l2);
  rate[1] = PetscLog2Real(s[0].figures.h1 / s[1].figures.h1);
  TapOk((PetscBool)(s[0].converged && s[1].converged && rate[0] > degree + 0.2 && rate[1] > degree - 0.8),
        "errors_fall_at_the_best_rate, %s: L2 error %.1e, rates %.2f, %.2f", options, (double)s[1].figures.l2, (double)rate[0],
        (double)rate[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode constant_has_a_known_functional(const char options[], PetscReal functional)
{
  Solved s;

  PetscFunctionBeginUser;
  PetscCall(Solve(options, PETSC_FALSE, &s));
  TapOk((PetscBool)(s.converged && PetscAbsReal(PetscRealPart(s.figures.functional) / functional - 1) < 1e-9),
        "constant_has_a_known_functional, %s: %.12f", options, (double)PetscRealPart(s.figures.functional));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const boundaries[] = {"dirichlet",
                                         "neumann",
                                         "robin -dm_vpatchdg_robin 0.5,1,20,3",
                                         "robin,neumann,dirichlet,robin",
                                         "periodic",
                                         "periodic,periodic,robin,neumann"};
static const char *const domains[] = {"-dm_vpatchdg_domain box", "-dm_vpatchdg_grid_x -1,0.2,1 -dm_vpatchdg_grid_y 0:3:2:1.2",
                                      "-dm_vpatchdg_domain lshape"};

static PetscErrorCode TwoDimensions(void)
{
  static const PetscInt refine[] = {4, 3, 3, 2, 2, 2, 1, 1};

  PetscFunctionBeginUser;
  for (PetscInt degree = 1; degree <= 8; degree++) {
    for (int domain = 0; domain < 3; domain++) {
      for (int b = 0; b < (domain == 2 ? 4 : 6); b++) {
        for (int reaction = 0; reaction < 2; reaction++)
          PetscCall(errors_fall_at_the_best_rate(degree, refine[degree - 1] - (domain > 0 && degree < 7), domains[domain], boundaries[b],
                                                 3 * reaction));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ThreeDimensions(void)
{
  static const char box[] = "-dm_vpatchdg_dim 3", fichera[] = "-dm_vpatchdg_domain fichera";

  PetscFunctionBeginUser;
  PetscCall(errors_fall_at_the_best_rate(2, 2, box, "robin,robin,robin,robin,periodic,periodic", 0));
  PetscCall(errors_fall_at_the_best_rate(2, 2, box, "robin,dirichlet,robin,neumann,neumann,robin -dm_vpatchdg_robin 1,2,3,4,5,6", 3));
  PetscCall(errors_fall_at_the_best_rate(2, 1, fichera, "neumann", 0));
  PetscCall(errors_fall_at_the_best_rate(2, 1, fichera, "robin -dm_vpatchdg_robin 1,2,3,4,5,6", 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(TwoDimensions());
  PetscCall(ThreeDimensions());
  /* u = x (1 - x) / 2 + 1 / (2 alpha), and u = 1 / c */
  PetscCall(constant_has_a_known_functional("-dm_refine 2 -dm_vpatchdg_boundary robin,robin,neumann,neumann -dm_vpatchdg_robin 2", 1. / 3));
  PetscCall(constant_has_a_known_functional("-dm_refine 2 -dm_vpatchdg_boundary neumann -dm_vpatchdg_reaction 4", 0.25));
  PetscFunctionReturn(PETSC_SUCCESS);
}
