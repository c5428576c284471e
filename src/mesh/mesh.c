/* Meshes: own cells, which are a piece of the curve, their ghosts, and exchanges between the ranks. */
#include "internal.h"
#include "../base/threads.h"

PetscMPIInt VpOwnerOf(const PetscInt starts[], PetscMPIInt size, int64_t cell)
{
  PetscMPIInt low = 0, high = size;

  VP_BISECT(low, high, middle, starts[middle] <= cell);
  return low;
}

PetscErrorCode VpMeshSetExchange(VpMesh mesh, PetscSFNode owner[])
{
  const PetscInt nleaf[VP_GHOST_KINDS] = {mesh->nface - mesh->nown, mesh->nsweep - mesh->nown, mesh->nlocal - mesh->nown};

  PetscFunctionBegin;
  for (int kind = 0; kind < VP_GHOST_CHILD; kind++) {
    PetscCall(PetscSFCreate(mesh->comm, &mesh->sf[kind]));
    PetscCall(PetscSFSetGraph(mesh->sf[kind], mesh->nown, nleaf[kind], NULL, PETSC_OWN_POINTER, owner, PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(mesh->sf[kind]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetGhostExchange(VpMesh mesh, const VpCellSet *ghosts)
{
  PetscSFNode *owner;

  PetscFunctionBegin;
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
  PetscFunctionBegin;
  PetscCall(PetscNew(mesh));
  (*mesh)->refct = 1;
  PetscCall(PetscCommDuplicate(comm, &(*mesh)->comm, NULL));
  PetscCallMPI(MPI_Comm_size(comm, &(*mesh)->size));
  PetscCall(PetscNew(&(*mesh)->geometry));
  (*mesh)->geometry->lattice = lattice;
  (*mesh)->geometry->domain = lattice->domain;
  (*mesh)->dim = lattice->domain->dim;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* starts[size + 1] of equal pieces on `ranks` of the ranks, evenly spaced */
static PetscErrorCode CreateStarts(int64_t ncell, PetscMPIInt size, PetscMPIInt ranks, PetscInt **starts)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(size + 1, starts));
  for (int64_t r = 0; r <= size; r++) (*starts)[r] = (PetscInt)((r * ranks + size - 1) / size * ncell / ranks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPieces(VpMesh mesh)
{
  PetscInt most = 0;

  PetscFunctionBegin;
  for (int r = 0; r < mesh->size; r++) most = PetscMax(most, mesh->starts[r + 1] - mesh->starts[r]);
  PetscCheck(most <= VP_MAX_CELLS, mesh->comm, PETSC_ERR_SUP,
             "%d boxes are %.0f cells, %.0f on one rank: at most %d fit (refine less, or use more ranks)",
             (int)mesh->geometry->domain->nbox, (double)mesh->ncell, (double)most, VP_MAX_CELLS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshBuild(MPI_Comm comm, VpLattice lattice, const PetscInt starts[], const VpCellSet *sweep, const VpCellSet *extra,
                           VpMesh *newmesh)
{
  VpMesh         mesh;
  PetscMPIInt    rank;
  int32_t        end[4];
  VpPositions    positions;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(VpMeshBegin(comm, VpReference(lattice), &mesh));
  for (int32_t i = 0; i < lattice->nhalvings; i++) {
    for (int d = 0; d < 3; d++) mesh->level = PetscMax(mesh->level, lattice->halvings[i].bits[d]);
  }
  mesh->least = mesh->level;
  PetscCall(PetscMalloc1(mesh->size + 1, &mesh->starts));
  PetscCall(PetscArraycpy(mesh->starts, starts, mesh->size + 1));
  mesh->ncell = starts[mesh->size];
  mesh->first = starts[rank];
  ierr = CheckPieces(mesh);
  if (ierr) PetscCall(VpMeshDestroy(&mesh));
  PetscCall(ierr);
  mesh->nown = (int32_t)(starts[rank + 1] - starts[rank]);
  positions.own = (VpRange){mesh->first, (int64_t)mesh->first + mesh->nown};
  PetscCall(VpHaloCreate(lattice, positions.own, sweep, extra, &positions.other, end));
  mesh->nface = mesh->nown + end[0];
  mesh->nsweep = mesh->nown + end[1];
  mesh->nhalo = mesh->nown + end[2];
  mesh->nlocal = mesh->nown + end[3];
  PetscCall(VpMeshSetCells(mesh, &positions));
  PetscCall(SetGhostExchange(mesh, &positions.other));
  PetscCall(VpDictionaryDestroy(&positions.other));
  *newmesh = mesh;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreate(MPI_Comm comm, VpDomain domain, int level, VpMesh *mesh)
{
  VpLattice      lattice;
  PetscMPIInt    size;
  PetscInt      *starts;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(VpForestCheckSize(comm, domain, level)); /* before numbers of cells are too large for anything */
  PetscCall(VpLatticeCreateUniform(domain, level, &lattice));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(CreateStarts(lattice->ncell, size, size, &starts));
  ierr = VpMeshBuild(comm, lattice, starts, NULL, NULL, mesh);
  PetscCall(PetscFree(starts));
  PetscCall(VpLatticeDestroy(&lattice));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCut(VpMesh mesh, const PetscInt starts[], VpMesh *cut)
{
  PetscFunctionBegin;
  PetscCall(VpMeshBuild(mesh->comm, mesh->geometry->lattice, starts, NULL, NULL, cut));
  VpMeshSetTransport(*cut, mesh->transport, mesh->link);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshGather(VpMesh mesh, PetscMPIInt ranks, VpMesh *gathered)
{
  PetscInt *starts;

  PetscFunctionBegin;
  PetscCall(CreateStarts(mesh->ncell, mesh->size, ranks, &starts));
  PetscCall(VpMeshCut(mesh, starts, gathered));
  PetscCall(PetscFree(starts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshGetEnds(VpMesh mesh, int32_t *n, const int32_t **end)
{
  const int32_t pieces = VpLoopPieces(mesh->nown), sides = 2 * mesh->dim;
  int32_t      *count; /* [piece] sides at the boundary; then the number of the first one */

  PetscFunctionBegin;
  if (!mesh->end) {
    PetscCall(PetscCalloc1(pieces, &count));
    VP_LOOP_HEAVY (piece, pieces) {
      const int32_t last = sides * VpLoopStart(mesh->nown, piece + 1);

      for (int32_t i = sides * VpLoopStart(mesh->nown, piece); i < last; i++) count[piece] += VpIsBoundary(mesh->neighbor[i]);
    }
    mesh->nend = VpLoopSum(pieces, count);
    PetscCall(PetscMalloc1(mesh->nend + 1, &mesh->end));
    VP_LOOP_HEAVY (piece, pieces) {
      const int32_t last = sides * VpLoopStart(mesh->nown, piece + 1);

      for (int32_t i = sides * VpLoopStart(mesh->nown, piece); i < last; i++)
        if (VpIsBoundary(mesh->neighbor[i])) mesh->end[count[piece]++] = i;
    }
    PetscCall(PetscFree(count));
  }
  *n = mesh->nend;
  *end = mesh->end;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshListEnds(VpMesh mesh, VpGivenKind given, int side, int32_t *n, int32_t **list)
{
  const int32_t *end;
  int32_t        ends;

  PetscFunctionBegin;
  PetscCall(VpMeshGetEnds(mesh, &ends, &end));
  PetscCall(PetscMalloc1(ends + 1, list));
  *n = 0;
  for (int32_t i = 0; i < ends; i++) {
    const VpSide kind = VpDomainSide(mesh->geometry->domain, mesh->neighbor[end[i]]);

    if (end[i] % (2 * mesh->dim) == side && VpConditions[kind].given == given) (*list)[(*n)++] = end[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshPositions(VpMesh mesh, PetscInt position[])
{
  PetscFunctionBegin;
  for (int32_t i = 0; i < mesh->nown; i++) position[i] = mesh->first + i;
  PetscCall(VpMeshExchange(mesh, VP_GHOST_ALL, 1, MPIU_INT, position, position + mesh->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreateSF(VpMesh mesh, PetscInt n, const PetscInt position[], PetscSF *sf)
{
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall(PetscLayoutCreateFromSizes(mesh->comm, mesh->nown, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(mesh->comm, sf));
  PetscCall(PetscSFSetGraphLayout(*sf, layout, n, NULL, PETSC_OWN_POINTER, position));
  PetscCall(PetscSFSetUp(*sf));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreateMove(VpMesh from, VpMesh to, PetscBool ghosts, PetscSF *sf)
{
  PetscInt *position;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(to->nlocal, &position));
  PetscCall(VpMeshPositions(to, position));
  PetscCall(VpMeshCreateSF(from, ghosts ? to->nlocal : to->nown, position, sf));
  PetscCall(PetscFree(position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt VpMeshRanks(VpMesh mesh)
{
  PetscInt ranks = 0;

  for (PetscMPIInt r = 0; r < mesh->size; r++) ranks += mesh->starts[r + 1] > mesh->starts[r];
  return ranks;
}

void VpMeshSetTransport(VpMesh mesh, VpTransport transport, VpLink link)
{
  for (; mesh; mesh = VpMeshCoarser(mesh)) {
    mesh->transport = transport;
    mesh->link = link;
  }
}

PetscErrorCode VpPositionsCreate(VpMesh mesh, VpPositions *positions)
{
  const VpGeometry g = mesh->geometry;
  const int32_t    first = VpMeshIsPart(mesh) ? 0 : mesh->nown;

  PetscFunctionBegin;
  positions->own = (VpRange){mesh->first, (int64_t)mesh->first + first};
  PetscCall(VpCellSetCreate(&positions->other));
  PetscCall(VpDictionaryReserve(&positions->other, mesh->nlocal - first));
  for (int32_t i = first; i < mesh->nlocal; i++)
    PetscCall(VpCellSetAdd(&positions->other, VpLatticeEncode(g->lattice, g->box[i], g->coord + 3 * (size_t)i)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshDestroy(VpMesh *newmesh)
{
  VpMesh mesh = *newmesh;

  PetscFunctionBegin;
  *newmesh = NULL;
  if (!mesh || --mesh->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int kind = 0; kind < VP_GHOST_KINDS; kind++) PetscCall(PetscSFDestroy(&mesh->sf[kind]));
  PetscCall(VpRelationDestroy(&mesh->relation));
  PetscCall(VpGeometryDestroy(&mesh->geometry));
  if (mesh->forest) VpForestOpsOf(mesh->dim)->destroy(mesh->forest);
  PetscCall(PetscFree(mesh->faces.face));
  PetscCall(PetscFree(mesh->leaf));
  PetscCall(PetscFree(mesh->neighbor));
  PetscCall(PetscFree(mesh->turn));
  if (mesh->shared) PetscCall(PetscFree(mesh->shared->beyond));
  PetscCall(PetscFree(mesh->shared));
  PetscCall(PetscFree(mesh->end));
  PetscCall(PetscFree(mesh->starts));
  PetscCall(PetscCommDestroy(&mesh->comm));
  PetscCall(PetscFree(mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpBroadcast(PetscSF sf, size_t count, MPI_Datatype type, const void *roots, void *leaves)
{
  MPI_Datatype unit;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_contiguous((int)count, type, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(sf, unit, roots, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, unit, roots, leaves, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshExchange(VpMesh mesh, VpGhostKind kind, size_t count, MPI_Datatype type, const void *own, void *ghost)
{
  PetscFunctionBegin;
  if (mesh->size > 1) PetscCall(VpBroadcast(mesh->sf[kind], count, type, own, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}
