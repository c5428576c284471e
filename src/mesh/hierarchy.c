/* The relations between levels: parents and children. */
#include "lattice.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include <stdatomic.h>

/* the ghosts that VpMeshBuild found */
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
    owner[n].rank = VpOwnerOf(fine->starts, size, cell);
    owner[n].index = (PetscInt)(cell - fine->starts[owner[n].rank]);
    n++;
  }
  PetscCall(PetscSFCreate(fine->comm, &fine->sf[VP_GHOST_CHILD]));
  PetscCall(PetscSFSetGraph(fine->sf[VP_GHOST_CHILD], fine->nown, n, leaf, PETSC_COPY_VALUES, owner, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(fine->sf[VP_GHOST_CHILD]));
  PetscCall(PetscFree2(leaf, owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  VpMesh           fine, coarse;
  const VpCellSet *of_fine, *of_coarse; /* their ghosts */
  _Atomic int64_t  lost;                /* parents and children that are not local */
} Relating;

static void FillParents(void *context, int32_t piece, int32_t begin, int32_t end)
{
  Relating    *relate = (Relating *)context;
  const VpMesh fine = relate->fine;
  int64_t      lost = 0;

  for (int32_t i = begin; i < end; i++) {
    const int64_t cell = i < fine->nown ? fine->first + i : relate->of_fine->cell[i - fine->nown];

    fine->parent[i] = VpLocalOf(relate->coarse, relate->of_coarse, cell >> fine->dim);
    lost += fine->parent[i] < 0;
  }
  relate->lost += lost;
}

static void FillChildren(void *context, int32_t piece, int32_t begin, int32_t end)
{
  Relating     *relate = (Relating *)context;
  const VpMesh  fine = relate->fine;
  const int64_t first = (int64_t)relate->coarse->first << fine->dim;
  int64_t       lost = 0;

  for (int64_t i = (int64_t)begin << fine->dim; i < (int64_t)end << fine->dim; i++) {
    fine->child[i] = VpLocalOf(fine, relate->of_fine, first + i);
    lost += fine->child[i] < 0 || fine->child[i] >= fine->nsweep;
  }
  relate->lost += lost;
}

/* Sets fine->coarser, parent and child: the children of the cell at position p are at 2^dim p + 0 .. 2^dim - 1. Frees the sets of
   ghosts. */
static PetscErrorCode Relate(VpMesh fine, VpMesh coarse, VpCellSet *of_fine, VpCellSet *of_coarse)
{
  const size_t nchild = (size_t)coarse->nown << fine->dim;
  Relating     relate = {fine, coarse, of_fine, of_coarse, .lost = 0};

  PetscFunctionBeginUser;
  PetscCall(VpMallocLarge(fine->nhalo, &fine->parent));
  PetscCall(VpMallocLarge(nchild, &fine->child));
  VpLoop(fine->nhalo, FillParents, &relate);
  VpLoop(coarse->nown, FillChildren, &relate);
  PetscCheck(relate.lost == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d parents or children are not local", (int)relate.lost);
  while (fine->orphans < fine->nown && fine->parent[fine->orphans] >= coarse->nown) fine->orphans++;
  fine->coarser = VpMeshReference(coarse);
  PetscCall(SetChildExchange(fine, (int64_t)nchild));
  PetscCall(VpCellSetDestroy(of_fine));
  PetscCall(VpCellSetDestroy(of_coarse));
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
    PetscCall(VpMeshBuild(fine->comm, fine->domain, fine->level - 1, counts, &parents, coarse, &of_coarse));
    PetscCall(Relate(fine, *coarse, &of_fine, &of_coarse));
    PetscCall(VpMeshSetTransport(*coarse, fine->transport, fine->link));
    PetscCall(VpMeshDestroy(coarse));
    PetscCall(VpCellSetDestroy(&parents));
    PetscCall(PetscFree(counts));
  }
  *coarse = VpMeshReference(fine->coarser);
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
  PetscCall(VpMeshBuild(coarse->comm, coarse->domain, coarse->level + 1, counts, &none, fine, &of_fine));
  PetscCall(Ghosts(coarse, &of_coarse));
  PetscCall(Relate(*fine, coarse, &of_fine, &of_coarse));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
