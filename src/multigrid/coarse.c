/* The coarsest problem: which way it is solved. */
#include "internal.h"

struct VpCoarse_ {
  VpLevel            level;
  const VpCoarseOps *ops;
  void              *data;
};

/* auto: the inverse where the problem separates, otherwise sweeps on devices, which like them, and a KSP on the host. Sweeps that do not
   converge leave it to a KSP. */
PetscErrorCode VpCoarseCreate(VpLevel level, VpCoarseType type, const char prefix[], PetscObject parent, VpCoarse *out)
{
  const PetscBool automatic = (PetscBool)(type == VP_COARSE_AUTO), device = (PetscBool)(level->backend->use_stream != NULL);
  const struct {
    const VpCoarseOps *ops;
    PetscBool          wanted;
  } ways[] = {{&VpCoarseSeparable, automatic},
              {&VpCoarsePairs, (PetscBool)(type == VP_COARSE_SWEEPS || (automatic && device))},
              {&VpCoarseKSP, PETSC_TRUE}};
  VpCoarse coarse;

  PetscFunctionBegin;
  PetscCall(PetscNew(&coarse));
  *out = coarse;
  coarse->level = VpLevelReference(level);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(ways) && !coarse->data; i++) {
    if (!ways[i].wanted) continue;
    coarse->ops = ways[i].ops;
    PetscCall(coarse->ops->create(level, prefix, parent, &coarse->data));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolve(VpCoarse coarse, VpVector b, VpVector x)
{
  PetscFunctionBegin;
  PetscCall(coarse->ops->solve(coarse->data, b, x));
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
  PetscFunctionBegin;
  PetscCall(coarse->ops->view(coarse->data, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
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
