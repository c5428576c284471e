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

  PetscFunctionBegin;
  curve->leaves = leaves;
  PetscCallMPI(MPI_Comm_rank(leaves->comm, &curve->rank));
  PetscCall(PetscMalloc2(leaves->nown + 1, &curve->position, leaves->size + 1, &curve->begin));
  PetscCall(VpLatticeCreateUniform(leaves->geometry->domain, leaves->level, &L));
  for (int32_t i = 0; i < leaves->nown; i++) {
    int32_t coord[3];

    for (int d = 0; d < 3; d++) coord[d] = leaves->geometry->coord[3 * (size_t)i + d] << (leaves->level - leaves->geometry->depth[i]);
    curve->position[i] = VpLatticeEncode(L, leaves->geometry->box[i], coord);
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

  PetscFunctionBegin;
  *cells = (VpLevelCells){.size = leaves->size, .rank = curve->rank};
  PetscCall(VpLatticeCreateUniform(leaves->geometry->domain, depth, &cells->lattice));
  PetscCall(PetscMalloc2(leaves->size + 1, &cells->start, leaves->nown, &cells->leaf));
  for (int r = 0; r <= leaves->size; r++) cells->start[r] = (curve->begin[r] + ((int64_t)1 << shift) - 1) >> shift;
  PetscCall(VpCellSetCreate(&cells->own));
  PetscCall(VpCellSetCreate(&cells->sweep));
  PetscCall(VpCellSetCreate(&cells->extra));
  PetscCall(VpCellSetCreate(&cells->ghosts));
  for (int32_t i = 0; i < leaves->nown; i++) {
    const int64_t cell = curve->position[i] >> shift;

    if (leaves->geometry->depth[i] < depth || cell == last || cell < cells->start[curve->rank]) continue;
    cells->leaf[cells->own.n] = leaves->geometry->depth[i] == depth ? i : -1;
    PetscCall(VpCellSetAdd(&cells->own, cell));
    last = cell;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CellsDestroy(VpLevelCells *cells)
{
  PetscFunctionBegin;
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
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->nlocal, &mesh->geometry->box));
  PetscCall(PetscMalloc1(3 * (size_t)mesh->nlocal, &mesh->geometry->coord));
  PetscCall(PetscMalloc1(mesh->nlocal, &mesh->geometry->zone));
  for (int32_t i = 0; i < mesh->nlocal; i++) {
    int32_t *coord = mesh->geometry->coord + 3 * (size_t)i;

    VpLatticeDecode(mesh->geometry->lattice, i < mesh->nown ? VpCellSetAt(&cells->own, i) : VpCellSetAt(&cells->ghosts, i - mesh->nown),
                    &mesh->geometry->box[i], coord);
    mesh->geometry->zone[i] = 0;
    for (int d = 0; d < mesh->dim; d++) mesh->geometry->zone[i] |= (uint8_t)(VpZoneOf(mesh->level, coord[d]) << 2 * d);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of own cells; of ghosts what their owners have */
static PetscErrorCode SetLeaves(VpMesh mesh, const VpLevelCells *cells)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->nsweep + 1, &mesh->leaf)); /* not NULL where there are none */
  PetscCall(PetscArraycpy(mesh->leaf, cells->leaf, mesh->nown));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SWEEP, 1, MPI_INT32_T, mesh->leaf, mesh->leaf + mesh->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a level with a part of its lattice's cells */
