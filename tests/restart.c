/* Meshes and vectors are read again by other numbers of ranks than those that wrote them. */
/* ranks: 1 4 */
#include "support/leaves.h"
#include "support/refused.h"
#include "../src/petsc/dmdata/dmdata.h"
#include <sys/stat.h>
#include <unistd.h>

static char      folder[PETSC_MAX_PATH_LEN];
static PetscBool by_mpi; /* All ranks read binary files. */

/* what is known of a DM and its vector: on every rank, in the order of the cells */
typedef struct {
  PetscInt   n[5];
  PetscReal *x[5]; /* corners of cells, their coefficient, a vector u, labels of sides, A u */
} State;

/* a communicator of the first ranks; MPI_COMM_NULL on others */
static PetscErrorCode First(PetscMPIInt ranks, MPI_Comm *comm)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, tap.rank < ranks ? 0 : MPI_UNDEFINED, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collects n numbers of each of the comm's ranks on all ranks. Ranks outside of it have none. */
static PetscErrorCode Collect(MPI_Comm comm, PetscInt n, const PetscReal mine[], PetscInt *total, PetscReal **all)
{
  PetscMPIInt size, count = (PetscMPIInt)n, *counts, *starts;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc2(size, &counts, size + 1, &starts));
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, PETSC_COMM_WORLD));
  starts[0] = 0;
  for (int r = 0; r < size; r++) starts[r + 1] = starts[r] + counts[r];
  *total = starts[size];
  PetscCall(PetscMalloc1(*total, all));
  PetscCallMPI(MPI_Allgatherv(mine, count, MPIU_REAL, *all, counts, starts, MPIU_REAL, PETSC_COMM_WORLD));
  PetscCall(PetscFree2(counts, starts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CollectVector(MPI_Comm comm, Vec v, PetscInt *total, PetscReal **all)
{
  const PetscScalar *x = NULL;
  PetscInt           n = 0;

  PetscFunctionBeginUser;
  if (v) PetscCall(VecGetLocalSize(v, &n));
  if (v) PetscCall(VecGetArrayRead(v, &x));
  PetscCall(Collect(comm, n, x, total, all));
  if (v) PetscCall(VecRestoreArrayRead(v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* dm and u: NULL on ranks that are not of the comm */
static PetscErrorCode StateCreate(MPI_Comm comm, DM dm, Vec u, State *state)
{
  PetscInt         n = 0, dim = 0, width = 0, labels = 0;
  PetscReal       *corner = NULL, *side = NULL;
  const PetscInt  *label;
  const PetscReal *a = NULL;
  Vec              y = NULL;
  Mat              A;

  PetscFunctionBeginUser;
  if (dm) {
    PetscCall(DMGetDimension(dm, &dim));
    PetscCall(DMVPatchDGGetCells(dm, &n));
    PetscCall(DMVPatchDGGetTensorCoefficient(dm, &a));
    width = a ? dim : 1;
    if (!a) PetscCall(DMVPatchDGGetCoefficient(dm, &a));
    PetscCall(PetscMalloc1(2 * n * dim, &corner));
    for (PetscInt c = 0; c < n; c++) PetscCall(DMVPatchDGGetCellBounds(dm, c, corner + 2 * c * dim, corner + (2 * c + 1) * dim));
    PetscCall(DMVPatchDGGetSideLabels(dm, &labels, &label));
    labels *= 2 * dim;
    PetscCall(PetscMalloc1(labels, &side));
    for (PetscInt i = 0; i < labels; i++) side[i] = (PetscReal)label[i];
    PetscCall(VecDuplicate(u, &y));
    PetscCall(DMCreateMatrix(dm, &A));
    PetscCall(MatMult(A, u, y));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(Collect(comm, 2 * n * dim, corner, &state->n[0], &state->x[0]));
  PetscCall(Collect(comm, a ? n * width : 0, a, &state->n[1], &state->x[1]));
  PetscCall(CollectVector(comm, u, &state->n[2], &state->x[2]));
  PetscCall(Collect(comm, tap.rank ? 0 : labels, side, &state->n[3], &state->x[3]));
  PetscCall(CollectVector(comm, y, &state->n[4], &state->x[4]));
  PetscCall(PetscFree(side));
  PetscCall(PetscFree(corner));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StateDestroy(State *state)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < 5; i++) PetscCall(PetscFree(state->x[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* which arrays differ, as bits: those that are read at all, A u by more than rounding */
static int Differences(const State *one, const State *other)
{
  int differ = 0;

  for (int i = 0; i < 5; i++) {
    PetscReal most = 0, worst = 0;

    for (PetscInt k = 0; k < one->n[i] && one->n[i] == other->n[i]; k++) {
      most = PetscMax(most, PetscAbsReal(one->x[i][k]));
      worst = PetscMax(worst, PetscAbsReal(one->x[i][k] - other->x[i][k]));
    }
    if (one->n[i] != other->n[i] || !(worst <= (i < 4 ? 0 : 1e-13) * most)) differ |= 1 << i;
  }
  return differ;
}

static PetscErrorCode Open(MPI_Comm comm, const char type[], const char name[], PetscFileMode mode, PetscViewer *viewer)
{
  char path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/%s", folder, name));
  PetscCall(PetscViewerCreate(comm, viewer));
  PetscCall(PetscViewerSetType(*viewer, type));
  if (by_mpi) PetscCall(PetscViewerBinarySetUseMPIIO(*viewer, PETSC_TRUE));
  PetscCall(PetscViewerFileSetMode(*viewer, mode));
  PetscCall(PetscViewerFileSetName(*viewer, path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Save(const char type[], const char name[], DM dm, Vec u)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectSetName((PetscObject)u, "u"));
  PetscCall(Open(PetscObjectComm((PetscObject)dm), type, name, FILE_MODE_WRITE, &viewer));
  PetscCall(DMView(dm, viewer));
  PetscCall(VecView(u, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* options: whether the DM reads options before, of which the dimension and what refines are not the file's */
static PetscErrorCode Load(MPI_Comm comm, const char type[], const char name[], PetscBool options, DM *dm, Vec *u)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(comm, dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  if (options) PetscCall(DMSetFromOptions(*dm));
  PetscCall(Open(comm, type, name, FILE_MODE_READ, &viewer));
  PetscCall(DMLoad(*dm, viewer));
  PetscCall(DMSetUp(*dm));
  if (!options) PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMCreateGlobalVector(*dm, u));
  PetscCall(PetscObjectSetName((PetscObject)*u, "u"));
  PetscCall(VecLoad(*u, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Field(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = PetscExpReal(x[0]) * PetscSinReal(2 * x[1] + 1) + (dim > 2 ? x[2] : 0);
  return 0;
}

/* writes what the DM is and a vector, and reads them by other numbers of ranks, which write and read them a second time */
static PetscErrorCode is_read_again(DM dm, MPI_Comm comm, const char type[], const char name[])
{
  const PetscMPIInt ranks[] = {1, 2, 4};
  State             before, after;
  Vec               u = NULL, v = NULL;
  DM                again = NULL;
  MPI_Comm          readers;
  PetscMPIInt       size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (dm) {
    PetscCall(DMCreateGlobalVector(dm, &u));
    PetscCall(DMVPatchDGInterpolate(dm, Field, NULL, u));
    PetscCall(Save(type, "mesh", dm, u));
  }
  PetscCall(StateCreate(comm, dm, u, &before));
  PetscCall(VecDestroy(&u));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  for (int i = 0; i < 3 && ranks[i] <= size; i++) {
    PetscCall(First(ranks[i], &readers));
    for (int twice = 0; twice < 2; twice++) {
      if (readers != MPI_COMM_NULL) {
        PetscCall(Load(readers, type, twice ? "again" : "mesh", (PetscBool)twice, &again, &v));
        if (!twice) PetscCall(Save(type, "again", again, v));
      }
      PetscCall(StateCreate(readers, again, v, &after));
      TapOk((PetscBool)(!Differences(&before, &after)), "is_read_again, %s, %s, by %d ranks%s: %d of %d cells' numbers, differences %d",
            name, type, ranks[i], twice ? " a second time" : "", (int)after.n[0], (int)before.n[0], Differences(&before, &after));
      PetscCall(StateDestroy(&after));
      PetscCall(VecDestroy(&v));
      PetscCall(DMDestroy(&again));
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    }
    if (readers != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_free(&readers));
  }
  PetscCall(StateDestroy(&before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetTensor(DM dm)
{
  PetscInt   n, dim;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n * dim + 1, &a));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    for (PetscInt d = 0; d < dim; d++) a[c * dim + d] = 1 + Lot(lower, upper, (int)dim, (int)d);
  }
  PetscCall(DMVPatchDGSetTensorCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* boxes of a graded grid, periodic along y, Robin sides, reaction, penalty and a coefficient; adaptive if some is refined */
static PetscErrorCode Graded(MPI_Comm comm, PetscReal part, DM *dm)
{
  const VPatchDGBoundary boundary[4] = {VPATCHDG_BOUNDARY_ROBIN, VPATCHDG_BOUNDARY_NEUMANN, P, P};

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(comm, 2, 2, 2, dm));
  PetscCall(DMVPatchDGSetGrid(*dm, 0, 3, (PetscReal[]){-1, 0, 0.5, 0.7}));
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMVPatchDGSetRobin(*dm, (PetscReal[]){2.5, 1, 1, 1}));
  PetscCall(DMVPatchDGSetReaction(*dm, 3));
  PetscCall(DMVPatchDGSetPenalty(*dm, 1.5));
  PetscCall(DMSetUp(*dm));
  for (int i = 0; i < 2 && part > 0; i++) PetscCall(RefineSome(dm, part, i));
  PetscCall(SetCoefficient(*dm, Coefficient, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an L of boxes whose sides have labels, with a tensor; adaptive if some is refined */
static PetscErrorCode Labeled(MPI_Comm comm, PetscReal part, DM *dm)
{
  const PetscReal lower[9] = {0, 0, 0, 1, 0, 0, 0, 2, 0}, upper[9] = {1, 2, 1, 3, 2, 1, 1, 3, 1};
  const PetscInt  label[18] = {7, -1, 5, -1, 5, 5, -1, 5, 5, 7, 5, 5, 5, 5, -1, 5, 9, 9};

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(comm, 3, 1, 1, dm));
  PetscCall(DMVPatchDGSetBoxes(*dm, 3, lower, upper));
  PetscCall(DMVPatchDGSetSideLabels(*dm, 3, label));
  PetscCall(DMVPatchDGSetLabelBoundary(*dm, 5, VPATCHDG_BOUNDARY_NEUMANN, 0));
  PetscCall(DMVPatchDGSetLabelBoundary(*dm, 7, VPATCHDG_BOUNDARY_ROBIN, 0.3));
  PetscCall(DMSetUp(*dm));
  for (int i = 0; i < 2 && part > 0; i++) PetscCall(RefineSome(dm, part, i));
  PetscCall(SetTensor(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Side(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[], VPatchDGBoundary *boundary,
                           PetscReal *alpha, void *ctx)
{
  if (box == 1) *boundary = VPATCHDG_BOUNDARY_NEUMANN;
  if (side == 2) *boundary = VPATCHDG_BOUNDARY_ROBIN;
  *alpha = 1 + (PetscReal)box;
  return 0;
}

/* a domain with a name, whose boundary a function knows; adaptive at a point if so many levels are */
static PetscErrorCode Asked(MPI_Comm comm, VPatchDGDomain domain, PetscInt levels, DM *dm)
{
  const PetscInt dim = domain == VPATCHDG_DOMAIN_LSHAPE ? 2 : 3;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(comm, dim, 1, 1, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, domain));
  PetscCall(DMVPatchDGSetBoundaryFunction(*dm, Side, NULL));
  PetscCall(DMVPatchDGSetLocalRefinement(*dm, levels, (PetscReal[]){0, 0, 0}, NULL));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a map that is no polynomial */
static PetscErrorCode Bend(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar X[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    X[2 * i] = PetscExpReal(x[2 * i]) + 0.1 * x[2 * i + 1];
    X[2 * i + 1] = x[2 * i + 1] + 0.2 * PetscSinReal(x[2 * i]);
  }
  return 0;
}

/* mapped cells with a coefficient; named: the map is one that an option names */
static PetscErrorCode Mapped(MPI_Comm comm, PetscBool named, PetscReal part, DM *dm)
{
  PetscInt  n;
  PetscReal a[64];

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(comm, 2, 3, 2, dm));
  PetscCall(DMVPatchDGSetBackend(*dm, VPATCHDG_BACKEND_HOST));
  if (named) {
    PetscCall(PetscOptionsSetValue(NULL, "-dm_vpatchdg_map", "annulus"));
    PetscCall(PetscOptionsSetValue(NULL, "-dm_vpatchdg_map_parameters", "1,2,90"));
    PetscCall(PetscOptionsSetValue(NULL, "-dm_vpatchdg_geometry_precision", "single"));
    PetscCall(DMSetFromOptions(*dm));
    PetscCall(PetscOptionsClearValue(NULL, "-dm_vpatchdg_map"));
    PetscCall(PetscOptionsClearValue(NULL, "-dm_vpatchdg_map_parameters"));
    PetscCall(PetscOptionsClearValue(NULL, "-dm_vpatchdg_geometry_precision"));
  } else {
    PetscCall(DMVPatchDGSetMap(*dm, Bend, NULL));
    PetscCall(DMVPatchDGSetMapDegree(*dm, 2));
  }
  PetscCall(DMSetUp(*dm));
  PetscCall(DMVPatchDGGetCells(*dm, &n));
  for (PetscInt i = 0; i < n; i++) a[i] = 1 + i % 3;
  PetscCall(DMVPatchDGSetCoefficient(*dm, a));
  if (part > 0) PetscCall(RefineSome(dm, part, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode every_kind_is_read_again(PetscMPIInt writers, const char type[])
{
  const char *names[] = {"graded",
                         "graded and adaptive",
                         "labels",
                         "labels and adaptive",
                         "L-shape and function",
                         "Fichera and adaptive",
                         "map and name",
                         "map and function",
                         "map and name, adaptive",
                         "map and function, adaptive"};
  MPI_Comm    comm;
  DM          dm = NULL;

  PetscFunctionBeginUser;
  PetscCall(First(writers, &comm));
  for (int i = 0; i < 10; i++) {
    if (comm != MPI_COMM_NULL) {
      if (i < 2) PetscCall(Graded(comm, i % 2 ? 0.2 : 0, &dm));
      else if (i < 4) PetscCall(Labeled(comm, i % 2 ? 0.2 : 0, &dm));
      else if (i > 5) PetscCall(Mapped(comm, (PetscBool)(i % 2 == 0), i > 7 ? 0.3 : 0, &dm));
      else PetscCall(Asked(comm, i % 2 ? VPATCHDG_DOMAIN_FICHERA : VPATCHDG_DOMAIN_LSHAPE, i % 2 ? 3 : 0, &dm));
    }
    PetscCall(is_read_again(dm, comm, type, names[i]));
    PetscCall(DMDestroy(&dm));
  }
  if (comm != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_free(&comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector alone, of a DM that other numbers of ranks make in the same way */
static PetscErrorCode a_vector_is_read_again(PetscMPIInt writers, const char type[], PetscReal part)
{
  const PetscMPIInt ranks[] = {writers, 1, 2, 3, 4};
  PetscMPIInt       size;
  State             before = {0}, after;
  MPI_Comm          comm;
  PetscViewer       viewer;
  DM                dm = NULL;
  Vec               u = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int i = 0; i < 5 && ranks[i] <= size; i++) {
    PetscCall(First(ranks[i], &comm));
    if (comm != MPI_COMM_NULL) {
      PetscCall(Graded(comm, part, &dm));
      PetscCall(DMCreateGlobalVector(dm, &u));
      PetscCall(PetscObjectSetName((PetscObject)u, "u"));
      PetscCall(Open(comm, type, "vector", i ? FILE_MODE_READ : FILE_MODE_WRITE, &viewer));
      if (!i) PetscCall(DMVPatchDGInterpolate(dm, Field, NULL, u));
      if (!i) PetscCall(VecView(u, viewer));
      else PetscCall(VecLoad(u, viewer));
      PetscCall(PetscViewerDestroy(&viewer));
    }
    PetscCall(StateCreate(comm, dm, u, &after));
    if (i) {
      TapOk((PetscBool)!Differences(&before, &after), "a_vector_is_read_again, %s, %s, by %d ranks", part > 0 ? "adaptive" : "uniform",
            type, ranks[i]);
      PetscCall(StateDestroy(&after));
    } else before = after;
    PetscCall(VecDestroy(&u));
    PetscCall(DMDestroy(&dm));
    if (comm != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_free(&comm));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  }
  PetscCall(StateDestroy(&before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* writes a file whose first `bytes` are those of "mesh"; at, number: a number there in place of its own */
static PetscErrorCode Damage(size_t bytes, size_t at, PetscReal number)
{
  char   path[2][PETSC_MAX_PATH_LEN], *text;
  size_t n;
  FILE  *file;

  PetscFunctionBeginUser;
  if (!tap.rank) {
    PetscCall(PetscSNPrintf(path[0], sizeof(path[0]), "%s/mesh", folder));
    PetscCall(PetscSNPrintf(path[1], sizeof(path[1]), "%s/damaged", folder));
    PetscCall(PetscMalloc1(1 << 20, &text));
    file = fopen(path[0], "rb");
    n = fread(text, 1, 1 << 20, file);
    fclose(file);
    for (size_t i = 0; at && i < 8; i++) text[at + i] = ((char *)&number)[7 - i]; /* PETSc's files begin with high bytes. */
    file = fopen(path[1], "wb");
    (void)fwrite(text, 1, bytes < n ? bytes : n, file);
    fclose(file);
    PetscCall(PetscFree(text));
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadDamaged(PetscInt dim)
{
  PetscViewer    viewer;
  DM             dm;
  PetscErrorCode error;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMVPATCHDG));
  if (dim) PetscCall(DMSetDimension(dm, dim));
  PetscCall(Open(PETSC_COMM_WORLD, PETSCVIEWERBINARY, "damaged", FILE_MODE_READ, &viewer));
  error = DMLoad(dm, viewer);
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(DMDestroy(&dm));
  return error;
}

/* of one box: a cell that begins in the middle of another place, and small cells beside a large one */
static PetscErrorCode bad_depths_are_refused(void)
{
  const uint8_t inside[] = {2, 1, 1, 1, 2, 2, 2}, steep[] = {1, 2, 2, 2, 4, 4, 4, 4, 3, 3, 3, 1, 1};
  VpMesh        mesh;
  VpDomain      domain;
  DM            dm;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 1, 1, &dm));
  PetscCall(DMSetUp(dm));
  domain = DMVPatchDGData(dm)->mesh->geometry->domain;
  Refused(VpMeshCreateLeaves(PETSC_COMM_WORLD, domain, tap.rank ? 0 : 7, inside, &mesh), "do not fill the 1 boxes",
          "cells in other places");
  Refused(VpMeshCreateLeaves(PETSC_COMM_WORLD, domain, tap.rank ? 0 : 13, steep, &mesh), "differ by more than one level", "steep levels");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_files_are_refused(void)
{
  const size_t head = sizeof(PetscInt) + 256, settings = head + 2 * sizeof(PetscInt), whole = 1 << 20;
  PetscViewer  viewer;
  Vec          u;
  DM           dm, coarse;
  size_t       n = 0, depths;

  PetscFunctionBeginUser;
  PetscCall(LossesAreExpected());
  PetscCall(Graded(PETSC_COMM_WORLD, 0.2, &dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(Save(PETSCVIEWERBINARY, "mesh", dm, u));
  PetscCall(VecDestroy(&u));
  PetscCall(Open(PETSC_COMM_WORLD, PETSCVIEWERBINARY, "mesh", FILE_MODE_READ, &viewer));
  Refused(DMLoad(dm, viewer), "is set up already", "a DM that is set up");
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(DMDestroy(&dm));
  PetscCall(Damage(whole, 0, 0));
  Refused(LoadDamaged(3), "has a mesh in 2 dimensions, the DM has 3", "another dimension");
  for (size_t bytes = head; bytes < 3000 && n < 13; bytes += 223, n++) {
    PetscCall(Damage(bytes, 0, 0));
    by_mpi = (PetscBool)(n % 2);
    Refused(LoadDamaged(0), "ends too early", n % 2 ? "a file that was cut, by MPI" : "a file that was cut");
  }
  by_mpi = PETSC_FALSE;
  PetscCall(Damage(whole, settings, 5));
  Refused(LoadDamaged(0), "was not written by DMView() of a DMVPATCHDG", "another vector");
  PetscCall(Damage(whole, settings + 8, 99));
  Refused(LoadDamaged(0), "has version 99 of meshes", "another version");
  PetscCall(Damage(whole, settings + 8 * 39, 99));
  Refused(LoadDamaged(0), "there is no map with the number 99", "another map");
  PetscCall(Damage(whole, settings + 8 * 4, 9));
  Refused(LoadDamaged(0), "degrees 1 to 8", "another degree");
  PetscCall(Damage(whole, settings + 8 * 10, 1e9));
  Refused(LoadDamaged(0), "are damaged", "another number of boxes");
  depths = settings + 8 * (49 + 4) + 2 * sizeof(PetscInt);
  PetscCall(Damage(whole, depths, 1));
  Refused(LoadDamaged(0), "The cells do not fill the 3 boxes", "another depth");
  PetscCall(Damage(whole, depths, NAN));
  Refused(LoadDamaged(0), "The cells do not fill the 3 boxes", "a depth that is NaN");
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 1, 3, &dm));
  PetscCall(Open(PETSC_COMM_WORLD, PETSCVIEWERBINARY, "damaged", FILE_MODE_WRITE, &viewer));
  Refused(DMView(dm, viewer), "needs a DM that is set up", "a DM that is not set up");
  PetscCall(DMVPatchDGSetBoxGrid(dm, NULL, NULL, (PetscReal[]){16, 1}));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCoarsen(dm, PETSC_COMM_WORLD, &coarse));
  Refused(DMView(coarse, viewer), "which was coarsened", "a mesh coarsened along one direction");
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(DMDestroy(&coarse));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const char *kind[] = {PETSCVIEWERBINARY, PETSCVIEWERHDF5};
  const int   kinds = PetscDefined(HAVE_HDF5) ? 2 : 1;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-viewer_binary_skip_info", NULL));
  if (!tap.rank) PetscCall(PetscSNPrintf(folder, sizeof(folder), "/tmp/vpatchdg-restart-XXXXXX"));
  PetscCheck(tap.rank || mkdtemp(folder), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No folder %s", folder);
  PetscCallMPI(MPI_Bcast(folder, sizeof(folder), MPI_CHAR, 0, PETSC_COMM_WORLD));
  for (PetscMPIInt writers = 1; writers <= PetscMin(3, tap.size); writers += 2) {
    for (int i = 0; i < kinds; i++) {
      PetscCall(every_kind_is_read_again(writers, kind[i]));
      PetscCall(a_vector_is_read_again(writers, kind[i], 0));
      PetscCall(a_vector_is_read_again(writers, kind[i], 0.2));
    }
  }
  PetscCall(bad_files_are_refused());
  PetscCall(bad_depths_are_refused());
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!tap.rank) PetscCall(PetscRMTree(folder));
  PetscFunctionReturn(PETSC_SUCCESS);
}
