/* The coloured multiplicative vertex-patch smoother of a level. */
#include "patchproblems.h"
#include "smootherimpl.h"

/* Cells with a smaller ratio of two sizes are thin, and an exchange per colour saves iterations there. Cells of 2:1 are thin in 2D only. */
#define THIN(dim) ((dim) == 2 ? 0.51 : 0.49)

static VpResidualMode ChooseMode(VpLevel level, VpSpace space, VpResidual residual, PetscBool mixed)
{
  if (residual == VP_RESIDUAL_GLOBAL) return VP_MODE_GIVEN;
  if (residual == VP_RESIDUAL_LOCAL && !mixed) return VP_MODE_LOCAL;
  return space == VP_SPACE_FULL && VpLevelIsUniform(level) && !mixed ? VP_MODE_REPLACE : VP_MODE_CORRECT;
}

/* Adds patches to a colour, which are all mixed or all not mixed. They join the last batch if its patches are like them. */
static void AddBatch(const VpPatches *patches, int32_t first, int32_t last, VpResidualMode mode, VpStep *color)
{
  if (first == last) return;
  if (color->n && patches->mixed[first - 1] == patches->mixed[first]) color->batch[color->n - 1].last = last;
  else color->batch[color->n++] = (VpBatch){first, last, mode};
}

static void SetColors(VpLevel level, const VpPatches *patches, VpSpace space, VpResidual residual, Subset *subset)
{
  for (int c = 0; c < patches->ncolor; c++) {
    const int32_t end[] = {patches->start[c], patches->inner[c], patches->start[c + 1]};
    VpStep       *color = &subset->color[c];

    *color = (VpStep){VP_STEP_SWEEP, &subset->view[c / VP_COVER_COLORS], c % VP_COVER_COLORS, .inner = end[1]};
    for (int half = 0; half < 2; half++) {
      const int32_t mixed = VpPatchesFirstMixed(patches, end[half], end[half + 1]);

      AddBatch(patches, end[half], mixed, ChooseMode(level, space, residual, PETSC_FALSE), color);
      AddBatch(patches, mixed, end[half + 1], ChooseMode(level, space, residual, PETSC_TRUE), color);
    }
  }
}

