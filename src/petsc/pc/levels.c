/* The setters and getters of PCVPATCHDG that say which levels there are and how they are worked on. */
#include "internal.h"

/*@
   PCVPatchDGSetCycleType - Sets the type of the cycle: V, W or F

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  type - `VPATCHDG_CYCLE_V` (one coarse correction on every level), `VPATCHDG_CYCLE_W` (two),
   `VPATCHDG_CYCLE_F` (an F cycle, then a V cycle) or `VPATCHDG_CYCLE_AUTO` (by the coefficient)

   Level: intermediate

   Notes:
   auto chooses v if coarse levels resolve the coefficient, for instance a constant one or one that jumps only between the coarsest cells.
   It also chooses v if the cycle is symmetric. It chooses f, or w with -pc_vpatchdg_line_search, if the coefficient varies by more than a
   factor of 3.5 among the cells that merge on some level below the finest and is not rough (`PCVPatchDGSetCellSweeps()`).

   W and F cycles repeat the coarse correction on a level if the next coarser level has at most 1/3.2 of the cells of the last level that
   repeated it and is not the coarsest level.

   An F cycle is not symmetric.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetCycleType()`, `PCVPatchDGSetLineSearch()`
@*/
PetscErrorCode PCVPatchDGSetCycleType(PC pc, VPatchDGCycleType type)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_CYCLE_TYPE, type);
}

/*@
   PCVPatchDGGetCycleType - Gets the type of the cycle

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  type - as in `PCVPatchDGSetCycleType()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetCycleType()`
@*/
PetscErrorCode PCVPatchDGGetCycleType(PC pc, VPatchDGCycleType *type)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_CYCLE_TYPE, type, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetLineSearch - Scales each coarse correction to minimise the error in the energy norm

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  search - `PETSC_TRUE` adds t e instead of the coarse correction e, where t = (e, r) / (e, A e); `PETSC_FALSE` by default

   Level: intermediate

   Notes:
   With -pc_vpatchdg_cycle_type w, a level corrects twice, each time from the remaining residual. This compensates for coarse levels that
   know only means of the coefficient. Use it for coefficients that vary from cell to cell. It gains nothing for constant coefficients or
   with V cycles.

   The cycle is then not a linear map. `KSPFGMRES`, `KSPRICHARDSON` and other flexible KSPs tolerate this; `KSPGMRES` and `KSPCG` do not.

   On several ranks, every scaled correction needs a global reduction. On a GPU, the cycle is not replayed as a graph
   (`PCVPatchDGSetReplay()`).

.seealso: `PCVPATCHDG`, `PCVPatchDGGetLineSearch()`, `PCVPatchDGSetCycleType()`, `DMVPatchDGSetCoefficient()`
@*/
PetscErrorCode PCVPatchDGSetLineSearch(PC pc, PetscBool search)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_LINE_SEARCH, search);
}

/*@
   PCVPatchDGGetLineSearch - Gets whether coarse corrections are scaled to minimise the error

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  search - as in `PCVPatchDGSetLineSearch()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetLineSearch()`
@*/
PetscErrorCode PCVPatchDGGetLineSearch(PC pc, PetscBool *search)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_LINE_SEARCH, search, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetExchange - Sets how often ranks exchange ghost values

   Logically Collective

   Input Parameters:
+  pc       - the preconditioner
-  exchange - `VPATCHDG_EXCHANGE_SWEEP` (once per sweep), `VPATCHDG_EXCHANGE_COLOR` (after every colour) or `VPATCHDG_EXCHANGE_AUTO`
              (depending on the number of cells)

   Level: intermediate

   Notes:
   auto exchanges after every colour on levels with thin cells, on levels with fewer than 4096 cells per rank, and on levels of adaptive
   meshes that cover a part of the domain if these have fewer than 1024 cells per rank. On all other levels it exchanges once per sweep.
   -ksp_view shows the choice for every level.

   Ranks repeat their neighbours' outermost patches in either case. In single precision, the finest level exchanges once more before the
   last colour of a sweep. The copies of a cell on several ranks differ by rounding errors, which would otherwise limit the residual.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetExchange()`
@*/
PetscErrorCode PCVPatchDGSetExchange(PC pc, VPatchDGExchange exchange)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_EXCHANGE, exchange);
}

/*@
   PCVPatchDGGetExchange - Gets how often ranks exchange ghost values

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  exchange - as in `PCVPatchDGSetExchange()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetExchange()`
@*/
PetscErrorCode PCVPatchDGGetExchange(PC pc, VPatchDGExchange *exchange)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_EXCHANGE, exchange, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetReplay - Sets whether a GPU may run the cycle as one recorded CUDA graph

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  replay - `PETSC_TRUE` (default) or `PETSC_FALSE`

   Level: advanced

   Notes:
   Without replay, -log_view shows the parts of the cycle.

   A graph can be recorded if no part of the cycle waits for the host: on one rank, or with messages through NCCL
   (`DMVPatchDGSetTransport()`). If the coarsest level has a KSP, a V cycle is recorded in two parts, before and after that KSP, and a W
   cycle is not recorded.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetReplay()`
@*/
PetscErrorCode PCVPatchDGSetReplay(PC pc, PetscBool replay)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_REPLAY, replay);
}

