/* Meshes: a domain of axis-aligned boxes, every box refined `level` times, as plain arrays on every rank.

   Cells are numbered along the space-filling curve (VpLattice). A rank owns a piece of the curve. Its local cells are these own cells in
   the order of the curve, and then ghosts by kind; each kind is sorted along the curve:

     h h h h h h h h       local numbers      cells
     h s s s s s s h       [0, nown)       o  own ones
     h s s f f s s h       [nown, nface)   f  face neighbours of own ones: A x also reads them
     h s f o o f s h       [nface, nsweep) s  the rest of two layers: sweeps also update them
     h s s f f s s h       [nsweep, nhalo) h  the third layer: sweeps read their traces
     h s s s s s s h       [nhalo, nlocal)    other parents of the finer mesh's local cells: prolongation reads them
     h h h h h h h h

   A layer consists of all cells that share at least a corner with the layer before.

   Many properties of a cell depend only on its box and on how near it is to the ends of the box. In every direction there are four zones:

     coordinate     0     1     2    ...   N-3   N-2   N-1      of N cells, N >= 4;  N = 2: zones 1, 3;  N = 1: zone 1
     zone           1     0     0    ...    0     2     3

   A patch is found by its first cell, so what a patch sees reaches from one cell below that to two above: cells of the same box and zones
   see the same boxes and boundaries there.

   The finest mesh has 2^level cells per direction in every box. Coarser ones (coarsenrule.c) may differ by direction and box, and boxes of
   one cell merge: then the domain of the coarser mesh has fewer boxes.

   The cells of an adaptive mesh are the leaves of a forest of different levels, balanced so that cells which share a face, an edge or a
   corner differ by one level at most. The cells of its lattice are whole boxes, and every cell has its depth. Its ghosts are only the cells
   beyond own cells' faces: nface = nsweep = nhalo = nlocal. Where cells of two levels meet, the face of the coarse one hangs, and `faces`
   list it.

   In a mesh of trees (VpDomain.trees) a layer consists of all cells that share a side, or a regular vertex, with the layer before.

   A level of an adaptive mesh (adaptivelevels.c) has the cells of one depth, leaves and those that were refined:

     +-------+---+---+     level 1 has four cells, of which the lower right one is a leaf, as the left ones are.
     |       |   |   |     Level 2 has the four children of the upper right one. It ends at the edge === around them; `ends` of its
     |       +---+---+     relation to level 1 list the two sides that hang there.
     |      ||   |   |     From the coarsest leaves' level on, levels are ordinary meshes.
     +-------+=======+
     |       |       |
     +-------+-------+

   What only some meshes have stands behind a pointer, which others leave NULL: `forest` and `geometry->depth` of adaptive ones, `leaf` of
   their levels, `relation` where there is a coarser mesh, `shared` where ghosts are numbered by sides. */
#pragma once
#include "map.h"
#include "../base/reference.h"
#include "../kernels/messages.h"
#include "../tables/turn.h"
#include <petscsf.h>
#include <stdint.h>

/* the condition on sides of the domain: an entry of its table */
typedef struct {
  VpSide    kind;
  PetscReal alpha; /* the number of a condition that has one (VpCondition.alpha), else 0 */
} VpBoundary;

static inline PetscBool VpBoundaryIs(VpBoundary one, VpBoundary other)
{
  return (PetscBool)(one.kind == other.kind && one.alpha == other.alpha);
}

/* The most boxes. The numbers of their corners and sides fit 32 bits. */
#define VP_MAX_BOXES (INT32_MAX / 8)
/* The most own cells per rank. The numbers of their sides, and those of local cells (VpCellSet), fit 32 bits. */
#define VP_MAX_CELLS (INT32_MAX / 6)

/* How the boxes of a domain meet that are trees (trees/trees.c): quadrilaterals or hexahedra that share whole faces. */
typedef struct {
  int32_t *corner; /* [nbox][2^dim] numbers of vertices, x fastest */
  uint8_t *turn;   /* [nbox][2 dim] how the tree beyond a side is turned (tables/turn.h); 0 at boundaries */
  int8_t  *hand;   /* [nbox] 1, or -1 where the sign of det J is another one than that of the first tree */
  struct VpRegular_ {
    uint8_t  corners;
    uint16_t edges; /* in 3D: 4 d + i is the edge along d whose corner has the bits i in the other two directions */
  } * regular;      /* [nbox] the corners and edges of a tree that are regular and inside, a bit each. NULL until VpDomainFindRegular() */
} VpTrees;

