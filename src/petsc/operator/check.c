/* What is asked of arguments before they are used. What one rank finds wrong all ranks report. */
#include "../impl.h"

PetscErrorCode DMVPatchDGGetData(DM dm, DM_VPatchDG **out)
{
  PetscBool    match;
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  VpAssertObject(dm, DM_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMVPATCHDG, &match));
  PetscCheck(match, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG,
             "The DM is not of type vpatchdg (its type: %s): call DMSetType(dm, DMVPATCHDG) first", VpTypeName((PetscObject)dm));
  dg = (DM_VPatchDG *)dm->data;
  if (dg->mesh) { /* PETSc's own setters do not ask whether the DM is set up */
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

/* Every rank knows the sizes on all of them, so they agree without a message. */
static PetscErrorCode CheckLayout(DM dm, PetscLayout map, const char caller[], const char noun[], const char remedy[])
{
  const VpMesh    mesh = ((DM_VPatchDG *)dm->data)->mesh;
  const PetscInt  block = DMVPatchDGCellSize(dm);
  const PetscInt *range;
  PetscMPIInt     size[2], r = 0;
  PetscInt        n;

  PetscFunctionBegin;
  PetscCall(PetscLayoutGetSize(map, &n));
  PetscCheck(n == mesh->ncell * block, mesh->comm, PETSC_ERR_ARG_SIZ,
             "%s: the %s has size %" PetscInt_FMT ", that of the DM is %" PetscInt_FMT ": make it with %s", caller, noun, n,
             mesh->ncell * block, remedy);
  PetscCallMPI(MPI_Comm_size(map->comm, &size[0]));
  PetscCallMPI(MPI_Comm_size(mesh->comm, &size[1]));
  PetscCheck(size[0] == size[1], mesh->comm, PETSC_ERR_ARG_NOTSAMECOMM, "%s: the %s lives on %d ranks, the DM on %d: make it with %s", caller,
             noun, size[0], size[1], remedy);
  PetscCall(PetscLayoutGetRanges(map, &range));
  while (r < size[0] && range[r + 1] == mesh->starts[r + 1] * block) r++;
  PetscCheck(r == size[0], mesh->comm, PETSC_ERR_ARG_SIZ,
             "%s: the %s has size %" PetscInt_FMT " on rank %d, that of the DM is %" PetscInt_FMT ": make it with %s", caller, noun,
             range[r + 1] - range[r], r, (mesh->starts[r + 1] - mesh->starts[r]) * block, remedy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckVector(DM dm, Vec v, const char caller[])
{
  PetscLayout map;

  PetscFunctionBegin;
  PetscCheck(v && ((PetscObject)v)->classid == VEC_CLASSID, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG,
             "%s: no vector is given where one is needed", caller);
  PetscCall(VecGetLayout(v, &map));
  PetscCall(CheckLayout(dm, map, caller, "vector", "DMCreateGlobalVector()"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckMatrix(DM dm, Mat A, const char caller[])
{
  PetscLayout map[2];

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(A, &map[0], &map[1]));
  for (int i = 0; i < 2; i++) PetscCall(CheckLayout(dm, map[i], caller, "matrix", "DMCreateMatrix()"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCheckEverywhere(MPI_Comm comm, PetscBool here, const char what[])
{
  PetscMPIInt first;

  PetscFunctionBegin;
  PetscCall(VpFirstRank(comm, (PetscBool)!here, &first));
  PetscCheck(first == INT_MAX, comm, PETSC_ERR_ARG_WRONG, "On rank %d: %s", first, what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Same(PetscReal a, PetscReal b)
{
  return (PetscBool)(a == b || (PetscIsNanReal(a) && PetscIsNanReal(b)));
}

/* A number that not all ranks have, the first such rank with its number, and that of rank 0. *index = n: there is none */
static PetscErrorCode FindDifference(MPI_Comm comm, PetscInt n, const PetscReal mine[], PetscInt *index, PetscMPIInt *rank, PetscReal value[2])
{
  PetscReal  *first;
  PetscMPIInt count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(n, &count));
  PetscCall(PetscMalloc1(n, &first));
  PetscCall(PetscArraycpy(first, mine, n));
  PetscCallMPI(MPI_Bcast(first, count, MPIU_REAL, 0, comm));
  *index = 0;
  while (*index < n && Same(first[*index], mine[*index])) ++*index;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, index, 1, MPIU_INT, MPI_MIN, comm));
  if (*index < n) {
    PetscCall(VpFirstRank(comm, (PetscBool)!Same(first[*index], mine[*index]), rank));
    value[0] = first[*index];
    value[1] = mine[*index];
    PetscCallMPI(MPI_Bcast(&value[1], 1, MPIU_REAL, *rank, comm));
  }
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCheckSameReals(MPI_Comm comm, PetscInt n, const PetscReal mine[], const char what[])
{
  PetscInt    index;
  PetscMPIInt rank;
  PetscReal   value[2];

  PetscFunctionBegin;
  PetscCall(FindDifference(comm, n, mine, &index, &rank, value));
  PetscCheck(index == n, comm, PETSC_ERR_ARG_INCOMP,
             "Ranks disagree about %s: at entry %" PetscInt_FMT " rank 0 has %.15g, rank %d has %.15g. All must have the same", what, index,
             (double)value[0], rank, (double)value[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Print(const VpSetting *setting, PetscReal value, char text[], size_t length)
{
  PetscFunctionBegin;
  if (setting->names) PetscCall(PetscSNPrintf(text, length, "%s", setting->names[(int)value]));
  else PetscCall(PetscSNPrintf(text, length, "%.15g", (double)value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCheckSame(MPI_Comm comm, int n, const VpSetting settings[])
{
  PetscReal  *mine, value[2];
  PetscInt    index;
  PetscMPIInt rank;
  char        text[2][32];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &mine));
  for (int i = 0; i < n; i++) mine[i] = settings[i].value;
  PetscCall(FindDifference(comm, n, mine, &index, &rank, value));
  PetscCall(PetscFree(mine));
  if (index == n) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) PetscCall(Print(&settings[index], value[i], text[i], sizeof(text[i])));
  SETERRQ(comm, PETSC_ERR_ARG_INCOMP, "Ranks disagree about the %s: rank 0 has %s, rank %d has %s. All must have the same",
          settings[index].what, text[0], rank, text[1]);
}
