/* The coloured multiplicative vertex-patch smoother of a level. */
#include "patchproblems.h"
#include "smootherimpl.h"

/* Cells with a smaller quotient of two sizes are thin. Cells of 2:1 are thin in 2D, where an exchange per colour saves iterations; in
   3D it saves none and takes more time. */
#define THIN(dim) ((dim) == 2 ? 0.51 : 0.49)

static VpForm ChooseForm(VpLevel level, VpSpace space, VpResidual residual, PetscBool mixed)
{
  if (residual == VP_RESIDUAL_GLOBAL) return VP_FORM_GIVEN;
  if (residual == VP_RESIDUAL_LOCAL && !mixed) return VP_FORM_LOCAL;
  return space == VP_SPACE_FULL && VpLevelIsUniform(level) && !mixed ? VP_FORM_REPLACE : VP_FORM_EXACT;
}

/* the end of the batch from `first` on: its patches are all mixed or all not */
static int32_t EndOfBatch(const VpPatches *patches, int color, int32_t first)
{
  const int32_t half[] = {patches->inner[color], patches->start[color + 1]};
  int32_t       last = first;

  for (int i = 0; i < 2 && (!i || last == half[0] || first > half[0]); i++) {
    if (last >= half[i] || patches->mixed[last] != patches->mixed[first]) continue;
    last = patches->mixed[first] ? half[i] : VpPatchesFirstMixed(patches, last, half[i]);
  }
  return last;
}

