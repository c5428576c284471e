/* Meshes: a domain of axis-aligned boxes, every box refined `level` times, as plain arrays on every rank.

   Cells are numbered along the space-filling curve. The global position of a cell is box * 2^(dim*level) + its Morton index in the box,
   with x in the lowest bit. A rank owns a piece of the curve. Its local cells are these own cells in the order of the curve, and then
   ghosts in groups; each group is sorted along the curve:

     h h h h h h h h       local numbers      cells
     h s s s s s s h       [0, nown)       o  own ones
     h s s f f s s h       [nown, nface)   f  face neighbours of own ones: A x reads them, too
     h s f o o f s h       [nface, nsweep) s  the rest of two layers: sweeps update them, too
     h s s f f s s h       [nsweep, nhalo) h  the third layer: sweeps read their traces
     h s s s s s s h       [nhalo, nlocal)    farther parents of the finer mesh's local cells: prolongation reads them
     h h h h h h h h

   A layer consists of all cells that share at least a corner with the layer before.

   Many properties of a cell depend only on its box and on how near it is to the ends of the box. In every direction there are four zones:

     coordinate     0     1     2    ...   N-3   N-2   N-1      of N = 2^level, N >= 4;  N = 2: zones 1, 3;  N = 1: zone 1
     zone           1     0     0    ...    0     2     3

   A patch is found by its first cell, so what a patch sees reaches from one cell below that to two above: cells of the same box and zones
   see the same boxes and boundaries there.

   A member that is "with coarser" is NULL or 0 until VpMeshCoarsen or VpMeshRefine has given the mesh its coarser one, and one that is
   "with sides" until VpMeshSetSides. */
#pragma once
#include "../tables/side.h"
#include <petscsf.h>
#include <stdint.h>

/* stands for a cell that this rank does not know: it lies beyond the ghosts */
enum { VP_UNKNOWN = INT32_MIN };

/* the condition on one side of the domain: an entry of its table of sides */
typedef struct {
  VpSide kind;
} VpBoundary;

/* the most boxes: with them the numbers of corners and of sides fit 32 bits */
#define VP_MAX_BOXES (INT32_MAX / 8)
/* the most own cells of a rank: with them the numbers of sides and of local cells (VpCellSet) fit 32 bits */
#define VP_MAX_CELLS (INT32_MAX / 6)

/* a domain: conforming axis-aligned boxes. Shared by all meshes on it (reference counted). Sides are numbered x-,x+,y-,y+,z-,z+. */
typedef struct VpDomain_ *VpDomain;
struct VpDomain_ {
  int        refct;
  int        dim;
  int32_t    nbox;
  PetscReal *lower, *upper; /* [nbox][3], unused directions 0 and 1 */
  VpBoundary boundary[6];   /* by outward normal, so that odd entries are at upper sides. In a periodic direction they hold for what is
                               not at an end of the domain, as around a hole. */
  PetscBool  periodic[3];
  int32_t   *beyond; /* [nbox][2 dim] the box beyond each side, or -1 - i where there is entry i of `boundary` */
};

/* lower and upper are [nbox][dim]; boundary holds a VpSide by outward normal, NULL stands for Dirichlet. Errors, collectively, where there
   are: a box that is empty or not finite, boxes that overlap or touch without sharing a whole face, periodic[d] where opposite boundary
   faces do not match, a domain that is not connected. */
PetscErrorCode VpDomainCreate(MPI_Comm, int dim, int32_t nbox, const PetscReal lower[], const PetscReal upper[], const int boundary[],
                              const PetscBool periodic[], VpDomain *);
VpDomain       VpDomainReference(VpDomain); /* the same domain, a new reference */
PetscErrorCode VpDomainDestroy(VpDomain *);
/* what lies beyond a side whose entry in VpDomain.beyond, VpMesh.neighbor or VpMesh.beyond is this */
static inline VpSide VpDomainSide(VpDomain domain, int32_t beyond)
{
  return beyond >= 0 ? VP_SIDE_INTERIOR : domain->boundary[-1 - beyond].kind;
}