/* a domain: conforming axis-aligned boxes. Shared by all meshes on it (reference counted). Sides are numbered x-,x+,y-,y+,z-,z+. */
typedef struct VpDomain_ *VpDomain;
struct VpDomain_ {
  int        refct;
  int        dim;
  int32_t    nbox;
  PetscReal *lower, *upper; /* [nbox][3], unused directions 0 and 1 */
  int32_t    nboundary;
  VpBoundary
           *boundary; /* [nboundary] entry i is of sides of boxes with the outward normal i % (2 dim), so that odd ones are at upper sides.
                         The first 2 dim entries are the commonest conditions of the normals. In a periodic direction they hold for sides
                         that are not at an end of the domain, as around a hole. */
  PetscBool periodic[3];
  int32_t  *beyond;   /* [nbox][2 dim] the box beyond each side, or VpBoundaryAt(i) where there is entry i of `boundary` */
  int32_t  *slabs[3]; /* NULL until VpDomainGetSlabs */
  int32_t  *next[3];  /* [nbox] the next box of the slab, in a list that starts with slabs[d][box]; -1: none. Set with slabs[d] */
  enum { VP_CORNERS_UNKNOWN, VP_CORNERS_NONE, VP_CORNERS_SOME } corners; /* what VpDomainHasCorners found */
  VpTrees *trees; /* NULL: boxes. Tree b is the unit box whose lower corner is (2 b, 0, 0), and `beyond` says which trees meet. */
};

/* the boxes of a domain: lower and upper [nbox][dim]; boundary by outward normal, NULL: Dirichlet; periodic by direction, NULL: none */
typedef struct {
  int               dim;
  int32_t           nbox;
  const PetscReal  *lower, *upper;
  const VpBoundary *boundary;
  const PetscBool  *periodic;
} VpBoxes;
/* Collective. Errors are: a box that is empty or not finite, boxes that overlap or touch without sharing a whole face, periodic[d] where
   opposite boundary faces do not match, a domain that is not connected. */
PetscErrorCode VpDomainCreate(MPI_Comm, const VpBoxes *, VpDomain *);
/* sets the conditions of all sides of boxes, [nbox][2 dim], read where there is no box beyond */
PetscErrorCode VpDomainSetBoundary(VpDomain, const VpBoundary condition[]);
/* whether all sides with the same normal have the same condition */
PetscBool VpDomainIsByNormal(VpDomain);
/* The boxes that belong together in direction d: those that are linked across sides with other normals. They have the same lower and upper
   face there. slab[box] = a box of them, the same for all; made at the first call. */
PetscErrorCode VpDomainGetSlabs(VpDomain, int d, const int32_t **slab);
/* trees.c: a domain of trees with these corners, whose sides meet where they have the same vertices. boundary [2 dim]: the conditions of
   sides of trees. Collective. Errors are: a corner that is none of nvertex, a vertex at two corners of a tree, a face of three trees or of
   two that do not conform, two trees that share two faces, trees that do not hang together or cannot lie in space. */
typedef struct {
  int               dim;
  int32_t           nvertex, ntree;
  const int32_t    *corner; /* [ntree][2^dim], x fastest */
  const VpBoundary *boundary;
} VpTreeCorners;
PetscErrorCode VpDomainCreateTrees(MPI_Comm, const VpTreeCorners *, VpDomain *);
/* The vertices of the trees. A regular one has cells as a vertex inside a box, or on the boundary of a box, has. */
enum { VP_MOST_VALENCE = 64 };
typedef struct {
  int32_t n, regular, boundary;        /* boundary: irregular ones on the boundary */
  int32_t inside[VP_MOST_VALENCE + 1]; /* irregular ones inside, by the number of their cells; the last: this number or more */
} VpTreeVertices;
PetscErrorCode VpDomainCountVertices(VpDomain, VpTreeVertices *);
PetscErrorCode VpDomainFindRegular(VpDomain); /* sets VpTrees.regular at the first call */
/* class [nbox][dim] = the class of a direction: those that lie along each other where trees meet. Returns
   the number of classes. */
int32_t VpDomainGetClasses(VpDomain, int32_t class_of[]);
/* color [nbox] so that trees which share a face have different ones, in the order of trees. Returns their number, at most 2 dim + 1. */
int VpDomainColorTrees(VpDomain, uint8_t color[]);
/* the turn of the box beyond a side */
static inline int VpDomainTurn(VpDomain domain, int32_t box, int side)
{
  return domain->trees ? domain->trees->turn[(size_t)box * 2 * (size_t)domain->dim + (size_t)side] : 0;
}
/* what messages call the domain's boxes */
static inline const char *VpDomainBoxes(VpDomain domain)
{
  return domain->trees ? "trees" : "boxes";
}
PetscBool               VpDomainIsTurned(VpDomain); /* whether any box is */
PetscErrorCode          VpDomainDestroy(VpDomain *);
static inline PetscReal VpDomainWidth(VpDomain domain, int32_t box, int d)
{
  return domain->upper[3 * (size_t)box + d] - domain->lower[3 * (size_t)box + d];
}
/* the kind of a side whose entry in VpDomain.beyond or VpMesh.neighbor is `beyond` */
static inline VpSide VpDomainSide(VpDomain domain, int32_t beyond)
{
  if (beyond == VP_HANGING) return VP_SIDE_NONE;
  if (beyond == VP_LEVEL_END) return VP_SIDE_LEVEL_END;
  return beyond >= 0 ? VP_SIDE_INTERIOR : domain->boundary[VpBoundaryEntry(beyond)].kind;
}