static PetscErrorCode CreateBatches(VpLevel level, const VpPatches *patches, VpSpace space, VpResidual residual, Part *part)
{
  const int ncolor = 1 << patches->dim;
  int       n = 0;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(part->color, patches->start, ncolor + 1));
  PetscCall(PetscArraycpy(part->inner, patches->inner, ncolor));
  for (int pass = 0; pass < 2; pass++) {
    if (pass) PetscCall(PetscMalloc1(n, &part->batch));
    n = 0;
    for (int c = 0; c < ncolor; c++) {
      part->start[c] = n;
      for (int32_t first = patches->start[c], last; first < patches->start[c + 1]; first = last) {
        last = EndOfBatch(patches, c, first);
        if (pass) part->batch[n] = (Batch){first, last, ChooseForm(level, space, residual, (PetscBool)patches->mixed[first])};
        n++;
      }
    }
    part->start[ncolor] = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The flops of one patch: both transforms, and its residual, which is A x or the neighbours' traces. */
static PetscLogDouble PatchFlops(const VpView *view, VpForm form)
{
  const int    dim = view->dim, n = view->n, m = 2 * n;
  const double cells = 1 << dim, all = cells * pow(n, dim), side = all / m, solve = 4. * dim * m * all + (dim + 1) * all;

  switch (form) {
  case VP_FORM_REPLACE:
    return solve + 2 * dim * (4. * view->nt * side + 4. * (dim - 1) * m * side + 4 * all);
  case VP_FORM_GIVEN:
    return solve + all;
  default:
    return solve + all * (2. * dim * n + 8. * dim * (1 + (double)view->nt / n) + 2);
  }
}

/* The flops of a sweep over a part. The residual `global` is that of all cells, once a colour. */
static PetscLogDouble PartFlops(VpSmoother smoother, const Part *part)
{
  const VpView  *view = &smoother->level->view;
  PetscLogDouble flops =
    smoother->r ? 0 : part->nexact * (PatchFlops(view, VpPatchForm(VP_FORM_EXACT, 1)) - PatchFlops(view, VP_FORM_EXACT));

  for (int i = 0; i < part->start[smoother->ncolor]; i++) {
    const Batch *batch = &part->batch[i];
    flops += (double)(batch->last - batch->first) * PatchFlops(view, batch->form);
  }
  if (smoother->r && view->nown) flops += smoother->ncolor * VpLevelApplyFlops(smoother->level) * view->nsweep / view->nown;
  return flops;
}

static void CountFlops(VpSmoother smoother)
{
  for (int i = 0; i < PARTS; i++) smoother->part[i].flops = PartFlops(smoother, &smoother->part[i]);
}

/* Sets the part with all patches, but for its view's `drop`. */
static PetscErrorCode CreateWhole(VpSmoother smoother, const VpPatchProblems *problems, VpResidual residual)
{
  Part *part = &smoother->part[PART_ALL];

  PetscFunctionBegin;
  PetscCall(CreateBatches(smoother->level, problems->patches, problems->space, residual, part));
  PetscCall(VpPlacePatches(problems, &smoother->arrays, &part->view));
  for (int32_t p = 0; part->view.exact && p < problems->patches->n; p++) part->nexact += problems->exact[p] > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the part with the patches near some cells. count: of these patches on all ranks */
static PetscErrorCode CreatePart(VpSmoother smoother, const VpPatchProblems *problems, VpNear what, VpResidual residual, Part *part,
                                 PetscInt *count)
{
  const VpLevel  level = smoother->level;
  VpPatches      near;
  PetscErrorCode failed = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(VpPatchesSelect(level->mesh, what, problems->patches, &near));
  for (int32_t p = 0; p < near.n; p++) *count += near.cell[(size_t)p << near.dim] < level->mesh->nown;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 1, MPIU_INT, MPI_SUM, level->mesh->comm));
  PetscCall(CreateBatches(level, &near, problems->space, residual, part));
  if (near.n) failed = VpPlaceSomePatches(problems, &smoother->part[PART_ALL].view, &near, &smoother->arrays, &part->view);
  for (int32_t p = 0; part->view.exact && p < near.n; p++) part->nexact += problems->exact[near.whole[p]] > 0;
  PetscCall(VpTogether(level->mesh->comm, failed));
  PetscCall(VpPatchesDestroy(&near));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the parts near corners, unless they are not to be repeated, and where the level ends */
static PetscErrorCode CreateParts(VpSmoother smoother, const VpPatchProblems *problems, VpResidual residual, PetscInt repeats)
{
  PetscInt edges = 0;

  PetscFunctionBegin;
  if (repeats) PetscCall(CreatePart(smoother, problems, VP_NEAR_CORNERS, residual, &smoother->part[PART_CORNERS], &smoother->ncorner));
  if (smoother->ncorner) smoother->repeats = repeats;
  if (VpMeshIsPart(smoother->level->mesh))
    PetscCall(CreatePart(smoother, problems, VP_NEAR_EDGES, residual, &smoother->part[PART_EDGES], &edges));
  smoother->ends = (PetscBool)(edges > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsThin(VpLevel level)
{
  return (PetscBool)(level->aspect < THIN(level->mesh->dim));
}

/* Makes the smoother of the patches at one kind of seams, then those of the kinds that follow. */
static PetscErrorCode Create(VpLevel level, VpSpace space, VpResidual residual, VpExchange exchange, PetscInt corners, int seams,
                             VpSmoother *out)
{
  MPI_Comm        comm = level->mesh->comm;
  const int       kinds = VpMeshSeams(level->mesh);
  VpPatches       patches;
  VpPatchProblems problems;
  VpSmoother      smoother;
  PetscErrorCode  refused; /* patches that are not positive definite, or too ill conditioned */

  PetscFunctionBegin;
  PetscCall(PetscNew(&smoother));
  *out = smoother;
  smoother->level = VpReference(level);
  smoother->ncolor = 1 << level->mesh->dim;
  smoother->exchange = VpChooseExchange(level, exchange);
  smoother->exact = (PetscBool)(exchange == VP_EXCHANGE_COLOR);
  smoother->current = (PetscBool)(smoother->exact || (smoother->exchange == VP_EXCHANGE_COLOR && IsThin(level)));
  smoother->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
  smoother->kind = seams;
  smoother->kinds = kinds;
  PetscCall(VpPatchesCreate(level->mesh, level->thinnest, seams, &patches));
  PetscCall(PetscArraycpy(smoother->digit, patches.digit, 3));
  PetscCall(VpPatchProblemsCreate(level, &patches, space, &problems));
  refused = CreateWhole(smoother, &problems, residual);
  if (!refused && residual == VP_RESIDUAL_LOCAL)
    refused = VpTogether(comm, VpLevelPlaceDrops(level, &smoother->arrays, &smoother->part[PART_ALL].view.drop));
  if (!refused && !kinds) refused = CreateParts(smoother, &problems, residual, corners);
  PetscCall(VpPatchProblemsDestroy(&problems));
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(refused);
  if (residual == VP_RESIDUAL_GLOBAL) PetscCall(VpVectorCreate(level, 1, "smoother's residual", &smoother->r));
  CountFlops(smoother);
  do seams++;
  while (seams <= kinds && (seams & ~kinds));
  if (seams <= kinds) PetscCall(Create(level, space, residual, exchange, corners, seams, &smoother->seams));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherCreate(VpLevel level, VpSpace space, VpResidual residual, VpExchange exchange, PetscInt corners, VpSmoother *out)
{
  PetscFunctionBegin;
  PetscCheck(VpSpaceTakes(space, residual) && VpSpaceHas(space, level->problem.degree), level->mesh->comm, PETSC_ERR_ARG_INCOMP,
             "Patch space %d does not go with residual %d or with degree %d", (int)space, (int)residual, level->problem.degree);
  PetscCall(Create(level, space, residual, exchange, corners, 0, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With few cells per rank, much of what a rank sweeps is ghosts: there an exchange after every colour saves iterations. Across thin cells
   more than two layers matter. */
VpExchange VpChooseExchange(VpLevel level, VpExchange asked)
{
  const VpMesh   mesh = level->mesh;
  const PetscInt ranks = VpMeshRanks(mesh), few = VpMeshIsPart(mesh) ? VP_FEW_CELLS_OF_PART : VP_FEW_CELLS;

  if (asked != VP_EXCHANGE_AUTO) return asked;
  return ranks > 1 && (mesh->ncell < few * ranks || IsThin(level)) ? VP_EXCHANGE_COLOR : VP_EXCHANGE_SWEEP;
}

void VpSmootherRenewGhosts(VpSmoother smoother)
{
  const VpLevel   level = smoother->level;
  const PetscBool differ = (PetscBool)(smoother->exchange == VP_EXCHANGE_SWEEP && VpMeshRanks(level->mesh) > 1);

  smoother->renews = (PetscBool)(differ && level->precision == VP_SINGLE && !smoother->r);
  if (smoother->seams) VpSmootherRenewGhosts(smoother->seams);
}

PetscErrorCode VpSmootherAddCells(VpSmoother smoother, PetscInt sweeps)
{
  PetscFunctionBegin;
  smoother->cell_sweeps = sweeps;
  PetscCall(VpCellSweepCreate(smoother->level, &smoother->cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherUseResidualForm(VpSmoother smoother)
{
  PetscFunctionBegin;
  for (int part = 0; part < PARTS; part++) {
    Part *p = &smoother->part[part];

    for (int i = 0; i < p->start[smoother->ncolor]; i++) {
      if (p->batch[i].form == VP_FORM_REPLACE) p->batch[i].form = VP_FORM_EXACT;
    }
    p->view.exact = NULL;
    p->nexact = 0;
  }
  CountFlops(smoother);
  if (smoother->seams) PetscCall(VpSmootherUseResidualForm(smoother->seams));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSmootherDestroy(VpSmoother *out)
{
  VpSmoother smoother = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!smoother) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpSmootherDestroy(&smoother->seams));
  PetscCall(VpCellSweepDestroy(&smoother->cells));
  PetscCall(VpVectorDestroy(&smoother->r));
  for (int part = 0; part < PARTS; part++) {
    Part *p = &smoother->part[part];

    if (smoother->level->backend->release_plans) PetscCall(smoother->level->backend->release_plans(&p->view.plans));
    PetscCall(PetscFree(p->batch));
  }
  PetscCall(VpArraysRelease(&smoother->arrays));
  PetscCall(VpLevelDestroy(&smoother->level));
  PetscCall(PetscFree(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}
