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
   The results are then those of `PCVPATCHDG` in double precision.

   m iterations of `KSPRICHARDSON` are m sweeps, because a sweep from x equals x plus a sweep from 0 on the residual.

.seealso: `DMVPATCHDG`, `PCVPATCHDG`, `PCVPatchSetSpace()`
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

/* A sweep has no precision `auto`. */
static const char *const precisions[] = {
  [VPATCHDG_PRECISION_SINGLE] = "single", [VPATCHDG_PRECISION_DOUBLE] = "double", "VPatchDGPrecision", "VPATCHDG_PRECISION_", NULL};

enum { SPACE, RESIDUAL, PRECISION, REVERSE, SETTINGS };
static const VpSetting row[SETTINGS] = {
  [SPACE] = VP_SETTING(ENUM, PC_VPatch, space, VPATCHDG_SPACE_FULL, "-pc_vpatch_space", "PCVPatchSetSpace", "patch space",
                       "Functions a patch corrects", .names = VPatchDGSpaces),
  [RESIDUAL] = VP_SETTING(ENUM, PC_VPatch, residual, VPATCHDG_RESIDUAL_EXACT, "-pc_vpatch_residual", "PCVPatchSetResidual", "residual",
                          "What a patch sees of its neighbours", .names = VPatchDGResiduals),
  [PRECISION] = VP_SETTING(ENUM, PC_VPatch, precision, VPATCHDG_PRECISION_DOUBLE, "-pc_vpatch_precision", "PCVPatchSetPrecision",
                           "precision", "Of the sweep", .names = precisions),
  [REVERSE] = VP_SETTING(BOOL, PC_VPatch, reverse, PETSC_FALSE, "-pc_vpatch_reverse", "PCVPatchSetReverse", "order of colours",
                         "Colours in the opposite order", .names = PetscBools)};
static const VpSettings settings = {PCVPATCH, SETTINGS, row};

