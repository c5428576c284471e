static char help[] =
  "Scaling over GPUs, one per rank: A x, sweep, cycle and solves of -div grad u = f on boxes, with the messages of each and the time they cost.\n\n\
  -bench_only weak|strong : these only\n\
  -bench_only size        : degree 4 on eight meshes, each on all ranks, without what messages cost\n\
  -bench_only huge        : one solve by refinement of degree 4 on boxes of 128^3 cells, 2.62 10^8 unknowns each\n\
  -bench_boxes n          : of these on a GPU, 8: cuBLAS counts 2^31 - 1 unknowns there\n\
  -bench_shift s          : meshes refined s times less\n\
  -report FILE            : the figures as JSON; share/vpatchdg/scaling.py compares the files of several numbers of ranks\n\
  -dm_*, -pc_*, -ksp_*    : what is measured, for instance -dm_vpatchdg_transport host\n\n";

#include "../support/backend.h"
#include "report.h"
#include "../../src/cycle/internal.h"

/* cells of a GPU (weak) or of all (strong): boxes refined `refine` times */
typedef struct {
  const char *kind;
  int         degree, boxes[3], refine;
} Size;

static const Size sizes[] = {
  {"weak", 3, {1, 1, 1}, 7},   {"weak", 4, {2, 2, 1}, 6},   {"weak", 7, {1, 1, 1}, 6}, /* 134 million DoFs a GPU */
  {"weak", 3, {1, 1, 1}, 6},   {"weak", 4, {2, 2, 1}, 5},   {"weak", 7, {1, 1, 1}, 5}, /* 16 million */
  {"weak", 3, {1, 1, 1}, 5},   {"weak", 4, {2, 2, 1}, 4},   {"weak", 7, {1, 1, 1}, 4}, /* 2 million */
  {"strong", 4, {1, 1, 1}, 7}, {"strong", 4, {2, 2, 1}, 5},                            /* 262 and 16 million in all */
  {"size", 4, {2, 2, 1}, 3},   {"size", 4, {1, 1, 1}, 4},   {"size", 4, {2, 2, 1}, 4}, {"size", 4, {1, 1, 1}, 5}, /* 0.3 to 4 million */
  {"size", 4, {2, 2, 1}, 5},   {"size", 4, {1, 1, 1}, 6},   {"size", 4, {2, 2, 1}, 6}, {"size", 4, {1, 1, 1}, 7}, /* 16 to 262 million */
};

typedef struct {
  const VpBackend *backend;
  DM               dm;
  Mat              A;
  PC               pc;
  KSP              ksp;
  Vec              b, x;
  VpCycle          cycle;
  PetscInt         dofs, boxes[3], refine;
} Problem;

static PetscMPIInt ranks;
static PetscInt    shift = 0;

