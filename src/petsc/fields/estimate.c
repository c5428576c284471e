/* Error estimates of cells from residuals in cells and jumps across sides, in coefficients of the orthonormal basis. The norm of a function
   is the Euclidean norm of its coefficients. */
#include "estimate.h"

typedef struct {
  DM               dm;
  VpMesh           mesh;
  VpBasis          basis;
  const VpProblem *problem;
  int              dim, n, ndof, m; /* m: number of functions on a side */
  double          *u, *a;           /* [nlocal] coefficients of the solution, [nlocal] coefficient a */
  double          *trace; /* [nlocal][2 dim] coefficient on the cells' sides: a, or the exact coefficient in the middle of the side */
  double           second[VP_MAX_N * VP_MAX_N], half[2 * VP_MAX_N * VP_MAX_N]; /* second derivative; prolongation to halves */
  double           x[VP_MAX_N], w[VP_MAX_N], value[VP_MAX_N * VP_MAX_N];       /* [n] Gauss points and weights; [n][n] the basis there */
  VPatchDGFunction exact;                                                      /* exact coefficient, or NULL: a */
  VpGivenSides     sides;
} Estimate;

enum { MOST = VP_MAX_N * VP_MAX_N };
#define INSIDE 1e-6 /* distance to the side, relative to the cell's size */
typedef struct {
  double value[MOST], slope[MOST]; /* coefficients on a side of u and of its outward flux a du/dn */
} SideTraces;

/* phihat_i'' = sum_j second[j][i] phihat_j */
static void BuildSecondDerivative(const VpBasis *b, double second[])
{
  const int n = b->n;

  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      second[j * n + i] = -b->stiff[j * n + i];
      for (int s = 0; s < 2; s++) second[j * n + i] += b->value[s][j] * b->slope[s][i];
    }
  }
}

static double TraceOf(const Estimate *e, int32_t cell, int side)
{
  return e->trace[(size_t)cell * (size_t)(2 * e->dim) + (size_t)side];
}

/* |f + a Lap u - c u| on the cell; f: coefficients, which contain div(a grad u) if the coefficient is exact */
static double ComputeCellNorm(const Estimate *e, int32_t cell, const double f[])
{
  const double *u = e->u + (size_t)cell * e->ndof;
  double        r[MOST * VP_MAX_N];

  for (int i = 0; i < e->ndof; i++) {
    r[i] = f[i] - e->problem->reaction * u[i];

    for (int d = 0, stride = 1; d < e->dim && !e->exact; d++, stride *= e->n) {
      const double h = VpGeometrySize(e->mesh->geometry, cell, d);
      const int    at = i / stride % e->n;

      for (int j = 0; j < e->n; j++) r[i] += e->a[cell] / (h * h) * e->second[at * e->n + j] * u[i + (j - at) * stride];
    }
  }
  return VpNorm(e->ndof, r);
}

static SideTraces SideOf(const Estimate *e, int32_t cell, int side)
{
  const int     d = side / 2, s = side % 2, stride = (int)PetscPowInt(e->n, d);
  const double *u = e->u + (size_t)cell * e->ndof, h = VpGeometrySize(e->mesh->geometry, cell, d);
  SideTraces    t;

  for (int l = 0; l < e->m; l++) {
    const double *p = u + VpLineStart(e->n, stride, l);

    t.value[l] = t.slope[l] = 0;
    for (int i = 0; i < e->n; i++) {
      t.value[l] += e->basis.value[s][i] * p[i * stride] / sqrt(h);
      t.slope[l] += TraceOf(e, cell, side) * e->basis.slope[s][i] * p[i * stride] / (h * sqrt(h));
    }
  }
  return t;
}

/* sqrt of half of h/(k a) |[a du/dn]|^2 + a k(k+1)/h |[u]|^2 on a face between two cells. side: of cell[0]. half: number of the
   fine face on the side of cell[large]; -1: the face is the whole side of both */
