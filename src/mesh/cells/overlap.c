/* Which cells of one mesh lie where those of another are. Both are cut from the same curve through the same boxes, so both are sorted along
   it, and what covers a rank's cells is a piece of the other mesh. */
#include "../internal.h"

/* a cell as any rank finds it on the curve */
typedef struct {
  int32_t box, coord[3], depth;
} CurveCell;

static CurveCell CellOf(VpMesh mesh, int32_t cell)
{
  const int32_t *coord = mesh->geometry->coord + 3 * (size_t)cell;

  return (CurveCell){mesh->geometry->box[cell], {coord[0], coord[1], coord[2]}, VpGeometryHalvings(mesh->geometry, cell, 0)};
}

/* the last of the smallest cells in the own cell of a mesh */
static VpCurvePosition LastIn(const VpCurve *curve, int32_t cell)
{
  const int dim = curve->mesh->dim;

  return VpCurveAdvance(dim, curve->cell[cell], VpCurveLength(dim, VpGeometryHalvings(curve->mesh->geometry, cell, 0)) - 1);
}

/* the cells of `from` that cover own ones of `to`: from the one at the first position of these to the one at the last */
static PetscErrorCode CollectCells(VpMesh from, const VpCurve *to, VpOverlap *o, CurveCell **cells)
{
  const PetscInt  n = to->mesh->nown ? 2 : 0;
  VpCurvePosition end[2];
  PetscSFNode     at[2];
  PetscInt       *position;
  VpCurve         curve;
  CurveCell      *own;

  PetscFunctionBegin;
  end[0] = to->cell[0];
  if (n) end[1] = LastIn(to, to->mesh->nown - 1);
  PetscCall(VpCurveCreate(from, &curve));
  PetscCall(VpCurveFind(&curve, n, end, at));
  PetscCall(VpCurveDestroy(&curve));
  for (PetscInt i = 0; i < n; i++) at[i].index += from->starts[at[i].rank];
  o->n = n ? (int32_t)(at[1].index - at[0].index + 1) : 0;
  PetscCall(PetscMalloc1(o->n, cells));
  PetscCall(PetscMalloc2(o->n, &position, from->nown, &own));
  for (int32_t i = 0; i < o->n; i++) position[i] = at[0].index + i;
  for (int32_t c = 0; c < from->nown; c++) own[c] = CellOf(from, c);
  PetscCall(VpMeshCreateSF(from, o->n, position, &o->sf));
  PetscCall(VpBroadcast(o->sf, sizeof(*own), MPI_BYTE, own, *cells));
  PetscCall(PetscFree2(position, own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpMeshesOverlap(VpMesh from, VpMesh to)
{
  return (PetscBool)(VpDomainIsSame(from->geometry->domain, to->geometry->domain) && VpGeometryIsHalved(from->geometry) &&
                     VpGeometryIsHalved(to->geometry));
}

/* the cell, from `at` on, that contains a position; cells [n] */
static int32_t NextAt(int dim, int32_t n, const CurveCell cells[], VpCurvePosition p, int32_t at)
{
  while (at + 1 < n && !VpCurveIsBefore(p, VpCurvePositionOf(dim, cells[at + 1].box, cells[at + 1].coord, cells[at + 1].depth))) at++;
  return at;
}

PetscErrorCode VpOverlapCreate(VpMesh from, VpMesh to, VpOverlap *o)
{
  int32_t    at = 0;
  CurveCell *cell;
  VpCurve    curve;

  PetscFunctionBegin;
  *o = (VpOverlap){.n = 0};
  PetscCall(VpCurveCreate(to, &curve));
  PetscCall(CollectCells(from, &curve, o, &cell));
  PetscCall(PetscMalloc4(3 * (size_t)o->n, &o->coord, o->n, &o->depth, to->nown, &o->first, to->nown, &o->count));
  for (int32_t i = 0; i < o->n; i++) {
    o->depth[i] = (uint8_t)cell[i].depth;
    for (int d = 0; d < 3; d++) o->coord[3 * (size_t)i + d] = cell[i].coord[d];
  }
  for (int32_t c = 0; c < to->nown; c++) {
    o->first[c] = NextAt(to->dim, o->n, cell, curve.cell[c], at);
    at = NextAt(to->dim, o->n, cell, LastIn(&curve, c), o->first[c]);
    o->count[c] = at - o->first[c] + 1;
  }
  PetscCall(VpCurveDestroy(&curve));
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOverlapDestroy(VpOverlap *o)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&o->sf));
  PetscCall(PetscFree4(o->coord, o->depth, o->first, o->count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
