/* Meshes: own cells from the forest's partition, their ghosts, and exchanges between the ranks. */
#include "internal.h"

PetscMPIInt VpOwnerOf(const PetscInt starts[], PetscMPIInt size, int64_t cell)
{
  PetscMPIInt low = 0, high = size;

  while (high - low > 1) {
    const PetscMPIInt middle = low + (high - low) / 2;

    if (starts[middle] <= cell) low = middle;
    else high = middle;
  }
  return low;
}

PetscErrorCode VpMeshSetExchange(VpMesh mesh, PetscSFNode owner[])
{
  const PetscInt nleaf[VP_GHOST_KINDS] = {mesh->nface - mesh->nown, mesh->nsweep - mesh->nown, mesh->nlocal - mesh->nown};

  PetscFunctionBeginUser;
  for (int kind = 0; kind < VP_GHOST_CHILD; kind++) {
    PetscCall(PetscSFCreate(mesh->comm, &mesh->sf[kind]));
    PetscCall(PetscSFSetGraph(mesh->sf[kind], mesh->nown, nleaf[kind], NULL, PETSC_OWN_POINTER, owner, PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(mesh->sf[kind]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetExchange(VpMesh mesh, const VpCellSet *ghosts)
{
  PetscSFNode *owner;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(ghosts->n, &owner));
  for (int32_t i = 0; i < ghosts->n; i++) {
    owner[i].rank = VpOwnerOf(mesh->starts, mesh->size, VpCellSetAt(ghosts, i));
    owner[i].index = (PetscInt)(VpCellSetAt(ghosts, i) - mesh->starts[owner[i].rank]);
  }
  PetscCall(VpMeshSetExchange(mesh, owner));
  PetscCall(PetscFree(owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshBegin(MPI_Comm comm, VpLattice lattice, VpMesh *mesh)
{
  PetscFunctionBeginUser;
  PetscCall(PetscNew(mesh));
  (*mesh)->refct = 1;
  PetscCall(PetscCommDuplicate(comm, &(*mesh)->comm, NULL));
  PetscCallMPI(MPI_Comm_size(comm, &(*mesh)->size));
  (*mesh)->lattice = lattice;
  (*mesh)->domain = lattice->domain;
  (*mesh)->dim = lattice->domain->dim;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshBuild(MPI_Comm comm, VpLattice lattice, const PetscInt counts[], const VpCellSet *sweep, const VpCellSet *extra,
                           VpMesh *newmesh, VpCellSet *ghosts)
{
  VpMesh         mesh;
  PetscMPIInt    size, rank;
  int32_t        end[4];
  VpCellSet      halo;
  PetscInt      *starts;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMalloc1(size + 1, &starts));
  ierr = VpForestPartition(comm, lattice, counts, starts); /* refuses sizes */
  if (ierr) PetscCall(PetscFree(starts));
  PetscCall(ierr);
  PetscCall(VpMeshBegin(comm, VpReference(lattice), &mesh));
  for (int32_t i = 0; i < lattice->nshape; i++) {
    for (int d = 0; d < 3; d++) mesh->level = PetscMax(mesh->level, lattice->shape[i].bits[d]);
  }
  mesh->starts = starts;
  mesh->ncell = starts[size];
  mesh->first = starts[rank];
  mesh->nown = (int32_t)(starts[rank + 1] - starts[rank]);
  PetscCall(VpHaloCreate(lattice, mesh->first, (int64_t)mesh->first + mesh->nown, sweep, extra, &halo, end));
  mesh->nface = mesh->nown + end[0];
  mesh->nsweep = mesh->nown + end[1];
  mesh->nhalo = mesh->nown + end[2];
  mesh->nlocal = mesh->nown + end[3];
  PetscCall(VpMeshSetCells(mesh, &halo));
  PetscCall(SetExchange(mesh, &halo));
  if (ghosts) *ghosts = halo;
  else PetscCall(VpDictionaryDestroy(&halo));
  *newmesh = mesh;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreate(MPI_Comm comm, VpDomain domain, int level, VpMesh *mesh)
{
  VpLattice      lattice;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(VpForestCheckSize(comm, domain, level)); /* before numbers of cells are too large for anything */
  PetscCall(VpLatticeCreateUniform(domain, level, &lattice));
  ierr = VpMeshBuild(comm, lattice, NULL, NULL, NULL, mesh, NULL);
  PetscCall(VpLatticeDestroy(&lattice));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCut(VpMesh mesh, const PetscInt counts[], VpMesh *cut)
{
  PetscFunctionBeginUser;
  PetscCall(VpMeshBuild(mesh->comm, mesh->lattice, counts, NULL, NULL, cut, NULL));
  PetscCall(VpMeshSetTransport(*cut, mesh->transport, mesh->link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshSetTransport(VpMesh mesh, VpTransport transport, VpLink link)
{
  PetscFunctionBeginUser;
  for (; mesh; mesh = mesh->coarser) {
    mesh->transport = transport;
    mesh->link = link;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshDestroy(VpMesh *newmesh)
{
  VpMesh mesh = *newmesh;

  PetscFunctionBeginUser;
  *newmesh = NULL;
  if (!mesh || --mesh->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int kind = 0; kind < VP_GHOST_KINDS; kind++) PetscCall(PetscSFDestroy(&mesh->sf[kind]));
  PetscCall(VpMeshDestroy(&mesh->coarser));
  PetscCall(VpLatticeDestroy(&mesh->by));
  PetscCall(VpLatticeDestroy(&mesh->lattice));
  if (mesh->forest) VpForestOpsOf(mesh->dim)->destroy(mesh->forest);
  PetscCall(PetscFree(mesh->hang));
  PetscCall(PetscFree(mesh->leaf));
  PetscCall(PetscFree(mesh->edge));
  PetscCall(PetscFree(mesh->depth));
  PetscCall(PetscFree(mesh->box));
  PetscCall(PetscFree(mesh->coord));
  PetscCall(PetscFree(mesh->zone));
  PetscCall(PetscFree(mesh->neighbor));
  PetscCall(PetscFree(mesh->beyond));
  PetscCall(PetscFree(mesh->parent));
  PetscCall(PetscFree(mesh->child));
  PetscCall(PetscFree(mesh->starts));
  PetscCall(PetscCommDestroy(&mesh->comm));
  PetscCall(PetscFree(mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpMeshCellBounds(VpMesh mesh, int32_t cell, PetscReal lower[], PetscReal size[])
{
  for (int d = 0; d < 3; d++) {
    size[d] = VpCellSize(mesh, cell, d);
    lower[d] = mesh->domain->lower[3 * (size_t)mesh->box[cell] + d] + mesh->coord[3 * (size_t)cell + d] * size[d];
  }
}

PetscErrorCode VpBroadcast(PetscSF sf, size_t count, MPI_Datatype type, const void *roots, void *leaves)
{
  MPI_Datatype unit;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Type_contiguous((int)count, type, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(sf, unit, roots, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, unit, roots, leaves, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshExchange(VpMesh mesh, VpGhostKind kind, size_t count, MPI_Datatype type, const void *own, void *ghost)
{
  PetscFunctionBeginUser;
  if (mesh->size > 1) PetscCall(VpBroadcast(mesh->sf[kind], count, type, own, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}
