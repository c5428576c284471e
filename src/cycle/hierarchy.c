/* The levels of a cycle: how they are made and released. */
#include "composite.h"
#include "internal.h"
#include "../base/progress.h"

/* With fewer unknowns per rank a level on the host gathers on fewer ranks: a core sweeps them in the time of some messages. */
#define VP_FEW_UNKNOWNS 500
#define VP_FEWER        3.2 /* times fewer cells: between a halving in one direction and one in two */
#define VP_ROUGH        0.2 /* Where it varies on more than this part of the second level's cells, sweeps of cells pay. */

/* the coefficient of own cells, after the mesh was cut anew */
static PetscErrorCode MoveCoefficient(VpMesh from, VpMesh to, int width, PetscReal **coefficient)
{
  PetscReal *moved;
  PetscSF    sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(to->nown * (size_t)width + 1, &moved)); /* not NULL on ranks without cells */
  PetscCall(VpMeshCreateMove(from, to, PETSC_FALSE, &sf));
  PetscCall(VpBroadcast(sf, (size_t)width, MPIU_REAL, *coefficient, moved));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree(*coefficient));
  *coefficient = moved;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As measured: a second repeat helps from degree 3 on. */
PetscInt VpCornerSweeps(const VpCycleOptions *options, int degree)
{
  if (options->corners != PETSC_DECIDE) return options->corners;
  return degree <= 2 ? 1 : 2;
}

PetscInt VpLeastCells(const VpCycleOptions *options, const VpBackend *backend, int dim, int degree)
{
  if (options->gather != PETSC_DECIDE) return options->gather;
  return VpIsDevice(backend) ? VP_FEW_CELLS : (PetscInt)(VP_FEW_UNKNOWNS / pow(degree + 1, dim));
}

PetscMPIInt VpCycleRanks(const VpCycleOptions *options, const VpBackend *backend, VpLattice L, int degree, PetscMPIInt ranks)
{
  const PetscInt least = VpLeastCells(options, backend, L->domain->dim, degree), n = (PetscInt)L->ncell;

  return least ? PetscMax(1, (PetscMPIInt)PetscMin(ranks, n / least)) : ranks;
}

/* a = the coefficient on the next level, from that of a mesh's own cells, and how much it varies from there to here */
static PetscErrorCode CoarsenCoefficient(VpCycle cycle, VpMesh mesh, int width, const PetscReal own[], VpMesh coarse, PetscReal a[])
{
  const PetscBool finest = (PetscBool)(!cycle->parts && mesh == cycle->level[0]->mesh);
  double          rough = 0;
  PetscReal      *contrast;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(coarse->nown, &contrast));
  PetscCall(VpCoarsenCoefficient(mesh, width, own, a, contrast));
  for (int32_t c = 0; c < coarse->nown; c++) {
    if (!finest) cycle->contrast = PetscMax(cycle->contrast, contrast[c]);
    rough += contrast[c] > VP_VARIES;
  }
  if (finest) cycle->rough = rough / (double)coarse->ncell;
  PetscCall(PetscFree(contrast));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a[l] = the coefficient on level l of an adaptive mesh: the leaves' own, means on cells that were refined */
