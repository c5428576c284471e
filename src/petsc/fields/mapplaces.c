/* What functions of points need of the map of cells: points, normals, elements of volume and area, and gradients in physical space. */
#include "places.h"

static PetscBool NeedsOutflow(const VpField *field, const VpPlacesLoop *loop)
{
  return (PetscBool)(field->level->problem.metric && loop->needs & VP_NEEDS_OUTFLOW);
}

PetscBool VpHasNeeds(const VpField *field, const VpPlacesLoop *loop)
{
  return (PetscBool)((field->mesh->geometry->map && loop->needs) || NeedsOutflow(field, loop));
}

/* rows of `chain` */
static int RowsOf(const VpField *field, const VpPlacesLoop *loop)
{
  if (!(loop->needs & (VP_NEEDS_GRADIENT | VP_NEEDS_OUTFLOW))) return 0;
  return loop->set.side < 0 ? field->mesh->dim : 1;
}

/* takes n numbers of scratch memory, unless they are not needed */
static double *TakeScratch(double **scratch, int needed, size_t n)
{
  double *at = *scratch;

  *scratch += needed ? n : 0;
  return needed ? at : NULL;
}

/* Divides scratch memory for n points. Returns how much of it that is. */
static size_t DivideScratch(const VpField *field, const VpPlacesLoop *loop, size_t n, double *scratch, VpPlaceNumbers *to)
{
  const size_t dim = (size_t)field->mesh->dim, rows = (size_t)RowsOf(field, loop);
  double      *at = scratch;

  to->point = TakeScratch(&at, loop->needs & VP_NEEDS_POINTS, n * dim);
  to->normal = TakeScratch(&at, loop->needs & VP_NEEDS_NORMALS && loop->set.side >= 0, n * dim);
  to->measure = TakeScratch(&at, loop->needs & VP_NEEDS_MEASURE, n);
  to->chain = TakeScratch(&at, rows > 0, n * rows * dim);
  return (size_t)(at - scratch);
}

size_t VpMapScratch(const VpField *field, const VpPlacesLoop *loop, int32_t batch)
{
  static double  none;
  VpPlaceNumbers to;

  return VpHasNeeds(field, loop) ? DivideScratch(field, loop, (size_t)batch * (size_t)VpGridSize(loop->grid), &none, &to) : 0;
}

/* chain = row d of G on a side, by which derivatives in the reference cell become what flows out */
static void FindOutflow(const VpField *field, VpSet set, const VpPlaces *places, size_t size, double chain[])
{
  const VpMetric metric = field->level->problem.metric;
  const int      dim = field->mesh->dim, d = set.side / 2, rows = VpMetricRows(dim, metric->components);
  const double  *G = metric->outflow[set.given][set.side] + (size_t)places->first * (size_t)rows * size;

  for (int32_t i = 0; i < places->n; i++, G += (size_t)rows * size) {
    const double *h = VpPlaceSize(places, i);

    for (size_t p = 0; p < size; p++, chain += dim) {
      for (int j = 0, r = 1; j < dim; j++) chain[j] = j == d ? h[j] * G[p] : rows > 1 ? h[j] * G[(size_t)r++ * size + p] : 0;
    }
  }
}

void VpMapGridOf(const VpField *field, const VpGrid *grid, VpMapGrid *at)
{
  VpMapGridSet(field->mesh->geometry->map, grid->count, (const double *const[]){grid->x[0], grid->x[1], grid->x[2]}, at);
}

PetscErrorCode VpMapPlaces(const VpField *field, const VpPlacesLoop *loop, const VpMapping *mapping, VpPlaces *places, double scratch[])
{
  VpPlaceNumbers to;
  PetscErrorCode error = PETSC_SUCCESS;
  size_t         size;

  if (!VpHasNeeds(field, loop)) return PETSC_SUCCESS;
  size = (size_t)VpGridSize(loop->grid);
  (void)DivideScratch(field, loop, (size_t)places->n * size, scratch, &to);
  if (NeedsOutflow(field, loop)) FindOutflow(field, loop->set, places, size, to.chain);
  else error = mapping->make->places(field->mesh->dim, &mapping->maps, places, loop->set.side, mapping->grid, &to);
  places->point = to.point;
  places->normal = to.normal;
  places->measure = to.measure;
  places->chain = to.chain;
  places->rows = RowsOf(field, loop);
  return error;
}
