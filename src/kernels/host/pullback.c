/* The making of a metric on the host, in threads. Numbers of the points of a cell lie side by side. */
#include "host.h"
#include "maps.h"
#include "../../base/threads.h"
#include <string.h>

enum { MOST = VP_MAX_N * VP_MAX_N * VP_MAX_N };
typedef double Row[MOST];

/* G and |det J| at points of a cell or of one of its sides: as full matrices */
typedef struct {
  int sign, definite; /* as in VpMadeCell */
  Row G[6], det;
} Points;

/* Fills `to`. dim and given: as in `from` */
VP_POINT void PullBack(int dim, int given, const VpMapPoints *from, Points *to)
{
  const int points = from->size, stride = from->stride;
  int       positive = 0, negative = 0, definite = 0;

#pragma omp simd reduction(+ : positive, negative, definite)
  for (int q = 0; q < points; q++) {
    const double *at = from->J + q * dim * dim, *k = from->K + q * stride;
    double        A[9], AK[3];
    const double  det = VpAdjugate(dim, at, A);
    const int     sign = VpSignOf(dim, at, det);

    positive += sign > 0;
    negative += sign < 0;
    definite += VpKIsDefinite(dim, given, k);
    to->det[q] = fabs(det);
    for (int d = 0; d < dim; d++) {
      VpRowTimesK(dim, A, given, k, d, AK);
      for (int e = d; e < dim; e++) to->G[VpMetricEntry(dim, 6, d, e)][q] = VpEntryOfG(dim, A, AK, e, det);
    }
  }
  to->sign = positive == points ? 1 : negative == points ? -1 : 0;
  to->definite = definite == points;
}

static void PullBackAny(const VpMapPoints *from, Points *to)
{
  if (from->dim == 2 && from->given == 1) PullBack(2, 1, from, to);
  else if (from->dim == 2 && from->given == 2) PullBack(2, 2, from, to);
  else if (from->dim == 2) PullBack(2, 3, from, to);
  else if (from->given == 1) PullBack(3, 1, from, to);
  else if (from->given == 3) PullBack(3, 3, from, to);
  else PullBack(3, 6, from, to);
}

static void FindPoints(const VpMaking *m, int32_t cell, int side, Points *to)
{
  const VpMapGrid  *grid = &m->at[1 + side];
  double            J[9 * MOST];
  const VpMapPoints from = {m->dim, m->given, grid->size, m->flat ? 0 : m->given, J, VpMakingK(m, cell, side, 0)};

  VpHostMapCell(m->dim, &m->maps, cell, grid, NULL, J);
  PullBackAny(&from, to);
}

int VpHostPullBack(const VpMapPoints *from, double G[], double det[])
{
  const size_t bytes = (size_t)from->size * sizeof(double);
  Points       at;

  PullBackAny(from, &at);
  for (int i = 0; i < from->dim * (from->dim + 1) / 2; i++) memcpy(G + i * from->size, at.G[i], bytes);
  memcpy(det, at.det, bytes);
  return at.definite;
}

/* Rotates the directions p and q of the matrices of all points. */
static void RotateMatrices(int dim, int size, int p, int q, Row S[])
{
  double *restrict pp = S[VpMetricEntry(dim, 6, p, p)], *restrict qq = S[VpMetricEntry(dim, 6, q, q)],
                   *restrict pq = S[VpMetricEntry(dim, 6, p, q)];
  double *restrict pr = dim == 3 ? S[VpMetricEntry(dim, 6, p, 3 - p - q)] : NULL, *restrict qr = dim == 3
                                                                                                   ? S[VpMetricEntry(dim, 6, q, 3 - p - q)]
                                                                                                   : NULL;

  for (int i = 0; i < size; i++) {
    double none[2] = {0, 0};

    VpRotate(pp + i, qq + i, pq + i, dim == 3 ? pr + i : none, dim == 3 ? qr + i : none + 1);
  }
}

static void TakeMean(const VpMaking *m, const Points *at, int d, int e, VpMadeCell *to)
{
  const double *G = at->G[VpMetricEntry(m->dim, 6, d, e)];
  double        sum = 0;

  for (int q = 0; q < m->at[0].size; q++) sum += m->weight[q] * G[q];
  to->mean[VpMetricEntry(m->dim, m->components, d, e)] = sum;
}

