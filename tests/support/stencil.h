/* Five-point and seven-point matrices on a DMDA, as programs assemble them that know only PETSc. */
#pragma once
#include "problem.h"
#include <petscdmda.h>

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

typedef enum { OUTSIDE, ROWS, NATURAL, CENTERS, HALF, AROUND } Kind; /* Dirichlet outside; rows of the identity; Neumann; ... */

typedef struct {
  int       dim;
  Kind      kind[3]; /* of both sides along each direction, unless they differ */
  PetscInt  n[3];    /* points */
  double    h[3];    /* distances, unless they grow */
  PetscBool columns; /* columns of Dirichlet points are 0 */
  double    scale;   /* of the matrix */
  double (*a)(const double x[]);
  double (*factor)(const double x[]); /* of rows that are not the identity's */
  double reaction;                    /* times the volume of a point, and times c(x) unless this is NULL */
  double (*c)(const double x[]);
  PetscBool differ;   /* Upper sides are of another kind. */
  Kind      upper[3]; /* then: this one */
  double    grow[3];  /* ratio of a distance and the one before; 0: 1 */
} Stencil;

static inline Kind KindOf(const Stencil *s, int d, PetscBool up)
{
  return up && s->differ ? s->upper[d] : s->kind[d];
}

/* distance of point i and the next one; i may be -1, or that of the last point */
static inline double DistanceAt(const Stencil *s, int d, PetscInt i)
{
  return s->grow[d] > 0 ? s->h[d] * pow(s->grow[d], (double)PetscMax(0, PetscMin(i, s->n[d] - 2))) : s->h[d];
}

/* width that a point stands for */
static inline double WidthAt(const Stencil *s, int d, PetscInt i)
{
  const PetscBool end = (PetscBool)(i == 0 || i == s->n[d] - 1);

  return (DistanceAt(s, d, i - 1) + DistanceAt(s, d, i)) / (end && KindOf(s, d, (PetscBool)(i > 0)) == NATURAL ? 4 : 2);
}

/* a on the edge between a point and the next one along d */
static inline double EdgeCoefficient(const Stencil *s, const PetscInt at[], int d)
{
  double x[3] = {0, 0, 0};

  for (int e = 0; e < s->dim; e++) x[e] = ((double)at[e] + (e == d ? 0.5 : 0)) / (double)s->n[e];
  return s->a ? s->a(x) : 1;
}

static inline PetscBool IsFixed(const Stencil *s, const PetscInt at[])
{
  for (int d = 0; d < s->dim; d++)
    if ((at[d] == 0 && KindOf(s, d, PETSC_FALSE) == ROWS) || (at[d] == s->n[d] - 1 && KindOf(s, d, PETSC_TRUE) == ROWS)) return PETSC_TRUE;
  return PETSC_FALSE;
}

