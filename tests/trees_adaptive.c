/* Trees with leaves of different levels: cells meet where they hang, the operator is its matrix, is the same on trees that are turned
   otherwise and on one rank, polynomials are exact, errors have full order.
   ranks: 1 3 */
#include "support/trees_dm.h"
#include "../src/petsc/dmdata/dmdata.h"

/* the reference coordinates x [dim][3] of 3^(dim-1) points on a side, or on the part `half` of it */
static void SidePoints(int dim, int side, int half, double x[3][3])
{
  for (int e = 0, bit = 0; e < dim; e++) {
    for (int q = 0; q < 3; q++) x[e][q] = e == side / 2 ? side % 2 : half < 0 ? 0.5 * q : 0.25 * q + 0.5 * (half >> bit & 1);
    bit += e != side / 2;
  }
}

static void FindSide(VpMesh mesh, int32_t cell, int side, int half, double X[27])
{
  double x[3][3];
  int    count[3] = {1, 1, 1};

  SidePoints(mesh->dim, side, half, x);
  for (int e = 0; e < mesh->dim; e++) count[e] = e == side / 2 ? 1 : 3;
  VpGeometryEvaluate(mesh->geometry, cell, count, (const double *const[]){x[0], x[1], x[2]}, X, NULL);
}

/* the largest gap between the points of both sides of faces between own cells */
static double LargestGap(DM dm)
{
  const VpMesh mesh = DMVPatchDGData(dm)->mesh;
  const int    dim = mesh->dim, parts = 1 << (dim - 1), points = VpFaceSize(3, dim);
  double       gap = 0;

  for (int32_t i = 0; i < mesh->nown * 2 * dim * parts; i++) {
    const int32_t cell = i / (2 * dim * parts);
    const int     side = i / parts % (2 * dim), turn = VpMeshTurn(mesh, cell, side);
    int32_t       next = VpMeshNeighbor(mesh, cell, side);
    double        X[2][27];
    int           half = -1;

    if (next == VP_HANGING) {
      const VpFace *face = &mesh->faces.face[VpFaceAt(mesh->faces.n, mesh->faces.face, cell, side)];

      half = i % parts;
      next = face->kind == VP_FACE_COARSE ? face->cell[1 + half] : -1;
      if (face->turn != turn) gap = 1;
    }
    if (next < 0 || next >= mesh->nown) continue;
    FindSide(mesh, cell, side, half, X[0]);
    FindSide(mesh, next, VpTurnSide(side, turn), -1, X[1]);
    for (int k = 0; k < points * dim; k++) gap = PetscMax(gap, fabs(X[0][k] - X[1][VpTurnPoint(3, turn, k / dim) * dim + k % dim]));
  }
  MPI_Allreduce(MPI_IN_PLACE, &gap, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return gap;
}

/* Refines the cells of *dm whose middle is near to a point. Trees that are turned otherwise have the same ones. */
static PetscErrorCode RefineNear(DM *dm, const double at[3], double distance)
{
  const double half[1] = {0.5};
  PetscInt     n, dim;
  DMAdaptFlag *mark;
  DM           refined;

  PetscFunctionBeginUser;
  PetscCall(DMSetUp(*dm));
  PetscCall(DMGetDimension(*dm, &dim));
  PetscCall(DMVPatchDGGetCells(*dm, &n));
  PetscCall(PetscMalloc1(n + 1, &mark));
  for (PetscInt c = 0; c < n; c++) {
    double X[3] = {0, 0, 0}, square = 0;

    VpGeometryEvaluate(DMVPatchDGData(*dm)->mesh->geometry, (int32_t)c, (int[]){1, 1, 1}, (const double *const[]){half, half, half}, X,
                       NULL);
    for (int d = 0; d < dim; d++) square += PetscSqr(X[d] - at[d]);
    mark[c] = square < distance * distance ? DM_ADAPT_REFINE : DM_ADAPT_KEEP;
  }
  PetscCall(DMVPatchDGRefineCells(*dm, mark, &refined));
  PetscCall(PetscFree(mark));
  PetscCall(DMDestroy(dm));
  *dm = refined;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* twice, around a point where trees meet */
static PetscErrorCode RefineTwice(DM *dm, double size)
{
  const double at[3] = {0.31 * size, 0.27 * size, 0.23 * size};

  PetscFunctionBeginUser;
  PetscCall(RefineNear(dm, at, 0.6 * size));
  PetscCall(RefineNear(dm, at, 0.35 * size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u.Au and b.u on one rank, of the same trees and cells */
static PetscErrorCode OnOneRank(const Trees *t, PetscInt degree, PetscInt refine, double size, PetscReal number[3])
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_SELF, t->dim, degree, refine, &dm));
  PetscCall(TreesGive(t, dm));
  PetscCall(RefineTwice(&dm, size));
  PetscCall(Numbers(dm, number));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges two directions of trees that have not the hand of the first one. */
static PetscErrorCode MakeOneHand(Trees *t)
{
  VpDomain domain;

  PetscFunctionBeginUser;
  PetscCall(TreesDomain(PETSC_COMM_SELF, t, &domain));
  for (int tree = 0; tree < t->ntree && t->dim == 3; tree++) {
    int32_t *corner = t->corner + 8 * tree;

    for (int i = 1; i < 8 && domain->trees->hand[tree] < 0; i += 4) {
      const int32_t swap = corner[i];

      corner[i] = corner[i + 1];
      corner[i + 1] = swap;
    }
  }
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TurnedTrees(const Trees *t, PetscInt degree, PetscInt refine, double size, const char name[])
{
  PetscReal straight[3], found[3];
  Trees     other = *t;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(MakeOneHand(&other));
  PetscCall(OnOneRank(&other, degree, refine, size, straight));
  for (unsigned int seed = 0; seed < 3; seed++) {
    if (seed) TreesTurn(seed, &other);
    PetscCall(MakeOneHand(&other));
    PetscCall(New(&other, degree, refine, "", &dm));
    PetscCall(RefineTwice(&dm, size));
    PetscCall(Numbers(dm, found));
    TapOk(AreSame(straight, found), "directions_and_ranks_do_not_matter: %s Q%d, %.1e %.1e %.1e", name, (int)degree,
          (double)(found[0] / straight[0] - 1), (double)(found[1] / straight[1] - 1), (double)(found[2] / straight[2] - 1));
    TapOk((PetscBool)(VpMeshIsAdaptive(DMVPatchDGData(dm)->mesh) && LargestGap(dm) < 1e-13), "cells_meet: %s, %.1e", name, LargestGap(dm));
    if (seed == 2) PetscCall(MatrixIsTheOperator(dm, name)); /* takes the DM */
    else PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Polynomials of degree 2 on straight kites have no residual, and no estimate. */
static PetscErrorCode Polynomials(void)
{
  DM           dm;
  Problem      p;
  Trees        t;
  PetscReal    norm[2], error, *eta, most = 0;
  PetscInt     n;
  const double size = 1;

  PetscFunctionBeginUser;
  TreesStar(5, &t);
  TreesTurn(7, &t);
  PetscCall(New(&t, 2, 1, "", &dm));
  PetscCall(RefineTwice(&dm, size));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(DMVPatchDGInterpolate(dm, Polynomial, NULL, p.x));
  PetscCall(DMVPatchDGComputeErrors(dm, p.x, Polynomial, NULL, NULL, &error, NULL));
  TapOk((PetscBool)(error < 1e-12), "errors_are_found: %.1e", (double)error);
  PetscCall(DMVPatchDGComputeRHS(dm, PolynomialSource, Polynomial, NULL, NULL, p.b));
  PetscCall(VecNorm(p.b, NORM_2, &norm[0]));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n + 1, &eta));
  PetscCall(DMVPatchDGEstimate(dm, p.x, PolynomialSource, Polynomial, NULL, NULL, eta));
  for (PetscInt c = 0; c < n; c++) most = PetscMax(most, eta[c]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(most < 1e-9), "exact_solutions_have_no_estimate: %.1e", (double)most);
  PetscCall(PetscFree(eta));
  PetscCall(TrueResidual(p.A, p.b, p.x, &norm[1]));
  TapOk((PetscBool)(norm[1] < 1e-11), "polynomials_are_exact: %.1e", (double)norm[1]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refining all cells of trees with hanging sides reduces errors as elsewhere. */
static PetscErrorCode Orders(PetscInt dim, PetscInt degree, PetscInt refine, const char options[])
{
  PetscReal error[2];
  PetscInt  its;
  DM        dm, next;

  PetscFunctionBeginUser;
  PetscCall(NewByOptions(dim, degree, refine, options, &dm));
  PetscCall(RefineNear(&dm, (double[]){0.3, 0.3, 0.3}, 0.5));
  PetscCall(RefineNear(&dm, (double[]){0.3, 0.3, 0.3}, 0.2));
  TapOk((PetscBool)(LargestGap(dm) < 1e-13), "curved_cells_meet: %s Q%d, %.1e", options, (int)degree, LargestGap(dm));
  for (int level = 0; level < 2; level++) {
    Problem p;

    PetscCall(ProblemOf(dm, NULL, &p));
    PetscCall(PetscObjectReference((PetscObject)dm));
    PetscCall(DMVPatchDGComputeRHS(dm, WaveSource, Wave, NULL, NULL, p.b));
    PetscCall(SolveWith(&p, "-ksp_type cg -ksp_rtol 1e-8 -ksp_max_it 3000 -pc_type jacobi", NULL, &its, NULL));
    PetscCall(DMVPatchDGComputeErrors(dm, p.x, Wave, NULL, NULL, &error[level], NULL));
    PetscCall(ProblemDestroy(&p));
    if (!level) PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &next));
    PetscCall(DMDestroy(&dm));
    dm = next;
  }
  TapOk((PetscBool)(PetscLog2Real(error[0] / error[1]) > (PetscReal)degree + 0.6), "errors_have_full_order: %s Q%d, %.1e, order %.2f",
        options, (int)degree, (double)error[1], (double)PetscLog2Real(error[0] / error[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A file has the cells, and a vector is written for ParaView. */
static PetscErrorCode Files(const char options[])
{
  static const char name[] = "build/t/trees_adaptive.bin", vtu[] = "build/t/trees_adaptive.vtu";
  PetscReal         expected[3], found[3];
  PetscViewer       viewer;
  DM                dm, next;
  Vec               x;

  PetscFunctionBeginUser;
  PetscCall(NewByOptions(2, 2, 1, options, &dm));
  PetscCall(RefineTwice(&dm, 1));
  PetscCall(Numbers(dm, expected));
  PetscCall(SaveAndLoad(dm, name, &next));
  PetscCall(Numbers(next, found));
  TapOk(AreSame(expected, found), "loaded_dm_is_the_same: %s", options);
  PetscCall(DMDestroy(&next));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(DMVPatchDGInterpolate(dm, Wave, NULL, x));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, vtu, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  TapOk(PETSC_TRUE, "vectors_are_written: %s", options);
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefineTwoHands(void)
{
  Trees t;
  DM    dm;

  PetscFunctionBeginUser;
  TreesBall(3, &t);
  PetscCall(New(&t, 1, 1, "", &dm));
  PetscCall(RefineTwice(&dm, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpPC(PCType type)
{
  DM  dm;
  PC  pc;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(NewByOptions(2, 2, 1, "-dm_vpatchdg_domain disc", &dm));
  PetscCall(RefineTwice(&dm, 1));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  Trees t;

  PetscFunctionBeginUser;
  unsetenv("VPATCHDG_TEST"); /* GPUs have no kernels for metrics where sides hang. */
  for (PetscInt degree = 1; degree <= 3; degree++) {
    TreesStar(5, &t);
    PetscCall(TurnedTrees(&t, degree, 1, 1, "star"));
  }
  TreesBall(3, &t);
  PetscCall(TurnedTrees(&t, 1, 1, 1, "ball"));
  PetscCall(TurnedTrees(&t, 2, 0, 1.5, "ball"));
  TreesGrid(3, 2, &t);
  PetscCall(TurnedTrees(&t, 2, 0, 2.5, "cube"));
  PetscCall(Polynomials());
  PetscCall(Orders(2, 1, 2, "-dm_vpatchdg_domain disc"));
  PetscCall(Orders(2, 3, 2, "-dm_vpatchdg_domain disc"));
  PetscCall(Orders(3, 2, 1, "-dm_vpatchdg_domain ball"));
  PetscCall(Files("-dm_vpatchdg_domain disc"));
  PetscCall(LossesAreExpected());
  Refused(SetUpPC(PCVPATCHDG), "-pc_type vpatchdg works on trees that meet in any way if", "preconditioner");
  Refused(RefineTwoHands(), "Trees 0 and 1 have different hands", "hexahedra_of_two_hands");
  PetscFunctionReturn(PETSC_SUCCESS);
}
