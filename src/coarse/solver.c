/* The KSP of a way, and the path of values from vectors of the level to those of the KSP and back. */
#include "internal.h"

PetscErrorCode VpCoarseSolverCreate(VpLevel level, const char prefix[], PetscObject parent, VpCoarseSolver *s)
{
  const char *outer = NULL;

  PetscFunctionBegin;
  s->level = level;
  s->scale = 1;
  PetscCall(KSPCreate(level->mesh->comm, &s->ksp));
  if (parent) {
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)s->ksp, parent, 1));
    PetscCall(PetscObjectGetOptionsPrefix(parent, &outer));
  }
  PetscCall(KSPSetOptionsPrefix(s->ksp, outer));
  PetscCall(KSPAppendOptionsPrefix(s->ksp, prefix));
  PetscCall(KSPSetErrorIfNotConverged(s->ksp, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolverAllocate(VpCoarseSolver *s, size_t n, const char what[])
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(s->A, &s->x, &s->b));
  PetscCall(MatGetNullSpace(s->A, &s->constants));
  PetscCall(PetscObjectReference((PetscObject)s->constants));
  s->bytes = n * sizeof(double);
  PetscCall(VpTogether(s->level->mesh->comm, s->level->backend->alloc(s->bytes, what, (void **)&s->values)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolverSetUp(VpCoarseSolver *s)
{
  const char    *prefix;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(s->ksp, &prefix));
  error = KSPSetFromOptions(s->ksp);
  if (!error) error = KSPSetUp(s->ksp);
  /* PETSc prints no second message of an error. */
  if (error)
    PetscCall(
      (*PetscErrorPrintf)("The KSP of the coarsest level cannot be set up. Change the options -%s..., or leave them out\n", prefix));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseToVec(const VpCoarseSolver *s, Vec to)
{
  const VpBackend *backend = s->level->backend;
  PetscScalar     *values;
  PetscMemType     type;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWriteAndMemType(to, &values, &type));
  PetscCall((PetscMemTypeHost(type) ? backend->download : backend->copy)(s->values, s->bytes, values));
  PetscCall(VecRestoreArrayWriteAndMemType(to, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseFromVec(const VpCoarseSolver *s, Vec from)
{
  const VpBackend   *backend = s->level->backend;
  const PetscScalar *values;
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(from, &values, &type));
  PetscCall((PetscMemTypeHost(type) ? backend->upload : backend->copy)(values, s->bytes, s->values));
  PetscCall(VecRestoreArrayReadAndMemType(from, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseLeave(const VpCoarseSolver *s, VpVector from, Vec to)
{
  PetscFunctionBegin;
  PetscCall(VpVectorLeaveBoxes(from, s->values));
  PetscCall(VpCoarseToVec(s, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseEnter(const VpCoarseSolver *s, Vec from, VpVector to)
{
  PetscFunctionBegin;
  PetscCall(VpCoarseFromVec(s, from));
  PetscCall(VpVectorEnterBoxes(to, s->scale, s->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolverRun(VpCoarseSolver *s)
{
  KSPConvergedReason reason;

  PetscFunctionBegin;
  if (s->constants) PetscCall(MatNullSpaceRemove(s->constants, s->b));
  PetscCall(KSPSolve(s->ksp, s->b, s->x));
  PetscCall(KSPGetConvergedReason(s->ksp, &reason));
  if (reason < 0) PetscCall(KSPGetIterationNumber(s->ksp, &s->stopped));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolverSolve(void *data, int32_t n, VpVector b, VpVector x)
{
  VpCoarseSolver *s = (VpCoarseSolver *)data;

  PetscFunctionBegin;
  PetscCall(VpCoarseLeave(s, b, s->b));
  PetscCall(VpCoarseSolverRun(s));
  PetscCall(VpCoarseEnter(s, s->x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolverDestroy(VpCoarseSolver *s)
{
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(MatDestroy(&s->A));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscCall(MatNullSpaceDestroy(&s->constants));
  if (s->values) PetscCall(s->level->backend->release(s->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
