/* The nodes of a continuous DM, whose vectors have an entry per node. */
#include "dmdata.h"

PetscErrorCode DMVPatchDGNumberNodes(DM dm)
{
  DM_VPatchDG *dg = dm->data;
  PetscInt     rows;

  PetscFunctionBegin;
  if (!dg->continuous) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(
    !VpMeshIsAdaptive(dg->mesh), dg->mesh->comm, PETSC_ERR_SUP,
    "-dm_vpatchdg_continuous needs cells of one level, and this mesh has boxes refined %d to %d times: refine all cells (-dm_refine n), "
    "or leave the option out",
    dg->mesh->least, dg->mesh->level);
  PetscCheck(!dg->mesh->geometry->domain->trees, dg->mesh->comm, PETSC_ERR_SUP,
             "-dm_vpatchdg_continuous needs boxes, whose cells have the same directions, and not trees (-dm_vpatchdg_domain %s): leave the "
             "option out",
             VPatchDGDomains[dg->domain]);
  PetscCall(VpCheckPlaces(dg->mesh->comm, dg->mesh->nown, (int)DMVPatchDGCellSize(dm)));
  PetscCall(VpEntitiesCreate(dg->mesh, (int)dg->degree, &rows, &dg->entities));
  PetscCall(PetscLayoutCreateFromSizes(dg->mesh->comm, rows, PETSC_DETERMINE, 1, &dg->layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetNumbers(DM dm, const PetscInt **node)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  if (!dg->node) PetscCall(VpNodesNumber(dg->entities, &dg->node));
  *node = dg->node;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGForgetNodes(DM dm)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) PetscCall(VpNodesDestroy(&dg->nodes[i]));
  PetscCall(PetscLayoutDestroy(&dg->layout));
  PetscCall(VpEntitiesDestroy(&dg->entities));
  PetscCall(PetscFree(dg->node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetNodes(DM dm, const VpBackend *backend, VpNodes *out)
{
  DM_VPatchDG       *dg = dm->data;
  VpNodes           *nodes = &dg->nodes[backend == &VpBackendHost];
  const VpNodesGiven given = {.degree = (int)dg->degree, .entities = dg->entities};

  PetscFunctionBegin;
  *out = NULL;
  if (!dg->layout) PetscFunctionReturn(PETSC_SUCCESS);
  if (*nodes && (*nodes)->backend != backend) PetscCall(VpNodesDestroy(nodes));
  if (!*nodes) PetscCall(VpNodesCreate(dg->mesh, &given, backend, dg->layout, nodes));
  *out = *nodes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckOfCells(DM dm, const char what[])
{
  PetscFunctionBegin;
  PetscCheck(!DMVPatchDGData(dm)->layout, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "%s is for discontinuous functions, and this DM has continuous ones: leave -dm_vpatchdg_continuous out", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}
