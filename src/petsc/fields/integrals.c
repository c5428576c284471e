/* Right-hand sides and norms of errors: integrals of functions of points, with k+3 Gauss points a direction. */
#include "quadrature.h"
#include "../../base/progress.h"

/* what every integral over cells needs */
typedef struct {
  VpMesh       mesh;
  VpQuadrature quad;
  VpLevel      level;
  int          ndof;
  int          nq3[3], n3[3]; /* numbers of points and functions by direction, 1 in a third that there is not */
  double      *value, *work;  /* [nq^dim] values, and VpTensor()'s work */
} Rule;

static PetscErrorCode RuleCreate(DM dm, Rule *rule)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetHostLevel(dm, &rule->level));
  rule->mesh = dg->mesh;
  PetscCall(VpQuadratureCreate(&rule->level->basis, dg->mesh->dim, rule->level->basis.n + 2, NULL, &rule->quad));
  for (int d = 0; d < 3; d++) {
    rule->nq3[d] = d < dg->mesh->dim ? rule->quad.nq : 1;
    rule->n3[d] = d < dg->mesh->dim ? rule->quad.n : 1;
  }
  rule->ndof = rule->n3[0] * rule->n3[1] * rule->n3[2];
  PetscCall(PetscMalloc2(VP_MAX_POINT, &rule->value, 2 * VP_MAX_POINT, &rule->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RuleDestroy(Rule *rule)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(rule->value, rule->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: x holds point p, and its weight in the reference cell is returned. Direction `skip` has no points: x[skip] is left as it is. */
static double Point(const Rule *rule, const PetscReal lower[], const PetscReal size[], int p, int skip, PetscReal x[])
{
  const VpQuadrature *quad = &rule->quad;
  double              w = 1;

  for (int d = 0; d < quad->dim; d++) {
    if (d == skip) continue;
    x[d] = lower[d] + size[d] * quad->x[p % quad->nq];
    w *= quad->w[p % quad->nq];
    p /= quad->nq;
  }
  return w;
}

/* b_i += (f, phi_i) on a cell where side < 0, a (f, gamma phi_i - d_n phi_i) on a Dirichlet side, a (flux, phi_i) on a Neumann side. There
   f is NULL. */
static PetscErrorCode AddIntegral(Rule *rule, int32_t cell, int side, PetscReal a, VPatchDGFunction f, VPatchDGFlux flux, void *ctx,
                                  PetscScalar b[])
{
  const VpBasis *basis = &rule->level->basis;
  const int      normal = side < 0 ? -1 : side / 2, end = side & 1, k = basis->degree;
  const double  *E[3] = {rule->quad.transpose, rule->quad.transpose, rule->quad.dim == 3 ? rule->quad.transpose : NULL};
  PetscReal      lower[3], size[3], x[3], n[3] = {0, 0, 0};
  int            cols[3] = {rule->nq3[0], rule->nq3[1], rule->nq3[2]};
  double         lift[VP_MAX_N], scale;
  PetscScalar    value;

  PetscFunctionBegin;
  VpMeshCellBounds(rule->mesh, cell, lower, size);
  scale = PetscSqrtReal(size[0] * size[1] * size[2]);
  if (side >= 0) {
    const double gamma = rule->level->problem.penalty * 2 * k * (k + 1) / size[normal];

    for (int i = 0; i < basis->n; i++)
      lift[i] = f ? gamma * basis->value[end][i] - basis->slope[end][i] / size[normal] : basis->value[end][i];
    E[normal] = lift;
    cols[normal] = 1;
    n[normal] = end ? 1 : -1;
    x[normal] = lower[normal] + (end ? size[normal] : 0);
    scale = a * scale / size[normal]; /* a |face| / sqrt|cell| */
  }
  for (int p = 0; p < cols[0] * cols[1] * cols[2]; p++) {
    const double w = Point(rule, lower, size, p, normal, x);

    value = 0;
    if (f) PetscCall(f(rule->quad.dim, x, &value, ctx));
    else PetscCall(flux(rule->quad.dim, x, n, &value, ctx));
    rule->value[p] = scale * w * value;
  }
  VpTensor(rule->n3, cols, E, rule->value, rule->value, rule->work);
  for (int i = 0; i < rule->ndof; i++) b[i] += rule->value[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* removes the part of b along the constants, with which a singular problem has no solution */
static PetscErrorCode MakeConsistent(DM dm, Vec b)
{
  Vec         one;
  PetscScalar dot[2];

  PetscFunctionBegin;
  if (!DMVPatchDGIsSingular(dm)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(b, &one));
  PetscCall(DMVPatchDGFillConstant(dm, one));
  PetscCall(VecDot(b, one, &dot[0]));
  PetscCall(VecDot(one, one, &dot[1]));
  PetscCall(VecAXPY(b, -dot[0] / dot[1], one));
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGComputeRHS - Computes the right-hand side of -div(a grad u) + c u = f, u = g on Dirichlet sides, du/dn = h on Neumann sides

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  f         - the source, or `NULL`: 0
.  dirichlet - g, or `NULL`: 0
.  neumann   - h, the derivative along the outward unit normal, or `NULL`: 0
-  ctx       - passed to the functions

   Output Parameter:
.  b - the right-hand side, a vector of the DM: b_i = (f, phi_i) + (a g, gamma phi_i - d phi_i/dn) on Dirichlet sides + (a h, phi_i) on
Neumann sides, with the basis functions phi_i and the penalty gamma of `DMVPatchDGSetPenalty()`

   Level: beginner

   Notes:
   Integrals are taken with k+3 Gauss points in every direction, cell by cell: jumps of f belong on faces of cells.

   A pure Neumann or periodic problem without reaction has solutions only for some data: the part of b along the constants is removed.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetBoundary()`, `DMVPatchDGInterpolate()`, `DMVPatchDGComputeErrors()`
@*/
PetscErrorCode DMVPatchDGComputeRHS(DM dm, VPatchDGFunction f, VPatchDGFunction dirichlet, VPatchDGFlux neumann, void *ctx, Vec b)
{
  DM_VPatchDG *dg;
  Rule         rule;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, b, "DMVPatchDGComputeRHS()"));
  dg = (DM_VPatchDG *)dm->data;
  PetscCall(RuleCreate(dm, &rule));
  PetscCall(VecZeroEntries(b));
  PetscCall(VecGetArray(b, &values));
  for (int32_t c = 0; c < dg->mesh->nown; c++) {
    PetscScalar    *cell = values + (size_t)c * rule.ndof;
    const PetscReal a = dg->op->problem.coefficient ? dg->op->problem.coefficient[c] : 1;

    PetscCall(VpProgress("right-hand side", c, dg->mesh->nown));
    if (f) PetscCall(AddIntegral(&rule, c, -1, 1, f, NULL, ctx, cell));
    for (int side = 0; side < 2 * rule.quad.dim; side++) {
      const VpSide beyond = VpDomainSide(dg->mesh->domain, dg->mesh->neighbor[(size_t)c * 2 * rule.quad.dim + side]);

      if (beyond == VP_SIDE_DIRICHLET && dirichlet) PetscCall(AddIntegral(&rule, c, side, a, dirichlet, NULL, ctx, cell));
      if (beyond == VP_SIDE_NEUMANN && neumann) PetscCall(AddIntegral(&rule, c, side, a, NULL, neumann, ctx, cell));
    }
  }
  PetscCall(VecRestoreArray(b, &values));
  PetscCall(RuleDestroy(&rule));
  PetscCall(MakeConsistent(dm, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values[point][n] = the n components of u at the points of a cell, 0 where there is no function */
static PetscErrorCode Evaluate(Rule *rule, int32_t cell, VPatchDGFunction u, int n, void *ctx, PetscScalar values[])
{
  PetscReal lower[3], size[3], x[3];

  PetscFunctionBegin;
  VpMeshCellBounds(rule->mesh, cell, lower, size);
  for (int p = 0; p < rule->quad.npoint; p++) {
    for (int i = 0; i < n; i++) values[p * n + i] = 0;
    Point(rule, lower, size, p, -1, x);
    if (u) PetscCall(u(rule->quad.dim, x, values + p * n, ctx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *square += the integral over a cell of (v - u)^2. v is the function of x (derivative < 0) or its derivative in that direction, u is every
   n-th number of `exact`. */
static void AddSquare(Rule *rule, int32_t cell, int derivative, const PetscScalar x[], const PetscScalar exact[], int n, PetscReal *square)
{
  const VpQuadrature *quad = &rule->quad;
  const double       *E[3] = {quad->value, quad->value, quad->dim == 3 ? quad->value : NULL};
  PetscReal           lower[3], size[3], point[3], volume, scale;

  VpMeshCellBounds(rule->mesh, cell, lower, size);
  volume = size[0] * size[1] * size[2];
  scale = (derivative < 0 ? 1 : 1 / size[derivative]) / PetscSqrtReal(volume);
  if (derivative >= 0) E[derivative] = quad->slope;
  VpTensor(rule->nq3, rule->n3, E, x, rule->value, rule->work);
  for (int p = 0; p < quad->npoint; p++)
    *square += volume * Point(rule, lower, size, p, -1, point) * PetscSqr(scale * rule->value[p] - exact[p * n]);
}

/*@C
   DMVPatchDGComputeErrors - Computes norms of u_h - u

   Collective

   Input Parameters:
+  dm       - the DM, set up
.  x        - the coefficients of u_h
.  u        - the function, or `NULL`: 0
.  gradient - its gradient (dim components), or `NULL`: 0
-  ctx      - passed to the functions

   Output Parameters:
+  l2 - the L2 norm of u_h - u, or `NULL`
-  h1 - the L2 norm of grad u_h - grad u, cell by cell, or `NULL`

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGComputeRHS()`, `DMVPatchDGInterpolate()`
@*/
PetscErrorCode DMVPatchDGComputeErrors(DM dm, Vec x, VPatchDGFunction u, VPatchDGFunction gradient, void *ctx, PetscReal *l2, PetscReal *h1)
{
  Rule               rule;
  const PetscScalar *values;
  PetscScalar       *exact;
  PetscReal          square[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, "DMVPatchDGComputeErrors()"));
  PetscCall(RuleCreate(dm, &rule));
  PetscCall(PetscMalloc1(rule.quad.npoint * rule.quad.dim, &exact));
  PetscCall(VecGetArrayRead(x, &values));
  for (int32_t c = 0; c < rule.mesh->nown; c++) {
    const PetscScalar *cell = values + (size_t)c * rule.ndof;

    PetscCall(VpProgress("errors", c, rule.mesh->nown));
    if (l2) {
      PetscCall(Evaluate(&rule, c, u, 1, ctx, exact));
      AddSquare(&rule, c, -1, cell, exact, 1, &square[0]);
    }
    if (h1) {
      PetscCall(Evaluate(&rule, c, gradient, rule.quad.dim, ctx, exact));
      for (int d = 0; d < rule.quad.dim; d++) AddSquare(&rule, c, d, cell, exact + d, rule.quad.dim, &square[1]);
    }
  }
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscCall(PetscFree(exact));
  PetscCall(RuleDestroy(&rule));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, square, 2, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)dm)));
  if (l2) *l2 = PetscSqrtReal(square[0]);
  if (h1) *h1 = PetscSqrtReal(square[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b = (1, phi_i), the coefficients of the function 1 */
PetscErrorCode DMVPatchDGComputeOnes_Private(KSP ksp, Vec b, void *ctx)
{
  DM dm;

  PetscFunctionBegin;
  if (((PetscObject)b)->refct > 1) PetscFunctionReturn(PETSC_SUCCESS); /* It is the caller's own b, of KSPSolve(ksp, b, x). */
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(DMVPatchDGCheckVector(dm, b, "The right-hand side f = 1"));
  PetscCall(DMVPatchDGFillConstant(dm, b));
  PetscCall(MakeConsistent(dm, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
