/* What only the files of this folder share: a cell as a number, arithmetic to its neighbours, sets of cells, and steps of making a mesh. */
#pragma once
#include "mesh.h"
#include "../compat.h"

/* A cell is its global position: box << shift | Morton index, where direction d owns the bits of mask[d]. */
typedef struct {
  int            dim, level, shift;
  int64_t        mask[3];
  const int32_t *beyond;
} VpLattice;

static inline VpLattice VpLatticeCreate(VpDomain domain, int level)
{
  VpLattice L = {domain->dim, level, domain->dim * level, {0, 0, 0}, domain->beyond};

  for (int bit = 0; bit < L.shift; bit++) L.mask[bit % L.dim] |= (int64_t)1 << bit;
  return L;
}

/* The cell beyond a side, or the number that the domain has there if there is no box. Adds or takes 1 in the bits of one direction; from
   the end of a box to the beginning of the next one all of these bits flip. */
static inline int64_t VpLatticeMove(const VpLattice *L, int64_t cell, int side)
{
  const int64_t mask = L->mask[side / 2], within = ((int64_t)1 << L->shift) - 1;
  int64_t       box;

  if (side % 2 && (cell & mask) != mask) return (((cell | ~mask) + 1) & mask) | (cell & ~mask);
  if (!(side % 2) && (cell & mask) != 0) return (((cell & mask) - 1) & mask) | (cell & ~mask);
  box = L->beyond[(cell >> L->shift) * 2 * L->dim + side];
  return box < 0 ? box : (box << L->shift) | ((cell & within) ^ mask);
}

static inline void VpLatticeDecode(const VpLattice *L, int64_t cell, int32_t *box, int32_t coord[3])
{
  *box = (int32_t)(cell >> L->shift);
  coord[0] = coord[1] = coord[2] = 0;
  for (int level = 0; level < L->level; level++) {
    for (int d = 0; d < L->dim; d++, cell >>= 1) coord[d] |= (int32_t)(cell & 1) << level;
  }
}

static inline int64_t VpLatticeEncode(const VpLattice *L, int32_t box, const int32_t coord[3])
{
  int64_t cell = box;

  for (int level = L->level - 1; level >= 0; level--) {
    for (int d = L->dim - 1; d >= 0; d--) cell = (cell << 1) | ((coord[d] >> level) & 1);
  }
  return cell;
}

/* A set of cells in the order of their insertion: a hash table of indices into `cell`. */
typedef struct {
  int32_t  n, bits; /* the table has 2^bits slots, at most half of them used */
  int64_t *cell;    /* [2^bits / 2] */
  int32_t *slot;    /* [2^bits] index into cell, or -1 */
} VpCellSet;
PetscErrorCode VpCellSetCreate(VpCellSet *);
PetscErrorCode VpCellSetDestroy(VpCellSet *);
PetscErrorCode VpCellSetAdd(VpCellSet *, int64_t cell);
void           VpCellSetIndex(VpCellSet *);                    /* after cell[] has been reordered */
int32_t        VpCellSetFind(const VpCellSet *, int64_t cell); /* index, or -1 */

/* The ghosts of the own cells [first, last), in the four groups that mesh.h draws: face neighbours, the rest of two layers, the third
   layer, and the cells of `extra` that are in none of these. Each group is sorted; group g ends at end[g] of halo->cell. */
PetscErrorCode VpHaloCreate(const VpLattice *, int64_t first, int64_t last, const VpCellSet *extra, VpCellSet *halo, int32_t end[4]);

/* mesh.c: the rank whose own cells contain the position */
PetscMPIInt VpOwnerOf(const PetscInt starts[], PetscMPIInt size, int64_t cell);
/* mesh.c: a mesh that knows no other level, and the set of its ghosts. Cells of `extra` become local, too. Collective */
PetscErrorCode VpMeshBuild(MPI_Comm, VpDomain, int level, const PetscInt counts[], const VpCellSet *extra, VpMesh *, VpCellSet *ghosts);
/* cells.c: box, coord, zone and neighbor of a mesh that knows the numbers of its cells */
PetscErrorCode VpMeshSetCells(VpMesh, const VpCellSet *ghosts);

/* A position's local number: that of an own cell, or of one in the set of ghosts; else VP_UNKNOWN. What stands for a boundary stays. */
static inline int32_t VpLocalOf(VpMesh mesh, const VpCellSet *ghosts, int64_t cell)
{
  int32_t ghost;

  if (cell < 0) return (int32_t)cell;
  if (cell >= mesh->first && cell < mesh->first + mesh->nown) return (int32_t)(cell - mesh->first);
  ghost = VpCellSetFind(ghosts, cell);
  return ghost < 0 ? VP_UNKNOWN : mesh->nown + ghost;
}
