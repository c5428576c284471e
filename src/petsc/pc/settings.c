/* The settings of PCVPATCHDG, and the setters and getters of those that make its mathematics. The others are in levels.c. Setters do
   nothing to a PC of another type. */
#include "internal.h"

static const VpSetting row[VP_PC_SETTINGS] = {
  [VP_PC_SPACE] = VP_SETTING(ENUM, PC_VPatchDG, options.space, VPATCHDG_SPACE_FULL, "-pc_vpatchdg_space", "PCVPatchDGSetSpace",
                             "patch space", "Functions a patch corrects", .names = VPatchDGSpaces),
  [VP_PC_RESIDUAL] = VP_SETTING(ENUM, PC_VPatchDG, options.residual, VP_RESIDUAL_EXACT, "-pc_vpatchdg_residual", NULL, "residual",
                                "What a patch sees of its neighbours", .names = VpResidualNames),
  [VP_PC_SMOOTH_PRE] = VP_SETTING(INT, PC_VPatchDG, pre, PETSC_DECIDE, "-pc_vpatchdg_smooth_pre", "PCVPatchDGSetSmooth", "sweeps before",
                                  "Sweeps before the coarse correction; -1: as many as after it if symmetric, else 0",
                                  .least = PETSC_DECIDE, .refusal = "Numbers of sweeps must not be negative: %s"),
  [VP_PC_SMOOTH_POST] = VP_SETTING(INT, PC_VPatchDG, post, 1, "-pc_vpatchdg_smooth_post", "PCVPatchDGSetSmooth", "sweeps after",
                                   "Sweeps after the coarse correction", .refusal = "Numbers of sweeps must not be negative: %s"),
  [VP_PC_CORNERS] = VP_SETTING(INT, PC_VPatchDG, options.corners, PETSC_DECIDE, "-pc_vpatchdg_corners", NULL, "sweeps at corners",
                               "Repeats of a sweep near re-entrant corners; -1: 1 up to degree 2, else 2", .least = PETSC_DECIDE,
                               .most = 100, .refusal = "-pc_vpatchdg_corners %s: a sweep is repeated 0 to 100 times near corners"),
  [VP_PC_SYMMETRIC] = VP_SETTING(BOOL, PC_VPatchDG, options.symmetric, PETSC_FALSE, "-pc_vpatchdg_symmetric", "PCVPatchDGSetSymmetric",
                                 "symmetry", "Reverse the colours before the coarse correction, for KSPCG", .names = PetscBools),
  [VP_PC_JACOBI] = VP_SETTING(ENUM, PC_VPatchDG, inverse.jacobi, VP_JACOBI_AUTO, "-pc_vpatchdg_jacobi", NULL, "Jacobi steps",
                              "Jacobi steps beside the cycle of a continuous operator: after it, both before and after; auto: by the price",
                              .names = VpJacobiNames),
  [VP_PC_POINTS] =
    VP_SETTING(ENUM, PC_VPatchDG, points, VP_POINTS_AUTO, "-pc_vpatchdg_points", NULL, "points of a DMDA",
               "What the points of a DMDA are: nodes or centers of cells; auto: by the rows on its sides", .names = VpPointsNames),
  [VP_PC_WIDTH] = VP_SETTING(ENUM, PC_VPatchDG, width, VP_WIDTH_AUTO, "-pc_vpatchdg_cells", NULL, "cells of a DMDA",
                             "How wide the cells of a DMDA are: one or two distances of points; auto: two where Jacobi steps smooth well",
                             .names = VpWidthNames),
  [VP_PC_CYCLE_TYPE] = VP_SETTING(ENUM, PC_VPatchDG, options.type, VPATCHDG_CYCLE_AUTO, "-pc_vpatchdg_cycle_type", "PCVPatchDGSetCycleType",
                                  "type of the cycle", "V, W or F cycle; auto: by the coefficient", .names = VPatchDGCycleTypes),
  [VP_PC_COLORS] = VP_SETTING(INT, PC_VPatchDG, options.colors, PETSC_DECIDE, "-pc_vpatchdg_colors", NULL, "colours",
                              "Colours of patches that a sweep goes through, 0: all; -1: all but one where many iterations are foretold",
                              .least = PETSC_DECIDE, .most = VP_MOST_COLORS,
                              .refusal = "-pc_vpatchdg_colors %s: a sweep goes through 0 (all) to 32 colours"),
  [VP_PC_CELL_SWEEPS] =
    VP_SETTING(INT, PC_VPatchDG, options.cell_sweeps, PETSC_DECIDE, "-pc_vpatchdg_cell_sweeps", NULL, "sweeps of cells",
               "Sweeps of single cells after one of patches; -1: by the coefficient", .least = PETSC_DECIDE, .most = 100,
               .refusal = "-pc_vpatchdg_cell_sweeps %s: 0 to 100 sweeps of single cells follow one of patches"),
  [VP_PC_CELL_RATIO] =
    VP_SETTING(REAL, PC_VPatchDG, options.cell_ratio, PETSC_DECIDE, "-pc_vpatchdg_cell_sweep_ratio", NULL, "ratio for sweeps of cells",
               "Sweep cells of patches that are more times too stiff; 0: all; -1: 1.1 with volumes, else 0", .least = PETSC_DECIDE,
               .refusal = "-pc_vpatchdg_cell_sweep_ratio %s: the ratio is -1 (chosen), 0 or more"),
  [VP_PC_LEVELS] = VP_SETTING(INT, PC_VPatchDG, options.levels, PETSC_DECIDE, "-pc_vpatchdg_levels", "PCVPatchDGSetLevels",
                              "number of levels", "Levels, 0: all; -1: on GPUs what takes least time, else all", .least = PETSC_DECIDE,
                              .refusal = "-pc_vpatchdg_levels %s: the number of levels is -1 (chosen), 0 (all) or more"),
  [VP_PC_COARSENING] = VP_SETTING(ENUM, PC_VPatchDG, options.coarsening, VP_COARSEN_LOCAL, "-pc_vpatchdg_coarsening", NULL, "coarsening",
                                  "Where cells merge on coarser levels", .names = VpCoarsenNames),
  [VP_PC_METRIC] = VP_SETTING(ENUM, PC_VPatchDG, inverse.metric, VP_METRIC_AUTO, "-pc_vpatchdg_metric", NULL, "metric",
                              "What the cycle knows of maps and of coefficients at points: means over cells or boxes; auto: by the price",
                              .names = VpMetricNames),
  [VP_PC_PRECISION] = VP_SETTING(ENUM, PC_VPatchDG, choice.asked, VPATCHDG_PRECISION_AUTO, "-pc_vpatchdg_precision",
                                 "PCVPatchDGSetPrecision", "precision", "Of the whole cycle", .names = VPatchDGPrecisions),
  [VP_PC_EXCHANGE] = VP_SETTING(ENUM, PC_VPatchDG, options.exchange, VP_EXCHANGE_AUTO, "-pc_vpatchdg_exchange", NULL, "exchange",
                                "How often ranks exchange", .names = VpExchangeNames),
  [VP_PC_COARSE] = VP_SETTING(ENUM, PC_VPatchDG, options.coarse, VPATCHDG_COARSE_AUTO, "-pc_vpatchdg_coarse", "PCVPatchDGSetCoarse",
                              "coarsest level", "How the coarsest level is solved", .names = VPatchDGCoarses),
  [VP_PC_HANDOVER] =
    VP_SETTING(REAL, PC_VPatchDG, options.handover, 0, "-pc_vpatchdg_handover_ratio", NULL, "hand-over ratio",
               "Contrast in a coarse cell from which on finite volumes take over; 0: 3, or 10 in 3D at degree 1; on GPUs 30",
               .refusal = "-pc_vpatchdg_handover_ratio %s: the ratio is 0 (chosen) or more; 1e99: never"),
  [VP_PC_GATHER] =
    VP_SETTING(INT, PC_VPatchDG, options.gather, PETSC_DECIDE, "-pc_vpatchdg_gather", NULL, "size to gather from",
               "Levels with fewer cells per rank gather on fewer ranks; -1: 4096 on GPUs, those of 500 unknowns on the host",
               .least = PETSC_DECIDE, .refusal = "-pc_vpatchdg_gather %s: the number of cells per rank is 0 (never) or more"),
  [VP_PC_REPLAY] = VP_SETTING(BOOL, PC_VPatchDG, options.replay, PETSC_TRUE, "-pc_vpatchdg_replay", NULL, "replay",
                              "A GPU runs the cycle as a recorded CUDA graph", .names = PetscBools)};
