/* How many levels a cycle has. On a device a level's inverse, where it separates (coarse/separable.c), perhaps but for a notch
   (coarse/notched.c), or is small (coarse/dense.c), may take less time than the cycle on it and on all coarser levels, whose launches take
   long for few unknowns: the coarsest level is the one that makes the cycle cheapest. */
#include "internal.h"
#include <float.h>

#define NOISE 0.1 /* the most of a residual that rounding of the finest level's inverse may leave */
#define STEPS 3.  /* iterations with several levels */

/* As measured on an H200 at degree 4, in seconds: an iteration takes `step` beside its cycle; a colour of a level's sweep and its
   transfers take `color` and `value` for every unknown; a product of the inverse takes `product`, `along` for every value of a line, which
   are gone through one after the other, and `pair` for every unknown and value of its line, or `entry` for every entry of a dense matrix.
   steps: iterations with the finest level's inverse. */
static const struct {
  double step, color, value, product, along, pair, entry, steps;
} device[] = {[VP_SINGLE] = {45e-6, 6e-6, 54e-12, 2e-6, 45e-9, 118e-15, 1.0e-12, 2},
              [VP_DOUBLE] = {45e-6, 6e-6, 108e-12, 2e-6, 45e-9, 176e-15, 2.0e-12, 1}};

/* Near corners the sweep is repeated over few patches. */
static double LevelCost(const VpCycleOptions *o, int degree, VpLattice L, double unknowns)
{
  const double repeats = VpDomainHasCorners(L->domain) ? (double)VpCornerSweeps(o, degree) : 0;

  return (double)(o->pre + o->post) *
         ((1 + repeats) * (1 << L->domain->dim) * device[o->precision].color + unknowns * device[o->precision].value);
}

static double DenseCost(VpPrecision precision, double rows)
{
  return device[precision].product + device[precision].entry * rows * rows;
}

/* of the inverse along lines */
static double LinesCost(VpPrecision precision, int n, int dim, const int32_t extent[3])
{
  const double unknowns = (double)extent[0] * extent[1] * extent[2] * pow(n, dim);
  double       cost = 0;

  for (int d = 0; d < dim; d++)
    cost += 2 * (device[precision].product + (device[precision].along + device[precision].pair * unknowns) * extent[d] * n);
  return cost;
}

/* rows of the dense matrix of the level's notch, if VpCoarseCreate takes that way; else 0 */
static double NotchSums(const VpCycleOptions *o, int n, int dim, const VpBoxGrid *grid, double unknowns)
{
  if (o->coarse != VP_COARSE_AUTO || VpCoarseIsDense(o->coarse, PETSC_TRUE, 1, unknowns)) return 0;
  return grid->extent[0] && VpNotchIsFew(grid, n, dim) ? 2 * grid->sides * pow(n, dim - 1) : 0;
}

/* of the level's inverse, by the way that VpCoarseCreate takes: along lines, of a dense matrix, or of both where there is a notch; there two
   copies and two kernels at the notch are beside them. 0: it has none */
