/* Places a metric on a level's backend, and the matrix of a level with a metric. */
#include "internal.h"

void VpMetricSlopes(const VpBasis *gauss, double slope[])
{
  const int n = gauss->n;
  double    x[VP_MAX_N], w[VP_MAX_N], phi[VP_MAX_N];

  VpGauss(n, x, w);
  for (int q = 0; q < n; q++) {
    VpBasisEvaluate(gauss, x[q], phi, slope + q * n);
    for (int i = 0; i < n; i++) slope[q * n + i] *= sqrt(w[q]);
  }
}

static void FindTables(const VpBasis *gauss, VpMetricBasis *t)
{
  const int n = gauss->n;
  double    x[VP_MAX_N];

  VpMetricSlopes(gauss, t->slope);
  for (int i = 0; i < 4 * n; i++) t->end[i] = (i / n % 2 ? gauss->slope : gauss->value)[i / (2 * n)][i % n];
  VpGauss(n, x, t->weight);
  for (int q = 0; q < n; q++) t->weight[q] = sqrt(t->weight[q]);
}

static size_t RealBytes(VpMetric m)
{
  return m->precision == VP_DOUBLE ? sizeof(double) : sizeof(float);
}

/* numbers of H of a cell */
static size_t SideNumbers(VpMetric m, int dim)
{
  return 2 * (size_t)dim * (m->shape ? 1 : (size_t)VpMetricRows(dim, m->components)) * (size_t)m->spread;
}

