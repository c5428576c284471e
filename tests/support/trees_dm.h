/* DMs of trees for tests, and numbers that do not depend on the directions of trees. */
#pragma once
#include "problem.h"
#include "refused.h"
#include "trees.h"

/* a DM of these trees, set up if the options allow it */
PETSC_UNUSED static PetscErrorCode New(const Trees *t, PetscInt degree, PetscInt refine, const char options[], DM *dm)
{
  PetscInt     corner[MOST_TREES * 8];
  PetscReal    x[MOST_TREES * 8 * 3];
  PetscOptions own;

  PetscFunctionBeginUser;
  for (int i = 0; i < t->ntree << t->dim; i++) corner[i] = t->corner[i];
  for (int i = 0; i < t->nvertex * t->dim; i++) x[i] = t->x[i / t->dim][i % t->dim];
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, t->dim, degree, refine, dm));
  PetscCall(DMVPatchDGSetTrees(*dm, t->nvertex, x, t->ntree, corner, 1, NULL));
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(TestOptionsPop(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a DM by options alone */
PETSC_UNUSED static PetscErrorCode NewByOptions(PetscInt dim, PetscInt degree, PetscInt refine, const char options[], DM *dm)
{
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, dm));
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(TestOptionsPop(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_UNUSED static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2 * x[0] + 1) * PetscCosReal(3 * x[1]) * (dim == 3 ? PetscExpReal(x[2]) : 1);
  return 0;
}

/* numbers that do not depend on the directions of trees: u.Au, |Au|, b.u for a function u */
PETSC_UNUSED static PetscErrorCode Numbers(DM dm, PetscReal number[3])
{
  Mat         A;
  Vec         x, y;
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(DMVPatchDGInterpolate(dm, Wave, NULL, x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDot(x, y, &dot));
  number[0] = PetscRealPart(dot);
  PetscCall(VecNorm(y, NORM_2, &number[1]));
  PetscCall(DMVPatchDGComputeRHS(dm, Wave, Wave, NULL, NULL, y));
  PetscCall(VecDot(x, y, &dot));
  number[2] = PetscRealPart(dot);
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_UNUSED static PetscBool AreSame(const PetscReal a[3], const PetscReal b[3])
{
  PetscBool same = PETSC_TRUE;

  for (int i = 0; i < 3; i++) same = (PetscBool)(same && PetscAbsReal(a[i] - b[i]) <= 1e-12 * PetscAbsReal(a[i]));
  return same;
}
