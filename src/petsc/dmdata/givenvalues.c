/* Coefficients by values at the Gauss points of cells: values at points of sides, and on other meshes. */
#include "dmdata.h"
#include "../../base/threads.h"
#include "../../level/metric/pullback.h"

PetscErrorCode VpPointFunctionReplace(VpPointFunction *f, const VpPointFunction *by)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)by->values));
  PetscCall(VecDestroy(&f->values));
  *f = *by;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the Gauss points of a cell, as the nodes of a polynomial */
static struct VpMap_ GaussNodes(int dim, int n)
{
  struct VpMap_ nodes = {.dim = dim, .degree = n - 1};
  double        w[VP_MAX_N];

  VpGauss(n, nodes.point, w);
  return nodes;
}

/* the number of the node that is nearest to a grid's point */
static int NearestNode(struct VpMap_ *nodes, const VpMapGrid *grid, int q)
{
  const int n = nodes->degree + 1, at[3] = {q % grid->count[0], q / grid->count[0] % grid->count[1], q / (grid->count[0] * grid->count[1])};
  int       node = 0;

  for (int d = nodes->dim - 1; d >= 0; d--) {
    int nearest = 0;

    for (int i = 1; i < n; i++) {
      if (fabs(nodes->point[i] - grid->x[d][at[d]]) < fabs(nodes->point[nearest] - grid->x[d][at[d]])) nearest = i;
    }
    node = node * n + nearest;
  }
  return node;
}

/* sum [components] = the polynomial at a grid's point */
static void EvaluatePoint(const struct VpMap_ *nodes, const VpMapGrid *grid, int q, int components, const double value[], double sum[])
{
  const int n = nodes->degree + 1, at[3] = {q % grid->count[0], q / grid->count[0] % grid->count[1], q / (grid->count[0] * grid->count[1])};
  const double *by[3] = {grid->value[0] + at[0] * n, grid->value[1] + at[1] * n, grid->value[2] + at[2] * n};

  for (int k = 0; k < components; k++) sum[k] = 0;
  for (int j = 0; j < VpMapNodes(nodes->dim, nodes->degree) / n; j++) {
    const double outer = by[1][j % n] * (nodes->dim == 3 ? by[2][j / n] : 1);

    for (int i = 0; i < n && outer != 0; i++) { /* Most points lie on lines of nodes. */
      for (int k = 0; k < components && by[0][i] != 0; k++) sum[k] += outer * by[0][i] * value[(j * n + i) * components + k];
    }
  }
}

/* to [points][components] = the polynomial through a cell's values at the points of a grid, or the nearest value */
static void InterpolateValues(struct VpMap_ *nodes, const VpMapGrid *grid, int components, const double value[], double to[])
{
  for (int q = 0; q < grid->size; q++, to += components) {
    EvaluatePoint(nodes, grid, q, components, value, to);
    if (VpKIsDefinite(nodes->dim, components, to)) continue;
    for (int k = 0; k < components; k++) to[k] = value[NearestNode(nodes, grid, q) * components + k];
  }
}

PetscErrorCode VpPointFunctionCopy(const VpPointFunction *f, const double **cell)
{
  const PetscReal *value;
  double          *copy;
  PetscInt         n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f->values, &n));
  PetscCall(PetscMalloc1(n + 1, &copy));
  PetscCall(VecGetArrayRead(f->values, &value));
  PetscCall(PetscArraycpy(copy, value, n));
  PetscCall(VecRestoreArrayRead(f->values, &value));
  *cell = copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SetNodes(struct VpMap_ *nodes, VpMapGrid *grid)
{
  VpMapGridSet(nodes, grid->count, (const double *const[]){grid->x[0], grid->x[1], grid->x[2]}, grid);
}

void VpInterpolateValues(int dim, int n, int components, const double value[], VpMapGrid *grid, double to[])
{
  struct VpMap_ nodes = GaussNodes(dim, n);

  SetNodes(&nodes, grid);
  InterpolateValues(&nodes, grid, components, value, to);
}

