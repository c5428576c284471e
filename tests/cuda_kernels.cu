/* The CUDA kernels against plain loops, slot by slot, on meshes regular enough for all of them. With arguments: only these degrees.
   ranks: 1 */
#include "support/cuda_loops.h"

/* the level on the device */
struct Device {
  const VpBackend    *backend = VpBackendFind("cuda");
  VpView              view = VpView();
  VpPatchView         patches = VpPatchView();
  VpTransferView      transfer = VpTransferView();
  std::vector<void *> kept;
  bool                single = false;

  const void *Put(const void *p, size_t bytes)
  {
    void *to;
    Call(backend->alloc(bytes, "a test", &to));
    Call(backend->upload(p, bytes, to));
    kept.push_back(to);
    return to;
  }
  template <class A> const A *Array(const std::vector<A> &a)
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
      Call(backend->download(p, count * sizeof(float), f.data()));
      std::copy(f.begin(), f.end(), a.begin());
    } else
      Call(backend->download(p, count * sizeof(double), a.data()));
    return a;
  }
  void Init(const Level &v, bool in_single, int32_t nown)
  {
    single = in_single;

    view.dim = v.dim, view.n = v.n, view.nt = v.basis.nt;
    view.first[0] = v.basis.first[0], view.first[1] = v.basis.first[1];
    view.nown = nown, view.nsweep = view.nlocal = v.ncell;
    view.neighbor = Array(v.neighbor), view.line = Array(v.line);
    view.lines = Real(v.lines), view.traces = Real(v.traces), view.expand = Real(v.expand);
    view.enter = Real(v.enter), view.leave = Real(v.leave);
    patches.patch = Array(v.patch), patches.type = Array(v.type), patches.cover = Array(v.cover);
    patches.fdm = Real(v.fdm), patches.mirrored = Array(v.mirrored), patches.weight = Real(v.weight);
    patches.reaction = v.reaction, patches.cutoff = -1, patches.drop = Real(v.drop);
    transfer.P = Real(v.P), transfer.R = Real(v.R), transfer.reverse = (PetscBool)v.thin;
    transfer.parent = Array(v.parent), transfer.corner = Array(v.corner), transfer.child = Array(v.child);
    transfer.ncoarse = v.ncell >> v.dim;
  }
  ~Device()
  {
    for (void **device : {&view.device, &patches.device, &transfer.device}) Call(backend->release_plans(device));
    for (void *p : kept) Call(backend->release(p));
  }
};

