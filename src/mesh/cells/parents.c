/* The relations between levels: parents and children. */
#include "../internal.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <stdatomic.h>

/* the ghosts that VpMeshBuild found */
static PetscErrorCode Ghosts(VpMesh mesh, VpCellSet *ghosts)
{
  PetscFunctionBeginUser;
  PetscCall(VpCellSetCreate(ghosts));
  for (int32_t i = mesh->nown; i < mesh->nlocal; i++)
    PetscCall(VpCellSetAdd(ghosts, VpLatticeEncode(mesh->lattice, mesh->box[i], mesh->coord + 3 * (size_t)i)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshSetChildren(VpMesh fine)
{
  const VpMesh       coarse = fine->coarser;
  const size_t       nchild = fine->nsweep > fine->nown ? (size_t)coarse->nown << fine->dim : 0; /* of which some may be ghosts */
  PetscInt          *leaf, n = 0;
  PetscSFNode       *root;
  const PetscSFNode *owner;

  PetscFunctionBeginUser;
  fine->orphans = coarse->nlocal > coarse->nown ? fine->nown : 0;
  while (fine->orphans > 0 && fine->parent[fine->orphans - 1] < coarse->nown) fine->orphans--;
  for (size_t i = 0; i < nchild; i++) n += fine->child[i] >= fine->nown;
  PetscCall(PetscMalloc2(n, &leaf, n, &root));
  PetscCall(PetscSFGetGraph(fine->sf[VP_GHOST_SWEEP], NULL, NULL, NULL, &owner));
  n = 0;
  for (size_t i = 0; i < nchild; i++) {
    if (fine->child[i] < fine->nown) continue;
    leaf[n] = fine->child[i] - fine->nown;
    root[n] = owner[leaf[n]];
    n++;
  }
  PetscCall(PetscSFCreate(fine->comm, &fine->sf[VP_GHOST_CHILD]));
  PetscCall(PetscSFSetGraph(fine->sf[VP_GHOST_CHILD], fine->nown, n, leaf, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(fine->sf[VP_GHOST_CHILD]));
  PetscCall(PetscFree2(leaf, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  VpMesh           fine, coarse;
  const VpCellSet *of_fine, *of_coarse; /* their ghosts */
  int              shift; /* Where all cells of all boxes merge, a parent's number is a child's without its last bits; else 0. */
  _Atomic int64_t  lost;  /* parents and children that are not local */
} Relating;

static inline int64_t PositionOf(VpMesh mesh, const VpCellSet *ghosts, int32_t cell)
{
  return cell < mesh->nown ? (int64_t)mesh->first + cell : VpCellSetAt(ghosts, cell - mesh->nown);
}

static void FillParents(void *context, int32_t piece, int32_t begin, int32_t end)
{
  Relating    *relate = (Relating *)context;
  const VpMesh fine = relate->fine;
  int64_t      lost = 0;

  for (int32_t i = begin; i < end; i++) {
    const int64_t cell = PositionOf(fine, relate->of_fine, i);
    const int64_t parent = relate->shift ? cell >> relate->shift : VpParentOf(fine->coarsening, fine->lattice, cell);

    fine->parent[i] = VpLocalOf(relate->coarse, relate->of_coarse, parent);
    lost += fine->parent[i] < 0;
  }
  relate->lost += lost;
}

static void FillChildren(void *context, int32_t piece, int32_t begin, int32_t end)
{
  Relating    *relate = (Relating *)context;
  const VpMesh fine = relate->fine;
  int64_t      lost = 0, child[8];

  for (int32_t i = begin; i < end; i++) {
    const int64_t parent = (int64_t)relate->coarse->first + i;

    if (!relate->shift) VpChildrenOf(fine->coarsening, fine->lattice, parent, child);
    else {
      for (int q = 0; q < 1 << fine->dim; q++) child[q] = (parent << relate->shift) + q;
    }
    for (int q = 0; q < 1 << fine->dim; q++) {
      const int32_t local = child[q] < 0 ? -1 : VpLocalOf(fine, relate->of_fine, child[q]);

      fine->child[((size_t)i << fine->dim) + q] = local;
      lost += child[q] >= 0 && (local < 0 || local >= fine->nsweep);
    }
  }
  relate->lost += lost;
}

/* Sets fine->coarser, parent and child. Frees the sets of ghosts. */
static PetscErrorCode Relate(VpMesh fine, VpMesh coarse, VpCellSet *of_fine, VpCellSet *of_coarse)
{
  const size_t    nchild = (size_t)coarse->nown << fine->dim;
  const PetscBool all = (PetscBool)(VpLatticeIsUniform(fine->lattice) && VpLatticeIsUniform(coarse->lattice) && !fine->coarsening->box);
  Relating        relate = {fine, coarse, of_fine, of_coarse, all ? fine->dim : 0, .lost = 0};

  PetscFunctionBeginUser;
  PetscCall(VpMallocLarge(fine->nhalo, &fine->parent));
  PetscCall(VpMallocLarge(nchild, &fine->child));
  VpLoop(fine->nhalo, FillParents, &relate);
  VpLoop(coarse->nown, FillChildren, &relate);
  PetscCheck(relate.lost == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d parents or children are not local", (int)relate.lost);
  fine->coarser = VpReference(coarse);
  PetscCall(VpMeshSetChildren(fine));
  PetscCall(VpDictionaryDestroy(of_fine));
  PetscCall(VpDictionaryDestroy(of_coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* parents of all local cells that are not own ones; counts: own parents of the ranks */
static PetscErrorCode Parents(VpMesh mesh, const VpCellSet *ghosts, const PetscInt counts[], VpCellSet *parents)
{
  const VpCoarsening *c = mesh->coarsening;
  const PetscBool     many = (PetscBool)(mesh->size > 1 && (c->box || !VpLatticeIsUniform(c->coarse)));
  const int32_t look = many ? mesh->nown : PetscMin(mesh->nown, 1); /* own cells: only the first one's may be another rank's, or many */
  const int64_t first = VpParentsBefore(c, mesh->lattice, mesh->first);
  PetscMPIInt   rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(mesh->comm, &rank));
  PetscCall(VpCellSetCreate(parents));
  for (int32_t i = 0; i < mesh->nhalo; i++) {
    int64_t parent;

    if (i == look) i = mesh->nown;
    if (i == mesh->nhalo) break;
    parent = VpParentOf(c, mesh->lattice, PositionOf(mesh, ghosts, i));
    if (parent < first || parent >= first + counts[rank]) PetscCall(VpCellSetAdd(parents, parent));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Coarsen(VpMesh fine)
{
  const VpCoarsening *c = fine->coarsening;
  PetscInt           *counts;
  VpCellSet           parents, of_fine, of_coarse;
  VpMesh              coarse;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(fine->size, &counts));
  for (int r = 0; r < fine->size; r++)
    counts[r] = (PetscInt)(VpParentsBefore(c, fine->lattice, fine->starts[r + 1]) - VpParentsBefore(c, fine->lattice, fine->starts[r]));
  PetscCall(Ghosts(fine, &of_fine));
  PetscCall(Parents(fine, &of_fine, counts, &parents));
  PetscCall(VpMeshBuild(fine->comm, c->coarse, counts, NULL, &parents, &coarse, &of_coarse));
  PetscCall(Relate(fine, coarse, &of_fine, &of_coarse));
  PetscCall(VpMeshSetTransport(coarse, fine->transport, fine->link));
  PetscCall(VpMeshDestroy(&coarse));
  PetscCall(VpDictionaryDestroy(&parents));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCoarsen(VpMesh fine, VpLattice lattice, VpCoarsen how, VpMesh *coarse)
{
  PetscFunctionBeginUser;
  if (!fine->coarser) {
    fine->by = VpReference(lattice);
    PetscCall(VpLatticeCoarsen(lattice, how, &fine->coarsening));
    PetscCheck(fine->coarsening->coarse, fine->comm, PETSC_ERR_ARG_WRONGSTATE, "There is no coarser mesh: %s",
               fine->level ? "the rule of coarsening ends here" : "this one consists of whole boxes");
    PetscCall(Coarsen(fine));
  }
  *coarse = VpReference(fine->coarser);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshAgrees(VpMesh fine, VpLattice lattice, VpCoarsen how, PetscBool *agrees)
{
  const VpCoarsening *step;

  PetscFunctionBeginUser;
  *agrees = PETSC_TRUE;
  if (!fine->coarser) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpLatticeCoarsen(lattice, how, &step));
  *agrees = (PetscBool)(step->coarse && VpLatticeIsSame(step->coarse, fine->coarser->lattice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshRefine(VpMesh coarse, VpMesh *fine)
{
  PetscInt *counts;
  VpLattice lattice;
  VpCellSet of_fine, of_coarse;

  PetscFunctionBeginUser;
  PetscCheck(VpLatticeIsUniform(coarse->lattice), coarse->comm, PETSC_ERR_SUP,
             "This mesh was coarsened in some directions or boxes only: it cannot be refined, refine the one that it came from");
  PetscCheck(coarse->ncell <= PETSC_MAX_INT >> coarse->dim, coarse->comm, PETSC_ERR_SUP,
             "Refining %" PetscInt_FMT " cells gives more than PetscInt (%d bits) can count", coarse->ncell, (int)(8 * sizeof(PetscInt)));
  PetscCall(VpForestCheckSize(coarse->comm, coarse->domain, coarse->level + 1));
  PetscCall(PetscMalloc1(coarse->size, &counts));
  for (int r = 0; r < coarse->size; r++) counts[r] = (coarse->starts[r + 1] - coarse->starts[r]) << coarse->dim;
  PetscCall(VpLatticeCreateUniform(coarse->domain, coarse->level + 1, &lattice));
  PetscCall(VpMeshBuild(coarse->comm, lattice, counts, NULL, NULL, fine, &of_fine));
  PetscCall(VpLatticeDestroy(&lattice));
  PetscCall(VpLatticeCoarsen((*fine)->lattice, VP_COARSEN_FULL, &(*fine)->coarsening));
  PetscCall(Ghosts(coarse, &of_coarse));
  PetscCall(Relate(*fine, coarse, &of_fine, &of_coarse));
  PetscCall(PetscFree(counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