/* Sets mean, variation, least and most. Changes G to D^-1/2 G D^-1/2 and its eigenvalues. */
static void FindExtremes(const VpMaking *m, Points *at, VpMadeCell *to)
{
  const int dim = m->dim, size = m->at[0].size;

  to->least = DBL_MAX;
  to->most = 0;
  to->variation = 1;
  for (int d = 0; d < dim; d++) {
    const double *G = at->G[VpMetricEntry(dim, 6, d, d)];
    double        least = G[0], most = G[0];

    for (int e = d; e < dim && (e == d || m->components > dim); e++) TakeMean(m, at, d, e, to);
    for (int q = 0; q < size; q++) {
      least = G[q] < least ? G[q] : least;
      most = G[q] > most ? G[q] : most;
    }
    to->variation = fmax(to->variation, most / least);
  }
  for (int d = 0; d < dim; d++) {
    for (int e = d; e < dim; e++) {
      const double scale = 1 / sqrt(to->mean[VpMetricEntry(dim, m->components, d, d)] * to->mean[VpMetricEntry(dim, m->components, e, e)]);
      double      *G = at->G[VpMetricEntry(dim, 6, d, e)];

      for (int q = 0; q < size; q++) G[q] *= scale;
    }
  }
  for (int i = 0; m->components > dim && i < (dim == 3 ? 3 * VP_ROTATIONS : 1); i++)
    RotateMatrices(dim, size, i % 3 / 2, 1 + (i % 3 + 1) / 2, at->G);
  for (int d = 0; d < dim; d++) {
    for (int q = 0; q < size; q++) {
      const double lambda = at->G[VpMetricEntry(dim, 6, d, d)][q];

      to->least = lambda < to->least ? lambda : to->least;
      to->most = lambda > to->most ? lambda : to->most;
    }
  }
}

/* the largest quotient of a number on the diagonal of K at two points of a cell */
static double FindChange(const VpMaking *m, int32_t cell)
{
  const double *K = VpMakingK(m, cell, -1, 0);
  double        change = 1;

  for (int d = 0; d < (m->given > 1 ? m->dim : 1) && !m->flat; d++) {
    const int at = VpDiagonalOfK(m->dim, m->given, d);
    double    least = K[at], most = K[at];

    for (int q = 1; q < m->at[0].size; q++) {
      least = fmin(least, K[q * m->given + at]);
      most = fmax(most, K[q * m->given + at]);
    }
    change = fmax(change, most / least);
  }
  return change;
}

static void MakeCell(const VpMaking *m, int32_t cell, VpMadeCell *to)
{
  const int     size = m->at[0].size;
  const size_t  first = (size_t)cell * (size_t)size;
  const double *h = m->maps.bounds + 6 * (size_t)cell + 3, volume = h[0] * h[1] * h[2];
  Points        at;

  FindPoints(m, cell, -1, &at);
  *to = (VpMadeCell){.sign = at.sign, .definite = at.definite, .jump = 1, .change = FindChange(m, cell)};
  for (int d = 0; d < m->dim; d++) {
    for (int e = d; e < m->dim && (e == d || m->components > m->dim); e++)
      memcpy(m->G + (size_t)m->components * first + VpMetricEntry(m->dim, m->components, d, e) * size, at.G[VpMetricEntry(m->dim, 6, d, e)],
             (size_t)size * sizeof(double));
  }
  for (int q = 0; q < size; q++) {
    if (m->root) m->root[first + (size_t)q] = VpAsStored(m->precision, sqrt(volume / at.det[q]));
    if (m->mass) m->mass[first + (size_t)q] = at.det[q] * (m->reaction ? m->reaction[first + (size_t)q] : m->constant);
    if (m->mass) to->mass += m->weight[q] * m->mass[first + (size_t)q];
    to->volume += m->weight[q] * at.det[q];
  }
  FindExtremes(m, &at, to);
}

static void MakeSide(const VpMaking *m, int32_t cell, int side, VpMadeCell *made)
{
  const int     dim = m->dim, d = side / 2, face = VpFaceSize(m->n, dim), rows = VpMetricRows(dim, m->components);
  double       *H = m->H + VpSideAt(dim, cell, side, rows * face), *seen = m->seen + VpSideAt(dim, cell, side, 2 * face);
  const double *normal;
  Points        at;

  FindPoints(m, cell, side, &at);
  normal = at.G[VpMetricEntry(dim, 6, d, d)];
  made->definite &= at.definite;
  if (made->sign != at.sign) made->sign = 0;
  for (int q = 0; q < face; q++) {
    H[q] = seen[q] = normal[q];
    seen[face + q] = normal[q] * at.det[q];
    for (int r = 1; r < rows; r++) H[r * face + q] = at.G[VpMetricEntry(dim, 6, d, VpAlongSide(d, r))][q] * (side % 2 ? 1 : -1);
  }
}

