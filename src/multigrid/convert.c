/* Between outer vectors, double in the orthonormal basis, and those of a level. */
#include "internal.h"

PetscErrorCode VpLevelEnter(VpLevel level, double scale, const double *r, void *b)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscCall(level->ops->enter(&level->view, scale, r, b));
  PetscCall(VpLogFlops(level, VpTransferFlops(&level->view, level->view.nown)));
  PetscCall(PetscLogEventEnd(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelEnterResidual(VpLevel level, VpLevel outer, double scale, const double *x, VpGhosts ghosts, const double *f, void *b,
                                    PetscReal *norm2)
{
  double own = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscCall(level->ops->enter_residual(&level->view, &outer->view, scale, x, ghosts, f, b, norm2 ? &own : NULL));
  PetscCall(VpLogFlops(level, VpTransferFlops(&level->view, level->view.nown) + (x ? VpLevelApplyFlops(outer) : 0)));
  if (norm2) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, level->mesh->comm));
    *norm2 = own;
  }
  PetscCall(PetscLogEventEnd(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelLeave(VpLevel level, PetscBool add, double scale, const void *x, double *z)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscCall(level->ops->leave(&level->view, add, scale, x, z));
  PetscCall(VpLogFlops(level, VpTransferFlops(&level->view, level->view.nown)));
  PetscCall(PetscLogEventEnd(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