static double ComputeFaceNorm(const Estimate *e, const int32_t cell[2], int side, int large, int half)
{
  const double h[2] = {VpGeometrySize(e->mesh->geometry, cell[0], side / 2), VpGeometrySize(e->mesh->geometry, cell[1], side / 2)};
  const double k = e->basis.degree, least = PetscMin(h[0], h[1]), mean = VpHarmonicMean(e->a[cell[0]], e->a[cell[1]]);
  SideTraces   at[2] = {SideOf(e, cell[0], side), SideOf(e, cell[1], side ^ 1)};

  if (half >= 0) {
    VpTransferApply(e->dim - 1, e->n, e->half, half, at[large].value);
    VpTransferApply(e->dim - 1, e->n, e->half, half, at[large].slope);
  }
  for (int l = 0; l < e->m; l++) {
    at[0].slope[l] += at[1].slope[l];
    at[0].value[l] -= at[1].value[l];
  }
  return hypot(sqrt(least / (k * mean)) * VpNorm(e->m, at[0].slope), sqrt(mean * k * (k + 1) / least) * VpNorm(e->m, at[0].value)) /
         PETSC_SQRT2;
}

/* norm on a side that hangs: on one face of a fine cell, or on all faces of a coarse cell */
static double ComputeHangingNorm(const Estimate *e, const VpFace *hang)
{
  const PetscBool coarse = (PetscBool)(hang->kind == VP_FACE_COARSE);
  const int       faces = coarse ? 1 << (e->dim - 1) : 1;
  double          norm = 0;

  for (int i = 0; i < faces; i++) {
    const int32_t cell[2] = {hang->cell[0], hang->cell[1 + i]};

    norm = hypot(norm, ComputeFaceNorm(e, cell, hang->side, !coarse, coarse ? i : hang->half));
  }
  return norm;
}

/* at: point q of a cell's side; phi: values of the side's functions there, times sqrt(weight). Returns the weight. */
static double EvaluatePoint(const Estimate *e, int32_t cell, int side, int q, PetscReal at[3], double phi[])
{
  const int    n = e->n, i = q % n, j = q / n;
  const double weight = e->w[i] * (e->dim == 3 ? e->w[j] : 1);
  PetscReal    xi[3];

  for (int d = 0, r = q; d < e->dim; d++) {
    xi[d] = side % 2;
    if (d == side / 2) continue;
    xi[d] = e->x[r % n];
    r /= n;
  }
  VpGeometryPoint(e->mesh->geometry, cell, xi, at);
  for (int l = 0; l < e->m; l++) phi[l] = sqrt(weight) * e->value[i * n + l % n] * (e->dim == 3 ? e->value[j * n + l / n] : 1);
  return weight;
}

