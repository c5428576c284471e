/* Mapped cells of adaptive meshes meet where they hang. So functions that are linear there are exact, and others have full order. */
/* ranks: 1 2 4 */
#include "support/leaves.h"
#include "../src/petsc/dmdata/dmdata.h"

/* the largest gap between the points of both sides of faces between own cells, by the cells' size */
static double LargestGap(DM dm)
{
  const VpMesh     mesh = DMVPatchDGData(dm)->mesh;
  const VpGeometry g = mesh->geometry;
  const int        dim = mesh->dim, parts = 1 << (dim - 1);
  double           gap = 0;

  for (int32_t i = 0; i < mesh->nown * 2 * dim * parts; i++) {
    const int32_t cell = i / (2 * dim * parts);
    const int     side = i / parts % (2 * dim), d = side / 2;
    int32_t       next = VpMeshNeighbor(mesh, cell, side);
    int           half = -1, count[3] = {1, 1, 1};
    double        x[2][3][3], X[2][27], lower[3], upper[3];

    if (next == VP_HANGING) {
      const VpFace *face = &mesh->faces.face[VpFaceAt(mesh->faces.n, mesh->faces.face, cell, side)];

      next = face->kind == VP_FACE_COARSE ? face->cell[1 + i % parts] : -1;
      half = i % parts;
    }
    if (next < 0 || next >= mesh->nown) continue;
    for (int e = 0, bit = 0; e < dim; e++) {
      count[e] = e == d ? 1 : 3;
      for (int q = 0; q < 3; q++) {
        x[1][e][q] = e == d ? 1 - side % 2 : 0.1 + 0.4 * q;
        x[0][e][q] = e == d ? side % 2 : half < 0 ? x[1][e][q] : (x[1][e][q] + (half >> bit & 1)) / 2;
      }
      bit += e != d;
    }
    for (int k = 0; k < 2; k++)
      VpGeometryEvaluate(g, k ? next : cell, count, (const double *const[]){x[k][0], x[k][1], x[k][2]}, X[k], NULL);
    VpGeometryExtent(g, cell, lower, upper);
    for (int k = 0; k < count[0] * count[1] * count[2] * dim; k++) gap = PetscMax(gap, fabs(X[0][k] - X[1][k]) / (upper[0] - lower[0]));
  }
  MPI_Allreduce(MPI_IN_PLACE, &gap, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return gap;
}

static PetscErrorCode Linear(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = 1 + x[0] - 2 * x[1] + (dim == 3 ? 3 * x[2] : 0);
  return 0;
}

static PetscErrorCode LinearGradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  g[0] = 1;
  g[1] = -2;
  if (dim == 3) g[2] = 3;
  return 0;
}

/* n.K grad u / n.K n + 2 u */
static PetscErrorCode LinearFlux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  PetscScalar g[3], u;
  PetscReal   flux = 0, weight = 0;

  PetscCall(LinearGradient(dim, x, g, ctx));
  PetscCall(Linear(dim, x, &u, ctx));
  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt e = 0; e < dim; e++) {
      flux += normal[d] * (d == e ? 3 : 1) * PetscRealPart(g[e]);
      weight += normal[d] * (d == e ? 3 : 1) * normal[e];
    }
  }
  value[0] = flux / weight + 2 * PetscRealPart(u);
  return 0;
}

static PetscErrorCode Zero(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 0;
  return 0;
}

static PetscErrorCode Full(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt d = 0; d < dim; d++) {
      for (PetscInt e = d; e < dim; e++) *a++ = d == e ? 3 : 1;
    }
  }
  return 0;
}