const VpSettings PCVPatchDGSettings = {PCVPATCHDG, VP_PC_SETTINGS, row};

/*@
   PCVPatchDGSetSpace - Sets the space of functions that a patch corrects

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  space - `VPATCHDG_SPACE_FULL` (all functions on its cells), `VPATCHDG_SPACE_DIRICHLET` (those that vanish on its sides) or
           `VPATCHDG_SPACE_CLAMPED` (those whose normal derivative also vanishes there)

   Level: intermediate

   Note:
   These conditions hold on sides inside the domain. No space constrains functions on the boundary of the domain. clamped needs degree 3 or
   more.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetSpace()`
@*/
PetscErrorCode PCVPatchDGSetSpace(PC pc, VPatchDGSpace space)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_SPACE, space);
}

/*@
   PCVPatchDGGetSpace - Gets the space of functions that a patch corrects

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  space - as in `PCVPatchDGSetSpace()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetSpace()`
@*/
PetscErrorCode PCVPatchDGGetSpace(PC pc, VPatchDGSpace *space)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_SPACE, space, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetPrecision - Sets the precision of the cycle

   Logically Collective

   Input Parameters:
+  pc        - the preconditioner
-  precision - `VPATCHDG_PRECISION_AUTO`, `VPATCHDG_PRECISION_SINGLE` or `VPATCHDG_PRECISION_DOUBLE`; the KSP always works in double
               precision

   Level: intermediate

   Notes:
   A cycle in single precision is about twice as fast, but not exactly linear. With some KSPs the computed residual then deviates from the
   true residual of the solution, which stalls near cond(A) 6e-8. auto chooses single precision for KSPs in which both agree, and double
   precision for all others.

   auto chooses single for `KSPFGMRES`, `KSPPIPEFGMRES`, `KSPGCR`, `KSPRICHARDSON`, `KSPCHEBYSHEV`, `KSPFCG`, `KSPVPATCHDGFCG`,
   `KSPBICG`, `KSPFBCGS`, `KSPFBCGSR` and `KSPQMRCGS`. If the cycle is symmetric (`PCVPatchDGSetSymmetric()`), it also chooses single
   for `KSPCG`, `KSPNASH`, `KSPSTCG` and `KSPGLTR`.

   auto chooses double for `KSPPREONLY` and for KSPs that are part of a preconditioner (`PCKSP`, `PCMG`, `PCFIELDSPLIT`, ...). A KSP that is
   not outermost and has a prefix counts as such a part. auto also chooses double if `PCApply()` is called without a KSP. In these cases the
   outer solver would have to be flexible, and its type is not known here. If it is flexible, set single.

   auto reads the KSP's type from -ksp_type in the options database when it reads its own options; otherwise it learns the type when the KSP
   begins to solve. The cycle is then built at the beginning of the first solve, not by `KSPSetUp()`. It is built again if a KSP that needs
   double precision follows one that does not.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetPrecision()`
@*/
PetscErrorCode PCVPatchDGSetPrecision(PC pc, VPatchDGPrecision precision)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_PRECISION, precision);
}

/*@
   PCVPatchDGGetPrecision - Gets the precision that was set

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  precision - as in `PCVPatchDGSetPrecision()`; -ksp_view shows the choice of auto

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetPrecision()`
@*/
PetscErrorCode PCVPatchDGGetPrecision(PC pc, VPatchDGPrecision *precision)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_PRECISION, precision, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetSymmetric - Sets whether the cycle is symmetric

   Logically Collective

   Input Parameters:
