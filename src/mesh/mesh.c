/* Meshes: own cells from the forest's partition, ghosts, neighbours, exchange, and the links between levels. */
#include "lattice.h"
#include "../base/memory.h"
#include "../base/progress.h"
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
static inline int32_t LocalOf(VpMesh mesh, const VpCellSet *ghosts, int64_t cell)
{
  int32_t ghost;

  if (cell < 0) return (int32_t)cell;
  if (cell >= mesh->first && cell < mesh->first + mesh->nown) return (int32_t)(cell - mesh->first);
  ghost = VpCellSetFind(ghosts, cell);
  return ghost < 0 ? VP_UNKNOWN : mesh->nown + ghost;
}

/* which end of its box a lattice coordinate is near: see VpMesh->place */
static inline int PlaceOf(int level, int32_t coord)
{
  const int32_t last = ((int32_t)1 << level) - 1;

  return coord == 0 ? 1 : (coord < last - 1 ? 0 : 3 - (last - coord));
}

/* A family: the children of one cell, which decode together and have their neighbours among themselves and in 2 dim other families. Whole
   boxes, which are nobody's children, are families of one. */
typedef struct {
  int64_t first[7];       /* child 0 of the family beyond every side, or VP_DIRICHLET, VP_NEUMANN; last the family's own */
  int32_t box, corner[3]; /* coordinates of child 0 */
  uint8_t place[3][2];    /* of lower and upper children in every direction */
} Family;

static void FindFamily(const VpLattice *parents, int level, int64_t parent, Family *f)
{
  const int generation = level - parents->level, nside = 2 * parents->dim;

  VpLatticeDecode(parents, parent, &f->box, f->corner);
  for (int side = 0; side < nside; side++) {
    const int64_t next = VpLatticeMove(parents, parent, side);

    f->first[side] = next < 0 ? next : next << generation * parents->dim;
  }
  f->first[nside] = parent << generation * parents->dim;
  for (int d = 0; d < 3; d++) {
    f->corner[d] <<= generation;
    for (int upper = 0; upper < 2; upper++)
      f->place[d][upper] = d < parents->dim ? (uint8_t)(PlaceOf(level, f->corner[d] + upper) << 2 * d) : 0;
  }
}