/* whether the form of some boundary has a number of its own */
static inline PetscBool VpDomainReadsAlpha(VpDomain domain)
{
  int32_t i = 0;

  while (i < domain->nboundary && !VpReadsAlpha(domain->boundary[i].kind)) i++;
  return (PetscBool)(i < domain->nboundary);
}
static inline PetscReal VpDomainAlpha(VpDomain domain, int32_t beyond)
{
  return VpIsBoundary(beyond) ? domain->boundary[VpBoundaryEntry(beyond)].alpha : 0;
}

/* How a box is cut: into 2^bits[d] cells in direction d. A cell's index in its box is a number of `shift` bits. The bits of mask[d] are
   those of the coordinate in direction d. From the highest bit down, z, y and x take one bit each, until they have all of theirs:

     bits {2, 2, 2}    z y x z y x          bits {3, 1, 2}    z y x z x x          bits {2, 0, 3}    z x z x z

   So the index without the lowest bit of a direction is the index where there are half as many cells along that direction. */
typedef struct {
  int     bits[3], shift;
  int64_t mask[3];
} VpHalvings;

/* How a mesh is coarsened: LOCAL halves cells where they are thin, and merges boxes of one cell (coarsenrule.c) but not trees
   (trees/coarsenclasses.c); FULL halves all directions of all boxes; WHOLE is LOCAL, but ends where boxes would merge. */
typedef enum { VP_COARSEN_LOCAL, VP_COARSEN_FULL, VP_COARSEN_WHOLE, VP_COARSEN_RULES } VpCoarsen;

/* What merges along a direction of a box: nothing; its cells, two by two; or the box, which has one cell there, as the lower or the upper
   one of two. */
typedef enum { VP_MERGE_NONE, VP_MERGE_HALVES, VP_MERGE_LOWER, VP_MERGE_UPPER } VpMerge;

/* The step from a lattice to a coarser one. A parent's first child is the lowest one in all directions; parents are in their order. */
typedef struct VpLattice_ *VpLattice;
typedef struct {
  VpLattice coarse; /* NULL where the rule ends */
  uint8_t  *merge;  /* [nbox][3] VpMerge */
  int32_t  *box;    /* [nbox] the coarser box that begins here; for a box that is upper, the next one that begins. NULL: the same */
  int32_t  *lower;  /* [coarser nbox] the box where that one begins; NULL: the same */
  PetscBool hard; /* Cells merge next to a stack of three or more thin ones that cannot, as at the border of a step. Cycles sweep twice. */
  PetscReal jump; /* the largest quotient of the coefficients of neighbouring boxes that do not merge because of it; 1: none. Also where
                     the rule ends */
} VpCoarsening;

/* The cells of a mesh as numbers. The global position of a cell is start[box] + its index in the box. */
struct VpLattice_ {
  int           refct;
  VpDomain      domain;
  int32_t       nhalvings;
  VpHalvings   *halvings;
  int32_t      *halvings_of; /* [nbox], or NULL: all boxes have the first ones */
  int64_t      *start;       /* [nbox+1], or NULL: all boxes have equally many cells */
  int32_t      *near;        /* near[i] = the box of position i << near_shift (with start) */
  int           near_shift;
  int64_t       ncell;
  uint8_t      *parity;     /* [nbox] bit d: vertices in the middle of the box are odd where coord is even; NULL: none are. See VpPatches */
  uint8_t      *seam;       /* [nbox] bit d: those on the upper side in direction d are neither odd nor even; NULL: all are */
  PetscBool     alternates; /* Patches of a colour, by parity and seam, are disjoint. If not, there are no patches. */
  PetscReal     thinnest[3];            /* least size of a cell in every direction */
  VpCoarsening *step[VP_COARSEN_RULES]; /* NULL until VpLatticeCoarsen */
  PetscReal    *a;    /* [nbox][3] the coefficient along every direction, a box's mean, which the rule of coarsening looks at; NULL: 1 */
  PetscReal     mild; /* With sizes of cells up to this ratio, cells merge in all directions; 0: up to the root of 2. */
};
static inline const VpHalvings *VpHalvingsOf(VpLattice L, int32_t box)
{
  return &L->halvings[L->halvings_of ? L->halvings_of[box] : 0];
}
/* the directions in which a box has one cell, bit d for direction d */
static inline int VpLatticeThin(VpLattice L, int32_t box)
{
  int thin = 0;

  for (int d = 0; d < L->domain->dim; d++) thin |= (VpHalvingsOf(L, box)->bits[d] == 0) << d;
  return thin;
}
/* the size in direction d of a box's cells */
static inline PetscReal VpLatticeSize(VpLattice L, int32_t box, int d)
{
  return VpDomainWidth(L->domain, box, d) / (PetscReal)(1 << VpHalvingsOf(L, box)->bits[d]);
}

