/* Fills the views of patches. The entries of VpPatchView.fdm are the solutions of the patches' eigenproblems. */
#include "patchproblems.h"
#include "../base/threads.h"

/* The problems of common patches, whose cells all have the level's common lines. Where the coefficient varies over cells of one size,
   common patches are those whose coefficient is fitted by a constant. */
static VpCommon FindCommon(const VpPatchProblems *problems, PetscBool varies)
{
  const VpLevel     level = problems->level;
  const VpBoundary *boundary = level->mesh->geometry->domain->boundary;
  VpCommon          common = {.found = (PetscBool)(varies || (level->view.common.found && !problems->fit))};

  for (int d = 0; common.found && d < level->mesh->dim; d++) {
    const PetscReal  h = level->common[d];
    const VpPatchKey inside = {{.h = {h, h}, .h_beyond = {h, h}}, varies ? 1 : level->uniform[d] / level->typical};

    common.inside[d] = VpPatchProblemFind(problems, &inside);
    if (common.inside[d] < 0) common.found = PETSC_FALSE;
    for (int s = 0; s < 2; s++) {
      VpPatchKey bounded = inside;

      bounded.fdm.side[s] = boundary[2 * d + s].kind;
      bounded.fdm.h_beyond[s] = VpProblemAlphaOf(&level->problem, 2 * d + s, boundary[2 * d + s].alpha);
      common.bounded[d][s] = VpPatchProblemFind(problems, &bounded);
    }
    if (common.bounded[d][0] >= 0 &&
        (!VpBoundaryIs(boundary[2 * d], boundary[2 * d + 1]) || level->problem.robin[2 * d] != level->problem.robin[2 * d + 1]))
      common.bounded[d][1] = -1;
  }
  return common;
}

/* the tables of all problems */
typedef struct {
  const VpPatchProblems *problems;
  double                *table;    /* F, B and lambda of every problem */
  uint8_t               *mirrored; /* as in VpPatchView */
} Solved;

/* whether one patch covers the whole domain and its problem is singular */
static PetscBool IsSingular(VpLevel level)
{
  return (PetscBool)(level->mesh->ncell == 1 << level->mesh->dim && VpProblemIsSingular(level->mesh, &level->problem));
}

/* bounds = the least and the largest finite eigenvalue. Infinite ones belong to functions that the space lacks. */
static void BoundEigenvalues(int m, const double lambda[], double bounds[2])
{
  bounds[0] = INFINITY;
  bounds[1] = 0;
  for (int k = 0; k < m; k++) {
    if (lambda[k] == INFINITY) continue;
    bounds[0] = lambda[k] >= bounds[0] ? bounds[0] : lambda[k]; /* keeps a NaN */
    bounds[1] = PetscMax(bounds[1], lambda[k]);
  }
}

/* *worst = the largest condition number of all patches, or infinity if one is not positive definite. Collective */
static PetscErrorCode WorstCondition(const VpPatchProblems *problems, const double table[], double *worst)
{
  const VpLevel level = problems->level;
  const int     m = 2 * level->basis.n, dim = level->mesh->dim;
  double        most = 1, (*bounds)[2]; /* of every problem */

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(problems->dictionary.n, &bounds));
  for (int32_t i = 0; i < problems->dictionary.n; i++)
    BoundEigenvalues(m, table + (size_t)i * VpFdmSize(level->basis.n) + VpLambdaAt(m), bounds[i]);
  VP_LOOP_MOST (p, problems->patches->n, most) {
    const double *factor = problems->factor ? problems->factor + (size_t)p * (dim + 1) : NULL;
    const double  c = factor ? factor[dim] : VpLevelRest(level);
    double        least = c, largest = c;

    for (int d = 0; d < dim; d++) {
      const double *own = bounds[problems->type[(size_t)p * dim + d]];

      least += (factor ? factor[d] : 1) * own[0];
      largest += (factor ? factor[d] : 1) * own[1];
    }
    most = least > 0 ? PetscMax(most, largest / least) : INFINITY;
  }
  *worst = most;
  PetscCall(PetscFree(bounds));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPI_DOUBLE, MPI_MAX, level->mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses problems that are not positive definite, and penalties that enlarge the rounding errors of jumps too much. */
