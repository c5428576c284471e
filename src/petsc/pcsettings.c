/* The settings of PCVPATCHDG that make its mathematics: setters and getters. Setters do nothing to a PC of another type. */
#include "pcimpl.h"

PetscErrorCode PCVPatchDGGetOptions(PC pc, PetscBool must, VpCycleOptions **options)
{
  PetscBool same;

  PetscFunctionBegin;
  VpAssertObject(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVPATCHDG, &same));
  PetscCheck(same || !must, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "The PC is of type %s, not " PCVPATCHDG,
             VpTypeName((PetscObject)pc));
  *options = same ? &((PC_VPatchDG *)pc->data)->options : NULL;
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
-  precision - `VPATCHDG_PRECISION_SINGLE` or `VPATCHDG_PRECISION_DOUBLE`; the KSP works in double

   Options Database Key:
.  -pc_vpatchdg_precision single|double - the precision, single by default

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGGetPrecision()`
@*/

/*@
   PCVPatchDGGetPrecision - Gets the precision of the cycle

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  precision - as in `PCVPatchDGSetPrecision()`

   Level: intermediate

.seealso: `PCVPATCHDG`, `PCVPatchDGSetPrecision()`
@*/
ENUM_OPTION(Precision, VPatchDGPrecision, VpPrecision, precision, 2)

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
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(PCVPatchDGGetOptions(pc, PETSC_TRUE, &options));
  if (pre) *pre = options->pre;
  if (post) *post = options->post;
  PetscFunctionReturn(PETSC_SUCCESS);
}
