/* Iterations of multigrid on meshes of cells of different levels, against an independent computation. */
/* ranks: 1 */
#include "support/leaves.h"
#include "support/nu.h"

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  return PETSC_SUCCESS;
}

static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = PetscSinReal(7 * x[0] + 4 * x[1]);
  return PETSC_SUCCESS;
}

/* nu = -8 / log10((|r_n|/|r_0|)^(1/n)) of FGMRES and of refinement, from the independent computation: f = 1, true residuals */
typedef struct {
  const char    *name;
  VPatchDGDomain domain;
  PetscInt       dim, refine, levels;
  PetscReal      radius; /* of the sphere whose cells are refined; 0: those at the corner */
  PetscInt       degree, corners;
  PetscReal      nu[2];
} Measured;

#define LSHAPE  VPATCHDG_DOMAIN_LSHAPE, 2, 2
#define FICHERA VPATCHDG_DOMAIN_FICHERA, 3, 1
static const Measured cases[] = {{"L+3", LSHAPE, 3, 0, 1, 0, {5.3, 6.6}},
                                 {"L+3", LSHAPE, 3, 0, 3, 0, {4.0, 4.2}},
                                 {"L+3", LSHAPE, 3, 0, 7, 0, {4.0, 4.3}},
                                 {"L+8", LSHAPE, 8, 0, 2, 0, {4.3, 4.4}},
                                 {"L+8", LSHAPE, 8, 0, 4, 0, {4.1, 4.5}},
                                 {"L+5", LSHAPE, 5, 0, 3, 2, {3.9, 4.2}},
                                 {"L+5", LSHAPE, 5, 0, 7, 2, {3.6, 4.1}},
                                 {"front+3", VPATCHDG_DOMAIN_BOX, 2, 2, 3, 0.6, 1, 0, {5.0, 5.6}},
                                 {"front+3", VPATCHDG_DOMAIN_BOX, 2, 2, 3, 0.6, 2, 0, {3.8, 3.8}},
                                 {"front+3", VPATCHDG_DOMAIN_BOX, 2, 2, 3, 0.6, 3, 0, {3.3, 3.5}},
                                 {"Fichera+2", FICHERA, 2, 0, 2, 0, {4.0, 4.3}},
                                 {"Fichera+2", FICHERA, 2, 0, 3, 0, {3.9, 4.0}},
                                 {"Fichera+8", FICHERA, 8, 0, 2, 0, {4.2, 4.9}},
                                 {"ball", VPATCHDG_DOMAIN_BOX, 3, 2, 1, 0.7, 2, 0, {4.1, 4.6}}};

