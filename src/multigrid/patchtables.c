/* The patches of a level and their solvers. A patch has an eigenproblem along every direction, which depends on the sizes of four cells, or
   on the boundary, and on one ratio of coefficients. So few problems are different: these are the entries of the view's `fdm`. */
#include "internal.h"
#include "classify.h"
#include "../base/threads.h"

typedef struct {
  VpLevel          level;
  const VpPatches *patches;
  VpSpace          space;
  VpFit           *fit;        /* [patches->n] where the coefficient varies, else NULL */
  double          *weight;     /* [patches->n] typical / scale of the fit, or NULL */
  VpDictionary     dictionary; /* its items are VpFdmKey */
} Problems;

enum { NWORD = 6 };

static void Words(const VpFdmKey *key, uint64_t word[NWORD])
{
  for (int s = 0; s < 2; s++) {
    word[s] = VpWord(key->h[s]);
    word[2 + s] = VpWord(key->h_beyond[s]);
  }
  word[4] = (uint64_t)(key->step + 1024) << 16 | (uint64_t)key->side[0] << 8 | (uint64_t)key->side[1];
  word[5] = (uint64_t)(key->face[0] + 1024) << 16 | (uint64_t)(key->face[1] + 1024);
}

/* size of the cells beyond a side; where there are none alpha, 0 but for Robin sides, and that of its own cells where it is mixed */
static PetscReal SizeBeyond(VpMesh mesh, const int32_t cell[], int side, VpSide kind)
{
  const int d = side / 2;
  PetscReal alpha = 0;

  for (int c = 0; c < 1 << mesh->dim; c++) {
    const int32_t box = (c >> d & 1) == side % 2 ? VpMeshBoxBeyond(mesh, cell[c], side) : VP_UNKNOWN;

    if (box >= 0) return VpLatticeSize(mesh->lattice, box, d);
    if (box != VP_UNKNOWN) alpha = VpDomainAlpha(mesh->domain, box);
  }
  return kind == VP_SIDE_MIXED ? VpCellSize(mesh, cell[side % 2 << d], d) : alpha;
}

static VpFdmKey ProblemKey(const Problems *problems, int32_t p, int d)
{
  const VpMesh   mesh = problems->level->mesh;
  const int32_t *cell = problems->patches->cell + ((size_t)p << mesh->dim);
  const uint8_t *side = problems->patches->side + (size_t)p * 2 * mesh->dim;
  const VpFit   *fit = problems->fit ? &problems->fit[p] : NULL;
  VpFdmKey       key = {.step = fit ? fit->step[d] : 0};

  for (int s = 0; s < 2; s++) {
    key.h[s] = VpCellSize(mesh, cell[s << d], d);
    key.side[s] = side[2 * d + s];
    key.h_beyond[s] = key.side[s] == VP_SIDE_WRAP ? 0 : SizeBeyond(mesh, cell, 2 * d + s, key.side[s]);
    if (fit && (key.side[s] == VP_SIDE_MIXED || (key.side[s] == VP_SIDE_INTERIOR && problems->space == VP_SPACE_FULL)))
      key.face[s] = fit->face[d][s];
  }
  /* Sizes that the dictionary does not tell apart are the same: rounding must not hide that a patch is its own mirror image. */
  if (VpWord(key.h[1]) == VpWord(key.h[0])) key.h[1] = key.h[0];
  if (VpWord(key.h_beyond[1]) == VpWord(key.h_beyond[0])) key.h_beyond[1] = key.h_beyond[0];
  return key;
}

/* The smallest step that counts, in octaves: on devices patches without steps have a kernel twice as fast. */
static double LeastStep(VpLevel level)
{
  return level->backend->use_stream ? 0.125 : 0;
}

