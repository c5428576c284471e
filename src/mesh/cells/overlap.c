/* Which cells of one mesh lie where those of another are. Both are cut from the same curve through the same boxes, so both are sorted along
   it, and what covers a rank's cells is a piece of the other mesh. */
#include "../internal.h"

/* where a cell begins on the curve: its box, and how many of the smallest cells that p4est has lie before it there */
typedef struct {
  int64_t box, before;
} CurveStart;

/* a cell on its way to another rank */
typedef struct {
  int32_t box, coord[3], depth, index;
} Moving;

static CurveStart StartOf(int dim, int32_t box, const int32_t coord[], int depth)
{
  const int  deepest = VpForestOpsOf(dim)->deepest;
  CurveStart p = {.box = box};

  for (int bit = 0; bit < depth; bit++) {
    for (int d = 0; d < dim; d++) p.before |= (int64_t)(coord[d] >> bit & 1) << (dim * (bit + deepest - depth) + d);
  }
  return p;
}

static CurveStart StartOfCell(VpMesh mesh, int32_t cell)
{
  return StartOf(mesh->dim, mesh->geometry->box[cell], mesh->geometry->coord + 3 * (size_t)cell,
                 VpGeometryHalvings(mesh->geometry, cell, 0));
}

static CurveStart End(int dim, CurveStart p, int depth)
{
  p.before += (int64_t)1 << dim * (VpForestOpsOf(dim)->deepest - depth);
  return p;
}

static PetscBool IsBefore(CurveStart a, CurveStart b)
{
  return (PetscBool)(a.box < b.box || (a.box == b.box && a.before < b.before));
}

/* begin[size + 1]: where every rank's piece begins; where that of a rank without cells would */
static PetscErrorCode Pieces(VpMesh mesh, CurveStart **begin)
{
  const CurveStart none = {INT64_MAX, 0}, first = mesh->nown ? StartOfCell(mesh, 0) : none;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->size + 1, begin));
  PetscCallMPI(MPI_Allgather(&first, 2, MPI_INT64_T, *begin, 2, MPI_INT64_T, mesh->comm));
  (*begin)[mesh->size] = none;
  for (int r = mesh->size - 1; r >= 0; r--) {
    if ((*begin)[r].box == none.box) (*begin)[r] = (*begin)[r + 1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the cells that ranks have to know, in their order; count[size]: how many go to each */
static PetscErrorCode Send(VpMesh from, const CurveStart begin[], PetscMPIInt size, Moving **cells, PetscMPIInt count[])
{
  int n = 0;

  PetscFunctionBegin;
  for (int fill = 0; fill < 2; fill++) {
    int r = 0;

    if (fill) PetscCall(PetscMalloc1(n, cells));
    n = 0;
    for (int k = 0; k < size; k++) count[k] = 0;
    for (int32_t c = 0; c < from->nown; c++) {
      const int        depth = VpGeometryHalvings(from->geometry, c, 0);
      const CurveStart first = StartOfCell(from, c), end = End(from->dim, first, depth);

      while (r + 1 < size && !IsBefore(first, begin[r + 1])) r++;
      for (int to = r; to < size && (to == r || IsBefore(begin[to], end)); to++) {
        const int32_t *at = from->geometry->coord + 3 * (size_t)c;

        if (fill) (*cells)[n] = (Moving){from->geometry->box[c], {at[0], at[1], at[2]}, depth, c};
        n++;
        count[to]++;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* start[size + 1] from count[size] */
static void Sum(PetscMPIInt size, const PetscMPIInt count[], PetscMPIInt start[])
{
  start[0] = 0;
  for (int r = 0; r < size; r++) start[r + 1] = start[r] + count[r];
}

/* the cells of `from` that cover own ones of `to`, and whose they are */
static PetscErrorCode Collect(VpMesh from, VpMesh to, VpOverlap *o, Moving **got)
{
  PetscMPIInt  size = to->size, *count[2], *start[2];
  CurveStart  *begin;
  Moving      *sent;
  MPI_Datatype unit;
  PetscSFNode *owner;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(size, &count[0], size, &count[1], size + 1, &start[0], size + 1, &start[1]));
  PetscCall(Pieces(to, &begin));
  PetscCall(Send(from, begin, size, &sent, count[0]));
  PetscCallMPI(MPI_Alltoall(count[0], 1, MPI_INT, count[1], 1, MPI_INT, to->comm));
  for (int way = 0; way < 2; way++) Sum(size, count[way], start[way]);
  o->n = start[1][size];
  PetscCall(PetscMalloc1(o->n, got));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)sizeof(**got), MPI_BYTE, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCallMPI(MPI_Alltoallv(sent, count[0], start[0], unit, *got, count[1], start[1], unit, to->comm));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(PetscMalloc1(o->n, &owner));
  for (int r = 0; r < size; r++) {
    for (int i = start[1][r]; i < start[1][r + 1]; i++) owner[i] = (PetscSFNode){.rank = r, .index = (*got)[i].index};
  }
  PetscCall(PetscSFCreate(to->comm, &o->sf));
  PetscCall(PetscSFSetGraph(o->sf, from->nown, o->n, NULL, PETSC_OWN_POINTER, owner, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(o->sf));
  PetscCall(PetscFree(sent));
  PetscCall(PetscFree(begin));
  PetscCall(PetscFree4(count[0], count[1], start[0], start[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpMeshesOverlap(VpMesh from, VpMesh to)
{
  return (PetscBool)(VpDomainIsSame(from->geometry->domain, to->geometry->domain) && VpGeometryIsHalved(from->geometry) &&
                     VpGeometryIsHalved(to->geometry));
}

PetscErrorCode VpOverlapCreate(VpMesh from, VpMesh to, VpOverlap *o)
{
  const int dim = to->dim;
  int32_t   at = 0;
  Moving   *cell;

  PetscFunctionBegin;
  *o = (VpOverlap){.n = 0};
  PetscCall(Collect(from, to, o, &cell));
  PetscCall(PetscMalloc4(3 * (size_t)o->n, &o->coord, o->n, &o->depth, to->nown, &o->first, to->nown, &o->count));
  for (int32_t i = 0; i < o->n; i++) {
    o->depth[i] = (uint8_t)cell[i].depth;
    for (int d = 0; d < 3; d++) o->coord[3 * (size_t)i + d] = cell[i].coord[d];
  }
  for (int32_t c = 0; c < to->nown; c++) {
    const CurveStart first = StartOfCell(to, c), end = End(dim, first, VpGeometryHalvings(to->geometry, c, 0));

    while (at + 1 < o->n && !IsBefore(first, StartOf(dim, cell[at + 1].box, cell[at + 1].coord, cell[at + 1].depth))) at++;
    o->first[c] = at;
    o->count[c] = 1;
    while (at + 1 < o->n && IsBefore(StartOf(dim, cell[at + 1].box, cell[at + 1].coord, cell[at + 1].depth), end)) {
      at++;
      o->count[c]++;
    }
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
