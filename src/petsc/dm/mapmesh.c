/* Gives the cells of a mesh their map: finds the nodes, and checks the determinants of the derivative. */
#include "internal.h"
#include "../../base/threads.h"
#include <stdatomic.h>

enum { POINTS = 2048 }; /* most points of a call of the user's function, at least those of a cell */

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
  const int dim = f->map->dim, n = f->map->degree + 1;
  double    along[3][VP_MAX_N];

  for (int i = 0; i < dim * n; i++) along[i / n][i % n] = CoordinateOf(f->geometry, cell, i / n, f->map->point[i % n]);
  for (int k = 0; k < (dim == 3 ? n : 1); k++) {
    for (int j = 0; j < n; j++) {
      for (int i = 0; i < n; i++, x += dim) {
        x[0] = along[0][i];
        x[1] = along[1][j];
        if (dim == 3) x[2] = along[2][k];
      }
    }
  }
}

static int MapPoints(DM dm, int n, const double x[], double X[])
{
  const VpMapSettings *map = &DMVPatchDGData(dm)->map;
  const int            dim = (int)dm->dim;

  if (map->function) return (int)map->function(dim, n, x, NULL, X, map->ctx);
  for (int i = 0; i < n; i++) VpFormulaPoint(map->kind->formula, dim, map->number, x + i * dim, X + i * dim);
  return 0;
}

static void FillBatch(Filling *f, int32_t batch)
{
  const int     nodes = VpMapNodes(f->map->dim, f->map->degree);
  const size_t  each = (size_t)(nodes * f->map->dim);
  const int32_t begin = batch * f->batch, n = PetscMin(f->batch, f->map->ncell - begin);
  double        x[3 * POINTS];
  int           error;

  if (f->error) return;
  for (int32_t c = 0; c < n; c++) FindNodes(f, begin + c, x + (size_t)c * each);
  error = MapPoints(f->dm, n * nodes, x, f->map->node + (size_t)begin * each);
  if (error) f->error = error;
}

static PetscErrorCode FillByFunction(DM dm, VpMesh mesh, VpMap map)
{
  Filling       f = {.dm = dm, .geometry = mesh->geometry, .map = map, .batch = POINTS / VpMapNodes(map->dim, map->degree)};
  const int32_t batches = (mesh->nown + f.batch - 1) / f.batch;

  PetscFunctionBegin;
  if (DMVPatchDGData(dm)->serial)
    for (int32_t i = 0; i < batches; i++) FillBatch(&f, i);
  else
    VP_LOOP_HEAVY (i, batches) FillBatch(&f, i);
  PetscCall((PetscErrorCode)f.error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks unless the DM may have a map. */
static PetscErrorCode CheckPossible(DM dm, VpMesh mesh)
{
  const VpMapSettings *map = &DMVPatchDGData(dm)->map;
  const VpDomain       domain = mesh->geometry->domain;
  PetscBool            unit = PETSC_TRUE;

  PetscFunctionBegin;
  for (int32_t i = 0; i < 3 * domain->nbox; i++) unit = (PetscBool)(unit && domain->lower[i] > -1e-12 && domain->upper[i] < 1 + 1e-12);
  PetscCheck(unit || map->by != VP_MAP_NAMED || domain->trees, mesh->comm, PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_map %s maps the unit %s, and the domain of boxes is not inside of it: give other -dm_vpatchdg_lower and _upper",
             map->kind->name, mesh->dim == 3 ? "cube" : "square");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillMap(DM dm, VpMesh from, VpMesh mesh, VpMap map)
{
  const VpMapSettings *by = &DMVPatchDGData(dm)->map;

  PetscFunctionBegin;
  if (by->function || by->kind) PetscCall(VpTogether(mesh->comm, FillByFunction(dm, mesh, map)));
  else if (from) PetscCall(DMVPatchDGFillByMesh(from, mesh, map));
  else if (by->by == VP_MAP_LATTICE) {
    PetscCall(DMVPatchDGFillByLattice(dm, mesh, map));
    if (mesh->geometry->domain->trees) PetscCall(DMVPatchDGCheckConforming(dm, mesh->geometry->domain));
  } else PetscCall(DMVPatchDGFillByVector(dm, mesh, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *map = a map without nodes, or with the formula of a map with a name where that is evaluated on a device */
static PetscErrorCode CreateMap(DM dm, VpMesh mesh, VpMap *map)
{
  const VpMapSettings *by = &DMVPatchDGData(dm)->map;
  const VpFormula      formula = by->kind && !VpMeshIsAdaptive(mesh) ? by->kind->formula : VP_FORMULA_NONE;
  const VpBackend     *backend;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGFindBackend(dm, &backend));
  if (formula && VpIsDevice(backend)) {
    PetscCall(VpMapCreateFormula(mesh->dim, (int)DMVPatchDGMapDegree(dm), mesh->nown, formula, by->number, map));
    VpGeometryAllBounds(mesh->geometry, mesh->nown, NULL, (*map)->bounds);
  } else PetscCall(VpMapCreate(mesh->dim, (int)DMVPatchDGMapDegree(dm), mesh->nown, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGMapMesh(DM dm, VpMesh from, VpMesh mesh)
{
  VpGeometry     g = mesh->geometry;
  PetscErrorCode error;

  PetscFunctionBegin;
  if (DMVPatchDGData(dm)->map.by == VP_MAP_NONE || g->map) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckPossible(dm, mesh));
  error = VpTogether(mesh->comm, CreateMap(dm, mesh, &g->map));
  if (!error && !g->map->formula) error = FillMap(dm, from, mesh, g->map);
  if (!error && VpMeshIsAdaptive(mesh)) error = VpMapMeet(mesh, g->map);
  if (!error) error = DMVPatchDGCheckPeriods(dm, mesh);
  if (error) PetscCall(VpMapDestroy(&g->map));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
