/* What only the files of this folder share: a cell as a number, arithmetic to its neighbours, sets of cells, and steps of making a mesh. */
#pragma once
#include "mesh.h"
#include "../base/dictionary.h"
#include "../compat.h"

/* Sizes that differ by this part of them are equal: rounding made the difference. */
#define VP_SIZE_SLACK 1e-9

/* lattice.c: the lattice with 2^bits[3 box + d] cells in direction d of every box, and with 2^level in every one */
PetscErrorCode VpLatticeCreate(VpDomain, const uint8_t bits[], VpLattice *L);
PetscErrorCode VpLatticeCreateUniform(VpDomain, int level, VpLattice *L);
PetscBool      VpLatticeIsUniform(VpLattice); /* whether all boxes have as many cells in all directions */
PetscBool      VpLatticeIsSame(VpLattice, VpLattice);
PetscBool      VpDomainIsSame(VpDomain, VpDomain); /* domain.c: whether they have the same boxes */

/* of two bits a direction the lower ones: of a zone, those that are set at the ends of a box; of sides, the lower sides */
enum { VP_LOWER_BITS = 0x15 };

/* whether the box beyond a side is at the other end of the domain */
static inline PetscBool VpIsWrapped(VpDomain domain, int32_t box, int32_t beyond, int side)
{
  const size_t lower = side % 2 ? box : beyond, upper = side % 2 ? beyond : box;

  return (PetscBool)(domain->lower[3 * upper + side / 2] <= domain->lower[3 * lower + side / 2]);
}
static inline int32_t VpBoxBeyond(VpDomain domain, int32_t box, int side)
{
  return domain->beyond[(size_t)box * 2 * domain->dim + side];
}

static inline int64_t VpLatticeStart(VpLattice L, int32_t box)
{
  return L->start ? L->start[box] : (int64_t)box << L->shape->shift;
}

/* the last i in [low, high) with start[i] <= position, or low. Requires: start[] ascends */
static inline int32_t VpLastStart(const int64_t start[], int32_t low, int32_t high, int64_t position)
{
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;

    if (start[middle] <= position) low = middle;
    else high = middle;
  }
  return low;
}

/* the box of a position */
static inline int32_t VpLatticeBox(VpLattice L, int64_t cell)
{
  const int32_t *near;

  if (!L->start) return (int32_t)(cell >> L->shape->shift);
  near = L->near + (cell >> L->near_shift);
  return VpLastStart(L->start, near[0], near[1] + 1, cell);
}

/* from coordinates in a box to its position, and back */
int64_t VpLatticeEncode(VpLattice, int32_t box, const int32_t coord[3]);
void    VpLatticeDecode(VpLattice, int64_t cell, int32_t *box, int32_t coord[3]);
/* the cell beyond the side of a box, from the cell's index in it */
int64_t VpLatticeCross(VpLattice, int32_t box, int64_t index, int side);

/* The cell beyond a side, or the number that the domain has there if there is no box. Adds or takes 1 in the bits of one direction. */
static inline int64_t VpLatticeMove(VpLattice L, int64_t cell, int side)
{
  const int32_t box = VpLatticeBox(L, cell);
  const int64_t mask = VpShapeOf(L, box)->mask[side / 2], start = VpLatticeStart(L, box), i = cell - start;

  if (side % 2 && (i & mask) != mask) return start + ((((i | ~mask) + 1) & mask) | (i & ~mask));
  if (!(side % 2) && (i & mask) != 0) return start + ((((i & mask) - 1) & mask) | (i & ~mask));
  return VpLatticeCross(L, box, i, side);
}

/* coarsenrule.c: what merges along every direction of every box, [nbox][3] (VpMerge, zero at first); *ends: nothing merges, or boxes would
   although `whole` forbids it; *hard: as of VpCoarsening. */
PetscErrorCode VpCoarsenByRule(VpLattice, PetscBool whole, uint8_t merge[], PetscBool *ends, PetscBool *hard);

/* coarsening.c */
PetscErrorCode VpCoarseningDestroy(VpCoarsening *);
/* a cell's parent; the children of a parent, -1 where there are fewer; the number of parents whose first child lies before a
   position */
int64_t VpParentOf(const VpCoarsening *, VpLattice fine, int64_t cell);
void    VpChildrenOf(const VpCoarsening *, VpLattice fine, int64_t parent, int64_t child[]);
int64_t VpParentsBefore(const VpCoarsening *, VpLattice fine, int64_t cell);

/* A set of cells in the order of their insertion: their positions are the keys of a dictionary without items. */
typedef VpDictionary         VpCellSet;
static inline PetscErrorCode VpCellSetCreate(VpCellSet *set)
{
  return VpDictionaryCreate(1, 0, set);
}
static inline PetscErrorCode VpCellSetAdd(VpCellSet *set, int64_t cell)
{
  int32_t index;

  return VpDictionaryAdd(set, &(uint64_t){cell}, NULL, &index);
}
static inline int64_t VpCellSetAt(const VpCellSet *set, int32_t index)
{
  return (int64_t)set->key[index];
}
static inline int32_t VpCellSetFind(const VpCellSet *set, int64_t cell) /* index, or -1 */
{
  return VpDictionaryFind(set, &(uint64_t){cell});
}

/* The ghosts of the own cells [first, last), in the four groups that mesh.h draws: face neighbours; the rest of two
   layers, and the cells of `sweep`; the layer around these; the cells of `extra` that are in none of them. sweep,
   extra: NULL where there are none. Each group is sorted; group g ends at end[g] of halo->key. */
