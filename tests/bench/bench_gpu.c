static char help[] =
  "Speed and memory on the unit cube or square, degree by degree: kernels, cycle and solves against a copy measured in the same run.\n\n\
  -bench_backend cuda|host           : where (default cuda)\n\
  -bench_dim 2|3                     : default 3\n\
  -bench_varying                     : a coefficient that differs from cell to cell\n\
  -bench_waves                       : a coefficient at points: 1 + 0.9 sin 4 pi x sin 4 pi y (sin 4 pi z)\n\
  -bench_host_waves                  : with -bench_waves, the host finds the values\n\
  -bench_jump a                      : a coefficient that is 1 and a in turn, in layers of three cells\n\
  -dm_vpatchdg_*                     : other meshes: grids, boxes, boundaries; where there are several boxes, not with f = 1\n\
  -bench_degrees 3,4,7               : which degrees (default 1 to 8)\n\
  -bench_parts kernels,spaces,solves : which figures (default these): kernels and cycle; sweeps in other spaces; solves.\n\
                                       No kernels where the finest level is inverted\n\
  -bench_parts data                  : functions at points: coordinates, values, right-hand sides, errors\n\
  -bench_parts operator              : A x alone, on any mesh that -dm_vpatchdg_* makes\n\
  -bench_parts options               : solves as -ksp_* and -pc_* say, by default FGMRES and its cycle\n\
  -bench_shift s                     : meshes refined s times more (s < 0: less); the default has 57 to 453 million DoFs\n\
  -bench_refine l,...                : meshes of 2^l cells a side for all degrees\n\
  -bench_most n                      : no mesh of more unknowns\n\
  -bench_seconds t                   : how long a figure is repeated (default 0.05)\n\
  -bench_levels n                    : levels of the cycle, 0: all; by default the cheapest\n\
  -bench_large                       : instead of all that, degree 7 on 128^3 cells by refinement\n\
  -report FILE                       : the figures as JSON; share/vpatchdg/plot.py draws them\n\n";

#include "../support/corrects.h"
#include "solves.h"

/* ---- the figures */

enum { KERNELS, SPACES, SOLVES, DEFAULT_PARTS, DATA = DEFAULT_PARTS, OPERATOR, OPTIONS, PARTS };
enum { IN_SINGLE = 1 << VP_SINGLE, IN_DOUBLE = 1 << VP_DOUBLE, IN_BOTH = IN_SINGLE | IN_DOUBLE };

static const Traffic sweep = {.sweeps = 1};

static const struct {
  const char *name;
  Action      action;
  int         in;
  Traffic     least;
} kernels[] = {
  {"A x", Multiply, IN_DOUBLE, {.bytes = 16}},
  {"A x on a level", MultiplyLevel, IN_BOTH, {.reals = 2}},
  {"residual, norm, conversion", EnterResidual, IN_BOTH, {.bytes = 16, .reals = 1}},
  {"conversion, update", LeaveAdd, IN_BOTH, {.bytes = 16, .reals = 1}},
  {"restriction", Restrict, IN_BOTH, {.transfers = 1}},
  {"prolongation", Prolong, IN_BOTH, {.transfers = 1}},
  {"sweep, full exact", Sweep, IN_BOTH, {.sweeps = 1}},
  {"V-cycle", Precondition, IN_BOTH, {.bytes = 16, .reals = 2, .cycles = 1}},
};

static const struct {
  const char *name;
  VpSpace     space;
  VpResidual  residual;
  int         degree; /* the least */
} spaces[] = {
  {"sweep, full global", VP_SPACE_FULL, VP_RESIDUAL_GLOBAL, 1},
  {"sweep, dirichlet global", VP_SPACE_DIRICHLET, VP_RESIDUAL_GLOBAL, 1},
  {"sweep, dirichlet exact", VP_SPACE_DIRICHLET, VP_RESIDUAL_EXACT, 1},
  {"sweep, dirichlet local", VP_SPACE_DIRICHLET, VP_RESIDUAL_LOCAL, 1},
  {"sweep, clamped local", VP_SPACE_CLAMPED, VP_RESIDUAL_LOCAL, 3},
  {"sweep, any patches", VP_SPACE_FULL, VP_RESIDUAL_EXACT, 1},
};

static const struct {
  const char *name;
  Action      action;
  int         scalars, vectors; /* read or written, a DoF */
} data[] = {
  {"coordinates of points", FindPoints, 0, 1},           {"values from coefficients", PointValues, 2, 0},
  {"gradients from coefficients", PointGradients, 1, 1}, {"coefficients from values", Coefficients, 2, 0},
  {"right-hand side from values", RHSFromPoints, 2, 0},  {"L2 difference at points", DifferenceL2, 2, 0},
  {"H1 difference at points", DifferenceH1, 1, 1},
};

