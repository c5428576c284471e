/* A with one coefficient: what a DM, the matrices made from it and their preconditioners share. It never changes but for its levels, which
   are made when they are first used. */
#include "../impl.h"

PetscErrorCode VpOperatorCreate(VpMesh mesh, const VpProblem *problem, VpOperator *out)
{
  VpOperator op;
  PetscReal *a;

  PetscFunctionBegin;
  PetscCall(PetscNew(&op));
  op->refct = 1;
  op->problem = *problem;
  PetscCall(VpMeshReference(mesh));
  op->mesh = mesh;
  if (problem->coefficient) {
    PetscCall(PetscMalloc1(mesh->nown + 1, &a)); /* not NULL on ranks without cells */
    PetscCall(PetscArraycpy(a, problem->coefficient, mesh->nown));
    op->problem.coefficient = a;
  }
  *out = op;
  PetscFunctionReturn(PETSC_SUCCESS);
}

VpOperator VpOperatorReference(VpOperator op)
{
  op->refct++;
  return op;
}

PetscErrorCode VpOperatorClear(VpOperator op)
{
  PetscFunctionBegin;
  PetscCall(VpLevelDestroy(&op->level));
  PetscCall(VpLevelDestroy(&op->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOperatorDestroy(VpOperator *out)
{
  VpOperator op = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!op || --op->refct) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpOperatorClear(op));
  PetscCall(VpMeshDestroy(&op->mesh));
  PetscCall(PetscFree(op->problem.coefficient));
  PetscCall(PetscFree(op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of one of the two levels: where the backend is another, it is made anew */
static PetscErrorCode GetLevel(VpOperator op, const VpBackend *backend, VpLevel *level)
{
  PetscFunctionBegin;
  if (*level && (*level)->backend != backend) PetscCall(VpLevelDestroy(level));
  if (!*level) {
    PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, 0, 0, 0, 0));
    PetscCall(VpLevelCreateOuter(op->mesh, &op->problem, backend, level));
    PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, 0, 0, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOperatorGetLevel(VpOperator op, DM dm, VpLevel *level)
{
  const VpBackend *backend;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetKernels(dm, &backend));
  PetscCall(GetLevel(op, backend, &op->level));
  *level = op->level;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOperatorGetHostLevel(VpOperator op, DM dm, VpLevel *level)
{
  const VpBackend *backend;
  VpLevel         *host;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetKernels(dm, &backend));
  host = backend == &VpBackendHost ? &op->level : &op->host;
  PetscCall(GetLevel(op, &VpBackendHost, host));
  *level = *host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetProblem(DM dm, VpProblem *problem)
{
  PetscFunctionBegin;
  *problem = ((DM_VPatchDG *)dm->data)->op->problem;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetLevel(DM dm, VpLevel *level)
{
  PetscFunctionBegin;
  PetscCall(VpOperatorGetLevel(((DM_VPatchDG *)dm->data)->op, dm, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetHostLevel(DM dm, VpLevel *level)
{
  PetscFunctionBegin;
  PetscCall(VpOperatorGetHostLevel(((DM_VPatchDG *)dm->data)->op, dm, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGSetOperator(DM dm, const PetscReal coefficient[])
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  VpOperator   op;
  VpProblem    problem = {
       .degree = (int)dg->degree, .penalty = dg->penalty, .reaction = dg->reaction, .coefficient = coefficient};

  PetscFunctionBegin;
  PetscCall(VpOperatorCreate(dg->mesh, &problem, &op));
  PetscCall(VpOperatorDestroy(&dg->op));
  dg->op = op;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGhosts(DM dm, VpLevel level, const PetscScalar x[], VpGhosts *ghosts)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBegin;
  if (!dg->ghost)
    PetscCall(VpTogether(dg->mesh->comm, level->backend->alloc(dg->mesh->nside * level->block, "ghost values", (void **)&dg->ghost)));
  PetscCall(VpLevelExchangeBegin(level, level->reads, x, dg->ghost, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
