/* What PCVPATCHDG warns of, and how often.
   ranks: 1 2 */
#include "support/problem.h"
#include "support/said.h"

#define VP        "-pc_type vpatchdg "
#define SYMMETRIC "-pc_vpatchdg_symmetric "

static PetscErrorCode Hear(Problem *p, const char options[], KSPConvergedReason *reason)
{
  PetscFunctionBeginUser;
  ListenBegin();
  PetscCall(SolveWith(p, options, NULL, NULL, reason));
  PetscCall(ListenEnd(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* two solves with every one of them, so that what is said twice shows */
static PetscErrorCode warnings_come_once(void)
{
  static const struct {
    const char *options;
    int         lines;
    const char *says;
  } cases[] = {
    {"-ksp_type fgmres", 0, ""},
    {"-ksp_type gmres -ksp_pc_side right", 0, ""},
    {"-ksp_type cg " SYMMETRIC, 0, ""},
    {"-ksp_type gmres -ksp_pc_side right -pc_vpatchdg_precision single -ksp_rtol 1e-3", 1,
     "use -pc_vpatchdg_precision auto, or -ksp_type fgmres"},
    {"-ksp_type gmres -ksp_pc_side right -pc_vpatchdg_precision single -ksp_rtol 1e-9", 2,
     "KSP gmres says CONVERGED_RTOL, but |b - A x| is"},
    {"-ksp_type cg -ksp_norm_type unpreconditioned", 1, "use -pc_vpatchdg_symmetric, or -ksp_type fgmres"},
    {"-ksp_type cg -ksp_norm_type unpreconditioned -pc_vpatchdg_smooth_post 2", 1, "use -pc_vpatchdg_symmetric, or -ksp_type fgmres"},
    {"-ksp_type cg -ksp_norm_type unpreconditioned -pc_vpatchdg_precision single", 1, "cycle is not"},
    {"-ksp_type minres", 1, "KSP minres needs a symmetric preconditioner"},
    {"-ksp_type fgmres -ksp_max_it 1", 1,
     "KSP fgmres ended with DIVERGED_ITS after 1 iterations; sides of a cell up to 1:1, coefficients up to 1:1, single precision: "
     "-ksp_max_it 1 allows no more"},
    {"-ksp_type richardson -ksp_divtol 1e-9", 1,
     "DIVERGED_DTOL after 0 iterations; sides of a cell up to 1:1, coefficients up to 1:1, single "
     "precision: the residual of the guess is more than -ksp_divtol 1e-09 times |b|"},
    {"-ksp_type fgmres -ksp_max_it 1 -ksp_norm_type none", 0, ""},
    {"-ksp_type gmres -pc_vpatchdg_precision single -ksp_rtol 1e-9 -vpatchdg_warnings 0", 0, ""},
    {"-ksp_type minres -ksp_max_it 1 -vpatchdg_warnings 0", 0, ""},
  };
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 4, NULL, &p));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    char options[256];

    PetscCall(PetscSNPrintf(options, sizeof(options), VP "%s", cases[i].options));
    PetscCall(NewKSP(&p));
    ListenBegin();
    for (int twice = 0; twice < 2; twice++) PetscCall(SolveWith(&p, options, NULL, NULL, NULL));
    PetscCall(ListenEnd(PETSC_COMM_WORLD));
    TapOk((PetscBool)(Said("vpatchdg: warning: ") == cases[i].lines && Said("\n") == cases[i].lines && strstr(said, cases[i].says)),
          "warnings_come_once: %s: %d: %s", cases[i].options, Said("\n"), FirstLine());
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Rightmost(const PetscReal lower[], const PetscReal upper[], PetscReal value)
{
  return upper[0] > 0.99 ? value : 1;
}

/* 1 .. value, with no relation between neighbours */
static PetscReal Rough(const PetscReal lower[], const PetscReal upper[], PetscReal value)
{
  const PetscReal x = 43758.5453 * PetscSinReal(129.898 * lower[0] + 782.33 * lower[1]);

  return PetscPowReal(value, x - PetscFloorReal(x));
}

static PetscErrorCode warnings_know_rough_coefficients(void)
{
#define ALL "-pc_vpatchdg_handover_ratio 1e99 " /* levels that do not follow the coefficient */
  const char *const  says[] = {"iterations: -ksp_type fgmres takes fewer",
                               "-pc_vpatchdg_coarse volumes -pc_vpatchdg_levels 1 is the most robust where a is rough"};
  KSPConvergedReason reason;
  PetscInt           its;
  Problem            p;
  DM                 dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 4, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(SetCoefficient(dm, Rough, 1000));
  PetscCall(ProblemOf(dm, NULL, &p));
  for (int i = 0; i < 2; i++) {
    PetscCall(NewKSP(&p));
    PetscCall(
      Hear(&p, i ? VP ALL "-ksp_type fgmres -ksp_max_it 5" : VP ALL "-ksp_type richardson -ksp_max_it 5000 -ksp_rtol 1e-8", &reason));
    PetscCall(KSPGetIterationNumber(p.ksp, &its));
    TapOk((PetscBool)(Said(says[i]) == 1 && Said("vpatchdg: warning: ") == 1), "warnings_know_rough_coefficients: %d iterations, %s: %s",
          (int)its, KSPConvergedReasons[reason], FirstLine());
  }
  PetscCall(SetCoefficient(dm, Rough, 1));
  PetscCall(NewKSP(&p));
  PetscCall(VecSet(p.x, 1e30));
  PetscCall(Hear(&p, VP "-ksp_type fgmres -ksp_initial_guess_nonzero", &reason));
  TapOk((PetscBool)(reason == KSP_DIVERGED_DTOL && Said("the residual of the guess is more than -ksp_divtol") == 1),
        "warnings_know_rough_coefficients: %s", FirstLine());
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode warnings_say_what_the_pc_knows(void)
{
  const PetscInt  n[] = {1, 1};
  const PetscReal lower[] = {0, 0}, upper[] = {1, 0.25};
  Problem         p;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 2, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, n, lower, upper));
  PetscCall(DMSetUp(dm));
  PetscCall(SetCoefficient(dm, Rightmost, 1000));
  PetscCall(ProblemOf(dm, "my_", &p));
  PetscCall(Hear(&p, "-my_ksp_type cg -my_pc_type vpatchdg -my_pc_vpatchdg_levels 0 -my_ksp_max_it 1", NULL));
  TapOk((PetscBool)(Said("vpatchdg: warning: ") == 2 && Said("use -my_pc_vpatchdg_symmetric, or -my_ksp_type fgmres") &&
                    Said("sides of a cell up to 1:4, coefficients up to 1:1e+03, double precision")),
        "warnings_say_what_the_pc_knows: %s", FirstLine());
  PetscCall(NewKSP(&p));
  PetscCall(Hear(&p, VP "-ksp_type fgmres -ksp_max_it 2 -pc_vpatchdg_coarsening full", NULL));
  TapOk((PetscBool)(Said("-pc_vpatchdg_coarsening local needs fewer iterations") == 1), "warnings_say_what_the_pc_knows: coarsening");
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cells and coefficients at points: the options of a DM, and what is said, or NULL */
static PetscErrorCode warnings_know_the_metric(void)
{
#define ANNULUS "-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters "
  static const struct {
    const char *options, *says;
  } cases[] = {
    {"-dm_refine 3 " ANNULUS "1,2,90", NULL},
    {"-dm_refine 3 " ANNULUS "1,10,90", "the sides of cells of one box are up to 1:6.18"},
    {"-dm_refine 1 -dm_vpatchdg_boxes 4,4 " ANNULUS "1,10,90", NULL},
    {"-dm_refine 1 -dm_vpatchdg_degree 4 " ANNULUS "1,100,90", "inside of a cell, which the cycle does not see"},
    {"-dm_refine 4 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .149", "expect about 75 iterations"},
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    Problem p;
    DM      dm;

    PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 0, &dm));
    PetscCall(TestDMOptions(dm, cases[i].options));
    PetscCall(DMSetUp(dm));
    PetscCall(ProblemOf(dm, NULL, &p));
    PetscCall(Hear(&p, VP "-ksp_type fgmres -ksp_gmres_restart 200", NULL));
    TapOk((PetscBool)(cases[i].says ? Said(cases[i].says) == 1 && Said("warning") == 1 : !Said("warning")),
          "warnings_know_the_metric, %s: %s", cases[i].options, FirstLine());
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u is known up to a constant, or by the reaction alone */
static PetscErrorCode NeumannProblem(PetscInt refine, PetscReal reaction, Problem *p)
{
  const VPatchDGBoundary neumann[] = {VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN,
                                      VPATCHDG_BOUNDARY_NEUMANN};
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, refine, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, neumann));
  PetscCall(DMVPatchDGSetReaction(dm, reaction));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No solver finds the constants of a right-hand side that is random where only a reaction near the rounding errors tells what they are. */
static PetscErrorCode lost_reactions_are_told(PetscReal share, const char options[])
{
  Problem            p;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(NeumannProblem(3, share * 64, &p));
  PetscCall(Hear(&p, options, &reason));
  TapOk((PetscBool)(reason < 0 && Said("-dm_vpatchdg_reaction 0 solves up to a constant")), "lost_reactions_are_told: %g a/h^2, %s: %s: %s",
        (double)share, options, KSPConvergedReasons[reason], said);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a right-hand side with a part that no solution has: what is left of it is not called a wrong residual */
static PetscErrorCode null_space_is_no_residual(void)
{
  Problem            p;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(NeumannProblem(3, 0, &p));
  PetscCall(Hear(&p, VP "-ksp_type gmres -ksp_rtol 1e-6", &reason));
  TapOk((PetscBool)(reason == KSP_CONVERGED_RTOL && !said[0]), "null_space_is_no_residual: %s %s", KSPConvergedReasons[reason], said);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode nested_ksps_that_solve_are_warned(void)
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
  PetscCall(Hear(&p, "-ksp_type fgmres -pc_type ksp -ksp_ksp_type cg -ksp_pc_type vpatchdg", NULL));
  TapOk((PetscBool)(Said("vpatchdg: warning: ") == 1 && Said("use -ksp_pc_vpatchdg_symmetric") == 1),
        "nested_ksps_that_solve_are_warned: %s", FirstLine());
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a sweep in single precision under a KSP that does not tolerate it, and under one that does */
static PetscErrorCode single_sweeps_are_warned(void)
{
  Problem p;

  PetscFunctionBeginUser;
  for (int flexible = 0; flexible < 2; flexible++) {
    PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
    PetscCall(Hear(&p,
                   flexible ? "-ksp_type fgmres -pc_type vpatch -pc_vpatch_precision single -ksp_max_it 500"
                            : "-ksp_type gmres -pc_type vpatch -pc_vpatch_precision single -ksp_max_it 500",
                   NULL));
    TapOk((PetscBool)(Said("-pc_vpatch_precision double") == !flexible), "single_sweeps_are_warned: %s", FirstLine());
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a penalty with which A x has few digits, also with a KSP that keeps the residual */
static PetscErrorCode stiff_penalties_are_warned(void)
{
  Problem p;
  DM      dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 2, &dm));
  PetscCall(DMVPatchDGSetPenalty(dm, 1e9));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(Hear(&p, VP "-ksp_type fgmres -ksp_rtol 1e-10", NULL));
  TapOk((PetscBool)(Said("use a smaller -dm_vpatchdg_penalty") == 1), "stiff_penalties_are_warned: %s", FirstLine());
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a coarsest level that is not solved, unless the KSP stands that or, as the last one, needs no preconditioner: a device's rehearsal is no
   solve */
static PetscErrorCode unsolved_coarse_levels_are_told(void)
{
#define ONCE VP "-vpatchdg_coarse_ksp_type cg -vpatchdg_coarse_pc_type none -vpatchdg_coarse_ksp_max_it 1 "
  static const char *const options[] = {ONCE "-ksp_type gmres", ONCE "-ksp_type fgmres",
                                        ONCE "-ksp_type gmres -ksp_pc_side right -ksp_atol 1e10"};
  Problem                  p;

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 3, NULL, &p));
    PetscCall(Hear(&p, options[i], NULL));
    TapOk((PetscBool)(Said("the coarsest level did not converge in 1 iterations") == !i), "unsolved_coarse_levels_are_told: %s",
          FirstLine());
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n x n squares, each cut into two triangles, and these into three quadrilaterals: vertices, then middles of edges, then of triangles */
static PetscErrorCode CutTriangles(PetscInt n, DM *dm)
{
  const PetscInt m = 2 * n + 1, nvertex = m * m + 2 * n * n, ntree = 6 * n * n;
  PetscInt      *corner;
  PetscReal     *x;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(2 * nvertex, &x, 4 * ntree, &corner));
  for (PetscInt i = 0; i < 2 * m * m; i++) x[i] = (PetscReal)(i % 2 ? i / 2 / m : i / 2 % m) / (2 * n);
  for (PetscInt t = 0; t < 2 * n * n; t++) {
    const PetscInt low = 2 * (t / 2 / n * m + t / 2 % n), upper = t % 2, middle = m * m + t;
    const PetscInt v[3] = {low, upper ? low + 2 * m + 2 : low + 2, upper ? low + 2 * m : low + 2 * m + 2};

    for (int d = 0; d < 2; d++) x[2 * middle + d] = (x[2 * v[0] + d] + x[2 * v[1] + d] + x[2 * v[2] + d]) / 3;
    for (int k = 0; k < 3; k++) { /* The middle of two vertices has the mean of their numbers. */
      const PetscInt next = (v[k] + v[(k + 1) % 3]) / 2, before = (v[k] + v[(k + 2) % 3]) / 2, of[4] = {v[k], next, before, middle};

      for (int i = 0; i < 4; i++) corner[4 * (3 * t + k) + i] = of[i];
    }
  }
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 0, dm));
  PetscCall(DMVPatchDGSetBackend(*dm, VPATCHDG_BACKEND_HOST));
  PetscCall(DMVPatchDGSetTrees(*dm, nvertex, x, ntree, corner, 1, NULL));
  PetscCall(DMSetUp(*dm));
  PetscCall(PetscFree2(x, corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 24 kites around a vertex, whose angles are 15 degrees; cells cut from triangles, if these are many; a disc, which is no reason to warn */
static PetscErrorCode warnings_know_trees(void)
{
  static const char *const says[] = {"most in cell", "of the vertices of the mesh are irregular", "irregular", "most in cell"};

  PetscFunctionBeginUser;
  for (int i = 0; i < 4; i++) {
    DM      dm;
    Problem p;

    if (i == 1 || i == 2) PetscCall(CutTriangles(i == 1 ? 5 : 3, &dm));
    else {
      PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
      PetscCall(DMVPatchDGSetBackend(dm, VPATCHDG_BACKEND_HOST));
      PetscCall(TestDMOptions(dm, i ? "-dm_vpatchdg_domain disc" : "-dm_vpatchdg_domain star -dm_vpatchdg_domain_parameters 24"));
      PetscCall(DMSetUp(dm));
    }
    PetscCall(ProblemOf(dm, NULL, &p));
    PetscCall(Hear(&p, VP "-ksp_type fgmres -ksp_rtol 1e-6", NULL));
    TapOk((PetscBool)(Said(says[i]) == (i < 2)), "warnings_know_trees: %d: %s", i, FirstLine());
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(warnings_come_once());
  PetscCall(warnings_know_rough_coefficients());
  PetscCall(warnings_say_what_the_pc_knows());
  PetscCall(warnings_know_the_metric());
  PetscCall(warnings_know_trees());
  PetscCall(null_space_is_no_residual());
  PetscCall(lost_reactions_are_told(1e-11, VP "-ksp_type richardson -ksp_rtol 1e-10 -ksp_max_it 50"));
  PetscCall(unsolved_coarse_levels_are_told());
  PetscCall(single_sweeps_are_warned());
  PetscCall(stiff_penalties_are_warned());
  PetscCall(nested_ksps_that_solve_are_warned());
  PetscFunctionReturn(PETSC_SUCCESS);
}
