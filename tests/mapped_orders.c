/* Orders of convergence on mapped cells, on boxes, and on trees that are turned, with a full matrix that varies; iterations of the
   cycle. -slow: more maps and degrees, which take minutes; -slow torus: those of this map */
/* ranks: 1 2 */
#include "support/problem.h"

/* the matrix is s(x) times this constant one */
static const PetscReal matrix[2][3][3] = {{{2, 0.5, 0}, {0.5, 1, 0}, {0, 0, 1}}, {{2, 0.5, 0.3}, {0.5, 1, 0.2}, {0.3, 0.2, 1.5}}};

static PetscReal Scale(const PetscReal x[])
{
  return 1 + 0.5 * PetscSinReal(x[0] + x[1]);
}

static PetscErrorCode Coefficient(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt d = 0; d < dim; d++) {
      for (PetscInt e = d; e < dim; e++) *a++ = Scale(x + i * dim) * matrix[dim - 2][d][e];
    }
  }
  return 0;
}

/* u = exp(x) sin(2y + 1) cos(z) */
static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscExpReal(x[0]) * PetscSinReal(2 * x[1] + 1) * (dim == 3 ? PetscCosReal(x[2]) : 1);
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  const PetscReal e = PetscExpReal(x[0]), s = PetscSinReal(2 * x[1] + 1), c = PetscCosReal(2 * x[1] + 1),
                  z = dim == 3 ? PetscCosReal(x[2]) : 1;

  g[0] = e * s * z;
  g[1] = 2 * e * c * z;
  if (dim == 3) g[2] = -e * s * PetscSinReal(x[2]);
  return 0;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  const PetscReal e = PetscExpReal(x[0]), s = PetscSinReal(2 * x[1] + 1), c = PetscCosReal(2 * x[1] + 1);
  const PetscReal z = dim == 3 ? PetscCosReal(x[2]) : 1, w = dim == 3 ? -PetscSinReal(x[2]) : 0, slope = 0.5 * PetscCosReal(x[0] + x[1]);
  const PetscReal hessian[3][3] = {
    {e * s * z, 2 * e * c * z, e * s * w}, {2 * e * c * z, -4 * e * s * z, 2 * e * c * w}, {e * s * w, 2 * e * c * w, -e * s * z}};
  PetscScalar g[3];

  PetscCall(Gradient(dim, x, g, ctx));
  f[0] = 0;
  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt k = 0; k < dim; k++) f[0] -= matrix[dim - 2][d][k] * ((d < 2 ? slope : 0) * g[k] + Scale(x) * hessian[d][k]);
  }
  return 0;
}

/* n.K grad u / n.K n + u */
static PetscErrorCode Flux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  PetscScalar g[3], u;
  PetscReal   flux = 0, weight = 0;

  PetscCall(Gradient(dim, x, g, ctx));
  PetscCall(Solution(dim, x, &u, ctx));
  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt e = 0; e < dim; e++) {
      flux += normal[d] * matrix[dim - 2][d][e] * PetscRealPart(g[e]);
      weight += normal[d] * matrix[dim - 2][d][e] * normal[e];
    }
  }
  value[0] = flux / weight + u;
  return 0;
}

