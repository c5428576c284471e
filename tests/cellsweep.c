/* A sweep of single cells: it solves the equations of the cells that it goes through last, and its reverse is its adjoint.
   ranks: 1 2 3 */
#include "support/multigrid.h"
#include "../src/smoother/cellsweep.h"

typedef struct {
  const char *name;
  VpLevel     outer, level;
  VpCellSweep sweep;
  double      error; /* that is allowed: neighbours' coefficients are rounded */
} Test;

/* out = x after a sweep */
static PetscErrorCode Sweep(const Test *t, PetscBool reverse, const double *b, const double *x, double *out)
{
  const int last = VpCellSweepColors(t->sweep) - 1;
  VpVector  B, X;

  PetscFunctionBeginUser;
  PetscCall(VpVectorCreate(t->level, 1, "test", &B));
  PetscCall(VpVectorCreate(t->level, 1, "test", &X));
  PetscCall(VpVectorEnter(B, 1, b));
  PetscCall(VpVectorEnter(X, 1, x));
  for (int color = 0; color <= last; color++) PetscCall(VpCellSweepColor(t->sweep, reverse ? last - color : color, B, X));
  PetscCall(VpVectorLeave(X, PETSC_FALSE, 1, out));
  PetscCall(VpVectorDestroy(&B));
  PetscCall(VpVectorDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double Norm2(int n, const double v[])
{
  double sum = 0;

  for (int i = 0; i < n; i++) sum += v[i] * v[i];
  return sum;
}

/* how much of the cells have hardly any residual */
static double Solved(const Test *t, const double *r)
{
  const int32_t nown = t->outer->mesh->nown;
  const int     n = (int)(t->outer->block / sizeof(double));
  const double  typical = Dot(t->outer, r, r) / t->outer->mesh->ncell;
  double       *host = Get(t->outer, r), sum = 0;

  for (int32_t cell = 0; cell < nown; cell++) sum += Norm2(n, host + (size_t)cell * n) <= PetscSqr(t->error) * typical;
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(host));
  PetscCallAbort(PETSC_COMM_SELF, MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, t->outer->mesh->comm));
  return sum / t->outer->mesh->ncell;
}

static PetscErrorCode Check(const Test *t, int colors)
{
  double *v[6], left, right; /* b, x, y, results */

  PetscFunctionBeginUser;
  for (int i = 0; i < 6; i++) {
    PetscCall(VectorCreate(t->outer, &v[i]));
    if (i < 3) Fill(t->outer, i, v[i]);
  }
  for (int reverse = 0; reverse < 2; reverse++) {
    PetscCall(Sweep(t, (PetscBool)reverse, v[0], v[1], v[3]));
    PetscCall(Apply(t->outer, v[3], v[0], v[4]));
    left = Solved(t, v[4]);
    TapOk((PetscBool)(left > 0.9 / (colors + 1) && left < 0.9), "last_cells_are_solved: %s, %s: %.2f of the cells", t->name,
          reverse ? "reverse" : "forward", left);
  }
  PetscCall(Sweep(t, PETSC_FALSE, v[5], v[1], v[3])); /* b = 0 */
  PetscCall(Apply(t->outer, v[2], NULL, v[4]));
  left = Dot(t->outer, v[3], v[4]);
  PetscCall(Sweep(t, PETSC_TRUE, v[5], v[2], v[3]));
  PetscCall(Apply(t->outer, v[1], NULL, v[4]));
  right = Dot(t->outer, v[3], v[4]);
  TapOk((PetscBool)(fabs(left - right) < 1e-9 * sqrt(Dot(t->outer, v[3], v[3]) * Dot(t->outer, v[4], v[4]))),
        "reverse_is_adjoint: %s: %.10e, %.10e", t->name, left, right);
  for (int i = 0; i < 6; i++) PetscCall(VectorDestroy(t->outer, &v[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckOn(VpMesh mesh, const VpProblem *problem, const Setting *s, int colors)
{
  const PetscBool one = (PetscBool)(s->coefficient == COEFFICIENT_ONE || s->coefficient == COEFFICIENT_UNIFORM);
  Test            t = {.name = s->name, .error = one ? 1e-9 : 0.2};

  PetscFunctionBeginUser;
  PetscCall(VpLevelCreateOuter(mesh, problem, TestBackend(), &t.outer));
  PetscCall(VpLevelCreate(mesh, problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &t.level));
  PetscCall(VpCellSweepCreate(t.level, 0, &t.sweep));
  PetscCall(Check(&t, colors));
  PetscCall(VpCellSweepDestroy(&t.sweep));
  PetscCall(VpLevelDestroy(&t.level));
  PetscCall(VpLevelDestroy(&t.outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* three cells around: a third colour */
static PetscErrorCode CheckOddTorus(const Setting *s)
{
  VpProblem problem;
  VpMesh    mesh, coarse;

  PetscFunctionBeginUser;
  PetscCall(MakeMesh(PETSC_COMM_WORLD, s, &mesh));
  PetscCall(MakeProblem(s, mesh, &problem));
  PetscCall(VpMeshCoarsen(mesh, mesh->geometry->lattice, VP_COARSEN_LOCAL, &coarse));
  TapOk((PetscBool)(VpMeshSeams(coarse) == (1 << s->dim) - 1), "odd_torus_has_seams: %" PetscInt_FMT " cells", coarse->ncell);
  PetscCall(CheckOn(coarse, &problem, s, 3));
  PetscCall(FreeProblem(&problem));
  PetscCall(VpMeshDestroy(&coarse));
  PetscCall(VpMeshDestroy(&mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  static const Setting tori[] = {{"odd torus", 2, 3, 1, {3, 3, 1}, PETSC_FALSE, 0, COEFFICIENT_ONE, 1},
                                 {"odd torus in 3D", 3, 2, 1, {3, 3, 3}, PETSC_FALSE, 0, COEFFICIENT_ONE, 0}};

  PetscFunctionBeginUser;
  FOR_SETTINGS (s) {
    VpProblem problem;
    VpMesh    mesh;

    PetscCall(MakeMesh(PETSC_COMM_WORLD, s, &mesh));
    PetscCall(MakeProblem(s, mesh, &problem));
    PetscCall(CheckOn(mesh, &problem, s, 2));
    PetscCall(FreeProblem(&problem));
    PetscCall(VpMeshDestroy(&mesh));
  }
  for (int i = 0; i < 2; i++) PetscCall(CheckOddTorus(&tori[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
