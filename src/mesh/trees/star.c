/* The cells around a vertex where trees meet. */
#include "../internal.h"

/* The cell beyond a side of a cell at a vertex. False unless it goes on there as around a regular vertex. */
static PetscBool TakeBeyond(const VpSides *sides, VpStar *star, uint8_t *known, int position, int d)
{
  const int     dim = sides->dim, frame = star->frame[position], axis = VpFrameAxis(frame, d), there = position ^ 1 << axis;
  const int     side = VpFrameSide(frame, 2 * axis + !(position >> axis & 1));
  int           turn = 0, beyond;
  const int64_t next = sides->beyond(sides->context, star->cell[position], side, &turn);

  if (next < 0) return PETSC_FALSE;
  beyond = VpFrameBeyond(dim, frame, side, turn);
  if (*known >> there & 1) return (PetscBool)(star->cell[there] == next && star->frame[there] == beyond);
  *known |= (uint8_t)(1 << there);
  star->cell[there] = next;
  star->frame[there] = (uint8_t)beyond;
  return PETSC_TRUE;
}

PetscBool VpFindStar(const VpSides *sides, int64_t cell, int corner, VpStar *star)
{
  const int all = (1 << sides->dim) - 1;
  uint8_t   known = (uint8_t)(1 << (all ^ corner)), done = 0;

  star->cell[all ^ corner] = cell;
  star->frame[all ^ corner] = 0;
  while (done != known) {
    const int position = __builtin_ctz(known & ~done);

    for (int d = 0; d < sides->dim; d++) {
      if (!TakeBeyond(sides, star, &known, position, d)) return PETSC_FALSE;
    }
    done |= (uint8_t)(1 << position);
  }
  return PETSC_TRUE;
}

/* VpSides.beyond: context is a lattice */
static int64_t LatticeBeyond(const void *context, int64_t cell, int side, int *turn)
{
  const VpLattice L = (VpLattice)context;
  const int32_t   box = VpLatticeBox(L, cell);
  const int64_t   mask = VpHalvingsOf(L, box)->mask[side / 2], i = cell - VpLatticeStart(L, box);

  if ((i & mask) == (side % 2 ? mask : 0)) *turn = VpDomainTurn(L->domain, box, side);
  return VpLatticeMove(L, cell, side);
}

VpSides VpLatticeSides(VpLattice L)
{
  return (VpSides){.dim = L->domain->dim, .beyond = LatticeBeyond, .context = L};
}

/* The same of a mesh. Cells that are not swept are unknown. */
static int64_t LocalBeyond(const void *context, int64_t cell, int side, int *turn)
{
  const VpMesh  mesh = (VpMesh)context;
  const int32_t next = VpMeshNeighbor(mesh, (int32_t)cell, side);

  *turn = VpMeshTurn(mesh, (int32_t)cell, side);
  return next < mesh->nsweep ? next : VP_UNKNOWN;
}

VpSides VpMeshSides(VpMesh mesh)
{
  return (VpSides){.dim = mesh->dim, .beyond = LocalBeyond, .context = mesh};
}
