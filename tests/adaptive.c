/* Meshes of cells of different levels: their leaves, orders of convergence, coarsening, ranks' work. */
/* ranks: 1 2 3 */
#include "support/leaves.h"
#include "../src/petsc/dmdata/dmdata.h"

/* Cells fill the domain, and those that touch differ by one level at most. */
static PetscErrorCode leaves_tile_the_domain_and_are_balanced(const char name[], DM dm, PetscReal volume)
{
  Cells     all;
  PetscReal sum = 0;
  PetscBool balanced = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(CellsCreate(dm, &all));
  for (PetscInt i = 0; i < all.ncell; i++) {
    const PetscReal *l = all.lower + all.dim * i, *u = all.upper + all.dim * i;
    PetscReal        product = 1;

    for (int d = 0; d < all.dim; d++) product *= u[d] - l[d];
    sum += product;
    for (PetscInt j = 0; j < all.ncell; j++) {
      const PetscReal *m = all.lower + all.dim * j, *v = all.upper + all.dim * j;
      PetscBool        touch = PETSC_TRUE;

      for (int d = 0; d < all.dim; d++) touch = (PetscBool)(touch && l[d] <= v[d] + 1e-12 && m[d] <= u[d] + 1e-12);
      for (int d = 0; d < all.dim && touch; d++) balanced = (PetscBool)(balanced && u[d] - l[d] < 2.1 * (v[d] - m[d]));
    }
  }
  TapOk((PetscBool)(PetscAbsReal(sum - volume) < 1e-12 && balanced), "leaves_tile_the_domain_and_are_balanced, %s", name);
  PetscCall(CellsDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the meshes whose numbers of cells are known */
static PetscErrorCode refined_places_have_the_right_cells(void)
{
  const struct {
    VPatchDGDomain domain;
    PetscInt       dim, refine, levels, cells;
    PetscReal      radius; /* 0: the point in the middle of the L-shape or Fichera's corner */
  } mesh[] = {{VPATCHDG_DOMAIN_LSHAPE, 2, 2, 5, 48 + 9 * 5, 0},
              {VPATCHDG_DOMAIN_BOX, 2, 2, 3, 172, 0.6},
              {VPATCHDG_DOMAIN_BOX, 2, 2, 5, 751, 0.6},
              {VPATCHDG_DOMAIN_FICHERA, 3, 1, 2, 56 + 49 * 2, 0},
              {VPATCHDG_DOMAIN_BOX, 3, 2, 1, 176, 0.7}};
  const PetscReal origin[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(mesh); i++) {
    const PetscReal sphere[4] = {0, 0, mesh[i].dim == 2 ? mesh[i].radius : 0, mesh[i].radius};
    const PetscReal volume = mesh[i].domain == VPATCHDG_DOMAIN_LSHAPE ? 3 : mesh[i].domain == VPATCHDG_DOMAIN_FICHERA ? 7 : 1;
    const PetscBool ball = (PetscBool)(mesh[i].radius > 0);
    PetscInt        n, sum;
    char            name[64];
    DM              dm;

    PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, mesh[i].dim, 1, mesh[i].refine, &dm));
    PetscCall(DMVPatchDGSetDomain(dm, mesh[i].domain));
    PetscCall(DMVPatchDGSetLocalRefinement(dm, mesh[i].levels, ball ? NULL : origin, ball ? sphere : NULL));
    PetscCall(DMSetUp(dm));
    PetscCall(DMVPatchDGGetCells(dm, &n));
    PetscCallMPI(MPI_Allreduce(&n, &sum, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    TapOk((PetscBool)(sum == mesh[i].cells), "refined_places_have_the_right_cells, %d of %d", (int)sum, (int)mesh[i].cells);
    PetscCall(PetscSNPrintf(name, sizeof(name), "%d cells", (int)sum));
    PetscCall(leaves_tile_the_domain_and_are_balanced(name, dm, volume));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether a fine cell lies at a part of a coarse cell's side, with the directions of both the same */
static PetscBool LiesAt(VpMesh mesh, int32_t coarse, int side, int part, int32_t fine)
{
  PetscReal lower[2][3], size[2][3];
  PetscBool right = PETSC_TRUE;

  VpGeometryBounds(mesh->geometry, coarse, lower[0], size[0]);
  VpGeometryBounds(mesh->geometry, fine, lower[1], size[1]);
  for (int d = 0, bit = 0; d < mesh->dim; d++) {
    const PetscReal along = (part >> bit & 1) * size[0][d] / 2, across = side % 2 ? size[0][d] : -size[1][d];

    right = (PetscBool)(right && PetscAbsReal(lower[1][d] - lower[0][d] - (d == side / 2 ? across : along)) < 1e-12);
    bit += d != side / 2;
  }
  return right;
}

/* The list of faces has both sides of each. */
static void faces_are_where_cells_meet(VpMesh mesh)
{
  const VpFaces *faces = &mesh->faces;
  int            wrong = 0;

  for (int32_t i = 0; i < faces->n; i++) {
    const VpFace *face = &faces->face[i];

    wrong += face->turn != 0 || VpMeshNeighbor(mesh, face->cell[0], face->side) != VP_HANGING;
    if (face->kind == VP_FACE_FINE) wrong += !LiesAt(mesh, face->cell[1], face->side ^ 1, face->half, face->cell[0]);
    for (int k = 0; face->kind == VP_FACE_COARSE && k < 1 << (mesh->dim - 1); k++)
      wrong += !LiesAt(mesh, face->cell[0], face->side, k, face->cell[1 + k]);
  }
  TapOk((PetscBool)!wrong, "faces_are_where_cells_meet, %dD: %d of %d are not", mesh->dim, wrong, faces->n);
}

/* work of own cells, as ranks are given it */
static PetscErrorCode WorkOf(VpMesh mesh, PetscReal work[])
{
  PetscFunctionBeginUser;
  for (int32_t c = 0; c < mesh->nown; c++) work[c] = VP_WORK_CELL;
  for (int32_t i = 0; i < mesh->faces.n; i++)
    work[mesh->faces.face[i].cell[0]] += mesh->faces.face[i].kind == VP_FACE_COARSE ? VP_WORK_COARSE : VP_WORK_FINE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of the rank that has most, where ranks have cells from starts[r] on */
static PetscReal Most(PetscMPIInt size, const PetscInt starts[], const PetscReal work[])
{
  PetscReal most = 0;

  for (PetscMPIInt r = 0; r < size; r++) {
    PetscReal sum = 0;

    for (PetscInt c = starts[r]; c < starts[r + 1]; c++) sum += work[c];
    most = PetscMax(most, sum);
  }
  return most;
}

/* Faces hang in one corner of the domain alone. A family of cells stays on a rank, so work is not cut everywhere. */
static PetscErrorCode ranks_have_equal_work(PetscInt dim)
{
  const PetscReal sphere[4] = {0, 0, dim == 2 ? 0.3 : 0, 0.3};
  PetscReal       own[4096], all[4096], sum = 0, family;
  PetscMPIInt     count[8], start[8];
  PetscInt        equal[9];
  VpMesh          mesh;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, dim, 1, dim == 2 ? 4 : 3, &dm));
  PetscCall(DMVPatchDGSetLocalRefinement(dm, 1, NULL, sphere));
  PetscCall(DMSetUp(dm));
  mesh = ((DM_VPatchDG *)dm->data)->mesh;
  faces_are_where_cells_meet(mesh);
  PetscCall(WorkOf(mesh, own));
  for (PetscMPIInt r = 0; r <= mesh->size; r++) {
    equal[r] = r * mesh->ncell / mesh->size;
    if (r == mesh->size) break;
    start[r] = (PetscMPIInt)mesh->starts[r];
    count[r] = (PetscMPIInt)(mesh->starts[r + 1] - mesh->starts[r]);
  }
  PetscCallMPI(MPI_Allgatherv(own, mesh->nown, MPIU_REAL, all, count, start, MPIU_REAL, PETSC_COMM_WORLD));
  for (PetscInt c = 0; c < mesh->ncell; c++) sum += all[c];
  family = PetscPowInt(2, dim) * (VP_WORK_CELL + dim * VP_WORK_COARSE);
  TapOk((PetscBool)(Most(mesh->size, mesh->starts, all) <= sum / mesh->size + family &&
                    (mesh->size == 1 || Most(mesh->size, mesh->starts, all) < 0.8 * Most(mesh->size, equal, all))),
        "ranks_have_equal_work, %dD: at most %g of %g, in equal pieces %g", (int)dim, (double)Most(mesh->size, mesh->starts, all),
        (double)sum, (double)Most(mesh->size, equal, all));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Smooth(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  for (PetscInt d = 0; d < dim; d++) value[0] *= PetscSinReal(2 * x[d] + 0.5);
  return PETSC_SUCCESS;
}

static PetscErrorCode SmoothGradient(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  for (PetscInt d = 0; d < dim; d++) {
    value[d] = 2 * PetscCosReal(2 * x[d] + 0.5);
    for (PetscInt e = 0; e < dim; e++) value[d] *= e == d ? 1 : PetscSinReal(2 * x[e] + 0.5);
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode SmoothSource(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  PetscCall(Smooth(dim, x, value, ctx));
  value[0] *= 4 * (PetscReal)dim;
  return PETSC_SUCCESS;
}

static PetscErrorCode SolutionError(DM dm, PetscReal *l2, PetscReal *h1)
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(ProblemOf(dm, "order_", &p));
  PetscCall(DMVPatchDGComputeRHS(dm, SmoothSource, Smooth, NULL, NULL, p.b));
  PetscCall(ReadOptions(&p, "-order_ksp_type cg -order_pc_type jacobi -order_ksp_rtol 1e-11 -order_ksp_max_it 5000", PETSC_TRUE));
  PetscCall(DMVPatchDGComputeErrors(dm, p.x, Smooth, SmoothGradient, NULL, l2, h1));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* errors of L2 and H1 fall by 2^(k+1) and 2^k where all cells of a mesh refined at random are refined */
static PetscErrorCode errors_have_the_right_orders(PetscInt dim, PetscInt degree)
{
  PetscReal l2[2], h1[2], order[2];
  DM        dm, fine;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, dim == 2 ? 2 : 1, &dm));
  PetscCall(DMSetUp(dm));
  for (int i = 0; i < (dim == 2 ? 2 : 1); i++) PetscCall(RefineSome(&dm, 0.25, i));
  PetscCall(SolutionError(dm, &l2[0], &h1[0]));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(SolutionError(fine, &l2[1], &h1[1]));
  order[0] = PetscLog2Real(l2[0] / l2[1]);
  order[1] = PetscLog2Real(h1[0] / h1[1]);
  TapOk((PetscBool)(order[0] > (PetscReal)degree + 0.7 && order[1] > (PetscReal)degree - 0.2),
        "errors_have_the_right_orders, %dD Q%d: %.2f %.2f", (int)dim, (int)degree, (double)order[0], (double)order[1]);
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Integral(DM dm, PetscReal *integral)
{
  const PetscReal *a;
  PetscReal        lower[3], upper[3], sum = 0;
  PetscInt         n, dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(DMVPatchDGGetCoefficient(dm, &a));
  for (PetscInt c = 0; c < n; c++) {
    PetscReal volume = a ? a[c] : 1;

    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    for (PetscInt d = 0; d < dim; d++) volume *= upper[d] - lower[d];
    sum += volume;
  }
  PetscCallMPI(MPI_Allreduce(&sum, integral, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where all cells are coarsened, boxes remain, and all refined ones are a mesh as any other, on which multigrid works. */
static PetscErrorCode cells_are_coarsened(void)
{
  const Case   c = {"", 2, 2, 1, VPATCHDG_DOMAIN_BOX, {D, D, D, D}, 0, 1, PETSC_TRUE};
  PetscReal    before, after;
  PetscInt     n, sum;
  DMAdaptFlag *mark;
  Problem      p;
  DM           dm, next;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(&c, &dm));
  PetscCall(Integral(dm, &before));
  for (int i = 0; i < 3; i++) {
    PetscCall(DMVPatchDGGetCells(dm, &n));
    PetscCall(PetscMalloc1(n, &mark));
    for (PetscInt k = 0; k < n; k++) mark[k] = DM_ADAPT_COARSEN;
    PetscCall(DMVPatchDGRefineCells(dm, mark, &next));
    PetscCall(PetscFree(mark));
    PetscCall(DMDestroy(&dm));
    dm = next;
  }
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCallMPI(MPI_Allreduce(&n, &sum, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(Integral(dm, &after));
  TapOk((PetscBool)(sum == 3 && PetscAbsReal(before - after) < 1e-12 * before), "cells_are_coarsened_and_keep_the_mean_coefficient");
  for (int i = 0; i < 3; i++) {
    PetscCall(RefineSome(&dm, 2, 0));
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, NULL));
  PetscCall(ProblemOf(dm, "again_", &p));
  {
    KSPConvergedReason reason;
    PetscReal          residual;
    PetscInt           its;

    PetscCall(SolveWith(&p, "-again_ksp_type fgmres -again_pc_type vpatchdg -again_ksp_rtol 1e-8", &residual, &its, &reason));
    TapOk((PetscBool)(reason > 0 && its <= 7), "cells_of_one_level_are_a_uniform_mesh: %d iterations", (int)its);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(refined_places_have_the_right_cells());
  for (PetscInt dim = 2; dim <= 3; dim++) PetscCall(ranks_have_equal_work(dim));
  for (PetscInt k = 1; k <= 4; k++) PetscCall(errors_have_the_right_orders(2, k));
  for (PetscInt k = 1; k <= 2; k++) PetscCall(errors_have_the_right_orders(3, k));
  PetscCall(cells_are_coarsened());
  PetscFunctionReturn(PETSC_SUCCESS);
}
