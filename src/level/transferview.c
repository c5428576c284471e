/* The view of the transfers between a level and the next coarser one: how every cell lies in its parent. */
#include "internal.h"
#include "../base/dictionary.h"
#include "../base/threads.h"

typedef struct {
  VpMesh       mesh;
  VpDictionary widths; /* items: the fractions, other than one half, of their parents' widths that lower children have */
  int32_t     *of_box; /* [nbox][3] number of the fraction, or -1 */
  uint8_t     *corner; /* [nhalo] */
  int32_t     *table;  /* [nhalo][dim], or NULL if all children are halves or wholes */
} Children;

/* fraction of the parent's width that the lower child has in direction d of a merged box */
static double LowerFraction(VpMesh mesh, int32_t box, int d)
{
  const PetscBool upper = (PetscBool)(mesh->relation->step->merge[3 * (size_t)box + d] == VP_MERGE_UPPER);
  const int32_t   other = mesh->geometry->domain->beyond[(size_t)box * 2 * mesh->dim + 2 * d + !upper];
  const PetscReal mine = VpLatticeSize(mesh->geometry->lattice, box, d), its = VpLatticeSize(mesh->geometry->lattice, other, d);

  return (upper ? its : mine) / (mine + its);
}

/* Numbers the fractions that are not one half, and sets of_box. */
static PetscErrorCode NumberFractions(Children *c)
{
  const int32_t nbox = c->mesh->geometry->domain->nbox;

  PetscFunctionBegin;
  PetscCall(VpDictionaryCreate(1, sizeof(double), &c->widths));
  if (!c->mesh->relation->step->box) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(3 * (size_t)nbox, &c->of_box));
  for (size_t i = 0; i < 3 * (size_t)nbox; i++) {
    const double fraction =
      c->mesh->relation->step->merge[i] >= VP_MERGE_LOWER ? LowerFraction(c->mesh, (int32_t)(i / 3), (int)(i % 3)) : 0.5;
    const uint64_t word = VpWord(fraction);

    c->of_box[i] = -1;
    if (word != VpWord(0.5)) PetscCall(VpDictionaryAdd(&c->widths, &word, &fraction, &c->of_box[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void FindCorner(const Children *c, int32_t cell)
{
  const VpMesh mesh = c->mesh;
  const size_t box = (size_t)mesh->geometry->box[cell];

  c->corner[cell] = 0;
  for (int d = 0; d < mesh->dim; d++) {
    const int merge = mesh->relation->step->merge[3 * box + d], fraction = c->of_box ? c->of_box[3 * box + d] : -1;
    const int upper = merge == VP_MERGE_HALVES ? mesh->geometry->coord[3 * (size_t)cell + d] & 1 : merge == VP_MERGE_UPPER;

    c->corner[cell] |= (uint8_t)((merge == VP_MERGE_NONE ? VP_WHOLE : fraction >= 0 ? VP_UNEQUAL : upper) << 2 * d);
    if (c->table) c->table[(size_t)cell * mesh->dim + d] = 2 * (fraction + 1) + upper;
  }
}

static PetscErrorCode PlaceTables(VpLevel fine, const Children *c)
{
  const size_t  size = 2 * PetscSqr((size_t)fine->basis.n);
  const double *fraction = c->widths.item;
  double       *P, *R, sign;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((c->widths.n + 1) * size, &P, (c->widths.n + 1) * size, &R));
  VpTransferHalves(&fine->basis, P, R);
  for (int32_t i = 0; i < c->widths.n; i++) VpTransferBuild(&fine->basis, fraction[i], P + (i + 1) * size, R + (i + 1) * size);
  fine->transfer.reverse = (PetscBool)(VpBasisMirror(&fine->basis, 0, &sign) != 0);
  PetscCall(VpArraysPlaceReals(&fine->arrays, P, (c->widths.n + 1) * size, "prolongation", &fine->transfer.P));
  PetscCall(VpArraysPlaceReals(&fine->arrays, R, (c->widths.n + 1) * size, "restriction", &fine->transfer.R));
  PetscCall(PetscFree2(P, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceTransfer(VpLevel fine)
{
  VpMesh          mesh = fine->mesh;
  VpTransferView *view = &fine->transfer;
  Children        c = {.mesh = mesh};

  PetscFunctionBegin;
  PetscCheck(mesh->relation, PETSC_COMM_SELF, PETSC_ERR_ORDER, "A level's mesh has no coarser mesh yet");
  PetscCall(NumberFractions(&c));
  PetscCall(PlaceTables(fine, &c));
  PetscCall(PetscMalloc1(mesh->nhalo, &c.corner));
  if (c.widths.n) PetscCall(PetscMalloc1((size_t)mesh->nhalo * mesh->dim, &c.table));
  VP_LOOP (cell, mesh->nhalo) FindCorner(&c, cell);
  PetscCall(VpPlaceArray(&fine->arrays, c.corner, mesh->nhalo, "parents", &view->corner));
  if (c.table) PetscCall(VpPlaceArray(&fine->arrays, c.table, (size_t)mesh->nhalo * mesh->dim, "parents", &view->table));
  PetscCall(VpLevelPlaceMeshArray(fine, mesh->relation->parent, mesh->nhalo, "parents", &view->parent));
  PetscCall(VpLevelPlaceMeshArray(fine, mesh->relation->child, (size_t)VpMeshCoarser(mesh)->nown << mesh->dim, "children", &view->child));
  view->ncoarse = VpMeshCoarser(mesh)->nown;
  view->halves = PETSC_TRUE;
  for (int32_t b = 0; b < mesh->geometry->domain->nbox; b++) {
    for (int d = 0; d < mesh->dim; d++) {
      const int merge = mesh->relation->step->merge[3 * (size_t)b + d];

      view->merged |= (merge != VP_MERGE_NONE) << d;
      view->halves = (PetscBool)(view->halves && merge == VP_MERGE_HALVES);
    }
  }
  PetscCall(PetscFree(c.corner));
  PetscCall(PetscFree(c.table));
  PetscCall(PetscFree(c.of_box));
  PetscCall(VpDictionaryDestroy(&c.widths));
  if (fine->ops->prepare_transfer) PetscCall(fine->ops->prepare_transfer(view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelSetTransfer(VpLevel fine)
{
  return VpTogether(fine->mesh->comm, PlaceTransfer(fine));
}
