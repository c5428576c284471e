/* Boundary conditions that differ from box to box: the operator, right-hand sides, solvers, coarser levels, and what is refused. */
/* ranks: 1 2 3 */
#include "support/problem.h"
#include "support/refused.h"
#include "../src/petsc/dmdata/dmdata.h"

typedef struct {
  const char *name, *options;
  PetscInt    dim, degree;
  PetscReal   width;       /* of stripes of the boundary that have the same condition; 0: the whole boundary is Neumann */
  PetscInt    most, least; /* iterations for ten digits; boxes that merge on coarser levels */
} Case;

static const Case cases[] = {
  {"square", "-dm_vpatchdg_boxes 4,3 -dm_refine 2", 2, 3, 0.3, 8, 0},
  {"square, odd degree", "-dm_vpatchdg_boxes 2,2 -dm_refine 3", 2, 5, 0.5, 8, 0},
  {"lshape", "-dm_vpatchdg_domain lshape -dm_refine 3", 2, 2, 0.7, 8, 0},
  {"channel", "-dm_vpatchdg_boxes 2,4 -dm_vpatchdg_boundary periodic,periodic,neumann,dirichlet -dm_refine 2", 2, 3, 0.4, 8, 0},
  {"thin boxes that merge", "-dm_vpatchdg_boxes 8,32 -dm_vpatchdg_upper 8,4 -dm_refine 1", 2, 2, 2, 8, 200},
  {"thin boxes that merge in part", "-dm_vpatchdg_boxes 4,16 -dm_vpatchdg_upper 4,2 -dm_refine 1", 2, 2, 0.15, 8, 0},
  {"cube", "-dm_vpatchdg_boxes 2,2,2 -dm_refine 1", 3, 2, 0.4, 8, 0},
  {"fichera", "-dm_vpatchdg_domain fichera -dm_refine 1", 3, 2, 0.6, 8, 0},
  {"thin boxes in 3D", "-dm_vpatchdg_boxes 2,2,8 -dm_vpatchdg_upper 2,2,1 -dm_refine 1", 3, 2, 0.9, 8, 20},
  {"all Neumann", "-dm_vpatchdg_boxes 3,2 -dm_refine 2", 2, 3, 0, 8, 0},
};

static VPatchDGBoundary At(const Case *c, const PetscReal x[], PetscReal *alpha)
{
  int stripes = 1;

  for (int d = 0; d < c->dim && c->width > 0; d++) stripes += (int)PetscFloorReal((x[d] + 8) / c->width);
  *alpha = 1 + stripes % 5;
  if (c->width == 0) return VPATCHDG_BOUNDARY_NEUMANN;
  return stripes % 3 == 0 ? VPATCHDG_BOUNDARY_DIRICHLET : stripes % 3 == 1 ? VPATCHDG_BOUNDARY_NEUMANN : VPATCHDG_BOUNDARY_ROBIN;
}

static PetscErrorCode Striped(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[], VPatchDGBoundary *boundary,
                              PetscReal *alpha, void *ctx)
{
  *boundary = At((const Case *)ctx, center, alpha);
  return PETSC_SUCCESS;
}

/* a polynomial of degree 2, which in one case is periodic along x: u = y^2 + y z, or + x^2 + x y where it may */
typedef struct {
  PetscReal   along_x;
  const Case *c;     /* NULL or the case by which Robin sides have data */
  VpDomain    boxes; /* of the case: its data go by boxes */
} Known;

static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = x[1] * x[1] + (dim == 3 ? x[1] * x[2] : 0) + ((Known *)ctx)->along_x * (x[0] * x[0] + x[0] * x[1]);
  return PETSC_SUCCESS;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = -2 - 2 * ((Known *)ctx)->along_x;
  return PETSC_SUCCESS;
}

