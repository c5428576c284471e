/* Which cells of one mesh lie where those of another are. Both are cut from the same curve through the same boxes, so both are sorted along
   it, and what covers a rank's cells is a piece of the other mesh. */
#include "../internal.h"

/* a place on the curve: a box, and how many of the smallest cells that p4est has lie before the place there */
typedef struct {
  int64_t box, before;
} CurvePlace;

/* a cell as any rank finds it on the curve */
typedef struct {
  int32_t box, coord[3], depth;
} CurveCell;

static CurveCell CellOf(VpMesh mesh, int32_t cell)
{
  const int32_t *coord = mesh->geometry->coord + 3 * (size_t)cell;

  return (CurveCell){mesh->geometry->box[cell], {coord[0], coord[1], coord[2]}, VpGeometryHalvings(mesh->geometry, cell, 0)};
}

static CurvePlace StartOf(int dim, CurveCell cell)
{
  const int  deepest = VpForestOpsOf(dim)->deepest;
  CurvePlace p = {.box = cell.box};

  for (int bit = 0; bit < cell.depth; bit++) {
    for (int d = 0; d < dim; d++) p.before |= (int64_t)(cell.coord[d] >> bit & 1) << (dim * (bit + deepest - cell.depth) + d);
  }
  return p;
}

/* the last of the smallest cells in a cell */
static CurvePlace LastIn(int dim, CurveCell cell)
{
  CurvePlace p = StartOf(dim, cell);

  p.before += ((int64_t)1 << dim * (VpForestOpsOf(dim)->deepest - cell.depth)) - 1;
  return p;
}

static PetscBool IsBefore(CurvePlace a, CurvePlace b)
{
  return (PetscBool)(a.box < b.box || (a.box == b.box && a.before < b.before));
}

/* the own cell of a mesh that covers a place */
static PetscInt CellCovering(const void *context, const void *question)
{
  const VpMesh     mesh = (VpMesh)context;
  const CurvePlace place = *(const CurvePlace *)question;
  int32_t          low = 0, high = mesh->nown;

  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;

    if (IsBefore(place, StartOf(mesh->dim, CellOf(mesh, middle)))) high = middle;
    else low = middle;
  }
  return low;
}

/* rank[n] = those whose own cells cover places */
static PetscErrorCode FindOwners(VpMesh mesh, PetscInt n, const CurvePlace place[], PetscMPIInt rank[])
{
  const CurvePlace none = {INT64_MAX, 0}, first = mesh->nown ? StartOf(mesh->dim, CellOf(mesh, 0)) : none;
  CurvePlace      *begin;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->size, &begin));
  PetscCallMPI(MPI_Allgather(&first, 2, MPI_INT64_T, begin, 2, MPI_INT64_T, mesh->comm));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscMPIInt r = 0; r < mesh->size; r++) {
      if (!IsBefore(place[i], begin[r])) rank[i] = r;
    }
  }
  PetscCall(PetscFree(begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the cells of `from` that cover own ones of `to`: those from the one that covers the first place of these to the one at the last place */
static PetscErrorCode Collect(VpMesh from, VpMesh to, VpOverlap *o, CurveCell **cells)
{
  const PetscInt n = to->nown ? 2 : 0;
  CurvePlace     place[2];
  PetscMPIInt    rank[2];
  PetscInt       number[2], *position;
  CurveCell     *own;

  PetscFunctionBegin;
  if (n) {
    place[0] = StartOf(to->dim, CellOf(to, 0));
    place[1] = LastIn(to->dim, CellOf(to, to->nown - 1));
  }
  PetscCall(FindOwners(from, n, place, rank));
  PetscCall(VpAskRanks(from->comm, &(VpQuestions){n, rank, sizeof(*place), place}, CellCovering, from, number));
  for (PetscInt i = 0; i < n; i++) number[i] += from->starts[rank[i]];
  o->n = n ? (int32_t)(number[1] - number[0] + 1) : 0;
  PetscCall(PetscMalloc1(o->n, cells));
  PetscCall(PetscMalloc2(o->n, &position, from->nown, &own));
  for (int32_t i = 0; i < o->n; i++) position[i] = number[0] + i;
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

/* the cell, from `at` on, that covers a place; cells [n] */
static int32_t NextCovering(int dim, int32_t n, const CurveCell cells[], CurvePlace place, int32_t at)
{
  while (at + 1 < n && !IsBefore(place, StartOf(dim, cells[at + 1]))) at++;
  return at;
}

PetscErrorCode VpOverlapCreate(VpMesh from, VpMesh to, VpOverlap *o)
{
  int32_t    at = 0;
  CurveCell *cell;

  PetscFunctionBegin;
  *o = (VpOverlap){.n = 0};
  PetscCall(Collect(from, to, o, &cell));
  PetscCall(PetscMalloc4(3 * (size_t)o->n, &o->coord, o->n, &o->depth, to->nown, &o->first, to->nown, &o->count));
  for (int32_t i = 0; i < o->n; i++) {
    o->depth[i] = (uint8_t)cell[i].depth;
    for (int d = 0; d < 3; d++) o->coord[3 * (size_t)i + d] = cell[i].coord[d];
  }
  for (int32_t c = 0; c < to->nown; c++) {
    o->first[c] = NextCovering(to->dim, o->n, cell, StartOf(to->dim, CellOf(to, c)), at);
    at = NextCovering(to->dim, o->n, cell, LastIn(to->dim, CellOf(to, c)), o->first[c]);
    o->count[c] = at - o->first[c] + 1;
  }
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
