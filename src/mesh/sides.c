/* Ghosts numbered by the sides that own cells share with them. */
#include "mesh.h"
#include "memory.h"

PetscErrorCode VpMeshSetSides(VpMesh mesh)
{
  const int          nside = 2 * mesh->dim;
  const size_t       count = (size_t)mesh->nown * nside;
  const PetscSFNode *owner; /* of the face neighbours */
  PetscSFNode       *root;
  PetscInt          *leaf;
  int32_t            n = 0;

  PetscFunctionBeginUser;
  if (mesh->sf[VP_GHOST_SIDE]) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t i = 0; i < count; i++) mesh->nside += mesh->neighbor[i] >= mesh->nown;
  PetscCall(PetscSFGetGraph(mesh->sf[VP_GHOST_FACE], NULL, NULL, NULL, &owner));
  PetscCall(PetscMalloc2(mesh->nside, &leaf, mesh->nside, &root));
  if (mesh->nside) PetscCall(VpMallocLarge(count, &mesh->beyond));
  for (size_t i = 0; i < count && mesh->nside; i++) {
    const int32_t next = mesh->neighbor[i], there = (int32_t)(i % nside) ^ 1; /* the neighbour's side */

    mesh->beyond[i] = next < mesh->nown ? next : mesh->nown + n;
    if (next < mesh->nown) continue;
    root[n].rank = owner[next - mesh->nown].rank;
    root[n].index = owner[next - mesh->nown].index * nside + there;
    leaf[n] = (PetscInt)n * nside + there;
    n++;
  }
  PetscCall(PetscSFCreate(mesh->comm, &mesh->sf[VP_GHOST_SIDE]));
  PetscCall(PetscSFSetGraph(mesh->sf[VP_GHOST_SIDE], (PetscInt)count, n, leaf, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(mesh->sf[VP_GHOST_SIDE]));
  PetscCall(PetscFree2(leaf, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}
