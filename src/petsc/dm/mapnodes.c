/* The map of cells by the coordinates of its nodes: from a vector, or from the map of the mesh that was refined or coarsened. */
#include "internal.h"
#include "../../base/memory.h"
#include "../../base/threads.h"

/* *all = the map with own cells and ghosts */
static PetscErrorCode GetGhostNodes(VpMesh mesh, VpMap map, VpMap *all)
{
  const size_t each = (size_t)(VpMapNodes(map->dim, map->degree) * map->dim);

  PetscFunctionBegin;
  PetscCall(VpMapCreate(map->dim, map->degree, mesh->nsweep, all));
  PetscCall(PetscArraycpy((*all)->node, map->node, (size_t)mesh->nown * each));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SWEEP, each, MPI_DOUBLE, map->node, (*all)->node + (size_t)mesh->nown * each));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* number of node i of n^(dim-1) on a side among the nodes of a cell */
static int NodeOn(int side, int n, int i)
{
  const int stride = VpLineStride(side / 2, n, n * n);

  return VpLineStart(n, stride, i) + (side % 2 ? (n - 1) * stride : 0);
}

/* the nodes of own cells, and of those beyond their sides */
typedef struct {
  VpMesh  mesh;
  VpMap   map;
  double *ghost; /* [nface - nown][nodes][dim] */
} Sides;

static const double *NodesOf(const Sides *s, int32_t cell)
{
  const size_t each = (size_t)(VpMapNodes(s->map->dim, s->map->degree) * s->map->dim);

  return cell < s->mesh->nown ? s->map->node + (size_t)cell * each : s->ghost + (size_t)(cell - s->mesh->nown) * each;
}

/* whether the nodes on a cell's side are those of the cell beyond, to rounding */
static PetscBool NodesMeet(const Sides *s, int32_t cell, int side, int32_t beyond, int turn)
{
  const int     dim = s->map->dim, n = s->map->degree + 1;
  const double *own = NodesOf(s, cell), *other = NodesOf(s, beyond);
  double        lower[3], upper[3], size = 0, gap = 0;

  for (int q = 0; q < VpFaceSize(n, dim); q++) {
    const double *X = own + NodeOn(side, n, q) * dim, *Y = other + NodeOn(VpTurnSide(side, turn), n, VpTurnPoint(n, turn, q)) * dim;

    for (int i = 0; i < dim; i++) gap = PetscMax(gap, fabs(X[i] - Y[i]));
  }
  if (gap == 0) return PETSC_TRUE;
  VpMapBounds(s->map, cell, lower, upper);
  for (int i = 0; i < dim; i++) size = PetscMax(size, upper[i] - lower[i]);
  return (PetscBool)(gap <= 1e-9 * size);
}

