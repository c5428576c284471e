/* The operator with faces that hang, against its form by quadrature on all pairs of cells; functions on such meshes. */
/* ranks: 1 2 3 */
#include "support/leaves.h"

static const Case cases[] = {
  {"2D Q1", 2, 1, 2, VPATCHDG_DOMAIN_BOX, {D, D, D, D}, 0, 1, PETSC_FALSE},
  {"2D L-shape, Neumann, varying coefficient, Q3", 2, 3, 1, VPATCHDG_DOMAIN_LSHAPE, {N, N, N, N}, 0, 1, PETSC_TRUE},
  {"2D periodic, reaction, Q2", 2, 2, 1, VPATCHDG_DOMAIN_BOX, {P, P, N, N}, 2, 1.5, PETSC_FALSE},
  {"2D periodic, varying coefficient, Q5", 2, 5, 1, VPATCHDG_DOMAIN_BOX, {P, P, P, P}, 0, 1, PETSC_TRUE},
  {"2D mixed, Q8", 2, 8, 1, VPATCHDG_DOMAIN_BOX, {D, N, N, D}, 0, 2, PETSC_FALSE},
  {"3D mixed, Q1", 3, 1, 1, VPATCHDG_DOMAIN_BOX, {P, P, D, N, N, N}, 1, 1, PETSC_FALSE},
  {"3D Fichera, varying coefficient, Q2", 3, 2, 1, VPATCHDG_DOMAIN_FICHERA, {D, D, D, D, D, D}, 0, 1, PETSC_TRUE},
  {"3D Neumann, Q3", 3, 3, 1, VPATCHDG_DOMAIN_BOX, {N, N, N, N, N, N}, 0, 1, PETSC_FALSE}};

/* value and derivative along `normal` of a function, [n^dim] Legendre coefficients, at a point of a cell */
static void At(const Cells *all, PetscInt cell, const PetscScalar u[], int normal, const PetscReal x[], PetscReal out[2])
{
  PetscReal phi[3][2][VP_MAX_N];

  for (int d = 0; d < all->dim; d++) {
    const PetscReal l = all->lower[all->dim * cell + d], h = all->upper[all->dim * cell + d] - l;

    VpBasisEvaluate(&all->basis, (x[d] - l) / h, phi[d][0], phi[d][1]);
    for (int i = 0; i < all->n; i++) {
      phi[d][0][i] /= PetscSqrtReal(h);
      phi[d][1][i] /= h * PetscSqrtReal(h);
    }
  }
  out[0] = out[1] = 0;
  for (int i = 0; i < PetscPowInt(all->n, all->dim); i++) {
    for (int k = 0; k < 2; k++) {
      PetscReal product = PetscRealPart(u[i]);

      for (int d = 0, r = i; d < all->dim; d++, r /= all->n) product *= phi[d][k && d == normal][r % all->n];
      out[k] += product;
    }
  }
}

/* the form of the face between cells i and j (moved by `shift`) at the upper side of i along d, applied to u and v; 0
   where they share none */
