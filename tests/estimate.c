/* Estimated errors, against jumps known from the cells' bounds, and what is marked by them. */
/* ranks: 1 2 3 */
#include "support/leaves.h"
#include "support/refused.h"

/* 1 + x_0 in one cell, whose lower corner x counts from, 0 in all others: the integral of its square over [a, b] times an area */
static PetscReal SquareOver(PetscReal a, PetscReal b)
{
  return (PetscPowRealInt(1 + b, 3) - PetscPowRealInt(1 + a, 3)) / 3;
}

/* what the faces of cell i at its side, towards cell j or (j < 0) the boundary, add to eta^2 of cell c, where only i has a function */
static PetscReal FaceSquare(const Cells *all, PetscInt i, PetscInt j, int side)
{
  const int        d = side / 2, k = all->n - 1, dim = all->dim;
  const PetscReal *l = all->lower + dim * i, *u = all->upper + dim * i, at = side % 2 ? u[d] : l[d];
  const PetscReal  own = u[d] - l[d], a = all->a[i];
  PetscReal        h = own, mean = a, value = 1, area = 1, slope = d == 0 ? a : 0;

  for (int e = 0; e < dim; e++) {
    PetscReal low = l[e], high = u[e];

    if (e == d) continue;
    if (j >= 0) {
      low = PetscMax(low, all->lower[dim * j + e]);
      high = PetscMin(high, all->upper[dim * j + e]);
      if (high - low < 1e-12) return 0;
    }
    area *= high - low;
    value *= e == 0 ? SquareOver(low - l[0], high - l[0]) : high - low;
  }
  if (d == 0) value *= PetscSqr(1 + at - l[0]);
  if (j >= 0) {
    if (PetscAbsReal(at - (side % 2 ? all->lower : all->upper)[dim * j + d]) > 1e-12) return 0;
    h = PetscMin(h, all->upper[dim * j + d] - all->lower[dim * j + d]);
    mean = 2 * a * all->a[j] / (a + all->a[j]);
    return (h / (k * mean) * slope * slope * area + mean * k * (k + 1) / h * value) / 2;
  }
  return a * k * (k + 1) / h * value;
}

/* eta^2 of all cells where cell i has the function 1 + x_0 */
static void Expect(const Cells *all, PetscInt i, const PetscReal span[2][3], PetscReal square[])
{
  for (PetscInt c = 0; c < all->ncell; c++) square[c] = 0;
  for (int side = 0; side < 2 * all->dim; side++) {
    const PetscReal at = (side % 2 ? all->upper : all->lower)[all->dim * i + side / 2];

    if (PetscAbsReal(at - span[side % 2][side / 2]) < 1e-12) square[i] += FaceSquare(all, i, -1, side);
    for (PetscInt j = 0; j < all->ncell; j++) {
      const PetscReal face = FaceSquare(all, i, j, side);

      square[i] += face;
      square[j] += face;
    }
  }
}

/* the coefficients of 1 + x_0 in cell i, where x_0 is 0 on its lower side: integrals of products, by Gauss points */
static void SetLinear(const Cells *all, PetscInt i, PetscScalar values[])
{
  const PetscReal *lower = all->lower + all->dim * i, *upper = all->upper + all->dim * i;
  PetscReal        volume = 1;
  double           nodes[VP_MAX_N], weights[VP_MAX_N], phi[VP_MAX_N];

  for (int d = 0; d < all->dim; d++) volume *= upper[d] - lower[d];
  VpGauss(all->n, nodes, weights);
  for (int at = 0; at < PetscPowInt(all->n, all->dim); at++) {
    values[at] = PetscSqrtReal(volume);
    for (int d = 0, r = at; d < all->dim; d++, r /= all->n) {
      PetscReal sum = 0;

      for (int q = 0; q < all->n; q++) {
        VpBasisEvaluate(&all->basis, nodes[q], phi, NULL);
        sum += weights[q] * phi[r % all->n] * (d == 0 ? 1 + nodes[q] * (upper[0] - lower[0]) : 1);
      }
      values[at] *= sum;
    }
  }
}

