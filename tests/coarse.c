/* The dense inverse of the coarsest problem, against the operator.
   ranks: 1 2 4 */
#include "support/multigrid.h"
#include "../src/coarse/internal.h"

#define LSHAPE {2, 2, 1}, PETSC_TRUE
#define CORNER {2, 2, 2}, PETSC_TRUE
static const Setting dense[] = {
  {"L-shape", 2, 4, 1, LSHAPE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
  {"L-shape, Q1, refined", 2, 1, 2, LSHAPE, VP_SIDE_DIRICHLET, COEFFICIENT_UNIFORM, 0},
  {"L-shape, Robin", 2, 3, 1, LSHAPE, VP_SIDE_ROBIN, COEFFICIENT_ONE, 0},
  {"L-shape, Neumann", 2, 3, 1, LSHAPE, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 0},
  {"L-shape, Neumann, small reaction", 2, 3, 1, LSHAPE, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 1e-7},
  {"L-shape, Neumann, reaction", 2, 5, 1, LSHAPE, VP_SIDE_NEUMANN, COEFFICIENT_LAYERS, 3},
  {"checkerboard", 2, 3, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_CHECKERBOARD, 0},
  {"Fichera", 3, 1, 1, CORNER, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
  {"Fichera, Neumann", 3, 2, 1, CORNER, VP_SIDE_NEUMANN, COEFFICIENT_SEPARABLE, 0},
};

/* x = A^-1 b by the dense inverse in a precision, in outer vectors. *has: it is that */
static PetscErrorCode Inverse(World *w, VpPrecision precision, const double *b, double *x, PetscBool *has)
{
  VpLevel  level;
  VpCoarse coarse;
  KSP      ksp;
  VpVector vb, vx;

  PetscFunctionBeginUser;
  PetscCall(VpLevelCreate(w->mesh, &w->problem, VP_BASIS_THIN, precision, TestBackend(), &level));
  PetscCall(VpCoarseCreate(level, VP_COARSE_DENSE, "none_", NULL, &coarse));
  ksp = VpCoarseGetKSP(coarse);
  *has = (PetscBool)!ksp;
  PetscCall(VpVectorCreate(level, 1, "test", &vb));
  PetscCall(VpVectorCreate(level, 2, "test", &vx));
  PetscCall(VpVectorEnter(vb, 1, b));
  PetscCall(VpCoarseSolve(coarse, 1, vb, vx));
  PetscCall(VpVectorLeave(vx, PETSC_FALSE, 1, x));
  PetscCall(VpVectorDestroy(&vb));
  PetscCall(VpVectorDestroy(&vx));
  PetscCall(VpCoarseDestroy(&coarse));
  PetscCall(VpLevelDestroy(&level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v -= its mean */
static PetscErrorCode RemoveMean(World *w, double v[])
{
  double *one, *host, *ones, mean;

  PetscFunctionBeginUser;
  PetscCall(VectorCreate(w->outer, &one));
  PetscCall(FillOnes(w, one));
  mean = Dot(w->outer, v, one) / Dot(w->outer, one, one);
  host = Get(w->outer, v);
  ones = Get(w->outer, one);
  for (size_t i = 0; i < OwnSize(w->outer); i++) host[i] -= mean * ones[i];
  Put(w->outer, host, v);
  PetscCall(PetscFree(host));
  PetscCall(PetscFree(ones));
  PetscCall(VectorDestroy(w->outer, &one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In double precision the residual is small, and in single precision x is the same. Constants of x are those of b over the reaction; a
   singular problem's x has none, whatever b has. With a small reaction single precision must leave it to a KSP. */
static PetscErrorCode InverseIsExact(const Setting *s)
{
  const PetscBool neumann = (PetscBool)(s->boundary == VP_SIDE_NEUMANN), small = (PetscBool)(s->reaction > 0 && s->reaction < 1e-3);
  World           w;
  PetscBool       is[2];
  double         *b, *x, *y, *r, *one, residual, apart, mean = 0, expected = 0;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, s, &w));
  PetscCall(VectorCreate(w.outer, &b));
  PetscCall(VectorCreate(w.outer, &x));
  PetscCall(VectorCreate(w.outer, &y));
  PetscCall(VectorCreate(w.outer, &r));
  PetscCall(VectorCreate(w.outer, &one));
  Fill(w.outer, 1, b);
  PetscCall(FillOnes(&w, one));
  if (neumann) {
    if (s->reaction > 0) expected = Dot(w.outer, b, one) / s->reaction;
    PetscCall(Inverse(&w, VP_DOUBLE, b, x, &is[0]));
    mean = Dot(w.outer, x, one);
    PetscCall(RemoveMean(&w, b));
  }
  PetscCall(Inverse(&w, VP_DOUBLE, b, x, &is[0]));
  PetscCall(Inverse(&w, VP_SINGLE, b, y, &is[1]));
  PetscCall(Apply(w.outer, x, b, r));
  residual = sqrt(Dot(w.outer, r, r) / Dot(w.outer, b, b));
  apart = Distance(w.outer, x, y) / sqrt(Dot(w.outer, x, x));
  TapOk((PetscBool)(is[0] && residual < 1e-6), "dense_inverse_is_exact: %s: residual %.1e", s->name, residual);
  TapOk((PetscBool)(fabs(mean - expected) <= 1e-9 * PetscMax(1, fabs(expected))), "constants_are_right: %s: %.6e, not %.6e", s->name, mean,
        expected);
  if (small && !VpIsDevice(TestBackend())) TapOk((PetscBool)!is[1], "small_reactions_are_left_to_a_ksp: %s", s->name);
  if (!small) TapOk((PetscBool)(is[1] && apart < 1e-4), "single_precision_is_as_double: %s: %.1e apart", s->name, apart);
  PetscCall(VectorDestroy(w.outer, &b));
  PetscCall(VectorDestroy(w.outer, &x));
  PetscCall(VectorDestroy(w.outer, &y));
  PetscCall(VectorDestroy(w.outer, &r));
  PetscCall(VectorDestroy(w.outer, &one));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows [first, first + count) of M as the backend's slot makes it, and as ops.h defines it, by Gauss and Jordan: A has n rows, 4 on its
   diagonal and -1 beside that, and cells of 3 x 3 values */
enum { ROWS = 153, CELL = 9, ORDER = 3 };
typedef struct {
  double      A[ROWS][ROWS], M[ROWS][ROWS], one[ROWS], enter[ORDER * ORDER], leave[ORDER * ORDER];
  PetscInt    start[ROWS + 1], column[3 * ROWS];
  PetscScalar value[3 * ROWS];
} Sample;

static void SampleCreate(Sample *s, const double weight[2])
{
  PetscInt entries = 0;

  for (int i = 0; i < ORDER * ORDER; i++) {
    s->enter[i] = sin(1 + i);
    s->leave[i] = cos(2 + 3 * i);
  }
  for (int i = 0; i < ROWS; i++) {
    s->one[i] = 1 / sqrt(ROWS);
    s->start[i] = entries;
    for (int j = PetscMax(0, i - 1); j <= PetscMin(ROWS - 1, i + 1); j++) {
      s->column[entries] = j;
      s->value[entries++] = i == j ? 4 : -1;
    }
    for (int j = 0; j < ROWS; j++) s->A[i][j] = (i == j ? 4 : abs(i - j) == 1 ? -1 : 0) + weight[0] / ROWS;
  }
  s->start[ROWS] = entries;
  for (int p = 0; p < ROWS; p++) {
    const double one = 1 / s->A[p][p];

    for (int i = 0; i < ROWS; i++) {
      const double by = s->A[i][p] * one;

      for (int j = 0; j < ROWS && i != p; j++) s->A[i][j] = (j == p ? 0 : s->A[i][j]) - by * (j == p ? 1 : s->A[p][j]);
    }
    for (int j = 0; j < ROWS; j++) s->A[p][j] = j == p ? one : one * s->A[p][j];
  }
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < ROWS; j++) {
      const int ci = i / CELL * CELL, cj = j / CELL * CELL, x = i % ORDER, y = i % CELL / ORDER, u = j % ORDER, v = j % CELL / ORDER;

      s->M[i][j] = 0;
      for (int k = 0; k < CELL; k++) {
        for (int l = 0; l < CELL; l++)
          s->M[i][j] += s->enter[x * ORDER + k % ORDER] * s->enter[y * ORDER + k / ORDER] * (s->A[ci + k][cj + l] + weight[1] / ROWS) *
                        s->leave[l % ORDER * ORDER + u] * s->leave[l / ORDER * ORDER + v];
      }
    }
  }
}

static PetscErrorCode BackendsInvert(void)
{
  const VpBackend *backend = TestBackend();
  const int        first = 3 * CELL, count = 9 * CELL;
  const double     weight[2] = {5, -0.25};
  const size_t     n = (size_t)count * ROWS;
  Sample          *s;
  void            *M;
  double          *is, largest, expected = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&s));
  SampleCreate(s, weight);
  PetscCall(PetscMalloc1(n, &is));
  PetscCall(backend->alloc(n * sizeof(double), "test", &M));
  for (int i = first; i < first + count; i++) expected = PetscMax(expected, s->A[i][i]);
  for (int precision = 0; precision < 2; precision++) {
    const VpDenseInverse d = {.n = ROWS,
                              .first = first,
                              .count = count,
                              .start = s->start,
                              .column = s->column,
                              .value = s->value,
                              .one = s->one,
                              .weight = {weight[0], weight[1]},
                              .dim = 2,
                              .order = ORDER,
                              .enter = s->enter,
                              .leave = s->leave};
    double               worst = 0;

    PetscCall(backend->invert_dense(&d, precision ? VP_DOUBLE : VP_SINGLE, M, &largest));
    PetscCall(backend->download(M, n * (precision ? sizeof(double) : sizeof(float)), is));
    for (size_t i = 0; i < n; i++)
      worst = PetscMax(worst, fabs((precision ? is[i] : (double)((float *)is)[i]) - s->M[(size_t)first + i / ROWS][i % ROWS]));
    TapOk((PetscBool)(worst < (precision ? 1e-13 : 1e-6) && fabs(largest - expected) < 1e-13),
          "backend_inverts_as_the_contract_says: %s, %s precision: %.1e apart, %.6f on the diagonal", backend->name,
          precision ? "double" : "single", worst, largest);
  }
  PetscCall(backend->release(M));
  PetscCall(PetscFree(is));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* does this way of solving have a KSP? */
static PetscErrorCode HasKSP(const Setting *s, VpCoarseType type, PetscBool *has)
{
  World    w;
  VpLevel  level;
  VpCoarse coarse;
  KSP      ksp;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, s, &w));
  PetscCall(VpLevelCreate(w.mesh, &w.problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &level));
  PetscCall(VpCoarseCreate(level, type, "none_", NULL, &coarse));
  ksp = VpCoarseGetKSP(coarse);
  *has = (PetscBool)(ksp != NULL);
  PetscCall(VpCoarseDestroy(&coarse));
  PetscCall(VpLevelDestroy(&level));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Choices(void)
{
  static const Setting small = {"L-shape", 2, 4, 1, LSHAPE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
                       large = {"L-shape", 2, 4, 2, LSHAPE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0};
  PetscBool ksp;

  PetscFunctionBeginUser;
  PetscCall(HasKSP(&small, VP_COARSE_AUTO, &ksp));
  TapOk((PetscBool)!ksp, "auto_inverts_small_problems");
  if (!VpIsDevice(TestBackend())) {
    PetscCall(HasKSP(&large, VP_COARSE_AUTO, &ksp));
    TapOk(ksp, "auto_leaves_others_to_a_ksp");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  if (tap.size == 1 || !VpIsDevice(TestBackend())) { /* on GPUs one rank has the coarsest level */
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(dense); i++) PetscCall(InverseIsExact(&dense[i]));
    PetscCall(Choices());
    PetscCall(BackendsInvert());
  } else TapOk(PETSC_TRUE, "dense_inverse_is_exact # SKIP several ranks on GPUs");
  PetscFunctionReturn(PETSC_SUCCESS);
}
