/* Chooses the number of levels of a cycle. On a device, the inverse of a level that separates (coarse/separable.c) or is small
   (coarse/dense.c) may take less time than the cycle on it and on all coarser levels, because launches take long for few unknowns. The
   coarsest level is the one with the cheapest cycle. */
#include "internal.h"
#include <float.h>

#define NOISE        0.1 /* largest fraction of a residual that rounding errors of the finest level's inverse may leave */
#define STEPS        3.  /* iterations with several levels */
#define NEARLY_CUBES 0.6 /* smallest ratio of two sizes of cells that are nearly cubes */
#define SOLVES       40. /* solves that share the set-up of a dense inverse */

/* If cells are nearly cubes, coarser levels do not repeat sweeps, because those of finer levels remove what is left near corners. A second
   repeat helps from degree 3 on. */
PetscInt VpCornerSweeps(const VpCycleOptions *options, int degree, VpLattice finest, PetscBool coarse)
{
  if (options->corners != PETSC_DECIDE) return options->corners;
  if (coarse && VpLatticeThinnest(finest) > NEARLY_CUBES) return 0;
  return degree <= 2 ? 1 : 2;
}

/* At degree 1 in 3D a level reads and writes fewer bytes than its finite volumes, so it is handed over later. */
PetscReal VpHandoverRatio(const VpCycleOptions *options, const VpBackend *backend, int dim, int degree)
{
  const PetscReal least = backend->prefers->handover;

  if (options->handover > 0) return options->handover;
  return dim == 3 && degree == 1 ? PetscMax(least, 10) : least;
}

PetscBool VpCycleMayHandOver(const VpCycleOptions *o, const VpBackend *backend, const VpProblem *problem)
{
  const PetscBool wanted = (PetscBool)(o->handover > 0 || (backend->prefers->matrix && !problem->oblique));

  return (PetscBool)(o->coarse == VP_COARSE_VOLUMES ||
                     (wanted && (o->coarse == VP_COARSE_AUTO || (o->coarse == VP_COARSE_KSP && o->coarse_ksp))));
}

PetscInt VpLeastCells(const VpCycleOptions *options, const VpBackend *backend, int dim, int degree)
{
  if (options->gather != PETSC_DECIDE) return options->gather;
  return PetscMax(backend->prefers->gather_cells, (PetscInt)(backend->prefers->gather_unknowns / pow(degree + 1, dim)));
}

PetscMPIInt VpCycleRanks(const VpCycleOptions *options, const VpBackend *backend, VpLattice L, int degree, PetscMPIInt ranks)
{
  const PetscInt least = VpLeastCells(options, backend, L->domain->dim, degree), n = (PetscInt)L->ncell;

  return least ? PetscMax(1, (PetscMPIInt)PetscMin(ranks, n / least)) : ranks;
}