/*@
   PCVPatchDGGetReplay - Gets whether a GPU may run the cycle as one recorded CUDA graph

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  replay - as in `PCVPatchDGSetReplay()`

   Level: advanced

.seealso: `PCVPATCHDG`, `PCVPatchDGSetReplay()`
@*/
PetscErrorCode PCVPatchDGGetReplay(PC pc, PetscBool *replay)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_REPLAY, replay, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetLevels - Sets the number of levels

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  levels - number of levels including the finest, 1 or more; 0 for all levels that exist; `PETSC_DECIDE` (default) for the number that
            makes the cycle cheapest

   Level: intermediate

   Notes:
   On a GPU, a coarse level takes long for the little work that it does, and inverting a level can be cheaper. A level is inverted by fast
   diagonalisation if the boxes form a grid and the coefficient is constant, otherwise as a dense matrix of up to 10000 unknowns.
   `PETSC_DECIDE` inverts the level that saves most time, where 40 solves share the set-up of a dense matrix. Up to some million unknowns
   this may be the finest level, and two iterations are then enough. On CPUs `PETSC_DECIDE` uses all levels. -ksp_view shows the choice.

   Published iteration counts are for all levels.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetLevels()`, `PCVPatchDGSetCoarsening()`
@*/
PetscErrorCode PCVPatchDGSetLevels(PC pc, PetscInt levels)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_LEVELS, (PetscReal)levels);
}

/*@
   PCVPatchDGGetLevels - Gets the number of levels

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  levels - as in `PCVPatchDGSetLevels()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetLevels()`
@*/
PetscErrorCode PCVPatchDGGetLevels(PC pc, PetscInt *levels)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_LEVELS, levels, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetCoarsening - Sets how cells merge on coarser levels

   Logically Collective

   Input Parameters:
+  pc         - the preconditioner
-  coarsening - `VPATCHDG_COARSENING_LOCAL` (default: cells merge along the directions and in the boxes in which they are thin, and
                neighbouring boxes of one cell merge, down to one patch) or `VPATCHDG_COARSENING_FULL` (cells merge in all directions of all
                boxes, down to boxes that are refined once)

   Level: intermediate

   Notes:
   On one box of cubes both give the same levels. If cells are thin, full takes about 6/k times the aspect ratio in iterations at degree k.
   local takes as many iterations as on cubes, with levels that cost up to 1.5 times the work in 2D. -ksp_view shows the levels.

   Boxes merge only if their coefficients, the means over their cells, differ by at most a factor of 4. For a tensor, h/sqrt(a) is compared
   instead of h, so cells merge first along the direction of the largest coefficient.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetCoarsening()`, `PCVPatchDGSetLevels()`
@*/
PetscErrorCode PCVPatchDGSetCoarsening(PC pc, VPatchDGCoarsening coarsening)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_COARSENING, coarsening);
}

/*@
   PCVPatchDGGetCoarsening - Gets how cells merge on coarser levels

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  coarsening - as in `PCVPatchDGSetCoarsening()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetCoarsening()`
@*/
PetscErrorCode PCVPatchDGGetCoarsening(PC pc, VPatchDGCoarsening *coarsening)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_COARSENING, coarsening, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetCoarse - Sets how the coarsest level is solved

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  coarse - `VPATCHDG_COARSE_KSP` (a KSP on the assembled matrix, on the host), `VPATCHDG_COARSE_SWEEPS` (as many sweeps of the smoother as
            reduce an error by 1e-4, or a KSP if 24 sweeps do not), `VPATCHDG_COARSE_DENSE` (the exact inverse as a dense matrix of up to
            10000 unknowns), or `VPATCHDG_COARSE_AUTO` (the first method of the notes that is possible)

   Level: intermediate

   Note:
   auto takes the first of these methods whose conditions hold:
.vb
   exact inverse by fast diagonalisation  if the boxes form a grid, the coefficient is constant, and each rank of the level holds all of it
   exact inverse as a dense matrix        up to 10000 unknowns on a GPU, up to 512 on the host
   sweeps                                 on GPUs
   KSP                                    on the host
.ve
   If the solution is determined only up to a constant, sweeps does the same as ksp. Setting any option -vpatchdg_coarse_... of the KSP
   chooses ksp. On GPUs, dense needs the coarsest level on one rank, which is the default (`PCVPatchDGSetGather()`).

.seealso: `PCVPATCHDG`, `PCVPatchDGGetCoarse()`, `PCVPatchDGGetCoarseKSP()`
@*/
PetscErrorCode PCVPatchDGSetCoarse(PC pc, VPatchDGCoarse coarse)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_COARSE, coarse);
}

/*@
   PCVPatchDGGetCoarse - Gets how the coarsest level is solved

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  coarse - as in `PCVPatchDGSetCoarse()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetCoarse()`
@*/
PetscErrorCode PCVPatchDGGetCoarse(PC pc, VPatchDGCoarse *coarse)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_COARSE, coarse, PETSC_FUNCTION_NAME);
}

/*@
   PCVPatchDGSetGather - Sets the size below which coarse levels move to fewer ranks

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  cells - levels with fewer cells per rank than this move to fewer ranks, which then hold about this many cells each, down to one rank; 0
           for never; `PETSC_DECIDE` for the default

   Level: advanced

   Note:
   The number of iterations does not depend on this setting. A small level costs mostly latency: that of messages if several ranks share it,
   and on GPUs that of its kernels.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetGather()`, `PCVPatchDGSetExchange()`
@*/
PetscErrorCode PCVPatchDGSetGather(PC pc, PetscInt cells)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_GATHER, (PetscReal)cells);
}

/*@
   PCVPatchDGGetGather - Gets the size below which coarse levels move to fewer ranks

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  cells - as in `PCVPatchDGSetGather()`

   Level: advanced

.seealso: `PCVPATCHDG`, `PCVPatchDGSetGather()`
@*/
PetscErrorCode PCVPatchDGGetGather(PC pc, PetscInt *cells)
{
  return VpPCBaseGet(pc, &PCVPatchDGSettings, VP_PC_GATHER, cells, PETSC_FUNCTION_NAME);
}