/* does the device hold 64 of the largest blocks, and half as many again? */
static bool IsLarge()
{
  int device, processors;

  if (cudaGetDevice(&device) || cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) abort();
  return processors >= 96;
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
    ops = g.backend->ops(single ? VP_SINGLE : VP_DOUBLE, v.dim, v.k);
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
    TapOk((PetscBool)(e < factor * eps), "%s %s (%.1e)", name.c_str(), what.c_str(), e);
  }
  void Operator(const std::string &what, int32_t first, int32_t last)
  {
    const size_t one = g.single ? sizeof(float) : sizeof(double);
    const Reals  y = Apply(v, x);
    Reals        r(N);
    void        *dy = g.Poisoned(N), *dr = g.Poisoned(N);

    for (size_t i = 0; i < N; i++) r[i] = b[i] - y[i];
    Call(ops->apply(&g.view, first, last, dx, VpGhostsAt((char *)dx + (size_t)g.view.nown * v.per * one), NULL, dy));
    Call(ops->apply(&g.view, first, last, dx, VpGhostsAt((char *)dx + (size_t)g.view.nown * v.per * one), db, dr));
    Compare(what + " A x", dy, y, (size_t)first * v.per, (size_t)last * v.per);
    Compare(what + " b - A x", dr, r, (size_t)first * v.per, (size_t)last * v.per);
  }
  /* a side of every cell, last cells first; traces of them, and coefficients from other traces */
  void SideTraces()
  {
    const size_t         lines = (size_t)(v.per / v.n);
    const int            nt = v.basis.nt;
    std::vector<int32_t> list;
    Reals                traces, y = b;

    for (int32_t cell = v.ncell - 1; cell >= 0; cell--) {
      const int     side = cell % (2 * v.dim), d = side / 2, end = side % 2;
      const double *T = &v.traces[2 * end * nt], *E = &v.expand[2 * end * nt];
      const size_t  item = list.size();
      size_t        l = 0;
      list.push_back(2 * v.dim * cell + side);
      traces.resize(2 * lines * list.size(), 0.);
      for (int at = 0; at < v.per; at++) {
        int i[3];
        Index(v.n, at, i);
        if (i[d]) continue;
        for (int t = 0; t < nt; t++) {
          i[d] = v.basis.first[end] + t;
          const size_t to = (size_t)cell * v.per + At(v.dim, v.n, i);
          traces[2 * lines * item + l] += T[t] * x[to];
          traces[(2 * item + 1) * lines + l] += T[nt + t] * x[to];
          y[to] = E[t] * x[2 * lines * item + l] + E[nt + t] * x[(2 * item + 1) * lines + l];
        }
        l++;
      }
    }
    const int32_t *sides = g.Array(list);
    void          *dt = g.Poisoned(traces.size()), *dy = g.Real(b);
    Call(ops->gather_traces(&g.view, (int32_t)list.size(), sides, dx, dt));
    Call(ops->scatter_traces(&g.view, (int32_t)list.size(), sides, dx, dy));
    Compare("traces on sides", dt, traces, 0, traces.size());
    Compare("coefficients from traces", dy, y, 0, N);
  }
  void Smoother(const std::string &what, VpForm form, double factor)
  {
    Reals    two[2] = {x, Reals(N, 0.)};
    void    *d[2] = {g.Real(x), g.Real(Reals(N, 0.))};
    unsigned done = 0;

    for (int slot = 0; slot < 1 << v.dim; slot++) {
      const int32_t first = v.start[slot], last = v.start[slot + 1];
      for (int32_t p = first; p < last; p++) SweepPatch(v, form, p, done, b, two);
      Call(ops->sweep(&g.view, &g.patches, form, first, last, done, db, d));
      done |= 1u << ((1 << v.dim) - 1 - slot);
    }
    for (int32_t cell = 0; cell < v.ncell; cell++)
      if (__builtin_popcount(v.cover[cell] & done) & 1) std::copy_n(&two[1][(size_t)cell * v.per], v.per, &two[0][(size_t)cell * v.per]);
    Call(ops->settle(&g.patches, v.ncell, done, d));
    Compare(what, d[0], two[0], 0, N, factor);
  }
  /* all colours by sweep_all, forward and back; `can`: these patches can be so on devices that hold enough of them */
  void AtOnce(bool can)
  {
    const int nc = 1 << v.dim;

    for (int back = 0; back < 2; back++) {
      Reals     two[2] = {x, Reals(N, 0.)};
      void     *d[2] = {g.Real(x), g.Real(Reals(N, 0.))};
      int       order[8];
      unsigned  done = 0;
      PetscBool did;

      for (int i = 0; i < nc; i++) {
        order[i] = back ? nc - 1 - i : i;
        for (int32_t p = v.start[order[i]]; p < v.start[order[i] + 1]; p++) SweepPatch(v, VP_FORM_REPLACE, p, done, b, two);
        done |= 1u << order[i];
      }
      Call(ops->sweep_all(&g.view, &g.patches, nc, order, v.start.data(), VpGhostsAt(NULL), db, d, &did));
      TapOk((PetscBool)(did == (PetscBool)(can && IsLarge())), "%s all colours at once: %s", name.c_str(), did ? "taken" : "left");
      if (!did) continue;
      for (int i = 0; i < 2; i++) Compare(back ? "all colours at once, backwards" : "all colours at once", d[i], two[i], 0, N, 10);
    }
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
    Call(ops->prolong(&g.transfer, 0, v.ncell, PETSC_FALSE, dc, d));
    Call(ops->prolong(&g.transfer, 0, v.ncell, PETSC_TRUE, dc, da));
    Call(ops->restrict_(&g.transfer, db, db2));
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
    void   *d = g.Poisoned(N), *d2 = g.Poisoned(N), *d3 = g.Poisoned(N);
    double *ob = (double *)o.Real(b), *ox = (double *)o.Real(x), *oc = (double *)o.Real(c);
    Call(ops->enter(&g.view, 1, ob, d));
    Call(ops->enter_residual(&g.view, &o.view, 1, ox, VpGhostsAt(ox + owned), ob, d2, &norm2));
    Call(ops->leave(&g.view, PETSC_TRUE, 1, dx, oc));
    Compare("enter", d, in, 0, owned);
    Compare("enter_residual", d2, res, 0, owned, 2);
    TapOk((PetscBool)(fabs(norm2 - norm) < 1e-11 * norm), "%s norm (%.1e)", name.c_str(), fabs(norm2 - norm) / norm);
    const double e = Error(o.Get(oc, N), out, 0, owned);
    TapOk((PetscBool)(e < eps), "%s leave (%.1e)", name.c_str(), e);
    Call(ops->enter_residual(&g.view, &o.view, 1, ox, VpGhostsAt(ox + owned), ob, d3, NULL));
    Compare("enter_residual without the norm", d3, res, 0, owned, 2);
    Call(ops->enter_residual(&g.view, &o.view, 1, NULL, VpGhostsAt(NULL), ob, d2, &norm2));
    Compare("enter_residual without x", d2, in, 0, owned);
  }
};

static const double cube[3] = {0.125, 0.125, 0.125}, brick[3] = {0.125, 0.11, 0.15};
static const int    dirichlet[6] = {-1, -1, -1, -1, -1, -1}, mixed[6] = {-1, -2, -2, -1, -1, -1};

static void CheckAtOnce(int dim, int k, int L, bool single, const double *h, const int *sides, bool can)
{
  Check c;

  MakeMesh(c.v, dim, k, L, true, h, sides);
  MakeLines(c.v, 0);
  MakePatches(c.v, VP_SPACE_FULL);
  ColorsAsLaunched(c.v);
  c.Start(single, c.v.ncell);
  c.AtOnce(can);
}

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
    o.SideTraces();
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
    c.SideTraces();
    c.Smoother("replace", VP_FORM_REPLACE, 10);
    c.Smoother("exact", VP_FORM_EXACT, 100);
    c.Transfers();
    CheckAtOnce(dim, k, L, single, h, sides, dim == 3 && !variant);
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

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TapBegin(PETSC_COMM_SELF);
  if (!UsableBackend("cuda")) {
    PetscCall(PetscFinalize());
    return TapSkip("no CUDA device");
  }
  for (int k = 1; k <= VP_MAX_DEGREE; k++) {
    bool mine = argc < 2;
    for (int i = 1; i < argc; i++) mine = mine || atoi(argv[i]) == k;
    for (int single = 0; single < 2 && mine; single++)
      for (int dim = 2; dim <= 3; dim++) CheckAll(dim, k, single);
  }
  PetscCall(PetscFinalize());
  return TapEnd();
}