static PetscErrorCode MeasureKernels(Work *w)
{
  PetscFunctionBeginUser;
  w->smoother = w->cycle->at[0].smoother;
  PetscCall(Precondition(w)); /* puts numbers into all vectors */
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(kernels); i++) {
    if (kernels[i].in >> w->precision & 1) PetscCall(Measure(w, kernels[i].name, kernels[i].action, kernels[i].least));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On levels of their own, with the cycle's vectors. Corrections in the space full are left to the kernel for any patches. Cells that
   differ in size have the space full alone. */
static PetscErrorCode MeasureSpaces(Work *w)
{
  VpProblem problem;
  VpLevel   level;

  PetscFunctionBeginUser;
  if (VpMeshIsAdaptive(w->outer->mesh)) PetscFunctionReturn(PETSC_SUCCESS);
  problem = ((DM_VPatchDG *)w->dm->data)->op->problem;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(spaces); i++) {
    if (w->degree < spaces[i].degree) continue;
    PetscCall(Precondition(w)); /* the sweeps begin with good values */
    PetscCall(VpLevelCreate(w->outer->mesh, &problem, VP_BASIS_THIN, w->precision, w->bench->backend, &level));
    PetscCall(VpSmootherCreate(level, spaces[i].space, spaces[i].residual, VP_EXCHANGE_SWEEP, 0, &w->smoother));
    if (spaces[i].space == VP_SPACE_FULL && spaces[i].residual == VP_RESIDUAL_EXACT) PetscCall(AlwaysCorrect(w->smoother));
    PetscCall(Measure(w, spaces[i].name, Sweep, sweep));
    PetscCall(VpSmootherDestroy(&w->smoother));
    PetscCall(VpLevelDestroy(&level));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureData(Work *w)
{
  PetscFunctionBeginUser;
  w->precision = VP_DOUBLE;
  PetscCall(SetRightHandSide(w, 1));
  PetscCall(VecCopy(w->b, w->x));
  PetscCall(DMVPatchDGGetPoints(w->dm, &w->gradients));
  PetscCall(DMVPatchDGCreateBoundaryVector(w->dm, VPATCHDG_BOUNDARY_DIRICHLET, &w->boundary));
  PetscCall(VecSet(w->boundary, 1));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(data); i++)
    PetscCall(Measure(w, data[i].name, data[i].action, (Traffic){.bytes = 8. * (data[i].scalars + data[i].vectors * w->bench->dim)}));
  PetscCall(VecDestroy(&w->boundary));
  PetscCall(VecDestroy(&w->gradients));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x where the coefficient is given at points or cells are mapped, on a coarser mesh: such operators have many numbers. A x reads x and
   the metric, and writes y. */
static const struct {
  const char *name;
  PetscBool   number, matrix; /* as the coefficient at points */
  const char *options;
} metrics[] = {{"A x, a number at points", PETSC_TRUE, PETSC_FALSE, ""},
               {"A x, a matrix at points", PETSC_FALSE, PETSC_TRUE, ""},
               {"A x, a matrix at points, single", PETSC_FALSE, PETSC_TRUE, "-dm_vpatchdg_geometry_precision single"},
               {"A x, a map", PETSC_FALSE, PETSC_FALSE, "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05"},
               {"A x, a map, single", PETSC_FALSE, PETSC_FALSE,
                "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05 -dm_vpatchdg_geometry_precision single"},
               {"A x, parallelepipeds", PETSC_FALSE, PETSC_FALSE, "-dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 60"}};

static PetscErrorCode MeasureOperator(Work *w, const char name[])
{
  VpMetric metric;
  double   numbers = 2;

  PetscFunctionBeginUser;
  w->precision = VP_DOUBLE;
  PetscCall(SetRightHandSide(w, 1));
  metric = w->outer->problem.metric;
  if (metric) numbers += VpMetricNumbers(metric, w->bench->dim, w->degree + 1) + (metric->factor && metric->factor == metric->root);
  PetscCall(Measure(w, name, Multiply, (Traffic){.bytes = 8 * numbers}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureAtPoints(Bench *bench, int degree, PetscInt refine)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(metrics); i++) {
    PetscOptions own;
    Work         w;

    bench->points = metrics[i].number ? 1 : metrics[i].matrix ? bench->dim * (bench->dim + 1) / 2 : 0;
    PetscCall(PetscOptionsCreate(&own));
    PetscCall(PetscOptionsInsertString(own, metrics[i].options));
    PetscCall(PetscOptionsPush(own));
    PetscCall(WorkCreate(bench, degree, refine, &w));
    PetscCall(PetscOptionsPop());
    PetscCall(PetscOptionsDestroy(&own));
    PetscCall(MeasureOperator(&w, metrics[i].name));
    PetscCall(WorkDestroy(&w));
  }
  bench->points = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- runs */

typedef struct {
  char      backend[16], report[PETSC_MAX_PATH_LEN];
  PetscInt  ndegree, degree[VP_MAX_DEGREE], shift, nrefine, refine[12]; /* refine: those of all degrees, or none */
  PetscReal most;
  PetscBool parts[PARTS], large;
} Options;

/* refinement first, alone with what it needs: its memory counts */
static PetscErrorCode RunDegree(Bench *bench, int degree, PetscInt refine, const Options *o)
{
  const PetscBool cycles = (PetscBool)(o->parts[KERNELS] || o->parts[SPACES] || o->parts[SOLVES]);
  const int       precisions = o->large ? 1 : cycles ? 2 : 0;
  PetscBool       adaptive;
  Work            w;

  PetscFunctionBeginUser;
  PetscCall(WorkCreate(bench, degree, refine, &w));
  adaptive = VpMeshIsAdaptive(w.outer->mesh);
  if (o->parts[DATA]) PetscCall(MeasureData(&w));
  if (o->parts[OPERATOR]) PetscCall(MeasureOperator(&w, "A x"));
  if (o->parts[OPTIONS]) PetscCall(MeasureOptions(&w));
  for (int p = 0; p < precisions; p++) {
    PetscCall(WorkPrecision(&w, p ? VP_DOUBLE : VP_SINGLE));
    if (o->parts[SOLVES]) PetscCall(MeasureSolves(&w, o->large ? 1 : PETSC_STATIC_ARRAY_LENGTH(solvers)));
    else PetscCall(SetRightHandSide(&w, 1));
    if (o->parts[KERNELS] && w.cycle->nlevel > 1) PetscCall(MeasureKernels(&w));
    if (o->parts[SPACES]) PetscCall(MeasureSpaces(&w));
    PetscCall(PCDestroy(&w.pc));
  }
  PetscCall(WorkDestroy(&w));
  if (o->parts[KERNELS] && !adaptive) PetscCall(MeasureAtPoints(bench, degree, PetscMax(1, refine - 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a small solve: libraries load, contexts and handles come to be, and none of it counts as set-up or memory of what follows */
static PetscErrorCode WarmUp(Bench *bench, int degree, PetscBool solve)
{
  Work w;

  PetscFunctionBeginUser;
  PetscCall(WorkCreate(bench, degree, solve ? 2 : 1, &w));
  if (!solve) {
    PetscCall(SetRightHandSide(&w, 1));
    PetscCall(MatMult(w.A, w.b, w.x));
    PetscCall(WorkDestroy(&w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(WorkPrecision(&w, VP_SINGLE));
  PetscCall(SetRightHandSide(&w, 1));
  PetscCall(SolverCreate(&w, &solvers[2]));
  PetscCall(SolveOnce(&w));
  PetscCall(KSPDestroy(&w.ksp));
  PetscCall(PCDestroy(&w.pc));
  PetscCall(WorkDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetOptions(Options *o)
{
  static const char *const names[] = {"kernels", "spaces", "solves", "data", "operator", "options", "-bench_parts", "", NULL};
  PetscEnum                chosen[PARTS];
  PetscInt                 count = PARTS;
  PetscBool                degrees, parts, refined;

  PetscFunctionBeginUser;
  *o = (Options){.backend = "cuda", .ndegree = VP_MAX_DEGREE, .nrefine = PETSC_STATIC_ARRAY_LENGTH(o->refine), .most = PETSC_MAX_REAL};
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bench_backend", o->backend, sizeof(o->backend), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-report", o->report, sizeof(o->report), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_shift", &o->shift, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bench_large", &o->large, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-bench_most", &o->most, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-bench_refine", o->refine, &o->nrefine, &refined));
  if (!refined) o->nrefine = 0;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-bench_degrees", o->degree, &o->ndegree, &degrees));
  PetscCall(PetscOptionsGetEnumArray(NULL, NULL, "-bench_parts", names, chosen, &count, &parts));
  for (PetscInt i = 0; i < o->nrefine; i++) {
    PetscCheck(o->refine[i] >= 1 && o->refine[i] <= 12, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-bench_refine goes from 1 to 12, not %d", (int)o->refine[i]);
  }
  PetscCheck(o->shift >= -4 && o->shift <= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-bench_shift goes from -4 to 1, not %d",
             (int)o->shift);
  if (o->large) o->ndegree = 1;
  else if (!degrees) o->ndegree = VP_MAX_DEGREE;
  for (int i = 0; i < o->ndegree; i++) {
    if (!degrees || o->large) o->degree[i] = o->large ? 7 : i + 1;
    PetscCheck(o->degree[i] >= 1 && o->degree[i] <= VP_MAX_DEGREE, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-bench_degrees: there are 1 to %d, not %d", VP_MAX_DEGREE, (int)o->degree[i]);
  }
  for (int p = 0; p < DEFAULT_PARTS; p++) o->parts[p] = o->large ? (PetscBool)(p == SOLVES) : (PetscBool)!parts;
  for (PetscInt i = 0; parts && !o->large && i < count; i++) o->parts[chosen[i]] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetProblem(Bench *bench)
{
  PetscInt dim = bench->dim;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-bench_seconds", &bench->enough, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bench_varying", &bench->varying, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bench_waves", &bench->waves, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bench_host_waves", &bench->host_waves, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-bench_jump", &bench->jump, NULL));
  if (bench->jump) bench->varying = PETSC_TRUE;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_levels", &bench->levels, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_dim", &dim, NULL));
  PetscCheck(dim == 2 || dim == 3, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-bench_dim is 2 or 3, not %d", (int)dim);
  bench->dim = (int)dim;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all degrees on meshes as usual, or, mesh by mesh, on those that are asked for */
static PetscErrorCode RunAll(Bench *bench, const Options *o)
{
  const PetscInt usual[2][VP_MAX_DEGREE] = {{12, 12, 12, 11, 11, 11, 11, 11}, {8, 7, 7, 7, 7, 6, 6, 6}}; /* [dim - 2][degree - 1] */

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < PetscMax(1, o->nrefine); r++) {
    for (PetscInt i = 0; i < o->ndegree; i++) {
      const int      degree = (int)o->degree[i];
      const PetscInt refine = o->nrefine ? o->refine[r] : usual[bench->dim - 2][degree - 1] + o->shift + (o->large ? 1 : 0);

      if (pow((degree + 1) * exp2(refine), bench->dim) <= o->most) PetscCall(RunDegree(bench, degree, refine, o));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BackendCreate(const char name[], Bench *bench)
{
  PetscBool available = PETSC_TRUE;

  PetscFunctionBeginUser;
  bench->backend = VpBackendFind(name);
  PetscCheck(bench->backend, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-bench_backend %s is not in this library: host always is, cuda where nvcc was found when it was built", name);
#if !defined(PETSC_HAVE_CUDA)
  PetscCheck(bench->backend == &VpBackendHost, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-bench_backend %s needs vectors on the device: build with a PETSc configured --with-cuda, or take -bench_backend host", name);
#endif
  if (bench->backend->available) PetscCall(bench->backend->available(&available));
  PetscCheck(available, PETSC_COMM_SELF, PETSC_ERR_GPU, "-bench_backend %s: there is no such device here. -bench_backend host does without",
             name);
  PetscCall(VPatchDGInitializePackage());
  PetscCall(bench->backend->alloc(1, "the clock", &bench->probe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Options        o;
  Bench          bench = {.dim = 3, .levels = PETSC_DECIDE, .enough = 0.05};
  PetscMPIInt    ranks;
  PetscLogDouble start, end;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCheck(ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "bench_gpu measures one rank, not %d", ranks);
  PetscCall(GetOptions(&o));
  PetscCall(GetProblem(&bench));
  PetscCall(PetscTime(&start));
  PetscCall(BackendCreate(o.backend, &bench));
  PetscCall(WarmUp(&bench, (int)o.degree[0], (PetscBool)!o.parts[OPERATOR]));
  PetscCall(MeasureCopy(&bench, (size_t)1 << (31 + 3 * PetscMin(0, o.shift)))); /* 2 GB, less on coarser meshes */
  PetscCall(ReportBegin(&bench, o.report));
  PetscCall(RunAll(&bench, &o));
  PetscCall(PetscTime(&end));
  printf("\n%d figures in %.0f s\n", bench.rows, end - start);
  PetscCall(ReportEnd(&bench));
  PetscCall(bench.backend->release(bench.probe));
  PetscCall(PetscFinalize());
  return 0;
}