PetscErrorCode VpHaloCreate(VpLattice, int64_t first, int64_t last, const VpCellSet *sweep, const VpCellSet *extra, VpCellSet *halo,
                            int32_t end[4]);
PetscErrorCode VpHaloSort(VpCellSet *halo, const int32_t end[4]); /* sorts the groups of such a set */
/* adds the neighbours of a cell that are not among [first, last): across faces, or with `corners` all 3^dim - 1 */
PetscErrorCode VpAddAround(VpLattice, int64_t first, int64_t last, PetscBool corners, int64_t cell, VpCellSet *);

/* askranks.c: number[i] = the answer of rank[i] to the i-th question, of so many bytes each, from its own context. Collective */
typedef PetscInt (*VpAnswer)(const void *context, const void *question);
PetscErrorCode VpAskRanks(MPI_Comm, PetscInt n, const PetscMPIInt rank[], size_t bytes, const void *question, VpAnswer, const void *context,
                          PetscInt number[]);

/* uniformforest.c: starts libsc and p4est unless they run already. Only the files of forest/ know p4est. */
PetscErrorCode VpForestInitialize(void);
/* uniformforest.c: starts[0..size] of a lattice's cells, cut by counts[size], or equally where counts is NULL. Equal pieces require
   VpLatticeIsUniform. Errors are those of VpMeshCreate. */
PetscErrorCode VpForestPartition(MPI_Comm, VpLattice, const PetscInt counts[], PetscInt starts[]);
PetscErrorCode VpForestCheckSize(MPI_Comm, VpDomain, int level);
/* adaptiveforest.c: what is done with forests of p4est (VpMesh.forest), a table for each dimension. All is collective
   unless it is said otherwise. */
typedef struct {
  int deepest; /* the greatest depth of leaves */
  /* makes the forest of a mesh that is not adaptive. Requires: VpLatticeIsUniform, VpForestInitialize() */
  void *(*create)(VpMesh);
  /* makes the adapted forest that VpMeshAdapt describes */
  void *(*adapt)(void *forest, VpDomain, const int8_t mark[], int width, const PetscReal a[]);
  /* Makes a forest of leaves of these depths, which are own ones until work is balanced: in their order, from the place on that has so many
     boxes and then so many smallest leaves before it. Requires: the leaves of all ranks fill the boxes, VpForestInitialize() */
  void *(*grow)(MPI_Comm, VpDomain, int32_t n, const uint8_t depth[], const int64_t before[2]);
  /* fills what an adaptive mesh of this domain and comm has of own cells and ghosts; `owner` of the ghosts is for the caller to free */
  PetscErrorCode (*fill)(void *forest, VpMesh, PetscSFNode **owner);
  /* a[] (unless NULL) = that of own leaves; the forest forgets it. Not collective */
  void (*take_coefficient)(void *forest, int width, PetscReal a[]);
  /* the number of leaves on all ranks. Not collective */
  double (*size)(void *forest);
  /* the rank of the leaf around a place of a box, 0 <= x[d] <= 1, and on that rank its number. Not collective */
  PetscMPIInt (*owner)(void *forest, int32_t box, const PetscReal x[]);
  int32_t (*leaf)(void *forest, int32_t box, const PetscReal x[]);
  void (*destroy)(void *forest);
} VpForestOps;
extern const VpForestOps         VpForestOps2, VpForestOps3;
static inline const VpForestOps *VpForestOpsOf(int dim)
{
  return dim == 2 ? &VpForestOps2 : &VpForestOps3;
}
/* adaptive.c: finds the leaves at[n] around places, which may be other ranks'. Collective */
typedef struct {
  int32_t   box;
  PetscReal x[3];
} VpBoxPoint;
PetscErrorCode VpMeshAskOwners(VpMesh, PetscInt n, const VpBoxPoint[], PetscSFNode at[]);

/* mesh.c: the rank whose own cells contain the position */
PetscMPIInt VpOwnerOf(const PetscInt starts[], PetscMPIInt size, int64_t cell);
/* mesh.c: a mesh on a lattice, whose reference it takes over, without cells */
PetscErrorCode VpMeshBegin(MPI_Comm, VpLattice, VpMesh *);
/* mesh.c: a mesh that knows no other level, and the set of its ghosts, unless `ghosts` is NULL. sweep, extra: as of VpHaloCreate. counts:
   own cells of the ranks; NULL: equal pieces of a uniform lattice. Collective */
PetscErrorCode VpMeshBuild(MPI_Comm, VpLattice, const PetscInt counts[], const VpCellSet *sweep, const VpCellSet *extra, VpMesh *,
                           VpCellSet *ghosts);
/* mesh.c: the exchanges with the owners of the ghosts, of a mesh whose groups are known */
PetscErrorCode VpMeshSetExchange(VpMesh, PetscSFNode owner[]);
/* parents.c: orphans and the exchange of own parents' children that other ranks have, once parent and child are there */
PetscErrorCode VpMeshSetChildren(VpMesh fine);
/* see VpMesh->zone: of the cell with this coordinate among 2^bits */
static inline int VpZoneOf(int bits, int32_t coord)
{
  const int32_t last = ((int32_t)1 << bits) - 1;

  return coord == 0 ? 1 : (coord < last - 1 ? 0 : 3 - (last - coord));
}
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
