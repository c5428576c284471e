/* Errors on discs, balls and shells, with their trees as they are and turned at random: order k + 1 in L2, k in H1. -all: degrees and
   refinements that take minutes, too.
   ranks: 1 2 */
#include "support/problem.h"
#include <petscdt.h>

enum { MOST = 7, ORDER = 6, NODES = ORDER + 1 };

/* A round domain in dim dimensions: trees between a cube (half its diagonal is `inner`) and the unit sphere around the cube, which is a
   tree, too; or (shell) between spheres of radius 1 and 2. */
typedef struct {
  const char *name;
  int         dim;
  PetscBool   shell;
  double      inner;
} Round;

static int CountTrees(const Round *r)
{
  return 2 * r->dim + !r->shell;
}

/* The last tree of those that are no shell is the cube. Others lie along direction tree / 2, on its lower or upper side. */
static void PointOf(const Round *r, int tree, const double xi[3], double X[3])
{
  const double half = r->inner / sqrt(r->dim);
  double       cube[3] = {1, 0, 0}, ball[3] = {1, 0, 0}, norm = 1;

  if (tree == 2 * r->dim) {
    for (int i = 0; i < r->dim; i++) X[i] = half * (2 * xi[i] - 1);
    return;
  }
  for (int i = 1; i < r->dim; i++) {
    cube[i] = 2 * xi[i] - 1;
    ball[i] = tan(PETSC_PI / 4 * cube[i]);
    norm += ball[i] * ball[i];
  }
  for (int i = 0; i < r->dim; i++) {
    const double out = ball[i] / sqrt(norm), at = r->shell ? (1 + xi[0]) * out : (1 - xi[0]) * half * cube[i] + xi[0] * out;

    X[(tree / 2 + i) % r->dim] = !i && tree % 2 == 0 ? -at : at;
  }
}

/* the vertex at a corner: 2^dim of the cube or the inner sphere, then as many of the outer one */
static int VertexOf(const Round *r, int tree, const int at[3])
{
  int bits = 0;

  if (tree == 2 * r->dim) return at[0] | at[1] << 1 | (r->dim == 3 ? at[2] << 2 : 0);
  for (int i = 0; i < r->dim; i++) bits |= (i ? at[i] : tree % 2) << (tree / 2 + i) % r->dim;
  return bits + (at[0] << r->dim);
}

/* The directions of a tree: direction d of the turned tree is direction axis[d] of the tree, and may run against it. */
typedef struct {
  int axis[3], flips;
} Turn;

static Turn DrawTurn(int dim, unsigned int *seed)
{
  Turn turn = {{0, 1, 2}, 0};

  for (int d = dim - 1; d >= 0; d--) {
    const int with = (int)((*seed = *seed * 1103515245u + 12345u) >> 16) % (d + 1), axis = turn.axis[d];

    turn.axis[d] = turn.axis[with];
    turn.axis[with] = axis;
  }
  turn.flips = (int)((*seed = *seed * 1103515245u + 12345u) >> 16) % (1 << dim);
  return turn;
}

static void Straighten(const Turn *turn, int dim, const double xi[3], double to[3])
{
  for (int d = 0; d < dim; d++) to[turn->axis[d]] = turn->flips >> d & 1 ? 1 - xi[d] : xi[d];
}

