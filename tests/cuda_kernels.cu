/* The CUDA kernels against plain loops, slot by slot, on meshes regular enough for all of them. With arguments: only these degrees.
   ranks: 1 */
#include "support/cuda_coefficient.h"
#include "support/cuda_device.h"

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

/* A x, or b - A x */
static Reals Apply(const Views &host, const Reals &x, const double *b)
{
  const int                   N = CellSize(&host.cells);
  Reals                       y(x.size());
  std::vector<const double *> cell;

  for (size_t i = 0; i < x.size(); i += N) cell.push_back(&x[i]);
  ReferenceApply(&host.cells, (int)cell.size(), cell.data(), b, y.data());
  return y;
}

/* does the device hold 64 of the largest blocks, and half as many again? */
static bool IsLarge()
{
  int device, processors;

  if (cudaGetDevice(&device) || cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) abort();
  return processors >= 96;
}

struct Check {
  Level        v;
  Views        host;
  Device       g;
  const VpOps *ops;
  std::string  name;
  double       eps;
  Reals        x, b, c; /* random vectors */
  void        *dx, *db, *dc;
  size_t       N;

  void Start(bool single, int32_t nown)
  {
    InPlace here;

    host = ViewsOf(v, nown, here);
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
    const size_t   one = g.single ? sizeof(float) : sizeof(double);
    const Reals    y = Apply(host, x, NULL), r = Apply(host, x, b.data());
    void          *dy = g.Poisoned(N), *dr = g.Poisoned(N);
    const VpGhosts ghosts = VpGhostsAt((char *)dx + (size_t)g.views.cells.nown * v.per * one);

    Call(ops->apply(&g.views.cells, first, last, dx, ghosts, NULL, dy));
    Call(ops->apply(&g.views.cells, first, last, dx, ghosts, db, dr));
    Compare(what + " A x", dy, y, (size_t)first * v.per, (size_t)last * v.per);
    Compare(what + " b - A x", dr, r, (size_t)first * v.per, (size_t)last * v.per);
  }
  /* a side of every cell, last cells first; traces of them, and coefficients from other traces */
  void SideTraces()
  {
    std::vector<int32_t> list;
    Reals                traces(2 * (size_t)v.ncell * v.per / v.n), y = b;

    for (int32_t cell = v.ncell - 1; cell >= 0; cell--) list.push_back(2 * v.dim * cell + cell % (2 * v.dim));
    ReferenceTraces(&host.cells, v.ncell, list.data(), x.data(), traces.data(), NULL);
    ReferenceTraces(&host.cells, v.ncell, list.data(), y.data(), NULL, x.data());
    const int32_t *sides = g.Array(list);
    void          *dt = g.Poisoned(traces.size()), *dy = g.Real(b);
    Call(ops->pack_traces(&g.views.cells, (int32_t)list.size(), sides, dx, dt));
    Call(ops->unpack_traces(&g.views.cells, (int32_t)list.size(), sides, dx, dy));
    Compare("traces on sides", dt, traces, 0, traces.size());
    Compare("coefficients from traces", dy, y, 0, N);
  }
  void Smoother(const std::string &what, VpResidualMode mode, double factor)
  {
    Reals         two[2] = {x, Reals(N, 0.)};
    double *const y[2] = {two[0].data(), two[1].data()};
    void         *d[2] = {g.Real(x), g.Real(Reals(N, 0.))};
    unsigned      done = 0;

    for (int slot = 0; slot < 1 << v.dim; slot++) {
      const int32_t first = v.start[slot], last = v.start[slot + 1];
      ReferenceSweep(&host.cells, &host.patches, mode, first, last, done, b.data(), y);
      Call(ops->sweep(&g.views.cells, &g.views.patches, mode, first, last, done, db, d));
      done |= 1u << ((1 << v.dim) - 1 - slot);
    }
    ReferenceCurrent(&host.cells, &host.patches, v.ncell, NULL, done, y, y[0]);
    Call(ops->settle(&g.views.patches, v.ncell, done, d));
    Compare(what, d[0], two[0], 0, N, factor);
  }
  /* A sweep, and two over some of its patches after it, or before it in opposite order, by sweep_all: as colour by colour. Every second
     quarter of a colour corrects values where they are unlike. In 3D colour by colour sorts those that are not common, and rounds
     otherwise. */
  void AtOnce(const Level &some, bool unlike)
  {
    Device             part;
    const int          nc = 1 << v.dim;
    const VpPatchView *view[2] = {&g.views.patches, &part.views.patches};
    const Level       *level[2] = {&v, &some};
    const int          quarters = unlike ? 4 : 1;

    part.Init(some, g.single, g.views.cells.nown);
    for (int back = 0; back < 2; back++) {
      void               *d[2] = {g.Real(x), g.Real(Reals(N, 0.))}, *e[2] = {g.Real(x), g.Real(Reals(N, 0.))};
      std::vector<VpStep> steps(1);
      PetscBool           did;

      for (int turn = 0; turn < (unlike ? 3 : 1); turn++) {
        const int      which = unlike && turn != (back ? 2 : 0);
        const int32_t *start = level[which]->start.data();
        unsigned       done = 0;
        for (int i = 0; i < nc; i++) {
          const int     color = back ? nc - 1 - i : i;
          const int32_t count = start[color + 1] - start[color];
          VpStep        step = {};

          step.kind = VP_STEP_SWEEP;
          step.patches = view[which];
          step.color = color;
          for (int k = 0; k < quarters; k++) {
            const VpBatch batch = {start[color] + count * k / quarters, start[color] + count * (k + 1) / quarters,
                                   k % 2 ? VP_MODE_CORRECT : VP_MODE_REPLACE};
            if (batch.first == batch.last) continue;
            step.batch[step.n++] = batch;
            Call(ops->sweep(&g.views.cells, view[which], batch.mode, batch.first, batch.last, done, db, e));
          }
          if (step.n) steps.push_back(step);
          done |= 1u << color;
        }
        Call(ops->settle(view[which], v.ncell, done, e));
      }
      steps[0] = steps[1];
      steps[0].kind = VP_STEP_AT_ONCE;
      steps[0].n = (int)steps.size() - 1;
      steps[0].count = v.ncell;
      Call(ops->sweep_all(&g.views.cells, steps.data(), VpGhostsAt(NULL), db, d, &did));
      TapOk((PetscBool)(did == (PetscBool)IsLarge()), "%s all colours at once: %s", name.c_str(), did ? "taken" : "left");
      if (!did) continue;
      const Reals got = g.Get(d[0], N), expected = g.Get(e[0], N);
      size_t      apart = 0;
      for (size_t i = 0; i < N; i++) apart += !(got[i] == expected[i]);
      const double e1 = Error(got, expected, 0, N);
      TapOk((PetscBool)(apart == 0 || (v.dim == 3 && e1 < 10 * eps)), "%s at once as colour by colour%s%s: %zu numbers apart (%.1e)",
            name.c_str(), unlike ? ", unlike" : "", back ? ", backwards" : "", apart, e1);
    }
  }
  void Transfers()
  {
    const size_t Nc = N >> v.dim;
    Reals        fine(N), add = x, coarse(Nc);

    ReferenceProlong(&host.cells, &host.transfer, v.ncell, PETSC_FALSE, c.data(), fine.data());
    ReferenceProlong(&host.cells, &host.transfer, v.ncell, PETSC_TRUE, c.data(), add.data());
    ReferenceRestrict(&host.cells, &host.transfer, b.data(), coarse.data());
    void *d = g.Poisoned(N), *da = g.Real(x), *db2 = g.Poisoned(Nc);
    Call(ops->prolong(&g.views.transfer, 0, v.ncell, PETSC_FALSE, dc, d));
    Call(ops->prolong(&g.views.transfer, 0, v.ncell, PETSC_TRUE, dc, da));
    Call(ops->restrict_(&g.views.transfer, db, db2));
    Compare("prolong", d, fine, 0, N);
    Compare("prolong add", da, add, 0, N);
    Compare("restrict", db2, coarse, 0, Nc);
  }
  void Conversions(const Level &outer, Device &o)
  {
    InPlace      here;
    const Reals  r = Apply(ViewsOf(outer, g.views.cells.nown, here), x, b.data());
    Reals        in(N), res(N), out = c;
    double       norm = 0, norm2;
    const size_t owned = (size_t)g.views.cells.nown * v.per;

    for (size_t i = 0; i < owned; i++) norm += r[i] * r[i];
    for (size_t at = 0; at < N; at += v.per) {
      ReferenceConvert(&host.cells, host.cells.enter, 1, &b[at], PETSC_FALSE, &in[at]);
      ReferenceConvert(&host.cells, host.cells.enter, 1, &r[at], PETSC_FALSE, &res[at]);
      ReferenceConvert(&host.cells, host.cells.leave, 1, &x[at], PETSC_TRUE, &out[at]);
    }
    void   *d = g.Poisoned(N), *d2 = g.Poisoned(N), *d3 = g.Poisoned(N);
    double *ob = (double *)o.Real(b), *ox = (double *)o.Real(x), *oc = (double *)o.Real(c);
    Call(ops->enter(&g.views.cells, NULL, 1, NULL, VpGhostsAt(NULL), ob, d, NULL));
    Call(ops->enter(&g.views.cells, &o.views.cells, 1, ox, VpGhostsAt(ox + owned), ob, d2, &norm2));
    Call(ops->leave(&g.views.cells, PETSC_TRUE, 1, dx, oc));
    Compare("enter", d, in, 0, owned);
    Compare("residual enters", d2, res, 0, owned, 2);
    TapOk((PetscBool)(fabs(norm2 - norm) < 1e-11 * norm), "%s norm (%.1e)", name.c_str(), fabs(norm2 - norm) / norm);
    const double e = Error(o.Get(oc, N), out, 0, owned);
    TapOk((PetscBool)(e < eps), "%s leave (%.1e)", name.c_str(), e);
    Call(ops->enter(&g.views.cells, &o.views.cells, 1, ox, VpGhostsAt(ox + owned), ob, d3, NULL));
    Compare("residual enters without the norm", d3, res, 0, owned, 2);
    Call(ops->enter(&g.views.cells, &o.views.cells, 1, NULL, VpGhostsAt(NULL), ob, d2, &norm2));
    Compare("enter with the norm", d2, in, 0, owned);
  }
};

