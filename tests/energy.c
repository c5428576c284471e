/* Residuals that hide errors: data beside a large coefficient, or with a large penalty, make b large. The convergence test by energy, and
   the warning after a solve. ranks: 1 2 */
#include "support/problem.h"
#include "support/said.h"

#define STIFF (7. / 16) /* where the stiff part begins */

static PetscReal Stiff(const PetscReal lower[], const PetscReal upper[], PetscReal value)
{
  return lower[0] >= STIFF - 1e-9 ? value : 1;
}

static PetscErrorCode Ramp(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = x[0];
  return 0;
}

/* -(a u')' = 0, u(0) = 0, u(1) = 1; ctx: a of the stiff part */
static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  const PetscReal a = *(const PetscReal *)ctx, slope = 1 / (STIFF + (1 - STIFF) / a);

  value[0] = slope * (x[0] < STIFF ? x[0] : STIFF + (x[0] - STIFF) / a);
  return 0;
}

static PetscErrorCode Create(PetscReal a, PetscReal penalty, Problem *p)
{
  const VPatchDGBoundary sides[] = {VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN,
                                    VPATCHDG_BOUNDARY_NEUMANN};
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 4, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, sides));
  PetscCall(DMVPatchDGSetPenalty(dm, penalty));
  PetscCall(DMSetUp(dm));
  if (a != 1) PetscCall(SetCoefficient(dm, Stiff, a));
  PetscCall(ProblemOf(dm, NULL, p));
  PetscCall(DMVPatchDGComputeRHS(dm, NULL, Ramp, NULL, NULL, p->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SYMMETRIC " -pc_vpatchdg_symmetric -pc_vpatchdg_smooth_pre 1"
#define ENERGY    " -vpatchdg_converged energy"
#define ALL       " -pc_vpatchdg_handover_ratio 1e99" /* with finite volumes nothing is hidden */

/* most: the error in L2 that is right; says: what the warning tells to type, NULL: there is none */
static const struct {
  PetscReal   a, penalty;
  const char *options;
  PetscReal   most;
  const char *says;
} cases[] = {
  {1, 1, "-ksp_type fgmres", 1e-8, NULL},
  {1, 1, "-ksp_type richardson" ENERGY, 1e-8, NULL},
  {1e7, 1, "-ksp_type fgmres" ALL, 1, "use -vpatchdg_converged energy, or a smaller -ksp_rtol"},
  {1e7, 1, "-ksp_type richardson" ALL, 1, "use -vpatchdg_converged energy, or a smaller -ksp_rtol"},
  {1e7, 1, "-ksp_type fgmres -ksp_rtol 1e-5" ALL, 1, "decide; use a smaller -ksp_rtol"},
  {1e7, 1, "-ksp_type fgmres" ENERGY, 1e-5, NULL},
  {1e7, 1, "-ksp_type fgmres -ksp_max_it 15" ENERGY, 1e-5, NULL},
  {1e7, 1, "-ksp_type gcr" ENERGY, 1e-5, NULL},
  {1e7, 1, "-ksp_type richardson" ENERGY, 1e-4, NULL},
  {1e7, 1, "-ksp_type richardson -ksp_monitor ascii:/dev/null" ENERGY, 1e-4, NULL},
  {1e7, 1, "-ksp_type gmres", 1e-8, NULL},
  {1e7, 1, "-ksp_type cg -ksp_norm_type natural" SYMMETRIC, 1e-5, NULL},
  {1e7, 1, "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-6" SYMMETRIC ALL, 1,
   "use -ksp_norm_type natural, or a smaller -ksp_rtol"},
  {1e7, 1, "-ksp_type cg -ksp_norm_type natural -ksp_rtol 1e-3" SYMMETRIC, 1, NULL},
  {1e7, 1, "-ksp_type fgmres -ksp_rtol 1e-12", 1e-5, NULL},
  {1, 1e4, "-ksp_type cg -ksp_norm_type unpreconditioned" SYMMETRIC, 1, "decide; use a smaller -ksp_rtol"},
  {1, 1e4, "-ksp_type fgmres" ENERGY, 1e-6, NULL},
  {1e7, 1, "-ksp_type fgmres -vpatchdg_warnings 0", 1, NULL},
  {1e7, 1, "-ksp_type fgmres -vpatchdg_converged residual -ksp_norm_type none", 1, NULL},
};

/* two solves, so that a warning that comes twice shows */
static PetscErrorCode hidden_errors_are_found(size_t i)
{
  Problem   p;
  PetscReal a = cases[i].a, error;
  char      options[256];

  PetscFunctionBeginUser;
  PetscCall(Create(a, cases[i].penalty, &p));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_max_it 100 -ksp_rtol 1e-8 -pc_type vpatchdg %s", cases[i].options));
  ListenBegin();
  for (int twice = 0; twice < 2; twice++) PetscCall(SolveWith(&p, options, NULL, NULL, NULL));
  PetscCall(ListenEnd(PETSC_COMM_WORLD));
  PetscCall(DMVPatchDGComputeErrors(p.dm, p.x, Solution, NULL, &a, &error, NULL));
  TapOk((PetscBool)(error < cases[i].most && Said("vpatchdg: warning: ") == (cases[i].says ? 1 : 0) &&
                    (!cases[i].says || strstr(said, cases[i].says))),
        "hidden_errors_are_found: a %g, penalty %g, %s: error %.1e, %s", (double)a, (double)cases[i].penalty, cases[i].options,
        (double)error, FirstLine());
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -A as Pmat: the KSP converges as well, but no energy is negative. */
static PetscErrorCode indefinite_preconditioners_are_told(void)
{
  Problem            p;
  Mat                P;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Create(1, 1, &p));
  PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &P));
  PetscCall(MatScale(P, -1));
  PetscCall(KSPSetOperators(p.ksp, p.A, P));
  PetscCall(SolveWith(&p, "-ksp_type fgmres -pc_type vpatchdg -vpatchdg_warnings 0" ENERGY, NULL, NULL, &reason));
  TapOk((PetscBool)(reason == KSP_DIVERGED_INDEFINITE_PC), "indefinite_preconditioners_are_told: %s", KSPConvergedReasons[reason]);
  PetscCall(MatDestroy(&P));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constants in b, which no x reaches, are no error of x: no warning, where cells are thin. */
static PetscErrorCode unreached_constants_are_no_error(void)
{
  const VPatchDGBoundary n = VPATCHDG_BOUNDARY_NEUMANN, sides[] = {n, n, n, n, n, n};
  const PetscInt         grid[] = {1, 1, 1};
  const PetscReal        lower[] = {0, 0, 0}, upper[] = {1, 1. / 30, 1};
  Problem                p;
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 3, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, grid, lower, upper));
  PetscCall(DMVPatchDGSetBoundary(dm, sides));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(VecSetRandom(p.b, NULL));
  ListenBegin();
  PetscCall(SolveWith(&p, "-ksp_type fgmres -pc_type vpatchdg -ksp_rtol 1e-8", NULL, NULL, NULL));
  PetscCall(ListenEnd(PETSC_COMM_WORLD));
  TapOk((PetscBool)!Said("vpatchdg: warning: "), "unreached_constants_are_no_error: %s", FirstLine());
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Layers(const PetscReal lower[], const PetscReal upper[], PetscReal value)
{
  return (PetscInt)(8 * (lower[1] + upper[1])) % 2 ? value : 1 / value;
}

