/* Meshes: own cells from the forest's partition, ghosts, neighbours, exchange, and the links between levels. */
#include "lattice.h"
#include <inttypes.h>

/* the rank whose cells contain the position */
static PetscMPIInt OwnerOf(const PetscInt starts[], PetscMPIInt size, int64_t cell)
{
  PetscMPIInt low = 0, high = size;

  while (high - low > 1) {
    const PetscMPIInt middle = low + (high - low) / 2;

    if (starts[middle] <= cell) low = middle;
    else
      high = middle;
  }
  return low;
}

/* a position's local number: own, or behind the own cells as in the set of ghosts, or VP_UNKNOWN. Boundaries stay what they are. */
static int32_t LocalOf(VpMesh mesh, const VpCellSet *ghosts, int64_t cell)
{
  int32_t ghost;

  if (cell < 0) return (int32_t)cell;
  if (cell >= mesh->first && cell < mesh->first + mesh->nown) return (int32_t)(cell - mesh->first);
  ghost = VpCellSetFind(ghosts, cell);
  return ghost < 0 ? VP_UNKNOWN : mesh->nown + ghost;
}

static PetscErrorCode SetCells(VpMesh mesh, const VpLattice *L, const VpCellSet *ghosts)
{
  const size_t nside = 2 * mesh->dim;
  int64_t      lost = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(mesh->nlocal, &mesh->box, 3 * (size_t)mesh->nlocal, &mesh->coord, nside * mesh->nsweep, &mesh->neighbor));
  for (int32_t i = 0; i < mesh->nlocal; i++) {
    const int64_t cell = i < mesh->nown ? mesh->first + i : ghosts->cell[i - mesh->nown];

    VpLatticeDecode(L, cell, &mesh->box[i], mesh->coord + 3 * (size_t)i);
    for (size_t side = 0; i < mesh->nsweep && side < nside; side++) {
      const int32_t next = LocalOf(mesh, ghosts, VpLatticeMove(L, cell, (int)side));

      mesh->neighbor[nside * i + side] = next;
      lost += next == VP_UNKNOWN;
    }
  }
  PetscCheck(lost == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PRId64 " neighbours are not local", lost);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetExchange(VpMesh mesh, PetscMPIInt size, const VpCellSet *ghosts)
{
  const PetscInt nleaf[VP_GHOST_KINDS] = {mesh->nface - mesh->nown, mesh->nsweep - mesh->nown, mesh->nlocal - mesh->nown};
  PetscSFNode   *owner;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(ghosts->n, &owner));
  for (int32_t i = 0; i < ghosts->n; i++) {
    owner[i].rank = OwnerOf(mesh->starts, size, ghosts->cell[i]);
    owner[i].index = (PetscInt)(ghosts->cell[i] - mesh->starts[owner[i].rank]);
  }
  for (int kind = 0; kind < VP_GHOST_KINDS; kind++) {
    PetscCall(PetscSFCreate(mesh->comm, &mesh->sf[kind]));
    PetscCall(PetscSFSetGraph(mesh->sf[kind], mesh->nown, nleaf[kind], NULL, PETSC_OWN_POINTER, owner, PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(mesh->sf[kind]));
  }
  PetscCall(PetscFree(owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the mesh without links to other levels; `extra` cells become local too */
static PetscErrorCode Build(MPI_Comm comm, VpDomain domain, int level, const PetscInt counts[], const VpCellSet *extra, VpMesh *newmesh)
{
  const VpLattice L = VpLatticeCreate(domain, level);
  VpMesh          mesh;
  VpCellSet       ghosts;
  PetscMPIInt     size, rank;
  int32_t         end[4];
  PetscInt       *starts;
  PetscErrorCode  ierr;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMalloc1(size + 1, &starts));
  ierr = VpForestPartition(comm, domain, level, counts, starts); /* refuses sizes */
  if (ierr) PetscCall(PetscFree(starts));
  PetscCall(ierr);
  PetscCall(PetscNew(&mesh));
  mesh->refct = 1;
  mesh->dim = domain->dim;
  mesh->level = level;
  mesh->domain = domain;
  PetscCall(VpDomainReference(domain));
  PetscCall(PetscCommDuplicate(comm, &mesh->comm, NULL));
  mesh->starts = starts;
  mesh->ncell = starts[size];
  mesh->first = starts[rank];
  mesh->nown = (int32_t)(starts[rank + 1] - starts[rank]);
  PetscCall(VpHaloCreate(&L, mesh->first, (int64_t)mesh->first + mesh->nown, extra, &ghosts, end));
  mesh->nface = mesh->nown + end[0];
  mesh->nsweep = mesh->nown + end[1];
  mesh->nhalo = mesh->nown + end[2];
  mesh->nlocal = mesh->nown + end[3];
  PetscCall(SetCells(mesh, &L, &ghosts));
  PetscCall(SetExchange(mesh, size, &ghosts));
  PetscCall(VpCellSetDestroy(&ghosts));
  *newmesh = mesh;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Ghosts(VpMesh mesh, VpCellSet *ghosts)
{
  const VpLattice L = VpLatticeCreate(mesh->domain, mesh->level);

  PetscFunctionBeginUser;
  PetscCall(VpCellSetCreate(ghosts));
  for (int32_t i = mesh->nown; i < mesh->nlocal; i++)
    PetscCall(VpCellSetAdd(ghosts, VpLatticeEncode(&L, mesh->box[i], mesh->coord + 3 * (size_t)i)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fine->coarser, parent and child: positions of a parent and its children are p and 2^dim p + 0 .. 2^dim - 1 */
static PetscErrorCode Link(VpMesh fine, VpMesh coarse)
{
  const int dim = fine->dim;
  int32_t   lost = 0;
  VpCellSet of_fine, of_coarse;

  PetscFunctionBeginUser;
  PetscCall(Ghosts(fine, &of_fine));
  PetscCall(Ghosts(coarse, &of_coarse));
  PetscCall(PetscMalloc2(fine->nhalo, &fine->parent, (size_t)coarse->nown << dim, &fine->child));
  for (int32_t i = 0; i < fine->nhalo; i++) {
    const int64_t cell = i < fine->nown ? fine->first + i : of_fine.cell[i - fine->nown];

    fine->parent[i] = LocalOf(coarse, &of_coarse, cell >> dim);
    lost += fine->parent[i] < 0;
  }
  for (int64_t i = 0; i < (int64_t)coarse->nown << dim; i++) {
    fine->child[i] = LocalOf(fine, &of_fine, ((int64_t)coarse->first << dim) + i);
    lost += fine->child[i] < 0 || fine->child[i] >= fine->nsweep;
  }
  PetscCheck(lost == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d parents or children are not local", (int)lost);
  fine->coarser = coarse;
  PetscCall(VpMeshReference(coarse));
  PetscCall(VpCellSetDestroy(&of_fine));
  PetscCall(VpCellSetDestroy(&of_coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreate(MPI_Comm comm, VpDomain domain, int level, VpMesh *mesh)
{
  const VpCellSet none = {0};

  PetscFunctionBeginUser;
  PetscCall(Build(comm, domain, level, NULL, &none, mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first parent whose first child does not lie before the position */
static PetscInt FirstParent(PetscInt start, int dim)
{
  return ((start - 1) >> dim) + 1;
}

/* parents of all local cells; of the own cells, only the first one's parent can be another rank's */
static PetscErrorCode Parents(VpMesh mesh, VpCellSet *parents)
{
  VpCellSet ghosts;

  PetscFunctionBeginUser;
  PetscCall(Ghosts(mesh, &ghosts));
  PetscCall(VpCellSetCreate(parents));
  if (mesh->nown) PetscCall(VpCellSetAdd(parents, mesh->first >> mesh->dim));
  for (int32_t i = 0; i < mesh->nhalo - mesh->nown; i++) PetscCall(VpCellSetAdd(parents, ghosts.cell[i] >> mesh->dim));
  PetscCall(VpCellSetDestroy(&ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCoarsen(VpMesh fine, VpMesh *coarse)
{
  PetscFunctionBeginUser;
  if (!fine->coarser) {
    PetscInt   *counts;
    PetscMPIInt size;
    VpCellSet   parents;

    PetscCheck(fine->level > 0, fine->comm, PETSC_ERR_ARG_WRONGSTATE, "This mesh consists of whole boxes: there is no coarser one");
    PetscCallMPI(MPI_Comm_size(fine->comm, &size));
    PetscCall(PetscMalloc1(size, &counts));
    for (int r = 0; r < size; r++) counts[r] = FirstParent(fine->starts[r + 1], fine->dim) - FirstParent(fine->starts[r], fine->dim);
    PetscCall(Parents(fine, &parents));
    PetscCall(Build(fine->comm, fine->domain, fine->level - 1, counts, &parents, coarse));
    PetscCall(Link(fine, *coarse));
    PetscCall(VpMeshSetTransport(*coarse, fine->transport, fine->link));
    PetscCall(VpMeshDestroy(coarse));
    PetscCall(VpCellSetDestroy(&parents));
    PetscCall(PetscFree(counts));
  }
  *coarse = fine->coarser;
  PetscCall(VpMeshReference(*coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshRefine(VpMesh coarse, VpMesh *fine)
{
  const VpCellSet none = {0};
  PetscInt       *counts;
  PetscMPIInt     size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(coarse->comm, &size));
  PetscCheck(coarse->ncell <= PETSC_MAX_INT >> coarse->dim, coarse->comm, PETSC_ERR_SUP,
             "Refining %" PetscInt_FMT " cells gives more than PetscInt (%d bits) can count", coarse->ncell, (int)(8 * sizeof(PetscInt)));
  PetscCall(PetscMalloc1(size, &counts));
  for (int r = 0; r < size; r++) counts[r] = (coarse->starts[r + 1] - coarse->starts[r]) << coarse->dim;
  PetscCall(Build(coarse->comm, coarse->domain, coarse->level + 1, counts, &none, fine));
  PetscCall(Link(*fine, coarse));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCut(VpMesh mesh, const PetscInt counts[], VpMesh *cut)
{
  const VpCellSet none = {0};

  PetscFunctionBeginUser;
  PetscCall(Build(mesh->comm, mesh->domain, mesh->level, counts, &none, cut));
  PetscCall(VpMeshSetTransport(*cut, mesh->transport, mesh->link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshSetTransport(VpMesh mesh, VpTransport transport, void *link)
{
  PetscFunctionBeginUser;
  for (; mesh; mesh = mesh->coarser) {
    mesh->transport = transport;
    mesh->link = link;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshReference(VpMesh mesh)
{
  PetscFunctionBeginUser;
  mesh->refct++;
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
  PetscCall(VpDomainDestroy(&mesh->domain));
  PetscCall(PetscFree3(mesh->box, mesh->coord, mesh->neighbor));
  PetscCall(PetscFree2(mesh->parent, mesh->child));
  PetscCall(PetscFree(mesh->starts));
  PetscCall(PetscCommDestroy(&mesh->comm));
  PetscCall(PetscFree(mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpMeshCellBounds(VpMesh mesh, int32_t cell, PetscReal lower[], PetscReal size[])
{
  const VpDomain domain = mesh->domain;

  for (int d = 0; d < 3; d++) {
    const size_t i = 3 * (size_t)mesh->box[cell] + d;

    size[d] = (domain->upper[i] - domain->lower[i]) / (d < mesh->dim ? (PetscReal)((int64_t)1 << mesh->level) : 1);
    lower[d] = domain->lower[i] + mesh->coord[3 * (size_t)cell + d] * size[d];
  }
}

PetscErrorCode VpMeshExchangeBegin(VpMesh mesh, VpGhostKind kind, MPI_Datatype unit, const void *own, void *ghost)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(mesh->comm, &size));
  if (size > 1) PetscCall(PetscSFBcastBegin(mesh->sf[kind], unit, own, ghost, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshExchangeEnd(VpMesh mesh, VpGhostKind kind, MPI_Datatype unit, const void *own, void *ghost)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(mesh->comm, &size));
  if (size > 1) PetscCall(PetscSFBcastEnd(mesh->sf[kind], unit, own, ghost, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
