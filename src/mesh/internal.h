/* What only the files of this folder share: cells as numbers, steps to neighbours, sets of cells, and the pieces of making a mesh. */
#pragma once
#include "mesh.h"
#include "../base/dictionary.h"
#include "../compat.h"

/* Sizes that differ by this part of them are equal: rounding made the difference. */
#define VP_SIZE_SLACK 1e-9

/* lattice.c: the lattice with 2^bits[3 box + d] cells in direction d of every box, and with 2^level in every one */
PetscErrorCode VpLatticeCreate(VpDomain, const uint8_t bits[], VpLattice *L);
PetscErrorCode VpLatticeCreateUniform(VpDomain, int level, VpLattice *L);
PetscBool      VpLatticeIsUniform(VpLattice); /* whether all boxes have equally many cells in all directions */
PetscBool      VpLatticeIsSame(VpLattice, VpLattice);
PetscBool      VpDomainIsSame(VpDomain, VpDomain); /* domain.c: whether they have the same boxes */

/* The lower bit of the two bits per direction. Zones at the ends of a box have it; of a set of sides it is the lower side. */
enum { VP_LOWER_BITS = 0x15 };

/* the item that stands for all of its set: set[] leads from any item to it */
static inline int32_t VpRoot(int32_t set[], int32_t i)
{
  while (set[i] != i) i = set[i] = set[set[i]];
  return i;
}

/* unites the sets of two items; the lesser one of the two items that stand for them stands for the union */
static inline void VpUnite(int32_t set[], int32_t i, int32_t j)
{
  const int32_t a = VpRoot(set, i), b = VpRoot(set, j);

  set[PetscMax(a, b)] = PetscMin(a, b);
}

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
  return L->start ? L->start[box] : (int64_t)box << L->halvings->shift;
}

/* the last i in [low, high) with start[i] <= position, or low. Requires: start[] ascends */
static inline int32_t VpLastStart(const int64_t start[], int32_t low, int32_t high, int64_t position)
{
  VP_BISECT(low, high, middle, start[middle] <= position);
  return low;
}

/* the box of a position */
static inline int32_t VpLatticeBox(VpLattice L, int64_t cell)
{
  const int32_t *near;

  if (!L->start) return (int32_t)(cell >> L->halvings->shift);
  near = L->near + (cell >> L->near_shift);
  return VpLastStart(L->start, near[0], near[1] + 1, cell);
}

/* from coordinates in a box to its position, and back */
int64_t VpLatticeEncode(VpLattice, int32_t box, const int32_t coord[3]);
void    VpLatticeDecode(VpLattice, int64_t cell, int32_t *box, int32_t coord[3]);
/* the cell beyond the side of a box, from the cell's index in it */
int64_t VpLatticeCross(VpLattice, int32_t box, int64_t index, int side);

/* The cell beyond a side, or the domain's code where there is no box. Adds or subtracts 1 in the bits of one direction. */
static inline int64_t VpLatticeMove(VpLattice L, int64_t cell, int side)
{
  const int32_t box = VpLatticeBox(L, cell);
  const int64_t mask = VpHalvingsOf(L, box)->mask[side / 2], start = VpLatticeStart(L, box), i = cell - start;

  if (side % 2 && (i & mask) != mask) return start + ((((i | ~mask) + 1) & mask) | (i & ~mask));
  if (!(side % 2) && (i & mask) != 0) return start + ((((i & mask) - 1) & mask) | (i & ~mask));
  return VpLatticeCross(L, box, i, side);
}

/* coarsenrule.c: sets `merge` (which is zero at first), `hard` and `jump`; *ends: nothing merges, or boxes would although `whole` forbids
   it. */
PetscErrorCode VpCoarsenByRule(VpLattice, PetscBool whole, VpCoarsening *, PetscBool *ends);

/* trees/coarsenclasses.c: the same for trees, which never merge */
PetscErrorCode VpCoarsenByClasses(VpLattice, VpCoarsening *, PetscBool *ends);

/* coarsening.c */
PetscErrorCode VpCoarseningDestroy(VpCoarsening *);
/* a cell's parent; the cell's number among the parent's children, with one bit per direction; the number of parents whose first child lies
   before a position */
int64_t VpParentOf(const VpCoarsening *, VpLattice fine, int64_t cell);
int     VpChildNumber(const VpCoarsening *, VpLattice fine, int64_t cell);
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

/* the positions [first, last) */
typedef struct {
  int64_t first, last;
} VpRange;
static inline PetscBool VpIsIn(VpRange range, int64_t position)
{
  return (PetscBool)(range.first <= position && position < range.last);
}

