/* -vpatchdg_doctor during the set-up of the preconditioner: prints the resources that the cycle will need before it is built. */
#include "internal.h"
#include "../forecast/forecast.h"

/* *all: ratio of the largest to the smallest coefficient. *inside: the largest such ratio among the cells of one rank in one coarsest
   cell; on adaptive meshes that of all cells */
static PetscErrorCode FindContrast(VpMesh mesh, const VpProblem *problem, VpCoarsen how, int finer, PetscReal *all, PetscReal *inside)
{
  const int32_t n = problem->coefficient ? mesh->nown : 0;
  PetscReal     range[2], least = 0, most = 0;
  int64_t      *position;
  VpLattice     lattice;
  PetscInt     *ancestor, *cell;
  PetscBool     sorted;

  PetscFunctionBegin;
  PetscCall(VpCoefficientRange(mesh, problem, range));
  *all = range[1] / range[0];
  *inside = VpMeshIsAdaptive(mesh) ? *all : 1;
  if (VpMeshIsAdaptive(mesh)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpProblemGetLattice(mesh, problem, &lattice));
  PetscCall(PetscMalloc3(n, &position, n, &ancestor, n, &cell));
  for (int32_t c = 0; c < n; c++) position[c] = (int64_t)mesh->first + c;
  PetscCall(VpFindAncestors(lattice, how, finer, n, position));
  for (int32_t c = 0; c < n; c++) {
    ancestor[c] = (PetscInt)position[c];
    cell[c] = c;
  }
  PetscCall(PetscSortedInt(n, ancestor, &sorted));
  if (!sorted) PetscCall(PetscSortIntWithArray(n, ancestor, cell));
  for (int d = 0; d < VpProblemDirections(problem); d++) {
    for (int32_t i = 0; i < n; i++) {
      const PetscBool same = (PetscBool)(i && ancestor[i] == ancestor[i - 1]);
      const PetscReal a = VpProblemCoefficient(problem, (int32_t)cell[i], d);

      least = same ? PetscMin(least, a) : a;
      most = same ? PetscMax(most, a) : a;
      *inside = PetscMax(*inside, most / least);
    }
  }
  PetscCall(PetscFree3(position, ancestor, cell));
  PetscCall(VpLatticeDestroy(&lattice));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, inside, 1, MPIU_REAL, MPIU_MAX, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the cells of all levels. A partial level of an adaptive mesh has the leaves of one depth and the parents of the next finer level's
   cells. */
static PetscErrorCode CountCells(VpMesh mesh, const VpProblem *problem, VpCoarsen how, VpSize *size)
{
  const int npartial = (int)VpCyclePartial(mesh);
  double    leaves[VP_MOST_LEVELS] = {0};

  PetscFunctionBegin;
  PetscCall(VpProblemCountLevels(mesh, problem, how, &size->levels, size->cells_of + npartial));
  size->levels += npartial;
  for (int32_t c = 0; c < mesh->nown && npartial; c++) leaves[mesh->level - VpGeometryHalvings(mesh->geometry, c, 0)]++;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, leaves, VP_MOST_LEVELS, MPI_DOUBLE, MPI_SUM, mesh->comm));
  for (int l = 0; l < npartial; l++) size->cells_of[l] = leaves[l] + (l ? ldexp(size->cells_of[l - 1], -mesh->dim) : 0);
  size->cells = size->cells_of[0];
  size->leaves = npartial ? (double)mesh->ncell : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes finite volumes as the coarsest level where the cycle will, as far as that is known before there are means of coefficients: they
   differ less than the coefficients inside of a cell. */
