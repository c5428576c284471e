/* Moves the one-time work of a first solve on a device to the set-up: loading kernels, listing patches, opening connections, recording
   launches. The rehearsal runs two steps of a refinement, a product with A and sums of vectors. */
#include "internal.h"

/* *is: two vectors take less than half of the free memory on each rank */
static PetscErrorCode HaveMemory(PC pc, VpLevel outer, PetscBool *is)
{
  double there = 0, total, need = 2. * (double)outer->view.nown * (double)outer->block;
  int    enough;

  PetscFunctionBegin;
  PetscCall(outer->backend->memory(&there, &total));
  enough = need < there / 2;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  *is = (PetscBool)enough;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = M f, then x += M (f - A x) */
static PetscErrorCode RefineTwice(PC pc, Vec f, Vec x)
{
  PetscReal norm;
  VpVector  r;

  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) {
    PetscCall(VpCycleBegin(PCVPatchDGData(pc)->cycle, 0, &r));
    PetscCall(VpPCBaseEnterInto(pc, r, NULL, f, i ? x : NULL, i ? &norm : NULL));
    PetscCall(VpPCBaseSolve(pc, PETSC_FALSE, (PetscBool)i, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { LONG = 1 << 20 }; /* Longer vectors use the same kernels. */

/* Runs the operations of KSPs on vectors of this type, on one to three of them. Factors are nonzero and vectors change in between, because
   PETSc skips sums with zero factors and norms that it has cached. */
static PetscErrorCode CombineVectors(Vec like)
{
  const PetscScalar some[3] = {0.5, 0.25, 0.125};
  PetscScalar       dots[3];
  Vec               f, x, many[3], same[3] = {like, like, like};
  PetscReal         norm;
  PetscInt          local;
  VecType           type;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(like, &local));
  PetscCall(VecGetType(like, &type));
  PetscCall(VpVecCreate(PetscObjectComm((PetscObject)like), type, 1, PetscMin(local, LONG), PETSC_DECIDE, &f));
  PetscCall(VecDuplicate(f, &x));
  PetscCall(VecSet(f, 1));
  PetscCall(VecSet(x, 0));
  for (int i = 0; i < 3; i++) many[i] = x;
  for (PetscInt n = 1; n <= 3; n++) {
    PetscCall(VecMDot(like, n, same, dots));
    PetscCall(VecMAXPY(f, n, some, many));
  }
  PetscCall(VecAXPY(f, 0.5, x));
  PetscCall(VecAYPX(f, 0.5, x));
  PetscCall(VecNorm(f, NORM_2, &norm));
  PetscCall(VecScale(f, 0.5));
  PetscCall(VecCopy(f, x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGRehearse(PC pc)
{
  const VpPCBase *inverse = &PCVPatchDGData(pc)->inverse;
  PetscBool       enough;
  VpLevel         outer;
  Vec             f, x;

  PetscFunctionBegin;
  if (inverse->continuous) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpOperatorGetLevel(inverse->op, inverse->dm, &outer));
  if (!outer->backend->prefers->rehearses) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HaveMemory(pc, outer, &enough));
  if (!enough) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMCreateGlobalVector(inverse->dm, &f));
  PetscCall(VecDuplicate(f, &x));
  PetscCall(VecSet(f, 1));
  PetscCall(VecSet(x, 0));
  PetscCall(RefineTwice(pc, f, x));
  (void)VpCoarseStopped(PCVPatchDGData(pc)->cycle->coarse); /* discards the count, which would cause a warning */
  PetscCall(MatMult(pc->pmat, f, x));
  PetscCall(CombineVectors(f));
  PetscCall(outer->backend->wait());
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
