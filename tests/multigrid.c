/* The algorithm's pieces: operator, transfers, and the cycle as a linear map.
   ranks: 1 2 3 4 */
#include "support/multigrid.h"

static PetscErrorCode Operator(const Setting *s)
{
  World     w;
  double   *x, *y, *Ax, *Ay, *one, *hx, *hy, scale, norm[2]; /* hx, hy: on the host */
  Mat       A;
  Vec       vx, vy;
  PetscReal sums, matnorm;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, s, &w));
  PetscCall(VectorCreate(w.outer, &x));
  PetscCall(VectorCreate(w.outer, &y));
  PetscCall(VectorCreate(w.outer, &Ax));
  PetscCall(VectorCreate(w.outer, &Ay));
  PetscCall(VectorCreate(w.outer, &one));
  Fill(w.outer, 1, x);
  Fill(w.outer, 2, y);
  PetscCall(Apply(w.outer, x, NULL, Ax));
  PetscCall(Apply(w.outer, y, NULL, Ay));
  scale = sqrt(Dot(w.outer, Ax, Ax));
  TapOk((PetscBool)(fabs(Dot(w.outer, Ax, y) - Dot(w.outer, x, Ay)) < 1e-12 * scale), "operator_is_symmetric: %s", s->name);

  PetscCall(VpAssemble(w.host, MATAIJ, &A));
  hx = Get(w.outer, x);
  hy = Get(w.outer, y);
  PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, w.mesh->nown * w.ndof, PETSC_DECIDE, hx, &vx));
  PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, w.mesh->nown * w.ndof, PETSC_DECIDE, hy, &vy));
  PetscCall(MatMult(A, vx, vy));
  Put(w.outer, hy, Ay);
  TapOk((PetscBool)(Distance(w.outer, Ax, Ay) < 1e-13 * scale), "operator_matches_assembled: %s", s->name);
  PetscCall(MatGetDiagonal(A, vy));
  PetscCall(VpDiagonal(w.host, hx));
  TapOk((PetscBool)(Distance(w.host, hx, hy) < 1e-13 * scale), "diagonal_matches_assembled: %s", s->name);
  for (int i = 0; i < 2; i++) {
    PetscCall(VpAbsoluteSums(w.host, i ? NORM_FROBENIUS : NORM_INFINITY, &sums));
    PetscCall(MatNorm(A, i ? NORM_FROBENIUS : NORM_INFINITY, &matnorm));
    norm[i] = fabs(sums / matnorm - 1);
  }
  TapOk((PetscBool)(norm[0] < 1e-12 && norm[1] < 1e-12), "norms_match_assembled: %s", s->name);
  PetscCall(VecDestroy(&vx));
  PetscCall(VecDestroy(&vy));
  PetscCall(PetscFree(hx));
  PetscCall(PetscFree(hy));
  PetscCall(MatDestroy(&A));

  PetscCall(FillOnes(&w, one));
  PetscCall(Apply(w.outer, one, NULL, Ax));
  if (VpProblemIsSingular(w.mesh, &w.problem))
    TapOk((PetscBool)(sqrt(Dot(w.outer, Ax, Ax)) < 1e-13 * matnorm), "constant_is_in_null_space: %s", s->name);
  TapOk((PetscBool)(fabs(Dot(w.outer, one, one) - (s->lshape ? 1 - pow(2, -s->dim) : 1)) < 1e-13),
        "constant_has_the_norm_of_the_volume: %s", s->name);
  PetscCall(VectorDestroy(w.outer, &x));
  PetscCall(VectorDestroy(w.outer, &y));
  PetscCall(VectorDestroy(w.outer, &Ax));
  PetscCall(VectorDestroy(w.outer, &Ay));
  PetscCall(VectorDestroy(w.outer, &one));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (P u, v) = (u, R v), and R P u = u: what one prolongs is in the coarse space */