/* the step to the coarser lattice, which is found at the first call and belongs to the lattice */
PetscErrorCode VpLatticeCoarsen(VpLattice, VpCoarsen, const VpCoarsening **);
PetscBool      VpEveryCellHasAPatch(VpLattice); /* coarsenrule.c: boxes of one cell need neighbours */
/* a copy of a lattice with coefficients a [nbox][3] of its boxes; coarser lattices made from the copy have coefficients, too */
PetscErrorCode VpLatticeWith(VpLattice, const PetscReal a[], VpLattice *);
PetscErrorCode VpLatticeDestroy(VpLattice *);
/* The levels of a cycle, from the lattice on: FULL leaves boxes with two cells per direction. cells[VP_MOST_LEVELS]: of each, or NULL. */
#define VP_MOST_LEVELS 192
PetscErrorCode VpCountLevels(VpLattice, VpCoarsen, int *levels, double cells[]);
PetscErrorCode VpListLattices(VpLattice, VpCoarsen, int *levels, VpLattice lattice[VP_MOST_LEVELS]); /* no new references */
/* Replaces the positions [n] of cells of the lattice by the positions of their ancestors, `levels` levels coarser. */
PetscErrorCode VpFindAncestors(VpLattice, VpCoarsen, int levels, int32_t n, int64_t position[]);
/* the most cells on a line in every direction; the least ratio of two sizes of a cell */
PetscErrorCode VpLatticeExtent(VpLattice, int64_t extent[3]);
PetscReal      VpLatticeThinnest(VpLattice);

typedef enum {
  VP_GHOST_FACE,  /* [nown, nface) */
  VP_GHOST_SWEEP, /* [nown, nsweep) */
  VP_GHOST_ALL,   /* [nown, nlocal) */
  VP_GHOST_CHILD, /* the ghosts of VP_GHOST_SWEEP whose parent is own, once there is a relation */
  VP_GHOST_SIDE,  /* one ghost for every side that an own cell shares with a ghost, once there is `shared` */
  VP_GHOST_KINDS,
  VP_GHOST_HALO = VP_GHOST_KINDS, /* [nown, nhalo): they travel with VP_GHOST_ALL */
  VP_GHOST_NONE                   /* no ghosts */
} VpGhostKind;

/* How ghosts travel where they live on devices: through the host; by MPI that takes device memory; by the backend's own links. */
typedef enum { VP_TRANSPORT_HOST, VP_TRANSPORT_MPI, VP_TRANSPORT_LINK } VpTransport;

/* Where the cells of a mesh are. A cell is a piece of a box of the domain, which the lattice, or `depth` in all directions, says how often
   to halve. The functions below give lengths, points and areas of cells. */
typedef struct VpGeometry_ *VpGeometry;
struct VpGeometry_ {
  VpDomain  domain; /* the lattice's domain */
  VpLattice lattice;
  int32_t  *box;   /* [nlocal] */
  int32_t  *coord; /* [nlocal][3] position in its box, from 0 on */
  uint8_t  *zone;  /* [nlocal] the zones that the cell is in, 2 bits per direction, x lowest */
  uint8_t  *depth; /* [nlocal] the number of halvings of the box that make the cell, of an adaptive mesh; else NULL */
  VpMap     map;   /* where own cells are in physical space; NULL: cells are boxes there, too */
};
/* the number of halvings along d that make a cell of its box */
static inline int VpGeometryHalvings(VpGeometry g, int32_t cell, int d)
{
  return g->depth ? g->depth[cell] : VpHalvingsOf(g->lattice, g->box[cell])->bits[d];
}
/* the size of a cell in direction d, 1 beyond dim */
static inline PetscReal VpGeometrySize(VpGeometry g, int32_t cell, int d)
{
  return VpLatticeSize(g->lattice, g->box[cell], d) / (PetscReal)(g->depth && d < g->domain->dim ? 1 << g->depth[cell] : 1);
}
/* the lower corner of a cell and its size in every direction (3 numbers, 1 beyond dim) */
void VpGeometryBounds(VpGeometry, int32_t cell, PetscReal lower[], PetscReal size[]);
/* bounds [n][lower, size][3] of the cells of a list, NULL: 0, 1, ... */
void VpGeometryAllBounds(VpGeometry, int32_t n, const int32_t list[], double bounds[]);
/* VpGeometryPoint: x [dim] = the point of a box's cell at the reference coordinates xi [dim], from 0 to 1. VpGeometryReference: xi = the
   reference coordinates of the point of a cell, in physical space, that is nearest to x. */
void VpGeometryPoint(VpGeometry, int32_t cell, const PetscReal xi[], PetscReal x[]);
void VpGeometryReference(VpGeometry, int32_t cell, const PetscReal x[], PetscReal xi[]);
/* X [points][dim] and the Jacobian J [points][i][j] = dX_i / dxi_j in physical space of an own cell, at a tensor grid of points in [0,1], x
   fastest: count[d] of them, at most VP_MAX_NQ, at x[d]; count[d] = 1 beyond dim. X, J: or NULL */
void VpGeometryEvaluate(VpGeometry, int32_t cell, const int count[3], const double *const x[3], double X[], double J[]);
/* the same at the points of a grid that VpMapGridSet() has set for the geometry's map, for many cells */
void VpGeometryEvaluateGrid(VpGeometry, int32_t cell, const VpMapGrid *, double X[], double J[]);
/* Sets grid->x and ->count to those of a cell's points that lie in a cell of another mesh of the same boxes, in that cell's coordinates.
   from: its lower corner and its size. The cell's points are a tensor grid, point [n] in every direction; first: the number of the first
   one inside, by direction */
