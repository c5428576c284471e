/* Coefficients that are diagonal tensors, seen from PETSc: operators that stretched cells and scalar coefficients know, a solution that is
   known, patches, levels, iterations, what DMs inherit.
   ranks: 1 2 3 */
#include "support/nu.h"
#include "support/refused.h"
#include <unistd.h>

/* a number in [1, 100) that a cell and an integer decide */
static PetscReal Hash(const PetscReal lower[], PetscInt dim, int seed)
{
  PetscReal x = seed + 1;

  for (PetscInt d = 0; d < dim; d++) x = PetscSinReal(x + 1000 * lower[d] + d) * 10000;
  return PetscPowReal(100, x - PetscFloorReal(x));
}

/* Along direction d a cell has the random number (d + turn) modulo dim; scalar >= 0: along all of them that number. */
static PetscErrorCode SetRandom(DM dm, int turn, int scalar)
{
  PetscInt   dim, n;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n * dim + 1, &a));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
    for (PetscInt d = 0; d < dim; d++) a[scalar < 0 ? i * dim + d : i] = Hash(lower, dim, scalar < 0 ? (int)((d + turn) % dim) : scalar);
  }
  if (scalar < 0) PetscCall(DMVPatchDGSetTensorCoefficient(dm, a));
  else PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* a[d] in all cells */
static PetscErrorCode SetConstant(DM dm, const PetscReal value[])
{
  PetscInt   dim, n;
  PetscReal *a;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n * dim + 1, &a));
  for (PetscInt i = 0; i < n * dim; i++) a[i] = value[i % dim];
  PetscCall(DMVPatchDGSetTensorCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode RelativeDifference(Vec a, Vec b, PetscReal *difference)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(b, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(a, -1, b));
  PetscCall(VecNorm(a, NORM_INFINITY, difference));
  *difference /= norm;
  PetscFunctionReturn((PetscErrorCode)0);
}

/* a graded grid with all conditions, perhaps with cells of two sizes */
static PetscErrorCode Graded(PetscInt dim, PetscInt degree, PetscBool adaptive, DM *dm)
{
  const VPatchDGBoundary boundary[] = {VPATCHDG_BOUNDARY_ROBIN,   VPATCHDG_BOUNDARY_NEUMANN,  VPATCHDG_BOUNDARY_DIRICHLET,
                                       VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC};
  PetscReal              alpha[6] = {2, 2, 2, 2, 2, 2}, point[3] = {0.1, 0.3, 0.2}, sphere[4] = {0.1, 0.3, 0.2, 0.1};

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, 1, dm));
  PetscCall(DMVPatchDGSetGrid(*dm, 0, 3, (PetscReal[]){0, 0.25, 1, 1.5}));
  PetscCall(DMVPatchDGSetGrid(*dm, 1, 2, (PetscReal[]){0, 0.5, 0.6}));
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMVPatchDGSetRobin(*dm, alpha));
  if (adaptive) PetscCall(DMVPatchDGSetLocalRefinement(*dm, 1, point, sphere));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The operator has a part for every direction, which is linear in what the coefficients along that direction are. */
static PetscErrorCode directions_have_their_own_coefficients(PetscInt dim, PetscInt degree, PetscBool adaptive)
{
  DM        dm;
  Mat       A;
  Vec       x, y, sum[2];
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(Graded(dim, degree, adaptive, &dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  for (int scalar = 0; scalar < 2; scalar++) {
    PetscCall(VecDuplicate(x, &sum[scalar]));
    for (int turn = 0; turn < dim; turn++) {
      PetscCall(SetRandom(dm, turn, scalar ? turn : -1));
      PetscCall(MatMult(A, x, y));
      PetscCall(VecAXPY(sum[scalar], 1, y));
    }
  }
  PetscCall(RelativeDifference(sum[0], sum[1], &difference));
  TapOk((PetscBool)(difference < 1e-13), "directions_have_their_own_coefficients, %dD Q%d%s (%.1e)", (int)dim, (int)degree,
        adaptive ? ", cells of two sizes" : "", (double)difference);
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&sum[i]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode assembled_matrix_and_diagonal_are_those_of_the_operator(PetscInt dim, PetscInt degree, PetscBool adaptive)
{
  DM        dm;
  Mat       A, assembled;
  Vec       x, y, z;
  PetscReal difference[2];

  PetscFunctionBeginUser;
  PetscCall(Graded(dim, degree, adaptive, &dm));
  PetscCall(SetRandom(dm, 0, -1));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &assembled));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(assembled, x, z));
  PetscCall(RelativeDifference(y, z, &difference[0]));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(assembled, z));
  PetscCall(RelativeDifference(y, z, &difference[1]));
  TapOk((PetscBool)(difference[0] < 1e-13 && difference[1] < 1e-13),
        "assembled_matrix_and_diagonal_are_those_of_the_operator, %dD Q%d%s (%.1e, %.1e)", (int)dim, (int)degree,
        adaptive ? ", cells of two sizes" : "", (double)difference[0], (double)difference[1]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&assembled));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* y = A x and z = M x, with M the preconditioner of the options, on boxes of these widths */
