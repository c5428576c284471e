static char help[] =
  "Scaling over GPUs, one a rank: A x, sweep, cycle and solves of -div grad u = f on boxes, with the messages of a cycle.\n\n\
  -bench_only weak|strong : these only\n\
  -bench_shift s          : meshes refined s times less\n\
  -report FILE            : the figures as JSON; share/vpatchdg/scaling.py compares the files of several numbers of ranks\n\
  -dm_*, -pc_*, -ksp_*    : what is measured, for instance -dm_vpatchdg_transport host, -pc_vpatchdg_exchange color\n\n";

#include "bench_gpu.h"

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
};

typedef struct {
  const VpBackend *backend;
  DM               dm;
  Mat              A;
  PC               pc;
  KSP              ksp;
  Vec              b, x;
  VpCycle          cycle;
} Problem;

static PetscErrorCode Multiply(void *p) { return MatMult(((Problem *)p)->A, ((Problem *)p)->b, ((Problem *)p)->x); }
static PetscErrorCode Precondition(void *p) { return PCApply(((Problem *)p)->pc, ((Problem *)p)->b, ((Problem *)p)->x); }
static PetscErrorCode Solve(void *p) { return KSPSolve(((Problem *)p)->ksp, ((Problem *)p)->b, ((Problem *)p)->x); }
static PetscErrorCode Sweep(void *context)
{
  const VpCycle cycle = ((Problem *)context)->cycle;
  void *const   x[2] = {cycle->x[0][0], cycle->x[1][0]};
  VpGhosts      ghosts;

  PetscFunctionBeginUser;
  PetscCall(VpLevelRefresh(cycle->level[0], VP_GHOST_SWEEP, cycle->b[0], &ghosts));
  PetscCall(VpSmootherSweep(cycle->smoother[0], PETSC_FALSE, PETSC_FALSE, ghosts, cycle->b[0], x));
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

static PetscErrorCode Create(const Size *size, PetscInt shift, PetscMPIInt ranks, Problem *p)
{
  PetscInt  boxes[3] = {size->boxes[0], size->boxes[1], size->boxes[2]};
  PetscReal upper[3];

  PetscFunctionBeginUser;
  for (int r = 1, d = size->boxes[2] < size->boxes[0] ? 2 : 0; r < ranks && size->kind[0] == 'w'; r *= 2, d = (d + 1) % 3) boxes[d] *= 2;
  for (int d = 0; d < 3; d++) upper[d] = boxes[d];
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, size->degree, PetscMax(2, size->refine - shift), &p->dm));
  PetscCall(DMVPatchDGSetBoxGrid(p->dm, boxes, NULL, upper));
  PetscCall(DMSetVecType(p->dm, VECCUDA));
  PetscCall(DMSetFromOptions(p->dm));
  PetscCall(DMSetUp(p->dm));
  PetscCall(DMCreateMatrix(p->dm, &p->A));
  PetscCall(DMCreateGlobalVector(p->dm, &p->b));
  PetscCall(VecDuplicate(p->b, &p->x));
  PetscCall(VecSetRandom(p->b, NULL));
  PetscCall(DMVPatchDGGetKernels(p->dm, &p->backend));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &p->ksp));
  PetscCall(KSPSetOperators(p->ksp, p->A, p->A));
  PetscCall(KSPSetTolerances(p->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetType(p->ksp, KSPRICHARDSON));
  PetscCall(KSPGetPC(p->ksp, &p->pc));
  PetscCall(PCSetType(p->pc, PCVPATCHDG));
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

static const struct {
  const char *name;
  Action      action;
  KSPType     type; /* of a solve */
  int         times;
} figures[] = {
  {"A x", Multiply, NULL, 20},
  {"sweep", Sweep, NULL, 10},
  {"cycle", Precondition, NULL, 10},
  {"refinement", Solve, KSPRICHARDSON, 2},
  {"FGMRES", Solve, KSPFGMRES, 2},
};

static PetscErrorCode Run(const Size *size, PetscInt shift, PetscMPIInt ranks, FILE *json, PetscBool *first)
{
  Problem  p;
  PetscInt dofs, its;
  double   seconds = 0, sent[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(Create(size, shift, ranks, &p));
  PetscCall(VecGetSize(p.b, &dofs));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(figures); i++) {
    its = 0;
    if (figures[i].type) PetscCall(KSPSetType(p.ksp, figures[i].type));
    PetscCall(Measure(&p, figures[i].action, figures[i].times, &seconds, sent));
    if (figures[i].type) PetscCall(KSPGetIterationNumber(p.ksp, &its));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-6s Q%d %8.1f %3d %-11s %9.3f %8.3f %4d %7.1f %9.3f\n", size->kind, size->degree, 1e-6 * dofs, ranks,
                          figures[i].name, 1e3 * seconds, 1e-9 * dofs / seconds, (int)its, sent[0], 1e-6 * sent[1]));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, json,
                           "%s\n  {\"kind\": \"%s\", \"degree\": %d, \"refine\": %d, \"dofs\": %lld, \"ranks\": %d, \"figure\": \"%s\", \"seconds\": %.6g, "
                           "\"gdofs\": %.6g, \"iterations\": %d, \"messages\": %.6g, \"bytes\": %.6g}",
                           *first ? "" : ",", size->kind, size->degree, (int)(size->refine - shift), (long long)dofs, ranks, figures[i].name, seconds,
                           1e-9 * dofs / seconds, (int)its, sent[0], sent[1]));
    *first = PETSC_FALSE;
  }
  PetscCall(Destroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt ranks;
  PetscInt    shift = 0;
  PetscBool   only, wanted, first = PETSC_TRUE;
  char        kind[16] = "", file[PETSC_MAX_PATH_LEN] = "/dev/null";
  FILE       *json;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(VPatchDGInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bench_only", kind, sizeof(kind), &only));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-report", file, sizeof(file), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_shift", &shift, NULL));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, file, "w", &json));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, json, "["));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-9s %8s %3s %-11s %9s %8s %4s %7s %9s  (the last two: most that a rank sends)\n", "", "MDoF", "GPU", "", "ms",
                        "GDoF/s", "its", "messages", "MB"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(sizes); i++) {
    PetscCall(PetscStrcmp(kind, sizes[i].kind, &wanted));
    if (!only || wanted) PetscCall(Run(&sizes[i], shift, ranks, json, &first));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, json, "]\n"));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, json));
  PetscCall(PetscFinalize());
  return 0;
}
