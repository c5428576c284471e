/* A line search: x += t e, after which the residual is orthogonal to e; and what it gains where the coefficient varies.
   ranks: 1 2 3 */
#include "support/multigrid.h"
#include "../src/cycle/linesearch.h"

/* the outer vector of a level's vector */
static PetscErrorCode Outer(World *w, VpVector v, double **outer)
{
  PetscFunctionBeginUser;
  PetscCall(VectorCreate(w->outer, outer));
  PetscCall(VpVectorLeave(v, PETSC_FALSE, 1, *outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a level's vector of random numbers */
static PetscErrorCode Random(World *w, VpLevel level, int seed, VpVector *v)
{
  double *outer;

  PetscFunctionBeginUser;
  PetscCall(VpVectorCreate(level, 1, "test", v));
  PetscCall(VectorCreate(w->outer, &outer));
  Fill(w->outer, seed, outer);
  PetscCall(VpVectorEnter(*v, 1, outer));
  PetscCall(VectorDestroy(w->outer, &outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* e of the search = v with its ghosts */
static PetscErrorCode SetCorrection(VpLineSearch search, VpVector v)
{
  const void *values;
  void       *e;

  PetscFunctionBeginUser;
  PetscCall(VpVectorRead(v, VP_GHOST_HALO, &values));
  PetscCall(VpLineSearchBegin(search, &e));
  PetscCall(v->level->backend->copy(values, v->level->mesh->nhalo * v->level->block, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r becomes b - A x for x = t e: orthogonal to e, with the t that the outer operator gives */
static PetscErrorCode StepIsOrthogonal(const Setting *s, VpPrecision precision)
{
  const double eps = precision == VP_SINGLE ? 3e-6 : 1e-13;
  World        w;
  VpLevel      level;
  VpVector     e, r, x;
  VpLineSearch search;
  double      *E, *R, *X, *AE, t, ee, right, left, apart;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, s, &w));
  PetscCall(VpLevelCreate(w.mesh, &w.problem, VP_BASIS_THIN, precision, TestBackend(), &level));
  PetscCall(Random(&w, level, 1, &e));
  PetscCall(Random(&w, level, 2, &r));
  PetscCall(VpVectorCreate(level, 2, "test", &x));
  PetscCall(VpLineSearchCreate(level, &search));
  PetscCall(Outer(&w, e, &E));
  PetscCall(Outer(&w, r, &R));
  PetscCall(VectorCreate(w.outer, &AE));
  PetscCall(Apply(w.outer, E, NULL, AE));
  ee = Dot(w.outer, E, E);
  t = Dot(w.outer, E, R) / Dot(w.outer, E, AE);
  PetscCall(VectorDestroy(w.outer, &R));

  PetscCall(SetCorrection(search, e));
  PetscCall(VpLineSearchStep(search, r, x));
  PetscCall(VpLineSearchResidual(search, r, r));
  PetscCall(Outer(&w, x, &X));
  PetscCall(Outer(&w, r, &R));
  apart = fabs(Dot(w.outer, X, E) / ee / t - 1);
  right = sqrt(Dot(w.outer, X, X) / ee) / fabs(t);
  TapOk((PetscBool)(apart < 100 * eps && fabs(right - 1) < 100 * eps), "step_is_the_operator's: %s Q%d, %s: t %.3e, %.1e apart", s->name,
        s->degree, precision == VP_SINGLE ? "single" : "double", t, apart);
  left = fabs(Dot(w.outer, E, R)) / sqrt(ee * Dot(w.outer, R, R));
  TapOk((PetscBool)(left < eps), "residual_is_orthogonal_to_the_step: %s Q%d, %s: %.1e", s->name, s->degree,
        precision == VP_SINGLE ? "single" : "double", left);
  PetscCall(VectorDestroy(w.outer, &E));
  PetscCall(VectorDestroy(w.outer, &R));
  PetscCall(VectorDestroy(w.outer, &X));
  PetscCall(VectorDestroy(w.outer, &AE));
  PetscCall(VpLineSearchDestroy(&search));
  PetscCall(VpVectorDestroy(&e));
  PetscCall(VpVectorDestroy(&r));
  PetscCall(VpVectorDestroy(&x));
  PetscCall(VpLevelDestroy(&level));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IterationsOf(const Setting *s, VpCycleType type, PetscBool search, double *nu)
{
  const VpCycleOptions options = {.post = 1, .type = type, .line_search = search, .replay = PETSC_TRUE};
  World                w;
  VpCycle              cycle;
  double              *x, *b, final;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, s, &w));
  PetscCall(VpCycleCreate(w.mesh, &w.problem, &options, TestBackend(), NULL, &cycle));
  PetscCall(VectorCreate(w.outer, &x));
  PetscCall(VectorCreate(w.outer, &b));
  Fill(w.outer, 1, b);
  PetscCall(Refinement(&w, cycle, b, x, nu, &final));
  PetscCall(VectorDestroy(w.outer, &x));
  PetscCall(VectorDestroy(w.outer, &b));
  PetscCall(VpCycleDestroy(&cycle));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* refinement, in single precision; a is exp(3 sin(2 pi x) sin(2 pi y) ..) at cell centres. Bounds: see share/doc/faq.rst */
static PetscErrorCode Gains(const Setting *s, const double most[])
{
  static const struct {
    const char *name;
    VpCycleType type;
    PetscBool   search;
  } cycles[] = {{"F", VP_CYCLE_F, PETSC_FALSE}, {"F, line search", VP_CYCLE_F, PETSC_TRUE}, {"W, line search", VP_CYCLE_W, PETSC_TRUE}};
  double v, nu;

  PetscFunctionBeginUser;
  PetscCall(IterationsOf(s, VP_CYCLE_V, PETSC_FALSE, &v));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cycles); i++) {
    if (most[i] == 0) continue; /* It diverges as the V cycle does. */
    PetscCall(IterationsOf(s, cycles[i].type, cycles[i].search, &nu));
    TapOk((PetscBool)(nu > 0 && nu <= most[i] && (v < 0 || nu < 0.8 * v)),
          "cycle_gains_where_a_varies: %s Q%d L=%d, %s: nu %.1f, at most %.1f, V %.1f", s->name, s->degree, s->level, cycles[i].name, nu,
          most[i], v);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Setting waves[] = {{"square", 2, 3, 5, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_WAVES, 0},
                                  {"cube", 3, 2, 3, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_WAVES, 0},
                                  {"cube", 3, 2, 4, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_WAVES, 0}};
  static const double  most[][3] = {{12, 10, 9}, {0, 20, 20}, {20, 9, 9}};
  int                  failed;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TapBegin(PETSC_COMM_WORLD);
  FOR_SETTINGS (s) {
    PetscCall(StepIsOrthogonal(s, VP_SINGLE));
    PetscCall(StepIsOrthogonal(s, VP_DOUBLE));
  }
  for (int i = 0; i < 3; i++) PetscCall(Gains(&waves[i], most[i]));
  failed = TapEnd();
  PetscCall(PetscFinalize());
  return failed;
}
