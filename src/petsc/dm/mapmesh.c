/* Gives the cells of a mesh their map: finds the nodes, and checks the determinants of the derivative. */
#include "internal.h"
#include "../../base/threads.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { POINTS = 2048 }; /* points of a call of the user's function */

/* what threads need for the nodes of all cells */
typedef struct {
  DM          dm;
  VpGeometry  geometry;
  VpMap       map;
  int         batch; /* number of cells per call */
  _Atomic int error;
} Filling;

/* coordinate along d of a point t in [0,1] of a cell. The cells on both sides of a face get the same numbers for its points. */
static double CoordinateOf(VpGeometry g, int32_t cell, int d, double t)
{
  const int32_t box = g->box[cell];
  const double  at = g->coord[3 * (size_t)cell + d] + t;

  if (at == ldexp(1, VpGeometryHalvings(g, cell, d))) return g->domain->upper[3 * (size_t)box + d];
  return g->domain->lower[3 * (size_t)box + d] + at * VpGeometrySize(g, cell, d);
}

/* x [nodes][dim] = the nodes of a cell in the domain of boxes */
static void FindNodes(const Filling *f, int32_t cell, double x[])
{
  const int dim = f->map->dim, n = f->map->degree + 1, nodes = VpMapNodes(dim, f->map->degree);

  for (int node = 0; node < nodes; node++) {
    for (int d = 0, q = node; d < dim; d++, q /= n) x[node * dim + d] = CoordinateOf(f->geometry, cell, d, f->map->point[q % n]);
  }
}

static int MapPoints(DM dm, int n, const double x[], double X[])
{
  const VpMapSettings *map = &DMVPatchDGData(dm)->map;
  const int            dim = (int)dm->dim;

  if (map->function) return (int)map->function(dim, n, x, NULL, X, map->ctx);
  for (int i = 0; i < n; i++) map->kind->point(dim, x + i * dim, map->number, X + i * dim);
  return 0;
}

static void FillNodes(void *context, int32_t piece, int32_t first, int32_t last)
{
  Filling     *f = (Filling *)context;
  const int    nodes = VpMapNodes(f->map->dim, f->map->degree);
  const size_t each = (size_t)(nodes * f->map->dim);
  double      *x = (double *)malloc((size_t)f->batch * each * sizeof(double));

  if (!x) f->error = PETSC_ERR_MEM;
  for (int32_t i = first; i < last && !f->error; i++) {
    const int32_t begin = i * f->batch, n = PetscMin(f->batch, f->map->ncell - begin);
    int           error;

    for (int32_t c = 0; c < n; c++) FindNodes(f, begin + c, x + (size_t)c * each);
    error = MapPoints(f->dm, n * nodes, x, f->map->node + (size_t)begin * each);
    if (error) f->error = error;
  }
  free(x);
}