static PetscErrorCode Apply(PetscInt dim, PetscInt refine, const char *const width[], const PetscReal a[], const char options[], Vec *y,
                            Vec *z)
{
  PetscOptions database;
  DM           dm;
  Mat          A;
  PC           pc;
  Vec          x;

  PetscFunctionBeginUser;
  PetscCall(NuProblem((int)dim, 3, (int)refine, 0, PETSC_FALSE, width, &dm, &x));
  if (a) PetscCall(SetConstant(dm, a));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(VecDuplicate(x, y));
  PetscCall(VecDuplicate(x, z));
  PetscCall(MatMult(A, x, *y));
  PetscCall(TestOptionsPush(options, &database));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(PCVPatchDGSetPrecision(pc, VPATCHDG_PRECISION_DOUBLE));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCApply(pc, x, *z));
  PetscCall(TestOptionsPop(&database));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* a u_xx is u_xx on cells that are shorter by the root of a, in the operator, in patches and in the levels of the cycle */
static PetscErrorCode constant_tensor_is_a_stretched_grid(PetscInt dim, PetscInt refine, const char *const width[],
                                                          const char *const stretched[], const PetscReal a[], const char options[])
{
  Vec       y[2], z[2];
  PetscReal difference[2];

  PetscFunctionBeginUser;
  PetscCall(Apply(dim, refine, width, a, options, &y[0], &z[0]));
  PetscCall(Apply(dim, refine, stretched, NULL, options, &y[1], &z[1]));
  PetscCall(RelativeDifference(y[0], y[1], &difference[0]));
  PetscCall(RelativeDifference(z[0], z[1], &difference[1]));
  TapOk((PetscBool)(difference[0] < 1e-12 && difference[1] < 1e-11), "constant_tensor_is_a_stretched_grid, %dD, '%s' (A %.1e, cycle %.1e)",
        (int)dim, options, (double)difference[0], (double)difference[1]);
  for (int i = 0; i < 2; i++) {
    PetscCall(VecDestroy(&y[i]));
    PetscCall(VecDestroy(&z[i]));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = x[0] * x[0] * x[1] + 2 * x[1] * x[1] - x[0];
  return PETSC_SUCCESS;
}

static const PetscReal tensor[] = {3, 0.25};

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = -tensor[0] * 2 * x[1] - tensor[1] * 4;
  return PETSC_SUCCESS;
}

static PetscErrorCode Flux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  value[0] = normal[0] * (2 * x[0] * x[1] - 1) + normal[1] * (x[0] * x[0] + 4 * x[1]);
  if (normal[0] < 0) value[0] += 2 * (x[0] * x[0] * x[1] + 2 * x[1] * x[1] - x[0]); /* alpha u at the Robin side */
  return PETSC_SUCCESS;
}

