/* The element restriction: the nodes of cells, and how values move between vectors with an entry per node and vectors of a level.

   A continuous function has the degree of the cells and is given by its values at their nodes, a grid of points. Let Z gather the values
   of the cells' nodes, P take coefficients of a cell to values at its nodes (VpProblem.nodal), T have a weight t of every cell, and N =
   Z^T T 1. Wide cells, of degree 1, have nodes at 3 points along every direction, and P takes a function to its values there. Then N^-1
   Z^T T P is the mean of the cells' values at a node, weighted by t, and the adjoint takes residuals of nodes to those of cells. E = P^-1
   Z, where P has the factor volume^-1/2, takes a continuous function to its coefficients in cells, and E^T A E is the operator on
   continuous functions. */
#pragma once
#include "level.h"
#include "../kernels/entities.h"

typedef struct VpNodes_ *VpNodes;
struct VpNodes_ {
  int              refct;
  VpMesh           mesh;
  int              degree;
  PetscBool        wide;
  double           point[VP_MAX_N]; /* places of nodes along each direction of the cell [0,1]^dim: degree + 1 or, of wide cells, 3 */
  const VpBackend *backend;
  PetscInt         rows;                 /* own entries of vectors of nodes */
  PetscSF          sf;                   /* roots: own entries; leaves: the nodes of own cells. NULL on one rank, where nodes are entries */
  PetscInt         kept;                 /* then: own entries are the nodes from this one on, and no leaves; -1: they are leaves */
  int32_t         *node, *start, *place; /* those of the view on the host; NULL where the view's are on a device, until they are needed */
  VpNodeView       view;
  const double    *root;  /* volume^1/2 [nown] */
  double          *cells; /* [nown][n^dim] values of cells, on the backend */
  double          *nodes; /* [nnode] on several ranks: values of nodes, on the backend */
  VpArrays         arrays;
};
/* What cells have. */
typedef struct {
  int               degree;
  PetscBool         wide;     /* Cells are wide. */
  const double     *point;    /* [n]; NULL: the Gauss-Lobatto points. Cells that are wide have their own. */
  const VpEntities *entities; /* Nodes have the numbers of the mesh's entities; or, if this is NULL: */
  const PetscInt   *node;  /* [nown][places], x fastest: the entry of every node in vectors with this layout; -1: the function is 0 there */
  PetscBool         known; /* `node` needs no check. */
} VpNodesGiven;
/* Collective. Errors on all ranks: an entry that does not exist, an entry for two different points of the domain. */
PetscErrorCode VpNodesCreate(VpMesh, const VpNodesGiven *, const VpBackend *, PetscLayout, VpNodes *);
PetscErrorCode VpNodesDestroy(VpNodes *);
/* nodenumbers.c: *rows = how many nodes of own cells this rank owns. Collective. Requires: the mesh is not adaptive */
PetscErrorCode VpEntitiesCreate(VpMesh, int degree, PetscInt *rows, VpEntities **);
PetscErrorCode VpEntitiesDestroy(VpEntities **);
/* *node [nown][n^dim] = the global numbers of the nodes of own cells, which do not depend on the number of ranks. The caller frees it. */
PetscErrorCode VpNodesNumber(const VpEntities *, PetscInt **node);
/* Ensures: an error on all ranks unless numbers of the places of this rank's cells fit 32 bits. Collective */
PetscErrorCode VpCheckPlaces(MPI_Comm, PetscInt ncell, int places);
/* nodelists.c: Fills nodes->node and, on several ranks, the SF from the entries of nodes. The same errors. Where the backend numbers nodes,
   nodes->view.node is set in place of nodes->node. */
PetscErrorCode VpNodesList(VpNodes, const VpNodesGiven *, PetscLayout);
PetscErrorCode VpNodesListPlaces(VpNodes); /* fills nodes->start and place, unless they exist */
/* The weights of means, of t = sum_d a_d volume / h_d^2 of cells. */
typedef struct {
  const double *of_cell, *of_node; /* t / volume^1/2 [nown] and 1/N [nnode]. 1/N is 0 where no cell has the node. */
  VpArrays      arrays;
} VpNodeMeans;
/* one [rows], on the backend, or NULL: 1 where a cell of any rank has the entry, else 0. Collective */
PetscErrorCode VpNodesWeigh(VpNodes, const VpProblem *, VpNodeMeans *, double *one);
/* nodes.c: of_node [nnode] = 1/N for weights t [nown], and `one`; all are on the backend */
PetscErrorCode VpNodesSumWeights(VpNodes, const double *t, double *of_node, double *one);
PetscErrorCode VpNodeMeansDestroy(VpNodeMeans *);
/* nodes.c: between entries `rows` and values [nnode] at the nodes of own cells: each gets its entry's; each is added, or by MPI_REPLACE
   written, to its entry, which is 0 where no node has it. type: of the memory of both. Requires: several ranks */
PetscErrorCode VpNodesFromEntries(VpNodes, PetscMemType, const double *rows, double *values);
PetscErrorCode VpNodesToEntries(VpNodes, PetscMemType, MPI_Op, const double *values, double *rows);
/* nodes.c: diagonal [rows], on the backend, = that of a form */
PetscErrorCode VpNodesSumForm(VpNodes, const VpNodeForm *, double *diagonal);
/* diagonal [rows], on the backend, = that of the problem's form for continuous functions, of a box where cells are mapped; 0 where no cell
   has the entry. point [n]: places of the nodes along each direction. Where cells are wide, functions are those of cells half as wide. */
PetscErrorCode VpNodesDiagonal(VpNodes, const VpProblem *, const double point[], double diagonal[]);
/* *most: the largest eigenvalue of D^-1 A on a cell alone, where D is the diagonal of its own form A, over all cells. Collective */
PetscErrorCode VpNodesLargest(VpNodes, const VpProblem *, double *most);

/* Spread: *gather makes residuals of cells from *values, those of nodes, r [rows]. Average, its adjoint: z [rows] = the mean of
   nodes->cells. */
PetscErrorCode VpNodesSpread(VpNodes, const VpNodeMeans *, const double *r, VpGather *gather, const double **values);
PetscErrorCode VpNodesAverage(VpNodes, const VpNodeMeans *, double *z);
/* x [nown][n^dim] = E u; r [rows] = E^T b, of an outer level with nodal vectors; r = volume^1/2 Z^T cells. All are on the level's
   backend. */
PetscErrorCode VpNodesInject(VpNodes, VpLevel, const double *u, double *x);
PetscErrorCode VpNodesCollect(VpNodes, VpLevel, const double *b, double *r);
PetscErrorCode VpNodesAddUp(VpNodes, const double *cells, double *r);
/* The same for an operator with numbers at points, of an outer level on the backend of the nodes. */
PetscErrorCode VpNodesOperatorDiagonal(VpNodes, VpLevel, double diagonal[]);