/* seed 0: trees as they are */
static PetscErrorCode CreateRound(const Round *r, unsigned int seed, PetscInt degree, PetscInt refine, DM *dm)
{
  const int n = r->dim == 3 ? NODES * NODES * NODES : NODES * NODES;
  PetscInt  corner[MOST << 3];
  PetscReal point[NODES], weight[NODES], *node;

  PetscFunctionBeginUser;
  PetscCall(PetscDTGaussLobattoLegendreQuadrature(NODES, PETSCGAUSSLOBATTOLEGENDRE_VIA_LINEAR_ALGEBRA, point, weight));
  PetscCall(PetscMalloc1((size_t)CountTrees(r) * (size_t)n * (size_t)r->dim, &node));
  for (int tree = 0; tree < CountTrees(r); tree++) {
    const Turn turn = seed ? DrawTurn(r->dim, &seed) : (Turn){{0, 1, 2}, 0};
    double     xi[3], at[3] = {0, 0, 0}, X[3];

    for (int c = 0; c < 1 << r->dim; c++) {
      for (int d = 0; d < 3; d++) xi[d] = c >> d & 1;
      Straighten(&turn, r->dim, xi, at);
      corner[(tree << r->dim) + c] = VertexOf(r, tree, (const int[]){(int)at[0], (int)at[1], (int)at[2]});
    }
    for (int i = 0; i < n; i++) {
      for (int d = 0, k = i; d < 3; d++, k /= NODES) xi[d] = (1 + point[k % NODES]) / 2;
      Straighten(&turn, r->dim, xi, at);
      PointOf(r, tree, at, X);
      for (int d = 0; d < r->dim; d++) node[(size_t)(tree * n + i) * (size_t)r->dim + (size_t)d] = X[d];
    }
  }
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, r->dim, degree, refine, dm));
  PetscCall(DMVPatchDGSetBackend(*dm, VPATCHDG_BACKEND_HOST));
  PetscCall(DMVPatchDGSetTrees(*dm, 2 << r->dim, NULL, CountTrees(r), corner, ORDER, node));
  PetscCall(DMSetUp(*dm));
  PetscCall(PetscFree(node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u = sin(x + 1) cos(2y) exp(z) */
static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(x[0] + 1) * PetscCosReal(2 * x[1]) * (dim == 3 ? PetscExpReal(x[2]) : 1);
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  const PetscReal z = dim == 3 ? PetscExpReal(x[2]) : 1;

  g[0] = PetscCosReal(x[0] + 1) * PetscCosReal(2 * x[1]) * z;
  g[1] = -2 * PetscSinReal(x[0] + 1) * PetscSinReal(2 * x[1]) * z;
  if (dim == 3) PetscCall(Solution(dim, x, &g[2], ctx));
  return 0;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  PetscCall(Solution(dim, x, f, ctx));
  f[0] *= dim == 3 ? 4 : 5;
  return 0;
}

/* error = that of the solution, in L2 and in the H1 seminorm */
static PetscErrorCode Solve(const Round *r, unsigned int seed, PetscInt degree, PetscInt refine, PetscReal error[2])
{
  PetscInt its;
  Problem  p;
  DM       dm;

  PetscFunctionBeginUser;
  PetscCall(CreateRound(r, seed, degree, refine, &dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(DMVPatchDGComputeRHS(dm, Source, Solution, NULL, NULL, p.b));
  PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-11 -pc_type vpatchdg", NULL, &its, NULL));
  PetscCall(DMVPatchDGComputeErrors(dm, p.x, Solution, Gradient, NULL, &error[0], &error[1]));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode errors_have_full_order(const Round *r, PetscInt degree, PetscInt refine)
{
  PetscReal coarse[2], fine[2], turned[2], order[2];

  PetscFunctionBeginUser;
  PetscCall(Solve(r, 0, degree, refine, coarse));
  PetscCall(Solve(r, 0, degree, refine + 1, fine));
  PetscCall(Solve(r, 3, degree, refine + 1, turned));
  for (int i = 0; i < 2; i++) order[i] = PetscLog2Real(coarse[i] / fine[i]);
  TapOk((PetscBool)(order[0] > (PetscReal)degree + 0.7 && order[1] > (PetscReal)degree - 0.3),
        "errors_have_full_order: %s Q%d, n=%d, L2 %.2e order %.2f, H1 %.2e order %.2f", r->name, (int)degree, (int)refine + 1,
        (double)fine[0], (double)order[0], (double)fine[1], (double)order[1]);
  TapOk((PetscBool)(PetscAbsReal(turned[0] / fine[0] - 1) < 1e-3 && PetscAbsReal(turned[1] / fine[1] - 1) < 1e-3),
        "turned_trees_have_the_same_errors: %s Q%d, %.2e, %.2e", r->name, (int)degree, (double)turned[0], (double)turned[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  static const Round rounds[] = {{"disc", 2, PETSC_FALSE, 0.4}, {"ball", 3, PETSC_FALSE, 0.5}, {"shell", 3, PETSC_TRUE, 0}};
  PetscBool          all;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-all", &all));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rounds); i++) {
    const PetscInt refine = rounds[i].dim == 2 ? 3 : all ? 2 : 1;

    for (PetscInt degree = 1; degree <= (rounds[i].dim == 2 || all ? 4 : 2); degree++)
      PetscCall(errors_have_full_order(&rounds[i], degree, degree == 1 && !all ? refine + 1 : refine));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
