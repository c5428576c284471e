/* The flux through sides with a label, of functions and of solutions that are known. */
/* ranks: 1 2 4 */
#include "support/problem.h"
#include "support/refused.h"

/* x^2 (1 + y) + y, in 3D + z^2 x: its derivatives are in the space at degree 2 */
static PetscErrorCode Polynomial(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = x[0] * x[0] * (1 + x[1]) + x[1] + (dim == 3 ? x[2] * x[2] * x[0] : 0);
  return 0;
}

typedef enum { ONE, NUMBER, TENSOR } Coefficient;
static const char *const coefficients[] = {"", ", a jumps", ", a tensor"};

/* [0,2] x [0,1] (x [0,1]) of two boxes, refined around a point if levels is not 0. a of the boxes is 2 and 5, times d + 1 along d in a
   tensor. */
static PetscErrorCode Create(PetscInt dim, PetscInt levels, Coefficient coefficient, PetscBool labels, DM *dm)
{
  const PetscInt number[2][6] = {{7, -1, 8, 9, 9, 9}, {3, 7, 9, 8, -1, 9}};
  PetscInt       n, all[12];
  PetscReal     *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 2, 1, dm));
  PetscCall(DMVPatchDGSetBoxGrid(*dm, (PetscInt[]){2, 1, 1}, (PetscReal[]){0, 0, 0}, (PetscReal[]){2, 1, 1}));
  PetscCall(
    DMVPatchDGSetBoundary(*dm, (VPatchDGBoundary[]){VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_ROBIN,
                                                    VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_DIRICHLET}));
  for (int i = 0; i < 4 * dim; i++) all[i] = number[i / (2 * dim)][i % (2 * dim)];
  if (labels) PetscCall(DMVPatchDGSetSideLabels(*dm, 2, all));
  if (levels) PetscCall(DMVPatchDGSetLocalRefinement(*dm, levels, (PetscReal[]){0, 1, 0.3}, NULL));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMVPatchDGGetCells(*dm, &n));
  PetscCall(PetscMalloc1(n * dim + 1, &a));
  for (PetscInt i = 0; i < n * (coefficient == TENSOR ? dim : 1); i++) {
    PetscCall(DMVPatchDGGetCellBounds(*dm, coefficient == TENSOR ? i / dim : i, lower, upper));
    a[i] = (lower[0] < 1 ? 2 : 5) * (coefficient == TENSOR ? i % dim + 1 : 1);
  }
  if (coefficient == NUMBER) PetscCall(DMVPatchDGSetCoefficient(*dm, a));
  if (coefficient == TENSOR) PetscCall(DMVPatchDGSetTensorCoefficient(*dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the integral of du/dn over a side of a box, by hand */
static PetscReal ByHand(PetscInt dim, int box, int side)
{
  const PetscReal squares = box ? 7. / 3 : 1. / 3, ends = box ? 1.5 : 0.5; /* of x^2 and x over the box */

  switch (side) {
  case 0: /* -(2 x (1 + y) + z^2) at x = box */
    return -(2 * box * 1.5 + (dim == 3 ? 1. / 3 : 0));
  case 1:
    return 2 * (box + 1) * 1.5 + (dim == 3 ? 1. / 3 : 0);
  case 2: /* -(x^2 + 1) */
    return -(squares + 1);
  case 3:
    return squares + 1;
  case 4: /* -2 z x at z = 0 */
    return 0;
  default:
    return 2 * ends;
  }
}

static PetscErrorCode flux_of_a_polynomial_is_found(PetscInt dim, PetscInt levels, Coefficient coefficient, PetscBool labels)
{
  const PetscInt number[2][6] = {{7, -1, 8, 9, 9, 9}, {3, 7, 9, 8, -1, 9}}, asked[2][6] = {{0, 1, 2, 3, 4, 5}, {7, 8, 9, -1}};
  DM             dm;
  Vec            u;
  PetscReal      worst = 0;
  PetscInt       n = labels ? 3 + (dim == 3) : 2 * dim;

  PetscFunctionBeginUser;
  PetscCall(Create(dim, levels, coefficient, labels, &dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(DMVPatchDGInterpolate(dm, Polynomial, NULL, u));
  for (PetscInt i = 0; i < n; i++) {
    PetscScalar flux;
    PetscReal   right = 0;

    for (int box = 0; box < 2; box++) {
      for (int side = 0; side < 2 * dim; side++) {
        const PetscReal a = coefficient == ONE ? 1 : (box ? 5 : 2) * (coefficient == TENSOR ? side / 2 + 1 : 1);

        if (side == 1 - box || (labels ? number[box][side] : side) != asked[labels][i]) continue; /* between the boxes; another label */
        right += a * ByHand(dim, box, side);
      }
    }
    PetscCall(DMVPatchDGIntegrateFlux(dm, u, asked[labels][i], &flux));
    worst = PetscMax(worst, PetscAbsScalar(flux - right));
  }
  TapOk((PetscBool)(worst < 1e-11), "flux_of_a_polynomial_is_found, %dD%s%s%s: %.1e", (int)dim, levels ? ", adaptive" : "",
        coefficients[coefficient], labels ? ", labels" : "", (double)worst);
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -div grad u = f */
static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = PetscExpReal(x[0]) * PetscSinReal(2 * x[1] + 1);
  return 0;
}
static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  Solution(dim, x, value, ctx);
  value[0] *= 3;
  return 0;
}
static PetscErrorCode Normal(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  value[0] = PetscExpReal(x[0]) * (normal[0] * PetscSinReal(2 * x[1] + 1) + 2 * normal[1] * PetscCosReal(2 * x[1] + 1));
  return 0;
}

static PetscErrorCode Solve(DM dm, Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(ProblemOf(dm, NULL, p));
  PetscCall(TestSolver(p->ksp, 1e-13, 40));
  PetscCall(DMVPatchDGComputeRHS(dm, Source, Solution, Normal, NULL, p->b));
  PetscCall(KSPSolve(p->ksp, p->b, p->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the integral over all Dirichlet sides, which are x- and x+ of 2^refine equal cells each, of u_h - u */
static PetscErrorCode JumpAtDirichlet(Problem *p, PetscInt degree, PetscInt refine, PetscReal *integral)
{
  const PetscInt     n = degree + 1;
  const PetscScalar *v, *x;
  PetscScalar        g;
  PetscInt           count;
  double             at[VP_MAX_N], weight[VP_MAX_N];
  Vec                coordinates, values;

  PetscFunctionBeginUser;
  VpGauss((int)n, at, weight);
  PetscCall(DMVPatchDGGetBoundaryPoints(p->dm, VPATCHDG_BOUNDARY_DIRICHLET, &coordinates, NULL));
  PetscCall(DMVPatchDGCreateBoundaryVector(p->dm, VPATCHDG_BOUNDARY_DIRICHLET, &values));
  PetscCall(DMVPatchDGGetBoundaryValues(p->dm, VPATCHDG_BOUNDARY_DIRICHLET, p->x, values, NULL));
  PetscCall(VecGetLocalSize(values, &count));
  PetscCall(VecGetArrayRead(values, &v));
  PetscCall(VecGetArrayRead(coordinates, &x));
  *integral = 0;
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(Solution(2, x + 2 * i, &g, NULL));
    *integral += PetscRealPart(v[i] - g) * weight[i % n] / (PetscReal)((PetscInt)1 << refine);
  }
  PetscCall(VecRestoreArrayRead(coordinates, &x));
  PetscCall(VecRestoreArrayRead(values, &v));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, integral, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(VecDestroy(&values));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* errors of the flux through x- (Dirichlet) and y+ (Neumann), and of the sum of the conservative fluxes through all sides */
static PetscErrorCode Errors(PetscInt degree, PetscInt refine, PetscReal error[3])
{
  const VPatchDGBoundary boundary[] = {VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN,
                                       VPATCHDG_BOUNDARY_NEUMANN};
  const PetscReal        e = PetscExpReal(1), s = (PetscCosReal(1) - PetscCosReal(3)) / 2; /* the integral of sin(2 y + 1) */
  const PetscReal        top = 2 * PetscCosReal(3) * (e - 1), bottom = -2 * PetscCosReal(1) * (e - 1);
  PetscReal              jump;
  PetscScalar            flux[4];
  DM                     dm;
  Problem                p;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, degree, refine, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscCall(DMSetUp(dm));
  PetscCall(Solve(dm, &p));
  for (int side = 0; side < 4; side++) PetscCall(DMVPatchDGIntegrateFlux(dm, p.x, side, &flux[side]));
  error[0] = PetscAbsScalar(flux[0] + s);
  error[1] = PetscAbsScalar(flux[3] - top);
  PetscCall(JumpAtDirichlet(&p, degree, refine, &jump));
  error[2] = PetscAbsReal(PetscRealPart(flux[0] + flux[1]) - 2 * degree * (degree + 1) * PetscPowRealInt(2, refine) * jump + top + bottom +
                          3 * s * (e - 1));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The conservative flux is a (du/dn - gamma (u - g)) on Dirichlet sides, and the given one on Neumann sides. The test integrates g with
   fewer points than DMVPatchDGComputeRHS(). */
static PetscErrorCode flux_of_a_solution_converges(PetscInt degree, PetscInt refine)
{
  PetscReal error[2][3], rate[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(Errors(degree, refine + i, error[i]));
  for (int i = 0; i < 2; i++) rate[i] = PetscLog2Real(error[0][i] / error[1][i]);
  TapOk((PetscBool)(rate[0] > degree - 0.3 && rate[1] > degree - 0.3 && error[1][0] < 0.1),
        "flux_of_a_solution_converges, Q%d: errors %.1e %.1e, rates %.2f %.2f", (int)degree, (double)error[1][0], (double)error[1][1],
        (double)rate[0], (double)rate[1]);
  TapOk((PetscBool)(error[0][2] < 1e-3 * error[0][0] && error[1][2] < 1e-3 * error[1][0]),
        "conservative_fluxes_sum_to_the_sources, Q%d: %.1e", (int)degree, (double)error[1][2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_input_is_refused(void)
{
  DM          dm;
  Vec         u;
  PetscScalar flux;

  PetscFunctionBeginUser;
  PetscCall(Create(2, 0, ONE, PETSC_FALSE, &dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  Refused(DMVPatchDGIntegrateFlux(dm, u, 4, &flux), "the boundary has no side 4", "a side that there is not");
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&dm));
  PetscCall(Create(2, 0, ONE, PETSC_TRUE, &dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  Refused(DMVPatchDGIntegrateFlux(dm, u, 3, &flux), "no side on the boundary has the label 3", "a label between boxes");
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (PetscInt dim = 2; dim <= 3; dim++) {
    for (Coefficient a = ONE; a <= TENSOR; a++) {
      for (int labels = 0; labels < 2; labels++) PetscCall(flux_of_a_polynomial_is_found(dim, a == NUMBER, a, (PetscBool)labels));
    }
  }
  PetscCall(flux_of_a_solution_converges(1, 4));
  PetscCall(flux_of_a_solution_converges(2, 4));
  PetscCall(flux_of_a_solution_converges(3, 3));
  PetscCall(flux_of_a_solution_converges(4, 2));
  PetscCall(bad_input_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
