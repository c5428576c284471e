/* The settings of PCVPATCHDG that say which levels there are and how they are worked on. */
#include "../pcimpl.h"

#define ENUM_OPTION(Name, Public, Internal, member, number) \
  VP_ENUM_SETTING(PCVPatchDG, VpCycleOptions, PCVPatchDGGetOptions, Name, Public, Internal, member, number)

/*@
   PCVPatchDGSetExchange - Sets how often ranks exchange

   Logically Collective

   Input Parameters:
+  pc       - the preconditioner
-  exchange - `VPATCHDG_EXCHANGE_SWEEP` (once a sweep: ranks repeat their neighbours' outermost patches), `VPATCHDG_EXCHANGE_COLOR` (after
every colour: nothing is done twice) or `VPATCHDG_EXCHANGE_AUTO` (by the number of cells)

   Options Database Key:
.  -pc_vpatchdg_exchange auto|sweep|color - auto (default): every colour on levels with less than 4096 cells a rank, every sweep on others

   Level: intermediate

   Note:
   -ksp_view shows which one every level takes. In single precision the finest level exchanges once more before the last colour of a sweep,
   since the copies of a cell on several ranks differ by rounding errors, which its residual would show.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetExchange()`
@*/

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
ENUM_OPTION(Exchange, VPatchDGExchange, VpExchange, exchange, 3)

/*@
   PCVPatchDGSetReplay - Lets a GPU run the cycle as one recorded CUDA graph

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  replay - `PETSC_TRUE` (default) or `PETSC_FALSE`

   Options Database Key:
.  -pc_vpatchdg_replay - replays; without it -log_view shows the parts of the cycle

   Level: advanced

   Note:
   A graph is recorded where no part of the cycle waits for the host: on one rank, or with messages by NCCL (`DMVPatchDGSetTransport()`).
   Where the coarsest level has a KSP, a V cycle is recorded in two parts, before and after that KSP, and a W cycle is not.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetReplay()`
@*/

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
ENUM_OPTION(Replay, PetscBool, PetscBool, replay, 2)

/*@
   PCVPatchDGSetLevels - Sets the number of levels

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  levels - number of levels, the finest among them, 1 to the number of refinements; 0 (default) takes all

   Options Database Key:
.  -pc_vpatchdg_levels n - the number, 0 by default

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGGetLevels()`
@*/
PetscErrorCode PCVPatchDGSetLevels(PC pc, PetscInt levels)
{
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(PCVPatchDGGetOptions(pc, PETSC_FALSE, &options));
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  PetscCheck(levels >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The number of levels must not be negative: %" PetscInt_FMT, levels);
  if (!options || options->levels == levels) PetscFunctionReturn(PETSC_SUCCESS);
  options->levels = levels;
  PetscCall(VpInverseChanged(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(PCVPatchDGGetOptions(pc, PETSC_TRUE, &options));
  VpAssertPointer(levels, 2);
  *levels = options->levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCVPatchDGSetCoarse - Sets how the coarsest level is solved

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  coarse - `VPATCHDG_COARSE_KSP` (a KSP on the assembled matrix, on the host), `VPATCHDG_COARSE_SWEEPS` (as many sweeps of the smoother as
reduce an error by 1e-4, or a KSP where 24 do not), or `VPATCHDG_COARSE_AUTO` (the exact inverse, by fast diagonalisation, where the boxes
form a grid, the coefficient is constant and each of the level's ranks holds all of it; otherwise sweeps on GPUs and a KSP on the host)

   Options Database Key:
.  -pc_vpatchdg_coarse auto|sweeps|ksp - by default auto

   Level: intermediate

   Note:
   Where the solution is determined up to a constant only, sweeps does what ksp does. Any option of the KSP, -vpatchdg_coarse_..., asks
   for ksp.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetCoarse()`, `PCVPatchDGGetCoarseKSP()`
@*/

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
ENUM_OPTION(Coarse, VPatchDGCoarse, VpCoarseType, coarse, 3)

/*@
   PCVPatchDGSetGather - Sets from which size on coarse levels gather on fewer ranks

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  cells - levels with fewer cells a rank than this move to fewer ranks, which then hold about this many cells each, down to one rank; 0:
never; `PETSC_DECIDE`: the default

   Options Database Key:
.  -pc_vpatchdg_gather n - the number; by default 4096 on GPUs, 0 on the host

   Level: advanced

   Note:
   The iterations do not depend on it. A small level costs mostly latency on GPUs: that of its kernels, and of messages where ranks share
   it.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetGather()`, `PCVPatchDGSetExchange()`
@*/
PetscErrorCode PCVPatchDGSetGather(PC pc, PetscInt cells)
{
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(PCVPatchDGGetOptions(pc, PETSC_FALSE, &options));
  PetscValidLogicalCollectiveInt(pc, cells, 2);
  PetscCheck(cells >= 0 || cells == PETSC_DECIDE, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vpatchdg_gather %" PetscInt_FMT ": the number of cells a rank is 0 (never) or more", cells);
  if (!options || options->gather == cells) PetscFunctionReturn(PETSC_SUCCESS);
  options->gather = cells;
  PetscCall(VpInverseChanged(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(PCVPatchDGGetOptions(pc, PETSC_TRUE, &options));
  VpAssertPointer(cells, 2);
  *cells = options->gather;
  PetscFunctionReturn(PETSC_SUCCESS);
}