static PetscReal FaceForm(const Cells *all, const Case *c, PetscInt i, PetscInt j, int d, const PetscReal shift[], const PetscScalar u[],
                          const PetscScalar v[])
{
  const int       nq = all->n + 1, ndof = (int)PetscPowInt(all->n, all->dim), k = all->n - 1;
  const PetscReal hi = all->upper[all->dim * i + d] - all->lower[all->dim * i + d];
  const PetscReal hj = all->upper[all->dim * j + d] - all->lower[all->dim * j + d];
  const PetscReal a = 2 * all->a[i] * all->a[j] / (all->a[i] + all->a[j]);
  PetscReal       lower[3], size[3], sum = 0, ratio = 1, gamma;
  double          x[VP_MAX_N + 2], w[VP_MAX_N + 2];

  if (PetscAbsReal(all->upper[all->dim * i + d] - all->lower[all->dim * j + d] - shift[d]) > 1e-12) return 0;
  for (int e = 0; e < all->dim; e++) {
    const PetscReal *li = all->lower + all->dim * i, *ui = all->upper + all->dim * i, *lj = all->lower + all->dim * j;
    const PetscReal *uj = all->upper + all->dim * j;

    if (e == d) continue;
    lower[e] = PetscMax(li[e], lj[e] + shift[e]);
    size[e] = PetscMin(ui[e], uj[e] + shift[e]) - lower[e];
    if (size[e] < 1e-12) return 0;
    ratio = (ui[e] - li[e]) / (uj[e] - lj[e]);
  }
  /* the penalty between a coarse cell and one of its level that has the fine one's box */
  gamma = c->penalty * k * (k + 1) * (1 / (hi * (ratio < 0.9 ? 2 : 1)) + 1 / (hj * (ratio > 1.1 ? 2 : 1)));
  VpGauss(nq, x, w);
  for (int q = 0; q < PetscPowInt(nq, all->dim - 1); q++) {
    PetscReal at[3], there[3], weight = a, U[2], V[2], Ub[2], Vb[2];

    for (int e = 0, r = q; e < all->dim; e++) {
      at[e] = e == d ? all->upper[all->dim * i + d] : lower[e] + size[e] * x[r % nq];
      if (e != d) weight *= size[e] * w[r % nq];
      if (e != d) r /= nq;
      there[e] = at[e] - shift[e];
    }
    At(all, i, u + ndof * i, d, at, U);
    At(all, i, v + ndof * i, d, at, V);
    At(all, j, u + ndof * j, d, there, Ub);
    At(all, j, v + ndof * j, d, there, Vb);
    sum += weight * (gamma * (U[0] - Ub[0]) * (V[0] - Vb[0]) - (U[1] + Ub[1]) / 2 * (V[0] - Vb[0]) - (U[0] - Ub[0]) * (V[1] + Vb[1]) / 2);
  }
  return sum;
}

/* The terms of cells and boundaries are known from uniform meshes: so the form of all faces is (A u, v) less that of a
   DM without. Here it is found by quadrature on all pairs of cells, and the rest by the same operator on one cell at a
   time, whose only faces are boundaries. */
static PetscErrorCode OneCell(const Case *c, const Cells *all, PetscInt cell, const PetscScalar u[], const PetscScalar v[],
                              const PetscReal span[2][3], PetscReal *form)
{
  VPatchDGBoundary side[6] = {N, N, N, N, N, N};
  PetscScalar     *values, product;
  PetscInt         one[3] = {1, 1, 1};
  DM               dm;
  Mat              A;
  Vec              x, y;

  PetscFunctionBeginUser;
  for (int s = 0; s < 2 * all->dim; s++) {
    const PetscReal at = (s % 2 ? all->upper : all->lower)[all->dim * cell + s / 2];
    PetscBool       end = (PetscBool)(PetscAbsReal(at - span[s % 2][s / 2]) < 1e-12);

    if (c->domain != VPATCHDG_DOMAIN_BOX && s % 2) { /* the sides around the box that is missing at the upper end */
      PetscBool inside = (PetscBool)(PetscAbsReal(at) < 1e-12);

      for (int d = 0; d < all->dim; d++) inside = (PetscBool)(inside && (d == s / 2 || all->lower[all->dim * cell + d] > -1e-12));
      end = (PetscBool)(end || inside);
    }
    if (end && c->boundary[s] == D) side[s] = D;
  }
  PetscCall(DMVPatchDGCreate(PETSC_COMM_SELF, all->dim, all->n - 1, 0, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, one, all->lower + all->dim * cell, all->upper + all->dim * cell));
  PetscCall(DMVPatchDGSetBoundary(dm, side));
  PetscCall(DMVPatchDGSetPenalty(dm, c->penalty));
  PetscCall(DMVPatchDGSetReaction(dm, c->reaction));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGSetCoefficient(dm, &all->a[cell]));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  for (int i = 0; i < 2; i++) {
    const PetscInt ndof = PetscPowInt(all->n, all->dim);

    PetscCall(VecGetArrayWrite(i ? y : x, &values));
    PetscCall(PetscArraycpy(values, (i ? v : u) + ndof * cell, ndof));
    PetscCall(VecRestoreArrayWrite(i ? y : x, &values));
  }
  {
    Vec z;

    PetscCall(VecDuplicate(x, &z));
    PetscCall(MatMult(A, x, z));
    PetscCall(VecDot(z, y, &product));
    PetscCall(VecDestroy(&z));
  }
  *form = PetscRealPart(product);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all values of a vector on every rank */
