/* Error estimates of cells: residuals in cells and jumps across sides (residuals.c), and what an exact coefficient adds. */
#include "estimate.h"

#define INSIDE 1e-6 /* distance to the side, relative to the cell's size */

/* Computes the exact coefficient on the sides of own cells. It may jump on a side, so it is evaluated slightly inside. */
static PetscErrorCode FindTraces(VpMesh mesh, const VpPointCoefficient *exact, void *ctx)
{
  const int sides = 2 * mesh->dim;

  PetscFunctionBegin;
  for (int32_t i = 0; i < mesh->nown * sides; i++) {
    const int   side = i % sides;
    PetscReal   xi[3] = {0.5, 0.5, 0.5}, x[3];
    PetscScalar a = 0;

    xi[side / 2] = side % 2 ? 1 - INSIDE : INSIDE;
    VpGeometryPoint(mesh->geometry, i / sides, xi, x);
    PetscCall(exact->a(mesh->dim, x, &a, ctx));
    exact->trace[i] = PetscRealPart(a);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an exact coefficient, and what it is compared with at the points of cells */
typedef struct {
  VpMesh           mesh;
  const VpProblem *problem;
  VPatchDGFunction exact;
  void            *ctx;
  int              n, ndof;
  double           weight[VP_MAX_N];
} Compared;

/* norm: of (a - own) grad u_h / sqrt(a) on a cell, where a is the exact coefficient. at: points; flux: grad u_h there, which becomes a grad
   u_h. *positive becomes false if a is not a positive number. */
static PetscErrorCode ComputeCoefficientNorm(const Compared *e, int32_t cell, const PetscScalar at[], PetscScalar flux[], double *norm,
                                             PetscBool *positive)
{
  const int    dim = e->mesh->dim;
  const double own = VpProblemCoefficient(e->problem, cell, 0), volume = VpGeometryVolume(e->mesh->geometry, cell);
  double       term[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N];

  PetscFunctionBegin;
  for (int q = 0; q < e->ndof; q++) {
    const double weight = volume * VpPointWeight(dim, e->n, e->weight, q);
    PetscScalar  a = 0;

    PetscCall(e->exact(dim, at + q * dim, &a, e->ctx));
    for (int i = q * dim; i < (q + 1) * dim; i++) {
      term[i] = sqrt(weight / a) * (a - own) * flux[i];
      flux[i] *= a;
    }
    if (!(a > 0 && a < INFINITY)) *positive = PETSC_FALSE;
  }
  *norm = VpNorm(e->ndof * dim, term);
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
static PetscErrorCode EstimateCoefficient(DM dm, Compared e, Vec x, Vec b, PetscReal term[], PetscBool *positive)
{
  const PetscScalar *at;
  PetscScalar       *values;
  Vec                points, flux;
  double             gauss[VP_MAX_N];
  size_t             each;

  PetscFunctionBegin;
  e.n = e.problem->degree + 1;
  e.ndof = VpFaceSize(e.n, e.mesh->dim) * e.n;
  each = (size_t)(e.ndof * e.mesh->dim);
  VpGauss(e.n, gauss, e.weight);
  PetscCall(DMVPatchDGGetPoints(dm, &points));
  PetscCall(VecDuplicate(points, &flux));
  PetscCall(DMVPatchDGGetPointGradients(dm, x, flux));
  PetscCall(VecGetArrayRead(points, &at));
  PetscCall(VecGetArray(flux, &values));
  for (int32_t c = 0; c < e.mesh->nown; c++)
    PetscCall(ComputeCoefficientNorm(&e, c, at + (size_t)c * each, values + (size_t)c * each, &term[c], positive));
  PetscCall(VecRestoreArray(flux, &values));
  PetscCall(VecRestoreArrayRead(points, &at));
  PetscCall(AddDivergence(dm, e.mesh->dim, flux, b));
  PetscCall(VecDestroy(&flux));
  PetscCall(VecDestroy(&points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckEstimate(DM dm, PetscBool exact, const PetscReal eta[])
{
  const VpMesh     mesh = DMVPatchDGData(dm)->mesh;
  const VpProblem *problem = &DMVPatchDGData(dm)->op->problem;

  PetscFunctionBegin;
  PetscCheck(!problem->metric || !exact, mesh->comm, PETSC_ERR_ARG_INCOMP,
             "DMVPatchDGEstimateWithCoefficient(): the DM knows its coefficient at points. Give NULL, or call DMVPatchDGEstimate()");
  PetscCheck(problem->metric || !problem->tensor, mesh->comm, PETSC_ERR_SUP,
             "DMVPatchDGEstimate(): the coefficient is a tensor, which estimates know in the Gauss basis only (-dm_vpatchdg_basis gauss)");
  PetscCall(
    VpCheckEverywhere(mesh->comm, (PetscBool)(eta || !mesh->nown), "DMVPatchDGEstimate(): eta is NULL: it needs one number per cell"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EstimateBy(DM dm, Vec x, VPatchDGFunction f, VPatchDGFunction a, const VpGivenSides *sides, PetscReal eta[])
{
  VpPointCoefficient exact = {.a = a};
  PetscBool          positive = PETSC_TRUE;
  VpMesh             mesh;
  Vec                b, values, source;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, x, "DMVPatchDGEstimate()"));
  PetscCall(DMVPatchDGCheckOfCells(dm, "DMVPatchDGEstimate()"));
  PetscCall(CheckEstimate(dm, (PetscBool)(a != NULL), eta));
  mesh = DMVPatchDGData(dm)->mesh;
  PetscCall(PetscMalloc1((size_t)(a ? mesh->nown : 0) * 2 * (size_t)mesh->dim, &exact.trace));
  PetscCall(DMVPatchDGCreatePointVector(dm, &values));
  PetscCall(VecDuplicate(values, &source));
  PetscCall(DMVPatchDGGetPointValues(dm, x, values));
  PetscCall(DMGetGlobalVector(dm, &b));
  PetscCall(VecZeroEntries(b));
  if (f) PetscCall(DMVPatchDGInterpolate(dm, f, sides->ctx, b));
  if (a) {
    const Compared compared = {.mesh = mesh, .problem = &DMVPatchDGData(dm)->op->problem, .exact = a, .ctx = sides->ctx};

    PetscCall(FindTraces(mesh, &exact, sides->ctx));
    PetscCall(EstimateCoefficient(dm, compared, x, b, eta, &positive));
  }
  PetscCall(DMVPatchDGGetPointValues(dm, b, source));
  PetscCall(DMRestoreGlobalVector(dm, &b));
  PetscCall(DMVPatchDGEstimateResiduals(dm, values, source, &exact, sides, eta));
  PetscCall(VecDestroy(&source));
  PetscCall(VecDestroy(&values));
  PetscCall(PetscFree(exact.trace));
  PetscCall(VpCheckEverywhere(mesh->comm, positive, "DMVPatchDGEstimateWithCoefficient(): the coefficient must be positive and finite"));
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
  return EstimateBy(dm, x, f, NULL, &(VpGivenSides){dirichlet, flux, ctx}, eta);
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
  return EstimateBy(dm, x, f, a, &(VpGivenSides){dirichlet, flux, ctx}, eta);
}