static PetscErrorCode SetCells(VpMesh mesh, const VpCellSet *ghosts)
{
  const int       dim = mesh->dim, nside = 2 * dim, generation = mesh->level > 0, nchild = 1 << generation * dim;
  const VpLattice parents = VpLatticeCreate(mesh->domain, mesh->level - generation);
  uint8_t         family[8][6], mirror[8][6]; /* the cell beyond a side of a child: an index into Family.first and a child there */
  int64_t         parent = -1, lost = 0;
  Family          f = {.box = -1};

  PetscFunctionBeginUser;
  PetscCall(VpMallocLarge(mesh->nlocal, &mesh->box));
  PetscCall(VpMallocLarge(3 * (size_t)mesh->nlocal, &mesh->coord));
  PetscCall(VpMallocLarge(mesh->nlocal, &mesh->place));
  PetscCall(VpMallocLarge((size_t)nside * mesh->nsweep, &mesh->neighbor));
  for (int child = 0; child < nchild; child++) {
    for (int side = 0; side < nside; side++) {
      family[child][side] = (uint8_t)(!generation || (child >> side / 2 & 1) == side % 2 ? side : nside);
      mirror[child][side] = (uint8_t)(child ^ generation << side / 2);
    }
  }
  for (int32_t i = 0; i < mesh->nlocal; i++) {
    const int64_t cell = i < mesh->nown ? mesh->first + i : ghosts->cell[i - mesh->nown];
    const int     child = (int)(cell & (nchild - 1));

    if (cell >> generation * dim != parent) {
      if (!(i & 0xfff)) PetscCall(VpProgress("mesh", i, mesh->nlocal));
      parent = cell >> generation * dim;
      FindFamily(&parents, mesh->level, parent, &f);
    }
    mesh->box[i] = f.box;
    mesh->place[i] = f.place[0][child & 1] | f.place[1][child >> 1 & 1] | f.place[2][child >> 2];
    for (int d = 0; d < 3; d++) mesh->coord[3 * (size_t)i + d] = f.corner[d] + (child >> d & 1);
    for (int side = 0; i < mesh->nsweep && side < nside; side++) {
      const int64_t first = f.first[family[child][side]];
      const int32_t local = LocalOf(mesh, ghosts, first < 0 ? first : first + mirror[child][side]);

      mesh->neighbor[(size_t)nside * i + side] = local;
      lost += local == VP_UNKNOWN;
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
  for (int kind = 0; kind < VP_GHOST_CHILD; kind++) {
    PetscCall(PetscSFCreate(mesh->comm, &mesh->sf[kind]));
    PetscCall(PetscSFSetGraph(mesh->sf[kind], mesh->nown, nleaf[kind], NULL, PETSC_OWN_POINTER, owner, PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(mesh->sf[kind]));
  }
  PetscCall(PetscFree(owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the mesh without links to other levels, and its ghosts; `extra` cells become local too */
static PetscErrorCode Build(MPI_Comm comm, VpDomain domain, int level, const PetscInt counts[], const VpCellSet *extra, VpMesh *newmesh,
                            VpCellSet *ghosts)
{
  const VpLattice L = VpLatticeCreate(domain, level);
  VpMesh          mesh;
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
  PetscCall(VpHaloCreate(&L, mesh->first, (int64_t)mesh->first + mesh->nown, extra, ghosts, end));
  mesh->nface = mesh->nown + end[0];
  mesh->nsweep = mesh->nown + end[1];
  mesh->nhalo = mesh->nown + end[2];
  mesh->nlocal = mesh->nown + end[3];
  PetscCall(SetCells(mesh, ghosts));
  PetscCall(SetExchange(mesh, size, ghosts));
  *newmesh = mesh;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the ghosts that Build found */
static PetscErrorCode Ghosts(VpMesh mesh, VpCellSet *ghosts)
{
  const VpLattice L = VpLatticeCreate(mesh->domain, mesh->level);

  PetscFunctionBeginUser;
  PetscCall(VpCellSetCreate(ghosts));
  for (int32_t i = mesh->nown; i < mesh->nlocal; i++)
    PetscCall(VpCellSetAdd(ghosts, VpLatticeEncode(&L, mesh->box[i], mesh->coord + 3 * (size_t)i)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Own parents' children that other ranks have: those next to the last own cell along the curve, which may be several ranks'. */
static PetscErrorCode SetChildExchange(VpMesh fine, int64_t nchild)
{
  PetscMPIInt  size;
  PetscInt    *leaf, n = 0;
  PetscSFNode *owner;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(fine->comm, &size));
  PetscCall(PetscMalloc2(8, &leaf, 8, &owner));
  for (int64_t i = PetscMax(0, nchild - 8); i < nchild; i++) {
    const int64_t cell = ((int64_t)fine->coarser->first << fine->dim) + i;

    if (fine->child[i] < fine->nown) continue;
    leaf[n] = fine->child[i] - fine->nown;
    owner[n].rank = OwnerOf(fine->starts, size, cell);
    owner[n].index = (PetscInt)(cell - fine->starts[owner[n].rank]);
    n++;
  }
  PetscCall(PetscSFCreate(fine->comm, &fine->sf[VP_GHOST_CHILD]));
  PetscCall(PetscSFSetGraph(fine->sf[VP_GHOST_CHILD], fine->nown, n, leaf, PETSC_COPY_VALUES, owner, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(fine->sf[VP_GHOST_CHILD]));
  PetscCall(PetscFree2(leaf, owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fine->coarser, parent and child: positions of a parent and its children are p and 2^dim p + 0 .. 2^dim - 1. Takes the sets of ghosts. */
static PetscErrorCode Link(VpMesh fine, VpMesh coarse, VpCellSet *of_fine, VpCellSet *of_coarse)
{
  const int dim = fine->dim;
  int32_t   lost = 0;

  PetscFunctionBeginUser;
  PetscCall(VpMallocLarge(fine->nhalo, &fine->parent));
  PetscCall(VpMallocLarge((size_t)coarse->nown << dim, &fine->child));
  for (int32_t i = 0; i < fine->nhalo; i++) {
    const int64_t cell = i < fine->nown ? fine->first + i : of_fine->cell[i - fine->nown];

    fine->parent[i] = LocalOf(coarse, of_coarse, cell >> dim);
    lost += fine->parent[i] < 0;
  }
  while (fine->orphans < fine->nown && fine->parent[fine->orphans] >= coarse->nown) fine->orphans++;
  for (int64_t i = 0; i < (int64_t)coarse->nown << dim; i++) {
    fine->child[i] = LocalOf(fine, of_fine, ((int64_t)coarse->first << dim) + i);
    lost += fine->child[i] < 0 || fine->child[i] >= fine->nsweep;
  }
  PetscCheck(lost == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d parents or children are not local", (int)lost);
  fine->coarser = coarse;
  PetscCall(VpMeshReference(coarse));
  PetscCall(SetChildExchange(fine, (int64_t)coarse->nown << dim));
  PetscCall(VpCellSetDestroy(of_fine));
  PetscCall(VpCellSetDestroy(of_coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreate(MPI_Comm comm, VpDomain domain, int level, VpMesh *mesh)
{
  const VpCellSet none = {0};
  VpCellSet       ghosts;

  PetscFunctionBeginUser;
  PetscCall(Build(comm, domain, level, NULL, &none, mesh, &ghosts));
  PetscCall(VpCellSetDestroy(&ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first parent whose first child does not lie before the position */
static PetscInt FirstParent(PetscInt start, int dim)
{
  return ((start - 1) >> dim) + 1;
}

/* parents of all local cells; of the own cells, only the first one's parent can be another rank's */
static PetscErrorCode Parents(VpMesh mesh, const VpCellSet *ghosts, VpCellSet *parents)
{
  PetscFunctionBeginUser;
  PetscCall(VpCellSetCreate(parents));
  if (mesh->nown) PetscCall(VpCellSetAdd(parents, mesh->first >> mesh->dim));
  for (int32_t i = 0; i < mesh->nhalo - mesh->nown; i++) PetscCall(VpCellSetAdd(parents, ghosts->cell[i] >> mesh->dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCoarsen(VpMesh fine, VpMesh *coarse)
{
  PetscFunctionBeginUser;
  if (!fine->coarser) {
    PetscInt   *counts;
    PetscMPIInt size;
    VpCellSet   parents, of_fine, of_coarse;

    PetscCheck(fine->level > 0, fine->comm, PETSC_ERR_ARG_WRONGSTATE, "This mesh consists of whole boxes: there is no coarser one");
    PetscCallMPI(MPI_Comm_size(fine->comm, &size));
    PetscCall(PetscMalloc1(size, &counts));
    for (int r = 0; r < size; r++) counts[r] = FirstParent(fine->starts[r + 1], fine->dim) - FirstParent(fine->starts[r], fine->dim);
    PetscCall(Ghosts(fine, &of_fine));
    PetscCall(Parents(fine, &of_fine, &parents));
    PetscCall(Build(fine->comm, fine->domain, fine->level - 1, counts, &parents, coarse, &of_coarse));
    PetscCall(Link(fine, *coarse, &of_fine, &of_coarse));
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
  VpCellSet       of_fine, of_coarse;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(coarse->comm, &size));
  PetscCheck(coarse->ncell <= PETSC_MAX_INT >> coarse->dim, coarse->comm, PETSC_ERR_SUP,
             "Refining %" PetscInt_FMT " cells gives more than PetscInt (%d bits) can count", coarse->ncell, (int)(8 * sizeof(PetscInt)));
  PetscCall(PetscMalloc1(size, &counts));
  for (int r = 0; r < size; r++) counts[r] = (coarse->starts[r + 1] - coarse->starts[r]) << coarse->dim;
  PetscCall(Build(coarse->comm, coarse->domain, coarse->level + 1, counts, &none, fine, &of_fine));
  PetscCall(Ghosts(coarse, &of_coarse));
  PetscCall(Link(*fine, coarse, &of_fine, &of_coarse));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCut(VpMesh mesh, const PetscInt counts[], VpMesh *cut)
{
  const VpCellSet none = {0};
  VpCellSet       ghosts;

  PetscFunctionBeginUser;
  PetscCall(Build(mesh->comm, mesh->domain, mesh->level, counts, &none, cut, &ghosts));
  PetscCall(VpCellSetDestroy(&ghosts));
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
  PetscCall(PetscFree(mesh->box));
  PetscCall(PetscFree(mesh->coord));
  PetscCall(PetscFree(mesh->place));
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
