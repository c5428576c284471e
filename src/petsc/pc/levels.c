/* The setters and getters of PCVPATCHDG that say which levels there are and how they are worked on. */
#include "internal.h"

/*@
   PCVPatchDGSetCycleType - Chooses V, W or F cycles

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  type - `VPATCHDG_CYCLE_V` (one coarse correction on every level), `VPATCHDG_CYCLE_W` (two),
   `VPATCHDG_CYCLE_F` (an F cycle, then a V cycle) or `VPATCHDG_CYCLE_AUTO` (by the coefficient)

   Level: intermediate

   Notes:
   auto takes v where coarse levels follow the coefficient, as where it is constant or jumps along the coarsest cells, and where the cycle
   is symmetric. It takes f, or w with -pc_vpatchdg_line_search, where the coefficient varies by more than 3.5 among the cells that become
   one on some level below the finest and is not rough (`PCVPatchDGSetCellSweeps()`).

   A level corrects twice where the next one has at most 1/3.2 of the cells of the level that did so last, and is not the coarsest.

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
   PCVPatchDGSetLineSearch - Makes coarse corrections by as much as helps most

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  search - `PETSC_TRUE`: x += t e instead of x += e for a coarse correction e, where t = (e, r) / (e, A e) makes the
   error least in the energy norm

   Level: intermediate

   Notes:
   With -pc_vpatchdg_cycle_type w, a level corrects twice, each time from the residual that is left. That makes up for coarse levels that
   see a coefficient's means only: it is for coefficients that vary from cell to cell, and gains nothing where they are constant, or with V
   cycles.

   The cycle then is no linear map. `KSPFGMRES`, `KSPRICHARDSON` and other flexible KSPs tolerate that; `KSPGMRES` and `KSPCG` do not.

   On several ranks a step waits for sums over all of them, and a GPU does not replay the cycle.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetLineSearch()`, `PCVPatchDGSetCycleType()`, `DMVPatchDGSetCoefficient()`
@*/
PetscErrorCode PCVPatchDGSetLineSearch(PC pc, PetscBool search)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_LINE_SEARCH, search);
}

/*@
   PCVPatchDGGetLineSearch - Says whether coarse corrections are made by as much as helps most

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
   PCVPatchDGSetExchange - Sets how often ranks exchange

   Logically Collective

   Input Parameters:
+  pc       - the preconditioner
-  exchange - `VPATCHDG_EXCHANGE_SWEEP` (once a sweep), `VPATCHDG_EXCHANGE_COLOR` (after every colour) or `VPATCHDG_EXCHANGE_AUTO` (by the
number of cells)

   Level: intermediate

   Notes:
   auto exchanges after every colour on levels with thin cells or with fewer than 4096 cells a rank (1024 on levels of adaptive meshes that
   cover a part of the domain), once a sweep on others.

   Ranks repeat their neighbours' outermost patches in either case. -ksp_view shows which one every level takes. In single precision the
   finest level exchanges once more before the last colour of a sweep, since the copies of a cell on several ranks differ by rounding
   errors, which its residual would show.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetExchange()`
@*/
PetscErrorCode PCVPatchDGSetExchange(PC pc, VPatchDGExchange exchange)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_EXCHANGE, exchange);
}

/*@
   PCVPatchDGGetExchange - Gets how often ranks exchange

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
   PCVPatchDGSetReplay - Lets a GPU run the cycle as one recorded CUDA graph

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  replay - `PETSC_TRUE` (default) or `PETSC_FALSE`

   Level: advanced

   Notes:
   Without replay -log_view shows the parts of the cycle.

   A graph is recorded where no part of the cycle waits for the host: on one rank, or with messages by NCCL (`DMVPatchDGSetTransport()`).
   Where the coarsest level has a KSP, a V cycle is recorded in two parts, before and after that KSP, and a W cycle is not.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetReplay()`
@*/
PetscErrorCode PCVPatchDGSetReplay(PC pc, PetscBool replay)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_REPLAY, replay);
}

/*@
   PCVPatchDGGetReplay - Says whether a GPU may run the cycle as one recorded CUDA graph

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
-  levels - number of levels, the finest among them, 1 or more; 0 takes all that there are, `PETSC_DECIDE` (default) as many as make the
cycle cheapest

   Level: intermediate

   Notes:
   On a GPU coarse levels take long for the little that they do. Levels can be inverted there: by fast diagonalisation where boxes form a
   grid and the coefficient is constant, else as a dense matrix of up to 10000 unknowns. `PETSC_DECIDE` inverts the level that saves most
   time. Up to some million unknowns that may be the finest, and two iterations are enough then. On CPUs all levels are taken. -ksp_view
   shows what was chosen.

   All levels are what published iteration counts are for.

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
   PCVPatchDGSetCoarsening - Sets where cells merge on coarser levels

   Logically Collective

   Input Parameters:
+  pc         - the preconditioner
-  coarsening - `VPATCHDG_COARSENING_LOCAL` (default: cells merge along directions and in boxes where they are thin, and
   neighbouring boxes of one cell merge, down to one patch) or `VPATCHDG_COARSENING_FULL` (in all directions
   of all boxes, down to boxes refined once)

   Level: intermediate

   Notes:
   On one box of cubes both give the same levels. Where cells are thin, full takes about 6/k times the aspect ratio in iterations at degree
   k, local as many as on cubes, for levels of up to 1.5 times the work in 2D. -ksp_view shows the levels.

   Where there is a coefficient, boxes are merged if theirs, means over their cells, are 4 times each other at most. Of
   a tensor h/sqrt(a) is compared, so cells merge first along the direction in which they conduct best.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetCoarsening()`, `PCVPatchDGSetLevels()`
@*/
PetscErrorCode PCVPatchDGSetCoarsening(PC pc, VPatchDGCoarsening coarsening)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_COARSENING, coarsening);
}

/*@
   PCVPatchDGGetCoarsening - Gets where cells merge on coarser levels

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
reduce an error by 1e-4, or a KSP where 24 do not), `VPATCHDG_COARSE_DENSE` (the exact inverse as a dense matrix, up to
10000 unknowns), or `VPATCHDG_COARSE_AUTO` (the exact inverse, by fast diagonalisation, where the boxes form a grid, the coefficient is
constant and each of the level's ranks holds all of it; otherwise as a dense matrix where there are few unknowns, 10000 on a GPU, 512 on the
host; otherwise on one GPU the exact inverse where a grid lacks boxes and what they left has Dirichlet sides; otherwise sweeps on GPUs and a
KSP on the host)

   Level: intermediate

   Note:
   Where the solution is determined up to a constant only, sweeps does what ksp does. Any option of the KSP, -vpatchdg_coarse_..., asks
   for ksp. dense needs the coarsest level on one rank where GPUs do the work, which is so unless `PCVPatchDGSetGather()` says otherwise.

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
   PCVPatchDGSetGather - Sets from which size on coarse levels gather on fewer ranks

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  cells - levels with fewer cells a rank than this move to fewer ranks, which then hold about this many cells each, down to one rank; 0:
never; `PETSC_DECIDE`: the default

   Level: advanced

   Note:
   The iterations do not depend on it. A small level costs mostly latency: that of messages where ranks share it, and on GPUs that of its
   kernels.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetGather()`, `PCVPatchDGSetExchange()`
@*/
PetscErrorCode PCVPatchDGSetGather(PC pc, PetscInt cells)
{
  return VpPCBaseSet(pc, &PCVPatchDGSettings, VP_PC_GATHER, (PetscReal)cells);
}

/*@
   PCVPatchDGGetGather - Gets from which size on coarse levels gather on fewer ranks

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
