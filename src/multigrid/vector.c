/* The vectors of a level. */
#include "internal.h"

PetscErrorCode VpLevelVectorCreate(VpLevel level, const char *what, void **v)
{
  PetscFunctionBegin;
  PetscCall(VpTogether(level->mesh->comm,
                       level->backend->alloc(PetscMax(level->mesh->nlocal, level->view.nlocal) * level->block, what, v)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelExchangeBegin(VpLevel level, VpGhostKind kind, const void *own, void *ghost, VpGhosts *ghosts)
{
  PetscFunctionBegin;
  PetscCall(VpGhostExchangeBegin(&level->exchange, kind, own, ghost, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelRefresh(VpLevel level, VpGhostKind kind, void *v, VpGhosts *ghosts)
{
  PetscFunctionBegin;
  PetscCall(VpLevelExchangeBegin(level, kind, v, (char *)v + level->mesh->nown * level->block, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelExchange(VpLevel level, VpGhostKind kind, void *v)
{
  VpGhosts ghosts;

  PetscFunctionBegin;
  PetscCall(VpLevelRefresh(level, kind, v, &ghosts));
  PetscCall(VpArrive(ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
