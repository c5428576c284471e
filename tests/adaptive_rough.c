/* Coefficients that jump inside cells that were refined: all leaves are handed over to finite volumes. Iterations, next to those of the
   levels alone; the same on every number of ranks; nothing changes where the coefficient does not jump there. */
/* ranks: 1 2 4 */
#include "support/leaves.h"
#include "support/nu.h"

typedef enum { NOISE, LAYERS, INCLUSIONS } Field;
static const char *const fields[] = {"noise 1e3", "layers 1e3", "inclusions 1e3"};

typedef struct {
  Field     field;
  PetscInt  dim, degree, refine, levels;
  PetscReal nu[2]; /* handed over, as measured on one rank; at least with levels alone */
} Rough;

static const Rough cases[] = {{NOISE, 2, 2, 4, 2, {13.2, 35}},     {LAYERS, 2, 2, 4, 2, {8.9, 13}}, {INCLUSIONS, 2, 2, 4, 2, {16.7, 60}},
                              {NOISE, 2, 3, 4, 1, {17.6, 40}},     {NOISE, 3, 2, 2, 1, {10.6, 60}}, {LAYERS, 3, 1, 2, 2, {5.8, 10}},
                              {INCLUSIONS, 3, 2, 2, 2, {10.7, 50}}};

/* in cells of the finest size, of which there are n along a direction */
static PetscReal FieldAt(const Rough *r, const PetscReal lower[], const PetscReal upper[])
{
  const PetscInt n = 1 << (r->refine + r->levels);
  PetscReal      block[3] = {0, 0, 0};

  if (r->field == NOISE) return PetscPowReal(1e3, Lot(lower, upper, (int)r->dim, 3));
  if (r->field == LAYERS) return (PetscInt)((lower[0] + upper[0]) / 2 * (PetscReal)n + 1e-9) % 2 ? 1e3 : 1;
  for (PetscInt d = 0; d < r->dim; d++) block[d] = PetscFloorReal((lower[d] + upper[d]) / 6 * (PetscReal)n + 1e-9);
  return Lot(block, block, (int)r->dim, 3) < 0.3 ? 1e3 : 1;
}

