/* bad_input_is_refused: on every rank, with a message that says what is wrong and what there is. Options are in refusals.t. */
/* ranks: 1 3 */
#include "support/problem.h"
#include "support/refused.h"
#include "../src/petsc/pc/internal.h"
#include <stddef.h>

static PetscErrorCode New(PetscInt dim, PetscInt refine, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 2, refine, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const VPatchDGBoundary periodic[] = {VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_DIRICHLET,
                                            VPATCHDG_BOUNDARY_DIRICHLET};

static PetscErrorCode Settings(void)
{
  const PetscReal        zero = 0;
  const VPatchDGBoundary unknown[] = {(VPatchDGBoundary)7, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_DIRICHLET,
                                      VPATCHDG_BOUNDARY_DIRICHLET};
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, &dm));
  Refused(DMVPatchDGSetDegree(dm, 0), "degrees 1 to 8 exist", "degree 0");
  Refused(DMVPatchDGSetDegree(dm, 9), "degrees 1 to 8 exist", "degree 9");
  Refused(DMVPatchDGSetPenalty(dm, 0), "positive", "penalty 0");
  Refused(DMVPatchDGSetPenalty(dm, 0 / zero), "positive", "penalty NaN");
  Refused(DMVPatchDGSetReaction(dm, -1), "not negative", "reaction -1");
  Refused(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){0, 1}, NULL, NULL), "at least one", "no box");
  Refused(DMVPatchDGSetBoundary(dm, unknown), "does not exist", "unknown boundary");
  Refused(DMVPatchDGSetBoxes(dm, 0, NULL, NULL), "at least one", "empty list of boxes");
  Refused(DMVPatchDGSetBoxes(dm, INT32_MAX, NULL, NULL), "at most 268435455", "too long a list of boxes");
  Refused(DMVPatchDGComputeRHS(dm, NULL, NULL, NULL, NULL, NULL), "DMSetUp", "used before it is set up");
  PetscCall(DMSetUp(dm));
  Refused(DMVPatchDGSetDegree(dm, 3), "after DMSetUp", "another degree after set-up");
  Refused(DMVPatchDGSetPenalty(dm, 2), "after DMSetUp", "another penalty after set-up");
  Refused(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_LSHAPE), "after DMSetUp", "another domain after set-up");
  Refused(DMVPatchDGSetBoundary(dm, periodic), "after DMSetUp", "another boundary after set-up");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Domains(void)
{
  const VPatchDGBoundary half[] = {VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_DIRICHLET,
                                   VPATCHDG_BOUNDARY_DIRICHLET};
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, half));
  Refused(DMSetUp(dm), "must name both", "periodic on one side");
  PetscCall(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_LSHAPE));
  PetscCall(DMVPatchDGSetBoundary(dm, periodic));
  Refused(DMSetUp(dm), "periodic does not fit", "periodic L-shape");
  PetscCall(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_FICHERA));
  Refused(DMSetUp(dm), "has dimension 3, not 2", "Fichera in 2D");
  PetscCall(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_BOXES));
  Refused(DMSetUp(dm), "DMVPatchDGSetBoxes", "boxes that were not given");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sizes(void)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(New(2, -1, &dm));
  Refused(DMSetUp(dm), "0 or more", "refined -1 times");
  PetscCall(DMSetRefineLevel(dm, sizeof(PetscInt) > 4 ? 30 : 18));
  Refused(DMSetUp(dm), "--with-64-bit-indices", "more unknowns than PetscInt counts");
  if (sizeof(PetscInt) > 4 && sizeof(PetscBLASInt) == 4) {
    PetscCall(DMSetRefineLevel(dm, 17));
    Refused(DMSetUp(dm), "Use more ranks", "more unknowns on a rank than BLAS counts");
  }
  PetscCall(DMSetRefineLevel(dm, 1000));
  Refused(DMSetUp(dm), "-dm_refine 1000", "refined 1000 times");
  PetscCall(DMSetRefineLevel(dm, 1));
  PetscCall(DMVPatchDGSetBoxGrid(dm, NULL, NULL, (PetscReal[]){-1, 1}));
  Refused(DMSetUp(dm), "must be above", "upper below lower");
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){20000, 20000}, NULL, (PetscReal[]){1, 1}));
  Refused(DMSetUp(dm), "-dm_vpatchdg_boxes means 400000000 boxes", "too many boxes");
  PetscCall(DMSetDimension(dm, 4));
  Refused(DMSetUp(dm), "dimensions 2 and 3 exist", "dimension 4");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Boxes(void)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, &dm));
  PetscCall(DMVPatchDGSetBoxes(dm, 2, (PetscReal[]){0, 0, 1, 0}, (PetscReal[]){1, 1, 2, 0.5}));
  Refused(DMSetUp(dm), "without sharing a whole side", "boxes that do not match");
  PetscCall(DMVPatchDGSetBoxes(dm, 2, (PetscReal[]){0, 0, 0.5, 0}, (PetscReal[]){1, 1, 2, 1}));
  Refused(DMSetUp(dm), "overlap", "boxes that overlap");
  PetscCall(DMVPatchDGSetBoxes(dm, 2, (PetscReal[]){0, 0, 1, 0}, (PetscReal[]){1, 1, 1, 1}));
  Refused(DMSetUp(dm), "is empty", "an empty box");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the members that PCVPATCHDG's options have; a PETSc built for debugging compares them already in their setters */
