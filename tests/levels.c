/* Where levels live and how the coarsest is solved changes no result: gathered on fewer ranks, swept instead of solved by a KSP.
   ranks: 1 2 3 5 */
#include "support/tap.h"
#include "support/problem.h"
#include <vpatchdg.h>

typedef struct {
  const char *name, *options;
  PetscBool   coefficient;
  PetscReal   bound; /* on the solutions' difference: a small reaction lets a constant of rounding errors through */
} Case;

static const Case cases[] = {
  {"box", "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 3", PETSC_FALSE, 1e-8},
  {"grid of boxes", "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 4 -dm_vpatchdg_boxes 3,2,1 -dm_refine 2", PETSC_FALSE, 1e-8},
  {"grid of boxes, Neumann and periodic, reaction",
   "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 5 -dm_vpatchdg_boxes 3,4 -dm_vpatchdg_upper 3,2 -dm_refine 2 -dm_vpatchdg_reaction 10 "
   "-dm_vpatchdg_boundary neumann,dirichlet,periodic,periodic",
   PETSC_FALSE, 1e-8},
  {"grid of boxes, small reaction, Neumann",
   "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 4 -dm_vpatchdg_boxes 2,1,1 -dm_refine 2 -dm_vpatchdg_reaction 1e-6 -dm_vpatchdg_boundary "
   "neumann -pc_vpatchdg_precision double",
   PETSC_FALSE, 1e-4},
  {"grid of boxes, small reaction, periodic",
   "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_vpatchdg_boxes 4,3 -dm_vpatchdg_upper 4,3 -dm_refine 2 -dm_vpatchdg_reaction 1e-5 "
   "-dm_vpatchdg_boundary periodic -pc_vpatchdg_precision double",
   PETSC_FALSE, 1e-4},
  {"box, W cycle", "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 5 -pc_vpatchdg_cycle_type w -pc_vpatchdg_smooth_pre 1", PETSC_FALSE,
   1e-8},
  {"box, nested iteration", "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 5 -ksp_guess_type vpatchdg", PETSC_FALSE, 1e-8},
  {"grid of boxes, nested iteration, periodic, reaction",
   "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 4 -dm_vpatchdg_boxes 2,1,1 -dm_refine 2 -dm_vpatchdg_reaction 1 -dm_vpatchdg_boundary "
   "dirichlet,dirichlet,periodic,periodic,neumann,neumann -ksp_guess_type vpatchdg",
   PETSC_FALSE, 1e-8},
  {"box, periodic and Neumann",
   "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 4 -dm_vpatchdg_boundary neumann,dirichlet,periodic,periodic", PETSC_FALSE, 1e-8},
  {"box, jumping coefficient", "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 5", PETSC_TRUE, 1e-8},
  {"lshape", "-dm_vpatchdg_dim 2 -dm_vpatchdg_domain lshape -dm_vpatchdg_degree 3 -dm_refine 4", PETSC_FALSE, 1e-8},
  {"lshape, reaction, double",
   "-dm_vpatchdg_dim 2 -dm_vpatchdg_domain lshape -dm_vpatchdg_degree 2 -dm_refine 4 -dm_vpatchdg_reaction 100 -pc_vpatchdg_precision "
   "double",
   PETSC_FALSE, 1e-8},
  {"fichera", "-dm_vpatchdg_domain fichera -dm_vpatchdg_degree 2 -dm_refine 2", PETSC_FALSE, 1e-8},
};

static const char *const levels[] = {
  "-pc_vpatchdg_gather 0 -pc_vpatchdg_coarse ksp",
  "-pc_vpatchdg_gather 30 -pc_vpatchdg_coarse ksp",
  "-pc_vpatchdg_gather 100000 -pc_vpatchdg_coarse ksp",
  "-pc_vpatchdg_gather 0",
  "-pc_vpatchdg_gather 100000",
  "-pc_vpatchdg_gather 0 -pc_vpatchdg_coarse sweeps",
  "-pc_vpatchdg_gather 100000 -pc_vpatchdg_coarse sweeps",
};

/* 1 and 1000, along the coarsest cells of a box refined once */
static PetscReal Checkers(const PetscReal lower[], const PetscReal upper[], PetscReal parameter)
{
  return (lower[0] + upper[0] > 1) != (lower[1] + upper[1] > 1) ? 1000 : 1;
}

/* iterations, and the sum of f u: the same for the same solution */
static PetscErrorCode Solve(const Case *c, const char where[], PetscInt *its, PetscReal *energy)
{
  DM                 dm;
  KSP                ksp;
  Vec                b, x;
  KSPConvergedReason reason;
  PetscOptions       own;

  PetscFunctionBeginUser;
  PetscCall(TestOptionsPush(c->options, &own));
  PetscCall(PetscOptionsInsertString(own, where));
  PetscCall(PetscOptionsInsertString(own, "-ksp_type fgmres -ksp_rtol 1e-9 -pc_type vpatchdg"));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMVPATCHDG));
  PetscCall(UseTestBackend(dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  if (c->coefficient) PetscCall(SetCoefficient(dm, Checkers, 0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecDot(b, x, energy));
  if (reason < 0) *energy = 0;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&dm));
  PetscCall(TestOptionsPop(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscInt  its[2] = {0};
    PetscReal energy[2] = {0};

    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(levels); k++) {
      PetscCall(Solve(&cases[i], levels[k], &its[k > 0], &energy[k > 0]));
      if (k) {
        TapOk((PetscBool)(PetscAbsInt(its[1] - its[0]) <= 1 && PetscAbsReal(energy[1] - energy[0]) < cases[i].bound * energy[0]),
              "levels_change_no_result: %s, %s: %d iterations instead of %d", cases[i].name, levels[k], (int)its[1], (int)its[0]);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
