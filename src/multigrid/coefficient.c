/* The coefficient a of -div(a grad u), a number per cell. */
#include "internal.h"

PetscErrorCode VpLevelSetCoefficient(VpLevel level, const PetscReal own[])
{
  VpMesh    mesh = level->mesh;
  PetscReal range[2], *a;

  PetscFunctionBegin;
  level->uniform = level->typical = level->scale;
  if (!own) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpCoefficientRange(mesh, own, range));
  level->uniform = range[0] == range[1] ? level->scale * range[1] : 0;
  level->typical = level->uniform > 0 ? level->uniform : ldexp(1, ilogb(level->scale * range[1]));
  PetscCall(PetscMalloc1(mesh->nlocal + 1, &a)); /* not NULL on ranks without cells */
  level->problem.coefficient = a;
  PetscCall(PetscArraycpy(a, own, mesh->nown));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_ALL, MPIU_REAL, a, a + mesh->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoefficientRange(VpMesh mesh, const PetscReal own[], PetscReal range[2])
{
  PetscFunctionBegin;
  range[0] = range[1] = PETSC_MIN_REAL; /* of -a, of a */
  for (int32_t c = 0; c < mesh->nown; c++) {
    const PetscReal a = own ? own[c] : 1;

    range[0] = PetscMax(range[0], -a);
    range[1] = PetscMax(range[1], a);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_REAL, MPIU_MAX, mesh->comm));
  range[0] = -range[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Include(PetscReal a, PetscReal h, PetscReal reaction, PetscReal range[2])
{
  const PetscReal size = PetscMax(a / h / h, reaction);

  range[0] = PetscMin(range[0], size);
  range[1] = PetscMax(range[1], size);
}

PetscErrorCode VpProblemRange(VpMesh mesh, const VpProblem *problem, PetscReal range[2])
{
  const PetscReal *a = problem->coefficient;
  const PetscReal  c = problem->reaction;
  VpProblem        plain = *problem;

  PetscFunctionBegin;
  plain.reaction = 0;
  range[0] = c > 0 && VpProblemIsSingular(mesh, &plain) ? c : PETSC_MAX_REAL;
  range[1] = 0;
  for (int d = 0; d < mesh->dim; d++) {
    for (int32_t box = 0; box < mesh->domain->nbox && !a; box++) Include(1, VpCellSizeIn(mesh, box, d), c, range);
    for (int32_t cell = 0; cell < mesh->nown && a; cell++) Include(a[cell], VpCellSize(mesh, cell, d), c, range);
  }
  range[0] = -range[0];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_REAL, MPIU_MAX, mesh->comm));
  range[0] = -range[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarsenCoefficient(VpMesh fine, const PetscReal a[], PetscReal coarse[])
{
  const int  nchild = 1 << fine->dim;
  PetscReal *local, lower[3], size[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(fine->nsweep, &local));
  PetscCall(PetscArraycpy(local, a, fine->nown));
  PetscCall(VpMeshExchange(fine, VP_GHOST_CHILD, MPIU_REAL, local, local + fine->nown));
  for (int32_t c = 0; c < fine->coarser->nown; c++) {
    PetscReal sum = 0, all = 0;

    for (int i = 0; i < nchild; i++) {
      const int32_t child = fine->child[(size_t)c * nchild + i];

      if (child < 0) continue;
      VpMeshCellBounds(fine, child, lower, size);
      sum += local[child] * (size[0] * size[1] * size[2]);
      all += size[0] * size[1] * size[2];
    }
    coarse[c] = sum / all;
  }
  PetscCall(PetscFree(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* log2 of the coefficient, in quarters: mean of the upper half of the patch less that of the lower half, in every direction */
void VpCoefficientFit(int dim, const PetscReal a[], int step[], double *scale)
{
  const int nc = 1 << dim;
  double    largest = 0;
  int       same = 1;

  while (same < nc && a[same] == a[0]) same++;
  if (same == nc) { /* the fit below, without logarithms */
    for (int d = 0; d < dim; d++) step[d] = 0;
    *scale = a[0];
    return;
  }
  for (int d = 0; d < dim; d++) {
    double slope = 0;

    for (int c = 0; c < nc; c++) slope += (c >> d & 1 ? 1 : -1) * log2(a[c]) / (nc / 2);
    step[d] = (int)PetscMax(-400, PetscMin(400, round(4 * slope)));
  }
  for (int c = 0; c < nc; c++) {
    double fit = 0;

    for (int d = 0; d < dim; d++) fit += PetscMax(c >> d & 1 ? step[d] : -step[d], 0);
    largest = PetscMax(largest, a[c] / exp2(fit / 4));
  }
  *scale = largest;
}