static PetscErrorCode Transfers(const Setting *s)
{
  World     w;
  VpMesh    mesh;
  VpProblem plain;
  VpLevel   coarse;
  double   *u, *v, *Pu, *Rv, scale;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, s, &w));
  plain = w.problem;
  plain.coefficient = NULL;
  PetscCall(VpMeshCoarsen(w.mesh, w.mesh->geometry->lattice, VP_COARSEN_FULL, &mesh));
  PetscCall(VpLevelSetTransfer(w.outer));
  PetscCall(VpLevelCreate(mesh, &plain, VP_BASIS_ORTHONORMAL, VP_DOUBLE, TestBackend(), &coarse));
  PetscCall(VectorCreate(w.outer, &v));
  PetscCall(VectorCreate(w.outer, &Pu));
  PetscCall(VectorCreate(coarse, &u));
  PetscCall(VectorCreate(coarse, &Rv));
  Fill(w.outer, 1, v);
  Fill(coarse, 2, u);
  PetscCall(Exchange(w.outer, VP_GHOST_SWEEP, v));
  PetscCall(Exchange(coarse, VP_GHOST_ALL, u));
  PetscCall(w.outer->ops->prolong(&w.outer->transfer, 0, w.mesh->nhalo, PETSC_FALSE, u, Pu));
  PetscCall(w.outer->ops->restrict_(&w.outer->transfer, v, Rv));
  scale = sqrt(Dot(w.outer, v, v) * Dot(coarse, u, u));
  TapOk((PetscBool)(fabs(Dot(w.outer, Pu, v) - Dot(coarse, u, Rv)) < 1e-13 * scale), "restriction_is_prolongation_transpose: %s", s->name);
  PetscCall(w.outer->ops->restrict_(&w.outer->transfer, Pu, Rv)); /* with the ghosts that prolongation made */
  TapOk((PetscBool)(Distance(coarse, u, Rv) < 1e-13), "restriction_undoes_prolongation, ghosts included: %s", s->name);
  PetscCall(VectorDestroy(w.outer, &v));
  PetscCall(VectorDestroy(w.outer, &Pu));
  PetscCall(VectorDestroy(coarse, &u));
  PetscCall(VectorDestroy(coarse, &Rv));
  PetscCall(VpLevelDestroy(&coarse));
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Adjoint(const Setting *s, const VpCycleOptions *o, const char kind[])
{
  const PetscBool symmetric = (PetscBool)(o->symmetric && o->pre == o->post);
  World           w;
  VpCycle         cycle;
  VpVector        r;
  double         *u, *v, *Mu, *Mv, scale;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, s, &w));
  PetscCall(VpCycleCreate(w.mesh, &w.problem, o, TestBackend(), NULL, &cycle));
  PetscCall(VectorCreate(w.outer, &u));
  PetscCall(VectorCreate(w.outer, &v));
  PetscCall(VectorCreate(w.outer, &Mu));
  PetscCall(VectorCreate(w.outer, &Mv));
  Fill(w.outer, 1, u);
  Fill(w.outer, 2, v);
  PetscCall(VpCycleBegin(cycle, 0, &r));
  PetscCall(VpVectorEnter(r, 1, u));
  PetscCall(VpCycleSolve(cycle, 0, PETSC_FALSE, PETSC_FALSE, 1, Mu));
  for (int transpose = symmetric ? 0 : 1; transpose < 2; transpose++) {
    PetscCall(VpCycleBegin(cycle, 0, &r));
    PetscCall(VpVectorEnter(r, 1, v));
    PetscCall(VpCycleSolve(cycle, 0, (PetscBool)transpose, PETSC_FALSE, 1, Mv));
    scale = sqrt(Dot(w.outer, Mu, Mu) * Dot(w.outer, v, v));
    TapOk((PetscBool)(fabs(Dot(w.outer, Mu, v) - Dot(w.outer, u, Mv)) < 1e-11 * scale),
          transpose ? "cycle_transpose_is_adjoint: %s, %s" : "symmetric_cycle_is_symmetric: %s, %s", s->name, kind);
  }
  PetscCall(VectorDestroy(w.outer, &u));
  PetscCall(VectorDestroy(w.outer, &v));
  PetscCall(VectorDestroy(w.outer, &Mu));
  PetscCall(VectorDestroy(w.outer, &Mv));
  PetscCall(VpCycleDestroy(&cycle));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Adjoints(const Setting *s)
{
  VpCycleOptions o = {.exchange = VP_EXCHANGE_COLOR, .precision = VP_DOUBLE, .post = 1};

  PetscFunctionBeginUser;
  if (s->boundary != VP_SIDE_DIRICHLET && s->grid[0] * s->grid[1] * s->grid[2] > 1)
    PetscFunctionReturn(PETSC_SUCCESS); /* their coarsest solver is an iteration */
  PetscCall(Adjoint(s, &o, "V(0,1)"));
  o.pre = 1;
  o.symmetric = PETSC_TRUE;
  PetscCall(Adjoint(s, &o, "symmetric V(1,1)"));
  o.post = 2;
  o.symmetric = PETSC_FALSE;
  o.type = VP_CYCLE_W;
  o.space = VP_SPACE_DIRICHLET;
  PetscCall(Adjoint(s, &o, "W(1,2) dirichlet"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  FOR_SETTINGS (s) PetscCall(Operator(s));
  FOR_SETTINGS (s) PetscCall(Transfers(s));
  FOR_SETTINGS (s) PetscCall(Adjoints(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
