/* The patches of a level and their tables: per patch and direction a one-dimensional eigenproblem, few of them different. */
#include "internal.h"
#include <stddef.h>

typedef struct {
  VpDictionary dictionary;
  VpFdmKey    *key; /* [dictionary.n] */
  int32_t      capacity;
} Problems;

static PetscErrorCode ProblemsAdd(Problems *problems, const VpFdmKey *key, int32_t *entry)
{
  const uint64_t word[] = {VpWord(key->h[0]), VpWord(key->h[1]), VpWord(key->h_beyond[0]), VpWord(key->h_beyond[1]),
                           (uint64_t)(key->step + 1024) << 16 | (uint64_t)key->side[0] << 8 | (uint64_t)key->side[1]};

  PetscFunctionBegin;
  PetscCall(VpDictionaryAdd(&problems->dictionary, word, entry));
  if (*entry == problems->capacity) {
    problems->capacity = 2 * problems->capacity + 64;
    PetscCall(PetscRealloc(problems->capacity * sizeof(*problems->key), &problems->key));
  }
  if (*entry == problems->dictionary.n - 1) problems->key[*entry] = *key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* size of the cells beyond a side; 0 where there is none */
static PetscReal SizeBeyond(VpMesh mesh, const int32_t cell[], int side)
{
  const int d = side / 2;

  for (int c = 0; c < 1 << mesh->dim; c++) {
    const int32_t box = (c >> d & 1) == side % 2 ? VpMeshBoxBeyond(mesh, cell[c], side) : VP_UNKNOWN;

    if (box >= 0) return VpCellSizeIn(mesh, box, d);
  }
  return 0;
}

static VpFdmKey ProblemKey(VpMesh mesh, const int32_t cell[], const uint8_t side[], int d, int step)
{
  VpFdmKey key = {.step = step};

  for (int s = 0; s < 2; s++) {
    const PetscBool cells = (PetscBool)(side[2 * d + s] == VP_SIDE_INTERIOR || side[2 * d + s] == VP_SIDE_MIXED);

    key.h[s] = VpCellSize(mesh, cell[s << d], d);
    key.side[s] = side[2 * d + s];
    key.h_beyond[s] = cells ? SizeBeyond(mesh, cell, 2 * d + s) : 0;
  }
  return key;
}

/* the problem of every patch and direction, and weight = typical / scale of the coefficient where it varies */
static PetscErrorCode FindProblems(VpLevel level, const VpPatches *patches, Problems *problems, int32_t type[], double weight[])
{
  const int dim = patches->dim, nc = 1 << dim;
  VpMesh    mesh = level->mesh;
  VpFdmKey  last[3] = {{.step = 0}};
  int32_t   box = -1;
  uint8_t   zone = 0;

  PetscFunctionBegin;
  for (int32_t p = 0; p < patches->n; p++) {
    const int32_t *cell = patches->cell + (size_t)p * nc;
    PetscBool      same = (PetscBool)(mesh->box[cell[0]] == box && mesh->zone[cell[0]] == zone); /* as the patch before, but for steps */
    int            step[3] = {0};

    if (weight) {
      PetscReal a[8];
      double    scale;

      for (int c = 0; c < nc; c++) a[c] = VpLevelCoefficient(level, cell[c]);
      VpCoefficientFit(dim, a, step, &scale);
      weight[p] = level->typical / scale;
    }
    for (int d = 0; d < dim; d++) {
      int32_t *entry = &type[(size_t)p * dim + d];

      if (same && step[d] == last[d].step) {
        *entry = entry[-dim];
      } else {
        const VpFdmKey key = ProblemKey(mesh, cell, patches->side + (size_t)p * 2 * dim, d, step[d]);

        if (p && !memcmp(&key, &last[d], offsetof(VpFdmKey, step) + sizeof(int))) *entry = entry[-dim];
        else
          PetscCall(ProblemsAdd(problems, &key, entry));
        last[d] = key;
      }
    }
    box = mesh->box[cell[0]];
    zone = mesh->zone[cell[0]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* F, B, lambda of every problem; and is it mirrored? */
static PetscErrorCode SolveProblems(VpLevel level, const Problems *problems, VpSpace space, double table[], uint8_t mirrored[])
{
  const int m = 2 * level->basis.n;

  PetscFunctionBegin;
  for (int32_t i = 0; i < problems->dictionary.n; i++) {
    double *F = table + (size_t)i * VpFdmSize(level->basis.n), *B = F + m * m, *lambda = B + m * m;

    PetscCall(VpFdmBuild(&level->basis, &problems->key[i], space, level->problem.penalty, F, B, lambda));
    for (int k = 0; k < m; k++) lambda[k] *= level->typical;
    mirrored[i] = VpFdmIsMirrored(&problems->key[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* does a patch cover the whole domain, and is the problem there singular? */
static PetscBool IsSingular(VpLevel level)
{
  return (PetscBool)(level->mesh->domain->nbox == 1 && level->mesh->level == 1 && VpProblemIsSingular(level->mesh, &level->problem));
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

/* the largest condition number of a patch, infinite where one is not positive definite; collective */
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

static PetscErrorCode Place(VpLevel level, const VpPatches *patches, int32_t nentry, const int32_t type[], const double table[],
                            const uint8_t mirrored[], const double weight[], VpArrays *arrays, VpPatchView *view)
{
  const int    dim = level->mesh->dim;
  const size_t size = VpFdmSize(level->basis.n), n = patches->n;

  PetscFunctionBegin;
  *view = (VpPatchView){.reaction = VpLevelReaction(level), .cutoff = IsSingular(level) ? 0 : -1};
  PetscCall(VpArraysPlace(arrays, patches->cell, (n << dim) * sizeof(int32_t), "patches", (const void **)&view->patch));
  PetscCall(VpArraysPlace(arrays, type, n * dim * sizeof(int32_t), "patches", (const void **)&view->type));
  PetscCall(VpArraysPlace(arrays, patches->cover, level->mesh->nlocal, "patches", (const void **)&view->cover));
  PetscCall(VpArraysPlaceReals(arrays, table, nentry * size, "patch solvers", &view->fdm));
  PetscCall(VpArraysPlace(arrays, mirrored, nentry, "patch solvers", (const void **)&view->mirrored));
  if (weight) PetscCall(VpArraysPlaceReals(arrays, weight, n, "patch solvers", &view->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelPlacePatches(VpLevel level, const VpPatches *patches, VpSpace space, VpArrays *arrays, VpPatchView *view)
{
  const int dim = level->mesh->dim;
  Problems  problems = {.capacity = 0};
  int32_t  *type;
  uint8_t  *mirrored;
  double   *table, *weight = NULL, condition;

  PetscFunctionBegin;
  PetscCheck(level->basis.type == VP_BASIS_THIN || level->basis.n < VP_THIN_FROM(dim), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Patches are solved in the thin basis");
  PetscCall(VpDictionaryCreate(5, &problems.dictionary));
  PetscCall(VpMallocLarge((size_t)patches->n * dim, &type));
  if (!(level->uniform > 0)) PetscCall(VpMallocLarge(patches->n, &weight));
  PetscCall(FindProblems(level, patches, &problems, type, weight));
  PetscCall(PetscMalloc2((size_t)problems.dictionary.n * VpFdmSize(level->basis.n), &table, problems.dictionary.n, &mirrored));
  PetscCall(SolveProblems(level, &problems, space, table, mirrored));
  PetscCall(WorstCondition(level, patches->n, problems.dictionary.n, table, type, weight, &condition));
  PetscCall(VpTogether(level->mesh->comm, Place(level, patches, problems.dictionary.n, type, table, mirrored, weight, arrays, view)));
  PetscCall(PetscFree(weight));
  PetscCall(PetscFree2(table, mirrored));
  PetscCall(PetscFree(type));
  PetscCall(PetscFree(problems.key));
  PetscCall(VpDictionaryDestroy(&problems.dictionary));
  PetscCall(CheckCondition(level, condition));
  PetscFunctionReturn(PETSC_SUCCESS);
}
