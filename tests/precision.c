/* -pc_vpatchdg_precision auto: which precision a KSP gets, wherever it stands.
   ranks: 1 2 */
#include "support/problem.h"
#include "support/said.h"
#include "support/refused.h"
#include "../src/petsc/pc/internal.h"
#include <petscsnes.h>

#define VP        "-pc_type vpatchdg "
#define SYMMETRIC "-pc_vpatchdg_symmetric "

static PC_VPatchDG *DataOf(PC pc)
{
  return (PC_VPatchDG *)pc->data;
}

static PC PCOf(KSP ksp)
{
  PC pc;

  PetscCallAbort(PETSC_COMM_WORLD, KSPGetPC(ksp, &pc));
  return pc;
}

/* the PC is built in this precision */
static PetscBool Runs(PC pc, VpPrecision precision)
{
  return (PetscBool)(DataOf(pc)->cycle && DataOf(pc)->cycle->options.precision == precision);
}

static PetscErrorCode view_says_which_and_why(void)
{
  static const struct {
    const char *options, *says;
  } cases[] = {
    {"-ksp_type fgmres", "  single precision (auto: KSP fgmres keeps the residual)"},
    {"-ksp_type richardson", "  single precision (auto: KSP richardson keeps the residual)"},
    {"", "  double precision (auto: with KSP gmres single would stall; -ksp_type fgmres runs it in single, about twice as fast)"},
    {"-ksp_type bcgs", "  double precision (auto: with KSP bcgs single would stall"},
    {"-ksp_type cg", "  double precision (auto: KSP cg needs a symmetric cycle"},
    {"-ksp_type cg " SYMMETRIC, "  single precision (auto: KSP cg keeps the residual)"},
    {"-ksp_type minres " SYMMETRIC, "  double precision (auto: with KSP minres single would stall"},
    {"-ksp_type preonly", "  double precision (auto: KSP preonly is part of another solver"},
    {"-ksp_type gmres -pc_vpatchdg_precision single", "  single precision\n"},
    {"-ksp_type fgmres -pc_vpatchdg_precision double", "  double precision\n"},
  };
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    char      options[256];
    PetscBool says;

    PetscCall(PetscSNPrintf(options, sizeof(options), VP "-vpatchdg_warnings 0 %s", cases[i].options));
    PetscCall(NewKSP(&p));
    PetscCall(SolveWith(&p, options, NULL, NULL, NULL));
    PetscCall(ViewSays((PetscObject)p.ksp, cases[i].says, &says));
    TapOk((PetscBool)(says && Runs(PCOf(p.ksp), strstr(cases[i].says, "single p") ? VP_SINGLE : VP_DOUBLE)),
          "view_says_which_and_why: %s: %s", cases[i].options, cases[i].says);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetBuild(KSP ksp, PetscInt *build)
{
  PetscFunctionBeginUser;
  *build = DataOf(PCOf(ksp))->inverse.build;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types that the program sets, or takes from options and changes. Every build has the next number. */
static PetscErrorCode it_is_built_once_for_a_ksp(void)
{
  Problem   p;
  PetscInt  build[4];
  PetscBool says;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
  PetscCall(SolveWith(&p, VP "-ksp_type fgmres", NULL, NULL, NULL));
  PetscCall(GetBuild(p.ksp, &build[0]));
  PetscCall(KSPSetType(p.ksp, KSPGCR));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(GetBuild(p.ksp, &build[1]));
  TapOk((PetscBool)(build[0] == build[1]), "it_is_built_once_for_a_ksp: fgmres, then gcr");

  PetscCall(NewKSP(&p));
  PetscCall(KSPSetType(p.ksp, KSPRICHARDSON));
  PetscCall(PCSetType(PCOf(p.ksp), PCVPATCHDG));
  PetscCall(ViewSays((PetscObject)p.ksp, "precision auto: the KSP decides", &says));
  TapOk(says, "view_before_setup_works");
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(ViewSays((PetscObject)p.ksp, "precision auto: the KSP decides", &says));
  TapOk((PetscBool)(says && !DataOf(PCOf(p.ksp))->cycle), "view_before_a_solve_works, and nothing is built for a type that is not known");
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(GetBuild(p.ksp, &build[2]));
  TapOk((PetscBool)(Runs(PCOf(p.ksp), VP_SINGLE) && build[2] == build[1] + 1), "it_is_built_once_for_a_ksp: by the first solve");

  PetscCall(NewKSP(&p));
  PetscCall(ReadOptions(&p, VP "-ksp_type fgmres", PETSC_FALSE));
  PetscCall(KSPSetUp(p.ksp));
  TapOk(Runs(PCOf(p.ksp), VP_SINGLE), "it_is_built_by_ksp_setup, where options say the type");
  PetscCall(KSPSetType(p.ksp, KSPGMRES));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  TapOk(Runs(PCOf(p.ksp), VP_DOUBLE), "the_type_that_solves_counts, not that of the options");
  PetscCall(KSPSetType(p.ksp, KSPFGMRES));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  TapOk(Runs(PCOf(p.ksp), VP_SINGLE), "the_type_that_solves_counts: changed once more");
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ksps_that_share_a_pc_do_not_fight(void)
{
  static const char *const types[] = {KSPFGMRES, KSPGMRES};
  Problem                  p;
  KSP                      ksp[2];
  PetscInt                 first, last;
  PetscReal                residual, worst = 0;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 3, NULL, &p));
  for (int i = 0; i < 2; i++) {
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[i]));
    PetscCall(KSPSetType(ksp[i], types[i]));
    PetscCall(KSPSetOperators(ksp[i], p.A, p.A));
    PetscCall(KSPSetTolerances(ksp[i], 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  }
  PetscCall(PCSetType(PCOf(ksp[0]), PCVPATCHDG));
  PetscCall(KSPSetPC(ksp[1], PCOf(ksp[0])));
  for (int i = 0; i < 6; i++) {
    PetscCall(KSPSolve(ksp[i % 2], p.b, p.x));
    PetscCall(TrueResidual(p.A, p.b, p.x, &residual));
    worst = PetscMax(worst, residual);
    if (i == 0) TapOk(Runs(PCOf(ksp[0]), VP_SINGLE), "ksps_that_share_a_pc_do_not_fight: fgmres begins in single");
    if (i == 0) PetscCall(GetBuild(ksp[0], &first));
  }
  PetscCall(GetBuild(ksp[0], &last));
  TapOk((PetscBool)(Runs(PCOf(ksp[0]), VP_DOUBLE) && last == first + 1 && worst <= 1e-9),
        "ksps_that_share_a_pc_do_not_fight: gmres needs double, built once for both; residual %.1e", (double)worst);
  for (int i = 0; i < 2; i++) PetscCall(KSPDestroy(&ksp[i]));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode reused_pcs_change_where_they_must(void)
{
  Problem   p;
  PetscInt  build[3];
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 3, NULL, &p));
  PetscCall(SolveWith(&p, VP "-ksp_type fgmres -ksp_rtol 1e-10", NULL, NULL, NULL));
  PetscCall(GetBuild(p.ksp, &build[0]));
  PetscCall(KSPSetReusePreconditioner(p.ksp, PETSC_TRUE));
  PetscCall(KSPSetType(p.ksp, KSPGMRES));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(TrueResidual(p.A, p.b, p.x, &residual));
  PetscCall(GetBuild(p.ksp, &build[1]));
  PetscCall(KSPSetType(p.ksp, KSPFGMRES));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(GetBuild(p.ksp, &build[2]));
  TapOk((PetscBool)(build[1] == build[0] + 1 && build[2] == build[1] && residual <= 1e-9),
        "reused_pcs_change_where_they_must: to double for gmres, residual %.1e, and not back", (double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode who_applies_without_a_ksp_gets_double(void)
{
  Problem p;
  PC      pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
  PetscCall(ReadOptions(&p, VP "-ksp_type fgmres", PETSC_FALSE));
  pc = PCOf(p.ksp);
  PetscCall(PCApply(pc, p.b, p.x));
  TapOk(Runs(pc, VP_DOUBLE), "who_applies_without_a_ksp_gets_double");
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  TapOk(Runs(pc, VP_SINGLE), "who_applies_without_a_ksp_gets_double: until a KSP solves");
  PetscCall(PCApply(pc, p.b, p.x));
  TapOk(Runs(pc, VP_SINGLE), "who_applies_without_a_ksp_gets_double: not afterwards");

  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* in the precision that the options' -ksp_type has, otherwise in double */
static PetscErrorCode coarse_ksp_that_was_asked_for_stays(void)
{
  Problem p;
  KSP     before, after;
  PC      pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
  for (int known = 0; known < 2; known++) {
    PetscCall(NewKSP(&p));
    PetscCall(ReadOptions(&p, known ? VP "-ksp_type fgmres" : VP, PETSC_FALSE));
    PetscCall(KSPSetType(p.ksp, KSPFGMRES));
    pc = PCOf(p.ksp);
    PetscCall(PCVPatchDGSetCoarse(pc, VPATCHDG_COARSE_KSP));
    PetscCall(PCVPatchDGGetCoarseKSP(pc, &before));
    PetscCall(KSPSolve(p.ksp, p.b, p.x));
    PetscCall(PCVPatchDGGetCoarseKSP(pc, &after));
    TapOk((PetscBool)(after && after == before && Runs(pc, known ? VP_SINGLE : VP_DOUBLE)), "coarse_ksp_that_was_asked_for_stays: %s",
          known ? "-ksp_type fgmres" : "a type that the program sets");
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the PCVPATCHDG somewhere in it */
static PetscErrorCode InnerPC(KSP outer, PC *inner)
{
  PC       pc = PCOf(outer);
  KSP      ksp, *blocks;
  PetscInt n;
  PCType   type;

  PetscFunctionBeginUser;
  PetscCall(PCGetType(pc, &type));
  *inner = pc;
  if (!strcmp(type, PCKSP)) {
    PetscCall(PCKSPGetKSP(pc, &ksp));
    PetscCall(KSPGetPC(ksp, inner));
  } else if (!strcmp(type, PCMG)) {
    PetscCall(PCMGGetCoarseSolve(pc, &ksp));
    PetscCall(KSPGetPC(ksp, inner));
  } else if (!strcmp(type, PCCOMPOSITE)) PetscCall(PCCompositeGetPC(pc, 0, inner));
  else if (!strcmp(type, PCFIELDSPLIT)) {
    PetscCall(PCFieldSplitGetSubKSP(pc, &n, &blocks));
    PetscCall(KSPGetPC(blocks[0], inner));
    PetscCall(PetscFree(blocks));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* in GMRES, which is not flexible and reaches its tolerance with a linear preconditioner only */
static PetscErrorCode nested_solvers_get_double(void)
{
  static const struct {
    const char *name, *options;
  } cases[] = {
    {"steps of refinement", "-pc_type ksp -ksp_ksp_type richardson -ksp_ksp_max_it 2 -ksp_pc_type vpatchdg"},
    {"refinement to a tolerance", "-pc_type ksp -ksp_ksp_type richardson -ksp_ksp_rtol 1e-5 -ksp_pc_type vpatchdg"},
    {"fgmres to a tolerance", "-pc_type ksp -ksp_ksp_type fgmres -ksp_ksp_rtol 1e-5 -ksp_pc_type vpatchdg"},
    {"preonly", "-pc_type ksp -ksp_ksp_type preonly -ksp_pc_type vpatchdg"},
    {"composite", "-pc_type composite -pc_composite_type multiplicative -pc_composite_pcs vpatchdg,vpatch"},
    {"coarse solver of PCMG", "-pc_type mg -pc_mg_levels 2 -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type "
                              "vpatch -mg_coarse_ksp_type preonly "
                              "-mg_coarse_pc_type vpatchdg"},
    {"smoother of PCMG", "-pc_type mg -pc_mg_levels 2 -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type vpatchdg "
                         "-mg_levels_pc_vpatchdg_levels 1 -mg_coarse_ksp_type fgmres -mg_coarse_pc_type vpatchdg"},
    {"Chebyshev's estimate of eigenvalues", "-ksp_type chebyshev -ksp_max_it 100 -pc_type vpatchdg"},
  };
  Problem p;
  PC      pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 4, NULL, &p));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscReal residual;
    char      options[512];

    PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type gmres -ksp_pc_side right -ksp_rtol 1e-9 %s", cases[i].options));
    if (strstr(cases[i].options, "chebyshev")) PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_rtol 1e-9 %s", cases[i].options));
    PetscCall(NewKSP(&p));
    if (strstr(options, "-pc_type mg")) PetscCall(GiveLevels(&p));
    ListenBegin();
    PetscCall(SolveWith(&p, options, &residual, NULL, NULL));
    PetscCall(ListenEnd(PETSC_COMM_WORLD));
    PetscCall(InnerPC(p.ksp, &pc));
    TapOk((PetscBool)(Runs(pc, VP_DOUBLE) && residual <= 1e-8 && !Said("warning")), "nested_solvers_get_double: %s, residual %.1e %s",
          cases[i].name, (double)residual, said);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LinearFunction(SNES snes, Vec x, Vec f, void *ctx)
{
  Problem *p = (Problem *)ctx;

  PetscFunctionBeginUser;
  PetscCall(MatMult(p->A, x, f));
  PetscCall(VecAXPY(f, -1, p->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LinearJacobian(SNES snes, Vec x, Mat A, Mat B, void *ctx)
{
  PetscFunctionBeginUser;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* its KSP is one inside of a solver, which solves to a tolerance of its own */
static PetscErrorCode newton_with_fgmres_takes_single(void)
{
  Problem   p;
  SNES      snes;
  KSP       ksp;
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 3, NULL, &p));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetFunction(snes, NULL, LinearFunction, &p));
  PetscCall(SNESSetJacobian(snes, p.A, p.A, LinearJacobian, &p));
  PetscCall(SNESSetTolerances(snes, 0, 1e-9, 0, 20, 100));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(PCSetType(PCOf(ksp), PCVPATCHDG));
  PetscCall(VecSet(p.x, 0));
  PetscCall(SNESSolve(snes, NULL, p.x));
  PetscCall(TrueResidual(p.A, p.b, p.x, &residual));
  TapOk((PetscBool)(Runs(PCOf(ksp), VP_SINGLE) && residual <= 1e-9), "newton_with_fgmres_takes_single: residual %.1e", (double)residual);
  PetscCall(SNESDestroy(&snes));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode getter_returns_what_was_asked(void)
{
  Problem           p;
  VPatchDGPrecision precision;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
  PetscCall(SolveWith(&p, VP "-ksp_type fgmres", NULL, NULL, NULL));
  pc = PCOf(p.ksp);
  PetscCall(PCVPatchDGGetPrecision(pc, &precision));
  TapOk((PetscBool)(precision == VPATCHDG_PRECISION_AUTO), "getter_returns_what_was_asked: auto by default");
  PetscCall(PCVPatchDGSetPrecision(pc, VPATCHDG_PRECISION_SINGLE));
  PetscCall(PCVPatchDGGetPrecision(pc, &precision));
  TapOk((PetscBool)(precision == VPATCHDG_PRECISION_SINGLE), "getter_returns_what_was_asked: single");
  Refused(PCVPatchDGSetPrecision(pc, (VPatchDGPrecision)3), "does not exist, 0 to 2 do", "a precision that does not exist");
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(view_says_which_and_why());
  PetscCall(it_is_built_once_for_a_ksp());
  PetscCall(ksps_that_share_a_pc_do_not_fight());
  PetscCall(reused_pcs_change_where_they_must());
  PetscCall(who_applies_without_a_ksp_gets_double());
  PetscCall(coarse_ksp_that_was_asked_for_stays());
  PetscCall(nested_solvers_get_double());
  PetscCall(newton_with_fgmres_takes_single());
  PetscCall(getter_returns_what_was_asked());
  PetscFunctionReturn(PETSC_SUCCESS);
}
