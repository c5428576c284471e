/* The diagonal of a form with numbers at points (VpPointForm), for host and device. The function of node i is a product of functions of one
   direction each, and so are the products of its derivatives d and e at a point. The diagonal is the sum of such products times numbers of
   points, which is taken along one direction after the other. On a device the threads of a block work on a cell together. */
#pragma once
#include "ops.h"

#ifdef __CUDA_ARCH__
  #define VP_EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
  #define VP_TOGETHER() __syncthreads()
#else
  #define VP_EACH(i, n) for (int i = 0; i < (n); i++)
  #define VP_TOGETHER()
#endif

VP_POINT int VpPointsOf(int n, int dim)
{
  return dim == 0 ? 1 : n * (dim == 1 ? 1 : dim == 2 ? n : n * n);
}
/* number i of an array of a metric */
VP_POINT double VpMetricNumber(const VpMetricView *m, const void *array, size_t i)
{
  return m->precision == VP_DOUBLE ? ((const double *)array)[i] : ((const float *)array)[i];
}
/* G of a cell at point q, less what entries on both sides of the diagonal have twice */
VP_POINT double VpPointNumber(const VpMetricView *m, int dim, int points, size_t at, int entry, int q)
{
  if (!m->affine) return VpMetricNumber(m, m->cell, (at * m->components + entry) * points + q);
  return m->affine[at * VpMetricAffine(dim, m->components) + entry] * (m->cell ? VpMetricNumber(m, m->cell, at * points + q) : 1);
}
/* row r of H at point q of a side, one of `points` */
VP_POINT double VpSideNumber(const VpMetricView *m, int dim, int points, size_t at, int side, int r, int q)
{
  const int    rows = VpMetricRows(dim, m->components), stored = m->affine ? 1 : rows;
  const size_t first = ((at * 2 * dim + side) * stored + (stored == rows ? r : 0)) * m->spread;
  const double H = VpMetricNumber(m, m->side, first + (m->spread == points ? q : 0));

  if (r == 0 || stored == rows) return H;
  return (side % 2 ? H : -H) * m->affine[at * VpMetricAffine(dim, m->components) + m->components + side / 2 * (rows - 1) + r - 1];
}
/* Turns numbers at points, x [n^dim], into the sums over points for every node, by the table of each direction. y [n^dim]: scratch. Returns
   which of both has the sums. */
VP_POINT double *VpSumPoints(const VpPointForm *f, int dim, const int table[], double *x, double *y)
{
  const int n = f->n, count = VpPointsOf(n, dim);

  for (int d = 0, stride = 1; d < dim; d++, stride *= n) {
    const double *T = f->square[table[d]];
    double       *from = d % 2 ? y : x, *to = d % 2 ? x : y;

    VP_TOGETHER();
    VP_EACH(i, count)
    {
      const int at = i / stride % n;
      double    sum = 0;

      for (int q = 0; q < n; q++) sum += T[q * n + at] * from[i + (q - at) * stride];
      to[i] = sum;
    }
  }
  VP_TOGETHER();
  return dim % 2 ? y : x;
}
/* Adds a side's terms, sum of sigma V^2 - V F, to the diagonal. x, y: scratch */
VP_POINT void VpSumSide(const VpPointForm *f, size_t at, int side, double *x, double *y, double *diagonal)
{
  const VpMetricView *m = &f->metric;
  const int           n = f->n, d = side / 2, stride = VpPointsOf(n, d), face = VpPointsOf(n, f->dim - 1);

  for (int r = -1; r < VpMetricRows(f->dim, m->components); r++) { /* sigma, and the rows of H */
    const int     table[2] = {r == 1, r == 2};
    const double *by = f->end[side % 2][r == 0];
    double       *sum;

    VP_EACH(q, face)
    {
      const double H = VpSideNumber(m, f->dim, face, at, side, r < 0 ? 0 : r, q);

      x[q] = r < 0 ? m->beyond[(at * 2 * f->dim + side) * face + q] + m->penalty[at] * H : -H;
    }
    sum = VpSumPoints(f, f->dim - 1, table, x, y);
    VP_EACH(i, face * n) diagonal[i] += by[i / stride % n] * sum[i / (stride * n) * stride + i % stride];
    VP_TOGETHER();
  }
}
/* diagonal [n^dim] = what a cell adds at its nodes. x, y [n^dim]: scratch */
VP_POINT void VpSumPointForm(const VpPointForm *f, int32_t cell, double *x, double *y, double *diagonal)
{
  const VpMetricView *m = &f->metric;
  const int           dim = f->dim, count = VpPointsOf(f->n, dim), full = m->components > dim;
  const size_t        at = cell % m->period;

  VP_EACH(i, count) diagonal[i] = 0;
  for (int pair = 0; pair < dim * dim + (m->mass != NULL); pair++) {
    const int d = pair / dim, e = pair % dim, entry = VpMetricEntry(dim, m->components, d, e);
    int       table[3];
    double   *sum;

    if (d < dim && (e < d || (e > d && !full))) continue;
    for (int g = 0; g < 3; g++) table[g] = d < dim ? (g == d) + (g == e) : 0;
    VP_EACH(q, count)
    x[q] = d < dim ? VpPointNumber(m, dim, count, at, entry, q) * (d == e ? 1 : 2) : m->mass[at * count + q];
    sum = VpSumPoints(f, dim, table, x, y);
    VP_EACH(i, count) diagonal[i] += sum[i];
    VP_TOGETHER();
  }
  for (int side = 0; side < 2 * dim; side++)
    if (f->neighbor[(size_t)cell * 2 * dim + side] < 0) VpSumSide(f, at, side, x, y, diagonal);
}