/* Adds the norm on a boundary side: a k(k+1)/h |u - g|^2, or h/(k a) |a (du/dn + alpha u - g)|^2. */
static PetscErrorCode AddBoundary(const Estimate *e, int32_t cell, int side, int32_t beyond, double *norm)
{
  const PetscBool value = (PetscBool)(VpConditions[VpDomainSide(e->mesh->geometry->domain, beyond)].given == VP_GIVEN_VALUE);
  const double    h = VpGeometrySize(e->mesh->geometry, cell, side / 2), a = TraceOf(e, cell, side), k = e->basis.degree,
               alpha = VpDomainAlpha(e->mesh->geometry->domain, beyond);
  const SideTraces t = SideOf(e, cell, side);
  PetscReal        at[3] = {0}, normal[3] = {0};
  double           phi[MOST], difference[MOST];

  PetscFunctionBegin;
  normal[side / 2] = side % 2 ? 1 : -1;
  for (int q = 0; q < e->m; q++) {
    const double weight = EvaluatePoint(e, cell, side, q, at, phi);
    PetscScalar  g = 0;

    if (value && e->sides.dirichlet) PetscCall(e->sides.dirichlet(e->dim, at, &g, e->sides.ctx));
    if (!value && e->sides.flux) PetscCall(e->sides.flux(e->dim, at, normal, &g, e->sides.ctx));
    difference[q] = -(value ? 1 : a) * PetscRealPart(g) * sqrt(weight * VpGeometryArea(e->mesh->geometry, cell, side));
    for (int l = 0; l < e->m; l++) difference[q] += phi[l] * (value ? t.value[l] : t.slope[l] + alpha * a * t.value[l]);
  }
  *norm = hypot(*norm, sqrt(value ? a * k * (k + 1) / h : h / (k * a)) * VpNorm(e->m, difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* norm on a cell and its sides that do not hang */
static PetscErrorCode ComputeNorm(const Estimate *e, int32_t cell, const double f[], double *norm)
{
  const double k = e->basis.degree;

  PetscFunctionBegin;
  *norm = VpGeometryLeast(e->mesh->geometry, cell) / (k * sqrt(e->a[cell])) * ComputeCellNorm(e, cell, f);
  for (int side = 0; side < 2 * e->dim; side++) {
    const int32_t next = e->mesh->neighbor[(size_t)cell * 2 * e->dim + side];

    if (next == VP_HANGING) continue;
    if (next < 0) PetscCall(AddBoundary(e, cell, side, next, norm));
    else *norm = hypot(*norm, ComputeFaceNorm(e, (int32_t[]){cell, next}, side, 0, -1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the coefficient on the sides of an own cell. The exact coefficient may jump on the side, so it is evaluated slightly inside. */
static PetscErrorCode FindTraces(const Estimate *e, int32_t cell)
{
  double *trace = e->trace + (size_t)cell * (size_t)(2 * e->dim);

  PetscFunctionBegin;
  for (int side = 0; side < 2 * e->dim; side++) {
    PetscReal   xi[3] = {0.5, 0.5, 0.5}, x[3];
    PetscScalar a = e->a[cell];

    xi[side / 2] = side % 2 ? 1 - INSIDE : INSIDE;
    VpGeometryPoint(e->mesh->geometry, cell, xi, x);
    if (e->exact) PetscCall(e->exact(e->dim, x, &a, e->sides.ctx));
    trace[side] = PetscRealPart(a);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the solution and the coefficient on own cells and on face ghosts. */
static PetscErrorCode FetchSolution(Estimate *e, Vec x)
{
  const size_t       sides = (size_t)(2 * e->dim);
  const PetscScalar *own;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3((size_t)e->mesh->nlocal * e->ndof, &e->u, e->mesh->nlocal, &e->a, (size_t)e->mesh->nlocal * sides, &e->trace));
  PetscCall(VecGetArrayRead(x, &own));
  PetscCall(PetscArraycpy(e->u, own, (size_t)e->mesh->nown * e->ndof));
  PetscCall(VecRestoreArrayRead(x, &own));
  for (int32_t c = 0; c < e->mesh->nown; c++) e->a[c] = e->problem->coefficient ? e->problem->coefficient[c] : 1;
  for (int32_t c = 0; c < e->mesh->nown; c++) PetscCall(FindTraces(e, c));
  PetscCall(VpMeshExchange(e->mesh, VP_GHOST_FACE, (size_t)e->ndof, MPI_DOUBLE, e->u, e->u + (size_t)e->mesh->nown * e->ndof));
  PetscCall(VpMeshExchange(e->mesh, VP_GHOST_FACE, 1, MPI_DOUBLE, e->a, e->a + e->mesh->nown));
  PetscCall(VpMeshExchange(e->mesh, VP_GHOST_FACE, sides, MPI_DOUBLE, e->trace, e->trace + (size_t)e->mesh->nown * sides));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* norm: of (a - own) grad u_h / sqrt(a) on a cell, where a is the exact coefficient. at: points; flux: grad u_h there, which becomes a grad
   u_h. *positive becomes false if a is not a positive number. */
static PetscErrorCode ComputeCoefficientNorm(const Estimate *e, int32_t cell, const PetscScalar at[], PetscScalar flux[], double *norm,
                                             PetscBool *positive)
{
  double term[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N], volume = VpGeometryVolume(e->mesh->geometry, cell);

  PetscFunctionBegin;
  for (int q = 0; q < e->ndof; q++) {
    PetscScalar a = 0;
    double      weight = volume;

    PetscCall(e->exact(e->dim, at + q * e->dim, &a, e->sides.ctx));
    for (int d = 0, r = q; d < e->dim; d++, r /= e->n) weight *= e->w[r % e->n];
    for (int i = q * e->dim; i < (q + 1) * e->dim; i++) {
      term[i] = sqrt(weight / a) * (a - e->a[cell]) * flux[i];
      flux[i] *= a;
    }
    if (!(a > 0 && a < INFINITY)) *positive = PETSC_FALSE;
  }
  *norm = VpNorm(e->ndof * e->dim, term);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b += div(flux), for a flux that is given at every point */
static PetscErrorCode AddDivergence(DM dm, int dim, Vec flux, Vec b)
{
  Vec values, component, slopes;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(dm, &values));
  PetscCall(DMGetGlobalVector(dm, &component));
  PetscCall(VecDuplicate(flux, &slopes));
  for (int d = 0; d < dim; d++) {
    PetscCall(VecStrideGather(flux, d, values, INSERT_VALUES));
    PetscCall(DMVPatchDGSetPointValues(dm, values, component));
    PetscCall(DMVPatchDGGetPointGradients(dm, component, slopes));
    PetscCall(VecStrideGather(slopes, d, values, INSERT_VALUES));
    PetscCall(DMVPatchDGSetPointValues(dm, values, component));
    PetscCall(VecAXPY(b, 1, component));
  }
  PetscCall(VecDestroy(&slopes));
  PetscCall(DMRestoreGlobalVector(dm, &component));
  PetscCall(DMRestoreGlobalVector(dm, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Estimates the error from the approximation of a smooth coefficient by one number per cell. b += div(a grad u_h); term [own cells]: the
   norms of ComputeCoefficientNorm() */
static PetscErrorCode EstimateCoefficient(const Estimate *e, Vec x, Vec b, PetscReal term[], PetscBool *positive)
{
  const size_t       each = (size_t)e->ndof * (size_t)e->dim;
  const PetscScalar *at;
  PetscScalar       *values;
  Vec                points, flux;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetPoints(e->dm, &points));
  PetscCall(VecDuplicate(points, &flux));
  PetscCall(DMVPatchDGGetPointGradients(e->dm, x, flux));
  PetscCall(VecGetArrayRead(points, &at));
  PetscCall(VecGetArray(flux, &values));
  for (int32_t c = 0; c < e->mesh->nown; c++)
    PetscCall(ComputeCoefficientNorm(e, c, at + (size_t)c * each, values + (size_t)c * each, &term[c], positive));
  PetscCall(VecRestoreArray(flux, &values));
  PetscCall(VecRestoreArrayRead(points, &at));
  PetscCall(AddDivergence(e->dm, e->dim, flux, b));
  PetscCall(VecDestroy(&flux));
  PetscCall(VecDestroy(&points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of a DM with a metric */
static PetscErrorCode EstimateMetric(DM dm, Vec x, VPatchDGFunction f, const VpGivenSides *sides, PetscReal eta[])
{
  Vec b;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(dm, &b));
  PetscCall(VecZeroEntries(b));
  if (f) PetscCall(DMVPatchDGInterpolate(dm, f, sides->ctx, b));
  PetscCall(DMVPatchDGEstimateAtPoints(dm, x, b, sides, eta));
  PetscCall(DMRestoreGlobalVector(dm, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EstimateBy(DM dm, Vec x, VPatchDGFunction f, Estimate e, PetscReal eta[])
{
  const PetscScalar *source;
  double             R[2 * VP_MAX_N * VP_MAX_N];
  PetscBool          positive = PETSC_TRUE;
  Vec                b;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, "DMVPatchDGEstimate()"));
  PetscCall(DMVPatchDGCheckOfCells(dm, "DMVPatchDGEstimate()"));
  e.dm = dm;
  e.mesh = DMVPatchDGData(dm)->mesh;
  e.problem = &DMVPatchDGData(dm)->op->problem;
  PetscCheck(!e.problem->metric || !e.exact, e.mesh->comm, PETSC_ERR_ARG_INCOMP,
             "DMVPatchDGEstimateWithCoefficient(): the DM knows its coefficient at points. Give NULL, or call DMVPatchDGEstimate()");
  PetscCheck(e.problem->metric || !e.problem->tensor, e.mesh->comm, PETSC_ERR_SUP,
             "DMVPatchDGEstimate(): the coefficient is a tensor, which estimates know in the Gauss basis only (-dm_vpatchdg_basis gauss)");
  PetscCall(
    VpCheckEverywhere(e.mesh->comm, (PetscBool)(eta || !e.mesh->nown), "DMVPatchDGEstimate(): eta is NULL: it needs one number per cell"));
  if (e.problem->metric) {
    PetscCall(EstimateMetric(dm, x, f, &e.sides, eta));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VpBasisCreateFor(e.problem->quadrature, VP_BASIS_ORTHONORMAL, e.problem->degree, &e.basis));
  e.dim = e.mesh->dim;
  e.n = e.basis.n;
  e.m = (int)PetscPowInt(e.n, e.dim - 1);
  e.ndof = e.m * e.n;
  BuildSecondDerivative(&e.basis, e.second);
  VpGauss(e.n, e.x, e.w);
  for (int q = 0; q < e.n; q++) VpBasisEvaluate(&e.basis, e.x[q], e.value + q * e.n, NULL);
  VpTransferHalves(&e.basis, e.half, R);
  PetscCall(FetchSolution(&e, x));
  PetscCall(DMGetGlobalVector(dm, &b));
  PetscCall(VecZeroEntries(b));
  if (f) PetscCall(DMVPatchDGInterpolate(dm, f, e.sides.ctx, b));
  if (e.exact) PetscCall(EstimateCoefficient(&e, x, b, eta, &positive));
  PetscCall(VecGetArrayRead(b, &source));
  for (int32_t c = 0; c < e.mesh->nown; c++) {
    double norm;

    PetscCall(ComputeNorm(&e, c, source + (size_t)c * e.ndof, &norm));
    eta[c] = hypot(e.exact ? eta[c] : 0, norm);
  }
  for (int32_t i = 0; i < e.mesh->faces.n; i++) {
    PetscReal *at = &eta[e.mesh->faces.face[i].cell[0]];

    *at = hypot(*at, ComputeHangingNorm(&e, &e.mesh->faces.face[i]));
  }
  PetscCall(VecRestoreArrayRead(b, &source));
  PetscCall(DMRestoreGlobalVector(dm, &b));
  PetscCall(PetscFree3(e.u, e.a, e.trace));
  PetscCall(VpCheckEverywhere(e.mesh->comm, positive, "DMVPatchDGEstimateWithCoefficient(): the coefficient must be positive and finite"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGEstimate - Estimates the error of a solution on every cell

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  x         - the coefficients of u_h
.  f         - the source, or `NULL` for 0
.  dirichlet - u on Dirichlet sides, or `NULL` for 0
.  flux      - du/dn on Neumann sides and du/dn + alpha u on Robin sides, or `NULL` for 0
-  ctx       - context that is passed to the functions

   Output Parameter:
.  eta - one estimate for each of this rank's cells, in the order of `DMVPatchDGGetCellBounds()`; `NULL` on a rank without cells

   Level: intermediate

   Note:
   For the equation -div(a grad u) + c u = f, eta^2 is the sum of

.vb
   h^2/(k^2 a) |f + a Lap u_h - c u_h|^2 on the cell
   half of (h/(k a) |jump of a du_h/dn|^2 + a k(k+1)/h |jump of u_h|^2) on its inner sides, with the smaller h and the mean a of both cells
   a k(k+1)/h |u_h - u|^2 on its Dirichlet sides
   h/(k a) |a (du_h/dn + alpha u_h - flux)|^2 on its Neumann and Robin sides
.ve

   With one number per cell, a smooth coefficient reduces the order of convergence to two, whatever the degree
   (`DMVPatchDGSetCoefficient()`). This estimate does not see that error, because it knows only these numbers.
   `DMVPatchDGEstimateWithCoefficient()` sees it. The cure is a coefficient at points, `DMVPatchDGSetCoefficientFunction()`.

   In the Gauss basis (`DMVPatchDGSetBasis()`), with a coefficient at points and on mapped cells, h^2/a, h/a and a/h are those of the
   metric: with the normal derivative n.K grad u and a = n.K n on sides, h = |det J| / element of area; on a cell h^2/a is the least mean of
   |det J| over the mean of G_dd, the directions d of the reference cell. There the coefficient may be a matrix. In the Legendre basis it is
   an error if the coefficient is a tensor. In tests with smooth and singular solutions, the square root of the sum of eta^2 over all
   cells was 2 to 5 times the L2 error of the gradient.

.seealso: `DMVPATCHDG`, `DMVPatchDGEstimateWithCoefficient()`, `DMVPatchDGMark()`, `DMVPatchDGRefineCells()`, `DMVPatchDGTransfer()`,
          `DMVPatchDGComputeErrors()`
@*/
PetscErrorCode DMVPatchDGEstimate(DM dm, Vec x, VPatchDGFunction f, VPatchDGFunction dirichlet, VPatchDGFlux flux, void *ctx,
                                  PetscReal eta[])
{
  return EstimateBy(dm, x, f, (Estimate){.sides = {dirichlet, flux, ctx}}, eta);
}

/*@C
   DMVPatchDGEstimateWithCoefficient - Estimates the error of a solution on every cell, including that of a coefficient with one number per
   cell

   Collective

   Input Parameters:
+  dm        - the DM, set up
.  x         - the coefficients of u_h
.  a         - the exact coefficient, or `NULL` for the coefficient of the DM (`DMVPatchDGSetCoefficient()`)
.  f         - the source, or `NULL` for 0
.  dirichlet - u on Dirichlet sides, or `NULL` for 0
.  flux      - du/dn on Neumann sides and du/dn + alpha u on Robin sides, or `NULL` for 0
-  ctx       - context that is passed to the functions

   Output Parameter:
.  eta - one estimate for each of this rank's cells, in the order of `DMVPatchDGGetCellBounds()`; `NULL` on a rank without cells

   Level: intermediate

   Notes:
   The residual on a cell is f + div(a grad u_h) - c u_h, and the jumps on its sides are those of a du_h/dn, both with the exact coefficient
   a. In addition, eta^2 includes the square of the norm of (a - a_h)/sqrt(a) grad u_h, where a_h is the number of the cell. Integrals use
   the points of `DMVPatchDGGetPoints()`. On a side, a is evaluated near its midpoint.

   For a = 1 + 0.9 sin(2 pi x) sin(2 pi y), u = exp(x) sin(2 y + 1) and 64 x 64 cells, the two functions estimate
.vb
   degree  error of the gradient  DMVPatchDGEstimate()  with the exact a
      1         2.8e-2                2.1e-1                1.2e-1
      2         4.5e-2                3.3e-3                1.2e-1
      4         4.5e-2                1.0e-3                8.4e-2
      8         4.5e-2                4.7e-4                6.7e-2
.ve

.seealso: `DMVPATCHDG`, `DMVPatchDGEstimate()`, `DMVPatchDGMark()`, `DMVPatchDGSetCoefficient()`
@*/
PetscErrorCode DMVPatchDGEstimateWithCoefficient(DM dm, Vec x, VPatchDGFunction a, VPatchDGFunction f, VPatchDGFunction dirichlet,
                                                 VPatchDGFlux flux, void *ctx, PetscReal eta[])
{
  return EstimateBy(dm, x, f, (Estimate){.exact = a, .sides = {dirichlet, flux, ctx}}, eta);
}
