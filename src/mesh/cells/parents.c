/* The relations between levels: parents and children. */
#include "../internal.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <stdatomic.h>

PetscErrorCode VpRelationSetChildren(VpMesh fine)
{
  const VpRelation   relation = fine->relation;
  const VpMesh       coarse = relation->coarse;
  const size_t       nchild = fine->nsweep > fine->nown ? (size_t)coarse->nown << fine->dim : 0; /* some of them may be ghosts */
  PetscInt          *leaf, n = 0;
  PetscSFNode       *root;
  const PetscSFNode *owner;

  PetscFunctionBegin;
  relation->orphans = coarse->nlocal > coarse->nown ? fine->nown : 0;
  while (relation->orphans > 0 && relation->parent[relation->orphans - 1] < coarse->nown) relation->orphans--;
  PetscCall(PetscMalloc2(fine->nsweep - fine->nown, &leaf, fine->nsweep - fine->nown, &root));
  PetscCall(PetscSFGetGraph(fine->sf[VP_GHOST_SWEEP], NULL, NULL, NULL, &owner));
  for (size_t i = 0; i < nchild; i++) {
    if (relation->child[i] < fine->nown) continue;
    leaf[n] = relation->child[i] - fine->nown;
    root[n] = owner[leaf[n]];
    n++;
  }
  PetscCall(PetscSFCreate(fine->comm, &fine->sf[VP_GHOST_CHILD]));
  PetscCall(PetscSFSetGraph(fine->sf[VP_GHOST_CHILD], fine->nown, n, leaf, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(fine->sf[VP_GHOST_CHILD]));
  PetscCall(PetscFree2(leaf, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshRelate(VpMesh fine, const VpPositions *of_fine, VpMesh coarse, VpLattice by, const VpCoarsening *step)
{
  const int32_t   nparent = fine->leaf ? coarse->nlocal : coarse->nown; /* parents that have a place in child[] */
  const PetscBool all = (PetscBool)(VpLatticeIsUniform(fine->geometry->lattice) && VpLatticeIsUniform(step->coarse) && !step->box);
  VpRelation      relation;
  VpPositions     of_coarse;
  const int   shift = all ? fine->dim : 0; /* Where all cells of all boxes merge, a parent's number is a child's without its last bits. */
  _Atomic int lost = 0;                    /* parents that are not local */

  PetscFunctionBegin;
  PetscCall(PetscNew(&relation));
  fine->relation = relation;
  relation->coarse = VpReference(coarse);
  relation->by = VpReference(by);
  relation->step = step;
  PetscCall(VpMallocLarge(fine->nhalo, &relation->parent));
  PetscCall(VpMallocLarge((size_t)nparent << fine->dim, &relation->child));
  if (!all || fine->leaf) {
    VP_LOOP (p, nparent) memset(relation->child + ((size_t)p << fine->dim), -1, sizeof(*relation->child) << fine->dim);
  }
  PetscCall(VpPositionsCreate(coarse, &of_coarse));
  VP_LOOP (i, fine->nhalo) {
    const int64_t cell = VpPositionOf(of_fine, i);
    const int32_t parent = VpLocalOf(&of_coarse, shift ? cell >> shift : VpParentOf(step, fine->geometry->lattice, cell));
    int           number;

    relation->parent[i] = parent;
    if (parent < 0) lost++;
    if (parent < 0 || parent >= nparent) continue;
    number = shift ? (int)(cell & ((1 << shift) - 1)) : VpChildNumber(step, fine->geometry->lattice, cell);
    relation->child[((size_t)parent << fine->dim) + (size_t)number] = i;
  }
  PetscCall(VpDictionaryDestroy(&of_coarse.other));
  PetscCheck(lost == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d parents are not local", lost);
  PetscCall(VpRelationSetChildren(fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* parents of all local cells that are not own ones; starts: where the ranks' own parents begin */
static PetscErrorCode FindParents(VpMesh mesh, const VpPositions *positions, const VpCoarsening *c, const PetscInt starts[],
                                  VpCellSet *parents)
{
  const PetscBool many = (PetscBool)(mesh->size > 1 && (c->box || !VpLatticeIsUniform(c->coarse)));
  const int32_t   look = many ? mesh->nown : PetscMin(mesh->nown, 1); /* own cells: only the first one's may be another rank's, or many */
  PetscMPIInt     rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(mesh->comm, &rank));
  PetscCall(VpCellSetCreate(parents));
  for (int32_t i = 0; i < mesh->nhalo; i++) {
    int64_t parent;

    if (i == look) i = mesh->nown;
    if (i == mesh->nhalo) break;
    parent = VpParentOf(c, mesh->geometry->lattice, VpPositionOf(positions, i));
    if (!VpIsIn((VpRange){starts[rank], starts[rank + 1]}, parent)) PetscCall(VpCellSetAdd(parents, parent));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateCoarse(VpMesh fine, VpLattice by, const VpCoarsening *c)
{
  PetscInt   *starts;
  VpCellSet   parents;
  VpPositions positions;
  VpMesh      coarse;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(fine->size + 1, &starts));
  for (int r = 0; r <= fine->size; r++) starts[r] = (PetscInt)VpParentsBefore(c, fine->geometry->lattice, fine->starts[r]);
  PetscCall(VpPositionsCreate(fine, &positions));
  PetscCall(FindParents(fine, &positions, c, starts, &parents));
  PetscCall(VpMeshBuild(fine->comm, c->coarse, starts, NULL, &parents, &coarse));
  PetscCall(VpMeshRelate(fine, &positions, coarse, by, c));
  VpMeshSetTransport(coarse, fine->transport, fine->link);
  PetscCall(VpMeshDestroy(&coarse));
  PetscCall(VpDictionaryDestroy(&parents));
  PetscCall(VpDictionaryDestroy(&positions.other));
  PetscCall(PetscFree(starts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCoarsen(VpMesh fine, VpLattice lattice, VpCoarsen how, VpMesh *coarse)
{
  const VpCoarsening *step;

  PetscFunctionBegin;
  if (!fine->relation) {
    PetscCall(VpLatticeCoarsen(lattice, how, &step));
    PetscCheck(step->coarse, fine->comm, PETSC_ERR_ARG_WRONGSTATE, "There is no coarser mesh: %s",
               fine->level ? "the rule of coarsening ends here" : "this one consists of whole boxes");
    PetscCall(CreateCoarse(fine, lattice, step));
  }
  *coarse = VpReference(fine->relation->coarse);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshAgrees(VpMesh fine, VpLattice lattice, VpCoarsen how, PetscBool *agrees)
{
  const VpCoarsening *step;

  PetscFunctionBegin;
  *agrees = PETSC_TRUE;
  if (!fine->relation) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpLatticeCoarsen(lattice, how, &step));
  *agrees = (PetscBool)(step->coarse && VpLatticeIsSame(step->coarse, fine->relation->coarse->geometry->lattice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshRefine(VpMesh coarse, VpMesh *fine)
{
  PetscInt           *starts;
  VpLattice           lattice;
  VpPositions         positions;
  const VpCoarsening *step;

  PetscFunctionBegin;
  PetscCheck(VpLatticeIsUniform(coarse->geometry->lattice), coarse->comm, PETSC_ERR_SUP,
             "This mesh was coarsened in some directions or boxes only: it cannot be refined, refine the one that it came from");
  PetscCheck(coarse->ncell <= PETSC_MAX_INT >> coarse->dim, coarse->comm, PETSC_ERR_SUP,
             "Refining %" PetscInt_FMT " cells gives more than PetscInt (%d bits) can count", coarse->ncell, (int)(8 * sizeof(PetscInt)));
  PetscCall(VpForestCheckSize(coarse->comm, coarse->geometry->domain, coarse->level + 1));
  PetscCall(PetscMalloc1(coarse->size + 1, &starts));
  for (int r = 0; r <= coarse->size; r++) starts[r] = coarse->starts[r] << coarse->dim;
  PetscCall(VpLatticeCreateUniform(coarse->geometry->domain, coarse->level + 1, &lattice));
  PetscCall(VpMeshBuild(coarse->comm, lattice, starts, NULL, NULL, fine));
  PetscCall(VpLatticeCoarsen(lattice, VP_COARSEN_FULL, &step));
  PetscCall(VpPositionsCreate(*fine, &positions));
  PetscCall(VpMeshRelate(*fine, &positions, coarse, lattice, step));
  PetscCall(VpDictionaryDestroy(&positions.other));
  PetscCall(VpLatticeDestroy(&lattice));
  PetscCall(PetscFree(starts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpRelationDestroy(VpRelation *out)
{
  VpRelation relation = *out;

  PetscFunctionBegin;
  if (!relation) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpMeshDestroy(&relation->coarse));
  PetscCall(VpLatticeDestroy(&relation->by));
  PetscCall(PetscFree(relation->parent));
  PetscCall(PetscFree(relation->child));
  PetscCall(PetscFree(relation->ends.face));
  PetscCall(PetscFree(*out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