static PetscErrorCode ToAll(Vec v, Vec *all)
{
  VecScatter scatter;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToAll(v, &scatter, all));
  PetscCall(VecScatterBegin(scatter, v, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, v, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* by more than boxes do */
static PetscBool DifferInSize(const Cells *all)
{
  PetscReal least = PETSC_MAX_REAL, most = 0;

  for (PetscInt c = 0; c < all->ncell; c++) {
    const PetscReal h = all->upper[all->dim * c + 1] - all->lower[all->dim * c + 1];

    least = PetscMin(least, h);
    most = PetscMax(most, h);
  }
  return (PetscBool)(most > 1.5 * least);
}

static PetscErrorCode operator_is_the_form(const Case *c, DM dm, Mat A)
{
  PetscReal          span[2][3], shift[3], form = 0, one = 0;
  const PetscScalar *u, *v;
  PetscScalar        product;
  Cells              all;
  Vec                x, y, z, X, Y;

  PetscFunctionBeginUser;
  PetscCall(CellsCreate(dm, &all));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(y, NULL));
  PetscCall(MatMult(A, x, z));
  PetscCall(VecDot(z, y, &product));
  PetscCall(ToAll(x, &X));
  PetscCall(ToAll(y, &Y));
  PetscCall(VecGetArrayRead(X, &u));
  PetscCall(VecGetArrayRead(Y, &v));
  for (int d = 0; d < all.dim; d++) {
    span[0][d] = span[1][d] = all.lower[d];
    for (PetscInt i = 0; i < all.ncell; i++) {
      span[0][d] = PetscMin(span[0][d], all.lower[all.dim * i + d]);
      span[1][d] = PetscMax(span[1][d], all.upper[all.dim * i + d]);
    }
  }
  for (PetscInt i = 0; i < all.ncell; i++) {
    PetscCall(OneCell(c, &all, i, u, v, (const PetscReal(*)[3])span, &one));
    form += one;
    for (PetscInt j = 0; j < all.ncell; j++) {
      for (int d = 0; d < all.dim; d++) {
        for (int e = 0; e < 3; e++) shift[e] = 0;
        form += FaceForm(&all, c, i, j, d, shift, u, v);
        shift[d] = span[1][d] - span[0][d];
        if (c->boundary[2 * d] == P) form += FaceForm(&all, c, i, j, d, shift, u, v);
      }
    }
  }
  TapOk(DifferInSize(&all), "cells_have_different_levels, %s: %d cells", c->name, (int)all.ncell);
  TapOk((PetscBool)(PetscAbsReal(form - PetscRealPart(product)) < 1e-11 * PetscAbsReal(form)), "operator_is_the_form, %s: %g", c->name,
        (double)(PetscAbsReal(form - PetscRealPart(product)) / PetscAbsReal(form)));
  PetscCall(VecRestoreArrayRead(X, &u));
  PetscCall(VecRestoreArrayRead(Y, &v));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&X));
  PetscCall(VecDestroy(&Y));
  PetscCall(CellsDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode matrix_free_equals_assembled(const Case *c, Mat A, Mat B)
{
  PetscReal      distance[3], norm[2];
  Vec            x, y, z, w;
  const NormType types[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(Difference(y, z, &distance[0]));
  PetscCall(MatMultTranspose(B, x, z));
  PetscCall(Difference(y, z, &distance[1]));
  TapOk((PetscBool)(distance[0] < 1e-13 && distance[1] < 1e-13), "matrix_free_equals_assembled_and_its_transpose, %s", c->name);
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(B, z));
  PetscCall(Difference(y, z, &distance[0]));
  for (int i = 0; i < 3; i++) {
    PetscCall(MatNorm(A, types[i], &norm[0]));
    PetscCall(MatNorm(B, types[i], &norm[1]));
    distance[0] = PetscMax(distance[0], PetscAbsReal(norm[0] - norm[1]) / norm[1]);
  }
  PetscCall(VecSetRandom(y, NULL));
  PetscCall(MatResidual(A, y, x, z));
  PetscCall(VecDuplicate(y, &w));
  PetscCall(MatMult(B, x, w));
  PetscCall(VecAYPX(w, -1, y));
  PetscCall(Difference(z, w, &distance[1]));
  PetscCall(VecDestroy(&w));
  TapOk((PetscBool)(distance[0] < 1e-13 && distance[1] < 1e-13), "diagonal_norms_and_residual_match_assembled, %s", c->name);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode nullspace_is_attached(const Case *c, Mat A)
{
  PetscBool    singular = (PetscBool)(c->reaction == 0), is = PETSC_FALSE;
  MatNullSpace nullspace;

  PetscFunctionBeginUser;
  for (PetscInt side = 0; side < 2 * c->dim; side++) singular = (PetscBool)(singular && c->boundary[side] != D);
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceTest(nullspace, A, &is));
  TapOk((PetscBool)(is == singular), "nullspace_is_attached, %s", c->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u = prod_d (x_d^k + x_d/2) is in the space */
static PetscErrorCode Polynomial(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  const int k = *(int *)ctx;

  value[0] = 1;
  for (PetscInt d = 0; d < dim; d++) value[0] *= PetscPowRealInt(x[d], k) + x[d] / 2;
  return PETSC_SUCCESS;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  const int k = *(int *)ctx;

  value[0] = 0;
  for (PetscInt d = 0; d < dim; d++) {
    PetscScalar product = -k * (k - 1) * (k > 1 ? PetscPowRealInt(x[d], k - 2) : 0);

    for (PetscInt e = 0; e < dim; e++) product *= e == d ? 1 : PetscPowRealInt(x[e], k) + x[e] / 2;
    value[0] += product;
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode Normal(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  const int k = *(int *)ctx;

  value[0] = 0;
  for (PetscInt d = 0; d < dim; d++) {
    PetscScalar product = normal[d] * (k * PetscPowRealInt(x[d], k - 1) + 0.5);

    for (PetscInt e = 0; e < dim; e++) product *= e == d ? 1 : PetscPowRealInt(x[e], k) + x[e] / 2;
    value[0] += product;
  }
  return PETSC_SUCCESS;
}

/* A u = b for the function u in the space; its values at points, and its integral over a cell */
static PetscErrorCode polynomials_are_reproduced(const Case *c, DM dm, Mat A)
{
  const PetscInt n = 40;
  int            k = (int)c->degree;
  PetscReal      points[120], error, worst = 0, l2, h1;
  PetscScalar    values[40], exact;
  Vec            u, b, y;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n * c->dim; i++) {
    const PetscReal at[3] = {(PetscReal)i, 0, 0};

    points[i] = Lot(at, at, 1, 3) - (c->domain == VPATCHDG_DOMAIN_BOX ? 0 : 1); /* in all of the domains */
  }
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(DMVPatchDGInterpolate(dm, Polynomial, &k, u));
  PetscCall(DMVPatchDGEvaluate(dm, u, n, points, values));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(Polynomial(c->dim, points + i * c->dim, &exact, &k));
    worst = PetscMax(worst, PetscAbsScalar(values[i] - exact));
  }
  PetscCall(DMVPatchDGComputeErrors(dm, u, Polynomial, NULL, &k, &l2, &h1));
  TapOk((PetscBool)(worst < 1e-10 && l2 < 1e-10), "functions_are_found_at_points, %s", c->name);
  if (c->coefficient || c->reaction > 0 || c->boundary[0] == P) goto end;
  PetscCall(DMVPatchDGComputeRHS(dm, Source, Polynomial, Normal, &k, b));
  PetscCall(MatMult(A, u, y));
  PetscCall(Difference(y, b, &error));
  TapOk((PetscBool)(error < 1e-9), "polynomials_are_reproduced, %s: %g", c->name, (double)error);
end:
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckOperator(const Case *c)
{
  DM  dm;
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(c, &dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMSetMatType(dm, MATAIJ));
  PetscCall(DMCreateMatrix(dm, &B));
  PetscCall(operator_is_the_form(c, dm, A));
  PetscCall(matrix_free_equals_assembled(c, A, B));
  PetscCall(nullspace_is_attached(c, A));
  PetscCall(polynomials_are_reproduced(c, dm, A));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(CheckOperator(&cases[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