static PetscErrorCode Clear(PC pc)
{
  PC_VPatch *data = pc->data;

  PetscFunctionBegin;
  PetscCall(VpOneSweepDestroy(&data->sweep));
  PetscCall(VpLevelDestroy(&data->level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Build(PC pc, VpMesh mesh, const VpProblem *problem, const VpBackend *backend)
{
  PC_VPatch *data = pc->data;
  MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  VpProblem  scaled = *problem;

  PetscFunctionBegin;
  PetscCall(VpSettingsCheckSame(&settings, comm, data));
  PetscCall(VpCheckNotAdaptive(mesh, "-pc_type vpatch"));
  PetscCall(VpCheckPatches(mesh, PCVPATCH));
  PetscCall(VpCheckSpace(comm, "pc_vpatch", data->space, data->residual, problem->degree));
  PetscCall(VpPCBaseSetExponent(pc, "pc_vpatch", data->precision, &scaled));
  PetscCall(VpLevelCreate(mesh, &scaled, VP_BASIS_THIN, data->precision, backend, &data->level));
  PetscCall(VpOneSweepCreate(data->level, data->space, data->residual, VP_EXCHANGE_AUTO, &data->sweep));
  data->inverse.wide = data->precision == VP_DOUBLE; /* There are sums and products, no squares. */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin(PC pc, VpVector *r)
{
  return VpOneSweepBegin(((PC_VPatch *)pc->data)->sweep, r);
}

static PetscErrorCode Solve(PC pc, PetscBool transpose, PetscBool add, PetscReal scale, double *z)
{
  PC_VPatch *data = pc->data;

  PetscFunctionBegin;
  PetscCheck(!transpose || VpSpaceIsSymmetric(data->space, data->residual), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The transposed sweep exists for exact residuals only: use -pc_vpatch_residual exact");
  PetscCall(VpOneSweepSolve(data->sweep, data->reverse != transpose, add, VpLevelUndo(data->level, scale), z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Meet(PC pc, KSP ksp, PetscBool *again)
{
  PetscFunctionBegin;
  if (!ksp || ((PC_VPatch *)pc->data)->precision != VP_SINGLE) PetscFunctionReturn(PETSC_SUCCESS);
  if (((PetscObject)ksp)->tablevel == 0) PetscCall(VpWarnSingle(pc, ((PetscObject)ksp)->type_name, "pc_vpatch_precision double"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const VpPCBaseOps ops = {
  .caller = "-pc_type vpatch", .build = Build, .clear = Clear, .begin = Begin, .solve = Solve, .meet = Meet, .leave = VpWarnResidual};

/*@
   PCVPatchSetSpace - Sets the space of functions that a patch corrects

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  space - `VPATCHDG_SPACE_FULL` (all functions on its cells), `VPATCHDG_SPACE_DIRICHLET` (those that vanish on its sides) or
           `VPATCHDG_SPACE_CLAMPED` (those whose normal derivative also vanishes there)

   Level: intermediate

   Note:
   These conditions hold on sides inside the domain. No space constrains functions on the boundary of the domain. clamped needs degree 3 or
   more.

.seealso: `PCVPATCH`, `PCVPatchGetSpace()`
@*/
PetscErrorCode PCVPatchSetSpace(PC pc, VPatchDGSpace space)
{
  return VpPCBaseSet(pc, &settings, SPACE, space);
}

/*@
   PCVPatchGetSpace - Gets the space of functions that a patch corrects

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  space - as in `PCVPatchSetSpace()`

   Level: intermediate

.seealso: `PCVPATCH`, `PCVPatchSetSpace()`
@*/
PetscErrorCode PCVPatchGetSpace(PC pc, VPatchDGSpace *space)
{
  return VpPCBaseGet(pc, &settings, SPACE, space, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchSetResidual - Sets how a patch computes its residual

   Logically Collective

   Input Parameters:
+  pc       - the preconditioner
-  residual - `VPATCHDG_RESIDUAL_EXACT` (with the neighbours' values and normal derivatives on its sides, which determine it exactly),
              `VPATCHDG_RESIDUAL_LOCAL` (without its neighbours) or `VPATCHDG_RESIDUAL_GLOBAL` (the same numbers as exact, by a product with
              A for every colour; slow, for checks)

   Level: intermediate

   Note:
   local exists only for the spaces dirichlet and clamped.

.seealso: `PCVPATCH`, `PCVPatchGetResidual()`
@*/
PetscErrorCode PCVPatchSetResidual(PC pc, VPatchDGResidual residual)
{
  return VpPCBaseSet(pc, &settings, RESIDUAL, residual);
}

/*@
   PCVPatchGetResidual - Gets how a patch computes its residual

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  residual - as in `PCVPatchSetResidual()`

   Level: intermediate

.seealso: `PCVPATCH`, `PCVPatchSetResidual()`
@*/
PetscErrorCode PCVPatchGetResidual(PC pc, VPatchDGResidual *residual)
{
  return VpPCBaseGet(pc, &settings, RESIDUAL, residual, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchSetPrecision - Sets the precision of the sweep

   Logically Collective

   Input Parameters:
+  pc        - the preconditioner
-  precision - `VPATCHDG_PRECISION_DOUBLE` or `VPATCHDG_PRECISION_SINGLE`

   Level: intermediate

.seealso: `PCVPATCH`, `PCVPatchGetPrecision()`
@*/
PetscErrorCode PCVPatchSetPrecision(PC pc, VPatchDGPrecision precision)
{
  return VpPCBaseSet(pc, &settings, PRECISION, precision);
}

/*@
   PCVPatchGetPrecision - Gets the precision of the sweep

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  precision - as in `PCVPatchSetPrecision()`

   Level: intermediate

.seealso: `PCVPATCH`, `PCVPatchSetPrecision()`
@*/
PetscErrorCode PCVPatchGetPrecision(PC pc, VPatchDGPrecision *precision)
{
  return VpPCBaseGet(pc, &settings, PRECISION, precision, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchSetReverse - Sets the order of the colours

   Logically Collective

   Input Parameters:
+  pc      - the preconditioner
-  reverse - `PETSC_TRUE` for the reverse order, which makes the sweep the adjoint of the usual one; `PETSC_FALSE` by default

   Level: intermediate

.seealso: `PCVPATCH`, `PCVPatchGetReverse()`
@*/
PetscErrorCode PCVPatchSetReverse(PC pc, PetscBool reverse)
{
  return VpPCBaseSet(pc, &settings, REVERSE, reverse);
}

/*@
   PCVPatchGetReverse - Gets whether the colours are taken in reverse order

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  reverse - as in `PCVPatchSetReverse()`

   Level: intermediate

.seealso: `PCVPATCH`, `PCVPatchSetReverse()`
@*/
PetscErrorCode PCVPatchGetReverse(PC pc, PetscBool *reverse)
{
  return VpPCBaseGet(pc, &settings, REVERSE, reverse, PETSC_FUNCTION_NAME);
}

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
                                   VPatchDGPrecisions[data->precision], VPatchDGSpaces[data->space], VPatchDGResiduals[data->residual],
                                   data->reverse ? ", colours in reverse order" : ""));
  PetscCall(VpSettingsView(&settings, (PetscObject)pc, data, viewer));
  if (!data->level) PetscFunctionReturn(PETSC_SUCCESS);
  exchange = VpChooseExchange(data->level, VP_EXCHANGE_AUTO);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  exchange every %s\n", VPatchDGExchanges[exchange]));
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
  PetscCall(VpPCBaseCreate(pc, &data->inverse, &ops));
  pc->ops->setfromoptions = PCSetFromOptions_VPatch;
  pc->ops->view = PCView_VPatch;
  PetscFunctionReturn(PETSC_SUCCESS);
}