typedef enum {
  VP_GHOST_FACE,  /* [nown, nface) */
  VP_GHOST_SWEEP, /* [nown, nsweep) */
  VP_GHOST_ALL,   /* [nown, nlocal) */
  VP_GHOST_CHILD, /* those of VP_GHOST_SWEEP whose parent is own (with coarser) */
  VP_GHOST_SIDE,  /* one ghost for every side that an own cell shares with a ghost (with sides) */
  VP_GHOST_KINDS,
  VP_GHOST_HALO = VP_GHOST_KINDS, /* [nown, nhalo): they travel with VP_GHOST_ALL */
  VP_GHOST_NONE                   /* no ghosts */
} VpGhostKind;

/* How ghosts travel where they live on devices: through the host; by MPI that takes device memory; by the backend's own links. */
typedef enum { VP_TRANSPORT_HOST, VP_TRANSPORT_MPI, VP_TRANSPORT_LINK } VpTransport;

typedef struct VpMesh_ *VpMesh;
struct VpMesh_ {
  int       refct;
  MPI_Comm  comm;
  VpDomain  domain;
  int       dim, level;
  PetscInt  ncell; /* cells of all ranks */
  PetscInt  first; /* global position of the first own cell */
  int32_t   nown, nface, nsweep, nhalo, nlocal;
  int32_t  *box;                /* [nlocal] */
  int32_t  *coord;              /* [nlocal][3] lattice position in its box, 0 .. 2^level - 1 */
  uint8_t  *zone;               /* [nlocal] the zones that the cell is in, 2 bits a direction, x lowest */
  int32_t  *neighbor;           /* [nsweep][2 dim] a local cell, or -1 - i as in the domain; never VP_UNKNOWN */
  int64_t   ninner;             /* sides of own cells beyond which there are cells */
  PetscInt *starts;             /* [size+1] first global position of every rank */
  PetscSF   sf[VP_GHOST_KINDS]; /* roots: own cells; leaf i: local cell nown + i (unit: one cell's values). VP_GHOST_CHILD: NULL until there
                              is coarser. VP_GHOST_SIDE, NULL until VpMeshSetSides: roots 2 dim cell + side of own cells, leaves 2 dim i +
                              side, where own cells share the i-th side with a ghost, whose side this is */
  int32_t   nside;              /* sides that own cells share with ghosts (with sides) */
  int32_t  *beyond; /* [nown][2 dim] as neighbor, but nown + i beyond the i-th of these (with sides; NULL where there are none) */
  VpTransport transport;
  void       *link;    /* of VP_TRANSPORT_LINK (communication/messages.h) */
  VpMesh      coarser; /* level-1 mesh, NULL until VpMeshCoarsen; a parent lives where its first child lives */
  int32_t    *parent;  /* [nhalo] local cell of the coarser mesh (with coarser) */
  int32_t     orphans; /* own cells [0, orphans) have parents that other ranks own (with coarser) */
  int32_t    *child;   /* [coarser->nown][2^dim] local cells of this mesh, all in [0, nsweep) (with coarser) */
};

/* The mesh with every box refined `level` times, cut into equal pieces along p4est's curve. Errors, collectively: too many cells for
   PetscInt, p4est or a rank (the number is said). */
PetscErrorCode VpMeshCreate(MPI_Comm, VpDomain, int level, VpMesh *);
PetscErrorCode VpMeshCoarsen(VpMesh fine, VpMesh *coarse);   /* fine->coarser, made at the first call; a new reference */
PetscErrorCode VpMeshRefine(VpMesh coarse, VpMesh *fine);    /* a new mesh whose ->coarser is coarse: children live with their parent */
PetscErrorCode VpMeshSetSides(VpMesh);                       /* nside, beyond, sf[VP_GHOST_SIDE]: made at the first call */
PetscErrorCode VpMeshPositions(VpMesh, PetscInt position[]); /* [nlocal] global positions of all local cells */
/* The same mesh cut otherwise. VpMeshCut gives rank i counts[i] cells, VpMeshGather gives equal pieces to `ranks` of the ranks, evenly
   spaced. */
