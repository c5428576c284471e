/* Transfers vectors between a level and the next coarser one, which may live on fewer ranks. */
#include "internal.h"

/* Transfers work on the ranks where the parents of the finer level's cells live. The coarse level may live on fewer ranks. A move takes
   values from the parents' ranks to the coarse level's (in), and back (out). */
struct VpMove_ {
  VpLevel     spread; /* the coarse mesh on the parents' ranks: for b and x alone */
  VpVector    b, x;   /* vectors of `spread` */
  VpExchanger in, out;
};

PetscErrorCode VpMoveCreate(VpMesh spread, VpLevel level, VpMove *out)
{
  const VpProblem problem = {.degree = level->problem.degree, .penalty = level->problem.penalty};
  PetscSF         sf;
  VpMove          move;

  PetscFunctionBegin;
  *out = NULL;
  if (spread == level->mesh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&move));
  *out = move;
  PetscCall(VpLevelCreate(spread, &problem, level->basis.type, level->precision, level->backend, &move->spread));
  PetscCall(VpVectorCreate(move->spread, 1, "right-hand side", &move->b));
  PetscCall(VpVectorCreate(move->spread, 1, "correction", &move->x));
  PetscCall(VpMeshCreateMove(spread, level->mesh, PETSC_FALSE, &sf));
  PetscCall(VpExchangerCreate(&move->spread->exchange.cells, sf, PETSC_FALSE, &move->in));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(VpMeshCreateMove(level->mesh, spread, PETSC_TRUE, &sf));
  PetscCall(VpExchangerCreate(&move->spread->exchange.cells, sf, PETSC_FALSE, &move->out));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMoveDestroy(VpMove *out)
{
  VpMove move = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!move) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpExchangerDestroy(&move->in));
  PetscCall(VpExchangerDestroy(&move->out));
  PetscCall(VpVectorDestroy(&move->b));
  PetscCall(VpVectorDestroy(&move->x));
  PetscCall(VpLevelDestroy(&move->spread));
  PetscCall(PetscFree(move));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpRestrict(VpLevel fine, VpMove move, VpVector r, VpVector b)
{
  const void *from;
  void       *values, *to;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(r, VP_GHOST_CHILD, &from));
  PetscCall(VpVectorWrite(b, VP_GHOST_NONE, &values));
  to = values;
  if (move) PetscCall(VpVectorWrite(move->b, VP_GHOST_NONE, &to));
  PetscCall(PetscLogEventBegin(VP_EVENT_TRANSFER, 0, 0, 0, 0));
  PetscCall(fine->ops->restrict_(&fine->transfer, from, to));
  PetscCall(VpLogFlops(fine->backend, VpTransferFlops(&fine->view, fine->transfer.ncoarse << fine->view.dim)));
  PetscCall(PetscLogEventEnd(VP_EVENT_TRANSFER, 0, 0, 0, 0));
  if (move) PetscCall(VpExchangerRun(move->in, to, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values = the values of xc on the parents' ranks. Ghosts of xc may be under way. */
static PetscErrorCode SpreadValues(VpMove move, VpVector xc, const void **values, VpGhosts *ghosts)
{
  const void *from;
  void       *to;

  PetscFunctionBegin;
  if (!move) PetscCall(VpVectorReadBegin(xc, VP_GHOST_ALL, values, ghosts));
  else {
    PetscCall(VpVectorReadBegin(xc, VP_GHOST_NONE, &from, NULL));
    PetscCall(VpVectorWrite(move->x, VP_GHOST_ALL, &to));
    PetscCall(VpExchangerRun(move->out, from, to));
    *values = to;
    *ghosts = VpGhostsAt(NULL);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prolongs to own cells whose parents are own cells while ghosts travel. */
PetscErrorCode VpProlong(VpLevel fine, VpMove move, VpVector xc, int32_t count, PetscBool add, void *x)
{
  const int32_t own = fine->mesh->nown, orphans = fine->mesh->relation->orphans;
  const void   *from;
  VpGhosts      ghosts;

  PetscFunctionBegin;
  PetscCall(SpreadValues(move, xc, &from, &ghosts));
  PetscCall(PetscLogEventBegin(VP_EVENT_TRANSFER, 0, 0, 0, 0));
  PetscCall(fine->ops->prolong(&fine->transfer, orphans, own, add, from, x));
  PetscCall(VpArrive(ghosts));
  PetscCall(fine->ops->prolong(&fine->transfer, 0, orphans, add, from, x));
  PetscCall(fine->ops->prolong(&fine->transfer, own, count, add, from, x));
  PetscCall(VpLogFlops(fine->backend, VpTransferFlops(&fine->view, count)));
  PetscCall(PetscLogEventEnd(VP_EVENT_TRANSFER, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