static PetscErrorCode CreateRough(const Rough *r, DM *dm)
{
  PetscInt   n;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, r->dim, r->degree, r->refine, dm));
  PetscCall(DMVPatchDGSetLocalRefinement(*dm, r->levels, NULL, r->dim == 2 ? (PetscReal[]){0, 0, 0.6} : (PetscReal[]){0, 0, 0, 0.6}));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMVPatchDGGetCells(*dm, &n));
  PetscCall(PetscMalloc1(n + 1, &a)); /* not NULL on ranks without cells */
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(*dm, c, lower, upper));
    a[c] = FieldAt(r, lower, upper);
  }
  PetscCall(DMVPatchDGSetCoefficient(*dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills b with numbers that do not depend on the ranks. */
static PetscErrorCode FillRight(DM dm, Vec b)
{
  PetscInt     n, dim, ndof;
  PetscReal    lower[3], upper[3];
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(VecGetLocalSize(b, &ndof));
  ndof /= PetscMax(1, n);
  PetscCall(VecGetArrayWrite(b, &values));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    for (PetscInt i = 0; i < ndof; i++) values[c * ndof + i] = Lot(lower, upper, (int)dim, 7 + (int)i) - 0.5;
  }
  PetscCall(VecRestoreArrayWrite(b, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode iterations_where_leaves_are_handed_over(const Rough *r)
{
  PetscReal nu[2];
  Vec       b;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(CreateRough(r, &dm));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(FillRight(dm, b));
  PetscCall(Nu(dm, b, KSPFGMRES, "-pc_vpatchdg_levels 0 -pc_vpatchdg_handover_ratio 3", &nu[0]));
  PetscCall(Nu(dm, b, KSPFGMRES, "-pc_vpatchdg_levels 0 -pc_vpatchdg_handover_ratio 1e99 -vpatchdg_warnings 0", &nu[1]));
  TapOk((PetscBool)(PetscAbsReal(nu[0] - r->nu[0]) < 1 && nu[1] > r->nu[1]),
        "iterations_where_leaves_are_handed_over: %s, %dD, Q%d: %.2f for %.1f, with levels alone %.1f", fields[r->field], (int)r->dim,
        (int)r->degree, (double)nu[0], (double)r->nu[0], (double)nu[1]);
  PetscCall(VecDestroy(&b));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a jump along cells of the coarsest levels, or none */
static PetscReal Halves(const PetscReal lower[], const PetscReal upper[], PetscReal jump)
{
  return lower[0] < 0.5 ? jump : 1;
}

static PetscErrorCode other_coefficients_keep_their_cycle(PetscReal jump)
{
  static const char *const options[] = {"-pc_vpatchdg_levels 0 -pc_vpatchdg_handover_ratio 3",
                                        "-pc_vpatchdg_levels 0 -pc_vpatchdg_handover_ratio 1e99"};
  PetscReal                differ, size;
  Problem                  p;
  Vec                      x[2];
  DM                       dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 3, &dm));
  PetscCall(DMVPatchDGSetLocalRefinement(dm, 2, NULL, (PetscReal[]){0, 0, 0.6}));
  PetscCall(DMSetUp(dm));
  PetscCall(SetCoefficient(dm, Halves, jump));
  for (int i = 0; i < 2; i++) {
    PetscOptions database;
    PC           pc;

    PetscCall(TestOptionsPush(options[i], &database));
    PetscCall(PetscObjectReference((PetscObject)dm));
    PetscCall(ProblemOf(dm, NULL, &p));
    PetscCall(FillRight(dm, p.b));
    PetscCall(KSPSetType(p.ksp, KSPFGMRES));
    PetscCall(TestPC(p.ksp, &pc));
    PetscCall(KSPSetFromOptions(p.ksp));
    PetscCall(KSPSolve(p.ksp, p.b, p.x));
    PetscCall(VecDuplicate(p.x, &x[i]));
    PetscCall(VecCopy(p.x, x[i]));
    PetscCall(ProblemDestroy(&p));
    PetscCall(TestOptionsPop(&database));
  }
  PetscCall(VecNorm(x[0], NORM_2, &size));
  PetscCall(VecAXPY(x[0], -1, x[1]));
  PetscCall(VecNorm(x[0], NORM_INFINITY, &differ));
  TapOk((PetscBool)(size > 0 && differ == 0), "other_coefficients_keep_their_cycle: jump %g", (double)jump);
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&x[i]));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finite volumes of all leaves would not be symmetric. Sweeps over single cells take their place: they come first on the way down, in
   reverse order, as they come last on the way up. */
static PetscErrorCode symmetric_with_sweeps_of_single_cells(const Rough *r)
{
  PetscScalar  product[2];
  PetscOptions database;
  PetscReal    size, nu;
  Problem      p;
  Vec          z[2];
  DM           dm;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(TestOptionsPush("-pc_vpatchdg_symmetric -pc_vpatchdg_levels 0 -pc_vpatchdg_precision double -pc_vpatchdg_exchange color "
                            "-pc_vpatchdg_handover_ratio 3",
                            &database));
  PetscCall(CreateRough(r, &dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(FillRight(dm, p.b));
  PetscCall(VecSetRandom(p.x, NULL));
  PetscCall(TestPC(p.ksp, &pc));
  PetscCall(KSPSetFromOptions(p.ksp));
  for (int i = 0; i < 2; i++) {
    PetscCall(VecDuplicate(p.x, &z[i]));
    PetscCall(PCApply(pc, i ? p.b : p.x, z[i]));
    PetscCall(VecDot(z[i], i ? p.x : p.b, &product[i]));
  }
  size = PetscAbsScalar(product[0]);
  PetscCall(Nu(dm, p.b, KSPCG, NULL, &nu));
  TapOk((PetscBool)(size > 0 && PetscAbsScalar(product[0] - product[1]) < 1e-10 * size && nu > 0 && nu < 24),
        "symmetric_with_sweeps_of_single_cells: %s, %dD, Q%d: %.12g, %.12g; %.1f iterations of CG", fields[r->field], (int)r->dim,
        (int)r->degree, (double)PetscRealPart(product[0]), (double)PetscRealPart(product[1]), (double)nu);
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&z[i]));
  PetscCall(ProblemDestroy(&p));
  PetscCall(TestOptionsPop(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(iterations_where_leaves_are_handed_over(&cases[i]));
  PetscCall(symmetric_with_sweeps_of_single_cells(&cases[0]));
  PetscCall(symmetric_with_sweeps_of_single_cells(&cases[4]));
  PetscCall(other_coefficients_keep_their_cycle(1));
  PetscCall(other_coefficients_keep_their_cycle(1e3));
  PetscFunctionReturn(PETSC_SUCCESS);
}
