/* Repeats the cells of a level n times, for work on n vectors at once. */
#include "internal.h"

PetscErrorCode VpRepeatCoefficient(VpLevel level, int32_t n, PetscReal **a)
{
  const size_t count = (size_t)level->mesh->nown * (size_t)VpProblemWidth(&level->problem);

  PetscFunctionBegin;
  *a = NULL;
  if (!level->problem.coefficient) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)n * count + 1, a)); /* not NULL on ranks without cells */
  for (size_t k = 0; k < (size_t)n; k++) PetscCall(PetscArraycpy(*a + k * count, level->problem.coefficient, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelRepeatOuter(VpLevel level, int32_t n, VpLevel *out)
{
  VpProblem  problem = level->problem;
  PetscReal *coefficient;
  VpMesh     mesh;

  PetscFunctionBegin;
  PetscCall(VpMeshRepeat(level->mesh, n, NULL, &mesh));
  PetscCall(VpRepeatCoefficient(level, n, &coefficient));
  problem.coefficient = coefficient;
  PetscCall(VpLevelCreateOuter(mesh, &problem, level->backend, out));
  PetscCall(PetscFree(coefficient));
  PetscCall(VpMeshDestroy(&mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}
