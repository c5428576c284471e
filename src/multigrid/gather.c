/* Levels that live on fewer ranks than their finer one, and what passes between a level and the next coarser one. */
#include "internal.h"

struct VpGather_ {
  VpLevel     spread; /* the level's mesh where the finer level's parents live: for its vectors alone */
  void       *b, *x;  /* of it */
  VpExchanger in, out;
};

/* spread: the finer mesh's ->coarser */
PetscErrorCode VpGatherCreate(VpMesh spread, VpLevel level, VpGather *out)
{
  const VpProblem problem = {.degree = level->problem.degree, .penalty = level->problem.penalty};
  PetscSF         sf;
  VpGather        g;

  PetscFunctionBegin;
  *out = NULL;
  if (spread == level->mesh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&g));
  *out = g;
  PetscCall(VpLevelCreate(spread, &problem, level->basis.type, level->precision, level->backend, &g->spread));
  PetscCall(VpLevelVectorCreate(g->spread, "right-hand side", &g->b));
  PetscCall(VpLevelVectorCreate(g->spread, "correction", &g->x));
  PetscCall(VpMeshCreateMove(spread, level->mesh, PETSC_FALSE, &sf));
  PetscCall(VpExchangerCreate(&g->spread->exchange.cells, sf, &g->in));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(VpMeshCreateMove(level->mesh, spread, PETSC_TRUE, &sf));
  PetscCall(VpExchangerCreate(&g->spread->exchange.cells, sf, &g->out));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpGatherDestroy(VpGather *out)
{
  VpGather g = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpExchangerDestroy(&g->in));
  PetscCall(VpExchangerDestroy(&g->out));
  PetscCall(g->spread->backend->release(g->b));
  PetscCall(g->spread->backend->release(g->x));
  PetscCall(VpLevelDestroy(&g->spread));
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpRestrict(VpLevel fine, VpGather g, const void *r, void *b)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_TRANSFER, 0, 0, 0, 0));
  PetscCall(fine->ops->restrict_(&fine->transfer, r, g ? g->b : b));
  PetscCall(VpLogFlops(fine, VpTransferFlops(&fine->view, fine->transfer.ncoarse << fine->view.dim)));
  PetscCall(PetscLogEventEnd(VP_EVENT_TRANSFER, 0, 0, 0, 0));
  if (g) {
    PetscCall(VpExchangerRun(g->in, g->b, b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpProlong(VpLevel fine, VpLevel coarse, VpGather g, int32_t count, PetscBool add, void *xc, void *x)
{
  const int32_t own = fine->mesh->nown, orphans = fine->mesh->orphans;
  VpGhosts      ghosts = VpGhostsAt(NULL);

  PetscFunctionBegin;
  if (g) PetscCall(VpExchangerRun(g->out, xc, g->x));
  else PetscCall(VpLevelRefresh(coarse, VP_GHOST_ALL, xc, &ghosts));
  PetscCall(PetscLogEventBegin(VP_EVENT_TRANSFER, 0, 0, 0, 0));
  PetscCall(fine->ops->prolong(&fine->transfer, orphans, own, add, g ? g->x : xc, x));
  PetscCall(VpArrive(ghosts));
  PetscCall(fine->ops->prolong(&fine->transfer, 0, orphans, add, g ? g->x : xc, x));
  PetscCall(fine->ops->prolong(&fine->transfer, own, count, add, g ? g->x : xc, x));
  PetscCall(VpLogFlops(fine, VpTransferFlops(&fine->view, count)));
  PetscCall(PetscLogEventEnd(VP_EVENT_TRANSFER, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
