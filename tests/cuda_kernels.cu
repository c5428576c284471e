/* The CUDA kernels against plain loops, slot by slot, and their speed. Without arguments: checks, TAP. `bench [k ...]`: a table.

   Meshes here: a box of 2^L cells a side in Morton order, each direction bounded by Dirichlet or Neumann faces. */
#include <petscsf.h>
extern "C" {
#include "../src/kernels/ops.h"
}
#include "../cuda/cuda.h"
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <string>
#include <vector>

typedef std::vector<double> Reals;

static int tests, failures;

static void Ok(bool good, const std::string &name, double error)
{
  tests++;
  if (!good) failures++;
  printf("%s %d - %s (%.1e)\n", good ? "ok" : "not ok", tests, name.c_str(), error);
  fflush(stdout);
}

#define Call(...)                                                                                                                          \
  do {                                                                                                                                     \
    if ((int)(__VA_ARGS__)) {                                                                                                              \
      printf("Bail out! %s\n", #__VA_ARGS__);                                                                                              \
      exit(1);                                                                                                                             \
    }                                                                                                                                      \
  } while (0)
#define Cuda(...) Call((int)(__VA_ARGS__) ? (printf("# %s\n", cudaGetErrorString(cudaGetLastError())), 1) : 0)

static int power(int n, int d)
{
  return d ? n * power(n, d - 1) : 1;
}

static double Random()
{
  return rand() / (double)RAND_MAX - 0.5;
}

/* a level: arrays on the host, reals in double */
struct Level {
  int                  dim, k, n, nc, per; /* nc: cells a side; per: values a cell */
  int32_t              ncell;
  bool                 thin;
  VpBasis              basis, outer;
  double               h[3];
  int                  boundary[6];
  std::vector<int32_t> neighbor, line, drop, patch, type, parent, child;
  std::vector<uint8_t> cover, corner;
  std::vector<int32_t> start; /* of colours */
  Reals                lines, traces, fdm, weight, P, R, enter, leave;
  double               reaction = 0;
  bool                 same; /* directions are alike and share entries */
  int                  entry(int d) const
  {
    return same ? 0 : 3 * d;
  }
};

static uint32_t Spread(int dim, uint32_t c)
{
  uint32_t m = 0;

  for (int i = 0; i < 10; i++) m |= (c >> i & 1) << (dim * i);
  return m;
}

static void Place(int dim, int32_t cell, int x[3])
{
  x[0] = x[1] = x[2] = 0;
  for (int i = 0; i < dim * 10 && i < 31; i++) x[i % dim] |= (cell >> i & 1) << (i / dim);
}

static void MakeMesh(Level &v, int dim, int k, int L, bool thin, const double h[3], const int boundary[6])
{
  v.dim = dim, v.k = k, v.n = k + 1, v.nc = 1 << L, v.thin = thin;
  v.ncell = power(v.nc, dim);
  v.per = power(v.n, dim);
  memcpy(v.h, h, sizeof(v.h));
  memcpy(v.boundary, boundary, sizeof(v.boundary));
  v.same = true;
  for (int d = 0; d < 3; d++) v.same = v.same && h[d] == h[0] && boundary[2 * d] == boundary[0] && boundary[2 * d + 1] == boundary[1];
  Call(VpBasisCreate(thin ? VP_BASIS_THIN : VP_BASIS_ORTHONORMAL, k, &v.basis));
  Call(VpBasisCreate(VP_BASIS_ORTHONORMAL, k, &v.outer));
  v.neighbor.resize((size_t)v.ncell * 2 * dim);
  v.line.resize((size_t)v.ncell * dim);
  std::vector<uint32_t> spread(v.nc);
  for (int c = 0; c < v.nc; c++) spread[c] = Spread(dim, c);
#pragma omp parallel for
  for (int32_t cell = 0; cell < v.ncell; cell++) {
    int x[3];
    Place(dim, cell, x);
    for (int d = 0; d < dim; d++) {
      const uint32_t rest = (uint32_t)cell - (spread[x[d]] << d);
      for (int s = 0; s < 2; s++) {
        const int to = x[d] + (s ? 1 : -1);
        v.neighbor[(size_t)cell * 2 * dim + 2 * d + s] = to < 0 || to >= v.nc ? boundary[2 * d + s] : (int32_t)(rest | spread[to] << d);
      }
      v.line[(size_t)cell * dim + d] = v.entry(d) + (x[d] == 0 ? 0 : x[d] == v.nc - 1 ? 2 : 1);
    }
  }
  for (int e = 0; e < 2; e++) {
    for (int t = 0; t < v.basis.nt; t++) v.traces.push_back(v.basis.value[e][v.basis.first[e] + t]);
    for (int t = 0; t < v.basis.nt; t++) v.traces.push_back(v.basis.slope[e][v.basis.first[e] + t]);
  }
}

/* entries: [direction][lower, interior, upper], then without lower, upper faces towards cells */
static void MakeLines(Level &v, double reaction)
{
  const int n = v.n, w = n * n + 4 * n;

  v.lines.assign((size_t)9 * v.dim * w, 0);
  v.drop.assign((size_t)18 * v.dim, 0);
  for (int d = 0; d < v.dim; d++) {
    for (int p = 0; p < 3; p++) {
      for (int without = 0; without < 3; without++) {
        VpLineKey key = {
          v.h[d], 1, {p == 0 ? v.boundary[2 * d] : VP_FACE_CELL, p == 2 ? v.boundary[2 * d + 1] : VP_FACE_CELL}, {v.h[d], v.h[d]}, {1, 1}};
        const int e = v.entry(d) + p + without * 3 * v.dim;
        if (without && key.face[without - 1] == VP_FACE_CELL) key.face[without - 1] = VP_FACE_NONE;
        VpLineBuild(&v.basis, &key, 1, reaction / v.dim, &v.lines[(size_t)e * w], &v.lines[(size_t)e * w + n * n]);
      }
      for (int s = 0; s < 2; s++) v.drop[2 * (v.entry(d) + p) + s] = v.entry(d) + p + (1 + s) * 3 * v.dim;
    }
  }
}

static int Side(int boundary)
{
  return boundary == VP_DIRICHLET ? VP_SIDE_DIRICHLET : VP_SIDE_NEUMANN;
}

/* patches by colour, in the order of their first cells; types: [direction][touches lower, none, upper] */
static void MakePatches(Level &v, VpSpace space)
{
  const int nq = 1 << v.dim, m = 2 * v.n, w = 2 * m * m + m;

  v.cover.assign(v.ncell, 0);
  v.start.assign(nq + 1, 0);
  for (int color = nq - 1, slot = 0; color >= 0; color--, slot++) {
    for (int32_t cell = 0; cell < v.ncell; cell++) {
      int  x[3];
      bool mine = true;
      Place(v.dim, cell, x);
      for (int d = 0; d < v.dim; d++) mine = mine && x[d] + 1 < v.nc && (x[d] + 1) % 2 == (color >> d & 1);
      if (!mine) continue;
      for (int q = 0; q < nq; q++) {
        uint32_t c = 0;
        for (int d = 0; d < v.dim; d++) c |= Spread(v.dim, x[d] + (q >> d & 1)) << d;
        v.patch.push_back((int32_t)c);
        v.cover[c] |= 1 << color;
      }
      for (int d = 0; d < v.dim; d++) v.type.push_back(v.entry(d) + (x[d] == 0 ? 0 : x[d] + 2 == v.nc ? 2 : 1));
    }
    v.start[slot + 1] = (int32_t)(v.patch.size() / nq);
  }
  v.fdm.assign((size_t)3 * v.dim * w, 0);
  for (int d = 0; d < v.dim; d++) {
    for (int p = 0; p < 3; p++) {
      const bool lo = p == 0, up = p == 2;
      VpFdmKey   key = {{v.h[d], v.h[d]},
                        {lo ? 0 : v.h[d], up ? 0 : v.h[d]},
                        {lo ? Side(v.boundary[2 * d]) : VP_SIDE_INTERIOR, up ? Side(v.boundary[2 * d + 1]) : VP_SIDE_INTERIOR},
                        0};
      double    *F = &v.fdm[(size_t)(v.entry(d) + p) * w];
      Call(VpFdmBuild(&v.basis, &key, space, 1, F, F + m * m, F + 2 * m * m));
    }
  }
}

static void MakeTransfers(Level &v)
{
  const int n = v.n, nq = 1 << v.dim;

  v.P.assign(2 * n * n, 0), v.R.assign(2 * n * n, 0), v.enter.assign(n * n, 0), v.leave.assign(n * n, 0);
  VpTransferBuild(&v.basis, v.P.data(), v.R.data());
  Call(VpBasisChange(&v.outer, &v.basis, v.enter.data()));
  Call(VpBasisChange(&v.basis, &v.outer, v.leave.data()));
  v.parent.resize(v.ncell), v.corner.resize(v.ncell), v.child.resize(v.ncell);
  for (int32_t c = 0; c < v.ncell; c++) {
    v.parent[c] = c / nq;
    v.corner[c] = c % nq;
    v.child[c] = c;
  }
}

/* the level on the device */
struct Device {
  VpView              view = VpView();
  std::vector<void *> kept;
  bool                single = false;

  const void *Put(const void *p, size_t bytes)
  {
    void *to;
    Call(VpBackendCuda.alloc(bytes, "a test", &to));
    Call(VpBackendCuda.upload(p, bytes, to));
    kept.push_back(to);
    return to;
  }
  template <class A>
  const A *Array(const std::vector<A> &a)
  {
    return a.empty() ? NULL : (const A *)Put(a.data(), a.size() * sizeof(A));
  }
  void *Real(const Reals &a)
  {
    if (a.empty()) return NULL;
    if (!single) return (void *)Put(a.data(), a.size() * sizeof(double));
    std::vector<float> f(a.begin(), a.end());
    return (void *)Put(f.data(), f.size() * sizeof(float));
  }
  void *Poisoned(size_t count)
  {
    return Real(Reals(count, NAN));
  }
  Reals Get(const void *p, size_t count)
  {
    Reals a(count);
    if (single) {
      std::vector<float> f(count);
      Call(VpBackendCuda.download(p, count * sizeof(float), f.data()));
      std::copy(f.begin(), f.end(), a.begin());
    } else
      Call(VpBackendCuda.download(p, count * sizeof(double), a.data()));
    return a;
  }
  void Init(const Level &v, bool in_single, int32_t nown)
  {
    single = in_single;

    view.dim = v.dim, view.n = v.n, view.nt = v.basis.nt;
    view.first[0] = v.basis.first[0], view.first[1] = v.basis.first[1];
    view.nown = nown, view.nsweep = view.nhalo = view.nlocal = v.ncell;
    view.neighbor = Array(v.neighbor), view.line = Array(v.line), view.drop = Array(v.drop);
    view.lines = Real(v.lines), view.traces = Real(v.traces);
    view.patch = Array(v.patch), view.type = Array(v.type), view.cover = Array(v.cover);
    view.fdm = Real(v.fdm), view.weight = Real(v.weight);
    view.reaction = v.reaction, view.cutoff = -1;
    view.P = Real(v.P), view.R = Real(v.R), view.enter = Real(v.enter), view.leave = Real(v.leave);
    view.parent = Array(v.parent), view.corner = Array(v.corner), view.child = Array(v.child);
    view.ncoarse = v.ncell >> v.dim;
  }
  ~Device()
  {
    Call(VpBackendCuda.release_view(&view));
    for (void *p : kept) Call(VpBackendCuda.release(p));
  }
};

/* Plain loops, in double. A value of a cell at multi-index i[]; lines by replacing i[d]. */
static int At(int dim, int n, const int i[3])
{
  return i[0] + n * i[1] + (dim == 3 ? n * n * i[2] : 0);
}

static void Index(int n, int at, int i[3])
{
  i[0] = at % n, i[1] = at / n % n, i[2] = at / n / n;
}

/* one value of A x; entry[d] may replace the cell's; use(beyond) says whether a neighbour counts; value(cell, at) */
template <class Value, class Use>
static double ApplyAt(const Level &v, int32_t cell, int at, const int32_t entry[3], Value value, Use use)
{
  const int n = v.n, w = n * n + 4 * n, nt = v.basis.nt;
  double    y = 0;
  int       i[3];

  Index(n, at, i);
  for (int d = 0; d < v.dim; d++) {
    const double *D = &v.lines[(size_t)entry[d] * w], *g = D + n * n;
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
  Reals y(x.size());

#pragma omp parallel for
  for (int32_t cell = 0; cell < v.ncell; cell++)
    for (int at = 0; at < v.per; at++)
      y[(size_t)cell * v.per + at] = ApplyAt(
        v, cell, at, &v.line[(size_t)cell * v.dim], [&](int32_t c, int a) { return x[(size_t)c * v.per + a]; },
        [](int32_t) { return true; });
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
  const int      n = v.n, m = 2 * n, nq = 1 << v.dim, size = power(m, v.dim), w = 2 * m * m + m;
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
    int     q, in;
    int32_t entry[3];
    split(at, q, in);
    for (int d = 0; d < v.dim; d++) {
      entry[d] = v.line[(size_t)cells[q] * v.dim + d];
      const int s = q >> d & 1;
      if (form == VP_FORM_LOCAL && v.neighbor[(size_t)cells[q] * 2 * v.dim + 2 * d + s] >= 0) entry[d] = v.drop[2 * entry[d] + s];
    }
    r[at] = b[(size_t)cells[q] * v.per + in];
    if (form == VP_FORM_GIVEN) continue;
    r[at] -= ApplyAt(
      v, cells[q], in, entry,
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

static Reals RandomReals(size_t n)
{
  Reals a(n);

  for (double &v : a) v = (double)(float)Random();
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

/* a level with random tables: everything the kernels may not assume */
static void Scramble(Level &v)
{
  const int m = 2 * v.n, w = v.n * v.n + 4 * v.n;

  v.lines = RandomReals(v.lines.size());
  for (int32_t &e : v.line) e = rand() % (3 * v.dim);
  for (double &f : v.fdm) f = Random();
  for (size_t e = 0; e < v.fdm.size() / (2 * m * m + m); e++)
    for (int i = 0; i < m; i++) v.fdm[e * (2 * m * m + m) + 2 * m * m + i] = 1 + i;
  for (int32_t &t : v.type) t = rand() % (3 * v.dim);
  v.weight = RandomReals(v.patch.size() >> v.dim);
  for (double &a : v.weight) a += 2;
  v.reaction = 0.7;
  (void)w;
}

struct Check {
  Level        v;
  Device       g;
  const VpOps *ops;
  std::string  name;
  double       eps;
  Reals        x, b, c; /* random vectors */
  void        *dx, *db, *dc;
  size_t       N;

  void Start(bool single, int32_t nown)
  {
    g.Init(v, single, nown);
    ops = VpBackendCuda.ops(single ? VP_SINGLE : VP_DOUBLE, v.dim, v.k);
    N = (size_t)v.ncell * v.per;
    x = RandomReals(N), b = RandomReals(N), c = RandomReals(N);
    dx = g.Real(x), db = g.Real(b), dc = g.Real(c);
    eps = single ? 3e-6 : 1e-13;
    name =
      std::string(single ? "float" : "double") + " " + char('0' + v.dim) + "D k=" + char('0' + v.k) + (v.thin ? " thin" : " orthonormal");
  }
  void Compare(const std::string &what, const void *dy, const Reals &y, size_t first, size_t last, double factor = 1)
  {
    const double e = Error(g.Get(dy, y.size()), y, first, last);
    Ok(e < factor * eps, name + " " + what, e);
  }
  void Operator(const std::string &what, int32_t first, int32_t last)
  {
    const size_t one = g.single ? sizeof(float) : sizeof(double);
    const Reals  y = Apply(v, x);
    Reals        r(N);
    void        *dy = g.Poisoned(N), *dr = g.Poisoned(N);

    for (size_t i = 0; i < N; i++) r[i] = b[i] - y[i];
    Call(ops->apply(&g.view, first, last, dx, (char *)dx + (size_t)g.view.nown * v.per * one, NULL, dy));
    Call(ops->apply(&g.view, first, last, dx, (char *)dx + (size_t)g.view.nown * v.per * one, db, dr));
    Compare(what + " A x", dy, y, (size_t)first * v.per, (size_t)last * v.per);
    Compare(what + " b - A x", dr, r, (size_t)first * v.per, (size_t)last * v.per);
  }
  void Smoother(const std::string &what, VpForm form, double factor)
  {
    Reals    two[2] = {x, Reals(N, 0.)};
    void    *d[2] = {g.Real(x), g.Real(Reals(N, 0.))};
    unsigned done = 0;

    for (int slot = 0; slot < 1 << v.dim; slot++) {
      const int32_t first = v.start[slot], last = v.start[slot + 1];
#pragma omp parallel for
      for (int32_t p = first; p < last; p++) SweepPatch(v, form, p, done, b, two);
      Call(ops->sweep(&g.view, form, first, last, done, db, d));
      done |= 1u << ((1 << v.dim) - 1 - slot);
    }
    for (int32_t cell = 0; cell < v.ncell; cell++)
      if (__builtin_popcount(v.cover[cell] & done) & 1) std::copy_n(&two[1][(size_t)cell * v.per], v.per, &two[0][(size_t)cell * v.per]);
    Call(ops->settle(&g.view, v.ncell, done, d));
    Compare(what, d[0], two[0], 0, N, factor);
  }
  void Transfers()
  {
    const size_t Nc = N >> v.dim;
    Reals        fine(N), add(N), coarse(Nc, 0.);
    const int    n2 = v.n * v.n;

    for (int32_t cell = 0; cell < v.ncell; cell++) {
      const double *P[3], *R[3];
      for (int d = 0; d < 3; d++) P[d] = &v.P[(v.corner[cell] >> d & 1) * n2], R[d] = &v.R[(v.corner[cell] >> d & 1) * n2];
      const Reals f = CellTensor(v, P, &c[(size_t)v.parent[cell] * v.per]), r = CellTensor(v, R, &b[(size_t)cell * v.per]);
      for (int i = 0; i < v.per; i++) {
        fine[(size_t)cell * v.per + i] = f[i];
        add[(size_t)cell * v.per + i] = f[i] + x[(size_t)cell * v.per + i];
        coarse[(size_t)v.parent[cell] * v.per + i] += r[i];
      }
    }
    void *d = g.Poisoned(N), *da = g.Real(x), *db2 = g.Poisoned(Nc);
    Call(ops->prolong(&g.view, v.ncell, PETSC_FALSE, dc, d));
    Call(ops->prolong(&g.view, v.ncell, PETSC_TRUE, dc, da));
    Call(ops->restrict_(&g.view, db, db2));
    Compare("prolong", d, fine, 0, N);
    Compare("prolong add", da, add, 0, N);
    Compare("restrict", db2, coarse, 0, Nc);
  }
  void Conversions(const Level &outer, Device &o)
  {
    const double *E[3] = {v.enter.data(), v.enter.data(), v.enter.data()}, *L[3] = {v.leave.data(), v.leave.data(), v.leave.data()};
    const Reals   A = Apply(outer, x);
    Reals         in(N), res(N), out(N), r(N);
    double        norm = 0, norm2;
    const size_t  owned = (size_t)g.view.nown * v.per;

    for (size_t i = 0; i < N; i++) r[i] = b[i] - A[i], norm += i < owned ? r[i] * r[i] : 0;
    for (int32_t cell = 0; cell < v.ncell; cell++) {
      const Reals f = CellTensor(v, E, &b[(size_t)cell * v.per]), e = CellTensor(v, E, &r[(size_t)cell * v.per]),
                  l = CellTensor(v, L, &x[(size_t)cell * v.per]);
      for (int i = 0; i < v.per; i++) {
        in[(size_t)cell * v.per + i] = f[i];
        res[(size_t)cell * v.per + i] = e[i];
        out[(size_t)cell * v.per + i] = l[i] + c[(size_t)cell * v.per + i];
      }
    }
    void   *d = g.Poisoned(N), *d2 = g.Poisoned(N);
    double *ob = (double *)o.Real(b), *ox = (double *)o.Real(x), *oc = (double *)o.Real(c);
    Call(ops->enter(&g.view, ob, d));
    Call(ops->enter_residual(&g.view, &o.view, ox, ox + owned, ob, d2, &norm2));
    Call(ops->leave(&g.view, PETSC_TRUE, dx, oc));
    Compare("enter", d, in, 0, owned);
    Compare("enter_residual", d2, res, 0, owned, 2);
    Ok(fabs(norm2 - norm) < 1e-11 * norm, name + " norm", fabs(norm2 - norm) / norm);
    const double e = Error(o.Get(oc, N), out, 0, owned);
    Ok(e < eps, name + " leave", e);
    Call(ops->enter_residual(&g.view, &o.view, NULL, NULL, ob, d2, &norm2));
    Compare("enter_residual without x", d2, in, 0, owned);
  }
};

static const double cube[3] = {0.125, 0.125, 0.125}, brick[3] = {0.125, 0.11, 0.15};
static const int    dirichlet[6] = {-1, -1, -1, -1, -1, -1}, mixed[6] = {-1, -2, -2, -1, -1, -1};

static void CheckAll(int dim, int k, bool single)
{
  const int L = dim == 2 ? 4 : k == 1 ? 4 : 3;

  for (int variant = 0; variant < 2; variant++) {
    const double *h = variant ? brick : cube;
    const int    *sides = variant ? mixed : dirichlet;
    Check         o, c, s;

    MakeMesh(o.v, dim, k, L, false, h, sides);
    MakeLines(o.v, 0.3 * variant);
    o.Start(single, o.v.ncell);
    o.Operator(variant ? "brick" : "cube", 0, o.v.ncell);
    if (variant) {
      Check part;
      MakeMesh(part.v, dim, k, L, false, h, sides);
      MakeLines(part.v, 0);
      part.Start(single, part.v.ncell * 3 / 4 + 5);
      part.Operator("range", 3, part.v.ncell - 2);
    }
    MakeMesh(c.v, dim, k, L, true, h, sides);
    MakeLines(c.v, 0);
    MakePatches(c.v, VP_SPACE_FULL);
    MakeTransfers(c.v);
    if (variant) c.v.reaction = 0.3;
    c.Start(single, c.v.ncell - 3 * variant);
    c.Operator("", 0, c.v.ncell);
    c.Smoother("replace", VP_FORM_REPLACE, 10);
    c.Smoother("exact", VP_FORM_EXACT, 100);
    c.Transfers();
    Device od;
    Level  ov;
    MakeMesh(ov, dim, k, L, false, h, sides);
    MakeLines(ov, 0);
    od.Init(ov, false, c.g.view.nown);
    c.Conversions(ov, od);
    if (!variant) continue;
    MakeMesh(s.v, dim, k, dim == 2 ? 3 : 2, true, h, sides);
    MakeLines(s.v, 0);
    MakePatches(s.v, VP_SPACE_FULL);
    Scramble(s.v);
    s.Start(single, s.v.ncell);
    s.Operator("random tables", 0, s.v.ncell);
    s.Smoother("random tables, replace", VP_FORM_REPLACE, 10);
    s.Smoother("random tables, given", VP_FORM_GIVEN, 10);
    s.Smoother("random tables, local", VP_FORM_LOCAL, 1000);
  }
}

/* speed */
static __global__ void Fill(float *p, size_t n)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    unsigned z = (unsigned)(i * 2654435761u);
    z ^= z >> 15, z *= 2246822519u, z ^= z >> 13;
    p[i] = (z & 0xffff) / 65536.f - 0.5f;
  }
}
static __global__ void FillDouble(double *p, size_t n)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    unsigned z = (unsigned)(i * 2654435761u);
    z ^= z >> 15, z *= 2246822519u, z ^= z >> 13;
    p[i] = (z & 0xffffff) / 16777216. - 0.5;
  }
}

static void *Vector(size_t n, bool single)
{
  void *p;

  Call(VpBackendCuda.alloc(n * (single ? 4 : 8), "a vector", &p));
  if (single) Fill<<<4096, 256>>>((float *)p, n);
  else
    FillDouble<<<4096, 256>>>((double *)p, n);
  return p;
}

template <class F>
static double Seconds(F f)
{
  std::vector<float> t;
  cudaEvent_t        a, b;

  Cuda(cudaEventCreate(&a));
  Cuda(cudaEventCreate(&b));
  for (int i = 0; i < 8; i++) {
    float ms;
    Cuda(cudaEventRecord(a));
    f();
    Cuda(cudaEventRecord(b));
    Cuda(cudaEventSynchronize(b));
    Cuda(cudaEventElapsedTime(&ms, a, b));
    if (i > 1) t.push_back(ms);
  }
  std::sort(t.begin(), t.end());
  Cuda(cudaEventDestroy(a));
  Cuda(cudaEventDestroy(b));
  return t[t.size() / 2] * 1e-3;
}

static void Bench(int k, bool more)
{
  const int  n = k + 1, L = k == 1 ? 8 : k <= 4 ? 7 : 6;
  const bool only = getenv("VP_BENCH_SWEEP") != NULL; /* the float sweep alone */
  size_t     N = (size_t)power(1 << L, 3) * power(n, 3);

  if (only) printf("k=%d", k);
  else {
    Level  v;
    Device g;
    MakeMesh(v, 3, k, L, false, cube, dirichlet);
    MakeLines(v, 0);
    g.Init(v, false, v.ncell);
    const VpOps *ops = VpBackendCuda.ops(VP_DOUBLE, 3, k);
    double      *x = (double *)Vector(N, false), *y = (double *)Vector(N, false);
    const double a = Seconds([&] { Call(ops->apply(&g.view, 0, v.ncell, x, NULL, NULL, y)); });
    const double c = Seconds([&] { Cuda(cudaMemcpyAsync(y, x, N * 8, cudaMemcpyDeviceToDevice)); });
    printf("k=%d %4.0f MDoF  copy %.2f TB/s  Ax double %6.1f", k, N * 1e-6, 16e-12 * N / c, N * 1e-9 / a);
    if (more) {
      Level  w;
      Device e;
      double norm2;
      MakeMesh(w, 3, k, L, true, cube, dirichlet);
      MakeLines(w, 0);
      MakeTransfers(w);
      e.Init(w, true, w.ncell);
      const VpOps *os = VpBackendCuda.ops(VP_SINGLE, 3, k);
      float       *b = (float *)Vector(N, true), *u = (float *)Vector(N, true);
      printf("  ent.res %5.1f", N * 1e-9 / Seconds([&] { Call(os->enter_residual(&e.view, &g.view, x, NULL, y, b, &norm2)); }));
      printf("  leave+ %5.1f", N * 1e-9 / Seconds([&] { Call(os->leave(&e.view, PETSC_TRUE, b, y)); }));
      printf("  prol %5.1f", N * 1e-9 / Seconds([&] { Call(os->prolong(&e.view, w.ncell, PETSC_FALSE, u, b)); }));
      printf("  prol+ %5.1f", N * 1e-9 / Seconds([&] { Call(os->prolong(&e.view, w.ncell, PETSC_TRUE, u, b)); }));
      printf("  rest %5.1f", N * 1e-9 / Seconds([&] { Call(os->restrict_(&e.view, b, u)); }));
      printf("  Ax float %5.1f", N * 1e-9 / Seconds([&] { Call(os->apply(&e.view, 0, w.ncell, u, NULL, NULL, b)); }));
      Call(VpBackendCuda.release(b));
      Call(VpBackendCuda.release(u));
    }
    Call(VpBackendCuda.release(x));
    Call(VpBackendCuda.release(y));
    fflush(stdout);
  }
  {
    Level v;
    MakeMesh(v, 3, k, L, true, cube, dirichlet);
    MakeLines(v, 0);
    MakePatches(v, VP_SPACE_FULL);
    for (int single = 1; single >= only; single--) {
      Device g;
      g.Init(v, single, v.ncell);
      const VpOps *ops = VpBackendCuda.ops(single ? VP_SINGLE : VP_DOUBLE, 3, k);
      void        *b = Vector(N, single), *x[2] = {Vector(N, single), Vector(N, single)};
      double       part[3] = {0};
      auto         sweep = [&](int from, int to) {
        unsigned done = 0;
        for (int slot = 0; slot < 8; slot++) {
          if (slot >= from && slot < to) Call(ops->sweep(&g.view, VP_FORM_REPLACE, v.start[slot], v.start[slot + 1], done, b, x));
          done |= 1u << (7 - slot);
        }
      };
      part[0] = Seconds([&] { sweep(0, 8); });
      part[1] = Seconds([&] { sweep(0, 1); });
      part[2] = Seconds([&] { sweep(7, 8); });
      printf("  sweep %s %5.1f (colour 7 %.0f, 0 %.0f)", single ? "float" : "double", N * 1e-9 / part[0], N * 1e-9 / part[1],
             N * 1e-9 / part[2]);
      fflush(stdout);
      Call(VpBackendCuda.release(b));
      Call(VpBackendCuda.release(x[0]));
      Call(VpBackendCuda.release(x[1]));
    }
  }
  printf("\n");
  fflush(stdout);
}

int main(int argc, char **argv)
{
  PetscBool available;

  Call(VpCudaAvailable(&available));
  if (!available) {
    printf("1..0 # SKIP no CUDA device\n");
    return 0;
  }
  if (argc > 1 && !strcmp(argv[1], "bench")) {
    for (int k = 1; k <= 8; k++) {
      bool mine = argc < 3;
      for (int i = 2; i < argc; i++) mine = mine || atoi(argv[i]) == k;
      if (mine) Bench(k, getenv("VP_BENCH_MORE"));
    }
    return 0;
  }
  for (int k = 1; k <= VP_MAX_DEGREE; k++) {
    bool mine = argc < 2;
    for (int i = 1; i < argc; i++) mine = mine || atoi(argv[i]) == k;
    if (mine) {
      for (int single = 0; single < 2; single++)
        for (int dim = 2; dim <= 3; dim++) CheckAll(dim, k, single);
    }
  }
  printf("1..%d\n", tests);
  if (failures) printf("# %d of %d failed\n", failures, tests);
  return failures > 0;
}