/* the root of the sum of the squares of estimates */
static PetscErrorCode Estimate(DM dm, Vec x, PetscReal *total)
{
  PetscReal *eta;
  PetscInt   n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n + 1, &eta));
  PetscCall(DMVPatchDGEstimate(dm, x, Source, Solution, Flux, NULL, eta));
  *total = 0;
  for (PetscInt c = 0; c < n; c++) *total += eta[c] * eta[c];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, total, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *total = PetscSqrtReal(*total);
  PetscCall(PetscFree(eta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* errors of u and its gradient, and the latter's estimate, on 2^refine cells in each direction; and the iterations. Data on thin cells make
   b up to 3e6 times as long as x, so that the tolerance is near rounding. */
static PetscErrorCode Measure(PetscInt dim, PetscInt degree, PetscInt refine, const char options[], PetscReal error[3], PetscInt *its)
{
  DM      dm;
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, &dm));
  PetscCall(TestDMOptions(dm, options));
  PetscCall(DMVPatchDGSetCoefficientFunction(dm, dim * (dim + 1) / 2, Coefficient, PETSC_MEMTYPE_HOST, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(DMVPatchDGComputeRHS(dm, Source, Solution, Flux, NULL, p.b));
  PetscCall(SolveWith(&p,
                      strstr(options, "domain")
                        ? "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-11 -pc_type jacobi"
                        : "-ksp_type fcg -ksp_fcg_mmax 1 -ksp_norm_type unpreconditioned -ksp_rtol 1e-15 -pc_type vpatchdg",
                      NULL, its, NULL));
  PetscCall(DMVPatchDGComputeErrors(dm, p.x, Solution, Gradient, NULL, &error[0], &error[1]));
  PetscCall(Estimate(dm, p.x, &error[2]));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt    dim, least, most; /* degrees */
  PetscInt    refine;
  const char *options;
} Row;
static const Row rows[] = {
  {2, 1, 6, 2, ""},
  {2, 1, 6, 2, "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .06"},
  {2, 1, 6, 2, "-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 0.5,1,90 -dm_vpatchdg_boundary dirichlet,robin,dirichlet,dirichlet"},
  {3, 1, 3, 1, ""},
  {3, 1, 3, 1,
   "-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,1.5,60 -dm_vpatchdg_boundary "
   "dirichlet,robin,dirichlet,dirichlet,robin,dirichlet"},
  {3, 2, 2, 2, "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .04"},
  {3, 2, 2, 1, "-dm_vpatchdg_boxes 1,2,1 -dm_vpatchdg_map torus -dm_vpatchdg_map_parameters 90"},
  {3, 2, 2, 1, "-dm_vpatchdg_boxes 2,1,1 -dm_vpatchdg_map bump -dm_vpatchdg_map_parameters 2"},
  {2, 1, 4, 1, "-dm_vpatchdg_domain disc -dm_vpatchdg_boundary dirichlet,robin,dirichlet,dirichlet"},
  {2, 2, 2, 1, "-dm_vpatchdg_domain star"},
  {3, 1, 3, 0, "-dm_vpatchdg_domain ball"},
  {3, 1, 3, 0,
   "-dm_vpatchdg_domain shell -dm_vpatchdg_domain_parameters .3,.6 -dm_vpatchdg_boundary "
   "dirichlet,robin,dirichlet,dirichlet,dirichlet,dirichlet"},
};

#define MAP(name, numbers) "-dm_vpatchdg_map " name " -dm_vpatchdg_map_parameters " numbers
static const Row slow[] = {
  {2, 7, 8, 2, MAP("sine", ".06")},
  {2, 7, 8, 2, MAP("annulus", "0.5,1,90")},
  {2, 1, 6, 3, MAP("bump", "2")},
  {2, 7, 7, 4, MAP("bump", "2")},
  {2, 8, 8, 3, MAP("bump", "2")},
  {3, 4, 5, 1, MAP("sine", ".04")},
  {3, 4, 5, 1, MAP("annulus", "1,1.5,60")},
  {3, 1, 2, 2, MAP("torus", "90") " -dm_vpatchdg_boxes 1,2,1"},
  {3, 3, 3, 3, MAP("torus", "90") " -dm_vpatchdg_boxes 1,2,1"},
  {3, 4, 5, 2, MAP("torus", "90") " -dm_vpatchdg_boxes 1,2,1"},
  {3, 1, 2, 2, MAP("bump", "2")},
  {3, 3, 3, 3, MAP("bump", "2")},
  {3, 4, 5, 2, MAP("bump", "2")},
};

static PetscErrorCode errors_have_full_order(const Row *row)
{
  PetscFunctionBeginUser;
  for (PetscInt k = row->least; k <= row->most; k++) {
    const PetscInt refine = row->refine + (k < (row->dim == 2 ? 6 : 3));
    PetscReal      coarse[3], fine[3], order[3];
    PetscInt       its;

    PetscCall(Measure(row->dim, k, refine, row->options, coarse, &its));
    PetscCall(Measure(row->dim, k, refine + 1, row->options, fine, &its));
    for (int e = 0; e < 3; e++) order[e] = PetscLog2Real(coarse[e] / fine[e]);
    TapOk((PetscBool)(order[0] > (PetscReal)k + 0.6 && order[1] > (PetscReal)k - 0.4 && (its < 60 || strstr(row->options, "domain"))),
          "errors_have_full_order, %dD Q%d %s: L2 %.2e order %.2f, gradient %.2e order %.2f, %d iterations", (int)row->dim, (int)k,
          row->options, (double)fine[0], (double)order[0], (double)fine[1], (double)order[1], (int)its);
    TapOk((PetscBool)(order[2] > (PetscReal)k - (row->dim == 2 ? 0.4 : 0.9) && fine[2] > fine[1] && fine[2] < 10 * fine[1]),
          "estimates_follow_the_error, %dD Q%d %s: %.2e order %.2f, %.1f times the error", (int)row->dim, (int)k, row->options,
          (double)fine[2], (double)order[2], (double)(fine[2] / fine[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  char      map[64] = "";
  PetscBool all;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-slow", map, sizeof(map), &all));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows) && !all; i++) PetscCall(errors_have_full_order(&rows[i]));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(slow) && all; i++) {
    if (strstr(slow[i].options, map)) PetscCall(errors_have_full_order(&slow[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
