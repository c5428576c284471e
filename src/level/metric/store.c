/* Stores G and H of a metric in as few numbers as they have: parallelepipeds, and a number as the coefficient on boxes, need one matrix a
   cell. */
#include "../internal.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <stdatomic.h>

/* what may be so in all cells */
enum { SHAPED = 1, SAME_G = 2, SAME_H = 4, SAME_ROOT = 8, ALL = 15 };
#define ROUNDING 1e-13 /* of equal numbers that were computed at different points, for k^2 cells' sizes in that of the domain */

typedef struct {
  int           dim, size, face, rows, components;
  const double *G, *H;
  VpMetric      m;
  double        rounding; /* of equal numbers, a fraction */
  _Atomic int   so;       /* bits */
} Storing;

static PetscBool Differ(const Storing *s, double a, double b, double size)
{
  return (PetscBool) !(fabs(a - b) <= s->rounding * size);
}

/* number of the direction of row r > 0 of H */
static int AlongSide(int d, int r)
{
  return r - 1 < d ? r - 1 : r;
}

/* H_r / H_dd of G = S on an upper side */
static double RatioOf(const Storing *s, const double S[], int stride, int d, int r)
{
  return S[stride * VpMetricEntry(s->dim, s->components, d, AlongSide(d, r))] / S[stride * VpMetricEntry(s->dim, s->components, d, d)];
}

/* what is so of the numbers G of a cell */
static int LookAtCell(const Storing *s, const double *G)
{
  int so = ALL;

  for (int d = 0; d < s->dim; d++) {
    for (int e = d; e < s->dim && (e == d || s->components > s->dim); e++) {
      const double *entry = G + VpMetricEntry(s->dim, s->components, d, e) * s->size;
      const double *dd = G + VpMetricEntry(s->dim, s->components, d, d) * s->size;
      const double *ee = G + VpMetricEntry(s->dim, s->components, e, e) * s->size;

      for (int q = 0; q < s->size; q++) {
        const double size = sqrt(dd[q] * ee[q]);

        if (Differ(s, entry[q], G[q] / G[0] * entry[0], size)) so &= ~SHAPED;
        if (Differ(s, entry[q], entry[0], size)) so &= ~SAME_G;
      }
    }
  }
  return so;
}

/* what is so of the numbers H of a cell's side. G: of the cell */
static int LookAtSide(const Storing *s, int side, const double *G, const double *H)
{
  int so = ALL;

  for (int l = 0; l < s->face; l++) {
    if (Differ(s, H[l], H[0], H[0])) so &= ~SAME_H;
    for (int r = 1; r < s->rows; r++) {
      const int    d = side / 2, e = AlongSide(d, r);
      const double size =
        sqrt(G[VpMetricEntry(s->dim, s->components, e, e) * s->size] / G[VpMetricEntry(s->dim, s->components, d, d) * s->size]);

      if (Differ(s, H[r * s->face + l], (side % 2 ? H[l] : -H[l]) * RatioOf(s, G, s->size, d, r), H[l] * size)) so &= ~SHAPED;
    }
  }
  return so;
}

static void LookAtCells(void *context, int32_t piece, int32_t first, int32_t last)
{
  Storing *s = context;

  for (int32_t cell = first; cell < last && s->so; cell++) {
    const double *G = s->G + (size_t)cell * (size_t)(s->components * s->size), *root = s->m->root;
    int           so = LookAtCell(s, G);

    for (int side = 0; side < 2 * s->dim; side++)
      so &= LookAtSide(s, side, G, s->H + ((size_t)cell * 2 * (size_t)s->dim + (size_t)side) * (size_t)(s->rows * s->face));
    for (int q = 0; root && q < s->size; q++) {
      const double *own = root + (size_t)cell * (size_t)s->size;

      if (Differ(s, own[q], own[0], own[0])) so &= ~SAME_ROOT;
    }
    s->so &= so;
  }
}

