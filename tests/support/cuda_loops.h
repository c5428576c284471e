/* The CUDA kernels' work as plain loops, in double. A value of a cell at multi-index i[]; lines by replacing i[d]. */
#pragma once
#include "cuda_level.h"

static int At(int dim, int n, const int i[3])
{
  return i[0] + n * i[1] + (dim == 3 ? n * n * i[2] : 0);
}

static void Index(int n, int at, int i[3])
{
  i[0] = at % n, i[1] = at / n % n, i[2] = at / n / n;
}

/* one value of A x; line[d]: D, g of the cell; use(beyond) says whether a neighbour counts; value(cell, at) */
template <class Value, class Use> static double ApplyAt(const Level &v, int32_t cell, int at, const double *const line[3], Value value, Use use)
{
  const int n = v.n, nt = v.basis.nt;
  double    y = 0;
  int       i[3];

  Index(n, at, i);
  for (int d = 0; d < v.dim; d++) {
    const double *D = line[d], *g = D + n * n;
    const int     id = i[d];
    for (int j = 0; j < n; j++) {
      i[d] = j;
      y += D[id * n + j] * value(cell, At(v.dim, n, i));
    }
    for (int s = 0; s < 2; s++) {
      const int32_t beyond = v.neighbor[(size_t)cell * 2 * v.dim + 2 * d + s];
      double        V = 0, Q = 0;
      if (beyond < 0 || !use(beyond)) continue;
      for (int t = 0; t < nt; t++) {
        i[d] = v.basis.first[1 - s] + t;
        const double u = value(beyond, At(v.dim, n, i));
        V += v.traces[(2 * (1 - s)) * nt + t] * u;
        Q += v.traces[(2 * (1 - s) + 1) * nt + t] * u;
      }
      y += g[2 * s * n + id] * V + g[(2 * s + 1) * n + id] * Q;
    }
    i[d] = id;
  }
  return y;
}

static Reals Apply(const Level &v, const Reals &x)
{
  Reals         y(x.size());
  const double *line[3];

  for (int32_t cell = 0; cell < v.ncell; cell++) {
    for (int d = 0; d < v.dim; d++) line[d] = &v.lines[(size_t)v.line[(size_t)cell * v.dim + d] * VpLineSize(v.n)];
    for (int at = 0; at < v.per; at++)
      y[(size_t)cell * v.per + at] = ApplyAt(
        v, cell, at, line, [&](int32_t c, int a) { return x[(size_t)c * v.per + a]; },
        [](int32_t) { return true; });
  }
  return y;
}

/* out = M in along direction d, of an array with extents [rows] -> [rows], m a side */
static Reals Along(int dim, int m, int d, const double *M, const Reals &in)
{
  Reals out(in.size());
  int   i[3];

  for (int at = 0; at < (int)in.size(); at++) {
    Index(m, at, i);
    const int id = i[d];
    double    sum = 0;
    for (int j = 0; j < m; j++) {
      i[d] = j;
      sum += M[id * m + j] * in[At(dim, m, i)];
    }
    out[at] = sum;
  }
  return out;
}

static void SweepPatch(const Level &v, VpForm form, int32_t p, unsigned done, const Reals &b, Reals x[2])
{
  const int      n = v.n, m = 2 * n, nq = 1 << v.dim, size = power(m, v.dim), w = VpFdmSize(n), wl = VpLineSize(n);
  const int32_t *cells = &v.patch[(size_t)p * nq];
  const double   weight = v.weight.empty() ? 1 : v.weight[p];
  Reals          r(size);
  auto           now = [&](int32_t c) { return __builtin_popcount(v.cover[c] & done) & 1; };
  auto           inside = [&](int32_t c) { return std::find(cells, cells + nq, c) < cells + nq; };
  auto           split = [&](int at, int &q, int &in) {
    int i[3], c[3] = {0, 0, 0};
    Index(m, at, i);
    q = 0;
    for (int d = 0; d < v.dim; d++) {
      q |= i[d] / n << d;
      c[d] = i[d] % n;
    }
    in = At(v.dim, n, c);
  };

  for (int at = 0; at < size; at++) {
    int           q, in;
    const double *line[3];
    split(at, q, in);
    for (int d = 0; d < v.dim; d++) {
      const int32_t entry = v.line[(size_t)cells[q] * v.dim + d];
      const int     s = q >> d & 1;
      const bool    drop = form == VP_FORM_LOCAL && v.neighbor[(size_t)cells[q] * 2 * v.dim + 2 * d + s] >= 0;
      line[d] = drop ? &v.drop[(size_t)(2 * entry + s) * wl] : &v.lines[(size_t)entry * wl];
    }
    r[at] = b[(size_t)cells[q] * v.per + in];
    if (form == VP_FORM_GIVEN) continue;
    r[at] -= ApplyAt(
      v, cells[q], in, line,
      [&](int32_t c, int a) { return form == VP_FORM_REPLACE && inside(c) ? 0. : x[now(c)][(size_t)c * v.per + a]; },
      [&](int32_t c) { return form != VP_FORM_LOCAL || inside(c); });
  }
  for (int d = 0; d < v.dim; d++) r = Along(v.dim, m, d, &v.fdm[(size_t)v.type[(size_t)p * v.dim + d] * w], r);
  for (int at = 0; at < size; at++) {
    double sum = v.reaction * weight;
    int    i[3];
    Index(m, at, i);
    for (int d = 0; d < v.dim; d++) sum += v.fdm[(size_t)v.type[(size_t)p * v.dim + d] * w + 2 * m * m + i[d]];
    r[at] *= weight / sum;
  }
  for (int d = 0; d < v.dim; d++) r = Along(v.dim, m, d, &v.fdm[(size_t)v.type[(size_t)p * v.dim + d] * w + m * m], r);
  for (int at = 0; at < size; at++) {
    int q, in;
    split(at, q, in);
    const size_t to = (size_t)cells[q] * v.per + in;
    const int    k = now(cells[q]);
    x[1 - k][to] = r[at] + (form == VP_FORM_REPLACE ? 0 : x[k][to]);
  }
}

static Reals CellTensor(const Level &v, const double *M[3], const double *in)
{
  Reals a(in, in + v.per);

  for (int d = 0; d < v.dim; d++) a = Along(v.dim, v.n, d, M[d], a);
  return a;
}

static double Error(const Reals &a, const Reals &b, size_t first, size_t last)
{
  double e = 0, s = 0;

  for (size_t i = first; i < last; i++) {
    if (!(fabs(a[i] - b[i]) < 1e300)) return INFINITY;
    e += (a[i] - b[i]) * (a[i] - b[i]);
    s += b[i] * b[i];
  }
  return sqrt(e / s);
}