PetscErrorCode VpPointFunctionExpand(VpMesh mesh, int n, int components, const double cell[], const double **side)
{
  const size_t  sides = 2 * (size_t)mesh->dim, face = (size_t)(VpFaceSize(n, mesh->dim) * components), each = face * (size_t)n;
  struct VpMap_ nodes = GaussNodes(mesh->dim, n);
  VpMapGrid     grid[6]; /* points of the sides */
  double       *values;

  PetscFunctionBegin;
  for (int s = 0; s < 2 * mesh->dim; s++) {
    VpGaussPoints(mesh->geometry, n, s, &grid[s]);
    SetNodes(&nodes, &grid[s]);
  }
  PetscCall(PetscMalloc1((size_t)mesh->nown * sides * face + 1, &values));
  *side = values;
  VP_LOOP_HEAVY (c, mesh->nown) {
    for (size_t s = 0; s < sides; s++)
      InterpolateValues(&nodes, &grid[s], components, cell + (size_t)c * each, values + ((size_t)c * sides + s) * face);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the values of a cell at those of its points that lie in a cell `from` of another mesh. */
static void MoveCell(struct VpMap_ *nodes, VpGeometryCell from, const double in[], VpGeometryCell cell, int components, double out[])
{
  const int n = nodes->degree + 1;
  double    value[6 * VP_MOST_POINTS];
  PetscReal bounds[6];
  int       first[3];
  VpMapGrid grid;

  VpGeometryBounds(from.geometry, from.number, bounds, bounds + 3);
  VpGeometryOverlap(cell, n, nodes->point, bounds, first, &grid);
  SetNodes(nodes, &grid);
  InterpolateValues(nodes, &grid, components, in, value);
  for (int q = 0; q < grid.size; q++) {
    for (int k = 0; k < components; k++) out[VpMapGridPlace(&grid, first, n, q) * components + k] = value[q * components + k];
  }
}

/* Fills the values of all own cells of `mesh`. all: values of the cells of `from` and, where it is the finer mesh, of its ghosts */
static void MoveCells(struct VpMap_ *nodes, VpMesh from, const double all[], VpMesh mesh, int components, double out[])
{
  const size_t each = (size_t)(VpMapNodes(nodes->dim, nodes->degree) * components);

  if (VpMeshCoarser(mesh) == from) {
    for (int32_t c = 0; c < mesh->nown; c++) {
      const VpGeometryCell parent = {from->geometry, mesh->relation->parent[c]}, cell = {mesh->geometry, c};

      MoveCell(nodes, parent, all + (size_t)parent.number * each, cell, components, out + (size_t)c * each);
    }
    return;
  }
  for (int32_t i = 0; i < mesh->nown << mesh->dim; i++) {
    const VpGeometryCell child = {from->geometry, from->relation->child[i]}, cell = {mesh->geometry, i >> mesh->dim};

    if (child.number >= 0) MoveCell(nodes, child, all + (size_t)child.number * each, cell, components, out + (size_t)cell.number * each);
  }
}

PetscErrorCode VpPointFunctionMove(const VpPointFunction *f, int n, VpMesh from, VpMesh mesh, VpPointFunction *to)
{
  struct VpMap_    nodes;
  size_t           each;
  const PetscReal *value;
  PetscReal       *out;
  double          *all;

  PetscFunctionBegin;
  *to = *f;
  if (mesh == from) PetscCall(PetscObjectReference((PetscObject)f->values));
  if (mesh == from || !f->values) PetscFunctionReturn(PETSC_SUCCESS);
  nodes = GaussNodes(mesh->dim, n);
  each = (size_t)(VpFaceSize(n, mesh->dim) * n) * (size_t)f->components;
  to->values = NULL;
  PetscCheck(VpMeshCoarser(mesh) == from || VpMeshCoarser(from) == mesh, mesh->comm, PETSC_ERR_SUP,
             "Values of a coefficient or a reaction (DMVPatchDGSetCoefficientValues()) are known on meshes that DMRefine() and DMCoarsen() "
             "make, not on others. Use a function, or set them on the other mesh, and here, before, DMVPatchDGSetCoefficient()");
  PetscCall(PetscMalloc1((size_t)from->nsweep * each + 1, &all));
  PetscCall(VecGetArrayRead(f->values, &value));
  PetscCall(PetscArraycpy(all, value, (size_t)from->nown * each));
  PetscCall(VecRestoreArrayRead(f->values, &value));
  if (VpMeshCoarser(from) == mesh) PetscCall(VpMeshExchange(from, VP_GHOST_SWEEP, each, MPI_DOUBLE, all, all + (size_t)from->nown * each));
  PetscCall(VecCreateMPI(mesh->comm, (PetscInt)((size_t)mesh->nown * each), PETSC_DETERMINE, &to->values));
  PetscCall(VecGetArrayWrite(to->values, &out));
  MoveCells(&nodes, from, all, mesh, (int)f->components, out);
  PetscCall(VecRestoreArrayWrite(to->values, &out));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