typedef struct {
  VpGeometry geometry;
  int32_t    number;
} VpGeometryCell;
void VpGeometryOverlap(VpGeometryCell cell, int n, const double point[], const PetscReal from[6], int first[3], VpMapGrid *);
/* the smallest box around a cell in physical space, for mapped ones around its nodes: lower, upper [dim] */
void VpGeometryExtent(VpGeometry, int32_t cell, PetscReal lower[], PetscReal upper[]);
/* the least size of a cell, its volume, the area of one of its sides */
PetscReal VpGeometryLeast(VpGeometry, int32_t cell);
PetscReal VpGeometryVolume(VpGeometry, int32_t cell);
PetscReal VpGeometryArea(VpGeometry, int32_t cell, int side);
/* whether all boxes have equally many cells in all directions, or are halved into leaves */
PetscBool VpGeometryIsHalved(VpGeometry);
/* whether cells in a zone of a box, in the side's direction, touch that side of the box */
static inline PetscBool VpGeometryIsAtEnd(VpGeometry g, int32_t box, int zone, int side)
{
  return (PetscBool)(zone == (side % 2 && VpHalvingsOf(g->lattice, box)->bits[side / 2] ? 3 : 1));
}
/* the zone of a cell along a direction */
static inline int VpGeometryZone(VpGeometry g, int32_t cell, int d)
{
  return g->zone[cell] >> 2 * d & 3;
}
/* the box of the cell beyond a side, or a boundary as in the domain */
static inline int32_t VpGeometryBoxBeyond(VpGeometry g, int32_t cell, int side)
{
  const int32_t box = g->box[cell];

  return VpGeometryIsAtEnd(g, box, VpGeometryZone(g, cell, side / 2), side) ? g->domain->beyond[(size_t)box * 2 * g->domain->dim + side]
                                                                            : box;
}

/* p4est's own data of an adaptive mesh, from which the next one is made: a p4est_t, in three dimensions a p8est_t */
typedef struct VpForest_ *VpForest;

/* A list of faces: sides that hang, or where a level ends. */
typedef struct {
  int32_t n;
  VpFace *face; /* [n] */
} VpFaces;

typedef struct VpMesh_ *VpMesh;
/* How a mesh and the next coarser one belong together. A parent lives where its first child lives. */
typedef struct VpRelation_ *VpRelation;
struct VpRelation_ {
  VpMesh              coarse;
  VpLattice           by; /* the fine mesh's lattice, or one with a coefficient, to which the step belongs */
  const VpCoarsening *step;
  int32_t            *parent;  /* [nhalo] local cell of the coarse mesh */
  int32_t             orphans; /* own cells [orphans, nown) have own parents */
  int32_t            *child;   /* [coarse->nown][2^dim] local cells of the fine mesh in [0, nsweep), -1: none. Where that is a part of its
                                  lattice, [coarse->nlocal][2^dim] in [0, nhalo) */
  VpFaces ends; /* sides of the coarse mesh's leaves with local cells of the fine one beyond them, where that is a part of its lattice. The
                   leaf is in [0, nsweep) of the coarse mesh. */
};

/* The sides that own cells share with ghosts. VP_GHOST_SIDE has one ghost for each of them. */
typedef struct {
  int32_t  n;
  int32_t *beyond; /* [nown][2 dim] as VpMesh.neighbor, but nown + i beyond the i-th of these sides; NULL where there are none */
} VpSharedSides;

