/* Converts between outer vectors, double in the orthonormal basis, and vectors of a level. */
#include "internal.h"

PetscErrorCode VpVectorEnter(VpVector v, double scale, const double *r)
{
  return VpVectorEnterResidual(v, v->level, scale, NULL, VpGhostsAt(NULL), r, NULL);
}

/* the view without the map of the outer vectors */
static VpView WithoutMap(VpLevel level)
{
  VpView view = level->view;

  view.metric.root = NULL;
  return view;
}

PetscErrorCode VpVectorEnterBoxes(VpVector v, double scale, const double *r)
{
  const VpView view = WithoutMap(v->level);
  void        *values;

  PetscFunctionBegin;
  PetscCall(VpVectorWrite(v, VP_GHOST_NONE, &values));
  PetscCall(v->level->ops->enter(&view, NULL, scale, NULL, VpGhostsAt(NULL), r, values, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorLeaveBoxes(VpVector v, double *z)
{
  const VpView view = WithoutMap(v->level);
  const void  *values;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(v, VP_GHOST_NONE, &values, NULL));
  PetscCall(v->level->ops->leave(&view, PETSC_FALSE, 1, values, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorEnterResidual(VpVector v, VpLevel outer, double scale, const double *x, VpGhosts ghosts, const double *f,
                                     PetscReal *norm2)
{
  const VpLevel level = v->level;
  double        own = 0;
  void         *values;

  PetscFunctionBegin;
  PetscCall(VpVectorWrite(v, VP_GHOST_NONE, &values));
  PetscCall(PetscLogEventBegin(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscCall(level->ops->enter(&level->view, &outer->view, scale, x, ghosts, f, values, norm2 ? &own : NULL));
  PetscCall(VpLogFlops(level, VpTransferFlops(&level->view, level->view.nown) + (x ? VpLevelApplyFlops(outer) : 0)));
  if (norm2) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, level->mesh->comm));
    *norm2 = own;
  }
  PetscCall(PetscLogEventEnd(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorLeave(VpVector v, PetscBool add, double scale, double *z)
{
  const VpLevel level = v->level;
  const void   *values;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(v, VP_GHOST_NONE, &values, NULL));
  PetscCall(PetscLogEventBegin(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscCall(level->ops->leave(&level->view, add, scale, values, z));
  PetscCall(VpLogFlops(level, VpTransferFlops(&level->view, level->view.nown)));
  PetscCall(PetscLogEventEnd(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
