/* The same mesh cut into other pieces: coarse levels gather on few ranks. */
#include "../internal.h"

PetscErrorCode VpMeshPositions(VpMesh mesh, PetscInt position[])
{
  PetscFunctionBeginUser;
  for (int32_t i = 0; i < mesh->nown; i++) position[i] = mesh->first + i;
  PetscCall(VpMeshExchange(mesh, VP_GHOST_ALL, 1, MPIU_INT, position, position + mesh->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshGather(VpMesh mesh, PetscMPIInt ranks, VpMesh *gathered)
{
  PetscInt *counts;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(mesh->size, &counts));
  for (PetscInt64 i = 0; i < ranks; i++) /* every (size/ranks)-th rank */
    counts[i * mesh->size / ranks] = (PetscInt)((i + 1) * mesh->ncell / ranks - i * mesh->ncell / ranks);
  PetscCall(VpMeshCut(mesh, counts, gathered));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreateMove(VpMesh from, VpMesh to, PetscBool ghosts, PetscSF *sf)
{
  PetscLayout layout;
  PetscInt   *position;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(to->nlocal, &position));
  PetscCall(VpMeshPositions(to, position));
  PetscCall(PetscLayoutCreate(from->comm, &layout));
  PetscCall(PetscLayoutSetLocalSize(layout, from->nown));
  PetscCall(PetscLayoutSetUp(layout));
  PetscCall(PetscSFCreate(from->comm, sf));
  PetscCall(PetscSFSetGraphLayout(*sf, layout, ghosts ? to->nlocal : to->nown, NULL, PETSC_OWN_POINTER, position));
  PetscCall(PetscSFSetUp(*sf));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PetscFree(position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt VpMeshRanks(VpMesh mesh)
{
  PetscInt ranks = 0;

  for (PetscMPIInt r = 0; r < mesh->size; r++) ranks += mesh->starts[r + 1] > mesh->starts[r];
  return ranks;
}