struct VpMesh_ {
  int         refct;
  MPI_Comm    comm; /* of `size` ranks */
  PetscMPIInt size;
  int         dim, level, least; /* the most and the least halvings of cells on all ranks; level: the most of a direction; least: the same,
                                    unless adaptive */
  PetscInt    ncell;             /* cells of all ranks */
  PetscInt    first;             /* global position of the first own cell */
  PetscInt   *starts;            /* [size+1] global positions of the first own cells of all ranks */
  int32_t     nown, nface, nsweep, nhalo, nlocal;
  int32_t    *neighbor; /* [VpMeshKnown()][2 dim] the local cell beyond a side, or another code (tables/side.h), never VP_UNKNOWN */
  uint8_t    *turn;     /* [VpMeshKnown()][2 dim] how the cell beyond a side is turned (tables/turn.h); NULL: none is */
  int64_t     ninner;   /* sides of own cells beyond which there are cells */
  VpFaces     faces;    /* sides of own cells that hang, in the order of the cells; none unless adaptive */
  VpGeometry  geometry;
  PetscSF     sf[VP_GHOST_KINDS]; /* roots: own cells; leaf i: local cell nown + i (unit: one cell's values). VP_GHOST_CHILD: NULL until
                                  there is a relation. VP_GHOST_SIDE, NULL until VpMeshSetSides: roots 2 dim cell + side of own cells,
                                  leaves 2 dim i + side, where own cells share the i-th side with a ghost, whose side this is */
  VpTransport transport;
  VpLink      link;          /* of VP_TRANSPORT_LINK, else NULL */
  VpSharedSides *shared;     /* NULL until VpMeshSetSides */
  int32_t        nend, *end; /* what VpMeshGetEnds lists; NULL: not yet */
  VpRelation     relation;   /* to the next coarser mesh; NULL until VpMeshCoarsen or VpMeshRefine */
  VpForest       forest;     /* NULL unless adaptive */
  int32_t       *leaf; /* [nsweep] of a level of an adaptive mesh: the leaf that the cell is, as its owner numbers own leaves; -1: it is
                              refined. Else NULL */
};
/* whether the cells are leaves of different levels */
static inline PetscBool VpMeshIsAdaptive(VpMesh mesh)
{
  return (PetscBool)(mesh->forest != NULL);
}
/* The cells that have neighbours. Adaptive meshes have no other ghosts than the cells beyond own cells' sides. */
static inline int32_t VpMeshKnown(VpMesh mesh)
{
  return VpMeshIsAdaptive(mesh) ? mesh->nown : mesh->nsweep;
}
/* how the cell beyond a cell's side is turned, and that cell's side there */
static inline int VpMeshTurn(VpMesh mesh, int32_t cell, int side)
{
  return mesh->turn ? mesh->turn[(size_t)cell * 2 * (size_t)mesh->dim + (size_t)side] : 0;
}
static inline int VpMeshSideBeyond(VpMesh mesh, int32_t cell, int side)
{
  return VpTurnSide(side, VpMeshTurn(mesh, cell, side));
}
/* the next coarser mesh, or NULL */
static inline VpMesh VpMeshCoarser(VpMesh mesh)
{
  return mesh->relation ? mesh->relation->coarse : NULL;
}

/* The mesh with every box refined `level` times, cut into equal pieces along the curve. Errors, collectively: too many cells for
   PetscInt, p4est or one rank. Their messages have the number. */
PetscErrorCode VpMeshCreate(MPI_Comm, VpDomain, int level, VpMesh *);
/* A new reference to the next coarser mesh. The first call makes it, by the fine lattice or by one with a coefficient (VpLatticeWith).
   Requires: the rule does not end there, and earlier calls had a lattice with the same result (VpMeshAgrees). */
PetscErrorCode VpMeshCoarsen(VpMesh fine, VpLattice, VpCoarsen, VpMesh *coarse);
PetscErrorCode VpMeshAgrees(VpMesh fine, VpLattice, VpCoarsen, PetscBool *);
/* A new mesh whose next coarser one is `coarse`: children live with their parent. Error unless all boxes have equally many cells in all
   directions. */
PetscErrorCode VpMeshRefine(VpMesh coarse, VpMesh *fine);
/* A new mesh of the same domain. Marked cells are refined, and families whose cells are all marked are coarsened. Then others are refined
   until levels are balanced, and all are cut into pieces of nearly equal work. a is NULL or the coefficient of own cells, at most 3 numbers
   each. *b is the coefficient of the new ones: children have their parent's, parents the mean. If all levels are the same, the mesh is not
   adaptive. It has the errors of VpMeshCreate. Collective. */
enum { VP_MARK_COARSEN = -1, VP_MARK_KEEP, VP_MARK_REFINE };
/* Units of work: of a leaf in a cycle; what a hanging side adds to a fine cell, whose patches are swept twice; what it adds to the coarse
   cell, which interface patches solve. As measured on a CPU, degree 3. */
enum { VP_WORK_CELL = 1, VP_WORK_FINE = 5, VP_WORK_COARSE = 6 };
PetscErrorCode VpMeshAdapt(VpMesh, const int8_t mark[], int width, const PetscReal a[], VpMesh *, PetscReal **b);
/* The mesh whose cells have these depths, along the curve. Each rank gives any part of depth[], in the order of the ranks, and may get
   other cells, as from VpMeshAdapt. Errors: cells that do not fill the boxes, or with levels that are not balanced. Collective */
PetscErrorCode VpMeshCreateLeaves(MPI_Comm, VpDomain, int32_t n, const uint8_t depth[], VpMesh *);
/* The finest level of an adaptive mesh; its coarser ones follow by VpMeshCoarser, the last of them the ordinary mesh of all cells of the
   least depth. A cell lives where the first leaf in it lives. Error where positions on a level exceed 64 bits. Collective */
PetscErrorCode VpMeshCreateLevels(VpMesh leaves, VpMesh *finest);
/* the lattice of that last level, and of any other mesh its own: a new reference */
PetscErrorCode VpMeshBaseLattice(VpMesh, VpLattice *);
/* whether it is a level with only a part of the cells that its lattice has */
static inline PetscBool VpMeshIsPart(VpMesh mesh)
{
  return (PetscBool)(mesh->leaf && mesh->ncell < mesh->geometry->lattice->ncell);
}
/* whether cells in a zone of a box have the same size, and the same beyond their sides */
static inline PetscBool VpMeshIsByBox(VpMesh mesh)
{
  return (PetscBool)(!VpMeshIsAdaptive(mesh) && !VpMeshIsPart(mesh));
}
/* Whether all cells at an end of such a level are swept here. Then so is the leaf, and its other sides are among the level's ends. */
static inline PetscBool VpMeshSweepsEnd(VpMesh mesh, const VpFace *end)
{
  PetscBool all = PETSC_TRUE;

  for (int i = 0; i < 1 << (mesh->dim - 1); i++) all = (PetscBool)(all && end->cell[1 + i] < mesh->nsweep);
  return all;
}
/* a cell of another mesh: its box, its coordinates there and the number of halvings that make it */
typedef struct {
  int32_t box, coord[3], depth;
} VpOverlapCell;
/* The cells of a mesh `from` that cover own cells of a mesh `to` of the same boxes. Each own cell is covered by one cell, as large or
   larger, or by smaller ones. Requires: VpMeshesOverlap. Collective */
