/* PCVPATCHDG and PCVPATCH as linear maps: symmetry, adjoints, and the cycle against PCMG's.
   ranks: 1 2 3 4 */
#include "support/problem.h"

/* (M u, v) and (u, M v), or (u, M^T v) */
static PetscErrorCode Adjointness(Problem *p, const char options[], PetscBool transpose, PetscReal *error)
{
  PC          pc;
  Vec         Mu, Mv, v;
  PetscScalar left, right;
  PetscReal   norm[2];

  PetscFunctionBeginUser;
  PetscCall(NewKSP(p));
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(ReadOptions(p, options, PETSC_FALSE));
  PetscCall(VecDuplicate(p->b, &Mu));
  PetscCall(VecDuplicate(p->b, &Mv));
  PetscCall(VecDuplicate(p->b, &v));
  PetscCall(VecPointwiseMult(v, p->b, p->b));
  PetscCall(PCApply(pc, p->b, Mu));
  if (transpose) PetscCall(PCApplyTranspose(pc, v, Mv));
  else PetscCall(PCApply(pc, v, Mv));
  PetscCall(VecDot(Mu, v, &left));
  PetscCall(VecDot(p->b, Mv, &right));
  PetscCall(VecNorm(Mu, NORM_2, &norm[0]));
  PetscCall(VecNorm(v, NORM_2, &norm[1]));
  *error = PetscAbsScalar(left - right) / (norm[0] * norm[1]);
  PetscCall(VecDestroy(&Mu));
  PetscCall(VecDestroy(&Mv));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a cube or, with a re-entrant corner, an L-shape or Fichera's domain */
static PetscErrorCode SmallProblem(PetscInt dim, PetscBool corner, Problem *p)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 3, corner ? 4 - dim : 5 - dim, &dm));
  if (corner) PetscCall(DMVPatchDGSetDomain(dm, dim == 2 ? VPATCHDG_DOMAIN_LSHAPE : VPATCHDG_DOMAIN_FICHERA));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With one exchange a sweep, a rank's own cells and its copies of others' differ slightly: the adjoint is exact with an exchange every
   colour. */