static const double cube[3] = {0.125, 0.125, 0.125}, brick[3] = {0.125, 0.11, 0.15};
static const VpSide D = VP_SIDE_DIRICHLET, N = VP_SIDE_NEUMANN, dirichlet[6] = {D, D, D, D, D, D}, mixed[6] = {D, N, N, D, D, D};

/* unlike: every fifth patch has tables of its own, which are equal to the common ones */
static void CheckAtOnce(int dim, int k, int L, bool single, const double *h, const VpSide *sides, bool unlike)
{
  Check c;
  Level some;

  MakeMesh(c.v, dim, k, L, true, h, sides);
  MakeLines(c.v, 0);
  MakePatches(c.v, VP_SPACE_FULL);
  ColorsAsLaunched(c.v);
  if (unlike) {
    const int32_t entries = (int32_t)c.v.mirrored.size();
    const Reals   fdm = c.v.fdm;
    c.v.fdm.insert(c.v.fdm.end(), fdm.begin(), fdm.end());
    c.v.mirrored.insert(c.v.mirrored.end(), entries, 0);
    for (size_t i = 0; i < c.v.type.size(); i++) c.v.type[i] += (int)(i / dim) % 5 == 2 ? entries : 0;
  }
  some = SomePatches(c.v);
  c.Start(single, c.v.ncell);
  c.AtOnce(some, unlike);
}

