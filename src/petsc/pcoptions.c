/* The settings of PCVPATCHDG: which go together, options, setters and getters. Setters do nothing to a PC of another type. */
#include "pcimpl.h"

/* patch spaces and residuals that go together, for PCVPATCH as well */
PetscErrorCode VpCheckSpace(MPI_Comm comm, const char prefix[], VpSpace space, VpResidual residual, int degree)
{
  PetscFunctionBegin;
  PetscCheck(space != VP_SPACE_FULL || residual != VP_RESIDUAL_LOCAL, comm, PETSC_ERR_ARG_INCOMP,
             "-%s_residual local does not exist with -%s_space full: functions of a full patch see the neighbours' values and derivatives "
             "on its sides. "
             "Use the residual exact or global, or the space dirichlet or clamped",
             prefix, prefix);
  PetscCheck(space != VP_SPACE_CLAMPED || degree >= 3, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-%s_space clamped needs degree 3 or more: with degree %d the patches do not span the space and nothing converges. Use full "
             "or dirichlet",
             prefix, degree);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGCheckOptions(PC pc, VpMesh mesh, const VpProblem *problem)
{
  const VpCycleOptions *o = &((PC_VPatchDG *)pc->data)->options;
  MPI_Comm              comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(mesh->level >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_type vpatchdg needs boxes that are refined: -dm_refine 1 or more");
  PetscCheck(o->levels <= mesh->level, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vpatchdg_levels %" PetscInt_FMT ": boxes refined %d times have %d levels at most", o->levels, mesh->level, mesh->level);
  PetscCall(VpCheckSpace(comm, "pc_vpatchdg", o->space, o->residual, problem->degree));
  PetscCheck(o->pre + o->post >= 1, comm, PETSC_ERR_ARG_INCOMP,
             "A cycle without smoothing does not converge: -pc_vpatchdg_smooth_pre, -pc_vpatchdg_smooth_post 1 or more");
  if (!o->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(o->pre == o->post, comm, PETSC_ERR_ARG_INCOMP,
             "-pc_vpatchdg_symmetric needs as many sweeps before as after the coarse correction, not %" PetscInt_FMT " and %" PetscInt_FMT
             ": set -pc_vpatchdg_smooth_pre, -pc_vpatchdg_smooth_post",
             o->pre, o->post);
  PetscCheck(o->residual != VP_RESIDUAL_LOCAL || o->space == VP_SPACE_CLAMPED, comm, PETSC_ERR_ARG_INCOMP,
             "-pc_vpatchdg_symmetric needs -pc_vpatchdg_residual exact: with local residuals the reversed sweep is not the adjoint");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetOptions(PC pc, VpCycleOptions **options)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVPATCHDG, &same));
  *options = same ? &((PC_VPatchDG *)pc->data)->options : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MustGetOptions(PC pc, VpCycleOptions **options)
{
  PetscFunctionBegin;
  PetscCall(GetOptions(pc, options));
  PetscCheck(*options, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "The PC is of type %s, not " PCVPATCHDG,
             ((PetscObject)pc)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a pair of functions for a member of VpCycleOptions that corresponds to an enum of vpatchdg.h, value for value */
#define ENUM_OPTION(Name, Public, Internal, member, number) \
  PetscErrorCode PCVPatchDGSet##Name(PC pc, Public value) \
  { \
    VpCycleOptions *options; \
 \
    PetscFunctionBegin; \
    PetscCall(GetOptions(pc, &options)); \
    PetscValidLogicalCollectiveEnum(pc, value, 2); \
    PetscCheck((int)value >= 0 && (int)value < (number), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, \
               "PCVPatchDGSet" #Name "(): value %d does not exist, 0 to %d do (" #Public ")", (int)value, (number)-1); \
    if (!options || options->member == (Internal)value) PetscFunctionReturn(PETSC_SUCCESS); \
    options->member = (Internal)value; \
    PetscCall(VpInverseChanged(pc)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
 \
  PetscErrorCode PCVPatchDGGet##Name(PC pc, Public *value) \
  { \
    VpCycleOptions *options; \
 \
    PetscFunctionBegin; \
    PetscCall(MustGetOptions(pc, &options)); \
    *value = (Public)options->member; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/* -pc_vpatchdg_space full|dirichlet|clamped: functions a patch corrects: all; those 0 on its sides; and their normal derivatives, too */
ENUM_OPTION(Space, VPatchDGSpace, VpSpace, space, 3)
/* -pc_vpatchdg_residual exact|local|global: what a patch sees of its neighbours: all; nothing; all, by a product with A for every colour */
ENUM_OPTION(Residual, VPatchDGResidual, VpResidual, residual, 3)
/* -pc_vpatchdg_cycle_type v|w */
ENUM_OPTION(CycleType, VPatchDGCycleType, VpCycleType, type, 2)
/* -pc_vpatchdg_precision single|double: of the whole cycle; the KSP works in double */
ENUM_OPTION(Precision, VPatchDGPrecision, VpPrecision, precision, 2)
/* -pc_vpatchdg_exchange sweep|color: how often ranks exchange: every sweep, doing their neighbours' outermost patches, too; every colour */
ENUM_OPTION(Exchange, VPatchDGExchange, VpExchange, exchange, 2)
/* -pc_vpatchdg_symmetric: reversed colours before the coarse correction make the cycle symmetric, for KSPCG; needs pre = post >= 1 */
ENUM_OPTION(Symmetric, PetscBool, PetscBool, symmetric, 2)

/* -pc_vpatchdg_smooth_pre, -pc_vpatchdg_smooth_post: sweeps before and after the coarse correction */
PetscErrorCode PCVPatchDGSetSmooth(PC pc, PetscInt pre, PetscInt post)
{
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(GetOptions(pc, &options));
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

PetscErrorCode PCVPatchDGGetSmooth(PC pc, PetscInt *pre, PetscInt *post)
{
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(MustGetOptions(pc, &options));
  if (pre) *pre = options->pre;
  if (post) *post = options->post;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -pc_vpatchdg_levels: levels of the cycle, 0: down to boxes refined once */
PetscErrorCode PCVPatchDGSetLevels(PC pc, PetscInt levels)
{
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(GetOptions(pc, &options));
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  PetscCheck(levels >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The number of levels must not be negative: %" PetscInt_FMT, levels);
  if (!options || options->levels == levels) PetscFunctionReturn(PETSC_SUCCESS);
  options->levels = levels;
  PetscCall(VpInverseChanged(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGGetLevels(PC pc, PetscInt *levels)
{
  VpCycleOptions *options;

  PetscFunctionBegin;
  PetscCall(MustGetOptions(pc, &options));
  *levels = options->levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_VPatchDG(PC pc, VpOptionItems PetscOptionsObject)
{
  const VpCycleOptions o = ((PC_VPatchDG *)pc->data)->options;
  PetscEnum            value;
  PetscInt             pre = o.pre, post = o.post, levels;
  PetscBool            symmetric, set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Vertex-patch multigrid options");
  PetscCall(PetscOptionsEnum("-pc_vpatchdg_space", "Functions a patch corrects", "PCVPatchDGSetSpace", VPatchDGSpaces, (PetscEnum)o.space,
                             &value, &set));
  if (set) PetscCall(PCVPatchDGSetSpace(pc, (VPatchDGSpace)value));
  PetscCall(PetscOptionsEnum("-pc_vpatchdg_residual", "What a patch sees of its neighbours", "PCVPatchDGSetResidual", VPatchDGResiduals,
                             (PetscEnum)o.residual, &value, &set));
  if (set) PetscCall(PCVPatchDGSetResidual(pc, (VPatchDGResidual)value));
  PetscCall(
    PetscOptionsBoundedInt("-pc_vpatchdg_smooth_pre", "Sweeps before the coarse correction", "PCVPatchDGSetSmooth", pre, &pre, NULL, 0));
  PetscCall(
    PetscOptionsBoundedInt("-pc_vpatchdg_smooth_post", "Sweeps after the coarse correction", "PCVPatchDGSetSmooth", post, &post, NULL, 0));
  PetscCall(PCVPatchDGSetSmooth(pc, pre, post));
  PetscCall(PetscOptionsBool("-pc_vpatchdg_symmetric", "Reverse the colours before the coarse correction, for KSPCG",
                             "PCVPatchDGSetSymmetric", o.symmetric, &symmetric, &set));
  if (set) PetscCall(PCVPatchDGSetSymmetric(pc, symmetric));
  PetscCall(PetscOptionsEnum("-pc_vpatchdg_cycle_type", "V or W cycle", "PCVPatchDGSetCycleType", VPatchDGCycleTypes, (PetscEnum)o.type,
                             &value, &set));
  if (set) PetscCall(PCVPatchDGSetCycleType(pc, (VPatchDGCycleType)value));
  PetscCall(PetscOptionsBoundedInt("-pc_vpatchdg_levels", "Levels, 0: all", "PCVPatchDGSetLevels", o.levels, &levels, &set, 0));
  if (set) PetscCall(PCVPatchDGSetLevels(pc, levels));
  PetscCall(PetscOptionsEnum("-pc_vpatchdg_precision", "Of the whole cycle", "PCVPatchDGSetPrecision", VPatchDGPrecisions,
                             (PetscEnum)o.precision, &value, &set));
  if (set) PetscCall(PCVPatchDGSetPrecision(pc, (VPatchDGPrecision)value));
  PetscCall(PetscOptionsEnum("-pc_vpatchdg_exchange", "Ranks exchange every sweep or every color", "PCVPatchDGSetExchange",
                             VPatchDGExchanges, (PetscEnum)o.exchange, &value, &set));
  if (set) PetscCall(PCVPatchDGSetExchange(pc, (VPatchDGExchange)value));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
