/*MC
   PCVPATCH = "vpatch" - One sweep of the coloured vertex-patch smoother on the mesh of the Pmat's `DMVPATCHDG`, for use in `PCMG`

   Level: intermediate

   Notes:
   For V(1,1) cycles of `PCMG`, use
.vb
   -mg_levels_ksp_type richardson -mg_levels_pc_type vpatch -mg_levels_ksp_max_it 1
.ve
   For V(0,1) cycles, use
.vb
   -pc_mg_distinct_smoothup -mg_levels_ksp_type richardson -mg_levels_pc_type vpatch -mg_levels_ksp_max_it 0
   -mg_levels_up_ksp_type richardson -mg_levels_up_pc_type vpatch -mg_levels_up_ksp_max_it 1
.ve
   The results equal those of `PCVPATCHDG` in double precision.

   m iterations of `KSPRICHARDSON` are m sweeps, because a sweep from x equals x plus a sweep from 0 on the residual.

   Everything is set by options, which have the prefix of the PC.

.seealso: `DMVPATCHDG`, `PCVPATCHDG`
M*/
#include "internal.h"

typedef struct {
  VpPCBase    inverse;
  VpSpace     space;
  VpResidual  residual;
  VpPrecision precision;
  PetscBool   reverse;
  VpLevel     level;
  VpOneSweep  sweep;
} PC_VPatch;

/* Values without `auto`, which a sweep does not offer. */
static const char *const precisions[] = {
  [VPATCHDG_PRECISION_SINGLE] = "single", [VPATCHDG_PRECISION_DOUBLE] = "double", "VPatchDGPrecision", "VPATCHDG_PRECISION_", NULL};

enum { SPACE, RESIDUAL, PRECISION, REVERSE, SETTINGS };
static const VpSetting row[SETTINGS] = {
  [SPACE] = VP_SETTING(ENUM, PC_VPatch, space, VPATCHDG_SPACE_FULL, "-pc_vpatch_space", NULL, "patch space", "Functions a patch corrects",
                       .names = VPatchDGSpaces),
  [RESIDUAL] = VP_SETTING(ENUM, PC_VPatch, residual, VP_RESIDUAL_EXACT, "-pc_vpatch_residual", NULL, "residual",
                          "What a patch sees of its neighbours", .names = VpResidualNames),
  [PRECISION] = VP_SETTING(ENUM, PC_VPatch, precision, VPATCHDG_PRECISION_DOUBLE, "-pc_vpatch_precision", NULL, "precision", "Of the sweep",
                           .names = precisions),
  [REVERSE] = VP_SETTING(BOOL, PC_VPatch, reverse, PETSC_FALSE, "-pc_vpatch_reverse", NULL, "order of colours",
                         "Colours in the opposite order", .names = PetscBools)};
static const VpSettings settings = {PCVPATCH, SETTINGS, row};

static PetscErrorCode ClearSweep(PC pc)
{
  PC_VPatch *data = pc->data;

  PetscFunctionBegin;
  PetscCall(VpOneSweepDestroy(&data->sweep));
  PetscCall(VpLevelDestroy(&data->level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BuildSweep(PC pc, VpMesh mesh, const VpProblem *problem, const VpBackend *backend)
{
  PC_VPatch *data = pc->data;
  MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  VpProblem  scaled = *problem;

  PetscFunctionBegin;
  PetscCall(VpSettingsCheckSame(&settings, comm, data));
  PetscCall(VpCheckNotAdaptive(mesh, "-pc_type vpatch"));
  PetscCall(VpCheckPatches(mesh, data->space, data->residual, PCVPATCH));
  PetscCall(VpCheckSpace(comm, "pc_vpatch", data->space, data->residual, problem->degree));
  PetscCall(VpPCBaseSetExponent(pc, "pc_vpatch", data->precision, &scaled));
  PetscCall(VpLevelCreate(mesh, &scaled, VP_BASIS_THIN, data->precision, backend, &data->level));
  PetscCall(VpOneSweepCreate(data->level, data->space, data->residual, VP_EXCHANGE_AUTO, &data->sweep));
  data->inverse.wide =
    data->precision == VP_DOUBLE; /* Sums and products do not overflow in double precision, and a sweep computes no squares. */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BeginSweep(PC pc, VpVector *r)
{
  return VpOneSweepBegin(((PC_VPatch *)pc->data)->sweep, r);
}

static PetscErrorCode SolveSweep(PC pc, PetscBool transpose, PetscBool add, PetscReal scale, double *z)
{
  PC_VPatch *data = pc->data;

  PetscFunctionBegin;
  PetscCheck(!transpose || VpSpaceIsSymmetric(data->space, data->residual), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The transposed sweep exists for exact residuals only: use -pc_vpatch_residual exact");
  PetscCall(VpOneSweepSolve(data->sweep, data->reverse != transpose, add, VpLevelUndo(data->level, scale), z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeetKSP(PC pc, KSP ksp, PetscBool *again)
{
  PetscFunctionBegin;
  if (!ksp || ((PC_VPatch *)pc->data)->precision != VP_SINGLE) PetscFunctionReturn(PETSC_SUCCESS);
  if (((PetscObject)ksp)->tablevel == 0) PetscCall(VpWarnSingle(pc, ((PetscObject)ksp)->type_name, "pc_vpatch_precision double"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const VpPCBaseOps ops = {.caller = "-pc_type vpatch",
                                .build = BuildSweep,
                                .clear = ClearSweep,
                                .begin = BeginSweep,
                                .solve = SolveSweep,
                                .meet = MeetKSP,
                                .leave = VpWarnResidual};

static PetscErrorCode PCSetFromOptions_VPatch(PC pc, VpOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Vertex-patch smoother options");
  PetscCall(VpPCBaseSetFromOptions(pc, &settings, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_VPatch(PC pc, PetscViewer viewer)
{
  const PC_VPatch *data = pc->data;
  VpExchange       exchange;
  PetscBool        ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  one sweep, %s precision, patch space %s, residual %s%s\n",
                                   VPatchDGPrecisions[data->precision], VPatchDGSpaces[data->space], VpResidualNames[data->residual],
                                   data->reverse ? ", colours in reverse order" : ""));
  PetscCall(VpSettingsView(&settings, (PetscObject)pc, data, viewer));
  if (!data->level) PetscFunctionReturn(PETSC_SUCCESS);
  exchange = VpChooseExchange(data->level, VP_EXCHANGE_AUTO);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  exchange every %s\n", VpExchangeNames[exchange]));
  PetscCall(VpPCBaseView(pc, viewer));
  PetscCall(VpViewBackend(pc->pmat, data->level->backend, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_VPatch(PC pc)
{
  PC_VPatch *data;

  PetscFunctionBegin;
  PetscCall(PetscNew(&data));
  VpSettingsPreset(&settings, data);
  VpPCBaseCreate(pc, &data->inverse, &ops);
  data->inverse.metric = VP_METRIC_CELL; /* A sweep alone has no coarse levels, whose time is what like patches save. */
  pc->ops->setfromoptions = PCSetFromOptions_VPatch;
  pc->ops->view = PCView_VPatch;
  PetscFunctionReturn(PETSC_SUCCESS);
}
