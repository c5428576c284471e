/* KSPRICHARDSON with PCVPATCHDG means the same whether refinement is fused (PCApplyRichardson()) or PETSc's own loop runs, which a monitor,
   a scale or a null space make it do. ranks: 1 2 4 */
#include "support/problem.h"

#define MOST 64

static const char refine[] = "-ksp_type richardson -pc_type vpatchdg";

typedef struct {
  KSPConvergedReason reason;
  PetscInt           its, n;
  PetscReal          norm, history[MOST];
  PetscBool          fused;
  Vec                x;
} Run;

static PetscErrorCode Monitor(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  PetscFunctionBeginUser;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own loop calls PCApply() */
static PetscErrorCode Applications(int *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("PCApply", &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum { FUSED, MONITORED, SCALED } Way;
static const char *const ways[] = {"fused", "monitored", "scaled"};

/* solves from the vector `guess` (NULL: from 0), the KSP's operator being A (NULL: the problem's) */
static PetscErrorCode Refine(Problem *p, const char options[], Way way, Mat A, Vec guess, Run *run)
{
  char all[256];
  int  before, after;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), "%s %s -vpatchdg_warnings 0", refine, options));
  PetscCall(NewKSP(p));
  if (A) PetscCall(KSPSetOperators(p->ksp, A, p->A));
  PetscCall(KSPSetType(p->ksp, KSPRICHARDSON));
  if (way == MONITORED) PetscCall(KSPMonitorSet(p->ksp, Monitor, NULL, NULL));
  if (way == SCALED) PetscCall(KSPRichardsonSetScale(p->ksp, 1 + 1e-14));
  if (guess) PetscCall(VecCopy(guess, p->x));
  if (guess) PetscCall(KSPSetInitialGuessNonzero(p->ksp, PETSC_TRUE));
  PetscCall(KSPSetResidualHistory(p->ksp, run->history, MOST, PETSC_TRUE));
  PetscCall(Applications(&before));
  PetscCall(SolveWith(p, all, NULL, &run->its, &run->reason));
  PetscCall(Applications(&after));
  run->fused = (PetscBool)(after == before);
  PetscCall(KSPGetResidualHistory(p->ksp, NULL, &run->n));
  PetscCall(KSPGetResidualNorm(p->ksp, &run->norm));
  PetscCall(VecDuplicate(p->x, &run->x));
  PetscCall(VecCopy(p->x, run->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* close: how far rounding errors may bring solutions and histories apart, relative to the first residual */
static PetscErrorCode CheckSame(const Run *a, const Run *b, PetscReal close, const char what[])
{
  PetscReal       difference, worst = 0;
  const PetscReal first = a->history[0] > 0 ? a->history[0] : 1;

  PetscFunctionBeginUser;
  PetscCall(Difference(a->x, b->x, &difference));
  for (PetscInt i = 0; i < PetscMin(a->n, b->n); i++) worst = PetscMax(worst, PetscAbsReal(a->history[i] - b->history[i]) / first);
  worst = PetscMax(worst, PetscAbsReal(a->norm - b->norm) / first);
  TapOk((PetscBool)(a->its == b->its && a->reason == b->reason && a->n == b->n && difference <= close && worst <= close),
        "%s: %s and %s after %" PetscInt_FMT " and %" PetscInt_FMT " iterations, %" PetscInt_FMT " and %" PetscInt_FMT
        " norms; solutions differ by %.1e, norms by %.1e",
        what, KSPConvergedReasons[a->reason], KSPConvergedReasons[b->reason], a->its, b->its, a->n, b->n, (double)difference,
        (double)worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char        *options;
  PetscReal          scale; /* of the KSP's operator, not of the preconditioner's */
  PetscReal          guess; /* of every coefficient of x, 0: none */
  PetscBool          fuses;
  KSPConvergedReason reason;
} Case;

static const Case cases[] = {
  {"-ksp_rtol 1e-9", 1, 0, PETSC_TRUE, KSP_CONVERGED_RTOL},
  {"-ksp_rtol 1e-9 -ksp_norm_type unpreconditioned", 1, 0, PETSC_TRUE, KSP_CONVERGED_RTOL},
  {"-ksp_rtol 1e-9 -pc_vpatchdg_precision double", 1, 0, PETSC_TRUE, KSP_CONVERGED_RTOL},
  {"-ksp_rtol 1e-9 -ksp_norm_type preconditioned", 1, 0, PETSC_FALSE, KSP_CONVERGED_RTOL},
  {"-ksp_rtol 1e-9", 1, 1e-3, PETSC_TRUE, KSP_CONVERGED_RTOL},
  {"-ksp_rtol 1e-9 -ksp_converged_use_initial_residual_norm", 1, 1e-3, PETSC_TRUE, KSP_CONVERGED_RTOL},
  {"-ksp_rtol 1e-9 -ksp_converged_use_min_initial_residual_norm", 1, 1e-3, PETSC_TRUE, KSP_CONVERGED_RTOL},
  {"-ksp_rtol 1e-9 -ksp_norm_type preconditioned", 1, 1e-3, PETSC_FALSE, KSP_CONVERGED_RTOL},
  {"-ksp_rtol 1e-14 -ksp_atol 1e-3 -ksp_max_it 20", 1, 0, PETSC_TRUE, KSP_CONVERGED_ATOL},
  {"-ksp_rtol 1e-14 -ksp_atol 1e-3 -ksp_max_it 20", 1, 1e-3, PETSC_TRUE, KSP_CONVERGED_ATOL},
  {"-ksp_rtol 1e-9 -ksp_max_it 2", 1, 0, PETSC_TRUE, KSP_DIVERGED_ITS},
  {"-ksp_rtol 1e-9 -ksp_max_it 2 -ksp_converged_maxits", 1, 0, PETSC_TRUE, KSP_CONVERGED_ITS},
  {"-ksp_convergence_test skip -ksp_max_it 3", 1, 0, PETSC_TRUE, KSP_CONVERGED_ITS},
  {"-ksp_norm_type none -ksp_max_it 2", 1, 0, PETSC_TRUE, KSP_CONVERGED_ITS},
  {"-ksp_norm_type none -ksp_max_it 2", 1, 1e-3, PETSC_TRUE, KSP_CONVERGED_ITS},
  {"-ksp_rtol 1e-2 -ksp_check_norm_iteration 2", 1, 0, PETSC_TRUE, KSP_CONVERGED_RTOL},
  {"-ksp_divtol 2", 1, 1, PETSC_TRUE, KSP_DIVERGED_DTOL},
  {"-ksp_divtol 1e4", 10, 0, PETSC_TRUE, KSP_DIVERGED_DTOL},
};

static PetscErrorCode richardson_means_one_thing(const Case *c)
{
  const PetscReal close = strstr(c->options, "double") ? 1e-12 : c->scale != 1 ? 1e-2 : 1e-6;
  Problem         p;
  Mat             A;
  Vec             guess;
  Run             run[3];

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 3, 3, 2, NULL, &p));
  PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &A));
  PetscCall(MatScale(A, c->scale));
  PetscCall(VecDuplicate(p.x, &guess));
  PetscCall(VecSet(guess, c->guess));
  for (Way way = FUSED; way <= SCALED; way++)
    PetscCall(Refine(&p, c->options, way, c->scale != 1 ? A : NULL, c->guess != 0 ? guess : NULL, &run[way]));
  TapOk((PetscBool)(run[FUSED].reason == c->reason &&
                    (run[FUSED].its == 0 || (run[FUSED].fused == c->fuses && !run[MONITORED].fused && !run[SCALED].fused))),
        "refinement_is_fused, unless monitored or scaled: %s: %s", c->options, run[FUSED].fused ? "it is" : "it is not");
  for (Way way = MONITORED; way <= SCALED; way++) {
    char what[256];

    PetscCall(PetscSNPrintf(what, sizeof(what), "richardson_means_one_thing: %s, A x %d%s, %s", c->options, (int)c->scale,
                            c->guess != 0 ? ", a guess" : "", ways[way]));
    PetscCall(CheckSame(&run[FUSED], &run[way], close, what));
  }
  for (Way way = FUSED; way <= SCALED; way++) PetscCall(VecDestroy(&run[way].x));
  PetscCall(VecDestroy(&guess));
  PetscCall(MatDestroy(&A));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the norm is that of b - A x, the first that of b; it reaches its tolerance; all in the history */
static PetscErrorCode norms_are_true_residuals(const char precision[])
{
  Problem   p;
  Run       run;
  PetscReal residual, b;
  char      options[128];

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 3, 3, 2, NULL, &p));
  PetscCall(VecNorm(p.b, NORM_2, &b));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_rtol 1e-9 -pc_vpatchdg_precision %s", precision));
  for (Way way = FUSED; way <= SCALED; way++) {
    PetscCall(Refine(&p, options, way, NULL, NULL, &run));
    PetscCall(TrueResidual(p.A, p.b, run.x, &residual));
    TapOk((PetscBool)(residual <= 1e-9 && run.n == run.its + 1), "refinement_reaches_its_tolerance: %s, %s, %.1e", precision, ways[way],
          (double)residual);
    TapOk((PetscBool)(PetscAbsReal(run.history[0] - b) <= 1e-12 * b && PetscAbsReal(run.norm - residual * b) <= 1e-13 * b &&
                      run.norm == run.history[run.n - 1]),
          "norms_are_true_residuals: %s, %s", precision, ways[way]);
    PetscCall(VecDestroy(&run.x));
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a matrix that tells its null space keeps PETSc from fusing; one that does not, and a b without a part in it, are the same problem */
static PetscErrorCode null_space_changes_nothing(void)
{
  const VPatchDGBoundary neumann[] = {VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN,
                                      VPATCHDG_BOUNDARY_NEUMANN};
  Problem                p;
  DM                     dm;
  MatNullSpace           constants;
  Run                    run[2];

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 3, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, neumann));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(MatGetNullSpace(p.A, &constants));
  PetscCall(PetscObjectReference((PetscObject)constants));
  PetscCall(MatNullSpaceRemove(constants, p.b));
  PetscCall(Refine(&p, "-ksp_rtol 1e-9", FUSED, NULL, NULL, &run[1]));
  PetscCall(MatSetNullSpace(p.A, NULL));
  PetscCall(Refine(&p, "-ksp_rtol 1e-9", FUSED, NULL, NULL, &run[0]));
  TapOk((PetscBool)(run[0].fused && !run[1].fused), "refinement_is_fused, unless there is a null space");
  for (int i = 0; i < 2; i++) PetscCall(MatNullSpaceRemove(constants, run[i].x));
  PetscCall(CheckSame(&run[0], &run[1], 1e-6, "null_space_changes_nothing"));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&run[i].x));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode edges_of_refinement(void)
{
  Problem   p;
  Run       run;
  PetscReal norm;
  Vec       good;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 3, 3, 2, NULL, &p));
  for (Way way = FUSED; way <= MONITORED; way++) {
    PetscCall(VecSetRandom(p.b, NULL));
    PetscCall(Refine(&p, "-ksp_rtol 1e-9", way, NULL, NULL, &run));
    good = run.x;
    PetscCall(Refine(&p, "-ksp_rtol 1e-7", way, NULL, good, &run));
    TapOk((PetscBool)(run.its == 0 && run.reason == KSP_CONVERGED_RTOL), "refinement_leaves_a_good_guess_alone: %s", ways[way]);
    PetscCall(VecDestroy(&run.x));
    PetscCall(Refine(&p, "-ksp_norm_type none -ksp_max_it 2", way, NULL, NULL, &run));
    PetscCall(TrueResidual(p.A, p.b, run.x, &norm));
    TapOk((PetscBool)(run.its == 2 && norm < 0.1), "refinement_without_norms_does_all_iterations: %s, residual %.1e", ways[way],
          (double)norm);
    PetscCall(VecDestroy(&run.x));
    PetscCall(VecZeroEntries(p.b));
    PetscCall(VecSetRandom(p.x, NULL));
    PetscCall(Refine(&p, "", way, NULL, NULL, &run));
    PetscCall(VecNorm(run.x, NORM_2, &norm));
    TapOk((PetscBool)(run.its == 0 && run.reason > 0 && norm == 0), "refinement_of_nothing_is_nothing: %s", ways[way]);
    PetscCall(VecDestroy(&run.x));
    PetscCall(VecDestroy(&good));
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCApplyRichardson() without a KSP: tolerances refer to the first residual */
static PetscErrorCode refinement_without_a_ksp(void)
{
  Problem                     p;
  PC                          pc;
  Vec                         w;
  PetscInt                    its;
  PetscReal                   residual;
  PCRichardsonConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 3, 3, 2, NULL, &p));
  PetscCall(TestPC(p.ksp, &pc));
  PetscCall(PCVPatchDGSetLevels(pc, 0));
  PetscCall(PCSetUp(pc));
  PetscCall(VecDuplicate(p.b, &w));
  PetscCall(PCApplyRichardson(pc, p.b, p.x, w, 1e-8, 0, 1e5, 20, PETSC_TRUE, &its, &reason));
  PetscCall(TrueResidual(p.A, p.b, p.x, &residual));
  TapOk((PetscBool)(reason == PCRICHARDSON_CONVERGED_RTOL && residual <= 1e-8 && its <= 6),
        "refinement_without_a_ksp: %" PetscInt_FMT " iterations, residual %.1e", its, (double)residual);
  PetscCall(PCApplyRichardson(pc, p.b, p.x, w, 1e-8, 0, 1e5, 2, PETSC_TRUE, &its, &reason));
  TapOk((PetscBool)((KSPConvergedReason)reason == KSP_DIVERGED_ITS && its == 2), "refinement_without_a_ksp: at most so many iterations");
  PetscCall(VecDestroy(&w));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(richardson_means_one_thing(&cases[i]));
  PetscCall(norms_are_true_residuals("single"));
  PetscCall(norms_are_true_residuals("double"));
  PetscCall(null_space_changes_nothing());
  PetscCall(edges_of_refinement());
  PetscCall(refinement_without_a_ksp());
  PetscFunctionReturn(PETSC_SUCCESS);
}
