/* How many levels a cycle has. On a device, where a level separates, its inverse (coarseseparable.c) may take less time than the cycle on
   it and on all coarser levels, whose launches take long for few unknowns: the coarsest level is the one that makes the cycle cheapest. */
#include "internal.h"
#include <float.h>

#define NOISE 0.1 /* the most of a residual that rounding of the finest level's inverse may leave */
#define STEPS 3.  /* iterations with several levels */

/* As measured on an H200 at degree 4, in seconds: an iteration takes `step` beside its cycle; a colour of a level's sweep and its
   transfers take `color` and `value` for every unknown; a product of the inverse takes `product` and `pair` for every unknown and value of
   its line. steps: iterations with the finest level's inverse. */
static const struct {
  double step, color, value, product, pair, steps;
} device[] = {[VP_SINGLE] = {45e-6, 6e-6, 54e-12, 4.5e-6, 118e-15, 2}, [VP_DOUBLE] = {45e-6, 6e-6, 108e-12, 4.5e-6, 176e-15, 1}};

static double LevelCost(const VpCycleOptions *o, int dim, double unknowns)
{
  return (double)(o->pre + o->post) * ((1 << dim) * device[o->precision].color + unknowns * device[o->precision].value);
}

static double InverseCost(const VpCycleOptions *o, int dim, int n, const int32_t extent[3], double unknowns)
{
  double cost = 0;

  for (int d = 0; d < dim; d++) cost += 2 * (device[o->precision].product + device[o->precision].pair * unknowns * extent[d] * n);
  return cost;
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

/* the cheapest of the levels on one rank that separate. first: the finest level on one rank */
static PetscErrorCode Cheapest(const VpProblem *problem, const VpCycleOptions *o, VpLattice const lattice[], int first, VpDepth *depth)
{
  const int n = problem->degree + 1;
  double    above = 0, best = PETSC_MAX_REAL;

  PetscFunctionBegin;
  for (int l = first; l < depth->most; l++) {
    const int    dim = lattice[l]->domain->dim;
    const double unknowns = (double)lattice[l]->ncell * pow(n, dim);
    int32_t      extent[3];

    PetscCall(VpSeparableExtent(lattice[l], n, extent));
    if (extent[0]) {
      double solve;

      depth->all = above + InverseCost(o, dim, n, extent, unknowns);
      solve = (l ? STEPS : device[o->precision].steps) * (device[o->precision].step + depth->all);
      if ((l || Noise(lattice[0], problem, o->precision) < NOISE) && solve < best) {
        best = solve;
        depth->levels = l + 1;
        depth->seconds = depth->all;
      }
    }
    above += LevelCost(o, dim, unknowns);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleDepth(VpMesh finest, const VpProblem *problem, const VpCycleOptions *o, const VpBackend *backend, VpDepth *depth)
{
  VpLattice lattice[VP_MOST_LEVELS];

  PetscFunctionBegin;
  *depth = (VpDepth){0};
  PetscCall(VpListLattices(finest->lattice, VpCycleCoarsening(o, problem), &depth->most, lattice));
  depth->levels = o->levels > 0 ? o->levels : depth->most;
  if (o->levels == PETSC_DECIDE && o->coarse == VP_COARSE_AUTO && backend->use_stream) {
    PetscMPIInt ranks = (PetscMPIInt)VpMeshRanks(finest);
    PetscReal   range[2];
    int         first = 0;

    PetscCall(VpCoefficientRange(finest, problem->coefficient, range));
    while (ranks > 1 && ++first < depth->most) ranks = VpCycleRanks(o, backend, (PetscInt)lattice[first]->ncell, ranks);
    if (range[0] == range[1]) PetscCall(Cheapest(problem, o, lattice, first, depth));
  }
  for (int l = 0; l < depth->most; l++) PetscCall(VpLatticeDestroy(&lattice[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