/* Makes the views of colours whose bits are not in the first cover. */
static PetscErrorCode AddViews(VpLevel level, int ncolor, Subset *subset)
{
  PetscFunctionBegin;
  for (int k = 1; k * VP_COVER_COLORS < ncolor; k++) {
    VpPatchView *view = &subset->view[k];

    *view = subset->view[0];
    view->cover += (size_t)k * level->mesh->nlocal;
    view->plans = NULL;
    if (level->ops->prepare_patches) PetscCall(level->ops->prepare_patches(view));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the subset of all patches. */
static PetscErrorCode CreateWhole(VpSmoother smoother, const VpPatchProblems *problems, VpResidual residual)
{
  const VpLevel level = smoother->level;
  Subset       *all = &smoother->subset[SUBSET_ALL];

  PetscFunctionBegin;
  SetColors(level, problems->patches, problems->space, residual, all);
  PetscCall(VpPlacePatches(problems, &smoother->arrays, all->view));
  if (residual == VP_RESIDUAL_LOCAL)
    PetscCall(VpTogether(level->mesh->comm, VpLevelPlaceDrops(level, &smoother->arrays, &all->view->drop)));
  PetscCall(AddViews(level, smoother->ncolor, all));
  for (int32_t p = 0; all->view->replaceable && p < problems->patches->n; p++) all->nreplaceable += problems->replaceable[p] > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a subset of the patches near corners or level ends. */
static PetscErrorCode CreateNear(VpSmoother smoother, const VpPatchProblems *problems, VpNear what, VpResidual residual, Subset *subset)
{
  const VpLevel  level = smoother->level;
  VpPatches      near;
  PetscErrorCode failed = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(VpPatchesSelect(level->mesh, what, problems->patches, &near));
  for (int32_t p = 0; p < near.n; p++) subset->count += near.cell[(size_t)p << near.dim] < level->mesh->nown;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &subset->count, 1, MPIU_INT, MPI_SUM, level->mesh->comm));
  SetColors(level, &near, problems->space, residual, subset);
  if (near.n) failed = VpPlaceSomePatches(problems, smoother->subset[SUBSET_ALL].view, &near, &smoother->arrays, subset->view);
  PetscCall(VpTogether(level->mesh->comm, failed));
  if (near.n) PetscCall(AddViews(level, smoother->ncolor, subset));
  for (int32_t p = 0; subset->view->replaceable && p < near.n; p++) subset->nreplaceable += problems->replaceable[near.whole[p]] > 0;
  PetscCall(VpPatchesDestroy(&near));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSubsets(VpSmoother smoother, const VpPatchProblems *problems, VpResidual residual, PetscInt repeats)
{
  const VpMesh mesh = smoother->level->mesh;
  Subset      *corners = &smoother->subset[SUBSET_CORNERS], *ends = &smoother->subset[SUBSET_ENDS];

  PetscFunctionBegin;
  PetscCall(CreateWhole(smoother, problems, residual));
  if (repeats && !VpMeshSeams(mesh) && !mesh->geometry->domain->trees)
    PetscCall(CreateNear(smoother, problems, VP_NEAR_CORNERS, residual, corners));
  if (corners->count) smoother->repeats = repeats;
  if (VpMeshIsPart(mesh)) PetscCall(CreateNear(smoother, problems, VP_NEAR_ENDS, residual, ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsThin(VpLevel level)
{
  return (PetscBool)(level->aspect < THIN(level->mesh->dim));
}

PetscErrorCode VpSmootherCreate(VpLevel level, VpSpace space, VpResidual residual, VpExchange exchange, PetscInt corners, VpSmoother *out)
{
  VpPatches       patches;
  VpPatchProblems problems;
  VpSmoother      smoother;
  PetscErrorCode  refused; /* Some patches are not positive definite, or too ill conditioned. */

  PetscFunctionBegin;
  PetscCheck(VpSpaceTakes(space, residual) && VpSpaceHas(space, level->problem.degree), level->mesh->comm, PETSC_ERR_ARG_INCOMP,
             "Patch space %d does not go with residual %d or with degree %d", (int)space, (int)residual, level->problem.degree);
  PetscCall(PetscNew(&smoother));
  *out = smoother;
  smoother->level = VpReference(level);
  for (int i = 0; i < SUBSETS; i++) /* Repeats sync only if the user asked for it. */
    smoother->subset[i].syncs = (PetscBool)((i == SUBSET_CORNERS ? exchange : VpChooseExchange(level, exchange)) == VP_EXCHANGE_COLOR);
  smoother->current = (PetscBool)(smoother->subset[SUBSET_CORNERS].syncs || (smoother->subset[SUBSET_ALL].syncs && IsThin(level)));
  smoother->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
  PetscCall(VpPatchesCreate(level->mesh, level->thinnest, &patches));
  smoother->ncolor = patches.ncolor;
  smoother->minor = patches.minor;
  PetscCall(VpPatchProblemsCreate(level, &patches, space, &problems));
  refused = CreateSubsets(smoother, &problems, residual, corners);
  PetscCall(VpPatchProblemsDestroy(&problems));
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(refused);
  if (residual == VP_RESIDUAL_GLOBAL) PetscCall(VpVectorCreate(level, 1, "smoother's residual", &smoother->r));
  PetscCall(VpSmootherWritePrograms(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses an exchange after every colour where it saves iterations: with few cells per rank, because many of the cells that a rank sweeps
   are then ghosts, and with thin cells, where more than two layers of ghosts matter. */
VpExchange VpChooseExchange(VpLevel level, VpExchange asked)
{
  const VpMesh   mesh = level->mesh;
  const PetscInt ranks = VpMeshRanks(mesh), few = VpMeshIsPart(mesh) ? VP_FEW_CELLS_PARTIAL : VP_FEW_CELLS;

  if (asked != VP_EXCHANGE_AUTO) return asked;
  return ranks > 1 && (mesh->ncell < few * ranks || IsThin(level)) ? VP_EXCHANGE_COLOR : VP_EXCHANGE_SWEEP;
}

PetscErrorCode VpSmootherRenewGhosts(VpSmoother smoother)
{
  const VpLevel   level = smoother->level;
  const PetscBool differ = (PetscBool)(level->precision == VP_SINGLE && !smoother->r && VpMeshRanks(level->mesh) > 1);

  PetscFunctionBegin;
  for (int i = 0; i < SUBSETS; i++) smoother->subset[i].renews = (PetscBool)(differ && i != SUBSET_CORNERS && !smoother->subset[i].syncs);
  PetscCall(VpSmootherWritePrograms(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherLimitColors(VpSmoother smoother, PetscInt colors)
{
  const VpMesh mesh = smoother->level->mesh;
  const int    least = smoother->ncolor - smoother->minor;

  PetscFunctionBegin;
  PetscCheck(!mesh->geometry->domain->trees || colors <= 0 || colors >= least || smoother->cell_sweeps, mesh->comm,
             PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vpatchdg_colors %" PetscInt_FMT ": patches of these trees have %d colours, and a sweep through fewer than %d does not "
             "converge. Use -pc_vpatchdg_colors 0 (all), leave it out, or add -pc_vpatchdg_cell_sweeps 1",
             colors, smoother->ncolor, least);
  smoother->skipped = colors < 0 ? smoother->minor : PetscMax(0, smoother->ncolor - (int)colors);
  PetscCall(VpSmootherWritePrograms(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherAddCells(VpSmoother smoother, PetscInt sweeps, double ratio)
{
  PetscFunctionBegin;
  PetscCall(VpCellSweepCreate(smoother->level, ratio, &smoother->cells));
  smoother->cell_sweeps = VpSmootherCells(smoother) ? sweeps : 0;
  PetscCall(VpSmootherWritePrograms(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt VpSmootherCells(VpSmoother smoother)
{
  return smoother->cells ? VpCellSweepCells(smoother->cells) : 0;
}

const VpPatchView *VpSmootherPatches(VpSmoother smoother)
{
  return smoother->subset[SUBSET_ALL].view;
}

void VpSmootherCorners(VpSmoother smoother, PetscInt *patches, PetscInt *repeats)
{
  *patches = smoother->subset[SUBSET_CORNERS].count;
  *repeats = smoother->repeats;
}

PetscErrorCode VpSmootherDestroy(VpSmoother *out)
{
  VpSmoother smoother = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!smoother) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpCellSweepDestroy(&smoother->cells));
  PetscCall(VpVectorDestroy(&smoother->r));
  for (Subset *s = smoother->subset; smoother->level->backend->release_plans && s < smoother->subset + SUBSETS; s++) {
    for (int k = 0; k < VP_MOST_COVERS; k++) PetscCall(smoother->level->backend->release_plans(&s->view[k].plans));
  }
  for (int i = 0; i < 2 * SUBSETS; i++) PetscCall(PetscFree(smoother->program[i / 2][i % 2].step));
  PetscCall(VpArraysRelease(&smoother->arrays));
  PetscCall(VpLevelDestroy(&smoother->level));
  PetscCall(PetscFree(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}