typedef struct {
  PetscSF        sf;            /* roots: the own cells of `from`; leaves: those that cover, along the curve */
  int32_t        n;             /* the number of these */
  VpOverlapCell *cell;          /* [n] */
  int32_t       *first, *count; /* [nown] which of them cover own cells of `to` */
} VpOverlap;
PetscBool      VpMeshesOverlap(VpMesh from, VpMesh to); /* whether they have the same boxes, and cells as VpGeometryIsHalved says */
PetscErrorCode VpOverlapCreate(VpMesh from, VpMesh to, VpOverlap *);
PetscErrorCode VpOverlapDestroy(VpOverlap *);
PetscErrorCode VpMeshSetSides(VpMesh); /* shared, sf[VP_GHOST_SIDE]: made at the first call */
/* *end [*n] = the own sides at the domain's boundary, 2 dim cell + side, ascending; made at the first call */
PetscErrorCode VpMeshGetEnds(VpMesh, int32_t *n, const int32_t **end);
/* *list [*n] = those with this number of a side where such data is given, 2 dim cell + side; freed by the caller */
PetscErrorCode VpMeshListEnds(VpMesh, VpGivenKind, int side, int32_t *n, int32_t **list);
PetscErrorCode VpMeshPositions(VpMesh, PetscInt position[]); /* [nlocal] global positions of all local cells */
/* The same mesh cut otherwise. VpMeshCut gives rank i the cells [starts[i], starts[i + 1]). VpMeshGather gives equal pieces to `ranks` of
   the ranks, which are evenly spaced. */
PetscErrorCode VpMeshCut(VpMesh, const PetscInt starts[], VpMesh *);
PetscErrorCode VpMeshGather(VpMesh, PetscMPIInt ranks, VpMesh *);
/* copies.c: the mesh with n copies of every local cell, own ones [copy][nown]. Copy i of a cell has copies i for neighbours. ncell, first
   and starts are those of one copy. coarser: n copies of the next coarser mesh, or NULL. Requires: the mesh is not adaptive */
PetscErrorCode VpMeshRepeat(VpMesh, int32_t n, VpMesh coarser, VpMesh *);
/* Creates an SF between two cuts of a mesh. Roots are the own cells of `from`, leaves the own cells of `to`, or all its local cells. */
PetscErrorCode VpMeshCreateMove(VpMesh from, VpMesh to, PetscBool ghosts, PetscSF *);
void           VpMeshSetTransport(VpMesh, VpTransport, VpLink); /* of it and of all coarser ones */
PetscErrorCode VpMeshDestroy(VpMesh *);
PetscInt       VpMeshRanks(VpMesh); /* how many ranks have cells */
/* whether all cells are in patches, or are trees, which are swept one by one on the coarsest level */
static inline PetscBool VpMeshHasPatches(VpMesh mesh)
{
  return (PetscBool)(mesh->level >= 1 || mesh->geometry->domain->trees || VpEveryCellHasAPatch(mesh->geometry->lattice));
}
/* the entry of a side in the table of neighbours */
static inline int32_t VpMeshNeighbor(VpMesh mesh, int32_t cell, int side)
{
  return mesh->neighbor[(size_t)cell * 2 * (size_t)mesh->dim + (size_t)side];
}
/* at[i] = the rank that owns the cell around point i, x [n][dim], and the cell's number there. On a face it is one of the cells there.
   *outside: the first point that lies in no cell, or n. Collective */
PetscErrorCode VpMeshLocate(VpMesh, PetscInt n, const PetscReal x[], PetscSFNode at[], PetscInt *outside);
/* mapmeet.c: moves the nodes of fine cells on sides that hang, so that cells meet there. Requires: the mesh is adaptive, and the map has
   the nodes of own cells. Collective */
PetscErrorCode VpMapMeet(VpMesh, VpMap);
/* find.c: the same for points in physical space. Near a curved boundary a point may be outside of the cell by 1 % of it. */
PetscErrorCode VpMeshFind(VpMesh, PetscInt n, const PetscReal x[], PetscSFNode at[], PetscInt *outside);
/* Fills ghost[] with the values that the owners have in own[]: for each cell `count` values of a type. */
PetscErrorCode VpMeshExchange(VpMesh, VpGhostKind, size_t count, MPI_Datatype type, const void *own, void *ghost);
/* the same from the roots of an SF to its leaves */
PetscErrorCode VpBroadcast(PetscSF, size_t count, MPI_Datatype type, const void *roots, void *leaves);