/* alpha at a point of the boundary, 0 unless the side of a box that it is on is a Robin side */
static PetscReal AlphaAt(const Known *known, int dim, const PetscReal x[], const PetscReal normal[])
{
  for (int32_t b = 0; b < known->boxes->nbox; b++) {
    const PetscReal *lower = known->boxes->lower + 3 * b, *upper = known->boxes->upper + 3 * b;
    PetscReal        center[3], alpha;
    PetscBool        on = PETSC_TRUE;

    for (int d = 0; d < dim; d++) {
      center[d] = normal[d] > 0 ? upper[d] : normal[d] < 0 ? lower[d] : (lower[d] + upper[d]) / 2;
      if (normal[d] != 0 ? PetscAbsReal(x[d] - center[d]) > 1e-10 : x[d] < lower[d] || x[d] > upper[d]) on = PETSC_FALSE;
    }
    if (on) return At(known->c, center, &alpha) == VPATCHDG_BOUNDARY_ROBIN ? alpha : 0;
  }
  return NAN;
}

static PetscErrorCode Flux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar q[], void *ctx)
{
  const Known    *known = (const Known *)ctx;
  const PetscReal s = known->along_x;
  PetscScalar     u;

  q[0] = normal[0] * s * (2 * x[0] + x[1]) + normal[1] * (2 * x[1] + (dim == 3 ? x[2] : 0) + s * x[0]) + (dim == 3 ? normal[2] * x[1] : 0);
  if (!known->c) return PETSC_SUCCESS;
  PetscCall(Solution(dim, x, &u, ctx));
  q[0] += AlphaAt(known, (int)dim, x, normal) * u;
  return PETSC_SUCCESS;
}

