/* The levels of an adaptive mesh: the cells of every depth, among its leaves and the ancestors of finer ones. */
#include "adaptivelevels.h"
#include "../../base/threads.h"

/* the leaves along p4est's curve: where they, and every rank's, begin on the lattice of the greatest depth */
typedef struct {
  VpMesh      leaves;
  PetscMPIInt rank;
  int64_t    *position, *begin; /* [nown], [size + 1] */
} Curve;

static PetscErrorCode CurveCreate(VpMesh leaves, Curve *curve)
{
  VpLattice L;

  PetscFunctionBeginUser;
  curve->leaves = leaves;
  PetscCallMPI(MPI_Comm_rank(leaves->comm, &curve->rank));
  PetscCall(PetscMalloc2(leaves->nown + 1, &curve->position, leaves->size + 1, &curve->begin));
  PetscCall(VpLatticeCreateUniform(leaves->domain, leaves->level, &L));
  for (int32_t i = 0; i < leaves->nown; i++) {
    int32_t coord[3];

    for (int d = 0; d < 3; d++) coord[d] = leaves->coord[3 * (size_t)i + d] << (leaves->level - leaves->depth[i]);
    curve->position[i] = VpLatticeEncode(L, leaves->box[i], coord);
  }
  if (!leaves->nown) curve->position[0] = L->ncell;
  PetscCallMPI(MPI_Allgather(curve->position, 1, MPI_INT64_T, curve->begin, 1, MPI_INT64_T, leaves->comm));
  curve->begin[leaves->size] = L->ncell;
  for (int r = leaves->size - 1; r >= 0; r--) curve->begin[r] = PetscMin(curve->begin[r], curve->begin[r + 1]);
  PetscCall(VpLatticeDestroy(&L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the own cells of a depth */
static PetscErrorCode CellsCreate(const Curve *curve, int depth, VpLevelCells *cells)
{
  const VpMesh leaves = curve->leaves;
  const int    shift = leaves->dim * (leaves->level - depth);
  int64_t      last = -1;

  PetscFunctionBeginUser;
  *cells = (VpLevelCells){.size = leaves->size, .rank = curve->rank};
  PetscCall(VpLatticeCreateUniform(leaves->domain, depth, &cells->lattice));
  PetscCall(PetscMalloc2(leaves->size + 1, &cells->start, leaves->nown, &cells->leaf));
  for (int r = 0; r <= leaves->size; r++) cells->start[r] = (curve->begin[r] + ((int64_t)1 << shift) - 1) >> shift;
  PetscCall(VpCellSetCreate(&cells->own));
  PetscCall(VpCellSetCreate(&cells->sweep));
  PetscCall(VpCellSetCreate(&cells->extra));
  PetscCall(VpCellSetCreate(&cells->ghosts));
  for (int32_t i = 0; i < leaves->nown; i++) {
    const int64_t cell = curve->position[i] >> shift;

    if (leaves->depth[i] < depth || cell == last || cell < cells->start[curve->rank]) continue;
    cells->leaf[cells->own.n] = leaves->depth[i] == depth ? i : -1;
    PetscCall(VpCellSetAdd(&cells->own, cell));
    last = cell;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CellsDestroy(VpLevelCells *cells)
{
  PetscFunctionBeginUser;
  PetscCall(VpLatticeDestroy(&cells->lattice));
  PetscCall(PetscFree2(cells->start, cells->leaf));
  PetscCall(VpDictionaryDestroy(&cells->own));
  PetscCall(VpDictionaryDestroy(&cells->sweep));
  PetscCall(VpDictionaryDestroy(&cells->extra));
  PetscCall(VpDictionaryDestroy(&cells->ghosts));
  PetscCall(PetscFree(cells->owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Place(VpMesh mesh, const VpLevelCells *cells)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nlocal, &mesh->box));
  PetscCall(PetscMalloc1(3 * (size_t)mesh->nlocal, &mesh->coord));
  PetscCall(PetscMalloc1(mesh->nlocal, &mesh->zone));
  for (int32_t i = 0; i < mesh->nlocal; i++) {
    int32_t *coord = mesh->coord + 3 * (size_t)i;

    VpLatticeDecode(mesh->lattice, i < mesh->nown ? VpCellSetAt(&cells->own, i) : VpCellSetAt(&cells->ghosts, i - mesh->nown),
                    &mesh->box[i], coord);
    mesh->zone[i] = 0;
    for (int d = 0; d < mesh->dim; d++) mesh->zone[i] |= (uint8_t)(VpZoneOf(mesh->level, coord[d]) << 2 * d);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of own cells; of ghosts what their owners have */
static PetscErrorCode SetLeaves(VpMesh mesh, const VpLevelCells *cells)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nsweep + 1, &mesh->leaf)); /* not NULL where there are none */
  PetscCall(PetscArraycpy(mesh->leaf, cells->leaf, mesh->nown));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SWEEP, 1, MPI_INT32_T, mesh->leaf, mesh->leaf + mesh->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a level with a part of its lattice's cells */
static PetscErrorCode CreatePart(VpMesh leaves, const VpLevelCells *cells, int depth, VpMesh *out)
{
  VpMesh mesh;

  PetscFunctionBeginUser;
  PetscCall(VpMeshBegin(leaves->comm, VpReference(cells->lattice), &mesh));
  *out = mesh;
  mesh->level = depth;
  mesh->nown = cells->own.n;
  mesh->nface = mesh->nown + cells->end[0];
  mesh->nsweep = mesh->nown + cells->end[1];
  mesh->nhalo = mesh->nown + cells->end[2];
  mesh->nlocal = mesh->nown + cells->end[3];
  PetscCall(PetscCalloc1(mesh->size + 1, &mesh->starts));
  mesh->starts[cells->rank + 1] = mesh->nown;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mesh->starts, mesh->size + 1, MPIU_INT, MPI_SUM, mesh->comm));
  for (int r = 0; r < mesh->size; r++) mesh->starts[r + 1] += mesh->starts[r];
  mesh->ncell = mesh->starts[mesh->size];
  mesh->first = mesh->starts[cells->rank];
  PetscCall(Place(mesh, cells));
  PetscCall(VpMeshSetExchange(mesh, cells->owner));
  PetscCall(SetLeaves(mesh, cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the ordinary mesh of all cells of the least depth */
static PetscErrorCode CreateBase(VpMesh leaves, const VpLevelCells *cells, VpMesh *mesh)
{
  PetscInt *counts;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(cells->size, &counts));
  for (int r = 0; r < cells->size; r++) counts[r] = (PetscInt)(cells->start[r + 1] - cells->start[r]);
  PetscCall(VpMeshBuild(leaves->comm, cells->lattice, counts, &cells->sweep, &cells->extra, mesh, NULL));
  PetscCall(PetscFree(counts));
  PetscCall(SetLeaves(*mesh, cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a mesh and its cells, whose indices are local numbers */
typedef struct {
  VpMesh    mesh;
  VpCellSet cells;
} Indexed;

static PetscErrorCode Index(VpMesh mesh, Indexed *to)
{
  PetscFunctionBeginUser;
  to->mesh = mesh;
  PetscCall(VpCellSetCreate(&to->cells));
  PetscCall(VpDictionaryReserve(&to->cells, mesh->nlocal));
  for (int32_t i = 0; i < mesh->nlocal; i++)
    PetscCall(VpCellSetAdd(&to->cells, VpLatticeEncode(mesh->lattice, mesh->box[i], mesh->coord + 3 * (size_t)i)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a level and the next coarser one; lost[piece]: some parent there is not local; ninner[piece]: sides of own cells beyond which there are
   cells */
typedef struct {
  const Indexed *fine, *coarse;
  int32_t       *lost, *ninner;
} Relations;

static void FindParents(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Relations *r = context;
  const VpMesh     mesh = r->fine->mesh;

  r->lost[piece] = 0;
  for (int32_t i = first; i < last; i++) {
    const int64_t cell = VpCellSetAt(&r->fine->cells, i);

    mesh->parent[i] = VpCellSetFind(&r->coarse->cells, cell >> mesh->dim);
    if (mesh->parent[i] < 0) r->lost[piece] = 1;
    else mesh->child[((size_t)mesh->parent[i] << mesh->dim) + (size_t)(cell & ((1 << mesh->dim) - 1))] = i;
  }
}

static PetscErrorCode SetParents(const Indexed *fine, const Indexed *coarse)
{
  const VpMesh  mesh = fine->mesh;
  const size_t  nchild = (size_t)coarse->mesh->nlocal << mesh->dim;
  const int32_t pieces = VpLoopPieces(mesh->nhalo);
  Relations     r = {.fine = fine, .coarse = coarse};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nhalo, &mesh->parent));
  PetscCall(PetscMalloc1(nchild + 1, &mesh->child));
  PetscCall(PetscMalloc1(pieces, &r.lost));
  for (size_t i = 0; i < nchild; i++) mesh->child[i] = -1;
  VpLoop(mesh->nhalo, FindParents, &r);
  PetscCheck(!VpLoopSum(pieces, r.lost), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A cell's parent is not local");
  PetscCall(PetscFree(r.lost));
  PetscCall(VpMeshSetChildren(mesh));
  PetscCall(VpLatticeCoarsen(mesh->lattice, VP_COARSEN_FULL, &mesh->coarsening));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the local cell beyond a side, or what stands for the boundary or for none */
static int32_t Beyond(const Indexed *level, int32_t cell, int side)
{
  int64_t next;

  if (cell < level->mesh->nsweep) return VpMeshNeighbor(level->mesh, cell, side);
  next = VpLatticeMove(level->mesh->lattice, VpCellSetAt(&level->cells, cell), side);
  if (next < 0) return (int32_t)next;
  next = VpCellSetFind(&level->cells, next);
  return next < 0 ? VP_UNKNOWN : (int32_t)next;
}

/* A neighbour is a sibling, or the child of the parent's neighbour on the side where they meet. */
static void FindNeighbors(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Relations *r = context;
  const VpMesh     mesh = r->fine->mesh;
  const int        nside = 2 * mesh->dim;

  r->ninner[piece] = 0;
  for (int32_t i = first; i < last; i++) {
    const int q = (int)(VpCellSetAt(&r->fine->cells, i) & ((1 << mesh->dim) - 1));

    for (int side = 0; side < nside; side++) {
      const int32_t next = (q >> side / 2 & 1) == side % 2 ? Beyond(r->coarse, mesh->parent[i], side) : mesh->parent[i];
      int32_t       to = VpIsBoundary(next) ? next : VP_EDGE;

      if (next >= 0 && mesh->child[((size_t)next << mesh->dim) + (q ^ 1 << side / 2)] >= 0)
        to = mesh->child[((size_t)next << mesh->dim) + (q ^ 1 << side / 2)];
      mesh->neighbor[(size_t)nside * i + side] = to;
      r->ninner[piece] += i < mesh->nown && to >= 0;
    }
  }
}

static PetscErrorCode SetNeighbors(const Indexed *fine, const Indexed *coarse)
{
  const VpMesh  mesh = fine->mesh;
  const int32_t pieces = VpLoopPieces(mesh->nsweep);
  Relations     r = {.fine = fine, .coarse = coarse};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)2 * mesh->dim * mesh->nsweep, &mesh->neighbor));
  PetscCall(PetscMalloc1(pieces, &r.ninner));
  VpLoop(mesh->nsweep, FindNeighbors, &r);
  for (int32_t i = 0; i < pieces; i++) mesh->ninner += r.ninner[i];
  PetscCall(PetscFree(r.ninner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sets the cells beyond a side, among the children of the cell there; false where there are none, or not all are local */
static PetscBool FindEdge(VpMesh fine, int32_t leaf, int side, VpHang *edge)
{
  const int32_t next = VpMeshNeighbor(fine->coarser, leaf, side);
  int           n = 0;

  *edge = (VpHang){.cell = leaf, .side = side, .part = VP_HANG_COARSE};
  for (int q = 0; q < 1 << fine->dim && next >= 0; q++) {
    const int32_t child = fine->child[((size_t)next << fine->dim) + q];

    if ((q >> side / 2 & 1) != side % 2 && child >= 0) edge->beyond[n++] = child;
  }
  return (PetscBool)(n == 1 << (fine->dim - 1));
}

static PetscErrorCode SetEdges(VpMesh fine)
{
  const VpMesh coarse = fine->coarser;
  VpHang       edge;

  PetscFunctionBeginUser;
  for (int fill = 0; fill < 2; fill++) {
    if (fill) PetscCall(PetscMalloc1(fine->nedge, &fine->edge));
    fine->nedge = 0;
    for (int32_t leaf = 0; leaf < coarse->nsweep; leaf++) {
      for (int side = 0; side < 2 * fine->dim && coarse->leaf[leaf] >= 0; side++) {
        if (!FindEdge(fine, leaf, side, &edge)) continue;
        if (fill) fine->edge[fine->nedge] = edge;
        fine->nedge++;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* relations between a level and the next coarser one, after those of all coarser ones; *index: of the level */
static PetscErrorCode Relate(VpMesh fine, Indexed *index)
{
  Indexed coarse;

  PetscFunctionBeginUser;
  PetscCall(Index(fine, index));
  if (!fine->coarser) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Relate(fine->coarser, &coarse));
  PetscCall(SetParents(index, &coarse));
  PetscCall(SetNeighbors(index, &coarse));
  PetscCall(SetEdges(fine));
  PetscCall(VpDictionaryDestroy(&coarse.cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosts of a level are known before those of coarser ones, neighbours after them. */
PetscErrorCode VpMeshCreateLevels(VpMesh leaves, VpMesh *finest)
{
  const int    bits = leaves->dim * leaves->level;
  Curve        curve;
  VpLevelCells fine, coarse;
  Indexed      index;
  VpMesh      *mesh = finest;

  PetscFunctionBeginUser;
  PetscCheck(bits < 62 && leaves->domain->nbox < (int64_t)1 << (62 - bits), leaves->comm, PETSC_ERR_SUP,
             "Multigrid counts the cells that %d boxes refined %d times would have, which are more than 2^62: refine fewer times",
             (int)leaves->domain->nbox, leaves->level);
  *finest = NULL;
  PetscCall(CurveCreate(leaves, &curve));
  PetscCall(CellsCreate(&curve, leaves->level, &fine));
  for (int depth = leaves->level; depth > leaves->least; depth--) {
    PetscCall(CellsCreate(&curve, depth - 1, &coarse));
    PetscCall(VpLevelCellsSetGhosts(&fine, &coarse, leaves->comm));
    PetscCall(CreatePart(leaves, &fine, depth, mesh));
    PetscCall(CellsDestroy(&fine));
    fine = coarse;
    mesh = &(*mesh)->coarser;
  }
  PetscCall(CreateBase(leaves, &fine, mesh));
  PetscCall(CellsDestroy(&fine));
  PetscCall(PetscFree2(curve.position, curve.begin));
  PetscCall(Relate(*finest, &index));
  PetscCall(VpDictionaryDestroy(&index.cells));
  PetscCall(VpMeshSetTransport(*finest, leaves->transport, leaves->link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshBaseLattice(VpMesh mesh, VpLattice *lattice)
{
  PetscFunctionBeginUser;
  if (mesh->depth) PetscCall(VpLatticeCreateUniform(mesh->domain, mesh->least, lattice));
  else *lattice = VpReference(mesh->lattice);
  PetscFunctionReturn(PETSC_SUCCESS);
}