void VpHostWeigh(const VpMaking *m, int32_t side, int turn, const double there[])
{
  const int     face = VpFaceSize(m->n, m->dim), rows = VpMetricRows(m->dim, m->components);
  double       *H = m->H + (size_t)side * (size_t)(rows * face), *beyond = m->beyond + (size_t)side * (size_t)face;
  const double *own = m->seen + (size_t)side * 2 * (size_t)face;
  VpMadeCell   *made = &m->made[side / (2 * m->dim)];

  for (int q = 0; q < face; q++) {
    const int    p = turn ? VpTurnPoint(m->n, turn, q) : q;
    const double weight = there ? VpOwnWeight(m, own[face + q], there[face + p]) : m->condition[2 * VpBoundaryEntry(m->neighbor[side])];
    const double other = there ? VpOwnWeight(m, there[face + p], own[face + q]) : 1;

    for (int r = 0; r < rows; r++) H[r * face + q] *= weight;
    beyond[q] = other * (there ? there[p] : own[q]);
    if (there) made->jump = fmax(made->jump, VpJumpOf(m, weight, other));
  }
}

static void ScaleCell(const VpMaking *m, int32_t cell, double *entry)
{
  const int     size = m->at[0].size;
  VpMadeCell   *made = &m->made[cell];
  const double *h = m->maps.bounds + 6 * (size_t)cell + 3;

  made->volume = made->share = 0;
  memset(made->mean, 0, sizeof(made->mean));
  for (int q = 0; q < size; q++) {
    const size_t at = (size_t)cell * (size_t)size + (size_t)q;
    const double a = *VpMakingK(m, cell, -1, q), part = m->weight[q] / sqrt(a), root = m->root ? m->root[at] : 1;

    entry[at] = root * sqrt(sqrt(a));
    made->share += part;
    made->volume += part * h[0] * h[1] * h[2] / (root * root);
    for (int i = 0; i < m->components; i++)
      made->mean[i] += part * m->G[((size_t)cell * (size_t)m->components + (size_t)i) * (size_t)size + (size_t)q];
  }
}

/* what is so of the numbers G of a cell */
static int CompareCell(const VpMaking *m, double rounding, const double *G)
{
  const int size = m->at[0].size;
  int       so = VP_ALL_SAME;

  for (int d = 0; d < m->dim; d++) {
    for (int e = d; e < m->dim && (e == d || m->components > m->dim); e++) {
      const double *entry = G + VpMetricEntry(m->dim, m->components, d, e) * size;
      const double *dd = G + VpMetricEntry(m->dim, m->components, d, d) * size, *ee = G + VpMetricEntry(m->dim, m->components, e, e) * size;

      for (int q = 0; q < size; q++) so &= VpCompareG(rounding, entry[q], entry[0], dd[q], ee[q], G[q] / G[0]);
    }
  }
  return so;
}

