/* Domains and meshes at their limits: what is refused, many boxes, more ranks than cells, other communicators.
   ranks: 1 2 3 5 */
#include "support/tap.h"
#include "../src/mesh/internal.h"

/* the error of a domain of boxes in the plane, {x lower, y lower, x upper, y upper} each */
static PetscErrorCode ErrorOf(int n, PetscReal boxes[][4], int periodic)
{
  const VpBoundary boundary[4] = {{VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}};
  const PetscBool  wraps[2] = {(PetscBool)(periodic & 1), (PetscBool)(periodic >> 1 & 1)};
  PetscReal        lower[8][2], upper[8][2];
  PetscErrorCode   error;
  VpDomain         domain = NULL;

  for (int b = 0; b < n; b++) {
    for (int d = 0; d < 2; d++) {
      lower[b][d] = boxes[b][d];
      upper[b][d] = boxes[b][2 + d];
    }
  }
  error = VpDomainCreate(PETSC_COMM_WORLD, &(VpBoxes){2, n, lower[0], upper[0], boundary, wraps}, &domain);
  if (!error) error = VpDomainDestroy(&domain);
  return error;
}

static PetscErrorCode BadBoxes(void)
{
  PetscReal good[][4] = {{0, 0, 1, 1}, {1, 0, 3, 1}, {0, 1, 1, 4}}, empty[][4] = {{0, 0, 1, 1}, {1, 0, 1, 1}},
            inverted[][4] = {{0, 0, 1, -1}}, invalid[][4] = {{0, 0, 1, NAN}}, infinite[][4] = {{0, 0, 1, INFINITY}},
            overlap[][4] = {{0, 0, 1, 1}, {.5, .5, 2, 2}}, twice[][4] = {{0, 0, 1, 1}, {0, 0, 1, 1}},
            hanging[][4] = {{0, 0, 1, 2}, {1, 0, 2, 1}, {1, 1, 2, 2}}, apart[][4] = {{0, 0, 1, 1}, {2, 0, 3, 1}},
            corner[][4] = {{0, 0, 1, 1}, {1, 1, 2, 2}}, rounded[][4] = {{0, 0, 1, 1}, {1 + 1e-13, 0, 2, 1 - 1e-13}};

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  TapOk((PetscBool)(ErrorOf(3, good, 0) == 0 && ErrorOf(2, good, 1) == 0 && ErrorOf(2, rounded, 0) == 0), "good_boxes_are_taken");
  TapOk((PetscBool)(ErrorOf(2, empty, 0) == PETSC_ERR_ARG_OUTOFRANGE && ErrorOf(1, inverted, 0) == PETSC_ERR_ARG_OUTOFRANGE),
        "empty_boxes_are_refused");
  TapOk((PetscBool)(ErrorOf(1, invalid, 0) == PETSC_ERR_ARG_OUTOFRANGE && ErrorOf(1, infinite, 0) == PETSC_ERR_ARG_OUTOFRANGE),
        "boxes_that_are_not_finite_are_refused");
  TapOk((PetscBool)(ErrorOf(2, overlap, 0) == PETSC_ERR_ARG_INCOMP && ErrorOf(2, twice, 0) == PETSC_ERR_ARG_INCOMP),
        "overlapping_boxes_are_refused");
  TapOk((PetscBool)(ErrorOf(3, hanging, 0) == PETSC_ERR_ARG_INCOMP), "hanging_sides_are_refused");
  TapOk((PetscBool)(ErrorOf(2, apart, 0) == PETSC_ERR_ARG_INCOMP && ErrorOf(2, corner, 0) == PETSC_ERR_ARG_INCOMP),
        "disconnected_boxes_are_refused");
  TapOk((PetscBool)(ErrorOf(3, good, 1) == PETSC_ERR_ARG_INCOMP && ErrorOf(3, good, 2) == PETSC_ERR_ARG_INCOMP),
        "periodic_ends_that_differ_are_refused");
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n^dim unit boxes */
static PetscErrorCode Grid(MPI_Comm comm, int dim, int n, VpDomain *domain)
{
  const VpBoundary boundary[6] = {{VP_SIDE_NEUMANN, 0},   {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0},
                                  {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}};
  const int        nbox = dim == 2 ? n * n : n * n * n;
  PetscReal       *lower, *upper;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(nbox * dim, &lower, nbox * dim, &upper));
  for (int b = 0; b < nbox; b++) {
    for (int d = 0, rest = b; d < dim; d++, rest /= n) {
      lower[b * dim + d] = (rest % n) / (PetscReal)n;
      upper[b * dim + d] = (rest % n + 1) / (PetscReal)n;
    }
  }
  PetscCall(VpDomainCreate(comm, &(VpBoxes){dim, nbox, lower, upper, boundary, NULL}, domain));
  PetscCall(PetscFree2(lower, upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sizes(void)
{
  const int deepest[2] = {30, 19}, large[2] = {17, 12}; /* more than p4est refines; than 32 bits count, on a rank or at all */
  VpDomain  domain;
  VpMesh    mesh;

  PetscFunctionBeginUser;
  for (int dim = 2; dim <= 3; dim++) {
    PetscErrorCode deep, many;

    PetscCall(Grid(PETSC_COMM_WORLD, dim, 1, &domain));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    deep = VpMeshCreate(PETSC_COMM_WORLD, domain, deepest[dim - 2], &mesh);
    many = VpMeshCreate(PETSC_COMM_WORLD, domain, large[dim - 2], &mesh);
    PetscCall(PetscPopErrorHandler());
    TapOk((PetscBool)(deep == PETSC_ERR_ARG_OUTOFRANGE && many == PETSC_ERR_SUP), "meshes_too_large_are_refused_%dd", dim);
    PetscCall(VpDomainDestroy(&domain));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ghosts of a cube of 8^dim cells that lies far inside a finely refined box: positions up to 2^56 */
static PetscErrorCode FarCells(int dim)
{
  const VpCellSet none = {0};
  const int       level = dim == 2 ? 28 : 18, n = 8;
  const int32_t   corner[3] = {(1 << (level - 1)) + 3 * n, (1 << (level - 1)) - 5 * n, dim == 3 ? (1 << (level - 2)) + n : 0};
  const int32_t   side = dim == 3 ? n * n : n, own = side * n;
  VpDomain        domain;
  VpLattice       L;
  VpCellSet       halo;
  int64_t         first;
  int32_t         end[4], bad = 0;

  PetscFunctionBeginUser;
  PetscCall(Grid(PETSC_COMM_SELF, dim, 1, &domain));
  PetscCall(VpLatticeCreateUniform(domain, level, &L));
  first = VpLatticeEncode(L, 0, corner);
  PetscCall(VpHaloCreate(L, (VpRange){first, first + own}, NULL, &none, &halo, end));
  for (int32_t i = 0; i < end[3]; i++) {
    const int layer = i < end[0] ? 1 : (i < end[1] ? 2 : 3);
    int       distance = 0;
    int32_t   box, coord[3];

    VpLatticeDecode(L, VpCellSetAt(&halo, i), &box, coord);
    for (int d = 0; d < dim; d++) distance = PetscMax(distance, PetscMax(corner[d] - coord[d], coord[d] - corner[d] - (n - 1)));
    bad += box != 0 || distance < 1 || distance > layer || VpCellSetFind(&halo, VpCellSetAt(&halo, i)) != i;
  }
  TapOk((PetscBool)(first > (int64_t)1 << 40 && bad == 0 && end[0] == 2 * dim * side && end[1] == PetscPowInt(n + 4, dim) - own &&
                    end[2] == PetscPowInt(n + 6, dim) - own && end[3] == end[2]),
        "far_cells_have_their_ghosts_%dd", dim);
  PetscCall(VpDictionaryDestroy(&halo));
  PetscCall(VpLatticeDestroy(&L));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ManyBoxes(void)
{
  VpDomain domain;
  int      beyond = 0;

  PetscFunctionBeginUser;
  PetscCall(Grid(PETSC_COMM_WORLD, 3, 20, &domain));
  for (int b = 0; b < domain->nbox; b++) {
    const int step[3] = {1, 20, 400};

    for (int d = 0; d < 3; d++) {
      const int at = b / step[d] % 20;

      beyond += domain->beyond[6 * b + 2 * d] != (at > 0 ? b - step[d] : -1 - 2 * d);
      beyond += domain->beyond[6 * b + 2 * d + 1] != (at < 19 ? b + step[d] : -2 - 2 * d);
      beyond += at == 0 && VpDomainSide(domain, domain->beyond[6 * b + 2 * d]) != (d == 0 ? VP_SIDE_NEUMANN : VP_SIDE_DIRICHLET);
      beyond += at == 19 && VpDomainSide(domain, domain->beyond[6 * b + 2 * d + 1]) != VP_SIDE_DIRICHLET;
    }
  }
  TapOk((PetscBool)(beyond == 0), "many_boxes_find_their_neighbors");
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one box whole: all ranks but one are empty; and again after one refinement */
static PetscErrorCode MoreRanksThanCells(void)
{
  VpDomain  domain;
  VpMesh    whole, fine, again;
  VpPatches patches;
  PetscBool good;

  PetscFunctionBeginUser;
  PetscCall(Grid(PETSC_COMM_WORLD, 3, 1, &domain));
  PetscCall(VpMeshCreate(PETSC_COMM_WORLD, domain, 0, &whole));
  PetscCall(VpMeshRefine(whole, &fine));
  PetscCall(VpPatchesCreate(fine, fine->geometry->lattice->thinnest, &patches));
  good = (PetscBool)(whole->ncell == 1 && fine->ncell == 8 && fine->nown == 8 * whole->nown && fine->relation->coarse == whole &&
                     patches.n == (fine->nown ? 1 : 0));
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(VpMeshCoarsen(fine, fine->geometry->lattice, VP_COARSEN_FULL, &again));
  good = (PetscBool)(good && again == whole);
  PetscCall(VpMeshDestroy(&again));
  PetscCall(VpMeshDestroy(&fine));
  PetscCall(VpMeshCreate(PETSC_COMM_WORLD, domain, 1, &fine));
  PetscCall(VpMeshCoarsen(fine, fine->geometry->lattice, VP_COARSEN_FULL, &again));
  good = (PetscBool)(good && again->ncell == 1 && again->nown == (fine->first == 0 && fine->nown));
  PetscCall(VpMeshDestroy(&again));
  PetscCall(VpMeshDestroy(&fine));
  PetscCall(VpMeshDestroy(&whole));
  PetscCall(VpDomainDestroy(&domain));
  TapOk(good, "more_ranks_than_cells");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* even and odd ranks make different meshes at the same time */
static PetscErrorCode SubCommunicators(void)
{
  MPI_Comm    half;
  PetscMPIInt rank;
  VpDomain    domain;
  VpMesh      mesh, coarse;
  PetscInt    sum = 0, nown;
  int         dim, level;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, rank % 2, 0, &half));
  dim = rank % 2 ? 3 : 2;
  level = rank % 2 ? 2 : 3;
  PetscCall(Grid(half, dim, 1, &domain));
  PetscCall(VpMeshCreate(half, domain, level, &mesh));
  PetscCall(VpMeshCoarsen(mesh, mesh->geometry->lattice, VP_COARSEN_FULL, &coarse));
  nown = mesh->nown;
  PetscCallMPI(MPI_Allreduce(&nown, &sum, 1, MPIU_INT, MPI_SUM, half));
  TapOk((PetscBool)(sum == 64 && mesh->ncell == 64 && coarse->ncell == 64 >> dim), "sub_communicators");
  PetscCall(VpMeshDestroy(&coarse));
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(VpDomainDestroy(&domain));
  PetscCallMPI(MPI_Comm_free(&half));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(BadBoxes());
  PetscCall(Sizes());
  for (int dim = 2; dim <= 3; dim++) PetscCall(FarCells(dim));
  PetscCall(ManyBoxes());
  PetscCall(MoreRanksThanCells());
  PetscCall(SubCommunicators());
  PetscFunctionReturn(PETSC_SUCCESS);
}