/* a coefficient that changes along x, with patches that are exact; sorted: none of them is common */
static void CheckLayers(int dim, int k, int L, bool single, const double *h, const VpSide *sides, bool sorted)
{
  Check c;

  MakeMesh(c.v, dim, k, L, true, h, sides);
  MakeLines(c.v, 0);
  MakePatches(c.v, VP_SPACE_FULL);
  MakeLayers(c.v);
  if (sorted) c.v.common.found = PETSC_FALSE;
  c.Start(single, c.v.ncell);
  c.Smoother(sorted ? "layers, sorted" : "layers", VP_MODE_CORRECT, 100);
}

/* a coefficient of size `about` that varies over cells of one size, a tensor in the space full, with the tables of common patches */
static void CheckVarying(int dim, int k, int L, bool single, const double *h, const VpSide *sides, double reaction, double about)
{
  for (VpSpace space : {VP_SPACE_FULL, VP_SPACE_DIRICHLET}) {
    Check c;

    MakeMesh(c.v, dim, k, L, true, h, sides);
    MakeLines(c.v, 0);
    MakePatches(c.v, space);
    c.v.reaction = reaction;
    MakeVarying(c.v, about, space == VP_SPACE_FULL ? dim : 1);
    c.Start(single, c.v.ncell);
    c.Smoother("varying, exact", VP_MODE_CORRECT, 100);
    if (space == VP_SPACE_DIRICHLET) c.Smoother("varying, local", VP_MODE_LOCAL, 100);
  }
  for (int directions : {1, dim}) {
    Check c;

    MakeMesh(c.v, dim, k, L, false, h, sides);
    c.v.reaction = reaction;
    MakeVarying(c.v, about, directions);
    c.Start(single, c.v.ncell);
    c.Operator("varying", 0, c.v.ncell);
  }
}