PetscErrorCode VpMeshCut(VpMesh, const PetscInt counts[], VpMesh *);
PetscErrorCode VpMeshGather(VpMesh, PetscMPIInt ranks, VpMesh *);
/* between two cuts of a mesh: roots are the own cells of one, leaves those of the other, with its ghosts [0, nlocal) or without */
PetscErrorCode VpMeshCreateMove(VpMesh from, VpMesh to, PetscBool ghosts, PetscSF *);
PetscErrorCode VpMeshSetTransport(VpMesh, VpTransport, void *link); /* of it and of all coarser ones */
VpMesh         VpMeshReference(VpMesh);                             /* the same mesh, a new reference */
PetscErrorCode VpMeshDestroy(VpMesh *);
PetscInt       VpMeshRanks(VpMesh); /* how many ranks have cells */
/* size of a cell in every direction (3 numbers, 1 beyond dim) and its lower corner */
void VpMeshCellBounds(VpMesh, int32_t cell, PetscReal lower[], PetscReal size[]);
/* the box of the cell beyond a side, or -1 - i as in the domain */
static inline int32_t VpMeshBoxBeyond(VpMesh mesh, int32_t cell, int side)
{
  const int     zone = mesh->zone[cell] >> (side & ~1) & 3;
  const int32_t box = mesh->box[cell];

  return zone == (side % 2 && mesh->level ? 3 : 1) ? mesh->domain->beyond[(size_t)box * 2 * mesh->dim + side] : box;
}
/* at[i] = the rank that owns the cell around point i, x [n][dim], and its number there; several cells around a point: one of them. *outside:
   the first point that lies in none, or n */
PetscErrorCode VpMeshLocate(VpMesh, PetscInt n, const PetscReal x[], PetscSFNode at[], PetscInt *outside);
/* Fills ghost[] with the values that the owners have in own[]. `unit` is one cell's values. */
PetscErrorCode VpMeshExchange(VpMesh, VpGhostKind, MPI_Datatype unit, const void *own, void *ghost);

/* forest.c, the only file that knows p4est: starts[0..size] of a forest refined `level` times; cells given to ranks by counts[size]
   where counts is not NULL, else equally */
PetscErrorCode VpForestPartition(MPI_Comm, VpDomain, int level, const PetscInt counts[], PetscInt starts[]);
const char    *VpForestVersion(void); /* p4est's */

/* All patches (2^dim cells around a vertex) whose cells lie in [0, nsweep), by colour. Colour = bits of the parity of the vertex's lattice
   coordinates, x lowest; the order of a sweep is 2^dim-1 (it tiles the mesh), ..., 1, 0. Inside a colour: first the patches that touch
   no ghost, then the others. */
typedef struct {
  int      dim;
  int32_t  n;
  int32_t  start[9]; /* colour c is [start[c], start[c+1]) */
  int32_t  inner[8]; /* of which [start[c], inner[c]) touch no ghost */
  int32_t *cell;     /* [n][2^dim], position x + 2 y + 4 z */
  uint8_t *side;     /* [n][2 dim] VpSide */
  uint8_t *mixed;    /* [n] 1: some side is MIXED or WRAP, so that VP_FORM_REPLACE is not possible */
  uint8_t *cover;    /* [nlocal] bit c: a patch of colour c holds the cell */
  int32_t *whole;    /* [n] of a selection: the patches' numbers among all; else NULL */
} VpPatches;
PetscErrorCode VpPatchesCreate(VpMesh, VpPatches *);
/* corners.c: those that hold a cell at a re-entrant edge, or at one where Dirichlet meets Neumann at 180 degrees, in the order of `all` */
PetscErrorCode VpPatchesSelectCorners(VpMesh, const VpPatches *all, VpPatches *corners);
PetscErrorCode VpPatchesDestroy(VpPatches *);