static inline PetscErrorCode SetRow(const Stencil *s, const PetscInt at[], Mat A)
{
  MatStencil  row = {.i = at[0], .j = at[1], .k = at[2], .c = 0}, column[7];
  PetscScalar value[7] = {0};
  PetscInt    n = 1;

  PetscFunctionBeginUser;
  column[0] = row;
  for (int d = 0; d < s->dim; d++) {
    for (int up = 0; up < 2; up++) {
      const PetscInt to = at[d] + (up ? 1 : -1);
      PetscInt       low[3] = {at[0], at[1], at[2]}, next[3] = {at[0], at[1], at[2]};
      const Kind     kind = KindOf(s, d, (PetscBool)up);
      double         w = s->scale / DistanceAt(s, d, up ? at[d] : at[d] - 1);

      for (int e = 0; e < s->dim; e++) w *= e == d ? 1 : WidthAt(s, e, at[e]);
      if (!up && (to >= 0 || s->kind[d] == AROUND)) low[d] = (to + s->n[d]) % s->n[d];
      w *= EdgeCoefficient(s, low, d);
      next[d] = to;
      if (s->kind[d] != AROUND && (to < 0 || to >= s->n[d])) {
        value[0] += kind == OUTSIDE ? w : kind == HALF ? 2 * w : 0;
        continue;
      }
      value[0] += w;
      if (IsFixed(s, at) || (IsFixed(s, next) && s->columns)) continue;
      column[n] = (MatStencil){.i = next[0], .j = next[1], .k = next[2], .c = 0};
      value[n++] = -w;
    }
  }
  if (!IsFixed(s, at)) {
    const double x[3] = {(double)at[0] / (double)s->n[0], (double)at[1] / (double)s->n[1], (double)at[2] / (double)s->n[2]};
    double       mass = s->scale * s->reaction * (s->c ? s->c(x) : 1);

    for (int d = 0; d < s->dim; d++) mass *= WidthAt(s, d, at[d]);
    value[0] += mass;
    for (PetscInt i = 0; i < n && s->factor; i++) value[i] *= s->factor(x);
  }
  PetscCall(MatSetValuesStencil(A, 1, &row, n, column, value, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool IsSingular(const Stencil *s)
{
  PetscBool is = (PetscBool)(s->reaction == 0);

  for (int side = 0; side < 2 * s->dim; side++) {
    const Kind kind = KindOf(s, side / 2, (PetscBool)(side % 2));

    is = (PetscBool)(is && (kind == NATURAL || kind == CENTERS || kind == AROUND));
  }
  return is;
}

static inline PetscErrorCode ComputeMatrix(KSP ksp, Mat A, Mat P, void *ctx)
{
  const Stencil *s = ctx;
  PetscInt       first[3], count[3];
  MatNullSpace   constants;
  DM             da;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetCorners(da, &first[0], &first[1], &first[2], &count[0], &count[1], &count[2]));
  for (PetscInt i = 0; i < count[0] * count[1] * count[2]; i++) {
    const PetscInt at[3] = {first[0] + i % count[0], first[1] + i / count[0] % count[1], first[2] + i / count[0] / count[1]};

    PetscCall(SetRow(s, at, P));
  }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  if (!IsSingular(s)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(P, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ComputeRandom(KSP ksp, Vec b, void *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(TestRandom(b, 0));
  if (IsSingular((const Stencil *)ctx)) PetscCall(TestWithoutMean(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says where points are, if their distances grow. */
static inline PetscErrorCode SetCoordinates(const Stencil *s, DM da)
{
  PetscInt     first[3], count[3];
  PetscScalar *values;
  DM           places;
  Vec          x;

  PetscFunctionBeginUser;
  if (s->grow[0] == 0 && s->grow[1] == 0 && s->grow[2] == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinateDM(da, &places));
  PetscCall(DMCreateGlobalVector(places, &x));
  PetscCall(DMDAGetCorners(da, &first[0], &first[1], &first[2], &count[0], &count[1], &count[2]));
  PetscCall(VecGetArrayWrite(x, &values));
  for (PetscInt i = 0; i < count[0] * count[1] * count[2]; i++) {
    const PetscInt at[3] = {first[0] + i % count[0], first[1] + i / count[0] % count[1], first[2] + i / count[0] / count[1]};

    for (int d = 0; d < s->dim; d++) {
      double sum = 0;

      for (PetscInt k = 0; k < at[d]; k++) sum += DistanceAt(s, d, k);
      values[i * s->dim + d] = sum;
    }
  }
  PetscCall(VecRestoreArrayWrite(x, &values));
  PetscCall(DMSetCoordinates(da, x));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CreateKSP(const Stencil *s, KSP *ksp)
{
  DMBoundaryType type[3] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};
  DM             da;

  PetscFunctionBeginUser;
  for (int d = 0; d < s->dim; d++) type[d] = s->kind[d] == AROUND ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  if (s->dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, type[0], type[1], DMDA_STENCIL_BOX, s->n[0], s->n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL,
                           NULL, &da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, type[0], type[1], type[2], DMDA_STENCIL_STAR, s->n[0], s->n[1], s->n[2], PETSC_DECIDE,
                           PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(SetCoordinates(s, da));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetDM(*ksp, da));
  PetscCall(DMDestroy(&da));
  PetscCall(KSPSetComputeOperators(*ksp, ComputeMatrix, (void *)s));
  PetscCall(KSPSetComputeRHS(*ksp, ComputeRandom, (void *)s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
