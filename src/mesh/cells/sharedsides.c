/* Ghosts numbered by the sides that own cells share with them. */
#include "../mesh.h"
#include "../../base/memory.h"
#include "../../base/threads.h"

PetscErrorCode VpMeshSetSides(VpMesh mesh)
{
  const int32_t      look = mesh->nface > mesh->nown ? mesh->nown : 0; /* without ghosts no side is shared */
  const int32_t      pieces = VpLoopPieces(look), nside = 2 * mesh->dim;
  const PetscSFNode *owner; /* of the face neighbours */
  int32_t           *count; /* [piece] shared sides; then the number of the first one */
  VpSharedSides     *shared;
  PetscSFNode       *root; /* [shared sides] the side of the ghost at its owner */
  PetscInt          *leaf; /* [shared sides] where its values come to */
  PetscSF            sf;

  PetscFunctionBegin;
  if (mesh->sf[VP_GHOST_SIDE]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFGetGraph(mesh->sf[VP_GHOST_FACE], NULL, NULL, NULL, &owner));
  PetscCall(PetscCalloc1(pieces, &count));
  VP_LOOP_HEAVY (piece, pieces) {
    const size_t last = (size_t)VpLoopStart(look, piece + 1) * nside;

    for (size_t i = (size_t)VpLoopStart(look, piece) * nside; i < last; i++) count[piece] += mesh->neighbor[i] >= mesh->nown;
  }
  PetscCall(PetscNew(&shared));
  shared->n = VpLoopSum(pieces, count);
  PetscCall(PetscMalloc2(shared->n, &leaf, shared->n, &root));
  if (look) PetscCall(VpMallocLarge((size_t)look * nside, &shared->beyond));
  VP_LOOP_HEAVY (piece, pieces) {
    const size_t last = (size_t)VpLoopStart(look, piece + 1) * nside;

    for (size_t i = (size_t)VpLoopStart(look, piece) * nside; i < last; i++) {
      const int32_t next = mesh->neighbor[i], there = VpMeshSideBeyond(mesh, (int32_t)(i / nside), (int)(i % nside)), n = count[piece];

      shared->beyond[i] = next < mesh->nown ? next : mesh->nown + n;
      if (next < mesh->nown) continue;
      root[n].rank = owner[next - mesh->nown].rank;
      root[n].index = owner[next - mesh->nown].index * nside + there;
      leaf[n] = (PetscInt)n * nside + there;
      count[piece]++;
    }
  }
  PetscCall(PetscSFCreate(mesh->comm, &sf));
  PetscCall(PetscSFSetGraph(sf, mesh->nown * nside, shared->n, leaf, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscFree2(leaf, root));
  PetscCall(PetscFree(count));
  mesh->shared = shared;
  mesh->sf[VP_GHOST_SIDE] = sf;
  PetscFunctionReturn(PETSC_SUCCESS);
}