static PetscErrorCode PCDisagreement(DM dm, PetscInt odd)
{
  const struct {
    const char *name, *text;
    size_t      at;
  } members[] = {{"exchange", "about the exchange", offsetof(PC_VPatchDG, options.exchange)},
                 {"precision", "about the precision", offsetof(PC_VPatchDG, choice.asked)},
                 {"type of the cycle", "about the type of the cycle", offsetof(PC_VPatchDG, options.type)},
                 {"number of levels", "about the number of levels", offsetof(PC_VPatchDG, options.levels)},
                 {"size to gather from", "about the size to gather from", offsetof(PC_VPatchDG, options.gather)},
                 {"sweeps at corners", "about the sweeps at corners", offsetof(PC_VPatchDG, options.corners)},
                 {"number of sweeps", "about the sweeps after", offsetof(PC_VPatchDG, post)},
                 {"solver of the coarsest level", "about the coarsest level", offsetof(PC_VPatchDG, options.coarse)}};
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(dm, &A));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(members); i++) {
    PC   pc;
    char text[64];

    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCVPATCHDG));
    PetscCall(PCSetOperators(pc, A, A));
    *((char *)pc->data + members[i].at) ^= (char)odd; /* another least bit */
    PetscCall(PetscSNPrintf(text, sizeof(text), "PCs that differ between ranks in the %s", members[i].name));
    Refused(PCSetUp(pc), members[i].text, text);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what is not the same on all ranks: the last rank says something else */
static PetscErrorCode Disagreement(void)
{
  DM_VPatchDG *dg;
  DM           dm;
  PetscMPIInt  rank, size;
  PetscReal    odd;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  odd = rank == size - 1 ? 1 : 0;
  PetscCall(New(2, 1, &dm));
  PetscCall(DMVPatchDGSetBoxes(dm, 2, (PetscReal[]){0, 0, 1, 0}, (PetscReal[]){1, 1, 2 + odd, 1}));
  Refused(DMSetUp(dm), "Ranks disagree about the upper corners of the boxes", "boxes that differ between ranks");
  PetscCall(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_BOX));
  PetscCall(DMVPatchDGSetBoxGrid(dm, NULL, (PetscReal[]){-odd, 0}, NULL));
  Refused(DMSetUp(dm), "Ranks disagree about the boxes and corners", "a lower corner that differs between ranks");
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){2 + (PetscInt)odd, 1}, (PetscReal[]){0, 0}, NULL));
  Refused(DMSetUp(dm), "Ranks disagree about the boxes and corners", "a grid that differs between ranks");
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){2, 1}, NULL, NULL));
  PetscCall(DMSetRefineLevel(dm, 1 + (PetscInt)odd));
  Refused(DMSetUp(dm), "Ranks disagree about the number of refinements (-dm_refine): rank 0 has 1, rank",
          "a refinement that differs between ranks");
  PetscCall(DMDestroy(&dm));

  /* settings that a debug build of PETSc compares already in their setters */
  PetscCall(New(2, 1, &dm));
  dg = (DM_VPatchDG *)dm->data;
  dg->degree += rank == size - 1;
  Refused(DMSetUp(dm), "Ranks disagree about the degree (-dm_vpatchdg_degree): rank 0 has 2, rank", "a degree that differs between ranks");
  dg->degree = 2;
  dg->penalty += odd;
  Refused(DMSetUp(dm), "Ranks disagree about the penalty", "a penalty that differs between ranks");
  dg->penalty = 1;
  dg->reaction += odd;
  Refused(DMSetUp(dm), "Ranks disagree about the reaction", "a reaction that differs between ranks");
  dg->reaction = 0;
  dg->backend = rank == size - 1 ? VPATCHDG_BACKEND_HOST : VPATCHDG_BACKEND_AUTO;
  Refused(DMSetUp(dm), "rank 0 has auto, rank", "a backend that differs between ranks");
  dg->backend = VPATCHDG_BACKEND_AUTO;
  PetscCall(DMSetUp(dm));
  PetscCall(PCDisagreement(dm, (PetscInt)odd));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what PETSc's own setters change after DMSetUp() is not what was set up */
