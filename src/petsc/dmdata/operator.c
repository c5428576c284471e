/* Operators of DMs: reference counts, and the levels with an operator's tables, which are made on first use. */
#include "dmdata.h"

static PetscErrorCode ForgetMany(VpOperator op)
{
  PetscFunctionBegin;
  if (op->ghost) PetscCall(op->many->backend->release(op->ghost));
  PetscCall(VpLevelDestroy(&op->many));
  op->ghost = NULL;
  op->copies = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOperatorDestroy(VpOperator *out)
{
  VpOperator op = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!op || --op->refct) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ForgetMany(op));
  PetscCall(VpLevelDestroy(&op->level));
  PetscCall(VpLevelDestroy(&op->host));
  PetscCall(VpMeshDestroy(&op->mesh));
  PetscCall(VpLatticeDestroy(&op->problem.lattice));
  if (op->given.coefficient != op->problem.coefficient) PetscCall(PetscFree(op->given.coefficient));
  PetscCall(PetscFree(op->problem.coefficient));
  PetscCall(VpMetricDestroy(&op->problem.metric));
  PetscCall(PetscFree(op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes *level, op->level or op->host, unless it exists on this backend. */
static PetscErrorCode GetLevel(VpOperator op, const VpBackend *backend, VpLevel *level)
{
  PetscFunctionBegin;
  if (*level && (*level)->backend != backend) PetscCall(VpLevelDestroy(level));
  if (!*level) {
    if (op->problem.metric) PetscCall(VpCheckMetricBackend(op->mesh, backend));
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
  PetscCall(DMVPatchDGUseBackend(dm, &backend));
  PetscCall(GetLevel(op, backend, &op->level));
  *level = op->level;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOperatorGetHostLevel(VpOperator op, DM dm, VpLevel *level)
{
  const VpBackend *backend;
  VpLevel         *host;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGUseBackend(dm, &backend));
  host = backend == &VpBackendHost ? &op->level : &op->host;
  PetscCall(GetLevel(op, &VpBackendHost, host));
  *level = *host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOperatorRepeat(VpOperator op, DM dm, int32_t copies)
{
  VpLevel level, many;

  PetscFunctionBegin;
  PetscCall(VpOperatorGetLevel(op, dm, &level));
  if (op->copies >= copies && op->many->backend == level->backend) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ForgetMany(op));
  PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscCall(VpLevelRepeatOuter(level, copies, &op->many));
  many = op->many;
  PetscCall(VpTogether(op->mesh->comm, many->backend->alloc((many->view.nlocal - many->view.nown) * many->block,
                                                            "ghost values of several vectors", &op->ghost)));
  op->copies = copies;
  PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool DMVPatchDGIsSingular(DM dm)
{
  const VpOperator op = DMVPatchDGData(dm)->op;

  return VpProblemIsSingular(op->mesh, &op->problem);
}

PetscErrorCode DMVPatchDGGetLevel(DM dm, VpLevel *level)
{
  return VpOperatorGetLevel(DMVPatchDGData(dm)->op, dm, level);
}

PetscErrorCode DMVPatchDGGetHostLevel(DM dm, VpLevel *level)
{
  return VpOperatorGetHostLevel(DMVPatchDGData(dm)->op, dm, level);
}

PetscErrorCode DMVPatchDGFillConstant(DM dm, Vec one)
{
  PetscScalar *values;
  VpLevel      level;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetHostLevel(dm, &level));
  PetscCall(VecGetArrayWrite(one, &values));
  VpConstant(level, values);
  PetscCall(VecRestoreArrayWrite(one, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGSetOperator(DM dm, int tensor, VpApart apart, const PetscReal coefficient[])
{
  DM_VPatchDG *dg = dm->data;
  VpOperator   op;
  const size_t n = (size_t)dg->mesh->nown * (size_t)(PetscMax(tensor, 1) + VpApartWidth(apart));
  PetscReal   *a = NULL;

  PetscFunctionBegin;
  PetscCall(PetscNew(&op));
  if (coefficient) {
    PetscCall(PetscMalloc1(n + 1, &a)); /* not NULL on ranks without cells */
    PetscCall(PetscArraycpy(a, coefficient, n));
  }
  op->refct = 1;
  op->mesh = VpReference(dg->mesh);
  op->problem = (VpProblem){.degree = (int)dg->degree,
                            .nodal = dg->continuous,
                            .quadrature = (VpQuadrature)dg->quadrature,
                            .penalty = dg->penalty,
                            .reaction = dg->reaction,
                            .coefficient = a,
                            .tensor = tensor,
                            .apart = apart};
  op->given = op->problem;
  if (dg->basis == VPATCHDG_BASIS_GAUSS) {
    const PetscErrorCode error = DMVPatchDGMakeMetric(dm, &op->problem);

    if (error) PetscCall(VpOperatorDestroy(&op));
    PetscCall(error);
  }
  if (op->problem.coefficient) PetscCall(VpProblemCreateLattice(dg->mesh, &op->problem, &op->problem.lattice));
  PetscCall(VpOperatorDestroy(&dg->op));
  dg->op = op;
  dg->shown = VP_SHOWN_NOTHING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGhosts(DM dm, VpLevel level, const PetscScalar x[], VpGhosts *ghosts)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  if (!dg->ghost)
    PetscCall(VpTogether(
      dg->mesh->comm, level->backend->alloc((level->view.nlocal - level->view.nown) * level->block, "ghost values", (void **)&dg->ghost)));
  *ghosts = VpGhostsAt(dg->ghost);
  if (!level->alone) PetscCall(VpGhostExchangeBegin(&level->exchange, level->reads, x, dg->ghost, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
