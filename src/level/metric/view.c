/* Places a metric on a level's backend, and the matrix of a level with a metric. */
#include "../internal.h"

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

void VpMetricBasisFill(const VpBasis *gauss, VpMetricBasis *t)
{
  const int n = gauss->n;
  double    x[VP_MAX_N];

  VpMetricSlopes(gauss, t->slope);
  for (int i = 0; i < 4 * n; i++) t->end[i] = (i / n % 2 ? gauss->slope : gauss->value)[i / (2 * n)][i % n];
  VpGauss(n, x, t->weight);
  for (int q = 0; q < n; q++) t->weight[q] = sqrt(t->weight[q]);
  for (int i = 0; i < 2 * n; i++) {
    double phi[VP_MAX_N], slope[VP_MAX_N];

    VpBasisEvaluate(gauss, (x[i % n] + i / n) / 2, phi, slope);
    for (int j = 0; j < n; j++) t->half[i * n + j] = t->weight[i % n] * phi[j];
  }
}

/* the parts of sides that hang */
static PetscErrorCode PlaceParts(VpLevel level, VpMetric metric, const VpMetricBasis *t)
{
  const int32_t sides = level->mesh->faces.n;
  const size_t  parts = (size_t)metric->first[sides], n = (size_t)level->basis.n, face = VpLevelValues(level) / n;
  VpMetricView *m = &level->view.metric;

  PetscFunctionBegin;
  PetscCall(VpLevelPlaceMeshArray(level, metric->first, sides + 1, "sides that hang", &m->first));
  PetscCall(VpLevelPlaceMeshArray(level, metric->part, parts * ((size_t)VpMetricRows(level->mesh->dim, metric->components) + 1) * face,
                                  "coefficient at points of sides that hang", &m->part));
  PetscCall(VpArraysPlaceReals(&level->arrays, t->half, 2 * n * n, "coefficient at points", (const void **)&m->half));
  PetscCall(VpArraysReserve(&level->arrays, parts * 2 * face * level->real, "traces", (void **)&m->parted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t VpMetricSideNumbers(VpMetric m, int dim)
{
  return 2 * (size_t)dim * (m->affine ? 1 : (size_t)VpMetricRows(dim, m->components)) * (size_t)m->spread;
}

/* *p = an array of the metric on the level's backend */
static PetscErrorCode PlaceArray(VpLevel level, VpMetric metric, const void *array, size_t bytes, const char what[], const void **p)
{
  void *copy;

  PetscFunctionBegin;
  if (!array || metric->arrays.backend == level->backend) *p = array;
  else if (!VpIsDevice(metric->arrays.backend)) PetscCall(VpArraysPlace(&level->arrays, array, bytes, what, p));
  else {
    PetscCall(VpArraysReserve(&level->arrays, bytes, what, &copy));
    PetscCall(metric->arrays.backend->download(array, bytes, copy));
    *p = copy;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* G, H and what else A x reads */
static PetscErrorCode PlaceNumbers(VpLevel level, VpMetric metric)
{
  static const char points[] = "coefficient at points";
  VpMetricView     *m = &level->view.metric;
  const size_t      cells = (size_t)metric->ncell, traced = (size_t)metric->ntraced, ndof = VpLevelValues(level);
  const size_t      dim = (size_t)level->mesh->dim, real = VpRealBytes(metric->precision), one = sizeof(double);
  const size_t      each = metric->affine ? 1 : (size_t)metric->components;

  PetscFunctionBegin;
  if (metric->factor == metric->root) m->factor = m->root;
  else PetscCall(PlaceArray(level, metric, metric->factor, traced * ndof * real, "map", &m->factor));
  PetscCall(PlaceArray(level, metric, metric->cell, cells * each * ndof * real, points, &m->cell));
  PetscCall(PlaceArray(level, metric, metric->side, traced * VpMetricSideNumbers(metric, (int)dim) * real, points, &m->side));
  PetscCall(PlaceArray(level, metric, metric->affine, traced * (size_t)VpMetricAffine((int)dim, m->components) * one, points,
                       (const void **)&m->affine));
  PetscCall(
    PlaceArray(level, metric, metric->beyond, cells * 2 * dim * ndof / (size_t)level->basis.n * one, points, (const void **)&m->beyond));
  PetscCall(PlaceArray(level, metric, metric->eta, cells * one, points, (const void **)&m->penalty));
  PetscCall(PlaceArray(level, metric, metric->scale, traced * one, points, (const void **)&m->scale));
  PetscCall(PlaceArray(level, metric, metric->mass, cells * ndof * one, "reaction at points", (const void **)&m->mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReserveTraces(VpLevel level)
{
  VpMetricView *m = &level->view.metric;
  const int     dim = level->mesh->dim, n = level->basis.n;
  const size_t  cells = (size_t)(m->traced ? m->traced : PetscMin(level->mesh->nown, VpTracedAtOnce(dim, n)));

  PetscFunctionBegin;
  PetscCall(VpArraysReserve(&level->arrays, cells * (size_t)(4 * dim) * VpLevelValues(level) / (size_t)n * level->real, "traces",
                            (void **)&m->traces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelPlaceMetric(VpLevel level, VpMetric metric)
{
  VpMetricView *m = &level->view.metric;
  const size_t cells = (size_t)metric->ncell, traced = (size_t)metric->ntraced, ndof = VpLevelValues(level), dim = (size_t)level->mesh->dim;
  const size_t n = (size_t)level->basis.n, face = ndof / n;
  VpMetricBasis t;
  const double *root = !level->outer && metric->entry ? metric->entry : metric->root;

  PetscFunctionBegin;
  m->period = PetscMax(metric->ntraced, 1);
  PetscCall(
    PlaceArray(level, metric, root, (root == metric->root ? traced : cells) * ndof * sizeof(*root), "map", (const void **)&m->root));
  if (!level->outer) PetscFunctionReturn(PETSC_SUCCESS);
  m->components = metric->components;
  m->precision = metric->precision;
  m->spread = metric->spread;
  PetscCall(PlaceNumbers(level, metric));
  for (size_t side = 0; side < 2 * dim; side++)
    PetscCall(VpLevelPlaceMeshArray(level, metric->flux[side], (size_t)metric->nflux[side] * face, "fluxes at points", &m->flux[side]));
  m->traced = VpMeshIsAdaptive(level->mesh) ? level->mesh->nface : 0;
  if (!VpIsDevice(level->backend)) PetscCall(ReserveTraces(level));
  VpMetricBasisFill(&level->basis, &t);
  if (metric->first) PetscCall(PlaceParts(level, metric, &t));
  PetscCall(VpArraysPlaceReals(&level->arrays, t.slope, n * n, "coefficient at points", (const void **)&m->slope));
  PetscCall(VpArraysPlaceReals(&level->arrays, t.end, 4 * n, "coefficient at points", (const void **)&m->end));
  PetscCall(VpArraysPlaceReals(&level->arrays, t.weight, n, "coefficient at points", (const void **)&m->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const VpOps *HostOps(VpLevel level)
{
  return VpBackendHost.ops(VP_DOUBLE, level->mesh->dim, level->basis.degree);
}

/* beyond [2 dim][VpMostBeyond] = the cells beyond a cell's sides, -1 where there are none */
static void ListBeyond(VpMesh mesh, int32_t cell, int32_t beyond[])
{
  const int most = VpMostBeyond(mesh->dim, mesh->faces.n);

  for (int i = 0; i < 2 * mesh->dim * most; i++) {
    const int32_t next = VpMeshNeighbor(mesh, cell, i / most);
    const VpFace *face = next == VP_HANGING ? &mesh->faces.face[VpFaceAt(mesh->faces.n, mesh->faces.face, cell, i / most)] : NULL;

    if (face) beyond[i] = face->kind == VP_FACE_COARSE || i % most == 0 ? face->cell[1 + i % most] : -1;
    else beyond[i] = i % most == 0 ? next : -1;
  }
}

/* Row `at` of A is its column `at`, since A is symmetric. */
static PetscErrorCode MetricRow(const VpRows *rows, const PetscInt position[], int32_t cell, int at, VpRow *row)
{
  const VpMesh mesh = rows->level->mesh;
  const int    sides = 2 * mesh->dim * VpMostBeyond(mesh->dim, mesh->faces.n);
  int32_t      beyond[VP_MOST_BEYOND];
  double      *y;

  PetscFunctionBegin;
  ListBeyond(mesh, cell, beyond);
  PetscCall(PetscCalloc1((1 + (size_t)sides) * (size_t)rows->columns, &y));
  PetscCall(HostOps(rows->level)->column(&rows->view, cell, beyond, at, y));
  row->n = 0;
  for (int s = -1; s < sides; s++) {
    const int32_t there = s < 0 ? cell : beyond[s];

    for (int i = 0; i < rows->columns && there >= 0; i++)
      VpRowAdd(row, position[there] * rows->columns + i, y[(size_t)(1 + s) * (size_t)rows->columns + (size_t)i]);
  }
  PetscCall(PetscFree(y));
  PetscCall(VpRowMerge(row)); /* On a torus of one or two cells some of these cells are the same. */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricGetGhosts(VpMesh mesh, size_t count, VpPrecision precision, void *array)
{
  const size_t own = (size_t)mesh->nown * count * VpRealBytes(precision);

  PetscFunctionBegin;
  if (array)
    PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, count, precision == VP_DOUBLE ? MPI_DOUBLE : MPI_FLOAT, array, (char *)array + own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricWithGhosts(VpMesh mesh, size_t count, VpPrecision precision, const void *own, void *local)
{
  const size_t block = count * VpRealBytes(precision);
  void        *all = NULL;

  PetscFunctionBegin;
  if (own) {
    PetscCall(PetscMalloc((size_t)mesh->nface * block + 1, &all));
    PetscCall(PetscMemcpy(all, own, (size_t)mesh->nown * block));
  }
  PetscCall(VpMetricGetGhosts(mesh, count, precision, all));
  *(const void **)local = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricRowsCreate(VpLevel level, VpRows *rows)
{
  const VpMesh        mesh = level->mesh;
  const VpMetric      m = level->problem.metric;
  const size_t        ndof = VpLevelValues(level);
  const VpMetricView *own = &level->view.metric;
  VpMetricView       *to = &rows->view.metric;

  PetscFunctionBegin;
  VpMetricBasisFill(&level->basis, &rows->tables);
  rows->view = (VpView){.neighbor = mesh->neighbor, .turn = mesh->turn, .hang = {.n = mesh->faces.n, .face = mesh->faces.face}};
  *to = (VpMetricView){.components = m->components,
                       .spread = m->spread,
                       .precision = m->precision,
                       .period = mesh->nface + 1,
                       .cell = own->cell,
                       .mass = own->mass,
                       .penalty = own->penalty,
                       .beyond = own->beyond,
                       .slope = rows->tables.slope,
                       .end = rows->tables.end,
                       .half = rows->tables.half,
                       .first = m->first,
                       .part = m->part};
  rows->most = ndof * (1 + 2 * (size_t)mesh->dim * (size_t)VpMostBeyond(mesh->dim, mesh->faces.n));
  rows->create = MetricRow;
  PetscCall(VpMetricWithGhosts(mesh, VpMetricSideNumbers(m, mesh->dim), m->precision, own->side, &to->side));
  PetscCall(VpMetricWithGhosts(mesh, (size_t)VpMetricAffine(mesh->dim, m->components), VP_DOUBLE, own->affine, &to->affine));
  PetscCall(VpMetricWithGhosts(mesh, 1, VP_DOUBLE, own->scale, &to->scale));
  PetscCall(VpMetricWithGhosts(mesh, ndof, m->precision, own->factor, &to->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricRowsDestroy(VpRows *rows)
{
  VpMetricView *view = &rows->view.metric;

  PetscFunctionBegin;
  if (!view->components) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(view->side));
  PetscCall(PetscFree(view->affine));
  PetscCall(PetscFree(view->scale));
  PetscCall(PetscFree(view->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell beyond a side may be the cell itself. */
PetscErrorCode VpMetricDiagonal(VpLevel level, double diagonal[])
{
  const VpMesh mesh = level->mesh;
  const size_t ndof = VpLevelValues(level);
  const int    sides = 2 * mesh->dim * VpMostBeyond(mesh->dim, mesh->faces.n);
  double      *y;
  VpRows       rows = {.level = level};

  PetscFunctionBegin;
  PetscCall(VpMetricRowsCreate(level, &rows));
  PetscCall(PetscCalloc1((1 + (size_t)sides) * ndof, &y));
  for (int32_t c = 0; c < mesh->nown; c++) {
    int32_t beyond[VP_MOST_BEYOND];

    ListBeyond(mesh, c, beyond);
    for (size_t i = 0; i < ndof; i++) {
      double *sum = diagonal + (size_t)c * ndof + i;

      PetscCall(HostOps(level)->column(&rows.view, c, beyond, (int)i, y));
      *sum = y[i];
      for (int s = 0; s < sides; s++) *sum += beyond[s] == c ? y[(size_t)(1 + s) * ndof + i] : 0;
    }
  }
  PetscCall(PetscFree(y));
  PetscCall(VpMetricRowsDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
