/* A DMDA or DMPLEX as cells between the faces of a grid. */
#pragma once
#include "internal.h"
#include "lattice.h"

#define VP_GRID_SLACK 1e-8 /* tolerance for equal coordinates and widths, relative to a width */

/* a cell of the mesh, or a box of n[] such cells */
typedef struct {
  PetscInt at[3], n[3]; /* index of its lower face, and number of faces to its upper one; the third direction has 0 and 1 in 2D */
  PetscInt label[6];    /* labels of its sides, -1 for none */
  PetscInt region;      /* label of the cell, -1 for none */
} VpUserCell;
#define VP_USER_CELL \
  (VpUserCell) \
  { \
    .n = {1, 1, 1}, .label = {-1, -1, -1, -1, -1, -1}, .region = -1 \
  }

typedef struct {
  MPI_Comm    comm;
  int         dim, degree; /* degree of a DMDA that has (degree + 1)^dim values per cell; 0: none */
  PetscInt    n[3];        /* number of widths between faces; n[2] = 1 in 2D */
  PetscReal  *face[3];     /* [n + 1] */
  PetscBool   periodic[3];
  PetscBool   labeled, regions; /* Some rank has labels of sides; of cells. */
  PetscBool   fills;            /* The cells of all ranks fill the grid. */
  double      total;            /* number of cells of all ranks, which may exceed PetscInt */
  PetscInt    ncell;
  VpUserCell *cell;          /* [ncell] own cells */
  PetscInt nvertex, *corner; /* of cells that form no lattice: the number of vertices, and those of the cells of all ranks, [n[0]][2^dim], x
                                   fastest. The places of cells are their numbers as trees. Else NULL */
  PetscInt  *point;          /* [ncell] points of a DMPLEX's own cells */
  VpPlace   *place;          /* [ncell] how its cells lie in the grid; `at` is that of `cell` */
  int        order; /* degree of the cells' maps; 0: cells are boxes. Else the grid has the places of cells as coordinates: 0, 1, ... */
  PetscReal *node;  /* [ncell][(order+1)^dim][dim] nodes of own cells, as in VpMap */
  PetscReal *x[3];  /* coordinates of a DMDA's entries; lower and upper ends of a DMPLEX's own cells, [ncell][2] */
} VpUserGrid;
/* All are collective. Ensures: an error on all ranks that gives the reason unless cells are axis-parallel boxes, or have places in a
   lattice. mesh: on these ranks, or on each of them by itself, with the cells that are its own */
PetscErrorCode VpUserGridCreate(MPI_Comm, DM mesh, VpUserGrid *);
PetscErrorCode VpUserGridDestroy(VpUserGrid *);
/* gridda.c and gridplex.c: fill the grid except total and fills */
PetscErrorCode VpGridOfDA(DM, VpUserGrid *);
PetscErrorCode VpGridOfPlex(DM, VpUserGrid *);
/* gridcurved.c: finds the order and the nodes of a DMPLEX's own cells, their places, and labels of sides */
PetscErrorCode VpPlacePlexCells(DM, DMLabel sides, VpUserGrid *);
/* treeorder.c. Collective. number [cells of all ranks] = the numbers that they should have as trees. Requires: order and node */
PetscErrorCode   VpOrderTrees(const VpUserGrid *, PetscInt number[]);
extern const int VpPlexVertexAt[4][8]; /* [dim][2^dim] PETSc's number of the vertex at a corner of a cell, x fastest */
/* Sets the coordinates of the n[d] + 1 faces along d to 0, 1, ... */
PetscErrorCode VpNumberFaces(VpUserGrid *, int d);
/* index along d of the cell that contains x */
PetscInt VpUserCellAt(const VpUserGrid *, int d, PetscReal x);
/* Tests whether the `count` widths from face i on are equal. */
PetscBool VpAreEqual(const PetscReal face[], PetscInt i, PetscInt count);
/* gridcells.c: sets the DM's boxes, which the cells form, and their labels. Requires: the cells do not fill the grid. */
PetscErrorCode VpSetUserCells(DM, const VpUserGrid *);
/* convert.c: for DMConvert() */
PetscErrorCode DMConvert_VPatchDG(DM mesh, DMType, DM *);
/* the DM of the grid of a mesh, and the map of DMVPatchDGCreateCellMap() */
PetscErrorCode VpUserGridConvert(DM mesh, const VpUserGrid *, DM *);
PetscErrorCode VpUserGridMap(DM, const VpUserGrid *, PetscSF *map);
/* Creates a map whose roots are the own cells of the mesh and whose leaves are the n points, and frees the points. Ensures: an error on all
   ranks that says `outside` if a point is in no cell. */
PetscErrorCode VpMapPoints(VpMesh, PetscInt n, PetscReal **point, const char outside[], PetscSF *map);
