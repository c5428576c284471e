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
   It also chooses v if the cycle is symmetric or ends with finite volumes. It chooses f if the coefficient varies by more than a
   factor of 3.5 among the cells that merge on some level below the finest and is not rough (-pc_vpatchdg_cell_sweeps).

   W and F cycles repeat the coarse correction on a level if the next coarser level has at most 1/3.2 of the cells of the last level that
   repeated it and is not the coarsest level.

   An F cycle is not symmetric.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetCycleType()`
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

.seealso: `PCVPATCHDG`, `PCVPatchDGGetLevels()`
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
   PCVPatchDGSetCoarse - Sets how the coarsest level is solved

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  coarse - `VPATCHDG_COARSE_KSP` (a KSP on the assembled matrix, on the host), `VPATCHDG_COARSE_SWEEPS` (as many sweeps of the smoother as
            reduce an error by 1e-4, or a KSP if 24 sweeps do not), `VPATCHDG_COARSE_DENSE` (the exact inverse as a dense matrix of up to
            10000 unknowns), `VPATCHDG_COARSE_VOLUMES` (finite volumes, one unknown per cell, with an algebraic multigrid; then a
            sweep), `VPATCHDG_COARSE_STEPS` (two steps of `KSPGCR`, in each of them finite volumes and a sweep), or
            `VPATCHDG_COARSE_AUTO` (the first method of the notes that is possible)

   Level: intermediate

   Note:
   auto takes the first of these methods whose conditions hold:
.vb
   exact inverse by fast diagonalisation  if the boxes form a grid, the coefficient is constant, and each rank of the level holds all of it
   exact inverse as a dense matrix        up to 10000 unknowns on a GPU, up to 512 on the host
   finite volumes                         if the next level would join coefficients that differ by more than -pc_vpatchdg_handover_ratio
   steps                                  on trees that meet in any way
   sweeps                                 on GPUs
   KSP                                    on the host
.ve
   Finite volumes are for coefficients that jump inside coarse cells. Their KSP is `KSPCG` with hypre's BoomerAMG on the host, if PETSc has
   it, else with `PCGAMG`. With KSPs that let the preconditioner change (`KSPFGMRES`, `KSPGCR`, `KSPFCG`, `KSPRICHARDSON`) it reduces the
   residual to a tenth, with others to 1e-10. On GPUs auto needs a PETSc with CUDA, for `MATAIJCUSPARSE` and `PCGAMG`; up to
   4000 cells on one GPU have a dense inverse there, unless options choose a KSP, a PC or a matrix. Where cells of an
   adaptive mesh that were refined join coefficients that differ too much, there is one problem of all cells, which comes before the
   levels. A symmetric cycle does without.

   If the solution is determined only up to a constant, sweeps does the same as ksp. Setting any option -vpatchdg_coarse_... of the KSP
   chooses ksp, or volumes where auto does. On GPUs, dense needs the coarsest level on one rank, which is the default (-pc_vpatchdg_gather).

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
