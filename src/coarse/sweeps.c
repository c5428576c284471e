/* Solves the coarsest problem by pairs of sweeps, one in the order of colours and one in reverse order, so that a pair is symmetric. */
#include "internal.h"
#include "../smoother/smoother.h"

#define REDUCTION  1e-4 /* factor by which all pairs together reduce the error */
#define MOST_PAIRS 12   /* most pairs of a solve */

typedef struct {
  int        pairs;
  VpSmoother smoother;
} Pairs;

/* Approximates x += A^-1 (b - A x). Every sweep waits for all of its ghosts first. */
static PetscErrorCode SweepPair(VpSmoother smoother, VpVector b, VpVector x)
{
  PetscFunctionBegin;
  for (int reverse = 0; reverse < 2; reverse++) {
    PetscCall(VpVectorRead(b, VP_GHOST_SWEEP, NULL));
    PetscCall(VpVectorRead(x, VP_GHOST_ALL, NULL));
    PetscCall(VpSmootherSweep(smoother, (PetscBool)reverse, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = random numbers. host, outer [n]: scratch for outer vectors, on the host and on the backend */
static PetscErrorCode SetRandom(PetscInt n, double *host, double *outer, VpVector x)
{
  PetscRandom generator;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &generator));
  PetscCall(PetscRandomSetType(generator, PETSCRAND48));
  for (PetscInt i = 0; i < n; i++) PetscCall(PetscRandomGetValueReal(generator, &host[i]));
  PetscCall(PetscRandomDestroy(&generator));
  PetscCall(x->level->backend->upload(host, n * sizeof(double), outer));
  PetscCall(VpVectorEnter(x, 1, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *norm = the norm of x over all ranks. host, outer: as above */
static PetscErrorCode FindNorm(PetscInt n, double *host, double *outer, VpVector x, double *norm)
{
  PetscFunctionBegin;
  PetscCall(VpVectorLeave(x, PETSC_FALSE, 1, outer));
  PetscCall(x->level->backend->download(outer, n * sizeof(double), host));
  *norm = 0;
  for (PetscInt i = 0; i < n; i++) *norm += host[i] * host[i];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, norm, 1, MPI_DOUBLE, MPI_SUM, x->level->mesh->comm));
  *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *pairs = the number of pairs that reduce a random error by REDUCTION; 0: more than MOST_PAIRS */
static PetscErrorCode CountPairs(VpLevel level, VpSmoother smoother, int *pairs)
{
  const PetscInt n = level->mesh->nown * (PetscInt)VpLevelValues(level);
  VpVector       b, x;
  void          *outer;
  double        *host, first, norm;

  PetscFunctionBegin;
  PetscCall(VpVectorCreate(level, 1, "coarse sweeps", &b));
  PetscCall(VpVectorCreate(level, 2, "coarse sweeps", &x));
  PetscCall(VpTogether(level->mesh->comm, level->backend->alloc(n * sizeof(double), "coarse sweeps", &outer)));
  PetscCall(PetscMalloc1(n, &host));
  PetscCall(SetRandom(n, host, (double *)outer, x));
  PetscCall(FindNorm(n, host, (double *)outer, x, &first));
  for (*pairs = 0, norm = first; *pairs <= MOST_PAIRS && norm > REDUCTION * first; (*pairs)++) {
    PetscCall(SweepPair(smoother, b, x));
    PetscCall(FindNorm(n, host, (double *)outer, x, &norm));
  }
  if (*pairs > MOST_PAIRS || !(norm <= REDUCTION * first)) *pairs = 0;
  PetscCall(PetscFree(host));
  PetscCall(level->backend->release(outer));
  PetscCall(VpVectorDestroy(&b));
  PetscCall(VpVectorDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyPairs(void *data)
{
  PetscFunctionBegin;
  PetscCall(VpSmootherDestroy(&((Pairs *)data)->smoother));
  PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreatePairs(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  Pairs *p;

  PetscFunctionBegin;
  if (VpProblemIsSingular(level->mesh, &level->problem)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&p));
  PetscCall(VpSmootherCreate(level, VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_AUTO, 0, &p->smoother));
  PetscCall(CountPairs(level, p->smoother, &p->pairs));
  if (p->pairs) *data = p;
  else PetscCall(DestroyPairs(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolvePairs(void *data, int32_t n, VpVector b, VpVector x)
{
  const Pairs *p = data;

  PetscFunctionBegin;
  PetscCall(VpVectorZero(x));
  for (int i = 0; i < p->pairs; i++) PetscCall(SweepPair(p->smoother, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewPairs(void *data, PetscViewer viewer)
{
  return PetscViewerASCIIPrintf(viewer, "%d sweeps, every second one in reverse order\n", 2 * ((const Pairs *)data)->pairs);
}

const VpCoarseOps VpCoarseSweeps = {.create = CreatePairs, .solve = SolvePairs, .view = ViewPairs, .destroy = DestroyPairs};