/* Ensures: an error on all ranks unless cells meet at all faces but those around periodic directions. */
static PetscErrorCode CheckMeeting(VpMesh mesh, VpMap map)
{
  const size_t each = (size_t)(VpMapNodes(map->dim, map->degree) * map->dim);
  Sides        s = {.mesh = mesh, .map = map};
  double       most = -PETSC_MAX_REAL; /* - the first cell that does not meet another one, but for cells around periodic directions */

  PetscFunctionBegin;
  PetscCall(VpMallocLarge((size_t)(mesh->nface - mesh->nown) * each + 1, &s.ghost));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, each, MPI_DOUBLE, map->node, s.ghost));
  VP_LOOP_MOST (cell, mesh->nown, most) {
    for (int side = 0; side < 2 * mesh->dim; side++) {
      const int32_t beyond = VpMeshNeighbor(mesh, cell, side);
      const int     turn = VpMeshTurn(mesh, cell, side);

      if (beyond < 0 || (side % 2 == 0 && !turn) || VpIsAround(mesh, cell, side / 2)) continue;
      if (!NodesMeet(&s, cell, side, beyond, turn)) most = PetscMax(most, -(double)(mesh->first + cell));
    }
  }
  PetscCall(PetscFree(s.ghost));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  PetscCheck(most == -PETSC_MAX_REAL, mesh->comm, PETSC_ERR_ARG_WRONG,
             "DMVPatchDGSetMapCoordinates(), DMVPatchDGSetTrees(), DMConvert(): cells do not meet, cell %" PetscInt64_FMT
             " is the first. Both cells of a face need the same nodes there",
             (PetscInt64)-most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to [n][each] = blocks of a vector of nodes, with the numbers block [n], or this rank's own cells' blocks for NULL. Ensures: an error on
   all ranks unless coordinates are finite */
static PetscErrorCode GetBlocks(VpMesh mesh, Vec nodes, PetscInt n, PetscInt each, const PetscInt block[], double to[])
{
  PetscBool        finite = PETSC_TRUE;
  const PetscReal *x;
  Vec              own;
  IS               numbers;
  VecScatter       scatter;

  PetscFunctionBegin;
  PetscCall(VecCreateMPI(mesh->comm, n * each, PETSC_DETERMINE, &own));
  if (block) PetscCall(ISCreateBlock(mesh->comm, each, n, block, PETSC_COPY_VALUES, &numbers));
  else PetscCall(ISCreateStride(mesh->comm, n * each, mesh->first * each, 1, &numbers));
  PetscCall(VecScatterCreate(nodes, numbers, own, NULL, &scatter));
  PetscCall(ISDestroy(&numbers));
  PetscCall(VecScatterBegin(scatter, nodes, own, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, nodes, own, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecGetArrayRead(own, &x));
  PetscCall(PetscArraycpy(to, x, n * each));
  for (PetscInt i = 0; i < n * each; i++) finite = (PetscBool)(finite && !PetscIsInfOrNanReal(x[i]));
  PetscCall(VecRestoreArrayRead(own, &x));
  PetscCall(VecDestroy(&own));
  PetscCall(VpCheckEverywhere(mesh->comm, finite, "DMVPatchDGSetMapCoordinates(): a coordinate is no finite number"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGFillByVector(DM dm, VpMesh mesh, VpMap map)
{
  const Vec      nodes = DMVPatchDGData(dm)->map.nodes;
  const PetscInt each = VpMapNodes(map->dim, map->degree) * map->dim;
  PetscInt       n;

  PetscFunctionBegin;
  PetscCall(VecGetSize(nodes, &n));
  PetscCheck(n == mesh->ncell * each, mesh->comm, PETSC_ERR_ARG_SIZ,
             "DMVPatchDGSetMapCoordinates(): the vector has %" PetscInt_FMT " numbers, and %" PetscInt_FMT
             " cells with a map of degree %d need %" PetscInt_FMT " (DMVPatchDGSetMapDegree())",
             n, mesh->ncell, map->degree, mesh->ncell * each);
  PetscCall(GetBlocks(mesh, nodes, mesh->nown, each, NULL, map->node));
  PetscCall(CheckMeeting(mesh, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the number of the lattice's place that holds a cell, or -1; lower [dim]: the place's lower corner */
static PetscInt FindPlace(VpGeometry g, int32_t cell, const PetscInt lattice[3], PetscReal lower[3])
{
  const VpDomain domain = g->domain;
  PetscReal      low[3], size[3];
  PetscInt       number = 0;
  PetscBool      inside = PETSC_TRUE;

  for (int d = 0; d < domain->dim && domain->trees; d++) lower[d] = domain->lower[3 * (size_t)g->box[cell] + (size_t)d];
  if (domain->trees) return g->box[cell] < lattice[0] ? g->box[cell] : -1;
  VpGeometryBounds(g, cell, low, size);
  for (int d = g->domain->dim - 1; d >= 0; d--) {
    lower[d] = PetscFloorReal(low[d] + size[d] / 2);
    inside = (PetscBool)(inside && low[d] > lower[d] - 1e-9 && low[d] + size[d] < lower[d] + 1 + 1e-9 && lower[d] > -0.5 &&
                         lower[d] < (PetscReal)lattice[d]);
    number = number * lattice[d] + (PetscInt)lower[d];
  }
  return inside ? number : -1;
}

/* the places of a lattice in which own cells lie */
typedef struct {
  VpMesh          mesh;
  const PetscInt *lattice;
  VpMap           map, places; /* of the cells, of places */
  PetscInt       *number;      /* of the place of a cell [nown] */
  int32_t        *place;       /* the same in `places` [nown]: cells that follow one another in one place share it */
} Places;

static void FillFromPlace(const Places *p, int32_t c)
{
  const VpMap map = p->map;
  const int   dim = p->mesh->dim, n = map->degree + 1, each = VpMapNodes(dim, map->degree) * dim;
  double      x[3][VP_MAX_N] = {{0}};
  PetscReal   low[3], size[3], lower[3];
  VpMapGrid   grid;

  (void)FindPlace(p->mesh->geometry, c, p->lattice, lower);
  VpGeometryBounds(p->mesh->geometry, c, low, size);
  for (int i = 0; i < dim * n; i++) x[i / n][i % n] = low[i / n] - lower[i / n] + size[i / n] * map->point[i % n];
  VpMapGridSet(p->places, (int[]){n, n, dim == 3 ? n : 1}, (const double *const[]){x[0], x[1], x[2]}, &grid);
  VpMapEvaluate(p->places, p->place[c], &grid, map->node + (size_t)c * (size_t)each, NULL);
}

/* Sets place; number [*n] becomes the places' numbers. */
static void JoinPlaces(Places *p, int32_t *n)
{
  *n = 0;
  for (int32_t c = 0; c < p->mesh->nown; c++) {
    if (!*n || p->number[c] != p->number[*n - 1]) p->number[(*n)++] = p->number[c];
    p->place[c] = *n - 1;
  }
}

PetscErrorCode DMVPatchDGFillByLattice(DM dm, VpMesh mesh, VpMap map)
{
  const VpMapSettings *s = &DMVPatchDGData(dm)->map;
  Places               p = {.mesh = mesh, .lattice = s->lattice, .map = map};
  PetscBool            inside = PETSC_TRUE;
  int32_t              n;
  PetscErrorCode       error;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(mesh->nown, &p.number, mesh->nown, &p.place));
  VP_LOOP (c, mesh->nown) p.number[c] = FindPlace(mesh->geometry, c, s->lattice, (PetscReal[3]){0});
  for (int32_t c = 0; c < mesh->nown; c++) inside = (PetscBool)(inside && p.number[c] >= 0);
  JoinPlaces(&p, &n);
  PetscCall(VpMapCreate(mesh->dim, s->order, n, &p.places));
  error = VpCheckEverywhere(mesh->comm, inside,
                            "the map of a DM that DMConvert() made needs its boxes, halved at least as often as by DMConvert(). Change "
                            "neither, or set another map");
  if (!error) error = GetBlocks(mesh, s->nodes, n, VpMapNodes(mesh->dim, s->order) * mesh->dim, p.number, p.places->node);
  if (!error) {
    VP_LOOP (c, mesh->nown) FillFromPlace(&p, c);
  }
  PetscCall(PetscFree2(p.number, p.place));
  PetscCall(VpMapDestroy(&p.places));
  PetscCall(error);
  PetscCall(CheckMeeting(mesh, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell of another map, and its bounds in the boxes. */
typedef struct {
  VpMap     map;
  int32_t   cell;
  PetscReal bounds[6]; /* lower corner, size */
} Source;

/* Sets the nodes of a cell whose coordinates in the boxes lie in the source. */
static void FillFrom(const Source *s, VpGeometry g, int32_t cell, VpMap map)
{
  const int dim = map->dim, n = map->degree + 1;
  VpMapGrid grid;
  double    X[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N], *node = map->node + (size_t)cell * (size_t)(VpMapNodes(dim, map->degree) * dim);
  int       first[3];

  VpGeometryOverlap((VpGeometryCell){g, cell}, n, map->point, s->bounds, first, &grid);
  VpMapGridSet(s->map, grid.count, (const double *const[]){grid.x[0], grid.x[1], grid.x[2]}, &grid);
  VpMapEvaluate(s->map, s->cell, &grid, X, NULL);
  for (int q = 0; q < grid.size; q++) {
    const int at = VpMapGridPlace(&grid, first, n, q);

    for (int i = 0; i < dim; i++) node[at * dim + i] = X[q * dim + i];
  }
}

/* Fills the nodes from the cells of another mesh that cover the own ones. */
static PetscErrorCode FillByOverlap(VpMesh from, VpMesh mesh, VpMap map)
{
  const size_t each = (size_t)(VpMapNodes(map->dim, map->degree) * map->dim);
  Source       s;
  VpOverlap    o;

  PetscFunctionBegin;
  PetscCall(VpOverlapCreate(from, mesh, &o));
  PetscCall(VpMapCreate(map->dim, map->degree, o.n, &s.map));
  PetscCall(VpBroadcast(o.sf, each, MPI_DOUBLE, from->geometry->map->node, s.map->node));
  for (int32_t c = 0; c < mesh->nown; c++) {
    for (s.cell = o.first[c]; s.cell < o.first[c] + o.count[c]; s.cell++) {
      const VpOverlapCell *at = &o.cell[s.cell];

      for (int d = 0; d < map->dim; d++) {
        s.bounds[3 + d] = VpDomainWidth(mesh->geometry->domain, at->box, d) / (PetscReal)((int64_t)1 << at->depth);
        s.bounds[d] = mesh->geometry->domain->lower[3 * (size_t)at->box + d] + at->coord[d] * s.bounds[3 + d];
      }
      FillFrom(&s, mesh->geometry, c, map);
    }
  }
  PetscCall(VpMapDestroy(&s.map));
  PetscCall(VpOverlapDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGFillByMesh(VpMesh from, VpMesh mesh, VpMap map)
{
  Source s;

  PetscFunctionBegin;
  if (VpMeshCoarser(mesh) == from) {
    s.map = from->geometry->map;
    for (int32_t c = 0; c < mesh->nown; c++) {
      s.cell = mesh->relation->parent[c];
      VpGeometryBounds(from->geometry, s.cell, s.bounds, s.bounds + 3);
      FillFrom(&s, mesh->geometry, c, map);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (VpMeshCoarser(from) != mesh) {
    PetscCheck(VpMeshesOverlap(from, mesh), mesh->comm, PETSC_ERR_SUP,
               "Nodes (DMVPatchDGSetMapCoordinates()) are known on meshes that refine or coarsen cells of the same boxes, not on others");
    PetscCall(FillByOverlap(from, mesh, map));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetGhostNodes(from, from->geometry->map, &s.map));
  for (int32_t i = 0; i < mesh->nown << mesh->dim; i++) {
    s.cell = from->relation->child[i];
    if (s.cell < 0) continue;
    VpGeometryBounds(from->geometry, s.cell, s.bounds, s.bounds + 3);
    FillFrom(&s, mesh->geometry, i >> mesh->dim, map);
  }
  PetscCall(VpMapDestroy(&s.map));
  PetscFunctionReturn(PETSC_SUCCESS);
}
