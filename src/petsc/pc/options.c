/* The options of PCVPATCHDG: which go together; each calls the setter of the same name (settings.c, levels.c). */
#include "../pcimpl.h"

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

static PetscErrorCode CheckAgreement(PC pc)
{
  const VpCycleOptions *o = &((PC_VPatchDG *)pc->data)->options;
  const VpSetting       settings[] = {{"patch space (-pc_vpatchdg_space)", (PetscReal)o->space, VPatchDGSpaces},
                                      {"residual (-pc_vpatchdg_residual)", (PetscReal)o->residual, VPatchDGResiduals},
                                      {"sweeps before (-pc_vpatchdg_smooth_pre)", (PetscReal)o->pre, NULL},
                                      {"sweeps after (-pc_vpatchdg_smooth_post)", (PetscReal)o->post, NULL},
                                      {"symmetry (-pc_vpatchdg_symmetric)", (PetscReal)o->symmetric, PetscBools},
                                      {"type of the cycle (-pc_vpatchdg_cycle_type)", (PetscReal)o->type, VPatchDGCycleTypes},
                                      {"number of levels (-pc_vpatchdg_levels)", (PetscReal)o->levels, NULL},
                                      {"precision (-pc_vpatchdg_precision)", (PetscReal)((PC_VPatchDG *)pc->data)->choice.asked, VPatchDGPrecisions},
                                      {"exchange (-pc_vpatchdg_exchange)", (PetscReal)o->exchange, VPatchDGExchanges},
                                      {"coarsest level (-pc_vpatchdg_coarse)", (PetscReal)o->coarse, VPatchDGCoarses},
                                      {"size to gather from (-pc_vpatchdg_gather)", (PetscReal)o->gather, NULL},
                                      {"replay (-pc_vpatchdg_replay)", (PetscReal)o->replay, PetscBools}};

  PetscFunctionBegin;
  PetscCall(VpCheckSame(PetscObjectComm((PetscObject)pc), (int)PETSC_STATIC_ARRAY_LENGTH(settings), settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGCheckOptions(PC pc, VpMesh mesh, const VpProblem *problem)
{
  const VpCycleOptions *o = &((PC_VPatchDG *)pc->data)->options;
  MPI_Comm              comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(CheckAgreement(pc));
  PetscCheck(mesh->level >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_type vpatchdg needs boxes that are refined: -dm_refine 1 or more");
  PetscCheck(o->levels <= mesh->level, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vpatchdg_levels %" PetscInt_FMT ": boxes refined %d times have %d levels at most", o->levels, mesh->level, mesh->level);
  PetscCall(VpCheckSpace(comm, "pc_vpatchdg", o->space, o->residual, problem->degree));
  PetscCheck(o->pre + o->post >= 1, comm, PETSC_ERR_ARG_INCOMP,
             "A cycle without smoothing does not converge: -pc_vpatchdg_smooth_pre, -pc_vpatchdg_smooth_post 1 or more");
  if (!o->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(o->pre == o->post, comm, PETSC_ERR_ARG_INCOMP,
             "-pc_vpatchdg_symmetric needs as many sweeps before as after the coarse correction, not %" PetscInt_FMT " and %" PetscInt_FMT
             ": -pc_vpatchdg_smooth_pre %" PetscInt_FMT " -pc_vpatchdg_smooth_post %" PetscInt_FMT,
             o->pre, o->post, PetscMax(o->pre, o->post), PetscMax(o->pre, o->post));
  PetscCheck(o->residual != VP_RESIDUAL_LOCAL || o->space == VP_SPACE_CLAMPED, comm, PETSC_ERR_ARG_INCOMP,
             "-pc_vpatchdg_symmetric needs -pc_vpatchdg_residual exact: with local residuals the reversed sweep is not the adjoint");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* who has an option for the coarse KSP wants one */
static PetscErrorCode CoarseOptions(PC pc)
{
  const char *prefix = ((PetscObject)pc)->prefix;
  char        name[256], *all, *found;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%svpatchdg_coarse_", prefix ? prefix : ""));
  PetscCall(PetscOptionsGetAll(((PetscObject)pc)->options, &all));
  PetscCall(PetscStrstr(all, name, &found));
  if (found) PetscCall(PCVPatchDGSetCoarse(pc, VPATCHDG_COARSE_KSP));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_VPatchDG(PC pc, VpOptionItems PetscOptionsObject)
{
  const VpCycleOptions o = ((PC_VPatchDG *)pc->data)->options;
  PetscEnum            value;
  PetscInt             pre = o.pre, post = o.post, levels, gather;
  PetscBool            symmetric, replay, warnings, set;

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
                             (PetscEnum)((PC_VPatchDG *)pc->data)->choice.asked, &value, &set));
  if (set) PetscCall(PCVPatchDGSetPrecision(pc, (VPatchDGPrecision)value));
  PetscCall(PCVPatchDGReadHint(pc));
  PetscCall(PetscOptionsEnum("-pc_vpatchdg_exchange", "How often ranks exchange", "PCVPatchDGSetExchange",
                             VPatchDGExchanges, (PetscEnum)o.exchange, &value, &set));
  if (set) PetscCall(PCVPatchDGSetExchange(pc, (VPatchDGExchange)value));
  PetscCall(PetscOptionsEnum("-pc_vpatchdg_coarse", "How the coarsest level is solved", "PCVPatchDGSetCoarse", VPatchDGCoarses,
                             (PetscEnum)o.coarse, &value, &set));
  if (set) PetscCall(PCVPatchDGSetCoarse(pc, (VPatchDGCoarse)value));
  else PetscCall(CoarseOptions(pc));
  PetscCall(PetscOptionsInt("-pc_vpatchdg_gather", "Levels with fewer cells a rank gather on fewer ranks; -1: 4096 on GPUs, 0 on the host",
                            "PCVPatchDGSetGather", o.gather, &gather, &set));
  if (set) PetscCall(PCVPatchDGSetGather(pc, gather));
  PetscCall(PetscOptionsBool("-pc_vpatchdg_replay", "A GPU runs the cycle as a recorded CUDA graph", "PCVPatchDGSetReplay", o.replay,
                             &replay, &set));
  if (set) PetscCall(PCVPatchDGSetReplay(pc, replay));
  if (((PetscObject)pc)->prefix) PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, NULL, "-vpatchdg_warnings", &warnings, NULL));
  else /* which -help shows */
    PetscCall(PetscOptionsBool("-vpatchdg_warnings", "Warn, with a prefix or without", NULL, PETSC_TRUE, &warnings, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
