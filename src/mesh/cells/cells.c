/* Where the cells of a mesh are, and their neighbours. */
#include "../internal.h"
#include "../../base/memory.h"
#include "../../base/progress.h"
#include "../../base/threads.h"
#include <inttypes.h>
#include <stdatomic.h>

/* A family is the children of one cell. They are decoded together, and their neighbours are in the same family or in that beyond a side:

     +---+---+---+---+---+---+
     | 2 | 3 | 2 | 3 | 2 | 3 |     child 1 has the children 0 and 3 of its own family beyond x- and y+,
     +---+---+---+---+---+---+     child 0 of the family beyond x+ and child 3 of the family beyond y-
     | 0 | 1 | 0 | 1 | 0 | 1 |
     +---+---+---+---+---+---+
     beyond x-  itself  beyond x+

   So the neighbour's number in its family is the child's with one bit flipped. Where boxes have different numbers of cells in
   two directions, or only one cell, each cell is a family. */
typedef struct {
  int64_t first[7];       /* child 0 of the family beyond every side, or what stands for a boundary there; last of the family itself */
  int32_t local[7];       /* its local number where the whole family is own, or the boundary; else VP_UNKNOWN */
  int     turn[7];        /* how that family is turned */
  int32_t box, corner[3]; /* coordinates of child 0 */
  uint8_t zone[3][2];     /* of the lower and the upper children in every direction */
} Family;

typedef struct {
  VpMesh             mesh;
  const VpPositions *positions;
  VpLattice          parents;
  int32_t            known;                      /* cells with neighbours that are local */
  int                generation;                 /* 1, or 0 where families are cells */
  uint8_t            family[8][6], mirror[8][6]; /* the cell beyond a side of a child: an index into Family.first, and its number there */
  int32_t            missing;                    /* what stands for a neighbour that is not local */
  _Atomic int64_t    lost;                       /* neighbours that are not local */
  _Atomic int64_t    inner;                      /* see VpMesh->ninner */
} Filling;

/* the local number of a family's first cell if the whole family is own, VP_UNKNOWN if not; a boundary stays */
static int32_t LocalFamily(const Filling *fill, int64_t first)
{
  const VpRange own = fill->positions->own;
  const int32_t last = (1 << fill->generation * fill->mesh->dim) - 1;
  int32_t       local;

  if (VpIsIn(own, first) && VpIsIn(own, first + last)) return (int32_t)(first - own.first);
  local = VpLocalOf(fill->positions, first);
  if (local < 0) return local;
  return local + last < fill->mesh->nown && VpLocalOf(fill->positions, first + last) == local + last ? local : VP_UNKNOWN;
}

/* the turn beyond a side of a parent */
static int TurnBeyond(VpLattice parents, const Family *f, int side)
{
  const int32_t end = side % 2 ? (1 << VpHalvingsOf(parents, f->box)->bits[side / 2]) - 1 : 0;

  return f->corner[side / 2] == end ? VpDomainTurn(parents->domain, f->box, side) : 0;
}

static void FindFamily(const Filling *fill, int64_t parent, Family *f)
{
  const VpLattice parents = fill->parents;
  const VpMesh    mesh = fill->mesh;
  const int       shift = fill->generation * mesh->dim, nside = 2 * mesh->dim;
  const int      *bits;

  VpLatticeDecode(parents, parent, &f->box, f->corner);
  for (int side = 0; side <= nside; side++) {
    const int64_t next = side < nside ? VpLatticeMove(parents, parent, side) : parent;

    f->first[side] = next < 0 ? next : next << shift;
    f->local[side] = LocalFamily(fill, f->first[side]);
    f->turn[side] = side < nside ? TurnBeyond(parents, f, side) : 0;
  }
  bits = VpHalvingsOf(mesh->geometry->lattice, f->box)->bits;
  for (int d = 0; d < 3; d++) {
    f->corner[d] <<= fill->generation;
    for (int upper = 0; upper < 2; upper++)
      f->zone[d][upper] = d < mesh->dim ? (uint8_t)(VpZoneOf(bits[d], f->corner[d] + upper) << 2 * d) : 0;
  }
}

/* the number, in its family, of the cell beyond a side of a child where families are turned */
static int TurnedNumber(const Filling *fill, int turn, int child, int side)
{
  const int32_t at[3] = {child & 1, child >> 1 & 1, child >> 2}, n = 1 << fill->generation;
  int32_t       to[3] = {0, 0, 0};

  VpTurnCross(fill->mesh->dim, (int32_t[]){n, n, n}, side, turn, at, to);
  return to[0] | to[1] << 1 | to[2] << 2;
}

