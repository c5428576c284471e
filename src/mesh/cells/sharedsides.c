/* Ghosts numbered by the sides that own cells share with them. */
#include "../mesh.h"
#include "../../base/memory.h"
#include "../../base/threads.h"

typedef struct {
  VpMesh             mesh;
  const PetscSFNode *owner; /* of the face neighbours */
  int32_t           *count; /* [piece] shared sides; then the number of the first one */
  VpSharedSides     *shared;
  PetscSFNode       *root; /* [shared sides] the side of the ghost at its owner */
  PetscInt          *leaf; /* [shared sides] where its values come to */
} Sides;

static void CountShared(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Sides *sides = context;
  const size_t nside = 2 * sides->mesh->dim;
  int32_t      count = 0;

  for (size_t i = first * nside; i < last * nside; i++) count += sides->mesh->neighbor[i] >= sides->mesh->nown;
  sides->count[piece] = count;
}

static void NumberShared(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Sides *sides = context;
  const VpMesh mesh = sides->mesh;
  const int    nside = 2 * mesh->dim;
  int32_t      n = sides->count[piece];

  for (size_t i = (size_t)first * nside; i < (size_t)last * nside; i++) {
    const int32_t next = mesh->neighbor[i], there = VpMeshSideBeyond(mesh, (int32_t)(i / nside), (int)(i % nside));

    sides->shared->beyond[i] = next < mesh->nown ? next : mesh->nown + n;
    if (next < mesh->nown) continue;
    sides->root[n].rank = sides->owner[next - mesh->nown].rank;
    sides->root[n].index = sides->owner[next - mesh->nown].index * nside + there;
    sides->leaf[n] = (PetscInt)n * nside + there;
    n++;
  }
}

PetscErrorCode VpMeshSetSides(VpMesh mesh)
{
  const int32_t look = mesh->nface > mesh->nown ? mesh->nown : 0; /* without ghosts no side is shared */
  const int32_t pieces = VpLoopPieces(look);
  Sides         sides = {.mesh = mesh};
  PetscSF       sf;

  PetscFunctionBegin;
  if (mesh->sf[VP_GHOST_SIDE]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFGetGraph(mesh->sf[VP_GHOST_FACE], NULL, NULL, NULL, &sides.owner));
  PetscCall(PetscMalloc1(pieces, &sides.count));
  VpLoop(look, CountShared, &sides);
  PetscCall(PetscNew(&sides.shared));
  sides.shared->n = VpLoopSum(pieces, sides.count);
  PetscCall(PetscMalloc2(sides.shared->n, &sides.leaf, sides.shared->n, &sides.root));
  if (look) PetscCall(VpMallocLarge((size_t)look * 2 * mesh->dim, &sides.shared->beyond));
  VpLoop(look, NumberShared, &sides);
  PetscCall(PetscSFCreate(mesh->comm, &sf));
  PetscCall(PetscSFSetGraph(sf, mesh->nown * 2 * mesh->dim, sides.shared->n, sides.leaf, PETSC_COPY_VALUES, sides.root, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscFree2(sides.leaf, sides.root));
  PetscCall(PetscFree(sides.count));
  mesh->shared = sides.shared;
  mesh->sf[VP_GHOST_SIDE] = sf;
  PetscFunctionReturn(PETSC_SUCCESS);
}
