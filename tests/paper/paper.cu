/* The kernels of Cui and Kanschat, "Multilevel Interior Penalty Methods on GPUs" (2024), for comparison: one thread block a vertex patch,
   2n x 2n threads with a line along z each, nodal basis at Gauss-Lobatto points, dense 1D mass and stiffness matrices in shared memory,
   7 contractions for the residual and 6 for the fast diagonalisation. A program of its own on the unit cube; from the library it takes the
   1D mathematics only.

   Variants: shared memory read in natural order (Basic) or rotated so that rows of a matrix start in different banks (ConflictFree);
   unknowns numbered cell by cell (CellWise) or as one lattice (Lexicographic); float, double; patch functions that vanish on the patch's
   sides with the patch's own residual (Dirichlet), or all of them with the residual of A x (Full).

   A x alone is the residual of the patches that tile the mesh.

     paper                checks, then a table of GDoF/s for Q3 .. Q7
     paper -report FILE   the same, and the table as JSON
     paper check          checks only, TAP
     paper profile        every kernel once on a small mesh, for share/vpatchdg/conflicts.sh */
#include "tables.h"
#include <algorithm>
#include <cstring>
#include <string>

#define Cuda(...) Require((__VA_ARGS__) == cudaSuccess)

template <class T>
static T *Device(const Reals &a)
{
  const std::vector<T> converted(a.begin(), a.end());
  T                   *p;

  Cuda(cudaMalloc(&p, a.size() * sizeof(T)));
  Cuda(cudaMemcpy(p, converted.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

/* tables and patches of a cube of nc cells a side; general: all patches take the kernel for the boundary */
template <class T, int n, class Space>
struct Cube {
  static constexpr int m = 2 * n;
  int                  nc, count[2][8];
  T                   *mass, *table;
  int                 *list[2][8]; /* inside, at the boundary */

  Cube(int cells, bool general) : nc(cells)
  {
    const Nodal line(n - 1, nc);
    Reals       all;

    for (int kind = 0; kind < KINDS; kind++) {
      const Reals one =
        kind == REDUCED && !Space::lost ? Reals(Stride(m)) : Table(line, kind, Space::exact ? VP_SPACE_FULL : VP_SPACE_DIRICHLET);
      all.insert(all.end(), one.begin(), one.end());
    }
    mass = Device<T>(line.Mass(2));
    table = Device<T>(all);
    for (int color = 0; color < 8; color++) {
      std::vector<int> cells_of[2];
      for (int p = 0; p < nc * nc * nc; p++) {
        const int c[3] = {p % nc, p / nc % nc, p / nc / nc};
        bool      mine = true, edge = general;
        for (int d = 0; d < 3; d++) mine = mine && c[d] + 1 < nc && (c[d] + 1) % 2 == (color >> d & 1);
        for (int d = 0; d < 3; d++) edge = edge || c[d] == 0 || c[d] + 2 == nc;
        if (mine) cells_of[edge].push_back(c[0] | c[1] << 10 | c[2] << 20);
      }
      for (int edge = 0; edge < 2; edge++) {
        count[edge][color] = (int)cells_of[edge].size();
        Cuda(cudaMalloc(&list[edge][color], (count[edge][color] + 1) * sizeof(int)));
        Cuda(cudaMemcpy(list[edge][color], cells_of[edge].data(), count[edge][color] * sizeof(int), cudaMemcpyHostToDevice));
      }
    }
  }
  ~Cube()
  {
    cudaFree(mass), cudaFree(table);
    for (int color = 0; color < 8; color++) cudaFree(list[0][color]), cudaFree(list[1][color]);
  }
  template <class Kernel, class... Vectors>
  void Start(Kernel kernel, int color, int edge, Vectors... vectors) const
  {
    const size_t bytes = (2 * m * m * m + m * m + (edge ? 3 : 1) * Stride(m)) * sizeof(T);

    if (!count[edge][color]) return;
    Cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    kernel<<<count[edge][color], m * m, bytes>>>(nc, list[edge][color], mass, table, vectors...);
    Cuda(cudaGetLastError());
  }
  /* out = A u, in the space Full */
  template <class Access, class Numbering>
  void Apply(const T *u, T *out) const
  {
    Start(PaperApply<T, n, Access, Numbering, false>, 7, 0, u, out);
    Start(PaperApply<T, n, Rolled, Numbering, true>, 7, 1, u, out);
  }
  template <class Access, class Numbering, bool EDGE>
  void Launch(int color, const T *b, const T *u, T *out) const
  {
    Start(PaperSweep<T, n, Access, Numbering, Space, EDGE>, color, EDGE, b, u, out);
  }
  /* from u[0] to u[0]. Patches of one colour read each other's cells where the residual is exact: then every colour goes from one vector to
     the other */
  template <class Access, class Numbering>
  void Sweep(const T *b, T *const u[2]) const
  {
    for (int i = 0; i < 8; i++) {
      const int color = 7 - i;
      const T  *from = u[Space::exact ? i % 2 : 0];
      T        *to = u[Space::exact ? 1 - i % 2 : 0];

      Launch<Access, Numbering, false>(color, b, from, to);
      Launch<Rolled, Numbering, true>(color, b, from, to);
      if (!Space::exact || color == 7) continue;
      Carry<T, n, Numbering><<<nc * nc * nc / 8, dim3(32, 8)>>>(nc, color, from, to);
      Cuda(cudaGetLastError());
    }
  }
};

/* the variants: numbering (bit 1), access (bit 0) */
static const char *const variants[] = {"basic, cell-wise", "conflict-free, cell-wise", "basic, lexicographic",
                                       "conflict-free, lexicographic"};

template <class C, class T>
static void Sweep(const C &cube, int variant, const T *b, T *const u[2])
{
  if (variant == 0) cube.template Sweep<Basic, CellWise>(b, u);
  if (variant == 1) cube.template Sweep<ConflictFree, CellWise>(b, u);
  if (variant == 2) cube.template Sweep<Basic, Lexicographic>(b, u);
  if (variant == 3) cube.template Sweep<ConflictFree, Lexicographic>(b, u);
}

template <class C, class T>
static void Apply(const C &cube, int variant, const T *u, T *out)
{
  if (variant == 0) cube.template Apply<Basic, CellWise>(u, out);
  if (variant == 1) cube.template Apply<ConflictFree, CellWise>(u, out);
  if (variant == 2) cube.template Apply<Basic, Lexicographic>(u, out);
  if (variant == 3) cube.template Apply<ConflictFree, Lexicographic>(u, out);
}

/* ---- checks, with vectors as lattices */

static int tests, failures;

static void Ok(double error, double most, const std::string &name)
{
  const bool good = error <= most; /* not NaN */

  tests++;
  failures += !good;
  printf("%s %d - %s (%.1e)\n", good ? "ok" : "not ok", tests, name.c_str(), error);
}

static double Distance(const Reals &a, const Reals &b)
{
  double d = 0, s = 0;

  for (size_t i = 0; i < a.size(); i++) d += (a[i] - b[i]) * (a[i] - b[i]), s += b[i] * b[i];
  return sqrt(d / s);
}

/* a lattice in the order of a variant's vectors, or back */
template <int n>
static Reals Renumber(int nc, int variant, bool back, const Reals &a)
{
  const int q = nc * n;
  Reals     r(a.size());

  for (int i = 0; i < (int)a.size(); i++) {
    const size_t at = variant / 2 ? i : CellWise::At<n>(nc, i % q, i / q % q, i / q / q);
    if (back) r[i] = a[at];
    else r[at] = a[i];
  }
  return r;
}

template <class T, int n>
static Reals Applied(int nc, int variant, const Reals &u)
{
  const Cube<T, n, Full> cube(nc, false);
  T                     *du = Device<T>(Renumber<n>(nc, variant, false, u)), *dv = Device<T>(Reals(u.size(), NAN));
  std::vector<T>         out(u.size());

  Apply(cube, variant, du, dv);
  Cuda(cudaMemcpy(out.data(), dv, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
  Cuda(cudaFree(du));
  Cuda(cudaFree(dv));
  return Renumber<n>(nc, variant, true, Reals(out.begin(), out.end()));
}

template <class T, int n, class Space>
static Reals Swept(int nc, bool general, int variant, const Reals &b, const Reals &u)
{
  const Cube<T, n, Space> cube(nc, general);
  T                      *db = Device<T>(Renumber<n>(nc, variant, false, b)),
    *du[2] = {Device<T>(Renumber<n>(nc, variant, false, u)), Device<T>(Reals(u.size(), NAN))};
  std::vector<T> out(u.size());

  Sweep(cube, variant, db, du);
  Cuda(cudaMemcpy(out.data(), du[0], out.size() * sizeof(T), cudaMemcpyDeviceToHost));
  Cuda(cudaFree(db));
  for (T *p : du) Cuda(cudaFree(p));
  return Renumber<n>(nc, variant, true, Reals(out.begin(), out.end()));
}

static Reals Random(size_t size)
{
  Reals a(size);

  for (double &v : a) v = (float)(rand() / (double)RAND_MAX - 0.5);
  return a;
}

/* A sweep keeps a continuous solution (whose jumps, which Dirichlet does not see, are 0), solves a single patch, and is the same in every
   variant and with every patch in the general kernel. */
template <class T, int n, class Space>
static void Check(const std::string &name)
{
  const int    nc = 4, q = nc * n;
  const Nodal  line(n - 1, nc), two(n - 1, 2);
  const double eps = sizeof(T) == 4 ? 2e-5 : 1e-13;
  Reals        x((size_t)q * q * q), u = Random(x.size()), b = Random(x.size()), b2 = Random(8 * n * n * n), first;

  for (int i = 0; i < (int)x.size(); i++) {
    x[i] = 1;
    for (int d = 0, at = i; d < 3; d++, at /= q) x[i] *= cos((d + 2) * (at % q / n + line.node[at % n]) * line.h + d);
  }
  for (int v = 0; v < 4; v++) {
    const Reals swept = Swept<T, n, Space>(nc, false, v, b, u), solved = Swept<T, n, Space>(2, false, v, b2, Random(b2.size()));
    if (!v) first = swept;
    Ok(Distance(Swept<T, n, Space>(nc, false, v, Apply(line, nc, x), x), x), eps, name + variants[v] + ": keeps a solution");
    Ok(Distance(Apply(two, 2, solved), b2), 10 * eps, name + variants[v] + ": solves a patch");
    if (v) Ok(Distance(swept, first), eps, name + variants[v] + ": as the first variant");
  }
  Ok(Distance(Swept<T, n, Space>(nc, true, 0, b, u), first), eps, name + "general kernel: as the first variant");
}

/* A x is that of dense matrices */
template <class T, int n>
static void CheckApply(const std::string &name)
{
  const int   nc = 4;
  const Nodal line(n - 1, nc);
  const Reals u = Random((size_t)nc * nc * nc * n * n * n), expected = Apply(line, nc, u);

  for (int v = 0; v < 4; v++) Ok(Distance(Applied<T, n>(nc, v, u), expected), sizeof(T) == 4 ? 2e-5 : 1e-13, name + variants[v]);
}

/* ---- speed */

template <class T>
__global__ void Fill(T *p, size_t size)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < size; i += (size_t)gridDim.x * blockDim.x) {
    unsigned z = (unsigned)i * 2654435761u;
    z ^= z >> 15, z *= 2246822519u, z ^= z >> 13;
    p[i] = T(z & 0xffffff) / 16777216 - T(0.5);
  }
}

/* seconds of action(): the least of three, after one that does not count */
template <class Action>
static double Seconds(Action action)
{
  cudaEvent_t start, end;
  float       ms, least = INFINITY;

  Cuda(cudaEventCreate(&start));
  Cuda(cudaEventCreate(&end));
  for (int i = 0; i < 4; i++) {
    Cuda(cudaEventRecord(start));
    action();
    Cuda(cudaEventRecord(end));
    Cuda(cudaEventSynchronize(end));
    Cuda(cudaEventElapsedTime(&ms, start, end));
    if (i) least = std::min(least, ms);
  }
  Cuda(cudaEventDestroy(start));
  Cuda(cudaEventDestroy(end));
  return least * 1e-3;
}

static FILE *report; /* or NULL */

/* an entry of the table */
static void Tell(int degree, size_t dofs, bool single, const char *space, const char *kernel, int variant, double seconds)
{
  const double gdofs = 1e-9 * (double)dofs / seconds;
  static int   rows;

  printf(" %*.2f", (int)strlen(variants[variant]), gdofs);
  if (!report) return;
  fprintf(report,
          "%s\n {\"degree\": %d, \"dofs\": %zu, \"precision\": \"%s\", \"space\": \"%s\", \"kernel\": \"%s\", \"variant\": \"%s\", "
          "\"seconds\": %.6g, \"gdofs\": %.6g}",
          rows++ ? "," : "{\"rows\": [", degree, dofs, single ? "single" : "double", space, kernel, variants[variant], seconds, gdofs);
}

/* lines of the table; profile: each kernel once */
template <class T, int n, class Space>
static void Bench(int nc, bool profile)
{
  const size_t            size = (size_t)nc * nc * nc * n * n * n;
  const bool              single = sizeof(T) == 4;
  const char             *space = Space::exact ? "full" : "dirichlet";
  const Cube<T, n, Space> cube(nc, false);
  T                      *b, *u[2];

  for (T **p : {&b, &u[0], &u[1]}) {
    Cuda(cudaMalloc(p, size * sizeof(T)));
    Fill<<<4096, 256>>>(*p, size);
  }
  for (int apply = 0; apply < (Space::exact ? 2 : 1) && !profile; apply++) {
    const char *kernel = apply ? "A x" : "sweep";

    printf("Q%d %5.0f %-7s%-10s%-6s", n - 1, 1e-6 * (double)size, single ? "single" : "double", space, kernel);
    for (int v = 0; v < 4; v++) {
      Tell(n - 1, size, single, space, kernel, v, Seconds([&]() {
             if constexpr (Space::exact) {
               if (apply) return Apply(cube, v, b, u[0]);
             }
             Sweep(cube, v, b, u);
           }));
    }
    printf("\n");
  }
  if (profile) {
    cube.template Launch<Basic, CellWise, false>(0, b, u[0], u[1]);
    cube.template Launch<ConflictFree, CellWise, false>(0, b, u[0], u[1]);
    if constexpr (Space::exact) {
      cube.Start(PaperApply<T, n, Basic, CellWise, false>, 7, 0, b, u[1]);
      cube.Start(PaperApply<T, n, ConflictFree, CellWise, false>, 7, 0, b, u[1]);
    }
  }
  fflush(stdout);
  for (T *p : {b, u[0], u[1]}) Cuda(cudaFree(p));
}

template <int n>
static void Degree(const std::string &mode)
{
  const int  nc = mode == "profile" ? 16 : n <= 4 ? 128 : 64;
  const bool profile = mode == "profile";

  if (mode == "check") {
    const std::string k = "Q" + std::to_string(n - 1);
    CheckApply<float, n>(k + " single, A x, ");
    CheckApply<double, n>(k + " double, A x, ");
    Check<float, n, Dirichlet>(k + " single, dirichlet, ");
    Check<float, n, Full>(k + " single, full, ");
    Check<double, n, Dirichlet>(k + " double, dirichlet, ");
    Check<double, n, Full>(k + " double, full, ");
  } else {
    Bench<float, n, Dirichlet>(nc, profile);
    Bench<float, n, Full>(nc, profile);
    Bench<double, n, Dirichlet>(nc, profile);
    Bench<double, n, Full>(nc, profile);
  }
}

static void Degrees(const std::string &mode)
{
  Degree<4>(mode);
  Degree<5>(mode);
  Degree<6>(mode);
  Degree<7>(mode);
  Degree<8>(mode);
}

int main(int argc, char **argv)
{
  const bool        reports = argc > 2 && argv[1] == std::string("-report");
  const std::string mode = argc > 1 && !reports ? argv[1] : "";

  Require(mode == "" || mode == "check" || mode == "profile");
  Require(!reports || (report = fopen(argv[2], "w")));
  if (mode == "profile") Degrees(mode);
  else {
    Degrees("check");
    printf("1..%d\n", tests);
  }
  if (mode == "" && !failures) {
    printf("\nGDoF/s of a sweep of 8 colours, and of A x\n      MDoF                        ");
    for (const char *name : variants) printf(" %s", name);
    printf("\n");
    Degrees(mode);
  }
  Cuda(cudaDeviceSynchronize());
  if (report) {
    fprintf(report, "]}\n");
    fclose(report);
  }
  return failures > 0;
}