/* A cycle that sees means over boxes does not find what it misses of an error. */
static PetscErrorCode means_over_boxes_are_suspected(void)
{
  KSPConvergedReason reason;
  PetscOptions       database;
  Problem            p;

  PetscFunctionBeginUser;
  PetscCall(TestOptionsPush("-dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 40", &database));
  PetscCall(Create(1, 1, &p));
  PetscCall(TestOptionsPop(&database));
  PetscCall(SetCoefficient(p.dm, Layers, 1e5));
  PetscCall(VecSetRandom(p.x, NULL));
  PetscCall(MatMult(p.A, p.x, p.b));
  ListenBegin();
  PetscCall(SolveWith(&p,
                      "-ksp_type fgmres -pc_type vpatchdg -pc_vpatchdg_metric const -ksp_rtol 1e-6 -ksp_max_it 300 -ksp_gmres_restart 300",
                      NULL, NULL, &reason));
  PetscCall(ListenEnd(PETSC_COMM_WORLD));
  TapOk((PetscBool)(Said("vpatchdg: warning: KSP fgmres says CONVERGED_RTOL, but") == 1), "means_over_boxes_are_suspected: %s, %s",
        KSPConvergedReasons[reason], FirstLine());
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -A for both operators has negative energies throughout. */
static PetscErrorCode negative_operators_converge(void)
{
  Problem            p;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Create(1, 1, &p));
  PetscCall(MatScale(p.A, -1));
  PetscCall(SolveWith(&p, "-ksp_type fgmres -pc_type vpatchdg" ENERGY, NULL, NULL, &reason));
  TapOk((PetscBool)(reason == KSP_CONVERGED_RTOL), "negative_operators_converge: %s", KSPConvergedReasons[reason]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(hidden_errors_are_found(i));
  PetscCall(indefinite_preconditioners_are_told());
  PetscCall(negative_operators_converge());
  PetscCall(means_over_boxes_are_suspected());
  PetscCall(unreached_constants_are_no_error());
  PetscFunctionReturn(PETSC_SUCCESS);
}