static PetscErrorCode jumps_have_their_weights(const Case *c)
{
  PetscReal span[2][3], *square, *eta, worst = 0;
  PetscReal largest = 0;
  PetscInt  n, first;
  Cells     all;
  DM        dm;
  Vec       x;
  PetscInt  ndof;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(c, &dm));
  PetscCall(CellsCreate(dm, &all));
  ndof = PetscPowInt(all.n, all.dim);
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCallMPI(MPI_Scan(&n, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  first -= n;
  PetscCall(PetscMalloc2(all.ncell, &square, n, &eta));
  for (int d = 0; d < all.dim; d++) {
    span[0][d] = span[1][d] = all.lower[d];
    for (PetscInt i = 0; i < all.ncell; i++) {
      span[0][d] = PetscMin(span[0][d], all.lower[all.dim * i + d]);
      span[1][d] = PetscMax(span[1][d], all.upper[all.dim * i + d]);
    }
  }
  for (PetscInt i = 0; i < all.ncell; i++) {
    PetscScalar *values;

    PetscCall(VecZeroEntries(x));
    if (i >= first && i < first + n) {
      PetscCall(VecGetArray(x, &values));
      SetLinear(&all, i, values + (i - first) * ndof);
      PetscCall(VecRestoreArray(x, &values));
    }
    PetscCall(DMVPatchDGEstimate(dm, x, NULL, NULL, NULL, NULL, eta));
    Expect(&all, i, (const PetscReal(*)[3])span, square);
    for (PetscInt k = 0; k < n; k++) {
      worst = PetscMax(worst, PetscAbsReal(eta[k] * eta[k] - square[first + k]));
      largest = PetscMax(largest, square[first + k]);
    }
  }
  TapOk((PetscBool)(worst <= 1e-11 * largest), "jumps_have_their_weights, %s: %g of %g", c->name, (double)worst, (double)largest);
  PetscCall(PetscFree2(square, eta));
  PetscCall(CellsDestroy(&all));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u = prod_d (x_d^2 + x_d/2 + 1) is in the space; -a Lap u + c u */
typedef struct {
  PetscReal reaction, alpha;
} Equation;

static PetscErrorCode Polynomial(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  for (PetscInt d = 0; d < dim; d++) value[0] *= x[d] * x[d] + x[d] / 2 + 1;
  return PETSC_SUCCESS;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  PetscScalar u;

  PetscCall(Polynomial(dim, x, &u, ctx));
  value[0] = ((Equation *)ctx)->reaction * u;
  for (PetscInt d = 0; d < dim; d++) value[0] -= 2 * u / (x[d] * x[d] + x[d] / 2 + 1);
  return PETSC_SUCCESS;
}

static PetscErrorCode Flux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  PetscScalar u;

  PetscCall(Polynomial(dim, x, &u, ctx));
  value[0] = 0;
  for (PetscInt d = 0; d < dim; d++) {
    value[0] += normal[d] * (2 * x[d] + 0.5) * u / (x[d] * x[d] + x[d] / 2 + 1);
    if (PetscAbsReal(normal[d]) > 0.5 && d == 0) value[0] += ((Equation *)ctx)->alpha * u; /* x sides are Robin's */
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode exact_solutions_have_no_error(PetscInt dim, PetscInt degree)
{
  const VPatchDGBoundary boundary[6] = {VPATCHDG_BOUNDARY_ROBIN, VPATCHDG_BOUNDARY_ROBIN, N, D, D, N};
  Equation               equation = {.reaction = 2, .alpha = 1.5};
  const PetscReal        alpha[6] = {1.5, 1.5, 1.5, 1.5, 1.5, 1.5};
  PetscReal             *eta, worst[2] = {0, 0};
  PetscInt               n;
  DM                     dm;
  Vec                    x;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, 1, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscCall(DMVPatchDGSetRobin(dm, alpha));
  PetscCall(DMVPatchDGSetReaction(dm, equation.reaction));
  PetscCall(DMSetUp(dm));
  for (int i = 0; i < 2; i++) PetscCall(RefineSome(&dm, 0.3, i));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &eta));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(DMVPatchDGInterpolate(dm, Polynomial, NULL, x));
  for (int i = 0; i < 2; i++) {
    PetscCall(DMVPatchDGEstimate(dm, x, Source, Polynomial, Flux, &equation, eta));
    for (PetscInt c = 0; c < n; c++) worst[i] = PetscMax(worst[i], eta[c]);
    equation.alpha = 2; /* other data: there is an error then */
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(worst[0] < 1e-10 && worst[1] > 1e-2), "exact_solutions_have_no_error, %dD Q%d: %g", (int)dim, (int)degree,
        (double)worst[0]);
  PetscCall(PetscFree(eta));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* errors whose squares are no numbers, or 0, are marked like those between; changes mark */
static PetscErrorCode size_does_not_matter(DM dm, PetscInt n, const PetscReal eta[], DMAdaptFlag mark[])
{
  const PetscReal scale[3] = {1, 1e-250, 1e250};
  PetscReal      *scaled;
  DMAdaptFlag    *first;
  PetscBool       same = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &scaled, n, &first));
  for (int i = 0; i < 3; i++) {
    for (PetscInt c = 0; c < n; c++) scaled[c] = scale[i] * eta[c];
    PetscCall(DMVPatchDGMark(dm, VPATCHDG_MARK_DOERFLER, 0.5, 0.25, scaled, i ? mark : first));
    for (PetscInt c = 0; c < n && i; c++) same = (PetscBool)(same && mark[c] == first[c]);
  }
  TapOk(same, "size_does_not_matter: errors times 1e-250 and 1e250");
  PetscCall(PetscFree2(scaled, first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Doerfler: of the numbers 1, 2, ..., n over all cells as few as have half of the sum of squares */
static PetscErrorCode marks_are_as_few_as_do(void)
{
  PetscReal   *eta, sum = 0, marked[3] = {0, 0, PETSC_MAX_REAL}; /* sum of squares; -largest of others; least */
  PetscInt     n, first, all;
  DMAdaptFlag *mark;
  PetscBool    right = PETSC_TRUE;
  DM           dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 1, 3, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCallMPI(MPI_Scan(&n, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(&n, &all, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscMalloc2(n, &eta, n, &mark));
  for (PetscInt c = 0; c < n; c++) eta[c] = (PetscReal)((first - n + c) * 37 % all + 1);
  for (PetscInt i = 1; i <= all; i++) sum += (PetscReal)(i * i);
  PetscCall(DMVPatchDGMark(dm, VPATCHDG_MARK_DOERFLER, 0.5, 0, eta, mark));
  for (PetscInt c = 0; c < n; c++) {
    if (mark[c] == DM_ADAPT_REFINE) {
      marked[0] += eta[c] * eta[c];
      marked[2] = PetscMin(marked[2], eta[c]);
    } else marked[1] = PetscMax(marked[1], eta[c]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &marked[0], 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &marked[1], 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &marked[2], 1, MPIU_REAL, MPIU_MIN, PETSC_COMM_WORLD));
  TapOk((PetscBool)(marked[0] >= sum / 2 && marked[0] - PetscSqr(marked[2]) < sum / 2 && marked[1] < marked[2]),
        "doerfler_marks_as_few_as_do: %g of %g", (double)marked[0], (double)sum);
  PetscCall(DMVPatchDGMark(dm, VPATCHDG_MARK_MAXIMUM, 0.75, 0.25, eta, mark));
  for (PetscInt c = 0; c < n; c++) {
    const DMAdaptFlag expected = eta[c] > 0.75 * (PetscReal)all   ? DM_ADAPT_REFINE
                                 : eta[c] < 0.25 * (PetscReal)all ? DM_ADAPT_COARSEN
                                                                  : DM_ADAPT_KEEP;

    right = (PetscBool)(right && mark[c] == expected);
  }
  TapOk(right, "maximum_marks_by_the_largest");
  PetscCall(size_does_not_matter(dm, n, eta, mark));
  Refused(DMVPatchDGMark(dm, VPATCHDG_MARK_MAXIMUM, 0.2, 0.5, eta, mark), "not above that", "coarsened what is refined");
  Refused(DMVPatchDGMark(dm, VPATCHDG_MARK_DOERFLER, 1.5, 0, eta, mark), "parts are 0 to 1", "more than all");
  if (n) eta[0] = INFINITY;
  Refused(DMVPatchDGMark(dm, VPATCHDG_MARK_DOERFLER, 0.5, 0, eta, mark), "finite and not negative", "an infinite error");
  PetscCall(PetscFree2(eta, mark));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On cells of one size the sum of squares is what the restriction loses of a vector's; polynomials lose nothing on any mesh, and where
   cells have brothers that were refined, too, a vector of random numbers loses something everywhere. */
static PetscErrorCode surplus_is_what_coarser_cells_cannot_hold(PetscInt dim, PetscInt degree)
{
  PetscReal *eta, norm[2], sum = 0, extreme[2] = {0, 0}; /* largest, less the least */
  PetscInt   n;
  DM         dm, coarse;
  Mat        up;
  Vec        x, y;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, dim, degree, 2, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCoarsen(dm, PETSC_COMM_WORLD, &coarse));
  PetscCall(DMCreateInterpolation(coarse, dm, &up, NULL));
  PetscCall(MatCreateVecs(up, &y, &x));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMultTranspose(up, x, y));
  PetscCall(VecNorm(x, NORM_2, &norm[0]));
  PetscCall(VecNorm(y, NORM_2, &norm[1]));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &eta));
  PetscCall(DMVPatchDGEstimateSurplus(dm, x, eta));
  for (PetscInt c = 0; c < n; c++) sum += PetscSqr(eta[c] / (4 * (PetscReal)degree));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(PetscAbsReal(sum - PetscSqr(norm[0]) + PetscSqr(norm[1])) < 1e-11 * sum),
        "surplus_is_what_coarser_cells_cannot_hold, %dD Q%d: %g", (int)dim, (int)degree, (double)sum);
  PetscCall(PetscFree(eta));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&up));
  PetscCall(DMDestroy(&coarse));
  for (int i = 0; i < 3; i++) PetscCall(RefineSome(&dm, 0.2, i));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &eta));
  PetscCall(DMVPatchDGInterpolate(dm, Polynomial, NULL, x));
  PetscCall(DMVPatchDGEstimateSurplus(dm, x, eta));
  for (PetscInt c = 0; c < n; c++) extreme[0] = PetscMax(extreme[0], eta[c]);
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(DMVPatchDGEstimateSurplus(dm, x, eta));
  extreme[1] = -PETSC_MAX_REAL;
  for (PetscInt c = 0; c < n; c++) extreme[1] = PetscMax(extreme[1], -eta[c]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, extreme, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(extreme[0] < 1e-10 && extreme[1] < -1e-3), "every_cell_has_a_surplus_but_of_polynomials, %dD Q%d: %g, at least %g",
        (int)dim, (int)degree, (double)extreme[0], (double)-extreme[1]);
  PetscCall(PetscFree(eta));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode whole_boxes_have_no_surplus(void)
{
  PetscReal eta[1];
  DM        dm;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 1, 0, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  Refused(DMVPatchDGEstimateSurplus(dm, x, eta), "-dm_refine 1", "the surplus of whole boxes");
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const Case cases[] = {{"2D Q1", 2, 1, 1, VPATCHDG_DOMAIN_BOX, {D, D, D, D}, 0, 1, PETSC_FALSE},
                        {"2D Q4, varying coefficient", 2, 4, 1, VPATCHDG_DOMAIN_BOX, {D, D, D, D}, 0, 1, PETSC_TRUE},
                        {"3D Q2, varying coefficient", 3, 2, 0, VPATCHDG_DOMAIN_BOX, {D, D, D, D, D, D}, 0, 1, PETSC_TRUE}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(jumps_have_their_weights(&cases[i]));
  PetscCall(exact_solutions_have_no_error(2, 2));
  PetscCall(exact_solutions_have_no_error(2, 5));
  PetscCall(exact_solutions_have_no_error(3, 3));
  PetscCall(marks_are_as_few_as_do());
  PetscCall(surplus_is_what_coarser_cells_cannot_hold(2, 3));
  PetscCall(surplus_is_what_coarser_cells_cannot_hold(3, 2));
  PetscCall(whole_boxes_have_no_surplus());
  PetscFunctionReturn(PETSC_SUCCESS);
}