/* Sets S of all cells, and the ratios of H. */
static PetscErrorCode MakeShapes(const Storing *s)
{
  const size_t each = (size_t)VpMetricShape(s->dim, s->components);

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)s->m->ncell * each + 1, &s->m->shape));
  for (int32_t cell = 0; cell < s->m->ncell; cell++) {
    const double *G = s->G + (size_t)cell * (size_t)(s->components * s->size);
    double       *S = s->m->shape + (size_t)cell * each, *ratio = S + s->components;

    for (int c = 0; c < s->components; c++) S[c] = G[c * s->size];
    for (int d = 0; d < s->dim; d++) {
      for (int r = 1; r < s->rows; r++) *ratio++ = RatioOf(s, S, 1, d, r);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* `count` numbers that are `stride` apart, in `from`, of each of n pieces; relative: divided by the first one */
typedef struct {
  const double *from;
  size_t        n, stride, count;
  PetscBool     relative;
} Numbers;

static PetscErrorCode StoreNumbers(Numbers a, VpPrecision precision, void **to)
{
  const size_t bytes = precision == VP_DOUBLE ? sizeof(double) : sizeof(float);

  PetscFunctionBegin;
  PetscCall(VpMallocBytes(a.n * a.count * bytes + 1, to));
  for (size_t i = 0; i < a.n; i++) {
    const double *from = a.from + i * a.stride;
    const double  factor = a.relative ? 1 / from[0] : 1;

    for (size_t k = 0; k < a.count; k++) {
      if (precision == VP_DOUBLE) ((double *)*to)[i * a.count + k] = factor * from[k];
      else ((float *)*to)[i * a.count + k] = (float)(factor * from[k]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds the root, of which the basis is made, to single precision, and stores it so. Or gives the scale what is the same in a cell. */
static PetscErrorCode StoreRoot(const Storing *s, VpPrecision precision)
{
  const VpMetric m = s->m;
  const size_t   cells = (size_t)m->ncell, size = (size_t)s->size;

  PetscFunctionBegin;
  if (!m->root) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t i = 0; i < cells * size && precision == VP_SINGLE; i++) m->root[i] = (double)(float)m->root[i];
  if (s->so & SAME_ROOT) {
    for (size_t i = 0; i < cells; i++) m->scale[i] *= m->root[i * size];
  } else if (precision == VP_DOUBLE) m->factor = m->root;
  else PetscCall(StoreNumbers((Numbers){m->root, cells, size, size, PETSC_FALSE}, precision, &m->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Store(const Storing *s, VpPrecision precision, double **G, double **H)
{
  const VpMetric m = s->m;
  const size_t   cells = (size_t)m->ncell, all = (size_t)(s->components * s->size), side = (size_t)(s->rows * s->face);
  const Numbers  a = {*G, cells, all, s->so & SHAPED ? (size_t)s->size : all, (PetscBool)((s->so & SHAPED) > 0)};
  const Numbers  h = {*H, cells * 2 * (size_t)s->dim, side, s->so & SHAPED ? (size_t)m->spread : side, PETSC_FALSE};

  PetscFunctionBegin;
  PetscCall(StoreRoot(s, precision));
  if (s->so & SHAPED) PetscCall(MakeShapes(s));
  if (s->so & SHAPED || precision == VP_SINGLE) {
    if (!(s->so & SHAPED && s->so & SAME_G)) PetscCall(StoreNumbers(a, precision, &m->cell));
    PetscCall(PetscFree(*G));
    PetscCall(StoreNumbers(h, precision, &m->side));
    PetscCall(PetscFree(*H));
  } else {
    m->cell = *G;
    m->side = *H;
    *G = *H = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMetricStore(VpMesh mesh, int n, VpPrecision precision, double **G, double **H, VpMetric m)
{
  Storing s = {.dim = mesh->dim, .face = VpFaceSize(n, mesh->dim), .components = m->components, .G = *G, .H = *H, .m = m, .so = ALL};
  int     so;

  PetscFunctionBegin;
  s.size = s.face * n;
  s.rows = VpMetricRows(s.dim, s.components);
  s.rounding = ROUNDING * n * n * pow((double)mesh->ncell, 1. / s.dim);
  VpLoop(m->ncell, LookAtCells, &s);
  so = s.so;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &so, 1, MPI_INT, MPI_BAND, mesh->comm));
  s.so = so;
  m->precision = precision;
  m->spread = so & SHAPED && so & SAME_H ? 1 : s.face;
  PetscCall(VpTogether(mesh->comm, Store(&s, precision, G, H)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double VpMetricNumbers(VpMetric m, int dim, int n)
{
  const double face = VpFaceSize(n, dim), cell = m->cell ? (m->shape ? 1 : m->components) : 0;
  const double side = 2. * dim * (m->shape ? 1 : VpMetricRows(dim, m->components)) * m->spread / (face * n);

  return (cell + side + (m->factor && m->factor != m->root)) * (m->precision == VP_DOUBLE ? 1 : 0.5);
}