const char *VpForestVersion(void); /* p4est's */

/* trees/colors.c: colours of the vertices of trees' cells, so that no cell has two vertices of one colour. Vertices in the middle of a
   parent have the last colour, and those of parents the first one, unless some tree has one cell along a direction. */
typedef struct {
  int      ncolor; /* more than VP_MOST_COLORS: there are too many, and some vertices have none */
  int      minor;  /* number of colours that sweeps may leave out, as VpPatches.minor */
  int      bits;   /* of a site's place along a direction: 1 if all trees are one cell, else 2 */
  uint8_t *color;  /* [nbox][2^(bits dim)] */
} VpTreeColoring;
PetscErrorCode VpTreeColoringCreate(VpLattice, VpTreeColoring *);
PetscErrorCode VpTreeColoringDestroy(VpTreeColoring *);
int            VpTreeColorAt(VpLattice, const VpTreeColoring *, int32_t box, const int32_t vertex[]); /* vertex [dim]: its coordinates */

/* The patches (2^dim cells around a vertex) whose cells lie in [0, nsweep), by colour. Those of one colour share no cell. A sweep takes the
   last colour first, which tiles a box. Inside a colour: first the patches that touch no ghost, then others; of either, mixed ones last.

   A colour is a number with one digit for each direction, which says of the vertex: 0 even, 1 odd. Around a periodic direction with an odd
   number of cells they cannot alternate. There vertices on one side of a box are the seam, and digits are 0 seam, 1 even, 2 odd. The digit
   of the thinnest direction is lowest; of equally thin ones periodic directions come before others, then x before y before z.

   Trees have the colours of VpTreeColoring. Where trees meet there are patches at regular vertices only. */
typedef struct {
  int      dim, ncolor;
  int      minor;               /* Colours [0, minor) are left out where angles set the iterations: the first one; of trees all whose
                                   vertices are on parents' edges (in 2D parents' vertices). Every face between two cells is in some
                                   patch of another colour. */
  int      digits[3], place[3]; /* along d a colour c has the digit c / place[d] % digits[d] */
  int32_t  n;
  int32_t  start[VP_MOST_COLORS + 1]; /* colour c is [start[c], start[c+1]) */
  int32_t  inner[VP_MOST_COLORS];     /* the patches [start[c], inner[c]) touch no ghost */
  int32_t *cell;                      /* [n][2^dim], position x + 2 y + 4 z */
  uint8_t *frame;                     /* [n][2^dim] frames of the cells on the patch's axes (tables/turn.h), which are the directions of its
                                         lowest cell; NULL: 0, and in a selection */
  uint8_t *side;                      /* [n][2 dim] VpSide; NULL in a selection */
  uint8_t *mixed;                     /* [n] 1: some side is MIXED or WRAP; VP_MODE_REPLACE only if the patch is replaceable */
  uint8_t *cover;                     /* [c / VP_COVER_COLORS][nlocal] bit c % VP_COVER_COLORS: a patch of colour c has the cell */
  int32_t *whole;                     /* [n] of a selection: the patches' numbers among all; else NULL */
} VpPatches;
static inline size_t VpPatchesCovers(const VpPatches *patches) /* how many covers there are */
{
  return (size_t)(patches->ncolor + VP_COVER_COLORS - 1) / VP_COVER_COLORS;
}
PetscErrorCode VpPatchesCreate(VpMesh, const PetscReal thinnest[3], VpPatches *);
int            VpMeshSeams(VpMesh); /* the directions where there are seams */
/* of the vertex at the upper corner of a cell along d: 0 at a seam, 1 even, 2 odd */
static inline int VpVertexDigit(VpMesh mesh, int32_t cell, int d)
{
  const VpLattice L = mesh->geometry->lattice;
  const int32_t   box = mesh->geometry->box[cell], at = mesh->geometry->coord[3 * (size_t)cell + d];

  if (L->seam && L->seam[box] >> d & 1 && at == (1 << VpHalvingsOf(L, box)->bits[d]) - 1) return 0;
  return 2 - ((at ^ (L->parity ? L->parity[box] >> d : 0)) & 1);
}
/* corners.c: the patches that have a cell at a re-entrant edge of the domain, or at one where Dirichlet meets Neumann or Robin at 180
   degrees or more; or those that have a cell where a level of an adaptive mesh ends. They are in the order of `all`. */
typedef enum { VP_NEAR_CORNERS, VP_NEAR_ENDS } VpNear;
PetscErrorCode VpPatchesSelect(VpMesh, VpNear, const VpPatches *all, VpPatches *near);
/* the first patch of [first, last) that is mixed, or last. Requires: they are of a colour, and touch ghosts all or none */
int32_t        VpPatchesFirstMixed(const VpPatches *, int32_t first, int32_t last);
PetscBool      VpDomainHasCorners(VpDomain); /* whether the domain has such an edge; found at the first call */
PetscErrorCode VpPatchesDestroy(VpPatches *);
