/* Cells of a DMPLEX that lie anywhere: finds their places in a lattice, or their corners if they form none, and the nodes of their maps. */
#include "usergrid.h"
#include <petscdmplex.h>

const int VpPlexVertexAt[4][8] = {{0}, {0}, {0, 1, 3, 2}, {0, 3, 1, 2, 4, 5, 7, 6}};

/* a cell that has not 2^dim vertices: its number, how many it has (0: there is no such cell), and their mean */
typedef struct {
  double cell, vertices, x[3];
} OddCell;

typedef struct {
  DM              plex;
  int             dim, corners;
  PetscInt        first, last; /* the vertices */
  const PetscInt *number;      /* of vertices on all ranks; negative for those of other ranks */
  PetscInt       *corner;      /* [ncell][corners] numbers of the own cells' vertices */
  OddCell         odd;
  PetscBool       same; /* The maps of all cells have one degree. */
} Cells;

/* vertex [corners] = the vertices of a point's closure in PETSc's order; *n: their number */
static PetscErrorCode GetVertices(const Cells *c, PetscInt point, PetscInt *n, PetscInt vertex[8])
{
  PetscInt *closure = NULL, count;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(DMPlexGetTransitiveClosure(c->plex, point, PETSC_TRUE, &count, &closure));
  for (PetscInt i = 0; i < count; i++) {
    if (closure[2 * i] < c->first || closure[2 * i] >= c->last) continue;
    if (*n < c->corners) vertex[*n] = closure[2 * i];
    ++*n;
  }
  PetscCall(DMPlexRestoreTransitiveClosure(c->plex, point, PETSC_TRUE, &count, &closure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the degree of a cell's map. */
static PetscErrorCode FindOrder(Cells *c, PetscInt cell, PetscInt *order)
{
  const PetscScalar *array;
  PetscScalar       *x;
  PetscBool          discontinuous;
  PetscInt           n, k = 1;

  PetscFunctionBegin;
  PetscCall(DMPlexGetCellCoordinates(c->plex, cell, &discontinuous, &n, &array, &x));
  PetscCall(DMPlexRestoreCellCoordinates(c->plex, cell, &discontinuous, &n, &array, &x));
  while (k < VP_MAX_DEGREE && PetscPowInt(k + 1, c->dim) * c->dim < n) k++;
  if (PetscPowInt(k + 1, c->dim) * c->dim != n || (*order && *order != k)) c->same = PETSC_FALSE;
  *order = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RememberOdd(Cells *c, PetscInt cell, PetscInt vertices)
{
  const PetscScalar *array;
  PetscScalar       *x;
  PetscBool          discontinuous;
  PetscInt           n;

  PetscFunctionBegin;
  c->odd = (OddCell){(double)cell, (double)vertices, {0, 0, 0}};
  PetscCall(DMPlexGetCellCoordinates(c->plex, cell, &discontinuous, &n, &array, &x));
  for (PetscInt i = 0; i < n; i++) c->odd.x[i % c->dim] += (double)PetscRealPart(x[i]) * c->dim / n;
  PetscCall(DMPlexRestoreCellCoordinates(c->plex, cell, &discontinuous, &n, &array, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks unless cells are quadrilaterals or hexahedra. */
static PetscErrorCode CheckKind(const Cells *c, MPI_Comm comm)
{
  OddCell     odd = c->odd;
  char        at[64];
  PetscMPIInt first;

  PetscFunctionBegin;
  PetscCall(VpFirstRank(comm, (PetscBool)(odd.vertices > 0), &first));
  if (first == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&odd, sizeof(odd) / sizeof(double), MPI_DOUBLE, first, comm));
  PetscCall(PetscSNPrintf(at, sizeof(at), c->dim == 3 ? "(%g, %g, %g)" : "(%g, %g)", odd.x[0], odd.x[1], odd.x[2]));
  SETERRQ(comm, PETSC_ERR_ARG_WRONG,
          "On rank %d: DMConvert(): cells of the DMPLEX must be quadrilaterals in 2D, hexahedra in 3D, and cell %.0f, near %s, has %.0f "
          "corners. Gmsh recombines triangles by Mesh.RecombineAll = 1, and makes hexahedra of others by Mesh.SubdivisionAlgorithm = 2",
          first, odd.cell, at, odd.vertices);
}

/* Fills what is known of the own cells one by one. Ensures: an error on all ranks unless they are quadrilaterals or hexahedra with maps of
   one degree. */
static PetscErrorCode FillCells(Cells *c, VpUserGrid *grid)
{
  PetscInt order = 0, range[2];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < grid->ncell; i++) {
    PetscInt n, vertex[8];

    PetscCall(GetVertices(c, grid->point[i], &n, vertex));
    if (n != c->corners && !(c->odd.vertices > 0)) PetscCall(RememberOdd(c, grid->point[i], n));
    for (int k = 0; k < c->corners && n == c->corners; k++) {
      const PetscInt number = c->number[vertex[VpPlexVertexAt[c->dim][k]] - c->first];

      c->corner[i * c->corners + k] = number < 0 ? -(number + 1) : number;
    }
    PetscCall(FindOrder(c, grid->point[i], &order));
  }
  PetscCall(CheckKind(c, grid->comm));
  range[0] = order ? -order : -PETSC_MAX_INT;
  range[1] = order;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_INT, MPI_MAX, grid->comm));
  if (-range[0] != range[1]) c->same = PETSC_FALSE;
  PetscCall(
    VpCheckEverywhere(grid->comm, c->same,
                      "DMConvert(): the coordinates of the DMPLEX must be polynomials of one degree, 1 to 8, in every variable of a cell"));
  grid->order = (int)range[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X [nodes][dim] of a cell, in the cell's own order */
static PetscErrorCode FindCellNodes(const Cells *c, PetscInt cell, int order, const PetscReal reference[], PetscReal X[])
{
  const PetscScalar *array;
  PetscScalar       *x;
  PetscBool          discontinuous;
  PetscInt           n;

  PetscFunctionBegin;
  if (order > 1) {
    PetscCall(DMPlexReferenceToCoordinates(c->plex, cell, VpMapNodes(c->dim, order), reference, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMPlexGetCellCoordinates(c->plex, cell, &discontinuous, &n, &array, &x));
  for (int i = 0; i < c->corners * c->dim; i++) X[i] = PetscRealPart(x[VpPlexVertexAt[c->dim][i / c->dim] * c->dim + i % c->dim]);
  PetscCall(DMPlexRestoreCellCoordinates(c->plex, cell, &discontinuous, &n, &array, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills grid->node with the nodes in the cells' own order. */
static PetscErrorCode FindPlexNodes(const Cells *c, VpUserGrid *grid)
{
  const int n = grid->order + 1, nodes = VpMapNodes(c->dim, grid->order);
  double    point[VP_MAX_N];
  PetscReal reference[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N];
  PetscBool finite = PETSC_TRUE;

  PetscFunctionBegin;
  VpGaussLobatto(grid->order, point);
  for (int i = 0; i < nodes; i++) {
    for (int d = 0, q = i; d < c->dim; d++, q /= n) reference[i * c->dim + d] = 2 * point[q % n] - 1;
  }
  PetscCall(PetscMalloc1(grid->ncell * nodes * c->dim + 1, &grid->node));
  for (PetscInt i = 0; i < grid->ncell; i++)
    PetscCall(FindCellNodes(c, grid->point[i], grid->order, reference, grid->node + i * nodes * c->dim));
  for (PetscInt i = 0; i < grid->ncell * nodes * c->dim; i++) finite = (PetscBool)(finite && !PetscIsInfOrNanReal(grid->node[i]));
  PetscCall(VpCheckEverywhere(grid->comm, finite, "DMConvert(): a coordinate of the DMPLEX is no finite number"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aligns the lattice's directions with the axes as far as the first cell allows. */
static void ChooseDirections(const Cells *c, const VpUserGrid *grid, VpPlace *first)
{
  static const int8_t order[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const int           n = grid->order + 1, stride[3] = {1, n, n * n};
  double              along[3][3], best = -1;

  for (int a = 0; a < c->dim; a++) { /* by the edges at the first corner */
    double length = 0;

    for (int d = 0; d < c->dim; d++) {
      along[a][d] = grid->node[grid->order * stride[a] * c->dim + d] - grid->node[d];
      length += along[a][d] * along[a][d];
    }
    for (int d = 0; d < c->dim; d++) along[a][d] /= sqrt(length);
  }
  for (int i = 0; i < (c->dim == 3 ? 6 : 2); i++) {
    double sum = 0;

    for (int d = 0; d < c->dim; d++) sum += fabs(along[order[i][d]][d]);
    if (sum <= best * (1 + 1e-9)) continue;
    best = sum;
    for (int d = 0; d < c->dim; d++) {
      first->axis[d] = order[i][d];
      first->flip[d] = along[order[i][d]][d] < 0;
    }
  }
}

#define MANY_TREES 4000 /* fewer keep the order of the mesh */

/* Makes cells that form no lattice trees. corner: of all ranks' cells, which this frees; first: number of the first own cell */
static PetscErrorCode NumberTrees(Cells *c, VpUserGrid *grid, PetscInt total, PetscInt first, PetscInt corner[])
{
  PetscInt *number;

  PetscFunctionBegin;
  PetscCheck(grid->order, grid->comm, PETSC_ERR_PLIB, "Cells of a DMPLEX that form no lattice have no nodes");
  PetscCall(PetscMalloc1(total, &number));
  for (PetscInt i = 0; i < total; i++) number[i] = i;
  if (total > MANY_TREES) PetscCall(VpOrderTrees(grid, number));
  PetscCall(PetscMalloc1(total * c->corners, &grid->corner));
  for (PetscInt i = 0; i < total * c->corners; i++) {
    grid->corner[number[i / c->corners] * c->corners + i % c->corners] = corner[i];
    grid->nvertex = PetscMax(grid->nvertex, corner[i] + 1);
  }
  for (PetscInt i = 0; i < grid->ncell; i++) grid->place[i] = (VpPlace){.at = {number[first + i], 0, 0}, .axis = {0, 1, 2}};
  for (int d = 0; d < 3; d++) {
    grid->n[d] = d ? 1 : total;
    grid->periodic[d] = PETSC_FALSE;
  }
  PetscCall(PetscFree(number));
  PetscCall(PetscFree(corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the places of own cells. Meanwhile each rank has the vertices of all ranks' cells. */
static PetscErrorCode FindPlaces(Cells *c, VpUserGrid *grid)
{
  VpUserLattice l = {.dim = c->dim};
  PetscInt     *corner, before = 0;
  VpPlace       first = {.axis = {0, 1, 2}};
  PetscMPIInt   root;

  PetscFunctionBegin;
  PetscCall(VpFirstRank(grid->comm, (PetscBool)(grid->ncell > 0), &root));
  PetscCheck(root < INT_MAX, grid->comm, PETSC_ERR_SUP, "DMConvert(): the DMPLEX has no cells");
  if (grid->ncell) ChooseDirections(c, grid, &first);
  PetscCallMPI(MPI_Bcast(&first, sizeof(first), MPI_BYTE, root, grid->comm));
  PetscCall(VpGatherAll(grid->comm, grid->ncell, (size_t)c->corners * sizeof(PetscInt), c->corner, &l.n, &corner));
  PetscCallMPI(MPI_Scan(&grid->ncell, &before, 1, MPIU_INT, MPI_SUM, grid->comm));
  PetscCall(PetscMalloc1(l.n, &l.place));
  l.corner = corner;
  l.place[0] = first;
  PetscCall(VpPlaceCells(&l));
  PetscCall(PetscArraycpy(grid->n, l.size, 3));
  PetscCall(PetscArraycpy(grid->periodic, l.periodic, 3));
  PetscCall(PetscArraycpy(grid->place, l.place + before - grid->ncell, grid->ncell));
  PetscCall(PetscFree(l.place));
  if (l.why) PetscCall(NumberTrees(c, grid, l.n, before - grid->ncell, corner));
  else PetscCall(PetscFree(corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns the nodes of a cell into the order of its place. */
static void TurnNodes(const VpPlace *place, int dim, int order, PetscReal node[])
{
  PetscReal old[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N];
  const int nodes = VpMapNodes(dim, order);

  for (int i = 0; i < nodes * dim; i++) old[i] = node[i];
  for (int i = 0; i < nodes; i++) {
    for (int d = 0; d < dim; d++) node[i * dim + d] = old[VpPlaceIndex(place, dim, order + 1, i) * dim + d];
  }
}

/* Fills label[side] of a cell. The vertices of a face tell its side. */
static PetscErrorCode TakeSideLabels(const Cells *c, DMLabel sides, PetscInt cell, const VpPlace *place, VpUserCell *to)
{
  const PetscInt *face;
  PetscInt        faces, number, all, vertex[8];

  PetscFunctionBegin;
  PetscCall(GetVertices(c, cell, &all, vertex));
  PetscCall(DMPlexGetConeSize(c->plex, cell, &faces));
  PetscCall(DMPlexGetCone(c->plex, cell, &face));
  for (PetscInt i = 0; i < faces; i++) {
    PetscInt n, of[8];
    int      common[2] = {~0, ~0}; /* bits that are 0, or 1, in all corners of the face */

    PetscCall(DMLabelGetValue(sides, face[i], &number));
    if (number < 0) continue;
    PetscCall(GetVertices(c, face[i], &n, of));
    for (int k = 0; k < c->corners; k++) {
      for (PetscInt v = 0; v < n; v++) {
        if (of[v] != vertex[VpPlexVertexAt[c->dim][k]]) continue;
        common[0] &= ~k;
        common[1] &= k;
      }
    }
    for (int side = 0; side < 2 * c->dim; side++) {
      const int own = VpPlaceSide(place, side);

      if (common[own % 2] >> own / 2 & 1) to->label[side] = number;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid has the places as coordinates. */
static PetscErrorCode FillPlaces(const Cells *c, VpUserGrid *grid, DMLabel sides)
{
  PetscFunctionBegin;
  for (int d = 0; d < c->dim; d++) PetscCall(VpNumberFaces(grid, d));
  for (PetscInt i = 0; i < grid->ncell; i++) {
    VpUserCell *to = grid->cell + i;

    for (int d = 0; d < c->dim; d++) to->at[d] = grid->place[i].at[d];
    for (int d = 0; d < 3; d++) to->n[d] = 1;
    for (int side = 0; side < 2 * c->dim; side++) to->label[side] = -1;
    if (sides) PetscCall(TakeSideLabels(c, sides, grid->point[i], &grid->place[i], to));
    TurnNodes(&grid->place[i], c->dim, grid->order, grid->node + i * VpMapNodes(c->dim, grid->order) * c->dim);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceCells(Cells *c, VpUserGrid *grid, DMLabel sides)
{
  PetscFunctionBegin;
  PetscCall(FillCells(c, grid));
  PetscCall(FindPlexNodes(c, grid));
  PetscCall(FindPlaces(c, grid));
  PetscCall(FillPlaces(c, grid, sides));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPlacePlexCells(DM plex, DMLabel sides, VpUserGrid *grid)
{
  Cells          c = {.plex = plex, .dim = grid->dim, .corners = 1 << grid->dim, .same = PETSC_TRUE};
  IS             numbers;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(DMPlexGetDepthStratum(plex, 0, &c.first, &c.last));
  PetscCall(DMPlexGetVertexNumbering(plex, &numbers));
  PetscCall(PetscMalloc1(grid->ncell * c.corners, &c.corner));
  PetscCall(ISGetIndices(numbers, &c.number));
  error = PlaceCells(&c, grid, sides);
  PetscCall(ISRestoreIndices(numbers, &c.number));
  PetscCall(PetscFree(c.corner));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
