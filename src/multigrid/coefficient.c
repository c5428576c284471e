/* The coefficient a of -div(a grad u), a number per cell. */
#include "internal.h"

enum { MOST = 800 };

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

/* the sides of a cell along one direction have these two things beyond */
static void Include(VpDomain domain, const int32_t beyond[2], PetscReal a, PetscReal h, PetscReal reaction, PetscReal range[2])
{
  const PetscReal size = PetscMax(a / h / h, reaction);

  range[0] = PetscMin(range[0], size);
  range[1] = PetscMax(range[1], size);
  for (int s = 0; s < 2; s++) {
    const PetscReal robin = a / h * VpDomainAlpha(domain, beyond[s]);

    range[0] = robin > 0 ? PetscMin(range[0], robin) : range[0];
    range[1] = PetscMax(range[1], robin);
  }
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
    const size_t stride = 2 * (size_t)mesh->dim;

    for (int32_t box = 0; box < mesh->domain->nbox && !a && !mesh->depth; box++)
      Include(mesh->domain, mesh->domain->beyond + stride * (size_t)box + 2 * d, 1, VpLatticeSize(mesh->lattice, box, d), c, range);
    for (int32_t cell = 0; cell < mesh->nown && (a || mesh->depth); cell++)
      Include(mesh->domain, mesh->neighbor + stride * (size_t)cell + 2 * d, a ? a[cell] : 1, VpCellSize(mesh, cell, d), c, range);
  }
  range[0] = -range[0];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_REAL, MPIU_MAX, mesh->comm));
  range[0] = -range[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarsenCoefficient(VpMesh fine, const PetscReal a[], PetscReal coarse[], PetscReal contrast[])
{
  const int  nchild = 1 << fine->dim;
  PetscReal *local, lower[3], size[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(fine->nsweep, &local));
  PetscCall(PetscArraycpy(local, a, fine->nown));
  PetscCall(VpMeshExchange(fine, VP_GHOST_CHILD, MPIU_REAL, local, local + fine->nown));
  for (int32_t c = 0; c < fine->coarser->nown; c++) {
    PetscReal sum = 0, all = 0, least = PETSC_MAX_REAL, most = 0;

    for (int i = 0; i < nchild; i++) {
      const int32_t child = fine->child[(size_t)c * nchild + i];

      if (child < 0) continue;
      VpMeshCellBounds(fine, child, lower, size);
      sum += local[child] * (size[0] * size[1] * size[2]);
      all += size[0] * size[1] * size[2];
      least = PetscMin(least, local[child]);
      most = PetscMax(most, local[child]);
    }
    coarse[c] = sum / all;
    if (contrast) contrast[c] = most / least;
  }
  PetscCall(PetscFree(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the nearest integer, within what a key of a patch's problem holds */
static int16_t Round(double number)
{
  return (int16_t)PetscMax(-MOST, PetscMin(MOST, round(number)));
}

/* the product of the factors at cell c */
static double Product(int dim, const VpFit *fit, int c)
{
  int steps = 0;

  for (int d = 0; d < dim; d++) steps += PetscMax(c >> d & 1 ? fit->step[d] : -fit->step[d], 0);
  return exp2(steps / (double)VP_STEPS);
}

/* A patch beside much softer or stiffer cells must not see a wall, or nothing, there. */
static void FitFaces(int dim, const PetscReal a[], const PetscReal beyond[][3], VpFit *fit, double scale)
{
  for (int side = 0; side < 2 * dim; side++) {
    const int d = side / 2;
    double    largest = 0;

    for (int c = 0; c < 1 << dim; c++) {
      const double mean = 2 * a[c] / (a[c] + beyond[c][d]) * beyond[c][d];

      if ((c >> d & 1) == side % 2) largest = PetscMax(largest, mean / Product(dim, fit, c));
    }
    fit->face[d][side % 2] = Round(log2(largest / scale));
  }
}

/* A step is the mean of the logarithms in the upper half of the patch less that in the lower half. */
void VpCoefficientFit(int dim, const PetscReal a[], const PetscReal beyond[][3], double least, VpFit *fit, double *scale)
{
  const int nc = 1 << dim;
  PetscBool same = PETSC_TRUE;

  *fit = (VpFit){.step = {0}};
  *scale = a[0];
  for (int c = 0; c < nc; c++) {
    same = (PetscBool)(same && a[c] == a[0]);
    for (int d = 0; d < dim; d++) same = (PetscBool)(same && beyond[c][d] == a[0]);
  }
  if (same) return; /* without logarithms */
  for (int d = 0; d < dim; d++) {
    double slope = 0;

    for (int c = 0; c < nc; c++) slope += (c >> d & 1 ? 1 : -1) * log2(a[c]) / (nc / 2);
    fit->step[d] = fabs(slope) < least ? 0 : Round(VP_STEPS * slope);
  }
  *scale = 0;
  for (int c = 0; c < nc; c++) *scale = PetscMax(*scale, a[c] / Product(dim, fit, c));
  FitFaces(dim, a, beyond, fit, *scale);
}
