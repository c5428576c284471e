/*MC
   PCVPATCHDG = "vpatchdg" - Geometric multigrid with coloured vertex-patch smoothers for a `DMVPATCHDG`

   Options Database Keys:
+  -vpatchdg_coarse_ksp_type, ... - Options of the coarsest level's KSP, `PCVPatchDGGetCoarseKSP()`
.  -vpatchdg_converged            - `residual` or `energy`: the norm that the KSP's convergence test uses, `VPatchDGConvergedEnergy()`
-  -vpatchdg_warnings             - 0 switches off the warnings of all these preconditioners

   Level: beginner

   Notes:
   The Pmat is a matrix of a `DMVPATCHDG`, made by `DMCreateMatrix()` or by a KSP with `KSPSetDM()`. The preconditioner takes the mesh,
   the space and the coefficient from this matrix.

   It may also be a continuous operator: that of a DM with `DMVPatchDGSetContinuous()`. A matrix of other continuous elements needs
   `PCVPatchDGSetElementRestriction()`. A five-point or seven-point matrix on a `DMDA` with one unknown per point needs nothing: from its
   entries the preconditioner reads which rows are those of the identity, the conditions on the other sides, the distances of points (if the
   `DMDA` has no coordinates), the coefficient and the reaction (of implicit time steps, for instance), and makes a `DMVPATCHDG` of degree 1
   with the points as nodes. Rows must not be divided by volumes that differ, but each may be multiplied by a number if the coefficient is
   1. Where this is enough, cells are twice as wide as the distance of points (-pc_vpatchdg_cells), and two Jacobi steps precede and follow
   the cycle.

   A matrix on a `DMPLEX` with one field, a `PetscFE` of one component and of degree 1 to 8 on quadrilaterals or hexahedra, needs nothing
   either. `DMConvert()` must take the cells. Sides whose unknowns are all constrained are Dirichlet ones, others are Neumann ones.

   By default, the cycle makes one sweep with the full space and the exact residual after the coarse correction, which measurements have
   shown to be fastest. The cycle runs in single precision with `KSPFGMRES`, with `KSPRICHARDSON`, and with `KSPCG` and
   -pc_vpatchdg_symmetric.

   `KSPRICHARDSON` runs a fused loop of residual and cycle. With a monitor, a scale or a null space, PETSc does not use this loop but
   computes residual and cycle separately, with the same result. In both cases the iteration stops by the true residual,
   `KSP_NORM_UNPRECONDITIONED`. If -ksp_norm_type or `KSPSetNormType()` chooses the preconditioned residual, the loop is not fused.

   The preconditioner prints a line on stderr, once per kind of warning, about
.vb
   a KSP that needs a symmetric cycle and has none
   a cycle that was set to single precision for a KSP that does not tolerate it
   a KSP that reports convergence while the true residual is more than 10 times the tolerance
   a KSP that reports convergence while the preconditioner estimates a large error of x
   a KSP that does not converge
   refinement (`KSPRICHARDSON`) that takes more than 10 times the iterations expected of `KSPFGMRES`
   maps and coefficients at points: more than 40 iterations are foretold, the penalty is raised by more than a factor of 4, something
     changes by more than 10 inside of a cell, or cells of one box have shapes that differ by more than 4
.ve
   The third warning costs a product with A after every solve that does not stop by the true residual. The fourth warning costs a product
   with A and a cycle. It is checked only if coefficients, squared widths of cells or the penalty differ by more than a factor of 100, after
   the first solve and after later solves with a larger |b| / |x|.

   Before the first solve, the preconditioner counts the vectors that the KSP needs for ten iterations, and reports an error if there is no
   memory for them. `KSPFGMRES` needs 28 vectors (36 with PETSc 3.24 or later), `KSPGCR` with -ksp_gcr_restart 5
   needs 11, and `KSPRICHARDSON` needs 2.

   `KSPPREONLY` and -ksp_norm_type none do not compute a residual. With them, PETSc reports success for any result, including NaN.

   The coefficient may change between solves (`DMVPatchDGSetCoefficient()`). The next application then builds the preconditioner again,
   unless `KSPSetReusePreconditioner()` is on.

   Vectors and the operator are multiplied by powers of two before they are converted to single precision, so their size does not matter. If
   coefficients or squared widths of cells differ by more than 2^80 within the domain, set -pc_vpatchdg_precision double.

   On small levels, `PCMatApply()` works on several columns at once, so that all columns share messages and kernel launches.

   On several ranks, the symmetric cycle is exactly symmetric, and the transposed cycle is the exact transpose, with -pc_vpatchdg_exchange
   color. With sweep this holds approximately, but well enough for `KSPCG`.

   For a scaled and shifted matrix-free operator, s A + t I, the cycle approximates the inverse of s A + t I if t/s >= 0, otherwise that of
   s A.

.seealso: `DMVPATCHDG`, `PCVPATCH`, `KSPGUESSVPATCHDG`, `PCVPatchDGSetSpace()`, `PCVPatchDGSetSmooth()`
M*/
#include "internal.h"
#include "../forecast/forecast.h"
#include <inttypes.h>