/* spaces that lack functions at the sides of a patch; patches with the common tables have a kernel of their own */
static void CheckLacking(int dim, int k, int L, bool single, const double *h, const VpSide *sides, double reaction)
{
  for (VpSpace space : {VP_SPACE_DIRICHLET, VP_SPACE_CLAMPED}) {
    const std::string name = space == VP_SPACE_CLAMPED ? "clamped" : "dirichlet";
    Check             c;

    MakeMesh(c.v, dim, k, L, true, h, sides);
    MakeLines(c.v, reaction);
    MakePatches(c.v, space);
    c.v.reaction = reaction;
    c.Start(single, c.v.ncell);
    c.Smoother(name + ", local", VP_MODE_LOCAL, 100);
    c.Smoother(name + ", exact", VP_MODE_CORRECT, 100);
  }
}

/* patches of many sorts, of which none is common */
static void CheckSorts(int dim, int k, int L, bool single, const double *h, const VpSide *sides, double reaction)
{
  for (VpSpace space : {VP_SPACE_FULL, VP_SPACE_DIRICHLET, VP_SPACE_CLAMPED}) {
    const std::string name = space == VP_SPACE_CLAMPED ? "clamped" : space == VP_SPACE_DIRICHLET ? "dirichlet" : "full";
    Check             c;

    MakeMesh(c.v, dim, k, L, true, h, sides);
    MakePatches(c.v, space);
    MakeGraded(c.v, reaction);
    c.Start(single, c.v.ncell);
    c.Operator("graded", 0, c.v.ncell);
    if (space == VP_SPACE_FULL) c.Smoother("graded, replace", VP_MODE_REPLACE, 100);
    else c.Smoother("graded, " + name + ", local", VP_MODE_LOCAL, 100);
    c.Smoother("graded, " + name + ", exact", VP_MODE_CORRECT, 100);
    c.Smoother("graded, " + name + ", given", VP_MODE_GIVEN, 100);
  }
  Check c;
  MakeMesh(c.v, dim, k, L, true, h, sides);
  MakeLines(c.v, 0);
  MakePatches(c.v, VP_SPACE_FULL);
  c.v.reaction = reaction;
  MakeVarying(c.v, 1, 1);
  c.v.common.found = PETSC_FALSE;
  c.Start(single, c.v.ncell);
  c.Smoother("varying, sorted", VP_MODE_CORRECT, 100);
}

static void CheckAll(int dim, int k, bool single)
{
  const int L = dim == 2 ? 4 : k == 1 ? 4 : 3;

  for (int variant = 0; variant < 2; variant++) {
    const double *h = variant ? brick : cube;
    const VpSide *sides = variant ? mixed : dirichlet;
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
    c.Smoother("replace", VP_MODE_REPLACE, 10);
    c.Smoother("exact", VP_MODE_CORRECT, 100);
    c.Transfers();
    c.Smoother("given", VP_MODE_GIVEN, 10);
    CheckLacking(dim, k, L, single, h, sides, 0.3 * variant);
    for (double about : {1., 0x1p70}) CheckVarying(dim, k, dim == 3 ? 2 : L, single, h, sides, 0.3 * variant, about);
    CheckSorts(dim, k, L, single, h, sides, 0.3 * variant);
    for (bool sorted : {false, true}) CheckLayers(dim, k, L, single, h, sides, sorted);
    for (bool unlike : {false, true}) CheckAtOnce(dim, k, L, single, h, sides, unlike);
    Device od;
    Level  ov;
    MakeMesh(ov, dim, k, L, false, h, sides);
    MakeLines(ov, 0);
    od.Init(ov, false, c.g.views.cells.nown);
    c.Conversions(ov, od);
    if (!variant) continue;
    MakeMesh(s.v, dim, k, dim == 2 ? 3 : 2, true, h, sides);
    MakeLines(s.v, 0);
    MakePatches(s.v, VP_SPACE_FULL);
    Scramble(s.v);
    s.Start(single, s.v.ncell);
    s.Operator("random tables", 0, s.v.ncell);
    s.Smoother("random tables, replace", VP_MODE_REPLACE, 10);
    s.Smoother("random tables, given", VP_MODE_GIVEN, 10);
    s.Smoother("random tables, local", VP_MODE_LOCAL, 1000);
  }
}

TAP_MAIN()
{
  int    argc;
  char **argv;

  PetscFunctionBeginUser;
  PetscCall(PetscGetArgs(&argc, &argv));
  if (!UsableBackend("cuda")) PetscFunctionReturn(TapSkip("no CUDA device"));
  for (int k = 1; k <= VP_MAX_DEGREE; k++) {
    bool mine = argc < 2;
    for (int i = 1; i < argc; i++) mine = mine || atoi(argv[i]) == k;
    for (int single = 0; single < 2 && mine; single++)
      for (int dim = 2; dim <= 3; dim++) CheckAll(dim, k, single);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
