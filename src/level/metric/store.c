/* Stores G and H of a metric in as few numbers as they have: parallelepipeds, and a number as the coefficient on boxes, need one matrix a
   cell. */
#include "../internal.h"
#include "../../base/threads.h"

#define ROUNDING 1e-13 /* of equal numbers that were computed at different points, for k^2 cells' sizes in that of the domain */

/* *so = what is so in the cells of all ranks */
static PetscErrorCode CompareCells(VpMesh mesh, const VpMaking *made, const VpBackend *backend, int *so)
{
  const double rounding = ROUNDING * made->n * made->n * pow((double)mesh->ncell, 1. / made->dim);
  const size_t bytes = (size_t)made->ncell * sizeof(int32_t);
  int32_t     *of;
  void        *there;

  PetscFunctionBegin;
  *so = VP_ALL_SAME;
  PetscCall(PetscMalloc1(made->ncell + 1, &of));
  PetscCall(backend->borrow(bytes, "numbers of cells", &there));
  PetscCall(backend->make->compare(made, rounding, there));
  PetscCall(backend->download(there, bytes, of));
  PetscCall(backend->give_back(there));
  for (int32_t cell = 0; cell < made->ncell; cell++) *so &= of[cell];
  PetscCall(PetscFree(of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *to = numbers in a precision; n: pieces there is memory for */
static PetscErrorCode StoreNumbers(VpMetric m, const VpNumbers *a, size_t n, void **to)
{
  PetscFunctionBegin;
  PetscCall(VpArraysReserve(&m->arrays, n * a->count * VpRealBytes(m->precision), "coefficient at points", to));
  PetscCall(m->arrays.backend->make->numbers(a, m->precision, *to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the scale, with the root's number where that is one in every cell. Else stores the root. */
static PetscErrorCode StoreRoot(VpMesh mesh, const VpMaking *made, int so, VpMetric m)
{
  const VpBackend *backend = m->arrays.backend;
  const size_t     size = (size_t)(VpFaceSize(made->n, made->dim) * made->n), cells = (size_t)m->ncell;
  const VpNumbers  root = {m->root, cells, size, so & VP_SAME_ROOT ? 1 : size, 0};
  const PetscBool  given = (PetscBool)(m->root && so & VP_SAME_ROOT);
  double          *scale;
  void            *there;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge((size_t)m->ntraced + 1, &scale));
  if (given) {
    PetscCall(backend->borrow(cells * sizeof(double), "numbers of cells", &there));
    PetscCall(backend->make->numbers(&root, VP_DOUBLE, there));
    PetscCall(backend->download(there, cells * sizeof(double), scale));
    PetscCall(backend->give_back(there));
  } else if (m->root && m->precision == VP_DOUBLE) m->factor = m->root;
  else if (m->root) PetscCall(StoreNumbers(m, &root, (size_t)m->ntraced, &m->factor));
  VP_LOOP (c, m->ncell) scale[c] = (given ? scale[c] : 1) * (1 / sqrt(VpGeometryVolume(mesh->geometry, c)));
  PetscCall(VpPlaceArray(&m->arrays, scale, (size_t)m->ntraced, "coefficient at points", &m->scale));
  PetscCall(PetscFree(scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *kept = an array as it is, which the metric has from now on */
static void KeepArray(VpMetric m, VpArrays *array, void **kept)
{
  *kept = m->arrays.array[m->arrays.n++] = array->array[0];
  array->n = 0;
}

static PetscErrorCode StoreMatrices(VpMesh mesh, const VpMaking *made, int so, VpArrays large[2], VpMetric m)
{
  const int       face = VpFaceSize(made->n, made->dim), size = face * made->n;
  const size_t    all = (size_t)(m->components * size), side = (size_t)(VpMetricRows(made->dim, m->components) * face);
  const size_t    cells = (size_t)m->ncell, sides = 2 * (size_t)made->dim, traced = (size_t)m->ntraced;
  const PetscBool affine = (PetscBool)((so & VP_AFFINE) > 0);
  const VpNumbers G = {made->G, cells, all, affine ? (size_t)size : all, affine};
  const VpNumbers H = {made->H, cells * sides, side, affine ? (size_t)m->spread : side, 0};

  PetscFunctionBegin;
  PetscCall(StoreRoot(mesh, made, so, m));
  if (affine) {
    PetscCall(VpArraysReserve(&m->arrays, traced * (size_t)VpMetricAffine(made->dim, m->components) * sizeof(double), "matrices of cells",
                              (void **)&m->affine));
    PetscCall(m->arrays.backend->make->affine(made, m->affine));
  }
  if (affine || m->precision == VP_SINGLE) {
    if (!(affine && so & VP_SAME_G)) PetscCall(StoreNumbers(m, &G, cells, &m->cell));
    PetscCall(VpArraysRelease(&large[0]));
    PetscCall(StoreNumbers(m, &H, traced * sides, &m->side));
  } else {
    KeepArray(m, &large[0], &m->cell);
    KeepArray(m, &large[1], &m->side);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricStore(VpMesh mesh, const VpMaking *made, VpArrays large[2], VpMetric m)
{
  int so;

  PetscFunctionBegin;
  PetscCall(VpTogether(mesh->comm, CompareCells(mesh, made, m->arrays.backend, &so)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &so, 1, MPI_INT, MPI_BAND, mesh->comm));
  if (m->root && !(so & VP_SAME_ROOT)) so &= ~VP_AFFINE; /* Kernels of affine cells have no factor. */
  m->precision = made->precision;
  m->spread = so & VP_AFFINE && so & VP_SAME_H ? 1 : VpFaceSize(made->n, made->dim);
  PetscCall(VpTogether(mesh->comm, StoreMatrices(mesh, made, so, large, m)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double VpMetricNumbers(VpMetric m, int dim, int n)
{
  const double face = VpFaceSize(n, dim), cell = m->cell ? (m->affine ? 1 : m->components) : 0;
  const double side = 2. * dim * (m->affine ? 1 : VpMetricRows(dim, m->components)) * m->spread / (face * n);

  return (cell + side + (m->factor && m->factor != m->root)) * (m->precision == VP_DOUBLE ? 1 : 0.5);
}
