/* Checks of DMs, vectors and matrices before use. */
#include "dmdata.h"

/* Replaces the matrix type that DMConvert() has copied from the source, unless the user chose it. */
static PetscErrorCode ChooseTypes(DM dm)
{
  PetscBool aij, asked;

  PetscFunctionBegin;
  DMVPatchDGData(dm)->types_to_choose = PETSC_FALSE;
  PetscCall(PetscStrcmp(dm->mattype, MATAIJ, &aij));
  PetscCall(PetscOptionsHasName(((PetscObject)dm)->options, ((PetscObject)dm)->prefix, "-dm_mat_type", &asked));
  if (aij && !asked) PetscCall(DMSetMatType(dm, MATSHELL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetData(DM dm, DM_VPatchDG **out)
{
  PetscBool    match;
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  VpAssertObject(dm, DM_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMVPATCHDG, &match));
  PetscCheck(match, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG,
             "The DM is not of type vpatchdg (its type: %s): call DMSetType(dm, DMVPATCHDG) first", VpTypeName((PetscObject)dm));
  dg = dm->data;
  if (dg->types_to_choose) PetscCall(ChooseTypes(dm));
  if (dg->mesh) { /* PETSc's setters of these two do not check whether the DM is set up. */
    dm->dim = dg->mesh->dim;
    PetscCall(DMSetRefineLevel(dm, dg->mesh->level));
  }
  *out = dg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheck(DM dm, const char what[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCheck(dg->mesh, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE, "%s needs a DM that is set up: call DMSetUp() first",
             what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what is checked: who asks for it, what it is, and how to make it */
typedef struct {
  const char *caller, *noun, *remedy;
} Checked;

/* Every rank knows all ranks' sizes, so the ranks agree without a message. of_nodes: the entries are those of nodes, not of cells */
static PetscErrorCode CheckLayout(DM dm, PetscLayout map, PetscBool of_nodes, const Checked *is)
{
  const DM_VPatchDG *dg = DMVPatchDGData(dm);
  const VpMesh       mesh = dg->mesh;
  const PetscInt     block = of_nodes ? 1 : DMVPatchDGCellSize(dm);
  const PetscInt    *range, *wanted = of_nodes ? dg->layout->range : mesh->starts;
  PetscMPIInt        size, r = 0;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(PetscLayoutGetSize(map, &n));
  PetscCheck(n == wanted[mesh->size] * block, mesh->comm, PETSC_ERR_ARG_SIZ,
             "%s: the %s has size %" PetscInt_FMT ", that of the DM is %" PetscInt_FMT ": make it with %s", is->caller, is->noun, n,
             wanted[mesh->size] * block, is->remedy);
  PetscCallMPI(MPI_Comm_size(map->comm, &size));
  PetscCheck(size == mesh->size, mesh->comm, PETSC_ERR_ARG_NOTSAMECOMM, "%s: the %s lives on %d ranks, the DM on %d: make it with %s",
             is->caller, is->noun, size, mesh->size, is->remedy);
  PetscCall(PetscLayoutGetRanges(map, &range));
  while (r < size && range[r + 1] == wanted[r + 1] * block) r++;
  PetscCheck(r == size, mesh->comm, PETSC_ERR_ARG_SIZ,
             "%s: the %s has size %" PetscInt_FMT " on rank %d, that of the DM is %" PetscInt_FMT ": make it with %s", is->caller, is->noun,
             range[r + 1] - range[r], r, (wanted[r + 1] - wanted[r]) * block, is->remedy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckVector(DM dm, Vec v, PetscBool of_nodes, const Checked *is)
{
  PetscLayout map;

  PetscFunctionBegin;
  PetscCheck(v && ((PetscObject)v)->classid == VEC_CLASSID, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG,
             "%s: no vector is given where one is needed", is->caller);
  PetscCall(VecGetLayout(v, &map));
  PetscCall(CheckLayout(dm, map, of_nodes, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckVector(DM dm, Vec v, const char caller[])
{
  const Checked is = {caller, "vector", "DMCreateGlobalVector()"};

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, caller));
  PetscCall(CheckVector(dm, v, (PetscBool)(DMVPatchDGData(dm)->layout != NULL), &is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckPoints(DM dm, Vec v, const char caller[])
{
  Checked is = {caller, "vector", "DMCreateGlobalVector()"};

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, caller));
  if (DMVPatchDGData(dm)->layout) is = (Checked){caller, "vector of values at points", "DMVPatchDGCreatePointVector()"};
  PetscCall(CheckVector(dm, v, PETSC_FALSE, &is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckMatrix(DM dm, Mat A, const char caller[])
{
  const Checked is = {caller, "matrix", "DMCreateMatrix()"};
  PetscLayout   map[2];

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, caller));
  PetscCall(MatGetLayouts(A, &map[0], &map[1]));
  for (int i = 0; i < 2; i++) PetscCall(CheckLayout(dm, map[i], (PetscBool)(DMVPatchDGData(dm)->layout != NULL), &is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCheckNotAdaptive(VpMesh mesh, const char what[])
{
  PetscFunctionBegin;
  PetscCheck(!VpMeshIsAdaptive(mesh), mesh->comm, PETSC_ERR_SUP,
             "%s needs cells of one level, and this mesh has %s refined %d to %d times. On such a mesh there are -pc_type vpatchdg, "
             "the operator with or without matrix, and PETSc's own preconditioners: -pc_type jacobi, or -dm_mat_type aij and "
             "-pc_type gamg, for instance. Or refine all cells (-dm_refine n)",
             what, VpDomainBoxes(mesh->geometry->domain), mesh->least, mesh->level);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCheckMetricBackend(VpMesh mesh, const VpBackend *backend)
{
  PetscFunctionBegin;
  PetscCheck(
    !VpIsDevice(backend) || !VpMeshIsAdaptive(mesh), mesh->comm, PETSC_ERR_SUP,
    "On adaptive meshes coefficients at points and maps (-dm_vpatchdg_basis gauss) work on the host: use -dm_vpatchdg_backend host");
  PetscFunctionReturn(PETSC_SUCCESS);
}