static PetscErrorCode MakeAllPoints(const VpMaking *m)
{
  PetscFunctionBegin;
  VP_LOOP_HEAVY (cell, m->ncell) {
    MakeCell(m, cell, &m->made[cell]);
    for (int side = 0; side < 2 * m->dim; side++) MakeSide(m, cell, side, &m->made[cell]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WeighAllSides(const VpMaking *m)
{
  const int sides = 2 * m->dim, face = VpFaceSize(m->n, m->dim);

  PetscFunctionBegin;
  VP_LOOP (cell, m->ncell) {
    for (int32_t i = sides * cell; i < sides * (cell + 1); i++) {
      const int32_t next = m->neighbor[i];
      const int     turn = m->turn ? m->turn[i] : 0;

      if (next == VP_HANGING) continue;
      VpHostWeigh(m, i, turn, next < 0 ? NULL : m->seen + VpSideAt(m->dim, next, VpTurnSide(i % sides, turn), 2 * face));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FinishAllSides(const VpMaking *m)
{
  const int sides = 2 * m->dim, face = VpFaceSize(m->n, m->dim);

  PetscFunctionBegin;
  VP_LOOP (cell, m->ncell) {
    for (int32_t i = sides * cell; i < sides * (cell + 1); i++) {
      const int32_t next = m->neighbor[i];
      double       *beyond = m->beyond + (size_t)i * (size_t)face;

      for (int q = 0; q < face && next != VP_HANGING; q++)
        beyond[q] = next < 0 ? m->penalty[cell] * m->condition[2 * VpBoundaryEntry(next) + 1] * beyond[q]
                             : m->penalty[next] * VpAsStored(m->precision, beyond[q]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ScaleUnknowns(const VpMaking *m, double *entry)
{
  PetscFunctionBegin;
  VP_LOOP (cell, m->ncell) ScaleCell(m, cell, entry);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComparePoints(const VpMaking *m, double rounding, int32_t *so)
{
  const int size = m->at[0].size, face = VpFaceSize(m->n, m->dim), rows = VpMetricRows(m->dim, m->components);

  PetscFunctionBegin;
  VP_LOOP (cell, m->ncell) {
    const double *G = m->G + (size_t)cell * (size_t)(m->components * size), *root = m->root ? m->root + (size_t)cell * (size_t)size : NULL;
    int           is = CompareCell(m, rounding, G);

    for (int i = 0; i < 2 * m->dim * face; i++)
      is &= VpCompareH(m, rounding, i / face, i % face, G, m->H + VpSideAt(m->dim, cell, i / face, rows * face));
    for (int q = 0; root && q < size; q++) {
      if (VpDiffer(rounding, root[q], root[0], root[0])) is &= ~VP_SAME_ROOT;
    }
    so[cell] = is;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeAllAffine(const VpMaking *m, double *affine)
{
  const int each = VpMetricAffine(m->dim, m->components), size = m->at[0].size;

  PetscFunctionBegin;
  VP_LOOP (cell, m->ncell) {
    for (int i = 0; i < each; i++)
      affine[(size_t)cell * (size_t)each + (size_t)i] = VpAffineNumber(m, m->G + (size_t)cell * (size_t)(m->components * size), i);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreNumbers(const VpNumbers *a, VpPrecision precision, void *to)
{
  PetscFunctionBegin;
  VP_LOOP (i, (int32_t)a->n) {
    const double *from = a->from + (size_t)i * a->stride, factor = a->relative ? 1 / from[0] : 1;

    for (size_t k = 0; k < a->count; k++) {
      if (precision == VP_DOUBLE) ((double *)to)[(size_t)i * a->count + k] = factor * from[k];
      else ((float *)to)[(size_t)i * a->count + k] = (float)(factor * from[k]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the numbers of a place from J */
VP_POINT void MapPlace(int dim, int side, int points, const double size[], const double J[], const VpPlaceNumbers *to)
{
  for (int q = 0; q < points; q++) {
    const VpPlaceNumbers at = VpNumbersAt(to, dim, side < 0 ? dim : 1, (size_t)q);

    if (side < 0) VpMapInCell(dim, size, J + q * dim * dim, &at);
    else VpMapOnSide(dim, side, size, J + q * dim * dim, &at);
  }
}

static PetscErrorCode MapPlaces(int dim, const VpCellMaps *maps, const VpPlaces *places, int side, const VpMapGrid *grid,
                                const VpPlaceNumbers *to)
{
  double    J[9 * VP_MAX_NQ * VP_MAX_NQ * VP_MAX_NQ];
  const int derives = to->normal || to->measure || to->chain;

  for (int32_t i = 0; i < places->n; i++) {
    const VpPlaceNumbers at = VpNumbersAt(to, dim, side < 0 ? dim : 1, (size_t)i * (size_t)grid->size);
    const double        *h = VpPlaceSize(places, i);

    VpHostMapCell(dim, maps, VpPlaceCell(places, i), grid, at.point, derives ? J : NULL);
    if (derives && dim == 2) MapPlace(2, side, grid->size, h, J, &at);
    else if (derives) MapPlace(3, side, grid->size, h, J, &at);
  }
  return PETSC_SUCCESS;
}

const VpMakers VpHostMakers = {.points = MakeAllPoints,
                               .weigh = WeighAllSides,
                               .finish = FinishAllSides,
                               .scale = ScaleUnknowns,
                               .compare = ComparePoints,
                               .affine = MakeAllAffine,
                               .numbers = StoreNumbers,
                               .places = MapPlaces};