static PetscErrorCode SetFull(DM dm)
{
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGSetCoefficientFunction(dm, dim * (dim + 1) / 2, Full, PETSC_MEMTYPE_HOST, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a ring whose cells turn with the radius, so that the line where it closes is curved, too */
static PetscErrorCode Spiral(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar X[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal *at = x + i * dim, angle = 2 * PETSC_PI * at[1] + 0.4 * at[0] * at[0] + (dim == 3 ? 0.3 * at[2] * at[2] : 0);

    X[i * dim] = (1 + at[0]) * PetscCosReal(angle);
    X[i * dim + 1] = (1 + at[0]) * PetscSinReal(angle);
    if (dim == 3) X[i * dim + 2] = at[2];
  }
  return 0;
}

static PetscErrorCode SetFullOnRing(DM dm)
{
  VPatchDGBoundary boundary[6];

  PetscFunctionBeginUser;
  PetscCall(SetFull(dm));
  PetscCall(DMVPatchDGGetBoundary(dm, boundary));
  if (boundary[2] == VPATCHDG_BOUNDARY_PERIODIC) PetscCall(DMVPatchDGSetMap(dm, Spiral, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const curved[] = {
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 1 -dm_refine 2 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .08",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 2 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .1",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2 -dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,3,90 "
  "-dm_vpatchdg_boundary robin,dirichlet,dirichlet,robin -dm_vpatchdg_robin 2",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .06 -dm_vpatchdg_map_degree 1",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 1 -dm_refine 2 -dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,60 "
  "-dm_vpatchdg_boundary robin,dirichlet,dirichlet,robin,robin,dirichlet -dm_vpatchdg_robin 2",
  "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_vpatchdg_boxes 1,4 -dm_refine 1 "
  "-dm_vpatchdg_boundary robin,dirichlet,periodic,periodic -dm_vpatchdg_robin 2",
  "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 1 -dm_vpatchdg_boxes 1,4,1 -dm_refine 1 "
  "-dm_vpatchdg_boundary robin,dirichlet,periodic,periodic,dirichlet,dirichlet -dm_vpatchdg_robin 2",
};

/* The estimates of an exact solution are rounding errors. (In 3D the flux has a higher degree than k.) */
static PetscErrorCode HaveNoEstimate(const char options[], DM dm, Vec x)
{
  PetscReal *eta, most = 0;
  PetscInt   n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n + 1, &eta));
  PetscCall(DMVPatchDGEstimate(dm, x, Zero, Linear, LinearFlux, NULL, eta));
  for (PetscInt c = 0; c < n; c++) most = PetscMax(most, eta[c]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(most < 1e-9), "exact_solutions_have_no_estimate, %s: %.1e", options, (double)most);
  PetscCall(PetscFree(eta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Linear functions have the flux of one surface on faces of curved cells only if both sides lie on one another. (In 3D the rule of k+1
   points is exact for maps of degree 1.) */
static PetscErrorCode linear_functions_are_exact_on_curved_cells(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(curved); i++) {
    Problem   p;
    DM        dm;
    PetscReal l2, h1;
    PetscInt  its;

    PetscCall(CreateAdaptive(curved[i], SetFullOnRing, &dm));
    TapOk((PetscBool)(LargestGap(dm) < 1e-13), "cells_meet, %s: %.1e", curved[i], LargestGap(dm));
    PetscCall(ProblemOf(dm, NULL, &p));
    PetscCall(DMVPatchDGComputeRHS(dm, Zero, Linear, LinearFlux, NULL, p.b));
    PetscCall(
      SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-13 -ksp_max_it 80 -pc_type vpatchdg -pc_vpatchdg_precision double", NULL, &its, NULL));
    PetscCall(DMVPatchDGComputeErrors(dm, p.x, Linear, LinearGradient, NULL, &l2, &h1));
    TapOk((PetscBool)(l2 < 1e-10 && h1 < 1e-9), "linear_functions_are_exact_on_curved_cells, %s: %.1e, gradient %.1e, %d iterations",
          curved[i], (double)l2, (double)h1, (int)its);
    if (strstr(curved[i], "dim 2")) PetscCall(HaveNoEstimate(curved[i], dm, p.x));
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Smooth(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2 * x[0] + 0.3) * PetscExpReal(x[1]) + PetscCosReal(3 * x[0] * x[1]);
  return 0;
}

static PetscErrorCode SmoothGradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  const PetscReal s = PetscSinReal(3 * x[0] * x[1]);

  g[0] = 2 * PetscCosReal(2 * x[0] + 0.3) * PetscExpReal(x[1]) - 3 * x[1] * s;
  g[1] = PetscSinReal(2 * x[0] + 0.3) * PetscExpReal(x[1]) - 3 * x[0] * s;
  if (dim == 3) g[2] = 0;
  return 0;
}

static PetscErrorCode Varying(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) a[i] = 1 + 0.5 * PetscSinReal(x[i * dim] + x[i * dim + 1]);
  return 0;
}

static PetscErrorCode SmoothSource(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  const PetscReal c = PetscCosReal(3 * x[0] * x[1]), slope = 0.5 * PetscCosReal(x[0] + x[1]);
  PetscScalar     g[3];

  PetscCall(SmoothGradient(dim, x, g, ctx));
  f[0] =
    (1 + 0.5 * PetscSinReal(x[0] + x[1])) * (3 * PetscSinReal(2 * x[0] + 0.3) * PetscExpReal(x[1]) + 9 * (x[0] * x[0] + x[1] * x[1]) * c);
  f[0] -= slope * (g[0] + g[1]);
  return 0;
}

static PetscErrorCode SetVarying(DM dm)
{
  return DMVPatchDGSetCoefficientFunction(dm, 1, Varying, PETSC_MEMTYPE_HOST, NULL);
}

static const struct {
  PetscInt    dim, least, most; /* degrees */
  PetscInt    refine;
  const char *options;
} orders[] = {
  {2, 1, 4, 2, ""},
  {2, 1, 4, 3, "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .06"},
  {2, 1, 4, 3, "-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 0.5,1,90"},
  {3, 1, 2, 1, "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05"},
};

/* Refining all cells of an adaptive mesh reduces errors as on meshes of one level. */
static PetscErrorCode errors_have_full_order(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(orders); i++) {
    for (PetscInt k = orders[i].least; k <= orders[i].most; k++) {
      char      options[256];
      PetscReal error[2][2], order[2];
      PetscInt  its;
      DM        dm, next;

      PetscCall(PetscSNPrintf(options, sizeof(options), "-dm_vpatchdg_dim %d -dm_vpatchdg_degree %d -dm_refine %d %s", (int)orders[i].dim,
                              (int)k, (int)orders[i].refine, orders[i].options));
      PetscCall(CreateAdaptive(options, SetVarying, &dm));
      for (int level = 0; level < 2; level++) {
        Problem p;

        PetscCall(ProblemOf(dm, NULL, &p));
        PetscCall(PetscObjectReference((PetscObject)dm));
        PetscCall(DMVPatchDGComputeRHS(dm, SmoothSource, Smooth, NULL, NULL, p.b));
        PetscCall(SolveWith(&p, "-ksp_type fcg -ksp_fcg_mmax 1 -ksp_norm_type unpreconditioned -ksp_rtol 1e-11 -pc_type vpatchdg", NULL,
                            &its, NULL));
        PetscCall(DMVPatchDGComputeErrors(dm, p.x, Smooth, SmoothGradient, NULL, &error[level][0], &error[level][1]));
        PetscCall(ProblemDestroy(&p));
        PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &next));
        PetscCall(DMDestroy(&dm));
        dm = next;
      }
      PetscCall(DMDestroy(&dm));
      for (int e = 0; e < 2; e++) order[e] = PetscLog2Real(error[0][e] / error[1][e]);
      TapOk((PetscBool)(order[0] > (PetscReal)k + 0.6 && order[1] > (PetscReal)k - 0.4 && its < 50),
            "errors_have_full_order, %dD Q%d %s: L2 %.2e order %.2f, gradient %.2e order %.2f, %d iterations", (int)orders[i].dim, (int)k,
            orders[i].options, (double)error[1][0], (double)order[0], (double)error[1][1], (double)order[1], (int)its);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(linear_functions_are_exact_on_curved_cells());
  PetscCall(errors_have_full_order());
  PetscFunctionReturn(PETSC_SUCCESS);
}