static PetscErrorCode FillByFunction(DM dm, VpMesh mesh, VpMap map)
{
  Filling f = {.dm = dm, .geometry = mesh->geometry, .map = map};

  PetscFunctionBegin;
  f.batch = PetscMax(1, POINTS / VpMapNodes(map->dim, map->degree));
  if (DMVPatchDGData(dm)->serial) FillNodes(&f, 0, 0, (mesh->nown + f.batch - 1) / f.batch);
  else VpLoopHeavy((mesh->nown + f.batch - 1) / f.batch, FillNodes, &f);
  PetscCall((PetscErrorCode)f.error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* points where det J is checked: the Gauss points of cells and of their sides */
typedef struct {
  VpGeometry geometry;
  int        n;
  double     x[VP_MAX_N], end[2];
  int8_t    *sign; /* [cells] of det J; 0: it is 0, not finite, or has both signs */
} Check;

/* a place where det J is wrong */
typedef struct {
  double cell, det, x[3];
} Fault;

/* the sign of det J, 0 where it is so small beside the columns of J that it may be an error of rounding */
static int SignOf(int dim, const double J[], double *det)
{
  double bound = 1e-13;

  for (int j = 0; j < dim; j++) {
    double square = 0;

    for (int i = 0; i < dim; i++) square += J[i * dim + j] * J[i * dim + j];
    bound *= sqrt(square);
  }
  *det = VpDeterminant(dim, J);
  if (*det > bound) return 1;
  return *det < -bound ? -1 : 0;
}

/* Looks at the points of a cell (side 2 dim), or of one of its sides. *sign: the sign at all points before, or 2. Returns whether a point
   has another sign, and tells the first one. */
static int CheckGrid(const Check *c, int32_t cell, int side, int *sign, Fault *fault)
{
  const int     dim = c->geometry->domain->dim;
  int           count[3] = {1, 1, 1};
  const double *x[3] = {c->x, c->x, c->x};
  double        J[9 * VP_MAX_N * VP_MAX_N * VP_MAX_N];

  for (int d = 0; d < dim; d++) count[d] = c->n;
  if (side < 2 * dim) {
    count[side / 2] = 1;
    x[side / 2] = &c->end[side % 2];
  }
  VpGeometryEvaluate(c->geometry, cell, count, x, NULL, J);
  for (int q = 0; q < count[0] * count[1] * count[2]; q++) {
    const int found = SignOf(dim, J + q * dim * dim, &fault->det);

    if (*sign == 2) *sign = found;
    if (found && found == *sign) continue;
    fault->x[0] = x[0][q % count[0]];
    fault->x[1] = x[1][q / count[0] % count[1]];
    fault->x[2] = x[2][q / (count[0] * count[1])];
    return 1;
  }
  return 0;
}

/* the sign of det J in a cell if it is `sign` everywhere (2: any), or 0 and where it is not */
static int CheckCell(const Check *c, int32_t cell, int sign, Fault *fault)
{
  for (int side = 2 * c->geometry->domain->dim; side >= 0; side--) {
    if (CheckGrid(c, cell, side, &sign, fault)) return 0;
  }
  return sign;
}

static void CheckCells(void *context, int32_t piece, int32_t first, int32_t last)
{
  Check *c = (Check *)context;
  Fault  fault;

  for (int32_t cell = first; cell < last; cell++) c->sign[cell] = (int8_t)CheckCell(c, cell, 2, &fault);
}

/* Ensures: an error on all ranks if this or another rank has a fault. */
static PetscErrorCode ReportFault(VpMesh mesh, PetscBool here, Fault fault)
{
  PetscMPIInt first;
  char        point[64];

  PetscFunctionBegin;
  PetscCall(VpFirstRank(mesh->comm, here, &first));
  if (first == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&fault, sizeof(fault) / sizeof(double), MPI_DOUBLE, first, mesh->comm));
  PetscCall(PetscSNPrintf(point, sizeof(point), mesh->dim == 3 ? "(%g, %g, %g)" : "(%g, %g)", fault.x[0], fault.x[1], fault.x[2]));
  SETERRQ(mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
          "The map of cells has det J = %g in cell %.0f, at the point %s of the boxes: det J must have the same sign at all points of all "
          "cells. Where the map itself does not fold, refine (-dm_refine) or take another -dm_vpatchdg_map_degree",
          fault.det, fault.cell, point);
}

/* Ensures: an error on all ranks unless det J has the same sign at all points of all cells. */
static PetscErrorCode CheckDeterminants(DM dm, VpMesh mesh)
{
  Check      c = {.geometry = mesh->geometry, .n = (int)DMVPatchDGData(dm)->degree + 1, .end = {0, 1}};
  double     w[VP_MAX_N];
  PetscInt64 sum = 0;
  int        sign;
  int32_t    cell = 0;
  Fault      fault = {0};

  PetscFunctionBegin;
  VpGauss(c.n, c.x, w);
  PetscCall(PetscMalloc1(mesh->nown, &c.sign));
  VpLoop(mesh->nown, CheckCells, &c);
  for (int32_t i = 0; i < mesh->nown; i++) sum += c.sign[i];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_INT64, MPI_SUM, mesh->comm));
  sign = sum < 0 ? -1 : 1;
  while (cell < mesh->nown && c.sign[cell] == sign) cell++;
  PetscCall(PetscFree(c.sign));
  if (cell < mesh->nown) {
    (void)CheckCell(&c, cell, sign, &fault);
    fault.cell = (double)mesh->first + cell;
    for (int d = 0; d < mesh->dim; d++) fault.x[d] = CoordinateOf(mesh->geometry, cell, d, fault.x[d]);
  }
  PetscCall(ReportFault(mesh, (PetscBool)(cell < mesh->nown), fault));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks unless the DM may have a map. */
static PetscErrorCode CheckPossible(DM dm, VpMesh mesh)
{
  const VpMapSettings *map = &DMVPatchDGData(dm)->map;
  const VpDomain       domain = mesh->geometry->domain;
  PetscBool            unit = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCheck(
    !VpMeshIsAdaptive(mesh), mesh->comm, PETSC_ERR_SUP,
    "A map of cells (-dm_vpatchdg_map, DMVPatchDGSetMap()) needs cells of one level: refine all of them (-dm_refine), or use no map");
  for (int32_t i = 0; i < 3 * domain->nbox; i++) unit = (PetscBool)(unit && domain->lower[i] > -1e-12 && domain->upper[i] < 1 + 1e-12);
  PetscCheck(unit || map->by != VP_MAP_NAMED, mesh->comm, PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_map %s maps the unit %s, and the domain of boxes is not inside of it: give other -dm_vpatchdg_lower and _upper",
             map->kind->name, mesh->dim == 3 ? "cube" : "square");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillMap(DM dm, VpMesh from, VpMesh mesh, VpMap map)
{
  PetscFunctionBegin;
  if (DMVPatchDGData(dm)->map.by != VP_MAP_NODES) PetscCall(VpTogether(mesh->comm, FillByFunction(dm, mesh, map)));
  else if (from) PetscCall(DMVPatchDGFillByMesh(from, mesh, map));
  else PetscCall(DMVPatchDGFillByVector(dm, mesh, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGMapMesh(DM dm, VpMesh from, VpMesh mesh)
{
  VpGeometry     g = mesh->geometry;
  PetscErrorCode error;

  PetscFunctionBegin;
  if (DMVPatchDGData(dm)->map.by == VP_MAP_NONE || g->map) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckPossible(dm, mesh));
  error = VpTogether(mesh->comm, VpMapCreate(mesh->dim, (int)DMVPatchDGMapDegree(dm), mesh->nown, &g->map));
  if (!error) error = FillMap(dm, from, mesh, g->map);
  if (!error) error = CheckDeterminants(dm, mesh);
  if (error) PetscCall(VpMapDestroy(&g->map));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
