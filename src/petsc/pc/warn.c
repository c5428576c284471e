/* Warnings of PCVPATCHDG before and after a solve. */
#include "internal.h"
#include "../forecast/forecast.h"

/* foretold iterations of FGMRES from which on refinement may fail, and fails for certain */
#define HARD     8
#define HOPELESS 20
/* foretold iterations, penalties, changes inside of cells and of cells inside of boxes that the user may want to avoid */
#define MANY   40
#define RAISED 4
#define VARIES 10
#define UNEVEN 4

/* Cells that are nearly folded or very skew, and matrices whose axes rotate, cost iterations that refinement of the mesh does not save. A
   change inside of cells costs fewer where the cycle knows its root. Shapes matter where angles do not. */
static PetscErrorCode WarnMetric(PC pc, const VpMetric m)
{
  const double varies = m->entry ? sqrt(m->variation) : m->variation;

  PetscFunctionBegin;
  if (VpMetricIterations(m, VP_METRIC_CELL) > MANY && !m->trees)
    PetscCall(
      VpWarn(pc, VP_WARN_OBLIQUE,
             "expect about %.0f iterations: the eigenvalues of the map and the coefficient differ by up to 1:%.3g from those of the "
             "boxes. Cells with right angles, and matrices whose axes follow the cells, need few",
             VpMetricIterations(m, VP_METRIC_CELL), m->kappa));
  if (m->penalty > RAISED)
    PetscCall(VpWarn(pc, VP_WARN_PENALTY,
                     "%" PetscInt_FMT " cells need a penalty of up to %.3g times the usual one: they are nearly folded, or the coefficient "
                     "jumps in them",
                     m->raised, m->penalty));
  if (varies > VARIES)
    PetscCall(VpWarn(pc, VP_WARN_VARIES,
                     "the map or the coefficient changes by a factor of up to %.3g inside of a cell, which the cycle does not see: refine "
                     "(-dm_refine), or grade the cells",
                     m->variation));
  if (m->uneven > UNEVEN && VpMetricIterations(m, VP_METRIC_CELL) <= MANY)
    PetscCall(
      VpWarn(pc, VP_WARN_UNEVEN,
             "the sides of cells of one box are up to 1:%.3g more unequal than those of its other cells, and cells merge alike in a "
             "box: cut it where the shapes of cells change (-dm_vpatchdg_boxes), or grade the grid (-dm_vpatchdg_grid_x)",
             m->uneven));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* trees, and the fraction of irregular vertices, from which on another mesh is better; kappa from which on its cell is named */
#define MANY_TREES     100
#define MANY_IRREGULAR 0.3
#define SKEW           20

/* Cells of bad shapes, and vertices where cells of bad shapes meet, cost iterations that only another mesh saves. */
static PetscErrorCode WarnTrees(PC pc, VpDomain domain, const VpMetric m)
{
  VpTreeVertices count = {.n = 0};
  PetscBool      wanted;

  PetscFunctionBegin;
  if (m->kappa > SKEW)
    PetscCall(VpWarn(pc, VP_WARN_SHAPES,
                     "expect about %.0f iterations: the metric's eigenvalues differ by up to 1:%.3g where the cycle takes them for equal, "
                     "most in cell %" PetscInt_FMT " of tree %" PetscInt_FMT " (1:%.3g). A few bad cells count as much as many",
                     VpMetricIterations(m, VP_METRIC_CELL), m->kappa, m->worst_cell, m->worst_box, m->worst));
  PetscCall(VpWarnWanted(pc, VP_WARN_IRREGULAR, &wanted));
  if (wanted && domain->nbox > MANY_TREES) PetscCall(VpDomainCountVertices(domain, &count));
  if (count.n - count.regular > MANY_IRREGULAR * count.n)
    PetscCall(VpWarn(pc, VP_WARN_IRREGULAR,
                     "%.0f %% of the vertices of the mesh are irregular, as where cells are cut from triangles or tetrahedra: a mesher for "
                     "quadrilaterals or hexahedra saves iterations",
                     100. * (count.n - count.regular) / count.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refinement diverges where the diagonal of a metric is far from the metric. */
static PetscErrorCode CheckRefinement(PC pc, KSPType type)
{
  const VpPCBase  *inverse = pc->data;
  const VpMetric   m = inverse->op ? inverse->op->problem.metric : NULL;
  const char      *prefix = VpPrefix((PetscObject)pc);
  const VpBackend *backend;
  double           nu;

  PetscFunctionBegin;
  if (strcmp(type, KSPRICHARDSON) || !m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGUseBackend(inverse->dm, &backend));
  nu = VpMetricIterations(m, VpMetricChoose(m, inverse->metric, backend->prefers->unlike));
  if (nu <= HARD) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(nu <= HOPELESS, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "KSP richardson would diverge: with these cells and this coefficient fgmres needs about %.0f iterations. Use -%sksp_type fcg "
             "-%sksp_fcg_mmax 1 -%sksp_norm_type unpreconditioned, or -%sksp_type fgmres",
             nu, prefix, prefix, prefix, prefix);
  PetscCall(VpWarn(pc, VP_WARN_SLOW, "KSP richardson may diverge with these cells and this coefficient: use -%sksp_type fgmres", prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGWarnBefore(PC pc, KSPType type)
{
  const PC_VPatchDG *data = pc->data;
  const char        *prefix = VpPrefix((PetscObject)pc);

  PetscFunctionBegin;
  if (data->inverse.op && data->inverse.op->problem.metric) {
    const VpOperator op = data->inverse.op;

    PetscCall(WarnMetric(pc, op->problem.metric));
    if (op->mesh->geometry->domain->trees) PetscCall(WarnTrees(pc, op->mesh->geometry->domain, op->problem.metric));
  }
  PetscCall(CheckRefinement(pc, type));
  if (VpKSPNeedsSymmetry(type) && !data->options.symmetric)
    PetscCall(VpWarn(pc, VP_WARN_SYMMETRY,
                     "KSP %s needs a symmetric preconditioner, and this cycle is not: use -%spc_vpatchdg_symmetric, or "
                     "-%sksp_type fgmres",
                     type, prefix, prefix));
  else if (data->choice.asked == VPATCHDG_PRECISION_SINGLE) PetscCall(VpWarnSingle(pc, type, "pc_vpatchdg_precision auto"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define LOST 1e-9 /* With reactions below this fraction of a/h^2, eight digits are often out of reach. */

#define CROSSING 30 /* Means of values at points where stiff cells touch are no problem below this ratio. */

/* advice: what the user should try first */
static PetscErrorCode WriteAdvice(PC pc, KSP ksp, PetscReal aspect, PetscReal contrast, char advice[], size_t size)
{
  const PC_VPatchDG *data = pc->data;
  const char        *prefix = VpPrefix((PetscObject)pc), *type = ((PetscObject)ksp)->type_name;
  PetscReal          crossing = 0;

  PetscFunctionBegin;
  if (data->inverse.continuous && data->cycle) PetscCall(VpLevelCrossing(data->cycle->at[0].level, &crossing));
  if (VpPCBaseReactionIsBelow(&data->inverse, LOST))
    PetscCall(PetscSNPrintf(advice, size, "rounding errors are near the reaction %g; -dm_vpatchdg_reaction 0 solves up to a constant",
                            (double)data->inverse.range[0]));
  else if (ksp->reason == KSP_DIVERGED_NANORINF) PetscCall(PetscSNPrintf(advice, size, "are the right-hand side and the guess finite?"));
  else if (VpKSPNeedsSymmetry(type) && !data->options.symmetric)
    PetscCall(PetscSNPrintf(advice, size, "KSP %s needs -%spc_vpatchdg_symmetric; -%sksp_type fgmres does not", type, prefix, prefix));
  else if (ksp->reason == KSP_DIVERGED_DTOL && !ksp->its)
    PetscCall(PetscSNPrintf(advice, size, "the residual of the guess is more than -%sksp_divtol %g times |b|: use another guess, or 0",
                            prefix, (double)ksp->divtol));
  else if (strcmp(type, KSPFGMRES)) PetscCall(PetscSNPrintf(advice, size, "-%sksp_type fgmres is the most robust", prefix));
  else if (crossing > CROSSING)
    PetscCall(PetscSNPrintf(advice, size,
                            "stiff cells touch in points or along edges alone (a 1:%.3g), which costs continuous elements up to an "
                            "iteration for each stiff region; the DG method takes fewer",
                            (double)crossing));
  else if (aspect > 2 && data->options.coarsening == VP_COARSEN_FULL)
    PetscCall(PetscSNPrintf(advice, size, "-%spc_vpatchdg_coarsening local needs fewer iterations", prefix));
  else if (contrast > 10 && (!data->cycle || !(data->cycle->ends || (data->cycle->npartial && data->options.symmetric))))
    PetscCall(PetscSNPrintf(advice, size, "-%spc_vpatchdg_coarse volumes -%spc_vpatchdg_levels 1 is the most robust where a is rough",
                            prefix, prefix));
  else if (contrast > 1e4)
    PetscCall(PetscSNPrintf(advice, size,
                            "noise of 1e4 and more takes 10 to 30 iterations, rough a on thin cells 10 to 40, turning tensors 30 to 80: "
                            "-%sksp_max_it, -%sksp_gmres_restart",
                            prefix, prefix));
  else if (ksp->reason == KSP_DIVERGED_ITS)
    PetscCall(PetscSNPrintf(advice, size, "-%sksp_max_it %" PetscInt_FMT " allows no more", prefix, ksp->max_it));
  else PetscCall(PetscSNPrintf(advice, size, "-%sksp_monitor_true_residual shows where it fails", prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WarnFailed(PC pc, KSP ksp)
{
  const PC_VPatchDG *data = pc->data;
  const VpOperator   op = data->inverse.op;
  char               advice[192];
  PetscReal          a[2], aspect, contrast;
  PetscBool          wanted;

  PetscFunctionBegin;
  PetscCall(VpWarnWanted(pc, VP_WARN_FAILED, &wanted));
  if (!wanted || !op) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpCoefficientRange(op->mesh, &op->problem, a));
  aspect = VpAspectRatio(op->mesh->geometry->domain);
  contrast = a[1] / a[0];
  PetscCall(WriteAdvice(pc, ksp, aspect, contrast, advice, sizeof(advice)));
  PetscCall(VpWarn(pc, VP_WARN_FAILED,
                   "KSP %s ended with %s after %" PetscInt_FMT
                   " iterations; sides of a cell up to 1:%.3g, coefficients up to 1:%.3g, %s precision: %s",
                   ((PetscObject)ksp)->type_name, KSPConvergedReasons[ksp->reason], ksp->its, (double)aspect, (double)contrast,
                   VPatchDGPrecisions[data->options.precision], advice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The warning appears if refinement takes this many times FGMRES's expected iterations. */
#define SLOW 10

static PetscErrorCode WarnSlow(PC pc, KSP ksp)
{
  const PC_VPatchDG *data = pc->data;
  const VpOperator   op = data->inverse.op;
  const char        *prefix = VpPrefix((PetscObject)pc), *type = ((PetscObject)ksp)->type_name;
  int                range[2];

  PetscFunctionBegin;
  if (!op || !data->cycle || strcmp(type, KSPRICHARDSON)) PetscFunctionReturn(PETSC_SUCCESS);
  VpExpectIterations(&data->cycle->at[0].level->problem, VpAspectRatio(op->mesh->geometry->domain), data->options.coarsening, range);
  if (ksp->its <= SLOW * range[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpWarn(pc, VP_WARN_SLOW, "KSP %s took %" PetscInt_FMT " iterations: -%sksp_type fgmres takes fewer", type, ksp->its, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Warns if the coarsest KSP stopped before it converged: the cycle is then not linear, in any precision. */
static PetscErrorCode WarnCoarse(PC pc, KSP ksp)
{
  const PC_VPatchDG *data = pc->data;
  const PetscInt     stopped = data->cycle ? VpCoarseStopped(data->cycle->coarse) : 0;

  PetscFunctionBegin;
  if (!stopped || VpKSPKeepsResidual(((PetscObject)ksp)->type_name)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpWarn(pc, VP_WARN_COARSE,
                   "the KSP of the coarsest level did not converge in %" PetscInt_FMT " iterations, which KSP %s does not tolerate: use "
                   "-%svpatchdg_coarse_ksp_max_it %" PetscInt_FMT ", or -%sksp_type fgmres",
                   stopped, ((PetscObject)ksp)->type_name, VpPrefix((PetscObject)pc), 10 * stopped, VpPrefix((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGWarnAfter(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  if (!VpIsWatched(ksp)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WarnCoarse(pc, ksp));
  if (ksp->reason < 0) PetscCall(WarnFailed(pc, ksp));
  else {
    PetscCall(WarnSlow(pc, ksp));
    PetscCall(VpWarnResidual(pc, ksp, b, x));
    PetscCall(VpWarnMissing(pc, ksp, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