static PetscErrorCode CheckCondition(VpLevel level, double condition)
{
  const PetscBool single = (PetscBool)(level->precision == VP_SINGLE);
  const double    penalty = level->problem.penalty, k = level->problem.degree;

  PetscFunctionBegin;
  PetscCheck(condition < INFINITY || IsSingular(level), level->mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The patch problems cannot be factored, they are not positive definite: -dm_vpatchdg_penalty %g is too %s, 1 is enough",
             penalty, penalty < 1 ? "small" : "large");
  PetscCheck(penalty * k * (k + 1) < VP_MOST_PENALTY(level->precision), level->mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The patch problems cannot be factored in %s precision: their condition number is %.1e with -dm_vpatchdg_penalty %g. Use a "
             "smaller one%s",
             single ? "single" : "double", condition, penalty,
             single ? ", or double precision (-pc_vpatchdg_precision double; of -pc_type vpatch: -pc_vpatch_precision double)" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsAnySet(const uint8_t flag[], size_t n)
{
  size_t i = 0;

  while (i < n && !flag[i]) i++;
  return (PetscBool)(i < n);
}

_Static_assert(VP_SPACE_DIRICHLET == 1 && VP_SPACE_CLAMPED == 2, "A space's number is how many functions it lacks at a side.");
static PetscErrorCode FillView(const Solved *solved, VpArrays *arrays, VpPatchView *view)
{
  const VpPatchProblems *problems = solved->problems;
  const VpLevel          level = problems->level;
  const VpPatches       *patches = problems->patches;
  const int              dim = patches->dim;
  const size_t           size = VpFdmSize(level->basis.n), n = patches->n, nentry = problems->dictionary.n;

  PetscFunctionBegin;
  *view = (VpPatchView){.lacks = problems->space, .reaction = VpLevelRest(level), .cutoff = IsSingular(level) ? 0 : -1};
  view->common = FindCommon(problems, (PetscBool)(level->view.unit != NULL));
  PetscCall(VpPlaceArray(arrays, patches->cell, n << dim, "patches", &view->patch));
  if (patches->frame) PetscCall(VpPlaceArray(arrays, patches->frame, n << dim, "patches", &view->frame));
  PetscCall(VpPlaceArray(arrays, problems->type, n * dim, "patches", &view->type));
  PetscCall(VpPlaceArray(arrays, patches->cover, VpPatchesCovers(patches) * level->mesh->nlocal, "patches", &view->cover));
  PetscCall(VpArraysPlaceReals(arrays, solved->table, nentry * size, "patch solvers", &view->fdm));
  PetscCall(VpPlaceArray(arrays, solved->mirrored, nentry, "patch solvers", &view->mirrored));
  if (problems->factor) PetscCall(VpArraysPlaceReals(arrays, problems->factor, n * (dim + 1), "patch solvers", &view->factor));
  if (problems->replaceable && IsAnySet(problems->replaceable, n))
    PetscCall(VpPlaceArray(arrays, problems->replaceable, n, "patches", &view->replaceable));
  if (level->ops->prepare_patches) PetscCall(level->ops->prepare_patches(view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPlacePatches(const VpPatchProblems *problems, VpArrays *arrays, VpPatchView *view)
{
  const VpLevel level = problems->level;
  const int     dim = level->mesh->dim;
  const int32_t nentry = problems->dictionary.n;
  Solved        solved = {.problems = problems};
  double        condition;

  PetscFunctionBegin;
  PetscCheck(level->basis.type == VP_BASIS_THIN || level->basis.n < VP_THIN_FROM(dim), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Patches are solved in the thin basis");
  PetscCall(PetscMalloc2((size_t)nentry * VpFdmSize(level->basis.n), &solved.table, nentry, &solved.mirrored));
  VP_LOOP_HEAVY (i, nentry) {
    const VpPatchKey *key = (const VpPatchKey *)problems->dictionary.item + i;
    double           *table = solved.table + (size_t)i * VpFdmSize(level->basis.n), *lambda = table + VpLambdaAt(2 * level->basis.n);

    VpFdmBuild(&level->basis, &key->fdm, problems->space, level->problem.penalty, table);
    for (int k = 0; k < 2 * level->basis.n; k++) lambda[k] *= key->ratio * level->typical;
    solved.mirrored[i] = VpFdmIsMirrored(&key->fdm);
  }
  PetscCall(WorstCondition(problems, solved.table, &condition));
  PetscCall(VpTogether(level->mesh->comm, FillView(&solved, arrays, view)));
  PetscCall(PetscFree2(solved.table, solved.mirrored));
  PetscCall(CheckCondition(level, condition));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPlaceSomePatches(const VpPatchProblems *problems, const VpPatchView *view, const VpPatches *some, VpArrays *arrays,
                                  VpPatchView *to)
{
  const size_t dim = some->dim, n = some->n;
  int32_t     *type;
  double      *factor;
  uint8_t     *replaceable;

  PetscFunctionBegin;
  *to = *view;
  to->plans = NULL;
  to->frame = NULL;
  PetscCall(PetscMalloc3(n * dim, &type, n * (dim + 1), &factor, n, &replaceable));
  for (size_t i = 0; i < n; i++) {
    const size_t p = some->whole[i];

    PetscCall(PetscArraycpy(type + i * dim, problems->type + p * dim, dim));
    if (view->factor) PetscCall(PetscArraycpy(factor + i * (dim + 1), problems->factor + p * (dim + 1), dim + 1));
    if (view->replaceable) replaceable[i] = problems->replaceable[p];
  }
  PetscCall(VpPlaceArray(arrays, some->cell, n << dim, "selected patches", &to->patch));
  PetscCall(VpPlaceArray(arrays, some->cover, VpPatchesCovers(some) * problems->level->mesh->nlocal, "selected patches", &to->cover));
  PetscCall(VpPlaceArray(arrays, type, n * dim, "selected patches", &to->type));
  if (view->factor) PetscCall(VpArraysPlaceReals(arrays, factor, n * (dim + 1), "selected patches", &to->factor));
  if (view->replaceable) PetscCall(VpPlaceArray(arrays, replaceable, n, "selected patches", &to->replaceable));
  PetscCall(PetscFree3(type, factor, replaceable));
  if (problems->level->ops->prepare_patches) PetscCall(problems->level->ops->prepare_patches(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}
