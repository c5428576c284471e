/* Reads the options of PCVPATCHDG and checks their combinations. */
#include "internal.h"

PetscErrorCode VpCheckPatches(VpMesh mesh, VpSpace space, VpResidual residual, const char type[])
{
  PetscFunctionBegin;
  PetscCheck(
    !VpMeshIsAdaptive(mesh) || !mesh->geometry->domain->trees, mesh->comm, PETSC_ERR_SUP,
    "-pc_type %s works on trees that meet in any way if all of their cells are refined as often, and on boxes. Where only some are, "
    "use -pc_type jacobi, or -dm_mat_type aij with -pc_type gamg or hypre",
    type);
  PetscCheck(residual != VP_RESIDUAL_LOCAL || !mesh->geometry->domain->trees, mesh->comm, PETSC_ERR_SUP,
             "-pc_type %s: the residual local works on boxes, not on trees that meet in any way. Use the residual exact or global", type);
  PetscCheck(
    space != VP_SPACE_CLAMPED || !mesh->geometry->domain->trees, mesh->comm, PETSC_ERR_SUP,
    "-pc_type %s: the space clamped works on boxes. On trees that meet in any way its patches do not span the space: use the space full or "
    "dirichlet",
    type);
  PetscCheck(mesh->level > 0 || !mesh->geometry->domain->trees || strcmp(type, PCVPATCH), mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_type %s needs trees that are refined, so that every cell is in a patch: -dm_refine 1 or more", type);
  PetscCheck(VpMeshHasPatches(mesh), mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_type %s needs boxes that are refined, unless every one has neighbours: -dm_refine 1 or more", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCheckSpace(MPI_Comm comm, const char prefix[], VpSpace space, VpResidual residual, int degree)
{
  PetscFunctionBegin;
  PetscCheck(VpSpaceTakes(space, residual), comm, PETSC_ERR_ARG_INCOMP,
             "-%s_residual local does not exist with -%s_space full: functions of a full patch see the neighbours' values and derivatives "
             "on its sides. "
             "Use the residual exact or global, or the space dirichlet or clamped",
             prefix, prefix);
  PetscCheck(VpSpaceHas(space, degree), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-%s_space clamped needs degree 3 or more: with degree %d the patches do not span the space and nothing converges. Use full "
             "or dirichlet",
             prefix, degree);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error unless adaptive meshes support the options. */
static PetscErrorCode CheckAdaptive(PC pc, VpMesh mesh)
{
  const VpCycleOptions *o = &PCVPatchDGData(pc)->options;
  const PetscBool       handed = VpCycleHandsLeavesOver(VpCyclePartial(mesh), o);
  MPI_Comm              comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(o->space == VP_SPACE_FULL && o->residual == VP_RESIDUAL_EXACT, comm, PETSC_ERR_SUP,
             "On meshes of cells of different levels there are -pc_vpatchdg_space full and -pc_vpatchdg_residual exact");
  PetscCheck(!o->pre || o->symmetric, comm, PETSC_ERR_SUP,
             "On meshes of cells of different levels there are cycles with sweeps after the coarse correction, -pc_vpatchdg_smooth_pre 0, "
             "and symmetric ones, -pc_vpatchdg_symmetric");
  PetscCheck(
    !o->symmetric || !handed, comm, PETSC_ERR_SUP,
    "-pc_vpatchdg_symmetric: finite volumes of all cells of a refined mesh make no symmetric cycle. Leave it out and use -ksp_type "
    "fgmres, or leave -pc_vpatchdg_levels %" PetscInt_FMT " out",
    o->levels);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCVPatchDGChooseSweeps(PC pc)
{
  const PC_VPatchDG *data = pc->data;
  VpCycleOptions    *o = &PCVPatchDGData(pc)->options;

  o->pre = data->pre;
  o->post = data->post;
  if (data->pre != PETSC_DECIDE) return;
  if (o->symmetric) o->post = PetscMax(1, o->post);
  o->pre = o->symmetric ? o->post : 0;
}

PetscErrorCode PCVPatchDGCheckOptions(PC pc, VpMesh mesh, const VpProblem *problem)
{
  const VpCycleOptions *o = &PCVPatchDGData(pc)->options;
  MPI_Comm              comm = PetscObjectComm((PetscObject)pc);
  int                   most;

  PetscFunctionBegin;
  PetscCall(VpSettingsCheckSame(&PCVPatchDGSettings, comm, pc->data));
  PCVPatchDGChooseSweeps(pc);
  PetscCall(VpCheckPatches(mesh, o->space, o->residual, PCVPATCHDG));
  if (VpMeshIsAdaptive(mesh)) PetscCall(CheckAdaptive(pc, mesh));
  PetscCall(VpProblemCountLevels(mesh, problem, o->coarsening, &most, NULL));
  PetscCall(VpCycleCheckLevels(mesh, VpCycleAskedLevels(mesh, o), most + (int)VpCyclePartial(mesh)));
  PetscCall(VpCheckSpace(comm, "pc_vpatchdg", o->space, o->residual, problem->degree));
  PetscCheck(o->pre + o->post >= 1, comm, PETSC_ERR_ARG_INCOMP,
             "A cycle without smoothing does not converge: -pc_vpatchdg_smooth_pre, -pc_vpatchdg_smooth_post 1 or more");
  if (!o->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(
    o->type != VP_CYCLE_F, comm, PETSC_ERR_ARG_INCOMP,
    "-pc_vpatchdg_symmetric does not go with -pc_vpatchdg_cycle_type f, which corrects by an F cycle, then by a V cycle: use v or w");
  PetscCheck(o->pre == o->post, comm, PETSC_ERR_ARG_INCOMP,
             "-pc_vpatchdg_symmetric needs as many sweeps before as after the coarse correction, not %" PetscInt_FMT " and %" PetscInt_FMT
             ": -pc_vpatchdg_smooth_pre %" PetscInt_FMT " -pc_vpatchdg_smooth_post %" PetscInt_FMT,
             o->pre, o->post, PetscMax(o->pre, o->post), PetscMax(o->pre, o->post));
  PetscCheck(VpSpaceIsSymmetric(o->space, o->residual), comm, PETSC_ERR_ARG_INCOMP,
             "-pc_vpatchdg_symmetric needs -pc_vpatchdg_residual exact: with local residuals the reversed sweep is not the adjoint");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Any option of the coarse KSP selects a KSP, unless -pc_vpatchdg_coarse is given: that of finite volumes if these were chosen, or where
   auto hands over. */
static PetscErrorCode CoarseOptions(PC pc)
{
  VpCycleOptions *o = &PCVPatchDGData(pc)->options;
  char            name[256], *all, *found;
  PetscBool       set, chooses = (PetscBool)(o->coarse == VP_COARSE_AUTO || o->coarse_ksp);

  PetscFunctionBegin;
  o->coarse_ksp = PETSC_FALSE;
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, PCVPatchDGSettings.row[VP_PC_COARSE].option, &set));
  if (set || o->coarse == VP_COARSE_VOLUMES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%svpatchdg_coarse_", VpPrefix((PetscObject)pc)));
  PetscCall(PetscOptionsGetAll(((PetscObject)pc)->options, &all));
  PetscCall(PetscStrstr(all, name, &found));
  if (found) PetscCall(PCVPatchDGSetCoarse(pc, VPATCHDG_COARSE_KSP));
  o->coarse_ksp = (PetscBool)(found && chooses);
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An option of an earlier version is an error that names its successor. */
static PetscErrorCode CheckRemoved(PC pc)
{
  PetscBool search = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_vpatchdg_line_search", &search, NULL));
  PetscCheck(!search, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-%spc_vpatchdg_line_search was removed in version 0.3.0: use -%spc_vpatchdg_cycle_type f", VpPrefix((PetscObject)pc),
             VpPrefix((PetscObject)pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_VPatchDG(PC pc, VpOptionItems PetscOptionsObject)
{
  PetscBool warnings;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Vertex-patch multigrid options");
  PetscCall(VpPCBaseSetFromOptions(pc, &PCVPatchDGSettings, PetscOptionsObject));
  PetscCall(PCVPatchDGReadHint(pc));
  PetscCall(CoarseOptions(pc));
  PetscCall(CheckRemoved(pc));
  if (((PetscObject)pc)->prefix) PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, NULL, "-vpatchdg_warnings", &warnings, NULL));
  else /* for -help */
    PetscCall(PetscOptionsBool("-vpatchdg_warnings", "Warn, with a prefix or without", NULL, PETSC_TRUE, &warnings, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