PetscErrorCode VpLevelPlaceMetric(VpLevel level, VpMetric metric)
{
  VpMetricView *m = &level->view.metric;
  const size_t  cells = (size_t)metric->ncell, ndof = VpLevelValues(level), dim = (size_t)level->mesh->dim;
  const size_t  n = (size_t)level->basis.n, face = ndof / n, real = RealBytes(metric);
  VpMetricBasis t;
  const double *root = !level->outer && metric->entry ? metric->entry : metric->root;

  PetscFunctionBegin;
  m->period = metric->ncell > 0 ? metric->ncell : 1;
  if (root) PetscCall(VpLevelPlaceMeshArray(level, root, cells * ndof, "map", &m->root));
  if (!level->outer) PetscFunctionReturn(PETSC_SUCCESS);
  m->components = metric->components;
  m->precision = metric->precision;
  m->spread = metric->spread;
  if (metric->factor == metric->root) m->factor = m->root;
  else if (metric->factor) PetscCall(VpLevelPlaceBytes(level, metric->factor, cells * ndof * real, "map", &m->factor));
  if (metric->cell)
    PetscCall(VpLevelPlaceBytes(level, metric->cell, cells * (metric->shape ? 1 : (size_t)m->components) * ndof * real,
                                "coefficient at points", &m->cell));
  PetscCall(
    VpLevelPlaceBytes(level, metric->side, cells * SideNumbers(metric, (int)dim) * real, "coefficient at points of sides", &m->side));
  if (metric->shape)
    PetscCall(
      VpLevelPlaceMeshArray(level, metric->shape, cells * (size_t)VpMetricShape((int)dim, m->components), "matrices of cells", &m->shape));
  PetscCall(VpLevelPlaceMeshArray(level, metric->beyond, cells * 2 * dim * face, "coefficient at points of sides", &m->beyond));
  PetscCall(VpLevelPlaceMeshArray(level, metric->eta, cells, "coefficient at points", &m->penalty));
  PetscCall(VpLevelPlaceMeshArray(level, metric->scale, cells, "coefficient at points", &m->scale));
  if (metric->mass) PetscCall(VpLevelPlaceMeshArray(level, metric->mass, cells * ndof, "reaction at points", &m->mass));
  for (size_t side = 0; side < 2 * dim; side++)
    PetscCall(VpLevelPlaceMeshArray(level, metric->flux[side], (size_t)metric->nflux[side] * face, "fluxes at points", &m->flux[side]));
  if (!VpIsDevice(level->backend))
    PetscCall(VpArraysReserve(&level->arrays, (size_t)level->mesh->nown * 4 * dim * face * level->real, "traces", (void **)&m->traces));
  FindTables(&level->basis, &t);
  PetscCall(VpArraysPlaceReals(&level->arrays, t.slope, n * n, "coefficient at points", (const void **)&m->slope));
  PetscCall(VpArraysPlaceReals(&level->arrays, t.end, 4 * n, "coefficient at points", (const void **)&m->end));
  PetscCall(VpArraysPlaceReals(&level->arrays, t.weight, n, "coefficient at points", (const void **)&m->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const VpOps *HostOps(VpLevel level)
{
  return VpBackendHost.ops(VP_DOUBLE, level->mesh->dim, level->basis.degree);
}

/* Row `at` of A is its column `at`, since A is symmetric. */
static PetscErrorCode MetricRow(const VpRows *rows, const PetscInt position[], int32_t cell, int at, VpRow *row)
{
  const VpLevel  level = rows->level;
  const int      dim = level->mesh->dim;
  const int32_t *beyond = level->mesh->neighbor + (size_t)cell * 2 * dim;
  double        *y;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((1 + 2 * (size_t)dim) * (size_t)rows->columns, &y));
  PetscCall(HostOps(level)->column(&rows->metric, cell, beyond, at, y));
  row->n = 0;
  for (int s = -1; s < 2 * dim; s++) {
    const int32_t there = s < 0 ? cell : beyond[s];

    for (int i = 0; i < rows->columns && there >= 0; i++)
      VpRowAdd(row, position[there] * rows->columns + i, y[(size_t)(1 + s) * (size_t)rows->columns + (size_t)i]);
  }
  PetscCall(PetscFree(y));
  PetscCall(VpRowMerge(row)); /* On a torus of one or two cells some of these cells are the same. */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *local [nface][count] = the numbers of own cells and, from their owners, of those beyond their sides; NULL if there are none */
static PetscErrorCode WithGhosts(VpMesh mesh, size_t count, VpPrecision precision, const void *own, void *local)
{
  const size_t block = count * (precision == VP_DOUBLE ? sizeof(double) : sizeof(float));
  char        *all = NULL;

  PetscFunctionBegin;
  if (own) {
    PetscCall(PetscMalloc((size_t)mesh->nface * block + 1, &all));
    PetscCall(PetscMemcpy(all, own, (size_t)mesh->nown * block));
    PetscCall(
      VpMeshExchange(mesh, VP_GHOST_FACE, count, precision == VP_DOUBLE ? MPI_DOUBLE : MPI_FLOAT, all, all + (size_t)mesh->nown * block));
  }
  *(const void **)local = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricRowsCreate(VpLevel level, VpRows *rows)
{
  const VpMesh   mesh = level->mesh;
  const VpMetric m = level->problem.metric;
  const size_t   ndof = VpLevelValues(level);
  VpMetricView  *to = &rows->metric;

  PetscFunctionBegin;
  FindTables(&level->basis, &rows->tables);
  *to = (VpMetricView){.components = m->components,
                       .spread = m->spread,
                       .precision = m->precision,
                       .period = mesh->nface + 1,
                       .cell = m->cell,
                       .mass = m->mass,
                       .penalty = m->eta,
                       .beyond = m->beyond,
                       .slope = rows->tables.slope,
                       .end = rows->tables.end};
  rows->most = ndof * (1 + 2 * (size_t)mesh->dim);
  rows->create = MetricRow;
  PetscCall(WithGhosts(mesh, SideNumbers(m, mesh->dim), m->precision, m->side, &to->side));
  PetscCall(WithGhosts(mesh, (size_t)VpMetricShape(mesh->dim, m->components), VP_DOUBLE, m->shape, &to->shape));
  PetscCall(WithGhosts(mesh, 1, VP_DOUBLE, m->scale, &to->scale));
  PetscCall(WithGhosts(mesh, ndof, m->precision, m->factor, &to->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricRowsDestroy(VpRows *rows)
{
  PetscFunctionBegin;
  if (!rows->metric.components) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(rows->metric.side));
  PetscCall(PetscFree(rows->metric.shape));
  PetscCall(PetscFree(rows->metric.scale));
  PetscCall(PetscFree(rows->metric.factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell beyond a side may be the cell itself. */
PetscErrorCode VpMetricDiagonal(VpLevel level, double diagonal[])
{
  const size_t ndof = VpLevelValues(level);
  const int    dim = level->mesh->dim;
  double      *y;
  VpRows       rows = {.level = level};

  PetscFunctionBegin;
  PetscCall(VpMetricRowsCreate(level, &rows));
  PetscCall(PetscCalloc1((1 + 2 * (size_t)dim) * ndof, &y));
  for (int32_t c = 0; c < level->mesh->nown; c++) {
    const int32_t *beyond = level->mesh->neighbor + (size_t)c * 2 * (size_t)dim;

    for (size_t i = 0; i < ndof; i++) {
      double *sum = diagonal + (size_t)c * ndof + i;

      PetscCall(HostOps(level)->column(&rows.metric, c, beyond, (int)i, y));
      *sum = y[i];
      for (int s = 0; s < 2 * dim; s++) *sum += beyond[s] == c ? y[(size_t)(1 + s) * ndof + i] : 0;
    }
  }
  PetscCall(PetscFree(y));
  PetscCall(VpMetricRowsDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
