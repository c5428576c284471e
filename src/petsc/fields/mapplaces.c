/* What functions of points need of the map of cells: points, normals, elements of volume and area, and gradients in physical space. */
#include "places.h"

static PetscBool NeedsOutflow(const VpField *field, const VpPlacesLoop *loop)
{
  return (PetscBool)(field->level->problem.metric && loop->needs & VP_NEEDS_OUTFLOW);
}

static PetscBool HasNeeds(const VpField *field, const VpPlacesLoop *loop)
{
  return (PetscBool)((field->mesh->geometry->map && loop->needs) || NeedsOutflow(field, loop));
}

/* numbers of a point: x, normal, measure, turn and J */
static size_t NumbersOf(int dim)
{
  return (size_t)(1 + 2 * dim + 2 * dim * dim);
}

size_t VpMapScratch(const VpField *field, const VpPlacesLoop *loop)
{
  if (!HasNeeds(field, loop)) return 0;
  return (size_t)loop->batch * (size_t)VpGridSize(loop->grid) * NumbersOf(field->mesh->dim);
}

/* the numbers of a point */
typedef struct {
  double *normal, *measure, *turn;
} At;

/* In a cell the derivative along the box's direction j is that of xi_j by h_j. */
static void MapInCell(int dim, const double size[], const double J[], At to)
{
  const double det = VpDeterminant(dim, J);
  double       inverse[9], volume = 1;

  VpInvert(dim, J, det, inverse);
  for (int j = 0; j < dim; j++) {
    volume *= size[j];
    for (int r = 0; r < dim; r++) to.turn[r * dim + j] = inverse[j * dim + r] * size[j];
  }
  *to.measure = fabs(det) / volume;
}

/* On a side J^-T e_d points along the normal, and its length times |det J| is the area element. The derivative along d is the outward
   one. */
static void MapOnSide(int dim, int side, const double size[], const double J[], At to)
{
  const int    d = side / 2, sign = side % 2 ? 1 : -1;
  const double det = VpDeterminant(dim, J);
  double       inverse[9], length = 0, area = 1;

  VpInvert(dim, J, det, inverse);
  for (int r = 0; r < dim; r++) length += inverse[d * dim + r] * inverse[d * dim + r];
  length = sqrt(length);
  for (int r = 0; r < dim; r++) to.normal[r] = sign * inverse[d * dim + r] / length;
  for (int j = 0; j < dim; j++) {
    area *= j == d ? 1 : size[j];
    to.turn[j] = 0;
    for (int r = 0; r < dim; r++) to.turn[j] += inverse[j * dim + r] * to.normal[r] * size[j] * (j == d ? sign : 1);
  }
  *to.measure = fabs(det) * length / area;
}

/* turn = row d of G on a side, by which derivatives in the reference cell become what flows out */
static void FindOutflow(const VpField *field, VpSet set, const VpPlaces *places, size_t size, double turn[])
{
  const VpMetric metric = field->level->problem.metric;
  const int      dim = field->mesh->dim, d = set.side / 2, rows = VpMetricRows(dim, metric->components);
  const double  *G = metric->outflow[set.given][set.side] + (size_t)places->first * (size_t)rows * size;

  for (int32_t i = 0; i < places->n; i++, G += (size_t)rows * size) {
    const double *h = VpPlaceSize(places, i);

    for (size_t p = 0; p < size; p++, turn += dim) {
      for (int j = 0, r = 1; j < dim; j++) turn[j] = j == d ? h[j] * G[p] : rows > 1 ? h[j] * G[(size_t)r++ * size + p] : 0;
    }
  }
}

/* memory for n points of places */
typedef struct {
  double *x, *normal, *measure, *turn, *J;
} Memory;

static Memory MemoryFor(size_t n, int dim, double scratch[])
{
  Memory m = {.x = scratch};

  m.normal = m.x + n * (size_t)dim;
  m.measure = m.normal + n * (size_t)dim;
  m.turn = m.measure + n;
  m.J = m.turn + n * (size_t)(dim * dim);
  return m;
}

/* all numbers of all points of places from the map; rows: of turn */
static void MapAll(const VpField *field, const VpPlacesLoop *loop, const VpPlaces *places, int rows, Memory m)
{
  const int        dim = field->mesh->dim;
  const VpGrid    *grid = loop->grid;
  const VpGeometry g = field->mesh->geometry;
  const size_t     size = (size_t)VpGridSize(grid);
  VpMapGrid        at;

  VpMapGridSet(g->map, grid->count, (const double *const[]){grid->x[0], grid->x[1], grid->x[2]}, &at);
  for (int32_t i = 0; i < places->n; i++) {
    const double *h = VpPlaceSize(places, i);

    VpGeometryEvaluateGrid(g, VpPlaceCell(places, i), &at, m.x + (size_t)i * size * (size_t)dim, m.J);
    for (size_t p = 0; p < size; p++) {
      const size_t  point = (size_t)i * size + p;
      const double *J = m.J + p * (size_t)(dim * dim);
      const At      to = {m.normal + point * (size_t)dim, m.measure + point, m.turn + point * (size_t)(rows * dim)};

      if (loop->set.side < 0) MapInCell(dim, h, J, to);
      else MapOnSide(dim, loop->set.side, h, J, to);
    }
  }
}

void VpMapPlaces(const VpField *field, const VpPlacesLoop *loop, VpPlaces *places, double scratch[])
{
  const int dim = field->mesh->dim, rows = loop->set.side < 0 ? dim : 1;
  Memory    m;

  if (!HasNeeds(field, loop)) return;
  m = MemoryFor((size_t)places->n * (size_t)VpGridSize(loop->grid), dim, scratch);
  if (NeedsOutflow(field, loop)) FindOutflow(field, loop->set, places, (size_t)VpGridSize(loop->grid), m.turn);
  else MapAll(field, loop, places, rows, m);
  if (loop->needs & VP_NEEDS_POINTS) places->point = m.x;
  if (loop->needs & VP_NEEDS_NORMALS && loop->set.side >= 0) places->normal = m.normal;
  if (loop->needs & VP_NEEDS_MEASURE) places->measure = m.measure;
  if (loop->needs & (VP_NEEDS_GRADIENT | VP_NEEDS_OUTFLOW)) places->turn = m.turn;
  places->rows = places->turn ? rows : 0;
}