static PetscErrorCode Multiply(void *p)
{
  return MatMult(((Problem *)p)->A, ((Problem *)p)->b, ((Problem *)p)->x);
}
static PetscErrorCode Precondition(void *p)
{
  return PCApply(((Problem *)p)->pc, ((Problem *)p)->b, ((Problem *)p)->x);
}
static PetscErrorCode Solve(void *p)
{
  return KSPSolve(((Problem *)p)->ksp, ((Problem *)p)->b, ((Problem *)p)->x);
}
/* after a prolongation, which also wrote the ghosts of x: those of b travel. Nothing where the finest level is inverted */
static PetscErrorCode Sweep(void *context)
{
  const VpCycle cycle = ((Problem *)context)->cycle;

  PetscFunctionBeginUser;
  if (!cycle->at[0].smoother) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpVectorWrite(cycle->at[0].b, VP_GHOST_NONE, NULL));
  PetscCall(VpVectorWrite(cycle->at[0].x, VP_GHOST_HALO, NULL));
  PetscCall(VpSmootherSweep(cycle->at[0].smoother, PETSC_FALSE, cycle->at[0].b, cycle->at[0].x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Now(const Problem *p, double *t)
{
  PetscLogDouble now;

  PetscFunctionBeginUser;
  if (p->backend->wait) PetscCall(p->backend->wait());
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&now));
  *t = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* seconds of one, and what this rank sends in it: after two that do not count, the mean of some */
static PetscErrorCode Measure(Problem *p, Action action, int times, double *seconds, double sent[2])
{
  double start, end, before[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(action(p));
  before[0] = petsc_isend_ct, before[1] = petsc_isend_len;
  PetscCall(Now(p, &start));
  for (int i = 0; i < times; i++) PetscCall(action(p));
  PetscCall(Now(p, &end));
  sent[0] = (petsc_isend_ct - before[0]) / times, sent[1] = (petsc_isend_len - before[1]) / times;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  *seconds = (end - start) / times;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* random numbers, a million of them again and again: those of a whole vector take the host longer than a solve takes the GPU */
static PetscErrorCode Fill(const Problem *p, Vec v)
{
  PetscRandom  random;
  PetscScalar *numbers;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  n = PetscMin(n, 1000003);
  PetscCall(PetscMalloc1(n, &numbers));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRAND48));
  PetscCall(PetscRandomGetValues(random, n, numbers));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(Repeat(p->backend, v, n, numbers));
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the size's boxes, `times` as many: its prime factors in one direction after the other */
static void Grid(const Size *size, int times, PetscInt boxes[3])
{
  int d = size->boxes[2] < size->boxes[0] ? 2 : 0;

  for (int i = 0; i < 3; i++) boxes[i] = size->boxes[i];
  for (int prime = 2; times > 1; prime++) {
    for (; times % prime == 0; times /= prime, d = (d + 1) % 3) boxes[d] *= prime;
  }
}

static PetscErrorCode Create(const Size *size, int times, VpExchange exchange, Problem *p)
{
  PetscReal upper[3];

  PetscFunctionBeginUser;
  Grid(size, times, p->boxes);
  p->refine = PetscMax(2, size->refine - shift);
  for (int d = 0; d < 3; d++) upper[d] = p->boxes[d];
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, size->degree, p->refine, &p->dm));
  PetscCall(DMVPatchDGSetBoxGrid(p->dm, p->boxes, NULL, upper));
  if (UsableBackend("cuda"))
    PetscCall(PetscDefined(HAVE_CUDA) ? DMSetVecType(p->dm, VECCUDA) : DMVPatchDGSetBackend(p->dm, VPATCHDG_BACKEND_CUDA));
  PetscCall(DMSetFromOptions(p->dm));
  PetscCall(DMSetUp(p->dm));
  PetscCall(DMCreateMatrix(p->dm, &p->A));
  PetscCall(DMCreateGlobalVector(p->dm, &p->b));
  PetscCall(VecDuplicate(p->b, &p->x));
  PetscCall(VecGetSize(p->b, &p->dofs));
  PetscCall(DMVPatchDGUseBackend(p->dm, &p->backend));
  PetscCall(Fill(p, p->b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &p->ksp));
  PetscCall(KSPSetOperators(p->ksp, p->A, p->A));
  PetscCall(KSPSetTolerances(p->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetType(p->ksp, KSPRICHARDSON));
  PetscCall(KSPGetPC(p->ksp, &p->pc));
  PetscCall(PCSetType(p->pc, PCVPATCHDG));
  PetscCall(SetByOption(p->pc, "-pc_vpatchdg_exchange", VpExchangeNames[exchange]));
  PetscCall(PCVPatchDGSetPrecision(p->pc, VPATCHDG_PRECISION_SINGLE)); /* what auto takes, but before the KSP solves */
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscCall(KSPSetUp(p->ksp));
  p->cycle = ((PC_VPatchDG *)p->pc->data)->cycle;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&p->ksp));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->x));
  PetscCall(MatDestroy(&p->A));
  PetscCall(DMDestroy(&p->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SilenceLevel(VpLevel level)
{
  PetscSF nobody;

  PetscFunctionBeginUser;
  PetscCall(PetscSFCreate(level->mesh->comm, &nobody));
  PetscCall(PetscSFSetGraph(nobody, level->mesh->nown, 0, NULL, PETSC_COPY_VALUES, NULL, PETSC_COPY_VALUES));
  for (int kind = 0; kind < VP_GHOST_KINDS; kind++) {
    PetscCall(VpExchangerDestroy(&level->exchange.exchanger[kind]));
    PetscCall(VpExchangerCreate(&level->exchange.cells, nobody, PETSC_FALSE, &level->exchange.exchanger[kind]));
  }
  PetscCall(PetscSFDestroy(&nobody));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From now on nothing is packed and sent but what levels on fewer ranks gather: all kernels do as much as before, with old ghosts. What the
   set-up has recorded still sends, so it is recorded anew. A solve takes `its` iterations whatever comes out. */
static PetscErrorCode Silence(Problem *p, PetscInt its)
{
  VpLevel outer;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetLevel(p->dm, &outer));
  PetscCall(SilenceLevel(outer));
  for (PetscInt l = 0; l < p->cycle->nlevel; l++) PetscCall(SilenceLevel(p->cycle->at[l].level));
  for (PetscInt i = 0; i < 4 * p->cycle->nlevel; i++)
    PetscCall(VpRecordedForget(p->backend, &p->cycle->at[i / 4].recorded[i / 2 % 2][i % 2]));
  PetscCall(KSPSetConvergenceTest(p->ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(p->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  Action      action;
  KSPType     type; /* of a solve */
  int         times;
  VpExchange  exchange;
  PetscBool   silent; /* is it also measured without messages? */
} figures[] = {
  {"A x", Multiply, NULL, 20, VP_EXCHANGE_AUTO, PETSC_TRUE},
  {"sweep", Sweep, NULL, 10, VP_EXCHANGE_AUTO, PETSC_TRUE},
  {"cycle", Precondition, NULL, 10, VP_EXCHANGE_AUTO, PETSC_TRUE},
  {"refinement", Solve, KSPRICHARDSON, 2, VP_EXCHANGE_AUTO, PETSC_TRUE},
  {"FGMRES", Solve, KSPFGMRES, 2, VP_EXCHANGE_AUTO, PETSC_FALSE},
  {"sweep, by colors", Sweep, NULL, 10, VP_EXCHANGE_COLOR, PETSC_TRUE},
  {"cycle, by colors", Precondition, NULL, 10, VP_EXCHANGE_COLOR, PETSC_TRUE},
};
#define REFINEMENT 3
#define NFIGURE    (int)PETSC_STATIC_ARRAY_LENGTH(figures)

typedef struct {
  double   seconds, sent[2], silent; /* messages and bytes; seconds without messages */
  PetscInt its;
} Result;

static PetscErrorCode MeasureAll(const Size *size, VpExchange exchange, PetscBool silent, Problem *p, Result results[])
{
  double sent[2];

  PetscFunctionBeginUser;
  PetscCall(Create(size, size->kind[0] == 'w' ? ranks : 1, exchange, p));
  if (silent) PetscCall(Silence(p, results[REFINEMENT].its));
  for (int i = 0; i < NFIGURE; i++) {
    if (figures[i].exchange != exchange || (silent && !figures[i].silent)) continue;
    if (figures[i].type) PetscCall(KSPSetType(p->ksp, figures[i].type));
    PetscCall(
      Measure(p, figures[i].action, figures[i].times, silent ? &results[i].silent : &results[i].seconds, silent ? sent : results[i].sent));
    if (figures[i].type && !silent) PetscCall(KSPGetIterationNumber(p->ksp, &results[i].its));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what share/vpatchdg/model.py needs to know */
static PetscErrorCode ReportProblem(const Size *size, const Problem *p, FILE *json)
{
  const VpCycleOptions *o = &p->cycle->options;
  const DM_VPatchDG    *dg = (const DM_VPatchDG *)p->dm->data;
  const PetscInt        gather = VpLeastCells(o, p->backend, (int)p->dm->dim, size->degree);

  PetscFunctionBeginUser;
  PetscCall(PetscFPrintf(
    PETSC_COMM_WORLD, json,
    "{\"kind\": \"%s\", \"degree\": %d, \"boxes\": [%d, %d, %d], \"refine\": %d, \"dofs\": %lld, \"ranks\": %d, \"backend\": \"%s\", "
    "\"periodic\": %s, \"gather\": %lld, \"smooth\": [%d, %d], \"precision\": \"%s\", ",
    size->kind, size->degree, (int)p->boxes[0], (int)p->boxes[1], (int)p->boxes[2], (int)p->refine, (long long)p->dofs, ranks,
    p->backend->name, dg->boundary[0] == VPATCHDG_BOUNDARY_PERIODIC ? "true" : "false", (long long)gather, (int)o->pre, (int)o->post,
    VPatchDGPrecisions[o->precision]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportFigure(const Size *size, const Problem *p, int i, const Result *r, FILE *json, PetscBool *first)
{
  const double exposed = r->silent > 0 ? r->seconds - r->silent : NAN;
  char         text[32], wide[32];

  PetscFunctionBeginUser;
  snprintf(wide, sizeof(wide), "%.3f", 1e3 * exposed);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-6s Q%d %8.1f %3d %-16s %9.3f %8.3f %4d %7.1f %9.3f %9s\n", size->kind, size->degree,
                        1e-6 * p->dofs, ranks, figures[i].name, 1e3 * r->seconds, 1e-9 * p->dofs / r->seconds, (int)r->its, r->sent[0],
                        1e-6 * r->sent[1], isnan(exposed) ? "" : wide));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, json, "%s\n  ", *first ? "" : ","));
  *first = PETSC_FALSE;
  PetscCall(ReportProblem(size, p, json));
  PetscCall(
    PetscFPrintf(PETSC_COMM_WORLD, json,
                 "\"figure\": \"%s\",\n   \"seconds\": %.6g, \"gdofs\": %.6g, \"iterations\": %d, \"messages\": %.6g, \"bytes\": %.10g, "
                 "\"exposed\": %s}",
                 figures[i].name, r->seconds, 1e-9 * p->dofs / r->seconds, (int)r->its, r->sent[0], r->sent[1], Number(exposed, text)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const Size *size, FILE *json, PetscBool *first)
{
  const int messages = ranks > 1 && strcmp(size->kind, "size") != 0; /* are these measured, too? */
  Result    results[NFIGURE] = {{0}};
  Problem   p;

  PetscFunctionBeginUser;
  for (int exchange = VP_EXCHANGE_AUTO; exchange <= (messages ? VP_EXCHANGE_COLOR : VP_EXCHANGE_AUTO);
       exchange += VP_EXCHANGE_COLOR - VP_EXCHANGE_AUTO) {
    for (int silent = 0; silent < (messages ? 2 : 1); silent++) {
      PetscCall(MeasureAll(size, (VpExchange)exchange, (PetscBool)silent, &p, results));
      for (int i = 0; i < NFIGURE && silent == messages; i++) {
        if ((int)figures[i].exchange == exchange) PetscCall(ReportFigure(size, &p, i, &results[i], json, first));
      }
      PetscCall(Destroy(&p));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UsedMemory(const VpBackend *backend, double *bytes)
{
  double available = 0, total = 0;

  PetscFunctionBeginUser;
  if (backend && backend->memory) PetscCall(backend->memory(&available, &total));
  *bytes = total - available;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refinement computes b - A x anew in double precision in every iteration: its last norm is that of the true residual. */
static PetscErrorCode Huge(PetscInt boxes)
{
  const Size       size = {"huge", 4, {1, 1, 1}, 7};
  double           before, used, seconds, sent[2];
  PetscInt         its, n;
  const PetscReal *norms;
  Problem          p;

  PetscFunctionBeginUser;
  PetscCall(UsedMemory(UsableBackend("cuda"), &before));
  PetscCall(Create(&size, (int)(boxes * ranks), VP_EXCHANGE_AUTO, &p));
  PetscCall(KSPSetResidualHistory(p.ksp, NULL, 101, PETSC_TRUE));
  PetscCall(Measure(&p, Solve, 1, &seconds, sent));
  PetscCall(UsedMemory(UsableBackend("cuda"), &used));
  PetscCall(KSPGetIterationNumber(p.ksp, &its));
  PetscCall(KSPGetResidualHistory(p.ksp, &norms, &n));
  PetscCall(PetscPrintf(
    PETSC_COMM_WORLD,
    "degree %d, %d x %d x %d boxes of %d^3 cells, %lld unknowns on %d ranks: refinement takes %d iterations and %.3f s, %.3f GDoF/s, "
    "true relative residual %.2e, device memory of a rank %.1f GB, %.1f bytes per unknown\n",
    size.degree, (int)p.boxes[0], (int)p.boxes[1], (int)p.boxes[2], 1 << p.refine, (long long)p.dofs, ranks, (int)its, seconds,
    1e-9 * p.dofs / seconds, (double)(norms[n - 1] / norms[0]), 1e-9 * (used - before), (used - before) * ranks / p.dofs));
  PetscCall(Destroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  boxes = 8;
  PetscBool only, wanted, huge, first = PETSC_TRUE;
  char      kind[16] = "", file[PETSC_MAX_PATH_LEN] = "/dev/null";
  FILE     *json;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(VPatchDGInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bench_only", kind, sizeof(kind), &only));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-report", file, sizeof(file), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_shift", &shift, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_boxes", &boxes, NULL));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, file, "w", &json));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, json, "["));
  PetscCall(PetscStrcmp(kind, "huge", &huge));
  if (huge) PetscCall(Huge(boxes));
  else {
    PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "messages, MB: most that a rank sends; exposed: ms of them that work does not hide\n%-9s %8s %3s %-16s %9s %8s %4s %7s %9s %9s\n", "",
      "MDoF", "GPU", "", "ms", "GDoF/s", "its", "messages", "MB", "exposed"));
  }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(sizes) && !huge; i++) {
    PetscCall(PetscStrcmp(only ? kind : "size", sizes[i].kind, &wanted));
    if (wanted == only) PetscCall(Run(&sizes[i], json, &first));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, json, "]\n"));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, json));
  PetscCall(PetscFinalize());
  return 0;
}