static PetscErrorCode MakeDM(const Case *c, VPatchDGBoundaryFunction f, void *ctx, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, c->degree, 0, dm));
  PetscCall(TestDMOptions(*dm, c->options));
  PetscCall(DMVPatchDGSetBoundaryFunction(*dm, f, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |A x - B x| / |B x| for the assembled matrix B and a random x */
static PetscErrorCode CompareAssembled(DM dm, Mat A, PetscReal *difference)
{
  Mat B;
  Vec x, y, z;

  PetscFunctionBeginUser;
  PetscCall(DMSetMatType(dm, MATAIJ));
  PetscCall(DMCreateMatrix(dm, &B));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(TestRandom(x, 0));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(Difference(y, z, difference));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* iterations of FGMRES for ten digits, and the error in the gradient, which knows no constants */
static PetscErrorCode Solve(DM dm, Mat A, Known *known, PetscInt *its, PetscReal *error)
{
  Vec          b, x, u;
  KSP          ksp;
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &u));
  PetscCall(DMVPatchDGComputeRHS(dm, Source, Solution, Flux, known, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(TestSolver(ksp, 1e-10, 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(DMVPatchDGInterpolate(dm, Solution, known, u));
  PetscCall(MatGetNullSpace(A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, x));
  if (constants) PetscCall(MatNullSpaceRemove(constants, u));
  PetscCall(Difference(x, u, error));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has every side of a coarser domain's boxes the condition of all sides of finer boxes that it consists of? By where these are. */
static PetscErrorCode CountWrong(VpDomain fine, VpDomain coarse, PetscInt *wrong)
{
  const int dim = fine->dim, nside = 2 * dim;

  PetscFunctionBeginUser;
  for (int32_t i = 0; i < fine->nbox * nside; i++) {
    const int32_t b = i / nside, side = i % nside;
    int32_t       in = -1;

    for (int32_t c = 0; c < coarse->nbox; c++) {
      PetscBool holds = PETSC_TRUE;

      for (int d = 0; d < dim; d++) {
        const PetscReal x = (fine->lower[3 * b + d] + fine->upper[3 * b + d]) / 2;

        if (x < coarse->lower[3 * c + d] || x > coarse->upper[3 * c + d]) holds = PETSC_FALSE;
      }
      if (holds) in = c;
    }
    if (fine->beyond[i] >= 0) continue;
    *wrong += in < 0 || !VpBoundaryIs(coarse->boundary[-1 - coarse->beyond[in * nside + side]], fine->boundary[-1 - fine->beyond[i]]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on all levels of the cycle; *merged: the boxes that are gone on the last one */
static PetscErrorCode CheckLevels(VpMesh mesh, PetscInt *wrong, PetscInt *merged)
{
  const VpCoarsening *step;

  PetscFunctionBeginUser;
  *wrong = 0;
  for (VpLattice L = mesh->geometry->lattice; L; L = step->coarse) {
    PetscCall(CountWrong(mesh->geometry->domain, L->domain, wrong));
    *merged = mesh->geometry->domain->nbox - L->domain->nbox;
    PetscCall(VpLatticeCoarsen(L, VP_COARSEN_LOCAL, &step));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const VpSide kinds[] = {VP_SIDE_DIRICHLET, VP_SIDE_NEUMANN, VP_SIDE_ROBIN}; /* of a VPatchDGBoundary */

static PetscErrorCode conditions_hold_where_they_are(const Case *c)
{
  Known        known = {.along_x = strstr(c->options, "periodic") ? 0 : 1, .c = c};
  PetscReal    difference, error;
  PetscInt     its, wrong, merged = 0, asked = 0;
  MatNullSpace constants;
  DM           dm;
  Mat          A;
  VpMesh       mesh;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(c, Striped, (void *)c, &dm));
  PetscCall(DMSetUp(dm));
  mesh = DMVPatchDGData(dm)->mesh;
  for (int32_t i = 0; i < mesh->nown * 2 * c->dim; i++) { /* the condition of a box's side holds for its cells */
    const int32_t    b = mesh->geometry->box[i / (2 * c->dim)], side = i % (2 * (int)c->dim);
    PetscReal        center[3];
    VPatchDGBoundary is;
    PetscReal        alpha;

    if (mesh->neighbor[i] >= 0) continue;
    for (int d = 0; d < c->dim; d++) center[d] = (mesh->geometry->domain->lower[3 * b + d] + mesh->geometry->domain->upper[3 * b + d]) / 2;
    center[side / 2] = side % 2 ? mesh->geometry->domain->upper[3 * b + side / 2] : mesh->geometry->domain->lower[3 * b + side / 2];
    is = At(c, center, &alpha);
    asked += VpDomainSide(mesh->geometry->domain, mesh->neighbor[i]) != kinds[is] ||
             VpDomainAlpha(mesh->geometry->domain, mesh->neighbor[i]) != (is == VPATCHDG_BOUNDARY_ROBIN ? alpha : 0);
  }
  known.boxes = mesh->geometry->domain;
  PetscCall(CheckLevels(mesh, &wrong, &merged));
  TapOk((PetscBool)(!asked && !wrong && merged >= c->least), "conditions_hold_where_they_are, %s: %d and %d wrong, %d boxes merge", c->name,
        (int)asked, (int)wrong, (int)merged);
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatGetNullSpace(A, &constants));
  PetscCall(CompareAssembled(dm, A, &difference));
  PetscCall(Solve(dm, A, &known, &its, &error));
  TapOk((PetscBool)(difference < 1e-13 && !constants == (c->width > 0)), "the_operator_is_the_assembled_one, %s: %.1e, null space %s",
        c->name, (double)difference, constants ? "constants" : "none");
  TapOk((PetscBool)(its <= c->most && error < 1e-8), "polynomials_are_solved_for, %s: %d iterations, error %.1e", c->name, (int)its,
        (double)error);
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define FGMRES "-ksp_type fgmres -ksp_rtol 1e-8 -ksp_max_it 100 -pc_type vpatchdg -pc_vpatchdg_coarse ksp -pc_vpatchdg_residual "

/* Where the coefficient varies, patches compute their own residuals: with the conditions of their sides, as the product with A does. */
static PetscErrorCode patches_know_conditions(const Case *c)
{
  PetscInt   its[2];
  Problem    p;
  VpMesh     mesh;
  PetscReal *a;
  DM         dm;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(c, Striped, (void *)c, &dm));
  PetscCall(DMSetUp(dm));
  mesh = DMVPatchDGData(dm)->mesh;
  PetscCall(PetscMalloc1(mesh->nown + 1, &a));
  for (int32_t i = 0; i < mesh->nown; i++) a[i] = 1 + (mesh->first + i) % 3;
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscCall(ProblemOf(dm, NULL, &p));
  for (int i = 0; i < 2; i++) {
    PetscCall(SolveWith(&p, i ? FGMRES "global" : FGMRES "exact", NULL, &its[i], NULL));
    PetscCall(NewKSP(&p));
  }
  TapOk((PetscBool)(PetscAbsInt(its[0] - its[1]) <= 1), "patches_know_conditions, %s: %d iterations with own residuals, %d with those of A",
        c->name, (int)its[0], (int)its[1]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one condition for all sides of a normal */
static PetscErrorCode ByNormal(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[], VPatchDGBoundary *boundary,
                               PetscReal *alpha, void *ctx)
{
  *boundary = ((const VPatchDGBoundary *)ctx)[side];
  return PETSC_SUCCESS;
}

static PetscErrorCode functions_by_normal_are_conditions_by_normal(void)
{
  const Case       c = {"square", "-dm_vpatchdg_boxes 2,2 -dm_refine 3", 2, 3, 0, 8, 0};
  VPatchDGBoundary boundary[4] = {VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET,
                                  VPATCHDG_BOUNDARY_NEUMANN};
  PetscInt         its[2];
  PetscReal        error[2];
  Known            known = {.along_x = 1};

  PetscFunctionBeginUser;
  for (int way = 0; way < 2; way++) {
    DM  dm;
    Mat A;

    PetscCall(MakeDM(&c, way ? ByNormal : NULL, boundary, &dm));
    if (!way) PetscCall(DMVPatchDGSetBoundary(dm, boundary));
    PetscCall(DMSetUp(dm));
    PetscCall(DMCreateMatrix(dm, &A));
    PetscCall(Solve(dm, A, &known, &its[way], &error[way]));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  TapOk((PetscBool)(its[0] == its[1] && error[0] == error[1]), "functions_by_normal_are_conditions_by_normal: %d and %d iterations",
        (int)its[0], (int)its[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Periodic(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[], VPatchDGBoundary *boundary,
                               PetscReal *alpha, void *ctx)
{
  *boundary = VPATCHDG_BOUNDARY_PERIODIC;
  return PETSC_SUCCESS;
}

static PetscErrorCode OnOneRank(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[], VPatchDGBoundary *boundary,
                                PetscReal *alpha, void *ctx)
{
  if (*(PetscMPIInt *)ctx == 0) *boundary = VPATCHDG_BOUNDARY_NEUMANN;
  return PETSC_SUCCESS;
}

static PetscErrorCode bad_answers(void)
{
  const Case  c = {"square", "-dm_vpatchdg_boxes 2,2 -dm_refine 1", 2, 1, 0, 8, 0};
  PetscMPIInt rank, size;
  DM          dm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MakeDM(&c, Periodic, NULL, &dm));
  Refused(DMSetUp(dm), "which is no condition of one side", "a condition that boxes do not have");
  PetscCall(DMVPatchDGSetBoundaryFunction(dm, OnOneRank, &rank));
  if (size > 1) Refused(DMSetUp(dm), "boundary conditions (DMVPatchDGSetBoundaryFunction(), ", "ranks with other answers");
  PetscCall(DMVPatchDGSetBoundaryFunction(dm, NULL, NULL));
  PetscCall(DMSetUp(dm));
  Refused(DMVPatchDGSetBoundaryFunction(dm, Periodic, NULL), "boundary", "a change after the set-up");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(conditions_hold_where_they_are(&cases[i]));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(patches_know_conditions(&cases[i]));
  PetscCall(functions_by_normal_are_conditions_by_normal());
  PetscCall(bad_answers());
  PetscFunctionReturn(PETSC_SUCCESS);
}