static PetscErrorCode solution_with_data_on_all_sides_is_found(void)
{
  DM        dm;
  KSP       ksp;
  Vec       b, x;
  PetscReal l2;

  PetscFunctionBeginUser;
  PetscCall(Graded(2, 3, PETSC_FALSE, &dm));
  PetscCall(SetConstant(dm, tensor));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(DMVPatchDGComputeRHS(dm, Source, Solution, Flux, NULL, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(TestSolver(ksp, 1e-11, 30));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(DMVPatchDGComputeErrors(dm, x, Solution, NULL, NULL, &l2, NULL));
  TapOk((PetscBool)(l2 < 1e-9), "solution_with_data_on_all_sides_is_found (%.1e)", (double)l2);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* the largest difference of the tensor of a DM's cells and the constant */
static PetscErrorCode Distance(DM dm, const PetscReal value[], PetscReal *distance)
{
  const PetscReal *a;
  PetscInt         dim, n;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(DMVPatchDGGetTensorCoefficient(dm, &a));
  *distance = a ? 0 : 1;
  for (PetscInt i = 0; a && i < n * dim; i++) *distance = PetscMax(*distance, PetscAbsReal(a[i] - value[i % dim]));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode dms_inherit_tensors(void)
{
  const PetscReal  value[] = {3, 0.25};
  PetscReal       *bad;
  Vec              x;
  const PetscReal *a;
  DM               dm, other[4];
  PetscReal        distance[5];
  DMAdaptFlag     *mark;
  PetscInt         n;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 2, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(SetConstant(dm, value));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n + 1, &mark));
  for (PetscInt i = 0; i < n; i++) mark[i] = i % 3 ? DM_ADAPT_KEEP : DM_ADAPT_REFINE;
  PetscCall(DMClone(dm, &other[0]));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &other[1]));
  PetscCall(DMCoarsen(dm, PETSC_COMM_WORLD, &other[2]));
  PetscCall(DMVPatchDGRefineCells(dm, mark, &other[3]));
  PetscCall(PetscFree(mark));
  PetscCall(Distance(dm, value, &distance[4]));
  for (int i = 0; i < 4; i++) PetscCall(Distance(other[i], value, &distance[i]));
  TapOk((PetscBool)(distance[4] == 0 && distance[0] == 0 && distance[1] == 0 && distance[2] < 1e-14 && distance[3] < 1e-14),
        "dms_inherit_tensors: a clone, a finer, a coarser and an adaptive one");
  PetscCall(SetConstant(dm, (PetscReal[]){5, 6}));
  PetscCall(Distance(other[2], (PetscReal[]){5, 6}, &distance[0]));
  TapOk((PetscBool)(distance[0] < 1e-14), "coarser_dms_follow_a_new_tensor");
  PetscCall(PetscCalloc1(2 * n + 1, &bad));
  Refused(DMVPatchDGGetCoefficient(dm, &a), "DMVPatchDGGetTensorCoefficient", "a scalar asked for where there is a tensor");
  PetscCall(DMCreateGlobalVector(dm, &x));
  Refused(DMVPatchDGEstimate(dm, x, NULL, NULL, NULL, NULL, bad), "the coefficient is a tensor", "an estimate");
  PetscCall(VecDestroy(&x));
  Refused(DMVPatchDGSetTensorCoefficient(dm, bad), "positive and finite", "a tensor of zeros");
  PetscCall(PetscFree(bad));
  PetscCall(DMVPatchDGSetTensorCoefficient(dm, NULL));
  PetscCall(DMVPatchDGGetTensorCoefficient(dm, &a));
  TapOk((PetscBool)!a, "null_takes_the_tensor_away");
  for (int i = 0; i < 4; i++) PetscCall(DMDestroy(&other[i]));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* has the file this text? */
static PetscBool Says(const char name[], const char text[])
{
  char   line[4096];
  FILE  *file = fopen(name, "rb");
  size_t n = file ? fread(line, 1, sizeof(line) - 1, file) : 0;

  if (file) fclose(file);
  line[n] = 0;
  return (PetscBool)(strstr(line, text) != NULL);
}

static PetscErrorCode views_show_tensors(void)
{
  DM          dm;
  Vec         x;
  PetscViewer viewer;
  PetscMPIInt rank;
  char        name[2][64] = {"", ""};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    snprintf(name[0], sizeof(name[0]), "/tmp/tensor%ld.vtu", (long)getpid());
    snprintf(name[1], sizeof(name[1]), "/tmp/tensor%ld.txt", (long)getpid());
  }
  PetscCallMPI(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 2, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(SetConstant(dm, tensor));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name[0], FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name[1], &viewer));
  PetscCall(DMView(dm, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  TapOk((PetscBool)(rank || (Says(name[0], "Name=\"coefficient\" NumberOfComponents=\"3\"") &&
                             Says(name[1], "coefficient from 0.25 to 3.") && Says(name[1], "one per cell and direction"))),
        "views_show_tensors");
  if (!rank) {
    remove(name[0]);
    remove(name[1]);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn((PetscErrorCode)0);
}

TAP_MAIN()
{
  static const char *const one[] = {"1", "1", "1"}, *const flat[] = {"1", ".0625"}, *const slab[] = {".25", "1", ".0625"};
  static const char *const boxes[] = {"1,.25", "4*1"}, *const thin[] = {"1,.25", "4*.0625"};

  PetscFunctionBeginUser;
  for (int adaptive = 0; adaptive < 2; adaptive++) {
    if (adaptive && VpIsDevice(TestBackend())) break;
    for (PetscInt dim = 2; dim <= 3; dim++) {
      PetscCall(directions_have_their_own_coefficients(dim, 5 - dim, (PetscBool)adaptive));
      PetscCall(assembled_matrix_and_diagonal_are_those_of_the_operator(dim, 5 - dim, (PetscBool)adaptive));
    }
  }
  PetscCall(constant_tensor_is_a_stretched_grid(2, 4, one, flat, (PetscReal[]){1, 256}, "-pc_vpatchdg_levels 0"));
  PetscCall(constant_tensor_is_a_stretched_grid(2, 4, one, flat, (PetscReal[]){1, 256}, "-pc_vpatchdg_cell_sweeps 1"));
  PetscCall(constant_tensor_is_a_stretched_grid(2, 3, boxes, thin, (PetscReal[]){1, 256}, "-pc_vpatchdg_space dirichlet"));
  PetscCall(constant_tensor_is_a_stretched_grid(3, 3, one, slab, (PetscReal[]){16, 1, 256}, "-pc_vpatchdg_levels 0"));
  PetscCall(solution_with_data_on_all_sides_is_found());
  PetscCall(dms_inherit_tensors());
  PetscCall(views_show_tensors());
  PetscFunctionReturn(PETSC_SUCCESS);
}
