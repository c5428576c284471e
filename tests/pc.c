/* PCVPATCHDG and PCVPATCH as PETSc objects: when they are built anew, where they can be used, what they refuse.
   ranks: 1 2 3 4 */
#include "support/problem.h"
#include "support/refused.h"
#include "../src/petsc/pc/internal.h"

/* how often the PC was built since build number `before` */
static PetscErrorCode Builds(Problem *p, PetscInt before, PetscInt *builds)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(p->ksp, &pc));
  *builds = ((VpPCBase *)pc->data)->build - before;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Jump(const PetscReal lower[], const PetscReal upper[], PetscReal jump)
{
  return lower[0] > 0.49 ? jump : 1;
}

static PetscErrorCode reuse_and_changed_coefficient_work(const char ksp[])
{
  Problem   p;
  PetscReal residual;
  PetscInt  builds, its, first, before;
  PC        pc;
  char      options[256];

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 3, NULL, &p));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -ksp_rtol 1e-8 -pc_type vpatchdg", ksp));
  PetscCall(SolveWith(&p, options, &residual, &first, NULL));
  PetscCall(Builds(&p, 1, &before));
  PetscCall(SolveWith(&p, "", &residual, &its, NULL));
  PetscCall(Builds(&p, before, &builds));
  TapOk((PetscBool)(residual <= 1e-7 && its == first && builds == 1), "second_solve_builds_nothing: %s", ksp);

  PetscCall(SetCoefficient(p.dm, Jump, 100));
  PetscCall(SolveWith(&p, "", &residual, &its, NULL));
  PetscCall(Builds(&p, before, &builds));
  TapOk((PetscBool)(residual <= 1e-7 && its <= 12 && builds == 2),
        "changed_coefficient_builds_anew: %s, %" PetscInt_FMT " iterations, residual %.1e, %" PetscInt_FMT " builds", ksp, its,
        (double)residual, builds);

  PetscCall(KSPSetReusePreconditioner(p.ksp, PETSC_TRUE));
  PetscCall(SetCoefficient(p.dm, Jump, 50));
  PetscCall(SolveWith(&p, "-ksp_max_it 200", &residual, &its, NULL));
  PetscCall(Builds(&p, before, &builds));
  TapOk((PetscBool)(residual <= 1e-7 && builds == 2), "reused_preconditioner_is_left_alone: %s, residual %.1e", ksp, (double)residual);
  PetscCall(KSPSetReusePreconditioner(p.ksp, PETSC_FALSE));
  PetscCall(SolveWith(&p, "", &residual, &its, NULL));
  PetscCall(Builds(&p, before, &builds));
  TapOk((PetscBool)(residual <= 1e-7 && builds == 3), "preconditioner_not_reused_any_more_is_built: %s", ksp);

  PetscCall(PCVPatchDGSetPrecision(pc, VPATCHDG_PRECISION_AUTO));
  PetscCall(SolveWith(&p, "", NULL, NULL, NULL));
  PetscCall(Builds(&p, before, &first));
  PetscCall(PCVPatchDGSetPrecision(pc, VPATCHDG_PRECISION_DOUBLE));
  PetscCall(SolveWith(&p, "", &residual, &its, NULL));
  PetscCall(Builds(&p, before, &its));
  TapOk((PetscBool)(first == builds && its == builds + 1 && residual <= 1e-7), "changed_option_builds_anew: %s", ksp);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the guess works on the levels of the PC that is there now */
