/* Converts between outer vectors, double in the outer basis, and vectors of a level. */
#include "internal.h"

/* view: the level's, or one that differs from it in the map */
static PetscErrorCode EnterBy(VpVector v, const VpView *view, const VpOuterResidual *r, double *own)
{
  const VpLevel level = v->level;
  void         *values;

  PetscFunctionBegin;
  PetscCall(VpVectorWrite(v, VP_GHOST_NONE, &values));
  PetscCall(PetscLogEventBegin(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscCall(level->ops->enter(view, &r->outer->view, r->scale, r->x, r->ghosts, r->f, values, own));
  PetscCall(VpLogFlops(level->backend, VpTransferFlops(view, view->nown) + (r->x ? VpLevelApplyFlops(r->outer) : 0)));
  PetscCall(PetscLogEventEnd(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LeaveBy(VpVector v, const VpView *view, PetscBool add, double scale, double *z)
{
  const void *values;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(v, VP_GHOST_NONE, &values, NULL));
  PetscCall(PetscLogEventBegin(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscCall(v->level->ops->leave(view, add, scale, values, z));
  PetscCall(VpLogFlops(v->level->backend, VpTransferFlops(view, view->nown)));
  PetscCall(PetscLogEventEnd(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the view by which outer vectors enter and leave */
static const VpView *OuterView(VpLevel level)
{
  return level->problem.nodal ? &level->nodal : &level->view;
}

PetscErrorCode VpVectorEnter(VpVector v, double scale, const double *r)
{
  return EnterBy(v, OuterView(v->level), &(VpOuterResidual){.outer = v->level, .scale = scale, .f = r}, NULL);
}

PetscErrorCode VpVectorEnterResidual(VpVector v, const VpOuterResidual *r, PetscReal *norm2)
{
  VpView view = *OuterView(v->level);
  double own = 0;

  PetscFunctionBegin;
  view.gather = r->gather;
  PetscCall(EnterBy(v, &view, r, norm2 ? &own : NULL));
  if (!norm2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, v->level->mesh->comm));
  *norm2 = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVectorLeave(VpVector v, PetscBool add, double scale, double *z)
{
  return LeaveBy(v, OuterView(v->level), add, scale, z);
}

PetscErrorCode VpVectorLeaveProducts(VpVector v, double scale, int n, const double *const y[], double sums[])
{
  const VpView *view = OuterView(v->level);
  const void   *values;

  PetscFunctionBegin;
  PetscCall(VpVectorReadBegin(v, VP_GHOST_NONE, &values, NULL));
  PetscCall(PetscLogEventBegin(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscCall(v->level->ops->leave_products(view, scale, values, n, y, sums));
  PetscCall(VpLogFlops(v->level->backend, VpTransferFlops(view, view->nown) + 2. * n * view->nown * (double)VpLevelValues(v->level)));
  PetscCall(PetscLogEventEnd(VP_EVENT_CONVERT, 0, 0, 0, 0));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, n, MPI_DOUBLE, MPI_SUM, v->level->mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
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

  return EnterBy(v, &view, &(VpOuterResidual){.outer = v->level, .scale = scale, .f = r}, NULL);
}

PetscErrorCode VpVectorLeaveBoxes(VpVector v, double *z)
{
  const VpView view = WithoutMap(v->level);

  return LeaveBy(v, &view, PETSC_FALSE, 1, z);
}
