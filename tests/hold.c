/* How firmly cells are held, on meshes where the widest way is known, and what is said where rounding errors hide it.
   ranks: 1 3 */
#include "../src/petsc/dmdata/dmdata.h"
#include "support/problem.h"
#include "support/refused.h"

static PetscReal Layer(const PetscReal lower[], const PetscReal upper[], PetscReal weak)
{
  return lower[0] >= 0.5 - 1e-9 && upper[0] <= 0.75 + 1e-9 ? weak : 1;
}

static PetscReal Island(const PetscReal lower[], const PetscReal upper[], PetscReal weak)
{
  return lower[0] >= 0.25 - 1e-9 && upper[0] <= 0.5 + 1e-9 && lower[1] >= 0.25 - 1e-9 && upper[1] <= 0.5 + 1e-9 ? 1 : weak;
}

static PetscReal Growing(const PetscReal lower[], const PetscReal upper[], PetscReal factor)
{
  return PetscPowReal(factor, PetscFloorReal(8 * lower[0] + 1e-6));
}

static PetscReal Same(const PetscReal lower[], const PetscReal upper[], PetscReal a)
{
  return a;
}

enum { D = VPATCHDG_BOUNDARY_DIRICHLET, N = VPATCHDG_BOUNDARY_NEUMANN, R = VPATCHDG_BOUNDARY_ROBIN };

/* the unit square, 8 x 8 cells; sides are x-, x+, y-, y+; local: halved further at a point */
static const struct {
  const char *name;
  int         sides[4];
  PetscReal (*a)(const PetscReal lower[], const PetscReal upper[], PetscReal);
  PetscReal parameter, alpha, reaction;
  PetscInt  local;
  PetscReal hold;
} cases[] = {
  {"uniform", {D, D, D, D}, Same, 7, 0, 0, 0, 1},
  {"uniform, Neumann", {N, N, N, N}, Same, 7, 0, 0, 0, 1},
  {"uniform, adaptive", {D, N, N, N}, Same, 1, 0, 0, 2, 1. / 16},
  {"layer between Dirichlet sides", {D, D, N, N}, Layer, 1e-12, 0, 0, 0, 1},
  {"layer before a Neumann side", {D, N, N, N}, Layer, 1e-12, 0, 0, 0, 1e-12},
  {"layer, Neumann", {N, N, N, N}, Layer, 1e-12, 0, 0, 0, 1e-12},
  {"layer that Dirichlet sides go along", {D, N, N, D}, Layer, 1e-12, 0, 0, 0, 1},
  {"layer, adaptive", {D, N, N, N}, Layer, 1e-12, 0, 0, 1, 1e-12 / 4},
  {"island", {D, D, D, D}, Island, 1e-10, 0, 0, 0, 1e-10},
  {"growing", {D, N, N, N}, Growing, 10, 0, 0, 0, 1e-7},
  {"Robin", {R, N, N, N}, Same, 1, 1e-6, 0, 0, 1e-6 / 8},
  {"reaction", {N, N, N, N}, Same, 1, 0, 1e-6, 0, 1e-6 / 64},
  {"reaction beside a layer", {D, N, N, N}, Layer, 1e-12, 0, 1e-4, 0, 1e-4 / 64},
};

static PetscErrorCode holds_are_those_of_the_widest_ways(size_t i)
{
  VPatchDGBoundary sides[4];
  const PetscReal  alpha[] = {cases[i].alpha, cases[i].alpha, cases[i].alpha, cases[i].alpha}, point[] = {0.9, 0.9};
  PetscReal        hold;
  DM               dm;

  PetscFunctionBeginUser;
  for (int s = 0; s < 4; s++) sides[s] = (VPatchDGBoundary)cases[i].sides[s];
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 2, 3, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, sides));
  if (cases[i].alpha > 0) PetscCall(DMVPatchDGSetRobin(dm, alpha));
  PetscCall(DMVPatchDGSetReaction(dm, cases[i].reaction));
  if (cases[i].local) PetscCall(DMVPatchDGSetLocalRefinement(dm, cases[i].local, point, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(SetCoefficient(dm, cases[i].a, cases[i].parameter));
  PetscCall(VpProblemHold(DMVPatchDGData(dm)->op->mesh, &DMVPatchDGData(dm)->op->problem, &hold));
  TapOk((PetscBool)(PetscAbsReal(hold / cases[i].hold - 1) < 1e-9), "holds_are_those_of_the_widest_ways: %s: %g, not %g", cases[i].name,
        (double)hold, (double)cases[i].hold);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the tensor (1, 1, weak) on 8 x 8 x 2 cells, Neumann sides */
static PetscErrorCode Stack(PetscInt degree, PetscReal weak, Problem *p)
{
  const VPatchDGBoundary n = VPATCHDG_BOUNDARY_NEUMANN, sides[] = {n, n, n, n, n, n};
  const PetscInt         grid[] = {8, 8, 2};
  PetscReal             *a;
  PetscInt               cells;
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 3, degree, 0, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, grid, NULL, NULL));
  PetscCall(DMVPatchDGSetBoundary(dm, sides));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &cells));
  PetscCall(PetscMalloc1(3 * cells + 1, &a));
  for (PetscInt i = 0; i < 3 * cells; i++) a[i] = i % 3 == 2 ? weak : 1;
  PetscCall(DMVPatchDGSetTensorCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscCall(ProblemOf(dm, NULL, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = PetscCosReal(PETSC_PI * x[0]) / *(const PetscReal *)ctx;
  return 0;
}

/* -div(a grad u) = cos(pi x): right, or an error */
static PetscErrorCode weak_directions_are_right_or_refused(PetscReal weak)
{
  Problem        p;
  PetscErrorCode code;
  PetscReal      one = 1, square = PETSC_PI * PETSC_PI, error = -1;

  PetscFunctionBeginUser;
  PetscCall(Stack(2, weak, &p));
  PetscCall(DMVPatchDGComputeRHS(p.dm, Wave, NULL, NULL, &one, p.b));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code = SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-8 -pc_type vpatchdg -vpatchdg_warnings 0", NULL, NULL, NULL);
  PetscCall(PetscPopErrorHandler());
  if (!code) PetscCall(DMVPatchDGComputeErrors(p.dm, p.x, Wave, NULL, &square, &error, NULL));
  TapOk((PetscBool)(weak < 1e-12 ? code == PETSC_ERR_ARG_OUTOFRANGE : !code && error < (weak < 1e-11 ? 1e-3 : 2e-5)),
        "weak_directions_are_right_or_refused: %.0e: error code %d, L2 error %.1e", (double)weak, (int)code, (double)error);
  if (!code) PetscCall(ProblemDestroy(&p)); /* An error leaves objects half made. */
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(holds_are_those_of_the_widest_ways(i));
  PetscCall(LossesAreExpected());
  for (int e = 0; e <= 16; e += 2) PetscCall(weak_directions_are_right_or_refused(PetscPowReal(10, -e)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
