/* How fast x += M (b - A x) converges, and that what it converges to is right: nu = -8 / log10 of the mean reduction. Bounds are an
   independent reference computation's nu for GMRES and a margin for plain refinement; cuts between ranks cost up to 40 % of nu.
   ranks: 1 2 3 4 5 */
#include "support/multigrid.h"

typedef struct {
  Setting        setting;
  VpCycleOptions options;
  PetscBool      smooth; /* b = 1 instead of random numbers */
  double         bound;
} Case;

#define SQUARE "square", 2
#define CUBE   "cube", 3
#define UNIT   {1, 1, 1}, PETSC_FALSE
#define DOUBLE .precision = VP_DOUBLE
static const Case cases[] = {
  /* single precision, f = 1 */
  {{CUBE, 2, 3, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_TRUE, 4.5},
  {{CUBE, 3, 3, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_TRUE, 3.6},
  {{CUBE, 4, 2, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_TRUE, 2.8},
  {{SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_TRUE, 4.0},
  {{SQUARE, 4, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_TRUE, 3.5},
  /* boundaries, reaction */
  {{SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, DOUBLE}, PETSC_FALSE, 3.9},
  {{SQUARE, 3, 5, UNIT, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_FALSE, 4.0},
  {{SQUARE, 3, 5, UNIT, 0, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_FALSE, 3.9},
  {{SQUARE, 3, 5, UNIT, VP_SIDE_ROBIN, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_FALSE, 4.0},
  {{CUBE, 2, 3, UNIT, VP_SIDE_ROBIN, COEFFICIENT_ONE, 0}, {.post = 1, DOUBLE}, PETSC_FALSE, 4.9},
  {{CUBE, 2, 3, UNIT, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 0}, {.post = 1, DOUBLE}, PETSC_FALSE, 4.9},
  {{CUBE, 2, 3, UNIT, 0, COEFFICIENT_ONE, 0}, {.post = 1, DOUBLE}, PETSC_FALSE, 4.6},
  {{SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 1e4}, {.post = 1, DOUBLE}, PETSC_FALSE, 3.4},
  {{SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 1e6}, {.post = 1, DOUBLE}, PETSC_FALSE, 2.5},
  /* coefficients */
  {{SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_UNIFORM, 0}, {.post = 1, DOUBLE}, PETSC_FALSE, 3.9},
  {{SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_SEPARABLE, 0}, {.post = 1, DOUBLE}, PETSC_FALSE, 4.0},
  {{SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_CHECKERBOARD, 0}, {.post = 1, DOUBLE}, PETSC_FALSE, 5.6},
  {{SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_LAYERS, 0}, {.post = 1}, PETSC_FALSE, 4.2},
  {{SQUARE, 3, 4, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_LAYERS, 1e4}, {.post = 1, DOUBLE}, PETSC_FALSE, 13},
  /* coarsest levels that are a KSP's */
  {{"L-shape", 2, 2, 4, {2, 2, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_TRUE, 6.3},
  {{"Fichera", 3, 2, 2, {2, 2, 2}, PETSC_TRUE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_TRUE, 6.0},
  {{"boxes", 2, 3, 3, {3, 2, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 0}, {.post = 1}, PETSC_FALSE, 6},
  {{SQUARE, 3, 4, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = 2}, PETSC_TRUE, 3.9},
  /* cycles */
  {{SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .type = VP_CYCLE_W, DOUBLE}, PETSC_FALSE, 3.8},
  {{SQUARE, 3, 4, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.pre = 1, .post = 1, DOUBLE}, PETSC_TRUE, 3.4},
  {{SQUARE, 3, 4, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.pre = 1, .post = 1, .symmetric = PETSC_TRUE, DOUBLE}, PETSC_TRUE, 3.3},
  {{SQUARE, 3, 4, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
   {.pre = 1, .post = 1, .space = VP_SPACE_DIRICHLET, DOUBLE},
   PETSC_TRUE,
   4.3},
  {{SQUARE, 3, 4, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
   {.pre = 1, .post = 1, .space = VP_SPACE_DIRICHLET, .residual = VP_RESIDUAL_LOCAL},
   PETSC_TRUE,
   7.0},
  /* the coarsest level alone is an exact solver */
  {{CUBE, 3, 1, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_UNIFORM, 1}, {.post = 1, DOUBLE}, PETSC_FALSE, 0.8},
  {{SQUARE, 3, 1, UNIT, 0, COEFFICIENT_ONE, 0}, {.post = 1, DOUBLE}, PETSC_FALSE, 0.8},
};

/* takes the mean of b away where only such right-hand sides have solutions */
static PetscErrorCode MakeConsistent(World *w, double b[])
{
  double *one, *hb, *hone, mean;

  PetscFunctionBeginUser;
  if (!VpProblemIsSingular(w->mesh, &w->problem)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VectorCreate(w->outer, &one));
  PetscCall(FillOnes(w, one));
  mean = Dot(w->outer, b, one) / Dot(w->outer, one, one);
  hb = Get(w->outer, b);
  hone = Get(w->outer, one);
  for (size_t i = 0; i < OwnSize(w->outer); i++) hb[i] -= mean * hone[i];
  Put(w->outer, hb, b);
  PetscCall(PetscFree(hb));
  PetscCall(PetscFree(hone));
  PetscCall(VectorDestroy(w->outer, &one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* nu, final: the refinement's; residual: |b - A x| / |b| anew */
static PetscErrorCode Solve(const Case *c, double *nu, double *final, double *residual)
{
  VpCycleOptions options = c->options;
  World          w;
  VpCycle        cycle;
  double        *x, *b, *r;

  PetscFunctionBeginUser;
  options.replay = PETSC_TRUE;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, &c->setting, &w));
  PetscCall(VpCycleCreate(w.mesh, &w.problem, &options, TestBackend(), NULL, &cycle));
  PetscCall(VectorCreate(w.outer, &x));
  PetscCall(VectorCreate(w.outer, &b));
  PetscCall(VectorCreate(w.outer, &r));
  if (c->smooth) PetscCall(FillOnes(&w, b));
  else Fill(w.outer, 1, b);
  PetscCall(MakeConsistent(&w, b));
  PetscCall(Refinement(&w, cycle, b, x, nu, final));
  PetscCall(Apply(w.outer, x, b, r));
  *residual = sqrt(Dot(w.outer, r, r) / Dot(w.outer, b, b));
  PetscCall(VectorDestroy(w.outer, &x));
  PetscCall(VectorDestroy(w.outer, &b));
  PetscCall(VectorDestroy(w.outer, &r));
  PetscCall(VpCycleDestroy(&cycle));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Converge(const Case *c)
{
  const char *const coefficient[] = {"1", "uniform", "separable", "checkerboard", "layers"};
  const Setting    *s = &c->setting;
  double            nu = 0, final = 1, residual, bound;
  PetscMPIInt       size;

  PetscFunctionBeginUser;
  PetscCall(Solve(c, &nu, &final, &residual));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  bound = (size > 1 ? 1.4 : 1) * c->bound;
  TapOk((PetscBool)(final <= 1e-8 && nu <= bound && residual < 1.01e-8),
        "refinement_converges: %s Q%d L=%d, boundary %d, a = %s, c = %g, %s(%d,%d) space %d, %s: nu %.2f, at most %.1f", s->name, s->degree,
        s->level, s->boundary, coefficient[s->coefficient], s->reaction, c->options.type == VP_CYCLE_W ? "W" : "V", (int)c->options.pre,
        (int)c->options.post, (int)c->options.space, c->options.precision == VP_DOUBLE ? "double" : "single", nu, bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* two visits of every coarser level: 0.4-0.5 less in nu, where the coarse correction limits it */
static PetscErrorCode WGainsOverV(const Setting *s)
{
  double nu[2], final, residual;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    const Case c = {.setting = *s, .options = {.post = 1, .type = i ? VP_CYCLE_W : VP_CYCLE_V, DOUBLE}, .smooth = PETSC_TRUE};

    PetscCall(Solve(&c, &nu[i], &final, &residual));
  }
  TapOk((PetscBool)(nu[1] <= nu[0] - 0.1), "w_gains_over_v: %s Q%d L=%d: nu %.2f and %.2f", s->name, s->degree, s->level, nu[1], nu[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what a cycle asked of the coarsest level's KSP, and what it got: 4096 unknowns are iterated on, the Neumann problem always */
static PetscErrorCode CoarseKSPReachesItsTolerance(int boundary, VpPrecision precision)
{
  const Setting        s = {SQUARE, 3, 5, UNIT, boundary, COEFFICIENT_ONE, 0};
  const VpCycleOptions options = {.post = 1, .levels = 2, .coarse = VP_COARSE_KSP, .precision = precision};
  const PetscReal      tolerance = precision == VP_DOUBLE ? 1.01e-8 : 1.01e-4;
  World                w;
  VpCycle              cycle;
  VpVector             entry;
  double              *x, *b;
  KSP                  ksp;
  Mat                  A;
  Vec                  f, u, r;
  PetscReal            residual, norm;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, &s, &w));
  PetscCall(VpCycleCreate(w.mesh, &w.problem, &options, TestBackend(), NULL, &cycle));
  PetscCall(VectorCreate(w.outer, &x));
  PetscCall(VectorCreate(w.outer, &b));
  Fill(w.outer, 1, b);
  PetscCall(VpCycleBegin(cycle, 0, &entry));
  PetscCall(VpVectorEnter(entry, 1, b));
  PetscCall(VpCycleSolve(cycle, 0, PETSC_FALSE, PETSC_FALSE, 1, x));
  ksp = VpCoarseGetKSP(cycle->coarse);
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetRhs(ksp, &f));
  PetscCall(KSPGetSolution(ksp, &u));
  PetscCall(VecDuplicate(f, &r));
  PetscCall(MatMult(A, u, r));
  PetscCall(VecAYPX(r, -1, f));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(f, NORM_2, &norm));
  TapOk((PetscBool)(residual <= tolerance * norm), "coarse_ksp_reaches_its_tolerance: boundary %d, %s: residual %.1e, at most %.0e",
        boundary, precision == VP_DOUBLE ? "double" : "single", (double)(residual / norm), (double)tolerance);
  PetscCall(VecDestroy(&r));
  PetscCall(VectorDestroy(w.outer, &x));
  PetscCall(VectorDestroy(w.outer, &b));
  PetscCall(VpCycleDestroy(&cycle));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  static const Setting w[] = {{SQUARE, 1, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
                              {SQUARE, 3, 5, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
                              {CUBE, 1, 4, UNIT, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(Converge(&cases[i]));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(w); i++) PetscCall(WGainsOverV(&w[i]));
  for (int neumann = 0; neumann < 2; neumann++) {
    PetscCall(CoarseKSPReachesItsTolerance(neumann ? VP_SIDE_NEUMANN : VP_SIDE_DIRICHLET, VP_SINGLE));
    PetscCall(CoarseKSPReachesItsTolerance(neumann ? VP_SIDE_NEUMANN : VP_SIDE_DIRICHLET, VP_DOUBLE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
