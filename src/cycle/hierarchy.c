/* The levels of a cycle: how they are made and released. */
#include "internal.h"
#include "../base/progress.h"

#define VP_FEWER 3.2 /* times fewer cells: between a halving in one direction and one in two */

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

static VpMeans MeansOf(const VpProblem *problem)
{
  return (VpMeans){.from = VpProblemDirections(problem), .to = VpProblemDirections(problem), .apart = problem->apart};
}

/* a = the coefficient on the next level, from that of a problem on a mesh's own cells, and how much it varies from there to here.
   `joined` = the largest ratio of siblings' coefficients on this rank */
static PetscErrorCode CoarsenCoefficient(VpCycle cycle, VpMesh mesh, const VpProblem *fine, VpMesh coarse, PetscReal a[], PetscReal *joined)
{
  const VpMeans   means = MeansOf(fine);
  const PetscBool finest = (PetscBool)(!cycle->npartial && mesh == cycle->at[0].level->mesh);
  double          rough = 0;
  PetscReal      *contrast, most = 1;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge(coarse->nown + 1, &contrast));
  PetscCall(VpCoarsenCoefficient(mesh, &means, fine->coefficient, a, contrast));
  for (int32_t c = 0; c < coarse->nown; c++) {
    most = PetscMax(most, contrast[c]);
    rough += contrast[c] > VP_VARIES;
  }
  if (finest) cycle->rough = rough / (double)coarse->ncell;
  else cycle->contrast = PetscMax(cycle->contrast, most);
  *joined = most;
  PetscCall(PetscFree(contrast));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a[l] = the coefficient on level l of an adaptive mesh: the leaves' own, means on cells that were refined. Sets cycle->joined for these
   levels. */
