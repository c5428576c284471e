/* The coefficient a of -div(a grad u), a number per cell, or per cell and direction; and other properties of a problem. */
#include "internal.h"
#include "../base/threads.h"

/* Extends range = {max -a, max a} [2][3 directions] by the coefficients of n cells. Without a coefficient one cell stands for all. */
static void IncludeCells(const VpProblem *problem, int32_t n, PetscReal range[])
{
  const int32_t some = problem->coefficient ? n : PetscMin(n, 1);

  VP_LOOP_MOST (c, some, range[:6]) {
    for (int d = 0; d < 3; d++) {
      const PetscReal a = VpProblemCoefficient(problem, c, PetscMin(d, PetscMax(problem->tensor, 1) - 1));

      range[d] = PetscMax(range[d], -a);
      range[3 + d] = PetscMax(range[3 + d], a);
    }
  }
}

/* least[d], most[d] = the extreme coefficients along direction d over the cells of all ranks, and over those of problem->coarser */
static PetscErrorCode FindRanges(VpMesh mesh, const VpProblem *problem, PetscReal least[3], PetscReal most[3])
{
  VpProblem coarser = *problem;
  PetscReal range[6];

  PetscFunctionBegin;
  for (int i = 0; i < 6; i++) range[i] = PETSC_MIN_REAL;
  IncludeCells(problem, mesh->nown, range);
  coarser.coefficient = problem->coarser;
  if (problem->coarser) IncludeCells(&coarser, VpMeshCoarser(mesh)->nown, range);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 6, MPIU_REAL, MPIU_MAX, mesh->comm));
  for (int d = 0; d < mesh->dim; d++) {
    least[d] = -range[d];
    most[d] = range[3 + d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets level->thinnest and level->aspect. */
static PetscErrorCode SetThinnest(VpLevel level)
{
  const VpMesh mesh = level->mesh;
  double       most[4] = {-1, -PETSC_MAX_REAL, -PETSC_MAX_REAL, -PETSC_MAX_REAL}; /* - the least quotient of a cell's sizes, relative to the
                                                                                     roots of its coefficients, then - the least sizes */

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(level->thinnest, mesh->geometry->lattice->thinnest, 3));
  level->aspect = VpLatticeThinnest(mesh->geometry->lattice);
  if (!level->problem.tensor || !level->problem.coefficient) PetscFunctionReturn(PETSC_SUCCESS);
  VP_LOOP_MOST (c, mesh->nown, most[:4]) {
    PetscReal thin = PETSC_MAX_REAL, thick = 0;

    for (int d = 0; d < mesh->dim; d++) {
      const PetscReal h = VpGeometrySize(mesh->geometry, c, d) / PetscSqrtReal(VpProblemCoefficient(&level->problem, c, d));

      most[1 + d] = PetscMax(most[1 + d], -h);
      thin = PetscMin(thin, h);
      thick = PetscMax(thick, h);
    }
    most[0] = PetscMax(most[0], -thin / thick);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_DOUBLE, MPI_MAX, mesh->comm));
  for (int d = 0; d < mesh->dim; d++) level->thinnest[d] = -most[1 + d];
  level->aspect = -most[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *copy [nlocal][width] = the coefficient of own cells and, from their owners, of ghosts */
static PetscErrorCode CopyCoefficient(VpMesh mesh, size_t width, const PetscReal own[], const PetscReal **copy)
{
  PetscReal *a;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge((size_t)mesh->nlocal * width + 1, &a)); /* not NULL on ranks without cells */
  *copy = a;
  VpLoopCopy(a, own, mesh->nown * width * sizeof(*a));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_ALL, width, MPIU_REAL, a, a + mesh->nown * width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *beyond [nsweep][2 dim] = the coefficient of the coarser level's cell beyond a side at the level's end, 0 at other sides. Ghosts get the
   numbers of their owners. */
static PetscErrorCode SpreadBeyond(VpMesh mesh, const VpProblem *problem, PetscReal **beyond)
{
  const VpMesh     coarse = VpMeshCoarser(mesh);
  const size_t     width = (size_t)VpProblemWidth(problem);
  const size_t     nside = 2 * (size_t)mesh->dim;
  const PetscReal *a;
  PetscReal       *to;

  PetscFunctionBegin;
  PetscCall(CopyCoefficient(coarse, width, problem->coarser, &a));
  PetscCall(PetscCalloc1(mesh->nsweep * nside + 1, &to)); /* not NULL on ranks without cells */
  *beyond = to;
  for (int32_t i = 0; i < mesh->relation->ends.n; i++) {
    const VpFace *end = &mesh->relation->ends.face[i];

    for (int f = 0; f < 1 << (mesh->dim - 1); f++) {
      if (end->cell[1 + f] >= mesh->nown) continue;
      to[(size_t)end->cell[1 + f] * nside + (size_t)(end->side ^ 1)] =
        a[(size_t)end->cell[0] * width + (problem->tensor ? (size_t)end->side / 2 : 0)];
    }
  }
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SWEEP, nside, MPIU_REAL, to, to + mesh->nown * nside));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* least, most: those of FindRanges(). Where trees are turned, a direction goes on in others. */
static PetscBool AreSame(VpMesh mesh, const VpProblem *problem, const PetscReal least[], const PetscReal most[])
{
  PetscBool same = (PetscBool)!VpApartWidth(problem->apart);

  for (int d = 0; d < mesh->dim; d++) same = (PetscBool)(same && least[d] == most[mesh->geometry->domain->trees ? 0 : d]);
  return same;
}

PetscErrorCode VpLevelSetCoefficient(VpLevel level, const VpProblem *problem)
{
  const VpMesh mesh = level->mesh;
  const size_t width = (size_t)VpProblemWidth(problem);
  PetscReal    least[3], most[3], largest = 0;
  PetscBool    uniform;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) level->uniform[d] = level->scale;
  level->typical = level->scale;
  if (problem->coefficient) PetscCall(CopyCoefficient(mesh, width, problem->coefficient, &level->problem.coefficient));
  if (problem->coarser) PetscCall(SpreadBeyond(mesh, problem, &level->beyond));
  PetscCall(SetThinnest(level));
  if (!problem->coefficient) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindRanges(mesh, problem, least, most));
  uniform = AreSame(mesh, problem, least, most);
  for (int d = 0; d < mesh->dim; d++) largest = PetscMax(largest, level->scale * most[d]);
  for (int d = 0; d < mesh->dim; d++) level->uniform[d] = uniform ? level->scale * most[d] : 0;
  level->typical = uniform ? largest : ldexp(1, ilogb(largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the least coefficient of two cells that touch in a point (3D: along an edge), over the most of both cells between them; of a cell */
static double CrossingAt(VpLevel level, int32_t c)
{
  const VpMesh mesh = level->mesh;
  double       most = 0;

  for (int side = 0; side < 2 * mesh->dim; side++) {
    for (int other = (side | 1) + 1; other < 2 * mesh->dim; other++) {
      const int32_t a = VpMeshNeighbor(mesh, c, side), b = VpMeshNeighbor(mesh, c, other);
      const int32_t across = a < 0 ? a : VpMeshNeighbor(mesh, a, other);

      if (b >= 0 && across >= 0)
        most = PetscMax(most, PetscMin(VpLevelCoefficient(level, c, 0), VpLevelCoefficient(level, across, 0)) /
                                PetscMax(VpLevelCoefficient(level, a, 0), VpLevelCoefficient(level, b, 0)));
    }
  }
  return most;
}

PetscErrorCode VpLevelCrossing(VpLevel level, PetscReal *most)
{
  PetscFunctionBegin;
  *most = 0;
  if (!level->mesh->turn) {
    VP_LOOP_MOST (c, level->mesh->nown, most[:1]) *most = PetscMax(*most, CrossingAt(level, c));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 1, MPIU_REAL, MPIU_MAX, level->mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoefficientRange(VpMesh mesh, const VpProblem *problem, PetscReal range[2])
{
  PetscReal least[3], most[3];

  PetscFunctionBegin;
  PetscCall(FindRanges(mesh, problem, least, most));
  range[0] = least[0];
  range[1] = most[0];
  for (int d = 1; d < mesh->dim; d++) {
    range[0] = PetscMin(range[0], least[d]);
    range[1] = PetscMax(range[1], most[d]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpProblemIsUniform(VpMesh mesh, const VpProblem *problem, PetscBool *uniform)
{
  PetscReal least[3], most[3];

  PetscFunctionBegin;
  PetscCall(FindRanges(mesh, problem, least, most));
  *uniform = AreSame(mesh, problem, least, most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Extends range by the numbers of a cell along one direction. beyond: what lies beyond the two sides */
static void ExtendRange(VpDomain domain, const int32_t beyond[2], PetscReal a, PetscReal h, PetscReal reaction, PetscReal range[2])
{
  const PetscReal size = PetscMax(a / h / h, reaction);

  range[0] = PetscMin(range[0], size);
  range[1] = PetscMax(range[1], size);
  for (int s = 0; s < 2; s++) {
    const PetscReal robin = a / h * VpDomainAlpha(domain, beyond[s]);

    range[0] = robin > 0 ? PetscMin(range[0], robin) : range[0];
    range[1] = PetscMax(range[1], robin);
  }
}

PetscBool VpProblemIsSingular(VpMesh mesh, const VpProblem *problem)
{
  const VpDomain domain = mesh->geometry->domain;

  for (int64_t i = 0; i < (int64_t)domain->nbox * 2 * domain->dim; i++) {
    if (domain->beyond[i] < 0 && !VpKeepsConstants(VpDomainSide(domain, domain->beyond[i]))) return PETSC_FALSE;
  }
  return problem->reaction == 0;
}

PetscErrorCode VpProblemRange(VpMesh mesh, const VpProblem *problem, PetscReal range[2])
{
  const PetscBool a = (PetscBool)(problem->coefficient != NULL);
  const PetscReal c = problem->reaction;
  VpProblem       plain = *problem;

  PetscFunctionBegin;
  plain.reaction = 0;
  range[0] = c > 0 && VpProblemIsSingular(mesh, &plain) ? c : PETSC_MAX_REAL;
  range[1] = 0;
  for (int d = 0; d < mesh->dim; d++) {
    const size_t stride = 2 * (size_t)mesh->dim;

    for (int32_t box = 0; box < mesh->geometry->domain->nbox && !a && !VpMeshIsAdaptive(mesh); box++)
      ExtendRange(mesh->geometry->domain, mesh->geometry->domain->beyond + stride * (size_t)box + 2 * d, 1,
                  VpLatticeSize(mesh->geometry->lattice, box, d), c, range);
  }
  range[0] = -range[0];
  if (a || VpMeshIsAdaptive(mesh)) {
    VP_LOOP_MOST (cell, mesh->nown, range[:2]) {
      PetscReal own[2] = {-range[0], range[1]};

      for (int d = 0; d < mesh->dim; d++)
        ExtendRange(mesh->geometry->domain, mesh->neighbor + 2 * ((size_t)mesh->dim * (size_t)cell + (size_t)d),
                    VpProblemCoefficient(problem, cell, d), VpGeometrySize(mesh->geometry, cell, d), c, own);
      range[0] = -own[0];
      range[1] = own[1];
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_REAL, MPIU_MAX, mesh->comm));
  range[0] = -range[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpProblemGetLattice(VpMesh mesh, const VpProblem *problem, VpLattice *lattice)
{
  PetscFunctionBegin;
  if (problem->lattice) *lattice = VpReference(problem->lattice);
  else PetscCall(VpMeshBaseLattice(mesh, lattice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpProblemCountLevels(VpMesh mesh, const VpProblem *problem, VpCoarsen how, int *levels, double cells[])
{
  VpLattice lattice;

  PetscFunctionBegin;
  PetscCall(VpProblemGetLattice(mesh, problem, &lattice));
  PetscCall(VpCountLevels(lattice, how, levels, cells));
  PetscCall(VpLatticeDestroy(&lattice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where more than SKEWED iterations are foretold, it may be angles that cost them. Then coarse levels of cells that are thin save few
   iterations, and have more cells: of trees if they are thinner by less than MILD, of boxes in 3D if thinness by itself would cost half as
   many, at degree k about 6/k times the ratio of sizes. */
#define SKEWED 10
#define MILD   2.5

static PetscReal FindMild(int dim, const VpProblem *problem)
{
  const double its = problem->metric ? VpMetricIterations(problem->metric, VP_METRIC_CELL) : 0;

  if (its <= SKEWED) return 0;
  if (problem->metric->trees) return MILD;
  return dim == 3 && problem->oblique && !problem->metric->entry ? its / 2 * problem->degree / 6 : 0;
}

/* Runs are cells one after the other in a box. A run has numbers, of which those of a box are sums or maxima. */
typedef struct Runs_ {
  VpMesh           mesh;
  const VpProblem *problem;
  int              width; /* numbers of a run */
  PetscBool        sums;
  void (*join)(const struct Runs_ *, int32_t first, int32_t last, PetscReal number[]); /* joins what these cells have to a run's numbers */
  int32_t   *start;                                                                    /* [runs + 1] */
  PetscReal *number;                                                                   /* [runs][width] */
} Runs;

/* of[boxes][width] = the numbers of own cells, joined to 0 */
static PetscErrorCode JoinInBoxes(Runs *runs, PetscReal of[])
{
  const int32_t *box = runs->mesh->geometry->box;
  const size_t   width = (size_t)runs->width;
  int32_t        n = 0;

  PetscFunctionBegin;
  for (int32_t c = 0; c < runs->mesh->nown; c++) n += c == 0 || box[c] != box[c - 1];
  PetscCall(PetscMalloc1(n + 1, &runs->start));
  PetscCall(PetscCalloc1((size_t)n * width + 1, &runs->number));
  n = 0;
  for (int32_t c = 0; c < runs->mesh->nown; c++) {
    if (c == 0 || box[c] != box[c - 1]) runs->start[n++] = c;
  }
  runs->start[n] = runs->mesh->nown;
  VP_LOOP_HEAVY (run, n) runs->join(runs, runs->start[run], runs->start[run + 1], runs->number + (size_t)run * width);
  for (size_t i = 0; i < (size_t)n * width; i++) {
    PetscReal *to = &of[(size_t)box[runs->start[i / width]] * width + i % width];

    *to = runs->sums ? *to + runs->number[i] : PetscMax(*to, runs->number[i]);
  }
  PetscCall(PetscFree(runs->start));
  PetscCall(PetscFree(runs->number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs.join: the part of a box's mean coefficient along each of 3 directions that is a run's */
static void JoinMeans(const Runs *runs, int32_t first, int32_t last, PetscReal mean[])
{
  const VpMesh mesh = runs->mesh;
  PetscReal    part = 1; /* of a box's volume that a cell is */

  for (int32_t c = first; c < last; c++) {
    if (c == first || VpMeshIsAdaptive(mesh)) {
      part = 1;
      for (int d = 0; d < mesh->dim; d++)
        part *= VpGeometrySize(mesh->geometry, c, d) / VpDomainWidth(mesh->geometry->domain, mesh->geometry->box[c], d);
    }
    for (int d = 0; d < mesh->dim; d++) mean[d] += part * VpProblemCoefficient(runs->problem, c, d);
  }
}

PetscErrorCode VpProblemCreateLattice(VpMesh mesh, const VpProblem *problem, VpLattice *lattice)
{
  const size_t nbox = (size_t)mesh->geometry->domain->nbox;
  Runs         runs = {.mesh = mesh, .problem = problem, .width = 3, .sums = PETSC_TRUE, .join = JoinMeans};
  PetscReal   *a;
  VpLattice    base;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(3 * nbox, &a));
  PetscCall(JoinInBoxes(&runs, a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, a, (PetscMPIInt)(3 * nbox), MPIU_REAL, MPIU_SUM, mesh->comm));
  PetscCall(VpMeshBaseLattice(mesh, &base));
  PetscCall(VpLatticeWith(base, a, lattice));
  (*lattice)->mild = FindMild(mesh->dim, problem);
  PetscCall(VpLatticeDestroy(&base));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs.join: range[3 pairs] = the largest a along one direction divided by a along the other, and the reverse */
static void JoinQuotients(const Runs *runs, int32_t first, int32_t last, PetscReal range[])
{
  const int dim = runs->mesh->dim;

  for (int32_t c = first; c < last; c++) {
    for (int d = 0; d < dim; d++) {
      const PetscReal one = VpProblemCoefficient(runs->problem, c, d), other = VpProblemCoefficient(runs->problem, c, (d + 1) % dim);

      range[2 * d] = PetscMax(range[2 * d], other / one);
      range[2 * d + 1] = PetscMax(range[2 * d + 1], one / other);
    }
  }
}

PetscErrorCode VpProblemUnevenness(VpMesh mesh, const VpProblem *problem, double *most)
{
  const size_t n = 6 * (size_t)mesh->geometry->domain->nbox;
  Runs         runs = {.mesh = mesh, .problem = problem, .width = 6, .join = JoinQuotients};
  PetscReal   *range; /* [boxes][6] */

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n, &range));
  PetscCall(JoinInBoxes(&runs, range));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, (PetscMPIInt)n, MPIU_REAL, MPIU_MAX, mesh->comm));
  *most = 1;
  for (size_t i = 0; i < n; i += 2) *most = PetscMax(*most, PetscSqrtReal(range[i]) * PetscSqrtReal(range[i + 1]));
  PetscCall(PetscFree(range));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  VpMesh           fine;
  const VpMeans   *means;
  const PetscReal *a; /* numbers of the fine cells, ghosts included */
  PetscReal       *coarse, *contrast;
} Coarsening;

/* numbers of a cell that has this many along directions */
static int WidthOf(const VpMeans *means, int directions)
{
  return directions + VpApartWidth(means->apart);
}

/* the children of a cell */
typedef struct {
  PetscReal volume[VP_PATCH_CELLS]; /* 0 where there is none */
  PetscReal a[VP_PATCH_CELLS][3];
} Family;

static Family FindFamily(const Coarsening *to, int32_t c)
{
  const int    dim = to->fine->dim;
  const size_t width = (size_t)WidthOf(to->means, to->means->from);
  Family       family = {{0}, {{0}}};

  for (int i = 0; i < 1 << dim; i++) {
    const int32_t child = to->fine->relation->child[((size_t)c << dim) + (size_t)i];

    if (child < 0) continue;
    family.volume[i] = VpGeometryVolume(to->fine->geometry, child);
    for (int d = 0; d < to->means->to; d++) family.a[i][d] = to->a[(size_t)child * width + (to->means->from > 1 ? (size_t)d : 0)];
  }
  return family;
}

/* The mean along d. Children that differ in d alone are in a row. */
static PetscReal HarmonicMean(const Family *family, int dim, int d)
{
  PetscReal sum = 0, all = 0;

  for (int i = 0; i < 1 << dim; i++) {
    const int       next = i | 1 << d;
    const PetscReal volume = family->volume[i] + family->volume[next];

    if (next == i || volume <= 0) continue;
    sum += volume * volume /
           ((family->volume[i] > 0 ? family->volume[i] / family->a[i][d] : 0) +
            (family->volume[next] > 0 ? family->volume[next] / family->a[next][d] : 0));
    all += volume;
  }
  return sum / all;
}

static PetscReal ArithmeticMean(const Family *family, int dim, int d)
{
  PetscReal sum = 0, all = 0;

  for (int i = 0; i < 1 << dim; i++) {
    sum += family->volume[i] * family->a[i][d];
    all += family->volume[i];
  }
  return sum / all;
}

/* The mean of the children's number i of those apart. Sides have positive numbers, or 0 where there is none. */
static PetscReal MeanApart(const Coarsening *to, const Family *family, int32_t c, int i)
{
  const int    dim = to->fine->dim;
  const size_t width = (size_t)WidthOf(to->means, to->means->from), at = (size_t)(to->means->from + i);
  PetscReal    sum = 0, all = 0;

  for (int k = 0; k < 1 << dim; k++) {
    const int32_t   child = to->fine->relation->child[((size_t)c << dim) + (size_t)k];
    const PetscReal own = child < 0 ? 0 : to->a[(size_t)child * width + at];

    sum += family->volume[k] * own;
    all += i < to->means->apart.reaction || own > 0 ? family->volume[k] : 0;
  }
  return all > 0 ? sum / all : 0;
}

static PetscReal FindContrast(const Family *family, int dim, int d)
{
  PetscReal least = PETSC_MAX_REAL, most = 0;

  for (int i = 0; i < 1 << dim; i++) {
    if (family->volume[i] <= 0) continue;
    least = PetscMin(least, family->a[i][d]);
    most = PetscMax(most, family->a[i][d]);
  }
  return most / least;
}

static void TakeMeans(const Coarsening *to, int32_t c)
{
  const int    dim = to->fine->dim, width = WidthOf(to->means, to->means->to);
  const Family family = FindFamily(to, c);
  PetscBool    some = PETSC_FALSE;

  for (int i = 0; i < 1 << dim; i++) some = (PetscBool)(some || family.volume[i] > 0);
  if (to->contrast) to->contrast[c] = 1;
  for (int i = 0; i < width - to->means->to && some; i++) to->coarse[c * width + to->means->to + i] = MeanApart(to, &family, c, i);
  for (int d = 0; d < to->means->to && some; d++) {
    to->coarse[c * width + d] = to->means->harmonic ? HarmonicMean(&family, dim, d) : ArithmeticMean(&family, dim, d);
    if (to->contrast) to->contrast[c] = PetscMax(to->contrast[c], FindContrast(&family, dim, d));
  }
}

PetscErrorCode VpCoarsenCoefficient(VpMesh fine, const VpMeans *means, const PetscReal a[], PetscReal coarse[], PetscReal contrast[])
{
  const size_t w = (size_t)WidthOf(means, means->from);
  Coarsening   to = {.fine = fine, .means = means, .coarse = coarse, .contrast = contrast};
  PetscReal   *local;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge((size_t)fine->nsweep * w, &local));
  VpLoopCopy(local, a, fine->nown * w * sizeof(*local));
  PetscCall(VpMeshExchange(fine, VP_GHOST_CHILD, w, MPIU_REAL, local, local + fine->nown * w));
  to.a = local;
  VP_LOOP (c, VpMeshCoarser(fine)->nown) TakeMeans(&to, c);
  PetscCall(PetscFree(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}