static PetscErrorCode Setters(void)
{
  DM       dm, clone;
  Vec      v;
  PetscInt dim[2], n;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMSetDimension(dm, 3));
  PetscCall(DMClone(dm, &clone));
  PetscCall(DMSetRefineLevel(dm, 7));
  PetscCall(DMSetDimension(dm, 3));
  PetscCall(DMCreateGlobalVector(dm, &v));
  PetscCall(VecGetSize(v, &n));
  PetscCall(DMGetDimension(dm, &dim[0]));
  PetscCall(DMGetDimension(clone, &dim[1]));
  TapOk((PetscBool)(dim[0] == 2 && dim[1] == 2 && n == 36), "setters_after_set_up_change_nothing");
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&clone));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zero(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  PetscFunctionBeginUser;
  value[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* vectors of another DM, larger and smaller, and one that is distributed otherwise */
static PetscErrorCode Vectors(void)
{
  const char *const text = "make it with DMCreateGlobalVector()";
  DM                dm, other[2];
  Mat               A;
  Vec               x, local, foreign[3];
  PetscReal         error;
  PetscInt          n;
  PetscMPIInt       rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(New(2, 2, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(DMCreateLocalVector(dm, &local));
  PetscCall(VecZeroEntries(x));
  for (int i = 0; i < 2; i++) {
    PetscCall(New(2, 1 + 2 * i, &other[i]));
    PetscCall(DMSetUp(other[i]));
    PetscCall(DMCreateGlobalVector(other[i], &foreign[i]));
  }
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, rank == size - 1 ? n : 0, n, &foreign[2]));
  PetscCall(MatSetDM(A, other[1]));
  for (int i = 0; i < (size > 1 ? 3 : 2); i++) {
    const Vec v = foreign[i];

    PetscCall(VecZeroEntries(v));
    Refused(DMVPatchDGComputeRHS(dm, NULL, NULL, NULL, NULL, v), text, "DMVPatchDGComputeRHS() into another DM's vector");
    Refused(DMVPatchDGComputeErrors(dm, v, Zero, NULL, NULL, &error, NULL), text, "DMVPatchDGComputeErrors() of another DM's vector");
    Refused(DMVPatchDGInterpolate(dm, Zero, NULL, v), text, "DMVPatchDGInterpolate() into another DM's vector");
    Refused(DMVPatchDGGetPointValues(dm, v, x), text, "DMVPatchDGGetPointValues() of another DM's vector");
    Refused(DMVPatchDGSetPointValues(dm, x, v), text, "DMVPatchDGSetPointValues() into another DM's vector");
    Refused(DMGlobalToLocal(dm, v, INSERT_VALUES, local), text, "DMGlobalToLocal() of another DM's vector");
    Refused(DMLocalToGlobal(dm, local, ADD_VALUES, v), text, "DMLocalToGlobal() into another DM's vector");
    Refused(MatGetDiagonal(A, v), text, "MatGetDiagonal() into another DM's vector");
    Refused(MatResidual(A, v, x, x), text, "MatResidual() of another DM's vector");
  }
  if (size > 1) Refused(DMGlobalToLocal(dm, x, INSERT_VALUES, x), "DMCreateLocalVector", "DMGlobalToLocal() into a global vector");
  for (int i = 0; i < 3; i++) PetscCall(VecDestroy(&foreign[i]));
  for (int i = 0; i < 2; i++) PetscCall(DMDestroy(&other[i]));
  PetscCall(VecDestroy(&local));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operators(void)
{
  const PetscInt row = 0;
  PetscInt       degree;
  DM             dm;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  Refused(MatZeroRows(A, 1, &row, 1, NULL, NULL), "zerorows", "MatZeroRows() without a matrix");
  Refused(MatZeroRowsColumns(A, 1, &row, 1, NULL, NULL), "zerorowscolumns", "MatZeroRowsColumns() without a matrix");
  Refused(DMVPatchDGGetDegree(dm, NULL), "Null pointer: argument 2 of DMVPatchDGGetDegree()", "a null pointer");
  Refused(DMVPatchDGGetDegree(NULL, &degree), "no object of the right class", "no DM");
  Refused(DMVPatchDGComputeRHS(dm, NULL, NULL, NULL, NULL, NULL), "no vector", "no vector");
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what PETSc's preconditioners ask for that need a matrix; refusals.t runs some of them */
static PetscErrorCode Entries(void)
{
  static const char  text[] = "Assemble it with -dm_mat_type aij";
  const PetscScalar *values;
  DM                 dm, plex;
  Mat                A, B, shell;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, 1, 1, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &shell));
  for (MatFactorType type = MAT_FACTOR_LU; type <= MAT_FACTOR_ICC; type++) {
    Refused(MatGetFactor(A, NULL, type, &B), text, MatFactorTypes[type]);
    Refused(MatGetFactor(shell, NULL, type, &B), "Could not locate a solver type", "a factorization of a user's shell");
  }
  Refused(MatGetDiagonalBlock(A, &B), text, "MatGetDiagonalBlock() without a matrix");
  Refused(MatInvertBlockDiagonal(A, &values), text, "MatInvertBlockDiagonal() without a matrix");
  Refused(DMConvert(dm, DMPLEX, &plex), "-mg_levels_pc_type vpatch", "a DMPLEX of a DMVPATCHDG");
  PetscCall(MatDestroy(&shell));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program sets preconditioners that need entries, without any option. They work on the assembled matrix as PETSc's. */
static PetscErrorCode Preconditioners(void)
{
  const PCType type[] = {PCBJACOBI, PCVPBJACOBI, PCDEFLATION, PCML, PCBDDC, PCNN, PCTFS, PCCP, PCLMVM};
  DM           dm;
  Mat          A[2];
  Vec          x, b;
  PC           pc;
  PetscReal    change;

  PetscFunctionBeginUser;
  for (int assembled = 0; assembled < 2; assembled++) {
    PetscCall(New(2, 1, &dm));
    if (assembled) PetscCall(DMSetMatType(dm, MATAIJ));
    PetscCall(DMSetUp(dm));
    PetscCall(DMCreateMatrix(dm, &A[assembled]));
    PetscCall(DMDestroy(&dm));
  }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(type); i++) {
    PetscErrorCode (*create)(PC);

    PetscCall(PetscFunctionListFind(PCList, type[i], &create));
    if (!create) continue; /* a PETSc without this package */
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, type[i]));
    PetscCall(PCSetOperators(pc, A[0], A[0]));
    Refused(PCSetUp(pc), "Assemble it with -dm_mat_type aij", type[i]);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatCreateVecs(A[1], &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCBJACOBI));
  PetscCall(PCSetOperators(pc, A[1], A[1]));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(VecAXPY(x, -1, b));
  PetscCall(VecNorm(x, NORM_INFINITY, &change));
  TapOk((PetscBool)(change > 0.1), "bjacobi_preconditions_an_assembled_matrix: %g", (double)change);
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  for (int i = 0; i < 2; i++) PetscCall(MatDestroy(&A[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Uses(void)
{
  DM         dm, other, coarse, fine;
  Mat        A;
  Vec        x, y;
  PetscInt   n;
  PetscReal *a;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = 0;
  Refused(DMVPatchDGSetCoefficient(dm, a), "positive and finite", "coefficient 0");
  PetscCall(PetscFree(a));
  PetscCall(DMCoarsen(dm, PETSC_COMM_WORLD, &coarse));
  Refused(DMCoarsen(coarse, PETSC_COMM_WORLD, &other), "no coarser mesh", "coarsening whole boxes");
  PetscCall(New(2, 2, &fine));
  PetscCall(DMSetUp(fine));
  Refused(DMCreateInterpolation(dm, fine, &A, NULL), "DMRefine", "interpolation between strangers");
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(DMCreateGlobalVector(coarse, &y));
  Refused(DMVPatchDGGetPointValues(dm, x, y), "DMCreateGlobalVector", "a vector of another DM");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&coarse));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &other));
  Refused(DMVPatchDGSetDegree(other, 2), "not of type vpatchdg", "a DM of another type");
  PetscCall(DMDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a GPU is asked for where there is none */
static PetscErrorCode Device(void)
{
  const char *says = VpBackendFind("cuda") ? "there is no CUDA device" : "has no CUDA kernels";
  DM          dm;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, &dm));
  PetscCall(DMSetMatType(dm, MATAIJ));
  Refused(DMVPatchDGSetBackend(dm, (VPatchDGBackend)7), "does not exist", "unknown backend");
  if (!UsableBackend("cuda")) {
    PetscCall(DMVPatchDGSetBackend(dm, VPATCHDG_BACKEND_CUDA));
    Refused(DMSetUp(dm), says, "no device");
    PetscCall(DMVPatchDGSetBackend(dm, VPATCHDG_BACKEND_HOST));
    PetscCall(DMSetUp(dm));
    Refused(DMVPatchDGSetBackend(dm, VPATCHDG_BACKEND_CUDA), "after DMSetUp", "another backend after set-up");
  }
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(Settings());
  PetscCall(Domains());
  PetscCall(Sizes());
  PetscCall(Boxes());
  PetscCall(Disagreement());
  PetscCall(Setters());
  PetscCall(Vectors());
  PetscCall(Operators());
  PetscCall(Entries());
  PetscCall(Preconditioners());
  PetscCall(Uses());
  PetscCall(Device());
  PetscFunctionReturn(PETSC_SUCCESS);
}