+  pc        - the preconditioner
-  symmetric - `PETSC_TRUE` for a symmetric cycle, which `KSPCG` and `KSPMINRES` need; `PETSC_FALSE` by default

   Level: intermediate

   Note:
   A symmetric cycle takes the colours in reverse order before the coarse correction. It makes as many sweeps before as after the coarse
   correction, and at least one. By default it makes one sweep before and one after; `PCVPatchDGSetSmooth()` sets other numbers.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetSymmetric()`
@*/
PetscErrorCode PCVPatchDGSetSymmetric(PC pc, PetscBool symmetric)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_SYMMETRIC, symmetric);
}

/*@
   PCVPatchDGGetSymmetric - Gets whether the cycle is symmetric

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  symmetric - as in `PCVPatchDGSetSymmetric()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetSymmetric()`
@*/
PetscErrorCode PCVPatchDGGetSymmetric(PC pc, PetscBool *symmetric)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_SYMMETRIC, symmetric, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetSmooth - Sets the numbers of sweeps before and after the coarse correction

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
.  pre  - number of sweeps before the coarse correction, 0 or more, or `PETSC_DECIDE`
-  post - number of sweeps after it, 0 or more

   Level: intermediate

   Note:
   `PETSC_DECIDE` is the default of pre. A cycle then makes no sweep before the coarse correction. A symmetric cycle
   (`PCVPatchDGSetSymmetric()`) then makes max(1, post) sweeps before and as many after the coarse correction.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetSmooth()`
@*/
PetscErrorCode PCVPatchDGSetSmooth(PC pc, PetscInt pre, PetscInt post)
{
  PetscFunctionBegin;
  PetscCall(VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_SMOOTH_PRE, (PetscReal)pre));
  PetscCall(VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_SMOOTH_POST, (PetscReal)post));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCVPatchDGGetSmooth - Gets the numbers of sweeps before and after the coarse correction

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameters:
+  pre  - number of sweeps before the coarse correction as in `PCVPatchDGSetSmooth()`, which may be `PETSC_DECIDE`, or `NULL`
-  post - number of sweeps after it, or `NULL`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetSmooth()`
@*/
PetscErrorCode PCVPatchDGGetSmooth(PC pc, PetscInt *pre, PetscInt *post)
{
  PetscFunctionBegin;
  PetscCall(VpPCBaseCheckType(pc, PCVPATCHDG));
  if (pre) PetscCall(VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_SMOOTH_PRE, pre, PETSC_FUNCTION_NAME));
  if (post) PetscCall(VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_SMOOTH_POST, post, PETSC_FUNCTION_NAME));
  PetscFunctionReturn(PETSC_SUCCESS);
}