static PetscErrorCode guess_follows_a_new_pc(void)
{
  Problem   p;
  PetscReal residual;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 4, NULL, &p));
  PetscCall(SolveWith(&p, "-ksp_type richardson -ksp_rtol 1e-8 -ksp_guess_type vpatchdg -pc_type vpatchdg", &residual, NULL, NULL));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(PCVPatchDGSetLevels(pc, 2));
  PetscCall(SolveWith(&p, "", &residual, NULL, NULL));
  TapOk((PetscBool)(residual <= 1e-7), "guess_follows_a_new_pc: residual %.1e", (double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the cycle takes a scale and a positive shift as they are; nu falls with a reaction */
static PetscErrorCode scaled_and_shifted_matrix_is_solved(const char ksp[])
{
  Problem   p;
  PetscReal residual[3];
  PetscInt  its[3];
  char      options[256];

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 3, NULL, &p));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -ksp_rtol 1e-8 -pc_type vpatchdg -ksp_max_it 20", ksp));
  PetscCall(SolveWith(&p, options, &residual[0], &its[0], NULL));
  PetscCall(MatScale(p.A, 4));
  PetscCall(SolveWith(&p, "", &residual[1], &its[1], NULL));
  PetscCall(MatShift(p.A, 4e6));
  PetscCall(SolveWith(&p, "", &residual[2], &its[2], NULL));
  TapOk((PetscBool)(residual[1] <= 1e-7 && its[1] == its[0]), "scaled_matrix_is_solved: %s, %" PetscInt_FMT " iterations, residual %.1e",
        ksp, its[1], (double)residual[1]);
  TapOk((PetscBool)(residual[2] <= 1e-7 && its[2] < its[0]), "shifted_matrix_is_solved: %s, %" PetscInt_FMT " iterations, residual %.1e",
        ksp, its[2], (double)residual[2]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode reset_and_set_up_again(void)
{
  static const char *const types[] = {"vpatchdg", "vpatch"};

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    Problem   p, q;
    PetscReal before, after;
    PetscInt  its[2];
    char      options[64];
    PC        pc;

    PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
    PetscCall(ProblemCreate(PETSC_COMM_WORLD, 3, 2, 2, NULL, &q));
    PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type fgmres -ksp_rtol 1e-8 -pc_type %s", types[i]));
    PetscCall(SolveWith(&p, options, &before, &its[0], NULL));
    PetscCall(KSPGetPC(p.ksp, &pc));
    PetscCall(PCReset(pc));
    PetscCall(PCSetOperators(pc, p.A, p.A));
    PetscCall(SolveWith(&p, "", &after, &its[1], NULL));
    TapOk((PetscBool)(its[0] == its[1] && after <= 1e-7), "reset_and_set_up_again: %s", types[i]);
    PetscCall(KSPReset(p.ksp));
    PetscCall(KSPSetOperators(p.ksp, q.A, q.A));
    PetscCall(KSPSolve(p.ksp, q.b, q.x));
    PetscCall(TrueResidual(q.A, q.b, q.x, &after));
    TapOk((PetscBool)(after <= 1e-7), "reset_for_another_mesh: %s: %.1e", types[i], (double)after);
    PetscCall(ProblemDestroy(&p));
    PetscCall(ProblemDestroy(&q));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fail(PC pc)
{
  return PETSC_ERR_USER;
}

/* what was under way when a coarse solve failed, or was thought to be there, is not taken by later cycles */
static PetscErrorCode error_spoils_no_later_cycle(void)
{
  Problem        p;
  PC             pc, fails, keep;
  KSP            coarse;
  Mat            A;
  Vec            first, other;
  PetscErrorCode error;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 3, 3, 3, NULL, &p));
  PetscCall(ReadOptions(&p, "-pc_type vpatchdg -pc_vpatchdg_coarse ksp", PETSC_FALSE));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(VecDuplicate(p.x, &first));
  PetscCall(VecDuplicate(p.x, &other));
  PetscCall(MatMult(p.A, p.b, other));
  PetscCall(PCApply(pc, p.b, first));
  PetscCall(PCVPatchDGGetCoarseKSP(pc, &coarse));
  PetscCall(KSPGetPC(coarse, &keep));
  PetscCall(PetscObjectReference((PetscObject)keep));
  PetscCall(KSPGetOperators(coarse, &A, NULL));
  PetscCall(PCCreate(PetscObjectComm((PetscObject)coarse), &fails));
  PetscCall(PCSetType(fails, PCSHELL));
  PetscCall(PCShellSetSetUp(fails, Fail));
  PetscCall(PCSetOperators(fails, A, A));
  PetscCall(KSPSetPC(coarse, fails));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = PCApply(pc, other, p.x);
  PetscCall(PetscPopErrorHandler());
  PetscCall(KSPSetPC(coarse, keep));
  TapOk((PetscBool)(error != PETSC_SUCCESS), "coarse_error_is_reported");
  for (int again = 0; again < 2; again++) {
    PetscReal apart;

    PetscCall(PCApply(pc, p.b, p.x));
    PetscCall(Difference(p.x, first, &apart));
    TapOk((PetscBool)(apart <= 1e-5), "error_spoils_no_later_cycle: %.1e", (double)apart);
  }
  PetscCall(PCDestroy(&fails));
  PetscCall(PCDestroy(&keep));
  PetscCall(VecDestroy(&first));
  PetscCall(VecDestroy(&other));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* halves of the world solve different problems at the same time, and every rank one of its own, with prefixes */
static PetscErrorCode two_pcs_on_two_communicators(void)
{
  Problem       p, q;
  MPI_Comm      half;
  PetscMPIInt   rank;
  PetscReal     residual[2];
  VPatchDGSpace space[2];
  PC            pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, rank % 2, rank, &half));
  PetscCall(ProblemCreate(half, 2 + rank % 2, 3, 2, "half_", &p));
  PetscCall(ProblemCreate(PETSC_COMM_SELF, 2, 3, 2, "own_", &q));
  PetscCall(SolveWith(&p, "-half_ksp_type fgmres -half_ksp_rtol 1e-8 -half_pc_type vpatchdg", &residual[0], NULL, NULL));
  PetscCall(SolveWith(&q, "-own_ksp_type fgmres -own_ksp_rtol 1e-8 -own_pc_type vpatchdg -own_pc_vpatchdg_space dirichlet", &residual[1],
                      NULL, NULL));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PCVPatchDGGetSpace(pc, &space[0]));
  PetscCall(KSPGetPC(q.ksp, &pc));
  PetscCall(PCVPatchDGGetSpace(pc, &space[1]));
  TapOk((PetscBool)(residual[0] <= 1e-7 && residual[1] <= 1e-7), "two_pcs_on_two_communicators: %.1e, %.1e", (double)residual[0],
        (double)residual[1]);
  TapOk((PetscBool)(space[0] == VPATCHDG_SPACE_FULL && space[1] == VPATCHDG_SPACE_DIRICHLET), "prefixes_keep_options_apart");
  PetscCall(ProblemDestroy(&p));
  PetscCall(ProblemDestroy(&q));
  PetscCallMPI(MPI_Comm_free(&half));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fieldsplit_block_and_composite_work(void)
{
  static const char *const inner[] = {
    "-ksp_type fgmres -ksp_rtol 1e-8 -pc_type composite -pc_composite_type multiplicative -pc_composite_pcs vpatchdg,vpatch",
    "-ksp_type fgmres -ksp_rtol 1e-8 -pc_type ksp -ksp_ksp_type richardson -ksp_ksp_max_it 2 -ksp_pc_type vpatchdg"};
  Problem   p, q;
  Mat       blocks[4], A;
  Vec       x, b;
  KSP       ksp;
  PetscReal residual;
  PetscInt  its;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 2, 3, NULL, &q));
  for (int i = 0; i < 2; i++) {
    PetscCall(NewKSP(&p));
    PetscCall(SolveWith(&p, inner[i], &residual, &its, NULL));
    TapOk((PetscBool)(residual <= 1e-7 && its <= 4), "%s: residual %.1e after %" PetscInt_FMT " iterations",
          i ? "inner_ksp_works" : "composite_works", (double)residual, its);
  }
  blocks[0] = p.A;
  blocks[1] = blocks[2] = NULL;
  blocks[3] = q.A;
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, blocks, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  {
    Problem all = {NULL, A, b, x, ksp};
    IS      fields[2];
    PC      pc;

    PetscCall(MatNestGetISs(A, fields, NULL));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCFIELDSPLIT));
    PetscCall(PCFieldSplitSetIS(pc, "u", fields[0]));
    PetscCall(PCFieldSplitSetIS(pc, "v", fields[1]));
    PetscCall(SolveWith(
      &all,
      "-ksp_type fgmres -ksp_rtol 1e-8 -fieldsplit_u_ksp_type preonly -fieldsplit_u_pc_type vpatchdg -fieldsplit_v_ksp_type richardson "
      "-fieldsplit_v_ksp_max_it 1 -fieldsplit_v_pc_type vpatchdg -fieldsplit_v_pc_vpatchdg_precision double",
      &residual, &its, NULL));
  }
  TapOk((PetscBool)(residual <= 1e-7 && its <= 8), "fieldsplit_block_works: residual %.1e after %" PetscInt_FMT " iterations",
        (double)residual, its);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(ProblemDestroy(&p));
  PetscCall(ProblemDestroy(&q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpFails(Problem *p, const char options[], const char says[], const char what[])
{
  PetscFunctionBeginUser;
  PetscCall(ReadOptions(p, options, PETSC_FALSE));
  Refused(KSPSetUp(p->ksp), says, what);
  PetscCall(NewKSP(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode wrong_input_is_refused(void)
{
  static const struct {
    PetscInt    degree, refine;
    const char *options, *says;
  } cases[] = {
    {3, 2, "-pc_type vpatchdg -pc_vpatchdg_residual local", "-pc_vpatchdg_residual local does not exist with -pc_vpatchdg_space full"},
    {2, 2, "-pc_type vpatchdg -pc_vpatchdg_space clamped", "needs degree 3 or more"},
    {3, 0, "-pc_type vpatchdg", "-dm_refine 1"},
    {3, 2, "-pc_type vpatchdg -pc_vpatchdg_levels 3", "2 levels at most"},
    {3, 2, "-pc_type vpatchdg -pc_vpatchdg_symmetric -pc_vpatchdg_smooth_pre 0",
     "as many sweeps before as after the coarse correction, not 0 and 1: -pc_vpatchdg_smooth_pre 1 -pc_vpatchdg_smooth_post 1"},
    {3, 2, "-pc_type vpatchdg -pc_vpatchdg_symmetric -pc_vpatchdg_space dirichlet -pc_vpatchdg_residual local",
     "needs -pc_vpatchdg_residual exact"},
    {3, 2, "-pc_type vpatchdg -pc_vpatchdg_smooth_post 0", "without smoothing"},
    {3, 2, "-pc_type vpatch -pc_vpatch_residual local", "-pc_vpatch_residual local does not exist"},
    {1, 2, "-pc_type vpatch -pc_vpatch_space clamped", "needs degree 3 or more"},
    {3, 0, "-pc_type vpatch", "-dm_refine 1"},
  };
  Problem p;
  Mat     foreign;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, cases[i].degree, cases[i].refine, NULL, &p));
    PetscCall(SetUpFails(&p, cases[i].options, cases[i].says, cases[i].options));
    PetscCall(ProblemDestroy(&p));
  }
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 10, 10, 1, &foreign));
  PetscCall(KSPSetOperators(p.ksp, foreign, foreign));
  PetscCall(SetUpFails(&p, "-pc_type vpatchdg", "-pc_type vpatchdg", "foreign Pmat"));
  PetscCall(KSPSetOperators(p.ksp, foreign, foreign));
  PetscCall(SetUpFails(&p, "-pc_type vpatch", "-pc_type vpatch", "foreign Pmat"));
  PetscCall(MatDestroy(&foreign));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode view_shows_settings(void)
{
  static const char *const lines[] = {
    "W(1,2) cycle, patch space dirichlet, residual global, exchange color",
    "double precision",
    "-pc_vpatchdg_levels 2 -pc_vpatchdg_precision double -pc_vpatchdg_exchange color -pc_vpatchdg_coarse ksp -pc_vpatchdg_gather 0\n",
    "level 2: 64 cells (8 x 8), 1024 DoFs",
    "level 1: 16 cells (4 x 4), 256 DoFs, solved",
    "KSP Object: (vpatchdg_coarse_)"};
  Problem   p;
  PetscReal residual;
  PetscBool says;
  KSP       coarse;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 3, NULL, &p));
  PetscCall(SolveWith(&p,
                      "-ksp_type gmres -ksp_rtol 1e-8 -pc_type vpatchdg -pc_vpatchdg_space dirichlet -pc_vpatchdg_residual global "
                      "-pc_vpatchdg_smooth_pre 1 -pc_vpatchdg_smooth_post 2 "
                      "-pc_vpatchdg_cycle_type w -pc_vpatchdg_levels 2 -pc_vpatchdg_coarse ksp -pc_vpatchdg_gather 0 "
                      "-pc_vpatchdg_precision double -pc_vpatchdg_exchange color",
                      &residual, NULL, NULL));
  TapOk((PetscBool)(residual <= 1e-7), "levels_limit_the_cycle: residual %.1e", (double)residual);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(lines); i++) {
    PetscCall(ViewSays((PetscObject)p.ksp, lines[i], &says));
    TapOk(says, "view_shows_settings: %s", lines[i]);
  }
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PCVPatchDGGetCoarseKSP(pc, &coarse));
  TapOk((PetscBool)(coarse != NULL), "coarse_ksp_can_be_had");
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode symmetric_cycles_choose_their_sweeps(void)
{
  static const struct {
    const char *options, *says;
  } cases[] = {{"", "(0,1) cycle"},
               {"-pc_vpatchdg_symmetric", "(1,1) cycle"},
               {"-pc_vpatchdg_symmetric -pc_vpatchdg_smooth_post 2", "(2,2) cycle"},
               {"-pc_vpatchdg_symmetric -pc_vpatchdg_smooth_post 0", "(1,1) cycle"},
               {"-pc_vpatchdg_symmetric -pc_vpatchdg_smooth_pre 1", "(1,1) cycle"}};
  Problem   p;
  PetscBool says;
  char      options[256];
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 2, 2, NULL, &p));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type vpatchdg -ksp_type fgmres %s", cases[i].options));
    PetscCall(NewKSP(&p));
    PetscCall(SolveWith(&p, options, NULL, NULL, NULL));
    PetscCall(ViewSays((PetscObject)p.ksp, cases[i].says, &says));
    TapOk(says, "symmetric_cycles_choose_their_sweeps: %s has a %s", cases[i].options, cases[i].says);
  }
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PCVPatchDGSetSmooth(pc, PETSC_DECIDE, 1));
  PetscCall(PCVPatchDGSetSymmetric(pc, PETSC_FALSE));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(ViewSays((PetscObject)p.ksp, cases[0].says, &says));
  TapOk(says, "symmetric_cycles_choose_their_sweeps: no longer symmetric, it has a %s", cases[0].says);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(reuse_and_changed_coefficient_work("fgmres"));
  PetscCall(reuse_and_changed_coefficient_work("richardson"));
  PetscCall(scaled_and_shifted_matrix_is_solved("fgmres"));
  PetscCall(scaled_and_shifted_matrix_is_solved("richardson"));
  PetscCall(reset_and_set_up_again());
  PetscCall(error_spoils_no_later_cycle());
  PetscCall(two_pcs_on_two_communicators());
  PetscCall(fieldsplit_block_and_composite_work());
  PetscCall(wrong_input_is_refused());
  PetscCall(symmetric_cycles_choose_their_sweeps());
  PetscCall(guess_follows_a_new_pc());
  PetscCall(view_shows_settings());
  PetscFunctionReturn(PETSC_SUCCESS);
}
