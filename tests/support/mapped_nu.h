/* Iterations for eight digits with FGMRES, a random right-hand side, and coefficients and reactions at points. */
#pragma once
#include "problem.h"
#include "../../src/petsc/dmdata/dmdata.h"

/* sin4: 1 + 0.9 sin(4 pi x) sin(4 pi y) ...; exp3: exp(3 sin(2 pi x) ...); turn: I + 9 v v^T, whose v turns */
typedef enum { ONE, SIN4, EXP3, TURN } Kind;

static inline PetscErrorCode KindAtPoints(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[],
                                          void *ctx)
{
  const Kind kind = *(Kind *)ctx;

  for (PetscInt i = 0; i < n; i++) {
    const PetscReal *p = x + i * dim, t = 2 * PETSC_PI * (p[0] + p[1] / 2), v[3] = {PetscCosReal(t), PetscSinReal(t), 0};
    PetscReal        s4 = 0.9, s2 = 3;

    for (PetscInt d = 0; d < dim; d++) {
      s4 *= PetscSinReal(4 * PETSC_PI * p[d]);
      s2 *= PetscSinReal(2 * PETSC_PI * p[d]);
    }
    if (kind != TURN) *a++ = kind == SIN4 ? 1 + s4 : kind == EXP3 ? PetscExpReal(s2) : 1;
    for (PetscInt d = 0; d < dim && kind == TURN; d++) {
      for (PetscInt e = d; e < dim; e++) *a++ = (d == e) + 9 * v[d] * v[e];
    }
  }
  return PETSC_SUCCESS;
}

/* c (1 + 0.9 sin(2 pi x) sin(2 pi y) ...); *ctx: c */
static inline PetscErrorCode WavesOfReaction(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar c[],
                                             void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    PetscReal waves = 0.9;

    for (PetscInt d = 0; d < dim; d++) waves *= PetscSinReal(2 * PETSC_PI * x[i * dim + d]);
    c[i] = *(PetscReal *)ctx * (1 + waves);
  }
  return PETSC_SUCCESS;
}

typedef struct {
  PetscInt    dim, degree;
  const char *options;
  Kind        kind;
  double      penalty; /* of which 1.25, at degree 1 1.5, belongs to mapped cells and full matrices */
  PetscReal   waves;   /* c of WavesOfReaction, or 0 */
  PetscReal   shift;   /* t of A + t I */
} NuCase;

/* nu = iterations per eight digits; foretold [2] (NULL: not wanted) = what the library expects, with means over cells and over boxes */
static inline PetscErrorCode MeasureNu(const NuCase *is, double *nu, double foretold[])
{
  const PetscBool oblique = (PetscBool)(strstr(is->options, "_map ") || is->kind == TURN);
  const double    factor = !oblique ? 1 : is->degree == 1 ? 1.5 : 1.25;
  PetscReal       residual;
  PetscInt        its;
  char            all[512];
  DM              dm;
  Problem         p;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, is->dim, is->degree, 0, &dm));
  PetscCall(TestDMOptions(dm, is->options));
  PetscCall(DMVPatchDGSetPenalty(dm, is->penalty / factor));
  PetscCall(DMVPatchDGSetCoefficientFunction(dm, is->kind == TURN ? is->dim * (is->dim + 1) / 2 : 1, KindAtPoints, PETSC_MEMTYPE_HOST,
                                             (void *)&is->kind));
  if (is->waves > 0) PetscCall(DMVPatchDGSetReactionFunction(dm, WavesOfReaction, PETSC_MEMTYPE_HOST, (void *)&is->waves));
  PetscCall(DMSetUp(dm));
  for (int i = 0; i < 2 && foretold; i++)
    foretold[i] = VpMetricIterations(DMVPatchDGData(dm)->op->problem.metric, i ? VP_METRIC_CONST : VP_METRIC_CELL);
  PetscCall(ProblemOf(dm, NULL, &p));
  if (is->shift != 0) PetscCall(MatShift(p.A, is->shift));
  PetscCall(TestRandom(p.b, 0));
  PetscCall(PetscSNPrintf(
    all, sizeof(all), "%s -ksp_type fgmres -ksp_gmres_restart 200 -ksp_max_it 200 -ksp_rtol 1e-8 -pc_type vpatchdg -vpatchdg_warnings 0",
    is->options));
  PetscCall(SolveWith(&p, all, &residual, &its, NULL));
  *nu = 8 * its / -log10((double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
