/* The coarsest problem: which way it is solved. */
#include "internal.h"

/* Unknowns up to which a dense inverse is cheaper than what else there is. On the host 450 take 9 microseconds by it and 70 by an LU, but
   1500 take three times as long to invert as an LU takes. A device reads MOST^2 numbers in less time than ten sweeps take. Beyond MOST it
   takes too long to make. */
enum { HOST = 512, MOST = 10000 };

struct VpCoarse_ {
  VpLevel            level;
  const VpCoarseOps *ops;
  void              *data;
};

/* On a device b is not gathered from ranks. */
PetscBool VpCoarseIsDense(VpCoarseType type, PetscBool device, PetscInt ranks, double unknowns)
{
  if ((device && ranks > 1) || (type != VP_COARSE_DENSE && type != VP_COARSE_AUTO)) return PETSC_FALSE;
  return (PetscBool)(unknowns <= (device || type == VP_COARSE_DENSE ? MOST : HOST));
}

PetscBool VpNotchIsFew(const VpBoxGrid *grid, int n, int dim)
{
  return (PetscBool)(grid->sides > 0 && 2 * grid->sides * pow(n, dim - 1) <= MOST);
}

static PetscErrorCode RefuseDense(VpLevel level, double unknowns)
{
  PetscFunctionBegin;
  PetscCheck(unknowns <= MOST, level->mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vpatchdg_coarse dense: the coarsest level has %.0f unknowns, at most %d are inverted. Take more levels "
             "(-pc_vpatchdg_levels 0: all), or leave -pc_vpatchdg_coarse out",
             unknowns, MOST);
  SETERRQ(level->mesh->comm, PETSC_ERR_SUP,
          "-pc_vpatchdg_coarse dense: on GPUs the coarsest level must be on one rank, not on %" PetscInt_FMT
          ". Leave -pc_vpatchdg_gather out, or -pc_vpatchdg_coarse",
          VpMeshRanks(level->mesh));
}

/* auto: the inverse where the problem separates, on devices but for a notch, too, or is small, otherwise sweeps on devices, which like them,
   and a KSP on the host. Sweeps that do not converge leave it to a KSP. */
PetscErrorCode VpCoarseCreate(VpLevel level, VpCoarseType type, const char prefix[], PetscObject parent, VpCoarse *out)
{
  const PetscBool automatic = (PetscBool)(type == VP_COARSE_AUTO), device = (PetscBool)(level->backend->use_stream != NULL);
  const double    unknowns = (double)level->mesh->ncell * (double)(level->block / level->real);
  const PetscBool dense = VpCoarseIsDense(type, device, VpMeshRanks(level->mesh), unknowns);
  const struct {
    const VpCoarseOps *ops;
    PetscBool          wanted;
  } ways[] = {{&VpCoarseSeparable, automatic},
              {&VpCoarseDense, dense},
              {&VpCoarseNotched, (PetscBool)(automatic && device)},
              {&VpCoarsePairs, (PetscBool)(type == VP_COARSE_SWEEPS || (automatic && device))},
              {&VpCoarseKSP, PETSC_TRUE}};
  VpCoarse coarse;

  PetscFunctionBegin;
  if (type == VP_COARSE_DENSE && !dense) PetscCall(RefuseDense(level, unknowns));
  PetscCall(PetscNew(&coarse));
  *out = coarse;
  coarse->level = VpReference(level);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(ways) && !coarse->data; i++) {
    if (!ways[i].wanted) continue;
    coarse->ops = ways[i].ops;
    PetscCall(coarse->ops->create(level, prefix, parent, &coarse->data));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolve(VpCoarse coarse, VpVector b, VpVector x)
{
  return coarse->ops->solve(coarse->data, b, x);
}

PetscErrorCode VpCoarseSolveColumns(VpCoarse coarse, int32_t n, VpVector b, VpVector x, PetscBool *did)
{
  PetscFunctionBegin;
  *did = PETSC_FALSE;
  if (coarse->ops->solve_columns) PetscCall(coarse->ops->solve_columns(coarse->data, n, b, x, did));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseGetKSP(VpCoarse coarse, KSP *ksp)
{
  PetscFunctionBegin;
  *ksp = NULL;
  if (coarse->ops->get_ksp) PetscCall(coarse->ops->get_ksp(coarse->data, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt VpCoarseStopped(VpCoarse coarse)
{
  return coarse->ops->stopped ? coarse->ops->stopped(coarse->data) : 0;
}

PetscErrorCode VpCoarseView(VpCoarse coarse, PetscViewer viewer)
{
  return coarse->ops->view(coarse->data, viewer);
}

PetscErrorCode VpCoarseDestroy(VpCoarse *out)
{
  VpCoarse coarse = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!coarse) PetscFunctionReturn(PETSC_SUCCESS);
  if (coarse->data) PetscCall(coarse->ops->destroy(coarse->data));
  PetscCall(VpLevelDestroy(&coarse->level));
  PetscCall(PetscFree(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
