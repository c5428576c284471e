/* The inverse of a box with a notch, against the operator.
   ranks: 1 */
#include "support/multigrid.h"
#include "../src/coarse/internal.h"

/* slots [grid] of boxes, x fastest, of which '.' are missing; wide: slots become wider along x */
typedef struct {
  const char *name, *slots;
  int         dim, degree, level, grid[3];
  PetscBool   wide;
  VpSide      boundary;
  double      reaction, coefficient; /* 0: 1 */
  PetscBool   has;                   /* is there such an inverse? */
} Shape;

static const Shape shapes[] = {
  {"L-shape", "xxx.", 2, 4, 2, {2, 2, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"L-shape, Q1", "x.xx", 2, 1, 2, {2, 2, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"L-shape, Q8, reaction", ".xxx", 2, 8, 1, {2, 2, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, 10, 0, PETSC_TRUE},
  {"wide L-shape", "xx.xxx", 2, 3, 2, {3, 2, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"U-shape", "xxxx.x", 2, 2, 2, {3, 2, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, 0, 0.3, PETSC_TRUE},
  {"hole", "xxxxxx.xxxxx", 2, 5, 1, {4, 3, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"cross", ".x.xxx.x.", 2, 3, 2, {3, 3, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"cross of single cells", ".x.xxx.x.", 2, 4, 0, {3, 3, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"comb of single cells", "xxxxxx.x.x", 2, 3, 0, {5, 2, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"Fichera", "xxxxxxx.", 3, 4, 1, {2, 2, 2}, PETSC_FALSE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"Fichera, Q1", "xxxxxx.x", 3, 1, 2, {2, 2, 2}, PETSC_FALSE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"Fichera, two corners", ".xxxxxx.", 3, 2, 1, {2, 2, 2}, PETSC_TRUE, VP_SIDE_DIRICHLET, 1, 2, PETSC_TRUE},
  {"hole in a cube", "xxxxxxxxxxxxx.xxxxxxxxxxxxx", 3, 2, 0, {3, 3, 3}, PETSC_TRUE, VP_SIDE_DIRICHLET, 0, 0, PETSC_TRUE},
  {"L-shape, Neumann", "xxx.", 2, 3, 1, {2, 2, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, 1, 0, PETSC_FALSE},
  {"square", "xxxx", 2, 3, 1, {2, 2, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, 0, 0, PETSC_FALSE},
  {"staircase", "xx..xx", 2, 3, 1, {3, 2, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, 0, 0, PETSC_FALSE},
};

static PetscErrorCode CreateWorld(const Shape *s, World *w)
{
  VpBoundary boundary[6];
  PetscReal  lower[3 * 64], upper[3 * 64], *a;
  int        nbox = 0;
  VpDomain   domain;

  PetscFunctionBeginUser;
  for (int side = 0; side < 6; side++) boundary[side] = (VpBoundary){s->boundary, 0};
  for (int i = 0; s->slots[i]; i++) {
    const int at[3] = {i % s->grid[0], i / s->grid[0] % s->grid[1], i / s->grid[0] / s->grid[1]};

    if (s->slots[i] == '.') continue;
    for (int d = 0; d < s->dim; d++) {
      const PetscReal more = s->wide && d == 0 ? 0.25 : 0;

      lower[nbox * s->dim + d] = at[d] * (1 + more * at[d]);
      upper[nbox * s->dim + d] = (at[d] + 1) * (1 + more * (at[d] + 1));
    }
    nbox++;
  }
  PetscCall(VpDomainCreate(PETSC_COMM_SELF, s->dim, nbox, lower, upper, boundary, NULL, &domain));
  PetscCall(VpMeshCreate(PETSC_COMM_SELF, domain, s->level, &w->mesh));
  PetscCall(VpDomainDestroy(&domain));
  w->ndof = (int)PetscPowInt(s->degree + 1, s->dim);
  w->problem = (VpProblem){.degree = s->degree, .penalty = 1, .reaction = s->reaction};
  if (s->coefficient > 0) {
    PetscCall(PetscMalloc1(w->mesh->nown, &a));
    for (int32_t c = 0; c < w->mesh->nown; c++) a[c] = s->coefficient;
    w->problem.coefficient = a;
  }
  PetscCall(VpLevelCreateOuter(w->mesh, &w->problem, TestBackend(), &w->outer));
  PetscCall(VpLevelCreateOuter(w->mesh, &w->problem, &VpBackendHost, &w->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = A^-1 b in a precision, in outer vectors, where there is such an inverse */
static PetscErrorCode Inverse(World *w, VpPrecision precision, const double *b, double *x, PetscBool *has)
{
  VpLevel  level;
  VpVector vb, vx;
  void    *data = NULL;

  PetscFunctionBeginUser;
  PetscCall(VpLevelCreate(w->mesh, &w->problem, VP_BASIS_THIN, precision, TestBackend(), &level));
  PetscCall(VpCoarseNotched.create(level, "none_", NULL, &data));
  *has = (PetscBool)(data != NULL);
  if (data) {
    PetscCall(VpVectorCreate(level, 1, "test", &vb));
    PetscCall(VpVectorCreate(level, 2, "test", &vx));
    PetscCall(VpVectorEnter(vb, 1, b));
    PetscCall(VpCoarseNotched.solve(data, 1, vb, vx));
    PetscCall(VpVectorLeave(vx, PETSC_FALSE, 1, x));
    PetscCall(VpVectorDestroy(&vb));
    PetscCall(VpVectorDestroy(&vx));
    PetscCall(VpCoarseNotched.destroy(data));
  }
  PetscCall(VpLevelDestroy(&level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InverseIsExact(const Shape *s)
{
  World     w;
  PetscBool has, in_single;
  double   *b, *x, *y, *r, residual, apart;

  PetscFunctionBeginUser;
  PetscCall(CreateWorld(s, &w));
  PetscCall(VectorCreate(w.outer, &b));
  PetscCall(VectorCreate(w.outer, &x));
  PetscCall(VectorCreate(w.outer, &y));
  PetscCall(VectorCreate(w.outer, &r));
  Fill(w.outer, 1, b);
  PetscCall(Inverse(&w, VP_DOUBLE, b, x, &has));
  PetscCall(Inverse(&w, VP_SINGLE, b, y, &in_single));
  TapOk((PetscBool)(has == s->has && in_single == s->has), "boxes_with_notches_are_found: %s", s->name);
  if (s->has) {
    PetscCall(Apply(w.outer, x, b, r));
    residual = sqrt(Dot(w.outer, r, r) / Dot(w.outer, b, b));
    apart = Distance(w.outer, x, y) / sqrt(Dot(w.outer, x, x));
    TapOk((PetscBool)(residual < 1e-10), "inverse_is_exact: %s: residual %.1e", s->name, residual);
    TapOk((PetscBool)(apart < 1e-5), "single_precision_is_as_double: %s: %.1e apart", s->name, apart);
  }
  PetscCall(VectorDestroy(w.outer, &b));
  PetscCall(VectorDestroy(w.outer, &x));
  PetscCall(VectorDestroy(w.outer, &y));
  PetscCall(VectorDestroy(w.outer, &r));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int failed;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TapBegin(PETSC_COMM_WORLD);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(shapes); i++) PetscCall(InverseIsExact(&shapes[i]));
  failed = TapEnd();
  PetscCall(PetscFinalize());
  return failed;
}