static PetscErrorCode SpreadCoefficient(VpCycle cycle, VpMesh finest, const VpProblem *problem, PetscReal *a[])
{
  const size_t width = (size_t)VpProblemWidth(problem);
  VpProblem    p = *problem;
  VpMesh       fine = NULL, mesh = finest;
  PetscReal    joined = 1;

  PetscFunctionBegin;
  for (PetscInt l = 0; l <= cycle->npartial; l++, fine = mesh, mesh = VpMeshCoarser(mesh)) {
    PetscCall(PetscMalloc1(mesh->nown * width + 1, &a[l])); /* not NULL on ranks without cells */
    if (fine) PetscCall(CoarsenCoefficient(cycle, fine, &p, mesh, a[l], &joined));
    p.coefficient = a[l];
    cycle->joined = PetscMax(cycle->joined, joined);
    for (int32_t c = 0; c < mesh->nown; c++) {
      if (mesh->leaf[c] >= 0) PetscCall(PetscArraycpy(a[l] + c * width, problem->coefficient + mesh->leaf[c] * width, width));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cycle->joined, 1, MPIU_REAL, MPIU_MAX, finest->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What leads from a level to the next one. */
typedef struct {
  VpLattice   lattices[VP_MOST_LEVELS]; /* from the finest level that covers the domain on: */
  int         most;                     /* how many there are */
  VpLattice   lattice;                  /* the level's */
  PetscMPIInt ranks;                    /* on how many the next level lives */
  VpMesh      mesh;                     /* the next level's */
  PetscReal  *coefficient;              /* on it, or NULL */
  int         tensor;                   /* as of VpProblem */
  PetscReal   joined; /* the largest ratio of the coefficients of cells that the next level joins, or keeps apart for their ratio */
  PetscBool   merges; /* Cells merge in some directions only, until they are not thin any more ... */
  PetscBool   rough;  /* ... and have joined coefficients that were too different. From there on means are harmonic. */
} Step;

static PetscBool MayHandOver(VpCycle cycle)
{
  return VpCycleMayHandOver(&cycle->options, cycle->at[0].level->backend, &cycle->at[0].level->problem);
}

/* the largest ratio of a box's sizes along directions that do not merge and along those that do, as the rule of coarsening sees them; 0 if
   all merge, or none */
static PetscReal ThinnessAt(VpLattice L, const VpCoarsening *step, size_t box)
{
  PetscReal merged = 0, other = PETSC_MAX_REAL;

  for (int d = 0; d < L->domain->dim; d++) {
    const size_t    at = 3 * box + (size_t)d;
    const PetscReal h = VpLatticeSize(L, (int32_t)box, d) / PetscSqrtReal(L->a ? L->a[at] : 1);

    if (step->merge[at] == VP_MERGE_NONE) other = PetscMin(other, h);
    else merged = PetscMax(merged, h);
  }
  return merged > 0 && other < PETSC_MAX_REAL ? other / merged : 0;
}

/* Cells that are thinner are merged before a level is handed over. Sweeps follow rough coefficients on others. */
#define THIN          2.5
#define MOST_IN_A_ROW 1e4 /* Polynomials follow no larger ratio of two thin cells that merge: sweeps on the thin ones lose less. */

/* *merges: thin cells merge, and no cells merge in all directions; *apart: VpCoarsening.jump */
static PetscErrorCode FindMerges(VpLattice L, VpCoarsen how, PetscBool *merges, PetscReal *apart)
{
  const VpCoarsening *step;
  PetscReal           thin = 0;

  PetscFunctionBegin;
  PetscCall(VpLatticeCoarsen(L, how, &step));
  *apart = step->jump;
  *merges = PETSC_FALSE;
  for (size_t box = 0; step->merge && box < (size_t)L->domain->nbox; box++) {
    PetscBool all = PETSC_TRUE;

    for (int d = 0; d < L->domain->dim; d++) all = (PetscBool)(all && step->merge[3 * box + (size_t)d] != VP_MERGE_NONE);
    if (all) PetscFunctionReturn(PETSC_SUCCESS);
    thin = PetscMax(thin, ThinnessAt(L, step, box));
  }
  *merges = (PetscBool)(thin > THIN);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next level's coefficient. On the way to a level that is handed over, thin cells that merge are resistors in a row, and have the
   harmonic mean along the direction of merging. */
static PetscErrorCode CoarsenProblem(VpCycle cycle, VpLevel level, VpMesh spread, Step *step)
{
  const VpProblem *fine = &level->problem;
  const int        dim = level->mesh->dim;
  VpMeans          means = MeansOf(fine);
  PetscReal        apart = 1;

  PetscFunctionBegin;
  PetscCall(
    VpMallocLarge(spread->nown * (size_t)(dim + VpApartWidth(fine->apart)) + 1, &step->coefficient)); /* not NULL on ranks without cells */
  PetscCall(FindMerges(step->lattice, cycle->options.coarsening, &step->merges, &apart));
  PetscCall(CoarsenCoefficient(cycle, level->mesh, fine, spread, step->coefficient, &step->joined));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &step->joined, 1, MPIU_REAL, MPIU_MAX, level->mesh->comm));
  if (level == cycle->at[0].level && apart > 1) { /* every box is a cell of the user's: the coefficient may be rough everywhere */
    step->joined = PetscMax(step->joined, apart);
    step->merges = PETSC_FALSE;
  }
  if (step->joined > MOST_IN_A_ROW) step->merges = PETSC_FALSE;
  if (MayHandOver(cycle) && step->merges && step->joined > VpHandoverRatio(&cycle->options, level->backend, dim, fine->degree))
    step->rough = PETSC_TRUE;
  if (!step->rough) PetscFunctionReturn(PETSC_SUCCESS);
  step->tensor = dim;
  means.to = dim;
  means.harmonic = PETSC_TRUE;
  PetscCall(VpCoarsenCoefficient(level->mesh, &means, fine->coefficient, step->coefficient, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the next level's mesh, cut into pieces for fewer ranks where the level is small, and its coefficient, where there is one. */
static PetscErrorCode CoarsenLevel(VpCycle cycle, VpLevel level, Step *step)
{
  VpMesh            spread;
  const PetscMPIInt before = step->ranks;
  const PetscBool   part = VpMeshIsPart(level->mesh);
  VpProblem         p = level->problem;

  PetscFunctionBegin;
  PetscCall(PetscFree(step->coefficient));
  PetscCall(VpMeshCoarsen(level->mesh, step->lattice, cycle->options.coarsening, &spread));
  step->joined = 1;
  if (level->problem.coefficient && !part) PetscCall(CoarsenProblem(cycle, level, spread, step));
  if (!part) step->ranks = VpCycleRanks(&cycle->options, level->backend, spread->geometry->lattice, level->problem.degree, before);
  if (step->ranks < before) {
    PetscCall(VpMeshGather(spread, step->ranks, &step->mesh));
    p.tensor = step->tensor;
    if (step->coefficient) PetscCall(MoveCoefficient(spread, step->mesh, VpProblemWidth(&p), &step->coefficient));
    PetscCall(VpMeshDestroy(&spread));
  } else step->mesh = spread;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the level that has just been made has to be the last one: the next one would join coefficients that differ too much or, where
   there is no next one (ends), its own coefficients do. Thin cells are merged first. */
static PetscBool IsTooRough(VpCycle cycle, VpLevel level, const Step *step, PetscBool ends)
{
  const double    few = pow(VP_FEW_CELLS_ALONG, level->mesh->dim);
  const PetscReal ratio = VpHandoverRatio(&cycle->options, level->backend, level->mesh->dim, level->problem.degree);

  if (!MayHandOver(cycle) || VpMeshIsPart(level->mesh)) return PETSC_FALSE;
  if (!level->mesh->leaf && (double)level->mesh->ncell <= few) return PETSC_FALSE;
  return (PetscBool)((ends || !step->merges) && (step->rough || step->joined > ratio));
}

/* Ends with this level: it is handed over to finite volumes unless it is so small that it is solved exactly. */
static PetscErrorCode EndAt(VpCycle cycle, PetscInt l)
{
  PetscBool exact;

  PetscFunctionBegin;
  PetscCall(VpCoarseIsExact(cycle->at[l].level, cycle->options.coarse, &exact));
  cycle->handed = (PetscBool)!exact;
  cycle->ends = (PetscBool)(cycle->handed || l + 1 < cycle->nlevel);
  cycle->nlevel = l + 1;
  if (exact) PetscCall(VpSmootherDestroy(&cycle->at[l].smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the partial levels join coefficients that are too different, or the user wishes, ends with the finest level that covers the domain,
   and all leaves are handed over. That is not symmetric, so that symmetric cycles keep their levels. */
static void HandLeavesOver(VpCycle cycle, VpLevel base)
{
  const VpCycleOptions *o = &cycle->options;
  const PetscReal       ratio = VpHandoverRatio(o, base->backend, base->mesh->dim, base->problem.degree);

  cycle->leaves.rough = (PetscBool)(cycle->joined > ratio && MayHandOver(cycle));
  if (!VpCycleHandsLeavesOver(cycle->npartial, o) && (o->symmetric || !cycle->leaves.rough)) return;
  cycle->nlevel = cycle->npartial + 1;
  cycle->handed = cycle->ends = cycle->leaves.handed = PETSC_TRUE;
}

/* What waits for the host, if only for messages, cannot be recorded. */
static PetscErrorCode CheckReplays(VpCycle cycle)
{
  const VpLevel finest = cycle->at[0].level;
  KSP           ksp;

  PetscFunctionBegin;
  ksp = VpCoarseGetKSP(cycle->coarse);
  cycle->replays = (PetscBool)(cycle->options.replay && finest->backend->replay && (finest->mesh->size == 1 || finest->mesh->link));
  cycle->whole = (PetscBool)(cycle->replays && !ksp);
  if (ksp && cycle->chosen.type != VP_CYCLE_V) cycle->replays = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevel(VpCycle cycle, PetscInt l, VpMesh mesh, const VpProblem *problem, const VpBackend *backend)
{
  VpCycleLevel *at = &cycle->at[l];

  PetscFunctionBegin;
  PetscCall(VpLevelCreate(mesh, problem, VP_BASIS_THIN, cycle->options.precision, backend, &at->level));
  PetscCall(VpVectorCreate(at->level, 1, "right-hand side", &at->b));
  PetscCall(VpVectorCreate(at->level, 2, "correction", &at->x));
  if (l) PetscCall(VpMoveCreate(VpMeshCoarser(at[-1].level->mesh), at->level, &at->move));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSmoother(VpCycle cycle, PetscInt l)
{
  const VpCycleOptions *options = &cycle->options;
  VpCycleLevel         *at = &cycle->at[l];
  const VpLattice       finest = cycle->at[0].level->mesh->geometry->lattice;
  const PetscInt        corners = VpCornerSweeps(options, at->level->problem.degree, finest, (PetscBool)(l > cycle->npartial));

  PetscFunctionBegin;
  PetscCall(VpSmootherCreate(at->level, options->space, options->residual, options->exchange, corners, &at->smoother));
  if (!l) PetscCall(VpSmootherRenewGhosts(at->smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountRepeats(VpCycle cycle)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < cycle->nlevel; l++)
    PetscCall(VpCountSweeps(cycle->at[l].level->mesh->geometry->lattice, cycle->options.coarsening, &cycle->at[l].repeats));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level is corrected twice where the next one has few cells compared with the last level that corrected twice, at first with the finest,
   so that the work of all levels stays a small multiple of the finest's. It is corrected once by the coarsest level, which is solved, and
   on partial levels. */
static void CountVisits(VpCycle cycle)
{
  double cells = (double)cycle->at[cycle->npartial].level->mesh->ncell;

  for (PetscInt l = 0; l + 1 < cycle->nlevel; l++) {
    const double next = (double)cycle->at[l + 1].level->mesh->ncell;

    cycle->at[l].visits = 1;
    if (l < cycle->npartial || next * VP_FEWER > cells || l + 2 == cycle->nlevel) continue;
    cycle->at[l].visits = 2;
    cells = next;
  }
}

/* Where the mesh's coarser one was made in another way, a copy takes its place. */
static PetscErrorCode CopyUnlessAgreed(VpLattice lattice, VpCoarsen how, VpMesh *mesh)
{
  VpMesh    old = *mesh;
  PetscBool agrees;

  PetscFunctionBegin;
  PetscCall(VpMeshAgrees(old, lattice, how, &agrees));
  if (agrees) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpMeshCut(old, old->starts, mesh));
  PetscCall(VpMeshDestroy(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceLeaves(VpMesh mesh, VpPartial *p)
{
  int32_t *leaf, *cell;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(mesh->nown, &leaf, mesh->nown, &cell));
  for (int32_t c = 0; c < mesh->nown; c++) {
    if (mesh->leaf[c] < 0) continue;
    leaf[p->n] = mesh->leaf[c];
    cell[p->n++] = c;
  }
  PetscCall(VpPlaceArray(&p->arrays, leaf, p->n, "leaves", &p->leaf));
  PetscCall(VpPlaceArray(&p->arrays, cell, p->n, "leaves", &p->cell));
  PetscCall(PetscFree2(leaf, cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the interfaces between a level and the next one. Ghosts travel after every colour, of which 3D has VP_INTERFACE_COLORS, or once before
   all. */
static PetscErrorCode SetInterfaces(VpLevel fine, VpLevel coarse, VpExchange exchange, VpPartial *p)
{
  PetscFunctionBegin;
  p->exchanges = (PetscBool)(exchange == VP_EXCHANGE_COLOR);
  PetscCall(VpPlaceInterfaces(fine, coarse, (PetscBool)!p->exchanges, &p->arrays, &p->interfaces));
  for (int c = 0; c < VP_INTERFACE_COLORS; c++) p->steps |= (uint64_t)(p->interfaces.start[c] < p->interfaces.start[c + 1]) << c;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &p->steps, 1, MPI_UINT64_T, MPI_BOR, coarse->mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the leaves of an adaptive mesh, and what ties the levels to them and to one another */
static PetscErrorCode CreateLeaves(VpCycle cycle, VpMesh leaves, const VpProblem *problem)
{
  const VpLevel finest = cycle->at[0].level;

  PetscFunctionBegin;
  PetscCall(VpLevelCreate(leaves, problem, VP_BASIS_THIN, finest->precision, finest->backend, &cycle->leaves.level));
  PetscCall(VpVectorCreate(cycle->leaves.level, 1, "right-hand side", &cycle->leaves.in));
  PetscCall(VpVectorCreate(cycle->leaves.level, 1, "correction", &cycle->leaves.out));
  if (cycle->leaves.handed) {
    PetscCall(VpVectorCreate(cycle->leaves.level, 1, "right-hand side", &cycle->leaves.b));
    PetscCall(VpVectorCreate(cycle->leaves.level, 1, "correction", &cycle->leaves.x));
  }
  for (PetscInt l = 0; l <= cycle->npartial; l++) {
    VpCycleLevel *at = &cycle->at[l];

    PetscCall(PetscNew(&at->partial));
    at->partial->arrays = (VpArrays){.backend = finest->backend, .precision = finest->precision};
    PetscCall(PlaceLeaves(at->level->mesh, at->partial));
    if (l < cycle->npartial) PetscCall(SetInterfaces(at->level, at[1].level, cycle->options.exchange, at->partial));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the l-th level must be coarsened, if only to see whether it is too rough. A last level that was chosen because its inverse is
   cheap is not. */
static PetscBool IsCoarsened(VpCycle cycle, PetscInt l)
{
  return (PetscBool)(l < cycle->nlevel - 1 || (cycle->options.levels > 0 && cycle->count.way != VP_WAY_DENSE && MayHandOver(cycle)));
}

/* step->joined where there is no coarser level: the largest ratio that keeps cells apart */
static PetscErrorCode FindApart(VpCycle cycle, VpLevel level, Step *step)
{
  PetscFunctionBegin;
  step->joined = 1;
  if (level->problem.coefficient) PetscCall(FindMerges(step->lattice, cycle->options.coarsening, &step->merges, &step->joined));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes levels until there are as many as were chosen, or one is handed over. spread: the coefficient on levels of an adaptive mesh */
static PetscErrorCode CreateAllLevels(VpCycle cycle, Step *step, const VpProblem *problem, const VpBackend *backend,
                                      PetscReal *const spread[])
{
  const PetscInt npartial = cycle->npartial, most = npartial + step->most;
  const double   all = (double)step->mesh->ncell;
  VpProblem      p = *problem;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < cycle->nlevel; l++) {
    const VpCycleLevel *at = &cycle->at[l];
    const PetscBool     last = (PetscBool)(l + 1 == most); /* There is no coarser one. */

    PetscCall(VpProgress("cycle", all - step->mesh->ncell, all));
    step->lattice = l < npartial ? cycle->base : step->lattices[l - npartial];
    if (l >= npartial) PetscCall(CopyUnlessAgreed(step->lattice, cycle->options.coarsening, &step->mesh));
    if (spread[l]) p.coefficient = spread[l];
    p.coarser = l < npartial ? spread[l + 1] : NULL;
    PetscCall(CreateLevel(cycle, l, step->mesh, &p, backend));
    PetscCall(VpMeshDestroy(&step->mesh));
    if (npartial && l == npartial) HandLeavesOver(cycle, at->level);
    if (cycle->leaves.handed) break;
    if (!last && !IsCoarsened(cycle, l)) break;
    if (l < cycle->nlevel - 1) PetscCall(CreateSmoother(cycle, l)); /* which may refuse the problem */
    PetscCall(last ? FindApart(cycle, at->level, step) : CoarsenLevel(cycle, at->level, step));
    cycle->joined = PetscMax(cycle->joined, step->joined);
    if (IsTooRough(cycle, at->level, step, last)) PetscCall(EndAt(cycle, l));
    if (l == cycle->nlevel - 1) break;
    PetscCall(VpLevelSetTransfer(at->level));
    p.coefficient = step->coefficient;
    p.tensor = step->tensor;
    p.outer = VP_BASIS_ORTHONORMAL;
    p.nodal = PETSC_FALSE;
    p.metric = NULL;
  }
  PetscCall(VpMeshDestroy(&step->mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevels(VpCycle cycle, VpMesh finest, const VpProblem *problem, const VpBackend *backend)
{
  const PetscInt npartial = cycle->npartial;
  PetscReal     *spread[VP_MOST_LEVELS] = {NULL};
  Step           step = {.ranks = finest->size, .mesh = finest, .tensor = problem->tensor};

  PetscFunctionBegin;
  if (npartial) PetscCall(VpMeshCreateLevels(finest, &step.mesh));
  else (void)VpReference(finest);
  PetscCall(VpProblemGetLattice(finest, problem, &cycle->base));
  PetscCall(VpListLattices(cycle->base, cycle->options.coarsening, &step.most, step.lattices));
  if (npartial && problem->coefficient) PetscCall(SpreadCoefficient(cycle, step.mesh, problem, spread));
  PetscCall(CreateAllLevels(cycle, &step, problem, backend, spread));
  if (cycle->options.coarse == VP_COARSE_VOLUMES) cycle->handed = cycle->ends = PETSC_TRUE;
  if (cycle->handed && !cycle->at[cycle->nlevel - 1].smoother) PetscCall(CreateSmoother(cycle, cycle->nlevel - 1));
  PetscCall(PetscFree(step.coefficient));
  for (PetscInt l = 0; l <= npartial; l++) PetscCall(PetscFree(spread[l]));
  if (npartial) PetscCall(CreateLeaves(cycle, finest, problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllocateCycle(PetscInt nlevel, const VpCycleOptions *options, VpCycle *out)
{
  VpCycle cycle;

  PetscFunctionBegin;
  PetscCall(PetscNew(&cycle));
  *out = cycle;
  cycle->options = *options;
  cycle->nlevel = nlevel;
  cycle->contrast = 1;
  PetscCall(PetscCalloc2(nlevel, &cycle->at, 3 * nlevel, &cycle->vectors));
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
  PetscCall(AllocateCycle(nlevel, options, out));
  cycle = *out;
  cycle->count = count;
  cycle->npartial = VpCyclePartial(finest);
  PetscCall(CreateLevels(cycle, finest, problem, backend));
  PetscCall(VpCycleChoose(cycle));
  CountVisits(cycle);
  PetscCall(CountRepeats(cycle));
  PetscCall(VpCoarseCreate(cycle->leaves.handed ? cycle->leaves.level : cycle->at[cycle->nlevel - 1].level,
                           cycle->handed ? VP_COARSE_VOLUMES : options->coarse, "vpatchdg_coarse_", parent, &cycle->coarse));
  PetscCall(CheckReplays(cycle));
  PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* level l and what leads to the next one, on a mesh of n copies */
static PetscErrorCode RepeatLevel(VpCycle base, int32_t n, PetscInt l, VpMesh mesh, VpCycle cycle)
{
  const VpLevel level = base->at[l].level;
  VpProblem     problem = level->problem;
  PetscReal    *coefficient;

  PetscFunctionBegin;
  PetscCall(VpRepeatCoefficient(level, n, &coefficient));
  problem.coefficient = coefficient;
  PetscCall(CreateLevel(cycle, l, mesh, &problem, level->backend));
  PetscCall(PetscFree(coefficient));
  if (!base->at[l].smoother) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateSmoother(cycle, l));
  cycle->at[l].visits = base->at[l].visits;
  cycle->at[l].repeats = base->at[l].repeats;
  if (cycle->chosen.cell_sweeps) PetscCall(VpSmootherAddCells(cycle->at[l].smoother, cycle->chosen.cell_sweeps, cycle->chosen.cell_ratio));
  if (cycle->chosen.colors) PetscCall(VpSmootherLimitColors(cycle->at[l].smoother, cycle->chosen.colors));
  if (l < base->nlevel - 1) PetscCall(VpLevelSetTransfer(cycle->at[l].level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleRepeat(VpCycle base, int32_t n, VpCycle *out)
{
  const PetscInt nlevel = base->nlevel;
  VpMesh        *mesh;
  VpCycle        cycle;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscCall(AllocateCycle(nlevel, &base->options, out));
  cycle = *out;
  cycle->chosen = base->chosen;
  cycle->handed = base->handed;
  cycle->ncolumn = n;
  PetscCall(PetscCalloc1(nlevel + 1, &mesh));
  for (PetscInt l = nlevel - 1; l >= 0; l--) PetscCall(VpMeshRepeat(base->at[l].level->mesh, n, mesh[l + 1], &mesh[l]));
  for (PetscInt l = 0; l < nlevel; l++) PetscCall(RepeatLevel(base, n, l, mesh[l], cycle));
  for (PetscInt l = 0; l < nlevel; l++) PetscCall(VpMeshDestroy(&mesh[l]));
  PetscCall(PetscFree(mesh));
  cycle->coarse = base->coarse;
  PetscCall(VpVectorCreate(base->at[nlevel - 1].level, 1, "coarse right-hand side", &cycle->column_b));
  PetscCall(VpVectorCreate(base->at[nlevel - 1].level, 2, "coarse solution", &cycle->column_x));
  PetscCall(CheckReplays(cycle));
  PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpCycleCorners(VpCycle cycle, PetscInt l, PetscInt *patches, PetscInt *repeats)
{
  *patches = *repeats = 0;
  if (cycle->at[l].smoother) VpSmootherCorners(cycle->at[l].smoother, patches, repeats);
}

static PetscErrorCode DestroyLevel(VpCycleLevel *at)
{
  PetscFunctionBegin;
  if (at->partial) PetscCall(VpArraysRelease(&at->partial->arrays));
  PetscCall(PetscFree(at->partial));
  PetscCall(VpVectorDestroy(&at->b));
  PetscCall(VpVectorDestroy(&at->x));
  PetscCall(VpVectorDestroy(&at->r));
  PetscCall(VpMoveDestroy(&at->move));
  PetscCall(VpSmootherDestroy(&at->smoother));
  PetscCall(VpLevelDestroy(&at->level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCycleDestroy(VpCycle *out)
{
  VpCycle cycle = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!cycle) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < 4 * cycle->nlevel && cycle->replays; i++)
    PetscCall(VpRecordedForget(cycle->at[0].level->backend, &cycle->at[i / 4].recorded[i / 2 % 2][i % 2]));
  PetscCall(VpLatticeDestroy(&cycle->base));
  if (!cycle->ncolumn) PetscCall(VpCoarseDestroy(&cycle->coarse));
  PetscCall(VpVectorDestroy(&cycle->column_b));
  PetscCall(VpVectorDestroy(&cycle->column_x));
  PetscCall(VpVectorDestroy(&cycle->leaves.in));
  PetscCall(VpVectorDestroy(&cycle->leaves.out));
  PetscCall(VpVectorDestroy(&cycle->leaves.b));
  PetscCall(VpVectorDestroy(&cycle->leaves.x));
  PetscCall(VpLevelDestroy(&cycle->leaves.level));
  for (PetscInt l = 0; l < cycle->nlevel; l++) PetscCall(DestroyLevel(&cycle->at[l]));
  PetscCall(PetscFree2(cycle->at, cycle->vectors));
  PetscCall(PetscFree(cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}
