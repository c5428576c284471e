/* The map of cells by the coordinates of its nodes: from a vector, or from the map of the mesh that was refined or coarsened. */
#include "internal.h"

/* *all = the map with own cells and ghosts: n cells, which travel with this kind */
static PetscErrorCode GetGhostNodes(VpMesh mesh, VpMap map, VpGhostKind kind, int32_t n, VpMap *all)
{
  const size_t each = (size_t)(VpMapNodes(map->dim, map->degree) * map->dim);

  PetscFunctionBegin;
  PetscCall(VpMapCreate(map->dim, map->degree, n, all));
  PetscCall(PetscArraycpy((*all)->node, map->node, (size_t)mesh->nown * each));
  PetscCall(VpMeshExchange(mesh, kind, each, MPI_DOUBLE, map->node, (*all)->node + (size_t)mesh->nown * each));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether the nodes on a cell's upper side along d are those of the cell beyond, to rounding */
static PetscBool Meet(VpMap all, int32_t cell, int d, int32_t beyond)
{
  const int     dim = all->dim, n = all->degree + 1, nodes = VpMapNodes(dim, all->degree), stride = d == 0 ? 1 : d == 1 ? n : n * n;
  const double *own = all->node + (size_t)cell * (size_t)(nodes * dim), *other = all->node + (size_t)beyond * (size_t)(nodes * dim);
  double        lower[3], upper[3], size = 0, gap = 0;

  VpMapBounds(all, cell, lower, upper);
  for (int i = 0; i < dim; i++) size = PetscMax(size, upper[i] - lower[i]);
  for (int q = 0; q < nodes; q++) {
    for (int i = 0; i < dim && q / stride % n == all->degree; i++)
      gap = PetscMax(gap, fabs(own[q * dim + i] - other[(q - all->degree * stride) * dim + i]));
  }
  return (PetscBool)(gap <= 1e-9 * size);
}

/* Ensures: an error on all ranks unless cells meet at all faces but those around periodic directions. */
static PetscErrorCode CheckMeeting(VpMesh mesh, VpMap map)
{
  PetscBool meet = PETSC_TRUE;
  VpMap     all;

  PetscFunctionBegin;
  PetscCall(GetGhostNodes(mesh, map, VP_GHOST_FACE, mesh->nface, &all));
  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    for (int d = 0; d < mesh->dim; d++) {
      const int32_t beyond = VpMeshNeighbor(mesh, cell, 2 * d + 1);
      PetscReal     here[3], there[3], size[3];

      if (beyond < 0) continue;
      VpGeometryBounds(mesh->geometry, cell, here, size);
      VpGeometryBounds(mesh->geometry, beyond, there, size);
      if (there[d] > here[d]) meet = (PetscBool)(meet && Meet(all, cell, d, beyond));
    }
  }
  PetscCall(VpMapDestroy(&all));
  PetscCall(VpCheckEverywhere(mesh->comm, meet,
                              "DMVPatchDGSetMapCoordinates(): cells do not meet. Both cells of a face need the same nodes there"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGFillByVector(DM dm, VpMesh mesh, VpMap map)
{
  const Vec        nodes = DMVPatchDGData(dm)->map.nodes;
  const PetscInt   each = VpMapNodes(map->dim, map->degree) * map->dim;
  PetscInt         n;
  PetscBool        finite = PETSC_TRUE;
  const PetscReal *x;
  Vec              own;
  IS               numbers;
  VecScatter       scatter;

  PetscFunctionBegin;
  PetscCall(VecGetSize(nodes, &n));
  PetscCheck(n == mesh->ncell * each, mesh->comm, PETSC_ERR_ARG_SIZ,
             "DMVPatchDGSetMapCoordinates(): the vector has %" PetscInt_FMT " numbers, and %" PetscInt_FMT
             " cells with a map of degree %d need %" PetscInt_FMT " (DMVPatchDGSetMapDegree())",
             n, mesh->ncell, map->degree, mesh->ncell * each);
  PetscCall(VecCreateMPI(mesh->comm, mesh->nown * each, PETSC_DETERMINE, &own));
  PetscCall(ISCreateStride(mesh->comm, mesh->nown * each, mesh->first * each, 1, &numbers));
  PetscCall(VecScatterCreate(nodes, numbers, own, NULL, &scatter));
  PetscCall(ISDestroy(&numbers));
  PetscCall(VecScatterBegin(scatter, nodes, own, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, nodes, own, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecGetArrayRead(own, &x));
  PetscCall(PetscArraycpy(map->node, x, mesh->nown * each));
  for (PetscInt i = 0; i < mesh->nown * each; i++) finite = (PetscBool)(finite && !PetscIsInfOrNanReal(x[i]));
  PetscCall(VecRestoreArrayRead(own, &x));
  PetscCall(VecDestroy(&own));
  PetscCall(VpCheckEverywhere(mesh->comm, finite, "DMVPatchDGSetMapCoordinates(): a coordinate is no finite number"));
  PetscCall(CheckMeeting(mesh, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A map, and cells of its mesh, which may be more than the own ones. */
typedef struct {
  VpGeometry geometry;
  VpMap      map;
} Source;

/* Sets the nodes of a cell whose coordinates in the boxes lie in a cell of the source. */
static void FillFrom(const Source *s, int32_t from, VpGeometry g, int32_t cell, VpMap map)
{
  const int dim = map->dim, n = map->degree + 1;
  double    X[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N], *node = map->node + (size_t)cell * (size_t)(VpMapNodes(dim, map->degree) * dim);
  int       first[3];
  VpMapGrid grid;

  VpGeometryOverlap(g, cell, n, map->point, s->geometry, from, first, &grid);
  VpMapGridSet(s->map, grid.count, (const double *const[]){grid.x[0], grid.x[1], grid.x[2]}, &grid);
  VpMapEvaluate(s->map, from, &grid, X, NULL);
  for (int q = 0; q < grid.size; q++) {
    const int at = VpMapGridPlace(&grid, first, n, q);

    for (int i = 0; i < dim; i++) node[at * dim + i] = X[q * dim + i];
  }
}

PetscErrorCode DMVPatchDGFillByMesh(VpMesh from, VpMesh mesh, VpMap map)
{
  Source s = {.geometry = from->geometry};

  PetscFunctionBegin;
  if (VpMeshCoarser(mesh) == from) {
    s.map = from->geometry->map;
    for (int32_t c = 0; c < mesh->nown; c++) FillFrom(&s, mesh->relation->parent[c], mesh->geometry, c, map);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(VpMeshCoarser(from) == mesh, mesh->comm, PETSC_ERR_SUP,
             "Nodes (DMVPatchDGSetMapCoordinates()) are known on meshes that DMRefine() and DMCoarsen() make, not on others");
  PetscCall(GetGhostNodes(from, from->geometry->map, VP_GHOST_SWEEP, from->nsweep, &s.map));
  for (int32_t i = 0; i < mesh->nown << mesh->dim; i++) {
    const int32_t child = from->relation->child[i];

    if (child >= 0) FillFrom(&s, child, mesh->geometry, i >> mesh->dim, map);
  }
  PetscCall(VpMapDestroy(&s.map));
  PetscFunctionReturn(PETSC_SUCCESS);
}