/* The ghosts of own cells, of the four kinds that mesh.h draws: face neighbours; the rest of two
   layers, and the cells of `sweep`; the layer around these; the cells of `extra` that are in none of them. sweep,
   extra: NULL where there are none. Each kind is sorted; kind g ends at end[g] of halo->key. */
PetscErrorCode VpHaloCreate(VpLattice, VpRange own, const VpCellSet *sweep, const VpCellSet *extra, VpCellSet *halo, int32_t end[4]);
PetscErrorCode VpHaloSort(VpCellSet *halo, int32_t start, const int32_t end[4]); /* sorts the kinds of such a set, from start on */
/* adds the neighbours of a cell that are not own: across faces, or with `corners` all 3^dim - 1 */
PetscErrorCode VpAddAround(VpLattice, VpRange own, PetscBool corners, int64_t cell, VpCellSet *);

/* trees/star.c: The cells around a vertex that is regular, by their positions. Each has a frame (tables/turn.h) on the directions of the
   cell from which they were found. */
typedef struct {
  int64_t cell[8]; /* [2^dim] as VpSides numbers cells, at position x + 2 y + 4 z */
  uint8_t frame[8];
} VpStar;
/* how to go from cell to cell: beyond() returns the cell beyond a side, or a negative number, and sets *turn to how it is turned, if it is
   (*turn is 0 before) */
typedef struct {
  int dim;
  int64_t (*beyond)(const void *context, int64_t cell, int side, int *turn);
  const void *context;
} VpSides;
VpSides VpLatticeSides(VpLattice); /* cells are positions */
VpSides VpMeshSides(VpMesh);       /* cells are local numbers below nsweep */
/* finds the cells around a corner of a cell, which has a bit for each direction. False unless that is a regular vertex inside the domain
   with known cells */
PetscBool VpFindStar(const VpSides *, int64_t cell, int corner, VpStar *);

/* n questions to other ranks */
typedef struct {
  PetscInt     n;
  size_t       bytes;    /* size of a question */
  const void  *question; /* [n] */
  PetscSFNode *at;       /* [n] the rank that is asked, and the number that it answers */
} VpQuestions;
/* askranks.c: sets at[i].index = the answer of that rank from its own context. Collective */
typedef PetscInt (*VpAnswer)(const void *context, const void *question);
PetscErrorCode VpAskRanks(MPI_Comm, const VpQuestions *, VpAnswer, const void *context);

/* curve.c: a position on p4est's curve: the number of boxes before it, and in the next box the number of smallest cells before it */
typedef struct {
  int64_t box, before;
} VpCurvePosition;
/* where the own cells [nown] of a mesh begin, and where the pieces of all ranks begin [size + 1]. Requires: VpGeometryIsHalved */
typedef struct {
  VpMesh           mesh;
  VpCurvePosition *cell, *begin;
} VpCurve;
PetscErrorCode VpCurveCreate(VpMesh, VpCurve *); /* collective */
PetscErrorCode VpCurveDestroy(VpCurve *);
/* at[i] = the rank, and the number there, of the cell that contains a position. Collective */
PetscErrorCode VpCurveFind(const VpCurve *, PetscInt n, const VpCurvePosition[], PetscSFNode at[]);
/* where the cell of this depth and these coordinates in its box begins */
VpCurvePosition VpCurvePositionOf(int dim, int32_t box, const int32_t coord[], int depth);
/* the position `length` smallest cells further on */
VpCurvePosition         VpCurveAdvance(int dim, VpCurvePosition, int64_t length);
static inline PetscBool VpCurveIsBefore(VpCurvePosition a, VpCurvePosition b)
{
  return (PetscBool)(a.box < b.box || (a.box == b.box && a.before < b.before));
}

/* p4est.c: starts libsc and p4est unless they run already. Only the files of forest/ know p4est. */
PetscErrorCode VpForestInitialize(void);
PetscErrorCode VpForestCheckSize(MPI_Comm, VpDomain, int level);
/* adaptiveforest.c: what is done with forests, a table for each dimension. All is collective
   unless it is said otherwise. */