static PetscErrorCode SpreadCoefficient(VpCycle cycle, VpMesh finest, const VpProblem *problem, PetscReal *a[])
{
  const size_t width = (size_t)VpProblemWidth(problem);
  VpMesh       fine = NULL, mesh = finest;

  PetscFunctionBegin;
  for (PetscInt l = 0; l <= cycle->parts; l++, fine = mesh, mesh = mesh->coarser) {
    PetscCall(PetscMalloc1(mesh->nown * width + 1, &a[l])); /* not NULL on ranks without cells */
    if (fine) PetscCall(CoarsenCoefficient(cycle, fine, (int)width, a[l - 1], mesh, a[l]));
    for (int32_t c = 0; c < mesh->nown; c++) {
      if (mesh->leaf[c] >= 0) PetscCall(PetscArraycpy(a[l] + c * width, problem->coefficient + mesh->leaf[c] * width, width));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* from a level to the next by its lattice: its mesh, cut into `ranks` pieces at most, and its coefficient, where there is one */
static PetscErrorCode Coarsen(VpCycle cycle, VpLevel level, VpLattice lattice, VpMesh *mesh, PetscMPIInt *ranks, PetscReal **coefficient)
{
  VpMesh            spread;
  const PetscMPIInt before = *ranks;
  const int         width = VpProblemWidth(&level->problem);

  PetscFunctionBegin;
  PetscCall(PetscFree(*coefficient));
  PetscCall(VpMeshCoarsen(level->mesh, lattice, cycle->options.coarsening, &spread));
  if (level->problem.coefficient && !VpMeshIsPart(level->mesh)) {
    PetscCall(PetscMalloc1(spread->nown * (size_t)width + 1, coefficient));
    PetscCall(CoarsenCoefficient(cycle, level->mesh, width, level->problem.coefficient, spread, *coefficient));
  }
  if (!VpMeshIsPart(level->mesh)) *ranks = VpCycleRanks(&cycle->options, level->backend, spread->lattice, level->problem.degree, before);
  if (*ranks < before) {
    PetscCall(VpMeshGather(spread, *ranks, mesh));
    if (level->problem.coefficient) PetscCall(MoveCoefficient(spread, *mesh, width, coefficient));
    PetscCall(VpMeshDestroy(&spread));
  } else *mesh = spread;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What waits for the host, if only for messages, cannot be recorded. */
static PetscErrorCode CheckReplays(VpCycle cycle)
{
  const VpLevel finest = cycle->level[0];
  KSP           ksp;

  PetscFunctionBegin;
  PetscCall(VpCoarseGetKSP(cycle->coarse, &ksp));
  cycle->replays = (PetscBool)(cycle->options.replay && finest->backend->replay && (finest->mesh->size == 1 || finest->mesh->link));
  cycle->whole = (PetscBool)(cycle->replays && !ksp);
  if (ksp && cycle->options.type != VP_CYCLE_V) cycle->replays = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevel(VpCycle cycle, PetscInt l, VpMesh mesh, const VpProblem *problem, const VpBackend *backend)
{
  VpLevel level;

  PetscFunctionBegin;
  PetscCall(VpLevelCreate(mesh, problem, VP_BASIS_THIN, cycle->options.precision, backend, &cycle->level[l]));
  level = cycle->level[l];
  PetscCall(VpVectorCreate(level, 1, "right-hand side", &cycle->b[l]));
  PetscCall(VpVectorCreate(level, 2, "correction", &cycle->x[l]));
  if (l) PetscCall(VpMoveCreate(cycle->level[l - 1]->mesh->coarser, level, &cycle->move[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSmoother(VpCycle cycle, PetscInt l)
{
  const VpCycleOptions *options = &cycle->options;
  const VpLevel         level = cycle->level[l];

  PetscFunctionBegin;
  PetscCall(VpSmootherCreate(level, options->space, options->residual, options->exchange, VpCornerSweeps(options, level->problem.degree),
                             &cycle->smoother[l]));
  if (!l) VpSmootherRenewGhosts(cycle->smoother[l]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One sweep does not reach across a stack of more cells than a patch has, and the next level is no better there. */
PetscErrorCode VpCountSweeps(VpLattice L, VpCoarsen how, PetscInt *sweeps)
{
  const VpCoarsening *step;

  PetscFunctionBegin;
  PetscCall(VpLatticeCoarsen(L, how, &step));
  *sweeps = step->hard ? 2 : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountRepeats(VpCycle cycle)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l + 1 < cycle->nlevel; l++)
    PetscCall(VpCountSweeps(cycle->level[l]->mesh->lattice, cycle->options.coarsening, &cycle->repeats[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level is corrected twice where the next one has few cells compared with the last level that corrected twice, at first with the finest,
   so that the work of all levels stays a small multiple of the finest's; but once by the coarsest, which is solved, and on levels that have
   a part of the cells. */
static void CountVisits(VpCycle cycle)
{
  double cells = (double)cycle->level[cycle->parts]->mesh->ncell;

  for (PetscInt l = 0; l + 1 < cycle->nlevel; l++) {
    const double next = (double)cycle->level[l + 1]->mesh->ncell;

    cycle->visits[l] = 1;
    if (l < cycle->parts || next * VP_FEWER > cells || l + 2 == cycle->nlevel) continue;
    cycle->visits[l] = 2;
    cells = next;
  }
}

/* Chooses the cycle: V if coarse levels resolve the coefficient or the cycle must be symmetric, otherwise F. Where the coefficient varies
   on more than VP_ROUGH of the cells, patches do not resolve it either: sweeps of cells help, and F cycles help no more than V cycles. */
static PetscErrorCode Choose(VpCycle cycle)
{
  const MPI_Comm  comm = cycle->level[0]->mesh->comm;
  VpCycleOptions *o = &cycle->options;
  PetscBool       rough;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cycle->contrast, 1, MPIU_REAL, MPIU_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cycle->rough, 1, MPI_DOUBLE, MPI_SUM, comm));
  rough = (PetscBool)(cycle->rough > VP_ROUGH);
  if (o->type == VP_CYCLE_AUTO) {
    o->type = o->symmetric || cycle->contrast <= VP_VARIES || rough ? VP_CYCLE_V : VP_CYCLE_F;
  }
  if (o->cell_sweeps < 0) o->cell_sweeps = rough;
  for (PetscInt l = 0; o->cell_sweeps && l < cycle->nlevel - 1; l++) PetscCall(VpSmootherAddCells(cycle->smoother[l], o->cell_sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the mesh's coarser one was made in another way, a copy takes its place. */
static PetscErrorCode CopyUnlessAgreed(VpLattice lattice, VpCoarsen how, VpMesh *mesh)
{
  VpMesh    old = *mesh;
  PetscInt *counts;
  PetscBool agrees;

  PetscFunctionBegin;
  PetscCall(VpMeshAgrees(old, lattice, how, &agrees));
  if (agrees) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(old->size, &counts));
  for (int r = 0; r < old->size; r++) counts[r] = old->starts[r + 1] - old->starts[r];
  PetscCall(VpMeshCut(old, counts, mesh));
  PetscCall(PetscFree(counts));
  PetscCall(VpMeshDestroy(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevels(VpCycle cycle, VpMesh finest, const VpProblem *problem, const VpBackend *backend)
{
  VpProblem   p = *problem;
  PetscReal  *coefficient = NULL;
  PetscReal  *spread[VP_MOST_LEVELS] = {NULL};
  VpMesh      mesh = finest;
  VpLattice   lattice[VP_MOST_LEVELS];
  PetscMPIInt ranks;
  int         most;

  PetscFunctionBegin;
  if (cycle->parts) PetscCall(VpMeshCreateLevels(finest, &mesh));
  else (void)VpReference(mesh);
  PetscCall(VpProblemGetLattice(finest, problem, &cycle->base));
  PetscCall(VpListLattices(cycle->base, cycle->options.coarsening, &most, lattice));
  ranks = mesh->size;
  if (cycle->parts && problem->coefficient) PetscCall(SpreadCoefficient(cycle, mesh, problem, spread));
  for (PetscInt l = 0; l < cycle->nlevel; l++) {
    PetscCall(VpProgress("cycle", (double)finest->ncell - mesh->ncell, (double)finest->ncell));
    if (l >= cycle->parts) PetscCall(CopyUnlessAgreed(lattice[l - cycle->parts], cycle->options.coarsening, &mesh));
    if (spread[l]) p.coefficient = spread[l];
    p.coarser = l < cycle->parts ? spread[l + 1] : NULL;
    PetscCall(CreateLevel(cycle, l, mesh, &p, backend));
    PetscCall(VpMeshDestroy(&mesh));
    if (l == cycle->nlevel - 1) break;
    PetscCall(CreateSmoother(cycle, l));
    PetscCall(Coarsen(cycle, cycle->level[l], l < cycle->parts ? cycle->base : lattice[l - cycle->parts], &mesh, &ranks, &coefficient));
    PetscCall(VpLevelSetTransfer(cycle->level[l]));
    p.coefficient = coefficient;
  }
  PetscCall(PetscFree(coefficient));
  for (PetscInt l = 0; l <= cycle->parts; l++) PetscCall(PetscFree(spread[l]));
  if (cycle->parts) PetscCall(VpCompositeCreate(finest, problem, cycle->options.exchange, cycle->parts, cycle->level, &cycle->composite));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Alloc(PetscInt nlevel, const VpCycleOptions *options, VpCycle *out)
{
  VpCycle cycle;

  PetscFunctionBegin;
  PetscCall(PetscNew(&cycle));
  *out = cycle;
  cycle->options = *options;
  cycle->nlevel = nlevel;
  cycle->contrast = 1;
  PetscCall(PetscCalloc4(nlevel, &cycle->level, nlevel, &cycle->smoother, nlevel, &cycle->move, 4 * nlevel, &cycle->recorded));
  PetscCall(PetscCalloc4(nlevel, &cycle->b, nlevel, &cycle->x, nlevel, &cycle->r, 3 * nlevel, &cycle->vectors));
  PetscCall(PetscCalloc2(nlevel, &cycle->visits, nlevel, &cycle->repeats));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleCreate(VpMesh finest, const VpProblem *problem, const VpCycleOptions *options, const VpBackend *backend,
                             PetscObject parent, VpCycle *out)
{
  PetscInt     nlevel;
  VpLevelCount count;
  VpCycle      cycle;

  PetscFunctionBegin;
  PetscCheck(
    VpMeshHasPatches(finest), finest->comm, PETSC_ERR_ARG_WRONGSTATE,
    "Patches are made of 2^dim cells, but there are boxes of a single cell without such neighbours: refine at least once, -dm_refine 1");
  PetscCall(VpCycleCountLevels(finest, problem, options, backend, &count));
  nlevel = count.levels;
  PetscCall(VpCycleCheckLevels(finest, nlevel, count.most));
  PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscCall(Alloc(nlevel, options, out));
  cycle = *out;
  cycle->count = count;
  cycle->parts = VpCycleParts(finest);
  PetscCall(CreateLevels(cycle, finest, problem, backend));
  PetscCall(Choose(cycle));
  CountVisits(cycle);
  PetscCall(CountRepeats(cycle));
  PetscCall(VpCoarseCreate(cycle->level[nlevel - 1], options->coarse, "vpatchdg_coarse_", parent, &cycle->coarse));
  PetscCall(CheckReplays(cycle));
  PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* level l and what leads to the next one, on a mesh of n copies */
static PetscErrorCode RepeatLevel(VpCycle base, int32_t n, PetscInt l, VpMesh mesh, VpCycle cycle)
{
  const VpLevel level = base->level[l];
  VpProblem     problem = level->problem;
  PetscReal    *coefficient;

  PetscFunctionBegin;
  PetscCall(VpRepeatCoefficient(level, n, &coefficient));
  problem.coefficient = coefficient;
  PetscCall(CreateLevel(cycle, l, mesh, &problem, level->backend));
  PetscCall(PetscFree(coefficient));
  if (l == base->nlevel - 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateSmoother(cycle, l));
  if (cycle->options.cell_sweeps) PetscCall(VpSmootherAddCells(cycle->smoother[l], cycle->options.cell_sweeps));
  PetscCall(VpLevelSetTransfer(cycle->level[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleRepeat(VpCycle base, int32_t n, VpCycle *out)
{
  const PetscInt nlevel = base->nlevel;
  VpMesh        *mesh;
  VpCycle        cycle;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscCall(Alloc(nlevel, &base->options, out));
  cycle = *out;
  PetscCall(PetscArraycpy(cycle->visits, base->visits, nlevel));
  PetscCall(PetscArraycpy(cycle->repeats, base->repeats, nlevel));
  PetscCall(PetscCalloc1(nlevel + 1, &mesh));
  for (PetscInt l = nlevel - 1; l >= 0; l--) PetscCall(VpMeshRepeat(base->level[l]->mesh, n, mesh[l + 1], &mesh[l]));
  for (PetscInt l = 0; l < nlevel; l++) PetscCall(RepeatLevel(base, n, l, mesh[l], cycle));
  for (PetscInt l = 0; l < nlevel; l++) PetscCall(VpMeshDestroy(&mesh[l]));
  PetscCall(PetscFree(mesh));
  cycle->coarse = base->coarse;
  PetscCall(VpCoarseColumnsCreate(base, n, &cycle->columns));
  PetscCall(CheckReplays(cycle));
  PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpCycleCorners(VpCycle cycle, PetscInt l, PetscInt *patches, PetscInt *repeats)
{
  *patches = *repeats = 0;
  if (cycle->smoother[l]) VpSmootherCorners(cycle->smoother[l], patches, repeats);
}

PetscInt VpCycleVectors(VpCycle cycle, PetscInt l, VpVector vectors[])
{
  PetscInt n = 0;

  for (; l < cycle->nlevel; l++) {
    vectors[n++] = cycle->b[l];
    vectors[n++] = cycle->x[l];
    vectors[n++] = cycle->r[l];
  }
  return n;
}

PetscErrorCode VpCycleDestroy(VpCycle *out)
{
  VpCycle cycle = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!cycle) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < 4 * cycle->nlevel && cycle->replays; i++)
    PetscCall(VpRecordedForget(cycle->level[0]->backend, &cycle->recorded[i]));
  PetscCall(VpLatticeDestroy(&cycle->base));
  if (!cycle->columns) PetscCall(VpCoarseDestroy(&cycle->coarse));
  PetscCall(VpCoarseColumnsDestroy(&cycle->columns));
  PetscCall(VpCompositeDestroy(&cycle->composite));
  for (PetscInt l = 0; l < cycle->nlevel; l++) {
    PetscCall(VpVectorDestroy(&cycle->b[l]));
    PetscCall(VpVectorDestroy(&cycle->x[l]));
    PetscCall(VpVectorDestroy(&cycle->r[l]));
    PetscCall(VpMoveDestroy(&cycle->move[l]));
    PetscCall(VpSmootherDestroy(&cycle->smoother[l]));
    PetscCall(VpLevelDestroy(&cycle->level[l]));
  }
  PetscCall(PetscFree4(cycle->level, cycle->smoother, cycle->move, cycle->recorded));
  PetscCall(PetscFree4(cycle->b, cycle->x, cycle->r, cycle->vectors));
  PetscCall(PetscFree2(cycle->visits, cycle->repeats));
  PetscCall(PetscFree(cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}
