/* A mesh that has every local cell n times, for work on n vectors at once. The neighbours of copy k are copies k of the neighbours. Each of
   the mesh's kinds of cells has all cells of copy 0, then those of copy 1, and so on:

     own | face | ...   of one     ->   own own own | face face face | ...   of three */
#include "../internal.h"
#include "../../base/memory.h"
#include <string.h>

/* the number of a local cell's copy k of n */
static int32_t CopyOf(VpMesh mesh, int32_t n, int32_t k, int32_t cell)
{
  const int32_t end[] = {mesh->nown, mesh->nface, mesh->nsweep, mesh->nhalo, mesh->nlocal};
  int32_t       first = 0;
  int           kind = 0;

  while (cell >= end[kind]) first = end[kind++];
  return n * first + k * (end[kind] - first) + cell - first;
}

/* the same of a cell; other codes stay */
static int32_t CopyOfAny(VpMesh mesh, int32_t n, int32_t k, int32_t cell)
{
  return cell < 0 ? cell : CopyOf(mesh, n, k, cell);
}

static PetscErrorCode CopyCells(VpMesh mesh, int32_t n, VpMesh many)
{
  const int nside = 2 * mesh->dim;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge(many->nlocal, &many->geometry->box));
  PetscCall(VpMallocLarge(3 * (size_t)many->nlocal, &many->geometry->coord));
  PetscCall(VpMallocLarge(many->nlocal, &many->geometry->zone));
  PetscCall(VpMallocLarge((size_t)VpMeshKnown(many) * nside, &many->neighbor));
  if (mesh->turn) PetscCall(VpMallocLarge((size_t)VpMeshKnown(many) * nside + 1, &many->turn));
  for (int32_t k = 0; k < n; k++) {
    for (int32_t c = 0; c < mesh->nlocal; c++) {
      const size_t to = (size_t)CopyOf(mesh, n, k, c);

      many->geometry->box[to] = mesh->geometry->box[c];
      many->geometry->zone[to] = mesh->geometry->zone[c];
      memcpy(many->geometry->coord + 3 * to, mesh->geometry->coord + 3 * (size_t)c, 3 * sizeof(*mesh->geometry->coord));
      for (int s = 0; c < VpMeshKnown(mesh) && s < nside; s++)
        many->neighbor[to * nside + s] = CopyOfAny(mesh, n, k, mesh->neighbor[(size_t)c * nside + s]);
      if (mesh->turn && c < VpMeshKnown(mesh)) memcpy(many->turn + to * nside, mesh->turn + (size_t)c * nside, nside);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The owner of a ghost's copy is the copy of the ghost's owner. */
static PetscErrorCode CopyExchange(VpMesh mesh, int32_t n, VpMesh many)
{
  const PetscSFNode *owner;
  PetscSFNode       *owners;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(mesh->sf[VP_GHOST_ALL], NULL, NULL, NULL, &owner));
  PetscCall(PetscMalloc1(many->nlocal - many->nown, &owners));
  for (int32_t k = 0; k < n; k++) {
    for (int32_t c = mesh->nown; c < mesh->nlocal; c++) {
      PetscSFNode *to = &owners[CopyOf(mesh, n, k, c) - many->nown];

      *to = owner[c - mesh->nown];
      to->index += k * (mesh->starts[to->rank + 1] - mesh->starts[to->rank]);
    }
  }
  PetscCall(VpMeshSetExchange(many, owners));
  PetscCall(PetscFree(owners));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent of a cell's copy k is copy k of its parent. */
static PetscErrorCode CopyRelation(VpMesh mesh, int32_t n, VpMesh coarser, VpMesh many)
{
  const VpRelation of = mesh->relation;
  const int32_t    nchild = of->coarse->nown << mesh->dim;
  VpRelation       to;

  PetscFunctionBegin;
  PetscCall(PetscNew(&to));
  many->relation = to;
  to->coarse = VpReference(coarser);
  to->step = of->step;
  to->by = VpReference(of->by);
  PetscCall(VpMallocLarge(many->nhalo, &to->parent));
  PetscCall(VpMallocLarge((size_t)n * (size_t)nchild, &to->child));
  for (int32_t k = 0; k < n; k++) {
    for (int32_t c = 0; c < mesh->nhalo; c++) to->parent[CopyOf(mesh, n, k, c)] = CopyOf(of->coarse, n, k, of->parent[c]);
    for (int32_t i = 0; i < nchild; i++) to->child[(size_t)k * (size_t)nchild + (size_t)i] = CopyOfAny(mesh, n, k, of->child[i]);
  }
  PetscCall(VpRelationSetChildren(many));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshRepeat(VpMesh mesh, int32_t n, VpMesh coarser, VpMesh *out)
{
  VpMesh many;

  PetscFunctionBegin;
  PetscCall(VpMeshBegin(mesh->comm, VpReference(mesh->geometry->lattice), &many));
  *out = many;
  many->level = mesh->level;
  many->least = mesh->least;
  many->ncell = mesh->ncell;
  many->first = mesh->first;
  many->nown = n * mesh->nown;
  many->nface = n * mesh->nface;
  many->nsweep = n * mesh->nsweep;
  many->nhalo = n * mesh->nhalo;
  many->nlocal = n * mesh->nlocal;
  many->ninner = n * mesh->ninner;
  PetscCall(PetscMalloc1(mesh->size + 1, &many->starts));
  PetscCall(PetscArraycpy(many->starts, mesh->starts, mesh->size + 1));
  PetscCall(CopyCells(mesh, n, many));
  PetscCall(CopyExchange(mesh, n, many));
  if (coarser) PetscCall(CopyRelation(mesh, n, coarser, many));
  VpMeshSetTransport(many, mesh->transport, mesh->link);
  PetscFunctionReturn(PETSC_SUCCESS);
}