static PetscErrorCode ForeseeHandover(VpMesh mesh, const VpProblem *problem, const VpBackend *backend, const VpSize *size,
                                      VpCycleOptions *o)
{
  const PetscInt  npartial = VpCyclePartial(mesh);
  const PetscReal ratio = VpHandoverRatio(o, backend, mesh->dim, problem->degree);
  PetscReal       range[2], all, inside = 1;

  PetscFunctionBegin;
  if (!problem->coefficient || !VpCycleMayHandOver(o, backend, problem)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpCoefficientRange(mesh, problem, range));
  if (range[1] <= ratio * range[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = npartial; l < o->levels && inside <= ratio; l++) {
    if (!npartial && size->cells_of[l] <= pow(VP_FEW_CELLS_ALONG, mesh->dim)) break;
    PetscCall(FindContrast(mesh, problem, o->coarsening, (int)PetscMin(l + 1, size->levels - 1), &all, &inside));
    if (inside > ratio) o->levels = l + 1;
  }
  if (inside > ratio) o->coarse = VP_COARSE_VOLUMES;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* memory of the cycle, on adaptive meshes with the vectors of all leaves */
static VpBytes FindNeed(const VpSize *size, const VpCycleOptions *o)
{
  const double unknowns = size->leaves / size->ranks * pow(size->degree + 1, size->dim);
  VpBytes      need = VpCycleMemory(size, o);

  need.work += (o->coarse == VP_COARSE_VOLUMES ? 5 : 3) * unknowns * VpRealBytes(o->precision);
  return need;
}

PetscErrorCode PCVPatchDGViewMetric(PC pc, const VpProblem *problem, PetscViewer viewer)
{
  const VpMetric  m = problem->metric;
  const char     *asked = VpMetricNames[PCVPatchDGData(pc)->inverse.metric];
  const PetscBool boxes = (PetscBool)(problem->kind == VP_METRIC_CONST),
                  apart = (PetscBool)(problem->apart.reaction || problem->apart.sides);
  const VpBackend *backend;

  PetscFunctionBegin;
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGUseBackend(PCVPatchDGData(pc)->inverse.dm, &backend));
  PetscCall(PetscViewerASCIIPrintf(
    viewer, "  metric %s (%s): const is foretold %.1f iterations, and cell %.1f, each of which takes %g times as long%s\n",
    VpMetricNames[boxes ? VP_METRIC_CONST : VP_METRIC_CELL], asked, VpMetricIterations(m, VP_METRIC_CONST),
    VpMetricIterations(m, VP_METRIC_CELL), backend->prefers->unlike, apart ? "; reactions or Robin sides of cells differ" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintMetric(PC pc, PetscViewer viewer, const VpProblem *problem)
{
  const VpMetric m = problem->metric;

  PetscFunctionBegin;
  PetscCall(PCVPatchDGViewMetric(pc, problem, viewer));
  PetscCall(PetscViewerASCIIPrintf(
    viewer, "  coefficient at points, and map: eigenvalues beside the cycle's 1:%.3g, changes inside of a cell 1:%.3g\n", m->kappa,
    m->variation));
  if (m->raised)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  %" PetscInt_FMT " cells have a larger penalty, for which the operator is definite: up to %.3g\n", m->raised, m->penalty));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define CENTERED 12 /* iterations of a continuous operator whose rows are of centers of cells, or whose coefficient varies */

/* Prints the expected number of iterations, or that the rule does not cover the case. */
static PetscErrorCode PrintIterations(PC pc, PetscViewer viewer, VpMesh mesh, const VpProblem *problem, const VpCycleOptions *o)
{
  const VpContinuous continuous = VpPCBaseData(pc)->continuous;
  const PetscBool    adaptive = VpMeshIsAdaptive(mesh);
  const PetscReal    aspect = VpAspectRatio(mesh->geometry->domain);
  const VpCoarsen    how = o->coarsening;
  PetscReal          contrast = 1, inside = 1;
  int                range[2];

  PetscFunctionBegin;
  PetscCall(FindContrast(mesh, problem, how, (int)o->levels - 1, &contrast, &inside));
  VpExpectIterations(problem, aspect, how, range);
  if (continuous && continuous->centered) range[1] = PetscMax(range[1], CENTERED);
  if (adaptive) PetscCall(PetscViewerASCIIPrintf(viewer, "  coefficient: contrast 1:%.3g\n", (double)contrast));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  coefficient: contrast 1:%.3g, inside of the coarsest cells 1:%.3g\n", (double)contrast,
                                     (double)inside));
  if (problem->metric) PetscCall(PrintMetric(pc, viewer, problem));
  if (o->space != VP_SPACE_FULL || o->residual == VP_RESIDUAL_LOCAL)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  iterations for eight digits: not known for this patch space and residual, more than for full, exact\n"));
  else if (inside > VP_RATIO_SHOWN && !problem->oblique)
    PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "  iterations for eight digits: not known, at least %d by fgmres; finite volumes %s: "
      "layers, channels, inclusions and rock took %s, noise of 1:1000 10 to 22; richardson may fail, fgmres does not\n",
      range[0], adaptive ? "help the levels where refined cells hold jumps" : "take the place of coarse levels",
      adaptive ? "7 to 20" : "5 to 10"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  iterations for eight digits: %d to %d by fgmres%s\n", range[0], range[1],
                                     adaptive                                                ? ", as on uniform meshes"
                                     : aspect <= 1.5 && !problem->oblique && !problem->nodal ? " and richardson"
                                     : how == VP_COARSEN_FULL                                ? "; richardson takes more, or fails"
                                                                                             : "; richardson takes more"));
  if (aspect > 2 && how == VP_COARSEN_FULL && !adaptive)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  change: -pc_vpatchdg_coarsening local\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintSolver(PC pc, PetscViewer viewer, const VpCycleOptions *o)
{
  const KSP ksp = VpPCBaseData(pc)->ksp;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cycle: %s(%" PetscInt_FMT ",%" PetscInt_FMT "), %s, %s precision", VpCycleName(o->type),
                                   o->pre, o->post, o->symmetric ? "symmetric" : "not symmetric",
                                   o->precision == VP_DOUBLE ? "double" : "single"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (ksp) PetscCall(PetscViewerASCIIPrintf(viewer, "; KSP %s, relative tolerance %.1e", ((PetscObject)ksp)->type_name, (double)ksp->rtol));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintTransport(PC pc, VpMesh mesh, PetscViewer viewer)
{
  const char *travel = DMVPatchDGData(VpPCBaseData(pc)->dm)->travel;

  PetscFunctionBegin;
  if (VpMeshRanks(mesh) > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  ghosts travel by %s\n", travel[0] ? travel : "mpi, from host memory"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of a vector that the KSP has */
static double VectorBytes(PC pc)
{
  const VpPCBase  *inverse = pc->data;
  const VpOperator op = inverse->op;

  if (inverse->continuous) return (double)inverse->continuous->nodes->rows * sizeof(PetscScalar);
  return op->mesh->nown * pow(op->problem.degree + 1, op->mesh->dim) * sizeof(PetscScalar);
}

PetscErrorCode PCVPatchDGMet(PC pc, KSP ksp)
{
  PC_VPatchDG     *data = pc->data;
  const VpOperator op = data->inverse.op;
  const VpBackend *backend;
  const double     bytes = VectorBytes(pc);
  PetscObjectId    id;
  PetscBool        host;
  int              range[2];

  PetscFunctionBegin;
  PetscCall(VpCoarseMeet(data->cycle->coarse, VpKSPIsFlexible(((PetscObject)ksp)->type_name)));
  PetscCall(PetscObjectGetId((PetscObject)ksp, &id));
  if (data->counted == id) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGUseBackend(data->inverse.dm, &backend));
  PetscCall(PetscStrInList(data->inverse.dm->vectype, "standard|seq|mpi", '|', &host));
  VpExpectIterations(&data->cycle->at[0].level->problem, VpAspectRatio(op->mesh->geometry->domain), data->options.coarsening, range);
  PetscCall(VpCheckKSPMemory(ksp, range[1], backend, VpIsDevice(backend) && host ? (VpBytes){0, bytes} : (VpBytes){bytes, 0}, data->taken));
  data->counted = id;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCVPatchDGCheckMemory - Sets up the cycle, and checks that the memory suffices for it and for the vectors of a KSP

   Collective

   Input Parameters:
+  pc  - the preconditioner, with its operators
-  ksp - the KSP that will use it, with its type

   Level: advanced

   Note:
   `KSPSolve()` makes the same check, but after `KSPSetUp()` has created some of the vectors. A program that calls this function before it
   creates any vector gets the error while little memory is in use. The function does nothing with a preconditioner of another type.

.seealso: `PCVPATCHDG`, `PCVPATCH`
@*/
PetscErrorCode PCVPatchDGCheckMemory(PC pc, KSP ksp)
{
  PetscBool same;

  PetscFunctionBegin;
  VpAssertObject(pc, PC_CLASSID, 1);
  VpAssertObject(ksp, KSP_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVPATCHDG, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUp(pc));
  PetscCall(VpPCBaseMeet(pc, ksp));
  PetscCall(PCVPatchDGMet(pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HANDED ", handed over to finite volumes"

static PetscErrorCode PrintTrees(PetscViewer viewer, VpMesh mesh, const VpMetric m)
{
  int colors;

  PetscFunctionBegin;
  PetscCall(VpCountColors(mesh, &colors));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  patches: of %d colours, around regular vertices\n", colors));
  PetscCall(VpViewShapes(m, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGDoctor(PC pc, VpMesh mesh, const VpProblem *problem, const VpBackend *backend)
{
  static const char *const ways[] = {[VP_WAY_LINES] = ", inverted along lines",
                                     [VP_WAY_DENSE] = ", inverted as a dense matrix",
                                     [VP_WAY_VOLUMES] = HANDED,
                                     [VP_WAY_STEPS] = ", solved by steps of finite volumes and a sweep",
                                     [VP_WAY_SWEEPS] = ", solved by sweeps",
                                     [VP_WAY_KSP] = ", solved by a KSP",
                                     [VP_COARSE_WAYS] = ""};
  PC_VPatchDG             *data = pc->data;
  VpContinuous             continuous = data->inverse.continuous;
  VpCycleOptions           asked = data->options, foreseen, *o = &asked;
  VpLevelCount             count;
  PetscViewer              viewer;
  VpSize                   size;
  VpBytes                  need;

  PetscFunctionBegin;
  PetscCall(VpSizeOfMesh(mesh, problem->degree, backend, &size));
  VpCountMetric(mesh, problem, &size);
  PetscCall(CountCells(mesh, problem, o->coarsening, &size));
  PetscCall(VpCycleCountLevels(mesh, problem, o, backend, &count));
  o->levels = count.levels;
  size.dense = (PetscBool)(count.way == VP_WAY_DENSE);
  PetscCall(VpCountLines(mesh, problem, &size));
  foreseen = asked;
  PetscCall(ForeseeHandover(mesh, problem, backend, &size, &foreseen));
  need = FindNeed(&size, &foreseen);
  PetscCall(VpDoctorViewer((PetscObject)pc, &viewer));
  if (viewer) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "vpatchdg_doctor: preconditioner\n"));
    PetscCall(PrintSolver(pc, viewer, o));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  levels: %" PetscInt_FMT ", the coarsest with %.0f cells%s\n", foreseen.levels,
                                     size.cells_of[foreseen.levels - 1], foreseen.coarse == VP_COARSE_VOLUMES ? HANDED : ways[count.way]));
    if (mesh->geometry->domain->trees) PetscCall(PrintTrees(viewer, mesh, problem->metric));
    if (continuous) PetscCall(VpContinuousView(pc, viewer));
    PetscCall(PrintTransport(pc, mesh, viewer));
    PetscCall(PrintIterations(pc, viewer, mesh, problem, o));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  memory needed, about:\n"));
    PetscCall(VpReportNeed(viewer, "cycle", need.work, size.ranks));
    if (continuous) PetscCall(VpReportNeed(viewer, "element restriction", continuous->bytes, size.ranks));
    PetscCall(VpReportThere(viewer, backend));
  }
  data->taken = VpMeshMemory(&size).work + 2 * VectorBytes(pc) + (continuous ? continuous->bytes : 0);
  PetscCall(VpCheckMemory(PetscObjectComm((PetscObject)pc), backend, need, data->taken, "The cycle of -pc_type vpatchdg",
                          o->precision == VP_DOUBLE ? "Use -pc_vpatchdg_precision single with fgmres or richardson" : "Refine less"));
  data->taken += need.work;
  data->counted = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
