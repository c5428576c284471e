/* The settings of PCVPATCHDG that make its mathematics: setters and getters. Setters do nothing to a PC of another type. */
#include "../pcimpl.h"

PetscErrorCode PCVPatchDGGetData(PC pc, PetscBool must, PC_VPatchDG **data)
{
  PetscBool same;

  PetscFunctionBegin;
  VpAssertObject(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVPATCHDG, &same));
  PetscCheck(same || !must, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "The PC is of type %s, not " PCVPATCHDG,
             VpTypeName((PetscObject)pc));
  *data = same ? (PC_VPatchDG *)pc->data : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGGetOptions(PC pc, PetscBool must, VpCycleOptions **options)
{
  PC_VPatchDG *data;

  PetscFunctionBegin;
  PetscCall(PCVPatchDGGetData(pc, must, &data));
  *options = data ? &data->options : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define ENUM_OPTION(Name, Public, Internal, member, number) \
  VP_ENUM_SETTING(PCVPatchDG, VpCycleOptions, PCVPatchDGGetOptions, Name, Public, Internal, member, number)

/*@
   PCVPatchDGSetSpace - Sets which functions a patch corrects

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  space - `VPATCHDG_SPACE_FULL` (all functions on its cells), `VPATCHDG_SPACE_DIRICHLET` (those that are 0 on its sides) or
`VPATCHDG_SPACE_CLAMPED` (those whose normal derivative is 0 there, too)

   Options Database Key:
.  -pc_vpatchdg_space full|dirichlet|clamped - the space, full by default

   Level: intermediate

   Note:
   On the boundary of the domain functions of every space are free. clamped needs degree 3 or more.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetSpace()`
@*/

/*@
   PCVPatchDGGetSpace - Gets which functions a patch corrects

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  space - as in `PCVPatchDGSetSpace()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetSpace()`
@*/
ENUM_OPTION(Space, VPatchDGSpace, VpSpace, space, 3)

/*@
   PCVPatchDGSetResidual - Sets what a patch sees of its neighbours

   Logically Collective

   Input Parameters:
+  pc       - the preconditioner
-  residual - `VPATCHDG_RESIDUAL_EXACT` (values and normal derivatives on its sides, which is all that matters), `VPATCHDG_RESIDUAL_LOCAL`
(nothing) or `VPATCHDG_RESIDUAL_GLOBAL` (the same numbers as exact, by a product with A for every colour: slow, for checking)

   Options Database Key:
.  -pc_vpatchdg_residual exact|local|global - the residual, exact by default

   Level: intermediate

   Note:
   local exists for the spaces dirichlet and clamped only.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetResidual()`
@*/

/*@
   PCVPatchDGGetResidual - Gets what a patch sees of its neighbours

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  residual - as in `PCVPatchDGSetResidual()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetResidual()`
@*/
ENUM_OPTION(Residual, VPatchDGResidual, VpResidual, residual, 3)

/*@
   PCVPatchDGSetCycleType - Chooses V or W cycles

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  type - `VPATCHDG_CYCLE_V` (one coarse correction on every level, default) or `VPATCHDG_CYCLE_W` (two)

   Options Database Key:
.  -pc_vpatchdg_cycle_type v|w - the type, v by default

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGGetCycleType()`
@*/

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
ENUM_OPTION(CycleType, VPatchDGCycleType, VpCycleType, type, 2)

/*@
   PCVPatchDGSetPrecision - Sets the precision of the whole cycle

   Logically Collective

   Input Parameters:
+  pc        - the preconditioner
-  precision - `VPATCHDG_PRECISION_AUTO`, `VPATCHDG_PRECISION_SINGLE` or `VPATCHDG_PRECISION_DOUBLE`; the KSP works in double

   Options Database Key:
.  -pc_vpatchdg_precision auto|single|double - the precision, auto by default

   Level: intermediate

   Notes:
   A cycle in single precision is about twice as fast and not quite linear. Some KSPs then report a residual that is not that of their
   solution: the true one stalls near cond(A) 6e-8. auto is single with the KSPs that keep both together and double otherwise.

   Single are `KSPFGMRES`, `KSPPIPEFGMRES`, `KSPGCR`, `KSPRICHARDSON`, `KSPCHEBYSHEV`, `KSPFCG`, `KSPBICG`, `KSPFBCGS`, `KSPFBCGSR` and
   `KSPQMRCGS`, and, where the cycle is symmetric (`PCVPatchDGSetSymmetric()`), `KSPCG`, `KSPNASH`, `KSPSTCG` and `KSPGLTR`.

   Double are all others. So are `KSPPREONLY`, KSPs that are part of a preconditioner (of `PCKSP`, `PCMG`, `PCFIELDSPLIT`, ...; a KSP that is not
   outermost and has a prefix counts as one), and whatever calls `PCApply()` without a KSP: the solver around them would have to be flexible, and
   nothing is known of it. Where it is, ask for single.

   auto learns the KSP's type from -ksp_type in the options database when it reads its options, otherwise when the KSP begins to solve. In
   this case the cycle is built at the beginning of the first solve, not by `KSPSetUp()`. It is built once more where a KSP that needs double
   follows one that does not.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetPrecision()`
@*/

/*@
   PCVPatchDGGetPrecision - Gets the precision that was asked for

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  precision - as in `PCVPatchDGSetPrecision()`; -ksp_view shows what auto chose

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetPrecision()`
@*/
VP_ENUM_SETTING(PCVPatchDG, PC_VPatchDG, PCVPatchDGGetData, Precision, VPatchDGPrecision, VPatchDGPrecision, choice.asked, 3)

/*@
   PCVPatchDGSetSymmetric - Reverses the colours before the coarse correction

   Logically Collective

   Input Parameters:
+  pc        - the preconditioner
-  symmetric - `PETSC_TRUE` makes the cycle symmetric, as `KSPCG` and `KSPMINRES` need it; `PETSC_FALSE` by default

   Options Database Key:
.  -pc_vpatchdg_symmetric - symmetric

   Level: intermediate

   Note:
   Needs as many sweeps before as after the coarse correction, one at least, `PCVPatchDGSetSmooth()`.

.seealso: `PCVPATCHDG`, `PCVPatchDGGetSymmetric()`
@*/

/*@
   PCVPatchDGGetSymmetric - Says whether the cycle is symmetric

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  symmetric - as in `PCVPatchDGSetSymmetric()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetSymmetric()`
@*/
ENUM_OPTION(Symmetric, PetscBool, PetscBool, symmetric, 2)

/*@
   PCVPatchDGSetSmooth - Sets the numbers of sweeps

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
.  pre  - number of sweeps before the coarse correction, 0 or more
-  post - number of sweeps after it, 0 or more

   Options Database Keys:
+  -pc_vpatchdg_smooth_pre n  - before the coarse correction, 0 by default
-  -pc_vpatchdg_smooth_post n - after it, 1 by default

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGGetSmooth()`
@*/
PetscErrorCode PCVPatchDGSetSmooth(PC pc, PetscInt pre, PetscInt post)
{
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(PCVPatchDGGetOptions(pc, PETSC_FALSE, &options));
  PetscValidLogicalCollectiveInt(pc, pre, 2);
  PetscValidLogicalCollectiveInt(pc, post, 3);
  PetscCheck(pre >= 0 && post >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Numbers of sweeps must not be negative: %" PetscInt_FMT ", %" PetscInt_FMT, pre, post);
  if (!options || (options->pre == pre && options->post == post)) PetscFunctionReturn(PETSC_SUCCESS);
  options->pre = pre;
  options->post = post;
  PetscCall(VpInverseChanged(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCVPatchDGGetSmooth - Gets the numbers of sweeps

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameters:
+  pre  - number of sweeps before the coarse correction, or `NULL`
-  post - number of sweeps after it, or `NULL`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetSmooth()`
@*/
PetscErrorCode PCVPatchDGGetSmooth(PC pc, PetscInt *pre, PetscInt *post)
{
  VpCycleOptions *options = NULL;

  PetscFunctionBegin;
  PetscCall(PCVPatchDGGetOptions(pc, PETSC_TRUE, &options));
  if (pre) *pre = options->pre;
  if (post) *post = options->post;
  PetscFunctionReturn(PETSC_SUCCESS);
}