static PetscErrorCode ClearCycle(PC pc)
{
  PC_VPatchDG *data = pc->data;

  PetscFunctionBegin;
  PetscCall(VpColumnsDestroy(&data->columns));
  PetscCall(VpCycleDestroy(&data->cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareCycle(PC pc, VpMesh mesh, const VpProblem *problem, PetscBool *later)
{
  PetscFunctionBegin;
  PetscCall(PCVPatchDGCheckOptions(pc, mesh, problem));
  PetscCall(PCVPatchDGPreparePrecision(pc, problem, later));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BuildCycle(PC pc, VpMesh mesh, const VpProblem *problem, const VpBackend *backend)
{
  PC_VPatchDG *data = pc->data;
  VpProblem    scaled = *problem;

  PetscFunctionBegin;
  scaled.nodal = (PetscBool)(data->inverse.continuous != NULL);
  if (scaled.nodal) scaled.point = data->inverse.continuous->point;
  PetscCall(PCVPatchDGDoctor(pc, mesh, &scaled, backend));
  PetscCall(VpPCBaseSetExponent(pc, "pc_vpatchdg", data->options.precision, &scaled));
  PetscCall(VpCycleCreate(mesh, &scaled, &data->options, backend, (PetscObject)pc, &data->cycle));
  PetscCall(PCVPatchDGRehearse(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BeginCycle(PC pc, VpVector *r)
{
  return VpCycleBegin(PCVPatchDGData(pc)->cycle, 0, r);
}

static PetscErrorCode SolveCycle(PC pc, PetscBool transpose, PetscBool add, PetscReal scale, double *z)
{
  PC_VPatchDG          *data = pc->data;
  const VpCycleOptions *options = &data->options;

  PetscFunctionBegin;
  PetscCheck(!transpose || VpSpaceIsSymmetric(options->space, options->residual), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The transposed cycle exists for exact residuals only: use -pc_vpatchdg_residual exact");
  PetscCheck(!transpose || !data->cycle->npartial || options->symmetric, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "On meshes of cells of different levels the symmetric cycle alone has a transpose: use -pc_vpatchdg_symmetric");
  PetscCall(VpCycleSolve(data->cycle, 0, transpose, add, scale, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static VpCycle HoldsCycle(PC pc)
{
  const VpCycle cycle = PCVPatchDGData(pc)->cycle;

  return VpCycleHolds(cycle) ? cycle : NULL;
}

/* Makes the columns for the first block, and again for a block with more columns. */
static PetscErrorCode GetColumns(PC pc, PetscInt n, VpColumns *columns, PetscInt *most)
{
  PC_VPatchDG *data = pc->data;

  PetscFunctionBegin;
  *columns = NULL;
  n = VpColumnsCan(data->cycle) ? VpColumnsAtOnce(data->cycle->at[0].level, n) : 1;
  if (n < 2) PetscFunctionReturn(PETSC_SUCCESS);
  if (n > data->most) PetscCall(VpColumnsDestroy(&data->columns));
  if (!data->columns) {
    PetscCall(VpColumnsCreate(data->cycle, (int32_t)n, &data->columns));
    data->most = n;
  }
  *columns = data->columns;
  *most = data->most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const VpPCBaseOps ops = {.caller = "-pc_type vpatchdg",
                                .adopt = PCVPatchDGAdopt,
                                .build = BuildCycle,
                                .clear = ClearCycle,
                                .begin = BeginCycle,
                                .solve = SolveCycle,
                                .holds = HoldsCycle,
                                .prepare = PrepareCycle,
                                .meet = PCVPatchDGMeet,
                                .met = PCVPatchDGMet,
                                .leave = PCVPatchDGWarnAfter,
                                .columns = GetColumns};

static PetscErrorCode ViewOptions(PC pc, PetscViewer viewer)
{
  const PC_VPatchDG    *data = pc->data;
  const VpCycle         cycle = data->cycle;
  const VpCycleOptions *o = cycle ? &cycle->options : &data->options;

  PetscFunctionBegin;
  PCVPatchDGChooseSweeps(pc);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s(%" PetscInt_FMT ",%" PetscInt_FMT ") cycle, patch space %s, residual %s, exchange %s\n",
                                   VpCycleName(cycle ? cycle->chosen.type : o->type), o->pre, o->post, VPatchDGSpaces[o->space],
                                   VpResidualNames[o->residual], VpExchangeNames[o->exchange]));
  if (cycle && cycle->ends && cycle->joined > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  levels end where a coarser one would join coefficients up to 1:%.3g; %" PetscInt_FMT
                                     " sweeps of single cells where a patch is more than %g times too stiff\n",
                                     (double)cycle->joined, cycle->chosen.cell_sweeps, (double)cycle->chosen.cell_ratio));
  else if (cycle && (cycle->contrast > 1 || cycle->rough > 0))
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  %" PetscInt_FMT
                                     " sweeps of single cells after one of patches: the coefficient varies by up to %.3g "
                                     "among the children of a cell of coarser levels, by more than %g on %.0f %% of the second level%s\n",
                                     cycle->chosen.cell_sweeps, (double)cycle->contrast, (double)VP_VARIES, 100 * cycle->rough,
                                     o->type == VP_CYCLE_AUTO && !cycle->chosen.for_angles ? "; hence the type of the cycle" : ""));
  if (cycle && cycle->chosen.colors < 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  sweeps leave out colours of patches%s, because many iterations are foretold\n",
                                     cycle->chosen.for_angles ? ", and the cycle is V" : ""));
  if (cycle) PetscCall(PCVPatchDGViewMetric(pc, &cycle->at[0].level->problem, viewer));
  PetscCall(PCVPatchDGViewPrecision(pc, viewer));
  if (o->symmetric) PetscCall(PetscViewerASCIIPrintf(viewer, "  symmetric: colours in reverse order before the coarse correction\n"));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  not symmetric: KSPCG needs -pc_vpatchdg_symmetric\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewRepeats(VpCycle cycle, PetscInt l, PetscViewer viewer)
{
  PetscInt patches, repeats;

  PetscFunctionBegin;
  if (cycle->at[l].repeats > 1) PetscCall(PetscViewerASCIIPrintf(viewer, ", swept twice beside cells that do not merge"));
  VpCycleCorners(cycle, l, &patches, &repeats);
  if (repeats)
    PetscCall(PetscViewerASCIIPrintf(viewer, ", %" PetscInt_FMT " patches near corners %" PetscInt_FMT " more time%s", patches, repeats,
                                     repeats > 1 ? "s" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints how many cells trees have, the fewest and the most. */
static PetscErrorCode ViewTrees(VpLattice L, PetscViewer viewer)
{
  int64_t range[2] = {INT64_MAX, 0};

  PetscFunctionBegin;
  for (int32_t i = 0; i < L->nhalvings; i++) {
    range[0] = PetscMin(range[0], (int64_t)1 << L->halvings[i].shift);
    range[1] = PetscMax(range[1], (int64_t)1 << L->halvings[i].shift);
  }
  if (range[0] < range[1]) PetscCall(PetscViewerASCIIPrintf(viewer, " (%" PRId64 " to %" PRId64 " a tree)", range[0], range[1]));
  else PetscCall(PetscViewerASCIIPrintf(viewer, " (%" PRId64 " a tree)", range[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the number of cells in each direction along the longest lines, and the aspect ratio of the thinnest cell. */
static PetscErrorCode ViewCells(VpMesh mesh, PetscViewer viewer)
{
  const PetscReal aspect = 1 / VpLatticeThinnest(mesh->geometry->lattice);
  int64_t         extent[3];

  PetscFunctionBegin;
  if (mesh->geometry->domain->trees) {
    PetscCall(ViewTrees(mesh->geometry->lattice, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VpLatticeExtent(mesh->geometry->lattice, extent));
  for (int d = 0; d < mesh->dim; d++) PetscCall(PetscViewerASCIIPrintf(viewer, "%s%" PRId64, d ? " x " : " (", extent[d]));
  if (aspect > VP_RATIO_SHOWN) PetscCall(PetscViewerASCIIPrintf(viewer, ", thinnest 1:%.3g", (double)aspect));
  PetscCall(PetscViewerASCIIPrintf(viewer, ")"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *interfaces: number of sides, over all ranks, where this level ends at a leaf of the next coarser level */
static PetscErrorCode CountInterfaces(VpMesh mesh, PetscInt *interfaces)
{
  PetscFunctionBegin;
  *interfaces = 0;
  for (int32_t i = 0; mesh->relation && i < mesh->relation->ends.n; i++)
    *interfaces += mesh->relation->ends.face[i].cell[0] < mesh->relation->coarse->nown;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, interfaces, 1, MPIU_INT, MPI_SUM, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the size of each level, how often it exchanges ghosts, and which patches it sweeps again. */
static PetscErrorCode ViewLevels(VpCycle cycle, PetscViewer viewer)
{
  VpExchange exchange;
  PetscInt   interfaces;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < cycle->nlevel; l++) {
    const VpLevel   level = cycle->at[l].level;
    const PetscBool last = l == cycle->nlevel - 1;
    const PetscInt  ranks = VpMeshRanks(level->mesh);

    PetscCall(PetscViewerASCIIPrintf(viewer, "  level %" PetscInt_FMT ": %" PetscInt_FMT " cells", cycle->nlevel - l, level->mesh->ncell));
    exchange = VpChooseExchange(level, cycle->options.exchange);
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
    if (l < cycle->npartial) {
      PetscCall(CountInterfaces(level->mesh, &interfaces));
      PetscCall(PetscViewerASCIIPrintf(viewer, " (between coarser ones, %" PetscInt_FMT " of whose sides hang)", interfaces));
    } else PetscCall(ViewCells(level->mesh, viewer));
    PetscCall(PetscViewerASCIIPrintf(viewer, ", %" PetscInt64_FMT " DoFs",
                                     (PetscInt64)level->mesh->ncell * (PetscInt64)PetscPowInt64(level->basis.n, level->mesh->dim)));
    if (ranks < VpMeshRanks(cycle->at[0].level->mesh))
      PetscCall(PetscViewerASCIIPrintf(viewer, ", on %" PetscInt_FMT " rank%s", ranks, ranks > 1 ? "s" : ""));
    if (last)
      PetscCall(PetscViewerASCIIPrintf(viewer, cycle->leaves.handed ? ", finite volumes of all cells come before the levels"
                                               : cycle->handed      ? ", corrected by finite volumes"
                                                                    : ", solved"));
    if (cycle->at[l].smoother && cycle->chosen.cell_sweeps)
      PetscCall(PetscViewerASCIIPrintf(viewer, ", %" PetscInt_FMT " cells swept singly", VpSmootherCells(cycle->at[l].smoother)));
    if (!last && ranks > 1) PetscCall(PetscViewerASCIIPrintf(viewer, ", exchange every %s", VpExchangeNames[exchange]));
    PetscCall(ViewRepeats(cycle, l, viewer));
    PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_VPatchDG(PC pc, PetscViewer viewer)
{
  PC_VPatchDG *data = pc->data;
  PetscBool    ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ViewOptions(pc, viewer));
  PetscCall(VpSettingsView(&PCVPatchDGSettings, (PetscObject)pc, data, viewer));
  if (!data->cycle) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpPCBaseView(pc, viewer));
  PetscCall(VpViewBackend(pc->pmat, data->cycle->at[0].level->backend, viewer));
  if (data->cycle->replays)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  replayed as %s\n",
                                     data->cycle->whole ? "a CUDA graph" : "CUDA graphs before and after the coarse solve"));
  if (data->cycle->count.seconds > 0 && !data->cycle->ends)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " of %d levels: a cycle of about %.2g ms, of %.2g ms with all\n",
                                     data->cycle->nlevel, data->cycle->count.most, 1e3 * data->cycle->count.seconds,
                                     1e3 * data->cycle->count.all));
  PetscCall(ViewLevels(data->cycle, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  coarsest level:\n"));
  for (int i = 0; i < 2; i++) PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(VpCoarseView(data->cycle->coarse, viewer));
  for (int i = 0; i < 2; i++) PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCVPatchDGGetCoarseKSP - Gets the KSP of the coarsest level

   Collective

   Input Parameter:
.  pc - the preconditioner; this function sets it up

   Output Parameter:
.  ksp - the solver, or `NULL` if the coarsest level has none: it is inverted directly if the boxes form a grid or the level is small, and
         sweeps may solve it (`PCVPatchDGSetCoarse()`). The solver belongs to the PC and is replaced when the PC is set up again

   Options Database Key:
.  -vpatchdg_coarse_ksp_type, -vpatchdg_coarse_pc_type, ... - options of the solver, after the PC's own prefix

   Level: advanced

   Note:
   With `VPATCHDG_PRECISION_AUTO`, this function builds a cycle in double precision if no KSP has solved yet and -ksp_type is not given.

.seealso: `PCVPATCHDG`, `PCVPatchDGSetLevels()`, `PCVPatchDGSetPrecision()`
@*/
PetscErrorCode PCVPatchDGGetCoarseKSP(PC pc, KSP *ksp)
{
  PetscFunctionBegin;
  PetscCall(VpPCBaseCheckType(pc, PCVPATCHDG));
  VpAssertPointer(ksp, 2);
  PetscCall(PCSetUp(pc));
  if (!PCVPatchDGData(pc)->inverse.built) {
    PetscCall(PCVPatchDGChoosePrecision(pc));
    PetscCall(VpPCBaseMeet(pc, NULL));
  }
  *ksp = VpCoarseGetKSP(PCVPatchDGData(pc)->cycle->coarse);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_VPatchDG(PC pc)
{
  PC_VPatchDG *data;

  PetscFunctionBegin;
  PetscCall(PetscNew(&data));
  VpSettingsPreset(&PCVPatchDGSettings, data);
  VpPCBaseCreate(pc, &data->inverse, &ops);
  pc->ops->setfromoptions = PCSetFromOptions_VPatchDG;
  pc->ops->view = PCView_VPatchDG;
  PetscFunctionReturn(PETSC_SUCCESS);
}
