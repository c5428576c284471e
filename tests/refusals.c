/* bad_input_is_refused: on every rank, with a message that says what is wrong and what there is. Options are in refusals.t. */
/* ranks: 1 3 */
#include "problem.h"
#include "refused.h"

static PetscErrorCode New(PetscInt dim, PetscInt refine, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 2, refine, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Settings(void)
{
  const PetscReal        zero = 0;
  const VPatchDGBoundary half[] = {VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_DIRICHLET,
                                   VPATCHDG_BOUNDARY_DIRICHLET};
  const VPatchDGBoundary unknown[] = {(VPatchDGBoundary)7, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_DIRICHLET,
                                      VPATCHDG_BOUNDARY_DIRICHLET};
  const VPatchDGBoundary periodic[] = {VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_PERIODIC, VPATCHDG_BOUNDARY_DIRICHLET,
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

/* what is not the same on all ranks: the last rank says something else */
static PetscErrorCode Disagreement(void)
{
  DM          dm;
  PetscMPIInt rank, size;
  PetscReal   odd;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  odd = rank == size - 1 ? 1 : 0;
  PetscCall(New(2, 1, &dm));
  PetscCall(DMVPatchDGSetBoxes(dm, 2, (PetscReal[]){0, 0, 1, 0}, (PetscReal[]){1, 1, 2 + odd, 1}));
  Refused(DMSetUp(dm), "Ranks disagree: the upper corners of the boxes", "boxes that differ between ranks");
  PetscCall(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_BOX));
  PetscCall(DMVPatchDGSetBoxGrid(dm, NULL, (PetscReal[]){-odd, 0}, NULL));
  Refused(DMSetUp(dm), "Ranks disagree: the lower corner", "a lower corner that differs between ranks");
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){2 + (PetscInt)odd, 1}, (PetscReal[]){0, 0}, NULL));
  Refused(DMSetUp(dm), "Ranks disagree: the numbers of boxes", "a grid that differs between ranks");
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){2, 1}, NULL, NULL));
  PetscCall(DMSetRefineLevel(dm, 1 + (PetscInt)odd));
  Refused(DMSetUp(dm), "Ranks disagree: domain", "a refinement that differs between ranks");
  PetscCall(DMDestroy(&dm));
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

int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TapBegin(PETSC_COMM_WORLD);
  PetscCall(Settings());
  PetscCall(Boxes());
  PetscCall(Disagreement());
  PetscCall(Uses());
  PetscCall(Device());
  PetscCall(PetscFinalize());
  return TapEnd();
}
