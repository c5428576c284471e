/* Ghosts numbered by the sides that own cells share with them. */
#include "mesh.h"
#include "../base/memory.h"

PetscErrorCode VpMeshSetSides(VpMesh mesh)
{
  const int          sides = 2 * mesh->dim;
  const size_t       count = (size_t)mesh->nown * sides, look = mesh->nface > mesh->nown ? count : 0; /* no ghosts: no need to */
  const PetscSFNode *owner; /* of the face neighbours */
  PetscSFNode       *root;
  PetscInt          *leaf;
  PetscSF            sf;
  int32_t           *beyond = NULL, nside = 0, n = 0;

  PetscFunctionBeginUser;
  if (mesh->sf[VP_GHOST_SIDE]) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t i = 0; i < look; i++) nside += mesh->neighbor[i] >= mesh->nown;
  PetscCall(PetscSFGetGraph(mesh->sf[VP_GHOST_FACE], NULL, NULL, NULL, &owner));
  PetscCall(PetscMalloc2(nside, &leaf, nside, &root));
  if (look) PetscCall(VpMallocLarge(count, &beyond));
  for (size_t i = 0; i < look; i++) {
    const int32_t next = mesh->neighbor[i], there = (int32_t)(i % sides) ^ 1; /* the neighbour's side */

    beyond[i] = next < mesh->nown ? next : mesh->nown + n;
    if (next < mesh->nown) continue;
    root[n].rank = owner[next - mesh->nown].rank;
    root[n].index = owner[next - mesh->nown].index * sides + there;
    leaf[n] = (PetscInt)n * sides + there;
    n++;
  }
  PetscCall(PetscSFCreate(mesh->comm, &sf));
  PetscCall(PetscSFSetGraph(sf, (PetscInt)count, n, leaf, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscFree2(leaf, root));
  mesh->nside = nside;
  mesh->beyond = beyond;
  mesh->sf[VP_GHOST_SIDE] = sf;
  PetscFunctionReturn(PETSC_SUCCESS);
}
