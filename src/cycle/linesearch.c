/* The vectors of a line search, its step, and what a cycle does by it. */
#include "linesearch.h"
#include "internal.h"

struct VpLineSearch_ {
  VpLevel  level;
  VpVector e, Ae;
  double  *dots; /* [2] on the backend: (e, r) and (e, A e) */
};

PetscErrorCode VpLineSearchCreate(VpLevel level, VpLineSearch *out)
{
  VpLineSearch search;

  PetscFunctionBegin;
  PetscCall(PetscNew(&search));
  *out = search;
  search->level = level;
  PetscCall(VpVectorCreate(level, 1, "coarse correction", &search->e));
  PetscCall(VpVectorCreate(level, 1, "A times the coarse correction", &search->Ae));
  PetscCall(VpTogether(level->mesh->comm, level->backend->alloc(2 * sizeof(double), "dot products", (void **)&search->dots)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLineSearchDestroy(VpLineSearch *out)
{
  VpLineSearch search = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!search) PetscFunctionReturn(PETSC_SUCCESS);
  if (search->dots) PetscCall(search->level->backend->release(search->dots));
  PetscCall(VpVectorDestroy(&search->e));
  PetscCall(VpVectorDestroy(&search->Ae));
  PetscCall(PetscFree(search));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLineSearchBegin(VpLineSearch search, void **e)
{
  return VpVectorWrite(search->e, VP_GHOST_HALO, e);
}

/* sums up what the ranks found */
static PetscErrorCode SumOverRanks(VpLineSearch search)
{
  const VpLevel level = search->level;
  double        dots[2];

  PetscFunctionBegin;
  if (level->mesh->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(level->backend->download(search->dots, sizeof(dots), dots));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, dots, 2, MPI_DOUBLE, MPI_SUM, level->mesh->comm));
  PetscCall(level->backend->upload(dots, sizeof(dots), search->dots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLineSearchStep(VpLineSearch search, VpVector r, VpVector x)
{
  const VpLevel level = search->level;
  const void   *e, *residual;
  void         *Ae, *to;
  VpGhosts      ghosts;
  PetscBool     add;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(search->e, VP_GHOST_FACE, &e, &ghosts));
  PetscCall(VpVectorReadBegin(r, VP_GHOST_NONE, &residual, NULL));
  PetscCall(VpVectorWrite(search->Ae, VP_GHOST_NONE, &Ae));
  PetscCall(level->ops->apply(&level->view, 0, level->view.nown, e, ghosts, NULL, Ae));
  PetscCall(level->ops->dots(&level->view, e, residual, Ae, search->dots));
  PetscCall(SumOverRanks(search));
  PetscCall(VpVectorAdd(x, VP_GHOST_HALO, &add, &to));
  PetscCall(level->ops->step(&level->view, level->mesh->nhalo, 1, search->dots, e, add ? to : NULL, to));
  PetscCall(VpLogFlops(level, VpLevelApplyFlops(level) + 2. * (2 * level->view.nown + level->mesh->nhalo) * (double)VpLevelValues(level)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLineSearchResidual(VpLineSearch search, VpVector r, VpVector to)
{
  const VpLevel level = search->level;
  const void   *from, *Ae;
  void         *residual;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(r, VP_GHOST_NONE, &from, NULL));
  PetscCall(VpVectorReadBegin(search->Ae, VP_GHOST_NONE, &Ae, NULL));
  PetscCall(VpVectorWrite(to, VP_GHOST_NONE, &residual));
  PetscCall(level->ops->step(&level->view, level->view.nown, -1, search->dots, Ae, from, residual));
  PetscCall(VpLogFlops(level, 2. * level->view.nown * (double)VpLevelValues(level)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what holds b - A x before a correction */
static VpVector ResidualOf(VpCycle cycle, PetscInt l)
{
  return VpVectorIsZero(cycle->x[l]) ? cycle->b[l] : cycle->r[l];
}

PetscErrorCode VpCycleSearch(VpCycle cycle, PetscInt l)
{
  void *e;

  PetscFunctionBegin;
  PetscCall(VpLineSearchBegin(cycle->search[l], &e));
  PetscCall(VpCycleProlong(cycle, l, PETSC_FALSE, e));
  PetscCall(VpLineSearchStep(cycle->search[l], ResidualOf(cycle, l), cycle->x[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleRestart(VpCycle cycle, PetscInt l)
{
  const VpVector r = ResidualOf(cycle, l);

  PetscFunctionBegin;
  PetscCall(VpCycleSearch(cycle, l));
  PetscCall(VpCycleNeedResidual(cycle, l));
  PetscCall(VpLineSearchResidual(cycle->search[l], r, cycle->r[l]));
  PetscCall(VpCycleRestrict(cycle, l, cycle->r[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