/* Of a level of an adaptive mesh, all cells beyond these sides are local: it ends where one is missing. */
static inline int32_t NeighborOf(const Filling *fill, const Family *f, int child, int side)
{
  const int family = fill->family[child][side], turn = f->turn[family];
  const int number = turn ? TurnedNumber(fill, turn, child, side) : fill->mirror[child][side];
  int32_t   local = f->local[family];

  if (local != VP_UNKNOWN) return local < 0 ? local : local + number;
  local = VpLocalOf(fill->positions, f->first[family] + number);
  return local == VP_UNKNOWN ? fill->missing : local;
}

static void FillCells(void *context, int32_t piece, int32_t begin, int32_t end)
{
  Filling         *fill = (Filling *)context;
  const VpMesh     mesh = fill->mesh;
  const VpGeometry g = mesh->geometry;
  const int        nside = 2 * mesh->dim, shift = fill->generation * mesh->dim;
  int64_t          parent = -1, lost = 0, inner = 0;
  Family           f = {.box = -1};

  for (int32_t i = begin; i < end; i++) {
    const int64_t cell = VpPositionOf(fill->positions, i);
    const int     child = (int)(cell & ((1 << shift) - 1));

    if (cell >> shift != parent) {
      parent = cell >> shift;
      FindFamily(fill, parent, &f);
    }
    g->box[i] = f.box;
    g->zone[i] = f.zone[0][child & 1] | f.zone[1][child >> 1 & 1] | f.zone[2][child >> 2];
    for (int d = 0; d < 3; d++) g->coord[3 * (size_t)i + d] = f.corner[d] + (child >> d & 1);
    for (int side = 0; i < fill->known && side < nside; side++) {
      const int32_t local = NeighborOf(fill, &f, child, side);

      mesh->neighbor[(size_t)nside * i + side] = local;
      if (mesh->turn) mesh->turn[(size_t)nside * i + side] = (uint8_t)f.turn[fill->family[child][side]];
      lost += local == VP_UNKNOWN;
      inner += i < mesh->nown && local >= 0;
    }
  }
  fill->lost += lost;
  fill->inner += inner;
}

PetscErrorCode VpMeshSetCells(VpMesh mesh, const VpPositions *positions)
{
  const int nside = 2 * mesh->dim, generation = mesh->level > 0 && VpLatticeIsUniform(mesh->geometry->lattice);
  Filling   fill = {.mesh = mesh, .positions = positions, .parents = mesh->geometry->lattice, .generation = generation};

  PetscFunctionBegin;
  fill.missing = VpMeshIsPart(mesh) ? VP_LEVEL_END : VP_UNKNOWN;
  if (generation) PetscCall(VpLatticeCreateUniform(mesh->geometry->domain, mesh->level - 1, &fill.parents));
  PetscCall(VpMallocLarge(mesh->nlocal, &mesh->geometry->box));
  PetscCall(VpMallocLarge(3 * (size_t)mesh->nlocal, &mesh->geometry->coord));
  PetscCall(VpMallocLarge(mesh->nlocal, &mesh->geometry->zone));
  fill.known = VpMeshKnown(mesh);
  PetscCall(VpMallocLarge((size_t)nside * fill.known, &mesh->neighbor));
  if (VpDomainIsTurned(mesh->geometry->domain)) PetscCall(VpMallocLarge((size_t)nside * fill.known + 1, &mesh->turn));
  for (int child = 0; child < 1 << generation * mesh->dim; child++) {
    for (int side = 0; side < nside; side++) {
      fill.family[child][side] = (uint8_t)(!generation || (child >> side / 2 & 1) == side % 2 ? side : nside);
      fill.mirror[child][side] = (uint8_t)(child ^ generation << side / 2);
    }
  }
  PetscCall(VpProgress("mesh", 0, mesh->nlocal));
  VpLoop(mesh->nlocal, FillCells, &fill);
  if (generation) PetscCall(VpLatticeDestroy(&fill.parents));
  PetscCheck(fill.lost == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PRId64 " neighbours are not local", fill.lost);
  mesh->ninner = fill.inner;
  PetscFunctionReturn(PETSC_SUCCESS);
}
