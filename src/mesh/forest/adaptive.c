/* Adaptive meshes: the next one from marks. */
#include "../internal.h"

/* Ensures: an error on all ranks where cells would be too small for p4est, or too many for one rank. */
static PetscErrorCode CheckMarks(VpMesh mesh, const int8_t mark[])
{
  const int deepest = VpForestOpsOf(mesh->dim)->deepest;
  double    most[2] = {mesh->nown, 0}; /* cells per rank, depth */

  PetscFunctionBegin;
  for (int32_t c = 0; c < mesh->nown; c++) {
    if (mark[c] != VP_MARK_REFINE) continue;
    most[0] += (1 << mesh->dim) - 1;
    most[1] = PetscMax(most[1], VpGeometryHalvings(mesh->geometry, c, 0) + 1);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, mesh->comm));
  PetscCheck(most[1] <= deepest, mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Cells that are to be refined are boxes halved %d times already: p4est has no smaller ones in %d dimensions", deepest,
             mesh->dim);
  PetscCheck(most[0] <= VP_MAX_CELLS, mesh->comm, PETSC_ERR_SUP, "%.0f cells on one rank: at most %d fit (mark fewer, or use more ranks)",
             most[0], VP_MAX_CELLS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* takes over the forest */
static PetscErrorCode CreateFromForest(MPI_Comm comm, VpDomain domain, VpForest forest, VpMesh *out)
{
  VpMesh       mesh;
  VpLattice    lattice;
  PetscSFNode *owner;
  int          depths[2] = {-INT_MAX, 0}; /* the negative of the least, the greatest */

  PetscFunctionBegin;
  PetscCall(VpLatticeCreateUniform(domain, 0, &lattice));
  PetscCall(VpMeshBegin(comm, lattice, &mesh));
  *out = mesh;
  mesh->forest = forest;
  PetscCall(VpForestOpsOf(mesh->dim)->fill(forest, mesh, &owner));
  PetscCall(VpMeshSetExchange(mesh, owner));
  PetscCall(PetscFree(owner));
  for (int32_t c = 0; c < mesh->nown; c++) {
    depths[0] = PetscMax(depths[0], -mesh->geometry->depth[c]);
    depths[1] = PetscMax(depths[1], mesh->geometry->depth[c]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, depths, 2, MPI_INT, MPI_MAX, mesh->comm));
  mesh->least = -depths[0];
  mesh->level = depths[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same cells on the same ranks, as a mesh that is not adaptive */
static PetscErrorCode MakeUniform(VpMesh *mesh)
{
  VpLattice lattice;
  VpMesh    uniform;

  PetscFunctionBegin;
  PetscCall(VpLatticeCreateUniform((*mesh)->geometry->domain, (*mesh)->level, &lattice));
  PetscCall(VpMeshBuild((*mesh)->comm, lattice, (*mesh)->starts, NULL, NULL, &uniform));
  PetscCall(VpLatticeDestroy(&lattice));
  VpMeshSetTransport(uniform, (*mesh)->transport, (*mesh)->link);
  PetscCall(VpMeshDestroy(mesh));
  *mesh = uniform;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p4est knows the faces between hexahedra of one hand. Those of two hands are mirror images. */
static PetscErrorCode CheckHands(MPI_Comm comm, VpDomain domain)
{
  int32_t other = 0;

  PetscFunctionBegin;
  while (domain->trees && domain->dim == 3 && other < domain->nbox && domain->trees->hand[other] == domain->trees->hand[0]) other++;
  PetscCheck(
    !domain->trees || domain->dim == 2 || other == domain->nbox, comm, PETSC_ERR_SUP,
    "Trees 0 and %d have different hands: hexahedra of which some are refined must all be right-handed, or all left-handed. Exchange "
    "two directions of the corners (and nodes) of tree %d and its likes, or refine all cells (-dm_refine)",
    (int)other, (int)other);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshAdapt(VpMesh old, const int8_t mark[], int width, const PetscReal a[], VpMesh *mesh, PetscReal **b)
{
  const VpForestOps *ops = VpForestOpsOf(old->dim);
  VpForest           from = old->forest, forest;
  double             cells;

  PetscFunctionBegin;
  PetscCheck(VpGeometryIsHalved(old->geometry), old->comm, PETSC_ERR_SUP,
             "Cells can be marked where boxes have as many cells in all directions, which they have not where the mesh was coarsened: mark "
             "those of the mesh before");
  PetscCall(CheckHands(old->comm, old->geometry->domain));
  PetscCall(CheckMarks(old, mark));
  PetscCall(VpForestInitialize());
  if (!from) from = ops->create(old);
  forest = ops->adapt(from, old->geometry->domain, mark, width, a);
  if (from != old->forest) ops->destroy(from);
  cells = ops->size(forest);
  if (cells > PETSC_MAX_INT) ops->destroy(forest);
  PetscCheck(cells <= PETSC_MAX_INT, old->comm, PETSC_ERR_SUP,
             "The refined mesh has %.0f cells: PetscInt has %d bits (mark fewer, or configure PETSc with 64-bit indices)", cells,
             (int)(8 * sizeof(PetscInt)));
  PetscCall(CreateFromForest(old->comm, old->geometry->domain, forest, mesh));
  VpMeshSetTransport(*mesh, old->transport, old->link);
  if (b) *b = NULL;
  if (a && b) PetscCall(PetscMalloc1((*mesh)->nown * (size_t)width + 1, b));
  ops->take_coefficient(forest, width, a && b ? *b : NULL);
  if ((*mesh)->least == (*mesh)->level) PetscCall(MakeUniform(mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the position after n cells of these depths; *right: each of them begins at a multiple of its size */
static VpCurvePosition PassCells(int dim, VpCurvePosition p, int32_t n, const uint8_t depth[], PetscBool *right)
{
  for (int32_t i = 0; i < n; i++) {
    const int64_t length = VpCurveLength(dim, depth[i]);

    *right = (PetscBool)(*right && p.before % length == 0);
    p = VpCurveAdvance(dim, p, length);
  }
  return p;
}

/* *first: where this rank's cells begin. Ensures: an error on all ranks where the cells do not fill the boxes. */
static PetscErrorCode PlaceCells(MPI_Comm comm, VpDomain domain, int32_t n, const uint8_t depth[], VpCurvePosition *first)
{
  const int       deepest = VpForestOpsOf(domain->dim)->deepest;
  VpCurvePosition mine = {0, 0}, *all;
  PetscMPIInt     rank, size;
  PetscBool       right = PETSC_TRUE, ignored = PETSC_TRUE;
  int             wrong;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  for (int32_t i = 0; i < n; i++) right = (PetscBool)(right && depth[i] <= deepest);
  if (right) mine = PassCells(domain->dim, mine, n, depth, &ignored);
  PetscCall(PetscMalloc1(size + 1, &all));
  PetscCallMPI(MPI_Allgather(&mine, 2, MPI_INT64_T, all + 1, 2, MPI_INT64_T, comm));
  all[0] = (VpCurvePosition){0, 0};
  for (PetscMPIInt r = 0; r < size; r++) {
    all[r + 1].box += all[r].box;
    all[r + 1] = VpCurveAdvance(domain->dim, all[r + 1], all[r].before);
  }
  *first = all[rank];
  if (right) (void)PassCells(domain->dim, *first, n, depth, &right);
  wrong = !right || all[size].box != domain->nbox || all[size].before != 0;
  PetscCall(PetscFree(all));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, comm));
  PetscCheck(!wrong, comm, PETSC_ERR_ARG_WRONG, "The cells do not fill the %d boxes: depths of cells are wrong or missing",
             (int)domain->nbox);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreateLeaves(MPI_Comm comm, VpDomain domain, int32_t n, const uint8_t depth[], VpMesh *mesh)
{
  const VpForestOps *ops = VpForestOpsOf(domain->dim);
  int64_t            total = n;
  VpCurvePosition    first;
  VpForest           forest;
  PetscBool          balanced;

  PetscFunctionBegin;
  PetscCall(CheckHands(comm, domain));
  PetscCall(VpForestInitialize());
  PetscCall(PlaceCells(comm, domain, n, depth, &first));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, comm));
  forest = ops->grow(comm, domain, n, depth, first);
  balanced = (PetscBool)(ops->size(forest) == (double)total);
  if (!balanced) ops->destroy(forest);
  PetscCheck(balanced, comm, PETSC_ERR_ARG_WRONG, "Cells that share a face, an edge or a corner differ by more than one level");
  ops->take_coefficient(forest, 0, NULL);
  PetscCall(CreateFromForest(comm, domain, forest, mesh));
  if ((*mesh)->least == (*mesh)->level) PetscCall(MakeUniform(mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}