static PetscErrorCode CaseDM(const Measured *c, DM *dm)
{
  const PetscReal origin[3] = {0, 0, 0}, sphere[4] = {0, 0, c->dim == 2 ? c->radius : 0, c->radius};

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, c->degree, c->refine, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, c->domain));
  PetscCall(DMVPatchDGSetLocalRefinement(*dm, c->levels, c->radius > 0 ? NULL : origin, c->radius > 0 ? sphere : NULL));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode iterations_are_the_independent_ones(const Measured *c, VPatchDGPrecision precision)
{
  PetscReal history[102], nu[2], residual[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscInt n;
    Problem  p;
    PC       pc;
    DM       dm;

    PetscCall(CaseDM(c, &dm));
    PetscCall(ProblemOf(dm, "nu_", &p));
    PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, p.b));
    PetscCall(KSPSetType(p.ksp, i ? KSPRICHARDSON : KSPFGMRES));
    PetscCall(TestPC(p.ksp, &pc));
    PetscCall(PCVPatchDGSetLevels(pc, 0)); /* all */
    PetscCall(PCVPatchDGSetPrecision(pc, precision));
    PetscCall(SetCorners(pc, c->corners));
    PetscCall(KSPSetTolerances(p.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    PetscCall(KSPSetResidualHistory(p.ksp, history, 102, PETSC_TRUE));
    PetscCall(KSPSolve(p.ksp, p.b, p.x));
    PetscCall(KSPGetResidualHistory(p.ksp, NULL, &n));
    nu[i] = -8 * (n - 1) / PetscLog10Real(history[n - 1] / history[0]);
    PetscCall(TrueResidual(p.A, p.b, p.x, &residual[i]));
    PetscCall(ProblemDestroy(&p));
  }
  TapOk((PetscBool)(PetscAbsReal(nu[0] - c->nu[0]) < 0.31 && PetscAbsReal(nu[1] - c->nu[1]) < 0.31 && residual[0] < 1.1e-8 &&
                    residual[1] < 1.1e-8),
        "iterations_are_the_independent_ones, %s, Q%d, %s: %.2f/%.2f, %.1f/%.1f", c->name, (int)c->degree, VPatchDGPrecisions[precision],
        (double)nu[0], (double)nu[1], (double)c->nu[0], (double)c->nu[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of three cells in a row one is refined. Along the other directions, which are periodic, the cells beyond a side that hangs are their own
   neighbours. */
static PetscErrorCode few_iterations_with_a_cell_across(PetscInt dim)
{
  const VPatchDGBoundary periodic[6] = {VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC,
                                        VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC};
  const PetscReal        face[4] = {0, 0.3, 0.7, 1}, point[3] = {0.1, 0.1, 0.1};
  PetscReal              nu = 0;
  Vec                    b;
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 3, 0, &dm));
  for (PetscInt d = 0; d < dim; d++) PetscCall(DMVPatchDGSetGrid(dm, d, d ? 1 : 3, d ? (PetscReal[]){0, 1} : face));
  PetscCall(DMVPatchDGSetBoundary(dm, periodic));
  PetscCall(DMVPatchDGSetReaction(dm, 1));
  PetscCall(DMVPatchDGSetLocalRefinement(dm, 1, point, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(DMVPatchDGComputeRHS(dm, Wave, NULL, NULL, NULL, b));
  PetscCall(Nu(dm, b, KSPRICHARDSON, "-pc_vpatchdg_levels 0", &nu));
  TapOk((PetscBool)(nu > 0 && nu < 8), "few_iterations_with_a_cell_across, %dD: %.2f", (int)dim, (double)nu);
  PetscCall(VecDestroy(&b));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficients that follow the cells: a jump at x = 1/2, either side stiff, and a smooth one. The mesh hangs on the jump. */
typedef struct {
  const char *name;
  PetscReal   left, right, wave;
  PetscInt    degree;
  PetscReal   nu[2]; /* on a uniform mesh as fine as the smallest cells */
} Varying;
static const Varying varying[] = {{"left stiff", 1000, 1, 0, 2, {4.1, 4.3}}, {"right stiff", 1, 1000, 0, 2, {4.1, 4.3}},
                                  {"left stiff", 1000, 1, 0, 3, {4.0, 3.9}}, {"right stiff", 1, 1000, 0, 3, {4.0, 3.9}},
                                  {"smooth", 1, 1, 1, 2, {5.4, 8.2}},        {"smooth", 1, 1, 1, 3, {5.5, 8.4}}};

static PetscReal VaryingAt(const Varying *v, const PetscReal x[])
{
  return (x[0] < 0.5 ? v->left : v->right) * PetscExpReal(v->wave * PetscSinReal(3 * x[0]) * PetscSinReal(3 * x[1]));
}

static PetscErrorCode VaryingDM(const Varying *v, DM *dm)
{
  PetscInt     n;
  PetscReal   *a, lower[3], upper[3];
  DMAdaptFlag *mark;
  DM           refined;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, v->degree, 3, dm));
  PetscCall(DMSetUp(*dm));
  for (int step = 0; step < 2; step++) {
    PetscCall(DMVPatchDGGetCells(*dm, &n));
    PetscCall(PetscMalloc1(n, &mark));
    for (PetscInt c = 0; c < n; c++) {
      PetscCall(DMVPatchDGGetCellBounds(*dm, c, lower, upper));
      mark[c] = lower[0] >= 0.5 && upper[0] < 0.8 && lower[1] > 0.2 && upper[1] < 0.9 ? DM_ADAPT_REFINE : DM_ADAPT_KEEP;
    }
    PetscCall(DMVPatchDGRefineCells(*dm, mark, &refined));
    PetscCall(PetscFree(mark));
    PetscCall(DMDestroy(dm));
    *dm = refined;
  }
  PetscCall(DMVPatchDGGetCells(*dm, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(*dm, c, lower, upper));
    for (int d = 0; d < 2; d++) lower[d] = (lower[d] + upper[d]) / 2;
    a[c] = VaryingAt(v, lower);
  }
  PetscCall(DMVPatchDGSetCoefficient(*dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* nu of a solve with f = 1, and its true residual */
static PetscErrorCode Measure(DM dm, KSPType type, VPatchDGCycleType cycle, PetscReal *nu, PetscReal *residual)
{
  PetscReal history[102];
  PetscInt  n;
  Problem   p;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(ProblemOf(dm, "measure_", &p));
  PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, p.b));
  PetscCall(KSPSetType(p.ksp, type));
  PetscCall(TestPC(p.ksp, &pc));
  PetscCall(PCVPatchDGSetLevels(pc, 0));
  PetscCall(PCVPatchDGSetCycleType(pc, cycle));
  PetscCall(SetCorners(pc, 0));
  PetscCall(KSPSetTolerances(p.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetResidualHistory(p.ksp, history, 102, PETSC_TRUE));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(KSPGetResidualHistory(p.ksp, NULL, &n));
  *nu = -8 * (n - 1) / PetscLog10Real(history[n - 1] / history[0]);
  PetscCall(TrueResidual(p.A, p.b, p.x, residual));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode iterations_with_a_coefficient(const Varying *v)
{
  static const char *const type[] = {KSPFGMRES, KSPRICHARDSON};
  PetscReal                nu[2], residual[2];
  DM                       dm;

  PetscFunctionBeginUser;
  PetscCall(VaryingDM(v, &dm));
  for (int i = 0; i < 2; i++) PetscCall(Measure(dm, type[i], VPATCHDG_CYCLE_AUTO, &nu[i], &residual[i]));
  TapOk((PetscBool)(nu[0] < v->nu[0] + 0.8 && nu[1] < v->nu[1] + 0.8 && PetscMax(residual[0], residual[1]) < 1.1e-8),
        "iterations_with_a_coefficient, %s, Q%d: %.2f/%.2f, uniform %.1f/%.1f", v->name, (int)v->degree, (double)nu[0], (double)nu[1],
        (double)v->nu[0], (double)v->nu[1]);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode other_cycles_take_no_more_iterations(void)
{
  static const VPatchDGCycleType cycle[] = {VPATCHDG_CYCLE_V, VPATCHDG_CYCLE_W, VPATCHDG_CYCLE_F};
  PetscReal                      nu[3], residual[3];
  DM                             dm;

  PetscFunctionBeginUser;
  PetscCall(CaseDM(&cases[7], &dm));
  for (int i = 0; i < 3; i++) PetscCall(Measure(dm, KSPRICHARDSON, cycle[i], &nu[i], &residual[i]));
  TapOk((PetscBool)(nu[1] < nu[0] + 0.05 && nu[2] < nu[0] + 0.05 && PetscMax(residual[1], residual[2]) < 1.1e-8),
        "other_cycles_take_no_more_iterations: V %.2f, W %.2f, F %.2f", (double)nu[0], (double)nu[1], (double)nu[2]);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same of CG with the symmetric cycle */
static const Measured symmetric[] = {{"L+5", LSHAPE, 5, 0, 2, 0, {3.7}},        {"L+5", LSHAPE, 5, 0, 3, 0, {3.5}},
                                     {"L+8", LSHAPE, 8, 0, 2, 0, {3.9}},        {"front+3", VPATCHDG_DOMAIN_BOX, 2, 2, 3, 0.6, 3, 0, {3.6}},
                                     {"Fichera+2", FICHERA, 2, 0, 2, 0, {3.5}}, {"Fichera+2", FICHERA, 2, 0, 3, 0, {3.7}}};

static PetscErrorCode SymmetricPC(KSP ksp, VPatchDGPrecision precision, PetscInt corners, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(TestPC(ksp, pc));
  PetscCall(PCVPatchDGSetLevels(*pc, 0));
  PetscCall(PCVPatchDGSetSymmetric(*pc, PETSC_TRUE));
  PetscCall(PCVPatchDGSetSmooth(*pc, 1, 1));
  PetscCall(PCVPatchDGSetPrecision(*pc, precision));
  PetscCall(SetCorners(*pc, corners));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode cg_takes_the_independent_iterations(const Measured *c, VPatchDGPrecision precision)
{
  PetscReal history[102], nu, residual;
  PetscInt  n;
  Problem   p;
  PC        pc;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(CaseDM(c, &dm));
  PetscCall(ProblemOf(dm, "cg_", &p));
  PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, p.b));
  PetscCall(KSPSetType(p.ksp, KSPCG));
  PetscCall(KSPSetNormType(p.ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(SymmetricPC(p.ksp, precision, c->corners, &pc));
  PetscCall(KSPSetTolerances(p.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetResidualHistory(p.ksp, history, 102, PETSC_TRUE));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(KSPGetResidualHistory(p.ksp, NULL, &n));
  nu = -8 * (n - 1) / PetscLog10Real(history[n - 1] / history[0]);
  PetscCall(TrueResidual(p.A, p.b, p.x, &residual));
  TapOk((PetscBool)(PetscAbsReal(nu - c->nu[0]) < 0.31 && residual < 1.1e-8),
        "cg_takes_the_independent_iterations, %s, Q%d, %s: %.2f, %.1f", c->name, (int)c->degree, VPatchDGPrecisions[precision], (double)nu,
        (double)c->nu[0]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (M x, y) = (x, M y), and so does the transpose that PETSc asks for */
static PetscErrorCode symmetric_cycle_is_symmetric(PetscInt dim, PetscInt degree, PetscInt corners, PetscBool varies)
{
  PetscScalar product[3];
  PetscReal   difference;
  Problem     p;
  PC          pc;
  DM          dm;
  Vec         y, z;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, 1, &dm));
  PetscCall(DMVPatchDGSetDomain(dm, dim == 2 ? VPATCHDG_DOMAIN_LSHAPE : VPATCHDG_DOMAIN_FICHERA));
  PetscCall(DMSetUp(dm));
  for (int i = 0; i < 3; i++) PetscCall(RefineSome(&dm, dim == 2 ? 0.3 : 0.1, i));
  if (varies) PetscCall(SetCoefficient(dm, Coefficient, (PetscReal)dim));
  PetscCall(ProblemOf(dm, "symmetric_", &p));
  PetscCall(SymmetricPC(p.ksp, VPATCHDG_PRECISION_DOUBLE, corners, &pc));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(VecDuplicate(p.x, &y));
  PetscCall(VecDuplicate(p.x, &z));
  PetscCall(VecPointwiseMult(p.x, p.b, p.b));
  PetscCall(PCApply(pc, p.x, y));
  PetscCall(VecDot(y, p.b, &product[0]));
  PetscCall(PCApply(pc, p.b, z));
  PetscCall(VecDot(z, p.x, &product[1]));
  PetscCall(VecDot(y, p.x, &product[2]));
  PetscCall(PCApplyTranspose(pc, p.x, z));
  PetscCall(Difference(z, y, &difference));
  TapOk((PetscBool)(PetscAbsScalar(product[0] - product[1]) < 1e-12 * PetscAbsScalar(product[2]) && difference < 1e-14),
        "symmetric_cycle_is_symmetric, %dD Q%d%s: %g", (int)dim, (int)degree, varies ? ", varying coefficient" : "",
        (double)(PetscAbsScalar(product[0] - product[1]) / PetscAbsScalar(product[2])));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* and positive definite, which CG needs, where coefficients jump among the children of refined cells, so that patches are not exact */
static PetscErrorCode symmetric_cycle_is_positive(PetscInt degree)
{
  const VPatchDGBoundary boundary[6] = {N, N, N, N, N, N};
  KSPConvergedReason     reason;
  PetscReal              re[100], im[100];
  PetscInt               n;
  Problem                p;
  PC                     pc;
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, degree, 1, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscCall(DMVPatchDGSetReaction(dm, 1));
  PetscCall(DMSetUp(dm));
  for (int i = 0; i < 2; i++) PetscCall(RefineSome(&dm, 0.1 / (1 + i), i));
  PetscCall(SetCoefficient(dm, Coefficient, 3));
  PetscCall(ProblemOf(dm, "positive_", &p));
  PetscCall(KSPSetType(p.ksp, KSPCG));
  PetscCall(KSPSetNormType(p.ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetComputeEigenvalues(p.ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(p.ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(SymmetricPC(p.ksp, VPATCHDG_PRECISION_DOUBLE, 1, &pc));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(KSPGetConvergedReason(p.ksp, &reason));
  PetscCall(KSPComputeEigenvalues(p.ksp, 100, re, im, &n));
  for (PetscInt i = 1; i < n; i++) re[0] = PetscMin(re[0], re[i]);
  TapOk((PetscBool)(n && reason > 0 && re[0] > 0.1), "symmetric_cycle_is_positive, Q%d: %s, least eigenvalue %g", (int)degree,
        KSPConvergedReasons[reason], (double)re[0]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++)
    PetscCall(iterations_are_the_independent_ones(&cases[i], i % 3 ? VPATCHDG_PRECISION_SINGLE : VPATCHDG_PRECISION_DOUBLE));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(symmetric); i++)
    PetscCall(cg_takes_the_independent_iterations(&symmetric[i], i % 2 ? VPATCHDG_PRECISION_SINGLE : VPATCHDG_PRECISION_DOUBLE));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(varying); i++) PetscCall(iterations_with_a_coefficient(&varying[i]));
  PetscCall(other_cycles_take_no_more_iterations());
  PetscCall(symmetric_cycle_is_symmetric(2, 3, 0, PETSC_FALSE));
  PetscCall(symmetric_cycle_is_symmetric(2, 5, 2, PETSC_FALSE));
  PetscCall(symmetric_cycle_is_symmetric(3, 2, 1, PETSC_FALSE));
  PetscCall(symmetric_cycle_is_symmetric(2, 3, 0, PETSC_TRUE));
  PetscCall(symmetric_cycle_is_symmetric(3, 2, 1, PETSC_TRUE));
  for (PetscInt k = 1; k <= 2; k++) PetscCall(symmetric_cycle_is_positive(k));
  for (PetscInt dim = 2; dim <= 3; dim++) PetscCall(few_iterations_with_a_cell_across(dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}
