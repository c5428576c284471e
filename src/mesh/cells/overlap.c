/* The cells of one mesh that cover own cells of another mesh. Both meshes are sorted along the same curve, so the cells that cover a rank's
   own ones follow one another. */
#include "../internal.h"

static VpOverlapCell CellOf(VpMesh mesh, int32_t cell)
{
  const int32_t *coord = mesh->geometry->coord + 3 * (size_t)cell;

  return (VpOverlapCell){mesh->geometry->box[cell], {coord[0], coord[1], coord[2]}, VpGeometryHalvings(mesh->geometry, cell, 0)};
}

/* the last of the smallest cells in the own cell of a mesh */
static VpCurvePosition LastIn(const VpCurve *curve, int32_t cell)
{
  const int dim = curve->mesh->dim;

  return VpCurveAdvance(dim, curve->cell[cell], VpCurveLength(dim, VpGeometryHalvings(curve->mesh->geometry, cell, 0)) - 1);
}

/* the cells of `from` that cover own ones of `to`: from the one at the first position of these to the one at the last */
static PetscErrorCode CollectCells(VpMesh from, const VpCurve *to, VpOverlap *o)
{
  const PetscInt  n = to->mesh->nown ? 2 : 0;
  VpCurvePosition end[2];
  PetscSFNode     at[2];
  PetscInt       *position;
  VpCurve         curve;
  VpOverlapCell  *own;

  PetscFunctionBegin;
  end[0] = to->cell[0];
  if (n) end[1] = LastIn(to, to->mesh->nown - 1);
  PetscCall(VpCurveCreate(from, &curve));
  PetscCall(VpCurveFind(&curve, n, end, at));
  PetscCall(VpCurveDestroy(&curve));
  for (PetscInt i = 0; i < n; i++) at[i].index += from->starts[at[i].rank];
  o->n = n ? (int32_t)(at[1].index - at[0].index + 1) : 0;
  PetscCall(PetscMalloc1(o->n, &o->cell));
  PetscCall(PetscMalloc2(o->n, &position, from->nown, &own));
  for (int32_t i = 0; i < o->n; i++) position[i] = at[0].index + i;
  for (int32_t c = 0; c < from->nown; c++) own[c] = CellOf(from, c);
  PetscCall(VpMeshCreateSF(from, o->n, position, &o->sf));
  PetscCall(VpBroadcast(o->sf, sizeof(*own), MPI_BYTE, own, o->cell));
  PetscCall(PetscFree2(position, own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpMeshesOverlap(VpMesh from, VpMesh to)
{
  return (PetscBool)(VpDomainIsSame(from->geometry->domain, to->geometry->domain) && VpGeometryIsHalved(from->geometry) &&
                     VpGeometryIsHalved(to->geometry));
}

/* the cell, from `at` on, that contains a position */
static int32_t NextAt(int dim, const VpOverlap *o, VpCurvePosition p, int32_t at)
{
  for (; at + 1 < o->n; at++) {
    const VpOverlapCell *next = &o->cell[at + 1];

    if (VpCurveIsBefore(p, VpCurvePositionOf(dim, next->box, next->coord, next->depth))) break;
  }
  return at;
}

PetscErrorCode VpOverlapCreate(VpMesh from, VpMesh to, VpOverlap *o)
{
  int32_t at = 0;
  VpCurve curve;

  PetscFunctionBegin;
  *o = (VpOverlap){.n = 0};
  PetscCall(VpCurveCreate(to, &curve));
  PetscCall(CollectCells(from, &curve, o));
  PetscCall(PetscMalloc2(to->nown, &o->first, to->nown, &o->count));
  for (int32_t c = 0; c < to->nown; c++) {
    o->first[c] = NextAt(to->dim, o, curve.cell[c], at);
    at = NextAt(to->dim, o, LastIn(&curve, c), o->first[c]);
    o->count[c] = at - o->first[c] + 1;
  }
  PetscCall(VpCurveDestroy(&curve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOverlapDestroy(VpOverlap *o)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&o->sf));
  PetscCall(PetscFree(o->cell));
  PetscCall(PetscFree2(o->first, o->count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