/* A patch is two cells wide. Where stacks of thin cells are higher and the next level does not merge them, two sweeps are made. */
PetscErrorCode VpCountSweeps(VpLattice L, VpCoarsen how, PetscInt *sweeps)
{
  const VpCoarsening *step;

  PetscFunctionBegin;
  PetscCall(VpLatticeCoarsen(L, how, &step));
  *sweeps = step->hard ? 2 : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* seconds of the sweeps on a level. Repeats near corners cost launches, but no time for their few patches. */
static double LevelCost(const VpLevelCosts *costs, const VpCycleOptions *o, PetscInt corners, VpLattice L, double unknowns)
{
  const double repeats = VpDomainHasCorners(L->domain) ? (double)corners : 0;

  return (double)(o->pre + o->post) * ((1 + repeats) * (1 << L->domain->dim) * costs->color + unknowns * costs->value);
}

/* seconds of a dense inverse */
static double DenseCost(const VpLevelCosts *costs, double rows)
{
  return costs->product + costs->entry * rows * rows;
}

/* seconds of the inverse along lines */
static double LinesCost(const VpLevelCosts *costs, int n, int dim, const int32_t extent[3])
{
  const double unknowns = (double)extent[0] * extent[1] * extent[2] * pow(n, dim);
  double       cost = 0;

  for (int d = 0; d < dim; d++) cost += 2 * (costs->product + (costs->along + costs->pair * unknowns) * extent[d] * n);
  return cost;
}

/* seconds of the level's inverse; 0: it has none */
static double InverseCost(const VpLevelCosts *costs, const VpCoarseCase *c)
{
  switch (VpCoarseExpect(c)) {
  case VP_WAY_LINES:
    return LinesCost(costs, c->n, c->dim, c->extent);
  case VP_WAY_DENSE:
    return DenseCost(costs, VpCoarseUnknowns(c));
  default:
    return 0;
  }
}

/* seconds of the set-up of the level's inverse, divided by the solves that share it */
static double SetUpCost(const VpLevelCosts *costs, const VpCoarseCase *c)
{
  return VpCoarseExpect(c) == VP_WAY_DENSE ? costs->invert / SOLVES * pow(VpCoarseUnknowns(c), 3) : 0;
}

/* About A's condition number times the rounding error: the fraction of a residual that the finest level's inverse leaves, and which no
   sweep removes. */
static double InverseNoise(VpLattice L, const VpProblem *problem, VpPrecision precision)
{
  const VpDomain domain = L->domain;
  const double   n = problem->degree + 1, bound = 2 * problem->penalty * (n - 1) * n * n * n; /* bound of h^2 A along a direction */
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

/* the levels that a cycle may have: those of lattices, and finer partial ones */
typedef struct {
  VpMesh                finest;
  const VpProblem      *problem;
  const VpCycleOptions *options;
  const VpBackend      *backend;
  PetscBool             uniform; /* The coefficient is uniform. */
  PetscInt              npartial;
  int                   n;
  VpLattice             lattice[VP_MOST_LEVELS]; /* [n] */
} Levels;

/* the number of ranks with cells of the l-th lattice */
static PetscInt RanksOf(const Levels *levels, int l)
{
  PetscMPIInt ranks = (PetscMPIInt)VpMeshRanks(levels->finest);

  for (int i = 1; i <= l && ranks > 1; i++)
    ranks = VpCycleRanks(levels->options, levels->backend, levels->lattice[i], levels->problem->degree, ranks);
  return ranks;
}

/* the case of the l-th lattice as the coarsest level */
static PetscErrorCode CaseOfLattice(const Levels *levels, int l, VpCoarseCase *c)
{
  PetscFunctionBegin;
  *c = (VpCoarseCase){
    .type = levels->options->coarse, .prefers = levels->backend->prefers, .ranks = RanksOf(levels, l), .n = levels->problem->degree + 1};
  PetscCall(VpCoarseCaseComplete(levels->lattice[l], levels->uniform, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the cheapest coarsest level among those on one rank that have an inverse. */
static PetscErrorCode FindCheapest(const Levels *levels, VpLevelCount *count)
{
  const VpCycleOptions *o = levels->options;
  const VpProblem      *problem = levels->problem;
  const VpLevelCosts   *costs = &levels->backend->prefers->costs[o->precision];
  double                above = 0, best = PETSC_MAX_REAL;

  PetscFunctionBegin;
  for (int l = 0; l < levels->n; l++) {
    const PetscBool finest = (PetscBool)(!l && !levels->npartial);
    PetscInt        sweeps = 1, corners;
    double          inverse, solve;
    VpCoarseCase    c;

    PetscCall(CaseOfLattice(levels, l, &c));
    if (c.ranks > 1) continue;
    inverse = InverseCost(costs, &c);
    if (inverse > 0) {
      count->all = above + inverse;
      solve = (finest ? costs->steps : STEPS) * (costs->step + count->all) + SetUpCost(costs, &c);
      if ((!finest || InverseNoise(levels->lattice[0], problem, o->precision) < NOISE) && solve < best) {
        best = solve;
        count->levels = levels->npartial + l + 1;
        count->seconds = count->all;
      }
    }
    if (l + 1 < levels->n) PetscCall(VpCountSweeps(levels->lattice[l], o->coarsening, &sweeps));
    corners = VpCornerSweeps(o, problem->degree, levels->lattice[0], (PetscBool)(l > 0));
    above += (double)sweeps * LevelCost(costs, o, corners, levels->lattice[l], VpCoarseUnknowns(&c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleCountLevels(VpMesh finest, const VpProblem *problem, const VpCycleOptions *o, const VpBackend *backend,
                                  VpLevelCount *count)
{
  const PetscInt npartial = VpCyclePartial(finest);
  Levels         levels = {.finest = finest, .problem = problem, .options = o, .backend = backend, .npartial = npartial};
  VpLattice      base;

  PetscFunctionBegin;
  *count = (VpLevelCount){.way = VP_COARSE_WAYS};
  PetscCall(VpProblemGetLattice(finest, problem, &base));
  PetscCall(VpListLattices(base, o->coarsening, &levels.n, levels.lattice));
  PetscCall(VpProblemIsUniform(finest, problem, &levels.uniform));
  count->most = (int)npartial + levels.n;
  count->levels = o->levels > 0 ? VpCycleAskedLevels(finest, o) : count->most;
  if (o->levels == PETSC_DECIDE && o->coarse == VP_COARSE_AUTO && backend->prefers->costs) PetscCall(FindCheapest(&levels, count));
  if (count->levels > npartial && count->levels <= count->most) {
    VpCoarseCase c;

    PetscCall(CaseOfLattice(&levels, (int)(count->levels - npartial - 1), &c));
    count->way = VpCoarseExpect(&c);
  }
  PetscCall(VpLatticeDestroy(&base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpCycleHandsLeavesOver(PetscInt npartial, const VpCycleOptions *o)
{
  return (PetscBool)(o->coarse == VP_COARSE_VOLUMES && o->levels > 0 && o->levels <= npartial);
}

PetscInt VpCycleAskedLevels(VpMesh finest, const VpCycleOptions *o)
{
  return VpCycleHandsLeavesOver(VpCyclePartial(finest), o) ? VpCyclePartial(finest) + 1 : o->levels;
}

PetscErrorCode VpCycleCheckLevels(VpMesh finest, PetscInt levels, int most)
{
  const PetscInt least = VpCyclePartial(finest) + 1;

  PetscFunctionBegin;
  PetscCheck(levels <= 0 || levels >= least, finest->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vpatchdg_levels %" PetscInt_FMT ": %s refined %d to %d times need %" PetscInt_FMT " or more", levels,
             VpDomainBoxes(finest->geometry->domain), finest->least, finest->level, least);
  PetscCheck(levels <= most, finest->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vpatchdg_levels %" PetscInt_FMT ": these %s, refined %d times, have %d levels at most", levels,
             VpDomainBoxes(finest->geometry->domain), finest->level, most);
  PetscFunctionReturn(PETSC_SUCCESS);
}