static void FitCoefficients(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Problems *problems = (Problems *)context;
  const VpLevel   level = problems->level;
  const int       dim = problems->patches->dim, nc = 1 << dim;

  for (int32_t p = first; p < last; p++) {
    PetscReal a[8], beyond[8][3];
    double    scale;

    for (int c = 0; c < nc; c++) {
      const int32_t cell = problems->patches->cell[(size_t)p * nc + c];

      a[c] = VpLevelCoefficient(level, cell);
      for (int d = 0; d < dim; d++) {
        const int32_t next = level->mesh->neighbor[(size_t)cell * 2 * dim + 2 * d + (c >> d & 1)];

        beyond[c][d] = next < 0 ? a[c] : VpLevelCoefficient(level, next);
      }
    }
    VpCoefficientFit(dim, a, beyond, LeastStep(level), &problems->fit[p], &scale);
    problems->weight[p] = level->typical / scale;
  }
}

static PetscBool HaveSameFits(const void *context, int32_t p, int32_t other)
{
  const Problems *problems = (const Problems *)context;

  return (PetscBool)!memcmp(&problems->fit[p], &problems->fit[other], sizeof(*problems->fit));
}

static PetscErrorCode NumberProblems(void *context, int32_t p, int32_t entry[])
{
  Problems *problems = (Problems *)context;

  PetscFunctionBegin;
  for (int d = 0; d < problems->patches->dim; d++) {
    const VpFdmKey key = ProblemKey(problems, p, d);
    uint64_t       word[NWORD];

    Words(&key, word);
    PetscCall(VpDictionaryAdd(&problems->dictionary, word, &key, &entry[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* type[patch][d] = the entry of the patch's problem along d. Patches whose first cells are of one box and zone differ by coefficients. */
static PetscErrorCode FindProblems(Problems *problems, int32_t type[], int32_t *nsample, int32_t **sample)
{
  const VpPatches *patches = problems->patches;
  const VpItems    items = {.mesh = problems->level->mesh,
                            .n = patches->n,
                            .cell = patches->cell,
                            .stride = 1 << patches->dim,
                            .width = patches->dim,
                            .context = problems,
                            .alike = problems->fit ? HaveSameFits : NULL,
                            .number = NumberProblems};

  PetscFunctionBegin;
  if (problems->fit) VpLoop(patches->n, FitCoefficients, problems);
  PetscCall(VpNumberItems(&items, type, nsample, sample));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemsCreate(VpLevel level, const VpPatches *patches, VpSpace space, Problems *problems)
{
  PetscFunctionBegin;
  *problems = (Problems){.level = level, .patches = patches, .space = space};
  PetscCall(VpDictionaryCreate(NWORD, sizeof(VpFdmKey), &problems->dictionary));
  if (level->uniform > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpMallocLarge(patches->n, &problems->fit));
  PetscCall(VpMallocLarge(patches->n, &problems->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The problems of common patches, whose cells all have the level's common lines. Where the coefficient varies over cells of one size, the
   patches with a coefficient fitted by a constant are common. */
static VpCommon FindCommon(const Problems *problems, PetscBool varies)
{
  const VpLevel     level = problems->level;
  const VpBoundary *boundary = level->mesh->domain->boundary;
  VpCommon          common = {.found = (PetscBool)(varies || (level->view.common.found && !problems->fit))};
  uint64_t          word[NWORD];

  for (int d = 0; common.found && d < level->mesh->dim; d++) {
    const PetscReal h = level->common[d];
    const VpFdmKey  inside = {.h = {h, h}, .h_beyond = {h, h}};

    Words(&inside, word);
    common.inside[d] = VpDictionaryFind(&problems->dictionary, word);
    if (common.inside[d] < 0) common.found = PETSC_FALSE;
    for (int s = 0; s < 2; s++) {
      VpFdmKey edge = inside;

      edge.side[s] = boundary[2 * d + s].kind;
      edge.h_beyond[s] = boundary[2 * d + s].alpha;
      Words(&edge, word);
      common.edge[d][s] = VpDictionaryFind(&problems->dictionary, word);
    }
    if (common.edge[d][0] >= 0 && !VpBoundaryIs(boundary[2 * d], boundary[2 * d + 1])) common.edge[d][1] = -1;
  }
  return common;
}

static PetscErrorCode ProblemsDestroy(Problems *problems)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(problems->fit));
  PetscCall(PetscFree(problems->weight));
  PetscCall(VpDictionaryDestroy(&problems->dictionary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* F, B, lambda of every problem; and is it mirrored? */
typedef struct {
  const Problems *problems;
  double         *table;
  uint8_t        *mirrored;
} Solving;

static void SolveProblems(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Solving  *to = (Solving *)context;
  const Problems *problems = to->problems;
  const VpLevel   level = problems->level;
  const int       m = 2 * level->basis.n;

  for (int32_t i = first; i < last; i++) {
    const VpFdmKey *key = (const VpFdmKey *)problems->dictionary.item + i;
    double         *F = to->table + (size_t)i * VpFdmSize(level->basis.n), *B = F + m * m, *lambda = B + m * m;

    VpFdmBuild(&level->basis, key, problems->space, level->problem.penalty, F, B, lambda);
    for (int k = 0; k < m; k++) lambda[k] *= level->typical;
    to->mirrored[i] = VpFdmIsMirrored(key);
  }
}

/* does a patch cover the whole domain, and is the problem there singular? */
static PetscBool IsSingular(VpLevel level)
{
  return (PetscBool)(level->mesh->ncell == 1 << level->mesh->dim && VpProblemIsSingular(level->mesh, &level->problem));
}

/* least and largest of an entry's eigenvalues; infinite ones belong to functions that the space lacks */
static void Bounds(int m, const double lambda[], double bounds[2])
{
  bounds[0] = INFINITY;
  bounds[1] = 0;
  for (int k = 0; k < m; k++) {
    if (lambda[k] == INFINITY) continue;
    bounds[0] = lambda[k] >= bounds[0] ? bounds[0] : lambda[k]; /* NaN, too */
    bounds[1] = PetscMax(bounds[1], lambda[k]);
  }
}

/* The largest condition number of n patches, infinite where one is not positive definite. Collective */
static PetscErrorCode WorstCondition(VpLevel level, int32_t n, int32_t nentry, const double table[], const int32_t type[],
                                     const double weight[], double *worst)
{
  const int dim = level->mesh->dim, m = 2 * level->basis.n;
  double(*bounds)[2];

  PetscFunctionBegin;
  *worst = 1;
  PetscCall(PetscMalloc1(nentry, &bounds));
  for (int32_t i = 0; i < nentry; i++) Bounds(m, table + (size_t)i * VpFdmSize(level->basis.n) + 2 * m * m, bounds[i]);
  for (int32_t p = 0; p < n; p++) {
    const double c = VpLevelReaction(level) * (weight ? weight[p] : 1);
    double       least = c, largest = c;

    for (int d = 0; d < dim; d++) {
      least += bounds[type[(size_t)p * dim + d]][0];
      largest += bounds[type[(size_t)p * dim + d]][1];
    }
    *worst = least > 0 ? PetscMax(*worst, largest / least) : INFINITY;
    if (*worst == INFINITY) break;
  }
  PetscCall(PetscFree(bounds));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPI_DOUBLE, MPI_MAX, level->mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A penalty multiplies the rounding errors of jumps. */
static PetscErrorCode CheckCondition(VpLevel level, double condition)
{
  const PetscBool single = (PetscBool)(level->precision == VP_SINGLE);
  const double    penalty = level->problem.penalty, k = level->problem.degree;

  PetscFunctionBegin;
  PetscCheck(condition < INFINITY || IsSingular(level), level->mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The patch problems cannot be factored, they are not positive definite with -dm_vpatchdg_penalty %g. Use another, 1 is enough",
             penalty);
  PetscCheck(penalty * k * (k + 1) < VP_MOST_PENALTY(level->precision), level->mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The patch problems cannot be factored in %s precision: their condition number is %.1e with -dm_vpatchdg_penalty %g. Use a "
             "smaller one%s",
             single ? "single" : "double", condition, penalty,
             single ? ", or double precision (-pc_vpatchdg_precision double; of -pc_type vpatch: -pc_vpatch_precision double)" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Place(const Problems *problems, const int32_t type[], const double table[], const uint8_t mirrored[],
                            VpArrays *arrays, VpPatchView *view)
{
  const VpLevel    level = problems->level;
  const VpPatches *patches = problems->patches;
  const int        dim = patches->dim;
  const size_t     size = VpFdmSize(level->basis.n), n = patches->n, nentry = problems->dictionary.n;

  PetscFunctionBegin;
  *view = (VpPatchView){.reaction = VpLevelReaction(level), .cutoff = IsSingular(level) ? 0 : -1};
  PetscCall(VpLevelPlaceUnit(level, arrays, view));
  view->common = FindCommon(problems, (PetscBool)(view->unit != NULL));
  PetscCall(VpArraysPlace(arrays, patches->cell, (n << dim) * sizeof(int32_t), "patches", (const void **)&view->patch));
  PetscCall(VpArraysPlace(arrays, type, n * dim * sizeof(int32_t), "patches", (const void **)&view->type));
  PetscCall(VpArraysPlace(arrays, patches->cover, level->mesh->nlocal, "patches", (const void **)&view->cover));
  PetscCall(VpArraysPlaceReals(arrays, table, nentry * size, "patch solvers", &view->fdm));
  PetscCall(VpArraysPlace(arrays, mirrored, nentry, "patch solvers", (const void **)&view->mirrored));
  if (problems->weight) PetscCall(VpArraysPlaceReals(arrays, problems->weight, n, "patch solvers", &view->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelPlacePatches(VpLevel level, const VpPatches *patches, VpSpace space, VpArrays *arrays, VpPatchView *view)
{
  const int dim = level->mesh->dim;
  Problems  problems;
  int32_t  *type, nsample, *sample, nentry;
  uint8_t  *mirrored;
  double   *table, condition;

  PetscFunctionBegin;
  PetscCheck(level->basis.type == VP_BASIS_THIN || level->basis.n < VP_THIN_FROM(dim), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Patches are solved in the thin basis");
  PetscCall(ProblemsCreate(level, patches, space, &problems));
  PetscCall(VpMallocLarge((size_t)patches->n * dim, &type));
  PetscCall(FindProblems(&problems, type, &nsample, &sample));
  nentry = problems.dictionary.n;
  PetscCall(PetscMalloc2((size_t)nentry * VpFdmSize(level->basis.n), &table, nentry, &mirrored));
  VpLoopHeavy(nentry, SolveProblems, &(Solving){&problems, table, mirrored});
  if (problems.weight) PetscCall(WorstCondition(level, patches->n, nentry, table, type, problems.weight, &condition));
  else PetscCall(WorstCondition(level, nsample, nentry, table, sample, NULL, &condition));
  PetscCall(VpTogether(level->mesh->comm, Place(&problems, type, table, mirrored, arrays, view)));
  PetscCall(PetscFree2(table, mirrored));
  PetscCall(PetscFree(sample));
  PetscCall(PetscFree(type));
  PetscCall(ProblemsDestroy(&problems));
  PetscCall(CheckCondition(level, condition));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to[i] = from[which[i]], a backend's array of `all` items of so many bytes; NULL stays NULL */
static PetscErrorCode Select(VpArrays *arrays, size_t bytes, size_t all, const void *from, size_t n, const int32_t which[], const void **to)
{
  char *whole, *some;

  PetscFunctionBegin;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(all * bytes, &whole, n * bytes, &some));
  PetscCall(arrays->backend->download(from, all * bytes, whole));
  for (size_t i = 0; i < n; i++) PetscCall(PetscArraycpy(some + i * bytes, whole + which[i] * bytes, bytes));
  PetscCall(VpArraysPlace(arrays, some, n * bytes, "selected patches", to));
  PetscCall(PetscFree2(whole, some));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelSelectPatches(VpLevel level, const VpPatchView *view, int32_t all, const VpPatches *some, VpArrays *arrays,
                                    VpPatchView *selected)
{
  const size_t dim = some->dim, n = some->n;

  PetscFunctionBegin;
  *selected = *view;
  selected->device = NULL;
  PetscCall(VpArraysPlace(arrays, some->cell, (n << dim) * sizeof(int32_t), "selected patches", (const void **)&selected->patch));
  PetscCall(VpArraysPlace(arrays, some->cover, level->mesh->nlocal, "selected patches", (const void **)&selected->cover));
  PetscCall(Select(arrays, dim * sizeof(int32_t), all, view->type, n, some->whole, (const void **)&selected->type));
  PetscCall(Select(arrays, level->real, all, view->weight, n, some->whole, &selected->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}