static PetscErrorCode symmetric_cycle_is_symmetric(void)
{
  static const char *const cycles[] = {
    "-pc_vpatchdg_symmetric", "-pc_vpatchdg_symmetric -pc_vpatchdg_smooth_pre 2 -pc_vpatchdg_smooth_post 2 -pc_vpatchdg_cycle_type w",
    "-pc_vpatchdg_symmetric -pc_vpatchdg_space dirichlet", "-pc_vpatchdg_symmetric -pc_vpatchdg_space clamped -pc_vpatchdg_residual local",
    "-pc_vpatchdg_symmetric -pc_vpatchdg_residual global"};
  static const char *const transposed[] = {"-pc_type vpatchdg -pc_vpatchdg_smooth_pre 0",
                                           "-pc_type vpatchdg -pc_vpatchdg_smooth_pre 2 -pc_vpatchdg_cycle_type w",
                                           "-pc_type vpatchdg -pc_vpatchdg_cycle_type f",
                                           "-pc_type vpatchdg -pc_vpatchdg_space dirichlet",
                                           "-pc_type vpatch",
                                           "-pc_type vpatch -pc_vpatch_reverse -pc_vpatch_space dirichlet"};

  PetscFunctionBeginUser;
  for (int domain = 0; domain < 4; domain++) {
    const PetscInt    dim = 2 + domain % 2;
    const char *const name = domain < 2 ? "" : ", re-entrant corner";
    Problem           p;

    PetscCall(SmallProblem(dim, (PetscBool)(domain >= 2), &p));
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cycles); i++) {
      char      options[256];
      PetscReal error;

      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type vpatchdg -pc_vpatchdg_precision double -pc_vpatchdg_exchange color %s",
                              cycles[i]));
      PetscCall(Adjointness(&p, options, PETSC_FALSE, &error));
      TapOk((PetscBool)(error <= 1e-11), "symmetric_cycle_is_symmetric: %" PetscInt_FMT "D%s %s: %.1e", dim, name, cycles[i],
            (double)error);
    }
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(transposed); i++) {
      char        options[256];
      PetscReal   error;
      PetscMPIInt size;

      PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
      if (size > 1 && i >= 3) continue; /* vpatch may exchange every sweep */
      PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_vpatchdg_precision double -pc_vpatchdg_exchange color", transposed[i]));
      PetscCall(Adjointness(&p, options, PETSC_TRUE, &error));
      TapOk((PetscBool)(error <= 1e-11), "transpose_is_adjoint: %" PetscInt_FMT "D%s %s: %.1e", dim, name, transposed[i], (double)error);
    }
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define MG     "-ksp_type preonly -pc_type mg -mg_coarse_ksp_type preonly -mg_coarse_pc_type vpatchdg -mg_coarse_pc_vpatchdg_precision double "
#define NATIVE "-ksp_type preonly -pc_type vpatchdg -pc_vpatchdg_precision double "
static PetscErrorCode vpatch_in_pcmg_equals_native_cycle(void)
{
  static const struct {
    const char *name, *mg, *native;
  } cycles[] = {
    {"V(1,1)", MG "-mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type vpatch", NATIVE "-pc_vpatchdg_smooth_pre 1"},
    {"V(0,1)",
     MG "-pc_mg_distinct_smoothup -mg_levels_ksp_type richardson -mg_levels_pc_type vpatch -mg_levels_ksp_max_it 0 -mg_levels_up_ksp_type "
        "richardson -mg_levels_up_pc_type vpatch "
        "-mg_levels_up_ksp_max_it 1",
     NATIVE},
    {"V(2,2) dirichlet",
     MG "-mg_levels_ksp_type richardson -mg_levels_ksp_max_it 2 -mg_levels_pc_type vpatch -mg_levels_pc_vpatch_space dirichlet",
     NATIVE "-pc_vpatchdg_smooth_pre 2 -pc_vpatchdg_smooth_post 2 -pc_vpatchdg_space dirichlet"},
  };

  PetscFunctionBeginUser;
  for (PetscInt dim = 2; dim <= 3; dim++) {
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cycles); i++) {
      Problem   p;
      Vec       x;
      PetscReal difference;
      char      options[1024];

      PetscCall(ProblemCreate(PETSC_COMM_WORLD, dim, 3, 6 - dim, NULL, &p));
      PetscCall(VecDuplicate(p.x, &x));
      PetscCall(GiveLevels(&p));
      PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_mg_levels %d", cycles[i].mg, (int)(6 - dim)));
      PetscCall(SolveWith(&p, options, NULL, NULL, NULL));
      PetscCall(VecCopy(p.x, x));
      PetscCall(NewKSP(&p));
      PetscCall(SolveWith(&p, cycles[i].native, NULL, NULL, NULL));
      PetscCall(Difference(x, p.x, &difference));
      TapOk((PetscBool)(difference <= 1e-12), "vpatch_in_pcmg_equals_native_cycle: %" PetscInt_FMT "D %s: %.1e", dim, cycles[i].name,
            (double)difference);
      PetscCall(VecDestroy(&x));
      PetscCall(ProblemDestroy(&p));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A patch of 2^dim boxes is all there is, and a sweep its inverse. Larger grids are solved in as many steps as a box of as many cells. */
static PetscErrorCode boxes_of_one_cell_have_patches(PetscInt dim)
{
  PetscReal residual;
  PetscInt  its[2];

  PetscFunctionBeginUser;
  for (PetscInt n = 2; n <= 4; n += 2) {
    for (int refined = 0; refined < (n == 2 ? 1 : 2); refined++) {
      const PetscInt boxes = refined ? 1 : n;
      Problem        p;
      DM             dm;

      PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 3, refined ? 2 : 0, &dm));
      PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){boxes, boxes, boxes}, NULL, (PetscReal[]){1, 1, 1}));
      PetscCall(DMSetUp(dm));
      PetscCall(ProblemOf(dm, NULL, &p));
      PetscCall(SolveWith(&p, n == 2 ? "-ksp_type preonly -pc_type vpatch" : "-ksp_type fgmres -ksp_rtol 1e-8 -pc_type vpatch", &residual,
                          &its[refined], NULL));
      PetscCall(ProblemDestroy(&p));
      TapOk((PetscBool)(residual <= (n == 2 ? 1e-11 : 1e-7)), "boxes_of_one_cell_have_patches: %" PetscInt_FMT "D, %d boxes a side: %.1e",
            dim, (int)boxes, (double)residual);
    }
  }
  TapOk((PetscBool)(PetscAbs(its[0] - its[1]) <= 2),
        "boxes_of_one_cell_take_as_many_steps: %" PetscInt_FMT "D, %" PetscInt_FMT ", refined %" PetscInt_FMT, dim, its[0], its[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(symmetric_cycle_is_symmetric());
  PetscCall(vpatch_in_pcmg_equals_native_cycle());
  for (PetscInt dim = 2; dim <= 3; dim++) PetscCall(boxes_of_one_cell_have_patches(dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}