typedef struct {
  int deepest; /* the greatest depth of leaves */
  /* makes the forest of a mesh that is not adaptive. Requires: VpLatticeIsUniform, VpForestInitialize() */
  VpForest (*create)(VpMesh);
  /* makes the adapted forest that VpMeshAdapt describes */
  VpForest (*adapt)(VpForest, VpDomain, const int8_t mark[], int width, const PetscReal a[]);
  /* Makes a forest of leaves of these depths, which are own ones until work is balanced: in their order, from a position on. Requires: the
     leaves of all ranks fill the boxes, VpForestInitialize() */
  VpForest (*grow)(MPI_Comm, VpDomain, int32_t n, const uint8_t depth[], VpCurvePosition first);
  /* Fills the own cells and ghosts of an adaptive mesh of this domain and comm. The caller frees *owner, [ghosts]. */
  PetscErrorCode (*fill)(VpForest, VpMesh, PetscSFNode **owner);
  /* a[] (unless NULL) = the coefficient of own leaves, which the forest forgets. Not collective */
  void (*take_coefficient)(VpForest, int width, PetscReal a[]);
  /* the number of leaves on all ranks. Not collective */
  double (*size)(VpForest);
  void (*destroy)(VpForest);
} VpForestOps;
extern const VpForestOps         VpForestOps2, VpForestOps3;
static inline const VpForestOps *VpForestOpsOf(int dim)
{
  return dim == 2 ? &VpForestOps2 : &VpForestOps3;
}
/* the number of smallest cells in a cell of a depth */
static inline int64_t VpCurveLength(int dim, int depth)
{
  return (int64_t)1 << dim * (VpForestOpsOf(dim)->deepest - depth);
}
/* mesh.c: the rank whose own cells contain the position */
PetscMPIInt VpOwnerOf(const PetscInt starts[], PetscMPIInt size, int64_t cell);
/* mesh.c: a mesh on a lattice, whose reference it takes over, without cells */
PetscErrorCode VpMeshBegin(MPI_Comm, VpLattice, VpMesh *);
/* mesh.c: a mesh without a relation. sweep, extra: see VpHaloCreate. starts[size + 1]: where the ranks' own
   cells begin. Collective */
PetscErrorCode VpMeshBuild(MPI_Comm, VpLattice, const PetscInt starts[], const VpCellSet *sweep, const VpCellSet *extra, VpMesh *);
/* geometry.c, parents.c */
PetscErrorCode VpGeometryDestroy(VpGeometry *);
PetscErrorCode VpRelationDestroy(VpRelation *);
/* mesh.c: the exchanges with the owners of the ghosts, of a mesh whose kinds of cells are known */
PetscErrorCode VpMeshSetExchange(VpMesh, PetscSFNode owner[]);
/* the zone (VpGeometry.zone) of the cell with this coordinate among 2^bits cells */
static inline int VpZoneOf(int bits, int32_t coord)
{
  const int32_t last = ((int32_t)1 << bits) - 1;

  return coord == 0 ? 1 : (coord < last - 1 ? 0 : 3 - (last - coord));
}
/* The positions of a mesh's local cells. Own cells are a range, unless the mesh is a part of its lattice. All others are in a set, in their
   order. */
typedef struct {
  VpRange   own; /* empty where own cells are in the set, too */
  VpCellSet other;
} VpPositions;
/* mesh.c: the positions of a mesh that has its cells */
PetscErrorCode        VpPositionsCreate(VpMesh, VpPositions *);
static inline int64_t VpPositionOf(const VpPositions *p, int32_t cell)
{
  const int64_t nown = p->own.last - p->own.first;

  return cell < nown ? p->own.first + cell : VpCellSetAt(&p->other, (int32_t)(cell - nown));
}
/* a position's local number, or VP_UNKNOWN; the code of a boundary stays */
static inline int32_t VpLocalOf(const VpPositions *p, int64_t cell)
{
  int32_t other;

  if (cell < 0) return (int32_t)cell;
  if (VpIsIn(p->own, cell)) return (int32_t)(cell - p->own.first);
  other = VpCellSetFind(&p->other, cell);
  return other < 0 ? VP_UNKNOWN : (int32_t)(p->own.last - p->own.first) + other;
}
/* mesh.c: roots are the own cells of a mesh, leaves i those at the global positions [n] */
PetscErrorCode VpMeshCreateSF(VpMesh, PetscInt n, const PetscInt position[], PetscSF *);
/* cells.c: the geometry of cells, and `neighbor`, of a mesh that has the numbers of its cells */
PetscErrorCode VpMeshSetCells(VpMesh, const VpPositions *);
/* parents.c: relates a mesh and the next coarser one by a step of a lattice */
PetscErrorCode VpMeshRelate(VpMesh fine, const VpPositions *of_fine, VpMesh coarse, VpLattice by, const VpCoarsening *);
/* sets orphans, and the exchange of own parents' children that other ranks have, by parent[] and child[] */
PetscErrorCode VpRelationSetChildren(VpMesh fine);