static PetscErrorCode CreatePart(VpMesh leaves, const VpLevelCells *cells, int depth, VpMesh *out)
{
  VpMesh mesh;

  PetscFunctionBegin;
  PetscCall(VpMeshBegin(leaves->comm, VpReference(cells->lattice), &mesh));
  *out = mesh;
  mesh->level = mesh->least = depth;
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

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(cells->size, &counts));
  for (int r = 0; r < cells->size; r++) counts[r] = (PetscInt)(cells->start[r + 1] - cells->start[r]);
  PetscCall(VpMeshBuild(leaves->comm, cells->lattice, counts, &cells->sweep, &cells->extra, mesh));
  PetscCall(PetscFree(counts));
  PetscCall(SetLeaves(*mesh, cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a level and the next coarser one, and their cells */
typedef struct {
  VpMesh             fine;
  const VpPositions *of_fine, *of_coarse;
  int32_t           *ninner; /* [piece] sides of own cells beyond which there are cells */
} Relations;

/* the local cell beyond a side, or what stands for the boundary or for none */
static int32_t Beyond(VpMesh level, const VpPositions *positions, int32_t cell, int side)
{
  if (cell < level->nsweep) return VpMeshNeighbor(level, cell, side);
  return VpLocalOf(positions, VpLatticeMove(level->geometry->lattice, VpPositionOf(positions, cell), side));
}

/* A neighbour is a sibling, or the child of the parent's neighbour on the side where they meet. */
static void FindNeighbors(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Relations *r = context;
  const VpMesh     mesh = r->fine;
  const VpRelation relation = mesh->relation;
  const int        nside = 2 * mesh->dim;

  r->ninner[piece] = 0;
  for (int32_t i = first; i < last; i++) {
    const int q = (int)(VpPositionOf(r->of_fine, i) & ((1 << mesh->dim) - 1));

    for (int side = 0; side < nside; side++) {
      const int32_t next =
        (q >> side / 2 & 1) == side % 2 ? Beyond(relation->coarse, r->of_coarse, relation->parent[i], side) : relation->parent[i];
      int32_t to = VpIsBoundary(next) ? next : VP_LEVEL_END;

      if (next >= 0 && relation->child[((size_t)next << mesh->dim) + (q ^ 1 << side / 2)] >= 0)
        to = relation->child[((size_t)next << mesh->dim) + (q ^ 1 << side / 2)];
      mesh->neighbor[(size_t)nside * i + side] = to;
      r->ninner[piece] += i < mesh->nown && to >= 0;
    }
  }
}

static PetscErrorCode SetNeighbors(VpMesh mesh, const VpPositions *of_fine, const VpPositions *of_coarse)
{
  const int32_t pieces = VpLoopPieces(mesh->nsweep);
  Relations     r = {.fine = mesh, .of_fine = of_fine, .of_coarse = of_coarse};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)2 * mesh->dim * mesh->nsweep, &mesh->neighbor));
  PetscCall(PetscMalloc1(pieces, &r.ninner));
  VpLoop(mesh->nsweep, FindNeighbors, &r);
  for (int32_t i = 0; i < pieces; i++) mesh->ninner += r.ninner[i];
  PetscCall(PetscFree(r.ninner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sets the cells beyond a side, among the children of the cell there; false where there are none, or not all are local */
static PetscBool FindEnd(VpMesh fine, int32_t leaf, int side, VpFace *end)
{
  const int32_t next = VpMeshNeighbor(fine->relation->coarse, leaf, side);
  int           n = 0;

  *end = (VpFace){.cell = {leaf}, .side = (uint8_t)side, .kind = VP_FACE_COARSE};
  for (int q = 0; q < 1 << fine->dim && next >= 0; q++) {
    const int32_t child = fine->relation->child[((size_t)next << fine->dim) + q];

    if ((q >> side / 2 & 1) != side % 2 && child >= 0) end->cell[++n] = child;
  }
  return (PetscBool)(n == 1 << (fine->dim - 1));
}

static PetscErrorCode SetEnds(VpMesh fine)
{
  const VpMesh coarse = fine->relation->coarse;
  VpFaces     *ends = &fine->relation->ends;
  VpFace       end;

  PetscFunctionBegin;
  for (int fill = 0; fill < 2; fill++) {
    if (fill) PetscCall(PetscMalloc1(ends->n, &ends->face));
    ends->n = 0;
    for (int32_t leaf = 0; leaf < coarse->nsweep; leaf++) {
      for (int side = 0; side < 2 * fine->dim && coarse->leaf[leaf] >= 0; side++) {
        if (!FindEnd(fine, leaf, side, &end)) continue;
        if (fill) ends->face[ends->n] = end;
        ends->n++;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* relations between a level and the next coarser one, after those of all coarser ones; *positions: of the level's cells */
static PetscErrorCode Relate(VpMesh fine, VpPositions *positions)
{
  const VpLattice     lattice = fine->geometry->lattice;
  const VpCoarsening *step;
  VpPositions         coarse;

  PetscFunctionBegin;
  PetscCall(VpPositionsCreate(fine, positions));
  if (!fine->relation) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Relate(fine->relation->coarse, &coarse));
  PetscCall(VpLatticeCoarsen(lattice, VP_COARSEN_FULL, &step));
  PetscCall(VpMeshRelate(fine, positions, fine->relation->coarse, &coarse, lattice, step));
  PetscCall(SetNeighbors(fine, positions, &coarse));
  PetscCall(SetEnds(fine));
  PetscCall(VpDictionaryDestroy(&coarse.other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosts of a level are known before those of coarser ones, neighbours after them. */
PetscErrorCode VpMeshCreateLevels(VpMesh leaves, VpMesh *finest)
{
  const int    bits = leaves->dim * leaves->level;
  Curve        curve;
  VpLevelCells fine, coarse;
  VpPositions  positions;
  VpMesh      *mesh = finest;

  PetscFunctionBegin;
  PetscCheck(bits < 62 && leaves->geometry->domain->nbox < (int64_t)1 << (62 - bits), leaves->comm, PETSC_ERR_SUP,
             "Multigrid counts the cells that %d boxes refined %d times would have, which are more than 2^62: refine fewer times",
             (int)leaves->geometry->domain->nbox, leaves->level);
  *finest = NULL;
  PetscCall(CurveCreate(leaves, &curve));
  PetscCall(CellsCreate(&curve, leaves->level, &fine));
  for (int depth = leaves->level; depth > leaves->least; depth--) {
    PetscCall(CellsCreate(&curve, depth - 1, &coarse));
    PetscCall(VpLevelCellsSetGhosts(&fine, &coarse, leaves->comm));
    PetscCall(CreatePart(leaves, &fine, depth, mesh));
    PetscCall(CellsDestroy(&fine));
    fine = coarse;
    PetscCall(PetscNew(&(*mesh)->relation));
    mesh = &(*mesh)->relation->coarse;
  }
  PetscCall(CreateBase(leaves, &fine, mesh));
  PetscCall(CellsDestroy(&fine));
  PetscCall(PetscFree2(curve.position, curve.begin));
  PetscCall(Relate(*finest, &positions));
  PetscCall(VpDictionaryDestroy(&positions.other));
  PetscCall(VpMeshSetTransport(*finest, leaves->transport, leaves->link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshBaseLattice(VpMesh mesh, VpLattice *lattice)
{
  PetscFunctionBegin;
  if (VpMeshIsAdaptive(mesh)) PetscCall(VpLatticeCreateUniform(mesh->geometry->domain, mesh->least, lattice));
  else *lattice = VpReference(mesh->geometry->lattice);
  PetscFunctionReturn(PETSC_SUCCESS);
}