static PetscErrorCode InverseCost(const VpCycleOptions *o, int n, PetscBool constant, VpLattice L, double unknowns, double *cost)
{
  const int dim = L->domain->dim;
  VpBoxGrid grid = {.sides = 0};
  double    sums;

  PetscFunctionBegin;
  *cost = 0;
  if (constant) PetscCall(VpBoxGridFind(L, n, &grid));
  sums = NotchSums(o, n, dim, &grid, unknowns);
  if (grid.extent[0] && !grid.sides) *cost = LinesCost(o->precision, n, dim, grid.extent);
  else if (VpCoarseIsDense(o->coarse, PETSC_TRUE, 1, unknowns)) *cost = DenseCost(o->precision, unknowns);
  else if (sums > 0)
    *cost = 2 * LinesCost(o->precision, n, dim, grid.extent) + DenseCost(o->precision, sums) + 4 * device[o->precision].product;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* About A's condition number times the rounding error. No sweep removes what this leaves of a residual of the finest level. */
static double Noise(VpLattice L, const VpProblem *problem, VpPrecision precision)
{
  const VpDomain domain = L->domain;
  const double   n = problem->degree + 1, bound = 2 * problem->penalty * (n - 1) * n * n * n; /* of h^2 A along a direction */
  double         longest = 0, largest = 0;

  for (int d = 0; d < domain->dim; d++) {
    double lower = domain->lower[d], upper = domain->upper[d];

    for (int32_t b = 1; b < domain->nbox; b++) {
      lower = PetscMin(lower, domain->lower[3 * (size_t)b + d]);
      upper = PetscMax(upper, domain->upper[3 * (size_t)b + d]);
    }
    longest = PetscMax(longest, upper - lower);
    largest += bound / PetscSqr(L->thinnest[d]);
  }
  return largest * PetscSqr(longest / PETSC_PI) * (precision == VP_SINGLE ? FLT_EPSILON : DBL_EPSILON) / 2;
}

/* the cheapest of the levels on one rank that have an inverse. constant: so is the coefficient; parts: levels before the lattices', of an
   adaptive mesh; first: the finest of these on one rank */
static PetscErrorCode Cheapest(const VpProblem *problem, const VpCycleOptions *o, PetscBool constant, VpLattice const lattice[],
                               PetscInt parts, int first, VpLevelCount *count)
{
  const int n = problem->degree + 1;
  double    above = 0, best = PETSC_MAX_REAL;

  PetscFunctionBegin;
  for (int l = first; l < count->most; l++) {
    const double unknowns = (double)lattice[l]->ncell * pow(n, lattice[l]->domain->dim);
    PetscInt     sweeps = 1;
    double       inverse, solve;

    PetscCall(InverseCost(o, n, constant, lattice[l], unknowns, &inverse));
    if (inverse > 0) {
      count->all = above + inverse;
      solve = (l || parts ? STEPS : device[o->precision].steps) * (device[o->precision].step + count->all);
      if ((l || parts || Noise(lattice[0], problem, o->precision) < NOISE) && solve < best) {
        best = solve;
        count->levels = parts + l + 1;
        count->seconds = count->all;
      }
    }
    if (l + 1 < count->most) PetscCall(VpCountSweeps(lattice[l], o->coarsening, &sweeps));
    above += (double)sweeps * LevelCost(o, problem->degree, lattice[l], unknowns);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleCountLevels(VpMesh finest, const VpProblem *problem, const VpCycleOptions *o, const VpBackend *backend,
                                  VpLevelCount *count)
{
  const PetscInt parts = VpCycleParts(finest);
  VpLattice      lattice[VP_MOST_LEVELS], base;
  PetscReal      range[2];

  PetscFunctionBegin;
  *count = (VpLevelCount){0};
  PetscCall(VpProblemGetLattice(finest, problem, &base));
  PetscCall(VpListLattices(base, o->coarsening, &count->most, lattice));
  PetscCall(VpCoefficientRange(finest, problem, range));
  count->levels = o->levels > 0 ? o->levels : parts + count->most;
  if (o->levels == PETSC_DECIDE && o->coarse == VP_COARSE_AUTO && backend->use_stream) {
    PetscMPIInt ranks = (PetscMPIInt)VpMeshRanks(finest);
    int         first = 0;

    while (ranks > 1 && ++first < count->most) ranks = VpCycleRanks(o, backend, lattice[first], problem->degree, ranks);
    PetscCall(Cheapest(problem, o, (PetscBool)(range[0] == range[1]), lattice, parts, first, count));
  }
  if (backend->use_stream && range[0] == range[1] && count->levels > parts && count->levels <= parts + count->most) {
    const VpLattice L = lattice[count->levels - parts - 1];
    VpBoxGrid       grid;

    PetscCall(VpBoxGridFind(L, problem->degree + 1, &grid));
    count->sums = NotchSums(o, problem->degree + 1, finest->dim, &grid, (double)L->ncell * pow(problem->degree + 1, finest->dim));
  }
  PetscCall(VpLatticeDestroy(&base));
  count->most += (int)parts;
  PetscFunctionReturn(PETSC_SUCCESS);
}
